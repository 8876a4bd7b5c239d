/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What naive.c (graphs) and naive_points.c (plane, circle) share: canonical texts, random words and
 * the lines they print. */
#ifndef POTLUCK_NAIVE_PARTS_H
#define POTLUCK_NAIVE_PARTS_H

#include "rng.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 64 };

static inline void fail(const char *what) {
    fprintf(stderr, "naive: %s\n", what);
    exit(2);
}

static inline void *get(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

/* ---- texts ---- */

static inline bool is_called(const char *text, const char *name) {
    const size_t length = strlen(name);
    return !strncmp(text, name, length) && (text[length] == '\0' || text[length] == ':');
}

/* The text after "name: ", or NULL. */
static inline const char *parameter(const char *text, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "{%s: ", name);
    const char *at = strstr(text, key);
    if (!at) {
        snprintf(key, sizeof key, " %s: ", name);
        at = strstr(text, key);
    }
    return at ? at + strlen(key) : NULL;
}

static inline bool parameter_is(const char *text, const char *name, const char *word) {
    const char *at = parameter(text, name);
    return at && !strncmp(at, word, strlen(word));
}

static inline uint64_t number(const char *text, const char *name) {
    const char *at = parameter(text, name);
    if (!at)
        fail("a parameter is missing");
    return strtoull(at, NULL, 10);
}

/* ---- words ---- */

static struct stream words;

static inline uint32_t below(uint32_t slot, uint64_t ball, uint32_t range) {
    return rng_below(words, PURPOSE_CANDIDATE, slot, ball, range);
}

static inline uint64_t fraction(enum purpose purpose, uint32_t lane, uint64_t ball) {
    return (uint64_t)rng_word(words, purpose, lane, ball) << 32 |
           rng_word(words, purpose, lane + 1, ball);
}

static inline uint64_t units(double probability) {
    return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 0x1p64);
}

static inline bool coin(uint64_t ball) {
    return rng_word(words, PURPOSE_TIE, 0, ball / 32) >> ball % 32 & 1;
}

/* Candidates 0 .. d-1 of `choices` among n servers. */
static inline void draw_choices(uint64_t ball, uint32_t n, uint32_t d, bool distinct,
                                uint32_t v[MANY]) {
    for (uint32_t j = 0; j < d; j++) {
        if (!distinct) {
            v[j] = below(j, ball, n);
            continue;
        }
        uint32_t rank = below(j, ball, n - j); /* among the servers not yet drawn */
        for (uint32_t w = 0; w < n; w++) {
            bool drawn = false;
            for (uint32_t c = 0; c < j; c++)
                drawn = drawn || v[c] == w;
            if (!drawn && rank-- == 0) {
                v[j] = w;
                break;
            }
        }
    }
}

/* ties: origin. The origin among the candidates changes places with the first, which wins ties. */
static inline void origin_first(uint32_t origin, uint32_t v[MANY], unsigned candidates) {
    for (unsigned c = 1; c < candidates; c++)
        if (v[c] == origin) {
            v[c] = v[0];
            v[0] = origin;
        }
}

/* The first of the least loaded. */
static inline uint32_t least_loaded(const uint32_t v[MANY], unsigned candidates,
                                    const uint64_t *load) {
    uint32_t best = v[0];
    for (unsigned c = 1; c < candidates; c++)
        if (load[v[c]] < load[best])
            best = v[c];
    return best;
}

/* ---- what is printed ---- */

/* "row R max_load min_load empty moved gap load_variance cost": one line without its end; servers
 * by load and by number are added up. */
static inline void print_row(uint64_t replication, uint64_t balls, uint64_t n, const uint64_t *load,
                             double moved, double cost, uint64_t *by_load, uint64_t *by_server) {
    uint64_t low = UINT64_MAX, high = 0, empty = 0, spread = 0;
    for (uint64_t v = 0; v < n; v++) {
        low = load[v] < low ? load[v] : low;
        high = load[v] > high ? load[v] : high;
        empty += load[v] == 0;
        const int64_t apart = (int64_t)load[v] - (int64_t)(balls / n);
        spread += (uint64_t)(apart * apart);
        by_load[load[v]]++;
        by_server[v] += load[v];
    }
    /* Deviations are taken from floor(m/n); the square of what that leaves is subtracted. */
    const double servers = (double)n, spare = (double)(balls % n) / servers;
    printf("row %" PRIu64 " %.17g %.17g %.17g %.17g %.17g %.17g %.17g", replication, (double)high,
           (double)low, (double)empty / servers, moved, (double)(high * n - balls) / servers,
           -(spare * spare) + (double)spread / servers, cost);
}

static inline void print_counts(const char *what, const uint64_t *count, uint64_t length) {
    printf("%s", what);
    for (uint64_t i = 0; i < length; i++)
        printf(" %" PRIu64, count[i]);
    printf("\n");
}

#endif
