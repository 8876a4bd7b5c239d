/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three kinds of failure, three ways to say so.
 *   The user is wrong:  complain() collects sentences with file:line:column; all are printed at
 *                       once, exit 2.
 *   The world is wrong: world_failed() prints one sentence and ends the program with 1 on every
 *                       rank; of several threads that fail at once one does.
 *   We are wrong:       CHECK() aborts; it stays on in release builds. */
#ifndef POTLUCK_FAIL_H
#define POTLUCK_FAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exit_code { EXIT_DONE = 0, EXIT_WORLD = 1, EXIT_USER = 2, EXIT_DISAGREE = 3, EXIT_EARLY = 75 };

/* Where in a user's text something stands; line and column count from 1, 0 means "nowhere in
 * particular". */
struct place {
    const char *file; /* borrowed */
    uint32_t line, column;
};

/* Sentences about the user's input, in order of discovery. Zero-initialise; release with
 * complaints_free(). */
struct complaints {
    char *text;
    size_t length;
    unsigned count;
};

/* Adds "file:line:column: sentence\n". `where` may be NULL: then the sentence begins with "potluck:
 * ". */
void complain(struct complaints *c, const struct place *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void complaints_free(struct complaints *c);

/* One reason why something is not possible; the caller adds the place. */
struct reason {
    char text[320];
};
/* Writes the reason and returns false, so that a check can end with `return refuse(why, ...)`. */
bool refuse(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The nearest of n names to `word` by edit distance, or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t n);

/* Prints "potluck: sentence" on stderr and ends the program with exit code 1, by the way set with
 * on_failure(). */
_Noreturn void world_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How to end the whole program, all ranks (cluster.c sets MPI_Abort); the default is _Exit():
 * HDF5 may crash in exit() after it has failed. */
void on_failure(void (*end)(int code));
/* What is to be tidied up before; NULL: nothing. */
void before_failure(void (*tidy)(void));

/* Whether an error of the system comes from a name or a right that the user can change, not from a
 * world without disk, memory or files to open. */
bool is_users_error(int error);

/* malloc, calloc and realloc that never return NULL: out of memory is one sentence and exit 1.
 * allocate() zeroes. count * size is checked for overflow. */
void *allocate(size_t count, size_t size);
void *reallocate(void *old, size_t count, size_t size);
char *duplicate_text(const char *text);
/* printf into fresh memory; the caller frees. */
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))
_Noreturn void check_failed(const char *condition, const char *file, int line);

#endif
