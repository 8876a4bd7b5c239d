/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies draw. On small spaces the joint law of origin and candidates is compared with the
 * law computed here from igraph's distances; on large ones the law of the hops. All levels must
 * draw the same bits. */
#include "sampler.h"

#include "by_hand.h"
#include "chance.h"
#include "igraph_bridge.h"
#include "near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Cells expect 50 jobs and more, so one whose probability is off by the factor 1 +- 1 makes a
 * chi-square of 50 more; in the laws by distance, cells expect thousands and 10 % are enough. */
enum { COMPARISONS = 4000, JOBS_A_CELL = 50, JOBS_MOST = 250000, JOBS_LEAST = 20000 };
enum { GUARD = 64, SMALL = 16, DRAWN_MOST = 16 };
static const double TAIL = 1e-4 / COMPARISONS;
static const uint32_t UNTOUCHED = 0xdeadbeef;
static unsigned compared;
static char current[300];

static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

static void assert_likely(double tail) {
    compared++;
    assert_true(compared <= COMPARISONS);
    assert_true(tail >= 0); /* else something impossible happened */
    if (tail <= TAIL)
        fail_msg("as unlikely as %g", tail);
}

/* A policy on a space, ready to draw, with arrays that show writes beyond their ends. */
struct drawing {
    struct by_hand topology, policy;
    struct sampler sampler;
    struct sampler_facts facts;
    struct block block;
    uint32_t *array[DRAWN_MOST];
    void *memory; /* the policy's own */
    uint64_t rounds;
};

static void describe(struct drawing *d, const char *topology) {
    struct reason why;
    unsigned at = 0;
    const struct topology *t = topology_of(by_hand(&d->topology, &topologies, topology));
    assert_true(t->describe(d->topology.value, &d->sampler.space, &why, &at));
}

static bool ready(struct drawing *d, enum level level, const char *topology, const char *policy,
                  bool origin_wins) {
    struct reason why = {""};
    unsigned at = 0;
    *d = (struct drawing){.rounds = 0};
    snprintf(current, sizeof current, "%s on %s, ties %s, level %s", policy, topology,
             origin_wins ? "origin" : "fair", level_name[level]);
    describe(d, topology);
    const struct policy *p = policy_of(by_hand(&d->policy, policies_at(level), policy));
    d->sampler.budget = UINT64_MAX;
    if (!p->examine(d->policy.value, &d->sampler.space, UINT64_MAX, &d->facts, &why, &at)) {
        assert_true(strlen(why.text) > 10);
        current[0] = '\0';
        return false;
    }
    d->sampler.policy = p;
    d->sampler.n = (uint32_t)d->sampler.space.n;
    d->sampler.ties = origin_wins ? TIES_ORIGIN : TIES_FAIR;
    assert_true(p->prepare(d->policy.value, &d->sampler, &why));
    assert_int_equal(d->facts.draws, d->sampler.draws);
    assert_true(d->sampler.candidates >= 1 && d->sampler.draws + 3 <= DRAWN_MOST);
    for (unsigned i = 0; i < d->sampler.draws + 3; i++)
        d->array[i] = allocate(BLOCK + GUARD, sizeof *d->array[i]);
    d->memory = allocate(d->sampler.memory + 1, 1);
    return true;
}

static void done(struct drawing *d) {
    for (unsigned i = 0; i < DRAWN_MOST; i++)
        free(d->array[i]);
    free(d->memory);
    near_free_baseline(d->sampler.near);
    current[0] = '\0';
}

/* Draws jobs first .. first+size-1 into arrays full of rubbish. */
static void draw(struct drawing *d, uint32_t replication, uint64_t first, uint32_t size) {
    struct block *b = &d->block;
    const struct stream stream = {rng_key(20261129, d->topology.text), replication};
    for (unsigned i = 0; i < d->sampler.draws + 3; i++)
        for (uint32_t j = 0; j < BLOCK + GUARD; j++)
            d->array[i][j] = UNTOUCHED;
    *b = (struct block){.first = first, .size = size, .memory = d->memory};
    b->origin = d->array[0];
    b->hop = d->array[1];
    b->scratch = d->array[2];
    for (unsigned i = 0; i < d->sampler.draws; i++)
        b->raw[i] = d->array[3 + i];
    block_draw(&d->sampler, stream, b);
    for (unsigned i = 0; i < d->sampler.draws + 3; i++)
        for (uint32_t j = BLOCK; j < BLOCK + GUARD; j++)
            assert_int_equal(d->array[i][j], UNTOUCHED);
    bool inside = true, exact = true;
    for (unsigned c = 0; c < d->sampler.candidates; c++)
        for (uint32_t i = 0; i < size; i++)
            inside = inside && b->candidate[c][i] < d->sampler.n && b->origin[i] < d->sampler.n;
    assert_true(inside);
    if (d->sampler.origin_first)
        assert_memory_equal(b->candidate[0], b->origin, size * sizeof *b->origin);
    for (uint32_t i = 0; d->sampler.gives_hop && i < size; i++)
        exact = exact &&
                b->hop[i] == space_distance(&d->sampler.space, b->origin[i], b->candidate[1][i]);
    assert_true(exact);
}

