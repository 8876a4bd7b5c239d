/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random graphs and named ones: families against their laws; the same words, the same graph. */
#include "by_hand.h"
#include "graph_checks.h"

#include <math.h>
#include <pthread.h>

/* A space that was made from its text; fails the test when it cannot be. */
struct made {
    struct by_hand by_hand;
    struct space space;
    const struct topology *topology;
};

static void describe_by_hand(struct made *m, const char *text) {
    struct reason why = {""};
    unsigned at;
    m->topology = topology_of(by_hand(&m->by_hand, &topologies, text));
    if (!m->topology->describe(m->by_hand.value, &m->space, &why, &at))
        fail_msg("%s: %s", text, why.text);
}
static void make_by_hand(struct made *m, struct stream words) {
    struct reason why = {""};
    if (!space_make(m->topology, m->by_hand.value, words, &m->space, &why))
        fail_msg("%s: %s", m->by_hand.text, why.text);
}

static const char *const families[] = {
    "erdos-renyi n=300 p=0.02",
    "erdos-renyi n=300 mean_degree=3 connect=largest",
    "erdos-renyi n=300 edges=700",
    "geometric n=300 radius=0.08",
    "geometric n=300 mean_degree=9 torus=true",
    "barabasi-albert n=300",
    "barabasi-albert n=300 m=4 power=1.5",
    "power-law n=300 mean_degree=4",
    "watts-strogatz n=300 neighbours=2 rewire=0.2",
    "regular n=300 degree=3",
    "regular n=60 degree=40",
};
enum { FAMILIES = sizeof families / sizeof *families };

static void test_same_words(void **state) {
    static const struct stream words[] = {{77, 0}, {77, 0}, {77, 1}, {78, 0}};
    (void)state;
    for (unsigned f = 0; f < FAMILIES; f++) {
        struct made m[4];
        for (unsigned i = 0; i < 4; i++) {
            describe_by_hand(&m[i], families[f]);
            assert_true(m[i].space.fresh);
            make_by_hand(&m[i], words[i]);
            check_rows(m[i].space.graph);
        }
        assert_true(same_graph(m[0].space.graph, m[1].space.graph));
        assert_false(same_graph(m[0].space.graph, m[2].space.graph));
        assert_false(same_graph(m[0].space.graph, m[3].space.graph));
        for (unsigned i = 0; i < 4; i++)
            space_clear(&m[i].space);
        assert_null(m[0].space.graph);
    }
}

/* Attempts are lanes of their own. */
static void test_attempts(void **state) {
    struct made m;
    struct reason why;
    (void)state;
    describe_by_hand(&m, families[0]);
    struct edges *e[2];
    struct graph *g[2];
    for (uint32_t i = 0; i < 2; i++) {
        e[i] = m.topology->build(m.by_hand.value, (struct stream){77, 0}, i, &why);
        g[i] = graph_new(e[i]);
    }
    assert_false(same_graph(g[0], g[1]));
    for (unsigned i = 0; i < 2; i++) {
        edges_free(e[i]);
        graph_free(g[i]);
    }
}

enum { TURNS = 60 };
static void *make_all(void *graphs) {
    struct graph **into = graphs;
    for (uint32_t i = 0; i < TURNS; i++) {
        struct made m;
        describe_by_hand(&m, families[i % FAMILIES]);
        make_by_hand(&m, (struct stream){5, i});
        into[i] = m.space.graph;
    }
    return NULL;
}

static void test_threads(void **state) {
    struct graph *alone[TURNS], *together[2][TURNS];
    pthread_t thread[2];
    (void)state;
    make_all(alone);
    for (unsigned t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, make_all, together[t]), 0);
    for (unsigned t = 0; t < 2; t++)
        pthread_join(thread[t], NULL);
    for (unsigned i = 0; i < TURNS; i++) {
        for (unsigned t = 0; t < 2; t++) {
            assert_true(same_graph(alone[i], together[t][i]));
            graph_free(together[t][i]);
        }
        graph_free(alone[i]);
    }
}

