/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Progress on a terminal and in batch logs. */
#include "progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct progress {
    enum progress_kind kind;
    uint64_t n_points;
    unsigned players;
    double next, rate;
    uint64_t before; /* replications that an earlier run had played */
    bool begun;
    bool live; /* a line without its end is on the terminal */
    int width;
};

/* The terminal behind mpirun's stderr, or -1: it hands its ranks pipes, whatever it writes to
 * itself. */
static int parent_terminal(void) {
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)getppid());
    FILE *f = fopen(path, "r");
    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = '\0';
        fclose(f);
    }
    if (strncmp(name, "mpirun", 6) != 0 && strncmp(name, "orterun", 7) != 0 &&
        strncmp(name, "prterun", 7) != 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
    const int fd = open(path, O_WRONLY | O_NOCTTY);
    if (fd >= 0 && isatty(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool terminal(int *width) {
    struct winsize size = {0};
    const bool direct = isatty(STDERR_FILENO);
    const int fd = direct ? STDERR_FILENO : parent_terminal();
    if (fd < 0)
        return false;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        *width = size.ws_col;
    if (!direct)
        close(fd);
    return true;
}

struct progress *progress_new(enum progress_kind kind, uint64_t n_points, unsigned players) {
    struct progress *p = allocate(1, sizeof *p);
    *p = (struct progress){.kind = kind, .n_points = n_points, .players = players, .width = 100};
    const bool tty = terminal(&p->width);
    if (kind == PROGRESS_AUTO)
        p->kind = tty ? PROGRESS_LINE : PROGRESS_PLAIN;
    p->next = p->kind == PROGRESS_LINE ? 0.3 : 10;
    return p;
}

const char *duration_text(double seconds, char *buffer, size_t size) {
    const unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 100)
        snprintf(buffer, size, "%lu s", s);
    else if (s < 6000)
        snprintf(buffer, size, "%lu min %lu s", s / 60, s % 60);
    else if (s < 172800)
        snprintf(buffer, size, "%lu h %lu min", s / 3600, s / 60 % 60);
    else
        snprintf(buffer, size, "%lu d %lu h", s / 86400, s / 3600 % 24);
    return buffer;
}

static void line(const struct progress *p, const struct outlook *o, double seconds, char *text,
                 size_t size) {
    char left[32], spent[32];
    const double share = o->wanted ? 100.0 * (double)o->played / (double)o->wanted : 100;
    snprintf(text, size,
             "%5.1f %%  %llu/%llu replications, %llu/%llu points, %.*f/s, %s spent, %s left", share,
             (unsigned long long)o->played, (unsigned long long)o->wanted,
             (unsigned long long)o->points_done, (unsigned long long)p->n_points, p->rate < 10,
             p->rate, duration_text(seconds, spent, sizeof spent),
             duration_text(o->left / 1e9 / p->players, left, sizeof left));
}

void progress_show(struct progress *p, const struct outlook *o, double seconds) {
    char text[256];
    if (!p->begun)
        p->before = o->played;
    p->begun = true;
    if (p->kind == PROGRESS_NONE || seconds < p->next)
        return;
    if (seconds > 0)
        p->rate = (double)(o->played - p->before) / seconds;
    line(p, o, seconds, text, sizeof text);
    if (p->kind == PROGRESS_LINE) {
        fprintf(stderr, "\r%.*s\033[K", p->width - 1, text);
        p->live = true;
        p->next = seconds + 0.5;
    } else {
        fprintf(stderr, "potluck: %s\n", text);
        p->next = seconds + (seconds < 60 ? 10 : seconds < 600 ? 30 : 60);
    }
    fflush(stderr);
}

void progress_end(struct progress *p, const struct outlook *o, double seconds) {
    char spent[32];
    if (p->live)
        fputs("\r\033[K", stderr);
    if (p->kind != PROGRESS_NONE && o)
        fprintf(stderr, "potluck: %llu replication%s of %llu point%s, %s\n",
                (unsigned long long)o->played, o->played == 1 ? "" : "s",
                (unsigned long long)p->n_points, p->n_points == 1 ? "" : "s",
                duration_text(seconds, spent, sizeof spent));
    fflush(stderr);
    free(p);
}
