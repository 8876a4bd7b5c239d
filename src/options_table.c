/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every command and every option: what the parser, --help, the man page and the completion agree
 * on. */
#include "number.h"
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct command_row command_rows[] = {
    {"run", COMMAND_RUN, "JOB.yaml", "play a job, write one result file",
     "Plays every point of the job and writes OUT.h5, by default the name of the job in the "
     "current\n"
     "folder. Uses all cores, or all ranks when started by mpirun or srun; the result is the same\n"
     "file, byte for byte, on any number of ranks and threads. USR1, TERM and INT save what is "
     "done\n"
     "and end with exit code 75; --resume carries on."},
    {"plan", COMMAND_PLAN, "JOB.yaml", "points, work, memory and time of a job; plays nothing",
     "Checks the job and says what running it would take."},
    {"show", COMMAND_SHOW, "OUT.h5", "a table of a result file",
     "Prints one row per point of a result file, complete or not; the small picture at its end is "
     "how\n"
     "servers or time spread over loads. --csv and --json have every column, or every bin."},
    {"graph", COMMAND_GRAPH, "JOB.yaml", "what the topologies of a job are like",
     "Makes each topology of the job, or that of one point, and says how large it is, how servers\n"
     "are connected, how far apart they are and whom k hops reach; --write puts it into a file.\n"
     "Random ones are those of replication 0 unless --only names another."},
    {"merge", COMMAND_MERGE, "OUT.h5 IN.h5...", "disjoint replications of one job in one file",
     "Puts result files of one job, each with replications of its own (run --replications A:B), "
     "into\n"
     "the file that one run of them all would give, byte for byte. Files that the job names are "
     "looked\n"
     "for beside the first IN.h5, then in the current folder."},
    {"list", COMMAND_LIST, "[TOPIC]", "what a job can name",
     "Topics: models, parameters, statistics, and every sort of thing that has names of its own, "
     "such\n"
     "as topologies and policies. Without a topic: all of them."},
    {"help", COMMAND_HELP, "[COMMAND]", "help of a command", "The same as COMMAND --help."},
};
const unsigned n_command_rows = sizeof command_rows / sizeof command_rows[0];

static bool set_output(struct options *o, const char *value, struct reason *why) {
    if (!*value || value[strlen(value) - 1] == '/')
        return refuse(why, "must be the name of a file, not '%s'", value);
    o->output = duplicate_text(value);
    return true;
}

/* From 1 to most. */
static bool whole(const char *value, uint64_t most, uint64_t *into, struct reason *why) {
    const enum number_verdict verdict = number_count(value, into);
    if (verdict == NUMBER_NONE || verdict == NUMBER_NOT_WHOLE)
        return refuse(why, "must be a whole number, not '%s'", value);
    if (verdict != NUMBER_GOOD || *into < 1 || *into > most)
        return refuse(why, "must be between 1 and %llu, not %s", (unsigned long long)most, value);
    return true;
}

static bool set_replications(struct options *o, const char *value, struct reason *why) {
    return whole(value, UINT32_MAX, &o->replications, why);
}

static bool set_part(struct options *o, const char *value, struct reason *why) {
    char first[64];
    uint64_t one = 0;
    const char *colon = strchr(value, ':');
    const size_t length = colon ? (size_t)(colon - value) : 0;
    if (!colon && number_count(value, &one) == NUMBER_GOOD)
        return refuse(why,
                      "must be A:B, the first replication and the one after the last, counted "
                      "from 0, not '%s' (-r %s sets their number)",
                      value, value);
    bool good = colon && length < sizeof first;
    if (good) {
        memcpy(first, value, length);
        first[length] = '\0';
        good = number_count(first, &o->part_first) == NUMBER_GOOD &&
               number_count(colon + 1, &o->part_end) == NUMBER_GOOD;
    }
    if (!good)
        return refuse(why,
                      "must be A:B, the first replication and the one after the last, counted "
                      "from 0, not '%s'",
                      value);
    return (o->part_first < o->part_end && o->part_end <= UINT32_MAX) ||
           refuse(why, "must be A:B with A below B and B at most %u, not %s", UINT32_MAX, value);
}

static bool set_threads(struct options *o, const char *value, struct reason *why) {
    uint64_t threads = 0;
    const bool good = whole(value, 4096, &threads, why);
    o->threads = (unsigned)threads;
    return good;
}

