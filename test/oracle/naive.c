/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Model `balls`, method servers, the obvious way: the graph is a matrix of edges, distances come
 * from breadth-first searches, the neighbours of a server are found by sorting all servers, balls
 * are thrown one at a time. It shares with the program only the addressed random words (rng.h), so
 * that the two must agree ball for ball. Written from the documentation of the words in sampler.h,
 * near.h, near_graph.h, servers.c and the heads of kernels/policies.
 *
 *     naive SEED TOPOLOGY POLICY TIES BALLS FIRST END [EDGES]
 *
 * TOPOLOGY and POLICY are canonical texts as in `resolved`: "torus: {sides: [5, 3]}". EDGES, for
 * graphs edge by edge, is a file that `potluck graph --write` wrote: a line of two numbers for
 * each edge, twice the same for a server without neighbours. Plays replications FIRST .. END-1 and
 * prints for each row R max_load min_load empty moved gap load_variance cost and at the end, summed
 * over replications, "hops" by distance, "loads" by load and "servers" by server; with EDGES, for
 * each server, "degree" its degree, load, jobs that arrived and hops that those moved. */
#include "naive_parts.h"

enum { DIMENSIONS = 8 };

/* ---- the graph ---- */

static uint32_t n;
static unsigned dims; /* boxes only */
static uint32_t side[DIMENSIONS];
static bool wraps, is_box, is_cube, is_complete, is_tree, is_graph;
static uint32_t children;
static bool *adjacent;     /* [n][n] */
static uint32_t *distance; /* [n][n] */
static uint32_t diameter;

static void join(uint32_t a, uint32_t b) {
    if (a != b)
        adjacent[(size_t)a * n + b] = adjacent[(size_t)b * n + a] = true;
}

/* Row-major, last side fastest. */
static void coordinates(uint32_t v, uint32_t x[DIMENSIONS]) {
    for (unsigned d = dims; d > 0; d--) {
        x[d - 1] = v % side[d - 1];
        v /= side[d - 1];
    }
}

static uint32_t vertex(const uint32_t x[DIMENSIONS]) {
    uint32_t v = 0;
    for (unsigned d = 0; d < dims; d++)
        v = v * side[d] + x[d];
    return v;
}

static void read_topology(const char *text) {
    is_complete = is_called(text, "complete");
    is_cube = is_called(text, "hypercube");
    is_tree = is_called(text, "tree") || is_called(text, "star");
    wraps = is_called(text, "ring") || is_called(text, "torus");
    is_box = wraps || is_called(text, "line") || is_called(text, "grid");
    if (is_cube)
        n = 1u << number(text, "dim");
    else if (is_called(text, "torus") || is_called(text, "grid")) {
        const char *at = strchr(text, '[');
        if (!at)
            fail("sides should be a list");
        n = 1;
        for (char *end; *at != ']'; at = *end == ',' ? end + 1 : end) {
            side[dims] = (uint32_t)strtoul(at + (dims == 0), &end, 10);
            n *= side[dims++];
        }
    } else {
        n = (uint32_t)number(text, "n");
        side[0] = n;
        dims = 1;
    }
    if (is_tree)
        children = is_called(text, "star") ? n : (uint32_t)number(text, "children");
    if (is_tree && (children == 1 || n <= 2)) { /* a path */
        is_tree = false;
        is_box = true;
    }
    if (!is_complete && !is_cube && !is_tree && !is_box)
        fail("unknown topology");
}

/* Edges from a file, in which everybody is named. */
static void read_edges(const char *path) {
    FILE *in = fopen(path, "r");
    char line[256];
    uint32_t a, b;
    if (!in)
        fail("no file of edges");
    for (n = 0; fgets(line, sizeof line, in);)
        if (sscanf(line, "%" SCNu32 " %" SCNu32, &a, &b) == 2)
            n = a >= n ? a + 1 : b >= n ? b + 1 : n;
    adjacent = get((size_t)n * n, sizeof *adjacent);
    rewind(in);
    while (fgets(line, sizeof line, in))
        if (sscanf(line, "%" SCNu32 " %" SCNu32, &a, &b) == 2)
            join(a, b);
    fclose(in);
}

