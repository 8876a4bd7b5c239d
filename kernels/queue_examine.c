/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: whether the parts of a point go together, whether its queues are stable, and what is known
 * of it before it is played. */
#include "queue.h"

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

/* ---- utilisation ---- */

/* How busy the servers are. */
struct pressure {
    double total; /* work that comes, over work that can be done */
    double
        largest; /* the same of the busiest server, for policies that know nothing of the state */
    bool routed; /* which this is */
    bool known;  /* false: no rule for these failures */
    double hold; /* mean time that a job holds a server of speed 1 */
};

static double mean_hold(const struct value *v, double speed) {
    struct sampled_law law;
    ISA(law_prepare)
    (v[QUEUE_SERVICE].entry, v[QUEUE_SERVICE_MEAN].unset ? (double)NAN : v[QUEUE_SERVICE_MEAN].real,
     &law);
    struct failures_facts facts;
    struct reason why;
    unsigned inner;
    double hold = law.facts.mean / speed;
    if (ISA(failures_examine)(v[QUEUE_FAILURES].entry, 1, &facts, &why, &inner) && facts.any)
        hold = ISA(failures_service)(v[QUEUE_FAILURES].entry, &law, speed);
    ISA(law_free)(&law);
    return hold;
}

/* Mean time that a job holds each server; speeds repeat in turn. */
static double *holds(const struct value *v, uint64_t n) {
    const struct value *speeds = &v[QUEUE_SERVICE_RATES];
    double *hold = allocate(n, sizeof *hold);
    const uint64_t different = speeds->unset ? 1 : speeds->n_reals;
    for (uint64_t i = 0; i < n; i++)
        hold[i] = i < different ? mean_hold(v, speeds->unset ? 1 : speeds->reals[i])
                                : hold[i % different];
    return hold;
}

/* Jobs per unit time at each server under a policy that knows nothing of the state. */
static void routed_rates(const struct value *v, const double *rate, uint32_t n, double *routed) {
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    const double may = v[QUEUE_REDIRECTABLE].real;
    policy->route(v[QUEUE_POLICY].entry->values, rate, n, routed);
    for (uint32_t i = 0; i < n; i++)
        routed[i] = may * routed[i] + (1 - may) * rate[i];
}

static struct pressure pressure_of(const struct value *v, const struct space *space,
                                   const struct arrivals_facts *stream) {
    const uint32_t n = (uint32_t)space->n;
    struct arrivals_wish wish = ISA(queue_wish)(v, n);
    double *rate = allocate(n, sizeof *rate), *routed = allocate(n, sizeof *routed),
           *hold = holds(v, n), capacity = 0;
    struct pressure out = {.known = true,
                           .routed = policy_of(v[QUEUE_POLICY].entry)->route != NULL &&
                                     !space_is_made(space)};
    if (stream->services)
        for (uint32_t i = 0; i < n; i++)
            hold[i] *= stream->mean_service / mean_hold(v, 1);
    ISA(arrivals_rates)(&wish, rate);
    if (out.routed)
        routed_rates(v, rate, n, routed);
    for (uint32_t i = 0; i < n; i++) {
        out.known &= !isnan(hold[i]);
        capacity += 1 / hold[i];
        const double busy = routed[i] * hold[i];
        out.largest = busy > out.largest ? busy : out.largest;
    }
    out.total = capacity > 0 ? stream->rate / capacity : (double)INFINITY;
    out.hold = hold[0];
    free((void *)(uintptr_t)wish.rate);
    free(rate);
    free(routed);
    free(hold);
    return out;
}

static bool stable(const struct value *v, const struct pressure *p, struct reason *why,
                   unsigned *at) {
    *at = v[QUEUE_LAMBDA].unset ? QUEUE_ARRIVALS : QUEUE_LAMBDA;
    if (v[QUEUE_ALLOW_UNSTABLE].real != 0 || !p->known)
        return true;
    if (p->total >= 1)
        return refuse(why,
                      "queues grow for ever: work arrives at %.6g times the rate it can be done "
                      "(allow_unstable: true plays it all the same)",
                      p->total);
    if (p->routed && p->largest >= 1)
        return refuse(
            why,
            "queues grow for ever: policy %s sends some server %.6g times the work it can "
            "do (allow_unstable: true plays it all the same)",
            v[QUEUE_POLICY].entry->kind->name, p->largest);
    return true;
}

