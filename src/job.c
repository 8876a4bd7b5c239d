/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The top level of a job file. Everything but the few keys that any model has comes from the
 * model's table. */
#include "job.h"

#include "attachments.h"
#include "job_parts.h"
#include "number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The keys of any model. */
static const char *const common_keys[] = {"title", "model",  "seed",    "replications",
                                          "keep",  "common", "baseline"};
enum { COMMON_KEYS = sizeof common_keys / sizeof common_keys[0] };

struct place job_place(const struct reader *r, const struct node *n) {
    return (struct place){r->path, n->line, n->column};
}

const char *job_format(struct reader *r, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    CHECK(length >= 0);
    char *text = storage_get(r->storage, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void job_say(struct reader *r, struct place where, const char *format, ...) {
    if (r->complaints->count >= COMPLAINTS_MAX)
        return;
    if (r->complaints->count == COMPLAINTS_MAX - 1) {
        complain(r->complaints, &(struct place){r->path, 0, 0}, "and more mistakes, not shown");
        return;
    }
    char sentence[4096], line[4400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%s:%u:%u: %s\n", where.file, where.line, where.column, sentence);
    if (!r->complaints->text || !strstr(r->complaints->text, line))
        complain(r->complaints, &where, "%s", sentence);
}

const char *job_found(struct reader *r, const struct node *n) {
    if (n->type == NODE_SEQUENCE)
        return n->n ? "a list" : "an empty list";
    if (n->type == NODE_MAPPING)
        return n->n ? "a mapping" : "an empty mapping";
    return node_null(n) ? "nothing"
                        : job_format(r, n->plain ? "'%.60s'" : "the text \"%.60s\"", n->text);
}

const char *job_allowed(struct reader *r, const char *word, const char *const *names, size_t n) {
    const char *all = n ? "allowed: " : "allowed: none";
    for (size_t i = 0; i < n; i++)
        all = job_format(r, "%s%s%s", all, i ? ", " : "", names[i]);
    const char *nearest = nearest_name(word, names, n);
    return nearest ? job_format(r, "%s; did you mean '%s'?", all, nearest) : all;
}

/* The whole file; NULL and a complaint when that cannot be. */
static char *read_file(const char *path, size_t *length, struct complaints *complaints) {
    const struct place where = {path, 0, 0};
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    *length = 0;
    if (f) {
        /* One byte too many is enough to see that a file is too large. */
        text = allocate(TREE_BYTES_MAX + 2, 1);
        *length = fread(text, 1, TREE_BYTES_MAX + 1, f);
    }
    if (!f || ferror(f)) {
        complain(complaints, &where, "cannot be read: %s", strerror(errno));
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static void read_model(struct reader *r, const struct node *root) {
    const struct node *n = node_get(root, "model");
    const struct catalogue *c = r->models;
    const char **names = storage_get(r->storage, c->n_kinds, sizeof *names);
    for (unsigned i = 0; i < c->n_kinds; i++) {
        names[i] = c->kinds[i]->name;
        if (n ? n->type == NODE_SCALAR && !strcmp(n->text, names[i]) : i == 0)
            r->model = model_of(c->kinds[i]);
    }
    if (r->model)
        return;
    const char *word = n->type == NODE_SCALAR ? n->text : "";
    if (n->type == NODE_SCALAR && !node_null(n))
        job_say(r, job_place(r, n), "unknown model '%s' (%s)", word,
                job_allowed(r, word, names, c->n_kinds));
    else
        job_say(r, job_place(r, n), "'model' must be one word, not %s (%s)", job_found(r, n),
                job_allowed(r, word, names, c->n_kinds));
}

/* A kind of a catalogue of the model that has a parameter of this name. */
static bool belongs_within(struct reader *r, const struct node *key) {
    for (unsigned i = 0; i < r->model->kind.n_parameters; i++) {
        const struct parameter *p = &r->model->kind.parameters[i];
        for (unsigned k = 0; p->catalogue && k < p->catalogue->n_kinds; k++) {
            const struct kind *kind = p->catalogue->kinds[k];
            if (parameter_index(kind, key->text) < 0)
                continue;
            job_say(r, job_place(r, key), "'%s' belongs within a %s (%s: {%s: {%s: ...}})",
                    key->text, p->catalogue->noun, p->name, kind->name, key->text);
            return true;
        }
    }
    return false;
}

static void unknown_key(struct reader *r, const struct node *key) {
    for (unsigned i = 0; i < r->models->n_kinds; i++)
        if (parameter_index(r->models->kinds[i], key->text) >= 0) {
            job_say(r, job_place(r, key), "'%s' is a key of model %s, not of %s", key->text,
                    r->models->kinds[i]->name, r->model->kind.name);
            return;
        }
    if (belongs_within(r, key))
        return;
    const unsigned n = r->model->kind.n_parameters;
    const char **names = storage_get(r->storage, COMMON_KEYS + n, sizeof *names);
    const unsigned common = r->model->contender >= 0 ? COMMON_KEYS : COMMON_KEYS - 1;
    memcpy(names, common_keys, common * sizeof *names);
    for (unsigned i = 0; i < n; i++)
        names[common + i] = r->model->kind.parameters[i].name;
    job_say(r, job_place(r, key), "unknown key '%s' of model %s (%s)", key->text,
            r->model->kind.name, job_allowed(r, key->text, names, common + n));
}

static bool is_common(const char *key) {
    for (unsigned i = 0; i < COMMON_KEYS; i++)
        if (!strcmp(key, common_keys[i]))
            return true;
    return false;
}

/* One value for the whole job has no axis within it either. */
static void refuse_axis(struct reader *r, const struct parameter *p, const struct node *n,
                        const struct choices *list) {
    if (p->fixed && list->n > 1)
        job_say(r, job_place(r, n), "'%s' takes one %s, not a list of values within it", p->name,
                p->catalogue->noun);
}

/* Reads what the model's table names, in the order of the file; then the defaults of the rest. */
static void read_parameters(struct reader *r, const struct node *root) {
    const struct kind *kind = &r->model->kind;
    const unsigned n = kind->n_parameters;
    unsigned given = 0;
    r->choices = storage_get(r->storage, n, sizeof *r->choices);
    r->key = storage_get(r->storage, n, sizeof *r->key);
    r->used = storage_get(r->storage, n, sizeof *r->used);
    r->order = storage_get(r->storage, n, sizeof *r->order);
    r->stride = storage_get(r->storage, n, sizeof *r->stride);
    for (unsigned i = 0; i < root->n; i++) {
        const int at = parameter_index(kind, root->key[i]->text);
        if (at < 0) {
            if (!is_common(root->key[i]->text))
                unknown_key(r, root->key[i]);
        } else if (!r->key[at]) {
            r->key[at] = root->key[i];
            r->order[given++] = (unsigned)at;
            job_read_values(r, &kind->parameters[at], root->item[i], &r->choices[at]);
            refuse_axis(r, &kind->parameters[at], root->item[i], &r->choices[at]);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (r->key[i])
            continue;
        r->order[given++] = i;
        const struct parameter *p = &kind->parameters[i];
        if (!p->standard) {
            job_say(r, r->root, "'%s' is missing (%s)", p->name, job_wanted(r, p));
            continue;
        }
        struct choice *c = storage_get(r->storage, 1, sizeof *c);
        *c = job_standard(r, p, r->root);
        r->choices[i] = (struct choices){c, 1, 1};
    }
}

static void read_baseline(struct reader *r, const struct node *root) {
    const struct node *n = node_get(root, "baseline");
    if (r->model->contender < 0) {
        for (unsigned i = 0; n && i < root->n; i++)
            if (root->item[i] == n)
                job_say(r, job_place(r, root->key[i]),
                        "model %s has no 'baseline': it compares nothing", r->model->kind.name);
        return;
    }
    struct parameter *p = storage_get(r->storage, 1, sizeof *p);
    *p = r->model->kind.parameters[r->model->contender];
    p->name = "baseline";
    p->fixed = true;
    p->standard = r->model->baseline;
    struct choices one = {0};
    const bool dropped = r->dropped;
    if (n)
        job_read_values(r, p, n, &one);
    r->dropped = dropped; /* no point hangs on it */
    refuse_axis(r, p, n, &one);
    if (one.n)
        r->baseline = one.item[0];
    else if (!n && p->standard)
        r->baseline = job_standard(r, p, r->root);
}

static void read_title(struct reader *r, const struct node *n, struct job *job) {
    if (n && n->type != NODE_SCALAR)
        job_say(r, job_place(r, n), "'title' must be text, not %s", job_found(r, n));
    job->title = duplicate_text(n && n->type == NODE_SCALAR && !node_null(n) ? n->text : "");
}

static void read_seed(struct reader *r, const struct node *n, struct job *job) {
    if (!n) {
        job->seed_drawn = true;
        if (getrandom(&job->seed, sizeof job->seed, 0) != (ssize_t)sizeof job->seed)
            world_failed("the system gives no random seed: %s", strerror(errno));
        return;
    }
    const bool plain = n->type == NODE_SCALAR && n->plain;
    const enum number_verdict verdict = plain ? number_count(n->text, &job->seed) : NUMBER_NONE;
    if (verdict != NUMBER_GOOD)
        job_say(r, job_place(r, n),
                "'seed' must be one whole number between 0 and 18446744073709551615, not %s",
                job_found(r, n));
}

static void read_common(struct reader *r, const struct node *n, struct job *job) {
    static const struct parameter row = {.name = "common", .type = TYPE_FLAG, .fixed = true};
    struct choices one = {0};
    job->common = true;
    const bool dropped = r->dropped;
    if (n)
        job_read_values(r, &row, n, &one);
    r->dropped = dropped;
    if (one.n)
        job->common = one.item[0].value.real > 0;
}

/* The words `keep` knows: rows, means, and those of the model's histograms. */
static unsigned keep_words(const struct reader *r, const char *words[2 + HISTOGRAMS_MAX]) {
    unsigned n = 0;
    words[n++] = "rows";
    words[n++] = "means";
    for (unsigned h = 0; h < r->model->n_histograms; h++)
        if (r->model->histograms[h].keep)
            words[n++] = r->model->histograms[h].keep;
    return n;
}

/* Returns the position of the word among keep_words(), or -1. */
static int read_keep_word(struct reader *r, const struct node *n) {
    const char *words[2 + HISTOGRAMS_MAX];
    const unsigned count = keep_words(r, words);
    for (unsigned i = 0; n->type == NODE_SCALAR && i < count; i++)
        if (!strcmp(n->text, words[i]))
            return (int)i;
    job_say(r, job_place(r, n), "'keep' knows no %s (%s)", job_found(r, n),
            job_allowed(r, n->type == NODE_SCALAR ? n->text : "", words, count));
    return -1;
}

static void read_keep(struct reader *r, const struct node *n, struct job *job) {
    bool kept[2 + HISTOGRAMS_MAX] = {false};
    const bool list = n && n->type == NODE_SEQUENCE;
    if (list && !n->n)
        job_say(r, job_place(r, n), "'keep' has an empty list (leave it out to keep rows)");
    for (unsigned i = 0; n && i < (list ? n->n : 1); i++) {
        const struct node *item = list ? n->item[i] : n;
        const int word = read_keep_word(r, item);
        if (word < 0)
            continue;
        if (kept[word])
            job_say(r, job_place(r, item), "'%s' is listed twice", item->text);
        kept[word] = true;
        if (word < 2 && kept[1 - word])
            job_say(r, job_place(r, item), "'keep' is either rows or means, not both");
    }
    job->keep_rows = !kept[1];
    for (unsigned h = 0, word = 2; h < r->model->n_histograms; h++)
        job->keep_histogram[h] = !r->model->histograms[h].keep || kept[word++];
}

/* A stopping rule can only look at statistics that its points have. */
static void check_criteria(struct reader *r, const struct node *replications, struct job *job) {
    for (unsigned c = 0; c < job->replications.n_criteria; c++)
        for (uint64_t i = 0; i < job->n_points; i++) {
            const unsigned row = job->replications.criteria[c].row;
            if (!isnan(job->points[i].facts.row[row].divisor))
                continue;
            job_say(r, replications ? job_place(r, replications) : r->root,
                    "'until' looks at %s, which a point of this job does not have (point %" PRIu64
                    ")",
                    r->model->rows[row].name, i);
            break;
        }
}

/* Sums of numbers that are no counts are kept in units so fine that only so many fit. */
static void check_sums(struct reader *r, const struct node *replications, struct job *job) {
    for (uint64_t i = 0; i < job->n_points; i++)
        for (unsigned h = 0; h < r->model->n_histograms; h++) {
            const uint64_t most = job->points[i].facts.most[h];
            if (!most || !job->keep_histogram[h] || job->replications.max <= most ||
                !job->points[i].facts.bins[h])
                continue;
            job_say(r, replications ? job_place(r, replications) : r->root,
                    "%" PRIu64 " replications are more than the sums of %s hold (at most %" PRIu64
                    ")",
                    job->replications.max, r->model->histograms[h].name, most);
            return;
        }
}

static void read_root(struct reader *r, const struct node *root, uint64_t replications,
                      struct job *job) {
    r->root = job_place(r, root);
    if (root->type != NODE_MAPPING) {
        job_say(r, r->root, "a job must be a mapping, one 'key: value' a line, not %s",
                job_found(r, root));
        return;
    }
    read_model(r, root);
    read_title(r, node_get(root, "title"), job);
    read_seed(r, node_get(root, "seed"), job);
    const struct node *n = node_get(root, "replications");
    if (n)
        job_read_replications(r, n, job);
    else if (!replications)
        job_say(r, r->root, "'replications' is missing (a whole number, or {min, max, until})");
    if (replications)
        job_fix_replications(r, replications, job);
    job_take_part(r, n, job);
    read_common(r, node_get(root, "common"), job);
    if (!r->model)
        return;
    job->model = r->model;
    read_parameters(r, root);
    read_baseline(r, root);
    read_keep(r, node_get(root, "keep"), job);
    job_make_points(r, job);
    if (r->complaints->count)
        return;
    check_criteria(r, n, job);
    check_sums(r, n, job);
    if (r->complaints->count)
        return;
    job_make_labels(r, job);
    job_make_resolved(r, job);
}

/* One line of complaints. */
struct sentence {
    uint32_t line, column;
    unsigned found; /* position in order of discovery */
    const char *text;
    size_t length;
};

static int compare_sentences(const void *a, const void *b) {
    const struct sentence *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->found < y->found ? -1 : 1;
}

/* Mistakes are found key by key, but read from the top of the file. */
static void sort_complaints(const char *path, struct complaints *c) {
    struct sentence *all = allocate(c->count, sizeof *all);
    const char *at = c->text;
    for (unsigned i = 0; i < c->count; i++) {
        all[i] = (struct sentence){0, 0, i, at, strcspn(at, "\n") + 1};
        if (sscanf(at + strlen(path), ":%u:%u:", &all[i].line, &all[i].column) != 2)
            all[i].line = UINT32_MAX; /* about the file as a whole: last */
        at += all[i].length;
    }
    qsort(all, c->count, sizeof *all, compare_sentences);
    char *sorted = allocate(c->length + 1, 1), *end = sorted;
    for (unsigned i = 0; i < c->count; i++)
        end = (char *)memcpy(end, all[i].text, all[i].length) + all[i].length;
    free(all);
    free(c->text);
    c->text = sorted;
}

struct job *job_read(const char *path, const char *text, const struct reading *how,
                     const struct catalogue *models, struct complaints *complaints) {
    static const struct reading plainly = {0};
    CHECK(!complaints->count);
    how = how ? how : &plainly;
    size_t length = text ? strlen(text) : 0;
    char *copy = text ? duplicate_text(text) : read_file(path, &length, complaints);
    if (!copy)
        return NULL;
    struct job *job = allocate(1, sizeof *job);
    *job = (struct job){.path = path, .text = copy, .text_length = length, .budget = how->budget};
    if (job->budget.bytes == 0)
        job->budget.bytes = UINT64_MAX;
    if (job->budget.threads == 0)
        job->budget.threads = 1;
    struct storage *storage = storage_new();
    job->storage = storage;
    struct tree *tree = tree_read(path, copy, length, complaints);
    struct reader r = {.path = path,
                       .complaints = complaints,
                       .storage = storage,
                       .models = models,
                       .how = how,
                       .job = job};
    if (tree)
        read_root(&r, tree_root(tree), how->replications, job);
    tree_free(tree);
    if (!complaints->count)
        return job;
    sort_complaints(path, complaints);
    job_free(job);
    return NULL;
}

void job_free(struct job *job) {
    if (!job)
        return;
    for (uint64_t k = 0; job->points && k < job->n_points; k++)
        free(job->points[k].label);
    free(job->points);
    free(job->replications.criteria);
    free(job->text);
    free(job->title);
    free(job->resolved);
    free(job->identity);
    for (unsigned i = 0; i < job->n_attachments; i++)
        attachment_free(job->attachments[i]);
    free(job->attachments);
    storage_free(job->storage);
    free(job);
}
