/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: what is recorded. Virtual-server actions are counted as Ledlie and Seltzer count them: one for
 * each virtual server that comes or goes with its node, is made, deleted or given away, two for one that
 * leaves and rejoins; splits and shifts along the ring are told apart and not among them. */
#include "dht_play.h"

#include <math.h>
#include <string.h>

static void add_sums(struct dht_sums *to, const struct dht_sums *step) {
    to->queries += step->queries;
    to->succeeded += step->succeeded;
    to->dropped += step->dropped;
    to->lost += step->lost;
    to->hops += step->hops;
    to->received += step->received;
    to->steps += step->steps;
    to->node_seconds += step->node_seconds;
    to->server_seconds += step->server_seconds;
    to->overloaded += step->overloaded;
    to->work += step->work;
}

static double ratio(double a, double b, double otherwise) {
    return b > 0 ? a / b : otherwise;
}

static int64_t in_units(double value, double unit) {
    const double units = rint(value / unit);
    return units < 0x1p62 ? (int64_t)units : (int64_t)1 << 62;
}

static void add_all(struct outcome *out, unsigned h, const uint64_t *count, uint64_t bins) {
    for (uint64_t bin = 0; bin < bins; bin++)
        if (count[bin])
            outcome_add(out, h, 0, bin, count[bin]);
}

/* Where a share of the counted utilisations lies below, between the ends of its bin. */
static double utilisation_quantile(const uint64_t *bins, uint64_t count, double share) {
    const double wanted = share * (double)count;
    uint64_t below = 0;
    for (uint64_t bin = 0; bin < UTILISATION_BINS; bin++) {
        const uint64_t here = bins[bin];
        if (here && (double)(below + here) >= wanted) {
            const double low = time_bin_begin(bin, UTILISATION_LOG),
                         high = time_bin_begin(bin + 1, UTILISATION_LOG);
            return bin ? low + (high - low) * ((wanted - (double)below) / (double)here) : 0;
        }
        below += here;
    }
    return 0;
}

/* The least number of virtual servers that a share of the node-seconds do not exceed. */
static double servers_quantile(const uint64_t *bins, uint64_t count, double share) {
    const double wanted = share * (double)count;
    uint64_t below = 0;
    for (uint64_t bin = 0; bin < SERVER_BINS; bin++) {
        below += bins[bin];
        if (below && (double)below >= wanted)
            return (double)bin_lower(bin);
    }
    return 0;
}

static double artificial(const struct dht_sums *s) {
    const uint64_t *e = s->events;
    return (double)(e[EVENT_CREATE] + e[EVENT_DELETE] + e[EVENT_GIVE] + 2 * e[EVENT_MOVE]);
}
static double natural(const struct dht_sums *s) {
    return (double)(s->events[EVENT_JOIN] + s->events[EVENT_LEAVE]);
}
static double success(const struct dht_sums *s) {
    return 1 - ratio((double)(s->dropped + s->lost), (double)s->queries, 0);
}
static double per_node_hour(const struct dht_sums *s, double count) {
    return ratio(3600 * count, (double)s->node_seconds, 0);
}
static double space_per_hour(const struct dht_sums *s) {
    return ratio(3600 * (s->moved_space * 0x1p-64), (double)s->steps, 0);
}

/* ---- the series ---- */

static void add_series(struct outcome *out, unsigned h, uint64_t batch, uint64_t bin,
                       double value) {
    const double kept = value < DHT_SERIES_TOP ? value : DHT_SERIES_TOP;
    outcome_add(out, h, batch, bin,
                (uint64_t)in_units(kept, h == SERIES_SUCCESS ? DHT_SHARE_UNIT : DHT_SERIES_UNIT));
}

static void close_interval(struct dht *d, struct outcome *out, uint64_t index) {
    struct dht_play *q = d->play;
    const struct dht_sums *s = &q->interval;
    const uint64_t bin = d->step / d->p->interval, batch = (out->first + index) % BATCHES;
    add_series(out, SERIES_SUCCESS, batch, bin, success(s));
    add_series(out, SERIES_HOPS, batch, bin, ratio((double)s->hops, (double)s->succeeded, 0));
    add_series(out, SERIES_UTILISATION, batch, bin, utilisation_quantile(q->now, d->n_up, 0.95));
    add_series(out, SERIES_NODES, batch, bin, ratio((double)s->node_seconds, (double)s->steps, 0));
    add_series(out, SERIES_SERVERS, batch, bin,
               ratio((double)s->server_seconds, (double)s->node_seconds, 0));
    add_series(out, SERIES_NATURAL, batch, bin, per_node_hour(s, natural(s)));
    add_series(out, SERIES_ARTIFICIAL, batch, bin, per_node_hour(s, artificial(s)));
    add_series(out, SERIES_MOVED_SPACE, batch, bin, space_per_hour(s));
    q->interval = (struct dht_sums){0};
}

