/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "windows.h"

#include "number_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_MEMBER, COLUMN_FROM, COLUMN_TO, COLUMNS };

static bool check_window(struct attachment *file, const struct number_file *rows, uint64_t i,
                         uint64_t n, const struct windows_words *words, struct reason *why) {
    const double *v = rows->value + i * COLUMNS;
    if (!(v[COLUMN_MEMBER] >= 0 && v[COLUMN_MEMBER] < (double)n &&
          v[COLUMN_MEMBER] == floor(v[COLUMN_MEMBER])))
        return number_file_refuse(file, rows, i, why, "%s %g (allowed: 0 to %llu)", words->member,
                                  v[COLUMN_MEMBER], (unsigned long long)n - 1);
    if (v[COLUMN_FROM] < 0)
        return number_file_refuse(file, rows, i, why, "%s from %g (allowed: 0 and more)",
                                  words->state, v[COLUMN_FROM]);
    if (!(v[COLUMN_TO] > v[COLUMN_FROM]))
        return number_file_refuse(file, rows, i, why, "%s from %.17g to %.17g: it must end later",
                                  words->state, v[COLUMN_FROM], v[COLUMN_TO]);
    return true;
}

/* Windows of a member in the order of the file must be in order of time and apart. */
static bool check_order(struct attachment *file, const struct number_file *rows, uint64_t n,
                        const struct windows_words *words, struct reason *why) {
    double *until = allocate(n, sizeof *until);
    bool fine = true;
    for (uint64_t i = 0; fine && i < rows->n; i++) {
        const double *v = rows->value + i * COLUMNS;
        double *before = &until[(uint64_t)v[COLUMN_MEMBER]];
        if (*before > 0 && v[COLUMN_FROM] <= *before)
            fine = number_file_refuse(file, rows, i, why,
                                      "%s %.0f is %s from %.17g, but until %.17g already "
                                      "(windows of a %s must be apart, and in order)",
                                      words->member, v[COLUMN_MEMBER], words->state, v[COLUMN_FROM],
                                      *before, words->member);
        *before = v[COLUMN_TO];
    }
    free(until);
    return fine;
}

bool windows_check(struct attachment *file, uint64_t n, const struct windows_words *words,
                   struct reason *why) {
    const struct number_file *rows = number_file_of(file, COLUMNS, COLUMNS, words->row, why);
    if (!rows)
        return false;
    for (uint64_t i = 0; i < rows->n; i++)
        if (!check_window(file, rows, i, n, words, why))
            return false;
    return check_order(file, rows, n, words, why);
}

static const struct number_file *rows_of(struct attachment *file) {
    struct reason why;
    const struct number_file *rows = number_file_of(file, COLUMNS, COLUMNS, "a window", &why);
    CHECK(rows);
    return rows;
}

void windows_make(struct attachment *file, uint64_t n, struct windows *w) {
    const struct number_file *rows = rows_of(file);
    *w = (struct windows){.n = n,
                          .rows = rows->n,
                          .first = allocate(n + 1, sizeof *w->first),
                          .from = allocate(rows->n, sizeof *w->from),
                          .to = allocate(rows->n, sizeof *w->to)};
    for (uint64_t i = 0; i < rows->n; i++)
        w->first[(uint64_t)rows->value[i * COLUMNS] + 1]++;
    for (uint64_t i = 0; i < n; i++)
        w->first[i + 1] += w->first[i];
    uint64_t *place = allocate(n, sizeof *place);
    memcpy(place, w->first, n * sizeof *place);
    for (uint64_t i = 0; i < rows->n; i++) {
        const double *v = rows->value + i * COLUMNS;
        const uint64_t j = place[(uint64_t)v[COLUMN_MEMBER]]++;
        w->from[j] = v[COLUMN_FROM];
        w->to[j] = v[COLUMN_TO];
    }
    free(place);
}

void windows_free(struct windows *w) {
    free(w->first);
    free(w->from);
    free(w->to);
    *w = (struct windows){0};
}

uint64_t windows_bytes(struct attachment *file, uint64_t n) {
    return (n + 1) * sizeof(uint64_t) + 2 * rows_of(file)->n * sizeof(double);
}
