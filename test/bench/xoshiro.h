/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xoshiro256** 1.0 (Blackman and Vigna, 2018), what the plain loops draw from. */
#ifndef POTLUCK_XOSHIRO_H
#define POTLUCK_XOSHIRO_H

#include <stdint.h>

struct xoshiro {
    uint64_t s[4];
};

static inline uint64_t xoshiro_rotate(uint64_t x, int k) {
    return x << k | x >> (64 - k);
}
static inline uint64_t xoshiro_next(struct xoshiro *x) {
    uint64_t *s = x->s;
    const uint64_t result = xoshiro_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = xoshiro_rotate(s[3], 45);
    return result;
}

#endif
