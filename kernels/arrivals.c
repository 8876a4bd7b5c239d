/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arrivals_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAW(id) extern const struct law ISA(law_##id);
#include "laws.def"
#undef LAW

static const struct kind *const kinds[] = {
    &ISA(stream_poisson).kind,
    &ISA(stream_batch).kind,
    &ISA(stream_mmpp).kind,
    &ISA(stream_trace).kind,
#define LAW(id) &ISA(law_##id).kind,
#include "laws.def"
#undef LAW
};
enum { OWN_KINDS = 4 };
const struct catalogue ISA(arrivals) = {"stream of arrivals", kinds, sizeof kinds / sizeof *kinds};

static const struct stream_kind *stream_of(const struct arrivals_wish *w) {
    if (w->entry->kind == &ISA(stream_mmpp).kind && !w->total)
        return &ISA(stream_modulated);
    for (unsigned i = 0; i < OWN_KINDS; i++)
        if (kinds[i] == w->entry->kind)
            return (const struct stream_kind *)(const void *)kinds[i];
    return w->total ? &ISA(stream_renewal) : &ISA(stream_merged);
}

static double sum_of_rates(const struct arrivals_wish *w) {
    double sum = 0;
    for (uint64_t i = 0; w->rate && i < w->n; i++)
        sum += w->rate[i];
    return w->rate ? sum : (double)w->n;
}

double ISA(arrivals_total)(const struct arrivals_wish *w) {
    return w->lambda * sum_of_rates(w);
}

double *ISA(arrivals_stretch)(const struct arrivals_wish *w) {
    double *stretch = allocate(w->n, sizeof *stretch);
    for (uint64_t i = 0; i < w->n; i++)
        stretch[i] = w->rate[i] > 0 ? 1 / w->rate[i] : (double)INFINITY;
    return stretch;
}

void ISA(arrivals_exponential)(double mean, struct sampled_law *law) {
    static const struct value one = {.real = 1};
    const struct entry entry = {&ISA(law_exponential).kind, &one, "exponential"};
    ISA(law_prepare)(&entry, mean, law);
}

bool ISA(arrivals_examine)(const struct arrivals_wish *w, struct arrivals_facts *f,
                           struct reason *why, enum arrivals_fault *fault, unsigned *inner) {
    const struct stream_kind *kind = stream_of(w);
    const bool renewal = kind == &ISA(stream_renewal) || kind == &ISA(stream_merged);
    *inner = w->entry->kind->n_parameters;
    *fault = ARRIVALS_SYNCHRONISED;
    if (w->synchronised && !renewal)
        return refuse(why, "synchronised makes a difference to renewal streams only, not to %s",
                      w->entry->kind->name);
    *fault = ARRIVALS_RATES;
    if (!(sum_of_rates(w) > 0))
        return refuse(why, "arrival_rates that are all 0");
    *fault = ARRIVALS_ENTRY;
    *f = (struct arrivals_facts){.rate = ISA(arrivals_total)(w),
                                 .scale = 1 / w->lambda,
                                 .jobs = UINT64_MAX,
                                 .independent = true,
                                 .origins = w->rate != NULL,
                                 .mean_service = (double)NAN,
                                 .bytes = sizeof(struct arrivals),
                                 .memory = CHUNK,
                                 .nanoseconds = 8};
    if (w->rate)
        f->bytes += w->n * 2 * sizeof(uint32_t);
    return kind->examine(w, f, why, fault, inner);
}

bool ISA(arrivals_timed)(const struct entry *entry) {
    return entry->kind == &ISA(stream_trace).kind;
}

/* The mean rates of a trace from time 0 to its last job. */
static void trace_rates(const struct arrivals_wish *w, double *rate) {
    struct arrivals *a = ISA(arrivals_prepare)(w);
    const double span = a->time[a->jobs - 1], each = (double)a->jobs / span / sum_of_rates(w);
    for (uint64_t i = 0; i < w->n; i++)
        rate[i] = a->origin ? 0 : each * (w->rate ? w->rate[i] : 1);
    for (uint64_t j = 0; a->origin && j < a->jobs; j++)
        rate[a->origin[j]] += 1 / span;
    ISA(arrivals_free)(a);
}

void ISA(arrivals_rates)(const struct arrivals_wish *w, double *rate) {
    if (ISA(arrivals_timed)(w->entry)) {
        trace_rates(w, rate);
        return;
    }
    for (uint64_t i = 0; i < w->n; i++)
        rate[i] = w->lambda * (w->rate ? w->rate[i] : 1);
}

/* Walker's alias table, built as Vose does: slots below the mean are filled up from slots above. */
static void fill_alias(const double *rate, uint64_t n, struct arrivals *a) {
    double sum = 0, *left = allocate(n, sizeof *left);
    uint32_t *stack = allocate(n, sizeof *stack), small = 0, large = (uint32_t)n;
    a->share = allocate(n, sizeof *a->share);
    a->other = allocate(n, sizeof *a->other);
    for (uint64_t i = 0; i < n; i++)
        sum += rate[i];
    for (uint32_t i = 0; i < n; i++) {
        left[i] = rate[i] / sum * (double)n;
        a->share[i] = UINT32_MAX;
        a->other[i] = i;
        if (left[i] < 1)
            stack[small++] = i;
        else
            stack[--large] = i;
    }
    while (small > 0 && large < n) {
        const uint32_t i = stack[--small], j = stack[large];
        a->share[i] = (uint32_t)(left[i] * 0x1p32);
        a->other[i] = j;
        left[j] -= 1 - left[i];
        if (left[j] < 1) {
            stack[small++] = j;
            large++;
        }
    }
    /* What rounding leaves over keeps its slot, unless it never gets a job at all. */
    uint32_t some = 0;
    while (rate[some] <= 0)
        some++;
    while (small > 0) {
        const uint32_t i = stack[--small];
        if (rate[i] <= 0) {
            a->share[i] = 0;
            a->other[i] = some;
        }
    }
    free(left);
    free(stack);
}

struct arrivals *ISA(arrivals_prepare)(const struct arrivals_wish *w) {
    struct arrivals *a = allocate(1, sizeof *a);
    a->kind = stream_of(w);
    a->n = w->n;
    a->rate = ISA(arrivals_total)(w);
    a->synchronised = w->synchronised;
    a->size = 1;
    if (w->rate && a->kind != &ISA(stream_merged) && a->kind != &ISA(stream_modulated))
        fill_alias(w->rate, w->n, a);
    a->kind->prepare(w, a);
    return a;
}

void ISA(arrivals_free)(struct arrivals *a) {
    if (!a)
        return;
    ISA(law_free)(&a->gap);
    ISA(law_free)(&a->stay);
    free(a->share);
    free(a->other);
    free(a->stretch);
    free(a->state_rate);
    free(a->state_share);
    free(a->state_mean);
    free(a->time);
    free(a->service);
    free(a->origin);
    free(a);
}

void ISA(arrivals_origins)(const struct arrivals *a, struct stream s, uint64_t first,
                           uint32_t count, uint32_t *origin) {
    draw_below((struct words){s, PURPOSE_ORIGIN, 0}, first, count, (uint32_t)a->n, origin);
    if (!a->share)
        return;
    for (uint32_t j = 0; j < count; j += CHUNK) {
        uint32_t word[CHUNK];
        draw_words((struct words){s, PURPOSE_ORIGIN, 1}, first + j, CHUNK, word);
        for (uint32_t i = j; i < count && i < j + CHUNK; i++)
            if (word[i - j] >= a->share[origin[i]])
                origin[i] = a->other[origin[i]];
    }
}

void ISA(arrivals_gaps)(const struct arrivals *a, struct stream s, uint64_t first, uint32_t count,
                        double *clock, double *time) {
    const struct words w = {s, PURPOSE_ARRIVAL, 0};
    a->gap.law->draw(&a->gap, w, first, count, time);
    for (uint32_t i = 0; i < count; i++)
        time[i] = *clock += time[i];
}

void ISA(arrivals_begin)(const struct arrivals *a, void *memory, struct stream s) {
    a->kind->begin(a, memory, s);
}

uint32_t ISA(arrivals_next)(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                            double *time, uint32_t *origin, double *service) {
    return a->kind->next(a, memory, s, first, time, origin, service);
}
