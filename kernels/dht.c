/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: what a job may say of it, and a point made ready. Not modelled: latency, caching, replicas of
 * keys, the traffic that balancing itself makes. */
#include "dht_play.h"

#include "dht_examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter parameters[DHT_PARAMETERS] = {
    [DHT_NODES] = {.name = "nodes",
                   .type = TYPE_COUNT,
                   .lower = 1,
                   .upper = NODES_MAX,
                   .units = "node",
                   .meaning = "number of nodes, those that are down included"},
    [DHT_IDS] = {.name = "ids",
                 .type = TYPE_WORD,
                 .standard = "random",
                 .words = "random|equal|proportional",
                 .units = "1",
                 .meaning =
                     "first identifier of each node: uniform, so that all arcs are equal, or so "
                     "that they are as the capacities"},
    [DHT_CAPACITY] = {.name = "capacity",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(capacities),
                      .standard = "100",
                      .units = "1",
                      .meaning = "messages that a node takes in a second"},
    [DHT_QUERIES] = {.name = "queries",
                     .type = TYPE_REAL,
                     .lower = 1e-6,
                     .upper = 1e6,
                     .standard = "10",
                     .units = "1/s",
                     .meaning = "queries a second of each node that is up"},
    [DHT_DESTINATIONS] = {.name = "destinations",
                          .type = TYPE_ENTRY,
                          .catalogue = &ISA(destinations),
                          .standard = "uniform",
                          .units = "1",
                          .meaning = "keys that are asked for"},
    [DHT_LIFETIME] = {.name = "lifetime",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(lifetimes),
                      .standard = "unlimited",
                      .units = "1",
                      .meaning = "law of the times that a node stays up, in seconds"},
    [DHT_DOWNTIME] = {.name = "downtime",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(downtimes),
                      .standard = "same",
                      .units = "1",
                      .meaning = "law of the times that a node stays down, in seconds"},
    [DHT_BALANCER] = {.name = "balancer",
                      .type = TYPE_ENTRY,
                      .catalogue = &ISA(balancers),
                      .standard = "none",
                      .units = "1",
                      .meaning = "rule that evens out the load"},
    [DHT_DURATION] = {.name = "duration",
                      .type = TYPE_COUNT,
                      .lower = 1,
                      .upper = 1 << 25,
                      .standard = "3600",
                      .units = "s",
                      .meaning = "seconds that are played"},
    [DHT_RECORD_FROM] = {.name = "record_from",
                         .type = TYPE_COUNT,
                         .lower = 0,
                         .upper = 1 << 25,
                         .standard = "unset",
                         .units = "s",
                         .meaning =
                             "second from which on statistics count; unset: half of duration"},
    [DHT_INTERVAL] = {.name = "interval",
                      .type = TYPE_COUNT,
                      .lower = 1,
                      .upper = 1 << 25,
                      .standard = "60",
                      .fixed = true,
                      .units = "s",
                      .meaning = "length of the intervals of the series"},
    [DHT_BALANCE_FROM] = {.name = "balance_from",
                          .type = TYPE_COUNT,
                          .lower = 0,
                          .upper = 1 << 25,
                          .standard = "400",
                          .optional_use = true,
                          .units = "s",
                          .meaning = "second of the first turns to balance"},
    [DHT_PERIOD] = {.name = "period",
                    .type = TYPE_COUNT,
                    .lower = 1,
                    .upper = 1 << 25,
                    .standard = "1",
                    .optional_use = true,
                    .units = "s",
                    .meaning = "time from one turn of a node to the next"},
    [DHT_MEASURE] = {.name = "measure",
                     .type = TYPE_COUNT,
                     .lower = 1,
                     .upper = 1 << 25,
                     .standard = "10",
                     .units = "s",
                     .meaning = "time over which received messages are averaged"},
    [DHT_EPSILON] = {.name = "epsilon",
                     .type = TYPE_REAL,
                     .lower = 0,
                     .upper = 1,
                     .standard = "0.25",
                     .optional_use = true,
                     .units = "1",
                     .meaning = "a node is over- and underloaded beyond target (1 +- epsilon)"},
    [DHT_TARGET] = {.name = "target",
                    .type = TYPE_REAL,
                    .lower = 1e-6,
                    .upper = 1e6,
                    .standard = "0.75",
                    .optional_use = true,
                    .units = "1",
                    .meaning = "work that a node aims at, as a share of its capacity"},
    [DHT_ORDER] = {.name = "order",
                   .type = TYPE_WORD,
                   .standard = "sequential",
                   .words = "sequential|hop-synchronous",
                   .units = "1",
                   .meaning = "one query ends before the next begins, or all go hop by hop"},
    [DHT_CHARGE] = {.name = "charge",
                    .type = TYPE_WORD,
                    .standard = "forwarding",
                    .words = "forwarding|delivery",
                    .units = "1",
                    .meaning = "whether the last hop of a query is free, or takes capacity too"},
    [DHT_MAINTENANCE] = {.name = "maintenance",
                         .type = TYPE_REAL,
                         .lower = 0,
                         .upper = 1e6,
                         .standard = "0",
                         .units = "1/s",
                         .meaning = "messages a second that every virtual server receives besides"},
    [DHT_ROUTING] = {.name = "routing",
                     .type = TYPE_WORD,
                     .standard = "fingers",
                     .words = "fingers|one-hop",
                     .units = "1",
                     .meaning = "over fingers, or straight to the owner"},
    [DHT_REFRESH] = {.name = "refresh",
                     .type = TYPE_COUNT,
                     .lower = 1,
                     .upper = 1 << 25,
                     .standard = "1",
                     .units = "s",
                     .meaning = "time after which a virtual server makes its fingers anew; 1: they "
                                "are always right"},
};

