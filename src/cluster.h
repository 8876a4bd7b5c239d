/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several processes as one: the only unit that knows MPI. Two-sided messages only, from one thread
 * of each rank. Without mpirun or srun there is one rank and MPI is never started. */
#ifndef POTLUCK_CLUSTER_H
#define POTLUCK_CLUSTER_H

#include "fail.h"

struct cluster {
    int rank, size;
};

/* Whether this process was started as one of several ranks by a launcher this build can talk to.
 * False with a reason when a batch system started several processes that do not know of each other.
 */
bool cluster_start(int *argc, char ***argv, struct cluster *c, struct reason *why);
/* Whether a launcher started this process. */
bool cluster_launched(void);
/* "Open MPI v4.1.4", or "no MPI" where no launcher started this process. */
const char *cluster_version(void);
void cluster_finish(void);
/* Rank 0's text on every rank: *text is replaced by fresh memory on the others. */
void cluster_share_text(char **text);
void cluster_share_words(uint64_t *words, int count);
/* Rank 0's bytes, any number of them, which all ranks know. */
void cluster_share_bytes(char *bytes, uint64_t length);
/* Sends 64-bit words; naps until the message is gone. */
void cluster_send(int rank, int tag, const uint64_t *words, uint64_t count);
/* Takes a message that has arrived, if any: the caller frees *words. */
bool cluster_receive(int *rank, int *tag, uint64_t **words, uint64_t *count);

#endif
