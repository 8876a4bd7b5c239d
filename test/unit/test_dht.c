/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rings of virtual servers: every change against a table of virtual servers that is searched from end
 * to end; shares against topology arcs; the same bits from every level, from every cut of the range
 * and in any workspace. */
#include "dht.h"

#include "by_hand.h"
#include "crowded_ids.h"
#include "sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- points ---- */

/* A point of model dht: "nodes=20; balancer=log-vs count=3; refresh=5". */
struct ask {
    const char *text;
    struct attachment *file; /* of the capacities or of the sessions */
    enum level level;
    uint64_t first, replications, cut; /* played so many at a time; 0: all */
    uint64_t size;                     /* bytes at first; 0: as planned */
    void (*log)(void *, const struct dht *, enum dht_event, uint32_t, uint64_t, uint64_t);
    void (*log_step)(void *, const struct dht *);
    void *context;
};
struct answer {
    struct by_hand part[DHT_PARAMETERS];
    struct value value[DHT_PARAMETERS];
    struct facts facts;
    struct outcome o;
    uint64_t size;
    unsigned attempts;
};

static const struct model *dht_at(enum level level) {
    return model_of(by_hand_kind(models_at(level), "dht"));
}

static void give(struct answer *a, const struct parameter *p, unsigned i, const char *text) {
    struct kind alone = {.parameters = p, .n_parameters = 1};
    char named[80];
    if (p->type == TYPE_ENTRY) {
        const struct kind *first = p->catalogue->kinds[0];
        const bool bare = text[0] >= '0' && text[0] <= '9';
        if (bare)
            snprintf(named, sizeof named, "%s %s=%s", first->name, first->parameters[0].name, text);
        a->value[i].entry = by_hand(&a->part[i], p->catalogue, bare ? named : text);
        return;
    }
    a->part[i].entry.kind = &alone;
    by_hand_value(&a->part[i], 0, text);
    a->value[i] = a->part[i].value[0];
}

static void attach(struct answer *a, unsigned i, struct attachment *file) {
    const struct kind *kind = a->part[i].entry.kind;
    if (kind->n_parameters == 1 && kind->parameters[0].type == TYPE_FILE)
        a->part[i].value[0].file = file;
}

static bool examine(struct answer *a, const struct ask *q, struct reason *why) {
    const struct model *m = dht_at(q->level);
    char copy[400], *rest = NULL;
    unsigned at = 0;
    *a = (struct answer){0};
    for (unsigned i = 0; i < DHT_PARAMETERS; i++)
        if (m->kind.parameters[i].standard)
            give(a, &m->kind.parameters[i], i, m->kind.parameters[i].standard);
    CHECK(strlen(q->text) < sizeof copy);
    strcpy(copy, q->text);
    for (char *word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        word += strspn(word, " ");
        char *equals = strchr(word, '=');
        CHECK(equals);
        *equals = '\0';
        const int i = parameter_index(&m->kind, word);
        CHECK(i >= 0);
        give(a, &m->kind.parameters[i], (unsigned)i, equals + 1);
    }
    attach(a, DHT_CAPACITY, q->file);
    attach(a, DHT_LIFETIME, q->file);
    return m->examine(a->value, &(struct budget){UINT64_MAX, 1}, &a->facts, why, &at);
}

static uint64_t bytes_of(const struct answer *a, unsigned h) {
    return a->o.stride[h] * histogram_batches(&dht_at(LEVEL_BASELINE)->histograms[h]) *
           sizeof(uint64_t);
}

/* One range; what play() returns. A range that needs more memory counts for nothing, so it begins with
 * clean sums. */
static uint64_t play_range(struct answer *a, const struct ask *q, const void *prepared) {
    struct workspace w = {aligned_alloc(64, (a->size + 63) / 64 * 64), a->size};
    struct outcome trial = a->o;
    assert_non_null(w.memory);
    memset(w.memory, 0xa5, a->size);
    for (unsigned h = 0; h < DHT_HISTOGRAMS; h++) {
        trial.histogram[h] = allocate(1, bytes_of(a, h));
        memcpy(trial.histogram[h], a->o.histogram[h], bytes_of(a, h));
    }
    const uint64_t need = dht_at(q->level)->play(prepared, 7, w, &trial);
    for (unsigned h = 0; h < DHT_HISTOGRAMS; h++) {
        if (!need)
            memcpy(a->o.histogram[h], trial.histogram[h], bytes_of(a, h));
        free(trial.histogram[h]);
    }
    free(w.memory);
    a->attempts++;
    return need;
}

