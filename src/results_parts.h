/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the two parts of the unit that knows HDF5 share, results.c and results_table.c. */
#ifndef POTLUCK_RESULTS_PARTS_H
#define POTLUCK_RESULTS_PARTS_H

#include "results.h"

#include <hdf5.h>

enum { ATTRIBUTES_MAX = 16 };

struct saved {
    char *path;
    hid_t file, text;
    struct {
        char *name, *value;
    } attribute[ATTRIBUTES_MAX];
    unsigned n_attributes;
};

/* Opens a dataset and tells its lengths; -1 when it is missing or not of this rank. */
hid_t results_dataset(hid_t file, const char *path, unsigned rank, hsize_t *length);

#endif
