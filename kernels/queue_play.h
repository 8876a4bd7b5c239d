/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: what playing (queue_play.c), central controls (queue_central.c) and recording
 * (queue_record.c) share. For them alone. */
#ifndef POTLUCK_QUEUE_PLAY_H
#define POTLUCK_QUEUE_PLAY_H

#include "eight.h"
#include "queue.h"

#include <math.h>

/* A server. Its jobs that wait or are served are known by their completions. Under central control all
 * are in a ring of slots, the oldest first. Otherwise the youngest, done or not, are in its line, and
 * the ring has those that are older than a line full of jobs present. */
struct server {
    double last;    /* completion of its youngest job ever; central control alone */
    double next;    /* of the oldest in the ring; INFINITY: none */
    uint32_t count; /* in the ring */
    uint32_t head;  /* the oldest is in slot head & mask */
    uint32_t ring;  /* of the pool, where its slots begin */
    uint32_t mask;  /* slots less one */
};

enum { FIRST_SLOTS = 4, RING_CLASSES = 31, LANES_OF_SUMS = 8, FINE_LOG = 6 };
enum { FINE_BINS = 2 + (TIME_DOUBLINGS << FINE_LOG), LOADS_EXACT = BINS_EXACT };
/* Lines: where a job has one candidate queues are longer. */
enum { LINE_OF_ONE = 2 * EIGHT, LINE_OF_MANY = EIGHT, LINE_MOST = LINE_OF_ONE };
enum { LEVEL_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING };
#define NO_RING UINT32_MAX
/* Jobs whose origin is looked at where it is not anyway: one in so many. */
enum { ORIGINS_SAMPLED = 16 };

/* How a job finds its server among its candidates. */
enum pick { PICK_ONE, PICK_FIRST, PICK_COIN, PICK_MANY, PICK_CENTRAL };

static inline __attribute__((always_inline)) uint32_t line_size_of(enum pick pick) {
    return pick == PICK_CENTRAL ? 0 : pick == PICK_ONE ? LINE_OF_ONE : LINE_OF_MANY;
}

/* Jobs of the window, sums of a value kept in lanes so that vector code adds in one order. */
struct moments_of {
    double sum[MOMENTS][LANES_OF_SUMS];
    uint32_t *fine; /* [FINE_BINS] */
};

/* Completions from the empty start, of one replication. */
struct follow {
    uint32_t *come;   /* [n]: jobs that each server has got, at most K */
    uint64_t reached; /* servers that have got K */
    uint32_t
        *servers; /* [K][n_grid + 1]: whose k-th completion has this first point of the grid at or
                          after it */
    double *sum;  /* [K]: of their k-th completions */
    double *smallest; /* [K]: the first completions of all, the last of them on top of a heap */
    uint64_t found;   /* how many there are */
    uint64_t seen;    /* jobs so far */
    double sure;      /* nobody who comes later can be done before */
};

/* Looks at all servers, in the halves of the window. */
struct watch {
    struct looks {
        uint64_t *sum;    /* [n]: over looks */
        uint128 *square;  /* [n] */
        uint128 *product; /* [n_edges], in the order of the lower ends */
        uint64_t looks;
    } half[2];
    double *of_server; /* [n] */
    uint32_t *load;    /* [n]: what was seen last */
};

/* Servers under central control. */
struct central {
    /* [2 leaves]: 1 is all, 2 i and 2 i + 1 are the parts of i, server v is leaves + v. */
    struct least {
        uint32_t load, servers; /* the least load, and how many have it */
    } * part;
    uint64_t leaves;
    struct due {
        double time;
        uint32_t server;
    } * heap;          /* [n]: busy servers, the first event on top */
    uint32_t *heap_at; /* [n]: where each is */
    uint32_t heap_size;
};

/* A power of two, n at least. */
static inline uint64_t central_leaves(uint64_t n) {
    return n < 2 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(n - 1));
}

/* What every turn touches. A copy of it in registers is all that the loop needs. Time in whole units
 * of 1 / scale, modulo 2^64: sums of ends less sums of beginnings are exact. */
