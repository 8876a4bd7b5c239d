/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which replications are to be played next, and when a point has had enough. Pure bookkeeping on
 * rank 0: no clock, no messages. Times steer only how work is cut, never what is in the result. */
#ifndef POTLUCK_SCHEDULE_H
#define POTLUCK_SCHEDULE_H

#include "store.h"

enum { RANGE_MOST = 1 << 16 }; /* replications of a range: bounds its memory and message */

/* Replications first .. first+count-1 of a point. */
struct range {
    uint64_t point, first, count;
};

/* What is to be done for the whole run. */
struct wish {
    int64_t only_point;       /* -1: all */
    int64_t only_replication; /* -1: all of the point */
    unsigned ranks, players;  /* players: threads that play, all ranks together */
};

struct schedule;

/* Marks the points of the store that need nothing more as done. Borrows the store. */
struct schedule *schedule_new(struct store *s, const struct wish *wish);
void schedule_free(struct schedule *q);
/* The next range for a rank: large ones first, about 50 ms at least. False when nothing is to be
 * had now: then either all is done or a stopping rule waits for ranges that are out. */
bool schedule_next(struct schedule *q, unsigned rank, struct range *range);
/* A range has been played and folded into the store, in `nanoseconds`. Stopping rules are looked at
 * only when a point has all replications below its target. */
void schedule_played(struct schedule *q, const struct range *range, uint64_t nanoseconds);
/* Nanoseconds of a replication at a point as measured so far; 0 when nothing is. */
double schedule_expected(const struct schedule *q, uint64_t point);
bool schedule_done(const struct schedule *q);
/* Replications played and wanted so far, expected nanoseconds of play left, and points done. */
struct outlook {
    uint64_t played, wanted, points_done;
    double left;
};
struct outlook schedule_outlook(const struct schedule *q);

/* The count at which a stopping rule looks after `count`: 1.2 times as many, rounded up, at most
 * `max`. */
uint64_t schedule_look(const struct replications *r, uint64_t count);
/* Whether every criterion is met by the replications folded in. */
bool schedule_satisfied(const struct store *s, uint64_t point);

#endif
