/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "log.h"

#include "batch.h"
#include "igraph_bridge.h"
#include "plan.h"
#include "results.h"
#include "version.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
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
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    for (char *c = text; c && *c; c++) /* a line is a line, whatever a file is called */
        if ((unsigned char)*c < ' ')
            *c = '?';
    fprintf(f, "%s %s\n", when, text ? text : "");
    free(text);
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

/* The words that started the program. */
static void note_command(const struct options *o) {
    char words[1024];
    FILE *f = fopen("/proc/self/cmdline", "r");
    const size_t n = f ? fread(words, 1, sizeof words - 1, f) : 0;
    if (f)
        fclose(f);
    for (size_t i = 0; i + 1 < n; i++)
        if ((unsigned char)words[i] < ' ')
            words[i] = ' ';
    words[n] = '\0';
    note(o, "command: %s%s", words, n == sizeof words - 1 ? ".." : "");
}

/* The value behind "name:" in a file of such lines, without the spaces around; "" when there is none. */
static const char *line_of(const char *path, const char *name, char *line, size_t size) {
    FILE *f = fopen(path, "r");
    const char *value = "";
    while (f && fgets(line, (int)size, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, name, strlen(name)) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        value = colon + 1 + strspn(colon + 1, " \t");
        break;
    }
    if (f)
        fclose(f);
    return value;
}

