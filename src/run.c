/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The story of a run. Rank 0 reads the job and the saved results and says how it looks; all ranks
 * read the same resolved text; everybody plays; rank 0 writes. */
#include "run.h"

#include "attachments.h"
#include "batch.h"
#include "cluster.h"
#include "conductor.h"
#include "lock.h"
#include "log.h"
#include "plan.h"
#include "progress.h"
#include "results.h"
#include "runner.h"
#include "settling.h"
#include "signals.h"
#include "target.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void prepare(void) {
    /* Large blocks go back to the system when they are freed: what a plan states is kept. */
    mallopt(M_MMAP_THRESHOLD, 1 << 18);
    signals_listen();
}

bool run_is_first(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

unsigned run_threads(const struct options *options) {
    return runner_threads(options->threads);
}

struct reading run_reading(const struct options *options) {
    return (struct reading){.replications = options->replications,
                            .part = {options->part_first, options->part_end},
                            .budget = {options->memory, run_threads(options)}};
}

/* A run of single points or replications prints them and writes only where -o says so. */
static bool writes(const struct options *o) {
    return o->output != NULL;
}

static bool inside(const struct options *o, const struct job *job, struct complaints *complaints) {
    if (o->only_point >= 0 && (uint64_t)o->only_point >= job->n_points)
        complain(complaints, NULL, "--only %lld: the job has points 0 to %llu",
                 (long long)o->only_point, (unsigned long long)job->n_points - 1);
    if (o->only_replication >= 0 && (uint64_t)o->only_replication >= job->replications.max)
        complain(complaints, NULL, "--only %lld:%lld: the job has replications 0 to %llu",
                 (long long)o->only_point, (long long)o->only_replication,
                 (unsigned long long)job->replications.max - 1);
    return complaints->count == 0;
}

void run_difference(const char *mine, const char *theirs, struct reason *why) {
    while (*mine && *mine == *theirs) {
        const char *a = strchr(mine, '\n'), *b = strchr(theirs, '\n');
        if (!a || !b || a - mine != b - theirs || strncmp(mine, theirs, (size_t)(a - mine)) != 0)
            break;
        mine = a + 1;
        theirs = b + 1;
    }
    refuse(why, "\"%.*s\" here, \"%.*s\" there", (int)strcspn(mine, "\n"), mine,
           (int)strcspn(theirs, "\n"), theirs);
}

/* The digest that another job's text gives for a file of this one; NULL when it names no such
 * file. */
static const char *digest_in(const char *text, const struct attachment *a) {
    char *own = job_file_text(a);
    const size_t end = strlen(a->sha256) + (own[0] == '"');
    own[strlen(own) - end] = '\0'; /* the name and what marks a digest */
    const char *at = strstr(text, own);
    while (at && (at == text || !strchr(" [\n", at[-1])))
        at = strstr(at + 1, own);
    at = at ? at + strlen(own) : NULL;
    free(own);
    return at;
}

/* Another job than that of the results: files that have changed, or else the first difference. */
static void complain_differs(const char *output, const struct job *job, const char *theirs,
                             struct complaints *complaints) {
    struct reason why;
    for (unsigned i = 0; i < job->n_attachments; i++) {
        const struct attachment *a = job->attachments[i];
        const int length = (int)strlen(a->sha256);
        const char *digest = digest_in(theirs, a);
        if (digest && strncmp(digest, a->sha256, (size_t)length) != 0)
            complain(complaints, NULL, "--resume: %s has changed: SHA-256 %s here, %.*s in %s",
                     a->name, a->sha256, length, digest, output);
    }
    if (complaints->count)
        return;
    run_difference(job->identity, theirs, &why);
    complain(complaints, NULL, "--resume: %s holds another job: %s", output, why.text);
}

/* Nothing that was played is thrown away for a smaller number of replications. Where a changed
 * stopping rule might have stopped a point before what is there, the point is played anew. */
static bool accept_saved(struct store *store, bool same_rule, struct complaints *complaints) {
    const struct replications *r = &store->job->replications;
    const uint64_t most = r->n_criteria == 0 ? r->max : same_rule ? UINT64_MAX : r->min;
    uint64_t anew = 0;
    for (uint64_t i = 0; i < store->job->n_points; i++) {
        struct point_store *p = &store->points[i];
        const uint64_t end = p->n_spans ? p->spans[p->n_spans - 1].end : 0;
        if (end <= most)
            continue;
        if (r->n_criteria == 0) {
            complain(complaints, NULL,
                     "--resume: point %llu has %llu replications already, the last of them number "
                     "%llu; the job asks for %llu (-r %llu keeps them, --force plays it anew)",
                     (unsigned long long)i, (unsigned long long)p->complete,
                     (unsigned long long)end - 1, (unsigned long long)r->max,
                     (unsigned long long)end);
            return false;
        }
        store_clear(store->job, p);
        anew++;
    }
    if (anew)
        fprintf(stderr, "potluck: %llu points are played anew: the stopping rule has changed\n",
                (unsigned long long)anew);
    return true;
}

/* Fills the store from the file of an earlier run of the same job. */
static bool resume(const struct options *o, struct job *job, struct store *store,
                   struct complaints *complaints) {
    struct reason why;
    struct saved *saved = results_open(o->output, &why);
    if (!saved) {
        complain(complaints, NULL, "--resume: %s", why.text);
        return false;
    }
    const char *theirs = results_attribute(saved, "identity"),
               *resolved = results_attribute(saved, "resolved");
    const char *revision = results_attribute(saved, "source_revision");
    if (!theirs || !resolved || strcmp(theirs, job->identity) != 0) {
        complain_differs(o->output, job, theirs ? theirs : "", complaints);
    } else if (!o->accept_source && (!revision || strcmp(revision, log_revision()) != 0)) {
        complain(
            complaints, NULL,
            "--resume: %s was made by source revision %s, this is %s (--accept-source goes on)",
            o->output, revision ? revision : "unknown", log_revision());
    } else if (!results_load(saved, store, &why)) {
        complain(complaints, NULL, "--resume: %s: %s", o->output, why.text);
    } else {
        accept_saved(store, strcmp(resolved, job->resolved) == 0, complaints);
    }
    results_close(saved);
    return complaints->count == 0;
}

/* The same job with another seed: its complete text with that line replaced, the user's own text
 * kept. */
static struct job *reseed(struct job *job, const char *seed_line, const struct catalogue *models,
                          struct complaints *complaints) {
    const char *mine = strstr(job->resolved, "\nseed: ");
    CHECK(mine);
    char *text = format_text("%.*s%.*s%s", (int)(mine - job->resolved), job->resolved,
                             (int)(1 + strcspn(seed_line + 1, "\n")), seed_line,
                             mine + 1 + strcspn(mine + 1, "\n"));
    const struct reading how = {.budget = job->budget,
                                .attachments = job->attachments,
                                .n_attachments = job->n_attachments};
    struct job *other = job_read(job->path, text, &how, models, complaints);
    CHECK(other);
    free(text);
    free(other->text);
    other->text = duplicate_text(job->text);
    other->text_length = job->text_length;
    job_free(job);
    return other;
}

/* --resume without a seed in the job file goes on with the seed of the results. */
static struct job *read_job(const struct options *o, const struct catalogue *models,
                            struct complaints *complaints) {
    const struct reading how = run_reading(o);
    struct job *job = job_read(o->input, NULL, &how, models, complaints);
    if (!job || !job->seed_drawn || !o->resume || !writes(o) || !target_exists(o->output))
        return job;
    struct reason why;
    struct saved *saved = results_open(o->output, &why);
    const char *resolved = saved ? results_attribute(saved, "resolved") : NULL;
    const char *line = resolved ? strstr(resolved, "\nseed: ") : NULL;
    if (line)
        job = reseed(job, line, models, complaints);
    results_close(saved);
    return job;
}

static const char ways[] = "--resume goes on with it, --force replaces it";

/* Everything rank 0 settles before the others start. NULL after complaining. */
static struct job *open_job(const struct options *o, const struct catalogue *models,
                            struct store **store, char **died, struct complaints *complaints) {
    const bool replaces = o->resume || o->force;
    *store = NULL;
    if (writes(o) && (!target_writable(o->output, complaints) ||
                      !target_free(o->output, replaces, ways, complaints)))
        return NULL;
    struct job *job = read_job(o, models, complaints);
    if (!job)
        return NULL;
    if (job->seed_drawn && job->part.end)
        complain(complaints, NULL,
                 "%s has no seed: each run of --replications would draw its own, and nothing could "
                 "be merged (add a line: seed: %llu)",
                 o->input, (unsigned long long)job->seed);
    if (inside(o, job, complaints) && plan_fits(job, o->memory, complaints)) {
        if (writes(o)) /* another run may have ended meanwhile */
            target_take(o->output, replaces, ways, died, complaints);
        *store = store_new(job);
        if (complaints->count == 0 && o->resume && writes(o) && target_exists(o->output))
            resume(o, job, *store, complaints);
    }
    if (complaints->count == 0)
        return job;
    store_free(*store);
    *store = NULL;
    job_free(job);
    lock_release();
    return NULL;
}

/* The rows of --only on standard output. */
static void print_only(const struct store *s, const struct options *o) {
    const struct job *job = s->job;
    const uint64_t point = (uint64_t)o->only_point;
    printf("point %llu: %s\n", (unsigned long long)point, job->points[point].label);
    if (o->only_replication >= 0)
        printf("replication %llu\n", (unsigned long long)o->only_replication);
    for (unsigned r = 0; r < job->model->n_rows; r++) {
        if (!row_applies(&job->points[point], r))
            continue;
        printf("%-20s %.17g", job->model->rows[r].name, store_mean(s, point, r));
        if (o->only_replication < 0)
            printf(" se %.3g", store_se(s, point, r));
        printf(" %s\n", job->model->rows[r].units);
    }
}

/* What a run leaves behind besides its results. */
struct ending {
    const struct options *options;
    const struct store *store;
};

/* Whether the results are what they seem. */
static void say_doubts(const struct options *o, const struct store *store) {
    char *doubts = settling_text(store);
    if (doubts)
        log_say(o, doubts);
    free(doubts);
}

static void say_farewell(void *context, const struct account *account) {
    const struct ending *e = context;
    const struct options *o = e->options;
    if (!account->refusal)
        say_doubts(o, e->store);
    log_end(o, e->store->job, account);
    if (account->refusal)
        fprintf(stderr, "potluck: %s\n", account->refusal);
    if (o->only_point >= 0 && account->code == EXIT_DONE)
        print_only(e->store, o);
    if (writes(o) && !account->refusal)
        fprintf(stderr,
                account->code == EXIT_EARLY
                    ? "potluck: stopped early; everything played is in %s (--resume goes on)\n"
                    : "potluck: results are in %s\n",
                o->output);
    lock_release();
}

/* Rank 0's attachments on the other ranks; there the caller frees the list. */
static struct attachment **share_attachments(const struct job *job, unsigned *n) {
    uint64_t count = job ? job->n_attachments : 0;
    cluster_share_words(&count, 1);
    struct attachment **all = job ? job->attachments : allocate(count, sizeof *all);
    for (uint64_t i = 0; i < count; i++) {
        char *name = job ? all[i]->name : NULL;
        uint64_t length = job ? all[i]->length : 0;
        cluster_share_text(&name);
        cluster_share_words(&length, 1);
        char *bytes = job ? all[i]->bytes : allocate(length + 1, 1);
        cluster_share_bytes(bytes, length);
        if (!job)
            all[i] = attachment_new(name, bytes, length);
    }
    *n = (unsigned)count;
    return all;
}

/* The job of rank 0 on the other ranks, from its complete text and its files; `job` is NULL there,
 * *text theirs to free at the end. */
static struct job *share_job(struct job *job, char **text, const struct options *o,
                             const struct catalogue *models) {
    struct reading how = {.budget = run_reading(o).budget};
    struct complaints complaints = {0};
    *text = job ? job->resolved : NULL;
    cluster_share_text(text);
    how.attachments = share_attachments(job, &how.n_attachments);
    if (job)
        return job;
    job = job_read("resolved job", *text, &how, models, &complaints);
    free(how.attachments);
    return job;
}

/* --max-time, or what the batch system leaves. */
static struct limit time_limit(const struct options *o) {
    struct limit limit = {.seconds = o->max_time};
    struct reason why;
    double left;
    char *sentence = NULL, text[32], usable[32];
    if (!o->max_time_auto)
        return limit;
    if (!batch_time_left(&left, &why)) {
        sentence = format_text("no time limit: %s", why.text);
    } else if (isinf(left)) {
        sentence = duplicate_text("no time limit: no batch system sets one");
    } else {
        limit = (struct limit){.seconds = batch_usable(left), .hard = true};
        sentence = format_text("time limit: the batch system leaves %s, the run stops after %s",
                               duration_text(left, text, sizeof text),
                               duration_text(limit.seconds, usable, sizeof usable));
    }
    log_say(o, sentence);
    free(sentence);
    return limit;
}

/* Rank 0's word to all: the exit code when there is nothing to start, else EXIT_DONE. */
static enum exit_code agreed(bool start) {
    uint64_t word = start ? EXIT_DONE : signals_heard() ? EXIT_EARLY : EXIT_USER;
    cluster_share_words(&word, 1);
    return (enum exit_code)word;
}

int run(int *argc, char ***argv, const struct options *o, const struct catalogue *models) {
    struct cluster cluster;
    struct complaints complaints = {0};
    struct reason why;
    struct store *store = NULL;
    struct job *job = NULL;
    char *died = NULL; /* a sentence about a run that died here */
    struct limit limit = {0};
    prepare();
    if (!cluster_start(argc, argv, &cluster, &why)) {
        fprintf(stderr, "potluck: %s\n", why.text);
        return EXIT_USER;
    }
    const bool first = cluster.rank == 0;
    if (first)
        job = open_job(o, models, &store, &died, &complaints);
    const enum exit_code word = agreed(job != NULL);
    if (word != EXIT_DONE) {
        if (first)
            fputs(complaints.text, stderr);
        complaints_free(&complaints);
        cluster_finish();
        return (int)word;
    }
    char *text;
    job = share_job(job, &text, o, models);
    CHECK(job);
    if (first) {
        plan_notes(job, stderr);
        log_begin(o, job, &cluster);
        if (died)
            log_say(o, died);
        limit = time_limit(o);
    }
    struct ending ending = {o, store};
    const struct farewell farewell = {say_farewell, &ending};
    struct account account = conduct_run(job, store, o, &limit, &cluster, &farewell);
    if (first)
        say_farewell(&ending, &account);
    account_free(&account);
    free(died);
    store_free(store);
    job_free(job);
    if (!first)
        free(text);
    cluster_finish();
    return (int)account.code;
}
