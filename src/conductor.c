/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The protocol between ranks. A rank asks once for ranges for all its players, two for each; from
 * then on every parcel is answered by the next range. Rank 0 speaks to its own players through the
 * same two functions, without messages. */
#include "conductor.h"

#include "progress.h"
#include "results.h"
#include "runner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum tag { TAG_READY = 1, TAG_RANGE, TAG_PARCEL, TAG_STOP, TAG_HOME, TAG_REFUSED };
enum { IN_HAND = 2 };

static volatile sig_atomic_t heard;

static void hear(int number) {
    heard = number;
}

void conductor_listen(void) {
    struct sigaction act = {.sa_handler = hear};
    sigaction(SIGUSR1, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run, seen from one rank. */
struct run {
    const struct job *job;
    const struct options *options;
    const struct cluster *cluster;
    const struct farewell *farewell;
    struct runner *runner;
    struct account account;
    double start;
    /* rank 0 */
    struct store *store;
    struct schedule *schedule;
    struct progress *progress;
    unsigned *free_hands; /* per rank: ranges it could take */
    int ranks_home;
    bool changed, unsaved;
    double next_snapshot;
};

static void publish(struct run *run, bool last) {
    size_t size = 0;
    struct reason why;
    const double begin = now();
    if (!run->options->output || (!run->unsaved && !last))
        return;
    void *image = results_image(run->store, &size);
    if (!results_write(run->options->output, image, size, &why))
        world_failed("%s%s", why.text,
                     access(run->options->output, F_OK) == 0
                         ? "; the results saved before are intact"
                         : "; nothing has been saved");
    free(image);
    run->unsaved = false;
    run->account.snapshots++;
    /* Writing stays under one per cent of the time. */
    const double spent = now() - begin, pause = run->options->checkpoint;
    run->next_snapshot = now() + (pause > 100 * spent ? pause : 100 * spent);
}

/* Folds a parcel in; its rank can take another range. */
static void accept_parcel(struct run *run, int rank, struct parcel *p) {
    if (p->outcome.count > 0) {
        const struct range played = {p->range.point, p->outcome.first, p->outcome.count};
        store_fold(run->store, played.point, &p->outcome, p->sums);
        schedule_played(run->schedule, &played, p->nanoseconds);
        run->account.kernel += 1e-9 * (double)p->nanoseconds;
        run->account.replications += played.count;
        run->unsaved = true;
    }
    parcel_free(p);
    run->free_hands[rank]++;
    run->changed = true;
}

/* Of several refusals the first is heard. */
static void hear_refusal(struct run *run, const char *sentence) {
    if (!sentence || run->account.refusal)
        return;
    run->account.refusal = duplicate_text(sentence);
    run->account.code = EXIT_USER;
}

/* Takes in everything that has arrived; true when there was something. */
static bool gather(struct run *run) {
    bool some = false;
    struct parcel *p;
    int rank, tag;
    uint64_t *words, count;
    while ((p = runner_take(run->runner))) {
        accept_parcel(run, 0, p);
        some = true;
    }
    while (cluster_receive(&rank, &tag, &words, &count)) {
        some = true;
        if (tag == TAG_PARCEL) {
            accept_parcel(run, rank, parcel_unpack(run->job, words));
            continue;
        }
        if (tag == TAG_READY) {
            run->free_hands[rank] = IN_HAND * (unsigned)words[0];
            run->account.players += (unsigned)words[0];
            run->changed = true;
        } else if (tag == TAG_HOME) {
            run->ranks_home++;
        } else if (tag == TAG_REFUSED) {
            hear_refusal(run, (const char *)words);
        }
        free(words);
    }
    hear_refusal(run, runner_refusal(run->runner));
    return some;
}

/* Hands out ranges, one to each rank in turn, as long as somebody can take one. */
static void hand_out(struct run *run) {
    bool some = run->changed;
    run->changed = false;
    while (some) {
        some = false;
        for (int rank = 0; rank < run->cluster->size; rank++) {
            struct range range;
            if (run->free_hands[rank] == 0 || !schedule_next(run->schedule, (unsigned)rank, &range))
                continue;
            run->free_hands[rank]--;
            some = true;
            if (rank == 0)
                runner_push(run->runner, &range);
            else
                cluster_send(rank, TAG_RANGE, (uint64_t[]){range.point, range.first, range.count},
                             3);
        }
    }
}

static bool time_is_up(const struct run *run) {
    return run->options->max_time > 0 && now() - run->start >= run->options->max_time;
}

/* Everybody stops; what has been played until now is gathered for a moment. */
static void end_run(struct run *run, double grace) {
    for (int rank = 1; rank < run->cluster->size; rank++)
        cluster_send(rank, TAG_STOP, (uint64_t[]){(uint64_t)(grace * 1000), run->account.code}, 2);
    runner_stop(run->runner);
    const double until = now() + grace;
    while (run->ranks_home < run->cluster->size - 1 || !runner_home(run->runner)) {
        if (!gather(run))
            nanosleep(&(struct timespec){0, 500000}, NULL);
        if (run->account.code != EXIT_DONE && now() > until)
            break;
    }
    gather(run);
    run->account.wall = now() - run->start;
    if (run->account.code != EXIT_USER)
        run->account.code = schedule_done(run->schedule) ? EXIT_DONE : EXIT_EARLY;
}

static void conduct_first(void *context) {
    struct run *run = context;
    const struct options *o = run->options;
    run->changed = true;
    run->next_snapshot = now() + o->checkpoint;
    while (!run->account.refusal && !schedule_done(run->schedule)) {
        if (heard || time_is_up(run)) {
            run->account.code = EXIT_EARLY;
            run->account.signal = heard;
            break;
        }
        const bool some = gather(run);
        hand_out(run);
        if (now() >= run->next_snapshot)
            publish(run, false);
        const struct outlook outlook = schedule_outlook(run->schedule);
        progress_show(run->progress, &outlook, now() - run->start);
        if (!some)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    end_run(run, 0.4);
    const struct outlook outlook = schedule_outlook(run->schedule);
    progress_end(run->progress, run->account.refusal ? NULL : &outlook, run->account.wall);
    if (runner_home(run->runner))
        runner_clear(run->runner);
    if (!run->account.refusal)
        publish(run, true);
    if (!runner_home(run->runner)) { /* nothing to wait for: all that is finished has been saved */
        run->farewell->say(run->farewell->context, &run->account);
        cluster_finish();
        _exit((int)run->account.code);
    }
}

static bool pass_parcels(struct run *run) {
    struct parcel *p;
    bool some = false;
    while ((p = runner_take(run->runner))) {
        uint64_t words = 0, *message = parcel_pack(run->job, p, &words);
        cluster_send(0, TAG_PARCEL, message, words);
        free(message);
        parcel_free(p);
        some = true;
    }
    return some;
}

/* A refusal of this rank's players goes to rank 0, which speaks; true when there was one. */
static bool pass_refusal(struct run *run) {
    const char *sentence = runner_refusal(run->runner);
    if (!sentence || run->account.code == EXIT_USER)
        return false;
    const uint64_t words = strlen(sentence) / sizeof(uint64_t) + 1;
    uint64_t *message = allocate(words, sizeof *message);
    memcpy(message, sentence, strlen(sentence));
    cluster_send(0, TAG_REFUSED, message, words);
    free(message);
    run->account.code = EXIT_USER;
    return true;
}

static void conduct_other(void *context) {
    struct run *run = context;
    double until = 0;
    cluster_send(0, TAG_READY, (uint64_t[]){run->account.players}, 1);
    while (until == 0 || !runner_home(run->runner)) {
        int rank, tag;
        uint64_t *words, count;
        bool some = pass_parcels(run) || pass_refusal(run);
        while (cluster_receive(&rank, &tag, &words, &count)) {
            some = true;
            if (tag == TAG_RANGE)
                runner_push(run->runner, &(struct range){words[0], words[1], words[2]});
            if (tag == TAG_STOP) {
                until = now() + 1e-3 * (double)words[0];
                run->account.code = (enum exit_code)words[1];
                runner_stop(run->runner);
            }
            free(words);
        }
        if (until > 0 && now() > until)
            break;
        if (!some)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    pass_parcels(run);
    cluster_send(0, TAG_HOME, (uint64_t[]){0}, 1);
    if (!runner_home(run->runner)) {
        cluster_finish();
        _exit((int)run->account.code);
    }
}

struct account conduct_run(const struct job *job, struct store *store,
                           const struct options *options, const struct cluster *cluster,
                           const struct farewell *farewell) {
    const unsigned threads = runner_threads(options->threads);
    struct run run = {.job = job,
                      .options = options,
                      .cluster = cluster,
                      .farewell = farewell,
                      .store = store,
                      .start = now()};
    run.account.threads = run.account.players = threads;
    run.runner = runner_new(job, threads);
    if (cluster->rank != 0) {
        runner_run(run.runner, conduct_other, &run);
        runner_free(run.runner);
        return run.account;
    }
    const struct wish wish = {options->only_point, options->only_replication,
                              (unsigned)cluster->size, threads * (unsigned)cluster->size};
    run.schedule = schedule_new(store, &wish);
    run.progress = progress_new(options->progress, job->n_points, wish.players);
    run.free_hands = allocate((uint64_t)cluster->size, sizeof *run.free_hands);
    run.free_hands[0] = IN_HAND * threads;
    runner_run(run.runner, conduct_first, &run);
    schedule_free(run.schedule);
    runner_free(run.runner);
    free(run.free_hands);
    return run.account;
}
