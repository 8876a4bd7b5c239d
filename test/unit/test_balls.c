/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Balls into bins: method servers against a replay ball by ball; the same bits from every level,
 * from every cut of the range and in any workspace; method occupancy against method servers in law.
 */
#include "balls.h"

#include "by_hand.h"
#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { COMPARISONS = 600, GUARD = 64, RUBBISH = 0xa5 };
static const double TAIL = 1e-4 / COMPARISONS;
static unsigned compared;
static const struct question *current;

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static int name_culprit(void **state) {
    (void)state;
    if (current)
        print_error("with %s on %s, %llu balls, ties %s, %s\n", current->policy, current->topology,
                    (unsigned long long)current->balls, current->origin_wins ? "origin" : "fair",
                    current->occupancy ? "occupancy" : "servers");
    current = NULL;
    return 0;
}

static void assert_likely(double tail) {
    compared++;
    assert_true(compared <= COMPARISONS);
    assert_true(tail >= 0);
    if (tail <= TAIL)
        fail_msg("as unlikely as %g", tail);
}

/* How to play a question, where it departs from what the runner does first. */
struct manner {
    enum level level;
    uint64_t workspace; /* to begin with; 0: what examine() says */
    bool starved;       /* begin without any */
    unsigned width;     /* of loads to begin with; 0: the model's choice */
};

struct played {
    struct balls_by_hand point;
    struct outcome o;
    unsigned attempts;
};

static uint64_t batches(unsigned h) {
    return h == COUNT_LOAD ? BATCHES : 1;
}

static void clear_histograms(struct outcome *o) {
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++) {
        memset(o->histogram[h], 0, batches(h) * o->stride[h] * sizeof(uint64_t));
        o->used[h] = 0;
    }
}

/* Plays until the workspace suffices, in memory full of rubbish that must not be left. */
static void play_prepared(struct played *r, const struct model *model, const void *prepared,
                          uint64_t size) {
    const uint64_t key = rng_key(5, r->point.topology.text);
    for (r->attempts = 1;; r->attempts++) {
        unsigned char *memory = aligned_alloc(64, (size + GUARD + 63) / 64 * 64);
        assert_non_null(memory);
        memset(memory, RUBBISH, size + GUARD);
        clear_histograms(&r->o);
        const struct workspace work = {memory, size};
        const uint64_t need = model->play(prepared, key, work, &r->o);
        for (uint64_t i = 0; i < GUARD; i++)
            assert_int_equal(memory[size + i], RUBBISH);
        free(memory);
        if (need == 0)
            return;
        assert_true(need > size);
        assert_true(r->attempts < 20);
        size = need;
    }
}

static void play(struct played *r, const struct question *q, struct manner how, uint64_t first,
                 uint64_t count) {
    const struct model *model = balls_at(how.level);
    current = q;
    *r = (struct played){.o = {.first = first, .count = count}};
    const struct value *values = balls_by_hand(&r->point, how.level, q);
    const struct facts *facts = &r->point.facts;
    r->o.tally = allocate(count * BALLS_ROWS, sizeof *r->o.tally);
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++) {
        r->o.stride[h] = facts->bins[h];
        r->o.histogram[h] = allocate(batches(h) * r->o.stride[h] + 1, sizeof(uint64_t));
    }
    struct reason why;
    struct balls *prepared = model->prepare(values, rng_key(5, r->point.topology.text),
                                            &(struct budget){UINT64_MAX, 1}, &why);
    if (how.width)
        prepared->width = how.width;
    play_prepared(r, model, prepared,
                  how.starved     ? 0
                  : how.workspace ? how.workspace
                                  : facts->bytes_thread);
    model->release(prepared);
}

static void forget(struct played *r) {
    free(r->o.tally);
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++)
        free(r->o.histogram[h]);
    current = NULL;
}

static void assert_same(const struct outcome *a, const struct outcome *b) {
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->tally, b->tally, a->count * BALLS_ROWS * sizeof *a->tally);
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++) {
        assert_int_equal(a->used[h], b->used[h]);
        assert_int_equal(a->stride[h], b->stride[h]);
        assert_memory_equal(a->histogram[h], b->histogram[h],
                            batches(h) * a->stride[h] * sizeof(uint64_t));
    }
}

