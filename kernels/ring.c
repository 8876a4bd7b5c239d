/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two neighbouring blocks always hold more than FULL together, so there are never many; none is empty
 * unless the ring is. */
#include "ring.h"

#include "fail.h"

#include <string.h>

enum { FULL = RING_BLOCK / 8 * 7 };

static uint32_t blocks_for(uint64_t members) {
    return (uint32_t)(members / (FULL / 2) + 3);
}

static uint64_t rounded(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

uint64_t ISA(ring_bytes)(uint64_t members) {
    const uint64_t blocks = blocks_for(members);
    return rounded(blocks * sizeof(struct ring_block)) + rounded(blocks * sizeof(uint64_t)) +
           2 * rounded(blocks * sizeof(uint32_t));
}

void ISA(ring_begin)(struct ring *r, void *memory, uint64_t members) {
    unsigned char *at = memory;
    *r = (struct ring){.room = blocks_for(members), .n_blocks = 1};
    r->block = (void *)at;
    at += rounded(r->room * sizeof *r->block);
    r->first = (void *)at;
    at += rounded(r->room * sizeof *r->first);
    r->order = (void *)at;
    at += rounded(r->room * sizeof *r->order);
    r->spare = (void *)at;
    while (r->n_spare + 1 < r->room) {
        r->spare[r->n_spare] = r->room - 1 - r->n_spare;
        r->n_spare++;
    }
    r->order[0] = 0;
    r->first[0] = 0;
    r->block[0].n = 0;
}

static struct ring_block *block_at(const struct ring *r, uint32_t i) {
    return &r->block[r->order[i]];
}

static void open_gap(struct ring_block *b, uint32_t at) {
    memmove(b->id + at + 1, b->id + at, (b->n - at) * sizeof *b->id);
    memmove(b->server + at + 1, b->server + at, (b->n - at) * sizeof *b->server);
    b->n++;
}

static void append(struct ring_block *to, const struct ring_block *from, uint32_t at) {
    const uint32_t n = from->n - at;
    memcpy(to->id + to->n, from->id + at, n * sizeof *to->id);
    memcpy(to->server + to->n, from->server + at, n * sizeof *to->server);
    to->n += n;
}

/* The upper half of block i becomes block i + 1. */
static void split(struct ring *r, uint32_t i) {
    CHECK(r->n_spare > 0);
    const uint32_t fresh = r->spare[--r->n_spare], behind = r->n_blocks - i - 1;
    struct ring_block *b = block_at(r, i), *upper = &r->block[fresh];
    upper->n = 0;
    append(upper, b, b->n / 2);
    b->n /= 2;
    memmove(r->order + i + 2, r->order + i + 1, behind * sizeof *r->order);
    memmove(r->first + i + 2, r->first + i + 1, behind * sizeof *r->first);
    r->order[i + 1] = fresh;
    r->first[i + 1] = upper->id[0];
    r->n_blocks++;
}

/* Block i + 1 joins block i where one is empty or both together hold no more than FULL. */
static void merge(struct ring *r, uint32_t i) {
    if (i + 1 >= r->n_blocks)
        return;
    const uint32_t a = block_at(r, i)->n, b = block_at(r, i + 1)->n;
    if (a > 0 && b > 0 && a + b > FULL)
        return;
    const uint32_t behind = r->n_blocks - i - 2;
    append(block_at(r, i), block_at(r, i + 1), 0);
    r->spare[r->n_spare++] = r->order[i + 1];
    memmove(r->order + i + 1, r->order + i + 2, behind * sizeof *r->order);
    memmove(r->first + i + 1, r->first + i + 2, behind * sizeof *r->first);
    r->n_blocks--;
}

bool ISA(ring_insert)(struct ring *r, uint64_t id, uint32_t server) {
    uint32_t i = ring_block_of(r, id);
    if (block_at(r, i)->n == RING_BLOCK) {
        split(r, i);
        merge(r, i + 1);
        if (i > 0)
            merge(r, i - 1);
        i = ring_block_of(r, id);
    }
    struct ring_block *b = block_at(r, i);
    const uint32_t at = ring_below(b, id);
    if (at < b->n && b->id[at] == id)
        return false;
    open_gap(b, at);
    b->id[at] = id;
    b->server[at] = server;
    if (at == 0 && i > 0)
        r->first[i] = id;
    r->n++;
    return true;
}

void ISA(ring_remove)(struct ring *r, uint64_t id) {
    const uint32_t i = ring_block_of(r, id);
    struct ring_block *b = block_at(r, i);
    const uint32_t at = ring_below(b, id);
    CHECK(at < b->n && b->id[at] == id);
    b->n--;
    memmove(b->id + at, b->id + at + 1, (b->n - at) * sizeof *b->id);
    memmove(b->server + at, b->server + at + 1, (b->n - at) * sizeof *b->server);
    r->n--;
    if (at == 0 && i > 0 && b->n > 0)
        r->first[i] = b->id[0];
    merge(r, i);
    if (i > 0)
        merge(r, i - 1);
}

void ISA(ring_flatten)(const struct ring *r, uint64_t *id, uint32_t *server) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        const struct ring_block *b = block_at(r, i);
        memcpy(id + n, b->id, b->n * sizeof *id);
        memcpy(server + n, b->server, b->n * sizeof *server);
        n += b->n;
    }
}
