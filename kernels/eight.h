/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eight times in a row, as `queue` keeps them for each server. Vector code of both wider levels is
 * written out; what it does is said by the plain loops at the end, which other processors use. The
 * same bits everywhere. */
#ifndef POTLUCK_EIGHT_H
#define POTLUCK_EIGHT_H

#include <stdint.h>

enum { EIGHT = 8 };

/* Whole units of 1 / scale in a time from 0 on; what lies beyond all is cut off. */
static const double UNITS_MOST = 0x1p62;
static inline uint64_t whole_units(double time, double scale) {
    const double units = time * scale;
    return (uint64_t)(int64_t)(units < UNITS_MOST ? units : UNITS_MOST);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
/* Unlike __m512d they are no other than doubles and integers to the compiler. */
typedef double eight __attribute__((vector_size(64)));
typedef unsigned long long eight_units __attribute__((vector_size(64)));

static inline eight eight_at(const double *p) {
    return *(const eight *)(const void *)p;
}
static inline void eight_put(double *p, eight e) {
    *(eight *)(void *)p = e;
}
/* One bit for each that is after a time. */
static inline uint32_t eight_after(eight e, double time) {
    return _mm512_cmp_pd_mask(e, _mm512_set1_pd(time), _CMP_GT_OQ);
}
/* x and the first seven of e. */
static inline eight eight_behind(double x, eight e) {
    return _mm512_castsi512_pd(
        _mm512_alignr_epi64(_mm512_castpd_si512(e), _mm512_castpd_si512(_mm512_set1_pd(x)), 7));
}
/* Adds the whole units of each, or of `time` where that is later. */
static inline void eight_count(eight_units *sum, eight e, double time, double scale) {
    const __m512d units =
        _mm512_mul_pd(_mm512_max_pd(e, _mm512_set1_pd(time)), _mm512_set1_pd(scale));
    *sum += (eight_units)_mm512_cvttpd_epi64(_mm512_min_pd(units, _mm512_set1_pd(UNITS_MOST)));
}
static inline eight_units eight_units_at(const uint64_t *p) {
    return (eight_units)_mm512_load_si512(p);
}
static inline void eight_units_put(uint64_t *p, eight_units u) {
    _mm512_store_si512(p, (__m512i)u);
}
#elif defined(__AVX2__)
#include <immintrin.h>
typedef double four __attribute__((vector_size(32)));
typedef struct {
    four a, b;
} eight;
typedef struct {
    __m256i a, b;
} eight_units;

static inline eight eight_at(const double *p) {
    const four *v = (const four *)(const void *)p;
    return (eight){v[0], v[1]};
}
static inline void eight_put(double *p, eight e) {
    four *v = (four *)(void *)p;
    v[0] = e.a;
    v[1] = e.b;
}
static inline uint32_t eight_after(eight e, double time) {
    const __m256d t = _mm256_set1_pd(time);
    return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(e.a, t, _CMP_GT_OQ)) |
           (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(e.b, t, _CMP_GT_OQ)) << 4;
}
static inline eight eight_behind(double x, eight e) {
    const __m256d a = _mm256_permute4x64_pd(e.a, _MM_SHUFFLE(2, 1, 0, 3)),
                  b = _mm256_permute4x64_pd(e.b, _MM_SHUFFLE(2, 1, 0, 3));
    return (eight){_mm256_blend_pd(a, _mm256_set1_pd(x), 1), _mm256_blend_pd(b, a, 1)};
}
/* Whole units in two parts, high * 2^32 + low: AVX2 does not convert to 64 bits. */
static inline __m256i four_units(__m256d e, double time, double scale) {
    const __m256d x =
        _mm256_min_pd(_mm256_mul_pd(_mm256_max_pd(e, _mm256_set1_pd(time)), _mm256_set1_pd(scale)),
                      _mm256_set1_pd(UNITS_MOST));
    const __m256d high = _mm256_floor_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-32))),
                  low = _mm256_floor_pd(
                      _mm256_sub_pd(x, _mm256_mul_pd(high, _mm256_set1_pd(0x1p32)))),
                  whole = _mm256_set1_pd(0x1p52);
    const __m256i h = _mm256_castpd_si256(_mm256_add_pd(high, whole)),
                  l = _mm256_castpd_si256(_mm256_add_pd(low, whole));
    return _mm256_add_epi64(_mm256_slli_epi64(h, 32),
                            _mm256_xor_si256(l, _mm256_castpd_si256(whole)));
}
static inline void eight_count(eight_units *sum, eight e, double time, double scale) {
    sum->a = _mm256_add_epi64(sum->a, four_units(e.a, time, scale));
    sum->b = _mm256_add_epi64(sum->b, four_units(e.b, time, scale));
}
static inline eight_units eight_units_at(const uint64_t *p) {
    const __m256i *v = (const __m256i *)(const void *)p;
    return (eight_units){_mm256_load_si256(v), _mm256_load_si256(v + 1)};
}
static inline void eight_units_put(uint64_t *p, eight_units u) {
    __m256i *v = (__m256i *)(void *)p;
    _mm256_store_si256(v, u.a);
    _mm256_store_si256(v + 1, u.b);
}
#else
typedef struct {
    double x[EIGHT];
} eight;
typedef struct {
    uint64_t x[EIGHT];
} eight_units;

static inline eight eight_at(const double *p) {
    eight e;
    for (unsigned i = 0; i < EIGHT; i++)
        e.x[i] = p[i];
    return e;
}
static inline void eight_put(double *p, eight e) {
    for (unsigned i = 0; i < EIGHT; i++)
        p[i] = e.x[i];
}
static inline uint32_t eight_after(eight e, double time) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < EIGHT; i++)
        bits |= (uint32_t)(e.x[i] > time) << i;
    return bits;
}
static inline eight eight_behind(double x, eight e) {
    eight to = {.x = {x}};
    for (unsigned i = 1; i < EIGHT; i++)
        to.x[i] = e.x[i - 1];
    return to;
}
static inline void eight_count(eight_units *sum, eight e, double time, double scale) {
    for (unsigned i = 0; i < EIGHT; i++)
        sum->x[i] += whole_units(e.x[i] > time ? e.x[i] : time, scale);
}
static inline eight_units eight_units_at(const uint64_t *p) {
    eight_units u;
    for (unsigned i = 0; i < EIGHT; i++)
        u.x[i] = p[i];
    return u;
}
static inline void eight_units_put(uint64_t *p, eight_units u) {
    for (unsigned i = 0; i < EIGHT; i++)
        p[i] = u.x[i];
}
#endif

#endif
