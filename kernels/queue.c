/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: n servers, one FIFO queue each. A job arrives at a server u, its policy names candidates,
 * it joins the shortest of their queues and stays (Mitzenmacher, "The power of two choices in
 * randomized load balancing", IEEE TPDS 12(10), 2001; history-only policies and failures: Liu and
 * Righter, Oper. Res. 46(4), 1998). Services are i.i.d. and belong to the job. The cost of a job is
 * the distance it moves, in hops, which takes no time. Not modelled: other orders of service, jobs
 * that move on, finite buffers, signals that take time. */
#include "queue.h"

#include "graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter of_jobs[] = {
    {.name = "jobs",
     .type = TYPE_COUNT,
     .lower = 0,
     .upper = 4294967295.0,
     .relative = true,
     .bare = true,
     .units = "job",
     .meaning = "number of jobs; 100n is a hundred per server"},
};
static const struct parameter of_time[] = {
    {.name = "time",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 1e12,
     .bare = true,
     .units = "time",
     .meaning = "length of time"},
};
static const struct kind jobs = {"jobs", "until so many jobs have come", "", of_jobs, 1},
                         length = {"time", "so long", "", of_time, 1},
                         relaxed = {"relaxed",
                                    "10/(1 - sqrt(rho))^2 mean services: ten relaxation times of "
                                    "M/M/1 at the same utilisation rho",
                                    "", NULL, 0};
static const struct kind *const warmup_kinds[] = {&jobs, &length, &relaxed},
                                *const horizon_kinds[] = {&jobs, &length};
static const struct catalogue warmups = {"warm-up", warmup_kinds, 3},
                              horizons = {"horizon", horizon_kinds, 2};

static const struct parameter of_transient[] = {
    {.name = "jobs",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 65536,
     .fixed = true,
     .units = "job",
     .meaning = "completions k = 1 .. jobs are told; the rows count so many jobs"},
    {.name = "grid",
     .type = TYPE_REALS,
     .lower = 0,
     .upper = 1e12,
     .fixed = true,
     .units = "time",
     .meaning = "rising times at which the distributions of the completions are told"},
};
static const struct kind steady = {"none", "warm-up and horizon say what counts", "", NULL, 0},
                         transient = {"completions",
                                      "the first completions of each server and of all, from the "
                                      "empty start",
                                      "Liu and Righter, Oper. Res. 46(4), 1998", of_transient, 2};
static const struct kind *const transient_kinds[] = {&steady, &transient};
static const struct catalogue transients = {"transient mode", transient_kinds, 2};

