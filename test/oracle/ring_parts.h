/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What ring.c plays with: nodes and virtual servers in plain lists, the ring seen by linear searches,
 * capacities, destinations and changes of nodes from addressed words. */
#ifndef POTLUCK_RING_PARTS_H
#define POTLUCK_RING_PARTS_H

#include "heap_parts.h"

#define APART 0x40000000u /* lanes from here on belong to no node */
enum { FINGERS = 64, NO_NUMBER = 64 };

static inline void check(bool good, const char *what) {
    if (!good)
        fail(what);
}

static uint64_t seconds(const char *name) {
    return strtoull(setting(name, NULL), NULL, 10);
}
static double amount(const char *name) {
    return strtod(setting(name, NULL), NULL);
}
static bool chosen(const char *name, const char *word) {
    return is_called(setting(name, NULL), word);
}

/* ---- nodes and virtual servers ---- */

struct finger {
    uint64_t serial, id; /* as they were when the table was made */
};
struct server {
    uint64_t id, serial, received;
    uint32_t node;
    unsigned number; /* i of h(x + i), or NO_NUMBER */
    double load;
    bool fresh; /* no table yet */
    struct finger table[FINGERS];
};
struct node {
    double capacity;
    struct server **own; /* in order of creation */
    uint32_t servers;
    bool up;
    unsigned level;
    uint64_t ups, downs; /* times drawn */
    double changes;      /* when it goes down or comes up next */
    uint64_t room, received, accepted;
    uint64_t seconds, total; /* up, received: in the steps that are recorded */
};

static uint32_t n;
static struct node *nodes;
static uint32_t *up; /* the up list */
static uint32_t ups;
static struct server **live; /* on the ring, in no order */
static uint32_t servers;
static uint64_t serials, t;
static double maintenance, target, epsilon, anticipated;

static void append(struct server ***array, uint32_t *count, struct server *v) {
    *array = realloc(*array, (*count + 1) * sizeof **array);
    (*array)[(*count)++] = v;
}

static void strike(struct server **array, uint32_t *count, const struct server *v) {
    uint32_t i = 0;
    while (array[i] != v)
        check(++i < *count, "a virtual server is not in the list");
    memmove(array + i, array + i + 1, (--*count - i) * sizeof *array);
}

/* ---- the ring; all but `without` ---- */

static double span(uint64_t a, uint64_t b) {
    return (double)(b - a - 1) + 1.0;
}

static struct server *at_or_after(uint64_t id, const struct server *without) {
    struct server *best = NULL;
    for (uint32_t i = 0; i < servers; i++)
        if (live[i] != without && (!best || live[i]->id - id < best->id - id))
            best = live[i];
    return best;
}

/* The one before v; v itself if there is no other. */
static struct server *before(const struct server *v, const struct server *without) {
    struct server *best = NULL;
    for (uint32_t i = 0; i < servers; i++)
        if (live[i] != without && (!best || v->id - live[i]->id - 1 < v->id - best->id - 1))
            best = live[i];
    return best;
}

static struct server *after(const struct server *v) {
    return at_or_after(v->id + 1, NULL);
}

static double total_load(void) {
    double sum = 0;
    for (uint32_t i = 0; i < servers; i++)
        sum += live[i]->load;
    return sum;
}

static void conserved(double sum) {
    check(fabs(total_load() - sum) <= 1e-9 * (fabs(sum) + 1), "load is made or lost");
}

/* What changes owner by balancing, in the steps that are recorded. */
static struct {
    bool on; /* now */
    double space, work;
} moved;

static void hand_over(double space, double load) {
    if (moved.on) {
        moved.space += space;
        moved.work += load;
    }
}

/* Puts v on the ring at an identifier or the next free one. */
static void insert(struct server *v, uint64_t id) {
    const double sum = total_load();
    if (servers == 0) {
        v->load = anticipated;
    } else {
        while (at_or_after(id, NULL)->id == id)
            id++;
        struct server *s = at_or_after(id, NULL);
        const struct server *p = before(s, NULL);
        const double g = span(p->id, id) / span(p->id, s->id) * s->load;
        v->load = g;
        s->load = s->load - g;
        if (s->node != v->node)
            hand_over(span(p->id, id), g);
    }
    v->id = id;
    v->serial = ++serials;
    v->fresh = true;
    append(&live, &servers, v);
    if (servers > 1)
        conserved(sum);
}

static void take(struct server *v) {
    const double sum = total_load();
    strike(live, &servers, v);
    if (servers > 0) {
        struct server *s = at_or_after(v->id, NULL);
        s->load = s->load + v->load;
        if (s->node != v->node)
            hand_over(span(before(v, NULL)->id, v->id), v->load);
        conserved(sum);
    }
}

/* ---- work ---- */

static double weight(const struct server *v) {
    return v->load + maintenance;
}

static double work(uint32_t x) {
    double sum = 0.0;
    for (uint32_t i = 0; i < nodes[x].servers; i++)
        sum += weight(nodes[x].own[i]);
    return sum;
}

static double utilisation(uint32_t x) {
    return work(x) / nodes[x].capacity;
}
static double target_of(uint32_t x) {
    return target * nodes[x].capacity;
}
/* Work above this is overload, below the other underload. */
static double high(uint32_t x) {
    return target_of(x) * (1 + epsilon);
}
static double low(uint32_t x) {
    return target_of(x) * (1 - epsilon);
}

/* ---- words ---- */

static uint64_t long_word(enum purpose purpose, uint32_t lane, uint64_t i) {
    return (uint64_t)rng_word(words, purpose, lane, i) << 32 |
           rng_word(words, purpose, lane, i + 1);
}

