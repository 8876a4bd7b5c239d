/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method servers: a pipeline over blocks of balls. Origins and raw numbers of a block are
 * drawn by vector code; the policy makes candidates of them; placement is sequential and free of
 * branches; costs are vector code again. While a block is placed, the words of the next one are
 * drawn between its balls: vector units and scalar ones then work at the same time. Loads are small
 * integers: the caches hold more of them, and clearing is cheap. A load that outgrows its width
 * wraps around, which shows at the end as missing balls: the replication is then played again with
 * wider loads.
 *
 * Walks (bounded loads): a ball starts at a position of the circle and goes to the first owner below
 * the cap. Owners at the cap never take a ball again, so positions passed over point onwards, and
 * pointers are halved on the way (Tarjan and van Leeuwen, J. ACM 31(2), 1984).
 *
 * Ties: among i.i.d. candidates the first drawn wins, which is fair; between origin and candidate 1
 * of an origin_first policy bit i % 32 of TIE word i / 32 settles fair ties of ball i (1: candidate
 * 1 wins); TIES_ORIGIN: the origin wins. */
#include "servers.h"

#include <string.h>

static inline __attribute__((always_inline)) void add_ball(void *loads, unsigned width,
                                                           uint32_t i) {
    switch (width) {
    case 1:
        ((uint8_t *)loads)[i]++;
        return;
    case 2:
        ((uint16_t *)loads)[i]++;
        return;
    case 4:
        ((uint32_t *)loads)[i]++;
        return;
    default:
        ((uint64_t *)loads)[i]++;
    }
}

/* What placement needs, in as few registers as possible: candidate 1 of a ball lies BLOCK words
 * after candidate 0. */
struct placer {
    void *restrict loads;
    const uint32_t *first;
    uint32_t coin, taken; /* bits of the balls at hand */
    uint32_t *where;      /* three candidates */
};

/* Places ball i, whose bits are number `bit`. `width`, `rule` and `keep` (what became of the ball
 * is asked for) are constants at every call. */
static inline __attribute__((always_inline)) void place(struct placer *p, const unsigned width,
                                                        const enum rule rule, const bool keep,
                                                        uint64_t i, unsigned bit) {
    uint32_t to = p->first[i];
    if (rule == RULE_THREE) {
        uint32_t load = (uint32_t)load_of(p->loads, width, to);
        for (unsigned c = 1; c < 3; c++) {
            const uint32_t other = p->first[i + c * BLOCK];
            const uint32_t rival = (uint32_t)load_of(p->loads, width, other);
            const uint32_t turn = -(uint32_t)(rival < load);
            to ^= (to ^ other) & turn;
            load ^= (load ^ rival) & turn;
        }
        if (keep)
            p->where[i] = to;
    } else if (rule != RULE_ONE) {
        const uint32_t other = p->first[i + BLOCK];
        const uint64_t load = load_of(p->loads, width, to), rival = load_of(p->loads, width, other);
        const uint32_t turn = rival < load + (rule == RULE_COIN ? p->coin >> bit & 1 : 0);
        to ^= (to ^ other) & -turn;
        if (keep)
            p->taken |= turn << bit;
    }
    add_ball(p->loads, width, to);
}

/* Balls from .. size-1 of the block in order. */
static inline __attribute__((always_inline)) void
place_rest(const struct play *q, const unsigned width, const enum rule rule, uint32_t from) {
    struct placer p = {.loads = q->loads, .first = q->block->candidate[0], .where = q->where};
    const uint32_t size = q->block->size;
    for (uint32_t i = from; i < size; i += 32) {
        const uint32_t end = size - i < 32 ? size - i : 32;
        p.coin = q->coin[i / 32];
        p.taken = 0;
        for (uint32_t bit = 0; bit < end; bit++)
            place(&p, width, rule, true, i + bit, bit);
        q->taken[i / 32] = p.taken;
    }
}

/* More than two candidates: the first of the least loaded. */
static inline __attribute__((always_inline)) void
place_among(const struct play *q, const unsigned width, const unsigned candidates) {
    const uint32_t *restrict first = q->block->candidate[0], size = q->block->size;
    uint32_t *restrict where = q->where;
    void *restrict loads = q->loads;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t to = first[i];
        uint64_t load = load_of(loads, width, to);
        for (unsigned c = 1; c < candidates; c++) {
            const uint32_t other = first[c * BLOCK + i];
            const uint64_t rival = load_of(loads, width, other);
            const uint32_t turn = -(uint32_t)(rival < load);
            to ^= (to ^ other) & turn;
            load = rival < load ? rival : load;
        }
        add_ball(loads, width, to);
        where[i] = to;
    }
}