static const struct parameter parameters[QUEUE_PARAMETERS] = {
    [QUEUE_TOPOLOGY] = {.name = "topology",
                        .type = TYPE_ENTRY,
                        .catalogue = &topologies,
                        .units = "1",
                        .meaning = "where servers stand and what near means"},
    [QUEUE_POLICY] = {.name = "policy",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(policies),
                      .units = "1",
                      .meaning = "rule that picks a server"},
    [QUEUE_TIES] = {.name = "ties",
                    .type = TYPE_WORD,
                    .standard = "fair",
                    .words = "fair|origin",
                    .units = "1",
                    .meaning = "who wins among equally long queues: a fair draw, or the origin if "
                               "among them"},
    [QUEUE_LAMBDA] = {.name = "lambda",
                      .type = TYPE_REAL,
                      .lower = 1e-9,
                      .upper = 1e9,
                      .standard = "unset",
                      .units = "1/time",
                      .meaning = "jobs per unit time and server; not with a trace, which has its "
                                 "own rate"},
    [QUEUE_ARRIVALS] = {.name = "arrivals",
                        .type = TYPE_ENTRY,
                        .catalogue = &ISA(arrivals),
                        .standard = "poisson",
                        .units = "1",
                        .meaning = "when jobs come"},
    [QUEUE_ARRIVAL_SCOPE] = {.name = "arrival_scope",
                             .type = TYPE_WORD,
                             .standard = "server",
                             .words = "server|total",
                             .units = "1",
                             .meaning = "a stream for each server, or one for all with uniform "
                                        "origins"},
    [QUEUE_SYNCHRONISED] = {.name = "synchronised",
                            .type = TYPE_FLAG,
                            .standard = "false",
                            .optional_use = true,
                            .units = "1",
                            .meaning =
                                "renewal streams begin with a whole gap at time 0 instead of "
                                "in equilibrium"},
    [QUEUE_SERVICE] = {.name = "service",
                       .type = TYPE_ENTRY,
                       .catalogue = &ISA(laws),
                       .standard = "exponential",
                       .units = "1",
                       .meaning =
                           "law of the services, scaled to service_mean where that is given"},
    [QUEUE_SERVICE_MEAN] = {.name = "service_mean",
                            .type = TYPE_REAL,
                            .lower = 1e-6,
                            .upper = 1e6,
                            .standard = "unset",
                            .units = "time",
                            .meaning = "mean service; unset: as the law says"},
    [QUEUE_REDIRECTABLE] = {.name = "redirectable",
                            .type = TYPE_REAL,
                            .lower = 0,
                            .upper = 1,
                            .standard = "1",
                            .units = "1",
                            .meaning = "share of jobs that the policy may move; the others stay"},
    [QUEUE_ARRIVAL_RATES] = {.name = "arrival_rates",
                             .type = TYPE_REALS,
                             .lower = 0,
                             .upper = 1e9,
                             .standard = "unset",
                             .units = "1",
                             .meaning = "multipliers of lambda, one for each server, or fewer that "
                                        "are repeated in turn"},
    [QUEUE_SERVICE_RATES] = {.name = "service_rates",
                             .type = TYPE_REALS,
                             .lower = 1e-6,
                             .upper = 1e6,
                             .standard = "unset",
                             .units = "1",
                             .meaning = "speeds of the servers, one for each, or fewer that are "
                                        "repeated in turn"},
    [QUEUE_FAILURES] = {.name = "failures",
                        .type = TYPE_ENTRY,
                        .catalogue = &ISA(failures),
                        .standard = "none",
                        .nameless = true,
                        .units = "1",
                        .meaning = "when servers are down; policies cannot see it"},
    [QUEUE_WARMUP] = {.name = "warmup",
                      .type = TYPE_ENTRY,
                      .catalogue = &warmups,
                      .standard = "relaxed",
                      .units = "1",
                      .meaning = "what is played before anything counts"},
    [QUEUE_HORIZON] = {.name = "horizon",
                       .type = TYPE_ENTRY,
                       .catalogue = &horizons,
                       .standard = "1000n",
                       .units = "1",
                       .meaning = "what counts; a job counts when it comes, whenever it leaves"},
    [QUEUE_ALLOW_UNSTABLE] = {.name = "allow_unstable",
                              .type = TYPE_FLAG,
                              .standard = "false",
                              .fixed = true,
                              .optional_use = true,
                              .units = "1",
                              .meaning = "play queues that grow for ever"},
    [QUEUE_EXCESS] = {.name = "excess",
                      .type = TYPE_REAL,
                      .lower = 0,
                      .upper = 1e12,
                      .standard = "1",
                      .optional_use = true,
                      .units = "time",
                      .meaning = "threshold c of response_excess and waiting_excess"},
    [QUEUE_TRANSIENT] = {.name = "transient",
                         .type = TYPE_ENTRY,
                         .catalogue = &transients,
                         .standard = "none",
                         .nameless = true,
                         .fixed = true,
                         .units = "1",
                         .meaning = "what is told of the way from the empty start, instead of a "
                                    "steady state"},
    [QUEUE_NEIGHBOURS] = {.name = "watch_neighbours",
                          .type = TYPE_FLAG,
                          .standard = "false",
                          .fixed = true,
                          .optional_use = true,
                          .units = "1",
                          .meaning = "compare the queues of neighbours"},
};

#define TIMES(at, name, what)                                                                      \
    [at +                                                                                          \
        MOMENT_MEAN] = {name, "time", "mean " what, "", true},                                     \
        [at + MOMENT_SECOND] = {name "_second", "time^2", "second moment of the " what, "", true}, \
        [at + MOMENT_EXCESS] = {name "_excess", "time",                                            \
                                "mean of what the " what " has beyond `excess`, or 0", "", true},  \
        [at + MOMENTS] = {name "_q50", "time",                                                     \
                          "median of the " what " (interpolated between bins of "                  \
                          "relative width 1/64)",                                                  \
                          "", true},                                                               \
        [at + MOMENTS + 1] = {name "_q90", "time", "90 % quantile of the " what, "", true},        \
        [at + MOMENTS + 2] = {name "_q95", "time", "95 % quantile of the " what, "", true},        \
        [at + MOMENTS + 3] = {name "_q99", "time", "99 % quantile of the " what, "", true}
