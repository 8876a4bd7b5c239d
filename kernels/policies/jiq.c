/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jiq: an idle server if there is one, uniform among them or the origin as `ties` says; otherwise the
 * job stays where it arrives. Lu et al., "Join-idle-queue", Perform. Eval. 68(11), 2011 (where
 * it goes to a uniform server then, which is the same with uniform origins).
 */
#include "sampler.h"

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)space, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 160, .how = "idle servers"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v, (void)why;
    s->control = CONTROL_JIQ;
    return true;
}

const struct policy ISA(policy_jiq) = {.kind = {"jiq", "an idle server, else the origin",
                                                "Lu et al., Perform. Eval. 68(11), 2011", NULL, 0},
                                       .on = ON_GRAPHS | ON_PLANE | ON_ARCS,
                                       .anywhere = true,
                                       .settles_ties = true,
                                       .queues = true,
                                       .examine = examine,
                                       .prepare = prepare};
