/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Failures, held against a timeline that is written out first: every time up and down as a list,
 * and jobs that walk along it. Then laws in the long run, files, refusals and all levels' bits. */
#include "streams_by_hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const double Z = 4.8; /* 40 two-sided comparisons, together wrong once in 10^4 */
static const struct stream words = {0xfa11fa11fa11fa11u, 11};
enum { RESUME, REPEAT, STATIONARY = 0, ALL_UP };

static char current[200];
static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

/* alternating{..} */
struct alternating {
    struct made made, up, down;
};
static void alternating_of(struct alternating *a, const struct level_streams *level, const char *up,
                           double mean_up, const char *down, double mean_down) {
    make(&a->made, level->failures, "alternating");
    make(&a->up, level->laws, up);
    make(&a->down, level->laws, down);
    if (mean_up > 0)
        value_of(&a->up, "mean")->real = mean_up;
    if (mean_down > 0)
        value_of(&a->down, "mean")->real = mean_down;
    value_of(&a->made, "up")->entry = &a->up.entry;
    value_of(&a->made, "down")->entry = &a->down.entry;
    value_of(&a->made, "while_idle")->real = 1;
}

struct play {
    const struct level_streams *level;
    struct failures_facts facts;
    struct failures *f;
    void *memory;
};
static struct play play_new(const struct level_streams *level, const struct entry *e, uint64_t n) {
    struct play p = {.level = level};
    struct reason why = {""};
    unsigned inner;
    if (!level->failures_examine(e, n, &p.facts, &why, &inner))
        fail_msg("%s", why.text);
    assert_true(p.facts.any);
    p.f = level->failures_prepare(e, n);
    p.memory = dirty_memory(p.facts.memory);
    level->failures_begin(p.f, p.memory, words);
    return p;
}
static struct turn play_turn(const struct play *p, uint32_t server, double start, double work) {
    struct turn t = {.start = start, .work = work};
    assert_true(p->level->failures_finish(p->f, p->memory, words, server, &t) == t.ends);
    return t;
}
static void play_free(struct play *p) {
    p->level->failures_free(p->f);
    free(p->memory);
}

/* A server's cycles, written out: up[0], down[0], up[1], .. ; up[0] is 0 for one that begins
 * down. */
enum { CYCLES = 4096 };
struct timeline {
    double up[CYCLES], down[CYCLES];
};

static void write_out(const struct level_streams *level, const struct alternating *a, bool idle,
                      bool all_up, uint32_t server, struct timeline *t) {
    struct sampled_law up, down;
    level->law_prepare(&a->up.entry, (double)NAN, &up);
    level->law_prepare(&a->down.entry, (double)NAN, &down);
    up.law->draw(&up, (struct words){words, PURPOSE_UP, server * up.facts.lanes}, 0, CYCLES, t->up);
    down.law->draw(&down, (struct words){words, PURPOSE_DOWN, server * down.facts.lanes}, 0, CYCLES,
                   t->down);
    const double u =
        (rng_word(words, PURPOSE_UP, 0x40000000 + LAW_LANES, server) + 0.5) / 4294967296.0;
    if (!all_up && idle && u >= up.facts.mean / (up.facts.mean + down.facts.mean)) {
        t->up[0] = 0;
        t->down[0] =
            down.law->residual(&down, (struct words){words, PURPOSE_DOWN, 0x40000000}, server);
    } else if (!all_up) {
        t->up[0] = up.law->residual(&up, (struct words){words, PURPOSE_UP, 0x40000000}, server);
    }
    level->law_free(&up);
    level->law_free(&down);
}

/* A job by the list of calendar times: looks for the server's state from time 0 every time. */
static struct turn walk_calendar(const struct timeline *t, bool repeat, double start, double work) {
    struct turn r = {.start = start, .work = work, .begins = -1};
    double from = 0, left = work;
    for (unsigned k = 0; k < CYCLES; k++) {
        const double fails = from + t->up[k], begin = from > start ? from : start;
        if (begin < fails) {
            if (r.begins < 0)
                r.begins = begin;
            if (begin + left <= fails) {
                r.serving += left;
                r.ends = begin + left;
                return r;
            }
            r.serving += fails - begin;
            left = repeat ? work : left - (fails - begin);
        }
        from = fails + t->down[k];
    }
    fail_msg("the list is too short");
    return r;
}

