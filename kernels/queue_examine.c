/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: whether the parts of a point go together, whether its queues are stable, and what is known
 * of it before it is played. */
#include "queue.h"

#include "graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ISA(queue_describe)(const struct value *v, struct space *space, struct reason *why,
                         unsigned *at) {
    const struct entry *entry = v[QUEUE_TOPOLOGY].entry;
    unsigned inner = 0;
    *space = (struct space){0};
    const bool fine = topology_of(entry)->describe(entry->values, space, why, &inner);
    *at = inner < entry->kind->n_parameters ? at_within(QUEUE_TOPOLOGY, inner) : QUEUE_TOPOLOGY;
    return fine;
}

uint64_t ISA(queue_budget)(const struct space *space, const struct budget *b) {
    const uint64_t bytes = space->fresh ? b->bytes / b->threads : b->bytes;
    return bytes > space->bytes ? bytes - space->bytes : 0;
}

double *ISA(queue_rates)(const struct value *given, uint64_t n) {
    if (given->unset)
        return NULL;
    double *rate = allocate(n, sizeof *rate);
    for (uint64_t i = 0; i < n; i++)
        rate[i] = given->reals[i % given->n_reals];
    return rate;
}

struct arrivals_wish ISA(queue_wish)(const struct value *v, uint64_t n) {
    return (struct arrivals_wish){.entry = v[QUEUE_ARRIVALS].entry,
                                  .lambda = v[QUEUE_LAMBDA].real,
                                  .total = v[QUEUE_ARRIVAL_SCOPE].word == 1,
                                  .synchronised = v[QUEUE_SYNCHRONISED].real != 0,
                                  .n = n,
                                  .rate = ISA(queue_rates)(&v[QUEUE_ARRIVAL_RATES], n)};
}

void ISA(queue_units)(double mean, double *unit, double *square) {
    int exponent;
    (void)frexp(mean, &exponent);
    *unit = ldexp(0x1p-36, exponent);
    *square = ldexp(0x1p-22, 2 * exponent);
}

struct transient ISA(queue_transient)(const struct value *v, uint64_t n) {
    const struct entry *e = v[QUEUE_TRANSIENT].entry;
    if (!e->kind->n_parameters)
        return (struct transient){0};
    const uint64_t jobs = e->values[0].count;
    return (struct transient){.jobs = jobs,
                              .grid = e->values[1].reals,
                              .n_grid = e->values[1].n_reals,
                              .most = (16 * jobs + 1000) * n};
}

double ISA(queue_mean_service)(const struct value *v, const struct arrivals_facts *stream) {
    const struct entry *service = v[QUEUE_SERVICE].entry;
    struct law_facts law;
    struct reason why;
    unsigned at;
    if (stream->services || !v[QUEUE_SERVICE_MEAN].unset)
        return stream->services ? stream->mean_service : v[QUEUE_SERVICE_MEAN].real;
    CHECK(law_of(service->kind)->examine(service->values, &law, &why, &at));
    return law.mean;
}

/* The number of servers has no say, because it may be known only later. */
double ISA(queue_completion_unit)(const struct value *v, const struct arrivals_facts *stream,
                                  double mean) {
    const struct value *speeds = &v[QUEUE_SERVICE_RATES];
    const double jobs = (double)ISA(queue_transient)(v, 1).jobs;
    double unit, square, slowest = 1;
    ISA(queue_units)(mean, &unit, &square);
    for (uint64_t i = 0; !speeds->unset && i < speeds->n_reals; i++)
        slowest = speeds->reals[i] < slowest ? speeds->reals[i] : slowest;
    const double coming = v[QUEUE_LAMBDA].unset ? (double)stream->jobs / stream->rate
                                                : jobs / v[QUEUE_LAMBDA].real,
                 late = jobs * mean / slowest + coming;
    int exponent;
    (void)frexp(late, &exponent);
    return fmax(unit * 0x1p8, ldexp(0x1p-40, exponent));
}