static void play(struct answer *a, const struct ask *q) {
    struct reason why = {""};
    if (!examine(a, q, &why))
        fail_msg("%s: %s", q->text, why.text);
    struct dht_point *p =
        dht_at(q->level)->prepare(a->value, 7, &(struct budget){UINT64_MAX, 1}, &why);
    assert_non_null(p);
    p->log = q->log;
    p->log_step = q->log_step;
    p->context = q->context;
    int64_t *tally = allocate(q->replications * DHT_ROWS, sizeof *tally);
    for (unsigned h = 0; h < DHT_HISTOGRAMS; h++) {
        a->o.stride[h] = a->facts.bins[h];
        a->o.histogram[h] = allocate(1, bytes_of(a, h));
    }
    a->size = q->size ? q->size : a->facts.bytes_thread;
    for (uint64_t r = 0; r < q->replications;) {
        a->o.first = q->first + r;
        a->o.count = q->cut && q->cut < q->replications - r ? q->cut : q->replications - r;
        a->o.tally = tally + r * DHT_ROWS;
        const uint64_t need = play_range(a, q, p);
        assert_true(need == 0 || (need > a->size && need < (uint64_t)1 << 30));
        a->size = need ? need : a->size;
        r += need ? 0 : a->o.count;
    }
    a->o.tally = tally;
    a->o.count = q->replications;
    dht_at(q->level)->release(p);
}

static void done(struct answer *a) {
    free(a->o.tally);
    for (unsigned h = 0; h < DHT_HISTOGRAMS; h++)
        free(a->o.histogram[h]);
}

static double value_of(const struct answer *a, uint64_t r, unsigned row) {
    return affine_value(a->facts.row[row], (double)a->o.tally[r * DHT_ROWS + row]);
}

static struct attachment file_of(char *text) {
    static char name[] = "sessions.txt";
    return (struct attachment){.name = name, .bytes = text, .length = strlen(text)};
}

static void file_end(struct attachment *file) {
    if (file->parsed)
        file->release(file->parsed);
    file->parsed = NULL;
}

/* ---- changes of the ring ---- */

enum { PLAIN_MOST = 110 };

/* Virtual servers in no order; `born` tells the order of a node's list. */
struct plain {
    unsigned n;
    uint64_t births;
    double anticipated, all; /* of an empty ring, and what the loads add up to */
    struct {
        uint64_t id, born;
        uint32_t node, server;
        double load;
    } v[PLAIN_MOST];
};

static double span(uint64_t a, uint64_t b) {
    return (double)(b - a - 1) + 1;
}

/* The index of the first with an identifier after one, or the last before it, around the ring. */
static unsigned plain_next(const struct plain *s, uint64_t id, bool before) {
    unsigned best = 0;
    for (unsigned i = 1; i < s->n; i++) {
        const uint64_t far = before ? id - s->v[i].id - 1 : s->v[i].id - id - 1,
                       least = before ? id - s->v[best].id - 1 : s->v[best].id - id - 1;
        best = far < least ? i : best;
    }
    return best;
}

static bool plain_taken(const struct plain *s, uint64_t id) {
    bool taken = false;
    for (unsigned i = 0; i < s->n; i++)
        taken |= s->v[i].id == id;
    return taken;
}

static void plain_enter(struct plain *s, uint32_t node, uint64_t id, uint64_t born,
                        uint32_t server) {
    double load = s->anticipated;
    while (plain_taken(s, id))
        id++;
    if (s->n > 0) {
        const unsigned after = plain_next(s, id, false), before = plain_next(s, id, true);
        load = span(s->v[before].id, id) / span(s->v[before].id, s->v[after].id) * s->v[after].load;
        s->v[after].load -= load;
    }
    s->v[s->n].id = id;
    s->v[s->n].born = born;
    s->v[s->n].node = node;
    s->v[s->n].server = server;
    s->v[s->n++].load = load;
}

