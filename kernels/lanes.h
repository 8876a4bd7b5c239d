/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of a law for every server: value number i of server s comes from words i of the server's
 * own lanes, so it does not depend on what the others used. Laws draw 64 values at a time; a server
 * keeps `keep` of them, fewer where servers are many, which never changes a value. */
#ifndef POTLUCK_LANES_H
#define POTLUCK_LANES_H

#include "law.h"

#include <string.h>

/* Lanes from here on belong to no server; values there are numbered by server. */
#define LANES_APART 0x40000000

struct lanes {
    const struct sampled_law *law;
    enum purpose purpose;
    uint64_t n;
    uint32_t keep; /* power of two, 64 at most */
    uint32_t lane; /* of server 0 */
};

/* State of a replication. */
struct lane_values {
    double *value;   /* [n][keep] */
    uint64_t *piece; /* [n] 1 + which `keep` values these are; 0: none yet */
};

static inline struct lanes lanes_of(const struct sampled_law *law, enum purpose purpose, uint64_t n,
                                    uint32_t most) {
    const uint32_t keep = n <= 1 << 14 ? 64 : n <= 1 << 17 ? 16 : 4;
    return (struct lanes){law, purpose, n, keep < most ? keep : most, 0};
}

/* Whether the lanes of n servers end before LANES_APART. */
static inline bool lanes_suffice(const struct law_facts *facts, uint64_t n) {
    return n * facts->lanes <= 1 << 30;
}

static inline uint64_t lanes_memory(const struct lanes *l) {
    return l->n * (l->keep * sizeof(double) + sizeof(uint64_t));
}

/* Lays the values out at `memory`, 8-byte aligned, lanes_memory() bytes; for a new replication when
 * `begin`. */
static inline struct lane_values lanes_at(const struct lanes *l, void *memory, bool begin) {
    uint64_t *piece = memory;
    if (begin)
        memset(piece, 0, l->n * sizeof *piece);
    return (struct lane_values){(double *)(void *)(piece + l->n), piece};
}

static inline void lanes_fetch(const struct lanes *l, struct stream s, uint32_t server, uint64_t i,
                               double *into) {
    double all[CHUNK];
    const struct words w = {s, l->purpose, l->lane + server * l->law->facts.lanes};
    l->law->law->draw(l->law, w, i / CHUNK * CHUNK, CHUNK, all);
    memcpy(into, all + i % CHUNK / l->keep * l->keep, l->keep * sizeof *all);
}

/* Value number i of a server. */
static inline double lanes_value(const struct lanes *l, struct lane_values v, struct stream s,
                                 uint32_t server, uint64_t i) {
    double *kept = v.value + (uint64_t)server * l->keep;
    const uint64_t piece = i / l->keep + 1;
    if (__builtin_expect(v.piece[server] != piece, 0)) {
        lanes_fetch(l, s, server, i, kept);
        v.piece[server] = piece;
    }
    return kept[i % l->keep];
}

/* A value of the residual life for a server. */
static inline double lanes_residual(const struct lanes *l, struct stream s, uint32_t server) {
    return l->law->law->residual(l->law, (struct words){s, l->purpose, LANES_APART}, server);
}

#endif
