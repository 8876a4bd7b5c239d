/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Distances and shells of the regular families by formula; making the spaces that are made. */
#include "graph.h"
#include "sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t lattice_distance(const struct space *s, uint64_t a, uint64_t b) {
    uint64_t hops = 0;
    for (unsigned d = s->dims; d-- > 0;) {
        const uint64_t side = s->side[d], x = a % side, y = b % side;
        const uint64_t apart = x > y ? x - y : y - x;
        hops += s->wrap && side - apart < apart ? side - apart : apart;
        a /= side;
        b /= side;
    }
    return hops;
}

static uint64_t tree_distance(const struct space *s, uint64_t a, uint64_t b) {
    uint64_t hops = 0;
    /* A parent has the smaller number, so the larger of two different vertices is never an ancestor
     * of the other. */
    for (; a != b; hops++) {
        if (a > b)
            a = (a - 1) / s->children;
        else
            b = (b - 1) / s->children;
    }
    return hops;
}

uint64_t space_distance(const struct space *s, uint64_t a, uint64_t b) {
    switch (s->form) {
    case FORM_COMPLETE:
        return a != b;
    case FORM_LATTICE:
        return lattice_distance(s, a, b);
    case FORM_CUBE:
        return (uint64_t)__builtin_popcountll(a ^ b);
    case FORM_TREE:
        return tree_distance(s, a, b);
    default:
        CHECK(false && "no formula");
        return 0;
    }
}

/* along[h] = vertices at distance h from x on one side of the box, h = 0..reach. */
static void line_shells(uint64_t side, bool wrap, uint64_t x, uint64_t reach, uint64_t *along) {
    memset(along, 0, (reach + 1) * sizeof *along);
    along[0] = 1;
    for (uint64_t h = 1; h <= reach; h++) {
        if (wrap)
            along[h] = 2 * h < side ? 2 : 2 * h == side;
        else
            along[h] = (uint64_t)(h <= x) + (uint64_t)(x + h < side);
    }
}

/* The shells of a box are the convolution of those along its sides. */
static void lattice_shells(const struct space *s, uint64_t u, uint64_t reach, uint64_t *shell) {
    uint64_t *sum = allocate(reach + 1, sizeof *sum), *next = allocate(reach + 1, sizeof *next),
             *along = allocate(reach + 1, sizeof *along);
    uint64_t extent = 0; /* the farthest shell of `sum` so far */
    sum[0] = 1;
    for (unsigned d = s->dims; d-- > 0;) {
        const uint64_t side = s->side[d], far = s->wrap ? side / 2 : side - 1;
        line_shells(side, s->wrap, u % side, reach, along);
        u /= side;
        for (uint64_t h = 0; h <= reach; h++) {
            next[h] = 0;
            for (uint64_t g = h > extent ? h - extent : 0; g <= h && g <= far; g++)
                next[h] += sum[h - g] * along[g];
        }
        extent += far;
        memcpy(sum, next, (reach + 1) * sizeof *sum);
    }
    memcpy(shell, sum + 1, reach * sizeof *shell);
    free(sum);
    free(next);
    free(along);
}

void space_shells(const struct space *s, uint64_t u, uint64_t reach, uint64_t *shell) {
    memset(shell, 0, reach * sizeof *shell);
    if (reach > s->diameter)
        reach = s->diameter;
    if (reach == 0)
        return;
    switch (s->form) {
    case FORM_COMPLETE:
        shell[0] = s->n - 1;
        return;
    case FORM_LATTICE:
        lattice_shells(s, u, reach, shell);
        return;
    case FORM_CUBE:
        for (uint64_t h = 1, choose = 1; h <= reach; h++) {
            choose = choose * (s->diameter - h + 1) / h;
            shell[h - 1] = choose;
        }
        return;
    case FORM_TREE:
        for (uint64_t v = 0; v < s->n; v++) {
            const uint64_t hops = tree_distance(s, u, v);
            if (hops >= 1 && hops <= reach)
                shell[hops - 1]++;
        }
        return;
    default:
        CHECK(false && "no formula");
    }
}

