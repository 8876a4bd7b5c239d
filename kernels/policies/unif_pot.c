/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unif-pot{k, self}: Unif-POT(k); the origin u, and v uniform over the servers at distance 1..k of
 * u. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM TOMPECS 7(2-4), 2022. `self: included`
 * adds u to the set v is taken from (then u, u means no choice). k beyond the diameter means
 * everybody. On the plane: two distinct of the k nearest servers, uniform (near_plane.h). */
#include "near.h"
#include "near_plane.h"

static const struct parameter parameters[] = {
    {.name = "k",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "hop",
     .meaning = "reach of the second choice; plane: how many of the nearest servers"},
    {.name = "self",
     .type = TYPE_WORD,
     .standard = "excluded",
     .words = "excluded|included",
     .units = "1",
     .meaning = "whether the second choice may be the origin itself"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    if (space->form == FORM_PLANE) {
        *at = 1;
        if (v[1].word == 1)
            return refuse(why,
                          "self: included is for graphs; on the plane the nearest server is one "
                          "of the k that both choices are taken from");
        *at = 0;
        return ISA(near_plane_examine)(space, v[0].count, false, f, why);
    }
    ISA(near_examine)(space, v[0].count, false, budget, f);
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    if (s->space.form == FORM_PLANE)
        ISA(near_plane_prepare)(s, v[0].count, false);
    else
        ISA(near_prepare)(s, v[0].count, v[1].word == 1, false);
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    if (s->space.form == FORM_PLANE)
        ISA(near_plane_uniform)(s, stream, b);
    else
        ISA(near_choose)(s, stream, b);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    *r = (struct ranks){.d = n > 1 ? 2 : 1, .distinct = v[1].word == 0, .beta = UINT64_MAX};
}

const struct policy ISA(policy_unif_pot) = {
    .kind = {"unif-pot",
             "the origin and a uniform server within k hops (plane: two of the k nearest)",
             "Panigrahy et al., ACM TOMPECS 7, 2022", parameters, 2},
    .on = ON_GRAPHS | ON_PLANE,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .ranks = ranks};
