/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who plays what, when a point has had enough, and how outcomes come together: the schedule,
 * parcels and the store, with jobs that no kernel plays. */
#include "schedule.h"

#include "parcel.h"
#include "result_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct wish everything = {-1, -1, 1, 1};

static uint64_t bits(uint64_t *state) {
    return fx_hash(++*state, 17, 23);
}

/* A job whose points take `nanoseconds` a replication. */
static struct fx_job *job_of(unsigned points, struct replications r, double nanoseconds) {
    struct fx_job *x = fx_job_new((struct fixture){.points = points, .farthest = 3});
    x->job.replications = r;
    for (unsigned p = 0; p < points; p++)
        x->job.points[p].facts.nanoseconds = nanoseconds * (1 + (p * 7) % 5);
    return x;
}
static struct replications fixed(uint64_t n) {
    return (struct replications){.min = n, .max = n};
}

/* Folds a range whose only interesting row is `value` of each replication. */
static void fold(struct store *s, const struct range *range,
                 int64_t (*value)(uint64_t point, uint64_t replication)) {
    struct outcome o = {.first = range->first, .count = range->count};
    struct moments sums[FX_ROWS];
    o.tally = allocate(range->count * FX_ROWS, sizeof *o.tally);
    for (uint64_t i = 0; i < range->count; i++)
        for (unsigned r = 0; r < FX_ROWS; r++)
            o.tally[i * FX_ROWS + r] = value(range->point, range->first + i);
    store_sum(s->job->model, &o, sums);
    store_fold(s, range->point, &o, sums);
    free(o.tally);
}

static int64_t constant(uint64_t point, uint64_t replication) {
    (void)point, (void)replication;
    return 5;
}
static int64_t noisy(uint64_t point, uint64_t replication) {
    return 100 + (int64_t)(fx_hash(point, replication, 5) % 41) - 20;
}

/* Ranges on their way: handed out, not back yet. */
enum { FLYING = 64 };
struct flight {
    struct range range[FLYING];
    unsigned n;
};

/* Plays until nothing is left: `ranks` of them ask in an odd order, answers come back in another.
 */
static void run(struct store *s, const struct wish *wish, uint64_t seed,
                int64_t (*value)(uint64_t point, uint64_t replication)) {
    struct schedule *q = schedule_new(s, wish);
    struct flight f = {.n = 0};
    uint64_t answers = 0;
    while (!schedule_done(q)) {
        struct range range;
        const bool asks = f.n < FLYING && bits(&seed) % 3 != 0;
        if (asks && schedule_next(q, (unsigned)(bits(&seed) % wish->ranks), &range)) {
            assert_true(range.count > 0 && range.point < s->job->n_points);
            f.range[f.n++] = range;
            continue;
        }
        if (f.n == 0)
            continue;
        const unsigned back = (unsigned)(bits(&seed) % f.n);
        range = f.range[back];
        f.range[back] = f.range[--f.n];
        const struct outlook before = schedule_outlook(q);
        fold(s, &range, value); /* refuses what is there already */
        schedule_played(q, &range, range.count * (1 + bits(&seed) % 2000000));
        const struct outlook after = schedule_outlook(q);
        assert_int_equal(after.played, before.played + range.count);
        assert_true(after.wanted >= after.played && after.left >= 0);
        assert_true(++answers < 1000000);
    }
    assert_int_equal(f.n, 0);
    struct range none;
    assert_false(schedule_next(q, 0, &none));
    assert_int_equal(schedule_outlook(q).points_done, s->job->n_points);
    assert_int_equal(schedule_outlook(q).wanted, schedule_outlook(q).played);
    assert_true(schedule_outlook(q).left < 1);
    schedule_free(q);
}

static void assert_whole(const struct store *s, uint64_t point, uint64_t count) {
    const struct point_store *p = &s->points[point];
    assert_int_equal(p->complete, count);
    assert_int_equal(p->n_spans, 1);
    assert_int_equal(p->spans[0].first, 0);
    assert_int_equal(p->spans[0].end, count);
    assert_true(p->done);
}

