/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `potluck run`: one job from its file to its results, on all ranks. */
#ifndef POTLUCK_RUN_H
#define POTLUCK_RUN_H

#include "job.h"
#include "options.h"

/* Whether this process is the one that speaks: the first rank of a launcher, or alone. */
bool run_is_first(void);
/* How options want a job to be read. */
struct reading run_reading(const struct options *options);
/* Threads a rank will use. */
unsigned run_threads(const struct options *options);
/* The first line in which two texts of jobs differ, for people. */
void run_difference(const char *mine, const char *theirs, struct reason *why);
/* Returns the exit code. */
int run(int *argc, char ***argv, const struct options *options, const struct catalogue *models);

#endif