static const struct row rows[DHT_ROWS] = {
    [DHT_SUCCESS] = {"success", "1",
                     "share of queries that reach the owner of their key (1 where nobody asks)", "",
                     true},
    [DHT_DROPPED] = {"dropped", "1", "share of queries dropped by a node out of capacity", "",
                     true},
    [DHT_LOST] = {"lost", "1", "share of queries sent to where nobody is any more", "", true},
    [DHT_HOPS] = {"hops", "hop", "mean hops of successful queries, the last one included", "",
                  true},
    [DHT_MESSAGES] = {"messages", "1/s",
                      "messages a node receives in a second, dropped ones and maintenance included",
                      "", true},
    [DHT_UTILISATION_Q50] = {"utilisation_q50", "1",
                             "median over nodes and seconds of the work of a node, averaged over "
                             "`measure`, over its capacity",
                             "", true},
    [DHT_UTILISATION_Q95] = {"utilisation_q95", "1",
                             "95 % quantile over nodes and seconds of the utilisation", "", true},
    [DHT_OVERLOADED] = {"overloaded", "1",
                        "share of nodes and seconds with more work than capacity", "", true},
    [DHT_NODES_UP] = {"nodes_up", "node", "mean number of nodes that are up", "", true},
    [DHT_SERVERS] = {"virtual_servers", "1", "mean number of virtual servers of a node", "", true},
    [DHT_SERVERS_Q50] = {"virtual_servers_q50", "1",
                         "median over nodes and seconds of the number of virtual servers of a node",
                         "", true},
    [DHT_SERVERS_Q95] =
        {"virtual_servers_q95", "1",
         "95 % quantile over nodes and seconds of the number of virtual servers of a node", "",
         true},
    [DHT_NATURAL] = {"actions_natural", "1/h",
                     "virtual servers that come and go with their nodes, per node and hour",
                     "Ledlie and Seltzer, INFOCOM 2005", true},
    [DHT_ARTIFICIAL] =
        {"actions_artificial", "1/h",
         "creations, deletions, transfers and twice the relocations, per node and hour",
         "Ledlie and Seltzer, INFOCOM 2005", true},
    [DHT_CREATIONS] = {"creations", "1/h", "virtual servers made by balancing, per node and hour",
                       "", true},
    [DHT_DELETIONS] = {"deletions", "1/h",
                       "virtual servers deleted by balancing, per node and hour", "", true},
    [DHT_TRANSFERS] = {"transfers", "1/h",
                       "virtual servers given to another node, per node and hour", "", true},
    [DHT_RELOCATIONS] =
        {"relocations", "1/h",
         "virtual servers that leave and rejoin elsewhere on the ring, per node and hour", "",
         true},
    [DHT_SPLITS] = {"splits", "1/h", "virtual servers split in two (no action), per node and hour",
                    "", true},
    [DHT_SHIFTS] = {"shifts", "1/h",
                    "identifiers shifted between neighbours (no action), per node and hour", "",
                    true},
    [DHT_MOVED_SPACE] =
        {"moved_space", "1/h",
         "identifier space that changes owner by balancing, in whole rings per hour", "", true},
    [DHT_MOVED_WORK] = {"moved_work", "1/h",
                        "work that changes owner by balancing, in parts of all work, per hour", "",
                        true},
    [DHT_MAX_SHARE] = {"max_share", "1", "largest share of the ring of a node, at the end", "",
                       true},
    [DHT_MIN_SHARE] = {"min_share", "1", "smallest share of the ring of a node, at the end", "",
                       true},
    [DHT_SHARE_VARIANCE] = {"share_variance", "1",
                            "variance over nodes of their share of the ring over its mean, at the "
                            "end",
                            "", true},
    [DHT_SHARE_R2] = {"share_r2", "1",
                      "r^2 over nodes of the line through the origin that tells their mean work, "
                      "over capacity, from their share of the ring at the end",
                      "Ledlie and Seltzer, INFOCOM 2005, Table I", true},
};

