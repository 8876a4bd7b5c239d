/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random neighbours on graphs edge by edge. On small graphs of several kinds, connected or not, each
 * way to draw must give the same servers and distances at every level, and their law must be that of
 * the policy, computed here from distances by relaxation. */
#include "hops.h"

#include "by_hand.h"
#include "chance.h"
#include "near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Pairs of servers expect 20 jobs on average, most of them 60: one whose probability is off by the
 * factor 1 +- 1 makes a chi-square of as many more. */
enum { COMPARISONS = 400, JOBS_A_CELL = 60, FAR = 1 << 20, LARGE = 160 };
static const double TAIL = 1e-4 / COMPARISONS;
static unsigned compared;
static char current[200];

static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

/* A graph, and the distances of all pairs (FAR: no path). */
struct known {
    const char *name;
    struct graph *graph;
    uint32_t *hops;
};

static uint32_t hops_of(const struct known *k, uint64_t u, uint64_t v) {
    return k->hops[u * k->graph->n + v];
}

enum family { EMPTY, PATH, STAR, SPARSE, DENSE, PREFERENTIAL, ARCHIPELAGO, CONTINENT, FAMILIES };
static const char *const family_name[] = {"empty", "path",         "star",        "sparse",
                                          "dense", "preferential", "archipelago", "continent"};

static void add(struct edges *e, uint64_t a, uint64_t b) {
    e->end[e->n_edges][0] = (uint32_t)a;
    e->end[e->n_edges++][1] = (uint32_t)b;
}

static uint32_t dice(uint64_t i, uint32_t below) {
    return rng_below((struct stream){17, 0}, PURPOSE_GRAPH, 0, i, below);
}

/* Loops and double edges are dropped by graph_new(). */
static struct graph *make(enum family family, uint32_t n) {
    struct edges e = {.n = n, .end = allocate(8 * (uint64_t)n + 1, sizeof *e.end)};
    for (uint32_t v = 1; v < n; v++) {
        if (family == PATH)
            add(&e, v - 1, v);
        if (family == STAR)
            add(&e, 0, v);
        if (family == SPARSE && v % 10 < 7) /* many are alone */
            add(&e, v, dice(v, n));
        for (uint32_t j = 0; j < 5 && family == DENSE; j++)
            add(&e, v, dice(5 * v + j, n));
        for (uint32_t j = 0; j < 2 && family == PREFERENTIAL; j++) /* an end of an earlier edge */
            add(&e, v, v < 3 ? 0 : e.end[dice(2 * v + j, (uint32_t)e.n_edges)][j]);
        for (uint32_t j = 0; j < 6 && family == ARCHIPELAGO && v < n - n / 8; j++)
            add(&e, v, dice(6 * v + j, n - n / 8));
        if (family == CONTINENT && v < n - n / 16)
            add(&e, 0, v);
        if ((family == ARCHIPELAGO || family == CONTINENT) && v >= n - n / 16 && v % 4 == 3)
            add(&e, v, v - 1); /* the others there are alone */
    }
    struct graph *g = graph_new(&e);
    free(e.end);
    return g;
}

/* Bellman and Ford's way, so that nothing is shared with what is tested. */
static void know(struct known *k, enum family family, uint32_t n) {
    struct graph *g = make(family, n);
    *k = (struct known){family_name[family], g, allocate(g->n * g->n, sizeof *k->hops)};
    for (uint64_t u = 0; u < g->n; u++) {
        uint32_t *hop = k->hops + u * g->n;
        for (uint64_t v = 0; v < g->n; v++)
            hop[v] = v == u ? 0 : FAR;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint64_t v = 0; v < g->n; v++)
                for (uint64_t i = g->first[v]; i < g->first[v + 1]; i++)
                    if (hop[g->neighbour[i]] + 1 < hop[v]) {
                        hop[v] = hop[g->neighbour[i]] + 1;
                        changed = true;
                    }
        }
    }
}

static void forget(struct known *k) {
    graph_free(k->graph);
    free(k->hops);
}

