/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "forecast.h"

#include "stats.h"

#include <math.h>

enum { FEW = 12 }; /* points that are shown one by one */
static const double usual = 0.01, normal_95 = 1.9599639845400545;

double forecast_wanted(const struct job *job) {
    const struct replications *r = &job->replications;
    double own = 0, any = 0;
    for (unsigned i = 0; i < r->n_criteria; i++) {
        const struct criterion *c = &r->criteria[i];
        if (!(c->relative > 0))
            continue;
        if (c->row == job->model->followed)
            own = c->relative;
        if (any == 0 || c->relative < any)
            any = c->relative;
    }
    return own > 0 ? own : any > 0 ? any : usual;
}

struct proposal forecast_proposal(const struct job *job, uint64_t point, double precision) {
    const struct forecast *o = &job->points[point].facts.forecast;
    const double most = (double)job->replications.max,
                 t = job->replications.max > 1
                         ? student_beyond(normal_95, job->replications.max - 1)
                         : normal_95;
    struct proposal p = {.warmup = o->wanted > 0 ? o->wanted : (double)NAN,
                         .counted = (double)NAN,
                         .horizon = (double)NAN,
                         .replications = (double)NAN,
                         .half = (double)NAN};
    if (!(o->spread > 0) || !(o->counted > 0))
        return p;
    p.counted = o->spread * (normal_95 / precision) * (normal_95 / precision);
    p.horizon = fmax(p.counted / most, o->wanted);
    p.replications = ceil(p.counted / o->counted);
    p.half = t * sqrt(o->spread / (o->counted * most));
    return p;
}

/* A length, rounded up to three digits, as a job file may say it. */
static const char *length_text(double x, char *buffer, size_t size) {
    if (isnan(x))
        return "-";
    double step = 1;
    while (x / step > 1000)
        step *= 10;
    x = x > 0 && x < 1 ? 1 : ceil(x / step) * step;
    snprintf(buffer, size, x < 1e7 ? "%.0f" : "%.3g", x);
    return buffer;
}

static void print_row(FILE *out, const struct job *job, uint64_t point, double precision) {
    const struct forecast *o = &job->points[point].facts.forecast;
    const struct proposal p = forecast_proposal(job, point, precision);
    char a[32], b[32], c[32], d[32], e[32], f[32], half[32] = "-";
    if (!isnan(p.half))
        snprintf(half, sizeof half, "%.2g %%", 100 * p.half);
    fprintf(out, "%6llu  %19s  %10s  %10s  %17s  %10s  %10s  %15s\n", (unsigned long long)point,
            length_text(o->before, a, sizeof a), length_text(o->counted, b, sizeof b), half,
            length_text(p.warmup, c, sizeof c), length_text(p.horizon, d, sizeof d),
            length_text(p.counted, e, sizeof e), length_text(p.replications, f, sizeof f));
}

/* The smallest and the largest of a member of all proposals. */
struct range {
    double least, most;
};
static void widen(struct range *r, double x) {
    r->least = fmin(r->least, x); /* an x that is not known changes nothing */
    r->most = fmax(r->most, x);
}
static void print_range(FILE *out, const char *what, struct range r, const char *after) {
    char a[32], b[32];
    fprintf(out, "%s %s to %s%s", what, length_text(r.least, a, sizeof a),
            length_text(r.most, b, sizeof b), after);
}

/* Many points: ranges, and the dearest as an example. */
static void print_many(FILE *out, const struct job *job, double precision, uint64_t dearest) {
    struct range warmup = {(double)NAN, (double)NAN}, horizon = warmup, counted = warmup,
                 half = warmup;
    for (uint64_t i = 0; i < job->n_points; i++) {
        const struct proposal p = forecast_proposal(job, i, precision);
        widen(&warmup, p.warmup);
        widen(&horizon, p.horizon);
        widen(&counted, p.counted);
        widen(&half, p.half);
    }
    print_range(out, "all points: warm-up", warmup, "");
    print_range(out, ", horizon", horizon, "");
    print_range(out, ", in all", counted, "");
    fprintf(out, "; as written %.2g %% to %.2g %%; dearest: %s\n", 100 * half.least,
            100 * half.most, job->points[dearest].label);
}

void forecast_print(const struct job *job, FILE *out) {
    const double precision = forecast_wanted(job);
    uint64_t known = 0, dearest = 0;
    double most = 0;
    for (uint64_t i = 0; job->model->length && i < job->n_points; i++) {
        const struct proposal p = forecast_proposal(job, i, precision);
        known += job->points[i].facts.forecast.counted > 0;
        if (p.counted > most) {
            most = p.counted;
            dearest = i;
        }
    }
    if (!known)
        return;
    fprintf(out,
            "precision: for %.3g %% of mean %s at 95 %% with %llu replications (estimates, within "
            "a factor of about two), in %s:\n",
            100 * precision, job->model->rows[job->model->followed].name,
            (unsigned long long)job->replications.max, job->model->length);
    fprintf(out, "%6s  %19s  %10s  %10s  %17s  %10s  %10s  %15s\n", "point", "as written: warm-up",
            "horizon", "half width", "proposed: warm-up", "horizon", "in all", "or replications");
    for (uint64_t i = 0; job->n_points <= FEW && i < job->n_points; i++)
        if (job->points[i].facts.forecast.counted > 0)
            print_row(out, job, i, precision);
    if (job->n_points <= FEW)
        return;
    print_row(out, job, dearest, precision);
    print_many(out, job, precision, dearest);
}
