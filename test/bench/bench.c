/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nanoseconds per ball of every policy, per job of queues and per hop of a DHT ring, on one core, beside
 * plain scalar loops of the same rule in the same run. Each figure is the best of several rounds in which all contenders
 * take turns.
 * `bench [POLICY]` restricts the tables, `bench queue` and `bench dht` to theirs. */
#include "job.h"
#include "rival_queues.h"
#include "rival_rings.h"
#include "rivals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, QUEUE_ROUNDS = 9 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One policy on one topology, ready to be called through the model's table. */
struct contender {
    struct job *job;
    void *prepared;
    struct workspace work;
    struct outcome out;
    uint64_t balls; /* or jobs, of a replication */
    double best;
};

/* `lines`: of the job, beyond seed and replications. */
static void contender_init(struct contender *c, const char *lines) {
    struct complaints complaints = {0};
    char text[512];
    snprintf(text, sizeof text, "seed: 1\nreplications: 100000\n%s\n", lines);
    c->job = job_read("bench", text, NULL, models_at(level_best()), &complaints);
    if (!c->job) {
        fputs(complaints.text, stderr);
        exit(1);
    }
    const struct facts *f = &c->job->points[0].facts;
    const struct model *played = c->job->model;
    struct reason why;
    c->prepared =
        played->prepare(c->job->points[0].values, c->job->points[0].key, &c->job->budget, &why);
    if (!c->prepared) {
        fprintf(stderr, "%s: %s\n", lines, why.text);
        exit(1);
    }
    /* What is not known before the graph is there only costs room. */
    const uint64_t room = (f->bytes_thread + 64 * f->servers + 63) / 64 * 64;
    c->work = (struct workspace){aligned_alloc(64, room), room};
    c->balls = f->servers;
    c->best = INFINITY;
    c->out.count = f->servers > 30000 ? 16 : 500000 / f->servers / 16 * 16;
    c->out.tally = allocate(c->out.count * played->n_rows, sizeof(int64_t));
    for (unsigned h = 0; h < played->n_histograms; h++)
        if (!played->histograms[h].keep && f->bins[h]) {
            c->out.stride[h] = f->bins[h];
            c->out.histogram[h] = allocate(
                (played->histograms[h].batched ? BATCHES : 1) * f->bins[h], sizeof(uint64_t));
        }
}

static void contender_play(struct contender *c) {
    const double start = now();
    CHECK(c->job->model->play(c->prepared, c->job->points[0].key, c->work, &c->out) == 0);
    const double ns = (now() - start) * 1e9 / (double)c->out.count / (double)c->balls;
    c->best = ns < c->best ? ns : c->best;
    c->out.first = (c->out.first + c->out.count) % 90000;
}

static void contender_free(struct contender *c) {
    c->job->model->release(c->prepared);
    for (unsigned h = 0; h < HISTOGRAMS_MAX; h++)
        free(c->out.histogram[h]);
    free(c->out.tally);
    free(c->work.memory);
    job_free(c->job);
}

enum rule { NONE, ONE, TWO, THREE, POT, RING_UNIFORM, RING_INVSQ, TORUS_UNIFORM, TORUS_INVSQ };

static uint64_t sink;

static double rival_play(enum rule rule, uint8_t *load, uint32_t n, uint32_t side, uint32_t k,
                         unsigned times) {
    const double start = now();
    struct rival_result r = {0};
    for (unsigned i = 0; i < times; i++) {
        switch (rule) {
        case ONE:
            r = rival_one(load, n, n);
            break;
        case TWO:
            r = rival_two(load, n, n);
            break;
        case THREE:
            r = rival_three(load, n, n);
            break;
        case POT:
            r = rival_pot(load, n, n);
            break;
        case RING_UNIFORM:
            r = rival_ring_uniform(load, n, n, k);
            break;
        case RING_INVSQ:
            r = rival_ring_invsq(load, n, n, k);
            break;
        case TORUS_UNIFORM:
            r = rival_torus_uniform(load, side, n, k);
            break;
        case TORUS_INVSQ:
            r = rival_torus_invsq(load, side, n, k);
            break;
        case NONE:
            break;
        }
        sink += r.max + r.moved + r.hops;
    }
    return (now() - start) * 1e9 / times / n;
}

struct contest {
    const char *topology; /* with %u for n, or for the side */
    const char *policy, *method;
    enum rule rule;
};

