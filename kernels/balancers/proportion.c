/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * proportion{initial, max, relief}: a node joins with virtual servers in proportion to its capacity.
 * One with too much work deletes the lightest of those that cure it; one with little work makes
 * another while its work, were the new one as heavy as the others, stays within its target. */
#include "dht.h"

static const struct parameter parameters[] = {
    {.name = "initial",
     .type = TYPE_REAL,
     .lower = 1e-3,
     .upper = IDENTIFIERS_MAX,
     .standard = "1",
     .units = "virtual server",
     .meaning = "virtual servers of a node of mean capacity when it joins"},
    {.name = "max",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = IDENTIFIERS_MAX,
     .standard = "16",
     .units = "virtual server",
     .meaning = "virtual servers of a node at most"},
    {.name = "relief",
     .type = TYPE_WORD,
     .standard = "nothing",
     .words = "nothing|heaviest",
     .units = "1",
     .meaning = "what an overloaded node deletes where no single virtual server would cure it"},
};
enum { INITIAL, MAX, RELIEF };
enum { RELIEF_NOTHING, RELIEF_HEAVIEST };

static uint32_t most(const struct value *rule, uint32_t n) {
    (void)n;
    return (uint32_t)rule[MAX].count;
}

static void join(struct dht *d, uint32_t node) {
    const struct value *rule = d->p->rule;
    const double wanted = rule[INITIAL].real * d->capacity[node] / d->mean_capacity + 0.5;
    const uint32_t max = (uint32_t)rule[MAX].count;
    uint32_t count = wanted < max ? (uint32_t)wanted : max;
    if (count < 1)
        count = 1;
    for (uint32_t i = 0; i < count; i++)
        ISA(dht_create)(d, EVENT_JOIN, node, ISA(dht_identifier)(d, node, i), i);
}

/* The lightest virtual server without which the node is no longer overloaded, the first among
 * equals; NO_SERVER: none is heavy enough. */
static uint32_t lightest_cure(const struct dht *d, uint32_t node, double work) {
    uint32_t best = NO_SERVER;
    for (uint32_t v = d->first[node]; v != NO_SERVER; v = d->next[v])
        if (work - dht_weight(d, v) <= dht_over(d, node) &&
            (best == NO_SERVER || dht_weight(d, v) < dht_weight(d, best)))
            best = v;
    return best;
}

static uint32_t heaviest(const struct dht *d, uint32_t node) {
    uint32_t best = d->first[node];
    for (uint32_t v = d->next[best]; v != NO_SERVER; v = d->next[v])
        if (dht_weight(d, v) > dht_weight(d, best))
            best = v;
    return best;
}

static void shed(struct dht *d, uint32_t node, double work) {
    uint32_t v = lightest_cure(d, node, work);
    if (v == NO_SERVER && d->p->rule[RELIEF].word == RELIEF_HEAVIEST)
        v = heaviest(d, node);
    if (v != NO_SERVER)
        ISA(dht_delete)(d, EVENT_DELETE, v);
}

static void grow(struct dht *d, uint32_t node) {
    const unsigned number = (unsigned)__builtin_ctzll(~d->used[node]);
    ISA(dht_create)(d, EVENT_CREATE, node, ISA(dht_identifier)(d, node, number), number);
}

static void turn(struct dht *d, uint32_t node) {
    const double work = dht_work(d, node);
    const uint32_t servers = d->servers[node];
    if (dht_is_over(d, node, work) && servers > 1)
        shed(d, node, work);
    else if (dht_is_under(d, node, work) && servers < d->p->rule[MAX].count &&
             work + work / servers <= dht_target(d, node))
        grow(d, node);
}

const struct balancer ISA(balancer_proportion) = {
    .kind = {"proportion", "virtual servers in proportion to capacity, deleted and made by load",
             "Dabek et al. (CFS), SOSP 2001", parameters, 3},
    .own_identifiers = true,
    .most = most,
    .join = join,
    .turn = turn,
    .nanoseconds = 40};