static void join_everybody(void) {
    for (uint32_t v = 0; v < n; v++) {
        if (is_complete)
            for (uint32_t w = 0; w < n; w++)
                join(v, w);
        for (uint32_t bit = 1; is_cube && bit < n; bit *= 2)
            join(v, v ^ bit);
        if (is_tree && v > 0)
            join(v, (v - 1) / children);
        for (unsigned d = 0; is_box && d < dims; d++) {
            uint32_t x[DIMENSIONS];
            coordinates(v, x);
            if (x[d] + 1 < side[d] || wraps) {
                x[d] = (x[d] + 1) % side[d];
                join(v, vertex(x));
            }
        }
    }
}

static void measure(uint32_t from) {
    uint32_t *hops = distance + (size_t)from * n, *queue = get(n, sizeof *queue), head = 0,
             tail = 0;
    for (uint32_t v = 0; v < n; v++)
        hops[v] = UINT32_MAX;
    hops[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        const uint32_t v = queue[head++];
        if (hops[v] > diameter)
            diameter = hops[v];
        for (uint32_t w = 0; w < n; w++)
            if (adjacent[(size_t)v * n + w] && hops[w] == UINT32_MAX) {
                hops[w] = hops[v] + 1;
                queue[tail++] = w;
            }
    }
    if (tail != n && !is_graph)
        fail("the graph is not connected");
    free(queue);
}

static void build(const char *text, const char *edges) {
    is_graph = edges != NULL;
    if (is_graph) {
        read_edges(edges);
    } else {
        read_topology(text);
        adjacent = get((size_t)n * n, sizeof *adjacent);
        join_everybody();
    }
    distance = get((size_t)n * n, sizeof *distance);
    for (uint32_t v = 0; v < n; v++)
        measure(v);
}

static uint32_t hops_between(uint32_t a, uint32_t b) {
    return distance[(size_t)a * n + b];
}

/* ---- neighbourhoods ---- */

/* A row: a vector and its length in hops. `to` is where it leads from the server the list is for.
 */
struct row {
    uint32_t hops, to;
    int64_t vector[DIMENSIONS];
};

static int compare_rows(const void *a, const void *b) {
    const struct row *p = a, *q = b;
    if (p->hops != q->hops)
        return p->hops < q->hops ? -1 : 1;
    for (unsigned d = 0; d < DIMENSIONS; d++)
        if (p->vector[d] != q->vector[d])
            return p->vector[d] < q->vector[d] ? -1 : 1;
    return 0;
}

/* The servers at distance 1..k of u by distance, then by residues (boxes), mask (cubes) or number.
 */
static uint32_t list_around(uint32_t u, uint64_t k, struct row **rows) {
    uint32_t count = 0, mine[DIMENSIONS], its[DIMENSIONS];
    *rows = get(n, sizeof **rows);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t hops = hops_between(u, v);
        if (hops < 1 || hops > k || hops == UINT32_MAX)
            continue;
        struct row *r = &(*rows)[count++];
        r->hops = hops;
        r->to = v;
        r->vector[0] = is_cube ? (u ^ v) : v;
        if (is_box) {
            coordinates(u, mine);
            coordinates(v, its);
            for (unsigned d = 0; d < dims; d++)
                r->vector[d] = ((int64_t)its[d] - mine[d] + side[d]) % side[d];
        }
    }
    qsort(*rows, count, sizeof **rows, compare_rows);
    return count;
}

/* Every vector a bordered box knows, whether or not it stays inside from a given server. */
static uint32_t list_vectors(uint64_t k, struct row **rows) {
    uint64_t all = 1;
    uint32_t count = 0;
    for (unsigned d = 0; d < dims; d++)
        all *= 2 * side[d] - 1;
    *rows = get(all, sizeof **rows);
    for (uint64_t i = 0; i < all; i++) {
        struct row r = {0};
        uint64_t rest = i;
        for (unsigned d = 0; d < dims; d++) {
            r.vector[d] = (int64_t)(rest % (2 * side[d] - 1)) - (side[d] - 1);
            r.hops += (uint32_t)llabs(r.vector[d]);
            rest /= 2 * side[d] - 1;
        }
        if (r.hops >= 1 && r.hops <= k)
            (*rows)[count++] = r;
    }
    qsort(*rows, count, sizeof **rows, compare_rows);
    return count;
}

/* ---- the second choice of the proximity policies ---- */

static struct {
    bool weighted, self;
    uint64_t k;
    struct row **around; /* per server */
    uint32_t *count;
    struct row *vectors; /* bordered boxes */
    uint32_t n_vectors;
    uint64_t *threshold; /* alias tables over the rows of server 0, or over the vectors */
    uint32_t *alias;
    uint32_t attempts; /* graphs edge by edge: by rejection; 0: by rank */
} near;

