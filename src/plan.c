/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory and time before a run. Constants are measured ones; a test holds the sum against what runs
 * really took. */
#include "plan.h"

#include "forecast.h"
#include "progress.h"
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Code and libraries; HDF5 takes its own when it starts, and keeps part of it while it writes; what
 * a point is and where its results are. */
enum { PROGRAM_BYTES = 18 << 20, MPI_BYTES = 9 << 20, POINT_BYTES = 4 << 10 };
/* HDF5 at its first file; what of it stays; a file being written. */
enum { WRITER_STARTS = 7 << 20, WRITER_WARM = 3 << 20, WRITER_BYTES = 3 << 20 };

static uint64_t part_length(const struct job *job) {
    return job_part(job).end - job_part(job).first;
}

/* Results of a point as they are gathered. */
static uint64_t gathered_bytes(const struct job *job, const struct point *p) {
    const struct model *model = job->model;
    uint64_t words = 0;
    for (unsigned r = 0; r < model->n_rows && job->keep_rows; r++)
        words += row_applies(p, r) ? part_length(job) : 0;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (job->keep_histogram[h])
            words += p->facts.likely[h] * histogram_batches(&model->histograms[h]);
    return words * sizeof(uint64_t);
}

/* In the file all points share an axis, as long as the longest needs it. */
static void axis_lengths(const struct job *job, uint64_t length[]) {
    for (unsigned h = 0; h < job->model->n_histograms; h++)
        length[h] = 0;
    for (uint64_t i = 0; i < job->n_points; i++)
        for (unsigned h = 0; h < job->model->n_histograms; h++)
            for (unsigned g = 0; g < job->model->n_histograms; g++)
                if (job->model->histograms[g].axis == job->model->histograms[h].axis &&
                    job->model->histograms[g].second == job->model->histograms[h].second &&
                    job->keep_histogram[g] && job->points[i].facts.likely[g] > length[h])
                    length[h] = job->points[i].facts.likely[g];
}

/* Rows that some point has. */
static unsigned rows_in_file(const struct job *job) {
    unsigned rows = 0;
    for (unsigned r = 0; r < job->model->n_rows; r++) {
        bool some = false;
        for (uint64_t i = 0; !some && i < job->n_points; i++)
            some = row_applies(&job->points[i], r);
        rows += some;
    }
    return rows;
}

/* Whether some point has a histogram that is kept. */
static bool histogram_in_file(const struct job *job, unsigned h) {
    bool some = false;
    for (uint64_t i = 0; !some && i < job->n_points; i++)
        some = histogram_applies(&job->points[i], h);
    return some && job->keep_histogram[h];
}

/* Bytes of the file: rows; histograms, batched ones also as their sum, fractions and errors, sums over servers also as
 * means; columns. */
static void file_bytes(const struct job *job, struct plan *plan) {
    const struct model *model = job->model;
    const uint64_t points = job->n_points, rows = job->keep_rows ? part_length(job) : 0;
    uint64_t length[HISTOGRAMS_MAX], words = 8192 + 60 * points + rows;
    axis_lengths(job, length);
    words += points * rows * rows_in_file(job) + points * model->n_rows * 8;
    for (unsigned h = 0; h < model->n_histograms; h++) {
        if (!histogram_in_file(job, h))
            continue;
        const struct histogram *histogram = &model->histograms[h];
        const uint64_t whole = points * length[h] * histogram_batches(histogram);
        const unsigned more = histogram->batched ? 3 : histogram->averages;
        const bool twice =
            histogram->batched && histogram->averages; /* sums, and means of batches */
        words +=
            (twice ? 2 : 1) * whole + more * points * length[h] + histogram->averages * length[h];
    }
    plan->file = words * sizeof(uint64_t);
}