/* What is said before a graph is made holds for it. */
static void check_made(const struct space *before, const struct space *s) {
    const struct graph *g = s->graph;
    struct search search;
    uint64_t *end = allocate(g->n, sizeof *end);
    void *memory = allocate(search_bytes(g->n), 1);
    assert_int_equal(s->n, g->n);
    assert_true(s->n == before->n || (before->varies && s->n < before->n));
    assert_true(s->connected == (g->largest == g->n));
    assert_true(s->connected || !before->connected);
    assert_true(s->connected || s->connect == CONNECT_ANY);
    assert_true(before->bytes > 0 && before->nanoseconds > 0);
    search_init(&search, g->n, memory);
    for (uint32_t u = 0; u < g->n; u++) {
        const uint64_t part = graph_shells(g, &search, u, (uint32_t)g->n - 1, end);
        assert_int_equal(end[s->diameter], part);
    }
    free(memory);
    free(end);
}

static void test_made(void **state) {
    static const char *const more[] = {
        "erdos-renyi n=1 p=0.5",
        "erdos-renyi n=1 mean_degree=0",
        "erdos-renyi n=2 mean_degree=1",
        "erdos-renyi n=2 edges=0",
        "erdos-renyi n=5 edges=10",
        "erdos-renyi n=9 p=1",
        "erdos-renyi n=9 p=0",
        "erdos-renyi n=9 p=0 connect=largest",
        "erdos-renyi n=9 mean_degree=2 connect=redraw",
        "geometric n=1 radius=0",
        "geometric n=1 mean_degree=0 torus=true",
        "geometric n=2 radius=1",
        "geometric n=30 radius=2",
        "geometric n=30 radius=0.8 torus=true",
        "geometric n=30 mean_degree=28",
        "barabasi-albert n=2",
        "barabasi-albert n=5 m=4",
        "barabasi-albert n=40 m=2 power=0",
        "barabasi-albert n=40 m=1 power=10",
        "power-law n=1 mean_degree=0",
        "power-law n=2 mean_degree=0.5",
        "power-law n=3 mean_degree=1 exponent=100",
        "power-law n=40 mean_degree=19.5 exponent=2",
        "watts-strogatz n=3 neighbours=1 rewire=1",
        "watts-strogatz n=7 neighbours=3 rewire=1",
        "watts-strogatz n=40 neighbours=2 rewire=1 connect=largest",
        "regular n=1 degree=0",
        "regular n=2 degree=1",
        "regular n=2 degree=0",
        "regular n=9 degree=4",
        "regular n=9 degree=8",
        "regular n=40 degree=36",
    };
    (void)state;
    for (unsigned i = 0; i < FAMILIES + sizeof more / sizeof *more; i++) {
        struct made m;
        describe_by_hand(&m, i < FAMILIES ? families[i] : more[i - FAMILIES]);
        for (uint32_t r = 0; r < 5; r++) {
            struct space made = m.space;
            struct reason why = {""};
            if (!space_make(m.topology, m.by_hand.value, (struct stream){9, r}, &made, &why))
                fail_msg("%s: %s", m.by_hand.text, why.text);
            check_made(&m.space, &made);
            space_clear(&made);
        }
    }
}

