/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Feeds damaged job texts to job_read(): it must refuse them with complaints or read them, and what
 * it reads must resolve to a text that reads as the same job. Build with
 * -fsanitize=address,undefined.
 *
 * usage: fuzz_job [rounds [seed]] */
#include "job.h"
#include "stub_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

static const char *const corpus[] = {
    "# Question?\ntitle: \"All \\\"of\\\" it\"\nmodel: toy\nseed: 18446744073709551615\n"
    "replications: {min: 30, max: 1e5, until: {height: 1%, cost: [2.5%, 0.01]}}\nplace:\n  - row: "
    "{n: [10, 1_0]}\n"
    "  - box: {sides: [3x4, [3, 4, 5]]}\nrule:\n  - pair\n  - near: {k: [1, 2, 5], self: "
    "included}\n  - lazy: {beta: 1/3}\n"
    "things: [n, 0.5n, 13]\nties: [fair, origin]\nkeep: [each, means]\nbaseline: {near: {k: "
    "2}}\ncommon: false\n",
    "replications: 9\nplace: &a {row: {n: &n 20}}\nrule: [pair, near: {k: *n}]\nthings: *n\nflag: "
    "[true, false]\n",
    "model: idle\nreplications: 3\nmilliseconds: [1, 2.5, 50%]\ntitle: |\n  two\n  lines\n",
    ("rate: [0.1, 1e-3, 1/7]\nshape: [[1, 2], 3x4]\nexactness: sampled\nreplications: "
     "10\nplace:\n- box:\n    sides: [2, 2]\nrule:\n"
     "- near:\n    k: 2\n    self: [excluded, included]\n"),
};
static const char *const scraps[] = {
    "[",
    "]",
    "{",
    "}",
    ": ",
    "- ",
    "\n",
    "\n  ",
    ",",
    "*n",
    "&n ",
    "<<: ",
    "!!x ",
    "|",
    ">",
    "\"",
    "'",
    "#",
    "?",
    "---\n",
    "...\n",
    "n",
    "1e9",
    "-",
    "0x",
    "%",
    "/",
    "x",
    "null",
    "~",
    "1e400",
    "18446744073709551616",
    "\xff",
    "\xef\xbb\xbf",
    "\t",
    "\r",
    "\\",
    "place: ",
    "rule: ",
    "near: ",
    "k: ",
    "sides: ",
    "things: ",
    "until: ",
    "replications: ",
    "%YAML 1.1\n---\n",
    "@",
    "`",
};

static uint64_t random_state;

static uint64_t random_below(uint64_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* Replaces `cut` bytes at `at` by n others. */
static void splice(char *text, size_t *length, size_t at, size_t cut, const char *with, size_t n) {
    if (*length - cut + n >= TEXT_MAX)
        return;
    char copy[TEXT_MAX];
    memcpy(copy, with, n);
    memmove(text + at + n, text + at + cut, *length - at - cut);
    memcpy(text + at, copy, n);
    *length += n - cut;
}

static void damage(char *text, size_t *length) {
    const size_t at = random_below(*length + 1), left = *length - at;
    const size_t few = left ? random_below(left < 12 ? left : 12) : 0;
    const char *scrap = scraps[random_below(sizeof scraps / sizeof scraps[0])];
    const size_t from = random_below(*length + 1), room = *length - from;
    switch (random_below(5)) {
    case 0:
        splice(text, length, at, 0, scrap, strlen(scrap));
        break;
    case 1:
        splice(text, length, at, few, "", 0);
        break;
    case 2:
        splice(text, length, at, few, scrap, strlen(scrap));
        break;
    case 3: /* a piece of itself */
        splice(text, length, at, 0, text + from, room ? random_below(room < 80 ? room : 80) : 0);
        break;
    default:
        if (left)
            text[at] = (char)(random_below(8) ? 32 + random_below(95) : 1 + random_below(255));
    }
}

static bool same(const struct job *a, const struct job *b) {
    if (strcmp(a->resolved, b->resolved) || strcmp(a->identity, b->identity) ||
        a->n_points != b->n_points)
        return false;
    for (uint64_t k = 0; k < a->n_points; k++)
        if (a->points[k].key != b->points[k].key || strcmp(a->points[k].label, b->points[k].label))
            return false;
    return true;
}

static bool play(const char *text) {
    struct complaints c = {0};
    struct job *job = job_read("f.yaml", text, NULL, &stub_models, &c);
    if (!job) {
        CHECK(c.count && c.text && c.length == strlen(c.text));
        complaints_free(&c);
        return false;
    }
    CHECK(!c.count && job->n_points);
    struct job *again = job_read("r.yaml", job->resolved, NULL, &stub_models, &c);
    if (!again || !same(job, again)) {
        printf("--- text\n%s\n--- resolved\n%s\n--- complaints\n%s", text, job->resolved,
               c.text ? c.text : "");
        exit(1);
    }
    job_free(again);
    job_free(job);
    return true;
}

int main(int argc, char **argv) {
    const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    random_state = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
    unsigned long accepted = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        static char text[TEXT_MAX + 1];
        const char *origin = corpus[random_below(sizeof corpus / sizeof corpus[0])];
        size_t length = strlen(origin);
        memcpy(text, origin, length);
        for (uint64_t n = random_below(4) * random_below(3) + random_below(2); n; n--)
            damage(text, &length);
        text[length] = '\0';
        accepted += play(text);
    }
    printf("%lu texts, %lu of them jobs\n", rounds, accepted);
    return 0;
}
