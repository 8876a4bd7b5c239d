/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The result file (format 1), the only unit that knows HDF5. A file is built in memory by HDF5's
 * core driver with no times in it, so it is a pure function of the store; then written beside the
 * target, fsynced and renamed. A reader never sees a torn file and never blocks a run. */
#ifndef POTLUCK_RESULTS_H
#define POTLUCK_RESULTS_H

#include "store.h"

/* That of HDF5. */
const char *results_version(void);
/* Does what HDF5 does but once, so that the first file takes no longer than the next. */
void results_warm_up(void);
/* Bytes of the file for the store as it stands. The caller frees. */
void *results_image(const struct store *s, size_t *size);
/* Writes image to `path` by way of a temporary file in the same folder. Returns false with the
 * reason (disk full, permission); an existing file is then untouched. */
bool results_write(const char *path, const void *image, size_t size, struct reason *why);

/* What a result file says it is, and the means to fill a store from it. */
struct saved;
/* Opens a result file; NULL with the reason when it is missing, damaged or of another format. */
struct saved *results_open(const char *path, struct reason *why);
void results_close(struct saved *saved);
/* Root attributes as text: "resolved", "job", "title", "source_revision", "potluck_version"; NULL
 * when absent. Borrowed until results_close(). */
const char *results_attribute(struct saved *saved, const char *name);
bool results_complete(struct saved *saved);
/* Fills an empty store whose job has the same identity as the file's. */
bool results_load(struct saved *saved, struct store *s, struct reason *why);

/* A plain table of the file for `potluck show`: one row per point. Text columns have `text`, others
 * `number`. */
struct column {
    char *name;
    char **text;
    double *number;
};
struct table {
    char *title;
    bool complete;
    uint64_t n_done; /* points with all their replications */
    uint64_t n_rows;
    unsigned n_columns;
    struct column *columns;
};
/* Reads every one-dimensional variable on `point`, in file order. */
struct table *results_table(struct saved *saved, struct reason *why);
void table_free(struct table *t);

/* A histogram of the file over the bins of its axis. */
struct law {
    char *name, *axis; /* load_count and load, response_count and time, ... */
    uint64_t n_rows, n_bins;
    double *low, *high; /* [bin]: the smallest and the largest value */
    double *count;      /* [row][bin] */
    double *error;      /* [row][bin]: standard errors of the fractions; NULL: none in the file */
};
/* Reads the histogram `name`; without a name that of loads (DHT rings: of utilisation). NULL when
 * there is none, with the reason where it has a name. The caller frees with law_free(). */
struct law *results_law(struct saved *saved, const char *name, struct reason *why);
void law_free(struct law *law);

#endif
