/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "number.h"
#include "stub_model.h"
#include "vocabulary.h"

static void test_whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t count;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"10000", 10000},
        {"1e4", 10000},
        {"10_000", 10000},
        {"1_0_0", 100},
        {"1.5e3", 1500},
        {"1500e-2", 15},
        {"010", 10},
        {"5.", 5},
        {".5e1", 5},
        {"5.00", 5},
        {"0e99999999999", 0},
        {"10/2", 5},
        {"1E+06", 1000000},
        {"18446744073709551615", UINT64_MAX},
        {"9007199254740993", 9007199254740993u},
        {"1.8446744073709551615e19", UINT64_MAX},
        {"00000000000000000000000000000000000001", 1},
    };
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t count = 99;
        assert_int_equal(number_count(good[i].text, &count), NUMBER_GOOD);
        assert_true(count == good[i].count);
    }
    static const struct {
        const char *text;
        enum number_verdict verdict;
    } bad[] = {
        {"", NUMBER_NONE},
        {"x", NUMBER_NONE},
        {"1x", NUMBER_NONE},
        {"0x10", NUMBER_NONE},
        {"0o7", NUMBER_NONE},
        {"_1", NUMBER_NONE},
        {"1_", NUMBER_NONE},
        {"1__0", NUMBER_NONE},
        {"1e", NUMBER_NONE},
        {"e5", NUMBER_NONE},
        {".", NUMBER_NONE},
        {"+", NUMBER_NONE},
        {"nan", NUMBER_NONE},
        {".inf", NUMBER_NONE},
        {"1 ", NUMBER_NONE},
        {" 1", NUMBER_NONE},
        {"1/0", NUMBER_NONE},
        {"1/", NUMBER_NONE},
        {"50%", NUMBER_NONE},
        {"--1", NUMBER_NONE},
        {"-1", NUMBER_NEGATIVE},
        {"1.5", NUMBER_NOT_WHOLE},
        {"1e-1", NUMBER_NOT_WHOLE},
        {"10/3", NUMBER_NOT_WHOLE},
        {"18446744073709551616", NUMBER_TOO_LARGE},
        {"1e20", NUMBER_TOO_LARGE},
        {"1e999999999", NUMBER_TOO_LARGE},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t count;
        assert_int_equal(number_count(bad[i].text, &count), bad[i].verdict);
    }
    char digits[1000];
    memset(digits, '1', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    uint64_t count;
    assert_int_equal(number_count(digits, &count), NUMBER_NONE);
}

static void test_real_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double real;
    } good[] = {
        {"0.5", 0.5},
        {"-2.5", -2.5},
        {"1e-3", 1e-3},
        {"1/3", 1.0 / 3},
        {"50%", 0.5},
        {"0.1%", 0.001},
        {"-1/2", -0.5},
        {"1_000.5", 1000.5},
        {"1e-400", 0},
        {"0.1", 0.1},
        {"1.7976931348623157e308", 1.7976931348623157e308},
    };
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        double real = 99;
        assert_int_equal(number_real(good[i].text, &real), NUMBER_GOOD);
        assert_true(real == good[i].real);
    }
    static const char *const none[] = {"",    "1/0", "1/0.0", "5%%",  "1/3%", "0x1p3",
                                       "inf", "NaN", "1,5",   "1e5x", "1_.5"};
    double real;
    for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(number_real(none[i], &real), NUMBER_NONE);
    assert_int_equal(number_real("1e400", &real), NUMBER_TOO_LARGE);
    assert_int_equal(number_percent("2.5%", &real), NUMBER_GOOD);
    assert_true(real == 2.5);
    assert_int_equal(number_percent("2.5", &real), NUMBER_NONE);
}

static void test_number_text_reads_back(void **state) {
    (void)state;
    static const struct {
        double real;
        const char *text;
    } pairs[] = {{10, "10"},   {100, "100"},    {1e6, "1000000"}, {0.5, "0.5"},
                 {0.1, "0.1"}, {1e-9, "1e-09"}, {-3, "-3"}};
    char text[NUMBER_TEXT];
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        number_text(pairs[i].real, text);
        assert_string_equal(text, pairs[i].text);
    }
    uint64_t bits = 1;
    for (unsigned i = 0; i < 100000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double real, again;
        memcpy(&real, &bits, sizeof real);
        if (!isfinite(real))
            continue;
        number_text(real, text);
        assert_int_equal(number_real(text, &again), NUMBER_GOOD);
        assert_true(again == real);
    }
}

static void test_multiples_of_n(void **state) {
    (void)state;
    const struct value plain = {.count = 77}, ten = {.real = 10, .relative = true};
    const struct value half = {.real = 0.5, .relative = true},
                       huge = {.real = 1e18, .relative = true};
    assert_true(value_count(&plain, 5) == 77);
    assert_true(value_count(&ten, 1000) == 10000);
    assert_true(value_count(&half, 5) == 3);
    assert_true(value_count(&half, 4) == 2);
    assert_true(value_count(&huge, 1000) == UINT64_MAX);
    const struct value one = {.real = 1, .relative = true};
    assert_true(value_count(&one, 0x7fffffffffffffff) ==
                0x7fffffffffffffff); /* not by way of double */
}

static void test_tables(void **state) {
    (void)state;
    char word[16];
    const struct parameter *ties = &toy_parameters[TOY_TIES];
    assert_true(parameter_word(ties, 0, word, sizeof word));
    assert_string_equal(word, "fair");
    assert_true(parameter_word(ties, 1, word, sizeof word));
    assert_string_equal(word, "origin");
    assert_false(parameter_word(ties, 2, word, sizeof word));
    assert_int_equal(parameter_index(&stub_near, "self"), 1);
    assert_int_equal(parameter_index(&stub_near, "d"), -1);
}

static void test_what_a_parameter_wants(void **state) {
    (void)state;
    static const struct {
        const struct parameter *parameter;
        const char *wanted;
    } rows[] = {
        {&toy_parameters[TOY_PLACE], "a place"},
        {&toy_parameters[TOY_THINGS],
         "a whole number or a multiple of n such as 10n, between 1 and 1125899906842624"},
        {&toy_parameters[TOY_TIES], "one of fair, origin"},
        {&toy_parameters[TOY_RATE], "a number, at least 0"},
        {&toy_parameters[TOY_FLAG], "true or false"},
        {&stub_box_parameters[0],
         "whole numbers such as 100x100 or [100, 100], each between 1 and 1000000"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *wanted = parameter_wanted(rows[i].parameter);
        assert_string_equal(wanted, rows[i].wanted);
        free(wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_real_numbers),
        cmocka_unit_test(test_number_text_reads_back),
        cmocka_unit_test(test_multiples_of_n),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_what_a_parameter_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
