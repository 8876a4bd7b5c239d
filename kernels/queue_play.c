/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: the loop over jobs. Arrivals, services, origins and candidates of a block are drawn by
 * vector code; then the jobs take their turns. No calendar of events is needed: servers are FIFO, so
 * the completion of a job is known as soon as it joins one, and a server forgets the jobs that are
 * done when it is looked at. Each job owns its service (SERVICE word by its number), whatever the
 * policy.
 *
 * Ties are settled as in balls: among i.i.d. candidates the first drawn wins; between origin and
 * candidate 1 of an origin_first policy bit i % 32 of TIE word i / 32 settles fair ties of job i (1:
 * candidate 1 wins); TIES_ORIGIN: the origin wins. */
#include "queue_play.h"

#include <string.h>

/* A ring of twice as many slots; false when the pool has no room for it. */
static __attribute__((noinline)) bool grow(struct queue_play *q, struct server *s) {
    const uint32_t old = s->mask + 1, class = 32 - (uint32_t)__builtin_clz(old);
    uint64_t to = q->spare[class];
    if (to != NO_RING) {
        uint64_t after;
        memcpy(&after, q->view.pool + to, sizeof after);
        q->spare[class] = (uint32_t)after;
    } else {
        to = q->taken;
        if (class + 1 >= RING_CLASSES || to + 2 * (uint64_t)old > q->slots) {
            q->need = 2 * q->slots + 2 * (uint64_t)old;
            return false;
        }
        q->taken += 2 * (uint64_t)old;
    }
    for (uint32_t i = 0; i < s->count; i++)
        q->view.pool[to + i] = q->view.pool[s->ring + ((s->head + i) & s->mask)];
    const uint64_t next = q->spare[class - 1];
    memcpy(q->view.pool + s->ring, &next, sizeof next);
    q->spare[class - 1] = s->ring;
    s->ring = (uint32_t)to;
    s->head = 0;
    s->mask = 2 * old - 1;
    return true;
}

static __attribute__((noinline)) double finish(struct queue_play *q, uint32_t to, double start,
                                               double work, double *begins) {
    struct turn turn = {.start = start, .work = work};
    const double ends = ISA(failures_finish)(q->p->failures, q->failures, q->stream, to, &turn);
    *begins = turn.begins;
    q->serving += q->open ? turn.serving : 0;
    return ends;
}

/* Job i joins server `to`; false when its ring cannot grow. */
static inline __attribute__((always_inline)) bool join(struct queue_play *q, const struct view *w,
                                                       const bool plain, uint32_t i, uint32_t to) {
    struct server *s = w->server + to;
    const double time = q->time[i], start = s->last > time ? s->last : time;
    double work = q->work[i], begins = start, ends;
    if (__builtin_expect(s->count > s->mask, false) && !grow(q, s))
        return false;
    if (plain) {
        ends = start + work;
    } else {
        if (q->p->speed)
            work /= q->p->speed[to];
        ends = q->p->failures ? finish(q, to, start, work, &begins) : start + work;
    }
    w->pool[s->ring + ((s->head + s->count) & s->mask)] = ends;
    s->next = s->count ? s->next : ends;
    s->last = ends;
    q->load[i] = s->count++;
    const uint64_t when = -whole_time(w, time);
    account(w, s->count, when);
    if (w->area)
        w->area[to] += when;
    q->where[i] = to;
    q->wait[i] = begins - time;
    q->response[i] = ends - time;
    return true;
}

/* Where the origin is no candidate, looking at it would cost as much as the job: a sample does. */
static inline __attribute__((always_inline)) uint32_t
look_at_origin(struct queue_play *q, const struct view *w, uint32_t v, uint32_t i) {
    return i % ORIGINS_SAMPLED ? NOT_SEEN : look(w, v, q->time[i]);
}

/* What candidates are compared by. */
static inline __attribute__((always_inline)) double work_left(const struct view *w, uint32_t v,
                                                              double time) {
    look(w, v, time);
    return w->server[v].last > time ? w->server[v].last : time;
}

/* Of more than two candidates, or by work: the first of the best. */
static inline __attribute__((always_inline)) uint32_t pick_many(struct queue_play *q,
                                                                const struct view *w, uint32_t i) {
    const struct sampler *s = &q->p->sampler;
    const double time = q->time[i];
    uint32_t to = q->block.candidate[0][i];
    double best = s->by_work ? work_left(w, to, time) : look(w, to, time);
    for (unsigned c = 1; c < s->candidates; c++) {
        const uint32_t other = q->block.candidate[c][i];
        const double rival = s->by_work ? work_left(w, other, time) : look(w, other, time);
        to = rival < best ? other : to;
        best = rival < best ? rival : best;
    }
    return to;
}

