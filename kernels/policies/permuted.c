/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * permuted: every n jobs go to all n servers, in an order drawn anew each time (Fisher and Yates, a
 * step for each job: slot 0). Jobs that must stay do not count. */
#include "blindly.h"

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 5,
                                .draws = 1,
                                .memory = (space->n + 2) * sizeof(uint32_t),
                                .how = "in turn"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v, (void)why;
    s->candidates = 1;
    s->draws = 1;
    s->range[0] = 0;
    s->blind = true;
    s->memory = ((uint64_t)s->n + 2) * sizeof(uint32_t);
    return true;
}

/* memory: whether it is begun, how many of the cycle are gone, the servers in order. */
static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    uint32_t *begun = b->memory, *gone = begun + 1, *order = begun + 2,
             *to = b->candidate[0] = b->raw[0];
    for (uint32_t v = 0; !*begun && v < s->n; v++)
        order[v] = v;
    *begun = 1;
    for (uint32_t i = 0; i < b->size; i++) {
        if (!may_move(b, i)) {
            to[i] = 0;
            continue;
        }
        const uint32_t pick = *gone + rng_below_from(stream, PURPOSE_CANDIDATE, 0, b->first + i,
                                                     b->raw[0][i], s->n - *gone);
        const uint32_t server = order[pick];
        order[pick] = order[*gone];
        order[*gone] = server;
        to[i] = server;
        *gone = *gone + 1 < s->n ? *gone + 1 : 0;
    }
}

const struct policy ISA(policy_permuted) = {
    .kind = {"permuted", "all servers in turn, in a new random order each time", "", NULL, 0},
    .on = ON_GRAPHS | ON_PLANE,
    .anywhere = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route_evenly};
