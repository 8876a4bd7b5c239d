/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs edge by edge: rows, components and searches against plain loops over a matrix; files that
 * igraph writes and reads. */
#include "graph_checks.h"
#include "igraph_bridge.h"

#include <stdlib.h>

enum { SMALL = 14, FAR = 1000 };

/* Edges of a small graph, and what plain loops make of them. */
struct small {
    struct edges edges;
    uint32_t end[64][2];
    unsigned hops[SMALL][SMALL]; /* FAR: no path */
    unsigned loops, doubles, distinct, components, largest;
};

static uint32_t chosen(uint32_t lane, uint64_t i, uint32_t n) {
    return rng_below((struct stream){20261130, 0}, PURPOSE_ORIGIN, lane, i, n);
}

static void measure(struct small *s) {
    const unsigned n = (unsigned)s->edges.n;
    unsigned parts[SMALL] = {0};
    s->loops = s->doubles = s->distinct = s->components = s->largest = 0;
    for (unsigned u = 0; u < n; u++)
        for (unsigned v = 0; v < n; v++)
            s->hops[u][v] = u == v ? 0 : FAR;
    for (unsigned i = 0; i < s->edges.n_edges; i++) {
        const uint32_t u = s->end[i][0], v = s->end[i][1];
        s->loops += u == v;
        s->doubles += u != v && s->hops[u][v] == 1;
        s->distinct += u != v && s->hops[u][v] != 1;
        if (u != v)
            s->hops[u][v] = s->hops[v][u] = 1;
    }
    for (unsigned w = 0; w < n; w++)
        for (unsigned u = 0; u < n; u++)
            for (unsigned v = 0; v < n; v++)
                if (s->hops[u][w] + s->hops[w][v] < s->hops[u][v])
                    s->hops[u][v] = s->hops[u][w] + s->hops[w][v];
    for (unsigned u = 0; u < n; u++) {
        unsigned root = 0;
        while (s->hops[u][root] >= FAR)
            root++;
        s->components += root == u;
        parts[root]++;
        if (parts[root] > s->largest)
            s->largest = parts[root];
    }
}

/* Of every density, loops and double edges among them. */
static void make_small(struct small *s, uint32_t number) {
    s->edges = (struct edges){1 + chosen(0, number, SMALL), chosen(1, number, 30), s->end};
    for (unsigned i = 0; i < s->edges.n_edges; i++)
        for (unsigned side = 0; side < 2; side++)
            s->end[i][side] = chosen(2 + side, 64 * number + i, (uint32_t)s->edges.n);
    measure(s);
}

static void test_new(void **state) {
    (void)state;
    for (uint32_t number = 0; number < 2000; number++) {
        struct small s;
        make_small(&s, number);
        struct graph *g = graph_new(&s.edges);
        assert_int_equal(g->n, s.edges.n);
        assert_int_equal(g->whole, g->n);
        assert_null(g->original);
        assert_int_equal(g->loops, s.loops);
        assert_int_equal(g->doubles, s.doubles);
        assert_int_equal(g->n_edges, s.distinct);
        assert_int_equal(g->components, s.components);
        assert_int_equal(g->largest, s.largest);
        check_rows(g);
        for (uint32_t u = 0; u < g->n; u++)
            for (uint32_t v = 0; v < g->n; v++)
                assert_int_equal(in_row(g, u, v), s.hops[u][v] == 1);
        graph_free(g);
    }
}

/* A row longer than those that are sorted by insertion. */
static void test_hub(void **state) {
    enum { LEAVES = 500 };
    (void)state;
    struct edges e = {LEAVES + 1, 2 * LEAVES, allocate(2 * LEAVES, sizeof *e.end)};
    for (uint32_t i = 0; i < 2 * LEAVES; i++) {
        e.end[i][i & 1] = 1 + i * 7 % LEAVES;
        e.end[i][~i & 1] = 0;
    }
    struct graph *g = graph_new(&e);
    check_rows(g);
    assert_int_equal(g->doubles, LEAVES);
    assert_int_equal(graph_degree(g, 0), LEAVES);
    graph_free(g);
    free(e.end);
}

static void test_largest(void **state) {
    (void)state;
    for (uint32_t number = 0; number < 2000; number++) {
        struct small s;
        make_small(&s, number);
        uint32_t kept[SMALL], n = 0, first = 0;
        for (bool found = false; !found; first += !found) {
            n = 0;
            for (uint32_t v = 0; v < s.edges.n; v++)
                if (s.hops[first][v] < FAR)
                    kept[n++] = v;
            found = n == s.largest;
        }
        struct graph *g = graph_largest(graph_new(&s.edges));
        assert_int_equal(g->n, n);
        assert_int_equal(g->whole, s.edges.n);
        assert_int_equal(g->components, s.components);
        assert_int_equal(g->largest, n);
        assert_true((g->original == NULL) == (s.components == 1));
        check_rows(g);
        for (uint32_t u = 0; u < n; u++) {
            assert_int_equal(g->original ? g->original[u] : u, kept[u]);
            for (uint32_t v = 0; v < n; v++)
                assert_int_equal(in_row(g, u, v), s.hops[kept[u]][kept[v]] == 1);
        }
        g = graph_largest(g); /* once more changes nothing */
        assert_int_equal(g->n, n);
        graph_free(g);
    }
}

