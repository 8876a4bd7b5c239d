/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mmpp{rates, switch}: a Poisson stream whose rate changes with the state of a Markov chain that
 * goes round a cycle of states (Fischer and Meier-Hellstern, "The Markov-modulated Poisson process
 * (MMPP) cookbook", Performance Evaluation 18, 1993). One stream for all servers. Job j comes when
 * the cumulated rate reaches the sum of j + 1 exponential values of mean 1, so jobs and states take
 * words of their own. The chain starts in equilibrium. */
#include "arrivals_parts.h"

#include <math.h>

enum { MMPP_RATES, MMPP_SWITCH, MMPP_PARAMETERS };
enum { STATES_MAX = 64 };

static const struct parameter parameters[MMPP_PARAMETERS] = {
    [MMPP_RATES] = {.name = "rates",
                    .type = TYPE_REALS,
                    .lower = 0,
                    .upper = 1e12,
                    .units = "1",
                    .meaning = "rates of arrivals in the states of the cycle, to each other; their "
                               "mean over time becomes lambda"},
    [MMPP_SWITCH] = {.name = "switch",
                     .type = TYPE_REALS,
                     .lower = 1e-12,
                     .upper = 1e12,
                     .units = "1/time",
                     .meaning = "rate at which each state is left for the next (one number: all "
                                "states alike)"},
};

/* State of a replication. */
struct modulation {
    double sum;                    /* of the exponential values so far */
    double since, cumulated;       /* beginning of the state, and the cumulated rate then */
    double until, cumulated_until; /* the same of the next state */
    unsigned state;
    uint64_t switches;
    double stay[CHUNK]; /* of the states to come */
};

/* Goes on to the next stay: `state` is set. */
static void enter(const struct arrivals *a, struct modulation *m, struct stream s) {
    const uint32_t j = (uint32_t)(m->switches % CHUNK);
    const struct words w = {s, PURPOSE_ARRIVAL, LANES_SWITCH};
    if (j == 0)
        a->stay.law->draw(&a->stay, w, m->switches, CHUNK, m->stay);
    m->switches++;
    m->since = m->until;
    m->cumulated = m->cumulated_until;
    const double stay = m->stay[j] * a->state_mean[m->state];
    m->until += stay;
    m->cumulated_until += stay * a->state_rate[m->state];
}

static void begin(const struct arrivals *a, void *memory, struct stream s) {
    struct modulation *m = memory;
    const double u = (rng_word(s, PURPOSE_ARRIVAL, LANES_STATE, 0) + 0.5) * 0x1p-32;
    m->sum = m->until = m->cumulated_until = 0;
    m->switches = 0;
    m->state = 0;
    while (m->state + 1 < a->states && u >= a->state_share[m->state])
        m->state++;
    enter(a, m, s);
}

static uint32_t next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service) {
    struct modulation *m = memory;
    (void)service;
    ISA(arrivals_gaps)(a, s, first, BLOCK, &m->sum, time);
    for (uint32_t i = 0; i < BLOCK; i++) {
        while (time[i] >= m->cumulated_until) {
            m->state = m->state + 1 < a->states ? m->state + 1 : 0;
            enter(a, m, s);
        }
        time[i] = m->since + (time[i] - m->cumulated) / a->state_rate[m->state];
    }
    if (a->share)
        ISA(arrivals_origins)(a, s, first, BLOCK, origin);
    return BLOCK;
}

static double leaving(const struct value *v, unsigned state) {
    return v[MMPP_SWITCH].reals[v[MMPP_SWITCH].n_reals == 1 ? 0 : state];
}

/* Sum over states of the mean stay times `rate` of the state (1: NULL). */
static double over_cycle(const struct value *v, const double *rate) {
    double sum = 0;
    for (unsigned i = 0; i < v[MMPP_RATES].n_reals; i++)
        sum += (rate ? rate[i] : 1) / leaving(v, i);
    return sum;
}

static bool examine(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner) {
    const struct value *v = w->entry->values;
    const unsigned states = v[MMPP_RATES].n_reals, given = v[MMPP_SWITCH].n_reals;
    *fault = ARRIVALS_SCOPE;
    if (!w->total)
        return refuse(why, "mmpp is one stream for all servers (allowed: arrival_scope: total)");
    *fault = ARRIVALS_ENTRY;
    *inner = MMPP_RATES;
    if (states < 2 || states > STATES_MAX)
        return refuse(why, "mmpp with %u rate%s (allowed: 2 to %d)", states, states == 1 ? "" : "s",
                      STATES_MAX);
    *inner = MMPP_SWITCH;
    if (given != 1 && given != states)
        return refuse(why, "mmpp with %u rates and %u switches (allowed: one for all, or %u)",
                      states, given, states);
    *inner = MMPP_RATES;
    if (over_cycle(v, v[MMPP_RATES].reals) <= 0)
        return refuse(why, "mmpp whose rates are all 0");
    f->independent = true;
    f->scale = over_cycle(v, NULL);
    f->memory = sizeof(struct modulation);
    f->nanoseconds = 12;
    return true;
}

static void prepare(const struct arrivals_wish *w, struct arrivals *a) {
    const struct value *v = w->entry->values;
    const double *rates = v[MMPP_RATES].reals;
    const double cycle = over_cycle(v, NULL), mean = over_cycle(v, rates) / cycle;
    a->states = v[MMPP_RATES].n_reals;
    a->state_rate = allocate(a->states, sizeof *a->state_rate);
    a->state_share = allocate(a->states, sizeof *a->state_share);
    a->state_mean = allocate(a->states, sizeof *a->state_mean);
    double share = 0;
    for (unsigned i = 0; i < a->states; i++) {
        a->state_rate[i] = rates[i] / mean * a->rate;
        a->state_mean[i] = 1 / leaving(v, i);
        a->state_share[i] = share += a->state_mean[i] / cycle;
    }
    ISA(arrivals_exponential)(1, &a->gap);
    ISA(arrivals_exponential)(1, &a->stay);
}

extern const struct stream_kind ISA(stream_mmpp);
const struct stream_kind ISA(stream_mmpp) = {
    .kind = {"mmpp", "a Poisson stream whose rate goes round a cycle of states",
             "Fischer and Meier-Hellstern, Performance Evaluation 18, 1993", parameters,
             MMPP_PARAMETERS},
    .examine = examine,
    .prepare = prepare,
    .begin = begin,
    .next = next};
