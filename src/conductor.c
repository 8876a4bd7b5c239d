/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The protocol between ranks. A rank asks once for ranges for all its players, two for each; from
 * then on every parcel is answered by the next range. Rank 0 speaks to its own players through the
 * same two functions, without messages. */
#include "conductor.h"

#include "lock.h"
#include "log.h"
#include "plan.h"
#include "progress.h"
#include "results.h"
#include "runner.h"
#include "signals.h"
#include "snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum tag {
    TAG_READY = 1, /* a seat */
    TAG_RANGE,
    TAG_PARCEL,
    TAG_ALIVE, /* nothing else to say */
    TAG_HEARD, /* a signal came here alone */
    TAG_STOP,  /* milliseconds of grace, exit code if nothing else follows */
    TAG_HOME,  /* all players are home */
    TAG_CODE,  /* the exit code */
    TAG_REFUSED
};
enum { IN_HAND = 2 };

/* Seconds: a rank says something at least so often; and is taken for dead after silence. */
static const double SAYS = 5, PATIENCE = 90;

/* Seconds of CPU of this thread. */
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run, seen from one rank. */
struct run {
    const struct job *job;
    const struct options *options;
    const struct limit *limit;
    const struct cluster *cluster;
    const struct farewell *farewell;
    struct runner *runner;
    struct account account;
    double start;
    double nap;  /* nanoseconds of the last */
    double said; /* other ranks: when something was sent */
    /* rank 0 */
    struct store *store;
    struct schedule *schedule;
    struct progress *progress;
    struct snapshots snapshots;
    unsigned *free_hands; /* per rank: ranges it could take */
    int ranks_ready, ranks_home;
    bool changed, unsaved;
    double looked; /* for dead ranks, last */
    double cpu;    /* of conducting, at the beginning; then what it took */
};

/* All that had come is dealt with: looks for more are close together where some came, else ever
 * further apart. Two ranges in hand, of 50 ms or more each, outlast the longest nap. */
static void nap(struct run *run, bool some) {
    static const double SHORTEST = 1e6, LONGEST = 5e6, GROWTH = 1.1;
    run->nap *= GROWTH;
    if (some || run->nap < SHORTEST)
        run->nap = SHORTEST;
    else if (run->nap > LONGEST)
        run->nap = LONGEST;
    nanosleep(&(struct timespec){0, (long)run->nap}, NULL);
}

static void publish(struct run *run, bool last) {
    if (!run->unsaved && !last)
        return;
    const double cpu = cpu_now();
    snapshots_write(&run->snapshots, run->store);
    run->unsaved = false;
    run->account.snapshots = run->snapshots.number;
    run->account.writing = run->snapshots.writing;
    run->cpu += cpu_now() - cpu; /* not conducting */
}

/* Folds a parcel in; its rank can take another range. */
static void accept_parcel(struct run *run, int rank, struct parcel *p) {
    if (p->outcome.count > 0) {
        const struct range played = {p->range.point, p->outcome.first, p->outcome.count};
        struct share *share = &run->account.shares[rank];
        const double expected = schedule_expected(run->schedule, played.point);
        store_fold(run->store, played.point, &p->outcome, p->sums);
        schedule_played(run->schedule, &played, p->nanoseconds);
        share->kernel += 1e-9 * (double)p->nanoseconds;
        share->expected +=
            1e-9 * (expected > 0 ? expected * (double)played.count : (double)p->nanoseconds);
        share->replications += played.count;
        run->unsaved = true;
    }
    run->free_hands[rank] += !p->more;
    run->changed |= !p->more;
    run->account.messages++;
    parcel_free(p);
}

