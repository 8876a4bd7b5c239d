/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree is built from libyaml's events: depth and size are then limited before anything is
 * built, and an alias within its own anchor is seen at once. */
#include "yaml_tree.h"

#include "storage.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct anchor {
    struct anchor *next;
    const char *name;
    const struct node *node; /* NULL while it is being read */
};

struct tree {
    struct storage *storage;
    const struct node *root;
};

struct reading {
    yaml_parser_t parser;
    const char *path, *text, *end; /* the text, without its byte order mark */
    struct complaints *complaints;
    struct storage *storage;
    struct anchor *anchors; /* the latest first */
    unsigned nodes;
};

static struct place place_of(const struct reading *r, const yaml_mark_t *mark) {
    return (struct place){r->path, (uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
}

static struct place node_place(const struct reading *r, const struct node *n) {
    return (struct place){r->path, n->line, n->column};
}

/* Length of the character at p, 0 when it is not UTF-8 or not a character of YAML. */
static unsigned character_length(const unsigned char *p, size_t left) {
    if (*p < 0x80)
        return (*p >= 0x20 && *p != 0x7f) || *p == '\t' || *p == '\n' || *p == '\r';
    const unsigned n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4 || n > left)
        return 0;
    uint32_t c = *p & (0xffu >> (n + 1));
    for (unsigned i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = c >= 0xd800 && c <= 0xdfff;
    const bool control = (c < 0xa0 && c != 0x85) || c == 0xfeff || c == 0xfffe || c == 0xffff;
    return c < least[n] || c > 0x10ffff || surrogate || control ? 0 : n;
}

/* libyaml would say only that there is such a byte, not where. */
static bool check_characters(const struct reading *r) {
    struct place where = {r->path, 1, 1};
    if (r->end - r->text >= 4 && !memcmp(r->text, "\x89HDF", 4)) {
        complain(r->complaints, &where, "this is an HDF5 file, not a job file (try potluck show)");
        return false;
    }
    for (const char *p = r->text; p < r->end;) {
        const unsigned char c = (unsigned char)*p;
        const unsigned n = character_length((const unsigned char *)p, (size_t)(r->end - p));
        if (!n && c >= 0x20 && c != 0x7f)
            complain(r->complaints, &where, "not UTF-8 text (byte 0x%02x)", c);
        else if (!n)
            complain(r->complaints, &where, "a %s does not belong into a job file (byte 0x%02x)",
                     c ? "control character" : "NUL byte", c);
        if (!n)
            return false;
        where.column++;
        if (c == '\n' || (c == '\r' && !(p + 1 < r->end && p[1] == '\n'))) {
            where.line++;
            where.column = 1;
        }
        p += n;
    }
    return true;
}

/* The character libyaml stumbled over. Columns count characters, which before a tab that indents
 * are single bytes. */
static char character_at(const struct reading *r, const yaml_mark_t *mark) {
    const char *p = r->text;
    for (size_t line = 0; line < mark->line && p < r->end; line++) {
        while (p < r->end && *p != '\n' && *p != '\r')
            p++;
        if (r->end - p > 1 && p[0] == '\r' && p[1] == '\n')
            p++;
        if (p < r->end)
            p++;
    }
    return mark->column < (size_t)(r->end - p) ? p[mark->column] : '\0';
}

static void complain_syntax(struct reading *r) {
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        world_failed("out of memory");
    const struct place where = place_of(r, &p->problem_mark);
    const char *problem = p->problem ? p->problem : "this is not YAML";
    if (strstr(problem, "tab") || character_at(r, &p->problem_mark) == '\t')
        complain(r->complaints, &where, "a tab cannot indent (use spaces)");
    else if (p->context && p->context_mark.line != p->problem_mark.line)
        complain(r->complaints, &where, "%s (%s that begins on line %zu)", problem, p->context,
                 p->context_mark.line + 1);
    else if (p->context)
        complain(r->complaints, &where, "%s (%s)", problem, p->context);
    else
        complain(r->complaints, &where, "%s", problem);
}

static bool next_event(struct reading *r, yaml_event_t *event) {
    if (yaml_parser_parse(&r->parser, event))
        return true;
    complain_syntax(r);
    return false;
}

static const char *event_anchor(const yaml_event_t *e) {
    const yaml_char_t *name = e->type == YAML_SCALAR_EVENT           ? e->data.scalar.anchor
                              : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.anchor
                              : e->type == YAML_MAPPING_START_EVENT  ? e->data.mapping_start.anchor
                                                                     : NULL;
    return (const char *)name;
}

static const char *event_tag(const yaml_event_t *e) {
    const yaml_char_t *tag = e->type == YAML_SCALAR_EVENT           ? e->data.scalar.tag
                             : e->type == YAML_SEQUENCE_START_EVENT ? e->data.sequence_start.tag
                                                                    : e->data.mapping_start.tag;
    return (const char *)tag;
}

static struct node *new_node(struct reading *r, const yaml_event_t *e, unsigned depth) {
    const struct place where = place_of(r, &e->start_mark);
    if (depth > TREE_DEPTH_MAX) {
        complain(r->complaints, &where, "nested more than %d deep", TREE_DEPTH_MAX);
        return NULL;
    }
    if (++r->nodes > TREE_NODES_MAX) {
        complain(r->complaints, &where, "more than %d values in one file", TREE_NODES_MAX);
        return NULL;
    }
    struct node *n = storage_get(r->storage, 1, sizeof *n);
    n->line = where.line;
    n->column = where.column;
    n->height = 1;
    n->weight = 1;
    if (event_tag(e))
        complain(r->complaints, &where, "tags (%s) are not part of the job language", event_tag(e));
    return n;
}

static const struct node *read_node(struct reading *r, yaml_event_t *e, unsigned depth);

static const struct node *read_alias(struct reading *r, const yaml_event_t *e, unsigned depth) {
    const char *name = (const char *)e->data.alias.anchor;
    const struct place where = place_of(r, &e->start_mark);
    const struct anchor *a = r->anchors;
    while (a && strcmp(a->name, name))
        a = a->next;
    if (!a)
        complain(r->complaints, &where, "no anchor &%s before this *%s", name, name);
    else if (!a->node)
        complain(r->complaints, &where, "*%s stands within &%s itself", name, name);
    else if (depth + a->node->height - 1 > TREE_DEPTH_MAX)
        complain(r->complaints, &where, "nested more than %d deep", TREE_DEPTH_MAX);
    else
        return a->node;
    return NULL;
}

/* Children of a collection until its end event. */
struct children {
    const struct node **node;
    unsigned n, room;
};

static bool add_child(struct reading *r, struct children *c, struct node *parent,
                      const struct node *child) {
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 8;
        c->node = reallocate(c->node, c->room, sizeof *c->node);
    }
    c->node[c->n++] = child;
    parent->height = child->height >= parent->height ? child->height + 1 : parent->height;
    parent->weight += child->weight;
    if (parent->weight <= TREE_NODES_MAX)
        return true;
    const struct place where = node_place(r, child);
    complain(r->complaints, &where, "more than %d values, aliases written out", TREE_NODES_MAX);
    return false;
}

static bool read_children(struct reading *r, struct children *c, struct node *parent,
                          unsigned depth) {
    for (;;) {
        yaml_event_t e;
        if (!next_event(r, &e))
            return false;
        if (e.type == YAML_SEQUENCE_END_EVENT || e.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&e);
            return true;
        }
        const struct node *child = read_node(r, &e, depth + 1);
        if (!child || !add_child(r, c, parent, child))
            return false;
    }
}

