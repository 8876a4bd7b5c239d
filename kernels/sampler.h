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
#include "kernel.h"
#include "topology.h"

enum { BLOCK = 2048, CANDIDATES_MAX = 64, DRAWS_MAX = CANDIDATES_MAX };

/* Jobs first .. first+size-1. The arrays have BLOCK elements each; origin, raw[0], raw[1] and so on
 * follow each other without a gap, and so do the candidates among them. */
struct block {
    uint64_t first; /* a multiple of BLOCK */
    uint32_t size;
    uint32_t *point[2]; /* spaces of points: the two words of where the job appears (sites.h) */
    uint32_t *origin;   /* u: where the job arrives; spaces of points: the nearest server (on
                                 the circle the successor), set before choose() */
    uint32_t *raw[DRAWS_MAX]; /* numbers from candidate slots 0, 1, .., below sampler.range[slot] */
    uint32_t *candidate[CANDIDATES_MAX]; /* set by choose(), in the order that decides ties: raw or
                                            origin arrays */
    uint32_t *hop; /* distance of candidate 1 from the origin, if sampler.gives_hop */
    uint32_t *scratch;
    const uint8_t
        *stays;   /* [BLOCK]: jobs that must stay at their origin (model queue), for policies
                             that remember whom they sent where; NULL: none */
    void *memory; /* sampler.memory bytes for the policy alone: zeroed before the first block of a
                     replication, left as they are between blocks */
};

enum ties { TIES_FAIR, TIES_ORIGIN, TIES_SMALLER_ARC };

/* Policies that look at all servers (model queue): they name no candidates. */
enum control { CONTROL_NONE, CONTROL_JSQ, CONTROL_JIQ, CONTROL_LEAST_WORK };

struct near; /* near.h */

/* A policy made ready for one space. */
struct sampler {
    const struct policy *policy;
    struct space space;
    uint32_t n;
    enum ties ties;
    uint64_t budget; /* bytes that tables may take */
    uint64_t jobs;   /* of a replication; UINT64_MAX: not known */
    enum control control;
    bool by_work;    /* model queue: candidates are compared by what they have left to do */
    uint64_t memory; /* bytes of block.memory */
    unsigned candidates;
    unsigned draws;            /* candidate slots drawn for every job */
    unsigned arrays;           /* raw arrays there are; at least `draws`, which it is unless set */
    uint32_t range[DRAWS_MAX]; /* of each: the number is uniform below this; 0: a whole word */
    bool origin_first;         /* candidate 0 is the origin, candidate 1 the other choice */
    bool gives_hop;            /* choose() knows the distance of candidate 1 */
    uint64_t reach;            /* which is at most this */
    bool blind;                /* candidates do not depend on the origin, which need not be drawn */
    unsigned nearest; /* spaces of points: how many of the nearest servers (on the circle, owners of
                         the next positions) are wanted before choose(): the first as origin, the
                         second (2 at most) in raw[0]; 0: 1 */
    bool walks; /* FORM_ARCS: the candidate is a position; the job goes clockwise from there to the
                   first owner with a load below ceil((1 + epsilon) m / n) */
    double epsilon;
    uint32_t d; /* parameters of the policies, as each needs them */
    bool distinct;
    const struct value *weights; /* vector of the policy's own, owned by the job */
    struct turn_of {
        bool distributed, others;
        unsigned first;
    } turn;
    uint64_t beta; /* probability in units of 2^-64 */
    struct near *near;
};

/* What examine() finds out. */
struct sampler_facts {
    uint64_t bytes;     /* tables */
    uint64_t making;    /* more while they are made */
    uint64_t memory;    /* of block.memory */
    double nanoseconds; /* expected per job, for plans */
    unsigned draws;     /* candidate slots drawn for every job */
    unsigned arrays;    /* raw arrays there are, `draws` unless set */
    bool walks;         /* sampler.walks */
    bool foresees;      /* model queue: it knows when jobs will end, breakdowns to come included */
    char how[80];       /* how candidates are drawn, for people */
};

/* The law of the ranks of the candidates among servers sorted by load, for exchangeable policies on
 * `complete`. */
struct ranks {
    unsigned d;    /* candidates */
    bool distinct; /* without replacement */
    uint64_t beta; /* probability of d candidates instead of one, in units of 2^-64, UINT64_MAX:
                      always */
};

