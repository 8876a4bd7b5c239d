/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace{file}: arrivals as a file says, a job a line: time [server [service]]. Times never fall;
 * jobs of equal time come in the order of the file. */
#include "arrivals_parts.h"

#include <math.h>
#include <string.h>

enum { COLUMN_TIME, COLUMN_SERVER, COLUMN_SERVICE };
static const char row_name[] = "an arrival";
#define TIME_MAX 1e15
#define SERVICE_MAX 1e12

static const struct parameter parameters[] = {
    {.name = "file",
     .type = TYPE_FILE,
     .units = "1",
     .meaning = "lines of time [server [service]], relative to the folder of the job file"},
};

static void begin(const struct arrivals *a, void *memory, struct stream s) {
    (void)a, (void)memory, (void)s;
}

static uint32_t next(const struct arrivals *a, void *memory, struct stream s, uint64_t first,
                     double *time, uint32_t *origin, double *service) {
    (void)memory;
    if (first >= a->jobs)
        return 0;
    const uint32_t count = a->jobs - first < BLOCK ? (uint32_t)(a->jobs - first) : BLOCK;
    memcpy(time, a->time + first, count * sizeof *time);
    if (a->origin)
        memcpy(origin, a->origin + first, count * sizeof *origin);
    else if (a->share)
        ISA(arrivals_origins)(a, s, first, count, origin);
    if (a->service)
        memcpy(service, a->service + first, count * sizeof *service);
    return count;
}

static bool check_row(const struct arrivals_wish *w, const struct number_file *f, uint64_t i,
                      struct reason *why) {
    const struct attachment *file = w->entry->values[0].file;
    const double *v = f->value + i * f->columns;
    if (v[COLUMN_TIME] < 0 || v[COLUMN_TIME] > TIME_MAX)
        return number_file_refuse(file, f, i, why, "time %g (allowed: 0 to %g)", v[COLUMN_TIME],
                                  TIME_MAX);
    if (i > 0 && v[COLUMN_TIME] < v[COLUMN_TIME - (int)f->columns])
        return number_file_refuse(file, f, i, why,
                                  "time %.17g after time %.17g: times must not fall",
                                  v[COLUMN_TIME], v[COLUMN_TIME - (int)f->columns]);
    if (f->columns > COLUMN_SERVER && !(v[COLUMN_SERVER] >= 0 && v[COLUMN_SERVER] < (double)w->n &&
                                        v[COLUMN_SERVER] == floor(v[COLUMN_SERVER])))
        return number_file_refuse(file, f, i, why, "server %g (allowed: 0 to %llu)",
                                  v[COLUMN_SERVER], (unsigned long long)w->n - 1);
    if (f->columns > COLUMN_SERVICE && !(v[COLUMN_SERVICE] > 0 && v[COLUMN_SERVICE] <= SERVICE_MAX))
        return number_file_refuse(file, f, i, why, "service %g (allowed: more than 0, up to %g)",
                                  v[COLUMN_SERVICE], SERVICE_MAX);
    return true;
}

static double mean_of(const struct number_file *f, unsigned column) {
    double sum = 0;
    for (uint64_t i = 0; i < f->n; i++)
        sum += f->value[i * f->columns + column];
    return sum / (double)f->n;
}

static bool examine(const struct arrivals_wish *w, struct arrivals_facts *f, struct reason *why,
                    enum arrivals_fault *fault, unsigned *inner) {
    const struct number_file *rows =
        number_file_of(w->entry->values[0].file, 1, NUMBER_COLUMNS_MAX, row_name, why);
    *inner = 0;
    if (!rows)
        return false;
    for (uint64_t i = 0; i < rows->n; i++)
        if (!check_row(w, rows, i, why))
            return false;
    const double last = rows->value[(rows->n - 1) * rows->columns];
    const bool servers = rows->columns > COLUMN_SERVER;
    *fault = ARRIVALS_RATES;
    if (servers && w->rate)
        return refuse(why, "arrival_rates besides a trace that names servers");
    f->rate = last > 0 ? (double)rows->n / last : (double)INFINITY;
    f->scale = last / (double)rows->n * (double)w->n;
    f->jobs = rows->n;
    f->independent = !servers;
    f->origins = servers || w->rate;
    f->services = rows->columns > COLUMN_SERVICE;
    if (f->services)
        f->mean_service = mean_of(rows, COLUMN_SERVICE);
    f->bytes += rows->n * (2 * sizeof(double) + sizeof(uint32_t));
    f->nanoseconds = 2;
    return true;
}

static void prepare(const struct arrivals_wish *w, struct arrivals *a) {
    struct reason why;
    const struct number_file *f =
        number_file_of(w->entry->values[0].file, 1, NUMBER_COLUMNS_MAX, row_name, &why);
    CHECK(f);
    a->jobs = f->n;
    a->time = allocate(f->n, sizeof *a->time);
    if (f->columns > COLUMN_SERVER)
        a->origin = allocate(f->n, sizeof *a->origin);
    if (f->columns > COLUMN_SERVICE)
        a->service = allocate(f->n, sizeof *a->service);
    for (uint64_t i = 0; i < f->n; i++) {
        const double *v = f->value + i * f->columns;
        a->time[i] = v[COLUMN_TIME];
        if (a->origin)
            a->origin[i] = (uint32_t)v[COLUMN_SERVER];
        if (a->service)
            a->service[i] = v[COLUMN_SERVICE];
    }
}

extern const struct stream_kind ISA(stream_trace);
const struct stream_kind ISA(stream_trace) = {
    .kind = {"trace", "arrivals from a file", "", parameters, 1},
    .examine = examine,
    .prepare = prepare,
    .begin = begin,
    .next = next};
