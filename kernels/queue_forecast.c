/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: how long a run must be. Estimates, by a factor of two or so, from formulas for the time
 * average of the number of jobs:
 *   M/M/1        squared relative standard error over a time T: 2 (1 + rho) / (rho (1 - rho)^2) / T
 *                mean services (asymptotic variance 2 rho (1 + rho) / (1 - rho)^4, Whitt, "Planning
 *                queueing simulations", Management Science 35(11), 1989); relaxation time
 *                1 / (1 - sqrt(rho))^2
 *   other laws   both times (c_a^2 + c_s^2) / 2, as in heavy traffic
 *   history only n independent queues
 *   two choices  jobs per server change as if the law were always that of the mean field of the
 *                supermarket model at the load rho which gives their number q: relaxation time
 *                dq/drho (simulation: up to three times that with k = 1 on a ring; 4 are taken);
 *                with other laws the factor above to the power 3/2, as simulation has it
 *   all choices  one M/M/n queue
 * Nothing relaxes faster than M/M/n or more slowly than M/M/1. */
#include "queue.h"

#include <math.h>

/* Probability that a job waits in M/M/n (Erlang C). */
static double waits(double rho, uint64_t n) {
    enum { SERVERS = 100000 }; /* more of them: nobody does unless rho is next to 1 */
    double inverse = 1;
    for (uint64_t k = 1; k <= n && n <= SERVERS && inverse < 1e30; k++)
        inverse = 1 + inverse * (double)k / (rho * (double)n);
    const double lost = n <= SERVERS ? 1 / inverse : 0;
    return lost / (1 - rho * (1 - lost));
}

/* M/M/n between n servers of their own and one of n times the speed: the asymptotic variances add
 * like standard errors. 0.65 to 1.06 of the exact one of a birth and death process for rho from .2
 * to .99 and n to 1000. */
static double one_queue(double rho, double n) {
    const double wait = waits(rho, (uint64_t)n), idle = 1 - rho, mean = n * rho + wait * rho / idle,
                 many = sqrt(2 * n * rho * (1 - wait)),
                 one = sqrt(wait * 2 * rho * (1 + rho) / n) / (idle * idle);
    return (many + one) * (many + one) / (mean * mean);
}

/* Mean field of two choices: q = sum_k rho^(2^k - 1) jobs per server, and its slope. */
static double two_choices(double rho, double *slope) {
    double jobs = 0, power = 1, term = 1; /* term: rho^(power - 1) */
    *slope = 0;
    for (unsigned k = 1; k < 40; k++) {
        jobs += rho * term;
        *slope += power * term;
        power = 2 * power + 1;
        term *= term * rho * rho;
    }
    return jobs;
}

static double independent(double rho, double servers) {
    return 2 * (1 + rho) / (rho * (1 - rho) * (1 - rho)) / servers;
}

static bool is_law(const struct kind *kind) {
    bool found = false;
    for (unsigned i = 0; i < ISA(laws).n_kinds; i++)
        found |= ISA(laws).kinds[i] == kind;
    return found;
}

/* Variance over mean of the number of jobs that come in a long time; NaN: not known. */
static double dispersion(const struct value *v, const struct arrivals_facts *stream) {
    const struct entry *e = v[QUEUE_ARRIVALS].entry;
    struct law_facts f;
    struct reason why;
    unsigned at;
    if (stream->poisson)
        return 1;
    if (stream->batch)
        return (double)stream->batch;
    if (!is_law(e->kind) || !law_of(e->kind)->examine(e->values, &f, &why, &at))
        return (double)NAN;
    return f.second / (f.mean * f.mean) - 1;
}

/* Squared coefficient of variation of the time that a job holds its server; times down count as
 * exponential. */
static double variability(const struct queue_load *p) {
    const struct law_facts *s = p->service;
    const double scv = s->second / (s->mean * s->mean) - 1;
    if (!p->breaks->any || !(p->breaks->scale > 0))
        return scv;
    const double up = p->breaks->availability * p->breaks->scale, down = p->breaks->scale - up,
                 hold = 1 + down / up;
    return scv + 2 * down * down / (up * p->mean * hold * hold);
}

/* A start in step, or one that is scripted, is not forgotten, and a beat never ends. */
static bool settles(const struct value *v, const struct queue_load *p) {
    const struct entry *arrivals = v[QUEUE_ARRIVALS].entry, *down = v[QUEUE_FAILURES].entry;
    bool beat = is_law(arrivals->kind) && law_of(arrivals->kind)->lattice, laws = false,
         all_beat = true;
    for (unsigned i = 0; i < down->kind->n_parameters; i++)
        if (down->kind->parameters[i].catalogue == &ISA(laws)) {
            laws = true;
            all_beat &= law_of(down->values[i].entry->kind)->lattice;
        }
    beat |= laws && all_beat;
    return !beat && v[QUEUE_SYNCHRONISED].real == 0 && p->stream->jobs == UINT64_MAX &&
           (!p->breaks->any || p->breaks->scale > 0);
}

/* Steps of the path that lie after the warm-up; where that counts jobs, it ends a little earlier or
 * later in each replication. */
static struct path_steps path_of(double warmup, double horizon) {
    const double before = warmup / (warmup + horizon) * PATH_TIMES;
    struct path_steps p = {.before = (unsigned)ceil(before - 1e-9)};
    p.counted = PATH_TIMES - p.before;
    return p;
}

void ISA(queue_forecast)(const struct value *v, const struct queue_load *p, struct facts *f) {
    const double n = (double)p->n, each = p->stream->rate / n;
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    const bool sees_all = policy->queues && !p->draws,
               alone = policy->route || (!sees_all && !p->draws);
    const double total = p->pressure->total,
                 busiest = p->pressure->routed ? p->pressure->largest : 0,
                 rho = busiest > total ? busiest : total;
    f->forecast = (struct forecast){
        .before = p->warmup.in_time ? p->warmup.time * each : (double)p->warmup.jobs / n,
        .counted = p->horizon.in_time ? p->horizon.time * each : (double)p->horizon.jobs / n};
    if (!(rho < 1) || !p->pressure->known)
        return;
    if (settles(v, p))
        f->path = path_of(f->forecast.before, f->forecast.counted);
    const double factor = (dispersion(v, p->stream) + variability(p)) / 2;
    if (!isfinite(factor))
        return;
    double slope;
    const double service = rho, /* a mean service in jobs per server */
        jobs = two_choices(rho, &slope), central = one_queue(rho, n),
                 pairs = 2 * rho * (slope / jobs) * (slope / jobs) / n,
                 slowest = 1 / ((1 - sqrt(rho)) * (1 - sqrt(rho))),
                 relaxed = alone ? slowest : fmin(slowest, fmax(slowest / n, 4 * slope));
    f->forecast.wanted = 10 * relaxed * service * (factor > 1 ? factor : 1);
    f->forecast.spread = service * factor *
                         (alone ? independent(rho, rho > 1.001 * total ? 1 : n)
                          : sees_all || central > pairs ? central
                                                        : pairs * sqrt(factor));
}
