/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MPI. No one-sided communication: Debian's Open MPI has no component for it between hosts. No
 * blocking waits: those spin at full load beside threads that compute. */
#include "cluster.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool started;

/* Open MPI's mpirun and srun --mpi=pmix leave these in the environment. */
bool cluster_launched(void) {
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

static void nap(long microseconds) {
    nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
}

static void abort_all(int code) {
    if (started) {
        nap(300000); /* mpirun drops what it has not passed on yet, and a sentence has just been said */
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    _Exit(code);
}

bool cluster_start(int *argc, char ***argv, struct cluster *c, struct reason *why) {
    *c = (struct cluster){0, 1};
    if (cluster_launched()) {
        int provided = 0;
        /* A parcel has some 10 kB. Within a node Open MPI would fetch that by a system call, which
         * costs rank 0 more than all else; smaller messages it copies through shared memory. */
        setenv("OMPI_MCA_btl_vader_eager_limit", "32768", 0);
        if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
            provided < MPI_THREAD_FUNNELED)
            return refuse(why, "MPI cannot be started with threads");
        started = true;
        on_failure(abort_all);
        MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    }
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    if (c->size == 1 && tasks && atoi(tasks) > 1)
        return refuse(why,
                      "srun started %s processes that do not know of each other; use srun "
                      "--mpi=pmix, or mpirun",
                      tasks);
    return true;
}

const char *cluster_version(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (!started)
        return "no MPI";
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0'; /* the builder's name and more follow */
    return text;
}

void cluster_finish(void) {
    if (started)
        MPI_Finalize();
    started = false;
}

void cluster_share_words(uint64_t *words, int count) {
    if (started)
        MPI_Bcast(words, count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

void cluster_share_bytes(char *bytes, uint64_t length) {
    const uint64_t most = (uint64_t)1 << 30; /* MPI counts with an int */
    for (uint64_t done = 0; started && done < length; done += most) {
        const uint64_t part = length - done < most ? length - done : most;
        MPI_Bcast(bytes + done, (int)part, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
}

void cluster_share_text(char **text) {
    int rank = 0;
    if (!started)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t length = rank == 0 ? strlen(*text) : 0;
    cluster_share_words(&length, 1);
    if (rank != 0)
        *text = allocate(length + 1, 1);
    cluster_share_bytes(*text, length);
}

void cluster_send(int rank, int tag, const uint64_t *words, uint64_t count) {
    MPI_Request request;
    int gone = 0;
    if (!started)
        return;
    CHECK(count <= INT32_MAX);
    MPI_Isend(words, (int)count, MPI_UINT64_T, rank, tag, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &gone, MPI_STATUS_IGNORE);
    while (!gone) {
        nap(200);
        MPI_Test(&request, &gone, MPI_STATUS_IGNORE);
    }
}

bool cluster_receive(int *rank, int *tag, uint64_t **words, uint64_t *count) {
    MPI_Status status;
    int arrived = 0, size = 0;
    if (!started)
        return false;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (!arrived)
        return false;
    MPI_Get_count(&status, MPI_UINT64_T, &size);
    *words = reallocate(NULL, (uint64_t)size + 1, sizeof **words); /* not zeroed */
    (*words)[size] = 0;                                            /* ends a text */
    MPI_Recv(*words, size, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    *rank = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *count = (uint64_t)size;
    return true;
}