/* How a policy is to be played. */
struct play {
    enum level level;
    uint64_t budget, jobs;
    bool fresh;
};

struct drawing {
    struct by_hand policy;
    struct sampler sampler;
    struct block block;
    uint32_t *array;
    void *memory;
};

static void begin_in(struct drawing *d, const struct space *space, const char *policy,
                     const struct play *play) {
    const struct policy *p = policy_of(by_hand(&d->policy, policies_at(play->level), policy));
    struct sampler_facts facts;
    struct space described = *space;
    struct reason why;
    unsigned at = 0;
    described.graph = NULL; /* which is made later */
    assert_true(p->examine(d->policy.value, &described, play->budget, &facts, &why, &at));
    assert_true(strlen(facts.how) > 5 && facts.nanoseconds > 0);
    d->sampler = (struct sampler){.policy = p,
                                  .n = (uint32_t)space->n,
                                  .budget = play->budget,
                                  .jobs = play->jobs,
                                  .space = *space};
    assert_true(p->prepare(d->policy.value, &d->sampler, &why));
    assert_int_equal(facts.draws, d->sampler.draws);
    assert_true(d->sampler.origin_first);
    d->array = allocate(5 * BLOCK, sizeof *d->array);
    d->memory = allocate(1, d->sampler.memory + 1);
    d->block = (struct block){.origin = d->array,
                              .raw = {d->array + BLOCK, d->array + 2 * BLOCK},
                              .hop = d->array + 3 * BLOCK,
                              .scratch = d->array + 4 * BLOCK,
                              .memory = d->memory};
}

static void begin(struct drawing *d, const struct known *k, const char *policy,
                  const struct play *play) {
    const struct space space = {.form = FORM_GRAPH,
                                .n = k->graph->n,
                                .diameter = k->graph->n - 1,
                                .fresh = play->fresh,
                                .mean_degree = 4,
                                .branching = 3,
                                .connected = k->graph->components == 1,
                                .graph = k->graph};
    begin_in(d, &space, policy, play);
    assert_true(d->sampler.gives_hop);
}

static void end(struct drawing *d) {
    near_free_baseline(d->sampler.near);
    free(d->array);
    free(d->memory);
}

static enum way way_of(const struct drawing *d) {
    return d->sampler.near->graph.way;
}

static void draw(struct drawing *d, uint64_t first, uint32_t size) {
    d->block.first = first;
    d->block.size = size;
    block_draw(&d->sampler, (struct stream){99, 3}, &d->block);
}

/* Draws jobs 0 .. jobs-1 into pairs[][3]: origin, candidate, hops. */
static void draw_all(struct drawing *d, uint64_t jobs, uint32_t (*triple)[3]) {
    for (uint64_t first = 0; first < jobs; first += BLOCK) {
        draw(d, first, jobs - first < BLOCK ? (uint32_t)(jobs - first) : BLOCK);
        for (uint32_t i = 0; i < d->block.size; i++) {
            triple[first + i][0] = d->block.candidate[0][i];
            triple[first + i][1] = d->block.candidate[1][i];
            triple[first + i][2] = d->block.hop[i];
        }
    }
}

