/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "log.h"

#include "plan.h"
#include "runner.h"
#include "version.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool begun; /* by this run */

const char *log_revision(void) {
    return POTLUCK_REVISION;
}

/* One line with the time in front. A log that cannot be written is no reason to stop. */
static void note(const struct options *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(const struct options *o, const char *format, ...) {
    char when[40];
    if (!o->output)
        return;
    char *path = format_text("%s.log", o->output);
    struct stat info;
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    const bool regular = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    FILE *f = regular ? fdopen(fd, "a") : NULL;
    free(path);
    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(f, "%s ", when);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(f, format, arguments);
    va_end(arguments);
    fputc('\n', f);
    fclose(f);
}

static const char *level_in_use(const struct job *job) {
    for (unsigned level = 0; level < LEVELS; level++) {
        const struct catalogue *models = models_at((enum level)level);
        for (unsigned i = 0; i < models->n_kinds; i++)
            if (models->kinds[i] == &job->model->kind)
                return level_name[level];
    }
    return "unknown";
}

void log_begin(const struct options *o, const struct job *job, const struct cluster *cluster,
               unsigned threads) {
    char host[128] = "?", *path = o->output ? format_text("%s.log", o->output) : NULL;
    begun = path && access(path, F_OK) != 0;
    free(path);
    gethostname(host, sizeof host - 1);
    note(o, "begin: potluck %s, source %s, job %s, seed %llu", POTLUCK_VERSION, POTLUCK_REVISION,
         job->path, (unsigned long long)job->seed);
    note(o,
         "machine: host %s, %d ranks, %u threads each, %u cores for the first rank, instruction "
         "set %s",
         host, cluster->size, threads, runner_cores(), level_in_use(job));
    for (const char *const *name =
             (const char *const[]){"SLURM_JOB_ID", "SLURM_JOB_NODELIST", NULL};
         *name; name++)
        if (getenv(*name))
            note(o, "%s: %s", *name, getenv(*name));
    if (job->seed_drawn)
        fprintf(stderr, "potluck: seed %llu was drawn; it stands in the results\n",
                (unsigned long long)job->seed);
    if (threads > runner_cores() && o->progress != PROGRESS_NONE)
        fprintf(
            stderr, "potluck: %u threads share %u core%s%s\n", threads, runner_cores(),
            runner_cores() == 1 ? "" : "s",
            cluster->size <= 2 && getenv("OMPI_COMM_WORLD_SIZE")
                ? "; mpirun binds each of up to two ranks to one core unless told --bind-to none"
                : "");
}

void log_remark(const struct options *o, const char *sentence) {
    note(o, "remark: %s", sentence);
}

/* Peak resident memory of this process in bytes, 0 when unknown. */
static uint64_t peak_memory(void) {
    char line[128];
    unsigned long kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lu kB", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    return (uint64_t)kilobytes * 1024;
}

void log_end(const struct options *o, const struct job *job, const struct account *a) {
    if (a->refusal && begun && !a->snapshots) { /* nothing was played: no word of it is left */
        char *path = format_text("%s.log", o->output);
        unlink(path);
        free(path);
        return;
    }
    if (a->refusal)
        note(o, "refused: %s", a->refusal);
    const double busy = a->wall > 0 ? a->kernel / (a->wall * a->players) : 0;
    note(o,
         "%s: %llu replications, %.3f s, %u players, %.2f %% of their time in kernels, "
         "%llu snapshots",
         a->code == EXIT_DONE ? "end" : "stopped early", (unsigned long long)a->replications,
         a->wall, a->players, 100 * busy, (unsigned long long)a->snapshots);
    note(o, "memory of the first rank: %llu bytes at most, %llu planned",
         (unsigned long long)peak_memory(),
         (unsigned long long)plan_job(job, a->threads, cluster_launched(), o->checkpoint).total);
}
