/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain scalar C for a DHT ring: n nodes with one virtual server each at random identifiers, full
 * finger tables, greedy routing, one query after the other, capacity a second. It keeps successes, hops
 * and what every node receives. */
#ifndef POTLUCK_RIVAL_RINGS_H
#define POTLUCK_RIVAL_RINGS_H

#include <stdint.h>

struct rival_ring;

/* For n nodes; freed by rival_ring_free(). */
struct rival_ring *rival_ring_new(uint32_t n);
void rival_ring_free(struct rival_ring *r);
/* Plays so many seconds with `queries` uniform ones for each node; hops of successful ones. */
uint64_t rival_ring_play(struct rival_ring *r, uint32_t seconds, uint32_t queries,
                         uint32_t capacity);

#endif
