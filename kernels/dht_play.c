/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: a replication, step by step. */
#include "dht_play.h"

#include "draw.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

struct layout_of {
    unsigned char *memory; /* NULL: only measured */
    uint64_t bytes;
};

static void *take(struct layout_of *l, uint64_t count, uint64_t size) {
    void *at = l->memory ? l->memory + l->bytes : NULL;
    l->bytes += (count * size + 63) / 64 * 64;
    return at;
}
#define TAKE(pointer, count) ((pointer) = take(l, count, sizeof *(pointer)))

static void lay_out_nodes(struct dht *d, struct dht_play *q, struct layout_of *l) {
    const struct dht_point *p = d->p;
    const uint64_t n = p->n;
    TAKE(d->capacity, n);
    if (p->values[DHT_IDS].word != 0)
        TAKE(d->placed, n);
    TAKE(d->first, n);
    TAKE(d->last, n);
    TAKE(d->servers, n);
    TAKE(d->used, n);
    TAKE(d->level, n);
    TAKE(d->up, n);
    TAKE(d->place, n);
    TAKE(q->room, n);
    TAKE(q->left, n);
    TAKE(q->change, n);
    TAKE(q->cycle, n);
    TAKE(q->heap, n);
    TAKE(q->order, n);
    TAKE(q->words, n + CHUNK);
    TAKE(q->total, n);
    TAKE(q->seconds, n);
    TAKE(q->view.begin, n + 1);
    if (p->churns && !p->sessions) {
        q->ups = lanes_of(&p->life, PURPOSE_UP, n, 4);
        q->downs = lanes_of(&p->down, PURPOSE_DOWN, n, 4);
        q->lane_memory[0] = take(l, lanes_memory(&q->ups), 1);
        q->lane_memory[1] = take(l, lanes_memory(&q->downs), 1);
    }
}

static void lay_out_servers(struct dht *d, struct dht_play *q, struct layout_of *l, uint64_t room) {
    struct ring_view *w = &q->view;
    uint64_t buckets = 2;
    while (buckets < 2 * room)
        buckets *= 2;
    TAKE(d->id, room);
    TAKE(d->node, room);
    TAKE(d->next, room);
    TAKE(d->before, room);
    TAKE(d->after, room);
    TAKE(d->number, room);
    TAKE(d->load, room);
    q->ring_memory = take(l, ISA(ring_bytes)(room), 1);
    TAKE(w->id, room + 1);
    TAKE(w->server, room);
    TAKE(w->post, room);
    TAKE(w->position, room);
    TAKE(w->own, room);
    TAKE(w->bucket, buckets);
    if (d->p->refresh > 1) {
        TAKE(q->fingers.of, 64 * room);
        TAKE(q->fingers.lowest, room);
        TAKE(q->fingers.made, room);
        TAKE(q->fingers.fresh, room);
    }
}

static void lay_out(struct dht *d, struct dht_play *q, struct layout_of *l, uint64_t room,
                    uint64_t queries) {
    lay_out_nodes(d, q, l);
    lay_out_servers(d, q, l, room);
    TAKE(q->key, d->p->n_keys);
    TAKE(q->view.of_key, d->p->n_keys);
    TAKE(q->route, QUERIES_ABREAST * HOPS_MAX);
    TAKE(q->query, queries);
    TAKE(q->utilisation, UTILISATION_BINS);
    TAKE(q->now, UTILISATION_BINS);
    TAKE(q->servers_of_node, SERVER_BINS);
    TAKE(q->hop_bins, DHT_HOP_BINS);
    TAKE(q->moves_by_class, CAPACITY_BINS);
    TAKE(q->seconds_by_class, CAPACITY_BINS);
    d->room = (uint32_t)room;
    q->most_queries = queries;
}

uint64_t ISA(dht_bytes)(const struct dht_point *p, uint64_t room, uint64_t queries) {
    struct dht d = {.p = p};
    struct dht_play q = {0};
    struct layout_of l = {NULL, 0};
    lay_out(&d, &q, &l, room, queries);
    return l.bytes;
}