static int compare_keys(const void *a, const void *b) {
    const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
    const int order = strcmp(x->text, y->text);
    if (order)
        return order;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->column > y->column) - (x->column < y->column);
}

static void complain_twice(struct reading *r, const struct node *mapping) {
    const struct node **sorted = storage_get(r->storage, mapping->n, sizeof(struct node *));
    if (mapping->n)
        memcpy(sorted, mapping->key, mapping->n * sizeof(struct node *));
    qsort(sorted, mapping->n, sizeof(struct node *), compare_keys);
    for (unsigned i = 1, first = 0; i < mapping->n; i++) {
        if (strcmp(sorted[i]->text, sorted[first]->text)) {
            first = i;
            continue;
        }
        const struct place where = node_place(r, sorted[i]);
        complain(r->complaints, &where, "key '%s' given twice (first on line %u)", sorted[i]->text,
                 sorted[first]->line);
    }
}

/* Splits keys from values; leaves out what can be no key. */
static void fill_mapping(struct reading *r, struct node *n, const struct children *c) {
    n->key = storage_get(r->storage, c->n / 2, sizeof(struct node *));
    n->item = storage_get(r->storage, c->n / 2, sizeof(struct node *));
    for (unsigned i = 0; i + 1 < c->n; i += 2) {
        const struct node *key = c->node[i];
        const struct place where = node_place(r, key);
        if (key->type != NODE_SCALAR) {
            complain(r->complaints, &where, "a key must be a word, not %s",
                     key->type == NODE_SEQUENCE ? "a list" : "a mapping");
        } else if (!key->text[0]) {
            complain(r->complaints, &where, "a key is missing before this colon");
        } else if (key->plain && !strcmp(key->text, "<<")) {
            complain(r->complaints, &where, "merge keys (<<) are not part of the job language");
        } else {
            n->key[n->n] = key;
            n->item[n->n++] = c->node[i + 1];
        }
    }
    complain_twice(r, n);
}

