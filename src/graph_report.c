/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Topologies in figures: sizes, degrees, components, distances, shares. Formulas where there are
 * some; else searches from every server, or from evenly spread ones where there are many. The only
 * unit of the engine that looks into spaces. */
#include "graph_report.h"

#include "graph.h"
#include "igraph_bridge.h"
#include "plan.h"
#include "sites.h"
#include "stats.h"
#include "wholefile.h"
#include "wide.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXACT_MOST = 5000, ORIGINS = 200, SHELLS = 12, BAR = 50, LABEL = 22, LINES = 16 };
enum { NEIGHBOURS_MOST = 1 << 20 }; /* servers whose nearest neighbour is sought */
/* Graphs that formulas describe are built up to this size. */
enum { BUILT_SERVERS = 1 << 22, BUILT_EDGES = 1 << 24 };
/* Visits of edges that searches from every server may take. */
#define EXACT_VISITS 0x1p34

/* One topology, made. */
struct subject {
    const struct topology *topology;
    const struct entry *entry;
    uint64_t replication;
    struct space space;
    struct graph *built; /* of a space by formula, when it is not too large; else NULL */
};

static const struct graph *graph_of(const struct subject *s) {
    return s->space.graph ? s->space.graph : s->built;
}

static double formula_edges(const struct space *s) {
    const double n = (double)s->n;
    switch (s->form) {
    case FORM_COMPLETE:
        return n * (n - 1) / 2;
    case FORM_LATTICE:
        return n * s->dims;
    case FORM_CUBE:
        return n * (double)s->diameter / 2;
    default:
        return n - 1;
    }
}

static bool build(struct subject *s, struct stream words, struct reason *why) {
    if (s->space.n > BUILT_SERVERS || formula_edges(&s->space) > BUILT_EDGES)
        return true;
    struct edges *e = s->topology->build(s->entry->values, words, 0, why);
    if (e)
        s->built = graph_new(e);
    edges_free(e);
    return e != NULL;
}

static bool make(struct subject *s, uint64_t key, uint64_t memory, struct reason *why) {
    unsigned at;
    const struct value *values = s->entry->values;
    if (!s->topology->describe(values, &s->space, why, &at))
        return false;
    if (!s->space.fresh)
        s->replication = 0;
    const struct stream words = {key, (uint32_t)s->replication};
    if (!space_is_made(&s->space))
        return build(s, words, why);
    if (s->space.bytes > memory || s->space.bytes_making > memory - s->space.bytes)
        return refuse(why, "making it takes %" PRIu64 " MB, which is more than --memory",
                      (s->space.bytes >> 20) + (s->space.bytes_making >> 20) + 1);
    return space_make(s->topology, values, words, &s->space, why);
}

static void clear(struct subject *s) {
    graph_free(s->built);
    space_clear(&s->space);
}

/* ---- what is printed ---- */

__attribute__((format(printf, 3, 4))) static void say(FILE *out, const char *label,
                                                      const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(out, "  %-*s ", LABEL, label);
    vfprintf(out, format, args);
    fputc('\n', out);
    va_end(args);
}

static void print_bar(FILE *out, uint64_t count, uint64_t most) {
    const uint64_t length = (uint64_t)(BAR * ((double)count / (double)most) + 0.5);
    for (uint64_t i = 0; i < length + (length == 0); i++)
        fputc('#', out);
    fputc('\n', out);
}

/* Servers by degree: one line for each where there are few, else for each coarse bin. */
static void print_histogram(const struct graph *g, uint64_t least, uint64_t largest, FILE *out) {
    const bool each = largest - least < LINES;
    const uint64_t from = each ? least : coarse_bin_of(least);
    const uint64_t lines = (each ? largest : coarse_bin_of(largest)) - from + 1;
    uint64_t *count = allocate(lines, sizeof *count), most = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        const uint64_t degree = graph_degree(g, u);
        count[(each ? degree : coarse_bin_of(degree)) - from]++;
    }
    for (uint64_t i = 0; i < lines; i++)
        most = count[i] > most ? count[i] : most;
    for (uint64_t i = 0; i < lines; i++) {
        const uint64_t low = each ? least + i : coarse_bin_lower(from + i);
        const uint64_t high = each ? low : coarse_bin_upper(from + i);
        char range[48];
        if (!count[i])
            continue;
        snprintf(range, sizeof range, low == high ? "%" PRIu64 : "%" PRIu64 " to %" PRIu64, low,
                 high);
        fprintf(out, "  %*s %12" PRIu64 "  ", LABEL, range, count[i]);
        print_bar(out, count[i], most);
    }
    free(count);
}

