/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who lies within k hops, in the two forms the samplers use.
 *   offsets  lattices and hypercubes: one table for all vertices, sorted by distance, then by
 *            coordinates
 *   lists    any other graph: for each vertex its neighbours sorted by distance, then by number */
#ifndef POTLUCK_NEIGHBOURHOOD_H
#define POTLUCK_NEIGHBOURHOOD_H

#include "graph.h"

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

/* The neighbours of a server at one distance; an array of them begins with distance 1. */
struct shell {
    uint32_t end;  /* neighbours at this distance or a smaller one */
    uint32_t high; /* weighted 1/distance^2: their part of all weights in units of 2^-32, to within
                      one; the last: UINT32_MAX */
};
/* The shells that graph_shells() found, at most `reach` of them; returns how many. */
uint32_t shells_of(const uint64_t *end, uint32_t reach, bool weighted, struct shell *shell);
/* Sum of 1/distance^2, shell after shell. */
double shells_weight(const struct shell *shell, uint32_t shells);
/* Sorts servers below n. `bits` are n / 64 + 1 words of zeros, and are again afterwards. */
void sort_shell(uint32_t *member, uint64_t size, uint64_t *bits, uint64_t n);

/* The list of u is member[of[u].member] .. member[of[u+1].member - 1]: the neighbours sorted by
 * distance and number, each as its number, and its distance above the lowest `bits` bits; then, when
 * `self` or when there are no neighbours, u. When weighted, its shells are shell[of[u].shell] ..
 * shell[of[u+1].shell - 1], of a server without neighbours one that holds itself. Indices are below
 * 2^31, and of[0].shell is 1. */
struct list {
    uint32_t member, shell; /* where they begin */
};
struct lists {
    uint32_t reach; /* this and the next two are set by the caller */
    bool self, weighted;
    unsigned bits;
    struct list *of; /* [n + 1] */
    uint32_t *member;
    struct shell *shell;
    uint32_t most;    /* shells that any server has */
    uint64_t room[2]; /* members and shells there is room for */
};
/* Bytes of the lists within `reach`: of trees without `self` exactly but for shells beyond the
 * farthest (at least 2^42 when they are beyond reason), of random graphs as far as one can guess. */
uint64_t lists_bytes(const struct space *s, uint64_t reach, bool weighted);
/* False, with nothing allocated, when the lists would take more than `budget` bytes. */
bool lists_build(const struct graph *g, uint64_t budget, struct lists *l);
void lists_free(struct lists *l);

/* A tree edge by edge; the caller frees. */
struct graph *tree_graph(const struct space *s);

#endif
