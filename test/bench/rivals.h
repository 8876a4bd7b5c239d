/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a careful person writes for one rule: plain scalar C, xoshiro256**, 8-bit loads, no
 * branches. They share nothing with the project and are there to be measured against. */
#ifndef POTLUCK_RIVALS_H
#define POTLUCK_RIVALS_H

#include <stdint.h>

struct rival_result {
    uint64_t max, moved, hops;
};

/* One replication of m balls on n servers; `load` holds n bytes. */
struct rival_result rival_one(uint8_t *load, uint32_t n, uint64_t m);
struct rival_result rival_two(uint8_t *load, uint32_t n, uint64_t m);
struct rival_result rival_three(uint8_t *load, uint32_t n, uint64_t m);
/* Origin and another uniform server, fair ties; cost on the complete graph. */
struct rival_result rival_pot(uint8_t *load, uint32_t n, uint64_t m);
struct rival_result rival_ring_uniform(uint8_t *load, uint32_t n, uint64_t m, uint32_t k);
struct rival_result rival_ring_invsq(uint8_t *load, uint32_t n, uint64_t m, uint32_t k);
struct rival_result rival_torus_uniform(uint8_t *load, uint32_t side, uint64_t m, uint32_t k);
struct rival_result rival_torus_invsq(uint8_t *load, uint32_t side, uint64_t m, uint32_t k);

#endif