/* store_mark() refuses overlaps, so one whole span means: each exactly once. */
static void test_everything_once(void **state) {
    static const unsigned ranks[] = {1, 2, 3, 7, 40};
    static const uint64_t counts[] = {1, 2, 29, 1000, 30011};
    static const double nanoseconds[] = {1, 5e3, 2e7, 3e9};
    (void)state;
    for (unsigned r = 0; r < 5; r++)
        for (unsigned c = 0; c < 5; c++)
            for (unsigned t = 0; t < 4; t++) {
                struct fx_job *x = job_of(5, fixed(counts[c]), nanoseconds[t]);
                struct store *s = store_new(&x->job);
                const struct wish wish = {-1, -1, ranks[r], 2 * ranks[r]};
                if (nanoseconds[t] < 1e8 || counts[c] < 5000) {
                    run(s, &wish, r * 100 + c * 10 + t, noisy);
                    for (uint64_t p = 0; p < 5; p++)
                        assert_whole(s, p, counts[c]);
                }
                store_free(s);
                fx_job_free(x);
            }
}

/* Ranges are long at first, never much shorter than 50 ms of work while each player has 400 ms of it
 * left, and never much shorter than 3 ms, except the last. */
static void test_guided(void **state) {
    enum { COUNT = 100000, EACH = 1000000 };
    struct fx_job *x = job_of(1, fixed(COUNT), EACH);
    struct store *s = store_new(&x->job);
    struct schedule *q = schedule_new(s, &(struct wish){-1, -1, 2, 4});
    struct range range;
    uint64_t ranges = 0, longest = 0, short_ones = 0, tiny_ones = 0, left = COUNT;
    (void)state;
    while (schedule_next(q, ranges % 2, &range)) {
        fold(s, &range, constant);
        schedule_played(q, &range, range.count * EACH);
        longest = range.count > longest ? range.count : longest;
        short_ones += range.count < 49 && left > 4 * 400;
        tiny_ones += range.count < 3;
        left -= range.count;
        ranges++;
    }
    assert_true(schedule_done(q));
    assert_true(longest >= 500 && longest <= 1000);
    assert_true(short_ones == 0);
    assert_true(tiny_ones <= 1);
    assert_true(ranges < 400);
    schedule_free(q);
    store_free(s);
    fx_job_free(x);
}

/* Each rank begins at its own share of the points, the dearest first. */
static void test_ranks_spread(void **state) {
    struct fx_job *x = job_of(8, fixed(1000), 1e8);
    for (unsigned p = 0; p < 8; p++)
        x->job.points[p].facts.nanoseconds = 1e8 * (p + 1);
    struct store *s = store_new(&x->job);
    struct schedule *q = schedule_new(s, &(struct wish){-1, -1, 4, 4});
    (void)state;
    for (unsigned rank = 0; rank < 4; rank++) {
        struct range range;
        assert_true(schedule_next(q, rank, &range));
        assert_int_equal(range.point, 7 - 2 * rank);
        assert_int_equal(range.first, 0);
    }
    schedule_free(q);
    store_free(s);
    fx_job_free(x);
}

/* What an earlier run left, with gaps, is not played again. */
static void test_resume(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        uint64_t dice = seed, there = 0;
        const uint64_t count = 50 + bits(&dice) % 400;
        struct fx_job *x = job_of(3, fixed(count), 3e6);
        struct store *s = store_new(&x->job);
        for (uint64_t p = 0; p < 3; p++)
            for (uint64_t at = bits(&dice) % 20; at < count;) {
                uint64_t length = 1 + bits(&dice) % 60;
                length = length < count - at ? length : count - at;
                fold(s, &(struct range){p, at, length}, noisy);
                there += length;
                at += length + 1 + bits(&dice) % 90;
            }
        struct schedule *q = schedule_new(s, &everything);
        assert_int_equal(schedule_outlook(q).played, there);
        assert_int_equal(schedule_outlook(q).wanted, 3 * count);
        schedule_free(q);
        run(s, &(struct wish){-1, -1, 3, 6}, seed, noisy);
        for (uint64_t p = 0; p < 3; p++)
            assert_whole(s, p, count);
        /* Nothing is left for a third run. */
        q = schedule_new(s, &everything);
        assert_true(schedule_done(q));
        schedule_free(q);
        store_free(s);
        fx_job_free(x);
    }
}

