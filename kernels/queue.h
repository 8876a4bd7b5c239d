/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Queues: what the model and its parts share. */
#ifndef POTLUCK_QUEUE_H
#define POTLUCK_QUEUE_H

#include "arrivals.h"
#include "bins.h"
#include "failures.h"
#include "hops.h"
#include "kernel.h"
#include "law.h"
#include "near.h"
#include "sampler.h"

enum queue_parameter {
    QUEUE_TOPOLOGY,
    QUEUE_POLICY,
    QUEUE_TIES,
    QUEUE_LAMBDA,
    QUEUE_ARRIVALS,
    QUEUE_ARRIVAL_SCOPE,
    QUEUE_SYNCHRONISED,
    QUEUE_SERVICE,
    QUEUE_SERVICE_MEAN,
    QUEUE_REDIRECTABLE,
    QUEUE_ARRIVAL_RATES,
    QUEUE_SERVICE_RATES,
    QUEUE_FAILURES,
    QUEUE_WARMUP,
    QUEUE_HORIZON,
    QUEUE_ALLOW_UNSTABLE,
    QUEUE_EXCESS,
    QUEUE_TRANSIENT,
    QUEUE_NEIGHBOURS,
    QUEUE_PARAMETERS
};

/* Of response and of waiting, in this order. */
enum { MOMENT_MEAN, MOMENT_SECOND, MOMENT_EXCESS, MOMENTS, TIME_QUANTILES = 4 };
enum { TIME_ROWS = MOMENTS + TIME_QUANTILES };
enum queue_row {
    QUEUE_RESPONSE,
    QUEUE_WAITING = QUEUE_RESPONSE + TIME_ROWS,
    QUEUE_LENGTH = QUEUE_WAITING + TIME_ROWS,
    QUEUE_UTILISATION,
    QUEUE_OCCUPIED,
    QUEUE_COST,
    QUEUE_MOVED,
    QUEUE_CORRELATION,
    QUEUE_ROWS
};
enum queue_histogram {
    TIME_LOAD,
    COUNT_LOAD_ORIGIN,
    COUNT_LOAD_CHOSEN,
    COUNT_RESPONSE,
    SUM_PATH,
    SUM_SERVER_QUEUE,
    SUM_SERVER_CORRELATION,
    SUM_LOCAL,
    KNOWN_LOCAL,
    SHARE_LOCAL,
    SUM_POOLED,
    KNOWN_POOLED,
    SHARE_POOLED,
    QUEUE_HISTOGRAMS
};

enum { PATH_TIMES = 200 }; /* of queue_length_path */

/* A stretch of jobs or of time. */
struct span {
    bool in_time;
    uint64_t jobs;
    double time;
};

/* How long a stretch is expected to take when jobs come at `rate` in all. */
static inline double span_time(const struct span *s, double rate) {
    return s->in_time ? s->time : (double)s->jobs / rate;
}

/* Completions from the empty start. */
struct transient {
    uint64_t jobs;      /* how many of each server and of all; 0: steady state */
    const double *grid; /* [n_grid], rising; owned by the job */
    uint64_t n_grid;
    uint64_t most; /* jobs that are played at most */
};

/* A point made ready to play; or, where every replication has its own graph or points, one of its
 * replications. */
struct queue {
    const struct value *values; /* of the model's parameters; owned by the job */
    uint64_t budget;            /* bytes that tables may take */
    struct sampler sampler;
    uint64_t n;
    struct arrivals *arrivals;
    struct arrivals_facts stream;
    struct sampled_law service;
    struct failures *failures; /* NULL: none */
    struct failures_facts breaks;
    double *speed;      /* [n] service_rates; NULL: all 1 */
    uint64_t redirects; /* probability that a job may be redirected, in units of 2^-32 */
    double excess;
    struct span warmup, horizon;
    struct transient transient;
    double completion_unit, sum_unit; /* what one count of a sum over replications stands for: of
                                         completions, of queue lengths */
    double mean_service;
    const struct graph *neighbours; /* whose queues are compared; NULL: not asked for */
    struct graph *own_neighbours;   /* the same where it is not that of the space */
    double pairs;                   /* of neighbours; before the graph is made, about */
    double end, window;  /* expected: time at the end of the horizon, length of the horizon */
    double unit, square; /* what one count of a tally of times, of squared times stands for */
    struct hops hops;    /* FORM_GRAPH and a policy that does not know how far a job goes */
    bool measures;       /* hops are taken from it */
};

