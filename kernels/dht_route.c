/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: queries find their way over fingers (Stoica et al., Chord, ToN 11(1), 2003). From a virtual
 * server y a query goes to the last of y's fingers before its key, and at last to the owner. The
 * fingers of y are the first virtual servers at or after y + 2^j. With p the last before the owner, the
 * finger that is taken is that of the greatest j with y + 2^j not beyond p; so while tables are up to
 * date one search of the ring finds it, and no table is kept.
 *
 * Routes do not depend on what is dropped, so where one query ends before the next begins many are
 * routed side by side, and then charged in order. */
#include "dht_play.h"

#include "draw.h"

#include <string.h>

#define LOST UINT32_MAX

/* ---- the ring as queries see it ---- */

/* Two to four buckets for each virtual server, so that a search seldom takes more than a step. */
static void fill_buckets(struct ring_view *w) {
    unsigned bits = 1;
    while ((uint64_t)1 << bits < 2 * (uint64_t)w->n)
        bits++;
    w->shift = 64 - bits;
    uint32_t b = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (const uint64_t last = w->id[i] >> w->shift; b <= last; b++)
            w->bucket[b] = i;
    for (; b < (uint32_t)1 << bits; b++)
        w->bucket[b] = w->n;
}

/* The first position at or after an identifier. */
static inline uint32_t position_after(const struct ring_view *w, uint64_t id) {
    uint32_t i = w->bucket[id >> w->shift];
    i += w->id[i] < id; /* id[n] is the largest number: never beyond n */
    i += w->id[i] < id;
    while (__builtin_expect(w->id[i] < id, 0))
        i++;
    return i < w->n ? i : 0;
}

static void fill_owners(struct dht *d) {
    struct ring_view *w = &d->play->view;
    uint32_t k = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t v = w->server[i];
        w->position[v] = i;
        w->post[i] = (struct post){d->node[v], 0};
    }
    for (uint32_t i = 0; i < d->p->n; i++) {
        w->begin[i] = k;
        for (uint32_t v = d->first[i]; v != NO_SERVER; v = d->next[v])
            w->own[k++] = w->position[v];
    }
    w->begin[d->p->n] = k;
    CHECK(k == w->n);
}

static void place_keys(struct dht *d) {
    struct ring_view *w = &d->play->view;
    for (uint32_t r = 0; r < d->p->n_keys; r++)
        w->of_key[r] = position_after(w, d->play->key[r]);
}

static void draw_keys(struct dht *d, uint64_t era) {
    struct dht_play *q = d->play;
    for (uint32_t r = 0; r < d->p->n_keys; r++)
        q->key[r] = (uint64_t)rng_word(d->words, PURPOSE_KEY, (uint32_t)era, 2 * (uint64_t)r)
                        << 32 |
                    rng_word(d->words, PURPOSE_KEY, (uint32_t)era, 2 * (uint64_t)r + 1);
}

/* ---- tables made at times ---- */

static void make_table(struct dht *d, uint32_t at) {
    const struct ring_view *w = &d->play->view;
    struct fingers *f = &d->play->fingers;
    const uint32_t v = w->server[at], next = at + 1 < w->n ? at + 1 : 0;
    const uint64_t id = w->id[at], gap = arc_less_one(id, w->id[next]);
    struct finger *table = f->of + (uint64_t)v * 64;
    unsigned j = 64;
    uint32_t to = next;
    for (; j > 0 && ((uint64_t)1 << (j - 1)) - 1 > gap; j--) {
        to = position_after(w, id + ((uint64_t)1 << (j - 1)));
        table[j - 1] = (struct finger){w->id[to], w->server[to], f->made[w->server[to]]};
    }
    f->lowest[v] = (uint8_t)j; /* all below are the successor */
    if (j > 0)
        table[j - 1] = (struct finger){w->id[next], w->server[next], f->made[w->server[next]]};
    f->fresh[v] = false;
}

static void refresh_tables(struct dht *d) {
    const struct ring_view *w = &d->play->view;
    for (uint32_t i = 0; i < w->n; i++)
        if (d->play->fingers.fresh[w->server[i]] ||
            (d->step + (w->id[i] >> 40)) % d->p->refresh == 0)
            make_table(d, i);
}

/* Where a query goes from `at` by the tables. */
static uint32_t stale_hop(const struct dht *d, const struct query *query) {
    const struct ring_view *w = &d->play->view;
    const struct fingers *f = &d->play->fingers;
    const uint32_t at = query->at, v = w->server[at], next = at + 1 < w->n ? at + 1 : 0;
    const uint64_t id = w->id[at], far = query->key - id;
    if (query->owner == next)
        return next;
    const struct finger *table = f->of + (uint64_t)v * 64;
    const int least = f->lowest[v] > 0 ? f->lowest[v] - 1 : 0;
    int j = 63 - __builtin_clzll(far);
    for (j = j > least ? j : least; j >= least; j--) {
        const uint64_t step = table[j].id - id;
        if (step > 0 && step < far)
            return table[j].made == f->made[table[j].server] ? w->position[table[j].server] : LOST;
    }
    return next;
}