static void plain_quit(struct plain *s, unsigned i) {
    const uint64_t id = s->v[i].id;
    const double load = s->v[i].load;
    s->v[i] = s->v[--s->n];
    if (s->n > 0)
        s->v[plain_next(s, id, false)].load += load;
    else
        s->all = s->anticipated;
}

static void assert_node_list(const struct plain *s, const struct dht *d, uint32_t node) {
    uint32_t own = 0, last = NO_SERVER;
    uint64_t used = 0, born = 0;
    for (uint32_t v = d->first[node]; own < d->servers[node]; v = d->next[v], own++) {
        unsigned i = 0;
        while (i < s->n && s->v[i].server != v)
            i++;
        assert_true(i < s->n && s->v[i].node == node && d->node[v] == node);
        assert_true(own == 0 || s->v[i].born > born);
        born = s->v[i].born;
        used |= d->number[v] < IDENTIFIERS_MAX ? (uint64_t)1 << d->number[v] : 0;
        last = v;
    }
    assert_true(d->used[node] == used);
    assert_true(own == 0 || (d->last[node] == last && d->next[last] == NO_SERVER));
}

/* Bit for bit, and no work comes from nowhere. */
static void assert_plain(const struct plain *s, const struct dht *d) {
    double sum = 0;
    uint32_t own = 0;
    assert_int_equal(d->n_servers, s->n);
    assert_int_equal(d->ring.n, s->n);
    assert_int_equal(d->n_unused, d->room - s->n);
    for (unsigned i = 0; i < s->n; i++) {
        const uint32_t v = s->v[i].server;
        assert_true(d->id[v] == s->v[i].id);
        assert_true(d->load[v] == s->v[i].load);
        assert_int_equal(dht_owner(d, d->id[v]), v);
        assert_int_equal(d->after[v], s->v[plain_next(s, d->id[v], false)].server);
        assert_int_equal(d->before[v], s->v[plain_next(s, d->id[v], true)].server);
        sum += d->load[v];
    }
    for (uint32_t i = 0; i < d->p->n; i++) {
        own += d->servers[i];
        assert_node_list(s, d, i);
    }
    assert_int_equal(own, s->n);
    assert_true(s->n == 0 || fabs(sum - s->all) <= 1e-9 * s->all);
}

static unsigned free_number(const struct dht *d, uint32_t node) {
    const unsigned number = (unsigned)random_below(IDENTIFIERS_MAX + 1);
    return number < IDENTIFIERS_MAX && d->used[node] >> number & 1 ? IDENTIFIERS_MAX : number;
}

static void change_create(struct plain *s, struct dht *d) {
    const uint32_t node = (uint32_t)random_below(d->p->n);
    const uint64_t id = some_id((unsigned)random_below(3));
    const uint32_t v = ISA(dht_create)(d, EVENT_CREATE, node, id, free_number(d, node));
    plain_enter(s, node, id, s->births++, v);
}

static void change_delete(struct plain *s, struct dht *d) {
    const unsigned i = (unsigned)random_below(s->n);
    ISA(dht_delete)(d, EVENT_DELETE, s->v[i].server);
    plain_quit(s, i);
}

static void change_move(struct plain *s, struct dht *d) {
    const unsigned i = (unsigned)random_below(s->n);
    const uint64_t id = random_below(4) ? some_id((unsigned)random_below(3)) : s->v[i].id;
    const uint32_t node = s->v[i].node, v = s->v[i].server;
    const uint64_t born = s->v[i].born;
    ISA(dht_move)(d, v, id, free_number(d, node));
    plain_quit(s, i);
    plain_enter(s, node, id, born, v);
}

static void change_give(struct plain *s, struct dht *d) {
    const unsigned i = (unsigned)random_below(s->n);
    s->v[i].node = (uint32_t)random_below(d->p->n);
    s->v[i].born = s->births++;
    ISA(dht_give)(d, s->v[i].server, s->v[i].node);
}