/* More replications than the job asks for: they stay, nothing is added. */
static void test_resume_with_more(void **state) {
    struct fx_job *x = job_of(1, fixed(100), 1e6);
    struct store *s = store_new(&x->job);
    (void)state;
    fold(s, &(struct range){0, 0, 250}, noisy);
    struct schedule *q = schedule_new(s, &everything);
    assert_true(schedule_done(q));
    assert_int_equal(s->points[0].complete, 250);
    schedule_free(q);
    store_free(s);
    fx_job_free(x);
}

static void test_looks(void **state) {
    struct criterion c = {FX_COST, 0.01, 0};
    const struct replications until = {30, 1000, &c, 1}, plain = fixed(77);
    (void)state;
    assert_int_equal(schedule_look(&plain, 0), 77);
    assert_int_equal(schedule_look(&until, 0), 30);
    uint64_t at = 30;
    while (at < 1000) {
        const uint64_t next = schedule_look(&until, at), grown = (at * 6 + 4) / 5;
        assert_int_equal(next, grown < 1000 ? grown : 1000);
        at = next;
    }
    assert_int_equal(schedule_look(&until, 1000), 1000);
    const struct replications soon = {30, 30, &c, 1};
    assert_int_equal(schedule_look(&soon, 0), 30);
}

/* When the rule would stop: the first look at which the half width is small enough, from a plain
 * two-pass formula. */
static uint64_t stops_at(const struct replications *r, const struct affine *affine,
                         uint64_t point) {
    for (uint64_t at = r->min;; at = schedule_look(r, at)) {
        bool enough = true;
        for (unsigned k = 0; k < r->n_criteria; k++) {
            double mean = 0, spread = 0;
            const struct affine a = affine[r->criteria[k].row];
            for (uint64_t i = 0; i < at; i++)
                mean += affine_value(a, (double)noisy(point, i)) / (double)at;
            for (uint64_t i = 0; i < at; i++)
                spread += pow(affine_value(a, (double)noisy(point, i)) - mean, 2);
            const double half = student_95(at - 1) * sqrt(spread / (double)(at - 1) / (double)at);
            const double allowed =
                fmax(r->criteria[k].relative * fabs(mean), r->criteria[k].absolute);
            enough = enough && half <= allowed;
        }
        if (enough || at >= r->max)
            return at;
    }
}

/* The count at which points stop depends on their replications alone: not on ranks, times, or the
 * order in which ranges return. */
static void test_until(void **state) {
    static struct criterion rules[][2] = {
        {{FX_MAX_LOAD, 0.02, 0}, {0, 0, 0}},
        {{FX_MAX_LOAD, 0.005, 0}, {0, 0, 0}},
        {{FX_COST, 0, 0.1}, {0, 0, 0}},
        {{FX_MAX_LOAD, 0.02, 0.5}, {0, 0, 0}},
        {{FX_MAX_LOAD, 0.02, 0}, {FX_COST, 0, 0.05}},
        {{FX_MAX_LOAD, 1e-6, 0}, {0, 0, 0}},
    };
    (void)state;
    for (unsigned k = 0; k < sizeof rules / sizeof *rules; k++)
        for (uint64_t trial = 0; trial < 6; trial++) {
            const struct replications r = {30 + 3 * trial, 5000, rules[k],
                                           rules[k][1].absolute > 0 ? 2 : 1};
            struct fx_job *x = job_of(4, r, trial % 2 ? 1e4 : 3e7);
            struct store *s = store_new(&x->job);
            run(s, &(struct wish){-1, -1, 1 + (unsigned)trial, 4}, trial, noisy);
            for (uint64_t p = 0; p < 4; p++)
                assert_whole(s, p, stops_at(&r, x->job.points[p].facts.row, p));
            store_free(s);
            fx_job_free(x);
        }
}