/* Jobs of one server by the list of times spent serving. */
struct served {
    unsigned cycle;
    double used, free_at; /* of the time up; the server is down until then */
};
static struct turn walk_serving(const struct timeline *t, struct served *s, bool repeat,
                                double start, double work) {
    struct turn r = {.start = start, .work = work};
    double now = start > s->free_at ? start : s->free_at, left = work;
    for (r.begins = now; s->cycle < CYCLES - 1;) {
        const double whole = t->up[s->cycle] - s->used;
        const bool done = left <= whole;
        const double part = done ? left : whole;
        now += part;
        r.serving += part;
        s->used += part;
        left -= part;
        if (done)
            r.ends = now;
        if (t->up[s->cycle] - s->used <= 1e-12) { /* it fails, be it at the end of a job */
            now += t->down[s->cycle++];
            s->free_at = now;
            s->used = 0;
        }
        if (done)
            return r;
        if (repeat)
            left = work;
    }
    fail_msg("the list is too short");
    return r;
}

static void assert_near(double x, double y) {
    if (!(fabs(x - y) <= 1e-9 * (1 + fabs(y))))
        fail_msg("%.17g is not %.17g", x, y);
}

static void check_walk(const char *up, const char *down, bool idle, bool repeat, bool all_up) {
    enum { SERVERS = 9, JOBS = 300 };
    const struct level_streams *level = streams_best();
    struct alternating a;
    struct timeline *t = allocate(1, sizeof *t);
    snprintf(current, sizeof current, "%s up, %s down, while_idle %d, repeat %d, all-up %d", up,
             down, idle, repeat, all_up);
    alternating_of(&a, level, up, strcmp(up, "discrete") ? 3 : 0, down,
                   strcmp(down, "discrete") ? 1.5 : 0);
    value_of(&a.made, "while_idle")->real = idle;
    value_of(&a.made, "resume")->word = repeat;
    value_of(&a.made, "start")->word = all_up;
    struct play p = play_new(level, &a.made.entry, SERVERS);
    assert_true(p.facts.state_dependent == !idle);
    for (uint32_t server = 0; server < SERVERS; server++) {
        struct served served = {0};
        double now = 0;
        write_out(level, &a, idle, all_up, server, t);
        for (uint64_t j = 0; j < JOBS; j++) {
            const double gap = 4 * (rng_word(words, PURPOSE_ARRIVAL, server, j) * 0x1p-32) - 2,
                         work = 2 * (rng_word(words, PURPOSE_SERVICE, server, j) * 0x1p-32);
            now += gap > 0 ? gap : 0;
            const struct turn got = play_turn(&p, server, now, work),
                              want = idle ? walk_calendar(t, repeat, now, work)
                                          : walk_serving(t, &served, repeat, now, work);
            assert_near(got.begins, want.begins);
            assert_near(got.ends, want.ends);
            assert_near(got.serving, want.serving);
            now = got.ends;
        }
    }
    play_free(&p);
    free(t);
    current[0] = '\0';
}

static void test_timelines(void **state) {
    static const char *const laws[][2] = {
        {"exponential", "exponential"}, {"deterministic", "uniform"}, {"uniform", "deterministic"},
        {"hyperexponential", "erlang"}, {"pareto", "lognormal"},      {"lomax", "lomax"}};
    (void)state;
    for (unsigned i = 0; i < sizeof laws / sizeof *laws; i++)
        for (unsigned c = 0; c < 8; c++)
            check_walk(laws[i][0], laws[i][1], c & 1, c & 2, c & 4);
}

