/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * power-law{n, mean_degree, exponent}: n mean_degree / 2 links between servers chosen in proportion
 * to a fitness, server n-i having fitness (i + i0)^(-1/(exponent-1)); the number of servers of
 * degree k falls like k^-exponent (Goh, Kahng, Kim, Phys. Rev. Lett. 87, 2001). i0 > 0 keeps
 * the degrees of neighbours independent when the exponent is below 3 (Cho et al., Phys. Rev. Lett.
 * 103, 2009). Many servers have no link at all when the mean degree is small. */
#include "random.h"

#include <math.h>

enum { N, MEAN_DEGREE, EXPONENT, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [MEAN_DEGREE] = {.name = "mean_degree",
                     .type = TYPE_REAL,
                     .upper = SERVERS_MAX,
                     .units = "edge",
                     .meaning = "mean links of a server"},
    [EXPONENT] = {.name = "exponent",
                  .type = TYPE_REAL,
                  .lower = 2,
                  .upper = 100,
                  .standard = "2.5",
                  .units = "1",
                  .meaning = "servers of degree k are in proportion to k^-exponent"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

static uint64_t edges_of(const struct value *v) {
    return (uint64_t)((double)v[N].count * v[MEAN_DEGREE].real / 2 + 0.5);
}

/* Integral of x^power from `from` to `to`. */
static double integral(double power, double from, double to) {
    return fabs(power + 1) < 1e-9 ? log(to / from)
                                  : (pow(to, power + 1) - pow(from, power + 1)) / (power + 1);
}

/* Mean square over mean of the expected degrees. */
static double branching(double n, double mean, double exponent) {
    const double power = -1 / (exponent - 1);
    const double shift =
        power < -0.5 ? pow(n, 1 + 0.5 / power) * pow(10 * sqrt(2) * (1 + power), -1 / power) : 0;
    const double low = 0.5 + shift, high = n + 0.5 + shift;
    const double first = integral(power, low, high), second = integral(2 * power, low, high);
    return first > 0 ? mean * n * second / (first * first) : mean;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    static const struct effort effort = {105, 98, 20, 600};
    const double n = (double)v[N].count;
    *at = MEAN_DEGREE;
    if (v[MEAN_DEGREE].real > (n - 1) / 2)
        return refuse(why,
                      "the mean degree must be at most (n-1)/2 = %g: links are drawn until "
                      "they differ",
                      (n - 1) / 2);
    describe_random(&v[GRAPHS], v[N].count, 2 * (double)edges_of(v) / n,
                    branching(n, v[MEAN_DEGREE].real, v[EXPONENT].real), s);
    expect_effort(&effort, s);
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    return bridge_power_law(v[N].count, edges_of(v), v[EXPONENT].real,
                            (struct chance){words, attempt}, why);
}

const struct topology topology_power_law = {
    .kind = {"power-law", "random links, degrees fall off as a power",
             "Goh et al., Phys. Rev. Lett. 87, 278701, 2001", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
