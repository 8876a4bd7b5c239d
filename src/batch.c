/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* A number of a job is digits; what else stands there is not given to a shell. */
static const char *job_number(void) {
    const char *id = variable("SLURM_JOB_ID");
    return id && strlen(id) < 32 && id[strspn(id, "0123456789")] == '\0' ? id : NULL;
}

char *batch_job(unsigned *restarts) {
    const char *id = job_number(), *count = variable("SLURM_RESTART_COUNT");
    *restarts = id && count ? (unsigned)strtoul(count, NULL, 10) : 0;
    return id ? format_text("Slurm job %s", id) : NULL;
}

char *batch_text(void) {
    static const struct {
        const char *name, *word;
    } more[] = {{"SLURM_ARRAY_JOB_ID", "array"},
                {"SLURM_ARRAY_TASK_ID", "task"},
                {"SLURM_RESTART_COUNT", "restart"},
                {"SLURM_JOB_NODELIST", "nodes"},
                {"SLURM_JOB_PARTITION", "partition"}};
    unsigned restarts;
    char *text = batch_job(&restarts);
    for (size_t i = 0; text && i < sizeof more / sizeof *more; i++) {
        const char *value = variable(more[i].name);
        if (!value)
            continue;
        char *longer = format_text("%s, %s %s", text, more[i].word, value);
        free(text);
        text = longer;
    }
    return text;
}

/* A whole number of at most nine digits at *text, which moves on. */
static bool take_number(const char **text, double *number) {
    const size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 9)
        return false;
    *number = strtod(*text, NULL);
    *text += digits;
    return true;
}

/* [days-][hours:]minutes:seconds, as squeue prints it. */
static bool parse_left(const char *text, double *seconds) {
    double days = 0, part[3] = {0};
    unsigned n = 0;
    if (strchr(text, '-') && (!take_number(&text, &days) || *text++ != '-'))
        return false;
    do {
        if (!take_number(&text, &part[n++]))
            return false;
    } while (n < 3 && *text == ':' && *++text);
    if (n < 2 || text[strspn(text, " ")])
        return false;
    *seconds = 86400 * days;
    *seconds += n == 3 ? 3600 * part[0] + 60 * part[1] + part[2] : 60 * part[0] + part[1];
    return true;
}

static bool ask_queue(const char *id, double *seconds, struct reason *why) {
    char *command = format_text("timeout -k 1 20 squeue -h -j %s -o %%L 2>/dev/null", id),
         answer[64] = "";
    FILE *f = popen(command, "r");
    free(command);
    const bool said = f && fgets(answer, sizeof answer, f);
    if (f)
        pclose(f);
    answer[strcspn(answer, "\n")] = '\0';
    const char *text = answer + strspn(answer, " ");
    if (strcmp(text, "UNLIMITED") == 0)
        *seconds = (double)INFINITY;
    else if (!said || !parse_left(text, seconds))
        return refuse(why, "squeue does not say how much time is left to job %s%s%s", id,
                      *text ? ": " : "", text);
    return true;
}

/* What newer versions of Slurm say at the start of a job; a limit that was moved since leaves it in
 * the past, or the queue knows better. */
static bool end_is_known(double *seconds) {
    const char *end = variable("SLURM_JOB_END_TIME");
    double at;
    if (!end || strlen(end) > 12 || end[strspn(end, "0123456789")])
        return false;
    at = strtod(end, NULL) - (double)time(NULL);
    if (at > 0)
        *seconds = at;
    return at > 0;
}

bool batch_time_left(double *seconds, struct reason *why) {
    const char *id = job_number();
    *seconds = (double)INFINITY;
    return !id || end_is_known(seconds) || ask_queue(id, seconds, why);
}

double batch_usable(double seconds) {
    const double margin = fmin(60, seconds / 10);
    return fmax(seconds - margin, 1);
}