/* Every edge of a tree is crossed by the pairs on its two sides. */
static double tree_mean_distance(const struct space *s) {
    const double n = (double)s->n;
    uint32_t *below = allocate(s->n, sizeof *below); /* size of the subtree of x */
    double sum = 0;
    for (uint64_t x = s->n; x-- > 0;) {
        below[x]++;
        if (x > 0) {
            below[(x - 1) / s->children] += below[x];
            sum += 2 * (double)below[x] / n * ((n - (double)below[x]) / n);
        }
    }
    free(below);
    return sum;
}

double space_mean_distance(const struct space *s) {
    double sum = 0;
    switch (s->form) {
    case FORM_COMPLETE:
        return 1 - 1 / (double)s->n;
    case FORM_LATTICE:
        for (unsigned d = 0; d < s->dims; d++) {
            const uint64_t side = s->side[d];
            const double l = (double)side;
            sum += s->wrap ? (double)(side * side / 4) / l : (l * l - 1) / (3 * l);
        }
        return sum;
    case FORM_CUBE:
        return (double)s->diameter / 2;
    case FORM_TREE:
        return tree_mean_distance(s);
    default:
        CHECK(false && "no formula");
        return 0;
    }
}

double space_neighbours_guess(const struct space *s, uint64_t reach) {
    const double everybody = (double)s->n - 1;
    if (s->branching <= 0) {
        const double radii = reach ? 1 + 0.8 * (double)(reach - 1) : 0; /* hops are not straight */
        return fmin(everybody, s->mean_degree * radii * radii);
    }
    double sum = 0, shell = s->mean_degree;
    for (uint64_t h = 1; h <= reach && sum < everybody && shell > 1e-9; h++) {
        sum += shell;
        shell *= s->branching;
    }
    return fmin(everybody, sum);
}

/* No two vertices of a connected graph are farther apart than twice the distance to the farthest
 * from any one; from the vertex of largest degree that is near the middle. */
static uint64_t diameter_bound(const struct graph *g) {
    struct search search;
    uint32_t *memory = allocate(search_bytes(g->n), 1), hub = 0;
    uint64_t *end = allocate(g->n, sizeof *end), far = 0;
    for (uint32_t u = 1; u < g->n; u++)
        if (graph_degree(g, u) > graph_degree(g, hub))
            hub = u;
    search_init(&search, g->n, memory);
    graph_shells(g, &search, hub, (uint32_t)g->n - 1, end);
    while (end[far] < g->n)
        far++;
    free(memory);
    free(end);
    return 2 * far < g->n ? 2 * far : g->n - 1;
}

static struct graph *make_graph(const struct topology *t, const struct value *values,
                                struct stream words, enum connect connect, struct reason *why) {
    const uint32_t attempts = connect == CONNECT_REDRAW ? REDRAWS_MAX : 1;
    for (uint32_t attempt = 0; attempt < attempts; attempt++) {
        struct edges *e = t->build(values, words, attempt, why);
        if (!e)
            return NULL;
        struct graph *g = graph_new(e);
        edges_free(e);
        if (connect == CONNECT_LARGEST)
            return graph_largest(g);
        if (connect == CONNECT_ANY || g->components == 1)
            return g;
        graph_free(g);
    }
    refuse(why,
           "none of %d graphs was connected (connect: largest cuts a graph down to its largest "
           "component, connect: any takes it as it is)",
           REDRAWS_MAX);
    return NULL;
}

bool space_make(const struct topology *t, const struct value *values, struct stream words,
                struct space *s, struct reason *why) {
    if (s->form == FORM_GRAPH) {
        s->graph = make_graph(t, values, words, s->connect, why);
        if (!s->graph)
            return false;
        s->n = s->graph->n;
        s->connected = s->graph->largest == s->n;
        s->diameter = s->connected ? diameter_bound(s->graph) : s->n - 1;
    } else if (space_is_made(s)) {
        s->sites = t->place(values, words, why);
        if (!s->sites)
            return false;
        s->n = s->sites->n;
    }
    return true;
}

void space_clear(struct space *s) {
    graph_free(s->graph);
    sites_free(s->sites);
    s->graph = NULL;
    s->sites = NULL;
}