static const struct contest rows[] = {
    {"complete: {n: %u}", "one-choice", "servers", ONE},
    {"complete: {n: %u}", "choices: {d: 2}", "servers", TWO},
    {"complete: {n: %u}", "choices: {d: 2}", "occupancy", TWO},
    {"complete: {n: %u}", "choices: {d: 3}", "servers", THREE},
    {"complete: {n: %u}", "choices: {d: 3}", "occupancy", THREE},
    {"complete: {n: %u}", "choices: {d: 2, distinct: true}", "servers", NONE},
    {"complete: {n: %u}", "left: {d: 2}", "servers", NONE},
    {"complete: {n: %u}", "one-plus-beta: {beta: 0.5}", "servers", NONE},
    {"complete: {n: %u}", "pot", "servers", POT},
    {"ring: {n: %u}", "pot", "servers", NONE},
    {"ring: {n: %u}", "edge", "servers", NONE},
    {"ring: {n: %u}", "unif-pot: {k: 5}", "servers", RING_UNIFORM},
    {"ring: {n: %u}", "invsq-pot: {k: 5}", "servers", RING_INVSQ},
    {"torus: {sides: %ux%u}", "unif-pot: {k: 5}", "servers", TORUS_UNIFORM},
    {"torus: {sides: %ux%u}", "invsq-pot: {k: 5}", "servers", TORUS_INVSQ},
    {"grid: {sides: %ux%u}", "unif-pot: {k: 5}", "servers", NONE},
    /* Edge by edge, lists in memory. */
    {"geometric: {n: %u, mean_degree: 12, torus: true, graphs: per-point}", "unif-pot: {k: 3}",
     "servers", NONE},
    {"geometric: {n: %u, mean_degree: 12, torus: true, graphs: per-point}", "invsq-pot: {k: 3}",
     "servers", NONE},
    {"barabasi-albert: {n: %u, m: 3, graphs: per-point}", "unif-pot: {k: 2}", "servers", NONE},
    {"plane: {n: %u, layout: per-point}", "nearest", "servers", NONE},
    {"plane: {n: %u, layout: per-point}", "spot", "servers", NONE},
    {"arcs: {n: %u, layout: per-point}", "points: {d: 2}", "servers", NONE},
};

static void bench_row(const struct contest *row, uint32_t side) {
    const uint32_t n = side * side;
    const bool box = strstr(row->topology, "%ux%u");
    struct contender c = {0};
    char topology[96], lines[320];
    double rival = INFINITY;
    snprintf(topology, sizeof topology, row->topology, box ? side : n, side);
    snprintf(lines, sizeof lines, "model: balls\ntopology: [%s]\npolicy: [%s]\nmethod: %s",
             topology, row->policy, row->method);
    contender_init(&c, lines);
    uint8_t *load = allocate(n, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        contender_play(&c);
        const double ns = rival_play(row->rule, load, n, side, 5, (unsigned)c.out.count);
        rival = ns < rival ? ns : rival;
    }
    printf("%-70s %-34s %-10s %9u %8.2f", topology, row->policy, row->method, n, c.best);
    if (row->rule != NONE)
        printf(" %8.2f %6.2fx", rival, rival / c.best);
    printf("\n");
    fflush(stdout);
    free(load);
    contender_free(&c);
}

/* ---- queues ---- */

static const struct queue_contest {
    const char *policy;
    enum rival_rule rule;
} queue_rows[] = {
    {"choices: {d: 2}", RIVAL_TWO}, {"round-robin", RIVAL_TURN}, {"random", RIVAL_RANDOM}};
#define QUEUE_LAMBDA_MEASURED 0.9
enum { JOBS_OF_SERVER = 400, JOBS_AT_LEAST = 2000000 }; /* a fifth of them before anything counts */

/* Grows the workspace as the runner does, and leaves it so. */
static void warm_up(struct contender *c) {
    uint64_t need;
    while ((need = c->job->model->play(c->prepared, c->job->points[0].key, c->work, &c->out)) > 0) {
        free(c->work.memory);
        c->work.size = (2 * need + 63) / 64 * 64;
        c->work.memory = aligned_alloc(64, c->work.size);
        CHECK(c->work.memory);
    }
}

