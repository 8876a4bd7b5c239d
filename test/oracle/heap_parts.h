/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What heap.c is made of: settings, laws of times and a binary heap of events. Laws are written from
 * the heads of the files in laws/, with the C library's functions and plain loops: values agree with
 * the program's up to a few units of the last place. */
#ifndef POTLUCK_HEAP_PARTS_H
#define POTLUCK_HEAP_PARTS_H

#include "naive_parts.h"

#include <math.h>

/* ---- settings ---- */

static char **settings;

static const char *setting(const char *name, const char *standard) {
    const size_t length = strlen(name);
    for (char **at = settings; *at; at++)
        if (!strncmp(*at, name, length) && (*at)[length] == '=')
            return *at + length + 1;
    if (!standard)
        fail(name);
    return standard;
}

static double real(const char *text, const char *name, double standard) {
    const char *at = parameter(text, name);
    return at ? strtod(at, NULL) : standard;
}

/* The numbers of "[a, b, ..]" or "a b .."; returns how many. */
static unsigned list(const char *text, double *into, unsigned most) {
    unsigned count = 0;
    for (const char *at = text; *at && *at != ']' && count < most;) {
        char *end;
        const double x = strtod(at, &end);
        if (end == at) {
            at++;
            continue;
        }
        into[count++] = x;
        at = end;
    }
    return count;
}

/* A list of n numbers, or of fewer that are repeated in turn; 1 where there are none. */
static double *multipliers(const char *name, unsigned n) {
    double *rate = get(n + 1, sizeof *rate);
    const unsigned count = list(setting(name, ""), rate, n);
    for (unsigned i = count; i < n; i++)
        rate[i] = count ? rate[i - count] : 1;
    return rate;
}

/* ---- laws: value number i from words i of lanes `lane` and up ---- */

enum { VALUES = 16, LAW_LANES = 256 };
static const char *const law_names[] = {"exponential",      "deterministic", "uniform", "erlang",
                                        "hyperexponential", "lognormal",     "weibull", "pareto",
                                        "discrete",         "geometric",     "lomax"};
enum law_name {
    EXPONENTIAL,
    DETERMINISTIC,
    UNIFORM,
    ERLANG,
    HYPEREXPONENTIAL,
    LOGNORMAL,
    WEIBULL,
    PARETO,
    DISCRETE,
    GEOMETRIC,
    LOMAX,
    LAWS
};
struct times {
    unsigned name;
    double mean, shape, scale; /* shape: also the scv; scale multiplies what the mean gives */
    double value[VALUES], probability[VALUES];
    unsigned values;
};