struct view {
    struct server *server; /* [n] */
    double *pool;          /* [slots] */
    double scale;
    uint64_t *level; /* [LEVEL_BINS]: time that servers spend with at least so many jobs; beyond
                        LOADS_EXACT, the loads at which bins begin */
    uint128 *beyond; /* the same summed over all loads from LOADS_EXACT on */
    uint128 *area;   /* [n]: jobs times time of each server, each job until it is done as soon as it
                        comes; NULL: not asked for */
    double *line;    /* [n][line_size]: the last completions of each server, the youngest first */
    uint32_t line_size; /* 0: central control, no lines */
    uint64_t *come;     /* [EIGHT + LINE_MOST]: see queue_turns.c */
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
    uint32_t *load, *load_origin;          /* [BLOCK]: before the job comes; the origin's only of
                                              jobs that look at it */
    uint32_t *coin;                        /* [BLOCK / 32] */
    uint32_t *redirect, *tie;              /* [BLOCK] words */
    uint8_t *stays;                        /* [BLOCK] */
    uint64_t slots, taken;
    uint32_t spare[RING_CLASSES]; /* rings of 2^class slots that are free, chained by their first */
    void *arrivals, *failures, *searches;
    struct central central;
    struct follow follow;
    struct watch watch;

    uint64_t *level_at_close;
    uint128 beyond_at_close;
    uint128 beyond;
    uint128 *areas; /* [n] for view.area */
    double serving; /* time spent serving */

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
    return whole_units(time, w->scale);
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

/* The oldest job in the ring of a server leaves. */
static inline __attribute__((always_inline)) void depart(const struct view *w, struct server *s) {
    account(w, w->line_size + s->count, whole_time(w, s->next));
    s->count--;
    s->head++;
    s->next = s->count ? w->pool[s->ring + (s->head & s->mask)] : (double)INFINITY;
}

/* Jobs in the ring at a time, those that are done gone. */
static inline __attribute__((always_inline)) uint32_t look_at_ring(const struct view *w, uint32_t v,
                                                                   double time) {
    struct server *s = w->server + v;
    while (s->next <= time)
        depart(w, s);
    return s->count;
}

static inline double *line_of(const struct view *w, uint32_t size, uint32_t v) {
    return w->line + (uint64_t)v * size;
}

/* The completion of the youngest job that a server ever had; 0: none. */
static inline double last_completion(const struct view *w, uint32_t v) {
    return w->line_size ? line_of(w, w->line_size, v)[0] : w->server[v].last;
}

/* Jobs of a line of `size` present at a time. */
static inline __attribute__((always_inline)) uint32_t in_line(const double *line, uint32_t size,
                                                              double time) {
    uint32_t after = 0;
    for (uint32_t g = 0; g < size; g += EIGHT)
        after |= eight_after(eight_at(line + g), time) << g;
    return (uint32_t)__builtin_popcount(after);
}

/* Jobs present at a server at a time. */
static inline __attribute__((always_inline)) uint32_t look_at(const struct view *w, uint32_t size,
                                                              uint32_t v, double time) {
    if (!size)
        return look_at_ring(w, v, time);
    const uint32_t load = in_line(line_of(w, size, v), size, time);
    return __builtin_expect(load < size, true) ? load : size + look_at_ring(w, v, time);
}
static inline uint32_t look(const struct view *w, uint32_t v, double time) {
    return look_at(w, w->line_size, v, time);
}

/* queue_turns.c: jobs from .. to-1 of the block take their turns. False when memory does not do;
 * `need` is what would. */
bool ISA(turns)(struct queue_play *q, uint32_t from, uint32_t to);

/* queue_central.c */
void ISA(central_begin)(struct queue_play *q);
/* Lets all jobs go that are done by a time. */
void ISA(central_advance)(struct queue_play *q, double time);
uint32_t ISA(central_pick)(struct queue_play *q, uint32_t i);
/* A job has joined server v. */
void ISA(central_joined)(struct queue_play *q, uint32_t v);

/* queue_transient.c */
void ISA(follow_begin)(struct queue_play *q);
/* Jobs from .. to-1 of the block have joined. */
void ISA(follow_jobs)(struct queue_play *q, uint32_t from, uint32_t to);
/* Whether there are completions that are asked for and not known. */
bool ISA(follow_goes_on)(const struct queue_play *q);
/* No more jobs will come. */
void ISA(follow_ended)(struct queue_play *q);
void ISA(follow_record)(struct queue_play *q, uint64_t batch, struct outcome *out);

/* queue_neighbours.c: from record_open() to record_close() looks at the times watch_next(). */
void ISA(watch_open)(struct queue_play *q);
double ISA(watch_next)(const struct queue_play *q);
void ISA(watch_look)(struct queue_play *q, double time);
/* Mean correlation of the queues of neighbours over pairs of them; of each server over its
 * neighbours into of_server[n], 0 without. */
double ISA(watch_correlation)(struct queue_play *q, double *of_server);

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