static void print_degrees(const struct graph *g, FILE *out) {
    uint64_t least = UINT64_MAX, largest = 0, alone = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        const uint64_t degree = graph_degree(g, u);
        least = degree < least ? degree : least;
        largest = degree > largest ? degree : largest;
        alone += degree == 0;
    }
    say(out, "edges", "%" PRIu64, g->n_edges);
    say(out, "neighbours", "%" PRIu64 " to %" PRIu64 ", mean %.6g", least, largest,
        2 * (double)g->n_edges / (double)g->n);
    print_histogram(g, least, largest, out);
    say(out, "without neighbours", "%" PRIu64, alone);
    if (g->whole > g->n)
        say(out, "components", "1, the largest of %" PRIu64 " in a graph of %" PRIu64 " servers",
            g->components, g->whole);
    else if (g->components > 1)
        say(out, "components", "%" PRIu64 ", the largest of %" PRIu64 " servers", g->components,
            g->largest);
    else
        say(out, "components", "1");
}

/* ---- distances ---- */

/* How far apart servers are, pairs without a path left out. */
struct survey {
    uint64_t origins; /* 0: no searches were made */
    double mean, se;  /* between two different servers; NaN: unknown, exact */
    uint64_t largest; /* found */
    uint64_t shells_origins;
    double shell[SHELLS + 1]; /* mean number of servers at this distance */
};

/* Servers at each distance from an origin; the memory of a search grows with the distances found. */
struct searcher {
    const struct graph *graph;
    struct search search;
    void *memory;
    uint32_t reach;
    uint64_t *end; /* [reach + 1] */
};

static struct searcher searcher_new(const struct graph *g) {
    struct searcher s = {.graph = g, .memory = allocate(search_bytes(g->n), 1), .reach = 62};
    search_init(&s.search, g->n, s.memory);
    s.end = allocate(s.reach + 1, sizeof *s.end);
    return s;
}

static void searcher_free(struct searcher *s) {
    free(s->memory);
    free(s->end);
}

/* Fills s->end for every distance there is; returns the largest. */
static uint32_t search_all(struct searcher *s, uint32_t origin) {
    for (;;) {
        graph_shells(s->graph, &s->search, origin, s->reach, s->end);
        uint32_t h = 0;
        while (h < s->reach && s->end[h + 1] > s->end[h])
            h++;
        if (h < s->reach || s->reach >= s->graph->n)
            return h;
        s->reach = s->reach < UINT32_MAX / 8 ? s->reach * 8 : UINT32_MAX - 1;
        if (s->reach > s->graph->n)
            s->reach = (uint32_t)s->graph->n;
        s->end = reallocate(s->end, s->reach + 1u, sizeof *s->end);
    }
}

/* Number i of `of` origins among n servers: all, or multiples of the golden section, which are
 * spread evenly without falling in step with rows of servers. */
static uint64_t spread(uint64_t i, uint64_t of, uint64_t n) {
    return of == n ? i : (uint64_t)((uint128)(i * 0x9e3779b97f4a7c15u) * n >> 64);
}

static void survey_graph(const struct graph *g, struct survey *v) {
    const double visits = (double)g->n * ((double)g->n + 2 * (double)g->n_edges);
    const bool exact = g->n <= EXACT_MOST && visits <= EXACT_VISITS;
    v->origins = v->shells_origins = exact || g->n < ORIGINS ? g->n : ORIGINS;
    double *hops = allocate(v->origins, sizeof *hops), *pairs = allocate(v->origins, sizeof *pairs);
    struct searcher s = searcher_new(g);
    double all_hops = 0, all_pairs = 0;
    for (uint64_t i = 0; i < v->origins; i++) {
        const uint32_t far = search_all(&s, (uint32_t)spread(i, v->origins, g->n));
        for (uint32_t h = 1; h <= far; h++) {
            const double size = (double)(s.end[h] - s.end[h - 1]);
            hops[i] += h * size;
            pairs[i] += size;
            if (h <= SHELLS)
                v->shell[h] += size / (double)v->origins;
        }
        v->largest = far > v->largest ? far : v->largest;
        all_hops += hops[i];
        all_pairs += pairs[i];
    }
    v->mean = all_pairs > 0 ? all_hops / all_pairs : (double)NAN;
    v->se = v->origins < g->n ? stats_reduction(hops, pairs, v->origins).se : (double)NAN;
    searcher_free(&s);
    free(hops);
    free(pairs);
}

