/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: how busy servers are, and whether their queues are stable. A job holds its server for a mean
 * time h, failures included (failures_service()). Policies that know nothing of the state: every
 * server i must get less than 1 / h_i jobs per unit time. The others: all servers together less than
 * sum 1 / h_i, and each less than 1 / h_i from the jobs that must stay where they arrive.
 *
 * Where jobs come to points, servers have the expected rates until the points are there; then they
 * have those of their arcs, and on the plane of their cells, measured by 64 points for each server on
 * average: within some 3 % for a cell of the mean size, 1 % for one three times as large. */
#include "queue.h"

#include "sites.h"

#include <math.h>
#include <stdlib.h>

enum { MEASURES_A_SIDE = 8 }; /* squared, for each server */

/* Mean time that a job holds a server; where no rule is known, what it is at least. */
static double mean_hold(const struct value *v, double speed, bool *known) {
    struct sampled_law law;
    ISA(law_prepare)
    (v[QUEUE_SERVICE].entry, v[QUEUE_SERVICE_MEAN].unset ? (double)NAN : v[QUEUE_SERVICE_MEAN].real,
     &law);
    struct failures_facts facts;
    struct reason why;
    unsigned inner;
    double hold = law.facts.mean / speed;
    if (ISA(failures_examine)(v[QUEUE_FAILURES].entry, 1, &facts, &why, &inner) && facts.any) {
        const double rule = ISA(failures_service)(v[QUEUE_FAILURES].entry, &law, speed);
        *known &= !isnan(rule);
        hold = isnan(rule) ? hold / facts.availability : rule;
    }
    ISA(law_free)(&law);
    return hold;
}

/* The same for each server; speeds repeat in turn. */
static double *holds(const struct value *v, uint64_t n, bool *known) {
    const struct value *speeds = &v[QUEUE_SERVICE_RATES];
    double *hold = allocate(n, sizeof *hold);
    const uint64_t different = speeds->unset ? 1 : speeds->n_reals;
    for (uint64_t i = 0; i < n; i++)
        hold[i] = i < different ? mean_hold(v, speeds->unset ? 1 : speeds->reals[i], known)
                                : hold[i % different];
    return hold;
}

/* Jobs of a uniform stream at the servers of points that are made. */
static void rates_of_sites(const struct sites *s, double total, double *rate) {
    const uint64_t n = s->n;
    if (s->ids > 0) {
        for (uint64_t i = 0; i < n; i++)
            rate[i] = total * ((double)s->share[i] * 0x1p-64);
        return;
    }
    const uint32_t side = MEASURES_A_SIDE * (uint32_t)ceil(sqrt((double)n));
    const double step = 0x1p31 / side, each = total / side / side;
    for (uint64_t i = 0; i < n; i++)
        rate[i] = 0;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++)
            rate[plane_nearest(s, (uint32_t)((i + 0.5) * step), (uint32_t)((j + 0.5) * step))] +=
                each;
}

/* Jobs per unit time at each server under a policy that knows nothing of the state. */
static void routed_rates(const struct value *v, const double *rate, uint32_t n, double *routed) {
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    const double may = v[QUEUE_REDIRECTABLE].real;
    policy->route(v[QUEUE_POLICY].entry->values, rate, n, routed);
    for (uint32_t i = 0; i < n; i++)
        routed[i] = may * routed[i] + (1 - may) * rate[i];
}

struct pressure ISA(queue_pressure)(const struct value *v, const struct space *space,
                                    const struct arrivals_facts *stream) {
    const uint32_t n = (uint32_t)space->n;
    struct arrivals_wish wish = ISA(queue_wish)(v, n);
    struct pressure out = {.known = true};
    double *rate = allocate(n, sizeof *rate), *routed = allocate(n, sizeof *routed),
           *hold = holds(v, n, &out.known), capacity = 0;
    const double stay = 1 - v[QUEUE_REDIRECTABLE].real;
    bool ignored;
    /* How many servers there are is known. */
    out.routed =
        policy_of(v[QUEUE_POLICY].entry)->route != NULL && (!space->varies || space->graph != NULL);
    if (stream->services) {
        const double mean = mean_hold(v, 1, &ignored);
        for (uint32_t i = 0; i < n; i++)
            hold[i] *= stream->mean_service / mean;
    }
    ISA(arrivals_rates)(&wish, rate);
    if (space->sites)
        rates_of_sites(space->sites, stream->rate, rate);
    if (out.routed)
        routed_rates(v, rate, n, routed);
    for (uint32_t i = 0; i < n; i++) {
        capacity += 1 / hold[i];
        const double busy = routed[i] * hold[i], stays = stay * rate[i] * hold[i];
        out.largest = busy > out.largest ? busy : out.largest;
        out.staying = stay > 0 && stays > out.staying ? stays : out.staying;
    }
    out.total = capacity > 0 ? stream->rate / capacity : (double)INFINITY;
    out.hold = hold[0];
    free((void *)(uintptr_t)wish.rate);
    free(rate);
    free(routed);
    free(hold);
    return out;
}

bool ISA(queue_stable)(const struct value *v, const struct pressure *p, struct reason *why,
                       unsigned *at) {
    static const char all_the_same[] = "(allow_unstable: true plays it all the same)";
    *at = v[QUEUE_LAMBDA].unset ? QUEUE_ARRIVALS : QUEUE_LAMBDA;
    if (v[QUEUE_ALLOW_UNSTABLE].real != 0)
        return true;
    if (isinf(p->hold)) {
        *at = QUEUE_FAILURES;
        return refuse(why,
                      "queues grow for ever: jobs of law %s that are repeated from the start are "
                      "never done in the mean, whatever lambda %s",
                      v[QUEUE_SERVICE].entry->kind->name, all_the_same);
    }
    if (isinf(p->total))
        return refuse(why, "queues grow for ever: all jobs of the trace come at time 0 %s",
                      all_the_same);
    if (p->total >= 1)
        return refuse(why,
                      "queues grow for ever: work arrives at %.6g times the rate it can be done %s",
                      p->total, all_the_same);
    if (p->routed && p->largest >= 1)
        return refuse(
            why,
            "queues grow for ever: policy %s sends some server %.6g times the work it can do %s",
            v[QUEUE_POLICY].entry->kind->name, p->largest, all_the_same);
    if (p->staying >= 1)
        return refuse(why,
                      "queues grow for ever: the jobs that must stay bring some server %.6g times "
                      "the work it can do %s",
                      p->staying, all_the_same);
    return true;
}

bool ISA(queue_sustains)(const struct value *v, const struct space *space, struct reason *why) {
    const bool points = space->sites != NULL;
    struct arrivals_wish wish = ISA(queue_wish)(v, space->n);
    struct arrivals_facts stream;
    enum arrivals_fault fault;
    unsigned inner;
    CHECK(ISA(arrivals_examine)(&wish, &stream, why, &fault, &inner));
    free((void *)(uintptr_t)wish.rate);
    if (v[QUEUE_ALLOW_UNSTABLE].real != 0 || v[QUEUE_TRANSIENT].entry->kind->n_parameters ||
        !(points || space->varies) ||
        (points && !policy_of(v[QUEUE_POLICY].entry)->route && v[QUEUE_REDIRECTABLE].real >= 1))
        return true;
    const struct pressure p = ISA(queue_pressure)(v, space, &stream);
    return ISA(queue_stable)(v, &p, why, &inner);
}