/* What one count of the other tallies stands for: jobs, shares of time or of jobs, hops. */
#define QUEUE_LENGTH_UNIT 0x1p-30
#define QUEUE_SHARE_UNIT 0x1p-40
#define QUEUE_COST_UNIT 0x1p-30
#define QUEUE_CORRELATION_UNIT 0x1p-40
/* Mean services from one look at neighbours to the next: the golden ratio less 1, of all numbers the
 * one that is worst met by ratios of whole ones, so that looks at deterministic streams fall everywhere
 * between their jobs. */
#define QUEUE_LOOK_STEP 0.6180339887498949

/* Bytes of a thread's workspace with that many slots for jobs in all rings. */
uint64_t ISA(queue_bytes)(const struct queue *p, uint64_t slots);
uint64_t ISA(queue_first_slots)(const struct queue *p);
/* Plays the replications of `out` one after the other, on one graph (queue_play.c). */
uint64_t ISA(queue_play)(const struct queue *p, uint64_t key, struct workspace work,
                         struct outcome *out);

/* queue_examine.c: what a point asks for, in the words of the parts. */
struct transient ISA(queue_transient)(const struct value *v, uint64_t n);
/* Pairs of servers that are neighbours, about; 0: not asked for. */
double ISA(queue_pairs)(const struct value *v, const struct space *space);
struct arrivals_wish ISA(queue_wish)(const struct value *v, uint64_t n);
/* [n] arrival or service rates, given or repeated in turn; NULL: all 1. The caller frees. */
double *ISA(queue_rates)(const struct value *given, uint64_t n);
/* Warm-up and horizon of a point. */
void ISA(queue_spans)(const struct value *v, uint64_t n, struct span *warmup, struct span *horizon);
bool ISA(queue_examine)(const struct value *v, const struct budget *budget, struct facts *f,
                        struct reason *why, unsigned *at);
bool ISA(queue_describe)(const struct value *v, struct space *space, struct reason *why,
                         unsigned *at);
uint64_t ISA(queue_budget)(const struct space *space, const struct budget *b);
/* queue_stability.c: how busy the servers are. */
struct pressure {
    double total; /* work that comes, over work that can be done */
    double
        largest; /* the same of the busiest server, for policies that know nothing of the state */
    double staying; /* the same of the jobs that must stay */
    bool routed;    /* `largest` is known */
    bool known;  /* false: there is no rule for these failures, and these are bounds from below */
    double hold; /* mean time that a job holds a server of speed 1 */
};
/* Of a space that is described or made. */
struct pressure ISA(queue_pressure)(const struct value *v, const struct space *space,
                                    const struct arrivals_facts *stream);
/* Whether queues do not grow for ever, or may do so; the parameter at fault. */
bool ISA(queue_stable)(const struct value *v, const struct pressure *p, struct reason *why,
                       unsigned *at);
/* The same of a made space, whose points or number of servers nobody knew before. */
bool ISA(queue_sustains)(const struct value *v, const struct space *space, struct reason *why);
/* What a point is, for forecasts. */
struct queue_load {
    const struct arrivals_facts *stream;
    const struct failures_facts *breaks;
    const struct law_facts *service;
    const struct pressure *pressure;
    uint64_t n;
    double mean;    /* service */
    unsigned draws; /* candidate slots of the policy */
    struct span warmup, horizon;
};
/* queue_forecast.c: f->forecast and f->path. */
void ISA(queue_forecast)(const struct value *v, const struct queue_load *p, struct facts *f);
/* Units of times and of squared times in tallies. */
void ISA(queue_units)(double mean, double *unit, double *square);
/* Mean service of a server of speed 1. */
double ISA(queue_mean_service)(const struct value *v, const struct arrivals_facts *stream);
/* What one count of a sum of queue lengths over replications stands for: 2^22 of them fit while queues
 * are shorter than 2^17 or, where they may grow for ever, hold all jobs. */
double ISA(queue_sum_unit)(const struct value *v, double mean);
/* The same of completions, whose sums over replications must not overflow: fits 10^6 of them, or more,
 * unless times go far beyond K mean services and K mean gaps. */
double ISA(queue_completion_unit)(const struct value *v, const struct arrivals_facts *stream,
                                  double mean);

#endif
