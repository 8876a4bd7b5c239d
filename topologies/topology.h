/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where servers live and what "near" means. A topology turns its parameters into a `space`: plain
 * data that says how many servers there are, how far apart any two of them are (in hops of an
 * undirected simple graph) and who is near whom. Regular families are described by formula and
 * never built; igraph builds them too, and tests hold the two against each other. Adding a topology
 * is one file and one line in list.def. */
#ifndef POTLUCK_TOPOLOGY_H
#define POTLUCK_TOPOLOGY_H

#include "fail.h"
#include "value.h"

enum { DIMENSIONS_MAX = 32 };
#define SERVERS_MAX 0x7fffffffu /* vertices of a space that is sampled vertex by vertex */

enum form {
    FORM_COMPLETE, /* everybody is one hop from everybody else */
    FORM_LATTICE,  /* row-major boxes, last side fastest; with or without wrap-around */
    FORM_CUBE, /* hypercube: vertices are bit masks, distance is the number of bits that differ */
    FORM_TREE  /* children of x are children*x+1 .. children*x+children; a star is a tree of depth
                  one */
};

/* A space, by value: it owns nothing. */
struct space {
    enum form form;
    uint64_t
        n; /* servers, 1 .. 2^40 (beyond SERVERS_MAX only for methods that never name a server) */
    uint64_t diameter; /* hops */
    bool transitive;   /* looks the same from every vertex */
    bool wrap;         /* FORM_LATTICE */
    unsigned dims; /* FORM_LATTICE; sides of 1 are dropped, so each of these is at least 2; 0 for a
                      single vertex */
    uint32_t side[DIMENSIONS_MAX];
    uint32_t children; /* FORM_TREE */
};

struct topology {
    struct kind kind;
    /* Fills the space from the values of the kind's parameters, or says why it cannot. `at` is the
     * index of the parameter at fault. */
    bool (*describe)(const struct value *values, struct space *space, struct reason *why,
                     unsigned *at);
    /* The same graph as igraph builds it: n_edges pairs, row-major vertex numbers
     * (igraph_bridge.h). */
    struct edges *(*build)(const struct value *values, struct reason *why);
};

/* Undirected simple graph as pairs of ends. */
struct edges {
    uint64_t n, n_edges;
    uint32_t (*end)[2]; /* owned */
};
void edges_free(struct edges *e);

extern const struct catalogue topologies;
static inline const struct topology *topology_of(const struct entry *e) {
    return (const struct topology *)(const void *)e->kind;
}

/* Hops between two vertices. */
uint64_t space_distance(const struct space *s, uint64_t a, uint64_t b);
/* Number of vertices at each distance 1..reach from vertex u, into shell[0..reach-1]. */
void space_shells(const struct space *s, uint64_t u, uint64_t reach, uint64_t *shell);
/* Mean distance of two independent uniform vertices (they may coincide), by formula or by shells;
 * O(n) at most. */
double space_mean_distance(const struct space *s);

#endif
