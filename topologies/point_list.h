/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of points: a line a point, its x and y from 0 to 1 between blanks, commas or semicolons;
 * comments begin with #, % or //. */
#ifndef POTLUCK_POINT_LIST_H
#define POTLUCK_POINT_LIST_H

#include "topology.h"

struct point_list {
    uint64_t n;
    uint32_t *x, *y; /* [n], units of 2^-31; 2^31 is the far border itself */
};

/* The points of a file, which keeps them: it is read once. NULL with a reason that begins with the
 * name of the file and the line. */
const struct point_list *point_list_of(struct attachment *file, struct reason *why);

#endif
