/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include "table_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int table_find(const struct table *t, const char *name) {
    for (unsigned i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- choosing and sorting ---- */

static void complain_of_column(const struct table *t, const char *name, struct complaints *c) {
    const char **names = allocate(t->n_columns + 1u, sizeof *names);
    for (unsigned i = 0; i < t->n_columns; i++)
        names[i] = t->columns[i].name;
    const char *nearest = nearest_name(name, names, t->n_columns);
    if (nearest)
        complain(c, NULL, "--by: the file has no column '%s' (did you mean '%s'?)", name, nearest);
    else
        complain(c, NULL, "--by: the file has no column '%s' (show --csv lists them all)", name);
    free(names);
}

/* Fills `columns`, which has room for a name in each character. */
static bool read_by(struct show *s, const char *by, unsigned *columns, struct complaints *c) {
    bool good = true;
    for (const char *at = by;; at++) {
        const size_t length = strcspn(at, ",");
        char *name = format_text("%.*s", (int)length, at);
        const int column = table_find(s->table, name);
        if (column >= 0)
            columns[s->n_by++] = (unsigned)column;
        else
            complain_of_column(s->table, name, c);
        good &= column >= 0;
        free(name);
        at += length;
        if (!*at)
            return good;
    }
}

static bool is_by(const struct show *s, unsigned column) {
    bool found = false;
    for (unsigned i = 0; i < s->n_by; i++)
        found |= s->by[i] == column;
    return found;
}

int table_compare(const struct column *c, uint64_t a, uint64_t b) {
    if (c->text)
        return strcmp(c->text[a], c->text[b]);
    const double x = c->number[a], y = c->number[b];
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

struct ranked {
    const struct show *show;
    uint64_t row;
};

static int compare_rows(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    int order = 0;
    for (unsigned i = 0; !order && i < x->show->n_by; i++)
        order = table_compare(&x->show->table->columns[x->show->by[i]], x->row, y->row);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

void table_sort(struct show *s) {
    const uint64_t n = s->table->n_rows;
    struct ranked *rows = allocate(n + 1, sizeof *rows);
    for (uint64_t i = 0; i < n; i++)
        rows[i] = (struct ranked){s, i};
    qsort(rows, n, sizeof *rows, compare_rows);
    s->order = allocate(n + 1, sizeof *s->order);
    for (uint64_t i = 0; i < n; i++)
        s->order[i] = rows[i].row;
    free(rows);
}

/* ---- for programs ---- */

/* The shortest text that reads back as the same number. */
static void print_exactly(FILE *out, double x) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(text, out);
}

void table_csv_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void table_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        const unsigned char x = (unsigned char)*text;
        if (x == '"' || x == '\\')
            fprintf(out, "\\%c", x);
        else if (x == '\n')
            fputs("\\n", out);
        else if (x < 0x20 || x == 0x7f)
            fprintf(out, "\\u%04x", x);
        else
            fputc(x, out);
    }
    fputc('"', out);
}

static void print_csv_row(const struct show *s, const unsigned *columns, uint64_t row) {
    for (unsigned i = 0; i < s->table->n_columns; i++) {
        const struct column *c = &s->table->columns[columns[i]];
        if (i)
            fputc(',', s->out);
        if (c->text)
            table_csv_text(s->out, c->text[row]);
        else if (!isnan(c->number[row]))
            print_exactly(s->out, c->number[row]);
    }
    fputc('\n', s->out);
}

static void print_json_row(const struct show *s, const unsigned *columns, uint64_t row) {
    fputc('{', s->out);
    for (unsigned i = 0; i < s->table->n_columns; i++) {
        const struct column *c = &s->table->columns[columns[i]];
        if (i)
            fputs(", ", s->out);
        table_json_text(s->out, c->name);
        fputs(": ", s->out);
        if (c->text)
            table_json_text(s->out, c->text[row]);
        else if (isfinite(c->number[row]))
            print_exactly(s->out, c->number[row]);
        else
            fputs("null", s->out);
    }
    fputc('}', s->out);
}

/* Every column, those of --by first. */
static unsigned *all_columns(const struct show *s) {
    unsigned *columns = allocate(s->table->n_columns + 1u, sizeof *columns), n = 0;
    for (unsigned i = 0; i < s->n_by; i++) {
        bool again = false;
        for (unsigned j = 0; j < i; j++)
            again |= s->by[j] == s->by[i];
        if (!again)
            columns[n++] = s->by[i];
    }
    for (unsigned i = 0; i < s->table->n_columns; i++)
        if (!is_by(s, i))
            columns[n++] = i;
    return columns;
}

static void show_csv(const struct show *s) {
    unsigned *columns = all_columns(s);
    for (unsigned i = 0; i < s->table->n_columns; i++) {
        if (i)
            fputc(',', s->out);
        table_csv_text(s->out, s->table->columns[columns[i]].name);
    }
    fputc('\n', s->out);
    for (uint64_t i = 0; i < s->table->n_rows; i++)
        print_csv_row(s, columns, s->order[i]);
    free(columns);
}

static void show_json(const struct show *s) {
    unsigned *columns = all_columns(s);
    fputs("[", s->out);
    for (uint64_t i = 0; i < s->table->n_rows; i++) {
        fputs(i ? ",\n " : "\n ", s->out);
        print_json_row(s, columns, s->order[i]);
    }
    fputs("\n]\n", s->out);
    free(columns);
}

bool table_show(const struct table *t, const struct law *law, const struct options *options,
                FILE *out, struct complaints *c) {
    const char *by = options->by;
    const enum show_format format = options->format;
    unsigned *columns = allocate(by ? strlen(by) + 1 : 1, sizeof *columns);
    struct show s = {.table = t, .by = columns, .out = out};
    const bool good = !by || read_by(&s, by, columns, c);
    if (good) {
        table_sort(&s);
        if (options->histogram)
            table_histogram(&s, law, format);
        else if (format == SHOW_CSV)
            show_csv(&s);
        else if (format == SHOW_JSON)
            show_json(&s);
        else
            table_people(&s, law);
    }
    free(columns);
    free(s.order);
    return good;
}
