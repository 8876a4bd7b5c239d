/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a plan makes of the facts of its points: memory, refusals, notes. */
#include "plan.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_what_does_not_apply),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
