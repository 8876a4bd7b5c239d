/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "failures.h"

#include "lanes.h"
#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct law ISA(law_exponential);

enum { UP, DOWN, WHILE_IDLE, RESUME, START, ALTERNATING_PARAMETERS };
enum { WINDOWS_FILE, WINDOWS_RESUME, WINDOWS_PARAMETERS };
enum { WORD_RESUME, WORD_REPEAT };
enum { WORD_STATIONARY, WORD_ALL_UP };
enum { CYCLES_KEPT = 16 };       /* values of a law kept for a server */
enum { ATTEMPTS_MAX = 1 << 20 }; /* of a job that is repeated, before it counts as never done */

static const struct parameter of_alternating[ALTERNATING_PARAMETERS] = {
    [UP] = {.name = "up",
            .type = TYPE_ENTRY,
            .catalogue = &ISA(laws),
            .units = "1",
            .meaning = "law of the times up"},
    [DOWN] = {.name = "down",
              .type = TYPE_ENTRY,
              .catalogue = &ISA(laws),
              .units = "1",
              .meaning = "law of the times down"},
    [WHILE_IDLE] = {.name = "while_idle",
                    .type = TYPE_FLAG,
                    .standard = "true",
                    .units = "1",
                    .meaning = "whether idle servers fail too; otherwise times up are times spent "
                               "serving"},
    [RESUME] = {.name = "resume",
                .type = TYPE_WORD,
                .standard = "resume",
                .words = "resume|repeat",
                .units = "1",
                .meaning = "after a failure a job goes on with what is left of it, or begins anew"},
    [START] = {.name = "start",
               .type = TYPE_WORD,
               .standard = "stationary",
               .words = "stationary|all-up",
               .units = "1",
               .meaning = "servers at time 0: in equilibrium, or all newly repaired"},
};
static const struct parameter of_windows[WINDOWS_PARAMETERS] = {
    [WINDOWS_FILE] = {.name = "file",
                      .type = TYPE_FILE,
                      .units = "1",
                      .meaning = "lines of server from to, relative to the folder of the job file"},
    [WINDOWS_RESUME] = {.name = "resume",
                        .type = TYPE_WORD,
                        .standard = "resume",
                        .words = "resume|repeat",
                        .units = "1",
                        .meaning = "after a failure a job goes on with what is left of it, or "
                                   "begins anew"},
};
static const struct kind none = {"none", "servers never fail", "", NULL, 0};
static const struct kind alternating = {"alternating", "servers are up and down in turn", "",
                                        of_alternating, ALTERNATING_PARAMETERS};
static const struct kind windows = {"windows", "servers are down when a file says so", "",
                                    of_windows, WINDOWS_PARAMETERS};
static const struct kind *const kinds[] = {&none, &alternating, &windows};
const struct catalogue ISA(failures) = {"kind of failures", kinds, sizeof kinds / sizeof *kinds};

struct failures {
    uint64_t n;
    bool while_idle, repeat, all_up;
    double availability;
    struct sampled_law up, down;
    struct windows windows; /* windows.first is NULL: alternating */
};

/* What is ahead of a server. */
struct ahead {
    double fails;    /* it is up until then; while_idle false: time left to serve until it fails */
    double repaired; /* and down until then; while_idle false: down until then, or never was */
    uint64_t next;   /* cycle, or window, after that */
};

/* State of a replication; its arrays follow. */
struct outages {
    struct ahead *ahead; /* [n] */
    struct lane_values up, down;
};

static struct lanes ups(const struct failures *f) {
    return lanes_of(&f->up, PURPOSE_UP, f->n, CYCLES_KEPT);
}
static struct lanes downs(const struct failures *f) {
    return lanes_of(&f->down, PURPOSE_DOWN, f->n, CYCLES_KEPT);
}

