/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lomax{shape}: Pareto type II, P(X > x) = (1 + x / s)^(-shape) from 0 on; the scale s = shape - 1
 * gives mean 1. Moments from number `shape` on are infinite. The residual life is the same law of
 * shape - 1 at the same scale. */
#include "law_draw.h"

#include <math.h>

enum { SHAPE, MEAN };
enum { UNIT = 1 }; /* parameter[]: the shape and the scale s */

/* ln(1 + x / s) at most: more is for ever, and soon more than a double can hold. */
static const double LONGEST = 600;

static const struct parameter parameters[] = {
    {.name = "shape",
     .type = TYPE_REAL,
     .lower = 1.01,
     .upper = 1000,
     .units = "1",
     .meaning = "exponent of the tail; moments from this number on are infinite"},
    {.name = "mean",
     .type = TYPE_REAL,
     .lower = 1e-9,
     .upper = 1e12,
     .standard = "1",
     .units = "time",
     .meaning = "its mean"},
};

/* k! s^k / ((shape - 1) .. (shape - k)) */
static double moment(double shape, unsigned k) {
    double product = 1;
    for (unsigned j = 1; j <= k; j++)
        product *= j * (shape - 1) / (shape - j);
    return shape > k ? product : (double)INFINITY;
}

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    const double a = v[SHAPE].real;
    *f = (struct law_facts){1, moment(a, 2), moment(a, 3), moment(a, 4), 1, 2, 6};
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    s->parameter[SHAPE] = v[SHAPE].real;
    s->parameter[UNIT] = s->scale * (v[SHAPE].real - 1);
}

/* e^y - 1 for 0 <= y <= 700 without loss and without a branch (own_expm1() has some). Where e^y is
 * rounded to 1, it is y. */
static inline double exp_less_one(double y) {
    const double u = exp_in_range(y), part = u - 1;
    const double quotient = part * (y / log_normal_number(u));
    return if_negative(0 - part, quotient, y);
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double power = -1 / s->parameter[SHAPE], unit = s->parameter[UNIT];
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = log_normal_number(out[i]) * power;
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = exp_less_one(out[i]) * unit;
}

static double mgf(const struct sampled_law *s, double f) {
    (void)s;
    return f > 0 ? (double)INFINITY : 1;
}

static double tail(const struct sampled_law *s, double x) {
    return x > 0 ? own_exp(-own_log1p(x / s->parameter[UNIT]) * s->parameter[SHAPE]) : 1;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double y = exponential_at(w, 0, i) / (s->parameter[SHAPE] - 1);
    return exp_less_one(y < LONGEST ? y : LONGEST) * s->parameter[UNIT];
}

const struct law ISA(law_lomax) = {
    .kind = {"lomax", "a power law from 0 on (Pareto type II)", "", parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