/* A law of tuples (origin, candidates): probabilities by mixed-radix index. What `origin_first`
 * implies is left out of the tuple; without `with_origin` so is the origin. */
struct law {
    unsigned n, length;
    bool with_origin, sorted;
    uint64_t cells;
    double *p;
    int64_t hops[SMALL][SMALL];
};

/* Ties to the origin: it stands first if it was drawn, the others may stand in any order. */
static void canonical(uint32_t u, uint32_t *c, unsigned d) {
    for (unsigned i = 1; i < d; i++)
        for (unsigned j = i; j > 0; j--) {
            const bool before = c[j - 1] != u && (c[j] == u || c[j] < c[j - 1]);
            if (!before)
                break;
            const uint32_t x = c[j];
            c[j] = c[j - 1];
            c[j - 1] = x;
        }
}

static uint64_t cell(const struct law *l, uint32_t u, const uint32_t *c) {
    uint32_t sorted[4];
    uint64_t index = l->with_origin ? u : 0;
    memcpy(sorted, c, l->length * sizeof *c);
    if (l->sorted)
        canonical(u, sorted, l->length);
    for (unsigned i = 0; i < l->length; i++)
        index = index * l->n + sorted[i];
    return index;
}

static double near_weight(const struct law *l, const struct drawing *d, uint32_t u, uint32_t v) {
    const struct by_hand *p = &d->policy;
    const int64_t h = l->hops[u][v];
    if (!strcmp(p->entry.kind->name, "pot"))
        return h > 0;
    if (!strcmp(p->entry.kind->name, "edge"))
        return h == 1;
    if (!strcmp(p->entry.kind->name, "invsq-pot"))
        return h > 0 && (uint64_t)h <= p->value[0].count ? 1.0 / (double)(h * h) : 0;
    return ((h > 0 || p->value[1].word) && (uint64_t)h <= p->value[0].count) ? 1 : 0;
}

/* The origin, and one other by weight; for `edge` all ordered ends together. */
static void law_of_near(struct law *l, const struct drawing *d) {
    const bool edge = !strcmp(d->policy.entry.kind->name, "edge");
    double all = 0;
    for (uint32_t u = 0; u < l->n; u++)
        for (uint32_t v = 0; v < l->n; v++)
            all += near_weight(l, d, u, v);
    for (uint32_t u = 0; u < l->n; u++) {
        double total = 0;
        for (uint32_t v = 0; v < l->n; v++)
            total += near_weight(l, d, u, v);
        for (uint32_t v = 0; v < l->n; v++)
            l->p[cell(l, u, &v)] += near_weight(l, d, u, v) / (edge ? all : total * l->n);
    }
}

/* Probability of a tuple of a policy that does not look at the origin. */
static double blind_weight(const struct law *l, const struct drawing *d, const uint32_t *c) {
    const struct by_hand *p = &d->policy;
    const double n = l->n;
    double weight = 1;
    if (!strcmp(p->entry.kind->name, "one-plus-beta"))
        return (p->value[0].real / n + (1 - p->value[0].real) * (c[0] == c[1])) / n;
    for (unsigned i = 0; i < l->length; i++) {
        const unsigned from = i * l->n / l->length, end = (i + 1) * l->n / l->length;
        const bool left = !strcmp(p->entry.kind->name, "left"), distinct = p->value[1].real != 0;
        if (left)
            weight *= c[i] >= from && c[i] < end ? 1.0 / (end - from) : 0;
        else
            weight /= distinct ? n - i : n;
        for (unsigned j = 0; !left && distinct && j < i; j++)
            weight *= c[j] != c[i];
    }
    return weight;
}

