/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sequence{servers}: the first job to the first server of a list, the next to the next, and from the
 * start when it ends. Jobs that must stay do not count. */
#include "blindly.h"

static const struct parameter parameters[] = {
    {.name = "servers",
     .type = TYPE_COUNTS,
     .lower = 0,
     .upper = 4294967295.0,
     .units = "1",
     .meaning = "servers, from 0 on, in the order of the jobs they get"},
};

/* Asked again when the graph is there: its largest component may be small. */
static bool possible(const struct value *v, uint64_t n, struct reason *why) {
    for (unsigned i = 0; i < v->n_counts; i++)
        if (v->counts[i] >= n)
            return refuse(why, "there is no server %llu (0 to %llu)",
                          (unsigned long long)v->counts[i], (unsigned long long)n - 1);
    return true;
}

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)budget;
    *at = 0;
    if (!possible(v, space->n, why))
        return false;
    *f = (struct sampler_facts){
        .nanoseconds = 2, .memory = sizeof(uint64_t), .arrays = 1, .how = "by a list"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    if (!possible(v, s->n, why))
        return false;
    s->candidates = 1;
    s->arrays = 1;
    s->blind = false;
    s->weights = v;
    s->memory = sizeof(uint64_t);
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    uint64_t *next = b->memory;
    uint32_t *to = b->candidate[0] = b->raw[0];
    const struct value *v = s->weights;
    (void)stream;
    for (uint32_t i = 0; i < b->size; i++) {
        to[i] = (uint32_t)v->counts[*next];
        if (may_move(b, i))
            *next = *next + 1 < v->n_counts ? *next + 1 : 0;
    }
}

static void route(const struct value *v, const double *rate, uint32_t n, double *routed) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += rate[i];
        routed[i] = 0;
    }
    for (unsigned i = 0; i < v->n_counts; i++)
        routed[v->counts[i]] += sum / v->n_counts;
}

const struct policy ISA(policy_sequence) = {
    .kind = {"sequence", "servers in the order of a list", "", parameters, 1},
    .on = ON_GRAPHS | ON_PLANE,
    .anywhere = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .route = route};
