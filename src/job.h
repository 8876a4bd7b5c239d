/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job: one question, read from strict YAML. job_read() checks everything that can be known
 * without playing and reports all mistakes in one go. The points of the job are the product of its
 * axes in the order of the file, the last axis fastest. */
#ifndef POTLUCK_JOB_H
#define POTLUCK_JOB_H

#include "fail.h"
#include "kernel.h"
#include "value.h"

/* Stop as soon as the half width of the 95 % interval of row's mean is at most max(relative *
 * |mean|, absolute). */
struct criterion {
    unsigned row;              /* of the model */
    double relative, absolute; /* 0: not given */
};

struct span {
    uint64_t first, end; /* half open */
};

struct replications {
    uint64_t min, max; /* equal for a fixed count; with criteria min is at least 30 */
    struct criterion *criteria;
    unsigned n_criteria;
};

struct point {
    const struct value *values; /* model->kind.n_parameters, owned by the job */
    struct facts facts;
    uint64_t key; /* of its random words */
    unsigned
        stream; /* number of its key among the distinct keys of the job: equal streams are paired */
    int64_t baseline; /* index of the point it is compared with, -1: the job has none */
    char *label;      /* for people: what distinguishes this point, e.g. "ring n=1000 unif-pot k=5
                         balls=10n" */
};

struct job {
    const char *path; /* of the job file, as given; borrowed */
    char *text;       /* the file, byte for byte */
    size_t text_length;
    char *title; /* "" when absent */
    const struct model *model;
    uint64_t seed;
    bool seed_drawn;                     /* the file gave none */
    bool common;                         /* policies share their random words */
    bool keep_rows;                      /* false: keep: means */
    bool keep_histogram[HISTOGRAMS_MAX]; /* which of the model's histograms are kept */
    struct replications replications;
    struct span part; /* of them, what this run is to play (--replications A:B); end 0: all */
    struct point *points;
    uint64_t n_points;
    char *resolved;                  /* complete YAML, defaults filled in, itself a valid job */
    char *identity;                  /* `resolved` without `replications`: what --resume compares */
    struct budget budget;            /* what tables may take */
    struct attachment **attachments; /* files that the job names, in the order of first mention */
    unsigned n_attachments;
    void *storage; /* owns what the points refer to */
};

/* How a job is to be read, besides its text. */
struct reading {
    uint64_t replications;           /* > 0 replaces what the file says (-r) */
    struct span part;                /* of them (--replications A:B); end 0: all */
    struct budget budget;            /* bytes 0: without limit */
    struct attachment **attachments; /* files that were read already, found by name; those the job
                                        uses become its own, NULL here; others are read from the
                                        folder of the job file */
    unsigned n_attachments;
};

/* Reads the job file at `path` (or, when `text` is not NULL, that text under the name `path`). `how`
 * may be NULL. On any mistake fills `complaints`, returns NULL. */
struct job *job_read(const char *path, const char *text, const struct reading *how,
                     const struct catalogue *models, struct complaints *complaints);
void job_free(struct job *job);
/* Which replications of each point a run is to play, at most. */
static inline struct span job_part(const struct job *job) {
    return job->part.end ? job->part : (struct span){0, job->replications.max};
}
/* A file as `resolved` and `identity` name it: net.edges@sha256:9f86d0.., within quotes where YAML
 * needs them. The caller frees. */
char *job_file_text(const struct attachment *a);

#endif
