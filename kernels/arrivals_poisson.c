/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Poisson streams, of jobs or of batches. Independent Poisson streams of rates a_i together are one
 * of rate sum a_i whose jobs belong to server i with probability a_i / sum, independently: so there
 * is one stream, whatever arrival_scope says. */
#include "arrivals_parts.h"

static void begin(const struct arrivals *a, void *memory, struct stream s) {
    (void)a, (void)s;
    *(double *)memory = 0;
}

static uint32_t next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service) {
    (void)service;
    ISA(arrivals_gaps)(a, s, first, BLOCK, memory, time);
    if (a->share)
        ISA(arrivals_origins)(a, s, first, BLOCK, origin);
    return BLOCK;
}

static bool examine(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner) {
    (void)w, (void)why, (void)fault, (void)inner;
    f->poisson = true;
    return true;
}

static void prepare(const struct arrivals_wish *w, struct arrivals *a) {
    (void)w;
    ISA(arrivals_exponential)(1 / a->rate, &a->gap);
}

extern const struct stream_kind ISA(stream_poisson);
const struct stream_kind ISA(stream_poisson) = {
    .kind = {"poisson", "independent Poisson streams", "", NULL, 0},
    .examine = examine,
    .prepare = prepare,
    .begin = begin,
    .next = next};

/* batch */
enum { SIZE_MAX_OF_BATCH = 1 << 20 };
static const struct parameter of_batch[] = {
    {.name = "size",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SIZE_MAX_OF_BATCH,
     .units = "job",
     .meaning = "jobs of a batch, all at one time and one origin"},
};

/* State: a block of batches. */
struct batches {
    double clock;
    uint64_t drawn; /* batches so far */
    uint32_t at;    /* in the block */
    uint32_t given; /* jobs of batch `at` that are given out */
    double time[BLOCK];
    uint32_t origin[BLOCK];
};

static void batch_begin(const struct arrivals *a, void *memory, struct stream s) {
    (void)a, (void)s;
    struct batches *b = memory;
    b->clock = 0;
    b->drawn = 0;
    b->at = BLOCK;
    b->given = 0;
}

static void draw_batches(const struct arrivals *a, struct batches *b, struct stream s) {
    ISA(arrivals_gaps)(a, s, b->drawn, BLOCK, &b->clock, b->time);
    ISA(arrivals_origins)(a, s, b->drawn, BLOCK, b->origin);
    b->drawn += BLOCK;
    b->at = 0;
}

static uint32_t batch_next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                           double *time, uint32_t *origin, double *service) {
    (void)first, (void)service;
    struct batches *b = memory;
    for (uint32_t i = 0; i < BLOCK; i++) {
        if (b->at == BLOCK)
            draw_batches(a, b, s);
        time[i] = b->time[b->at];
        origin[i] = b->origin[b->at];
        if (++b->given == a->size) {
            b->given = 0;
            b->at++;
        }
    }
    return BLOCK;
}

static bool batch_examine(const struct arrivals_wish *w, struct arrivals_facts *f,
                          struct reason *why, enum arrivals_fault *fault, unsigned *inner) {
    (void)why, (void)fault, (void)inner;
    const uint64_t size = w->entry->values[0].count;
    f->origins = true;
    f->batch = size;
    f->independent = f->poisson = size == 1;
    f->scale = (double)size / w->lambda;
    f->memory = sizeof(struct batches);
    return true;
}

static void batch_prepare(const struct arrivals_wish *w, struct arrivals *a) {
    a->size = (uint32_t)w->entry->values[0].count;
    ISA(arrivals_exponential)(a->size / a->rate, &a->gap);
}

extern const struct stream_kind ISA(stream_batch);
const struct stream_kind ISA(stream_batch) = {
    .kind = {"batch", "independent Poisson streams of batches", "", of_batch, 1},
    .examine = batch_examine,
    .prepare = batch_prepare,
    .begin = batch_begin,
    .next = batch_next};
