/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws of random times. The probability that a time exceeds x is computed here once more, with the C
 * library; moments and exponential moments are integrals of it; values and residual lives must have
 * the law it says. All levels must draw the same bits, and those of every other build. */
#include "law.h"

#include "by_hand.h"
#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { VALUES = 1000000, RESIDUALS = 200000, GUARD = 64, COMPARISONS = 200, CELLS = 200 };
static const double TAIL = 1e-4 / COMPARISONS;
static unsigned compared;
static char current[200];

#ifdef __x86_64__
static const enum level LAST = LEVEL_AVX512;
extern const struct catalogue laws_avx2, laws_avx512;
void law_prepare_avx2(const struct entry *entry, double mean, struct sampled_law *s);
void law_prepare_avx512(const struct entry *entry, double mean, struct sampled_law *s);
static const struct catalogue *const catalogues[] = {&laws_baseline, &laws_avx2, &laws_avx512};
static void (*const prepares[])(const struct entry *, double, struct sampled_law *) = {
    law_prepare_baseline, law_prepare_avx2, law_prepare_avx512};
#else
static const enum level LAST = LEVEL_BASELINE;
static const struct catalogue *const catalogues[] = {&laws_baseline};
static void (*const prepares[])(const struct entry *, double,
                                struct sampled_law *) = {law_prepare_baseline};
#endif

/* A law; P(X > x) for it; the places between which that is smooth, in order, at most MANY of them
 * (whole numbers up to KNOTS when steps); the hash of its bits. */
enum { MANY = 4, KNOTS = 400 };
struct sample {
    const char *text;
    double (*tail)(double x);
    double knot[MANY];
    bool steps, atoms;
    double finite_mgf; /* an f for which E[exp(f X)] is finite; 0: there is none */
    uint64_t hash;
};

static double tail_exponential(double x) {
    return exp(-x / 3);
}
static double tail_deterministic(double x) {
    return x < 2 ? 1 : 0;
}
static double tail_uniform(double x) {
    return x < 2 ? 1 - x / 2 : 0;
}
static double tail_erlang(double x) {
    return exp(-3 * x) * (1 + 3 * x + 4.5 * x * x);
}
/* Phases 33, found backwards from the largest term. */
static double tail_erlang_33(double x) {
    double sum = 0;
    for (int j = 0; j < 33; j++)
        sum += exp(j * log(33 * x) - 33 * x - lgamma(j + 1));
    return sum;
}
static double tail_hyperexponential(double x) {
    const double p = (1 - sqrt(3.0 / 5)) / 2;
    return p * exp(-2 * p * x) + (1 - p) * exp(-2 * (1 - p) * x);
}
static double tail_lognormal(double x) {
    const double variance = log(5);
    return erfc((log(x) + variance / 2) / sqrt(2 * variance)) / 2;
}
static double tail_weibull(double x) {
    return exp(-pow(x * tgamma(3), 0.5));
}
static double tail_weibull_3(double x) {
    return exp(-pow(x * tgamma(1 + 1.0 / 3), 3));
}
static double tail_pareto(double x) {
    return x < 0.6 ? 1 : pow(0.6 / x, 2.5);
}
static double tail_pareto_5(double x) {
    return x < 0.8 ? 1 : pow(0.8 / x, 5);
}
static double tail_lomax(double x) {
    return pow(1 + x / 1.5, -2.5);
}
static double tail_lomax_5(double x) {
    return pow(1 + x / 8, -5);
}
static double tail_discrete(double x) {
    return x < 0.1 ? 1 : x < 2 ? 0.3 : x < 9.1 ? 0.1 : 0;
}
static double tail_geometric(double x) {
    return pow(0.75, floor(x));
}

