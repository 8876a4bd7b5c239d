/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parameters of a job as columns of the result file, one row per point. A parameter of an entry
 * has a column of its own under its bare name (`k`, `sides`); where two parts of the model would
 * give the same name, both take their path
 * (`service_shape`). The names depend on the model alone, so jobs of one model can be stacked. */
#ifndef POTLUCK_COLUMNS_H
#define POTLUCK_COLUMNS_H

#include "job.h"

/* What a variable of the result file is made of. */
enum element { ELEMENT_U8, ELEMENT_I64, ELEMENT_U64, ELEMENT_F64, ELEMENT_TEXT };
/* Bytes of one in memory. */
static inline size_t element_size(enum element e) {
    return e == ELEMENT_U8 ? 1 : e == ELEMENT_TEXT ? sizeof(char *) : 8;
}

struct job_column {
    char *name;
    enum element element; /* U8: a flag; F64: NaN where it does not apply; TEXT: "" where it does
                             not apply */
    const char *units, *long_name; /* borrowed from the tables */
    void *data;                    /* [n_points] of the element; TEXT: char *, owned */
};
struct job_columns {
    struct job_column *columns;
    unsigned n;
    uint64_t n_points;
};

/* Every parameter that some point has, in the order of the model's tables; `n`, the number of
 * servers, always. */
struct job_columns columns_of(const struct job *job);
void columns_free(struct job_columns *c);

#endif
