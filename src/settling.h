/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * After a run: whether what counted was in equilibrium. A run that begins empty is biased by the
 * same amount in every replication, so that with many of them the interval shrinks below the bias. */
#ifndef POTLUCK_SETTLING_H
#define POTLUCK_SETTLING_H

#include "store.h"

/* What the path of a point says about its mean. */
struct settling {
    bool tested; /* there are steps and replications enough */
    double bias; /* of the mean of model->followed, by its first steps that differ from the later
                    half of what counted by more than noise; 0: none do */
    double half; /* half width of the 95 % interval of the mean */
};

/* `level`: probability of a bias other than 0 at a point in equilibrium, at most. */
struct settling settling_of(const struct store *s, uint64_t point, double level);
/* One sentence about the points whose bias is not small against their interval, the worst by name;
 * NULL: none. A file of runs in equilibrium gets one with a probability of 1e-3 at most. The caller
 * frees. */
char *settling_text(const struct store *s);

#endif