double ISA(queue_pairs)(const struct value *v, const struct space *space) {
    const double n = (double)space->n;
    if (v[QUEUE_NEIGHBOURS].real == 0)
        return 0;
    switch (space->form) {
    case FORM_COMPLETE:
        return n * (n - 1) / 2;
    case FORM_LATTICE:
        return n * space->dims;
    case FORM_CUBE:
        return n * log2(n) / 2;
    case FORM_TREE:
        return n - 1;
    default:
        return n * space->mean_degree / 2;
    }
}

/* ---- warm-up and horizon ---- */

/* Ten relaxation times of M/M/1. */
static double relaxation(const struct pressure *p) {
    double rho = p->routed && p->largest > p->total ? p->largest : p->total;
    rho = rho < 0.995 ? rho : 0.995;
    const double slack = 1 - sqrt(rho), hold = isfinite(p->hold) ? p->hold : 1;
    return 10 / (slack * slack) * hold;
}

/* Space and stream of a point that was examined. */
static void describe(const struct value *v, struct space *space, struct arrivals_facts *stream) {
    struct reason why;
    unsigned at, inner;
    enum arrivals_fault fault;
    CHECK(ISA(queue_describe)(v, space, &why, &at));
    struct arrivals_wish wish = ISA(queue_wish)(v, space->n);
    CHECK(ISA(arrivals_examine)(&wish, stream, &why, &fault, &inner));
    free((void *)(uintptr_t)wish.rate);
}

static struct span span_of(const struct entry *e, uint64_t n) {
    if (!strcmp(e->kind->name, "time"))
        return (struct span){.in_time = true, .time = e->values[0].real};
    return (struct span){.jobs = value_count(&e->values[0], n)};
}

void ISA(queue_spans)(const struct value *v, uint64_t n, struct span *warmup,
                      struct span *horizon) {
    const struct transient t = ISA(queue_transient)(v, n);
    *horizon = t.jobs ? (struct span){.jobs = t.jobs} : span_of(v[QUEUE_HORIZON].entry, n);
    if (t.jobs) {
        *warmup = (struct span){.jobs = 0};
        return;
    }
    if (v[QUEUE_WARMUP].entry->kind->n_parameters) {
        *warmup = span_of(v[QUEUE_WARMUP].entry, n);
        return;
    }
    struct space space;
    struct arrivals_facts stream;
    describe(v, &space, &stream);
    const struct pressure p = ISA(queue_pressure)(v, &space, &stream);
    *warmup = (struct span){.in_time = true, .time = relaxation(&p)};
}

static double jobs_in(const struct span *s, double rate) {
    return s->in_time ? s->time * rate : (double)s->jobs;
}

double ISA(queue_sum_unit)(const struct value *v, double mean) {
    int exponent = 0;
    (void)frexp(v[QUEUE_LAMBDA].unset ? 1 : v[QUEUE_LAMBDA].real * mean, &exponent);
    const double unit = ldexp(0x1p-24, exponent < 0 ? exponent : 0);
    if (v[QUEUE_ALLOW_UNSTABLE].real == 0)
        return unit;
    struct space space;
    struct arrivals_facts stream;
    struct span warmup, horizon;
    describe(v, &space, &stream);
    ISA(queue_spans)(v, space.n, &warmup, &horizon);
    const double all = jobs_in(&warmup, stream.rate) + jobs_in(&horizon, stream.rate);
    (void)frexp(all, &exponent);
    return fmax(unit, ldexp(0x1p-41, exponent));
}

