/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attachments.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const off_t bytes_max = (off_t)1 << 32;

struct attachment *attachment_new(char *name, char *bytes, size_t length) {
    struct attachment *a = allocate(1, sizeof *a);
    *a = (struct attachment){.name = name, .bytes = bytes, .length = length};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(bytes, length, digest, &size, EVP_sha256(), NULL) != 1 || size != 32)
        world_failed("libcrypto computes no SHA-256");
    for (unsigned i = 0; i < size; i++)
        snprintf(a->sha256 + 2 * i, 3, "%02x", digest[i]);
    return a;
}

/* Until the end of the file, which may have grown or shrunk since its size was asked for. */
static char *read_all(FILE *f, size_t expected, size_t *length) {
    size_t room = expected + 1;
    char *bytes = allocate(room + 1, 1);
    *length = 0;
    for (size_t got; (got = fread(bytes + *length, 1, room - *length, f)) > 0;) {
        *length += got;
        if (*length < room)
            continue;
        if (room > (size_t)bytes_max)
            break;
        room *= 2;
        bytes = reallocate(bytes, room + 1, 1);
    }
    bytes[*length] = '\0';
    return bytes;
}

static struct attachment *read_open(FILE *f, size_t expected, const char *name,
                                    struct reason *why) {
    size_t length = 0;
    char *bytes = read_all(f, expected, &length);
    if (ferror(f))
        refuse(why, "%s", strerror(errno));
    else if (length == 0)
        refuse(why, "it is empty");
    else if (length > (size_t)bytes_max)
        refuse(why, "it is larger than 4 GB");
    else
        return attachment_new(duplicate_text(name), bytes, length);
    free(bytes);
    return NULL;
}

struct attachment *attachment_read(const char *path, const char *name, struct reason *why) {
    struct stat s;
    struct attachment *a = NULL;
    FILE *f = NULL;
    /* Asked before it is opened: opening a pipe would wait for a writer. */
    if (stat(path, &s) != 0)
        refuse(why, "%s", strerror(errno));
    else if (!S_ISREG(s.st_mode))
        refuse(why, S_ISDIR(s.st_mode) ? "it is a folder" : "it is no ordinary file");
    else if (s.st_size > bytes_max)
        refuse(why, "it is larger than 4 GB (%lld bytes)", (long long)s.st_size);
    else if (!(f = fopen(path, "rb")))
        refuse(why, "%s", strerror(errno));
    if (f) {
        a = read_open(f, (size_t)s.st_size, name, why);
        fclose(f);
    }
    return a;
}

void attachment_free(struct attachment *a) {
    if (!a)
        return;
    if (a->parsed && a->release)
        a->release(a->parsed);
    free(a->name);
    free(a->bytes);
    free(a);
}
