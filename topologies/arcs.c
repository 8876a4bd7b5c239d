/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * arcs{n, virtual, layout}: n servers with `virtual` uniform positions each on a circle; a job
 * appears at a uniform point and belongs to the owner of the next position clockwise. Consistent
 * hashing: Karger, Lehman, Leighton, Panigrahy, Levine, Lewin, STOC 1997. Position j is made of
 * GRAPH words 2j (high) and 2j + 1 (low) and owned by server j / virtual. */
#include "sites.h"

static const struct parameter parameters[] = {
    {.name = "n",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .units = "server",
     .meaning = "number of servers"},
    {.name = "virtual",
     .type = TYPE_COUNT,
     .lower = 1,
     .upper = SERVERS_MAX,
     .standard = "1",
     .units = "1",
     .meaning = "positions of each server on the circle (virtual servers)"},
    {.name = "layout",
     .type = TYPE_WORD,
     .standard = "per-replication",
     .words = "per-replication|per-point",
     .units = "1",
     .meaning = "other positions for each replication, or the same for all (intervals are then "
                "conditional on them)"},
};

static bool describe(const struct value *v, struct space *s, struct reason *why, unsigned *at) {
    const uint64_t n = v[0].count, ids = n * v[1].count;
    *s = (struct space){.form = FORM_ARCS,
                        .n = n,
                        .ids = ids,
                        .wrap = true,
                        .connected = true,
                        .fresh = v[2].word == 0};
    *at = 1;
    if (ids > SERVERS_MAX)
        return refuse(why, "%llu positions for each of %llu servers are more than %u together",
                      (unsigned long long)v[1].count, (unsigned long long)n, SERVERS_MAX);
    s->bytes = arcs_bytes(n, ids);
    s->bytes_making = ids * (sizeof(uint64_t) + sizeof(uint32_t));
    s->nanoseconds = 500 + (ids < 300000 ? 15 : 45) * (double)ids;
    return true;
}

static struct sites *place(const struct value *v, struct stream words, struct reason *why) {
    const uint64_t n = v[0].count, ids = n * v[1].count;
    uint64_t *position = allocate(ids, sizeof *position);
    uint32_t *owner = allocate(ids, sizeof *owner), word[64];
    (void)why;
    for (uint64_t j = 0; j < ids; j++) {
        if (j % 32 == 0)
            sites_words(words, j / 32, word);
        position[j] = (uint64_t)word[2 * (j % 32)] << 32 | word[2 * (j % 32) + 1];
        owner[j] = (uint32_t)(j / v[1].count);
    }
    return arcs_new(n, ids, position, owner);
}

const struct topology topology_arcs = {
    .kind = {"arcs", "servers own arcs of a circle (consistent hashing)",
             "Karger et al., STOC 1997", parameters, sizeof parameters / sizeof *parameters},
    .describe = describe,
    .place = place};
