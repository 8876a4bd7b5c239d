/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: policies that see all servers. Servers are kept in order of their load (jsq) or as idle and
 * busy ones (jiq, least-work), so that all the least loaded stand together; busy servers are in a
 * heap by their next departure (jsq) or by the completion of all they have (jiq, least-work), so
 * that what has happened meanwhile is caught up with: O(log n) a job. */
#include "queue_play.h"

/* What the heap is ordered by. */
static inline double key_of(const struct queue_play *q, uint32_t v) {
    const struct server *s = q->view.server + v;
    return q->p->sampler.control == CONTROL_JSQ ? s->next : s->last;
}

static void put(struct central *c, uint32_t at, uint32_t v) {
    c->heap[at] = v;
    c->heap_at[v] = at;
}

static void sift_up(struct queue_play *q, uint32_t at) {
    struct central *c = &q->central;
    const uint32_t v = c->heap[at];
    const double key = key_of(q, v);
    for (; at > 0 && key < key_of(q, c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(c, at, c->heap[(at - 1) / 2]);
    put(c, at, v);
}

static void sift_down(struct queue_play *q, uint32_t at) {
    struct central *c = &q->central;
    const uint32_t v = c->heap[at];
    const double key = key_of(q, v);
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= c->heap_size)
            break;
        if (child + 1 < c->heap_size && key_of(q, c->heap[child + 1]) < key_of(q, c->heap[child]))
            child++;
        if (!(key_of(q, c->heap[child]) < key))
            break;
        put(c, at, c->heap[child]);
        at = (uint32_t)child;
    }
    put(c, at, v);
}

static void insert(struct queue_play *q, uint32_t v) {
    struct central *c = &q->central;
    put(c, c->heap_size, v);
    sift_up(q, c->heap_size++);
}

static void remove_top(struct queue_play *q) {
    struct central *c = &q->central;
    if (--c->heap_size == 0)
        return;
    put(c, 0, c->heap[c->heap_size]);
    sift_down(q, 0);
}

static void swap(struct central *c, uint32_t a, uint32_t b) {
    const uint32_t x = c->order[a], y = c->order[b];
    c->order[a] = y;
    c->order[b] = x;
    c->position[y] = a;
    c->position[x] = b;
}

/* Server v has one job more than `load`, one less. Loads from LOADS_EXACT on stand together. */
static void move_up(struct central *c, uint32_t v, uint32_t load) {
    if (load < LOADS_EXACT)
        swap(c, c->position[v], --c->begin[load + 1]);
}
static void move_down(struct central *c, uint32_t v, uint32_t load) {
    if (load <= LOADS_EXACT)
        swap(c, c->position[v], c->begin[load]++);
}

void ISA(central_begin)(struct queue_play *q) {
    struct central *c = &q->central;
    const uint32_t n = (uint32_t)q->p->n;
    for (uint32_t v = 0; v < n; v++)
        c->order[v] = c->position[v] = v;
    c->begin[0] = 0;
    for (unsigned load = 1; load < LOADS_EXACT + 2; load++)
        c->begin[load] = n;
    c->least = c->heap_size = 0;
}

void ISA(central_advance)(struct queue_play *q, double time) {
    struct central *c = &q->central;
    const bool jsq = q->p->sampler.control == CONTROL_JSQ;
    while (c->heap_size && key_of(q, c->heap[0]) <= time) {
        const uint32_t v = c->heap[0];
        struct server *s = q->view.server + v;
        if (!jsq) {
            look(&q->view, v, time);
            move_down(c, v, 1);
            remove_top(q);
            continue;
        }
        depart(&q->view, s);
        move_down(c, v, s->count + 1);
        c->least = s->count < c->least ? s->count : c->least;
        if (s->count)
            sift_down(q, 0);
        else
            remove_top(q);
    }
}

/* One of the servers with a load, drawn fairly unless ties go to the origin. */
static uint32_t pick_load(const struct queue_play *q, uint32_t load, uint32_t i) {
    const struct central *c = &q->central;
    const uint32_t from = c->begin[load], size = c->begin[load + 1] - from,
                   origin = q->block.origin[i], at = c->position[origin] - from;
    if (q->p->sampler.ties == TIES_ORIGIN && at < size)
        return origin;
    return c->order[from +
                    rng_below_from(q->stream, PURPOSE_TIE, 1, q->block.first + i, q->tie[i], size)];
}

uint32_t ISA(central_pick)(struct queue_play *q, uint32_t i) {
    const struct central *c = &q->central;
    const enum control control = q->p->sampler.control;
    if (q->block.stays && q->stays[i])
        return q->block.origin[i];
    if (control == CONTROL_JSQ)
        return pick_load(q, c->least, i);
    if (c->begin[1] > 0)
        return pick_load(q, 0, i);
    return control == CONTROL_JIQ ? q->block.origin[i] : c->heap[0];
}

void ISA(central_joined)(struct queue_play *q, uint32_t v) {
    struct central *c = &q->central;
    const uint32_t load = q->view.server[v].count;
    if (q->p->sampler.control == CONTROL_JSQ) {
        move_up(c, v, load - 1);
        while (c->least < LOADS_EXACT && c->begin[c->least + 1] == 0)
            c->least++;
        if (load == 1)
            insert(q, v);
    } else if (c->position[v] < c->begin[1]) {
        move_up(c, v, 0);
        insert(q, v);
    } else {
        sift_down(q, c->heap_at[v]);
    }
}
