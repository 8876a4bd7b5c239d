/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: the loop over jobs. No calendar of events is needed: servers are FIFO, so the completion of
 * a job is known as soon as it joins one. How many jobs a server has is then how many of its
 * completions are still to come; its last ones stand in a line, the youngest first, so that one
 * comparison of vectors counts them, and nothing is done about those that are over. Under central
 * control, and beyond a full line, completions are in a ring and leave it when it is looked at. Each
 * job owns its service (SERVICE word by its number), whatever the policy.
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

/* Job number `job` of the block, a server. */
struct placed {
    uint32_t job, server;
};

/* What jobs change in the time that servers have at least so many jobs, in lines. A job of completion
 * c[0] that comes at time t to a line c[1], c[2], .. makes at least k jobs stay until c[k - 1] where it
 * had been until c[k], or until t where they were gone by then. So to level[k] comes the sum of
 * max(c[k - 1], t) less that of max(c[k], t), each term a sum over jobs: `left` of c[0], `found` of
 * the others. */
struct coming {
    uint32_t size;
    uint64_t left;
    eight_units found, beyond; /* of the first eight, of the others */
};

static inline __attribute__((always_inline)) void coming_load(struct coming *c,
                                                              const struct view *w, uint32_t size) {
    c->size = size;
    c->left = w->come[0];
    c->found = eight_units_at(w->come + EIGHT);
    c->beyond = eight_units_at(w->come + 2 * EIGHT);
}

static inline __attribute__((always_inline)) void coming_store(const struct coming *c,
                                                               const struct view *w) {
    w->come[0] = c->left;
    eight_units_put(w->come + EIGHT, c->found);
    eight_units_put(w->come + 2 * EIGHT, c->beyond);
}

static __attribute__((noinline)) double finish(struct queue_play *q, uint32_t to, double start,
                                               double work, double *begins) {
    struct turn turn = {.start = start, .work = work};
    const double ends = ISA(failures_finish)(q->p->failures, q->failures, q->stream, to, &turn);
    *begins = turn.begins;
    q->serving += q->open ? turn.serving : 0;
    return ends;
}

/* When job i is done, of a server that will be done with the others at `last`. */
static inline __attribute__((always_inline)) double
serve(struct queue_play *q, const struct view *w, const bool plain, struct placed at, double last) {
    const double time = q->time[at.job], start = last > time ? last : time;
    double work = q->work[at.job], begins = start, ends;
    if (plain) {
        ends = start + work;
    } else {
        if (q->p->speed)
            work /= q->p->speed[at.server];
        ends = q->p->failures ? finish(q, at.server, start, work, &begins) : start + work;
    }
    if (w->area)
        w->area[at.server] += whole_time(w, ends) - whole_time(w, time);
    q->where[at.job] = at.server;
    q->wait[at.job] = begins - time;
    q->response[at.job] = ends - time;
    return ends;
}

/* A completion goes into the ring of a server at a time; false when that cannot grow. */
static inline __attribute__((always_inline)) bool keep(struct queue_play *q, const struct view *w,
                                                       struct server *s, double ends, double time) {
    if (__builtin_expect(s->count > s->mask, false) && !grow(q, s))
        return false;
    w->pool[s->ring + ((s->head + s->count) & s->mask)] = ends;
    s->next = s->count ? s->next : ends;
    s->count++;
    account(w, w->line_size + s->count, -whole_time(w, time));
    return true;
}

/* The same under central control. */
static inline __attribute__((always_inline)) bool
join_ring(struct queue_play *q, const struct view *w, const bool plain, struct placed at) {
    struct server *s = w->server + at.server;
    q->load[at.job] = s->count;
    s->last = serve(q, w, plain, at, s->last);
    return keep(q, w, s, s->last, q->time[at.job]);
}

/* A line is full of jobs present: its oldest goes into the ring. */
static __attribute__((noinline)) bool pass_on(struct queue_play *q, struct placed at,
                                              double oldest) {
    const struct view *w = &q->view;
    const double time = q->time[at.job];
    q->load[at.job] = w->line_size + look_at_ring(w, at.server, time);
    return keep(q, w, w->server + at.server, oldest, time);
}

