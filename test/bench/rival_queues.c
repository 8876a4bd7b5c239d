/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rival_queues.h"

#include "fail.h"
#include "xoshiro.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Queues of more jobs do not happen at the loads measured here. */
enum { ROOM = 512, BINS = 4096 };

struct server {
    double last, next; /* completions of the youngest and the oldest; lazy alone */
    uint32_t count, head;
    double *slot; /* [ROOM]: arrivals, or completions when lazy; the oldest in slot[head] */
};

struct departure {
    double time;
    uint32_t server;
};

struct times {
    double sum, square, excess;
    uint32_t bin[BINS];
};

struct rival_queues {
    uint32_t n, turn, heap_size;
    struct xoshiro words;
    struct server *server;  /* [n] */
    struct departure *heap; /* [n] */
    double *slots;          /* [n][ROOM] */
    struct times response, waiting;
    double level[ROOM + 1];     /* time with at least so many jobs, ends less beginnings */
    uint64_t by_load[ROOM + 1]; /* jobs */
};

struct rival_queues *rival_queues_new(uint32_t n) {
    struct rival_queues *q = allocate(1, sizeof *q);
    q->n = n;
    q->words = (struct xoshiro){{1, 2, 3, 4}};
    q->server = allocate(n, sizeof *q->server);
    q->heap = allocate(n, sizeof *q->heap);
    q->slots = allocate((uint64_t)n * ROOM, sizeof *q->slots);
    return q;
}

void rival_queues_free(struct rival_queues *q) {
    free(q->server);
    free(q->heap);
    free(q->slots);
    free(q);
}

static void begin(struct rival_queues *q) {
    q->heap_size = q->turn = 0;
    for (uint32_t v = 0; v < q->n; v++)
        q->server[v] =
            (struct server){.next = (double)INFINITY, .slot = q->slots + (uint64_t)v * ROOM};
    memset(&q->response, 0, sizeof q->response);
    memset(&q->waiting, 0, sizeof q->waiting);
    memset(q->level, 0, sizeof q->level);
    memset(q->by_load, 0, sizeof q->by_load);
}

static inline double exponential(struct rival_queues *q) {
    return -log(((double)(xoshiro_next(&q->words) >> 11) + 0.5) * 0x1p-53);
}

static inline void add_time(struct times *t, double x) {
    uint64_t bits;
    t->sum += x;
    t->square += x * x;
    t->excess += x > 1 ? x - 1 : 0;
    memcpy(&bits, &x, sizeof bits);
    const int64_t bin = (int64_t)(bits >> 46) - ((1023 - 32) << 6);
    t->bin[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
}

/* ---- events ---- */

static void push(struct rival_queues *q, struct departure d) {
    struct departure *heap = q->heap;
    uint32_t at = q->heap_size++;
    for (; at > 0 && d.time < heap[(at - 1) / 2].time; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = d;
}

/* What is on top becomes d. */
static void replace_top(struct rival_queues *q, struct departure d) {
    struct departure *heap = q->heap;
    uint32_t at = 0;
    for (uint32_t child = 1; child < q->heap_size; child = 2 * at + 1) {
        if (child + 1 < q->heap_size && heap[child + 1].time < heap[child].time)
            child++;
        if (heap[child].time >= d.time)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = d;
}

static void leave(struct rival_queues *q) {
    const struct departure d = q->heap[0];
    struct server *s = q->server + d.server;
    add_time(&q->response, d.time - s->slot[s->head]);
    q->level[s->count] += d.time;
    s->head = (s->head + 1) % ROOM;
    if (--s->count) {
        add_time(&q->waiting, d.time - s->slot[s->head]);
        replace_top(q, (struct departure){d.time + exponential(q), d.server});
        return;
    }
    s->head = 0;
    if (--q->heap_size)
        replace_top(q, q->heap[q->heap_size]);
}

static inline uint32_t uniform(uint64_t half, uint32_t n) {
    return (uint32_t)((half & UINT32_MAX) * n >> 32);
}

static inline uint32_t in_turn(struct rival_queues *q) {
    const uint32_t v = q->turn;
    q->turn = v + 1 < q->n ? v + 1 : 0;
    return v;
}

double rival_heap(struct rival_queues *q, enum rival_rule rule, double lambda, uint64_t jobs) {
    const double gap = 1 / (lambda * q->n);
    double time = 0;
    begin(q);
    for (uint64_t i = 0; i < jobs; i++) {
        time += gap * exponential(q);
        while (q->heap_size && q->heap[0].time <= time)
            leave(q);
        const uint64_t x = rule == RIVAL_TURN ? 0 : xoshiro_next(&q->words);
        uint32_t to = rule == RIVAL_TURN ? in_turn(q) : uniform(x >> 32, q->n);
        if (rule == RIVAL_TWO) {
            const uint32_t other = uniform(x, q->n);
            to = q->server[other].count < q->server[to].count ? other : to;
        }
        struct server *s = q->server + to;
        q->by_load[s->count]++;
        s->slot[(s->head + s->count) % ROOM] = time;
        q->level[++s->count] -= time;
        if (s->count == 1) {
            add_time(&q->waiting, 0);
            push(q, (struct departure){time + exponential(q), to});
        }
    }
    while (q->heap_size)
        leave(q);
    return q->response.sum / (double)jobs;
}

/* ---- no events ---- */

static inline uint32_t look(struct rival_queues *q, uint32_t v, double time) {
    struct server *s = q->server + v;
    while (s->next <= time) {
        q->level[s->count] += s->next;
        s->count--;
        s->head = s->count ? (s->head + 1) % ROOM : 0;
        s->next = s->count ? s->slot[s->head] : (double)INFINITY;
    }
    return s->count;
}

double rival_lazy(struct rival_queues *q, enum rival_rule rule, double lambda, uint64_t jobs) {
    const double gap = 1 / (lambda * q->n);
    double time = 0;
    begin(q);
    for (uint64_t i = 0; i < jobs; i++) {
        time += gap * exponential(q);
        const uint64_t x = rule == RIVAL_TURN ? 0 : xoshiro_next(&q->words);
        uint32_t to = rule == RIVAL_TURN ? in_turn(q) : uniform(x >> 32, q->n);
        uint32_t load = look(q, to, time);
        if (rule == RIVAL_TWO) {
            const uint32_t other = uniform(x, q->n), rival = look(q, other, time);
            to = rival < load ? other : to;
            load = rival < load ? rival : load;
        }
        struct server *s = q->server + to;
        const double start = s->last > time ? s->last : time, ends = start + exponential(q);
        q->by_load[load]++;
        s->slot[(s->head + load) % ROOM] = ends;
        s->last = ends;
        s->next = load ? s->next : ends;
        q->level[++s->count] -= time;
        add_time(&q->waiting, start - time);
        add_time(&q->response, ends - time);
    }
    return q->response.sum / (double)jobs;
}