static inline __attribute__((always_inline)) void place_many(const struct play *q,
                                                             const unsigned width) {
    if (q->p->sampler.candidates == 4)
        place_among(q, width, 4);
    else
        place_among(q, width, q->p->sampler.candidates);
}

/* The first position from `at` on whose owner has room. */
static inline __attribute__((always_inline)) uint32_t walk_on(const struct play *q,
                                                              const unsigned width, uint32_t at) {
    const uint32_t *owner = q->p->sampler.space.sites->owner;
    const uint32_t positions = (uint32_t)q->p->sampler.space.ids;
    uint32_t *walk = q->walk;
    for (;;) {
        while (walk[at] != at) {
            walk[at] = walk[walk[at]];
            at = walk[at];
        }
        if (load_of(q->loads, width, owner[at]) < q->p->cap)
            return at;
        walk[at] = at + 1 < positions ? at + 1 : 0;
    }
}

static __attribute__((noinline)) void place_walking(const struct play *q, const unsigned width) {
    const struct sites *sites = q->p->sampler.space.sites;
    const uint32_t *restrict first = q->block->candidate[0], size = q->block->size;
    uint32_t *restrict where = q->where, *restrict hop = q->block->hop;
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t at = walk_on(q, width, first[i]);
        hop[i] = at >= first[i] ? at - first[i] : at + (uint32_t)sites->ids - first[i];
        where[i] = sites->owner[at];
        add_ball(q->loads, width, where[i]);
    }
}

static inline __attribute__((always_inline)) void place_rule(const struct play *q,
                                                             const unsigned width, uint32_t from) {
    switch (q->rule) {
    case RULE_ONE:
        place_rest(q, width, RULE_ONE, from);
        return;
    case RULE_FIRST:
        place_rest(q, width, RULE_FIRST, from);
        return;
    case RULE_COIN:
        place_rest(q, width, RULE_COIN, from);
        return;
    case RULE_THREE:
        if (width <= 4) {
            place_rest(q, width, RULE_THREE, from);
            return;
        }
        place_among(q, width, 3);
        return;
    case RULE_MANY:
        place_many(q, width);
        return;
    case RULE_WALK:
        place_walking(q, width);
        return;
    }
}

/* Places the balls of the block from number `from` on. */
static void place_block(const struct play *q, uint32_t from) {
    for (unsigned c = 1; c < q->p->sampler.candidates; c++)
        CHECK(q->block->candidate[c] == q->block->candidate[0] + c * BLOCK);
    switch (q->width) {
    case 1:
        place_rule(q, 1, from);
        return;
    case 2:
        place_rule(q, 2, from);
        return;
    case 4:
        place_rule(q, 4, from);
        return;
    default:
        place_rule(q, 8, from);
    }
}

/* Balls placed beside one chunk of words. */
enum { BESIDE = 32, BESIDE_ONE = 64 };

static inline __attribute__((always_inline)) void place_few(struct placer *p, const enum rule rule,
                                                            const bool keep, unsigned step) {
    for (unsigned j = step * (BESIDE / DRAW_STEPS), end = j + BESIDE / DRAW_STEPS; j < end; j++)
        place(p, 1, rule, keep, j, j);
}
static inline __attribute__((always_inline)) void beside_one(void *context, unsigned step) {
    enum { FEW = BESIDE_ONE / DRAW_STEPS };
    for (unsigned j = step * FEW; j < (step + 1) * FEW; j++)
        place(context, 1, RULE_ONE, false, j, 0);
}
static inline __attribute__((always_inline)) void beside_blind(void *context, unsigned step) {
    place_few(context, RULE_FIRST, false, step);
}
static inline __attribute__((always_inline)) void beside_first(void *context, unsigned step) {
    place_few(context, RULE_FIRST, true, step);
}
static inline __attribute__((always_inline)) void beside_three(void *context, unsigned step) {
    place_few(context, RULE_THREE, true, step);
}
static inline __attribute__((always_inline)) void beside_blind_three(void *context, unsigned step) {
    place_few(context, RULE_THREE, false, step);
}
static inline __attribute__((always_inline)) void beside_coin(void *context, unsigned step) {
    place_few(context, RULE_COIN, true, step);
}