static void law_of_blind(struct law *l, const struct drawing *d) {
    uint64_t tuples = 1;
    for (unsigned i = 0; i < l->length; i++)
        tuples *= l->n;
    for (uint32_t u = 0; u < l->n; u++)
        for (uint64_t t = 0; t < tuples; t++) {
            uint32_t c[4];
            for (uint64_t i = 0, rest = t; i < l->length; i++, rest /= l->n)
                c[i] = (uint32_t)(rest % l->n);
            l->p[cell(l, u, c)] += blind_weight(l, d, c) / l->n;
        }
}

static void law_of(struct law *l, const struct drawing *d) {
    const struct sampler *s = &d->sampler;
    struct reason why;
    *l = (struct law){.n = s->n, .length = s->candidates - s->origin_first};
    l->sorted = s->ties == TIES_ORIGIN && !s->origin_first &&
                strcmp(d->policy.entry.kind->name, "left") != 0;
    l->cells = 1;
    for (unsigned i = 0; i < l->length; i++)
        l->cells *= l->n;
    l->with_origin = s->origin_first || l->sorted || l->cells * l->n <= 6000;
    l->cells *= l->with_origin ? l->n : 1;
    l->p = allocate(l->cells, sizeof *l->p);
    struct edges *e =
        topology_of(&d->topology.entry)->build(d->topology.value, (struct stream){0}, 0, &why);
    assert_non_null(e);
    for (uint64_t u = 0; u < l->n; u++)
        assert_true(bridge_distances(e, u, l->hops[u], &why));
    edges_free(e);
    if (!strcmp(d->policy.entry.kind->name, "one-choice"))
        for (uint32_t u = 0; u < l->n; u++)
            l->p[u] = 1.0 / l->n;
    else if (s->origin_first)
        law_of_near(l, d);
    else
        law_of_blind(l, d);
}

static void check_law(struct drawing *d, uint32_t replication) {
    struct law l;
    law_of(&l, d);
    uint64_t possible = 0, jobs, *seen = allocate(l.cells, sizeof *seen);
    double all = 0;
    for (uint64_t i = 0; i < l.cells; i++) {
        possible += l.p[i] > 0;
        all += l.p[i];
    }
    assert_true(fabs(all - 1) < 1e-12);
    jobs = possible * JOBS_A_CELL;
    jobs = jobs < JOBS_LEAST ? JOBS_LEAST : jobs > JOBS_MOST ? JOBS_MOST : jobs;
    for (uint64_t first = 0; first < jobs; first += BLOCK) {
        const struct block *b = &d->block;
        draw(d, replication, first, jobs - first < BLOCK ? (uint32_t)(jobs - first) : BLOCK);
        for (uint32_t i = 0; i < b->size; i++) {
            uint32_t c[4] = {0};
            bool has_origin = false;
            for (unsigned j = 0; j < l.length; j++) {
                c[j] = b->candidate[j + d->sampler.origin_first][i];
                has_origin = has_origin || c[j] == b->origin[i];
            }
            if (l.sorted && has_origin)
                assert_int_equal(c[0], b->origin[i]);
            seen[cell(&l, b->origin[i], c)]++;
        }
    }
    for (uint64_t i = 0; i < l.cells; i++)
        l.p[i] *= (double)jobs;
    assert_likely(fit_tail(seen, l.p, l.cells));
    free(seen);
    free(l.p);
}

static const char *const small_spaces[] = {
    "ring n=7",
    "ring n=8",
    "ring n=2",
    "ring n=3",
    "torus sides=3x4",
    "torus sides=2x2x3",
    "torus sides=1x5",
    "torus sides=2x4",
    "grid sides=3x4",
    "grid sides=2x5x1",
    "grid sides=2x3x2",
    "grid sides=2x2",
    "line n=6",
    "line n=2",
    "hypercube dim=4",
    "hypercube dim=1",
    "star n=6",
    "star n=3",
    "tree n=13 children=3",
    "tree n=7",
    "complete n=5",
    "complete n=2",
};
static const char *const policies[] = {
    "one-choice",
    "choices d=1",
    "choices d=2",
    "choices d=3",
    "choices d=1 distinct=true",
    "choices d=2 distinct=true",
    "choices d=3 distinct=true",
    "pot",
    "unif-pot k=1",
    "unif-pot k=2",
    "unif-pot k=3",
    "unif-pot k=4",
    "unif-pot k=4000000000",
    "unif-pot k=1 self=included",
    "unif-pot k=2 self=included",
    "unif-pot k=3 self=included",
    "unif-pot k=9 self=included",
    "invsq-pot k=1",
    "invsq-pot k=2",
    "invsq-pot k=3",
    "invsq-pot k=4",
    "invsq-pot k=4000000000",
    "edge",
    "left d=1",
    "left d=2",
    "left d=3",
    "one-plus-beta beta=0",
    "one-plus-beta beta=0.3",
    "one-plus-beta beta=0.5",
    "one-plus-beta beta=1",
};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

