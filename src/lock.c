/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int held = -1;
static char *held_path;

bool lock_take(const char *path, struct reason *why) {
    char *target = realpath(path, NULL); /* every name of a file has the same lock */
    char *name = format_text("%s.lock", target ? target : path), host[128] = "?";
    free(target);
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        refuse(why, "cannot make %s: %s", name, strerror(errno));
        free(name);
        return false;
    }
    struct stat mine, there;
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    /* The holder before may have removed the file between our opening and locking it. */
    if (locked &&
        (fstat(fd, &mine) != 0 || stat(name, &there) != 0 || mine.st_ino != there.st_ino)) {
        close(fd);
        free(name);
        return lock_take(path, why);
    }
    if (!locked) {
        char holder[160] = "";
        const ssize_t got = read(fd, holder, sizeof holder - 1);
        holder[got > 0 ? got : 0] = '\0';
        refuse(why, "%s is being written by another run (%s)", path, holder);
        close(fd);
        free(name);
        return false;
    }
    gethostname(host, sizeof host - 1);
    if (ftruncate(fd, 0) == 0)
        dprintf(fd, "process %ld on %s", (long)getpid(), host);
    held = fd;
    held_path = name;
    return true;
}

void lock_release(void) {
    if (held < 0)
        return;
    unlink(held_path);
    close(held);
    free(held_path);
    held = -1;
}