/* Adds the outcome of the range that follows. */
static void append(struct outcome *a, const struct outcome *b) {
    a->tally = reallocate(a->tally, (a->count + b->count) * BALLS_ROWS, sizeof *a->tally);
    memcpy(a->tally + a->count * BALLS_ROWS, b->tally, b->count * BALLS_ROWS * sizeof *b->tally);
    a->count += b->count;
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++) {
        for (uint64_t i = 0; i < batches(h) * a->stride[h]; i++)
            a->histogram[h][i] += b->histogram[h][i];
        a->used[h] = a->used[h] > b->used[h] ? a->used[h] : b->used[h];
    }
}

/* One replication, ball by ball. */
struct replay {
    uint64_t n, *load, moved, cost, hop_count[BINS_EXACT];
    bool knows_moves; /* not when those who stay are drawn by chance */
};

static void put_block(struct replay *y, const struct sampler *s, struct stream stream,
                      const struct block *b) {
    const bool coins = s->origin_first && s->candidates == 2 && s->ties == TIES_FAIR;
    for (uint32_t i = 0; i < b->size; i++) {
        const uint64_t ball = b->first + i;
        uint32_t to = b->candidate[0][i];
        for (unsigned c = 1; c < s->candidates; c++) {
            const uint32_t rival = b->candidate[c][i];
            const bool tie = y->load[rival] == y->load[to];
            const uint32_t word = rng_word(stream, PURPOSE_TIE, 0, ball / 32);
            if (y->load[rival] < y->load[to] || (tie && coins && word >> ball % 32 & 1))
                to = rival;
        }
        const uint64_t hops = space_distance(&s->space, b->origin[i], to);
        y->load[to]++;
        y->moved += hops > 0;
        y->cost += hops;
        y->hop_count[hops]++;
    }
}

static void replay(struct replay *y, const struct question *q, uint32_t replication) {
    struct balls_by_hand point;
    const struct model *model = balls_at(LEVEL_BASELINE);
    struct reason why;
    struct balls *p = model->prepare(balls_by_hand(&point, LEVEL_BASELINE, q), 1,
                                     &(struct budget){UINT64_MAX, 1}, &why);
    const struct sampler *s = &p->sampler;
    const struct stream stream = {rng_key(5, point.topology.text), replication};
    *y = (struct replay){.n = p->n};
    y->load = allocate(p->n, sizeof *y->load);
    y->knows_moves = !(s->blind && s->space.form == FORM_COMPLETE);
    uint32_t *memory = allocate((s->draws + 3) * (size_t)BLOCK, sizeof *memory);
    for (uint64_t first = 0; first < p->m; first += BLOCK) {
        struct block b = {.first = first};
        b.size = p->m - first < BLOCK ? (uint32_t)(p->m - first) : BLOCK;
        b.origin = memory;
        b.hop = memory + BLOCK;
        b.scratch = memory + 2 * BLOCK;
        for (unsigned j = 0; j < s->draws; j++)
            b.raw[j] = memory + (3 + j) * BLOCK;
        block_draw(s, stream, &b);
        put_block(y, s, stream, &b);
    }
    free(memory);
    model->release(p);
}

static void assert_rows(const struct question *q, const struct played *r, uint64_t index,
                        const struct replay *y) {
    const int64_t *tally = r->o.tally + index * BALLS_ROWS;
    uint64_t low = UINT64_MAX, high = 0, empty = 0;
    double spread = 0;
    for (uint64_t v = 0; v < y->n; v++) {
        const double apart = (double)y->load[v] - (double)q->balls / (double)y->n;
        low = y->load[v] < low ? y->load[v] : low;
        high = y->load[v] > high ? y->load[v] : high;
        empty += y->load[v] == 0;
        spread += apart * apart;
    }
    const double n = (double)y->n, m = (double)q->balls;
    const double expected[BALLS_ROWS] = {
        [ROW_MAX_LOAD] = (double)high,    [ROW_MIN_LOAD] = (double)low,
        [ROW_EMPTY] = (double)empty / n,  [ROW_MOVED] = (double)y->moved / m,
        [ROW_GAP] = (double)high - m / n, [ROW_VARIANCE] = spread / n,
        [ROW_COST] = (double)y->cost / m,
    };
    for (unsigned row = 0; row < BALLS_ROWS; row++) {
        if (!y->knows_moves && (row == ROW_MOVED || row == ROW_COST))
            continue;
        const double value = affine_value(r->point.facts.row[row], (double)tally[row]);
        if (fabs(value - expected[row]) > 1e-9 * (1 + fabs(expected[row])))
            fail_msg("%s: %.17g instead of %.17g", balls_at(LEVEL_BASELINE)->rows[row].name, value,
                     expected[row]);
    }
}

