/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Spaces by formula against the graphs igraph builds and the distances igraph finds in them; then
 * the tables of neighbours against those distances. */
#include "topology.h"

#include "by_hand.h"
#include "distance.h"
#include "igraph_bridge.h"
#include "neighbourhood.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Everything known about one topology: `hops` is igraph's, [n][n]. */
struct known {
    struct by_hand by_hand;
    struct space space;
    struct edges *edges;
    int64_t *hops;
};

static const char *const given[] = {
    "complete n=1",
    "complete n=2",
    "complete n=3",
    "complete n=12",
    "ring n=1",
    "ring n=2",
    "ring n=3",
    "ring n=4",
    "ring n=5",
    "ring n=16",
    "ring n=27",
    "line n=1",
    "line n=2",
    "line n=3",
    "line n=4",
    "line n=17",
    "grid sides=1",
    "grid sides=5",
    "grid sides=1x1x1",
    "grid sides=2x2",
    "grid sides=3x4",
    "grid sides=4x3",
    "grid sides=1x6",
    "grid sides=6x1",
    "grid sides=2x1x5",
    "grid sides=2x3x4",
    "grid sides=5x3x2",
    "grid sides=3x3x3",
    "grid sides=2x3x2x3",
    "grid sides=2x2x2x2x2",
    "grid sides=3x2x1x2x3",
    "grid sides=7x7",
    "torus sides=1",
    "torus sides=2",
    "torus sides=9",
    "torus sides=1x1",
    "torus sides=2x2",
    "torus sides=3x4",
    "torus sides=4x3",
    "torus sides=5x5",
    "torus sides=1x7",
    "torus sides=7x1",
    "torus sides=2x7",
    "torus sides=6x2",
    "torus sides=2x2x3",
    "torus sides=3x4x5",
    "torus sides=4x4x4",
    "torus sides=2x1x6",
    "torus sides=3x2x3x2",
    "torus sides=2x2x2x2x2",
    "torus sides=3x1x4x2x3",
    "torus sides=8x9",
    "hypercube dim=0",
    "hypercube dim=1",
    "hypercube dim=2",
    "hypercube dim=3",
    "hypercube dim=6",
    "star n=1",
    "star n=2",
    "star n=3",
    "star n=4",
    "star n=11",
    "tree n=1",
    "tree n=2",
    "tree n=3",
    "tree n=4",
    "tree n=5",
    "tree n=7",
    "tree n=8",
    "tree n=15",
    "tree n=23",
    "tree n=24",
    "tree n=31",
    "tree n=1 children=1",
    "tree n=2 children=1",
    "tree n=9 children=1",
    "tree n=2 children=3",
    "tree n=4 children=3",
    "tree n=5 children=3",
    "tree n=13 children=3",
    "tree n=14 children=3",
    "tree n=22 children=3",
    "tree n=23 children=3",
    "tree n=40 children=3",
    "tree n=3 children=7",
    "tree n=8 children=7",
    "tree n=9 children=7",
    "tree n=50 children=7",
    "tree n=57 children=7",
    "tree n=58 children=7",
    "tree n=6 children=100",
    "tree n=13 children=11",
    "tree n=14 children=12",
};
enum { GIVEN = sizeof given / sizeof *given };

static const struct topology *known_about(struct known *k, const char *text) {
    struct reason why = {""};
    unsigned at = 99;
    const struct topology *t = topology_of(by_hand(&k->by_hand, &topologies, text));
    assert_true(t->describe(k->by_hand.value, &k->space, &why, &at));
    k->edges = t->build(k->by_hand.value, (struct stream){0}, 0, &why);
    assert_non_null(k->edges);
    k->hops = allocate(k->edges->n * k->edges->n, sizeof *k->hops);
    for (uint64_t u = 0; u < k->edges->n; u++)
        assert_true(bridge_distances(k->edges, u, k->hops + u * k->edges->n, &why));
    return t;
}

static void forget(struct known *k) {
    edges_free(k->edges);
    free(k->hops);
}

static const char *current;

/* Runs `check` on every topology. */
static void on_each(void (*check)(const struct known *k)) {
    for (unsigned i = 0; i < GIVEN; i++) {
        struct known k;
        current = given[i];
        known_about(&k, given[i]);
        check(&k);
        forget(&k);
    }
    current = NULL;
}

/* After a test: says where it failed. */
static int name_culprit(void **state) {
    (void)state;
    if (current)
        print_error("with %s\n", current);
    current = NULL;
    return 0;
}

static uint64_t hops(const struct known *k, uint64_t u, uint64_t v) {
    return (uint64_t)k->hops[u * k->edges->n + v];
}

