/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * round-robin{scope, targets, first}: servers in turn. central: one turn for all jobs; distributed:
 * every server sends the jobs that arrive at it to all servers, or to the others, in turn by number.
 * Liu and Righter, Oper. Res. 46(4), 1998 (the abstract has `others`, report INRIA RR-2659 all). The
 * turn begins at a random server (ROUTE word of the origin, central: word 0), at the server itself
 * (others: the one after it), or at server 0 for everybody (others: 1 for server 0). Jobs that must
 * stay do not take a turn. */
#include "blindly.h"

static const struct parameter parameters[] = {
    {.name = "scope",
     .type = TYPE_WORD,
     .standard = "central",
     .words = "central|distributed",
     .units = "1",
     .meaning = "one turn for all jobs, or one for the jobs of each server"},
    {.name = "targets",
     .type = TYPE_WORD,
     .standard = "all",
     .words = "all|others",
     .units = "1",
     .meaning = "distributed: whether a server takes a turn in its own jobs"},
    {.name = "first",
     .type = TYPE_WORD,
     .standard = "random",
     .words = "random|own|common",
     .units = "1",
     .meaning = "where a turn begins: anywhere, at the server itself, or at server 0"},
};
enum { SCOPE, TARGETS, FIRST };
enum { FIRST_RANDOM, FIRST_OWN, FIRST_COMMON };

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    const bool distributed = v[SCOPE].word == 1;
    (void)budget;
    *at = TARGETS;
    if (!distributed && v[TARGETS].word == 1)
        return refuse(why, "targets: others needs scope: distributed");
    if (v[TARGETS].word == 1 && space->n < 2)
        return refuse(why, "targets: others needs two servers at least");
    *at = FIRST;
    if (!distributed && v[FIRST].word == FIRST_OWN)
        return refuse(why, "first: own needs scope: distributed");
    *f = (struct sampler_facts){.nanoseconds = distributed ? 4 : 2,
                                .memory = (distributed ? space->n : 1) * sizeof(uint32_t),
                                .arrays = 1,
                                .how = "in turn"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    if (v[TARGETS].word == 1 && s->n < 2)
        return refuse(why, "targets: others needs two servers at least");
    s->candidates = 1;
    s->arrays = 1;
    s->turn = (struct turn_of){
        .distributed = v[SCOPE].word == 1, .others = v[TARGETS].word == 1, .first = v[FIRST].word};
    s->blind = !s->turn.distributed;
    s->memory = (s->turn.distributed ? s->n : 1) * sizeof(uint32_t);
    return true;
}

/* How far from server u its turn begins. */
static uint32_t first_step(const struct sampler *s, struct stream stream, uint32_t u) {
    const uint32_t others = s->turn.others;
    if (s->turn.first == FIRST_RANDOM)
        return others + rng_below(stream, PURPOSE_ROUTE, 0, u, s->n - others);
    if (s->turn.first == FIRST_OWN)
        return others;
    return u ? s->n - u : others;
}

/* One turn for all. */
static void choose_central(const struct sampler *s, struct stream stream, struct block *b,
                           uint32_t *turn) {
    uint32_t *to = b->raw[0], next = *turn ? *turn - 1 : first_step(s, stream, 0);
    for (uint32_t i = 0; i < b->size; i++) {
        to[i] = next;
        if (may_move(b, i))
            next = next + 1 < s->n ? next + 1 : 0;
    }
    *turn = next + 1;
}

/* turn[u]: steps from u to the next server, plus one; 0: not yet begun. */
static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    uint32_t *turn = b->memory, *to = b->candidate[0] = b->raw[0];
    const uint32_t n = s->n;
    if (!s->turn.distributed) {
        choose_central(s, stream, b, turn);
        return;
    }
    for (uint32_t i = 0; i < b->size; i++) {
        const uint32_t u = b->origin[i];
        to[i] = u;
        if (!may_move(b, i))
            continue;
        if (!turn[u])
            turn[u] = first_step(s, stream, u) + 1;
        const uint32_t step = turn[u] - 1, v = u + step;
        to[i] = v < n ? v : v - n;
        turn[u] = step + 1 < n ? step + 2 : s->turn.others + 1u;
    }
}

static void route(const struct value *v, const double *rate, uint32_t n, double *routed) {
    route_evenly(v, rate, n, routed);
    for (uint32_t i = 0; i < n && v[TARGETS].word == 1; i++)
        routed[i] = (routed[i] * n - rate[i]) / (n - 1);
}

const struct policy ISA(policy_round_robin) = {.kind = {"round-robin", "servers in turn",
                                                        "Liu and Righter, Oper. Res. 46(4), 1998",
                                                        parameters, 3},
                                               .on = ON_GRAPHS | ON_PLANE,
                                               .anywhere = true,
                                               .examine = examine,
                                               .prepare = prepare,
                                               .choose = choose,
                                               .route = route};
