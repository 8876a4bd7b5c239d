/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * weibull{shape}: (-ln U)^(1/shape) / Gamma(1 + 1/shape), mean 1; shape 1 is exponential, below 1
 * the tail is heavier. With G a gamma variable of shape 1/shape, the residual life is G^(1/shape) /
 * Gamma(1 + 1/shape); it is found by inversion. */
#include "law_draw.h"
#include "special.h"

#include <math.h>

enum { SHAPE, MEAN };
enum { UNIT = 1 }; /* parameter[]: the shape, and what an exponential 1 becomes */

static const struct parameter parameters[] = {
    {.name = "shape",
     .type = TYPE_REAL,
     .lower = 0.1,
     .upper = 100,
     .units = "1",
     .meaning = "shape; below 1 the tail is heavier than exponential"},
    {.name = "mean",
     .type = TYPE_REAL,
     .lower = 1e-9,
     .upper = 1e12,
     .standard = "1",
     .units = "time",
     .meaning = "its mean"},
};

/* Moment k when the mean is 1. */
static double moment(double shape, double k) {
    return own_exp(log_gamma(1 + k / shape) - k * log_gamma(1 + 1 / shape));
}

static bool examine(const struct value *v, struct law_facts *f, struct reason *why, unsigned *at) {
    (void)why, (void)at;
    const double a = v[SHAPE].real;
    *f = (struct law_facts){1, moment(a, 2), moment(a, 3), moment(a, 4), 1, 2, 4.5};
    law_scale(f, v[MEAN].real);
    return true;
}

static void prepare(const struct value *v, struct sampled_law *s) {
    s->parameter[SHAPE] = v[SHAPE].real;
    s->parameter[UNIT] = s->scale * own_exp(-log_gamma(1 + 1 / v[SHAPE].real));
}

static void draw(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out) {
    const double power = 1 / s->parameter[SHAPE], unit = s->parameter[UNIT];
    draw_uniform(w, 0, first, count, out);
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = log_normal_number(-log_normal_number(out[i]));
#pragma omp simd
    for (uint32_t i = 0; i < count; i++)
        out[i] = exp_in_range(out[i] * power) * unit;
}

/* The integral of exp(b e^(v/k) - e^v + v) over all v, with b = f * unit: X = unit e^(v/k) when e^v
 * is exponential. The trapezoid rule converges geometrically here. */
static double mgf(const struct sampled_law *s, double f) {
    const double k = s->parameter[SHAPE], b = f * s->parameter[UNIT], step = 1.0 / 64;
    if (f <= 0)
        return 1;
    if (k <= 1)
        return k == 1 && b < 1 ? 1 / (1 - b) : (double)INFINITY;
    double sum = 0;
    for (double v = -40; v < 700; v += step) {
        const double g = b * own_exp(v / k) - own_exp(v) + v;
        if (g > 700)
            return (double)INFINITY; /* beyond what a double can hold */
        if (v > 0 && g < -60)
            return sum * step;
        sum += own_exp(g);
    }
    return (double)INFINITY;
}

static double tail(const struct sampled_law *s, double x) {
    if (x <= 0)
        return 1;
    return own_exp(-own_exp(s->parameter[SHAPE] * own_log(x / s->parameter[UNIT])));
}

/* Newton's method for Q(1/k, x^k) = u, in units of `unit`. The left side is convex and falls, so
 * steps from below never pass the solution. */
static double residual(const struct sampled_law *s, struct words w, uint64_t i) {
    const double u = uniform_at(w, 0, i), k = s->parameter[SHAPE];
    const double mean = own_exp(log_gamma(1 + 1 / k));
    double x = (1 - u) * mean;
    for (unsigned step = 0; step < 1000; step++) {
        const double y = own_exp(k * own_log(x));
        const double more = (gamma_tail(1 / k, y) / u - 1) * u * mean * own_exp(y);
        if (!(more > x * 1e-14))
            break;
        x += more;
    }
    return x * s->parameter[UNIT];
}

const struct law ISA(law_weibull) = {
    .kind = {"weibull", "a power of an exponential time", "", parameters, 2},
    .examine = examine,
    .prepare = prepare,
    .draw = draw,
    .mgf = mgf,
    .tail = tail,
    .residual = residual};