static bool examine_spans(const struct value *v, const struct arrivals_facts *stream,
                          const struct span *warmup, const struct span *horizon, struct reason *why,
                          unsigned *at) {
    const double before = jobs_in(warmup, stream->rate), after = jobs_in(horizon, stream->rate);
    *at = QUEUE_HORIZON;
    if (horizon->in_time ? horizon->time <= 0 : horizon->jobs < 1)
        return refuse(why, "a horizon without jobs says nothing");
    if (after > 4e9)
        return refuse(why, "that makes %.3g jobs a replication (at most 4e9)", after);
    *at = QUEUE_WARMUP;
    if (before > 0x1p47)
        return refuse(why, "that makes %.3g jobs before anything counts (at most 2^47)", before);
    *at = QUEUE_ARRIVALS;
    if (stream->jobs != UINT64_MAX && !warmup->in_time && !horizon->in_time &&
        warmup->jobs + horizon->jobs > stream->jobs &&
        !v[QUEUE_TRANSIENT].entry->kind->n_parameters)
        return refuse(why, "the trace has %llu jobs, fewer than warm-up and horizon take (%llu)",
                      (unsigned long long)stream->jobs,
                      (unsigned long long)(warmup->jobs + horizon->jobs));
    return true;
}

/* ---- whether the parts go together ---- */

static bool examine_transient(const struct transient *t, struct reason *why, unsigned *at) {
    enum { BINS_MOST = 1 << 17 };
    *at = at_within(QUEUE_TRANSIENT, 1);
    for (uint64_t g = 1; g < t->n_grid; g++)
        if (!(t->grid[g] > t->grid[g - 1]))
            return refuse(why, "the times of the grid must rise: %.6g comes after %.6g", t->grid[g],
                          t->grid[g - 1]);
    if (t->jobs * t->n_grid > BINS_MOST)
        return refuse(why,
                      "%llu completions at %llu times are too many to be told (at most %d numbers)",
                      (unsigned long long)t->jobs, (unsigned long long)t->n_grid, BINS_MOST);
    return true;
}

static bool examine_neighbours(const struct value *v, const struct space *space, uint64_t budget,
                               struct reason *why, unsigned *at) {
    const double pairs = ISA(queue_pairs)(v, space),
                 bytes = 40 * pairs + (space->form == FORM_GRAPH ? 0 : 64 * pairs);
    *at = QUEUE_NEIGHBOURS;
    if (v[QUEUE_NEIGHBOURS].real == 0)
        return true;
    if (space->form == FORM_PLANE || space->form == FORM_ARCS)
        return refuse(why, "on topology %s servers have no neighbours along edges",
                      v[QUEUE_TOPOLOGY].entry->kind->name);
    if (pairs < 1)
        return refuse(why, "no server has a neighbour");
    if (bytes > (double)budget)
        return refuse(why, "%.3g pairs of neighbours take %.3g MB, more than --memory lets", pairs,
                      bytes * 1e-6);
    return true;
}

static bool examine_policy(const struct value *v, const struct space *space, uint64_t budget,
                           struct sampler_facts *s, struct reason *why, unsigned *at) {
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    unsigned inner = 0;
    *at = QUEUE_POLICY;
    if (!ISA(policy_suits)(policy, v[QUEUE_TOPOLOGY].entry->kind, space, why))
        return false;
    const bool fine = policy->examine(v[QUEUE_POLICY].entry->values, space, budget, s, why, &inner);
    *at = inner < policy->kind.n_parameters ? at_within(QUEUE_POLICY, inner) : QUEUE_POLICY;
    if (fine && s->walks) {
        *at = QUEUE_POLICY;
        return refuse(why, "policy %s bounds loads by the number of jobs, which queues do not have",
                      policy->kind.name);
    }
    struct failures_facts down;
    struct reason none;
    unsigned at_down;
    if (fine && s->foresees &&
        ISA(failures_examine)(v[QUEUE_FAILURES].entry, 1, &down, &none, &at_down) && down.any) {
        *at = QUEUE_POLICY;
        return refuse(
            why,
            "policy %s would foresee failures, which policies cannot see (jsq goes by the "
            "number of jobs)",
            policy->kind.name);
    }
    return fine;
}

