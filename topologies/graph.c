/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs as compressed rows, and breadth-first searches in them. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

uint64_t graph_bytes(uint64_t n, uint64_t n_edges) {
    return sizeof(struct graph) + (n + 1) * sizeof(uint64_t) + 2 * n_edges * sizeof(uint32_t) +
           n * sizeof(uint32_t);
}

void graph_free(struct graph *g) {
    if (!g)
        return;
    free(g->first);
    free(g->neighbour);
    free(g->original);
    free(g);
}

/* Each edge into the rows of both its ends; rows are in the order of the edges. */
static void fill_rows(struct graph *g, const struct edges *e) {
    for (uint64_t i = 0; i < e->n_edges; i++) {
        const uint32_t u = e->end[i][0], v = e->end[i][1];
        CHECK(u < e->n && v < e->n);
        g->loops += u == v;
        if (u != v) {
            g->first[u + 1]++;
            g->first[v + 1]++;
        }
    }
    for (uint64_t u = 0; u < g->n; u++)
        g->first[u + 1] += g->first[u];
    g->neighbour = allocate(g->first[g->n] + 1, sizeof *g->neighbour);
    uint64_t *next = allocate(g->n + 1, sizeof *next);
    memcpy(next, g->first, (g->n + 1) * sizeof *next);
    for (uint64_t i = 0; i < e->n_edges; i++) {
        const uint32_t u = e->end[i][0], v = e->end[i][1];
        if (u != v) {
            g->neighbour[next[u]++] = v;
            g->neighbour[next[v]++] = u;
        }
    }
    free(next);
}