static void test_refused(void **state) {
    static const struct {
        const char *text;
        unsigned at;
    } refused[] = {
        {"erdos-renyi n=5", 1},
        {"erdos-renyi n=5 p=0.1 edges=3", 3},
        {"erdos-renyi n=5 p=0.1 mean_degree=1", 2},
        {"erdos-renyi n=5 mean_degree=4.5", 1},
        {"erdos-renyi n=1 edges=1", 3},
        {"erdos-renyi n=5 edges=11", 3},
        {"geometric n=9", 1},
        {"geometric n=9 radius=0.1 mean_degree=1", 2},
        {"geometric n=9 mean_degree=7.9", 2},
        {"geometric n=9 mean_degree=6.3 torus=true", 2},
        {"geometric n=1 mean_degree=1", 2},
        {"barabasi-albert n=1", 1},
        {"barabasi-albert n=5 m=5", 1},
        {"power-law n=2 mean_degree=0.6", 1},
        {"watts-strogatz n=4 neighbours=2 rewire=0", 1},
        {"watts-strogatz n=1 neighbours=1 rewire=0", 1},
        {"regular n=5 degree=5", 1},
        {"regular n=5 degree=3", 1},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct by_hand b;
        struct space s;
        struct reason why = {""};
        unsigned at = 99;
        const struct topology *t = topology_of(by_hand(&b, &topologies, refused[i].text));
        assert_false(t->describe(b.value, &s, &why, &at));
        assert_int_equal(at, refused[i].at);
        assert_true(strlen(why.text) > 10);
    }
}

static void test_redraw(void **state) {
    struct made m;
    struct reason why = {""};
    (void)state;
    /* One in seven or so is connected. */
    for (uint32_t r = 0; r < 20; r++) {
        describe_by_hand(&m, "erdos-renyi n=100 mean_degree=4 connect=redraw");
        assert_false(m.space.varies);
        make_by_hand(&m, (struct stream){3, r});
        assert_int_equal(m.space.graph->components, 1);
        assert_int_equal(m.space.n, 100);
        space_clear(&m.space);
    }
    describe_by_hand(&m, "erdos-renyi n=1000 mean_degree=1 connect=redraw");
    assert_false(space_make(m.topology, m.by_hand.value, (struct stream){3, 0}, &m.space, &why));
    assert_non_null(strstr(why.text, "connect: any"));
    assert_non_null(strstr(why.text, "connect: largest"));
    assert_null(m.space.graph);
}

/* Mean of something over many graphs, compared with its law at T standard errors: the t quantile
 * for the fewest graphs (100) that leaves 1e-4 of false alarms to all 80 comparisons here. With the
 * numbers below a relative error of 1 % in a connection radius, or of 3 % in the share of servers of
 * the commonest degrees, is found nearly always. */
static const double T = 5.4;

struct sample {
    double n, sum, squares;
};
static void add(struct sample *s, double x) {
    s->n++;
    s->sum += x;
    s->squares += x * x;
}
static void check_mean(const struct sample *s, double law, double bias) {
    const double mean = s->sum / s->n;
    const double error = sqrt((s->squares / s->n - mean * mean) / (s->n - 1));
    if (!(error > 0) || fabs(mean - law) > T * error + bias)
        fail_msg("mean %g with standard error %g, should be %g", mean, error, law);
}

enum { DEGREES = 16 };
static void count_degrees(const struct graph *g, struct sample *of) {
    uint32_t count[DEGREES] = {0};
    for (uint32_t u = 0; u < g->n; u++)
        if (graph_degree(g, u) < DEGREES)
            count[graph_degree(g, u)]++;
    for (unsigned k = 0; k < DEGREES; k++)
        add(&of[k], count[k]);
}

/* Servers by degree, over `graphs` of them, against shares[k - least] for k = least, ..; degrees
 * that come up less than 100 times are left out. `bias`: servers that may be amiss. */
static void check_degrees(const char *text, uint32_t graphs, unsigned least, double bias,
                          const double *shares, unsigned n_shares) {
    struct sample of[DEGREES] = {{0}};
    struct made m;
    describe_by_hand(&m, text);
    const double n = (double)m.space.n;
    for (uint32_t r = 0; r < graphs; r++) {
        make_by_hand(&m, (struct stream){31, r});
        count_degrees(m.space.graph, of);
        space_clear(&m.space);
    }
    for (unsigned i = 0; i < n_shares && least + i < DEGREES; i++)
        if (shares[i] * n * graphs >= 100)
            check_mean(&of[least + i], n * shares[i], bias);
}

