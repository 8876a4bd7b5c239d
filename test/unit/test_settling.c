/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether what counted was in equilibrium: autoregressive paths, which are or are not. */
#include "settling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SUBSTEPS = 4, MOST_STEPS = 200 };
static const double unit = 0x1p-30;

static const struct row rows[] = {{"cost", "hop", "", "", true}, {"level", "m", "", "", true}};
static const struct histogram histograms[] = {
    {.name = "load_count", .units = "1", .long_name = "", .axis = AXIS_LOAD},
    {.name = "level_path", .units = "m", .long_name = "", .axis = AXIS_STEP, .averages = true},
};
static const struct model model = {
    .kind = {"water", "", "", NULL, 0},
    .rows = rows,
    .n_rows = 2,
    .histograms = histograms,
    .n_histograms = 2,
    .law = -1,
    .cost = -1,
    .contender = -1,
    .path = 1,
    .followed = 1,
};

/* A path of mean `mean` and variance 1 that forgets all but `memory` of itself in a step. */
struct water {
    double memory, mean;
    bool full; /* begins in equilibrium, not at 0 */
    unsigned before, counted;
    uint64_t replications;
};

struct lake {
    struct job job;
    struct store *store;
};

static struct lake *dig(unsigned points) {
    struct lake *l = allocate(1, sizeof *l);
    l->job = (struct job){.model = &model, .keep_histogram = {true, true}, .n_points = points};
    l->job.points = allocate(points, sizeof *l->job.points);
    for (unsigned p = 0; p < points; p++) {
        struct facts *f = &l->job.points[p].facts;
        f->row[0] = (struct affine){0, 1};
        f->row[1] = (struct affine){0, 1 / unit};
        f->bins[0] = 1;
        f->bins[1] = MOST_STEPS;
        f->unit[1] = unit;
        l->job.points[p].label = format_text("lake %u", p);
    }
    l->store = store_new(&l->job);
    return l;
}

static void dry(struct lake *l) {
    store_free(l->store);
    for (uint64_t p = 0; p < l->job.n_points; p++)
        free(l->job.points[p].label);
    free(l->job.points);
    free(l);
}

static uint64_t words;
static double uniform(void) {
    uint64_t h = words += 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return (double)((h ^ h >> 31) >> 11) * 0x1p-53;
}
/* Nearly normal, mean 0 and variance 1. */
static double noise(void) {
    double sum = -3;
    for (int i = 0; i < 6; i++)
        sum += uniform();
    return sum * sqrt(2);
}

/* One replication: its row, and its path added to path[]. */
static int64_t flow(const struct water *w, uint64_t *path) {
    const double keeps = pow(w->memory, 1.0 / SUBSTEPS), moves = sqrt(1 - keeps * keeps);
    const unsigned steps = w->before + w->counted;
    double x = w->full ? noise() : -w->mean, sum = 0;
    for (unsigned k = 0; k < steps; k++) {
        for (unsigned i = 0; i < SUBSTEPS; i++) {
            x = keeps * x + moves * noise();
            sum += k < w->before ? 0 : w->mean + x;
        }
        path[k] += (uint64_t)llrint((w->mean + x) / unit);
    }
    return llrint(sum / (w->counted * SUBSTEPS) / unit);
}

static void fill(struct lake *l, uint64_t point, const struct water *w) {
    l->job.points[point].facts.path = (struct path_steps){w->before, w->counted};
    struct outcome o = {.count = w->replications, .stride = {1, MOST_STEPS}};
    uint64_t loads[1] = {0}, *path = allocate(MOST_STEPS, sizeof *path);
    o.tally = allocate(2 * o.count, sizeof *o.tally);
    o.histogram[0] = loads;
    o.histogram[1] = path;
    o.used[1] = w->before + w->counted;
    for (uint64_t r = 0; r < o.count; r++)
        o.tally[2 * r + 1] = flow(w, path);
    struct moments sums[2];
    store_sum(&model, &o, sums);
    store_fold(l->store, point, &o, sums);
    free(o.tally);
    free(path);
}

static struct settling found(const struct water *w, double level) {
    struct lake *l = dig(1);
    fill(l, 0, w);
    const struct settling s = settling_of(l->store, 0, level);
    dry(l);
    return s;
}

