/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When jobs of the model `queue` come, and where. Kinds of streams (`arrivals`):
 *   poisson             for each server or for all together, which is the same law
 *   <law>               renewal: gaps of any law of laws.def, scaled to the rate; a stream for each
 *                       server, or one for all with uniform origins. It starts in equilibrium (the
 *                       first gap has the law of the residual life) unless synchronised: then the
 *                       first arrival comes one whole gap after time 0
 *   batch{size}         Poisson batches, all jobs of a batch at one origin
 *   mmpp{rates, switch} Poisson whose rate goes round a cycle of states, in equilibrium from the
 *                       start: a stream for each server with states of its own, or one for all
 *   trace{file}         as a file says
 * Job numbers follow the order of time; ties go by server number, then by order within a stream. */
#ifndef POTLUCK_ARRIVALS_H
#define POTLUCK_ARRIVALS_H

#include "isa.h"
#include "kernel.h"
#include "law.h"
#include "sampler.h"

/* The streams, a catalogue of entries: parameter `arrivals` of the model (standard "poisson"). */
extern const struct catalogue ISA(arrivals);

/* A stream as a job asks for it. */
struct arrivals_wish {
    const struct entry *entry; /* of the catalogue */
    double lambda;             /* rate per server; of no account where arrivals_timed() */
    bool total;                /* arrival_scope: one stream for all */
    bool synchronised;
    uint64_t n;         /* servers, 1 .. SERVERS_MAX */
    const double *rate; /* [n] arrival_rates, multipliers >= 0, not all 0; NULL: all 1. Borrowed
                           until arrivals_prepare() returns */
};

/* The parameter that is at fault when a wish is refused. */
enum arrivals_fault {
    ARRIVALS_ENTRY, /* with `inner` the parameter of the entry */
    ARRIVALS_SCOPE,
    ARRIVALS_SYNCHRONISED,
    ARRIVALS_RATES
};

struct arrivals_facts {
    double rate;   /* jobs per unit time, all servers together; server i gets rate[i] / sum of it,
                        or 1/n (trace with servers: see arrivals_rate_of()) */
    double scale;  /* a typical time between jobs at one server, for grids of times */
    uint64_t jobs; /* a trace: how many there are; otherwise UINT64_MAX */
    bool independent; /* origins are independent of each other and of times: uniform, or by rates */
    bool
        origins; /* arrivals_next() gives origins. Otherwise they are independent and uniform, drawn
                     by whoever draws candidates (PURPOSE_ORIGIN, lane 0), and spaces of points may
                     be played, where a job appears at a point */
    uint64_t batch;      /* jobs that come at one time, each time; 0: not in batches */
    bool services;       /* arrivals_next() gives services: a trace with them */
    double mean_service; /* of those */
    bool poisson;       /* the stream of every server is Poisson, independent of the others, so that
                     arrivals see time averages */
    uint64_t bytes;     /* of the prepared stream, per rank */
    uint64_t memory;    /* bytes of the state of one replication */
    double nanoseconds; /* expected per job */
};

/* Checks a wish and states its facts. On refusal `fault` and (ARRIVALS_ENTRY) `inner`, the index of
 * the parameter of the entry, or n_parameters for the entry as a whole. */
bool ISA(arrivals_examine)(const struct arrivals_wish *wish, struct arrivals_facts *facts,
                           struct reason *why, enum arrivals_fault *fault, unsigned *inner);
/* Whether a stream brings its times with it, so that lambda means nothing to it. */
bool ISA(arrivals_timed)(const struct entry *entry);
/* Jobs per unit time that arrive at each server, into rate[n]. */
void ISA(arrivals_rates)(const struct arrivals_wish *wish, double *rate);

struct arrivals; /* a stream made ready: shared, read only */
struct arrivals *ISA(arrivals_prepare)(const struct arrivals_wish *wish);
void ISA(arrivals_free)(struct arrivals *a);

/* Starts a replication in facts.memory bytes, 64-byte aligned. */
void ISA(arrivals_begin)(const struct arrivals *a, void *memory, struct stream s);
/* The next jobs, a block at a time: numbers first .. first + BLOCK - 1, where `first` is 0 at
 * first and rises by BLOCK. Into time[BLOCK], origin[BLOCK] (if facts.origins; else may be NULL) and
 * service[BLOCK] (if facts.services; else may be NULL). Returns how many there are, fewer than
 * BLOCK only at the end of a trace. */
uint32_t ISA(arrivals_next)(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                            double *time, uint32_t *origin, double *service);

#endif
