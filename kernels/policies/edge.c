/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * edge: the two ends of a uniform edge, the job arriving at a fair one of them. Kenthapadi and Panigrahy, "Balanced
 * allocation on graphs", SODA 2006. Where every vertex has the same neighbourhood an end is a uniform vertex and the
 * other end a uniform neighbour of it; elsewhere the edges are numbered and candidate slot 0 picks one, the top bit of
 * slot 1 its direction. On these graphs origins are not uniform. */
#include "near.h"

static bool examine(const struct value *v, const struct space *space, struct sampler_facts *f, struct reason *why,
                    unsigned *at) {
    (void)v;
    *at = UINT32_MAX;
    if (space->n == 1)
        return refuse(why, "policy edge needs an edge, and a single server has none");
    if (space->transitive)
        ISA(near_examine)(space, 1, false, f);
    else
        *f = (struct sampler_facts){.nanoseconds = 12, .candidates = 2, .how = "numbered edges"};
    return true;
}

static void prepare(const struct value *v, struct sampler *s) {
    (void)v;
    if (s->space.transitive) {
        ISA(near_prepare)(s, 1, false, false);
        return;
    }
    s->candidates = 2;
    s->origin_first = true;
}

/* Edges of a bordered box, one dimension after the other: (side - 1) along it for each of the n / side lines. */
static void lattice_edge(const struct space *s, uint64_t r, uint32_t *a, uint32_t *b) {
    for (unsigned d = 0;; d++) {
        const uint64_t side = s->side[d], edges = s->n / side * (side - 1);
        if (r >= edges) {
            r -= edges;
            continue;
        }
        uint64_t stride = 1; /* of dimension d */
        for (unsigned e = d + 1; e < s->dims; e++)
            stride *= s->side[e];
        const uint64_t inner = r % stride, along = r / stride % (side - 1), outer = r / stride / (side - 1);
        *a = (uint32_t)((outer * side + along) * stride + inner);
        *b = (uint32_t)(*a + stride);
        return;
    }
}

static void draw(const struct sampler *s, struct stream stream, struct block *b) {
    if (s->space.transitive) {
        ISA(near_draw)(s, stream, b);
        return;
    }
    uint64_t edges = s->space.form == FORM_TREE ? s->n - 1u : 0;
    for (unsigned d = 0; d < s->space.dims; d++)
        edges += s->space.n / s->space.side[d] * (s->space.side[d] - 1);
    b->candidate[0] = b->origin;
    draw_slot(stream, 0, b, (uint32_t)edges, b->scratch);
    draw_words((struct words){stream, PURPOSE_CANDIDATE, 1}, b->first, b->size, b->hop);
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t ends[2];
        if (s->space.form == FORM_TREE) {
            ends[0] = b->scratch[i] + 1;
            ends[1] = b->scratch[i] / s->space.children;
        } else {
            lattice_edge(&s->space, b->scratch[i], &ends[0], &ends[1]);
        }
        const uint32_t flip = b->hop[i] >> 31;
        b->origin[i] = ends[flip];
        b->candidate[1][i] = ends[1 - flip];
    }
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v, (void)n;
    *r = (struct ranks){.d = 2, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_edge) = {
    .kind = {"edge", "the two ends of a uniform edge", "Kenthapadi and Panigrahy, SODA 2006", NULL, 0},
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .ranks = ranks};
