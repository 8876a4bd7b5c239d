/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshots.h"

#include "log.h"
#include "results.h"
#include "target.h"

#include <stdlib.h>
#include <time.h>

static const double SHARE = 0.01;           /* of the run, at most */
static const double BYTES_A_SECOND = 250e6; /* before the first is written */

double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The next one and the last one have to fit in the share too. */
static void settle_next(struct snapshots *s, double now) {
    const double wanted = now + s->options->checkpoint,
                 allowed = s->start + (s->writing + 2 * s->cost) / SHARE;
    s->next = wanted > allowed ? wanted : allowed;
}

void snapshots_begin(struct snapshots *s, const struct options *options, double now,
                     uint64_t bytes) {
    *s = (struct snapshots){
        .options = options, .start = now, .cost = (double)bytes / BYTES_A_SECOND};
    settle_next(s, now);
}

void snapshots_write(struct snapshots *s, const struct store *store) {
    const char *path = s->options->output;
    struct reason why;
    size_t size = 0;
    uint64_t replications = 0;
    const double begin = clock_now();
    if (!path)
        return;
    void *image = results_image(store, &size);
    if (!results_write(path, image, size, &why))
        world_failed("%s%s", why.text, target_state(path));
    free(image);
    const double end = clock_now();
    s->number++;
    s->cost = end - begin;
    s->writing += s->cost;
    settle_next(s, end);
    for (uint64_t p = 0; p < store->job->n_points; p++)
        replications += store->points[p].complete;
    log_snapshot(s->options, replications, size, s->cost, s->next - end);
}
