/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the command line by the tables of options_table.c: a command, then options and operands in
 * any order. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_LIMIT = 64 };

/* The command line while it is read. */
struct reading {
    int argc, at;
    char **argv;
    const struct command_row *command;
    struct options *options;
    struct complaints *complaints;
    const char *operand;
    bool options_over; /* after -- */
    bool lost;         /* after an unknown option: what follows may have been its value */
    bool given[ROWS_LIMIT];
};

static const struct command_row *find_command(const char *name) {
    for (unsigned i = 0; i < n_command_rows; i++)
        if (!strcmp(command_rows[i].name, name))
            return &command_rows[i];
    return NULL;
}

static const struct command_row *row_of(enum command command) {
    for (unsigned i = 0; i < n_command_rows; i++)
        if (command_rows[i].command == command)
            return &command_rows[i];
    return NULL;
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void unknown_command(const char *word, struct complaints *c) {
    const char *names[ROWS_LIMIT];
    char *all = duplicate_text("");
    for (unsigned i = 0; i < n_command_rows; i++) {
        names[i] = command_rows[i].name;
        char *more = format_text("%s%s%s", all, i ? ", " : "", names[i]);
        free(all);
        all = more;
    }
    const char *nearest = nearest_name(word, names, n_command_rows);
    if (word[0] == '-')
        complain(c, NULL, "the command comes before its options: '%s' (allowed: %s)", word, all);
    else if (ends_with(word, ".yaml") || ends_with(word, ".yml") || ends_with(word, ".h5"))
        complain(c, NULL, "'%s' is no command (allowed: %s; did you mean 'potluck %s %s'?)", word,
                 all, ends_with(word, ".h5") ? "show" : "run", word);
    else
        complain(c, NULL, "unknown command '%s' (allowed: %s%s%s%s)", word, all,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(all);
}

/* The name of an option without what is stuck to it: --name=value, -oOUT. */
static size_t name_length(const char *argument) {
    if (argument[1] != '-')
        return 2;
    return strcspn(argument, "=");
}

static const struct option_row *find_option(const char *argument) {
    const size_t length = name_length(argument);
    for (unsigned i = 0; i < n_option_rows; i++)
        if (strlen(option_rows[i].name) == length &&
            !strncmp(option_rows[i].name, argument, length))
            return &option_rows[i];
    return NULL;
}

static void unknown_option(const struct reading *r, const char *argument) {
    const char *names[ROWS_LIMIT];
    unsigned n = 0;
    char *all = duplicate_text("");
    for (unsigned i = 0; i < n_option_rows; i++) {
        if (!(option_rows[i].commands & 1u << r->command->command))
            continue;
        char *more = format_text("%s%s%s", all, n ? ", " : "", option_rows[i].name);
        free(all);
        all = more;
        names[n++] = option_rows[i].name;
    }
    char *word = duplicate_text(argument);
    if (word[1] == '-')
        word[name_length(word)] = '\0';
    const char *nearest = nearest_name(word, names, n);
    complain(r->complaints, NULL, "unknown option '%s' of %s (allowed: %s%s%s%s)", word,
             r->command->name, all, nearest ? "; did you mean '" : "", nearest ? nearest : "",
             nearest ? "'?" : "");
    free(word);
    free(all);
}

/* The value of an option, which may be the next argument. */
static const char *take_value(struct reading *r, const struct option_row *o, const char *argument) {
    const size_t length = name_length(argument);
    if (argument[length])
        return argument + length + (argument[length] == '=');
    const bool more = r->at < r->argc;
    const bool an_option = more && r->argv[r->at][0] == '-' && r->argv[r->at][1] &&
                           (r->argv[r->at][1] == '-' || find_option(r->argv[r->at]));
    if (more && !an_option)
        return r->argv[r->at++];
    complain(r->complaints, NULL, "%s needs a value: %s %s", o->name, o->name, o->argument);
    return NULL;
}

static void read_option(struct reading *r, const char *argument) {
    const struct option_row *o = find_option(argument);
    if (!o) {
        unknown_option(r, argument);
        r->lost = true;
        return;
    }
    const char *value = NULL;
    if (o->argument) {
        value = take_value(r, o, argument);
        if (!value)
            return;
    } else if (argument[strlen(o->name)]) {
        complain(r->complaints, NULL, "%s takes no value: '%s'", o->name, argument);
        return;
    }
    if (!(o->commands & 1u << r->command->command)) {
        char *of = duplicate_text("");
        for (unsigned i = 0; i < n_command_rows; i++)
            if (o->commands & 1u << command_rows[i].command) {
                char *more = format_text("%s%s%s", of, *of ? ", " : "", command_rows[i].name);
                free(of);
                of = more;
            }
        complain(r->complaints, NULL, "%s is an option of %s, not of %s", o->name, of,
                 r->command->name);
        free(of);
        return;
    }
    struct reason why;
    bool *given = &r->given[o - option_rows];
    if (*given)
        complain(r->complaints, NULL, "%s is given twice", o->name);
    else if (o->set && !o->set(r->options, value, &why))
        complain(r->complaints, NULL, "%s %s", o->name, why.text);
    *given = true;
}

/* The file to write, then those to read. */
static void read_file_to_merge(struct reading *r, const char *argument) {
    struct options *o = r->options;
    if (!r->operand) {
        r->operand = argument;
        o->output = duplicate_text(argument);
        return;
    }
    o->inputs = reallocate(o->inputs, o->n_inputs + 1, sizeof *o->inputs);
    o->inputs[o->n_inputs++] = argument;
}

static void read_operand(struct reading *r, const char *argument) {
    const char *operand = r->command->operand;
    if (!*operand)
        complain(r->complaints, NULL, "%s takes nothing but options: '%s'", r->command->name,
                 argument);
    else if (r->command->command == COMMAND_MERGE)
        read_file_to_merge(r, argument);
    else if (r->operand && !r->lost)
        complain(r->complaints, NULL, "%s takes one %s: '%s' is too many", r->command->name,
                 operand, argument);
    else
        r->operand = argument;
}

/* The job's name in the current folder, with .h5 in place of what follows the last dot. */
static char *default_output(const char *input) {
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
    const char *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return format_text("%.*s.h5", (int)length, base);
}

static void finish_run(struct reading *r) {
    struct options *o = r->options;
    if (o->accept_source && !o->resume)
        complain(r->complaints, NULL, "--accept-source has a meaning only with --resume");
    if (o->part_end && o->only_point >= 0)
        complain(r->complaints, NULL, "--replications contradicts --only");
    if (o->part_end && o->replications && o->part_end > o->replications)
        complain(r->complaints, NULL, "--replications goes beyond -r %llu",
                 (unsigned long long)o->replications);
    if (!o->input)
        return;
    /* Single points and replications are printed; they are written only where -o says so. */
    if (!o->output && o->only_point < 0)
        o->output = default_output(o->input);
    if (o->output && !strcmp(o->output, o->input))
        complain(r->complaints, NULL,
                 "the result would replace the job file '%s' (choose another name with -o)",
                 o->input);
}

static void finish(struct reading *r) {
    struct options *o = r->options;
    const struct command_row *c = r->command;
    if (o->command == COMMAND_LIST) {
        o->topic = r->operand;
    } else if (o->command == COMMAND_HELP) {
        const struct command_row *about = r->operand ? find_command(r->operand) : NULL;
        if (r->operand && !about)
            unknown_command(r->operand, r->complaints);
        o->help_for = about ? about->command : COMMAND_HELP;
    } else if (o->command == COMMAND_MERGE) {
        if (!r->lost && (!r->operand || !*r->operand || !o->n_inputs))
            complain(r->complaints, NULL,
                     "%s needs a file to write and files to merge: potluck %s %s", c->name, c->name,
                     c->operand);
    } else if ((!r->operand || !*r->operand) && !r->lost) {
        complain(r->complaints, NULL, "%s needs a file: potluck %s %s", c->name, c->name,
                 c->operand);
    } else {
        o->input = r->operand;
    }
    if (o->command == COMMAND_RUN)
        finish_run(r);
    if (o->command == COMMAND_GRAPH && o->force && !o->write)
        complain(r->complaints, NULL, "--force has a meaning only with --write");
}

static uint64_t default_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)1 << 30;
}

