/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Distances and shells of the regular families by formula. */
#include "topology.h"

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
    }
    CHECK(false && "unknown form");
    return 0;
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
    }
    return sum;
}
