/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches among points.
 *
 * Plane: a square grid of cells that hold two servers in the mean (Bentley, Weide, Yao, "Optimal
 * expected-time algorithms for closest point problems", ACM TOMS 6(4), 1980). A search begins with
 * the two by two cells whose common corner is nearest to the point and adds a ring of cells until
 * nothing outside can be as near as what was found. Rows and columns are numbered on beyond the
 * borders of the torus; a window of as many columns as there are keeps each from being visited
 * twice.
 *
 * Circle: positions by their leading bits, about one to a bucket. */
#include "sites.h"

#include <stdlib.h>
#include <string.h>

enum { COORDINATE_BITS = 31, SERVERS_A_CELL = 2, INSERTED_MOST = 24 };

void sites_free(struct sites *s) {
    if (!s)
        return;
    free(s->x);
    free(s->y);
    free(s->cell);
    free(s->member);
    free(s->position);
    free(s->owner);
    free(s->bucket);
    free(s->share);
    free(s);
}

/* All four outputs of a counter are used: a quarter of the price of rng_word(). */
void sites_words(struct stream words, uint64_t chunk, uint32_t word[64]) {
    for (unsigned draw = 0; draw < 16; draw++) {
        const philox4x32_ctr_t r = rng_block(words, PURPOSE_GRAPH, 0, chunk * 16 + draw);
        for (unsigned q = 0; q < 4; q++)
            word[16 * q + draw] = r.v[q];
    }
}

static uint32_t cells_for(uint64_t n) {
    uint32_t cells = 1;
    while ((uint64_t)SERVERS_A_CELL * (cells + 1) * (cells + 1) <= n)
        cells++;
    return cells;
}

uint64_t plane_bytes(uint64_t n) {
    const uint64_t cells = cells_for(n);
    return sizeof(struct sites) + n * (2 * sizeof(uint32_t) + sizeof(struct member)) +
           (cells * cells + 1) * sizeof(uint32_t);
}

/* In units of 2^-31 of a cell, so that the cell is the upper half. */
static inline uint64_t in_cells(const struct sites *s, uint32_t coordinate) {
    return (uint64_t)coordinate * s->cells;
}

static uint32_t cell_of(const struct sites *s, uint64_t server) {
    const uint64_t column = in_cells(s, s->x[server]) >> COORDINATE_BITS;
    const uint64_t row = in_cells(s, s->y[server]) >> COORDINATE_BITS;
    return (uint32_t)(row * s->cells + column);
}

struct sites *plane_new(uint64_t n, bool wrap, uint32_t *x, uint32_t *y) {
    struct sites *s = allocate(1, sizeof *s);
    *s = (struct sites){.n = n, .wrap = wrap, .x = x, .y = y, .cells = cells_for(n)};
    const uint64_t cells = (uint64_t)s->cells * s->cells;
    s->cell = allocate(cells + 1, sizeof *s->cell);
    s->member = allocate(n, sizeof *s->member);
    for (uint64_t v = 0; v < n; v++)
        s->cell[cell_of(s, v)]++;
    for (uint64_t c = 0; c < cells; c++)
        s->cell[c + 1] += s->cell[c];
    /* Backwards from the ends of the cells, which so become their beginnings. */
    for (uint64_t v = n; v-- > 0;)
        s->member[--s->cell[cell_of(s, v)]] = (struct member){x[v], y[v], (uint32_t)v};
    return s;
}

/* Signed differences of coordinates; on the torus the short way round: modulo 2^31. */
static inline uint64_t squared_between(uint32_t dx, uint32_t dy, unsigned wrap) {
    const int64_t a = (int32_t)(dx << wrap) >> wrap, b = (int32_t)(dy << wrap) >> wrap;
    return (uint64_t)(a * a + b * b);
}

uint64_t plane_squared(const struct sites *s, uint32_t x, uint32_t y, uint32_t server) {
    return squared_between(s->x[server] - x, s->y[server] - y, s->wrap);
}

/* The order of servers: by distance, then by number. */
static inline bool nearer(uint64_t squared, uint32_t server, uint64_t than, uint32_t other) {
    return (squared < than) | ((squared == than) & (server < other));
}

/* The nearest servers found so far, and how they are kept. */
enum keep {
    KEEP_TWO,  /* in `best` and `who`, without branches */
    KEEP_ONE,  /* likewise, the nearest alone */
    KEEP_FEW,  /* in order */
    KEEP_MANY, /* as a heap, the farthest on top */
};
struct found {
    uint32_t x, y, count, held;
    uint64_t best[2];
    uint32_t who[2];
    uint32_t *server;  /* [count] */
    uint64_t *squared; /* [count] */
};

static inline __attribute__((always_inline)) void take(struct found *f, const enum keep keep,
                                                       uint64_t squared, uint32_t server) {
    const bool first = nearer(squared, server, f->best[0], f->who[0]);
    if (keep == KEEP_TWO) {
        const bool second = nearer(squared, server, f->best[1], f->who[1]);
        f->best[1] = first ? f->best[0] : second ? squared : f->best[1];
        f->who[1] = first ? f->who[0] : second ? server : f->who[1];
    }
    f->best[0] = first ? squared : f->best[0];
    f->who[0] = first ? server : f->who[0];
}

static void insert(struct found *f, uint64_t squared, uint32_t server) {
    uint32_t at = f->held;
    if (at == f->count) {
        if (!nearer(squared, server, f->squared[at - 1], f->server[at - 1]))
            return;
        at--;
    } else {
        f->held++;
    }
    for (; at > 0 && nearer(squared, server, f->squared[at - 1], f->server[at - 1]); at--) {
        f->squared[at] = f->squared[at - 1];
        f->server[at] = f->server[at - 1];
    }
    f->squared[at] = squared;
    f->server[at] = server;
}

/* Puts a server into the heap of `size`, at `at` or below. */
static void sink(struct found *f, uint32_t at, uint32_t size, uint64_t squared, uint32_t server) {
    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < size; at = (uint32_t)child) {
        if (child + 1 < size && nearer(f->squared[child], f->server[child], f->squared[child + 1],
                                       f->server[child + 1]))
            child++;
        if (!nearer(squared, server, f->squared[child], f->server[child]))
            break;
        f->squared[at] = f->squared[child];
        f->server[at] = f->server[child];
    }
    f->squared[at] = squared;
    f->server[at] = server;
}

