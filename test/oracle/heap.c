/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Model `queue`, the obvious way: a binary heap of events (arrivals, departures, breakdowns,
 * repairs), a list of jobs at every server, and servers that are stopped and started by events. It
 * shares with the program the addressed random words (rng.h) and nothing else, so that the two must
 * agree job for job, up to the rounding of times. Graphs and placement policies are those of naive.c;
 * laws, streams and failures are written from the heads of laws/, arrivals.h, failures.h and
 * kernels/policies.
 *
 *     heap NAME=VALUE ..
 *
 * seed; key, the canonical text that is hashed with it; first, end: replications; jobs of each.
 * topology, policy, ties, arrivals, service, failures: canonical texts; edges: a file of `potluck
 * graph --write`. lambda, scope, synchronised, service_mean, redirectable. arrival_rates,
 * service_rates, windows (server from to ..), trace (rows of `columns` numbers): lists of numbers.
 * Prints for each replication for each stretch of service "served job from to", its number, and for
 * each job "job number arrival service origin server hops seen_origin seen begins ends": seen are
 * the jobs it finds at its origin and at its server. */
#define main naive_main
#include "naive.c"
#undef main

#include "heap_parts.h"

/* ---- the system ---- */

struct job {
    double arrives, service, begins, ends, left;
    uint32_t origin, server;
    uint64_t seen_origin, seen; /* jobs there when it came: at its origin, at its server */
    struct job *next;
};

struct server {
    double speed, since; /* since: the running service goes on */
    struct job *first, *last;
    uint64_t number, version;
    bool up, serving;
    uint64_t cycle; /* of up and down */
    double up_left; /* of the time up, where only serving counts */
};

static struct job *jobs;
static struct server *servers;
static double now;

/* ---- failures ---- */

static struct {
    bool any, while_idle, repeat, windows, all_up;
    struct times up, down;
    double (*window)[3]; /* server from to */
    size_t count;
} failures;

static void serve(uint32_t who);
static double up_time(uint32_t who, uint64_t cycle);
static double down_time(uint32_t who, uint64_t cycle);

/* The stretch of service that goes on is over. */
static void stop(uint32_t who) {
    struct server *s = &servers[who];
    const double served = now - s->since;
    printf("served %td %.17g %.17g\n", s->first - jobs, s->since, now);
    s->first->left = failures.repeat ? s->first->service / s->speed : s->first->left - served;
    s->serving = false;
    s->version++;
    if (!failures.while_idle)
        s->up_left -= served;
}

static void go_down(uint32_t who) {
    struct server *s = &servers[who];
    if (s->serving)
        stop(who);
    s->up = false;
    if (!failures.windows)
        push((struct event){now + down_time(who, s->cycle), REPAIR, who, 0});
}

static void come_up(uint32_t who) {
    struct server *s = &servers[who];
    s->up = true;
    if (!failures.windows) {
        const double up = up_time(who, ++s->cycle);
        if (failures.while_idle)
            push((struct event){now + up, FAILURE, who, 0});
        else
            s->up_left = up;
    }
    serve(who);
}

/* The server works on its first job if it can. */
static void serve(uint32_t who) {
    struct server *s = &servers[who];
    if (!s->up || s->serving || !s->first)
        return;
    s->serving = true;
    s->since = now;
    if (isnan(s->first->begins))
        s->first->begins = now;
    push((struct event){now + s->first->left, DEPARTURE, who, s->version});
    if (failures.any && !failures.while_idle)
        push((struct event){now + s->up_left, FAILURE, who, s->version});
}

static void leave(uint32_t who) {
    struct server *s = &servers[who];
    stop(who);
    s->first->ends = now;
    s->first = s->first->next;
    s->number--;
    if (failures.any && !failures.while_idle && s->up_left <= 0)
        go_down(who); /* the time up is over with the job */
    serve(who);
}

static void join_queue(struct job *j) {
    struct server *s = &servers[j->server];
    j->seen = s->number++;
    j->left = j->service / s->speed;
    if (s->first)
        s->last->next = j;
    else
        s->first = j;
    s->last = j;
    serve(j->server);
}

/* ---- laws of the failures; windows ---- */

#define APART 0x40000000u /* lanes from here on belong to no server */

