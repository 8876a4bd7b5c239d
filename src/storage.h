/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory that is given piece by piece and taken back all at once. */
#ifndef POTLUCK_STORAGE_H
#define POTLUCK_STORAGE_H

#include <stddef.h>

struct storage;

struct storage *storage_new(void);
/* Zeroed, aligned for any type; never NULL. */
void *storage_get(struct storage *s, size_t count, size_t size);
/* A copy of `length` bytes, with a NUL after them. */
char *storage_text(struct storage *s, const char *text, size_t length);
void storage_free(struct storage *s);

#endif
