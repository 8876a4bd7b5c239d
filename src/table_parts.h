/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of table.c share. */
#ifndef POTLUCK_TABLE_PARTS_H
#define POTLUCK_TABLE_PARTS_H

#include "results.h"

#include <stdio.h>

/* A table as it is to be shown. */
struct show {
    const struct table *table;
    const unsigned *by; /* columns; owned by table_show() */
    unsigned n_by;
    uint64_t *order; /* of the rows, by these columns and then as in the file; owned */
    FILE *out;
};

/* The number of the column called `name`, or -1. */
int table_find(const struct table *t, const char *name);
/* Order of two cells of a column: texts by bytes, numbers by size, those that do not apply last. */
int table_compare(const struct column *c, uint64_t a, uint64_t b);

/* Makes s->order. */
void table_sort(struct show *s);

/* For people: the parameters that tell the points apart (or the columns of `by`), and the main
 * statistics. */
void table_people(const struct show *s);

#endif
