/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a plan makes of the facts of its points: memory, refusals, notes. */
#include "plan.h"

#include "forecast.h"
#include "result_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MB = 1 << 20 };

static struct fx_job *job_of(unsigned points) {
    struct fx_job *x = fx_job_new((struct fixture){.points = points, .farthest = 3});
    x->job.replications = (struct replications){.min = 10, .max = 10};
    x->job.budget = (struct budget){UINT64_MAX, 1};
    for (unsigned p = 0; p < points; p++) {
        x->job.points[p].facts.nanoseconds = 1000;
        x->job.points[p].facts.bytes_thread = 5 * MB;
    }
    return x;
}

static uint64_t total(const struct fx_job *x, unsigned threads) {
    return plan_job(&x->job, threads, false, 60).total;
}

/* Each thread has a graph of its own, and one thread at a time makes one. */
static void test_fresh(void **state) {
    (void)state;
    struct fx_job *x = job_of(3);
    const uint64_t one = total(x, 1), three = total(x, 3);
    x->job.points[1].facts.bytes_fresh = 40 * MB;
    assert_int_equal(plan_job(&x->job, 3, false, 60).fresh, 40 * MB);
    /* Besides, writing needs more than a little playing does. */
    const uint64_t graphs = total(x, 3) - total(x, 1);
    assert_int_equal(graphs, 2 * 40 * MB + 2 * plan_job(&x->job, 1, false, 60).thread);
    assert_true(total(x, 1) > one + 30 * MB && total(x, 3) > three + 100 * MB);
    const uint64_t before[] = {total(x, 1), total(x, 3)};
    x->job.points[1].facts.bytes_making = 200 * MB;
    assert_int_equal(total(x, 1), before[0] + 200 * MB);
    assert_int_equal(total(x, 3), before[1] + 200 * MB);
    /* Tables are made while nobody has a workspace yet. */
    x->job.points[1].facts.bytes_fresh = 0;
    x->job.points[1].facts.bytes_shared = 40 * MB;
    assert_int_equal(total(x, 3), before[0] + 200 * MB - plan_job(&x->job, 1, false, 60).thread);
    fx_job_free(x);
}

/* What does not apply takes no room. */
static void test_what_does_not_apply(void **state) {
    (void)state;
    struct fx_job *x = job_of(2);
    x->job.replications.max = 100000;
    const struct plan before = plan_job(&x->job, 1, false, 60);
    for (unsigned p = 0; p < 2; p++)
        x->job.points[p].facts.row[FX_COST].divisor = (double)NAN;
    const struct plan after = plan_job(&x->job, 1, false, 60);
    assert_int_equal(before.gathered - after.gathered, 2 * 100000 * sizeof(double));
    assert_int_equal(before.file - after.file, 2 * 100000 * sizeof(double));
    fx_job_free(x);
}

static void check_fits(const struct job *job, uint64_t memory, unsigned refused, const char *part) {
    struct complaints c = {0};
    assert_int_equal(plan_fits(job, memory, &c), refused == 0);
    assert_int_equal(c.count, refused);
    if (part && !strstr(c.text, part))
        fail_msg("'%s' lacks '%s'", c.text, part);
    complaints_free(&c);
}

static void test_fits(void **state) {
    (void)state;
    struct fx_job *x = job_of(3);
    check_fits(&x->job, 2 * MB, 0, NULL);
    x->job.points[2].facts.bytes_shared = 30 * MB;
    check_fits(&x->job, 30 * MB, 0, NULL);
    check_fits(&x->job, 30 * MB - 1, 1, "point 2 (point 2) needs tables of 31.5 MB");
    x->job.points[0].facts.bytes_fresh = 20 * MB;
    check_fits(&x->job, 30 * MB, 0, NULL);
    x->job.budget.threads = 2;
    check_fits(&x->job, 40 * MB, 0, NULL);
    check_fits(&x->job, 40 * MB - 1, 1, "each of 2 threads");
    check_fits(&x->job, 20 * MB, 2, "fewer --threads");
    fx_job_free(x);
}

static void test_notes(void **state) {
    (void)state;
    struct fx_job *x = job_of(5);
    char *text = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < 2; i++) {
        FILE *f = open_memstream(&text, &size);
        assert_non_null(f);
        plan_notes(&x->job, f);
        fclose(f);
        assert_string_equal(text, i ? "potluck: b\npotluck: a\n" : "");
        free(text);
        strcpy(x->job.points[1].facts.note, "b");
        strcpy(x->job.points[2].facts.note, "a");
        strcpy(x->job.points[3].facts.note, "b");
    }
    fx_job_free(x);
}

static struct fx_job *job_with_forecasts(unsigned points, struct model *model) {
    struct fx_job *x = job_of(points);
    *model = fx_model;
    model->followed = FX_COST;
    model->length = "jobs per server";
    x->job.model = model;
    for (unsigned p = 0; p < points; p++)
        x->job.points[p].facts.forecast =
            (struct forecast){.before = 5, .counted = 1000, .wanted = 100, .spread = 4 + p};
    return x;
}