/* Back towards the one before it, or on towards the one after. */
static void change_shift(struct plain *s, struct dht *d) {
    const unsigned i = (unsigned)random_below(s->n), after = plain_next(s, s->v[i].id, false),
                   before = plain_next(s, s->v[i].id, true);
    const bool back = random_below(2);
    const uint64_t at_most =
        back ? s->v[i].id - s->v[before].id - 1 : s->v[after].id - s->v[i].id - 1;
    if (s->n < 2 || at_most == 0)
        return;
    const uint64_t part = random_below(8) ? 1 + random_below(at_most) : at_most;
    const unsigned giver = back ? i : after, taker = back ? after : i;
    const double load = s->v[giver].load * (double)random_below(1000) / 1000;
    s->v[i].id = back ? s->v[i].id - part : s->v[i].id + part;
    s->v[giver].load -= load;
    s->v[taker].load += load;
    ISA(dht_shift)(d, s->v[i].server, s->v[i].id, s->v[giver].server, s->v[taker].server, load);
}

static void plain_begin(struct plain *s, const struct dht *d) {
    s->n = 0;
    s->births = 0;
    s->anticipated = d->anticipated;
    s->all = 0;
    for (uint32_t node = 0; node < d->p->n; node++)
        for (uint32_t v = d->first[node]; v != NO_SERVER; v = d->next[v]) {
            s->v[s->n].id = d->id[v];
            s->v[s->n].born = s->births++;
            s->v[s->n].node = node;
            s->v[s->n].server = v;
            s->all += d->load[v];
            s->v[s->n++].load = d->load[v];
        }
}

/* In the middle of a replication: from some to many, to none, and to one for each node again. */
static void change_at_random(void *context, const struct dht *playing) {
    struct dht *d = (struct dht *)(uintptr_t)playing;
    static void (*const changes[])(struct plain *, struct dht *) = {change_move, change_give,
                                                                    change_shift};
    struct plain s;
    unsigned *count = context;
    plain_begin(&s, d);
    for (unsigned round = 0; round < 12; round++) {
        const unsigned goal = round % 3 == 2 ? 0 : 1 + (unsigned)random_below(d->room - 1);
        while (s.n != goal) {
            const unsigned kind = (unsigned)random_below(6);
            if (kind < 3 && s.n > 0)
                changes[kind](&s, d);
            else if (s.n == 0 || (s.n < goal && kind > 3) || (s.n < d->room && kind == 3))
                change_create(&s, d);
            else
                change_delete(&s, d);
            assert_plain(&s, d);
            (*count)++;
        }
    }
    for (uint32_t node = 0; node < d->p->n; node++)
        plain_enter(&s, node, node, s.births++, ISA(dht_create)(d, EVENT_CREATE, node, node, 0));
    assert_plain(&s, d);
}

static void test_changes(void **state) {
    (void)state;
    static const char *const texts[] = {
        "nodes=20; balancer=transfer; duration=2; queries=100; balance_from=9",
        "nodes=3; balancer=transfer; duration=3; balance_from=9; refresh=7",
        "nodes=1; balancer=transfer; duration=2; charge=delivery; balance_from=9"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct answer a;
        unsigned count = 0;
        play(&a, &(struct ask){.text = texts[i],
                               .replications = 4,
                               .log_step = change_at_random,
                               .context = &count});
        assert_true(count > 2000);
        done(&a);
    }
}

/* ---- special rings ---- */

static const char *const balancers[] = {"none",
                                        "log-vs",
                                        "log-vs count=5",
                                        "proportion",
                                        "proportion initial=3 max=7 relief=heaviest",
                                        "transfer",
                                        "transfer split=false",
                                        "threshold",
                                        "threshold rho=1.3 c=0.5 sample=3 on_overload=false",
                                        "k-choices",
                                        "k-choices kappa=3 margin=0",
                                        "k-choices mode=passive"};
enum { BALANCERS = sizeof balancers / sizeof *balancers };

