/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

static uint64_t counted_from_1(uint64_t bin) {
    return bin + 1;
}

const struct axis_row axis_rows[] = {
    [AXIS_LOAD] = {DIMENSION_LOAD, "load", "load, or the smallest of its bin", "1",
                   "the largest load of the bin", bin_lower, NULL},
    [AXIS_HOP] = {DIMENSION_HOP, "hop", "distance in hops, or the smallest of its bin", "hop",
                  "the largest hop of the bin", bin_lower, NULL},
    [AXIS_SERVER] = {DIMENSION_SERVER, "server", "number of the server", "1", NULL, NULL, NULL},
    [AXIS_DEGREE] = {DIMENSION_DEGREE, "server_degree",
                     "number of neighbours, or the smallest of its bin", "1",
                     "the largest degree of the bin", bin_lower, NULL},
    [AXIS_DEGREE_BIN] = {DIMENSION_DEGREE_BIN, "degree_bin",
                         "number of neighbours, the smallest of a coarse bin", "1",
                         "the largest degree of the bin", coarse_bin_lower, NULL},
    [AXIS_DISTANCE] = {DIMENSION_DISTANCE, "distance", "distance, where its bin begins",
                       "side of the square", "distance, where its bin ends", NULL,
                       length_bin_lower},
    [AXIS_TIME] = {DIMENSION_TIME, "time", "time, where its bin begins", "1",
                   "time, where its bin ends", NULL, time_bin_lower},
    [AXIS_STEP] = {DIMENSION_STEP, "step", "number of the step, 200 in warm-up and horizon", "1",
                   NULL, NULL, NULL},
    [AXIS_COMPLETION] = {DIMENSION_COMPLETION, "completion", "which completion, from 1 on", "1",
                         NULL, counted_from_1, NULL},
    [AXIS_GRID] = {DIMENSION_GRID, "time_point", "times at which distributions are known", "time",
                   NULL, NULL, NULL},
    [AXIS_SECOND] = {DIMENSION_SECOND, "second", "time when an interval begins", "s", NULL, NULL,
                     NULL},
    [AXIS_UTILISATION] = {DIMENSION_UTILISATION, "utilisation", "utilisation, where its bin begins",
                          "1", "utilisation, where its bin ends", NULL, time_bin_lower},
    [AXIS_NODE_SERVERS] = {DIMENSION_NODE_SERVERS, "node_servers",
                           "virtual servers of a node, or the smallest number of a bin", "1",
                           "the largest number of the bin", bin_lower, NULL},
    [AXIS_CAPACITY] = {DIMENSION_CAPACITY, "capacity_class", "capacity, where its bin begins",
                       "1/s", "capacity, where its bin ends", NULL, capacity_bin_lower},
};
enum { AXES = sizeof axis_rows / sizeof *axis_rows };

enum dimension dimension_of(const struct histogram *h) {
    return axis_rows[h->axis].dimension;
}

bool dimension_grows(enum dimension d) {
    bool grows = d == DIMENSION_REPLICATION || d == DIMENSION_SPAN;
    for (unsigned i = 0; i < AXES; i++)
        grows |= d == axis_rows[i].dimension && axis_rows[i].upper;
    return grows;
}

static const struct model *model_in(const struct layout *l) {
    return l->store->job->model;
}

/* ---- the list of variables ---- */

/* Adds a variable, of which `v` gives all but the name and long name; the caller owns neither
 * afterwards. */
static void add(struct layout *l, char *name, char *long_name, struct variable v) {
    l->variables = reallocate(l->variables, l->n + 1, sizeof *l->variables);
    v.name = name;
    v.long_name = long_name;
    l->variables[l->n++] = v;
}

static void add_plain(struct layout *l, const char *name, const char *long_name,
                      struct variable v) {
    add(l, duplicate_text(name), duplicate_text(long_name), v);
}