uint64_t ISA(dht_first_room)(const struct dht_point *p) {
    return p->per_node ? (uint64_t)p->n * p->per_node : (1 + (uint64_t)p->joining) * p->n + 64;
}
uint64_t ISA(dht_first_queries)(const struct dht_point *p) {
    return p->synchronous ? (uint64_t)ceil(p->queries * p->n) + 1 : 0;
}

/* ---- the beginning ---- */

static double drawn_capacity(const struct dht_point *p, struct stream s, uint32_t node) {
    const uint32_t high = rng_word(s, PURPOSE_CAPACITY, 0, node);
    return p->draw(p, high, rng_word(s, PURPOSE_CAPACITY, 1, node));
}

/* Identifier 0 of every node where they are placed. */
static void place_nodes(struct dht *d) {
    const uint32_t n = d->p->n;
    double all = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        all += d->capacity[i];
    for (uint32_t i = 0; i < n; i++) {
        sum += d->capacity[i];
        const double share = sum / all;
        if (d->p->values[DHT_IDS].word == 1)
            d->placed[i] = (uint64_t)(((uint128)(i + 1) << 64) / n);
        else if (i + 1 < n)
            d->placed[i] = share < 1 ? (uint64_t)(share * 0x1p64) : UINT64_MAX;
        else
            d->placed[i] = 0;
    }
}

static void begin(struct dht *d) {
    const struct dht_point *p = d->p;
    struct dht_play *q = d->play;
    d->step = 0;
    d->n_up = d->n_servers = 0;
    double all = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        d->capacity[i] = p->given ? p->given[i] : drawn_capacity(p, d->words, i);
        all += d->capacity[i];
        d->servers[i] = d->level[i] = 0;
        d->first[i] = d->last[i] = d->place[i] = NO_SERVER;
        d->used[i] = 0;
    }
    d->mean_capacity = all / p->n;
    if (d->placed)
        place_nodes(d);
    for (uint32_t v = 0; v < d->room; v++)
        d->next[v] = v + 1;
    d->unused = 0;
    d->n_unused = d->room;
    ISA(ring_begin)(&d->ring, q->ring_memory, d->room);
    if (q->fingers.made)
        memset(q->fingers.made, 0, d->room * sizeof *q->fingers.made);
    q->view.old = true;
    q->view.era = UINT64_MAX;
    q->first_query = q->n_queries = 0;
    q->carry = 0;
    q->begun = q->counts = false;
    if (q->lane_memory[0]) {
        q->up_values = lanes_at(&q->ups, q->lane_memory[0], true);
        q->down_values = lanes_at(&q->downs, q->lane_memory[1], true);
    }
}

/* ---- a step ---- */

static void measure(struct dht *d) {
    const struct ring_view *w = &d->play->view;
    const uint64_t seconds = d->step + 1 < d->p->measure ? d->step + 1 : d->p->measure;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t v = w->server[i];
        d->load[v] = d->load[v] + ((double)w->post[i].received - d->load[v]) / (double)seconds;
        w->post[i].received = 0;
    }
}

/* The nodes that are up, in a fresh random order (Durstenfeld, CACM 7(7), 1964). */
static void shuffle(struct dht *d) {
    struct dht_play *q = d->play;
    const uint64_t first = d->step << 24;
    memcpy(q->order, d->up, d->n_up * sizeof *q->order);
    draw_words((struct words){d->words, PURPOSE_TURN, 0}, first, d->n_up, q->words);
    for (uint32_t i = d->n_up; i-- > 1;) {
        const uint32_t j = rng_below_from(d->words, PURPOSE_TURN, 0, first + i, q->words[i], i + 1);
        const uint32_t other = q->order[i];
        q->order[i] = q->order[j];
        q->order[j] = other;
    }
}

