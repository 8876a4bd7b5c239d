/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Randomness: words are addressed, never streamed. Philox4x32-10 (Salmon, Moraes, Dror, Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011) turns (key, counter) into four 32-bit
 * words; the counter is built from what the word is for, so a word does not depend on how much
 * randomness anything else used.
 *
 *   key      64-bit hash of (seed, text of the settings that share their words)
 *   counter  word 0      draw, low 32 bits
 *            word 1      draw, high 16 bits | purpose << 16
 *            word 2      replication
 *            word 3      lane
 *
 * Word number i of a (purpose, replication, lane) lies in draw 16 * (i / 64) + i % 16, output (i /
 * 16) % 4: sixteen consecutive draws then give 64 consecutive words without a transposition, at
 * every vector width. */
#ifndef POTLUCK_RNG_H
#define POTLUCK_RNG_H

#include <Random123/philox.h>
#include <stdint.h>

/* Never renumber: the words of every published result depend on it. */
enum purpose {
    PURPOSE_ORIGIN = 1,    /* lane 0: the server a job arrives at */
    PURPOSE_CANDIDATE = 2, /* lane = slot of the policy */
    PURPOSE_TIE = 3,       /* bit i % 32 of word i / 32 settles the ties of job i */
    PURPOSE_RETRY = 4,     /* words for rejected ones; lane names the rejected word: retry_lane() */
    PURPOSE_STAY = 5,      /* complete graph: which jobs a blind policy leaves at their origin */
    PURPOSE_OCCUPANCY = 6, /* method: occupancy */
    PURPOSE_GRAPH = 7,     /* random graphs */
    PURPOSE_BORDER = 8,    /* lane = attempt: replaces a neighbour that would lie beyond a border */
    PURPOSE_ACCEPT = 9,    /* neighbours found by rejection (near_graph.h) */
    PURPOSE_SAMPLE = 10,   /* distances: sampled, which jobs are measured */
    PURPOSE_ARRIVAL = 11,  /* gaps between arrivals */
    PURPOSE_SERVICE = 12,  /* index = job: what it needs */
    PURPOSE_UP = 13,       /* index = cycle: how long a server stays up, */
    PURPOSE_DOWN = 14,     /* and down */
    PURPOSE_REDIRECT = 15, /* index = job: whether it may leave its origin */
    PURPOSE_ROUTE = 16,    /* what a history-only policy draws */
    /* Model dht; identifier number i of node j is words 2j, 2j + 1 of GRAPH, lane i. */
    PURPOSE_CAPACITY = 17,    /* index = node */
    PURPOSE_START = 18,       /* index = node: whether it is up at time 0 */
    PURPOSE_KEY = 19,         /* lane = era, words 2r, 2r + 1: key of rank r */
    PURPOSE_SOURCE = 20,      /* index = query; lane 0: its node, 1: which virtual server of that */
    PURPOSE_DESTINATION = 21, /* index = query */
    PURPOSE_TURN = 22,        /* order in which nodes balance */
    PURPOSE_PICK = 23         /* lane = node: what it draws when it balances */
};

struct stream {
    uint64_t key;
    uint32_t replication;
};

/* The four words of one counter. */
static inline philox4x32_ctr_t rng_block(struct stream s, enum purpose purpose, uint32_t lane,
                                         uint64_t draw) {
    philox4x32_ctr_t c = {
        {(uint32_t)draw, (uint32_t)(draw >> 32) | (uint32_t)purpose << 16, s.replication, lane}};
    philox4x32_key_t k = {{(uint32_t)s.key, (uint32_t)(s.key >> 32)}};
    return philox4x32(c, k);
}

/* Word number i; i < 2^50. */
static inline uint32_t rng_word(struct stream s, enum purpose purpose, uint32_t lane, uint64_t i) {
    return rng_block(s, purpose, lane, (i / 64) * 16 + i % 16).v[(i / 16) % 4];
}

/* Lane of the words that replace a rejected word of job i: 256 attempts for each of 64 slots of a
 * purpose. */
static inline uint32_t retry_lane(enum purpose purpose, uint32_t slot, uint32_t attempt) {
    return (uint32_t)purpose << 14 | (slot & 63) << 8 | attempt;
}

/* Uniform over 0 .. n-1, n >= 1, exactly: Lemire, "Fast random integer generation in an interval",
 * ACM TOMACS 29(1), 2019, with the multiple taken from `word` and, when that is rejected, from
 * RETRY words at the same index. */
static inline uint32_t rng_below_from(struct stream s, enum purpose purpose, uint32_t slot,
                                      uint64_t i, uint32_t word, uint32_t n) {
    const uint32_t reject = (uint32_t)-n % n;
    uint64_t product = (uint64_t)word * n;
    for (uint32_t attempt = 0; (uint32_t)product < reject; attempt++)
        product = (uint64_t)rng_word(s, PURPOSE_RETRY, retry_lane(purpose, slot, attempt), i) * n;
    return (uint32_t)(product >> 32);
}

static inline uint32_t rng_below(struct stream s, enum purpose purpose, uint32_t slot, uint64_t i,
                                 uint32_t n) {
    return rng_below_from(s, purpose, slot, i, rng_word(s, purpose, slot, i), n);
}

/* 64-bit hash of the seed and a text, in which every bit of the result depends on every bit of both
 * (FNV-1a over the text, then two rounds of Philox as the mixer). */
static inline uint64_t rng_key(uint64_t seed, const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *p = text; *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    philox4x32_ctr_t c = {{(uint32_t)h, (uint32_t)(h >> 32), 0x706f746cu, 0x75636bu}};
    philox4x32_key_t k = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    c = philox4x32(c, k);
    return (uint64_t)c.v[1] << 32 | c.v[0];
}

#endif
