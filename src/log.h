/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * OUT.h5.log: what must not be in the result file because it differs from run to run: when, where,
 * how fast. */
#ifndef POTLUCK_LOG_H
#define POTLUCK_LOG_H

#include "conductor.h"

const char *log_revision(void);
/* Appends the start of a run and, on stderr, what the user should know about seed, cores and
 * threads. */
void log_begin(const struct options *o, const struct job *job, const struct cluster *cluster,
               unsigned threads);
/* Appends a sentence about the results. */
void log_remark(const struct options *o, const char *sentence);
void log_end(const struct options *o, const struct job *job, const struct account *account);

#endif
