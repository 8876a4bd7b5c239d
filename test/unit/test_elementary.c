/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Our logarithm, exponential, normal quantile and gamma functions against the long double ones of
 * the C library, on bit patterns of every kind, and their bits against those of every other build.
 * Built once for every set of instructions; exits 77 where the processor lacks them. */
#include "elementary.h"
#include "special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { TRIALS = 1500000, BATCH = 1024 };
static const double ONE_LESS = 1 - 0x1p-53;
/* Of all bits in test_same_bits(). */
static const uint64_t EXPECTED = 0x3356534815e10305;

/* Words that do not matter much (Knuth's generator, high half). */
static uint64_t state_of_words = 1;
static uint32_t word(void) {
    state_of_words = state_of_words * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state_of_words >> 32);
}
static double uniform(void) {
    const uint32_t high = word();
    return uniform_number(high, word());
}
static uint64_t pattern(void) {
    return (uint64_t)word() << 32 | word();
}

/* The difference in units of the last place of the result. */
static double in_ulps(double ours, long double exact) {
    const double near = fabs((double)exact);
    const double ulp = near < 0x1p-1022 ? 0x1p-1074 : ldexp(1, ilogb(near) - 52);
    return (double)fabsl((ours - exact) / ulp);
}

static void keep_worst(double error, double at, double *worst, double *where) {
    if (error > *worst) {
        *worst = error;
        *where = at;
    }
}

static void assert_below(double worst, double where, double bound, const char *what) {
    printf("%s: worst %.3g at %a\n", what, worst, where);
    if (!(worst < bound))
        fail_msg("%s: %g at %a", what, worst, where);
}

/* All positive bit patterns, the neighbourhood of 1 at every scale, and numbers in between. */
static void test_log(void **state) {
    double worst = 0, where = 0;
    (void)state;
    for (uint32_t i = 0; i < TRIALS; i++) {
        double x = double_of(pattern() >> 1);
        if (i % 4 == 1)
            x = 0.5 + 1.5 * uniform();
        else if (i % 4 == 2)
            x = 1 + (uniform() - 0.5) * ldexp(1, -(int)(word() % 53));
        else if (i % 4 == 3)
            x = double_of(pattern() >> (12 + word() % 50)); /* subnormal */
        if (!isfinite(x) || x <= 0)
            continue;
        if (x >= 0x1p-1022)
            assert_true(bits_of(log_normal_number(x)) == bits_of(own_log(x)));
        keep_worst(in_ulps(own_log(x), logl(x)), x, &worst, &where);
    }
    assert_below(worst, where, 0.9, "log, ulp");
    assert_true(bits_of(own_log(1)) == 0);
    assert_true(own_log(0) < 0 && isinf(own_log(0)) && isinf(own_log(-0.0)));
    assert_true(own_log(INFINITY) > 0 && isinf(own_log(INFINITY)));
    assert_true(isnan(own_log(-1)) && isnan(own_log((double)NAN)) && isnan(own_log(-INFINITY)));
}

static void test_exp(void **state) {
    double worst = 0, where = 0, worst_near = 0, where_near = 0;
    (void)state;
    for (uint32_t i = 0; i < TRIALS; i++) {
        double x = (uniform() - 0.5) * 1500;
        if (i % 4 == 1)
            x = (uniform() - 0.5) * 4;
        else if (i % 4 == 2)
            x = (uniform() - 0.5) * ldexp(1, -(int)(word() % 70));
        else if (i % 4 == 3)
            x = -700 - 46 * uniform(); /* subnormal results */
        const long double exact = expl(x);
        if (exact >= 0x1.fffffffffffff8p1023L) {
            assert_true(isinf(own_exp(x)));
            continue;
        }
        keep_worst(in_ulps(own_exp(x), exact), x, &worst, &where);
        if (fabs(x) <= 700)
            keep_worst(in_ulps(exp_in_range(x), exact), x, &worst_near, &where_near);
    }
    assert_below(worst, where, 0.8, "exp, ulp");
    assert_below(worst_near, where_near, 0.7, "exp within 700, ulp");
    assert_true(own_exp(0) == 1 && own_exp(-0.0) == 1);
    assert_true(own_exp(-INFINITY) == 0 && own_exp(-1e300) == 0);
    assert_true(isinf(own_exp(INFINITY)) && isinf(own_exp(1e300)) && isnan(own_exp((double)NAN)));
}

static void test_small_arguments(void **state) {
    double worst[2] = {0, 0}, where[2] = {0, 0};
    (void)state;
    for (uint32_t i = 0; i < TRIALS; i++) {
        const double x = (i % 2 ? 1 : -1) * uniform() * ldexp(1, 4 - (int)(word() % 80));
        keep_worst(in_ulps(own_expm1(x), expm1l(x)), x, &worst[0], &where[0]);
        if (x > -1)
            keep_worst(in_ulps(own_log1p(x), log1pl(x)), x, &worst[1], &where[1]);
    }
    assert_below(worst[0], where[0], 3, "expm1, ulp");
    assert_below(worst[1], where[1], 3, "log1p, ulp");
    assert_true(own_expm1(0) == 0 && own_log1p(0) == 0);
}

