/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random neighbours, a block at a time. */
#include "near.h"
#include "distance.h"
#include "wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows whose alias fits in sixteen bits. */
enum { PACKED_ROWS = 1 << 16 };

/* Rows that fit in two vector registers: looking them up there is a third cheaper than gathering. */
enum { TINY_ROWS = 32 };

static enum near_form near_form_of(const struct space *space, uint64_t reach, bool weighted) {
    if (space->form == FORM_GRAPH)
        return NEAR_GRAPH;
    if (space->n == 1)
        return NEAR_NOBODY;
    if (space->form == FORM_COMPLETE || (!weighted && reach >= space->diameter))
        return NEAR_EVERYBODY;
    if (space->form == FORM_TREE)
        return NEAR_GRAPH;
    if (space->form == FORM_CUBE)
        return NEAR_CUBE;
    return space->wrap && space->dims == 1 ? NEAR_RING : NEAR_LATTICE;
}

void ISA(near_examine)(const struct space *space, uint64_t reach, bool weighted, uint64_t budget,
                       struct sampler_facts *facts) {
    static const char *const how[] = {[NEAR_NOBODY] = "no neighbours",
                                      [NEAR_EVERYBODY] = "everybody",
                                      [NEAR_RING] = "ring formula",
                                      [NEAR_LATTICE] = "one table of offsets",
                                      [NEAR_CUBE] = "one table of masks"};
    const enum near_form form = near_form_of(space, reach, weighted);
    if (reach > space->diameter)
        reach = space->diameter;
    if (form == NEAR_GRAPH) {
        ISA(near_graph_examine)(space, reach, weighted, budget, facts);
        return;
    }
    const bool table = form == NEAR_LATTICE || form == NEAR_CUBE;
    uint64_t bytes = 0;
    if (table)
        bytes = offsets_bytes(space, reach);
    const bool alias = weighted && (table || form == NEAR_RING);
    const uint64_t rows = alias ? offsets_count(space, reach) : 0;
    *facts = (struct sampler_facts){.bytes = bytes + 16 * rows, .making = 12 * rows, .draws = 1};
    facts->nanoseconds = form == NEAR_RING || form == NEAR_EVERYBODY ? 3.5 : 5;
    snprintf(facts->how, sizeof facts->how, "%s%s", how[form], weighted ? ", alias" : "");
}

/* Alias tables for weights 1/hop^2, in an order that depends on the weights alone. */
static void build_alias(struct near *near, const uint32_t *hop) {
    const uint32_t rows = near->rows;
    double *share = allocate(rows, sizeof *share), total = 0;
    uint32_t *small = allocate(rows, sizeof *small), *large = allocate(rows, sizeof *large),
             n_small = 0, n_large = 0;
    near->threshold = allocate(rows, sizeof *near->threshold);
    near->threshold_high = allocate(rows, sizeof *near->threshold_high);
    near->alias = allocate(rows, sizeof *near->alias);
    for (uint32_t j = 0; j < rows; j++)
        total += 1.0 / ((double)hop[j] * hop[j]);
    for (uint32_t j = 0; j < rows; j++) {
        share[j] = rows / ((double)hop[j] * hop[j] * total);
        if (share[j] < 1)
            small[n_small++] = j;
        else
            large[n_large++] = j;
        near->threshold[j] = UINT64_MAX;
        near->alias[j] = j;
    }
    while (n_small > 0 && n_large > 0) {
        const uint32_t s = small[--n_small], l = large[n_large - 1];
        near->threshold[s] = probability_bits(share[s]);
        near->alias[s] = l;
        share[l] -= 1 - share[s];
        if (share[l] < 1) {
            n_large--;
            small[n_small++] = l;
        }
    }
    for (uint32_t j = 0; j < rows; j++)
        near->threshold_high[j] = (uint32_t)(near->threshold[j] >> 32);
    if (rows <= PACKED_ROWS) {
        near->packed = allocate(rows + TINY_ROWS, sizeof *near->packed); /* read in whole vectors */
        for (uint32_t j = 0; j < rows; j++)
            near->packed[j] = (near->threshold_high[j] & 0xffff0000u) | near->alias[j];
    }
    free(share);
    free(small);
    free(large);
}

