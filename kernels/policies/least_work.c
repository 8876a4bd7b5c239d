/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * least-work{d}: the server that will be free first, of all (with equal servers the same as one queue
 * for all), or of d independent uniform ones: where the job begins first, which with unequal
 * service_rates need not be where it ends first. Idle ones are alike: a uniform one of them, or the
 * origin if it is idle, as `ties` says; of busy ones that will be free at one moment, the lowest
 * number; of d, the first drawn. Not with failures: when a server will be free then depends on
 * breakdowns to come, which policies cannot see. */
#include "blind.h"

static const struct parameter parameters[] = {
    {.name = "d",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = CANDIDATES_MAX,
     .standard = "unset",
     .bare = true,
     .units = "server",
     .meaning = "number of candidates; unset: all servers"},
};

static bool examine(const struct value *v, const struct space *space, uint64_t budget,
                    struct sampler_facts *f, struct reason *why, unsigned *at) {
    (void)space, (void)budget, (void)why, (void)at;
    *f = (struct sampler_facts){.nanoseconds = v->unset ? 160 : 2 + 3 * (double)v->count,
                                .draws = v->unset ? 0 : (unsigned)v->count,
                                .foresees = true,
                                .how = "work left"};
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    (void)why;
    s->control = v->unset ? CONTROL_LEAST_WORK : CONTROL_NONE;
    s->by_work = !v->unset;
    s->d = s->candidates = s->draws = v->unset ? 0 : (unsigned)v->count;
    for (unsigned j = 0; j < s->draws; j++)
        s->range[j] = s->n;
    s->blind = s->ties == TIES_FAIR;
    return true;
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    (void)stream;
    for (unsigned j = 0; j < s->d; j++)
        b->candidate[j] = b->raw[j];
    if (!s->blind)
        origin_to_front(s, b);
}

const struct policy ISA(policy_least_work) = {
    .kind = {"least-work", "the server that will be free first, of all or of d", "", parameters, 1},
    .on = ON_GRAPHS | ON_PLANE | ON_ARCS,
    .anywhere = true,
    .settles_ties = true,
    .queues = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose};
