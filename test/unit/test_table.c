/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NONE ((double)NAN)
enum { ROWS = 4, COLUMNS = 14 };

static char *topology[] = {"ring", "ring", "torus", "torus"};
static char *sides[] = {"", "", "10x10", "10x10"};
static char *policy[] = {"pot", "unif-pot", "unif-pot", "pot"};
static char *label[] = {"a", "b, \"c\"", "d\ne", "caf\xc3\xa9"};
static double point[] = {0, 1, 2, 3}, servers[] = {50, 50, 100, 100}, k[] = {NONE, 10, 9, NONE};
static double ties[] = {1, 1, 1, 1}, replications[] = {1000, 1000, 1000, 1000};
static double mean_load[] = {3.0625, 1.0 / 3, 4, 12345.678}, se_load[] = {0.0021, 0.00001, 0, 60};
static double mean_cost[] = {NONE, 5, 2.5, 1}, se_cost[] = {NONE, 1e-12, NONE, 0.5};
static double mean_gap[] = {1, 2, 3, 4};

static struct column columns[COLUMNS] = {
    {"point", NULL, point},
    {"label", label, NULL},
    {"topology", topology, NULL},
    {"n", NULL, servers},
    {"sides", sides, NULL},
    {"policy", policy, NULL},
    {"k", NULL, k},
    {"ties", NULL, ties},
    {"replications", NULL, replications},
    {"mean_max_load", NULL, mean_load},
    {"se_max_load", NULL, se_load},
    {"mean_cost", NULL, mean_cost},
    {"se_cost", NULL, se_cost},
    {"mean_gap", NULL, mean_gap},
};
static char title[] = "Near and far";
static const struct table table = {.title = title,
                                   .complete = true,
                                   .n_done = ROWS,
                                   .n_rows = ROWS,
                                   .n_columns = COLUMNS,
                                   .columns = columns};

/* What table_show() prints; the caller frees. */
static char *shown(const struct table *t, const char *by, enum show_format format) {
    struct complaints c = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(table_show(t, by, format, out, &c));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(c.count, 0);
    return text;
}

static void assert_shown(const struct table *t, const char *by, enum show_format format,
                         const char *expected) {
    char *text = shown(t, by, format);
    assert_string_equal(text, expected);
    free(text);
}

static void test_people(void **state) {
    (void)state;
    /* ties is the same everywhere, sides restate the place */
    assert_shown(&table, NULL, SHOW_TABLE,
                 "Near and far: 1000 replications, complete\n"
                 "\n"
                 "topology    n  policy     k              max_load           cost\n"
                 "ring       50  pot        -    3.0625 ± 0.0041             -\n"
                 "ring       50  unif-pot  10  0.333333 ± 0.000020           5 ± 2.0e-12\n"
                 "torus     100  unif-pot   9         4                    2.5\n"
                 "torus     100  pot        -     12346 ± 118             1.00 ± 0.98\n"
                 "\n"
                 "± is the half width of the 95 % interval; --csv has every column\n");
}

static void test_by(void **state) {
    (void)state;
    /* k by size and not by text, what does not apply last, then as in the file */
    assert_shown(&table, "k,topology", SHOW_TABLE,
                 "Near and far: 1000 replications, complete\n"
                 "\n"
                 " k  topology              max_load           cost\n"
                 " 9  torus            4                    2.5\n"
                 "10  ring      0.333333 ± 0.000020           5 ± 2.0e-12\n"
                 " -  ring        3.0625 ± 0.0041             -\n"
                 " -  torus        12346 ± 118             1.00 ± 0.98\n"
                 "\n"
                 "± is the half width of the 95 % interval; --csv has every column\n");
    assert_shown(
        &table, "policy,k,policy", SHOW_CSV,
        "policy,k,point,label,topology,n,sides,ties,replications,mean_max_load,se_max_load,"
        "mean_cost,se_cost,mean_gap\n"
        "pot,,0,a,ring,50,,1,1000,3.0625,0.0021,,,1\n"
        "pot,,3,caf\xc3\xa9,torus,100,10x10,1,1000,12345.678,60,1,0.5,4\n"
        "unif-pot,9,2,\"d\ne\",torus,100,10x10,1,1000,4,0,2.5,,3\n"
        "unif-pot,10,1,\"b, \"\"c\"\"\",ring,50,,1,1000,0.3333333333333333,1e-05,5,1e-12,2\n");
}

static void test_by_mistakes(void **state) {
    (void)state;
    struct complaints c = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_false(table_show(&table, "polcy,k,,zzzzzzzz", SHOW_TABLE, out, &c));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(size, 0);
    assert_int_equal(c.count, 3);
    assert_non_null(strstr(c.text, "no column 'polcy' (did you mean 'policy'?)"));
    assert_non_null(strstr(c.text, "no column ''"));
    assert_non_null(strstr(c.text, "no column 'zzzzzzzz'"));
    complaints_free(&c);
    free(text);
}

