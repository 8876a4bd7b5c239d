/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: what happens in a replication. Arrivals, services, origins and candidates of a block are
 * drawn by vector code; then the jobs take their turns (queue_turns.c), in stretches between which
 * something else happens. */
#include "queue_play.h"

#include <string.h>

/* ---- blocks ---- */

/* Which jobs must stay where they arrive. */
static void draw_stays(struct queue_play *q) {
    struct block *b = &q->block;
    draw_words((struct words){q->stream, PURPOSE_REDIRECT, 0}, b->first, b->size, q->redirect);
    for (uint32_t i = 0; i < b->size; i++)
        q->stays[i] = q->redirect[i] >= q->p->redirects;
}

static void keep_at_origin(struct queue_play *q) {
    struct block *b = &q->block;
    for (unsigned c = 0; c < q->p->sampler.candidates; c++) {
        uint32_t *restrict to = b->candidate[c];
        const uint32_t *from = b->origin;
        for (uint32_t i = 0; i < b->size && to != from; i++)
            to[i] = q->stays[i] ? from[i] : to[i];
    }
}

static void draw_places(struct queue_play *q) {
    const struct sampler *s = &q->p->sampler;
    struct block *b = &q->block;
    for (unsigned j = q->p->stream.origins; j < fetches(s); j++) {
        const struct fetch d = fetch_of(s, q->stream, b, j);
        if (d.range)
            draw_below(d.words, b->first, b->size, d.range, d.into);
        else
            draw_words(d.words, b->first, b->size, d.into);
    }
    if (s->space.sites)
        ISA(arrive)(s, b);
    if (b->stays)
        draw_stays(q);
    if (s->control == CONTROL_NONE)
        s->policy->choose(s, q->stream, b);
    if (b->stays)
        keep_at_origin(q);
    if (q->pick == PICK_COIN)
        draw_words((struct words){q->stream, PURPOSE_TIE, 0}, b->first / 32, (b->size + 31) / 32,
                   q->coin);
    if (q->pick == PICK_CENTRAL)
        draw_words((struct words){q->stream, PURPOSE_TIE, 1}, b->first, b->size, q->tie);
}

/* Draws jobs first .. of the replication; returns how many there are. */
static uint32_t draw_block(struct queue_play *q, uint64_t first) {
    const struct queue *p = q->p;
    struct block *b = &q->block;
    b->first = first;
    b->size =
        ISA(arrivals_next)(p->arrivals, q->arrivals, q->stream, first, q->time, b->origin, q->work);
    if (!b->size)
        return 0;
    if (!p->stream.services)
        p->service.law->draw(&p->service, (struct words){q->stream, PURPOSE_SERVICE, 0}, first,
                             b->size, q->work);
    draw_places(q);
    return b->size;
}

/* ---- a replication ---- */

/* What comes next besides jobs: the window opens, all servers are looked at, it closes, a time of the
 * path. */
enum event { EVENT_OPEN, EVENT_LOOK, EVENT_CLOSE, EVENT_PATH, EVENTS };

