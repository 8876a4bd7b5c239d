/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Histograms on a terminal: bars below each point, or a few characters beside it. */
#include "bins.h"
#include "stats.h"
#include "table_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 24, SPARKS = 16, BAR = 40 };

/* Bins that some row has, in groups of equally many, so that there are at most so many. */
struct groups {
    uint64_t first, each, n;
};

static struct groups group_bins(const struct law *law, uint64_t most) {
    uint64_t first = law->n_bins, end = 0;
    for (uint64_t r = 0; r < law->n_rows; r++)
        for (uint64_t b = 0; b < law->n_bins; b++)
            if (law->count[r * law->n_bins + b] > 0.0) {
                first = b < first ? b : first;
                end = b + 1 > end ? b + 1 : end;
            }
    if (first >= end)
        return (struct groups){0, 1, 0};
    const uint64_t each = (end - first + most - 1) / most;
    return (struct groups){first, each, (end - first + each - 1) / each};
}

static uint64_t last_bin(const struct law *law, const struct groups *g, uint64_t group) {
    const uint64_t end = g->first + (group + 1) * g->each;
    return (end < law->n_bins ? end : law->n_bins) - 1;
}

static double row_total(const struct law *law, uint64_t row) {
    double total = 0.0;
    for (uint64_t b = 0; b < law->n_bins; b++)
        total += law->count[row * law->n_bins + b];
    return total;
}

static double fraction(const struct law *law, const struct groups *g, uint64_t row, uint64_t group,
                       double total) {
    double sum = 0.0;
    for (uint64_t b = g->first + group * g->each; b <= last_bin(law, g, group); b++)
        sum += law->count[row * law->n_bins + b];
    return total > 0.0 ? sum / total : 0.0;
}

/* "3", "4096..4351", or "0.25..0.28" of real numbers. */
static char *bin_text(const struct law *law, const struct groups *g, uint64_t group) {
    const double low = law->low[g->first + group * g->each],
                 high = law->high[last_bin(law, g, group)];
    return low == high ? format_text("%.6g", low) : format_text("%.4g..%.4g", low, high);
}

/* ---- beside the row ---- */

struct column *table_sparks(const struct law *law) {
    static const char *const level[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const struct groups g = group_bins(law, SPARKS);
    if (!g.n)
        return NULL;
    struct column *c = allocate(1, sizeof *c);
    c->name = format_text("%s %.4g..%.4g", law->axis, law->low[g.first],
                          law->high[last_bin(law, &g, g.n - 1)]);
    c->text = allocate(law->n_rows + 1, sizeof *c->text);
    for (uint64_t r = 0; r < law->n_rows; r++) {
        const double total = row_total(law, r);
        double most = 0.0;
        for (uint64_t i = 0; i < g.n; i++)
            most = fmax(most, fraction(law, &g, r, i, total));
        c->text[r] = allocate(4 * g.n + 1, 1);
        for (uint64_t i = 0; i < g.n; i++) {
            const double x = most > 0.0 ? 8.0 * fraction(law, &g, r, i, total) / most : 0.0;
            strcat(c->text[r], level[x > 0.0 && x < 1.0 ? 1 : (int)(x + 0.5)]);
        }
    }
    return c;
}

void table_sparks_free(struct column *c, uint64_t rows) {
    for (uint64_t r = 0; c && r < rows; r++)
        free(c->text[r]);
    if (c) {
        free(c->text);
        free(c->name);
    }
    free(c);
}

/* ---- for people ---- */

static void print_bar(FILE *out, double length) {
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)(8.0 * length + 0.5);
    if (length > 0.0 && !eighths)
        eighths = 1;
    for (; eighths >= 8; eighths -= 8)
        fputs("█", out);
    fputs(eighth[eighths], out);
}

static void print_bin(const struct show *s, const struct law *law, const struct groups *g,
                      uint64_t row, uint64_t group, double x, double most) {
    const double error =
        law->error && g->each == 1 ? law->error[row * law->n_bins + g->first + group] : (double)NAN;
    char *bin = bin_text(law, g, group), *text, *half;
    table_estimate(x, student_95(BATCHES - 1) * error, &text, &half);
    const int after = 14 - table_width(half);
    fprintf(s->out, "%18s  %12s%s%*s  ", bin, text, half, after > 0 ? after : 0, "");
    print_bar(s->out, BAR * x / most);
    fputc('\n', s->out);
    free(bin);
    free(text);
    free(half);
}

