/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats.h"

#include "formats_parts.h"

#include <stdlib.h>
#include <string.h>

/* igraph's reason with the line it speaks of, if any, in front. */
static void place_reason(struct text *t, struct reason *why) {
    struct reason said = *why;
    said.text[strcspn(said.text, "\n")] = '\0';
    const char *at = strstr(said.text, "ine ");
    t->line =
        at && at > said.text && (at[-1] == 'l' || at[-1] == 'L') ? strtoull(at + 4, NULL, 10) : 0;
    text_refuse(t, why, "%s", said.text);
}

struct edges *format_read(const struct attachment *file, enum graph_format format,
                          struct repairs *repairs, struct reason *why) {
    static bool (*const check[])(struct text, struct census *, struct reason *) = {
        [FORMAT_GRAPHML] = graphml_check, [FORMAT_GML] = gml_check, [FORMAT_PAJEK] = pajek_check};
    struct text t;
    struct census c = {0, UINT64_MAX};
    /* Labels may be in any code; ids are compared byte for byte. */
    if (!text_open(file, true, &t, repairs, why) || !check[format](t, &c, why))
        return NULL;
    repairs->cut = repairs->cut && format == FORMAT_PAJEK; /* the others close what they open */
    struct edges *e = bridge_read(format, t.at, (size_t)(t.end - t.at), &repairs->directed, why);
    if (!e) {
        place_reason(&t, why);
        return NULL;
    }
    t.line = 0;
    if (e->n == c.vertices && e->n_edges > 0 && (c.edges == UINT64_MAX || c.edges == e->n_edges))
        return e;
    if (e->n_edges == 0)
        text_refuse(&t, why, "the graph has no edge");
    else
        text_refuse(&t, why,
                    "igraph finds %llu vertices and %llu edges where the file seems to have %llu "
                    "and %llu",
                    (unsigned long long)e->n, (unsigned long long)e->n_edges,
                    (unsigned long long)c.vertices, (unsigned long long)c.edges);
    edges_free(e);
    return NULL;
}
