/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of parameters by their type, and lists of them. */
#include "job_parts.h"
#include "number.h"
#include "vocabulary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes text from malloc() into the reader's storage. */
static const char *keep_text(struct reader *r, char *text) {
    const char *kept = storage_text(r->storage, text, strlen(text));
    free(text);
    return kept;
}

static const char *range_text(struct reader *r, const struct parameter *p) {
    return keep_text(r, parameter_range(p));
}

const char *job_wanted(struct reader *r, const struct parameter *p) {
    return keep_text(r, parameter_wanted(p));
}

void job_add_choice(struct reader *r, struct choices *into, const struct choice *c) {
    if (into->n == into->room) {
        const size_t room = into->room ? 2 * into->room : 4;
        struct choice *item = storage_get(r->storage, room, sizeof *item);
        if (into->n)
            memcpy(item, into->item, into->n * sizeof *item);
        into->item = item;
        into->room = room;
    }
    into->item[into->n++] = *c;
}

bool job_wrong(struct reader *r, const struct parameter *p, const struct node *n) {
    job_say(r, job_place(r, n), "'%s' must be %s, not %s", p->name, job_wanted(r, p),
            job_found(r, n));
    return false;
}

static bool out_of_range(struct reader *r, const struct parameter *p, const struct node *n) {
    job_say(r, job_place(r, n), "'%s' must be %s, not %s", p->name, range_text(r, p), n->text);
    return false;
}

/* What is said of text where a number belongs. */
static bool no_number(struct reader *r, const struct parameter *p, const struct node *n,
                      enum number_verdict verdict) {
    if (!n->plain)
        job_say(r, job_place(r, n), "'%s' must be a number, not text (without quotes)", p->name);
    else if (verdict == NUMBER_NOT_WHOLE)
        job_say(r, job_place(r, n), "'%s' must be a whole number, not %s", p->name, n->text);
    else if (verdict == NUMBER_NEGATIVE)
        return out_of_range(r, p, n);
    else if (verdict == NUMBER_TOO_LARGE)
        job_say(r, job_place(r, n), "'%s' is too large: %s%s%s", p->name, n->text,
                range_text(r, p)[0] ? ", must be " : "", range_text(r, p));
    else
        return job_wrong(r, p, n);
    return false;
}

/* 10n, 0.5n, n. */
static bool read_multiple(struct reader *r, const struct parameter *p, const struct node *n,
                          struct choice *c) {
    const size_t length = strlen(n->text);
    const char *factor = length == 1 ? "1" : job_format(r, "%.*s", (int)length - 1, n->text);
    if (strchr(factor, '%') || number_real(factor, &c->value.real) != NUMBER_GOOD)
        return job_wrong(r, p, n);
    if (!p->relative) {
        job_say(r, job_place(r, n), "'%s' must be a plain whole number, not a multiple of n (%s)",
                p->name, n->text);
        return false;
    }
    if (c->value.real < 0 || c->value.real > p->upper)
        return out_of_range(r, p, n);
    char text[NUMBER_TEXT];
    number_text(c->value.real, text);
    c->value.relative = true;
    c->text = job_format(r, "%sn", text);
    return true;
}

static bool read_count(struct reader *r, const struct parameter *p, const struct node *n,
                       struct choice *c) {
    const size_t length = strlen(n->text);
    if (n->plain && length && n->text[length - 1] == 'n')
        return read_multiple(r, p, n, c);
    const enum number_verdict verdict = number_count(n->text, &c->value.count);
    if (!n->plain || verdict != NUMBER_GOOD)
        return no_number(r, p, n, verdict);
    c->value.real = (double)c->value.count;
    if (c->value.real < p->lower || c->value.real > p->upper)
        return out_of_range(r, p, n);
    c->text = job_format(r, "%" PRIu64, c->value.count);
    return true;
}

static bool read_real(struct reader *r, const struct parameter *p, const struct node *n,
                      struct choice *c) {
    const enum number_verdict verdict = number_real(n->text, &c->value.real);
    if (!n->plain || verdict != NUMBER_GOOD)
        return no_number(r, p, n, verdict);
    if (c->value.real < p->lower || c->value.real > p->upper)
        return out_of_range(r, p, n);
    if (c->value.real == 0)
        c->value.real = 0; /* not -0 */
    char text[NUMBER_TEXT];
    number_text(c->value.real, text);
    c->text = job_format(r, "%s", text);
    return true;
}