static bool is_due(const struct dht *d) {
    const struct dht_point *p = d->p;
    return p->balancer->turn && d->step >= p->balance_from &&
           (d->step - p->balance_from) % p->period == 0;
}

/* Every node's turn to balance; false: no room for more virtual servers. */
static bool take_turns(struct dht *d) {
    struct dht_play *q = d->play;
    if (!q->begun && d->p->balancer->begin)
        d->p->balancer->begin(d);
    q->begun = true;
    shuffle(d);
    for (uint32_t i = 0; i < d->n_up; i++) {
        if (!d->p->per_node && d->n_unused == 0)
            return false;
        d->p->balancer->turn(d, q->order[i]);
    }
    return true;
}

#ifdef DHT_VERIFY
static void verify(const struct dht *d) {
    uint64_t arcs = 0;
    uint32_t n = 0, v = NO_SERVER;
    for (uint32_t i = 0; i < d->p->n; i++) {
        uint32_t own = 0;
        for (v = d->first[i]; v != NO_SERVER; v = d->next[v], own++) {
            CHECK(d->node[v] == i && dht_owner(d, d->id[v]) == v);
            CHECK(!d->p->balancer->own_identifiers || d->number[v] < IDENTIFIERS_MAX);
            CHECK(d->after[d->before[v]] == v && d->before[d->after[v]] == v);
            CHECK(dht_owner(d, d->id[v] + 1) == d->after[v]);
            arcs += arc_less_one(d->id[d->before[v]], d->id[v]) + 1;
        }
        CHECK(own == d->servers[i] && (own > 0) == (d->place[i] != NO_SERVER));
        CHECK(!d->p->per_node || own <= d->p->per_node);
        n += own;
    }
    CHECK(n == d->n_servers && n == d->ring.n && n + d->n_unused == d->room);
    CHECK(arcs == 0); /* modulo 2^64: the whole ring, or none */
    const struct dht_sums *s = &d->play->done;
    CHECK(s->queries == s->succeeded + s->dropped + s->lost);
}
#else
static void verify(const struct dht *d) {
    (void)d;
}
#endif

static bool play_one(struct dht *d, struct outcome *out, uint64_t index) {
    const struct dht_point *p = d->p;
    begin(d);
    ISA(dht_record_begin)(d);
    ISA(churn_begin)(d);
    d->play->interval = (struct dht_sums){0}; /* who is there at first does not come */
    for (; d->step < p->duration; d->step++) {
        d->play->counts = d->step >= p->record_from;
        if (!ISA(churn_step)(d))
            return false;
        ISA(route_update)(d);
        if (!ISA(route_queries)(d))
            return false;
        measure(d);
        ISA(dht_record_step)(d);
        if (p->log_step)
            p->log_step(p->context, d);
        if (is_due(d) && !take_turns(d))
            return false;
        ISA(dht_record_turns)(d, out, index);
        verify(d);
    }
    ISA(dht_record_end)(d, out, index);
    return true;
}

uint64_t ISA(dht_play)(const struct dht_point *p, uint64_t key, struct workspace work,
                       struct outcome *out) {
    uint64_t room = ISA(dht_first_room)(p);
    const uint64_t queries = ISA(dht_first_queries)(p), bytes = ISA(dht_bytes)(p, room, queries);
    if (work.size < bytes)
        return bytes;
    while (!p->per_node && ISA(dht_bytes)(p, room * 2, queries) <= work.size)
        room *= 2;
    struct dht_play q = {0};
    struct dht d = {.p = p, .words = {key, 0}, .play = &q};
    struct layout_of l = {work.memory, 0};
    lay_out(&d, &q, &l, room, queries);
    for (uint64_t r = 0; r < out->count; r++) {
        d.words.replication = (uint32_t)(out->first + r);
        if (!play_one(&d, out, r))
            return ISA(dht_bytes)(p, room * 2, queries);
    }
    return 0;
}
