/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Queues: known means, laws that hold along every path, policies that must agree job by job, the
 * same bits from every level, from every cut of the range and in any workspace. */
#include "queue.h"

#include "by_hand.h"
#include "sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* A point of model queue. */
struct ask {
    const char *topology, *policy, *service, *arrivals, *warmup, *horizon;
    double lambda, redirectable; /* 0: all may be */
    bool origin_wins, starved;
    enum level level;
    uint64_t replications, cut; /* played so many at a time; 0: all */
};
struct answer {
    struct by_hand part[QUEUE_PARAMETERS];
    struct value value[QUEUE_PARAMETERS];
    struct facts facts;
    struct outcome o;
    unsigned attempts;
};

static const struct model *queue_at(enum level level) {
    return model_of(by_hand_kind(models_at(level), "queue"));
}

static void give(struct answer *a, const struct model *m, unsigned i, const char *text) {
    const char *standard = m->kind.parameters[i].standard;
    a->value[i].entry =
        by_hand(&a->part[i], m->kind.parameters[i].catalogue, text ? text : standard);
}

static void ask(struct answer *a, const struct ask *q) {
    const struct model *m = queue_at(q->level);
    struct reason why = {""};
    unsigned at = 0;
    *a = (struct answer){0};
    give(a, m, QUEUE_TOPOLOGY, q->topology);
    give(a, m, QUEUE_POLICY, q->policy);
    give(a, m, QUEUE_SERVICE, q->service);
    give(a, m, QUEUE_ARRIVALS, q->arrivals);
    give(a, m, QUEUE_FAILURES, NULL);
    give(a, m, QUEUE_WARMUP, q->warmup);
    give(a, m, QUEUE_HORIZON, q->horizon);
    give(a, m, QUEUE_TRANSIENT, NULL);
    a->value[QUEUE_TIES].word = q->origin_wins;
    a->value[QUEUE_LAMBDA].real = q->lambda;
    a->value[QUEUE_REDIRECTABLE].real = q->redirectable > 0 ? q->redirectable : 1;
    a->value[QUEUE_EXCESS].real = 1;
    for (unsigned i = QUEUE_ARRIVAL_RATES; i <= QUEUE_SERVICE_RATES; i++)
        a->value[i].unset = true;
    a->value[QUEUE_SERVICE_MEAN].unset = true;
    if (!m->examine(a->value, &(struct budget){UINT64_MAX, 1}, &a->facts, &why, &at))
        fail_msg("%s", why.text);
}

static void play(struct answer *a, const struct ask *q) {
    const struct model *m = queue_at(q->level);
    struct reason why = {""};
    ask(a, q);
    void *p = m->prepare(a->value, 7, &(struct budget){UINT64_MAX, 1}, &why);
    assert_non_null(p);
    a->o = (struct outcome){.count = q->replications,
                            .tally = allocate(q->replications * QUEUE_ROWS, sizeof(int64_t))};
    int64_t *tally = a->o.tally;
    for (unsigned h = 0; h < m->n_histograms; h++) {
        a->o.stride[h] = a->facts.bins[h];
        a->o.histogram[h] =
            allocate(a->o.stride[h] * histogram_batches(&m->histograms[h]), sizeof(uint64_t));
    }
    uint64_t size = q->starved ? 64 : a->facts.bytes_thread;
    for (uint64_t r = 0; r < q->replications;) {
        struct workspace w = {aligned_alloc(64, (size + 63) / 64 * 64), size};
        memset(w.memory, 0xa5, size);
        a->o.first = r;
        a->o.count = q->cut && q->cut < q->replications - r ? q->cut : q->replications - r;
        a->o.tally = tally + r * QUEUE_ROWS;
        /* A range that needs more memory counts for nothing, so it begins with clean sums. */
        struct outcome trial = a->o;
        for (unsigned h = 0; h < m->n_histograms; h++) {
            const uint64_t bytes =
                a->o.stride[h] * histogram_batches(&m->histograms[h]) * sizeof(uint64_t);
            trial.histogram[h] = allocate(1, bytes);
            memcpy(trial.histogram[h], a->o.histogram[h], bytes);
        }
        const uint64_t need = m->play(p, 7, w, &trial);
        for (unsigned h = 0; h < m->n_histograms; h++) {
            const uint64_t bytes =
                a->o.stride[h] * histogram_batches(&m->histograms[h]) * sizeof(uint64_t);
            if (!need)
                memcpy(a->o.histogram[h], trial.histogram[h], bytes);
            free(trial.histogram[h]);
        }
        free(w.memory);
        a->attempts++;
        assert_true(need == 0 || need > size);
        size = need ? need : size;
        r += need ? 0 : a->o.count;
    }
    a->o.tally = tally;
    a->o.count = q->replications;
    m->release(p);
}

