/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: what is recorded. Times of jobs are sums in a fixed order; times of servers by load are whole
 * numbers, ends less beginnings; quantiles come from bins of relative width 1/64, between whose ends
 * they are interpolated. */
#include "queue_play.h"

#include "distance.h"
#include "sites.h"

#include <string.h>

static const double quantiles[TIME_QUANTILES] = {0.5, 0.9, 0.95, 0.99};

static void clear_times(struct queue_play *q) {
    memset(q->view.level, 0, LEVEL_BINS * sizeof *q->view.level);
    memset(q->view.come, 0, (EIGHT + LINE_MOST) * sizeof *q->view.come);
    q->beyond = 0;
    if (q->view.area)
        memset(q->view.area, 0, q->p->n * sizeof *q->view.area);
}

void ISA(record_begin)(struct queue_play *q) {
    q->open = q->closed = false;
    q->opened = q->closes = 0;
    q->jobs = q->first_job = q->moved = q->cost = 0;
    q->length = q->serving = 0;
    q->path = 0;
    memset(q->of_response.sum, 0, sizeof q->of_response.sum);
    memset(q->of_waiting.sum, 0, sizeof q->of_waiting.sum);
    memset(q->of_response.fine, 0, FINE_BINS * sizeof(uint32_t));
    memset(q->of_waiting.fine, 0, FINE_BINS * sizeof(uint32_t));
    memset(q->by_load, 0, LEVEL_BINS * sizeof *q->by_load);
    memset(q->by_load_origin, 0, LEVEL_BINS * sizeof *q->by_load_origin);
    clear_times(q);
}

static void add_area(const struct view *w, uint32_t v, uint64_t left, uint64_t sign) {
    if (w->area)
        w->area[v] += sign == 1 ? left : -(uint128)left;
}

/* The jobs present at a time begin to count (minus), or stop. Those of lines count until they are
 * done as soon as they come, and so do areas: what is then still to come begins to count, or stops. */
static void settle_ring(struct queue_play *q, uint32_t v, uint64_t when, uint64_t sign) {
    const struct view *w = &q->view;
    const struct server *s = w->server + v;
    for (uint32_t k = 0; k < s->count; k++) {
        account(w, w->line_size + k + 1, -sign * when);
        add_area(w, v, whole_time(w, w->pool[s->ring + ((s->head + k) & s->mask)]) - when, sign);
    }
}

static void settle_line(struct queue_play *q, uint32_t v, uint64_t when, uint64_t sign) {
    const struct view *w = &q->view;
    const double *line = line_of(w, w->line_size, v);
    for (uint32_t k = 0; k < w->line_size; k++) {
        const uint64_t ends = whole_time(w, line[k]), left = ends > when ? ends - when : 0;
        account(w, k + 1, sign * left);
        add_area(w, v, left, sign);
    }
}

static void settle_present(struct queue_play *q, double time, bool begin) {
    const uint64_t when = whole_time(&q->view, time), sign = begin ? 1 : -(uint64_t)1;
    for (uint32_t v = 0; v < q->p->n; v++) {
        look_at_ring(&q->view, v, time);
        settle_ring(q, v, when, sign);
        settle_line(q, v, when, sign);
    }
}

/* Times of lines, kept as sums over jobs (queue_turns.c). */
static void settle_coming(struct queue_play *q) {
    const struct view *w = &q->view;
    for (uint32_t k = 0; k < w->line_size; k++)
        w->level[k + 1] += w->come[k ? EIGHT + k - 1 : 0] - w->come[EIGHT + k];
}

void ISA(record_open)(struct queue_play *q, double time) {
    for (uint32_t v = 0; v < q->p->n; v++)
        look_at_ring(&q->view, v, time);
    clear_times(q);
    q->open = true;
    q->opened = time;
    settle_present(q, time, true);
    if (q->p->neighbours)
        ISA(watch_open)(q);
}

void ISA(record_close)(struct queue_play *q, double time) {
    settle_present(q, time, false);
    settle_coming(q);
    q->open = false;
    q->closed = true;
    q->closes = time;
    memcpy(q->level_at_close, q->view.level, LEVEL_BINS * sizeof *q->view.level);
    q->beyond_at_close = q->beyond;
    q->view.area = NULL;
}

