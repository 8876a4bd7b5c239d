/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mmpp{rates, switch}: a Poisson stream whose rate changes with the state of a Markov chain that
 * goes round a cycle of states (Fischer and Meier-Hellstern, "The Markov-modulated Poisson process
 * (MMPP) cookbook", Performance Evaluation 18, 1993). One stream for all servers, or one for each,
 * with a chain of its own (arrivals_merge.h; about 200 bytes a server, up to 860 for few of them).
 * Job j of a stream comes when the cumulated rate reaches the sum of j + 1 exponential values of mean
 * 1, so jobs and states take words of their own. Chains start in equilibrium. */
#include "arrivals_merge.h"

#include <math.h>

enum { MMPP_RATES, MMPP_SWITCH, MMPP_PARAMETERS };
enum { STATES_MAX = 64, STAYS_KEPT = 16 };
/* Between two jobs of a stream, in the mean; and jobs of a stream in a cycle of states. */
static const double CHANGES_MAX = 1e6, JOBS_MAX = 1e12;

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

/* The stay in a state that is under way. */
struct chain {
    double since, cumulated;       /* its beginning, and the cumulated rate then */
    double until, cumulated_until; /* the same of the next */
    uint64_t stays;                /* begun so far */
    unsigned state;
};

/* Begins a stay in c->state; `stay` is its share of the mean. */
static void enter(const struct arrivals *a, struct chain *c, double stay) {
    c->stays++;
    c->since = c->until;
    c->cumulated = c->cumulated_until;
    c->until += stay * a->state_mean[c->state];
    c->cumulated_until += stay * a->state_mean[c->state] * a->state_rate[c->state];
}

/* A chain at time 0 that has not entered its state. */
static struct chain chain_begin(const struct arrivals *a, struct stream s, uint32_t number) {
    const double u = (rng_word(s, PURPOSE_ARRIVAL, LANES_STATE, number) + 0.5) * 0x1p-32;
    struct chain c = {0};
    while (c.state + 1 < a->states && u >= a->state_share[c.state])
        c.state++;
    return c;
}

static void step(const struct arrivals *a, struct chain *c) {
    c->state = c->state + 1 < a->states ? c->state + 1 : 0;
}

/* When the cumulated rate reaches a level, which is in the stay that is under way. */
static double time_of(const struct arrivals *a, const struct chain *c, double level) {
    const double time = c->since + (level - c->cumulated) / a->state_rate[c->state];
    return time < c->until ? time : c->until; /* rounding */
}

/* One stream for all. State of a replication. */
struct modulation {
    double sum; /* of the exponential values so far */
    struct chain chain;
    double stay[CHUNK]; /* of the states to come */
};

static void enter_next(const struct arrivals *a, struct modulation *m, struct stream s) {
    const uint32_t j = (uint32_t)(m->chain.stays % CHUNK);
    const struct words w = {s, PURPOSE_ARRIVAL, LANES_SWITCH};
    if (j == 0)
        a->stay.law->draw(&a->stay, w, m->chain.stays, CHUNK, m->stay);
    enter(a, &m->chain, m->stay[j]);
}

static void begin(const struct arrivals *a, void *memory, struct stream s) {
    struct modulation *m = memory;
    m->sum = 0;
    m->chain = chain_begin(a, s, 0);
    enter_next(a, m, s);
}

static uint32_t next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service) {
    struct modulation *m = memory;
    (void)service;
    ISA(arrivals_gaps)(a, s, first, BLOCK, &m->sum, time);
    for (uint32_t i = 0; i < BLOCK; i++) {
        while (time[i] >= m->chain.cumulated_until) {
            step(a, &m->chain);
            enter_next(a, m, s);
        }
        time[i] = time_of(a, &m->chain, time[i]);
    }
    if (a->share)
        ISA(arrivals_origins)(a, s, first, BLOCK, origin);
    return BLOCK;
}

/* A stream for each server. Its next arrival, and the number of the exponential value after it. */
struct head {
    double time, sum;
    uint64_t gap;
    struct chain chain;
};

