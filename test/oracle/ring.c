/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Model `dht`, the obvious way: virtual servers in a list without order that is searched from end to
 * end, routes hop by hop over the closest preceding of all 64 fingers (Stoica et al., SIGCOMM 2001,
 * fig. 5), balancers as they are told. It shares with the program the addressed random words (rng.h)
 * and nothing else; sums and products are in the model's order, so that every event and every
 * measured load must agree.
 *
 *     ring NAME=VALUE ..
 *
 * seed; first, end: replications; the parameters of the model by their names, entries as canonical
 * texts without the outer braces; capacities, sessions (node from to ..): numbers of the files. given:
 * for each replication the work anticipated and the capacities as another program has them, which are
 * used where they are those computed here up to rounding (a logarithm, an exponential). Prints "R
 * replication anticipated capacity .." and the events of each:
 *     T up NODE          T down NODE            comes up, goes down
 *     T join NODE ID     T leave NODE ID        a virtual server of such a node
 *     T create NODE ID   T delete NODE ID       proportion
 *     T split NODE ID    T give NODE ID OTHER   transfer
 *     T move NODE ID NEWID                      leaves and rejoins
 *     T shift NODE ID NEWID                     moves between its neighbours
 *     T step UP VS QUERIES SUCCEEDED DROPPED LOST HOPS RECEIVED
 *     T load NODE UTILISATION                   of the up list, after the measurement
 * and at the end what is no event, from second `record_from` on:
 *     # moved SPACE WORK                        what changed owner by balancing
 *     # node NODE SECONDS RECEIVED              of those that are up at the end */
#include "ring_parts.h"

/* ---- virtual servers come, go and move ---- */

static void say(const char *event, uint32_t who, uint64_t id) {
    printf("%" PRIu64 " %s %" PRIu32 " %016" PRIx64 "\n", t, event, who, id);
}

static void say_move(const char *event, uint32_t who, uint64_t id, uint64_t to) {
    printf("%" PRIu64 " %s %" PRIu32 " %016" PRIx64 " %016" PRIx64 "\n", t, event, who, id, to);
}

static void create(const char *event, uint32_t who, uint64_t id, unsigned as) {
    struct server *v = get(1, sizeof *v);
    v->node = who;
    v->number = as;
    insert(v, id);
    append(&nodes[who].own, &nodes[who].servers, v);
    say(event, who, v->id);
}

static void delete (const char *event, struct server *v) {
    say(event, v->node, v->id);
    take(v);
    strike(nodes[v->node].own, &nodes[v->node].servers, v);
    free(v);
}

static void rejoin(struct server *v, uint64_t from, uint64_t id, unsigned as) {
    insert(v, id);
    v->number = as;
    say_move("move", v->node, from, v->id);
}

static bool uses(uint32_t who, unsigned as) {
    for (uint32_t i = 0; i < nodes[who].servers; i++)
        if (nodes[who].own[i]->number == as)
            return true;
    return false;
}

/* ---- balancers ---- */

static const char *rule; /* canonical text */
static double mean_capacity;

/* The heaviest (sign 1) or lightest (-1) of a node's virtual servers that suit; NULL: none does. */
static struct server *extreme(uint32_t who, double sign,
                              bool (*suits)(const struct server *, uint32_t), uint32_t other) {
    struct server *best = NULL;
    for (uint32_t i = 0; i < nodes[who].servers; i++) {
        struct server *v = nodes[who].own[i];
        if ((!suits || suits(v, other)) && (!best || sign * weight(v) > sign * weight(best)))
            best = v;
    }
    return best;
}

/* Its node is not overloaded without it. */
static bool relieves(const struct server *v, uint32_t other) {
    (void)other;
    return work(v->node) - weight(v) <= high(v->node);
}
static bool fits(const struct server *v, uint32_t other) {
    return work(other) + weight(v) <= high(other);
}
static bool fits_and_relieves(const struct server *v, uint32_t other) {
    return fits(v, other) && relieves(v, other);
}

/* Half an arc, rounded down. */
static uint64_t half(const struct server *p, const struct server *v) {
    const unsigned __int128 arc = (unsigned __int128)(v->id - p->id - 1) + 1;
    return (uint64_t)(arc / 2);
}

