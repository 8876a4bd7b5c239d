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
    memset(q->view.level, 0, LEVEL_BINS * sizeof *q->view.level);
    q->beyond = 0;
    if (q->view.area)
        memset(q->view.area, 0, q->p->n * sizeof *q->view.area);
}

/* The jobs present at a time begin to count (minus), or stop. */
static void settle_present(struct queue_play *q, double time, bool begin) {
    const uint64_t when = begin ? -whole_time(&q->view, time) : whole_time(&q->view, time);
    for (uint32_t v = 0; v < q->p->n; v++)
        for (uint32_t load = look(&q->view, v, time); load > 0; load--) {
            account(&q->view, load, when);
            if (q->view.area)
                q->view.area[v] += when;
        }
}

void ISA(record_open)(struct queue_play *q, double time) {
    for (uint32_t v = 0; v < q->p->n; v++)
        look(&q->view, v, time);
    memset(q->view.level, 0, LEVEL_BINS * sizeof *q->view.level);
    q->beyond = 0;
    if (q->view.area)
        memset(q->view.area, 0, q->p->n * sizeof *q->view.area);
    q->open = true;
    q->opened = time;
    settle_present(q, time, true);
}

void ISA(record_close)(struct queue_play *q, double time) {
    settle_present(q, time, false);
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

/* Adds values from .. to-1, value i to lane i % 8. */
static void add_moments(struct moments_of *m, const double *restrict x, double excess,
                        uint32_t from, uint32_t to, uint32_t *restrict bin) {
    double lane[MOMENTS][LANES_OF_SUMS];
    memcpy(lane, m->sum, sizeof lane);
    uint32_t i = from;
    for (; i < to && i % LANES_OF_SUMS; i++) {
        lane[MOMENT_MEAN][i % LANES_OF_SUMS] += x[i];
        lane[MOMENT_SECOND][i % LANES_OF_SUMS] += x[i] * x[i];
        lane[MOMENT_EXCESS][i % LANES_OF_SUMS] += x[i] > excess ? x[i] - excess : 0;
    }
    for (; i + LANES_OF_SUMS <= to; i += LANES_OF_SUMS)
        for (unsigned j = 0; j < LANES_OF_SUMS; j++) {
            const double y = x[i + j];
            lane[MOMENT_MEAN][j] += y;
            lane[MOMENT_SECOND][j] += y * y;
            lane[MOMENT_EXCESS][j] += y > excess ? y - excess : 0;
        }
    for (; i < to; i++) {
        lane[MOMENT_MEAN][i % LANES_OF_SUMS] += x[i];
        lane[MOMENT_SECOND][i % LANES_OF_SUMS] += x[i] * x[i];
        lane[MOMENT_EXCESS][i % LANES_OF_SUMS] += x[i] > excess ? x[i] - excess : 0;
    }
    memcpy(m->sum, lane, sizeof lane);
    uint32_t *restrict fine = m->fine;
    for (i = from; i < to; i++)
        bin[i] = (uint32_t)time_bin_at(x[i], FINE_LOG);
    for (i = from; i < to; i++)
        fine[bin[i]]++;
}

static void count_loads(const uint32_t *load, uint32_t from, uint32_t to, uint64_t *by_load) {
    for (uint32_t i = from; i < to; i++)
        if (load[i] != NOT_SEEN)
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
    count_loads(q->load, from, to, q->by_load);
    count_loads(q->load_origin, from, to, q->by_load_origin);
    add_costs(q, from, to);
}

/* ---- a replication ---- */

static int64_t in_units(double value, double unit) {
    const double units = rint(value / unit);
    return isnan(units)       ? 0
           : units >= 0x1p62  ? (int64_t)1 << 62
           : units <= -0x1p62 ? -((int64_t)1 << 62)
                              : (int64_t)units;
}

/* The value below which a share of the counted ones lies. */
static double quantile(const uint32_t *fine, uint64_t count, double share) {
    const double wanted = share * (double)count;
    uint64_t below = 0;
    for (uint64_t bin = 0; bin < FINE_BINS; bin++) {
        const uint64_t here = fine[bin];
        if (here && (double)(below + here) >= wanted) {
            const double low = time_bin_begin(bin, FINE_LOG),
                         high = time_bin_begin(bin + 1, FINE_LOG);
            return bin ? low + (high - low) * ((wanted - (double)below) / (double)here) : 0;
        }
        below += here;
    }
    return 0;
}

static void tally_times(const struct queue_play *q, const struct moments_of *m, int64_t *tally) {
    const double jobs = q->jobs ? (double)q->jobs : 1;
    for (unsigned k = 0; k < MOMENTS; k++) {
        double sum = 0;
        for (unsigned j = 0; j < LANES_OF_SUMS; j++)
            sum += m->sum[k][j];
        tally[k] = in_units(sum / jobs, k == MOMENT_SECOND ? q->p->square : q->p->unit);
    }
    for (unsigned k = 0; k < TIME_QUANTILES; k++)
        tally[MOMENTS + k] = in_units(quantile(m->fine, q->jobs, quantiles[k]), q->p->unit);
}

static void add(struct outcome *out, unsigned h, uint64_t batch, uint64_t bin, uint64_t count) {
    if (!out->histogram[h] || !count)
        return;
    CHECK(bin < out->stride[h]);
    out->histogram[h][batch * out->stride[h] + bin] += count;
    if (out->used[h] <= bin)
        out->used[h] = bin + 1;
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

static void record_histograms(const struct queue_play *q, struct outcome *out) {
    for (uint64_t bin = 0; bin < LEVEL_BINS; bin++) {
        add(out, COUNT_LOAD_ORIGIN, 0, bin, q->by_load_origin[bin]);
        add(out, COUNT_LOAD_CHOSEN, 0, bin, q->by_load[bin]);
    }
    add(out, COUNT_RESPONSE, 0, 0, q->of_response.fine[0]);
    for (uint64_t bin = 1; bin < FINE_BINS; bin++)
        add(out, COUNT_RESPONSE, 0, ((bin - 1) >> (FINE_LOG - TIME_LOG)) + 1,
            q->of_response.fine[bin]);
    for (unsigned k = 0; k < PATH_TIMES; k++)
        add(out, SUM_PATH, 0, k,
            (uint64_t)in_units((double)q->path_jobs[k] / (double)q->p->n, QUEUE_LENGTH_UNIT));
    if (out->used[SUM_PATH] && out->histogram[SUM_PATH])
        out->used[SUM_PATH] = PATH_TIMES;
}

void ISA(record_replication)(struct queue_play *q, uint64_t index, struct outcome *out) {
    const struct queue *p = q->p;
    int64_t *tally = out->tally + index * QUEUE_ROWS;
    const double window = q->closes - q->opened, n = (double)p->n, all = window * q->view.scale * n,
                 jobs = q->jobs ? (double)q->jobs : 1;
    uint128 present = q->beyond_at_close;
    for (uint64_t k = 1; k < LOADS_EXACT; k++)
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
    record_levels(q, (out->first + index) % BATCHES, time, out);
    record_histograms(q, out);
    if (out->histogram[SUM_SERVER_QUEUE]) {
        const struct graph *graph = p->sampler.space.graph;
        const uint32_t *original = graph ? graph->original : NULL;
        for (uint32_t v = 0; v < p->n; v++)
            out->histogram[SUM_SERVER_QUEUE][original ? original[v] : v] += (uint64_t)in_units(
                (double)q->areas[v] / q->view.scale / (window > 0 ? window : 1), QUEUE_LENGTH_UNIT);
        out->used[SUM_SERVER_QUEUE] = out->stride[SUM_SERVER_QUEUE];
    }
}