/* The outcome of a range while it is played; `share`: nanoseconds of the longest range. */
static uint64_t parcel_bytes(const struct job *job, const struct point *p, double share) {
    const struct model *model = job->model;
    const double fits = share / p->facts.nanoseconds + 1;
    uint64_t most = part_length(job) < RANGE_MOST ? part_length(job) : RANGE_MOST;
    most = fits < (double)most ? (uint64_t)fits : most;
    uint64_t words = most * model->n_rows;
    for (unsigned h = 0; h < model->n_histograms; h++)
        if (job->keep_histogram[h])
            words += p->facts.likely[h] * histogram_batches(&model->histograms[h]);
    return words * sizeof(uint64_t);
}

/* Nanoseconds of the longest range, as schedule.c cuts them, of what each thread has to play. */
static double longest_range(double mine) {
    if (mine < 400e6)
        return mine / 8 > 3e6 ? mine / 8 : 3e6;
    return mine / 4 < 1e9 ? mine / 4 : 1e9;
}

static void raise(uint64_t *to, uint64_t x) {
    *to = x > *to ? x : *to;
}

struct plan plan_job(const struct job *job, unsigned threads, bool mpi, double checkpoint) {
    struct plan plan = {.program = PROGRAM_BYTES + (mpi ? MPI_BYTES : 0)};
    uint64_t second = 0, making_fresh = 0;
    for (uint64_t i = 0; i < job->n_points; i++) {
        const struct point *p = &job->points[i];
        if (p->facts.bytes_shared > plan.tables)
            second = plan.tables;
        else
            raise(&second, p->facts.bytes_shared);
        raise(&plan.tables, p->facts.bytes_shared);
        raise(&plan.making, p->facts.bytes_making);
        raise(&plan.fresh, p->facts.bytes_fresh);
        if (p->facts.bytes_fresh)
            raise(&making_fresh, p->facts.bytes_making);
        plan.gathered += gathered_bytes(job, p) + POINT_BYTES;
        plan.nanoseconds +=
            p->facts.nanoseconds * (double)part_length(job) + p->facts.nanoseconds_making;
    }
    const double seconds = plan.nanoseconds / 1e9 / threads;
    const double share = longest_range(plan.nanoseconds / threads);
    for (uint64_t i = 0; i < job->n_points; i++)
        raise(&plan.thread,
              job->points[i].facts.bytes_thread + parcel_bytes(job, &job->points[i], share));
    file_bytes(job, &plan);
    /* Where one point ends and the next begins, both have their tables. */
    const uint64_t tables = plan.tables + (threads > 1 ? second : 0);
    /* Graphs are made by one thread at a time. */
    const uint64_t playing = tables + threads * (plan.thread + plan.fresh) + making_fresh;
    uint64_t writing = 2 * plan.file + WRITER_BYTES; /* built in memory, copied on its way */
    raise(&writing, WRITER_STARTS);
    uint64_t most = plan.tables + plan.making;
    raise(&most, playing);
    most += WRITER_WARM; /* HDF5 is started while others play */
    raise(&most, writing);
    if (seconds > checkpoint) /* snapshots are written while others play */
        raise(&most, playing + writing);
    plan.total = plan.program + plan.gathered + most;
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
    const unsigned before = complaints->count, threads = job->budget.threads;
    for (uint64_t i = 0; i < job->n_points && complaints->count < before + 10; i++) {
        char need[32], have[32];
        const struct point *p = &job->points[i];
        if (p->facts.bytes_shared > memory)
            complain(complaints, &(struct place){job->path, 0, 0},
                     "point %llu (%s) needs tables of %s, which is more than --memory %s",
                     (unsigned long long)i, p->label,
                     bytes_text(p->facts.bytes_shared, need, sizeof need),
                     bytes_text(memory, have, sizeof have));
        else if (p->facts.bytes_fresh > memory / threads)
            complain(
                complaints, &(struct place){job->path, 0, 0},
                "point %llu (%s) needs %s for what each of %u threads makes for a replication, "
                "which is more than --memory %s (fewer --threads need less)",
                (unsigned long long)i, p->label,
                bytes_text(p->facts.bytes_fresh, need, sizeof need), threads,
                bytes_text(memory, have, sizeof have));
    }
    return complaints->count == before;
}