static void print_point(const struct show *s, const struct law *law, const struct groups *g,
                        uint64_t row) {
    const int label = table_find(s->table, "label"), r = table_find(s->table, "replications");
    const double total = row_total(law, row);
    fprintf(s->out, "\n%s", label >= 0 ? s->table->columns[label].text[row] : "");
    if (r >= 0)
        fprintf(s->out, " (%.0f replications)", s->table->columns[r].number[row]);
    fputs(total > 0.0 ? "\n" : ": nothing counted\n", s->out);
    double most = 0.0;
    uint64_t end = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        const double x = fraction(law, g, row, i, total);
        most = fmax(most, x);
        end = x > 0.0 ? i + 1 : end;
    }
    for (uint64_t i = 0; i < end; i++)
        print_bin(s, law, g, row, i, fraction(law, g, row, i, total), most);
}

static void people(const struct show *s, const struct law *law, const struct groups *g) {
    fprintf(s->out, "%s by %s: fractions%s\n", law->name, law->axis,
            law->error && g->each == 1 ? " ± half widths of the 95 % intervals" : "");
    for (uint64_t i = 0; i < s->table->n_rows; i++)
        print_point(s, law, g, s->order[i]);
}

/* ---- for programs ---- */

static void print_csv(const struct show *s, const struct law *law, const struct groups *g) {
    const int label = table_find(s->table, "label");
    fprintf(s->out, "point,label,%s,%s_upper,%s,fraction,se_fraction\n", law->axis, law->axis,
            law->name);
    for (uint64_t i = 0; i < s->table->n_rows; i++) {
        const uint64_t row = s->order[i];
        const double total = row_total(law, row);
        for (uint64_t k = 0; k < g->n; k++) {
            const uint64_t at = row * law->n_bins + g->first + k;
            fprintf(s->out, "%llu,", (unsigned long long)row);
            table_csv_text(s->out, label >= 0 ? s->table->columns[label].text[row] : "");
            fprintf(s->out, ",%.17g,%.17g,%.17g", law->low[g->first + k], law->high[g->first + k],
                    law->count[at]);
            fputs(total > 0.0 ? "," : ",,", s->out);
            if (total > 0.0)
                fprintf(s->out, "%.17g,", law->count[at] / total);
            if (law->error && !isnan(law->error[at]))
                fprintf(s->out, "%.17g", law->error[at]);
            fputc('\n', s->out);
        }
    }
}

static void json_number(FILE *out, const char *name, double x) {
    if (isfinite(x))
        fprintf(out, ", \"%s\": %.17g", name, x);
    else
        fprintf(out, ", \"%s\": null", name);
}

static void print_json(const struct show *s, const struct law *law, const struct groups *g) {
    const int label = table_find(s->table, "label");
    fputs("[", s->out);
    for (uint64_t i = 0; i < s->table->n_rows * g->n; i++) {
        const uint64_t row = s->order[i / g->n], bin = g->first + i % g->n;
        const uint64_t at = row * law->n_bins + bin;
        fprintf(s->out, "%s\n {\"point\": %llu, \"label\": ", i ? "," : "",
                (unsigned long long)row);
        table_json_text(s->out, label >= 0 ? s->table->columns[label].text[row] : "");
        json_number(s->out, law->axis, law->low[bin]);
        fprintf(s->out, ", \"%s_upper\": %.17g", law->axis, law->high[bin]);
        json_number(s->out, law->name, law->count[at]);
        json_number(s->out, "fraction", law->count[at] / row_total(law, row));
        json_number(s->out, "se_fraction", law->error ? law->error[at] : (double)NAN);
        fputc('}', s->out);
    }
    fputs("\n]\n", s->out);
}

void table_histogram(const struct show *s, const struct law *law, enum show_format format) {
    const struct groups g = group_bins(law, format == SHOW_TABLE ? GROUPS : law->n_bins);
    if (format == SHOW_CSV)
        print_csv(s, law, &g);
    else if (format == SHOW_JSON)
        print_json(s, law, &g);
    else
        people(s, law, &g);
}