/* Vertices at distance h of u, as igraph has it. */
static uint64_t shell_size(const struct known *k, uint64_t u, uint64_t h) {
    uint64_t count = 0;
    for (uint64_t v = 0; v < k->edges->n; v++)
        count += hops(k, u, v) == h;
    return count;
}

static void check_graph(const struct known *k) {
    const uint64_t n = k->space.n;
    uint64_t close = 0;
    assert_int_equal(n, k->edges->n);
    for (uint64_t u = 0; u < n; u++)
        for (uint64_t v = u + 1; v < n; v++)
            close += space_distance(&k->space, u, v) == 1;
    assert_int_equal(close, k->edges->n_edges);
    for (uint64_t i = 0; i < k->edges->n_edges; i++) {
        const uint32_t *end = k->edges->end[i];
        assert_true(end[0] < n && end[1] < n && end[0] != end[1]);
        assert_int_equal(space_distance(&k->space, end[0], end[1]), 1);
    }
}
static void test_graph(void **state) {
    (void)state;
    on_each(check_graph);
}

static void check_distances(const struct known *k) {
    const uint64_t n = k->space.n;
    uint64_t farthest = 0, total = 0;
    for (uint64_t u = 0; u < n; u++)
        for (uint64_t v = 0; v < n; v++) {
            assert_true(k->hops[u * n + v] >= 0);
            assert_int_equal(space_distance(&k->space, u, v), hops(k, u, v));
            farthest = hops(k, u, v) > farthest ? hops(k, u, v) : farthest;
            total += hops(k, u, v);
        }
    assert_int_equal(k->space.diameter, farthest);
    const double mean = (double)total / (double)(n * n);
    assert_true(fabs(space_mean_distance(&k->space) - mean) <= 1e-12 * (mean + 1));
}
static void test_distances(void **state) {
    (void)state;
    on_each(check_distances);
}

/* Pairs by the block, as the kernels want them; an odd number so that vector loops have a rest. */
static void check_block_hops(const struct known *k) {
    const uint64_t n = k->space.n;
    uint32_t u[1000], v[1000], hop[1000], size = 0;
    for (uint64_t pair = 0; pair < n * n; pair++) {
        u[size] = (uint32_t)(pair / n);
        v[size++] = (uint32_t)(pair % n);
        if (size < 999 && pair + 1 < n * n)
            continue;
        block_hops(&k->space, u, v, size, hop);
        for (uint32_t i = 0; i < size; i++)
            assert_int_equal(hop[i], hops(k, u[i], v[i]));
        size = 0;
    }
}
static void test_block_hops(void **state) {
    (void)state;
    on_each(check_block_hops);
}

/* Division by a side is exact for every coordinate below 2^31. */
static void test_quotient(void **state) {
    static const uint32_t sides[] = {
        1,          2,         3,     5,     7,     10,        641,      1000,
        4096,       46340,     46341, 65535, 65537, 715827882, 1u << 30, (1u << 30) + 1,
        0x7ffffffe, 0x7fffffff};
    (void)state;
    for (unsigned i = 0; i < sizeof sides / sizeof *sides; i++) {
        const uint32_t side = sides[i];
        const struct divisor by = divide_by(side);
        for (uint32_t j = 0; j < 2000; j++) {
            const uint64_t multiple = (uint64_t)side * (j * 7919u), x[] = {j,
                                                                           multiple,
                                                                           multiple + side - 1,
                                                                           multiple - 1,
                                                                           0x7fffffffu - j,
                                                                           j * 1073741u};
            for (unsigned c = 0; c < sizeof x / sizeof *x; c++)
                if (x[c] <= 0x7fffffff)
                    assert_int_equal(quotient((uint32_t)x[c], by), x[c] / side);
        }
    }
}

static void check_shells(const struct known *k) {
    const uint64_t n = k->space.n, diameter = k->space.diameter;
    const uint64_t reaches[] = {0, 1, 2, diameter, diameter + 3};
    uint64_t shell[128];
    for (uint64_t u = 0; u < n; u++)
        for (unsigned i = 0; i < sizeof reaches / sizeof *reaches; i++) {
            assert_true(reaches[i] < 127);
            shell[reaches[i]] = 777; /* not to be touched */
            space_shells(&k->space, u, reaches[i], shell);
            for (uint64_t h = 1; h <= reaches[i]; h++)
                assert_int_equal(shell[h - 1], shell_size(k, u, h));
            assert_int_equal(shell[reaches[i]], 777);
        }
}
static void test_shells(void **state) {
    (void)state;
    on_each(check_shells);
}

/* Some graphs look the same from everywhere without being said to; the claim must never be wrong.
 */
