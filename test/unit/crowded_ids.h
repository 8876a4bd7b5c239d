/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random numbers of the tests of rings, and identifiers that crowd. */
#ifndef POTLUCK_CROWDED_IDS_H
#define POTLUCK_CROWDED_IDS_H

#include <stdint.h>

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du;
}
static inline uint64_t random_below(uint64_t n) {
    return random_number() % n;
}

/* Identifiers: anywhere, in a few dense heaps, at both ends. */
static inline uint64_t some_id(unsigned kind) {
    switch (kind) {
    case 0:
        return random_number();
    case 1:
        return (random_below(5) << 62) + random_below(4000);
    case 2:
        return random_below(2) ? random_below(50) : UINT64_MAX - random_below(50);
    default:
        return random_below(3000);
    }
}

#endif