static void done(struct answer *a) {
    free(a->o.tally);
    for (unsigned h = 0; h < QUEUE_HISTOGRAMS; h++)
        free(a->o.histogram[h]);
}

static double value_of(const struct answer *a, uint64_t r, unsigned row) {
    return affine_value(a->facts.row[row], (double)a->o.tally[r * QUEUE_ROWS + row]);
}

static double mean_of(const struct answer *a, unsigned row, double *se) {
    double sum = 0, squares = 0;
    const double n = (double)a->o.count;
    for (uint64_t r = 0; r < a->o.count; r++)
        sum += value_of(a, r, row);
    for (uint64_t r = 0; r < a->o.count; r++)
        squares += pow(value_of(a, r, row) - sum / n, 2);
    *se = sqrt(squares / (n - 1) / n);
    return sum / n;
}

/* 20 replications: t quantile for 1e-4 / 40 on both sides, and precise enough to mean anything. */
static void assert_mean(const struct answer *a, unsigned row, double truth, double precision) {
    double se;
    const double mean = mean_of(a, row, &se);
    assert_int_equal(a->o.count, 20);
    if (fabs(mean - truth) > 6.6 * se + 1e-9 || se > precision * truth)
        fail_msg("row %u: %.6f +- %.6f, not %.6f", row, mean, se, truth);
}

static void test_known_means(void **state) {
    (void)state;
    struct answer a;
    play(&a, &(struct ask){.topology = "complete n=100",
                           .policy = "one-choice",
                           .lambda = 0.5,
                           .warmup = "time time=150",
                           .horizon = "jobs jobs=100000",
                           .replications = 20});
    assert_mean(&a, QUEUE_RESPONSE, 2, 0.01);
    assert_mean(&a, QUEUE_RESPONSE + MOMENT_SECOND, 8, 0.02);
    assert_mean(&a, QUEUE_RESPONSE + MOMENT_EXCESS, 2 * exp(-0.5), 0.02);
    assert_mean(&a, QUEUE_RESPONSE + MOMENTS, 2 * log(2), 0.01);
    assert_mean(&a, QUEUE_RESPONSE + MOMENTS + 3, 2 * log(100), 0.01);
    assert_mean(&a, QUEUE_WAITING, 1, 0.01);
    assert_mean(&a, QUEUE_LENGTH, 1, 0.01);
    assert_mean(&a, QUEUE_OCCUPIED, 0.5, 0.005);
    assert_mean(&a, QUEUE_UTILISATION, 0.5, 0.005);
    done(&a);
    play(&a, &(struct ask){.topology = "ring n=1000",
                           .policy = "unif-pot k=1",
                           .lambda = 0.7,
                           .warmup = "time time=60",
                           .horizon = "jobs jobs=600000",
                           .replications = 20});
    assert_mean(&a, QUEUE_LENGTH, 1.2553, 0.002); /* gq.sim.ring */
    assert_mean(&a, QUEUE_OCCUPIED, 0.7, 0.002);
    done(&a);
    play(&a, &(struct ask){.topology = "complete n=2",
                           .policy = "round-robin",
                           .lambda = 0.5,
                           .warmup = "time time=150",
                           .horizon = "jobs jobs=100000",
                           .replications = 20});
    assert_mean(&a, QUEUE_RESPONSE, 1.6180340, 0.01); /* rr.exp: E_2/M/1 */
    done(&a);
}