/* A node alone owns every key. */
static void test_one_node(void **state) {
    (void)state;
    for (unsigned i = 0; i < BALANCERS; i++) {
        struct answer a;
        char text[200];
        snprintf(text, sizeof text,
                 "nodes=1; balancer=%s; duration=300; balance_from=5; charge=delivery; "
                 "capacity=2",
                 balancers[i]);
        play(&a, &(struct ask){.text = text, .replications = 2});
        for (uint64_t r = 0; r < 2; r++) {
            assert_true(value_of(&a, r, DHT_MAX_SHARE) == 1);
            assert_true(value_of(&a, r, DHT_MIN_SHARE) == 1);
            assert_true(value_of(&a, r, DHT_SHARE_VARIANCE) == 0);
            assert_true(value_of(&a, r, DHT_NODES_UP) == 1);
            assert_true(value_of(&a, r, DHT_TRANSFERS) == 0);
            assert_true(value_of(&a, r, DHT_MOVED_SPACE) == 0);
            if (a.facts.bins[COUNT_SERVERS] == 2)
                assert_true(value_of(&a, r, DHT_SUCCESS) == 1 && value_of(&a, r, DHT_HOPS) == 0);
        }
        done(&a);
    }
}

static void keep_shares(void *context, const struct dht *d) {
    uint64_t *share = context;
    for (uint32_t i = 0; i < d->p->n; i++) {
        assert_int_equal(d->servers[i], 1);
        share[i] = arc_less_one(d->id[d->before[d->first[i]]], d->id[d->first[i]]) + 1;
    }
}

/* Nodes stand where the servers of topology arcs stand. */
static void test_shares_of_arcs(void **state) {
    (void)state;
    for (uint32_t r = 0; r < 20; r++) {
        enum { NODES = 1013 };
        uint64_t share[NODES];
        struct answer a;
        struct by_hand arcs;
        struct reason why = {""};
        char text[40];
        snprintf(text, sizeof text, "arcs n=%d", NODES);
        const struct entry *e = by_hand(&arcs, &topologies, text);
        const struct topology *t = (const struct topology *)(const void *)e->kind;
        struct sites *s = t->place(e->values, (struct stream){7, r}, &why);
        assert_non_null(s);
        play(&a, &(struct ask){.text = "nodes=1013; duration=1",
                               .first = r,
                               .replications = 1,
                               .log_step = keep_shares,
                               .context = share});
        double most = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            assert_true(share[i] == s->share[i]);
            most = fmax(most, (double)share[i] * 0x1p-64);
        }
        assert_true(fabs(value_of(&a, 0, DHT_MAX_SHARE) - most) <= DHT_SHARE_UNIT);
        done(&a);
        sites_free(s);
    }
}

static void note_ids(void *context, const struct dht *d, enum dht_event event, uint32_t node,
                     uint64_t id, uint64_t other) {
    (void)other;
    if (event == EVENT_JOIN && d->step == 0)
        ((uint64_t *)context)[node] = id;
}

static void test_placed_nodes(void **state) {
    (void)state;
    struct answer a;
    uint64_t id[4] = {9, 9, 9, 9};
    char weights[] = "1\n2\n1\n4\n";
    struct attachment file = file_of(weights);
    play(&a, &(struct ask){.text = "nodes=4; duration=2; ids=equal",
                           .replications = 1,
                           .log = note_ids,
                           .context = id});
    for (unsigned i = 0; i < 4; i++)
        assert_true(id[i] == (uint64_t)(i + 1) << 62);
    assert_true(value_of(&a, 0, DHT_MAX_SHARE) == 0.25 && value_of(&a, 0, DHT_MIN_SHARE) == 0.25);
    done(&a);
    play(&a, &(struct ask){.text = "nodes=4; duration=2; ids=proportional; capacity=file",
                           .file = &file,
                           .replications = 1,
                           .log = note_ids,
                           .context = id});
    assert_true(id[0] == (uint64_t)1 << 61 && id[1] == (uint64_t)3 << 61 &&
                id[2] == (uint64_t)1 << 63 && id[3] == 0);
    done(&a);
    file_end(&file);
}

/* ---- sessions ---- */

