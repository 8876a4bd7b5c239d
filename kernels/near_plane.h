/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two distinct servers of the k nearest to the point of a job: unif-pot, invsq-pot and pot on the
 * plane. Servers rank by distance, equal ones by number.
 *
 * - Uniform: the ranks are candidate slots 0, below k, and 1, below k - 1, which skips the first.
 *   With k = n servers rank by number instead: the law is the same and nothing is searched.
 *
 * - Weighted: successive draws without replacement, weights 1/distance^2, by the upper 53 bits f of
 *   the fractions slot0 : slot1 and slot2 : slot3. While there are z servers at distance 0, the one
 *   of rank floor(f z) among them; else the first rank at which the sum of weights, by rank,
 *   exceeds f times their total, without the server drawn before. The first drawn is likely to be
 *   the nearer one, so the lowest bit of slot 1, which no fraction uses, decides who stands first.
 *
 * k = 1 is the nearest server alone. */
#ifndef POTLUCK_NEAR_PLANE_H
#define POTLUCK_NEAR_PLANE_H

#include "sampler.h"

/* On refusal the caller says which parameter is at fault. */
bool ISA(near_plane_examine)(const struct space *space, uint64_t k, bool weighted,
                             struct sampler_facts *facts, struct reason *why);
void ISA(near_plane_prepare)(struct sampler *s, uint64_t k, bool weighted);
void ISA(near_plane_uniform)(const struct sampler *s, struct stream stream, struct block *b);
void ISA(near_plane_weighted)(const struct sampler *s, struct stream stream, struct block *b);

#endif
