/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random neighbours on graphs edge by edge. */
#include "near_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members of all lists of one graph, up to which they are always worth their memory (a quarter of a
 * gigabyte). */
#define LISTS_SMALL 0x1p26

/* What a thread keeps in block.memory. */
struct seeker {
    struct search search;
    uint64_t *end;        /* [reach + 1]: shells of a search, */
    struct shell *shell;  /* [reach + 1]: the same as lists have them, */
    uint8_t *sorted;      /* [reach + 1]: and whether they are sorted */
    uint64_t *bits;       /* [n / 64 + 1] */
    uint64_t from, until; /* jobs of the window; BY_SEARCHES, as the rest: */
    uint32_t *origin;     /* [window] */
    uint32_t *word[2];    /* [window]: candidate slots; then the candidates and their distances */
    uint32_t *order;      /* [window]: jobs by origin */
    uint32_t *first;      /* [n + 1]: those of origin u are order[first[u]] .. */
};

/* The words of one job: `slot0` and `slot1` are made already. */
struct job {
    struct stream stream;
    enum purpose purpose;
    uint32_t lane; /* of slot 0 */
    uint64_t number;
    uint32_t slot0, slot1;
};

/* The parts of a seeker; returns how many bytes they take together. */
enum part { SEEKER, SEARCH, END, SHELL, SORTED, BITS, ORIGIN, WORD0, WORD1, ORDER, FIRST, PARTS };

static uint64_t parts_of(const struct near_graph *g, uint64_t n, uint64_t *bytes) {
    const uint64_t shells = (uint64_t)g->reach + 1, jobs = g->window * sizeof(uint32_t);
    uint64_t sum = 0;
    if (g->way == BY_LISTS)
        return 0;
    bytes[SEEKER] = sizeof(struct seeker);
    bytes[SEARCH] = search_bytes(n);
    bytes[END] = shells * sizeof(uint64_t);
    bytes[SHELL] = shells * sizeof(struct shell);
    bytes[SORTED] = shells;
    bytes[BITS] = (n / 64 + 1) * sizeof(uint64_t);
    for (unsigned p = ORIGIN; p <= ORDER; p++)
        bytes[p] = jobs;
    bytes[FIRST] = jobs ? (n + 1) * sizeof(uint32_t) : 0;
    for (unsigned p = 0; p < PARTS; p++)
        sum += bytes[p] = (bytes[p] + 15) / 16 * 16;
    return sum;
}

/* The seeker in zeroed memory, or as it was left there. */
static struct seeker *seeker_in(void *memory, const struct near_graph *g) {
    struct seeker *k = memory;
    uint64_t bytes[PARTS];
    void *part[PARTS];
    char *at = memory;
    if (k->end)
        return k;
    parts_of(g, g->graph->n, bytes);
    for (unsigned p = 0; p < PARTS; at += bytes[p++])
        part[p] = at;
    search_init(&k->search, g->graph->n, part[SEARCH]);
    k->end = part[END];
    k->shell = part[SHELL];
    k->sorted = part[SORTED];
    k->bits = part[BITS];
    k->origin = part[ORIGIN];
    k->word[0] = part[WORD0];
    k->word[1] = part[WORD1];
    k->order = part[ORDER];
    k->first = part[FIRST];
    return k;
}

/* What is known of neighbourhoods: means over some origins. */
struct crowd {
    double neighbours, weight; /* N, W */
    double half;               /* H */
    uint64_t depth;            /* guessed: hops to the farthest neighbour */
};

static bool rejecting(const struct space *space, const struct crowd *c) {
    const double n = (double)space->n;
    if (space->form != FORM_GRAPH || (!space->fresh && n * c->neighbours <= LISTS_SMALL))
        return false;
    return c->weight > 0 && n / c->weight * (WORTH + 4 * c->half) <= c->neighbours;
}

static uint64_t window_of(uint64_t n, uint64_t jobs) {
    const uint64_t most = n > 65536 ? n : 65536;
    return ((jobs > 0 && jobs < most ? jobs : most) + BLOCK - 1) / BLOCK * BLOCK;
}

/* The same guessed. */
static struct crowd guess_crowd(const struct space *space, uint64_t reach, bool weighted) {
    enum { FAR = 1000 };
    struct crowd c = {.depth = reach};
    if (space->form == FORM_TREE) {
        c.neighbours =
            (double)(lists_bytes(space, reach, false) / sizeof(uint32_t)) / (double)space->n;
        return c;
    }
    c.depth = 0;
    for (uint64_t h = 1; h <= reach && h <= FAR; h++) {
        const double within = space_neighbours_guess(space, h), more = within - c.neighbours;
        if (more < 0.5)
            break;
        c.depth = h;
        c.neighbours = within;
        c.half += more * (h > 1 ? space_neighbours_guess(space, h / 2) : 0);
        c.weight += weighted ? more / ((double)h * (double)h) : more;
    }
    c.half /= c.neighbours > 0 ? c.neighbours : 1;
    return c;
}