static void prepare_weights(struct near *near) {
    if (near->form != NEAR_RING) {
        build_alias(near, near->offsets.hop);
        return;
    }
    uint32_t *hop = allocate(near->rows, sizeof *hop);
    for (uint32_t j = 0; j < near->rows; j++)
        hop[j] = j / 2 + 1;
    build_alias(near, hop);
    free(hop);
}

/* Rows of a small box of two sides in one word each: move along side 0 (12 bits), along side 1 (12
 * bits), distance (8 bits). */
static void pack_moves(const struct space *space, struct near *near) {
    const struct offsets *o = &near->offsets;
    if (space->dims != 2 || space->side[0] > 2048 || space->side[1] > 2048 || o->reach > 255)
        return;
    near->moves = allocate(near->rows, sizeof *near->moves);
    for (uint32_t j = 0; j < near->rows; j++)
        near->moves[j] = ((uint32_t)o->delta[0][j] & 0xfff) << 20 |
                         ((uint32_t)o->delta[1][j] & 0xfff) << 8 | o->hop[j];
}

void ISA(near_prepare)(struct sampler *s, uint64_t reach, bool self, bool weighted) {
    struct near *near = allocate(1, sizeof *near);
    if (reach > s->space.diameter)
        reach = s->space.diameter;
    near->form = near_form_of(&s->space, reach, weighted);
    near->self = self;
    near->weighted = weighted && near->form != NEAR_EVERYBODY && near->form != NEAR_NOBODY;
    s->near = near;
    s->candidates = 2;
    s->origin_first = true;
    s->gives_hop = near->form != NEAR_EVERYBODY;
    s->draws = 1;
    s->reach = reach;
    switch (near->form) {
    case NEAR_NOBODY:
        s->range[0] = 1;
        return;
    case NEAR_EVERYBODY:
        s->range[0] = s->n - !self;
        return;
    case NEAR_RING:
        near->rows = (uint32_t)(2 * reach < s->n ? 2 * reach : s->n - 1) + self;
        break;
    case NEAR_LATTICE:
    case NEAR_CUBE:
        offsets_build(&s->space, reach, &near->offsets);
        near->rows = near->offsets.count + self; /* the row after the last is all zero */
        if (near->form == NEAR_LATTICE)
            pack_moves(&s->space, near);
        break;
    case NEAR_GRAPH:
        near->graph.self = self;
        near->graph.weighted = weighted;
        ISA(near_graph_prepare)(s, &near->graph, reach);
        return;
    default:
        return;
    }
    if (near->weighted)
        prepare_weights(near);
    else
        s->range[0] = near->rows;
}

void ISA(near_free)(struct near *near) {
    if (!near)
        return;
    offsets_free(&near->offsets);
    ISA(near_graph_free)(&near->graph);
    free(near->threshold);
    free(near->threshold_high);
    free(near->alias);
    free(near->packed);
    free(near->ends);
    free(near->moves);
    free(near);
}

void ISA(near_anybody)(const struct sampler *s, struct stream stream, struct block *b) {
    uint32_t *restrict v = b->candidate[1] = b->raw[0];
    const uint32_t *restrict u = b->candidate[0] = b->origin, size = b->size;
    (void)stream;
    if (s->n == 1) {
        memset(v, 0, size * sizeof *v);
        return;
    }
#pragma omp simd
    for (uint64_t i = 0; i < size; i++)
        v[i] += v[i] >= u[i];
}

