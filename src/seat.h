/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where ranks sit: their node, the cores they may use, the threads they play with. A rank that is
 * bound to fewer cores than it has threads is the commonest way to lose most of a machine. */
#ifndef POTLUCK_SEAT_H
#define POTLUCK_SEAT_H

#include "fail.h"

enum { SEAT_CORES = 2048, SEAT_HOST = 64 };

/* Whole words, so that it can be sent as it is. */
struct seat {
    char host[SEAT_HOST];
    uint64_t core[SEAT_CORES / 64]; /* bit i: core i may be used */
    uint64_t threads, process;
};
enum { SEAT_WORDS = sizeof(struct seat) / sizeof(uint64_t) };

/* That of this process. */
struct seat seat_here(unsigned threads);
/* "host n1, process 4711, cores 0-3,8 (5), 4 threads"; the caller frees. */
char *seat_text(const struct seat *s);
/* A sentence about a node whose ranks have more threads than cores together, the worst; NULL: there
 * is none. The caller frees. */
char *seat_crowded(const struct seat *seats, unsigned n);

#endif