static void test_erdos_renyi(void **state) {
    /* Binomial(99, 0.05) and Binomial(999, 0.01); shares of degree 0 give the isolated ones. */
    static const double sparse[] = {
        0.006232136021, 0.03247270874, 0.08374540676,   0.1425141133,   0.1800178273,  0.1800178273,
        0.1484357523,   0.1037934208,  0.06282233364,   0.03343176819,  0.01583610072, 0.0067436027,
        0.002602794025, 0.0009167736,  0.0002964004884, 8.840014568e-05};
    static const double larger[] = {4.360732062e-05, 0.000440037508, 0.002217966833, 0.007445498091,
                                    0.0187265558,    0.03764226874,  0.06299059785,  0.09025925493,
                                    0.1130519961,    0.1257402111,   0.1257402111,   0.1141938189,
                                    0.09496927028,   0.07283191124,  0.05181260064,  0.03436728056};
    (void)state;
    check_degrees("erdos-renyi n=100 p=0.05", 1000, 0, 0, sparse, 16);
    check_degrees("erdos-renyi n=100 mean_degree=4.95", 1000, 0, 0, sparse, 16);
    check_degrees("erdos-renyi n=1000 p=0.01", 200, 0, 0, larger, 16);
}

static void test_geometric(void **state) {
    static const struct {
        const char *text;
        double linked; /* probability that two given servers are */
    } laws[] = {
        {"geometric n=200 radius=0.05 torus=true", 0.00785398163397},
        {"geometric n=200 radius=0.1 torus=true", 0.0314159265359},
        {"geometric n=200 radius=0.2 torus=true", 0.125663706144},
        {"geometric n=200 radius=0.2", 0.10513037281},
        {"geometric n=200 mean_degree=10", 10. / 199},
        {"geometric n=200 mean_degree=10 torus=true", 10. / 199},
        {"geometric n=50 mean_degree=46", 46. / 49},
        {"geometric n=50 mean_degree=38 torus=true", 38. / 49},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof laws / sizeof *laws; i++) {
        struct sample edges = {0};
        struct made m;
        describe_by_hand(&m, laws[i].text);
        const double n = (double)m.space.n;
        assert_true(fabs(m.space.mean_degree - (n - 1) * laws[i].linked) < 1e-8 * n);
        for (uint32_t r = 0; r < 1000; r++) {
            make_by_hand(&m, (struct stream){32, r});
            add(&edges, (double)m.space.graph->n_edges);
            space_clear(&m.space);
        }
        check_mean(&edges, n * (n - 1) / 2 * laws[i].linked, 0);
    }
}

/* 2m(m+1) / (k(k+1)(k+2)) holds for n large: the first m+1 servers are different. */
static void test_barabasi_albert(void **state) {
    static const char *const text[] = {"barabasi-albert n=10000 m=1", "barabasi-albert n=10000 m=2",
                                       "barabasi-albert n=10000 m=3"};
    static const double shares[3][12] = {
        {0.6666666667, 0.1666666667, 0.06666666667, 0.03333333333, 0.01904761905, 0.0119047619,
         0.007936507937, 0.005555555556, 0.00404040404, 0.00303030303, 0.002331002331,
         0.001831501832},
        {0.5, 0.2, 0.1, 0.05714285714, 0.03571428571, 0.02380952381, 0.01666666667, 0.01212121212,
         0.009090909091, 0.006993006993, 0.005494505495, 0.004395604396},
        {0.4, 0.2, 0.1142857143, 0.07142857143, 0.04761904762, 0.03333333333, 0.02424242424,
         0.01818181818, 0.01398601399, 0.01098901099, 0.008791208791, 0.007142857143}};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned m = i + 1;
        check_degrees(text[i], 100, m, m + 1, shares[i], 12);
    }
}

