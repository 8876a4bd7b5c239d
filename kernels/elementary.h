/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Logarithm, exponential and normal quantile of our own. A C library's give other bits on another
 * processor; these are sums, products, quotients and square roots, each rounded once
 * (-ffp-contract=off), so they give the same bits under every compiler and at every vector width.
 * No branches: loops over them become vector code under `omp simd`.
 *
 * The coefficients are Chebyshev interpolants (logarithm, exponential) and a minimax fit (normal
 * quantile), found with 50 digits. Errors stated here are the largest that test_elementary.c finds,
 * rounded up. */
#ifndef POTLUCK_ELEMENTARY_H
#define POTLUCK_ELEMENTARY_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline double double_of(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* a where the sign of x is set, else b: a choice that never becomes a branch, which would keep gcc
 * from making vector code. */
static inline double if_negative(double x, double a, double b) {
    const uint64_t mask = -(bits_of(x) >> 63);
    return double_of((bits_of(a) & mask) | (bits_of(b) & ~mask));
}

/* All bits but the sign, and the largest finite number. */
static const uint64_t SIZE = 0x7fffffffffffffffu, LARGEST = 0x7fefffffffffffffu;
/* ln 2 in two parts; k * LN2_HIGH is exact for |k| < 2^11. */
static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;
/* Added to a number below 2^51 in size it leaves the nearest integer in the low bits. */
static const double TO_INTEGER = 0x1.8p52;

/* ln of a positive normal number; below 0.9 ulp.
 * x = 2^k (1 + f) with 1 + f within [sqrt(1/2), sqrt(2)); with s = f / (2 + f) = tanh(ln(1 + f) /
 * 2), ln(1 + f) = 2s + s R(s^2) = f - f^2/2 + s (f^2/2 + R(s^2)). */
static inline double log_normal_number(double x) {
    const uint64_t root_half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u,
                   mantissa = 0x000fffffffffffffu;
    const uint64_t moved = bits_of(x) + (one - root_half);
    /* The biased exponent as the low bits of 2^52 + exponent. */
    const double k = double_of(moved >> 52 | 0x4330000000000000u) - (0x1p52 + 1023);
    const double f = double_of((moved & mantissa) + root_half) - 1;
    const double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    const double even =
        w * (0x1.99999999952ccp-2 + w * (0x1.c71c62e26208bp-3 + w * 0x1.39fe42e9740a7p-3));
    const double odd =
        z * (0x1.5555555555558p-1 +
             w * (0x1.2492492df3ba9p-2 + w * (0x1.7462b58e46ebep-3 + w * 0x1.2b59b713616c9p-3)));
    return k * LN2_HIGH - ((half - (s * (half + (even + odd)) + k * LN2_LOW)) - f);
}

/* ln of anything: -infinity at 0, infinity at infinity, NaN below 0 and for NaN. */
static inline double own_log(double x) {
    const double infinity = __builtin_inf(), subnormal = x - 0x1p-1022;
    const uint64_t u = bits_of(x), size = u & SIZE;
    const double moved = if_negative(subnormal, 54, 0);
    const double scaled = x * if_negative(subnormal, 0x1p54, 1);
    double y = log_normal_number(scaled) - moved * LN2_HIGH - moved * LN2_LOW;
    y = if_negative(double_of(size - 1), -infinity, y); /* 0 */
    y = if_negative(double_of(LARGEST - size), x, y);   /* infinity and NaN stay */
    return if_negative(double_of(u & -size), (double)__builtin_nanf(""), y);
}

/* 2^k for an integer k within -1022 .. 1023. */
static inline double power_of_two(double k) {
    return double_of((bits_of(k + TO_INTEGER) << 52) + 0x3ff0000000000000u);
}

/* e^x = m 2^k: m within [0.7, 1.5], k is returned as a double. x = k ln 2 + r, |r| <= ln 2 / 2;
 * e^r = 1 + r + r^2 P(r), where the sum 1 + r keeps its rounding error. */
