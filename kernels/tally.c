/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method servers: distances of a block and loads of a replication, counted by vector code.
 */
#include "servers.h"

#include "distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The server of each ball of a placed block. */
static const uint32_t *find_where(const struct play *q) {
    const uint32_t size = q->block->size, *restrict first = q->block->candidate[0],
                   *restrict taken = q->taken;
    uint32_t *restrict where = q->where;
    if (q->rule >= RULE_THREE)
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
    return s->walks ? s->space.ids : s->gives_hop ? s->reach : s->space.diameter;
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

/* The plane: from the point of each ball to its server. */
static void measure_lengths(struct play *q, const uint32_t *where) {
    const struct sites *sites = q->p->sampler.space.sites;
    const struct block *b = q->block;
    for (uint32_t i = 0; i < b->size; i++) {
        const double length =
            sqrt((double)plane_squared(sites, b->point[0][i] >> 1, b->point[1][i] >> 1, where[i])) *
            0x1p-31;
        q->length += (uint64_t)(length * 0x1p40);
        q->hops[length_bin_of(length)]++;
    }
}

static void count_moved(struct play *q, const uint32_t *restrict where) {
    const uint32_t *restrict origin = q->block->origin, size = q->block->size;
    uint32_t moved = 0;
    for (uint64_t i = 0; i < size; i++)
        moved += where[i] != origin[i];
    q->moved += moved;
}

/* The ball of stretch j whose distance is measured. */
static uint64_t measured_ball(const struct play *q, uint64_t j) {
    const uint32_t word = rng_word(q->stream, PURPOSE_SAMPLE, 0, j);
    return (uint64_t)(((uint128)j << 32 | word) * q->p->m / ((uint128)q->p->sample << 32));
}

/* distances: sampled. */
static void measure_some(struct play *q, const uint32_t *where) {
    const struct block *b = q->block;
    for (; q->n_measured < q->p->sample; q->n_measured++) {
        const uint64_t ball = measured_ball(q, q->n_measured);
        if (ball >= b->first + b->size)
            return;
        const uint64_t i = ball - b->first;
        uint32_t hop = 0;
        if (b->origin[i] != where[i])
            ISA(hops_block)(&q->p->hops, q->searches, b->origin + i, where + i, 1, &hop);
        const unsigned bin = q->p->degree_bin[b->origin[i]];
        q->hops[bin_of(hop)]++;
        q->cost += hop;
        q->degree_jobs[bin]++;
        q->degree_cost[bin] += hop;
    }
}

static void count_by_degree(struct play *q) {
    const uint8_t *restrict bin = q->p->degree_bin;
    const uint32_t *restrict origin = q->block->origin, *restrict hop = q->block->hop,
                             size = q->block->size;
    for (uint64_t i = 0; i < size; i++) {
        q->degree_jobs[bin[origin[i]]]++;
        q->degree_cost[bin[origin[i]]] += hop[i];
    }
}

/* Hops of the balls of a block on a graph. */
static void find_hops(struct play *q, const uint32_t *where) {
    const struct sampler *s = &q->p->sampler;
    struct block *b = q->block;
    if (s->candidates == 1 && s->origin_first)
        memset(b->hop, 0, b->size * sizeof *b->hop);
    else if (s->gives_hop)
        clear_hops(q);
    else if (s->space.form == FORM_GRAPH)
        ISA(hops_block)(&q->p->hops, q->searches, b->origin, where, b->size, b->hop);
    else
        block_hops(&s->space, b->origin, where, b->size, b->hop);
}

/* Distances the balls of the block moved. */
void ISA(tally_block)(struct play *q) {
    enum { FEW = 12 };
    const struct sampler *s = &q->p->sampler;
    const bool graph = s->space.form == FORM_GRAPH;
    if (s->candidates == 1 && s->origin_first && !graph && !s->space.sites)
        return;
    const uint32_t *where = s->gives_hop ? NULL : find_where(q);
    if (s->space.sites || q->p->sample)
        count_moved(q, where);
    if (s->space.form == FORM_PLANE)
        measure_lengths(q, where);
    if (q->p->sample)
        measure_some(q, where);
    if ((s->space.sites && !s->walks) || q->p->sample)
        return;
    if (!s->walks)
        find_hops(q, where);
    if (graph)
        count_by_degree(q);
    const uint64_t moved = q->moved, reach = farthest(s);
    if (reach <= FEW)
        count_few_hops(q, (uint32_t)reach);
    else
        tabulate_hops(q);
    if (s->walks) /* a walk may come back to the owner it started from */
        q->moved = moved;
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

/* Loads by server and by degree. */
static void record_loads(const struct play *q, struct outcome *out) {
    const struct balls *p = q->p;
    const struct graph *graph = p->sampler.space.graph;
    const uint32_t *original = graph ? graph->original : NULL;
    uint64_t by_degree[DEGREE_BINS] = {0};
    if (out->histogram[SUM_SERVER]) {
        for (uint32_t i = 0; i < p->n; i++)
            out->histogram[SUM_SERVER][original ? original[i] : i] +=
                load_of(q->loads, q->width, i);
        out->used[SUM_SERVER] = out->stride[SUM_SERVER];
    }
    if (!graph)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        by_degree[p->degree_bin[i]] += load_of(q->loads, q->width, i);
    for (unsigned bin = 0; bin < DEGREE_BINS; bin++) {
        if (!p->degree_servers[bin])
            continue;
        outcome_add(out, DEGREE_LOAD, 0, bin, by_degree[bin]);
        outcome_add(out, DEGREE_JOBS, 0, bin, q->degree_jobs[bin]);
        outcome_add(out, DEGREE_COST, 0, bin, q->degree_cost[bin]);
    }
}

static void tally_costs(const struct play *q, int64_t *tally) {
    const struct balls *p = q->p;
    const double balls = p->m ? (double)p->m : 1;
    tally[ROW_MOVED] = (int64_t)q->moved;
    tally[ROW_COST] = (int64_t)q->cost;
    if (p->sampler.space.form == FORM_PLANE)
        tally[ROW_COST] = (int64_t)(uint64_t)(q->length * (uint64_t)length_unit(p->m) >> 40);
    if (!p->sampler.space.varies)
        return;
    tally[ROW_MOVED] = (int64_t)rint((double)q->moved / balls * p->scale[ROW_MOVED]);
    tally[ROW_COST] = (int64_t)rint((double)q->cost / (p->sample ? (double)p->sample : balls) *
                                    p->scale[ROW_COST]);
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
    record_loads(q, out);
    ISA(record_ground)(q->p, index, out);
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally_costs(q, tally);
    return true;
}

/* Adds the balls of a replication by hop to the outcome, unless it has to be played again, and
 * clears the tables. */
static void add_hops(struct play *q, bool whole, struct outcome *out) {
    const struct balls *p = q->p;
    const uint64_t bins = bin_of(farthest(&p->sampler)) + 1;
    const unsigned tables = bins > 64 ? 1 : HOP_TABLES;
    uint64_t *count = out->histogram[COUNT_HOP];
    const uint64_t counted = p->sample ? p->sample : p->m;
    uint64_t away = 0;
    if (p->stays)
        q->hops[1] = q->moved;
    if (whole && count) {
        for (unsigned t = 0; t < tables; t++)
            for (uint64_t b = 1; b < bins; b++) {
                if (!q->hops[t * HOP_BINS + b])
                    continue;
                away += q->hops[t * HOP_BINS + b];
                outcome_add(out, COUNT_HOP, 0, b, q->hops[t * HOP_BINS + b]);
            }
        outcome_add(out, COUNT_HOP, 0, 0, counted - away); /* who did not move stayed */
    }
    for (unsigned t = 0; t < tables; t++)
        memset(q->hops + t * HOP_BINS, 0, bins * sizeof *q->hops);
}

static void add_lengths(struct play *q, bool whole, struct outcome *out) {
    for (uint64_t bin = 0; whole && bin < LENGTH_BINS; bin++)
        if (q->hops[bin])
            outcome_add(out, COUNT_DISTANCE, 0, bin, q->hops[bin]);
    memset(q->hops, 0, LENGTH_BINS * sizeof *q->hops);
}

bool ISA(tally_replication)(struct play *q, uint64_t index, struct outcome *out) {
    const bool whole = record(q, index, out);
    if (q->p->sampler.space.form == FORM_PLANE)
        add_lengths(q, whole, out);
    else
        add_hops(q, whole, out);
    return whole;
}