/* d-hh:mm:ss or hh:mm:ss, as batch systems write it. */
static bool clock_seconds(const char *value, double *seconds) {
    unsigned days = 0, h, m, s;
    int end = 0;
    if (strspn(value, "0123456789:-") != strlen(value))
        return false;
    if (strchr(value, '-')) {
        if (sscanf(value, "%6u-%2u:%2u:%2u%n", &days, &h, &m, &s, &end) != 4)
            return false;
    } else if (sscanf(value, "%6u:%2u:%2u%n", &h, &m, &s, &end) != 3) {
        return false;
    }
    *seconds = 86400.0 * days + 3600.0 * h + 60.0 * m + s;
    return !value[end] && m < 60 && s < 60 && (!strchr(value, '-') || h < 24);
}

/* 90, 90s, 10m, 2h, 1d, 1-00:00:00, 02:00:00. */
static bool duration(const char *value, double *seconds, struct reason *why) {
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char number[64];
    const size_t length = strlen(value);
    double unit = 1, count;
    bool good = length > 0 && length < sizeof number;
    if (good) {
        memcpy(number, value, length + 1);
        for (unsigned i = 0; i < 4; i++)
            if (value[length - 1] == units[i].letter) {
                unit = units[i].seconds;
                number[length - 1] = '\0';
            }
        good = !strpbrk(number, "/%") && number_real(number, &count) == NUMBER_GOOD;
    }
    if (good)
        *seconds = count * unit;
    else if (!clock_seconds(value, seconds))
        return refuse(why,
                      "must be a time such as 90, 90s, 10m, 2h, 02:00:00 or 1-00:00:00, not '%s'",
                      value);
    return (*seconds > 0 && *seconds < 1e10) ||
           refuse(why, "must be above zero and below 1e10 s, not %s", value);
}

static bool set_max_time(struct options *o, const char *value, struct reason *why) {
    o->max_time_auto = strcmp(value, "auto") == 0;
    return o->max_time_auto || duration(value, &o->max_time, why);
}

static bool set_checkpoint(struct options *o, const char *value, struct reason *why) {
    return duration(value, &o->checkpoint, why);
}

/* 4096, 512M, 2G, 1.5G, 2GB, 2GiB: powers of 1024. */
static bool set_memory(struct options *o, const char *value, struct reason *why) {
    static const char letters[] = "KMGT";
    char number[64];
    size_t length = strlen(value);
    double bytes = 0;
    bool good = length > 0 && length < sizeof number;
    if (good) {
        memcpy(number, value, length + 1);
        double unit = 1;
        if (length > 1 && number[length - 1] == 'B')
            number[--length] = '\0';
        if (length > 2 && number[length - 1] == 'i')
            number[--length] = '\0';
        const char *letter = strchr(letters, number[length - 1] & ~0x20);
        if (letter && number[length - 1]) {
            for (long i = letter - letters; i >= 0; i--)
                unit *= 1024;
            number[length - 1] = '\0';
        }
        good = !strpbrk(number, "/%") && number_real(number, &bytes) == NUMBER_GOOD;
        bytes *= unit;
    }
    if (!good)
        return refuse(why, "must be a size such as 512M or 2G, not '%s'", value);
    if (bytes < 0x1p20 || bytes > 0x1p50)
        return refuse(why, "must be between 1M and 1024T, not %s", value);
    o->memory = (uint64_t)bytes;
    return true;
}

static bool set_only(struct options *o, const char *value, struct reason *why) {
    char text[64];
    const char *colon = strchr(value, ':');
    const size_t length = colon ? (size_t)(colon - value) : strlen(value);
    uint64_t point = 0, replication = 0;
    bool good = length < sizeof text;
    if (good) {
        memcpy(text, value, length);
        text[length] = '\0';
        good = number_count(text, &point) == NUMBER_GOOD && point <= INT64_MAX;
    }
    if (good && colon)
        good = number_count(colon + 1, &replication) == NUMBER_GOOD && replication < UINT32_MAX;
    if (!good)
        return refuse(why, "must be POINT or POINT:REPLICATION, counted from 0, not '%s'", value);
    o->only_point = (int64_t)point;
    o->only_replication = colon ? (int64_t)replication : -1;
    return true;
}

static bool set_progress(struct options *o, const char *value, struct reason *why) {
    static const char *const words[] = {"auto", "line", "plain", "none"};
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(value, words[i])) {
            o->progress = (enum progress_kind)i;
            return true;
        }
    const char *nearest = nearest_name(value, words, 4);
    return refuse(why, "must be auto, line, plain or none, not '%s'%s%s%s", value,
                  nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}