static void heap(struct found *f, uint64_t squared, uint32_t server) {
    if (f->held == f->count) {
        if (nearer(squared, server, f->squared[0], f->server[0]))
            sink(f, 0, f->held, squared, server);
        return;
    }
    f->squared[f->held] = squared;
    f->server[f->held] = server;
    if (++f->held == f->count)
        for (uint32_t at = f->held / 2; at-- > 0;)
            sink(f, at, f->held, f->squared[at], f->server[at]);
}

static void sort_heap(struct found *f) {
    for (uint32_t last = f->held; last-- > 1;) {
        const uint64_t squared = f->squared[last];
        const uint32_t server = f->server[last];
        f->squared[last] = f->squared[0];
        f->server[last] = f->server[0];
        sink(f, 0, last, squared, server);
    }
}

/* Whether enough were found, all of them nearer than `gap`. */
static inline bool settled(const struct found *f, enum keep keep, uint64_t gap) {
    if (keep == KEEP_ONE || keep == KEEP_TWO)
        return f->best[keep == KEEP_TWO] < gap * gap;
    return f->held == f->count && f->squared[keep == KEEP_FEW ? f->count - 1 : 0] < gap * gap;
}

/* Members from .. end-1. */
static inline __attribute__((always_inline)) void
meet(const struct sites *s, struct found *f, const enum keep keep, uint32_t from, uint32_t end) {
    for (const struct member *m = s->member + from, *last = s->member + end; m < last; m++) {
        const uint64_t squared = squared_between(m->x - f->x, m->y - f->y, s->wrap);
        if (keep == KEEP_FEW)
            insert(f, squared, m->server);
        else if (keep == KEEP_MANY)
            heap(f, squared, m->server);
        else
            take(f, keep, squared, m->server);
    }
}

/* Columns from .. last of a row, at most all of them, as numbered beyond the borders. */
static inline __attribute__((always_inline)) void visit(const struct sites *s, struct found *f,
                                                        const enum keep keep, int32_t row,
                                                        int32_t from, int32_t last) {
    const int32_t cells = (int32_t)s->cells;
    if (from > last)
        return;
    row += row < 0 ? cells : row >= cells ? -cells : 0;
    const uint32_t *cell = s->cell + (uint64_t)row * s->cells;
    const int32_t turn = last < 0 ? cells : from >= cells ? -cells : 0;
    from += turn;
    last += turn;
    if (from < 0) {
        meet(s, f, keep, cell[from + cells], cell[cells]);
        from = 0;
    } else if (last >= cells) {
        meet(s, f, keep, cell[0], cell[last - cells + 1]);
        last = cells - 1;
    }
    meet(s, f, keep, cell[from], cell[last + 1]);
}

