/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The contract of a placement policy: a block of jobs in, for each job its origin and its candidate servers out. What is
 * done with the candidates (balls: the least loaded takes the job at once; queue: it joins the shortest) is the model's
 * business, so one policy serves every model. Adding a policy is one file in policies/ and one line in list.def. */
#ifndef POTLUCK_SAMPLER_H
#define POTLUCK_SAMPLER_H

#include "draw.h"
#include "isa.h"
#include "topology.h"

enum { BLOCK = 2048, CANDIDATES_MAX = 64 };

/* Jobs first .. first+size-1. The arrays have BLOCK elements each. */
struct block {
    uint64_t first; /* a multiple of BLOCK */
    uint32_t size;
    uint32_t *origin;                    /* u: where the job arrives */
    uint32_t *candidate[CANDIDATES_MAX]; /* in the order that decides ties; [0] may be `origin` itself */
    uint32_t *hop;                       /* distance of the last candidate from the origin, if sampler.gives_hop */
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
    bool origin_first; /* candidate 0 is the origin, candidate 1 the other choice */
    bool gives_hop;    /* the sampler knows the distance of candidate 1 */
    bool blind;        /* candidates do not depend on the origin, which may then be drawn later or not at all */
    uint32_t d;        /* parameters of the policies, as each needs them */
    bool distinct;
    uint64_t beta;     /* probability in units of 2^-64 */
    struct near *near;
};

/* What examine() finds out. */
struct sampler_facts {
    uint64_t bytes;      /* tables */
    double nanoseconds;  /* expected per job, for plans */
    unsigned candidates;
    char how[64];        /* how candidates are drawn, for people */
};

/* The law of the ranks of the candidates among servers sorted by load, for exchangeable policies on `complete`. */
struct ranks {
    unsigned d;    /* candidates */
    bool distinct; /* without replacement */
    uint64_t beta; /* probability of d candidates instead of one, in units of 2^-64, UINT64_MAX: always */
};

struct policy {
    struct kind kind;
    bool settles_ties; /* `ties` makes a difference */
    /* Checks the parameters against the space; on refusal `at` is the index of the parameter at fault. */
    bool (*examine)(const struct value *values, const struct space *space, struct sampler_facts *facts,
                    struct reason *why, unsigned *at);
    /* Builds the tables; space, n, ties and policy are filled in already. */
    void (*prepare)(const struct value *values, struct sampler *s);
    void (*draw)(const struct sampler *s, struct stream stream, struct block *b);
    /* Exchangeable policies: their ranks on `complete` with n servers. NULL: method occupancy is refused. */
    void (*ranks)(const struct value *values, uint64_t n, struct ranks *ranks);
};

/* The policies of this level, in the order of list.def. */
extern const struct policy *const ISA(policy_table)[];
extern const struct catalogue ISA(policies);

static inline const struct policy *policy_of(const struct entry *e) {
    return (const struct policy *)(const void *)e->kind;
}

/* Origins of a block, uniform over the servers. */
static inline void draw_origins(const struct sampler *s, struct stream stream, struct block *b) {
    draw_below((struct words){stream, PURPOSE_ORIGIN, 0}, b->first, b->size, s->n, b->origin);
}
/* Uniform numbers 0 .. range-1 from a policy's slot. */
static inline void draw_slot(struct stream stream, uint32_t slot, const struct block *b, uint32_t range, uint32_t *out) {
    draw_below((struct words){stream, PURPOSE_CANDIDATE, slot}, b->first, b->size, range, out);
}

/* Probability p in [0, 1] in units of 2^-64. */
static inline uint64_t probability_bits(double p) {
    return p >= 1 ? UINT64_MAX : (uint64_t)(p * 18446744073709551616.0);
}

#endif
