/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a run will need, known before it begins. */
#ifndef POTLUCK_PLAN_H
#define POTLUCK_PLAN_H

#include "job.h"
#include "options.h"

/* Bytes of the rank that needs most (the first), and time. */
struct plan {
    uint64_t program;  /* code, libraries, MPI */
    uint64_t tables;   /* shared by the threads of a rank */
    uint64_t making;   /* more of them while they are made */
    uint64_t thread;   /* workspace of one thread */
    uint64_t gathered; /* results in memory, on rank 0 */
    uint64_t file;     /* of the result file */
    uint64_t total;
    double nanoseconds; /* of play, all points together */
};

/* `mpi`: adds what MPI takes. Snapshots come every `checkpoint` seconds. */
struct plan plan_job(const struct job *job, unsigned threads, bool mpi, double checkpoint);
/* Complains about points whose tables do not fit in `memory`. */
bool plan_fits(const struct job *job, uint64_t memory, struct complaints *complaints);
/* `potluck plan`: points, work, memory, samplers, time. */
void plan_print(const struct job *job, const struct options *options, unsigned threads);

#endif
