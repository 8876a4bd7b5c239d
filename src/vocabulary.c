/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vocabulary.h"

#include "kernel.h"
#include "number.h"
#include "options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void bound_text(double bound, bool whole, char text[NUMBER_TEXT]) {
    if (whole && fabs(bound) < 1e18)
        snprintf(text, NUMBER_TEXT, "%.0f", bound);
    else
        number_text(bound, text);
}

char *parameter_range(const struct parameter *p) {
    const bool whole = p->type != TYPE_REAL && p->type != TYPE_REALS;
    char lower[NUMBER_TEXT], upper[NUMBER_TEXT];
    bound_text(p->lower, whole, lower);
    bound_text(p->upper, whole, upper);
    const bool low = p->lower > -1e300, high = p->upper < (whole ? 0x1p63 : 1e300);
    if (low && high)
        return format_text("between %s and %s", lower, upper);
    return low    ? format_text("at least %s", lower)
           : high ? format_text("at most %s", upper)
                  : duplicate_text("");
}

static char *words_wanted(const struct parameter *p) {
    char word[64], *all = duplicate_text("one of ");
    for (unsigned i = 0; parameter_word(p, i, word, sizeof word); i++) {
        char *more = format_text("%s%s%s", all, i ? ", " : "", word);
        free(all);
        all = more;
    }
    return all;
}

static char *number_wanted(const struct parameter *p) {
    const char *what = p->type == TYPE_REAL     ? "a number"
                       : p->type == TYPE_REALS  ? "a list of numbers"
                       : p->type == TYPE_COUNTS ? "whole numbers such as 100x100 or [100, 100]"
                       : p->relative            ? "a whole number or a multiple of n such as 10n"
                                                : "a whole number";
    char *range = parameter_range(p);
    char *text = format_text("%s%s%s", what,
                             !range[0]                                         ? ""
                             : p->type == TYPE_COUNTS || p->type == TYPE_REALS ? ", each "
                                                                               : ", ",
                             range);
    free(range);
    return text;
}

char *parameter_wanted(const struct parameter *p) {
    switch (p->type) {
    case TYPE_FLAG:
        return duplicate_text("true or false");
    case TYPE_WORD:
        return words_wanted(p);
    case TYPE_ENTRY:
        return format_text("a %s", p->catalogue->noun);
    case TYPE_FILE:
        return duplicate_text("a file name");
    default:
        return number_wanted(p);
    }
}

static void print_parameters(FILE *out, const struct kind *k, const char *indent) {
    for (unsigned i = 0; i < k->n_parameters; i++) {
        const struct parameter *p = &k->parameters[i];
        char *wanted = parameter_wanted(p);
        fprintf(out, "%s%s: %s", indent, p->name, wanted);
        free(wanted);
        if (p->standard)
            fprintf(out, "; default %s", p->standard);
        else
            fputs("; required", out);
        fputs(p->fixed ? "; never a list" : "", out);
        fprintf(out, p->bare ? "; also %s: NUMBER\n" : "\n", k->name);
        if (p->meaning && *p->meaning)
            fprintf(out, "%s    %s\n", indent, p->meaning);
    }
}

static void print_kinds(FILE *out, const struct catalogue *c) {
    for (unsigned i = 0; i < c->n_kinds; i++) {
        const struct kind *k = c->kinds[i];
        fprintf(out, "  %-14s %s\n", k->name, k->meaning ? k->meaning : "");
        if (k->reference && *k->reference)
            fprintf(out, "  %-14s %s\n", "", k->reference);
        print_parameters(out, k, "      ");
        if (i == 0 && k->n_parameters == 1 && k->parameters[0].bare)
            fprintf(out, "      a number alone means %s: NUMBER\n", k->name);
    }
}

static void print_models(FILE *out, const struct catalogue *models) {
    for (unsigned i = 0; i < models->n_kinds; i++) {
        const struct kind *k = models->kinds[i];
        fprintf(out, "  %-14s %s%s\n", k->name, k->meaning ? k->meaning : "",
                i ? "" : " (the default)");
    }
}

