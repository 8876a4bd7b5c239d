/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The job of the union is read again from what the files say of it; then they are added one by one,
 * so that two of them are in memory at most. */
#include "merge.h"

#include "lock.h"
#include "log.h"
#include "number.h"
#include "results.h"
#include "run.h"
#include "schedule.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the files say of their job, which must be one. */
struct claim {
    const char *from; /* the file with the most replications, the first of those */
    char *identity, *revision, *resolved, *text;
    uint64_t replications; /* 0: a stopping rule */
};

/* Where replications came from. */
struct origin {
    uint64_t point;
    struct span span;
    const char *file;
};
struct origins {
    struct origin *all;
    size_t n;
};

static void claim_free(struct claim *c) {
    free(c->identity);
    free(c->revision);
    free(c->resolved);
    free(c->text);
}

static char *attribute(struct saved *saved, const char *name) {
    const char *text = results_attribute(saved, name);
    return duplicate_text(text ? text : "");
}

/* The number of replications in a complete text, 0 for a stopping rule. */
static uint64_t count_in(const char *resolved) {
    static const char key[] = "\nreplications: ";
    const char *line = strstr(resolved, key);
    char number[32];
    uint64_t count = 0;
    if (!line)
        return 0;
    line += sizeof key - 1;
    const size_t length = strcspn(line, "\n");
    if (length >= sizeof number)
        return 0;
    memcpy(number, line, length);
    number[length] = '\0';
    return number_count(number, &count) == NUMBER_GOOD ? count : 0;
}

static bool agree(const struct claim *all, const struct claim *one, struct complaints *c) {
    struct reason why;
    if (strcmp(all->identity, one->identity) != 0) {
        run_difference(one->identity, all->identity, &why);
        complain(c, NULL, "%s holds another job than %s: %s", one->from, all->from, why.text);
    } else if (strcmp(all->revision, one->revision) != 0) {
        complain(c, NULL, "%s was made by source revision %s, %s by %s", one->from, one->revision,
                 all->from, all->revision);
    } else if (strcmp(all->resolved, one->resolved) != 0 &&
               (!all->replications || !one->replications)) {
        run_difference(one->resolved, all->resolved, &why);
        complain(c, NULL, "%s has another stopping rule than %s: %s", one->from, all->from,
                 why.text);
    } else {
        return true;
    }
    return false;
}

/* Takes in what one file says; the first speaks for all, and later the one with most replications. */
static void hear(struct claim *all, const char *path, const struct options *o,
                 struct complaints *c) {
    struct reason why;
    struct saved *saved = results_open(path, &why);
    if (!saved) {
        complain(c, NULL, "%s", why.text);
        return;
    }
    struct claim one = {path,
                        attribute(saved, "identity"),
                        attribute(saved, "source_revision"),
                        attribute(saved, "resolved"),
                        attribute(saved, "job"),
                        0};
    results_close(saved);
    one.replications = count_in(one.resolved);
    const bool mine = o->accept_source || strcmp(one.revision, log_revision()) == 0;
    if (!mine)
        complain(c, NULL,
                 "%s was made by source revision %s, this is %s (--accept-source merges all the "
                 "same)",
                 path, one.revision, log_revision());
    if (o->accept_source) { /* the file will name this program's */
        free(one.revision);
        one.revision = duplicate_text(log_revision());
    }
    const bool first = !all->from;
    if (first || (mine && agree(all, &one, c) && one.replications > all->replications)) {
        claim_free(all);
        *all = one;
    } else {
        claim_free(&one);
    }
}

/* The job of the union. Files that it names lie beside the results or in the current folder. */
static struct job *read_union(const struct claim *claim, const struct options *o,
                              const struct catalogue *models, struct complaints *complaints) {
    struct reading how = run_reading(o);
    struct complaints elsewhere = {0};
    struct job *job = job_read(o->inputs[0], claim->resolved, &how, models, complaints);
    if (!job && strchr(o->inputs[0], '/'))
        job = job_read("resolved job", claim->resolved, &how, models, &elsewhere);
    complaints_free(&elsewhere);
    if (!job)
        return NULL;
    complaints_free(complaints);
    free(job->text);
    job->text = duplicate_text(claim->text);
    job->text_length = strlen(job->text);
    return job;
}

/* Complains about the first replications of `s` that an earlier file has too; else notes whose they
 * are. */