void ISA(record_path)(struct queue_play *q, double time) {
    uint64_t jobs = 0;
    for (uint32_t v = 0; v < q->p->n; v++)
        jobs += look(&q->view, v, time);
    q->path_jobs[q->path++] = jobs;
}

/* ---- jobs ---- */

static inline __attribute__((always_inline)) void
add_lanes(const double *restrict x, double excess, uint32_t first, uint32_t last,
          double *restrict mean, double *restrict second, double *restrict beyond) {
#pragma omp simd
    for (uint32_t j = first; j < last; j++) {
        const double y = x[j];
        mean[j] += y;
        second[j] += y * y;
        beyond[j] += y > excess ? y - excess : 0;
    }
}

/* Adds values from .. to-1, value i to lane i % 8. */
static void add_moments(struct moments_of *m, const double *restrict x, double excess,
                        uint32_t from, uint32_t to, uint32_t *restrict bin) {
    double mean[LANES_OF_SUMS], second[LANES_OF_SUMS], beyond[LANES_OF_SUMS];
    memcpy(mean, m->sum[MOMENT_MEAN], sizeof mean);
    memcpy(second, m->sum[MOMENT_SECOND], sizeof second);
    memcpy(beyond, m->sum[MOMENT_EXCESS], sizeof beyond);
    uint32_t i = from;
    while (i < to) {
        const uint32_t first = i % LANES_OF_SUMS, left = to - i,
                       last = left < LANES_OF_SUMS - first ? first + left : LANES_OF_SUMS;
        if (first == 0 && last == LANES_OF_SUMS)
            add_lanes(x + i, excess, 0, LANES_OF_SUMS, mean, second, beyond);
        else
            add_lanes(x + i - first, excess, first, last, mean, second, beyond);
        i += last - first;
    }
    memcpy(m->sum[MOMENT_MEAN], mean, sizeof mean);
    memcpy(m->sum[MOMENT_SECOND], second, sizeof second);
    memcpy(m->sum[MOMENT_EXCESS], beyond, sizeof beyond);
    uint32_t *restrict fine = m->fine;
    for (i = from; i < to; i++)
        bin[i] = (uint32_t)time_bin_at(x[i], FINE_LOG);
    for (i = from; i < to; i++)
        fine[bin[i]]++;
}

/* One in so many jobs has looked at its origin. */
static uint32_t origin_step(const struct queue_play *q) {
    const bool all = q->p->sampler.origin_first && q->pick != PICK_MANY && q->pick != PICK_CENTRAL;
    return all ? 1 : ORIGINS_SAMPLED;
}

/* Of jobs whose number in the block is a multiple of `step`. */
static inline void count_loads(const uint32_t *load, uint32_t from, uint32_t to, uint32_t step,
                               uint64_t *by_load) {
    for (uint32_t i = (from + step - 1) / step * step; i < to; i += step)
        by_load[bin_of(load[i])]++;
}

static void add_lengths(struct queue_play *q, uint32_t from, uint32_t to) {
    const struct sites *sites = q->p->sampler.space.sites;
    const struct block *b = &q->block;
    for (uint32_t i = from; i < to; i++)
        q->length += sqrt((double)plane_squared(sites, b->point[0][i] >> 1, b->point[1][i] >> 1,
                                                q->where[i])) *
                     0x1p-31;
}

static void add_costs(struct queue_play *q, uint32_t from, uint32_t to) {
    const struct sampler *s = &q->p->sampler;
    const uint32_t *origin = q->block.origin + from, *where = q->where + from, size = to - from;
    uint32_t *hop = q->block.hop + from, moved = 0;
    for (uint32_t i = 0; i < size; i++)
        moved += origin[i] != where[i];
    q->moved += moved;
    if (s->space.form == FORM_PLANE)
        add_lengths(q, from, to);
    if (s->space.sites)
        return;
    if (s->space.form == FORM_COMPLETE || moved == 0) {
        q->cost += moved;
        return;
    }
    if (s->gives_hop)
        for (uint32_t i = 0; i < size; i++)
            hop[i] &= -(uint32_t)(origin[i] != where[i]);
    else if (q->p->measures)
        ISA(hops_block)(&q->p->hops, q->searches, origin, where, size, hop);
    else
        block_hops(&s->space, origin, where, size, hop);
    uint64_t cost = 0;
    for (uint32_t i = 0; i < size; i++)
        cost += hop[i];
    q->cost += cost;
}

