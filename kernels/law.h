/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws of positive random times: services, gaps between arrivals, times up and down. A law is one
 * file in laws/ and one line in laws.def. Values come from addressed words by inversion or a fixed
 * number of words each, so value number i never depends on how many others were drawn. Every law
 * has a parameter `mean` (default 1), the last of its rows, except `discrete`, whose mean follows
 * from its values; that of `geometric` has no default, because it sets the shape. */
#ifndef POTLUCK_LAW_H
#define POTLUCK_LAW_H

#include "draw.h"
#include "isa.h"
#include "kernel.h"

/* What is known of a law. */
struct law_facts {
    double mean, second; /* moments about 0; INFINITY where there is none */
    double third, fourth;
    double natural;     /* its mean before the parameter `mean` scales it */
    unsigned lanes;     /* words a value takes, on lanes `lane` .. lane + lanes - 1 */
    double nanoseconds; /* expected per value (AVX-512), for plans */
};

struct sampled_law; /* a law made ready */

struct law {
    struct kind kind;
    bool lattice; /* all values are multiples of one number: streams of it keep a beat */
    /* Checks the parameters and states the facts of the law as they give it; on refusal `at` is the
     * index of the parameter at fault. */
    bool (*examine)(const struct value *values, struct law_facts *facts, struct reason *why,
                    unsigned *at);
    /* Fills in `parameter` and the tables; law, facts and scale are there already. NULL: nothing to
     * do. */
    void (*prepare)(const struct value *values, struct sampled_law *s);
    /* out[0 .. count-1] = values first .. of the words w (lanes from w.lane on); `first` is a
     * multiple of 64, there is room for count rounded up to 64. Vector code; the same bits at every
     * level. */
    void (*draw)(const struct sampled_law *s, struct words w, uint64_t first, uint32_t count,
                 double *out);
    /* E[exp(f X)] for f >= 0, INFINITY where there is none; the probability that X > x; and a value
     * of the law of the residual life in equilibrium (density P(X > x) / mean) from word number i of
     * lanes w.lane on (LAW_LANES at most), for failures and stationary starts. */
    double (*mgf)(const struct sampled_law *s, double f);
    double (*tail)(const struct sampled_law *s, double x);
    double (*residual)(const struct sampled_law *s, struct words w, uint64_t i);
};

enum { LAW_LANES = 256 };

struct sampled_law {
    const struct law *law;
    struct law_facts facts; /* of the scaled law */
    double scale;           /* multiplies what the law's own parameters give */
    double parameter[8];    /* as each law needs them */
    double *values;         /* discrete: [n_values] values and cumulative probabilities; owned */
    double *cumulative;
    unsigned n_values;
};

extern const struct catalogue ISA(laws);
/* Makes a law ready that examine() accepted. Its mean becomes `mean`; when that is NAN, what its
 * own parameters say. Release with law_free(). */
void ISA(law_prepare)(const struct entry *entry, double mean, struct sampled_law *s);
void ISA(law_free)(struct sampled_law *s);

static inline const struct law *law_of(const struct kind *kind) {
    return (const struct law *)(const void *)kind;
}

#endif
