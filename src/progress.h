/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a waiting person sees: one live line on a terminal, now and then a plain line in a log. */
#ifndef POTLUCK_PROGRESS_H
#define POTLUCK_PROGRESS_H

#include "options.h"
#include "schedule.h"

struct progress;

/* AUTO looks for a terminal behind stderr; under mpirun, which puts a pipe there, behind mpirun's
 * stderr. */
struct progress *progress_new(enum progress_kind kind, uint64_t n_points, unsigned players);
/* Shows the state if it is time to; `seconds` since the start. */
void progress_show(struct progress *p, const struct outlook *o, double seconds);
/* Ends the live line; `o` NULL: with nothing to say. */
void progress_end(struct progress *p, const struct outlook *o, double seconds);
/* "3 h 5 min", "12 s" for people, into buffer. */
const char *duration_text(double seconds, char *buffer, size_t size);

#endif
