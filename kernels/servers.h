/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method servers: what playing (servers.c) and counting (tally.c) share. */
#ifndef POTLUCK_SERVERS_H
#define POTLUCK_SERVERS_H

#include "balls.h"
#include "sites.h"

/* Candidates and ties: two with the first drawn winning, two with a coin, three and more with the
 * first drawn winning; a walk round a circle of positions. */
enum rule { RULE_ONE, RULE_FIRST, RULE_COIN, RULE_THREE, RULE_MANY, RULE_WALK };

/* The memory of a thread, laid out. */
struct play {
    const struct balls *p;
    struct stream stream; /* of the block being placed */
    struct stream ahead;  /* of the block being drawn, which may belong to the next replication */
    enum rule rule;
    struct block pair[2]; /* the block being placed and the one being drawn take turns */
    struct block *block;  /* being placed */
    uint32_t
        *coin; /* [BLOCK / 32]: bit i % 32 of word i / 32: a tie of ball i goes to candidate 1 */
    uint32_t *taken; /* [BLOCK / 32]: likewise, ball i went to candidate 1 */
    uint32_t *where; /* [BLOCK]: the server each ball went to */
    uint64_t *hops;  /* [HOP_TABLES][HOP_BINS]: balls by hop, on the plane by length */
    uint32_t
        *walk; /* [positions]: a walk goes on there; a position that takes balls names itself */
    void *searches; /* memory to measure distances in */
    void *loads;
    uint64_t room; /* bytes for loads */
    unsigned width;
    uint64_t moved, cost;
    uint128 length;      /* the plane: moved by all balls, in units of 2^-40 */
    uint64_t n_measured; /* distances: sampled; balls that were */
    uint64_t degree_jobs[DEGREE_BINS], degree_cost[DEGREE_BINS];
};

static inline __attribute__((always_inline)) uint64_t load_of(const void *loads, unsigned width,
                                                              uint32_t i) {
    switch (width) {
    case 1:
        return ((const uint8_t *)loads)[i];
    case 2:
        return ((const uint16_t *)loads)[i];
    case 4:
        return ((const uint32_t *)loads)[i];
    default:
        return ((const uint64_t *)loads)[i];
    }
}

/* tally.c, for a placed block: adds the distances its balls moved. */
void ISA(tally_block)(struct play *q);
/* How many balls of a replication stay at their origin by chance, where the policy is blind to it
 * on the complete graph. */
uint64_t ISA(tally_stays)(const struct play *q);
/* What a finished replication says; false, with nothing recorded, when balls are missing because a
 * load outgrew its width. */
bool ISA(tally_replication)(struct play *q, uint64_t index, struct outcome *out);

#endif
