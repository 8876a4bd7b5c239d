/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t points_of(const struct layout *l) {
    return l->store->job->n_points;
}

static uint64_t width_of(const struct layout *l, const struct variable *v) {
    const uint64_t last = l->length[v->dimension[v->rank - 1]];
    return v->two_axes ? last * l->length[v->dimension[v->rank - 2]] : last;
}

static const struct counts *counts_at(const struct layout *l, uint64_t point, unsigned h) {
    return &l->store->points[point].histogram[h];
}

/* ---- coordinates ---- */

void fill_index(const struct layout *l, const struct variable *v, void *data) {
    uint64_t *to = data;
    for (uint64_t i = 0; i < width_of(l, v); i++)
        to[i] = i + (v->dimension[0] == DIMENSION_REPLICATION ? l->first : 0);
}

void fill_lower(const struct layout *l, const struct variable *v, void *data) {
    const struct axis_row *axis = &axis_rows[v->index];
    uint64_t *whole = data;
    double *length = data;
    for (uint64_t i = 0; i < width_of(l, v); i++)
        if (axis->lower)
            whole[i] = axis->lower(i);
        else
            length[i] = axis->begin(i);
}

void fill_grid(const struct layout *l, const struct variable *v, void *data) {
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++) {
        const struct facts *facts = &l->store->job->points[p].facts;
        if (facts->grid)
            memcpy(to, facts->grid, width_of(l, v) * sizeof *to);
    }
}

void fill_second(const struct layout *l, const struct variable *v, void *data) {
    double *to = data;
    for (uint64_t i = 0; i < width_of(l, v); i++)
        to[i] = (double)i * l->store->job->points[0].facts.stretch;
}

void fill_upper(const struct layout *l, const struct variable *v, void *data) {
    const struct axis_row *axis = &axis_rows[v->index];
    uint64_t *whole = data;
    double *length = data;
    for (uint64_t i = 0; i < width_of(l, v); i++)
        if (axis->lower)
            whole[i] = axis->lower(i + 1) - 1;
        else
            length[i] = axis->begin(i + 1);
}

/* ---- of points ---- */

void fill_label(const struct layout *l, const struct variable *v, void *data) {
    const char **to = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = l->store->job->points[p].label ? l->store->job->points[p].label : "";
}

void fill_column(const struct layout *l, const struct variable *v, void *data) {
    memcpy(data, l->columns.columns[v->index].data, points_of(l) * element_size(v->element));
}

void fill_replications(const struct layout *l, const struct variable *v, void *data) {
    uint64_t *to = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = l->store->points[p].complete;
}

void fill_stream(const struct layout *l, const struct variable *v, void *data) {
    uint64_t *to = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = l->store->job->points[p].stream;
}

/* ---- of rows ---- */

void fill_row(const struct layout *l, const struct variable *v, void *data) {
    const uint64_t width = width_of(l, v), skip = l->first - l->store->first;
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++) {
        const struct point_store *point = &l->store->points[p];
        const double *row = point->row[v->index];
        for (uint64_t r = 0; r < width; r++)
            to[p * width + r] = row && skip + r < point->capacity ? row[skip + r] : (double)NAN;
    }
}

bool take_row(const struct layout *l, const struct variable *v, const void *data,
              struct reason *why) {
    const uint64_t width = width_of(l, v);
    const double *from = data;
    (void)why;
    for (uint64_t p = 0; p < points_of(l); p++) {
        struct point_store *point = &l->into->points[p];
        for (unsigned i = 0; point->row[v->index] && i < point->n_spans; i++) {
            const struct span span = point->spans[i];
            memcpy(point->row[v->index] + span.first - l->into->first,
                   from + p * width + span.first - l->first,
                   (span.end - span.first) * sizeof *from);
        }
    }
    return true;
}

void fill_mean(const struct layout *l, const struct variable *v, void *data) {
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = store_mean(l->store, p, v->index);
}

void fill_se(const struct layout *l, const struct variable *v, void *data) {
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = store_se(l->store, p, v->index);
}

/* ---- of histograms ---- */

void fill_histogram(const struct layout *l, const struct variable *v, void *data) {
    const uint64_t width = width_of(l, v);
    const unsigned batches = batches_of(&l->store->job->model->histograms[v->index]);
    uint64_t *to = data;
    for (uint64_t p = 0; p < points_of(l); p++, to += width) {
        const struct counts *c = counts_at(l, p, v->index);
        const uint64_t bins = c->bins < width ? c->bins : width;
        for (unsigned b = 0; c->count && b < batches; b++)
            for (uint64_t i = 0; i < bins; i++)
                to[i] += c->count[b * c->stride + i];
    }
}

void fill_batches(const struct layout *l, const struct variable *v, void *data) {
    const uint64_t width = width_of(l, v);
    uint64_t *to = data;
    for (uint64_t p = 0; p < points_of(l); p++)
        batches_at(l->store, p, v->index, width, to + p * BATCHES * width);
}

