/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: nodes with capacities on a ring of identifiers, each with virtual servers that own the arcs up
 * to their identifiers; queries are routed over fingers and dropped where a node is out of capacity;
 * balancers make, delete and move virtual servers (Ledlie and Seltzer, INFOCOM 2005, 1419-1430).
 *
 * Identifiers are whole numbers modulo 2^64. A virtual server v owns (identifier of the one before v,
 * its own]. The work of a virtual server is what it receives, in messages a second, dropped ones
 * included, and `maintenance`; `load` estimates what it receives: a mean over about the last `measure`
 * seconds, shared out by length of arc whenever arcs change owner. One step is one second: churn,
 * routing tables, queries, balancing. */
#ifndef POTLUCK_DHT_H
#define POTLUCK_DHT_H

#include "isa.h"
#include "kernel.h"
#include "lanes.h"
#include "ring.h"
#include "windows.h"

#define NO_SERVER UINT32_MAX

enum {
    DHT_NODES,
    DHT_IDS,
    DHT_CAPACITY,
    DHT_QUERIES,
    DHT_DESTINATIONS,
    DHT_LIFETIME,
    DHT_DOWNTIME,
    DHT_BALANCER,
    DHT_DURATION,
    DHT_RECORD_FROM,
    DHT_INTERVAL,
    DHT_BALANCE_FROM,
    DHT_PERIOD,
    DHT_MEASURE,
    DHT_EPSILON,
    DHT_TARGET,
    DHT_ORDER,
    DHT_CHARGE,
    DHT_MAINTENANCE,
    DHT_ROUTING,
    DHT_REFRESH,
    DHT_PARAMETERS
};
enum {
    DHT_SUCCESS,
    DHT_DROPPED,
    DHT_LOST,
    DHT_HOPS,
    DHT_MESSAGES,
    DHT_UTILISATION_Q50,
    DHT_UTILISATION_Q95,
    DHT_OVERLOADED,
    DHT_NODES_UP,
    DHT_SERVERS,
    DHT_SERVERS_Q50,
    DHT_SERVERS_Q95,
    DHT_NATURAL,
    DHT_ARTIFICIAL,
    DHT_CREATIONS,
    DHT_DELETIONS,
    DHT_TRANSFERS,
    DHT_RELOCATIONS,
    DHT_SPLITS,
    DHT_SHIFTS,
    DHT_MOVED_SPACE,
    DHT_MOVED_WORK,
    DHT_MAX_SHARE,
    DHT_MIN_SHARE,
    DHT_SHARE_VARIANCE,
    DHT_SHARE_R2,
    DHT_ROWS
};
enum {
    COUNT_UTILISATION,
    COUNT_HOPS,
    COUNT_SERVERS,
    COUNT_RELOCATIONS,
    COUNT_NODE_SECONDS,
    SERIES_SUCCESS,
    SERIES_HOPS,
    SERIES_UTILISATION,
    SERIES_NODES,
    SERIES_SERVERS,
    SERIES_NATURAL,
    SERIES_ARTIFICIAL,
    SERIES_MOVED_SPACE,
    DHT_HISTOGRAMS
};
/* What one count of a tally stands for: of a share, of the smallest one, of anything else; and of a series that is no share,
 * whose values end at DHT_SERIES_TOP. */
#define DHT_SHARE_UNIT 0x1p-40
#define DHT_SMALL_UNIT 0x1p-60
#define DHT_UNIT 0x1p-24
#define DHT_SERIES_UNIT 0x1p-16
#define DHT_SERIES_TOP 0x1p28
enum {
    NODES_MAX = 1 << 24,
    IDENTIFIERS_MAX = 64, /* numbers i of h(x + i) */
    LEVELS_MAX = 200      /* of utilisation */
};

/* What happens to virtual servers and nodes. */
enum dht_event {
    EVENT_UP,
    EVENT_DOWN,
    EVENT_JOIN,   /* natural: a virtual server of a node that comes up */
    EVENT_LEAVE,  /* natural: of one that goes down */
    EVENT_CREATE, /* artificial, from here on */
    EVENT_DELETE,
    EVENT_SPLIT,
    EVENT_GIVE,  /* to another node, the identifier stays */
    EVENT_MOVE,  /* leaves and rejoins elsewhere */
    EVENT_SHIFT, /* moves its identifier towards or away from that of a neighbour */
    EVENTS
};

