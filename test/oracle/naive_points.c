/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Model `balls` where servers are points, the obvious way: whoever is nearest is found by looking
 * at everybody, walks around the circle take every step. It shares with the program only the
 * addressed random words (rng.h). Written from the documentation of the words in sampler.h, sites.h, plane.c,
 * arcs.c, near_plane.h, servers.c and the heads of kernels/policies.
 *
 *     naive_points SEED TOPOLOGY POLICY TIES BALLS FIRST END [POINTS]
 *
 * TOPOLOGY and POLICY are canonical texts as in `resolved`; POINTS, for servers: file, has a line
 * of x and y for each server. Plays replications FIRST .. END-1 and prints for each row R max_load
 * min_load empty moved gap load_variance cost max_share min_share share_variance (the last three on
 * the circle alone, else 0) and at the end, summed over replications, "hops" by positions walked
 * (`bounded`), "loads" by load and "servers" by server. */
#include "naive_parts.h"

#include <math.h>

enum { MOST_PLACED = 4096 };

typedef unsigned __int128 wide;

/* ---- places ---- */

static bool plane, wraps;
static uint32_t n, positions;
static uint32_t *x, *y; /* plane [n], units of 2^-31 */
static struct position {
    uint64_t at; /* units of 2^-64 */
    uint32_t owner;
} * position;       /* circle [positions], rising */
static wide *share; /* circle [n] */

static void place_uniform(void) {
    for (uint32_t v = 0; v < n; v++) {
        x[v] = rng_word(words, PURPOSE_GRAPH, 0, 2 * (uint64_t)v) >> 1;
        y[v] = rng_word(words, PURPOSE_GRAPH, 0, 2 * (uint64_t)v + 1) >> 1;
    }
}

/* In the middle of the cells of a square grid. */
static void place_grid(void) {
    uint64_t side = 1;
    while (side * side < n)
        side++;
    for (uint32_t v = 0; v < n; v++) {
        x[v] = (uint32_t)((2 * (v % side) + 1) * (1ull << 30) / side);
        y[v] = (uint32_t)((2 * (v / side) + 1) * (1ull << 30) / side);
    }
}

static uint32_t coordinate(double value) {
    return value < 1 ? (uint32_t)(value * 0x1p31) : wraps ? 0 : 0x7fffffff;
}

static void place_file(const char *path) {
    FILE *in = fopen(path, "r");
    double a, b;
    if (!in)
        fail("no file of points");
    for (n = 0; n < MOST_PLACED && fscanf(in, "%lf %lf", &a, &b) == 2; n++) {
        x[n] = coordinate(a);
        y[n] = coordinate(b);
    }
    fclose(in);
}

static int compare_positions(const void *a, const void *b) {
    const struct position *p = a, *q = b;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    return (p->owner > q->owner) - (p->owner < q->owner);
}

static void place_arcs(uint32_t each) {
    for (uint32_t j = 0; j < positions; j++)
        position[j] =
            (struct position){(uint64_t)rng_word(words, PURPOSE_GRAPH, 0, 2 * (uint64_t)j) << 32 |
                                  rng_word(words, PURPOSE_GRAPH, 0, 2 * (uint64_t)j + 1),
                              j / each};
    qsort(position, positions, sizeof *position, compare_positions);
    for (uint32_t v = 0; v < n; v++)
        share[v] = 0;
    for (uint32_t j = 0; j < positions; j++)
        share[position[j].owner] +=
            j ? position[j].at - position[j - 1].at : position[0].at - position[positions - 1].at;
    if (position[0].at == position[positions - 1].at)
        share[position[0].owner] = (wide)1 << 64;
    for (uint32_t v = 0; v < n; v++)
        share[v] = share[v] > UINT64_MAX ? UINT64_MAX : share[v];
}

/* The servers of a replication, whose number the words have already. */
static void place(const char *text, const char *points) {
    if (!plane)
        place_arcs((uint32_t)number(text, "virtual"));
    else if (parameter_is(text, "servers", "file"))
        place_file(points);
    else if (parameter_is(text, "servers", "grid"))
        place_grid();
    else
        place_uniform();
}

