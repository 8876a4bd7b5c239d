/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A result file is a pure function of the store, and a store read from it is the same store. Files
 * that were damaged, cut short, are someone else's or of another job are refused with a reason.
 *
 * test_results --write PATH writes a file with a bit of everything, for test/analysis/_readers.py.
 */
#include "results.h"

#include "layout.h"
#include "result_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_results.XXXXXX";

static char *in_folder(const char *name) {
    return format_text("%s/%s", folder, name);
}

struct image {
    unsigned char *data;
    size_t size;
};

static struct image image_of(const struct store *s) {
    struct image i;
    i.data = results_image(s, &i.size);
    return i;
}

static void assert_same(struct image a, struct image b) {
    assert_int_equal(a.size, b.size);
    for (size_t i = 0; i < a.size; i++)
        if (a.data[i] != b.data[i])
            fail_msg("byte %zu of %zu differs", i, a.size);
}

static void write_bytes(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Leaves blocks of odd bytes of many sizes on the free lists. */
static void dirty_heap(void) {
    void *block[400];
    for (unsigned i = 0; i < 400; i++) {
        const size_t size = (size_t)16 << i % 14;
        block[i] = malloc(size);
        assert_non_null(block[i]);
        memset(block[i], (int)(i | 0x80), size);
    }
    for (unsigned i = 0; i < 400; i++)
        free(block[i]);
}

static struct saved *open_image(struct image i, struct reason *why) {
    char *path = in_folder("image.h5");
    write_bytes(path, i.data, i.size);
    struct saved *saved = results_open(path, why);
    free(path);
    return saved;
}

/* Image, file, load, image again: the same bytes. */
static void check_round_trip(const struct store *s) {
    struct reason why = {0};
    const struct image first = image_of(s);
    struct saved *saved = open_image(first, &why);
    if (!saved)
        fail_msg("%s", why.text);
    struct store *again = store_new(s->job);
    if (!results_load(saved, again, &why))
        fail_msg("%s", why.text);
    results_close(saved);
    dirty_heap();
    const struct image second = image_of(again);
    assert_same(first, second);
    for (uint64_t p = 0; p < s->job->n_points; p++) {
        assert_int_equal(s->points[p].complete, again->points[p].complete);
        assert_int_equal(s->points[p].n_spans, again->points[p].n_spans);
        assert_int_equal(s->points[p].done, again->points[p].done);
    }
    free(first.data);
    free(second.data);
    store_free(again);
}

/* A store in which point p has replications 0 .. ends[p]-1. */
static struct store *filled(const struct fx_job *x, struct fixture f, const uint64_t *ends) {
    struct store *s = store_new(&x->job);
    for (unsigned p = 0; p < f.points; p++) {
        if (ends[p])
            fx_play(s, f, p, (struct span){0, ends[p]});
        s->points[p].done = ends[p] > 0;
    }
    return s;
}

static void round_trip(struct fixture f, const uint64_t *ends) {
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, ends);
    check_round_trip(s);
    store_free(s);
    fx_job_free(x);
}

static void test_same_bytes_each_time(void **state) {
    (void)state;
    const struct fixture f = {.points = 7, .servers = true, .farthest = 9};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){20, 20, 20, 20, 20, 20, 20});
    const struct image a = image_of(s);
    dirty_heap();
    const struct timespec second = {1, 100000000}; /* a file must not know when it was made */
    nanosleep(&second, NULL);
    const struct image b = image_of(s);
    assert_same(a, b);
    free(a.data);
    free(b.data);
    store_free(s);
    fx_job_free(x);
}

/* Ranges of any size in any order leave the same bytes. */
static void test_order_of_ranges(void **state) {
    (void)state;
    const struct fixture f = {.points = 2, .servers = true, .farthest = 5000};
    struct fx_job *x = fx_job_new(f);
    struct store *whole = filled(x, f, (const uint64_t[]){120, 120});
    struct store *parts = store_new(&x->job);
    for (unsigned p = 2; p-- > 0;) {
        fx_play(parts, f, p, (struct span){70, 120});
        fx_play(parts, f, p, (struct span){0, 1});
        fx_play(parts, f, p, (struct span){3, 70});
        fx_play(parts, f, p, (struct span){1, 3});
        parts->points[p].done = true;
    }
    const struct image a = image_of(whole), b = image_of(parts);
    assert_same(a, b);
    free(a.data);
    free(b.data);
    store_free(whole);
    store_free(parts);
    fx_job_free(x);
}

