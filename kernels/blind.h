/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies blind to the origin share. */
#ifndef POTLUCK_BLIND_H
#define POTLUCK_BLIND_H

#include "sampler.h"

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

#endif
