/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * barabasi-albert{n, m, power}: servers come one by one, and each links itself to m different
 * earlier ones, chosen with probability proportional to degree^power (Barabasi and Albert, Science
 * 286, 1999: power 1). The first m+1 servers are all linked to each other. With power 1 and n large
 * the degree is k >= m with probability 2m(m+1) / (k(k+1)(k+2)). Servers are numbered by age. */
#include "random.h"

#include <math.h>

enum { N, M, POWER, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [M] = {.name = "m",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .standard = "1",
           .units = "edge",
           .meaning = "links that a new server makes"},
    [POWER] = {.name = "power",
               .type = TYPE_REAL,
               .upper = 10,
               .standard = "1",
               .units = "1",
               .meaning = "a server is chosen in proportion to this power of its degree"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

/* Mean of degree (degree - 1) over the mean degree: exact for powers 0 and 1 when n is large,
 * between them a mean; beyond, one server has nearly everybody. */
static double branching(double n, double m, double power) {
    const double exponential = 2.5 * m - 0.5, preferential = (m + 1) * log(n) / 2;
    return power <= 1 ? (1 - power) * exponential + power * preferential : n / 2;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    static const struct effort effort = {24, 56, 20, 270};
    const double n = (double)v[N].count, m = (double)v[M].count;
    *at = M;
    if (v[M].count >= v[N].count)
        return refuse(why, "m must be smaller than n, which is %.0f", n);
    const double edges = m * (m + 1) / 2 + m * (n - 1 - m);
    describe_random(&v[GRAPHS], v[N].count, 2 * edges / n, branching(n, m, v[POWER].real), s);
    surely_connected(s);
    expect_effort(&effort, s);
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    return bridge_barabasi(v[N].count, v[M].count, v[POWER].real, (struct chance){words, attempt},
                           why);
}

const struct topology topology_barabasi_albert = {
    .kind = {"barabasi-albert", "grown server by server, links go to those who have many",
             "Barabasi and Albert, Science 286, 1999", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
