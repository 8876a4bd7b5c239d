/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exact sums and the estimates made of them. */
#ifndef POTLUCK_STATS_H
#define POTLUCK_STATS_H

#include "bins.h"

#include <stdint.h>

/* Count, sum and sum of squares of signed 64-bit integers, exactly, for up to 2^63 of them.
 * Zero-initialise. */
struct moments {
    uint64_t count;
    uint64_t sum[2];     /* two's complement, low word first */
    uint64_t squares[3]; /* unsigned, low word first */
};

void moments_add(struct moments *m, int64_t x);
void moments_merge(struct moments *into, const struct moments *from);
/* Mean; NaN without observations. */
double moments_mean(const struct moments *m);
/* Standard error of the mean, sqrt((S2 - S1^2/R) / (R )), the difference formed in exact
 * integers; NaN for R < 2. */
double moments_se(const struct moments *m);

/* t such that P(|T| <= t) = 0.95 for Student's law with df >= 1 degrees of freedom; relative error
 * below 1e-9. The same bits on every machine. */
double student_95(uint64_t df);
/* The quantile of Student's law that belongs to z of the normal law, by expansion about it (Abramowitz
 * and Stegun, 26.7.5): within 2 % for z up to 6 and df from 19 on. */
double student_beyond(double z, uint64_t df);

/* A histogram kept in batches of replications. Replications may differ in how much they observe
 * (servers of a random graph's largest component), so fractions are of what was counted. */
struct batches {
    const uint64_t *count; /* [BATCHES][stride]; borrowed */
    uint64_t stride, bins;
    uint64_t observed[BATCHES]; /* the sum of each batch */
};
struct batches stats_batches(const uint64_t *count, uint64_t stride, uint64_t bins);

/* Total variation between the laws of two points. */
struct variation {
    double tv; /* plug-in: 1/2 sum |p - q| of the pooled fractions */
    double
        floor; /* what the plug-in would be expected to show if the laws were equal: noise alone */
    double
        cross; /* signs from one half of the batches, sums from the other, both ways; biased low */
    double cross_se;
};
struct variation stats_variation(const struct batches *p, const struct batches *q);
/* Fraction of bin b and its standard error from the spread over batches (ratio estimate); NaN where
 * undefined. */
double stats_fraction(const struct batches *p, uint64_t bin);
double stats_fraction_se(const struct batches *p, uint64_t bin);

/* 1 - mean(y)/mean(x) over n paired replications and its standard error by the delta method. */
struct reduction {
    double value, se;
};
struct reduction stats_reduction(const double *y, const double *x, uint64_t n);

#endif
