/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pareto{shape}: type I, P(X > x) = (m / x)^shape from the minimum m on; m = (shape - 1) / shape
 * gives mean 1. Moments from number `shape` on are infinite. The residual life is uniform below m,
 * where it lies with probability m, and Pareto of shape - 1 beyond: it exceeds x >= m with
 * probability (m / x)^(shape - 1) / shape. */
#include "law_draw.h"

#include <math.h>

enum { SHAPE, MEAN };
enum { MINIMUM = 1 }; /* parameter[]: the shape and the minimum */

static const struct parameter parameters[] = {
    {.name = "shape",
     .type = TYPE_REAL,
     .lower = 1.1,
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

static double moment(double shape, unsigned k) {
    const double minimum = (shape - 1) / shape;
    double power = 1;
    for (unsigned j = 0; j < k; j++)
        power *= minimum;
    return shape > k ? power * shape / (shape - k) : (double)INFINITY;
}

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    const double a = v[SHAPE].real;
    *f = (struct law_facts){1, moment(a, 2), moment(a, 3), moment(a, 4), 1, 2, 3.9};
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    s->parameter[SHAPE] = v[SHAPE].real;
    s->parameter[MINIMUM] = s->scale * ((v[SHAPE].real - 1) / v[SHAPE].real);
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double power = -1 / s->parameter[SHAPE], minimum = s->parameter[MINIMUM];
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = exp_in_range(log_normal_number(out[i]) * power) * minimum;
}

static double mgf(const struct sampled_law *s, double f) {
    (void)s;
    return f > 0 ? (double)INFINITY : 1;
}

static double tail(const struct sampled_law *s, double x) {
    const double ratio = s->parameter[MINIMUM] / x;
    return x > 0 && ratio < 1 ? own_exp(own_log(ratio) * s->parameter[SHAPE]) : 1;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double u = uniform_at(w, 0, i), a = s->parameter[SHAPE];
    if (a * u > 1)
        return (1 - u) * s->scale;
    return own_exp(-own_log(a * u) / (a - 1)) * s->parameter[MINIMUM];
}

const struct law ISA(law_pareto) = {
    .kind = {"pareto", "a power law from its minimum on (type I)", "", parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
