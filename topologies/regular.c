/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regular{n, degree}: every server has the same number of links, otherwise at random: ends of links
 * are matched one by one as long as loops and double links can be avoided, which comes close to
 * equal probabilities for all such graphs. With degree 3 or more it is connected nearly always. */
#include "graph.h"
#include "random.h"

enum { N, DEGREE, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [DEGREE] = {.name = "degree",
                .type = TYPE_COUNT,
                .upper = SERVERS_MAX,
                .units = "edge",
                .meaning = "links of each server"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    static const struct effort effort = {104, 95, 20, 350};
    const uint64_t n = v[N].count, degree = v[DEGREE].count;
    *at = DEGREE;
    if (degree >= n)
        return refuse(why, "the degree must be smaller than n, which is %llu",
                      (unsigned long long)n);
    if (n % 2 && degree % 2)
        return refuse(why, "n times degree must be even: every link has two ends");
    describe_random(&v[GRAPHS], n, (double)degree, degree > 1 ? (double)degree - 1 : 0, s);
    if (2 * degree + 1 >= n) /* two servers without a link have a neighbour in common */
        surely_connected(s);
    expect_effort(&effort, s);
    return true;
}

/* The links that a graph does not have. */
static struct edges *complement(const struct edges *of) {
    struct graph *g = graph_new(of);
    struct edges *e = allocate(1, sizeof *e);
    *e = (struct edges){g->n, 0, allocate(g->n * (g->n - 1) / 2 - g->n_edges + 1, sizeof *e->end)};
    for (uint32_t u = 0; u < g->n; u++) {
        uint64_t next = g->first[u];
        for (uint32_t v = 0; v < g->n; v++) {
            if (next < g->first[u + 1] && g->neighbour[next] == v)
                next++;
            else if (u < v) {
                e->end[e->n_edges][0] = u;
                e->end[e->n_edges++][1] = v;
            }
        }
    }
    graph_free(g);
    return e;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    const struct chance chance = {words, attempt};
    const uint64_t n = v[N].count, degree = v[DEGREE].count, rest = n - 1 - degree;
    if (degree <= rest)
        return bridge_regular(n, degree, chance, why);
    /* The denser the graph, the more attempts run into a dead end. */
    struct edges *absent = bridge_regular(n, rest, chance, why);
    struct edges *e = absent ? complement(absent) : NULL;
    edges_free(absent);
    return e;
}

const struct topology topology_regular = {
    .kind = {"regular", "random links, as many for every server", "", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
