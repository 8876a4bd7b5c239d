/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Balls into bins: what the model, its two methods and its tests share. */
#ifndef POTLUCK_BALLS_H
#define POTLUCK_BALLS_H

#include "bins.h"
#include "kernel.h"
#include "near.h"
#include "sampler.h"

enum balls_parameter { BALLS_TOPOLOGY, BALLS_POLICY, BALLS_BALLS, BALLS_TIES, BALLS_METHOD };
enum balls_row {
    ROW_MAX_LOAD,
    ROW_MIN_LOAD,
    ROW_EMPTY,
    ROW_MOVED,
    ROW_GAP,
    ROW_VARIANCE,
    ROW_COST,
    BALLS_ROWS
};
enum balls_histogram { COUNT_LOAD, COUNT_HOP, COUNT_MAX_LOAD, SUM_SERVER, BALLS_HISTOGRAMS };

/* Tables of balls by hop. */
enum { HOP_TABLES = 4, HOP_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING };

/* Workspace of method servers: loads, the arrays of a block, ties, hops. */
static inline uint64_t servers_bytes(uint64_t n, unsigned width, unsigned draws) {
    return (n * width + 127) / 64 * 64 +
           (3 + 2 * (1 + (uint64_t)draws)) * BLOCK * sizeof(uint32_t) + BLOCK / 4 +
           HOP_TABLES * HOP_BINS * sizeof(uint64_t);
}

/* Workspace of method occupancy: words for some balls, and rows for that many loads above the least
 * in sixteen replications. */
enum { SIDE = 16, OCCUPANCY_DRAWS = 64, OCCUPANCY_ROWS = 400 };
static inline uint64_t occupancy_bytes(uint64_t rows) {
    return OCCUPANCY_DRAWS * 4 * SIDE * sizeof(uint32_t) + rows * SIDE * 2 * sizeof(uint64_t);
}

/* A point made ready to play. */
struct balls {
    struct sampler sampler;
    uint64_t n, m;
    bool occupancy;
    struct ranks ranks; /* occupancy */
    unsigned width;     /* bytes of a load to begin with */
    bool stays;         /* cost by chance: complete graph and a policy blind to the origin */
    uint64_t stay[2][CHUNK +
                     1]; /* P(at most j of 64, of the last m % 64, jobs stay) in units of 2^-64 */
};

/* method: servers. Every ball of every replication is placed on a server (servers.c). */
uint64_t ISA(balls_servers)(const struct balls *p, uint64_t key, struct workspace work,
                            struct outcome *out);

/* method: occupancy. Counts of servers by load, sixteen replications side by side (occupancy.c). */
uint64_t ISA(balls_occupancy)(const struct balls *p, uint64_t key, struct workspace work,
                              struct outcome *out);

/* Loads of one replication by value: levels[k] servers with load base + k. */
struct census {
    uint64_t base, n_levels;
    const uint64_t *level;
};
/* Writes the tallies that depend on the loads alone and adds the histograms of replication number
 * `index` of `out`. */
void ISA(balls_record)(const struct balls *p, const struct census *c, uint64_t index,
                       struct outcome *out);

#endif
