/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls: m balls are thrown one after the other; each arrives at a server u, its policy names
 * candidates, the least loaded of them takes it and keeps it (Azar, Broder, Karlin, Upfal,
 * "Balanced allocations", SIAM J. Comput. 29(1), 1999; with proximity: Panigrahy et al., ACM
 * TOMPECS 7(2-4), 2022). The cost of a ball is the distance it moves, in hops. Not modelled:
 * departures, weights, parallel or batched arrivals. */
#include "balls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter of_sampled[] = {
    {.name = "origins",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 4294967295.0,
     .units = "ball",
     .meaning = "balls of a replication whose distance is measured, one from each of as many equal "
                "stretches"},
};
static const struct kind exact = {"exact", "the distance of every ball", "", NULL, 0},
                         sampled = {"sampled", "the distances of some balls stand for all", "",
                                    of_sampled, 1};
static const struct kind *const ways[] = {&exact, &sampled};
static const struct catalogue distances = {"way to measure distances", ways,
                                           sizeof ways / sizeof *ways};

static const struct parameter parameters[] = {
    [BALLS_TOPOLOGY] = {.name = "topology",
                        .type = TYPE_ENTRY,
                        .catalogue = &topologies,
                        .units = "1",
                        .meaning = "where servers stand and what near means"},
    [BALLS_POLICY] = {.name = "policy",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(policies),
                      .units = "1",
                      .meaning = "rule that picks a server"},
    [BALLS_BALLS] = {.name = "balls",
                     .type = TYPE_COUNT,
                     .lower = 1,
                     .upper = 281474976710656.0,
                     .standard = "1n",
                     .relative = true,
                     .units = "ball",
                     .meaning = "number of balls; 10n is ten per server"},
    [BALLS_TIES] =
        {.name = "ties",
         .type = TYPE_WORD,
         .standard = "fair",
         .words = "fair|origin|smaller-arc",
         .units = "1",
         .meaning = "who wins among equally loaded candidates: a fair draw, the origin if among "
                    "them, or on a circle the server with the smaller share"},
    [BALLS_METHOD] =
        {.name = "method",
         .type = TYPE_WORD,
         .standard = "servers",
         .words = "servers|occupancy",
         .units = "1",
         .meaning = "play every server, or only the counts of servers by load (complete graph)"},
    [BALLS_DISTANCES] = {.name = "distances",
                         .type = TYPE_ENTRY,
                         .catalogue = &distances,
                         .standard = "exact",
                         .fixed = true,
                         .units = "1",
                         .meaning = "which balls the cost is taken from, where it takes a search "
                                    "in the graph for each"},
};

static const struct row rows[BALLS_ROWS] = {
    [ROW_MAX_LOAD] = {"max_load", "ball", "maximum load", "", false},
    [ROW_MIN_LOAD] = {"min_load", "ball", "minimum load", "", true},
    [ROW_EMPTY] = {"empty", "1", "fraction of servers without a ball", "", true},
    [ROW_MOVED] = {"moved", "1", "fraction of balls placed away from their origin", "", true},
    [ROW_GAP] = {"gap", "ball", "maximum load minus mean load", "", true},
    [ROW_VARIANCE] = {"load_variance", "ball^2",
                      "mean squared deviation of the loads from the mean load", "", true},
    [ROW_COST] = {"cost", "hop", "mean distance a ball moves; on the plane, Euclidean",
                  "Panigrahy et al., ACM TOMPECS 7, 2022", true},
    [ROW_COMPONENT] = {"component", "1", "fraction of servers in the largest component", "", false},
    [ROW_MAX_SHARE] = {"max_share", "1", "largest share of the circle", "", false},
    [ROW_MIN_SHARE] = {"min_share", "1", "smallest share of the circle", "", true},
    [ROW_SHARE_VARIANCE] = {"share_variance", "1",
                            "mean squared deviation of the shares from their mean", "", true},
};