static bool read_flag(struct reader *r, const struct parameter *p, const struct node *n,
                      struct choice *c) {
    if (n->plain && (!strcmp(n->text, "true") || !strcmp(n->text, "false"))) {
        c->value.real = n->text[0] == 't';
        c->text = n->text[0] == 't' ? "true" : "false";
        return true;
    }
    static const char *const yes[] = {"yes", "on", "True", "TRUE", "Yes", "y", "1", "true"};
    static const char *const no[] = {"no", "off", "False", "FALSE", "No", "n", "0", "false"};
    for (unsigned i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        const bool is_yes = !strcmp(n->text, yes[i]);
        if (!is_yes && strcmp(n->text, no[i]))
            continue;
        job_say(r, job_place(r, n), "'%s' must be true or false, not %s (did you mean %s?)",
                p->name, job_found(r, n), is_yes ? "true" : "false");
        return false;
    }
    return job_wrong(r, p, n);
}

static bool read_word(struct reader *r, const struct parameter *p, const struct node *n,
                      struct choice *c) {
    char word[64];
    const char *names[64];
    unsigned count = 0;
    for (; count < 64 && parameter_word(p, count, word, sizeof word); count++) {
        names[count] = job_format(r, "%s", word);
        if (!strcmp(word, n->text)) {
            c->value.word = count;
            c->text = names[count];
            return true;
        }
    }
    const char *nearest = nearest_name(n->text, names, count);
    if (!nearest)
        return job_wrong(r, p, n);
    job_say(r, job_place(r, n), "'%s' must be %s, not '%s' (did you mean '%s'?)", p->name,
            job_wanted(r, p), n->text, nearest);
    return false;
}

/* The word for no number, where a parameter may go without. */
static bool is_unset(const struct parameter *p, const struct node *n) {
    return p->standard && !strcmp(p->standard, "unset") && n->plain && !strcmp(n->text, "unset");
}

static bool read_scalar(struct reader *r, const struct parameter *p, const struct node *n,
                        struct choice *c) {
    *c = (struct choice){.place = job_place(r, n)};
    if (n->type != NODE_SCALAR || node_null(n))
        return job_wrong(r, p, n);
    if (is_unset(p, n)) {
        c->value.unset = true;
        c->text = "unset";
        return true;
    }
    switch (p->type) {
    case TYPE_COUNT:
        return read_count(r, p, n, c);
    case TYPE_REAL:
        return read_real(r, p, n, c);
    case TYPE_FLAG:
        return read_flag(r, p, n, c);
    case TYPE_FILE:
        return job_read_file(r, p, n, c);
    default:
        return read_word(r, p, n, c);
    }
}

/* One element of a vector. */
static bool read_element(struct reader *r, const struct parameter *p, const struct node *n,
                         const char *text, uint64_t *count) {
    const enum number_verdict verdict = number_count(text, count);
    const struct node part = {
        .type = NODE_SCALAR, .plain = n->plain, .text = text, .line = n->line, .column = n->column};
    if (verdict == NUMBER_NONE)
        return job_wrong(r, p, n);
    if (verdict != NUMBER_GOOD)
        return no_number(r, p, &part, verdict);
    return ((double)*count >= p->lower && (double)*count <= p->upper) || out_of_range(r, p, &part);
}

static void finish_vector(struct reader *r, uint64_t *counts, unsigned n, struct choice *c) {
    c->value.counts = counts;
    c->value.n_counts = n;
    char *text = storage_get(r->storage, 3 + (size_t)n * 22, 1);
    size_t length = 0;
    for (unsigned i = 0; i < n; i++)
        length += (size_t)sprintf(text + length, "%s%" PRIu64, i ? ", " : "[", counts[i]);
    text[length] = ']';
    c->text = text;
}

/* 100x100, or a plain number, which is a vector of one. */
static bool read_by(struct reader *r, const struct parameter *p, const struct node *n,
                    struct choice *c) {
    if (node_null(n))
        return job_wrong(r, p, n);
    if (!n->plain && !strchr(n->text, 'x'))
        return no_number(r, p, n, NUMBER_NONE);
    unsigned count = 1;
    for (const char *s = n->text; *s; s++)
        count += *s == 'x';
    uint64_t *counts = storage_get(r->storage, count, sizeof *counts);
    const char *rest = n->text;
    for (unsigned i = 0; i < count; i++) {
        const size_t length = strcspn(rest, "x");
        if (!read_element(r, p, n, job_format(r, "%.*s", (int)length, rest), &counts[i]))
            return false;
        rest += length + 1;
    }
    finish_vector(r, counts, count, c);
    return true;
}

