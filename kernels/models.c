/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The policies and models of one instruction-set level. */
#include "kernel.h"
#include "sampler.h"

#define POLICY(id) extern const struct policy ISA(policy_##id);
#include "list.def"
#undef POLICY

static const struct kind *const policy_kinds[] = {
#define POLICY(id) &ISA(policy_##id).kind,
#include "list.def"
#undef POLICY
};
const struct catalogue ISA(policies) = {"policy", policy_kinds,
                                        sizeof policy_kinds / sizeof *policy_kinds};

extern const struct model ISA(model_balls);
extern const struct model ISA(model_queue);
extern const struct model ISA(model_harness);

static const struct kind *const model_kinds[] = {&ISA(model_balls).kind, &ISA(model_queue).kind,
                                                 &ISA(model_harness).kind};
extern const struct catalogue ISA(models);
const struct catalogue ISA(models) = {"model", model_kinds,
                                      sizeof model_kinds / sizeof *model_kinds};
