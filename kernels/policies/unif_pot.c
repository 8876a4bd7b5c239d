/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unif-pot{k, self}: Unif-POT(k); the origin u, and v uniform over the servers at distance 1..k of
 * u. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM TOMPECS 7(2-4), 2022. `self: included`
 * adds u to the set v is taken from (then u, u means no choice). k beyond the diameter means
 * everybody. */
#include "near.h"

static const struct parameter parameters[] = {
    {.name = "k",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "hop",
     .meaning = "reach of the second choice"},
    {.name = "self",
     .type = TYPE_WORD,
     .standard = "excluded",
     .words = "excluded|included",
     .units = "1",
     .meaning = "whether the second choice may be the origin itself"},
};

static bool examine(const struct value *v, const struct space *space, struct sampler_facts *f,
                    struct reason *why, unsigned *at) {
    (void)why, (void)at;
    ISA(near_examine)(space, v[0].count, false, f);
    return true;
}

static void prepare(const struct value *v, struct sampler *s) {
    ISA(near_prepare)(s, v[0].count, v[1].word == 1, false);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = v[1].word == 0, .beta = UINT64_MAX};
}

const struct policy ISA(policy_unif_pot) = {
    .kind = {"unif-pot", "the origin and a uniform server within k hops",
             "Panigrahy et al., ACM TOMPECS 7, 2022", parameters, 2},
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = ISA(near_choose),
    .ranks = ranks};