static void test_laws(void **state) {
    uint32_t replication = 0;
    unsigned refused = 0;
    (void)state;
    for (unsigned s = 0; s < LENGTH(small_spaces); s++)
        for (unsigned p = 0; p < LENGTH(policies); p++)
            for (unsigned ties = 0; ties < 2; ties++) {
                struct drawing d;
                if (!ready(&d, level_best(), small_spaces[s], policies[p], ties)) {
                    refused++;
                    continue;
                }
                check_law(&d, replication++);
                done(&d);
            }
    /* On two servers: three distinct choices, left[3]. */
    assert_int_equal(refused, 4 * 2 * 2);
    assert_true(compared > 1200);
}

/* Spaces whose tables are long, and borders of all kinds. */
static const char *const large_spaces[] = {
    "ring n=1001",       "ring n=1000",      "torus sides=40x41",     "torus sides=2x500",
    "torus sides=7x8x9", "grid sides=30x31", "grid sides=200x2",      "grid sides=6x7x8",
    "line n=900",        "hypercube dim=11", "tree n=300 children=3", "tree n=1000",
    "star n=300",        "complete n=1000",  "grid sides=3x4x3x4x3",  "torus sides=3x4x3x4x5",
};
static const char *const near_policies[] = {
    "unif-pot k=1",  "unif-pot k=2 self=included", "unif-pot k=7", "invsq-pot k=1",
    "invsq-pot k=5", "invsq-pot k=1000000",
};

/* P(hop = h) for a uniform origin, h = 0..reach, from the shells of every vertex. */
static void law_of_hops(const struct drawing *d, uint64_t reach, double *p) {
    const struct space *s = &d->sampler.space;
    const bool weighted = !strcmp(d->policy.entry.kind->name, "invsq-pot");
    uint64_t *shell = allocate(reach, sizeof *shell);
    for (uint64_t u = 0; u < s->n; u++) {
        double total = !weighted && d->policy.value[1].word;
        if (u == 0 || !s->transitive)
            space_shells(s, u, reach, shell);
        for (uint64_t h = 1; h <= reach; h++)
            total += (double)shell[h - 1] / (weighted ? (double)(h * h) : 1);
        p[0] += !weighted && d->policy.value[1].word ? 1 / total / (double)s->n : 0;
        for (uint64_t h = 1; h <= reach; h++)
            p[h] += (double)shell[h - 1] / (weighted ? (double)(h * h) : 1) / total / (double)s->n;
    }
    free(shell);
}

static void check_hops(struct drawing *d, uint32_t replication) {
    enum { JOBS = 60000 };
    const struct space *s = &d->sampler.space;
    const uint64_t k = d->policy.value[0].count, reach = k < s->diameter ? k : s->diameter;
    double *p = allocate(reach + 1, sizeof *p);
    uint64_t *seen = allocate(reach + 1, sizeof *seen);
    law_of_hops(d, reach, p);
    for (uint64_t first = 0; first < JOBS; first += BLOCK) {
        const struct block *b = &d->block;
        draw(d, replication, first, JOBS - first < BLOCK ? (uint32_t)(JOBS - first) : BLOCK);
        for (uint32_t i = 0; i < b->size; i++) {
            const uint64_t h = space_distance(s, b->origin[i], b->candidate[1][i]);
            assert_true(h <= reach);
            seen[h]++;
        }
    }
    for (uint64_t h = 0; h <= reach; h++)
        p[h] *= JOBS;
    assert_likely(fit_tail(seen, p, reach + 1));
    free(seen);
    free(p);
}

static void test_hops(void **state) {
    uint32_t replication = 5000;
    (void)state;
    for (unsigned s = 0; s < LENGTH(large_spaces); s++)
        for (unsigned p = 0; p < LENGTH(near_policies); p++) {
            struct drawing d;
            assert_true(ready(&d, level_best(), large_spaces[s], near_policies[p], false));
            check_hops(&d, replication++);
            done(&d);
        }
}

