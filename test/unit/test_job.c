/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The job language against the stub models of stub_model.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job.h"
#include "rng.h"
#include "stub_model.h"

static struct job *read_text(const char *text) {
    struct complaints c = {0};
    struct job *job = job_read("j.yaml", text, NULL, &stub_models, &c);
    if (!job)
        fail_msg("%s", c.text);
    assert_null(c.text);
    return job;
}

/* Every line that `expected` has, and nothing else, is complained about. */
static void refused(const char *text, const char *expected) {
    struct complaints c = {0};
    struct job *job = job_read("j.yaml", text, NULL, &stub_models, &c);
    assert_null(job);
    assert_string_equal(c.text, expected);
    complaints_free(&c);
}

/* One complaint with these words in it. */
static void refused_with(const char *text, const char *words) {
    struct complaints c = {0};
    assert_null(job_read("j.yaml", text, NULL, &stub_models, &c));
    if (c.count != 1 || !strstr(c.text, words))
        fail_msg("'%s' is not the only thing in:\n%s", words, c.text);
    complaints_free(&c);
}

#define HEAD "seed: 1\nreplications: 9\nplace: {row: {n: 20}}\n"

static void has_labels(const char *text, const char *const *labels, uint64_t n) {
    struct job *job = read_text(text);
    assert_int_equal(job->n_points, n);
    for (uint64_t k = 0; k < n; k++)
        assert_string_equal(job->points[k].label, labels[k]);
    job_free(job);
}

static void test_smallest_job(void **state) {
    (void)state;
    struct job *job = read_text("replications: 9\nplace: {row: {n: 20}}\n");
    assert_ptr_equal(job->model, &toy_model);
    assert_string_equal(job->title, "");
    assert_true(job->seed_drawn && job->common && job->keep_rows);
    assert_true(job->keep_histogram[0] && !job->keep_histogram[1]);
    assert_int_equal(job->n_points, 1);
    const struct point *p = job->points;
    assert_int_equal(p->facts.servers, 20);
    assert_string_equal(p->label, "row n=20, near k=2");
    assert_int_equal(p->baseline, -1);
    assert_int_equal(value_count(&p->values[TOY_THINGS], 20), 20);
    assert_string_equal(p->values[TOY_RULE].entry->text, "near: {k: 2, self: excluded}");
    assert_int_equal(job->replications.min, 9);
    assert_int_equal(job->replications.max, 9);
    job_free(job);
    job_free(NULL);
}

static void test_axes_in_the_order_of_the_file(void **state) {
    (void)state;
    static const char *const a[] = {
        "row n=5, pair, things=1n, ties=fair",   "row n=5, near k=2, things=1n, ties=fair",
        "row n=5, pair, things=1n, ties=origin", "row n=5, near k=2, things=1n, ties=origin",
        "row n=5, pair, things=7, ties=fair",    "row n=5, near k=2, things=7, ties=fair",
        "row n=5, pair, things=7, ties=origin",  "row n=5, near k=2, things=7, ties=origin"};
    has_labels("things: [n, 7]\nties: [fair, origin]\nplace: {row: {n: 5}}\nreplications: 1\nrule: "
               "[pair, near: {k: 2}]\n",
               a, 8);
    static const char *const b[] = {
        "row n=5, near k=1 self=excluded", "row n=5, near k=2 self=excluded",
        "row n=5, near k=1 self=included", "row n=5, near k=2 self=included"};
    has_labels("place: {row: {n: 5}}\nreplications: 1\nrule: {near: {self: [excluded, included], "
               "k: [1, 2]}}\n",
               b, 4);
    static const char *const c[] = {
        "row n=5, near k=1 self=excluded", "row n=5, near k=1 self=included",
        "row n=5, near k=2 self=excluded", "row n=5, near k=2 self=included"};
    has_labels("place: {row: {n: 5}}\nreplications: 1\nrule: {near: {k: [1, 2], self: [excluded, "
               "included]}}\n",
               c, 4);
    static const char *const d[] = {"row n=2, pair", "row n=3, pair", "box sides=2x2, pair",
                                    "row n=9, pair"};
    has_labels("place:\n  - row: {n: [2, 3]}\n  - box: {sides: 2x2}\n  - row:\n      n: "
               "9\nreplications: 1\nrule: pair\n",
               d, 4);
}

