/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies draw on spaces of points. What is certain is checked job by job against a look at
 * all servers; laws of random choices by chi-square, where points fall by chance or all at one
 * place. All levels must draw the same bits. */
#include "sampler.h"

#include "by_hand.h"
#include "chance.h"
#include "sites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Cells expect 600 jobs and more: one whose probability is off by a third makes a chi-square of 60
 * more. */
enum { COMPARISONS = 100, JOBS = 100 * BLOCK, GUARD = 64, SERVERS_MOST = 16 };
static const double TAIL = 1e-4 / COMPARISONS;
static const uint32_t UNTOUCHED = 0xdeadbeef;
static unsigned compared;
static char current[200];

static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

static void assert_fits(const uint64_t *seen, const double *expected, uint64_t cells) {
    const double tail = fit_tail(seen, expected, cells);
    compared++;
    assert_true(compared <= COMPARISONS);
    assert_true(tail >= 0); /* else something impossible happened */
    if (tail <= TAIL)
        fail_msg("as unlikely as %g", tail);
}

/* A policy on a made space, ready to draw: arrays without a gap, as sampler.h wants them. */
struct drawing {
    struct by_hand topology, policy;
    struct sampler sampler;
    struct sampler_facts facts;
    struct block block;
    uint32_t *arrays; /* hop, scratch, two words of the point, origin, raw */
    void *memory;
    const uint32_t *fixed; /* [2]: all jobs appear at this point; NULL: anywhere */
};
enum { ARRAY_POINT = 2, ARRAY_ORIGIN = 4, ARRAY_RAW = 5 };

static bool ready(struct drawing *d, enum level level, const char *topology, const char *policy,
                  enum ties ties) {
    struct reason why = {""};
    unsigned at = 99;
    struct sampler *s = &d->sampler;
    *d = (struct drawing){.fixed = NULL};
    snprintf(current, sizeof current, "%s on %s, ties %d, level %s", policy, topology, (int)ties,
             level_name[level]);
    const struct topology *t = topology_of(by_hand(&d->topology, &topologies, topology));
    assert_true(t->describe(d->topology.value, &s->space, &why, &at));
    const struct policy *p = policy_of(by_hand(&d->policy, policies_at(level), policy));
    assert_true(p->on & 1u << s->space.form);
    if (!p->examine(d->policy.value, &s->space, UINT64_MAX, &d->facts, &why, &at)) {
        assert_true(strlen(why.text) > 10 && at < p->kind.n_parameters);
        current[0] = '\0';
        return false;
    }
    const struct stream words = {rng_key(20261129, d->topology.text), 0};
    assert_true(space_make(t, d->topology.value, words, &s->space, &why));
    s->policy = p;
    s->n = (uint32_t)s->space.n;
    s->ties = ties;
    s->budget = UINT64_MAX;
    assert_true(p->prepare(d->policy.value, s, &why));
    if (s->arrays < s->draws)
        s->arrays = s->draws;
    assert_int_equal(d->facts.draws, s->draws);
    assert_int_equal(d->facts.arrays > s->draws ? d->facts.arrays : s->draws, s->arrays);
    assert_int_equal(d->facts.memory, s->memory);
    assert_int_equal(d->facts.walks, s->walks);
    assert_true(d->facts.how[0] && d->facts.nanoseconds > 0);
    assert_true(s->arrays <= DRAWS_MAX && s->candidates <= s->arrays + s->origin_first);
    d->arrays = allocate((size_t)(ARRAY_RAW + s->arrays) * BLOCK + GUARD, sizeof *d->arrays);
    d->memory = allocate(s->memory + 1, 1);
    return true;
}

static void done(struct drawing *d) {
    space_clear(&d->sampler.space);
    free(d->arrays);
    free(d->memory);
    current[0] = '\0';
}