/* --help and --version are heeded wherever they stand and whatever else is wrong, except with a
 * command that does not exist. */
static bool read_help(int argc, char **argv, struct options *o) {
    const struct command_row *c = find_command(argv[1]);
    if (!c && argv[1][0] != '-')
        return false;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const bool version = !strcmp(argv[i], "--version");
        if (!version && strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
            continue;
        o->command = version ? COMMAND_VERSION : COMMAND_HELP;
        o->help_for = c ? c->command : COMMAND_HELP;
        return true;
    }
    return false;
}

/* Nothing at all was asked: the complaint is the overview. */
static void show_overview(struct complaints *c) {
    size_t size = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        world_failed("out of memory");
    help_print(f, COMMAND_HELP);
    if (fclose(f))
        world_failed("out of memory");
    *c = (struct complaints){text, size, 1};
}

bool options_read(int argc, char **argv, struct options *options, struct complaints *complaints) {
    CHECK(n_option_rows <= ROWS_LIMIT && n_command_rows <= ROWS_LIMIT);
    *options = (struct options){
        .checkpoint = 60, .memory = default_memory(), .only_point = -1, .only_replication = -1};
    if (argc < 2) {
        show_overview(complaints);
        return false;
    }
    if (read_help(argc, argv, options))
        return true;
    struct reading r = {argc,  2,     argv,   find_command(argv[1]), options, complaints, NULL,
                        false, false, {false}};
    if (!r.command) {
        unknown_command(argv[1], complaints);
        return false;
    }
    options->command = r.command->command;
    while (r.at < argc) {
        const char *argument = argv[r.at++];
        if (r.options_over || argument[0] != '-' || !argument[1])
            read_operand(&r, argument);
        else if (!strcmp(argument, "--"))
            r.options_over = true;
        else
            read_option(&r, argument);
    }
    finish(&r);
    return !complaints->count;
}

