/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * YAML text as a tree in which every node knows its place. The subset a job needs: one document, no
 * tags, no merge keys, keys that are words; anchors and aliases work. yaml.c is the only unit that
 * knows libyaml (whose own header has the name this one would have). */
#ifndef POTLUCK_YAML_TREE_H
#define POTLUCK_YAML_TREE_H

#include "fail.h"

enum node_type { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

/* An aliased node is shared: its place is where the anchor stands. */
struct node {
    enum node_type type;
    bool plain;               /* scalar, neither quoted nor a block of text */
    uint32_t line, column;    /* from 1, columns in characters */
    const char *text;         /* scalar */
    unsigned n;               /* items of a sequence, pairs of a mapping */
    const struct node **item; /* sequence: its items; mapping: the values */
    const struct node **key;  /* mapping: scalars, no two of the same text */
    unsigned height;          /* levels below and including this one */
    uint64_t weight;          /* nodes below and including this one, aliases written out */
};

enum { TREE_DEPTH_MAX = 32, TREE_NODES_MAX = 1000000, TREE_BYTES_MAX = 1 << 23 };

struct tree;

/* Reads `length` bytes of text that go by the name `path` (borrowed). NULL when they are no YAML.
 * When there are lesser mistakes (a key given twice, ...) the tree is returned all the same;
 * complaints->count tells. */
struct tree *tree_read(const char *path, const char *text, size_t length,
                       struct complaints *complaints);
const struct node *tree_root(const struct tree *y);
void tree_free(struct tree *y);

/* The value of a key, or NULL. */
const struct node *node_get(const struct node *mapping, const char *key);
/* An empty value, null or ~. */
bool node_null(const struct node *node);

#endif