static void check_shells(const struct small *s, const struct graph *g, struct search *search) {
    uint64_t end[SMALL + 3];
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t reach = 0; reach <= SMALL; reach++) {
            end[reach + 1] = 777; /* not to be touched */
            const uint64_t found = graph_shells(g, search, u, reach, end);
            bool met[SMALL] = {false};
            assert_int_equal(search->queue[0][0], u);
            assert_int_equal(found, end[reach]);
            assert_int_equal(end[reach + 1], 777);
            for (uint32_t h = 0; h <= reach; h++)
                for (uint64_t i = h ? end[h - 1] : 0; i < end[h]; i++) {
                    const uint32_t v = search->queue[0][i];
                    assert_int_equal(s->hops[u][v], h);
                    assert_false(met[v]);
                    met[v] = true;
                }
            for (uint32_t v = 0; v < g->n; v++)
                assert_int_equal(met[v], s->hops[u][v] <= reach);
        }
}

static void check_distances(const struct small *s, const struct graph *g, struct search *search) {
    const uint32_t limits[] = {0, 1, 2, 3, 4, 5, SMALL, UINT32_MAX};
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t v = 0; v < g->n; v++)
            for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
                assert_int_equal(graph_distance(g, search, u, v, limits[i]),
                                 s->hops[u][v] < FAR && s->hops[u][v] <= limits[i] ? s->hops[u][v]
                                                                                   : UINT32_MAX);
}

/* One memory for all graphs; its numbers run over on the way. */
static void test_searches(void **state) {
    struct search search;
    void *memory = allocate(search_bytes(SMALL), 1);
    (void)state;
    search_init(&search, SMALL, memory);
    for (uint32_t number = 0; number < 600; number++) {
        struct small s;
        make_small(&s, number);
        struct graph *g = graph_new(&s.edges);
        check_shells(&s, g, &search);
        check_distances(&s, g, &search);
        if (number % 10 == 0)
            search.round = UINT32_MAX - 1 - number / 10;
        graph_free(g);
    }
    free(memory);
}

static void test_write_and_read(void **state) {
    (void)state;
    for (unsigned format = FORMAT_GRAPHML; format <= FORMAT_PAJEK; format++)
        for (uint32_t number = 0; number < 50; number++) {
            struct small s;
            struct reason why = {""};
            char *bytes = NULL;
            size_t length = 0;
            bool directed = true;
            make_small(&s, number);
            struct graph *g = graph_new(&s.edges);
            FILE *out = open_memstream(&bytes, &length);
            assert_true(bridge_write(format, g, out, &why));
            fclose(out);
            struct edges *e = bridge_read(format, bytes, length, &directed, &why);
            assert_non_null(e);
            assert_false(directed);
            struct graph *again = graph_new(e);
            assert_true(same_graph(g, again));
            edges_free(e);
            graph_free(again);
            graph_free(g);
            free(bytes);
        }
}

static void test_read_wrong(void **state) {
    static const struct {
        enum graph_format format;
        const char *text;
    } wrong[] = {
        {FORMAT_GRAPHML, ""},
        {FORMAT_GRAPHML, "<graphml><graph>\n<node id=\"a\"/>"},
        {FORMAT_GRAPHML, "a b\nb c\n"},
        {FORMAT_GML, "graph [\n node [ id 1 ]\n edge [ source 1 target 7 ]\n]\n"},
        {FORMAT_GML, "graph [\n node [ id 1 \n"},
        {FORMAT_PAJEK, "*Vertices 3\n*Edges\n1 x\n"},
        {FORMAT_PAJEK, "*Vertices 2\n*Edges\n1 9\n"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reason why = {""};
        bool directed;
        assert_null(
            bridge_read(wrong[i].format, wrong[i].text, strlen(wrong[i].text), &directed, &why));
        assert_true(strlen(why.text) > 10);
    }
    static const char arrows[] = "graph [ directed 1 node [ id 0 ] node [ id 1 ]"
                                 " edge [ source 1 target 0 ] ]";
    struct reason why;
    bool directed = false;
    struct edges *e = bridge_read(FORMAT_GML, arrows, sizeof arrows - 1, &directed, &why);
    assert_non_null(e);
    assert_true(directed && e->n == 2 && e->n_edges == 1);
    edges_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_searches),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_read_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
