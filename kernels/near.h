/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One random server near the origin: the second choice of unif-pot, invsq-pot and edge.
 *
 * - Unweighted: the r-th row of the neighbourhood in the order of neighbourhood.h, r uniform from
 *   candidate slot 0; with `self` the row after the last is the origin.
 *
 * - Unweighted and k at least the diameter: the r-th server other than the origin by number; with
 *   `self` server number r.
 *
 * - Weighted: probability proportional to 1/distance^2, by the alias method over the same rows
 *   (Walker, ACM TOMS 3(3), 1977) on the 64-bit fraction x = slot0 : slot1, whose low half is made
 *   only where the high half leaves the row open. Row j = floor(x rows) stays j when the rest is
 *   below threshold[j], else it becomes alias[j]. Vose's construction (IEEE TSE 17(9), 1991) in
 *   double precision, in this order because words depend on it: share[j] = rows/(hop^2 total),
 *   `total` summed by row; rows enter one of two stacks by number, small (share below 1) or large;
 *   then, while both have any, the top s of small leaves it with threshold share[s] and the top l
 *   of large for alias; share[l] loses 1 - share[s], and moves to the top of small once below 1.
 *
 * - Borders: rows of an unbounded box, drawn again until one lies inside: attempt a takes BORDER
 *   lane a, when weighted lanes 2a : 2a+1.
 *
 * - Trees and graphs edge by edge: near_graph.h.
 */
#ifndef POTLUCK_NEAR_H
#define POTLUCK_NEAR_H

#include "near_graph.h"

enum near_form { NEAR_NOBODY, NEAR_EVERYBODY, NEAR_RING, NEAR_LATTICE, NEAR_CUBE, NEAR_GRAPH };

struct near {
    enum near_form form;
    bool self, weighted;
    uint32_t rows;           /* of the table, `self` included */
    struct offsets offsets;  /* NEAR_LATTICE, NEAR_CUBE */
    struct near_graph graph; /* NEAR_GRAPH */
    uint64_t *threshold; /* weighted [rows]: row j stays j below threshold[j], in units of 2^-64, */
    uint32_t *alias;     /* else it becomes alias[j] */
    uint32_t *threshold_high; /* the high halves */
    uint32_t *packed;         /* rows <= 2^16: high sixteen bits of the threshold, then the alias */
    uint32_t (*ends)[2];      /* of edges: policy edge on graphs edge by edge */
    uint32_t *moves; /* small boxes of two sides: moves along both and the distance, see near.c */
};

/* Bytes and ways of a neighbourhood, for examine(). */
void ISA(near_examine)(const struct space *space, uint64_t reach, bool weighted, uint64_t budget,
                       struct sampler_facts *facts);
void ISA(near_prepare)(struct sampler *s, uint64_t reach, bool self, bool weighted);
void ISA(near_free)(struct near *near);
/* candidate[0] = origin, candidate[1] = a random neighbour, hop = its distance where the sampler
 * gives it. */
void ISA(near_choose)(const struct sampler *s, struct stream stream, struct block *b);
/* v uniform over the servers other than u, from a raw number below n-1. */
void ISA(near_anybody)(const struct sampler *s, struct stream stream, struct block *b);

#endif