static void test_vectors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *labels[4];
        uint64_t n;
    } cases[] = {
        {"2x3", {"box sides=2x3, pair"}, 1},
        {"[2, 3]", {"box sides=2x3, pair"}, 1},
        {"4", {"box sides=4, pair"}, 1},
        {"[1e1, 1_0]", {"box sides=10x10, pair"}, 1},
        {"\"2x3\"", {"box sides=2x3, pair"}, 1},
        {"[2x3, 4x5x6]", {"box sides=2x3, pair", "box sides=4x5x6, pair"}, 2},
        {"[[2, 3], [4], 7x1]",
         {"box sides=2x3, pair", "box sides=4, pair", "box sides=7x1, pair"},
         3},
        {"\n      - [2, 3]\n      - - 4\n        - 5\n",
         {"box sides=2x3, pair", "box sides=4x5, pair"},
         2},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = format_text("replications: 1\nrule: pair\nplace:\n  box:\n    sides: %s\n",
                                 cases[i].text);
        has_labels(text, cases[i].labels, cases[i].n);
        free(text);
    }
    static const char *const shapes[] = {"row n=20, pair, shape=1x2", "row n=20, pair, shape=3"};
    has_labels(HEAD "rule: pair\nshape: [[1, 2], [3]]\n", shapes, 2);
    static const char *const bad[] = {"3x",   "x",      "2x-1",  "2x0",   "[2, x]", "[]",
                                      "[[]]", "{a: 1}", "\"4\"", "2.5x2", "",       "[2, ~]"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *text =
            format_text("replications: 1\nrule: pair\nplace: {box: {sides: %s}}\n", bad[i]);
        refused_with(text, "'sides'");
        free(text);
    }
}

static void test_forms_of_entries(void **state) {
    (void)state;
    static const char *const forms[] = {"lazy",
                                        "\"lazy\"",
                                        "lazy:",
                                        "{lazy: }",
                                        "[lazy]",
                                        "{lazy: {}}",
                                        "{lazy: {beta: 50%}}",
                                        "{lazy: {beta: 1/2}}",
                                        "{lazy: {beta: [0.5]}}",
                                        "[lazy: {beta: .5}]",
                                        "{lazy: ~}"};
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *text = format_text(HEAD "rule:\n  %s\n", forms[i]);
        struct job *job = read_text(text);
        assert_string_equal(job->points[0].values[TOY_RULE].entry->text, "lazy: {beta: 0.5}");
        assert_string_equal(job->points[0].label, "row n=20, lazy");
        job_free(job);
        free(text);
    }
    struct job *job = read_text("replications: 5\nplace: &here {row: {n: &n 7}}\nthings: *n\nrule: "
                                "[&p pair, near: {k: *n}]\n");
    assert_int_equal(job->n_points, 2);
    assert_int_equal(job->points[0].values[TOY_THINGS].count, 7);
    job_free(job);
}

static void test_text_survives(void **state) {
    (void)state;
    const char *text = "\xef\xbb\xbf# A question?\r\nreplications: 5\r\nplace: {row: {n: 5}}\r\n"
                       "title: \"tab\\t, quote \\\", caf\xc3\xa9, \\x1b, line\\nbreak, "
                       "\\u2028\\ufeff\"\r\nseed: 3\r\n";
    struct job *job = read_text(text);
    assert_string_equal(job->text, text);
    assert_int_equal(job->text_length, strlen(text));
    assert_string_equal(
        job->title, "tab\t, quote \", caf\xc3\xa9, \x1b, line\nbreak, \xe2\x80\xa8\xef\xbb\xbf");
    struct job *again = read_text(job->resolved);
    assert_string_equal(again->title, job->title);
    assert_string_equal(again->resolved, job->resolved);
    job_free(again);
    job_free(job);
}

static const char every_key[] =
    "title: All of it\n"
    "keep: [means, each]\n"
    "ties: [origin, fair]\n"
    "common: false\n"
    "model: toy\n"
    "baseline: {near: {k: 2}}\n"
    "seed: 18446744073709551615\n"
    "replications: {max: 1e5, until: {height: 1.5%, cost: [2%, 1e-3]}}\n"
    "place:\n  - row: {n: [1000, 10_000]}\n  - box: {sides: [4x4, [5, 6]]}\n"
    "rule: [pair, near: {k: [2, 5], self: [included, excluded]}]\n"
    "things: [1n, 0.5n, 1/3n, 77]\nrate: [1/3, 50%]\nshape: [1x2, [3]]\n";