/* An interrupted run goes on to the same end, wherever it was cut. */
static void test_until_resumed(void **state) {
    struct criterion c = {FX_MAX_LOAD, 0.01, 0};
    const struct replications r = {30, 5000, &c, 1};
    (void)state;
    for (uint64_t cut = 1; cut < 60; cut++) {
        struct fx_job *x = job_of(2, r, 1e7);
        struct store *s = store_new(&x->job);
        struct schedule *q = schedule_new(s, &(struct wish){-1, -1, 2, 2});
        struct flight f = {.n = 0};
        uint64_t dice = cut;
        for (uint64_t step = 0; step < cut && !schedule_done(q); step++) {
            if (f.n < 5 && schedule_next(q, step % 2, &f.range[f.n])) {
                f.n++;
            } else if (f.n > 0) {
                const unsigned back = (unsigned)(bits(&dice) % f.n);
                const struct range range = f.range[back];
                f.range[back] = f.range[--f.n];
                fold(s, &range, noisy);
                schedule_played(q, &range, range.count * 10000000);
            }
        }
        schedule_free(q); /* what is on its way is lost */
        run(s, &everything, cut, noisy);
        for (uint64_t p = 0; p < 2; p++)
            assert_whole(s, p, stops_at(&r, x->job.points[p].facts.row, p));
        store_free(s);
        fx_job_free(x);
    }
}

/* Nothing seen to vary is no reason to stop. */
static void test_until_constant(void **state) {
    static struct criterion c = {FX_COST, 0.5, 100};
    struct fx_job *x = job_of(2, (struct replications){30, 400, &c, 1}, 1e7);
    struct store *s = store_new(&x->job);
    (void)state;
    run(s, &everything, 1, constant);
    assert_whole(s, 0, 400);
    assert_whole(s, 1, 400);
    assert_false(schedule_satisfied(s, 0));
    store_free(s);
    fx_job_free(x);
}

/* With a rule, nothing beyond the next look is handed out before all up to it is back. */
static void test_until_waits(void **state) {
    static struct criterion c = {FX_COST, 1e-9, 0};
    struct fx_job *x = job_of(1, (struct replications){30, 1000, &c, 1}, 1e7);
    struct store *s = store_new(&x->job);
    struct schedule *q = schedule_new(s, &everything);
    struct range range, first = {0, 0, 0};
    uint64_t out = 0;
    (void)state;
    while (schedule_next(q, 0, &range)) {
        if (out > 0) {
            fold(s, &range, noisy);
            schedule_played(q, &range, 1000);
        } else {
            first = range;
        }
        out += range.count;
    }
    assert_int_equal(out, 30);
    assert_true(first.count < 30);
    assert_false(schedule_done(q));
    fold(s, &first, noisy);
    schedule_played(q, &first, 1000);
    assert_true(schedule_next(q, 0, &range));
    assert_int_equal(range.first, 30);
    assert_int_equal(s->points[0].target, 36);
    schedule_free(q);
    store_free(s);
    fx_job_free(x);
}

static void test_only(void **state) {
    struct fx_job *x = job_of(4, fixed(100), 1e6);
    struct store *s = store_new(&x->job);
    (void)state;
    run(s, &(struct wish){2, -1, 2, 2}, 1, noisy);
    for (uint64_t p = 0; p < 4; p++)
        assert_int_equal(s->points[p].complete, p == 2 ? 100 : 0);
    run(s, &(struct wish){1, 41, 2, 2}, 1, noisy);
    assert_int_equal(s->points[1].complete, 1);
    assert_int_equal(s->points[1].spans[0].first, 41);
    run(s, &(struct wish){1, 41, 2, 2}, 1, noisy); /* is there already */
    assert_int_equal(s->points[1].complete, 1);
    run(s, &(struct wish){-1, 7, 3, 2}, 1, noisy); /* of all points */
    assert_int_equal(s->points[0].complete, 1);
    assert_int_equal(s->points[1].complete, 2);
    assert_int_equal(s->points[2].complete, 100);
    assert_int_equal(s->points[3].complete, 1);
    run(s, &everything, 2, noisy);
    for (uint64_t p = 0; p < 4; p++)
        assert_whole(s, p, 100);
    store_free(s);
    fx_job_free(x);
}

