/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method servers: a pipeline over blocks of balls. Origins and candidates of a block are drawn by vector code
 * (the policy), placement is sequential and free of branches, costs are vector code again. Loads are small integers:
 * the caches hold more of them, and clearing is cheap. When a load reaches half of what its width holds, the block is
 * taken back, the loads widened, and the block placed again. */
#include "balls.h"
#include "distance.h"

#include <stdlib.h>

enum rule { RULE_ONE, RULE_FIRST, RULE_COIN, RULE_MANY };

/* The memory of a thread, laid out. */
struct play {
    const struct balls *p;
    struct stream stream;
    struct block block;
    uint32_t *where;  /* [BLOCK]: the server each ball went to */
    uint8_t *coin;    /* [BLOCK]: 1 if a tie goes to candidate 1 */
    uint64_t *hops;   /* [HOP_TABLE] */
    void *loads;
    uint64_t room;    /* bytes for loads */
    unsigned width;
    uint64_t moved, cost;
};

static inline __attribute__((always_inline)) uint64_t load_of(const void *loads, unsigned width, uint32_t i) {
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

static inline __attribute__((always_inline)) void set_load(void *loads, unsigned width, uint32_t i, uint64_t load) {
    switch (width) {
    case 1:
        ((uint8_t *)loads)[i] = (uint8_t)load;
        return;
    case 2:
        ((uint16_t *)loads)[i] = (uint16_t)load;
        return;
    case 4:
        ((uint32_t *)loads)[i] = (uint32_t)load;
        return;
    default:
        ((uint64_t *)loads)[i] = load;
    }
}

/* Places a block; returns the bitwise or of all new loads. `width` and `rule` are constants at every call. */
static inline __attribute__((always_inline)) uint64_t place(const struct play *q, const unsigned width,
                                                            const enum rule rule) {
    void *restrict loads = q->loads;
    const uint32_t *restrict first = q->block.candidate[0], *restrict second = q->block.candidate[1];
    const uint8_t *restrict coin = q->coin;
    uint32_t *restrict where = q->where;
    const uint32_t size = q->block.size;
    uint64_t seen = 0;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t to = first[i];
        uint64_t load = load_of(loads, width, to);
        if (rule == RULE_FIRST || rule == RULE_COIN) {
            const uint32_t other = second[i];
            const uint64_t rival = load_of(loads, width, other);
            const uint32_t turn = -(uint32_t)(rival < load + (rule == RULE_COIN ? coin[i] : 0u));
            to ^= (to ^ other) & turn;
            load = rival < load ? rival : load;
        }
        for (unsigned c = 1; rule == RULE_MANY && c < q->p->sampler.candidates; c++) {
            const uint32_t other = q->block.candidate[c][i];
            const uint64_t rival = load_of(loads, width, other);
            to = rival < load ? other : to;
            load = rival < load ? rival : load;
        }
        load++;
        set_load(loads, width, to, load);
        where[i] = to;
        seen |= load;
    }
    return seen;
}

static inline __attribute__((always_inline)) uint64_t place_rule(const struct play *q, const unsigned width) {
    const struct sampler *s = &q->p->sampler;
    if (s->candidates == 1)
        return place(q, width, RULE_ONE);
    if (s->candidates > 2)
        return place(q, width, RULE_MANY);
    return s->origin_first && s->ties == TIES_FAIR ? place(q, width, RULE_COIN) : place(q, width, RULE_FIRST);
}

static __attribute__((noinline)) uint64_t place_block(const struct play *q) {
    switch (q->width) {
    case 1:
        return place_rule(q, 1);
    case 2:
        return place_rule(q, 2);
    case 4:
        return place_rule(q, 4);
    default:
        return place_rule(q, 8);
    }
}

/* Doubles the width of the loads in place; false when there is no room. */
static bool widen(struct play *q) {
    const uint64_t n = q->p->n;
    if (n * q->width * 2 > q->room)
        return false;
    for (uint64_t i = n; i-- > 0;)
        set_load(q->loads, q->width * 2, (uint32_t)i, load_of(q->loads, q->width, (uint32_t)i));
    q->width *= 2;
    return true;
}

