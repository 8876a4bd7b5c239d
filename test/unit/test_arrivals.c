/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Streams of arrivals. Merged streams are held bit for bit against every server's epochs sorted;
 * laws against their exact means; all levels must give the same bits. */
#include "streams_by_hand.h"

#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* z of 40 two-sided comparisons that together raise a false alarm once in 10^4; chi-squares
 * alike. */
static const double Z = 4.8, TAIL = 1e-4 / 40;
static const struct stream words = {0x5eed0123456789abu, 3};

static char current[200];
static int name_culprit(void **state) {
    (void)state;
    if (current[0])
        print_error("with %s\n", current);
    current[0] = '\0';
    return 0;
}

/* A stream that is playing. */
struct play {
    const struct level_streams *level;
    struct arrivals_facts facts;
    struct arrivals *a;
    void *memory;
    struct stream s;
    uint64_t first;
    uint32_t count;
    double time[BLOCK], service[BLOCK];
    uint32_t origin[BLOCK];
};

static struct play *play_new(const struct level_streams *level, const struct arrivals_wish *w) {
    struct play *p = allocate(1, sizeof *p);
    struct reason why = {""};
    enum arrivals_fault fault;
    unsigned inner;
    p->level = level;
    if (!level->arrivals_examine(w, &p->facts, &why, &fault, &inner))
        fail_msg("%s", why.text);
    p->a = level->arrivals_prepare(w);
    p->memory = dirty_memory(p->facts.memory);
    return p;
}
static void play_begin(struct play *p, struct stream s) {
    p->s = s;
    p->first = 0;
    p->level->arrivals_begin(p->a, p->memory, s);
}
static void play_next(struct play *p) {
    p->count =
        p->level->arrivals_next(p->a, p->memory, p->s, p->first, p->time, p->origin, p->service);
    p->first += BLOCK;
}
static void play_free(struct play *p) {
    p->level->arrivals_free(p->a);
    free(p->memory);
    free(p);
}

struct epoch {
    double time;
    uint32_t server;
    uint64_t number;
};
static int earlier(const void *x, const void *y) {
    const struct epoch *a = x, *b = y;
    if (a->time < b->time || a->time > b->time)
        return a->time < b->time ? -1 : 1;
    if (a->server != b->server)
        return a->server < b->server ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Every server's epochs before `end`, one server after the other. */
static uint64_t epochs_of(const struct level_streams *level, const struct arrivals_wish *w,
                          double end, struct epoch **out) {
    struct sampled_law law;
    uint64_t count = 0, room = 1024;
    level->law_prepare(w->entry, 1 / w->lambda, &law);
    *out = allocate(room, sizeof **out);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct words own = {words, PURPOSE_ARRIVAL, i * law.facts.lanes};
        const double stretch = w->rate ? 1 / w->rate[i] : 1;
        double gap[CHUNK], t = 0;
        if (w->rate && w->rate[i] <= 0)
            continue;
        uint64_t k = 0, number = 0;
        if (!w->synchronised)
            t = law.law->residual(&law, (struct words){words, PURPOSE_ARRIVAL, 0x40000000}, i) *
                stretch;
        for (;; k++) {
            if (k > 0 || !w->synchronised) {
                if (t >= end)
                    break;
                if (count == room)
                    *out = reallocate(*out, room *= 2, sizeof **out);
                (*out)[count++] = (struct epoch){t, i, number++};
            }
            if (k % CHUNK == 0)
                law.law->draw(&law, own, k, CHUNK, gap);
            t += gap[k % CHUNK] * stretch;
        }
    }
    level->law_free(&law);
    qsort(*out, count, sizeof **out, earlier);
    return count;
}

