/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs and stores made by hand, without YAML, kernels or a runner: what a replication yields is a
 * fixed function of (point, replication). */
#ifndef POTLUCK_RESULT_FIXTURE_H
#define POTLUCK_RESULT_FIXTURE_H

#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter fx_ring_parameters[] = {
    {.name = "n", .type = TYPE_COUNT, .units = "server", .meaning = "servers"},
};
static const struct parameter fx_torus_parameters[] = {
    {.name = "sides", .type = TYPE_COUNTS, .units = "server", .meaning = "lengths of the sides"},
};
static const struct kind fx_ring = {"ring", "", "", fx_ring_parameters, 1};
static const struct kind fx_torus = {"torus", "", "", fx_torus_parameters, 1};
static const struct kind *const fx_topology_kinds[] = {&fx_ring, &fx_torus};
static const struct catalogue fx_topologies = {"topology", fx_topology_kinds, 2};

static const struct parameter fx_law_parameters[] = {
    {.name = "mean", .type = TYPE_REAL, .units = "s", .meaning = "mean"},
};
static const struct kind fx_law = {"exponential", "", "", fx_law_parameters, 1};
static const struct kind *const fx_law_kinds[] = {&fx_law};
static const struct catalogue fx_laws = {"law", fx_law_kinds, 1};

static const struct parameter fx_near_parameters[] = {
    {.name = "k", .type = TYPE_COUNT, .units = "hop", .meaning = "reach"},
    {.name = "self", .type = TYPE_FLAG, .units = "1", .meaning = "whether the origin counts"},
    {.name = "delay", .type = TYPE_ENTRY, .catalogue = &fx_laws, .units = "1", .meaning = "delay"},
};
static const struct kind fx_pair = {"pot", "", "", NULL, 0};
static const struct kind fx_near = {"unif-pot", "", "", fx_near_parameters, 3};
static const struct kind *const fx_policy_kinds[] = {&fx_pair, &fx_near};
static const struct catalogue fx_policies = {"policy", fx_policy_kinds, 2};

enum { FX_TOPOLOGY, FX_POLICY, FX_BALLS, FX_TIES, FX_BETA, FX_FLAG, FX_SERVICE, FX_PARAMETERS };
static const struct parameter fx_parameters[FX_PARAMETERS] = {
    {.name = "topology", .type = TYPE_ENTRY, .catalogue = &fx_topologies, .meaning = "where"},
    {.name = "policy", .type = TYPE_ENTRY, .catalogue = &fx_policies, .meaning = "how"},
    {.name = "balls", .type = TYPE_COUNT, .relative = true, .units = "ball", .meaning = "balls"},
    {.name = "ties", .type = TYPE_WORD, .words = "fair|origin", .meaning = "who wins"},
    {.name = "beta", .type = TYPE_REAL, .units = "1", .meaning = "share"},
    {.name = "flag", .type = TYPE_FLAG, .units = "1"},
    {.name = "service", .type = TYPE_ENTRY, .catalogue = &fx_laws, .meaning = "service"},
};

enum { FX_MAX_LOAD, FX_COST, FX_SHARE, FX_ROWS };
static const struct row fx_rows[FX_ROWS] = {
    {"max_load", "ball", "greatest load", "Azar et al., SIAM J. Comput. 29(1), 1999", false},
    {"cost", "hop", "mean distance from origin to server", "", true},
    {"share", "1", "share that only tori have", NULL, false},
};
/* The last four are of tori alone. */
enum {
    FX_LOADS,
    FX_HOPS,
    FX_SERVERS,
    FX_DEGREES,
    FX_DEGREE_BINS,
    FX_DISTANCES,
    FX_SORTED,
    FX_KNOWN,
    FX_TIMES,
    FX_DONE,
    FX_HISTOGRAMS
};
static const struct histogram fx_histograms[FX_HISTOGRAMS] = {
    {.name = "load_count",
     .units = "server",
     .long_name = "servers by load",
     .axis = AXIS_LOAD,
     .batched = true},
    {.name = "hop_count", .units = "ball", .long_name = "balls by cost", .axis = AXIS_HOP},
    {.name = "server_load",
     .units = "ball",
     .long_name = "balls by server",
     .axis = AXIS_SERVER,
     .averages = true,
     .keep = "server-loads"},
    {.name = "degree_count",
     .units = "server",
     .long_name = "servers by degree",
     .axis = AXIS_DEGREE},
    {.name = "degree_load",
     .units = "ball",
     .long_name = "balls by degree",
     .axis = AXIS_DEGREE_BIN},
    {.name = "distance_count",
     .units = "ball",
     .long_name = "balls by distance",
     .axis = AXIS_DISTANCE},
    {.name = "share_sorted",
     .units = "1",
     .long_name = "sorted shares",
     .axis = AXIS_SERVER,
     .averages = true,
     .keep = "share-sorted"},
    {.name = "times_known",
     .units = "replication",
     .long_name = "replications with a k-th time",
     .axis = AXIS_COMPLETION},
    {.name = "times",
     .units = "time",
     .long_name = "k-th time",
     .axis = AXIS_COMPLETION,
     .averages = true,
     .counter = FX_KNOWN},
    {.name = "times_cdf",
     .units = "1",
     .long_name = "share of k-th times before another time",
     .axis = AXIS_COMPLETION,
     .second = AXIS_GRID,
     .averages = true,
     .batched = true},
};
enum { FX_COMPLETIONS = 4, FX_GRID = 3 };
static const double fx_grid[FX_GRID] = {0.5, 1, 4};
static const struct model fx_model = {
    .kind = {"balls", "a stub", "", fx_parameters, FX_PARAMETERS},
    .rows = fx_rows,
    .n_rows = FX_ROWS,
    .histograms = fx_histograms,
    .n_histograms = FX_HISTOGRAMS,
    .law = FX_LOADS,
    .cost = FX_COST,
    .contender = FX_POLICY,
};