static void test_round_trips(void **state) {
    (void)state;
    const struct fixture f = {.points = 4, .servers = true, .farthest = 9};
    struct fixture means = f, apart = f, wide = f, one = f, lean = f;
    means.means = true;
    apart.apart = true;
    wide.farthest = 4096 + 40;
    one.points = 1;
    lean.servers = false;
    const uint64_t equal[] = {60, 60, 60, 60}, unequal[] = {3, 130, 1, 51}, single[] = {1, 1, 1, 1};
    const uint64_t none[] = {0, 0, 0, 0}, some[] = {0, 9, 0, 2};
    const uint64_t *const all[] = {equal, unequal, single, none, some};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        round_trip(f, all[i]);
        round_trip(means, all[i]);
        round_trip(apart, all[i]);
        round_trip(wide, all[i]);
        round_trip(one, all[i]);
        round_trip(lean, all[i]);
    }
}

static void test_gaps(void **state) {
    (void)state;
    for (int means = 0; means < 2; means++) {
        const struct fixture f = {.points = 3, .means = means == 1, .farthest = 2};
        struct fx_job *x = fx_job_new(f);
        struct store *s = store_new(&x->job);
        fx_play(s, f, 0, (struct span){5, 7});
        fx_play(s, f, 0, (struct span){0, 2});
        fx_play(s, f, 0, (struct span){9, 30});
        fx_play(s, f, 2, (struct span){40, 41});
        check_round_trip(s);
        store_free(s);
        fx_job_free(x);
    }
}

/* A run that stopped, was read back and went on ends with the bytes of one that did not. */
static void test_resume(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 12};
    struct fx_job *x = fx_job_new(f);
    struct store *whole = filled(x, f, (const uint64_t[]){80, 80, 80});
    struct store *half = store_new(&x->job), *rest = store_new(&x->job);
    fx_play(half, f, 0, (struct span){0, 80});
    fx_play(half, f, 1, (struct span){10, 30});
    half->points[0].done = true;
    struct reason why = {0};
    const struct image saved_half = image_of(half);
    struct saved *saved = open_image(saved_half, &why);
    assert_non_null(saved);
    assert_false(results_complete(saved));
    assert_true(results_load(saved, rest, &why));
    results_close(saved);
    fx_play(rest, f, 2, (struct span){0, 80});
    fx_play(rest, f, 1, (struct span){0, 10});
    fx_play(rest, f, 1, (struct span){30, 80});
    rest->points[1].done = rest->points[2].done = true;
    const struct image a = image_of(whole), b = image_of(rest);
    assert_same(a, b);
    free(a.data);
    free(b.data);
    free(saved_half.data);
    store_free(whole);
    store_free(half);
    store_free(rest);
    fx_job_free(x);
}

/* Parts of the replications, each in a file of its own whose axis begins where the part does, are
 * together the file of one run. */
static void test_merging_parts(void **state) {
    (void)state;
    for (int means = 0; means < 2; means++) {
        const struct fixture f = {
            .points = 3, .servers = true, .means = means == 1, .farthest = 12};
        struct fx_job *x = fx_job_new(f);
        struct store *whole = filled(x, f, (const uint64_t[]){90, 90, 90}),
                     *merged = store_new(&x->job);
        static const struct span parts[] = {{60, 61}, {0, 60}, {61, 90}};
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct store *part = store_new(&x->job), *again = store_new(&x->job);
            x->job.part = parts[i];
            for (unsigned p = 0; p < f.points; p++)
                fx_play(part, f, p, parts[i]);
            check_round_trip(part);
            const struct image a = image_of(part);
            x->job.part = (struct span){0};
            struct reason why = {0};
            struct saved *saved = open_image(a, &why);
            assert_non_null(saved);
            assert_false(results_complete(saved));
            assert_true(results_load(saved, again, &why));
            results_close(saved);
            store_merge(merged, again);
            store_free(part);
            store_free(again);
            free(a.data);
        }
        for (unsigned p = 0; p < f.points; p++)
            merged->points[p].done = true;
        const struct image a = image_of(whole), b = image_of(merged);
        assert_same(a, b);
        free(a.data);
        free(b.data);
        store_free(whole);
        store_free(merged);
        fx_job_free(x);
    }
}

