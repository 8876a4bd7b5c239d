/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: virtual servers come, go and move; ring, lists and estimates of load follow. */
#include "dht_play.h"

#include <math.h>

uint64_t ISA(dht_identifier)(const struct dht *d, uint32_t node, unsigned number) {
    const struct dht_point *p = d->p;
    if (number == 0 && p->values[DHT_IDS].word != 0)
        return d->placed[node];
    return (uint64_t)rng_word(d->words, PURPOSE_GRAPH, number, 2 * (uint64_t)node) << 32 |
           rng_word(d->words, PURPOSE_GRAPH, number, 2 * (uint64_t)node + 1);
}

/* ---- counting ---- */

void ISA(dht_tell)(const struct dht *d, enum dht_event event, uint32_t node, uint64_t id,
                   uint64_t other) {
    struct dht_play *q = d->play;
    q->interval.events[event]++;
    if (q->counts)
        q->sums.events[event]++;
    if (d->p->log)
        d->p->log(d->p->context, d, event, node, id, other);
}

/* Space and work change owner by an artificial event. */
static void hand_over(const struct dht *d, enum dht_event event, double space, double work) {
    struct dht_play *q = d->play;
    if (event < EVENT_CREATE)
        return;
    q->interval.moved_space += space;
    if (q->counts) {
        q->sums.moved_space += space;
        q->sums.moved_work += work;
    }
}

/* ---- the ring ---- */

/* Tables that point to v are out of date from now on; v needs a new one when it is there again. */
static void outdate(struct dht *d, uint32_t v) {
    d->play->view.old = true;
    if (d->play->fingers.made) {
        d->play->fingers.made[v]++;
        d->play->fingers.fresh[v] = true;
    }
}

/* Puts v on the ring at an identifier, or the next free one, with its share of its successor's load. */
static void enter(struct dht *d, enum dht_event event, uint32_t v, uint64_t id) {
    while (!ISA(ring_insert)(&d->ring, id, v))
        id++;
    d->id[v] = id;
    d->n_servers++;
    outdate(d, v);
    if (d->n_servers == 1) {
        d->before[v] = d->after[v] = v;
        d->load[v] = d->anticipated;
        return;
    }
    const uint32_t after = ring_at_or_after(&d->ring, id + 1), before = d->before[after];
    const double arc = arc_length(d->id[before], id),
                 load = arc / dht_arc(d, after) * d->load[after];
    d->load[v] = load;
    d->load[after] = d->load[after] - load;
    d->before[v] = before;
    d->after[v] = after;
    d->after[before] = v;
    d->before[after] = v;
    if (d->node[after] != d->node[v])
        hand_over(d, event, arc, load);
}

/* Takes v off the ring. Its load goes to its successor. */
static void quit(struct dht *d, enum dht_event event, uint32_t v) {
    const uint32_t before = d->before[v], after = d->after[v];
    ISA(ring_remove)(&d->ring, d->id[v]);
    d->n_servers--;
    outdate(d, v);
    if (after == v)
        return;
    if (d->node[after] != d->node[v])
        hand_over(d, event, dht_arc(d, v), d->load[v]);
    d->load[after] = d->load[after] + d->load[v];
    d->after[before] = after;
    d->before[after] = before;
}

/* ---- lists of nodes ---- */

static void list_append(struct dht *d, uint32_t node, uint32_t v) {
    d->node[v] = node;
    d->next[v] = NO_SERVER;
    if (d->servers[node]++ == 0)
        d->first[node] = v;
    else
        d->next[d->last[node]] = v;
    d->last[node] = v;
}

static void list_remove(struct dht *d, uint32_t v) {
    const uint32_t node = d->node[v];
    uint32_t before = NO_SERVER;
    for (uint32_t i = d->first[node]; i != v; i = d->next[i])
        before = i;
    if (before == NO_SERVER)
        d->first[node] = d->next[v];
    else
        d->next[before] = d->next[v];
    if (d->last[node] == v)
        d->last[node] = before;
    d->servers[node]--;
}

static void use(struct dht *d, uint32_t v, unsigned number) {
    d->number[v] = (uint8_t)number;
    if (number < IDENTIFIERS_MAX)
        d->used[d->node[v]] |= (uint64_t)1 << number;
}

static void disuse(struct dht *d, uint32_t v) {
    if (d->number[v] < IDENTIFIERS_MAX)
        d->used[d->node[v]] &= ~((uint64_t)1 << d->number[v]);
}

/* ---- what balancers do ---- */

uint32_t ISA(dht_create)(struct dht *d, enum dht_event event, uint32_t node, uint64_t id,
                         unsigned number) {
    CHECK(d->n_unused > 0);
    const uint32_t v = d->unused;
    d->unused = d->next[v];
    d->n_unused--;
    list_append(d, node, v);
    use(d, v, number);
    enter(d, event, v, id);
    ISA(dht_tell)(d, event, node, d->id[v], 0);
    return v;
}

void ISA(dht_delete)(struct dht *d, enum dht_event event, uint32_t v) {
    const uint32_t node = d->node[v];
    quit(d, event, v);
    disuse(d, v);
    list_remove(d, v);
    d->next[v] = d->unused;
    d->unused = v;
    d->n_unused++;
    ISA(dht_tell)(d, event, node, d->id[v], 0);
}

uint64_t ISA(dht_lift)(struct dht *d, uint32_t v) {
    const uint64_t from = d->id[v];
    quit(d, EVENT_MOVE, v);
    return from;
}

void ISA(dht_drop)(struct dht *d, uint32_t v, uint64_t from, uint64_t id, unsigned number) {
    const uint32_t node = d->node[v];
    disuse(d, v);
    use(d, v, number);
    enter(d, EVENT_MOVE, v, id);
    if (d->play->counts)
        d->play->moves_by_class[dht_class(d->capacity[node])]++;
    ISA(dht_tell)(d, EVENT_MOVE, node, from, d->id[v]);
}

void ISA(dht_move)(struct dht *d, uint32_t v, uint64_t id, unsigned number) {
    ISA(dht_drop)(d, v, ISA(dht_lift)(d, v), id, number);
}

void ISA(dht_give)(struct dht *d, uint32_t v, uint32_t node) {
    const uint32_t giver = d->node[v];
    hand_over(d, EVENT_GIVE, dht_arc(d, v), d->load[v]);
    disuse(d, v);
    list_remove(d, v);
    list_append(d, node, v);
    d->number[v] = IDENTIFIERS_MAX;
    d->play->view.old = true;
    ISA(dht_tell)(d, EVENT_GIVE, giver, d->id[v], node);
}

void ISA(dht_shift)(struct dht *d, uint32_t v, uint64_t id, uint32_t giver, uint32_t taker,
                    double load) {
    const uint64_t from = d->id[v], space = id - from < from - id ? id - from : from - id;
    ISA(ring_remove)(&d->ring, from);
    CHECK(ISA(ring_insert)(&d->ring, id, v));
    d->id[v] = id;
    d->load[giver] = d->load[giver] - load;
    d->load[taker] = d->load[taker] + load;
    disuse(d, v);
    d->number[v] = IDENTIFIERS_MAX;
    outdate(d, v);
    hand_over(d, EVENT_SHIFT, (double)space, load);
    ISA(dht_tell)(d, EVENT_SHIFT, d->node[v], from, id);
}
