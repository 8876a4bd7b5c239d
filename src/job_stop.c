/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `replications`: a fixed count, or how precise which row's mean must be before a point may stop.
 */
#include "job_parts.h"
#include "number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_REPLICATIONS = 30 }; /* before a standard error is believed */

/* A whole number of replications, at least `least`; 0 when it is none. */
static uint64_t read_count(struct reader *r, const char *name, const struct node *n,
                           uint64_t least) {
    const struct place where = job_place(r, n);
    uint64_t count = 0;
    const enum number_verdict verdict =
        n->type == NODE_SCALAR && n->plain ? number_count(n->text, &count) : NUMBER_NONE;
    if (verdict == NUMBER_NONE || verdict == NUMBER_NOT_WHOLE)
        job_say(r, where, "'%s' must be a whole number, not %s", name, job_found(r, n));
    else if (verdict != NUMBER_GOOD || count < least || count > REPLICATIONS_MAX)
        job_say(r, where, "'%s' must be between %" PRIu64 " and %u, not %s", name, least,
                REPLICATIONS_MAX, n->text);
    else
        return count;
    return 0;
}

/* A criterion while it is read. */
struct wish {
    const char *row;  /* its name */
    const char *text; /* its tolerances, canonical */
    struct criterion c;
};

/* 1% is relative, a plain number absolute. */
static bool read_tolerance(struct reader *r, const struct node *n, struct wish *w) {
    const struct place where = job_place(r, n);
    double percent = 0, absolute = 0;
    const bool plain = n->type == NODE_SCALAR && n->plain;
    const bool relative = plain && number_percent(n->text, &percent) == NUMBER_GOOD;
    if (!relative && (!plain || number_real(n->text, &absolute) != NUMBER_GOOD)) {
        job_say(r, where,
                "the tolerance of '%s' must be a percentage (relative) or a number (absolute), "
                "not %s",
                w->row, job_found(r, n));
        return false;
    }
    const double value = relative ? percent / 100 : absolute;
    if (!(value > 0) || (relative && value > 1)) {
        job_say(r, where, "the tolerance of '%s' must be above 0%s, not %s", w->row,
                relative ? "% and at most 100%" : "", n->text);
        return false;
    }
    double *const into = relative ? &w->c.relative : &w->c.absolute;
    if (*into > 0) {
        job_say(r, where, "'%s' has a second %s tolerance", w->row,
                relative ? "relative" : "absolute");
        return false;
    }
    *into = value;
    char number[NUMBER_TEXT];
    number_text(relative ? percent : absolute, number);
    w->text =
        job_format(r, "%s%s%s%s", w->text, w->text[0] ? ", " : "", number, relative ? "%" : "");
    return true;
}

/* The row that a criterion is about. */
static bool find_row(struct reader *r, const struct node *key, struct wish *w) {
    const char *names[ROWS_MAX];
    const struct model *m = r->model;
    for (unsigned i = 0; i < m->n_rows; i++) {
        names[i] = m->rows[i].name;
        if (!strcmp(names[i], key->text)) {
            w->c.row = i;
            return true;
        }
    }
    job_say(r, job_place(r, key), "unknown statistic '%s' (%s)", key->text,
            job_allowed(r, key->text, names, m->n_rows));
    return false;
}

/* row: tolerance or [tolerances]. */
static bool read_criterion(struct reader *r, const struct node *key, const struct node *n,
                           struct wish *w) {
    *w = (struct wish){.row = key->text, .text = ""};
    bool good = find_row(r, key, w);
    if (!good)
        return false;
    if (n->type != NODE_SEQUENCE)
        good = read_tolerance(r, n, w);
    for (unsigned i = 0; n->type == NODE_SEQUENCE && i < n->n; i++)
        good = read_tolerance(r, n->item[i], w) && good;
    if (n->type == NODE_SEQUENCE && !n->n) {
        job_say(r, job_place(r, n), "'%s' has an empty list of tolerances", w->row);
        good = false;
    }
    if (good && r->model->rows[w->c.row].can_be_zero && !(w->c.absolute > 0)) {
        job_say(r, job_place(r, n),
                "the mean of '%s' can be 0, which no percentage reaches (give an absolute "
                "tolerance too: [%s, 0.01])",
                w->row, w->text);
        good = false;
    }
    return good;
}