void ISA(near_graph_examine)(const struct space *space, uint64_t reach, bool weighted,
                             uint64_t budget, struct sampler_facts *f) {
    const bool tree = space->form == FORM_TREE;
    struct near_graph g = {.reach = (uint32_t)reach, .way = BY_SEARCHES};
    const struct crowd c = guess_crowd(space, reach, weighted);
    uint64_t bytes[PARTS];
    *f = (struct sampler_facts){.draws = weighted ? 2 : 1};
    const uint64_t lists = lists_bytes(space, c.depth, weighted);
    const uint64_t own = tree ? graph_bytes(space->n, space->n) : 0;
    if (rejecting(space, &c)) {
        g.way = BY_REJECTION;
        f->bytes = ISA(hops_bytes)(space, budget);
        /* Most weighted attempts need to look around one or two hops only. */
        const double attempts = (double)space->n / c.weight,
                     search = ISA(hops_nanoseconds)(space, budget);
        f->nanoseconds =
            weighted ? attempts * (20 + search / 40) + 1.5 * search : attempts * (20 + search);
        snprintf(f->how, sizeof f->how, "uniform draws, checked by %s",
                 f->bytes ? "a table of distances" : "two-sided searches");
    } else if (!space->fresh && lists <= budget) {
        g.way = BY_LISTS;
        f->bytes = lists;
        f->making = own + lists / 4 + search_bytes(space->n);
        f->nanoseconds = (weighted ? 5 : 4) * (lists > (uint64_t)1 << 22 ? 3 : 1);
        snprintf(f->how, sizeof f->how, "lists sorted by distance");
    } else {
        g.window = window_of(space->n, 0);
        f->bytes = own;
        f->nanoseconds = 50 + (4 + 0.9 * (tree ? 2 : space->mean_degree)) * c.neighbours *
                                  (space->n > 300000 ? 6 : 1);
        snprintf(f->how, sizeof f->how, "one search per origin");
    }
    f->memory = parts_of(&g, space->n, bytes);
}

/* Adds one origin in `probes` to the means. */
static void add_probe(struct crowd *c, const struct shell *shell, uint32_t shells, bool weighted,
                      double probes) {
    const double neighbours = shells ? shell[shells - 1].end : 0;
    double half = 0;
    for (uint32_t h = 1; h < shells; h++) /* distance h + 1 */
        half += (double)(shell[h].end - shell[h - 1].end) * shell[(h + 1) / 2 - 1].end;
    c->neighbours += neighbours / probes;
    c->weight += (weighted ? shells_weight(shell, shells) : neighbours) / probes;
    c->half += shells ? half / neighbours / probes : 0;
}

/* Searches from PROBES origins, spread evenly. */
static struct crowd probe_crowd(const struct near_graph *g) {
    const uint64_t n = g->graph->n, probes = n < PROBES ? n : PROBES;
    struct crowd c = {0};
    uint64_t *end = allocate((uint64_t)g->reach + 1, sizeof *end);
    struct shell *shell = allocate((uint64_t)g->reach + 1, sizeof *shell);
    void *memory = allocate(1, search_bytes(n));
    struct search search;
    search_init(&search, n, memory);
    for (uint64_t i = 0; i < probes; i++) {
        graph_shells(g->graph, &search, (uint32_t)((2 * i + 1) * n / (2 * probes)), g->reach, end);
        const uint32_t shells = shells_of(end, g->reach, false, shell);
        add_probe(&c, shell, shells, g->weighted, (double)probes);
    }
    free(memory);
    free(shell);
    free(end);
    return c;
}

/* A table of distances is worth its making when it replaces enough searches. */
static void prepare_rejection(struct sampler *s, struct near_graph *g, const struct crowd *c) {
    const double n = s->n, attempts = ceil(n / c->weight);
    struct space space = s->space;
    g->way = BY_REJECTION;
    g->attempts = 64 + 16 * (uint32_t)attempts;
    space.fresh = space.fresh && (double)g->jobs * attempts * (WORTH + 4 * c->half) < n * n;
    ISA(hops_prepare)(&g->hops, &space, s->budget);
}

