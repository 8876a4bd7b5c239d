/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "lock.h"

#include "batch.h"
#include "signals.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds: between touches; to see none before a lock of another node is stale; after which no
 * clocks differ so much that the holder could be alive. */
enum { TOUCH = 5, WATCH = 60, DEAD = 600 };

static int held = -1;
static char *held_path;
static time_t touched;

/* "process 12 on n1, Slurm job 7, restart 0" */
static char *myself(void) {
    unsigned restarts;
    char host[128] = "?", *job = batch_job(&restarts), *text;
    gethostname(host, sizeof host - 1);
    if (job)
        text =
            format_text("process %ld on %s, %s, restart %u", (long)getpid(), host, job, restarts);
    else
        text = format_text("process %ld on %s", (long)getpid(), host);
    free(job);
    return text;
}

/* What follows `mark` in what the holder wrote, up to `stop`. */
static bool same_part(const char *a, const char *b, const char *mark, char stop) {
    const char *x = strstr(a, mark), *y = strstr(b, mark);
    if (!x || !y)
        return false;
    const char stops[] = {stop, '\0'};
    const size_t n = strcspn(x, stops);
    return n == strcspn(y, stops) && strncmp(x, y, n) == 0;
}

static void read_holder(int fd, char *holder, size_t size) {
    const ssize_t got = pread(fd, holder, size - 1, 0);
    holder[got > 0 ? got : 0] = '\0';
    for (char *c = holder; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

/* Whether a holder lives of whom the system's lock says nothing: on this node where there are no
 * such locks, on another where the file is touched while we look. True as well when we are told to
 * stop meanwhile. */
static bool lives(const char *name, const char *holder, const char *me, bool locked) {
    struct stat before, now;
    long process = 0;
    /* A job of Slurm's that starts again has ended before. */
    const bool requeued =
        same_part(holder, me, "Slurm job ", ',') && !same_part(holder, me, ", restart ", '\0');
    if (!*holder || requeued || stat(name, &before) != 0 || time(NULL) - before.st_mtime > DEAD)
        return false;
    if (same_part(holder, me, " on ", ','))
        return !locked && sscanf(holder, "process %ld", &process) == 1 && process > 0 &&
               kill((pid_t)process, 0) == 0;
    fprintf(stderr, "potluck: %s is of another node (%s); watching for %d s whether it is in use\n",
            name, holder, WATCH);
    for (int second = 0; second < WATCH; second++) {
        sleep(1);
        if (signals_heard())
            return true;
        const int fd = open(name, O_RDONLY | O_CLOEXEC); /* network file systems look anew then */
        const bool moved = fd >= 0 && fstat(fd, &now) == 0 &&
                           (now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                            now.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
        if (fd >= 0)
            close(fd);
        if (moved)
            return true;
    }
    return false;
}

/* The system's lock: 1 taken, 0 somebody else has it, -1 this file system has none. */
static int try_lock(int fd) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 1;
    return errno == EWOULDBLOCK ? 0 : -1;
}

static bool is_at(int fd, const char *name) {
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(name, &there) == 0 && mine.st_ino == there.st_ino;
}

/* Every name of a file has the same lock. */
static char *lock_name(const char *path) {
    char *target = realpath(path, NULL), *name = format_text("%s.lock", target ? target : path);
    free(target);
    return name;
}

char *lock_holder(const char *path) {
    char *name = lock_name(path), holder[200] = "";
    const int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    free(name);
    if (fd < 0)
        return NULL;
    const bool taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    read_holder(fd, holder, sizeof holder);
    close(fd);
    return taken ? duplicate_text(holder) : NULL;
}

/* Opens or makes the lock of `path` and reads its holder; -1 with the reason. */
static int open_lock(const char *path, const char *name, char *holder, size_t size,
                     struct reason *why) {
    struct stat info;
    const int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0 && !is_users_error(errno))
        world_failed("cannot make %s: %s%s", name, strerror(errno), target_state(path));
    if (fd < 0) {
        refuse(why, "cannot make %s: %s", name, strerror(errno));
        return -1;
    }
    read_holder(fd, holder, size);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_size == 0 || strncmp(holder, "process ", 8) == 0))
        return fd;
    refuse(why, "%s is not a lock of potluck's: it is in the way of one", name);
    close(fd);
    return -1;
}

bool lock_take(const char *path, char **stale, struct reason *why) {
    char *name = lock_name(path), holder[200] = "";
    *stale = NULL;
    const int fd = open_lock(path, name, holder, sizeof holder, why);
    if (fd < 0) {
        free(name);
        return false;
    }
    const int locked = try_lock(fd);
    /* The holder before may have removed the file between our opening and locking it. */
    if (locked > 0 && !is_at(fd, name)) {
        close(fd);
        free(name);
        return lock_take(path, stale, why);
    }
    char *me = myself();
    read_holder(fd, holder, sizeof holder);
    if (locked == 0 || lives(name, holder, me, locked > 0)) {
        if (signals_heard())
            refuse(why, "told to stop while %s was watched", name);
        else
            refuse(why, "%s is being written by another run (%s)", path, holder);
        close(fd);
        free(name);
        free(me);
        return false;
    }
    if (*holder)
        *stale = duplicate_text(holder);
    if (ftruncate(fd, 0) == 0)
        dprintf(fd, "%s", me);
    free(me);
    held = fd;
    held_path = name;
    before_failure(lock_release); /* a lock that stays tells of a run that died */
    touched = time(NULL);
    return true;
}

void lock_touch(void) {
    if (held < 0 || time(NULL) - touched < TOUCH)
        return;
    touched = time(NULL);
    futimens(held, NULL);
}

void lock_release(void) {
    if (held < 0)
        return;
    unlink(held_path);
    close(held);
    free(held_path);
    before_failure(NULL);
    held = -1;
}