static const struct row rows[QUEUE_ROWS] = {
    TIMES(QUEUE_RESPONSE, "response", "response time"),
    TIMES(QUEUE_WAITING, "waiting", "waiting time"),
    [QUEUE_LENGTH] = {"queue_length", "job", "jobs at a server, time average", "", true},
    [QUEUE_UTILISATION] = {"utilisation", "1",
                           "share of time that servers serve; with failures, time that the jobs of "
                           "the horizon are served, over its length",
                           "", true},
    [QUEUE_OCCUPIED] = {"occupied", "1", "share of time that servers have a job", "", true},
    [QUEUE_COST] = {"cost", "hop", "mean distance a job moves; on the plane, Euclidean", "", true},
    [QUEUE_MOVED] = {"moved", "1", "fraction of jobs placed away from their origin", "", true},
    [QUEUE_CORRELATION] = {"neighbour_correlation", "1",
                           "correlation in time of the queues of two neighbours, mean over edges "
                           "(0 for a queue that never changes)",
                           "", true},
};

static const struct histogram histograms[QUEUE_HISTOGRAMS] = {
    [TIME_LOAD] = {.name = "load_time",
                   .units = "2^-40",
                   .long_name = "share of time that servers have a load, in units of 2^-40, summed "
                                "over replications",
                   .axis = AXIS_LOAD,
                   .batched = true},
    [COUNT_LOAD_ORIGIN] = {.name = "load_at_origin",
                           .units = "job",
                           .long_name = "jobs by the load that they find where they arrive (every "
                                        "sixteenth job where that is no candidate)",
                           .axis = AXIS_LOAD},
    [COUNT_LOAD_CHOSEN] = {.name = "load_at_chosen",
                           .units = "job",
                           .long_name = "jobs by the load that they find where they are placed",
                           .axis = AXIS_LOAD},
    [COUNT_RESPONSE] = {.name = "response_count",
                        .units = "job",
                        .long_name = "jobs by response time, in bins of relative width 1/16",
                        .axis = AXIS_TIME},
    [SUM_PATH] = {.name = "queue_length_path",
                  .units = "job",
                  .long_name =
                      "jobs at a server after equal steps of warm-up and horizon, from the "
                      "empty start, mean over replications",
                  .axis = AXIS_STEP,
                  .averages = true},
    [SUM_SERVER_QUEUE] = {.name = "server_queue",
                          .units = "job",
                          .long_name = "jobs at each server, time average, mean over replications "
                                       "(0 in those whose graph leaves it out)",
                          .axis = AXIS_SERVER,
                          .averages = true,
                          .keep = "server-queues"},
    [SUM_SERVER_CORRELATION] = {.name = "server_neighbour_correlation",
                                .units = "1",
                                .long_name = "correlation in time of a queue with those of its "
                                             "neighbours, mean over them and over replications",
                                .axis = AXIS_SERVER,
                                .averages = true,
                                .keep = "server-correlations"},
    [SUM_LOCAL] = {.name = "completion_local",
                   .units = "time",
                   .long_name = "time of the k-th completion at a server, mean over servers and "
                                "replications",
                   .axis = AXIS_COMPLETION,
                   .averages = true,
                   .counter = KNOWN_LOCAL,
                   .batched = true},
    [KNOWN_LOCAL] = {.name = "completion_local_known",
                     .units = "replication",
                     .long_name = "replications in which every server has a k-th completion",
                     .axis = AXIS_COMPLETION},
    [SHARE_LOCAL] = {.name = "completion_local_cdf",
                     .units = "1",
                     .long_name = "share of servers whose k-th completion has come by a time, mean "
                                  "over replications",
                     .axis = AXIS_COMPLETION,
                     .second = AXIS_GRID,
                     .averages = true,
                     .batched = true},
    [SUM_POOLED] = {.name = "completion_pooled",
                    .units = "time",
                    .long_name = "time of the k-th completion of all, mean over replications",
                    .axis = AXIS_COMPLETION,
                    .averages = true,
                    .counter = KNOWN_POOLED,
                    .batched = true},
    [KNOWN_POOLED] = {.name = "completion_pooled_known",
                      .units = "replication",
                      .long_name = "replications in which there is a k-th completion",
                      .axis = AXIS_COMPLETION},
    [SHARE_POOLED] = {.name = "completion_pooled_cdf",
                      .units = "1",
                      .long_name = "share of replications in which the k-th completion of all has "
                                   "come by a time",
                      .axis = AXIS_COMPLETION,
                      .second = AXIS_GRID,
                      .averages = true,
                      .batched = true},
};

