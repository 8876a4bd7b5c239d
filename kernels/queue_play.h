/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: what playing (queue_play.c), central controls (queue_central.c) and recording
 * (queue_record.c) share. For them alone. */
#ifndef POTLUCK_QUEUE_PLAY_H
#define POTLUCK_QUEUE_PLAY_H

#include "queue.h"

#include <math.h>

/* A server. Its jobs that wait or are served are known by their completions, the oldest first, in a
 * ring of slots. */
struct server {
    double last;    /* completion of its youngest job ever */
    double next;    /* of its oldest present; INFINITY: none */
    uint32_t count; /* present */
    uint32_t head;  /* the oldest is in slot head & mask */
    uint32_t ring;  /* of the pool, where its slots begin */
    uint32_t mask;  /* slots less one */
};

enum { FIRST_SLOTS = 4, RING_CLASSES = 31, LANES_OF_SUMS = 8, FINE_LOG = 6 };
enum { FINE_BINS = 2 + (TIME_DOUBLINGS << FINE_LOG), LOADS_EXACT = BINS_EXACT };
enum { LEVEL_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING };
#define NO_RING UINT32_MAX
/* Jobs whose origin is looked at: one in so many, and what stands for the others. */
enum { ORIGINS_SAMPLED = 16 };
#define NOT_SEEN UINT32_MAX

/* How a job finds its server among its candidates. */
enum pick { PICK_ONE, PICK_FIRST, PICK_COIN, PICK_MANY, PICK_CENTRAL };

/* Jobs of the window, sums of a value kept in lanes so that vector code adds in one order. */
struct moments_of {
    double sum[MOMENTS][LANES_OF_SUMS];
    uint32_t *fine; /* [FINE_BINS] */
};

/* Servers under central control. */
struct central {
    uint32_t *order, *position; /* [n]: servers by load, and where each is */
    uint32_t *begin;            /* [LOADS_EXACT + 2]: servers with a load below */
    uint32_t least;             /* smallest load */
    uint32_t *heap, *heap_at;   /* [n]: busy servers, the first event on top; where each is */
    uint32_t heap_size;
};

/* What every turn touches. A copy of it in registers is all that the loop needs. Time in whole units
 * of 1 / scale, modulo 2^64: sums of ends less sums of beginnings are exact. */
struct view {
    struct server *server; /* [n] */
    double *pool;          /* [slots] */
    double scale;
    uint64_t *level; /* [LEVEL_BINS]: time that servers spend with at least so many jobs; beyond
                        LOADS_EXACT, the loads at which bins begin */
    uint128 *beyond; /* the same summed over all loads from LOADS_EXACT on */
    uint64_t *area;  /* [n]: jobs times time of each server; NULL: not asked for */
};

/* The memory of a thread, laid out. */
struct queue_play {
    struct view view;
    const struct queue *p;
    struct stream stream;
    enum pick pick;
    struct block block;
    double *time, *work, *wait, *response; /* [BLOCK] */
    uint32_t *where, *hop;                 /* [BLOCK] */
    uint32_t *load, *load_origin;          /* [BLOCK]: before the job comes */
    uint32_t *coin;                        /* [BLOCK / 32] */
    uint32_t *redirect, *tie;              /* [BLOCK] words */
    uint8_t *stays;                        /* [BLOCK] */
    uint64_t slots, taken;
    uint32_t spare[RING_CLASSES]; /* rings of 2^class slots that are free, chained by their first */
    void *arrivals, *failures, *searches;
    struct central central;

    uint64_t *level_at_close;
    uint128 beyond_at_close;
    uint128 beyond;
    uint64_t *areas; /* [n] for view.area */
    double serving;  /* time spent serving */

    bool open, closed;
    double opened, closes;
    uint64_t first_job;   /* of the window */
    uint64_t jobs;        /* that it has */
    uint64_t moved, cost; /* of those */
    double length;        /* FORM_PLANE */
    struct moments_of of_response, of_waiting;
    uint64_t *by_load, *by_load_origin; /* [LEVEL_BINS]: jobs of the window */
    unsigned path;                      /* times of the path that are past */
    uint64_t path_jobs[PATH_TIMES];
    uint64_t need; /* slots that would have done; 0: so far enough */
};

static inline uint64_t whole_time(const struct view *w, double time) {
    return (uint64_t)(int64_t)(time * w->scale);
}

/* Jobs present at a server go from below `level` to `level` at a time (minus for `when`), or back
 * (plus). */
static inline __attribute__((always_inline)) void account(const struct view *w, uint32_t level,
                                                          uint64_t when) {
    if (__builtin_expect(level < LOADS_EXACT, true)) {
        w->level[level] += when;
        return;
    }
    *w->beyond += when | (when >> 63 ? ~(uint128)0 << 64 : 0);
    const uint64_t bin = bin_of(level);
    if (bin_lower(bin) == level)
        w->level[bin] += when;
}

/* The oldest job of a server leaves. */
static inline __attribute__((always_inline)) void depart(const struct view *w, struct server *s) {
    const uint64_t when = whole_time(w, s->next);
    account(w, s->count, when);
    if (w->area)
        w->area[s - w->server] += when;
    s->count--;
    s->head++;
    s->next = s->count ? w->pool[s->ring + (s->head & s->mask)] : (double)INFINITY;
}

/* Jobs present at a time, those that are done gone. */
static inline __attribute__((always_inline)) uint32_t look(const struct view *w, uint32_t v,
                                                           double time) {
    struct server *s = w->server + v;
    while (s->next <= time)
        depart(w, s);
    return s->count;
}

/* queue_central.c */
void ISA(central_begin)(struct queue_play *q);
/* Lets all jobs go that are done by a time. */
void ISA(central_advance)(struct queue_play *q, double time);
uint32_t ISA(central_pick)(struct queue_play *q, uint32_t i);
/* A job has joined server v. */
void ISA(central_joined)(struct queue_play *q, uint32_t v);

/* queue_record.c */
void ISA(record_begin)(struct queue_play *q);
/* The window opens, closes at a time; nothing after it has happened yet. */
void ISA(record_open)(struct queue_play *q, double time);
void ISA(record_close)(struct queue_play *q, double time);
/* One of the times of the path. */
void ISA(record_path)(struct queue_play *q, double time);
/* Jobs from .. to-1 of the block are in the window. */
void ISA(record_jobs)(struct queue_play *q, uint32_t from, uint32_t to);
/* What a finished replication says. */
void ISA(record_replication)(struct queue_play *q, uint64_t index, struct outcome *out);

#endif
