/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of stretches of time, lines of member from to: when servers are down, when nodes are up. Those of
 * a member stand in order and apart. Built once, without level flags. */
#ifndef POTLUCK_WINDOWS_H
#define POTLUCK_WINDOWS_H

#include "fail.h"
#include "value.h"

/* Of member i, numbers first[i] .. first[i + 1] - 1. */
struct windows {
    uint64_t n, rows;
    uint64_t *first; /* [n + 1] */
    double *from, *to;
};

/* What members are called, and what they are meanwhile, for refusals: "server", "down". */
struct windows_words {
    const char *member, *state, *row;
};

/* Whether a file holds windows of n members; if not, why, as "file:line: ...". */
bool windows_check(struct attachment *file, uint64_t n, const struct windows_words *words,
                   struct reason *why);
/* The windows of a file that was checked. */
void windows_make(struct attachment *file, uint64_t n, struct windows *w);
void windows_free(struct windows *w);
/* Bytes of the arrays. */
uint64_t windows_bytes(struct attachment *file, uint64_t n);

#endif