static const struct column *column_of(const struct table *t, const char *name) {
    for (unsigned i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return &t->columns[i];
    return NULL;
}

static void check_text(const struct table *t, const char *name, uint64_t row, const char *text) {
    const struct column *c = column_of(t, name);
    if (!c || !c->text)
        fail_msg("no text column '%s'", name);
    assert_string_equal(c->text[row], text);
}

static void check_number(const struct table *t, const char *name, uint64_t row, double x) {
    const struct column *c = column_of(t, name);
    if (!c || !c->number)
        fail_msg("no numeric column '%s'", name);
    const double got = c->number[row];
    if (isnan(x) ? !isnan(got) : !(fabs(got - x) <= 1e-12 * fabs(x)))
        fail_msg("%s[%u] is %.17g, not %.17g", name, (unsigned)row, got, x);
}

static void check_parameters(const struct table *t) {
    check_text(t, "label", 1, "point 1");
    check_text(t, "topology", 0, "ring");
    check_text(t, "topology", 2, "torus");
    check_number(t, "n", 0, 5);
    check_number(t, "n", 2, 12);
    check_text(t, "sides", 1, "");
    check_text(t, "sides", 2, "3x4");
    check_text(t, "policy", 1, "unif-pot");
    check_number(t, "k", 0, (double)NAN);
    check_number(t, "k", 1, 1);
    check_number(t, "self", 1, 1);
    check_number(t, "self", 0, (double)NAN);
    check_text(t, "delay", 0, "");
    check_text(t, "delay", 1, "exponential");
    check_number(t, "balls", 2, 120);
    check_text(t, "ties", 1, "origin");
    check_number(t, "beta", 0, 1.0 / 3);
    check_number(t, "flag", 1, 1);
    check_text(t, "service", 0, "exponential");
    /* `mean` stands below two parameters of the model, so neither has it to itself. */
    assert_null(column_of(t, "mean"));
    check_number(t, "service_mean", 1, 2.5);
    check_number(t, "policy_delay_mean", 1, 0.1);
}

static struct table *table_from(const struct store *s) {
    struct reason why = {0};
    const struct image i = image_of(s);
    struct saved *saved = open_image(i, &why);
    assert_non_null(saved);
    struct table *t = results_table(saved, &why);
    if (!t)
        fail_msg("%s", why.text);
    results_close(saved);
    free(i.data);
    return t;
}

static void test_table_of_points(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 4};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){50, 50, 0});
    struct table *t = table_from(s);
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(t->n_done, 2);
    assert_false(t->complete);
    assert_string_equal(t->title, "caf\xc3\xa9");
    assert_string_equal(t->columns[0].name, "point");
    check_parameters(t);
    check_number(t, "replications", 1, 50);
    check_number(t, "replications", 2, 0);
    check_number(t, "mean_max_load", 0, store_mean(s, 0, FX_MAX_LOAD));
    check_number(t, "se_cost", 1, store_se(s, 1, FX_COST));
    check_number(t, "mean_share", 0, (double)NAN);
    check_number(t, "mean_share", 2, (double)NAN);
    check_number(t, "tv", 0, 0);
    check_number(t, "tv", 2, (double)NAN);
    check_number(t, "cost_reduction", 0, 0);
    check_number(t, "se_cost_reduction", 0, 0);
    check_number(t, "cost_reduction", 1, 1 - store_mean(s, 1, FX_COST) / store_mean(s, 0, FX_COST));
    assert_null(column_of(t, "load_count"));
    assert_null(column_of(t, "batch"));
    table_free(t);
    store_free(s);
    fx_job_free(x);
}

