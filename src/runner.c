/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Players. A range is played in slices of some 20 ms, so that a request to stop is heard soon. */
#define _GNU_SOURCE
#include "runner.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { TABLES_SPARE = 8, HUGE_PAGE = 1 << 21 };
/* Nanoseconds of play after which a parcel goes to the first rank, whatever its range was expected
 * to take: what is finished is soon safe. */
static const uint64_t LONG_ENOUGH = 2000000000;

/* Tables of a point, shared by the threads of a rank. */
struct table_of {
    uint64_t point;
    void *prepared;
    unsigned users;
    uint64_t last_use;
};

struct runner {
    const struct job *job;
    unsigned threads;
    omp_lock_t lock; /* guards the queue, the parcels and the refusal */
    struct range *queue;
    unsigned n_queue, queue_room;
    struct parcel **parcels;
    unsigned n_parcels, parcels_room;
    char *refusal;
    omp_lock_t tables_lock;
    struct table_of *tables;
    unsigned n_tables; /* more than players */
    uint64_t clock;    /* of table uses */
    atomic_bool stop;
    atomic_uint home;
};

static void set_bit(uint64_t *bits, unsigned words, int i) {
    if (i >= 0 && (unsigned)i / 64 < words)
        bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* With OMP_PROC_BIND the first thread is on one core by now, and the places tell of all. */
void runner_cores(uint64_t *bits, unsigned words) {
    memset(bits, 0, words * sizeof *bits);
    const int places = omp_get_num_places();
    for (int p = 0; p < places; p++) {
        const int n = omp_get_place_num_procs(p);
        int *ids = allocate((size_t)n + 1, sizeof *ids);
        omp_get_place_proc_ids(p, ids);
        for (int i = 0; i < n; i++)
            set_bit(bits, words, ids[i]);
        free(ids);
    }
    if (places > 0)
        return;
    const size_t size = words * sizeof *bits;
    cpu_set_t *set = allocate(words, sizeof *bits);
    for (int i = 0; sched_getaffinity(0, size, set) == 0 && i < (int)words * 64; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            set_bit(bits, words, i);
    free(set);
}

unsigned runner_threads(unsigned wanted) {
    const int most = omp_get_max_threads();
    return wanted > 0 ? wanted : most > 0 ? (unsigned)most : 1;
}

struct runner *runner_new(const struct job *job, unsigned threads) {
    struct runner *r = allocate(1, sizeof *r);
    r->job = job;
    r->threads = threads;
    r->n_tables = threads + TABLES_SPARE;
    r->tables = allocate(r->n_tables, sizeof *r->tables);
    omp_init_lock(&r->lock);
    omp_init_lock(&r->tables_lock);
    return r;
}

void runner_clear(struct runner *r) {
    for (unsigned i = 0; i < r->n_tables; i++)
        if (r->tables[i].prepared)
            r->job->model->release(r->tables[i].prepared);
    memset(r->tables, 0, r->n_tables * sizeof *r->tables);
}

void runner_free(struct runner *r) {
    runner_clear(r);
    free(r->tables);
    for (unsigned i = 0; i < r->n_parcels; i++)
        parcel_free(r->parcels[i]);
    omp_destroy_lock(&r->lock);
    omp_destroy_lock(&r->tables_lock);
    free(r->queue);
    free(r->parcels);
    free(r->refusal);
    free(r);
}

void runner_push(struct runner *r, const struct range *range) {
    omp_set_lock(&r->lock);
    if (r->n_queue == r->queue_room) {
        r->queue_room = r->queue_room * 2 + 8;
        r->queue = reallocate(r->queue, r->queue_room, sizeof *r->queue);
    }
    r->queue[r->n_queue++] = *range;
    omp_unset_lock(&r->lock);
}

static bool take_range(struct runner *r, struct range *range) {
    omp_set_lock(&r->lock);
    const bool some = r->n_queue > 0;
    if (some) {
        *range = r->queue[0];
        r->n_queue--;
        memmove(r->queue, r->queue + 1, r->n_queue * sizeof *r->queue);
    }
    omp_unset_lock(&r->lock);
    return some;
}

static void leave_parcel(struct runner *r, struct parcel *p) {
    omp_set_lock(&r->lock);
    if (r->n_parcels == r->parcels_room) {
        r->parcels_room = r->parcels_room * 2 + 8;
        r->parcels = reallocate(r->parcels, r->parcels_room, sizeof(struct parcel *));
    }
    r->parcels[r->n_parcels++] = p;
    omp_unset_lock(&r->lock);
}

struct parcel *runner_take(struct runner *r) {
    struct parcel *p = NULL;
    omp_set_lock(&r->lock);
    if (r->n_parcels > 0) {
        p = r->parcels[0];
        r->n_parcels--;
        memmove(r->parcels, r->parcels + 1, r->n_parcels * sizeof(struct parcel *));
    }
    omp_unset_lock(&r->lock);
    return p;
}

void runner_stop(struct runner *r) {
    atomic_store(&r->stop, true);
}

/* Of several players that cannot go on one is heard. */
static void refuse_point(struct runner *r, uint64_t point, const struct reason *why) {
    omp_set_lock(&r->lock);
    if (!r->refusal)
        r->refusal = format_text("point %llu (%s): %s", (unsigned long long)point,
                                 r->job->points[point].label, why->text);
    omp_unset_lock(&r->lock);
    runner_stop(r);
}

const char *runner_refusal(struct runner *r) {
    omp_set_lock(&r->lock);
    const char *refusal = r->refusal;
    omp_unset_lock(&r->lock);
    return refusal;
}

bool runner_home(struct runner *r) {
    return atomic_load(&r->home) == r->threads;
}

/* A free slot for tables: there are more slots than players. Large tables that nobody uses make
 * room first. */
static struct table_of *free_slot(struct runner *r) {
    enum { LARGE = 1 << 20 };
    struct table_of *best = NULL;
    for (unsigned i = 0; i < r->n_tables; i++) {
        struct table_of *t = &r->tables[i];
        if (t->users > 0)
            continue;
        if (t->prepared && r->job->points[t->point].facts.bytes_shared > LARGE) {
            r->job->model->release(t->prepared);
            *t = (struct table_of){0};
        }
        if (!best || t->last_use < best->last_use) /* an empty slot has never been used */
            best = t;
    }
    CHECK(best);
    if (best->prepared)
        r->job->model->release(best->prepared);
    return best;
}

/* Makes the tables of a point in a slot; false when they cannot be made. */
static bool make_tables(struct runner *r, struct table_of *t, uint64_t point) {
    const struct point *p = &r->job->points[point];
    struct reason why = {""};
    *t = (struct table_of){.point = point,
                           .prepared =
                               r->job->model->prepare(p->values, p->key, &r->job->budget, &why)};
    if (!t->prepared)
        refuse_point(r, point, &why);
    return t->prepared != NULL;
}

/* Tables of a point, made by the first player that needs them while others wait. NULL when they
 * cannot be made. */
static struct table_of *tables_acquire(struct runner *r, uint64_t point) {
    struct table_of *t = NULL;
    omp_set_lock(&r->tables_lock);
    for (unsigned i = 0; i < r->n_tables; i++)
        if (r->tables[i].prepared && r->tables[i].point == point)
            t = &r->tables[i];
    if (!t) {
        t = free_slot(r);
        if (!make_tables(r, t, point))
            t = NULL;
    }
    if (t) {
        t->users++;
        t->last_use = ++r->clock;
    }
    omp_unset_lock(&r->tables_lock);
    return t;
}

static void tables_release(struct runner *r, struct table_of *t) {
    omp_set_lock(&r->tables_lock);
    t->users--;
    omp_unset_lock(&r->tables_lock);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void workspace_grow(struct workspace *w, uint64_t size) {
    const bool large = size >= 2 * HUGE_PAGE;
    const uint64_t unit = large ? HUGE_PAGE : 64;
    size = (size + unit - 1) / unit * unit;
    if (size <= w->size)
        return;
    free(w->memory);
    w->memory = aligned_alloc(unit, size);
    if (!w->memory)
        world_failed("out of memory: a thread needs %llu bytes to play", (unsigned long long)size);
    if (large)
        madvise(w->memory, size, MADV_HUGEPAGE);
    w->size = size;
}

/* Plays a range slice by slice into a parcel and leaves it; ends early when told to stop, or when
 * what is played should not wait any longer. Returns how many were played when more are to be. */
static uint64_t play_parcel(struct runner *r, struct workspace *work, const void *prepared,
                            const struct range *range) {
    const struct job *job = r->job;
    const struct point *point = &job->points[range->point];
    struct parcel *p = parcel_new(job, range);
    int64_t *const tally = p->outcome.tally;
    double each = point->facts.nanoseconds;
    uint64_t played = 0;
    while (played < range->count && !atomic_load(&r->stop) &&
           (played == 0 || p->nanoseconds < LONG_ENOUGH)) {
        const double fits = 20e6 / (each > 1 ? each : 1);
        uint64_t slice = fits < 1 ? 1 : (uint64_t)fits;
        if (point->facts.grain > 1)
            slice = (slice + point->facts.grain - 1) / point->facts.grain * point->facts.grain;
        if (slice > range->count - played)
            slice = range->count - played;
        p->outcome.first = range->first + played;
        p->outcome.count = slice;
        p->outcome.tally = tally + played * job->model->n_rows;
        const uint64_t start = now_ns(),
                       need = job->model->play(prepared, point->key, *work, &p->outcome);
        const uint64_t spent = now_ns() - start;
        p->nanoseconds += spent;
        if (need == PLAY_REFUSED) {
            refuse_point(r, range->point, &p->outcome.why);
            parcel_free(p);
            return 0;
        }
        if (need > 0) {
            workspace_grow(work, need);
            parcel_restart(job, p);
            played = 0;
            continue;
        }
        each = (double)spent / (double)slice;
        played += slice;
        p->outcome.first = range->first;
        p->outcome.tally = tally;
        p->outcome.count = played;
    }
    p->outcome.first = range->first;
    p->outcome.count = played; /* none, where a larger workspace was wanted and then the end came */
    p->outcome.tally = tally;
    p->more = played < range->count && !atomic_load(&r->stop);
    const bool more = p->more;
    store_sum(job->model, &p->outcome, p->sums);
    leave_parcel(r, p);
    return more ? played : 0;
}

static void play_range(struct runner *r, struct workspace *work, struct range range) {
    struct table_of *tables = tables_acquire(r, range.point);
    if (!tables)
        return;
    workspace_grow(work, r->job->points[range.point].facts.bytes_thread);
    uint64_t played;
    while ((played = play_parcel(r, work, tables->prepared, &range))) {
        range.first += played;
        range.count -= played;
    }
    tables_release(r, tables);
}

static void play(struct runner *r) {
    struct workspace work = {0};
    while (!atomic_load(&r->stop)) {
        struct range range;
        if (take_range(r, &range))
            play_range(r, &work, range);
        else
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    free(work.memory);
    atomic_fetch_add(&r->home, 1);
}

static void *pass_gate(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* OpenMP ends the program in words of its own when a thread cannot be made: so we find out before. */
static void try_threads(unsigned n) {
    pthread_t *thread = allocate(n, sizeof *thread);
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    unsigned made = 0;
    int error = 0;
    pthread_mutex_lock(&gate);
    while (made < n && (error = pthread_create(&thread[made], NULL, pass_gate, &gate)) == 0)
        made++;
    pthread_mutex_unlock(&gate);
    for (unsigned i = 0; i < made; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (error)
        world_failed("%u threads were asked for besides the first, the system gives %u: %s", n,
                     made, strerror(error));
}

void runner_run(struct runner *r, void (*conduct)(void *context), void *context) {
    unsigned team = 0;
    try_threads(r->threads);
    omp_set_dynamic(0);
#pragma omp parallel num_threads((int)r->threads + 1)
    {
        const int me = omp_get_thread_num();
#pragma omp single
        team = (unsigned)omp_get_num_threads();
        if (team != r->threads + 1) {
#pragma omp single
            world_failed("%u threads were asked for, the system gives %u", r->threads + 1, team);
        } else if (me == 0) {
            conduct(context);
        } else {
            play(r);
        }
    }
}