/* ---- steps ---- */

void ISA(dht_record_begin)(struct dht *d) {
    struct dht_play *q = d->play;
    q->sums = q->interval = (struct dht_sums){0};
    memset(q->total, 0, d->p->n * sizeof *q->total);
    memset(q->seconds, 0, d->p->n * sizeof *q->seconds);
    memset(q->utilisation, 0, UTILISATION_BINS * sizeof *q->utilisation);
    memset(q->servers_of_node, 0, SERVER_BINS * sizeof *q->servers_of_node);
    memset(q->hop_bins, 0, DHT_HOP_BINS * sizeof *q->hop_bins);
    memset(q->moves_by_class, 0, CAPACITY_BINS * sizeof *q->moves_by_class);
    memset(q->seconds_by_class, 0, CAPACITY_BINS * sizeof *q->seconds_by_class);
}

/* Nodes as they are now, into the bins of this step. */
static void look_at_nodes(struct dht *d, struct dht_sums *step) {
    struct dht_play *q = d->play;
    for (uint32_t k = 0; k < d->n_up; k++) {
        const uint32_t node = d->up[k];
        const double work = dht_work(d, node), utilisation = work / d->capacity[node];
        q->now[time_bin_at(utilisation, UTILISATION_LOG)]++;
        step->work += work;
        step->overloaded += utilisation > 1;
    }
}

static void count_nodes(struct dht *d) {
    struct dht_play *q = d->play;
    for (uint32_t k = 0; k < d->n_up; k++) {
        const uint32_t node = d->up[k];
        const uint64_t bin = bin_of(d->servers[node]);
        q->servers_of_node[bin < SERVER_BINS ? bin : SERVER_BINS - 1]++;
        q->seconds_by_class[dht_class(d->capacity[node])]++;
        q->total[node] += received_by(q, node);
        q->seconds[node]++;
    }
    for (uint64_t bin = 0; bin < UTILISATION_BINS; bin++)
        q->utilisation[bin] += q->now[bin];
}

void ISA(dht_record_step)(struct dht *d) {
    struct dht_play *q = d->play;
    struct dht_sums *step = &q->done;
    const uint64_t next = d->step + 1;
    q->shown = next % d->p->interval == 0 || next == d->p->duration;
    step->steps = 1;
    step->node_seconds = d->n_up;
    step->server_seconds = d->n_servers;
    if (q->counts || q->shown) {
        memset(q->now, 0, UTILISATION_BINS * sizeof *q->now);
        look_at_nodes(d, step);
    }
    add_sums(&q->interval, step);
    if (q->counts) {
        add_sums(&q->sums, step);
        count_nodes(d);
    }
}

void ISA(dht_record_turns)(struct dht *d, struct outcome *out, uint64_t index) {
    if (d->play->shown)
        close_interval(d, out, index);
}

/* ---- the end ---- */

/* Shares of the ring; and how well a line through the origin tells the work of nodes, over capacity, from their
 * shares: r^2 = (sum x y)^2 / (sum x^2 sum y^2). */
static void tally_shares(const struct dht *d, int64_t *tally) {
    const struct dht_play *q = d->play;
    double most = 0, least = 1, spread = 0, xx = 0, yy = 0, xy = 0;
    for (uint32_t k = 0; k < d->n_up; k++) {
        const uint32_t node = d->up[k];
        double share = 0;
        for (uint32_t v = d->first[node]; v != NO_SERVER; v = d->next[v])
            share += dht_arc(d, v) * 0x1p-64;
        const double x = share * d->n_up;
        most = share > most ? share : most;
        least = share < least ? share : least;
        spread += (x - 1) * (x - 1);
        if (!q->seconds[node])
            continue;
        const double work = (double)q->total[node] / (double)q->seconds[node] +
                            d->p->maintenance * d->servers[node],
                     y = work / d->capacity[node];
        xx += x * x, yy += y * y, xy += x * y;
    }
    tally[DHT_MAX_SHARE] = in_units(most, DHT_SHARE_UNIT);
    tally[DHT_MIN_SHARE] = in_units(d->n_up ? least : 0, DHT_SMALL_UNIT);
    tally[DHT_SHARE_VARIANCE] = in_units(ratio(spread, d->n_up, 0), DHT_UNIT);
    tally[DHT_SHARE_R2] = in_units(ratio(xy, xx, 0) * ratio(xy, yy, 0), DHT_SHARE_UNIT);
}