static const struct sample samples[] = {
    {"exponential mean=3", tail_exponential, .finite_mgf = 0.1, .hash = 0xab20f94831c2497d},
    {"deterministic mean=2",
     tail_deterministic,
     {2},
     .atoms = true,
     .finite_mgf = 1,
     .hash = 0x1d91a4ef2c0d60b0},
    {"uniform", tail_uniform, {2}, .finite_mgf = 1, .hash = 0x67f3196a4539935f},
    {"erlang shape=3", tail_erlang, .finite_mgf = 0.7, .hash = 0x93b840108646f25b},
    {"erlang shape=33", tail_erlang_33, .finite_mgf = 2, .hash = 0xe3e7e005a8b41197},
    {"hyperexponential scv=4", tail_hyperexponential, .finite_mgf = 0.1,
     .hash = 0x168090492db55cc1},
    {"lognormal scv=4", tail_lognormal, .hash = 0x687a830954e9b8b1},
    {"weibull shape=0.5", tail_weibull, .hash = 0xe3d6b1fc5d5a8c23},
    {"weibull shape=3", tail_weibull_3, .finite_mgf = 4, .hash = 0x4381bf1b9fef0314},
    {"pareto shape=2.5", tail_pareto, {0.6}, .hash = 0xab1cee30ec449812},
    {"pareto shape=5", tail_pareto_5, {0.8}, .hash = 0x2fe0ef4f9d7e7470},
    {"discrete values=0.1/2/9.1 probabilities=0.7/0.2/0.1",
     tail_discrete,
     {0.1, 2, 9.1},
     .atoms = true,
     .finite_mgf = 0.3,
     .hash = 0x91005d44d39b7a33},
    {"geometric mean=4", tail_geometric, .steps = true, .atoms = true, .finite_mgf = 0.1,
     .hash = 0x93053f341c1e6f96},
    {"lomax shape=2.5", tail_lomax, .hash = 0xd3e896c0b486bb1b},
    {"lomax shape=5 mean=2", tail_lomax_5, .hash = 0xf1c81e5d9d2ac396},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

static void assert_likely(double tail) {
    compared++;
    assert_true(compared <= COMPARISONS);
    if (!(tail > TAIL))
        fail_msg("as unlikely as %g", tail);
}

static void assert_near(double x, double exact, double relative, const char *what) {
    if (!(fabs(x - exact) <= relative * fabs(exact)))
        fail_msg("%s: %.17g, not %.17g", what, x, exact);
}

/* `mean` may be NAN. */
static struct sampled_law ready(struct by_hand *b, const char *text, enum level level,
                                double mean) {
    struct sampled_law s;
    snprintf(current, sizeof current, "%s", text);
    prepares[level](by_hand(b, catalogues[level], text), mean, &s);
    return s;
}

static struct words words_for(const char *text) {
    return (struct words){{rng_key(20261129, text), 3}, PURPOSE_SERVICE, 8};
}

/* Whether piece number k of the half line exists; its ends in logarithms. */
static bool piece_of(const struct sample *s, unsigned k, double *from, double *to) {
    const unsigned n = s->steps ? KNOTS : MANY;
    const double before = k == 0 ? 0 : s->steps ? k : s->knot[k - 1];
    const double after = k >= n ? 0 : s->steps ? k + 1 : s->knot[k];
    if (k > n || (k && before <= 0))
        return false;
    *from = k ? log(before) : -60;
    *to = after > 0 ? log(after) : 300;
    return true;
}

/* The integral of g(x) P(X > x) over `from` < x < `to`, from logarithms: Gauss' five points on short
 * pieces, until nothing is left. */
static double integral(const struct sample *s, double (*g)(double x, double parameter),
                       double parameter, double from, double to) {
    static const double node[] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                  0.9061798459386640};
    static const double weight[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                    0.4786286704993665, 0.2369268850561891};
    double sum = 0;
    const unsigned panels = (unsigned)((to - from) / 0.03) + 1;
    const double half = (to - from) / panels / 2;
    for (unsigned p = 0; p < panels; p++) {
        const double middle = from + half * (2 * p + 1);
        for (unsigned j = 0; j < 5; j++) {
            const double x = exp(middle + half * node[j]), tail = s->tail(x);
            sum += tail > 0 ? weight[j] * half * g(x, parameter) * tail * x : 0;
        }
        if (middle > 5 && s->tail(exp(middle)) < 1e-200)
            break;
    }
    return sum;
}

