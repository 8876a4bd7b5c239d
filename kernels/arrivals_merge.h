/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stream of arrivals for each server, merged window by window. A pass over the servers lets each
 * give out its arrivals before the end of the window, which is as long as about as many arrivals take
 * as there are servers; buckets by time then put them in order. So memory is read in order, and an
 * arrival costs the same for any number of servers. What comes out does not depend on the windows. */
#ifndef POTLUCK_ARRIVALS_MERGE_H
#define POTLUCK_ARRIVALS_MERGE_H

#include "arrivals_parts.h"

struct arrival {
    double time;
    uint32_t server;
};

/* Head of the state of a replication; its arrays follow it in memory, and then what belongs to the
 * streams. */
struct merge {
    double end;            /* of the window that is given out */
    uint32_t ready, given; /* arrivals of the window, and how many of them went */
    uint32_t room;         /* for arrivals of a window */
    bool crowded; /* the window is one moment and may have more arrivals than there is room */
    struct arrival *arrival, *sorted; /* [room] */
    uint32_t *bucket;
    void *streams; /* 8-byte aligned */
    /* Puts all arrivals before `end` into m->arrival, server by server, sets m->ready and goes on
     * behind them; `first` becomes the first arrival of all that are left. When there are more than
     * m->room: if crowded, takes as many as there is room; else false, nothing has happened, and an
     * earlier end comes next. */
    bool (*gather)(const struct arrivals *a, struct merge *m, struct stream s, double end,
                   double *first);
};

/* Bytes of the state for n servers without what belongs to the streams. */
uint64_t ISA(merge_memory)(uint64_t n);
/* Lays the state out, at time 0; m->gather and what is in m->streams are the caller's to set. */
void ISA(merge_begin)(struct merge *m, uint64_t n);
/* The next BLOCK arrivals. */
void ISA(merge_next)(const struct arrivals *a, struct merge *m, struct stream s, double *time,
                     uint32_t *origin);

#endif
