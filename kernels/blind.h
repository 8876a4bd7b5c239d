/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Orders of candidates that settle ties, the first of the least loaded winning. */
#ifndef POTLUCK_BLIND_H
#define POTLUCK_BLIND_H

#include "sampler.h"
#include "sites.h"

/* `ties: origin`: a candidate that happens to be the origin changes places with the first, where
 * it wins ties; the order of the others stays fair because the draws are exchangeable. */
static inline void origin_to_front(const struct sampler *s, struct block *b) {
    for (unsigned c = 1; c < s->candidates; c++)
        for (uint32_t i = 0; i < b->size; i++)
            if (b->candidate[c][i] == b->origin[i]) {
                b->candidate[c][i] = b->candidate[0][i];
                b->candidate[0][i] = b->origin[i];
            }
}

/* `ties: smaller-arc`: by what the candidates own of the circle; equal ones stay as drawn. */
static inline void smaller_arc_first(const struct sampler *s, struct block *b) {
    const uint64_t *share = s->space.sites->share;
    for (unsigned c = 1; c < s->candidates; c++)
        for (uint32_t i = 0; i < b->size; i++) {
            const uint32_t v = b->candidate[c][i];
            unsigned at = c;
            for (; at > 0 && share[v] < share[b->candidate[at - 1][i]]; at--)
                b->candidate[at][i] = b->candidate[at - 1][i];
            b->candidate[at][i] = v;
        }
}

#endif