/* The whole outcome against replays. */
static void check_replay(const struct question *q, struct manner how, uint64_t first,
                         uint64_t count) {
    struct played r;
    play(&r, q, how, first, count);
    uint64_t *const *seen = r.o.histogram;
    for (uint64_t i = 0; i < count; i++) {
        struct replay y;
        uint64_t high = 0;
        replay(&y, q, (uint32_t)(first + i));
        assert_rows(q, &r, i, &y);
        /* Whatever a replication adds to the histograms is taken off again. */
        uint64_t *batch = seen[COUNT_LOAD] + (first + i) % BATCHES * r.o.stride[COUNT_LOAD];
        for (uint64_t v = 0; v < y.n; v++) {
            batch[bin_of(y.load[v])]--;
            seen[SUM_SERVER][v] -= y.load[v];
            high = y.load[v] > high ? y.load[v] : high;
        }
        seen[COUNT_MAX_LOAD][bin_of(high)]--;
        for (uint64_t h = 0; y.knows_moves && h < r.o.stride[COUNT_HOP] && h < BINS_EXACT; h++)
            seen[COUNT_HOP][h] -= y.hop_count[h];
        if (!y.knows_moves) {
            const uint64_t moved = (uint64_t)r.o.tally[i * BALLS_ROWS + ROW_MOVED];
            assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_COST], moved);
            seen[COUNT_HOP][0] -= q->balls - moved;
            if (moved)
                seen[COUNT_HOP][1] -= moved;
        }
        free(y.load);
    }
    for (unsigned h = 0; h < BALLS_HISTOGRAMS; h++)
        for (uint64_t i = 0; i < batches(h) * r.o.stride[h]; i++)
            assert_int_equal(seen[h][i], 0);
    forget(&r);
}

/* Every rule of placement, every way to count hops, sizes around blocks and chunks. */
static const struct question servers[] = {
    {"complete n=1000", "one-choice", 5000, false, false},
    {"ring n=1000", "one-choice", 2048, false, false},
    {"complete n=1000", "choices d=1", 3000, false, false},
    {"complete n=1000", "choices d=2", 1, false, false},
    {"complete n=1000", "choices d=2", 63, false, false},
    {"complete n=1000", "choices d=2", 2049, false, false},
    {"complete n=1000", "choices d=2", 10000, true, false},
    {"complete n=64", "choices d=3", 640, false, false},
    {"complete n=65", "choices d=3 distinct=true", 6500, true, false},
    {"complete n=100", "choices d=64 distinct=true", 2100, false, false},
    {"complete n=100", "choices d=64", 2100, true, false},
    {"ring n=500", "choices d=2", 4097, false, false},
    {"torus sides=20x25", "choices d=2", 4096, true, false},
    {"grid sides=9x10x11", "choices d=4 distinct=true", 3000, false, false},
    {"tree n=121 children=3", "choices d=2", 1000, false, false},
    {"complete n=777", "pot", 7770, false, false},
    {"complete n=777", "pot", 7770, true, false},
    {"complete n=2", "pot", 1001, false, false},
    {"ring n=1001", "pot", 3000, false, false},
    {"line n=1001", "pot", 3000, true, false},
    {"torus sides=31x33", "pot", 2047, false, false},
    {"star n=200", "pot", 2000, false, false},
    {"hypercube dim=10", "pot", 6000, false, false},
    {"ring n=1000", "unif-pot k=1", 10000, false, false},
    {"ring n=1000", "unif-pot k=9", 2111, true, false},
    {"ring n=1000", "unif-pot k=500", 2111, false, false},
    {"ring n=1000", "unif-pot k=9 self=included", 4000, false, false},
    {"torus sides=40x30", "unif-pot k=3", 12000, false, false},
    {"torus sides=5x6x7", "unif-pot k=2 self=included", 999, true, false},
    {"grid sides=40x30", "unif-pot k=3", 6000, false, false},
    {"line n=300", "unif-pot k=20", 3000, false, false},
    {"hypercube dim=9", "unif-pot k=2", 5120, false, false},
    {"tree n=200", "unif-pot k=3", 2000, false, false},
    {"star n=50", "unif-pot k=1", 5000, false, false},
    {"ring n=1000", "invsq-pot k=100", 10000, false, false},
    {"torus sides=33x34", "invsq-pot k=10", 5000, false, false},
    {"grid sides=12x13", "invsq-pot k=1000", 4000, true, false},
    {"hypercube dim=8", "invsq-pot k=8", 4000, false, false},
    {"tree n=200 children=3", "invsq-pot k=4", 4000, false, false},
    {"complete n=200", "invsq-pot k=4", 4000, false, false},
    {"complete n=200", "edge", 4000, false, false},
    {"torus sides=15x16", "edge", 4000, false, false},
    {"grid sides=15x16", "edge", 4000, false, false},
    {"star n=100", "edge", 4000, true, false},
    {"tree n=100 children=3", "edge", 4000, false, false},
    {"line n=2", "edge", 4000, false, false},
    {"complete n=1000", "left d=2", 10000, false, false},
    {"complete n=1001", "left d=3", 10000, false, false},
    {"ring n=1001", "left d=5", 3000, false, false},
    {"complete n=1000", "one-plus-beta beta=0.5", 10000, false, false},
    {"ring n=1000", "one-plus-beta beta=0.3", 3000, true, false},
    {"complete n=1", "one-choice", 3000, false, false},
    {"complete n=1", "choices d=2", 3000, false, false},
    {"ring n=1", "unif-pot k=3", 3000, true, false},
    {"star n=1", "pot", 3000, false, false},
    {"ring n=9001", "pot", 4000, false, false}, /* hops beyond the exact bins */
    {"complete n=5000", "choices d=2", 1000, false, false},
    {"ring n=7", "unif-pot k=2", 30000, false, false}, /* wide from the start */
};

