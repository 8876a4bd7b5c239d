/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * erdos-renyi{n, mean_degree | p | edges}: with p every pair of servers is linked with probability
 * p, independently of the others (Gilbert, Ann. Math. Stat. 30, 1959), and mean_degree stands for p
 * = mean_degree / (n-1); with edges all graphs with so many links are equally likely (Erdos and
 * Renyi, Publ. Math. Debrecen 6, 1959). Below a mean degree of about ln n some servers are cut off.
 */
#include "random.h"

enum { N, MEAN_DEGREE, P, EDGES, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [MEAN_DEGREE] = {.name = "mean_degree",
                     .type = TYPE_REAL,
                     .upper = SERVERS_MAX,
                     .standard = "unset",
                     .units = "edge",
                     .meaning = "expected links of a server: p (n-1)"},
    [P] = {.name = "p",
           .type = TYPE_REAL,
           .upper = 1,
           .standard = "unset",
           .units = "1",
           .meaning = "probability that two servers are linked"},
    [EDGES] = {.name = "edges",
               .type = TYPE_COUNT,
               .upper = 1099511627776.0,
               .standard = "unset",
               .units = "edge",
               .meaning = "number of links"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

static double pairs(uint64_t n) {
    return (double)n * ((double)n - 1) / 2;
}

static bool sensible(const struct value *v, struct reason *why, unsigned *at) {
    const double n = (double)v[N].count;
    *at = !v[EDGES].unset ? EDGES : !v[P].unset ? P : MEAN_DEGREE;
    if (v[MEAN_DEGREE].unset + v[P].unset + v[EDGES].unset != 2)
        return refuse(why, "erdos-renyi takes exactly one of mean_degree, p and edges");
    if (!v[MEAN_DEGREE].unset && v[MEAN_DEGREE].real > n - 1)
        return refuse(why, "a server has at most n-1 = %.0f neighbours", n - 1);
    if (!v[EDGES].unset && (double)v[EDGES].count > pairs(v[N].count))
        return refuse(why, "%.0f servers have at most %.0f edges", n, pairs(v[N].count));
    return true;
}

static double mean_degree(const struct value *v) {
    const double n = (double)v[N].count;
    return !v[MEAN_DEGREE].unset ? v[MEAN_DEGREE].real
           : !v[P].unset         ? v[P].real * (n - 1)
                                 : 2 * (double)v[EDGES].count / n;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    static const struct effort effort = {24, 57, 20, 170};
    if (!sensible(v, why, at))
        return false;
    const double degree = mean_degree(v);
    describe_random(&v[GRAPHS], v[N].count, degree, degree, s);
    /* All possible links, or too many for one server to be left out. */
    if (v[EDGES].unset ? degree == (double)s->n - 1
                       : (double)v[EDGES].count > pairs(s->n) - ((double)s->n - 1))
        surely_connected(s);
    expect_effort(&effort, s);
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    const struct chance chance = {words, attempt};
    const uint64_t n = v[N].count;
    if (!v[EDGES].unset)
        return bridge_gnm(n, v[EDGES].count, chance, why);
    const double p = !v[P].unset ? v[P].real : n > 1 ? v[MEAN_DEGREE].real / ((double)n - 1) : 0;
    return bridge_gnp(n, p, chance, why);
}

const struct topology topology_erdos_renyi = {
    .kind = {"erdos-renyi", "random links, all pairs of servers alike",
             "Erdos and Renyi, Publ. Math. Debrecen 6, 1959", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