/* Every direction is as likely as any other: the vector from origin to candidate on a torus. */
static void test_directions(void **state) {
    enum { EDGE = 31, JOBS = 400000 };
    static const char *const some[] = {"unif-pot k=6", "invsq-pot k=6"};
    (void)state;
    for (unsigned p = 0; p < LENGTH(some); p++) {
        struct drawing d;
        static uint64_t seen[EDGE * EDGE];
        static double expected[EDGE * EDGE];
        double total = 0;
        memset(seen, 0, sizeof seen);
        assert_true(ready(&d, level_best(), "torus sides=31x31", some[p], false));
        for (uint64_t first = 0; first < JOBS; first += BLOCK) {
            draw(&d, 6000 + p, first, BLOCK);
            for (uint32_t i = 0; i < BLOCK; i++) {
                const uint32_t u = d.block.origin[i], v = d.block.candidate[1][i];
                const uint32_t down = (v / EDGE + EDGE - u / EDGE) % EDGE;
                const uint32_t right = (v % EDGE + EDGE - u % EDGE) % EDGE;
                seen[down * EDGE + right]++;
            }
        }
        for (uint32_t v = 0; v < EDGE * EDGE; v++) {
            const double h = (double)space_distance(&d.sampler.space, 0, v);
            expected[v] = h < 1 || h > 6 ? 0 : p ? 1 / (h * h) : 1;
            total += expected[v];
        }
        for (uint32_t v = 0; v < EDGE * EDGE; v++)
            expected[v] *= (JOBS + BLOCK - 1) / BLOCK * BLOCK / total;
        assert_likely(fit_tail(seen, expected, EDGE * EDGE));
        done(&d);
    }
}

/* The same block at two levels. */
static void assert_same(const struct drawing *a, const struct drawing *b) {
    const size_t bytes = a->block.size * sizeof(uint32_t);
    assert_int_equal(a->sampler.candidates, b->sampler.candidates);
    assert_memory_equal(a->block.origin, b->block.origin, bytes);
    for (unsigned c = 0; c < a->sampler.candidates; c++)
        assert_memory_equal(a->block.candidate[c], b->block.candidate[c], bytes);
    assert_int_equal(a->sampler.gives_hop, b->sampler.gives_hop);
    if (a->sampler.gives_hop)
        assert_memory_equal(a->block.hop, b->block.hop, bytes);
}

static void compare_levels(const char *space, const char *policy, bool origin_wins) {
    static const struct {
        uint64_t first;
        uint32_t size;
    } blocks[] = {
        {0, BLOCK}, {BLOCK, 1}, {BLOCK, 777}, {5 * BLOCK, 64}, {(uint64_t)BLOCK << 32, 65}};
    struct drawing base, other;
    for (int level = LEVEL_AVX2; level <= (int)level_best(); level++) {
        if (!ready(&base, LEVEL_BASELINE, space, policy, origin_wins))
            return;
        assert_true(ready(&other, (enum level)level, space, policy, origin_wins));
        for (unsigned i = 0; i < LENGTH(blocks); i++) {
            draw(&base, 7 + i, blocks[i].first, blocks[i].size);
            draw(&other, 7 + i, blocks[i].first, blocks[i].size);
            assert_same(&base, &other);
        }
        done(&base);
        done(&other);
    }
}

static void test_levels(void **state) {
    (void)state;
    for (unsigned p = 0; p < LENGTH(policies); p++)
        for (unsigned ties = 0; ties < 2; ties++) {
            for (unsigned s = 0; s < LENGTH(small_spaces); s++)
                compare_levels(small_spaces[s], policies[p], ties);
            for (unsigned s = 0; s < LENGTH(large_spaces); s++)
                compare_levels(large_spaces[s], policies[p], ties);
        }
}

/* A short block holds the beginning of a full one: nothing depends on how jobs are cut. */
static void test_prefixes(void **state) {
    (void)state;
    for (unsigned s = 0; s < LENGTH(large_spaces); s++)
        for (unsigned p = 0; p < LENGTH(policies); p++)
            for (uint32_t size = 1; size < BLOCK; size = size * 3 + 1) {
                struct drawing whole, part;
                assert_true(ready(&whole, level_best(), large_spaces[s], policies[p], size & 1));
                assert_true(ready(&part, level_best(), large_spaces[s], policies[p], size & 1));
                draw(&whole, 3, 4 * BLOCK, BLOCK);
                draw(&part, 3, 4 * BLOCK, size);
                whole.block.size = size;
                assert_same(&whole, &part);
                done(&whole);
                done(&part);
            }
}