static bool uses(const struct value *v, unsigned parameter) {
    if (parameter == QUEUE_TIES)
        return policy_of(v[QUEUE_POLICY].entry)->settles_ties;
    if (parameter == QUEUE_LAMBDA)
        return !ISA(arrivals_timed)(v[QUEUE_ARRIVALS].entry);
    if (parameter == QUEUE_WARMUP || parameter == QUEUE_HORIZON)
        return v[QUEUE_TRANSIENT].entry->kind == &steady;
    return true;
}

static void shared_text(const struct value *v, char *text, size_t size) {
    snprintf(text, size, "%s", v[QUEUE_TOPOLOGY].entry->text);
}

/* ---- a point made ready ---- */

/* Finds out who the neighbours are. */
static bool acquaint(struct queue *p, struct reason *why) {
    const struct entry *entry = p->values[QUEUE_TOPOLOGY].entry;
    p->neighbours = p->sampler.space.graph;
    if (!p->neighbours) {
        struct edges *e = topology_of(entry)->build(entry->values, (struct stream){0, 0}, 0, why);
        if (!e)
            return false;
        p->own_neighbours = graph_new(e);
        edges_free(e);
        p->neighbours = p->own_neighbours;
    }
    p->pairs = (double)p->neighbours->n_edges;
    return true;
}

/* Makes the ground and all that rests on it. */
static bool settle(struct queue *p, struct stream words, struct reason *why) {
    const struct value *v = p->values;
    const struct policy *policy = policy_of(v[QUEUE_POLICY].entry);
    struct sampler *s = &p->sampler;
    if (!space_make(topology_of(v[QUEUE_TOPOLOGY].entry), v[QUEUE_TOPOLOGY].entry->values, words,
                    &s->space, why))
        return false;
    p->n = s->space.n;
    s->jobs = UINT64_MAX;
    s->n = (uint32_t)p->n;
    s->policy = policy;
    s->budget = p->budget;
    s->ties = (enum ties)v[QUEUE_TIES].word;
    s->control = CONTROL_NONE;
    if (!policy->prepare(v[QUEUE_POLICY].entry->values, s, why))
        return false;
    s->arrays = s->arrays > s->draws ? s->arrays : s->draws;
    p->measures =
        s->space.form == FORM_GRAPH && !s->gives_hop && !(s->candidates == 1 && s->origin_first);
    if (p->measures)
        ISA(hops_prepare)(&p->hops, &s->space, s->budget);
    return (v[QUEUE_NEIGHBOURS].real == 0 || acquaint(p, why)) &&
           ISA(queue_sustains)(v, &s->space, why);
}

static void unsettle(struct queue *p) {
    if (p->own_neighbours)
        graph_free(p->own_neighbours);
    p->own_neighbours = NULL;
    p->neighbours = NULL;
    ISA(near_free)(p->sampler.near);
    ISA(hops_free)(&p->hops);
    space_clear(&p->sampler.space);
}