void options_free(struct options *options) {
    free(options->output);
    free(options->inputs);
    options->output = NULL;
    options->inputs = NULL;
}

static void print_options(FILE *out, const struct command_row *c) {
    fputs("\nOptions:\n", out);
    for (unsigned i = 0; i < n_option_rows; i++) {
        const struct option_row *o = &option_rows[i];
        if (!(o->commands & 1u << c->command))
            continue;
        char *left = format_text("%s %s", o->name, o->argument ? o->argument : "");
        fprintf(out, "  %-26s %s\n", left, o->meaning);
        free(left);
    }
}

void help_print(FILE *out, enum command command) {
    const struct command_row *c = command == COMMAND_HELP ? NULL : row_of(command);
    if (c) {
        fprintf(out, "usage: potluck %s [options] %s\n\n%s\n", c->name, c->operand, c->text);
        print_options(out, c);
        return;
    }
    fputs("potluck: a parallel Monte Carlo experiment runner for load-balancing research\n\n", out);
    for (unsigned i = 0; i < n_command_rows; i++) {
        char *left = format_text("potluck %s %s", command_rows[i].name, command_rows[i].operand);
        fprintf(out, "  %-30s %s\n", left, command_rows[i].meaning);
        free(left);
    }
    fputs("\npotluck COMMAND --help says more; man potluck says most.\n"
          "mpirun -n R potluck run JOB.yaml uses R ranks. Exit codes: 0 done, 1 the world broke,\n"
          "2 the input is wrong, 3 a check disagreed, 75 stopped early with everything saved.\n",
          out);
}

void options_help(enum command command) {
    help_print(stdout, command);
}