static void test_resolved_is_the_job(void **state) {
    (void)state;
    struct job *a = read_text(every_key), *b = read_text(a->resolved);
    assert_string_equal(a->resolved, b->resolved);
    assert_string_equal(a->identity, b->identity);
    assert_int_equal(a->n_points, b->n_points);
    assert_int_equal(a->n_points, 2 * 4 * 5 * 4 * 2 * 2);
    for (uint64_t k = 0; k < a->n_points; k++) {
        assert_true(a->points[k].key == b->points[k].key);
        assert_int_equal(a->points[k].stream, b->points[k].stream);
        assert_int_equal(a->points[k].baseline, b->points[k].baseline);
        assert_string_equal(a->points[k].label, b->points[k].label);
    }
    assert_string_equal(
        a->resolved,
        "title: \"All of it\"\nmodel: toy\nseed: 18446744073709551615\n"
        "replications: {min: 30, max: 100000, until: {height: 1.5%, cost: [2%, 0.001]}}\n"
        "ties: [origin, fair]\n"
        "place:\n  - row: {n: 1000}\n  - row: {n: 10000}\n  - box: {sides: [4, 4]}\n  - box: "
        "{sides: [5, 6]}\n"
        "rule:\n  - pair\n  - near: {k: 2, self: included}\n  - near: {k: 2, self: excluded}\n"
        "  - near: {k: 5, self: included}\n  - near: {k: 5, self: excluded}\n"
        "things: [1n, 0.5n, 0.3333333333333333n, 77]\nrate: [0.3333333333333333, 0.5]\n"
        "shape: [[1, 2], [3]]\nflag: false\nbaseline: {near: {k: 2, self: excluded}}\n"
        "keep: [means, each]\ncommon: false\n");
    assert_false(a->keep_rows);
    assert_true(a->keep_histogram[1]);
    assert_int_equal(a->replications.n_criteria, 2);
    assert_true(a->replications.criteria[0].relative == 0.015 &&
                a->replications.criteria[0].absolute == 0);
    assert_true(a->replications.criteria[1].relative == 0.02 &&
                a->replications.criteria[1].absolute == 0.001);
    job_free(a);
    job_free(b);
}

static void test_replications_replaced(void **state) {
    (void)state;
    struct complaints c = {0};
    struct job *a = read_text(every_key),
               *b = job_read("j.yaml", every_key, &(struct reading){.replications = 77},
                             &stub_models, &c);
    assert_non_null(b);
    assert_int_equal(b->replications.min, 77);
    assert_int_equal(b->replications.max, 77);
    assert_int_equal(b->replications.n_criteria, 0);
    assert_non_null(strstr(b->resolved, "\nreplications: 77\n"));
    assert_null(strstr(b->identity, "replications"));
    assert_string_equal(a->identity, b->identity);
    job_free(a);
    job_free(b);
    b = job_read("j.yaml", "place: {row: {n: 1}}\nrule: pair\n",
                 &(struct reading){.replications = 5}, &stub_models, &c);
    assert_non_null(b);
    job_free(b);
}

static void test_unused_defaults_are_not_resolved(void **state) {
    (void)state;
    struct job *job = read_text(HEAD "rule: pair\n");
    assert_null(strstr(job->resolved, "ties"));
    assert_null(strstr(job->resolved, "exactness"));
    job_free(job);
    job = read_text(HEAD "rule: pair\nexactness: sampled\n");
    assert_non_null(strstr(job->resolved, "exactness: sampled"));
    job_free(job);
    refused(HEAD "rule: pair\nties: fair\n",
            "j.yaml:5:1: 'ties' makes no difference to any point of this job (remove it)\n");
    refused("replications: 1\nplace: {row: {n: 1}}\nrule: pair\nrate: [1, 2]\n",
            "j.yaml:4:1: 'rate' makes no difference to any point of this job (remove it)\n");
}