static double of_server(const struct times *t, enum purpose purpose, uint32_t who, uint64_t i) {
    return draw(t, purpose, who * lanes(t), i);
}

static double up_time(uint32_t who, uint64_t cycle) {
    return of_server(&failures.up, PURPOSE_UP, who, cycle);
}

static double down_time(uint32_t who, uint64_t cycle) {
    return of_server(&failures.down, PURPOSE_DOWN, who, cycle);
}

static void read_failures(const char *text) {
    failures.any = !is_called(text, "none");
    failures.windows = is_called(text, "windows");
    failures.repeat = parameter_is(text, "resume", "repeat");
    failures.while_idle = !parameter_is(text, "while_idle", "false");
    failures.all_up = parameter_is(text, "start", "all-up");
    if (failures.windows) {
        double all[3 * 64];
        failures.count = list(setting("windows", NULL), all, 3 * 64) / 3;
        failures.window = get(failures.count, sizeof *failures.window);
        memcpy(failures.window, all, failures.count * sizeof *failures.window);
    } else if (failures.any) {
        failures.up = read_law(parameter(text, "up"), (double)NAN);
        failures.down = read_law(parameter(text, "down"), (double)NAN);
    }
}

/* Servers at time 0. In equilibrium cycle 0 is under way. */
static void begin_failures(void) {
    for (size_t i = 0; i < failures.count; i++) {
        const uint32_t who = (uint32_t)failures.window[i][0];
        push((struct event){failures.window[i][1], FAILURE, who, 0});
        push((struct event){failures.window[i][2], REPAIR, who, 0});
    }
    for (uint32_t who = 0; failures.any && !failures.windows && who < n; who++) {
        const double share =
            mean_of(&failures.up) / (mean_of(&failures.up) + mean_of(&failures.down));
        double left;
        if (failures.all_up)
            left = up_time(who, 0);
        else
            left = residual(&failures.up, PURPOSE_UP, APART, who);
        if (!failures.while_idle) {
            servers[who].up_left = left;
        } else if (failures.all_up ||
                   (rng_word(words, PURPOSE_UP, APART + LAW_LANES, who) + 0.5) * 0x1p-32 < share) {
            push((struct event){left, FAILURE, who, 0});
        } else {
            servers[who].up = false;
            push(
                (struct event){residual(&failures.down, PURPOSE_DOWN, APART, who), REPAIR, who, 0});
        }
    }
}

/* ---- arrivals ---- */

static struct {
    enum { POISSON, BATCH, MMPP, TRACE, RENEWAL } kind;
    bool total, synchronised, by_rate, each; /* each server has a stream */
    struct times gap, stay;
    double lambda, all; /* rates: of a server, of all together */
    double *rate;       /* multipliers */
    uint64_t size;      /* jobs of a batch */
    uint64_t *count;    /* per stream: gaps used */
    uint64_t batches;
    double rates[VALUES], switches[VALUES]; /* mmpp */
    unsigned states;
    struct modulation {
        unsigned state;
        double until, level, level_until, since, sum;
        uint64_t stays, values;
    } * chain;     /* per stream */
    double *trace; /* rows of `columns` numbers */
    unsigned columns;
    uint64_t rows;
} stream;

static uint32_t *share_of, *other_of; /* Walker's table of origins by rate */

static void fill_origins(void) {
    double sum = 0, *left = get(n, sizeof *left);
    uint32_t *small = get(n, sizeof *small), *large = get(n, sizeof *large);
    uint32_t smalls = 0, larges = 0, some = 0;
    share_of = get(n, sizeof *share_of);
    other_of = get(n, sizeof *other_of);
    for (uint32_t i = 0; i < n; i++)
        sum += stream.rate[i];
    for (uint32_t i = 0; i < n; i++) {
        left[i] = stream.rate[i] / sum * n;
        share_of[i] = UINT32_MAX;
        other_of[i] = i;
        if (left[i] < 1)
            small[smalls++] = i;
        else
            large[larges++] = i;
    }
    while (smalls && larges) {
        const uint32_t poor = small[--smalls], rich = large[larges - 1];
        share_of[poor] = (uint32_t)(left[poor] * 0x1p32);
        other_of[poor] = rich;
        left[rich] -= 1 - left[poor];
        if (left[rich] < 1)
            small[smalls++] = large[--larges];
    }
    while (stream.rate[some] <= 0)
        some++;
    while (smalls) {
        const uint32_t i = small[--smalls];
        if (stream.rate[i] <= 0) {
            share_of[i] = 0;
            other_of[i] = some;
        }
    }
    free(left);
    free(small);
    free(large);
}

