/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method occupancy: on the complete graph only the numbers of servers with each load matter.
 * Let s_k be the number of servers with load k or more, and rank the servers by load, the fullest
 * first: the server of rank r has load at least k when r < s_k. The least loaded of d candidates is
 * the one of the largest rank.
 *
 * A rank is r = floor(x / step) for x uniform on 64 bits, step = floor((2^64 - 1) / n), x >= n *
 * step being drawn again: exact, and without a division, since r < s_k is x < T_k with T_k = s_k *
 * step. The high word of x decides unless it equals that of a threshold; only then is the low word
 * made. Sixteen replications run side by side.
 *
 * Words: ball i uses slots of OCCUPANCY words, word (i * slots + slot) being output % 4 of draw / 4
 * in lane 0 (high halves) and lane 1 (low halves); lanes from 2 on replace what is drawn again. */
#include "balls.h"

#include <stdlib.h>
#include <string.h>

/* Sixteen replications. Row k of a threshold is [k - base]; rows above `top` are zero. */
struct group {
    const struct balls *p;
    struct stream stream; /* of the first replication */
    uint32_t *high, *low; /* [room][SIDE] */
    uint32_t *words;      /* [OCCUPANCY_BLOCKS][4][SIDE] */
    uint64_t room, base, top, step;
    unsigned slots;
};

static uint64_t threshold(const struct group *g, uint64_t row, unsigned lane) {
    return (uint64_t)g->high[row * SIDE + lane] << 32 | g->low[row * SIDE + lane];
}

static uint32_t exact_word(const struct group *g, unsigned lane, uint32_t which, uint64_t index) {
    const struct stream s = {g->stream.key, g->stream.replication + lane};
    return rng_block(s, PURPOSE_OCCUPANCY, which, index / 4).v[index % 4];
}

/* 64 bits of candidate `slot` of ball i; attempt 0 is the one whose high half the fast path saw. */
static uint64_t exact_fraction(const struct group *g, unsigned lane, uint64_t index,
                               uint32_t attempt) {
    return (uint64_t)exact_word(g, lane, 2 * attempt, index) << 32 |
           exact_word(g, lane, 2 * attempt + 1, index);
}

/* The largest x among the candidates of ball i, everything decided exactly. */
static uint64_t exact_largest(const struct group *g, unsigned lane, uint64_t i) {
    const struct ranks *ranks = &g->p->ranks;
    uint64_t x[CANDIDATES_MAX], largest = 0;
    unsigned d = ranks->d;
    if (ranks->beta != UINT64_MAX && exact_fraction(g, lane, i * g->slots + d, 0) >= ranks->beta)
        d = 1;
    for (unsigned c = 0; c < d; c++) {
        bool again = true;
        for (uint32_t attempt = 0; again; attempt++) {
            x[c] = exact_fraction(g, lane, i * g->slots + c, attempt);
            again = x[c] >= g->step * g->p->n;
            for (unsigned e = 0; e < c && ranks->distinct; e++)
                again = again || x[e] / g->step == x[c] / g->step;
        }
        largest = x[c] > largest ? x[c] : largest;
    }
    return largest;
}

/* One more server of load k or more in a row. */
static void raise_row(struct group *g, uint64_t row, unsigned lane) {
    const uint64_t t = threshold(g, row, lane) + g->step;
    g->high[row * SIDE + lane] = (uint32_t)(t >> 32);
    g->low[row * SIDE + lane] = (uint32_t)t;
}

/* Largest high words of the candidates; `open` marks lanes the high words cannot decide. */
static void largest_of(const struct group *g, const uint32_t *restrict w, uint32_t *restrict x,
                       uint32_t *restrict open) {
    const struct ranks *ranks = &g->p->ranks;
    const uint32_t last = (uint32_t)(g->step * g->p->n >> 32), near = (uint32_t)(g->step >> 32);
    const uint32_t beta = (uint32_t)(ranks->beta >> 32);
    for (unsigned l = 0; l < SIDE; l++) {
        x[l] = w[l];
        open[l] = w[l] >= last;
    }
    for (unsigned c = 1; c < ranks->d; c++) {
        const uint32_t *restrict y = w + c * SIDE, *restrict coin = w + ranks->d * SIDE;
        for (unsigned l = 0; l < SIDE; l++) {
            const bool taken = ranks->beta == UINT64_MAX || coin[l] < beta;
            open[l] |=
                (uint32_t)(y[l] >= last) | (uint32_t)(ranks->beta != UINT64_MAX && coin[l] == beta);
            x[l] = taken && y[l] > x[l] ? y[l] : x[l];
        }
        for (unsigned e = 0; e < c && ranks->distinct; e++)
            for (unsigned l = 0; l < SIDE; l++) {
                const uint32_t a = w[e * SIDE + l], b = y[l];
                open[l] |= (a > b ? a - b : b - a) <=
                           near + 1; /* a rank may begin low in its first word */
            }
    }
}

/* Two candidates with replacement, the common case, kept in registers. */
static inline void largest_of_two(const struct group *g, const uint32_t *restrict w,
                                  uint32_t *restrict x, uint32_t *restrict open) {
    const uint32_t last = (uint32_t)(g->step * g->p->n >> 32);
    for (unsigned l = 0; l < SIDE; l++) {
        x[l] = w[l] > w[SIDE + l] ? w[l] : w[SIDE + l];
        open[l] = x[l] >= last;
    }
}

