/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `potluck merge`: result files of one job, each with replications of its own, in one. Sums are
 * exact, so the file is that of one run, byte for byte. */
#ifndef POTLUCK_MERGE_H
#define POTLUCK_MERGE_H

#include "job.h"
#include "options.h"

/* Writes options->output from options->inputs; false after complaining, with nothing written. */
bool merge(const struct options *options, const struct catalogue *models,
           struct complaints *complaints);

#endif