/* The columns, or rows, visited so far around a coordinate. */
struct span {
    uint64_t at;         /* the coordinate, in_cells() */
    int32_t first, last; /* visited */
    int32_t low, high;   /* all there are */
    bool wrap;
};

static inline struct span span_around(const struct sites *s, uint32_t coordinate) {
    const int32_t cells = (int32_t)s->cells;
    struct span p = {.at = in_cells(s, coordinate), .high = cells - 1, .wrap = s->wrap};
    p.first = (int32_t)((p.at + ((uint64_t)1 << (COORDINATE_BITS - 1))) >> COORDINATE_BITS) - 1;
    p.last = p.first + 1;
    if (cells > 1 && s->wrap) {
        p.low = p.first - (cells - 2) / 2;
        p.high = p.low + cells - 1;
    }
    p.first = p.first < p.low ? p.low : p.first;
    p.last = p.last > p.high ? p.high : p.last;
    return p;
}

/* The cells a search begins with: cells[0] and the next, cells[1] and the next; at borders others
 * near them. */
static inline void first_cells(const struct sites *s, uint32_t x, uint32_t y,
                               const uint32_t *cells[2]) {
    const uint64_t half = (uint64_t)1 << (COORDINATE_BITS - 1), last = s->cells - 1;
    const uint64_t column = (in_cells(s, x) + half) >> COORDINATE_BITS,
                   row = (in_cells(s, y) + half) >> COORDINATE_BITS;
    const uint64_t left = column - (column > 0);
    cells[0] = s->cell + (row - (row > 0)) * s->cells + left;
    cells[1] = s->cell + (row < last ? row : last) * s->cells + left;
}

void plane_fetch_cells(const struct sites *s, uint32_t x, uint32_t y) {
    const uint32_t *cells[2];
    first_cells(s, x, y, cells);
    for (unsigned row = 0; row < 2; row++)
        __builtin_prefetch(cells[row]);
}

void plane_fetch_members(const struct sites *s, uint32_t x, uint32_t y) {
    const uint32_t *cells[2];
    first_cells(s, x, y, cells);
    for (unsigned row = 0; row < 2; row++) {
        const struct member *m = s->member + *cells[row];
        __builtin_prefetch(m);
        __builtin_prefetch((const char *)m + 64);
    }
}

static inline struct span wider(struct span p) {
    p.first -= p.first > p.low;
    p.last += p.last < p.high;
    return p;
}

/* How far the nearest cell not visited is, in_cells(); UINT64_MAX: there is none. Round the torus
 * the last column left lies on both sides. */
static inline uint64_t gap_of(struct span p) {
    if (p.first == p.low && p.last == p.high)
        return UINT64_MAX;
    const int64_t unit = (int64_t)1 << COORDINATE_BITS, at = (int64_t)p.at;
    const uint64_t before =
        p.wrap || p.first > p.low ? (uint64_t)(at - p.first * unit) : UINT64_MAX;
    const uint64_t after =
        p.wrap || p.last < p.high ? (uint64_t)((p.last + 1) * unit - at) : UINT64_MAX;
    return before < after ? before : after;
}

static inline __attribute__((always_inline)) void search(const struct sites *s, struct found *f,
                                                         const enum keep keep) {
    struct span across = span_around(s, f->x), down = span_around(s, f->y);
    for (int32_t row = down.first; row <= down.last; row++)
        visit(s, f, keep, row, across.first, across.last);
    for (;;) {
        const uint64_t gap_across = gap_of(across), gap_down = gap_of(down),
                       gap = gap_across < gap_down ? gap_across : gap_down;
        if (gap == UINT64_MAX || settled(f, keep, gap / s->cells))
            return;
        const struct span columns = wider(across), rows = wider(down);
        for (int32_t row = down.first; row <= down.last; row++) {
            visit(s, f, keep, row, columns.first, across.first - 1);
            visit(s, f, keep, row, across.last + 1, columns.last);
        }
        if (rows.first < down.first)
            visit(s, f, keep, rows.first, columns.first, columns.last);
        if (rows.last > down.last)
            visit(s, f, keep, rows.last, columns.first, columns.last);
        across = columns;
        down = rows;
    }
}