static inline double exp_parts(double x, double *m) {
    const double k = (x * 0x1.71547652b82fep0 + TO_INTEGER) - TO_INTEGER;
    const double high = x - k * LN2_HIGH, rest = k * LN2_LOW, r = high - rest;
    const double lost = (high - r) - rest, z = r * r;
    const double p =
        0.5 + r * (0x1.5555555555557p-3 +
                   r * (0x1.5555555555556p-5 +
                        r * (0x1.11111111100d3p-7 +
                             r * (0x1.6c16c16c162cfp-10 +
                                  r * (0x1.a01a01abeccc3p-13 +
                                       r * (0x1.a01a01a6db488p-16 +
                                            r * (0x1.71de02225a2f3p-19 +
                                                 r * (0x1.27e4db5bb725ap-22 +
                                                      r * (0x1.af4e092e1705bp-26 +
                                                           r * 0x1.1f7315649f2d7p-29)))))))));
    const double sum = 1 + r, error = r - (sum - 1);
    *m = sum + (error + (z * p + lost));
    return k;
}

/* e^x for |x| <= 700; below 0.7 ulp. */
static inline double exp_in_range(double x) {
    double m;
    const double k = exp_parts(x, &m);
    return m * power_of_two(k);
}

/* e^x for every x; below 0.8 ulp, also where the result is subnormal. */
static inline double own_exp(double x) {
    const double above = if_negative(x + 746, -746, x);
    double m;
    const double k = exp_parts(if_negative(710 - above, 710, above), &m);
    const double half = (k * 0.5 + TO_INTEGER) - TO_INTEGER; /* 2^k itself may not exist */
    const double y = m * power_of_two(half) * power_of_two(k - half);
    return if_negative(double_of(LARGEST + 1 - (bits_of(x) & SIZE)), x, y); /* NaN stays */
}

/* ln(1 + x) and e^x - 1 without loss for small x, below 3 ulp (Kahan: what the rounding of 1 + x or
 * of e^x takes away cancels in a quotient). Not at infinity. */
static inline double own_log1p(double x) {
    const double u = 1 + x, part = u - 1;
    const double safe = part == 0 ? 1 : part;
    return part == 0 ? x : own_log(u) * (x / safe);
}
static inline double own_expm1(double x) {
    const double u = own_exp(x), part = u - 1;
    if (part == 0)
        return x;
    return part == -1 || x > 1 ? part : part * (x / own_log(u));
}

/* A uniform number from 64 random bits: (x + 1/2) / 2^64, rounded once to a double and kept below
 * 1. The least is 2^-65, so what is computed from small u has an honest tail down to that
 * probability; the largest is 1 - 2^-53. `high` and `low` are words of 32 bits. */
static inline double uniform_number(uint32_t high, uint32_t low) {
    /* Bits set into 2^84 and 2^51, whose last places are worth 2^32 and 1/2. */
    const double h = double_of(high | 0x4530000000000000u) - (0x1p84 + 0x1p51);
    const double l = double_of(((uint64_t)low << 1 | 1) | 0x4320000000000000u);
    const double u = (h + l) * 0x1p-64;
    return if_negative(u - 1, u, 1 - 0x1p-53);
}

/* The upper quantile of a standard normal Z: z with P(Z > z) = u, for u in (2^-66, 1); |error|
 * below 1e-15 (1 + |z|).
 * With q = min(u, 1 - u) and y = sqrt(-2 ln q) - sqrt(2 ln 2), |z| = y N(y) / D(y). */
static inline double normal_upper(double u) {
    const double q = if_negative(u - 0.5, u, 1 - u);
    const double y = __builtin_sqrt(-2 * log_normal_number(q)) - 0x1.2d6abe44afc43p+0;
    const double n = 1.4756646266356053 +
                     y * (4.1619048434532875 +
                          y * (4.811558697650665 +
                               y * (2.988513378692295 +
                                    y * (1.1014783453634378 +
                                         y * (0.2498824872550168 +
                                              y * (0.034332430095689745 +
                                                   y * (0.002629884827904271 +
                                                        y * (9.447460539952972e-05 +
                                                             y * 1.096544830590239e-06))))))));
    const double d = 1 + y * (2.9844036754288568 +
                              y * (3.6561982563361406 +
                                   y * (2.4029342099078073 +
                                        y * (0.9328244310549175 +
                                             y * (0.2216617974266452 +
                                                  y * (0.03178825785509465 +
                                                       y * (0.002526951386857773 +
                                                            y * (9.319079204747191e-05 +
                                                                 y * 1.096524945933129e-06))))))));
    const double z = y * (n / d);
    return if_negative(u - 0.5, z, -z);
}

#endif