/* Coordinates and offsets near 2^31. draw() checks ranges and hops. */
static void test_huge(void **state) {
    static const char *const huge[] = {
        "ring n=2147483647",         "ring n=2147483646",      "line n=2147483647",
        "torus sides=46340x46340",   "grid sides=46340x46340", "torus sides=2x1073741823",
        "torus sides=1073741823x2",  "grid sides=3x715827882", "torus sides=1290x1290x1290",
        "grid sides=1290x1290x1290", "hypercube dim=30",       "complete n=2147483647",
        "grid sides=2147483647x1",
    };
    static const char *const some[] = {
        "unif-pot k=3", "invsq-pot k=3", "unif-pot k=2 self=included", "pot",
        "edge",         "left d=3",      "choices d=3 distinct=true",  "choices d=2",
    };
    (void)state;
    for (unsigned s = 0; s < LENGTH(huge); s++)
        for (unsigned p = 0; p < LENGTH(some); p++) {
            struct drawing d;
            /* More edges than a word can number. */
            if (!strcmp(huge[s], "grid sides=1290x1290x1290") && !strcmp(some[p], "edge")) {
                assert_false(ready(&d, level_best(), huge[s], some[p], true));
                continue;
            }
            assert_true(ready(&d, level_best(), huge[s], some[p], true));
            for (uint64_t first = 0; first < 4 * BLOCK; first += BLOCK)
                draw(&d, 1, first, BLOCK);
            done(&d);
            compare_levels(huge[s], some[p], false);
        }
}

/* A server on its own takes everything, and nobody moves. */
static void test_alone(void **state) {
    static const char *const alone[] = {"complete n=1",   "ring n=1",      "line n=1",
                                        "grid sides=1x1", "torus sides=1", "hypercube dim=0",
                                        "star n=1",       "tree n=1"};
    static const char *const some[] = {"one-choice",
                                       "choices d=3",
                                       "pot",
                                       "unif-pot k=2",
                                       "unif-pot k=2 self=included",
                                       "invsq-pot k=3",
                                       "left d=1",
                                       "one-plus-beta beta=0.5",
                                       "choices d=1 distinct=true"};
    static const char *const refused[] = {"edge", "left d=2", "choices d=2 distinct=true"};
    struct drawing d;
    (void)state;
    for (unsigned s = 0; s < LENGTH(alone); s++) {
        for (unsigned p = 0; p < LENGTH(some); p++)
            for (unsigned ties = 0; ties < 2; ties++) {
                assert_true(ready(&d, level_best(), alone[s], some[p], ties));
                draw(&d, 0, 0, 100);
                done(&d);
                compare_levels(alone[s], some[p], ties);
            }
        for (unsigned p = 0; p < LENGTH(refused); p++)
            assert_false(ready(&d, level_best(), alone[s], refused[p], false));
    }
}

/* How often there are two choices, far into the tail of beta. */
static void test_beta(void **state) {
    static const char *const some[] = {"0", "0.0001", "0.25", "0.9999", "1"};
    static const double beta[] = {0, 0.0001, 0.25, 0.9999, 1};
    enum { N = 1000000, JOBS = 256 * BLOCK };
    (void)state;
    for (unsigned i = 0; i < LENGTH(some); i++) {
        struct drawing d;
        char policy[40];
        snprintf(policy, sizeof policy, "one-plus-beta beta=%s", some[i]);
        assert_true(ready(&d, level_best(), "complete n=1000000", policy, false));
        uint64_t seen[2] = {0, 0};
        for (uint64_t first = 0; first < JOBS; first += BLOCK) {
            draw(&d, 8000 + i, first, BLOCK);
            for (uint32_t j = 0; j < BLOCK; j++)
                seen[d.block.candidate[0][j] != d.block.candidate[1][j]]++;
        }
        const double two = beta[i] * (1 - 1.0 / N);
        const double expected[2] = {JOBS * (1 - two), JOBS * two};
        assert_likely(fit_tail(seen, expected, 2));
        done(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_laws, name_culprit),
        cmocka_unit_test_teardown(test_hops, name_culprit),
        cmocka_unit_test_teardown(test_directions, name_culprit),
        cmocka_unit_test_teardown(test_levels, name_culprit),
        cmocka_unit_test_teardown(test_prefixes, name_culprit),
        cmocka_unit_test_teardown(test_huge, name_culprit),
        cmocka_unit_test_teardown(test_alone, name_culprit),
        cmocka_unit_test_teardown(test_beta, name_culprit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