/* In equilibrium a bias is found no more often than `level` allows, whatever the memory. 300 files
 * each: more than 15 + 5 sqrt(15) come with a probability below 1e-5. */
static void test_in_equilibrium(void **state) {
    (void)state;
    static const double memories[] = {1e-9, 0.5, 0.9, 0.99, 0.9999};
    for (unsigned m = 0; m < sizeof memories / sizeof *memories; m++)
        for (unsigned counted = 40; counted <= 160; counted *= 4) {
            const struct water w = {memories[m], 20, true, 5, counted, 30};
            unsigned biased = 0;
            for (unsigned file = 0; file < 300; file++) {
                const struct settling s = found(&w, 0.05);
                assert_true(s.tested);
                biased += s.bias != 0;
            }
            if (biased > 34)
                fail_msg("memory %g, %u steps: %u of 300", w.memory, counted, biased);
        }
}

/* From 0 the mean of step k is short by mean * memory^k. The estimate finds most of what that puts
 * into the mean; how precisely, s and the memory say: within 30 % is 6 standard errors. */
static void test_from_empty(void **state) {
    (void)state;
    static const double memories[] = {0.5, 0.9, 0.98};
    for (unsigned m = 0; m < sizeof memories / sizeof *memories; m++) {
        const double a = memories[m];
        const struct water w = {a, 20, false, 0, 200, 400};
        const double truth = -20 * a * (1 - pow(a, 200)) / (1 - a) / 200;
        const struct settling s = found(&w, 1e-4);
        if (!(s.bias < 0.6 * truth && s.bias > 1.3 * truth))
            fail_msg("memory %g: %g instead of %g", a, s.bias, truth);
        /* a warm-up takes it away */
        const struct water warm = {a, 20, false, 100, 100, 400};
        if (a < 0.95)
            assert_true(found(&warm, 1e-4).bias == 0);
    }
    const struct water low = {0.9, -20, false, 0, 200, 400};
    assert_true(found(&low, 1e-4).bias > 0);
}

static void test_not_tested(void **state) {
    (void)state;
    const struct water fine = {0.9, 20, false, 0, 40, 30}, few = {0.9, 20, false, 0, 40, 29},
                       brief = {0.9, 20, false, 0, 39, 30}, never = {0.9, 20, false, 200, 0, 30};
    assert_true(found(&fine, 0.01).tested);
    assert_true(found(&fine, 0.01).bias < 0);
    assert_false(found(&few, 0.01).tested);
    assert_false(found(&brief, 0.01).tested);
    assert_false(found(&never, 0.01).tested);
    struct lake *l = dig(2);
    assert_false(settling_of(l->store, 0, 0.01).tested);
    assert_null(settling_text(l->store));
    dry(l);
}

static void test_text(void **state) {
    (void)state;
    const struct water fine = {0.5, 20, true, 0, 100, 100}, bad = {0.9, 20, false, 0, 100, 100},
                       worse = {0.98, 20, false, 0, 100, 100};
    struct lake *l = dig(6);
    fill(l, 0, &fine);
    fill(l, 1, &bad);
    fill(l, 2, &fine);
    char *text = settling_text(l->store);
    const char *begin = "mean level carries the start of the run at 1 point (a longer warm-up "
                        "helps, more replications do not): point 1 (lake 1) by -";
    assert_non_null(text);
    assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
    assert_non_null(strstr(text, " beside an interval of +-0."));
    free(text);
    for (unsigned p = 3; p < 6; p++)
        fill(l, p, p == 4 ? &worse : &bad);
    text = settling_text(l->store);
    assert_non_null(strstr(text, " at 4 points (a longer warm-up helps, more replications do not): "
                                 "worst at point "));
    const char *at = text;
    for (unsigned n = 0; n < 3; n++, at++) /* three are named, fine ones are not */
        assert_non_null(at = strstr(at, "(lake "));
    assert_null(strstr(at, "(lake "));
    assert_null(strstr(text, "(lake 0)"));
    assert_null(strstr(text, "(lake 2)"));
    free(text);
    dry(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_equilibrium),
        cmocka_unit_test(test_from_empty),
        cmocka_unit_test(test_not_tested),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