static void print_all_parameters(FILE *out, const struct catalogue *models) {
    fputs("  of any model\n"
          "      title: text\n"
          "      model: a model\n"
          "      seed: a whole number, between 0 and 18446744073709551615; default drawn from the "
          "system\n"
          "      replications: a whole number, or {min: 100, max: 100000, until: {STATISTIC: "
          "TOLERANCE}}; required\n"
          "          a tolerance of 1% is relative, a plain number absolute: half width at 95 %\n"
          "      keep: rows or means, and the words of histograms kept on request; default rows\n"
          "      common: true or false, whether policies share their random words; default true\n",
          out);
    for (unsigned i = 0; i < models->n_kinds; i++) {
        const struct model *m = model_of(models->kinds[i]);
        fprintf(out, "  %s\n", m->kind.name);
        print_parameters(out, &m->kind, "      ");
        if (m->contender >= 0)
            fprintf(out, "      baseline: what differences are taken against, one %s; default %s\n",
                    m->kind.parameters[m->contender].catalogue->noun,
                    m->baseline ? m->baseline : "none");
    }
}

static void print_statistics(FILE *out, const struct catalogue *models) {
    for (unsigned i = 0; i < models->n_kinds; i++) {
        const struct model *m = model_of(models->kinds[i]);
        for (unsigned r = 0; r < m->n_rows; r++)
            fprintf(out, "  %-8s %-18s %s [%s]%s%s\n", m->kind.name, m->rows[r].name,
                    m->rows[r].long_name, m->rows[r].units, *m->rows[r].reference ? ", " : "",
                    m->rows[r].reference);
        for (unsigned h = 0; h < m->n_histograms; h++) {
            const struct histogram *g = &m->histograms[h];
            fprintf(out, "  %-8s %-18s %s [%s]%s%s\n", m->kind.name, g->name, g->long_name,
                    g->units, g->keep ? "; keep: " : "", g->keep ? g->keep : "");
        }
    }
}

enum { TOPICS_MAX = 32, FIXED_TOPICS = 3 };

/* What can be listed: three fixed topics, then every catalogue that a parameter draws from. */
struct topics {
    unsigned n;
    char *name[TOPICS_MAX];
    const struct catalogue *catalogue[TOPICS_MAX];
};

static char *plural(const char *noun) {
    const size_t length = strlen(noun);
    if (length && noun[length - 1] == 'y')
        return format_text("%.*sies", (int)length - 1, noun);
    return format_text("%ss", noun);
}

static void find_topics(struct topics *t, const struct kind *k) {
    for (unsigned i = 0; i < k->n_parameters; i++) {
        const struct catalogue *c = k->parameters[i].catalogue;
        bool known = !c;
        for (unsigned n = FIXED_TOPICS; n < t->n; n++)
            known = known || t->catalogue[n] == c;
        if (known)
            continue;
        CHECK(t->n < TOPICS_MAX);
        t->catalogue[t->n] = c;
        t->name[t->n++] = plural(c->noun);
        for (unsigned n = 0; n < c->n_kinds; n++)
            find_topics(t, c->kinds[n]);
    }
}

static void print_topic(FILE *out, const struct catalogue *models, const struct topics *t,
                        unsigned topic) {
    fprintf(out, "%s\n", t->name[topic]);
    if (topic == 0)
        print_models(out, models);
    else if (topic == 1)
        print_all_parameters(out, models);
    else if (topic == 2)
        print_statistics(out, models);
    else
        print_kinds(out, t->catalogue[topic]);
}

static void unknown_topic(const struct topics *t, const char *topic,
                          struct complaints *complaints) {
    char *all = duplicate_text("");
    for (unsigned i = 0; i < t->n; i++) {
        char *more = format_text("%s%s%s", all, i ? ", " : "", t->name[i]);
        free(all);
        all = more;
    }
    const char *nearest = nearest_name(topic, (const char *const *)t->name, t->n);
    complain(complaints, NULL, "unknown topic '%s' of list (allowed: %s%s%s%s)", topic, all,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(all);
}

bool list_print(FILE *out, const struct catalogue *models, const char *topic,
                struct complaints *complaints) {
    struct topics t = {.n = FIXED_TOPICS,
                       .name = {duplicate_text("models"), duplicate_text("parameters"),
                                duplicate_text("statistics")}};
    for (unsigned i = 0; i < models->n_kinds; i++)
        find_topics(&t, models->kinds[i]);
    bool found = false;
    for (unsigned i = 0; i < t.n; i++) {
        if (topic && strcmp(topic, t.name[i]))
            continue;
        if (found)
            fputc('\n', out);
        print_topic(out, models, &t, i);
        found = true;
    }
    if (!found)
        unknown_topic(&t, topic, complaints);
    for (unsigned i = 0; i < t.n; i++)
        free(t.name[i]);
    return found;
}
