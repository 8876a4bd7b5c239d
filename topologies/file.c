/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file{path, format, connect}: a network from a file, undirected and simple. Edge lists number the
 * vertices in rising order of ids that are whole numbers, else in order of appearance; the other
 * formats in the order of the file. Directions, weights, loops and double edges are dropped; note()
 * says what was. */
#include "edge_list.h"
#include "formats.h"
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_PATH, FILE_FORMAT, FILE_CONNECT, FILE_PARAMETERS };
/* In the order of the words. */
enum { WORD_AUTO, WORD_EDGES, WORD_GRAPHML, WORD_GML, WORD_PAJEK, FORMATS };

static const struct parameter parameters[FILE_PARAMETERS] = {
    [FILE_PATH] = {.name = "path",
                   .type = TYPE_FILE,
                   .units = "1",
                   .meaning = "the file, relative to the folder of the job file"},
    [FILE_FORMAT] = {.name = "format",
                     .type = TYPE_WORD,
                     .standard = "auto",
                     .words = "auto|edges|graphml|gml|pajek",
                     .units = "1",
                     .meaning = "auto: by the end of the name, .graphml .xml .gml .net .paj, else "
                                "a list of edges"},
    [FILE_CONNECT] = {.name = "connect",
                      .type = TYPE_WORD,
                      .standard = "any",
                      .words = "any|largest",
                      .units = "1",
                      .meaning = "a network that is not connected: taken as it is, or cut down to "
                                 "its largest component"},
};

/* A network as it is (CONNECT_ANY) or its largest component, in numbers. */
struct measures {
    uint64_t n, n_edges, diameter;
    double mean_degree, branching;
};

/* A file read in one of the formats; that it cannot be read is remembered as well. */
struct network {
    bool tried;
    struct edges *edges; /* NULL: not to be read, because of `why` */
    struct reason why;
    struct repairs repairs;
    uint64_t loops, doubles, components;
    struct measures measures[2];
};

static void release_networks(void *parsed) {
    struct network *all = parsed;
    for (unsigned i = 0; i < FORMATS; i++)
        edges_free(all[i].edges);
    free(all);
}

/* At most twice the eccentricity of a vertex; `g` is connected. */
static uint64_t diameter_bound(const struct graph *g) {
    void *memory = allocate(search_bytes(g->n), 1);
    uint64_t *end = allocate(g->n, sizeof *end);
    struct search s;
    search_init(&s, g->n, memory);
    graph_shells(g, &s, 0, (uint32_t)(g->n - 1), end);
    uint64_t far = 0;
    while (end[far] < g->n)
        far++;
    free(memory);
    free(end);
    return 2 * far < g->n - 1 ? 2 * far : g->n - 1;
}

static struct measures measure(const struct graph *g) {
    double ends = 0, pairs = 0;
    for (uint32_t u = 0; u < g->n; u++) {
        const double d = graph_degree(g, u);
        ends += d;
        pairs += d * (d - 1);
    }
    return (struct measures){.n = g->n,
                             .n_edges = g->n_edges,
                             .diameter = g->largest == g->n ? diameter_bound(g) : g->n - 1,
                             .mean_degree = ends / (double)g->n,
                             .branching = ends > 0 ? pairs / ends : 0};
}

static struct edges *read_format(const struct attachment *file, unsigned word,
                                 struct network *net) {
    if (word == WORD_EDGES)
        return edge_list_read(file, &net->repairs, &net->why);
    const enum graph_format format = word == WORD_GRAPHML ? FORMAT_GRAPHML
                                     : word == WORD_GML   ? FORMAT_GML
                                                          : FORMAT_PAJEK;
    return format_read(file, format, &net->repairs, &net->why);
}

static void read_network(const struct attachment *file, unsigned word, struct network *net) {
    net->tried = true;
    net->edges = read_format(file, word, net);
    if (!net->edges)
        return;
    struct graph *g = graph_new(net->edges);
    net->loops = g->loops;
    net->doubles = g->doubles;
    net->components = g->components;
    net->measures[CONNECT_ANY] = measure(g);
    g = graph_largest(g);
    net->measures[CONNECT_LARGEST] = measure(g);
    graph_free(g);
}

static unsigned format_word(const struct value *v) {
    static const struct {
        const char *end;
        unsigned word;
    } known[] = {{".graphml", WORD_GRAPHML},
                 {".xml", WORD_GRAPHML},
                 {".gml", WORD_GML},
                 {".net", WORD_PAJEK},
                 {".paj", WORD_PAJEK}};
    if (v[FILE_FORMAT].word != WORD_AUTO)
        return v[FILE_FORMAT].word;
    const char *dot = strrchr(v[FILE_PATH].file->name, '.');
    for (unsigned i = 0; dot && i < sizeof known / sizeof known[0]; i++)
        if (!strcasecmp(dot, known[i].end))
            return known[i].word;
    return WORD_EDGES;
}

