/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rank 0 has gathered: for every point the completed replications, rows, exact sums and
 * histograms. All sums are integers, so the order of arrival leaves no trace. results.c writes a
 * store to HDF5 and reads it back. */
#ifndef POTLUCK_STORE_H
#define POTLUCK_STORE_H

#include "job.h"
#include "stats.h"

struct counts {
    uint64_t bins;   /* in use */
    uint64_t stride; /* allocated bins per batch */
    uint64_t *count; /* [batched ? BATCHES : 1][stride]; NULL: nothing counted */
};

struct point_store {
    uint64_t complete;  /* replications folded in */
    uint64_t target;    /* replications wanted at the present stage of the stopping rule */
    bool done;          /* nothing more to play */
    struct span *spans; /* completed, sorted, disjoint, not touching */
    unsigned n_spans;
    double *row
        [ROWS_MAX]; /* [row][replication - store.first]; NaN where not complete; NULL with keep: means and
                              where the row does not apply to the point */
    uint64_t capacity; /* replications there is room for in row[], from store.first on */
    struct moments moments[ROWS_MAX];     /* of the tallies */
    uint64_t batch_replications[BATCHES]; /* completed replications r with r % BATCHES == b */
    struct counts histogram[HISTOGRAMS_MAX];
};

struct store {
    const struct job *job; /* borrowed */
    uint64_t first;        /* replication at which rows begin: no part has any before */
    struct point_store *points;
};

/* Whether a row or a histogram of the model says anything about a point. */
static inline bool row_applies(const struct point *p, unsigned row) {
    return !__builtin_isnan(p->facts.row[row].divisor);
}
static inline bool histogram_applies(const struct point *p, unsigned histogram) {
    return p->facts.bins[histogram] > 0;
}

struct store *store_new(const struct job *job);
void store_free(struct store *s);
/* Sums of the tallies of an outcome, one per row of the model; made by the players, so that folding
 * is quick. */
void store_sum(const struct model *model, const struct outcome *outcome, struct moments *sums);
/* Folds the outcome of a range that overlaps no completed one. With keep: means its tallies may be
 * NULL. */
void store_fold(struct store *s, uint64_t point, const struct outcome *outcome,
                const struct moments *sums);
/* Adds what another store of the same job has; no replication may be in both. */
void store_merge(struct store *into, const struct store *from);
/* Adds the span to the completed ones; no overlap allowed. */
void store_mark(struct point_store *p, uint64_t first, uint64_t end);
/* Room for rows of the first `replications` at a point. */
void store_reserve(struct store *s, uint64_t point, uint64_t replications);
/* Room for at least `bins` bins in histogram h. */
void store_widen(const struct job *job, struct point_store *p, unsigned h, uint64_t bins);
/* Empties a point: it is to be played anew. */
void store_clear(const struct job *job, struct point_store *p);

/* Whether a point has all that the job asks of it, which a part of the replications is not. */
static inline bool store_whole(const struct store *s, uint64_t point) {
    return s->points[point].done && s->points[point].complete >= s->job->replications.min;
}
/* Mean and standard error of row r at a point; NaN where undefined. */
double store_mean(const struct store *s, uint64_t point, unsigned row);
double store_se(const struct store *s, uint64_t point, unsigned row);

#endif
