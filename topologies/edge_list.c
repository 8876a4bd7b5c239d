/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph's own reader knows no comments and no words, makes a vertex of every number up to the
 * largest id, and does not say where a mistake is. */
#include "edge_list.h"

#include "names.h"

#include <stdlib.h>
#include <string.h>

enum { ID_BYTES_MAX = 1000 };

struct list {
    struct text text;
    struct repairs *repairs;
    struct reason *why;
    struct names names;
    struct edges *edges;
    uint64_t room;
    uint64_t first_line; /* the first that has ids, 0: none yet */
    bool words_first;    /* words on that line */
    bool words_later;
};

/* A piece of the text. */
struct piece {
    const char *text;
    uint32_t length;
};

/* Optional minus and digits, at most 64 bits with sign. */
static bool whole_number(struct piece p, int64_t *value, bool *too_large) {
    const bool minus = p.length > 1 && p.text[0] == '-';
    uint64_t sum = 0;
    *too_large = false;
    for (uint32_t i = minus; i < p.length; i++) {
        const unsigned digit = (unsigned)(unsigned char)p.text[i] - '0';
        if (digit > 9)
            return false;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum) ||
            sum > INT64_MAX) {
            *too_large = true;
            sum = 0;
        }
    }
    *value = minus ? -(int64_t)sum : (int64_t)sum;
    return p.length > 0;
}

static bool is_comment(const struct text *t) {
    const bool slashes = t->end - t->at > 1 && t->at[0] == '/' && t->at[1] == '/';
    return t->at < t->end && (*t->at == '#' || *t->at == '%' || slashes);
}

static void skip_line(struct text *t) {
    while (!text_at_end_of_line(t))
        t->at++;
    text_end_of_line(t);
}

static bool is_separator(char c) {
    return c == ',' || c == ';';
}

/* An id, perhaps within quotes; its length is 0 where there is none. */
static bool read_id(struct list *l, struct piece *id) {
    struct text *t = &l->text;
    const bool quoted = t->at < t->end && *t->at == '"';
    t->at += quoted;
    const char *start = t->at;
    if (quoted)
        while (!text_at_end_of_line(t) && *t->at != '"')
            t->at++;
    else if (!is_comment(t))
        while (!text_at_end_of_line(t) && (unsigned char)*t->at > ' ' && !is_separator(*t->at))
            t->at++;
    const size_t length = (size_t)(t->at - start);
    if (length > ID_BYTES_MAX)
        return text_refuse(t, l->why, "an id of %zu bytes (at most %d)", length, ID_BYTES_MAX);
    *id = (struct piece){start, (uint32_t)length};
    if (!quoted)
        return true;
    if (t->at == t->end || *t->at != '"')
        return text_refuse(t, l->why, "a quote is opened and not closed");
    if (length == 0)
        return text_refuse(t, l->why, "an empty id");
    t->at++;
    return true;
}

/* Blanks with at most one comma or semicolon among them. */
static void skip_separator(struct text *t) {
    text_blanks(t);
    if (t->at < t->end && is_separator(*t->at))
        t->at++;
    text_blanks(t);
}

static bool note_kind(struct list *l, struct piece id) {
    int64_t value;
    bool too_large;
    const bool number = whole_number(id, &value, &too_large);
    if (number && too_large)
        return text_refuse(&l->text, l->why, "id %.*s%s is too large (at most 2^63 - 1)",
                           id.length > 40 ? 40 : (int)id.length, id.text,
                           id.length > 40 ? ".." : "");
    if (l->first_line == l->text.line)
        l->words_first |= !number;
    else
        l->words_later |= !number;
    return true;
}

