/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 400, EXPONENT_MAX = 100000 };

/* digits * 10^exponent, exactly as written. */
struct decimal {
    bool negative;
    unsigned n;
    char digits[DIGITS_MAX + 1]; /* without leading zeros */
    long exponent;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Digits with single underscores between them, appended to d; returns what follows, NULL when there
 * are too many. */
static const char *scan_digits(const char *s, struct decimal *d, unsigned *count) {
    for (*count = 0; is_digit(*s) || (*s == '_' && *count && is_digit(s[1])); s++) {
        if (*s == '_')
            continue;
        ++*count;
        if (*s == '0' && !d->n)
            continue;
        if (d->n == DIGITS_MAX)
            return NULL;
        d->digits[d->n++] = *s;
    }
    return s;
}

static const char *scan_exponent(const char *s, struct decimal *d) {
    const bool negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if (!is_digit(*s))
        return NULL;
    long exponent = 0;
    for (; is_digit(*s); s++)
        if (exponent < EXPONENT_MAX)
            exponent = 10 * exponent + (*s - '0');
    d->exponent += negative ? -exponent : exponent;
    return s;
}

/* Reads one decimal number; returns what follows it, or NULL when there is none. */
static const char *scan_decimal(const char *s, struct decimal *d) {
    unsigned whole, part = 0;
    *d = (struct decimal){.negative = *s == '-'};
    if (*s == '-' || *s == '+')
        s++;
    s = scan_digits(s, d, &whole);
    if (s && *s == '.') {
        s = scan_digits(s + 1, d, &part);
        d->exponent = -(long)part;
    }
    if (!s || whole + part == 0)
        return NULL;
    return *s == 'e' || *s == 'E' ? scan_exponent(s + 1, d) : s;
}

static enum number_verdict decimal_count(const struct decimal *d, uint64_t *count) {
    unsigned n = d->n;
    long exponent = d->exponent;
    *count = 0;
    for (; n && d->digits[n - 1] == '0'; n--)
        exponent++;
    if (!n)
        return NUMBER_GOOD;
    if (d->negative)
        return NUMBER_NEGATIVE;
    if (exponent < 0)
        return NUMBER_NOT_WHOLE;
    if (n + exponent > 20)
        return NUMBER_TOO_LARGE;
    for (long i = 0; i < n + exponent; i++) {
        const uint64_t digit = i < n ? (uint64_t)(d->digits[i] - '0') : 0;
        if (__builtin_mul_overflow(*count, 10, count) ||
            __builtin_add_overflow(*count, digit, count))
            return NUMBER_TOO_LARGE;
    }
    return NUMBER_GOOD;
}

/* strtod() of the digits is correctly rounded; the text has no underscores left. */
static double decimal_real(const struct decimal *d) {
    char text[DIGITS_MAX + 32];
    snprintf(text, sizeof text, "%s%se%ld", d->negative ? "-" : "", d->n ? d->digits : "0",
             d->exponent);
    return strtod(text, NULL);
}

enum number_verdict number_count(const char *text, uint64_t *count) {
    struct decimal d;
    const char *rest = scan_decimal(text, &d);
    if (!rest || (*rest && *rest != '/'))
        return NUMBER_NONE;
    const enum number_verdict verdict = decimal_count(&d, count);
    if (!*rest)
        return verdict;
    uint64_t divisor;
    rest = scan_decimal(rest + 1, &d);
    if (!rest || *rest || decimal_count(&d, &divisor) != NUMBER_GOOD || !divisor)
        return NUMBER_NONE;
    if (verdict == NUMBER_GOOD && *count % divisor)
        return NUMBER_NOT_WHOLE;
    *count /= divisor;
    return verdict;
}

enum number_verdict number_real(const char *text, double *real) {
    struct decimal d;
    const char *rest = scan_decimal(text, &d);
    if (!rest)
        return NUMBER_NONE;
    *real = decimal_real(&d);
    if (*rest == '/') {
        rest = scan_decimal(rest + 1, &d);
        if (!rest || !d.n)
            return NUMBER_NONE;
        *real /= decimal_real(&d);
    } else if (*rest == '%') {
        *real /= 100;
        rest++;
    }
    if (*rest)
        return NUMBER_NONE;
    return isfinite(*real) ? NUMBER_GOOD : NUMBER_TOO_LARGE;
}

enum number_verdict number_percent(const char *text, double *percent) {
    struct decimal d;
    const char *rest = scan_decimal(text, &d);
    if (!rest || strcmp(rest, "%"))
        return NUMBER_NONE;
    *percent = decimal_real(&d);
    return isfinite(*percent) ? NUMBER_GOOD : NUMBER_TOO_LARGE;
}

void number_text(double real, char text[NUMBER_TEXT]) {
    if (fabs(real) < 1e15 && floor(real) == real) {
        snprintf(text, NUMBER_TEXT, "%.0f", real); /* 1000, not 1e+03 */
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, NUMBER_TEXT, "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            return;
    }
}
