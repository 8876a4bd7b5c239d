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
         .words = "fair|origin",
         .units = "1",
         .meaning =
             "who wins among equally loaded candidates: a fair draw, or the origin if among them"},
    [BALLS_METHOD] =
        {.name = "method",
         .type = TYPE_WORD,
         .standard = "servers",
         .words = "servers|occupancy",
         .units = "1",
         .meaning = "play every server, or only the counts of servers by load (complete graph)"},
};

static const struct row rows[BALLS_ROWS] = {
    [ROW_MAX_LOAD] = {"max_load", "ball", "maximum load", "", false},
    [ROW_MIN_LOAD] = {"min_load", "ball", "minimum load", "", true},
    [ROW_EMPTY] = {"empty", "1", "fraction of servers without a ball", "", true},
    [ROW_MOVED] = {"moved", "1", "fraction of balls placed away from their origin", "", true},
    [ROW_GAP] = {"gap", "ball", "maximum load minus mean load", "", true},
    [ROW_VARIANCE] = {"load_variance", "ball^2",
                      "mean squared deviation of the loads from the mean load", "", true},
    [ROW_COST] = {"cost", "hop", "mean distance a ball moves",
                  "Panigrahy et al., ACM TOMPECS 7, 2022", true},
};

static const struct histogram histograms[BALLS_HISTOGRAMS] = {
    [COUNT_LOAD] = {"load_count", "server", "servers by load, summed over replications", AXIS_LOAD,
                    true, NULL},
    [COUNT_HOP] = {"hop_count", "ball", "balls by distance moved, summed over replications",
                   AXIS_HOP, false, NULL},
    [COUNT_MAX_LOAD] = {"max_load_count", "replication", "replications by maximum load", AXIS_LOAD,
                        false, NULL},
    [SUM_SERVER] = {"server_load", "ball", "load of each server, mean over replications",
                    AXIS_SERVER, false, "server-loads"},
};

