/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fail.h"
#include "storage.h"

static void test_complaints_come_in_order(void **state) {
    (void)state;
    struct complaints c = {0};
    const struct place spot = {"a.yaml", 3, 14}, whole = {"a.yaml", 0, 0};
    complain(&c, &spot, "%d is %s", 7, "odd");
    complain(&c, &whole, "empty");
    complain(&c, NULL, "no command");
    assert_int_equal(c.count, 3);
    assert_string_equal(c.text, "a.yaml:3:14: 7 is odd\na.yaml: empty\npotluck: no command\n");
    assert_int_equal(c.length, strlen(c.text));
    complaints_free(&c);
    assert_null(c.text);
    complaints_free(&c);
}

static void test_complaints_cannot_rule_the_terminal(void **state) {
    (void)state;
    struct complaints c = {0};
    complain(&c, NULL, "key '%s'", "\x1b[2J\nx\x7f");
    assert_string_equal(c.text, "potluck: key '?[2J?x?'\n");
    complaints_free(&c);
}

static void test_refuse(void **state) {
    (void)state;
    struct reason why;
    assert_false(refuse(&why, "%d > %d", 3, 2));
    assert_string_equal(why.text, "3 > 2");
    char *long_text = format_text("%0500d", 1);
    refuse(&why, "%s", long_text);
    assert_int_equal(strlen(why.text), sizeof why.text - 1);
    free(long_text);
}

static void test_nearest_name(void **state) {
    (void)state;
    static const char *const names[] = {"radius",    "k",          "self", "choices",
                                        "hypercube", "one-choice", "pot"};
    enum { N = sizeof names / sizeof names[0] };
    static const char *const pairs[][2] = {
        {"raduis", "radius"},
        {"kk", "k"},
        {"K", "k"},
        {"slef", "self"},
        {"choice", "choices"},
        {"hyper", "hypercube"},
        {"one_choice", "one-choice"},
        {"Pot", "pot"},
        {"RADIUS", "radius"},
        {"pto", "pot"},
    };
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_string_equal(nearest_name(pairs[i][0], names, N), pairs[i][1]);
    static const char *const strangers[] = {
        "",         "z",
        "xyz",      "temperature",
        "12345678", "a-word-that-is-longer-than-any-name-could-ever-be-in-a-table"};
    for (unsigned i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        assert_null(nearest_name(strangers[i], names, N));
    assert_null(nearest_name("k", names, 0));
}

static jmp_buf escape;
static void leave(int code) {
    longjmp(escape, code);
}

/* Runs `act`, which must end the program by way of world_failed(), silently. */
static int ended_with(void (*act)(void)) {
    fflush(stderr);
    const int kept = dup(2);
    assert_non_null(freopen("/dev/null", "w", stderr));
    on_failure(leave);
    const int code = setjmp(escape);
    if (!code)
        act();
    on_failure(NULL);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    return code;
}

static void fail_plainly(void) {
    world_failed("disk %s", "full");
}
static void ask_too_much(void) {
    allocate(SIZE_MAX / 2, 3);
}
static void ask_too_much_again(void) {
    reallocate(NULL, SIZE_MAX / 2, 3);
}

static void test_the_world_breaks(void **state) {
    (void)state;
    assert_int_equal(ended_with(fail_plainly), EXIT_WORLD);
    assert_int_equal(ended_with(ask_too_much), EXIT_WORLD);
    assert_int_equal(ended_with(ask_too_much_again), EXIT_WORLD);
}

static void test_allocate_zeroes(void **state) {
    (void)state;
    unsigned char *p = allocate(1000, 3);
    for (unsigned i = 0; i < 3000; i++)
        assert_int_equal(p[i], 0);
    p = reallocate(p, 5000, 1);
    free(p);
    free(allocate(0, 8));
    free(reallocate(NULL, 0, 8));
    char *text = duplicate_text("abc");
    assert_string_equal(text, "abc");
    free(text);
}

static void test_storage(void **state) {
    (void)state;
    struct storage *s = storage_new();
    for (size_t size = 0; size < 40000; size = size * 3 / 2 + 1) {
        unsigned char *p = storage_get(s, size, 1);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 255, size);
    }
    assert_string_equal(storage_text(s, "abcdef", 3), "abc");
    storage_free(s);
    storage_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complaints_come_in_order),
        cmocka_unit_test(test_complaints_cannot_rule_the_terminal),
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_the_world_breaks),
        cmocka_unit_test(test_allocate_zeroes),
        cmocka_unit_test(test_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
