/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bins of loads and hops: exact to 4095, then sixteen equal bins to each doubling (relative width
 * at most 1/16). */
#ifndef POTLUCK_BINS_H
#define POTLUCK_BINS_H

#include <stdint.h>

enum { BINS_EXACT = 4096, BINS_PER_DOUBLING = 16 };

/* Histograms whose spread matters are kept for each replication modulo this. */
enum { BATCHES = 50 };

/* The bin of x. */
static inline uint64_t bin_of(uint64_t x) {
    if (x < BINS_EXACT)
        return x;
    const unsigned e = 63u - (unsigned)__builtin_clzll(x); /* x in [2^e, 2^(e+1)), e >= 12 */
    return BINS_EXACT + (uint64_t)(e - 12) * BINS_PER_DOUBLING + ((x >> (e - 4)) & 15);
}

/* The smallest x of a bin. */
static inline uint64_t bin_lower(uint64_t bin) {
    if (bin < BINS_EXACT)
        return bin;
    const uint64_t e = 12 + (bin - BINS_EXACT) / BINS_PER_DOUBLING,
                   part = (bin - BINS_EXACT) % BINS_PER_DOUBLING;
    return (uint64_t)1 << e | part << (e - 4);
}

/* The largest x of a bin. */
static inline uint64_t bin_upper(uint64_t bin) {
    return bin_lower(bin + 1) - 1;
}

#endif
