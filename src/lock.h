/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One writer for a result file: OUT.h5.lock, which the system releases when its holder dies. */
#ifndef POTLUCK_LOCK_H
#define POTLUCK_LOCK_H

#include "fail.h"

/* Takes the lock of `path`, or says who holds it. */
bool lock_take(const char *path, struct reason *why);
void lock_release(void);

#endif
