/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hyperexponential{scv}: one of two exponential laws, with balanced means: the short times and the
 * long ones bring the same share of the mean, p / rate = 1/2 each. With r = sqrt((scv - 1) / (scv +
 * 1)) their probabilities are (1 + r) / 2 and (1 - r) / 2. The time itself comes from lanes 0 and 1,
 * which of the two it is from lanes 2 and 3. In equilibrium both are as likely. */
#include "law_draw.h"

#include <math.h>

enum { SCV, MEAN };
enum { LONG, SHORT }; /* parameter[]: the probabilities */

static const struct parameter parameters[] = {
    {.name = "scv",
     .type = TYPE_REAL,
     .lower = 1,
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

/* The probabilities of a long and a short time. */
static void probabilities(double scv, double p[2]) {
    const double r = __builtin_sqrt((scv - 1) / (scv + 1));
    p[LONG] = 1 / ((scv + 1) * (1 + r)); /* (1 - r) / 2 without loss */
    p[SHORT] = (1 + r) / 2;
}

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    double p[2];
    probabilities(v[SCV].real, p);
    *f = (struct law_facts){
        .mean = 1, .second = 1 + v[SCV].real, .natural = 1, .lanes = 4, .nanoseconds = 2.9};
    for (unsigned j = 0; j < 2; j++) {
        const double mean = 0.5 / p[j], cube = mean * mean * mean;
        f->third += p[j] * 6 * cube;
        f->fourth += p[j] * 24 * cube * mean;
    }
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    probabilities(v[SCV].real, s->parameter);
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double p = s->parameter[LONG];
    const double longer = 0.5 / p * s->scale, shorter = 0.5 / s->parameter[SHORT] * s->scale;
    double coin[PIECE];
    for (uint32_t from = 0; from < count; from += PIECE) {
        const uint32_t size = count - from < PIECE ? count - from : PIECE;
        double *piece = out + from;
        draw_uniform(w, 0, first + from, size, piece);
        draw_uniform(w, 2, first + from, size, coin);
#pragma omp simd
        for (uint32_t i = 0; i < size; i++)
            piece[i] = -log_normal_number(piece[i]) * if_negative(coin[i] - p, longer, shorter);
    }
}

static double mgf(const struct sampled_law *s, double f) {
    double sum = 0;
    for (unsigned j = 0; j < 2; j++) {
        const double p = s->parameter[j], part = f * s->scale * 0.5 / p;
        if (part >= 1)
            return (double)INFINITY;
        sum += p / (1 - part);
    }
    return sum;
}

static double tail(const struct sampled_law *s, double x) {
    const double y = x > 0 ? x / s->scale : 0;
    return s->parameter[LONG] * own_exp(-2 * s->parameter[LONG] * y) +
           s->parameter[SHORT] * own_exp(-2 * s->parameter[SHORT] * y);
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const unsigned which = uniform_at(w, 2, i) < 0.5 ? LONG : SHORT;
    return exponential_at(w, 0, i) * 0.5 / s->parameter[which] * s->scale;
}

const struct law ISA(law_hyperexponential) = {
    .kind = {"hyperexponential", "one of two exponential times, with balanced means", "",
             parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
