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
 * Ties: among i.i.d. candidates the first drawn wins, which is fair; between origin and candidate 1
 * of an origin_first policy bit i % 32 of TIE word i / 32 settles fair ties of ball i (1: candidate
 * 1 wins); TIES_ORIGIN: the origin wins. */
#include "balls.h"
#include "distance.h"

#include <stdlib.h>
#include <string.h>

enum rule { RULE_ONE, RULE_FIRST, RULE_COIN, RULE_MANY };

/* The memory of a thread, laid out. */
struct play {
    const struct balls *p;
    struct stream stream;
    enum rule rule;
    struct block pair[2]; /* the block being placed and the one being drawn take turns */
    struct block *block;  /* being placed */
    uint32_t
        *coin; /* [BLOCK / 32]: bit i % 32 of word i / 32: a tie of ball i goes to candidate 1 */
    uint32_t *taken; /* [BLOCK / 32]: likewise, ball i went to candidate 1 */
    uint32_t *where; /* [BLOCK]: the server each ball went to */
    uint64_t *hops;  /* [HOP_TABLES][HOP_BINS]: balls by hop */
    void *loads;
    uint64_t room; /* bytes for loads */
    unsigned width;
    uint64_t moved, cost;
};

static inline __attribute__((always_inline)) uint64_t load_of(const void *loads, unsigned width,
                                                              uint32_t i) {
    switch (width) {
    case 1:
        return ((const uint8_t *)loads)[i];
    case 2:
        return ((const uint16_t *)loads)[i];
    case 4:
        return ((const uint32_t *)loads)[i];
    default:
        return ((const uint64_t *)loads)[i];
    }
}

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
};

/* Places ball i, whose bits are number `bit`. `width`, `rule` and `keep` (what became of the ball
 * is asked for) are constants at every call. */
