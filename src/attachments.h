/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that a job names, whole, and known by their SHA-256. attachments.c is the only unit that
 * knows libcrypto. */
#ifndef POTLUCK_ATTACHMENTS_H
#define POTLUCK_ATTACHMENTS_H

#include "fail.h"
#include "value.h"

/* The bytes of the file at `path` under the name `name`; NULL with a reason that leaves the name
 * out. */
struct attachment *attachment_read(const char *path, const char *name, struct reason *why);
/* The same from bytes that came another way; takes `name` and `bytes` over. */
struct attachment *attachment_new(char *name, char *bytes, size_t length);
void attachment_free(struct attachment *a);

#endif