static bool read_vector(struct reader *r, const struct parameter *p, const struct node *n,
                        struct choice *c) {
    *c = (struct choice){.place = job_place(r, n)};
    if (n->type == NODE_SCALAR)
        return read_by(r, p, n, c);
    if (n->type == NODE_MAPPING || !n->n)
        return job_wrong(r, p, n);
    bool good = true;
    uint64_t *counts = storage_get(r->storage, n->n, sizeof *counts);
    for (unsigned i = 0; i < n->n; i++) {
        const struct node *item = n->item[i];
        if (item->type != NODE_SCALAR || node_null(item))
            good = job_wrong(r, p, item);
        else if (!item->plain)
            good = no_number(r, p, item, NUMBER_NONE);
        else if (!read_element(r, p, item, item->text, &counts[i]))
            good = false;
    }
    if (good)
        finish_vector(r, counts, n->n, c);
    return good;
}

static bool read_real_element(struct reader *r, const struct parameter *p, const struct node *n,
                              double *real) {
    struct choice one = {.place = job_place(r, n)};
    if (n->type != NODE_SCALAR || node_null(n))
        return job_wrong(r, p, n);
    if (!read_real(r, p, n, &one))
        return false;
    *real = one.value.real;
    return true;
}

static bool read_reals(struct reader *r, const struct parameter *p, const struct node *n,
                       struct choice *c) {
    const bool list = n->type == NODE_SEQUENCE;
    const unsigned count = list ? (unsigned)n->n : 1;
    *c = (struct choice){.place = job_place(r, n)};
    if (n->type == NODE_MAPPING || !count)
        return job_wrong(r, p, n);
    if (!list && is_unset(p, n)) {
        c->value.unset = true;
        c->text = "unset";
        return true;
    }
    double *reals = storage_get(r->storage, count, sizeof *reals);
    char *text = storage_get(r->storage, 3 + (size_t)count * (NUMBER_TEXT + 2), 1);
    size_t length = 0;
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        char number[NUMBER_TEXT] = "";
        if (read_real_element(r, p, list ? n->item[i] : n, &reals[i]))
            number_text(reals[i], number);
        else
            good = false;
        length += (size_t)sprintf(text + length, "%s%s", i ? ", " : "[", number);
    }
    text[length] = ']';
    c->value.reals = reals;
    c->value.n_reals = count;
    c->text = text;
    return good;
}

/* A list of numbers is one vector; with a list or an AxB in it, it is a list of vectors. */
static bool is_vector(const struct node *n) {
    for (unsigned i = 0; i < n->n; i++)
        if (n->item[i]->type != NODE_SCALAR || strchr(n->item[i]->text, 'x'))
            return false;
    return true;
}

static bool is_reals(const struct node *n) {
    for (unsigned i = 0; i < n->n; i++)
        if (n->item[i]->type != NODE_SCALAR || !strcmp(n->item[i]->text, "unset"))
            return false;
    return true;
}

static int compare_choices(const void *a, const void *b) {
    const struct choice *x = *(const struct choice *const *)a,
                        *y = *(const struct choice *const *)b;
    const int order = strcmp(x->text, y->text);
    return order ? order : (x > y) - (x < y);
}

/* Complains about values that a list has twice. */
static void refuse_twice(struct reader *r, const struct choices *list) {
    if (list->n < 2)
        return;
    const struct choice **sorted = allocate(list->n, sizeof(struct choice *));
    for (size_t i = 0; i < list->n; i++)
        sorted[i] = &list->item[i];
    qsort(sorted, list->n, sizeof(struct choice *), compare_choices);
    for (size_t i = 1; i < list->n; i++)
        if (!strcmp(sorted[i]->text, sorted[i - 1]->text))
            job_say(r, sorted[i]->place, "'%s' is listed twice", sorted[i]->text);
    free(sorted);
}

static void read_one(struct reader *r, const struct parameter *p, const struct node *n,
                     struct choices *into) {
    struct choice c;
    if (p->type == TYPE_ENTRY)
        job_read_entry(r, p, n, into);
    else if (p->type == TYPE_COUNTS  ? read_vector(r, p, n, &c)
             : p->type == TYPE_REALS ? read_reals(r, p, n, &c)
                                     : read_scalar(r, p, n, &c))
        job_add_choice(r, into, &c);
    else
        r->dropped = true;
}

void job_read_values(struct reader *r, const struct parameter *p, const struct node *node,
                     struct choices *into) {
    if (node->type != NODE_SEQUENCE || (p->type == TYPE_COUNTS && node->n && is_vector(node)) ||
        (p->type == TYPE_REALS && node->n && is_reals(node))) {
        read_one(r, p, node, into);
        return;
    }
    if (p->fixed || !node->n) {
        job_say(r, job_place(r, node), "'%s' %s (%s)", p->name,
                node->n ? "takes one value for the whole job, not a list" : "has an empty list",
                job_wanted(r, p));
        r->dropped = true;
        return;
    }
    for (unsigned i = 0; i < node->n; i++)
        read_one(r, p, node->item[i], into);
    refuse_twice(r, into);
}
