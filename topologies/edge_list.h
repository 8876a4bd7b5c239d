/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of edges as people and programs write them: a line an edge, two ids between blanks, commas
 * or semicolons, and perhaps more columns, which do not count; comments begin with #, % or //. */
#ifndef POTLUCK_EDGE_LIST_H
#define POTLUCK_EDGE_LIST_H

#include "network.h"

/* The edges of a list; loops and double edges may be among them. Where all ids are whole numbers,
 * vertices are numbered in rising order of ids (numbers between that no edge names are no
 * vertices), otherwise in order of first appearance. NULL with a reason that begins with the name
 * of the file and the line. */
struct edges *edge_list_read(const struct attachment *file, struct repairs *repairs,
                             struct reason *why);

#endif