static void check_merge(const char *law, double shape, uint64_t n, const double *rate,
                        bool synchronised, double jobs) {
    const struct level_streams *level = streams_best();
    struct made m;
    struct epoch *all;
    snprintf(current, sizeof current, "%s, n %llu, rates %d, synchronised %d", law,
             (unsigned long long)n, rate != NULL, synchronised);
    make(&m, level->arrivals, law);
    if (shape > 0)
        value_of(&m, "shape")->real = shape;
    const struct arrivals_wish w = {
        .entry = &m.entry, .lambda = 0.8, .synchronised = synchronised, .n = n, .rate = rate};
    struct play *p = play_new(level, &w);
    const uint64_t count = epochs_of(level, &w, jobs / p->facts.rate, &all);
    assert_true(count > jobs / 4);
    play_begin(p, words);
    for (uint64_t i = 0; i < count; i++) {
        if (i % BLOCK == 0)
            play_next(p);
        if (p->time[i % BLOCK] != all[i].time || p->origin[i % BLOCK] != all[i].server)
            fail_msg("job %llu: %a at %u, not %a at %u", (unsigned long long)i, p->time[i % BLOCK],
                     p->origin[i % BLOCK], all[i].time, all[i].server);
    }
    free(all);
    play_free(p);
    current[0] = '\0';
}

static void test_merge(void **state) {
    static const char *const laws[] = {"exponential",      "deterministic", "uniform",
                                       "hyperexponential", "pareto",        "discrete",
                                       "geometric",        "lomax"};
    static const double rates[5] = {1, 1000, 0, 0.001, 3};
    (void)state;
    for (unsigned i = 0; i < sizeof laws / sizeof *laws; i++)
        for (int synchronised = 0; synchronised < 2; synchronised++) {
            check_merge(laws[i], 0, 1, NULL, synchronised, 10000);
            check_merge(laws[i], 0, 37, NULL, synchronised, 20000);
            check_merge(laws[i], 0, 5, rates, synchronised, 20000);
            check_merge(laws[i], 0, 9000, NULL, synchronised, 50000);
        }
    /* Gaps so uneven that windows overflow, and so alike that buckets do. */
    check_merge("weibull", 0.2, 3, NULL, true, 100000);
    check_merge("weibull", 0.1, 1, NULL, true, 100000);
    check_merge("weibull", 50, 9000, NULL, true, 50000);
}

/* Gaps of 0 that make more jobs at one moment than a window has room for: they come by server, those
 * of a server together, and those of other moments stay apart. */
static void test_crowds(void **state) {
    static const double times[] = {0, 1}, chances[] = {0.99998, 0.00002};
    enum { BLOCKS = 200 };
    const struct level_streams *level = streams_best();
    struct made m;
    (void)state;
    make(&m, level->arrivals, "discrete");
    *value_of(&m, "values") = (struct value){.reals = times, .n_reals = 2};
    *value_of(&m, "probabilities") = (struct value){.reals = chances, .n_reals = 2};
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 1, .n = 3, .synchronised = true};
    struct play *p = play_new(level, &w);
    struct epoch last = {0};
    uint64_t moments = 0, turns = 0;
    play_begin(p, words);
    for (unsigned b = 0; b < BLOCKS; b++) {
        play_next(p);
        for (uint32_t j = 0; j < BLOCK; j++) {
            const struct epoch e = {p->time[j], p->origin[j], 0};
            assert_true(earlier(&last, &e) <= 0);
            moments += e.time > last.time;
            turns += e.server != last.server;
            last = e;
        }
    }
    /* A server has 50,000 jobs at a moment in the mean. */
    assert_true(moments >= 1 && moments < 30 && turns < 3 * moments + 3);
    play_free(p);
}