/* Places a block and, when the loads grow out of their width, takes it back and places it again. */
static __attribute__((noinline)) bool settle(struct play *q) {
    while (place_block(q) >> (8 * q->width - 1)) {
        CHECK(q->width < 8);
        for (uint32_t i = 0; i < q->block.size; i++) /* exact: an overflowed load wraps back */
            set_load(q->loads, q->width, q->where[i], load_of(q->loads, q->width, q->where[i]) - 1);
        if (!widen(q))
            return false;
    }
    return true;
}

/* Bit i % 32 of word i / 32, one byte each. */
static __attribute__((noinline)) void draw_coins(struct play *q) {
    uint32_t word[CHUNK];
    const uint32_t words = (q->block.size + 31) / 32;
    uint8_t *restrict coin = q->coin;
    draw_words((struct words){q->stream, PURPOSE_TIE, 0}, q->block.first / 32, words, word);
    for (uint32_t i = 0; i < words; i++, coin += 32)
        for (uint32_t j = 0; j < 32; j++)
            coin[j] = (uint8_t)(word[i] >> j & 1);
}

/* Distances the balls of the block moved. */
static __attribute__((noinline)) void count_hops(struct play *q) {
    const struct sampler *s = &q->p->sampler;
    const uint32_t size = q->block.size, *restrict u = q->block.origin, *restrict w = q->where;
    uint32_t *restrict hop = q->block.hop, moved = 0;
    uint64_t cost = 0;
    if (s->candidates == 1 && s->origin_first)
        return;
    if (s->gives_hop) {
        for (uint64_t i = 0; i < size; i++)
            hop[i] = w[i] == u[i] ? 0 : hop[i];
    } else {
        block_hops(&s->space, u, w, size, hop);
    }
    for (uint64_t i = 0; i < size; i++) {
        moved += hop[i] != 0;
        cost += hop[i];
    }
    q->moved += moved;
    q->cost += cost;
    if (s->space.diameter <= 1)
        return; /* balls by hop follow from `moved` */
    uint64_t *restrict even = q->hops, *restrict odd = q->hops + HOP_TABLE / 2;
    if (s->space.diameter < BINS_EXACT) {
        for (uint64_t i = 0; i + 1 < size; i += 2) {
            even[hop[i]]++;
            odd[hop[i + 1]]++;
        }
        if (size & 1)
            even[hop[size - 1]]++;
        return;
    }
    for (uint32_t i = 0; i < size; i++)
        even[bin_of(hop[i])]++;
}

/* How many balls stay at their origin by chance: the policy never looked at it, so each does with probability 1/n. The
 * number for 64 balls at a time is drawn by inversion of a 64-bit fraction. */
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
            const uint64_t x = (uint64_t)high[g] << 32 | rng_word(q->stream, PURPOSE_STAY, 1, from + g);
            for (unsigned j = 0; j < CHUNK && x >= below[j] && below[j] != UINT64_MAX; j++)
                stays++;
        }
    }
    return stays;
}

/* Bytes are counted by vector code, one sweep over a cache line for each load. */
static __attribute__((noinline)) void byte_extremes(const uint8_t *restrict load, uint64_t n, uint64_t *low, uint64_t *high) {
    uint8_t least = UINT8_MAX, most = 0;
    for (uint64_t i = 0; i < n; i++) {
        least = load[i] < least ? load[i] : least;
        most = load[i] > most ? load[i] : most;
    }
    *low = least;
    *high = most;
}