/* With common words the costs of two points differ by a constant here, so pairing them leaves next
 * to no error; points with words of their own are not paired. */
static void test_pairing(void **state) {
    (void)state;
    double se[3];
    for (unsigned i = 0; i < 3; i++) {
        const struct fixture f = {.points = 2, .apart = i == 1, .means = i == 2, .farthest = 1};
        struct fx_job *x = fx_job_new(f);
        struct store *s = filled(x, f, (const uint64_t[]){90, 40});
        struct table *t = table_from(s);
        se[i] = column_of(t, "se_cost_reduction")->number[1];
        if (i == 0) {
            double y = 0, b = 0; /* over the 40 replications that both have */
            for (unsigned r = 0; r < 40; r++) {
                y += s->points[1].row[FX_COST][r];
                b += s->points[0].row[FX_COST][r];
            }
            check_number(t, "cost_reduction", 1, 1 - y / b);
        }
        table_free(t);
        store_free(s);
        fx_job_free(x);
    }
    assert_true(se[0] > 0 && se[0] < 0.01);
    assert_true(se[1] > 0.05);
    assert_true(isnan(se[2]));
}

static void test_fifty_points(void **state) {
    (void)state;
    /* As many points as batches: the axes are told apart by name, not by length. */
    const struct fixture f = {.points = 50, .farthest = 49};
    struct fx_job *x = fx_job_new(f);
    struct store *s = store_new(&x->job);
    struct table *t = table_from(s);
    assert_null(column_of(t, "batch"));
    assert_null(column_of(t, "hop"));
    assert_non_null(column_of(t, "label"));
    table_free(t);
    store_free(s);
    fx_job_free(x);
}

static void test_attributes(void **state) {
    (void)state;
    const struct fixture f = {.points = 1, .farthest = 1};
    struct fx_job *x = fx_job_new(f);
    free(x->job.text);
    x->job.text = allocate(200001, 1); /* beyond what a fixed-length attribute can hold */
    memset(x->job.text, '#', 200000);
    struct store *s = filled(x, f, (const uint64_t[]){1});
    const struct image i = image_of(s);
    struct reason why = {0};
    struct saved *saved = open_image(i, &why);
    assert_non_null(saved);
    assert_string_equal(results_attribute(saved, "job"), x->job.text);
    assert_string_equal(results_attribute(saved, "title"), "caf\xc3\xa9");
    assert_string_equal(results_attribute(saved, "resolved"), x->job.resolved);
    assert_string_equal(results_attribute(saved, "identity"), x->job.identity);
    assert_ptr_equal(results_attribute(saved, "title"), results_attribute(saved, "title"));
    assert_non_null(results_attribute(saved, "potluck_version"));
    assert_non_null(results_attribute(saved, "source_revision"));
    assert_null(results_attribute(saved, "nothing"));
    assert_null(results_attribute(saved, "seed"));
    assert_true(results_complete(saved));
    results_close(saved);
    free(i.data);
    store_free(s);
    fx_job_free(x);
}

/* ---- what does not apply ---- */

static const struct variable *variable_of(const struct layout *l, const char *name, bool state) {
    for (unsigned i = 0; i < l->n; i++)
        if (strcmp(l->variables[i].name, name) == 0 && l->variables[i].state == state)
            return &l->variables[i];
    return NULL;
}

static void *elements_of(const struct layout *l, const char *name) {
    const struct variable *v = variable_of(l, name, false);
    if (!v)
        fail_msg("no variable '%s'", name);
    void *data = allocate(layout_count(l, v), element_size(v->element));
    v->fill(l, v, data);
    return data;
}