void ISA(near_graph_prepare)(struct sampler *s, struct near_graph *g, uint64_t reach) {
    const bool tree = s->space.form == FORM_TREE;
    uint64_t bytes[PARTS];
    g->own = tree ? tree_graph(&s->space) : NULL;
    g->graph = tree ? g->own : s->space.graph;
    g->reach = (uint32_t)reach;
    g->jobs = s->jobs;
    const struct crowd c = probe_crowd(g);
    s->reach = reach;
    s->draws = g->weighted ? 2 : 1;
    s->gives_hop = true;
    g->lists = (struct lists){.reach = g->reach, .self = g->self, .weighted = g->weighted};
    g->window = window_of(s->n, s->jobs);
    if (rejecting(&s->space, &c)) {
        g->window = 0;
        prepare_rejection(s, g, &c);
    } else {
        const bool worth = !s->space.fresh || s->jobs >= 2 * g->window;
        g->way = worth && lists_build(g->graph, s->budget, &g->lists) ? BY_LISTS : BY_SEARCHES;
        if (g->way == BY_LISTS) {
            graph_free(g->own);
            g->own = NULL;
        }
    }
    s->memory = parts_of(g, s->n, bytes);
}

void ISA(near_graph_free)(struct near_graph *g) {
    graph_free(g->own);
    lists_free(&g->lists);
    ISA(hops_free)(&g->hops);
}

static uint32_t slot_below(const struct job *j, uint32_t size) {
    return rng_below_from(j->stream, j->purpose, j->lane, j->number, j->slot0, size);
}

/* The shell (from 0) that a job's fraction falls into. */
static uint32_t shell_exactly(const struct shell *shell, uint32_t shells, const struct job *j) {
    const uint64_t x =
        (uint64_t)j->slot1 << 32 | rng_word(j->stream, j->purpose, j->lane + 2, j->number);
    double left = (double)(x >> 11) * 0x1p-53 * shells_weight(shell, shells);
    uint32_t h = 0;
    for (uint32_t before = 0; h + 1 < shells; before = shell[h++].end) {
        left -= (shell[h].end - before) / ((double)(h + 1) * (h + 1));
        if (left < 0)
            break;
    }
    return h;
}

static inline uint32_t shell_of(const struct shell *shell, uint32_t shells, const struct job *j) {
    uint32_t h = 0, open = 0;
    for (uint32_t i = 0; i + 1 < shells; i++) {
        h += j->slot1 >= shell[i].high;
        open |= j->slot1 - shell[i].high + 1 <= 2;
    }
    return open ? shell_exactly(shell, shells, j) : h;
}

/* Looks members up, all at once: most of them are far away in memory. */
static void take_members(const struct lists *l, const uint32_t *restrict at, struct block *b) {
    const unsigned bits = l->bits;
    const uint32_t mask = ((uint32_t)1 << bits) - 1, *restrict member = l->member;
    uint32_t *restrict v = b->raw[0], *restrict hop = b->hop;
    const uint32_t size = b->size;
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t found = member[(int32_t)at[i]];
        v[i] = found & mask;
        hop[i] = found >> bits;
    }
}

static void choose_unweighted(const struct near_graph *g, struct stream stream, struct block *b) {
    const struct list *restrict of = g->lists.of;
    const uint32_t *restrict u = b->origin, *restrict slot0 = b->raw[0], size = b->size;
    uint32_t *restrict at = b->scratch, open = 0;
#pragma omp simd reduction(| : open)
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t from = of[(int32_t)u[i]].member,
                       members = of[(int32_t)u[i] + 1].member - from;
        const uint64_t product = (uint64_t)slot0[i] * members;
        at[i] = from + (uint32_t)(product >> 32);
        open |= (uint32_t)product < members;
    }
    for (uint32_t i = 0; open && i < size; i++) {
        const uint32_t from = of[u[i]].member, members = of[u[i] + 1].member - from;
        const struct job j = {stream, PURPOSE_CANDIDATE, 0, b->first + i, slot0[i], 0};
        at[i] = from + slot_below(&j, members);
    }
    take_members(&g->lists, at, b);
}

/* The shells that the slot 1 of each job falls into, and where those of its origin begin; tells
 * whether a word leaves any of them open. */
