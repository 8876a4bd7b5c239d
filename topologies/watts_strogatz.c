/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * watts-strogatz{n, neighbours, rewire}: a ring where each server is linked to the `neighbours`
 * nearest on either side, so that degrees are 2 neighbours on average; then each end of each link
 * is moved to a uniform server with probability `rewire`, double links and loops excepted (after
 * Watts and Strogatz, Nature 393, 1998, who move one end only). */
#include "random.h"

enum { N, NEIGHBOURS, REWIRE, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [NEIGHBOURS] = {.name = "neighbours",
                    .type = TYPE_COUNT,
                    .lower = 1,
                    .upper = SERVERS_MAX,
                    .units = "server",
                    .meaning = "neighbours on either side of the ring: the mean degree is twice "
                               "this"},
    [REWIRE] = {.name = "rewire",
                .type = TYPE_REAL,
                .upper = 1,
                .units = "1",
                .meaning = "probability that an end of a link is moved to a random server"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

/* Then no link can be moved, however long one tries. */
static bool is_complete(const struct value *v) {
    return 2 * v[NEIGHBOURS].count == v[N].count - 1;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    const double rewire = v[REWIRE].real;
    const struct effort effort = {38, rewire > 0 ? 111 : 66, 20, 200 + 350 * rewire};
    const double sides = 2 * (double)v[NEIGHBOURS].count;
    *at = NEIGHBOURS;
    if (sides >= (double)v[N].count)
        return refuse(why, "2 neighbours = %.0f must be smaller than n, which is %.0f", sides,
                      (double)v[N].count);
    /* A ring alone does not branch: shells are as large as the first. */
    describe_random(&v[GRAPHS], v[N].count, sides, 1 + rewire * (sides - 1), s);
    if (rewire == 0 || is_complete(v))
        surely_connected(s);
    expect_effort(&effort, s);
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    return bridge_watts_strogatz(v[N].count, v[NEIGHBOURS].count,
                                 is_complete(v) ? 0 : v[REWIRE].real,
                                 (struct chance){words, attempt}, why);
}

const struct topology topology_watts_strogatz = {
    .kind = {"watts-strogatz", "a ring, some of whose links lead far away",
             "Watts and Strogatz, Nature 393, 1998", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