void ISA(record_jobs)(struct queue_play *q, uint32_t from, uint32_t to) {
    q->jobs += to - from;
    add_moments(&q->of_response, q->response, q->p->excess, from, to, q->block.scratch);
    add_moments(&q->of_waiting, q->wait, q->p->excess, from, to, q->block.scratch);
    count_loads(q->load, from, to, 1, q->by_load);
    count_loads(q->load_origin, from, to, origin_step(q), q->by_load_origin);
    add_costs(q, from, to);
}

/* ---- a replication ---- */

static int64_t in_units(double value, double unit) {
    const double units = rint(value / unit);
    return isnan(units)          ? 0
           : units >= TALLY_TOP  ? (int64_t)TALLY_TOP
           : units <= -TALLY_TOP ? -(int64_t)TALLY_TOP
                                 : (int64_t)units;
}

/* Bins of times stand far from 0, and only few are in use: the first that may be. */
static uint64_t first_used(const uint32_t *fine) {
    enum { STRIDE = 32 };
    for (uint64_t bin = 0; bin + STRIDE <= FINE_BINS; bin += STRIDE) {
        uint32_t some = 0;
#pragma omp simd reduction(| : some)
        for (unsigned j = 0; j < STRIDE; j++)
            some |= fine[bin + j];
        if (some)
            return bin;
    }
    return FINE_BINS / STRIDE * STRIDE;
}

/* The values below which shares of the counted ones lie. */
static void find_quantiles(const uint32_t *fine, uint64_t count, double value[TIME_QUANTILES]) {
    uint64_t below = 0;
    unsigned k = 0;
    for (uint64_t bin = first_used(fine); bin < FINE_BINS && k < TIME_QUANTILES; bin++) {
        const uint64_t here = fine[bin];
        for (; k < TIME_QUANTILES && here; k++) {
            const double wanted = quantiles[k] * (double)count;
            if ((double)(below + here) < wanted)
                break;
            const double low = time_bin_begin(bin, FINE_LOG),
                         high = time_bin_begin(bin + 1, FINE_LOG);
            value[k] = bin ? low + (high - low) * ((wanted - (double)below) / (double)here) : 0;
        }
        below += here;
    }
    for (; k < TIME_QUANTILES; k++)
        value[k] = 0;
}

static void tally_times(const struct queue_play *q, const struct moments_of *m, int64_t *tally) {
    const double jobs = q->jobs ? (double)q->jobs : 1;
    for (unsigned k = 0; k < MOMENTS; k++) {
        double sum = 0;
        for (unsigned j = 0; j < LANES_OF_SUMS; j++)
            sum += m->sum[k][j];
        tally[k] = in_units(sum / jobs, k == MOMENT_SECOND ? q->p->square : q->p->unit);
    }
    double value[TIME_QUANTILES];
    find_quantiles(m->fine, q->jobs, value);
    for (unsigned k = 0; k < TIME_QUANTILES; k++)
        tally[MOMENTS + k] = in_units(value[k], q->p->unit);
}

static void add(struct outcome *out, unsigned h, uint64_t batch, uint64_t bin, uint64_t count) {
    if (count)
        outcome_add(out, h, batch, bin, count);
}

/* Shares of time by load: from the time with at least so many jobs. */
static void record_levels(const struct queue_play *q, uint64_t batch, double all,
                          struct outcome *out) {
    const uint64_t *level = q->level_at_close;
    for (uint64_t bin = 0; bin < LEVEL_BINS; bin++) {
        const double here = bin ? (double)level[bin] : all,
                     next = bin + 1 < LEVEL_BINS ? (double)level[bin + 1] : 0;
        add(out, TIME_LOAD, batch, bin, (uint64_t)in_units((here - next) / all, QUEUE_SHARE_UNIT));
        if (next <= 0)
            break;
    }
}

static void add_loads(struct outcome *out, unsigned h, const uint64_t *by_load) {
    enum { STRIDE = 16 };
    for (uint64_t bin = 0; bin < LEVEL_BINS; bin += STRIDE) {
        uint64_t some = 0;
#pragma omp simd reduction(| : some)
        for (unsigned j = 0; j < STRIDE; j++)
            some |= by_load[bin + j];
        for (unsigned j = 0; some && j < STRIDE; j++)
            add(out, h, 0, bin + j, by_load[bin + j]);
    }
}
_Static_assert(LEVEL_BINS % 16 == 0, "whole strides of loads");