/* log-vs, transfer, proportion */
static uint32_t servers_wanted(uint32_t who) {
    if (is_called(rule, "log-vs")) {
        if (!parameter_is(rule, "count", "unset"))
            return (uint32_t)number(rule, "count");
        return log2(n) < 1 ? 1 : (uint32_t)lround(log2(n));
    }
    if (is_called(rule, "transfer"))
        return (uint32_t)number(rule, "initial");
    if (!is_called(rule, "proportion"))
        return 1;
    const double wish =
        floor(real(rule, "initial", NAN) * nodes[who].capacity / mean_capacity + .5);
    const double most = (double)number(rule, "max");
    return (uint32_t)(wish < 1 ? 1 : wish > most ? most : wish);
}

static void turn_proportion(uint32_t who) {
    const double w = work(who);
    const uint32_t own = nodes[who].servers;
    unsigned as = 0;
    if (w > high(who) && own > 1) {
        struct server *v = extreme(who, -1, relieves, who);
        if (!v && parameter_is(rule, "relief", "heaviest"))
            v = extreme(who, 1, NULL, who);
        if (v)
            delete ("delete", v);
    } else if (w < low(who) && own < number(rule, "max") && w + w / own <= target_of(who)) {
        while (uses(who, as))
            as++;
        create("create", who, identifier(who, as), as);
    }
}

/* transfer */
static uint32_t another(uint32_t who, unsigned slot) {
    uint32_t place = 0;
    while (up[place] != who)
        place++;
    const uint32_t r = pick(who, slot, ups - 1);
    return up[r < place ? r : r + 1];
}

static void turn_transfer(uint32_t who) {
    unsigned slot = 0;
    if (work(who) <= high(who))
        return;
    if (nodes[who].servers == 1) {
        const struct server *v = nodes[who].own[0], *p = before(v, NULL);
        if (parameter_is(rule, "split", "false") || half(p, v) == 0)
            return;
        create("split", who, v->id - half(p, v), NO_NUMBER);
        slot = 1;
    }
    if (ups < 2)
        return;
    const uint32_t m = another(who, slot);
    if (!(work(m) < low(m)))
        return;
    struct server *v = extreme(who, -1, fits_and_relieves, m);
    if (!v)
        v = extreme(who, 1, fits, m);
    if (!v)
        return;
    printf("%" PRIu64 " give %" PRIu32 " %016" PRIx64 " %" PRIu32 "\n", t, who, v->id, m);
    hand_over(span(before(v, NULL)->id, v->id), v->load);
    strike(nodes[who].own, &nodes[who].servers, v);
    append(&nodes[m].own, &nodes[m].servers, v);
    v->node = m;
}

/* threshold */
static unsigned level(uint32_t who) {
    const double rho = real(rule, "rho", NAN), u = utilisation(who);
    double bound = real(rule, "c", NAN) * rho;
    unsigned l = 0;
    for (unsigned m = 1; m <= 200; m++, bound *= rho)
        l += u >= bound;
    return l;
}

/* Part of the arc of v goes to the node of its neighbour b. */
static void adjust(struct server *v, struct server *b, bool preceding) {
    const struct server *p = before(v, NULL);
    const uint32_t me = v->node;
    const double mine = work(me), its = work(b->node);
    const double c = nodes[me].capacity, its_c = nodes[b->node].capacity;
    const uint64_t most = v->id - p->id - 1;
    const double all = span(p->id, v->id);
    double f = (mine * its_c - its * c) / (mine * (c + its_c));
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    uint64_t part = f * all >= 0x1p64 ? most : (uint64_t)(f * all);
    part = part > most ? most : part;
    if (part == 0)
        return;
    const double g = (double)part / all * v->load;
    v->load = v->load - g;
    b->load = b->load + g;
    hand_over((double)part, g);
    struct server *moves = preceding ? b : v;
    const uint64_t from = moves->id, to = preceding ? from + part : from - part;
    check(preceding ? part < v->id - from : part <= from - p->id - 1, "shifts past a neighbour");
    moves->id = to;
    moves->serial = ++serials;
    moves->fresh = true;
    say_move("shift", moves->node, from, to);
    nodes[me].level = level(me);
}

