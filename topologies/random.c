/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random.h"

#include "graph.h"

#include <math.h>

static const double BEYOND_REASON = 0x1p50; /* bytes */

static double expected_edges(const struct space *s) {
    return (double)s->n * s->mean_degree / 2;
}

void describe_random(const struct value *graphs_and_connect, uint64_t n, double mean_degree,
                     double branching, struct space *s) {
    *s = (struct space){.form = FORM_GRAPH,
                        .n = n,
                        .diameter = n - 1,
                        .fresh = graphs_and_connect[0].word == 0,
                        .connect = (enum connect)graphs_and_connect[1].word,
                        .mean_degree = mean_degree,
                        .branching = branching};
    s->varies = s->connect == CONNECT_LARGEST;
    s->bytes = graph_bytes(n, (uint64_t)fmin(expected_edges(s), BEYOND_REASON / 16));
    if (n == 1)
        surely_connected(s);
}

void surely_connected(struct space *s) {
    s->connected = true;
    s->varies = false;
}

void expect_effort(const struct effort *x, struct space *s) {
    const double n = (double)s->n, edges = expected_edges(s);
    const double bytes = fmin(n * x->vertex_bytes + edges * x->edge_bytes, BEYOND_REASON);
    s->bytes_making = (uint64_t)fmax(0, bytes - (double)s->bytes);
    const double caches = 1 + fmin(n / 1e6, 2); /* slower when they are outgrown */
    s->nanoseconds = caches * (n * x->vertex_nanoseconds + edges * x->edge_nanoseconds);
}
