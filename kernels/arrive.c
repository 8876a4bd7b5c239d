/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where jobs of a space of points arrive. */
#include "arrive.h"

#include <math.h>

double ISA(arrive_nanoseconds)(const struct space *space, uint64_t count) {
    const uint64_t bytes = space->bytes;
    const double memory = bytes < 1 << 20 ? 0 : bytes < 1 << 25 ? 60 : 200; /* beyond the caches */
    const double k = (double)count;
    if (space->form == FORM_ARCS)
        return 8 + memory / 4;
    if (count == 1)
        return 70 + memory / 6;
    return memory / 3 + (count <= 24 ? 75 + 22 * k : 7.2 * k * log2(k));
}

const char *ISA(arrive_how)(const struct space *space) {
    return space->form == FORM_PLANE ? "search by cells" : "search by leading bits";
}

/* Asks for what jobs after number i will need. */
static inline void fetch_ahead(const struct sites *s, const uint32_t *const word[2], uint32_t size,
                               uint32_t i) {
    enum { CELLS_AHEAD = 16, MEMBERS_AHEAD = 8 };
    if (i + CELLS_AHEAD < size)
        plane_fetch_cells(s, word[0][i + CELLS_AHEAD] >> 1, word[1][i + CELLS_AHEAD] >> 1);
    if (i + MEMBERS_AHEAD < size)
        plane_fetch_members(s, word[0][i + MEMBERS_AHEAD] >> 1, word[1][i + MEMBERS_AHEAD] >> 1);
}

static inline uint32_t circle_server(const struct sites *s, uint32_t high, uint32_t low) {
    return s->owner[arcs_successor(s, circle_point(high, low))];
}

void ISA(arrive_servers)(const struct sampler *s, const uint32_t *const word[2], uint32_t size,
                         uint32_t *server) {
    const struct sites *sites = s->space.sites;
    if (s->space.form == FORM_ARCS) {
        for (uint32_t i = 0; i < size; i++)
            server[i] = circle_server(sites, word[0][i], word[1][i]);
        return;
    }
    for (uint32_t i = 0; i < size; i++) {
        fetch_ahead(sites, word, size, i);
        server[i] = plane_nearest(sites, word[0][i] >> 1, word[1][i] >> 1);
    }
}

/* The two nearest servers of every point. */
static void plane_two(const struct sites *s, const uint32_t *const word[2], struct block *b) {
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t two[2];
        uint64_t squared[2];
        fetch_ahead(s, word, b->size, i);
        plane_near(s, word[0][i] >> 1, word[1][i] >> 1, 2, two, squared);
        b->origin[i] = two[0];
        b->raw[0][i] = two[1];
    }
}

/* The owners of the next two positions. */
static void arcs_two(const struct sites *s, const uint32_t *const word[2], struct block *b) {
    for (uint32_t i = 0; i < b->size; i++) {
        const uint32_t j = arcs_successor(s, circle_point(word[0][i], word[1][i]));
        b->origin[i] = s->owner[j];
        b->raw[0][i] = s->owner[j + 1 < s->ids ? j + 1 : 0];
    }
}

void ISA(arrive)(const struct sampler *s, struct block *b) {
    const uint32_t *const *word = (const uint32_t *const *)b->point;
    if (s->nearest < 2)
        ISA(arrive_servers)(s, word, b->size, b->origin);
    else if (s->space.form == FORM_PLANE)
        plane_two(s->space.sites, word, b);
    else
        arcs_two(s->space.sites, word, b);
}
