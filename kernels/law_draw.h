/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What laws draw from: uniform numbers of 64 bits, one from the words number i of two lanes. */
#ifndef POTLUCK_LAW_DRAW_H
#define POTLUCK_LAW_DRAW_H

#include "elementary.h"
#include "law.h"

enum { PIECE = 512 }; /* values made at a time by laws that need more than one number for each */

/* The facts of c X. */
static inline void law_scale(struct law_facts *f, double c) {
    f->mean *= c;
    f->second *= c * c;
    f->third *= c * c * c;
    f->fourth *= c * c * c * c;
}

/* out[0 .. count-1], and on up to a multiple of 64, = uniform numbers first .. from lanes w.lane +
 * lane and the next. */
static inline void draw_uniform(struct words w, uint32_t lane, uint64_t first, uint32_t count,
                                double *out) {
    w.lane += lane;
    const struct words next = {w.stream, w.purpose, w.lane + 1};
    for (uint32_t i = 0; i < count; i += CHUNK) {
        uint32_t high[CHUNK], low[CHUNK];
        draw_chunk(w, first + i, high, false, 1, draw_alone, NULL);
        draw_chunk(next, first + i, low, false, 1, draw_alone, NULL);
#pragma omp simd
        for (uint32_t j = 0; j < CHUNK; j++)
            out[i + j] = uniform_number(high[j], low[j]);
    }
}

/* One of them. */
static inline double uniform_at(struct words w, uint32_t lane, uint64_t i) {
    return uniform_number(rng_word(w.stream, w.purpose, w.lane + lane, i),
                          rng_word(w.stream, w.purpose, w.lane + lane + 1, i));
}

static inline double exponential_at(struct words w, uint32_t lane, uint64_t i) {
    return -log_normal_number(uniform_at(w, lane, i));
}

#endif