static const char *read_until(struct reader *r, const struct node *n, struct replications *rep) {
    if (n->type != NODE_MAPPING || !n->n) {
        job_say(r, job_place(r, n),
                "'until' must say which statistic and how precise, e.g. {%s: 1%%}, not %s",
                r->model && r->model->n_rows ? r->model->rows[0].name : "STATISTIC",
                job_found(r, n));
        return NULL;
    }
    if (!r->model)
        return NULL;
    const char *text = "";
    rep->criteria = allocate(n->n, sizeof *rep->criteria);
    rep->n_criteria = n->n;
    for (unsigned i = 0; i < n->n; i++) {
        struct wish w;
        if (!read_criterion(r, n->key[i], n->item[i], &w))
            continue;
        const bool both = w.c.relative > 0 && w.c.absolute > 0;
        rep->criteria[i] = w.c;
        text = job_format(r, "%s%s%s: %s%s%s", text, text[0] ? ", " : "", w.row, both ? "[" : "",
                          w.text, both ? "]" : "");
    }
    return text;
}

/* {min, max, until}. */
static void read_rule(struct reader *r, const struct node *node, struct replications *rep) {
    static const char *const names[] = {"min", "max", "until"};
    for (unsigned i = 0; i < node->n; i++) {
        unsigned k = 0;
        while (k < 3 && strcmp(node->key[i]->text, names[k]))
            k++;
        if (k == 3)
            job_say(r, job_place(r, node->key[i]), "unknown key '%s' in 'replications' (%s)",
                    node->key[i]->text, job_allowed(r, node->key[i]->text, names, 3));
    }
    const struct node *min = node_get(node, "min"), *max = node_get(node, "max"),
                      *until = node_get(node, "until");
    const struct place where = job_place(r, node);
    rep->min = min ? read_count(r, "min", min, LEAST_REPLICATIONS) : LEAST_REPLICATIONS;
    if (max)
        rep->max = read_count(r, "max", max, LEAST_REPLICATIONS);
    else
        job_say(r, where, "'replications' needs 'max': where to stop if 'until' is never reached");
    if (rep->min && rep->max && rep->max < rep->min)
        job_say(r, job_place(r, max), "'max' must be at least 'min', %" PRIu64 ", not %s", rep->min,
                max->text);
    const char *text = NULL;
    if (until)
        text = read_until(r, until, rep);
    else
        job_say(r, where,
                "'replications' needs 'until' (for a fixed count write replications: 1000)");
    r->replications_text = job_format(r, "{min: %" PRIu64 ", max: %" PRIu64 ", until: {%s}}",
                                      rep->min, rep->max, text ? text : "");
}

void job_read_replications(struct reader *r, const struct node *node, struct job *job) {
    struct replications *rep = &job->replications;
    if (node->type == NODE_MAPPING) {
        read_rule(r, node, rep);
    } else if (node->type == NODE_SEQUENCE) {
        job_say(r, job_place(r, node),
                "'replications' takes one value for the whole job, not a list");
    } else {
        rep->min = rep->max = read_count(r, "replications", node, 1);
        r->replications_text = job_format(r, "%" PRIu64, rep->min);
    }
}

void job_fix_replications(struct reader *r, uint64_t replications, struct job *job) {
    free(job->replications.criteria);
    job->replications = (struct replications){.min = replications, .max = replications};
    r->replications_text = job_format(r, "%" PRIu64, replications);
}

void job_take_part(struct reader *r, const struct node *node, struct job *job) {
    const struct span part = r->how->part;
    if (!part.end)
        return;
    job->part = part;
    const struct place where = node ? job_place(r, node) : r->root;
    if (job->replications.n_criteria)
        job_say(r, where,
                "--replications %" PRIu64 ":%" PRIu64
                " needs a fixed number of replications, not a stopping rule (-r N fixes it)",
                part.first, part.end);
    else if (part.end > job->replications.max)
        job_fix_replications(r, part.end, job);
}