static void test_keys_streams_baselines(void **state) {
    (void)state;
    struct job *job = read_text(
        "seed: 7\nreplications: 1\nbaseline: lazy\nplace: [row: {n: 6}, box: {sides: 2x3}]\n"
        "rule: [pair, lazy, near: {k: 1}]\nthings: [5, 1n]\n");
    assert_int_equal(job->n_points, 12);
    for (uint64_t k = 0; k < 12; k++) {
        const struct point *p = &job->points[k];
        assert_true(p->key == rng_key(7, k < 6 ? "row: {n: 6}" : "box: {sides: [2, 3]}"));
        assert_int_equal(p->stream, k / 6);
        assert_int_equal(p->baseline, k / 6 * 6 + 2 + k % 2);
    }
    job_free(job);
    job = read_text("seed: 7\ncommon: false\nreplications: 1\nplace: {row: {n: 6}}\nrule: [pair, "
                    "lazy]\nthings: [5, 1n]\n");
    for (uint64_t k = 0; k < 4; k++) {
        assert_int_equal(job->points[k].stream, k);
        assert_int_equal(job->points[k].baseline, k % 2);
        for (uint64_t i = 0; i < k; i++)
            assert_true(job->points[k].key != job->points[i].key);
    }
    job_free(job);
}

/* Adding values to an axis leaves the keys of the other points as they were. */
static void test_axes_may_grow(void **state) {
    (void)state;
    struct job *a = read_text("seed: 7\ncommon: false\nreplications: 1\nplace: {row: {n: [6, "
                              "9]}}\nrule: pair\nthings: [5, 1n]\n");
    struct job *b = read_text("seed: 7\ncommon: false\nreplications: 1\nplace: {row: {n: [6, 7, "
                              "9]}}\nrule: [lazy, pair]\nthings: [5, 6, 1n]\n");
    for (uint64_t k = 0; k < a->n_points; k++) {
        bool found = false;
        for (uint64_t i = 0; i < b->n_points; i++)
            found = found || (a->points[k].key == b->points[i].key &&
                              !strcmp(a->points[k].label, b->points[i].label));
        assert_true(found);
    }
    job_free(a);
    job_free(b);
}

static void test_other_model(void **state) {
    (void)state;
    struct job *job = read_text("model: idle\nreplications: 3\nseed: 1\n");
    assert_string_equal(job->points[0].label, "idle");
    assert_int_equal(job->points[0].baseline, -1);
    assert_string_equal(
        job->resolved,
        "title: \"\"\nmodel: idle\nseed: 1\nreplications: 3\nmilliseconds: 1\nkeep: rows\n"
        "common: true\n");
    job_free(job);
    job = read_text("model: idle\nreplications: 3\nmilliseconds: [1, 2.5]\n");
    assert_string_equal(job->points[1].label, "milliseconds=2.5");
    job_free(job);
    refused("model: idle\nreplications: 3\nbaseline: pair\nplace: {row: {n: 3}}\n",
            "j.yaml:3:1: model idle has no 'baseline': it compares nothing\n"
            "j.yaml:4:1: 'place' is a key of model toy, not of idle\n");
}

static void test_all_mistakes_at_once_from_the_top(void **state) {
    (void)state;
    refused("modle: toy\nplace:\n  - row: {n: 0}\n  - ring\n  - near\n  - row: {m: 3}\nrule:\n  - "
            "near:\n    k: 4\n"
            "  - near: 3\n  - near: {k: 010, self: inclded}\n  - pair: {k: 2}\nkeep: [rows, means, "
            "loads]\nk: 4\n"
            "things: []\nflag: yes\nexactness: [exact]\nseed: -1\n",
            "j.yaml:1:1: 'replications' is missing (a whole number, or {min, max, until})\n"
            "j.yaml:1:1: unknown key 'modle' of model toy (allowed: title, model, seed, "
            "replications, keep, common, "
            "baseline, place, rule, things, ties, exactness, rate, flag, shape; did you mean "
            "'model'?)\n"
            "j.yaml:3:14: 'n' must be between 1 and 1099511627776, not 0\n"
            "j.yaml:4:5: unknown place 'ring' (allowed: row, box)\n"
            "j.yaml:5:5: 'near' is a rule, not a place (allowed: row, box)\n"
            "j.yaml:6:5: row needs 'n' (a whole number, between 1 and 1099511627776)\n"
            "j.yaml:6:11: unknown parameter 'm' of row (allowed: n)\n"
            "j.yaml:9:5: 'k' stands beside 'near', not within it (indent it further, or write "
            "near: {k: ...})\n"
            "j.yaml:10:11: near takes its parameters by name (near: {k: ...})\n"
            "j.yaml:11:26: 'self' must be one of excluded, included, not 'inclded' (did you mean "
            "'included'?)\n"
            "j.yaml:12:12: unknown parameter 'k' of pair (allowed: none)\n"
            "j.yaml:13:14: 'keep' is either rows or means, not both\n"
            "j.yaml:13:21: 'keep' knows no 'loads' (allowed: rows, means, each)\n"
            "j.yaml:14:1: 'k' belongs within a rule (rule: {near: {k: ...}})\n"
            "j.yaml:15:9: 'things' has an empty list (a whole number or a multiple of n such as "
            "10n, between 1 and "
            "1125899906842624)\n"
            "j.yaml:16:7: 'flag' must be true or false, not 'yes' (did you mean true?)\n"
            "j.yaml:17:12: 'exactness' takes one value for the whole job, not a list (one of "
            "exact, sampled)\n"
            "j.yaml:18:7: 'seed' must be one whole number between 0 and 18446744073709551615, not "
            "'-1'\n");
}

