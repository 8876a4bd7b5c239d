/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The policies and models of one instruction-set level. */
#include "kernel.h"
#include "sampler.h"

#include <stdio.h>
#include <string.h>

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

/* The policies that make sense on a form of space, for people. */
static const char *policies_on(enum form form, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < ISA(policies).n_kinds; i++) {
        const struct policy *p = (const struct policy *)(const void *)ISA(policies).kinds[i];
        if (p->on >> form & 1 && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                                       p->kind.name);
    }
    return text;
}

/* What else there is than cutting a topology down to its largest component. */
static const char *other_ways(const struct kind *topology) {
    for (unsigned i = 0; i < topology->n_parameters; i++)
        if (topology->parameters[i].words && strstr(topology->parameters[i].words, "redraw"))
            return "connect: redraw draws until there is one part";
    return "or give a graph in one part";
}

bool ISA(policy_suits)(const struct policy *policy, const struct kind *topology,
                       const struct space *space, struct reason *why) {
    char all[200];
    if (!(policy->on >> space->form & 1))
        return refuse(why, "policy %s makes no sense on topology %s (there: %s)", policy->kind.name,
                      topology->name, policies_on(space->form, all, sizeof all));
    if (policy->anywhere && space->form == FORM_GRAPH && !space->connected &&
        space->connect == CONNECT_ANY)
        return refuse(why,
                      "policy %s may pick a server that has no path to the origin: topology %s may "
                      "have several parts (connect: largest keeps the largest part, %s)",
                      policy->kind.name, topology->name, other_ways(topology));
    return true;
}

extern const struct model ISA(model_balls);
extern const struct model ISA(model_queue);
extern const struct model ISA(model_dht);
extern const struct model ISA(model_harness);

static const struct kind *const model_kinds[] = {&ISA(model_balls).kind, &ISA(model_queue).kind,
                                                 &ISA(model_dht).kind, &ISA(model_harness).kind};
extern const struct catalogue ISA(models);
const struct catalogue ISA(models) = {"model", model_kinds,
                                      sizeof model_kinds / sizeof *model_kinds};
