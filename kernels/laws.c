/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The catalogue of laws, and laws made ready. */
#include "law_draw.h"

#include <math.h>
#include <stdlib.h>

#define LAW(id) extern const struct law ISA(law_##id);
#include "laws.def"
#undef LAW

static const struct kind *const kinds[] = {
#define LAW(id) &ISA(law_##id).kind,
#include "laws.def"
#undef LAW
};
const struct catalogue ISA(laws) = {"law", kinds, sizeof kinds / sizeof *kinds};

void ISA(law_prepare)(const struct entry *entry, double mean, struct sampled_law *s) {
    struct reason why;
    unsigned at = 0;
    *s = (struct sampled_law){.law = law_of(entry->kind)};
    CHECK(s->law->examine(entry->values, &s->facts, &why, &at));
    if (!isnan(mean))
        law_scale(&s->facts, mean / s->facts.mean);
    s->scale = s->facts.mean / s->facts.natural;
    if (s->law->prepare)
        s->law->prepare(entry->values, s);
}

void ISA(law_free)(struct sampled_law *s) {
    free(s->values);
    free(s->cumulative);
    s->values = s->cumulative = NULL;
}
