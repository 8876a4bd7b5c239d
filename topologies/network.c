/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "network.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool text_refuse(const struct text *t, struct reason *why, const char *format, ...) {
    enum { NAME_SHOWN = 120 };
    char sentence[sizeof why->text];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    const char *name = t->file->name;
    const size_t length = strlen(name);
    const bool long_name = length > NAME_SHOWN;
    refuse(why, "%s%s:", long_name ? ".." : "", long_name ? name + length - NAME_SHOWN : name);
    size_t used = strlen(why->text);
    if (t->line)
        used += (size_t)snprintf(why->text + used, sizeof why->text - used,
                                 "%llu:", (unsigned long long)t->line);
    snprintf(why->text + used, sizeof why->text - used, " %s", sentence);
    return false;
}

/* Length of the UTF-8 character at p, 0 when it is none. */
static unsigned character(const unsigned char *p, size_t left) {
    const unsigned n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4 || n > left)
        return 0;
    for (unsigned i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
    const bool beyond = (*p == 0xed && p[1] >= 0xa0) || (*p == 0xf4 && p[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

bool text_end_of_line(struct text *t) {
    if (t->at == t->end || (*t->at != '\n' && *t->at != '\r'))
        return false;
    t->at += t->end - t->at > 1 && t->at[0] == '\r' && t->at[1] == '\n' ? 2 : 1;
    t->line++;
    return true;
}

void text_blanks(struct text *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\v' || *t->at == '\f'))
        t->at++;
}

static bool check_characters(struct text t, bool any, struct reason *why) {
    while (t.at < t.end) {
        const unsigned char c = (unsigned char)*t.at;
        if (c >= ' ' && c < 0x7f) {
            t.at++;
        } else if (c >= 0x80) {
            const unsigned n =
                any ? 1 : character((const unsigned char *)t.at, (size_t)(t.end - t.at));
            if (!n)
                return text_refuse(&t, why, "not UTF-8 text (byte 0x%02x)", c);
            t.at += n;
        } else if (!text_end_of_line(&t)) {
            if (c != '\t' && c != '\v' && c != '\f')
                return text_refuse(&t, why, "a %s (byte 0x%02x): this is not text",
                                   c ? "control character" : "NUL byte", c);
            t.at++;
        }
    }
    return true;
}

bool text_open(const struct attachment *file, bool any, struct text *t, struct repairs *repairs,
               struct reason *why) {
    *t = (struct text){file, file->bytes, file->bytes + file->length, 1};
    *repairs = (struct repairs){.cut = t->end[-1] != '\n' && t->end[-1] != '\r'};
    if (file->length >= 2 && (!memcmp(t->at, "\xff\xfe", 2) || !memcmp(t->at, "\xfe\xff", 2)))
        return text_refuse(t, why, "UTF-16 text (save it as UTF-8)");
    repairs->mark = file->length >= 3 && !memcmp(t->at, "\xef\xbb\xbf", 3);
    t->at += repairs->mark ? 3 : 0;
    return check_characters(*t, any, why);
}

struct edges *edges_new(void) {
    return allocate(1, sizeof(struct edges));
}

void edges_add(struct edges *e, uint64_t *room, uint32_t u, uint32_t v) {
    if (e->n_edges == *room) {
        *room = *room ? 2 * *room : 1024;
        e->end = reallocate(e->end, *room, sizeof *e->end);
    }
    e->end[e->n_edges][0] = u;
    e->end[e->n_edges++][1] = v;
}
