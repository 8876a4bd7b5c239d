/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "number_file.h"

#include "network.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release(void *parsed) {
    struct number_file *f = parsed;
    if (!f)
        return;
    free(f->value);
    free(f->line);
    free(f);
}

/* Nothing more on this line. A text ends with a zero byte. */
static bool at_end(const struct text *t) {
    return text_at_end_of_line(t) || *t->at == '#' || *t->at == '%' ||
           (*t->at == '/' && t->at[1] == '/');
}

static void skip_line(struct text *t) {
    while (!text_at_end_of_line(t))
        t->at++;
    text_end_of_line(t);
}

/* A decimal number: strtod() would take hexadecimal ones and words as well. */
static bool read_number(struct text *t, double *value, struct reason *why) {
    const size_t length = strspn(t->at, "0123456789+-.eE"), word = strcspn(t->at, " \t\r\n,;");
    char *end = NULL;
    *value = length > 0 ? strtod(t->at, &end) : 0;
    if (!end || end != t->at + word || end != t->at + length || !isfinite(*value))
        return text_refuse(t, why, "'%.*s' is no number", word < 40 ? (int)word : 40, t->at);
    t->at = end;
    return true;
}

/* The numbers of one line; returns how many, 0 on refusal. */
static unsigned read_row(struct text *t, const char *what, double *value, struct reason *why) {
    unsigned count = 0;
    while (!at_end(t)) {
        if (count == NUMBER_COLUMNS_MAX) {
            text_refuse(t, why, "more numbers than %s has", what);
            return 0;
        }
        if (!read_number(t, &value[count++], why))
            return 0;
        text_blanks(t);
        if (*t->at == ',' || *t->at == ';')
            t->at++;
        text_blanks(t);
    }
    return count;
}

static bool add_row(struct number_file *f, uint64_t *room, struct text *t, const char *what,
                    struct reason *why) {
    double value[NUMBER_COLUMNS_MAX];
    const uint64_t line = t->line;
    const unsigned columns = read_row(t, what, value, why);
    if (columns == 0)
        return false;
    if (f->n > 0 && columns != f->columns)
        return text_refuse(t, why, "%u number%s, where the lines before have %u", columns,
                           columns == 1 ? "" : "s", f->columns);
    f->columns = columns;
    if (f->n == *room) {
        *room = *room ? 2 * *room : 1024;
        f->value = reallocate(f->value, *room * columns, sizeof *f->value);
        f->line = reallocate(f->line, *room, sizeof *f->line);
    }
    memcpy(f->value + f->n * columns, value, columns * sizeof *value);
    f->line[f->n++] = line;
    return true;
}

static bool read_file(struct number_file *f, const struct attachment *file, const char *what,
                      struct reason *why) {
    struct repairs repairs;
    struct text t;
    uint64_t room = 0;
    if (file->length == 0)
        return refuse(why, "%s: the file is empty", file->name);
    if (!text_open(file, true, &t, &repairs, why))
        return false;
    while (t.at < t.end) {
        text_blanks(&t);
        if (!at_end(&t) && !add_row(f, &room, &t, what, why))
            return false;
        skip_line(&t);
    }
    return f->n > 0 || text_refuse(&t, why, "the file ends without %s", what);
}

static const struct number_file *parsed(struct attachment *file, const char *what,
                                        struct reason *why) {
    if (file->parsed && file->release == release)
        return file->parsed;
    struct number_file *f = allocate(1, sizeof *f);
    if (!read_file(f, file, what, why)) {
        release(f);
        return NULL;
    }
    if (file->parsed) /* by somebody who took it for something else */
        file->release(file->parsed);
    file->parsed = f;
    file->release = release;
    return f;
}

const struct number_file *number_file_of(struct attachment *file, unsigned least, unsigned most,
                                         const char *what, struct reason *why) {
    const struct number_file *f = parsed(file, what, why);
    if (!f || (f->columns >= least && f->columns <= most))
        return f;
    number_file_refuse(file, f, 0, why, "%u number%s where %s has %u%s", f->columns,
                       f->columns == 1 ? "" : "s", what, f->columns < least ? least : most,
                       least == most        ? ""
                       : f->columns < least ? " at least"
                                            : " at most");
    return NULL;
}

bool number_file_refuse(const struct attachment *file, const struct number_file *numbers,
                        uint64_t row, struct reason *why, const char *format, ...) {
    const struct text t = {.file = file, .line = numbers->line[row]};
    char sentence[sizeof why->text];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return text_refuse(&t, why, "%s", sentence);
}

bool number_file_rates(struct attachment *file, uint64_t n, double *rate, struct reason *why) {
    const struct number_file *f = number_file_of(file, 1, 1, "a rate", why);
    double most = 0;
    if (!f)
        return false;
    if (f->n != n)
        return refuse(why, "%s: %llu rates for %llu servers", file->name, (unsigned long long)f->n,
                      (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) {
        rate[i] = f->value[i];
        if (rate[i] < 0)
            return number_file_refuse(file, f, i, why, "a rate of %g (allowed: 0 and more)",
                                      rate[i]);
        most = rate[i] > most ? rate[i] : most;
    }
    return most > 0 || refuse(why, "%s: all rates are 0", file->name);
}
