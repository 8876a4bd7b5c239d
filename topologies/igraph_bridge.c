/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph builds graphs; everything else works on plain edges. Errors are turned into reasons: the
 * default handler would abort the process. */
#include "igraph_bridge.h"
#include "graph.h"

#include <igraph/igraph.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* igraph's handlers and its default generator are the process's; whoever holds the lock has them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reason first_error;
static bool no_memory;

static void keep_first_error(const char *reason, const char *file, int line, igraph_error_t code) {
    (void)file, (void)line;
    no_memory = no_memory || code == IGRAPH_ENOMEM;
    if (!first_error.text[0])
        snprintf(first_error.text, sizeof first_error.text, "igraph: %s", reason);
    IGRAPH_FINALLY_FREE();
}

static void begin(void) {
    pthread_mutex_lock(&lock);
    first_error.text[0] = '\0';
    no_memory = false;
    igraph_set_error_handler(keep_first_error);
    igraph_set_warning_handler(igraph_warning_handler_ignore);
}

/* Ends what begin() began. Too little memory is no fault of the graph that was asked for. */
static bool end(igraph_error_t code, struct reason *why) {
    if (code == IGRAPH_ENOMEM || no_memory)
        world_failed("out of memory while igraph made a graph");
    if (code != IGRAPH_SUCCESS && !first_error.text[0])
        refuse(&first_error, "igraph: %s", igraph_strerror(code));
    if (code != IGRAPH_SUCCESS)
        *why = first_error;
    pthread_mutex_unlock(&lock);
    return code == IGRAPH_SUCCESS;
}

/* Copies the edges of a graph. */
static struct edges *copy(const igraph_t *graph) {
    struct edges *e = allocate(1, sizeof *e);
    e->n = (uint64_t)igraph_vcount(graph);
    e->n_edges = (uint64_t)igraph_ecount(graph);
    e->end = allocate(e->n_edges + 1, sizeof *e->end);
    for (uint64_t i = 0; i < e->n_edges; i++) {
        e->end[i][0] = (uint32_t)IGRAPH_FROM(graph, (igraph_integer_t)i);
        e->end[i][1] = (uint32_t)IGRAPH_TO(graph, (igraph_integer_t)i);
    }
    return e;
}

/* The edges of the graph that a call which returned `code` has made; the graph is no more. */
static struct edges *finish(igraph_error_t code, igraph_t *graph, struct reason *why) {
    struct edges *e = NULL;
    if (code == IGRAPH_SUCCESS) {
        e = copy(graph);
        igraph_destroy(graph);
    }
    end(code, why);
    return e;
}

void edges_free(struct edges *e) {
    if (e)
        free(e->end);
    free(e);
}

const char *bridge_version(void) {
    const char *text = "";
    igraph_version(&text, NULL, NULL, NULL);
    return text;
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

struct edges *bridge_famous(const char *name, struct reason *why) {
    igraph_t g;
    begin();
    return finish(igraph_famous(&g, name), &g, why);
}

/* igraph's generator of random numbers, made of ours: word after word, a block of 64 at a time. */
enum { SUPPLY = 64 };
struct supply {
    struct chance chance;
    uint64_t next; /* word to come */
    uint32_t word[SUPPLY];
};

static igraph_uint_t supply_word(void *state) {
    struct supply *s = state;
    const uint64_t draw = s->next / SUPPLY * (SUPPLY / 4);
    if (s->next % SUPPLY == 0)
        for (unsigned d = 0; d < SUPPLY / 4; d++) {
            const philox4x32_ctr_t c =
                rng_block(s->chance.words, PURPOSE_GRAPH, s->chance.lane, draw + d);
            for (unsigned v = 0; v < 4; v++)
                s->word[v * (SUPPLY / 4) + d] = c.v[v];
        }
    return s->word[s->next++ % SUPPLY];
}

/* Neither made, seeded nor freed by igraph. */
static const igraph_rng_type_t supply_type = {.name = "potluck", .bits = 32, .get = supply_word};

/* begin() and finish() with random words. */
struct drawing {
    struct supply supply;
    igraph_rng_t before;
};
static void begin_drawing(struct drawing *d, struct chance chance) {
    begin();
    *d = (struct drawing){.supply.chance = chance, .before = *igraph_rng_default()};
    igraph_rng_set_default(
        &(igraph_rng_t){.type = &supply_type, .state = &d->supply, .is_seeded = true});
}
static struct edges *finish_drawing(struct drawing *d, igraph_error_t code, igraph_t *graph,
                                    struct reason *why) {
    igraph_rng_set_default(&d->before);
    return finish(code, graph, why);
}

struct edges *bridge_gnp(uint64_t n, double p, struct chance chance, struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(
        &d,
        igraph_erdos_renyi_game_gnp(&g, (igraph_integer_t)n, p, IGRAPH_UNDIRECTED, IGRAPH_NO_LOOPS),
        &g, why);
}

struct edges *bridge_gnm(uint64_t n, uint64_t edges, struct chance chance, struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d,
                          igraph_erdos_renyi_game_gnm(&g, (igraph_integer_t)n,
                                                      (igraph_integer_t)edges, IGRAPH_UNDIRECTED,
                                                      IGRAPH_NO_LOOPS),
                          &g, why);
}