/* The network, read the first time it is asked for. */
static const struct network *network_of(const struct value *v) {
    struct attachment *file = v[FILE_PATH].file;
    const unsigned word = format_word(v);
    if (file->parsed && file->release != release_networks) { /* points of the plane, say */
        file->release(file->parsed);
        file->parsed = NULL;
    }
    if (!file->parsed) {
        file->parsed = allocate(FORMATS, sizeof(struct network));
        file->release = release_networks;
    }
    struct network *net = (struct network *)file->parsed + word;
    if (!net->tried)
        read_network(file, word, net);
    return net;
}

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    const struct network *net = network_of(v);
    *at = FILE_PATH;
    if (!net->edges) {
        *why = net->why;
        return false;
    }
    const enum connect connect = v[FILE_CONNECT].word ? CONNECT_LARGEST : CONNECT_ANY;
    const struct measures *m = &net->measures[connect];
    const double whole = (double)(net->edges->n + net->edges->n_edges);
    *s = (struct space){.form = FORM_GRAPH,
                        .n = m->n,
                        .diameter = m->diameter,
                        .connected = connect == CONNECT_LARGEST || net->components == 1,
                        .connect = connect,
                        .mean_degree = m->mean_degree,
                        .branching = m->branching,
                        .bytes = graph_bytes(m->n, m->n_edges),
                        .bytes_making = graph_bytes(net->edges->n, net->edges->n_edges) +
                                        net->edges->n_edges * sizeof *net->edges->end +
                                        3 * net->edges->n * sizeof(uint64_t),
                        .nanoseconds = 50 * whole};
    return true;
}

static struct edges *build(const struct value *v, struct stream words, uint32_t attempt,
                           struct reason *why) {
    (void)words, (void)attempt;
    const struct network *net = network_of(v);
    if (!net->edges) {
        *why = net->why;
        return NULL;
    }
    struct edges *e = allocate(1, sizeof *e);
    *e = *net->edges;
    e->end = allocate(e->n_edges, sizeof *e->end);
    memcpy(e->end, net->edges->end, e->n_edges * sizeof *e->end);
    return e;
}

/* Adds a remark to a note. */
__attribute__((format(printf, 2, 3))) static void remark(struct reason *note, const char *format,
                                                         ...) {
    const size_t used = strlen(note->text);
    va_list args;
    va_start(args, format);
    vsnprintf(note->text + used, sizeof note->text - used, format, args);
    va_end(args);
}

static bool note(const struct value *v, struct reason *text) {
    const struct network *net = network_of(v);
    const struct repairs *r = &net->repairs;
    if (!net->edges)
        return false;
    *text = (struct reason){""};
    if (r->mark)
        remark(text, "; a byte order mark is ignored");
    if (r->directed)
        remark(text, "; directed edges are taken as undirected");
    if (net->loops || net->doubles)
        remark(text, "; %llu loop%s and %llu double edge%s dropped", (unsigned long long)net->loops,
               net->loops == 1 ? "" : "s", (unsigned long long)net->doubles,
               net->doubles == 1 ? "" : "s");
    if (r->further)
        remark(text, "; columns after the second ignored");
    if (r->words)
        remark(text, "; ids are words, %llu vertices numbered in order of appearance",
               (unsigned long long)net->edges->n);
    else if (r->gaps)
        remark(text, "; ids run from %lld to %lld, %llu vertices numbered in order",
               (long long)r->least, (long long)r->greatest, (unsigned long long)net->edges->n);
    if (net->components > 1)
        remark(text,
               v[FILE_CONNECT].word ? "; cut down from %llu vertices in %llu components to %llu"
                                    : "; %llu vertices in %llu components, the largest of %llu",
               (unsigned long long)net->edges->n, (unsigned long long)net->components,
               (unsigned long long)net->measures[CONNECT_LARGEST].n);
    if (r->cut)
        remark(text, "; the last line has no end (is the file whole?)");
    if (!text->text[0])
        return false;
    const struct reason remarks = *text;
    struct text whole = {.file = v[FILE_PATH].file};
    text_refuse(&whole, text, "%s", remarks.text + 2);
    return true;
}

const struct topology topology_file = {
    .kind = {"file", "a network from a file", "", parameters, FILE_PARAMETERS},
    .describe = describe,
    .build = build,
    .note = note};