void ISA(route_update)(struct dht *d) {
    const struct dht_point *p = d->p;
    struct ring_view *w = &d->play->view;
    const uint64_t era = d->step >= p->shift;
    const bool other_keys = p->n_keys && w->era != era;
    if (other_keys)
        draw_keys(d, w->era = era);
    if (w->old) {
        w->n = d->n_servers;
        ISA(ring_flatten)(&d->ring, w->id, w->server);
        w->id[w->n] = UINT64_MAX;
        fill_buckets(w);
        fill_owners(d);
    }
    if ((w->old || other_keys) && w->n > 0)
        place_keys(d);
    w->old = false;
    if (p->refresh > 1)
        refresh_tables(d);
    const double now = (double)d->step;
    for (uint32_t i = 0; i < p->n; i++) {
        const double left = d->capacity[i] - p->maintenance * d->servers[i],
                     spare = left > 0 ? left : 0;
        const double room = __builtin_floor(spare * (now + 1)) - __builtin_floor(spare * now);
        d->play->room[i] = d->play->left[i] = room < 0x1p30 ? (int32_t)room : 1 << 30;
    }
}

/* ---- queries ---- */

static uint32_t rank_of(const struct dht_point *p, uint64_t number) {
    uint32_t r = p->guide[number >> (64 - p->guide_bits)];
    while (r + 1 < p->n_keys && number >= p->cumulative[r])
        r++;
    return r;
}

/* Queries first .. first + count - 1, a multiple of CHUNK first, QUERIES_ABREAST at most. */
static void draw_queries(struct dht *d, uint64_t first, uint32_t count, struct query *query) {
    const struct dht_point *p = d->p;
    const struct ring_view *w = &d->play->view;
    const struct words source = {d->words, PURPOSE_SOURCE, 0},
                       which = {d->words, PURPOSE_SOURCE, 1},
                       high = {d->words, PURPOSE_DESTINATION, 0},
                       low = {d->words, PURPOSE_DESTINATION, 1};
    uint32_t from[QUERIES_ABREAST], of[QUERIES_ABREAST], upper[QUERIES_ABREAST],
        lower[QUERIES_ABREAST];
    const bool several = w->n > d->n_up;
    draw_below(source, first, count, d->n_up, from);
    draw_words(high, first, count, upper);
    draw_words(low, first, count, lower);
    if (several)
        draw_words(which, first, count, of);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = d->up[from[i]], begin = w->begin[node],
                       own = w->begin[node + 1] - begin;
        uint32_t k = 0;
        if (several && own > 1)
            k = rng_below_from(d->words, PURPOSE_SOURCE, 1, first + i, of[i], own);
        query[i].at = w->own[begin + k];
        query[i].hops = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t number = (uint64_t)upper[i] << 32 | lower[i];
        if (p->n_keys) {
            const uint32_t r = rank_of(p, number);
            query[i].key = d->play->key[r];
            query[i].owner = w->of_key[r];
        } else {
            query[i].key = number;
            query[i].owner = position_after(w, number);
        }
    }
}

/* A message comes to the virtual server at a position; whether its node takes it. Where every node has
 * one virtual server, the work of that is what the node receives, and is counted later. */
static inline bool arrives(struct dht_play *q, uint32_t at, bool several) {
    struct post *post = &q->view.post[at];
    post->received += several;
    return q->left[post->node]-- > 0;
}

static void succeed(struct dht_play *q, uint32_t hops) {
    q->done.succeeded++;
    q->done.hops += hops;
    if (q->counts)
        q->hop_bins[bin_of(hops)]++;
}

/* Where a query goes next; whether that is the last hop. */
static uint32_t next_hop(const struct dht *d, const struct query *query, bool *last) {
    const struct ring_view *w = &d->play->view;
    uint32_t to = query->owner;
    if (!d->p->one_hop && d->p->refresh > 1) {
        to = stale_hop(d, query);
    } else if (!d->p->one_hop) {
        const uint32_t before = query->owner ? query->owner - 1 : w->n - 1;
        const uint64_t far = w->id[before] - w->id[query->at];
        if (far > 0)
            to = position_after(w, w->id[query->at] + ((uint64_t)1 << (63 - __builtin_clzll(far))));
    }
    *last = to == query->owner;
    return to;
}

/* One hop; whether the query is still under way. */
static bool hop(struct dht *d, struct query *query) {
    struct dht_play *q = d->play;
    bool last;
    const uint32_t to = next_hop(d, query, &last);
    if (to == LOST) {
        q->done.lost++;
        return false;
    }
    query->at = to;
    query->hops++;
    if (!last || d->p->delivers) {
        q->done.received++;
        if (!arrives(q, to, true)) {
            q->done.dropped++;
            return false;
        }
    }
    if (last)
        succeed(q, query->hops);
    return !last;
}

/* Those that begin where they end need no hop. */
static bool at_home(struct dht *d, const struct query *query) {
    if (query->at != query->owner)
        return false;
    succeed(d->play, 0);
    return true;
}

