/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What readers of network files share: their complaints, and what they put up with. */
#ifndef POTLUCK_NETWORK_H
#define POTLUCK_NETWORK_H

#include "topology.h"

/* What a reader found odd and read all the same. */
struct repairs {
    bool mark;               /* a byte order mark at the beginning */
    bool cut;                /* the last line has no end */
    bool further;            /* edge lists: columns after the second */
    bool directed;           /* edges have directions, which are dropped */
    bool words;              /* edge lists: some ids are no whole numbers */
    bool gaps;               /* edge lists: ids are whole numbers, but not 0 .. n - 1 */
    int64_t least, greatest; /* with gaps */
};

/* A text, read from its front. */
struct text {
    const struct attachment *file;
    const char *at, *end;
    uint64_t line; /* from 1; 0: none in particular */
};

/* The text of a file behind its byte order mark. False, with a reason, when there are NUL or other
 * control characters in it or, unless `any`, when it is not UTF-8. */
bool text_open(const struct attachment *file, bool any, struct text *t, struct repairs *repairs,
               struct reason *why);
/* Writes "net.edges:17: ..." (or "net.edges: ...") and returns false. */
bool text_refuse(const struct text *t, struct reason *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Goes past the end of a line, which is CR, LF or both, if the text stands at one. */
bool text_end_of_line(struct text *t);
static inline bool text_at_end_of_line(const struct text *t) {
    return t->at == t->end || *t->at == '\n' || *t->at == '\r';
}
/* Goes past spaces and tabs. */
void text_blanks(struct text *t);

/* Edges that become more. Free `edges` with edges_free(). */
struct edges *edges_new(void);
void edges_add(struct edges *e, uint64_t *room, uint32_t u, uint32_t v);

#endif
