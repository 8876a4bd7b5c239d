/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that are written all or nothing, and end in a checksum of all that stands before it, so
 * that a file that was cut short, damaged or changed is recognised before anything is made of it.
 */
#ifndef POTLUCK_WHOLEFILE_H
#define POTLUCK_WHOLEFILE_H

#include "fail.h"

enum { SEAL_SIZE = 32 };

/* Writes the seal of the first `size` bytes behind them; `data` has room for SEAL_SIZE more. */
void wholefile_seal(void *data, size_t size);
/* Writes a temporary file in the folder of `path`, fsyncs and renames it. Returns false with the
 * reason; the temporary file is then gone and whatever was at `path` untouched. */
bool wholefile_write(const char *path, const void *data, size_t size, struct reason *why);
/* Removes what a killed run may have left of a file that it was writing; 1 when there was one, 0
 * when not, -1 with the reason when something is there that cannot be removed. */
int wholefile_sweep(const char *path, struct reason *why);
/* The bytes of a sealed HDF5 file without the seal; NULL with the reason. The caller frees. */
void *wholefile_read(const char *path, size_t *size, struct reason *why);

#endif