static void test_precision_wanted(void **state) {
    (void)state;
    struct model model;
    struct fx_job *x = job_with_forecasts(1, &model);
    struct criterion rule[] = {{.row = FX_MAX_LOAD, .relative = 0.005},
                               {.row = FX_COST, .relative = 0.03, .absolute = 1},
                               {.row = FX_SHARE, .absolute = 0.1}};
    assert_true(forecast_wanted(&x->job) == 0.01);
    x->job.replications = (struct replications){30, 500, rule, 3};
    assert_true(forecast_wanted(&x->job) == 0.03);
    rule[1].relative = 0;
    assert_true(forecast_wanted(&x->job) == 0.005);
    rule[0].relative = 0;
    assert_true(forecast_wanted(&x->job) == 0.01);
    fx_job_free(x);
}

/* se^2 = spread / (length in all): 4 / (4 * 196^2) makes 1.96 se = 1 %. */
static void test_proposals(void **state) {
    (void)state;
    struct model model;
    struct fx_job *x = job_with_forecasts(1, &model);
    struct forecast *f = &x->job.points[0].facts.forecast;
    x->job.replications.max = 200;
    struct proposal p = forecast_proposal(&x->job, 0, 0.01);
    assert_true(p.warmup == 100);
    assert_true(fabs(p.counted - 4 * 196 * 196) < 10);
    assert_true(fabs(p.horizon - p.counted / 200) < 1e-9);
    assert_true(p.replications == 154);
    assert_true(fabs(p.half - 1.972 * sqrt(4 / 200000.0)) < 1e-5);
    /* not shorter than the warm-up; four times as long for half the width */
    x->job.replications.max = 20000;
    assert_true(forecast_proposal(&x->job, 0, 0.01).horizon == 100);
    assert_true(fabs(forecast_proposal(&x->job, 0, 0.005).counted - 4 * p.counted) < 1e-6);
    f->spread = 0;
    p = forecast_proposal(&x->job, 0, 0.01);
    assert_true(p.warmup == 100 && isnan(p.counted) && isnan(p.horizon) && isnan(p.half));
    f->wanted = 0;
    assert_true(isnan(forecast_proposal(&x->job, 0, 0.01).warmup));
    fx_job_free(x);
}

static char *forecasts_of(const struct job *job) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    forecast_print(job, f);
    fclose(f);
    return text;
}

static unsigned lines(const char *text) {
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Each of few points; of many the range, and the one that needs most. */
static void test_forecasts_printed(void **state) {
    (void)state;
    struct model model;
    struct fx_job *x = job_with_forecasts(12, &model);
    char *text = forecasts_of(&x->job);
    assert_int_equal(lines(text), 14);
    assert_non_null(strstr(text, "precision: for 1 % of mean cost at 95 % with 10 replications"));
    assert_non_null(strstr(text, "in jobs per server:\n"));
    assert_non_null(strstr(text, "\n     3                    5        1000         6 %"));
    free(text);
    fx_job_free(x);
    x = job_with_forecasts(500, &model);
    x->job.points[77].facts.forecast.spread = 1000;
    x->job.points[78].facts.forecast = (struct forecast){0};
    text = forecasts_of(&x->job);
    assert_int_equal(lines(text), 4);
    assert_non_null(strstr(text, "\n    77 "));
    assert_non_null(strstr(text, "all points: warm-up 100 to 100, horizon "));
    assert_non_null(strstr(text, "dearest: point 77\n"));
    free(text);
    model.length = NULL;
    text = forecasts_of(&x->job);
    assert_string_equal(text, "");
    free(text);
    fx_job_free(x);
}

/* ---- what the model queue foresees ---- */

static struct facts facts_of(const char *settings) {
    struct complaints c = {0};
    char *text = format_text("model: queue\nseed: 1\nreplications: 100\n%s", settings);
    struct job *job = job_read("j.yaml", text, NULL, models_at(LEVEL_BASELINE), &c);
    if (!job)
        fail_msg("%s%s", text, c.text);
    const struct facts f = job->points[0].facts;
    free(text);
    job_free(job);
    return f;
}

static struct facts facts_at(const char *policy, double lambda, unsigned n, const char *more) {
    char *text = format_text("topology: {complete: {n: %u}}\npolicy: %s\nlambda: %.17g\n%s", n,
                             policy, lambda, more);
    const struct facts f = facts_of(text);
    free(text);
    return f;
}

static void assert_near(double got, double expected, double relative) {
    if (!(fabs(got - expected) <= relative * fabs(expected)))
        fail_msg("%.10g instead of %.10g", got, expected);
}

/* Asymptotic variances 2 rho (1 + rho) / (1 - rho)^4 of M/M/1, about means of rho / (1 - rho). */
static void test_one_server(void **state) {
    (void)state;
    static const double table[][2] = {{0.5, 24},    {0.7, 293.827}, {0.8, 1800},
                                      {0.9, 34200}, {0.95, 592800}, {0.99, 3.9402e8}};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        const double rho = table[i][0], mean = rho / (1 - rho),
                     relaxed = 10 / ((1 - sqrt(rho)) * (1 - sqrt(rho)));
        const struct forecast
            f = facts_at("one-choice", rho, 1, "").forecast,
            ten = facts_at("one-choice", rho, 10, "").forecast,
            slow = facts_at("one-choice", rho / 4, 1, "service_mean: 4\n").forecast,
            wild =
                facts_at("one-choice", rho, 1, "service: {hyperexponential: {scv: 4}}\n").forecast;
        assert_near(f.spread, table[i][1] / mean / mean * rho, 1e-4); /* rho jobs in a service */
        assert_near(f.wanted, relaxed * rho, 1e-9);
        assert_near(ten.spread, f.spread / 10, 1e-9);
        assert_near(slow.spread, f.spread, 1e-9);
        assert_near(slow.wanted, f.wanted, 1e-9);
        assert_near(wild.spread, 2.5 * f.spread, 1e-9);
        assert_near(wild.wanted, 2.5 * f.wanted, 1e-9);
    }
}

