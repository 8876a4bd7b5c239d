/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * edge: the two ends of a uniform edge, the job arriving at a fair one of them. Kenthapadi and
 * Panigrahy, "Balanced allocation on graphs", SODA 2006. Where every vertex has the same
 * neighbourhood (complete, ring, torus, hypercube) an end is a uniform vertex and the other end a
 * uniform neighbour of it; elsewhere the edges are numbered and candidate slot 0 picks one, the top
 * bit of slot 1 its direction: the job arrives at the first end when it is 0. Boxes with borders:
 * side by side, then by the lower end, which comes first. Trees: edge r joins server r + 1, which
 * comes first, to its parent. Graphs edge by edge: in the order of their lower, then of their higher
 * end; the lower comes first. On these graphs origins are not uniform. */
#include "near.h"

#include <stdlib.h>

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)v;
    *at = UINT32_MAX;
    if (space->n == 1)
        return refuse(why, "policy edge needs an edge, and a single server has none");
    if (space->form == FORM_GRAPH) {
        if (space->mean_degree <= 0)
            return refuse(why, "policy edge needs an edge, and the graph has none");
        const double joined = (double)space->n * space->mean_degree / 2;
        *f = (struct sampler_facts){.nanoseconds = 5, .draws = 2, .how = "numbered edges"};
        f->bytes = (uint64_t)(joined * sizeof(uint32_t[2]));
        return true;
    }
    double edges = 0; /* of a box with borders; a tree has few */
    for (unsigned d = 0; d < space->dims; d++)
        edges += (double)space->n / space->side[d] * (space->side[d] - 1);
    if (!space->transitive && edges > UINT32_MAX)
        return refuse(why, "policy edge numbers the edges of a box with borders, at most 2^32");
    if (space->transitive)
        ISA(near_examine)(space, 1, false, budget, f);
    else
        *f = (struct sampler_facts){.nanoseconds = 12, .draws = 2, .how = "numbered edges"};
    return true;
}

/* The ends of every edge of a graph. */
static bool prepare_graph(struct sampler *s, struct reason *why) {
    const struct graph *g = s->space.graph;
    if (g->n_edges == 0 || g->n_edges > UINT32_MAX)
        return refuse(why, "policy edge needs 1 to 2^32 - 1 edges, and the graph has %llu",
                      (unsigned long long)g->n_edges);
    s->near = allocate(1, sizeof *s->near);
    s->near->ends = allocate(g->n_edges, sizeof *s->near->ends);
    uint64_t edge = 0;
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (g->neighbour[i] > u) {
                s->near->ends[edge][0] = u;
                s->near->ends[edge++][1] = g->neighbour[i];
            }
    CHECK(edge == g->n_edges);
    s->range[0] = (uint32_t)edge;
    s->gives_hop = true;
    s->reach = 1;
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)v;
    if (s->space.transitive) {
        ISA(near_prepare)(s, 1, false, false);
        return true;
    }
    s->candidates = 2;
    s->origin_first = true;
    s->draws = 2; /* the edge, its direction */
    if (s->space.form == FORM_GRAPH)
        return prepare_graph(s, why);
    uint64_t edges = s->space.form == FORM_TREE ? s->n - 1u : 0;
    for (unsigned d = 0; d < s->space.dims; d++)
        edges += s->space.n / s->space.side[d] * (s->space.side[d] - 1);
    s->range[0] = (uint32_t)edges;
    return true;
}

/* Edges of a bordered box, one dimension after the other: (side - 1) along it for each of the n /
 * side lines. */
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
        const uint64_t inner = r % stride, along = r / stride % (side - 1),
                       outer = r / stride / (side - 1);
        *a = (uint32_t)((outer * side + along) * stride + inner);
        *b = (uint32_t)(*a + stride);
        return;
    }
}

static void choose_graph(const struct sampler *s, struct block *b) {
    for (uint32_t i = 0; i < b->size; i++) {
        const uint32_t *end = s->near->ends[b->raw[0][i]], flip = b->raw[1][i] >> 31;
        b->origin[i] = end[flip];
        b->raw[0][i] = end[1 - flip];
        b->hop[i] = 1;
    }
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    if (s->space.transitive) {
        ISA(near_choose)(s, stream, b);
        return;
    }
    b->candidate[0] = b->origin;
    b->candidate[1] = b->raw[0];
    if (s->space.form == FORM_GRAPH) {
        choose_graph(s, b);
        return;
    }
    for (uint32_t i = 0; i < b->size; i++) {
        const uint32_t edge = b->raw[0][i], flip = b->raw[1][i] >> 31;
        uint32_t ends[2] = {edge + 1, edge / (s->space.form == FORM_TREE ? s->space.children : 1)};
        if (s->space.form == FORM_LATTICE)
            lattice_edge(&s->space, edge, &ends[0], &ends[1]);
        b->origin[i] = ends[flip];
        b->candidate[1][i] = ends[1 - flip];
    }
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)v, (void)n;
    *r = (struct ranks){.d = 2, .distinct = true, .beta = UINT64_MAX};
}

const struct policy ISA(policy_edge) = {.kind = {"edge", "the two ends of a uniform edge",
                                                 "Kenthapadi and Panigrahy, SODA 2006", NULL, 0},
                                        .on = ON_GRAPHS,
                                        .settles_ties = true,
                                        .examine = examine,
                                        .prepare = prepare,
                                        .choose = choose,
                                        .ranks = ranks};
