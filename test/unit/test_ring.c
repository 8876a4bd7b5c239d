/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ordered set of identifiers against a plain sorted array: every insertion, removal and search, and
 * how many blocks it takes. */
#include "ring.h"

#include "crowded_ids.h"
#include "fail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Members in order, and the set that should hold them. */
struct both {
    struct ring ring;
    void *memory;
    uint64_t most, bytes, n;
    uint64_t *id;
    uint32_t *server;
};

static void both_begin(struct both *b, uint64_t most) {
    *b = (struct both){.most = most,
                       .bytes = ISA(ring_bytes)(most),
                       .id = allocate(most, sizeof *b->id),
                       .server = allocate(most, sizeof *b->server)};
    b->memory = aligned_alloc(64, b->bytes + 64);
    assert_non_null(b->memory);
    memset(b->memory, 0xa5, b->bytes + 64);
    ISA(ring_begin)(&b->ring, b->memory, most);
}

static void both_end(struct both *b) {
    free(b->memory);
    free(b->id);
    free(b->server);
}

static uint64_t both_below(const struct both *b, uint64_t id) {
    uint64_t low = 0, high = b->n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (b->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void both_insert(struct both *b, uint64_t id, uint32_t server) {
    const uint64_t at = both_below(b, id);
    const bool taken = at < b->n && b->id[at] == id;
    assert_int_equal(ISA(ring_insert)(&b->ring, id, server), !taken);
    if (taken)
        return;
    memmove(b->id + at + 1, b->id + at, (b->n - at) * sizeof *b->id);
    memmove(b->server + at + 1, b->server + at, (b->n - at) * sizeof *b->server);
    b->id[at] = id;
    b->server[at] = server;
    b->n++;
}

static void both_remove(struct both *b, uint64_t at) {
    ISA(ring_remove)(&b->ring, b->id[at]);
    b->n--;
    memmove(b->id + at, b->id + at + 1, (b->n - at) * sizeof *b->id);
    memmove(b->server + at, b->server + at + 1, (b->n - at) * sizeof *b->server);
}

static void assert_found(const struct both *b, uint64_t id) {
    const uint64_t at = both_below(b, id);
    assert_int_equal(ring_at_or_after(&b->ring, id), b->server[at < b->n ? at : 0]);
}

/* Blocks are few: fewer than one to a quarter of a block of members, and one more. */
static void assert_blocks(const struct both *b) {
    const struct ring *r = &b->ring;
    assert_int_equal(r->n, b->n);
    assert_int_equal(r->n_blocks + r->n_spare, r->room);
    assert_true(r->n_blocks <= b->n / (RING_BLOCK / 16 * 7) + 1);
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        const uint32_t n = r->block[r->order[i]].n;
        assert_true(n <= RING_BLOCK && (n > 0 || b->n == 0));
        assert_true(i + 1 == r->n_blocks || n + r->block[r->order[i + 1]].n > RING_BLOCK / 8 * 7);
    }
    for (uint64_t i = 0; i < 64; i++)
        assert_int_equal(((const unsigned char *)b->memory)[b->bytes + i], 0xa5);
}

static void assert_equal_sets(const struct both *b) {
    uint64_t *id = allocate(b->n + 1, sizeof *id);
    uint32_t *server = allocate(b->n + 1, sizeof *server);
    assert_blocks(b);
    ISA(ring_flatten)(&b->ring, id, server);
    assert_memory_equal(id, b->id, b->n * sizeof *id);
    assert_memory_equal(server, b->server, b->n * sizeof *server);
    free(id);
    free(server);
}

/* Step by step, with as many members as the set has room for now and then. */
static void test_ring_small(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct both b;
        both_begin(&b, 2500);
        for (uint32_t step = 0; step < 40000; step++) {
            const bool grows = step / 5000 % 2 == 0;
            if (b.n < b.most && (b.n == 0 || random_below(8) < (grows ? 6 : 1)))
                both_insert(&b, some_id(kind), step);
            else
                both_remove(&b, random_below(b.n));
            if (b.n > 0) {
                assert_found(&b, some_id(kind));
                assert_found(&b, b.id[random_below(b.n)]);
                assert_found(&b, b.id[random_below(b.n)] + 1);
                assert_found(&b, UINT64_MAX);
            }
            assert_blocks(&b);
            if (step % 97 == 0)
                assert_equal_sets(&b);
        }
        both_end(&b);
    }
}

/* In rising and falling order, to the last place and back to nothing from either end. */
static void test_ring_in_order(void **state) {
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        struct both b;
        both_begin(&b, 3000);
        for (uint32_t round = 0; round < 3; round++) {
            for (uint64_t i = 0; i < b.most; i++)
                both_insert(&b, way & 1 ? i << 40 : (b.most - i) << 40, (uint32_t)i);
            assert_equal_sets(&b);
            while (b.n > 0) {
                both_remove(&b, way & 2 ? b.n - 1 : 0);
                assert_blocks(&b);
                if (b.n > 0)
                    assert_found(&b, random_number() >> 20);
            }
            assert_equal_sets(&b);
        }
        both_end(&b);
    }
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Up to 2e5 members and back; the array is sorted at times only. The server of a member is told by its
 * identifier. */
static void test_ring_large(void **state) {
    (void)state;
    struct both b;
    both_begin(&b, 200000);
    for (unsigned kind = 0; kind < 2; kind++) {
        while (b.n < b.most) {
            const uint64_t id = kind ? random_number() >> random_below(45) : random_number();
            if (ISA(ring_insert)(&b.ring, id, (uint32_t)(id * 0x9e3779b1u >> 32)))
                b.id[b.n++] = id;
        }
        for (unsigned part = 0; part < 5; part++) {
            qsort(b.id, b.n, sizeof *b.id, by_number);
            for (uint64_t i = 0; i < b.n; i++)
                b.server[i] = (uint32_t)(b.id[i] * 0x9e3779b1u >> 32);
            assert_equal_sets(&b);
            for (unsigned i = 0; i < 5000 && b.n > 0; i++)
                assert_found(&b, random_number() >> random_below(45));
            /* A fifth leaves; at last all that are left. */
            for (uint64_t i = 0; i < b.most / 5; i++) {
                const uint64_t at = random_below(b.n);
                ISA(ring_remove)(&b.ring, b.id[at]);
                b.id[at] = b.id[--b.n];
            }
        }
        assert_int_equal(b.n, 0);
        assert_equal_sets(&b);
    }
    both_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_small),
        cmocka_unit_test(test_ring_in_order),
        cmocka_unit_test(test_ring_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
