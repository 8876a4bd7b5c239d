/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command line, and that the man page and the completion know the same options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"
#include "stub_model.h"

enum { WORDS_MAX = 24 };

/* Splits at spaces; "potluck" comes first by itself. */
static bool read_line(const char *line, struct options *o, struct complaints *c,
                      char storage[512]) {
    char *words[WORDS_MAX];
    int n = 0;
    strcpy(storage, "potluck ");
    strcat(storage, line);
    for (char *w = strtok(storage, " "); w; w = strtok(NULL, " "))
        words[n++] = w;
    words[n] = NULL;
    return options_read(n, words, o, c);
}

static struct options good(const char *line, char storage[512]) {
    struct options o;
    struct complaints c = {0};
    if (!read_line(line, &o, &c, storage))
        fail_msg("%s", c.text);
    assert_null(c.text);
    return o;
}

static void refused(const char *line, const char *expected) {
    char storage[512];
    struct options o;
    struct complaints c = {0};
    assert_false(read_line(line, &o, &c, storage));
    assert_string_equal(c.text, expected);
    complaints_free(&c);
    options_free(&o);
}

static void refused_with(const char *line, const char *words) {
    char storage[512];
    struct options o;
    struct complaints c = {0};
    assert_false(read_line(line, &o, &c, storage));
    if (c.count != 1 || !strstr(c.text, words) || strncmp(c.text, "potluck: ", 9))
        fail_msg("'%s' is not the only thing in:\n%s", words, c.text);
    complaints_free(&c);
    options_free(&o);
}

static void test_defaults(void **state) {
    (void)state;
    char s[512];
    struct options o = good("run jobs/a.b.yaml", s);
    assert_int_equal(o.command, COMMAND_RUN);
    assert_string_equal(o.input, "jobs/a.b.yaml");
    assert_string_equal(o.output, "a.b.h5");
    assert_int_equal(o.replications, 0);
    assert_int_equal(o.threads, 0);
    assert_false(o.resume || o.force || o.accept_source);
    assert_true(o.max_time == 0 && o.checkpoint == 60 && o.memory > 1 << 20);
    assert_true(o.only_point == -1 && o.only_replication == -1);
    assert_int_equal(o.progress, PROGRESS_AUTO);
    options_free(&o);
    o = good("run x", s);
    assert_string_equal(o.output, "x.h5");
    options_free(&o);
    o = good("show r.h5", s);
    assert_int_equal(o.format, SHOW_TABLE);
    assert_null(o.output);
    options_free(&o);
    options_free(&o);
}

static void test_every_option(void **state) {
    (void)state;
    char s[512];
    struct options o = good("run --resume --accept-source a.yaml -o out/b.h5 -r 1e3 --threads 7 "
                            "--max-time=90 --checkpoint "
                            "2m --memory 2G --only 3:14 --progress plain",
                            s);
    assert_string_equal(o.input, "a.yaml");
    assert_string_equal(o.output, "out/b.h5");
    assert_int_equal(o.replications, 1000);
    assert_int_equal(o.threads, 7);
    assert_true(o.max_time == 90 && o.checkpoint == 120 && o.memory == (uint64_t)2 << 30);
    assert_true(o.only_point == 3 && o.only_replication == 14 && o.resume && o.accept_source &&
                !o.force);
    assert_int_equal(o.progress, PROGRESS_PLAIN);
    options_free(&o);
    o = good("run -ob.h5 -r5 --force --only=0 -- -strange-.yaml", s);
    assert_string_equal(o.input, "-strange-.yaml");
    assert_string_equal(o.output, "b.h5");
    assert_true(o.force && o.replications == 5 && o.only_point == 0 && o.only_replication == -1);
    options_free(&o);
    o = good("show --by n,k --csv r.h5", s);
    assert_string_equal(o.by, "n,k");
    assert_int_equal(o.format, SHOW_CSV);
    options_free(&o);
    o = good("show r.h5 --json", s);
    assert_int_equal(o.format, SHOW_JSON);
    options_free(&o);
    o = good("plan -r 5 --threads 2 --memory 1.5G a.yaml", s);
    assert_int_equal(o.command, COMMAND_PLAN);
    assert_true(o.memory == (uint64_t)3 << 29);
    options_free(&o);
    o = good("graph a.yaml --write net.gml --force --only 2:5 -r 9 --memory 1G", s);
    assert_int_equal(o.command, COMMAND_GRAPH);
    assert_string_equal(o.input, "a.yaml");
    assert_string_equal(o.write, "net.gml");
    assert_true(o.force && o.only_point == 2 && o.only_replication == 5 && o.replications == 9);
    assert_null(o.output);
    options_free(&o);
    o = good("graph a.yaml", s);
    assert_null(o.write);
    options_free(&o);
    o = good("run a.yaml --replications 10:1_000 --max-time auto", s);
    assert_true(o.part_first == 10 && o.part_end == 1000 && o.max_time_auto && o.max_time == 0);
    options_free(&o);
    o = good("merge --force all.h5 a.h5 b.h5 --accept-source c.h5", s);
    assert_int_equal(o.command, COMMAND_MERGE);
    assert_string_equal(o.output, "all.h5");
    assert_int_equal(o.n_inputs, 3);
    assert_string_equal(o.inputs[0], "a.h5");
    assert_string_equal(o.inputs[2], "c.h5");
    assert_true(o.force && o.accept_source);
    options_free(&o);
    o = good("list", s);
    assert_null(o.topic);
    o = good("list policies", s);
    assert_string_equal(o.topic, "policies");
}