/* Vose's construction, as near.h describes it. */
static void build_alias(const struct row *rows, uint32_t count) {
    double *share = get(count, sizeof *share), total = 0;
    uint32_t *small = get(count, sizeof *small), *large = get(count, sizeof *large), smalls = 0,
             larges = 0;
    near.threshold = get(count, sizeof *near.threshold);
    near.alias = get(count, sizeof *near.alias);
    for (uint32_t j = 0; j < count; j++)
        total += 1.0 / ((double)rows[j].hops * rows[j].hops);
    for (uint32_t j = 0; j < count; j++) {
        share[j] = count / ((double)rows[j].hops * rows[j].hops * total);
        near.threshold[j] = UINT64_MAX;
        near.alias[j] = j;
        if (share[j] < 1)
            small[smalls++] = j;
        else
            large[larges++] = j;
    }
    while (smalls && larges) {
        const uint32_t poor = small[--smalls], rich = large[larges - 1];
        near.threshold[poor] = units(share[poor]);
        near.alias[poor] = rich;
        share[rich] -= 1 - share[poor];
        if (share[rich] < 1)
            small[smalls++] = large[--larges];
    }
    free(share);
    free(small);
    free(large);
}

/* Servers within `reach` hops of u, u itself not counted. */
static uint32_t count_within(uint32_t u, uint32_t reach) {
    uint32_t count = 0;
    while (count < near.count[u] && near.around[u][count].hops <= reach)
        count++;
    return count;
}

/* Graphs edge by edge: whether neighbours are drawn by rejection, as sixteen origins show. */
static void probe(const char *topology) {
    const bool fresh = parameter_is(topology, "graphs", "per-replication");
    const uint32_t probes = n < 16 ? n : 16;
    double neighbours = 0, weight = 0, half = 0; /* N, W, H */
    for (uint32_t i = 0; i < probes; i++) {
        const uint32_t u = (2 * i + 1) * n / (2 * probes), count = near.count[u];
        neighbours += (double)count / probes;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t hops = near.around[u][j].hops;
            weight += (near.weighted ? 1.0 / (hops * hops) : 1) / probes;
            half += (double)count_within(u, hops / 2) / count / probes;
        }
    }
    if (weight == 0 || (!fresh && n * neighbours <= 0x1p26) ||
        n / weight * (64 + 4 * half) > neighbours)
        return;
    near.attempts = 64;
    for (double left = n / weight; left > 0; left--)
        near.attempts += 16;
}

static void prepare_near(uint64_t k, bool self, bool weighted, const char *topology) {
    near.k = k;
    near.self = self;
    near.weighted = weighted && !is_complete;
    near.around = get(n, sizeof *near.around);
    near.count = get(n, sizeof *near.count);
    for (uint32_t u = 0; u < n; u++)
        near.count[u] = list_around(u, k, &near.around[u]);
    if (is_box && !wraps)
        near.n_vectors = list_vectors(k, &near.vectors);
    if (near.weighted && is_box && !wraps)
        build_alias(near.vectors, near.n_vectors);
    else if (near.weighted && !is_tree && !is_graph)
        build_alias(near.around[0], near.count[0]);
    if (is_graph)
        probe(topology);
}

/* The row that a 64-bit fraction stands for: x * rows, whole part and fraction. */
static uint32_t weighted_row(uint64_t x, uint32_t rows) {
    const uint64_t high = (x >> 32) * rows,
                   low = (x & UINT32_MAX) * rows; /* x * rows = high 2^32 + low */
    const uint64_t middle = (high & UINT32_MAX) + (low >> 32);
    const uint32_t j = (uint32_t)((high >> 32) + (middle >> 32));
    const uint64_t rest = middle << 32 | (low & UINT32_MAX);
    return rest < near.threshold[j] ? j : near.alias[j];
}

/* Bordered boxes: rows of the unbounded box, drawn again from BORDER words until one stays inside.
 */
