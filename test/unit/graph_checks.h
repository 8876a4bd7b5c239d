/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What tests of graphs share. */
#ifndef POTLUCK_GRAPH_CHECKS_H
#define POTLUCK_GRAPH_CHECKS_H

#include "graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline bool in_row(const struct graph *g, uint32_t u, uint32_t v) {
    for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
        if (g->neighbour[i] == v)
            return true;
    return false;
}

static inline void check_rows(const struct graph *g) {
    assert_int_equal(g->first[0], 0);
    assert_int_equal(g->first[g->n], 2 * g->n_edges);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
            assert_true(g->neighbour[i] < g->n && g->neighbour[i] != u);
            assert_true(i == g->first[u] || g->neighbour[i] > g->neighbour[i - 1]);
            assert_true(in_row(g, g->neighbour[i], u));
        }
}

static inline bool same_graph(const struct graph *a, const struct graph *b) {
    return a->n == b->n && a->n_edges == b->n_edges &&
           !memcmp(a->first, b->first, (a->n + 1) * sizeof *a->first) &&
           !memcmp(a->neighbour, b->neighbour, 2 * a->n_edges * sizeof *a->neighbour);
}

#endif