/* x 2^64, of which only what is below 2^64 counts. */
static uint64_t of_circle(double x) {
    return x >= 1 ? 0 : (uint64_t)(x * 0x1p64);
}

static uint64_t identifier(uint32_t x, unsigned number) {
    double before_it = 0, all = 0;
    if (number > 0 || chosen("ids", "random"))
        return long_word(PURPOSE_GRAPH, number, 2 * (uint64_t)x);
    if (chosen("ids", "equal"))
        return (uint64_t)(((unsigned __int128)(x + 1) << 64) / n);
    for (uint32_t i = 0; i < n; i++) {
        all += nodes[i].capacity;
        before_it = i == x ? all : before_it;
    }
    return x == n - 1 ? 0 : of_circle(before_it / all);
}

static uint32_t pick(uint32_t x, unsigned slot, uint32_t range) {
    return rng_below(words, PURPOSE_PICK, x, t * 64 + slot, range);
}

static double capacity_of(uint32_t x) {
    const char *text = setting("capacity", NULL);
    if (is_called(text, "profile")) {
        const double u = rng_word(words, PURPOSE_CAPACITY, 0, x) * 0x1p-32;
        const double c = u < .2 ? 1 : u < .65 ? 10 : u < .95 ? 100 : u < .999 ? 1000 : 10000;
        return c * (real(text, "mean", NAN) / 93.7);
    }
    if (is_called(text, "lognormal"))
        return real(text, "median", NAN) *
               exp(real(text, "sigma", NAN) * normal_upper(uniform_at(PURPOSE_CAPACITY, 0, x)));
    if (is_called(text, "file")) {
        double *all = get(n, sizeof *all);
        check(list(setting("capacities", NULL), all, n) == n, "capacities");
        const double c = all[x];
        free(all);
        return c;
    }
    return real(text, "per_second", NAN);
}

/* ---- keys that are asked for ---- */

static uint64_t *cumulative;
static uint32_t ranks; /* 0: uniform */
static uint64_t shift;

static void read_destinations(void) {
    const char *text = setting("destinations", NULL);
    ranks = 0;
    shift = UINT64_MAX;
    if (is_called(text, "uniform"))
        return;
    ranks = (uint32_t)number(text, "count");
    if (!parameter_is(text, "shift", "unset"))
        shift = number(text, "shift");
    double *sum = get(ranks + 1, sizeof *sum);
    cumulative = get(ranks, sizeof *cumulative);
    for (uint32_t r = 0; r < ranks; r++)
        sum[r + 1] = sum[r] + pow(r + 1, -real(text, "alpha", NAN));
    for (uint32_t r = 0; r + 1 < ranks; r++)
        cumulative[r] = units(sum[r + 1] / sum[ranks]);
    free(sum);
}

static uint64_t key_of(uint64_t query) {
    const uint64_t x = fraction(PURPOSE_DESTINATION, 0, query);
    uint32_t r = 0;
    if (!ranks)
        return x;
    while (r + 1 < ranks && x >= cumulative[r])
        r++;
    return long_word(PURPOSE_KEY, t >= shift, 2 * (uint64_t)r);
}

/* ---- when nodes come and go ---- */

static struct {
    enum { NEVER, LAWFUL, TRACED } kind;
    struct times up, down;
    double (*session)[3]; /* node from to, in order of node and time */
    uint32_t sessions;
} churn;

static void read_churn(void) {
    const char *text = setting("lifetime", NULL), *down = setting("downtime", NULL);
    churn.kind = is_called(text, "unlimited") ? NEVER : is_called(text, "trace") ? TRACED : LAWFUL;
    if (churn.kind == LAWFUL) {
        churn.up = read_law(text, (double)NAN);
        churn.down = read_law(is_called(down, "same") ? text : down, (double)NAN);
    }
    if (churn.kind == TRACED) {
        const char *all = setting("sessions", NULL);
        const uint32_t most = (uint32_t)strlen(all) / 2 + 3;
        churn.session = get(most, sizeof *churn.session);
        churn.sessions = list(all, (double *)churn.session, most) / 3;
    }
}

/* The next change of a traced node after time x: true if it comes up then. */
static bool traced(uint32_t who, double x, double *when) {
    bool comes = false;
    *when = (double)INFINITY;
    for (uint32_t i = 0; i < churn.sessions; i++)
        for (unsigned end = 1; end <= 2; end++) {
            const double at = churn.session[i][end];
            if (churn.session[i][0] == who && at > x && at < *when) {
                *when = at;
                comes = end == 1;
            }
        }
    return comes;
}

/* Whether a node is up at time 0; when it changes. */
static bool starts(uint32_t who) {
    struct node *x = &nodes[who];
    bool is_up = true;
    x->changes = (double)INFINITY;
    if (churn.kind == LAWFUL) {
        const double mean = mean_of(&churn.up), share = mean / (mean + mean_of(&churn.down));
        is_up = rng_word(words, PURPOSE_START, 0, who) < (uint64_t)(share * 0x1p32);
        x->changes = is_up ? residual(&churn.up, PURPOSE_UP, APART, who)
                           : residual(&churn.down, PURPOSE_DOWN, APART, who);
    } else if (churn.kind == TRACED) {
        is_up = !traced(who, 0, &x->changes) && isfinite(x->changes);
    }
    return is_up;
}

/* It has just changed: when it does next. */
static void changes_next(uint32_t who) {
    struct node *x = &nodes[who];
    if (churn.kind == TRACED)
        traced(who, x->changes, &x->changes);
    else if (x->up)
        x->changes += draw(&churn.up, PURPOSE_UP, who * lanes(&churn.up), x->ups++);
    else
        x->changes += draw(&churn.down, PURPOSE_DOWN, who * lanes(&churn.down), x->downs++);
}

#endif