static uint32_t draw_inside(uint32_t u, uint64_t ball) {
    const uint32_t rows = near.n_vectors + near.self;
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t j;
        if (near.weighted)
            j = weighted_row(attempt ? fraction(PURPOSE_BORDER, 2 * (attempt - 1), ball)
                                     : fraction(PURPOSE_CANDIDATE, 0, ball),
                             rows);
        else
            j = attempt ? rng_below(words, PURPOSE_BORDER, attempt - 1, ball, rows)
                        : below(0, ball, rows);
        if (j == near.n_vectors)
            return u;
        uint32_t x[DIMENSIONS];
        bool inside = true;
        coordinates(u, x);
        for (unsigned d = 0; d < dims; d++) {
            const int64_t to = x[d] + near.vectors[j].vector[d];
            inside = inside && to >= 0 && to < side[d];
            x[d] = (uint32_t)to;
        }
        if (inside)
            return vertex(x);
    }
}

/* Where words come from: candidate slots, or the lanes that follow rejection. */
struct source {
    enum purpose purpose;
    uint32_t lane;
};

/* Trees and graphs edge by edge, weighted: the shell by the fraction slots 1 : 2, each weighing
 * servers / distance^2, then the member by slot 0. */
static uint32_t draw_shell(uint32_t u, uint64_t ball, struct source from) {
    const struct row *rows = near.around[u];
    const uint32_t count = near.count[u];
    long double total = 0, left;
    for (uint32_t j = 0; j < count; j++)
        total += 1.0L / ((long double)rows[j].hops * rows[j].hops);
    left = (long double)fraction(from.purpose, from.lane + 1, ball) * 0x1p-64L * total;
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && rows[end].hops == rows[first].hops; end++)
            left -= 1.0L / ((long double)rows[end].hops * rows[end].hops);
        if (left < 0 || end == count)
            return rows[first + rng_below(words, from.purpose, from.lane, ball, end - first)].to;
    }
    return u;
}

static uint32_t draw_rank(uint32_t u, uint64_t ball, struct source from) {
    if (near.weighted)
        return draw_shell(u, ball, from);
    const uint32_t rows = near.count[u] + near.self;
    const uint32_t j = rows ? rng_below(words, from.purpose, from.lane, ball, rows) : 0;
    return j == near.count[u] ? u : near.around[u][j].to;
}

/* Uniform servers until one is accepted: a neighbour, weighted with probability 1/distance^2. */
static uint32_t draw_rejecting(uint32_t u, uint64_t ball) {
    for (uint32_t a = 0; a < near.attempts; a++) {
        const philox4x32_ctr_t r = rng_block(words, PURPOSE_ACCEPT, a, ball);
        const uint32_t word = a ? r.v[0] : rng_word(words, PURPOSE_CANDIDATE, 0, ball);
        const uint64_t product = (uint64_t)word * n, x = (uint64_t)r.v[1] << 32 | r.v[2];
        const uint32_t v = (uint32_t)(product >> 32);
        if ((uint32_t)product < (uint32_t)-n % n)
            continue;
        const uint64_t hops = hops_between(u, v);
        if (hops == 0 ? near.self
                      : hops <= near.k && hops < UINT32_MAX &&
                            (!near.weighted || hops == 1 || x < UINT64_MAX / (hops * hops)))
            return v;
    }
    return draw_rank(u, ball, (struct source){PURPOSE_ACCEPT, 0x40000000});
}

static uint32_t another(uint32_t u, uint64_t ball) {
    if (n == 1)
        return 0;
    const uint32_t r = below(0, ball, n - 1);
    return r < u ? r : r + 1;
}

static uint32_t draw_near(uint32_t u, uint64_t ball) {
    if (n == 1)
        return 0;
    if (is_graph && near.attempts)
        return draw_rejecting(u, ball);
    if (is_graph || (is_tree && near.weighted))
        return draw_rank(u, ball, (struct source){PURPOSE_CANDIDATE, 0});
    if (is_complete ||
        (!near.weighted && near.k >= diameter)) /* everybody, in the order of their numbers */
        return near.self ? below(0, ball, n) : another(u, ball);
    if (is_box && !wraps)
        return draw_inside(u, ball);
    const uint32_t rows = near.count[u] + near.self;
    const uint32_t j = near.weighted ? weighted_row(fraction(PURPOSE_CANDIDATE, 0, ball), rows)
                                     : below(0, ball, rows);
    return j == near.count[u] ? u : near.around[u][j].to;
}

/* One alias table serves all servers of a ring or torus: their lists agree in distance, row by row.
 */
static void check_rows(void) {
    for (uint32_t u = 0; near.weighted && wraps && u < n; u++)
        for (uint32_t j = 0; j < near.count[u]; j++)
            if (near.around[u][j].hops != near.around[0][j].hops)
                fail("the space is not transitive");
}

