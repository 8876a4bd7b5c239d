/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsq: the shortest of all queues; the model finds it. Ties go to a uniform one of the shortest, or to
 * the origin if it is among them.
 */
#include "sampler.h"

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)space, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 160, .how = "all queues by length"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v, (void)why;
    s->control = CONTROL_JSQ;
    return true;
}

const struct policy ISA(policy_jsq) = {
    .kind = {"jsq", "the shortest of all queues", "Winston, J. Appl. Prob. 14(1), 1977", NULL, 0},
    .on = ON_GRAPHS | ON_PLANE | ON_ARCS,
    .anywhere = true,
    .settles_ties = true,
    .queues = true,
    .examine = examine,
    .prepare = prepare};
