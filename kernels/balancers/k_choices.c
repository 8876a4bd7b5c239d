/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * k-choices{kappa, mode, margin}: a node may use identifiers h(x + 0) .. h(x + kappa - 1) only, which
 * others can verify. The mismatch of a node is |target - work| / capacity. A joining node makes
 * virtual servers one by one, each at the identifier that adds least mismatch to its own and to that
 * of the node it takes work from. Active: an over- or underloaded node moves its heaviest or lightest
 * virtual server to the identifier that lowers the mismatch of all nodes concerned most, where that
 * is by more than the margin; passive: nothing moves. */
#include "dht.h"

#include <math.h>

static const struct parameter parameters[] = {
    {.name = "kappa",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = IDENTIFIERS_MAX,
     .standard = "8",
     .units = "1",
     .meaning = "identifiers that a node may choose from; it uses half of them at most"},
    {.name = "mode",
     .type = TYPE_WORD,
     .standard = "active",
     .words = "active|passive",
     .units = "1",
     .meaning = "whether virtual servers move later, or are chosen as a node joins only"},
    {.name = "margin",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 10,
     .standard = "0.25",
     .units = "1",
     .meaning = "by how much a move must lower the mismatch of the nodes concerned"},
};
enum { KAPPA, MODE, MARGIN };
enum { MODE_ACTIVE, MODE_PASSIVE };

/* A candidate that was looked at, and what it would change. */
struct choice {
    uint64_t id;
    unsigned number;
    double cost;
};

static uint32_t most(const struct value *rule, uint32_t n) {
    (void)n;
    const uint32_t half = (uint32_t)rule[KAPPA].count / 2;
    return half > 1 ? half : 1;
}

static bool is_used(const struct dht *d, uint32_t node, unsigned number) {
    return d->used[node] >> number & 1;
}

static double mismatch(const struct dht *d, uint32_t node, double work) {
    return fabs(dht_target(d, node) - work) / d->capacity[node];
}

/* What joining at an identifier costs a node with so much work. */
static double cost_of_join(const struct dht *d, uint32_t node, double work, uint64_t id) {
    if (d->ring.n == 0)
        return 0;
    const double maintenance = d->p->maintenance;
    const uint32_t y = dht_owner(d, id), s = d->node[y];
    const uint64_t before = d->id[d->before[y]];
    if (s == node)
        return mismatch(d, node, work + maintenance) - mismatch(d, node, work);
    const double gain = arc_length(before, id) / arc_length(before, d->id[y]) * d->load[y];
    const double others = dht_work(d, s);
    return (mismatch(d, node, work + (gain + maintenance)) + mismatch(d, s, others - gain)) -
           (mismatch(d, node, work) + mismatch(d, s, others));
}

static void join_once(struct dht *d, uint32_t node) {
    const double work = dht_work(d, node);
    struct choice best = {.cost = (double)INFINITY};
    for (unsigned i = 0; i < d->p->rule[KAPPA].count; i++) {
        if (is_used(d, node, i))
            continue;
        const uint64_t id = ISA(dht_identifier)(d, node, i);
        const double cost = cost_of_join(d, node, work, id);
        if (cost < best.cost)
            best = (struct choice){id, i, cost};
    }
    ISA(dht_create)(d, EVENT_JOIN, node, best.id, best.number);
}

static void join(struct dht *d, uint32_t node) {
    const uint32_t enough = most(d->p->rule, d->p->n);
    do
        join_once(d, node);
    while (d->servers[node] < enough && dht_work(d, node) < dht_target(d, node));
}

/* The first among the heaviest virtual servers of a node, or among the lightest. */
static uint32_t extreme(const struct dht *d, uint32_t node, bool heaviest) {
    uint32_t best = d->first[node];
    for (uint32_t v = d->next[best]; v != NO_SERVER; v = d->next[v]) {
        const double weight = dht_weight(d, v), least = dht_weight(d, best);
        if (heaviest ? weight > least : weight < least)
            best = v;
    }
    return best;
}

/* The nodes that a move concerns, in order, and what it adds to the work of each. */
struct changes {
    uint32_t node[3];
    double delta[3];
    unsigned n;
};

static void change(struct changes *c, uint32_t node, double delta) {
    for (unsigned i = 0; i < c->n; i++)
        if (c->node[i] == node) {
            c->delta[i] += delta;
            return;
        }
    c->node[c->n] = node;
    c->delta[c->n++] = delta;
}

static double cost_of(const struct dht *d, const struct changes *c) {
    double cost = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const double work = dht_work(d, c->node[i]);
        cost += mismatch(d, c->node[i], work + c->delta[i]) - mismatch(d, c->node[i], work);
    }
    return cost;
}

/* What it costs that v, one of at least two on the ring, moves to an identifier. Its load goes to its
 * heir; at its goal it takes from y, in a ring without v. */
static double cost_of_move(const struct dht *d, uint32_t v, uint64_t id) {
    const uint32_t heir = d->after[v], owner = dht_owner(d, id), y = owner == v ? heir : owner;
    const uint32_t p = d->before[y] == v ? d->before[v] : d->before[y];
    const double load = d->load[v];
    const double available = y == heir ? d->load[y] + load : d->load[y];
    const double gain = arc_length(d->id[p], id) / arc_length(d->id[p], d->id[y]) * available;
    struct changes c = {.n = 0};
    change(&c, d->node[v], gain - load);
    change(&c, d->node[heir], load);
    change(&c, d->node[y], -gain);
    return cost_of(d, &c);
}

static void turn(struct dht *d, uint32_t node) {
    const struct value *rule = d->p->rule;
    if (rule[MODE].word == MODE_PASSIVE || d->ring.n == 1)
        return;
    const double work = dht_work(d, node);
    const bool over = dht_is_over(d, node, work);
    if (!over && !dht_is_under(d, node, work))
        return;
    const uint32_t v = extreme(d, node, over);
    struct choice best = {.cost = -rule[MARGIN].real};
    bool moves = false;
    for (unsigned i = 0; i < rule[KAPPA].count; i++) {
        if (is_used(d, node, i))
            continue;
        const uint64_t id = ISA(dht_identifier)(d, node, i);
        const double cost = cost_of_move(d, v, id);
        if (cost < best.cost) {
            best = (struct choice){id, i, cost};
            moves = true;
        }
    }
    if (moves)
        ISA(dht_move)(d, v, best.id, best.number);
}

const struct balancer ISA(balancer_k_choices) = {
    .kind = {"k-choices", "virtual servers at the best of a few verifiable identifiers",
             "Ledlie and Seltzer, INFOCOM 2005", parameters, 3},
    .own_identifiers = true,
    .most = most,
    .join = join,
    .turn = turn,
    .nanoseconds = 1000};