/* A node of lower level leaves and takes half the arc of v. */
static void reorder(struct server *v, unsigned l) {
    const uint32_t me = v->node;
    struct server *best = NULL;
    for (unsigned slot = 1; slot <= number(rule, "sample"); slot++) {
        struct server *k = nodes[up[pick(me, slot, ups)]].own[0];
        const uint32_t heir = after(k)->node;
        if (k->node == me || !(work(heir) + k->load <= nodes[heir].capacity))
            continue;
        if (!best || utilisation(k->node) < utilisation(best->node))
            best = k;
    }
    if (!best || level(best->node) + 2 > l || half(before(v, best), v) == 0)
        return;
    const uint64_t from = best->id;
    take(best);
    rejoin(best, from, v->id - half(before(v, NULL), v), NO_NUMBER);
    nodes[best->node].level = level(best->node);
    nodes[me].level = level(me);
}

static void turn_threshold(uint32_t who) {
    struct server *v = nodes[who].own[0];
    const unsigned l = level(who);
    const bool act = l > nodes[who].level ||
                     (parameter_is(rule, "on_overload", "true") && work(who) > nodes[who].capacity);
    nodes[who].level = l;
    if (!act || servers == 1)
        return;
    struct server *p = before(v, NULL), *s = after(v);
    const double of_p = utilisation(p->node), of_s = utilisation(s->node);
    const bool preceding =
        of_p < of_s || (of_p <= of_s && rng_word(words, PURPOSE_PICK, who, t * 64) >> 31 == 0);
    struct server *b = preceding ? p : s;
    if (level(b->node) < l)
        adjust(v, b, preceding);
    else
        reorder(v, l);
}

/* k-choices */
static double mismatch(uint32_t who, double w) {
    return fabs(target_of(who) - w) / nodes[who].capacity;
}

static double cost_of_join(uint32_t who, uint64_t id) {
    if (servers == 0)
        return 0;
    const struct server *y = at_or_after(id, NULL), *p = before(y, NULL);
    const uint32_t s = y->node;
    const double mine = work(who), its = work(s);
    if (s == who)
        return mismatch(who, mine + maintenance) - mismatch(who, mine);
    const double g = span(p->id, id) / span(p->id, y->id) * y->load;
    return (mismatch(who, mine + (g + maintenance)) + mismatch(s, its - g)) -
           (mismatch(who, mine) + mismatch(s, its));
}

static void join_best(uint32_t who) {
    unsigned best = NO_NUMBER;
    double least = (double)INFINITY;
    for (unsigned i = 0; i < number(rule, "kappa"); i++) {
        if (uses(who, i))
            continue;
        const double cost = cost_of_join(who, identifier(who, i));
        if (best == NO_NUMBER || cost < least) {
            best = i;
            least = cost;
        }
    }
    check(best != NO_NUMBER, "no candidate is left");
    create("join", who, identifier(who, best), best);
}

static uint32_t servers_at_most(void) {
    const uint32_t kappa = (uint32_t)number(rule, "kappa");
    return kappa < 2 ? 1 : kappa / 2;
}

static double cost_of_move(const struct server *v, uint64_t id) {
    const struct server *heir = after(v), *y = at_or_after(id, v), *p = before(y, v);
    const double l = v->load, there = y == heir ? y->load + l : y->load;
    const double g = span(p->id, id) / span(p->id, y->id) * there;
    const uint32_t who[3] = {v->node, heir->node, y->node};
    const double delta[3] = {g - l, l, -g};
    double cost = 0;
    for (unsigned i = 0; i < 3; i++) {
        double all = 0;
        bool seen = false;
        for (unsigned j = 0; j < i; j++)
            seen = seen || who[j] == who[i];
        for (unsigned j = i; j < 3; j++)
            all += who[j] == who[i] ? delta[j] : 0;
        const double w = work(who[i]);
        if (!seen)
            cost += mismatch(who[i], w + all) - mismatch(who[i], w);
    }
    return cost;
}

static void turn_k_choices(uint32_t who) {
    const double w = work(who);
    double least = (double)INFINITY;
    unsigned best = NO_NUMBER;
    if (parameter_is(rule, "mode", "passive") || !(w > high(who) || w < low(who)) || servers == 1)
        return;
    struct server *v = extreme(who, w > high(who) ? 1 : -1, NULL, who);
    for (unsigned i = 0; i < number(rule, "kappa"); i++) {
        const double cost = uses(who, i) ? (double)INFINITY : cost_of_move(v, identifier(who, i));
        if (cost < least) {
            best = i;
            least = cost;
        }
    }
    if (least < -real(rule, "margin", NAN)) {
        const uint64_t from = v->id;
        take(v);
        rejoin(v, from, identifier(who, best), best);
    }
}

