/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One random server near the origin where there is no formula: graphs edge by edge, and trees. Two
 * laws of words, of which graph and reach choose one; each is played in two ways, of which memory
 * and time choose one without changing a number.
 *
 * - By rank: the neighbours of the origin are sorted by distance, then by number. Unweighted: the
 *   r-th of them, r uniform from candidate slot 0; with `self` the row after the last is the origin.
 *   Weighted: a shell by the upper 53 bits of the fraction slot 1 : slot 2, nearest first, each
 *   weighing its size/hop^2 (of slot 2 a word is made only where slot 1 leaves the shell open), then
 *   the member by slot 0. Without neighbours the job stays. Played
 *     by lists    of all neighbours of everybody, made once
 *     by searches one from each origin for all its jobs of a window, drawn ahead
 *
 * - By rejection (von Neumann, NBS Appl. Math. Ser. 12, 1951), where nearly everybody is near: v is
 *   uniform over all servers and accepted when it is a neighbour, weighted with probability
 *   1/distance^2, which is settled first: it says how far away v may be. Attempt a takes the four
 *   words of the counter (ACCEPT, lane a, draw = number of the job): the first for v (attempt 0 takes
 *   candidate slot 0 instead; a word that Lemire's method rejects makes the attempt fail), the second
 *   and third for the fraction that accepts distances below 1/sqrt(fraction). After `attempts`
 *   failures, which do not depend on what would have been accepted, the job is drawn by rank from
 *   ACCEPT words of lanes FALLBACK .. FALLBACK + 2: so whoever has few neighbours does not fail for
 *   ever, and the law stays what it is. Played
 *     by a table  of all distances
 *     by searches from both ends of each pair
 *
 * The law is by rejection when attempts cost less than a search that sees the whole neighbourhood, as
 * PROBES evenly spread origins show: (n / W) * (WORTH + 4 H) <= N, with N their mean number of
 * neighbours, W their mean sum of weights, and H the mean number of servers at half the distance of a
 * neighbour; but never while the lists of one graph for all replications are small. */
#ifndef POTLUCK_NEAR_GRAPH_H
#define POTLUCK_NEAR_GRAPH_H

#include "hops.h"
#include "neighbourhood.h"
#include "sampler.h"

enum { PROBES = 16, WORTH = 64, FALLBACK = 0x40000000 };

enum way { BY_LISTS, BY_SEARCHES, BY_REJECTION };

struct near_graph {
    enum way way;
    const struct graph *graph; /* not BY_LISTS */
    struct graph *own;         /* a tree edge by edge; not BY_LISTS */
    bool self, weighted;
    uint32_t reach;
    uint64_t jobs;   /* of a replication; 0: not known */
    uint64_t window; /* BY_SEARCHES: jobs drawn ahead */
    struct lists lists;
    struct hops hops; /* BY_REJECTION */
    uint32_t attempts;
};

void ISA(near_graph_examine)(const struct space *space, uint64_t reach, bool weighted,
                             uint64_t budget, struct sampler_facts *facts);
/* g->self and g->weighted are set; fills the rest, and what of the sampler depends on it. */
void ISA(near_graph_prepare)(struct sampler *s, struct near_graph *g, uint64_t reach);
void ISA(near_graph_free)(struct near_graph *g);
/* raw[0] becomes the candidates, hop their distances. */
void ISA(near_graph_choose)(const struct sampler *s, const struct near_graph *g,
                            struct stream stream, struct block *b);

#endif
