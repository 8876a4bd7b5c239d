/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * transfer{initial, split}: nodes join with `initial` virtual servers. An overloaded node asks a random other one, and if that is underloaded gives it
 * a virtual server that does not overload it: the lightest that cures the giver, else the heaviest
 * (the one-to-one scheme). A node with a single virtual server first splits it in two. */
#include "dht.h"

static const struct parameter parameters[] = {
    {.name = "initial",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = IDENTIFIERS_MAX,
     .standard = "1",
     .units = "virtual server",
     .meaning = "virtual servers of a node when it joins"},
    {.name = "split",
     .type = TYPE_FLAG,
     .standard = "true",
     .units = "1",
     .meaning = "an overloaded node with one virtual server splits it"},
};
enum { INITIAL, SPLIT };
enum { SLOT, SLOT_AFTER_SPLIT }; /* of dht_pick() */

/* Makes a second virtual server that owns the first half of the arc of the only one; false: it may
 * not, or the arc is a single identifier. */
static bool split(struct dht *d, uint32_t node) {
    const uint32_t v = d->first[node];
    const uint64_t half = dht_half(d, v);
    if (d->p->rule[SPLIT].real == 0 || arc_less_one(d->id[d->before[v]], d->id[v]) < 1)
        return false;
    ISA(dht_create)(d, EVENT_SPLIT, node, d->id[v] - half, IDENTIFIERS_MAX);
    return true;
}

/* A random node that is up, not this one, of at least two. */
static uint32_t random_other(const struct dht *d, uint32_t node, unsigned slot) {
    const uint32_t r = dht_pick(d, node, slot, d->n_up - 1);
    return d->up[r < d->place[node] ? r : r + 1];
}

/* What a node gives to another; NO_SERVER: nothing that the other can bear. */
static uint32_t gift(const struct dht *d, uint32_t node, uint32_t other) {
    const double work = dht_work(d, node), others = dht_work(d, other);
    uint32_t cure = NO_SERVER, heaviest = NO_SERVER;
    for (uint32_t v = d->first[node]; v != NO_SERVER; v = d->next[v]) {
        const double weight = dht_weight(d, v);
        if (!(others + weight <= dht_over(d, other)))
            continue;
        if (work - weight <= dht_over(d, node) &&
            (cure == NO_SERVER || weight < dht_weight(d, cure)))
            cure = v;
        if (heaviest == NO_SERVER || weight > dht_weight(d, heaviest))
            heaviest = v;
    }
    return cure != NO_SERVER ? cure : heaviest;
}

/* No bound. */
static uint32_t most(const struct value *rule, uint32_t n) {
    (void)rule, (void)n;
    return 0;
}

static uint32_t initial(const struct value *rule) {
    return (uint32_t)rule[INITIAL].count;
}

static void join(struct dht *d, uint32_t node) {
    for (unsigned i = 0; i < d->p->rule[INITIAL].count; i++)
        ISA(dht_create)(d, EVENT_JOIN, node, ISA(dht_identifier)(d, node, i), i);
}

static void turn(struct dht *d, uint32_t node) {
    unsigned slot = SLOT;
    if (!dht_is_over(d, node, dht_work(d, node)))
        return;
    if (d->servers[node] == 1) {
        if (!split(d, node))
            return;
        slot = SLOT_AFTER_SPLIT;
    }
    if (d->n_up < 2)
        return;
    const uint32_t other = random_other(d, node, slot);
    if (!dht_is_under(d, other, dht_work(d, other)))
        return;
    const uint32_t v = gift(d, node, other);
    if (v != NO_SERVER)
        ISA(dht_give)(d, v, other);
}

const struct balancer ISA(balancer_transfer) = {
    .kind = {"transfer", "overloaded nodes give virtual servers to underloaded ones",
             "Rao et al., IPTPS 2003", parameters, 2},
    .most = most,
    .initial = initial,
    .join = join,
    .turn = turn,
    .nanoseconds = 60};