/* Counts of every point, [point][batches][width]. */
static void take_counts(const struct layout *l, const struct variable *v, const uint64_t *count,
                        unsigned batches) {
    const uint64_t width = width_of(l, v);
    for (uint64_t p = 0; p < points_of(l); p++, count += batches * width) {
        struct point_store *point = &l->into->points[p];
        struct counts *to = &point->histogram[v->index];
        uint64_t used = 0;
        for (uint64_t i = 0; i < batches * width; i++)
            if (count[i] && i % width >= used)
                used = i % width + 1;
        if (!used)
            continue;
        store_widen(l->into->job, point, v->index, used);
        to->bins = used > to->bins ? used : to->bins;
        for (unsigned b = 0; b < batches; b++)
            memcpy(to->count + b * to->stride, count + b * width, used * sizeof *count);
    }
}

bool take_histogram(const struct layout *l, const struct variable *v, const void *data,
                    struct reason *why) {
    (void)why;
    take_counts(l, v, data, 1);
    return true;
}

bool take_batches(const struct layout *l, const struct variable *v, const void *data,
                  struct reason *why) {
    (void)why;
    take_counts(l, v, data, BATCHES);
    return true;
}

/* What one count stands for in a mean over replications. */
static double unit_of(const struct layout *l, uint64_t point, unsigned h) {
    const double unit = l->store->job->points[point].facts.unit[h];
    return unit > 0.0 ? unit : 1.0;
}

/* The sum of a bin over batches. */
static uint64_t sum_at(const struct counts *c, unsigned batches, uint64_t bin) {
    uint64_t sum = 0;
    for (unsigned b = 0; bin < c->bins && b < batches; b++)
        sum += c->count[b * c->stride + bin];
    return sum;
}

void fill_averages(const struct layout *l, const struct variable *v, void *data) {
    const struct histogram *h = &l->store->job->model->histograms[v->index];
    const uint64_t width = width_of(l, v);
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++, to += width) {
        const struct counts *c = counts_at(l, p, v->index), *known = counts_at(l, p, h->counter);
        const uint64_t complete = l->store->points[p].complete;
        const struct facts *facts = &l->store->job->points[p].facts;
        const uint64_t all = h->axis == AXIS_SERVER ? facts->servers : facts->bins[v->index];
        const uint64_t n =
            histogram_applies(&l->store->job->points[p], v->index) && complete ? all : 0;
        for (uint64_t i = 0; i < width; i++) {
            const bool has = i < n && (!h->counter || sum_at(known, 1, i) == complete);
            to[i] = has ? unit_of(l, p, v->index) *
                              ((double)(int64_t)sum_at(c, batches_of(h), i) / (double)complete)
                        : (double)NAN;
        }
    }
}

/* Errors from the spread over batches: a mean is a sum over its number of replications, which is what
 * a fraction is too. */
void fill_averages_se(const struct layout *l, const struct variable *v, void *data) {
    const uint64_t width = width_of(l, v);
    uint64_t *counts = allocate(BATCHES * width, sizeof *counts);
    double *to = data;
    fill_averages(l, v, data); /* where there is no mean, there is no error */
    for (uint64_t p = 0; p < points_of(l); p++, to += width) {
        struct batches b = batches_at(l->store, p, v->index, width, counts);
        memcpy(b.observed, l->store->points[p].batch_replications, sizeof b.observed);
        for (uint64_t i = 0; i < width; i++)
            if (!isnan(to[i]))
                to[i] = unit_of(l, p, v->index) * stats_fraction_se(&b, i);
    }
    free(counts);
}

void fill_batch_averages(const struct layout *l, const struct variable *v, void *data) {
    const uint64_t width = width_of(l, v);
    uint64_t *counts = allocate(BATCHES * width, sizeof *counts);
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++) {
        const uint64_t *replications = l->store->points[p].batch_replications;
        const struct point *point = &l->store->job->points[p];
        const uint64_t applies = histogram_applies(point, v->index) ? width : 0;
        batches_at(l->store, p, v->index, width, counts);
        for (unsigned b = 0; b < BATCHES; b++, to += width)
            for (uint64_t i = 0; i < width; i++)
                to[i] = i < applies && replications[b]
                            ? unit_of(l, p, v->index) *
                                  ((double)counts[b * width + i] / (double)replications[b])
                            : (double)NAN;
    }
    free(counts);
}

static void fill_estimates(const struct layout *l, const struct variable *v, double *to,
                           double (*estimate)(const struct batches *, uint64_t)) {
    const uint64_t width = width_of(l, v);
    uint64_t *counts = allocate(BATCHES * width, sizeof *counts);
    for (uint64_t p = 0; p < points_of(l); p++, to += width) {
        const struct batches b = batches_at(l->store, p, v->index, width, counts);
        const bool some = counts_at(l, p, v->index)->count && l->store->points[p].complete;
        for (uint64_t i = 0; i < width; i++)
            to[i] = some ? estimate(&b, i) : (double)NAN;
    }
    free(counts);
}

