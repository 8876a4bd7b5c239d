/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches among points against looking at all of them, exactly; then the topologies that place
 * servers at points. */
#include "sites.h"

#include "by_hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 200 };
static const struct stream WORDS = {0x5157e5, 3};
static uint32_t next; /* number of the next word */

static uint32_t word(void) {
    return rng_word(WORDS, PURPOSE_GRAPH, 7, next++);
}
static uint32_t below(uint32_t n) {
    return (uint32_t)((uint64_t)word() * n >> 32);
}

/* Where points lie. */
enum scatter { ANYWHERE, ON_EDGES, CLUMPED, REPEATED, SCATTERS };

/* Multiples of 1/parts are edges of cells when there are as many cells or a multiple. */
static uint32_t coordinate(enum scatter scatter, uint32_t parts) {
    if (scatter == ON_EDGES) {
        const uint32_t edge = (uint32_t)(((uint64_t)below(parts) << 31) / parts);
        return (edge + below(3) + 0x7fffffffu) & 0x7fffffffu; /* -1, 0, +1 */
    }
    return scatter == CLUMPED ? below(3) * 1000 + below(4) : word() >> 1;
}

static struct sites *scattered(uint32_t n, bool wrap, enum scatter scatter, uint32_t parts) {
    uint32_t *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y);
    for (uint32_t v = 0; v < n; v++) {
        const bool again = scatter == REPEATED && v > 0 && below(2);
        x[v] = again ? x[v - 1] : coordinate(scatter, parts);
        y[v] = again ? y[v - 1] : coordinate(scatter, parts);
    }
    return plane_new(n, wrap, x, y);
}

static uint64_t along(uint32_t a, uint32_t b, bool wrap) {
    const uint64_t apart = a > b ? a - b : b - a, side = (uint64_t)1 << 31;
    return wrap && side - apart < apart ? side - apart : apart;
}

/* All servers of a point in order. */
static void look_at_all(const struct sites *s, uint32_t x, uint32_t y, uint32_t *server,
                        uint64_t *squared) {
    for (uint32_t v = 0; v < s->n; v++) {
        const uint64_t dx = along(x, s->x[v], s->wrap), dy = along(y, s->y[v], s->wrap);
        uint32_t at = v;
        assert_true(plane_squared(s, x, y, v) == dx * dx + dy * dy);
        for (; at > 0 && squared[at - 1] > dx * dx + dy * dy; at--) {
            squared[at] = squared[at - 1];
            server[at] = server[at - 1];
        }
        squared[at] = dx * dx + dy * dy;
        server[at] = v;
    }
}

static void check_point(const struct sites *s, uint32_t x, uint32_t y, bool all_counts) {
    static uint32_t expected[MOST], server[MOST];
    static uint64_t distance[MOST], squared[MOST];
    look_at_all(s, x, y, expected, distance);
    assert_int_equal(plane_nearest(s, x, y), expected[0]);
    for (uint32_t count = 1; count <= s->n; count += all_counts ? 1 : 1 + below(9)) {
        plane_near(s, x, y, count, server, squared);
        assert_memory_equal(server, expected, count * sizeof *server);
        assert_memory_equal(squared, distance, count * sizeof *squared);
    }
}

static void test_plane(void **state) {
    (void)state;
    for (unsigned i = 0; i < 1200; i++) {
        const uint32_t n = i < 200 ? 1 + i / 4 : 1 + below(i % 5 ? 40 : MOST);
        const enum scatter scatter = (enum scatter)(i % SCATTERS);
        const bool wrap = i / SCATTERS % 2;
        uint32_t parts = 1;
        while (2 * (parts + 1) * (parts + 1) <= n)
            parts++;
        struct sites *s = scattered(n, wrap, scatter, parts);
        for (unsigned j = 0; j < 12; j++) {
            const uint32_t v = below(n);
            const bool at_server = j % 4 == 0;
            check_point(s, at_server ? s->x[v] : coordinate(scatter, parts),
                        at_server ? s->y[v] : coordinate(j % 4 == 1 ? ANYWHERE : ON_EDGES, parts),
                        j == 0);
        }
        check_point(s, 0, 0x7fffffff, false);
        check_point(s, 0x7fffffff, 0x7fffffff, false);
        sites_free(s);
    }
}

