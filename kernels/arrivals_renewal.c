/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Renewal streams: gaps of one law, independent. In equilibrium the first gap has the law of the
 * residual life, so that arrivals in [0, t] are rate * t in the mean for every t (Cox, Renewal
 * Theory, 1962, section 2.2). */
#include "arrivals_merge.h"

#include <math.h>

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

/* A stream for each server. Its next arrival, and the number of the gap after it. */
struct head {
    double time;
    uint64_t gap;
};

/* What the merge keeps for the streams; the arrays follow it. */
struct renewals {
    unsigned now;         /* which heads count */
    struct head *head[2]; /* [n] before and after a window: one that turns out too full is undone */
    struct lane_values gap;
};

static struct lanes gaps_of(const struct arrivals *a) {
    return lanes_of(&a->gap, PURPOSE_ARRIVAL, a->n, CHUNK);
}

static uint64_t merged_memory(uint64_t n) {
    const struct lanes gaps = lanes_of(NULL, PURPOSE_ARRIVAL, n, CHUNK);
    return ISA(merge_memory)(n) + sizeof(struct renewals) + 2 * n * sizeof(struct head) +
           lanes_memory(&gaps);
}

static double gap_of(const struct arrivals *a, const struct lanes *l, const struct renewals *r,
                     struct stream s, uint32_t server, uint64_t i) {
    const double gap = lanes_value(l, r->gap, s, server, i);
    return a->stretch ? gap * a->stretch[server] : gap;
}

static double first_arrival(const struct arrivals *a, const struct lanes *l,
                            const struct renewals *r, struct stream s, uint32_t server) {
    const double stretch = a->stretch ? a->stretch[server] : 1;
    if (stretch > 0x1p1000)
        return (double)INFINITY;
    return a->synchronised ? gap_of(a, l, r, s, server, 0) : lanes_residual(l, s, server) * stretch;
}

static bool gather(const struct arrivals *a, struct merge *m, struct stream s, double end,
                   double *first) {
    const struct lanes l = gaps_of(a);
    struct renewals *r = m->streams;
    const struct head *from = r->head[r->now];
    struct head *to = r->head[!r->now];
    uint32_t count = 0;
    *first = (double)INFINITY;
    for (uint32_t i = 0; i < a->n; i++) {
        struct head h = from[i];
        for (; h.time < end; h.time += gap_of(a, &l, r, s, i, h.gap++)) {
            if (count == m->room && !m->crowded)
                return false;
            if (count == m->room)
                break;
            m->arrival[count++] = (struct arrival){h.time, i};
        }
        *first = h.time < *first ? h.time : *first;
        to[i] = h;
    }
    r->now = !r->now;
    m->ready = count;
    return true;
}

static void merged_begin(const struct arrivals *a, void *memory, struct stream s) {
    const struct lanes l = gaps_of(a);
    struct merge *m = memory;
    ISA(merge_begin)(m, a->n);
    m->gather = gather;
    struct renewals *r = m->streams;
    r->now = 0;
    r->head[0] = (struct head *)(r + 1);
    r->head[1] = r->head[0] + a->n;
    r->gap = lanes_at(&l, r->head[1] + a->n, true);
    for (uint32_t i = 0; i < a->n; i++)
        r->head[0][i] = (struct head){first_arrival(a, &l, r, s, i), a->synchronised ? 1 : 0};
}

static uint32_t merged_next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                            double *time, uint32_t *origin, double *service) {
    (void)first, (void)service;
    ISA(merge_next)(a, memory, s, time, origin);
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
    a->stretch = w->rate ? ISA(arrivals_stretch)(w) : NULL;
}

extern const struct stream_kind ISA(stream_merged);
const struct stream_kind ISA(stream_merged) = {.examine = merged_examine,
                                               .prepare = merged_prepare,
                                               .begin = merged_begin,
                                               .next = merged_next};
