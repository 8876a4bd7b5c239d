/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: whether the parts of a point go together, what is known of it before it is played, and what is the
 * same in all its replications. */
#include "dht_examine.h"

#include "dht_play.h"
#include "law_draw.h"
#include "number_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- capacities ---- */

static const struct parameter of_constant[] = {
    {.name = "per_second",
     .type = TYPE_REAL,
     .lower = 1e-3,
     .upper = 1e15,
     .bare = true,
     .units = "1/s",
     .meaning = "of every node"},
};
static const struct parameter of_profile[] = {
    {.name = "mean",
     .type = TYPE_REAL,
     .lower = 1e-3,
     .upper = 1e12,
     .standard = "93.7",
     .units = "1/s",
     .meaning = "mean over nodes"},
};
static const struct parameter of_lognormal[] = {
    {.name = "median",
     .type = TYPE_REAL,
     .lower = 1e-3,
     .upper = 1e12,
     .standard = "191",
     .units = "1/s",
     .meaning = "median over nodes"},
    {.name = "sigma",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 10,
     .standard = "1",
     .units = "1",
     .meaning = "standard deviation of the logarithm"},
};
static const struct parameter of_capacity_file[] = {
    {.name = "path",
     .type = TYPE_FILE,
     .units = "1",
     .meaning = "one number a line and node, relative to the folder of the job file"},
};
static const struct kind constant = {"constant", "the same for all nodes", "", of_constant, 1},
                         profile = {"profile", "1, 10, 100, 1000, 10000, scaled to a mean",
                                    "Chawathe et al., SIGCOMM 2003", of_profile, 1},
                         lognormal = {"lognormal", "exponential function of a normal variable", "",
                                      of_lognormal, 2},
                         capacity_file = {"file", "as a file says", "", of_capacity_file, 1};
static const struct kind *const capacity_kinds[] = {&constant, &profile, &lognormal,
                                                    &capacity_file};
const struct catalogue ISA(capacities) = {"capacity", capacity_kinds, 4};

#define PROFILE_MEAN 93.7

static double draw_profile(const struct dht_point *p, uint32_t high, uint32_t low) {
    static const struct {
        double below, capacity;
    } classes[] = {{0.2, 1}, {0.65, 10}, {0.95, 100}, {0.999, 1000}, {2, 10000}};
    const double u = (double)high * 0x1p-32;
    unsigned i = 0;
    (void)low;
    while (u >= classes[i].below)
        i++;
    return classes[i].capacity * (p->spread[0] / PROFILE_MEAN);
}

static double draw_lognormal(const struct dht_point *p, uint32_t high, uint32_t low) {
    const double z = normal_upper(uniform_number(high, low));
    return p->spread[0] * own_exp(p->spread[1] * z);
}

/* Capacities of a file; NULL with a reason when they do not do. */
static double *read_capacities(struct attachment *file, uint64_t n, struct reason *why) {
    const struct number_file *f = number_file_of(file, 1, 1, "a capacity", why);
    if (!f)
        return NULL;
    if (f->n != n) {
        refuse(why, "%s: %llu capacities for %llu nodes", file->name, (unsigned long long)f->n,
               (unsigned long long)n);
        return NULL;
    }
    for (uint64_t i = 0; i < n; i++)
        if (!(f->value[i] >= of_constant[0].lower && f->value[i] <= of_constant[0].upper)) {
            number_file_refuse(file, f, i, why, "a capacity of %g (allowed: %g to %g)", f->value[i],
                               of_constant[0].lower, of_constant[0].upper);
            return NULL;
        }
    double *capacity = allocate(n, sizeof *capacity);
    memcpy(capacity, f->value, n * sizeof *capacity);
    return capacity;
}

