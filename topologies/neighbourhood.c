/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of neighbours. */
#include "neighbourhood.h"

#include <math.h>
#include <stdlib.h>

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

uint64_t lists_bytes(const struct space *s, uint64_t reach, bool weighted) {
    if (reach > s->diameter)
        reach = s->diameter;
    double members = 0;
    if (s->form == FORM_GRAPH) {
        members = (double)s->n * fmax(1, space_neighbours_guess(s, reach));
    } else {
        const uint64_t step = (s->n >> 22) + 1; /* a sample of large ones */
        members = (double)lists_members(s, reach, step, (uint64_t)1 << 40) * (double)step;
    }
    if (weighted)
        members += 2 * (double)s->n * (double)reach;
    return (uint64_t)(fmin(members + 2 * (double)s->n + 2, 0x1p60) * sizeof(uint32_t));
}

struct graph *tree_graph(const struct space *s) {
    CHECK(s->form == FORM_TREE);
    struct edges e = {.n = s->n, .n_edges = s->n - 1};
    e.end = allocate(s->n, sizeof *e.end);
    for (uint64_t x = 1; x < s->n; x++) {
        e.end[x - 1][0] = (uint32_t)((x - 1) / s->children);
        e.end[x - 1][1] = (uint32_t)x;
    }
    struct graph *g = graph_new(&e);
    free(e.end);
    return g;
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void sort_shell(uint32_t *member, uint64_t size, uint64_t *bits, uint64_t n) {
    enum { SHORT = 24 };
    if (size <= SHORT) {
        for (uint64_t i = 1; i < size; i++) {
            const uint32_t x = member[i];
            uint64_t j = i;
            for (; j > 0 && member[j - 1] > x; j--)
                member[j] = member[j - 1];
            member[j] = x;
        }
        return;
    }
    if (size < n >> 12) { /* looking through all bits would take longer */
        qsort(member, size, sizeof *member, by_number);
        return;
    }
    for (uint64_t i = 0; i < size; i++)
        bits[member[i] / 64] |= (uint64_t)1 << member[i] % 64;
    for (uint64_t w = 0, i = 0; i < size; w++) {
        for (uint64_t left = bits[w]; left; left &= left - 1)
            member[i++] = (uint32_t)(64 * w + (uint64_t)__builtin_ctzll(left));
        bits[w] = 0;
    }
}

double shells_weight(const struct shell *shell, uint32_t shells) {
    double total = 0;
    for (uint32_t h = 0, before = 0; h < shells; before = shell[h++].end)
        total += (shell[h].end - before) / ((double)(h + 1) * (h + 1));
    return total;
}

uint32_t shells_of(const uint64_t *end, uint32_t reach, bool weighted, struct shell *shell) {
    uint32_t shells = 0;
    for (; shells < reach && end[shells + 1] > end[shells]; shells++)
        shell[shells] = (struct shell){(uint32_t)(end[shells + 1] - 1), UINT32_MAX};
    if (!weighted)
        return shells;
    const double total = shells_weight(shell, shells);
    double sum = 0;
    for (uint32_t h = 0, before = 0; h + 1 < shells; before = shell[h++].end) {
        sum += (shell[h].end - before) / ((double)(h + 1) * (h + 1));
        const double part = sum / total * 0x1p32;
        shell[h].high = part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
    }
    return shells;
}

/* Lists while they are built. */
struct growing {
    struct lists *lists;
    struct search search;
    uint64_t *end;       /* [reach + 1] */
    struct shell *shell; /* [reach + 1] */
    uint64_t *bits;      /* [n / 64 + 1] */
    uint64_t members, shells;
    uint64_t budget; /* bytes */
};

/* An array with room for `needed` elements of some size, and for a few more. */
static void *grown(void *array, uint64_t needed, uint64_t size, uint64_t *room) {
    if (needed <= *room)
        return array;
    *room = needed + needed / 4;
    return reallocate(array, *room, size);
}

/* Appends the list of u; false when there is no room. */
static bool append(struct growing *b, const struct graph *g, uint32_t u) {
    struct lists *l = b->lists;
    uint32_t *queue = b->search.queue[0];
    const uint64_t found = graph_shells(g, &b->search, u, l->reach, b->end);
    const uint32_t shells = shells_of(b->end, l->reach, l->weighted, b->shell);
    const uint64_t members = b->members + found, all = b->shells + (l->weighted ? shells + 1 : 0);
    if (members > INT32_MAX || all > INT32_MAX || shells >> (32 - l->bits) ||
        members * sizeof *l->member + all * sizeof *l->shell > b->budget)
        return false;
    l->member = grown(l->member, members, sizeof *l->member, &l->room[0]);
    l->shell = grown(l->shell, all, sizeof *l->shell, &l->room[1]);
    for (uint32_t h = 0; h < shells; h++) {
        sort_shell(queue + b->end[h], b->end[h + 1] - b->end[h], b->bits, g->n);
        for (uint64_t q = b->end[h]; q < b->end[h + 1]; q++)
            l->member[b->members++] = queue[q] | (h + 1) << l->bits;
        if (l->weighted)
            l->shell[b->shells++] = b->shell[h];
    }
    if (l->self || shells == 0)
        l->member[b->members++] = u;
    if (l->weighted && shells == 0)
        l->shell[b->shells++] = (struct shell){1, UINT32_MAX};
    l->most = l->most > shells ? l->most : shells;
    l->of[u + 1] = (struct list){(uint32_t)b->members, (uint32_t)b->shells};
    return true;
}

bool lists_build(const struct graph *g, uint64_t budget, struct lists *l) {
    const uint64_t n = g->n, fixed = (n + 1) * sizeof *l->of, shells = (uint64_t)l->reach + 1;
    struct growing b = {.lists = l, .budget = budget > fixed ? budget - fixed : 0};
    void *memory = allocate(1, search_bytes(n));
    bool fits = true;
    search_init(&b.search, n, memory);
    b.end = allocate(shells, sizeof *b.end);
    b.shell = allocate(shells, sizeof *b.shell);
    b.bits = allocate(n / 64 + 1, sizeof *b.bits);
    l->bits = n > 1 ? 32u - (unsigned)__builtin_clz((uint32_t)n - 1) : 1;
    l->of = allocate(n + 1, sizeof *l->of);
    l->shell = grown(NULL, 1, sizeof *l->shell, &l->room[1]);
    l->shell[0] = (struct shell){0, 0};
    l->of[0].shell = (uint32_t)(b.shells = 1);
    for (uint64_t u = 0; u < n && fits; u++)
        fits = append(&b, g, (uint32_t)u);
    if (fits)
        l->member = reallocate(l->member, b.members, sizeof *l->member);
    else
        lists_free(l);
    free(b.end);
    free(b.shell);
    free(b.bits);
    free(memory);
    return fits;
}

void lists_free(struct lists *l) {
    free(l->of);
    free(l->member);
    free(l->shell);
    l->of = NULL;
    l->member = NULL;
    l->shell = NULL;
    l->room[0] = l->room[1] = 0;
}
