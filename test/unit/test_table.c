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

/* A column as a test writes it. */
struct given {
    const char *name;
    const char *const *text;
    const double *number;
};

static struct table *table_of(const char *title, uint64_t rows, unsigned n,
                              const struct given *given) {
    struct table *t = allocate(1, sizeof *t);
    *t = (struct table){.title = duplicate_text(title), .complete = true, .n_done = rows};
    t->n_rows = rows;
    t->n_columns = n;
    t->columns = allocate(n, sizeof *t->columns);
    for (unsigned i = 0; i < n; i++) {
        struct column *c = &t->columns[i];
        c->name = duplicate_text(given[i].name);
        c->text = given[i].text ? allocate(rows, sizeof *c->text) : NULL;
        c->number = given[i].text ? NULL : allocate(rows, sizeof *c->number);
        for (uint64_t r = 0; r < rows && c->text; r++)
            c->text[r] = duplicate_text(given[i].text[r]);
        for (uint64_t r = 0; r < rows && c->number; r++)
            c->number[r] = given[i].number[r];
    }
    return t;
}

static void release(struct table *t) {
    for (unsigned i = 0; i < t->n_columns; i++) {
        for (uint64_t r = 0; r < t->n_rows && t->columns[i].text; r++)
            free(t->columns[i].text[r]);
        free(t->columns[i].text);
        free(t->columns[i].number);
        free(t->columns[i].name);
    }
    free(t->columns);
    free(t->title);
    free(t);
}

static const char *const topology[] = {"ring", "ring", "torus", "torus"};
static const char *const sides[] = {"", "", "10x10", "10x10"};
static const char *const policy[] = {"pot", "unif-pot", "unif-pot", "pot"};
static const char *const label[] = {"a", "b, \"c\"", "d\ne", "caf\xc3\xa9"};
static const double point[] = {0, 1, 2, 3}, servers[] = {50, 50, 100, 100};
static const double k[] = {NONE, 10, 9, NONE}, ties[] = {1, 1, 1, 1}, gap[] = {1, 2, 3, 4};
static const double replications[] = {1000, 1000, 1000, 1000};
static const double mean_load[] = {3.0625, 1.0 / 3, 4, 12345.678},
                    se_load[] = {0.0021, 1e-5, 0, 60};
static const double mean_cost[] = {NONE, 5, 2.5, 1}, se_cost[] = {NONE, 1e-12, NONE, 0.5};
static const struct given usual[COLUMNS] = {
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
    {"mean_gap", NULL, gap},
};

static struct table *usual_table(void) {
    return table_of("Near and far", ROWS, COLUMNS, usual);
}

/* What table_show() prints; the caller frees. */
static char *shown(const struct table *t, const char *by, enum show_format format) {
    struct complaints c = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const struct options options = {.by = by, .format = format};
    assert_true(table_show(t, NULL, &options, out, &c));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(c.count, 0);
    return text;
}

/* Checks what is printed and releases the table. */
static void assert_shown(struct table *t, const char *by, enum show_format format,
                         const char *expected) {
    char *text = shown(t, by, format);
    assert_string_equal(text, expected);
    free(text);
    release(t);
}

static void test_people(void **state) {
    (void)state;
    /* ties is the same everywhere, sides restate the place */
    assert_shown(usual_table(), NULL, SHOW_TABLE,
                 "Near and far: 1000 replications, complete\n"
                 "\n"
                 "topology    n  policy     k             max_load            cost\n"
                 "ring       50  pot        -    3.0625 ± 0.0041       -\n"
                 "ring       50  unif-pot  10  0.333333 ± 0.000020     5 ± 2.0e-12\n"
                 "torus     100  unif-pot   9         4              2.5\n"
                 "torus     100  pot        -     12346 ± 118       1.00 ± 0.98\n"
                 "\n"
                 "± is the half width of the 95 % interval; --csv has every column\n");
}

