/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rivals.h"

#include "xoshiro.h"

#include <string.h>

static struct xoshiro words = {{1, 2, 3, 4}};
static inline uint64_t next(void) {
    return xoshiro_next(&words);
}

static struct rival_result finish(const uint8_t *load, uint32_t n, uint64_t moved, uint64_t hops) {
    struct rival_result r = {0, moved, hops};
    for (uint32_t i = 0; i < n; i++)
        r.max = load[i] > r.max ? load[i] : r.max;
    return r;
}

struct rival_result rival_one(uint8_t *load, uint32_t n, uint64_t m) {
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++)
        load[(next() >> 32) * n >> 32]++;
    return finish(load, n, 0, 0);
}

struct rival_result rival_two(uint8_t *load, uint32_t n, uint64_t m) {
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next();
        const uint32_t u = (uint32_t)((x >> 32) * n >> 32),
                       v = (uint32_t)((x & UINT32_MAX) * n >> 32);
        const uint32_t turn = -(uint32_t)(load[v] < load[u]);
        load[u ^ ((u ^ v) & turn)]++;
    }
    return finish(load, n, 0, 0);
}

struct rival_result rival_three(uint8_t *load, uint32_t n, uint64_t m) {
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next();
        const uint32_t u = (uint32_t)((x >> 32) * n >> 32),
                       v = (uint32_t)((x & UINT32_MAX) * n >> 32);
        const uint32_t w = (uint32_t)((y >> 32) * n >> 32);
        uint32_t to = u ^ ((u ^ v) & -(uint32_t)(load[v] < load[u]));
        to ^= (to ^ w) & -(uint32_t)(load[w] < load[to]);
        load[to]++;
    }
    return finish(load, n, 0, 0);
}

/* Places at u or v with a fair tie; returns a mask that is set when v was taken. */
static inline uint32_t place(uint8_t *load, uint32_t u, uint32_t v, uint32_t coin) {
    const uint32_t turn = -(uint32_t)(load[v] < load[u] + coin);
    load[u ^ ((u ^ v) & turn)]++;
    return turn;
}

struct rival_result rival_pot(uint8_t *load, uint32_t n, uint64_t m) {
    uint64_t moved = 0;
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next();
        const uint32_t u = (uint32_t)((x >> 32) * n >> 32);
        uint32_t v = (uint32_t)((x & UINT32_MAX) * (n - 1) >> 32);
        v += v >= u;
        moved += place(load, u, v, (uint32_t)(y >> 63)) & 1;
    }
    return finish(load, n, moved, moved);
}

struct rival_result rival_ring_uniform(uint8_t *load, uint32_t n, uint64_t m, uint32_t k) {
    uint64_t moved = 0, hops = 0;
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next();
        const uint32_t u = (uint32_t)((x >> 32) * n >> 32),
                       j = (uint32_t)((x & UINT32_MAX) * (2 * k) >> 32);
        const uint32_t hop = j / 2 + 1;
        uint32_t v = u + (j & 1 ? n - hop : hop);
        v -= n & -(uint32_t)(v >= n);
        const uint32_t turn = place(load, u, v, (uint32_t)(y >> 63));
        moved += turn & 1;
        hops += hop & turn;
    }
    return finish(load, n, moved, hops);
}

/* Distance by a table of cumulative weights, searched from the near end. */
static void weigh(uint32_t k, uint64_t (*shell)(uint32_t), uint32_t *below) {
    double total = 0, sum = 0;
    for (uint32_t h = 1; h <= k; h++)
        total += (double)shell(h) / h / h;
    for (uint32_t h = 1; h <= k; h++) {
        sum += (double)shell(h) / h / h;
        below[h - 1] = h == k ? UINT32_MAX : (uint32_t)(sum / total * 4294967296.0);
    }
}
static uint64_t ring_shell(uint32_t h) {
    (void)h;
    return 2;
}
static uint64_t torus_shell(uint32_t h) {
    return 4ull * h;
}

struct rival_result rival_ring_invsq(uint8_t *load, uint32_t n, uint64_t m, uint32_t k) {
    uint32_t below[64];
    uint64_t moved = 0, hops = 0;
    weigh(k, ring_shell, below);
    memset(load, 0, n);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next();
        const uint32_t u = (uint32_t)((x >> 32) * n >> 32);
        uint32_t hop = 1;
        for (uint32_t h = 0; h < k - 1; h++)
            hop += (uint32_t)x >= below[h];
        uint32_t v = u + (y & 1 ? n - hop : hop);
        v -= n & -(uint32_t)(v >= n);
        const uint32_t turn = place(load, u, v, (uint32_t)(y >> 63));
        moved += turn & 1;
        hops += hop & turn;
    }
    return finish(load, n, moved, hops);
}

static uint32_t table_dx[4096], table_dy[4096], table_hop[4096], table_size;
static void make_table(uint32_t side, uint32_t k) {
    table_size = 0;
    for (uint32_t h = 1; h <= k; h++)
        for (int32_t dx = -(int32_t)h; dx <= (int32_t)h; dx++)
            for (int32_t sign = -1; sign <= 1; sign += 2) {
                const int32_t dy = sign * ((int32_t)h - (dx < 0 ? -dx : dx));
                if (sign == 1 && dy == 0)
                    continue;
                table_dx[table_size] = dx < 0 ? side - (uint32_t)-dx : (uint32_t)dx;
                table_dy[table_size] = dy < 0 ? side - (uint32_t)-dy : (uint32_t)dy;
                table_hop[table_size++] = h;
            }
}

static inline uint32_t torus_neighbour(uint32_t side, uint32_t a, uint32_t b, uint32_t j) {
    uint32_t x = a + table_dx[j], y = b + table_dy[j];
    x -= side & -(uint32_t)(x >= side);
    y -= side & -(uint32_t)(y >= side);
    return x * side + y;
}

struct rival_result rival_torus_uniform(uint8_t *load, uint32_t side, uint64_t m, uint32_t k) {
    uint64_t moved = 0, hops = 0;
    make_table(side, k);
    memset(load, 0, side * side);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next();
        const uint32_t a = (uint32_t)((x >> 32) * side >> 32),
                       b = (uint32_t)((x & UINT32_MAX) * side >> 32);
        const uint32_t j = (uint32_t)((y & UINT32_MAX) * table_size >> 32);
        const uint32_t turn =
            place(load, a * side + b, torus_neighbour(side, a, b, j), (uint32_t)(y >> 63));
        moved += turn & 1;
        hops += table_hop[j] & turn;
    }
    return finish(load, side * side, moved, hops);
}

struct rival_result rival_torus_invsq(uint8_t *load, uint32_t side, uint64_t m, uint32_t k) {
    uint32_t below[64];
    uint64_t moved = 0, hops = 0;
    make_table(side, k);
    weigh(k, torus_shell, below);
    memset(load, 0, side * side);
    for (uint64_t i = 0; i < m; i++) {
        const uint64_t x = next(), y = next(), z = next();
        const uint32_t a = (uint32_t)((x >> 32) * side >> 32),
                       b = (uint32_t)((x & UINT32_MAX) * side >> 32);
        uint32_t hop = 1;
        for (uint32_t h = 0; h < k - 1; h++)
            hop += (uint32_t)z >= below[h];
        const uint32_t j = 2 * hop * (hop - 1) + (uint32_t)((y & UINT32_MAX) * (4 * hop) >> 32);
        const uint32_t turn =
            place(load, a * side + b, torus_neighbour(side, a, b, j), (uint32_t)(y >> 63));
        moved += turn & 1;
        hops += hop & turn;
    }
    return finish(load, side * side, moved, hops);
}
