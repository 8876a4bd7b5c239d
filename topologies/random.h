/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What random graphs have in common: their last two parameters, and what follows from them. */
#ifndef POTLUCK_RANDOM_H
#define POTLUCK_RANDOM_H

#include "igraph_bridge.h"
#include "topology.h"

/* Rows that end the parameters of every random graph. */
#define GRAPHS_ROW                                                                                 \
    {                                                                                              \
        .name = "graphs", .type = TYPE_WORD, .standard = "per-replication",                        \
        .words = "per-replication|per-point", .units = "1",                                        \
        .meaning = "a random graph for each replication, or one for all (intervals are then "      \
                   "conditional on it)"                                                            \
    }
#define CONNECT_ROW                                                                                \
    {                                                                                              \
        .name = "connect", .type = TYPE_WORD, .standard = "any", .words = "any|largest|redraw",    \
        .units = "1",                                                                              \
        .meaning = "graphs that are not connected: taken as they are, cut down to their largest "  \
                   "component, or drawn again"                                                     \
    }

/* A FORM_GRAPH of n servers; `values` are those of the two rows above. Guesses of memory and time
 * follow from the expected number of edges. */
void describe_random(const struct value *graphs_and_connect, uint64_t n, double mean_degree,
                     double branching, struct space *space);
/* It is connected for sure, so that there is nothing to cut or to draw again. */
void surely_connected(struct space *space);

/* What igraph takes to make a graph of one family: bytes at its peak and nanoseconds, both measured
 * at 10^4 to 10^6 vertices. */
struct effort {
    double vertex_bytes, edge_bytes, vertex_nanoseconds, edge_nanoseconds;
};
void expect_effort(const struct effort *effort, struct space *space);

#endif
