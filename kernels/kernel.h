/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The contract of a model. A kernel plays a range of replications of one point and returns
 * integers: one row of tallies per replication, and histograms summed over the range. It sees plain
 * data: no MPI, no files, no printing, no globals. Integers make every sum exact, so ranges may
 * have any size and arrive in any order.
 *
 * The whole directory is compiled once per instruction-set level with the names of its globals
 * suffixed by ISA(); models_at() picks a level. Every level gives the same bits. */
#ifndef POTLUCK_KERNEL_H
#define POTLUCK_KERNEL_H

#include "bins.h"
#include "fail.h"
#include "rng.h"
#include "value.h"
#include "wide.h"

#include <math.h>

enum { ROWS_MAX = 32, HISTOGRAMS_MAX = 16 };

/* One value per replication: value = offset + tally / divisor, both given per point (NaN divisor:
 * the statistic does not apply to that point). */
struct row {
    const char *name, *units, *long_name, *reference;
    bool can_be_zero; /* the mean may be 0, so a relative stopping rule alone would never end */
};
struct affine {
    double offset, divisor;
};
/* Tallies from here on, and below minus this, stand for values that no tally can hold. */
#define TALLY_TOP 0x1.8p62
static inline double affine_value(struct affine a, double tally) {
    if (tally >= TALLY_TOP || tally <= -TALLY_TOP)
        return tally / a.divisor * (double)INFINITY;
    return a.offset + tally / a.divisor;
}

enum axis {
    AXIS_LOAD,         /* bins of bins.h */
    AXIS_HOP,          /* bins of bins.h */
    AXIS_SERVER,       /* one bin each */
    AXIS_DEGREE,       /* bins of bins.h */
    AXIS_DEGREE_BIN,   /* coarse bins: 0, 1, 2, 3, then two to each doubling (bins.h) */
    AXIS_DISTANCE,     /* lengths on the plane: sixteen bins to each doubling (bins.h) */
    AXIS_TIME,         /* times: sixteen bins to each doubling (bins.h) */
    AXIS_STEP,         /* equal steps of a run, one bin each */
    AXIS_COMPLETION,   /* first, second, .. completion, one bin each */
    AXIS_GRID,         /* the times facts.grid, one bin each */
    AXIS_SECOND,       /* stretches of facts.stretch seconds, one bin each */
    AXIS_UTILISATION,  /* sixteen bins to each doubling, as times (bins.h) */
    AXIS_NODE_SERVERS, /* virtual servers of a node: bins of bins.h */
    AXIS_CAPACITY      /* below 1, then one bin to each doubling */
};

/* Counts along an axis, summed over replications. */
struct histogram {
    const char *name, *units, *long_name;
    enum axis axis;
    enum axis second; /* AXIS_GRID: two axes, the elements of `second` next to each other; 0: one */
    bool averages;    /* the file shows means over replications, in facts.unit, and the sums in its
                      state; sums may be negative, modulo 2^64 */
    unsigned
        counter;  /* averages: the histogram that counts the replications which have a value; the
                         mean is NaN unless all have; 0: they do */
    bool batched; /* kept for each replication modulo BATCHES, so that any functional of it gets an
                     interval */
    const char *keep; /* present only when `keep` lists this word; NULL: always */
};

static inline uint64_t histogram_batches(const struct histogram *h) {
    return h->batched ? BATCHES : 1;
}

/* How long a run must be, of models that begin in no equilibrium: estimates. Lengths are in
 * model->length. */
struct forecast {
    double before, counted; /* what the job as written plays before anything counts, and counts */
    double wanted; /* of `before`, for a bias that replications need not fear; 0: unknown */
    double
        spread; /* squared relative standard error of row model->followed in one replication whose
                      counted length is 1, falling as 1/length; 0: unknown */
};
/* The steps of histogram model->path. */
struct path_steps {
    unsigned before;  /* steps before anything counts */
    unsigned counted; /* steps after them; 0: the row is not expected to settle */
};

/* What is known about a point before it is played. */
struct facts {
    uint64_t servers;   /* n; 0 when the model has none */
    double nanoseconds; /* expected, per replication and thread; for plans and first ranges only */
    double nanoseconds_making; /* and once, to make the tables */
    uint64_t grain;            /* replications the kernel plays abreast: ranges are multiples */
    uint64_t bytes_shared;     /* tables, per rank */
    uint64_t bytes_making;     /* more of them while the tables are made */
    uint64_t bytes_thread;     /* workspace, per thread */
    uint64_t bytes_fresh;      /* per thread: what belongs to one replication and is made for it */
    struct affine row[ROWS_MAX];
    uint64_t bins[HISTOGRAMS_MAX]; /* upper bound of bins in use; 0: does not apply to the point */
    uint64_t likely[HISTOGRAMS_MAX]; /* bins expected in use, for plans */
    double unit[HISTOGRAMS_MAX];     /* averages: what one count stands for; 0: 1 */
    uint64_t most[HISTOGRAMS_MAX];   /* replications whose sums it holds; 0: all there can be */
    const double *grid; /* [n_grid] AXIS_GRID, the same for all points; owned by the job */
    uint64_t n_grid;
    double stretch; /* AXIS_SECOND, the same for all points */
    struct forecast forecast;
    struct path_steps path;
    char sampler[96]; /* how candidates are drawn, for `potluck plan` */
    char note[320];   /* what people should know before a run, or "" */
};