void plan_notes(const struct job *job, FILE *out) {
    for (uint64_t i = 0; i < job->n_points; i++) {
        const char *note = job->points[i].facts.note;
        bool said = !note[0];
        for (uint64_t j = 0; !said && j < i; j++)
            said = strcmp(job->points[j].facts.note, note) == 0;
        if (!said)
            fprintf(out, "potluck: %s\n", note);
    }
}

/* Tables of a point; after a plus what each thread has for itself. */
static const char *needs_text(const struct facts *f, char *buffer, size_t size) {
    char shared[32], fresh[32];
    bytes_text(f->bytes_shared, shared, sizeof shared);
    bytes_text(f->bytes_fresh, fresh, sizeof fresh);
    if (f->bytes_fresh && f->bytes_shared)
        snprintf(buffer, size, "%s + %s each", shared, fresh);
    else if (f->bytes_fresh)
        snprintf(buffer, size, "%s each", fresh);
    else
        snprintf(buffer, size, "%s", shared);
    return buffer;
}

static void print_point(uint64_t i, const struct point *p) {
    char needs[80];
    const double each = p->facts.nanoseconds;
    printf("%6llu  %-58s  %-28s  %16s  %7.3g %s\n", (unsigned long long)i, p->label,
           p->facts.sampler, needs_text(&p->facts, needs, sizeof needs),
           each < 1e6   ? each / 1e3
           : each < 1e9 ? each / 1e6
                        : each / 1e9,
           each < 1e6   ? "us"
           : each < 1e9 ? "ms"
                        : "s");
}

void plan_print(const struct job *job, const struct options *options, unsigned threads) {
    const struct plan plan = plan_job(job, threads, false, options->checkpoint);
    char a[32], b[32], c[32], d[32];
    printf("%s%s%s: model %s, %llu point%s, ", job->title, job->title[0] ? " " : "", job->path,
           job->model->kind.name, (unsigned long long)job->n_points, job->n_points == 1 ? "" : "s");
    if (job->replications.n_criteria)
        printf("%llu to %llu replications each\n", (unsigned long long)job->replications.min,
               (unsigned long long)job->replications.max);
    else if (job->part.end)
        printf("replications %llu to %llu of %llu each\n", (unsigned long long)job->part.first,
               (unsigned long long)job->part.end - 1, (unsigned long long)job->replications.max);
    else
        printf("%llu replications each\n", (unsigned long long)job->replications.max);
    printf("%6s  %-58s  %-28s  %16s  %10s\n", "point", "setting", "candidates drawn from", "memory",
           "time");
    for (uint64_t i = 0; i < job->n_points; i++)
        print_point(i, &job->points[i]);
    plan_notes(job, stderr);
    forecast_print(job, stdout);
    printf("memory: %s on the first rank with %u threads: program %s, tables %s, ",
           bytes_text(plan.total, a, sizeof a), threads, bytes_text(plan.program, b, sizeof b),
           bytes_text(plan.tables, c, sizeof c));
    printf("%s more while they are made, %s a thread, results %s",
           bytes_text(plan.making, d, sizeof d), bytes_text(plan.thread + plan.fresh, a, sizeof a),
           bytes_text(plan.gathered, b, sizeof b));
    printf(", building the file %s; MPI adds about %s\n",
           bytes_text(2 * plan.file + WRITER_BYTES, c, sizeof c),
           bytes_text(MPI_BYTES, d, sizeof d));
    printf("memory_bytes: %llu\n", (unsigned long long)plan.total);
    printf("file: about %s\n", bytes_text(plan.file, a, sizeof a));
    printf("time: about %s with %u threads, %s of one core\n",
           duration_text(plan.nanoseconds / 1e9 / threads, a, sizeof a), threads,
           duration_text(plan.nanoseconds / 1e9, b, sizeof b));
}
