/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * uniform: between 0 and twice the mean. The residual life exceeds x with probability (1 - x/2)^2
 * when the mean is 1. */
#include "law_draw.h"

enum { MEAN };

static const struct parameter parameters[] = {
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
    *f = (struct law_facts){1, 4.0 / 3, 2, 3.2, 1, 2, 1.1};
    law_scale(f, v[MEAN].real);
    return true;
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double width = 2 * s->scale;
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] *= width;
}

static double mgf(const struct sampled_law *s, double f) {
    const double x = 2 * f * s->scale;
    return x > 0 ? own_expm1(x) / x : 1;
}

static double tail(const struct sampled_law *s, double x) {
    const double part = x / (2 * s->scale);
    return part <= 0 ? 1 : part < 1 ? 1 - part : 0;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    return 2 * s->scale * (1 - __builtin_sqrt(uniform_at(w, 0, i)));
}

const struct law ISA(law_uniform) = {
    .kind = {"uniform", "uniform between 0 and twice the mean", "", parameters, 1},
    .examine = examine,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