/* Marks spans in any order; a set of flags is the other opinion. */
static void test_mark(void **state) {
    enum { LENGTH = 60 };
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct point_store p = {0};
        bool taken[LENGTH + 1] = {false};
        uint64_t dice = seed * 1000, complete = 0;
        for (unsigned tries = 0; tries < 80; tries++) {
            const uint64_t first = bits(&dice) % LENGTH, end = first + bits(&dice) % 6;
            bool free_span = end <= LENGTH;
            for (uint64_t i = first; i < end && free_span; i++)
                free_span = !taken[i];
            if (!free_span)
                continue;
            store_mark(&p, first, end);
            complete += end - first;
            for (uint64_t i = first; i < end; i++)
                taken[i] = true;
            assert_int_equal(p.complete, complete);
            unsigned spans = 0;
            for (uint64_t i = 0; i < LENGTH; i++)
                if (taken[i] && (i == 0 || !taken[i - 1])) {
                    assert_true(spans < p.n_spans);
                    assert_int_equal(p.spans[spans].first, i);
                    const uint64_t stop = p.spans[spans++].end;
                    assert_true(stop > i && !taken[stop]);
                    for (uint64_t j = i; j < stop; j++)
                        assert_true(taken[j]);
                }
            assert_int_equal(spans, p.n_spans);
        }
        free(p.spans);
    }
}

static void assert_same_store(const struct store *a, const struct store *b) {
    for (uint64_t i = 0; i < a->job->n_points; i++) {
        const struct point_store *p = &a->points[i], *q = &b->points[i];
        assert_int_equal(p->complete, q->complete);
        assert_int_equal(p->n_spans, q->n_spans);
        assert_memory_equal(p->spans, q->spans, p->n_spans * sizeof *p->spans);
        assert_memory_equal(p->moments, q->moments, sizeof p->moments);
        assert_memory_equal(p->batch_replications, q->batch_replications,
                            sizeof p->batch_replications);
        const uint64_t end = p->n_spans ? p->spans[p->n_spans - 1].end : 0;
        for (unsigned r = 0; r < a->job->model->n_rows; r++) {
            assert_int_equal(p->row[r] != NULL, q->row[r] != NULL);
            if (p->row[r])
                assert_memory_equal(p->row[r], q->row[r], end * sizeof(double));
        }
        for (unsigned h = 0; h < a->job->model->n_histograms; h++) {
            const struct counts *c = &p->histogram[h], *d = &q->histogram[h];
            const uint64_t batches = a->job->model->histograms[h].batched ? BATCHES : 1;
            assert_int_equal(c->bins, d->bins);
            for (uint64_t k = 0; k < batches && c->bins; k++)
                assert_memory_equal(c->count + k * c->stride, d->count + k * d->stride,
                                    c->bins * sizeof *c->count);
        }
    }
}

/* Ranges of any size in any order leave the same store. */
static void test_fold_order(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const struct fixture f = {
            .points = 2, .means = seed % 2, .servers = seed % 3 == 0, .farthest = 6};
        struct fx_job *x = fx_job_new(f);
        struct store *whole = store_new(&x->job), *parts = store_new(&x->job);
        uint64_t dice = seed, cut[6] = {0, 0, 0, 0, 0, 130};
        for (unsigned i = 1; i < 5; i++)
            cut[i] = cut[i - 1] + bits(&dice) % (130 - cut[i - 1]);
        for (uint64_t p = 0; p < 2; p++) {
            fx_play(whole, f, p, (struct span){0, 130});
            for (unsigned i = 0; i < 5; i++) {
                const unsigned j = (i * 3 + (unsigned)seed) % 5;
                if (cut[j] < cut[j + 1])
                    fx_play(parts, f, p, (struct span){cut[j], cut[j + 1]});
            }
        }
        assert_same_store(whole, parts);
        for (uint64_t p = 0; p < 2; p++)
            for (uint64_t b = 0; b < BATCHES; b++)
                assert_int_equal(whole->points[p].batch_replications[b], b < 30 ? 3 : 2);
        store_free(whole);
        store_free(parts);
        fx_job_free(x);
    }
}

/* Rows of replications that are not there are NaN; means come from tallies and offsets. */
static void test_rows(void **state) {
    struct fx_job *x = job_of(1, fixed(50), 1e6);
    struct store *s = store_new(&x->job);
    const struct affine cost = x->job.points[0].facts.row[FX_COST];
    double mean = 0;
    (void)state;
    assert_true(isnan(store_mean(s, 0, FX_COST)) && isnan(store_se(s, 0, FX_COST)));
    fold(s, &(struct range){0, 20, 5}, noisy);
    fold(s, &(struct range){0, 3, 2}, noisy);
    for (uint64_t r = 0; r < 25; r++) {
        const bool there = r >= 20 || r == 3 || r == 4;
        const double value = s->points[0].row[FX_COST][r];
        assert_true(there ? value == affine_value(cost, (double)noisy(0, r)) : isnan(value));
        mean += there ? value / 7 : 0;
    }
    assert_true(fabs(store_mean(s, 0, FX_COST) - mean) < 1e-12);
    assert_true(store_se(s, 0, FX_COST) > 0);
    assert_true(isnan(store_mean(s, 0, FX_SHARE))); /* does not apply to this point */
    assert_null(s->points[0].row[FX_SHARE]);
    store_clear(&x->job, &s->points[0]);
    assert_int_equal(s->points[0].complete, 0);
    assert_null(s->points[0].row[0]);
    store_free(s);
    fx_job_free(x);
}