static double integral_over_all(const struct sample *s, double (*g)(double, double),
                                double parameter) {
    double sum = 0, from, to;
    for (unsigned k = 0; piece_of(s, k, &from, &to); k++)
        sum += integral(s, g, parameter, from, to);
    return sum;
}

static double of_moment(double x, double k) {
    return k * pow(x, k - 1);
}
static double of_mgf(double x, double f) {
    return f * exp(f * x);
}
static double of_mass(double x, double unused) {
    (void)x, (void)unused;
    return 1;
}

static void test_facts(void **state) {
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        const struct sample *p = &samples[i];
        struct by_hand b;
        struct sampled_law s = ready(&b, p->text, LEVEL_BASELINE, (double)NAN);
        const double moment[] = {s.facts.mean, s.facts.second, s.facts.third, s.facts.fourth};
        for (unsigned k = 1; k <= 4; k++)
            if (isfinite(moment[k - 1]))
                assert_near(moment[k - 1], integral_over_all(p, of_moment, k), 1e-9, "moment");
        for (double x = 0.01; x < 60 && !(p->tail(x) < 1e-60); x *= 1.03)
            assert_near(s.law->tail(&s, x), p->tail(x), 1e-11, "tail");
        assert_true(s.law->tail(&s, 0) == 1 && s.law->tail(&s, -1) == 1);
        assert_near(s.law->mgf(&s, 0), 1, 1e-15, "mgf at 0");
        if (p->finite_mgf > 0)
            assert_near(s.law->mgf(&s, p->finite_mgf),
                        1 + integral_over_all(p, of_mgf, p->finite_mgf), 1e-9, "mgf");
        else
            assert_true(isinf(s.law->mgf(&s, 1e-3)));
        law_free_baseline(&s);
    }
    struct by_hand b;
    struct sampled_law s = ready(&b, "pareto shape=3", LEVEL_BASELINE, (double)NAN);
    assert_true(isfinite(s.facts.second) && isinf(s.facts.third) && isinf(s.facts.fourth));
    s = ready(&b, "lomax shape=3", LEVEL_BASELINE, (double)NAN);
    assert_true(isfinite(s.facts.second) && isinf(s.facts.third) && isinf(s.facts.fourth));
    s = ready(&b, "exponential", LEVEL_BASELINE, 4);
    assert_true(isinf(s.law->mgf(&s, 0.25)) && isfinite(s.law->mgf(&s, 0.2499)));
    current[0] = '\0';
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov's distance (2 exp(-2 n D^2) bounds its tail: Massart, Ann. Probab. 18(3), 1990), and a
 * chi-square of small probabilities by powers of two. */
static void check_continuous(const struct sample *p, double *x) {
    enum { POWERS = 17 };
    uint64_t seen[POWERS] = {0};
    double expected[POWERS], distance = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        x[i] = p->tail(x[i]);
        const int power = x[i] > 0 ? -ilogb(x[i]) : POWERS;
        seen[power < POWERS ? power : POWERS - 1]++;
    }
    for (unsigned k = 0; k < POWERS; k++)
        expected[k] = k ? ldexp(VALUES, k < POWERS - 1 ? -(int)k : -(int)k + 1) : 0;
    seen[1] += seen[0]; /* a tail of 1 */
    seen[0] = 0;
    qsort(x, VALUES, sizeof *x, compare);
    for (unsigned i = 0; i < VALUES; i++)
        distance = fmax(distance, fmax((i + 1.0) / VALUES - x[i], x[i] - (double)i / VALUES));
    assert_likely(2 * exp(-2 * VALUES * distance * distance));
    assert_likely(fit_tail(seen, expected, POWERS));
}

static void check_atoms(const struct sample *p, const double *x) {
    uint64_t seen[KNOTS] = {0};
    double expected[KNOTS] = {0};
    double before = 1;
    for (unsigned k = 0; k < (p->steps ? KNOTS : MANY); k++) {
        const double atom = p->steps ? k + 1 : p->knot[k];
        if (atom <= 0)
            break;
        expected[k] = VALUES * (before - p->tail(atom));
        before = p->tail(atom);
        for (unsigned i = 0; expected[k] > 1e-3 && i < VALUES; i++)
            seen[k] += fabs(x[i] - atom) <= 0;
    }
    uint64_t all = 0;
    for (unsigned k = 0; k < KNOTS; k++)
        all += seen[k];
    assert_int_equal(all, VALUES);
    assert_likely(fit_tail(seen, expected, KNOTS));
}