/* The job of the block before which an event happens, at most `size`; its time in *time. */
static uint32_t event_at(const struct queue_play *q, enum event e, double *time) {
    const struct queue *p = q->p;
    const uint32_t size = q->block.size;
    uint64_t job;
    bool in_time = true;
    *time = (double)INFINITY;
    if (e == EVENT_PATH) {
        if (q->path == PATH_TIMES)
            return size;
        *time = p->end * (q->path + 1) / PATH_TIMES;
    } else if (e == EVENT_LOOK) {
        if (!q->open || !p->neighbours)
            return size;
        *time = ISA(watch_next)(q);
    } else if (e == EVENT_OPEN) {
        if (q->open || q->closed)
            return size;
        in_time = p->warmup.in_time;
        *time = p->warmup.time;
        job = p->warmup.jobs;
    } else {
        if (!q->open)
            return size;
        in_time = p->horizon.in_time;
        *time = q->opened + p->horizon.time;
        job = p->horizon.jobs + q->first_job;
    }
    if (!in_time) {
        const bool here = job < q->block.first + size;
        *time = here ? q->time[job - q->block.first] : (double)INFINITY;
        return here ? (uint32_t)(job - q->block.first) : size;
    }
    uint32_t low = 0, high = size;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (q->time[middle] < *time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void happen(struct queue_play *q, enum event e, double time, uint64_t job) {
    if (q->p->sampler.control)
        ISA(central_advance)(q, time);
    if (e == EVENT_PATH) {
        ISA(record_path)(q, time);
    } else if (e == EVENT_LOOK) {
        ISA(watch_look)(q, time);
    } else if (e == EVENT_OPEN) {
        q->first_job = job;
        ISA(record_open)(q, time);
    } else {
        ISA(record_close)(q, time);
    }
}

static bool goes_on(const struct queue_play *q) {
    return !q->closed || q->path < PATH_TIMES || ISA(follow_goes_on)(q);
}

/* Plays the jobs of the block and what happens between them. */
static bool play_block(struct queue_play *q) {
    uint32_t at = 0;
    const uint32_t size = q->block.size;
    while (goes_on(q)) {
        enum event first = EVENTS;
        uint32_t stop = size;
        double when = (double)INFINITY;
        for (enum event e = EVENT_OPEN; e < EVENTS; e++) {
            double time;
            const uint32_t j = event_at(q, e, &time);
            if (j < size && time < when) {
                first = e;
                stop = j;
                when = time;
            }
        }
        if (stop > at) {
            if (!ISA(turns)(q, at, stop))
                return false;
            if (q->open)
                ISA(record_jobs)(q, at, stop);
            if (q->p->transient.jobs)
                ISA(follow_jobs)(q, at, stop);
        }
        at = stop;
        if (first == EVENTS)
            return true;
        happen(q, first, when, q->block.first + at);
    }
    return true;
}

/* A trace is over: what was to come happens at its time, or at the time of the last job where that
 * counts in jobs. */
static void play_out(struct queue_play *q, double last, uint64_t jobs) {
    const struct queue *p = q->p;
    if (!q->open && !q->closed)
        happen(q, EVENT_OPEN, p->warmup.in_time && p->warmup.time > last ? p->warmup.time : last,
               jobs);
    while (q->path < PATH_TIMES)
        happen(q, EVENT_PATH, p->end * (q->path + 1) / PATH_TIMES, jobs);
    const double end = p->horizon.in_time && q->opened + p->horizon.time > last
                           ? q->opened + p->horizon.time
                           : last;
    while (q->open && p->neighbours && ISA(watch_next)(q) < end)
        happen(q, EVENT_LOOK, ISA(watch_next)(q), jobs);
    if (!q->closed)
        happen(q, EVENT_CLOSE, end, jobs);
    ISA(follow_ended)(q);
}

static void begin(struct queue_play *q) {
    const struct queue *p = q->p;
    for (uint32_t v = 0; v < p->n; v++)
        q->view.server[v] = (struct server){
            .last = 0, .next = (double)INFINITY, .ring = v * FIRST_SLOTS, .mask = FIRST_SLOTS - 1};
    memset(q->view.line, 0, p->n * q->view.line_size * sizeof *q->view.line);
    q->taken = p->n * FIRST_SLOTS;
    for (unsigned c = 0; c < RING_CLASSES; c++)
        q->spare[c] = NO_RING;
    memset(q->block.memory, 0, p->sampler.memory);
    ISA(arrivals_begin)(p->arrivals, q->arrivals, q->stream);
    if (p->failures)
        ISA(failures_begin)(p->failures, q->failures, q->stream);
    if (p->sampler.control)
        ISA(central_begin)(q);
    ISA(record_begin)(q);
    if (p->transient.jobs)
        ISA(follow_begin)(q);
}

/* Plays a replication; false when memory does not do. */
static bool play_one(struct queue_play *q) {
    double last = 0;
    begin(q);
    for (uint64_t first = 0; goes_on(q); first += BLOCK) {
        const uint32_t size = draw_block(q, first);
        if (size && !play_block(q))
            return false;
        last = size ? q->time[size - 1] : last;
        if (size < BLOCK && goes_on(q)) {
            play_out(q, last, first + size);
            return true;
        }
    }
    return true;
}

/* ---- memory ---- */

static uint64_t whole(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

struct layout_of {
    char *at; /* NULL: only measured */
    uint64_t bytes;
};
static void *part(struct layout_of *l, uint64_t bytes) {
    void *p = l->at ? l->at + l->bytes : NULL;
    l->bytes += whole(bytes);
    return p;
}

static void *array(struct layout_of *l) {
    return part(l, BLOCK * sizeof(uint32_t));
}

static void lay_block(struct layout_of *l, const struct sampler *s, struct block *b) {
    const unsigned arrays = s->arrays > s->draws ? s->arrays : s->draws;
    b->memory = part(l, s->memory);
    b->hop = array(l);
    b->scratch = array(l);
    for (unsigned j = 0; j < 2 && (s->space.form == FORM_PLANE || s->space.form == FORM_ARCS); j++)
        b->point[j] = array(l);
    b->origin = array(l);
    for (unsigned j = 0; j < arrays; j++)
        b->raw[j] = array(l);
}

static void lay_central(struct layout_of *l, uint64_t n, struct central *c) {
    c->part = part(l, 2 * central_leaves(n) * sizeof *c->part);
    c->heap = part(l, n * sizeof *c->heap);
    c->heap_at = part(l, n * sizeof *c->heap_at);
}

static void lay_follow(struct layout_of *l, uint64_t n, const struct transient *t,
                       struct follow *f) {
    f->come = part(l, n * sizeof *f->come);
    f->servers = part(l, t->jobs * (t->n_grid + 1) * sizeof *f->servers);
    f->sum = part(l, t->jobs * sizeof *f->sum);
    f->smallest = part(l, t->jobs * sizeof *f->smallest);
}

static void lay_watch(struct layout_of *l, uint64_t n, double pairs, struct watch *w) {
    for (unsigned half = 0; half < 2; half++) {
        struct looks *to = &w->half[half];
        to->sum = part(l, n * sizeof *to->sum);
        to->square = part(l, n * sizeof *to->square);
        to->product = part(l, (uint64_t)pairs * sizeof *to->product);
    }
    w->of_server = part(l, n * sizeof *w->of_server);
    w->load = part(l, n * sizeof *w->load);
}

static enum pick pick_of(const struct sampler *s) {
    return s->control                                ? PICK_CENTRAL
           : s->candidates == 1                      ? PICK_ONE
           : s->candidates > 2 || s->by_work         ? PICK_MANY
           : s->origin_first && s->ties == TIES_FAIR ? PICK_COIN
                                                     : PICK_FIRST;
}

/* Lays everything out from l->at on. */
static void lay_out(struct queue_play *q, struct layout_of *l, uint64_t slots) {
    const struct queue *p = q->p;
    lay_block(l, &p->sampler, &q->block);
    q->time = part(l, BLOCK * sizeof *q->time);
    q->work = part(l, BLOCK * sizeof *q->work);
    q->wait = part(l, BLOCK * sizeof *q->wait);
    q->response = part(l, BLOCK * sizeof *q->response);
    q->where = array(l);
    q->load = array(l);
    q->load_origin = array(l);
    q->redirect = array(l);
    q->tie = array(l);
    q->coin = array(l);
    q->stays = part(l, BLOCK);
    q->of_response.fine = part(l, FINE_BINS * sizeof(uint32_t));
    q->of_waiting.fine = part(l, FINE_BINS * sizeof(uint32_t));
    q->view.level = part(l, LEVEL_BINS * sizeof *q->view.level);
    q->level_at_close = part(l, LEVEL_BINS * sizeof *q->view.level);
    q->by_load = part(l, LEVEL_BINS * sizeof *q->by_load);
    q->by_load_origin = part(l, LEVEL_BINS * sizeof *q->by_load_origin);
    q->arrivals = part(l, p->stream.memory);
    q->failures = part(l, p->breaks.memory);
    q->searches = part(l, p->measures ? ISA(hops_memory)(&p->sampler.space, p->budget) : 0);
    if (p->sampler.control)
        lay_central(l, p->n, &q->central);
    if (p->transient.jobs)
        lay_follow(l, p->n, &p->transient, &q->follow);
    if (p->pairs > 0)
        lay_watch(l, p->n, p->pairs, &q->watch);
    q->view.line_size = line_size_of(pick_of(&p->sampler));
    q->view.line = part(l, p->n * q->view.line_size * sizeof *q->view.line);
    q->view.come = part(l, (EIGHT + LINE_MOST) * sizeof *q->view.come);
    q->areas = part(l, p->n * sizeof *q->areas);
    q->view.server = part(l, p->n * sizeof *q->view.server);
    q->view.pool = part(l, slots * sizeof *q->view.pool);
}

uint64_t ISA(queue_bytes)(const struct queue *p, uint64_t slots) {
    struct queue_play q = {.p = p};
    struct layout_of l = {NULL, 0};
    lay_out(&q, &l, slots);
    return l.bytes;
}

uint64_t ISA(queue_first_slots)(const struct queue *p) {
    return p->n * FIRST_SLOTS * (p->sampler.candidates == 1 ? 8 : 2) + 64;
}

/* Whole units of time: fine, but so that the time of all servers together fits many times over. A
 * replication that takes still longer is played again in coarser ones. */
static double first_scale(const struct queue *p) {
    int exponent;
    (void)frexp(p->end * (double)p->n, &exponent);
    return ldexp(1, 56 - exponent);
}

uint64_t ISA(queue_play)(const struct queue *p, uint64_t key, struct workspace work,
                         struct outcome *out) {
    const uint64_t slots = ISA(queue_first_slots)(p), bytes = ISA(queue_bytes)(p, slots);
    if (work.size < bytes)
        return bytes;
    struct queue_play q = {.p = p, .stream = {.key = key}, .pick = pick_of(&p->sampler)};
    struct layout_of l = {work.memory, 0};
    double coarser = 1;
    q.view.beyond = &q.beyond;
    lay_out(&q, &l, slots);
    q.slots = slots + (work.size - bytes) / sizeof *q.view.pool;
    q.slots = q.slots < NO_RING ? q.slots : NO_RING - 1;
    q.block.stays = p->redirects < (uint64_t)1 << 32 ? q.stays : NULL;
    if (p->measures)
        memset(q.searches, 0, ISA(hops_memory)(&p->sampler.space, p->budget));
    for (uint64_t r = 0; r < out->count;) {
        q.view.scale = first_scale(p) / coarser;
        q.stream.replication = (uint32_t)(out->first + r);
        q.view.area = out->histogram[SUM_SERVER_QUEUE] ? q.areas : NULL;
        if (!play_one(&q))
            return ISA(queue_bytes)(p, q.need);
        coarser = q.closes * (double)p->n * q.view.scale < 0x1p62 ? 1 : coarser * 0x1p10;
        if (coarser > 1)
            continue;
        ISA(record_replication)(&q, r, out);
        r++;
    }
    return 0;
}
