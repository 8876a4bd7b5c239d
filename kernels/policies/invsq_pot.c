/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * invsq-pot{k}: InvSq-POT(k); the origin u, and v at distance 1..k of u with probability
 * proportional to 1/distance^2. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM TOMPECS
 * 7(2-4), 2022. */
#include "near.h"

static const struct parameter parameters[] = {
    {.name = "k",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "hop",
     .meaning = "reach of the second choice"},
};

static bool examine(const struct value *v, const struct space *space, struct sampler_facts *f,
                    struct reason *why, unsigned *at) {
    (void)why, (void)at;
    ISA(near_examine)(space, v[0].count, true, f);
    return true;
}

static void prepare(const struct value *v, struct sampler *s) {
    ISA(near_prepare)(s, v[0].count, false, true);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v;
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_invsq_pot) = {
    .kind = {"invsq-pot", "the origin and a server within k hops, weighted 1/distance^2",
             "Panigrahy et al., ACM TOMPECS 7, 2022", parameters, 1},
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = ISA(near_choose),
    .ranks = ranks};
