/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Forms of the job language that few parameters take, against a stub model of its own: vectors of
 * numbers, values that may be unset, a value written bare instead of the kind it belongs to,
 * parameters without the name of their kind, kinds within kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job.h"

static const struct parameter of_exponential[] = {
    {.name = "mean", .type = TYPE_REAL, .lower = 0.1, .upper = 100, .standard = "1", .units = "s"},
};
static const struct parameter of_discrete[] = {
    {.name = "values", .type = TYPE_REALS, .lower = 0, .upper = 10, .units = "s"},
    {.name = "shares", .type = TYPE_REALS, .lower = 0, .upper = 1, .standard = "1", .units = "1"},
};
static const struct kind exponential = {"exponential", "", "", of_exponential, 1},
                         discrete = {"discrete", "", "", of_discrete, 2};
static const struct kind *const law_kinds[] = {&exponential, &discrete};
static const struct catalogue laws = {"law", law_kinds, 2};

static const struct parameter of_jobs[] = {
    {.name = "jobs",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 1e6,
     .relative = true,
     .bare = true,
     .units = "job"},
};
static const struct parameter of_time[] = {
    {.name = "time", .type = TYPE_REAL, .lower = 0, .upper = 1e3, .bare = true, .units = "s"},
};
static const struct kind jobs = {"jobs", "", "", of_jobs, 1}, length = {"time", "", "", of_time, 1},
                         ever = {"ever", "", "", NULL, 0};
static const struct kind *const span_kinds[] = {&jobs, &length, &ever};
static const struct catalogue spans = {"span", span_kinds, 3};

static const struct parameter of_turns[] = {
    {.name = "up", .type = TYPE_ENTRY, .catalogue = &laws, .units = "1"},
    {.name = "down",
     .type = TYPE_ENTRY,
     .catalogue = &laws,
     .standard = "exponential",
     .units = "1"},
    {.name = "again", .type = TYPE_FLAG, .standard = "false", .units = "1"},
};
static const struct parameter of_strikes[] = {
    {.name = "rate", .type = TYPE_REAL, .lower = 0, .upper = 10, .units = "1/s"},
    {.name = "again", .type = TYPE_FLAG, .standard = "false", .units = "1"},
};
static const struct kind none = {"none", "", "", NULL, 0}, turns = {"turns", "", "", of_turns, 3},
                         strikes = {"strikes", "", "", of_strikes, 2};
static const struct kind *const break_kinds[] = {&none, &turns, &strikes};
static const struct catalogue breaks = {"way to break", break_kinds, 3};

enum { N, RATES, CAP, SPAN, BREAKS, LAW, PARAMETERS };
static const struct parameter parameters[PARAMETERS] = {
    {.name = "n", .type = TYPE_COUNT, .lower = 1, .upper = 1e6, .standard = "20", .units = "1"},
    {.name = "rates",
     .type = TYPE_REALS,
     .lower = 0,
     .upper = 10,
     .standard = "unset",
     .units = "1"},
    {.name = "cap", .type = TYPE_REAL, .lower = 0, .upper = 10, .standard = "unset", .units = "1"},
    {.name = "span", .type = TYPE_ENTRY, .catalogue = &spans, .standard = "ever", .units = "1"},
    {.name = "breaks",
     .type = TYPE_ENTRY,
     .catalogue = &breaks,
     .standard = "none",
     .nameless = true,
     .units = "1"},
    {.name = "law",
     .type = TYPE_ENTRY,
     .catalogue = &laws,
     .standard = "exponential",
     .units = "1"},
};

static bool examine(const struct value *v, const struct budget *budget, struct facts *f,
                    struct reason *why, unsigned *at) {
    (void)budget, (void)why, (void)at;
    f->servers = v[N].count;
    return true;
}
static void shared_text(const struct value *v, char *text, size_t size) {
    (void)v;
    snprintf(text, size, "flow");
}
static const struct model flow = {
    .kind = {"flow", "", "", parameters, PARAMETERS},
    .law = -1,
    .cost = -1,
    .contender = -1,
    .examine = examine,
    .shared_text = shared_text,
};
static const struct kind *const model_kinds[] = {&flow.kind};
static const struct catalogue models = {"model", model_kinds, 1};

