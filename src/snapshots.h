/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When the result file is brought up to date. All writing together stays under one per cent of the
 * run, the file at the end included, unless that alone takes more. */
#ifndef POTLUCK_SNAPSHOTS_H
#define POTLUCK_SNAPSHOTS_H

#include "options.h"
#include "store.h"

struct snapshots {
    const struct options *options;
    double start;    /* of the run */
    double cost;     /* seconds that the next is expected to take */
    double writing;  /* seconds that all have taken */
    double next;     /* not before */
    uint64_t number; /* written by this run */
};

/* `bytes`: what the file is expected to have. */
void snapshots_begin(struct snapshots *s, const struct options *options, double now,
                     uint64_t bytes);
/* Writes the file of the store as it is, and says so in the log. Ends the program when the world
 * does not let it; the file before is intact then. */
void snapshots_write(struct snapshots *s, const struct store *store);

/* Seconds of the monotonic clock. */
double clock_now(void);

#endif
