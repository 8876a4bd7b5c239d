/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command line. One table of commands and one of options feed the parser, --help of each
 * command, the man page test and the bash completion. */
#ifndef POTLUCK_OPTIONS_H
#define POTLUCK_OPTIONS_H

#include "fail.h"

#include <stdio.h>

enum command {
    COMMAND_HELP,
    COMMAND_VERSION,
    COMMAND_RUN,
    COMMAND_PLAN,
    COMMAND_SHOW,
    COMMAND_GRAPH,
    COMMAND_LIST,
    COMMAND_MERGE
};
enum progress_kind { PROGRESS_AUTO, PROGRESS_LINE, PROGRESS_PLAIN, PROGRESS_NONE };
enum show_format { SHOW_TABLE, SHOW_CSV, SHOW_JSON };

struct options {
    enum command command;
    enum command help_for; /* COMMAND_HELP: the command it was asked for, COMMAND_HELP itself for
                              the overview */
    const char *input;     /* job file or result file; NULL for list, help, merge, version */
    const char **inputs;   /* merge: the files to merge; the list is owned */
    unsigned n_inputs;
    char *output;      /* run: OUT.h5; "-o" or the job's base name in the current folder with
                              .h5; merge: the first operand; owned */
    const char *topic; /* list: topologies, policies, parameters, statistics, models; NULL: all */
    const char *by;    /* show --by: column names separated by commas, or NULL */
    const char *histogram; /* show --histogram: its name, or NULL */
    const char *write;     /* graph --write: file for the graph, or NULL */
    enum show_format format;
    uint64_t replications;         /* -r; 0: as the job says */
    uint64_t part_first, part_end; /* --replications A:B, half open; end 0: all */
    bool resume, force, accept_source;
    unsigned
        threads; /* --threads; 0: as many as the cores this process may use, or OMP_NUM_THREADS */
    double max_time;          /* seconds; 0: none */
    bool max_time_auto;       /* what the batch system leaves */
    double checkpoint;        /* seconds between snapshots, 60 */
    uint64_t memory;          /* bytes per rank for tables; default half of what the machine has */
    int64_t only_point;       /* --only POINT[:REPLICATION]; -1: all */
    int64_t only_replication; /* -1: all of the point */
    enum progress_kind progress;
};

/* Fills `options` from the command line, or complains (each message names the argument, what is
 * allowed and the nearest option) and returns false. */
bool options_read(int argc, char **argv, struct options *options, struct complaints *complaints);
void options_free(struct options *options);
/* Help of one command, or of all, to stdout. */
void options_help(enum command command);
/* The same to a file. */
void help_print(FILE *out, enum command command);

struct catalogue;
/* `potluck list [topic]`: what a job can name, from the tables of the models. Complains about an
 * unknown topic. */
bool list_print(FILE *out, const struct catalogue *models, const char *topic,
                struct complaints *complaints);

/* One row per command and per option. */
struct command_row {
    const char *name;
    enum command command;
    const char *operand; /* JOB.yaml; in brackets when it may be left out; "" for none */
    const char *meaning; /* one line */
    const char *text;    /* a paragraph for its help */
};
struct option_row {
    const char *name;
    const char *argument; /* NULL: a switch */
    unsigned commands;    /* bits 1 << command: those that take it */
    const char *meaning;
    /* Stores the value, or says what is wrong with it; NULL for --help and --version. */
    bool (*set)(struct options *options, const char *value, struct reason *why);
};
extern const struct command_row command_rows[];
extern const unsigned n_command_rows;
extern const struct option_row option_rows[];
extern const unsigned n_option_rows;

#endif