static bool set_histogram(struct options *o, const char *value, struct reason *why) {
    if (!*value)
        return refuse(why, "must be the name of a histogram, such as load_count, not ''");
    o->histogram = value;
    return true;
}

static bool set_by(struct options *o, const char *value, struct reason *why) {
    const size_t length = strlen(value);
    if (!length || value[0] == ',' || value[length - 1] == ',' || strstr(value, ",,"))
        return refuse(why, "must be names of columns separated by commas, not '%s'", value);
    o->by = value;
    return true;
}

static bool set_write(struct options *o, const char *value, struct reason *why) {
    if (!*value || value[strlen(value) - 1] == '/')
        return refuse(why, "must be the name of a file, not '%s'", value);
    o->write = value;
    return true;
}

static bool set_csv(struct options *o, const char *value, struct reason *why) {
    (void)value;
    if (o->format == SHOW_JSON)
        return refuse(why, "contradicts --json");
    o->format = SHOW_CSV;
    return true;
}

static bool set_json(struct options *o, const char *value, struct reason *why) {
    (void)value;
    if (o->format == SHOW_CSV)
        return refuse(why, "contradicts --csv");
    o->format = SHOW_JSON;
    return true;
}

static bool set_resume(struct options *o, const char *value, struct reason *why) {
    (void)value;
    o->resume = true;
    return !o->force || refuse(why, "contradicts --force");
}

static bool set_force(struct options *o, const char *value, struct reason *why) {
    (void)value;
    o->force = true;
    return !o->resume || refuse(why, "contradicts --resume");
}

static bool set_accept_source(struct options *o, const char *value, struct reason *why) {
    (void)value;
    (void)why;
    o->accept_source = true;
    return true;
}

enum {
    RUN = 1 << COMMAND_RUN,
    PLAN = 1 << COMMAND_PLAN,
    SHOW = 1 << COMMAND_SHOW,
    GRAPH = 1 << COMMAND_GRAPH,
    MERGE = 1 << COMMAND_MERGE,
    EVERY = RUN | PLAN | SHOW | GRAPH | MERGE | 1 << COMMAND_LIST | 1 << COMMAND_HELP
};

const struct option_row option_rows[] = {
    {"-o", "OUT.h5", RUN, "result file; default: the job's name in the current folder", set_output},
    {"-r", "N", RUN | PLAN | GRAPH, "number of replications, in place of what the job says",
     set_replications},
    {"--replications", "A:B", RUN | PLAN,
     "only replications A to B-1 of each point, to be merged with others", set_part},
    {"--resume", NULL, RUN, "carry on from OUT.h5; start anew when there is none", set_resume},
    {"--write", "FILE", GRAPH,
     "write it: .graphml, .gml, .net, .paj; other names: a list of edges or points", set_write},
    {"--force", NULL, RUN | GRAPH | MERGE, "replace an existing file", set_force},
    {"--accept-source", NULL, RUN | MERGE,
     "with --resume, or merging: although another source revision wrote the file",
     set_accept_source},
    {"--threads", "N", RUN | PLAN, "threads of each rank; default: the cores it may use",
     set_threads},
    {"--max-time", "T", RUN,
     "save and stop with exit code 75 after a time: 90, 2h, 1-00:00:00, auto (Slurm's)",
     set_max_time},
    {"--checkpoint", "T", RUN, "time between snapshots; default 60 seconds", set_checkpoint},
    {"--memory", "SIZE", RUN | PLAN | GRAPH,
     "memory of each rank for tables, e.g. 2G; default: half of the machine's", set_memory},
    {"--only", "POINT[:REPLICATION]", RUN | GRAPH,
     "this alone, counted from 0; run prints its rows", set_only},
    {"--progress", "KIND", RUN, "auto, line (one live line), plain (a line now and then) or none",
     set_progress},
    {"--by", "COLUMNS", SHOW, "label and sort the rows by these columns, separated by commas",
     set_by},
    {"--histogram", "NAME", SHOW, "the bins of a histogram of each point, such as load_count",
     set_histogram},
    {"--csv", NULL, SHOW, "comma-separated values, every column", set_csv},
    {"--json", NULL, SHOW, "JSON, every column", set_json},
    {"--help", NULL, EVERY, "this help", NULL},
    {"--version", NULL, EVERY, "version", NULL},
};
const unsigned n_option_rows = sizeof option_rows / sizeof option_rows[0];
