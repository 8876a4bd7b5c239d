/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * erlang{shape}: the sum of `shape` exponential phases. Phase j is -ln of a uniform number from
 * lanes 2j and 2j + 1; as many numbers as cannot underflow are multiplied before one logarithm is
 * taken. In equilibrium every phase is as likely to be the present one, so the residual life is the
 * sum of 1 .. shape phases, equally likely. */
#include "law_draw.h"
#include "special.h"

#include <math.h>

enum { SHAPE, MEAN };
enum { FACTORS = 15 }; /* 2^-65 each */

static const struct parameter parameters[] = {
    {.name = "shape",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 100,
     .units = "1",
     .meaning = "number of phases"},
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
    const double k = (double)v[SHAPE].count;
    const double second = (k + 1) / k, third = second * (k + 2) / k;
    *f = (struct law_facts){
        1, second, third, third * (k + 3) / k, 1, 2 * (unsigned)v[SHAPE].count, 0.8 + 1.1 * k};
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    s->parameter[SHAPE] = (double)v[SHAPE].count;
}

/* out[i] += -ln of the product of `factors` uniform numbers from lane `lane` on. */
static void add_phases(struct words w, uint32_t lane, unsigned factors, uint64_t first,
                       uint32_t count, double *out) {
    double product[PIECE], number[PIECE];
    draw_uniform(w, lane, first, count, product);
    for (unsigned j = 1; j < factors; j++) {
        draw_uniform(w, lane + 2 * j, first, count, number);
#pragma omp simd
        for (uint32_t i = 0; i < count; i++)
            product[i] *= number[i];
    }
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] -= log_normal_number(product[i]);
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const unsigned phases = (unsigned)s->parameter[SHAPE];
    const double scale = s->scale / s->parameter[SHAPE];
    for (uint32_t from = 0; from < count; from += PIECE) {
        const uint32_t size = count - from < PIECE ? count - from : PIECE;
        double *piece = out + from;
        for (uint32_t i = 0; i < size; i++)
            piece[i] = 0;
        for (unsigned j = 0; j < phases; j += FACTORS)
            add_phases(w, 2 * j, phases - j < FACTORS ? phases - j : FACTORS, first + from, size,
                       piece);
#pragma omp simd
        for (uint32_t i = 0; i < size; i++)
            piece[i] *= scale;
    }
}

static double mgf(const struct sampled_law *s, double f) {
    const double k = s->parameter[SHAPE], part = f * s->scale / k;
    return part < 1 ? own_exp(-k * own_log1p(-part)) : (double)INFINITY;
}

static double tail(const struct sampled_law *s, double x) {
    const double k = s->parameter[SHAPE];
    return gamma_tail(k, k * x / s->scale);
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double k = s->parameter[SHAPE];
    const unsigned last = (unsigned)(uniform_at(w, 0, i) * k);
    double sum = 0;
    for (unsigned j = 0; j <= last && j < (unsigned)k; j++)
        sum += exponential_at(w, 2 + 2 * j, i);
    return sum * s->scale / k;
}

const struct law ISA(law_erlang) = {
    .kind = {"erlang", "sum of exponential phases", "", parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