/* ---- policies ---- */

static enum { ONE_CHOICE, CHOICES, POT, UNIF_POT, INVSQ_POT, EDGE, LEFT, ONE_PLUS_BETA } policy;
static bool origin_wins;
static uint32_t d;
static bool distinct;
static double beta;
static uint32_t (*edges)[2], n_edges;

static void number_edges(void) {
    edges = get(is_graph ? (size_t)n * n : (size_t)n * (dims + 1), sizeof *edges);
    for (uint32_t v = 0; is_graph && v < n; v++) /* by lower, then by higher end */
        for (uint32_t w = v + 1; w < n; w++)
            if (adjacent[(size_t)v * n + w]) {
                edges[n_edges][0] = v;
                edges[n_edges++][1] = w;
            }
    for (uint32_t v = 1; is_tree && v < n; v++) { /* edge v - 1: v, then its parent */
        edges[n_edges][0] = v;
        edges[n_edges++][1] = (v - 1) / children;
    }
    for (unsigned e = 0; is_box && e < dims;
         e++) /* by side, then by the lower end, which comes first */
        for (uint32_t v = 0; v < n; v++) {
            uint32_t x[DIMENSIONS];
            coordinates(v, x);
            if (++x[e] < side[e]) {
                edges[n_edges][0] = v;
                edges[n_edges++][1] = vertex(x);
            }
        }
}

/* Numbered edges serve where servers differ; the rest goes by neighbourhoods. */
static bool edges_numbered(const char *topology) {
    if (is_graph || is_called(topology, "line") || is_called(topology, "grid"))
        return true;
    return (is_called(topology, "tree") || is_called(topology, "star")) && n > 2;
}

static void read_policy(const char *text, const char *topology) {
    static const char *const names[] = {"one-choice", "choices", "pot",  "unif-pot",
                                        "invsq-pot",  "edge",    "left", "one-plus-beta"};
    unsigned i = 0;
    while (i < 8 && !is_called(text, names[i]))
        i++;
    if (i == 8)
        fail("unknown policy");
    policy = i;
    if (policy == CHOICES || policy == LEFT)
        d = (uint32_t)number(text, "d");
    if (policy == CHOICES)
        distinct = parameter_is(text, "distinct", "true");
    if (policy == ONE_PLUS_BETA)
        beta = strtod(parameter(text, "beta"), NULL);
    if (policy == UNIF_POT)
        prepare_near(number(text, "k"), parameter_is(text, "self", "included"), false, topology);
    if (policy == INVSQ_POT)
        prepare_near(number(text, "k"), false, true, topology);
    if (policy == EDGE && edges_numbered(topology))
        number_edges();
    else if (policy == EDGE)
        prepare_near(1, false, false, topology);
    check_rows();
}

/* The candidates of a ball in the order that breaks ties (fair coins aside); may replace the
 * origin. */
static unsigned draw_candidates(uint64_t ball, uint32_t *origin, uint32_t v[MANY]) {
    switch (policy) {
    case ONE_CHOICE:
        v[0] = *origin;
        return 1;
    case CHOICES:
        draw_choices(ball, n, d, distinct, v);
        return d;
    case POT:
        v[0] = *origin;
        v[1] = another(*origin, ball);
        return 2;
    case UNIF_POT:
    case INVSQ_POT:
        v[0] = *origin;
        v[1] = draw_near(*origin, ball);
        return 2;
    case EDGE:
        if (n_edges) {
            const uint32_t *ends = edges[below(0, ball, n_edges)];
            const bool turned = rng_word(words, PURPOSE_CANDIDATE, 1, ball) >> 31;
            *origin = v[0] = ends[turned];
            v[1] = ends[!turned];
        } else {
            v[0] = *origin;
            v[1] = draw_near(*origin, ball);
        }
        return 2;
    case LEFT:
        for (uint64_t g = 0; g < d; g++) {
            const uint32_t from = (uint32_t)(g * n / d), end = (uint32_t)((g + 1) * n / d);
            v[g] = from + below((uint32_t)g, ball, end - from);
        }
        return d;
    case ONE_PLUS_BETA:
        v[0] = below(0, ball, n);
        v[1] = below(1, ball, n);
        return beta >= 1 || fraction(PURPOSE_CANDIDATE, 2, ball) < units(beta) ? 2 : 1;
    }
    fail("unknown policy");
    return 0;
}