/* The mean number of arrivals in [0, t] is rate * t, exactly, for each t. */
static void test_equilibrium(void **state) {
    static const char *const laws[] = {"deterministic", "uniform", "erlang",   "hyperexponential",
                                       "lognormal",     "pareto",  "discrete", "lomax"};
    enum { SERVERS = 1000, REPLICATIONS = 60 };
    const struct level_streams *level = streams_best();
    (void)state;
    for (unsigned i = 0; i < sizeof laws / sizeof *laws; i++)
        for (int total = 0; total < 2; total++) {
            struct made m;
            const struct arrivals_wish w = {.entry = &make(&m, level->arrivals, laws[i])->entry,
                                            .lambda = total ? 0.5 / SERVERS : 0.5,
                                            .total = total,
                                            .n = SERVERS};
            struct play *p = play_new(level, &w);
            /* One stream: as many replications as the others have streams. */
            const uint32_t replications = total ? SERVERS * REPLICATIONS : REPLICATIONS;
            double sum = 0, squares = 0;
            const double end = 1.4; /* 0.7 of the mean gap of a stream */
            for (uint32_t r = 0; r < replications; r++) {
                double count = 0;
                play_begin(p, (struct stream){words.key, r});
                for (uint32_t j = 0; j % BLOCK > 0 || j == 0 || p->time[BLOCK - 1] < end; j++) {
                    if (j % BLOCK == 0)
                        play_next(p);
                    if (p->time[j % BLOCK] >= end)
                        break;
                    count++;
                }
                sum += count;
                squares += count * count;
            }
            snprintf(current, sizeof current, "%s, total %d: mean %g", laws[i], total,
                     sum / replications);
            assert_true(
                mean_fits(sum, squares, replications, total ? 0.7 : 0.7 * SERVERS, Z, 0.01));
            play_free(p);
        }
    current[0] = '\0';
}

/* Jobs by origin, and the mean gap. */
static void check_rates(const char *kind, bool total, const double *rate, uint64_t n,
                        double spread) {
    enum { BLOCKS = 100 };
    const struct level_streams *level = streams_best();
    struct made m;
    uint64_t seen[16] = {0};
    double expected[16], each[16], sum = 0;
    make(&m, level->arrivals, kind);
    if (!strcmp(kind, "batch"))
        value_of(&m, "size")->count = 1;
    const struct arrivals_wish w = {
        .entry = &m.entry, .lambda = 0.7, .total = total, .n = n, .rate = rate};
    struct play *p = play_new(level, &w);
    level->arrivals_rates(&w, each);
    snprintf(current, sizeof current, "%s, total %d", kind, total);
    play_begin(p, words);
    for (unsigned b = 0; b < BLOCKS; b++) {
        play_next(p);
        assert_int_equal(p->count, BLOCK);
        for (uint32_t j = 0; j < BLOCK && p->facts.origins; j++)
            seen[p->origin[j]]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        assert_true(fabs(each[i] - 0.7 * (rate ? rate[i] : 1)) < 1e-12);
        sum += each[i];
    }
    assert_true(fabs(sum - p->facts.rate) < 1e-9);
    for (uint64_t i = 0; i < n; i++)
        expected[i] = BLOCKS * BLOCK * each[i] / sum;
    assert_true(p->facts.origins == (rate || !total || !strcmp(kind, "batch")) ||
                !strcmp(kind, "poisson"));
    if (p->facts.origins && p->facts.independent)
        assert_true(fit_tail(seen, expected, n) > TAIL);
    const double jobs = BLOCKS * BLOCK;
    assert_true(fabs(p->time[BLOCK - 1] * sum / jobs - 1) < Z * spread / sqrt(jobs));
    play_free(p);
    current[0] = '\0';
}

static void test_rates(void **state) {
    static const double rates[6] = {1, 0, 2.5, 0.25, 4, 0.125};
    (void)state;
    check_rates("poisson", false, NULL, 6, 1);
    check_rates("poisson", true, rates, 6, 1);
    check_rates("poisson", false, rates, 6, 1);
    check_rates("batch", true, rates, 6, 1);
    check_rates("batch", true, NULL, 13, 1);
    check_rates("uniform", true, rates, 6, 0.58);
    check_rates("uniform", false, rates, 6, 0.58);
    check_rates("hyperexponential", true, NULL, 6, 2);
    check_rates("hyperexponential", false, rates, 6, 2);
}