/* Where nothing fails in time, the bits are those of a server that never fails. */
static void test_vanishing(void **state) {
    const struct level_streams *level = streams_best();
    (void)state;
    for (unsigned c = 0; c < 8; c++) {
        struct alternating a;
        alternating_of(&a, level, "exponential", 1e12, "exponential", 1e-9);
        value_of(&a.made, "while_idle")->real = c & 1;
        value_of(&a.made, "resume")->word = c >> 1 & 1;
        value_of(&a.made, "start")->word = c >> 2;
        struct play p = play_new(level, &a.made.entry, 2);
        double now = 0;
        for (uint64_t j = 0; j < 20000; j++) {
            const double start = now + rng_word(words, PURPOSE_ARRIVAL, 0, j) * 0x1p-34,
                         work = rng_word(words, PURPOSE_SERVICE, 0, j) * 0x1.1p-32;
            const struct turn t = play_turn(&p, (uint32_t)(j % 2), start, work);
            assert_true(t.begins == start && t.ends == start + work && t.serving == work);
            now = t.ends;
        }
        play_free(&p);
    }
}

/* In equilibrium a server is up with probability E U / (E U + E D) at any time. */
static void test_stationary(void **state) {
    enum { SERVERS = 200000 };
    static const double times[] = {0, 0.7, 2, 10};
    const struct level_streams *level = streams_best();
    struct alternating a;
    (void)state;
    alternating_of(&a, level, "deterministic", 2, "uniform", 1);
    struct play p = play_new(level, &a.made.entry, SERVERS);
    for (unsigned k = 0; k < 4; k++) {
        double up = 0;
        level->failures_begin(p.f, p.memory, words);
        for (uint32_t i = 0; i < SERVERS; i++)
            up += play_turn(&p, i, times[k], 0).begins <= times[k];
        assert_true(fabs(up / SERVERS - 2.0 / 3) < Z * sqrt(2.0 / 9 / SERVERS));
    }
    play_free(&p);
}

/* A server that is always busy: jobs hold it for the mean time that failures_service() states. */
static void check_busy(const char *up, const char *law, bool idle, bool repeat, double mean) {
    enum { SERVERS = 400, JOBS = 500 };
    const struct level_streams *level = streams_best();
    struct alternating a;
    struct made service;
    struct sampled_law s;
    double sum = 0, squares = 0, work[CHUNK * ((JOBS + CHUNK - 1) / CHUNK)];
    snprintf(current, sizeof current, "%s up, %s services, while_idle %d, repeat %d", up, law, idle,
             repeat);
    alternating_of(&a, level, up, 5, "uniform", 2);
    value_of(&a.made, "while_idle")->real = idle;
    value_of(&a.made, "resume")->word = repeat;
    level->law_prepare(&make(&service, level->laws, law)->entry, mean, &s);
    const double expected = level->failures_service(&a.made.entry, &s, 2);
    struct play p = play_new(level, &a.made.entry, SERVERS);
    assert_near(p.facts.availability, 5.0 / 7);
    for (uint32_t i = 0; i < SERVERS; i++) {
        struct turn t = {.ends = 0};
        const struct words w = {words, PURPOSE_SERVICE, i * s.facts.lanes};
        s.law->draw(&s, w, 0, JOBS, work);
        double begun = 0;
        for (unsigned j = 0; j < JOBS; j++) {
            t = play_turn(&p, i, t.ends, work[j] / 2);
            if (j == JOBS / 10)
                begun = t.ends;
        }
        const double x = (t.ends - begun) / (JOBS - JOBS / 10 - 1);
        sum += x;
        squares += x * x;
    }
    if (!mean_fits(sum, squares, SERVERS, expected, Z, 0.02))
        fail_msg("mean %g, expected %g", sum / SERVERS, expected);
    play_free(&p);
    level->law_free(&s);
    current[0] = '\0';
}

