/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The events of model dht as the program plays them, in the words of ring.c.
 *
 *     ring_log JOB [LEVEL]
 *
 * Plays every point of a job file at an instruction-set level, the best unless told, and prints for each
 * replication "R replication anticipated capacity ..", then its events, measured loads included. */
#include "dht_play.h"
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_names[EVENTS] = {
    [EVENT_UP] = "up",       [EVENT_DOWN] = "down",     [EVENT_JOIN] = "join",
    [EVENT_LEAVE] = "leave", [EVENT_CREATE] = "create", [EVENT_DELETE] = "delete",
    [EVENT_SPLIT] = "split", [EVENT_GIVE] = "give",     [EVENT_MOVE] = "move",
    [EVENT_SHIFT] = "shift"};

struct log {
    FILE *out;
    bool begun;
};

/* Where a line goes; what the replication begins with goes before it. */
static FILE *begin_line(struct log *log, const struct dht *d) {
    if (!log->begun)
        fprintf(log->out, "R %" PRIu32 " %.17g", d->words.replication, d->anticipated);
    for (uint32_t i = 0; !log->begun && i < d->p->n; i++)
        fprintf(log->out, " %.17g%s", d->capacity[i], i + 1 < d->p->n ? "" : "\n");
    log->begun = true;
    return log->out;
}

static void log_event(void *context, const struct dht *d, enum dht_event event, uint32_t node,
                      uint64_t id, uint64_t other) {
    FILE *out = begin_line(context, d);
    fprintf(out, "%" PRIu64 " %s %" PRIu32, d->step, event_names[event], node);
    if (event != EVENT_UP && event != EVENT_DOWN)
        fprintf(out, " %016" PRIx64, id);
    if (event == EVENT_MOVE || event == EVENT_SHIFT)
        fprintf(out, " %016" PRIx64, other);
    if (event == EVENT_GIVE)
        fprintf(out, " %" PRIu64, other);
    fputc('\n', out);
}

static void log_step(void *context, const struct dht *d) {
    FILE *out = begin_line(context, d);
    const struct dht_sums *s = &d->play->done;
    fprintf(out,
            "%" PRIu64 " step %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %" PRIu64 " %" PRIu64 "\n",
            d->step, d->n_up, d->n_servers, s->queries, s->succeeded, s->dropped, s->lost, s->hops,
            s->received);
    for (uint32_t i = 0; i < d->n_up; i++)
        fprintf(out, "%" PRIu64 " load %" PRIu32 " %.17g\n", d->step, d->up[i],
                dht_utilisation(d, d->up[i]));
}

static uint64_t sums_of(const struct model *m, const struct facts *facts, unsigned h) {
    return facts->bins[h] * histogram_batches(&m->histograms[h]);
}

/* One attempt at a replication in `size` bytes; what play() returns. */
static uint64_t attempt(const struct model *m, const struct point *point, void *prepared,
                        uint64_t replication, uint64_t size) {
    const struct facts *facts = &point->facts;
    struct workspace work = {aligned_alloc(64, (size + 63) / 64 * 64), size};
    struct outcome o = {.first = replication, .count = 1};
    CHECK(work.memory);
    o.tally = allocate(m->n_rows, sizeof *o.tally);
    for (unsigned h = 0; h < m->n_histograms; h++) {
        o.stride[h] = facts->bins[h];
        o.histogram[h] = allocate(sums_of(m, facts, h), sizeof *o.histogram[h]);
    }
    const uint64_t need = m->play(prepared, point->key, work, &o);
    if (need == PLAY_REFUSED)
        fprintf(stderr, "ring_log: %s\n", o.why.text);
    for (unsigned h = 0; h < m->n_histograms; h++)
        free(o.histogram[h]);
    free(o.tally);
    free(work.memory);
    return need;
}

/* The log of an attempt that needs more memory counts for nothing. */
static bool log_replication(const struct model *m, const struct point *point,
                            struct dht_point *prepared, uint64_t replication) {
    uint64_t size = point->facts.bytes_thread;
    for (uint64_t need = 1; need;) {
        char *text = NULL;
        size_t length = 0;
        struct log log = {open_memstream(&text, &length), false};
        CHECK(log.out);
        prepared->log = log_event;
        prepared->log_step = log_step;
        prepared->context = &log;
        need = attempt(m, point, prepared, replication, size);
        fclose(log.out);
        if (!need)
            fwrite(text, 1, length, stdout);
        free(text);
        if (need == PLAY_REFUSED)
            return false;
        size = need;
    }
    return true;
}

static bool log_point(const struct job *job, const struct point *point) {
    struct reason why = {""};
    bool good = true;
    struct dht_point *prepared = job->model->prepare(point->values, point->key, &job->budget, &why);
    if (!prepared) {
        fprintf(stderr, "ring_log: %s\n", why.text);
        return false;
    }
    for (uint64_t r = 0; good && r < job->replications.min; r++)
        good = log_replication(job->model, point, prepared, r);
    job->model->release(prepared);
    return good;
}

static enum level level_of(const char *name) {
    for (unsigned l = 0; l <= (unsigned)level_best(); l++)
        if (!strcmp(level_name[l], name))
            return (enum level)l;
    fprintf(stderr, "ring_log: level %s: not here\n", name);
    exit(77);
}

int main(int argc, char **argv) {
    struct complaints complaints = {0};
    bool good = true;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: ring_log JOB [LEVEL]\n");
        return 2;
    }
    const enum level level = argc > 2 ? level_of(argv[2]) : level_best();
    struct job *job = job_read(argv[1], NULL, NULL, models_at(level), &complaints);
    if (!job || strcmp(job->model->kind.name, "dht")) {
        fputs(complaints.text ? complaints.text : "ring_log: the job is not one of model dht\n",
              stderr);
        complaints_free(&complaints);
        job_free(job);
        return 2;
    }
    for (uint64_t i = 0; good && i < job->n_points; i++)
        good = log_point(job, &job->points[i]);
    job_free(job);
    return !good;
}