/* Sample moments within six standard errors, where these exist. */
static void check_moments(const struct law_facts *f, const double *x) {
    double one = 0, two = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        one += x[i] / VALUES;
        two += x[i] * x[i] / VALUES;
    }
    if (isfinite(f->second))
        assert_true(fabs(one - f->mean) <=
                    6 * sqrt((f->second - f->mean * f->mean) / VALUES) + 1e-9 * f->mean);
    if (isfinite(f->fourth))
        assert_true(fabs(two - f->second) <=
                    6 * sqrt((f->fourth - f->second * f->second) / VALUES) + 1e-9 * f->second);
}

static void test_values(void **state) {
    double *x = allocate(VALUES + CHUNK, sizeof *x);
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct by_hand b;
        struct sampled_law s = ready(&b, samples[i].text, LEVEL_BASELINE, (double)NAN);
        s.law->draw(&s, words_for(samples[i].text), 0, VALUES, x);
        for (unsigned j = 0; j < VALUES; j++)
            assert_true(x[j] > 0 && isfinite(x[j]));
        check_moments(&s.facts, x);
        if (samples[i].atoms)
            check_atoms(&samples[i], x);
        else
            check_continuous(&samples[i], x);
        law_free_baseline(&s);
    }
    free(x);
    current[0] = '\0';
}

/* Residual lives in cells, eight to each doubling. */
static void test_residuals(void **state) {
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        const struct sample *p = &samples[i];
        struct by_hand b;
        struct sampled_law s = ready(&b, p->text, LEVEL_BASELINE, (double)NAN);
        uint64_t seen[CELLS] = {0};
        double expected[CELLS] = {0}, from, to;
        for (unsigned c = 0; c < CELLS; c++) {
            const double low = c ? log(2) * (c - 100.0) / 8 : -60;
            const double high = c < CELLS - 1 ? log(2) * (c - 99.0) / 8 : 300;
            for (unsigned k = 0; piece_of(p, k, &from, &to); k++)
                if (fmax(low, from) < fmin(high, to))
                    expected[c] += integral(p, of_mass, 0, fmax(low, from), fmin(high, to));
            expected[c] *= RESIDUALS / s.facts.mean;
        }
        for (unsigned j = 0; j < RESIDUALS; j++) {
            const double x = s.law->residual(&s, words_for(p->text), j);
            assert_true(x > 0 && isfinite(x));
            const double cell = floor(log2(x) * 8) + 100;
            seen[(unsigned)fmin(fmax(cell, 0), CELLS - 1)]++;
        }
        assert_likely(fit_tail(seen, expected, CELLS));
        law_free_baseline(&s);
    }
    current[0] = '\0';
}

static uint64_t mix(uint64_t hash, const double *x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

/* 5000 values, residual lives and facts of a law at one level. */
static uint64_t hash_of(const struct sample *p, enum level level) {
    enum { MOST = 5000 };
    static double x[MOST + CHUNK];
    struct by_hand b;
    struct sampled_law s = ready(&b, p->text, level, 0.7);
    uint64_t hash = 0xcbf29ce484222325u;
    s.law->draw(&s, words_for(p->text), (uint64_t)1 << 40, MOST, x);
    hash = mix(hash, x, MOST);
    for (unsigned i = 0; i < 1000; i++)
        x[i] = s.law->residual(&s, words_for(p->text), i);
    for (unsigned i = 0; i < 100; i++)
        x[1000 + i] = s.law->tail(&s, 0.05 * i);
    x[1100] = s.law->mgf(&s, p->finite_mgf);
    hash = mix(hash, x, 1101);
    const double moments[] = {s.facts.mean, s.facts.second, s.facts.third, s.facts.fourth};
    hash = mix(hash, moments, 4);
    law_free_baseline(&s);
    return hash;
}

static void test_same_bits(void **state) {
    unsigned wrong = 0;
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++)
        for (enum level l = LEVEL_BASELINE; l <= level_best() && l <= LAST; l++) {
            const uint64_t hash = hash_of(&samples[i], l);
            if (hash != samples[i].hash)
                print_error("%s, %s: hash %#llx\n", samples[i].text, level_name[l],
                            (unsigned long long)hash);
            wrong += hash != samples[i].hash;
        }
    current[0] = '\0';
    assert_int_equal(wrong, 0);
}