static void check_candidates(const struct drawing *d) {
    const struct sampler *s = &d->sampler;
    const struct block *b = &d->block;
    const uint64_t range = s->walks ? s->space.sites->ids : s->n;
    bool inside = true;
    for (unsigned c = 0; c < s->candidates; c++) {
        assert_ptr_equal(b->candidate[c], b->candidate[0] + (size_t)c * BLOCK);
        for (uint32_t i = 0; i < b->size; i++)
            inside = inside && b->candidate[c][i] < range;
    }
    assert_true(inside);
    if (s->origin_first)
        assert_memory_equal(b->candidate[0], b->origin, b->size * sizeof *b->origin);
}

/* Jobs first .. first+size-1 into arrays full of rubbish. Origins and points must survive. */
static void draw(struct drawing *d, uint32_t replication, uint64_t first, uint32_t size) {
    const struct sampler *s = &d->sampler;
    const struct stream stream = {rng_key(20261129, d->topology.text), replication};
    const size_t length = (size_t)(ARRAY_RAW + s->arrays) * BLOCK;
    struct block *b = &d->block;
    for (size_t j = 0; j < length + GUARD; j++)
        d->arrays[j] = UNTOUCHED;
    *b = (struct block){.first = first, .size = size, .memory = d->memory};
    b->hop = d->arrays;
    b->scratch = d->arrays + BLOCK;
    for (unsigned c = 0; c < 2; c++)
        b->point[c] = d->arrays + (ARRAY_POINT + c) * BLOCK;
    b->origin = d->arrays + ARRAY_ORIGIN * BLOCK;
    for (unsigned j = 0; j < s->arrays; j++)
        b->raw[j] = d->arrays + (ARRAY_RAW + j) * BLOCK;
    for (unsigned j = 0; j < fetches(s); j++) {
        const struct fetch f = fetch_of(s, stream, b, j);
        if (f.range)
            draw_below(f.words, first, size, f.range, f.into);
        else
            draw_words(f.words, first, size, f.into);
    }
    for (unsigned c = 0; d->fixed && c < 2; c++)
        for (uint32_t i = 0; i < size; i++)
            b->point[c][i] = d->fixed[c];
    arrive_baseline(s, b);
    static uint32_t kept[3 * BLOCK];
    memcpy(kept, b->point[0], sizeof kept);
    s->policy->choose(s, stream, b);
    assert_memory_equal(kept, b->point[0], sizeof kept);
    for (size_t j = length; j < length + GUARD; j++)
        assert_int_equal(d->arrays[j], UNTOUCHED);
    check_candidates(d);
}

static uint64_t circle_point_of(const struct block *b, uint32_t i) {
    return (uint64_t)b->point[0][i] << 32 | b->point[1][i];
}

/* The server of a point by a look at all, and the next one. */
static void two_of_all(const struct sites *s, const struct block *b, uint32_t i, uint32_t *two) {
    if (s->position) {
        uint64_t j = 0;
        while (j < s->ids && s->position[j] < circle_point_of(b, i))
            j++;
        two[0] = s->owner[j % s->ids];
        two[1] = s->owner[(j + 1) % s->ids];
        return;
    }
    const uint32_t x = b->point[0][i] >> 1, y = b->point[1][i] >> 1;
    uint64_t far[2] = {UINT64_MAX, UINT64_MAX};
    for (uint32_t v = 0; v < s->n; v++) {
        const uint64_t squared = plane_squared(s, x, y, v);
        if (squared < far[0]) {
            far[1] = far[0];
            two[1] = two[0];
            far[0] = squared;
            two[0] = v;
        } else if (squared < far[1]) {
            far[1] = squared;
            two[1] = v;
        }
    }
}

