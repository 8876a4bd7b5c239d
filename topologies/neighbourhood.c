/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of neighbours. */
#include "neighbourhood.h"

#include <stdlib.h>
#include <string.h>

/* From the middle of an unbounded box: every vector a border could leave. */
static void free_shells(const struct space *s, uint64_t reach, uint64_t *shell) {
    struct space wide = *s;
    uint64_t middle = 0;
    if (s->form == FORM_LATTICE && !s->wrap) {
        for (unsigned d = 0; d < s->dims; d++) {
            wide.side[d] = 2 * s->side[d] - 1;
            middle = middle * wide.side[d] + s->side[d] - 1;
        }
    }
    space_shells(&wide, middle, reach, shell);
}

uint64_t offsets_count(const struct space *s, uint64_t reach) {
    if (reach > s->diameter)
        reach = s->diameter;
    if (reach == 0)
        return 0;
    uint64_t *shell = allocate(reach, sizeof *shell), sum = 0;
    free_shells(s, reach, shell);
    for (uint64_t h = 0; h < reach; h++)
        sum += shell[h];
    free(shell);
    return sum;
}

static unsigned offset_columns(const struct space *s) {
    return s->form == FORM_CUBE ? 1 : s->dims;
}

uint64_t offsets_bytes(const struct space *s, uint64_t reach) {
    return offsets_count(s, reach) * sizeof(int32_t) * (1 + offset_columns(s)) +
           (reach + 1) * sizeof(uint32_t);
}

/* Walks all vectors in lexicographic order and drops each into the next free row of its shell. */
struct walk {
    const struct space *s;
    struct offsets *o;
    uint32_t *next; /* per shell */
    int32_t vector[DIMENSIONS_MAX];
};

static void walk_side(struct walk *w, unsigned d, uint32_t spent) {
    if (d == w->s->dims) {
        if (spent == 0)
            return;
        const uint32_t row = w->next[spent - 1]++;
        w->o->hop[row] = spent;
        for (unsigned i = 0; i < d; i++)
            w->o->delta[i][row] = w->vector[i];
        return;
    }
    const int64_t side = w->s->side[d], left = w->o->reach - spent;
    if (!w->s->wrap) {
        const int64_t far = left < side - 1 ? left : side - 1;
        for (int64_t x = -far; x <= far; x++) {
            w->vector[d] = (int32_t)x;
            walk_side(w, d + 1, spent + (uint32_t)(x < 0 ? -x : x));
        }
        return;
    }
    for (int64_t x = 0; x < side; x++) {
        const int64_t hops = x < side - x ? x : side - x;
        if (hops > left) {
            x = side - left - 1; /* to the first residue that is near from the other end */
            if (left == 0)
                break;
            continue;
        }
        w->vector[d] = (int32_t)x;
        walk_side(w, d + 1, spent + (uint32_t)hops);
    }
}

/* Masks of each number of bits in rising order, the next one by carrying the lowest run of ones
 * (Gosper, HAKMEM 175): far fewer than all masks when the reach is small. */
static void cube_masks(const struct space *s, struct offsets *o, uint32_t *next) {
    for (uint32_t hops = 1; hops <= o->reach; hops++)
        for (uint64_t mask = ((uint64_t)1 << hops) - 1; mask < s->n;) {
            o->hop[next[hops - 1]] = hops;
            o->delta[0][next[hops - 1]++] = (int32_t)mask;
            const uint64_t lowest = mask & -mask, carried = mask + lowest;
            mask = carried | ((mask ^ carried) / lowest) >> 2;
        }
}

void offsets_build(const struct space *s, uint64_t reach, struct offsets *o) {
    if (reach > s->diameter)
        reach = s->diameter;
    *o = (struct offsets){.count = (uint32_t)offsets_count(s, reach), .reach = (uint32_t)reach};
    o->first = allocate(reach + 1, sizeof *o->first);
    o->hop = allocate(o->count + 1u, sizeof *o->hop);
    for (unsigned d = 0; d < offset_columns(s); d++)
        o->delta[d] = allocate(o->count + 1u, sizeof *o->delta[d]);
    if (reach == 0)
        return;
    uint64_t *shell = allocate(reach, sizeof *shell);
    uint32_t *next = allocate(reach, sizeof *next);
    free_shells(s, reach, shell);
    for (uint64_t h = 0; h < reach; h++) {
        o->first[h + 1] = o->first[h] + (uint32_t)shell[h];
        next[h] = o->first[h];
    }
    if (s->form == FORM_CUBE)
        cube_masks(s, o, next);
    else
        walk_side(&(struct walk){.s = s, .o = o, .next = next}, 0, 0);
    for (uint64_t h = 0; h < reach; h++)
        CHECK(next[h] == o->first[h + 1]);
    free(shell);
    free(next);
}

