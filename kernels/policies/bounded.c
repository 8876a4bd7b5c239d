/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bounded{epsilon}: consistent hashing with bounded loads; a job goes clockwise from its point to
 * the first owner with a load below ceil((1 + epsilon) m/n). Mirrokni, Thorup, Zadimoghaddam, SODA
 * 2018. The candidate is the position the walk begins at; the model walks. */
#include "arrive.h"

static const struct parameter parameters[] = {
    {.name = "epsilon",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 1000000,
     .units = "1",
     .meaning = "no load exceeds 1 + epsilon times the mean load, rounded up"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget, (void)why, (void)at;
    const double epsilon = v[0].real, stops = 1 + 1 / (epsilon > 0.05 ? epsilon : 0.05);
    *f =
        (struct sampler_facts){.nanoseconds = 5 + 2 * ISA(arrive_nanoseconds)(space, 1) + 2 * stops,
                               .arrays = 1,
                               .walks = true,
                               .how = "search by leading bits, then a walk"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->candidates = 1;
    s->arrays = 1;
    s->walks = true;
    s->epsilon = v[0].real;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    const struct sites *sites = s->space.sites;
    (void)stream;
    b->candidate[0] = b->raw[0];
    for (uint32_t i = 0; i < b->size; i++)
        b->raw[0][i] = arcs_successor(sites, circle_point(b->point[0][i], b->point[1][i]));
}

const struct policy ISA(policy_bounded) = {
    .kind = {"bounded", "the next server clockwise below (1+epsilon) times the mean load",
             "Mirrokni, Thorup, Zadimoghaddam, SODA 2018", parameters, 1},
    .on = ON_ARCS,
    .examine = examine,
    .prepare = prepare,
    .choose = choose};