/* The numbers of points, replications and so on. */
static void add_numbers(struct layout *l, bool state) {
    static const struct {
        enum dimension dimension;
        const char *name, *long_name;
        bool state;
    } table[] = {
        {DIMENSION_POINT, "point", "number of the point", false},
        {DIMENSION_REPLICATION, "replication", "number of the replication", false},
        {DIMENSION_BATCH, "batch", "replication modulo 50", false},
        {DIMENSION_SPAN, "span", "number of the range of completed replications", true},
        {DIMENSION_BOUND, "bound", "0: point, 1: first replication, 2: end", true},
        {DIMENSION_ROW, "row", "number of the statistic, in the order of the model", true},
        {DIMENSION_WORD, "word", "0: count, 1-2: sum, 3-5: squares; low words first", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct variable v = {.state = state,
                                   .coordinate = true,
                                   .element = ELEMENT_U64,
                                   .rank = 1,
                                   .dimension = {table[i].dimension},
                                   .units = "1",
                                   .fill = fill_index};
        if (table[i].state == state && l->length[table[i].dimension])
            add_plain(l, table[i].name, table[i].long_name, v);
    }
}

static void add_axes(struct layout *l) {
    for (unsigned i = 0; i < AXES; i++) {
        const struct axis_row *axis = &axis_rows[i];
        struct variable v = {.coordinate = true,
                             .element = axis->begin || i == AXIS_GRID || i == AXIS_SECOND
                                            ? ELEMENT_F64
                                            : ELEMENT_U64,
                             .rank = 1,
                             .dimension = {axis->dimension},
                             .units = axis->units,
                             .index = i,
                             .fill = i == AXIS_GRID               ? fill_grid
                                     : i == AXIS_SECOND           ? fill_second
                                     : axis->lower || axis->begin ? fill_lower
                                                                  : fill_index};
        if (!l->length[axis->dimension])
            continue;
        add_plain(l, axis->name, axis->long_name, v);
        v.coordinate = false;
        v.fill = fill_upper;
        if (axis->upper)
            add(l, format_text("%s_upper", axis->name), duplicate_text(axis->upper), v);
    }
}

static void add_columns(struct layout *l) {
    const struct variable v = {.rank = 1, .dimension = {DIMENSION_POINT}, .units = "1"};
    struct variable label = v, count = v;
    label.element = ELEMENT_TEXT;
    label.fill = fill_label;
    add_plain(l, "label", "what distinguishes the point", label);
    for (unsigned i = 0; i < l->columns.n; i++) {
        const struct job_column *c = &l->columns.columns[i];
        struct variable column = v;
        column.element = c->element;
        column.units = c->units;
        column.index = i;
        column.fill = fill_column;
        add_plain(l, c->name, c->long_name ? c->long_name : c->name, column);
    }
    count.element = ELEMENT_U64;
    count.fill = fill_replications;
    add_plain(l, "replications", "completed replications", count);
    count.fill = fill_stream;
    add_plain(l, "stream", "which random words the point used; only equal ones are paired", count);
}

/* Whether some point of the job has anything to say in a row, in a histogram. */
static bool row_somewhere(const struct layout *l, unsigned row) {
    bool some = false;
    for (uint64_t p = 0; !some && p < l->store->job->n_points; p++)
        some = row_applies(&l->store->job->points[p], row);
    return some;
}

static bool histogram_somewhere(const struct layout *l, unsigned histogram) {
    bool some = false;
    for (uint64_t p = 0; !some && p < l->store->job->n_points; p++)
        some = histogram_applies(&l->store->job->points[p], histogram);
    return some && l->store->job->keep_histogram[histogram];
}

static void add_rows(struct layout *l) {
    for (unsigned i = 0; i < model_in(l)->n_rows; i++) {
        if (!row_somewhere(l, i))
            continue;
        const struct row *r = &model_in(l)->rows[i];
        struct variable v = {.element = ELEMENT_F64,
                             .rank = 2,
                             .dimension = {DIMENSION_POINT, DIMENSION_REPLICATION},
                             .units = r->units,
                             .reference = r->reference,
                             .index = i,
                             .fill = fill_row,
                             .take = take_row};
        if (l->length[DIMENSION_REPLICATION])
            add_plain(l, r->name, r->long_name, v);
        v.rank = 1;
        v.take = NULL;
        v.fill = fill_mean;
        add(l, format_text("mean_%s", r->name),
            format_text("%s: mean over replications", r->long_name), v);
        v.fill = fill_se;
        add(l, format_text("se_%s", r->name),
            format_text("%s: standard error of the mean", r->long_name), v);
    }
}

static void add_law(struct layout *l, const struct histogram *h, struct variable v) {
    const size_t length = strlen(h->name), tail = strlen("_count");
    const bool counts = length > tail && strcmp(h->name + length - tail, "_count") == 0;
    const int stem = (int)(counts ? length - tail : length);
    v.element = ELEMENT_F64;
    v.units = "1";
    v.fill = fill_fraction;
    add(l, format_text("%.*s_fraction", stem, h->name), format_text("fraction: %s", h->long_name),
        v);
    v.fill = fill_fraction_se;
    add(l, format_text("se_%.*s_fraction", stem, h->name),
        format_text("standard error of the fraction: %s", h->long_name), v);
}

/* A variable over points, perhaps batches, and the axes of a histogram. */
static void span(struct variable *v, const struct histogram *h, bool batches) {
    v->rank = 0;
    v->dimension[v->rank++] = DIMENSION_POINT;
    if (batches)
        v->dimension[v->rank++] = DIMENSION_BATCH;
    v->dimension[v->rank++] = dimension_of(h);
    if (h->second)
        v->dimension[v->rank++] = axis_rows[h->second].dimension;
    v->two_axes = h->second != 0;
}

static void add_histogram(struct layout *l, unsigned i) {
    const struct histogram *h = &model_in(l)->histograms[i];
    struct variable v = {.element = h->averages ? ELEMENT_F64 : ELEMENT_U64,
                         .units = h->units,
                         .index = i,
                         .fill = h->averages ? fill_averages : fill_histogram,
                         .take = h->batched || h->averages ? NULL : take_histogram};
    span(&v, h, false);
    add_plain(l, h->name, h->long_name, v);
    if (model_in(l)->law == (int)i)
        add_law(l, h, v);
    if (!h->batched)
        return;
    if (h->averages) {
        v.fill = fill_averages_se;
        add(l, format_text("se_%s", h->name), format_text("%s: standard error", h->long_name), v);
    }
    span(&v, h, true);
    v.fill = h->averages ? fill_batch_averages : fill_batches;
    v.take = h->averages ? NULL : take_batches;
    add(l, format_text("%s_batch", h->name),
        format_text("%s, by batch of replications", h->long_name), v);
}

static void add_comparisons(struct layout *l) {
    static const char *const table[][2] = {
        {"tv", "total variation to the law of the baseline, from pooled fractions: biased high"},
        {"tv_floor", "total variation that noise alone would show"},
        {"tv_cross",
         "total variation to the law of the baseline, cross-fitted from batches: biased low"},
        {"se_tv_cross", "standard error of the cross-fitted total variation"},
        {"cost_reduction", "1 - cost / cost of the baseline"},
        {"se_cost_reduction", "standard error of the cost reduction"},
    };
    const struct variable v = {.element = ELEMENT_F64,
                               .rank = 1,
                               .dimension = {DIMENSION_POINT},
                               .units = "1",
                               .fill = fill_comparison};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct variable comparison = v;
        comparison.index = i;
        if (i < 4 ? l->comparisons.laws != NULL : l->comparisons.costs != NULL)
            add_plain(l, table[i][0], table[i][1], comparison);
    }
}

