/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job said again: in full, as canonical YAML that reads as the same job, and briefly, as labels
 * of its points. */
#include "job_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that grows. */
struct text {
    char *bytes;
    size_t size;
    FILE *file;
};

static void text_begin(struct text *t) {
    t->bytes = NULL;
    t->size = 0;
    t->file = open_memstream(&t->bytes, &t->size);
    if (!t->file)
        world_failed("out of memory");
}

static char *text_end(struct text *t) {
    if (fclose(t->file))
        world_failed("out of memory");
    return t->bytes;
}

/* The character at s (valid UTF-8) and its length. */
static uint32_t decode(const char *s, unsigned *length) {
    const unsigned char c = (unsigned char)*s;
    *length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    uint32_t code = *length == 1 ? c : c & (0xffu >> (*length + 1));
    for (unsigned i = 1; i < *length; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

void job_put_quoted(FILE *f, const char *s) {
    fputc('"', f);
    for (unsigned length; *s; s += length) {
        const uint32_t c = decode(s, &length);
        const bool strange = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
                             c == 0xfeff || c == 0xfffe || c == 0xffff;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", (int)c);
        else if (c == '\n')
            fputs("\\n", f);
        else if (strange)
            fprintf(f, "\\u%04x", (unsigned)c);
        else
            fwrite(s, 1, length, f);
    }
    fputc('"', f);
}

/* One parameter of the model with all its values. */
static void put_parameter(struct reader *r, FILE *f, unsigned i) {
    const struct parameter *p = &r->model->kind.parameters[i];
    const struct choices *list = &r->choices[i];
    fprintf(f, "%s:", p->name);
    if (list->n == 1)
        fprintf(f, " %s\n", job_flow(r, &list->item[0]));
    else if (p->type == TYPE_ENTRY)
        for (size_t k = 0; k < list->n; k++)
            fprintf(f, "%s  - %s\n", k ? "" : "\n", list->item[k].text);
    else
        for (size_t k = 0; k < list->n; k++)
            fprintf(f, "%s%s%s", k ? ", " : " [", list->item[k].text, k + 1 < list->n ? "" : "]\n");
}

static char *job_text(struct reader *r, const struct job *job, bool with_replications) {
    struct text t;
    text_begin(&t);
    fputs("title: ", t.file);
    job_put_quoted(t.file, job->title);
    fprintf(t.file, "\nmodel: %s\nseed: %" PRIu64 "\n", r->model->kind.name, job->seed);
    if (with_replications)
        fprintf(t.file, "replications: %s\n", r->replications_text);
    for (unsigned i = 0; i < r->model->kind.n_parameters; i++)
        if (r->used[r->order[i]] || r->key[r->order[i]])
            put_parameter(r, t.file, r->order[i]);
    if (r->baseline.text)
        fprintf(t.file, "baseline: %s\n", job_flow(r, &r->baseline));
    const char *keep = job->keep_rows ? "rows" : "means";
    unsigned kept = 0;
    for (unsigned h = 0; h < r->model->n_histograms; h++) {
        if (!r->model->histograms[h].keep || !job->keep_histogram[h])
            continue;
        if (!kept++)
            fprintf(t.file, "keep: [%s", keep);
        fprintf(t.file, ", %s", r->model->histograms[h].keep);
    }
    if (kept)
        fputs("]\n", t.file);
    else
        fprintf(t.file, "keep: %s\n", keep);
    fprintf(t.file, "common: %s\n", job->common ? "true" : "false");
    return text_end(&t);
}

/* A short file can describe a job that is too long to be read once it is written out. */
static void check_readable(struct reader *r, const char *resolved) {
    const size_t length = strlen(resolved);
    if (length < TREE_NODES_MAX / 2)
        return;
    struct complaints none = {0};
    struct tree *tree = tree_read("resolved", resolved, length, &none);
    if (!tree)
        job_say(r, r->root, "the job has too many values (%zu bytes when written out in full)",
                length);
    complaints_free(&none);
    tree_free(tree);
}

void job_make_resolved(struct reader *r, struct job *job) {
    job->resolved = job_text(r, job, true);
    job->identity = job_text(r, job, false);
    check_readable(r, job->resolved);
}

/* For each entry: the first of the same kind in its list, and whether any of that kind differs from
 * it in parameter i. */
struct family {
    const struct kind *kind;
    const struct choice *first;
    bool *varies;
};

/* Which parameters tell apart the entries of a list; one family for each kind. */
static struct family *find_families(struct reader *r, const struct parameter *p,
                                    const struct choices *list) {
    struct family *families = storage_get(r->storage, p->catalogue->n_kinds, sizeof *families);
    for (size_t k = 0; k < list->n; k++) {
        const struct choice *c = &list->item[k];
        struct family *f = families;
        while (f->kind && f->kind != c->value.entry->kind)
            f++;
        const unsigned n = c->value.entry->kind->n_parameters;
        if (!f->kind)
            *f = (struct family){c->value.entry->kind, c, storage_get(r->storage, n, sizeof(bool))};
        for (unsigned i = 0; i < n; i++)
            f->varies[i] = f->varies[i] || strcmp(c->inner[i].text, f->first->inner[i].text);
    }
    return families;
}

static void put_value(FILE *f, const struct choice *c) {
    if (c->value.counts)
        for (unsigned i = 0; i < c->value.n_counts; i++)
            fprintf(f, "%s%" PRIu64, i ? "x" : "", c->value.counts[i]);
    else if (c->value.file)
        fputs(c->value.file->name, f);
    else
        fprintf(f, c->inner ? "(%s)" : "%s", c->text);
}

/* "unif-pot k=5": parameters at their default are left out unless they tell entries of this job
 * apart. */
static void put_entry(struct reader *r, FILE *f, const struct family *family,
                      const struct choice *c) {
    const struct kind *kind = c->value.entry->kind;
    while (family->kind != kind)
        family++;
    fputs(kind->name, f);
    for (unsigned i = 0; i < kind->n_parameters; i++) {
        const struct parameter *p = &kind->parameters[i];
        if (c->inner[i].value.unset ||
            (p->standard && !family->varies[i] &&
             !strcmp(job_standard(r, p, r->root).text, c->inner[i].text)))
            continue;
        if (p->bare)
            fputc(' ', f);
        else
            fprintf(f, " %s=", p->name);
        put_value(f, &c->inner[i]);
    }
}

/* An entry that all points share is named only where it belongs to every question: where it has no
 * default, or is what the job compares. */
void job_make_labels(struct reader *r, struct job *job) {
    const struct kind *model = &r->model->kind;
    struct family **families = storage_get(r->storage, model->n_parameters, sizeof *families);
    for (unsigned i = 0; i < model->n_parameters; i++)
        if (model->parameters[i].type == TYPE_ENTRY)
            families[i] = find_families(r, &model->parameters[i], &r->choices[i]);
    for (uint64_t k = 0; k < job->n_points; k++) {
        struct text t;
        text_begin(&t);
        const char *separator = "";
        for (unsigned i = 0; i < model->n_parameters; i++) {
            const struct choice *c = job_choice(r, i, k);
            const struct parameter *p = &model->parameters[i];
            const bool aside = p->standard && (int)i != r->model->contender;
            if (r->choices[i].n == 1 && (!families[i] || p->fixed || aside))
                continue;
            fputs(separator, t.file);
            separator = ", ";
            if (aside || !families[i])
                fprintf(t.file, "%s=", p->name);
            if (families[i]) {
                put_entry(r, t.file, families[i], c);
                continue;
            }
            put_value(t.file, c);
        }
        if (!*separator)
            fputs(model->name, t.file);
        job->points[k].label = text_end(&t);
    }
}
