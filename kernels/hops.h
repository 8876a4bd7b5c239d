/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hops between given servers of a graph edge by edge (FORM_GRAPH): from a table of all distances
 * where one fits and pays, else by a search from both ends for each pair. Both give the same. */
#ifndef POTLUCK_HOPS_H
#define POTLUCK_HOPS_H

#include "graph.h"
#include "isa.h"

struct hops {
    const struct graph *graph; /* borrowed */
    uint16_t *table;           /* [n * n], UINT16_MAX: no path; NULL: searches */
};

/* Whether a table would be made for a space within `budget` bytes: never for a fresh one. */
bool ISA(hops_tabled)(const struct space *space, uint64_t budget);
uint64_t ISA(hops_bytes)(const struct space *space, uint64_t budget);
/* Nanoseconds a pair, expected. */
double ISA(hops_nanoseconds)(const struct space *space, uint64_t budget);
/* Bytes of the memory that hops_block() needs, zeroed once, of one thread. */
uint64_t ISA(hops_memory)(const struct space *space, uint64_t budget);
void ISA(hops_prepare)(struct hops *h, const struct space *space, uint64_t budget);
void ISA(hops_free)(struct hops *h);
/* hop[i] = distance of u[i] and v[i], which have a path. */
void ISA(hops_block)(const struct hops *h, void *memory, const uint32_t *u, const uint32_t *v,
                     uint32_t size, uint32_t *hop);

#endif
