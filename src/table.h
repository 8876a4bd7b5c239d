/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `potluck show`: the table of a result file for people, spreadsheets and programs. */
#ifndef POTLUCK_TABLE_H
#define POTLUCK_TABLE_H

#include "options.h"
#include "results.h"

#include <stdio.h>

/* Prints the table, or with options->histogram the bins of `law`. options->by (or NULL) names
 * columns, separated by commas: rows are sorted by them and they come first; for people they replace
 * the columns that would label the rows. People see the main statistics with the half widths of their
 * 95 % intervals and a picture of `law` (or NULL), CSV and JSON have every column in full precision.
 * Complains and returns false, having printed nothing, when `by` names none. */
bool table_show(const struct table *t, const struct law *law, const struct options *options,
                FILE *out, struct complaints *c);

#endif