/* Draws everything for block b, chunk after chunk; beside each chunk `few` of the first `balls`
 * balls of the present block are placed. Returns how many were. */
static inline __attribute__((always_inline)) uint32_t
draw_placing(struct play *q, struct block *b, uint32_t balls, uint32_t few, draw_beside *beside) {
    const struct sampler *s = &q->p->sampler;
    struct placer p = {.loads = q->loads, .first = q->block->candidate[0], .where = q->where};
    uint32_t placed = 0;
    for (unsigned j = q->p->stays || s->space.sites; j <= s->draws; j++) {
        const struct words w = {q->ahead, j == 0 ? PURPOSE_ORIGIN : PURPOSE_CANDIDATE,
                                j == 0 ? 0 : j - 1};
        const uint32_t range = j == 0 ? s->n : s->range[j - 1];
        uint32_t *const out = j == 0 ? b->origin : b->raw[j - 1];
        for (uint32_t i = 0; i < b->size; i += CHUNK) {
            uint64_t rejected;
            if (placed + few <= balls) {
                p.coin = q->coin[placed / BESIDE];
                p.taken = 0;
                rejected = draw_chunk(w, b->first + i, out + i, range > 0, range, beside, &p);
                q->taken[placed / BESIDE] = p.taken;
                placed += few;
                p.first += few;
                p.where += few;
            } else {
                rejected = draw_chunk(w, b->first + i, out + i, range > 0, range, draw_alone, NULL);
            }
            draw_again(w, b->first + i, rejected, range, out + i);
        }
    }
    return placed;
}

/* Where the jobs of a block appear, in spaces of points. */
static void draw_points(const struct play *q, struct block *b) {
    for (unsigned j = 0; q->p->sampler.space.sites && j < 2; j++)
        draw_words((struct words){q->ahead, PURPOSE_ORIGIN, j}, b->first, b->size, b->point[j]);
}

static uint32_t draw_and_place(struct play *q, struct block *b) {
    const uint32_t balls = q->block->size;
    draw_points(q, b);
    if (q->width > 1 || q->rule >= RULE_MANY)
        return draw_placing(q, b, 0, BESIDE, draw_alone);
    if (q->rule == RULE_ONE)
        return draw_placing(q, b, balls, BESIDE_ONE, beside_one);
    if (q->rule == RULE_COIN)
        return draw_placing(q, b, balls, BESIDE, beside_coin);
    if (q->rule == RULE_THREE)
        return q->p->stays ? draw_placing(q, b, balls, BESIDE, beside_blind_three)
                           : draw_placing(q, b, balls, BESIDE, beside_three);
    return q->p->stays ? draw_placing(q, b, balls, BESIDE, beside_blind)
                       : draw_placing(q, b, balls, BESIDE, beside_first);
}

static void draw_coins(const struct play *q) {
    draw_words((struct words){q->stream, PURPOSE_TIE, 0}, q->block->first / 32,
               (q->block->size + 31) / 32, q->coin);
}

/* Sets a block to balls first .. of the replication whose stream is q->ahead. */
static void set_block(const struct play *q, struct block *b, uint64_t first) {
    const uint64_t left = q->p->m - first;
    b->first = first;
    b->size = left < BLOCK ? (uint32_t)left : BLOCK;
}

/* Draws the first block of the replication at hand. */
static void draw_first(struct play *q) {
    q->ahead = q->stream;
    q->block = &q->pair[0];
    set_block(q, q->block, 0);
    draw_points(q, q->block);
    draw_placing(q, q->block, 0, BESIDE, draw_alone);
}

/* The block to be drawn while the present one is placed: after the last of a replication the first
 * of the next, if there is `more`, so that vector and scalar work always meet. */
static struct block *next_block(struct play *q, bool more) {
    struct block *b = q->block == &q->pair[0] ? &q->pair[1] : &q->pair[0];
    const uint64_t first = q->block->first + BLOCK;
    if (first < q->p->m) {
        set_block(q, b, first);
    } else if (more) {
        q->ahead.replication++;
        set_block(q, b, 0);
    } else {
        b->size = 0;
    }
    return b;
}

