/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 110 };

/* A column on the screen: a label of the point, or an estimate with the half width of its interval.
 */
struct view {
    const char *title;
    const struct column *value;
    const struct column *error; /* standard errors; NULL: none */
    bool estimate;
    char **text, **half;        /* [row] */
    int text_width, half_width; /* on the screen */
};
struct views {
    struct view *view;
    unsigned n;
};

int table_width(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static char *number_text(double x, int digits) {
    if (isnan(x))
        return duplicate_text("-");
    return x == floor(x) && fabs(x) < 1e15 ? format_text("%.0f", x)
                                           : format_text("%.*g", digits, x);
}

static char *label_text(const struct column *c, uint64_t row) {
    if (!c->text)
        return number_text(c->number[row], 6);
    return duplicate_text(*c->text[row] ? c->text[row] : "-");
}

void table_estimate(double value, double half, char **text, char **half_text) {
    if (isnan(value) || !(half > 0.0) || isinf(half)) {
        *text = number_text(value, 3);
        *half_text = duplicate_text("");
        return;
    }
    const double decimals = 1.0 - floor(log10(half));
    if (decimals > 9.0) {
        *text = format_text("%.4g", value);
        *half_text = format_text(" ± %.1e", half);
    } else {
        const int digits = decimals > 0.0 ? (int)decimals : 0;
        *text = format_text("%.*f", digits, value);
        *half_text = format_text(" ± %.*f", digits, half);
    }
}

static void fill_view(const struct show *s, struct view *v) {
    const int r = table_find(s->table, "replications");
    const double *replications = r >= 0 ? s->table->columns[r].number : NULL;
    v->text = allocate(s->table->n_rows + 1, sizeof *v->text);
    v->half = allocate(s->table->n_rows + 1, sizeof *v->half);
    for (uint64_t i = 0; i < s->table->n_rows; i++) {
        const uint64_t row = s->order[i];
        if (v->estimate) {
            double half = v->error ? v->error->number[row] : (double)NAN;
            if (replications && replications[row] >= 2.0)
                half *= student_95((uint64_t)replications[row] - 1);
            table_estimate(v->value->number[row], half, &v->text[i], &v->half[i]);
        } else {
            v->text[i] = label_text(v->value, row);
            v->half[i] = duplicate_text("");
        }
        const int text = table_width(v->text[i]), half = table_width(v->half[i]);
        v->text_width = text > v->text_width ? text : v->text_width;
        v->half_width = half > v->half_width ? half : v->half_width;
    }
    const int title = table_width(v->title);
    if (title > v->text_width + v->half_width)
        v->text_width = title - v->half_width;
}

static struct view *add_view(struct views *all, const char *title, const struct column *value) {
    all->view = reallocate(all->view, all->n + 1, sizeof *all->view);
    all->view[all->n] = (struct view){.title = title, .value = value};
    return &all->view[all->n++];
}

static bool applies(const struct column *c, uint64_t row) {
    return c->text ? *c->text[row] != '\0' : !isnan(c->number[row]);
}

/* Whether there are two values of a column, not counting rows to which it does not apply. */
static bool varies(const struct table *t, const struct column *c) {
    uint64_t first = 0;
    while (first < t->n_rows && !applies(c, first))
        first++;
    bool differs = false;
    for (uint64_t i = first + 1; !differs && i < t->n_rows; i++)
        differs = applies(c, i) && table_compare(c, first, i) != 0;
    return differs;
}

/* Whether the value of a column follows from those of some others. */
static bool follows(const struct table *t, unsigned column, const unsigned *from, unsigned n) {
    struct show sorted = {.table = t, .by = from, .n_by = n};
    table_sort(&sorted);
    bool same = true;
    for (uint64_t i = 1; same && i < t->n_rows; i++) {
        const uint64_t a = sorted.order[i - 1], b = sorted.order[i];
        bool equal = true;
        for (unsigned k = 0; k < n; k++)
            equal &= table_compare(&t->columns[from[k]], a, b) == 0;
        same = !equal || table_compare(&t->columns[column], a, b) == 0;
    }
    free(sorted.order);
    return same;
}

/* Adds what tells the points apart: topology and policy, and parameters of more than one value but
 * for those that merely restate the place, such as sides beside n. Parameters stand between `label`
 * and `replications`. */
static void add_own_labels(const struct table *t, struct views *all) {
    const int label = table_find(t, "label"), end = table_find(t, "replications");
    const int topology = table_find(t, "topology"), n = table_find(t, "n");
    const unsigned place[] = {(unsigned)topology, (unsigned)n};
    for (int i = label + 1; label >= 0 && i < end; i++) {
        const struct column *c = &t->columns[i];
        const bool restates =
            i != n && topology >= 0 && n >= 0 && follows(t, (unsigned)i, place, 2);
        if (i == topology || !strcmp(c->name, "policy") || (varies(t, c) && !restates))
            add_view(all, c->name, c);
    }
    if (!all->n && label >= 0)
        add_view(all, "label", &t->columns[label]);
    if (end >= 0 && varies(t, &t->columns[end]))
        add_view(all, "replications", &t->columns[end]);
}

static void add_labels(const struct show *s, struct views *all) {
    for (unsigned i = 0; i < s->n_by; i++)
        add_view(all, s->table->columns[s->by[i]].name, &s->table->columns[s->by[i]]);
    if (!s->n_by)
        add_own_labels(s->table, all);
}

static bool all_nan(const struct table *t, const struct column *c) {
    bool all = c->number != NULL;
    for (uint64_t i = 0; all && i < t->n_rows; i++)
        all = isnan(c->number[i]);
    return all;
}

/* Adds the statistic `name` if the table has it, with its standard error if it has one. */
static void add_statistic(const struct table *t, struct views *all, const char *name) {
    char *mean = format_text("mean_%s", name), *se = format_text("se_%s", name);
    int value = table_find(t, mean);
    const int error = table_find(t, se);
    if (value < 0)
        value = table_find(t, name);
    if (value >= 0 && t->columns[value].number && !all_nan(t, &t->columns[value])) {
        const char *own = t->columns[value].name;
        struct view *v =
            add_view(all, strncmp(own, "mean_", 5) ? own : own + 5, &t->columns[value]);
        v->estimate = true;
        v->error = error >= 0 && t->columns[error].number ? &t->columns[error] : NULL;
    }
    free(mean);
    free(se);
}

static void add_statistics(const struct table *t, struct views *all) {
    /* the last ones go first where the screen is too narrow */
    static const char *const most_wanted[] = {
        "max_load", "response", "waiting", "queue_length", "cost", "cost_reduction", "tv", "moved"};
    const unsigned labels = all->n;
    for (size_t i = 0; i < sizeof most_wanted / sizeof *most_wanted; i++)
        add_statistic(t, all, most_wanted[i]);
    const int end = table_find(t, "replications"); /* parameters stand before it */
    for (unsigned i = (unsigned)(end + 1); all->n == labels && i < t->n_columns; i++)
        if (!strncmp(t->columns[i].name, "mean_", 5))
            for (; i < t->n_columns; i++) /* none of them: every mean there is */
                if (!strncmp(t->columns[i].name, "mean_", 5))
                    add_statistic(t, all, t->columns[i].name + 5);
}

/* Drops views from the right until the table fits the screen beside `taken` columns; labels stay. */
static void fit(const struct show *s, struct views *all, unsigned labels, int taken) {
    int width = taken - 2;
    for (unsigned i = 0; i < all->n; i++) {
        fill_view(s, &all->view[i]);
        width += 2 + all->view[i].text_width + all->view[i].half_width;
    }
    while (width > WIDTH && all->n > labels + 1) {
        struct view *v = &all->view[--all->n];
        width -= 2 + v->text_width + v->half_width;
        for (uint64_t i = 0; i < s->table->n_rows; i++) {
            free(v->text[i]);
            free(v->half[i]);
        }
        free(v->text);
        free(v->half);
    }
}

static void print_padded(FILE *out, const char *text, int before, int after) {
    fprintf(out, "%*s%s%*s", before > 0 ? before : 0, "", text, after > 0 ? after : 0, "");
}

/* Text to the left, numbers to the right, the half widths in a line below each other. */
static void print_line(const struct show *s, const struct views *all, int64_t line) {
    for (unsigned i = 0; i < all->n; i++) {
        const struct view *v = &all->view[i];
        const bool last = i + 1 == all->n, left = v->value->text != NULL;
        const char *text = line < 0 ? v->title : v->text[line];
        const char *half = line < 0 ? "" : v->half[line];
        const int room = v->text_width + (line < 0 ? v->half_width : 0) - table_width(text);
        const int after = v->half_width - table_width(half);
        print_padded(s->out, text, left ? 0 : room, left && !last ? room : 0);
        print_padded(s->out, half, 0, line < 0 || last ? 0 : after);
        fputs(last ? "\n" : "  ", s->out);
    }
}

static void print_heading(const struct show *s) {
    const struct table *t = s->table;
    const int r = table_find(t, "replications");
    double least = (double)INFINITY, most = 0.0;
    for (uint64_t i = 0; r >= 0 && t->columns[r].number && i < t->n_rows; i++) {
        least = fmin(least, t->columns[r].number[i]);
        most = fmax(most, t->columns[r].number[i]);
    }
    fprintf(s->out, "%s%s", t->title, *t->title ? ": " : "");
    if (least < most)
        fprintf(s->out, "%.0f to ", least);
    fprintf(s->out, "%.0f replication%s, ", most, most == 1.0 && least == most ? "" : "s");
    if (t->complete)
        fputs("complete\n", s->out);
    else
        fprintf(s->out, "incomplete: %llu of %llu points done\n", (unsigned long long)t->n_done,
                (unsigned long long)t->n_rows);
}

void table_people(const struct show *s, const struct law *law) {
    struct views all = {0};
    struct column *sparks = law ? table_sparks(law) : NULL;
    add_labels(s, &all);
    const unsigned labels = all.n;
    add_statistics(s->table, &all);
    fit(s, &all, labels, sparks ? 2 + table_width(sparks->name) : 0);
    if (sparks)
        fill_view(s, add_view(&all, sparks->name, sparks));
    print_heading(s);
    fputc('\n', s->out);
    print_line(s, &all, -1);
    for (uint64_t i = 0; i < s->table->n_rows; i++)
        print_line(s, &all, (int64_t)i);
    bool halves = false;
    for (unsigned i = 0; i < all.n; i++)
        halves |= all.view[i].half_width > 0;
    fprintf(s->out, "\n%s--csv has every column\n",
            halves ? "± is the half width of the 95 % interval; " : "");
    for (unsigned i = 0; i < all.n; i++) {
        for (uint64_t row = 0; row < s->table->n_rows; row++) {
            free(all.view[i].text[row]);
            free(all.view[i].half[row]);
        }
        free(all.view[i].text);
        free(all.view[i].half);
    }
    free(all.view);
    table_sparks_free(sparks, s->table->n_rows);
}