struct seen {
    char text[2000];
};
static void note_events(void *context, const struct dht *d, enum dht_event event, uint32_t node,
                        uint64_t id, uint64_t other) {
    struct seen *s = context;
    (void)id, (void)other;
    if (event == EVENT_UP || event == EVENT_DOWN) {
        const size_t length = strlen(s->text);
        snprintf(s->text + length, sizeof s->text - length, "%llu%c%u ",
                 (unsigned long long)d->step, event == EVENT_UP ? '+' : '-', node);
    }
}

/* A change between two steps is seen at the later one; those of one step in order of time and number. */
static void test_sessions(void **state) {
    (void)state;
    char lines[] =
        "3 0 2.5\n0 0.0 4\n3 4 1e9\n1 2.25 4.5 # late\n\n2 7.9 7.95\n0 8 1e6\n1 6.75 7\n";
    struct attachment file = file_of(lines);
    struct answer a;
    struct seen seen = {""};
    play(&a,
         &(struct ask){
             .text =
                 "nodes=5; lifetime=trace; duration=12; record_from=0; interval=1; balancer=log-vs",
             .file = &file,
             .replications = 1,
             .log = note_events,
             .context = &seen});
    assert_string_equal(seen.text, "0+0 0+3 3+1 3-3 4-0 4+3 5-1 7+1 7-1 8+2 8-2 8+0 ");
    done(&a);
    file_end(&file);
    /* Nobody is there for a while, and at the end. */
    char gaps[] = "0 2 4\n1 3 5\n2 7 9\n";
    struct attachment empty = file_of(gaps);
    for (unsigned i = 0; i < BALANCERS; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "nodes=3; lifetime=trace; duration=12; record_from=0; balance_from=0; balancer=%s",
                 balancers[i]);
        play(&a, &(struct ask){.text = text, .file = &empty, .replications = 2});
        for (uint64_t r = 0; r < 2; r++)
            assert_true(fabs(value_of(&a, r, DHT_NODES_UP) - 0.5) < 1e-6 &&
                        value_of(&a, r, DHT_MIN_SHARE) == 0);
        done(&a);
    }
    file_end(&empty);
}