static uint32_t origin_of(uint64_t i) {
    const uint32_t slot = rng_below(words, PURPOSE_ORIGIN, 0, i, n);
    if (!stream.by_rate)
        return slot;
    return rng_word(words, PURPOSE_ORIGIN, 1, i) < share_of[slot] ? slot : other_of[slot];
}

static void read_arrivals(const char *text) {
    stream.kind = is_called(text, "poisson") ? POISSON
                  : is_called(text, "batch") ? BATCH
                  : is_called(text, "mmpp")  ? MMPP
                  : is_called(text, "trace") ? TRACE
                                             : RENEWAL;
    stream.total = !strcmp(setting("scope", "server"), "total");
    stream.synchronised = !strcmp(setting("synchronised", "false"), "true");
    stream.by_rate = *setting("arrival_rates", "");
    stream.rate = multipliers("arrival_rates", n);
    stream.lambda = strtod(setting("lambda", "1"), NULL);
    stream.size = stream.kind == BATCH ? number(text, "size") : 1;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += stream.rate[i];
    stream.all = stream.lambda * (stream.by_rate ? sum : n);
    stream.stay = read_law("exponential", 1);
    if (stream.kind == RENEWAL)
        stream.gap = read_law(text, stream.total ? 1 / stream.all : 1 / stream.lambda);
    else
        stream.gap = read_law("exponential", stream.kind == MMPP ? 1 : stream.size / stream.all);
    if (stream.kind == MMPP) {
        stream.states = list(parameter(text, "rates"), stream.rates, VALUES);
        const char *at = parameter(text, "switch");
        const unsigned given = list(at, stream.switches, *at == '[' ? VALUES : 1);
        for (unsigned i = given; i < stream.states; i++)
            stream.switches[i] = stream.switches[0];
    }
    if (stream.kind == TRACE) {
        stream.trace = get(1 << 16, sizeof *stream.trace);
        const unsigned numbers = list(setting("trace", NULL), stream.trace, 1 << 16);
        stream.columns = (unsigned)strtoul(setting("columns", "1"), NULL, 10);
        stream.rows = numbers / stream.columns;
    }
    stream.each = !stream.total && (stream.kind == RENEWAL || stream.kind == MMPP);
    if (stream.by_rate && !stream.each)
        fill_origins();
    stream.count = get(n, sizeof *stream.count);
    stream.chain = get(n, sizeof *stream.chain);
}

/* ---- the modulated stream: rates round a cycle of states ---- */

static double cycle(bool weighted) {
    double sum = 0;
    for (unsigned i = 0; i < stream.states; i++)
        sum += (weighted ? stream.rates[i] : 1) / stream.switches[i];
    return sum;
}

/* Of a stream: all servers', or one server's. */
static double stream_rate(uint32_t who) {
    return stream.total ? stream.all : stream.lambda * stream.rate[who];
}

static double state_rate(uint32_t who) {
    return stream.rates[stream.chain[who].state] / (cycle(true) / cycle(false)) * stream_rate(who);
}

static void next_stay(uint32_t who) {
    struct modulation *m = &stream.chain[who];
    const uint32_t lane = stream.total ? APART + LAW_LANES : 2 * APART + who * lanes(&stream.stay);
    const double stay =
        draw(&stream.stay, PURPOSE_ARRIVAL, lane, m->stays++) / stream.switches[m->state];
    m->since = m->until;
    m->level = m->level_until;
    m->until += stay;
    m->level_until += stay * state_rate(who);
}

static void begin_modulation(uint32_t who) {
    struct modulation *m = &stream.chain[who];
    const double u = (rng_word(words, PURPOSE_ARRIVAL, APART + 2 * LAW_LANES, who) + 0.5) * 0x1p-32;
    double share = 0;
    *m = (struct modulation){0};
    for (; m->state + 1 < stream.states; m->state++) {
        share += 1 / stream.switches[m->state] / cycle(false);
        if (u < share)
            break;
    }
    next_stay(who);
}