static void test_batch(void **state) {
    enum { SIZE = 3, BLOCKS = 60 };
    const struct level_streams *level = streams_best();
    struct made m;
    (void)state;
    make(&m, level->arrivals, "batch");
    value_of(&m, "size")->count = SIZE;
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 0.5, .n = 10};
    struct play *p = play_new(level, &w);
    double time = -1;
    uint32_t origin = 0;
    uint64_t jobs = 0, seen[10] = {0};
    double expected[10];
    assert_false(p->facts.independent);
    play_begin(p, words);
    for (unsigned b = 0; b < BLOCKS; b++) {
        play_next(p);
        for (uint32_t j = 0; j < BLOCK; j++, jobs++) {
            if (jobs % SIZE == 0) {
                assert_true(p->time[j] > time);
                time = p->time[j];
                origin = p->origin[j];
                seen[origin]++;
            }
            assert_true(p->time[j] == time && p->origin[j] == origin);
        }
    }
    for (unsigned i = 0; i < 10; i++)
        expected[i] = (double)jobs / SIZE / 10;
    assert_true(fit_tail(seen, expected, 10) > TAIL);
    const double batches = (double)jobs / SIZE;
    assert_true(fabs(time * 0.5 * 10 / (double)jobs - 1) < Z / sqrt(batches));
    play_free(p);
}

/* Two states left at rate r, rates l + d and l - d: N(t) has mean l t and variance
 * l t + 2 d^2 (t / (2r) - (1 - exp(-2rt)) / (2r)^2). */
static void test_mmpp(void **state) {
    enum { REPLICATIONS = 40000 };
    static const double rates[] = {3, 1}, leave[] = {0.4};
    const struct level_streams *level = streams_best();
    struct made m;
    (void)state;
    make(&m, level->arrivals, "mmpp");
    *value_of(&m, "rates") = (struct value){.reals = rates, .n_reals = 2};
    *value_of(&m, "switch") = (struct value){.reals = leave, .n_reals = 1};
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 0.5, .total = true, .n = 4};
    struct play *p = play_new(level, &w);
    const double r = 0.4, l = 2, d = 1, t = 3,
                 variance =
                     l * t + 2 * d * d * (t / (2 * r) - (1 - exp(-2 * r * t)) / (2 * r * 2 * r));
    double sum = 0, squares = 0, fourth = 0;
    for (uint32_t i = 0; i < REPLICATIONS; i++) {
        uint32_t count = 0;
        play_begin(p, (struct stream){words.key, i});
        play_next(p);
        while (p->time[count] < t)
            count++;
        const double x = count - l * t;
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    const double n = REPLICATIONS;
    assert_true(fabs(sum / n) < Z * sqrt(variance / n));
    assert_true(mean_fits(squares, fourth, n, variance, Z, 0.02));
    play_free(p);
}

static const struct kind *kind_of(const struct catalogue *c, const char *name) {
    for (unsigned i = 0; i < c->n_kinds; i++)
        if (!strcmp(c->kinds[i]->name, name))
            return c->kinds[i];
    return NULL;
}

