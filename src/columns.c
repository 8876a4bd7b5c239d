/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 3 }; /* model parameter, parameter of its entry, parameter of that one's entry */

/* The names of the parameters that lead from the model to a value, whichever kinds lie between. */
struct path {
    const char *step[DEPTH];
    unsigned depth;
    bool digest; /* of a file, what is in it instead of its name */
};
struct paths {
    struct path *path;
    unsigned n;
};

static const char *bare_name(const struct path *p) {
    return p->step[p->depth - 1];
}

static bool same_path(const struct path *a, const struct path *b) {
    bool same = a->depth == b->depth && a->digest == b->digest;
    for (unsigned i = 0; same && i < a->depth; i++)
        same = strcmp(a->step[i], b->step[i]) == 0;
    return same;
}

static void add_path(struct paths *all, const struct path *p) {
    for (unsigned i = 0; i < all->n; i++)
        if (same_path(&all->path[i], p))
            return;
    all->path = reallocate(all->path, all->n + 1, sizeof *all->path);
    all->path[all->n++] = *p;
}

/* All paths that begin with `stem` and go on with a parameter of `kind`. */
static void add_paths(struct paths *all, const struct kind *kind, const struct path *stem) {
    for (unsigned i = 0; i < kind->n_parameters; i++) {
        const struct parameter *row = &kind->parameters[i];
        struct path p = *stem;
        p.step[p.depth++] = row->name;
        add_path(all, &p);
        if (row->type == TYPE_FILE) {
            p.digest = true;
            add_path(all, &p);
        }
        if (row->type != TYPE_ENTRY || p.depth == DEPTH)
            continue;
        for (unsigned k = 0; k < row->catalogue->n_kinds; k++)
            add_paths(all, row->catalogue->kinds[k], &p);
    }
}

static bool is_servers(const struct path *p) {
    return strcmp(bare_name(p), "n") == 0;
}

static struct paths paths_of(const struct model *model) {
    struct paths all = {0};
    add_paths(&all, &model->kind, &(const struct path){0});
    for (unsigned i = 0; i < all.n; i++)
        if (is_servers(&all.path[i]))
            return all;
    /* A model whose servers are not a parameter called n: the column comes first. */
    add_path(&all, &(const struct path){.step = {"n"}, .depth = 1});
    const struct path servers = all.path[all.n - 1];
    memmove(all.path + 1, all.path, (all.n - 1) * sizeof *all.path);
    all.path[0] = servers;
    return all;
}

/* Whether a parameter of the model itself has this name. */
static bool is_outer(const struct paths *all, const char *name) {
    bool outer = false;
    for (unsigned j = 0; j < all->n; j++)
        outer |= all->path[j].depth == 1 && strcmp(bare_name(&all->path[j]), name) == 0;
    return outer;
}

/* A path name that a parameter of the model has already (`service_mean` beside the mean of the law
 * `service`) becomes `service_own_mean`. */
static char *column_name(const struct paths *all, unsigned i) {
    const struct path *p = &all->path[i];
    const char *end = p->digest ? "_sha256" : "";
    bool clash = false;
    for (unsigned j = 0; j < all->n; j++)
        clash |= j != i && all->path[j].digest == p->digest &&
                 strcmp(bare_name(&all->path[j]), bare_name(p)) == 0;
    if (!clash || p->depth == 1 || is_servers(p))
        return format_text("%s%s", bare_name(p), end);
    if (p->depth == 2) {
        char *name = format_text("%s_%s%s", p->step[0], p->step[1], end);
        if (!is_outer(all, name))
            return name;
        free(name);
    }
    return p->depth == 2 ? format_text("%s_own_%s%s", p->step[0], p->step[1], end)
                         : format_text("%s_%s_%s%s", p->step[0], p->step[1], p->step[2], end);
}

/* One value of a column, and the table row that describes it; value NULL: the parameter does not
 * apply there. */
struct cell {
    const struct parameter *row;
    const struct value *value;
};

static struct cell find_cell(const struct job *job, uint64_t point, const struct path *p) {
    const struct kind *kind = &job->model->kind;
    const struct value *values = job->points[point].values;
    for (unsigned d = 0;; d++) {
        const int i = parameter_index(kind, p->step[d]);
        if (i < 0)
            return (struct cell){0};
        const struct parameter *row = &kind->parameters[i];
        if (d + 1 == p->depth)
            return values[i].unset || (row->type == TYPE_FILE && !values[i].file)
                       ? (struct cell){0}
                       : (struct cell){row, &values[i]};
        if (row->type != TYPE_ENTRY || !values[i].entry)
            return (struct cell){0};
        kind = values[i].entry->kind;
        values = values[i].entry->values;
    }
}

static char *counts_text(const struct value *v) {
    char *text = duplicate_text("");
    for (unsigned i = 0; i < v->n_counts; i++) {
        char *longer =
            format_text("%s%s%llu", text, i ? "x" : "", (unsigned long long)v->counts[i]);
        free(text);
        text = longer;
    }
    return text;
}

static char *reals_text(const struct value *v) {
    char *text = duplicate_text("");
    for (unsigned i = 0; i < v->n_reals; i++) {
        char *longer = format_text("%s%s%.17g", text, i ? " " : "", v->reals[i]);
        free(text);
        text = longer;
    }
    return text;
}

