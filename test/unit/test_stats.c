/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Exact moments against wide arithmetic; Student's t against tables; total variation and cost
 * reduction on data made for the purpose; the bins. */
#include "stats.h"

#include "bins.h"
#include "wide.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

__extension__ typedef __int128 int128;

/* A fixed sequence of bits; quality does not matter here. */
static uint64_t bits(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
static double unit(uint64_t *state) {
    return (double)(bits(state) >> 11) * 0x1p-53;
}

static void assert_close(double x, double expected, double relative) {
    if (!(fabs(x - expected) <= relative * fabs(expected)))
        fail_msg("%.17g instead of %.17g", x, expected);
}

static struct moments moments_of(const int64_t *x, uint64_t n) {
    struct moments m = {0};
    for (uint64_t i = 0; i < n; i++)
        moments_add(&m, x[i]);
    return m;
}

/* The standard error by two passes in long double, which suffices where spread and mean are of one
 * size. */
static long double two_pass_se(const int64_t *x, uint64_t n) {
    long double mean = 0, spread = 0;
    for (uint64_t i = 0; i < n; i++)
        mean += (long double)x[i];
    mean /= (long double)n;
    for (uint64_t i = 0; i < n; i++)
        spread += ((long double)x[i] - mean) * ((long double)x[i] - mean);
    return sqrtl(spread / (long double)(n - 1) / (long double)n);
}

static void test_moments(void **state) {
    enum { N = 1001 };
    static int64_t x[N];
    uint64_t seed = 1;
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++)
        for (uint64_t n = 1; n <= N; n += 250) {
            int128 sum = 0;
            for (uint64_t i = 0; i < n; i++) {
                x[i] = (int64_t)bits(&seed) >> shift;
                sum += x[i];
            }
            const struct moments m = moments_of(x, n);
            assert_int_equal(m.count, n);
            assert_int_equal(m.sum[0], (uint64_t)sum);
            assert_int_equal(m.sum[1], (uint64_t)((uint128)sum >> 64));
            const long double mean = (long double)sum / (long double)n;
            assert_close(moments_mean(&m), (double)mean, 1e-15);
            if (n > 1)
                assert_close(moments_se(&m), (double)two_pass_se(x, n), 1e-14);
            else
                assert_true(isnan(moments_se(&m)));
        }
}

static void test_moments_empty(void **state) {
    const struct moments none = {0};
    (void)state;
    assert_true(isnan(moments_mean(&none)));
    assert_true(isnan(moments_se(&none)));
}

/* A large mean and a spread of one, where the difference of two sums in doubles would be noise. */
static void test_moments_cancel(void **state) {
    static const int64_t offsets[] = {0, 1000000007, INT64_MAX - 9, INT64_MIN, -4};
    (void)state;
    for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        int64_t x[10];
        for (int64_t j = 0; j < 10; j++)
            x[j] = offsets[i] + j; /* variance of 0..9: 55 / 6 */
        const struct moments m = moments_of(x, 10);
        assert_close(moments_se(&m), sqrt(55.0 / 60), 1e-15);
        assert_close(moments_mean(&m), (double)offsets[i] + 4.5, 1e-15);
    }
    int64_t same[7];
    for (unsigned i = 0; i < 7; i++)
        same[i] = INT64_MIN + 1;
    const struct moments m = moments_of(same, 7);
    assert_true(moments_se(&m) == 0);
}

static void test_moments_extremes(void **state) {
    int64_t x[4] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    (void)state;
    struct moments m = moments_of(x, 4);
    assert_close(moments_mean(&m), -0.5, 1e-15);
    /* Spread 4 (2^63 - 1/2)^2, hence se = (2^63 - 1/2) / sqrt(3). */
    assert_close(moments_se(&m), 0x1p63 / sqrt(3), 1e-15);
    /* Doubling the counts 50 times: 2^52 of them, sums near 2^115 and 2^178. */
    struct moments low = {0};
    moments_add(&low, INT64_MIN);
    for (unsigned i = 0; i < 52; i++) {
        const struct moments copy = low;
        moments_merge(&low, &copy);
    }
    assert_int_equal(low.count, (uint64_t)1 << 52);
    assert_true(moments_mean(&low) == -0x1p63);
    assert_true(moments_se(&low) == 0);
    assert_int_equal(low.squares[2], (uint64_t)1 << 50);
    assert_int_equal(low.squares[1] | low.squares[0] | low.sum[0], 0);
}