static const char *const spaces[] = {
    "plane n=1",
    "plane n=2",
    "plane n=9 torus=false",
    "plane n=300",
    "plane n=64 servers=grid",
    "arcs n=1",
    "arcs n=2 virtual=3",
    "arcs n=300",
    "arcs n=40 virtual=7",
};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static void test_certain(void **state) {
    (void)state;
    for (unsigned i = 0; i < LENGTH(spaces); i++)
        for (unsigned spot = 0; spot < 2; spot++)
            for (unsigned ties = TIES_FAIR; ties <= TIES_ORIGIN; ties++) {
                struct drawing d;
                assert_true(
                    ready(&d, level_best(), spaces[i], spot ? "spot" : "nearest", (enum ties)ties));
                assert_true(d.sampler.origin_first);
                assert_int_equal(d.sampler.candidates, spot && d.sampler.n > 1 ? 2 : 1);
                draw(&d, 5, 3 * BLOCK, BLOCK);
                for (uint32_t j = 0; j < BLOCK; j++) {
                    uint32_t two[2];
                    two_of_all(d.sampler.space.sites, &d.block, j, two);
                    assert_int_equal(d.block.origin[j], two[0]);
                    if (d.sampler.candidates == 2)
                        assert_int_equal(d.block.candidate[1][j], two[1]);
                }
                done(&d);
            }
}

static void test_bounded(void **state) {
    struct drawing d;
    (void)state;
    assert_true(ready(&d, level_best(), "arcs n=40 virtual=3", "bounded epsilon=0.25", TIES_FAIR));
    assert_true(d.sampler.walks && d.sampler.epsilon == 0.25 && d.sampler.candidates == 1);
    const struct sites *s = d.sampler.space.sites;
    draw(&d, 1, 0, BLOCK);
    for (uint32_t j = 0; j < BLOCK; j++) {
        const uint32_t at = d.block.candidate[0][j];
        const uint64_t point = circle_point_of(&d.block, j);
        assert_true(s->position[at] >= point || (at == 0 && s->position[s->ids - 1] < point));
        assert_true(at == 0 || s->position[at - 1] < point);
        assert_int_equal(s->owner[at], d.block.origin[j]);
    }
    done(&d);
}

/* The ranks of two candidates of a point, by distance, then by number. */
static uint32_t rank_of(const struct sites *s, const uint32_t *point, uint32_t server) {
    const uint64_t squared = plane_squared(s, point[0] >> 1, point[1] >> 1, server);
    uint32_t rank = 0;
    for (uint32_t v = 0; v < s->n; v++) {
        const uint64_t other = plane_squared(s, point[0] >> 1, point[1] >> 1, v);
        rank += other < squared || (other == squared && v < server);
    }
    return rank;
}

/* P(rank a is drawn first, rank b then) of two of the k nearest to a point. */
static double drawn_probability(const struct sites *s, const uint32_t *point, uint32_t k,
                                bool weighted, uint32_t a, uint32_t b) {
    double weight[SERVERS_MOST] = {0}, first = 0, second = 0;
    if (a == b || a >= k || b >= k)
        return 0;
    for (uint32_t v = 0; v < s->n; v++) {
        const uint64_t squared = plane_squared(s, point[0] >> 1, point[1] >> 1, v);
        /* Distance 0 outweighs all: 1e-9 of a unit stands for it. */
        weight[rank_of(s, point, v)] = weighted ? 1 / (squared ? (double)squared : 1e-18) : 1;
    }
    for (uint32_t j = 0; j < k; j++) {
        first += weight[j];
        second += j == a ? 0 : weight[j];
    }
    return weight[a] / first * weight[b] / second;
}