static const char *const policies[] = {"unif-pot k=1",
                                       "unif-pot k=2",
                                       "unif-pot k=4",
                                       "unif-pot k=9999",
                                       "invsq-pot k=1",
                                       "invsq-pot k=2",
                                       "invsq-pot k=5",
                                       "invsq-pot k=999999",
                                       "unif-pot k=1 self=included",
                                       "edge",
                                       "unif-pot k=3 self=included"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* Distances are right whatever is drawn. */
static void check_hops(const struct known *k, uint64_t jobs, uint32_t (*triple)[3]) {
    for (uint64_t i = 0; i < jobs; i++) {
        assert_true(triple[i][0] < k->graph->n && triple[i][1] < k->graph->n);
        assert_int_equal(triple[i][2], hops_of(k, triple[i][0], triple[i][1]));
    }
}

/* Everything that may not change a number: level, memory, how many jobs there are. */
static void check_same(const struct known *k, const char *policy, bool fresh, unsigned *ways) {
    static const uint64_t budgets[] = {0, 2000, UINT64_MAX};
    enum { JOBS = 2 * BLOCK + 77 };
    static const uint64_t jobs[] = {JOBS, 1 << 20};
    uint32_t(*first)[3] = allocate(JOBS, sizeof *first),
    (*other)[3] = allocate(JOBS, sizeof *other);
    bool one = false;
    for (unsigned level = LEVEL_BASELINE; level <= level_best(); level++)
        for (unsigned b = 0; b < 3; b++)
            for (unsigned j = 0; j < 2; j++) {
                struct drawing d;
                snprintf(current, sizeof current,
                         "%s on %s, n %u, fresh %d, %s, budget %u, jobs %u", policy, k->name,
                         (unsigned)k->graph->n, fresh, level_name[level], b, j);
                begin(&d, k, policy, &(struct play){level, budgets[b], jobs[j], fresh});
                draw_all(&d, JOBS, one ? other : first);
                *ways |= strcmp(policy, "edge") ? 1u << way_of(&d) : 0;
                *ways |= d.sampler.near->graph.hops.table ? 8 : 0;
                if (!one)
                    check_hops(k, JOBS, first);
                else
                    assert_memory_equal(first, other, JOBS * sizeof *first);
                one = true;
                end(&d);
            }
    free(first);
    free(other);
    current[0] = '\0';
}

static void test_same(void **state) {
    unsigned ways = 0;
    (void)state;
    for (enum family f = EMPTY; f < FAMILIES; f++)
        for (unsigned size = 0; size < 3; size++) {
            static const uint32_t sizes[] = {1, 60, LARGE};
            struct known k;
            know(&k, f, sizes[size]);
            for (unsigned p = 0; p < POLICIES; p++)
                if (strcmp(policies[p], "edge") || k.graph->n_edges > 0)
                    for (unsigned fresh = 0; fresh < 2; fresh++)
                        check_same(&k, policies[p], fresh, &ways);
            forget(&k);
        }
    assert_int_equal(ways, 1 << BY_LISTS | 1 << BY_SEARCHES | 1 << BY_REJECTION | 8);
}

static double weight(const struct known *k, const struct by_hand *p, uint64_t u, uint64_t v) {
    const uint32_t h = hops_of(k, u, v);
    if (!strcmp(p->entry.kind->name, "edge"))
        return h == 1;
    if (!strcmp(p->entry.kind->name, "invsq-pot"))
        return h > 0 && h < FAR && h <= p->value[0].count ? 1.0 / ((double)h * h) : 0;
    return (h > 0 || p->value[1].word) && h < FAR && h <= p->value[0].count;
}

/* Expected counts of all pairs (origin, candidate). */
static double *law(const struct known *k, const struct by_hand *p, double jobs) {
    const uint64_t n = k->graph->n;
    const bool edge = !strcmp(p->entry.kind->name, "edge");
    double *expected = allocate(n * n, sizeof *expected);
    for (uint64_t u = 0; u < n; u++) {
        double total = 0;
        for (uint64_t v = 0; v < n; v++)
            total += weight(k, p, u, v);
        for (uint64_t v = 0; v < n; v++)
            expected[u * n + v] =
                edge        ? jobs * weight(k, p, u, v) / (2.0 * (double)k->graph->n_edges)
                : total > 0 ? jobs * weight(k, p, u, v) / total / (double)n
                : u == v    ? jobs / (double)n /* nobody near: it stays */
                            : 0;
    }
    return expected;
}

static void check_law(const struct known *k, const char *policy, unsigned jobs_a_cell) {
    const uint64_t n = k->graph->n, jobs = jobs_a_cell * n * n;
    uint64_t *seen = allocate(n * n, sizeof *seen);
    struct drawing d;
    snprintf(current, sizeof current, "%s on %s, n %u", policy, k->name, (unsigned)n);
    begin(&d, k, policy, &(struct play){level_best(), UINT64_MAX, jobs, true});
    double *expected = law(k, &d.policy, (double)jobs);
    for (uint64_t first = 0; first < jobs; first += BLOCK) {
        draw(&d, first, jobs - first < BLOCK ? (uint32_t)(jobs - first) : BLOCK);
        for (uint32_t i = 0; i < d.block.size; i++)
            seen[d.block.candidate[0][i] * n + d.block.candidate[1][i]]++;
    }
    const double tail = fit_tail(seen, expected, n * n);
    compared++;
    assert_true(compared <= COMPARISONS);
    assert_true(tail >= 0); /* else something impossible happened */
    if (tail <= TAIL)
        fail_msg("as unlikely as %g", tail);
    free(seen);
    free(expected);
    end(&d);
    current[0] = '\0';
}

static void test_law(void **state) {
    (void)state;
    for (enum family f = EMPTY; f < FAMILIES; f++)
        for (unsigned large = 0; large < 2; large++) {
            struct known k;
            know(&k, f, large ? LARGE : 30);
            for (unsigned p = 0; p < POLICIES; p++)
                if (strcmp(policies[p], "edge") || k.graph->n_edges > 0)
                    check_law(&k, policies[p], JOBS_A_CELL);
            forget(&k);
        }
}

/* After so many failed attempts a job is drawn by rank, as all are that arrive where few are near:
 * in the law there is no trace of that. */
static void test_fallback(void **state) {
    static const char *const near[] = {"unif-pot k=4", "unif-pot k=2 self=included",
                                       "invsq-pot k=5"};
    struct known k;
    (void)state;
    know(&k, CONTINENT, 400);
    for (unsigned p = 0; p < 3; p++) {
        struct drawing d;
        unsigned ways = 0;
        begin(&d, &k, near[p], &(struct play){LEVEL_BASELINE, 0, BLOCK, true});
        assert_int_equal(way_of(&d), BY_REJECTION);
        draw(&d, 0, BLOCK);
        bool pair = false, hermit = false;
        for (uint32_t i = 0; i < BLOCK; i++) {
            const uint32_t degree = graph_degree(k.graph, d.block.origin[i]);
            hermit = hermit || degree == 0;
            pair = pair || (degree == 1 && d.block.hop[i] == 1 && d.block.candidate[1][i] > 0);
        }
        assert_true(pair && hermit);
        end(&d);
        check_same(&k, near[p], true, &ways);
        assert_int_equal(ways, 1 << BY_REJECTION | 8);
        check_law(&k, near[p], 20);
    }
    forget(&k);
}

/* Blocks may be played in any order, and each window more than once. */
static void test_windows(void **state) {
    struct known k;
    struct drawing d;
    static uint32_t whole[40 * BLOCK][3];
    (void)state;
    know(&k, PATH, 60);
    begin(&d, &k, "invsq-pot k=3", &(struct play){LEVEL_BASELINE, 0, 40 * BLOCK, false});
    assert_int_equal(way_of(&d), BY_SEARCHES);
    assert_true(d.sampler.near->graph.window < 40 * BLOCK);
    draw_all(&d, 40 * BLOCK, whole);
    for (unsigned i = 0; i < 40; i++) {
        const unsigned block = i * 7 % 40;
        draw(&d, block * BLOCK, BLOCK);
        for (uint32_t j = 0; j < BLOCK; j++)
            assert_int_equal(d.block.candidate[1][j], whole[block * BLOCK + j][1]);
    }
    end(&d);
    forget(&k);
}

/* Edges are numbered by their lower end, then by the higher. */
static void test_edges(void **state) {
    struct known k;
    struct drawing d;
    struct reason why = {""};
    (void)state;
    know(&k, SPARSE, 60);
    begin(&d, &k, "edge", &(struct play){LEVEL_BASELINE, 0, BLOCK, false});
    uint32_t(*ends)[2] = d.sampler.near->ends;
    assert_int_equal(d.sampler.range[0], k.graph->n_edges);
    for (uint64_t i = 0; i < k.graph->n_edges; i++) {
        assert_true(ends[i][0] < ends[i][1]);
        assert_int_equal(hops_of(&k, ends[i][0], ends[i][1]), 1);
        assert_true(i == 0 || ends[i - 1][0] < ends[i][0] ||
                    (ends[i - 1][0] == ends[i][0] && ends[i - 1][1] < ends[i][1]));
    }
    end(&d);
    forget(&k);
    know(&k, EMPTY, 5);
    struct sampler s = {.n = 5, .space = {.form = FORM_GRAPH, .n = 5, .graph = k.graph}};
    assert_false(policy_of(by_hand(&d.policy, policies_at(LEVEL_BASELINE), "edge"))
                     ->prepare(d.policy.value, &s, &why));
    assert_non_null(strstr(why.text, "edge"));
    forget(&k);
}

/* Trees: the same with and without memory. */
static void test_trees(void **state) {
    static const char *const trees[] = {"tree n=200", "tree n=121 children=3", "star n=50"};
    static const char *const near[] = {"unif-pot k=1", "unif-pot k=3", "invsq-pot k=4",
                                       "unif-pot k=1 self=included"};
    enum { JOBS = 2 * BLOCK };
    static uint32_t drawn[2][JOBS][3];
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct by_hand b;
        struct drawing d;
        struct space space;
        struct reason why;
        unsigned at = 0;
        const struct topology *t = topology_of(by_hand(&b, &topologies, trees[i / 4]));
        assert_true(t->describe(b.value, &space, &why, &at));
        for (unsigned rich = 0; rich < 2; rich++) {
            begin_in(&d, &space, near[i % 4],
                     &(struct play){level_best(), rich ? UINT64_MAX : 0, JOBS, false});
            if (d.sampler.near->form == NEAR_GRAPH)
                assert_int_equal(way_of(&d), rich ? BY_LISTS : BY_SEARCHES);
            draw_all(&d, JOBS, drawn[rich]);
            for (unsigned j = 0; j < JOBS && d.sampler.gives_hop; j++)
                assert_int_equal(drawn[rich][j][2],
                                 space_distance(&space, drawn[rich][j][0], drawn[rich][j][1]));
            end(&d);
        }
        if (i / 4 < 2)
            assert_memory_equal(drawn[0], drawn[1], sizeof drawn[0]);
    }
}