static void check_transitive(const struct known *k) {
    bool same = true;
    for (uint64_t u = 1; u < k->space.n; u++)
        for (uint64_t h = 1; h <= k->space.diameter; h++)
            same = same && shell_size(k, u, h) == shell_size(k, 0, h);
    assert_true(same || !k->space.transitive);
    const char *const name = k->by_hand.entry.kind->name;
    if (!strcmp(name, "ring") || !strcmp(name, "torus") || !strcmp(name, "complete") ||
        !strcmp(name, "hypercube"))
        assert_true(k->space.transitive);
}
static void test_transitive(void **state) {
    (void)state;
    on_each(check_transitive);
}

/* One vector applied to u: the vertex, or UINT64_MAX beyond a border. */
static uint64_t moved(const struct space *s, const struct offsets *o, uint32_t row, uint64_t u) {
    uint64_t to = 0, stride = 1;
    if (s->form == FORM_CUBE)
        return u ^ (uint64_t)o->delta[0][row];
    for (unsigned d = s->dims; d-- > 0; u /= s->side[d], stride *= s->side[d]) {
        const int64_t side = s->side[d];
        int64_t x = (int64_t)(u % s->side[d]) + o->delta[d][row];
        if (s->wrap) {
            assert_true(o->delta[d][row] >= 0 && o->delta[d][row] < side);
            x %= side;
        } else {
            assert_true(o->delta[d][row] > -side && o->delta[d][row] < side);
        }
        if (x < 0 || x >= side)
            return UINT64_MAX;
        to += (uint64_t)x * stride;
    }
    return to;
}

/* Every vertex within reach is met exactly once, at its distance; with borders the rest lies
 * outside. */
static void check_ball(const struct known *k, const struct offsets *o, uint64_t u) {
    const uint64_t n = k->space.n;
    unsigned *met = allocate(n, sizeof *met);
    for (uint32_t row = 0; row < o->count; row++) {
        const uint64_t v = moved(&k->space, o, row, u);
        if (v == UINT64_MAX) {
            assert_false(k->space.wrap || k->space.form == FORM_CUBE);
            continue;
        }
        assert_int_equal(hops(k, u, v), o->hop[row]);
        met[v]++;
    }
    for (uint64_t v = 0; v < n; v++)
        assert_int_equal(met[v], v != u && hops(k, u, v) <= o->reach);
    free(met);
}

static void check_offsets(const struct known *k) {
    if ((k->space.form != FORM_LATTICE && k->space.form != FORM_CUBE) || k->space.n == 1)
        return;
    for (uint64_t reach = 1; reach <= k->space.diameter + 2; reach++) {
        const uint64_t within = reach < k->space.diameter ? reach : k->space.diameter;
        const unsigned columns = k->space.form == FORM_CUBE ? 1 : k->space.dims;
        struct offsets o;
        offsets_build(&k->space, reach, &o);
        assert_int_equal(o.reach, within);
        assert_int_equal(o.count, offsets_count(&k->space, reach));
        assert_true(offsets_bytes(&k->space, reach) >= 4 * (o.count * (1 + columns) + within + 1));
        assert_int_equal(o.first[0], 0);
        assert_int_equal(o.first[within], o.count);
        for (uint32_t h = 1; h <= within; h++)
            for (uint32_t row = o.first[h - 1]; row < o.first[h]; row++)
                assert_int_equal(o.hop[row], h);
        for (uint32_t row = 0; row < o.count; row++) {
            uint64_t length = 0;
            for (unsigned d = 0; k->space.form == FORM_LATTICE && d < columns; d++) {
                const int64_t x = o.delta[d][row], side = k->space.side[d];
                length += (uint64_t)(k->space.wrap && side - x < x ? side - x : x < 0 ? -x : x);
            }
            if (k->space.form == FORM_LATTICE)
                assert_int_equal(length, o.hop[row]);
            /* Within a shell by coordinates: the order of the rows is part of every result. */
            bool rises = row == 0 || o.hop[row] != o.hop[row - 1];
            for (unsigned d = 0; row > 0 && !rises && d < columns; d++) {
                assert_true(o.delta[d][row] >= o.delta[d][row - 1]);
                rises = o.delta[d][row] > o.delta[d][row - 1];
            }
            assert_true(rises);
        }
        for (uint64_t u = 0; u < k->space.n; u++)
            check_ball(k, &o, u);
        offsets_free(&o);
        assert_null(o.hop);
    }
}
static void test_offsets(void **state) {
    (void)state;
    on_each(check_offsets);
}

