/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The path x_1 .. x_M of a point is the mean over R replications of a row at M equal steps of what
 * counted, in the row's units; y is the mean of the row, a time average over the same stretch, and s
 * its standard error over the replications. Were the run in equilibrium and c(t) the covariance of
 * the row with itself after a time t, c falling and convex as for reversible queues, then the mean
 * of any j steps in a row has a variance of at most (M s^2 + v) / j, v = c(0) - c(one step):
 *   - the time average over j steps has at most M/j times s^2, because the M/j blocks of the whole
 *     stretch all have its variance and no negative covariance;
 *   - values at single times instead of the average within a step add at most v/j, by convexity.
 * v is taken from the spread of the later half, which is larger. So
 *     D_j = mean of the first j steps - mean of the later half,
 *     z_j = D_j / sqrt((M s^2 + v) (1/j + 2/M)),   j = 1, 2, 4, .. up to M/2,
 * is held against the quantile of Student's law for the level shared out over all j and points
 * (Bonferroni). Steps whose z is beyond it put j D_j / M into the mean, and the largest of these is
 * the estimate of the bias; what is left later, or hides between two steps, is not seen. */
#include "settling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_REPLICATIONS = 30, LEAST_STEPS = 40, WORST = 3 };
static const double file_level = 1e-3, normal_95 = 1.9599639845400545;
static const double small = 0.25; /* of the half width: leaves a 95 % interval at least 92 % */

/* z such that |Z| > z has the probability `level` under the normal law. */
static double normal_beyond(double level) {
    double low = 0, high = 38;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) > level)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Steps in what is tried: 1, 2, 4, .. up to half of those that count. */
static unsigned trials(unsigned counted) {
    unsigned n = 0;
    for (unsigned j = 1; j <= counted / 2; j *= 2)
        n++;
    return n;
}

static double mean_of(const double *x, unsigned n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

static double spread_of(const double *x, unsigned n) {
    const double mean = mean_of(x, n);
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (n - 1);
}

static bool testable(const struct store *s, uint64_t point) {
    const struct job *job = s->job;
    const struct facts *f = &job->points[point].facts;
    return f->path.counted >= LEAST_STEPS && s->points[point].complete >= LEAST_REPLICATIONS &&
           row_applies(&job->points[point], job->model->followed) &&
           s->points[point].histogram[job->model->path].count &&
           s->points[point].histogram[job->model->path].bins >= f->path.before + f->path.counted;
}

/* The steps that counted; the caller frees. */
static double *path_at(const struct store *s, uint64_t point) {
    const struct facts *f = &s->job->points[point].facts;
    const unsigned h = s->job->model->path;
    const struct point_store *p = &s->points[point];
    const double unit = f->unit[h] > 0 ? f->unit[h] : 1;
    double *x = allocate(f->path.counted, sizeof *x);
    for (unsigned k = 0; k < f->path.counted; k++)
        x[k] = (double)p->histogram[h].count[f->path.before + k] / (double)p->complete * unit;
    return x;
}

struct settling settling_of(const struct store *s, uint64_t point, double level) {
    if (!testable(s, point))
        return (struct settling){0};
    const unsigned steps = s->job->points[point].facts.path.counted, half = steps / 2;
    const uint64_t complete = s->points[point].complete;
    const double se = store_se(s, point, s->job->model->followed);
    double *x = path_at(s, point), *later = x + steps - half;
    const double end = mean_of(later, half), noise = steps * se * se + spread_of(later, half),
                 beyond = student_beyond(normal_beyond(level / trials(steps)),
                                         complete < half ? complete - 1 : half - 1);
    struct settling out = {.tested = true, .half = se * student_beyond(normal_95, complete - 1)};
    for (unsigned j = 1; j <= half; j *= 2) {
        const double d = mean_of(x, j) - end, bias = d * j / steps;
        if (fabs(d) > beyond * sqrt(noise * (1.0 / j + 1.0 / half)) && fabs(bias) > fabs(out.bias))
            out.bias = bias;
    }
    free(x);
    return out;
}

/* ---- what is said ---- */

struct doubt {
    uint64_t point;
    struct settling found;
};

static int worse_first(const void *a, const void *b) {
    const struct doubt *x = a, *y = b;
    const double p = fabs(x->found.bias) * y->found.half, q = fabs(y->found.bias) * x->found.half;
    return p != q ? (p < q) - (p > q) : (x->point > y->point) - (x->point < y->point);
}

/* The doubtful points, the worst first; the caller frees. */
static struct doubt *doubts_of(const struct store *s, uint64_t *n) {
    const uint64_t points = s->job->n_points;
    struct doubt *all = allocate(points, sizeof *all);
    uint64_t tested = 0;
    for (uint64_t p = 0; p < points; p++)
        tested += testable(s, p);
    *n = 0;
    for (uint64_t p = 0; p < points; p++) {
        const struct settling found = settling_of(s, p, file_level / (double)tested);
        if (fabs(found.bias) > small * found.half)
            all[(*n)++] = (struct doubt){p, found};
    }
    qsort(all, *n, sizeof *all, worse_first);
    return all;
}

char *settling_text(const struct store *s) {
    uint64_t n;
    struct doubt *all = doubts_of(s, &n);
    char *text = NULL;
    for (uint64_t i = 0; i < n && i < WORST; i++) {
        const struct doubt *d = &all[i];
        char *longer = format_text("%s%s point %llu (%s) by %+.2g beside an interval of +-%.2g",
                                   text ? text : "", text ? "," : "", (unsigned long long)d->point,
                                   s->job->points[d->point].label, d->found.bias, d->found.half);
        free(text);
        text = longer;
    }
    free(all);
    if (!text)
        return NULL;
    char *sentence = format_text(
        "mean %s carries the start of the run at %llu point%s (a longer warm-up helps, more "
        "replications do not):%s%s",
        s->job->model->rows[s->job->model->followed].name, (unsigned long long)n, n == 1 ? "" : "s",
        n > WORST ? " worst at" : "", text);
    free(text);
    return sentence;
}