static void test_combinations(void **state) {
    (void)state;
    refused("replications: 1\nplace: {row: {n: [3, 26, 40]}}\nrule: [near: {k: [2, 30]}, "
            "pair]\nthings: [13, 0.5n, 0.1n]\n",
            "j.yaml:3:22: k = 30 is more than all 3\n"
            "j.yaml:3:22: k = 30 is more than all 26\n"
            "j.yaml:4:10: 13 things bring no luck\n"
            "j.yaml:4:14: 13 things bring no luck\n"
            "j.yaml:4:20: 'things' is 0.1n = 0 where n is 3 (a whole number or a multiple of n "
            "such as 10n, between 1 and "
            "1125899906842624)\n");
    refused(HEAD "rule: [pair, near: {k: 2}, pair]\nthings: [5, 1n, 5]\nshape: [1x2, [1, 2]]\n",
            "j.yaml:4:28: 'pair' is listed twice\n"
            "j.yaml:5:17: '5' is listed twice\n"
            "j.yaml:6:14: '[1, 2]' is listed twice\n");
    refused_with("replications: 1\nplace: {row: {n: 5}}\nrule: [near: {k: 2}, near: {self: "
                 "excluded, k: 2}]\n",
                 "j.yaml:3:22: 'near: {k: 2, self: excluded}' is listed twice");
}

