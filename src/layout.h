/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a result file holds: every dimension and variable of format 1, in the order of the file,
 * with the functions that take its numbers from a store and back. results.c turns this into HDF5.
 */
#ifndef POTLUCK_LAYOUT_H
#define POTLUCK_LAYOUT_H

#include "columns.h"
#include "compare.h"
#include "store.h"

enum dimension {
    DIMENSION_POINT,
    DIMENSION_REPLICATION,
    DIMENSION_BATCH,
    DIMENSION_LOAD,
    DIMENSION_HOP,
    DIMENSION_SERVER,
    DIMENSION_DEGREE,
    DIMENSION_DEGREE_BIN,
    DIMENSION_DISTANCE,
    DIMENSION_TIME,
    DIMENSION_STEP,
    DIMENSION_COMPLETION,
    DIMENSION_GRID,
    DIMENSION_SECOND,
    DIMENSION_UTILISATION,
    DIMENSION_NODE_SERVERS,
    DIMENSION_CAPACITY,
    DIMENSION_SPAN,
    DIMENSION_BOUND,
    DIMENSION_ROW,
    DIMENSION_WORD,
    DIMENSIONS
};
/* Words of a struct moments; bounds of a range of replications: its point, first, end. */
enum { RANK_MAX = 4, MOMENT_WORDS = 6, BOUNDS = 3 };

/* Where the elements of an axis lie: `lower` where they are whole numbers or bins of them, `begin`
 * where they are bins of lengths, neither where they are numbered from 0 or the points say it. */
struct axis_row {
    enum dimension dimension;
    const char *name, *long_name, *units;
    const char *upper; /* long name of NAME_upper; NULL: each element is one number */
    uint64_t (*lower)(uint64_t bin);
    double (*begin)(uint64_t bin);
};
extern const struct axis_row axis_rows[]; /* by enum axis */

struct layout;

struct variable {
    char *name;
    bool state;      /* in the group /state: what resume needs */
    bool coordinate; /* the scale of its one dimension */
    enum element element;
    unsigned rank;
    enum dimension dimension[RANK_MAX];
    bool two_axes; /* the last two dimensions are those of a histogram */
    char *long_name;
    const char *units, *reference; /* borrowed; reference may be NULL */
    unsigned index;                /* of the column, axis, row, histogram or comparison it shows */
    /* Writes all elements, first dimension slowest; TEXT: borrowed strings. `data` comes zeroed. */
    void (*fill)(const struct layout *l, const struct variable *v, void *data);
    /* Puts elements that were read into the store, the ranges of replications before all else. Says
     * why it cannot. NULL: the variable follows from others. */
    bool (*take)(const struct layout *l, const struct variable *v, const void *data,
                 struct reason *why);
};

struct layout {
    const struct store *store;
    struct store *into;          /* the same when it is to be filled from a file, else NULL */
    uint64_t length[DIMENSIONS]; /* 0: the file has no such dimension */
    uint64_t first;              /* the replication at which its axis begins */
    struct job_columns columns;
    struct comparisons comparisons;
    struct variable *variables;
    unsigned n;
};

void layout_init(struct layout *l, const struct store *s);
void layout_free(struct layout *l);
/* Number of elements of a variable. */
uint64_t layout_count(const struct layout *l, const struct variable *v);
/* Whether the length of a dimension depends on what has been played. */
bool dimension_grows(enum dimension d);
enum dimension dimension_of(const struct histogram *h);
static inline unsigned batches_of(const struct histogram *h) {
    return h->batched ? BATCHES : 1;
}

#endif