/* ---- warm-up and horizon ---- */

/* Ten relaxation times of M/M/1. */
static double relaxation(const struct pressure *p) {
    double rho = p->routed && p->largest > p->total ? p->largest : p->total;
    rho = rho < 0.995 ? rho : 0.995;
    const double slack = 1 - sqrt(rho), hold = isfinite(p->hold) ? p->hold : 1;
    return 10 / (slack * slack) * hold;
}

static struct span span_of(const struct entry *e, uint64_t n) {
    if (!strcmp(e->kind->name, "time"))
        return (struct span){.in_time = true, .time = e->values[0].real};
    return (struct span){.jobs = value_count(&e->values[0], n)};
}

void ISA(queue_spans)(const struct value *v, uint64_t n, double rate, struct span *warmup,
                      struct span *horizon) {
    (void)rate;
    *horizon = span_of(v[QUEUE_HORIZON].entry, n);
    if (v[QUEUE_WARMUP].entry->kind->n_parameters) {
        *warmup = span_of(v[QUEUE_WARMUP].entry, n);
        return;
    }
    struct space space;
    struct reason why;
    unsigned at, inner;
    struct arrivals_facts stream;
    enum arrivals_fault fault;
    CHECK(ISA(queue_describe)(v, &space, &why, &at));
    struct arrivals_wish wish = ISA(queue_wish)(v, space.n);
    CHECK(ISA(arrivals_examine)(&wish, &stream, &why, &fault, &inner));
    free((void *)(uintptr_t)wish.rate);
    const struct pressure p = pressure_of(v, &space, &stream);
    *warmup = (struct span){.in_time = true, .time = relaxation(&p)};
}

static double jobs_in(const struct span *s, double rate) {
    return s->in_time ? s->time * rate : (double)s->jobs;
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
        warmup->jobs + horizon->jobs > stream->jobs)
        return refuse(why, "the trace has %llu jobs, fewer than warm-up and horizon take (%llu)",
                      (unsigned long long)stream->jobs,
                      (unsigned long long)(warmup->jobs + horizon->jobs));
    (void)v;
    return true;
}

/* ---- whether the parts go together ---- */

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

static bool examine_rates(const struct value *v, uint64_t n, struct reason *why, unsigned *at) {
    for (unsigned i = QUEUE_ARRIVAL_RATES; i <= QUEUE_SERVICE_RATES; i++) {
        *at = i;
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
    const bool fine = ISA(arrivals_examine)(&wish, f, why, &fault, &inner);
    free((void *)(uintptr_t)wish.rate);
    *at = blamed[fault];
    if (fault == ARRIVALS_ENTRY && inner < wish.entry->kind->n_parameters)
        *at = at_within(QUEUE_ARRIVALS, inner);
    if (!fine)
        return false;
    *at = QUEUE_ARRIVALS;
    if (f->origins && (space->form == FORM_PLANE || space->form == FORM_ARCS))
        return refuse(why,
                      "on topology %s jobs appear at uniform points, not at servers: arrivals must "
                      "be one stream with uniform origins",
                      v[QUEUE_TOPOLOGY].entry->kind->name);
    return true;
}

static bool examine_laws(const struct value *v, uint64_t n, struct failures_facts *breaks,
                         struct law_facts *law, struct reason *why, unsigned *at) {
    const struct entry *service = v[QUEUE_SERVICE].entry, *failures = v[QUEUE_FAILURES].entry;
    unsigned inner = UINT32_MAX;
    bool fine = law_of(service->kind)->examine(service->values, law, why, &inner);
    *at = inner < service->kind->n_parameters ? at_within(QUEUE_SERVICE, inner) : QUEUE_SERVICE;
    if (!fine)
        return false;
    inner = UINT32_MAX;
    fine = ISA(failures_examine)(failures, n, breaks, why, &inner);
    *at = inner < failures->kind->n_parameters ? at_within(QUEUE_FAILURES, inner) : QUEUE_FAILURES;
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
    (void)v;
}

static void state_bins(const struct space *space, double rho, struct facts *f) {
    enum { LOAD_BINS = BINS_EXACT + 20 * BINS_PER_DOUBLING };
    const double tail = rho < 0.999 ? rho : 0.999;
    const uint64_t likely = (uint64_t)(-25 / log(tail > 0.01 ? tail : 0.01)) + 8;
    f->bins[TIME_LOAD] = f->bins[COUNT_LOAD_ORIGIN] = f->bins[COUNT_LOAD_CHOSEN] = LOAD_BINS;
    f->bins[COUNT_RESPONSE] = TIME_BINS;
    f->bins[SUM_PATH] = PATH_TIMES;
    f->bins[SUM_SERVER_QUEUE] = space->n;
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
        .measures = tables};
    shape.breaks.memory = breaks->any ? breaks->memory : 0;
    f->bytes_thread = ISA(queue_bytes)(&shape, ISA(queue_first_slots)(&shape));
    const uint64_t own = space->bytes + s->bytes + (tables ? ISA(hops_bytes)(space, budget) : 0);
    f->bytes_shared = (space->fresh ? 0 : own) + stream->bytes + (breaks->any ? breaks->bytes : 0);
    f->bytes_fresh = space->fresh ? own : 0;
    f->bytes_making = s->making > space->bytes_making ? s->making : space->bytes_making;
}