/* Of a row or histogram that no point of the job has, the file says nothing, but resume goes on. */
static void test_left_out(void **state) {
    static const char *const names[] = {"share",
                                        "mean_share",
                                        "se_share",
                                        "degree_count",
                                        "server_degree",
                                        "server_degree_upper",
                                        "degree_load",
                                        "degree_bin",
                                        "distance",
                                        "distance_upper",
                                        "distance_count",
                                        "share_sorted",
                                        "degree_bin_upper",
                                        "completion",
                                        "time_point",
                                        "times",
                                        "times_known",
                                        "times_cdf",
                                        "times_cdf_batch"};
    (void)state;
    for (unsigned points = 2; points <= 3; points++) {
        const struct fixture f = {.points = points, .servers = true, .farthest = 4};
        struct fx_job *x = fx_job_new(f);
        struct store *s = filled(x, f, (const uint64_t[]){7, 7, 7});
        struct layout l;
        layout_init(&l, s);
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            if ((variable_of(&l, names[i], false) != NULL) != (points == 3))
                fail_msg("'%s' with %u points", names[i], points);
        assert_int_equal(variable_of(&l, "share_sorted", true) != NULL, points == 3);
        assert_non_null(variable_of(&l, "server_load", true));
        assert_int_equal(l.length[DIMENSION_ROW], FX_ROWS);
        assert_true(s->points[0].row[FX_SHARE] == NULL);
        layout_free(&l);
        check_round_trip(s);
        store_free(s);
        fx_job_free(x);
    }
}

/* The axes, and points to which a histogram does not apply beside one to which it does. */
static void test_axes(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 4};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){40, 40, 40});
    struct layout l;
    layout_init(&l, s);
    uint64_t *degree = elements_of(&l, "server_degree"), *coarse = elements_of(&l, "degree_bin"),
             *top = elements_of(&l, "degree_bin_upper"), *count = elements_of(&l, "degree_count");
    double *distance = elements_of(&l, "distance"), *end = elements_of(&l, "distance_upper"),
           *sorted = elements_of(&l, "share_sorted");
    assert_int_equal(l.length[DIMENSION_DEGREE], 7);
    for (uint64_t i = 0; i < 7; i++) {
        assert_int_equal(degree[i], i);
        assert_int_equal(coarse_bin_of(coarse[i]), i);
        assert_int_equal(coarse_bin_of(top[i]), i);
        assert_true(i < 1 || coarse[i] == top[i - 1] + 1);
        assert_true(distance[i] == length_bin_lower(i) && end[i] == length_bin_lower(i + 1));
        assert_int_equal(count[i] + count[7 + i], 0);
        assert_int_equal(count[14 + i], s->points[2].histogram[FX_DEGREES].count[i]);
    }
    for (uint64_t i = 0; i < 12; i++) {
        const double sum = (double)s->points[2].histogram[FX_SORTED].count[i];
        assert_true(isnan(sorted[i]) && isnan(sorted[12 + i]));
        assert_true(sorted[24 + i] == 0.25 * (sum / 40));
    }
    assert_string_equal(variable_of(&l, "distance", false)->units, "side of the square");
    void *const made[] = {degree, coarse, top, count, distance, end, sorted};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        free(made[i]);
    layout_free(&l);
    store_free(s);
    fx_job_free(x);
}

/* Means that may be negative or missing, and histograms with two axes. */
static void test_two_axes(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 4};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){40, 40, 40});
    struct layout l;
    layout_init(&l, s);
    uint64_t *completion = elements_of(&l, "completion"), *known = elements_of(&l, "times_known");
    double *grid = elements_of(&l, "time_point"), *times = elements_of(&l, "times"),
           *cdf = elements_of(&l, "times_cdf"), *batch = elements_of(&l, "times_cdf_batch"),
           *se = elements_of(&l, "se_times_cdf");
    const struct variable *v = variable_of(&l, "times_cdf_batch", false);
    assert_int_equal(v->rank, 4);
    assert_int_equal(layout_count(&l, v), 3 * BATCHES * FX_COMPLETIONS * FX_GRID);
    assert_memory_equal(grid, fx_grid, sizeof fx_grid);
    for (unsigned k = 0; k < FX_COMPLETIONS; k++) {
        const double time = times[2 * FX_COMPLETIONS + k];
        assert_int_equal(completion[k], k + 1);
        assert_int_equal(known[2 * FX_COMPLETIONS + k], k < 3 ? 40 : 20);
        assert_true(isnan(times[k]));
        assert_true(k < 3 ? time == 0.5 * (2.0 * k - 1) : isnan(time));
        for (unsigned g = 0; g < FX_GRID; g++) {
            const unsigned at = k * FX_GRID + g, here = g == 0 ? 14 : 13; /* of 0 .. 39 modulo 3 */
            /* Batches of one replication each: the error is that of a mean of 40. */
            double mean = here * k / 40.0, squares = 0;
            for (unsigned b = 0; b < BATCHES; b++) {
                const double one = batch[(2 * BATCHES + b) * FX_COMPLETIONS * FX_GRID + at];
                assert_true(b < 40 ? one == 0.125 * (b % FX_GRID == g ? k : 0) : isnan(one));
                squares += b < 40 ? (one / 0.125 - mean) * (one / 0.125 - mean) : 0;
            }
            assert_true(cdf[2 * FX_COMPLETIONS * FX_GRID + at] == 0.125 * mean);
            const double error = 0.125 * sqrt(squares / (40.0 * 39)),
                         told = se[2 * FX_COMPLETIONS * FX_GRID + at];
            assert_true(fabs(told - error) <= 1e-12 * error);
        }
    }
    void *const made[] = {completion, known, batch, grid, times, cdf, se};
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        free(made[i]);
    layout_free(&l);
    store_free(s);
    fx_job_free(x);
}

