/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * threshold{rho, c, sample, on_overload}: one virtual server for each node. Levels of utilisation
 * begin at thresholds that grow by a factor rho. A node that has risen to a higher level evens out
 * with the less utilised of its neighbours on the ring where that is on a lower level; else the
 * least utilised of a few random nodes, two levels below at least, leaves and rejoins in the middle
 * of its arc. The paper finds the least loaded of all nodes; the sample stands for that here. */
#include "dht.h"

static const struct parameter parameters[] = {
    {.name = "rho",
     .type = TYPE_REAL,
     .lower = 1.01,
     .upper = 100,
     .standard = "2",
     .units = "1",
     .meaning = "each threshold over the one before"},
    {.name = "c",
     .type = TYPE_REAL,
     .lower = 1e-6,
     .upper = 10,
     .standard = "0.1",
     .units = "1",
     .meaning = "the first threshold of utilisation is c rho"},
    {.name = "sample",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 62,
     .standard = "8",
     .units = "node",
     .meaning = "random nodes that are asked whether they would rejoin elsewhere"},
    {.name = "on_overload",
     .type = TYPE_FLAG,
     .standard = "true",
     .units = "1",
     .meaning = "a node whose work is beyond its capacity acts at any level"},
};
enum { RHO, C, SAMPLE, ON_OVERLOAD };
enum { SLOT_SIDE, SLOT_SAMPLE }; /* of dht_pick(); the sample has all from there on */

static unsigned levels(const struct value *rule, double *at) {
    at[0] = rule[C].real * rule[RHO].real;
    for (unsigned i = 1; i < LEVELS_MAX; i++)
        at[i] = at[i - 1] * rule[RHO].real;
    return LEVELS_MAX;
}

static uint32_t most(const struct value *rule, uint32_t n) {
    (void)rule, (void)n;
    return 1;
}

static void begin(struct dht *d) {
    for (uint32_t i = 0; i < d->n_up; i++)
        d->level[d->up[i]] = dht_level(d, d->up[i]);
}

/* Whether the node after v on the ring is less utilised than the one before; among equals a coin. */
static bool after_is_idler(const struct dht *d, uint32_t v) {
    const double before = dht_utilisation(d, d->node[d->before[v]]),
                 after = dht_utilisation(d, d->node[d->after[v]]);
    if (before < after)
        return false;
    return after < before || dht_pick(d, d->node[v], SLOT_SIDE, 2) == 1;
}

/* How much of its arc v gives away, so that its node and another become equally utilised. */
static uint64_t part_of_arc(const struct dht *d, uint32_t v, uint32_t other) {
    const uint32_t node = d->node[v];
    const double work = dht_work(d, node), others = dht_work(d, other);
    const double capacity = d->capacity[node], others_capacity = d->capacity[other];
    const uint64_t at_most = arc_less_one(d->id[d->before[v]], d->id[v]);
    double f = (work * others_capacity - others * capacity) / (work * (capacity + others_capacity));
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    const double length = f * dht_arc(d, v);
    const uint64_t part = length < 0x1p64 ? (uint64_t)length : at_most;
    return part < at_most ? part : at_most;
}

/* NbrAdjust: v gives a part of its arc, and of its load, to a neighbour on the ring: the end to the
 * one after it, or the beginning to the one before. */
static void adjust(struct dht *d, uint32_t v, bool to_after) {
    const uint32_t neighbour = to_after ? d->after[v] : d->before[v];
    const uint64_t part = part_of_arc(d, v, d->node[neighbour]);
    if (part == 0)
        return;
    const double load = (double)part / dht_arc(d, v) * d->load[v];
    if (to_after)
        ISA(dht_shift)(d, v, d->id[v] - part, v, neighbour, load);
    else
        ISA(dht_shift)(d, neighbour, d->id[neighbour] + part, v, neighbour, load);
    d->level[d->node[v]] = dht_level(d, d->node[v]);
}

/* Whether the successor of a node's virtual server could take its work over. */
static bool may_leave(const struct dht *d, uint32_t node) {
    const uint32_t own = d->first[node], heir = d->node[d->after[own]];
    return dht_work(d, heir) + d->load[own] <= d->capacity[heir];
}

/* The least utilised of the nodes asked, the first among equals; NO_SERVER: none may leave. */
static uint32_t idlest_sampled(const struct dht *d, uint32_t node) {
    uint32_t best = NO_SERVER;
    for (uint64_t i = 0; i < d->p->rule[SAMPLE].count; i++) {
        const uint32_t k = d->up[dht_pick(d, node, SLOT_SAMPLE + (unsigned)i, d->n_up)];
        if (k != node && may_leave(d, k) &&
            (best == NO_SERVER || dht_utilisation(d, k) < dht_utilisation(d, best)))
            best = k;
    }
    return best;
}

/* Reorder: the virtual server of node k leaves and takes over the first half of the arc of v. */
static void reorder(struct dht *d, uint32_t v, uint32_t k) {
    const uint32_t own = d->first[k], node = d->node[v];
    const uint32_t before = d->before[v] == own ? d->before[own] : d->before[v];
    if (arc_less_one(d->id[before], d->id[v]) < 1)
        return;
    const uint64_t from = ISA(dht_lift)(d, own);
    ISA(dht_drop)(d, own, from, d->id[v] - dht_half(d, v), IDENTIFIERS_MAX);
    d->level[k] = dht_level(d, k);
    d->level[node] = dht_level(d, node);
}

static void turn(struct dht *d, uint32_t node) {
    const uint32_t v = d->first[node];
    const double work = dht_work(d, node);
    const uint32_t level = dht_level(d, node);
    const bool acts =
        level > d->level[node] || (d->p->rule[ON_OVERLOAD].real != 0 && work > d->capacity[node]);
    d->level[node] = level;
    if (!acts || d->ring.n == 1)
        return;
    const bool to_after = after_is_idler(d, v);
    const uint32_t neighbour = to_after ? d->after[v] : d->before[v];
    if (dht_level(d, d->node[neighbour]) + 1 <= level) {
        adjust(d, v, to_after);
        return;
    }
    const uint32_t k = idlest_sampled(d, node);
    if (k != NO_SERVER && dht_level(d, k) + 2 <= level)
        reorder(d, v, k);
}

const struct balancer ISA(balancer_threshold) = {
    .kind = {"threshold", "neighbours even out and idle nodes rejoin, by levels of utilisation",
             "Ganesan, Bawa, Garcia-Molina, VLDB 2004", parameters, 4},
    .most = most,
    .levels = levels,
    .begin = begin,
    .turn = turn,
    .nanoseconds = 60};
