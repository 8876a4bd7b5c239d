/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * choices{d, distinct}: greedy[d] of Azar, Broder, Karlin, Upfal; d uniform servers whatever the
 * origin, with replacement unless `distinct`. Candidate j comes from slot j; distinct ones are the
 * r-th server not drawn before. The first drawn wins ties, which is fair because the draws are
 * exchangeable. The origin counts for the cost alone. */
#include "arrive.h"
#include "blind.h"

static const struct parameter parameters[] = {
    {.name = "d",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = CANDIDATES_MAX,
     .standard = "2",
     .units = "server",
     .meaning = "number of candidates"},
    {.name = "distinct",
     .type = TYPE_FLAG,
     .standard = "false",
     .units = "1",
     .meaning = "draw without replacement"},
};

/* Asked again when the graph is there: its largest component may be small. */
static bool possible(const struct value *v, uint64_t n, struct reason *why) {
    if (v[1].real != 0 && v[0].count > n)
        return refuse(why, "%llu distinct choices among %llu server%s are impossible",
                      (unsigned long long)v[0].count, (unsigned long long)n, n == 1 ? "" : "s");
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
                                .how = "everybody"};
    if (space->form == FORM_PLANE)
        f->nanoseconds += ISA(arrive_nanoseconds)(space, 1);
    return true;
}

static bool prepare(const struct value *v, struct sampler *s, struct reason *why) {
    if (!possible(v, s->n, why))
        return false;
    s->d = (uint32_t)v[0].count;
    s->distinct = v[1].real != 0;
    s->candidates = s->draws = s->d;
    for (unsigned j = 0; j < s->d; j++)
        s->range[j] = s->n - (s->distinct ? j : 0);
    s->blind = s->ties == TIES_FAIR;
    return true;
}

/* Candidate j, given as a rank among the servers not yet drawn, made a server. */
static void skip_drawn(struct block *b, unsigned j) {
    const uint32_t size = b->size;
    for (uint64_t i = 0; i < size; i++) {
        uint32_t sorted[CANDIDATES_MAX], v = b->candidate[j][i];
        for (unsigned c = 0; c < j; c++) {
            unsigned at = c;
            for (; at > 0 && sorted[at - 1] > b->candidate[c][i]; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = b->candidate[c][i];
        }
        for (unsigned c = 0; c < j; c++)
            v += v >= sorted[c];
        b->candidate[j][i] = v;
    }
}

static void choose(const struct sampler *s, struct stream stream, struct block *b) {
    (void)stream;
    for (unsigned j = 0; j < s->d; j++)
        b->candidate[j] = b->raw[j];
    if (s->distinct && s->d >= 2) {
        const uint32_t *restrict first = b->candidate[0];
        uint32_t *restrict second = b->candidate[1];
        const uint32_t size = b->size;
        for (uint64_t i = 0; i < size; i++)
            second[i] += second[i] >= first[i];
        for (unsigned j = 2; j < s->d; j++)
            skip_drawn(b, j);
    }
    if (!s->blind)
        origin_to_front(s, b);
}

static void ranks(const struct value *v, uint64_t n, struct ranks *r) {
    (void)n;
    *r = (struct ranks){.d = (unsigned)v[0].count, .distinct = v[1].real != 0, .beta = UINT64_MAX};
}

const struct policy ISA(policy_choices) = {
    .kind = {"choices", "d uniform servers, wherever the job arrives (greedy[d])",
             "Azar et al., SIAM J. Comput. 29(1), 1999", parameters, 2},
    .on = ON_GRAPHS | ON_PLANE,
    .anywhere = true,
    .settles_ties = true,
    .examine = examine,
    .prepare = prepare,
    .choose = choose,
    .ranks = ranks};
