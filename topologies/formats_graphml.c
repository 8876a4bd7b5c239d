/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GraphML: igraph adds vertices that only edges name, merges nodes of one id, reads the first of
 * several graphs, leaves out hyperedges, all without a word; and entities of a document type may
 * grow without limit. */
#include "formats_parts.h"
#include "names.h"

#include <string.h>

struct tag {
    const char *name, *rest; /* rest: attributes, up to `end` */
    uint32_t length;
    const char *end;
    uint64_t line;
    bool closing;
};

/* Goes past the next `mark`; false when there is none. */
static bool skip_past(struct text *t, const char *mark) {
    const size_t length = strlen(mark);
    while (t->at < t->end) {
        if ((size_t)(t->end - t->at) >= length && !memcmp(t->at, mark, length)) {
            t->at += length;
            return true;
        }
        if (!text_end_of_line(t))
            t->at++;
    }
    return false;
}

static bool begins(const struct text *t, const char *with) {
    const size_t length = strlen(with);
    return (size_t)(t->end - t->at) >= length && !memcmp(t->at, with, length);
}

static bool is_name(char c) {
    return (unsigned char)c > ' ' && c != '>' && c != '/' && c != '=';
}

/* To the '>' of a tag, which may stand within quotes as well. */
static bool find_end(struct text *t) {
    char quote = '\0';
    while (t->at < t->end && (quote || *t->at != '>')) {
        if (quote ? *t->at == quote : *t->at == '"' || *t->at == '\'')
            quote = quote ? '\0' : *t->at;
        if (!text_end_of_line(t))
            t->at++;
    }
    return t->at < t->end;
}

/* The next tag of an element. At the end of the text its name is NULL. */
static bool next_tag(struct text *t, struct tag *tag, struct reason *why) {
    for (;;) {
        *tag = (struct tag){.name = NULL};
        if (!skip_past(t, "<"))
            return true;
        tag->line = t->line;
        struct text opened = *t;
        bool closed = true;
        if (begins(t, "!--"))
            closed = skip_past(t, "-->");
        else if (begins(t, "![CDATA["))
            closed = skip_past(t, "]]>");
        else if (begins(t, "?"))
            closed = skip_past(t, "?>");
        else if (begins(t, "!"))
            return text_refuse(t, why, "document types and entities are not read (<!DOCTYPE)");
        else
            break;
        if (!closed)
            return text_refuse(&opened, why, "a comment or the like is opened and not closed");
    }
    tag->closing = *t->at == '/';
    t->at += tag->closing;
    tag->name = t->at;
    while (t->at < t->end && is_name(*t->at)) {
        if (*t->at == ':') /* of a name space */
            tag->name = t->at + 1;
        t->at++;
    }
    tag->length = (uint32_t)(t->at - tag->name);
    tag->rest = t->at;
    struct text opened = *t;
    if (!find_end(t))
        return text_refuse(&opened, why, "the file ends within a tag");
    tag->end = t->at;
    return true;
}

static bool is_tag(const struct tag *tag, const char *name) {
    return tag->length == strlen(name) && !memcmp(tag->name, name, tag->length);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The value of an attribute; NULL when the tag has none of that name. */
static const char *attribute(const struct tag *tag, const char *wanted, uint32_t *length) {
    for (const char *at = tag->rest; at < tag->end;) {
        while (at < tag->end && !is_name(*at))
            at++;
        const char *name = at;
        while (at < tag->end && is_name(*at))
            at++;
        const size_t size = (size_t)(at - name);
        while (at < tag->end && (is_blank(*at) || *at == '='))
            at++;
        if (at == tag->end || (*at != '"' && *at != '\''))
            continue;
        const char *value = at + 1, *close = memchr(value, *at, (size_t)(tag->end - value));
        if (!close)
            return NULL;
        if (size == strlen(wanted) && !memcmp(name, wanted, size)) {
            *length = (uint32_t)(close - value);
            return value;
        }
        at = close + 1;
    }
    return NULL;
}

static bool add_node(struct text *t, const struct tag *tag, struct names *nodes,
                     struct reason *why) {
    uint32_t length = 0;
    const char *id = attribute(tag, "id", &length);
    const uint32_t before = nodes->n;
    if (!id)
        return text_refuse(t, why, "a node without id");
    if (names_add(nodes, id, length) == NAME_NONE)
        return text_refuse(t, why, "more than %u nodes", SERVERS_MAX);
    return nodes->n > before ||
           text_refuse(t, why, "node '%.*s' a second time", length < 60 ? (int)length : 60, id);
}

/* All nodes, one graph, no hyperedge, and the end. */
static bool read_nodes(struct text t, struct names *nodes, struct reason *why) {
    struct tag tag;
    bool graph = false, closed = false;
    while (next_tag(&t, &tag, why)) {
        struct text place = t;
        place.line = tag.line;
        if (!tag.name && !graph)
            return text_refuse(&t, why, "there is no <graph>: this is not GraphML");
        if (!tag.name)
            return closed || text_refuse(&t, why, "the file ends before </graphml>");
        closed = closed || (tag.closing && is_tag(&tag, "graphml"));
        if (tag.closing)
            continue;
        if (is_tag(&tag, "graph") && graph)
            return text_refuse(&place, why, "a second <graph> (one to a file)");
        graph = graph || is_tag(&tag, "graph");
        if (is_tag(&tag, "hyperedge"))
            return text_refuse(&place, why, "hyperedges are no edges");
        if (is_tag(&tag, "node") && !add_node(&place, &tag, nodes, why))
            return false;
    }
    return false;
}

/* Edges join nodes that there are. */
static bool read_edges(struct text t, const struct names *nodes, uint64_t *edges,
                       struct reason *why) {
    static const char *const ends[2] = {"source", "target"};
    struct tag tag;
    while (next_tag(&t, &tag, why)) {
        if (!tag.name)
            return true;
        if (tag.closing || !is_tag(&tag, "edge"))
            continue;
        struct text place = t;
        place.line = tag.line;
        for (unsigned side = 0; side < 2; side++) {
            uint32_t length = 0;
            const char *id = attribute(&tag, ends[side], &length);
            if (!id)
                return text_refuse(&place, why, "an edge without %s", ends[side]);
            if (names_find(nodes, id, length) == NAME_NONE)
                return text_refuse(&place, why, "%s '%.*s' is no node of the file", ends[side],
                                   length < 60 ? (int)length : 60, id);
        }
        ++*edges;
    }
    return false;
}

bool graphml_check(struct text t, struct census *c, struct reason *why) {
    struct names nodes = {0};
    c->edges = 0;
    const bool good = read_nodes(t, &nodes, why) && read_edges(t, &nodes, &c->edges, why);
    c->vertices = nodes.n;
    names_free(&nodes);
    return good;
}
