/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * exponential: the law without memory, -ln U. */
#include "law_draw.h"

#include <math.h>

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
    *f = (struct law_facts){1, 2, 6, 24, 1, 2, 1.9};
    law_scale(f, v[MEAN].real);
    return true;
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double scale = s->scale;
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = -log_normal_number(out[i]) * scale;
}

static double mgf(const struct sampled_law *s, double f) {
    return f * s->scale < 1 ? 1 / (1 - f * s->scale) : (double)INFINITY;
}

static double tail(const struct sampled_law *s, double x) {
    return x > 0 ? own_exp(-x / s->scale) : 1;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    return exponential_at(w, 0, i) * s->scale;
}

const struct law ISA(law_exponential) = {
    .kind = {"exponential", "exponential times: no memory", "", parameters, 1},
    .examine = examine,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
