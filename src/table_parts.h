/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of table.c share. */
#ifndef POTLUCK_TABLE_PARTS_H
#define POTLUCK_TABLE_PARTS_H

#include "options.h"
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

/* For people: the parameters that tell the points apart (or the columns of `by`), the main
 * statistics, and a small picture of a histogram (or NULL). */
void table_people(const struct show *s, const struct law *law);
/* A column of small pictures, one a row, free with table_sparks_free(); NULL when nothing was
 * counted. */
struct column *table_sparks(const struct law *law);
void table_sparks_free(struct column *c, uint64_t rows);
/* The bins of a histogram, point by point. */
void table_histogram(const struct show *s, const struct law *law, enum show_format format);

/* Value and half width with two significant digits of the half width; "" for one that is unknown
 * or 0. The caller frees both. */
void table_estimate(double value, double half, char **text, char **half_text);
/* Columns that a text takes on the screen: its bytes but those that continue a character. */
int table_width(const char *text);
void table_csv_text(FILE *out, const char *text);
void table_json_text(FILE *out, const char *text);

#endif