/* A value does not depend on the block it is drawn in, nor on its length. */
static void test_blocks(void **state) {
    enum { MOST = 2048 };
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 511, 512, 513, 1000};
    static double all[MOST], some[MOST + GUARD];
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++)
        for (enum level l = LEVEL_BASELINE; l <= level_best() && l <= LAST; l++) {
            struct by_hand b;
            struct sampled_law s = ready(&b, samples[i].text, l, (double)NAN);
            const struct words w = words_for(samples[i].text);
            s.law->draw(&s, w, 0, MOST, all);
            for (uint32_t first = 0; first < 1024; first += 64 * 5)
                for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
                    const uint32_t room = (counts[c] + CHUNK - 1) / CHUNK * CHUNK;
                    for (uint32_t j = 0; j < MOST + GUARD; j++)
                        some[j] = -1;
                    s.law->draw(&s, w, first, counts[c], some);
                    assert_memory_equal(some, all + first, counts[c] * sizeof *some);
                    for (uint32_t j = room; j < MOST + GUARD; j++)
                        assert_true(some[j] < 0);
                }
            law_free_baseline(&s);
        }
    current[0] = '\0';
}

/* Laws of one number u a value: P(X > x) <= u <= P(X >= x), or the same for 1 - u. */
static void test_inversion(void **state) {
    enum { SOME = 6400 };
    static double x[SOME];
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        const struct sample *p = &samples[i];
        const struct words w = words_for(p->text);
        struct by_hand b;
        struct sampled_law s = ready(&b, p->text, LEVEL_BASELINE, (double)NAN);
        bool up = true, down = true;
        s.law->draw(&s, w, 0, SOME, x);
        for (unsigned j = 0; j < SOME && s.facts.lanes == 2; j++) {
            const double high = rng_word(w.stream, w.purpose, w.lane, j),
                         low = rng_word(w.stream, w.purpose, w.lane + 1, j);
            const double u = (high + (low + 0.5) * 0x1p-32) * 0x1p-32;
            const double above = p->tail(x[j] * (1 + 1e-12)), from = p->tail(x[j] * (1 - 1e-12));
            up &= above * (1 - 1e-11) <= u && u <= from * (1 + 1e-11);
            down &= above <= 1 - u + 1e-11 && 1 - u <= from + 1e-11;
        }
        assert_true(up || down);
        law_free_baseline(&s);
    }
    current[0] = '\0';
}

/* Another mean multiplies everything; powers of two to the bit. */
static void test_scale(void **state) {
    enum { SOME = 640 };
    static double x[SOME], y[SOME];
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct by_hand a, b;
        const struct words w = words_for("scale");
        struct sampled_law s = ready(&a, samples[i].text, LEVEL_BASELINE, (double)NAN);
        struct sampled_law t = ready(&b, samples[i].text, LEVEL_BASELINE, 4 * s.facts.mean);
        s.law->draw(&s, w, 0, SOME, x);
        t.law->draw(&t, w, 0, SOME, y);
        for (unsigned j = 0; j < SOME; j++) {
            assert_true(fabs(y[j] - 4 * x[j]) <= 1e-15 * y[j]);
            assert_near(t.law->residual(&t, w, j), 4 * s.law->residual(&s, w, j), 1e-12,
                        "residual");
        }
        assert_near(t.facts.mean, 4 * s.facts.mean, 1e-15, "mean");
        assert_near(t.law->tail(&t, 2.9), s.law->tail(&s, 2.9 / 4), 1e-13, "tail");
        if (isfinite(s.facts.fourth))
            assert_near(t.facts.fourth, 256 * s.facts.fourth, 1e-14, "fourth moment");
        assert_near(t.law->mgf(&t, samples[i].finite_mgf / 4),
                    s.law->mgf(&s, samples[i].finite_mgf), 1e-13, "mgf");
        law_free_baseline(&s);
        law_free_baseline(&t);
    }
    current[0] = '\0';
}

