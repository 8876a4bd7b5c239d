/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tree{n, children} and star{n}: the parent of server x > 0 is (x - 1) / children, so levels fill
 * from the left; a star is the tree in which server 0 has all the others for children. */
#include "igraph_bridge.h"
#include "topology.h"

static const struct parameter star_parameters[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .units = "server",
     .meaning = "number of servers; server 0 is the centre"},
};
static const struct parameter tree_parameters[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .units = "server",
     .meaning = "number of servers; server 0 is the root"},
    {.name = "children",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .standard = "2",
     .units = "server",
     .meaning = "children of an inner server"},
};

/* Hops from the deepest server on the left to the deepest one under another child of the root. */
static uint64_t tree_diameter(uint64_t n, uint64_t children) {
    uint64_t depth = 0, first = 0,
             width = 1; /* level `depth` starts at `first` and has room for `width` */
    while (n - first > width) {
        first += width;
        width *= children;
        depth++;
    }
    if (depth == 0)
        return 0;
    return n - first > width / children ? 2 * depth : 2 * depth - 1;
}

static void describe_any(uint64_t n, uint64_t children, struct space *s) {
    if (children == 1 || n <= 2) { /* a path, whose vertices stand in the same order */
        *s = (struct space){
            .form = FORM_LATTICE, .n = n, .diameter = n - 1, .dims = n > 1, .side = {(uint32_t)n}};
        s->transitive = n <= 2;
        return;
    }
    *s = (struct space){.form = FORM_TREE, .n = n, .children = (uint32_t)children};
    s->diameter = tree_diameter(n, children);
}

static bool describe_star(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    (void)why, (void)at;
    describe_any(v[0].count, v[0].count > 2 ? v[0].count - 1 : 2, s);
    return true;
}
static bool describe_tree(const struct value *v, struct space *s, struct reason *why,
                          unsigned *at) {
    (void)why, (void)at;
    describe_any(v[0].count, v[1].count, s);
    return true;
}

static struct edges *build_star(const struct value *v, struct stream words, uint32_t attempt,
                                struct reason *why) {
    (void)words, (void)attempt;
    return bridge_star(v[0].count, why);
}
static struct edges *build_tree(const struct value *v, struct stream words, uint32_t attempt,
                                struct reason *why) {
    (void)words, (void)attempt;
    return bridge_tree(v[0].count, v[1].count, why);
}

const struct topology topology_star = {
    .kind = {"star", "a centre joined to everybody else", "", star_parameters, 1},
    .describe = describe_star,
    .build = build_star};
const struct topology topology_tree = {
    .kind = {"tree", "rooted tree whose levels fill from the left", "", tree_parameters, 2},
    .describe = describe_tree,
    .build = build_tree};