/* Any grouping and order of merging gives the same words. */
static void test_merge(void **state) {
    enum { N = 200, TRIALS = 50 };
    int64_t x[N];
    uint64_t seed = 2;
    (void)state;
    for (unsigned i = 0; i < N; i++)
        x[i] = (int64_t)bits(&seed) >> (i % 60);
    const struct moments whole = moments_of(x, N);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct moments part[8] = {{0}};
        for (unsigned i = 0; i < N; i++)
            moments_add(&part[bits(&seed) % 8], x[i]);
        for (unsigned left = 8; left > 1; left--) {
            const unsigned a = (unsigned)(bits(&seed) % (left - 1));
            moments_merge(&part[a], &part[left - 1]);
        }
        assert_memory_equal(&part[0], &whole, sizeof whole);
    }
}

static void test_student(void **state) {
    static const struct {
        uint64_t df;
        double t;
    } table[] = {
        {1, 12.7062047361747},   {2, 4.30265272974946},   {3, 3.18244630528371},
        {4, 2.77644510519779},   {5, 2.57058183563631},   {9, 2.2621571627409},
        {10, 2.22813885198627},  {24, 2.06389856162803},  {29, 2.0452296421327},
        {30, 2.04227245630124},  {49, 2.00957523712924},  {99, 1.98421695158642},
        {100, 1.98397151852355}, {199, 1.97195654421364},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        assert_close(student_95(table[i].df), table[i].t, 1e-9);
    assert_true(isnan(student_95(0)));
    /* Falls, ever more slowly, also from sums (up to 400) to the expansion. */
    for (uint64_t df = 2; df < 2000; df++) {
        const double step = student_95(df - 1) - student_95(df);
        assert_true(step > 0);
        if (df > 3)
            assert_true(step < student_95(df - 2) - student_95(df - 1));
    }
    assert_close(student_95(400) - student_95(401), 1.0 / 401 / 400 * 2.372, 0.01);
    assert_close(student_95((uint64_t)1 << 60), 1.9599639845400545, 1e-12);
}

static void test_student_beyond(void **state) {
    (void)state;
    static const struct {
        uint64_t df;
        double z, t; /* of the same probability beyond them, from scipy */
    } table[] = {
        {19, 1.959963985, 2.093024054},   {19, 3.890591886, 4.897461589},
        {19, 4.891638476, 7.069118187},   {19, 5.730728868, 9.606991524},
        {29, 1.959963985, 2.045229642},   {29, 4.891638476, 6.170056101},
        {29, 5.730728868, 7.912620097},   {99, 3.890591886, 4.055041309},
        {99, 5.730728868, 6.25856682},    {1000, 1.959963985, 1.962339081},
        {1000, 5.730728868, 5.779568004},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        assert_close(student_beyond(table[i].z, table[i].df), table[i].t, 0.02);
        assert_close(student_beyond(-table[i].z, table[i].df), -table[i].t, 0.02);
    }
}

/* Batches of two points. */
enum { BINS = 12, STRIDE = 15 };
struct pair {
    uint64_t count[2][BATCHES * STRIDE], servers;
    struct batches batches[2];
};

static void empty_pair(struct pair *p, uint64_t servers) {
    memset(p, 0, sizeof *p);
    for (unsigned i = 0; i < 2; i++)
        p->batches[i] = stats_batches(p->count[i], STRIDE, BINS);
    p->servers = servers;
}

/* One more replication of a point, whose servers fall into bins by the law `p`. */
static void replicate(struct pair *pair, unsigned side, uint64_t r, const double *p,
                      uint64_t *state) {
    const unsigned batch = (unsigned)(r % BATCHES);
    for (uint64_t v = 0; v < pair->servers; v++) {
        double x = unit(state);
        unsigned k = 0;
        while (k + 1 < BINS && x >= p[k])
            x -= p[k++];
        pair->count[side][batch * STRIDE + k]++;
    }
    pair->batches[side].observed[batch] += pair->servers;
}

static double direct_tv(const double *p, const double *q) {
    double sum = 0;
    for (unsigned k = 0; k < BINS; k++)
        sum += fabs(p[k] - q[k]) / 2;
    return sum;
}

static const double LAW[BINS] = {0.3, 0.25, 0.2, 0.1, 0.08, 0.04, 0.02, 0.007, 0.002, 0.001, 0, 0};

/* Equal laws, 200 independent data sets: the plug-in shows what `floor` says, the cross-fitted
 * value is about zero, and its standard error is about right. */
static void test_variation_equal(void **state) {
    enum { TRIALS = 200, REPLICATIONS = 150, SERVERS = 40 };
    static struct pair p;
    uint64_t seed = 3;
    double tv = 0, level = 0, cross = 0, cross2 = 0, claimed = 0;
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        empty_pair(&p, SERVERS);
        for (uint64_t r = 0; r < REPLICATIONS; r++)
            for (unsigned side = 0; side < 2; side++)
                replicate(&p, side, r, LAW, &seed);
        const struct variation v = stats_variation(&p.batches[0], &p.batches[1]);
        assert_true(v.tv >= 0 && v.tv <= 1 && v.floor > 0 && v.cross_se > 0);
        tv += v.tv / TRIALS;
        level += v.floor / TRIALS;
        cross += v.cross / TRIALS;
        cross2 += v.cross * v.cross / TRIALS;
        claimed += v.cross_se * v.cross_se / TRIALS;
    }
    assert_true(fabs(tv / level - 1) < 0.1);
    /* Mean of TRIALS values with the claimed spread: five standard deviations. */
    assert_true(fabs(cross) < 5 * sqrt(cross2 / TRIALS));
    /* The halves lend each other their signs, so where the laws are equal their means are
     * correlated: the variance is 1 + 2/pi times the stated one. */
    assert_true(cross2 / claimed > 0.75 && cross2 / claimed < 2.2);
    assert_true(fabs(cross) < level / 5);
}

