/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The players of one rank: the only unit that knows OpenMP. runner_run() opens one parallel region;
 * thread 0 conducts (it calls the function it is given), the others take ranges from a queue, play
 * them and leave parcels. */
#ifndef POTLUCK_RUNNER_H
#define POTLUCK_RUNNER_H

#include "parcel.h"

struct runner;

/* Threads this process should use: `wanted` when > 0, else OMP_NUM_THREADS, else the cores it may
 * run on. */
unsigned runner_threads(unsigned wanted);
/* Cores this process may run on: bit i of `bits`, words of 64. */
void runner_cores(uint64_t *bits, unsigned words);
struct runner *runner_new(const struct job *job, unsigned threads);
void runner_free(struct runner *r);
/* Runs `conduct(context)` on one thread beside the players; returns when it has returned and all
 * players are home. */
void runner_run(struct runner *r, void (*conduct)(void *context), void *context);

/* For the conductor. */
void runner_push(struct runner *r, const struct range *range);
/* A finished parcel, or NULL. */
struct parcel *runner_take(struct runner *r);
/* Players abandon the range they are in after the present slice and go home; what they have played
 * is left as parcels. */
void runner_stop(struct runner *r);
/* The sentence that a point cannot be played, which showed only when it was tried: its players stop
 * then; NULL when all is well. Belongs to the runner. */
const char *runner_refusal(struct runner *r);
/* Frees the tables; all players have gone home. */
void runner_clear(struct runner *r);
/* All players have gone home. */
bool runner_home(struct runner *r);

#endif
