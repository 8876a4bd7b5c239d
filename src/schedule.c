/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Guided scheduling of ranges, and stopping rules. */
#define _GNU_SOURCE
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds of a range: within these bounds, and at the very end. */
static const double SHORTEST = 50e6, LONGEST = 1e9, LAST = 3e6;

struct task {
    struct span *waiting; /* not handed out yet, below the target */
    unsigned n_waiting;
    uint64_t out;      /* replications handed out and not back */
    double each;       /* nanoseconds of a replication */
    uint64_t measured; /* replications behind `each` */
    uint64_t waits;    /* replications in `waiting` */
    uint64_t counted;  /* what the totals hold of this task: replications left */
    double expected;   /* and nanoseconds left */
};

struct schedule {
    struct store *store;
    struct wish wish;
    struct task *tasks;
    uint64_t *order;  /* points, dearest first */
    uint64_t *cursor; /* per rank, into order */
    uint64_t points_done, waiting, left, played;
    double expected;
};

uint64_t schedule_look(const struct replications *r, uint64_t count) {
    if (r->n_criteria == 0 || count >= r->max)
        return r->max;
    const uint64_t next = count < r->min ? r->min : count + (count + 4) / 5;
    return next < r->max ? next : r->max;
}

bool schedule_satisfied(const struct store *s, uint64_t point) {
    const struct replications *r = &s->job->replications;
    const uint64_t count = s->points[point].complete;
    if (r->n_criteria == 0 || count < 30)
        return false;
    const double t = student_95(count - 1);
    for (unsigned c = 0; c < r->n_criteria; c++) {
        const struct criterion *criterion = &r->criteria[c];
        const double se = store_se(s, point, criterion->row),
                     mean = fabs(store_mean(s, point, criterion->row));
        const double relative = criterion->relative * mean;
        const double enough = relative > criterion->absolute ? relative : criterion->absolute;
        /* No spread at all says that rare events have not been seen yet, not that there are none.
         */
        if (!(se > 0) || !(t * se <= enough))
            return false;
    }
    return true;
}

static uint64_t waiting_count(const struct task *t) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->n_waiting; i++)
        sum += t->waiting[i].end - t->waiting[i].first;
    return sum;
}

/* Brings the totals up to date with a task that changed. */
static void recount(struct schedule *q, uint64_t point) {
    struct task *t = &q->tasks[point];
    q->left -= t->counted;
    q->waiting -= t->waits;
    t->waits = waiting_count(t);
    q->waiting += t->waits;
    q->expected -= t->expected;
    t->counted = t->waits + t->out;
    t->expected = (double)t->counted * t->each;
    q->left += t->counted;
    q->expected += t->expected;
}

/* What of first .. end-1 is not in the store yet becomes work. */
static void add_missing(struct schedule *q, uint64_t point, uint64_t first, uint64_t end) {
    const struct point_store *p = &q->store->points[point];
    struct task *t = &q->tasks[point];
    for (unsigned i = 0; i <= p->n_spans && first < end; i++) {
        const uint64_t taken = i < p->n_spans ? p->spans[i].first : end,
                       next = taken < end ? taken : end;
        if (first < next) {
            t->waiting = reallocate(t->waiting, t->n_waiting + 1u, sizeof *t->waiting);
            t->waiting[t->n_waiting++] = (struct span){first, next};
        }
        if (i < p->n_spans && p->spans[i].end > first)
            first = p->spans[i].end;
    }
}

/* Moves the target of a point on until there is something to play or the point is done. */
static void advance(struct schedule *q, uint64_t point) {
    const struct replications *r = &q->store->job->replications;
    struct point_store *p = &q->store->points[point];
    struct task *t = &q->tasks[point];
    const struct span part = job_part(q->store->job);
    while (!p->done && t->n_waiting == 0 && t->out == 0) {
        /* More than the target is there when an earlier run went past this look: it was not
         * satisfied here. */
        const bool looks = p->target > 0 && p->complete == p->target;
        if ((p->target > 0 && p->target >= part.end) ||
            (looks && schedule_satisfied(q->store, point))) {
            p->done = true;
            q->points_done++;
            return;
        }
        const uint64_t from = p->target ? p->target : part.first, look = schedule_look(r, from);
        p->target = look < part.end ? look : part.end;
        add_missing(q, point, from, p->target);
    }
}

/* A replication asked for alone. */
static void only_this(struct schedule *q, uint64_t point) {
    struct point_store *p = &q->store->points[point];
    const uint64_t r = (uint64_t)q->wish.only_replication;
    p->target = q->store->job->replications.max;
    add_missing(q, point, r, r + 1);
    if (q->tasks[point].n_waiting == 0) {
        p->done = true;
        q->points_done++;
    }
}