#define HEAD "seed: 1\nreplications: 9\n"

static struct job *read_text(const char *text) {
    struct complaints c = {0};
    char *whole = format_text(HEAD "%s", text);
    struct job *job = job_read("j.yaml", whole, NULL, &models, &c);
    free(whole);
    if (!job)
        fail_msg("%s%s", text, c.text);
    assert_null(c.text);
    return job;
}

/* The job is read, `resolved` has the line, and it is a job that resolves to itself. */
static void resolves(const char *text, const char *line) {
    struct job *job = read_text(text);
    if (!strstr(job->resolved, line))
        fail_msg("%s lacks '%s':\n%s", text, line, job->resolved);
    struct complaints c = {0};
    struct job *again = job_read("j.yaml", job->resolved, NULL, &models, &c);
    if (!again)
        fail_msg("%s", c.text);
    assert_string_equal(again->resolved, job->resolved);
    assert_int_equal(again->n_points, job->n_points);
    job_free(again);
    job_free(job);
}

/* The complaints, all of them. */
static void refused(const char *text, const char *expected) {
    struct complaints c = {0};
    char *whole = format_text(HEAD "%s", text);
    assert_null(job_read("j.yaml", whole, NULL, &models, &c));
    if (strcmp(c.text, expected) != 0)
        fail_msg("%s\ngives\n%sinstead of\n%s", text, c.text, expected);
    complaints_free(&c);
    free(whole);
}

static void test_numbers_in_vectors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned n;
        double reals[3];
    } good[] = {
        {"rates: 2\n", 1, {2}},
        {"rates: [2]\n", 1, {2}},
        {"rates: [0.5, 1/4, 50%]\n", 3, {0.5, 0.25, 0.5}},
        {"rates: [1e-3, 1_0, -0]\n", 3, {1e-3, 10, 0}},
        {"rates:\n  - 0\n  - 10\n", 2, {0, 10}},
    };
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        struct job *job = read_text(good[i].text);
        const struct value *v = &job->points[0].values[RATES];
        assert_int_equal(job->n_points, 1);
        assert_false(v->unset);
        assert_int_equal(v->n_reals, good[i].n);
        for (unsigned k = 0; k < v->n_reals; k++)
            assert_true(v->reals[k] == good[i].reals[k]);
        job_free(job);
    }
    resolves("rates: 2\n", "\nrates: [2]\n");
    resolves("rates: [1/3, 50%]\n", "\nrates: [0.3333333333333333, 0.5]\n");
}

static void test_vectors_of_numbers_as_axis(void **state) {
    (void)state;
    struct job *job = read_text("rates: [[1, 2], [0.5], 3, unset]\n");
    static const unsigned sizes[] = {2, 1, 1, 0};
    static const char *const labels[] = {"rates=[1, 2]", "rates=[0.5]", "rates=[3]", "rates=unset"};
    assert_int_equal(job->n_points, 4);
    for (unsigned p = 0; p < 4; p++) {
        const struct value *v = &job->points[p].values[RATES];
        assert_int_equal(v->n_reals, sizes[p]);
        assert_int_equal(v->unset, p == 3);
        assert_string_equal(job->points[p].label, labels[p]);
    }
    job_free(job);
    resolves("rates: [[1, 2], [0.5], 3, unset]\n", "\nrates: [[1, 2], [0.5], [3], unset]\n");
}

