/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies that know neither the state nor the origin of a job: what they share. */
#ifndef POTLUCK_BLINDLY_H
#define POTLUCK_BLINDLY_H

#include "sampler.h"

/* Whether the policy may send job i of the block where it likes. */
static inline bool may_move(const struct block *b, uint32_t i) {
    return !b->stays || !b->stays[i];
}

/* All the jobs that may be moved, spread evenly. */
static inline void route_evenly(const struct value *v, const double *rate, uint32_t n,
                                double *routed) {
    double sum = 0;
    (void)v;
    for (uint32_t i = 0; i < n; i++)
        sum += rate[i];
    for (uint32_t i = 0; i < n; i++)
        routed[i] = sum / n;
}

#endif
