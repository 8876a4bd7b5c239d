/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t filled_bins(const struct counts *c, unsigned batches) {
    uint64_t used = 0;
    for (unsigned b = 0; c->count && b < batches; b++)
        for (uint64_t i = c->bins; i > used; i--)
            if (c->count[b * c->stride + i - 1])
                used = i;
    return used;
}

struct batches batches_at(const struct store *s, uint64_t point, unsigned histogram, uint64_t width,
                          uint64_t *counts) {
    const struct counts *c = &s->points[point].histogram[histogram];
    const uint64_t bins = c->count ? (c->bins < width ? c->bins : width) : 0;
    memset(counts, 0, BATCHES * width * sizeof *counts);
    for (unsigned b = 0; bins && b < BATCHES; b++)
        memcpy(counts + b * width, c->count + b * c->stride, bins * sizeof *counts);
    return stats_batches(counts, width, width);
}

static struct variation compare_laws(const struct store *s, uint64_t point) {
    const unsigned law = (unsigned)s->job->model->law;
    const int64_t at = s->job->points[point].baseline;
    if (at < 0 || !s->points[point].complete || !s->points[at].complete)
        return (struct variation){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    const uint64_t base = (uint64_t)at;
    const uint64_t mine = filled_bins(&s->points[point].histogram[law], BATCHES);
    const uint64_t its = filled_bins(&s->points[base].histogram[law], BATCHES);
    const uint64_t width = (mine > its ? mine : its) + 1;
    uint64_t *p = allocate(BATCHES * width, sizeof *p), *q = allocate(BATCHES * width, sizeof *q);
    const struct batches a = batches_at(s, point, law, width, p);
    const struct batches b = batches_at(s, base, law, width, q);
    const struct variation out = stats_variation(&a, &b);
    free(p);
    free(q);
    return out;
}

/* Over the replications that both points have. */
static struct reduction paired(const struct point_store *of, const struct point_store *base,
                               unsigned row) {
    const uint64_t most = of->capacity < base->capacity ? of->capacity : base->capacity;
    double *y = allocate(most + 1, sizeof *y), *x = allocate(most + 1, sizeof *x);
    uint64_t n = 0;
    for (uint64_t r = 0; of->row[row] && base->row[row] && r < most; r++) {
        if (isnan(of->row[row][r]) || isnan(base->row[row][r]))
            continue;
        y[n] = of->row[row][r];
        x[n++] = base->row[row][r];
    }
    struct reduction out = {(double)NAN, (double)NAN};
    if (n)
        out = stats_reduction(y, x, n);
    if (n < 2)
        out.se = (double)NAN;
    free(y);
    free(x);
    return out;
}

/* 1 - cost / cost of the baseline. Where both drew the same words and their rows are at hand, value
 * and error rest on the replications that both have: taking the longer point's further ones into
 * the mean would add noise that the paired error does not see. */
static struct reduction compare_costs(const struct store *s, uint64_t point) {
    const struct reduction none = {(double)NAN, (double)NAN};
    const struct point *at = &s->job->points[point];
    const unsigned row = (unsigned)s->job->model->cost;
    if (at->baseline < 0)
        return none;
    const uint64_t base = (uint64_t)at->baseline;
    const double y = store_mean(s, point, row), x = store_mean(s, base, row);
    if (isnan(y) || isnan(x))
        return none;
    if (!(x > 0.0))
        return none;
    if (base == point)
        return (struct reduction){0.0, s->points[point].complete > 1 ? 0.0 : (double)NAN};
    struct reduction out = {1.0 - y / x, (double)NAN};
    if (at->stream != s->job->points[base].stream) {
        const double of_y = store_se(s, point, row) / x;
        const double of_x = store_se(s, base, row) * (y / x) / x;
        out.se = sqrt(of_y * of_y + of_x * of_x);
    } else if (s->job->keep_rows) {
        out = paired(&s->points[point], &s->points[base], row);
    }
    return isfinite(out.value) ? out : none;
}

struct comparisons compare_with_baseline(const struct store *s) {
    const struct job *job = s->job;
    const int law = job->model->law;
    struct comparisons c = {0};
    if (law >= 0 && job->keep_histogram[law]) {
        CHECK(job->model->histograms[law].batched);
        c.laws = allocate(job->n_points, sizeof *c.laws);
    }
    if (job->model->cost >= 0)
        c.costs = allocate(job->n_points, sizeof *c.costs);
    for (uint64_t p = 0; p < job->n_points; p++) {
        if (c.laws)
            c.laws[p] = compare_laws(s, p);
        if (c.costs)
            c.costs[p] = compare_costs(s, p);
    }
    return c;
}

void comparisons_free(struct comparisons *c) {
    free(c->laws);
    free(c->costs);
    *c = (struct comparisons){0};
}
