/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Renewal streams: gaps of one law, independent. In equilibrium the first gap has the law of the
 * residual life, so that arrivals in [0, t] are rate * t in the mean for every t (Cox, Renewal
 * Theory, 1962, section 2.2).
 *
 * A stream for each server: they are merged window by window. A pass over the servers lets each
 * give out its arrivals before the end of the window, which is as long as about as many arrivals take
 * as there are servers; buckets by time then put them in order. So memory is read in order, and an
 * arrival costs the same for any number of servers. What comes out does not depend on the windows. */
#include "arrivals_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool examine_law(const struct arrivals_wish *w, struct law_facts *law, struct reason *why,
                        unsigned *inner) {
    const struct entry *e = w->entry;
    const int mean = parameter_index(e->kind, "mean");
    if (!law_of(e->kind)->examine(e->values, law, why, inner))
        return false;
    *inner = mean < 0 ? e->kind->n_parameters : (unsigned)mean;
    if (!(law->mean > 0 && isfinite(law->mean)))
        return refuse(why, "gaps of law %s have a mean of %g (allowed: above 0, finite)",
                      e->kind->name, law->mean);
    /* A law whose mean has no default takes its shape from it. */
    if (mean >= 0 && e->kind->parameters[mean].standard && e->values[mean].real != 1)
        return refuse(why, "arrivals come at rate lambda, so the mean of their law makes no "
                           "difference (leave it out)");
    return true;
}

static void prepare_gap(const struct arrivals_wish *w, double mean, struct arrivals *a) {
    ISA(law_prepare)(w->entry, mean, &a->gap);
}

/* One stream for all. State: the clock. */
static void begin(const struct arrivals *a, void *memory, struct stream s) {
    (void)a, (void)s;
    *(double *)memory = 0;
}

static uint32_t next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service) {
    double *clock = memory;
    (void)service;
    const struct words w = {s, PURPOSE_ARRIVAL, 0};
    a->gap.law->draw(&a->gap, w, first, BLOCK, time);
    if (first == 0 && !a->synchronised)
        time[0] = a->gap.law->residual(&a->gap, (struct words){s, PURPOSE_ARRIVAL, LANES_APART}, 0);
    for (uint32_t i = 0; i < BLOCK; i++)
        time[i] = *clock += time[i];
    if (a->share)
        ISA(arrivals_origins)(a, s, first, BLOCK, origin);
    return BLOCK;
}

static bool examine(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner) {
    struct law_facts law;
    (void)fault;
    return examine_law(w, &law, why, inner) && f;
}

static void prepare(const struct arrivals_wish *w, struct arrivals *a) {
    prepare_gap(w, 1 / a->rate, a);
}

extern const struct stream_kind ISA(stream_renewal);
const struct stream_kind ISA(stream_renewal) = {
    .examine = examine, .prepare = prepare, .begin = begin, .next = next};

/* A stream for each server. */
enum { WINDOW_LEAST = 4096 }; /* arrivals of a window, when servers are few */

/* The next arrival of a server, and the number of the gap after it. */
struct head {
    double time;
    uint64_t gap;
};

/* State of a replication; the arrays follow it in memory. */
struct merged {
    double end;            /* of the window that is given out */
    uint32_t ready, given; /* arrivals of the window, and how many of them went */
    unsigned now;          /* which heads count */
    struct head *head[2]; /* [n] before and after a window: one that turns out too full is undone */
    struct lane_values gap;
    struct event {
        double time;
        uint32_t server;
    } * event, *sorted; /* [room] */
    uint32_t *bucket;   /* [window + 1] */
};

static uint32_t window_of(uint64_t n) {
    return n > WINDOW_LEAST ? (uint32_t)n : WINDOW_LEAST;
}
static uint32_t room_of(uint64_t n) {
    return 2 * window_of(n);
}

static struct lanes gaps_of(const struct arrivals *a) {
    return lanes_of(&a->gap, PURPOSE_ARRIVAL, a->n, CHUNK);
}

static uint64_t merged_memory(uint64_t n) {
    const struct lanes gaps = lanes_of(NULL, PURPOSE_ARRIVAL, n, CHUNK);
    return sizeof(struct merged) + 2 * n * sizeof(struct head) + lanes_memory(&gaps) +
           2 * (uint64_t)room_of(n) * sizeof(struct event) +
           ((uint64_t)window_of(n) + 2) * sizeof(uint32_t);
}

static double gap_of(const struct arrivals *a, const struct lanes *l, const struct merged *m,
                     struct stream s, uint32_t server, uint64_t i) {
    const double gap = lanes_value(l, m->gap, s, server, i);
    return a->stretch ? gap * a->stretch[server] : gap;
}

static double first_arrival(const struct arrivals *a, const struct lanes *l, const struct merged *m,
                            struct stream s, uint32_t server) {
    const double stretch = a->stretch ? a->stretch[server] : 1;
    if (stretch > 0x1p1000)
        return (double)INFINITY;
    return a->synchronised ? gap_of(a, l, m, s, server, 0) : lanes_residual(l, s, server) * stretch;
}

static void merged_begin(const struct arrivals *a, void *memory, struct stream s) {
    const struct lanes l = gaps_of(a);
    struct merged *m = memory;
    m->end = 0;
    m->ready = m->given = 0;
    m->now = 0;
    m->head[0] = (struct head *)(m + 1);
    m->head[1] = m->head[0] + a->n;
    m->event = (struct event *)(m->head[1] + a->n);
    m->sorted = m->event + room_of(a->n);
    m->gap = lanes_at(&l, m->sorted + room_of(a->n), true);
    m->bucket = (uint32_t *)(void *)(m->gap.value + a->n * l.keep);
    for (uint32_t i = 0; i < a->n; i++)
        m->head[0][i] = (struct head){first_arrival(a, &l, m, s, i), a->synchronised ? 1 : 0};
}