static void test_one_mistake(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"title: [a]\n", ":4:8: 'title' must be text"},
        {"model: [toy]\n", ":4:8: 'model' must be one word, not a list"},
        {"model: tpy\n", ":4:8: unknown model 'tpy' (allowed: toy, idle; did you mean 'toy'?)"},
        {"common: maybe\n", ":4:9: 'common' must be true or false"},
        {"common: [true]\n", ":4:9: 'common' takes one value"},
        {"keep: []\n", ":4:7: 'keep' has an empty list"},
        {"keep: [each, each]\n", ":4:14: 'each' is listed twice"},
        {"keep: {rows: 1}\n", ":4:7: 'keep' knows no a mapping"},
        {"baseline: paar\n",
         ":4:11: unknown rule 'paar' (allowed: pair, near, lazy; did you mean 'pair'?)"},
        {"baseline: [pair]\n", ":4:11: 'baseline' takes one value"},
        {"baseline: {near: {k: [1, 2]}}\n", ":4:11: 'baseline' takes one rule"},
        {"baseline: near\n", ":4:11: near needs 'k'"},
        {"things: \"5\"\n", ":4:9: 'things' must be a number, not text"},
        {"things: 5%\n", ":4:9: 'things' must be a whole number"},
        {"things: 1.5\n", ":4:9: 'things' must be a whole number, not 1.5"},
        {"things: -1n\n", ":4:9: 'things' must be between"},
        {"things: 1e60n\n", ":4:9: 'things' must be between"},
        {"things: 5m\n", ":4:9: 'things' must be a whole number"},
        {"things: .inf\n", ":4:9: 'things' must be a whole number"},
        {"things: 0x10\n", ":4:9: 'things' must be a whole number"},
        {"things:\n", "'things' must be a whole number or a multiple of n such as 10n, between 1 "
                      "and 1125899906842624, not nothing"},
        {"things: [[1]]\n", ":4:10: 'things' must be"},
        {"things: {a: 1}\n", ":4:9: 'things' must be"},
        {"rate: 1e400\n", ":4:7: 'rate' is too large"},
        {"rate: -0.5\n", ":4:7: 'rate' must be at least 0, not -0.5"},
        {"rate: 1n\n", ":4:7: 'rate' must be a number"},
        {"rate: 0/0\n", ":4:7: 'rate' must be a number"},
        {"flag: 'true'\n", ":4:7: 'flag' must be true or false"},
        {"flag: no\n", "did you mean false?"},
        {"ties: [fair, Origin]\n", "did you mean 'origin'?"},
        {"rule: {near: {k: 5n}}\n",
         ":4:18: 'k' must be a plain whole number, not a multiple of n (5n)"},
        {"rule: {pair: 3}\n", ":4:14: pair takes no parameters"},
        {"rule: {pair: , lazy: }\n", ":4:16: 'rule' takes one rule at a time"},
        {"rule: {}\n", ":4:7: 'rule' must be a rule, not an empty mapping"},
        {"rule:\n", "'rule' must be a rule, not nothing"},
        {"rule: [[pair]]\n", ":4:8: 'rule' must be a rule, not a list"},
        {"rule: row\n", "'row' is a place, not a rule"},
        {"n: 5\n", "'n' belongs within a place"},
        {"title: \"a\\0b\"\n", "NUL character"},
        {"seed: 2\n", ":4:1: key 'seed' given twice (first on line 1)"},
        {"rule: {near: {k: 1, k: 2}}\n", ":4:21: key 'k' given twice (first on line 4)"},
        {"rule: !!str pair\n", ":4:7: tags"},
        {"<<: {rule: pair}\n", ":4:1: merge keys"},
        {"? [a]\n: b\n", ":4:3: a key must be a word"},
        {"? \n: 5\n", ":4:2: a key is missing"},
        {"rule: *x\n", ":4:7: no anchor &x"},
        {"rule: &x {near: *x}\n", ":4:17: *x stands within &x itself"},
        {"\truler: 5\n", ":4:1: a tab cannot indent"},
        {"rule: \xc3(\n", ":4:7: not UTF-8 text (byte 0xc3)"},
        {"rule: \xc0\x80\n", ":4:7: not UTF-8"},
        {"rule: \xed\xa0\x80\n", ":4:7: not UTF-8"},
        {"rule: p\x07\n", ":4:8: a control character"},
        {"rule: [pair\n", ":5:1: did not find expected ',' or ']'"},
        {"rule: \"pair\n", ":5:1: found unexpected end of stream"},
        {"rule: pair: x\n", ":4:11: mapping values are not allowed"},
        {"---\nrule: pair\n", ":4:1: a second document"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = format_text(HEAD "%s", cases[i].text);
        refused_with(text, cases[i].words);
        free(text);
    }
}