static void prepare_capacity(const struct entry *e, struct dht_point *p) {
    struct reason why;
    if (e->kind == &capacity_file) {
        p->given = read_capacities(e->values[0].file, p->n, &why);
        CHECK(p->given);
    } else if (e->kind == &constant) {
        p->given = allocate(p->n, sizeof *p->given);
        for (uint32_t i = 0; i < p->n; i++)
            p->given[i] = e->values[0].real;
    } else {
        p->draw = e->kind == &profile ? draw_profile : draw_lognormal;
        p->spread[0] = e->values[0].real;
        p->spread[1] = e->kind == &profile ? 0 : e->values[1].real;
    }
}

/* ---- destinations ---- */

enum { ZIPF_ALPHA, ZIPF_COUNT, ZIPF_SHIFT };
static const struct parameter of_zipf[] = {
    [ZIPF_ALPHA] = {.name = "alpha",
                    .type = TYPE_REAL,
                    .lower = 0,
                    .upper = 20,
                    .units = "1",
                    .meaning = "rank r is asked for with probability proportional to r^-alpha"},
    [ZIPF_COUNT] = {.name = "count",
                    .type = TYPE_COUNT,
                    .lower = 1,
                    .upper = 1 << 24,
                    .standard = "1500",
                    .units = "1",
                    .meaning = "number of keys"},
    [ZIPF_SHIFT] = {.name = "shift",
                    .type = TYPE_COUNT,
                    .lower = 0,
                    .upper = 1 << 25,
                    .standard = "unset",
                    .units = "s",
                    .meaning = "second from which on all keys are others; unset: never"},
};
static const struct kind uniform_keys = {"uniform", "every identifier alike", "", NULL, 0},
                         zipf = {"zipf", "few keys are popular", "", of_zipf, 3};
static const struct kind *const destination_kinds[] = {&uniform_keys, &zipf};
const struct catalogue ISA(destinations) = {"destination", destination_kinds, 2};

static void prepare_destinations(const struct entry *e, struct dht_point *p) {
    p->shift = UINT64_MAX;
    if (e->kind != &zipf)
        return;
    const uint32_t n = (uint32_t)e->values[ZIPF_COUNT].count;
    double *sum = allocate(n, sizeof *sum), all = 0;
    p->n_keys = n;
    if (!e->values[ZIPF_SHIFT].unset)
        p->shift = e->values[ZIPF_SHIFT].count;
    for (uint32_t r = 0; r < n; r++)
        sum[r] = all += own_exp(-e->values[ZIPF_ALPHA].real * own_log(r + 1.0));
    p->cumulative = allocate(n, sizeof *p->cumulative);
    for (uint32_t r = 0; r < n; r++)
        p->cumulative[r] = sum[r] < all ? (uint64_t)(sum[r] / all * 0x1p64) : UINT64_MAX;
    free(sum);
    for (p->guide_bits = 1; (uint32_t)1 << p->guide_bits < n; p->guide_bits++)
        ;
    p->guide = allocate(((size_t)1 << p->guide_bits) + 1, sizeof *p->guide);
    uint32_t r = 0;
    for (uint64_t b = 0; b < (uint64_t)1 << p->guide_bits; b++) {
        while (r + 1 < n && p->cumulative[r] <= b << (64 - p->guide_bits))
            r++;
        p->guide[b] = r;
    }
}

/* ---- churn ---- */

#define LAW(id) extern const struct law ISA(law_##id);
#include "laws.def"
#undef LAW

static const struct parameter of_trace[] = {
    {.name = "file",
     .type = TYPE_FILE,
     .units = "1",
     .meaning = "lines of node from to: when it is up, relative to the folder of the job file"},
};
static const struct kind unlimited = {"unlimited", "nodes stay for ever", "", NULL, 0},
                         trace = {"trace", "nodes are up when a file says so", "", of_trace, 1},
                         same = {"same", "the law of the lifetime", "", NULL, 0};
static const struct kind *const lifetime_kinds[] = {
    &unlimited,
    &trace,
#define LAW(id) &ISA(law_##id).kind,
#include "laws.def"
#undef LAW
};
static const struct kind *const downtime_kinds[] = {
    &same,
#define LAW(id) &ISA(law_##id).kind,
#include "laws.def"
#undef LAW
};
const struct catalogue
    ISA(lifetimes) = {"lifetime", lifetime_kinds, sizeof lifetime_kinds / sizeof *lifetime_kinds},
    ISA(downtimes) = {"downtime", downtime_kinds, sizeof downtime_kinds / sizeof *downtime_kinds};
