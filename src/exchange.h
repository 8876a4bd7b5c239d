/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers between a store and the variables of its layout: fill_x() writes the elements of a
 * variable, take_x() puts them back (see struct variable). */
#ifndef POTLUCK_EXCHANGE_H
#define POTLUCK_EXCHANGE_H

#include "layout.h"

typedef void fill(const struct layout *l, const struct variable *v, void *data);
typedef bool take(const struct layout *l, const struct variable *v, const void *data,
                  struct reason *why);

fill fill_index, fill_lower, fill_upper, fill_grid, fill_second; /* coordinates, of axis `index` */
fill fill_label, fill_column, fill_replications, fill_stream;    /* of points */
fill fill_row, fill_mean, fill_se;                               /* of row `index` */
fill fill_histogram, fill_batches, fill_averages, fill_averages_se,
    fill_batch_averages; /* of histogram `index` */
fill fill_fraction, fill_fraction_se;
fill fill_comparison; /* `index`: tv, its floor, cross and error, cost reduction and error */
fill fill_spans, fill_batch_replications, fill_moments, fill_done; /* of the state */

take take_row, take_histogram, take_batches;
take take_spans, take_batch_replications, take_moments, take_done;

#endif