static void test_replay(void **state) {
    (void)state;
    for (unsigned i = 0; i < LENGTH(servers); i++)
        if (strcmp(servers[i].topology, "ring n=9001") != 0) {
            check_replay(&servers[i], (struct manner){.level = level_best()}, 0, 3);
            check_replay(&servers[i], (struct manner){.level = LEVEL_BASELINE}, 0xfffffffe, 2);
        }
}

/* Hops beyond 4095 go to the bin that holds them. */
static void test_far_hops(void **state) {
    static const struct question q = {"ring n=2000000", "pot", 5000, false, false};
    struct balls_by_hand point;
    struct played r;
    uint64_t *bins = NULL, total = 0;
    (void)state;
    play(&r, &q, (struct manner){.level = level_best()}, 0, 1);
    bins = allocate(r.o.stride[COUNT_HOP], sizeof *bins);
    /* With so few balls nearly all loads are tied: replay the coins alone, with loads. */
    const struct model *model = balls_at(LEVEL_BASELINE);
    struct reason why;
    struct balls *p = model->prepare(balls_by_hand(&point, LEVEL_BASELINE, &q), 1,
                                     &(struct budget){UINT64_MAX, 1}, &why);
    const struct stream stream = {rng_key(5, point.topology.text), 0};
    unsigned char *load = allocate(p->n, 1);
    for (uint64_t i = 0; i < q.balls; i++) {
        const uint32_t u = rng_below(stream, PURPOSE_ORIGIN, 0, i, p->sampler.n);
        uint32_t v = rng_below(stream, PURPOSE_CANDIDATE, 0, i, p->sampler.n - 1);
        v += v >= u;
        const bool coin = rng_word(stream, PURPOSE_TIE, 0, i / 32) >> i % 32 & 1;
        const uint32_t to = load[v] < load[u] || (load[v] == load[u] && coin) ? v : u;
        const uint64_t hops = space_distance(&p->sampler.space, u, to);
        load[to]++;
        bins[bin_of(hops)]++;
        total += hops;
    }
    assert_int_equal(total, r.o.tally[ROW_COST]);
    assert_memory_equal(bins, r.o.histogram[COUNT_HOP], r.o.stride[COUNT_HOP] * sizeof *bins);
    free(bins);
    free(load);
    model->release(p);
    forget(&r);
}