static bool examine_rates(const struct value *v, const struct space *space, struct reason *why,
                          unsigned *at) {
    const uint64_t n = space->n;
    for (unsigned i = QUEUE_ARRIVAL_RATES; i <= QUEUE_SERVICE_RATES; i++) {
        *at = i;
        if (!v[i].unset && v[i].n_reals > 1 && space->varies)
            return refuse(why, "rates of servers, but how many the largest component has is not "
                               "known before");
        if (!v[i].unset && (v[i].n_reals > n || n % v[i].n_reals))
            return refuse(why,
                          "%u rates do not go round %llu servers (one for each, or a number that "
                          "divides theirs)",
                          v[i].n_reals, (unsigned long long)n);
    }
    return true;
}

static bool examine_stream(const struct value *v, const struct space *space,
                           struct arrivals_facts *f, struct reason *why, unsigned *at) {
    static const unsigned blamed[] = {[ARRIVALS_ENTRY] = QUEUE_ARRIVALS,
                                      [ARRIVALS_SCOPE] = QUEUE_ARRIVAL_SCOPE,
                                      [ARRIVALS_SYNCHRONISED] = QUEUE_SYNCHRONISED,
                                      [ARRIVALS_RATES] = QUEUE_ARRIVAL_RATES};
    struct arrivals_wish wish = ISA(queue_wish)(v, space->n);
    enum arrivals_fault fault = ARRIVALS_ENTRY;
    unsigned inner = UINT32_MAX;
    *at = QUEUE_LAMBDA;
    if (v[QUEUE_LAMBDA].unset && !ISA(arrivals_timed)(wish.entry)) {
        free((void *)(uintptr_t)wish.rate);
        return refuse(why, "'lambda' is missing: jobs per unit time and server (only a trace has a "
                           "rate of its own)");
    }
    const bool fine = ISA(arrivals_examine)(&wish, f, why, &fault, &inner);
    free((void *)(uintptr_t)wish.rate);
    *at = blamed[fault];
    if (fault == ARRIVALS_ENTRY && inner < wish.entry->kind->n_parameters)
        *at = at_within(QUEUE_ARRIVALS, inner);
    if (!fine)
        return false;
    *at = QUEUE_ARRIVALS;
    if (space->varies && f->jobs != UINT64_MAX && f->origins)
        return refuse(why, "a trace names servers, but how many the largest component has is not "
                           "known before");
    if (f->origins && (space->form == FORM_PLANE || space->form == FORM_ARCS))
        return refuse(why,
                      "on topology %s jobs appear at uniform points, not at servers: arrivals must "
                      "be one stream with uniform origins",
                      v[QUEUE_TOPOLOGY].entry->kind->name);
    return true;
}

static bool examine_laws(const struct value *v, const struct space *space,
                         struct failures_facts *breaks, struct law_facts *law, struct reason *why,
                         unsigned *at) {
    const struct entry *service = v[QUEUE_SERVICE].entry, *failures = v[QUEUE_FAILURES].entry;
    unsigned inner = UINT32_MAX;
    bool fine = law_of(service->kind)->examine(service->values, law, why, &inner);
    *at = inner < service->kind->n_parameters ? at_within(QUEUE_SERVICE, inner) : QUEUE_SERVICE;
    if (!fine)
        return false;
    inner = UINT32_MAX;
    fine = ISA(failures_examine)(failures, space->n, breaks, why, &inner);
    *at = inner < failures->kind->n_parameters ? at_within(QUEUE_FAILURES, inner) : QUEUE_FAILURES;
    if (fine && space->varies && breaks->any && !(breaks->scale > 0))
        return refuse(why, "windows name servers, but how many the largest component has is not "
                           "known before");
    return fine;
}

/* ---- facts ---- */

