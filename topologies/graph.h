/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A graph edge by edge, and searches in it. All searches are breadth-first; who is found first
 * within a shell depends on nothing but the graph. */
#ifndef POTLUCK_GRAPH_H
#define POTLUCK_GRAPH_H

#include "topology.h"

/* Undirected, simple. */
struct graph {
    uint64_t n, n_edges;
    uint64_t *first; /* [n + 1]: the neighbours of u are neighbour[first[u]] .. [first[u+1]-1] */
    uint32_t *neighbour; /* [2 * n_edges], rising within each vertex */
    uint32_t *original;  /* [n]: the number of the vertex before the largest component was cut out,
                            rising; NULL: the same */
    uint64_t whole;      /* vertices before that */
    uint64_t components; /* before that */
    uint64_t largest;    /* vertices of the largest component */
    uint64_t loops, doubles; /* dropped */
};

/* The simple graph of some edges, its components counted. */
struct graph *graph_new(const struct edges *e);
/* The largest component (of equal ones that with the smallest vertex), vertices in the same order.
 * Frees g. */
struct graph *graph_largest(struct graph *g);
void graph_free(struct graph *g);
static inline uint32_t graph_degree(const struct graph *g, uint32_t u) {
    return (uint32_t)(g->first[u + 1] - g->first[u]);
}
/* Bytes of a graph. */
uint64_t graph_bytes(uint64_t n, uint64_t n_edges);

/* Memory of searches, of one thread; reused from search to search. */
struct search {
    uint32_t *queue[2]; /* [n] each: vertices in the order they were found, from either end */
    uint32_t *seen;     /* [n]: which search met the vertex last, and from which end */
    uint64_t n;
    uint32_t round; /* the last number that `seen` may hold */
};
static inline uint64_t search_bytes(uint64_t n) {
    return 3 * n * sizeof(uint32_t);
}
/* Lays a search in graphs of at most n vertices out in zeroed memory of search_bytes(n), aligned to
 * 4. */
void search_init(struct search *s, uint64_t n, void *memory);

/* Vertices at distance 0 .. reach from u, shell after shell, into queue[0], which begins with u;
 * end[h] (h = 0 .. reach) is where distance h ends. Stops where there is nobody further; `end` then
 * repeats. Returns the number of vertices. Within a shell in no particular order. */
uint64_t graph_shells(const struct graph *g, struct search *s, uint32_t u, uint32_t reach,
                      uint64_t *end);
/* Hops from u to v, or UINT32_MAX when there are more than `limit`: by searches from both ends,
 * always from the one with fewer vertices to go on from. */
uint32_t graph_distance(const struct graph *g, struct search *s, uint32_t u, uint32_t v,
                        uint32_t limit);

#endif