static void turn(uint32_t who) {
    if (is_called(rule, "proportion"))
        turn_proportion(who);
    if (is_called(rule, "transfer"))
        turn_transfer(who);
    if (is_called(rule, "threshold"))
        turn_threshold(who);
    if (is_called(rule, "k-choices"))
        turn_k_choices(who);
}

static void join(uint32_t who) {
    if (is_called(rule, "k-choices")) {
        do {
            join_best(who);
        } while (nodes[who].servers < servers_at_most() && work(who) < target_of(who));
    } else {
        const uint32_t wanted = servers_wanted(who);
        for (unsigned i = 0; i < wanted; i++)
            create("join", who, identifier(who, i), i);
    }
    if (is_called(rule, "threshold"))
        nodes[who].level = level(who);
}

/* ---- phase 1: churn ---- */

static void come_up(uint32_t who) {
    printf("%" PRIu64 " up %" PRIu32 "\n", t, who);
    nodes[who].up = true;
    up[ups++] = who;
    join(who);
}

static void go_down(uint32_t who) {
    uint32_t place = 0;
    printf("%" PRIu64 " down %" PRIu32 "\n", t, who);
    while (nodes[who].servers)
        delete ("leave", nodes[who].own[0]);
    while (up[place] != who)
        place++;
    up[place] = up[--ups];
    nodes[who].up = false;
}

static void come_and_go(void) {
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < n; i++)
            if (nodes[i].changes < nodes[first].changes)
                first = i;
        if (!(nodes[first].changes <= (double)t))
            return;
        if (nodes[first].up)
            go_down(first);
        else
            come_up(first);
        changes_next(first);
    }
}

/* ---- phase 2: routing tables ---- */

static uint64_t refresh;

static void make_tables(void) {
    for (uint32_t i = 0; i < servers; i++) {
        struct server *v = live[i];
        if (!v->fresh && (t + (v->id >> 40)) % refresh != 0)
            continue;
        for (unsigned j = 0; j < FINGERS; j++) {
            const struct server *e = at_or_after(v->id + ((uint64_t)1 << j), NULL);
            v->table[j] = (struct finger){e->serial, e->id};
        }
        v->fresh = false;
    }
}

/* ---- phase 3: queries ---- */

enum fate { UNDER_WAY, SUCCEEDED, DROPPED, LOST, FATES };
struct query {
    uint64_t key, hops;
    struct server *at, *owner;
    enum fate fate;
};
static bool one_hop, delivery, synchronous;
static double carry;
static uint64_t first_query, received;

/* NULL: the finger points to one that is there no more. */
static struct server *next_hop(const struct query *q) {
    const struct server *y = q->at;
    struct server *s = after(y);
    const struct finger *closest = NULL;
    if (one_hop)
        return q->owner;
    if (q->key - y->id - 1 <= s->id - y->id - 1)
        return s;
    for (unsigned j = 0; j < FINGERS; j++) {
        const uint64_t away = y->table[j].id - y->id;
        const bool precedes = away > 0 && away < q->key - y->id;
        if (precedes && (!closest || away > closest->id - y->id))
            closest = &y->table[j];
    }
    if (!closest)
        return s;
    for (uint32_t i = 0; i < servers; i++)
        if (live[i]->serial == closest->serial)
            return live[i];
    return NULL;
}

static void hop(struct query *q) {
    struct server *next = next_hop(q);
    if (!next) {
        q->fate = LOST;
        return;
    }
    q->at = next;
    q->hops++;
    check(q->hops <= servers, "a route goes round");
    const bool last = next == q->owner;
    struct node *x = &nodes[next->node];
    if (!last || delivery) {
        received++;
        next->received++;
        if (x->received++ >= x->room) {
            q->fate = DROPPED;
            return;
        }
        x->accepted++;
    }
    if (last)
        q->fate = SUCCEEDED;
}

static struct query begin_query(uint64_t i) {
    const struct node *x = &nodes[up[rng_below(words, PURPOSE_SOURCE, 0, i, ups)]];
    struct query q = {.key = key_of(i)};
    q.at = x->own[rng_below(words, PURPOSE_SOURCE, 1, i, x->servers)];
    q.owner = at_or_after(q.key, NULL);
    q.fate = q.at == q.owner ? SUCCEEDED : UNDER_WAY;
    uint32_t owners = 0;
    for (uint32_t j = 0; j < servers && i % 64 == 0; j++)
        owners +=
            q.key - before(live[j], NULL)->id - 1 <= live[j]->id - before(live[j], NULL)->id - 1;
    check(i % 64 != 0 || owners == 1, "a key has not one owner");
    return q;
}

