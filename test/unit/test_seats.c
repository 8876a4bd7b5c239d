/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where ranks sit, and what the batch system leaves them. */
#include "batch.h"
#include "seat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct seat seat(const char *host, uint64_t cores, uint64_t threads) {
    struct seat s = {.core = {cores}, .threads = threads, .process = 7};
    snprintf(s.host, sizeof s.host, "%s", host);
    return s;
}

static void text_is(struct seat s, const char *expected) {
    char *text = seat_text(&s);
    assert_string_equal(text, expected);
    free(text);
}

static void test_text(void **state) {
    (void)state;
    text_is(seat("n1", 0xf, 4), "host n1, process 7, cores 0-3 (4), 4 threads");
    text_is(seat("n1", 1, 1), "host n1, process 7, cores 0 (1), 1 thread");
    text_is(seat("n2", 0x8000000000000105, 2), "host n2, process 7, cores 0,2,8,63 (4), 2 threads");
    text_is(seat("n2", 0, 2), "host n2, process 7, cores unknown (0), 2 threads");
    struct seat far = seat("n", 0, 1);
    far.core[SEAT_CORES / 64 - 1] = (uint64_t)3 << 62;
    text_is(far, "host n, process 7, cores 2046-2047 (2), 1 thread");
}

static void crowd_is(const struct seat *seats, unsigned n, const char *expected) {
    char *sentence = seat_crowded(seats, n);
    if (expected)
        assert_string_equal(sentence, expected);
    else
        assert_null(sentence);
    free(sentence);
}

static void test_crowds(void **state) {
    (void)state;
    const struct seat apart[] = {seat("a", 3, 2), seat("a", 12, 2), seat("b", 3, 2)};
    crowd_is(apart, 3, NULL);
    const struct seat one[] = {seat("a", 1, 2)};
    crowd_is(one, 1, "2 threads of 1 rank share 1 core on a");
    /* Each alone has cores enough, both together have not. */
    const struct seat same[] = {seat("b", 15, 4), seat("a", 3, 2), seat("a", 3, 2)};
    crowd_is(same, 3, "4 threads of 2 ranks share 2 cores on a");
    const struct seat worst[] = {seat("a", 3, 3), seat("b", 1, 2), seat("a", 3, 0)};
    crowd_is(worst, 3, "2 threads of 1 rank share 1 core on b");
    const struct seat unknown[] = {seat("a", 0, 2)};
    crowd_is(unknown, 1, NULL);
}

static void test_here(void **state) {
    (void)state;
    const struct seat s = seat_here(3);
    char host[128] = "", *text = seat_text(&s), *begin;
    gethostname(host, sizeof host - 1);
    host[SEAT_HOST - 1] = '\0';
    begin = format_text("host %s, process %ld, cores ", host, (long)getpid());
    assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
    assert_non_null(strstr(text, ", 3 threads"));
    free(text);
    free(begin);
}

/* A squeue that gives this answer, first on the path. */
static void queue_says(const char *folder, const char *answer) {
    char path[300];
    snprintf(path, sizeof path, "%s/squeue", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "#!/bin/sh\n[ \"$*\" = '-h -j 12 -o %%L' ] && echo '%s'\n", answer);
    fclose(f);
    chmod(path, 0755);
}

static void test_time_left(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        double seconds; /* NaN: refused */
    } cases[] = {{"59:30", 3570},      {"1:02:03", 3723},  {"2-01:00:00", 176400},
                 {"0:07", 7},          {"0:00", 0},        {"UNLIMITED", INFINITY},
                 {"INVALID", NAN},     {"", NAN},          {"NOT_SET", NAN},
                 {"12", NAN},          {"1:2:3:4", NAN},   {"-5:00", NAN},
                 {"x1-00:00:05", NAN}, {"nan-0:0:5", NAN}, {"0:03  ", 3},
                 {"5:", NAN},          {"1-5", NAN},       {"99999999999:00", NAN}};
    char folder[] = "/tmp/potluck-test-XXXXXX", path[300];
    struct reason why;
    double left;
    assert_non_null(mkdtemp(folder));
    char *old = duplicate_text(getenv("PATH")), *mine = format_text("%s:%s", folder, old);
    setenv("PATH", mine, 1);
    setenv("SLURM_JOB_ID", "12", 1);
    unsetenv("SLURM_JOB_END_TIME");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        queue_says(folder, cases[i].answer);
        const bool said = batch_time_left(&left, &why);
        assert_int_equal(said, !isnan(cases[i].seconds));
        if (said)
            assert_true(left == cases[i].seconds);
        else
            assert_non_null(strstr(why.text, "time is left to job 12"));
    }
    char end[32];
    snprintf(end, sizeof end, "%lld", (long long)time(NULL) + 1000);
    setenv("SLURM_JOB_END_TIME", end, 1);
    assert_true(batch_time_left(&left, &why) && left > 900 && left <= 1000);
    queue_says(folder, "1:00"); /* where the time that was told makes no sense */
    static const char *const senseless[] = {"0",   "-5",    "abc",        "0x7",
                                            "nan", "1e300", "1000000000", ""};
    for (unsigned i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        setenv("SLURM_JOB_END_TIME", senseless[i], 1);
        assert_true(batch_time_left(&left, &why) && left == 60);
    }
    setenv("SLURM_JOB_ID", "12; rm -r x", 1); /* no job of Slurm's */
    assert_true(batch_time_left(&left, &why) && isinf(left));
    unsigned restarts = 7;
    assert_null(batch_job(&restarts));
    assert_int_equal(restarts, 0);
    unsetenv("SLURM_JOB_ID");
    assert_true(batch_time_left(&left, &why) && isinf(left));
    assert_null(batch_text());
    snprintf(path, sizeof path, "%s/squeue", folder);
    unlink(path);
    rmdir(folder);
    setenv("PATH", old, 1);
    free(old);
    free(mine);
}

static void test_batch_texts(void **state) {
    (void)state;
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    setenv("SLURM_ARRAY_JOB_ID", "9", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-4]%s", 1);
    char *text = batch_text();
    assert_string_equal(text, "Slurm job 12, array 9, task 3, nodes n[1-4]%s");
    free(text);
    unsigned restarts;
    setenv("SLURM_RESTART_COUNT", "3", 1);
    text = batch_job(&restarts);
    assert_string_equal(text, "Slurm job 12");
    assert_int_equal(restarts, 3);
    free(text);
    assert_true(batch_usable(3600) == 3540 && batch_usable(100) == 90 && batch_usable(-5) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),        cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_here),        cmocka_unit_test(test_time_left),
        cmocka_unit_test(test_batch_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
