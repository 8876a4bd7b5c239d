/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Outcomes as memory and as messages. */
#include "parcel.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 6, MOMENTS_WORDS = sizeof(struct moments) / sizeof(uint64_t) };

struct parcel *parcel_new(const struct job *job, const struct range *range) {
    const struct model *model = job->model;
    const struct facts *facts = &job->points[range->point].facts;
    struct parcel *p = allocate(1, sizeof *p);
    uint64_t words = range->count * model->n_rows;
    p->range = *range;
    p->outcome.first = range->first;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (job->keep_histogram[h])
            words += histogram_batches(&model->histograms[h]) * facts->bins[h];
    uint64_t *at = p->memory = allocate(words, sizeof *at);
    p->outcome.tally = (int64_t *)at;
    at += range->count * model->n_rows;
    for (unsigned h = 0; h < model->n_histograms; h++) {
        if (!job->keep_histogram[h] || facts->bins[h] == 0)
            continue;
        p->outcome.histogram[h] = at;
        p->outcome.stride[h] = facts->bins[h];
        at += histogram_batches(&model->histograms[h]) * facts->bins[h];
    }
    return p;
}

void parcel_restart(const struct job *job, struct parcel *p) {
    for (unsigned h = 0; h < job->model->n_histograms; h++) {
        if (p->outcome.histogram[h])
            memset(p->outcome.histogram[h], 0,
                   histogram_batches(&job->model->histograms[h]) * p->outcome.stride[h] *
                       sizeof(uint64_t));
        p->outcome.used[h] = 0;
    }
}

void parcel_free(struct parcel *p) {
    if (p)
        free(p->memory);
    free(p);
}

/* Layout: point, first, asked, played, nanoseconds, more; moments of each row; bins used of each
 * histogram; tallies, when rows are kept; each histogram, batch after batch. */
uint64_t *parcel_pack(const struct job *job, const struct parcel *p, uint64_t *words) {
    const struct model *model = job->model;
    const struct outcome *o = &p->outcome;
    const uint64_t tallies = job->keep_rows ? o->count * model->n_rows : 0;
    *words = HEADER + model->n_rows * (uint64_t)MOMENTS_WORDS + model->n_histograms + tallies;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (o->histogram[h])
            *words += histogram_batches(&job->model->histograms[h]) * o->used[h];
    uint64_t *message = allocate(*words, sizeof *message), *at = message;
    const uint64_t header[HEADER] = {p->range.point, p->range.first, p->range.count,
                                     o->count,       p->nanoseconds, p->more};
    memcpy(at, header, sizeof header);
    at += HEADER;
    memcpy(at, p->sums, model->n_rows * sizeof *p->sums);
    at += model->n_rows * (uint64_t)MOMENTS_WORDS;
    for (unsigned h = 0; h < model->n_histograms; h++)
        *at++ = o->histogram[h] ? o->used[h] : 0;
    memcpy(at, o->tally, tallies * sizeof *at);
    at += tallies;
    for (unsigned h = 0; h < model->n_histograms; h++)
        for (uint64_t b = 0; o->histogram[h] && b < histogram_batches(&job->model->histograms[h]);
             b++, at += o->used[h])
            memcpy(at, o->histogram[h] + b * o->stride[h], o->used[h] * sizeof *at);
    return message;
}

struct parcel *parcel_unpack(const struct job *job, uint64_t *message) {
    const struct model *model = job->model;
    struct parcel *p = allocate(1, sizeof *p);
    uint64_t *at = message + HEADER;
    p->memory = message;
    p->range = (struct range){message[0], message[1], message[2]};
    p->outcome.first = message[1];
    p->outcome.count = message[3];
    p->nanoseconds = message[4];
    p->more = message[5] != 0;
    memcpy(p->sums, at, model->n_rows * sizeof *p->sums);
    at += model->n_rows * (uint64_t)MOMENTS_WORDS;
    for (unsigned h = 0; h < model->n_histograms; h++)
        p->outcome.used[h] = p->outcome.stride[h] = *at++;
    p->outcome.tally = (int64_t *)at;
    at += job->keep_rows ? p->outcome.count * model->n_rows : 0;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (p->outcome.used[h] > 0) {
            p->outcome.histogram[h] = at;
            at += histogram_batches(&job->model->histograms[h]) * p->outcome.used[h];
        }
    return p;
}