static double modulated(uint32_t who) {
    struct modulation *m = &stream.chain[who];
    if (stream_rate(who) <= 0)
        return (double)INFINITY;
    m->sum += of_server(&stream.gap, PURPOSE_ARRIVAL, who, m->values++);
    while (m->sum >= m->level_until) {
        m->state = (m->state + 1) % stream.states;
        next_stay(who);
    }
    return m->since + (m->sum - m->level) / state_rate(who);
}

/* ---- streams as events ---- */

/* The next arrival of a stream after `time`; `who` is a server, or 0 when there is one stream. */
static void next_arrival(double time, uint32_t who, uint64_t job) {
    double gap = 0;
    switch (stream.kind) {
    case POISSON:
        time += draw(&stream.gap, PURPOSE_ARRIVAL, 0, job);
        break;
    case BATCH:
        time += draw(&stream.gap, PURPOSE_ARRIVAL, 0, stream.batches);
        break;
    case MMPP:
        time = modulated(who);
        if (isinf(time))
            return;
        break;
    case TRACE:
        if (job >= stream.rows)
            return;
        time = stream.trace[job * stream.columns];
        break;
    case RENEWAL:
        if (stream.total) {
            gap = job > 0 || stream.synchronised ? draw(&stream.gap, PURPOSE_ARRIVAL, 0, job)
                                                 : residual(&stream.gap, PURPOSE_ARRIVAL, APART, 0);
        } else {
            const bool first = stream.count[who] == 0;
            const uint64_t used = stream.count[who]++;
            if (stream.rate[who] <= 0)
                return;
            if (stream.synchronised)
                gap = of_server(&stream.gap, PURPOSE_ARRIVAL, who, used);
            else
                gap = first ? residual(&stream.gap, PURPOSE_ARRIVAL, APART, who)
                            : of_server(&stream.gap, PURPOSE_ARRIVAL, who, used - 1);
            gap /= stream.rate[who];
        }
        time += gap;
    }
    push((struct event){time, ARRIVAL, who, 0});
}

static void begin_arrivals(void) {
    const uint32_t streams = stream.each ? n : 1;
    stream.batches = 0;
    for (uint32_t i = 0; i < streams && stream.kind == MMPP; i++)
        begin_modulation(i);
    for (uint32_t i = 0; i < n; i++)
        stream.count[i] = 0;
    for (uint32_t i = 0; i < streams; i++)
        next_arrival(0, i, 0);
}

/* ---- where jobs go ---- */

static enum {
    PLACED, /* by naive.c */
    RANDOM,
    ROUND_ROBIN,
    BLOCK_OF_JOBS,
    PERMUTED,
    SEQUENCE,
    JSQ,
    JIQ,
    LEAST_WORK
} router;
static struct {
    bool distributed, others;
    enum { FIRST_RANDOM, FIRST_OWN, FIRST_COMMON } first;
    uint64_t size, sent;
    double *list;
    unsigned length;
    uint32_t *turn;  /* per origin: how many jobs it has sent */
    uint32_t *order; /* permuted */
} dealer;

static void read_route(const char *text, const char *topology) {
    static const char *const names[] = {
        "", "random", "round-robin", "block", "permuted", "sequence", "jsq", "jiq", "least-work"};
    for (router = LEAST_WORK; router > PLACED && !is_called(text, names[router]);)
        router--;
    if (router == PLACED)
        read_policy(text, topology);
    dealer.distributed = parameter_is(text, "scope", "distributed");
    dealer.others = parameter_is(text, "targets", "others");
    dealer.first = parameter_is(text, "first", "own")      ? FIRST_OWN
                   : parameter_is(text, "first", "common") ? FIRST_COMMON
                                                           : FIRST_RANDOM;
    dealer.size = router == BLOCK_OF_JOBS ? number(text, "size") : 1;
    dealer.list = get(4096, sizeof *dealer.list);
    const char *at = parameter(text, router == SEQUENCE ? "servers" : "shares");
    dealer.length = at ? list(at, dealer.list, 4096) : 0;
    d = router == LEAST_WORK && parameter(text, "d") ? (uint32_t)number(text, "d") : d;
    dealer.turn = get(n, sizeof *dealer.turn);
    dealer.order = get(n, sizeof *dealer.order);
}