static bool take_shells(const struct lists *l, const struct block *b, uint32_t *restrict first,
                        uint32_t *restrict shell) {
    const struct list *restrict of = l->of;
    const struct shell *restrict shells = l->shell;
    const uint32_t *restrict u = b->origin, *restrict slot1 = b->raw[1], size = b->size;
    uint32_t open = 0;
#pragma omp simd
    for (uint64_t i = 0; i < size; i++) {
        first[i] = of[(int32_t)u[i]].shell;
        shell[i] = 0;
    }
    for (uint32_t h = 0; h + 1 < l->most; h++) {
#pragma omp simd reduction(| : open)
        for (uint64_t i = 0; i < size; i++) { /* the last shell of a server is never passed */
            const uint32_t high = shells[(int32_t)(first[i] + shell[i])].high;
            shell[i] += (uint32_t)(slot1[i] >= high) & (uint32_t)(high != UINT32_MAX);
            open |= (uint32_t)(slot1[i] - high + 1 <= 2);
        }
    }
    return open;
}

static void choose_weighted(const struct near_graph *g, struct stream stream, struct block *b) {
    const struct lists *l = &g->lists;
    const struct list *restrict of = l->of;
    const struct shell *restrict shells = l->shell;
    const uint32_t *restrict u = b->origin, *restrict slot0 = b->raw[0], size = b->size;
    uint32_t *restrict at = b->scratch, first[BLOCK], shell[BLOCK], open;
    open = take_shells(l, b, first, shell);
#pragma omp simd reduction(| : open)
    for (uint64_t i = 0; i < size; i++) {
        const uint32_t s = first[i] + shell[i], before = shells[(int32_t)s - 1].end,
                       from = shell[i] ? before : 0, members = shells[(int32_t)s].end - from;
        const uint64_t product = (uint64_t)slot0[i] * members;
        at[i] = of[(int32_t)u[i]].member + from + (uint32_t)(product >> 32);
        open |= (uint32_t)((uint32_t)product < members);
    }
    for (uint32_t i = 0; open && i < size; i++) {
        const struct job j = {stream, PURPOSE_CANDIDATE, 0, b->first + i, slot0[i], b->raw[1][i]};
        const struct shell *mine = shells + first[i];
        const uint32_t h = shell_of(mine, of[u[i] + 1].shell - first[i], &j),
                       from = h ? mine[h - 1].end : 0;
        at[i] = of[u[i]].member + from + slot_below(&j, mine[h].end - from);
    }
    take_members(l, at, b);
}

/* Everybody within reach of u, found and counted; returns the number of shells. */
static uint32_t look_around(const struct near_graph *g, struct seeker *k, uint32_t u) {
    graph_shells(g->graph, &k->search, u, g->reach, k->end);
    const uint32_t shells = shells_of(k->end, g->reach, g->weighted, k->shell);
    memset(k->sorted, 0, shells);
    return shells;
}

/* The neighbour of the server looked around last that falls to a job; the server itself where it
 * does or where there is none. */
static uint32_t by_rank(const struct near_graph *g, struct seeker *k, uint32_t shells,
                        const struct job *j, uint32_t *hop) {
    uint32_t *queue = k->search.queue[0], h, at; /* queue[0] is the server */
    const uint32_t all = shells ? k->shell[shells - 1].end : 0;
    if (g->weighted && shells > 0) {
        h = shell_of(k->shell, shells, j);
        const uint32_t from = h ? k->shell[h - 1].end : 0;
        at = from + slot_below(j, k->shell[h].end - from);
    } else {
        at = (all + g->self) ? slot_below(j, all + g->self) : 0;
        for (h = 0; h < shells && k->shell[h].end <= at; h++)
            ;
    }
    *hop = h == shells ? 0 : h + 1;
    if (h == shells)
        return queue[0];
    if (!k->sorted[h]) {
        sort_shell(queue + k->end[h], k->end[h + 1] - k->end[h], k->bits, g->graph->n);
        k->sorted[h] = 1;
    }
    return queue[at + 1];
}

/* Draws the jobs of a window that begins with a block, and sorts them by origin. */
static void fill_window(const struct sampler *s, const struct near_graph *g, struct stream stream,
                        const struct block *b, struct seeker *k) {
    const uint64_t last = g->jobs > b->first + b->size ? g->jobs : b->first + b->size;
    const struct block ahead = {.origin = k->origin, .raw = {k->word[0], k->word[1]}};
    k->from = b->first;
    k->until = last - k->from < g->window ? last : k->from + g->window;
    const uint32_t size = (uint32_t)(k->until - k->from);
    for (unsigned j = 0; j < fetches(s); j++) {
        const struct fetch d = fetch_of(s, stream, &ahead, j);
        if (d.range)
            draw_below(d.words, k->from, size, d.range, d.into);
        else
            draw_words(d.words, k->from, size, d.into);
    }
    memset(k->first, 0, (g->graph->n + 1) * sizeof *k->first);
    for (uint32_t i = 0; i < size; i++)
        k->first[k->origin[i]]++;
    for (uint64_t u = 0, sum = 0; u <= g->graph->n; u++)
        k->first[u] = (uint32_t)(sum += k->first[u]);
    for (uint32_t i = size; i-- > 0;)
        k->order[--k->first[k->origin[i]]] = i;
}