/* What a test can vary. */
struct fixture {
    unsigned points;
    bool means, servers; /* keep: means, keep: server-loads */
    bool apart;          /* every point has its own stream */
    uint64_t farthest;   /* hops go up to this bin */
};

struct fx_point {
    uint64_t sides[2];
    struct value topology, near[3], law, law2, values[FX_PARAMETERS];
    struct entry at, rule, delay, service;
};
struct fx_job {
    struct job job;
    struct fx_point *settings;
};

static inline void fx_settings(struct fx_point *s, unsigned p) {
    const bool torus = p % 3 == 2, near = p % 2 == 1;
    s->sides[0] = 3;
    s->sides[1] = 4;
    s->topology = torus ? (struct value){.counts = s->sides, .n_counts = 2}
                        : (struct value){.count = 5 + p, .real = 5 + p};
    s->at =
        (struct entry){.kind = torus ? &fx_torus : &fx_ring, .values = &s->topology, .text = ""};
    s->law = (struct value){.real = 0.1 * p};
    s->delay = (struct entry){.kind = &fx_law, .values = &s->law, .text = ""};
    s->law2 = (struct value){.real = 2.5};
    s->service = (struct entry){.kind = &fx_law, .values = &s->law2, .text = ""};
    s->near[0] = (struct value){.count = p, .real = p};
    s->near[1] = (struct value){.real = p % 4 == 1};
    s->near[2] = (struct value){.entry = &s->delay};
    s->rule = (struct entry){.kind = near ? &fx_near : &fx_pair, .values = s->near, .text = ""};
    s->values[FX_TOPOLOGY].entry = &s->at;
    s->values[FX_POLICY].entry = &s->rule;
    s->values[FX_BALLS] = (struct value){.real = 10, .relative = true};
    s->values[FX_TIES].word = p % 2;
    s->values[FX_BETA].real = 1.0 / 3;
    s->values[FX_FLAG].real = p % 2;
    s->values[FX_SERVICE].entry = &s->service;
}

static inline struct fx_job *fx_job_new(struct fixture f) {
    struct fx_job *x = allocate(1, sizeof *x);
    struct job *job = &x->job;
    x->settings = allocate(f.points, sizeof *x->settings);
    *job = (struct job){
        .path = "fixture.yaml",
        .text = duplicate_text("title: \"caf\xc3\xa9\"\nmodel: balls\n"),
        .title = duplicate_text("caf\xc3\xa9"),
        .model = &fx_model,
        .seed = 0xfedcba9876543210u,
        .common = true,
        .keep_rows = !f.means,
        .keep_histogram = {true, true, f.servers, true, true, true, f.servers, true, true, true},
        .n_points = f.points,
        .resolved = duplicate_text("model: balls\nreplications: 7\n"),
        .identity = duplicate_text("model: balls\n")};
    job->points = allocate(f.points, sizeof *job->points);
    for (unsigned p = 0; p < f.points; p++) {
        fx_settings(&x->settings[p], p);
        struct point *to = &job->points[p];
        to->values = x->settings[p].values;
        to->facts.servers = p % 3 == 2 ? 12 : 5 + p;
        to->facts.row[FX_MAX_LOAD] = (struct affine){0, 1};
        to->facts.row[FX_COST] = (struct affine){0.5, 10};
        to->facts.row[FX_SHARE] = (struct affine){0, p % 3 == 2 ? 7 : (double)NAN};
        to->facts.bins[FX_LOADS] = 8;
        to->facts.unit[FX_SORTED] = 0.25;
        to->facts.bins[FX_HOPS] = f.farthest + 1;
        to->facts.bins[FX_SERVERS] = to->facts.servers;
        for (unsigned h = FX_DEGREES; h < FX_HISTOGRAMS; h++)
            to->facts.bins[h] = p % 3 != 2       ? 0
                                : h == FX_SORTED ? to->facts.servers
                                : h < FX_SORTED  ? 7
                                : h == FX_DONE   ? FX_COMPLETIONS * FX_GRID
                                                 : FX_COMPLETIONS;
        to->facts.unit[FX_TIMES] = 0.5;
        to->facts.unit[FX_DONE] = 0.125;
        to->facts.grid = p % 3 == 2 ? fx_grid : NULL;
        to->facts.n_grid = p % 3 == 2 ? FX_GRID : 0;
        to->stream = f.apart ? p : 0;
        to->baseline = 0;
        to->label = format_text("point %u", p);
    }
    return x;
}

