/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words of the job language as data. A `kind` is something a job can name (a model, a topology,
 * a policy, a law); its parameters are rows of a table that feeds the parser, --help, `potluck
 * list`, validation and the columns of the result file. The engine handles kinds only through these
 * tables and knows none of them by name. */
#ifndef POTLUCK_VALUE_H
#define POTLUCK_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parameter_type {
    TYPE_COUNT,  /* whole number: 10000, 1e4, 10_000; with `relative` also 10n, a multiple of the
                    number of servers */
    TYPE_REAL,   /* number: 0.5, 1e-3, 1/3, 50% */
    TYPE_FLAG,   /* true or false */
    TYPE_WORD,   /* one of `words` */
    TYPE_COUNTS, /* vector of whole numbers: 100x100 or [100, 100] */
    TYPE_REALS,  /* vector of numbers: [0.5, 1/3]; one number is a vector of one */
    TYPE_FILE, /* name of a file, which is read with the job: net.edges, or with what it must hold,
                    net.edges@sha256:9f86d0.. */
    TYPE_ENTRY /* one kind of `catalogue`: its name, or name: {parameters} */
};

struct catalogue;

/* One parameter: a row of a table. */
struct parameter {
    const char *name;
    enum parameter_type type;
    double lower, upper; /* inclusive bounds of a number (of each element of a vector) */
    const char
        *standard; /* the default, as a job file would write it; NULL: must be given. A number
                             or a vector whose default is "unset" may be left out, and has then no
                             value */
    bool bare; /* the one parameter of its kind, which a job may also write as `name: value`, and,
                  when that kind is the first of its catalogue, as the value alone */
    const char *words;                 /* TYPE_WORD: the allowed words, separated by | */
    const struct catalogue *catalogue; /* TYPE_ENTRY */
    bool nameless; /* TYPE_ENTRY: the parameters may stand without the name of their kind, which the
                      first of them tells */
    bool relative; /* TYPE_COUNT: 10n is allowed */
    bool fixed;    /* one value for the whole job: never an axis */
    bool optional_use;   /* may go unused by every point without being an error */
    const char *units;   /* for the column of the result file: "1", "ball", "server", "ms" ... */
    const char *meaning; /* one sentence, for help and long_name */
};

/* Something a job can name. Implementations embed it as their first member. */
struct kind {
    const char *name;
    const char *meaning;   /* one line for `potluck list` */
    const char *reference; /* paper, or "" */
    const struct parameter *parameters;
    unsigned n_parameters;
};

/* All kinds of one sort, e.g. every topology. */
struct catalogue {
    const char *noun; /* "topology" */
    const struct kind *const *kinds;
    unsigned n_kinds;
};

struct entry;

/* A file that a job names, whole. Rank 0 reads it, the others get its bytes. */
struct attachment {
    char *name;  /* as the job file names it, without the digest */
    char *bytes; /* [length], and a zero byte beyond */
    size_t length;
    char sha256[65]; /* hexadecimal */
    void *parsed;    /* what its reader made of it, so that this is done once; NULL: not yet */
    void (*release)(void *parsed);
};

/* The value of one parameter in one point. Which members count depends on the parameter's type. */
struct value {
    double real;    /* REAL; FLAG: 0 or 1; COUNT: the number, or the factor of n when `relative` */
    uint64_t count; /* COUNT, exact, when not relative */
    bool relative;  /* COUNT given as a multiple of n */
    bool unset;     /* numbers and vectors: it has no value */
    unsigned word;  /* WORD: its position in `words` */
    unsigned n_counts;         /* COUNTS */
    const uint64_t *counts;    /* COUNTS, owned by the job */
    unsigned n_reals;          /* REALS */
    const double *reals;       /* REALS, owned by the job */
    const struct entry *entry; /* ENTRY, owned by the job */
    struct attachment
        *file; /* FILE, owned by the job; `parsed` is written by one thread at a time */
};

/* A kind with a value for each of its parameters. */
struct entry {
    const struct kind *kind;
    const struct value *values; /* kind->n_parameters of them */
    const char *
        text; /* canonical text with every default filled in: "torus: {sides: [100, 100]}", "pot" */
};

/* The whole number a COUNT stands for when there are n servers (multiples are rounded to the
 * nearest). */
uint64_t value_count(const struct value *v, uint64_t n);
/* The position of the parameter called `name`, or -1. */
int parameter_index(const struct kind *kind, const char *name);
/* The words of a TYPE_WORD parameter: the i-th into `buffer`; returns false past the last. */
bool parameter_word(const struct parameter *p, unsigned i, char *buffer, unsigned size);

#endif