static const struct windows_words session_words = {"node", "up", "a session (node from to)"};

static bool examine_law(const struct entry *e, uint64_t n, const char *which, struct reason *why,
                        unsigned *inner) {
    struct law_facts facts;
    *inner = e->kind->n_parameters;
    if (!law_of(e->kind)->examine(e->values, &facts, why, inner))
        return false;
    if (!(facts.mean > 0 && isfinite(facts.mean)))
        return refuse(why, "times %s of law %s have a mean of %g (allowed: above 0, finite)", which,
                      e->kind->name, facts.mean);
    return lanes_suffice(&facts, n) || refuse(why, "times %s of law %s for each of %llu nodes",
                                              which, e->kind->name, (unsigned long long)n);
}

static unsigned blame(unsigned outer, const struct entry *e, unsigned inner) {
    return inner < e->kind->n_parameters ? at_within(outer, inner) : outer;
}

static bool examine_churn(const struct value *v, struct reason *why, unsigned *at) {
    const struct entry *life = v[DHT_LIFETIME].entry, *down = v[DHT_DOWNTIME].entry;
    const uint64_t n = v[DHT_NODES].count;
    unsigned inner = UINT32_MAX;
    *at = at_within(DHT_LIFETIME, 0);
    if (life->kind == &trace)
        return windows_check(life->values[0].file, n, &session_words, why);
    if (life->kind == &unlimited)
        return true;
    bool fine = examine_law(life, n, "up", why, &inner);
    *at = blame(DHT_LIFETIME, life, inner);
    if (fine && down->kind != &same) {
        fine = examine_law(down, n, "down", why, &inner);
        *at = blame(DHT_DOWNTIME, down, inner);
    }
    return fine;
}

static void prepare_churn(const struct value *v, struct dht_point *p) {
    const struct entry *life = v[DHT_LIFETIME].entry, *down = v[DHT_DOWNTIME].entry;
    p->churns = life->kind != &unlimited;
    p->availability = 1;
    if (life->kind == &trace) {
        windows_make(life->values[0].file, p->n, &p->trace);
        p->sessions = &p->trace;
    } else if (p->churns) {
        ISA(law_prepare)(life, (double)NAN, &p->life);
        ISA(law_prepare)(down->kind == &same ? life : down, (double)NAN, &p->down);
        p->availability = p->life.facts.mean / (p->life.facts.mean + p->down.facts.mean);
    }
}

/* ---- a point ---- */

static const struct balancer *balancer_of(const struct value *v) {
    return (const struct balancer *)(const void *)v[DHT_BALANCER].entry->kind;
}

void ISA(dht_prepare)(const struct value *v, struct dht_point *p) {
    *p = (struct dht_point){.values = v,
                            .balancer = balancer_of(v),
                            .rule = v[DHT_BALANCER].entry->values,
                            .n = (uint32_t)v[DHT_NODES].count,
                            .duration = v[DHT_DURATION].count,
                            .interval = v[DHT_INTERVAL].count,
                            .balance_from = v[DHT_BALANCE_FROM].count,
                            .period = v[DHT_PERIOD].count,
                            .measure = v[DHT_MEASURE].count,
                            .refresh = v[DHT_REFRESH].count,
                            .queries = v[DHT_QUERIES].real,
                            .maintenance = v[DHT_MAINTENANCE].real,
                            .target = v[DHT_TARGET].real,
                            .high = 1 + v[DHT_EPSILON].real,
                            .low = 1 - v[DHT_EPSILON].real,
                            .synchronous = v[DHT_ORDER].word == 1,
                            .delivers = v[DHT_CHARGE].word == 1,
                            .one_hop = v[DHT_ROUTING].word == 1};
    p->record_from = v[DHT_RECORD_FROM].unset ? p->duration / 2 : v[DHT_RECORD_FROM].count;
    p->per_node = p->balancer->most(p->rule, p->n);
    p->joining = p->per_node ? p->per_node : p->balancer->initial(p->rule);
    if (p->balancer->levels) {
        p->thresholds = allocate(LEVELS_MAX, sizeof *p->thresholds);
        p->n_thresholds = p->balancer->levels(p->rule, p->thresholds);
    }
    prepare_capacity(v[DHT_CAPACITY].entry, p);
    prepare_destinations(v[DHT_DESTINATIONS].entry, p);
    prepare_churn(v, p);
}

