/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method servers: distances of a block and loads of a replication, counted by vector code.
 */
#include "servers.h"

#include "distance.h"

#include <stdlib.h>
#include <string.h>

/* The server of each ball of a placed block. */
static const uint32_t *find_where(const struct play *q) {
    const uint32_t size = q->block->size, *restrict first = q->block->candidate[0],
                   *restrict taken = q->taken;
    uint32_t *restrict where = q->where;
    if (q->rule == RULE_MANY || q->rule == RULE_THREE)
        return where;
    if (q->rule == RULE_ONE)
        return first;
    const uint32_t *restrict second = q->block->candidate[1];
    for (uint64_t i = 0; i < size; i += 32)
        for (uint64_t bit = 0; bit < 32; bit++)
            where[i + bit] = taken[i / 32] >> bit & 1 ? second[i + bit] : first[i + bit];
    return where;
}

/* Hops of balls that stayed become 0. */
static void clear_hops(const struct play *q) {
    const uint32_t size = q->block->size, *restrict taken = q->taken;
    uint32_t *restrict hop = q->block->hop;
    for (uint64_t i = 0; i < size; i += 32)
        for (uint64_t bit = 0; bit < 32; bit++)
            hop[i + bit] &= -(taken[i / 32] >> bit & 1);
}

/* The farthest a ball can move. */
static uint64_t farthest(const struct sampler *s) {
    return s->gives_hop ? s->reach : s->space.diameter;
}

/* Balls of the block by distance moved, when distances are small: one vectorised count for each. */
static void count_few_hops(struct play *q, uint32_t reach) {
    const uint32_t size = q->block->size, *restrict hop = q->block->hop;
    for (uint32_t h = 1; h <= reach; h++) {
        uint32_t count = 0;
        for (uint64_t i = 0; i < size; i++)
            count += hop[i] == h;
        q->hops[h] += count;
        q->moved += count;
        q->cost += (uint64_t)h * count;
    }
}

/* The same by tables. */
static void tabulate_hops(struct play *q) {
    const uint32_t size = q->block->size, *restrict hop = q->block->hop;
    uint32_t moved = 0;
    uint64_t *restrict table = q->hops, cost = 0;
    for (uint64_t i = 0; i < size; i++) {
        moved += hop[i] != 0;
        cost += hop[i];
    }
    q->moved += moved;
    q->cost += cost;
    /* Few distances: four tables, so that equal ones in a row seldom wait for each other. */
    if (farthest(&q->p->sampler) < 64)
        for (uint64_t i = 0; i < size; i++)
            table[i % HOP_TABLES * HOP_BINS + hop[i]]++;
    else if (farthest(&q->p->sampler) < BINS_EXACT)
        for (uint64_t i = 0; i < size; i++)
            table[hop[i]]++;
    else
        for (uint64_t i = 0; i < size; i++)
            table[bin_of(hop[i])]++;
}

/* Distances the balls of the block moved. */
void ISA(tally_block)(struct play *q) {
    enum { FEW = 12 };
    const struct sampler *s = &q->p->sampler;
    if (s->candidates == 1 && s->origin_first)
        return;
    if (s->gives_hop)
        clear_hops(q);
    else
        block_hops(&s->space, q->block->origin, find_where(q), q->block->size, q->block->hop);
    const uint64_t reach = farthest(s);
    if (reach <= FEW)
        count_few_hops(q, (uint32_t)reach);
    else
        tabulate_hops(q);
}

/* How many balls stay at their origin by chance: the policy never looked at it, so each does with
 * probability 1/n. The number for 64 balls at a time is drawn by inversion of a 64-bit fraction. */
uint64_t ISA(tally_stays)(const struct play *q) {
    const struct balls *p = q->p;
    const uint64_t groups = (p->m + CHUNK - 1) / CHUNK;
    uint64_t stays = 0;
    if (p->n == 1)
        return p->m;
    for (uint64_t from = 0; from < groups; from += CHUNK) {
        uint32_t high[CHUNK];
        const uint32_t size = groups - from < CHUNK ? (uint32_t)(groups - from) : CHUNK;
        draw_words((struct words){q->stream, PURPOSE_STAY, 0}, from, size, high);
        for (uint32_t g = 0; g < size; g++) {
            const uint64_t *below = p->stay[from + g == groups - 1 && p->m % CHUNK];
            if (high[g] < below[0] >> 32)
                continue;
            const uint64_t x =
                (uint64_t)high[g] << 32 | rng_word(q->stream, PURPOSE_STAY, 1, from + g);
            for (unsigned j = 0; j < CHUNK && x >= below[j] && below[j] != UINT64_MAX; j++)
                stays++;
        }
    }
    return stays;
}

