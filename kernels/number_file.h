/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of numbers, a row a line: traces of arrivals, windows of failures, rates. Numbers are
 * separated by blanks, a comma or a semicolon; what follows # or % or // is a comment. Built once,
 * without level flags. */
#ifndef POTLUCK_NUMBER_FILE_H
#define POTLUCK_NUMBER_FILE_H

#include "fail.h"
#include "value.h"

enum { NUMBER_COLUMNS_MAX = 3 };

struct number_file {
    uint64_t n; /* rows, 1 at least */
    unsigned columns;
    double *value;  /* [n][columns], finite */
    uint64_t *line; /* [n] where each row stands in the file */
};

/* What a file holds, parsed the first time; `what` names a row for refusals ("an arrival"). The file
 * owns it, until somebody reads the file as something else. NULL with a reason, as "file:line: ...",
 * when it is no such file or has another number of columns than least .. most. */
const struct number_file *number_file_of(struct attachment *file, unsigned least, unsigned most,
                                         const char *what, struct reason *why);
/* Writes "trace.txt:17: ..." about a row and returns false. */
bool number_file_refuse(const struct attachment *file, const struct number_file *numbers,
                        uint64_t row, struct reason *why, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* One number >= 0 for each of n servers, not all 0, into rate[n]. */
bool number_file_rates(struct attachment *file, uint64_t n, double *rate, struct reason *why);

#endif
