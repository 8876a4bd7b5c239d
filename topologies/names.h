/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names numbered in order of first appearance: a hash table of pieces of a text, which must outlive
 * it. Zero-initialise. */
#ifndef POTLUCK_NAMES_H
#define POTLUCK_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct names {
    uint64_t mask; /* of the slots, at most half of them full */
    struct name_slot {
        uint32_t hash;
        uint32_t next; /* 1 + number of the name; 0: free */
    } * slot;
    struct name {
        const char *text;
        uint32_t length;
    } * name; /* [n] */
    uint32_t n, room;
};

/* The number of a name, which is added when it is new; NAME_NONE when there are 2^31 - 1 others. */
uint32_t names_add(struct names *t, const char *text, uint32_t length);
/* The number of a name, or NAME_NONE. */
uint32_t names_find(const struct names *t, const char *text, uint32_t length);
void names_free(struct names *t);

#endif