static void test_stopping_rules(void **state) {
    (void)state;
    static const struct {
        const char *rule, *words;
    } cases[] = {
        {"0", "'replications' must be between 1 and 4294967295, not 0"},
        {"-5", "must be between 1"},
        {"1e10", "must be between 1 and 4294967295"},
        {"1.5", "must be a whole number"},
        {"many", "must be a whole number, not 'many'"},
        {"\"5\"", "must be a whole number, not the text"},
        {"", "must be a whole number, not nothing"},
        {"[5, 6]", "takes one value for the whole job"},
        {"{min: 30, max: 100}", "needs 'until'"},
        {"{until: {height: 1%}}", "needs 'max'"},
        {"{max: 100, until: {heigth: 1%}}", "did you mean 'height'?"},
        {"{max: 100, until: {cost: 1%}}", "the mean of 'cost' can be 0"},
        {"{max: 100, until: {height: 0%}}", "must be above 0%"},
        {"{max: 100, until: {height: 101%}}", "at most 100%"},
        {"{max: 100, until: {height: -1}}", "must be above 0"},
        {"{max: 100, until: {height: soon}}", "must be a percentage (relative) or a number"},
        {"{max: 100, until: {height: []}}", "empty list"},
        {"{max: 100, until: {height: [1%, 2%]}}", "second relative"},
        {"{max: 100, until: {height: [1, 2]}}", "second absolute"},
        {"{max: 100, until: {}}", "'until' must say which"},
        {"{max: 100, until: height}", "'until' must say which"},
        {"{min: 29, max: 100, until: {height: 1%}}", "'min' must be between 30"},
        {"{min: 200, max: 100, until: {height: 1%}}", "'max' must be at least 'min', 200, not 100"},
        {"{mim: 200, max: 100, until: {height: 1%}}", "did you mean 'min'?"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = format_text("replications: %s\nplace: {row: {n: 5}}\n", cases[i].rule);
        refused_with(text, cases[i].words);
        free(text);
    }
}

/* "1, 2, ..., n". */
static char *numbers(unsigned n) {
    char *list = duplicate_text("1");
    for (unsigned i = 2; i <= n; i++) {
        char *more = format_text("%s, %u", list, i);
        free(list);
        list = more;
    }
    return list;
}

static void test_limits(void **state) {
    (void)state;
    char *list = numbers(400);
    char *text = format_text("replications: 1\nplace: {row: {n: [%s]}}\nthings: [%s]\nrule: pair\n",
                             list, list);
    refused_with(text, "more than 100000 points");
    free(text);
    text = format_text(
        "replications: 1\nplace: {row: {n: 5}}\nrule: {near: {k: [%s]}}\nthings: [%s]\n", list,
        list);
    struct complaints c = {0};
    assert_null(job_read("j.yaml", text, NULL, &stub_models, &c)); /* k above n again and again */
    assert_true(c.count <= 200);
    complaints_free(&c);
    free(text);
    refused_with("a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]", "nested more than 32 deep");
    refused_with("a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c "
                 "[*b,*b,*b,*b,*b,*b,*b,*b]\n"
                 "d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: "
                 "&f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]\n",
                 "aliases written out");
    free(list);
    list = numbers(300);
    char *rates = numbers(160);
    text = format_text("replications: 1\nplace: {row: {n: 300}}\nrule: {near: {k: [%s], self: "
                       "[excluded, included]}}\n"
                       "rate: [%s]\n",
                       list, rates);
    free(rates);
    struct job *job = read_text(text); /* all that can be read can be read again */
    struct job *again = read_text(job->resolved);
    assert_int_equal(job->n_points, 2 * 300 * 160);
    assert_string_equal(again->resolved, job->resolved);
    job_free(again);
    job_free(job);
    free(text);
    free(list);
    char *large = allocate((1 << 23) + 2, 1);
    memset(large, ' ', (1 << 23) + 1);
    refused_with(large, "larger than");
    free(large);
}

static void test_files(void **state) {
    (void)state;
    struct complaints c = {0};
    assert_null(job_read("/nowhere/at/all.yaml", NULL, NULL, &stub_models, &c));
    assert_string_equal(c.text,
                        "/nowhere/at/all.yaml: cannot be read: No such file or directory\n");
    complaints_free(&c);
    assert_null(job_read("/", NULL, NULL, &stub_models, &c));
    assert_non_null(strstr(c.text, "cannot be read"));
    complaints_free(&c);
    char name[] = "/tmp/test_job_XXXXXX";
    const int fd = mkstemp(name);
    FILE *f = fdopen(fd, "w");
    fwrite("replications: 5\n\0", 1, 17, f);
    fclose(f);
    assert_null(job_read(name, NULL, NULL, &stub_models, &c));
    assert_non_null(strstr(c.text, ":2:1: a NUL byte"));
    complaints_free(&c);
    f = fopen(name, "w");
    fputs(every_key, f);
    fclose(f);
    struct job *a = job_read(name, NULL, NULL, &stub_models, &c), *b = read_text(every_key);
    assert_non_null(a);
    assert_string_equal(a->resolved, b->resolved);
    job_free(a);
    job_free(b);
    remove(name);
    refused("", "j.yaml:1:1: the file is empty\n");
    refused("# nothing\n", "j.yaml:1:1: the file is empty\n");
    refused("- 1\n", "j.yaml:1:1: a job must be a mapping, one 'key: value' a line, not a list\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_job),
        cmocka_unit_test(test_axes_in_the_order_of_the_file),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_forms_of_entries),
        cmocka_unit_test(test_text_survives),
        cmocka_unit_test(test_resolved_is_the_job),
        cmocka_unit_test(test_replications_replaced),
        cmocka_unit_test(test_unused_defaults_are_not_resolved),
        cmocka_unit_test(test_keys_streams_baselines),
        cmocka_unit_test(test_axes_may_grow),
        cmocka_unit_test(test_other_model),
        cmocka_unit_test(test_all_mistakes_at_once_from_the_top),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_one_mistake),
        cmocka_unit_test(test_stopping_rules),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