static void note_machine(const struct options *o, const struct job *job) {
    struct utsname system = {0};
    char line[256];
    uname(&system);
    note(o, "build: compiler %s, %s, HDF5 %s, igraph %s", __VERSION__, cluster_version(),
         results_version(), bridge_version());
    note(o, "machine: %s %s %s, processor %s, %.1f GB of memory, instruction set %s",
         system.sysname, system.release, system.machine,
         line_of("/proc/cpuinfo", "model name", line, sizeof line),
         (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9, level_in_use(job));
}

static const char *limit_text(int resource, char *text, size_t size) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit((__rlimit_resource_t)resource, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        snprintf(text, size, "any");
    else
        snprintf(text, size, "%llu", (unsigned long long)limit.rlim_cur);
    return text;
}

static void note_limits(const struct options *o) {
    char memory[32], file[32], open_files[32], threads[32], core[32],
        *folder = duplicate_text(o->output);
    struct statvfs disk;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    note(o,
         "limits: address space %s, file size %s, open files %s, processes %s, processor time %s",
         limit_text(RLIMIT_AS, memory, sizeof memory), limit_text(RLIMIT_FSIZE, file, sizeof file),
         limit_text(RLIMIT_NOFILE, open_files, sizeof open_files),
         limit_text(RLIMIT_NPROC, threads, sizeof threads),
         limit_text(RLIMIT_CPU, core, sizeof core));
    if (statvfs(slash ? folder : ".", &disk) == 0)
        note(o, "disk: %.3g GB free where the results go",
             (double)disk.f_bavail * (double)disk.f_frsize / 1e9);
    free(folder);
}

void log_begin(const struct options *o, const struct job *job, const struct cluster *cluster) {
    char *path = o->output ? format_text("%s.log", o->output) : NULL, *batch = batch_text();
    begun = path && access(path, F_OK) != 0;
    free(path);
    if (o->output) {
        note(o, "begin: potluck %s, source %s, job %s, seed %llu, %llu point%s, %d rank%s",
             POTLUCK_VERSION, POTLUCK_REVISION, job->path, (unsigned long long)job->seed,
             (unsigned long long)job->n_points, job->n_points == 1 ? "" : "s", cluster->size,
             cluster->size == 1 ? "" : "s");
        note_command(o);
        note_machine(o, job);
        note_limits(o);
    }
    if (batch)
        note(o, "batch: %s", batch);
    free(batch);
    if (job->seed_drawn)
        fprintf(stderr, "potluck: seed %llu was drawn; it stands in the results\n",
                (unsigned long long)job->seed);
}

void log_remark(const struct options *o, const char *sentence) {
    note(o, "remark: %s", sentence);
}

void log_say(const struct options *o, const char *sentence) {
    log_remark(o, sentence);
    fprintf(stderr, "potluck: %s\n", sentence);
}

void log_seats(const struct options *o, const struct seat *seats, unsigned ranks) {
    for (unsigned r = 0; r < ranks; r++) {
        char *text = seat_text(&seats[r]);
        note(o, "rank %u: %s", r, text);
        free(text);
    }
    char *crowded = seat_crowded(seats, ranks);
    if (!crowded)
        return;
    log_remark(o, crowded);
    if (o->progress != PROGRESS_NONE)
        fprintf(
            stderr, "potluck: %s%s\n", crowded,
            ranks <= 2 && getenv("OMPI_COMM_WORLD_SIZE")
                ? "; mpirun binds each of up to two ranks to one core unless told --bind-to none"
                : "");
    free(crowded);
}

void log_snapshot(const struct options *o, uint64_t replications, uint64_t bytes, double seconds,
                  double next) {
    note(o, "snapshot: %llu replications, %llu bytes, %.4f s to write, next in %.2f s or later",
         (unsigned long long)replications, (unsigned long long)bytes, seconds, next);
}

/* Peak resident memory of this process in bytes, 0 when unknown. */
static uint64_t peak_memory(void) {
    char line[128];
    return strtoull(line_of("/proc/self/status", "VmHWM", line, sizeof line), NULL, 10) * 1024;
}

/* A rank is slow when its replications take much longer than those of the others at the same points. */
static void note_rank(const struct options *o, unsigned rank, const struct share *s, double wall) {
    static const double SLOW = 1.5, ENOUGH = 10;
    const double speed = s->kernel > 0 && s->expected > 0 ? s->expected / s->kernel : 1;
    note(o, "rank %u: %llu replications, %.3f s in kernels, %.2f %% busy, speed %.3f", rank,
         (unsigned long long)s->replications, s->kernel,
         wall > 0 ? 100 * s->kernel / (wall * (double)s->seat.threads) : 0.0, speed);
    if (speed * SLOW > 1 || s->kernel < ENOUGH)
        return;
    char *sentence = format_text("rank %u on %s takes %.1f times as long as the others", rank,
                                 s->seat.host, 1 / speed);
    log_say(o, sentence);
    free(sentence);
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
    struct share all = {0};
    for (unsigned r = 0; r < a->ranks; r++) {
        note_rank(o, r, &a->shares[r], a->wall);
        all.replications += a->shares[r].replications;
        all.kernel += a->shares[r].kernel;
        all.seat.threads += a->shares[r].seat.threads;
    }
    if (a->messages)
        note(o, "conductor: %llu messages, %.2f us of CPU each; %.2f %% of a core with all waiting",
             (unsigned long long)a->messages, 1e6 * a->conducting / (double)a->messages,
             a->wall > 0 ? 100 * a->awake / a->wall : 0.0);
    if (a->signal)
        note(o, "signal: %s", strsignal(a->signal));
    const double busy = a->wall > 0 ? all.kernel / (a->wall * (double)all.seat.threads) : 0;
    note(o,
         "%s: %llu replications, %.3f s, %llu players, %.2f %% of their time in kernels, "
         "%llu snapshots, %.3f %% of the time for writing",
         a->code == EXIT_DONE ? "end" : "stopped early", (unsigned long long)all.replications,
         a->wall, (unsigned long long)all.seat.threads, 100 * busy,
         (unsigned long long)a->snapshots, 100 * a->writing / (a->wall + a->writing));
    note(o, "memory of the first rank: %llu bytes at most, %llu planned",
         (unsigned long long)peak_memory(),
         (unsigned long long)plan_job(job, a->threads, cluster_launched(), o->checkpoint).total);
}