/* ---- one query ends before the next begins ---- */

/* Routes of queries over fingers that are up to date, side by side; hops of each. */
static void route_abreast(const struct dht *d, struct query *query, uint32_t count,
                          uint32_t *route) {
    const struct ring_view w = d->play->view;
    uint32_t under_way[QUERIES_ABREAST], n = 0;
    uint64_t goal[QUERIES_ABREAST],
        here[QUERIES_ABREAST]; /* identifiers: before the owner's, now */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t owner = query[i].owner;
        goal[i] = w.id[owner ? owner - 1 : w.n - 1];
        here[i] = w.id[query[i].at];
        under_way[n] = i;
        n += query[i].at != owner;
    }
    for (uint32_t h = 0; n > 0; h++) {
        uint32_t left = 0;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t i = under_way[k];
            const uint64_t far = goal[i] - here[i];
            /* At the goal the search is in vain, but costs less than a branch. */
            const uint32_t next =
                position_after(&w, here[i] + ((uint64_t)1 << (63 - __builtin_clzll(far | 1))));
            const uint64_t there = -(uint64_t)(far == 0);
            here[i] = w.id[next];
            route[i * HOPS_MAX + h] = (uint32_t)((query[i].owner & there) | (next & ~there));
            query[i].hops = h + 1;
            under_way[left] = i;
            left += far > 0;
        }
        n = left;
    }
}

static inline __attribute__((always_inline)) void charge(struct dht *d, const struct query *query,
                                                         uint32_t count, const uint32_t *route,
                                                         bool several) {
    struct dht_play *q = d->play;
    const uint32_t free_hops = d->p->delivers ? 0 : 1;
    uint64_t received = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t hops = query[i].hops, charged = hops > free_hops ? hops - free_hops : 0;
        const uint32_t *to = route + i * HOPS_MAX;
        uint32_t h = 0;
        while (h < charged && arrives(q, to[h], several))
            h++;
        if (h < charged) {
            received += h + 1;
            q->done.dropped++;
            continue;
        }
        received += h;
        succeed(q, hops);
    }
    q->done.received += received;
}

/* What every node's only virtual server has received. */
static void count_work(struct dht_play *q) {
    for (uint32_t at = 0; at < q->view.n; at++)
        q->view.post[at].received = received_by(q, q->view.post[at].node);
}

static void play_sequentially(struct dht *d) {
    struct dht_play *q = d->play;
    struct query query[QUERIES_ABREAST];
    const bool abreast = !d->p->one_hop && d->p->refresh <= 1, several = q->view.n > d->n_up;
    for (uint64_t done = 0; done < q->n_queries; done += QUERIES_ABREAST) {
        const uint64_t left = q->n_queries - done;
        const uint32_t count = left < QUERIES_ABREAST ? (uint32_t)left : QUERIES_ABREAST;
        draw_queries(d, q->first_query + done, count, query);
        if (abreast) {
            route_abreast(d, query, count, q->route);
            if (several)
                charge(d, query, count, q->route, true);
            else
                charge(d, query, count, q->route, false);
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            if (!at_home(d, &query[i]))
                while (hop(d, &query[i]))
                    ;
    }
    if (abreast && !several)
        count_work(q);
}

/* ---- all queries hop by hop ---- */

static void play_hop_by_hop(struct dht *d) {
    struct dht_play *q = d->play;
    struct query drawn[QUERIES_ABREAST];
    uint64_t n = 0;
    for (uint64_t done = 0; done < q->n_queries; done += QUERIES_ABREAST) {
        const uint64_t left = q->n_queries - done;
        const uint32_t count = left < QUERIES_ABREAST ? (uint32_t)left : QUERIES_ABREAST;
        draw_queries(d, q->first_query + done, count, drawn);
        for (uint32_t i = 0; i < count; i++)
            if (!at_home(d, &drawn[i]))
                q->query[n++] = drawn[i];
    }
    while (n > 0) {
        uint64_t left = 0;
        for (uint64_t i = 0; i < n; i++)
            if (hop(d, &q->query[i]))
                q->query[left++] = q->query[i];
        n = left;
    }
}

bool ISA(route_queries)(struct dht *d) {
    struct dht_play *q = d->play;
    const double sum = q->carry + d->p->queries * d->n_up;
    const uint64_t before = q->first_query + q->n_queries;
    q->first_query = (before + CHUNK - 1) / CHUNK * CHUNK;
    q->n_queries = (uint64_t)sum;
    q->carry = sum - __builtin_floor(sum);
    q->done = (struct dht_sums){.queries = q->n_queries};
    if (d->n_up == 0)
        q->n_queries = q->done.queries = 0; /* nobody is there to ask */
    if (d->p->synchronous && q->n_queries > q->most_queries)
        return false;
    if (q->n_queries > 0 && d->p->synchronous)
        play_hop_by_hop(d);
    else if (q->n_queries > 0)
        play_sequentially(d);
    return true;
}
