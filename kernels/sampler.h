/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The contract of a placement policy: a block of jobs in, for each job its origin and its candidate
 * servers out. What is done with the candidates (balls: the least loaded takes the job at once;
 * queue: it joins the shortest) is the model's business, so one policy serves every model. Adding a
 * policy is one file in policies/ and one line in list.def. */
#ifndef POTLUCK_SAMPLER_H
#define POTLUCK_SAMPLER_H

#include "draw.h"
#include "isa.h"
#include "topology.h"

enum { BLOCK = 2048, CANDIDATES_MAX = 64, DRAWS_MAX = CANDIDATES_MAX };

/* Jobs first .. first+size-1. The arrays have BLOCK elements each; origin, raw[0], raw[1] and so on
 * follow each other without a gap, and so do the candidates among them. */
struct block {
    uint64_t first; /* a multiple of BLOCK */
    uint32_t size;
    uint32_t *origin;         /* u: where the job arrives */
    uint32_t *raw[DRAWS_MAX]; /* numbers from candidate slots 0, 1, .., below sampler.range[slot] */
    uint32_t *candidate[CANDIDATES_MAX]; /* set by choose(), in the order that decides ties: raw or
                                            origin arrays */
    uint32_t *hop; /* distance of candidate 1 from the origin, if sampler.gives_hop */
    uint32_t *scratch;
};

enum ties { TIES_FAIR, TIES_ORIGIN };

struct near; /* near.h */

/* A policy made ready for one space. */
struct sampler {
    const struct policy *policy;
    struct space space;
    uint32_t n;
    enum ties ties;
    unsigned candidates;
    unsigned draws;            /* candidate slots drawn for every job */
    uint32_t range[DRAWS_MAX]; /* of each: the number is uniform below this; 0: a whole word */
    bool origin_first;         /* candidate 0 is the origin, candidate 1 the other choice */
    bool gives_hop;            /* choose() knows the distance of candidate 1 */
    uint64_t reach;            /* which is at most this */
    bool blind;                /* candidates do not depend on the origin, which need not be drawn */
    uint32_t d;                /* parameters of the policies, as each needs them */
    bool distinct;
    uint64_t beta; /* probability in units of 2^-64 */
    struct near *near;
};

/* What examine() finds out. */
struct sampler_facts {
    uint64_t bytes;     /* tables */
    uint64_t making;    /* more while they are made */
    double nanoseconds; /* expected per job, for plans */
    unsigned draws;     /* candidate slots drawn for every job */
    char how[64];       /* how candidates are drawn, for people */
};

/* The law of the ranks of the candidates among servers sorted by load, for exchangeable policies on
 * `complete`. */
struct ranks {
    unsigned d;    /* candidates */
    bool distinct; /* without replacement */
    uint64_t beta; /* probability of d candidates instead of one, in units of 2^-64, UINT64_MAX:
                      always */
};

struct policy {
    struct kind kind;
    bool settles_ties; /* `ties` makes a difference */
    /* Checks the parameters against the space; on refusal `at` is the index of the parameter at
     * fault. */
    bool (*examine)(const struct value *values, const struct space *space,
                    struct sampler_facts *facts, struct reason *why, unsigned *at);
    /* Builds the tables and says what is to be drawn; space, n, ties and policy are filled in
     * already. */
    void (*prepare)(const struct value *values, struct sampler *s);
    /* Turns origins and raw numbers of a block into candidates, in place. */
    void (*choose)(const struct sampler *s, struct stream stream, struct block *b);
    /* Exchangeable policies: their ranks on `complete` with n servers. NULL: method occupancy is
     * refused. */
    void (*ranks)(const struct value *values, uint64_t n, struct ranks *ranks);
};

/* The policies of this level, in the order of list.def. */
extern const struct policy *const ISA(policy_table)[];
extern const struct catalogue ISA(policies);

static inline const struct policy *policy_of(const struct entry *e) {
    return (const struct policy *)(const void *)e->kind;
}

/* Draw number j of a sampler: the origin (j = 0), then the candidate slots. */
static inline struct words draw_of(struct stream stream, unsigned j) {
    return (struct words){stream, j == 0 ? PURPOSE_ORIGIN : PURPOSE_CANDIDATE, j == 0 ? 0 : j - 1};
}

/* Origins, raw numbers and candidates of a block. A model that has other work to do meanwhile draws
 * by itself. */
static inline void block_draw(const struct sampler *s, struct stream stream, struct block *b) {
    draw_below(draw_of(stream, 0), b->first, b->size, s->n, b->origin);
    for (unsigned j = 0; j < s->draws; j++) {
        if (s->range[j])
            draw_below(draw_of(stream, j + 1), b->first, b->size, s->range[j], b->raw[j]);
        else
            draw_words(draw_of(stream, j + 1), b->first, b->size, b->raw[j]);
    }
    s->policy->choose(s, stream, b);
}

/* Probability p in [0, 1] in units of 2^-64. */
static inline uint64_t probability_bits(double p) {
    return p >= 1 ? UINT64_MAX : (uint64_t)(p * 18446744073709551616.0);
}

#endif
