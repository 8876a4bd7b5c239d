/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fail.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*end_program)(int code) = _Exit;

static void (*tidy_up)(void);

void before_failure(void (*tidy)(void)) {
    tidy_up = tidy;
}

void on_failure(void (*end)(int code)) {
    end_program = end ? end : _Exit;
}

bool is_users_error(int error) {
    static const int users[] = {ENOENT, ENOTDIR, EISDIR, EACCES,      EPERM,
                                EROFS,  ELOOP,   EINVAL, ENAMETOOLONG};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if (error == users[i])
            return true;
    return false;
}

/* Of several threads that fail one speaks and ends the program; the others wait for that. */
static void take_the_word(void) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static _Thread_local bool mine;
    while (!mine && atomic_flag_test_and_set(&taken))
        pause();
    mine = true;
}

void world_failed(const char *format, ...) {
    va_list args;
    take_the_word();
    va_start(args, format);
    fputs("potluck: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fflush(stderr);
    if (tidy_up)
        tidy_up();
    end_program(EXIT_WORLD);
    abort(); /* the way to end came back */
}

void check_failed(const char *condition, const char *file, int line) {
    fprintf(stderr, "potluck: internal error: '%s' does not hold (%s:%d); please report this\n",
            condition, file, line);
    fflush(stderr);
    abort();
}

void *allocate(size_t count, size_t size) {
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        world_failed("out of memory (asked for %zu times %zu bytes)", count, size);
    return memory;
}

void *reallocate(void *old, size_t count, size_t size) {
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        world_failed("out of memory (asked for %zu times %zu bytes)", count, size);
    return memory;
}

char *duplicate_text(const char *text) {
    const size_t size = strlen(text) + 1;
    return memcpy(allocate(size, 1), text, size);
}

__attribute__((format(printf, 1, 0), nonnull(1))) static char *format_list(const char *format,
                                                                           va_list args) {
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    CHECK(length >= 0);
    char *text = allocate((size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *format_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = format_list(format, args);
    va_end(args);
    return text;
}

bool refuse(struct reason *why, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

void complain(struct complaints *c, const struct place *where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *sentence = format_list(format, args);
    va_end(args);
    char *line;
    if (!where)
        line = format_text("potluck: %s\n", sentence);
    else if (!where->line)
        line = format_text("%s: %s\n", where->file, sentence);
    else
        line = format_text("%s:%u:%u: %s\n", where->file, where->line, where->column, sentence);
    const size_t length = strlen(line);
    for (size_t i = 0; i + 1 < length; i++) /* a user's text may not rule the terminal */
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    c->text = reallocate(c->text, c->length + length + 1, 1);
    memcpy(c->text + c->length, line, length + 1);
    c->length += length;
    c->count++;
    free(line);
    free(sentence);
}

void complaints_free(struct complaints *c) {
    free(c->text);
    *c = (struct complaints){0};
}

enum { NAME_MAX_NEAR = 40 }; /* longer words are nobody's slip of the finger */

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that turn a into b, whatever the case of
 * letters. */
static unsigned edit_distance(const char *a, const char *b) {
    unsigned rows[3][NAME_MAX_NEAR + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    const size_t na = strlen(a), nb = strlen(b);
    for (unsigned j = 0; j <= nb; j++)
        last[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        now[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            const int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *nearest_name(const char *word, const char *const *names, size_t n) {
    const size_t length = strlen(word);
    if (!length || length > NAME_MAX_NEAR)
        return NULL;
    const char *best = NULL;
    unsigned least_edits = length < 3 ? 1 : (unsigned)(length + 4) / 4;
    for (size_t i = 0; i < n; i++) {
        const size_t name_length = strlen(names[i]);
        if (name_length > NAME_MAX_NEAR)
            continue;
        const unsigned edits = edit_distance(word, names[i]);
        /* Everything typed was wrong: that is not near. */
        if (edits >= length && edits >= name_length)
            continue;
        if (edits < least_edits || (edits == least_edits && !best)) {
            least_edits = edits;
            best = names[i];
        }
    }
    for (size_t i = 0; !best && length >= 3 && i < n; i++) { /* one abbreviates or writes out */
        const size_t name_length = strlen(names[i]);
        if (name_length >= 3 &&
            !strncmp(names[i], word, least((unsigned)name_length, (unsigned)length)))
            best = names[i];
    }
    return best;
}