/* Places ball i in all lanes: the first row whose threshold is not above x gains a server. */
static void place_abreast(struct group *g, uint64_t i, const uint32_t *restrict x,
                          uint32_t *restrict open) {
    const uint32_t step_high = (uint32_t)(g->step >> 32), step_low = (uint32_t)g->step;
    uint32_t above[SIDE], hit[SIDE] = {0}, undecided = 0, grown = 0;
    for (unsigned l = 0; l < SIDE; l++)
        above[l] = UINT32_MAX;
    for (uint32_t row = 0; row <= (uint32_t)g->top; row++) {
        uint32_t *restrict high = g->high + row * SIDE, *restrict low = g->low + row * SIDE;
        for (unsigned l = 0; l < SIDE; l++) {
            const uint32_t under = -(uint32_t)(x[l] < high[l]), here = above[l] & ~under;
            const uint32_t add = step_low & here, sum = low[l] + add;
            open[l] |= x[l] == high[l];
            low[l] = sum;
            high[l] += (step_high & here) + (sum < add);
            hit[l] = here ? row : hit[l];
            above[l] = under;
        }
    }
    for (unsigned l = 0; l < SIDE; l++) {
        undecided |= open[l];
        grown |= hit[l] == g->top;
    }
    for (unsigned l = 0; undecided && l < SIDE; l++) {
        if (!open[l])
            continue;
        const uint64_t back = threshold(g, hit[l], l) - g->step;
        g->high[hit[l] * SIDE + l] = (uint32_t)(back >> 32);
        g->low[hit[l] * SIDE + l] = (uint32_t)back;
        const uint64_t largest = exact_largest(g, l, i);
        uint64_t row = 0;
        while (largest < threshold(g, row, l))
            row++;
        raise_row(g, row, l);
        grown |= row == g->top;
    }
    g->top += grown;
}

/* Drops rows that are full in every lane from below. */
static void drop_full(struct group *g) {
    const uint64_t full = g->step * g->p->n;
    uint64_t rows = 0;
    for (; rows < g->top; rows++) {
        bool all = true;
        for (unsigned l = 0; l < SIDE; l++)
            all = all && threshold(g, rows, l) == full;
        if (!all)
            break;
    }
    if (rows == 0)
        return;
    const uint64_t kept = (g->top + 1 - rows) * SIDE;
    memmove(g->high, g->high + rows * SIDE, kept * sizeof *g->high);
    memmove(g->low, g->low + rows * SIDE, kept * sizeof *g->low);
    memset(g->high + kept, 0, rows * SIDE * sizeof *g->high);
    memset(g->low + kept, 0, rows * SIDE * sizeof *g->low);
    g->top -= rows;
    g->base += rows;
}

/* Plays all balls of the group; false when the rows do not suffice. */
static bool play_group(struct group *g) {
    const struct ranks *ranks = &g->p->ranks;
    const bool two = ranks->d == 2 && !ranks->distinct && ranks->beta == UINT64_MAX;
    const uint64_t per_fill =
        OCCUPANCY_BLOCKS * 4 / g->slots / 4 * 4; /* whole draws: a multiple of four balls */
    const struct words w = {g->stream, PURPOSE_OCCUPANCY, 0};
    memset(g->high, 0, g->room * SIDE * sizeof *g->high);
    memset(g->low, 0, g->room * SIDE * sizeof *g->low);
    g->base = g->top = 0;
    for (uint64_t i = 0; i < g->p->m; i += per_fill) {
        const uint64_t end = i + per_fill < g->p->m ? i + per_fill : g->p->m;
        for (uint64_t draw = 0; draw < ((end - i) * g->slots + 3) / 4; draw++)
            draw_abreast(w, i * g->slots / 4 + draw, g->words + draw * 4 * SIDE);
        if (g->top + per_fill + 1 >= g->room)
            return false;
        for (uint64_t ball = i; ball < end; ball++) {
            uint32_t x[SIDE], open[SIDE];
            const uint32_t *words = g->words + (ball - i) * g->slots * SIDE;
            if (two)
                largest_of_two(g, words, x, open);
            else
                largest_of(g, words, x, open);
            place_abreast(g, ball, x, open);
        }
        drop_full(g);
    }
    return true;
}

static void record_lane(const struct group *g, unsigned lane, uint64_t index, struct outcome *out) {
    uint64_t *level = allocate(g->top + 1, sizeof *level), at_least = g->p->n;
    for (uint64_t row = 0; row <= g->top; row++) {
        const uint64_t next = threshold(g, row, lane) / g->step;
        level[row] = at_least - next;
        at_least = next;
    }
    ISA(balls_record)(g->p, &(struct census){g->base, g->top + 1, level}, index, out);
    out->tally[index * BALLS_ROWS + ROW_MOVED] = out->tally[index * BALLS_ROWS + ROW_COST] = 0;
    free(level);
}

uint64_t ISA(balls_occupancy)(const struct balls *p, uint64_t key, struct workspace work,
                              struct outcome *out) {
    if (work.size < occupancy_bytes(OCCUPANCY_ROWS))
        return occupancy_bytes(OCCUPANCY_ROWS);
    struct group g = {.p = p, .stream = {.key = key}, .step = UINT64_MAX / p->n};
    g.slots = p->ranks.d + (p->ranks.beta != UINT64_MAX);
    g.words = work.memory;
    g.high = g.words + OCCUPANCY_BLOCKS * 4 * SIDE;
    g.room = (work.size - occupancy_bytes(0)) / (2 * SIDE * sizeof(uint32_t));
    g.low = g.high + g.room * SIDE;
    for (uint64_t r = 0; r < out->count; r += SIDE) {
        g.stream.replication = (uint32_t)(out->first + r);
        if (!play_group(&g))
            return occupancy_bytes(2 * g.room);
        for (unsigned l = 0; l < SIDE && r + l < out->count; l++)
            record_lane(&g, l, r + l, out);
    }
    return 0;
}