/* Different laws: the plug-in lies above, the cross-fitted value below, both near the truth. */
static void test_variation_apart(void **state) {
    enum { REPLICATIONS = 3000, SERVERS = 40 };
    static const double other[BINS] = {0.25, 0.25, 0.22,  0.12,  0.08, 0.04,
                                       0.02, 0.01, 0.006, 0.004, 0,    0};
    static struct pair p;
    uint64_t seed = 4;
    (void)state;
    empty_pair(&p, SERVERS);
    for (uint64_t r = 0; r < REPLICATIONS; r++) {
        replicate(&p, 0, r, LAW, &seed);
        replicate(&p, 1, r, other, &seed);
    }
    const double truth = direct_tv(LAW, other);
    const struct variation v = stats_variation(&p.batches[0], &p.batches[1]);
    assert_true(fabs(v.tv - truth) < 0.005 && fabs(v.cross - truth) < 5 * v.cross_se + 0.001);
    assert_true(v.cross_se > 0 && v.cross_se < 0.004);
    assert_true(v.floor < 0.005);
    /* Symmetric in the two points. */
    const struct variation back = stats_variation(&p.batches[1], &p.batches[0]);
    assert_close(back.tv, v.tv, 1e-12);
    assert_close(back.cross, v.cross, 1e-12);
    assert_close(back.floor, v.floor, 1e-12);
}

static void test_variation_extremes(void **state) {
    static const double low[BINS] = {0.5, 0.5}, high[BINS] = {0, 0, 0, 0.5, 0.25, 0.25};
    static struct pair p;
    uint64_t seed = 5;
    (void)state;
    empty_pair(&p, 10);
    for (uint64_t r = 0; r < 200; r++) {
        replicate(&p, 0, r, low, &seed);
        replicate(&p, 1, r, high, &seed);
    }
    p.batches[0].bins = 2; /* the other point goes further */
    struct variation v = stats_variation(&p.batches[0], &p.batches[1]);
    assert_close(v.tv, 1, 1e-12);
    assert_close(v.cross, 1, 1e-12);
    assert_true(v.cross_se < 1e-12);
    /* A point against itself. */
    v = stats_variation(&p.batches[1], &p.batches[1]);
    assert_true(v.tv == 0 && v.floor == 0 && v.cross == 0 && v.cross_se == 0);
    /* Nothing yet, and too few batches for a spread. */
    empty_pair(&p, 10);
    v = stats_variation(&p.batches[0], &p.batches[1]);
    assert_true(isnan(v.tv) && isnan(v.floor) && isnan(v.cross) && isnan(v.cross_se));
    for (uint64_t r = 0; r < 3; r++) {
        replicate(&p, 0, r, low, &seed);
        replicate(&p, 1, r, low, &seed);
    }
    v = stats_variation(&p.batches[0], &p.batches[1]);
    assert_true(v.tv >= 0 && v.floor >= 0 && isnan(v.cross) && isnan(v.cross_se));
}