struct dht;
struct balancer;

/* A point made ready to play: shared, read only. */
struct dht_point {
    const struct value *values;
    const struct balancer *balancer;
    const struct value *rule; /* the balancer's own parameters */
    uint32_t n;
    uint64_t duration, record_from, interval, balance_from, period, measure, refresh;
    double queries, maintenance;
    double target, high, low; /* target, over- and underload as shares of capacity */
    bool synchronous, delivers, one_hop;
    double spread[2]; /* mean / 93.7, or median and sigma */
    /* A capacity from two words. */
    double (*draw)(const struct dht_point *p, uint32_t high, uint32_t low);
    double *given;        /* [n] capacities that are the same in every replication; NULL: drawn */
    uint64_t *cumulative; /* zipf: [n_keys] probabilities summed up, in units of 2^-64 */
    uint32_t
        *guide; /* zipf: [2^guide_bits + 1] the first rank for a number with such leading bits */
    unsigned guide_bits;
    uint32_t n_keys; /* 0: uniform destinations */
    uint64_t shift;  /* second from which on the keys are others */
    bool churns;
    const struct windows *sessions; /* when nodes are up; NULL: as the laws say */
    struct windows trace;
    struct sampled_law life, down; /* times up and down */
    double availability;
    double *
        thresholds; /* of balancer threshold: [n_thresholds] utilisations where levels 1, 2, .. begin */
    unsigned n_thresholds;
    uint32_t per_node; /* virtual servers of a node, at most; 0: no bound */
    uint32_t joining;  /* of a node that joins, at most */
    /* Tests: told of every event, in order. */
    void (*log)(void *context, const struct dht *d, enum dht_event event, uint32_t node,
                uint64_t id, uint64_t other);
    void (*log_step)(void *context, const struct dht *d);
    void *context;
};

/* State of a replication. Arrays of nodes are [n], arrays of virtual servers [room]. */
struct dht {
    const struct dht_point *p;
    struct stream words;
    uint64_t step;
    /* Nodes. */
    double *capacity;
    uint64_t *placed;       /* identifier 0, where `ids` places it; else NULL */
    uint32_t *first, *last; /* its virtual servers, in order of creation */
    uint32_t *servers;      /* how many */
    uint64_t *used;         /* bit i: identifier number i is in use */
    uint32_t *level;        /* threshold: when it was last asked */
    uint32_t *up;           /* [n_up] the nodes that are up */
    uint32_t *place;        /* where a node stands in `up`; NO_SERVER: down */
    uint32_t n_up;
    /* Virtual servers. */
    uint64_t *id;
    uint32_t *node, *next;    /* next of the same node; NO_SERVER: the last */
    uint32_t *before, *after; /* neighbours on the ring */
    uint8_t *number;          /* i of identifier h(x + i); IDENTIFIERS_MAX: none of them */
    double *load;
    uint32_t n_servers, room, unused, n_unused; /* unused: a list by `next` */
    struct ring ring;
    double anticipated; /* work of the whole ring before anything is measured */
    double mean_capacity;
    struct dht_play *play; /* dht_play.c, dht_route.c */
};

/* A rule that balances: one file in balancers/ and one line in balancers.def. */
struct balancer {
    struct kind kind;
    bool own_identifiers; /* identifiers are always h(x + i), which others can verify */
    /* Virtual servers of a node, at most, among n nodes; 0: no bound. */
    uint32_t (*most)(const struct value *rule, uint32_t n);
    /* Rules without a bound: virtual servers of a node that joins. */
    uint32_t (*initial)(const struct value *rule);
    /* A node that has come up makes its virtual servers, one at least, with EVENT_JOIN. NULL: one at
     * identifier 0. */
    void (*join)(struct dht *d, uint32_t node);
    /* Rules that go by levels: the utilisations at which levels 1, 2, .. begin, into at[LEVELS_MAX]; how
     * many. NULL: others. */
    unsigned (*levels)(const struct value *rule, double *at);
    /* Before the first turn of all. NULL: nothing to do. */
    void (*begin)(struct dht *d);
    /* The turn of a node that is up; makes one virtual server at most. NULL: never acts. */
    void (*turn)(struct dht *d, uint32_t node);
    double nanoseconds; /* expected, of a turn */
};
extern const struct catalogue ISA(balancers);

/* ---- what balancers see ---- */