/* Epochs of modulated streams before `end`, one server after the other. */
static uint64_t modulated_epochs(const struct level_streams *level, const struct arrivals_wish *w,
                                 double end, struct epoch **out) {
    const struct value *rates = &w->entry->values[0], *leave = &w->entry->values[1];
    const unsigned states = rates->n_reals;
    static const struct value one = {.real = 1};
    const struct entry unit = {kind_of(level->laws, "exponential"), &one, "exponential"};
    struct sampled_law law;
    uint64_t count = 0, room = 1024;
    double cycle = 0, jobs = 0, word[CHUNK], stay[CHUNK];
    level->law_prepare(&unit, 1, &law);
    *out = allocate(room, sizeof **out);
    for (unsigned i = 0; i < states; i++) {
        cycle += 1 / leave->reals[i];
        jobs += rates->reals[i] / leave->reals[i];
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const double own = w->lambda * (w->rate ? w->rate[i] : 1);
        double from = 0, share = 0, left = -1;
        unsigned at = 0;
        uint64_t used = 0, number = 0;
        const double u =
            (rng_word(words, PURPOSE_ARRIVAL, 0x40000000 + 2 * LAW_LANES, i) + 0.5) * 0x1p-32;
        while (at + 1 < states && u >= (share += 1 / leave->reals[at] / cycle))
            at++;
        for (uint64_t k = 0; own > 0 && from < end; k++, at = (at + 1) % states) {
            if (k % CHUNK == 0)
                law.law->draw(&law, (struct words){words, PURPOSE_ARRIVAL, 0x80000000u + 2 * i}, k,
                              CHUNK, stay);
            const double length = stay[k % CHUNK] / leave->reals[at],
                         rate = rates->reals[at] / (jobs / cycle) * own;
            double t = from;
            for (;; left = -1) {
                if (left < 0) {
                    if (used % CHUNK == 0)
                        law.law->draw(&law, (struct words){words, PURPOSE_ARRIVAL, 2 * i}, used,
                                      CHUNK, word);
                    left = word[used++ % CHUNK];
                }
                if (left >= (from + length - t) * rate)
                    break;
                t += left / rate;
                if (count == room)
                    *out = reallocate(*out, room *= 2, sizeof **out);
                (*out)[count++] = (struct epoch){t, i, number++};
            }
            left -= (from + length - t) * rate;
            from += length;
        }
    }
    level->law_free(&law);
    qsort(*out, count, sizeof **out, earlier);
    return count;
}

/* A stream with states for each server: what each does by itself, sorted. */
static void check_modulated(uint64_t n, const double *rate, double leaving, double jobs) {
    const double rates[] = {3, 0, 1}, leave[] = {leaving, 2 * leaving, 0.3 * leaving};
    const struct level_streams *level = streams_best();
    struct made m;
    struct epoch *all;
    snprintf(current, sizeof current, "mmpp, n %llu, rates %d, switch %g", (unsigned long long)n,
             rate != NULL, leaving);
    make(&m, level->arrivals, "mmpp");
    *value_of(&m, "rates") = (struct value){.reals = rates, .n_reals = 3};
    *value_of(&m, "switch") = (struct value){.reals = leave, .n_reals = 3};
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 0.8, .n = n, .rate = rate};
    struct play *p = play_new(level, &w);
    const double end = jobs / p->facts.rate;
    const uint64_t count = modulated_epochs(level, &w, end, &all);
    uint64_t known = 0;
    assert_false(p->facts.independent);
    assert_true(p->facts.origins && (double)count > jobs / 4);
    play_begin(p, words);
    for (uint64_t i = 0; i < count && all[i].time < end; i++, known++) {
        if (i % BLOCK == 0)
            play_next(p);
        if (fabs(p->time[i % BLOCK] - all[i].time) > 1e-11 * end ||
            p->origin[i % BLOCK] != all[i].server)
            fail_msg("job %llu: %a at %u, not %a at %u", (unsigned long long)i, p->time[i % BLOCK],
                     p->origin[i % BLOCK], all[i].time, all[i].server);
    }
    assert_true((double)known > jobs / 4);
    free(all);
    play_free(p);
    current[0] = '\0';
}

static void test_modulated(void **state) {
    static const double rates[5] = {1, 1000, 0, 0.01, 3};
    (void)state;
    check_modulated(1, NULL, 0.1, 20000);
    check_modulated(37, NULL, 1, 20000);
    check_modulated(37, NULL, 1e-4, 20000); /* windows without jobs, and some too full */
    check_modulated(5, rates, 0.2, 20000);
    check_modulated(9000, NULL, 3, 50000);
}

/* Counts of a server have the mean and the variance of test_mmpp(), and those of two servers have
 * nothing to do with each other. */