static void clear_counts(void) {
    received = 0;
    for (uint32_t i = 0; i < servers; i++)
        live[i]->received = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct node *x = &nodes[i];
        const double left = x->capacity - maintenance * x->servers, k = left > 0 ? left : 0;
        const double room = floor(k * ((double)t + 1)) - floor(k * (double)t);
        x->room = room < 0x1p31 ? (uint64_t)room : (uint64_t)1 << 31;
        x->received = x->accepted = 0;
    }
}

static void ask_all(void) {
    const double sum = carry + amount("queries") * ups;
    const uint64_t count = (uint64_t)floor(sum);
    uint64_t fates[FATES] = {0}, hops = 0, under_way = count;
    struct query *q = get(count, sizeof *q);
    carry = sum - floor(sum);
    clear_counts();
    for (uint64_t i = 0; i < count; i++) {
        q[i] = begin_query(first_query + i);
        while (!synchronous && q[i].fate == UNDER_WAY)
            hop(&q[i]);
    }
    while (under_way) {
        under_way = 0;
        for (uint64_t i = 0; i < count; i++)
            if (q[i].fate == UNDER_WAY) {
                hop(&q[i]);
                under_way++;
            }
    }
    for (uint64_t i = 0; i < count; i++) {
        fates[q[i].fate]++;
        hops += q[i].fate == SUCCEEDED ? q[i].hops : 0;
    }
    first_query = (first_query + count + 63) / 64 * 64;
    check(count == fates[SUCCEEDED] + fates[DROPPED] + fates[LOST], "a query has no fate");
    printf("%" PRIu64 " step %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 "\n",
           t, ups, servers, count, fates[SUCCEEDED], fates[DROPPED], fates[LOST], hops, received);
    free(q);
}

static void measure(uint64_t window) {
    for (uint32_t i = 0; i < servers; i++) {
        struct server *v = live[i];
        const double over = (double)(t + 1 < window ? t + 1 : window);
        v->load = v->load + ((double)v->received - v->load) / over;
    }
    for (uint32_t i = 0; i < ups && t >= seconds("record_from"); i++) {
        nodes[up[i]].seconds++;
        nodes[up[i]].total += nodes[up[i]].received;
    }
    for (uint32_t i = 0; i < ups; i++)
        printf("%" PRIu64 " load %" PRIu32 " %.17g\n", t, up[i], utilisation(up[i]));
}

/* ---- phase 4: balancing ---- */

static void balance(void) {
    uint32_t *order = get(ups, sizeof *order);
    memcpy(order, up, ups * sizeof *order);
    for (uint32_t i = ups; i-- > 1;) {
        const uint32_t j = rng_below(words, PURPOSE_TURN, 0, t * (1 << 24) + i, i + 1);
        const uint32_t other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (uint32_t i = 0; i < ups && t == seconds("balance_from") && is_called(rule, "threshold");
         i++)
        nodes[up[i]].level = level(up[i]);
    moved.on = t >= seconds("record_from");
    for (uint32_t i = 0; i < ups; i++)
        turn(order[i]);
    moved.on = false;
    free(order);
}

/* ---- what must hold at every moment ---- */

static void verify_node(const struct node *x) {
    const bool single = !is_called(rule, "log-vs") && !is_called(rule, "proportion") &&
                        !is_called(rule, "transfer") && !is_called(rule, "k-choices");
    check(x->servers > 0 || !x->up, "a node that is up has no virtual server");
    check(x->servers == 0 || x->up, "a node that is down has virtual servers");
    check(x->servers < 2 || !single, "a node has several virtual servers");
    check(x->accepted <= x->room, "more is accepted than there is room for");
    if (is_called(rule, "proportion"))
        check(x->servers <= number(rule, "max"), "too many virtual servers (proportion)");
    for (uint32_t i = 0; is_called(rule, "k-choices") && i < x->servers; i++) {
        const struct server *v = x->own[i];
        check(v->number < number(rule, "kappa") && v->id - identifier(v->node, v->number) < servers,
              "an identifier is none of the node's choices");
        check(x->servers <= servers_at_most(), "too many virtual servers (k-choices)");
        for (uint32_t j = 0; j < i; j++)
            check(x->own[j]->number != v->number, "a number is used twice");
    }
}

static void verify(void) {
    unsigned __int128 arcs = 0;
    uint32_t owned = 0;
    for (uint32_t i = 0; i < servers; i++) {
        arcs += (unsigned __int128)(live[i]->id - before(live[i], NULL)->id - 1) + 1;
        check(live[i]->load > -1e-9, "a load is negative");
    }
    check(servers == 0 || arcs == (unsigned __int128)1 << 64, "arcs are not the ring");
    for (uint32_t i = 0; i < n; i++) {
        verify_node(&nodes[i]);
        owned += nodes[i].servers;
    }
    check(owned == servers, "virtual servers without a node");
}

/* ---- one replication ---- */

static double *given; /* per replication: work anticipated, capacities */

/* The same but for the last bits, which others round in their own way. */
static void adopt(double *mine, double its) {
    check(fabs(*mine - its) <= 1e-14 * fabs(*mine), "a given number is not what it should be");
    *mine = its;
}

static void clear(void) {
    t = first_query = 0;
    moved.space = moved.work = 0;
    carry = 0;
    ups = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (nodes[i].servers) {
            struct server *v = nodes[i].own[0];
            strike(live, &servers, v);
            strike(nodes[i].own, &nodes[i].servers, v);
            free(v);
        }
        free(nodes[i].own);
        nodes[i] = (struct node){.capacity = capacity_of(i)};
    }
}