static void test_bad_vectors_of_numbers(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"rates: []\n",
         "j.yaml:3:8: 'rates' has an empty list (a list of numbers, each between 0 and 10)\n"},
        {"rates: [1, x]\n",
         "j.yaml:3:12: 'rates' must be a list of numbers, each between 0 and 10, not 'x'\n"},
        {"rates: [1, 11, -1]\n", "j.yaml:3:12: 'rates' must be between 0 and 10, not "
                                 "11\nj.yaml:3:16: 'rates' must be between 0 and 10, not -1\n"},
        {"rates: {a: 1}\n",
         "j.yaml:3:8: 'rates' must be a list of numbers, each between 0 and 10, not a mapping\n"},
        {"rates: '1'\n", "j.yaml:3:8: 'rates' must be a number, not text (without quotes)\n"},
        {"rates: [1, '2']\n", "j.yaml:3:12: 'rates' must be a number, not text (without quotes)\n"},
        {"rates:\n",
         "j.yaml:3:7: 'rates' must be a list of numbers, each between 0 and 10, not nothing\n"},
        {"rates: [1, ~]\n",
         "j.yaml:3:12: 'rates' must be a list of numbers, each between 0 and 10, not nothing\n"},
        {"rates: [[1, 2], []]\n", "j.yaml:3:17: 'rates' must be a list of numbers, each between 0 "
                                  "and 10, not an empty list\n"},
        {"rates: [[1, 2], [1, 2]]\n", "j.yaml:3:17: '[1, 2]' is listed twice\n"},
        {"rates: [[1, [2]]]\n",
         "j.yaml:3:13: 'rates' must be a list of numbers, each between 0 and 10, not a list\n"},
        {"rates: [1n, 2n]\n",
         "j.yaml:3:9: 'rates' must be a list of numbers, each between 0 and 10, not "
         "'1n'\nj.yaml:3:13: 'rates' must be a list of numbers, each between 0 and 10, not '2n'\n"},
        {"rates: 1x2\n",
         "j.yaml:3:8: 'rates' must be a list of numbers, each between 0 and 10, not '1x2'\n"},
        {"rates: [1e400]\n", "j.yaml:3:9: 'rates' is too large: 1e400, must be between 0 and 10\n"},
        {"rates: unsett\n",
         "j.yaml:3:8: 'rates' must be a list of numbers, each between 0 and 10, not 'unsett'\n"},
        {"rates: 'unset'\n", "j.yaml:3:8: 'rates' must be a number, not text (without quotes)\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
}

