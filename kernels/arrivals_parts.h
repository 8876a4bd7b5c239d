/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files of arrivals share. */
#ifndef POTLUCK_ARRIVALS_PARTS_H
#define POTLUCK_ARRIVALS_PARTS_H

#include "arrivals.h"
#include "lanes.h"
#include "number_file.h"

/* Lanes of PURPOSE_ARRIVAL: from 0 the gaps (of each server, or of all together); */
enum {
    LANES_SWITCH = LANES_APART + LAW_LANES, /* mmpp, one stream for all: times spent in states */
    LANES_STATE = LANES_SWITCH + LAW_LANES  /* mmpp: the state at time 0, by number of the stream */
};
#define LANES_SWITCHES 0x80000000u /* mmpp, a stream for each server: times spent in states */

struct arrivals {
    const struct stream_kind *kind;
    uint64_t n;
    double rate;            /* all servers together */
    struct sampled_law gap; /* of a stream; of batches; with mmpp its mean is 1 */
    bool synchronised;
    uint32_t size; /* jobs of a batch; otherwise 1 */

    /* Origins by rate: Walker's alias table, NULL when uniform. Slot i keeps when its word is below
     * share[i], else goes to other[i]. */
    uint32_t *share, *other;

    double *stretch; /* streams per server: factor of its gaps, NULL: 1; INFINITY: never comes */

    /* mmpp: cycle of states. */
    unsigned states;
    double *state_rate, *state_share; /* jobs per unit time of a stream; cumulated stationary law */
    double *state_mean;               /* mean time in a state */
    struct sampled_law stay;          /* of mean 1 */

    /* trace */
    uint64_t jobs;
    double *time, *service;
    uint32_t *origin;
};

/* One kind of stream. Renewal streams have no row here but the law's. */
struct stream_kind {
    struct kind kind;
    bool (*examine)(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner);
    void (*prepare)(const struct arrivals_wish *w, struct arrivals *a);
    void (*begin)(const struct arrivals *a, void *memory, struct stream s);
    uint32_t (*next)(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service);
};

extern const struct stream_kind ISA(stream_poisson), ISA(stream_batch), ISA(stream_mmpp),
    ISA(stream_trace);
/* A stream for each server: of mmpp; of a law's gaps. One stream for all of a law's gaps. */
extern const struct stream_kind ISA(stream_modulated), ISA(stream_merged), ISA(stream_renewal);

/* Jobs per unit time of all servers together. */
double ISA(arrivals_total)(const struct arrivals_wish *w);
/* [n] factors of the gaps of streams per server; the caller frees. */
double *ISA(arrivals_stretch)(const struct arrivals_wish *w);
/* An exponential law of this mean. */
void ISA(arrivals_exponential)(double mean, struct sampled_law *law);
/* Origins of jobs (or batches) first .. , a multiple of 64, uniform or by rate; there is room for
 * count rounded up to 64. */
void ISA(arrivals_origins)(const struct arrivals *a, struct stream s, uint64_t first,
                           uint32_t count, uint32_t *origin);
/* Adds gaps first .. first + count - 1 up, from *clock on, into time[]. */
void ISA(arrivals_gaps)(const struct arrivals *a, struct stream s, uint64_t first, uint32_t count,
                        double *clock, double *time);

#endif
