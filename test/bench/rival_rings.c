/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rival_rings.h"

#include "fail.h"
#include "xoshiro.h"

#include <stdlib.h>
#include <string.h>

enum { FINGERS = 64 };

struct rival_ring {
    uint32_t n;
    uint64_t *id;     /* [n], rising */
    uint32_t *finger; /* [n][64]: the first node at or after id + 2^j */
    uint32_t *received;
    uint64_t succeeded;
    struct xoshiro words;
};

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t owner_of(const struct rival_ring *r, uint64_t key) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (r->id[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n ? low : 0;
}

struct rival_ring *rival_ring_new(uint32_t n) {
    struct rival_ring *r = allocate(1, sizeof *r);
    r->n = n;
    r->id = allocate(n, sizeof *r->id);
    r->finger = allocate((size_t)n * FINGERS, sizeof *r->finger);
    r->received = allocate(n, sizeof *r->received);
    r->words = (struct xoshiro){{1, 2, 3, 4}};
    for (uint32_t i = 0; i < n; i++)
        r->id[i] = xoshiro_next(&r->words);
    qsort(r->id, n, sizeof *r->id, by_size);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned j = 0; j < FINGERS; j++)
            r->finger[(size_t)i * FINGERS + j] = owner_of(r, r->id[i] + ((uint64_t)1 << j));
    return r;
}

void rival_ring_free(struct rival_ring *r) {
    free(r->id);
    free(r->finger);
    free(r->received);
    free(r);
}

/* Hops of a query; 0 when it is dropped. The last hop is free. */
static uint32_t route(struct rival_ring *r, uint32_t at, uint64_t key, uint32_t capacity) {
    uint32_t hops = 0;
    for (;;) {
        const uint32_t next = at + 1 < r->n ? at + 1 : 0;
        const uint64_t far = key - r->id[at], step = r->id[next] - r->id[at];
        hops++;
        if (far <= step)
            return hops;
        unsigned j = 63 - (unsigned)__builtin_clzll(far);
        uint32_t to = r->finger[(size_t)at * FINGERS + j];
        while (r->id[to] - r->id[at] >= far)
            to = r->finger[(size_t)at * FINGERS + --j];
        if (r->received[to]++ >= capacity)
            return 0;
        at = to;
    }
}

uint64_t rival_ring_play(struct rival_ring *r, uint32_t seconds, uint32_t queries,
                         uint32_t capacity) {
    uint64_t all = 0;
    for (uint32_t t = 0; t < seconds; t++) {
        memset(r->received, 0, r->n * sizeof *r->received);
        for (uint32_t q = 0; q < r->n * queries; q++) {
            const uint32_t source = (uint32_t)((xoshiro_next(&r->words) >> 32) * r->n >> 32);
            const uint32_t hops = route(r, source, xoshiro_next(&r->words), capacity);
            r->succeeded += hops > 0;
            all += hops;
        }
    }
    return all;
}