static bool disjoint(struct origins *known, const struct store *s, const char *file,
                     struct complaints *complaints) {
    const size_t before = known->n;
    for (uint64_t point = 0; point < s->job->n_points; point++)
        for (unsigned i = 0; i < s->points[point].n_spans; i++) {
            const struct span mine = s->points[point].spans[i];
            for (size_t k = 0; k < before; k++) {
                const struct origin *its = &known->all[k];
                const uint64_t first = mine.first > its->span.first ? mine.first : its->span.first,
                               end = mine.end < its->span.end ? mine.end : its->span.end;
                if (its->point != point || first >= end)
                    continue;
                complain(complaints, NULL,
                         "replications %llu to %llu of point %llu are in %s and in %s",
                         (unsigned long long)first, (unsigned long long)end - 1,
                         (unsigned long long)point, its->file, file);
                return false;
            }
            known->all = reallocate(known->all, known->n + 1, sizeof *known->all);
            known->all[known->n++] = (struct origin){point, mine, file};
        }
    return true;
}

static bool add_file(struct store *all, struct origins *known, const char *path,
                     struct complaints *complaints) {
    struct reason why;
    struct saved *saved = results_open(path, &why);
    struct store *one = store_new(all->job);
    bool good = saved && results_load(saved, one, &why);
    if (!good)
        complain(complaints, NULL, "%s", why.text);
    results_close(saved);
    good = good && disjoint(known, one, path, complaints);
    if (good)
        store_merge(all, one);
    store_free(one);
    return good;
}

/* Says what is there, and what is not. */
static void say_what(const struct store *s, const struct options *o) {
    uint64_t lacking = 0, points = 0, first = 0;
    const uint64_t n = s->job->n_points;
    for (uint64_t p = n; p-- > 0;) {
        const uint64_t least = s->job->replications.min, have = s->points[p].complete;
        if (s->points[p].done)
            continue;
        lacking += have < least ? least - have : 0;
        points++;
        first = p;
    }
    fprintf(stderr, "potluck: %u file%s, %llu point%s: results are in %s\n", o->n_inputs,
            o->n_inputs == 1 ? "" : "s", (unsigned long long)n, n == 1 ? "" : "s", o->output);
    char count[32] = "";
    if (!s->job->replications.n_criteria)
        snprintf(count, sizeof count, " %llu", (unsigned long long)lacking);
    if (points)
        fprintf(stderr,
                "potluck: it is not complete: %llu point%s, the first of them %llu, lack%s%s "
                "replications (run --resume plays them)\n",
                (unsigned long long)points, points == 1 ? "" : "s", (unsigned long long)first,
                points == 1 ? "s" : "", count);
}

static void write_union(struct store *all, const struct options *o) {
    const struct wish everything = {-1, -1, 1, 1};
    struct reason why;
    size_t size;
    schedule_free(schedule_new(all, &everything)); /* which points are done */
    void *image = results_image(all, &size);
    if (!results_write(o->output, image, size, &why))
        world_failed("%s", why.text);
    free(image);
    for (unsigned i = 0; i < o->n_inputs; i++) {
        char *sentence = format_text("merged from %s", o->inputs[i]);
        log_remark(o, sentence);
        free(sentence);
    }
    say_what(all, o);
}

bool merge(const struct options *o, const struct catalogue *models, struct complaints *complaints) {
    struct claim claim = {0};
    struct origins known = {0};
    struct job *job = NULL;
    static const char ways[] = "--force replaces it";
    char *died = NULL;
    if (target_writable(o->output, complaints))
        target_free(o->output, o->force, ways, complaints);
    for (unsigned i = 0; i < o->n_inputs; i++)
        hear(&claim, o->inputs[i], o, complaints);
    if (!complaints->count)
        job = read_union(&claim, o, models, complaints);
    if (job && target_take(o->output, o->force, ways, &died, complaints) && died)
        log_say(o, died);
    struct store *all = job ? store_new(job) : NULL;
    for (unsigned i = 0; i < o->n_inputs && !complaints->count; i++) {
        add_file(all, &known, o->inputs[i], complaints);
        lock_touch();
    }
    if (!complaints->count)
        write_union(all, o);
    lock_release();
    free(died);
    store_free(all);
    job_free(job);
    claim_free(&claim);
    free(known.all);
    return !complaints->count;
}