static int rising(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_row(uint32_t *row, uint64_t size) {
    enum { SHORT = 32 };
    if (size > SHORT) {
        qsort(row, size, sizeof *row, rising);
        return;
    }
    for (uint64_t i = 1; i < size; i++) {
        const uint32_t x = row[i];
        uint64_t j = i;
        for (; j > 0 && row[j - 1] > x; j--)
            row[j] = row[j - 1];
        row[j] = x;
    }
}

/* Rows rise, and nobody is in one twice. */
static void tidy_rows(struct graph *g) {
    uint64_t kept = 0, begin = 0;
    for (uint64_t u = 0; u < g->n; u++) {
        const uint64_t end = g->first[u + 1], from = kept;
        sort_row(g->neighbour + begin, end - begin);
        for (uint64_t i = begin; i < end; i++)
            if (kept == from || g->neighbour[kept - 1] != g->neighbour[i])
                g->neighbour[kept++] = g->neighbour[i];
        begin = end;
        g->first[u + 1] = kept;
    }
    g->doubles = (begin - kept) / 2;
    g->n_edges = kept / 2;
}

/* part[u] = the smallest vertex of the component of u. */
static uint32_t *find_components(struct graph *g) {
    uint32_t *part = allocate(g->n, sizeof *part), *queue = allocate(g->n, sizeof *queue);
    memset(part, 0xff, g->n * sizeof *part);
    g->components = g->largest = 0;
    for (uint64_t root = 0; root < g->n; root++) {
        if (part[root] != UINT32_MAX)
            continue;
        uint64_t size = 0;
        part[root] = queue[size++] = (uint32_t)root;
        for (uint64_t q = 0; q < size; q++)
            for (uint64_t i = g->first[queue[q]]; i < g->first[queue[q] + 1]; i++) {
                const uint32_t v = g->neighbour[i];
                if (part[v] == UINT32_MAX) {
                    part[v] = (uint32_t)root;
                    queue[size++] = v;
                }
            }
        g->components++;
        if (size > g->largest)
            g->largest = size;
    }
    free(queue);
    return part;
}

struct graph *graph_new(const struct edges *e) {
    CHECK(e->n >= 1 && e->n <= SERVERS_MAX);
    struct graph *g = allocate(1, sizeof *g);
    g->n = g->whole = e->n;
    g->first = allocate(g->n + 1, sizeof *g->first);
    fill_rows(g, e);
    tidy_rows(g);
    free(find_components(g));
    return g;
}

/* The smallest vertex of the largest component. */
static uint32_t largest_part(const struct graph *g, const uint32_t *part) {
    uint32_t *size = allocate(g->n, sizeof *size), found = 0;
    for (uint64_t u = 0; u < g->n; u++)
        size[part[u]]++;
    while (size[found] != g->largest)
        found++;
    free(size);
    return found;
}

struct graph *graph_largest(struct graph *g) {
    if (g->n == g->largest)
        return g;
    uint32_t *part = find_components(g);
    const uint32_t chosen = largest_part(g, part);
    struct graph *cut = allocate(1, sizeof *cut);
    *cut = *g;
    cut->n = g->largest;
    cut->first = allocate(cut->n + 1, sizeof *cut->first);
    cut->original = allocate(cut->n, sizeof *cut->original);
    uint32_t *number = part; /* of those that stay; the part is not needed once it is known */
    for (uint32_t u = 0, n = 0; n < cut->n; u++)
        if (part[u] == chosen) {
            cut->original[n] = u;
            cut->first[n + 1] = cut->first[n] + graph_degree(g, u);
            number[u] = n++;
        }
    cut->n_edges = cut->first[cut->n] / 2;
    cut->neighbour = allocate(2 * cut->n_edges + 1, sizeof *cut->neighbour);
    for (uint64_t v = 0; v < cut->n; v++) {
        const uint32_t *from = g->neighbour + g->first[cut->original[v]];
        for (uint64_t i = cut->first[v]; i < cut->first[v + 1]; i++)
            cut->neighbour[i] = number[*from++];
    }
    free(part);
    graph_free(g);
    return cut;
}

void search_init(struct search *s, uint64_t n, void *memory) {
    uint32_t *words = memory;
    *s = (struct search){.queue = {words, words + n}, .seen = words + 2 * n, .n = n};
}

/* Two numbers that `seen` does not hold yet: the one returned and the next. */
static uint32_t next_round(struct search *s) {
    if (s->round > UINT32_MAX - 2) {
        memset(s->seen, 0, s->n * sizeof *s->seen);
        s->round = 0;
    }
    s->round += 2;
    return s->round - 1;
}

uint64_t graph_shells(const struct graph *g, struct search *s, uint32_t u, uint32_t reach,
                      uint64_t *end) {
    const uint32_t mine = next_round(s);
    uint32_t *const queue = s->queue[0], *const seen = s->seen;
    uint64_t found = 1, begin = 0;
    queue[0] = u;
    seen[u] = mine;
    end[0] = 1;
    for (uint32_t h = 1; h <= reach; h++) {
        const uint64_t shell = found;
        /* Once it is as large as the largest component there is no more of it. */
        for (uint64_t q = begin; q < shell && found < g->largest; q++)
            for (uint64_t i = g->first[queue[q]]; i < g->first[queue[q] + 1]; i++) {
                const uint32_t v = g->neighbour[i];
                if (seen[v] != mine) {
                    seen[v] = mine;
                    queue[found++] = v;
                }
            }
        end[h] = found;
        begin = shell;
    }
    return found;
}

static bool adjacent(const struct graph *g, uint32_t u, uint32_t v) {
    if (graph_degree(g, u) > graph_degree(g, v)) {
        const uint32_t swap = u;
        u = v;
        v = swap;
    }
    uint64_t low = g->first[u], high = g->first[u + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (g->neighbour[middle] == v)
            return true;
        if (g->neighbour[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* One end of a two-sided search: its last shell is queue[begin..end). */
struct side {
    uint32_t *queue;
    uint64_t begin, end;
    uint32_t mark;
};

/* The next shell of a side; true when it meets the other side. The shells before do not meet, so a
 * vertex that both have is in the last shell of the other. */
static bool grow(const struct graph *g, uint32_t *seen, struct side *side, uint32_t other) {
    const uint64_t end = side->end;
    uint64_t found = end;
    for (uint64_t q = side->begin; q < end; q++)
        for (uint64_t i = g->first[side->queue[q]]; i < g->first[side->queue[q] + 1]; i++) {
            const uint32_t v = g->neighbour[i], by = seen[v];
            if (by == other)
                return true;
            if (by != side->mark) {
                seen[v] = side->mark;
                side->queue[found++] = v;
            }
        }
    side->begin = end;
    side->end = found;
    return false;
}

uint32_t graph_distance(const struct graph *g, struct search *s, uint32_t u, uint32_t v,
                        uint32_t limit) {
    if (u == v)
        return 0;
    if (limit == 0)
        return UINT32_MAX;
    if (limit == 1)
        return adjacent(g, u, v) ? 1 : UINT32_MAX;
    const uint32_t mark = next_round(s);
    struct side a = {s->queue[0], 0, 1, mark}, b = {s->queue[1], 0, 1, mark + 1};
    a.queue[0] = u;
    b.queue[0] = v;
    s->seen[u] = a.mark;
    s->seen[v] = b.mark;
    for (uint32_t hops = 1; hops <= limit; hops++) {
        const bool first = a.end - a.begin <= b.end - b.begin;
        struct side *next = first ? &a : &b;
        if (next->begin == next->end)
            return UINT32_MAX;
        if (grow(g, s->seen, next, first ? b.mark : a.mark))
            return hops;
    }
    return UINT32_MAX;
}