static void bench_queues(const struct queue_contest *row, uint32_t n) {
    const uint64_t jobs = (uint64_t)n * JOBS_OF_SERVER;
    const unsigned times = jobs < JOBS_AT_LEAST ? (unsigned)(JOBS_AT_LEAST / jobs) : 1;
    struct contender c = {0};
    char lines[320];
    double heap = INFINITY, lazy = INFINITY;
    snprintf(lines, sizeof lines,
             "model: queue\ntopology: [complete: {n: %u}]\npolicy: [%s]\nlambda: %g\nwarmup: "
             "%un\nhorizon: %un",
             n, row->policy, QUEUE_LAMBDA_MEASURED, JOBS_OF_SERVER / 5, JOBS_OF_SERVER / 5 * 4);
    contender_init(&c, lines);
    c.out.count = times;
    c.balls = jobs;
    warm_up(&c);
    struct rival_queues *q = rival_queues_new(n);
    for (unsigned round = 0; round < QUEUE_ROUNDS; round++) {
        contender_play(&c);
        double start = now(), mean = 0;
        for (unsigned i = 0; i < times; i++)
            mean += rival_heap(q, row->rule, QUEUE_LAMBDA_MEASURED, jobs);
        heap = fmin(heap, (now() - start) * 1e9 / times / (double)jobs);
        start = now();
        for (unsigned i = 0; i < times; i++)
            mean += rival_lazy(q, row->rule, QUEUE_LAMBDA_MEASURED, jobs);
        lazy = fmin(lazy, (now() - start) * 1e9 / times / (double)jobs);
        sink += (uint64_t)mean;
    }
    printf("%-34s %9u %8.2f %8.2f %6.2fx %8.2f %6.2fx\n", row->policy, n, c.best, heap,
           heap / c.best, lazy, lazy / c.best);
    fflush(stdout);
    rival_queues_free(q);
    contender_free(&c);
}

/* ---- DHT rings ---- */

enum { RING_QUERIES = 10, RING_SECONDS = 30, RING_ROUNDS = 7 };

/* Nobody is out of capacity, so that all hops are made. */
static void bench_rings(uint32_t n) {
    const uint32_t seconds = n > 10000 ? RING_SECONDS / 10 : RING_SECONDS, capacity = 1 << 30;
    struct contender c = {0};
    char lines[160];
    double plain = INFINITY, hops = 0;
    snprintf(lines, sizeof lines,
             "model: dht\nnodes: %u\nqueries: %d\ncapacity: %u\nduration: %u\nrecord_from: 0", n,
             RING_QUERIES, capacity, seconds);
    contender_init(&c, lines);
    c.out.count = 1;
    c.balls = (uint64_t)n * RING_QUERIES * seconds;
    struct rival_ring *r = rival_ring_new(n);
    for (unsigned round = 0; round < RING_ROUNDS; round++) {
        contender_play(&c);
        const double start = now();
        hops = (double)rival_ring_play(r, seconds, RING_QUERIES, capacity) / (double)c.balls;
        plain = fmin(plain, (now() - start) * 1e9 / (double)c.balls);
    }
    printf("%9u %8.2f %8.2f %8.0f %8.2f %6.2fx\n", n, hops, c.best / hops, 1e3 / (c.best / hops),
           plain / hops, plain / c.best);
    fflush(stdout);
    rival_ring_free(r);
    contender_free(&c);
}

int main(int argc, char **argv) {
    printf("ns per ball, one core, level %s; balls = servers\n", level_name[level_best()]);
    printf("%-70s %-34s %-10s %9s %8s %8s %7s\n", "topology", "policy", "method", "n", "potluck",
           "scalar", "ratio");
    for (uint32_t side = 100; side <= 1000; side *= 10)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (argc < 2 || strstr(rows[i].policy, argv[1]))
                bench_row(&rows[i], side);
    printf("\nmodel queue: ns per job, Poisson arrivals, exponential services, lambda %g\n",
           QUEUE_LAMBDA_MEASURED);
    printf("%-34s %9s %8s %8s %7s %8s %7s\n", "policy", "n", "potluck", "heap", "ratio", "lazy",
           "ratio");
    for (uint32_t n = 1000; n <= 10000; n *= 10)
        for (size_t i = 0; i < sizeof queue_rows / sizeof *queue_rows; i++)
            if (argc < 2 || strcmp(argv[1], "queue") == 0 || strstr(queue_rows[i].policy, argv[1]))
                bench_queues(&queue_rows[i], n);
    printf("\nmodel dht: ns per hop, uniform queries, fingers\n");
    printf("%9s %8s %8s %8s %8s %7s\n", "nodes", "hops", "potluck", "10^6/s", "scalar", "ratio");
    for (uint32_t n = 1 << 10; n <= 1 << 16; n *= 4)
        if (argc < 2 || strcmp(argv[1], "dht") == 0)
            bench_rings(n);
    return sink == 42;
}
