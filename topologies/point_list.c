/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "point_list.h"

#include "network.h"

#include <stdlib.h>
#include <string.h>

static void release(void *parsed) {
    struct point_list *p = parsed;
    if (!p)
        return;
    free(p->x);
    free(p->y);
    free(p);
}

static bool is_comment(const struct text *t) {
    return *t->at == '#' || *t->at == '%' || (*t->at == '/' && t->at[1] == '/');
}

/* Nothing more on this line. A text ends with a zero byte. */
static bool at_end(const struct text *t) {
    return text_at_end_of_line(t) || is_comment(t);
}

static void skip_line(struct text *t) {
    while (!text_at_end_of_line(t))
        t->at++;
    text_end_of_line(t);
}

/* A decimal number: strtod() would take hexadecimal ones and words as well. */
static bool read_coordinate(struct text *t, uint32_t *coordinate, struct reason *why) {
    const size_t length = strspn(t->at, "0123456789+-.eE"), word = strcspn(t->at, " \t\r\n,;");
    char *end = NULL;
    const double value = length > 0 ? strtod(t->at, &end) : -1;
    if (end != t->at + length || !(value >= 0 && value <= 1))
        return text_refuse(t, why, "'%.*s' is no coordinate (allowed: numbers from 0 to 1)",
                           word < 40 ? (int)word : 40, t->at);
    t->at = end;
    *coordinate = (uint32_t)(value * 0x1p31);
    return true;
}

static bool read_point(struct text *t, struct point_list *p, struct reason *why) {
    if (!read_coordinate(t, &p->x[p->n], why))
        return false;
    text_blanks(t);
    if (*t->at == ',' || *t->at == ';')
        t->at++;
    text_blanks(t);
    if (at_end(t))
        return text_refuse(t, why, "one number where a point needs two");
    if (!read_coordinate(t, &p->y[p->n], why))
        return false;
    text_blanks(t);
    if (!at_end(t))
        return text_refuse(t, why, "more than the x and y of a point");
    p->n++;
    return true;
}

static bool read_points(struct point_list *p, const struct attachment *file, struct reason *why) {
    struct repairs repairs;
    struct text t;
    if (file->length == 0)
        return refuse(why, "%s: the file is empty", file->name);
    if (!text_open(file, true, &t, &repairs, why))
        return false;
    uint64_t room = 0;
    while (t.at < t.end) {
        text_blanks(&t);
        if (at_end(&t)) {
            skip_line(&t);
            continue;
        }
        if (p->n == SERVERS_MAX)
            return text_refuse(&t, why, "more than %u points", SERVERS_MAX);
        if (p->n == room) {
            room = room ? 2 * room : 1024;
            p->x = reallocate(p->x, room, sizeof *p->x);
            p->y = reallocate(p->y, room, sizeof *p->y);
        }
        if (!read_point(&t, p, why))
            return false;
        skip_line(&t);
    }
    return p->n > 0 || text_refuse(&t, why, "the file ends without a point");
}

const struct point_list *point_list_of(struct attachment *file, struct reason *why) {
    if (file->parsed && file->release == release)
        return file->parsed;
    struct point_list *p = allocate(1, sizeof *p);
    if (!read_points(p, file, why)) {
        release(p);
        return NULL;
    }
    if (file->parsed) /* by somebody who took it for something else */
        file->release(file->parsed);
    file->parsed = p;
    file->release = release;
    return p;
}
