/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the units that read a job share: job.c its top level, job_stop.c `replications`,
 * job_values.c the values of parameters, job_files.c those that are files, job_points.c the product
 * of the axes, job_text.c the text of the complete job. For them alone. */
#ifndef POTLUCK_JOB_PARTS_H
#define POTLUCK_JOB_PARTS_H

#include "job.h"
#include "storage.h"
#include "yaml_tree.h"

#include <stdio.h>

enum { POINTS_MAX = 100000, COMPLAINTS_MAX = 200 };
#define REPLICATIONS_MAX 0xffffffffu /* a replication is one word of a counter */

/* One value that a parameter takes in the job. */
struct choice {
    struct value value;
    const char *text;           /* canonical: "10n", "[100, 100]", "ring: {n: 1000}" */
    const struct choice *inner; /* ENTRY: of each of its kind's parameters */
    struct place place;
};

struct choices {
    struct choice *item;
    size_t n, room;
};

/* All that is known while a job is read; the pieces live in `storage`. */
struct reader {
    const char *path;
    struct complaints *complaints;
    struct storage *storage;
    const struct catalogue *models;
    const struct reading *how;
    struct job *job;
    const struct model *model;
    struct place root;
    struct choices *choices; /* of each parameter of the model */
    const struct node **key; /* of each parameter: its key in the file, or NULL */
    bool *used;              /* of each parameter: whether some point uses it */
    unsigned *order;  /* the parameters in the order of the file, those it does not name last */
    uint64_t *stride; /* of each parameter: points from one of its values to the next */
    bool dropped;     /* some value was no good and is missing from `choices` */
    struct standard *standards; /* defaults read so far */
    const char *replications_text;
    struct choice baseline; /* text NULL: the model has none */
};

/* Complains, unless the same was said before or too much was said. */
void job_say(struct reader *r, struct place where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct place job_place(const struct reader *r, const struct node *n);
/* "a list", "a mapping", "'word'", "text", "nothing": a node as the end of "..., not ". */
const char *job_found(struct reader *r, const struct node *n);
/* printf into the reader's storage. */
const char *job_format(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
/* "allowed: a, b, c; did you mean 'b'?" */
const char *job_allowed(struct reader *r, const char *word, const char *const *names, size_t n);

/* job_values.c: appends every value that a node gives to a parameter, in order. */
void job_read_values(struct reader *r, const struct parameter *p, const struct node *node,
                     struct choices *into);
/* Says that a value is not what its parameter wants; returns false. */
bool job_wrong(struct reader *r, const struct parameter *p, const struct node *n);
void job_add_choice(struct reader *r, struct choices *into, const struct choice *c);
/* "a whole number, at least 1": what a parameter wants. */
const char *job_wanted(struct reader *r, const struct parameter *p);

/* job_files.c: the file that a node names, read or found among those read before. */
bool job_read_file(struct reader *r, const struct parameter *p, const struct node *n,
                   struct choice *c);

/* job_entries.c: appends every setting of an entry. */
void job_read_entry(struct reader *r, const struct parameter *p, const struct node *node,
                    struct choices *into);
/* The default of a parameter that has one, standing at `where`. */
struct choice job_standard(struct reader *r, const struct parameter *p, struct place where);
/* As it stands within a line: entries that have parameters in braces. */
const char *job_flow(struct reader *r, const struct choice *c);

/* job_stop.c */
void job_read_replications(struct reader *r, const struct node *node, struct job *job);
void job_fix_replications(struct reader *r, uint64_t replications, struct job *job);
/* The part of its replications that the job is read for; `node` may be NULL. */
void job_take_part(struct reader *r, const struct node *node, struct job *job);

/* job_points.c: points, facts, keys, streams, baselines. */
void job_make_points(struct reader *r, struct job *job);

/* job_text.c */
void job_make_labels(struct reader *r, struct job *job);
void job_make_resolved(struct reader *r, struct job *job);
/* Text within double quotes, with escapes for what a YAML file may not have as it is. */
void job_put_quoted(FILE *f, const char *s);

/* What parameter i of the model is at a point. */
static inline const struct choice *job_choice(const struct reader *r, unsigned i, uint64_t point) {
    return &r->choices[i].item[point / r->stride[i] % r->choices[i].n];
}

#endif