static void search_window(const struct near_graph *g, struct stream stream, struct seeker *k) {
    for (uint32_t u = 0; u < g->graph->n; u++) {
        if (k->first[u] == k->first[u + 1])
            continue;
        const uint32_t shells = look_around(g, k, u);
        for (uint32_t q = k->first[u]; q < k->first[u + 1]; q++) {
            const uint32_t i = k->order[q];
            const struct job j = {stream,      PURPOSE_CANDIDATE, 0,
                                  k->from + i, k->word[0][i],     k->word[1][i]};
            k->word[0][i] = by_rank(g, k, shells, &j, &k->word[1][i]);
        }
    }
}

static void choose_searching(const struct sampler *s, const struct near_graph *g,
                             struct stream stream, struct block *b) {
    struct seeker *k = seeker_in(b->memory, g);
    if (b->first < k->from || b->first + b->size > k->until) {
        fill_window(s, g, stream, b, k);
        search_window(g, stream, k);
    }
    memcpy(b->raw[0], k->word[0] + (b->first - k->from), b->size * sizeof *b->raw[0]);
    memcpy(b->hop, k->word[1] + (b->first - k->from), b->size * sizeof *b->hop);
}

/* The largest distance, up to `reach`, that fraction x of 2^64 accepts. */
static uint32_t accepted_distance(uint64_t x, uint32_t reach) {
    uint32_t hops = 1;
    while (hops < reach && x < UINT64_MAX / ((uint64_t)(hops + 1) * (hops + 1)))
        hops++;
    return hops;
}

/* Attempt a of a job: the server drawn, and how far away it may be; false when nobody is drawn. */
static bool attempt(const struct near_graph *g, const struct job *j, uint32_t a, uint32_t *v,
                    uint32_t *limit) {
    const uint32_t n = (uint32_t)g->graph->n;
    uint32_t word = j->slot0;
    *limit = g->reach;
    if (a > 0 || g->weighted) {
        const philox4x32_ctr_t r = rng_block(j->stream, PURPOSE_ACCEPT, a, j->number);
        word = a > 0 ? r.v[0] : word;
        if (g->weighted)
            *limit = accepted_distance((uint64_t)r.v[1] << 32 | r.v[2], g->reach);
    }
    const uint64_t product = (uint64_t)word * n;
    *v = (uint32_t)(product >> 32);
    return (uint32_t)product >= n || (uint32_t)product >= (uint32_t)-n % n;
}

static uint32_t by_rejection(const struct near_graph *g, struct seeker *k, struct job *j,
                             uint32_t u, uint32_t *hop) {
    for (uint32_t a = 0; a < g->attempts; a++) {
        uint32_t v, limit;
        if (!attempt(g, j, a, &v, &limit) || (v == u && !g->self))
            continue;
        *hop = g->hops.table ? g->hops.table[u * g->graph->n + v]
                             : graph_distance(g->graph, &k->search, u, v, limit);
        if (*hop <= limit)
            return v;
    }
    j->purpose = PURPOSE_ACCEPT;
    j->lane = FALLBACK;
    j->slot0 = rng_word(j->stream, j->purpose, j->lane, j->number);
    j->slot1 = rng_word(j->stream, j->purpose, j->lane + 1, j->number);
    return by_rank(g, k, look_around(g, k, u), j, hop);
}

static void choose_rejecting(const struct near_graph *g, struct stream stream, struct block *b) {
    struct seeker *k = seeker_in(b->memory, g);
    for (uint32_t i = 0; i < b->size; i++) {
        struct job j = {stream, PURPOSE_CANDIDATE, 0, b->first + i, b->raw[0][i], 0};
        b->raw[0][i] = by_rejection(g, k, &j, b->origin[i], &b->hop[i]);
    }
}

void ISA(near_graph_choose)(const struct sampler *s, const struct near_graph *g,
                            struct stream stream, struct block *b) {
    if (g->way == BY_REJECTION)
        choose_rejecting(g, stream, b);
    else if (g->way == BY_SEARCHES)
        choose_searching(s, g, stream, b);
    else if (g->weighted)
        choose_weighted(g, stream, b);
    else
        choose_unweighted(g, stream, b);
}
