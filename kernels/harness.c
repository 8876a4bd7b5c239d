/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * harness: does nothing for a stated time. What a run of it takes beyond that time is what the
 * runner costs. */
#include "isa.h"
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HARNESS_MILLISECONDS, HARNESS_HOW, HARNESS_BINS };

static const struct parameter parameters[] = {
    [HARNESS_MILLISECONDS] = {.name = "milliseconds",
                              .type = TYPE_REAL,
                              .lower = 0,
                              .upper = 3600000,
                              .units = "ms",
                              .meaning = "time a replication takes"},
    [HARNESS_HOW] = {.name = "how",
                     .type = TYPE_WORD,
                     .standard = "spin",
                     .words = "spin|sleep",
                     .units = "1",
                     .meaning = "keep a core busy, or wait"},
    [HARNESS_BINS] = {.name = "bins",
                      .type = TYPE_COUNT,
                      .lower = 0,
                      .upper = 4096,
                      .standard = "0",
                      .units = "1",
                      .meaning = "counts in each of the 50 batches of a result; 0: none"},
};

static const struct row rows[] = {
    {"replication_index", "1", "index of the replication", "", true},
};

static const struct histogram histograms[] = {
    {.name = "part_count",
     .units = "replication",
     .long_name = "replications by their index modulo the number of bins",
     .axis = AXIS_LOAD,
     .batched = true},
};

static bool examine(const struct value *v, const struct budget *budget, struct facts *f,
                    struct reason *why, unsigned *at) {
    (void)budget;
    (void)why, (void)at;
    *f = (struct facts){
        .nanoseconds = v[HARNESS_MILLISECONDS].real * 1e6 + 100, .grain = 1, .row[0] = {0, 1}};
    f->bins[0] = f->likely[0] = v[HARNESS_BINS].count;
    snprintf(f->sampler, sizeof f->sampler, "none");
    return true;
}

static void shared_text(const struct value *v, char *text, size_t size) {
    (void)v;
    snprintf(text, size, "harness");
}

struct harness {
    double seconds;
    bool sleeps;
    uint64_t bins;
};

static void *prepare(const struct value *v, uint64_t key, const struct budget *budget,
                     struct reason *why) {
    (void)key, (void)budget, (void)why;
    struct harness *h = allocate(1, sizeof *h);
    *h = (struct harness){v[HARNESS_MILLISECONDS].real / 1000, v[HARNESS_HOW].word == 1,
                          v[HARNESS_BINS].count};
    return h;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t play(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *out) {
    const struct harness *h = prepared;
    (void)key, (void)work;
    for (uint64_t r = 0; r < out->count; r++) {
        if (h->sleeps) {
            const double whole = (double)(time_t)h->seconds;
            nanosleep(&(struct timespec){(time_t)h->seconds, (long)((h->seconds - whole) * 1e9)},
                      NULL);
        } else {
            const double end = now() + h->seconds;
            while (now() < end)
                ;
        }
        const uint64_t index = out->first + r;
        out->tally[r] = (int64_t)index;
        if (out->histogram[0])
            out->histogram[0][index % BATCHES * out->stride[0] + index % h->bins]++;
    }
    out->used[0] = h->bins;
    return 0;
}

const struct model ISA(model_harness) = {
    .kind = {"harness", "does nothing for a stated time: measures the runner", "", parameters, 3},
    .rows = rows,
    .n_rows = 1,
    .histograms = histograms,
    .n_histograms = 1,
    .law = -1,
    .cost = -1,
    .contender = -1,
    .examine = examine,
    .shared_text = shared_text,
    .prepare = prepare,
    .release = free,
    .play = play};
