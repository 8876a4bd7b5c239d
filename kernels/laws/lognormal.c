/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lognormal{scv}: exp(sigma Z - sigma^2 / 2) with sigma^2 = ln(1 + scv) has mean 1 and moments (1 +
 * scv)^(k (k - 1) / 2). Z is the upper quantile of U, so that long times have the finest numbers.
 * The residual life is a uniform part of a length-biased time, which is the same law times 1 +
 * scv. */
#include "law_draw.h"
#include "special.h"

#include <math.h>

enum { SCV, MEAN };
enum { SIGMA, SHIFT }; /* parameter[] */

static const struct parameter parameters[] = {
    {.name = "scv",
     .type = TYPE_REAL,
     .lower = 1e-9,
     .upper = 1e6,
     .units = "1",
     .meaning = "squared coefficient of variation: variance / mean^2"},
    {.name = "mean",
     .type = TYPE_REAL,
     .lower = 1e-9,
     .upper = 1e12,
     .standard = "1",
     .units = "time",
     .meaning = "its mean"},
};

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    const double b = 1 + v[SCV].real, cube = b * b * b;
    *f = (struct law_facts){1, b, cube, cube * cube, 1, 2, 5.9};
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    const double variance = own_log1p(v[SCV].real);
    s->parameter[SIGMA] = __builtin_sqrt(variance);
    s->parameter[SHIFT] = -variance / 2;
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double sigma = s->parameter[SIGMA], shift = s->parameter[SHIFT], scale = s->scale;
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = normal_upper(out[i]);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = exp_in_range(shift + sigma * out[i]) * scale;
}

static double mgf(const struct sampled_law *s, double f) {
    (void)s;
    return f > 0 ? (double)INFINITY : 1;
}

static double tail(const struct sampled_law *s, double x) {
    if (x <= 0)
        return 1;
    const double z = (own_log(x / s->scale) - s->parameter[SHIFT]) / s->parameter[SIGMA];
    const double beyond = gamma_tail(0.5, z * z / 2) / 2;
    return z > 0 ? beyond : 1 - beyond;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double z = normal_upper(uniform_at(w, 0, i));
    const double biased = exp_in_range(s->parameter[SIGMA] * z - s->parameter[SHIFT]);
    return biased * uniform_at(w, 2, i) * s->scale;
}

const struct law ISA(law_lognormal) = {
    .kind = {"lognormal", "exponential function of a normal variable", "", parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
