/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries and points made without the job reader: "torus sides=3x4", "unif-pot k=2 self=included",
 * "discrete values=0.1/9.1 probabilities=0.9/0.1".
 * What is not given takes the default of the parameter's row. */
#ifndef POTLUCK_BY_HAND_H
#define POTLUCK_BY_HAND_H

#include "balls.h"

#include <stdlib.h>
#include <string.h>

enum { BY_HAND_COUNTS = 32, BY_HAND_VALUES = 8, BALLS_VALUES = BALLS_DISTANCES + 1 };

struct by_hand {
    struct entry entry;
    struct value value[BY_HAND_VALUES];
    uint64_t counts[BY_HAND_COUNTS];
    double reals[BY_HAND_VALUES][BY_HAND_COUNTS];
    char text[200];
};

static inline void by_hand_value(struct by_hand *b, unsigned i, const char *text) {
    const struct parameter *p = &b->entry.kind->parameters[i];
    struct value *v = &b->value[i];
    char *end = NULL, word[64];
    *v = (struct value){.unset = !strcmp(text, "unset")};
    if (v->unset)
        return;
    switch (p->type) {
    case TYPE_COUNT:
        v->count = strtoull(text, &end, 10);
        v->real = (double)v->count;
        break;
    case TYPE_REAL:
        v->real = strtod(text, &end);
        break;
    case TYPE_FLAG:
        v->real = !strcmp(text, "true");
        break;
    case TYPE_WORD:
        for (;; v->word++) {
            CHECK(parameter_word(p, v->word, word, sizeof word));
            if (!strcmp(word, text))
                break;
        }
        break;
    case TYPE_COUNTS:
        v->counts = b->counts;
        for (const char *at = text;; at = end + 1) {
            CHECK(v->n_counts < BY_HAND_COUNTS);
            b->counts[v->n_counts++] = strtoull(at, &end, 10);
            if (*end != 'x')
                break;
        }
        break;
    case TYPE_REALS:
        v->reals = b->reals[i];
        for (const char *at = text;; at = end + 1) {
            CHECK(v->n_reals < BY_HAND_COUNTS);
            b->reals[i][v->n_reals++] = strtod(at, &end);
            if (*end != '/')
                break;
        }
        break;
    case TYPE_FILE:
        CHECK(false && "files are given by the test");
        break;
    case TYPE_ENTRY:
        CHECK(false && "an entry within an entry");
    }
    CHECK(!end || !*end);
}

/* The kind called `name`, which must exist. */
static inline const struct kind *by_hand_kind(const struct catalogue *c, const char *name) {
    unsigned i = 0;
    while (i < c->n_kinds && strcmp(c->kinds[i]->name, name))
        i++;
    CHECK(i < c->n_kinds);
    return c->kinds[i];
}

/* Fills *b, which must stay where it is, from a text. */
static inline const struct entry *by_hand(struct by_hand *b, const struct catalogue *c,
                                          const char *text) {
    char copy[sizeof b->text], *rest = NULL;
    *b = (struct by_hand){0};
    CHECK(strlen(text) < sizeof copy);
    strcpy(copy, text);
    strcpy(b->text, text);
    const struct kind *kind = by_hand_kind(c, strtok_r(copy, " ", &rest));
    b->entry = (struct entry){kind, b->value, b->text};
    CHECK(kind->n_parameters <= BY_HAND_VALUES);
    for (unsigned i = 0; i < kind->n_parameters; i++)
        if (kind->parameters[i].standard)
            by_hand_value(b, i, kind->parameters[i].standard);
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        char *equals = strchr(word, '=');
        CHECK(equals);
        *equals = '\0';
        const int i = parameter_index(kind, word);
        CHECK(i >= 0);
        by_hand_value(b, (unsigned)i, equals + 1);
    }
    return &b->entry;
}

static inline const struct model *balls_at(enum level level) {
    return model_of(by_hand_kind(models_at(level), "balls"));
}
static inline const struct catalogue *policies_at(enum level level) {
    return balls_at(level)->kind.parameters[BALLS_POLICY].catalogue;
}

/* A point of model balls. */
struct question {
    const char *topology, *policy;
    uint64_t balls;
    bool origin_wins, occupancy;
};
struct balls_by_hand {
    struct by_hand topology, policy, distances;
    struct value value[BALLS_VALUES];
    struct facts facts;
};

/* Fills *b, which must stay where it is; examine() must accept it. */
static inline const struct value *balls_by_hand(struct balls_by_hand *b, enum level level,
                                                const struct question *q) {
    struct reason why = {""};
    unsigned at = 0;
    memset(b->value, 0, sizeof b->value);
    b->value[BALLS_TOPOLOGY].entry = by_hand(&b->topology, &topologies, q->topology);
    b->value[BALLS_POLICY].entry = by_hand(&b->policy, policies_at(level), q->policy);
    b->value[BALLS_DISTANCES].entry = by_hand(
        &b->distances, balls_at(level)->kind.parameters[BALLS_DISTANCES].catalogue, "exact");
    b->value[BALLS_BALLS] = (struct value){.count = q->balls, .real = (double)q->balls};
    b->value[BALLS_TIES].word = q->origin_wins;
    b->value[BALLS_METHOD].word = q->occupancy;
    CHECK(
        balls_at(level)->examine(b->value, &(struct budget){UINT64_MAX, 1}, &b->facts, &why, &at));
    return b->value;
}

#endif
