/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * geometric: whole numbers k = 1, 2, .. with probabilities p (1 - p)^(k - 1), p = 1 / mean; it needs
 * a mean of 1 at least. A model that asks for another mean scales the steps. The residual life is a
 * whole number of steps with the law of k - 1 and a uniform part of one. */
#include "law_draw.h"

#include <math.h>

enum { MEAN };
enum { CONTINUE, LOG_CONTINUE }; /* parameter[]: q = 1 - p, ln q */

static const struct parameter parameters[] = {
    {.name = "mean",
     .type = TYPE_REAL,
     .lower = 1,
     .upper = 1e12,
     .units = "time",
     .meaning = "its mean, in steps: 1 / the probability that a step is the last"},
};

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    const double m = v[MEAN].real, p = 1 / m;
    *f = (struct law_facts){m,
                            (2 - p) * m * m,
                            (6 - 6 * p + p * p) * m * m * m,
                            (24 - 36 * p + 14 * p * p - p * p * p) * m * m * m * m,
                            m,
                            2,
                            2.2};
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    const double p = 1 / v[MEAN].real;
    s->parameter[CONTINUE] = 1 - p;
    s->parameter[LOG_CONTINUE] = p < 1 ? own_log1p(-p) : -(double)INFINITY;
}

/* Steps before the last, floor(ln u / ln q). */
static inline double steps_before(double u, double inverse) {
    const double y = log_normal_number(u) * inverse, near = (y + 0x1p52) - 0x1p52;
    return near - if_negative(y - near, 1, 0);
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double inverse = 1 / s->parameter[LOG_CONTINUE], scale = s->scale;
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = (1 + steps_before(out[i], inverse)) * scale;
}

static double mgf(const struct sampled_law *s, double f) {
    const double e = own_exp(f * s->scale), q = s->parameter[CONTINUE];
    return q * e < 1 ? (1 - q) * e / (1 - q * e) : (double)INFINITY;
}

static double tail(const struct sampled_law *s, double x) {
    const double steps = x / s->scale;
    if (steps < 1)
        return 1;
    return own_exp(__builtin_floor(steps) * s->parameter[LOG_CONTINUE]);
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double whole = steps_before(uniform_at(w, 0, i), 1 / s->parameter[LOG_CONTINUE]);
    return (whole + uniform_at(w, 2, i)) * s->scale;
}

const struct law ISA(law_geometric) = {
    .kind = {"geometric", "whole steps, each the last with probability 1 / mean", "", parameters,
             1},
    .lattice = true,
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
