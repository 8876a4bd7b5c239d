/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words are those of Random123, addressed as rng.h says, and ranges are exact. */
#include "rng.h"

#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COMPARISONS = 16 };
static const double TAIL = 1e-4 / COMPARISONS;
static unsigned compared;

static void assert_likely(double tail) {
    compared++;
    assert_true(compared <= COMPARISONS);
    assert_true(tail > TAIL);
}

/* Random123's kat_vectors, "philox4x32 10". */
static void test_known_answers(void **state) {
    static const struct {
        philox4x32_ctr_t counter;
        philox4x32_key_t key;
        uint32_t answer[4];
    } known[] = {
        {{{0, 0, 0, 0}}, {{0, 0}}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         {{0xffffffff, 0xffffffff}},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {{0xa4093822, 0x299f31d0}},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        const philox4x32_ctr_t r = philox4x32(known[i].counter, known[i].key);
        assert_memory_equal(r.v, known[i].answer, sizeof known[i].answer);
    }
}

/* The same vectors through rng_block: which bits go where. The first word of the last vector has
 * purpose 0x85a3 and draw 0x08d3 << 32 | 0x243f6a88. */
static void test_addresses(void **state) {
    static const uint32_t answer[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    const struct stream s = {0x299f31d0a4093822u, 0x13198a2e};
    const uint64_t draw = (uint64_t)0x08d3 << 32 | 0x243f6a88;
    (void)state;
    const philox4x32_ctr_t r = rng_block(s, (enum purpose)0x85a3, 0x03707344, draw);
    assert_memory_equal(r.v, answer, sizeof answer);
    /* Sixty-four consecutive words are sixteen draws, output after output. */
    const struct stream t = {77, 5};
    const uint64_t starts[] = {0, 64, 6400, (uint64_t)1 << 34, ((uint64_t)1 << 50) - 64};
    for (unsigned k = 0; k < sizeof starts / sizeof *starts; k++)
        for (uint64_t j = 0; j < 64; j++) {
            const philox4x32_ctr_t b = rng_block(t, PURPOSE_TIE, 3, starts[k] / 64 * 16 + j % 16);
            assert_int_equal(rng_word(t, PURPOSE_TIE, 3, starts[k] + j), b.v[j / 16]);
        }
}

/* Different addresses give different words: any coordinate that was ignored would repeat some. */
static void test_every_coordinate_counts(void **state) {
    const struct stream base = {0x0123456789abcdefu, 9};
    const uint32_t word = rng_word(base, PURPOSE_ORIGIN, 0, 1000);
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const struct stream s = {base.key ^ (uint64_t)1 << bit, base.replication};
        assert_int_not_equal(word, rng_word(s, PURPOSE_ORIGIN, 0, 1000));
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        const struct stream s = {base.key, base.replication ^ (uint32_t)1 << bit};
        assert_int_not_equal(word, rng_word(s, PURPOSE_ORIGIN, 0, 1000));
        assert_int_not_equal(word, rng_word(base, PURPOSE_ORIGIN, (uint32_t)1 << bit, 1000));
    }
    for (unsigned bit = 0; bit < 50; bit++)
        assert_int_not_equal(word, rng_word(base, PURPOSE_ORIGIN, 0, 1000 ^ (uint64_t)1 << bit));
    for (int p = PURPOSE_CANDIDATE; p <= PURPOSE_BORDER; p++)
        assert_int_not_equal(word, rng_word(base, (enum purpose)p, 0, 1000));
}

/* Lemire's method accepts exactly floor(2^32 / n) words for each result, for any n. */
static void test_below_exact(void **state) {
    static const uint32_t ranges[] = {1,          2,           3,           5,        7,
                                      641,        1000,        65535,       65536,    65537,
                                      0x7fffffff, 0x80000000u, 0xaaaaaaaa,  3u << 30, 0xfffffffe,
                                      0xffffffff, 715827883u,  1u << 31 | 1};
    const struct stream s = {1, 2};
    (void)state;
    for (unsigned k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const uint32_t n = ranges[k];
        const uint64_t whole = ((uint64_t)1 << 32) / n;
        const uint32_t results[] = {0, 1, n / 3, n / 2, n - 2, n - 1};
        for (unsigned j = 0; j < sizeof results / sizeof *results; j++) {
            const uint64_t r = results[j];
            if (r >= n)
                continue;
            /* The words whose product falls on r, and those of them that are kept. */
            const uint64_t from = ((r << 32) + n - 1) / n, end = (((r + 1) << 32) + n - 1) / n;
            const uint32_t reject = (uint32_t)(((uint64_t)1 << 32) % n);
            uint64_t kept = end - from;
            kept -= (uint32_t)(from * n) < reject; /* only the first can be below the remainder */
            assert_int_equal(kept, whole);
            const uint32_t last = (uint32_t)(end - 1);
            assert_int_equal(rng_below_from(s, PURPOSE_ORIGIN, 0, 0, last, n), r);
            if ((uint32_t)(from * n) >= reject)
                assert_int_equal(rng_below_from(s, PURPOSE_ORIGIN, 0, 0, (uint32_t)from, n), r);
        }
    }
}

/* A rejected word is replaced by RETRY words at the same index, attempt after attempt. */
static void test_below_retries(void **state) {
    const struct stream s = {42, 7};
    const uint32_t n = 3u << 30, reject = (uint32_t)-n % n;
    unsigned most = 0;
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t word = rng_word(s, PURPOSE_CANDIDATE, 5, i);
        unsigned attempts = 0;
        for (; (uint32_t)((uint64_t)word * n) < reject; attempts++)
            word = rng_word(s, PURPOSE_RETRY, 2u << 14 | 5u << 8 | attempts, i);
        most = attempts > most ? attempts : most;
        assert_int_equal(rng_below(s, PURPOSE_CANDIDATE, 5, i, n), (uint64_t)word * n >> 32);
    }
    assert_true(most >= 4);
}