static void test_help(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum command command, help_for;
    } cases[] = {
        {"--help", COMMAND_HELP, COMMAND_HELP},
        {"help", COMMAND_HELP, COMMAND_HELP},
        {"-h", COMMAND_HELP, COMMAND_HELP},
        {"help run", COMMAND_HELP, COMMAND_RUN},
        {"run --help", COMMAND_HELP, COMMAND_RUN},
        {"run --nonsense a b c -h", COMMAND_HELP, COMMAND_RUN},
        {"help help", COMMAND_HELP, COMMAND_HELP},
        {"show --help", COMMAND_HELP, COMMAND_SHOW},
        {"--version", COMMAND_VERSION, COMMAND_HELP},
        {"run --version", COMMAND_VERSION, COMMAND_RUN},
    };
    char s[512];
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o = good(cases[i].line, s);
        assert_int_equal(o.command, cases[i].command);
        assert_int_equal(o.help_for, cases[i].help_for);
        options_free(&o);
    }
}

static void test_times_and_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } times[] = {{"90", 90},
                 {"90s", 90},
                 {"1.5m", 90},
                 {"2h", 7200},
                 {"1d", 86400},
                 {"00:01:30", 90},
                 {"100:00:00", 360000},
                 {"1-00:00:00", 86400},
                 {"0.25", 0.25},
                 {"2-23:59:59", 259199},
                 {"1e3", 1000}};
    char s[512], line[128];
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        snprintf(line, sizeof line, "run a --max-time %s", times[i].text);
        struct options o = good(line, s);
        assert_true(o.max_time == times[i].seconds);
        options_free(&o);
    }
    static const char *const bad_times[] = {
        "3x", "-5",   "0",   "1:30", "00:60:00", "1-24:00:00", "00:00:61", "1-1",
        "s",  "1e11", "10%", "1/2",  "::",       "00:00:00",   "1h30m",    "nan"};
    for (unsigned i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++) {
        snprintf(line, sizeof line, "run a --checkpoint=%s", bad_times[i]);
        refused_with(line, "--checkpoint must be");
    }
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1048576", 1 << 20}, {"1M", 1 << 20},           {"2g", (uint64_t)2 << 30},
                 {"512MB", 512 << 20}, {"1GiB", 1 << 30},         {"1024K", 1 << 20},
                 {"0.5G", 1 << 29},    {"1T", (uint64_t)1 << 40}, {"2097152B", 2 << 20}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snprintf(line, sizeof line, "run a --memory %s", sizes[i].text);
        struct options o = good(line, s);
        assert_true(o.memory == sizes[i].bytes);
        options_free(&o);
    }
    static const char *const bad_sizes[] = {"G",    "2X", "-1G", "5",   "1e30", "2 G",
                                            "half", "B",  "iB",  "50%", "1GG"};
    for (unsigned i = 0; i < sizeof bad_sizes / sizeof bad_sizes[0]; i++) {
        snprintf(line, sizeof line, "run a --memory=%s", bad_sizes[i]);
        if (!strchr(bad_sizes[i], ' '))
            refused_with(line, "--memory must be");
    }
}