/* Distances by formula; shells likewise, or by short searches where it takes one for each origin. */
static void survey_formula(const struct subject *t, struct survey *v) {
    const struct space *s = &t->space;
    const double n = (double)s->n;
    v->mean = s->n > 1 ? space_mean_distance(s) * (n / (n - 1)) : (double)NAN;
    v->se = (double)NAN;
    v->largest = s->diameter;
    if (s->form == FORM_TREE && !t->built)
        return;
    v->shells_origins = s->transitive ? 1 : s->n <= EXACT_MOST ? s->n : ORIGINS;
    struct searcher search = {0};
    if (!s->transitive && t->built)
        search = searcher_new(t->built);
    for (uint64_t i = 0; i < v->shells_origins; i++) {
        const uint64_t origin = s->transitive ? 0 : spread(i, v->shells_origins, s->n);
        uint64_t end[SHELLS + 1] = {0}, shell[SHELLS] = {0};
        if (search.graph)
            graph_shells(search.graph, &search.search, (uint32_t)origin, SHELLS, end);
        else
            space_shells(s, origin, SHELLS, shell);
        for (unsigned h = 1; h <= SHELLS; h++)
            v->shell[h] += (double)(search.graph ? end[h] - end[h - 1] : shell[h - 1]) /
                           (double)v->shells_origins;
    }
    searcher_free(&search);
}

static void print_shells(const struct survey *v, uint64_t n, FILE *out) {
    double within = 0;
    fprintf(out, "  %*s %12s  %s\n", LABEL, "hops", "servers", "within, of the others");
    for (unsigned h = 1; h <= SHELLS && v->shell[h] > 0; h++) {
        within += v->shell[h];
        fprintf(out, "  %*u %12.6g  %.4g %%\n", LABEL, h, v->shell[h],
                100 * within / ((double)n - 1));
    }
}

static void print_distances(const struct subject *s, FILE *out) {
    const bool formula = !s->space.graph;
    const uint64_t n = s->space.n;
    struct survey v = {0};
    if (formula)
        survey_formula(s, &v);
    else
        survey_graph(s->space.graph, &v);
    if (isnan(v.mean)) {
        say(out, "mean distance", "none: no server has another to go to");
        return;
    }
    const bool sampled = v.shells_origins < n && !(formula && s->space.transitive);
    if (!isnan(v.se))
        say(out, "mean distance",
            "%.4f, standard error %.2g (of two different servers; from %" PRIu64
            " evenly spread origins)",
            v.mean, v.se, v.origins);
    else
        say(out, "mean distance", "%.6f (of two different servers%s)", v.mean,
            formula ? "; by formula" : "");
    say(out, "largest distance", "%" PRIu64 "%s", v.largest,
        formula         ? " (by formula)"
        : v.origins < n ? " at least"
                        : "");
    if (!v.shells_origins)
        return;
    if (sampled)
        say(out, "reach of k hops", "mean over %" PRIu64 " evenly spread origins",
            v.shells_origins);
    else
        say(out, "reach of k hops", "mean over all origins");
    print_shells(&v, n, out);
}

static void print_graph(const struct subject *s, FILE *out) {
    const struct graph *g = graph_of(s);
    if (g) {
        print_degrees(g, out);
    } else {
        say(out, "graph", "not built: formulas only");
        uint64_t degree = 0;
        if (s->space.transitive) {
            space_shells(&s->space, 0, 1, &degree);
            say(out, "neighbours", "%" PRIu64 " each", degree);
        }
    }
    print_distances(s, out);
}

/* ---- points ---- */

