/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * invsq-pot{k}: InvSq-POT(k); the origin u, and v at distance 1..k of u with probability
 * proportional to 1/distance^2. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM TOMPECS
 * 7(2-4), 2022. On the plane: two distinct of the k nearest servers, drawn one after the other with
 * such weights (near_plane.h). */
#include "near.h"
#include "near_plane.h"

static const struct parameter parameters[] = {
    {.name = "k",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "hop",
     .meaning = "reach of the second choice; plane: how many of the nearest servers"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    *at = 0;
    if (space->form == FORM_PLANE)
        return ISA(near_plane_examine)(space, v[0].count, true, f, why);
    ISA(near_examine)(space, v[0].count, true, budget, f);
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    if (s->space.form == FORM_PLANE)
        ISA(near_plane_prepare)(s, v[0].count, true);
    else
        ISA(near_prepare)(s, v[0].count, false, true);
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    if (s->space.form == FORM_PLANE)
        ISA(near_plane_weighted)(s, stream, b);
    else
        ISA(near_choose)(s, stream, b);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v;
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_invsq_pot) = {
    .kind = {"invsq-pot",
             "the origin and a server within k hops (plane: two of the k nearest), weighted "
             "1/distance^2",
             "Panigrahy et al., ACM TOMPECS 7, 2022", parameters, 1},
    .on = ON_GRAPHS | ON_PLANE,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .ranks = ranks};