static inline void fx_job_free(struct fx_job *x) {
    for (uint64_t p = 0; p < x->job.n_points; p++)
        free(x->job.points[p].label);
    free(x->job.points);
    free(x->job.text);
    free(x->job.title);
    free(x->job.resolved);
    free(x->job.identity);
    free(x->settings);
    free(x);
}

/* A few bits that depend on everything given. */
static inline uint64_t fx_hash(uint64_t point, uint64_t replication, uint64_t what) {
    uint64_t h = point * 0x9e3779b97f4a7c15u ^ replication * 0xbf58476d1ce4e5b9u ^ what << 40;
    h = (h ^ h >> 30) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* Plays replications first .. end-1 of a point and folds them. */
static inline void fx_play(struct store *s, struct fixture f, uint64_t point, struct span span) {
    const struct facts *facts = &s->job->points[point].facts;
    const uint64_t count = span.end - span.first, n = facts->servers;
    struct outcome o = {.first = span.first, .count = count};
    o.tally = allocate(count * FX_ROWS, sizeof *o.tally);
    for (unsigned h = 0; h < FX_HISTOGRAMS; h++) {
        if (!s->job->keep_histogram[h] || !facts->bins[h])
            continue;
        o.stride[h] = facts->bins[h] + 3;
        o.used[h] = facts->bins[h];
        o.histogram[h] =
            allocate(histogram_batches(&fx_histograms[h]) * o.stride[h], sizeof(uint64_t));
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t r = span.first + i;
        int64_t *tally = o.tally + i * FX_ROWS;
        tally[FX_MAX_LOAD] = (int64_t)(3 + fx_hash(point, r, 1) % 5);
        tally[FX_COST] = (int64_t)(fx_hash(0, r, 2) % 100 + point);
        tally[FX_SHARE] = (int64_t)(fx_hash(point, r, 3) % 1000) - 500;
        for (uint64_t v = 0; v < n; v++) {
            const uint64_t load = fx_hash(point, r, 4 + v) % 7;
            o.histogram[FX_LOADS][r % BATCHES * o.stride[FX_LOADS] + load]++;
            if (o.histogram[FX_SERVERS])
                o.histogram[FX_SERVERS][v] += load;
        }
        for (unsigned h = FX_DEGREES; h <= FX_SORTED; h++)
            if (o.histogram[h])
                o.histogram[h][fx_hash(point, r, 50 + h) % facts->bins[h]] += 1 + r % 3;
        for (uint64_t k = 0; o.histogram[FX_TIMES] && k < FX_COMPLETIONS; k++) {
            o.histogram[FX_TIMES][k] += 2 * k - 1; /* from -1 on */
            o.histogram[FX_KNOWN][k] += k < 3 || r % 2;
            o.histogram[FX_DONE][r % BATCHES * o.stride[FX_DONE] + k * FX_GRID + r % FX_GRID] += k;
        }
        o.histogram[FX_HOPS][fx_hash(point, r, 99) % (f.farthest + 1)]++;
        if (point % 2 == 0 && r == 0)
            o.histogram[FX_HOPS][f.farthest]++;
    }
    struct moments sums[FX_ROWS];
    store_sum(s->job->model, &o, sums);
    store_fold(s, point, &o, sums);
    free(o.tally);
    for (unsigned h = 0; h < FX_HISTOGRAMS; h++)
        free(o.histogram[h]);
}

#endif