static const struct question occupied[] = {
    {"complete n=1000", "one-choice", 10000, false, true},
    {"complete n=1000", "choices d=2", 10000, false, true},
    {"complete n=100", "choices d=3 distinct=true", 1003, false, true},
    {"complete n=64", "choices d=64", 333, false, true},
    {"complete n=9", "choices d=9 distinct=true", 333, false, true},
    {"complete n=100", "pot", 1000, true, true},
    {"complete n=100", "edge", 1000, false, true},
    {"complete n=100", "unif-pot k=2 self=included", 1000, false, true},
    {"complete n=100", "one-plus-beta beta=0.3", 1000, false, true},
    {"complete n=1", "choices d=2", 1000, false, true},
    {"complete n=2", "one-choice", 3000, false, true},
    {"complete n=1099511627776", "choices d=2", 1000, false, true},
    {"complete n=1099511627776", "choices d=2 distinct=true", 1000, false, true},
    {"complete n=1048576", "one-plus-beta beta=0.9", 5000, false, true},
};

/* All levels, whole and in pieces. */
static void check_cuts(const struct question *q, uint64_t first, uint64_t count) {
    struct played whole;
    play(&whole, q, (struct manner){.level = LEVEL_BASELINE}, first, count);
    for (int level = LEVEL_BASELINE; level <= (int)level_best(); level++)
        for (uint64_t cut = 0; cut < count; cut = cut * 4 + 3) {
            struct played a, b;
            play(&a, q, (struct manner){.level = (enum level)level}, first, count - cut);
            if (cut > 0) {
                play(&b, q, (struct manner){.level = (enum level)level}, first + count - cut, cut);
                append(&a.o, &b.o);
                forget(&b);
            }
            current = q;
            assert_same(&whole.o, &a.o);
            forget(&a);
        }
    forget(&whole);
}

static void test_cuts(void **state) {
    (void)state;
    for (unsigned i = 0; i < LENGTH(servers); i++)
        check_cuts(&servers[i], 47, 7);
    for (unsigned i = 0; i < LENGTH(occupied); i++)
        check_cuts(&occupied[i], 9, 37);
}

/* Too little memory is answered by a need, and nothing depends on how much there is. */
static void check_workspace(const struct question *q, unsigned width) {
    struct played plain, starved, roomy;
    play(&plain, q, (struct manner){.level = level_best()}, 0, 3);
    play(&starved, q, (struct manner){.level = level_best(), .starved = true, .width = width}, 0,
         3);
    play(&roomy, q, (struct manner){level_best(), ((uint64_t)3 << 20) + 24, false, width}, 0, 3);
    current = q;
    assert_true(starved.attempts >= 2);
    assert_same(&plain.o, &starved.o);
    assert_same(&plain.o, &roomy.o);
    forget(&plain);
    forget(&starved);
    forget(&roomy);
}

static void test_workspace(void **state) {
    (void)state;
    for (unsigned i = 0; i < LENGTH(servers); i++)
        check_workspace(&servers[i], 0);
    for (unsigned i = 0; i < LENGTH(occupied); i++)
        check_workspace(&occupied[i], 0);
    static const struct question spread = {"complete n=2", "one-choice", 40000, false, true};
    check_workspace(&spread, 0); /* hundreds of rows between the two */
}

/* Loads that begin in bytes and outgrow them, once or twice, within a block and between blocks. */
static void test_widening(void **state) {
    static const struct question growing[] = {
        {"complete n=1", "one-choice", 100000, false, false},
        {"complete n=1", "choices d=2", 300, false, false},
        {"complete n=2", "one-choice", 100000, false, false},
        {"complete n=2", "choices d=2", 100000, false, false},
        {"complete n=2", "pot", 100000, true, false},
        {"complete n=3", "choices d=3", 200000, false, false},
        {"ring n=3", "unif-pot k=1", 200000, false, false},
        {"ring n=7", "invsq-pot k=3", 70000, false, false},
        {"complete n=100", "one-choice", 20000, false, false},
        {"star n=40", "edge", 40000, false, false},
        {"complete n=1000", "choices d=2", 130000, false, false},
        {"complete n=10", "left d=4", 500000, false, false},
        {"complete n=10", "one-plus-beta beta=0.4", 400000, true, false},
    };
    (void)state;
    for (unsigned i = 0; i < LENGTH(growing); i++) {
        for (unsigned width = 1; width <= 8; width *= 2)
            check_workspace(&growing[i], width);
        for (int level = LEVEL_BASELINE; level <= (int)level_best(); level++)
            check_replay(&growing[i], (struct manner){.level = (enum level)level, .width = 1}, 0,
                         2);
    }
}