/* What the merge keeps for the streams; the arrays follow it. */
struct modulations {
    unsigned now;         /* which heads count */
    struct head *head[2]; /* [n] before and after a window: one that turns out too full is undone */
    struct lanes gaps, stays;
    struct lane_values gap, stay;
};

static struct lanes gaps_of(const struct sampled_law *law, uint64_t n) {
    return lanes_of(law, PURPOSE_ARRIVAL, n, CHUNK);
}
static struct lanes stays_of(const struct sampled_law *law, uint64_t n) {
    struct lanes l = lanes_of(law, PURPOSE_ARRIVAL, n, STAYS_KEPT);
    l.lane = LANES_SWITCHES;
    return l;
}

static uint64_t modulated_memory(uint64_t n) {
    const struct lanes gaps = gaps_of(NULL, n), stays = stays_of(NULL, n);
    return ISA(merge_memory)(n) + sizeof(struct modulations) + 2 * n * sizeof(struct head) +
           lanes_memory(&gaps) + lanes_memory(&stays);
}

static void enter_own(const struct arrivals *a, const struct modulations *m, struct stream s,
                      uint32_t server, struct chain *c) {
    enter(a, c, lanes_value(&m->stays, m->stay, s, server, c->stays));
}

/* Goes on to the next arrival of a server. A rate r times as high is reached by values r times as
 * small. */
static void advance(const struct arrivals *a, const struct modulations *m, struct stream s,
                    uint32_t server, struct head *h) {
    const double value = lanes_value(&m->gaps, m->gap, s, server, h->gap++);
    h->sum += a->stretch ? value * a->stretch[server] : value;
    while (h->sum >= h->chain.cumulated_until) {
        step(a, &h->chain);
        enter_own(a, m, s, server, &h->chain);
    }
    h->time = time_of(a, &h->chain, h->sum);
}

static bool gather(const struct arrivals *a, struct merge *m, struct stream s, double end,
                   double *first) {
    struct modulations *own = m->streams;
    const struct head *from = own->head[own->now];
    struct head *to = own->head[!own->now];
    uint32_t count = 0;
    *first = (double)INFINITY;
    for (uint32_t i = 0; i < a->n; i++) {
        struct head h = from[i];
        for (; h.time < end; advance(a, own, s, i, &h)) {
            if (count == m->room && !m->crowded)
                return false;
            if (count == m->room)
                break;
            m->arrival[count++] = (struct arrival){h.time, i};
        }
        *first = h.time < *first ? h.time : *first;
        to[i] = h;
    }
    own->now = !own->now;
    m->ready = count;
    return true;
}

static void modulated_begin(const struct arrivals *a, void *memory, struct stream s) {
    struct merge *m = memory;
    ISA(merge_begin)(m, a->n);
    m->gather = gather;
    struct modulations *own = m->streams;
    own->now = 0;
    own->head[0] = (struct head *)(own + 1);
    own->head[1] = own->head[0] + a->n;
    own->gaps = gaps_of(&a->gap, a->n);
    own->stays = stays_of(&a->stay, a->n);
    char *rest = (char *)(own->head[1] + a->n);
    own->gap = lanes_at(&own->gaps, rest, true);
    own->stay = lanes_at(&own->stays, rest + lanes_memory(&own->gaps), true);
    for (uint32_t i = 0; i < a->n; i++) {
        struct head *h = &own->head[0][i];
        *h = (struct head){.time = (double)INFINITY, .chain = chain_begin(a, s, i)};
        if (a->stretch && a->stretch[i] > 0x1p1000)
            continue;
        enter_own(a, own, s, i, &h->chain);
        advance(a, own, s, i, h);
    }
}

