/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The outcome of a played range on its way to rank 0: memory for a kernel to fill, and one flat
 * message. */
#ifndef POTLUCK_PARCEL_H
#define POTLUCK_PARCEL_H

#include "schedule.h"

struct parcel {
    struct range range;   /* what was asked for; outcome.count tells what was played */
    uint64_t nanoseconds; /* in the kernel */
    bool more;            /* the rest of the range comes in another parcel */
    struct outcome outcome;
    struct moments sums[ROWS_MAX];
    void *memory; /* owns what outcome points to */
};

/* Zeroed memory for a range of a point; none for histograms that do not apply to it. */
struct parcel *parcel_new(const struct job *job, const struct range *range);
/* Zeroes the histograms: the range starts again. */
void parcel_restart(const struct job *job, struct parcel *p);
void parcel_free(struct parcel *p);
/* Flat form of a parcel, `words` 64-bit words; the caller frees. */
uint64_t *parcel_pack(const struct job *job, const struct parcel *p, uint64_t *words);
/* A parcel of a message; it takes over the message's memory. */
struct parcel *parcel_unpack(const struct job *job, uint64_t *message);

#endif
