/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GML: igraph reads the first of several graphs without a word. Pajek: it names no line where a
 * vertex does not exist, takes a matrix with rows too short, and makes room for as many vertices as
 * the first line says. */
#include "formats_parts.h"

#include <string.h>
#include <strings.h>

/* Past a quoted text, which may go on for lines. */
static void skip_quoted(struct text *t) {
    t->at++;
    while (t->at < t->end && *t->at != '"')
        if (!text_end_of_line(t))
            t->at++;
    t->at += t->at < t->end;
}

static void skip_line(struct text *t) {
    while (!text_at_end_of_line(t))
        t->at++;
}

struct word {
    const char *text;
    size_t length;
};

/* What stands before the next blank; GML: or bracket. */
static struct word next_word(struct text *t, const char *stops) {
    const char *start = t->at;
    while (t->at < t->end && (unsigned char)*t->at > ' ' && !strchr(stops, *t->at))
        t->at++;
    return (struct word){start, (size_t)(t->at - start)};
}

static bool is_word(struct word w, const char *text) {
    return w.length == strlen(text) && !strncasecmp(w.text, text, w.length);
}

/* A key at some depth of brackets. */
static bool count_key(struct text *t, struct word key, int64_t depth, struct census *c, bool *graph,
                      struct reason *why) {
    if (depth == 0 && is_word(key, "graph")) {
        if (*graph)
            return text_refuse(t, why, "a second graph (one to a file)");
        *graph = true;
    }
    c->vertices += depth == 1 && is_word(key, "node");
    c->edges += depth == 1 && is_word(key, "edge");
    return true;
}

bool gml_check(struct text t, struct census *c, struct reason *why) {
    int64_t depth = 0;
    bool graph = false, fresh_line = true;
    *c = (struct census){0};
    while (t.at < t.end) {
        text_blanks(&t);
        if (text_end_of_line(&t)) {
            fresh_line = true;
            continue;
        }
        if (t.at == t.end)
            break;
        if (*t.at == '#' && fresh_line)
            skip_line(&t);
        else if (*t.at == '"')
            skip_quoted(&t);
        else if (*t.at == '[' || *t.at == ']')
            depth += *t.at++ == '[' ? 1 : -1;
        else if (!count_key(&t, next_word(&t, "[]\""), depth, c, &graph, why))
            return false;
        fresh_line = false;
    }
    return graph || text_refuse(&t, why, "there is no graph: this is not GML");
}

enum section { SECTION_NONE, SECTION_VERTICES, SECTION_EDGES, SECTION_LISTS, SECTION_MATRIX };

struct pajek {
    struct text text;
    struct reason *why;
    uint64_t vertices, rows;
    enum section section;
};

/* A whole number, at most 2^63; 0 when it is none. */
static uint64_t number_of(struct word w) {
    uint64_t value = 0;
    for (size_t i = 0; i < w.length; i++) {
        if (w.text[i] < '0' || w.text[i] > '9')
            return 0;
        value = value < (uint64_t)1 << 59 ? 10 * value + (uint64_t)(w.text[i] - '0') : value;
    }
    return value;
}

static bool read_vertices(struct pajek *p) {
    enum { FEW = 1000000 }; /* vertices that any file may have without a line for each */
    struct text *t = &p->text;
    text_blanks(t);
    const struct word w = next_word(t, "");
    const uint64_t n = number_of(w), bytes = p->text.file->length;
    if (p->vertices)
        return text_refuse(t, p->why, "*Vertices a second time (one network to a file)");
    if (n == 0)
        return text_refuse(t, p->why, "*Vertices must be followed by their number, not '%.*s'",
                           w.length < 40 ? (int)w.length : 40, w.text);
    if (n > SERVERS_MAX || (n > FEW && n > bytes))
        return text_refuse(t, p->why, "%llu vertices in a file of %llu bytes",
                           (unsigned long long)n, (unsigned long long)bytes);
    p->vertices = n;
    p->section = SECTION_VERTICES;
    return true;
}

static bool begin_section(struct pajek *p) {
    const struct word w = next_word(&p->text, "");
    p->section = SECTION_NONE; /* igraph knows what to say of others */
    if (is_word(w, "*vertices"))
        return read_vertices(p);
    if (!p->vertices && !is_word(w, "*network"))
        return text_refuse(&p->text, p->why, "*Vertices must come first");
    if (is_word(w, "*edges") || is_word(w, "*arcs"))
        p->section = SECTION_EDGES;
    if (is_word(w, "*edgeslist") || is_word(w, "*arcslist"))
        p->section = SECTION_LISTS;
    if (is_word(w, "*matrix"))
        p->section = SECTION_MATRIX;
    return true;
}

/* Vertices that a line of the section names at its beginning. */
static bool read_ids(struct pajek *p, unsigned least, unsigned most) {
    struct text *t = &p->text;
    unsigned found = 0;
    for (; found < most && !text_at_end_of_line(t); text_blanks(t)) {
        const struct word w = next_word(t, "");
        const uint64_t id = number_of(w);
        if (id == 0 || id > p->vertices)
            return text_refuse(t, p->why, "'%.*s' is no vertex (they are 1 to %llu)",
                               w.length < 40 ? (int)w.length : 40, w.text,
                               (unsigned long long)p->vertices);
        found++;
    }
    return found >= least || text_refuse(t, p->why, "one id where an edge needs two");
}

static bool read_row(struct pajek *p) {
    struct text *t = &p->text;
    uint64_t found = 0;
    for (; !text_at_end_of_line(t); text_blanks(t), found++)
        next_word(t, "");
    p->rows++;
    return (found == p->vertices && p->rows <= p->vertices) ||
           text_refuse(t, p->why,
                       "row %llu of the matrix has %llu entries; %llu rows of %llu belong",
                       (unsigned long long)p->rows, (unsigned long long)found,
                       (unsigned long long)p->vertices, (unsigned long long)p->vertices);
}

static bool read_line(struct pajek *p) {
    if (*p->text.at == '*')
        return begin_section(p);
    switch (p->section) {
    case SECTION_VERTICES:
        return read_ids(p, 1, 1);
    case SECTION_EDGES:
        return read_ids(p, 2, 2);
    case SECTION_LISTS:
        return read_ids(p, 2, UINT32_MAX);
    case SECTION_MATRIX:
        return read_row(p);
    case SECTION_NONE:
        break;
    }
    return true;
}

bool pajek_check(struct text t, struct census *c, struct reason *why) {
    struct pajek p = {.text = t, .why = why};
    for (; p.text.at < p.text.end; text_end_of_line(&p.text)) {
        text_blanks(&p.text);
        if (!text_at_end_of_line(&p.text) && *p.text.at != '%' && !read_line(&p))
            return false;
        skip_line(&p.text);
    }
    c->vertices = p.vertices;
    if (!p.vertices)
        return text_refuse(&p.text, why, "there is no *Vertices: this is not Pajek's format");
    return p.rows == 0 || p.rows == p.vertices ||
           text_refuse(&p.text, why, "the matrix ends after %llu of %llu rows",
                       (unsigned long long)p.rows, (unsigned long long)p.vertices);
}
