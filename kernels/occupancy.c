/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * balls, method occupancy: on the complete graph only the numbers of servers with each load matter.
 * Let s_k be the number of servers with load k or more, and rank the servers by load, the fullest
 * first: the server of rank r has load at least k when r < s_k. The least loaded of d candidates is
 * the one of the largest rank. Sixteen replications run side by side.
 *
 * A rank is r = floor(x / step) for a uniform x, x >= n * step being drawn again: exact, and
 * without a division, since r < s_k is x < s_k * step.
 *   narrow  (n <= 2^21) x is one word and step = floor((2^32 - 1) / n)
 *   wide    x is two words and step = floor((2^64 - 1) / n). The high word is compared with
 *           thresholds that are a few balls old; only when it falls between an old threshold and
 *           where that could be by now is the low word made and everything compared exactly.
 *
 * Words: ball i uses slots of OCCUPANCY words, word i * slots + slot being output % 4 of draw / 4.
 * Attempt t of a candidate takes its high word from lane 2t, its low word from lane 2t + 1. */
#include "balls.h"

#include <stdlib.h>
#include <string.h>

/* One number of each of the sixteen replications. */
typedef uint32_t lanes __attribute__((vector_size(4 * SIDE)));

/* Sixteen replications. Row k stands for load base + k + 1; rows from `top` on are zero. */
struct group {
    const struct balls *p;
    struct stream stream; /* of the first replication */
    bool wide;
    uint64_t step, base, top, room;
    unsigned slots;
    lanes *threshold; /* [room]: s_k * step, wide: its high word at the last refresh */
    lanes *more;      /* [room]: wide: servers that have come since */
    uint64_t *count;  /* [room][SIDE]: wide: s_k at the last refresh */
    lanes *words;     /* [OCCUPANCY_DRAWS * 4] */
};

static uint64_t at_least(const struct group *g, uint64_t row, unsigned lane) {
    if (g->wide)
        return g->count[row * SIDE + lane] + g->more[row][lane];
    return g->threshold[row][lane] / (uint32_t)g->step;
}

/* x of a candidate; attempt 0 begins with the word the fast path saw. */
static uint64_t exact_fraction(const struct group *g, unsigned lane, uint64_t index,
                               uint32_t attempt, bool wide) {
    const struct stream s = {g->stream.key, g->stream.replication + lane};
    const uint64_t high = rng_block(s, PURPOSE_OCCUPANCY, 2 * attempt, index / 4).v[index % 4];
    if (!wide)
        return high;
    return high << 32 | rng_block(s, PURPOSE_OCCUPANCY, 2 * attempt + 1, index / 4).v[index % 4];
}

/* The largest rank among the candidates of ball i, everything decided exactly. */
static uint64_t exact_rank(const struct group *g, unsigned lane, uint64_t i) {
    const struct ranks *ranks = &g->p->ranks;
    uint64_t rank[CANDIDATES_MAX], largest = 0;
    unsigned d = ranks->d;
    if (ranks->beta != UINT64_MAX &&
        exact_fraction(g, lane, i * g->slots + d, 0, true) >= ranks->beta)
        d = 1;
    for (unsigned c = 0; c < d; c++) {
        bool again = true;
        for (uint32_t attempt = 0; again; attempt++) {
            rank[c] = exact_fraction(g, lane, i * g->slots + c, attempt, g->wide) / g->step;
            again = rank[c] >= g->p->n;
            for (unsigned e = 0; e < c && ranks->distinct; e++)
                again = again || rank[e] == rank[c];
        }
        largest = rank[c] > largest ? rank[c] : largest;
    }
    return largest;
}

