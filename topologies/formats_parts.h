/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For formats.c alone: checks of texts before igraph reads them. Each goes through the whole text;
 * false with a reason and a line. */
#ifndef POTLUCK_FORMATS_PARTS_H
#define POTLUCK_FORMATS_PARTS_H

#include "network.h"

/* What igraph should find; edges UINT64_MAX: not known. */
struct census {
    uint64_t vertices, edges;
};

bool graphml_check(struct text t, struct census *c, struct reason *why);
bool gml_check(struct text t, struct census *c, struct reason *why);
bool pajek_check(struct text t, struct census *c, struct reason *why);

#endif
