/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Feeds damaged networks to the readers: each must be refused under the name of the file or become
 * edges between vertices that there are. Build with -fsanitize=address,undefined.
 *
 * usage: fuzz_graph [rounds [seed]] */
#include "edge_list.h"
#include "formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, LISTS = 2 };

static const char *const corpus[] = {
    "# a list\n0 1\n1 2 0.5\n2\t7\n-3,4\n\"5\" ; 6 // x\n",
    "\xef\xbb\xbf"
    "a b {'weight': 3}\r\n\"c d\",a\r\n%\r\n\xc3\xa9 b\r\n",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://x\">\n<key id=\"k\" "
    "for=\"node\" attr.name=\"w\" attr.type=\"double\"/>\n<graph edgedefault=\"directed\">\n<!-- "
    "c -->\n<node id=\"a\"><data key=\"k\">1.5</data></node>\n<node id='b'/>\n<node id=\"c\"/>\n"
    "<edge source=\"a\" target=\"b\"/>\n<edge source='b' "
    "target='c'></edge>\n</graph>\n</graphml>\n",
    "Creator \"x\"\n# c\ngraph [\n directed 1\n node [ id 3 label \"a\nb\" ]\n node [ id 5 "
    "graphics [ x "
    "1.5 y 2 ] ]\n node [ id 9 ]\n edge [ source 3 target 5 weight 2 ]\n edge [ source 9 target 3 "
    "]\n]\n",
    "*Network n\n% c\n*Vertices 4\n1 \"a b\" 0.1 0.2 0.5\n2 b ic Red\n*Arcs\n1 2 1\n2 3 "
    "-1\n*Edges\n3 4 "
    "2\n*Edgeslist\n1 2 3\n",
    "*Vertices 3\n*Matrix\n0 1 0\n1 0 2\n0 0 0\n",
};
static const enum graph_format formats[] = {FORMAT_GRAPHML, FORMAT_GML, FORMAT_PAJEK, FORMAT_PAJEK};

static const char *const scraps[] = {
    "\n",          "\r",          " ",          "\t",       ",",
    ";",           "\"",          "'",          "#",        "%",
    "//",          "<",           ">",          "/>",       "</",
    "<!--",        "-->",         "<![CDATA[",  "]]>",      "<?",
    "&amp;",       "&#0;",        "[",          "]",        "* ",
    "*Arcs",       "*Vertices 9", "*Matrix",    "-1",       "0",
    "1e9",         "5",           "2147483648", "999999",   "node [ ",
    "edge [ ",     "graph [",     "id 3 ",      "\xff",     "\x01",
    "\xc3",        "\xe2\x82",    "<graph>",    "</graph>", "<node id=\"a\"/>",
    "nan",         "inf",         "<edge/>",    ":",        "*Edges ",
    "\xef\xbb\xbf"};

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
    case 3: /* cut short */
        if (random_below(4) == 0)
            *length = at;
        break;
    default:
        if (left)
            text[at] = (char)random_below(256);
    }
}

static bool play(unsigned kind, const char *text, size_t length) {
    struct attachment a = {.name = format_text("net"), .length = length};
    a.bytes = memcpy(allocate(length + 1, 1), text, length);
    struct repairs repairs;
    struct reason why = {""};
    struct edges *e = kind < LISTS ? edge_list_read(&a, &repairs, &why)
                                   : format_read(&a, formats[kind - LISTS], &repairs, &why);
    const bool good = e != NULL;
    CHECK(good || !strncmp(why.text, "net:", 4));
    CHECK(!good || (e->n >= 1 && e->n <= SERVERS_MAX && e->n_edges >= 1));
    for (uint64_t i = 0; good && i < e->n_edges; i++)
        CHECK(e->end[i][0] < e->n && e->end[i][1] < e->n);
    edges_free(e);
    free(a.name);
    free(a.bytes);
    return good;
}

int main(int argc, char **argv) {
    const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    random_state = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
    unsigned long accepted = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        static char text[TEXT_MAX + 1];
        const unsigned kind = (unsigned)random_below(sizeof corpus / sizeof corpus[0]);
        size_t length = strlen(corpus[kind]);
        memcpy(text, corpus[kind], length);
        for (uint64_t n = random_below(4) * random_below(3) + random_below(2); n; n--)
            damage(text, &length);
        if (length)
            accepted += play(kind, text, length);
    }
    printf("%lu texts, %lu of them networks\n", rounds, accepted);
    return 0;
}
