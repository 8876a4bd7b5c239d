/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * OUT.h5.log: what must not be in the result file because it differs from run to run: when, where,
 * with what, how fast. Enough for the methods section of a paper, and to find a slow node. */
#ifndef POTLUCK_LOG_H
#define POTLUCK_LOG_H

#include "conductor.h"

const char *log_revision(void);
/* Appends the start of a run and, on stderr, what the user should know about the seed. */
void log_begin(const struct options *o, const struct job *job, const struct cluster *cluster);
/* Appends a sentence about the run. */
void log_remark(const struct options *o, const char *sentence);
/* The same, also said on stderr. */
void log_say(const struct options *o, const char *sentence);
/* Appends where the ranks are and, also on stderr, whether threads have to share cores. */
void log_seats(const struct options *o, const struct seat *seats, unsigned ranks);
/* Appends that the file was written: `next` is the time until the next at least. */
void log_snapshot(const struct options *o, uint64_t replications, uint64_t bytes, double seconds,
                  double next);
void log_end(const struct options *o, const struct job *job, const struct account *account);

#endif