/* The histograms tell the same story as the tallies; for both methods. */
static void check_consistent(const struct question *q, uint64_t count) {
    struct played r;
    play(&r, q, (struct manner){.level = level_best()}, 3, count);
    const uint64_t n = r.point.facts.servers, m = q->balls, stride = r.o.stride[COUNT_LOAD];
    uint64_t balls = 0, servers_seen = 0, empty = 0, maxima = 0, by_tally = 0, hops = 0, cost = 0;
    int64_t moved = 0, costs = 0;
    for (uint64_t b = 0; b < BATCHES; b++) {
        uint64_t in_batch = 0;
        for (uint64_t k = 0; k < stride; k++) {
            const uint64_t c = r.o.histogram[COUNT_LOAD][b * stride + k];
            assert_true(c == 0 || k < r.o.used[COUNT_LOAD]);
            in_batch += c;
            balls += c * bin_lower(k);
            empty += k == 0 ? c : 0;
        }
        servers_seen += in_batch;
        const uint64_t start = (b + BATCHES - 3) % BATCHES;
        assert_int_equal(in_batch, count > start ? n * ((count - start - 1) / BATCHES + 1) : 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        const int64_t *t = r.o.tally + i * BALLS_ROWS;
        by_tally += (uint64_t)t[ROW_EMPTY];
        moved += t[ROW_MOVED];
        costs += t[ROW_COST];
        assert_true(t[ROW_MIN_LOAD] <= t[ROW_MAX_LOAD]);
        assert_true(t[ROW_GAP] == (int64_t)n * t[ROW_MAX_LOAD] - (int64_t)m);
        assert_true((uint64_t)t[ROW_MAX_LOAD] >= (m + n - 1) / n);
        assert_true((uint64_t)t[ROW_MIN_LOAD] <= m / n);
        maxima += r.o.histogram[COUNT_MAX_LOAD][bin_of((uint64_t)t[ROW_MAX_LOAD])] > 0;
    }
    for (uint64_t k = 0, seen = 0; k < r.o.stride[COUNT_MAX_LOAD]; k++) {
        seen += r.o.histogram[COUNT_MAX_LOAD][k];
        assert_true(k + 1 < r.o.stride[COUNT_MAX_LOAD] || seen == count);
    }
    for (uint64_t k = 0; k < r.o.stride[COUNT_HOP]; k++) {
        hops += r.o.histogram[COUNT_HOP][k];
        cost += r.o.histogram[COUNT_HOP][k] * k;
    }
    assert_int_equal(servers_seen, n * count);
    assert_int_equal(empty, by_tally);
    assert_int_equal(maxima, count);
    if (m < BINS_EXACT)
        assert_int_equal(balls, m * count);
    if (!q->occupancy) {
        assert_int_equal(hops, m * count);
        assert_int_equal(m * count - (uint64_t)moved, r.o.histogram[COUNT_HOP][0]);
        if (r.o.stride[COUNT_HOP] <= BINS_EXACT)
            assert_int_equal(cost, costs);
    }
    forget(&r);
}

static void test_consistent(void **state) {
    (void)state;
    for (unsigned i = 0; i < LENGTH(servers); i++)
        check_consistent(&servers[i], 11);
    for (unsigned i = 0; i < LENGTH(occupied); i++)
        check_consistent(&occupied[i], 67);
}

/* On `complete` a policy blind to origins leaves each ball where it arrived with probability 1/n.
 */
static void test_stays(void **state) {
    static const struct {
        struct question q;
        uint64_t n;
    } some[] = {
        {{"complete n=5", "choices d=2", 130, false, false}, 5},
        {{"complete n=2", "choices d=3 distinct=false", 64, false, false}, 2},
        {{"complete n=2", "left d=2", 65, false, false}, 2},
        {{"complete n=40", "one-plus-beta beta=0.5", 63, false, false}, 40},
        {{"complete n=1000", "choices d=2", 5000, false, false}, 1000},
        {{"complete n=3", "choices d=1", 1, false, false}, 3},
    };
    enum { REPLICATIONS = 20000 };
    (void)state;
    for (unsigned i = 0; i < LENGTH(some); i++) {
        const uint64_t m = some[i].q.balls;
        const double n = (double)some[i].n;
        struct played r;
        uint64_t *stays = allocate(m + 1, sizeof *stays);
        double *expected = allocate(m + 1, sizeof *expected);
        play(&r, &some[i].q, (struct manner){.level = level_best()}, 0, REPLICATIONS);
        for (uint64_t j = 0; j < REPLICATIONS; j++)
            stays[m - (uint64_t)r.o.tally[j * BALLS_ROWS + ROW_MOVED]]++;
        for (uint64_t s = 0; s <= m; s++)
            expected[s] = REPLICATIONS * exp(lgamma((double)m + 1) - lgamma((double)s + 1) -
                                             lgamma((double)(m - s) + 1) - (double)s * log(n) +
                                             (double)(m - s) * log1p(-1 / n));
        assert_likely(fit_tail(stays, expected, m + 1));
        free(stays);
        free(expected);
        forget(&r);
    }
}

/* What one tally comes to over many replications, as counts of its values. */
static void count_tally(const struct outcome *o, unsigned row, uint64_t *seen, uint64_t cells) {
    memset(seen, 0, cells * sizeof *seen);
    for (uint64_t i = 0; i < o->count; i++) {
        const uint64_t x = (uint64_t)o->tally[i * BALLS_ROWS + row];
        seen[x < cells ? x : cells - 1]++;
    }
}

/* The two methods: maximum, minimum, empty servers and variance. With R replications each a change
 * of a cell of 10 % by 2 % is 4 of its standard deviations. */
static void compare_methods(const char *policy, uint64_t n, uint64_t m) {
    enum { CELLS = 4096, REPLICATIONS = 10001 };
    static const unsigned rows[] = {ROW_MAX_LOAD, ROW_MIN_LOAD, ROW_EMPTY, ROW_VARIANCE};
    static uint64_t seen[2][CELLS];
    char topology[40];
    struct question q = {topology, policy, m, false, false};
    struct played a, b;
    snprintf(topology, sizeof topology, "complete n=%llu", (unsigned long long)n);
    play(&a, &q, (struct manner){.level = level_best()}, 0, REPLICATIONS);
    q.occupancy = true;
    play(&b, &q, (struct manner){.level = level_best()}, 100000, REPLICATIONS);
    for (unsigned row = 0; row < LENGTH(rows); row++) {
        count_tally(&a.o, rows[row], seen[0], CELLS);
        count_tally(&b.o, rows[row], seen[1], CELLS);
        assert_likely(pair_tail(seen[0], seen[1], CELLS));
    }
    forget(&a);
    forget(&b);
}

static void test_methods(void **state) {
    static const char *const policies[] = {
        "one-choice",
        "choices d=2",
        "choices d=2 distinct=true",
        "choices d=3",
        "choices d=3 distinct=true",
        "pot",
        "unif-pot k=1 self=included",
        "edge",
        "one-plus-beta beta=0.5",
        "one-plus-beta beta=0.1",
    };
    static const uint64_t sizes[] = {1, 2, 5, 64};
    (void)state;
    for (unsigned p = 0; p < LENGTH(policies); p++)
        for (unsigned s = 0; s < LENGTH(sizes); s++) {
            const uint64_t n = sizes[s];
            if ((n == 1 && (strstr(policies[p], "distinct") || p == 7)) ||
                (n == 2 && strstr(policies[p], "d=3 distinct")))
                continue;
            compare_methods(policies[p], n, n);
            compare_methods(policies[p], n, n < 64 ? 10 * n : 5 * n);
            compare_methods(policies[p], n, 3 * n + 1);
        }
}

/* Two servers, one choice: the maximum is the larger part of a fair binomial. */
static void test_occupancy_binomial(void **state) {
    enum { M = 21, REPLICATIONS = 20000 };
    static const struct question q = {"complete n=2", "one-choice", M, false, true};
    struct played r;
    uint64_t seen[M + 1];
    double expected[M + 1] = {0};
    (void)state;
    play(&r, &q, (struct manner){.level = level_best()}, 0, REPLICATIONS);
    count_tally(&r.o, ROW_MAX_LOAD, seen, M + 1);
    for (unsigned k = 0; k <= M; k++)
        expected[k > M - k ? k : M - k] += REPLICATIONS * exp(lgamma(M + 1.0) - lgamma(k + 1.0) -
                                                              lgamma(M - k + 1.0) - M * log(2));
    assert_likely(fit_tail(seen, expected, M + 1));
    forget(&r);
}

/* Where everybody is a candidate loads never differ by more than one. */
static void test_occupancy_flat(void **state) {
    static const struct question flat[] = {
        {"complete n=2", "pot", 1001, false, true},
        {"complete n=3", "choices d=3 distinct=true", 3001, false, true},
        {"complete n=16", "choices d=16 distinct=true", 250, false, true},
    };
    static const int64_t most[] = {501, 1001, 16}, least[] = {500, 1000, 15};
    (void)state;
    for (unsigned i = 0; i < LENGTH(flat); i++) {
        struct played r;
        play(&r, &flat[i], (struct manner){.level = level_best()}, 0, 35);
        for (uint64_t j = 0; j < 35; j++) {
            assert_int_equal(r.o.tally[j * BALLS_ROWS + ROW_MAX_LOAD], most[i]);
            assert_int_equal(r.o.tally[j * BALLS_ROWS + ROW_MIN_LOAD], least[i]);
        }
        forget(&r);
    }
}

/* 2^40 servers and a few balls: they practically never meet. One server: everything. */
static void test_occupancy_extremes(void **state) {
    static const struct question sparse = {"complete n=1099511627776", "one-choice", 300, false,
                                           true};
    static const struct question alone = {"complete n=1", "one-choice", 1000000, false, true};
    struct played r;
    (void)state;
    play(&r, &sparse, (struct manner){.level = level_best()}, 0, 20);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_MAX_LOAD], 1);
        assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_EMPTY], ((int64_t)1 << 40) - 300);
        assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_VARIANCE], 300);
    }
    forget(&r);
    play(&r, &alone, (struct manner){.level = level_best()}, 0, 3);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_MAX_LOAD], 1000000);
        assert_int_equal(r.o.tally[i * BALLS_ROWS + ROW_VARIANCE], 0);
    }
    forget(&r);
}

