/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hops between the ends of a block of pairs. */
#ifndef POTLUCK_DISTANCE_H
#define POTLUCK_DISTANCE_H

#include "topology.h"

#include <string.h>

/* x / side for x < 2^31 as a product: Granlund and Montgomery, "Division by invariant integers
 * using multiplication", PLDI 1994. */
struct divisor {
    uint32_t factor;
    unsigned shift;
};
static inline struct divisor divide_by(uint32_t side) {
    const unsigned bits = side > 1 ? 32u - (unsigned)__builtin_clz(side - 1) : 0;
    const uint64_t power = (uint64_t)1 << (31 + bits);
    return (struct divisor){(uint32_t)((power + side - 1) / side), 31 + bits};
}
static inline uint32_t quotient(uint32_t x, struct divisor by) {
    return (uint32_t)((uint64_t)x * by.factor >> by.shift);
}

/* Hops between a and b along one side. */
static inline uint32_t hops_along(uint32_t a, uint32_t b, uint32_t side, bool wrap) {
    const uint32_t apart = a > b ? a - b : b - a, round = side - apart;
    return wrap && round < apart ? round : apart;
}

static inline void lattice_hops(const struct space *s, const uint32_t *restrict u,
                                const uint32_t *restrict v, uint32_t size, uint32_t *restrict hop) {
    const bool wrap = s->wrap;
    const uint32_t last = s->side[s->dims - 1];
    if (s->dims == 1) {
#pragma omp simd
        for (uint64_t i = 0; i < size; i++)
            hop[i] = hops_along(u[i], v[i], last, wrap);
        return;
    }
    if (s->dims == 2) {
        const struct divisor by = divide_by(last);
#pragma omp simd
        for (uint64_t i = 0; i < size; i++) {
            const uint32_t a = quotient(u[i], by), b = quotient(v[i], by);
            hop[i] = hops_along(a, b, s->side[0], wrap) +
                     hops_along(u[i] - a * last, v[i] - b * last, last, wrap);
        }
        return;
    }
    for (uint64_t i = 0; i < size; i++)
        hop[i] = (uint32_t)space_distance(s, u[i], v[i]);
}

/* hop[i] = distance of u[i] and v[i]. */
static inline void block_hops(const struct space *s, const uint32_t *restrict u,
                              const uint32_t *restrict v, uint32_t size, uint32_t *restrict hop) {
    if (s->form == FORM_COMPLETE || s->n == 1) {
        for (uint64_t i = 0; i < size; i++)
            hop[i] = u[i] != v[i];
    } else if (s->form == FORM_LATTICE) {
        lattice_hops(s, u, v, size, hop);
    } else if (s->form == FORM_CUBE) {
        for (uint64_t i = 0; i < size; i++)
            hop[i] = (uint32_t)__builtin_popcount(u[i] ^ v[i]);
    } else {
        for (uint64_t i = 0; i < size; i++)
            hop[i] = (uint32_t)space_distance(s, u[i], v[i]);
    }
}

#endif