static void record_histograms(const struct queue_play *q, struct outcome *out) {
    add_loads(out, COUNT_LOAD_ORIGIN, q->by_load_origin);
    add_loads(out, COUNT_LOAD_CHOSEN, q->by_load);
    add(out, COUNT_RESPONSE, 0, 0, q->of_response.fine[0]);
    for (uint64_t bin = first_used(q->of_response.fine), left = q->jobs; bin < FINE_BINS && left;
         bin++) {
        left -= q->of_response.fine[bin];
        if (bin)
            add(out, COUNT_RESPONSE, 0, ((bin - 1) >> (FINE_LOG - TIME_LOG)) + 1,
                q->of_response.fine[bin]);
    }
    for (unsigned k = 0; k < PATH_TIMES; k++)
        add(out, SUM_PATH, 0, k,
            (uint64_t)in_units((double)q->path_jobs[k] / (double)q->p->n, q->p->sum_unit));
    if (out->used[SUM_PATH] && out->histogram[SUM_PATH])
        out->used[SUM_PATH] = PATH_TIMES;
}

/* What belongs to each server, under the number it has in the file of the graph. */
static void record_servers(const struct queue_play *q, double window, struct outcome *out) {
    const struct graph *graph = q->p->sampler.space.graph;
    const uint32_t *original = graph ? graph->original : NULL;
    uint64_t *queue = out->histogram[SUM_SERVER_QUEUE],
             *pairs = q->p->neighbours ? out->histogram[SUM_SERVER_CORRELATION] : NULL;
    for (uint32_t v = 0; v < q->p->n && queue; v++)
        queue[original ? original[v] : v] += (uint64_t)in_units(
            (double)q->areas[v] / q->view.scale / (window > 0 ? window : 1), q->p->sum_unit);
    for (uint32_t v = 0; v < q->p->n && pairs; v++)
        pairs[original ? original[v] : v] +=
            (uint64_t)in_units(q->watch.of_server[v], QUEUE_CORRELATION_UNIT);
    out->used[SUM_SERVER_QUEUE] = queue ? out->stride[SUM_SERVER_QUEUE] : 0;
    out->used[SUM_SERVER_CORRELATION] = pairs ? out->stride[SUM_SERVER_CORRELATION] : 0;
}

void ISA(record_replication)(struct queue_play *q, uint64_t index, struct outcome *out) {
    const struct queue *p = q->p;
    int64_t *tally = out->tally + index * QUEUE_ROWS;
    const double window = q->closes - q->opened, n = (double)p->n, all = window * q->view.scale * n,
                 jobs = q->jobs ? (double)q->jobs : 1;
    uint128 present = q->beyond_at_close;
    for (uint64_t k = 1; k < LOADS_EXACT && q->level_at_close[k]; k++)
        present += q->level_at_close[k];
    const double time = all > 0 ? all : 1, occupied = (double)q->level_at_close[1] / time;
    tally_times(q, &q->of_response, tally + QUEUE_RESPONSE);
    tally_times(q, &q->of_waiting, tally + QUEUE_WAITING);
    tally[QUEUE_LENGTH] = in_units((double)present / time, QUEUE_LENGTH_UNIT);
    tally[QUEUE_OCCUPIED] = in_units(occupied, QUEUE_SHARE_UNIT);
    tally[QUEUE_UTILISATION] =
        in_units(p->failures ? q->serving * q->view.scale / time : occupied, QUEUE_SHARE_UNIT);
    tally[QUEUE_MOVED] = in_units((double)q->moved / jobs, QUEUE_SHARE_UNIT);
    tally[QUEUE_COST] =
        in_units((p->sampler.space.form == FORM_PLANE ? q->length : (double)q->cost) / jobs,
                 QUEUE_COST_UNIT);
    const uint64_t batch = (out->first + index) % BATCHES;
    record_levels(q, batch, time, out);
    record_histograms(q, out);
    if (p->neighbours)
        tally[QUEUE_CORRELATION] =
            in_units(ISA(watch_correlation)(q, q->watch.of_server), QUEUE_CORRELATION_UNIT);
    record_servers(q, window, out);
    if (p->transient.jobs)
        ISA(follow_record)(q, batch, out);
}
