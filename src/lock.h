/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One writer for a result file. OUT.h5.lock says who writes; the system's own lock on it goes when
 * its holder dies. Some shared file systems keep such locks on one node only, so the holder also
 * touches the file, and a lock of another node is stale only when nobody does. */
#ifndef POTLUCK_LOCK_H
#define POTLUCK_LOCK_H

#include "fail.h"

/* Takes the lock of `path`, or says who holds it. May watch a lock of another node for a minute,
 * and says so on stderr. *stale, to be freed, tells of a run that died here; NULL: none did. */
bool lock_take(const char *path, char **stale, struct reason *why);
/* Who writes `path` now; NULL: nobody that can be seen from here. The caller frees. */
char *lock_holder(const char *path);
/* To be called now and then: touches the file every few seconds. */
void lock_touch(void);
void lock_release(void);

#endif
