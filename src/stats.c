/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exact sums, Student's t, total variation. Only + - * / and square roots reach a result: each is
 * rounded the same way on every machine. */
#include "stats.h"
#include "wide.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* words of `to` += words of `from`, little endian. */
static void add_words(uint64_t *to, const uint64_t *from, unsigned words) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < words; i++) {
        const uint128 sum = (uint128)to[i] + from[i] + carry;
        to[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

static void subtract_words(uint64_t *from, const uint64_t *what, unsigned words) {
    uint64_t borrow = 0;
    for (unsigned i = 0; i < words; i++) {
        const uint128 difference = (uint128)from[i] - what[i] - borrow;
        from[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

/* product[a_words + b_words] = a * b. */
static void multiply_words(const uint64_t *a, unsigned a_words, const uint64_t *b, unsigned b_words,
                           uint64_t *product) {
    memset(product, 0, (a_words + b_words) * sizeof *product);
    for (unsigned i = 0; i < a_words; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < b_words; j++) {
            const uint128 sum = (uint128)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        product[i + b_words] = carry;
    }
}

/* The nearest double of an unsigned number: its top 64 bits, the rest folded into the last one. */
static double words_double(const uint64_t *x, unsigned words) {
    unsigned top = words;
    while (top > 1 && x[top - 1] == 0)
        top--;
    if (top == 1)
        return (double)x[0];
    const unsigned shift = (unsigned)__builtin_clzll(x[top - 1]);
    uint64_t head = shift ? x[top - 1] << shift | x[top - 2] >> (64 - shift) : x[top - 1];
    bool rest = shift ? (x[top - 2] << shift) != 0 : x[top - 2] != 0;
    for (unsigned i = 0; i + 2 < top; i++)
        rest = rest || x[i] != 0;
    double value = (double)(head | rest);
    for (unsigned bits = 64 * (top - 1) - shift; bits > 0; bits -= bits > 62 ? 62 : bits)
        value *= (double)((uint64_t)1 << (bits > 62 ? 62 : bits));
    return value;
}

void moments_add(struct moments *m, int64_t x) {
    const uint64_t sum[2] = {(uint64_t)x, x < 0 ? UINT64_MAX : 0};
    const uint64_t size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    const uint128 square = (uint128)size * size;
    const uint64_t squares[3] = {(uint64_t)square, (uint64_t)(square >> 64), 0};
    add_words(m->sum, sum, 2);
    add_words(m->squares, squares, 3);
    m->count++;
}

void moments_merge(struct moments *into, const struct moments *from) {
    add_words(into->sum, from->sum, 2);
    add_words(into->squares, from->squares, 3);
    into->count += from->count;
}

/* |sum| and its sign. */
static bool magnitude(const struct moments *m, uint64_t size[2]) {
    const bool negative = m->sum[1] >> 63;
    const uint64_t zero[2] = {0, 0};
    memcpy(size, negative ? zero : m->sum, 2 * sizeof *size);
    if (negative)
        subtract_words(size, m->sum, 2);
    return negative;
}

double moments_mean(const struct moments *m) {
    uint64_t size[2];
    if (m->count == 0)
        return (double)NAN;
    const bool negative = magnitude(m, size);
    const double mean = words_double(size, 2) / (double)m->count;
    return negative ? -mean : mean;
}

double moments_se(const struct moments *m) {
    uint64_t size[2], squared[4], spread[4];
    if (m->count < 2)
        return (double)NAN;
    magnitude(m, size);
    multiply_words(size, 2, size, 2, squared);
    multiply_words(m->squares, 3, &m->count, 1, spread);
    subtract_words(spread, squared, 4); /* R S2 - S1^2 >= 0 */
    const double r = (double)m->count;
    return sqrt(words_double(spread, 4) / (r - 1)) / r;
}

/* P(|T| <= t) for Student's law: the finite sums in cos^2 of theta = atan(t / sqrt(df)) (Abramowitz
 * and Stegun, 26.7.3 and 26.7.4). */
static double student_inside(double t, uint64_t df) {
    const double cosine2 = (double)df / ((double)df + t * t), sine = sqrt(1 - cosine2);
    const bool odd = df & 1;
    double term = odd ? sqrt(cosine2) : 1, sum = df > 1 ? term : 0;
    for (uint64_t j = odd ? 3 : 2; j + 2 <= df; j += 2) {
        term *= cosine2 * (double)(j - 1) / (double)j;
        sum += term;
    }
    if (!odd)
        return sine * sum;
    /* theta by halving the angle until the series of the arc sine needs few terms */
    double x = sine, scale = 1;
    for (int i = 0; i < 12; i++) {
        x = x / sqrt(2 * (1 + sqrt(1 - x * x)));
        scale *= 2;
    }
    const double theta = scale * x * (1 + x * x / 6 * (1 + x * x * 9 / 20));
    return (theta + sine * sum) / 1.5707963267948966;
}

double student_beyond(double z, uint64_t df) {
    const double z2 = z * z, v = (double)df;
    const double g1 = z * (z2 + 1) / 4, g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

double student_95(uint64_t df) {
    if (df < 1)
        return (double)NAN;
    if (df > 400)
        return student_beyond(1.9599639845400545, df);
    double low = 1, high = 16;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (student_inside(middle, df) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct batches stats_batches(const uint64_t *count, uint64_t stride, uint64_t bins) {
    struct batches p = {.count = count, .stride = stride, .bins = bins};
    for (unsigned b = 0; b < BATCHES; b++)
        for (uint64_t k = 0; k < bins; k++)
            p.observed[b] += count[b * stride + k];
    return p;
}

/* Pooled numbers of a set of batches. */
static uint64_t pooled_observations(const struct batches *p) {
    uint64_t sum = 0;
    for (unsigned b = 0; b < BATCHES; b++)
        sum += p->observed[b];
    return sum;
}

static uint64_t pooled_count(const struct batches *p, uint64_t bin) {
    uint64_t sum = 0;
    for (unsigned b = 0; b < BATCHES && bin < p->bins; b++)
        sum += p->count[b * p->stride + bin];
    return sum;
}

static double batch_fraction(const struct batches *p, unsigned batch, uint64_t bin) {
    if (bin >= p->bins)
        return 0;
    return (double)p->count[batch * p->stride + bin] / (double)p->observed[batch];
}

double stats_fraction(const struct batches *p, uint64_t bin) {
    const uint64_t all = pooled_observations(p);
    return all ? (double)pooled_count(p, bin) / (double)all : (double)NAN;
}

double stats_fraction_se(const struct batches *p, uint64_t bin) {
    const double all = (double)pooled_observations(p), fraction = stats_fraction(p, bin);
    double sum = 0;
    unsigned used = 0;
    for (unsigned b = 0; b < BATCHES; b++) {
        if (!p->observed[b])
            continue;
        const double size = (double)p->observed[b];
        const double rest =
            (bin < p->bins ? (double)p->count[b * p->stride + bin] : 0) - fraction * size;
        sum += rest * rest;
        used++;
    }
    return used < 2 ? (double)NAN : sqrt(sum * used / (used - 1)) / all;
}

/* Difference of the fractions of a bin over the batches of one parity, or of all (parity 2). */
static double half_difference(const struct batches *p, const struct batches *q, uint64_t bin,
                              unsigned parity) {
    double np = 0, nq = 0, cp = 0, cq = 0;
    for (unsigned b = 0; b < BATCHES; b++) {
        if (parity < 2 && b % 2 != parity)
            continue;
        np += (double)p->observed[b];
        nq += (double)q->observed[b];
        cp += bin < p->bins ? (double)p->count[b * p->stride + bin] : 0;
        cq += bin < q->bins ? (double)q->count[b * q->stride + bin] : 0;
    }
    return np > 0 && nq > 0 ? cp / np - cq / nq : (double)NAN;
}

/* Both points have this batch. */
static bool shared_batch(const struct batches *p, const struct batches *q, unsigned b) {
    return p->observed[b] && q->observed[b];
}

/* Expected |difference| of each bin if the laws were equal: normal with the spread seen over the
 * batches, which keeps the pairing of common random numbers. */
static double noise_floor(const struct batches *p, const struct batches *q, uint64_t bins) {
    double sum = 0;
    for (uint64_t k = 0; k < bins; k++) {
        double mean = 0, spread = 0;
        unsigned used = 0;
        for (unsigned b = 0; b < BATCHES; b++)
            if (shared_batch(p, q, b)) {
                mean += batch_fraction(p, b, k) - batch_fraction(q, b, k);
                used++;
            }
        if (used < 2)
            return (double)NAN;
        mean /= used;
        for (unsigned b = 0; b < BATCHES; b++)
            if (shared_batch(p, q, b)) {
                const double d = batch_fraction(p, b, k) - batch_fraction(q, b, k) - mean;
                spread += d * d;
            }
        sum += sqrt(spread / (used - 1) / used);
    }
    return sum / 2 * 0.7978845608028654; /* sqrt(2 / pi) */
}

/* 1/2 sum over bins of (p_b - q_b) times the sign that the other half of the batches shows. */
static double cross_batch(const struct batches *p, const struct batches *q, uint64_t bins,
                          unsigned b) {
    double sum = 0;
    for (uint64_t k = 0; k < bins; k++) {
        const double other = half_difference(p, q, k, 1 - b % 2);
        const double d = batch_fraction(p, b, k) - batch_fraction(q, b, k);
        sum += other > 0 ? d : other < 0 ? -d : 0;
    }
    return sum / 2;
}

static void cross_fit(const struct batches *p, const struct batches *q, uint64_t bins,
                      struct variation *v) {
    double value[BATCHES], mean[2] = {0, 0}, spread[2] = {0, 0};
    unsigned used[2] = {0, 0};
    v->cross = v->cross_se = (double)NAN;
    for (unsigned b = 0; b < BATCHES; b++)
        if (shared_batch(p, q, b)) {
            value[b] = cross_batch(p, q, bins, b);
            mean[b % 2] += value[b];
            used[b % 2]++;
        }
    if (used[0] < 2 || used[1] < 2)
        return;
    for (unsigned half = 0; half < 2; half++)
        mean[half] /= used[half];
    for (unsigned b = 0; b < BATCHES; b++)
        if (shared_batch(p, q, b))
            spread[b % 2] += (value[b] - mean[b % 2]) * (value[b] - mean[b % 2]);
    v->cross = (mean[0] + mean[1]) / 2;
    /* The halves lend each other their signs, so their means go together when the laws are close:
     * the errors are added, not their squares. */
    v->cross_se =
        (sqrt(spread[0] / (used[0] - 1) / used[0]) + sqrt(spread[1] / (used[1] - 1) / used[1])) / 2;
}

struct variation stats_variation(const struct batches *p, const struct batches *q) {
    const uint64_t bins = p->bins > q->bins ? p->bins : q->bins;
    struct variation v = {0};
    for (uint64_t k = 0; k < bins; k++)
        v.tv += fabs(half_difference(p, q, k, 2)) / 2;
    if (!bins)
        v.tv = (double)NAN;
    v.floor = noise_floor(p, q, bins);
    cross_fit(p, q, bins, &v);
    return v;
}

struct reduction stats_reduction(const double *y, const double *x, uint64_t n) {
    double mean_x = 0, mean_y = 0, spread = 0;
    for (uint64_t i = 0; i < n; i++) {
        mean_x += x[i];
        mean_y += y[i];
    }
    const double ratio = mean_y / mean_x;
    for (uint64_t i = 0; i < n; i++) {
        const double rest = y[i] - ratio * x[i];
        spread += rest * rest;
    }
    mean_x /= (double)n;
    struct reduction r = {1 - ratio, sqrt(spread / ((double)n * ((double)n - 1))) / mean_x};
    if (!(mean_x > 0))
        r.value = r.se = (double)NAN;
    if (n < 2)
        r.se = (double)NAN;
    return r;
}
