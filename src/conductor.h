/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conducts a run over all ranks: rank 0 hands out ranges, gathers parcels, keeps the result file up
 * to date and decides when to stop; the others pass ranges to their players and parcels back. */
#ifndef POTLUCK_CONDUCTOR_H
#define POTLUCK_CONDUCTOR_H

#include "cluster.h"
#include "options.h"
#include "seat.h"
#include "store.h"

/* When to save and stop. */
struct limit {
    double seconds; /* from the start; 0: never */
    bool hard;      /* the batch system kills soon after: saving takes its time before */
};

/* What one rank did. */
struct share {
    struct seat seat;
    uint64_t replications;
    double kernel;   /* seconds in kernels */
    double expected; /* seconds that the same replications would have taken at the pace of all */
    double heard;    /* when anything came from it, seconds of the monotonic clock */
};

/* How a run went, on rank 0. */
struct account {
    enum exit_code code; /* EXIT_EARLY: stopped by a signal or --max-time, everything saved;
                              EXIT_USER: a point cannot be played */
    char *refusal;       /* EXIT_USER: the sentence that says so, on rank 0; owned */
    int signal;          /* that stopped it, 0: none */
    double wall;         /* seconds from the first range to the last parcel */
    unsigned threads;    /* that played on this rank */
    uint64_t snapshots;
    double writing; /* seconds of writing them */
    uint64_t
        messages; /* that rank 0 took in or sent, its own players' parcels and ranges included */
    double conducting; /* seconds of CPU for that */
    double awake;      /* the same and looking for messages in vain, snapshots apart */
    unsigned ranks;
    struct share *shares; /* [ranks]; owned */
};

/* What rank 0 has to say and to tidy up when the process ends inside conduct_run(). */
struct farewell {
    void (*say)(void *context, const struct account *account);
    void *context;
};

/* Plays the job on all ranks; collective. `store` is NULL except on rank 0. With options->output
 * NULL nothing is written. A rank whose players are stuck in a long replication when the run is
 * stopped early ends here. */
struct account conduct_run(const struct job *job, struct store *store,
                           const struct options *options, const struct limit *limit,
                           const struct cluster *cluster, const struct farewell *farewell);
void account_free(struct account *account);

#endif
