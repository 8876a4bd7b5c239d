/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "seat.h"

#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seat seat_here(unsigned threads) {
    struct seat s = {.threads = threads, .process = (uint64_t)getpid()};
    gethostname(s.host, sizeof s.host - 1);
    runner_cores(s.core, SEAT_CORES / 64);
    return s;
}

static bool has(const struct seat *s, unsigned core) {
    return core < SEAT_CORES && s->core[core / 64] >> core % 64 & 1;
}

static unsigned count(const struct seat *s) {
    unsigned sum = 0;
    for (unsigned i = 0; i < SEAT_CORES / 64; i++)
        sum += (unsigned)__builtin_popcountll(s->core[i]);
    return sum;
}

char *seat_text(const struct seat *s) {
    char *cores = duplicate_text("");
    for (unsigned i = 0; i < SEAT_CORES; i++) {
        if (!has(s, i) || (i && has(s, i - 1)))
            continue;
        unsigned last = i;
        while (has(s, last + 1))
            last++;
        char *more = last > i ? format_text("%s%s%u-%u", cores, *cores ? "," : "", i, last)
                              : format_text("%s%s%u", cores, *cores ? "," : "", i);
        free(cores);
        cores = more;
    }
    char *text = format_text("host %s, process %llu, cores %s (%u), %llu thread%s", s->host,
                             (unsigned long long)s->process, *cores ? cores : "unknown", count(s),
                             (unsigned long long)s->threads, s->threads == 1 ? "" : "s");
    free(cores);
    return text;
}

char *seat_crowded(const struct seat *seats, unsigned n) {
    double worst = 1;
    char *sentence = NULL;
    for (unsigned i = 0; i < n; i++) {
        struct seat all = seats[i]; /* of the node, from its first rank on */
        unsigned ranks = 1;
        bool first = true;
        for (unsigned j = 0; j < n; j++) {
            if (j == i || strcmp(seats[j].host, seats[i].host) != 0)
                continue;
            first = first && j > i;
            ranks++;
            all.threads += seats[j].threads;
            for (unsigned w = 0; w < SEAT_CORES / 64; w++)
                all.core[w] |= seats[j].core[w];
        }
        const unsigned cores = count(&all);
        if (!first || !cores || (double)all.threads / cores <= worst)
            continue;
        worst = (double)all.threads / cores;
        free(sentence);
        sentence = format_text("%llu threads of %u rank%s share %u core%s on %s",
                               (unsigned long long)all.threads, ranks, ranks == 1 ? "" : "s", cores,
                               cores == 1 ? "" : "s", all.host);
    }
    return sentence;
}
