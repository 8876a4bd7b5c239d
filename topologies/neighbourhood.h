/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who lies within k hops, in the two forms the samplers use.
 *   offsets  lattices and hypercubes: one table for all vertices, sorted by distance, then by
 *            coordinates
 *   lists    any other space: for each vertex its neighbours sorted by distance, then by number */
#ifndef POTLUCK_NEIGHBOURHOOD_H
#define POTLUCK_NEIGHBOURHOOD_H

#include "topology.h"

struct offsets {
    uint32_t count; /* vectors at distance 1..reach */
    uint32_t reach;
    uint32_t *first; /* [reach + 1]: vectors at distance h are first[h-1] .. first[h]-1 */
    uint32_t *hop;   /* [count] */
    int32_t *delta[DIMENSIONS_MAX]; /* per dimension [count]; with wrap 0..side-1, else
                                       -(side-1)..side-1; hypercube: delta[0] is the mask */
};
/* How many vectors there are within `reach`, without building; the space is a lattice or a
 * hypercube. */
uint64_t offsets_count(const struct space *s, uint64_t reach);
uint64_t offsets_bytes(const struct space *s, uint64_t reach);
void offsets_build(const struct space *s, uint64_t reach, struct offsets *o);
void offsets_free(struct offsets *o);

struct lists {
    uint32_t reach;
    uint64_t *first; /* [n * reach + 1]: the neighbours of u at distance h are member[first[u*reach
                        + h-1]] .. */
    uint32_t *member;
};
/* Bytes of the lists within `reach`, at least 2^42 when they are beyond reason. */
uint64_t lists_bytes(const struct space *s, uint64_t reach);
void lists_build(const struct space *s, uint64_t reach, struct lists *l);
void lists_free(struct lists *l);

#endif
