/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph builds graphs; everything else works on plain edges. Errors are turned into reasons: the
 * default handler would abort the process. */
#include "igraph_bridge.h"
#include "topology.h"

#include <igraph/igraph.h>
#include <stdlib.h>
#include <string.h>

/* igraph's error handler has no argument of ours; the bridge is used by one thread at a time. */
static struct reason first_error;

static void keep_first_error(const char *reason, const char *file, int line, igraph_error_t code) {
    (void)file, (void)line, (void)code;
    if (!first_error.text[0])
        snprintf(first_error.text, sizeof first_error.text, "igraph: %s", reason);
    IGRAPH_FINALLY_FREE();
}

static void begin(void) {
    first_error.text[0] = '\0';
    igraph_set_error_handler(keep_first_error);
}

/* Copies the simple edges of a graph and destroys it. */
static struct edges *take(igraph_t *graph, struct reason *why) {
    if (igraph_simplify(graph, true, true, NULL) != IGRAPH_SUCCESS) {
        *why = first_error;
        igraph_destroy(graph);
        return NULL;
    }
    struct edges *e = allocate(1, sizeof *e);
    e->n = (uint64_t)igraph_vcount(graph);
    e->n_edges = (uint64_t)igraph_ecount(graph);
    e->end = allocate(e->n_edges + 1, sizeof *e->end);
    for (uint64_t i = 0; i < e->n_edges; i++) {
        e->end[i][0] = (uint32_t)IGRAPH_FROM(graph, (igraph_integer_t)i);
        e->end[i][1] = (uint32_t)IGRAPH_TO(graph, (igraph_integer_t)i);
    }
    igraph_destroy(graph);
    return e;
}

static struct edges *finish(igraph_error_t code, igraph_t *graph, struct reason *why) {
    if (code == IGRAPH_SUCCESS)
        return take(graph, why);
    *why = first_error;
    return NULL;
}

void edges_free(struct edges *e) {
    if (e)
        free(e->end);
    free(e);
}

struct edges *bridge_complete(uint64_t n, struct reason *why) {
    igraph_t g;
    begin();
    return finish(igraph_full(&g, (igraph_integer_t)n, IGRAPH_UNDIRECTED, IGRAPH_NO_LOOPS), &g,
                  why);
}

struct edges *bridge_lattice(const uint64_t *sides, unsigned n_sides, bool wrap,
                             struct reason *why) {
    igraph_t g;
    igraph_vector_int_t dims;
    igraph_vector_bool_t periodic;
    begin();
    if (igraph_vector_int_init(&dims, n_sides) != IGRAPH_SUCCESS)
        return finish(IGRAPH_FAILURE, &g, why);
    if (igraph_vector_bool_init(&periodic, n_sides) != IGRAPH_SUCCESS) {
        igraph_vector_int_destroy(&dims);
        return finish(IGRAPH_FAILURE, &g, why);
    }
    for (unsigned d = 0; d < n_sides; d++) {
        VECTOR(dims)[d] = (igraph_integer_t)sides[n_sides - 1 - d];
        VECTOR(periodic)[d] = wrap;
    }
    const igraph_error_t code =
        igraph_square_lattice(&g, &dims, 1, IGRAPH_UNDIRECTED, false, &periodic);
    igraph_vector_int_destroy(&dims);
    igraph_vector_bool_destroy(&periodic);
    return finish(code, &g, why);
}

/* igraph 0.10.2 has no hypercube of its own. */
struct edges *bridge_hypercube(unsigned dim, struct reason *why) {
    igraph_t g;
    igraph_vector_int_t ends;
    const uint64_t n = (uint64_t)1 << dim;
    begin();
    if (igraph_vector_int_init(&ends, 0) != IGRAPH_SUCCESS)
        return finish(IGRAPH_FAILURE, &g, why);
    igraph_error_t code = igraph_vector_int_reserve(&ends, (igraph_integer_t)(n * dim));
    for (uint64_t x = 0; x < n && code == IGRAPH_SUCCESS; x++)
        for (unsigned d = 0; d < dim; d++)
            if (!(x >> d & 1)) {
                igraph_vector_int_push_back(&ends, (igraph_integer_t)x);
                igraph_vector_int_push_back(&ends, (igraph_integer_t)(x | (uint64_t)1 << d));
            }
    if (code == IGRAPH_SUCCESS)
        code = igraph_create(&g, &ends, (igraph_integer_t)n, IGRAPH_UNDIRECTED);
    igraph_vector_int_destroy(&ends);
    return finish(code, &g, why);
}

struct edges *bridge_star(uint64_t n, struct reason *why) {
    igraph_t g;
    begin();
    /* igraph 0.10.2 makes a star of one vertex a graph of none. */
    return finish(n == 1 ? igraph_empty(&g, 1, IGRAPH_UNDIRECTED)
                         : igraph_star(&g, (igraph_integer_t)n, IGRAPH_STAR_UNDIRECTED, 0),
                  &g, why);
}

struct edges *bridge_tree(uint64_t n, uint64_t children, struct reason *why) {
    igraph_t g;
    begin();
    return finish(igraph_kary_tree(&g, (igraph_integer_t)n, (igraph_integer_t)children,
                                   IGRAPH_TREE_UNDIRECTED),
                  &g, why);
}

bool bridge_distances(const struct edges *e, uint64_t u, int64_t *hops, struct reason *why) {
    igraph_t g;
    igraph_vector_int_t ends;
    igraph_matrix_t found;
    begin();
    igraph_error_t code = igraph_vector_int_init(&ends, (igraph_integer_t)(2 * e->n_edges));
    if (code != IGRAPH_SUCCESS)
        return refuse(why, "%s", first_error.text);
    for (uint64_t i = 0; i < e->n_edges; i++)
        for (unsigned side = 0; side < 2; side++)
            VECTOR(ends)[2 * i + side] = (igraph_integer_t)e->end[i][side];
    code = igraph_create(&g, &ends, (igraph_integer_t)e->n, IGRAPH_UNDIRECTED);
    igraph_vector_int_destroy(&ends);
    if (code != IGRAPH_SUCCESS)
        return refuse(why, "%s", first_error.text);
    code = igraph_matrix_init(&found, 0, 0);
    if (code == IGRAPH_SUCCESS) {
        code = igraph_distances(&g, &found, igraph_vss_1((igraph_integer_t)u), igraph_vss_all(),
                                IGRAPH_ALL);
        for (uint64_t v = 0; v < e->n && code == IGRAPH_SUCCESS; v++) {
            const double d = MATRIX(found, 0, (igraph_integer_t)v);
            hops[v] = d < 1e18 ? (int64_t)d : -1;
        }
        igraph_matrix_destroy(&found);
    }
    igraph_destroy(&g);
    return code == IGRAPH_SUCCESS || refuse(why, "%s", first_error.text);
}
