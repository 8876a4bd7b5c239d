/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * random{shares}: server i with probability share[i] over the sum of all, whatever the state and
 * wherever the job arrives (Bernoulli routing). Without shares all servers are alike (slot 0). With
 * them server i takes the numbers of slots 0 : 1, as a 64-bit fraction, from the sum of the shares
 * before it on. */
#include "blindly.h"

#include <string.h>

static const struct parameter parameters[] = {
    {.name = "shares",
     .type = TYPE_REALS,
     .lower = 0,
     .upper = 1e12,
     .standard = "unset",
     .units = "1",
     .meaning = "weight of each server, or of fewer that are repeated in turn; unset: all alike"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    double sum = v->unset;
    (void)budget;
    *at = 0;
    for (unsigned i = 0; i < v->n_reals; i++)
        sum += v->reals[i];
    if (!v->unset && (v->n_reals > space->n || space->n % v->n_reals))
        return refuse(why, "%u shares do not go round %llu servers", v->n_reals,
                      (unsigned long long)space->n);
    if (!(sum > 0))
        return refuse(why, "the shares sum to nothing");
    *f = (struct sampler_facts){.nanoseconds = v->unset ? 2 : 15,
                                .draws = v->unset ? 1 : 2,
                                .memory = v->unset ? 0 : (space->n + 1) * sizeof(uint64_t),
                                .how = "everybody"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->candidates = 1;
    s->blind = true;
    s->draws = v->unset ? 1 : 2;
    s->range[0] = v->unset ? s->n : 0;
    s->range[1] = 0;
    s->weights = v->unset ? NULL : v;
    s->memory = v->unset ? 0 : ((uint64_t)s->n + 1) * sizeof(uint64_t);
    return true;
}

/* below[i]: where server i begins, in units of 2^-64; below[n] says that the table is made. */
static void make_table(const struct sampler *s, uint64_t *below) {
    const struct value *v = s->weights;
    double sum = 0, before = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += v->reals[i % v->n_reals];
    for (uint32_t i = 0; i < s->n; i++) {
        below[i] = probability_bits(before / sum);
        before += v->reals[i % v->n_reals];
    }
    below[s->n] = 1;
}

static uint32_t find(const uint64_t *below, uint32_t n, uint64_t x) {
    uint32_t low = 0, high = n - 1;
    while (low < high) { /* the last server that begins at or before x */
        const uint32_t middle = low + (high - low + 1) / 2;
        if (below[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    uint64_t *below = b->memory;
    (void)stream;
    b->candidate[0] = b->raw[0];
    if (!s->weights)
        return;
    if (!below[s->n])
        make_table(s, below);
    for (uint32_t i = 0; i < b->size; i++)
        b->raw[0][i] = find(below, s->n, (uint64_t)b->raw[0][i] << 32 | b->raw[1][i]);
}

static void route(const struct value *v, const double *rate, uint32_t n, double *routed) {
    double sum = 0;
    route_evenly(v, rate, n, routed);
    for (uint32_t i = 0; i < n && !v->unset; i++)
        sum += v->reals[i % v->n_reals];
    for (uint32_t i = 0; i < n && !v->unset; i++)
        routed[i] *= n * v->reals[i % v->n_reals] / sum;
}

const struct policy ISA(policy_random_server) = {
    .kind = {"random", "one server, independently of everything", "", parameters, 1},
    .on = ON_GRAPHS | ON_PLANE,
    .anywhere = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route};