/* Every server in one cell, at its number. */
static void test_cells(void **state) {
    static const uint32_t sizes[] = {1, 2, 7, 8, 17, 18, 31, 200, 10000};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct sites *s = scattered(sizes[i], true, ANYWHERE, 1);
        const uint64_t cells = (uint64_t)s->cells * s->cells;
        assert_true(2 * cells <= s->n || cells == 1);
        assert_int_equal(s->cell[0], 0);
        assert_int_equal(s->cell[cells], s->n);
        for (uint64_t c = 0; c < cells; c++)
            for (uint32_t j = s->cell[c]; j < s->cell[c + 1]; j++) {
                const struct member *m = &s->member[j];
                assert_true(j == s->cell[c] || m[-1].server < m->server);
                assert_int_equal(m->x, s->x[m->server]);
                assert_int_equal(m->y, s->y[m->server]);
                assert_int_equal(((uint64_t)m->y * s->cells >> 31) * s->cells +
                                     ((uint64_t)m->x * s->cells >> 31),
                                 c);
            }
        sites_free(s);
    }
}

static struct sites *on_circle(uint32_t n, uint32_t ids, enum scatter scatter) {
    uint64_t *position = allocate(ids, sizeof *position);
    uint32_t *owner = allocate(ids, sizeof *owner);
    for (uint32_t j = 0; j < ids; j++) {
        position[j] = (uint64_t)word() << 32 | word();
        if (scatter == ON_EDGES)
            position[j] = ((uint64_t)below(16) << 60) + below(3) - 1;
        if (scatter == CLUMPED)
            position[j] %= 5;
        if (scatter == REPEATED && j > 0)
            position[j] = position[j - 1];
        owner[j] = below(n);
    }
    return arcs_new(n, ids, position, owner);
}

static void check_successor(const struct sites *s, uint64_t point) {
    uint32_t j = 0;
    while (j < s->ids && s->position[j] < point)
        j++;
    assert_int_equal(arcs_successor(s, point), j == s->ids ? 0 : j);
}

/* Shares by walking the circle: a full round is 2^64, which is capped. */
static void check_shares(const struct sites *s) {
    uint128 share[MOST] = {0}, sum = 0;
    const uint128 circle = (uint128)1 << 64;
    for (uint32_t j = 0; j < s->ids; j++) {
        uint128 from = s->position[j > 0 ? j - 1 : s->ids - 1];
        if (j == 0 && from >= s->position[0])
            share[s->owner[0]] += circle;
        share[s->owner[j]] += s->position[j];
        share[s->owner[j]] -= from;
    }
    for (uint32_t v = 0; v < s->n; v++) {
        assert_true(s->share[v] == (share[v] == circle ? UINT64_MAX : (uint64_t)share[v]));
        sum += share[v];
    }
    assert_true(sum == circle);
}

static void test_circle(void **state) {
    (void)state;
    for (unsigned i = 0; i < 800; i++) {
        const uint32_t n = 1 + below(30), ids = 1 + below(i % 3 ? 20 : MOST);
        struct sites *s = on_circle(n, ids, (enum scatter)(i % SCATTERS));
        for (uint32_t j = 0; j < ids; j++) {
            assert_true(j == 0 || s->position[j - 1] < s->position[j] ||
                        (s->position[j - 1] == s->position[j] && s->owner[j - 1] <= s->owner[j]));
            for (uint64_t off = 0; off < 3; off++)
                check_successor(s, s->position[j] + off - 1);
        }
        check_successor(s, 0);
        check_successor(s, UINT64_MAX);
        for (unsigned j = 0; j < 30; j++)
            check_successor(s, (uint64_t)word() << 32 | word());
        check_shares(s);
        sites_free(s);
    }
}

/* A topology and what it says. */
struct made {
    struct by_hand by_hand;
    struct space space;
    struct reason why;
    unsigned at;
    bool described;
};

static void describe(struct made *m, const char *text, struct attachment *file) {
    *m = (struct made){.at = 99};
    const struct topology *t = topology_of(by_hand(&m->by_hand, &topologies, text));
    if (file)
        m->by_hand.value[parameter_index(&t->kind, "points")].file = file;
    m->described = t->describe(m->by_hand.value, &m->space, &m->why, &m->at);
}

static void make(struct made *m, const char *text, struct attachment *file, struct stream words) {
    describe(m, text, file);
    assert_true(m->described);
    assert_true(
        space_make(topology_of(&m->by_hand.entry), m->by_hand.value, words, &m->space, &m->why));
    assert_non_null(m->space.sites);
    assert_int_equal(m->space.sites->n, m->space.n);
}