/* Largest words of the candidates of a ball; `open`: lanes they cannot decide. */
static inline lanes largest_of(const struct group *g, const lanes *w, lanes *open) {
    const struct ranks *ranks = &g->p->ranks;
    const uint64_t all = g->step * g->p->n;
    const uint32_t last = (uint32_t)(g->wide ? all >> 32 : all);
    /* Words of equal ranks are at most this far apart. */
    const uint32_t near = (uint32_t)(g->wide ? (g->step >> 32) + 1 : g->step);
    lanes x = w[0];
    *open = (lanes)(w[0] >= last);
    for (unsigned c = 1; c < ranks->d; c++) {
        *open |= (lanes)(w[c] >= last);
        lanes larger = (lanes)(w[c] > x);
        if (ranks->beta != UINT64_MAX) {
            const lanes coin = w[ranks->d];
            larger &= (lanes)(coin < (uint32_t)(ranks->beta >> 32));
            *open |= (lanes)(coin == (uint32_t)(ranks->beta >> 32));
        }
        for (unsigned e = 0; e < c && ranks->distinct; e++) /* |difference| <= near */
            *open |= (lanes)(w[c] - w[e] + near <= 2 * near);
        x ^= (x ^ w[c]) & larger;
    }
    return x;
}

/* Places a ball in the lanes that are not open: the first row whose threshold is not above x gains
 * a server. Returns the lanes in which that was row `top`. */
static inline lanes place_narrow(struct group *g, lanes x, lanes open) {
    const uint32_t step = (uint32_t)g->step;
    lanes above = ~open, here = {0};
    for (uint64_t row = 0, top = g->top; row <= top; row++) {
        const lanes under = (lanes)(x < g->threshold[row]);
        here = above & ~under;
        g->threshold[row] += here & step;
        above &= under;
    }
    return here;
}

/* The same with thresholds that are up to `window` behind; opens the lanes in which that matters.
 */
static inline lanes place_wide(struct group *g, lanes x, lanes *open, uint32_t window) {
    lanes above = ~*open, here = {0};
    for (uint64_t row = 0, top = g->top; row <= top; row++) {
        const lanes under = (lanes)(x < g->threshold[row]);
        here = above & ~under;
        *open |= (lanes)(x - g->threshold[row] < window);
        g->more[row] -= here; /* a mask is -1 */
        above &= under;
    }
    return here;
}

static inline bool any(lanes x) {
    uint64_t word[SIDE / 2], sum = 0;
    memcpy(word, &x, sizeof word);
    for (unsigned i = 0; i < SIDE / 2; i++)
        sum |= word[i];
    return sum != 0;
}

/* Ball i in one lane, exactly; `undo`: the fast path has placed it by x. */
static void place_exactly(struct group *g, uint64_t i, unsigned lane, bool undo, uint32_t x) {
    const uint64_t rank = exact_rank(g, lane, i);
    uint64_t row = 0;
    if (undo) {
        while (x < g->threshold[row][lane])
            row++;
        g->more[row][lane]--;
    }
    for (row = 0; rank < at_least(g, row, lane);)
        row++;
    if (g->wide)
        g->more[row][lane]++;
    else
        g->threshold[row][lane] += (uint32_t)g->step;
    g->top += row == g->top;
}

static inline __attribute__((always_inline)) void
place_ball(struct group *g, uint64_t i, const lanes *w, uint32_t window, const bool wide) {
    lanes open;
    const lanes x = largest_of(g, w, &open), before = open;
    const lanes grown = wide ? place_wide(g, x, &open, window) : place_narrow(g, x, open);
    if (!any(open | grown))
        return;
    const uint64_t top = g->top;
    for (unsigned l = 0; l < SIDE; l++)
        if (open[l])
            place_exactly(g, i, l, !before[l], x[l]);
    if (g->top == top && any(grown & ~open))
        g->top += 1;
}

