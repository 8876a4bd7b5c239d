/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bins of loads and hops: exact to 4095, then sixteen equal bins to each doubling (relative width
 * at most 1/16). */
#ifndef POTLUCK_BINS_H
#define POTLUCK_BINS_H

#include <stdint.h>
#include <string.h>

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

/* Coarse bins: 0, 1, 2, 3, then two equal ones to each doubling. */
static inline uint64_t coarse_bin_of(uint64_t x) {
    if (x < 4)
        return x;
    const unsigned e = 63u - (unsigned)__builtin_clzll(x);
    return 2 * (uint64_t)e + (x >> (e - 1) & 1);
}
static inline uint64_t coarse_bin_lower(uint64_t bin) {
    if (bin < 4)
        return bin;
    return ((uint64_t)2 + (bin & 1)) << (bin / 2 - 1);
}
static inline uint64_t coarse_bin_upper(uint64_t bin) {
    return coarse_bin_lower(bin + 1) - 1;
}

/* Lengths, in bins of relative width 1/16 at most: bin 0 is below 2^-32, the others are sixteen equal
 * ones to each doubling up to 2. */
enum { LENGTH_DOUBLINGS = 33, LENGTH_BINS = 1 + 16 * LENGTH_DOUBLINGS };
static inline double length_bin_lower(uint64_t bin) {
    if (bin == 0)
        return 0;
    const uint64_t e = (bin - 1) / 16, part = (bin - 1) % 16;
    return (double)((uint64_t)1 << e) * (1 + (double)part / 16) * 0x1p-32;
}
static inline uint64_t length_bin_of(double length) {
    const double x = length * 0x1p36; /* at least 16 from bin 1 on */
    if (x < 16)
        return 0;
    const uint64_t whole = (uint64_t)x;
    const unsigned e = 63u - (unsigned)__builtin_clzll(whole);
    const uint64_t bin = 1 + (uint64_t)(e - 4) * 16 + (whole >> (e - 4) & 15);
    return bin < LENGTH_BINS ? bin : LENGTH_BINS - 1;
}

/* Times: bin 0 is below 2^-32, then come 2^log equal ones to each doubling (relative width at most
 * 1/2^log), and the last begins at 2^32. */
enum { TIME_DOUBLINGS = 64, TIME_LOG = 4, TIME_BINS = 2 + (TIME_DOUBLINGS << TIME_LOG) };
static inline uint64_t time_bin_at(double time, unsigned log) {
    const uint64_t least = (uint64_t)(1023 - TIME_DOUBLINGS / 2) << log;
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    bits >>= 52 - log;
    const uint64_t bin = bits < least ? 0 : bits - least + 1,
                   most = 1 + ((uint64_t)TIME_DOUBLINGS << log);
    return bin < most ? bin : most;
}
static inline double time_bin_begin(uint64_t bin, unsigned log) {
    const uint64_t bits = (((uint64_t)(1023 - TIME_DOUBLINGS / 2) << log) + bin - 1) << (52 - log);
    double time;
    memcpy(&time, &bits, sizeof time);
    return bin ? time : 0;
}
static inline double time_bin_lower(uint64_t bin) {
    return time_bin_begin(bin, TIME_LOG);
}

/* Capacities: below 1, then one bin to each doubling. */
static inline double capacity_bin_lower(uint64_t bin) {
    return bin ? (double)((uint64_t)1 << (bin - 1)) : 0;
}

#endif
