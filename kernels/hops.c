/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hops of pairs of a graph, looked up or searched. */
#include "hops.h"

#include <math.h>
#include <stdlib.h>

/* Beyond this many servers a table takes a gigabyte and minutes to make; where numbers grow fast with
 * the distance, searches from both ends are short and it pays for small graphs alone. */
enum { TABLE_SERVERS = 20000, TABLE_SERVERS_BRANCHING = 2048 };

bool ISA(hops_tabled)(const struct space *space, uint64_t budget) {
    const uint64_t most = space->branching > 1 ? TABLE_SERVERS_BRANCHING : TABLE_SERVERS;
    return !space->fresh && space->n <= most && space->n * space->n * sizeof(uint16_t) <= budget;
}

uint64_t ISA(hops_bytes)(const struct space *space, uint64_t budget) {
    return ISA(hops_tabled)(space, budget) ? space->n * space->n * sizeof(uint16_t) : 0;
}

double ISA(hops_nanoseconds)(const struct space *space, uint64_t budget) {
    const double n = (double)space->n;
    if (ISA(hops_tabled)(space, budget))
        return n < 1000 ? 3 : 15;
    /* Two balls of about sqrt(n) servers meet; in a plane they must grow half the way. */
    return space->branching > 1 ? 50 + 6 * sqrt(n) * fmin(1 + n / 250000, 6)
                                : 50 + 0.5 * n * space->mean_degree;
}

uint64_t ISA(hops_memory)(const struct space *space, uint64_t budget) {
    return ISA(hops_tabled)(space, budget) ? 0 : sizeof(struct search) + search_bytes(space->n);
}

static uint16_t *make_table(const struct graph *g) {
    const uint64_t n = g->n;
    uint16_t *table = allocate(n * n, sizeof *table);
    uint64_t *end = allocate(n, sizeof *end);
    void *memory = allocate(1, search_bytes(n));
    struct search search;
    search_init(&search, n, memory);
    for (uint64_t u = 0; u < n; u++) {
        uint16_t *row = table + u * n;
        const uint64_t found = graph_shells(g, &search, (uint32_t)u, (uint32_t)n - 1, end);
        for (uint64_t v = 0; found < n && v < n; v++)
            row[v] = UINT16_MAX;
        for (uint64_t q = 0, hop = 0; q < found; q++) {
            while (end[hop] <= q)
                hop++;
            row[search.queue[0][q]] = (uint16_t)hop;
        }
    }
    free(memory);
    free(end);
    return table;
}

void ISA(hops_prepare)(struct hops *h, const struct space *space, uint64_t budget) {
    h->graph = space->graph;
    h->table = ISA(hops_tabled)(space, budget) ? make_table(space->graph) : NULL;
}

void ISA(hops_free)(struct hops *h) {
    free(h->table);
    h->table = NULL;
}

/* The search in a piece of memory; its number of rounds outlives a move of the memory. */
static struct search *search_in(void *memory, uint64_t n) {
    struct search *s = memory;
    const uint32_t round = s->round;
    search_init(s, n, s + 1);
    s->round = round;
    return s;
}

void ISA(hops_block)(const struct hops *h, void *memory, const uint32_t *u, const uint32_t *v,
                     uint32_t size, uint32_t *hop) {
    const uint64_t n = h->graph->n;
    if (h->table) {
        for (uint64_t i = 0; i < size; i++)
            hop[i] = h->table[u[i] * n + v[i]];
        return;
    }
    struct search *search = search_in(memory, n);
    for (uint64_t i = 0; i < size; i++)
        hop[i] = graph_distance(h->graph, search, u[i], v[i], UINT32_MAX);
}