static char *cell_text(struct cell c, bool digest, uint64_t n) {
    char word[80];
    if (!c.value)
        return duplicate_text("");
    switch (c.row->type) {
    case TYPE_WORD:
        CHECK(parameter_word(c.row, c.value->word, word, sizeof word));
        return duplicate_text(word);
    case TYPE_COUNTS:
        return counts_text(c.value);
    case TYPE_REALS:
        return reals_text(c.value);
    case TYPE_ENTRY:
        return duplicate_text(c.value->entry ? c.value->entry->kind->name : "");
    case TYPE_FILE:
        return duplicate_text(digest ? c.value->file->sha256 : c.value->file->name);
    case TYPE_COUNT:
        return format_text("%llu", (unsigned long long)value_count(c.value, n));
    default:
        return format_text("%.17g", c.value->real);
    }
}

static double cell_number(struct cell c, uint64_t n) {
    if (!c.value)
        return (double)NAN;
    return c.row->type == TYPE_COUNT ? (double)value_count(c.value, n) : c.value->real;
}

/* The narrowest element that holds the parameter in every point; `row` is its first use, NULL when
 * there is none. */
static enum element column_element(const struct job *job, const struct path *p,
                                   const struct parameter **row) {
    bool gaps = false, text = false, flags = true, counts = true;
    *row = NULL;
    for (uint64_t i = 0; i < job->n_points; i++) {
        const struct cell c = find_cell(job, i, p);
        if (!c.value) {
            gaps = true;
            continue;
        }
        const enum parameter_type type = c.row->type;
        *row = *row ? *row : c.row;
        text |= type == TYPE_WORD || type == TYPE_COUNTS || type == TYPE_REALS ||
                type == TYPE_ENTRY || type == TYPE_FILE;
        flags &= type == TYPE_FLAG;
        counts &=
            type == TYPE_COUNT && value_count(c.value, job->points[i].facts.servers) <= INT64_MAX;
    }
    if (text)
        return ELEMENT_TEXT;
    return gaps || (!flags && !counts) ? ELEMENT_F64 : flags ? ELEMENT_U8 : ELEMENT_I64;
}

static void *column_data(const struct job *job, const struct path *p, enum element element) {
    const uint64_t points = job->n_points;
    char **text = element == ELEMENT_TEXT ? allocate(points, sizeof *text) : NULL;
    double *real = element == ELEMENT_F64 ? allocate(points, sizeof *real) : NULL;
    int64_t *whole = element == ELEMENT_I64 ? allocate(points, sizeof *whole) : NULL;
    uint8_t *flag = element == ELEMENT_U8 ? allocate(points, sizeof *flag) : NULL;
    for (uint64_t i = 0; i < points; i++) {
        const uint64_t n = job->points[i].facts.servers;
        const struct cell c = find_cell(job, i, p);
        if (text)
            text[i] = cell_text(c, p->digest, n);
        else if (real)
            real[i] = cell_number(c, n);
        else if (whole)
            whole[i] = (int64_t)value_count(c.value, n);
        else
            flag[i] = c.value->real != 0.0;
    }
    return text ? (void *)text : real ? (void *)real : whole ? (void *)whole : (void *)flag;
}

/* Fills the column of the number of servers; false when the points have none. */
static bool servers_column(const struct job *job, struct job_column *c) {
    bool some = false, all = true;
    for (uint64_t i = 0; i < job->n_points; i++) {
        some |= job->points[i].facts.servers > 0;
        all &= job->points[i].facts.servers > 0;
    }
    if (!some)
        return false;
    double *real = allocate(job->n_points, sizeof *real);
    int64_t *whole = allocate(job->n_points, sizeof *whole);
    for (uint64_t i = 0; i < job->n_points; i++) {
        const uint64_t n = job->points[i].facts.servers;
        real[i] = n ? (double)n : (double)NAN;
        whole[i] = (int64_t)n;
    }
    free(all ? (void *)real : (void *)whole);
    *c = (struct job_column){.name = duplicate_text("n"),
                             .element = all ? ELEMENT_I64 : ELEMENT_F64,
                             .units = "server",
                             .long_name = "number of servers",
                             .data = all ? (void *)whole : (void *)real};
    return true;
}

struct job_columns columns_of(const struct job *job) {
    const struct paths all = paths_of(job->model);
    struct job_columns out = {.columns = allocate(all.n, sizeof *out.columns),
                              .n_points = job->n_points};
    bool servers_done = false;
    for (unsigned i = 0; i < all.n; i++) {
        struct job_column *c = &out.columns[out.n];
        if (is_servers(&all.path[i])) {
            out.n += !servers_done && servers_column(job, c);
            servers_done = true;
            continue;
        }
        const struct parameter *row;
        const enum element element = column_element(job, &all.path[i], &row);
        if (!row)
            continue;
        *c = (struct job_column){.name = column_name(&all, i),
                                 .element = element,
                                 .units = row->units && *row->units ? row->units : "1",
                                 .long_name =
                                     all.path[i].digest ? "SHA-256 of the file" : row->meaning,
                                 .data = column_data(job, &all.path[i], element)};
        out.n++;
    }
    free(all.path);
    return out;
}

void columns_free(struct job_columns *c) {
    for (unsigned i = 0; i < c->n; i++) {
        char **text = c->columns[i].element == ELEMENT_TEXT ? c->columns[i].data : NULL;
        for (uint64_t p = 0; text && p < c->n_points; p++)
            free(text[p]);
        free(c->columns[i].data);
        free(c->columns[i].name);
    }
    free(c->columns);
    *c = (struct job_columns){0};
}
