/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edge_list.h"
#include "formats.h"
#include "names.h"

/* A file that holds a text of `length` bytes; the reader may not look beyond them. */
static struct attachment holding(const char *text, size_t length) {
    struct attachment a = {.name = format_text("net.edges"), .length = length};
    a.bytes = memcpy(allocate(length + 1, 1), text, length);
    return a;
}

static void drop(struct attachment *a) {
    free(a->name);
    free(a->bytes);
}

/* Reads a list and holds it against "n: 0-1 1-2 ..". */
static struct repairs reads(const char *text, const char *expected) {
    struct attachment a = holding(text, strlen(text));
    struct repairs repairs;
    struct reason why = {""};
    struct edges *e = edge_list_read(&a, &repairs, &why);
    if (!e)
        print_error("%s\n", why.text);
    assert_non_null(e);
    char got[400];
    size_t length = (size_t)sprintf(got, "%llu:", (unsigned long long)e->n);
    for (uint64_t i = 0; i < e->n_edges; i++)
        length += (size_t)sprintf(got + length, " %u-%u", e->end[i][0], e->end[i][1]);
    assert_string_equal(got, expected);
    edges_free(e);
    drop(&a);
    return repairs;
}

static void refuses_bytes(const char *text, size_t length, const char *start) {
    struct attachment a = holding(text, length);
    struct repairs repairs;
    struct reason why = {""};
    struct edges *e = edge_list_read(&a, &repairs, &why);
    assert_null(e);
    if (strncmp(why.text, start, strlen(start)) != 0)
        print_error("'%s' instead of '%s'\n", why.text, start);
    assert_int_equal(strncmp(why.text, start, strlen(start)), 0);
    drop(&a);
}

static void refuses(const char *text, const char *start) {
    refuses_bytes(text, strlen(text), start);
}

static void test_whole_numbers(void **state) {
    (void)state;
    const struct repairs plain = reads("0 1\n1 2\n", "3: 0-1 1-2");
    assert_false(plain.gaps || plain.words || plain.further || plain.cut || plain.mark);
    const struct repairs gaps = reads("7 991\n12 7\n", "3: 0-2 1-0");
    assert_true(gaps.gaps && gaps.least == 7 && gaps.greatest == 991);
    reads("5 -3\n-3 5\n", "2: 1-0 0-1");
    reads("007 7\n8 7\n", "2: 0-0 1-0");
    reads("9223372036854775807 0\n", "2: 1-0");
    assert_true(reads("1 2\n2 3\n", "3: 0-1 1-2").gaps);
}

static void test_words(void **state) {
    (void)state;
    assert_true(reads("b a\na c\n", "3: 0-1 1-2").words);
    assert_true(reads("1 a\na 2\n", "3: 0-1 1-2").words);
    assert_true(reads("1.5 2e3\n", "2: 0-1").words);
    reads("\xc3\xa9t\xc3\xa9 \xe2\x82\xac\n", "2: 0-1");
    reads("\"New York\",Boston\nBoston,\"New York\"\n", "2: 0-1 1-0");
    reads("\"1\" 2\n1 2\n", "2: 0-1 0-1");
    reads("http://a http://b\n", "2: 0-1");
}

static void test_layout(void **state) {
    (void)state;
    reads("# c\n%d\n// e\n\n  \t\n 0\t1 \n1,2\n2;3\n3 , 4\n", "5: 0-1 1-2 2-3 3-4");
    reads("0 1\r\n1 2\r\n", "3: 0-1 1-2");
    reads("0 1\r1 2\r", "3: 0-1 1-2");
    assert_true(reads("\xef\xbb\xbf"
                      "0 1\n",
                      "2: 0-1")
                    .mark);
    assert_true(reads("0 1\n1 2", "3: 0-1 1-2").cut);
    assert_true(reads("0 1 {'weight': 2}\n", "2: 0-1").further);
    assert_true(reads("0 1 2.5\n1 2 3\n", "3: 0-1 1-2").further);
    assert_true(reads("0,1,2.5\n", "2: 0-1").further);
    assert_false(reads("0 1 # by hand\n", "2: 0-1").further);
    assert_false(reads("0,1,\n", "2: 0-1").further);
}

static void test_loops_and_doubles_stay(void **state) {
    (void)state;
    reads("0 0\n0 1\n1 0\n", "2: 0-0 0-1 1-0");
}