static void state_rows(const struct value *v, const struct space *space, double mean,
                       const struct law_facts *law, struct facts *f) {
    double unit, square;
    ISA(queue_units)(mean, &unit, &square);
    for (unsigned r = 0; r < QUEUE_ROWS; r++)
        f->row[r] = (struct affine){0, 1 / unit};
    for (unsigned r = QUEUE_RESPONSE; r <= QUEUE_WAITING; r += TIME_ROWS) {
        f->row[r + MOMENT_SECOND].divisor = isfinite(law->third) ? 1 / square : (double)NAN;
        if (!isfinite(law->second))
            f->row[r + MOMENT_MEAN].divisor = f->row[r + MOMENT_EXCESS].divisor = (double)NAN;
    }
    f->row[QUEUE_LENGTH].divisor = 1 / QUEUE_LENGTH_UNIT;
    f->row[QUEUE_UTILISATION].divisor = f->row[QUEUE_OCCUPIED].divisor =
        f->row[QUEUE_MOVED].divisor = 1 / QUEUE_SHARE_UNIT;
    f->row[QUEUE_COST].divisor = space->form == FORM_ARCS ? (double)NAN : 1 / QUEUE_COST_UNIT;
    f->row[QUEUE_CORRELATION].divisor =
        v[QUEUE_NEIGHBOURS].real != 0 ? 1 / QUEUE_CORRELATION_UNIT : (double)NAN;
}

static void state_bins(const struct value *v, const struct space *space,
                       const struct arrivals_facts *stream, double rho, double mean,
                       struct facts *f) {
    const struct transient t = ISA(queue_transient)(v, space->n);
    enum { LOAD_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING };
    const double tail = rho < 0.999 ? rho : 0.999;
    const uint64_t likely = (uint64_t)(-25 / log(tail > 0.01 ? tail : 0.01)) + 8;
    f->bins[TIME_LOAD] = f->bins[COUNT_LOAD_ORIGIN] = f->bins[COUNT_LOAD_CHOSEN] = LOAD_BINS;
    f->bins[COUNT_RESPONSE] = TIME_BINS;
    f->bins[SUM_PATH] = PATH_TIMES;
    f->bins[SUM_SERVER_QUEUE] = space->n;
    f->bins[SUM_SERVER_CORRELATION] = v[QUEUE_NEIGHBOURS].real != 0 ? space->n : 0;
    f->unit[SUM_PATH] = f->unit[SUM_SERVER_QUEUE] = ISA(queue_sum_unit)(v, mean);
    f->unit[SUM_SERVER_CORRELATION] = QUEUE_CORRELATION_UNIT;
    for (unsigned h = SUM_LOCAL; h <= KNOWN_POOLED; h++)
        f->bins[h] = t.jobs;
    f->bins[SHARE_LOCAL] = f->bins[SHARE_POOLED] = t.jobs * t.n_grid;
    f->unit[SUM_LOCAL] = f->unit[SUM_POOLED] = ISA(queue_completion_unit)(v, stream, mean);
    f->unit[SHARE_LOCAL] = f->unit[SHARE_POOLED] = QUEUE_SHARE_UNIT;
    for (unsigned h = 0; h < QUEUE_HISTOGRAMS; h++)
        f->most[h] = h == SUM_LOCAL || h == SUM_POOLED    ? 1 << 20
                     : h == TIME_LOAD || f->unit[h] > 0.0 ? 1 << 22
                                                          : 0;
    f->grid = t.grid;
    f->n_grid = t.n_grid;
    memcpy(f->likely, f->bins, sizeof f->likely);
    for (unsigned h = TIME_LOAD; h <= COUNT_LOAD_CHOSEN; h++)
        f->likely[h] = likely < LOAD_BINS ? likely : LOAD_BINS;
}