static const struct histogram histograms[BALLS_HISTOGRAMS] = {
    [COUNT_LOAD] = {.name = "load_count",
                    .units = "server",
                    .long_name = "servers by load, summed over replications",
                    .axis = AXIS_LOAD,
                    .batched = true},
    [COUNT_HOP] = {.name = "hop_count",
                   .units = "ball",
                   .long_name = "balls by distance moved, summed over replications",
                   .axis = AXIS_HOP},
    [COUNT_MAX_LOAD] = {.name = "max_load_count",
                        .units = "replication",
                        .long_name = "replications by maximum load",
                        .axis = AXIS_LOAD},
    [SUM_SERVER] = {.name = "server_load",
                    .units = "ball",
                    .long_name = "load of each server, mean over replications",
                    .axis = AXIS_SERVER,
                    .averages = true,
                    .keep = "server-loads"},
    [COUNT_DISTANCE] = {.name = "distance_count",
                        .units = "ball",
                        .long_name =
                            "balls by Euclidean distance to their server, summed over replications",
                        .axis = AXIS_DISTANCE},
    [COUNT_DEGREE] = {.name = "degree_count",
                      .units = "server",
                      .long_name = "servers by degree, summed over replications",
                      .axis = AXIS_DEGREE},
    [DEGREE_SERVERS] = {.name = "degree_servers",
                        .units = "server",
                        .long_name = "servers by degree in coarse bins, summed over replications",
                        .axis = AXIS_DEGREE_BIN},
    [DEGREE_LOAD] = {.name = "degree_load",
                     .units = "ball",
                     .long_name = "balls by the degree of their server, summed over replications",
                     .axis = AXIS_DEGREE_BIN},
    [DEGREE_JOBS] = {.name = "degree_jobs",
                     .units = "ball",
                     .long_name =
                         "balls whose distance was measured, by the degree of their origin, summed "
                         "over replications",
                     .axis = AXIS_DEGREE_BIN},
    [DEGREE_COST] = {.name = "degree_cost",
                     .units = "hop",
                     .long_name =
                         "hops that those balls moved, by the degree of their origin, summed over "
                         "replications",
                     .axis = AXIS_DEGREE_BIN},
    [SUM_SHARE] = {.name = "share_sorted",
                   .units = "1",
                   .long_name = "k-th smallest share of the circle, mean over replications",
                   .axis = AXIS_SERVER,
                   .averages = true,
                   .keep = "share-sorted"},
};

/* How tallies become values. */
static void state_rows(const struct space *space, uint64_t m, bool occupancy, uint64_t sample,
                       bool walks, struct facts *f) {
    const double servers = (double)space->n, balls = (double)m, nan = (double)NAN,
                 spare = (double)(m % space->n) / servers;
    for (unsigned r = 0; r < BALLS_ROWS; r++)
        f->row[r] = (struct affine){0, nan};
    f->row[ROW_MAX_LOAD] = f->row[ROW_MIN_LOAD] = (struct affine){0, 1};
    f->row[ROW_EMPTY] = (struct affine){0, servers};
    f->row[ROW_MOVED] = (struct affine){0, occupancy ? nan : balls};
    f->row[ROW_GAP] = (struct affine){0, servers}; /* the tally is n max - m */
    f->row[ROW_VARIANCE] =
        (struct affine){-(spare * spare), servers}; /* deviations are taken from floor(m/n) */
    f->row[ROW_COST] = (struct affine){0, occupancy ? nan : sample ? (double)sample : balls};
    if (space->form == FORM_PLANE)
        f->row[ROW_COST].divisor = balls * length_unit(m);
    if (space->form == FORM_ARCS && !walks)
        f->row[ROW_COST].divisor = nan;
    if (space->form == FORM_GRAPH)
        f->row[ROW_COMPONENT] = (struct affine){0, 0x1p40};
    if (space->form == FORM_ARCS) {
        f->row[ROW_MAX_SHARE] = f->row[ROW_MIN_SHARE] = (struct affine){0, 0x1p62};
        f->row[ROW_SHARE_VARIANCE] = (struct affine){0, servers * servers * length_unit(space->n)};
    }
}

/* Where n varies, a tally is the value itself in these units, as fine as the largest value lets. */
static void state_varying(const struct space *space, uint64_t m, double scale[BALLS_ROWS],
                          struct facts *f) {
    static const unsigned rows_of_n[] = {ROW_EMPTY, ROW_MOVED, ROW_GAP, ROW_VARIANCE, ROW_COST};
    const double of_m = length_unit(m);
    scale[ROW_EMPTY] = scale[ROW_MOVED] = 0x1p40;
    scale[ROW_GAP] = of_m;
    scale[ROW_VARIANCE] = m < 1 << 20 ? 0x1p21 : of_m > 0x1p20 ? of_m * 0x1p-20 : 1;
    scale[ROW_COST] = length_unit(space->n);
    for (unsigned i = 0; f && i < sizeof rows_of_n / sizeof *rows_of_n; i++)
        f->row[rows_of_n[i]] = (struct affine){0, scale[rows_of_n[i]]};
}