static int dearest_first(const void *a, const void *b, void *schedule) {
    const struct task *tasks = ((const struct schedule *)schedule)->tasks;
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    if (tasks[x].each != tasks[y].each)
        return tasks[x].each < tasks[y].each ? 1 : -1;
    return (x > y) - (x < y);
}

struct schedule *schedule_new(struct store *s, const struct wish *wish) {
    const uint64_t n = s->job->n_points;
    struct schedule *q = allocate(1, sizeof *q);
    q->store = s;
    q->wish = *wish;
    q->tasks = allocate(n, sizeof *q->tasks);
    q->order = allocate(n, sizeof *q->order);
    q->cursor = allocate(wish->ranks, sizeof *q->cursor);
    for (uint64_t i = 0; i < n; i++) {
        struct point_store *p = &s->points[i];
        q->order[i] = i;
        q->tasks[i].each = s->job->points[i].facts.nanoseconds;
        p->target = 0;
        p->done = false;
        if (wish->only_point >= 0 && (uint64_t)wish->only_point != i) {
            p->done = true;
            q->points_done++;
        } else if (wish->only_replication >= 0) {
            only_this(q, i);
        } else {
            advance(q, i);
        }
        q->played += p->complete;
        recount(q, i);
    }
    qsort_r(q->order, n, sizeof *q->order, dearest_first, q);
    for (unsigned r = 0; r < wish->ranks; r++)
        q->cursor[r] = n * r / wish->ranks;
    return q;
}

void schedule_free(struct schedule *q) {
    if (!q)
        return;
    for (uint64_t i = 0; i < q->store->job->n_points; i++)
        free(q->tasks[i].waiting);
    free(q->tasks);
    free(q->order);
    free(q->cursor);
    free(q);
}

/* How many replications a range should have: a share of what is left for each player, 50 ms at
 * least. In the last 400 ms shares shrink, so that players finish together. */
static uint64_t suitable(const struct schedule *q, uint64_t point) {
    const struct task *t = &q->tasks[point];
    const uint64_t grain = q->store->job->points[point].facts.grain;
    const double each = t->each > 1 ? t->each : 1, mine = q->expected / q->wish.players;
    double share = mine / 4;
    if (mine < 8 * SHORTEST)
        share = mine / 8 > LAST ? mine / 8 : LAST;
    else
        share = share < SHORTEST ? SHORTEST : share > LONGEST ? LONGEST : share;
    /* Before anything is measured a short range finds out what a replication takes. */
    if (t->measured == 0 && share > SHORTEST)
        share = SHORTEST;
    const double count = share / each;
    const uint64_t whole = count > RANGE_MOST ? RANGE_MOST : (uint64_t)count;
    return grain > 1 ? (whole + grain) / grain * grain : whole + !whole;
}

bool schedule_next(struct schedule *q, unsigned rank, struct range *range) {
    const uint64_t n = q->store->job->n_points;
    for (uint64_t tried = 0; q->waiting > 0 && tried < n; tried++) {
        const uint64_t point = q->order[q->cursor[rank]];
        struct task *t = &q->tasks[point];
        if (t->n_waiting == 0) {
            q->cursor[rank] = (q->cursor[rank] + 1) % n;
            continue;
        }
        struct span *s = &t->waiting[0];
        uint64_t count = suitable(q, point);
        if (count > s->end - s->first)
            count = s->end - s->first;
        *range = (struct range){point, s->first, count};
        s->first += count;
        t->out += count;
        t->waits -= count;
        q->waiting -= count;
        if (s->first == s->end) {
            t->n_waiting--;
            memmove(t->waiting, t->waiting + 1, t->n_waiting * sizeof *t->waiting);
        }
        return true;
    }
    return false;
}

void schedule_played(struct schedule *q, const struct range *range, uint64_t nanoseconds) {
    struct task *t = &q->tasks[range->point];
    CHECK(t->out >= range->count);
    t->out -= range->count;
    t->measured += range->count;
    const double weight = (double)range->count / (double)t->measured;
    t->each +=
        ((double)nanoseconds / (double)range->count - t->each) * (weight > 0.2 ? weight : 0.2);
    q->played += range->count;
    if (q->wish.only_replication >= 0) {
        recount(q, range->point);
        q->store->points[range->point].done = true;
        q->points_done++;
        return;
    }
    advance(q, range->point);
    recount(q, range->point);
}

double schedule_expected(const struct schedule *q, uint64_t point) {
    return q->tasks[point].measured ? q->tasks[point].each : 0;
}

bool schedule_done(const struct schedule *q) {
    return q->points_done == q->store->job->n_points;
}

struct outlook schedule_outlook(const struct schedule *q) {
    return (struct outlook){.played = q->played,
                            .wanted = q->played + q->left,
                            .points_done = q->points_done,
                            .left = q->expected > 0 ? q->expected : 0};
}
