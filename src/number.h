/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers as people write them, and back. Whole numbers are exact over all 64 bits. */
#ifndef POTLUCK_NUMBER_H
#define POTLUCK_NUMBER_H

#include <stdint.h>

enum number_verdict {
    NUMBER_GOOD,
    NUMBER_NONE,      /* not a number at all */
    NUMBER_NEGATIVE,  /* a number below zero where none can be */
    NUMBER_NOT_WHOLE, /* 1.5, 1/3 */
    NUMBER_TOO_LARGE  /* 2^64 or more; not finite */
};

/* 10000, 10_000, 1e4, 1.5e3, 10/2. */
enum number_verdict number_count(const char *text, uint64_t *count);
/* The same, and 0.5, 1e-3, 1/3, 50%. */
enum number_verdict number_real(const char *text, double *real);
/* 2%, as the percentage it says: 2. */
enum number_verdict number_percent(const char *text, double *percent);

enum { NUMBER_TEXT = 32 };
/* The shortest text that number_real() reads as the same number. */
void number_text(double real, char text[NUMBER_TEXT]);

#endif