/* Bytes of a load that will do for all but freak replications; any other only costs a second
 * attempt. */
static unsigned first_width(uint64_t n, uint64_t m) {
    const double mean = (double)m / (double)n, high = mean + 10 * sqrt(mean) + 24;
    return high < 128 ? 1 : high < 32768 ? 2 : high < 2147483648.0 ? 4 : 8;
}

/* Loads that will occur, from 0: the largest of many Poisson variables when balls have no choice,
 * little more than the mean load when they have. */
static uint64_t likely_loads(uint64_t n, uint64_t m, bool no_choice) {
    const double mean = (double)m / (double)n;
    if (no_choice)
        return (uint64_t)(mean + sqrt(2 * mean * log(100 * (double)n))) + 3;
    return (uint64_t)(mean + sqrt(mean) / 4) + 6;
}

static bool examine_occupancy(const struct policy *policy, const struct space *space,
                              struct reason *why, unsigned *at) {
    *at = BALLS_METHOD;
    if (space->form != FORM_COMPLETE)
        return refuse(
            why,
            "method: occupancy plays counts of servers by load, which needs topology complete");
    if (!policy->ranks)
        return refuse(
            why,
            "method: occupancy needs servers to be exchangeable, which policy %s does not keep",
            policy->kind.name);
    return true;
}

/* Whether the policy makes sense on this sort of space at all. */
static bool suits(const struct value *v, const struct space *space, struct reason *why,
                  unsigned *at) {
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    *at = BALLS_POLICY;
    if (policy->queues)
        return refuse(why, "policy %s looks at queues, which model balls does not have",
                      policy->kind.name);
    if (!ISA(policy_suits)(policy, v[BALLS_TOPOLOGY].entry->kind, space, why))
        return false;
    *at = BALLS_TIES;
    if (v[BALLS_TIES].word == TIES_SMALLER_ARC && space->form != FORM_ARCS)
        return refuse(why, "ties: smaller-arc needs a circle of servers, topology arcs");
    return true;
}

static bool examine_policy(const struct value *v, const struct space *space, uint64_t budget,
                           struct sampler_facts *s, struct reason *why, unsigned *at) {
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    unsigned inner = 0;
    if (!suits(v, space, why, at))
        return false;
    if (v[BALLS_METHOD].word == 1 && !examine_occupancy(policy, space, why, at))
        return false;
    *at = BALLS_TOPOLOGY;
    if (v[BALLS_METHOD].word == 0 && space->n > SERVERS_MAX)
        return refuse(why,
                      "%llu servers are too many to play one by one (at most %u; method: occupancy "
                      "goes to 2^40)",
                      (unsigned long long)space->n, SERVERS_MAX);
    const bool fine = policy->examine(v[BALLS_POLICY].entry->values, space, budget, s, why, &inner);
    *at = inner < policy->kind.n_parameters ? at_within(BALLS_POLICY, inner) : BALLS_POLICY;
    return fine;
}

/* What tables of a point may take: a thread's part where every replication has its own. */
static uint64_t budget_of(const struct space *space, const struct budget *b) {
    const uint64_t bytes = space->fresh ? b->bytes / b->threads : b->bytes;
    return bytes > space->bytes ? bytes - space->bytes : 0;
}

/* Balls whose distance is measured; 0: all. */
static uint64_t sample_of(const struct value *v, const struct space *space, uint64_t m) {
    const struct entry *way = v[BALLS_DISTANCES].entry;
    const uint64_t wanted = way->kind == &sampled ? way->values[0].count : 0;
    return space->form == FORM_GRAPH && policy_of(v[BALLS_POLICY].entry)->anywhere && wanted < m
               ? wanted
               : 0;
}

/* A policy that leaves every ball where it arrives costs nothing to measure. */
static bool measured(const struct value *v, const struct space *space) {
    return space->form == FORM_GRAPH && policy_of(v[BALLS_POLICY].entry)->anywhere;
}