static uint64_t memory_of(uint64_t n, bool laws) {
    const struct lanes l = lanes_of(NULL, PURPOSE_UP, n, CYCLES_KEPT);
    return sizeof(struct outages) + n * sizeof(struct ahead) + (laws ? 2 * lanes_memory(&l) : 0);
}

static bool examine_law(const struct value *v, struct law_facts *facts, const char *which,
                        uint64_t n, struct reason *why) {
    const struct law *law = law_of(v->entry->kind);
    const int mean = parameter_index(v->entry->kind, "mean");
    struct reason inside;
    unsigned at;
    if (!law->examine(v->entry->values, facts, &inside, &at))
        return refuse(why, "%s: %.250s", which, inside.text);
    if (mean >= 0)
        facts->mean = v->entry->values[mean].real;
    if (!(facts->mean > 0 && isfinite(facts->mean)))
        return refuse(why, "times %s of law %s have a mean of %g (allowed: above 0, finite)", which,
                      v->entry->kind->name, facts->mean);
    if (!lanes_suffice(facts, n))
        return refuse(why, "times %s for each of %llu servers (allowed with law %s: %llu)", which,
                      (unsigned long long)n, v->entry->kind->name, (1ull << 30) / facts->lanes);
    return true;
}

static bool examine_alternating(const struct value *v, uint64_t n, struct failures_facts *facts,
                                struct reason *why, unsigned *inner) {
    struct law_facts up, down;
    *inner = UP;
    if (!examine_law(&v[UP], &up, "up", n, why))
        return false;
    *inner = DOWN;
    if (!examine_law(&v[DOWN], &down, "down", n, why))
        return false;
    facts->state_dependent = v[WHILE_IDLE].real <= 0;
    facts->availability = up.mean / (up.mean + down.mean);
    facts->scale = up.mean + down.mean;
    facts->heavy = !isfinite(down.fourth) ? "down" : !isfinite(up.fourth) ? "up" : NULL;
    facts->bytes = sizeof(struct failures);
    facts->memory = memory_of(n, true);
    return true;
}

/* windows */
static const struct windows_words window_words = {"server", "down", "a window (server from to)"};

static bool examine_windows(const struct value *v, uint64_t n, struct failures_facts *facts,
                            struct reason *why, unsigned *inner) {
    struct attachment *file = v[WINDOWS_FILE].file;
    *inner = WINDOWS_FILE;
    if (!windows_check(file, n, &window_words, why))
        return false;
    facts->bytes = sizeof(struct failures) + windows_bytes(file, n);
    facts->memory = memory_of(n, false);
    return true;
}

bool ISA(failures_examine)(const struct entry *entry, uint64_t n, struct failures_facts *facts,
                           struct reason *why, unsigned *inner) {
    *facts = (struct failures_facts){.any = entry->kind != &none, .availability = 1};
    *inner = 0;
    if (entry->kind == &alternating)
        return examine_alternating(entry->values, n, facts, why, inner);
    return entry->kind != &windows || examine_windows(entry->values, n, facts, why, inner);
}