static void state_memory(const struct space *space, const struct sampler_facts *s,
                         const struct arrivals_facts *stream, const struct failures_facts *breaks,
                         uint64_t budget, const struct value *v, struct facts *f) {
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    const bool tables = space->form == FORM_GRAPH && policy->anywhere;
    struct queue shape = {
        .n = space->n,
        .budget = budget,
        .stream = *stream,
        .breaks = *breaks,
        .sampler = {.space = *space,
                    .memory = s->memory,
                    .draws = s->draws,
                    .arrays = s->arrays,
                    .control = policy->queues && !s->draws ? CONTROL_JSQ : CONTROL_NONE,
                    .candidates = s->draws ? 2 : 1},
        .measures = tables,
        .transient = ISA(queue_transient)(v, space->n),
        .pairs = ISA(queue_pairs)(v, space)};
    shape.breaks.memory = breaks->any ? breaks->memory : 0;
    f->bytes_thread = ISA(queue_bytes)(&shape, ISA(queue_first_slots)(&shape));
    const uint64_t neighbours = shape.pairs > 0 && space->form != FORM_GRAPH
                                    ? graph_bytes(space->n, (uint64_t)shape.pairs)
                                    : 0;
    const uint64_t own =
        space->bytes + s->bytes + neighbours + (tables ? ISA(hops_bytes)(space, budget) : 0);
    f->bytes_shared = (space->fresh ? 0 : own) + stream->bytes + (breaks->any ? breaks->bytes : 0);
    f->bytes_fresh = space->fresh ? own : 0;
    enum { PAIR_MAKING = 48 }; /* bytes, in igraph's list of edges and in ours */
    f->bytes_making = s->making > space->bytes_making ? s->making : space->bytes_making;
    f->bytes_making += neighbours ? (uint64_t)(PAIR_MAKING * shape.pairs) : 0;
}

static void state_note(const struct value *v, const struct queue_load *load, struct facts *f) {
    const struct pressure *p = load->pressure;
    const struct span *warmup = &load->warmup, *horizon = &load->horizon;
    const struct arrivals_facts *stream = load->stream;
    const struct law_facts *law = load->service;
    const struct failures_facts *breaks = load->breaks;
    size_t length = 0;
    struct reason note;
    const struct topology *topology = topology_of(v[QUEUE_TOPOLOGY].entry);
    if (topology->note && topology->note(v[QUEUE_TOPOLOGY].entry->values, &note))
        length += (size_t)snprintf(f->note, sizeof f->note, "%s", note.text);
    const double each = stream->rate / (double)f->servers,
                 given = warmup->in_time ? warmup->time * each
                                         : (double)warmup->jobs / (double)f->servers,
                 relaxed = relaxation(p) * each,
                 wanted = f->forecast.wanted > 0 && f->forecast.wanted < relaxed
                              ? f->forecast.wanted
                              : relaxed;
    const bool steady = !v[QUEUE_TRANSIENT].entry->kind->n_parameters;
    /* What is wanted is known within a factor of two. */
    if (length < sizeof f->note && steady && given < 0.5 * wanted && p->total < 1)
        length += (size_t)snprintf(
            f->note + length, sizeof f->note - length,
            "%sa warm-up of %.4g jobs per server leaves a bias of the empty start that more "
            "replications do not take away (by estimate %.4g would do)",
            length ? "; " : "", given, ceil(wanted));
    if (length < sizeof f->note && steady && !horizon->in_time && horizon->jobs <= stream->batch)
        length += (size_t)snprintf(
            f->note + length, sizeof f->note - length,
            "%sa horizon of %llu jobs may lie within one batch and take no time, which leaves "
            "averages over time 0",
            length ? "; " : "", (unsigned long long)horizon->jobs);
    const char *heavy = !isfinite(law->fourth)    ? "services"
                        : !breaks->heavy          ? NULL
                        : breaks->heavy[0] == 'u' ? "times up"
                                                  : "times down";
    if (length < sizeof f->note && heavy)
        length += (size_t)snprintf(f->note + length, sizeof f->note - length,
                                   "%s%s without a fourth moment: intervals of mean times are not "
                                   "valid, those of quantiles are",
                                   length ? "; " : "", heavy);
    if (length < sizeof f->note && !p->known)
        snprintf(f->note + length, sizeof f->note - length,
                 "%swhether queues are stable is not known: repeated jobs, times up that are not "
                 "exponential",
                 length ? "; " : "");
}

/* Looks at neighbours while the window is open. */
static double looks_in(const struct value *v, const struct span *horizon, double rate,
                       double mean) {
    return v[QUEUE_NEIGHBOURS].real != 0 ? span_time(horizon, rate) / (QUEUE_LOOK_STEP * mean) : 0;
}