static void test_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"rum a.yaml",
         "unknown command 'rum' (allowed: run, plan, show, graph, merge, list, help; did "
         "you mean 'run'?)"},
        {"a.yaml", "did you mean 'potluck run a.yaml'?"},
        {"a.h5", "did you mean 'potluck show a.h5'?"},
        {"--threads 2 run a.yaml", "the command comes before its options: '--threads'"},
        {"run", "run needs a file: potluck run JOB.yaml"},
        {"show", "show needs a file: potluck show OUT.h5"},
        {"run a.yaml b.yaml", "run takes one JOB.yaml: 'b.yaml' is too many"},
        {"list a b", "'b' is too many"},
        {"run a.yaml --thread 2", "unknown option '--thread' of run"},
        {"run a.yaml --thread=2", "did you mean '--threads'?"},
        {"run a.yaml -x", "unknown option '-x'"},
        {"run a.yaml --csv", "--csv is an option of show, not of run"},
        {"show a.h5 -r 5", "-r is an option of run, plan, graph, not of show"},
        {"show a.h5 --csv --json", "--json contradicts --csv"},
        {"run a.yaml --resume --force", "--force contradicts --resume"},
        {"run a.yaml --force --resume", "--resume contradicts --force"},
        {"run a.yaml --force --force", "--force is given twice"},
        {"run a.yaml -r 5 -r 6", "-r is given twice"},
        {"run a.yaml -o", "-o needs a value: -o OUT.h5"},
        {"run a.yaml -o --force", "-o needs a value"},
        {"run a.yaml -o -r 5", "-o needs a value"},
        {"run a.yaml -o out/", "-o must be the name of a file"},
        {"run a.yaml --force=yes", "--force takes no value"},
        {"run a.yaml -r 0", "-r must be between 1 and 4294967295, not 0"},
        {"run a.yaml -r -5", "-r must be between 1 and 4294967295, not -5"},
        {"run a.yaml -r 1.5", "-r must be a whole number"},
        {"run a.yaml -r x", "-r must be a whole number"},
        {"run a.yaml --threads 0", "--threads must be between 1 and 4096"},
        {"run a.yaml --only x", "--only must be POINT or POINT:REPLICATION"},
        {"run a.yaml --only 1:", "--only must be"},
        {"run a.yaml --only -1", "--only must be"},
        {"run a.yaml --progress lines", "did you mean 'line'?"},
        {"run a.yaml --accept-source", "only with --resume"},
        {"run a.yaml -o a.yaml", "would replace the job file"},
        {"run a.h5", "would replace the job file"},
        {"show a.h5 --by ,n", "--by must be names"},
        {"graph", "graph needs a file: potluck graph JOB.yaml"},
        {"graph a.yaml --write", "--write needs a value: --write FILE"},
        {"graph a.yaml --write out/", "--write must be the name of a file"},
        {"graph a.yaml --force", "--force has a meaning only with --write"},
        {"graph a.yaml -o a.txt", "-o is an option of run, not of graph"},
        {"run a.yaml --write a.txt", "--write is an option of graph, not of run"},
        {"help rum", "did you mean 'run'?"},
        {"run a.yaml --replications 100", "counted from 0, not '100' (-r 100 sets their number)"},
        {"run a.yaml --replications 1:x", "--replications must be A:B"},
        {"run a.yaml --replications :5", "--replications must be A:B"},
        {"run a.yaml --replications 5:", "--replications must be A:B"},
        {"run a.yaml --replications 1:2:3", "--replications must be A:B"},
        {"run a.yaml --replications 7:7", "A below B and B at most 4294967295, not 7:7"},
        {"run a.yaml --replications 7:4294967296", "B at most 4294967295"},
        {"run a.yaml --replications 0:9 --only 3", "--replications contradicts --only"},
        {"run a.yaml --replications 0:9 -r 8", "--replications goes beyond -r 8"},
        {"show a.h5 --replications 0:9", "--replications is an option of run, plan, not of show"},
        {"merge", "merge needs a file to write and files to merge: potluck merge OUT.h5 IN.h5..."},
        {"merge a.h5", "merge needs a file to write and files to merge"},
        {"merge a.h5 b.h5 --resume", "--resume is an option of run, not of merge"},
        {"run a.yaml --max-time later", "--max-time must be a time such as"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused_with(cases[i].line, cases[i].words);
    refused("run --thread 4 a.yaml --csv -r x --resume --force",
            "potluck: unknown option '--thread' of run (allowed: -o, -r, --replications, --resume, "
            "--force, "
            "--accept-source, --threads, "
            "--max-time, --checkpoint, --memory, --only, --progress, --help, --version; did you "
            "mean '--threads'?)\n"
            "potluck: --csv is an option of show, not of run\n"
            "potluck: -r must be a whole number, not 'x'\n"
            "potluck: --force contradicts --resume\n");
}

static void test_nothing_asked(void **state) {
    (void)state;
    char name[] = "potluck", *words[] = {name, NULL};
    struct options o;
    struct complaints c = {0};
    assert_false(options_read(1, words, &o, &c));
    assert_non_null(strstr(c.text, "potluck run JOB.yaml"));
    complaints_free(&c);
    options_free(&o);
}

/* All of a file beside the sources; the caller frees. The compiler was called in the build folder,
 * where tests run. */