/* Shares of time sum to one, and their mean is the time average. */
static void test_load_time(void **state) {
    (void)state;
    struct answer a;
    play(&a, &(struct ask){.topology = "torus sides=10x10",
                           .policy = "unif-pot k=2",
                           .lambda = 0.8,
                           .warmup = "jobs jobs=1000",
                           .horizon = "time time=50",
                           .replications = 3});
    double share = 0, mean = 0, rows = 0;
    for (uint64_t b = 0; b < BATCHES; b++)
        for (uint64_t bin = 0; bin < a.o.stride[TIME_LOAD]; bin++) {
            const double x = (double)a.o.histogram[TIME_LOAD][b * a.o.stride[TIME_LOAD] + bin];
            share += x * QUEUE_SHARE_UNIT;
            mean += x * QUEUE_SHARE_UNIT * (double)bin;
        }
    for (uint64_t r = 0; r < 3; r++)
        rows += value_of(&a, r, QUEUE_LENGTH);
    assert_true(fabs(share - 3) < 1e-9 && fabs(mean - rows) < 1e-7);
    done(&a);
}

static void assert_same(const struct answer *a, const struct answer *b, unsigned from,
                        unsigned to) {
    assert_int_equal(a->o.count, b->o.count);
    for (uint64_t r = 0; r < a->o.count; r++)
        for (unsigned row = from; row < to; row++)
            if (a->o.tally[r * QUEUE_ROWS + row] != b->o.tally[r * QUEUE_ROWS + row])
                fail_msg("row %u of replication %llu: %.12g and %.12g", row, (unsigned long long)r,
                         value_of(a, r, row), value_of(b, r, row));
}

static void assert_agree(const struct ask *x, const struct ask *y, unsigned to) {
    struct answer a, b;
    play(&a, x);
    play(&b, y);
    assert_same(&a, &b, 0, to);
    done(&a);
    done(&b);
}

static void test_equal_paths(void **state) {
    (void)state;
    const struct ask base = {.topology = "complete n=5",
                             .lambda = 0.9,
                             .replications = 3,
                             .warmup = "jobs jobs=100",
                             .horizon = "jobs jobs=20000"};
    struct ask x = base, y = base;
    /* Central round robin with equal services is one queue for all. */
    x.service = y.service = "deterministic";
    x.policy = "round-robin";
    y.policy = "least-work";
    assert_agree(&x, &y, QUEUE_UTILISATION);
    /* Two servers: the other one is all there is to choose from. */
    x = y = base;
    x.topology = y.topology = "complete n=2";
    x.origin_wins = y.origin_wins = true;
    x.policy = "pot";
    y.policy = "jsq";
    assert_agree(&x, &y, QUEUE_ROWS);
    /* Nobody may move. */
    x = y = base;
    x.policy = "one-choice";
    y.redirectable = 1e-12;
    static const char *const all[] = {"pot",      "choices d=3",  "jsq",
                                      "jiq",      "least-work",   "least-work d=2",
                                      "permuted", "block size=3", "round-robin scope=distributed"};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        y.policy = all[i];
        assert_agree(&x, &y, QUEUE_ROWS);
    }
    /* Blocks of one are round robin. */
    x = y = base;
    x.policy = "round-robin";
    y.policy = "block size=1";
    assert_agree(&x, &y, QUEUE_ROWS);
    /* Jobs that come one by one are the batches of one. */
    x.policy = y.policy = "choices d=2";
    x.policy = "least-work d=1";
    y.policy = "choices d=1";
    assert_agree(&x, &y, QUEUE_ROWS);
}

static void test_same_bits(void **state) {
    (void)state;
    static const char *const policies[] = {"one-choice",
                                           "choices d=2",
                                           "pot",
                                           "choices d=4",
                                           "jsq",
                                           "jiq",
                                           "least-work",
                                           "least-work d=2",
                                           "permuted",
                                           "random",
                                           "round-robin scope=distributed targets=others"};
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct ask base = {.topology = "complete n=37",
                                 .policy = policies[i],
                                 .lambda = 0.85,
                                 .warmup = "jobs jobs=1000",
                                 .horizon = "jobs jobs=9000",
                                 .replications = 4};
        struct answer a, b;
        play(&a, &base);
        struct ask other = base;
        for (enum level l = LEVEL_BASELINE; l <= level_best(); l++) {
            other.level = l;
            other.cut = 1 + l;
            other.starved = l != LEVEL_BASELINE;
            play(&b, &other);
            assert_same(&a, &b, 0, QUEUE_ROWS);
            for (unsigned h = 0; h < QUEUE_HISTOGRAMS; h++)
                assert_memory_equal(a.o.histogram[h], b.o.histogram[h],
                                    a.o.stride[h] * sizeof(uint64_t) *
                                        histogram_batches(&queue_at(l)->histograms[h]));
            done(&b);
        }
        done(&a);
    }
}

