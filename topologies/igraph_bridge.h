/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only door to igraph: graphs as lists of edges. Each function returns a graph the caller
 * frees, with loops and double edges dropped, or NULL with igraph's reason. Not thread-safe (Debian
 * builds igraph without thread safety). */
#ifndef POTLUCK_IGRAPH_BRIDGE_H
#define POTLUCK_IGRAPH_BRIDGE_H

#include "fail.h"

struct edges;

struct edges *bridge_complete(uint64_t n, struct reason *why);
/* Row-major, last side fastest (igraph counts the other way round; the sides are handed over
 * reversed). */
struct edges *bridge_lattice(const uint64_t *sides, unsigned n_sides, bool wrap,
                             struct reason *why);
struct edges *bridge_hypercube(unsigned dim, struct reason *why);
struct edges *bridge_star(uint64_t n, struct reason *why);
struct edges *bridge_tree(uint64_t n, uint64_t children, struct reason *why);
/* Hops from vertex u to every vertex as igraph finds them, into hops[0..n-1]; -1 where there is no
 * path. */
bool bridge_distances(const struct edges *e, uint64_t u, int64_t *hops, struct reason *why);

#endif