/* Jobs from .. to-1 of the block take their turns. Returns false when memory does not do. */
static inline __attribute__((always_inline)) bool take_turns(struct queue_play *q,
                                                             const enum pick pick, const bool plain,
                                                             const bool origin_first, uint32_t from,
                                                             uint32_t to) {
    enum { AHEAD = 12 };
    const struct block *b = &q->block;
    const uint32_t *first = b->candidate[0], *second = pick == PICK_FIRST || pick == PICK_COIN
                                                           ? b->candidate[1]
                                                           : b->candidate[0];
    const uint32_t *origin = b->origin;
    const struct view view = q->view, *w = &view;
    for (uint32_t i = from; i < to; i++) {
        const double time = q->time[i];
        uint32_t chosen;
        if (pick != PICK_CENTRAL) {
            const uint32_t ahead = i + AHEAD < b->size ? i + AHEAD : i;
            __builtin_prefetch(w->server + first[ahead]);
            if (pick != PICK_ONE)
                __builtin_prefetch(w->server + second[ahead]);
        }
        if (pick == PICK_CENTRAL) {
            ISA(central_advance)(q, time);
            q->load_origin[i] = look_at_origin(q, w, origin[i], i);
            chosen = ISA(central_pick)(q, i);
            look(w, chosen, time);
        } else if (pick == PICK_MANY) {
            q->load_origin[i] = look_at_origin(q, w, origin[i], i);
            chosen = pick_many(q, w, i);
        } else {
            const uint32_t a = first[i];
            const uint32_t load = look(w, a, time);
            q->load_origin[i] = origin_first ? load : look_at_origin(q, w, origin[i], i);
            chosen = a;
            if (pick != PICK_ONE) {
                const uint32_t rival = look(w, second[i], time),
                               coin = pick == PICK_COIN ? q->coin[i / 32] >> i % 32 & 1 : 0;
                chosen ^= (a ^ second[i]) & -(uint32_t)(rival < load + coin);
            }
        }
        if (!join(q, w, plain, i, chosen))
            return false;
        if (pick == PICK_CENTRAL)
            ISA(central_joined)(q, chosen);
    }
    return true;
}

static inline __attribute__((always_inline)) bool
turns_of(struct queue_play *q, const enum pick pick, uint32_t from, uint32_t to) {
    const bool plain = !q->p->speed && !q->p->failures, origin = q->p->sampler.origin_first;
    if (plain)
        return origin ? take_turns(q, pick, true, true, from, to)
                      : take_turns(q, pick, true, false, from, to);
    return take_turns(q, pick, false, origin, from, to);
}

static bool turns(struct queue_play *q, uint32_t from, uint32_t to) {
    switch (q->pick) {
    case PICK_ONE:
        return turns_of(q, PICK_ONE, from, to);
    case PICK_FIRST:
        return turns_of(q, PICK_FIRST, from, to);
    case PICK_COIN:
        return turns_of(q, PICK_COIN, from, to);
    case PICK_MANY:
        return turns_of(q, PICK_MANY, from, to);
    default:
        return turns_of(q, PICK_CENTRAL, from, to);
    }
}

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

/* What comes next besides jobs: the window opens or closes, a time of the path. */
enum event { EVENT_OPEN, EVENT_CLOSE, EVENT_PATH, EVENTS };

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
    } else if (e == EVENT_OPEN) {
        q->first_job = job;
        ISA(record_open)(q, time);
    } else {
        ISA(record_close)(q, time);
    }
}

/* Plays the jobs of the block and what happens between them. */
static bool play_block(struct queue_play *q) {
    uint32_t at = 0;
    const uint32_t size = q->block.size;
    while (!q->closed || q->path < PATH_TIMES) {
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
            if (!turns(q, at, stop))
                return false;
            if (q->open)
                ISA(record_jobs)(q, at, stop);
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
    if (!q->closed)
        happen(q, EVENT_CLOSE,
               p->horizon.in_time && q->opened + p->horizon.time > last
                   ? q->opened + p->horizon.time
                   : last,
               jobs);
}

static void begin(struct queue_play *q) {
    const struct queue *p = q->p;
    for (uint32_t v = 0; v < p->n; v++)
        q->view.server[v] = (struct server){
            .last = 0, .next = (double)INFINITY, .ring = v * FIRST_SLOTS, .mask = FIRST_SLOTS - 1};
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
}

/* Plays a replication; false when memory does not do. */
static bool play_one(struct queue_play *q) {
    double last = 0;
    begin(q);
    for (uint64_t first = 0; !q->closed || q->path < PATH_TIMES; first += BLOCK) {
        const uint32_t size = draw_block(q, first);
        if (size && !play_block(q))
            return false;
        last = size ? q->time[size - 1] : last;
        if (size < BLOCK && (!q->closed || q->path < PATH_TIMES)) {
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
    c->order = part(l, n * sizeof *c->order);
    c->position = part(l, n * sizeof *c->position);
    c->heap = part(l, n * sizeof *c->heap);
    c->heap_at = part(l, n * sizeof *c->heap_at);
    c->begin = part(l, (LOADS_EXACT + 2) * sizeof *c->begin);
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

static enum pick pick_of(const struct sampler *s) {
    return s->control                                ? PICK_CENTRAL
           : s->candidates == 1                      ? PICK_ONE
           : s->candidates > 2 || s->by_work         ? PICK_MANY
           : s->origin_first && s->ties == TIES_FAIR ? PICK_COIN
                                                     : PICK_FIRST;
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
