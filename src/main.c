/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * potluck: read the job, plan, play it on all ranks, gather, write. */
#include "run.h"

#include "graph_report.h"
#include "lock.h"
#include "merge.h"
#include "plan.h"
#include "progress.h"
#include "table.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The models at the level POTLUCK_ISA asks for, else at the best this processor has. */
static const struct catalogue *choose_models(struct complaints *complaints) {
    const char *wanted = getenv("POTLUCK_ISA");
    enum level level = level_best();
    if (wanted && *wanted) {
        unsigned asked = 0;
        while (asked < LEVELS && strcmp(wanted, level_name[asked]) != 0)
            asked++;
        if (asked > level)
            complain(complaints, NULL, "POTLUCK_ISA=%s: this processor runs baseline%s%s", wanted,
                     level >= LEVEL_AVX2 ? ", avx2" : "", level >= LEVEL_AVX512 ? ", avx512" : "");
        else
            level = (enum level)asked;
    }
    return models_at(level);
}

static int give_up(struct complaints *complaints) {
    fputs(complaints->text, stderr);
    complaints_free(complaints);
    return EXIT_USER;
}

static int plan(const struct options *options, const struct catalogue *models,
                struct complaints *complaints) {
    const struct reading how = run_reading(options);
    struct job *job = job_read(options->input, NULL, &how, models, complaints);
    if (!job)
        return give_up(complaints);
    const bool fits = plan_fits(job, options->memory, complaints);
    if (fits)
        plan_print(job, options, run_threads(options));
    job_free(job);
    return fits ? EXIT_DONE : give_up(complaints);
}

static int graph(const struct options *options, const struct catalogue *models,
                 struct complaints *complaints) {
    const struct reading how = run_reading(options);
    struct job *job = job_read(options->input, NULL, &how, models, complaints);
    const bool reported = job && graph_report(job, options, stdout, complaints);
    if (job)
        job_free(job);
    return reported ? EXIT_DONE : give_up(complaints);
}

/* A snapshot of a run that goes on will be replaced. */
static void say_writer(const char *path) {
    struct stat info;
    char *holder = lock_holder(path), age[32];
    if (holder && stat(path, &info) == 0)
        fprintf(stderr, "potluck: a run goes on (%s); this is its snapshot of %s ago\n", holder,
                duration_text(difftime(time(NULL), info.st_mtime), age, sizeof age));
    free(holder);
}

static int show(const struct options *options, struct complaints *complaints) {
    struct reason why;
    struct saved *saved = results_open(options->input, &why);
    struct table *table = saved ? results_table(saved, &why) : NULL;
    struct law *law = table ? results_law(saved, options->histogram, &why) : NULL;
    const bool good = table && (law || !options->histogram);
    if (!good)
        complain(complaints, NULL, "%s", why.text);
    say_writer(options->input);
    const bool shown = good && table_show(table, law, options, stdout, complaints);
    law_free(law);
    table_free(table);
    results_close(saved);
    return shown ? EXIT_DONE : give_up(complaints);
}

/* A file of ours must not get the number of a standard stream that was closed, and the words meant
 * for that. What is written to it fails as before. */
static void occupy_standard_streams(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv) {
    struct options options;
    struct complaints complaints = {0};
    int code = EXIT_DONE;
    occupy_standard_streams();
    fesetenv(FE_DFL_ENV); /* no flushing of small numbers, whatever the libraries were built with */
    const struct catalogue *models = choose_models(&complaints);
    if (!options_read(argc, argv, &options, &complaints) || complaints.count) {
        code = run_is_first() ? give_up(&complaints) : EXIT_USER;
        options_free(&options);
        return code;
    }
    switch (options.command) {
    case COMMAND_HELP:
        options_help(options.help_for);
        break;
    case COMMAND_VERSION:
        printf("potluck %s (%s)\n", POTLUCK_VERSION, POTLUCK_REVISION);
        break;
    case COMMAND_LIST:
        code = list_print(stdout, models, options.topic, &complaints) ? EXIT_DONE
                                                                      : give_up(&complaints);
        break;
    case COMMAND_PLAN:
        code = plan(&options, models, &complaints);
        break;
    case COMMAND_SHOW:
        code = show(&options, &complaints);
        break;
    case COMMAND_GRAPH:
        code = graph(&options, models, &complaints);
        break;
    case COMMAND_MERGE:
        if (run_is_first())
            code = merge(&options, models, &complaints) ? EXIT_DONE : give_up(&complaints);
        break;
    case COMMAND_RUN:
        code = run(&argc, &argv, &options, models);
        break;
    }
    options_free(&options);
    if (fflush(stdout) != 0 &&
        errno != EPIPE) /* a reader may well stop early: potluck show | head */
        world_failed("cannot write to standard output: %s", strerror(errno));
    return code;
}
