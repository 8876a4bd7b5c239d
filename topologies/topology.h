/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where servers live and what "near" means. A topology turns its parameters into a `space`: plain
 * data that says how many servers there are, how far apart any two of them are and who is near
 * whom. Three sorts:
 *   by formula   regular graphs: described and never built; igraph builds them too, and tests hold
 *                the two against each other
 *   by edges     random graphs and users' networks: igraph (or the user's file) gives the edges,
 *                distance is hops along them (graph.h)
 *   by points    servers on the plane or on a circle (sites.h)
 * describe() says what can be known beforehand; space_make() then makes the graph or the points.
 * Adding a topology is one file and one line in list.def. */
#ifndef POTLUCK_TOPOLOGY_H
#define POTLUCK_TOPOLOGY_H

#include "fail.h"
#include "rng.h"
#include "value.h"

enum { DIMENSIONS_MAX = 32 };
#define SERVERS_MAX 0x7fffffffu /* vertices of a space that is sampled vertex by vertex */

enum form {
    FORM_COMPLETE, /* everybody is one hop from everybody else */
    FORM_LATTICE,  /* row-major boxes, last side fastest; with or without wrap-around */
    FORM_CUBE,  /* hypercube: vertices are bit masks, distance is the number of bits that differ */
    FORM_TREE,  /* children of x are children*x+1 .. children*x+children; a star is a tree of depth
                  one */
    FORM_GRAPH, /* edges one by one */
    FORM_PLANE, /* points of the unit square, distance is Euclidean */
    FORM_ARCS   /* points of a circle; a job belongs to the first server clockwise */
};

/* What to do about a graph that is not connected. */
enum connect { CONNECT_ANY, CONNECT_LARGEST, CONNECT_REDRAW };
enum { REDRAWS_MAX = 100 };

struct graph; /* graph.h */
struct sites; /* sites.h */

/* A space, by value. It owns nothing but what space_make() made. */
struct space {
    enum form form;
    uint64_t
        n; /* servers, 1 .. 2^40 (beyond SERVERS_MAX only for methods that never name a server) */
    uint64_t diameter; /* hops; FORM_GRAPH: a bound, n - 1 if nothing better is known */
    bool transitive;   /* looks the same from every vertex */
    bool wrap;         /* FORM_LATTICE, FORM_PLANE */
    unsigned dims; /* FORM_LATTICE; sides of 1 are dropped, so each of these is at least 2; 0 for a
                      single vertex */
    uint32_t side[DIMENSIONS_MAX];
    uint32_t children; /* FORM_TREE */

    /* FORM_GRAPH, FORM_PLANE, FORM_ARCS: set by describe(). */
    bool fresh;     /* every replication has another one: `graphs: per-replication` */
    bool varies;    /* n is a bound: the largest component has as many servers as it has */
    bool connected; /* certainly; true for all forms but FORM_GRAPH */
    enum connect connect;
    uint64_t ids;       /* FORM_ARCS: points on the circle, all servers together */
    double mean_degree; /* FORM_GRAPH: expected */
    double branching;   /* FORM_GRAPH: further neighbours of a neighbour, for estimates; 0: like the
                           plane, where numbers grow with the square of the distance */
    uint64_t bytes,
        bytes_making;   /* of the made graph or points, and more of them while it is made */
    double nanoseconds; /* to make it, expected */

    /* Set by space_make(). */
    struct graph *graph; /* FORM_GRAPH */
    struct sites *sites; /* FORM_PLANE, FORM_ARCS */
};

/* Undirected graph as pairs of ends; loops and double edges may be among them. */
struct edges {
    uint64_t n, n_edges;
    uint32_t (*end)[2]; /* owned */
};
void edges_free(struct edges *e);

struct topology {
    struct kind kind;
    /* Fills the space from the values of the kind's parameters, or says why it cannot. `at` is the
     * index of the parameter at fault. */
    bool (*describe)(const struct value *values, struct space *space, struct reason *why,
                     unsigned *at);
    /* Edges, as igraph builds them (igraph_bridge.h), row-major vertex numbers. Random families
     * take the GRAPH words of `words` on lane `attempt`; others ignore both. NULL for spaces of
     * points. */
    struct edges *(*build)(const struct value *values, struct stream words, uint32_t attempt,
                           struct reason *why);
    /* FORM_PLANE, FORM_ARCS: the points, from the GRAPH words of `words`. */
    struct sites *(*place)(const struct value *values, struct stream words, struct reason *why);
    /* What people should know before a run: repairs made to a file. Returns false when there is
     * nothing to say. NULL: never anything. */
    bool (*note)(const struct value *values, struct reason *note);
};

extern const struct catalogue topologies;
static inline const struct topology *topology_of(const struct entry *e) {
    return (const struct topology *)(const void *)e->kind;
}

/* A space whose graph or points must be made before anything can be played there. */
static inline bool space_is_made(const struct space *s) {
    return s->form == FORM_GRAPH || s->form == FORM_PLANE || s->form == FORM_ARCS;
}

/* Makes graph or points of a described space, and settles n, connected and diameter. A random one
 * is a function of words.key and words.replication alone: the caller gives the replication when
 * space->fresh, else 0. Where `connect` is redraw, attempt a takes lane a, at most REDRAWS_MAX of
 * them. False with the reason when it cannot be made. Nothing to do for other forms. Thread-safe. */
bool space_make(const struct topology *t, const struct value *values, struct stream words,
                struct space *space, struct reason *why);
/* Frees what space_make() made. */
void space_clear(struct space *space);

/* Hops between two vertices; any form by formula. */
uint64_t space_distance(const struct space *s, uint64_t a, uint64_t b);
/* Number of vertices at each distance 1..reach from vertex u, into shell[0..reach-1]; any form by
 * formula. */
void space_shells(const struct space *s, uint64_t u, uint64_t reach, uint64_t *shell);
/* Mean distance of two independent uniform vertices (they may coincide), by formula or by shells;
 * O(n) at most; any form by formula. */
double space_mean_distance(const struct space *s);
/* Servers within `reach` hops of a server, mean over servers, as far as describe() lets guess;
 * FORM_GRAPH. */
double space_neighbours_guess(const struct space *s, uint64_t reach);

#endif