/* Long queues make rings grow beyond the first workspace. */
static void test_growth(void **state) {
    (void)state;
    struct answer a;
    play(&a, &(struct ask){.topology = "complete n=3",
                           .policy = "one-choice",
                           .lambda = 0.999,
                           .warmup = "jobs jobs=1000",
                           .horizon = "jobs jobs=300000",
                           .replications = 2});
    assert_true(a.attempts > 1);
    for (uint64_t r = 0; r < 2; r++) /* Little's law, but for the ends of the window */
        assert_true(fabs(value_of(&a, r, QUEUE_LENGTH) / value_of(&a, r, QUEUE_RESPONSE) - 1) <
                    0.1);
    done(&a);
}

static void set_rates(struct value *v, const double *rate, unsigned count) {
    *v = (struct value){.unset = count == 0, .reals = rate, .n_reals = count};
}

/* Settings on both sides of the limit of stability. */
static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *topology, *policy;
        double lambda, redirectable;
        double arrival[2], service[2]; /* rates in turn; 0 0: none */
        bool fine;
    } table[] = {
        {"complete n=4", "one-choice", 0.99, 1, {0}, {0}, true},
        {"complete n=4", "one-choice", 1, 1, {0}, {0}, false},
        {"complete n=4", "jsq", 1.01, 1, {0}, {0}, false},
        {"complete n=4", "random shares=1/3", 0.6, 1, {0}, {0}, true},
        {"complete n=4", "random shares=1/3", 0.7, 1, {0}, {0}, false},
        {"complete n=4", "bounded epsilon=1", 0.5, 1, {0}, {0}, false},
        /* Spaces that are drawn: as many servers as the others. */
        {"erdos-renyi n=20 mean_degree=3", "one-choice", 0.66, 1, {0.5, 1.5}, {0, 0}, true},
        {"erdos-renyi n=20 mean_degree=3", "one-choice", 0.67, 1, {0.5, 1.5}, {0, 0}, false},
        {"regular n=20 degree=3 connect=redraw", "random shares=1/3", 0.66, 1, {0}, {0}, true},
        {"regular n=20 degree=3 connect=redraw", "random shares=1/3", 0.67, 1, {0}, {0}, false},
        {"regular n=20 degree=3 connect=redraw", "sequence servers=0x1", 0.11, 1, {0}, {0}, false},
        {"regular n=20 degree=3 connect=redraw", "sequence servers=0x1", 0.09, 1, {0}, {0}, true},
        {"plane n=20", "round-robin", 0.55, 1, {0}, {0.5, 2}, false},
        {"plane n=20", "round-robin", 0.45, 1, {0}, {0.5, 2}, true},
        {"plane n=20", "permuted", 0.99, 1, {0}, {0}, true},
        {"plane n=20", "block size=3", 1, 1, {0}, {0}, false},
        /* Jobs that must stay. */
        {"complete n=4", "pot", 0.65, 0.2, {0.1, 1.9}, {0}, true},
        {"complete n=4", "pot", 0.66, 0.2, {0.1, 1.9}, {0}, false},
        {"complete n=4", "jsq", 0.65, 0.2, {0}, {0.5, 1.5}, false},
        {"complete n=4", "jsq", 0.62, 0.2, {0}, {0.5, 1.5}, true},
        {"complete n=4", "round-robin", 0.65, 0.5, {0.2, 1.8}, {0}, true},
        {"complete n=4", "round-robin", 0.72, 0.5, {0.2, 1.8}, {0}, false},
    };
    const struct model *m = queue_at(LEVEL_BASELINE);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct answer a;
        struct reason why = {""};
        struct facts facts;
        unsigned at;
        ask(&a, &(struct ask){.topology = table[i].topology,
                              .policy = table[i].policy[0] == 'b' ? "jsq" : table[i].policy,
                              .lambda = 1e-3,
                              .horizon = "jobs jobs=100"});
        give(&a, m, QUEUE_POLICY, table[i].policy);
        a.value[QUEUE_LAMBDA].real = table[i].lambda;
        a.value[QUEUE_REDIRECTABLE].real = table[i].redirectable;
        set_rates(&a.value[QUEUE_ARRIVAL_RATES], table[i].arrival, table[i].arrival[1] > 0 ? 2 : 0);
        set_rates(&a.value[QUEUE_SERVICE_RATES], table[i].service, table[i].service[1] > 0 ? 2 : 0);
        const bool fine = m->examine(a.value, &(struct budget){UINT64_MAX, 1}, &facts, &why, &at);
        if (fine != table[i].fine)
            fail_msg("%u: %s at %g: %s", i, table[i].policy, table[i].lambda, why.text);
    }
}

