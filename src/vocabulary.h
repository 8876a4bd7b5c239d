/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows of parameter tables as sentences, for complaints and for `potluck list`. */
#ifndef POTLUCK_VOCABULARY_H
#define POTLUCK_VOCABULARY_H

#include "value.h"

/* "at least 1", "between 0 and 1", "" when anything goes. The caller frees. */
char *parameter_range(const struct parameter *p);
/* "a whole number, at least 1": what a parameter wants. The caller frees. */
char *parameter_wanted(const struct parameter *p);

#endif