/* What depends on the number of servers and on nothing else that is random. */
static void staff(struct queue *p) {
    const struct value *v = p->values;
    struct arrivals_wish wish = ISA(queue_wish)(v, p->n);
    struct reason why;
    enum arrivals_fault fault;
    unsigned inner;
    CHECK(ISA(arrivals_examine)(&wish, &p->stream, &why, &fault, &inner));
    p->arrivals = ISA(arrivals_prepare)(&wish);
    free((void *)(uintptr_t)wish.rate);
    ISA(law_prepare)
    (v[QUEUE_SERVICE].entry, v[QUEUE_SERVICE_MEAN].unset ? (double)NAN : v[QUEUE_SERVICE_MEAN].real,
     &p->service);
    CHECK(ISA(failures_examine)(v[QUEUE_FAILURES].entry, p->n, &p->breaks, &why, &inner));
    if (p->breaks.any)
        p->failures = ISA(failures_prepare)(v[QUEUE_FAILURES].entry, p->n);
    else
        p->breaks.memory = 0;
    p->speed = ISA(queue_rates)(&v[QUEUE_SERVICE_RATES], p->n);
    const double may = v[QUEUE_REDIRECTABLE].real;
    p->redirects = may >= 1 ? (uint64_t)1 << 32 : (uint64_t)(may * 0x1p32);
    p->excess = v[QUEUE_EXCESS].real;
    p->mean_service = ISA(queue_mean_service)(v, &p->stream);
    ISA(queue_units)(p->mean_service, &p->unit, &p->square);
    p->completion_unit = ISA(queue_completion_unit)(v, &p->stream, p->mean_service);
    p->sum_unit = ISA(queue_sum_unit)(v, p->mean_service);
    p->transient = ISA(queue_transient)(v, p->n);
    ISA(queue_spans)(v, p->n, &p->warmup, &p->horizon);
    p->window = span_time(&p->horizon, p->stream.rate);
    p->end = span_time(&p->warmup, p->stream.rate) + p->window;
}

static void unstaff(struct queue *p) {
    if (p->arrivals)
        ISA(arrivals_free)(p->arrivals);
    if (p->failures)
        ISA(failures_free)(p->failures);
    ISA(law_free)(&p->service);
    free(p->speed);
    p->arrivals = NULL;
    p->failures = NULL;
    p->speed = NULL;
}

static void release(void *prepared) {
    struct queue *p = prepared;
    if (p) {
        unsettle(p);
        unstaff(p);
    }
    free(p);
}

static void *prepare(const struct value *v, uint64_t key, const struct budget *budget,
                     struct reason *why) {
    struct queue *p = allocate(1, sizeof *p);
    struct space *space = &p->sampler.space;
    unsigned at = 0;
    p->values = v;
    CHECK(ISA(queue_describe)(v, space, why, &at));
    p->n = space->n;
    p->budget = ISA(queue_budget)(space, budget);
    if (!space->varies)
        staff(p);
    if (!space->fresh && !settle(p, (struct stream){key, 0}, why)) {
        release(p);
        return NULL;
    }
    if (!space->fresh && space->varies)
        staff(p);
    return p;
}

/* Replications that each have a graph or points of their own. */
static uint64_t play_fresh(const struct queue *p, uint64_t key, struct workspace work,
                           struct outcome *out) {
    const uint64_t first = out->first, count = out->count;
    int64_t *const tally = out->tally;
    uint64_t need = 0;
    out->count = 1;
    for (uint64_t r = 0; r < count && need == 0; r++) {
        struct queue one = *p;
        out->first = first + r;
        out->tally = tally + r * QUEUE_ROWS;
        if (settle(&one, (struct stream){key, (uint32_t)out->first}, &out->why)) {
            if (one.sampler.space.varies)
                staff(&one);
            need = ISA(queue_play)(&one, key, work, out);
            if (one.sampler.space.varies)
                unstaff(&one);
        } else {
            need = PLAY_REFUSED;
        }
        unsettle(&one);
    }
    out->first = first;
    out->count = count;
    out->tally = tally;
    return need;
}

static uint64_t play(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *out) {
    const struct queue *p = prepared;
    return p->sampler.space.fresh ? play_fresh(p, key, work, out)
                                  : ISA(queue_play)(p, key, work, out);
}

const struct model ISA(model_queue) = {
    .kind = {"queue", "FIFO queues, with proximity, history-only policies and failures",
             "Mitzenmacher, IEEE TPDS 12(10), 2001", parameters, QUEUE_PARAMETERS},
    .rows = rows,
    .n_rows = QUEUE_ROWS,
    .histograms = histograms,
    .n_histograms = QUEUE_HISTOGRAMS,
    .law = TIME_LOAD,
    .cost = QUEUE_COST,
    .path = SUM_PATH,
    .followed = QUEUE_LENGTH,
    .length = "jobs per server",
    .contender = QUEUE_POLICY,
    .baseline = "pot",
    .examine = ISA(queue_examine),
    .uses = uses,
    .shared_text = shared_text,
    .prepare = prepare,
    .release = release,
    .play = play};
