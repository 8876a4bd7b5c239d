/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dht: what its parameters may name besides balancers, and a point checked and made ready. */
#ifndef POTLUCK_DHT_EXAMINE_H
#define POTLUCK_DHT_EXAMINE_H

#include "dht.h"

/* Capacities: constant{per_second}; profile{mean}, 1, 10, 100, 1000, 10000 for 20, 45, 30, 4.9 and 0.1 % of
 * the nodes (Gnutella; Chawathe et al., SIGCOMM 2003), scaled to a mean; lognormal{median, sigma};
 * file{path}, one to a line. Destinations: uniform keys; zipf{alpha, count, shift}, `count` uniform keys, rank
 * r with probability proportional to r^-alpha, others from second `shift` on. Lifetimes: unlimited, a law,
 * trace{file}. Downtimes: same (as the lifetime), a law. */
extern const struct catalogue ISA(capacities), ISA(destinations), ISA(lifetimes), ISA(downtimes);

static inline bool lifetime_is_law(const struct entry *e) {
    return parameter_index(e->kind, "mean") >= 0 || parameter_index(e->kind, "values") >= 0;
}

bool ISA(dht_examine)(const struct value *v, const struct budget *budget, struct facts *f,
                      struct reason *why, unsigned *at);
void ISA(dht_prepare)(const struct value *v, struct dht_point *p);
void ISA(dht_clear)(struct dht_point *p);

#endif