static void make_room(const char *text) {
    plane = is_called(text, "plane");
    wraps = plane && parameter_is(text, "torus", "true");
    n = plane && parameter_is(text, "servers", "file") ? MOST_PLACED : (uint32_t)number(text, "n");
    positions = plane ? 0 : n * (uint32_t)number(text, "virtual");
    x = get(n, sizeof *x);
    y = get(n, sizeof *y);
    position = get(positions, sizeof *position);
    share = get(n, sizeof *share);
}

/* ---- who is near ---- */

struct point {
    uint32_t word[2];
};

static uint64_t apart(uint32_t a, uint32_t b) {
    const uint64_t gap = a > b ? a - b : b - a;
    return wraps && gap > 1u << 30 ? (1ull << 31) - gap : gap;
}

static uint64_t squared(struct point p, uint32_t server) {
    const uint64_t dx = apart(p.word[0] >> 1, x[server]), dy = apart(p.word[1] >> 1, y[server]);
    return dx * dx + dy * dy;
}

struct candidate {
    uint64_t squared;
    uint32_t server;
};

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *p = a, *q = b;
    if (p->squared != q->squared)
        return p->squared < q->squared ? -1 : 1;
    return (p->server > q->server) - (p->server < q->server);
}

/* Everybody, nearest first. */
static const struct candidate *everybody(struct point p) {
    static struct candidate *all;
    if (!all)
        all = get(n, sizeof *all);
    for (uint32_t v = 0; v < n; v++)
        all[v] = (struct candidate){squared(p, v), v};
    qsort(all, n, sizeof *all, compare_candidates);
    return all;
}

/* The first position clockwise from a point. */
static uint32_t successor(struct point p) {
    const uint64_t at = (uint64_t)p.word[0] << 32 | p.word[1];
    for (uint32_t j = 0; j < positions; j++)
        if (position[j].at >= at)
            return j;
    return 0;
}

static uint32_t server_of(struct point p) {
    return plane ? everybody(p)[0].server : position[successor(p)].owner;
}

/* ---- policies ---- */

static enum { FAIR, ORIGIN, SMALLER_ARC } ties;
static enum { NEAREST, SPOT, POINTS, UNIF_POT, INVSQ_POT, POT, CHOICES, BOUNDED } policy;
static uint32_t d, k;
static bool distinct;
static double epsilon;

static void read_policy(const char *text) {
    static const char *const names[] = {"nearest",   "spot", "points",  "unif-pot",
                                        "invsq-pot", "pot",  "choices", "bounded"};
    unsigned i = 0;
    while (i < 8 && !is_called(text, names[i]))
        i++;
    if (i == 8)
        fail("unknown policy");
    policy = i;
    if (policy == POINTS || policy == CHOICES)
        d = (uint32_t)number(text, "d");
    if (policy == CHOICES)
        distinct = parameter_is(text, "distinct", "true");
    if (policy == UNIF_POT || policy == INVSQ_POT)
        k = (uint32_t)number(text, "k");
    if (policy == BOUNDED)
        epsilon = strtod(parameter(text, "epsilon"), NULL);
}

/* One of the k nearest but `taken` by weight 1/distance^2; those at distance 0 first. */
static uint32_t pick(const struct candidate *all, uint32_t taken, uint64_t word) {
    const double f = (double)(word >> 11) * 0x1p-53;
    uint32_t rank[MOST_PLACED], zeros = 0, others = 0;
    for (uint32_t j = 0; j < k; j++)
        if (j != taken) {
            rank[others++] = j;
            zeros += all[j].squared == 0;
        }
    if (zeros)
        return rank[(uint32_t)(f * zeros)];
    double total = 0, sum = 0;
    for (uint32_t j = 0; j < others; j++)
        total += 1 / (double)all[rank[j]].squared;
    for (uint32_t j = 0; j < others; j++) {
        sum += 1 / (double)all[rank[j]].squared;
        if (sum > f * total)
            return rank[j];
    }
    return rank[others - 1];
}

