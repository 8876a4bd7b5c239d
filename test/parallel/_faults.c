/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Preloaded into the program, this makes calls on the files under one name go wrong, so that the program needs no
 * code for its tests. FAULT_FILE is the path that the files begin with, FAULT says what happens:
 *
 *     CALL:N:error:ERRNO    the N-th and every later CALL fails with ERRNO
 *     CALL:N:once:ERRNO     only the N-th
 *     CALL:N:short:0        from the N-th on, no write takes more than one byte in ten
 *     CALL:N:pause:MS       the N-th takes MS milliseconds longer, whatever signals come
 *
 * CALL is open, write, fsync, close or rename; open counts only what is opened to be written, the others only
 * files ending in ".tmp". Where the fault sets in, the file FAULT_MARK appears; when a pause is over,
 * FAULT_MARK.over.
 *
 * The clock stands still while a snapshot is made and written: so snapshots come as often as --checkpoint says, though
 * the program keeps all of them under one per cent of its time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum fault { NONE, ERROR, SHORT };
enum { SECOND = 1000000000 };

static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static int (*real_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_real(void) {
    real_open = dlsym(RTLD_NEXT, "open64");
    real_close = dlsym(RTLD_NEXT, "close");
    real_clock = dlsym(RTLD_NEXT, "clock_gettime");
}

/* Nanoseconds: of the true clock, that it stood still before, and where it stands still. */
static int64_t now(void) {
    struct timespec t;
    real_clock(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}
static _Atomic int64_t lost, stopped;

static void stop_clock(void) {
    stopped = now();
}

static void start_clock(void) {
    if (stopped)
        lost += now() - stopped;
    stopped = 0;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    if (!real_clock)
        find_real(); /* other libraries ask before our turn comes */
    if (id != CLOCK_MONOTONIC)
        return real_clock(id, t);
    const int64_t halt = stopped, shown = (halt ? halt : now()) - lost;
    *t = (struct timespec){shown / SECOND, shown % SECOND};
    return 0;
}

/* The first that HDF5 is asked for in a snapshot; its very first file warms it up. */
int64_t H5Fcreate(const char *name, unsigned flags, int64_t creation, int64_t access) {
    static atomic_long files;
    int64_t (*real)(const char *, unsigned, int64_t, int64_t) = dlsym(RTLD_NEXT, "H5Fcreate");
    if (files++ > 0)
        stop_clock();
    return real(name, flags, creation, access);
}

static void mark(const char *ending) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", getenv("FAULT_MARK"), ending);
    real_close(real_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

static void pause_for(long milliseconds) {
    const int64_t until = now() + milliseconds * 1000000;
    const struct timespec end = {until / SECOND, until % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        continue;
}

/* What is to happen to this call; an error is in errno. */
static enum fault fault(const char *call, const char *path) {
    static atomic_long calls;
    char name[16], what[16];
    long at, value;
    const char *plan = getenv("FAULT"), *file = getenv("FAULT_FILE");
    if (!plan || !file || sscanf(plan, "%15[a-z]:%ld:%15[a-z]:%ld", name, &at, what, &value) != 4)
        return NONE;
    if (strcmp(name, call) != 0 || strncmp(path, file, strlen(file)) != 0)
        return NONE;
    const long number = ++calls;
    if (number < at || (number > at && strcmp(what, "error") != 0 && strcmp(what, "short") != 0))
        return NONE;
    mark("");
    if (strcmp(what, "short") == 0)
        return SHORT;
    if (strcmp(what, "pause") == 0) {
        pause_for(value);
        mark(".over");
        return NONE;
    }
    errno = (int)value;
    return ERROR;
}

/* The same for a descriptor of a file that ends in ".tmp". */
static enum fault fault_at(const char *call, int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4 || memcmp(path + length - 4, ".tmp", 4) != 0)
        return NONE;
    path[length] = '\0';
    return fault(call, path);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_ACCMODE) != O_RDONLY && fault("open", path) == ERROR)
        return -1;
    return real_open(path, flags, mode);
}

ssize_t write(int fd, const void *data, size_t size) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    const enum fault f = fault_at("write", fd);
    return f == ERROR ? -1 : real(fd, data, f == SHORT ? size / 10 + 1 : size);
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    return fault_at("fsync", fd) == ERROR ? -1 : real(fd);
}

int close(int fd) {
    const enum fault f = fault_at("close", fd);
    const int error = errno, closed = real_close(fd);
    if (f != ERROR)
        return closed;
    errno = error;
    return -1;
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    const int renamed = fault("rename", from) == ERROR ? -1 : real(from, to);
    start_clock();
    return renamed;
}