/* A parcel filled as a kernel would. */
static struct parcel *filled(const struct job *job, const struct range *range, uint64_t played,
                             uint64_t seed) {
    struct parcel *p = parcel_new(job, range);
    struct outcome *o = &p->outcome;
    p->nanoseconds = bits(&seed);
    o->count = played;
    for (uint64_t i = 0; i < played * job->model->n_rows; i++)
        o->tally[i] = (int64_t)bits(&seed) >> (i % 50);
    for (unsigned h = 0; h < job->model->n_histograms; h++) {
        if (!o->histogram[h])
            continue;
        const uint64_t batches = job->model->histograms[h].batched ? BATCHES : 1;
        assert_true(histogram_applies(&job->points[range->point], h));
        assert_true(o->stride[h] >= job->points[range->point].facts.bins[h]);
        o->used[h] = bits(&seed) % (o->stride[h] + 1);
        for (uint64_t b = 0; b < batches; b++)
            for (uint64_t k = 0; k < o->used[h]; k++)
                o->histogram[h][b * o->stride[h] + k] = bits(&seed);
    }
    store_sum(job->model, o, p->sums);
    return p;
}

static void test_parcel(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct fixture f = {
            .points = 3, .means = seed % 2, .servers = seed % 3 == 0, .farthest = 4 + seed % 9};
        struct fx_job *x = fx_job_new(f);
        const struct range range = {seed % 3, 1000 * seed, 1 + seed % 70};
        const uint64_t played = seed % 5 == 4 ? range.count / 2 : range.count;
        struct store *direct = store_new(&x->job), *carried = store_new(&x->job);
        struct parcel *p = filled(&x->job, &range, played, seed);
        uint64_t words = 0, *message = parcel_pack(&x->job, p, &words);
        uint64_t *copy = allocate(words, sizeof *copy); /* of just that size, as it arrives */
        memcpy(copy, message, words * sizeof *copy);
        struct parcel *back = parcel_unpack(&x->job, copy);
        assert_memory_equal(&back->range, &p->range, sizeof range);
        assert_int_equal(back->outcome.first, range.first);
        assert_int_equal(back->outcome.count, played);
        assert_int_equal(back->nanoseconds, p->nanoseconds);
        assert_memory_equal(back->sums, p->sums, FX_ROWS * sizeof *p->sums);
        store_fold(direct, range.point, &p->outcome, p->sums);
        store_fold(carried, range.point, &back->outcome, back->sums);
        assert_same_store(direct, carried);
        uint64_t again_words = 0, *again = parcel_pack(&x->job, back, &again_words);
        assert_int_equal(again_words, words);
        assert_memory_equal(again, message, words * sizeof *again);
        /* Played once more from the beginning. */
        parcel_restart(&x->job, p);
        for (unsigned h = 0; h < FX_HISTOGRAMS; h++) {
            assert_int_equal(p->outcome.used[h], 0);
            const uint64_t batches = h == FX_LOADS ? BATCHES : 1;
            for (uint64_t i = 0; p->outcome.histogram[h] && i < batches * p->outcome.stride[h]; i++)
                assert_int_equal(p->outcome.histogram[h][i], 0);
        }
        free(message);
        free(again);
        parcel_free(p);
        parcel_free(back);
        store_free(direct);
        store_free(carried);
        fx_job_free(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_once),
        cmocka_unit_test(test_guided),
        cmocka_unit_test(test_ranks_spread),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_resume_with_more),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_until_resumed),
        cmocka_unit_test(test_until_constant),
        cmocka_unit_test(test_until_waits),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_fold_order),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_parcel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