/* The row of a 64-bit fraction x: exact to 2^-64. */
static uint32_t row_of(const struct near *near, uint64_t x) {
    const uint128 product = (uint128)x * near->rows;
    const uint32_t j = (uint32_t)(product >> 64);
    return (uint64_t)product < near->threshold[j] ? j : near->alias[j];
}

static uint64_t fraction(struct stream stream, enum purpose purpose, uint32_t lane, uint64_t i) {
    return (uint64_t)rng_word(stream, purpose, lane, i) << 32 |
           rng_word(stream, purpose, lane + 1, i);
}

/* Words become rows by the alias method. The high word decides unless a boundary lies within its
 * last bit; with packed tables, unless its fraction has the sixteen leading bits of the threshold.
 * Returns bits of the jobs that are still open. */
static uint64_t weigh_packed(const struct near *near, uint32_t *restrict r) {
    const uint32_t rows = near->rows, *restrict packed = near->packed;
    uint32_t open[CHUNK];
    uint64_t bits = 0;
    uint32_t some = 0;
#pragma omp simd reduction(| : some)
    for (uint64_t i = 0; i < CHUNK; i++) {
        const uint64_t product = (uint64_t)r[i] * rows;
        const uint32_t j = (uint32_t)(product >> 32), f = (uint32_t)product;
        const uint32_t entry = packed[(int32_t)j], limit = entry & 0xffff0000u;
        open[i] = (uint32_t)(f + rows - limit < rows + 0x10000u) | (uint32_t)(f + rows < rows);
        some |= open[i];
        r[i] = f < limit ? j : entry & 0xffff;
    }
    for (uint64_t i = 0; some && i < CHUNK; i++)
        bits |= (uint64_t)open[i] << i;
    return bits;
}

#ifdef __AVX512F__
/* weigh_packed() with the table in registers. */
static uint64_t weigh_tiny(const struct near *near, uint32_t *r) {
    const __m512i rows = _mm512_set1_epi32((int)near->rows);
    const __m512i table0 = _mm512_loadu_si512(near->packed);
    const __m512i table1 = _mm512_loadu_si512(near->packed + 16);
    const __m512i high = _mm512_set1_epi32((int)0xffff0000u);
    uint64_t open = 0;
    for (unsigned i = 0; i < CHUNK; i += 16) {
        const __m512i word = _mm512_loadu_si512(r + i);
        const __m512i even = _mm512_mul_epu32(word, rows);
        const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(word, 32), rows);
        const __m512i j = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
        const __m512i f = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
        const __m512i entry = _mm512_permutex2var_epi32(table0, j, table1);
        const __m512i limit = _mm512_and_si512(entry, high), end = _mm512_add_epi32(f, rows);
        const __mmask16 near_limit = _mm512_cmplt_epu32_mask(
            _mm512_sub_epi32(end, limit), _mm512_add_epi32(rows, _mm512_set1_epi32(0x10000)));
        const __mmask16 stays = _mm512_cmplt_epu32_mask(f, limit);
        open |= (uint64_t)(near_limit | _mm512_cmplt_epu32_mask(end, rows)) << i;
        _mm512_storeu_si512(r + i,
                            _mm512_mask_blend_epi32(stays, _mm512_andnot_si512(high, entry), j));
    }
    return open;
}
#endif

static uint64_t weigh_wide(const struct near *near, uint32_t *restrict r) {
    const uint32_t rows = near->rows, *restrict high = near->threshold_high,
                   *restrict alias = near->alias;
    uint64_t bits = 0;
    for (uint64_t i = 0; i < CHUNK; i++) {
        const uint64_t product = (uint64_t)r[i] * rows;
        const uint32_t j = (uint32_t)(product >> 32), f = (uint32_t)product;
        const uint32_t limit = high[j], other = alias[j];
        bits |= (uint64_t)((limit - f < rows) | (f + rows < rows)) << i;
        r[i] = f < limit ? j : other;
    }
    return bits;
}