/* Whether some services take longer than any time up. */
static bool outlasts(const struct sampled_law *service, double speed, const struct entry *entry) {
    struct sampled_law up;
    ISA(law_prepare)(entry, (double)NAN, &up);
    const double mean = up.facts.mean;
    double low = 0, high = mean; /* up to a time that no time up exceeds, in means */
    while (high < 64 * mean && up.law->tail(&up, high) > 0)
        high *= 2;
    const bool bounded = !(up.law->tail(&up, high) > 0);
    for (unsigned step = 0; step < 60; step++) {
        const double middle = (low + high) / 2;
        if (up.law->tail(&up, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    ISA(law_free)(&up);
    return bounded && service->law->tail(service, high * (1 + 1e-9) * speed) > 0;
}

double ISA(failures_service)(const struct entry *entry, const struct sampled_law *service,
                             double speed) {
    const double mean = service->facts.mean / speed;
    const struct value *v = entry->values;
    struct law_facts up, down;
    struct reason why;
    if (entry->kind != &alternating || !examine_law(&v[UP], &up, "up", 1, &why) ||
        !examine_law(&v[DOWN], &down, "down", 1, &why))
        return mean;
    if (v[RESUME].word == WORD_RESUME)
        return mean * (1 + down.mean / up.mean);
    if (v[UP].entry->kind != &ISA(law_exponential).kind)
        return outlasts(service, speed, v[UP].entry) ? (double)INFINITY : (double)NAN;
    const double rate = 1 / up.mean, grown = service->law->mgf(service, rate / speed);
    /* exp(x) - 1 = x + x^2 / 2 where the difference would lose its digits. */
    const double attempts = rate * mean < 1e-6 && isfinite(grown)
                                ? mean + rate * service->facts.second / (2 * speed * speed)
                                : (grown - 1) * up.mean;
    return attempts * (1 + rate * down.mean);
}

struct failures *ISA(failures_prepare)(const struct entry *entry, uint64_t n) {
    struct failures *f = allocate(1, sizeof *f);
    const struct value *v = entry->values;
    f->n = n;
    if (entry->kind == &windows) {
        f->while_idle = true;
        f->repeat = v[WINDOWS_RESUME].word == WORD_REPEAT;
        windows_make(v[WINDOWS_FILE].file, n, &f->windows);
        return f;
    }
    CHECK(entry->kind == &alternating);
    f->while_idle = v[WHILE_IDLE].real > 0;
    f->repeat = v[RESUME].word == WORD_REPEAT;
    f->all_up = v[START].word == WORD_ALL_UP;
    ISA(law_prepare)(v[UP].entry, (double)NAN, &f->up);
    ISA(law_prepare)(v[DOWN].entry, (double)NAN, &f->down);
    f->availability = f->up.facts.mean / (f->up.facts.mean + f->down.facts.mean);
    return f;
}

void ISA(failures_free)(struct failures *f) {
    if (!f)
        return;
    ISA(law_free)(&f->up);
    ISA(law_free)(&f->down);
    windows_free(&f->windows);
    free(f);
}

static double up_time(const struct failures *f, const struct outages *o, struct stream s,
                      uint32_t server, uint64_t cycle) {
    const struct lanes l = ups(f);
    return lanes_value(&l, o->up, s, server, cycle);
}

static double down_time(const struct failures *f, const struct outages *o, struct stream s,
                        uint32_t server, uint64_t cycle) {
    const struct lanes l = downs(f);
    return lanes_value(&l, o->down, s, server, cycle);
}

/* Goes on to the next time up and the time down after it. */
static void advance(const struct failures *f, const struct outages *o, struct stream s,
                    uint32_t server) {
    struct ahead *a = &o->ahead[server];
    if (!f->windows.first) {
        a->fails = a->repaired + up_time(f, o, s, server, a->next);
        a->repaired = a->fails + down_time(f, o, s, server, a->next);
        a->next++;
    } else if (a->next < f->windows.first[server + 1]) {
        a->fails = f->windows.from[a->next];
        a->repaired = f->windows.to[a->next++];
    } else {
        a->fails = a->repaired = (double)INFINITY;
    }
}

/* while_idle: false: the time up is over at t. A time down, and the next time up. */
static void fail_at(const struct failures *f, const struct outages *o, struct stream s,
                    uint32_t server, double t) {
    struct ahead *a = &o->ahead[server];
    do {
        a->repaired = t + down_time(f, o, s, server, a->next);
        a->fails = up_time(f, o, s, server, ++a->next);
        t = a->repaired;
    } while (a->fails <= 0);
}

/* A server at time 0. In equilibrium, cycle 0 is the one that is under way. */
static void begin_server(const struct failures *f, const struct outages *o, struct stream s,
                         uint32_t server) {
    const struct lanes up = ups(f), down = downs(f);
    struct ahead *a = &o->ahead[server];
    *a = (struct ahead){0, 0, f->windows.first ? f->windows.first[server] : 0};
    if (!f->while_idle) {
        a->fails = f->all_up ? up_time(f, o, s, server, 0) : lanes_residual(&up, s, server);
        if (a->fails <= 0)
            fail_at(f, o, s, server, 0);
    } else if (f->windows.first || f->all_up) {
        advance(f, o, s, server);
    } else {
        const uint32_t word = rng_word(s, PURPOSE_UP, LANES_APART + LAW_LANES, server);
        a->next = 1;
        if ((word + 0.5) * 0x1p-32 < f->availability) {
            a->fails = lanes_residual(&up, s, server);
            a->repaired = a->fails + down_time(f, o, s, server, 0);
        } else {
            a->repaired = lanes_residual(&down, s, server);
        }
    }
}

void ISA(failures_begin)(const struct failures *f, void *memory, struct stream s) {
    struct outages *o = memory;
    o->ahead = (struct ahead *)(o + 1);
    if (!f->windows.first) {
        const struct lanes up = ups(f), down = downs(f);
        char *rest = (char *)(o->ahead + f->n);
        o->up = lanes_at(&up, rest, true);
        o->down = lanes_at(&down, rest + lanes_memory(&up), true);
    }
    for (uint32_t i = 0; i < f->n; i++)
        begin_server(f, o, s, i);
}

/* Whether a job that needs a whole time up longer than `work` waits for one for ever. */
static bool hopeless(const struct failures *f, double work, uint64_t attempts) {
    if (f->windows.first)
        return false;
    return attempts > ATTEMPTS_MAX ||
           (attempts == 1 && !(f->up.law->tail(&f->up, work * (1 - 1e-9)) > 0));
}

/* while_idle: failures come in calendar time. */
static void finish_calendar(const struct failures *f, const struct outages *o, struct stream s,
                            uint32_t server, struct turn *turn) {
    struct ahead *a = &o->ahead[server];
    double t = turn->start, left = turn->work;
    while (a->repaired <= t)
        advance(f, o, s, server);
    while (t >= a->fails) {
        t = a->repaired;
        advance(f, o, s, server);
    }
    turn->begins = t;
    for (uint64_t attempts = 1; t + left > a->fails; attempts++) {
        turn->serving += a->fails - t;
        if (!f->repeat)
            left -= a->fails - t;
        else if (hopeless(f, left, attempts)) {
            turn->ends = (double)INFINITY;
            return;
        }
        t = a->repaired;
        advance(f, o, s, server);
    }
    turn->serving = f->repeat ? turn->serving + left : turn->work;
    turn->ends = t + left;
}

/* while_idle: false: times up are times spent serving. */
static void finish_serving(const struct failures *f, const struct outages *o, struct stream s,
                           uint32_t server, struct turn *turn) {
    struct ahead *a = &o->ahead[server];
    double t = turn->start > a->repaired ? turn->start : a->repaired, left = turn->work;
    turn->begins = t;
    for (uint64_t attempts = 1; left > a->fails; attempts++) {
        turn->serving += a->fails;
        if (!f->repeat)
            left -= a->fails;
        else if (hopeless(f, left, attempts)) {
            turn->ends = (double)INFINITY;
            return;
        }
        fail_at(f, o, s, server, t + a->fails);
        t = a->repaired;
    }
    turn->serving = f->repeat ? turn->serving + left : turn->work;
    turn->ends = t + left;
    a->fails -= left;
    if (a->fails <= 0)
        fail_at(f, o, s, server, turn->ends);
}

double ISA(failures_finish)(const struct failures *f, void *memory, struct stream s,
                            uint32_t server, struct turn *turn) {
    const struct outages *o = memory;
    turn->serving = 0;
    turn->begins = turn->ends = turn->start;
    if (isinf(turn->start)) /* behind a job that is never done */
        return turn->ends;
    if (f->while_idle)
        finish_calendar(f, o, s, server, turn);
    else
        finish_serving(f, o, s, server, turn);
    return turn->ends;
}