/* Hops of pairs: from the table and by searches. */
static void test_hops(void **state) {
    (void)state;
    for (enum family f = PATH; f < FAMILIES; f++) {
        struct known k;
        know(&k, f, LARGE);
        struct space space = {.form = FORM_GRAPH, .n = LARGE, .graph = k.graph, .mean_degree = 3};
        for (unsigned tabled = 0; tabled < 2; tabled++) {
            const uint64_t budget = tabled ? 2 * LARGE * LARGE : 2 * LARGE * LARGE - 1;
            struct hops h;
            assert_int_equal(hops_tabled_baseline(&space, budget), tabled);
            assert_int_equal(hops_bytes_baseline(&space, budget), tabled * 2 * LARGE * LARGE);
            assert_true(hops_nanoseconds_baseline(&space, budget) > 0);
            hops_prepare_baseline(&h, &space, budget);
            void *memory = allocate(1, hops_memory_baseline(&space, budget) + 1);
            for (uint32_t u = 0; u < LARGE; u++) {
                uint32_t from[LARGE], to[LARGE], hop[LARGE], pairs = 0;
                for (uint32_t v = 0; v < LARGE; v++)
                    if (hops_of(&k, u, v) < FAR) {
                        from[pairs] = u;
                        to[pairs++] = v;
                    }
                hops_block_baseline(&h, memory, from, to, pairs, hop);
                for (uint32_t i = 0; i < pairs; i++)
                    assert_int_equal(hop[i], hops_of(&k, u, to[i]));
            }
            free(memory);
            hops_free_baseline(&h);
        }
        space.fresh = true;
        assert_false(hops_tabled_baseline(&space, UINT64_MAX));
        forget(&k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_same, name_culprit),
        cmocka_unit_test_teardown(test_law, name_culprit),
        cmocka_unit_test_teardown(test_fallback, name_culprit),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_hops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
