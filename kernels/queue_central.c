/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: policies that see all servers. A tree over the servers keeps the least load in each part and
 * how many servers have it; for jiq and least-work the load is 0 or 1, idle or busy. Ties are a draw
 * of one of the least loaded in order of number, so that only the state counts, never how it came
 * about. Busy servers are in a heap by their next departure (jsq) or by the completion of all they
 * have (jiq, least-work), equal ones by number, so that what has happened meanwhile is caught up
 * with: O(log n) a job. */
#include "queue_play.h"

/* What the heap is ordered by. */
static inline double key_of(const struct queue_play *q, uint32_t v) {
    const struct server *s = q->view.server + v;
    return q->p->sampler.control == CONTROL_JSQ ? s->next : s->last;
}

static inline bool before(struct due a, struct due b) {
    return (a.time < b.time) | ((a.time == b.time) & (a.server < b.server));
}

static inline void put(struct central *c, uint32_t at, struct due d) {
    c->heap[at] = d;
    c->heap_at[d.server] = at;
}

/* Server v is due later than before. */
static void put_off(struct queue_play *q, uint32_t at, uint32_t v) {
    struct central *c = &q->central;
    const struct due d = {key_of(q, v), v};
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= c->heap_size)
            break;
        if (child + 1 < c->heap_size)
            child += before(c->heap[child + 1], c->heap[child]);
        if (!before(c->heap[child], d))
            break;
        put(c, at, c->heap[child]);
        at = (uint32_t)child;
    }
    put(c, at, d);
}

static void insert(struct queue_play *q, uint32_t v) {
    struct central *c = &q->central;
    const struct due d = {key_of(q, v), v};
    uint32_t at = c->heap_size++;
    for (; at > 0 && before(d, c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(c, at, c->heap[(at - 1) / 2]);
    put(c, at, d);
}

static void remove_top(struct queue_play *q) {
    struct central *c = &q->central;
    if (--c->heap_size > 0)
        put_off(q, 0, c->heap[c->heap_size].server);
}

static inline struct least join_parts(struct least a, struct least b) {
    const uint32_t load = a.load < b.load ? a.load : b.load;
    return (struct least){load,
                          (a.load == load ? a.servers : 0) + (b.load == load ? b.servers : 0)};
}

/* Server v has this load now. */
static void set_load(struct central *c, uint32_t v, uint32_t load) {
    uint64_t at = (uint64_t)c->leaves + v;
    c->part[at].load = load;
    while (at > 1) {
        at /= 2;
        const struct least now = join_parts(c->part[2 * at], c->part[2 * at + 1]);
        if (now.load == c->part[at].load && now.servers == c->part[at].servers)
            return;
        c->part[at] = now;
    }
}

static uint32_t load_of(const struct central *c, uint32_t v) {
    return c->part[(uint64_t)c->leaves + v].load;
}

void ISA(central_begin)(struct queue_play *q) {
    struct central *c = &q->central;
    const uint64_t n = q->p->n;
    c->leaves = central_leaves(n);
    for (uint64_t v = 0; v < c->leaves; v++)
        c->part[c->leaves + v] = v < n ? (struct least){0, 1} : (struct least){UINT32_MAX, 0};
    for (uint64_t at = c->leaves; --at > 0;)
        c->part[at] = join_parts(c->part[2 * at], c->part[2 * at + 1]);
    c->heap_size = 0;
}

void ISA(central_advance)(struct queue_play *q, double time) {
    struct central *c = &q->central;
    const bool jsq = q->p->sampler.control == CONTROL_JSQ;
    while (c->heap_size && c->heap[0].time <= time) {
        const uint32_t v = c->heap[0].server;
        struct server *s = q->view.server + v;
        if (!jsq) {
            look(&q->view, v, time);
            set_load(c, v, 0);
            remove_top(q);
            continue;
        }
        depart(&q->view, s);
        set_load(c, v, s->count);
        if (s->count)
            put_off(q, 0, v);
        else
            remove_top(q);
    }
}

/* One of the least loaded, drawn fairly unless ties go to the origin. */
static uint32_t pick_least(const struct queue_play *q, uint32_t i) {
    const struct central *c = &q->central;
    const struct least all = c->part[1];
    const uint32_t origin = q->block.origin[i];
    if (q->p->sampler.ties == TIES_ORIGIN && load_of(c, origin) == all.load)
        return origin;
    uint32_t rank =
        rng_below_from(q->stream, PURPOSE_TIE, 1, q->block.first + i, q->tie[i], all.servers);
    uint64_t at = 1;
    while (at < c->leaves) {
        const struct least left = c->part[2 * at];
        const uint32_t there = left.load == all.load ? left.servers : 0;
        const bool right = rank >= there; /* either way as often: no branch */
        rank -= there & -(uint32_t)right;
        at = 2 * at + right;
    }
    return (uint32_t)(at - c->leaves);
}

uint32_t ISA(central_pick)(struct queue_play *q, uint32_t i) {
    const struct central *c = &q->central;
    const enum control control = q->p->sampler.control;
    if (q->block.stays && q->stays[i])
        return q->block.origin[i];
    if (control == CONTROL_JSQ || c->part[1].load == 0)
        return pick_least(q, i);
    return control == CONTROL_JIQ ? q->block.origin[i] : c->heap[0].server;
}

void ISA(central_joined)(struct queue_play *q, uint32_t v) {
    struct central *c = &q->central;
    const uint32_t load = q->view.server[v].count;
    if (q->p->sampler.control == CONTROL_JSQ) {
        set_load(c, v, load);
        if (load == 1)
            insert(q, v);
    } else if (load_of(c, v) == 0) {
        set_load(c, v, 1);
        insert(q, v);
    } else {
        put_off(q, c->heap_at[v], v);
    }
}