static void draw_points(uint64_t ball, struct point p, uint32_t v[MANY]) {
    v[0] = server_of(p);
    for (uint32_t j = 1; j < d; j++) {
        struct point other;
        for (uint32_t c = 0; c < 2; c++)
            other.word[c] = rng_word(words, PURPOSE_CANDIDATE, 2 * (j - 1) + c, ball);
        v[j] = server_of(other);
    }
    if (ties == FAIR && d > 2) { /* the own point at a uniform place */
        const uint32_t at = rng_below(words, PURPOSE_TIE, 1, ball, d), own = v[0];
        v[0] = v[at];
        v[at] = own;
    }
}

/* Two of the k nearest, or by number where k = n. */
static void draw_pair(uint64_t ball, struct point p, uint32_t v[MANY]) {
    const struct candidate *all = everybody(p);
    uint32_t one, two;
    if (policy == INVSQ_POT) {
        one = pick(all, UINT32_MAX, fraction(PURPOSE_CANDIDATE, 0, ball));
        two = pick(all, one, fraction(PURPOSE_CANDIDATE, 2, ball));
        if (rng_word(words, PURPOSE_CANDIDATE, 1, ball) & 1) { /* ties are fair to the second too */
            const uint32_t swap = one;
            one = two;
            two = swap;
        }
    } else {
        const uint32_t of = policy == POT ? n : k;
        one = below(0, ball, of);
        two = below(1, ball, of - 1);
        two += two >= one;
        if (of == n) {
            v[0] = one;
            v[1] = two;
            return;
        }
    }
    v[0] = all[one].server;
    v[1] = all[two].server;
}

/* The candidates of a ball in the order that breaks ties, coins aside. */
static unsigned draw_candidates(uint64_t ball, struct point p, uint32_t v[MANY]) {
    switch (policy) {
    case NEAREST:
        v[0] = server_of(p);
        return 1;
    case SPOT:
        v[0] = server_of(p);
        if (n == 1)
            return 1;
        v[1] = plane ? everybody(p)[1].server : position[(successor(p) + 1) % positions].owner;
        return 2;
    case POINTS:
        draw_points(ball, p, v);
        return d;
    case UNIF_POT:
    case INVSQ_POT:
    case POT:
        if (policy == POT ? n == 1 : k == 1) {
            v[0] = server_of(p);
            return 1;
        }
        draw_pair(ball, p, v);
        return 2;
    case CHOICES:
        draw_choices(ball, n, d, distinct, v);
        return d;
    case BOUNDED:
        break;
    }
    fail("unknown policy");
    return 0;
}

static void smaller_arc_first(uint32_t v[MANY], unsigned candidates) {
    for (unsigned c = 1; c < candidates; c++)
        for (unsigned at = c; at > 0 && share[v[at]] < share[v[at - 1]]; at--) {
            const uint32_t swap = v[at];
            v[at] = v[at - 1];
            v[at - 1] = swap;
        }
}

static uint32_t choose(uint64_t ball, struct point p, const uint64_t *load) {
    uint32_t v[MANY] = {0};
    const unsigned candidates = draw_candidates(ball, p, v);
    const bool own_first = policy == SPOT || policy == POINTS;
    if (ties == SMALLER_ARC)
        smaller_arc_first(v, candidates);
    else if (ties == ORIGIN && !own_first)
        origin_first(server_of(p), v, candidates);
    else if (ties == FAIR && own_first && candidates == 2 && load[v[0]] == load[v[1]])
        return v[coin(ball)];
    return least_loaded(v, candidates, load);
}

/* bounded: the first owner clockwise with a load below `cap`; `steps` positions passed. */
static uint32_t walk(struct point p, const uint64_t *load, uint64_t cap, uint64_t *steps) {
    const uint32_t from = successor(p);
    for (*steps = 0; *steps < positions; ++*steps) {
        const uint32_t owner = position[(from + *steps) % positions].owner;
        if (load[owner] < cap)
            return owner;
    }
    fail("everybody is full");
    return 0;
}