static void add_sums(struct layout *l, struct variable v) {
    for (unsigned i = 0; i < model_in(l)->n_histograms; i++) {
        const struct histogram *h = &model_in(l)->histograms[i];
        v.index = i;
        v.fill = h->batched ? fill_batches : fill_histogram;
        v.take = h->batched ? take_batches : take_histogram;
        span(&v, h, h->batched);
        if (h->averages && histogram_somewhere(l, i))
            add(l, duplicate_text(h->name),
                format_text("%s, summed over replications", h->long_name), v);
    }
}

/* The ranges come first: what is read after them depends on them. */
static void add_state(struct layout *l) {
    struct variable v = {.state = true, .element = ELEMENT_U64, .rank = 2, .units = "1"};
    v.dimension[0] = DIMENSION_SPAN;
    v.dimension[1] = DIMENSION_BOUND;
    v.fill = fill_spans;
    v.take = take_spans;
    add_plain(l, "spans", "ranges of completed replications: point, first, end", v);
    v.dimension[0] = DIMENSION_POINT;
    v.dimension[1] = DIMENSION_BATCH;
    v.fill = fill_batch_replications;
    v.take = take_batch_replications;
    add_plain(l, "batch_replications", "completed replications, by batch", v);
    add_sums(l, v);
    v.rank = 3;
    v.dimension[0] = DIMENSION_POINT;
    v.dimension[1] = DIMENSION_ROW;
    v.dimension[2] = DIMENSION_WORD;
    v.fill = fill_moments;
    v.take = take_moments;
    if (l->length[DIMENSION_ROW])
        add_plain(l, "moments", "exact sums of the whole numbers behind each row", v);
    v.rank = 1;
    v.element = ELEMENT_U8;
    v.fill = fill_done;
    v.take = take_done;
    add_plain(l, "done", "whether the point has all its replications", v);
}

