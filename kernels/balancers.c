/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The catalogue of balancers. */
#include "dht.h"

#define BALANCER(id) extern const struct balancer ISA(balancer_##id);
#include "balancers.def"
#undef BALANCER

static const struct kind *const kinds[] = {
#define BALANCER(id) &ISA(balancer_##id).kind,
#include "balancers.def"
#undef BALANCER
};
const struct catalogue ISA(balancers) = {"balancer", kinds, sizeof kinds / sizeof *kinds};