static void state_note(const struct value *v, const struct pressure *p, const struct span *warmup,
                       double rate, const struct law_facts *law, struct facts *f) {
    size_t length = 0;
    struct reason note;
    const struct topology *topology = topology_of(v[QUEUE_TOPOLOGY].entry);
    if (topology->note && topology->note(v[QUEUE_TOPOLOGY].entry->values, &note))
        length += (size_t)snprintf(f->note, sizeof f->note, "%s", note.text);
    const double given = warmup->in_time ? warmup->time : (double)warmup->jobs / rate,
                 wanted = relaxation(p);
    if (length < sizeof f->note && given < 0.999 * wanted && p->total < 1)
        length += (size_t)snprintf(
            f->note + length, sizeof f->note - length,
            "%sa warm-up of %.4g time units leaves a bias of the empty start that more "
            "replications "
            "do not take away; 10/(1 - sqrt(rho))^2 services are %.4g (%.4g jobs per server)",
            length ? "; " : "", given, wanted, ceil(wanted * v[QUEUE_LAMBDA].real));
    if (length < sizeof f->note && !isfinite(law->fourth))
        snprintf(f->note + length, sizeof f->note - length,
                 "%sservices without a fourth moment: intervals of mean times are not valid, those "
                 "of quantiles are",
                 length ? "; " : "");
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
    if (!examine_policy(v, &space, bytes, &s, why, at) || !examine_rates(v, space.n, why, at) ||
        !examine_stream(v, &space, &stream, why, at) ||
        !examine_laws(v, space.n, &breaks, &law, why, at))
        return false;
    const struct pressure p = pressure_of(v, &space, &stream);
    if (!stable(v, &p, why, at))
        return false;
    ISA(queue_spans)(v, space.n, stream.rate, &warmup, &horizon);
    if (!examine_spans(v, &stream, &warmup, &horizon, why, at))
        return false;
    const double jobs = jobs_in(&warmup, stream.rate) + jobs_in(&horizon, stream.rate);
    f->servers = space.n;
    f->grain = 1;
    state_rows(v, &space,
               stream.services               ? stream.mean_service
               : v[QUEUE_SERVICE_MEAN].unset ? law.mean
                                             : v[QUEUE_SERVICE_MEAN].real,
               &law, f);
    state_bins(&space, p.total, f);
    state_memory(&space, &s, &stream, &breaks, bytes, v, f);
    f->nanoseconds = jobs * (22 + s.nanoseconds + stream.nanoseconds + (breaks.any ? 20 : 0) +
                             (space.n > 300000 ? 40 : 0)) +
                     300 * (double)space.n + 20000;
    if (space.fresh)
        f->nanoseconds += space.nanoseconds;
    state_note(v, &p, &warmup, stream.rate, &law, f);
    snprintf(f->sampler, sizeof f->sampler, "%s", s.how);
    return true;
}
