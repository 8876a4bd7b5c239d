/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: how much the queues of neighbours go together. All servers are looked at again and again
 * while the window is open, at steps that no stream of jobs keeps in step with.
 *
 * A correlation taken over a window from the window's own means is low by about a constant over its
 * length. Twice that of the whole less the mean of those of both halves is not (Quenouille, "Notes on
 * bias in estimation", Biometrika 43, 1956); it may lie a little outside -1 .. 1. */
#include "queue_play.h"

#include "graph.h"

#include <string.h>

void ISA(watch_open)(struct queue_play *q) {
    const struct graph *g = q->p->neighbours;
    for (unsigned half = 0; half < 2; half++) {
        struct looks *l = &q->watch.half[half];
        memset(l->sum, 0, g->n * sizeof *l->sum);
        memset(l->square, 0, g->n * sizeof *l->square);
        memset(l->product, 0, g->n_edges * sizeof *l->product);
        l->looks = 0;
    }
}

double ISA(watch_next)(const struct queue_play *q) {
    const uint64_t looks = q->watch.half[0].looks + q->watch.half[1].looks;
    return q->opened + (double)(looks + 1) * QUEUE_LOOK_STEP * q->p->mean_service;
}

void ISA(watch_look)(struct queue_play *q, double time) {
    struct looks *l = &q->watch.half[time - q->opened > q->p->window / 2];
    uint32_t *load = q->watch.load;
    const struct graph *g = q->p->neighbours;
    for (uint32_t v = 0; v < g->n; v++) {
        load[v] = look(&q->view, v, time);
        l->sum[v] += load[v];
        l->square[v] += (uint64_t)load[v] * load[v];
    }
    uint64_t edge = 0;
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (g->neighbour[i] > u)
                l->product[edge++] += (uint64_t)load[u] * load[g->neighbour[i]];
    l->looks++;
}

/* Sums over looks at two queues. */
struct pair {
    uint64_t looks, sum[2];
    uint128 square[2], product;
};

static struct pair pair_of(const struct looks *l, uint32_t u, uint32_t v, uint64_t edge) {
    return (struct pair){
        l->looks, {l->sum[u], l->sum[v]}, {l->square[u], l->square[v]}, l->product[edge]};
}

static struct pair pair_add(struct pair a, struct pair b) {
    return (struct pair){a.looks + b.looks,
                         {a.sum[0] + b.sum[0], a.sum[1] + b.sum[1]},
                         {a.square[0] + b.square[0], a.square[1] + b.square[1]},
                         a.product + b.product};
}

/* looks^2 times the covariance of what has these sums. */
static double covariance(uint64_t looks, uint64_t a, uint64_t b, uint128 product) {
    const uint128 with = looks * product, without = (uint128)a * b;
    return with > without ? (double)(with - without) : -(double)(without - with);
}

/* False where one of the queues never changes: *r is 0. */
static bool correlation(const struct pair *p, double *r) {
    const double a = covariance(p->looks, p->sum[0], p->sum[0], p->square[0]),
                 b = covariance(p->looks, p->sum[1], p->sum[1], p->square[1]);
    const bool both = a > 0 && b > 0;
    *r = both ? covariance(p->looks, p->sum[0], p->sum[1], p->product) / (sqrt(a) * sqrt(b)) : 0;
    return both;
}

static double correlation_of(const struct watch *w, uint32_t u, uint32_t v, uint64_t edge) {
    const struct pair first = pair_of(&w->half[0], u, v, edge),
                      second = pair_of(&w->half[1], u, v, edge), all = pair_add(first, second);
    double r, a, b;
    correlation(&all, &r);
    if (!correlation(&first, &a) || !correlation(&second, &b))
        return r;
    const double looks = (double)all.looks;
    return 2 * r - ((double)first.looks / looks * a + (double)second.looks / looks * b);
}

double ISA(watch_correlation)(struct queue_play *q, double *of_server) {
    const struct graph *g = q->p->neighbours;
    double all = 0;
    uint64_t edge = 0;
    memset(of_server, 0, g->n * sizeof *of_server);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
            const uint32_t v = g->neighbour[i];
            if (v < u)
                continue;
            const double r = correlation_of(&q->watch, u, v, edge++);
            all += r;
            of_server[u] += r / graph_degree(g, u);
            of_server[v] += r / graph_degree(g, v);
        }
    return g->n_edges ? all / (double)g->n_edges : 0;
}