static bool read_edge(struct list *l) {
    struct text *t = &l->text;
    struct piece id[2];
    uint32_t vertex[2];
    if (!l->first_line)
        l->first_line = t->line;
    for (unsigned side = 0; side < 2; side++) {
        if (!read_id(l, &id[side]))
            return false;
        if (id[side].length == 0 && t->at < t->end && is_separator(*t->at))
            return text_refuse(t, l->why, "an empty column where an id belongs");
        if (id[side].length == 0)
            return text_refuse(t, l->why, "one id where an edge needs two");
        if (!note_kind(l, id[side]))
            return false;
        skip_separator(t);
    }
    for (unsigned side = 0; side < 2; side++) {
        vertex[side] = names_add(&l->names, id[side].text, id[side].length);
        if (vertex[side] == NAME_NONE)
            return text_refuse(t, l->why, "more than %u ids", SERVERS_MAX);
    }
    edges_add(l->edges, &l->room, vertex[0], vertex[1]);
    l->repairs->further |= !text_at_end_of_line(t) && !is_comment(t);
    skip_line(t);
    return true;
}

/* Other formats that would pass for a list, or whose first line would be blamed. */
static bool other_format(struct list *l) {
    static const struct {
        const char *start, *name;
    } other[] = {{"<", "XML (format: graphml reads GraphML)"},
                 {"*Vertices", "a Pajek file (format: pajek)"},
                 {"*vertices", "a Pajek file (format: pajek)"},
                 {"*Network", "a Pajek file (format: pajek)"},
                 {"graph [", "a GML file (format: gml)"},
                 {"Creator \"", "a GML file (format: gml)"},
                 {"%%MatrixMarket", "a Matrix Market file (write its entries as plain pairs)"},
                 {"\x89HDF", "an HDF5 file"}};
    for (unsigned i = 0; i < sizeof other / sizeof other[0]; i++) {
        const size_t length = strlen(other[i].start);
        if ((size_t)(l->text.end - l->text.at) >= length &&
            !memcmp(l->text.at, other[i].start, length))
            return !text_refuse(&l->text, l->why, "no list of edges but %s", other[i].name);
    }
    return false;
}

static bool read_lines(struct list *l) {
    struct text *t = &l->text;
    if (other_format(l))
        return false;
    while (t->at < t->end) {
        text_blanks(t);
        if (is_comment(t))
            skip_line(t);
        else if (!text_end_of_line(t) && t->at < t->end && !read_edge(l))
            return false;
    }
    if (!l->edges->n_edges)
        return text_refuse(t, l->why, "the file ends without an edge");
    if (l->words_first && !l->words_later && l->edges->n_edges > 1) {
        t->line = l->first_line;
        return text_refuse(t, l->why,
                           "a word among whole numbers: is this line a header? (put # before it)");
    }
    return true;
}

struct numbered {
    int64_t id;
    uint32_t name;
};

static int rising_ids(const void *a, const void *b) {
    const struct numbered *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Vertices in rising order of ids; 7 and 007 are one. */
static void number_by_id(struct list *l) {
    const uint32_t n = l->names.n;
    struct numbered *all = allocate(n, sizeof *all);
    uint32_t *vertex = allocate(n, sizeof *vertex);
    for (uint32_t i = 0; i < n; i++) {
        bool too_large;
        whole_number((struct piece){l->names.name[i].text, l->names.name[i].length}, &all[i].id,
                     &too_large);
        all[i].name = i;
    }
    qsort(all, n, sizeof *all, rising_ids);
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        last += i > 0 && all[i].id != all[i - 1].id;
        vertex[all[i].name] = last;
    }
    for (uint64_t i = 0; i < l->edges->n_edges; i++)
        for (unsigned side = 0; side < 2; side++)
            l->edges->end[i][side] = vertex[l->edges->end[i][side]];
    l->edges->n = (uint64_t)last + 1;
    l->repairs->least = all[0].id;
    l->repairs->greatest = all[n - 1].id;
    l->repairs->gaps = all[0].id != 0 || all[n - 1].id != (int64_t)last;
    free(all);
    free(vertex);
}

struct edges *edge_list_read(const struct attachment *file, struct repairs *repairs,
                             struct reason *why) {
    struct list l = {.repairs = repairs, .why = why, .edges = edges_new()};
    const bool good = text_open(file, false, &l.text, repairs, why) && read_lines(&l);
    repairs->words = l.words_first || l.words_later;
    if (good && repairs->words)
        l.edges->n = l.names.n;
    else if (good)
        number_by_id(&l);
    names_free(&l.names);
    if (good)
        return l.edges;
    edges_free(l.edges);
    return NULL;
}