/* Common random numbers: where the points rise and fall together, there is little noise. */
static void test_variation_paired(void **state) {
    static struct pair apart, paired;
    uint64_t seed = 6;
    (void)state;
    empty_pair(&apart, 100);
    empty_pair(&paired, 100);
    for (uint64_t r = 0; r < 500; r++) {
        replicate(&apart, 0, r, LAW, &seed);
        replicate(&apart, 1, r, LAW, &seed);
        uint64_t same = seed;
        replicate(&paired, 0, r, LAW, &same);
        replicate(&paired, 1, r, LAW, &seed);
    }
    assert_true(stats_variation(&paired.batches[0], &paired.batches[1]).floor == 0);
    assert_true(stats_variation(&apart.batches[0], &apart.batches[1]).floor > 0.001);
}

static void test_fraction(void **state) {
    enum { TRIALS = 400, REPLICATIONS = 120, SERVERS = 30 };
    static struct pair p;
    uint64_t seed = 7;
    double squares = 0, claimed = 0;
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        empty_pair(&p, SERVERS);
        for (uint64_t r = 0; r < REPLICATIONS; r++)
            replicate(&p, 0, r, LAW, &seed);
        uint64_t pooled = 0;
        for (unsigned b = 0; b < BATCHES; b++)
            pooled += p.count[0][b * STRIDE + 1];
        const double f = stats_fraction(&p.batches[0], 1), all = SERVERS * REPLICATIONS;
        assert_close(f, (double)pooled / all, 1e-15);
        squares += (f - LAW[1]) * (f - LAW[1]) / TRIALS;
        const double se = stats_fraction_se(&p.batches[0], 1);
        claimed += se * se / TRIALS;
        /* The ratio estimate written out. */
        double sum = 0;
        for (unsigned b = 0; b < BATCHES; b++) {
            const double size = SERVERS * (REPLICATIONS / BATCHES + (b < REPLICATIONS % BATCHES));
            sum += pow((double)p.count[0][b * STRIDE + 1] - f * size, 2);
        }
        assert_close(se, sqrt(sum * BATCHES / (BATCHES - 1)) / all, 1e-12);
    }
    /* Independent servers: p (1 - p) / observations. The mean of 400 such squares is known to 7 %.
     */
    const double truth = LAW[1] * (1 - LAW[1]) / (SERVERS * REPLICATIONS);
    assert_true(fabs(squares / truth - 1) < 0.35);
    assert_true(fabs(claimed / truth - 1) < 0.1);
    assert_true(stats_fraction(&p.batches[0], BINS + 1) == 0);
    assert_true(stats_fraction_se(&p.batches[0], BINS + 1) == 0);
    empty_pair(&p, SERVERS);
    assert_true(isnan(stats_fraction(&p.batches[0], 0)));
    replicate(&p, 0, 0, LAW, &seed);
    assert_true(isnan(stats_fraction_se(&p.batches[0], 0)));
}

/* Replications that observe different numbers of servers: fractions are of what was counted. */
static void test_fraction_of_varying_servers(void **state) {
    static struct pair p;
    (void)state;
    empty_pair(&p, 0);
    for (uint64_t b = 0; b < BATCHES; b++)
        for (uint64_t k = 0; k < 2; k++)
            p.count[0][b * STRIDE + k] = p.count[1][b * STRIDE + k] = b + 1 + k * b;
    p.batches[0] = stats_batches(p.count[0], STRIDE, BINS);
    p.batches[1] = stats_batches(p.count[1], STRIDE, BINS);
    uint64_t first = 0, all = 0;
    for (uint64_t b = 0; b < BATCHES; b++) {
        assert_int_equal(p.batches[0].observed[b], 3 * b + 2);
        first += b + 1;
        all += 3 * b + 2;
    }
    assert_close(stats_fraction(&p.batches[0], 0), (double)first / (double)all, 1e-15);
    assert_close(stats_fraction(&p.batches[0], 0) + stats_fraction(&p.batches[0], 1), 1, 1e-15);
    const struct variation v = stats_variation(&p.batches[0], &p.batches[1]);
    assert_true(v.tv == 0 && v.floor == 0 && v.cross == 0);
}

