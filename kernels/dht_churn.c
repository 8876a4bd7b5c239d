/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: who is up. Nodes are up and down in turn, for times of two laws, from equilibrium on; or as a
 * trace says. The next change of every node stands in a heap. */
#include "dht_play.h"
#include "law_draw.h"

#include <math.h>

/* ---- the heap: of nodes, by time and number ---- */

static bool earlier(const struct dht_play *q, uint32_t a, uint32_t b) {
    return q->change[a] < q->change[b] || (q->change[a] == q->change[b] && a < b);
}

static void sink(struct dht_play *q, uint32_t n, uint32_t at) {
    const uint32_t node = q->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= n)
            break;
        if (child + 1 < n && earlier(q, q->heap[child + 1], q->heap[child]))
            child++;
        if (!earlier(q, q->heap[child], node))
            break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    q->heap[at] = node;
}

/* ---- when ---- */

static double session_change(const struct windows *s, uint32_t node, uint64_t *cycle, bool up) {
    if (up) /* it went up with session number *cycle */
        return s->to[s->first[node] + (*cycle)++];
    const uint64_t at = s->first[node] + *cycle;
    return at < s->first[node + 1] ? s->from[at] : (double)INFINITY;
}

/* When a node that has just gone up or down changes again. */
static double next_change(struct dht *d, uint32_t node, double now, bool up) {
    struct dht_play *q = d->play;
    if (d->p->sessions)
        return session_change(d->p->sessions, node, &q->cycle[node], up);
    uint64_t *cycle = &q->cycle[node];
    const uint64_t number = up ? *cycle & UINT32_MAX : *cycle >> 32;
    *cycle += up ? 1 : (uint64_t)1 << 32;
    return now + (up ? lanes_value(&q->ups, q->up_values, d->words, node, number)
                     : lanes_value(&q->downs, q->down_values, d->words, node, number));
}

/* Whether a node is up at time 0, and until when. */
static bool first_state(struct dht *d, uint32_t node) {
    const struct dht_point *p = d->p;
    struct dht_play *q = d->play;
    q->cycle[node] = 0;
    if (!p->churns) {
        q->change[node] = (double)INFINITY;
        return true;
    }
    if (p->sessions) {
        const struct windows *s = p->sessions;
        const uint64_t at = s->first[node];
        const bool up = at < s->first[node + 1] && s->from[at] <= 0;
        q->change[node] = session_change(s, node, &q->cycle[node], up);
        return up;
    }
    const double word = (double)rng_word(d->words, PURPOSE_START, 0, node);
    const bool up = word < floor(p->availability * 0x1p32);
    q->change[node] = lanes_residual(up ? &q->ups : &q->downs, d->words, node);
    return up;
}

/* ---- coming and going ---- */

static bool come_up(struct dht *d, uint32_t node) {
    const struct balancer *b = d->p->balancer;
    if (d->n_unused < d->p->joining)
        return false;
    d->place[node] = d->n_up;
    d->up[d->n_up++] = node;
    ISA(dht_tell)(d, EVENT_UP, node, 0, 0);
    if (b->join)
        b->join(d, node);
    else
        ISA(dht_create)(d, EVENT_JOIN, node, ISA(dht_identifier)(d, node, 0), 0);
    d->level[node] = dht_level(d, node);
    return true;
}

static void go_down(struct dht *d, uint32_t node) {
    const uint32_t place = d->place[node], moved = d->up[--d->n_up];
    d->up[place] = moved;
    d->place[moved] = place;
    d->place[node] = NO_SERVER;
    ISA(dht_tell)(d, EVENT_DOWN, node, 0, 0);
    while (d->servers[node] > 0)
        ISA(dht_delete)(d, EVENT_LEAVE, d->first[node]);
}

/* Messages a second that all virtual servers are expected to receive. */
static double anticipate(const struct dht *d, uint32_t up) {
    const struct dht_point *p = d->p;
    const double nodes = up > 1 ? up : 1,
                 hops = p->one_hop ? 1 : own_log(nodes) * 1.4426950408889634 / 2 + 0.86,
                 charged = p->delivers ? hops : hops - 1;
    return p->queries * (double)up * (charged > 0 ? charged : 0);
}

void ISA(churn_begin)(struct dht *d) {
    struct dht_play *q = d->play;
    uint32_t up = 0;
    for (uint32_t i = 0; i < d->p->n; i++) {
        q->heap[i] = i;
        q->order[i] = first_state(d, i);
        up += q->order[i];
    }
    for (uint32_t i = d->p->n; d->p->churns && i-- > 0;)
        sink(q, d->p->n, i);
    d->anticipated = anticipate(d, up);
    for (uint32_t i = 0; i < d->p->n; i++)
        if (q->order[i])
            CHECK(come_up(d, i));
}

bool ISA(churn_step)(struct dht *d) {
    struct dht_play *q = d->play;
    if (!d->p->churns)
        return true;
    for (;;) {
        const uint32_t node = q->heap[0];
        const double time = q->change[node];
        if (!(time <= (double)d->step))
            return true;
        const bool up = d->place[node] == NO_SERVER;
        if (!up)
            go_down(d, node);
        else if (!come_up(d, node))
            return false;
        q->change[node] = next_change(d, node, time, up);
        sink(q, d->p->n, 0);
    }
}