static void tally_queries(const struct dht_sums *s, int64_t *tally) {
    const double queries = (double)s->queries;
    tally[DHT_SUCCESS] = in_units(success(s), DHT_SHARE_UNIT);
    tally[DHT_DROPPED] = in_units(ratio((double)s->dropped, queries, 0), DHT_SHARE_UNIT);
    tally[DHT_LOST] = in_units(ratio((double)s->lost, queries, 0), DHT_SHARE_UNIT);
    tally[DHT_HOPS] = in_units(ratio((double)s->hops, (double)s->succeeded, 0), DHT_UNIT);
    tally[DHT_MESSAGES] = in_units(ratio(s->work, (double)s->node_seconds, 0), DHT_UNIT);
}

static void tally_nodes(const struct dht_play *q, int64_t *tally) {
    const struct dht_sums *s = &q->sums;
    const uint64_t all = s->node_seconds;
    tally[DHT_UTILISATION_Q50] = in_units(utilisation_quantile(q->utilisation, all, 0.5), DHT_UNIT);
    tally[DHT_UTILISATION_Q95] =
        in_units(utilisation_quantile(q->utilisation, all, 0.95), DHT_UNIT);
    tally[DHT_OVERLOADED] = in_units(ratio((double)s->overloaded, (double)all, 0), DHT_SHARE_UNIT);
    tally[DHT_NODES_UP] = in_units(ratio((double)all, (double)s->steps, 0), DHT_UNIT);
    tally[DHT_SERVERS] = in_units(ratio((double)s->server_seconds, (double)all, 0), DHT_UNIT);
    tally[DHT_SERVERS_Q50] = in_units(servers_quantile(q->servers_of_node, all, 0.5), DHT_UNIT);
    tally[DHT_SERVERS_Q95] = in_units(servers_quantile(q->servers_of_node, all, 0.95), DHT_UNIT);
}

static void tally_actions(const struct dht_sums *s, int64_t *tally) {
    static const struct {
        unsigned row;
        enum dht_event event;
    } kinds[] = {{DHT_CREATIONS, EVENT_CREATE}, {DHT_DELETIONS, EVENT_DELETE},
                 {DHT_TRANSFERS, EVENT_GIVE},   {DHT_RELOCATIONS, EVENT_MOVE},
                 {DHT_SPLITS, EVENT_SPLIT},     {DHT_SHIFTS, EVENT_SHIFT}};
    tally[DHT_NATURAL] = in_units(per_node_hour(s, natural(s)), DHT_UNIT);
    tally[DHT_ARTIFICIAL] = in_units(per_node_hour(s, artificial(s)), DHT_UNIT);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        tally[kinds[i].row] =
            in_units(per_node_hour(s, (double)s->events[kinds[i].event]), DHT_UNIT);
    const double work = ratio(s->work, (double)s->steps, 0);
    tally[DHT_MOVED_SPACE] = in_units(space_per_hour(s), DHT_UNIT);
    tally[DHT_MOVED_WORK] =
        in_units(ratio(3600 * ratio(s->moved_work, (double)s->steps, 0), work, 0), DHT_UNIT);
}

void ISA(dht_record_end)(struct dht *d, struct outcome *out, uint64_t index) {
    const struct dht_play *q = d->play;
    int64_t *tally = out->tally + index * DHT_ROWS;
    tally_queries(&q->sums, tally);
    tally_nodes(q, tally);
    tally_actions(&q->sums, tally);
    tally_shares(d, tally);
    for (uint64_t bin = 0; bin < UTILISATION_BINS; bin++)
        if (q->utilisation[bin])
            outcome_add(out, COUNT_UTILISATION, 0,
                        time_bin_at(time_bin_begin(bin, UTILISATION_LOG), TIME_LOG),
                        q->utilisation[bin]);
    add_all(out, COUNT_HOPS, q->hop_bins, DHT_HOP_BINS);
    add_all(out, COUNT_SERVERS, q->servers_of_node, SERVER_BINS);
    add_all(out, COUNT_RELOCATIONS, q->moves_by_class, CAPACITY_BINS);
    add_all(out, COUNT_NODE_SECONDS, q->seconds_by_class, CAPACITY_BINS);
}