static inline __attribute__((always_inline)) void place(struct placer *p, const unsigned width,
                                                        const enum rule rule, const bool keep,
                                                        uint64_t i, unsigned bit) {
    uint32_t to = p->first[i];
    if (rule != RULE_ONE) {
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
    struct placer p = {.loads = q->loads, .first = q->block->candidate[0]};
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
    if (q->p->sampler.candidates == 3)
        place_among(q, width, 3);
    else if (q->p->sampler.candidates == 4)
        place_among(q, width, 4);
    else
        place_among(q, width, q->p->sampler.candidates);
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
    case RULE_MANY:
        place_many(q, width);
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
enum { BESIDE = 32 };

static inline __attribute__((always_inline)) void place_few(struct placer *p, const enum rule rule,
                                                            const bool keep, unsigned step) {
    for (unsigned j = step * (BESIDE / DRAW_STEPS), end = j + BESIDE / DRAW_STEPS; j < end; j++)
        place(p, 1, rule, keep, j, j);
}
static inline __attribute__((always_inline)) void beside_one(void *context, unsigned step) {
    place_few(context, RULE_ONE, false, step);
}
static inline __attribute__((always_inline)) void beside_blind(void *context, unsigned step) {
    place_few(context, RULE_FIRST, false, step);
}
static inline __attribute__((always_inline)) void beside_first(void *context, unsigned step) {
    place_few(context, RULE_FIRST, true, step);
}
static inline __attribute__((always_inline)) void beside_coin(void *context, unsigned step) {
    place_few(context, RULE_COIN, true, step);
}

/* Draws everything for block b, chunk after chunk; beside each chunk BESIDE of the first `balls`
 * balls of the present block are placed. Returns how many were. */
static inline __attribute__((always_inline)) uint32_t
draw_placing(struct play *q, struct block *b, uint32_t balls, draw_beside *beside) {
    const struct sampler *s = &q->p->sampler;
    struct placer p = {.loads = q->loads, .first = q->block->candidate[0]};
    uint32_t placed = 0;
    for (unsigned j = q->p->stays; j <= s->draws; j++) {
        const struct words w = draw_of(q->stream, j);
        const uint32_t range = j == 0 ? s->n : s->range[j - 1];
        uint32_t *const out = j == 0 ? b->origin : b->raw[j - 1];
        for (uint32_t i = 0; i < b->size; i += CHUNK) {
            uint64_t rejected;
            if (placed + BESIDE <= balls) {
                p.coin = q->coin[placed / BESIDE];
                p.taken = 0;
                rejected = draw_chunk(w, b->first + i, out + i, range > 0, range, beside, &p);
                q->taken[placed / BESIDE] = p.taken;
                placed += BESIDE;
                p.first += BESIDE;
            } else {
                rejected = draw_chunk(w, b->first + i, out + i, range > 0, range, draw_alone, NULL);
            }
            draw_again(w, b->first + i, rejected, range, out + i);
        }
    }
    return placed;
}

static uint32_t draw_and_place(struct play *q, struct block *b) {
    const uint32_t balls = q->block->size;
    if (q->width > 1 || q->rule == RULE_MANY)
        return draw_placing(q, b, 0, draw_alone);
    if (q->rule == RULE_ONE)
        return draw_placing(q, b, balls, beside_one);
    if (q->rule == RULE_COIN)
        return draw_placing(q, b, balls, beside_coin);
    return q->p->stays ? draw_placing(q, b, balls, beside_blind)
                       : draw_placing(q, b, balls, beside_first);
}

static void draw_coins(const struct play *q) {
    draw_words((struct words){q->stream, PURPOSE_TIE, 0}, q->block->first / 32,
               (q->block->size + 31) / 32, q->coin);
}

/* The server of each ball of a placed block. */
static const uint32_t *find_where(const struct play *q) {
    const uint32_t size = q->block->size, *restrict first = q->block->candidate[0],
                   *restrict taken = q->taken;
    uint32_t *restrict where = q->where;
    if (q->rule == RULE_MANY)
        return where;
    if (q->rule == RULE_ONE)
        return first;
    const uint32_t *restrict second = q->block->candidate[1];
    for (uint64_t i = 0; i < size; i += 32)
        for (uint64_t bit = 0; bit < 32; bit++)
            where[i + bit] = taken[i / 32] >> bit & 1 ? second[i + bit] : first[i + bit];
    return where;
}

/* Hops of balls that stayed become 0. */
static void clear_hops(const struct play *q) {
    const uint32_t size = q->block->size, *restrict taken = q->taken;
    uint32_t *restrict hop = q->block->hop;
    for (uint64_t i = 0; i < size; i += 32)
        for (uint64_t bit = 0; bit < 32; bit++)
            hop[i + bit] &= -(taken[i / 32] >> bit & 1);
}

/* The farthest a ball can move. */
static uint64_t farthest(const struct sampler *s) {
    return s->gives_hop ? s->reach : s->space.diameter;
}

/* Balls of the block by distance moved, when distances are small: one vectorised count for each. */
static void count_few_hops(struct play *q, uint32_t reach) {
    const uint32_t size = q->block->size, *restrict hop = q->block->hop;
    for (uint32_t h = 1; h <= reach; h++) {
        uint32_t count = 0;
        for (uint64_t i = 0; i < size; i++)
            count += hop[i] == h;
        q->hops[h] += count;
        q->moved += count;
        q->cost += (uint64_t)h * count;
    }
}

/* The same by tables. */
static void tabulate_hops(struct play *q) {
    const uint32_t size = q->block->size, *restrict hop = q->block->hop;
    uint32_t moved = 0;
    uint64_t *restrict table = q->hops, cost = 0;
    for (uint64_t i = 0; i < size; i++) {
        moved += hop[i] != 0;
        cost += hop[i];
    }
    q->moved += moved;
    q->cost += cost;
    /* Few distances: four tables, so that equal ones in a row seldom wait for each other. */
    if (farthest(&q->p->sampler) < 64)
        for (uint64_t i = 0; i < size; i++)
            table[i % HOP_TABLES * HOP_BINS + hop[i]]++;
    else if (farthest(&q->p->sampler) < BINS_EXACT)
        for (uint64_t i = 0; i < size; i++)
            table[hop[i]]++;
    else
        for (uint64_t i = 0; i < size; i++)
            table[bin_of(hop[i])]++;
}

/* Distances the balls of the block moved. */
static void count_hops(struct play *q) {
    enum { FEW = 12 };
    const struct sampler *s = &q->p->sampler;
    if (s->candidates == 1 && s->origin_first)
        return;
    if (s->gives_hop)
        clear_hops(q);
    else
        block_hops(&s->space, q->block->origin, find_where(q), q->block->size, q->block->hop);
    const uint64_t reach = farthest(s);
    if (reach <= FEW)
        count_few_hops(q, (uint32_t)reach);
    else
        tabulate_hops(q);
}

/* How many balls stay at their origin by chance: the policy never looked at it, so each does with
 * probability 1/n. The number for 64 balls at a time is drawn by inversion of a 64-bit fraction. */
static uint64_t count_stays(const struct play *q) {
    const struct balls *p = q->p;
    const uint64_t groups = (p->m + CHUNK - 1) / CHUNK;
    uint64_t stays = 0;
    if (p->n == 1)
        return p->m;
    for (uint64_t from = 0; from < groups; from += CHUNK) {
        uint32_t high[CHUNK];
        const uint32_t size = groups - from < CHUNK ? (uint32_t)(groups - from) : CHUNK;
        draw_words((struct words){q->stream, PURPOSE_STAY, 0}, from, size, high);
        for (uint32_t g = 0; g < size; g++) {
            const uint64_t *below = p->stay[from + g == groups - 1 && p->m % CHUNK];
            if (high[g] < below[0] >> 32)
                continue;
            const uint64_t x =
                (uint64_t)high[g] << 32 | rng_word(q->stream, PURPOSE_STAY, 1, from + g);
            for (unsigned j = 0; j < CHUNK && x >= below[j] && below[j] != UINT64_MAX; j++)
                stays++;
        }
    }
    return stays;
}

/* Bytes are counted by vector code, one sweep over a cache line for each load. */
static void byte_extremes(const uint8_t *restrict load, uint64_t n, uint64_t *low, uint64_t *high) {
    uint8_t least = UINT8_MAX, most = 0;
    for (uint64_t i = 0; i < n; i++) {
        least = load[i] < least ? load[i] : least;
        most = load[i] > most ? load[i] : most;
    }
    *low = least;
    *high = most;
}

static void byte_levels(const uint8_t *restrict load, uint64_t n, uint64_t low, uint64_t levels,
                        uint64_t *level) {
    enum { LINE = 64, SWEEP = 64 * LINE };
    const uint64_t whole = n / LINE * LINE;
    for (uint64_t from = 0; from < whole; from += SWEEP) {
        const uint64_t end = from + SWEEP < whole ? from + SWEEP : whole;
        for (uint64_t k = 0; k < levels; k++) {
            const uint8_t wanted = (uint8_t)(low + k);
            uint8_t count[LINE] = {0};
            for (uint64_t line = from; line < end; line += LINE)
                for (unsigned i = 0; i < LINE; i++)
                    count[i] = (uint8_t)(count[i] + (load[line + i] == wanted));
            for (unsigned i = 0; i < LINE; i++)
                level[k] += count[i];
        }
    }
    for (uint64_t i = whole; i < n; i++)
        level[load[i] - low]++;
}

static void wide_extremes(const struct play *q, uint64_t *low, uint64_t *high) {
    *low = UINT64_MAX;
    *high = 0;
    for (uint64_t i = 0; i < q->p->n; i++) {
        const uint64_t load = load_of(q->loads, q->width, (uint32_t)i);
        *low = load < *low ? load : *low;
        *high = load > *high ? load : *high;
    }
}

/* What the loads of a finished replication say; false when balls are missing because a load outgrew
 * its width. */
static bool record(struct play *q, uint64_t index, struct outcome *out) {
    enum { FEW = 64, SWEEPS_MOST = 16 };
    const uint64_t n = q->p->n;
    uint64_t low, high, few[FEW] = {0};
    if (q->width == 1)
        byte_extremes(q->loads, n, &low, &high);
    else
        wide_extremes(q, &low, &high);
    const uint64_t levels = high - low + 1;
    uint64_t *level = levels <= FEW ? few : allocate(levels, sizeof *level);
    if (q->width == 1 && levels <= SWEEPS_MOST)
        byte_levels(q->loads, n, low, levels, level);
    else
        for (uint64_t i = 0; i < n; i++)
            level[load_of(q->loads, q->width, (uint32_t)i) - low]++;
    uint64_t balls = 0;
    for (uint64_t k = 0; k < levels; k++)
        balls += level[k] * (low + k);
    const bool whole = balls == q->p->m;
    CHECK(whole || q->width < 8);
    if (whole)
        ISA(balls_record)(q->p, &(struct census){low, levels, level}, index, out);
    if (level != few)
        free(level);
    if (!whole)
        return false;
    if (out->histogram[SUM_SERVER]) {
        for (uint64_t i = 0; i < n; i++)
            out->histogram[SUM_SERVER][i] += load_of(q->loads, q->width, (uint32_t)i);
        out->used[SUM_SERVER] = n;
    }
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally[ROW_MOVED] = (int64_t)q->moved;
    tally[ROW_COST] = (int64_t)q->cost;
    return true;
}

/* Makes the next block out of `first`, empty past the last ball. */
static struct block *next_block(struct play *q, uint64_t first) {
    struct block *b = q->block == &q->pair[0] ? &q->pair[1] : &q->pair[0];
    const uint64_t left = first < q->p->m ? q->p->m - first : 0;
    b->first = first;
    b->size = left < BLOCK ? (uint32_t)left : BLOCK;
    return b;
}

static void play_one(struct play *q) {
    const struct balls *p = q->p;
    const struct sampler *s = &p->sampler;
    memset(q->loads, 0, p->n * q->width);
    q->moved = q->cost = 0;
    q->block = next_block(q, 0);
    draw_placing(q, q->block, 0, draw_alone);
    while (q->block->size > 0) {
        struct block *next = next_block(q, q->block->first + BLOCK);
        s->policy->choose(s, q->stream, q->block);
        if (q->rule == RULE_COIN)
            draw_coins(q);
        place_block(q, draw_and_place(q, next));
        if (!p->stays)
            count_hops(q);
        q->block = next;
    }
    if (p->stays)
        q->moved = q->cost = p->m - count_stays(q);
}

/* Adds the balls of a replication by hop to the outcome, unless it has to be played again, and
 * clears the tables. */
static void add_hops(struct play *q, bool whole, struct outcome *out) {
    const struct balls *p = q->p;
    const uint64_t bins = bin_of(farthest(&p->sampler)) + 1;
    const unsigned tables = bins > 64 ? 1 : HOP_TABLES;
    uint64_t *count = out->histogram[COUNT_HOP];
    q->hops[0] = 0; /* who stayed follows from who moved */
    for (unsigned t = 1; t < tables; t++)
        q->hops[t * HOP_BINS] = 0;
    if (p->stays)
        q->hops[1] = q->moved;
    if (whole && count) {
        CHECK(bins <= out->stride[COUNT_HOP]);
        count[0] += p->m - q->moved;
        for (unsigned t = 0; t < tables; t++)
            for (uint64_t b = 1; b < bins; b++)
                count[b] += q->hops[t * HOP_BINS + b];
        out->used[COUNT_HOP] = bins;
    }
    for (unsigned t = 0; t < tables; t++)
        memset(q->hops + t * HOP_BINS, 0, bins * sizeof *q->hops);
}

static uint32_t *array(char **at) {
    uint32_t *a = (uint32_t *)(void *)*at;
    *at += BLOCK * sizeof *a;
    return a;
}

/* Lays the arrays out in the workspace; loads take what is left. */
static void lay_out(struct play *q, struct workspace work) {
    const struct sampler *s = &q->p->sampler;
    char *at = work.memory;
    q->where = array(&at);
    q->pair[0].hop = q->pair[1].hop = array(&at);
    q->pair[0].scratch = q->pair[1].scratch = array(&at);
    for (unsigned b = 0; b < 2; b++) {
        q->pair[b].origin = array(&at);
        for (unsigned j = 0; j < s->draws; j++)
            q->pair[b].raw[j] = array(&at);
    }
    q->hops = (uint64_t *)(void *)at;
    at += HOP_TABLES * HOP_BINS * sizeof *q->hops;
    q->coin = (uint32_t *)(void *)at;
    q->taken = q->coin + BLOCK / 32;
    at += 2 * (BLOCK / 32) * sizeof(uint32_t);
    q->loads = at;
    q->room = work.size - (uint64_t)(at - (char *)work.memory);
    q->rule = s->candidates == 1                        ? RULE_ONE
              : s->candidates > 2                       ? RULE_MANY
              : s->origin_first && s->ties == TIES_FAIR ? RULE_COIN
                                                        : RULE_FIRST;
}

uint64_t ISA(balls_servers)(const struct balls *p, uint64_t key, struct workspace work,
                            struct outcome *out) {
    const uint64_t need = servers_bytes(p->n, p->width, p->sampler.draws);
    if (work.size < need)
        return need;
    struct play q = {.p = p, .stream = {.key = key}, .width = p->width};
    lay_out(&q, work);
    memset(q.hops, 0, HOP_TABLES * HOP_BINS * sizeof *q.hops);
    for (uint64_t r = 0; r < out->count;) {
        q.stream.replication = (uint32_t)(out->first + r);
        play_one(&q);
        const bool whole = record(&q, r, out);
        add_hops(&q, whole, out);
        r += whole;
        if (whole)
            continue;
        q.width *= 2;
        if (p->n * q.width > q.room)
            return servers_bytes(p->n, q.width, p->sampler.draws);
    }
    return 0;
}