static void test_below_uniform(void **state) {
    static const uint32_t ranges[] = {2,          3,           10,       97,         0x7fffffff,
                                      0x80000001, 0xaaaaaaaau, 3u << 30, 0xffffffffu};
    enum { CELLS = 60, DRAWS = 120000 };
    (void)state;
    for (unsigned k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const uint32_t n = ranges[k], cells = n < CELLS ? n : CELLS;
        const struct stream s = {2026, k};
        uint64_t seen[CELLS] = {0};
        double expected[CELLS];
        for (uint64_t i = 0; i < DRAWS; i++) {
            const uint32_t x = rng_below(s, PURPOSE_ORIGIN, 0, i, n);
            assert_true(x < n);
            seen[(uint64_t)x * cells / n]++;
        }
        for (uint64_t c = 0; c < cells; c++) {
            const uint64_t from = (c * n + cells - 1) / cells,
                           end = ((c + 1) * n + cells - 1) / cells;
            expected[c] = (double)DRAWS * (double)(end - from) / n;
        }
        assert_likely(fit_tail(seen, expected, cells));
    }
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(rng_below((struct stream){3, 4}, PURPOSE_ORIGIN, 0, i, 1), 0);
}

static unsigned bits_apart(uint64_t a, uint64_t b) {
    return (unsigned)__builtin_popcountll(a ^ b);
}

/* Every bit of the seed and every character changes about half of the key. */
static void test_key(void **state) {
    char text[] = "torus: {sides: [100, 100]}";
    const uint64_t key = rng_key(20261129, text);
    double total = 0;
    unsigned changes = 0;
    (void)state;
    assert_int_equal(key, rng_key(20261129, text));
    for (unsigned bit = 0; bit < 64; bit++, changes++) {
        const unsigned apart = bits_apart(key, rng_key(20261129 ^ (uint64_t)1 << bit, text));
        assert_in_range(apart, 12, 52);
        total += apart;
    }
    for (size_t i = 0; i < strlen(text); i++)
        for (unsigned bit = 0; bit < 7; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            if (text[i]) {
                const unsigned apart = bits_apart(key, rng_key(20261129, text));
                assert_in_range(apart, 12, 52);
                total += apart;
                changes++;
            }
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    /* The mean of `changes` sums of 64 fair bits: standard deviation 4 / sqrt(changes). */
    assert_true(fabs(total / changes - 32) < 4 * 5 / sqrt(changes));
    assert_int_not_equal(rng_key(1, ""), rng_key(1, " "));
    assert_int_not_equal(rng_key(1, "ab"), rng_key(1, "ba"));
    assert_int_not_equal(rng_key(0, "a"), rng_key((uint64_t)1 << 32, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_every_coordinate_counts),
        cmocka_unit_test(test_below_exact),
        cmocka_unit_test(test_below_retries),
        cmocka_unit_test(test_below_uniform),
        cmocka_unit_test(test_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