static void state_memory(const struct value *v, const struct space *space,
                         const struct sampler_facts *s, uint64_t m, uint64_t budget,
                         struct facts *f) {
    const bool tables = measured(v, space);
    const struct room room = {.n = space->n,
                              .width = first_width(space->n, m),
                              .arrays = s->arrays > s->draws ? s->arrays : s->draws,
                              .points = space->form == FORM_PLANE || space->form == FORM_ARCS,
                              .policy = s->memory,
                              .searches = tables ? ISA(hops_memory)(space, budget) : 0,
                              .walk = space->form == FORM_ARCS ? space->ids : 0};
    const uint64_t own = space->bytes + s->bytes + (tables ? ISA(hops_bytes)(space, budget) : 0) +
                         (space->form == FORM_GRAPH ? space->n : 0);
    f->bytes_thread = room_bytes(&room);
    f->bytes_shared = space->fresh ? 0 : own;
    f->bytes_fresh = space->fresh ? own : 0;
    f->bytes_making = s->making > space->bytes_making ? s->making : space->bytes_making;
}

static void state_time(const struct value *v, const struct space *space,
                       const struct sampler_facts *s, uint64_t m, uint64_t budget,
                       struct facts *f) {
    const double n = (double)space->n, balls = (double)m;
    const uint64_t sample = sample_of(v, space, m);
    f->nanoseconds = s->nanoseconds * balls * (space->n > 300000 ? 1.5 : 1) + 0.2 * n + 300;
    if (measured(v, space))
        f->nanoseconds += ISA(hops_nanoseconds)(space, budget) * (sample ? (double)sample : balls);
    if (space->form == FORM_GRAPH)
        f->nanoseconds += 2 * balls + n;
    if (space->fresh)
        f->nanoseconds += space->nanoseconds;
    else /* lists of neighbours take about 80 ns each */
        f->nanoseconds_making =
            space->nanoseconds + (space->form == FORM_GRAPH ? 20.0 * (double)s->bytes : 0);
}

/* How much of each axis is used. */
static void state_bins(const struct value *v, const struct space *space,
                       const struct sampler_facts *s, uint64_t m, struct facts *f) {
    const bool occupancy = v[BALLS_METHOD].word == 1, graph = space->form == FORM_GRAPH;
    const uint64_t likely = likely_loads(space->n, m, s->draws == 0 && !occupancy);
    f->bins[COUNT_LOAD] = f->bins[COUNT_MAX_LOAD] = bin_of(m) + 1;
    f->bins[COUNT_HOP] = space->form == FORM_PLANE  ? 0
                         : space->form != FORM_ARCS ? bin_of(space->diameter) + 1
                         : s->walks                 ? bin_of(space->ids) + 1
                                                    : 0;
    f->bins[SUM_SERVER] = occupancy ? 1 : space->n;
    f->bins[COUNT_DISTANCE] = space->form == FORM_PLANE ? LENGTH_BINS : 0;
    f->bins[COUNT_DEGREE] = graph ? bin_of(space->n) + 1 : 0;
    for (unsigned h = DEGREE_SERVERS; h <= DEGREE_COST; h++)
        f->bins[h] = graph ? DEGREE_BINS : 0;
    f->bins[SUM_SHARE] = space->form == FORM_ARCS ? space->n : 0;
    f->unit[SUM_SHARE] = 0x1p-40;
    f->most[SUM_SHARE] = 1 << 22;
    memcpy(f->likely, f->bins, sizeof f->likely);
    if (likely < f->bins[COUNT_LOAD])
        f->likely[COUNT_LOAD] = f->likely[COUNT_MAX_LOAD] = likely;
    if (graph && f->likely[COUNT_HOP] > 64)
        f->likely[COUNT_HOP] = 64;
    if (graph && f->likely[COUNT_DEGREE] > 256)
        f->likely[COUNT_DEGREE] = 256;
}

static bool describe(const struct value *v, struct space *space, struct reason *why, unsigned *at) {
    const struct entry *entry = v[BALLS_TOPOLOGY].entry;
    unsigned inner = 0;
    *space = (struct space){0};
    const bool fine = topology_of(entry)->describe(entry->values, space, why, &inner);
    *at = inner < entry->kind->n_parameters ? at_within(BALLS_TOPOLOGY, inner) : BALLS_TOPOLOGY;
    return fine;
}

