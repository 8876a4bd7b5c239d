/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pot: the power of two choices; the origin u, and v uniform over the other n-1 (candidate slot 0:
 * the r-th server other than u). Mitzenmacher, "The power of two choices in randomized load
 * balancing", IEEE TPDS 12(10), 2001. On the plane: two distinct uniform servers, wherever the job
 * appears (near_plane.h with k = n). */
#include "near.h"
#include "near_plane.h"

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget;
    (void)v;
    *at = UINT32_MAX;
    if (space->form == FORM_PLANE)
        return ISA(near_plane_examine)(space, space->n, false, f, why);
    *f = (struct sampler_facts){.nanoseconds = 3.5, .draws = 1, .how = "everybody"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    (void)v;
    if (s->space.form == FORM_PLANE) {
        ISA(near_plane_prepare)(s, s->n, false);
        return true;
    }
    s->candidates = 2;
    s->origin_first = true;
    s->draws = 1;
    s->range[0] = s->n > 1 ? s->n - 1 : 1;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    if (s->space.form == FORM_PLANE)
        ISA(near_plane_uniform)(s, stream, b);
    else
        ISA(near_anybody)(s, stream, b);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v;
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_pot) = {.kind = {"pot", "the origin and a uniform other server",
                                                "Mitzenmacher, IEEE TPDS 12(10), 2001", NULL, 0},
                                       .on = ON_GRAPHS | ON_PLANE,
                                       .anywhere = true,
                                       .settles_ties = true,
                                       .examine = examine,
                                       .prepare = prepare,
                                       .choose = choose,
                                       .ranks = ranks};
