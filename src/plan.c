/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory and time before a run. Constants are measured ones; a test holds the sum against what runs
 * really took. */
#include "plan.h"

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_BYTES = 17 << 20, MPI_BYTES = 16 << 20, THREAD_BYTES = 1 << 18 };

/* Bins in use are far fewer than possible ones: loads lie within a few deviations of their mean,
 * hops below the diameter. */
static uint64_t likely_bins(const struct histogram *h, uint64_t bound) {
    return h->axis == AXIS_LOAD && bound > 64 ? 64 : bound;
}

static uint64_t point_bytes(const struct job *job, const struct point *p) {
    const struct model *model = job->model;
    uint64_t bytes = job->keep_rows ? job->replications.max * model->n_rows * sizeof(double) : 0;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (job->keep_histogram[h])
            bytes += likely_bins(&model->histograms[h], p->facts.bins[h]) * sizeof(uint64_t) *
                     (model->histograms[h].batched ? BATCHES + 1u : 1u);
    return bytes;
}

struct plan plan_job(const struct job *job, unsigned threads, unsigned ranks) {
    struct plan plan = {.program = PROGRAM_BYTES + (ranks > 1 ? MPI_BYTES : 0)};
    for (uint64_t i = 0; i < job->n_points; i++) {
        const struct point *p = &job->points[i];
        const uint64_t tables = p->facts.bytes_shared, thread = p->facts.bytes_thread;
        plan.tables = tables > plan.tables ? tables : plan.tables;
        plan.thread = thread > plan.thread ? thread : plan.thread;
        plan.gathered += point_bytes(job, p);
        plan.nanoseconds += p->facts.nanoseconds * (double)job->replications.max;
    }
    plan.thread += THREAD_BYTES;
    plan.file = plan.gathered;
    /* The file is built in memory and copied once on its way out. */
    plan.total = plan.program + plan.tables + threads * plan.thread + plan.gathered + 2 * plan.file;
    return plan;
}

static const char *bytes_text(uint64_t bytes, char *buffer, size_t size) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    unsigned u = 0;
    for (; x >= 1000 && u < 4; u++)
        x /= 1000;
    snprintf(buffer, size, u == 0 ? "%.0f %s" : "%.3g %s", x, unit[u]);
    return buffer;
}

bool plan_fits(const struct job *job, uint64_t memory, struct complaints *complaints) {
    const unsigned before = complaints->count;
    for (uint64_t i = 0; i < job->n_points && complaints->count < before + 10; i++) {
        char need[32], have[32];
        const struct point *p = &job->points[i];
        if (p->facts.bytes_shared > memory)
            complain(complaints, &(struct place){job->path, 0, 0},
                     "point %llu (%s) needs tables of %s, which is more than --memory %s",
                     (unsigned long long)i, p->label,
                     bytes_text(p->facts.bytes_shared, need, sizeof need),
                     bytes_text(memory, have, sizeof have));
    }
    return complaints->count == before;
}

void plan_print(const struct job *job, const struct options *options, unsigned threads) {
    const struct plan plan = plan_job(job, threads, 1);
    char a[32], b[32], c[32], d[32];
    (void)options;
    printf("%s%s%s: model %s, %llu points, ", job->title, job->title[0] ? " " : "", job->path,
           job->model->kind.name, (unsigned long long)job->n_points);
    if (job->replications.n_criteria)
        printf("%llu to %llu replications each\n", (unsigned long long)job->replications.min,
               (unsigned long long)job->replications.max);
    else
        printf("%llu replications each\n", (unsigned long long)job->replications.max);
    printf("%6s  %-58s  %-28s  %10s\n", "point", "setting", "candidates drawn from", "each");
    for (uint64_t i = 0; i < job->n_points; i++) {
        const struct point *p = &job->points[i];
        const double each = p->facts.nanoseconds;
        printf("%6llu  %-58s  %-28s  %7.3g %s\n", (unsigned long long)i, p->label, p->facts.sampler,
               each < 1e6   ? each / 1e3
               : each < 1e9 ? each / 1e6
                            : each / 1e9,
               each < 1e6   ? "us"
               : each < 1e9 ? "ms"
                            : "s");
    }
    printf("memory: %s on the first rank with %u threads: program %s, tables %s, ",
           bytes_text(plan.total, a, sizeof a), threads, bytes_text(plan.program, b, sizeof b),
           bytes_text(plan.tables, c, sizeof c));
    printf("%s a thread, results %s", bytes_text(plan.thread, a, sizeof a),
           bytes_text(plan.gathered, b, sizeof b));
    printf(", building the file %s; MPI adds about %s\n", bytes_text(2 * plan.file, c, sizeof c),
           bytes_text(MPI_BYTES, d, sizeof d));
    printf("memory_bytes: %llu\n", (unsigned long long)plan.total);
    printf("file: about %s\n", bytes_text(plan.file, a, sizeof a));
    printf("time: about %s with %u threads, %s of one core\n",
           duration_text(plan.nanoseconds / 1e9 / threads, a, sizeof a), threads,
           duration_text(plan.nanoseconds / 1e9, b, sizeof b));
}