static void test_unset(void **state) {
    (void)state;
    struct job *job = read_text("cap: [unset, 0.5]\n");
    assert_int_equal(job->n_points, 2);
    assert_true(job->points[0].values[CAP].unset);
    assert_true(job->points[0].values[RATES].unset);
    assert_false(job->points[1].values[CAP].unset);
    assert_true(job->points[1].values[CAP].real == 0.5);
    job_free(job);
    resolves("cap: [unset, 0.5]\n", "\ncap: [unset, 0.5]\n");
    resolves("", "\nrates: unset\ncap: unset\n");
    static const char *const cases[][2] = {
        {"n: unset\n",
         "j.yaml:3:4: 'n' must be a whole number, between 1 and 1000000, not 'unset'\n"},
        {"cap: [unset, unset]\n", "j.yaml:3:14: 'unset' is listed twice\n"},
        {"cap: Unset\n", "j.yaml:3:6: 'cap' must be a number, between 0 and 10, not 'Unset'\n"},
        {"cap: 11\n", "j.yaml:3:6: 'cap' must be between 0 and 10, not 11\n"},
        {"cap: 'unset'\n", "j.yaml:3:6: 'cap' must be a number, not text (without quotes)\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
}

static void test_bare(void **state) {
    (void)state;
    static const char *const good[][2] = {
        {"span: 100\n", "\nspan: {jobs: {jobs: 100}}\n"},
        {"span: 2.5n\n", "\nspan: {jobs: {jobs: 2.5n}}\n"},
        {"span: {jobs: 7}\n", "\nspan: {jobs: {jobs: 7}}\n"},
        {"span: {jobs: {jobs: 7n}}\n", "\nspan: {jobs: {jobs: 7n}}\n"},
        {"span: {time: 50%}\n", "\nspan: {time: {time: 0.5}}\n"},
        {"span: {time: {time: 3}}\n", "\nspan: {time: {time: 3}}\n"},
        {"span: ever\n", "\nspan: ever\n"},
        {"span: [100, {time: [1, 2]}, ever]\n",
         "\nspan:\n  - jobs: {jobs: 100}\n  - time: {time: 1}\n  - time: {time: 2}\n  - ever\n"},
    };
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        resolves(good[i][0], good[i][1]);
    static const char *const cases[][2] = {
        {"span: 0\n", "j.yaml:3:7: 'jobs' must be between 1 and 1000000, not 0\n"},
        {"span: 1.5\n", "j.yaml:3:7: 'jobs' must be a whole number, not 1.5\n"},
        {"span: -3\n", "j.yaml:3:7: 'jobs' must be between 1 and 1000000, not -3\n"},
        {"span: 3m\n", "j.yaml:3:7: 'jobs' must be a whole number or a multiple of n such as 10n, "
                       "between 1 and 1000000, not '3m'\n"},
        {"span: '100'\n", "j.yaml:3:7: unknown span '100' (allowed: jobs, time, ever)\n"},
        {"span: {time: 1n}\n",
         "j.yaml:3:14: 'time' must be a number, between 0 and 1000, not '1n'\n"},
        {"span: {time: soon}\n",
         "j.yaml:3:14: 'time' must be a number, between 0 and 1000, not 'soon'\n"},
        {"span: {time: }\n", "j.yaml:3:8: time needs 'time' (a number, between 0 and 1000)\n"},
        {"span: {jobs: {time: 3}}\n",
         "j.yaml:3:8: jobs needs 'jobs' (a whole number or a multiple of n such as 10n, between 1 "
         "and 1000000)\nj.yaml:3:15: unknown parameter 'time' of jobs (allowed: jobs)\n"},
        {"span: {ever: 3}\n", "j.yaml:3:14: ever takes no parameters\n"},
        {"span: {jobs: 3, time: 3}\n",
         "j.yaml:3:17: 'span' takes one span at a time: 'time' follows 'jobs' (write a list)\n"},
        {"span: [5, 5]\n", "j.yaml:3:11: 'jobs: {jobs: 5}' is listed twice\n"},
        {"span: []\n", "j.yaml:3:7: 'span' has an empty list (a span)\n"},
        {"span: never\n",
         "j.yaml:3:7: unknown span 'never' (allowed: jobs, time, ever; did you mean 'ever'?)\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
}

static void test_nameless(void **state) {
    (void)state;
    static const char *const good[][2] = {
        {"breaks: {up: exponential}\n",
         "\nbreaks: {turns: {up: {exponential: {mean: 1}}, down: {exponential: {mean: 1}}, again: "
         "false}}\n"},
        {"breaks: {rate: 3, again: true}\n", "\nbreaks: {strikes: {rate: 3, again: true}}\n"},
        {"breaks: {up: {discrete: {values: [1, 2]}}, down: exponential}\n",
         "\nbreaks: {turns: {up: {discrete: {values: [1, 2], shares: [1]}}, down: {exponential: "
         "{mean: 1}}, again: false}}\n"},
        {"breaks: {again: true, rate: 3}\n", "\nbreaks: {strikes: {rate: 3, again: true}}\n"},
        {"breaks: {turns: {up: exponential}}\n", "\nbreaks: {turns: {up: {exponential:"},
        {"breaks: [none, {rate: [1, 2]}]\n", "\n  - none\n  - strikes: {rate: 1, again: false}\n"},
    };
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        resolves(good[i][0], good[i][1]);
    static const char *const cases[][2] = {
        {"breaks: {down: exponential}\n", "j.yaml:3:9: turns needs 'up' (a law)\n"},
        {"breaks: {up: exponential, rate: 3}\n",
         "j.yaml:3:27: unknown parameter 'rate' of turns (allowed: up, down, again)\n"},
        {"breaks: {again: true}\n",
         "j.yaml:3:10: unknown way to break 'again' (allowed: none, turns, strikes)\n"},
        {"breaks: {up: expontial}\n", "j.yaml:3:14: unknown law 'expontial' (allowed: exponential, "
                                      "discrete; did you mean 'exponential'?)\n"},
        {"breaks: {upp: exponential}\n",
         "j.yaml:3:10: unknown way to break 'upp' (allowed: none, turns, strikes)\n"},
        {"breaks: {rate: 11}\n", "j.yaml:3:16: 'rate' must be between 0 and 10, not 11\n"},
        {"breaks: {rate: 3, rate: 4}\n", "j.yaml:3:19: key 'rate' given twice (first on line 3)\n"},
        {"breaks: 3\n", "j.yaml:3:9: unknown way to break '3' (allowed: none, turns, strikes)\n"},
        {"breaks: {}\n", "j.yaml:3:9: 'breaks' must be a way to break, not an empty mapping\n"},
        {"breaks: {none: {rate: 3}}\n",
         "j.yaml:3:17: unknown parameter 'rate' of none (allowed: none)\n"},
        {"span: {values: [1]}\n",
         "j.yaml:3:8: unknown span 'values' (allowed: jobs, time, ever)\n"},
        {"breaks: [{rate: 1}, {strikes: {rate: 1}}]\n",
         "j.yaml:3:22: 'strikes: {rate: 1, again: false}' is listed twice\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
}

static void test_kinds_within_kinds(void **state) {
    (void)state;
    struct job *job = read_text("breaks: {up: [exponential: {mean: [2, 3]}, discrete: {values: "
                                "[[1, 2], [4]]}], down: {exponential: {mean: [5, 6]}}}\n");
    assert_int_equal(job->n_points, 8); /* the last axis varies fastest */
    for (unsigned p = 0; p < 8; p++) {
        const struct value *v = job->points[p].values[BREAKS].entry->values;
        const struct entry *up = v[0].entry, *down = v[1].entry;
        assert_true(down->values[0].real == 5 + p % 2);
        assert_ptr_equal(up->kind, p < 4 ? &exponential : &discrete);
        if (p < 4)
            assert_true(up->values[0].real == 2 + p / 2 % 2);
        else
            assert_int_equal(up->values[0].n_reals, p < 6 ? 2 : 1);
    }
    job_free(job);
    static const char *const cases[][2] = {
        {"law: {exponential: {mean: 0}}\n",
         "j.yaml:3:27: 'mean' must be between 0.1 and 100, not 0\n"},
        {"law: {exponential: {median: 2}}\n",
         "j.yaml:3:21: unknown parameter 'median' of exponential (allowed: mean; did you mean "
         "'mean'?)\n"},
        {"law: discrete\n",
         "j.yaml:3:6: discrete needs 'values' (a list of numbers, each between 0 and 10)\n"},
        {"law: {discrete: {values: [1, 20], shares: [0.5, 2]}}\n",
         "j.yaml:3:30: 'values' must be between 0 and 10, not 20\nj.yaml:3:49: 'shares' must be "
         "between 0 and 1, not 2\n"},
        {"law: {discrete: [1, 2]}\n",
         "j.yaml:3:17: discrete takes its parameters by name (discrete: {values: ...})\n"},
        {"law: turns\n",
         "j.yaml:3:6: 'turns' is a way to break, not a law (allowed: exponential, discrete)\n"},
        {"breaks: {turns: {up: {turns: {up: exponential}}}}\n",
         "j.yaml:3:23: 'turns' is a way to break, not a law (allowed: exponential, discrete)\n"},
        {"breaks: {turns: {up: discrete, down: {exponential: {mean: 1000}}}}\n",
         "j.yaml:3:22: discrete needs 'values' (a list of numbers, each between 0 and "
         "10)\nj.yaml:3:59: 'mean' must be between 0.1 and 100, not 1000\n"},
        {"breaks: {turns: {up: 3}}\n",
         "j.yaml:3:22: unknown law '3' (allowed: exponential, discrete)\n"},
        {"mean: 3\n",
         "j.yaml:3:1: 'mean' belongs within a law (law: {exponential: {mean: ...}})\n"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_in_vectors),
        cmocka_unit_test(test_vectors_of_numbers_as_axis),
        cmocka_unit_test(test_bad_vectors_of_numbers),
        cmocka_unit_test(test_unset),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_nameless),
        cmocka_unit_test(test_kinds_within_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
