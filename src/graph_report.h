/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `potluck graph`: what the topologies of a job are like. */
#ifndef POTLUCK_GRAPH_REPORT_H
#define POTLUCK_GRAPH_REPORT_H

#include "job.h"
#include "options.h"

#include <stdio.h>

/* Describes each distinct topology of the job, or that of the point options->only_point with the
 * graph of its replication, on `out`, and writes it to the file options->write. Complains and
 * returns false when the options do not fit the job or a graph cannot be made. */
bool graph_report(const struct job *job, const struct options *options, FILE *out,
                  struct complaints *complaints);

#endif
