/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nearest: a job goes to the nearest server of its point; on the circle to the owner of the next
 * position. The one choice of the spaces of points. */
#include "arrive.h"

#include <stdio.h>

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 3 + ISA(arrive_nanoseconds)(space, 1)};
    snprintf(f->how, sizeof f->how, "%s", ISA(arrive_how)(space));
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v, (void)why;
    s->candidates = 1;
    s->origin_first = true;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    (void)s, (void)stream;
    b->candidate[0] = b->origin;
}

static void route(const struct value *v, const double *rate, uint32_t n, double *routed) {
    (void)v;
    for (uint32_t i = 0; i < n; i++)
        routed[i] = rate[i];
}

const struct policy ISA(policy_nearest) = {
    .kind = {"nearest", "the server nearest to the job's point (arcs: the successor)", "", NULL, 0},
    .on = ON_PLANE | ON_ARCS,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route};
