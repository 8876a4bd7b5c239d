/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * named{name}: graphs that graph theory has names for, as igraph keeps them. */
#include "graph.h"
#include "igraph_bridge.h"

#include <string.h>

static const struct parameter parameters[] = {
    {.name = "name",
     .type = TYPE_WORD,
     .words = "bull|chvatal|coxeter|cubical|diamond|dodecahedral|folkman|franklin|frucht|grotzsch|"
              "heawood|herschel|house|housex|icosahedral|krackhardt-kite|levi|mcgee|meredith|"
              "noperfectmatching|nonline|octahedral|petersen|robertson|smallestcyclicgroup|"
              "tetrahedral|thomassen|tutte|uniquely3colorable|walther|zachary",
     .units = "1",
     .meaning = "name of the graph"},
};

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    char name[64];
    (void)words, (void)attempt;
    CHECK(parameter_word(&parameters[0], v[0].word, name, sizeof name));
    for (char *c = name; (c = strchr(c, '-'));)
        *c = '_'; /* as igraph writes it */
    return bridge_famous(name, why);
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    *at = 0;
    struct edges *e = build(v, (struct stream){0}, 0, why);
    if (!e)
        return false;
    struct graph *g = graph_new(e);
    edges_free(e);
    double turns = 0; /* ways over a link and on over another */
    for (uint32_t u = 0; u < g->n; u++)
        turns += (double)graph_degree(g, u) * ((double)graph_degree(g, u) - 1);
    const double ends = 2 * (double)g->n_edges;
    *s = (struct space){.form = FORM_GRAPH,
                        .n = g->n,
                        .diameter = g->n - 1,
                        .connected = g->components == 1,
                        .mean_degree = ends / (double)g->n,
                        .branching = turns / ends,
                        .bytes = graph_bytes(g->n, g->n_edges),
                        .nanoseconds = 1e5};
    graph_free(g);
    return true;
}

const struct topology topology_named = {
    .kind = {"named", "a graph with a name of its own", "", parameters, 1},
    .describe = describe,
    .build = build};