/* ---- lengths ---- */

static void raise_to(uint64_t *length, uint64_t x) {
    *length = x > *length ? x : *length;
}

/* A part of the replications has an axis of its own. */
static uint64_t first_replication(const struct store *s) {
    uint64_t first = s->job->part.first;
    for (uint64_t p = 0; p < s->job->n_points; p++)
        if (s->points[p].n_spans && s->points[p].spans[0].first < first)
            first = s->points[p].spans[0].first;
    return first;
}

static void measure(struct layout *l) {
    const struct job *job = l->store->job;
    const struct model *model = job->model;
    CHECK(job->n_points > 0);
    l->first = first_replication(l->store);
    l->length[DIMENSION_POINT] = job->n_points;
    l->length[DIMENSION_BATCH] = BATCHES;
    l->length[DIMENSION_ROW] = model->n_rows;
    l->length[DIMENSION_WORD] = MOMENT_WORDS;
    l->length[DIMENSION_BOUND] = BOUNDS;
    for (uint64_t p = 0; p < job->n_points; p++) {
        const struct point_store *point = &l->store->points[p];
        const uint64_t end = point->n_spans ? point->spans[point->n_spans - 1].end : 0;
        /* An axis without elements is not something every reader can show. */
        raise_to(&l->length[DIMENSION_REPLICATION],
                 job->keep_rows && model->n_rows ? end > l->first ? end - l->first : 1 : 0);
        l->length[DIMENSION_SPAN] += point->n_spans;
        for (unsigned h = 0; h < model->n_histograms; h++) {
            if (!job->keep_histogram[h] || !histogram_applies(&job->points[p], h))
                continue;
            const enum dimension d = dimension_of(&model->histograms[h]);
            const struct facts *facts = &job->points[p].facts;
            const uint64_t used =
                d == DIMENSION_SERVER ? facts->servers
                : dimension_grows(d)
                    ? filled_bins(&point->histogram[h], batches_of(&model->histograms[h]))
                    : facts->bins[h];
            const uint64_t columns = model->histograms[h].second ? facts->n_grid : 1;
            raise_to(&l->length[d], used / columns + !used);
            if (model->histograms[h].second)
                raise_to(&l->length[DIMENSION_GRID], columns);
        }
    }
    raise_to(&l->length[DIMENSION_SPAN], 1);
}

void layout_init(struct layout *l, const struct store *s) {
    *l = (struct layout){.store = s};
    measure(l);
    l->columns = columns_of(s->job);
    l->comparisons = compare_with_baseline(s);
    add_numbers(l, false);
    add_axes(l);
    add_numbers(l, true);
    add_columns(l);
    add_rows(l);
    for (unsigned h = 0; h < model_in(l)->n_histograms; h++)
        if (histogram_somewhere(l, h))
            add_histogram(l, h);
    add_comparisons(l);
    add_state(l);
}

void layout_free(struct layout *l) {
    for (unsigned i = 0; i < l->n; i++) {
        free(l->variables[i].name);
        free(l->variables[i].long_name);
    }
    free(l->variables);
    comparisons_free(&l->comparisons);
    columns_free(&l->columns);
    *l = (struct layout){0};
}

uint64_t layout_count(const struct layout *l, const struct variable *v) {
    uint64_t count = 1;
    for (unsigned i = 0; i < v->rank; i++)
        count *= l->length[v->dimension[i]];
    return count;
}