/* Everything empty, nothing counted. */
static void begin(struct play *q) {
    const struct sampler *s = &q->p->sampler;
    memset(q->loads, 0, q->p->n * q->width);
    if (s->memory)
        memset(q->pair[0].memory, 0, s->memory);
    for (uint32_t i = 0; s->walks && i < s->space.ids; i++)
        q->walk[i] = i;
    memset(q->degree_jobs, 0, sizeof q->degree_jobs);
    memset(q->degree_cost, 0, sizeof q->degree_cost);
    q->moved = q->cost = q->n_measured = 0;
    q->length = 0;
}

/* Plays a replication whose first block has been drawn. */
static void play_one(struct play *q, bool more) {
    const struct balls *p = q->p;
    const struct sampler *s = &p->sampler;
    bool last;
    begin(q);
    do {
        last = q->block->first + q->block->size == p->m;
        struct block *next = next_block(q, more);
        if (s->space.sites)
            ISA(arrive)(s, q->block);
        s->policy->choose(s, q->stream, q->block);
        if (q->rule == RULE_COIN)
            draw_coins(q);
        place_block(q, draw_and_place(q, next));
        if (!p->stays)
            ISA(tally_block)(q);
        q->block = next;
    } while (!last);
    if (p->stays)
        q->moved = q->cost = p->m - ISA(tally_stays)(q);
}

static void *part(char **at, uint64_t bytes) {
    void *p = *at;
    *at += bytes;
    return p;
}

static uint32_t *array(char **at) {
    return part(at, BLOCK * sizeof(uint32_t));
}

static enum rule rule_of(const struct sampler *s) {
    return s->walks                                  ? RULE_WALK
           : s->candidates == 1                      ? RULE_ONE
           : s->candidates > 3                       ? RULE_MANY
           : s->candidates > 2                       ? RULE_THREE
           : s->origin_first && s->ties == TIES_FAIR ? RULE_COIN
                                                     : RULE_FIRST;
}

static struct room room_for(const struct balls *p, unsigned width) {
    const struct sampler *s = &p->sampler;
    return (struct room){.n = p->n,
                         .width = width,
                         .arrays = s->arrays,
                         .points = s->space.sites != NULL,
                         .policy = s->memory,
                         .searches = balls_measures(s) ? ISA(hops_memory)(&s->space, s->budget) : 0,
                         .walk = s->walks ? s->space.ids : 0};
}

/* Lays everything out in the workspace; loads take what is left. */
static void lay_out(struct play *q, struct workspace work) {
    const struct sampler *s = &q->p->sampler;
    const struct room room = room_for(q->p, q->width);
    char *at = work.memory;
    q->rule = rule_of(s);
    q->pair[0].memory = q->pair[1].memory = part(&at, room_whole(room.policy));
    q->searches = part(&at, room_whole(room.searches));
    q->walk = part(&at, room_whole(room.walk * sizeof *q->walk));
    q->where = array(&at);
    q->pair[0].hop = q->pair[1].hop = array(&at);
    q->pair[0].scratch = q->pair[1].scratch = array(&at);
    for (unsigned b = 0; b < 2; b++) {
        for (unsigned j = 0; room.points && j < 2; j++)
            q->pair[b].point[j] = array(&at);
        q->pair[b].origin = array(&at);
        for (unsigned j = 0; j < room.arrays; j++)
            q->pair[b].raw[j] = array(&at);
    }
    q->hops = part(&at, HOP_TABLES * HOP_BINS * sizeof *q->hops);
    q->coin = part(&at, BLOCK / 8);
    q->taken = part(&at, BLOCK / 8);
    q->loads = at;
    q->room = work.size - (uint64_t)(at - (char *)work.memory);
    memset(q->hops, 0, HOP_TABLES * HOP_BINS * sizeof *q->hops);
    memset(q->searches, 0, room.searches);
}

uint64_t ISA(balls_servers)(const struct balls *p, uint64_t key, struct workspace work,
                            struct outcome *out) {
    struct room room = room_for(p, p->width);
    if (work.size < room_bytes(&room))
        return room_bytes(&room);
    struct play q = {.p = p, .stream = {.key = key}, .width = p->width};
    lay_out(&q, work);
    q.stream.replication = (uint32_t)out->first;
    draw_first(&q);
    for (uint64_t r = 0; r < out->count;) {
        play_one(&q, r + 1 < out->count);
        const bool whole = ISA(tally_replication)(&q, r, out);
        if (whole) {
            q.stream = q.ahead;
            r++;
            continue;
        }
        q.width *= 2;
        room.width = q.width;
        if (p->n * q.width > q.room)
            return room_bytes(&room);
        draw_first(&q);
    }
    return 0;
}
