/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"

#include "fail.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t names_max = 0x7fffffffu;

static uint32_t hash_of(const char *text, uint32_t length) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ length;
    for (uint32_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

/* The slot of a name, or the free one where it belongs. */
static struct name_slot *slot_of(const struct names *t, const char *text, uint32_t length,
                                 uint32_t hash) {
    for (uint64_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        struct name_slot *s = &t->slot[i];
        if (!s->next)
            return s;
        const struct name *name = &t->name[s->next - 1];
        if (s->hash == hash && name->length == length && !memcmp(name->text, text, length))
            return s;
    }
}

static void grow(struct names *t) {
    const struct names old = *t;
    t->room = old.room ? 2 * old.room : 256;
    t->name = reallocate(t->name, t->room, sizeof *t->name);
    t->mask = 2 * (uint64_t)t->room - 1;
    t->slot = allocate(t->mask + 1, sizeof *t->slot);
    for (uint64_t i = 0; old.slot && i <= old.mask; i++) {
        uint64_t to = old.slot[i].hash & t->mask;
        if (!old.slot[i].next)
            continue;
        while (t->slot[to].next)
            to = (to + 1) & t->mask;
        t->slot[to] = old.slot[i];
    }
    free(old.slot);
}

uint32_t names_add(struct names *t, const char *text, uint32_t length) {
    if (t->n == t->room)
        grow(t);
    const uint32_t hash = hash_of(text, length);
    struct name_slot *s = slot_of(t, text, length, hash);
    if (s->next)
        return s->next - 1;
    if (t->n == names_max)
        return NAME_NONE;
    t->name[t->n] = (struct name){text, length};
    *s = (struct name_slot){hash, ++t->n};
    return t->n - 1;
}

uint32_t names_find(const struct names *t, const char *text, uint32_t length) {
    if (!t->n)
        return NAME_NONE;
    return slot_of(t, text, length, hash_of(text, length))->next - 1; /* a free slot: NAME_NONE */
}

void names_free(struct names *t) {
    free(t->slot);
    free(t->name);
    *t = (struct names){0};
}