struct edges *bridge_geometric(uint64_t n, double radius, bool torus, struct chance chance,
                               struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d, igraph_grg_game(&g, (igraph_integer_t)n, radius, torus, NULL, NULL),
                          &g, why);
}

struct edges *bridge_barabasi(uint64_t n, uint64_t m, double power, struct chance chance,
                              struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d,
                          igraph_barabasi_game(&g, (igraph_integer_t)n, power, (igraph_integer_t)m,
                                               NULL, true, 0, IGRAPH_UNDIRECTED,
                                               IGRAPH_BARABASI_PSUMTREE, NULL),
                          &g, why);
}

struct edges *bridge_power_law(uint64_t n, uint64_t edges, double exponent, struct chance chance,
                               struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d,
                          igraph_static_power_law_game(&g, (igraph_integer_t)n,
                                                       (igraph_integer_t)edges, exponent, -1,
                                                       IGRAPH_NO_LOOPS, false, true),
                          &g, why);
}

struct edges *bridge_watts_strogatz(uint64_t n, uint64_t neighbours, double rewire,
                                    struct chance chance, struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d,
                          igraph_watts_strogatz_game(&g, 1, (igraph_integer_t)n,
                                                     (igraph_integer_t)neighbours, rewire,
                                                     IGRAPH_NO_LOOPS, false),
                          &g, why);
}

struct edges *bridge_regular(uint64_t n, uint64_t degree, struct chance chance,
                             struct reason *why) {
    igraph_t g;
    struct drawing d;
    begin_drawing(&d, chance);
    return finish_drawing(&d,
                          igraph_k_regular_game(&g, (igraph_integer_t)n, (igraph_integer_t)degree,
                                                IGRAPH_UNDIRECTED, false),
                          &g, why);
}

static igraph_error_t create(igraph_t *g, const struct edges *e) {
    igraph_vector_int_t flat;
    igraph_error_t code = igraph_vector_int_init(&flat, (igraph_integer_t)(2 * e->n_edges));
    if (code != IGRAPH_SUCCESS)
        return code;
    for (uint64_t i = 0; i < e->n_edges; i++)
        for (unsigned side = 0; side < 2; side++)
            VECTOR(flat)[2 * i + side] = (igraph_integer_t)e->end[i][side];
    code = igraph_create(g, &flat, (igraph_integer_t)e->n, IGRAPH_UNDIRECTED);
    igraph_vector_int_destroy(&flat);
    return code;
}

bool bridge_distances(const struct edges *e, uint64_t u, int64_t *hops, struct reason *why) {
    igraph_t g;
    igraph_matrix_t found;
    begin();
    igraph_error_t code = create(&g, e);
    if (code != IGRAPH_SUCCESS)
        return end(code, why);
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
    return end(code, why);
}

struct edges *bridge_read(enum graph_format format, const char *bytes, size_t length,
                          bool *directed, struct reason *why) {
    igraph_t g;
    igraph_error_t code = IGRAPH_FAILURE;
    union {
        const char *given;
        char *wanted; /* fmemopen() only reads from it */
    } text = {bytes};
    FILE *in = fmemopen(text.wanted, length, "r");
    if (!in)
        world_failed("out of memory");
    begin();
    switch (format) {
    case FORMAT_GRAPHML:
        code = igraph_read_graph_graphml(&g, in, 0);
        break;
    case FORMAT_GML:
        code = igraph_read_graph_gml(&g, in);
        break;
    case FORMAT_PAJEK:
        code = igraph_read_graph_pajek(&g, in);
        break;
    }
    fclose(in);
    *directed = code == IGRAPH_SUCCESS && igraph_is_directed(&g);
    if (code == IGRAPH_SUCCESS && igraph_vcount(&g) > SERVERS_MAX) {
        refuse(&first_error, "more than %u servers", SERVERS_MAX);
        igraph_destroy(&g);
        code = IGRAPH_EOVERFLOW;
    }
    return finish(code, &g, why);
}

/* Every edge once, from the smaller end. */
static struct edges *edges_of(const struct graph *g) {
    struct edges *e = allocate(1, sizeof *e);
    *e = (struct edges){g->n, 0, allocate(g->n_edges + 1, sizeof *e->end)};
    for (uint64_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (u < g->neighbour[i]) {
                e->end[e->n_edges][0] = (uint32_t)u;
                e->end[e->n_edges++][1] = g->neighbour[i];
            }
    return e;
}

bool bridge_write(enum graph_format format, const struct graph *g, FILE *out, struct reason *why) {
    igraph_t made;
    struct edges *e = edges_of(g);
    begin();
    igraph_error_t code = create(&made, e);
    edges_free(e);
    if (code != IGRAPH_SUCCESS)
        return end(code, why);
    switch (format) {
    case FORMAT_GRAPHML:
        code = igraph_write_graph_graphml(&made, out, true);
        break;
    case FORMAT_GML:
        code = igraph_write_graph_gml(&made, out, IGRAPH_WRITE_GML_DEFAULT_SW, NULL, "potluck");
        break;
    case FORMAT_PAJEK:
        code = igraph_write_graph_pajek(&made, out);
        break;
    }
    igraph_destroy(&made);
    return end(code, why);
}