/* Length of the arc (a, b] less one, exact; a == b is the whole ring. */
static inline uint64_t arc_less_one(uint64_t a, uint64_t b) {
    return b - a - 1;
}
static inline double arc_length(uint64_t a, uint64_t b) {
    return (double)arc_less_one(a, b) + 1;
}
/* Half of the arc of v, rounded down; 0 of an arc of one identifier. */
static inline uint64_t dht_half(const struct dht *d, uint32_t v) {
    const uint64_t x = arc_less_one(d->id[d->before[v]], d->id[v]);
    return x / 2 + (x & 1);
}
static inline double dht_arc(const struct dht *d, uint32_t v) {
    return arc_length(d->id[d->before[v]], d->id[v]);
}
/* Messages a second of a virtual server, of a node, and the same over its capacity. */
static inline double dht_weight(const struct dht *d, uint32_t v) {
    return d->load[v] + d->p->maintenance;
}
static inline double dht_work(const struct dht *d, uint32_t node) {
    double work = 0;
    for (uint32_t v = d->first[node]; v != NO_SERVER; v = d->next[v])
        work += dht_weight(d, v);
    return work;
}
static inline double dht_utilisation(const struct dht *d, uint32_t node) {
    return dht_work(d, node) / d->capacity[node];
}
/* How many of the thresholds its utilisation has reached. */
static inline uint32_t dht_level(const struct dht *d, uint32_t node) {
    const double utilisation = d->p->n_thresholds ? dht_utilisation(d, node) : 0;
    uint32_t level = 0;
    while (level < d->p->n_thresholds && utilisation >= d->p->thresholds[level])
        level++;
    return level;
}
static inline double dht_target(const struct dht *d, uint32_t node) {
    return d->p->target * d->capacity[node];
}
static inline double dht_over(const struct dht *d, uint32_t node) {
    return dht_target(d, node) * d->p->high;
}
static inline bool dht_is_over(const struct dht *d, uint32_t node, double work) {
    return work > dht_over(d, node);
}
static inline bool dht_is_under(const struct dht *d, uint32_t node, double work) {
    return work < dht_target(d, node) * d->p->low;
}
/* Bin of a capacity: below 1, then one to each doubling. */
static inline unsigned dht_class(double capacity) {
    int exponent;
    (void)frexp(capacity, &exponent);
    return capacity < 1 ? 0 : exponent < 63 ? (unsigned)exponent : 63;
}
/* Identifier h(x + number) of a node. */
uint64_t ISA(dht_identifier)(const struct dht *d, uint32_t node, unsigned number);
/* The virtual server that owns a key, of a ring that is not empty. */
static inline uint32_t dht_owner(const struct dht *d, uint64_t key) {
    return ring_at_or_after(&d->ring, key);
}
/* A number below n, n >= 1, of a node's own words in this step; slot < 64. */
static inline uint32_t dht_pick(const struct dht *d, uint32_t node, unsigned slot, uint32_t n) {
    return rng_below(d->words, PURPOSE_PICK, node, d->step * 64 + slot, n);
}

/* ---- what balancers do; each keeps ring, lists and estimates, counts and logs ---- */

/* A new virtual server of a node at an identifier, or at the next free one; `number` as above. It takes
 * its share of its successor's load. */
uint32_t ISA(dht_create)(struct dht *d, enum dht_event event, uint32_t node, uint64_t id,
                         unsigned number);
/* It leaves; its load goes to its successor. */
void ISA(dht_delete)(struct dht *d, enum dht_event event, uint32_t v);
/* It leaves and rejoins at an identifier. */
void ISA(dht_move)(struct dht *d, uint32_t v, uint64_t id, unsigned number);
/* Takes v off the ring only, its load to its successor, and puts it back elsewhere: for moves whose goal
 * depends on the ring without it. */
uint64_t ISA(dht_lift)(struct dht *d, uint32_t v);
void ISA(dht_drop)(struct dht *d, uint32_t v, uint64_t from, uint64_t id, unsigned number);
/* Its node becomes another. */
void ISA(dht_give)(struct dht *d, uint32_t v, uint32_t node);
/* Its identifier becomes `id`, between its neighbours still; `giver` loses `load`, `taker` gets it. */
void ISA(dht_shift)(struct dht *d, uint32_t v, uint64_t id, uint32_t giver, uint32_t taker,
                    double load);

#endif