static void test_windows(void **state) {
    (void)state;
    static const struct windows_words words = {"node", "up", "a session"};
    char lines[] = "2 1 2\n0 0.5 3\n2 2.5 1e15\n0 4 5\n0 7 8\n";
    struct attachment file = file_of(lines);
    struct reason why = {""};
    struct windows w;
    assert_true(windows_check(&file, 4, &words, &why));
    windows_make(&file, 4, &w);
    static const uint64_t first[] = {0, 3, 3, 5, 5};
    static const double from[] = {0.5, 4, 7, 1, 2.5}, to[] = {3, 5, 8, 2, 1e15};
    assert_int_equal(w.n, 4);
    assert_int_equal(w.rows, 5);
    assert_memory_equal(w.first, first, sizeof first);
    assert_memory_equal(w.from, from, sizeof from);
    assert_memory_equal(w.to, to, sizeof to);
    assert_int_equal(windows_bytes(&file, 4), sizeof first + sizeof from + sizeof to);
    windows_free(&w);
    assert_false(windows_check(&file, 2, &words, &why));
    assert_string_equal(why.text, "sessions.txt:1: node 2 (allowed: 0 to 1)");
    file_end(&file);
    static const struct {
        const char *lines, *sentence;
    } bad[] = {
        {"0 1 2\n-1 0 1\n", "sessions.txt:2: node -1 (allowed: 0 to 3)"},
        {"0 1 2\n1.5 0 1\n", "sessions.txt:2: node 1.5 (allowed: 0 to 3)"},
        {"0 -1 2\n", "sessions.txt:1: up from -1 (allowed: 0 and more)"},
        {"0 2 2\n", "sessions.txt:1: up from 2 to 2: it must end later"},
        {"0 1 2\n1 0 9\n0 2 3\n", "sessions.txt:3: node 0 is up from 2, but until 2 already"},
        {"0 3 4\n0 1 2\n", "sessions.txt:2: node 0 is up from 1, but until 4 already"},
        {"0 1\n", "sessions.txt:1: 2 numbers where a session has 3"},
        {"0 1 2 3\n", "sessions.txt:1: more numbers than a session has"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char copy[80];
        strcpy(copy, bad[i].lines);
        struct attachment other = file_of(copy);
        assert_false(windows_check(&other, 4, &words, &why));
        if (strncmp(why.text, bad[i].sentence, strlen(bad[i].sentence)) != 0)
            fail_msg("%s, not %s", why.text, bad[i].sentence);
        file_end(&other);
    }
}

/* ---- the same bits ---- */

static void assert_same(const struct answer *a, const struct answer *b, const char *what) {
    assert_int_equal(a->o.count, b->o.count);
    for (uint64_t r = 0; r < a->o.count; r++)
        for (unsigned row = 0; row < DHT_ROWS; row++)
            if (a->o.tally[r * DHT_ROWS + row] != b->o.tally[r * DHT_ROWS + row])
                fail_msg("%s: row %u of replication %llu: %.12g and %.12g", what, row,
                         (unsigned long long)r, value_of(a, r, row), value_of(b, r, row));
    for (unsigned h = 0; h < DHT_HISTOGRAMS; h++)
        if (memcmp(a->o.histogram[h], b->o.histogram[h], bytes_of(a, h)) != 0)
            fail_msg("%s: histogram %u", what, h);
}

static void test_same_bits(void **state) {
    (void)state;
    static const char *const grounds[] = {
        "capacity=profile",
        "capacity=lognormal; order=hop-synchronous; charge=delivery; maintenance=0.5; ids=equal",
        "lifetime=exponential mean=30; destinations=zipf alpha=1.2 count=50 shift=20; refresh=5",
        "lifetime=pareto shape=2 mean=40; downtime=exponential mean=9; ids=proportional; "
        "routing=one-hop; "
        "capacity=profile"};
    for (unsigned i = 0; i < BALANCERS * 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "nodes=61; duration=80; record_from=15; interval=7; balance_from=10; measure=5; "
                 "queries=3.7; "
                 "balancer=%s; %s",
                 balancers[i / 4], grounds[i % 4]);
        const struct ask base = {.text = text, .replications = 5};
        struct answer a, b;
        play(&a, &base);
        for (enum level l = LEVEL_BASELINE; l <= level_best(); l++) {
            struct ask other = base;
            other.level = l;
            other.cut = 1 + l;
            other.size = l == LEVEL_BASELINE ? 0 : l == LEVEL_AVX2 ? 64 : 4 * a.facts.bytes_thread;
            play(&b, &other);
            assert_same(&a, &b, text);
            done(&b);
        }
        done(&a);
    }
}

/* Overload without end: nodes split and split, until the first workspace does not hold them. */
static void test_growth(void **state) {
    (void)state;
    static const char *const texts[] = {
        "nodes=60; balancer=transfer; duration=300; balance_from=1; epsilon=0.01; target=0.2; "
        "measure=1; "
        "capacity=lognormal median=60 sigma=3",
        "nodes=60; balancer=transfer; duration=300; balance_from=1; epsilon=0; target=0.1; "
        "refresh=3; "
        "capacity=lognormal median=60 sigma=3; lifetime=exponential mean=2000; "
        "downtime=exponential mean=30; "
        "order=hop-synchronous"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct answer a, b;
        play(&a, &(struct ask){.text = texts[i], .replications = 6});
        assert_true(a.attempts > 1);
        play(&b, &(struct ask){.text = texts[i], .replications = 6, .size = 16 * a.size});
        assert_int_equal(b.attempts, 1);
        assert_same(&a, &b, texts[i]);
        done(&b);
        play(&b, &(struct ask){.text = texts[i], .replications = 6, .size = 64, .cut = 1});
        assert_same(&a, &b, texts[i]);
        done(&b);
        done(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_shares_of_arcs), cmocka_unit_test(test_placed_nodes),
        cmocka_unit_test(test_sessions),       cmocka_unit_test(test_windows),
        cmocka_unit_test(test_same_bits),      cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
