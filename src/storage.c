/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "storage.h"

#include "fail.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 14, ALIGNMENT = 16 };

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct storage {
    struct block *blocks; /* the first is the one in use */
};

struct storage *storage_new(void) {
    return allocate(1, sizeof(struct storage));
}

void *storage_get(struct storage *s, size_t count, size_t size) {
    size_t bytes;
    CHECK(!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX / 2);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!s->blocks || s->blocks->size - s->blocks->used < bytes) {
        const size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct block *b = allocate(1, sizeof *b + room);
        b->size = room;
        b->next = s->blocks;
        s->blocks = b;
    }
    void *memory = s->blocks->bytes + s->blocks->used;
    s->blocks->used += bytes;
    return memory;
}

char *storage_text(struct storage *s, const char *text, size_t length) {
    char *copy = storage_get(s, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

void storage_free(struct storage *s) {
    if (!s)
        return;
    for (struct block *b = s->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(s);
}
