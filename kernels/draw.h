/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks of addressed words. The same words as rng_word() gives one by one, sixteen draws (64
 * words) at a time: each of Philox's four 32-bit words sits in the low half of a 64-bit lane, so
 * one widening multiply gives both halves of a product, and what is left in a high half never
 * reaches a result.
 *
 * The vector form is worth its intrinsics: 0.4 ns a word with AVX-512 against 1.3 (clang) and 3.3
 * (gcc) for the plain loop, which stays below as the reference for other processors (test/bench
 * prints both). */
#ifndef POTLUCK_DRAW_H
#define POTLUCK_DRAW_H

#include "rng.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CHUNK = 64
}; /* words are made this many at a time; blocks begin and end at multiples of it */

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
typedef __m512i vec;
enum { LANES = 8 };
#define vec_all _mm512_set1_epi64
#define vec_mul _mm512_mul_epu32
#define vec_high(x) _mm512_srli_epi64(x, 32)
#define vec_xor3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define vec_add _mm512_add_epi64
#define vec_iota() _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#define vec_store(p, x) _mm512_storeu_si512(p, x)
/* The high (odd) or low (even) halves of 2 * LANES lanes. */
static inline vec vec_odd(vec a, vec b) {
    return _mm512_permutex2var_epi32(
        a, _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1), b);
}
static inline vec vec_even(vec a, vec b) {
    return _mm512_permutex2var_epi32(
        a, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0), b);
}
/* One bit for each of the 2 * LANES halves of x below `limit`. */
static inline uint32_t vec_below(vec x, uint32_t limit) {
    return _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32((int)limit));
}
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i vec;
enum { LANES = 4 };
#define vec_all _mm256_set1_epi64x
#define vec_mul _mm256_mul_epu32
#define vec_high(x) _mm256_srli_epi64(x, 32)
#define vec_xor3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define vec_add _mm256_add_epi64
#define vec_iota() _mm256_set_epi64x(3, 2, 1, 0)
#define vec_store(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
static inline vec vec_odd(vec a, vec b) {
    const __m256 x =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(3, 1, 3, 1));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(x), _MM_SHUFFLE(3, 1, 2, 0));
}
static inline vec vec_even(vec a, vec b) {
    const __m256 x =
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _MM_SHUFFLE(2, 0, 2, 0));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(x), _MM_SHUFFLE(3, 1, 2, 0));
}
static inline uint32_t vec_below(vec x, uint32_t limit) {
    const __m256i sign = _mm256_set1_epi32((int)0x80000000u);
    const __m256i less = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(limit ^ 0x80000000u)),
                                            _mm256_xor_si256(x, sign));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(less));
}
#elif defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i vec;
enum { LANES = 2 };
#define vec_all _mm_set1_epi64x
#define vec_mul _mm_mul_epu32
#define vec_high(x) _mm_srli_epi64(x, 32)
#define vec_xor3(a, b, c) _mm_xor_si128(_mm_xor_si128(a, b), c)
#define vec_add _mm_add_epi64
#define vec_iota() _mm_set_epi64x(1, 0)
#define vec_store(p, x) _mm_storeu_si128((__m128i *)(void *)(p), x)
static inline vec vec_odd(vec a, vec b) {
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(3, 1, 3, 1)));
}
static inline vec vec_even(vec a, vec b) {
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
}
static inline uint32_t vec_below(vec x, uint32_t limit) {
    const __m128i sign = _mm_set1_epi32((int)0x80000000u);
    const __m128i less =
        _mm_cmpgt_epi32(_mm_set1_epi32((int)(limit ^ 0x80000000u)), _mm_xor_si128(x, sign));
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(less));
}
#else
#define DRAW_PLAIN 1
#endif

/* Which words: all slots of the same purpose differ in the lane alone. */
struct words {
    struct stream stream;
    enum purpose purpose;
    uint32_t lane;
};

/* Something sequential to be done beside the vector work, a little after each of its steps: the
 * processor then has both kinds of work at hand all the time. `step` counts from 0 to DRAW_STEPS -
 * 1 for each chunk. */
typedef void draw_beside(void *context, unsigned step);
static inline __attribute__((always_inline)) void draw_alone(void *context, unsigned step) {
    (void)context, (void)step;
}

#ifdef DRAW_PLAIN
enum { DRAW_STEPS = 8 };
/* Reference: word i0 .. i0+63 one by one; bit j of the result says that word j was rejected for
 * range n. */