static __attribute__((noinline)) void byte_levels(const uint8_t *restrict load, uint64_t n, uint64_t low, uint64_t levels, uint64_t *level) {
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

/* What the loads of a finished replication say. */
static __attribute__((noinline)) void record(struct play *q, uint64_t index, struct outcome *out) {
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
    ISA(balls_record)(q->p, &(struct census){low, levels, level}, index, out);
    if (level != few)
        free(level);
    if (out->histogram[SUM_SERVER]) {
        for (uint64_t i = 0; i < n; i++)
            out->histogram[SUM_SERVER][i] += load_of(q->loads, q->width, (uint32_t)i);
        out->used[SUM_SERVER] = n;
    }
    int64_t *tally = out->tally + index * BALLS_ROWS;
    tally[ROW_MOVED] = (int64_t)q->moved;
    tally[ROW_COST] = (int64_t)q->cost;
}

static bool play_one(struct play *q) {
    const struct balls *p = q->p;
    const struct sampler *s = &p->sampler;
    const bool coins = s->candidates == 2 && s->origin_first && s->ties == TIES_FAIR;
    memset(q->loads, 0, p->n * q->width);
    q->moved = q->cost = 0;
    for (uint64_t first = 0; first < p->m; first += BLOCK) {
        q->block.first = first;
        q->block.size = p->m - first < BLOCK ? (uint32_t)(p->m - first) : BLOCK;
        if (!p->stays)
            draw_origins(s, q->stream, &q->block);
        s->policy->draw(s, q->stream, &q->block);
        if (coins)
            draw_coins(q);
        if (!settle(q))
            return false;
        if (!p->stays)
            count_hops(q);
    }
    if (p->stays)
        q->moved = q->cost = p->m - count_stays(q);
    return true;
}

static void add_hops(struct play *q, uint64_t replications, uint64_t moved, struct outcome *out) {
    const struct balls *p = q->p;
    uint64_t *count = out->histogram[COUNT_HOP];
    if (p->sampler.space.diameter <= 1 || (p->sampler.candidates == 1 && p->sampler.origin_first)) {
        count[0] += p->m * replications - moved;
        out->used[COUNT_HOP] = 1;
        if (moved) {
            count[1] += moved;
            out->used[COUNT_HOP] = 2;
        }
        return;
    }
    for (uint64_t b = 0; b < HOP_TABLE / 2; b++) {
        const uint64_t balls = q->hops[b] + q->hops[HOP_TABLE / 2 + b];
        if (balls) {
            CHECK(b < out->stride[COUNT_HOP]);
            count[b] += balls;
            out->used[COUNT_HOP] = b + 1;
        }
    }
}

/* Lays the arrays out in the workspace; loads take what is left. */
static void lay_out(struct play *q, struct workspace work) {
    char *at = work.memory;
    uint32_t **const arrays[] = {&q->block.origin, &q->block.hop, &q->block.scratch, &q->where};
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++, at += BLOCK * sizeof(uint32_t))
        *arrays[i] = (uint32_t *)(void *)at;
    for (unsigned c = 0; c < q->p->sampler.candidates; c++, at += BLOCK * sizeof(uint32_t))
        q->block.candidate[c] = (uint32_t *)(void *)at;
    q->hops = (uint64_t *)(void *)at;
    at += HOP_TABLE * sizeof *q->hops;
    q->coin = (uint8_t *)at;
    at += 2 * BLOCK;
    q->loads = at;
    q->room = work.size - (uint64_t)(at - (char *)work.memory);
}

uint64_t ISA(balls_servers)(const struct balls *p, uint64_t key, struct workspace work, struct outcome *out) {
    const uint64_t need = servers_bytes(p->n, p->width, p->sampler.candidates);
    if (work.size < need)
        return need;
    struct play q = {.p = p, .stream = {.key = key}, .width = p->width};
    lay_out(&q, work);
    memset(q.hops, 0, HOP_TABLE * sizeof *q.hops);
    uint64_t moved = 0;
    for (uint64_t r = 0; r < out->count; r++) {
        q.stream.replication = (uint32_t)(out->first + r);
        if (!play_one(&q))
            return servers_bytes(p->n, 2 * q.width, p->sampler.candidates);
        record(&q, r, out);
        moved += q.moved;
    }
    if (out->histogram[COUNT_HOP])
        add_hops(&q, out->count, moved, out);
    return 0;
}