static void test_busy(void **state) {
    (void)state;
    for (int idle = 0; idle < 2; idle++) {
        check_busy("uniform", "exponential", idle, RESUME, 2);
        check_busy("exponential", "hyperexponential", idle, RESUME, 2);
        check_busy("exponential", "uniform", idle, REPEAT, 3);
        check_busy("exponential", "deterministic", idle, REPEAT, 8);
        check_busy("exponential", "exponential", idle, REPEAT, 1);
    }
}

static void test_service(void **state) {
    const struct level_streams *level = streams_best();
    struct alternating a;
    struct made made;
    struct sampled_law s;
    (void)state;
    level->law_prepare(&make(&made, level->laws, "exponential")->entry, 1, &s);
    assert_near(level->failures_service(&make(&made, level->failures, "none")->entry, &s, 4), 0.25);
    alternating_of(&a, level, "exponential", 10, "exponential", 2.5);
    assert_near(level->failures_service(&a.made.entry, &s, 1), 1.25);
    value_of(&a.made, "resume")->word = REPEAT;
    assert_near(level->failures_service(&a.made.entry, &s, 1), 1 / 0.72); /* f = .1, r = .4 */
    value_of(&a.up, "mean")->real = 1e9;
    assert_near(level->failures_service(&a.made.entry, &s, 1), 1 + 1e-9 + 2.5e-9);
    value_of(&a.up, "mean")->real = 1; /* E exp(S) is infinite */
    assert_true(isinf(level->failures_service(&a.made.entry, &s, 1)));
    assert_near(level->failures_service(&a.made.entry, &s, 2), 3.5);
    alternating_of(&a, level, "uniform", 10, "exponential", 2.5);
    value_of(&a.made, "resume")->word = REPEAT; /* some jobs are longer than any time up */
    assert_true(isinf(level->failures_service(&a.made.entry, &s, 1)));
    alternating_of(&a, level, "erlang", 10, "exponential", 2.5);
    value_of(&a.made, "resume")->word = REPEAT;
    assert_true(isnan(level->failures_service(&a.made.entry, &s, 1)));
    level->law_free(&s);
    /* Services up to 2, times up to 2.1 and to 1.9. */
    level->law_prepare(&make(&made, level->laws, "uniform")->entry, 1, &s);
    for (int never = 0; never < 2; never++) {
        alternating_of(&a, level, "uniform", never ? 0.95 : 1.05, "exponential", 2.5);
        value_of(&a.made, "resume")->word = REPEAT;
        const double hold = level->failures_service(&a.made.entry, &s, 1);
        assert_true(never ? isinf(hold) : isnan(hold));
    }
    level->law_free(&s);
}

/* A job that is longer than any time up is never done, nor are those behind it. */
static void test_never(void **state) {
    const struct level_streams *level = streams_best();
    (void)state;
    for (int idle = 0; idle < 2; idle++) {
        struct alternating a;
        alternating_of(&a, level, "deterministic", 2, "exponential", 1);
        value_of(&a.made, "while_idle")->real = idle;
        value_of(&a.made, "resume")->word = REPEAT;
        value_of(&a.made, "start")->word = ALL_UP;
        struct play p = play_new(level, &a.made.entry, 1);
        assert_true(play_turn(&p, 0, 0, 2).ends == 2); /* just so */
        const struct turn next = play_turn(&p, 0, 2, 2);
        assert_true(next.begins > 2);
        assert_near(next.ends, next.begins + 2);
        assert_true(isinf(play_turn(&p, 0, next.ends, 2.01).ends));
        assert_true(isinf(play_turn(&p, 0, (double)INFINITY, 1).ends));
        play_free(&p);
    }
}