static void check_lists(const struct known *k) {
    if (k->space.form != FORM_TREE)
        return;
    const uint64_t n = k->space.n;
    struct graph *g = tree_graph(&k->space);
    for (uint64_t reach = 1; reach <= k->space.diameter; reach++) {
        struct lists l = {.reach = (uint32_t)reach, .weighted = reach % 2};
        uint64_t at = 0, shells = 1;
        assert_true(lists_build(g, UINT64_MAX, &l));
        for (uint64_t u = 0; u < n; u++) {
            assert_int_equal(l.of[u].member, at);
            assert_int_equal(l.of[u].shell, shells);
            for (uint64_t h = 1, before = at; h <= reach; h++) {
                for (uint64_t v = 0; v < n; v++) /* in order of number */
                    if (hops(k, u, v) == h)
                        assert_int_equal(l.member[at++], v | h << l.bits);
                if (l.weighted && before + l.shell[shells].end == at && shells < l.of[u + 1].shell)
                    shells++;
            }
        }
        const uint64_t bytes = (at + 2 * n + 2) * sizeof *l.member;
        assert_int_equal(l.of[n].member, at);
        assert_int_equal(l.of[n].shell, shells);
        if (!l.weighted)
            assert_int_equal(lists_bytes(&k->space, reach, false), bytes);
        lists_free(&l);
        assert_null(l.member);
        assert_false(lists_build(g, bytes - sizeof *l.member, &l));
        assert_null(l.member);
    }
    graph_free(g);
}
static void test_lists(void **state) {
    (void)state;
    on_each(check_lists);
}

/* Where no graph is built: big spaces, by what is known of them. */
static void test_large(void **state) {
    static const struct {
        const char *text;
        uint64_t n, diameter, within_two;
    } large[] = {
        {"complete n=1099511627776", (uint64_t)1 << 40, 1, 1099511627775u},
        {"ring n=2147483647", 2147483647, 1073741823, 4},
        {"line n=2147483647", 2147483647, 2147483646, 2},
        {"torus sides=46340x46340", 2147395600, 46340, 12},
        {"grid sides=46340x46340", 2147395600, 92678, 5},
        {"torus sides=2x1073741823", 2147483646, 536870912, 7},
        {"torus sides=1290x1290x1290", 2146689000, 1935, 24},
        {"hypercube dim=30", 1 << 30, 30, 465},
        {"star n=1000000", 1000000, 2, 999999},
        {"tree n=2147483647", 2147483647, 60, 6},
        {"tree n=2147483647 children=2147483647", 2147483647, 2, 2147483646},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof large / sizeof *large; i++) {
        struct by_hand b;
        struct space s;
        struct reason why;
        unsigned at;
        uint64_t shell[2];
        const struct topology *t = topology_of(by_hand(&b, &topologies, large[i].text));
        assert_true(t->describe(b.value, &s, &why, &at));
        assert_int_equal(s.n, large[i].n);
        assert_int_equal(s.diameter, large[i].diameter);
        if (s.form == FORM_TREE && s.n > 1000000)
            continue; /* shells of a tree are counted one by one */
        space_shells(&s, 0, 2, shell);
        assert_int_equal(shell[0] + shell[1], large[i].within_two);
        assert_true(space_mean_distance(&s) <= (double)s.diameter);
    }
}

/* The memory of lists too large to build is still stated, in good time. */
static void test_lists_beyond_reason(void **state) {
    struct by_hand b;
    struct space s;
    struct reason why;
    unsigned at;
    (void)state;
    const struct topology *star = topology_of(by_hand(&b, &topologies, "star n=2000000"));
    assert_true(star->describe(b.value, &s, &why, &at));
    assert_true(lists_bytes(&s, 1, false) < (uint64_t)100 << 20);
    assert_true(lists_bytes(&s, 2, false) >= (uint64_t)1 << 42);
}

static void test_refusals(void **state) {
    static const char *const refused[] = {"grid sides=65536x32768", "torus sides=2147483647x2",
                                          "grid sides=2000x2000x2000"};
    (void)state;
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct by_hand b;
        struct space s;
        struct reason why = {""};
        unsigned at = 99;
        const struct topology *t = topology_of(by_hand(&b, &topologies, refused[i]));
        assert_false(t->describe(b.value, &s, &why, &at));
        assert_int_equal(at, 0);
        assert_true(strlen(why.text) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_graph, name_culprit),
        cmocka_unit_test_teardown(test_distances, name_culprit),
        cmocka_unit_test_teardown(test_block_hops, name_culprit),
        cmocka_unit_test_teardown(test_shells, name_culprit),
        cmocka_unit_test_teardown(test_transitive, name_culprit),
        cmocka_unit_test_teardown(test_offsets, name_culprit),
        cmocka_unit_test_teardown(test_lists, name_culprit),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_lists_beyond_reason),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