static void fill_scalar(struct reading *r, struct node *n, const yaml_event_t *e) {
    const char *text = (const char *)e->data.scalar.value;
    n->text = storage_text(r->storage, text, e->data.scalar.length);
    n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const struct place where = node_place(r, n);
    if (strlen(n->text) != e->data.scalar.length)
        complain(r->complaints, &where, "a NUL character does not belong into a job file");
}

/* Reads the node that begins with event e, which it deletes; NULL when reading cannot go on. */
static const struct node *read_node(struct reading *r, yaml_event_t *e, unsigned depth) {
    if (e->type == YAML_ALIAS_EVENT) {
        const struct node *shared = read_alias(r, e, depth);
        yaml_event_delete(e);
        return shared;
    }
    struct anchor *anchor = NULL;
    if (event_anchor(e)) {
        anchor = storage_get(r->storage, 1, sizeof *anchor);
        anchor->name = storage_text(r->storage, event_anchor(e), strlen(event_anchor(e)));
        anchor->next = r->anchors;
        r->anchors = anchor;
    }
    struct node *n = new_node(r, e, depth);
    bool good = n != NULL;
    if (n && e->type == YAML_SCALAR_EVENT) {
        fill_scalar(r, n, e);
    } else if (n) {
        struct children c = {0};
        n->type = e->type == YAML_MAPPING_START_EVENT ? NODE_MAPPING : NODE_SEQUENCE;
        good = read_children(r, &c, n, depth);
        if (good && n->type == NODE_MAPPING) {
            fill_mapping(r, n, &c);
        } else if (good) {
            n->n = c.n;
            n->item = storage_get(r->storage, c.n, sizeof(struct node *));
            if (c.n)
                memcpy(n->item, c.node, c.n * sizeof(struct node *));
        }
        free(c.node);
    }
    yaml_event_delete(e);
    if (anchor)
        anchor->node = n;
    return good ? n : NULL;
}

/* The stream: at most one document. */
static const struct node *read_stream(struct reading *r) {
    const struct node *root = NULL;
    for (bool more = true; more;) {
        yaml_event_t e;
        if (!next_event(r, &e))
            return NULL;
        const struct place where = place_of(r, &e.start_mark);
        more = e.type != YAML_STREAM_END_EVENT;
        if (e.type == YAML_DOCUMENT_START_EVENT && root) {
            complain(r->complaints, &where, "a second document begins (a job is one document)");
            yaml_event_delete(&e);
            return root;
        }
        if (e.type == YAML_STREAM_START_EVENT || e.type == YAML_DOCUMENT_START_EVENT ||
            e.type == YAML_DOCUMENT_END_EVENT || e.type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&e);
            continue;
        }
        root = read_node(r, &e, 1);
        if (!root)
            return NULL;
    }
    const struct place start = {r->path, 1, 1};
    if (!root)
        complain(r->complaints, &start, "the file is empty");
    return root;
}

struct tree *tree_read(const char *path, const char *text, size_t length,
                       struct complaints *complaints) {
    struct reading r = {.path = path, .text = text, .end = text + length, .complaints = complaints};
    const struct place start = {path, 1, 1};
    if (length > TREE_BYTES_MAX) {
        complain(complaints, &start, "larger than %d bytes (a job is a page of text)",
                 TREE_BYTES_MAX);
        return NULL;
    }
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        r.text += 3;
    if (!check_characters(&r))
        return NULL;
    if (!yaml_parser_initialize(&r.parser))
        world_failed("out of memory");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text,
                                 (size_t)(r.end - r.text));
    struct tree *y = allocate(1, sizeof *y);
    y->storage = r.storage = storage_new();
    y->root = read_stream(&r);
    yaml_parser_delete(&r.parser);
    if (y->root)
        return y;
    tree_free(y);
    return NULL;
}

const struct node *tree_root(const struct tree *y) {
    return y->root;
}

void tree_free(struct tree *y) {
    if (!y)
        return;
    storage_free(y->storage);
    free(y);
}

const struct node *node_get(const struct node *mapping, const char *key) {
    for (unsigned i = 0; i < mapping->n; i++)
        if (!strcmp(mapping->key[i]->text, key))
            return mapping->item[i];
    return NULL;
}

bool node_null(const struct node *node) {
    return node->type == NODE_SCALAR && node->plain &&
           (!node->text[0] || !strcmp(node->text, "~") || !strcmp(node->text, "null") ||
            !strcmp(node->text, "Null") || !strcmp(node->text, "NULL"));
}
