/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `potluck show`: the table of a result file for people, spreadsheets and programs. */
#ifndef POTLUCK_TABLE_H
#define POTLUCK_TABLE_H

#include "options.h"
#include "results.h"

#include <stdio.h>

/* Prints the table. `by` (or NULL) names columns, separated by commas: rows are sorted by them and
 * they come first; for people they replace the columns that would label the rows. People see the
 * main statistics with the half widths of their 95 % intervals, CSV and JSON have every column in
 * full precision. Complains and returns false, having printed nothing, when `by` names none. */
bool table_show(const struct table *t, const char *by, enum show_format format, FILE *out,
                struct complaints *c);

#endif