static void print_plane(const struct space *space, FILE *out) {
    const struct sites *s = space->sites;
    const uint64_t origins = s->n < NEIGHBOURS_MOST ? s->n : NEIGHBOURS_MOST;
    uint32_t server[2];
    uint64_t squared[2];
    double sum = 0, least = (double)INFINITY;
    say(out, "square", space->wrap ? "with wrap-around" : "with borders");
    for (uint64_t i = 0; s->n > 1 && i < origins; i++) {
        const uint64_t u = spread(i, origins, s->n);
        plane_near(s, s->x[u], s->y[u], 2, server, squared);
        const double distance = sqrt((double)squared[1]) * 0x1p-31;
        sum += distance / (double)origins;
        least = distance < least ? distance : least;
    }
    if (s->n > 1)
        say(out, "nearest neighbour",
            "at distance %.6g of a side, mean over %s%" PRIu64 " servers; least %.3g", sum,
            origins < s->n ? "" : "all ", origins, least);
}

static void print_arcs(const struct space *space, FILE *out) {
    const struct sites *s = space->sites;
    uint64_t least = UINT64_MAX, largest = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        least = s->share[i] < least ? s->share[i] : least;
        largest = s->share[i] > largest ? s->share[i] : largest;
    }
    const double unit = 0x1p-64 * (double)s->n;
    say(out, "positions", "%" PRIu64, s->ids);
    say(out, "shares", "%.6g to %.6g of an equal share", (double)least * unit,
        (double)largest * unit);
}

static void print_subject(const struct subject *s, FILE *out) {
    fprintf(out, "%s\n", s->entry->text);
    if (s->space.fresh)
        say(out, "replication", "%" PRIu64 "; each has another one", s->replication);
    say(out, "servers", "%" PRIu64, s->space.n);
    if (s->space.form == FORM_PLANE)
        print_plane(&s->space, out);
    else if (s->space.form == FORM_ARCS)
        print_arcs(&s->space, out);
    else
        print_graph(s, out);
}

/* ---- --write ---- */

static const struct {
    const char *ending;
    enum graph_format format;
} formats[] = {{".graphml", FORMAT_GRAPHML},
               {".gml", FORMAT_GML},
               {".net", FORMAT_PAJEK},
               {".paj", FORMAT_PAJEK}};

/* The format a file name asks for; false: a plain list. */
static bool format_of(const char *path, enum graph_format *format) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t tail = strlen(formats[i].ending);
        *format = formats[i].format;
        if (length > tail && strcmp(path + length - tail, formats[i].ending) == 0)
            return true;
    }
    return false;
}

