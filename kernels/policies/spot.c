/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spot: the two servers nearest to the job's point (sPOT); on the circle the owners of the next two
 * positions, which may be one server. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM TOMPECS
 * 7(2-4), 2022. With one server there is no choice. */
#include "arrive.h"
#include "blind.h"

#include <stdio.h>
#include <string.h>

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 5 + ISA(arrive_nanoseconds)(space, 2), .arrays = 2};
    snprintf(f->how, sizeof f->how, "%s", ISA(arrive_how)(space));
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v, (void)why;
    s->candidates = s->n == 1 ? 1 : 2;
    s->nearest = s->candidates;
    s->arrays = 2;
    s->origin_first = s->ties != TIES_SMALLER_ARC;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    (void)stream;
    if (s->origin_first || s->candidates == 1) {
        b->candidate[0] = b->origin;
        b->candidate[1] = b->raw[0];
        return;
    }
    /* The order changes; the origin must not. */
    b->candidate[0] = b->raw[0];
    b->candidate[1] = b->raw[1];
    memcpy(b->raw[1], b->raw[0], b->size * sizeof *b->raw[0]);
    memcpy(b->raw[0], b->origin, b->size * sizeof *b->raw[0]);
    smaller_arc_first(s, b);
}

const struct policy ISA(policy_spot) = {
    .kind = {"spot", "the two servers nearest to the job's point (arcs: the next two)",
             "Panigrahy et al., ACM TOMPECS 7, 2022", NULL, 0},
    .on = ON_PLANE | ON_ARCS,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose};