static void test_windows(void **state) {
    const struct level_streams *level = streams_best();
    struct attachment file =
        text_file("# server from to\n1 1 2.5\n0 0 1\n1, 4, 5\n0 3 10 % late\n");
    struct made m;
    (void)state;
    make(&m, level->failures, "windows");
    value_of(&m, "file")->file = &file;
    for (int repeat = 0; repeat < 2; repeat++) {
        value_of(&m, "resume")->word = (unsigned)repeat;
        struct play p = play_new(level, &m.entry, 3);
        struct turn t = play_turn(&p, 0, 0, 1);
        assert_true(t.begins == 1 && t.ends == 2);
        t = play_turn(&p, 0, 2, 1.5);
        assert_true(t.begins == 2 && t.ends == (repeat ? 11.5 : 10.5));
        assert_true(t.serving == (repeat ? 2.5 : 1.5));
        t = play_turn(&p, 0, 20, 100);
        assert_true(t.begins == 20 && t.ends == 120);
        t = play_turn(&p, 1, 0.5, 2.25); /* through both, or again and again */
        assert_true(t.begins == 0.5 && t.ends == (repeat ? 7.25 : 5.25));
        t = play_turn(&p, 2, 0, 7);
        assert_true(t.begins == 0 && t.ends == 7);
        play_free(&p);
    }
    text_file_free(&file);
}

static void test_refusals(void **state) {
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"0 1\n", "rows.txt:1: 2 numbers where a window (server from to) has 3"},
        {"0 1 2\n3 1 2\n", "rows.txt:2: server 3 (allowed: 0 to 2)"},
        {"0 -1 2\n", "rows.txt:1: down from -1 (allowed: 0 and more)"},
        {"0 2 2\n", "rows.txt:1: down from 2 to 2: it must end later"},
        {"0 1 2\n1 1 2\n0 1.5 3\n",
         "rows.txt:3: server 0 is down from 1.5, but until 2 already (windows of a server must be "
         "apart, and in order)"},
        {"0 1 b\n", "rows.txt:1: 'b' is no number"},
    };
    const struct level_streams *level = streams_best();
    struct failures_facts facts;
    struct reason why;
    struct made m;
    unsigned inner;
    (void)state;
    make(&m, level->failures, "windows");
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct attachment file = text_file(wrong[i].text);
        value_of(&m, "file")->file = &file;
        assert_false(level->failures_examine(&m.entry, 3, &facts, &why, &inner));
        assert_string_equal(why.text, wrong[i].why);
        text_file_free(&file);
    }
    struct alternating a;
    static const double zero[] = {0}, one[] = {1};
    alternating_of(&a, level, "exponential", 1, "discrete", 0);
    *value_of(&a.down, "values") = (struct value){.reals = zero, .n_reals = 1};
    *value_of(&a.down, "probabilities") = (struct value){.reals = one, .n_reals = 1};
    assert_false(level->failures_examine(&a.made.entry, 3, &facts, &why, &inner));
    assert_memory_equal(why.text, "down: ", 6);
    assert_int_equal(inner, parameter_index(a.made.entry.kind, "down"));
}

/* Every pair of laws at every level gives the same bits. */
static void test_levels(void **state) {
    (void)state;
    for (unsigned k = 0; k < streams_best()->laws->n_kinds; k++) {
        uint64_t first = 0;
        for (enum level l = LEVEL_BASELINE; l < LEVELS; l++) {
            const struct level_streams *level = streams_at(l);
            struct alternating a;
            uint64_t hash = 14695981039346656037u;
            double now = 0;
            if (!level)
                continue;
            const unsigned other = (k + 3) % level->laws->n_kinds;
            alternating_of(&a, level, level->laws->kinds[k]->name, 0,
                           level->laws->kinds[other]->name, 0);
            struct play p = play_new(level, &a.made.entry, 40);
            for (uint32_t j = 0; j < 4000; j++) {
                const struct turn t = play_turn(&p, j % 40, now, 0.03);
                uint64_t bits;
                memcpy(&bits, &t.ends, sizeof bits);
                hash = (hash ^ bits) * 1099511628211u;
                now = j % 40 == 39 ? now + 10 : now;
            }
            assert_true(l == LEVEL_BASELINE || hash == first);
            first = hash;
            play_free(&p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_timelines, name_culprit),
        cmocka_unit_test(test_vanishing),
        cmocka_unit_test(test_stationary),
        cmocka_unit_test_teardown(test_busy, name_culprit),
        cmocka_unit_test(test_service),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