/* ---- replications ---- */

static uint64_t *hop_sum, *load_sum, *server_sum;

/* Units of a length in a sum over `count` of them. */
static double length_unit(uint64_t count) {
    unsigned bits = 0;
    while (count >> bits)
        bits++;
    return (double)(1ull << (bits > 21 ? 61 - bits : 40));
}

static void print_shares(void) {
    double squares = 0;
    uint64_t most = 0, least = UINT64_MAX;
    for (uint32_t v = 0; !plane && v < n; v++) {
        const double off = (double)(uint64_t)share[v] * 0x1p-64 * n - 1;
        squares += off * off;
        most = share[v] > most ? (uint64_t)share[v] : most;
        least = share[v] < least ? (uint64_t)share[v] : least;
    }
    if (plane) {
        printf(" 0 0 0\n");
        return;
    }
    const double unit = length_unit(n);
    printf(" %.17g %.17g %.17g\n", (double)(most >> 2) * 0x1p-62, (double)(least >> 2) * 0x1p-62,
           rint(squares / n * unit) / ((double)n * n * unit));
}

static void play(uint64_t replication, uint64_t balls) {
    uint64_t *load = get(n, sizeof *load), moved = 0, steps_sum = 0;
    const double wanted = ceil((1 + epsilon) * (double)balls / n * (1 - 1e-12));
    const uint64_t least = (balls + n - 1) / n,
                   cap = wanted > (double)least ? (uint64_t)wanted : least;
    wide length = 0;
    words.replication = (uint32_t)replication;
    for (uint64_t ball = 0; ball < balls; ball++) {
        const struct point p = {
            {rng_word(words, PURPOSE_ORIGIN, 0, ball), rng_word(words, PURPOSE_ORIGIN, 1, ball)}};
        uint64_t steps = 0;
        const uint32_t to = policy == BOUNDED ? walk(p, load, cap, &steps) : choose(ball, p, load);
        moved += to != server_of(p);
        load[to]++;
        hop_sum[steps]++;
        steps_sum += steps;
        if (plane)
            length += (uint64_t)(sqrt((double)squared(p, to)) * 0x1p-31 * 0x1p40);
    }
    const double unit = length_unit(balls);
    const double cost =
        plane ? (double)(uint64_t)(length * (uint64_t)unit >> 40) / ((double)balls * unit)
              : (double)steps_sum / (double)balls;
    print_row(replication, balls, n, load, (double)moved / (double)balls, cost, load_sum,
              server_sum);
    print_shares();
    free(load);
}

int main(int argc, char **argv) {
    if (argc != 8 && argc != 9)
        fail("usage: naive_points SEED TOPOLOGY POLICY TIES BALLS FIRST END [POINTS]");
    const uint64_t balls = strtoull(argv[5], NULL, 10);
    const char *where = argv[2];
    const bool fresh = parameter_is(where, "layout", "per-replication") &&
                       !parameter_is(where, "servers", "grid") &&
                       !parameter_is(where, "servers", "file");
    words.key = rng_key(strtoull(argv[1], NULL, 10), where);
    ties = !strcmp(argv[4], "origin")        ? ORIGIN
           : !strcmp(argv[4], "smaller-arc") ? SMALLER_ARC
                                             : FAIR;
    make_room(where);
    read_policy(argv[3]);
    hop_sum = get((size_t)positions + 1, sizeof *hop_sum);
    load_sum = get(balls + 1, sizeof *load_sum);
    server_sum = get(n, sizeof *server_sum);
    for (uint64_t r = strtoull(argv[6], NULL, 10); r < strtoull(argv[7], NULL, 10); r++) {
        words.replication = fresh ? (uint32_t)r : 0;
        place(where, argv[8]);
        play(r, balls);
    }
    print_counts("hops", hop_sum, positions ? positions : 1);
    print_counts("loads", load_sum, balls + 1);
    print_counts("servers", server_sum, n);
    return 0;
}