static void begin_route(void) {
    dealer.sent = 0;
    for (uint32_t i = 0; i < n; i++) {
        dealer.turn[i] = 0;
        dealer.order[i] = i;
    }
}

/* A uniform one, by number, of the servers with this load, or the origin if it has it and wins
 * ties. */
static uint32_t of_load(uint64_t load, uint64_t job, uint32_t origin) {
    uint32_t size = 0, to = 0;
    for (uint32_t i = 0; i < n; i++)
        size += servers[i].number == load;
    if (origin_wins && servers[origin].number == load)
        return origin;
    for (uint32_t rank = rng_below(words, PURPOSE_TIE, 1, job, size);; to++)
        if (servers[to].number == load && rank-- == 0)
            return to;
}

static uint64_t least_number(void) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++)
        least = servers[i].number < least ? servers[i].number : least;
    return least;
}

/* When a server is done with what it has, if nothing fails. */
static double free_at(uint32_t v) {
    const struct server *s = &servers[v];
    double at = now;
    for (const struct job *j = s->first; j; j = j->next)
        at += j->left - (j == s->first && s->serving ? now - s->since : 0);
    return at;
}

static uint32_t least_work(uint64_t job, uint32_t origin) {
    uint32_t v[MANY] = {0}, best = 0;
    if (!d) {
        if (least_number() == 0)
            return of_load(0, job, origin);
        for (uint32_t i = 1; i < n; i++)
            best = free_at(i) < free_at(best) ? i : best;
        return best;
    }
    draw_choices(job, n, d, false, v);
    if (origin_wins)
        origin_first(origin, v, d);
    for (unsigned c = 1; c < d; c++)
        best = free_at(v[c]) < free_at(v[best]) ? c : best;
    return v[best];
}

/* Round robin: turns of server u go round the servers from `first` on. */
static uint32_t in_turn(uint32_t origin) {
    const uint32_t u = dealer.distributed ? origin : 0, others = dealer.others, all = n - others;
    const uint32_t first = dealer.first == FIRST_RANDOM ? rng_below(words, PURPOSE_ROUTE, 0, u, all)
                           : dealer.first == FIRST_OWN || u == 0 ? 0
                                                                 : n - u - others;
    return (u + others + (first + dealer.turn[u]++) % all) % n;
}

static uint32_t by_shares(uint64_t job) {
    const uint64_t x = fraction(PURPOSE_CANDIDATE, 0, job);
    double sum = 0, before = 0;
    uint32_t to = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += dealer.list[i % dealer.length];
    for (uint32_t i = 0; i < n; i++) {
        if (units(before / sum) <= x)
            to = i;
        before += dealer.list[i % dealer.length];
    }
    return to;
}

static uint32_t permuted_next(uint64_t job) {
    const uint32_t gone = (uint32_t)(dealer.sent++ % n), pick = gone + below(0, job, n - gone);
    const uint32_t to = dealer.order[pick];
    dealer.order[pick] = dealer.order[gone];
    dealer.order[gone] = to;
    return to;
}

static uint32_t placed(uint64_t job, uint32_t *origin, bool may) {
    uint32_t v[MANY] = {0};
    uint64_t *load = get(n, sizeof *load);
    for (uint32_t i = 0; i < n; i++)
        load[i] = servers[i].number;
    const unsigned candidates = draw_candidates(job, origin, v);
    const uint32_t to = may ? choose(job, *origin, v, candidates, load) : *origin;
    free(load);
    return to;
}

/* Where a job goes; `edge` gives it another origin. */
static uint32_t route(uint64_t job, uint32_t *origin, bool may) {
    if (router == PLACED)
        return placed(job, origin, may);
    if (!may)
        return *origin;
    switch (router) {
    case RANDOM:
        return dealer.length ? by_shares(job) : below(0, job, n);
    case ROUND_ROBIN:
        return in_turn(*origin);
    case BLOCK_OF_JOBS:
        return (uint32_t)((rng_below(words, PURPOSE_ROUTE, 0, 0, n) + dealer.sent++ / dealer.size) %
                          n);
    case PERMUTED:
        return permuted_next(job);
    case SEQUENCE:
        return (uint32_t)dealer.list[dealer.sent++ % dealer.length];
    case JSQ:
        return of_load(least_number(), job, *origin);
    case JIQ:
        return least_number() == 0 ? of_load(0, job, *origin) : *origin;
    default:
        return least_work(job, *origin);
    }
}

