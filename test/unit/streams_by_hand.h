/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries of laws, streams and failures made without the job reader, for every level. What is not
 * set is what a law here has in tests: shape 3 (pareto, lomax 3.5), scv 4, mean 1 (geometric 2),
 * discrete 0.5, 1 or 4. */
#ifndef POTLUCK_STREAMS_BY_HAND_H
#define POTLUCK_STREAMS_BY_HAND_H

#include "arrivals.h"
#include "failures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a level offers. */
struct level_streams {
    const char *name;
    const struct catalogue *laws, *arrivals, *failures;
    void (*law_prepare)(const struct entry *, double, struct sampled_law *);
    void (*law_free)(struct sampled_law *);
    bool (*arrivals_examine)(const struct arrivals_wish *, struct arrivals_facts *, struct reason *,
                             enum arrivals_fault *, unsigned *);
    void (*arrivals_rates)(const struct arrivals_wish *, double *);
    struct arrivals *(*arrivals_prepare)(const struct arrivals_wish *);
    void (*arrivals_free)(struct arrivals *);
    void (*arrivals_begin)(const struct arrivals *, void *, struct stream);
    uint32_t (*arrivals_next)(const struct arrivals *, void *, struct stream, uint64_t, double *,
                              uint32_t *, double *);
    bool (*failures_examine)(const struct entry *, uint64_t, struct failures_facts *,
                             struct reason *, unsigned *);
    double (*failures_service)(const struct entry *, const struct sampled_law *, double);
    struct failures *(*failures_prepare)(const struct entry *, uint64_t);
    void (*failures_free)(struct failures *);
    void (*failures_begin)(const struct failures *, void *, struct stream);
    double (*failures_finish)(const struct failures *, void *, struct stream, uint32_t,
                              struct turn *);
};

#define STREAMS_OF(level)                                                                          \
    extern const struct catalogue laws_##level, arrivals_##level, failures_##level;                \
    void law_prepare_##level(const struct entry *, double, struct sampled_law *);                  \
    void law_free_##level(struct sampled_law *);                                                   \
    bool arrivals_examine_##level(const struct arrivals_wish *, struct arrivals_facts *,           \
                                  struct reason *, enum arrivals_fault *, unsigned *);             \
    void arrivals_rates_##level(const struct arrivals_wish *, double *);                           \
    struct arrivals *arrivals_prepare_##level(const struct arrivals_wish *);                       \
    void arrivals_free_##level(struct arrivals *);                                                 \
    void arrivals_begin_##level(const struct arrivals *, void *, struct stream);                   \
    uint32_t arrivals_next_##level(const struct arrivals *, void *, struct stream, uint64_t,       \
                                   double *, uint32_t *, double *);                                \
    bool failures_examine_##level(const struct entry *, uint64_t, struct failures_facts *,         \
                                  struct reason *, unsigned *);                                    \
    double failures_service_##level(const struct entry *, const struct sampled_law *, double);     \
    struct failures *failures_prepare_##level(const struct entry *, uint64_t);                     \
    void failures_free_##level(struct failures *);                                                 \
    void failures_begin_##level(const struct failures *, void *, struct stream);                   \
    double failures_finish_##level(const struct failures *, void *, struct stream, uint32_t,       \
                                   struct turn *);                                                 \
    static const struct level_streams streams_##level = {#level,                                   \
                                                         &laws_##level,                            \
                                                         &arrivals_##level,                        \
                                                         &failures_##level,                        \
                                                         law_prepare_##level,                      \
                                                         law_free_##level,                         \
                                                         arrivals_examine_##level,                 \
                                                         arrivals_rates_##level,                   \
                                                         arrivals_prepare_##level,                 \
                                                         arrivals_free_##level,                    \
                                                         arrivals_begin_##level,                   \
                                                         arrivals_next_##level,                    \
                                                         failures_examine_##level,                 \
                                                         failures_service_##level,                 \
                                                         failures_prepare_##level,                 \
                                                         failures_free_##level,                    \
                                                         failures_begin_##level,                   \
                                                         failures_finish_##level};

STREAMS_OF(baseline)
#ifdef __x86_64__
STREAMS_OF(avx2)
STREAMS_OF(avx512)
#endif

/* The level, or NULL when this processor lacks it. */
static inline const struct level_streams *streams_at(enum level level) {
    if (level > level_best())
        return NULL;
#ifdef __x86_64__
    if (level == LEVEL_AVX512)
        return &streams_avx512;
    if (level == LEVEL_AVX2)
        return &streams_avx2;
#endif
    return &streams_baseline;
}
static inline const struct level_streams *streams_best(void) {
    return streams_at(level_best());
}

enum { ENTRY_VALUES = 8 };
struct made {
    struct entry entry;
    struct value value[ENTRY_VALUES];
};

/* The entry called `name` of a catalogue. */
static inline struct made *make(struct made *m, const struct catalogue *c, const char *name) {
    static const double times[] = {0.5, 1, 4}, chances[] = {0.25, 0.5, 0.25};
    *m = (struct made){.entry = {.values = m->value, .text = name}};
    for (unsigned i = 0; i < c->n_kinds; i++)
        if (!strcmp(c->kinds[i]->name, name))
            m->entry.kind = c->kinds[i];
    CHECK(m->entry.kind && m->entry.kind->n_parameters <= ENTRY_VALUES);
    for (unsigned i = 0; i < m->entry.kind->n_parameters; i++) {
        const char *p = m->entry.kind->parameters[i].name;
        struct value *v = &m->value[i];
        const bool heavy = !strcmp(name, "pareto") || !strcmp(name, "lomax");
        if (!strcmp(p, "shape"))
            *v = (struct value){.count = 3, .real = heavy ? 3.5 : 3};
        else if (!strcmp(p, "scv"))
            v->real = 4;
        else if (!strcmp(p, "mean"))
            v->real = !strcmp(name, "geometric") ? 2 : 1;
        else if (!strcmp(p, "values"))
            *v = (struct value){.reals = times, .n_reals = 3};
        else if (!strcmp(p, "probabilities"))
            *v = (struct value){.reals = chances, .n_reals = 3};
    }
    return m;
}

static inline struct value *value_of(struct made *m, const char *parameter) {
    const int i = parameter_index(m->entry.kind, parameter);
    CHECK(i >= 0);
    return &m->value[i];
}

static inline struct attachment text_file(const char *text) {
    char *bytes = duplicate_text(text);
    return (struct attachment){
        .name = duplicate_text("rows.txt"), .bytes = bytes, .length = strlen(text)};
}
static inline void text_file_free(struct attachment *a) {
    if (a->parsed)
        a->release(a->parsed);
    free(a->name);
    free(a->bytes);
}

/* 64-byte aligned and not zero. */
static inline void *dirty_memory(uint64_t size) {
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    CHECK(memory);
    return memset(memory, 0xa5, size);
}

/* Whether the mean of n values is `expected`, at z standard errors; the power: a standard error of
 * at most `power` of it. */
static inline bool mean_fits(double sum, double squares, double n, double expected, double z,
                             double power) {
    const double mean = sum / n, error = sqrt((squares / n - mean * mean) / (n - 1));
    return error <= power * expected && fabs(mean - expected) <= z * error + 1e-9 * expected;
}

#endif
