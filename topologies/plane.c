/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plane{n, servers, points, torus, layout}: servers in the unit square, with wrap-around or
 * borders; jobs appear at uniform points. Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, ACM
 * TOMPECS 7(2-4), 2022. Servers are independent and uniform (server i: GRAPH words 2i and 2i + 1), in
 * the middle of the n cells of a square grid (row-major; x along a row), or at the points of a
 * file (point_list.h). */
#include "point_list.h"
#include "sites.h"

enum { PLANE_N, PLANE_SERVERS, PLANE_POINTS, PLANE_TORUS, PLANE_LAYOUT, PLANE_PARAMETERS };
enum { SERVERS_UNIFORM, SERVERS_GRID, SERVERS_FILE };

static const struct parameter parameters[PLANE_PARAMETERS] = {
    [PLANE_N] = {.name = "n",
                 .type = TYPE_COUNT,
                 .lower = 1,
                 .upper = SERVERS_MAX,
                 .standard = "unset",
                 .units = "server",
                 .meaning = "number of servers; servers: file has as many as points"},
    [PLANE_SERVERS] = {.name = "servers",
                       .type = TYPE_WORD,
                       .standard = "uniform",
                       .words = "uniform|grid|file",
                       .units = "1",
                       .meaning = "where servers stand: at uniform points, on a square grid, or at "
                                  "the points of a file"},
    [PLANE_POINTS] = {.name = "points",
                      .type = TYPE_FILE,
                      .standard = "unset",
                      .units = "1",
                      .meaning =
                          "servers: file; a line with x and y, from 0 to 1, for each server"},
    [PLANE_TORUS] = {.name = "torus",
                     .type = TYPE_FLAG,
                     .standard = "true",
                     .units = "1",
                     .meaning = "distances wrap around the borders of the square"},
    [PLANE_LAYOUT] = {.name = "layout",
                      .type = TYPE_WORD,
                      .standard = "per-replication",
                      .words = "per-replication|per-point",
                      .units = "1",
                      .meaning = "servers: uniform; other points for each replication, or the same "
                                 "for all (intervals are then conditional on them)"},
};

static uint64_t square_root(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 16; bit; bit /= 2)
        if ((root + bit) * (root + bit) <= n)
            root += bit;
    return root;
}

static bool describe_file(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    *at = PLANE_POINTS;
    if (!v[PLANE_POINTS].file)
        return refuse(why, "servers: file needs points, the name of a file of points");
    const struct point_list *p = point_list_of(v[PLANE_POINTS].file, why);
    if (!p)
        return false;
    *at = PLANE_N;
    if (s->n > 0 && s->n != p->n)
        return refuse(why, "n is %llu, but %s has %llu points (n may be left out)",
                      (unsigned long long)s->n, v[PLANE_POINTS].file->name,
                      (unsigned long long)p->n);
    s->n = p->n;
    return true;
}

/* Servers that stand where n and the parameters alone say. */
static bool describe_given(const struct value *v, const struct space *s, struct reason *why,
                           unsigned *at) {
    *at = PLANE_POINTS;
    if (v[PLANE_POINTS].file)
        return refuse(why, "points are for servers: file");
    *at = PLANE_N;
    if (s->n == 0)
        return refuse(why, "n, the number of servers, is missing");
    const uint64_t root = square_root(s->n);
    if (v[PLANE_SERVERS].word == SERVERS_GRID && root * root != s->n)
        return refuse(why, "a square grid has no %llu servers (the nearest are %llu and %llu)",
                      (unsigned long long)s->n, (unsigned long long)(root * root),
                      (unsigned long long)((root + 1) * (root + 1)));
    return true;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    const unsigned servers = v[PLANE_SERVERS].word;
    *s = (struct space){.form = FORM_PLANE,
                        .n = v[PLANE_N].unset ? 0 : v[PLANE_N].count,
                        .wrap = v[PLANE_TORUS].real != 0,
                        .connected = true,
                        .fresh = servers == SERVERS_UNIFORM && v[PLANE_LAYOUT].word == 0};
    if (servers == SERVERS_FILE ? !describe_file(v, s, why, at) : !describe_given(v, s, why, at))
        return false;
    s->bytes = plane_bytes(s->n);
    s->nanoseconds = 500 + (s->n < 300000 ? 10 : 25) * (double)s->n;
    return true;
}

static void place_uniform(uint64_t n, struct stream words, uint32_t *x, uint32_t *y) {
    uint32_t word[64];
    for (uint64_t v = 0; v < n; v++) {
        if (v % 32 == 0)
            sites_words(words, v / 32, word);
        x[v] = word[2 * (v % 32)] >> 1;
        y[v] = word[2 * (v % 32) + 1] >> 1;
    }
}

static void place_grid(uint64_t n, uint32_t *x, uint32_t *y) {
    const uint64_t side = square_root(n);
    for (uint64_t v = 0; v < n; v++) {
        x[v] = (uint32_t)(((2 * (v % side) + 1) << 30) / side);
        y[v] = (uint32_t)(((2 * (v / side) + 1) << 30) / side);
    }
}

/* 1 is 0 again on the torus, else the last unit of the square. */
static void place_points(const struct point_list *p, bool wrap, uint32_t *x, uint32_t *y) {
    const uint32_t end = (uint32_t)1 << 31, edge = wrap ? 0 : end - 1;
    for (uint64_t v = 0; v < p->n; v++) {
        x[v] = p->x[v] == end ? edge : p->x[v];
        y[v] = p->y[v] == end ? edge : p->y[v];
    }
}

static struct sites *place(const struct value *v, struct stream words, struct reason *why) {
    const unsigned servers = v[PLANE_SERVERS].word;
    const struct point_list *p =
        servers == SERVERS_FILE ? point_list_of(v[PLANE_POINTS].file, why) : NULL;
    if (servers == SERVERS_FILE && !p)
        return NULL;
    const uint64_t n = p ? p->n : v[PLANE_N].count;
    uint32_t *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y);
    if (p)
        place_points(p, v[PLANE_TORUS].real != 0, x, y);
    else if (servers == SERVERS_GRID)
        place_grid(n, x, y);
    else
        place_uniform(n, words, x, y);
    return plane_new(n, v[PLANE_TORUS].real != 0, x, y);
}

const struct topology topology_plane = {
    .kind = {"plane", "servers at points of the unit square, Euclidean distance",
             "Panigrahy et al., ACM TOMPECS 7, 2022", parameters, PLANE_PARAMETERS},
    .describe = describe,
    .place = place};