/* ---- one replication ---- */

static uint64_t total; /* jobs */
static struct times service;
static uint64_t redirects; /* probability in units of 2^-32 */

static void arrive(uint64_t number, uint32_t origin, double needs) {
    struct job *j = &jobs[number];
    *j = (struct job){.arrives = now, .service = needs, .begins = (double)NAN, .ends = (double)NAN};
    const bool may =
        redirects > UINT32_MAX || rng_word(words, PURPOSE_REDIRECT, 0, number) < redirects;
    j->server = route(number, &origin, may);
    j->origin = origin;
    j->seen_origin = servers[origin].number;
    join_queue(j);
}

/* An event of a stream: a job, or a batch of them. */
static uint64_t arrivals_at(struct event e, uint64_t number) {
    uint32_t origin = stream.kind == BATCH ? origin_of(stream.batches++)
                      : stream.each        ? e.who
                                           : origin_of(number);
    const double *row = stream.kind == TRACE ? &stream.trace[number * stream.columns] : NULL;
    if (row && stream.columns > 1)
        origin = (uint32_t)row[1];
    for (uint64_t i = 0; i < stream.size && number < total; i++, number++)
        arrive(number, origin,
               row && stream.columns > 2 ? row[2] : draw(&service, PURPOSE_SERVICE, 0, number));
    if (number < total)
        next_arrival(now, e.who, number);
    return number;
}

static void play_queues(uint64_t replication) {
    uint64_t came = 0, left = total;
    words.replication = (uint32_t)replication;
    events = 0;
    double *speed = multipliers("service_rates", n);
    for (uint32_t i = 0; i < n; i++)
        servers[i] = (struct server){.speed = speed[i], .up = true};
    free(speed);
    begin_route();
    begin_failures();
    begin_arrivals();
    while (left && events) {
        const struct event e = pop();
        struct server *s = &servers[e.who];
        now = e.time;
        if (e.what == ARRIVAL) {
            came = arrivals_at(e, came);
        } else if (e.what == DEPARTURE) {
            if (e.version != s->version)
                continue;
            leave(e.who);
            left--;
        } else if (e.what == REPAIR) {
            come_up(e.who);
        } else if (failures.while_idle || e.version == s->version) {
            go_down(e.who);
        }
    }
    printf("replication %" PRIu64 "\n", replication);
    for (uint64_t i = 0; i < came; i++) {
        const struct job *j = &jobs[i];
        printf("job %" PRIu64 " %.17g %.17g %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64
               " %" PRIu64 " %.17g %.17g\n",
               i, j->arrives, j->service, j->origin, j->server, hops_between(j->origin, j->server),
               j->seen_origin, j->seen, j->begins, j->ends);
    }
}

int main(int argc, char **argv) {
    settings = argv + 1;
    if (argc < 2)
        fail("usage: heap NAME=VALUE ..");
    words.key = rng_key(strtoull(setting("seed", NULL), NULL, 10), setting("key", NULL));
    origin_wins = !strcmp(setting("ties", "fair"), "origin");
    const char *edges_of = setting("edges", "");
    build(setting("topology", NULL), *edges_of ? edges_of : NULL);
    read_route(setting("policy", NULL), setting("topology", NULL));
    read_arrivals(setting("arrivals", "poisson"));
    read_failures(setting("failures", "none"));
    service =
        read_law(setting("service", "exponential"), strtod(setting("service_mean", "nan"), NULL));
    redirects = (uint64_t)(strtod(setting("redirectable", "1"), NULL) * 0x1p32);
    total = strtoull(setting("jobs", NULL), NULL, 10);
    jobs = get(total, sizeof *jobs);
    servers = get(n, sizeof *servers);
    for (uint64_t r = strtoull(setting("first", "0"), NULL, 10);
         r < strtoull(setting("end", "1"), NULL, 10); r++)
        play_queues(r);
    return 0;
}
