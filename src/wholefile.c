/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wholefile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every step is one-to-one in the digest so far, so a change within one word always shows. */
static uint64_t digest(const unsigned char *data, size_t size) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, data + i, size - i < 8 ? size - i : 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static void seal_of(const void *data, size_t size, char seal[SEAL_SIZE + 1]) {
    const int length = snprintf(seal, SEAL_SIZE + 1, "\npotluck seal: %016llx\n",
                                (unsigned long long)digest(data, size));
    CHECK(length == SEAL_SIZE);
}

void wholefile_seal(void *data, size_t size) {
    char seal[SEAL_SIZE + 1];
    seal_of(data, size, seal);
    memcpy((char *)data + size, seal, SEAL_SIZE);
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        const ssize_t wrote = write(fd, data, size < 1u << 30 ? size : 1u << 30);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        data += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

/* A rename is safe on the disk only when its folder is. Some file systems cannot fsync a folder. */
static bool sync_folder(const char *path) {
    char *copy = duplicate_text(path);
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return errno == EACCES;
    const bool good = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int error = errno;
    close(fd);
    errno = error;
    return good;
}

static bool write_file(const char *path, const void *data, size_t size) {
    unlink(path); /* whatever a killed run, or somebody else, left under this name */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    const bool good = write_all(fd, data, size) && fsync(fd) == 0;
    const int error = errno;
    const bool closed = close(fd) == 0;
    if (!good)
        errno = error;
    return good && closed;
}

/* A link to a result stays a link. The temporary file has one name, since there is one writer: what
 * a killed run leaves is used up by the next. Both names are for the caller to free. */
static char *names_of(const char *path, char **temporary) {
    char *target = realpath(path, NULL);
    if (!target)
        target = duplicate_text(path);
    *temporary = format_text("%s.tmp", target);
    return target;
}

int wholefile_sweep(const char *path, struct reason *why) {
    char *temporary, *target = names_of(path, &temporary);
    int swept = unlink(temporary) == 0;
    if (!swept && errno != ENOENT) {
        refuse(why, "%s is in the way: %s", temporary, strerror(errno));
        swept = -1;
    }
    free(temporary);
    free(target);
    return swept;
}

bool wholefile_write(const char *path, const void *data, size_t size, struct reason *why) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return refuse(why, "cannot write '%s': it is not a regular file", path);
    char *temporary, *target = names_of(path, &temporary);
    bool good = write_file(temporary, data, size) && rename(temporary, target) == 0;
    if (!good) {
        const int error = errno;
        unlink(temporary);
        errno = error;
    }
    good = good && sync_folder(target);
    if (!good)
        refuse(why, "cannot write '%s': %s", path, strerror(errno));
    free(temporary);
    free(target);
    return good;
}

/* Reads up to `size` bytes; returns how many there were, or -1 with errno. */
static ssize_t read_all(int fd, char *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(fd, data + done, size - done < 1u << 30 ? size - done : 1u << 30);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static bool is_sealed(const char *path, const char *data, size_t size, struct reason *why) {
    static const char signature[] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    char seal[SEAL_SIZE + 1];
    if (size < sizeof signature || memcmp(data, signature, sizeof signature) != 0)
        return refuse(why, "'%s' is not a result file of potluck", path);
    const char *const end = size < sizeof signature + SEAL_SIZE ? NULL : data + size - SEAL_SIZE;
    seal_of(data, end ? size - SEAL_SIZE : 0, seal);
    if (!end || memcmp(end, seal, SEAL_SIZE - 17) != 0)
        return refuse(why,
                      "'%s' is an HDF5 file, but not as potluck wrote it: cut short, damaged, "
                      "changed by another "
                      "program or none of potluck's",
                      path);
    if (memcmp(end, seal, SEAL_SIZE) != 0)
        return refuse(why, "'%s' is damaged: it does not match the checksum at its end", path);
    return true;
}

void *wholefile_read(const char *path, size_t *size, struct reason *why) {
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        if (!is_users_error(errno))
            world_failed("cannot open '%s': %s", path, strerror(errno));
        refuse(why, "cannot open '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *data = NULL;
    if (!S_ISREG(info.st_mode)) {
        refuse(why, "cannot read '%s': it is not a regular file", path);
    } else {
        data = allocate((size_t)info.st_size + 1, 1);
        const ssize_t got = read_all(fd, data, (size_t)info.st_size);
        const bool good = got < 0 ? refuse(why, "cannot read '%s': %s", path, strerror(errno))
                                  : is_sealed(path, data, (size_t)got, why);
        *size = good ? (size_t)got - SEAL_SIZE : 0;
        if (!good) {
            free(data);
            data = NULL;
        }
    }
    close(fd);
    return data;
}