/* What is exact: edges, degrees, the ring before it is rewired. */
static void test_exact(void **state) {
    static const struct {
        const char *text;
        uint64_t edges;
    } exact[] = {
        {"erdos-renyi n=300 edges=700", 700},
        {"barabasi-albert n=500 m=1", 499},
        {"barabasi-albert n=500 m=2", 997},  /* 1 + 2 + 2 + .. */
        {"barabasi-albert n=500 m=3", 1494}, /* 1 + 2 + 3 + 3 + .. */
        {"power-law n=300 mean_degree=4.5", 675},
        {"watts-strogatz n=300 neighbours=3 rewire=0.3", 900},
        {"watts-strogatz n=300 neighbours=3 rewire=1", 900},
        {"regular n=300 degree=5", 750},
        {"regular n=50 degree=33", 825},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof exact / sizeof *exact; i++) {
        struct made m;
        describe_by_hand(&m, exact[i].text);
        make_by_hand(&m, (struct stream){1, i});
        const struct graph *g = m.space.graph;
        assert_int_equal(g->n_edges, exact[i].edges);
        assert_int_equal(g->loops + g->doubles, 0);
        if (!strncmp(exact[i].text, "regular", 7))
            for (uint32_t u = 0; u < g->n; u++)
                assert_int_equal(graph_degree(g, u), 2 * exact[i].edges / g->n);
        space_clear(&m.space);
    }
    struct made ring;
    describe_by_hand(&ring, "watts-strogatz n=30 neighbours=2 rewire=0");
    make_by_hand(&ring, (struct stream){1, 0});
    for (uint32_t u = 0; u < 30; u++)
        for (uint32_t step = 1; step <= 2; step++)
            assert_true(in_row(ring.space.graph, u, (u + step) % 30));
    space_clear(&ring.space);
}

/* Servers within reach as guessed, where the guess should be good: shells still small. */
static void test_guess(void **state) {
    static const char *const sparse[] = {
        "erdos-renyi n=20000 mean_degree=5", "regular n=20000 degree=4",
        "power-law n=20000 mean_degree=8 exponent=4", "geometric n=20000 mean_degree=12"};
    (void)state;
    for (unsigned i = 0; i < sizeof sparse / sizeof *sparse; i++) {
        struct made m;
        struct search search;
        uint64_t end[4], found = 0;
        describe_by_hand(&m, sparse[i]);
        const double guess = space_neighbours_guess(&m.space, 3);
        make_by_hand(&m, (struct stream){4, 0});
        void *memory = allocate(search_bytes(m.space.n), 1);
        search_init(&search, m.space.n, memory);
        for (uint32_t u = 0; u < 2000; u++)
            found += graph_shells(m.space.graph, &search, u * 10, 3, end) - 1;
        const double mean = (double)found / 2000;
        if (guess < mean / 1.5 || guess > mean * 1.5)
            fail_msg("%s: %g servers, guess %g", sparse[i], mean, guess);
        free(memory);
        space_clear(&m.space);
    }
}

static void test_named(void **state) {
    struct made m;
    char word[64], text[100];
    (void)state;
    const struct parameter *name = &by_hand_kind(&topologies, "named")->parameters[0];
    for (unsigned i = 0; parameter_word(name, i, word, sizeof word); i++) {
        snprintf(text, sizeof text, "named name=%s", word);
        describe_by_hand(&m, text);
        const struct space before = m.space;
        make_by_hand(&m, (struct stream){0});
        check_made(&before, &m.space);
        assert_int_equal(m.space.graph->loops + m.space.graph->doubles, 0);
        assert_false(m.space.fresh);
        assert_true(m.space.connected == before.connected);
        if (!strcmp(word, "petersen")) {
            assert_int_equal(m.space.n, 10);
            for (uint32_t u = 0; u < 10; u++)
                assert_int_equal(graph_degree(m.space.graph, u), 3);
        }
        if (!strcmp(word, "zachary"))
            assert_true(m.space.n == 34 && m.space.graph->n_edges == 78);
        space_clear(&m.space);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_words),      cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_made),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_redraw),
        cmocka_unit_test(test_erdos_renyi),     cmocka_unit_test(test_geometric),
        cmocka_unit_test(test_barabasi_albert), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_guess),           cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