static double anticipate(uint32_t first_up) {
    double hops = 1;
    if (!one_hop)
        hops = (double)logl(first_up > 1 ? first_up : 1) * 1.4426950408889634 / 2 + 0.86;
    if (!delivery)
        hops = hops - 1;
    return amount("queries") * first_up * (hops > 0 ? hops : 0);
}

static void begin(uint64_t replication) {
    uint32_t first_up = 0;
    const double *its = given ? given + (replication - seconds("first")) * (n + 1) : NULL;
    clear();
    for (uint32_t i = 0; i < n; i++)
        first_up += nodes[i].up = starts(i);
    anticipated = anticipate(first_up);
    mean_capacity = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (its)
            adopt(&nodes[i].capacity, its[i + 1]);
        mean_capacity += nodes[i].capacity;
    }
    mean_capacity /= n;
    if (its)
        adopt(&anticipated, its[0]);
    printf("R %" PRIu64 " %.17g", replication, anticipated);
    for (uint32_t i = 0; i < n; i++)
        printf(" %.17g%s", nodes[i].capacity, i + 1 < n ? "" : "\n");
    for (uint32_t i = 0; i < n; i++)
        if (nodes[i].up)
            come_up(i);
}

static void play_ring(uint64_t replication) {
    const uint64_t duration = seconds("duration"), balance_from = seconds("balance_from");
    words.replication = (uint32_t)replication;
    begin(replication);
    for (; t < duration; t++) {
        come_and_go();
        verify();
        make_tables();
        ask_all();
        measure(seconds("measure"));
        verify();
        if (t >= balance_from && (t - balance_from) % seconds("period") == 0)
            balance();
        verify();
    }
    printf("# moved %.17g %.17g\n", moved.space, moved.work);
    for (uint32_t i = 0; i < ups; i++)
        printf("# node %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", up[i], nodes[up[i]].seconds,
               nodes[up[i]].total);
}

static void read_given(void) {
    const char *all = setting("given", "");
    const uint64_t count = (seconds("end") - seconds("first")) * (n + 1);
    given = *all ? get(count, sizeof *given) : NULL;
    check(!given || list(all, given, (unsigned)count) == count, "given");
}

int main(int argc, char **argv) {
    char text[64];
    settings = argv + 1;
    if (argc < 2)
        fail("usage: ring NAME=VALUE ..");
    n = (uint32_t)seconds("nodes");
    snprintf(text, sizeof text, "dht: {nodes: %" PRIu32 "}", n);
    words.key = rng_key(seconds("seed"), text);
    nodes = get(n, sizeof *nodes);
    up = get(n, sizeof *up);
    rule = setting("balancer", NULL);
    maintenance = amount("maintenance");
    target = amount("target");
    epsilon = amount("epsilon");
    refresh = seconds("refresh");
    one_hop = chosen("routing", "one-hop");
    delivery = chosen("charge", "delivery");
    synchronous = chosen("order", "hop-synchronous");
    read_destinations();
    read_churn();
    read_given();
    for (uint64_t r = seconds("first"); r < seconds("end"); r++)
        play_ring(r);
    return 0;
}
