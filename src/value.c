/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value.h"

#include "fail.h"

#include <math.h>
#include <string.h>

uint64_t value_count(const struct value *v, uint64_t n) {
    if (!v->relative)
        return v->count;
    const double whole = floor(v->real);
    if (whole == v->real && whole < 0x1p53) { /* exact where doubles are not */
        uint64_t product;
        return __builtin_mul_overflow((uint64_t)whole, n, &product) ? UINT64_MAX : product;
    }
    const double product = floor(v->real * (double)n + 0.5);
    return product < 0x1p64 ? (uint64_t)product : UINT64_MAX;
}

int parameter_index(const struct kind *kind, const char *name) {
    for (unsigned i = 0; i < kind->n_parameters; i++)
        if (!strcmp(kind->parameters[i].name, name))
            return (int)i;
    return -1;
}

bool parameter_word(const struct parameter *p, unsigned i, char *buffer, unsigned size) {
    const char *begin = p->words;
    for (; i; i--) {
        begin = strchr(begin, '|');
        if (!begin)
            return false;
        begin++;
    }
    const size_t length = strcspn(begin, "|");
    CHECK(length < size);
    memcpy(buffer, begin, length);
    buffer[length] = '\0';
    return true;
}