static bool examine_looks(double looks, uint64_t n, struct reason *why, unsigned *at) {
    *at = QUEUE_NEIGHBOURS;
    return !(looks * (double)n > 1e12) ||
           refuse(why,
                  "%.3g looks at the queues of all %llu servers in a replication are too many (at "
                  "most 1e12 queues)",
                  looks, (unsigned long long)n);
}

/* Cycles of up and down are played one by one. */
static bool examine_cycles(const struct failures_facts *breaks, double cycles, struct reason *why,
                           unsigned *at) {
    *at = QUEUE_FAILURES;
    return !breaks->any || !(cycles > 1e12) ||
           refuse(why, "servers fail %.3g times in a replication (at most 1e12)", cycles);
}

bool ISA(queue_examine)(const struct value *v, const struct budget *budget, struct facts *f,
                        struct reason *why, unsigned *at) {
    struct space space;
    struct sampler_facts s = {0};
    struct arrivals_facts stream;
    struct failures_facts breaks;
    struct law_facts law;
    struct span warmup, horizon;
    *f = (struct facts){0};
    if (!ISA(queue_describe)(v, &space, why, at))
        return false;
    *at = QUEUE_TOPOLOGY;
    if (space.n > SERVERS_MAX / 4)
        return refuse(why, "%llu servers are too many for queues (at most %u)",
                      (unsigned long long)space.n, SERVERS_MAX / 4);
    const uint64_t bytes = ISA(queue_budget)(&space, budget);
    if (!examine_policy(v, &space, bytes, &s, why, at) || !examine_rates(v, &space, why, at) ||
        !examine_stream(v, &space, &stream, why, at) ||
        !examine_laws(v, &space, &breaks, &law, why, at))
        return false;
    const struct pressure p = ISA(queue_pressure)(v, &space, &stream);
    const struct transient transient = ISA(queue_transient)(v, space.n);
    if (!transient.jobs && !ISA(queue_stable)(v, &p, why, at))
        return false;
    if (!examine_transient(&transient, why, at) || !examine_neighbours(v, &space, bytes, why, at))
        return false;
    ISA(queue_spans)(v, space.n, &warmup, &horizon);
    if (!examine_spans(v, &stream, &warmup, &horizon, why, at))
        return false;
    const double jobs = transient.jobs
                            ? 1.2 * (double)transient.jobs * (double)space.n
                            : jobs_in(&warmup, stream.rate) + jobs_in(&horizon, stream.rate);
    const double cycles =
        breaks.scale > 0 ? jobs / stream.rate / breaks.scale * (double)space.n : 0;
    const double mean = ISA(queue_mean_service)(v, &stream);
    const double looks = looks_in(v, &horizon, stream.rate, mean);
    if (!examine_cycles(&breaks, cycles, why, at) || !examine_looks(looks, space.n, why, at))
        return false;
    f->servers = space.n;
    f->grain = 1;
    state_rows(v, &space, mean, &law, f);
    state_bins(v, &space, &stream, p.total, mean, f);
    state_memory(&space, &s, &stream, &breaks, bytes, v, f);
    f->nanoseconds = jobs * (7 + s.nanoseconds + stream.nanoseconds + (breaks.any ? 20 : 0) +
                             (space.n > 300000 ? 40 : 0)) +
                     300 * (double)space.n + 20 * cycles + 20000 +
                     looks * (8 * (double)space.n + 1.2 * ISA(queue_pairs)(v, &space));
    if (space.fresh)
        f->nanoseconds += space.nanoseconds;
    const struct queue_load load = {&stream, &breaks, &law,   &p,     space.n,
                                    mean,    s.draws, warmup, horizon};
    if (!transient.jobs)
        ISA(queue_forecast)(v, &load, f);
    state_note(v, &load, f);
    snprintf(f->sampler, sizeof f->sampler, "%s", s.how);
    return true;
}