static void test_reduction(void **state) {
    const double x[4] = {2, 4, 6, 8}, y[4] = {1, 3, 2, 4};
    enum { N = 500 };
    static double a[N], b[N];
    uint64_t seed = 8;
    (void)state;
    /* 1 - 10/20; residuals y - x/2 = 0, 1, -1, 0. */
    struct reduction r = stats_reduction(y, x, 4);
    assert_close(r.value, 0.5, 1e-15);
    assert_close(r.se, sqrt(2.0 / (4 * 3)) / 5, 1e-15);
    r = stats_reduction(x, x, 4);
    assert_true(r.value == 0 && r.se == 0);
    r = stats_reduction(y, x, 1);
    assert_true(r.value == 0.5 && isnan(r.se));
    const double zero[4] = {0, 0, 0, 0};
    r = stats_reduction(y, zero, 4);
    assert_true(isnan(r.value) && isnan(r.se));
    r = stats_reduction(y, x, 0);
    assert_true(isnan(r.value) && isnan(r.se));
    /* Twenty data sets: the truth lies within 3.3 standard errors in all of them. */
    for (unsigned trial = 0; trial < 20; trial++) {
        for (unsigned i = 0; i < N; i++) {
            const double common = 1 + unit(&seed);
            a[i] = 0.25 * common + 0.1 * unit(&seed) - 0.05;
            b[i] = common;
        }
        r = stats_reduction(a, b, N);
        assert_true(fabs(r.value - 0.75) < 3.3 * r.se);
        assert_true(r.se < 0.002);
    }
}

static void test_bins(void **state) {
    uint64_t before = 0;
    (void)state;
    const uint64_t last = bin_of((uint64_t)1 << 63);
    for (uint64_t bin = 0; bin < last; bin++) {
        const uint64_t low = bin_lower(bin), high = bin_upper(bin);
        assert_true(low <= high);
        assert_true(bin == 0 || low == before + 1);
        assert_int_equal(bin_of(low), bin);
        assert_int_equal(bin_of(high), bin);
        assert_int_equal(bin_of(low + (high - low) / 2), bin);
        assert_true(bin >= BINS_EXACT || low == high);
        assert_true((high - low + 1) * 16 <= low || bin < BINS_EXACT);
        before = high;
    }
    assert_int_equal(before, ((uint64_t)1 << 63) - 1);
    assert_int_equal(bin_of(UINT64_MAX), last + 15);
    assert_int_equal(bin_lower(bin_of(UINT64_MAX)), (uint64_t)31 << 59);
}

static void test_coarse_bins(void **state) {
    (void)state;
    for (uint64_t x = 0; x < 5000; x++) {
        const uint64_t bin = coarse_bin_of(x);
        assert_true(coarse_bin_lower(bin) <= x && x <= coarse_bin_upper(bin));
        assert_true(x >= 4 || coarse_bin_lower(bin) == coarse_bin_upper(bin));
    }
    assert_int_equal(coarse_bin_lower(4), 4);
    assert_int_equal(coarse_bin_lower(5), 6);
    assert_int_equal(coarse_bin_lower(6), 8);
}

static void test_length_bins(void **state) {
    uint64_t seed = 9;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        const double x = ldexp(1 + unit(&seed), -(int)(unit(&seed) * 36));
        const uint64_t bin = length_bin_of(x);
        assert_true(bin < LENGTH_BINS && length_bin_lower(bin) <= x);
        assert_true(x < length_bin_lower(bin + 1));
        assert_true(bin == 0 ||
                    length_bin_lower(bin + 1) <= length_bin_lower(bin) * (1 + 1.0 / 16));
        assert_int_equal(length_bin_of(length_bin_lower(bin)), bin);
    }
    assert_int_equal(length_bin_of(0), 0);
    assert_true(length_bin_lower(LENGTH_BINS) == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_moments_empty),
        cmocka_unit_test(test_moments_cancel),
        cmocka_unit_test(test_moments_extremes),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_student_beyond),
        cmocka_unit_test(test_variation_equal),
        cmocka_unit_test(test_variation_apart),
        cmocka_unit_test(test_variation_extremes),
        cmocka_unit_test(test_variation_paired),
        cmocka_unit_test(test_fraction),
        cmocka_unit_test(test_fraction_of_varying_servers),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_coarse_bins),
        cmocka_unit_test(test_length_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