void ISA(dht_clear)(struct dht_point *p) {
    free(p->given);
    free(p->cumulative);
    free(p->guide);
    free(p->thresholds);
    windows_free(&p->trace);
    ISA(law_free)(&p->life);
    ISA(law_free)(&p->down);
}

static bool examine_times(const struct value *v, struct reason *why, unsigned *at) {
    enum { INTERVALS_MAX = 100000 };
    const uint64_t duration = v[DHT_DURATION].count;
    *at = DHT_RECORD_FROM;
    if (!v[DHT_RECORD_FROM].unset && v[DHT_RECORD_FROM].count >= duration)
        return refuse(why, "nothing would count: only %llu seconds are played",
                      (unsigned long long)duration);
    *at = DHT_INTERVAL;
    if ((duration - 1) / v[DHT_INTERVAL].count >= INTERVALS_MAX)
        return refuse(why, "interval: that makes %llu intervals (at most %d)",
                      (unsigned long long)((duration - 1) / v[DHT_INTERVAL].count + 1),
                      INTERVALS_MAX);
    *at = DHT_REFRESH;
    return v[DHT_REFRESH].count == 1 || v[DHT_ROUTING].word == 0 ||
           refuse(why, "there are no fingers to refresh with routing: one-hop");
}

static bool examine_parts(const struct value *v, struct reason *why, unsigned *at) {
    const struct entry *capacity = v[DHT_CAPACITY].entry;
    *at = at_within(DHT_CAPACITY, 0);
    if (capacity->kind == &capacity_file) {
        double *given = read_capacities(capacity->values[0].file, v[DHT_NODES].count, why);
        free(given);
        if (!given)
            return false;
    }
    if (!examine_churn(v, why, at))
        return false;
    *at = DHT_QUERIES;
    return v[DHT_QUERIES].real * (double)v[DHT_NODES].count <= 0x1p28 ||
           refuse(why, "that makes %.3g queries a second (at most 2^28)",
                  v[DHT_QUERIES].real * (double)v[DHT_NODES].count);
}

/* ---- facts ---- */

static void state_histograms(const struct dht_point *p, struct facts *f) {
    const uint64_t intervals = (p->duration - 1) / p->interval + 1;
    const uint64_t servers = p->per_node ? bin_of(p->per_node) + 1 : SERVER_BINS;
    f->bins[COUNT_UTILISATION] = TIME_BINS;
    f->bins[COUNT_HOPS] = p->refresh > 1 ? DHT_HOP_BINS : HOPS_MAX;
    f->bins[COUNT_SERVERS] = servers;
    f->bins[COUNT_RELOCATIONS] = f->bins[COUNT_NODE_SECONDS] = CAPACITY_BINS;
    for (unsigned h = SERIES_SUCCESS; h < DHT_HISTOGRAMS; h++) {
        f->bins[h] = intervals;
        f->unit[h] = h == SERIES_SUCCESS ? DHT_SHARE_UNIT : DHT_SERIES_UNIT;
        f->most[h] = (uint64_t)1 << 18;
    }
    memcpy(f->likely, f->bins, sizeof f->likely);
    f->likely[COUNT_UTILISATION] = 200;
    f->likely[COUNT_SERVERS] = servers < 64 ? servers : 64;
    f->likely[COUNT_HOPS] = 20;
    f->stretch = (double)p->interval;
}

