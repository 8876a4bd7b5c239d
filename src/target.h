/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a result can go where it is to go, said before any work. */
#ifndef POTLUCK_TARGET_H
#define POTLUCK_TARGET_H

#include "fail.h"

/* Something is at `path`, a dangling link included. */
bool target_exists(const char *path);
/* How a sentence about a failure ends: what is left of the results. */
const char *target_state(const char *path);
/* The folder can take a new file, and what is there now is a file. Complains otherwise. */
bool target_writable(const char *path, struct complaints *complaints);
/* Complains about a result that was not meant to be replaced. */
bool target_free(const char *path, bool force, const char *ways, struct complaints *complaints);
/* Makes the target this run's own: its lock, what a dead run left of it, and once more whether it is
 * free. *died is a sentence about a run that died here, to be freed; NULL: none did. False after
 * complaining. lock_release() gives it back. */
bool target_take(const char *path, bool force, const char *ways, char **died,
                 struct complaints *complaints);

#endif
