/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The batch system around a run: the only unit that knows Slurm. */
#ifndef POTLUCK_BATCH_H
#define POTLUCK_BATCH_H

#include "fail.h"

/* "Slurm job 12, array 9, task 3, restart 1, nodes n[1-4]"; NULL outside a batch job. The caller
 * frees. */
char *batch_text(void);
/* "Slurm job 12", the same after a requeue, and how often it was requeued; NULL and 0 outside a batch
 * job. The caller frees. */
char *batch_job(unsigned *restarts);
/* Seconds that are left to the batch job; infinite where there is no limit or no batch job. False
 * with the reason when the batch system does not say. */
bool batch_time_left(double *seconds, struct reason *why);
/* Of those, what a run may use: the rest is for saving. */
double batch_usable(double seconds);

#endif