static void test_by(void **state) {
    (void)state;
    /* k by size and not by text, what does not apply last, then as in the file */
    assert_shown(usual_table(), "k,topology", SHOW_TABLE,
                 "Near and far: 1000 replications, complete\n"
                 "\n"
                 " k  topology             max_load            cost\n"
                 " 9  torus            4              2.5\n"
                 "10  ring      0.333333 ± 0.000020     5 ± 2.0e-12\n"
                 " -  ring        3.0625 ± 0.0041       -\n"
                 " -  torus        12346 ± 118       1.00 ± 0.98\n"
                 "\n"
                 "± is the half width of the 95 % interval; --csv has every column\n");
    assert_shown(
        usual_table(), "policy,k,policy", SHOW_CSV,
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
    struct table *t = usual_table();
    assert_false(table_show(t, NULL, &(struct options){.by = "polcy,k,,zzzzzzzz"}, out, &c));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(size, 0);
    assert_int_equal(c.count, 3);
    assert_non_null(strstr(c.text, "no column 'polcy' (did you mean 'policy'?)"));
    assert_non_null(strstr(c.text, "no column ''"));
    assert_non_null(strstr(c.text, "no column 'zzzzzzzz'"));
    complaints_free(&c);
    release(t);
    free(text);
}

static void test_csv(void **state) {
    (void)state;
    assert_shown(
        usual_table(), NULL, SHOW_CSV,
        "point,label,topology,n,sides,policy,k,ties,replications,mean_max_load,se_max_load,"
        "mean_cost,se_cost,mean_gap\n"
        "0,a,ring,50,,pot,,1,1000,3.0625,0.0021,,,1\n"
        "1,\"b, \"\"c\"\"\",ring,50,,unif-pot,10,1,1000,0.3333333333333333,1e-05,5,1e-12,2\n"
        "2,\"d\ne\",torus,100,10x10,unif-pot,9,1,1000,4,0,2.5,,3\n"
        "3,caf\xc3\xa9,torus,100,10x10,pot,,1,1000,12345.678,60,1,0.5,4\n");
}

static void test_json(void **state) {
    (void)state;
    const double odd[] = {0.1, 1e300, -0.0, HUGE_VAL};
    const struct given two[] = {{"label", label, NULL}, {"k", NULL, odd}};
    assert_shown(table_of("", ROWS, 2, two), NULL, SHOW_JSON,
                 "[\n"
                 " {\"label\": \"a\", \"k\": 0.1},\n"
                 " {\"label\": \"b, \\\"c\\\"\", \"k\": 1e+300},\n"
                 " {\"label\": \"d\\ne\", \"k\": -0},\n"
                 " {\"label\": \"caf\xc3\xa9\", \"k\": null}\n"
                 "]\n");
    struct table *t = usual_table();
    char *text = shown(t, "k,label", SHOW_JSON);
    assert_non_null(strstr(text, "[\n {\"k\": 9, \"label\": \"d\\ne\", \"point\": 2, "));
    assert_non_null(strstr(text, "{\"k\": null, "));
    free(text);
    release(t);
}

/* Without any of the statistics that most people want, every mean shows; one label at least. */
static void test_other_models(void **state) {
    (void)state;
    const double busy[] = {0.5, 0.25}, none[] = {NONE, NONE}, counts[] = {2, 30};
    const struct given few[] = {
        {"label", label, NULL},  {"replications", NULL, counts}, {"mean_busy", NULL, busy},
        {"se_busy", NULL, none}, {"mean_nothing", NULL, none},
    };
    struct table *t = table_of("", 2, 5, few);
    t->complete = false;
    t->n_done = 1;
    assert_shown(t, NULL, SHOW_TABLE,
                 "2 to 30 replications, incomplete: 1 of 2 points done\n"
                 "\n"
                 "label   replications  busy\n"
                 "a                  2   0.5\n"
                 "b, \"c\"            30  0.25\n"
                 "\n"
                 "--csv has every column\n");
}

/* A parameter that is called a mean is none. */
static void test_mean_of_a_parameter(void **state) {
    (void)state;
    const double degree[] = {8, 8}, busy[] = {0.5, 0.25}, counts[] = {30, 30};
    const struct given few[] = {{"label", label, NULL},
                                {"mean_degree", NULL, degree},
                                {"replications", NULL, counts},
                                {"mean_busy", NULL, busy}};
    struct table *t = table_of("", 2, 4, few);
    assert_shown(t, NULL, SHOW_TABLE,
                 "30 replications, complete\n"
                 "\n"
                 "label   busy\n"
                 "a        0.5\n"
                 "b, \"c\"  0.25\n"
                 "\n"
                 "--csv has every column\n");
}

/* Student's factor for few replications: 12.7 for two. */
static void test_few_replications(void **state) {
    (void)state;
    const double mean[] = {5, 5}, se[] = {1, NONE}, counts[] = {2, 1};
    const struct given few[] = {
        {"label", label, NULL},
        {"replications", NULL, counts},
        {"mean_cost", NULL, mean},
        {"se_cost", NULL, se},
    };
    struct table *t = table_of("", 2, 4, few);
    char *text = shown(t, NULL, SHOW_TABLE);
    assert_non_null(strstr(text, "5 ± 13\n"));
    free(text);
    release(t);
}

static void test_width(void **state) {
    (void)state;
    enum { MANY = 40 };
    const double x[] = {1.5, 2.5};
    struct given many[MANY] = {{"label", label, NULL}};
    char name[MANY][24];
    for (int i = 1; i < MANY; i++) {
        snprintf(name[i], sizeof name[i], "mean_statistic_%d", i);
        many[i] = (struct given){name[i], NULL, x};
    }
    struct table *t = table_of("", 2, MANY, many);
    char *text = shown(t, NULL, SHOW_TABLE);
    size_t widest = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        widest = strcspn(at, "\n") > widest ? strcspn(at, "\n") : widest;
    assert_true(widest > 90 && widest <= 110);
    free(text);
    release(t);
}

/* Four points over the bins 0, 1, 2, 3 and 4..7; the last one has counted nothing. */
static char *with_histogram(enum show_format format, bool bins) {
    static double low[] = {0, 1, 2, 3, 4}, high[] = {0, 1, 2, 3, 7};
    static double count[] = {0, 6, 2, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    static double error[] = {0, 0.01, 0.01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static char name[] = "load_count", axis[] = "load";
    struct law law = {.name = name, .axis = axis, .n_rows = ROWS, .n_bins = 5};
    law.low = low;
    law.high = high;
    law.count = count;
    law.error = error;
    struct complaints c = {0};
    struct table *t = usual_table();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct options options = {.format = format, .histogram = bins ? "load_count" : NULL};
    assert_true(table_show(t, &law, &options, out, &c));
    assert_int_equal(fclose(out), 0);
    release(t);
    return text;
}

static void test_histograms(void **state) {
    (void)state;
    char *text = with_histogram(SHOW_TABLE, false);
    assert_non_null(strstr(text, "load 1..7\n"));
    assert_non_null(strstr(text, "█▃  \n"));
    free(text);
    text = with_histogram(SHOW_TABLE, true);
    assert_non_null(strstr(text, "                 1         0.750 ± 0.020        "
                                 "████████████████████████████████████████\n"
                                 "                 2         0.250 ± 0.020        █████████████▍\n"
                                 "\nb, \"c\" (1000 replications)\n"));
    assert_non_null(strstr(text, "café (1000 replications): nothing counted\n"));
    assert_non_null(strstr(text, "              4..7          0.75                ████"));
    free(text);
    text = with_histogram(SHOW_CSV, true);
    assert_non_null(strstr(text, "point,label,load,load_upper,load_count,fraction,se_fraction\n"
                                 "0,a,1,1,6,0.75,0.01"));
    assert_non_null(strstr(text, "\n1,\"b, \"\"c\"\"\",4,7,3,0.75,0\n"));
    assert_non_null(strstr(text, "\n3,café,1,1,0,,0\n"));
    free(text);
    text = with_histogram(SHOW_JSON, true);
    assert_non_null(strstr(text, "{\"point\": 1, \"label\": \"b, \\\"c\\\"\", \"load\": 4, "
                                 "\"load_upper\": 7, \"load_count\": 3, \"fraction\": 0.75, "));
    assert_non_null(
        strstr(text, "\"load_count\": 0, \"fraction\": null, \"se_fraction\": 0}\n]\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_people),
        cmocka_unit_test(test_by),
        cmocka_unit_test(test_by_mistakes),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_mean_of_a_parameter),
        cmocka_unit_test(test_few_replications),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_histograms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
