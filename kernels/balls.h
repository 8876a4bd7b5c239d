/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Balls into bins: what the model, its two methods and its tests share. */
#ifndef POTLUCK_BALLS_H
#define POTLUCK_BALLS_H

#include "bins.h"
#include "hops.h"
#include "kernel.h"
#include "near.h"
#include "sampler.h"

enum balls_parameter {
    BALLS_TOPOLOGY,
    BALLS_POLICY,
    BALLS_BALLS,
    BALLS_TIES,
    BALLS_METHOD,
    BALLS_DISTANCES
};
enum balls_row {
    ROW_MAX_LOAD,
    ROW_MIN_LOAD,
    ROW_EMPTY,
    ROW_MOVED,
    ROW_GAP,
    ROW_VARIANCE,
    ROW_COST,
    ROW_COMPONENT,
    ROW_MAX_SHARE,
    ROW_MIN_SHARE,
    ROW_SHARE_VARIANCE,
    BALLS_ROWS
};
enum balls_histogram {
    COUNT_LOAD,
    COUNT_HOP,
    COUNT_MAX_LOAD,
    SUM_SERVER,
    COUNT_DISTANCE,
    COUNT_DEGREE,
    DEGREE_SERVERS,
    DEGREE_LOAD,
    DEGREE_JOBS,
    DEGREE_COST,
    SUM_SHARE,
    BALLS_HISTOGRAMS
};

/* Tables of balls by hop; on the plane the first holds balls by length. */
enum { HOP_TABLES = 4, HOP_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING, DEGREE_BINS = 64 };

/* Workspace of method servers: loads, the arrays of a block, ties, hops, what the policy and the
 * measuring of distances keep. */
struct room {
    uint64_t n;
    unsigned width;    /* bytes of a load */
    unsigned arrays;   /* raw arrays of a block */
    bool points;       /* and arrays for points */
    uint64_t policy;   /* bytes of block.memory */
    uint64_t searches; /* bytes to measure distances in */
    uint64_t walk;     /* positions of a walk */
};
static inline uint64_t room_whole(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
}
static inline uint64_t room_bytes(const struct room *r) {
    const uint64_t arrays = 3 + 2 * (1 + (uint64_t)r->arrays + 2 * r->points);
    return room_whole(r->n * r->width) + 64 + arrays * BLOCK * sizeof(uint32_t) + BLOCK / 4 +
           HOP_TABLES * HOP_BINS * sizeof(uint64_t) + room_whole(r->policy) +
           room_whole(r->searches) + room_whole(r->walk * sizeof(uint32_t));
}

/* Workspace of method occupancy: words for some balls, and rows for that many loads above the least
 * in sixteen replications. */
enum { SIDE = 16, OCCUPANCY_DRAWS = 64, OCCUPANCY_ROWS = 400 };
static inline uint64_t occupancy_bytes(uint64_t rows) {
    return OCCUPANCY_DRAWS * 4 * SIDE * sizeof(uint32_t) + rows * SIDE * 2 * sizeof(uint64_t);
}

/* A point made ready to play; or, where every replication has its own graph or points, one of its
 * replications. */
struct balls {
    const struct value *values; /* of the model's parameters; owned by the job */
    uint64_t budget;            /* bytes that tables may take */
    struct sampler sampler;
    uint64_t n, m;
    bool occupancy;
    struct ranks ranks;     /* occupancy */
    unsigned width;         /* bytes of a load to begin with */
    bool stays;             /* cost by chance: complete graph and a policy blind to the origin */
    struct hops hops;       /* FORM_GRAPH and a policy that does not know how far a job goes */
    uint64_t sample;        /* jobs whose distance is measured; 0: all */
    uint64_t cap;           /* of a load, where the policy walks */
    uint8_t *degree_bin;    /* FORM_GRAPH [n]: coarse bin of each degree, */
    uint64_t *degree_count; /* [n_degrees]: servers by bin of their degree, */
    uint64_t n_degrees;
    uint64_t degree_servers[DEGREE_BINS]; /* and by coarse bin */
    double scale[BALLS_ROWS]; /* space.varies: units of a tally; 0: as when n is known beforehand */
    uint64_t stay[2][CHUNK +
                     1]; /* P(at most j of 64, of the last m % 64, jobs stay) in units of 2^-64 */
};
/* Whether jobs are measured by searches or a table, because the policy does not tell the hops. */
static inline bool balls_measures(const struct sampler *s) {
    return s->space.form == FORM_GRAPH && !s->gives_hop && !(s->candidates == 1 && s->origin_first);
}
/* Length of a plane's unit square, in units of a tally of ROW_COST. */
static inline double length_unit(uint64_t m) { /* a mean of at most m fits as well */
    const unsigned bits = 64 - (unsigned)__builtin_clzll(m);
    return (double)((uint64_t)1 << (bits > 21 ? 61 - bits : 40));
}

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
 * `index` of `out` (record.c). */
void ISA(balls_record)(const struct balls *p, const struct census *c, uint64_t index,
                       struct outcome *out);
/* The same for what depends on the graph or the points alone. */
void ISA(record_ground)(const struct balls *p, uint64_t index, struct outcome *out);

#endif
