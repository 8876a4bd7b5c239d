/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arrivals_merge.h"

#include <math.h>
#include <string.h>

enum { WINDOW_LEAST = 4096 }; /* arrivals of a window, when servers are few */

static uint32_t window_of(uint64_t n) {
    return n > WINDOW_LEAST ? (uint32_t)n : WINDOW_LEAST;
}
static uint32_t room_of(uint64_t n) {
    return 2 * window_of(n);
}
/* Two more than the window has, and a multiple of 8 bytes. */
static uint64_t buckets_of(uint64_t n) {
    return ((uint64_t)window_of(n) + 3) / 2 * 2;
}

uint64_t ISA(merge_memory)(uint64_t n) {
    return sizeof(struct merge) + 2 * (uint64_t)room_of(n) * sizeof(struct arrival) +
           buckets_of(n) * sizeof(uint32_t);
}

void ISA(merge_begin)(struct merge *m, uint64_t n) {
    *m = (struct merge){.room = room_of(n), .arrival = (struct arrival *)(m + 1)};
    m->sorted = m->arrival + m->room;
    m->bucket = (uint32_t *)(void *)(m->sorted + m->room);
    m->streams = m->bucket + buckets_of(n);
}

/* Merges sorted halves of arrival[0 .. count-1], stably. */
static void merge_sort(struct arrival *arrival, struct arrival *scratch, uint32_t count) {
    const uint32_t half = count / 2;
    if (count < 2)
        return;
    merge_sort(arrival, scratch, half);
    merge_sort(arrival + half, scratch, count - half);
    if (arrival[half - 1].time <= arrival[half].time)
        return;
    memcpy(scratch, arrival, half * sizeof *arrival);
    uint32_t i = 0, j = half, k = 0;
    while (i < half)
        arrival[k++] = j < count && arrival[j].time < scratch[i].time ? arrival[j++] : scratch[i++];
}

/* Insertion sort, stable; gives up when that takes too many moves. */
static bool insertion_sort(struct arrival *arrival, uint32_t count) {
    uint64_t moves = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct arrival e = arrival[i];
        uint32_t j = i;
        for (; j > 0 && arrival[j - 1].time > e.time; j--)
            arrival[j] = arrival[j - 1];
        arrival[j] = e;
        moves += i - j;
        if (moves > 16 * (uint64_t)count)
            return false;
    }
    return true;
}

/* m->arrival in order of time into m->sorted: buckets first, then what is left to do. */
static void sort_window(struct merge *m, uint32_t buckets, double begin, double end) {
    const double scale = buckets / (end - begin);
    memset(m->bucket, 0, (buckets + 2) * sizeof *m->bucket);
    for (uint32_t i = 0; i < m->ready; i++)
        m->bucket[(uint32_t)((m->arrival[i].time - begin) * scale) + 1]++;
    for (uint32_t b = 0; b <= buckets; b++)
        m->bucket[b + 1] += m->bucket[b];
    for (uint32_t i = 0; i < m->ready; i++)
        m->sorted[m->bucket[(uint32_t)((m->arrival[i].time - begin) * scale)]++] = m->arrival[i];
    if (!insertion_sort(m->sorted, m->ready))
        merge_sort(m->sorted, m->arrival, m->ready);
}

/* The next window with arrivals in it. Where nothing comes for long, it begins with what comes
 * first; where very many come at once, it is one moment. */
static void next_window(const struct arrivals *a, struct merge *m, struct stream s) {
    const uint32_t window = window_of(a->n);
    const double width = window / a->rate;
    m->given = m->ready = 0;
    while (m->ready == 0) {
        const double begin = m->end, least = nextafter(begin, (double)INFINITY);
        double part = width, end, first;
        do {
            m->crowded = begin + part <= least;
            end = m->crowded ? least : begin + part;
            part /= 2;
        } while (!m->gather(a, m, s, end, &first));
        if (m->crowded)
            memcpy(m->sorted, m->arrival, m->ready * sizeof *m->sorted);
        else
            sort_window(m, window, begin, end);
        m->end = first < end ? begin : m->ready > 0 ? end : first;
    }
}

void ISA(merge_next)(const struct arrivals *a, struct merge *m, struct stream s, double *time,
                     uint32_t *origin) {
    for (uint32_t i = 0; i < BLOCK;) {
        if (m->given == m->ready)
            next_window(a, m, s);
        const uint32_t left = m->ready - m->given, count = left < BLOCK - i ? left : BLOCK - i;
        for (uint32_t j = 0; j < count; j++) {
            time[i + j] = m->sorted[m->given + j].time;
            origin[i + j] = m->sorted[m->given + j].server;
        }
        m->given += count;
        i += count;
    }
}
