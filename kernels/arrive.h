/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Spaces of points: the servers that points belong to. */
#ifndef POTLUCK_ARRIVE_H
#define POTLUCK_ARRIVE_H

#include "sampler.h"
#include "sites.h"

/* server[i] = the nearest server of a point given by two words, on the circle the owner of the next
 * position (sites.h). `server` may be one of the words' arrays. */
void ISA(arrive_servers)(const struct sampler *s, const uint32_t *const word[2], uint32_t size,
                         uint32_t *server);
/* Nanoseconds to find the `count` nearest servers of a point of a space that is described. */
double ISA(arrive_nanoseconds)(const struct space *space, uint64_t count);
/* How they are found, for people. */
const char *ISA(arrive_how)(const struct space *space);

/* The position of a point on the circle. */
static inline uint64_t circle_point(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

#endif