/* Ties are fair: either of the two is as likely to stand first. */
static void check_pairs(struct drawing *d, uint32_t k, bool weighted, uint32_t replication) {
    static uint64_t seen[SERVERS_MOST * SERVERS_MOST];
    static double expected[SERVERS_MOST * SERVERS_MOST];
    const struct sites *s = d->sampler.space.sites;
    const uint32_t n = d->sampler.n;
    memset(seen, 0, sizeof seen);
    for (uint64_t first = 0; first < JOBS; first += BLOCK) {
        draw(d, replication, first, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++)
            seen[rank_of(s, d->fixed, d->block.candidate[0][i]) * n +
                 rank_of(s, d->fixed, d->block.candidate[1][i])]++;
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            expected[a * n + b] = JOBS * 0.5 *
                                  (drawn_probability(s, d->fixed, k, weighted, a, b) +
                                   drawn_probability(s, d->fixed, k, weighted, b, a));
    assert_fits(seen, expected, (uint64_t)n * n);
}

/* A point anywhere, one at a server, and one where two servers stand. */
static void test_pairs(void **state) {
    static const uint32_t counts[] = {2, 3, 5, 8};
    uint32_t replication = 100;
    (void)state;
    for (unsigned c = 0; c < LENGTH(counts); c++)
        for (unsigned weighted = 0; weighted < 2; weighted++)
            for (unsigned place = 0; place < 3; place++) {
                struct drawing d;
                char policy[40];
                uint32_t point[2] = {0x12345678, 0x87654321};
                snprintf(policy, sizeof policy, "%s k=%u", weighted ? "invsq-pot" : "unif-pot",
                         counts[c]);
                assert_true(ready(&d, level_best(),
                                  place == 1 ? "plane n=8 torus=false" : "plane n=8", policy,
                                  TIES_FAIR));
                assert_false(d.sampler.origin_first);
                struct sites *s = d.sampler.space.sites;
                d.fixed = point;
                if (place > 0) {
                    point[0] = s->x[5] << 1 | 1;
                    point[1] = s->y[5] << 1;
                }
                if (place == 2) { /* server 2 moves to server 5 */
                    uint32_t *x = allocate(8, sizeof *x), *y = allocate(8, sizeof *y);
                    memcpy(x, s->x, 8 * sizeof *x);
                    memcpy(y, s->y, 8 * sizeof *y);
                    x[2] = x[5];
                    y[2] = y[5];
                    sites_free(s);
                    d.sampler.space.sites = plane_new(8, true, x, y);
                }
                check_pairs(&d, counts[c], weighted, replication++);
                done(&d);
            }
}

/* Whoever is blind to the point: all servers, distinct for `pot`; origins are uniform on a grid. */
static void test_blind(void **state) {
    static const char *const some[] = {"pot", "choices", "choices distinct=true", "unif-pot k=4"};
    (void)state;
    for (unsigned p = 0; p < LENGTH(some); p++) {
        uint64_t seen[64] = {0};
        double expected[64];
        struct drawing d;
        assert_true(ready(&d, level_best(), "plane n=4 servers=grid", some[p], TIES_FAIR));
        for (uint64_t first = 0; first < JOBS; first += BLOCK) {
            const struct block *b = &d.block;
            draw(&d, 200 + p, first, BLOCK);
            for (uint32_t i = 0; i < BLOCK; i++)
                seen[b->origin[i] * 16 + b->candidate[0][i] * 4 + b->candidate[1][i]]++;
        }
        for (uint32_t c = 0; c < 64; c++)
            expected[c] = p == 1 ? JOBS / 64.0 : c / 4 % 4 == c % 4 ? 0 : JOBS / 48.0;
        assert_fits(seen, expected, 64);
        done(&d);
    }
}

/* d points fall like one: on the grid all servers alike, on the circle by their shares. */
static void test_points(void **state) {
    static const char *const some[] = {"plane n=9 servers=grid", "arcs n=6", "arcs n=5 virtual=3"};
    (void)state;
    for (unsigned t = 0; t < LENGTH(some); t++)
        for (unsigned d = 2; d <= 3; d++) {
            static uint64_t seen[729];
            static double expected[729];
            struct drawing w;
            char policy[20];
            snprintf(policy, sizeof policy, "points d=%u", d);
            assert_true(ready(&w, level_best(), some[t], policy, TIES_FAIR));
            assert_int_equal(w.sampler.candidates, d);
            const uint32_t n = w.sampler.n, cells = d == 2 ? n * n : n * n * n;
            memset(seen, 0, sizeof seen);
            for (uint64_t first = 0; first < JOBS; first += BLOCK) {
                draw(&w, 300 + t, first, BLOCK);
                for (uint32_t i = 0; i < BLOCK; i++) {
                    uint32_t cell = 0;
                    for (unsigned c = 0; c < d; c++)
                        cell = cell * n + w.block.candidate[c][i];
                    seen[cell]++;
                }
            }
            for (uint32_t cell = 0; cell < cells; cell++) {
                expected[cell] = JOBS;
                for (uint32_t c = 0, rest = cell; c < d; c++, rest /= n)
                    expected[cell] *=
                        w.sampler.space.form == FORM_PLANE
                            ? 1.0 / n
                            : (double)w.sampler.space.sites->share[rest % n] * 0x1p-64;
            }
            assert_fits(seen, expected, cells);
            done(&w);
        }
}

/* Fair ties are fair to the job's own point among three and more: it stands anywhere. */
static void test_own_place(void **state) {
    enum { D = 5 };
    struct drawing d;
    uint64_t seen[D] = {0}, jobs = 0;
    double expected[D];
    (void)state;
    assert_true(ready(&d, level_best(), "plane n=20000", "points d=5", TIES_FAIR));
    assert_false(d.sampler.origin_first);
    for (uint64_t first = 0; first < 20 * BLOCK; first += BLOCK) {
        draw(&d, 400, first, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++) {
            unsigned places = 0, place = 0;
            for (unsigned c = 0; c < D; c++)
                if (d.block.candidate[c][i] == d.block.origin[i]) {
                    places++;
                    place = c;
                }
            assert_true(places > 0);
            jobs += places == 1;
            seen[place] += places == 1;
        }
    }
    for (unsigned c = 0; c < D; c++)
        expected[c] = (double)jobs / D;
    assert_fits(seen, expected, D);
    done(&d);
}

/* The candidates of job i in rising order. */
static void sorted(const struct drawing *d, uint32_t i, uint32_t *c) {
    for (unsigned j = 0; j < d->sampler.candidates; j++) {
        unsigned at = j;
        for (; at > 0 && c[at - 1] > d->block.candidate[j][i]; at--)
            c[at] = c[at - 1];
        c[at] = d->block.candidate[j][i];
    }
}

/* Other rules for ties reorder what is drawn and change nothing else. */
static void check_order(const char *space, const char *policy, enum ties ties) {
    struct drawing fair, other;
    assert_true(ready(&fair, level_best(), space, policy, TIES_FAIR));
    assert_true(ready(&other, level_best(), space, policy, ties));
    assert_int_equal(fair.sampler.candidates, other.sampler.candidates);
    const uint64_t *share = other.sampler.space.sites->share;
    draw(&fair, 9, 0, BLOCK);
    draw(&other, 9, 0, BLOCK);
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t a[CANDIDATES_MAX], b[CANDIDATES_MAX];
        const unsigned count = fair.sampler.candidates;
        sorted(&fair, i, a);
        sorted(&other, i, b);
        assert_memory_equal(a, b, count * sizeof *a);
        for (unsigned c = 1; c < count; c++) {
            const uint32_t v = other.block.candidate[c][i];
            if (ties == TIES_ORIGIN && v == other.block.origin[i])
                assert_int_equal(other.block.candidate[0][i], v);
            if (ties == TIES_SMALLER_ARC)
                assert_true(share[other.block.candidate[c - 1][i]] <= share[v]);
        }
    }
    if (ties == TIES_SMALLER_ARC && other.sampler.candidates > 1)
        assert_false(other.sampler.origin_first);
    done(&fair);
    done(&other);
}