/* Asymptotic variance of a birth and death process: 2 sum_k (sum_{j <= k} (j - m) p_j)^2 / (lambda
 * p_k) (Whitt, Probability in the Engineering and Informational Sciences 6, 1992), over m^2. */
static double many_servers(double rho, unsigned n) {
    enum { STATES = 4000 };
    double p[STATES] = {1}, all = 1, mean = 0, below = 0, sum = 0;
    for (unsigned k = 1; k < STATES; k++)
        all += p[k] = p[k - 1] * rho * n / (k < n ? k : n);
    for (unsigned k = 0; k < STATES; k++)
        mean += k * p[k] / all;
    for (unsigned k = 0; k < STATES; k++) {
        below += (k - mean) * p[k] / all;
        sum += p[k] / all > 1e-14 ? below * below / (rho * n * p[k] / all) : 0;
    }
    return 2 * sum / mean / mean;
}

static void test_many_servers(void **state) {
    (void)state;
    static const unsigned servers[] = {2, 4, 10, 100};
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++)
        for (double rho = 0.5; rho < 0.96; rho += 0.15) {
            const double exact = many_servers(rho, servers[i]) * rho,
                         all = facts_at("jsq", rho, servers[i], "").forecast.spread,
                         two = facts_at("pot", rho, servers[i], "").forecast.spread,
                         none = facts_at("one-choice", rho, servers[i], "").forecast.spread;
            assert_near(all, 0.87 * exact, 0.26);
            assert_true(all <= two && two < none * (1 + 1e-9));
        }
    /* Simulated from empty, 1000 servers at .99 are within 1 % after 600 services with two choices,
     * 1500 with two neighbours; M/M/1 takes 40000 to relax. */
    const double choices = facts_at("pot", 0.99, 1000, "").forecast.wanted,
                 alone = facts_at("one-choice", 0.99, 1000, "").forecast.wanted;
    assert_true(choices > 1500 * 0.99 && choices < alone / 20);
    assert_near(facts_at("pot", 0.99, 2, "").forecast.wanted, alone / 2, 1e-9);
}

/* The steps of the path after the warm-up, where a start can be forgotten at all. */
static void test_steps(void **state) {
    (void)state;
    struct facts f = facts_at("pot", 0.5, 10, "warmup: 100n\nhorizon: 300n\n");
    assert_int_equal(f.path.before, 50);
    assert_int_equal(f.path.counted, 150);
    assert_near(f.forecast.before, 100, 1e-12);
    assert_near(f.forecast.counted, 300, 1e-12);
    f = facts_at("pot", 0.5, 10, "warmup: {time: 100}\nhorizon: 500\n");
    assert_int_equal(f.path.before, 100);
    assert_near(f.forecast.before, 50, 1e-12);
    assert_int_equal(facts_at("pot", 0.5, 10, "warmup: 0\n").path.counted, 200);
    static const char *const never[] = {
        "arrivals: deterministic\n", "arrivals: {geometric: {mean: 3}}\n",
        "arrivals: uniform\nsynchronised: true\n",
        "failures: {up: {deterministic: {mean: 9}}, down: deterministic}\n",
        "service_mean: 3\nallow_unstable: true\n"};
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
        assert_int_equal(facts_at("pot", 0.5, 10, never[i]).path.counted, 0);
    static const char *const sometime[] = {
        "arrivals: uniform\n", "service: deterministic\n",
        "failures: {up: {exponential: {mean: 9}}, down: deterministic}\n",
        "arrivals: {batch: {size: 3}}\n"};
    for (unsigned i = 0; i < sizeof sometime / sizeof *sometime; i++)
        assert_true(facts_at("pot", 0.5, 10, sometime[i]).path.counted > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_what_does_not_apply),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_precision_wanted),
        cmocka_unit_test(test_proposals),
        cmocka_unit_test(test_forecasts_printed),
        cmocka_unit_test(test_one_server),
        cmocka_unit_test(test_many_servers),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
