/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue: how much the queues of neighbours go together. All servers are looked at again and again
 * while the window is open, at steps that no stream of jobs keeps in step with. */
#include "queue_play.h"

#include "graph.h"

#include <string.h>

void ISA(watch_open)(struct queue_play *q) {
    struct watch *w = &q->watch;
    const struct graph *g = q->p->neighbours;
    memset(w->sum, 0, g->n * sizeof *w->sum);
    memset(w->square, 0, g->n * sizeof *w->square);
    memset(w->product, 0, g->n_edges * sizeof *w->product);
    w->looks = 0;
}

double ISA(watch_next)(const struct queue_play *q) {
    return q->opened + (double)(q->watch.looks + 1) * QUEUE_LOOK_STEP * q->p->mean_service;
}

void ISA(watch_look)(struct queue_play *q, double time) {
    struct watch *w = &q->watch;
    const struct graph *g = q->p->neighbours;
    for (uint32_t v = 0; v < g->n; v++) {
        const uint32_t load = w->load[v] = look(&q->view, v, time);
        w->sum[v] += load;
        w->square[v] += (uint64_t)load * load;
    }
    uint64_t edge = 0;
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (g->neighbour[i] > u)
                w->product[edge++] += (uint64_t)w->load[u] * w->load[g->neighbour[i]];
    w->looks++;
}

/* looks^2 times the covariance of two queues. */
static double covariance(const struct watch *w, uint32_t u, uint32_t v, uint128 product) {
    const uint128 with = w->looks * product, without = (uint128)w->sum[u] * w->sum[v];
    return with > without ? (double)(with - without) : -(double)(without - with);
}

/* 0 where one of the queues never changes. */
static double correlation(const struct watch *w, uint32_t u, uint32_t v, uint128 product) {
    const double of_u = covariance(w, u, u, w->square[u]), of_v = covariance(w, v, v, w->square[v]);
    return of_u > 0 && of_v > 0 ? covariance(w, u, v, product) / (sqrt(of_u) * sqrt(of_v)) : 0;
}

double ISA(watch_correlation)(struct queue_play *q, double *of_server) {
    const struct watch *w = &q->watch;
    const struct graph *g = q->p->neighbours;
    double all = 0;
    uint64_t edge = 0;
    memset(of_server, 0, g->n * sizeof *of_server);
    for (uint32_t u = 0; u < g->n; u++)
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++) {
            const uint32_t v = g->neighbour[i];
            if (v < u)
                continue;
            const double r = correlation(w, u, v, w->product[edge++]);
            all += r;
            of_server[u] += r / graph_degree(g, u);
            of_server[v] += r / graph_degree(g, v);
        }
    return g->n_edges ? all / (double)g->n_edges : 0;
}
