/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What has been gathered so far. */
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct store *store_new(const struct job *job) {
    struct store *s = allocate(1, sizeof *s);
    s->job = job;
    s->first = job_part(job).first;
    s->points = allocate(job->n_points, sizeof *s->points);
    return s;
}

static void point_free(struct point_store *p) {
    free(p->spans);
    for (unsigned r = 0; r < ROWS_MAX; r++)
        free(p->row[r]);
    for (unsigned h = 0; h < HISTOGRAMS_MAX; h++)
        free(p->histogram[h].count);
    *p = (struct point_store){0};
}

void store_free(struct store *s) {
    if (!s)
        return;
    for (uint64_t i = 0; i < s->job->n_points; i++)
        point_free(&s->points[i]);
    free(s->points);
    free(s);
}

void store_clear(const struct job *job, struct point_store *p) {
    (void)job;
    point_free(p);
}

void store_reserve(struct store *s, uint64_t point, uint64_t replications) {
    struct point_store *p = &s->points[point];
    if (!s->job->keep_rows || replications <= s->first + p->capacity)
        return;
    uint64_t room = p->capacity + p->capacity / 2;
    if (room < replications - s->first)
        room = replications - s->first;
    for (unsigned r = 0; r < s->job->model->n_rows; r++) {
        if (!row_applies(&s->job->points[point], r))
            continue;
        p->row[r] = reallocate(p->row[r], room, sizeof *p->row[r]);
        for (uint64_t i = p->capacity; i < room; i++)
            p->row[r][i] = (double)NAN;
    }
    p->capacity = room;
}

void store_widen(const struct job *job, struct point_store *p, unsigned h, uint64_t bins) {
    struct counts *c = &p->histogram[h];
    if (bins > c->stride) {
        const uint64_t batches = histogram_batches(&job->model->histograms[h]),
                       stride = bins + bins / 4 + 4;
        uint64_t *wider = allocate(batches * stride, sizeof *wider);
        for (uint64_t b = 0; b < batches && c->bins; b++)
            memcpy(wider + b * stride, c->count + b * c->stride, c->bins * sizeof *wider);
        free(c->count);
        c->count = wider;
        c->stride = stride;
    }
    if (bins > c->bins)
        c->bins = bins;
}

void store_mark(struct point_store *p, uint64_t first, uint64_t end) {
    unsigned at = 0;
    if (first == end)
        return;
    while (at < p->n_spans && p->spans[at].end < first)
        at++;
    const bool joins_left = at < p->n_spans && p->spans[at].end == first;
    const unsigned next = at + joins_left;
    CHECK(next == p->n_spans || p->spans[next].first >= end);
    const bool joins_right = next < p->n_spans && p->spans[next].first == end;
    if (joins_left && joins_right) {
        p->spans[at].end = p->spans[next].end;
        memmove(p->spans + next, p->spans + next + 1, (p->n_spans - next - 1) * sizeof *p->spans);
        p->n_spans--;
    } else if (joins_left) {
        p->spans[at].end = end;
    } else if (joins_right) {
        p->spans[next].first = first;
    } else {
        p->spans = reallocate(p->spans, p->n_spans + 1u, sizeof *p->spans);
        memmove(p->spans + at + 1, p->spans + at, (p->n_spans - at) * sizeof *p->spans);
        p->spans[at] = (struct span){first, end};
        p->n_spans++;
    }
    p->complete += end - first;
}

void store_sum(const struct model *model, const struct outcome *o, struct moments *sums) {
    for (unsigned r = 0; r < model->n_rows; r++) {
        sums[r] = (struct moments){0};
        for (uint64_t i = 0; i < o->count; i++)
            moments_add(&sums[r], o->tally[i * model->n_rows + r]);
    }
}

static void fold_rows(struct store *s, uint64_t point, const struct outcome *o) {
    const unsigned n_rows = s->job->model->n_rows;
    const struct affine *affine = s->job->points[point].facts.row;
    struct point_store *p = &s->points[point];
    const uint64_t end = o->first + o->count;
    store_reserve(s, point, p->target > end ? p->target : end);
    for (uint64_t i = 0; i < o->count; i++)
        for (unsigned r = 0; r < n_rows; r++)
            if (p->row[r])
                p->row[r][o->first - s->first + i] =
                    affine_value(affine[r], (double)o->tally[i * n_rows + r]);
}

/* How many of first .. first+count-1 are b modulo BATCHES. */
static uint64_t in_batch(uint64_t first, uint64_t count, uint64_t b) {
    const uint64_t start = (b + BATCHES - first % BATCHES) % BATCHES;
    return count > start ? (count - start + BATCHES - 1) / BATCHES : 0;
}

/* Counts of a histogram, all its batches. */
static void add_counts(struct store *into, uint64_t point, unsigned h, const struct counts *from) {
    const struct job *job = into->job;
    if (!from->count)
        return;
    store_widen(job, &into->points[point], h, from->bins);
    struct counts *to = &into->points[point].histogram[h];
    for (uint64_t b = 0; b < histogram_batches(&job->model->histograms[h]); b++)
        for (uint64_t k = 0; k < from->bins; k++)
            to->count[b * to->stride + k] += from->count[b * from->stride + k];
}

void store_fold(struct store *s, uint64_t point, const struct outcome *o,
                const struct moments *sums) {
    const struct job *job = s->job;
    struct point_store *p = &s->points[point];
    store_mark(p, o->first, o->first + o->count);
    for (unsigned b = 0; b < BATCHES; b++)
        p->batch_replications[b] += in_batch(o->first, o->count, b);
    for (unsigned r = 0; r < job->model->n_rows; r++)
        moments_merge(&p->moments[r], &sums[r]);
    if (job->keep_rows)
        fold_rows(s, point, o);
    for (unsigned h = 0; h < job->model->n_histograms; h++)
        if (job->keep_histogram[h])
            add_counts(s, point, h, &(struct counts){o->used[h], o->stride[h], o->histogram[h]});
}

static void merge_point(struct store *into, uint64_t point, const struct point_store *from,
                        uint64_t first) {
    const struct model *model = into->job->model;
    struct point_store *to = &into->points[point];
    for (unsigned i = 0; i < from->n_spans; i++) {
        const struct span span = from->spans[i];
        store_mark(to, span.first, span.end);
        store_reserve(into, point, span.end);
        for (unsigned r = 0; r < model->n_rows; r++)
            if (to->row[r] && from->row[r])
                memcpy(to->row[r] + span.first - into->first, from->row[r] + span.first - first,
                       (span.end - span.first) * sizeof *to->row[r]);
    }
    for (unsigned b = 0; b < BATCHES; b++)
        to->batch_replications[b] += from->batch_replications[b];
    for (unsigned r = 0; r < model->n_rows; r++)
        moments_merge(&to->moments[r], &from->moments[r]);
    for (unsigned h = 0; h < model->n_histograms; h++)
        add_counts(into, point, h, &from->histogram[h]);
}

void store_merge(struct store *into, const struct store *from) {
    for (uint64_t point = 0; point < into->job->n_points; point++)
        merge_point(into, point, &from->points[point], from->first);
}

double store_mean(const struct store *s, uint64_t point, unsigned row) {
    return affine_value(s->job->points[point].facts.row[row],
                        moments_mean(&s->points[point].moments[row]));
}

double store_se(const struct store *s, uint64_t point, unsigned row) {
    return moments_se(&s->points[point].moments[row]) /
           s->job->points[point].facts.row[row].divisor;
}