/* Exactly (x + 1/2) / 2^64, rounded, below 1. */
static void test_uniform(void **state) {
    (void)state;
    for (uint32_t i = 0; i < TRIALS; i++) {
        uint64_t x = pattern();
        if (i % 3 == 1)
            x >>= word() % 64;
        else if (i % 3 == 2)
            x = ~(x >> word() % 64);
        /* A long double has 64 bits; where it cannot hold the half, the last bit rounds alike. */
        const bool small = x < UINT64_C(1) << 63;
        const long double moved = small ? (long double)x + 0.5L : (long double)(x | 1);
        const double exact = (double)(moved * 0x1p-64L);
        const double u = uniform_number((uint32_t)(x >> 32), (uint32_t)x);
        assert_true(u > 0 && u < 1);
        if (exact < 1 && fabs(u - exact) > 0)
            fail_msg("%llx gives %a, not %a", (unsigned long long)x, u, exact);
    }
    assert_true(uniform_number(0, 0) == 0x1p-65);
    assert_true(uniform_number(0xffffffff, 0xffffffff) == ONE_LESS);
    assert_true(uniform_number(0x80000000, 0) == 0.5);
}

/* The solution of P(Z > z) = u near `from`, by Newton's method. */
static long double exact_upper(double u, double from) {
    const long double root = sqrtl(2), density = 1 / sqrtl(2 * acosl(-1));
    long double z = from;
    for (unsigned step = 0; step < 3; step++) {
        const long double over =
            u < 0.5 ? erfcl(z / root) / 2 - u : (1 - (long double)u) - erfcl(-z / root) / 2;
        z += over / (expl(-z * z / 2) * density);
    }
    return z;
}

static void test_normal(void **state) {
    double worst = 0, where = 0;
    (void)state;
    for (uint32_t i = 0; i < TRIALS / 4; i++) {
        double u = uniform();
        if (i % 4 == 1)
            u *= ldexp(1, -(int)(word() % 62));
        else if (i % 4 == 2)
            u = 0.5 + (u - 0.5) * ldexp(1, -(int)(word() % 50));
        else if (i % 4 == 3)
            u = 1 - u * ldexp(1, -(int)(word() % 50));
        u = u < 0x1p-65 ? 0x1p-65 : u > ONE_LESS ? ONE_LESS : u;
        const double z = normal_upper(u);
        keep_worst((double)fabsl(z - exact_upper(u, z)) / (1 + fabs(z)), u, &worst, &where);
    }
    assert_below(worst, where, 1e-15, "normal quantile");
    assert_true(fabs(normal_upper(0.5)) < 1e-15);
}

static void test_gamma(void **state) {
    double worst = 0, where = 0;
    (void)state;
    for (uint32_t i = 0; i < TRIALS / 10; i++) {
        const double x = i % 2 ? uniform() * 50 : exp(uniform() * 20 - 7);
        const long double exact = lgammal(x);
        keep_worst((double)(fabsl(log_gamma(x) - exact) / (1 + fabsl(exact))), x, &worst, &where);
    }
    assert_below(worst, where, 1e-14, "log gamma");
    worst = 0;
    for (double x = 0.001; x < 700; x *= 1.07) { /* shapes 1/2 and 4 in closed form */
        const double four = exp(-x) * (1 + x * (1 + x / 2 * (1 + x / 3)));
        keep_worst(fabs(gamma_tail(0.5, x) / erfc(sqrt(x)) - 1), x, &worst, &where);
        keep_worst(fabs(gamma_tail(4, x) / four - 1), x, &worst, &where);
    }
    assert_below(worst, where, 3e-13, "gamma tail");
    assert_true(gamma_tail(0.5, 0) == 1);
}

static uint64_t mix(uint64_t hash, const double *x, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        hash = (hash ^ bits_of(x[i])) * 0x100000001b3u;
    return hash;
}

/* Loops that become vector code, and their bits: the hash is the same in every build. */
static void test_same_bits(void **state) {
    static double u[BATCH], x[BATCH];
    uint64_t hash = 0xcbf29ce484222325u;
    (void)state;
    state_of_words = 7;
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < BATCH; i++)
            u[i] = uniform();
        hash = mix(hash, u, BATCH);
#pragma omp simd
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = log_normal_number(u[i]);
        hash = mix(hash, x, BATCH);
#pragma omp simd
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = exp_in_range(u[i] * 100 - 50);
        hash = mix(hash, x, BATCH);
#pragma omp simd
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = own_exp(u[i] * 1500 - 760);
        hash = mix(hash, x, BATCH);
#pragma omp simd
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = own_log(u[i] * 0x1p-1022);
        hash = mix(hash, x, BATCH);
#pragma omp simd
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = normal_upper(u[i]);
        hash = mix(hash, x, BATCH);
        for (unsigned i = 0; i < BATCH; i++)
            x[i] = log_gamma(u[i] * 40) + gamma_tail(u[i] * 3, u[BATCH - 1 - i] * 9) +
                   own_expm1(u[i]) + own_log1p(u[i]);
        hash = mix(hash, x, BATCH);
    }
    if (hash != EXPECTED)
        fail_msg("the bits have the hash %#llx", (unsigned long long)hash);
}

static __attribute__((noinline)) int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),       cmocka_unit_test(test_exp),
        cmocka_unit_test(test_uniform),   cmocka_unit_test(test_small_arguments),
        cmocka_unit_test(test_normal),    cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
        return 77;
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return 77;
#endif
#endif
    return run_all();
}