/* Bytes are counted by vector code, one sweep over a cache line for each load. */
static void byte_extremes(const uint8_t *restrict load, uint64_t n, uint64_t *low, uint64_t *high) {
    uint8_t least = UINT8_MAX, most = 0;
    for (uint64_t i = 0; i < n; i++) {
        least = load[i] < least ? load[i] : least;
        most = load[i] > most ? load[i] : most;
    }
    *low = least;
    *high = most;
}

static void byte_levels(const uint8_t *restrict load, uint64_t n, uint64_t low, uint64_t levels,
                        uint64_t *level) {
    enum { LINE = 64, SWEEP = 64 * LINE };
    const uint64_t whole = n / LINE * LINE;
    for (uint64_t from = 0; from < whole; from += SWEEP) {
        const uint64_t end = from + SWEEP < whole ? from + SWEEP : whole;
        for (uint64_t k = 0; k < levels; k++) {
            const uint8_t wanted = (uint8_t)(low + k);
            uint8_t count[LINE] = {0};
            for (uint64_t line = from; line < end; line += LINE)
                for (unsigned i = 0; i < LINE; i++)
                    count[i] = (uint8_t)(count[i] + (load[line + i] == wanted));
            for (unsigned i = 0; i < LINE; i++)
                level[k] += count[i];
        }
    }
    for (uint64_t i = whole; i < n; i++)
        level[load[i] - low]++;
}

static void wide_extremes(const struct play *q, uint64_t *low, uint64_t *high) {
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t i = 0; i < q->p->n; i++) {
        const uint64_t load = load_of(q->loads, q->width, (uint32_t)i);
        *low = load < *low ? load : *low;
        *high = load > *high ? load : *high;
    }
}

/* What the loads of a finished replication say; false when balls are missing because a load outgrew
 * its width. */
static bool record(struct play *q, uint64_t index, struct outcome *out) {
    enum { FEW = 64, SWEEPS_MOST = 16 };
    const uint64_t n = q->p->n;
    uint64_t low, high, few[FEW] = {0};
    if (q->width == 1)
        byte_extremes(q->loads, n, &low, &high);
    else
        wide_extremes(q, &low, &high);
    const uint64_t levels = high - low + 1;
    uint64_t *level = levels <= FEW ? few : allocate(levels, sizeof *level);
    if (q->width == 1 && levels <= SWEEPS_MOST)
        byte_levels(q->loads, n, low, levels, level);
    else
        for (uint64_t i = 0; i < n; i++)
            level[load_of(q->loads, q->width, (uint32_t)i) - low]++;
    uint64_t balls = 0;
    for (uint64_t k = 0; k < levels; k++)
        balls += level[k] * (low + k);
    const bool whole = balls == q->p->m;
    CHECK(whole || q->width < 8);
    if (whole)
        ISA(balls_record)(q->p, &(struct census){low, levels, level}, index, out);
    if (level != few)
        free(level);
    if (!whole)
        return false;
    if (out->histogram[SUM_SERVER]) {
        for (uint64_t i = 0; i < n; i++)
            out->histogram[SUM_SERVER][i] += load_of(q->loads, q->width, (uint32_t)i);
        out->used[SUM_SERVER] = n;
    }
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally[ROW_MOVED] = (int64_t)q->moved;
    tally[ROW_COST] = (int64_t)q->cost;
    return true;
}

/* Adds the balls of a replication by hop to the outcome, unless it has to be played again, and
 * clears the tables. */
static void add_hops(struct play *q, bool whole, struct outcome *out) {
    const struct balls *p = q->p;
    const uint64_t bins = bin_of(farthest(&p->sampler)) + 1;
    const unsigned tables = bins > 64 ? 1 : HOP_TABLES;
    uint64_t *count = out->histogram[COUNT_HOP];
    q->hops[0] = 0; /* who stayed follows from who moved */
    for (unsigned t = 1; t < tables; t++)
        q->hops[t * HOP_BINS] = 0;
    if (p->stays)
        q->hops[1] = q->moved;
    if (whole && count) {
        CHECK(bins <= out->stride[COUNT_HOP]);
        count[0] += p->m - q->moved;
        for (unsigned t = 0; t < tables; t++)
            for (uint64_t b = 1; b < bins; b++)
                count[b] += q->hops[t * HOP_BINS + b];
        out->used[COUNT_HOP] = bins;
    }
    for (unsigned t = 0; t < tables; t++)
        memset(q->hops + t * HOP_BINS, 0, bins * sizeof *q->hops);
}

bool ISA(tally_replication)(struct play *q, uint64_t index, struct outcome *out) {
    const bool whole = record(q, index, out);
    add_hops(q, whole, out);
    return whole;
}