static void test_csv(void **state) {
    (void)state;
    assert_shown(
        &table, NULL, SHOW_CSV,
        "point,label,topology,n,sides,policy,k,ties,replications,mean_max_load,se_max_load,"
        "mean_cost,se_cost,mean_gap\n"
        "0,a,ring,50,,pot,,1,1000,3.0625,0.0021,,,1\n"
        "1,\"b, \"\"c\"\"\",ring,50,,unif-pot,10,1,1000,0.3333333333333333,1e-05,5,1e-12,2\n"
        "2,\"d\ne\",torus,100,10x10,unif-pot,9,1,1000,4,0,2.5,,3\n"
        "3,caf\xc3\xa9,torus,100,10x10,pot,,1,1000,12345.678,60,1,0.5,4\n");
}

static void test_json(void **state) {
    (void)state;
    struct column two[] = {{"label", label, NULL}, {"k", NULL, k}};
    double last = HUGE_VAL;
    double rest[] = {0.1, 1e300, -0.0, last};
    two[1].number = rest;
    const struct table t = {.title = title, .n_rows = ROWS, .n_columns = 2, .columns = two};
    assert_shown(&t, NULL, SHOW_JSON,
                 "[\n"
                 " {\"label\": \"a\", \"k\": 0.1},\n"
                 " {\"label\": \"b, \\\"c\\\"\", \"k\": 1e+300},\n"
                 " {\"label\": \"d\\ne\", \"k\": -0},\n"
                 " {\"label\": \"caf\xc3\xa9\", \"k\": null}\n"
                 "]\n");
    two[1].number = k;
    char *text = shown(&t, "k", SHOW_JSON);
    assert_non_null(strstr(text, "[\n {\"k\": 9, \"label\": \"d\\ne\"},\n"));
    assert_non_null(strstr(text, "{\"k\": null, "));
    free(text);
}

/* Without any of the statistics that most people want, every mean shows; one label at least. */
static void test_other_models(void **state) {
    (void)state;
    double busy[] = {0.5, 0.25};
    struct column few[] = {
        {"label", label, NULL},   {"replications", NULL, replications}, {"mean_busy", NULL, busy},
        {"se_busy", NULL, k + 3}, {"mean_nothing", NULL, k + 3},
    };
    double none[] = {NONE, NONE}, counts[] = {2, 30};
    few[1].number = counts;
    few[3].number = few[4].number = none;
    char empty[] = "";
    const struct table t = {
        .title = empty, .n_done = 1, .n_rows = 2, .n_columns = 5, .columns = few};
    assert_shown(&t, NULL, SHOW_TABLE,
                 "2 to 30 replications, incomplete: 1 of 2 points done\n"
                 "\n"
                 "label     replications  busy\n"
                 "a                    2   0.5\n"
                 "b, \"c\"            30  0.25\n"
                 "\n"
                 "--csv has every column\n");
}

/* Student's factor for few replications: 12.7 for two. */
static void test_few_replications(void **state) {
    (void)state;
    double mean[] = {5, 5}, se[] = {1, NONE}, counts[] = {2, 1};
    struct column few[] = {
        {"label", label, NULL},
        {"replications", NULL, counts},
        {"mean_cost", NULL, mean},
        {"se_cost", NULL, se},
    };
    const struct table t = {
        .title = title, .complete = true, .n_rows = 2, .n_columns = 4, .columns = few};
    char *text = shown(&t, NULL, SHOW_TABLE);
    assert_non_null(strstr(text, "5 ± 13\n"));
    free(text);
}

static void test_width(void **state) {
    (void)state;
    enum { MANY = 40 };
    struct column many[MANY];
    char *names[MANY];
    double x[] = {1.5, 2.5};
    many[0] = (struct column){names[0] = format_text("label"), label, NULL};
    for (unsigned i = 1; i < MANY; i++)
        many[i] = (struct column){names[i] = format_text("mean_statistic_%u", i), NULL, x};
    const struct table t = {.title = title, .n_rows = 2, .n_columns = MANY, .columns = many};
    char *text = shown(&t, NULL, SHOW_TABLE);
    size_t widest = 0;
    for (char *at = text; *at; at += strcspn(at, "\n") + 1)
        widest = strcspn(at, "\n") > widest ? strcspn(at, "\n") : widest;
    assert_true(widest > 90 && widest <= 110);
    free(text);
    for (unsigned i = 0; i < MANY; i++)
        free(names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_people),
        cmocka_unit_test(test_by),
        cmocka_unit_test(test_by_mistakes),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_few_replications),
        cmocka_unit_test(test_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