/* A rank is there; when all are, it is known where they sit. */
static void welcome(struct run *run, int rank, const struct seat *seat) {
    struct account *a = &run->account;
    a->shares[rank].seat = *seat;
    run->free_hands[rank] = IN_HAND * (unsigned)seat->threads;
    run->changed = true;
    if (++run->ranks_ready == run->cluster->size) {
        struct seat *seats = allocate(a->ranks, sizeof *seats);
        for (unsigned r = 0; r < a->ranks; r++)
            seats[r] = a->shares[r].seat;
        log_seats(run->options, seats, a->ranks);
        free(seats);
    }
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
        run->account.shares[rank].heard = clock_now();
        if (tag == TAG_PARCEL) {
            accept_parcel(run, rank, parcel_unpack(run->job, words));
            continue;
        }
        if (tag == TAG_READY) {
            welcome(run, rank, (const struct seat *)words);
        } else if (tag == TAG_HEARD) {
            signals_hear((int)words[0]);
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
            run->account.messages++;
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
    const double saving = run->limit->hard ? 2 * run->snapshots.cost : 0;
    return run->limit->seconds > 0 && clock_now() - run->start + saving >= run->limit->seconds;
}

/* Some launchers leave the others alone when a rank dies: they would wait for it for ever. When this
 * rank itself was away, writing or suspended, silence says nothing. */
static void look_for_dead(struct run *run) {
    const double now = clock_now();
    const bool away = now - run->looked > SAYS;
    run->looked = now;
    for (int rank = 1; away && rank < run->cluster->size; rank++)
        run->account.shares[rank].heard = now;
    for (int rank = 1; rank < run->cluster->size; rank++) {
        const struct share *share = &run->account.shares[rank];
        if (now - share->heard < PATIENCE)
            continue;
        publish(run, false);
        world_failed(
            "nothing has been heard of rank %d%s%s for %.0f s: is it dead? What the others "
            "finished %s",
            rank, share->seat.threads ? " on " : "", share->seat.host, now - share->heard,
            run->options->output ? "has been saved" : "is lost");
    }
}

/* Everybody stops; what has been played until now is gathered for a moment. */
static void end_run(struct run *run, double grace) {
    for (int rank = 1; rank < run->cluster->size; rank++)
        cluster_send(rank, TAG_STOP, (uint64_t[]){(uint64_t)(grace * 1000), run->account.code}, 2);
    runner_stop(run->runner);
    const double until = clock_now() + grace;
    while (run->ranks_home < run->cluster->size - 1 || !runner_home(run->runner)) {
        if (!gather(run))
            nanosleep(&(struct timespec){0, 500000}, NULL);
        if (run->account.code != EXIT_DONE && clock_now() > until)
            break;
        look_for_dead(run);
    }
    gather(run);
    run->account.wall = clock_now() - run->start;
    if (run->account.code != EXIT_USER)
        run->account.code = schedule_done(run->schedule) ? EXIT_DONE : EXIT_EARLY;
}

static void conduct_first(void *context) {
    struct run *run = context;
    run->changed = true;
    if (run->options->output) { /* while others play */
        hand_out(run);
        results_warm_up();
    }
    run->cpu = cpu_now();
    while (!run->account.refusal && !schedule_done(run->schedule)) {
        if (signals_heard() || time_is_up(run)) {
            run->account.code = EXIT_EARLY;
            run->account.signal = signals_heard();
            break;
        }
        const double cpu = cpu_now();
        const bool some = gather(run);
        hand_out(run);
        run->account.conducting += some ? cpu_now() - cpu : 0;
        look_for_dead(run);
        if (clock_now() >= run->snapshots.next)
            publish(run, false);
        lock_touch();
        const struct outlook outlook = schedule_outlook(run->schedule);
        progress_show(run->progress, &outlook, clock_now() - run->start);
        nap(run, some);
    }
    end_run(run, 0.4);
    run->account.awake = cpu_now() - run->cpu;
    const struct outlook outlook = schedule_outlook(run->schedule);
    progress_end(run->progress, run->account.refusal ? NULL : &outlook, run->account.wall);
    if (runner_home(run->runner))
        runner_clear(run->runner);
    if (!run->account.refusal)
        publish(run, true);
    for (int rank = 1; rank < run->cluster->size; rank++)
        cluster_send(rank, TAG_CODE, (uint64_t[]){run->account.code}, 1);
    if (!runner_home(run->runner)) { /* nothing to wait for: all that is finished has been saved */
        run->farewell->say(run->farewell->context, &run->account);
        cluster_finish();
        _exit((int)run->account.code);
    }
}

static void tell_first(struct run *run, enum tag tag, const uint64_t *words, uint64_t count) {
    cluster_send(0, (int)tag, words, count);
    run->said = clock_now();
}

static bool pass_parcels(struct run *run) {
    struct parcel *p;
    bool some = false;
    while ((p = runner_take(run->runner))) {
        uint64_t words = 0, *message = parcel_pack(run->job, p, &words);
        tell_first(run, TAG_PARCEL, message, words);
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
    tell_first(run, TAG_REFUSED, message, words);
    free(message);
    run->account.code = EXIT_USER;
    return true;
}

/* A signal that came to this rank is for all; true when one is new. */
static bool pass_signal(struct run *run) {
    if (!signals_heard() || run->account.signal)
        return false;
    run->account.signal = signals_heard();
    tell_first(run, TAG_HEARD, (uint64_t[]){(uint64_t)run->account.signal}, 1);
    return true;
}

/* Does what rank 0 says; true when it said something. *until: when to leave, once it said stop. */
static bool obey(struct run *run, double *until, bool *code_known) {
    bool some = false;
    int rank, tag;
    uint64_t *words, count;
    while (cluster_receive(&rank, &tag, &words, &count)) {
        some = true;
        if (tag == TAG_RANGE)
            runner_push(run->runner, &(struct range){words[0], words[1], words[2]});
        if (tag == TAG_STOP) {
            *until = clock_now() + 1e-3 * (double)words[0];
            run->account.code = (enum exit_code)words[1];
            runner_stop(run->runner);
        }
        if (tag == TAG_CODE) {
            run->account.code = (enum exit_code)words[0];
            *code_known = true;
        }
        free(words);
    }
    return some;
}

static void conduct_other(void *context) {
    struct run *run = context;
    double until = 0;
    bool code_known = false;
    tell_first(run, TAG_READY, (const uint64_t *)&run->account.shares[0].seat, SEAT_WORDS);
    while (until == 0 || (!runner_home(run->runner) && clock_now() < until)) {
        const bool passed = pass_parcels(run) || pass_refusal(run) || pass_signal(run);
        if (clock_now() - run->said > SAYS)
            tell_first(run, TAG_ALIVE, NULL, 0);
        nap(run, obey(run, &until, &code_known) || passed);
    }
    const bool home = runner_home(run->runner);
    pass_parcels(run);
    if (!home) {
        cluster_finish();
        _exit((int)run->account.code);
    }
    tell_first(run, TAG_HOME, NULL, 0);
    while (!code_known)
        nap(run, obey(run, &until, &code_known));
}

void account_free(struct account *a) {
    free(a->refusal);
    free(a->shares);
}

struct account conduct_run(const struct job *job, struct store *store,
                           const struct options *options, const struct limit *limit,
                           const struct cluster *cluster, const struct farewell *farewell) {
    const unsigned threads = runner_threads(options->threads), ranks = (unsigned)cluster->size;
    struct run run = {.job = job,
                      .options = options,
                      .limit = limit,
                      .cluster = cluster,
                      .farewell = farewell,
                      .store = store,
                      .start = clock_now()};
    const struct seat here = seat_here(threads);
    run.account.threads = threads;
    run.account.ranks = cluster->rank == 0 ? ranks : 1;
    run.account.shares = allocate(run.account.ranks, sizeof *run.account.shares);
    run.account.shares[0].seat = here;
    run.runner = runner_new(job, threads);
    if (cluster->rank != 0) {
        runner_run(run.runner, conduct_other, &run);
        runner_free(run.runner);
        return run.account;
    }
    const struct wish wish = {options->only_point, options->only_replication, ranks,
                              threads * ranks};
    run.schedule = schedule_new(store, &wish);
    run.progress = progress_new(options->progress, job->n_points, wish.players);
    run.free_hands = allocate(ranks, sizeof *run.free_hands);
    for (unsigned r = 0; r < ranks; r++)
        run.account.shares[r].heard = run.start;
    snapshots_begin(&run.snapshots, options, run.start,
                    plan_job(job, threads, false, options->checkpoint).file);
    welcome(&run, 0, &here);
    runner_run(run.runner, conduct_first, &run);
    schedule_free(run.schedule);
    runner_free(run.runner);
    free(run.free_hands);
    return run.account;
}