/* The ends of the ranges of the parameters. */
static void test_extremes(void **state) {
    static const char *const texts[] = {"weibull shape=0.1",
                                        "weibull shape=100",
                                        "erlang shape=1",
                                        "erlang shape=100",
                                        "hyperexponential scv=1",
                                        "hyperexponential scv=1e6",
                                        "lognormal scv=1e-9",
                                        "lognormal scv=1e6",
                                        "pareto shape=1.1",
                                        "pareto shape=1000",
                                        "lomax shape=1.01 mean=1e12",
                                        "lomax shape=1000 mean=1e-9",
                                        "geometric mean=1",
                                        "geometric mean=1e12",
                                        "exponential mean=1e-9",
                                        "exponential mean=1e12",
                                        "discrete values=3 probabilities=1",
                                        "discrete values=0/5 probabilities=0.5/0.5",
                                        "discrete values=1/5 probabilities=0/1",
                                        "discrete values=1/5 probabilities=1/0"};
    static double x[4096];
    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct by_hand b;
        struct sampled_law s = ready(&b, texts[i], LEVEL_BASELINE, (double)NAN);
        assert_true(s.facts.mean > 0 && isfinite(s.facts.mean));
        assert_true(s.facts.second >= s.facts.mean * s.facts.mean * (1 - 1e-12));
        s.law->draw(&s, words_for(texts[i]), 0, 4096, x);
        for (unsigned j = 0; j < 4096; j++) {
            assert_true(isfinite(x[j]) && (x[j] > 0 || s.n_values));
            const double residual = s.law->residual(&s, words_for(texts[i]), j);
            assert_true(isfinite(residual) && residual > 0);
            const double tail = s.law->tail(&s, x[j]);
            assert_true(tail >= 0 && tail <= 1 + 1e-12);
        }
        assert_true(s.law->mgf(&s, 1e3) >= 1);
        law_free_baseline(&s);
    }
    struct by_hand b;
    struct sampled_law s = ready(&b, "geometric mean=1", LEVEL_BASELINE, (double)NAN);
    s.law->draw(&s, words_for("1"), 0, 64, x);
    for (unsigned j = 0; j < 64; j++)
        assert_true(fabs(x[j] - 1) <= 0);
    assert_true(s.law->tail(&s, 1) == 0 && s.law->tail(&s, 0.9) == 1);
    s = ready(&b, "discrete values=1/5 probabilities=1/0", LEVEL_BASELINE, (double)NAN);
    assert_near(s.facts.mean, 1, 1e-15, "mean");
    law_free_baseline(&s);
    current[0] = '\0';
}

static void test_refusals(void **state) {
    static const struct {
        const char *text;
        unsigned at;
    } wrong[] = {{"discrete values=1/2 probabilities=1", 1},
                 {"discrete values=1/2 probabilities=0.5/0.5000001", 1},
                 {"discrete values=0/0 probabilities=0.5/0.5", 0}};
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct by_hand b;
        struct law_facts facts;
        struct reason why = {""};
        unsigned at = 99;
        const struct entry *e = by_hand(&b, &laws_baseline, wrong[i].text);
        assert_false(law_of(e->kind)->examine(e->values, &facts, &why, &at));
        assert_int_equal(at, wrong[i].at);
        assert_true(strlen(why.text) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_facts, name_culprit),
        cmocka_unit_test_teardown(test_values, name_culprit),
        cmocka_unit_test_teardown(test_residuals, name_culprit),
        cmocka_unit_test_teardown(test_same_bits, name_culprit),
        cmocka_unit_test_teardown(test_blocks, name_culprit),
        cmocka_unit_test_teardown(test_inversion, name_culprit),
        cmocka_unit_test_teardown(test_scale, name_culprit),
        cmocka_unit_test_teardown(test_extremes, name_culprit),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