static bool examine(const struct value *v, const struct budget *budget, struct facts *f,
                    struct reason *why, unsigned *at) {
    struct space space;
    struct sampler_facts s = {0};
    *f = (struct facts){0};
    if (!describe(v, &space, why, at))
        return false;
    const uint64_t bytes = budget_of(&space, budget);
    if (!examine_policy(v, &space, bytes, &s, why, at))
        return false;
    *at = BALLS_BALLS;
    const uint64_t m = value_count(&v[BALLS_BALLS], space.n);
    if (m < 1 || m > (uint64_t)1 << 48)
        return refuse(why, "that makes %llu balls for %llu servers (allowed: 1 to 2^48)",
                      (unsigned long long)m, (unsigned long long)space.n);
    const bool occupancy = v[BALLS_METHOD].word == 1;
    if (occupancy && m > ((uint64_t)1 << 50) / (CANDIDATES_MAX + 1))
        return refuse(why, "method: occupancy has words for 2^43 balls, not for %llu",
                      (unsigned long long)m);
    f->servers = space.n;
    f->grain = occupancy ? SIDE : 1;
    state_rows(&space, m, occupancy, sample_of(v, &space, m), s.walks, f);
    if (space.varies)
        state_varying(&space, m, (double[BALLS_ROWS]){0}, f);
    state_bins(v, &space, &s, m, f);
    if (occupancy) {
        f->bytes_thread = occupancy_bytes(OCCUPANCY_ROWS);
        f->nanoseconds = 1.5 * (double)m + 500;
        snprintf(f->sampler, sizeof f->sampler, "counts of servers by load");
        return true;
    }
    state_memory(v, &space, &s, m, bytes, f);
    state_time(v, &space, &s, m, bytes, f);
    snprintf(f->sampler, sizeof f->sampler, "%s", s.how);
    const struct topology *topology = topology_of(v[BALLS_TOPOLOGY].entry);
    struct reason note;
    if (topology->note && topology->note(v[BALLS_TOPOLOGY].entry->values, &note))
        snprintf(f->note, sizeof f->note, "%s", note.text);
    return true;
}

static bool uses(const struct value *v, unsigned parameter) {
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    if (parameter == BALLS_TIES)
        return policy->settles_ties;
    struct space space;
    struct reason why;
    unsigned at;
    return parameter != BALLS_DISTANCES || (describe(v, &space, &why, &at) && measured(v, &space));
}

static void shared_text(const struct value *v, char *text, size_t size) {
    snprintf(text, size, "%s%s", v[BALLS_TOPOLOGY].entry->text,
             v[BALLS_METHOD].word == 1 ? " occupancy" : "");
}

/* P(at most j of `jobs` stay), each with probability 1/n, by the recurrence of the binomial law. */
static void stay_table(uint64_t n, unsigned jobs, uint64_t *below) {
    const double p = 1 / (double)n, q = 1 - p;
    double term = 1, sum = 0;
    for (unsigned j = 0; j < jobs; j++)
        term *= q;
    for (unsigned j = 0; j <= jobs; j++) {
        sum += term;
        below[j] = j == jobs ? UINT64_MAX : probability_bits(sum);
        term *= (double)(jobs - j) / (j + 1) * (p / q);
    }
}

static void count_degrees(struct balls *p) {
    const struct graph *g = p->sampler.space.graph;
    p->degree_bin = allocate(g->n, sizeof *p->degree_bin);
    for (uint32_t u = 0; u < g->n; u++) {
        const uint64_t bin = bin_of(graph_degree(g, u));
        p->n_degrees = bin + 1 > p->n_degrees ? bin + 1 : p->n_degrees;
    }
    p->degree_count = allocate(p->n_degrees, sizeof *p->degree_count);
    for (uint32_t u = 0; u < g->n; u++) {
        p->degree_bin[u] = (uint8_t)coarse_bin_of(graph_degree(g, u));
        p->degree_servers[p->degree_bin[u]]++;
        p->degree_count[bin_of(graph_degree(g, u))]++;
    }
}

/* ceil((1 + epsilon) m / n), at least what lets every ball in. What rounding lifts above a whole
 * number is that number: 1.1 times 10 is 11. */
static uint64_t cap_of(double epsilon, uint64_t m, uint64_t n) {
    const double share = (1 + epsilon) * (double)m / (double)n,
                 wanted = share - floor(share) < 1e-12 * share ? floor(share) : ceil(share);
    const uint64_t least = m / n + (m % n > 0);
    return wanted < 0x1p62 && (uint64_t)wanted > least ? (uint64_t)wanted : least;
}

