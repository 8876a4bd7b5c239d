/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a run will need, known before it begins. */
#ifndef POTLUCK_PLAN_H
#define POTLUCK_PLAN_H

#include "job.h"
#include "options.h"

#include <stdio.h>

/* Bytes of the rank that needs most (the first), and time. */
struct plan {
    uint64_t program;  /* code, libraries, MPI */
    uint64_t tables;   /* shared by the threads of a rank */
    uint64_t making;   /* more of them while they are made */
    uint64_t thread;   /* workspace of one thread */
    uint64_t fresh;    /* what belongs to one replication, of one thread */
    uint64_t gathered; /* results in memory, on rank 0 */
    uint64_t file;     /* of the result file */
    uint64_t total;
    double nanoseconds; /* of play, all points together */
};

/* `mpi`: adds what MPI takes. Snapshots come every `checkpoint` seconds. */
struct plan plan_job(const struct job *job, unsigned threads, bool mpi, double checkpoint);
/* Complains about points whose tables, or whose graphs for all threads of the job's budget, do not
 * fit in `memory`. */
bool plan_fits(const struct job *job, uint64_t memory, struct complaints *complaints);
/* What people should know before a run, each thing once: "potluck: sentence". */
void plan_notes(const struct job *job, FILE *out);
/* `potluck plan`: points, work, memory, samplers, time. */
void plan_print(const struct job *job, const struct options *options, unsigned threads);

#endif
