/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hypercube{dim}: 2^dim servers named by bit masks; neighbours differ in one bit, distance is the
 * number of bits that differ. */
#include "igraph_bridge.h"
#include "topology.h"

static const struct parameter parameters[] = {
    {.name = "dim",
     .type = TYPE_COUNT,
     .lower = 0,
     .upper = 30,
     .units = "1",
     .meaning = "dimension; there are 2^dim servers"},
};

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    *s = (struct space){.form = FORM_CUBE,
                        .n = (uint64_t)1 << v[0].count,
                        .diameter = v[0].count,
                        .transitive = true};
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    (void)words, (void)attempt;
    return bridge_hypercube((unsigned)v[0].count, why);
}

const struct topology topology_hypercube = {
    .kind = {"hypercube", "2^dim servers, neighbours differ in one bit", "", parameters, 1},
    .describe = describe,
    .build = build};
