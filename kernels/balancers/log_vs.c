/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log-vs{count}: every node has the same number of virtual servers, about log2 n, whatever its
 * capacity; arcs of nodes become more alike, and nothing ever moves. */
#include "dht.h"
#include "elementary.h"

static const struct parameter parameters[] = {
    {.name = "count",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = IDENTIFIERS_MAX,
     .standard = "unset",
     .units = "virtual server",
     .meaning = "virtual servers of a node; unset: the whole number nearest to log2 n"},
};
enum { COUNT };

static const double PER_LN_2 = 1.4426950408889634;

static uint32_t most(const struct value *rule, uint32_t n) {
    if (!rule[COUNT].unset)
        return (uint32_t)rule[COUNT].count;
    const uint32_t nearest = (uint32_t)(own_log(n) * PER_LN_2 + 0.5);
    return nearest > 1 ? nearest : 1;
}

static void join(struct dht *d, uint32_t node) {
    const uint32_t count = most(d->p->rule, d->p->n);
    for (uint32_t i = 0; i < count; i++)
        ISA(dht_create)(d, EVENT_JOIN, node, ISA(dht_identifier)(d, node, i), i);
}

const struct balancer ISA(balancer_log_vs) = {
    .kind = {"log-vs", "the same number of virtual servers for each node",
             "Karger et al., STOC 1997", parameters, 1},
    .own_identifiers = true,
    .most = most,
    .join = join};
