/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gamma functions of our own, one value at a time: as elementary.h, the same bits everywhere. */
#ifndef POTLUCK_SPECIAL_H
#define POTLUCK_SPECIAL_H

#include "elementary.h"

/* ln Gamma(x), 0 < x < 1e6, within 1e-14 (1 + |result|): Stirling's series from 10 on. */
static inline double log_gamma(double x) {
    double product = 1;
    for (; x < 10; x++)
        product *= x;
    const double z = 1 / (x * x);
    const double series =
        (1.0 / 12 +
         z * (-1.0 / 360 +
              z * (1.0 / 1260 +
                   z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360 + z / 156)))))) /
        x;
    const double half_log_2pi = 0.91893853320467274178;
    return (x - 0.5) * own_log(x) - x + half_log_2pi + series - own_log(product);
}

/* P(G > x) for a gamma variable of shape a (0 < a <= 1000) and mean a: the regularised incomplete
 * gamma function Q(a, x), by its series or by Lentz's continued fraction (Press et al., Numerical
 * Recipes, section 6.2). */
static inline double gamma_tail(double a, double x) {
    if (x <= 0)
        return 1;
    const double front = own_exp(a * own_log(x) - x - log_gamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > sum * 1e-17; n++) {
            term *= x / n;
            sum += term;
        }
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        const double n = -i * (i - a);
        b += 2;
        d = 1 / (n * d + b);
        c = b + n / c;
        const double change = d * c;
        h *= change;
        if (change > 1 - 1e-15 && change < 1 + 1e-15)
            break;
    }
    return front * h;
}

#endif
