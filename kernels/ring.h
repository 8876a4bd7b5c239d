/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An ordered set of identifiers, each with a virtual server: blocks of sorted identifiers, and the
 * blocks in order. Searches and changes take about 100 ns at 10^6 members. */
#ifndef POTLUCK_RING_H
#define POTLUCK_RING_H

#include "isa.h"

#include <stdbool.h>
#include <stdint.h>

enum { RING_BLOCK = 256 }; /* members of a block, at most */

struct ring_block {
    uint64_t id[RING_BLOCK]; /* rising */
    uint32_t server[RING_BLOCK];
    uint32_t n; /* 1 at least, unless the ring is empty */
};

struct ring {
    struct ring_block *block; /* [n_blocks of room] in no order */
    uint32_t *order;          /* [n_blocks] the blocks in order of identifiers */
    uint64_t *first; /* [n_blocks] the first identifier of each, in order; that of the first counts
                                 as 0 */
    uint32_t *spare; /* [n_spare] blocks not in use */
    uint32_t n_blocks, n_spare, room;
    uint64_t n; /* members */
};

/* Bytes for as many members, and an empty ring in that memory, 64-byte aligned. */
uint64_t ISA(ring_bytes)(uint64_t members);
void ISA(ring_begin)(struct ring *r, void *memory, uint64_t members);
/* Adds a member, unless its identifier is taken: false. */
bool ISA(ring_insert)(struct ring *r, uint64_t id, uint32_t server);
/* Takes away the member at an identifier, which must be there. */
void ISA(ring_remove)(struct ring *r, uint64_t id);
/* All members in order. */
void ISA(ring_flatten)(const struct ring *r, uint64_t *id, uint32_t *server);

/* The block, in order, where an identifier belongs. */
static inline uint32_t ring_block_of(const struct ring *r, uint64_t id) {
    uint32_t low = 0, n = r->n_blocks;
    while (n > 1) {
        const uint32_t half = n / 2;
        low = r->first[low + half] <= id ? low + half : low;
        n -= half;
    }
    return low;
}
/* How many members of a block are below an identifier. */
static inline uint32_t ring_below(const struct ring_block *b, uint64_t id) {
    uint32_t low = 0, n = b->n;
    while (n > 0) {
        const uint32_t half = n / 2, middle = low + half;
        const bool less = b->id[middle] < id;
        low = less ? middle + 1 : low;
        n = less ? n - half - 1 : half;
    }
    return low;
}
/* The member at or after an identifier, around the ring, which is not empty. */
static inline uint32_t ring_at_or_after(const struct ring *r, uint64_t id) {
    const uint32_t i = ring_block_of(r, id);
    const struct ring_block *b = &r->block[r->order[i]];
    const uint32_t at = ring_below(b, id);
    if (at < b->n)
        return b->server[at];
    return r->block[r->order[i + 1 < r->n_blocks ? i + 1 : 0]].server[0];
}

#endif
