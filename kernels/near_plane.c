/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs of near servers on the plane. */
#include "near_plane.h"
#include "arrive.h"
#include "blind.h"

#include <stdio.h>

/* The k nearest servers of a point, laid out in block.memory. */
struct nearest {
    uint64_t *squared; /* [k] distances */
    double *weight;    /* weighted [k]: 1/squared */
    uint32_t *server;  /* [k] */
};

static struct nearest lay_out(uint64_t k, bool weighted, void *memory) {
    struct nearest l = {.squared = memory};
    l.weight = (double *)(void *)(l.squared + k);
    l.server = weighted ? (uint32_t *)(void *)(l.weight + k) : (uint32_t *)(void *)l.weight;
    return l;
}

static uint64_t memory_for(uint64_t n, uint64_t k, bool weighted) {
    if (k == 1 || (k == n && !weighted))
        return 0;
    return k * (sizeof(uint64_t) + (weighted ? sizeof(double) : 0) + sizeof(uint32_t));
}

static unsigned draws_for(uint64_t k, bool weighted) {
    return k == 1 ? 0 : weighted ? 4 : 2;
}

bool ISA(near_plane_examine)(const struct space *space, uint64_t k, bool weighted,
                             struct sampler_facts *f, struct reason *why) {
    if (k > space->n)
        return refuse(why, "the %llu nearest servers are wanted, but there are %llu",
                      (unsigned long long)k, (unsigned long long)space->n);
    const bool everybody = k == space->n && !weighted;
    *f = (struct sampler_facts){.memory = memory_for(space->n, k, weighted),
                                .draws = draws_for(k, weighted)};
    f->nanoseconds = 5 + ISA(arrive_nanoseconds)(space, 1) +
                     (k == 1 || everybody ? 0 : ISA(arrive_nanoseconds)(space, k)) +
                     (weighted ? 8 * (double)k : 0);
    snprintf(f->how, sizeof f->how, "%s", everybody ? "everybody" : ISA(arrive_how)(space));
    return true;
}

void ISA(near_plane_prepare)(struct sampler *s, uint64_t k, bool weighted) {
    s->d = (uint32_t)k;
    s->candidates = k == 1 ? 1 : 2;
    s->origin_first = k == 1;
    s->draws = draws_for(k, weighted);
    s->memory = memory_for(s->n, k, weighted);
    if (k > 1 && !weighted) {
        s->range[0] = s->d;
        s->range[1] = s->d - 1;
    }
}

/* Candidates in raw[0] and raw[1], or the origin alone; whether there is a choice. */
static bool set_candidates(const struct sampler *s, struct block *b) {
    b->candidate[0] = s->candidates == 1 ? b->origin : b->raw[0];
    if (s->candidates == 2)
        b->candidate[1] = b->raw[1];
    return s->candidates == 2;
}

void ISA(near_plane_uniform)(const struct sampler *s, struct stream stream, struct block *b) {
    (void)stream;
    if (!set_candidates(s, b))
        return;
    uint32_t *first = b->candidate[0], *second = b->candidate[1];
    const uint32_t size = b->size;
    for (uint64_t i = 0; i < size; i++)
        second[i] += second[i] >= first[i];
    if (s->d < s->n) {
        const struct nearest l = lay_out(s->d, false, b->memory);
        for (uint32_t i = 0; i < size; i++) {
            const uint32_t last = first[i] > second[i] ? first[i] : second[i];
            plane_near(s->space.sites, b->point[0][i] >> 1, b->point[1][i] >> 1, last + 1, l.server,
                       l.squared);
            first[i] = l.server[first[i]];
            second[i] = l.server[second[i]];
        }
    }
    if (s->ties == TIES_ORIGIN)
        origin_to_front(s, b);
}

static double fraction(uint32_t high, uint32_t low) {
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

/* One rank below k by weight, the first `zeros` at distance 0, never that of `taken`. */
static uint32_t pick(const struct nearest *l, uint32_t k, uint32_t zeros, uint32_t taken,
                     double f) {
    const bool skip = taken < zeros;
    if (zeros > skip) {
        const uint32_t rank = (uint32_t)(f * (zeros - skip));
        return rank + (skip && rank >= taken);
    }
    double total = 0, sum = 0;
    for (uint32_t j = zeros; j < k; j++)
        total += j == taken ? 0 : l->weight[j];
    uint32_t last = zeros;
    for (uint32_t j = zeros; j < k; j++) {
        if (j == taken)
            continue;
        last = j;
        sum += l->weight[j];
        if (sum > f * total)
            break;
    }
    return last;
}

void ISA(near_plane_weighted)(const struct sampler *s, struct stream stream, struct block *b) {
    (void)stream;
    if (!set_candidates(s, b))
        return;
    const uint32_t k = s->d;
    const struct nearest l = lay_out(k, true, b->memory);
    for (uint32_t i = 0; i < b->size; i++) {
        plane_near(s->space.sites, b->point[0][i] >> 1, b->point[1][i] >> 1, k, l.server,
                   l.squared);
        uint32_t zeros = 0;
        while (zeros < k && l.squared[zeros] == 0)
            zeros++;
        for (uint32_t j = zeros; j < k; j++)
            l.weight[j] = 1 / (double)l.squared[j];
        const uint32_t one = pick(&l, k, zeros, UINT32_MAX, fraction(b->raw[0][i], b->raw[1][i]));
        const uint32_t two = pick(&l, k, zeros, one, fraction(b->raw[2][i], b->raw[3][i]));
        const bool turn = b->raw[1][i] & 1;
        b->candidate[0][i] = l.server[turn ? two : one];
        b->candidate[1][i] = l.server[turn ? one : two];
    }
    if (s->ties == TIES_ORIGIN)
        origin_to_front(s, b);
}
