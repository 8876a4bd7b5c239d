/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls: what a finished replication says, as tallies and histograms. */
#include "balls.h"
#include "sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the number of servers is not known beforehand, a tally is the value itself in units that
 * the point states. */
static int64_t scaled(const struct balls *p, unsigned row, double value) {
    const double units = rint(value * p->scale[row]);
    return units < 0x1p62 ? (int64_t)units : (int64_t)1 << 62;
}

struct spread {
    uint64_t low, high, empty;
    uint128 squares; /* sum of squared deviations from floor(m / n) */
};

static void tally_varying(const struct balls *p, const struct spread *s, int64_t *tally) {
    const double n = (double)p->n, mean = (double)p->m / n, spare = (double)(p->m % p->n) / n;
    tally[ROW_EMPTY] = scaled(p, ROW_EMPTY, (double)s->empty / n);
    tally[ROW_GAP] = scaled(p, ROW_GAP, (double)s->high - mean);
    tally[ROW_VARIANCE] = scaled(p, ROW_VARIANCE, (double)s->squares / n - spare * spare);
}

static void tally_exactly(const struct balls *p, const struct spread *s, int64_t *tally) {
    const uint128 gap = (uint128)(s->high - p->m / p->n) * p->n - p->m % p->n;
    CHECK(gap < (uint128)1 << 63 && s->squares < (uint128)1 << 63);
    tally[ROW_EMPTY] = (int64_t)s->empty;
    tally[ROW_GAP] = (int64_t)gap;
    tally[ROW_VARIANCE] = (int64_t)s->squares;
}

void ISA(balls_record)(const struct balls *p, const struct census *c, uint64_t index,
                       struct outcome *out) {
    const uint64_t floor_load = p->m / p->n, batch = (out->first + index) % BATCHES;
    uint64_t servers = 0, balls = 0;
    struct spread s = {.low = UINT64_MAX};
    for (uint64_t k = 0; k < c->n_levels; k++) {
        if (!c->level[k])
            continue;
        const uint64_t load = c->base + k,
                       apart = load > floor_load ? load - floor_load : floor_load - load;
        s.low = s.low < load ? s.low : load;
        s.high = load;
        s.empty += load == 0 ? c->level[k] : 0;
        servers += c->level[k];
        balls += c->level[k] * load;
        s.squares += (uint128)apart * apart * c->level[k];
        outcome_add(out, COUNT_LOAD, batch, bin_of(load), c->level[k]);
    }
    CHECK(servers == p->n && balls == p->m);
    outcome_add(out, COUNT_MAX_LOAD, 0, bin_of(s.high), 1);
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally[ROW_MAX_LOAD] = (int64_t)s.high;
    tally[ROW_MIN_LOAD] = (int64_t)s.low;
    if (p->sampler.space.varies)
        tally_varying(p, &s, tally);
    else
        tally_exactly(p, &s, tally);
}

static void record_degrees(const struct balls *p, struct outcome *out) {
    for (uint64_t bin = 0; bin < p->n_degrees; bin++)
        if (p->degree_count[bin])
            outcome_add(out, COUNT_DEGREE, 0, bin, p->degree_count[bin]);
    for (uint64_t bin = 0; bin < DEGREE_BINS; bin++)
        if (p->degree_servers[bin])
            outcome_add(out, DEGREE_SERVERS, 0, bin, p->degree_servers[bin]);
}

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void record_sorted_shares(const struct sites *s, struct outcome *out) {
    uint64_t *sorted = allocate(s->n, sizeof *sorted);
    memcpy(sorted, s->share, s->n * sizeof *sorted);
    qsort(sorted, s->n, sizeof *sorted, by_size);
    for (uint64_t k = 0; k < s->n; k++) /* in units of 2^-40 */
        outcome_add(out, SUM_SHARE, 0, k, (sorted[k] >> 24) + (sorted[k] >> 23 & 1));
    free(sorted);
}

static void record_shares(const struct balls *p, int64_t *tally, struct outcome *out) {
    const struct sites *s = p->sampler.space.sites;
    const double n = (double)s->n;
    uint64_t most = 0, least = UINT64_MAX;
    double squares = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        const double deviation = (double)s->share[i] * 0x1p-64 * n - 1;
        most = s->share[i] > most ? s->share[i] : most;
        least = s->share[i] < least ? s->share[i] : least;
        squares += deviation * deviation;
    }
    tally[ROW_MAX_SHARE] = (int64_t)(most >> 2);
    tally[ROW_MIN_SHARE] = (int64_t)(least >> 2);
    tally[ROW_SHARE_VARIANCE] = (int64_t)rint(squares / n * length_unit(s->n));
    if (out->histogram[SUM_SHARE])
        record_sorted_shares(s, out);
}

void ISA(record_ground)(const struct balls *p, uint64_t index, struct outcome *out) {
    const struct space *space = &p->sampler.space;
    int64_t *tally = out->tally + index * BALLS_ROWS;
    if (space->form == FORM_GRAPH) {
        record_degrees(p, out);
        const struct graph *g = space->graph;
        tally[ROW_COMPONENT] = (int64_t)rint((double)g->largest / (double)g->whole * 0x1p40);
    } else if (space->form == FORM_ARCS) {
        record_shares(p, tally, out);
    }
}