static char *slurp(const char *name) {
    const char *here = strrchr(__FILE__, '/');
    char *path = format_text("%.*s/../../%s", (int)(here - __FILE__), __FILE__, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    char *text = allocate(1 << 20, 1);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    free(path);
    return text;
}

/* Man pages write every hyphen of an option as \-. */
static char *as_man(const char *name) {
    char *text = allocate(2 * strlen(name) + 1, 1), *end = text;
    for (; *name; name++) {
        if (*name == '-')
            *end++ = '\\';
        *end++ = *name;
    }
    return text;
}

static void test_man_page_and_completion_know_every_option(void **state) {
    (void)state;
    char *man = slurp("src/potluck.1"), *completion = slurp("src/potluck.bash");
    for (unsigned i = 0; i < n_option_rows; i++) {
        char *name = as_man(option_rows[i].name);
        char *item = option_rows[i].argument
                         ? format_text("\n.BI \"%s \" %s\n", name, option_rows[i].argument)
                         : format_text("\n.B %s\n", name);
        if (!strstr(man, item))
            fail_msg("the man page lacks%s", item);
        for (unsigned k = 0; k < n_command_rows; k++) {
            if (!(option_rows[i].commands & 1u << command_rows[k].command))
                continue;
            char *start = format_text("    %s) options=\"", command_rows[k].name);
            char *line = strstr(completion, start);
            assert_non_null(line);
            line = strchr(line, '"') + 1;
            char *word = format_text(" %s ", option_rows[i].name);
            char *words = format_text(" %.*s ", (int)strcspn(line, "\""), line);
            if (!strstr(words, word))
                fail_msg("the completion of %s lacks %s", command_rows[k].name,
                         option_rows[i].name);
            free(start);
            free(word);
            free(words);
        }
        free(name);
        free(item);
    }
    for (unsigned k = 0; k < n_command_rows; k++) {
        char *item = format_text("\n.B potluck %s\n", command_rows[k].name);
        if (!strstr(man, item))
            fail_msg("the man page lacks%s", item);
        free(item);
    }
    free(man);
    free(completion);
}

/* The other way round: nothing in the man page that the table does not know. */
static void test_man_page_knows_no_more(void **state) {
    (void)state;
    char *man = slurp("src/potluck.1");
    for (char *p = man; (p = strstr(p, "\n.B")) != NULL; p++) {
        const char *at = strstr(p, "\\-");
        const char *end = strchr(p + 1, '\n');
        if (!at || at > end || at > p + 6)
            continue;
        char name[64];
        unsigned n = 0;
        for (; *at && !strchr(" \n\"", *at) && n < sizeof name - 1; at++)
            if (*at != '\\')
                name[n++] = *at;
        name[n] = '\0';
        bool known = false;
        for (unsigned i = 0; i < n_option_rows; i++)
            known = known || !strcmp(option_rows[i].name, name);
        if (!known)
            fail_msg("the man page knows '%s', the program does not", name);
    }
    free(man);
}

static char *listed(const char *topic, struct complaints *c) {
    size_t size = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);
    list_print(f, &stub_models, topic, c);
    fclose(f);
    return text;
}

static void test_list(void **state) {
    (void)state;
    struct complaints c = {0};
    static const char *const topics[] = {"models", "parameters", "statistics", "places", "rules"};
    char *all = listed(NULL, &c);
    for (unsigned i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        char *one = listed(topics[i], &c);
        assert_true(strlen(one) > 30);
        assert_non_null(strstr(all, one));
        free(one);
    }
    assert_int_equal(c.count, 0);
    assert_non_null(strstr(
        all, "      k: a whole number, between 1 and 1099511627776; required\n          reach\n"));
    assert_non_null(strstr(all, "      self: one of excluded, included; default excluded\n"));
    free(all);
    char *none = listed("ruls", &c);
    assert_string_equal(none, "");
    assert_string_equal(
        c.text,
        "potluck: unknown topic 'ruls' of list (allowed: models, parameters, statistics, places, "
        "rules; did you mean 'rules'?)\n");
    free(none);
    complaints_free(&c);
}

static void test_help_texts(void **state) {
    (void)state;
    for (unsigned k = 0; k < n_command_rows; k++) {
        size_t size = 0;
        char *text = NULL;
        FILE *f = open_memstream(&text, &size);
        help_print(f, command_rows[k].command);
        fclose(f);
        for (unsigned i = 0; command_rows[k].command != COMMAND_HELP && i < n_option_rows; i++) {
            char *item = format_text("\n  %s ", option_rows[i].name);
            assert_int_equal(strstr(text, item) != NULL,
                             (option_rows[i].commands >> command_rows[k].command) & 1);
            free(item);
        }
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 110);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_option),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_times_and_sizes),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_nothing_asked),
        cmocka_unit_test(test_man_page_and_completion_know_every_option),
        cmocka_unit_test(test_man_page_knows_no_more),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_help_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
