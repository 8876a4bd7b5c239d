/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The catalogue of topologies. */
#include "topology.h"

#define TOPOLOGY(id) extern const struct topology topology_##id;
#include "list.def"
#undef TOPOLOGY

static const struct kind *const kinds[] = {
#define TOPOLOGY(id) &topology_##id.kind,
#include "list.def"
#undef TOPOLOGY
};

const struct catalogue topologies = {"topology", kinds, sizeof kinds / sizeof *kinds};