/* Job i joins a server; false when memory does not do. */
static inline __attribute__((always_inline)) bool join_line(struct queue_play *q,
                                                            const struct view *w, const bool plain,
                                                            struct placed at, struct coming *c) {
    const uint32_t size = c->size;
    double *line = line_of(w, size, at.server);
    const double time = q->time[at.job], oldest = line[size - 1];
    const double ends = serve(q, w, plain, at, line[0]);
    const eight first = eight_at(line);
    uint32_t after = eight_after(first, time);
    c->left += whole_time(w, ends);
    eight_count(&c->found, first, time, w->scale);
    if (size > EIGHT) {
        const eight second = eight_at(line + EIGHT);
        after |= eight_after(second, time) << EIGHT;
        eight_count(&c->beyond, second, time, w->scale);
        eight_put(line + EIGHT, eight_behind(line[EIGHT - 1], second));
    }
    eight_put(line, eight_behind(ends, first));
    q->load[at.job] = (uint32_t)__builtin_popcount(after);
    return __builtin_expect(oldest <= time, true) || pass_on(q, at, oldest);
}

/* Where the origin is no candidate, looking at it would cost as much as the job: a sample does. */
static inline __attribute__((always_inline)) void
look_at_origin(struct queue_play *q, const struct view *w, uint32_t size, struct placed at) {
    if (at.job % ORIGINS_SAMPLED == 0)
        q->load_origin[at.job] = look_at(w, size, at.server, q->time[at.job]);
}

/* What candidates are compared by. */
static inline __attribute__((always_inline)) double work_left(const struct view *w, uint32_t v,
                                                              double time) {
    const double last = line_of(w, LINE_OF_MANY, v)[0];
    return last > time ? last : time;
}

static inline __attribute__((always_inline)) double badness(const struct view *w, bool by_work,
                                                            uint32_t v, double time) {
    return by_work ? work_left(w, v, time) : look_at(w, LINE_OF_MANY, v, time);
}

/* Of more than two candidates, or by work: the first of the best. */
static inline __attribute__((always_inline)) uint32_t pick_many(struct queue_play *q,
                                                                const struct view *w, uint32_t i) {
    const struct sampler *s = &q->p->sampler;
    const double time = q->time[i];
    uint32_t to = q->block.candidate[0][i];
    double best = badness(w, s->by_work, to, time);
    for (unsigned c = 1; c < s->candidates; c++) {
        const uint32_t other = q->block.candidate[c][i];
        const double rival = badness(w, s->by_work, other, time);
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
    const uint32_t size = line_size_of(pick);
    struct coming come;
    coming_load(&come, w, size);
    for (uint32_t i = from; i < to; i++) {
        const double time = q->time[i];
        uint32_t chosen;
        if (pick != PICK_CENTRAL) {
            const uint32_t ahead = i + AHEAD < b->size ? i + AHEAD : i;
            for (uint32_t g = 0; g < size; g += EIGHT)
                __builtin_prefetch(line_of(w, size, first[ahead]) + g);
            if (pick != PICK_ONE)
                __builtin_prefetch(line_of(w, size, second[ahead]));
        }
        if (pick == PICK_CENTRAL) {
            ISA(central_advance)(q, time);
            look_at_origin(q, w, size, (struct placed){i, origin[i]});
            chosen = ISA(central_pick)(q, i);
            look_at_ring(w, chosen, time);
        } else if (pick == PICK_MANY) {
            look_at_origin(q, w, size, (struct placed){i, origin[i]});
            chosen = pick_many(q, w, i);
        } else {
            const uint32_t a = first[i];
            uint32_t load = 0;
            if (pick != PICK_ONE || origin_first)
                load = look_at(w, size, a, time);
            if (origin_first)
                q->load_origin[i] = load;
            else
                look_at_origin(q, w, size, (struct placed){i, origin[i]});
            chosen = a;
            if (pick != PICK_ONE) {
                const uint32_t rival = look_at(w, size, second[i], time),
                               coin = pick == PICK_COIN ? q->coin[i / 32] >> i % 32 & 1 : 0;
                chosen ^= (a ^ second[i]) & -(uint32_t)(rival < load + coin);
            }
        }
        const struct placed at = {i, chosen};
        if (!(size ? join_line(q, w, plain, at, &come) : join_ring(q, w, plain, at)))
            return false;
        if (pick == PICK_CENTRAL)
            ISA(central_joined)(q, chosen);
    }
    coming_store(&come, w);
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

bool ISA(turns)(struct queue_play *q, uint32_t from, uint32_t to) {
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