static const char *const on_plane[] = {
    "nearest",        "spot",          "pot",           "choices d=3",   "unif-pot k=1",
    "unif-pot k=2",   "unif-pot k=30", "unif-pot k=64", "invsq-pot k=1", "invsq-pot k=2",
    "invsq-pot k=30", "points d=1",    "points",        "points d=4",    "points d=32"};
static const char *const on_arcs[] = {"nearest", "spot",       "points d=1",
                                      "points",  "points d=3", "bounded epsilon=0"};
static const char *const plane_spaces[] = {"plane n=64 servers=grid", "plane n=500",
                                           "plane n=100 torus=false"};
static const char *const arcs_spaces[] = {"arcs n=50", "arcs n=20 virtual=5"};

static void test_orders(void **state) {
    (void)state;
    for (unsigned p = 0; p < LENGTH(on_plane); p++)
        for (unsigned t = 0; t < LENGTH(plane_spaces); t++)
            check_order(plane_spaces[t], on_plane[p], TIES_ORIGIN);
    for (unsigned p = 0; p + 1 < LENGTH(on_arcs); p++)
        for (unsigned t = 0; t < LENGTH(arcs_spaces); t++)
            for (unsigned ties = TIES_ORIGIN; ties <= TIES_SMALLER_ARC; ties++)
                check_order(arcs_spaces[t], on_arcs[p], (enum ties)ties);
}

