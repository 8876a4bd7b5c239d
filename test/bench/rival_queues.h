/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain scalar C for queues: n FIFO servers of rate 1, Poisson arrivals of rate lambda n, exponential
 * services, one replication that begins empty. They keep what potluck keeps of every job: moments of
 * response and waiting, quantiles by fine bins, jobs by load, time by load. */
#ifndef POTLUCK_RIVAL_QUEUES_H
#define POTLUCK_RIVAL_QUEUES_H

#include <stdint.h>

enum rival_rule { RIVAL_TWO, RIVAL_TURN, RIVAL_RANDOM };

struct rival_queues;

/* For n servers; freed by rival_queues_free(). */
struct rival_queues *rival_queues_new(uint32_t n);
void rival_queues_free(struct rival_queues *q);

/* Mean response of so many jobs. Arrivals and departures as events, departures in a binary heap. */
double rival_heap(struct rival_queues *q, enum rival_rule rule, double lambda, uint64_t jobs);
/* The same with completions known on arrival, and departures only when a server is looked at. */
double rival_lazy(struct rival_queues *q, enum rival_rule rule, double lambda, uint64_t jobs);

#endif
