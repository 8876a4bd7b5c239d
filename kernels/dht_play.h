/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: what a replication needs besides nodes and virtual servers: the ring as queries see it, who comes
 * and goes, sums. */
#ifndef POTLUCK_DHT_PLAY_H
#define POTLUCK_DHT_PLAY_H

#include "dht.h"

enum {
    QUERIES_ABREAST = 256, /* routed side by side; a multiple of CHUNK */
    HOPS_MAX = 72,         /* of a route over full fingers: one for each bit, and the last */
    UTILISATION_LOG = 6,   /* bins of utilisation for quantiles: 2^6 to each doubling */
    UTILISATION_BINS = 2 + (TIME_DOUBLINGS << UTILISATION_LOG),
    SERVER_BINS = 4096 + 16 * 12, /* bins.h, of virtual servers of a node */
    CAPACITY_BINS = 64,           /* below 1, then one to each doubling */
    DHT_HOP_BINS = 4096 + 16 * 12
};

/* Where messages arrive: a virtual server's node, and how many it has received in this step. */
struct post {
    uint32_t node, received;
};

/* The ring as queries see it: its virtual servers in order. Arrays are [room + 1] unless said
 * otherwise. */
struct ring_view {
    bool old;           /* the ring has changed since */
    uint32_t n;         /* virtual servers */
    uint64_t *id;       /* rising; id[n] is 2^64 - 1 */
    uint32_t *server;   /* which they are */
    struct post *post;  /* and whose */
    uint32_t *position; /* [room] of a virtual server: where it stands here */
    uint32_t *bucket;   /* [2^bits] the first position with such leading bits or more */
    unsigned shift;     /* 64 - bits */
    uint32_t *begin;    /* [nodes + 1] those of node i: own[begin[i]] .. own[begin[i + 1] - 1] */
    uint32_t *own;      /* in the order of its list */
    uint32_t *of_key;   /* [n_keys] zipf: where the keys of the present era belong */
    uint64_t era;
    uint32_t *work; /* messages received in this step */
};

/* Routing tables that are made at times (refresh > 1): fingers of all virtual servers. */
struct finger {
    uint64_t id;
    uint32_t server, made; /* `made` of the server when the table was made */
};
struct fingers {
    struct finger
        *of; /* [room][64]; only those from `lowest` on are filled in, below is the successor */
    uint8_t *lowest; /* [room] */
    uint32_t *made;  /* [room] how often this slot has left, moved or come */
    bool *fresh;     /* [room] has no table yet */
};

/* A query under way. */
struct query {
    uint64_t key;
    uint32_t at, owner; /* positions */
    uint32_t hops;
};

/* Sums over the steps that count. */
struct dht_sums {
    uint64_t queries, succeeded, dropped, lost, hops, received;
    uint64_t steps, node_seconds, server_seconds, overloaded;
    uint64_t events[EVENTS];
    double moved_space, moved_work, work;
};

struct dht_play {
    struct ring_view view;
    struct fingers fingers;
    /* Step. */
    int32_t *room; /* [n] messages a node accepts in this step */
    int32_t *left; /* [n] how many more; below 0: so many were dropped */
    uint64_t first_query, n_queries;
    double carry;
    bool counts;          /* this step is recorded */
    struct dht_sums done; /* by the queries of this step */
    /* Queries. */
    uint64_t *key;       /* [n_keys] */
    uint32_t *route;     /* [QUERIES_ABREAST][HOPS_MAX] */
    struct query *query; /* [most_queries] hop-synchronous: under way */
    uint64_t most_queries;
    /* Churn. */
    double *change;  /* [n] when it next goes up or down */
    uint64_t *cycle; /* [n] times up, times down begun: low and high halves */
    uint32_t *heap;  /* [n] nodes by next change */
    struct lanes ups, downs;
    void *lane_memory[2]; /* of their values; NULL: no laws */
    void *ring_memory;
    struct lane_values up_values, down_values;
    uint32_t *order; /* [n] of turns */
    uint32_t *words; /* [n rounded up to CHUNK] */
    bool begun;      /* the balancer's first turns have been */
    /* Record. */
    struct dht_sums sums;
    uint64_t *total, *seconds;  /* [n] messages received and seconds up, in steps that count */
    uint64_t *utilisation;      /* [UTILISATION_BINS] node-seconds */
    uint64_t *now;              /* [UTILISATION_BINS] the same of one step */
    uint64_t *servers_of_node;  /* [SERVER_BINS] */
    uint64_t *hop_bins;         /* [DHT_HOP_BINS] */
    uint64_t *moves_by_class;   /* [CAPACITY_BINS] */
    uint64_t *seconds_by_class; /* [CAPACITY_BINS] */
    bool shown;                 /* an interval of the series ends with this step */
    struct dht_sums interval;   /* from its first step on, whether they count or not */
};

static inline uint32_t received_by(const struct dht_play *q, uint32_t node) {
    return (uint32_t)q->room[node] - (uint32_t)q->left[node];
}

/* Bytes of a replication with room for so many virtual servers, and queries under way. */
uint64_t ISA(dht_bytes)(const struct dht_point *p, uint64_t room, uint64_t queries);
uint64_t ISA(dht_first_room)(const struct dht_point *p);
uint64_t ISA(dht_first_queries)(const struct dht_point *p);
/* Plays the replications of `out`. */
uint64_t ISA(dht_play)(const struct dht_point *p, uint64_t key, struct workspace work,
                       struct outcome *out);

/* dht_change.c: counts an event and logs it. */
void ISA(dht_tell)(const struct dht *d, enum dht_event event, uint32_t node, uint64_t id,
                   uint64_t other);
/* dht_churn.c: nodes come up, go down. */
void ISA(churn_begin)(struct dht *d);
/* Changes up to the present step; false: no room for the virtual servers. */
bool ISA(churn_step)(struct dht *d);
/* dht_route.c */
void ISA(route_update)(struct dht *d);
bool ISA(route_queries)(struct dht *d);
/* dht_record.c */
void ISA(dht_record_begin)(struct dht *d);
/* After the queries of a step, after its turns, after the last. */
void ISA(dht_record_step)(struct dht *d);
void ISA(dht_record_turns)(struct dht *d, struct outcome *out, uint64_t index);
void ISA(dht_record_end)(struct dht *d, struct outcome *out, uint64_t index);

#endif