void offsets_free(struct offsets *o) {
    free(o->first);
    free(o->hop);
    for (unsigned d = 0; d < DIMENSIONS_MAX; d++)
        free(o->delta[d]);
    *o = (struct offsets){0};
}

/* Breadth-first search in a tree by formula. */
struct search {
    const struct space *s;
    uint32_t *queue;   /* [n] */
    uint32_t *visited; /* [n]: number of the last search that saw the vertex */
    uint32_t round;
};

static void visit(struct search *b, uint64_t v, uint64_t *tail) {
    if (b->visited[v] == b->round)
        return;
    b->visited[v] = b->round;
    b->queue[(*tail)++] = (uint32_t)v;
}

/* Fills the queue with u and then its shells; shell[h] is where distance h+1 ends. */
static void search_from(struct search *b, uint64_t u, uint64_t reach, uint64_t *shell_end) {
    const uint64_t n = b->s->n, children = b->s->children;
    uint64_t head = 0, tail = 0;
    b->round++;
    visit(b, u, &tail);
    for (uint64_t h = 0; h < reach; h++) {
        for (const uint64_t end = tail; head < end; head++) {
            const uint64_t x = b->queue[head];
            if (x > 0)
                visit(b, (x - 1) / children, &tail);
            for (uint64_t c = children * x + 1; c <= children * x + children && c < n; c++)
                visit(b, c, &tail);
        }
        shell_end[h] = tail;
    }
}

static void search_init(struct search *b, const struct space *s) {
    CHECK(s->form == FORM_TREE);
    *b = (struct search){.s = s,
                         .queue = allocate(s->n, sizeof *b->queue),
                         .visited = allocate(s->n, sizeof *b->visited)};
}

static void search_free(struct search *b) {
    free(b->queue);
    free(b->visited);
}

/* Servers of the subtree of x at most `depth` levels below it. */
static uint64_t below(const struct space *s, uint64_t x, uint64_t depth) {
    uint64_t first = x, last = x, sum = 0;
    for (uint64_t d = 0; d <= depth && first < s->n; d++) {
        sum += (last < s->n ? last : s->n - 1) - first + 1;
        first = first * s->children + 1;
        last = last * s->children + s->children;
    }
    return sum;
}

/* Sum over every step-th server of the number of servers at distance 1..reach, counted by formula;
 * stops beyond `enough`. */
static uint64_t lists_members(const struct space *s, uint64_t reach, uint64_t step,
                              uint64_t enough) {
    CHECK(s->form == FORM_TREE && s->children >= 2);
    uint64_t sum = 0;
    for (uint64_t u = 0; u < s->n && sum <= enough; u += step) {
        sum += below(s, u, reach) - 1;
        /* Above: everything under the i-th ancestor that is not under the one before it. */
        for (uint64_t i = 1, child = u; i <= reach && child > 0; i++) {
            const uint64_t parent = (child - 1) / s->children;
            sum += below(s, parent, reach - i) - (reach > i ? below(s, child, reach - i - 1) : 0);
            child = parent;
        }
    }
    return sum;
}

uint64_t lists_bytes(const struct space *s, uint64_t reach) {
    if (reach > s->diameter)
        reach = s->diameter;
    const uint64_t enough = (uint64_t)1 << 40, step = (s->n >> 22) + 1; /* a sample of large ones */
    return lists_members(s, reach, step, enough) * step * sizeof(uint32_t) +
           (s->n * reach + 1) * sizeof(uint64_t);
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void lists_build(const struct space *s, uint64_t reach, struct lists *l) {
    if (reach > s->diameter)
        reach = s->diameter;
    *l = (struct lists){.reach = (uint32_t)reach};
    l->first = allocate(s->n * reach + 1, sizeof *l->first);
    l->member = allocate(lists_members(s, reach, 1, UINT64_MAX) + 1, sizeof *l->member);
    struct search b;
    search_init(&b, s);
    uint64_t *end = allocate(reach, sizeof *end), at = 0;
    for (uint64_t u = 0; u < s->n; u++) {
        search_from(&b, u, reach, end);
        uint64_t from = 1; /* the queue begins with u itself */
        for (uint64_t h = 0; h < reach; h++) {
            l->first[u * reach + h] = at;
            memcpy(l->member + at, b.queue + from, (end[h] - from) * sizeof *l->member);
            qsort(l->member + at, end[h] - from, sizeof *l->member, by_number);
            at += end[h] - from;
            from = end[h];
        }
    }
    l->first[s->n * reach] = at;
    CHECK(at == lists_members(s, reach, 1, UINT64_MAX));
    free(end);
    search_free(&b);
}

void lists_free(struct lists *l) {
    free(l->first);
    free(l->member);
    *l = (struct lists){0};
}
