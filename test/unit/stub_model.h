/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two models that play nothing, so that tests of the job language depend on no real model, policy
 * or topology.
 *
 *   toy     place, rule (contender), things (relative), ties, exactness (fixed), rate, flag, shape
 * (vector) idle    milliseconds
 *
 * Refusals of toy: things = 13; near with k above n (the inner k is to blame). `ties` is used by
 * rule near only, `rate` only by places of more than one server; `exactness` may go unused. */
#ifndef POTLUCK_STUB_MODEL_H
#define POTLUCK_STUB_MODEL_H

#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct parameter stub_row_parameters[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 0x1p40,
     .units = "server",
     .meaning = "servers"},
};
static const struct parameter stub_box_parameters[] = {
    {.name = "sides",
     .type = TYPE_COUNTS,
     .lower = 1,
     .upper = 1e6,
     .units = "server",
     .meaning = "sides"},
};
static const struct kind stub_row = {"row", "all in a row", "", stub_row_parameters, 1};
static const struct kind stub_box = {"box", "a box", "", stub_box_parameters, 1};
static const struct kind *const stub_place_kinds[] = {&stub_row, &stub_box};
static const struct catalogue stub_places = {"place", stub_place_kinds, 2};

static const struct parameter stub_near_parameters[] = {
    {.name = "k",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 0x1p40,
     .units = "1",
     .meaning = "reach"},
    {.name = "self",
     .type = TYPE_WORD,
     .words = "excluded|included",
     .standard = "excluded",
     .units = "",
     .meaning = "whether the origin counts"},
};
static const struct parameter stub_lazy_parameters[] = {
    {.name = "beta",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 1,
     .standard = "1/2",
     .units = "1",
     .meaning = "share"},
};
static const struct kind stub_pair = {"pair", "two of them", "", NULL, 0};
static const struct kind stub_near = {"near", "one nearby", "", stub_near_parameters, 2};
static const struct kind stub_lazy = {"lazy", "sometimes", "", stub_lazy_parameters, 1};
static const struct kind *const stub_rule_kinds[] = {&stub_pair, &stub_near, &stub_lazy};
static const struct catalogue stub_rules = {"rule", stub_rule_kinds, 3};

enum {
    TOY_PLACE,
    TOY_RULE,
    TOY_THINGS,
    TOY_TIES,
    TOY_EXACTNESS,
    TOY_RATE,
    TOY_FLAG,
    TOY_SHAPE,
    TOY_PARAMETERS
};

static const struct parameter toy_parameters[TOY_PARAMETERS] = {
    {.name = "place",
     .type = TYPE_ENTRY,
     .catalogue = &stub_places,
     .units = "",
     .meaning = "where"},
    {.name = "rule",
     .type = TYPE_ENTRY,
     .catalogue = &stub_rules,
     .standard = "near: {k: 2}",
     .units = ""},
    {.name = "things",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = 0x1p50,
     .standard = "1n",
     .relative = true,
     .units = "ball",
     .meaning = "how many"},
    {.name = "ties", .type = TYPE_WORD, .words = "fair|origin", .standard = "fair", .units = ""},
    {.name = "exactness",
     .type = TYPE_WORD,
     .words = "exact|sampled",
     .standard = "exact",
     .fixed = true,
     .optional_use = true,
     .units = ""},
    {.name = "rate", .type = TYPE_REAL, .lower = 0, .upper = 1e308, .standard = "1", .units = "1"},
    {.name = "flag", .type = TYPE_FLAG, .standard = "false", .units = ""},
    {.name = "shape", .type = TYPE_COUNTS, .lower = 0, .upper = 100, .standard = "1", .units = "1"},
};

static inline uint64_t stub_servers(const struct value *values) {
    const struct value *inner = values[TOY_PLACE].entry->values;
    if (values[TOY_PLACE].entry->kind == &stub_row)
        return inner->count;
    uint64_t n = 1;
    for (unsigned i = 0; i < inner->n_counts; i++)
        if (__builtin_mul_overflow(n, inner->counts[i], &n))
            return UINT64_MAX;
    return n;
}

static inline bool toy_examine(const struct value *values, const struct budget *budget,
                               struct facts *facts, struct reason *why, unsigned *at) {
    (void)budget;
    const struct entry *rule = values[TOY_RULE].entry;
    facts->servers = stub_servers(values);
    *at = TOY_THINGS;
    if (value_count(&values[TOY_THINGS], facts->servers) == 13)
        return refuse(why, "13 things bring no luck");
    *at = at_within(TOY_RULE, 0);
    if (rule->kind == &stub_near && rule->values[0].count > facts->servers)
        return refuse(why, "k = %llu is more than all %llu",
                      (unsigned long long)rule->values[0].count,
                      (unsigned long long)facts->servers);
    return true;
}

static inline void toy_shared_text(const struct value *values, char *text, size_t size) {
    snprintf(text, size, "%s", values[TOY_PLACE].entry->text);
}

static inline bool toy_uses(const struct value *values, unsigned parameter) {
    switch (parameter) {
    case TOY_TIES:
        return values[TOY_RULE].entry->kind == &stub_near;
    case TOY_RATE:
        return stub_servers(values) > 1;
    case TOY_EXACTNESS:
        return false;
    default:
        return true;
    }
}

static const struct row toy_rows[] = {
    {"height", "ball", "greatest load", "", false},
    {"cost", "hop", "mean cost", "", true},
};
static const struct histogram toy_histograms[] = {
    {.name = "load_count",
     .units = "server",
     .long_name = "servers by load",
     .axis = AXIS_LOAD,
     .batched = true},
    {.name = "server_load",
     .units = "ball",
     .long_name = "balls by server",
     .axis = AXIS_SERVER,
     .averages = true,
     .keep = "each"},
};
static const struct model toy_model = {
    .kind = {"toy", "a toy", "", toy_parameters, TOY_PARAMETERS},
    .rows = toy_rows,
    .n_rows = 2,
    .histograms = toy_histograms,
    .n_histograms = 2,
    .law = 0,
    .cost = 1,
    .contender = TOY_RULE,
    .baseline = "pair",
    .uses = toy_uses,
    .examine = toy_examine,
    .shared_text = toy_shared_text,
};

static const struct parameter idle_parameters[] = {
    {.name = "milliseconds",
     .type = TYPE_REAL,
     .lower = 0,
     .upper = 1e6,
     .standard = "1",
     .units = "ms"},
};
static inline bool idle_examine(const struct value *values, const struct budget *budget,
                                struct facts *facts, struct reason *why, unsigned *at) {
    (void)budget;
    (void)why;
    (void)at;
    facts->nanoseconds = values[0].real * 1e6;
    return true;
}
static inline void idle_shared_text(const struct value *values, char *text, size_t size) {
    (void)values;
    snprintf(text, size, "idle");
}
static const struct model idle_model = {
    .kind = {"idle", "does nothing", "", idle_parameters, 1},
    .law = -1,
    .cost = -1,
    .contender = -1,
    .examine = idle_examine,
    .shared_text = idle_shared_text,
};

static const struct kind *const stub_model_kinds[] = {&toy_model.kind, &idle_model.kind};
static const struct catalogue stub_models = {"model", stub_model_kinds, 2};

#endif
