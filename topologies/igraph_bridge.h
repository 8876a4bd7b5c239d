/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only door to igraph: graphs as lists of edges. Each function returns a graph the caller
 * frees, loops and double edges as igraph made them (graph_new() drops them), or NULL with igraph's
 * reason; too little memory ends the program. Debian builds igraph without thread safety: any thread may call, one at a time goes in. */
#ifndef POTLUCK_IGRAPH_BRIDGE_H
#define POTLUCK_IGRAPH_BRIDGE_H

#include "fail.h"
#include "rng.h"

#include <stdio.h>

struct edges;
struct graph;

/* That of igraph. */
const char *bridge_version(void);
struct edges *bridge_complete(uint64_t n, struct reason *why);
/* Row-major, last side fastest (igraph counts the other way round; the sides are handed over
 * reversed). */
struct edges *bridge_lattice(const uint64_t *sides, unsigned n_sides, bool wrap,
                             struct reason *why);
struct edges *bridge_hypercube(unsigned dim, struct reason *why);
struct edges *bridge_star(uint64_t n, struct reason *why);
struct edges *bridge_tree(uint64_t n, uint64_t children, struct reason *why);
/* One of igraph's famous graphs. */
struct edges *bridge_famous(const char *name, struct reason *why);

/* What a random graph is a function of: the GRAPH words of a stream on one lane, in their order. */
struct chance {
    struct stream words;
    uint32_t lane;
};
/* G(n, p) and G(n, m) (Batagelj and Brandes, Phys. Rev. E 71, 2005). */
struct edges *bridge_gnp(uint64_t n, double p, struct chance chance, struct reason *why);
struct edges *bridge_gnm(uint64_t n, uint64_t edges, struct chance chance, struct reason *why);
/* Points of the unit square, or torus, joined where closer than `radius`; numbered from left to
 * right. */
struct edges *bridge_geometric(uint64_t n, double radius, bool torus, struct chance chance,
                               struct reason *why);
/* Vertices come one by one and choose m different earlier ones (all where there are no more), with
 * probability proportional to degree^power. */
struct edges *bridge_barabasi(uint64_t n, uint64_t m, double power, struct chance chance,
                              struct reason *why);
/* Edges between vertices chosen with probability proportional to fitness, which falls as a power. */
struct edges *bridge_power_law(uint64_t n, uint64_t edges, double exponent, struct chance chance,
                               struct reason *why);
/* Ring with `neighbours` on each side, each end of each edge moved with probability `rewire`. */
struct edges *bridge_watts_strogatz(uint64_t n, uint64_t neighbours, double rewire,
                                    struct chance chance, struct reason *why);
struct edges *bridge_regular(uint64_t n, uint64_t degree, struct chance chance, struct reason *why);

/* Hops from vertex u to every vertex as igraph finds them, into hops[0..n-1]; -1 where there is no
 * path. */
bool bridge_distances(const struct edges *e, uint64_t u, int64_t *hops, struct reason *why);

enum graph_format { FORMAT_GRAPHML, FORMAT_GML, FORMAT_PAJEK };
/* The graph in the bytes of a file, whether its edges had directions, and no more of it. */
struct edges *bridge_read(enum graph_format format, const char *bytes, size_t length,
                          bool *directed, struct reason *why);
bool bridge_write(enum graph_format format, const struct graph *g, FILE *out, struct reason *why);

#endif