static void test_uniform(void **state) {
    struct made m;
    (void)state;
    make(&m, "plane n=100", NULL, WORDS);
    assert_true(m.space.fresh && m.space.wrap && m.space.connected);
    for (uint32_t v = 0; v < 100; v++) {
        assert_int_equal(m.space.sites->x[v], rng_word(WORDS, PURPOSE_GRAPH, 0, 2 * v) >> 1);
        assert_int_equal(m.space.sites->y[v], rng_word(WORDS, PURPOSE_GRAPH, 0, 2 * v + 1) >> 1);
    }
    space_clear(&m.space);
    make(&m, "plane n=5 torus=false layout=per-point", NULL, WORDS);
    assert_false(m.space.fresh || m.space.wrap || m.space.sites->wrap);
    space_clear(&m.space);
    make(&m, "arcs n=7 virtual=9", NULL, WORDS);
    assert_true(m.space.fresh && m.space.connected);
    assert_int_equal(m.space.ids, 63);
    for (uint32_t j = 0; j < 63; j++) {
        const uint64_t position = (uint64_t)rng_word(WORDS, PURPOSE_GRAPH, 0, 2 * j) << 32 |
                                  rng_word(WORDS, PURPOSE_GRAPH, 0, 2 * j + 1);
        const uint32_t at = arcs_successor(m.space.sites, position);
        assert_true(m.space.sites->position[at] == position);
        assert_int_equal(m.space.sites->owner[at], j / 9);
    }
    space_clear(&m.space);
    describe(&m, "arcs n=100000 virtual=100000", NULL);
    assert_false(m.described);
    assert_int_equal(m.at, 1);
}

static void test_grid(void **state) {
    struct made m;
    (void)state;
    make(&m, "plane n=16 servers=grid", NULL, WORDS);
    assert_false(m.space.fresh);
    for (uint32_t v = 0; v < 16; v++) {
        assert_int_equal(m.space.sites->x[v], (2 * (v % 4) + 1) << 28);
        assert_int_equal(m.space.sites->y[v], (2 * (v / 4) + 1) << 28);
    }
    space_clear(&m.space);
    describe(&m, "plane n=12 servers=grid", NULL);
    assert_false(m.described);
    assert_int_equal(m.at, 0);
    assert_non_null(strstr(m.why.text, "9 and 16"));
    describe(&m, "plane", NULL);
    assert_false(m.described);
    assert_int_equal(m.at, 0);
    describe(&m, "plane servers=file", NULL);
    assert_false(m.described);
    assert_int_equal(m.at, 2);
}

static struct attachment attach(const char *text) {
    static char name[] = "sites.txt";
    return (struct attachment){.name = name, .bytes = duplicate_text(text), .length = strlen(text)};
}

static void detach(struct attachment *file) {
    if (file->parsed)
        file->release(file->parsed);
    free(file->bytes);
}

static void test_file(void **state) {
    static const char text[] = "# x y\n0.5 0.25\r\n\n  1,1 // corner\n0;1e-1\n\t.75 , 0.0 % last";
    struct attachment file = attach(text);
    struct made m;
    (void)state;
    make(&m, "plane servers=file", &file, WORDS);
    const struct sites *s = m.space.sites;
    assert_int_equal(m.space.n, 4);
    assert_false(m.space.fresh);
    const uint32_t x[4] = {1u << 30, 0, 0, 3u << 29}, y[4] = {1u << 29, 0, 214748364, 0};
    assert_memory_equal(s->x, x, sizeof x);
    assert_memory_equal(s->y, y, sizeof y);
    space_clear(&m.space);
    make(&m, "plane n=4 servers=file torus=false", &file, WORDS);
    assert_int_equal(m.space.sites->x[1], 0x7fffffff);
    assert_int_equal(m.space.sites->y[1], 0x7fffffff);
    space_clear(&m.space);
    describe(&m, "plane n=5 servers=file", &file);
    assert_false(m.described);
    assert_int_equal(m.at, 0);
    describe(&m, "plane n=5", &file);
    assert_false(m.described);
    assert_int_equal(m.at, 2);
    detach(&file);
}

static void test_bad_files(void **state) {
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "sites.txt"},
               {"# nothing\n\n", "sites.txt:3: "},
               {"0 0\n0.5\n", "sites.txt:2: one number"},
               {"0 0\n0.5 1.5\n", "sites.txt:2: '1.5'"},
               {"0 0\n\n-.5 1\n", "sites.txt:3: '-.5'"},
               {"0 0 0\n", "sites.txt:1: more"},
               {"0 0x1p-1\n", "sites.txt:1: '0x1p-1'"},
               {"nan 0\n", "sites.txt:1: 'nan'"},
               {"0 0\r0 inf", "sites.txt:2: 'inf'"},
               {"0 1e\n", "sites.txt:1: '1e'"},
               {"0,,1\n", "sites.txt:1: ''"},
               {"0 0.5.5\n", "sites.txt:1: '0.5.5'"}};
    struct made m;
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attachment file = attach(bad[i].text);
        describe(&m, "plane servers=file", &file);
        assert_false(m.described);
        assert_int_equal(m.at, 2);
        if (!strstr(m.why.text, bad[i].says))
            fail_msg("\"%s\" where \"%s\" belongs", m.why.text, bad[i].says);
        assert_null(file.parsed);
        detach(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),     cmocka_unit_test(test_cells),
        cmocka_unit_test(test_circle),    cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_grid),      cmocka_unit_test(test_file),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
