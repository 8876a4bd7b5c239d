/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * complete{n}: every server is one hop from every other, the setting of classical balls into bins
 * (Azar, Broder, Karlin, Upfal, "Balanced allocations", SIAM J. Comput. 29(1), 1999). */
#include "igraph_bridge.h"
#include "topology.h"

static const struct parameter parameters[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 1099511627776.0,
     .units = "server",
     .meaning = "number of servers"},
};

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    *s = (struct space){
        .form = FORM_COMPLETE, .n = v[0].count, .diameter = v[0].count > 1, .transitive = true};
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    (void)words, (void)attempt;
    return bridge_complete(v[0].count, why);
}

const struct topology topology_complete = {
    .kind = {"complete", "everybody is one hop from everybody",
             "Azar et al., SIAM J. Comput. 29(1), 1999", parameters, 1},
    .describe = describe,
    .build = build,
};