#define SERIES(id, name, units, what)                                                              \
    [id] = {name,                                                                                  \
            units,                                                                                 \
            what ", by interval, mean over replications",                                          \
            AXIS_SECOND,                                                                           \
            .averages = true,                                                                      \
            .batched = true}
static const struct histogram histograms[DHT_HISTOGRAMS] = {
    [COUNT_UTILISATION] = {.name = "utilisation_count",
                           .units = "s",
                           .long_name = "seconds of nodes by utilisation",
                           .axis = AXIS_UTILISATION},
    [COUNT_HOPS] = {.name = "hop_count",
                    .units = "query",
                    .long_name = "successful queries by hops",
                    .axis = AXIS_HOP},
    [COUNT_SERVERS] = {.name = "virtual_server_count",
                       .units = "s",
                       .long_name = "seconds of nodes by how many virtual servers they have",
                       .axis = AXIS_NODE_SERVERS},
    [COUNT_RELOCATIONS] = {.name = "relocation_count",
                           .units = "1",
                           .long_name = "relocations by capacity of the node that moves",
                           .axis = AXIS_CAPACITY},
    [COUNT_NODE_SECONDS] = {.name = "node_seconds",
                            .units = "s",
                            .long_name = "seconds of nodes by capacity",
                            .axis = AXIS_CAPACITY},
    SERIES(SERIES_SUCCESS, "success_series", "1",
           "share of queries that succeed (1 where nobody asks)"),
    SERIES(SERIES_HOPS, "hops_series", "hop", "mean hops of successful queries"),
    SERIES(SERIES_UTILISATION, "utilisation_q95_series", "1",
           "95 % quantile over nodes of the utilisation at the end"),
    SERIES(SERIES_NODES, "nodes_up_series", "node", "nodes that are up"),
    SERIES(SERIES_SERVERS, "virtual_servers_series", "1", "virtual servers of a node"),
    SERIES(SERIES_NATURAL, "actions_natural_series", "1/h", "natural actions per node and hour"),
    SERIES(SERIES_ARTIFICIAL, "actions_artificial_series", "1/h",
           "artificial actions per node and hour"),
    SERIES(SERIES_MOVED_SPACE, "moved_space_series", "1/h",
           "identifier space that changes owner by balancing, in whole rings per hour"),
};

static bool uses(const struct value *v, unsigned parameter) {
    if (parameter == DHT_DOWNTIME)
        return lifetime_is_law(v[DHT_LIFETIME].entry);
    return true;
}

static void shared_text(const struct value *v, char *text, size_t size) {
    snprintf(text, size, "dht: {nodes: %llu}", (unsigned long long)v[DHT_NODES].count);
}

static void release(void *prepared) {
    struct dht_point *p = prepared;
    if (p)
        ISA(dht_clear)(p);
    free(p);
}

static void *prepare(const struct value *v, uint64_t key, const struct budget *budget,
                     struct reason *why) {
    (void)key, (void)budget, (void)why;
    struct dht_point *p = allocate(1, sizeof *p);
    ISA(dht_prepare)(v, p);
    return p;
}

static uint64_t play(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *out) {
    return ISA(dht_play)(prepared, key, work, out);
}

const struct model ISA(model_dht) = {
    .kind = {"dht", "virtual servers on a ring of identifiers: balancers under skew and churn",
             "Ledlie and Seltzer, INFOCOM 2005", parameters, DHT_PARAMETERS},
    .rows = rows,
    .n_rows = DHT_ROWS,
    .histograms = histograms,
    .n_histograms = DHT_HISTOGRAMS,
    .law = -1,
    .cost = -1,
    .contender = -1,
    .uses = uses,
    .examine = ISA(dht_examine),
    .shared_text = shared_text,
    .prepare = prepare,
    .release = release,
    .play = play};
