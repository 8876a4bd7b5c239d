/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deterministic: always the mean. The residual life is uniform. */
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
    *f = (struct law_facts){1, 1, 1, 1, 1, 0, 0.05};
    law_scale(f, v[MEAN].real);
    return true;
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    (void)w, (void)first;
    for (uint32_t i = 0; i < count; i++)
        out[i] = s->scale;
}

static double mgf(const struct sampled_law *s, double f) {
    return own_exp(f * s->scale);
}

static double tail(const struct sampled_law *s, double x) {
    return x < s->scale ? 1 : 0;
}

static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    return uniform_at(w, 0, i) * s->scale;
}

const struct law ISA(law_deterministic) = {
    .kind = {"deterministic", "always the same time", "", parameters, 1},
    .lattice = true,
    .examine = examine,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