/* Arrivals before `end` in order of servers, into m->event; false when there are too many. */
static bool gather(const struct arrivals *a, struct merged *m, struct stream s, double end) {
    const struct lanes l = gaps_of(a);
    const struct head *from = m->head[m->now];
    struct head *to = m->head[!m->now];
    const uint32_t room = room_of(a->n);
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        struct head h = from[i];
        for (; h.time < end; h.time += gap_of(a, &l, m, s, i, h.gap++)) {
            if (count == room)
                return false;
            m->event[count++] = (struct event){h.time, i};
        }
        to[i] = h;
    }
    m->ready = count;
    return true;
}

/* Merges sorted halves of event[0 .. count-1], stably. */
static void merge_sort(struct event *event, struct event *scratch, uint32_t count) {
    const uint32_t half = count / 2;
    if (count < 2)
        return;
    merge_sort(event, scratch, half);
    merge_sort(event + half, scratch, count - half);
    if (event[half - 1].time <= event[half].time)
        return;
    memcpy(scratch, event, half * sizeof *event);
    uint32_t i = 0, j = half, k = 0;
    while (i < half)
        event[k++] = j < count && event[j].time < scratch[i].time ? event[j++] : scratch[i++];
}

/* Insertion sort, stable; gives up when that takes too many moves. */
static bool insertion_sort(struct event *event, uint32_t count) {
    uint64_t moves = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct event e = event[i];
        uint32_t j = i;
        for (; j > 0 && event[j - 1].time > e.time; j--)
            event[j] = event[j - 1];
        event[j] = e;
        moves += i - j;
        if (moves > 16 * (uint64_t)count)
            return false;
    }
    return true;
}

/* m->event in order of time into m->sorted: buckets first, then what is left to do. */
static void sort_window(struct merged *m, uint32_t buckets, double begin, double end) {
    const double scale = buckets / (end - begin);
    memset(m->bucket, 0, (buckets + 2) * sizeof *m->bucket);
    for (uint32_t i = 0; i < m->ready; i++)
        m->bucket[(uint32_t)((m->event[i].time - begin) * scale) + 1]++;
    for (uint32_t b = 0; b <= buckets; b++)
        m->bucket[b + 1] += m->bucket[b];
    for (uint32_t i = 0; i < m->ready; i++)
        m->sorted[m->bucket[(uint32_t)((m->event[i].time - begin) * scale)]++] = m->event[i];
    if (!insertion_sort(m->sorted, m->ready))
        merge_sort(m->sorted, m->event, m->ready);
}

/* The next window with arrivals in it. */
static void next_window(const struct arrivals *a, struct merged *m, struct stream s) {
    const double width = window_of(a->n) / a->rate;
    m->given = m->ready = 0;
    while (m->ready == 0) {
        const double begin = m->end;
        double part = width;
        while (!gather(a, m, s, begin + part)) {
            part /= 2;
            CHECK(begin + part > begin);
        }
        m->end = begin + part;
        m->now = !m->now;
        sort_window(m, window_of(a->n), begin, m->end);
    }
}

static uint32_t merged_next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                            double *time, uint32_t *origin, double *service) {
    struct merged *m = memory;
    (void)first, (void)service;
    for (uint32_t i = 0; i < BLOCK;) {
        if (m->given == m->ready)
            next_window(a, m, s);
        const uint32_t left = m->ready - m->given, count = left < BLOCK - i ? left : BLOCK - i;
        for (uint32_t j = 0; j < count; j++) {
            time[i + j] = m->sorted[m->given + j].time;
            origin[i + j] = m->sorted[m->given + j].server;
        }
        m->given += count;
        i += count;
    }
    return BLOCK;
}

static bool merged_examine(const struct arrivals_wish *w, struct arrivals_facts *f,
                           struct reason *why, enum arrivals_fault *fault, unsigned *inner) {
    struct law_facts law;
    if (!examine_law(w, &law, why, inner))
        return false;
    *fault = ARRIVALS_SCOPE;
    if (!lanes_suffice(&law, w->n))
        return refuse(why, "a stream for each of %llu servers (allowed with this law: %llu)",
                      (unsigned long long)w->n, (1ull << 30) / law.lanes);
    f->independent = false;
    f->origins = true;
    f->bytes = sizeof(struct arrivals) + (w->rate ? w->n * sizeof(double) : 0);
    f->memory = merged_memory(w->n);
    f->nanoseconds = w->n <= 1 << 14 ? 40 : w->n <= 1 << 17 ? 60 : 120;
    return true;
}

static void merged_prepare(const struct arrivals_wish *w, struct arrivals *a) {
    prepare_gap(w, 1 / w->lambda, a);
    if (!w->rate)
        return;
    a->stretch = allocate(w->n, sizeof *a->stretch);
    for (uint64_t i = 0; i < w->n; i++)
        a->stretch[i] = w->rate[i] > 0 ? 1 / w->rate[i] : (double)INFINITY;
}

extern const struct stream_kind ISA(stream_merged);
const struct stream_kind ISA(stream_merged) = {.examine = merged_examine,
                                               .prepare = merged_prepare,
                                               .begin = merged_begin,
                                               .next = merged_next};