/* The largest share of points that a server gets: of a circle as it is; of two servers on the square
 * by a fine grid. */
static double largest_share(const struct sites *s) {
    enum { GRID = 400 };
    double most = 0, first = 0;
    for (uint64_t i = 0; s->ids > 0 && i < s->n; i++)
        most = fmax(most, (double)s->share[i] * 0x1p-64);
    if (s->ids > 0)
        return most;
    for (unsigned i = 0; i < GRID; i++)
        for (unsigned j = 0; j < GRID; j++) {
            const uint32_t x = (uint32_t)((i + 0.5) * 0x1p31 / GRID),
                           y = (uint32_t)((j + 0.5) * 0x1p31 / GRID);
            first += plane_squared(s, x, y, 0) < plane_squared(s, x, y, 1);
        }
    first /= GRID * GRID;
    return fmax(first, 1 - first);
}

/* Points that turn out to make a server too busy are refused when they are there. */
static void test_refusals_of_points(void **state) {
    enum { REPLICATIONS = 40 };
    (void)state;
    static const struct {
        const char *topology, *policy;
        double lambda, redirectable, margin;
    } table[] = {
        {"arcs n=5", "nearest", 0.4, 1, 1e-9},
        {"arcs n=5", "points d=2", 0.8, 0.5, 1e-9},
        {"plane n=2 torus=false", "nearest", 0.7, 1, 0.08},
        {"plane n=2 torus=false", "pot", 0.9, 0.2, 0.08},
    };
    const struct model *m = queue_at(LEVEL_BASELINE);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        const struct ask q = {.topology = table[i].topology,
                              .policy = table[i].policy,
                              .lambda = table[i].lambda,
                              .redirectable = table[i].redirectable,
                              .warmup = "time time=1",
                              .horizon = "jobs jobs=100"};
        struct answer a;
        struct reason why = {""};
        unsigned at, seen[2] = {0, 0};
        ask(&a, &q);
        void *p = m->prepare(a.value, 7, &(struct budget){UINT64_MAX, 1}, &why);
        struct workspace w = {aligned_alloc(64, 1 << 20), 1 << 20};
        int64_t tally[QUEUE_ROWS];
        for (uint64_t r = 0; r < REPLICATIONS; r++) {
            struct outcome o = {.first = r, .count = 1, .tally = tally};
            struct space space = {0};
            const struct entry *e = a.value[QUEUE_TOPOLOGY].entry;
            assert_true(topology_of(e)->describe(e->values, &space, &why, &at));
            assert_true(space_make(topology_of(e), e->values, (struct stream){7, (uint32_t)r},
                                   &space, &why));
            const double bound = strcmp(q.policy, "nearest") ? 1 - q.redirectable : 1,
                         busy = bound * q.lambda * (double)space.n * largest_share(space.sites);
            const bool refused = m->play(p, 7, w, &o) == PLAY_REFUSED;
            if (fabs(busy - 1) > table[i].margin && refused != (busy > 1))
                fail_msg("%s, replication %u: load %g, refused %d", q.topology, (unsigned)r, busy,
                         refused);
            seen[refused]++;
            space_clear(&space);
        }
        if (seen[0] < 4 || seen[1] < 4)
            fail_msg("%s: %u played, %u refused", q.topology, seen[0], seen[1]);
        free(w.memory);
        m->release(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_means),
        cmocka_unit_test(test_load_time),
        cmocka_unit_test(test_equal_paths),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refusals_of_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