static void test_modulated_counts(void **state) {
    enum { REPLICATIONS = 40000 };
    static const double rates[] = {3, 1}, leave[] = {0.4};
    const struct level_streams *level = streams_best();
    struct made m;
    (void)state;
    make(&m, level->arrivals, "mmpp");
    *value_of(&m, "rates") = (struct value){.reals = rates, .n_reals = 2};
    *value_of(&m, "switch") = (struct value){.reals = leave, .n_reals = 1};
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 2, .n = 2};
    struct play *p = play_new(level, &w);
    const double r = 0.4, l = 2, d = 1, t = 3,
                 variance =
                     l * t + 2 * d * d * (t / (2 * r) - (1 - exp(-2 * r * t)) / (2 * r * 2 * r));
    double sum = 0, squares = 0, fourth = 0, products = 0;
    for (uint32_t i = 0; i < REPLICATIONS; i++) {
        double count[2] = {-l * t, -l * t};
        play_begin(p, (struct stream){words.key, i});
        play_next(p);
        for (uint32_t j = 0; p->time[j] < t; j++)
            count[p->origin[j]]++;
        for (unsigned k = 0; k < 2; k++) {
            sum += count[k];
            squares += count[k] * count[k];
            fourth += pow(count[k], 4);
        }
        products += count[0] * count[1];
    }
    const double n = REPLICATIONS;
    assert_true(fabs(sum / (2 * n)) < Z * sqrt(variance / (2 * n)));
    assert_true(mean_fits(squares, fourth, 2 * n, variance, Z, 0.02));
    assert_true(fabs(products / n) < Z * variance / sqrt(n));
    play_free(p);
}

/* Three states of unequal rates, one of them 0, and stays: the mean rate is lambda. */
static void test_mmpp_cycle(void **state) {
    enum { BLOCKS = 400 };
    static const double rates[] = {0, 5, 1}, leave[] = {1, 2, 0.5};
    const struct level_streams *level = streams_best();
    struct made m;
    (void)state;
    make(&m, level->arrivals, "mmpp");
    *value_of(&m, "rates") = (struct value){.reals = rates, .n_reals = 3};
    *value_of(&m, "switch") = (struct value){.reals = leave, .n_reals = 3};
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 0.5, .total = true, .n = 4};
    struct play *p = play_new(level, &w);
    double last = 0;
    play_begin(p, words);
    for (unsigned b = 0; b < BLOCKS; b++) {
        play_next(p);
        for (uint32_t j = 0; j < BLOCK; j++) {
            assert_true(p->time[j] >= last);
            last = p->time[j];
        }
    }
    /* Counts vary as a Poisson variable's, times an index below 4. */
    assert_true(fabs(last * 2 / (BLOCKS * BLOCK) - 1) < Z * 2 / sqrt(BLOCKS * BLOCK));
    play_free(p);
}

static bool examine_trace(const char *text, uint64_t n, const double *rate, struct reason *why) {
    const struct level_streams *level = streams_best();
    struct attachment file = text_file(text);
    struct made m;
    struct arrivals_facts facts;
    enum arrivals_fault fault;
    unsigned inner;
    make(&m, level->arrivals, "trace");
    m.value[0].file = &file;
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 1, .n = n, .rate = rate};
    const bool fine = level->arrivals_examine(&w, &facts, why, &fault, &inner);
    text_file_free(&file);
    return fine;
}