/* A text up to the end of its first entry: "name" or "name: {..}", braces around it or not. */
static char *entry(const char *text) {
    while (*text == '{' || *text == ' ')
        text++;
    size_t length = 0;
    for (int depth = 0; text[length]; length++) {
        depth += text[length] == '{' || text[length] == '[';
        depth -= text[length] == '}' || text[length] == ']';
        if (depth < 0 || (depth == 0 && text[length] == ','))
            break;
    }
    char *copy = get(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

static double mean_of(const struct times *t) {
    double mean = 0;
    for (unsigned i = 0; i < t->values; i++)
        mean += t->value[i] * t->probability[i];
    return t->name == DISCRETE ? mean : t->mean;
}

/* `mean`: what the law is rescaled to; NAN: as it is. */
static struct times read_law(const char *text, double mean) {
    char *one = entry(text);
    struct times t = {.mean = real(one, "mean", 1), .scale = 1};
    while (t.name < LAWS && !is_called(one, law_names[t.name]))
        t.name++;
    if (t.name == LAWS)
        fail(text);
    t.shape = real(one, t.name == HYPEREXPONENTIAL || t.name == LOGNORMAL ? "scv" : "shape", 0);
    if (t.name == DISCRETE) {
        double total = 0;
        t.values = list(parameter(one, "values"), t.value, VALUES);
        if (list(parameter(one, "probabilities"), t.probability, VALUES) != t.values)
            fail("values and probabilities");
        for (unsigned i = 0; i < t.values; i++)
            total += t.probability[i];
        for (unsigned i = 0; i < t.values; i++)
            t.probability[i] /= total;
    }
    if (!isnan(mean))
        t.scale = mean / mean_of(&t);
    free(one);
    return t;
}

/* (x + 1/2) 2^-64 of two words, kept below 1. */
static double uniform_at(enum purpose purpose, uint32_t lane, uint64_t i) {
    const double u = (double)(((long double)fraction(purpose, lane, i) + 0.5L) * 0x1p-64L);
    return u < 1 ? u : 1 - 0x1p-53;
}

/* Words a value takes. */
static uint32_t lanes(const struct times *t) {
    switch (t->name) {
    case DETERMINISTIC:
        return 0;
    case ERLANG:
        return 2 * (uint32_t)t->shape;
    case HYPEREXPONENTIAL:
        return 4;
    default:
        return 2;
    }
}

/* z with P(Z > z) = u. */
static double normal_upper(double u) {
    long double low = -40, high = 40;
    while (high - low > 1e-17L * fabsl(low) + 1e-30L && high > nextafterl(low, high)) {
        const long double z = (low + high) / 2;
        if (erfcl(z * sqrtl(0.5L)) / 2 > (long double)u)
            low = z;
        else
            high = z;
    }
    return (double)low;
}

/* P(G > x) for a gamma variable of this shape: 1 - x^a e^-x sum x^i / (a (a+1) .. (a+i)) / Gamma(a)
 * for small x, a continued fraction (Lentz) beyond. */
static long double gamma_upper(long double a, long double x) {
    const long double front = expl(a * logl(x) - x - lgammal(a));
    if (x < a + 1) {
        long double term = 1 / a, sum = term;
        for (int i = 1; i < 1000; i++)
            sum += term *= x / (a + i);
        return 1 - front * sum;
    }
    long double f = 1e-4000L, c = f, d = 0;
    for (int i = 1; i < 4000; i++) {
        const long double up = i == 1 ? 1 : -(i - 1) * (i - 1 - a), b = x + 2 * i - 1 - a;
        d = 1 / (b + up * d);
        c = b + up / c;
        f *= c * d;
    }
    return front * f;
}

static double short_share(double scv) {
    return (1 + sqrt((scv - 1) / (scv + 1))) / 2;
}

static double draw(const struct times *t, enum purpose purpose, uint32_t lane, uint64_t i) {
    const double u = lanes(t) ? uniform_at(purpose, lane, i) : 0;
    double x = 0, sum = 0, p;
    switch ((enum law_name)t->name) {
    case EXPONENTIAL:
        x = -log(u) * t->mean;
        break;
    case DETERMINISTIC:
        x = t->mean;
        break;
    case UNIFORM:
        x = 2 * t->mean * u;
        break;
    case ERLANG:
        for (unsigned j = 0; j < (unsigned)t->shape; j++)
            x -= log(uniform_at(purpose, lane + 2 * j, i)) * t->mean / t->shape;
        break;
    case HYPEREXPONENTIAL:
        p = short_share(t->shape);
        if (uniform_at(purpose, lane + 2, i) < 1 - p)
            p = 1 - p;
        x = -log(u) / (2 * p) * t->mean;
        break;
    case LOGNORMAL:
        sum = log1p(t->shape);
        x = exp(sqrt(sum) * normal_upper(u) - sum / 2) * t->mean;
        break;
    case WEIBULL:
        x = pow(-log(u), 1 / t->shape) / tgamma(1 + 1 / t->shape) * t->mean;
        break;
    case PARETO:
        x = pow(u, -1 / t->shape) * (t->shape - 1) / t->shape * t->mean;
        break;
    case DISCRETE:
        x = t->value[0];
        for (unsigned j = 1; j < t->values; j++)
            if (u >= (sum += t->probability[j - 1]))
                x = t->value[j];
        break;
    case GEOMETRIC:
        x = t->mean > 1 ? 1 + floor(log(u) / log1p(-1 / t->mean)) : 1;
        break;
    case LOMAX:
        x = expm1(-log(u) / t->shape) * (t->shape - 1) * t->mean;
        break;
    case LAWS:
        break;
    }
    return x * t->scale;
}

/* A value of the residual life in equilibrium. */
static double residual(const struct times *t, enum purpose purpose, uint32_t lane, uint64_t i) {
    const double u = uniform_at(purpose, lane, i);
    double x = 0, left, p;
    switch ((enum law_name)t->name) {
    case EXPONENTIAL:
        x = -log(u) * t->mean;
        break;
    case DETERMINISTIC:
        x = u * t->mean;
        break;
    case UNIFORM:
        x = 2 * t->mean * (1 - sqrt(u));
        break;
    case ERLANG:
        for (unsigned j = 0; j <= (unsigned)(u * t->shape); j++)
            x -= log(uniform_at(purpose, lane + 2 + 2 * j, i)) * t->mean / t->shape;
        break;
    case HYPEREXPONENTIAL:
        p = short_share(t->shape);
        if (uniform_at(purpose, lane + 2, i) < 0.5)
            p = 1 - p;
        x = -log(u) / (2 * p) * t->mean;
        break;
    case LOGNORMAL:
        p = log1p(t->shape);
        x = exp(sqrt(p) * normal_upper(u) + p / 2) * uniform_at(purpose, lane + 2, i) * t->mean;
        break;
    case WEIBULL: {
        long double low = 0, high = 1;
        while (gamma_upper(1 / t->shape, powl(high, t->shape)) > u)
            high *= 2;
        for (int step = 0; step < 90; step++) {
            const long double y = (low + high) / 2;
            if (gamma_upper(1 / t->shape, powl(y, t->shape)) > u)
                low = y;
            else
                high = y;
        }
        x = (double)low / tgamma(1 + 1 / t->shape) * t->mean;
        break;
    }
    case PARETO:
        p = (t->shape - 1) / t->shape;
        x = (t->shape * u > 1 ? 1 - u : pow(t->shape * u, -1 / (t->shape - 1)) * p) * t->mean;
        break;
    case DISCRETE:
        left = u * mean_of(t);
        for (unsigned j = 0; j < t->values && left >= 0; j++) {
            if (t->probability[j] * t->value[j] > 0)
                x = t->value[j];
            left -= t->probability[j] * t->value[j];
        }
        x *= uniform_at(purpose, lane + 2, i);
        break;
    case GEOMETRIC:
        x = (t->mean > 1 ? floor(log(u) / log1p(-1 / t->mean)) : 0) +
            uniform_at(purpose, lane + 2, i);
        break;
    case LOMAX:
        x = expm1(-log(u) / (t->shape - 1)) * (t->shape - 1) * t->mean;
        break;
    case LAWS:
        break;
    }
    return x * t->scale;
}

/* ---- events ---- */

/* At one time: what is done leaves, servers come up, servers go down, jobs come by server. */
enum happening { DEPARTURE, REPAIR, FAILURE, ARRIVAL };
struct event {
    double time;
    enum happening what;
    uint32_t who;     /* server; arrivals of one stream for all: 0 */
    uint64_t version; /* departures, failures: not if the server's has changed */
};

static struct event *heap;
static size_t events, room;

static bool earlier(const struct event *a, const struct event *b) {
    if (a->time != b->time)
        return a->time < b->time;
    return a->what != b->what ? a->what < b->what : a->who < b->who;
}

static void push(struct event e) {
    if (events == room) {
        room = room ? 2 * room : 64;
        heap = realloc(heap, room * sizeof *heap);
    }
    size_t i = events++;
    for (; i > 0 && earlier(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static struct event pop(void) {
    const struct event first = heap[0], last = heap[--events];
    size_t i = 0;
    for (size_t child = 1; child < events; child = 2 * i + 1) {
        child += child + 1 < events && earlier(&heap[child + 1], &heap[child]);
        if (!earlier(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

#endif