/* What tables may take. */
struct budget {
    uint64_t bytes;   /* per rank: --memory */
    unsigned threads; /* that share it */
};

/* Results of replications first .. first+count-1 of one point. The runner owns the memory. */
struct outcome {
    uint64_t first, count;
    int64_t *tally;                      /* [count][n_rows] */
    uint64_t *histogram[HISTOGRAMS_MAX]; /* [batched ? BATCHES : 1][stride]; zeroed by the runner;
                                            NULL: not kept */
    uint64_t stride[HISTOGRAMS_MAX];     /* bins there is room for, facts.bins at least */
    uint64_t used[HISTOGRAMS_MAX];       /* out: bins touched, counted from 0 */
    struct reason why;                   /* out: with PLAY_REFUSED */
};
static inline void outcome_add(struct outcome *out, unsigned histogram, uint64_t batch,
                               uint64_t bin, uint64_t count) {
    if (!out->histogram[histogram])
        return;
    CHECK(bin < out->stride[histogram]);
    out->histogram[histogram][batch * out->stride[histogram] + bin] += count;
    if (out->used[histogram] <= bin)
        out->used[histogram] = bin + 1;
}
/* What play() returns when a replication cannot be played at all, which nobody could know before. */
#define PLAY_REFUSED UINT64_MAX

/* Memory of one thread: grown by the runner, never by a kernel. */
struct workspace {
    void *memory; /* 64-byte aligned */
    uint64_t size;
};

struct model {
    struct kind kind;
    const struct row *rows;
    unsigned n_rows;
    const struct histogram *histograms;
    unsigned n_histograms;
    int law;                 /* the histogram whose law total variation compares, or -1 */
    int cost;                /* the row that cost_reduction compares, or -1 */
    unsigned path, followed; /* where facts.path counts steps: the histogram that shows row
                                `followed` at each step of a run from its start */
    const char *length;   /* unit of facts.forecast, e.g. "jobs per server"; NULL: no forecasts */
    int contender;        /* the parameter that `baseline` replaces, or -1 */
    const char *baseline; /* what `baseline` is unless the job says so, e.g. "pot"; NULL without
                             contender */
    /* Whether a point with these values makes any use of a parameter; NULL: of all. A parameter
     * given in a job whose points make no use of it is a mistake, unless the row says optional_use.
     */
    bool (*uses)(const struct value *values, unsigned parameter);
    /* Checks the values together and states the facts; on refusal `at` is the index of the
     * parameter at fault, or at_within() when one of an entry's own parameters is. */
    bool (*examine)(const struct value *values, const struct budget *budget, struct facts *facts,
                    struct reason *why, unsigned *at);
    /* The settings whose random words a point shares with others, as canonical text (at most size
     * bytes). */
    void (*shared_text)(const struct value *values, char *text, size_t size);
    /* Tables for a point that examine() accepted; the runner shares them among its threads, read
     * only. `key` is that of the point's words. NULL with the reason when they cannot be made, which
     * examine() could not know. */
    void *(*prepare)(const struct value *values, uint64_t key, const struct budget *budget,
                     struct reason *why);
    void (*release)(void *prepared);
    /* Plays outcome->count replications from outcome->first. Returns 0, or the workspace size it
     * needs when that given is too small; then nothing in `outcome` counts and the runner plays the
     * range again. PLAY_REFUSED with outcome->why ends the run. A graph or points that belong to one
     * replication are made and freed within. */
    uint64_t (*play)(const void *prepared, uint64_t key, struct workspace work,
                     struct outcome *outcome);
};

enum level { LEVEL_BASELINE, LEVEL_AVX2, LEVEL_AVX512, LEVELS };
extern const char *const level_name[LEVELS];
/* The best level this processor has. */
enum level level_best(void);
/* The models at a level; the first is the default. Kinds are `struct model`. */
const struct catalogue *models_at(enum level level);

/* Blames parameter `inner` of the entry that is the value of parameter `outer`. */
static inline unsigned at_within(unsigned outer, unsigned inner) {
    return outer | (inner + 1) << 16;
}

static inline const struct model *model_of(const struct kind *kind) {
    return (const struct model *)(const void *)kind;
}

#endif