/* Forms of spaces, as bits. */
enum {
    ON_GRAPHS =
        1 << FORM_COMPLETE | 1 << FORM_LATTICE | 1 << FORM_CUBE | 1 << FORM_TREE | 1 << FORM_GRAPH,
    ON_PLANE = 1 << FORM_PLANE,
    ON_ARCS = 1 << FORM_ARCS
};

struct policy {
    struct kind kind;
    unsigned on;   /* the forms of spaces it makes sense on */
    bool anywhere; /* candidates may have no path to the origin when the graph has several parts */
    bool settles_ties; /* `ties` makes a difference */
    bool queues;       /* looks at what only queues have: model queue alone */
    /* Checks the parameters against a space that is described, of a form it is for, but not made;
     * `budget` bytes are there for tables. On refusal `at` is the index of the parameter at fault. */
    bool (*examine)(const struct value *values, const struct space *space, uint64_t budget,
                    struct sampler_facts *facts, struct reason *why, unsigned *at);
    /* Builds the tables for a made space and says what is to be drawn; space, n, ties, budget and
     * policy are filled in already. False with the reason when the space turns out not to do. */
    bool (*prepare)(const struct value *values, struct sampler *s, struct reason *why);
    /* Turns origins and raw numbers of a block into candidates, in place. */
    void (*choose)(const struct sampler *s, struct stream stream, struct block *b);
    /* Policies that know nothing of the state: jobs per unit time sent to each of n servers, of
     * those that may be redirected, which arrive at rate[n]; into routed[n]. NULL: others. */
    void (*route)(const struct value *values, const double *rate, uint32_t n, double *routed);
    /* Exchangeable policies: their ranks on `complete` with n servers. NULL: method occupancy is
     * refused. */
    void (*ranks)(const struct value *values, uint64_t n, struct ranks *ranks);
};

/* The policies of this level, in the order of list.def. */
extern const struct policy *const ISA(policy_table)[];
extern const struct catalogue ISA(policies);

/* Whether a policy makes sense on this sort of space at all, or why not. */
bool ISA(policy_suits)(const struct policy *policy, const struct kind *topology,
                       const struct space *space, struct reason *why);

static inline const struct policy *policy_of(const struct entry *e) {
    return (const struct policy *)(const void *)e->kind;
}

/* What is drawn for every job, in this order: the origin, or both words of its point; then the
 * candidate slots. */
struct fetch {
    struct words words;
    uint32_t range; /* 0: whole words */
    uint32_t *into;
};
static inline unsigned fetches(const struct sampler *s) {
    return (s->space.sites ? 2u : 1u) + s->draws;
}
static inline struct fetch fetch_of(const struct sampler *s, struct stream stream,
                                    const struct block *b, unsigned j) {
    const unsigned arrival = s->space.sites ? 2 : 1;
    if (j < arrival)
        return (struct fetch){{stream, PURPOSE_ORIGIN, j},
                              s->space.sites ? 0 : s->n,
                              s->space.sites ? b->point[j] : b->origin};
    const unsigned slot = j - arrival;
    return (struct fetch){{stream, PURPOSE_CANDIDATE, slot}, s->range[slot], b->raw[slot]};
}

/* Spaces of points: the servers at the points of a block (arrive.c). */
void ISA(arrive)(const struct sampler *s, struct block *b);

/* Origins, raw numbers and candidates of a block. A model that has other work to do meanwhile draws
 * by itself. */
static inline void block_draw(const struct sampler *s, struct stream stream, struct block *b) {
    for (unsigned j = 0; j < fetches(s); j++) {
        const struct fetch d = fetch_of(s, stream, b, j);
        if (d.range)
            draw_below(d.words, b->first, b->size, d.range, d.into);
        else
            draw_words(d.words, b->first, b->size, d.into);
    }
    if (s->space.sites)
        ISA(arrive)(s, b);
    s->policy->choose(s, stream, b);
}

/* Probability p in [0, 1] in units of 2^-64. */
static inline uint64_t probability_bits(double p) {
    return p >= 1 ? UINT64_MAX : (uint64_t)(p * 18446744073709551616.0);
}

#endif
