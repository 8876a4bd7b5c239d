/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * geometric{n, radius | mean_degree, torus}: servers at uniform points of the unit square, linked
 * when closer than the radius (Penrose, "Random Geometric Graphs", 2003). Two given servers are
 * linked with probability pi r^2 on the torus (r <= 1/2) and pi r^2 - 8 r^3/3 + r^4/2 on the square
 * with borders (r <= 1); mean_degree stands for the radius that makes (n-1) times this right.
 * Servers are numbered from left to right. */
#include "random.h"

#include <math.h>

enum { N, RADIUS, MEAN_DEGREE, TORUS, GRAPHS, CONNECT, PARAMETERS };

static const struct parameter parameters[] = {
    [N] = {.name = "n",
           .type = TYPE_COUNT,
           .lower = 1,
           .upper = SERVERS_MAX,
           .units = "server",
           .meaning = "number of servers"},
    [RADIUS] = {.name = "radius",
                .type = TYPE_REAL,
                .upper = 2,
                .standard = "unset",
                .units = "side of the square",
                .meaning = "servers are linked when closer than this"},
    [MEAN_DEGREE] = {.name = "mean_degree",
                     .type = TYPE_REAL,
                     .upper = SERVERS_MAX,
                     .standard = "unset",
                     .units = "edge",
                     .meaning = "expected links of a server, instead of the radius"},
    [TORUS] = {.name = "torus",
               .type = TYPE_FLAG,
               .standard = "false",
               .units = "1",
               .meaning = "whether opposite borders of the square are joined"},
    [GRAPHS] = GRAPHS_ROW,
    [CONNECT] = CONNECT_ROW,
};

static const double pi = 3.14159265358979323846;

/* Probability that two servers are linked, for radii up to the largest it holds for. */
static double linked(double r, bool torus) {
    return torus ? pi * r * r : r * r * (pi - 8 * r / 3 + r * r / 2);
}
static double largest_radius(bool torus) {
    return torus ? 0.5 : 1;
}

/* By bisection: the same bits everywhere. */
static double radius_for(double probability, bool torus) {
    double low = 0, high = largest_radius(torus);
    for (double middle = high / 2; middle > low && middle < high; middle = (low + high) / 2)
        if (linked(middle, torus) < probability)
            low = middle;
        else
            high = middle;
    return high;
}

/* The radius that is asked for. */
static double radius_of(const struct value *v) {
    if (!v[RADIUS].unset)
        return v[RADIUS].real;
    return v[N].count == 1
               ? 0
               : radius_for(v[MEAN_DEGREE].real / ((double)v[N].count - 1), v[TORUS].real != 0);
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    static const struct effort effort = {32, 57, 40, 140};
    const bool torus = v[TORUS].real != 0;
    const double others = (double)v[N].count - 1;
    const double most = others * linked(largest_radius(torus), torus);
    *at = v[MEAN_DEGREE].unset ? RADIUS : MEAN_DEGREE;
    if (v[RADIUS].unset == v[MEAN_DEGREE].unset)
        return refuse(why, "geometric takes exactly one of radius and mean_degree");
    if (v[RADIUS].unset && v[MEAN_DEGREE].real > most)
        return refuse(why,
                      "a mean degree above %g asks for a radius that sees %s (give the radius)",
                      most, torus ? "itself around the torus" : "beyond the square");
    const double radius = radius_of(v);
    const double degree = radius > largest_radius(torus) ? others : others * linked(radius, torus);
    describe_random(&v[GRAPHS], v[N].count, degree, 0, s);
    if (radius > (torus ? 0.70711 : 1.41422)) /* half the diagonal, the diagonal */
        surely_connected(s);
    expect_effort(&effort, s);
    /* igraph holds each server against all that are within the radius in one coordinate. */
    s->nanoseconds += (torus ? 4 : 1) * others * others * fmin(radius, 1);
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    return bridge_geometric(v[N].count, radius_of(v), v[TORUS].real != 0,
                            (struct chance){words, attempt}, why);
}

const struct topology topology_geometric = {
    .kind = {"geometric", "servers at random points, linked when close",
             "Penrose, Random Geometric Graphs, 2003", parameters, PARAMETERS},
    .describe = describe,
    .build = build};