static void test_refusals(void **state) {
    (void)state;
    refuses("0 1\n2\n", "net.edges:2: one id where an edge needs two");
    refuses("0 1\r\n\r\n2\r\n", "net.edges:3: one id");
    refuses("0 1\n2 # 3\n", "net.edges:2: one id");
    refuses("0 1\n2,,3\n", "net.edges:2: an empty column");
    refuses("0 1\n,2,3\n", "net.edges:2: an empty column");
    refuses("0 1\n\"a b\n", "net.edges:2: a quote is opened");
    refuses("0 1\n\"\" 1\n", "net.edges:2: an empty id");
    refuses("\n", "net.edges:2: the file ends without an edge");
    refuses("# a\n# b\n", "net.edges:3: the file ends without an edge");
    refuses("# c\nfrom,to\n0,1\n1,2\n", "net.edges:2: a word among whole numbers");
    refuses("0 1\n1 99999999999999999999\n", "net.edges:2: id 99999999999999999999 is too large");
    refuses("a b\n\xff z\n", "net.edges:2: not UTF-8 text (byte 0xff)");
    refuses("a b\n\xed\xa0\x80 z\n", "net.edges:2: not UTF-8");
    refuses("a b\nz \xe2\x82", "net.edges:2: not UTF-8");
    refuses("0 1\n2 \x01\n", "net.edges:2: a control character");
    refuses_bytes("0 1\n2 \0003\n", 8, "net.edges:2: a NUL byte");
    refuses("\xff\xfe"
            "0 1\n",
            "net.edges:1: UTF-16");
    refuses("<graphml/>\n", "net.edges:1: no list of edges but XML");
    refuses("*Vertices 2\n*Edges\n1 2\n", "net.edges:1: no list of edges but a Pajek file");
    refuses("%%MatrixMarket matrix\n2 2 1\n1 2\n", "net.edges:1: no list of edges but a Matrix");
    char longest[1100];
    memset(longest, 'a', sizeof longest);
    memcpy(longest + 1001, " b\n", 4);
    refuses(longest, "net.edges:1: an id of 1001 bytes (at most 1000)");
    memcpy(longest + 1000, " b\n", 4);
    reads(longest, "2: 0-1");
}

/* Every beginning of a list is read or refused. */
static void test_cut_anywhere(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf# c\r\n\"a b\",\xc3\xa9;{x}\n 12\t-7 // y\r0 1";
    for (size_t length = 1; length < sizeof text; length++) {
        struct attachment a = holding(text, length);
        struct repairs repairs;
        struct reason why = {""};
        struct edges *e = edge_list_read(&a, &repairs, &why);
        assert_true(e || strstr(why.text, "net.edges:") == why.text);
        edges_free(e);
        drop(&a);
    }
}

/* A large random list against a table of ids. */
static void test_large(void **state) {
    (void)state;
    enum { EDGES = 50000, IDS = 70000 };
    static uint32_t id[EDGES][2], number[IDS];
    static char text[EDGES * 16];
    size_t length = 0;
    uint64_t x = 1;
    uint32_t n = 0;
    for (unsigned i = 0; i < EDGES; i++) {
        for (unsigned side = 0; side < 2; side++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            id[i][side] = (uint32_t)((x >> 33) % IDS);
            number[id[i][side]] = 1;
        }
        length += (size_t)sprintf(text + length, "%u %u\n", id[i][0], id[i][1]);
    }
    for (unsigned i = 0; i < IDS; i++)
        number[i] = number[i] ? n++ : 0;
    struct attachment a = holding(text, length);
    struct repairs repairs;
    struct reason why = {""};
    struct edges *e = edge_list_read(&a, &repairs, &why);
    assert_non_null(e);
    assert_int_equal(e->n, n);
    assert_int_equal(e->n_edges, EDGES);
    for (unsigned i = 0; i < EDGES; i++)
        for (unsigned side = 0; side < 2; side++)
            assert_int_equal(e->end[i][side], number[id[i][side]]);
    edges_free(e);
    drop(&a);
}

static void test_names(void **state) {
    (void)state;
    struct names t = {0};
    char text[4000][8];
    assert_true(names_find(&t, "x", 1) == NAME_NONE);
    for (uint32_t i = 0; i < 4000; i++) {
        const uint32_t length = (uint32_t)sprintf(text[i], "%u", i * 7919 % 100003);
        assert_int_equal(names_add(&t, text[i], length), i);
    }
    for (uint32_t i = 0; i < 4000; i++) {
        assert_int_equal(names_add(&t, text[i], (uint32_t)strlen(text[i])), i);
        assert_int_equal(names_find(&t, text[i], (uint32_t)strlen(text[i])), i);
    }
    assert_true(names_find(&t, "x", 1) == NAME_NONE);
    assert_int_equal(t.n, 4000);
    names_free(&t);
}

/* Other formats at every length: read, or refused under the name of the file. */
static void test_formats_cut_anywhere(void **state) {
    (void)state;
    static const struct {
        enum graph_format format;
        const char *text;
    } whole[] = {
        {FORMAT_GRAPHML, "<?xml version=\"1.0\"?>\n<graphml>\n<!-- c -->\n<graph "
                         "edgedefault=\"directed\"><node id='a'/>\n<node id=\"b\"></node>\n<edge "
                         "source=\"a\" target='b'/></graph>\n</graphml>\n"},
        {FORMAT_GML,
         "# c\ngraph [\n node [ id 3 label \"x\ny\" ]\n node [ id 5 ]\n edge [ source 3 "
         "target 5 ]\n]\n"},
        {FORMAT_PAJEK, "*Network x\n% c\n*Vertices 3\n1 \"a b\"\n*Arcs\n1 2 1\n*Edges\n2 3\n"}};
    for (unsigned i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        const size_t size = strlen(whole[i].text);
        for (size_t length = 1; length <= size; length++) {
            struct attachment a = holding(whole[i].text, length);
            struct repairs repairs;
            struct reason why = {""};
            struct edges *e = format_read(&a, whole[i].format, &repairs, &why);
            assert_true(e || strstr(why.text, "net.edges:") == why.text);
            assert_true(e || length < size);
            edges_free(e);
            drop(&a);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_loops_and_doubles_stay),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_formats_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