static void assert_same(const struct drawing *a, const struct drawing *b, uint32_t size) {
    assert_int_equal(a->sampler.candidates, b->sampler.candidates);
    assert_memory_equal(a->block.origin, b->block.origin, size * sizeof(uint32_t));
    for (unsigned c = 0; c < a->sampler.candidates; c++)
        assert_memory_equal(a->block.candidate[c], b->block.candidate[c], size * sizeof(uint32_t));
}

/* The same bits at every level, and the beginning of a block in a short one. */
static void check_levels(const char *space, const char *policy, enum ties ties) {
    struct drawing base, other;
    assert_true(ready(&base, LEVEL_BASELINE, space, policy, ties));
    draw(&base, 7, 5 * BLOCK, BLOCK);
    for (int level = LEVEL_BASELINE; level <= (int)level_best(); level++)
        for (uint32_t size = 333; size <= BLOCK; size += BLOCK - 333) {
            assert_true(ready(&other, (enum level)level, space, policy, ties));
            draw(&other, 7, 5 * BLOCK, size);
            assert_same(&base, &other, size);
            done(&other);
        }
    done(&base);
}

static void test_levels(void **state) {
    (void)state;
    for (unsigned ties = TIES_FAIR; ties <= TIES_SMALLER_ARC; ties++) {
        for (unsigned p = 0; p < LENGTH(on_plane) && ties < TIES_SMALLER_ARC; p++)
            for (unsigned t = 0; t < LENGTH(plane_spaces); t++)
                check_levels(plane_spaces[t], on_plane[p], (enum ties)ties);
        for (unsigned p = 0; p < LENGTH(on_arcs); p++)
            for (unsigned t = 0; t < LENGTH(arcs_spaces); t++)
                check_levels(arcs_spaces[t], on_arcs[p], (enum ties)ties);
    }
}

static void test_refused(void **state) {
    static const char *const some[] = {"unif-pot k=10", "invsq-pot k=10",
                                       "unif-pot k=3 self=included", "choices d=10 distinct=true"};
    struct drawing d;
    (void)state;
    for (unsigned p = 0; p < LENGTH(some); p++)
        assert_false(ready(&d, level_best(), "plane n=9", some[p], TIES_FAIR));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_certain, name_culprit),
        cmocka_unit_test_teardown(test_bounded, name_culprit),
        cmocka_unit_test_teardown(test_pairs, name_culprit),
        cmocka_unit_test_teardown(test_blind, name_culprit),
        cmocka_unit_test_teardown(test_points, name_culprit),
        cmocka_unit_test_teardown(test_own_place, name_culprit),
        cmocka_unit_test_teardown(test_orders, name_culprit),
        cmocka_unit_test_teardown(test_levels, name_culprit),
        cmocka_unit_test_teardown(test_refused, name_culprit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