/* The least loaded candidate. */
static uint32_t choose(uint64_t ball, uint32_t origin, uint32_t v[MANY], unsigned candidates,
                       const uint64_t *load) {
    const bool blind = policy == CHOICES || policy == LEFT || policy == ONE_PLUS_BETA;
    if (!blind && !origin_wins && candidates == 2 && load[v[0]] == load[v[1]])
        return v[coin(ball)];
    if (origin_wins && policy != LEFT)
        origin_first(origin, v, candidates);
    return least_loaded(v, candidates, load);
}

/* Complete graph, policies that never look at the origin: how many balls are placed there by
 * chance, 64 at a time. */
static uint64_t stays_by_chance(uint64_t balls) {
    uint64_t stays = 0;
    if (n == 1)
        return balls;
    for (uint64_t group = 0; group * 64 < balls; group++) {
        const unsigned size = balls - group * 64 < 64 ? (unsigned)(balls - group * 64) : 64;
        const uint64_t x = fraction(PURPOSE_STAY, 0, group);
        long double term = 1, sum = 0;
        for (unsigned i = 0; i < size; i++)
            term *= 1 - 1 / (long double)n;
        for (unsigned j = 0; j < size; j++) {
            sum += term;
            if (x < units((double)sum))
                break;
            stays++;
            term *= (long double)(size - j) / (j + 1) / (n - 1);
        }
    }
    return stays;
}

/* ---- replications ---- */

static uint64_t *hop_sum, *load_sum, *server_sum, *arrivals, *hops_from;

static void play(uint64_t replication, uint64_t balls) {
    const bool by_chance =
        is_complete &&
        (policy == LEFT || ((policy == CHOICES || policy == ONE_PLUS_BETA) && !origin_wins));
    uint64_t *load = get(n, sizeof *load), moved = 0, cost = 0;
    words.replication = (uint32_t)replication;
    for (uint64_t ball = 0; ball < balls; ball++) {
        uint32_t origin = rng_below(words, PURPOSE_ORIGIN, 0, ball, n), v[MANY] = {0};
        const unsigned candidates = draw_candidates(ball, &origin, v);
        const uint32_t to = choose(ball, origin, v, candidates, load);
        const uint32_t hops = hops_between(origin, to);
        load[to]++;
        arrivals[origin]++;
        hops_from[origin] += hops;
        if (by_chance)
            continue;
        hop_sum[hops]++;
        moved += hops > 0;
        cost += hops;
    }
    if (by_chance) {
        const uint64_t stays = stays_by_chance(balls);
        moved = cost = balls - stays;
        hop_sum[0] += stays;
        hop_sum[diameter] += moved;
    }
    print_row(replication, balls, n, load, (double)moved / (double)balls,
              (double)cost / (double)balls, load_sum, server_sum);
    printf("\n");
    free(load);
}

static void print_degrees(void) {
    for (uint32_t v = 0; v < n; v++) {
        uint64_t degree = 0;
        for (uint32_t w = 0; w < n; w++)
            degree += adjacent[(size_t)v * n + w];
        print_counts("degree", (uint64_t[]){degree, server_sum[v], arrivals[v], hops_from[v]}, 4);
    }
}

int main(int argc, char **argv) {
    if (argc != 8 && argc != 9)
        fail("usage: naive SEED TOPOLOGY POLICY TIES BALLS FIRST END [EDGES]");
    const uint64_t balls = strtoull(argv[5], NULL, 10);
    words.key = rng_key(strtoull(argv[1], NULL, 10), argv[2]);
    origin_wins = !strcmp(argv[4], "origin");
    build(argv[2], argv[8]);
    read_policy(argv[3], argv[2]);
    hop_sum = get(diameter + 2, sizeof *hop_sum);
    load_sum = get(balls + 1, sizeof *load_sum);
    server_sum = get(n, sizeof *server_sum);
    arrivals = get(n, sizeof *arrivals);
    hops_from = get(n, sizeof *hops_from);
    for (uint64_t r = strtoull(argv[6], NULL, 10); r < strtoull(argv[7], NULL, 10); r++)
        play(r, balls);
    print_counts("hops", hop_sum, diameter + 1);
    print_counts("loads", load_sum, balls + 1);
    print_counts("servers", server_sum, n);
    if (is_graph)
        print_degrees();
    return 0;
}