static void weigh(const struct near *near, struct stream stream, const struct block *b,
                  uint32_t *row) {
    for (uint32_t at = 0; at < b->size; at += CHUNK) {
        uint64_t open;
#ifdef __AVX512F__
        if (near->rows <= TINY_ROWS)
            open = weigh_tiny(near, row + at);
        else
#endif
            open = near->packed ? weigh_packed(near, row + at) : weigh_wide(near, row + at);
        for (; open; open &= open - 1) {
            const uint32_t i = at + (uint32_t)__builtin_ctzll(open);
            row[i] = row_of(near, fraction(stream, PURPOSE_CANDIDATE, 0, b->first + i));
        }
    }
}

/* Rows 0, 1, 2, 3 .. are +1, -1, +2, -2 ..; `self` is the row after the last. */
static void apply_ring(const struct sampler *s, struct block *b) {
    const uint32_t n = s->n, self = s->near->self ? s->near->rows - 1 : UINT32_MAX;
    const uint32_t *restrict u = b->origin;
    uint32_t *restrict v = b->candidate[1], *restrict hop = b->hop;
    const uint32_t size = b->size;
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t j = v[i], apart = j == self ? 0 : j / 2 + 1;
        const uint32_t to = u[i] + (j & 1 && j != self ? n - apart : apart);
        hop[i] = apart;
        v[i] = to >= n ? to - n : to;
    }
}

/* One side of a box, for a block of jobs. */
struct side {
    uint32_t length, stride; /* stride: from one server to the next along this side */
    struct divisor by;
    const int32_t *delta;
};

/* Moves every job along one side by its row and takes the coordinate off `rest`; or-s into `out`
 * who left the box. */
static inline __attribute__((always_inline)) void
move_along(struct side side, const bool wrap, uint32_t size, const uint32_t *restrict row,
           uint32_t *restrict rest, uint32_t *restrict v, uint32_t *restrict out) {
    const uint32_t length = side.length, stride = side.stride;
    const int32_t *restrict delta = side.delta;
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t q = quotient(rest[i], side.by);
        uint32_t x = rest[i] - q * length + (uint32_t)delta[(int32_t)row[i]];
        if (wrap)
            x = x >= length ? x - length : x;
        else
            out[i] |= x >= length;
        v[i] += x * stride;
        rest[i] = q;
    }
}

/* Moves every origin of a small box of two sides by its row. */
static inline __attribute__((always_inline)) void apply_box(const struct sampler *s,
                                                            const bool wrap, struct block *b,
                                                            const uint32_t *restrict row,
                                                            uint32_t *restrict out) {
    const uint32_t size = b->size, length0 = s->space.side[0], length1 = s->space.side[1];
    const uint32_t *restrict u = b->origin, *restrict moves = s->near->moves;
    uint32_t *restrict v = b->candidate[1], *restrict hop = b->hop;
    const struct divisor by = divide_by(length1);
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t move = moves[(int32_t)row[i]], q = quotient(u[i], by);
        uint32_t x = q + (wrap ? move >> 20 : (uint32_t)((int32_t)move >> 20));
        uint32_t y = u[i] - q * length1 +
                     (wrap ? move >> 8 & 0xfff : (uint32_t)((int32_t)(move << 12) >> 20));
        if (wrap) {
            x = x >= length0 ? x - length0 : x;
            y = y >= length1 ? y - length1 : y;
        } else {
            out[i] = (uint32_t)(x >= length0) | (uint32_t)(y >= length1);
        }
        v[i] = x * length1 + y;
        hop[i] = move & 0xff;
    }
}

/* Moves every origin by its row, one side of the box after the other; out[i] tells who left a box
 * with borders. */
