/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * one-plus-beta{beta}: with probability beta two uniform choices, else one. Peres, Talwar, Wieder,
 * "Graphical balanced allocations and the (1+beta)-choice process", Random Struct. Algor. 47(4),
 * 2015. Candidates come from slots 0 and 1; slot 2, continued by slot 3 where it leaves the matter
 * open, is compared with beta. */
#include "blind.h"

static const struct parameter parameters[] = {
    {.name = "beta",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 1,
     .units = "1",
     .meaning = "probability that a job has two choices"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget;
    (void)v, (void)space, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = 4, .draws = 3, .how = "everybody"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->beta = probability_bits(v[0].real);
    s->candidates = 2;
    s->draws = 3;
    s->range[0] = s->range[1] = s->n;
    s->blind = s->ties == TIES_FAIR;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    const uint32_t *restrict first = b->candidate[0] = b->raw[0], *restrict coin = b->raw[2];
    uint32_t *restrict second = b->candidate[1] = b->raw[1];
    uint32_t two[BLOCK];
    const uint32_t high = (uint32_t)(s->beta >> 32), low = (uint32_t)s->beta;
    const uint32_t size = b->size;
    uint32_t open = 0;
    for (uint64_t i = 0; i < size; i++)
        open |= coin[i] == high;
    for (uint64_t i = 0; open && i < size;
         i++) /* settle what slot 2 leaves open; 2^64 - 1 stands for beta = 1 */
        if (coin[i] == high)
            two[i] =
                s->beta == UINT64_MAX || rng_word(stream, PURPOSE_CANDIDATE, 3, b->first + i) < low;
        else
            two[i] = coin[i] < high;
    for (uint64_t i = 0; !open && i < size; i++)
        two[i] = coin[i] < high;
    for (uint64_t i = 0; i < size; i++)
        second[i] = two[i] ? second[i] : first[i];
    if (!s->blind)
        origin_to_front(s, b);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)n;
    *r = (struct ranks){.d = 2, .beta = probability_bits(v[0].real)};
}

const struct policy ISA(policy_one_plus_beta) = {
    .kind = {"one-plus-beta", "two choices with probability beta, else one",
             "Peres, Talwar, Wieder, Random Struct. Algor. 47(4), 2015", parameters, 1},
    .on = ON_GRAPHS,
    .anywhere = true,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .ranks = ranks};
