/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * one-choice: a job stays where it arrives; classical balls into bins. */
#include "sampler.h"

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget;
    (void)v, (void)space, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 1.5, .draws = 0, .how = "the origin"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    (void)v;
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

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v, (void)n;
    *r = (struct ranks){.d = 1, .beta = UINT64_MAX};
}

const struct policy ISA(policy_one_choice) = {
    .kind = {"one-choice", "the server the job arrives at",
             "Azar et al., SIAM J. Comput. 29(1), 1999", NULL, 0},
    .on = ON_GRAPHS,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route,
    .ranks = ranks};