/* Lists know no servers but those that edges name. */
static void write_edges(const struct graph *g, FILE *out) {
    fprintf(out,
            "# %" PRIu64 " servers, %" PRIu64
            " edges; one without neighbours stands twice on its line\n",
            g->n, g->n_edges);
    for (uint32_t u = 0; u < g->n; u++) {
        if (!graph_degree(g, u))
            fprintf(out, "%" PRIu32 " %" PRIu32 "\n", u, u);
        for (uint64_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (g->neighbour[i] > u)
                fprintf(out, "%" PRIu32 " %" PRIu32 "\n", u, g->neighbour[i]);
    }
}

static void write_points(const struct space *space, FILE *out) {
    const struct sites *s = space->sites;
    if (space->form == FORM_PLANE) {
        fputs("# coordinates of each server\n", out);
        for (uint64_t i = 0; i < s->n; i++)
            fprintf(out, "%.17g %.17g\n", s->x[i] * 0x1p-31, s->y[i] * 0x1p-31);
    } else {
        fputs("# positions in units of 2^-64 of the circle, and the server of each\n", out);
        for (uint64_t i = 0; i < s->ids; i++)
            fprintf(out, "%" PRIu64 " %" PRIu32 "\n", s->position[i], s->owner[i]);
    }
}

static bool can_be_written(const struct subject *s, const char *path, struct reason *why) {
    enum graph_format format;
    if (!graph_of(s) && !s->space.sites)
        return refuse(why, "it is too large to be written");
    if (s->space.sites && format_of(path, &format))
        return refuse(why, "points are written as a list; give %s another ending", path);
    return true;
}

/* The whole file in memory, then on the disk in one go. */
static bool write_subject(const struct subject *s, const char *path, struct reason *why) {
    enum graph_format format;
    const struct graph *g = graph_of(s);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        world_failed("out of memory");
    bool good = true;
    if (format_of(path, &format)) {
        good = bridge_write(format, g, f, why);
    } else {
        fprintf(f, "# %s\n", s->entry->text);
        if (g)
            write_edges(g, f);
        else
            write_points(&s->space, f);
    }
    if (fclose(f))
        world_failed("out of memory");
    struct reason fault;
    if (good && !wholefile_write(path, text, size, &fault))
        world_failed("%s", fault.text);
    free(text);
    return good;
}

/* ---- the command ---- */

/* The parameter of the model that says where servers are, or -1. */
static int topology_parameter(const struct model *model) {
    for (unsigned i = 0; i < model->kind.n_parameters; i++)
        if (model->kind.parameters[i].catalogue == &topologies)
            return (int)i;
    return -1;
}

/* Points with topologies that no point before them has, or the one asked for, into points[]. */
static uint64_t choose_points(const struct job *job, const struct options *o, unsigned parameter,
                              uint64_t *points) {
    uint64_t n = 0;
    if (o->only_point >= 0) {
        points[n++] = (uint64_t)o->only_point;
        return n;
    }
    for (uint64_t i = 0; i < job->n_points; i++) {
        const char *text = job->points[i].values[parameter].entry->text;
        bool known = false;
        for (uint64_t j = 0; !known && j < n; j++)
            known = strcmp(job->points[points[j]].values[parameter].entry->text, text) == 0;
        if (!known)
            points[n++] = i;
    }
    return n;
}

static bool sensible(const struct job *job, const struct options *o, struct complaints *c) {
    const struct replications *r = &job->replications;
    struct stat s;
    if (topology_parameter(job->model) < 0)
        complain(c, NULL, "graph: model %s has no topology", job->model->kind.name);
    if (o->only_point >= 0 && (uint64_t)o->only_point >= job->n_points)
        complain(c, NULL, "--only %" PRId64 ": the job has points 0 to %" PRIu64, o->only_point,
                 job->n_points - 1);
    if (o->only_replication >= 0 && (uint64_t)o->only_replication >= r->max)
        complain(c, NULL, "--only %" PRId64 ":%" PRId64 ": the job has replications 0 to %" PRIu64,
                 o->only_point, o->only_replication, r->max - 1);
    if (o->write && !strcmp(o->write, o->input))
        complain(c, NULL, "--write would replace the job file '%s'", o->input);
    else if (o->write && lstat(o->write, &s) == 0 && !o->force)
        complain(c, NULL, "%s exists (--force replaces it)", o->write);
    return c->count == 0;
}

static bool report_point(const struct job *job, uint64_t point, const struct options *o, FILE *out,
                         struct reason *why) {
    const struct point *p = &job->points[point];
    const struct entry *entry = p->values[topology_parameter(job->model)].entry;
    struct subject s = {.topology = topology_of(entry), .entry = entry};
    if (o->only_replication > 0)
        s.replication = (uint64_t)o->only_replication;
    bool good =
        make(&s, p->key, o->memory, why) && (!o->write || can_be_written(&s, o->write, why));
    if (good)
        print_subject(&s, out);
    if (good && o->write)
        good = write_subject(&s, o->write, why);
    clear(&s);
    return good;
}

bool graph_report(const struct job *job, const struct options *o, FILE *out, struct complaints *c) {
    if (!sensible(job, o, c))
        return false;
    const unsigned parameter = (unsigned)topology_parameter(job->model);
    uint64_t *points = allocate(job->n_points, sizeof *points);
    const uint64_t n = choose_points(job, o, parameter, points);
    if (o->write && n > 1)
        complain(c, NULL,
                 "--write takes one topology, the job has %" PRIu64 " (--only POINT chooses one)",
                 n);
    plan_notes(job, stderr);
    for (uint64_t i = 0; i < n && c->count == 0; i++) {
        struct reason why = {""};
        if (i)
            fputc('\n', out);
        if (!report_point(job, points[i], o, out, &why))
            complain(c, NULL, "%s: %s", job->points[points[i]].values[parameter].entry->text,
                     why.text);
    }
    free(points);
    return c->count == 0;
}