static void state_rows(uint64_t n, uint64_t m, bool occupancy, struct facts *f) {
    const double servers = (double)n, balls = (double)m, spare = (double)(m % n) / servers;
    f->row[ROW_MAX_LOAD] = f->row[ROW_MIN_LOAD] = (struct affine){0, 1};
    f->row[ROW_EMPTY] = (struct affine){0, servers};
    f->row[ROW_MOVED] = (struct affine){0, occupancy ? (double)NAN : balls};
    f->row[ROW_GAP] = (struct affine){0, servers}; /* the tally is n max - m */
    f->row[ROW_VARIANCE] =
        (struct affine){-(spare * spare), servers}; /* deviations are taken from floor(m/n) */
    f->row[ROW_COST] = f->row[ROW_MOVED];
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

static bool examine_policy(const struct value *v, const struct space *space,
                           struct sampler_facts *s, struct reason *why, unsigned *at) {
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    unsigned inner = 0;
    if (v[BALLS_METHOD].word == 1 && !examine_occupancy(policy, space, why, at))
        return false;
    *at = BALLS_TOPOLOGY;
    if (v[BALLS_METHOD].word == 0 && space->n > SERVERS_MAX)
        return refuse(why,
                      "%llu servers are too many to play one by one (at most %u; method: occupancy "
                      "goes to 2^40)",
                      (unsigned long long)space->n, SERVERS_MAX);
    const bool fine = policy->examine(v[BALLS_POLICY].entry->values, space, s, why, &inner);
    *at = inner < policy->kind.n_parameters ? at_within(BALLS_POLICY, inner) : BALLS_POLICY;
    return fine;
}

static bool examine(const struct value *v, struct facts *f, struct reason *why, unsigned *at) {
    struct space space;
    struct sampler_facts s;
    unsigned inner = 0;
    *f = (struct facts){0};
    if (!topology_of(v[BALLS_TOPOLOGY].entry)
             ->describe(v[BALLS_TOPOLOGY].entry->values, &space, why, &inner)) {
        *at = at_within(BALLS_TOPOLOGY, inner);
        return false;
    }
    if (!examine_policy(v, &space, &s, why, at))
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
    f->bytes_shared = occupancy ? 0 : s.bytes;
    f->bytes_making = occupancy ? 0 : s.making;
    f->bytes_thread = occupancy ? occupancy_bytes(OCCUPANCY_ROWS)
                                : servers_bytes(space.n, first_width(space.n, m), s.draws);
    f->nanoseconds = occupancy ? 1.5 * (double)m + 500
                               : s.nanoseconds * (double)m * (space.n > 300000 ? 1.5 : 1) +
                                     0.2 * (double)space.n + 300;
    snprintf(f->sampler, sizeof f->sampler, "%s", occupancy ? "counts of servers by load" : s.how);
    state_rows(space.n, m, occupancy, f);
    f->bins[COUNT_LOAD] = f->bins[COUNT_MAX_LOAD] = bin_of(m) + 1;
    f->bins[COUNT_HOP] = bin_of(space.diameter) + 1;
    f->bins[SUM_SERVER] = occupancy ? 1 : space.n;
    memcpy(f->likely, f->bins, sizeof f->likely);
    const uint64_t likely = likely_loads(space.n, m, s.draws == 0 && !occupancy);
    if (likely < f->bins[COUNT_LOAD])
        f->likely[COUNT_LOAD] = f->likely[COUNT_MAX_LOAD] = likely;
    return true;
}

static bool uses(const struct value *v, unsigned parameter) {
    return parameter != BALLS_TIES || policy_of(v[BALLS_POLICY].entry)->settles_ties;
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

static void *prepare(const struct value *v) {
    const struct policy *policy = policy_of(v[BALLS_POLICY].entry);
    struct balls *p = allocate(1, sizeof *p);
    struct reason why;
    unsigned at = 0;
    CHECK(topology_of(v[BALLS_TOPOLOGY].entry)
              ->describe(v[BALLS_TOPOLOGY].entry->values, &p->sampler.space, &why, &at));
    p->n = p->sampler.space.n;
    p->m = value_count(&v[BALLS_BALLS], p->n);
    p->occupancy = v[BALLS_METHOD].word == 1;
    if (p->occupancy) {
        policy->ranks(v[BALLS_POLICY].entry->values, p->n, &p->ranks);
        return p;
    }
    p->sampler.policy = policy;
    p->sampler.n = (uint32_t)p->n;
    p->sampler.ties = v[BALLS_TIES].word == 1 ? TIES_ORIGIN : TIES_FAIR;
    policy->prepare(v[BALLS_POLICY].entry->values, &p->sampler);
    p->width = first_width(p->n, p->m);
    p->stays = p->sampler.blind && p->sampler.space.form == FORM_COMPLETE;
    if (p->stays && p->n > 1) {
        stay_table(p->n, CHUNK, p->stay[0]);
        stay_table(p->n, (unsigned)(p->m % CHUNK), p->stay[1]);
    }
    return p;
}

static void release(void *prepared) {
    struct balls *p = prepared;
    if (p)
        ISA(near_free)(p->sampler.near);
    free(p);
}

static uint64_t play(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *out) {
    const struct balls *p = prepared;
    return p->occupancy ? ISA(balls_occupancy)(p, key, work, out)
                        : ISA(balls_servers)(p, key, work, out);
}

static void add(struct outcome *out, unsigned h, uint64_t batch, uint64_t bin, uint64_t count) {
    if (!out->histogram[h])
        return;
    CHECK(bin < out->stride[h]);
    out->histogram[h][batch * out->stride[h] + bin] += count;
    if (out->used[h] <= bin)
        out->used[h] = bin + 1;
}

void ISA(balls_record)(const struct balls *p, const struct census *c, uint64_t index,
                       struct outcome *out) {
    const uint64_t floor_load = p->m / p->n, batch = (out->first + index) % BATCHES;
    uint64_t servers = 0, balls = 0, low = UINT64_MAX, high = 0;
    uint128 spread = 0;
    for (uint64_t k = 0; k < c->n_levels; k++) {
        if (!c->level[k])
            continue;
        const uint64_t load = c->base + k,
                       apart = load > floor_load ? load - floor_load : floor_load - load;
        low = low < load ? low : load;
        high = load;
        servers += c->level[k];
        balls += c->level[k] * load;
        spread += (uint128)apart * apart * c->level[k];
        add(out, COUNT_LOAD, batch, bin_of(load), c->level[k]);
    }
    CHECK(servers == p->n && balls == p->m && spread < (uint128)1 << 63);
    add(out, COUNT_MAX_LOAD, 0, bin_of(high), 1);
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally[ROW_MAX_LOAD] = (int64_t)high;
    const uint128 gap = (uint128)(high - floor_load) * p->n - p->m % p->n;
    CHECK(gap < (uint128)1 << 63);
    tally[ROW_GAP] = (int64_t)gap;
    tally[ROW_MIN_LOAD] = (int64_t)low;
    tally[ROW_EMPTY] = low == 0 ? (int64_t)c->level[0] : 0;
    tally[ROW_VARIANCE] = (int64_t)spread;
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