/* Makes the ground and all that rests on it. */
static bool settle(struct balls *p, struct stream words, struct reason *why) {
    const struct value *v = p->values;
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    struct sampler *s = &p->sampler;
    if (!space_make(topology_of(v[BALLS_TOPOLOGY].entry), v[BALLS_TOPOLOGY].entry->values, words,
                    &s->space, why))
        return false;
    p->n = s->space.n;
    p->m = s->jobs = value_count(&v[BALLS_BALLS], p->n);
    s->n = (uint32_t)p->n;
    s->policy = policy;
    s->budget = p->budget;
    s->ties = (enum ties)v[BALLS_TIES].word;
    if (!policy->prepare(v[BALLS_POLICY].entry->values, s, why))
        return false;
    s->arrays = s->arrays > s->draws ? s->arrays : s->draws;
    if (s->walks)
        p->cap = cap_of(s->epsilon, p->m, p->n);
    if (s->space.form == FORM_GRAPH)
        count_degrees(p);
    if (balls_measures(s))
        ISA(hops_prepare)(&p->hops, &s->space, s->budget);
    p->sample = sample_of(v, &s->space, p->m);
    p->width = first_width(p->n, p->m);
    return true;
}

static void unsettle(struct balls *p) {
    ISA(near_free)(p->sampler.near);
    ISA(hops_free)(&p->hops);
    free(p->degree_bin);
    free(p->degree_count);
    space_clear(&p->sampler.space);
}

static void release(void *prepared) {
    struct balls *p = prepared;
    if (p)
        unsettle(p);
    free(p);
}

static void *prepare(const struct value *v, uint64_t key, const struct budget *budget,
                     struct reason *why) {
    struct balls *p = allocate(1, sizeof *p);
    struct space *space = &p->sampler.space;
    unsigned at = 0;
    p->values = v;
    CHECK(describe(v, space, why, &at));
    p->n = space->n;
    p->m = value_count(&v[BALLS_BALLS], p->n);
    p->occupancy = v[BALLS_METHOD].word == 1;
    p->budget = budget_of(space, budget);
    if (space->varies)
        state_varying(space, p->m, p->scale, NULL);
    if (p->occupancy) {
        policy_of(v[BALLS_POLICY].entry)->ranks(v[BALLS_POLICY].entry->values, p->n, &p->ranks);
        return p;
    }
    if (space->fresh)
        return p;
    if (!settle(p, (struct stream){key, 0}, why)) {
        release(p);
        return NULL;
    }
    p->stays = p->sampler.blind && space->form == FORM_COMPLETE;
    if (p->stays && p->n > 1) {
        stay_table(p->n, CHUNK, p->stay[0]);
        stay_table(p->n, (unsigned)(p->m % CHUNK), p->stay[1]);
    }
    return p;
}

/* Replications that each have a graph or points of their own. */
static uint64_t play_fresh(const struct balls *p, uint64_t key, struct workspace work,
                           struct outcome *out) {
    const uint64_t first = out->first, count = out->count;
    int64_t *const tally = out->tally;
    uint64_t need = 0;
    out->count = 1;
    for (uint64_t r = 0; r < count && need == 0; r++) {
        struct balls one = *p;
        out->first = first + r;
        out->tally = tally + r * BALLS_ROWS;
        if (settle(&one, (struct stream){key, (uint32_t)out->first}, &out->why))
            need = ISA(balls_servers)(&one, key, work, out);
        else
            need = PLAY_REFUSED;
        unsettle(&one);
    }
    out->first = first;
    out->count = count;
    out->tally = tally;
    return need;
}

static uint64_t play(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *out) {
    const struct balls *p = prepared;
    return p->occupancy             ? ISA(balls_occupancy)(p, key, work, out)
           : p->sampler.space.fresh ? play_fresh(p, key, work, out)
                                    : ISA(balls_servers)(p, key, work, out);
}

const struct model ISA(model_balls) = {.kind = {"balls", "balls into bins, with proximity",
                                                "Azar et al., SIAM J. Comput. 29(1), 1999",
                                                parameters, sizeof parameters / sizeof *parameters},
                                       .rows = rows,
                                       .n_rows = BALLS_ROWS,
                                       .histograms = histograms,
                                       .n_histograms = BALLS_HISTOGRAMS,
                                       .law = COUNT_LOAD,
                                       .cost = ROW_COST,
                                       .contender = BALLS_POLICY,
                                       .baseline = "pot",
                                       .examine = examine,
                                       .uses = uses,
                                       .shared_text = shared_text,
                                       .prepare = prepare,
                                       .release = release,
                                       .play = play};