static uint32_t modulated_next(const struct arrivals *a, void *memory, struct stream s,
                               uint64_t first, double *time, uint32_t *origin, double *service) {
    (void)first, (void)service;
    ISA(merge_next)(a, memory, s, time, origin);
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

/* Rates of the slowest and the fastest stream. */
static void stream_rates(const struct arrivals_wish *w, double rate, double *least, double *most) {
    *least = *most = w->total ? rate : w->lambda;
    if (w->total || !w->rate)
        return;
    *least = (double)INFINITY;
    *most = 0;
    for (uint64_t i = 0; i < w->n; i++) {
        const double own = w->lambda * w->rate[i];
        *least = own > 0 && own < *least ? own : *least;
        *most = own > *most ? own : *most;
    }
}

static bool examine(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner) {
    const struct value *v = w->entry->values;
    const unsigned states = v[MMPP_RATES].n_reals, given = v[MMPP_SWITCH].n_reals;
    double least, most;
    (void)fault;
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
    const double cycle = over_cycle(v, NULL);
    stream_rates(w, f->rate, &least, &most);
    *inner = MMPP_SWITCH;
    if (states / cycle > CHANGES_MAX * least)
        return refuse(why, "states change %.3g times between two jobs of a stream (at most %.0e)",
                      states / cycle / least, CHANGES_MAX);
    if (most * cycle > JOBS_MAX)
        return refuse(why, "a cycle of states lasts for %.3g jobs of a stream (at most %.0e)",
                      most * cycle, JOBS_MAX);
    f->scale = cycle;
    f->memory = sizeof(struct modulation);
    f->nanoseconds = 12 + 8 * states / cycle / least;
    return true;
}

static bool modulated_examine(const struct arrivals_wish *w, struct arrivals_facts *f,
                              struct reason *why, enum arrivals_fault *fault, unsigned *inner) {
    if (!examine(w, f, why, fault, inner))
        return false;
    f->independent = false;
    f->origins = true;
    f->bytes = sizeof(struct arrivals) + (w->rate ? w->n * sizeof(double) : 0);
    f->memory = modulated_memory(w->n);
    f->nanoseconds += w->n <= 1 << 14 ? 60 : 150;
    return true;
}

/* The cycle of states for streams of this rate. */
static void prepare_cycle(const struct value *v, double rate, struct arrivals *a) {
    const double *rates = v[MMPP_RATES].reals;
    const double cycle = over_cycle(v, NULL), mean = over_cycle(v, rates) / cycle;
    a->states = v[MMPP_RATES].n_reals;
    a->state_rate = allocate(a->states, sizeof *a->state_rate);
    a->state_share = allocate(a->states, sizeof *a->state_share);
    a->state_mean = allocate(a->states, sizeof *a->state_mean);
    double share = 0;
    for (unsigned i = 0; i < a->states; i++) {
        a->state_rate[i] = rates[i] / mean * rate;
        a->state_mean[i] = 1 / leaving(v, i);
        a->state_share[i] = share += a->state_mean[i] / cycle;
    }
    ISA(arrivals_exponential)(1, &a->gap);
    ISA(arrivals_exponential)(1, &a->stay);
}

static void prepare(const struct arrivals_wish *w, struct arrivals *a) {
    prepare_cycle(w->entry->values, a->rate, a);
}

static void modulated_prepare(const struct arrivals_wish *w, struct arrivals *a) {
    prepare_cycle(w->entry->values, w->lambda, a);
    a->stretch = w->rate ? ISA(arrivals_stretch)(w) : NULL;
}

extern const struct stream_kind ISA(stream_mmpp), ISA(stream_modulated);
const struct stream_kind ISA(stream_mmpp) = {
    .kind = {"mmpp", "Poisson streams whose rate goes round a cycle of states",
             "Fischer and Meier-Hellstern, Performance Evaluation 18, 1993", parameters,
             MMPP_PARAMETERS},
    .examine = examine,
    .prepare = prepare,
    .begin = begin,
    .next = next};
const struct stream_kind ISA(stream_modulated) = {.examine = modulated_examine,
                                                  .prepare = modulated_prepare,
                                                  .begin = modulated_begin,
                                                  .next = modulated_next};