/* Drops rows that are full in every lane from below, and brings old thresholds up to date. */
static void refresh(struct group *g) {
    uint64_t full = 0;
    for (bool all = true; full < g->top; full++) {
        for (unsigned l = 0; l < SIDE; l++)
            all = all && at_least(g, full, l) == g->p->n;
        if (!all)
            break;
    }
    const uint64_t kept = g->top + 1 - full;
    for (uint64_t row = 0; row < g->top + 1 && (full > 0 || g->wide); row++)
        for (unsigned l = 0; l < SIDE; l++) {
            const uint64_t servers = row < kept ? at_least(g, row + full, l) : 0;
            if (g->wide) {
                g->count[row * SIDE + l] = servers;
                g->more[row][l] = row < kept && full > 0 ? g->more[row][l] : 0;
            }
            const uint64_t t = servers * g->step;
            g->threshold[row][l] = (uint32_t)(g->wide ? t >> 32 : t);
        }
    for (uint64_t row = 0; row < g->top + 1 && g->wide; row++)
        g->more[row] = (lanes){0};
    g->top -= full;
    g->base += full;
}

/* Plays all balls of the group; false when the rows do not suffice. */
static inline __attribute__((always_inline)) bool play_group(struct group *g, const bool wide) {
    const uint64_t per_fill = OCCUPANCY_DRAWS / g->slots * 4; /* a multiple of four: whole draws */
    const uint32_t window = (uint32_t)((uint128)per_fill * g->step >> 32) + 2;
    const struct words w = {g->stream, PURPOSE_OCCUPANCY, 0};
    memset(g->threshold, 0, g->room * sizeof *g->threshold);
    memset(g->more, 0, g->room * sizeof *g->more);
    memset(g->count, 0, g->room * SIDE * sizeof *g->count);
    g->base = g->top = 0;
    for (uint64_t i = 0; i < g->p->m; i += per_fill) {
        const uint64_t end = i + per_fill < g->p->m ? i + per_fill : g->p->m;
        const uint64_t draws = ((end - i) * g->slots + 3) / 4, first = i / 4 * g->slots;
        if (g->top + per_fill + 2 > g->room)
            return false;
        for (uint64_t draw = 0; draw < draws; draw++)
            draw_abreast(w, first + draw, (uint32_t *)(g->words + 4 * draw));
        for (uint64_t ball = i; ball < end; ball++)
            place_ball(g, ball, g->words + (ball - i) * g->slots, window, wide);
        refresh(g);
    }
    return true;
}

static void record_lane(const struct group *g, unsigned lane, uint64_t index, struct outcome *out) {
    uint64_t *level = allocate(g->top + 1, sizeof *level), more = g->p->n;
    for (uint64_t row = 0; row <= g->top; row++) {
        const uint64_t next = at_least(g, row, lane);
        level[row] = more - next;
        more = next;
    }
    ISA(balls_record)(g->p, &(struct census){g->base, g->top + 1, level}, index, out);
    out->tally[index * BALLS_ROWS + ROW_MOVED] = out->tally[index * BALLS_ROWS + ROW_COST] = 0;
    free(level);
}

uint64_t ISA(balls_occupancy)(const struct balls *p, uint64_t key, struct workspace work,
                              struct outcome *out) {
    if (work.size < occupancy_bytes(OCCUPANCY_ROWS))
        return occupancy_bytes(OCCUPANCY_ROWS);
    struct group g = {.p = p, .stream = {.key = key}, .wide = p->n > 1 << 21};
    g.step = (g.wide ? UINT64_MAX : UINT32_MAX) / p->n;
    g.slots = p->ranks.d + (p->ranks.beta != UINT64_MAX);
    g.room = (work.size - occupancy_bytes(0)) / (occupancy_bytes(1) - occupancy_bytes(0));
    g.words = work.memory;
    g.threshold = g.words + 4 * OCCUPANCY_DRAWS;
    g.more = g.threshold + g.room;
    g.count = (uint64_t *)(g.more + g.room);
    for (uint64_t r = 0; r < out->count; r += SIDE) {
        g.stream.replication = (uint32_t)(out->first + r);
        if (!(g.wide ? play_group(&g, true) : play_group(&g, false)))
            return occupancy_bytes(2 * g.room);
        for (unsigned l = 0; l < SIDE && r + l < out->count; l++)
            record_lane(&g, l, r + l, out);
    }
    return 0;
}