/* ---- files that are refused ---- */

static void refuses(const char *path, const char *part) {
    struct reason why = {0};
    struct saved *saved = results_open(path, &why);
    if (saved)
        fail_msg("'%s' was accepted", path);
    if (!strstr(why.text, part))
        fail_msg("'%s' lacks '%s'", why.text, part);
}

static void test_foreign_files(void **state) {
    (void)state;
    static const char hdf5[] = "\x89HDF\r\n\x1a\nand something else, long enough for a seal";
    char *path = in_folder("foreign.h5"), *missing = in_folder("missing.h5");
    refuses(missing, strerror(ENOENT));
    refuses(folder, "not a regular file");
    write_bytes(path, "", 0);
    refuses(path, "not a result file");
    write_bytes(path, "title: x\n", 9);
    refuses(path, "not a result file");
    write_bytes(path, hdf5, sizeof hdf5);
    refuses(path, "HDF5 file");
    write_bytes(path, hdf5, 8);
    refuses(path, "HDF5 file");
    free(path);
    free(missing);
}

/* Thousands of corruptions with a fixed seed: each is refused, none crashes. */
static void test_corruptions(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 9};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){20, 20, 20});
    const struct image good = image_of(s);
    unsigned char *bad = allocate(good.size, 1);
    char *path = in_folder("corrupt.h5");
    for (uint64_t i = 0; i < 3000; i++) {
        size_t size = good.size;
        memcpy(bad, good.data, size);
        const uint64_t at = fx_hash(i, 0, 1) % size;
        if (i % 3 == 0)
            size = at; /* cut short */
        else if (i % 3 == 1)
            bad[at] ^= (unsigned char)(1u << fx_hash(i, 1, 1) % 8);
        else
            for (size_t j = at; j < size && j < at + 512; j++)
                bad[j] ^= (unsigned char)(fx_hash(i, j, 2) | 1);
        write_bytes(path, bad, size);
        refuses(path, path);
    }
    free(path);
    free(bad);
    free(good.data);
    store_free(s);
    fx_job_free(x);
}

static void refuses_load(const struct store *from, struct fixture into, const char *part) {
    struct reason why = {0};
    const struct image i = image_of(from);
    struct saved *saved = open_image(i, &why);
    struct fx_job *x = fx_job_new(into);
    struct store *s = store_new(&x->job);
    assert_non_null(saved);
    if (results_load(saved, s, &why))
        fail_msg("a file of another shape was accepted");
    if (!strstr(why.text, part))
        fail_msg("'%s' lacks '%s'", why.text, part);
    results_close(saved);
    free(i.data);
    store_free(s);
    fx_job_free(x);
}

