/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * block{size}: servers in turn, `size` jobs in a row to each. The turn begins at a random server
 * (ROUTE word 0). Jobs that must stay do not count. */
#include "blindly.h"

static const struct parameter parameters[] = {
    {.name = "size",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "job",
     .meaning = "jobs in a row to one server"},
};

/* What is remembered. */
struct stint {
    uint32_t server, left;
    bool begun;
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)space, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){
        .nanoseconds = 2, .memory = sizeof(struct stint), .arrays = 1, .how = "in turn"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->candidates = 1;
    s->arrays = 1;
    s->blind = true;
    s->d = (uint32_t)v[0].count;
    s->memory = sizeof(struct stint);
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    struct stint *turn = b->memory;
    uint32_t *to = b->candidate[0] = b->raw[0];
    if (!turn->begun)
        *turn = (struct stint){rng_below(stream, PURPOSE_ROUTE, 0, 0, s->n), s->d, true};
    for (uint32_t i = 0; i < b->size; i++) {
        to[i] = 0;
        if (!may_move(b, i))
            continue;
        if (!turn->left) {
            turn->server = turn->server + 1 < s->n ? turn->server + 1 : 0;
            turn->left = s->d;
        }
        turn->left--;
        to[i] = turn->server;
    }
}

const struct policy ISA(policy_block) = {
    .kind = {"block", "servers in turn, several jobs in a row to each", "", parameters, 1},
    .on = ON_GRAPHS | ON_PLANE,
    .anywhere = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route_evenly};
