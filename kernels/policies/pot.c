/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pot: the power of two choices; the origin u, and v uniform over the other n-1 (candidate slot 0:
 * the r-th server other than u). Mitzenmacher, "The power of two choices in randomized load
 * balancing", IEEE TPDS 12(10), 2001. */
#include "near.h"

static bool examine(const struct value *v, const struct space *space, struct sampler_facts *f,
                    struct reason *why, unsigned *at) {
    (void)v, (void)space, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 3.5, .draws = 1, .how = "everybody"};
    return true;
}

static void prepare(const struct value *v, struct sampler *s) {
    (void)v;
    s->candidates = 2;
    s->origin_first = true;
    s->draws = 1;
    s->range[0] = s->n > 1 ? s->n - 1 : 1;
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v;
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_pot) = {.kind = {"pot", "the origin and a uniform other server",
                                                "Mitzenmacher, IEEE TPDS 12(10), 2001", NULL, 0},
                                       .settles_ties = true,
                                       .examine = examine,
                                       .prepare = prepare,
                                       .choose = ISA(near_anybody),
                                       .ranks = ranks};
