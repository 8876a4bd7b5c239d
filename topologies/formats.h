/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks as GraphML, GML or Pajek files. igraph reads them; what it would let pass, or say without
 * a place, is found before. */
#ifndef POTLUCK_FORMATS_H
#define POTLUCK_FORMATS_H

#include "igraph_bridge.h"
#include "network.h"

/* The edges of a file; vertices are numbered in the order of the file. NULL with a reason that
 * begins with the name of the file. */
struct edges *format_read(const struct attachment *file, enum graph_format format,
                          struct repairs *repairs, struct reason *why);

#endif
