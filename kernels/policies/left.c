/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * left{d}: always go left; one uniform server from each of d groups, group g being the servers gn/d
 * .. (g+1)n/d - 1 (bounds rounded down), the leftmost of the least loaded. Voecking, "How asymmetry
 * helps load balancing", J. ACM 50(4), 2003. Candidate g comes from slot g. */
#include "sampler.h"

static const struct parameter parameters[] = {
    {.name = "d",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = CANDIDATES_MAX,
     .standard = "2",
     .units = "server",
     .meaning = "number of groups, one candidate from each"},
};

/* Asked again when the graph is there: its largest component may be small. */
static bool possible(const struct value *v, uint64_t n, struct reason *why) {
    if (v[0].count > n)
        return refuse(why, "%llu groups need at least as many servers, there %s %llu",
                      (unsigned long long)v[0].count, n == 1 ? "is" : "are", (unsigned long long)n);
    return true;
}

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget;
    *at = 0;
    if (!possible(v, space->n, why))
        return false;
    *f = (struct sampler_facts){.nanoseconds = 1.0 + 1.2 * (double)v[0].count,
                                .draws = (unsigned)v[0].count,
                                .how = "one of each group"};
    return true;
}

static uint32_t group_start(const struct sampler *s, uint32_t g) {
    return (uint32_t)((uint64_t)g * s->n / s->d);
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    if (!possible(v, s->n, why))
        return false;
    s->d = (uint32_t)v[0].count;
    s->candidates = s->draws = s->d;
    s->blind = true;
    for (uint32_t g = 0; g < s->d; g++)
        s->range[g] = group_start(s, g + 1) - group_start(s, g);
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    const uint32_t size = b->size;
    (void)stream;
    for (uint32_t g = 0; g < s->d; g++) {
        const uint32_t from = group_start(s, g);
        uint32_t *restrict v = b->candidate[g] = b->raw[g];
        for (uint64_t i = 0; i < size; i++)
            v[i] += from;
    }
}

const struct policy ISA(policy_left) = {
    .kind = {"left", "one server from each of d groups, leftmost wins ties",
             "Voecking, J. ACM 50(4), 2003", parameters, 1},
    .on = ON_GRAPHS,
    .anywhere = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose};