static inline uint64_t draw_chunk(struct words w, uint64_t i0, uint32_t *out, bool ranged,
                                  uint32_t n, draw_beside *beside, void *context) {
    uint64_t rejected = 0;
    for (unsigned step = 0; step < DRAW_STEPS; step++)
        beside(context, step);
    for (uint32_t j = 0; j < CHUNK; j++) {
        const uint32_t word = rng_word(w.stream, w.purpose, w.lane, i0 + j);
        const uint64_t product = (uint64_t)word * n;
        out[j] = ranged ? (uint32_t)(product >> 32) : word;
        rejected |= (uint64_t)(ranged && (uint32_t)product < (uint32_t)-n % n) << j;
    }
    return rejected;
}
#else
enum { STEPS_OF_PART = 8, DRAW_STEPS = STEPS_OF_PART * 16 / (2 * LANES) };
/* 2 * LANES counters through ten rounds. */
static inline __attribute__((always_inline)) void
draw_rounds(struct words w, vec x[4][2], unsigned part, draw_beside *beside, void *context) {
    const vec m0 = vec_all(0xD2511F53), m1 = vec_all(0xCD9E8D57);
    uint32_t k0 = (uint32_t)w.stream.key, k1 = (uint32_t)(w.stream.key >> 32);
#pragma GCC unroll 10
    for (int r = 0; r < 10; r++) {
        const vec key0 = vec_all((long long)k0), key1 = vec_all((long long)k1);
        for (int h = 0; h < 2; h++) {
            const vec p0 = vec_mul(x[0][h], m0), p1 = vec_mul(x[2][h], m1);
            x[0][h] = vec_xor3(vec_high(p1), x[1][h], key0);
            x[2][h] = vec_xor3(vec_high(p0), x[3][h], key1);
            x[1][h] = p1;
            x[3][h] = p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
        if (r < STEPS_OF_PART)
            beside(context, part * STEPS_OF_PART + (unsigned)r);
    }
}

/* The counters of 2 * LANES draws, or of one draw in 2 * LANES replications. */
static inline __attribute__((always_inline)) void draw_counters(struct words w, uint64_t draw,
                                                                bool abreast, vec x[4][2]) {
    for (int h = 0; h < 2; h++) {
        const vec step = vec_add(vec_all(h * LANES), vec_iota());
        const vec replication = vec_all((long long)w.stream.replication);
        /* A chunk never straddles 2^32 draws, so the high bits of the draw are the same in all
         * lanes. */
        const vec low = vec_all((long long)(uint32_t)draw);
        x[0][h] = abreast ? low : vec_add(low, step);
        x[1][h] = vec_all((long long)((uint32_t)(draw >> 32) | (uint32_t)w.purpose << 16));
        x[2][h] = abreast ? vec_add(replication, step) : replication;
        x[3][h] = vec_all((long long)w.lane);
    }
}

/* Words i0 .. i0+63, made numbers below n when `ranged`; bit j of the result says that word j was
 * rejected. */
static inline __attribute__((always_inline)) uint64_t draw_chunk(struct words w, uint64_t i0,
                                                                 uint32_t *out, bool ranged,
                                                                 uint32_t n, draw_beside *beside,
                                                                 void *context) {
    uint64_t rejected = 0;
    const vec range = vec_all((long long)n);
    const uint32_t reject = ranged ? (uint32_t)-n % n : 0;
    for (unsigned part = 0; part < 16; part += 2 * LANES) {
        vec x[4][2];
        draw_counters(w, i0 / 64 * 16 + part, false, x);
        draw_rounds(w, x, part / (2 * LANES), beside, context);
        for (unsigned q = 0; q < 4; q++) {
            if (!ranged) {
                vec_store(out + 16 * q + part, vec_even(x[q][0], x[q][1]));
                continue;
            }
            const vec a = vec_mul(x[q][0], range), b = vec_mul(x[q][1], range);
            vec_store(out + 16 * q + part, vec_odd(a, b));
            rejected |= (uint64_t)vec_below(vec_even(a, b), reject) << (16 * q + part);
        }
    }
    return rejected;
}
#endif

/* out[4][16]: the four outputs of one draw in sixteen consecutive replications, the first being
 * w.stream's. */
static inline void draw_abreast(struct words w, uint64_t draw, uint32_t *out) {
#ifdef DRAW_PLAIN
    for (uint32_t j = 0; j < 16; j++) {
        const struct stream s = {w.stream.key, w.stream.replication + j};
        const philox4x32_ctr_t r = rng_block(s, w.purpose, w.lane, draw);
        for (unsigned q = 0; q < 4; q++)
            out[16 * q + j] = r.v[q];
    }
#else
    for (uint32_t part = 0; part < 16; part += 2 * LANES) {
        vec x[4][2];
        struct words v = w;
        v.stream.replication += part;
        draw_counters(v, draw, true, x);
        draw_rounds(v, x, 0, draw_alone, NULL);
        for (unsigned q = 0; q < 4; q++)
            vec_store(out + 16 * q + part, vec_even(x[q][0], x[q][1]));
    }
#endif
}

/* Replaces rejected numbers of the chunk at i0. */
static inline void draw_again(struct words w, uint64_t i0, uint64_t rejected, uint32_t n,
                              uint32_t *out) {
    for (; rejected; rejected &= rejected - 1) {
        const uint32_t j = (uint32_t)__builtin_ctzll(rejected);
        out[j] = rng_below(w.stream, w.purpose, w.lane, i0 + j, n);
    }
}

/* out[0 .. count-1] = words first .. ; first is a multiple of 64, and there is room for count
 * rounded up to 64. */
static inline void draw_words(struct words w, uint64_t first, uint32_t count, uint32_t *out) {
    for (uint32_t i = 0; i < count; i += CHUNK)
        draw_chunk(w, first + i, out + i, false, 1, draw_alone, NULL);
}

/* The same, each made uniform over 0 .. n-1 exactly as rng_below() does. */
static inline void draw_below(struct words w, uint64_t first, uint32_t count, uint32_t n,
                              uint32_t *out) {
    for (uint32_t i = 0; i < count; i += CHUNK)
        draw_again(w, first + i, draw_chunk(w, first + i, out + i, true, n, draw_alone, NULL), n,
                   out + i);
}

#endif
