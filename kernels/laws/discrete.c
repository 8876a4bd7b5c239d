/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * discrete{values, probabilities}: one of a few times. Its mean follows from them. The residual
 * life is a uniform part of a length-biased time. */
#include "law_draw.h"

enum { VALUES, PROBABILITIES, VALUES_MAX = 64 };

static const struct parameter parameters[] = {
    {.name = "values",
     .type = TYPE_REALS,
     .lower = 0,
     .upper = 1e12,
     .units = "time",
     .meaning = "the times, at most 64"},
    {.name = "probabilities",
     .type = TYPE_REALS,
     .lower = 0,
     .upper = 1,
     .units = "1",
     .meaning = "how likely each of them is"},
};

static double sum_of(const struct value *v) {
    double sum = 0;
    for (unsigned j = 0; j < v->n_reals; j++)
        sum += v->reals[j];
    return sum;
}

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    const unsigned n = v[VALUES].n_reals;
    *at = VALUES;
    if (n > VALUES_MAX)
        return refuse(why, "a discrete law has at most %d values, not %u", VALUES_MAX, n);
    *at = PROBABILITIES;
    if (v[PROBABILITIES].n_reals != n)
        return refuse(why, "each value needs a probability: there are %u values and %u of them", n,
                      v[PROBABILITIES].n_reals);
    const double total = sum_of(&v[PROBABILITIES]);
    if (!(total > 1 - 1e-9 && total < 1 + 1e-9))
        return refuse(why, "the probabilities add up to %.12g, not 1", total);
    *f = (struct law_facts){.lanes = 2, .nanoseconds = 1 + 0.05 * n};
    for (unsigned j = 0; j < n; j++) {
        const double x = v[VALUES].reals[j], p = v[PROBABILITIES].reals[j] / total;
        f->mean += p * x;
        f->second += p * x * x;
        f->third += p * x * x * x;
        f->fourth += p * x * x * x * x;
    }
    f->natural = f->mean;
    *at = VALUES;
    return f->mean > 0 || refuse(why, "every time is 0");
}

static void prepare(const struct value *v, struct sampled_law *s) {
    const unsigned n = s->n_values = v[VALUES].n_reals;
    const double total = sum_of(&v[PROBABILITIES]);
    double sum = 0;
    s->values = allocate(n, sizeof *s->values);
    s->cumulative = allocate(n, sizeof *s->cumulative);
    for (unsigned j = 0; j < n; j++) {
        sum += v[PROBABILITIES].reals[j];
        s->values[j] = v[VALUES].reals[j] * s->scale;
        s->cumulative[j] = sum / total; /* 1 from the last possible value on */
    }
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    double value[PIECE];
    for (uint32_t from = 0; from < count; from += PIECE) {
        const uint32_t size = count - from < PIECE ? count - from : PIECE;
        double *u = out + from;
        draw_uniform(w, 0, first + from, size, u);
        for (uint32_t i = 0; i < size; i++)
            value[i] = s->values[0];
        for (unsigned j = 1; j < s->n_values; j++) {
            const double before = s->cumulative[j - 1], here = s->values[j];
#pragma omp simd
            for (uint32_t i = 0; i < size; i++)
                value[i] = if_negative(u[i] - before, value[i], here);
        }
        for (uint32_t i = 0; i < size; i++)
            u[i] = value[i];
    }
}

static double probability(const struct sampled_law *s, unsigned j) {
    return s->cumulative[j] - (j ? s->cumulative[j - 1] : 0);
}

static double mgf(const struct sampled_law *s, double f) {
    double sum = 0;
    for (unsigned j = 0; j < s->n_values; j++)
        if (probability(s, j) > 0)
            sum += probability(s, j) * own_exp(f * s->values[j]);
    return sum;
}

static double tail(const struct sampled_law *s, double x) {
    double sum = 0;
    for (unsigned j = 0; j < s->n_values; j++)
        sum += s->values[j] > x ? probability(s, j) : 0;
    return sum;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    double left = uniform_at(w, 0, i) * s->facts.mean, x = 0;
    for (unsigned j = 0; j < s->n_values && left >= 0; j++) {
        const double share = probability(s, j) * s->values[j];
        x = share > 0 ? s->values[j] : x;
        left -= share;
    }
    return x * uniform_at(w, 2, i);
}

const struct law ISA(law_discrete) = {.kind = {"discrete", "one of a few times", "", parameters, 2},
                                      .lattice = true,
                                      .examine = examine,
                                      .prepare = prepare,
                                      .draw = draw,
                                      .mgf = mgf,
                                      .tail = tail,
                                      .residual = residual};