static void apply_sides(const struct sampler *s, struct block *b, const uint32_t *restrict row,
                        uint32_t *restrict out) {
    const struct offsets *o = &s->near->offsets;
    const uint32_t size = b->size, *restrict hops = o->hop;
    uint32_t *restrict hop = b->hop, stride = 1;
    memcpy(b->scratch, b->origin, size * sizeof *b->scratch);
    memset(b->candidate[1], 0, size * sizeof *b->candidate[1]);
    memset(out, 0, size * sizeof *out);
    for (unsigned d = s->space.dims; d-- > 0;) {
        const uint32_t length = s->space.side[d];
        const struct side side = {length, stride, divide_by(length), o->delta[d]};
        if (s->space.wrap)
            move_along(side, true, size, row, b->scratch, b->candidate[1], out);
        else
            move_along(side, false, size, row, b->scratch, b->candidate[1], out);
        stride *= length;
    }
#pragma omp simd
    for (uint64_t i = 0; i < size; i++)
        hop[i] = hops[(int32_t)row[i]];
}

/* One job beyond a border: rows from BORDER words until one lies inside. */
static void retry_inside(const struct sampler *s, struct stream stream, struct block *b,
                         uint32_t i) {
    const struct near *near = s->near;
    for (uint32_t attempt = 0;; attempt++) {
        CHECK(attempt < 1000000);
        const uint32_t j =
            near->weighted
                ? row_of(near, fraction(stream, PURPOSE_BORDER, 2 * attempt, b->first + i))
                : rng_below(stream, PURPOSE_BORDER, attempt, b->first + i, near->rows);
        uint32_t rest = b->origin[i], to = 0, stride = 1;
        bool inside = true;
        for (unsigned d = s->space.dims; d-- > 0;) {
            const uint32_t side = s->space.side[d],
                           x = rest % side + (uint32_t)near->offsets.delta[d][j];
            inside = inside && x < side;
            to += x * stride;
            stride *= side;
            rest /= side;
        }
        if (inside) {
            b->candidate[1][i] = to;
            b->hop[i] = near->offsets.hop[j];
            return;
        }
    }
}

static void choose_lattice(const struct sampler *s, struct stream stream, struct block *b) {
    uint32_t row[BLOCK], out[BLOCK];
    memcpy(row, b->candidate[1], b->size * sizeof *row);
    if (!s->near->moves)
        apply_sides(s, b, row, out);
    else if (s->space.wrap)
        apply_box(s, true, b, row, out);
    else
        apply_box(s, false, b, row, out);
    for (uint32_t i = 0; i < b->size && !s->space.wrap; i++)
        if (out[i])
            retry_inside(s, stream, b, i);
}

static void choose_cube(const struct sampler *s, struct block *b) {
    const int32_t *restrict mask = s->near->offsets.delta[0];
    const uint32_t *restrict u = b->origin, *restrict hops = s->near->offsets.hop, size = b->size;
    uint32_t *restrict v = b->candidate[1], *restrict hop = b->hop;
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        hop[i] = hops[(int32_t)v[i]];
        v[i] = u[i] ^ (uint32_t)mask[(int32_t)v[i]];
    }
}

void ISA(near_choose)(const struct sampler *s, struct stream stream, struct block *b) {
    const struct near *near = s->near;
    b->candidate[0] = b->origin;
    b->candidate[1] = b->raw[0];
    if (near->weighted && near->form != NEAR_GRAPH)
        weigh(near, stream, b, b->raw[0]);
    switch (near->form) {
    case NEAR_NOBODY:
        memset(b->hop, 0, b->size * sizeof *b->hop);
        return;
    case NEAR_EVERYBODY:
        if (!near->self)
            ISA(near_anybody)(s, stream, b);
        return;
    case NEAR_RING:
        apply_ring(s, b);
        return;
    case NEAR_LATTICE:
        choose_lattice(s, stream, b);
        return;
    case NEAR_CUBE:
        choose_cube(s, b);
        return;
    case NEAR_GRAPH:
        ISA(near_graph_choose)(s, &near->graph, stream, b);
        return;
    }
}
