/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Servers at points. Coordinates are whole numbers and so are squared distances, hence searches are
 * exact: equal distances are equal, and the smaller server number comes first.
 *
 * Plane: coordinates are units of 2^-31 of the side of the unit square, 0 .. 2^31 - 1; differences
 * on the torus are at most 2^30, so squared distances stay below 2^63. The word w of a job's point is
 * coordinate w >> 1.
 * Circle: positions are units of 2^-64. The server of a point is the owner of the first position
 * clockwise (upwards) from it, itself included, beyond the last the first. A server with V
 * positions owns V arcs; its share is their sum over 2^64. */
#ifndef POTLUCK_SITES_H
#define POTLUCK_SITES_H

#include "topology.h"

/* A server and its coordinates side by side, as searches meet them. */
struct member {
    uint32_t x, y, server;
};

struct sites {
    uint64_t n;
    bool wrap;
    /* Plane. */
    uint32_t *x, *y;       /* [n] */
    uint32_t cells;        /* cells along a side of the search grid */
    uint32_t *cell;        /* [cells * cells + 1]: servers of a cell are member[cell[c]] .. */
    struct member *member; /* [n], servers rising within each cell */
    /* Circle. */
    uint64_t ids;       /* positions */
    uint64_t *position; /* [ids], rising; equal ones by server number */
    uint32_t *owner;    /* [ids] */
    uint32_t *bucket;   /* [2^bucket_bits + 1]: the first position with such leading bits or more */
    unsigned bucket_bits;
    uint64_t *share; /* [n], units of 2^-64 of the circle, capped at 2^64 - 1 */
};

void sites_free(struct sites *s);
/* GRAPH words 64 chunk .. 64 chunk + 63 of lane 0. */
void sites_words(struct stream words, uint64_t chunk, uint32_t word[64]);
/* Bytes of sites. */
uint64_t plane_bytes(uint64_t n);
uint64_t arcs_bytes(uint64_t n, uint64_t ids);

/* Plane, from coordinates [n] that it takes over: the search grid is built. */
struct sites *plane_new(uint64_t n, bool wrap, uint32_t *x, uint32_t *y);
/* Squared distance of a point from a server. */
uint64_t plane_squared(const struct sites *s, uint32_t x, uint32_t y, uint32_t server);
/* What a search for a point reads first is asked for ahead of it: its cells, and when they have come
 * their members. Beyond the caches this halves the time. */
void plane_fetch_cells(const struct sites *s, uint32_t x, uint32_t y);
void plane_fetch_members(const struct sites *s, uint32_t x, uint32_t y);
/* The nearest server of a point. */
uint32_t plane_nearest(const struct sites *s, uint32_t x, uint32_t y);
/* The `count` (<= n) nearest servers of a point, nearest first, into server[] with their squared
 * distances. Both arrays have room for `count`. */
void plane_near(const struct sites *s, uint32_t x, uint32_t y, uint32_t count, uint32_t *server,
                uint64_t *squared);

/* Circle, from ids positions and their owners, in any order, that it takes over. */
struct sites *arcs_new(uint64_t n, uint64_t ids, uint64_t *position, uint32_t *owner);
/* Index of the first position at or after a point. */
uint32_t arcs_successor(const struct sites *s, uint64_t point);

#endif
