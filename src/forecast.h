/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a run must be for a wanted precision: facts.forecast put into words for `potluck plan`. */
#ifndef POTLUCK_FORECAST_H
#define POTLUCK_FORECAST_H

#include "job.h"

#include <stdio.h>

/* What is proposed for a point; lengths are in model->length, NAN where nothing is known. */
struct proposal {
    double warmup;
    double counted;      /* in all replications together */
    double horizon;      /* in each of the job's replications; not shorter than the warm-up, which
                            would cost more than what counts */
    double replications; /* that the horizon as written takes instead */
    double half;         /* relative half width of the 95 % interval of the job as written */
};

/* The relative precision that the job wants of model->followed: that of its stopping rule, of
 * another row where the rule names no such, 1 % without. */
double forecast_wanted(const struct job *job);
struct proposal forecast_proposal(const struct job *job, uint64_t point, double precision);
/* Each point, or the range and the dearest of many; nothing for models without forecasts. */
void forecast_print(const struct job *job, FILE *out);

#endif
