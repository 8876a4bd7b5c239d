/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring{n} line{n} grid{sides} torus{sides}: boxes of servers in any dimension, unequal sides, with
 * wrap-around (ring, torus) or borders (line, grid). A server's neighbours differ from it by one in
 * one coordinate; the distance is the sum over coordinates of |difference|, with wrap-around of
 * min(|difference|, side - |difference|). Vertices are row-major, last side fastest. Sides of 1 add
 * nothing, a wrapped side of 2 is a single edge. */
#include "igraph_bridge.h"
#include "topology.h"

static const struct parameter of_length[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .units = "server",
     .meaning = "number of servers"},
};
static const struct parameter of_sides[] = {
    {.name = "sides",
     .type = TYPE_COUNTS,
     .lower = 1,
     .upper = SERVERS_MAX,
     .units = "server",
     .meaning = "servers along each dimension, row-major, last fastest: 100x100"},
};

static bool box(const uint64_t *sides, unsigned n_sides, bool wrap, struct space *s,
                struct reason *why) {
    *s = (struct space){.form = FORM_LATTICE, .n = 1, .transitive = wrap, .wrap = wrap};
    if (n_sides > DIMENSIONS_MAX)
        return refuse(why, "%u sides, at most %d are possible", n_sides, DIMENSIONS_MAX);
    for (unsigned d = 0; d < n_sides; d++) {
        if (sides[d] > SERVERS_MAX / s->n)
            return refuse(why, "the sides make more than %u servers", SERVERS_MAX);
        s->n *= sides[d];
        s->diameter += wrap ? sides[d] / 2 : sides[d] - 1;
        if (sides[d] > 1)
            s->side[s->dims++] = (uint32_t)sides[d];
    }
    return true;
}

static bool describe_ring(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    *at = 0;
    return box(&v[0].count, 1, true, s, why);
}
static bool describe_line(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    *at = 0;
    return box(&v[0].count, 1, false, s, why);
}
static bool describe_torus(const struct value *v, struct space *s, struct reason *why,
                           unsigned *at) {
    *at = 0;
    return box(v[0].counts, v[0].n_counts, true, s, why);
}
static bool describe_grid(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    *at = 0;
    return box(v[0].counts, v[0].n_counts, false, s, why);
}

static struct edges *build_ring(const struct value *v, struct stream words, uint32_t attempt,
                                struct reason *why) {
    (void)words, (void)attempt;
    return bridge_lattice(&v[0].count, 1, true, why);
}
static struct edges *build_line(const struct value *v, struct stream words, uint32_t attempt,
                                struct reason *why) {
    (void)words, (void)attempt;
    return bridge_lattice(&v[0].count, 1, false, why);
}
static struct edges *build_torus(const struct value *v, struct stream words, uint32_t attempt,
                                 struct reason *why) {
    (void)words, (void)attempt;
    return bridge_lattice(v[0].counts, v[0].n_counts, true, why);
}
static struct edges *build_grid(const struct value *v, struct stream words, uint32_t attempt,
                                struct reason *why) {
    (void)words, (void)attempt;
    return bridge_lattice(v[0].counts, v[0].n_counts, false, why);
}

const struct topology topology_ring = {.kind = {"ring", "servers on a circle", "", of_length, 1},
                                       .describe = describe_ring,
                                       .build = build_ring};
const struct topology topology_line = {.kind = {"line", "servers in a row", "", of_length, 1},
                                       .describe = describe_line,
                                       .build = build_line};
const struct topology topology_grid = {
    .kind = {"grid", "box with borders, any dimension", "", of_sides, 1},
    .describe = describe_grid,
    .build = build_grid};
const struct topology topology_torus = {
    .kind = {"torus", "box with wrap-around, any dimension", "", of_sides, 1},
    .describe = describe_torus,
    .build = build_torus};