static void test_trace(void **state) {
    const struct level_streams *level = streams_best();
    struct attachment file = text_file("# time server service\n0 2 1.5\n0, 0, 0.5\n\n1.25\t1 2\n");
    struct made m;
    double each[3];
    (void)state;
    make(&m, level->arrivals, "trace");
    m.value[0].file = &file;
    const struct arrivals_wish w = {.entry = &m.entry, .lambda = 1, .n = 3};
    struct play *p = play_new(level, &w);
    assert_int_equal(p->facts.jobs, 3);
    assert_true(p->facts.origins && p->facts.services && !p->facts.independent);
    assert_true(fabs(p->facts.mean_service - 4.0 / 3) < 1e-15 && p->facts.rate == 3 / 1.25);
    play_begin(p, words);
    play_next(p);
    assert_int_equal(p->count, 3);
    assert_true(p->time[0] == 0 && p->origin[0] == 2 && p->service[0] == 1.5);
    assert_true(p->time[1] == 0 && p->origin[1] == 0 && p->service[1] == 0.5);
    assert_true(p->time[2] == 1.25 && p->origin[2] == 1 && p->service[2] == 2);
    play_next(p);
    assert_int_equal(p->count, 0);
    level->arrivals_rates(&w, each);
    assert_true(each[0] == 1 / 1.25 && each[1] == 1 / 1.25 && each[2] == 1 / 1.25);
    play_free(p);
    text_file_free(&file);
}

static void test_trace_refusals(void **state) {
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"0 1\n1\n", "rows.txt:2: 1 number, where the lines before have 2"},
        {"0\nx\n", "rows.txt:2: 'x' is no number"},
        {"0\n0x10\n", "rows.txt:2: '0x10' is no number"},
        {"0\nnan\n", "rows.txt:2: 'nan' is no number"},
        {"0\n1e999\n", "rows.txt:2: '1e999' is no number"},
        {"2\n1\n", "rows.txt:2: time 1 after time 2: times must not fall"},
        {"-1\n", "rows.txt:1: time -1 (allowed: 0 to 1e+15)"},
        {"0 3\n", "rows.txt:1: server 3 (allowed: 0 to 2)"},
        {"# a\n0 0.5\n", "rows.txt:2: server 0.5 (allowed: 0 to 2)"},
        {"0 1 0\n", "rows.txt:1: service 0 (allowed: more than 0, up to 1e+12)"},
        {"0 1 2 3\n", "rows.txt:1: more numbers than an arrival has"},
        {"# nothing\n", "rows.txt:2: the file ends without an arrival"},
        {"", "rows.txt: the file is empty"},
    };
    static const double rates[3] = {1, 1, 2};
    struct reason why;
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(examine_trace(wrong[i].text, 3, NULL, &why));
        assert_string_equal(why.text, wrong[i].why);
    }
    assert_true(examine_trace("0\n1", 3, rates, &why));
    assert_false(examine_trace("0 1\n", 3, rates, &why));
    assert_string_equal(why.text, "arrival_rates besides a trace that names servers");
}

static void refused(const struct arrivals_wish *w, enum arrivals_fault fault, int inner,
                    const char *text) {
    struct arrivals_facts facts;
    struct reason why = {""};
    enum arrivals_fault found;
    unsigned at;
    assert_false(streams_best()->arrivals_examine(w, &facts, &why, &found, &at));
    assert_string_equal(why.text, text);
    assert_int_equal(found, fault);
    if (inner >= 0)
        assert_int_equal(at, inner);
}