void fill_fraction(const struct layout *l, const struct variable *v, void *data) {
    fill_estimates(l, v, data, stats_fraction);
}

void fill_fraction_se(const struct layout *l, const struct variable *v, void *data) {
    fill_estimates(l, v, data, stats_fraction_se);
}

void fill_comparison(const struct layout *l, const struct variable *v, void *data) {
    const struct comparisons *c = &l->comparisons;
    double *to = data;
    for (uint64_t p = 0; p < points_of(l); p++) {
        const struct variation law = c->laws ? c->laws[p] : (struct variation){0};
        const struct reduction cost = c->costs ? c->costs[p] : (struct reduction){0};
        const double x[] = {law.tv, law.floor, law.cross, law.cross_se, cost.value, cost.se};
        to[p] = x[v->index];
    }
}

/* ---- of the state ---- */

void fill_spans(const struct layout *l, const struct variable *v, void *data) {
    uint64_t *to = data; /* stays one empty range when nothing is complete */
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        for (unsigned i = 0; i < l->store->points[p].n_spans; i++) {
            *to++ = p;
            *to++ = l->store->points[p].spans[i].first;
            *to++ = l->store->points[p].spans[i].end;
        }
}

/* Replications are numbered in 32 bits, and with rows every one has its place. */
static bool is_range(const struct layout *l, const uint64_t *range, const uint64_t *before) {
    const uint64_t rows = l->length[DIMENSION_REPLICATION];
    const uint64_t most = rows ? l->first + rows : (uint64_t)UINT32_MAX + 1;
    return range[0] < points_of(l) && range[1] < range[2] && range[2] <= most &&
           (!rows || range[1] >= l->first) &&
           (!before || before[0] < range[0] || (before[0] == range[0] && before[2] < range[1]));
}

bool take_spans(const struct layout *l, const struct variable *v, const void *data,
                struct reason *why) {
    const uint64_t n = l->length[DIMENSION_SPAN];
    const uint64_t *range = data;
    (void)v;
    if (n == 1 && range[1] == range[2])
        return true; /* nothing is complete */
    for (uint64_t i = 0; i < n; i++, range += BOUNDS) {
        if (!is_range(l, range, i ? range - BOUNDS : NULL))
            return refuse(why, "its ranges of replications make no sense");
        struct point_store *point = &l->into->points[range[0]];
        if (l->length[DIMENSION_REPLICATION])
            store_reserve(l->into, range[0], range[2]);
        store_mark(point, range[1], range[2]);
    }
    return true;
}

void fill_batch_replications(const struct layout *l, const struct variable *v, void *data) {
    uint64_t *to = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        memcpy(to + p * BATCHES, l->store->points[p].batch_replications, BATCHES * sizeof *to);
}

bool take_batch_replications(const struct layout *l, const struct variable *v, const void *data,
                             struct reason *why) {
    const uint64_t *from = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++, from += BATCHES) {
        struct point_store *point = &l->into->points[p];
        uint64_t ranges = 0, batches = 0;
        for (unsigned i = 0; i < point->n_spans; i++)
            ranges += point->spans[i].end - point->spans[i].first;
        for (unsigned b = 0; b < BATCHES; b++)
            batches += from[b];
        if (ranges != batches)
            return refuse(why, "its numbers of replications do not agree");
        memcpy(point->batch_replications, from, BATCHES * sizeof *from);
        point->complete = ranges;
    }
    return true;
}

void fill_moments(const struct layout *l, const struct variable *v, void *data) {
    const unsigned rows = l->store->job->model->n_rows;
    uint64_t *to = data;
    (void)v;
    for (uint64_t i = 0; i < points_of(l) * rows; i++, to += MOMENT_WORDS) {
        const struct moments *m = &l->store->points[i / rows].moments[i % rows];
        const uint64_t words[MOMENT_WORDS] = {m->count,      m->sum[0],     m->sum[1],
                                              m->squares[0], m->squares[1], m->squares[2]};
        memcpy(to, words, sizeof words);
    }
}

bool take_moments(const struct layout *l, const struct variable *v, const void *data,
                  struct reason *why) {
    const unsigned rows = l->store->job->model->n_rows;
    const uint64_t *w = data;
    (void)v;
    (void)why;
    for (uint64_t i = 0; i < points_of(l) * rows; i++, w += MOMENT_WORDS)
        l->into->points[i / rows].moments[i % rows] =
            (struct moments){.count = w[0], .sum = {w[1], w[2]}, .squares = {w[3], w[4], w[5]}};
    return true;
}

void fill_done(const struct layout *l, const struct variable *v, void *data) {
    uint8_t *to = data;
    (void)v;
    for (uint64_t p = 0; p < points_of(l); p++)
        to[p] = store_whole(l->store, p);
}

bool take_done(const struct layout *l, const struct variable *v, const void *data,
               struct reason *why) {
    const uint8_t *from = data;
    (void)v;
    (void)why;
    for (uint64_t p = 0; p < points_of(l); p++)
        l->into->points[p].done = from[p] != 0;
    return true;
}