static void near_two(const struct sites *s, uint32_t x, uint32_t y, uint32_t *server,
                     uint64_t *squared) {
    struct found f = {
        .x = x, .y = y, .best = {UINT64_MAX, UINT64_MAX}, .who = {UINT32_MAX, UINT32_MAX}};
    search(s, &f, KEEP_TWO);
    memcpy(server, f.who, sizeof f.who);
    memcpy(squared, f.best, sizeof f.best);
}

uint32_t plane_nearest(const struct sites *s, uint32_t x, uint32_t y) {
    struct found f = {.x = x, .y = y, .best = {UINT64_MAX}, .who = {UINT32_MAX}};
    search(s, &f, KEEP_ONE);
    return f.who[0];
}

void plane_near(const struct sites *s, uint32_t x, uint32_t y, uint32_t count, uint32_t *server,
                uint64_t *squared) {
    if (count == 2) {
        near_two(s, x, y, server, squared);
        return;
    }
    struct found f = {.x = x, .y = y, .count = count, .server = server, .squared = squared};
    if (count <= INSERTED_MOST) {
        search(s, &f, KEEP_FEW);
        return;
    }
    search(s, &f, KEEP_MANY);
    sort_heap(&f);
}

static unsigned bucket_bits_for(uint64_t ids) {
    unsigned bits = 1;
    while ((uint64_t)1 << bits < ids)
        bits++;
    return bits;
}

uint64_t arcs_bytes(uint64_t n, uint64_t ids) {
    return sizeof(struct sites) + ids * (sizeof(uint64_t) + sizeof(uint32_t)) +
           (((uint64_t)1 << bucket_bits_for(ids)) + 1) * sizeof(uint32_t) + n * sizeof(uint64_t);
}

static inline uint64_t bucket_of(const struct sites *s, uint64_t position) {
    return position >> (64 - s->bucket_bits);
}

/* Puts the positions into their buckets, which hold few, then each bucket in order. */
static void sort_positions(struct sites *s, const uint64_t *position, const uint32_t *owner) {
    const uint64_t buckets = (uint64_t)1 << s->bucket_bits;
    for (uint64_t j = 0; j < s->ids; j++)
        s->bucket[bucket_of(s, position[j])]++;
    for (uint64_t b = 0; b < buckets; b++)
        s->bucket[b + 1] += s->bucket[b];
    for (uint64_t j = s->ids; j-- > 0;) {
        const uint32_t to = --s->bucket[bucket_of(s, position[j])];
        s->position[to] = position[j];
        s->owner[to] = owner[j];
    }
    for (uint64_t j = 1; j < s->ids; j++) {
        const uint64_t here = s->position[j];
        const uint32_t whose = s->owner[j];
        uint64_t at = j;
        for (; at > 0 && nearer(here, whose, s->position[at - 1], s->owner[at - 1]); at--) {
            s->position[at] = s->position[at - 1];
            s->owner[at] = s->owner[at - 1];
        }
        s->position[at] = here;
        s->owner[at] = whose;
    }
}

struct sites *arcs_new(uint64_t n, uint64_t ids, uint64_t *position, uint32_t *owner) {
    struct sites *s = allocate(1, sizeof *s);
    *s = (struct sites){.n = n, .ids = ids, .bucket_bits = bucket_bits_for(ids)};
    s->position = allocate(ids, sizeof *s->position);
    s->owner = allocate(ids, sizeof *s->owner);
    s->bucket = allocate(((size_t)1 << s->bucket_bits) + 1, sizeof *s->bucket);
    s->share = allocate(n, sizeof *s->share);
    sort_positions(s, position, owner);
    free(position);
    free(owner);
    const bool one_place = s->position[0] == s->position[ids - 1]; /* its arc is the whole circle */
    for (uint64_t j = 0; j < ids; j++) {
        const uint64_t arc = s->position[j] - s->position[j > 0 ? j - 1 : ids - 1];
        uint64_t *share = &s->share[s->owner[j]];
        const bool whole = (one_place && j == 0) || arc > UINT64_MAX - *share;
        *share = whole ? UINT64_MAX : *share + arc;
    }
    return s;
}

uint32_t arcs_successor(const struct sites *s, uint64_t point) {
    uint32_t j = s->bucket[bucket_of(s, point)];
    while (j < s->ids && s->position[j] < point)
        j++;
    return j < s->ids ? j : 0;
}
