/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-square tests with fixed seeds. A file that makes at most K comparisons calls each one wrong
 * below 1e-4 / K, so that the file as a whole raises a false alarm once in 10^4 changes of words.
 */
#ifndef POTLUCK_CHANCE_H
#define POTLUCK_CHANCE_H

#include <math.h>
#include <stdint.h>

/* P(a chi-square of df degrees exceeds x): the regularised incomplete gamma function, by its series
 * or by Lentz's continued fraction (Press et al., Numerical Recipes, section 6.2). */
static inline double chi_square_tail(double x, double df) {
    const double a = df / 2, half = x / 2;
    if (df <= 0 || x <= 0)
        return 1;
    const double front = exp(a * log(half) - half - lgamma(a));
    if (half < a + 1) {
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > sum * 1e-15; n++) {
            term *= half / n;
            sum += term;
        }
        return 1 - front * sum;
    }
    double b = half + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 100000; i++) {
        const double an = -i * (i - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return front * h;
}

/* P of a fit as bad as this of counts to expectations. Cells that expect fewer than ten are one
 * cell together; a count where none is possible gives -1. */
static inline double fit_tail(const uint64_t *seen, const double *expected, uint64_t cells) {
    double x = 0, rest = 0, rest_expected = 0;
    uint64_t used = 0;
    for (uint64_t i = 0; i < cells; i++) {
        if (expected[i] <= 0) {
            if (seen[i])
                return -1;
            continue;
        }
        if (expected[i] < 10) {
            rest += (double)seen[i];
            rest_expected += expected[i];
            continue;
        }
        const double d = (double)seen[i] - expected[i];
        x += d * d / expected[i];
        used++;
    }
    if (rest_expected >= 10) {
        x += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
        used++;
    }
    return used < 2 ? 1 : chi_square_tail(x, (double)(used - 1));
}

/* P of two samples of counts as different as this when the law is one. */
static inline double pair_tail(const uint64_t *a, const uint64_t *b, uint64_t cells) {
    double all_a = 0, all_b = 0, x = 0, rest_a = 0, rest_b = 0;
    uint64_t used = 0;
    for (uint64_t i = 0; i < cells; i++) {
        all_a += (double)a[i];
        all_b += (double)b[i];
    }
    for (uint64_t i = 0; i <= cells; i++) {
        const double m = i < cells ? (double)a[i] : rest_a, n = i < cells ? (double)b[i] : rest_b;
        if (i < cells && m + n < 20) {
            rest_a += m;
            rest_b += n;
            continue;
        }
        if (m + n <= 0)
            continue;
        const double d = m * sqrt(all_b / all_a) - n * sqrt(all_a / all_b);
        x += d * d / (m + n);
        used++;
    }
    return used < 2 ? 1 : chi_square_tail(x, (double)(used - 1));
}

#endif