/* Many servers: fractions by load from both methods, whose errors are below those of independent
 * servers. Six standard deviations of those. */
static void test_occupancy_large(void **state) {
    static const char *const policies[] = {"one-choice", "choices d=2", "choices d=3 distinct=true",
                                           "one-plus-beta beta=0.5"};
    const double n = 1 << 20;
    (void)state;
    for (unsigned p = 0; p < LENGTH(policies); p++) {
        struct question q = {"complete n=1048576", policies[p], 1 << 20, false, false};
        struct played a, b;
        play(&a, &q, (struct manner){.level = level_best()}, 0, 2);
        q.occupancy = true;
        play(&b, &q, (struct manner){.level = level_best()}, 0, 16);
        for (uint64_t k = 0; k < 5; k++) {
            double x = 0, y = 0;
            for (uint64_t batch = 0; batch < BATCHES; batch++) {
                x += (double)a.o.histogram[COUNT_LOAD][batch * a.o.stride[COUNT_LOAD] + k];
                y += (double)b.o.histogram[COUNT_LOAD][batch * b.o.stride[COUNT_LOAD] + k];
            }
            x /= 2 * n;
            y /= 16 * n;
            assert_true(fabs(x - y) < 6 * sqrt((y * (1 - y) + 1 / n) / n * (1.0 / 2 + 1.0 / 16)));
        }
        forget(&a);
        forget(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_replay, name_culprit),
        cmocka_unit_test_teardown(test_far_hops, name_culprit),
        cmocka_unit_test_teardown(test_cuts, name_culprit),
        cmocka_unit_test_teardown(test_workspace, name_culprit),
        cmocka_unit_test_teardown(test_widening, name_culprit),
        cmocka_unit_test_teardown(test_consistent, name_culprit),
        cmocka_unit_test_teardown(test_stays, name_culprit),
        cmocka_unit_test_teardown(test_methods, name_culprit),
        cmocka_unit_test_teardown(test_occupancy_binomial, name_culprit),
        cmocka_unit_test_teardown(test_occupancy_flat, name_culprit),
        cmocka_unit_test_teardown(test_occupancy_extremes, name_culprit),
        cmocka_unit_test_teardown(test_occupancy_large, name_culprit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
