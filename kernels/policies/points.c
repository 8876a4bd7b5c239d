/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * points{d}: d uniform points, each served by its nearest server, on the circle by the owner of the
 * next position. Byers, Considine, Mitzenmacher, "Geometric generalizations of the power of two
 * choices", SPAA 2004. Point 0 is the job's own; point j > 0 takes candidate slots 2j - 2 and
 * 2j - 1.
 *
 * The points are exchangeable for the loads but not for the cost, which is small for the job's own.
 * So that fair ties favour none, it stands at a uniform place among three and more: a number below d
 * from the TIE words of lane 1. Among two the model tosses a coin. */
#include "arrive.h"
#include "blind.h"

#include <stdio.h>
#include <string.h>

enum { POINTS_MOST = DRAWS_MAX / 2 };

static const struct parameter parameters[] = {
    {.name = "d",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = POINTS_MOST,
     .standard = "2",
     .units = "point",
     .meaning = "number of points, each with a candidate"},
};

static unsigned draws_for(unsigned d) {
    return 2 * (d - 1);
}
static unsigned arrays_for(unsigned d) {
    return d > 2 ? draws_for(d) : d;
}

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    const unsigned d = (unsigned)v[0].count;
    (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = d * (4 + ISA(arrive_nanoseconds)(space, 1)),
                                .draws = draws_for(d),
                                .arrays = arrays_for(d)};
    snprintf(f->how, sizeof f->how, "%s", ISA(arrive_how)(space));
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->d = (uint32_t)v[0].count;
    s->candidates = s->d;
    s->draws = draws_for(s->d);
    s->arrays = arrays_for(s->d);
    s->origin_first = s->d <= 2 && s->ties != TIES_SMALLER_ARC;
    return true;
}

/* The candidate of the job's own point changes places with a uniform one. */
static void shuffle_own(const struct sampler *s, struct stream stream, struct block *b) {
    draw_below((struct words){stream, PURPOSE_TIE, 1}, b->first, b->size, s->d, b->scratch);
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t *place = &b->candidate[b->scratch[i]][i];
        b->candidate[0][i] = *place;
        *place = b->origin[i];
    }
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    for (unsigned j = 0; j < s->d; j++)
        b->candidate[j] = b->raw[j];
    /* Rising j: the words of point j lie at raw[j] and beyond. */
    for (unsigned j = 1; j < s->d; j++) {
        const uint32_t *const word[2] = {b->raw[2 * (j - 1)], b->raw[2 * (j - 1) + 1]};
        ISA(arrive_servers)(s, word, b->size, b->candidate[j]);
    }
    memcpy(b->candidate[0], b->origin, b->size * sizeof *b->origin);
    if (s->ties == TIES_SMALLER_ARC)
        smaller_arc_first(s, b);
    else if (s->ties == TIES_FAIR && s->d > 2)
        shuffle_own(s, stream, b);
}

const struct policy ISA(policy_points) = {
    .kind = {"points", "the nearest servers of d uniform points (arcs: successors)",
             "Byers, Considine, Mitzenmacher, SPAA 2004", parameters, 1},
    .on = ON_PLANE | ON_ARCS,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose};