static void state_rows(struct facts *f) {
    static const unsigned shares[] = {DHT_SUCCESS,    DHT_DROPPED,   DHT_LOST,
                                      DHT_OVERLOADED, DHT_MAX_SHARE, DHT_SHARE_R2};
    for (unsigned r = 0; r < DHT_ROWS; r++)
        f->row[r] = (struct affine){0, 1 / DHT_UNIT};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        f->row[shares[i]].divisor = 1 / DHT_SHARE_UNIT;
    f->row[DHT_MIN_SHARE].divisor = 1 / DHT_SMALL_UNIT;
}

/* Times that nodes come up and go down in a replication. */
static double expected_changes(const struct dht_point *p) {
    if (!p->churns || p->sessions)
        return p->churns ? 2 * (double)p->trace.rows : 0;
    return 2 * (double)p->duration * p->n / (p->life.facts.mean + p->down.facts.mean);
}

/* What a replication takes: hops, and the nodes and virtual servers of every second. */
static double expected_time(const struct dht_point *p) {
    const double up = p->availability * p->n,
                 servers = up * (p->per_node ? (p->per_node + 1) / 2.0 : 4),
                 hops = p->one_hop ? 1 : own_log(servers + 1) / 1.386 + 0.9,
                 hop = (p->synchronous || p->refresh > 1 ? 30 : 8) + (servers > 1e5 ? 12 : 0);
    const double change = 300 + 200 * (p->per_node ? (p->per_node + 1) / 2.0 : 4);
    const double turns = p->balancer->turn ? p->balancer->nanoseconds + 12 : 0;
    return 2000 + 700.0 * p->n + 400 * servers + expected_changes(p) * change +
           (double)p->duration * (p->queries * up * (hops * hop + 15) + servers * 6 + up * 25 +
                                  up * turns / (double)p->period);
}

/* What may not be meant. */
static void state_note(const struct dht_point *p, struct facts *f) {
    if (p->one_hop && !p->delivers)
        snprintf(
            f->note, sizeof f->note,
            "queries take no capacity: with routing: one-hop their only hop is the last, which "
            "is free unless charge: delivery");
    else if (p->churns && !p->sessions && p->life.facts.mean < 10)
        snprintf(f->note, sizeof f->note,
                 "nodes stay up for %.3g s on average (lifetime: mean, in seconds)",
                 p->life.facts.mean);
}

bool ISA(dht_examine)(const struct value *v, const struct budget *budget, struct facts *f,
                      struct reason *why, unsigned *at) {
    (void)budget;
    if (!examine_times(v, why, at) || !examine_parts(v, why, at))
        return false;
    struct dht_point p;
    ISA(dht_prepare)(v, &p);
    const uint64_t room = ISA(dht_first_room)(&p), queries = ISA(dht_first_queries)(&p);
    const double changes = expected_changes(&p);
    *at = DHT_NODES;
    *f = (struct facts){.servers = p.n, .grain = 1, .nanoseconds = expected_time(&p)};
    f->bytes_shared = (p.given ? 8 : 0) * (uint64_t)p.n + 16 * (uint64_t)p.n_keys +
                      (p.sessions ? 16 * p.trace.rows + 8 * (uint64_t)p.n : 0);
    f->bytes_thread = ISA(dht_bytes)(&p, room, queries);
    state_rows(f);
    state_histograms(&p, f);
    state_note(&p, f);
    snprintf(f->sampler, sizeof f->sampler, "%s",
             p.one_hop       ? "one hop"
             : p.refresh > 1 ? "tables of fingers"
                             : "searches of the ring");
    ISA(dht_clear)(&p);
    if (room >= (uint64_t)1 << 30)
        return refuse(why, "that makes up to %llu virtual servers (allowed: fewer than 2^30)",
                      (unsigned long long)room);
    *at = DHT_LIFETIME;
    return changes <= 4e9 ||
           refuse(why, "nodes would come and go %.3g times in a replication (at most 4e9)",
                  changes);
}
