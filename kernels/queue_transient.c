/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue, from the empty start: when the k-th job is done at a server and in the whole system (Liu
 * and Righter, Oper. Res. 46(4), 1998, compare policies by the laws of these times). Servers are
 * FIFO, so the k-th completion of a server is that of the k-th job it gets, known as soon as that
 * joins; the k-th of the system is known when nobody who comes later can be done before. */
#include "queue_play.h"

#include <string.h>

void ISA(follow_begin)(struct queue_play *q) {
    struct follow *f = &q->follow;
    const struct transient *t = &q->p->transient;
    memset(f->come, 0, q->p->n * sizeof *f->come);
    memset(f->sum, 0, t->jobs * sizeof *f->sum);
    memset(f->servers, 0, t->jobs * (t->n_grid + 1) * sizeof *f->servers);
    f->reached = f->found = f->seen = 0;
    f->sure = 0;
}

/* Sums of services may miss a time of the grid that they meet by a rounding or two. */
static const double slack = 0x1p-40;

/* The first point of the grid at or after a time; n_grid: none. */
static uint64_t grid_point(const struct transient *t, double time) {
    uint64_t low = 0, high = t->n_grid;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (t->grid[middle] < time * (1 - slack))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts a time into the heap of the smallest ones, whose top is the largest. */
static void keep_smallest(struct follow *f, uint64_t most, double time) {
    double *heap = f->smallest;
    uint64_t at = f->found;
    if (f->found < most) {
        f->found++;
        for (; at > 0 && heap[(at - 1) / 2] < time; at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = time;
        return;
    }
    if (!(time < heap[0]))
        return;
    at = 0;
    for (uint64_t child = 1; child < most; child = 2 * at + 1) {
        child += child + 1 < most && heap[child + 1] > heap[child];
        if (!(heap[child] > time))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = time;
}

/* When a server is done with all it has, the first to be, or a time where that is later. */
static double first_free(const struct queue_play *q, double time) {
    double first = (double)INFINITY;
    for (uint32_t v = 0; v < q->p->n; v++) {
        const double last = last_completion(&q->view, v);
        first = last < first ? last : first;
    }
    return first > time ? first : time;
}

void ISA(follow_jobs)(struct queue_play *q, uint32_t from, uint32_t to) {
    struct follow *f = &q->follow;
    const struct transient *t = &q->p->transient;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t v = q->where[i], k = f->come[v];
        const double done = q->time[i] + q->response[i];
        keep_smallest(f, t->jobs, done);
        if (k == t->jobs)
            continue;
        f->come[v] = k + 1;
        f->reached += k + 1 == t->jobs;
        f->sum[k] += done;
        f->servers[k * (t->n_grid + 1) + grid_point(t, done)]++;
    }
    f->seen += to - from;
    f->sure = to > from ? q->time[to - 1] : f->sure;
    if (f->reached == q->p->n && f->smallest[0] > f->sure)
        f->sure = first_free(q, f->sure);
}

bool ISA(follow_goes_on)(const struct queue_play *q) {
    const struct follow *f = &q->follow;
    const struct transient *t = &q->p->transient;
    if (!t->jobs || f->seen >= t->most)
        return false;
    return f->reached < q->p->n || f->found < t->jobs || f->smallest[0] > f->sure;
}

void ISA(follow_ended)(struct queue_play *q) {
    q->follow.sure = (double)INFINITY;
}

static void add(struct outcome *out, unsigned h, uint64_t batch, uint64_t bin, uint64_t count) {
    out->histogram[h][batch * out->stride[h] + bin] += count;
    out->used[h] = out->used[h] <= bin ? bin + 1 : out->used[h];
}

/* In whole units; times that are far too long for sums of them are cut off. */
static uint64_t in_completion_units(const struct queue *p, double time) {
    const double units = rint(time / p->completion_unit);
    return (uint64_t)(units < 0x1p62 ? units : 0x1p62);
}

static void record_local(const struct queue_play *q, uint64_t batch, struct outcome *out) {
    const struct follow *f = &q->follow;
    const struct transient *t = &q->p->transient;
    const double n = (double)q->p->n;
    for (uint64_t k = 0; k < t->jobs; k++) {
        const uint32_t *at = f->servers + k * (t->n_grid + 1);
        uint64_t done = 0;
        for (uint64_t g = 0; g < t->n_grid; g++) {
            done += at[g];
            add(out, SHARE_LOCAL, batch, k * t->n_grid + g,
                (uint64_t)(((double)done / n) / QUEUE_SHARE_UNIT));
        }
        const bool all = done + at[t->n_grid] == q->p->n && isfinite(f->sum[k]);
        add(out, KNOWN_LOCAL, 0, k, all);
        add(out, SUM_LOCAL, batch, k, all ? in_completion_units(q->p, f->sum[k] / n) : 0);
    }
}

static void record_pooled(struct queue_play *q, uint64_t batch, struct outcome *out) {
    struct follow *f = &q->follow;
    const struct transient *t = &q->p->transient;
    double *heap = f->smallest;
    uint64_t known = f->found;
    for (uint64_t size = f->found; size > 1;) { /* takes the largest off, one after the other */
        const double top = heap[0], last = heap[--size];
        uint64_t at = 0;
        for (uint64_t child = 1; child < size; child = 2 * at + 1) {
            child += child + 1 < size && heap[child + 1] > heap[child];
            if (!(heap[child] > last))
                break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = last;
        heap[size] = top;
    }
    while (known > 0 && (heap[known - 1] > f->sure || isinf(heap[known - 1])))
        known--;
    for (uint64_t k = 0; k < t->jobs; k++) {
        const uint64_t point = k < known ? grid_point(t, heap[k]) : t->n_grid;
        for (uint64_t g = 0; g < t->n_grid; g++)
            add(out, SHARE_POOLED, batch, k * t->n_grid + g,
                g >= point ? (uint64_t)(1 / QUEUE_SHARE_UNIT) : 0);
        add(out, KNOWN_POOLED, 0, k, k < known);
        add(out, SUM_POOLED, batch, k, k < known ? in_completion_units(q->p, heap[k]) : 0);
    }
}

void ISA(follow_record)(struct queue_play *q, uint64_t batch, struct outcome *out) {
    record_local(q, batch, out);
    record_pooled(q, batch, out);
}
