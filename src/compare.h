/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every point of a store against its baseline. */
#ifndef POTLUCK_COMPARE_H
#define POTLUCK_COMPARE_H

#include "store.h"

struct comparisons {
    struct variation *laws;  /* [point]; NULL: the model compares no law */
    struct reduction *costs; /* [point]; NULL: the model has no cost */
};

/* NaN where a point has no baseline, or nothing is complete. */
struct comparisons compare_with_baseline(const struct store *s);
void comparisons_free(struct comparisons *c);

/* The batches of a point's histogram in `width` bins; `counts` has room for BATCHES * width. */
struct batches batches_at(const struct store *s, uint64_t point, unsigned histogram, uint64_t width,
                          uint64_t *counts);
/* Bins up to the last one that is not zero, which does not depend on how ranges were cut. */
uint64_t filled_bins(const struct counts *c, unsigned batches);

#endif