static void test_refusals(void **state) {
    static const double one[] = {1}, none[] = {0, 0}, two[] = {1, 2}, three[] = {1, 2, 3},
                        often[] = {1e9}, seldom[] = {1e-12};
    const struct level_streams *level = streams_best();
    struct made m;
    struct arrivals_wish w = {.entry = &m.entry, .lambda = 0.5, .synchronised = true, .n = 4};
    (void)state;
    make(&m, level->arrivals, "poisson");
    refused(&w, ARRIVALS_SYNCHRONISED, -1,
            "synchronised makes a difference to renewal streams only, not to poisson");
    make(&m, level->arrivals, "exponential");
    value_of(&m, "mean")->real = 2;
    refused(&w, ARRIVALS_ENTRY, parameter_index(m.entry.kind, "mean"),
            "arrivals come at rate lambda, so the mean of their law makes no difference (leave it "
            "out)");
    make(&m, level->arrivals, "erlang");
    value_of(&m, "shape")->count = 100;
    w.n = 1 << 30;
    refused(&w, ARRIVALS_SCOPE, -1,
            "a stream for each of 1073741824 servers (allowed with this law: 5368709)");
    w.n = 4;
    w.synchronised = false;
    make(&m, level->arrivals, "mmpp");
    *value_of(&m, "rates") = (struct value){.reals = one, .n_reals = 1};
    *value_of(&m, "switch") = (struct value){.reals = one, .n_reals = 1};
    refused(&w, ARRIVALS_ENTRY, 0, "mmpp with 1 rate (allowed: 2 to 64)");
    *value_of(&m, "rates") = (struct value){.reals = none, .n_reals = 2};
    refused(&w, ARRIVALS_ENTRY, 0, "mmpp whose rates are all 0");
    *value_of(&m, "rates") = (struct value){.reals = three, .n_reals = 3};
    *value_of(&m, "switch") = (struct value){.reals = two, .n_reals = 2};
    refused(&w, ARRIVALS_ENTRY, 1, "mmpp with 3 rates and 2 switches (allowed: one for all, or 3)");
    *value_of(&m, "switch") = (struct value){.reals = often, .n_reals = 1};
    refused(&w, ARRIVALS_ENTRY, 1,
            "states change 2e+09 times between two jobs of a stream (at most 1e+06)");
    *value_of(&m, "switch") = (struct value){.reals = seldom, .n_reals = 1};
    refused(&w, ARRIVALS_ENTRY, 1,
            "a cycle of states lasts for 1.5e+12 jobs of a stream (at most 1e+12)");
}

/* Every kind at every level gives the same bits. */
static void test_levels(void **state) {
    static const double rates[] = {3, 1, 2}, leave[] = {0.5};
    (void)state;
    for (unsigned k = 0; k < streams_best()->arrivals->n_kinds; k++)
        for (int variant = 0; variant < 4; variant++) {
            uint64_t first = 0;
            for (enum level l = LEVEL_BASELINE; l < LEVELS; l++) {
                const struct level_streams *level = streams_at(l);
                struct made m;
                if (!level)
                    continue;
                const char *name = level->arrivals->kinds[k]->name;
                make(&m, level->arrivals, name);
                if (!strcmp(name, "trace"))
                    continue;
                if (!strcmp(name, "batch"))
                    m.value[0].count = 5;
                if (!strcmp(name, "mmpp")) {
                    m.value[0] = (struct value){.reals = rates, .n_reals = 3};
                    m.value[1] = (struct value){.reals = leave, .n_reals = 1};
                }
                const struct arrivals_wish w = {.entry = &m.entry,
                                                .lambda = 0.9,
                                                .total = variant % 2,
                                                .n = 3,
                                                .rate = variant < 2 ? NULL : rates};
                struct play *p = play_new(level, &w);
                uint64_t hash = 14695981039346656037u;
                play_begin(p, words);
                for (unsigned b = 0; b < 5; b++) {
                    play_next(p);
                    for (uint32_t j = 0; j < BLOCK; j++) {
                        uint64_t bits;
                        memcpy(&bits, &p->time[j], sizeof bits);
                        hash = (hash ^ bits) * 1099511628211u;
                        hash = (hash ^ (p->facts.origins ? p->origin[j] : 0)) * 1099511628211u;
                    }
                }
                snprintf(current, sizeof current, "%s, variant %d, %s", name, variant, level->name);
                assert_true(l == LEVEL_BASELINE || hash == first);
                first = hash;
                play_free(p);
            }
        }
    current[0] = '\0';
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_merge, name_culprit),
        cmocka_unit_test(test_crowds),
        cmocka_unit_test_teardown(test_equilibrium, name_culprit),
        cmocka_unit_test_teardown(test_rates, name_culprit),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_mmpp),
        cmocka_unit_test(test_mmpp_cycle),
        cmocka_unit_test_teardown(test_modulated, name_culprit),
        cmocka_unit_test(test_modulated_counts),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_trace_refusals),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test_teardown(test_levels, name_culprit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