static void test_files_that_do_not_fit(void **state) {
    (void)state;
    const struct fixture f = {.points = 3, .servers = true, .farthest = 9};
    struct fixture fewer = f, more = f, means = f, lean = f;
    fewer.points = 2;
    more.points = 5;
    means.means = true;
    lean.servers = false;
    struct fx_job *x = fx_job_new(f), *y = fx_job_new(lean), *z = fx_job_new(means);
    struct store *s = filled(x, f, (const uint64_t[]){20, 20, 20});
    struct store *small = filled(y, lean, (const uint64_t[]){20, 20, 20});
    struct store *rowless = filled(z, means, (const uint64_t[]){20, 20, 20});
    refuses_load(s, fewer, "does not fit the job");
    refuses_load(s, more, "does not fit the job");
    refuses_load(small, f, "does not fit the job");
    refuses_load(rowless, f, "does not fit the job");
    s->points[1].batch_replications[3]++;
    refuses_load(s, f, "numbers of replications do not agree");
    s->points[1].batch_replications[3]--;
    s->points[2].spans[0] = (struct span){7, 7};
    refuses_load(s, f, "ranges of replications make no sense");
    store_free(s);
    store_free(small);
    store_free(rowless);
    fx_job_free(x);
    fx_job_free(y);
    fx_job_free(z);
}

/* ---- writing ---- */

static uint64_t files_in_folder(void) {
    struct stat info;
    char *command = format_text("ls -A %s | wc -l > %s.count", folder, folder);
    assert_int_equal(system(command), 0);
    free(command);
    char *path = format_text("%s.count", folder);
    FILE *f = fopen(path, "r");
    unsigned long n = 0;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &n), 1);
    fclose(f);
    assert_int_equal(stat(path, &info), 0);
    unlink(path);
    free(path);
    return n;
}

static void test_write(void **state) {
    (void)state;
    struct reason why = {0};
    char *path = in_folder("out.h5"), *link = in_folder("link.h5"), *none = in_folder("no/out.h5");
    struct stat info;
    assert_true(results_write(path, "first", 5, &why));
    assert_true(results_write(path, "second", 6, &why));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 6);
    assert_int_equal(symlink("out.h5", link), 0);
    assert_true(results_write(link, "third", 5, &why));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 5);
    assert_false(results_write(none, "x", 1, &why));
    assert_non_null(strstr(why.text, none));
    assert_non_null(strstr(why.text, strerror(ENOENT)));
    assert_false(results_write("/dev/null", "x", 1, &why));
    assert_non_null(strstr(why.text, "not a regular file"));
    assert_false(results_write(folder, "x", 1, &why));
    free(path);
    free(link);
    free(none);
}

/* A full disk, played by a limit on file sizes: the old file stays, nothing else remains. */
static void test_disk_full(void **state) {
    (void)state;
    struct reason why = {0};
    struct rlimit old, limit;
    char *path = in_folder("full.h5");
    void *data = allocate(1 << 20, 1);
    assert_true(results_write(path, data, 1000, &why));
    const uint64_t before = files_in_folder();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 1 << 16;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const bool written = results_write(path, data, 1 << 20, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    struct stat info;
    assert_false(written);
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, strerror(EFBIG)));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 1000);
    assert_int_equal(files_in_folder(), before);
    free(data);
    free(path);
}

static int write_sample(const char *path) {
    const struct fixture f = {.points = 7, .servers = true, .farthest = 4096 + 40};
    struct fx_job *x = fx_job_new(f);
    struct store *s = filled(x, f, (const uint64_t[]){60, 60, 1, 60, 0, 130, 60});
    struct reason why = {0};
    const struct image i = image_of(s);
    const bool good = results_write(path, i.data, i.size, &why);
    if (!good)
        fprintf(stderr, "%s\n", why.text);
    free(i.data);
    store_free(s);
    fx_job_free(x);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_sample(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_each_time),
        cmocka_unit_test(test_order_of_ranges),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_merging_parts),
        cmocka_unit_test(test_table_of_points),
        cmocka_unit_test(test_pairing),
        cmocka_unit_test(test_fifty_points),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_two_axes),
        cmocka_unit_test(test_foreign_files),
        cmocka_unit_test(test_corruptions),
        cmocka_unit_test(test_files_that_do_not_fit),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_disk_full),
    };
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char *command = format_text("rm -rf %s", folder);
    const int removed = system(command);
    free(command);
    return failed || removed;
}
