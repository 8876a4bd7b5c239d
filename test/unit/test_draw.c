/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks of words equal the words one by one. Built once for every set of instructions, and once
 * for the plain loops; exits 77 where the processor lacks the instructions. */
#include "draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 700, GUARD = 64 };
static const uint32_t UNTOUCHED = 0xdeadbeef;

/* Where words begin: also beyond 2^32 draws (2^34 words), and the last there are. */
static const uint64_t firsts[] = {0,
                                  64,
                                  2048,
                                  4096 * 7,
                                  ((uint64_t)1 << 32) - 64,
                                  (uint64_t)1 << 32,
                                  ((uint64_t)1 << 34) - 64,
                                  (uint64_t)1 << 34,
                                  ((uint64_t)1 << 49) + 6400,
                                  ((uint64_t)1 << 50) - 704};
static const uint32_t counts[] = {1, 2, 31, 63, 64, 65, 100, 128, 500, 640};
static const struct words sets[] = {
    {{0, 0}, PURPOSE_ORIGIN, 0},
    {{0x0123456789abcdefu, 1}, PURPOSE_CANDIDATE, 63},
    {{0xffffffffffffffffu, 0xffffffff}, PURPOSE_TIE, 0},
    {{0x80000000u, 0x80000000u}, PURPOSE_STAY, 1},
    {{0x8000000000000000u, 12345}, PURPOSE_BORDER, 0xffffffff},
    {{20261129, 999}, PURPOSE_CANDIDATE, 2},
};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* Nothing is written beyond `count` rounded up to whole chunks. */
static void assert_guarded(const uint32_t *out, uint32_t count) {
    for (uint32_t i = (count + CHUNK - 1) / CHUNK * CHUNK; i < MOST + GUARD; i++)
        assert_int_equal(out[i], UNTOUCHED);
}

static void fill(uint32_t *out) {
    for (uint32_t i = 0; i < MOST + GUARD; i++)
        out[i] = UNTOUCHED;
}

static void test_words(void **state) {
    uint32_t out[MOST + GUARD];
    (void)state;
    for (unsigned s = 0; s < LENGTH(sets); s++)
        for (unsigned f = 0; f < LENGTH(firsts); f++)
            for (unsigned c = 0; c < LENGTH(counts); c++) {
                const struct words w = sets[s];
                fill(out);
                draw_words(w, firsts[f], counts[c], out);
                for (uint32_t i = 0; i < counts[c]; i++)
                    assert_int_equal(out[i], rng_word(w.stream, w.purpose, w.lane, firsts[f] + i));
                assert_guarded(out, counts[c]);
            }
}

/* From no rejection at all to one word in two. */
static void test_below(void **state) {
    static const uint32_t ranges[] = {
        1,          2,        3,          1000,       1u << 16,  0x7fffffff, 1u << 31, 1u << 31 | 1,
        0xaaaaaaaa, 3u << 30, 0xfffffffe, 0xffffffff, 1431655766};
    uint32_t out[MOST + GUARD];
    uint64_t rejected = 0;
    (void)state;
    for (unsigned s = 0; s < LENGTH(sets); s++)
        for (unsigned f = 0; f < LENGTH(firsts); f++)
            for (unsigned r = 0; r < LENGTH(ranges); r++) {
                const struct words w = sets[s];
                const uint32_t n = ranges[r], count = counts[(s + f + r) % LENGTH(counts)];
                fill(out);
                draw_below(w, firsts[f], count, n, out);
                for (uint32_t i = 0; i < count; i++) {
                    const uint64_t at = firsts[f] + i;
                    assert_int_equal(out[i], rng_below(w.stream, w.purpose, w.lane, at, n));
                    rejected += (uint32_t)(rng_word(w.stream, w.purpose, w.lane, at) * n) <
                                (uint32_t)-n % n;
                }
                assert_guarded(out, count);
            }
    assert_true(rejected > 10000);
}

static void test_abreast(void **state) {
    static const uint64_t draws[] = {0,
                                     1,
                                     15,
                                     16,
                                     17,
                                     99999,
                                     0xffffffff,
                                     (uint64_t)1 << 32,
                                     (uint64_t)0xabcd << 32 | 0x12345678,
                                     ((uint64_t)1 << 48) - 1};
    uint32_t out[64 + GUARD];
    (void)state;
    for (unsigned s = 0; s < LENGTH(sets); s++)
        for (unsigned d = 0; d < LENGTH(draws); d++) {
            struct words w = sets[s];
            w.stream.replication &= 0xfffffff0 - 1; /* sixteen of them exist */
            w.purpose = PURPOSE_OCCUPANCY;
            for (unsigned i = 0; i < 64 + GUARD; i++)
                out[i] = UNTOUCHED;
            draw_abreast(w, draws[d], out);
            for (uint32_t j = 0; j < 16; j++) {
                const struct stream t = {w.stream.key, w.stream.replication + j};
                const philox4x32_ctr_t r = rng_block(t, w.purpose, w.lane, draws[d]);
                for (unsigned q = 0; q < 4; q++)
                    assert_int_equal(out[16 * q + j], r.v[q]);
            }
            for (unsigned i = 64; i < 64 + GUARD; i++)
                assert_int_equal(out[i], UNTOUCHED);
        }
}

static __attribute__((noinline)) int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_abreast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
        return 77;
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return 77;
#endif
#endif
    return run_all();
}
