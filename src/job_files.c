/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parameters that are files. A name may say what must be in the file, net.edges@sha256:9f86d0..;
 * the complete text of a job always does, so that a job whose files have changed is another job. */
#include "attachments.h"
#include "job_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "@sha256:";
enum { MARK = sizeof mark - 1, DIGEST = 64, FILE_NAME_MAX = 1024 };

char *job_file_text(const struct attachment *a) {
    static const char harmless[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";
    char *whole = format_text("%s%s%s", a->name, mark, a->sha256), *text = NULL;
    /* A dash could begin an item of a list. */
    if (a->name[0] != '-' && a->name[strspn(a->name, harmless)] == '\0')
        return whole;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        world_failed("out of memory");
    job_put_quoted(f, whole);
    if (fclose(f))
        world_failed("out of memory");
    free(whole);
    return text;
}

/* Splits what a job file says into name and digest; `wanted` is "" when it says none. */
static bool split_name(struct reader *r, const struct parameter *p, const struct node *n,
                       const char **name, char wanted[DIGEST + 1]) {
    const char *at = strstr(n->text, mark);
    for (const char *later = at; later; later = strstr(later + 1, mark))
        at = later;
    const size_t length = at ? (size_t)(at - n->text) : strlen(n->text);
    wanted[0] = '\0';
    if (length == 0 || length > FILE_NAME_MAX)
        return job_wrong(r, p, n);
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)n->text[i])) {
            job_say(r, job_place(r, n), "'%s' has a control character in a file name", p->name);
            return false;
        }
    *name = job_format(r, "%.*s", (int)length, n->text);
    if (!at)
        return true;
    const char *digest = at + MARK;
    if (strlen(digest) != DIGEST || strspn(digest, "0123456789abcdefABCDEF") != DIGEST) {
        job_say(r, job_place(r, n),
                "'%s': %s must be followed by 64 hexadecimal digits, as sha256sum prints them",
                p->name, mark);
        return false;
    }
    for (unsigned i = 0; i <= DIGEST; i++)
        wanted[i] = (char)tolower((unsigned char)digest[i]);
    return true;
}

static void add_attachment(struct job *job, struct attachment *a) {
    job->attachments =
        reallocate(job->attachments, job->n_attachments + 1, sizeof(struct attachment *));
    job->attachments[job->n_attachments++] = a;
}

/* The file of that name; NULL with the reason and the path that was tried. */
static struct attachment *find_file(struct reader *r, const char *name, const char **path,
                                    struct reason *why) {
    for (unsigned i = 0; i < r->job->n_attachments; i++)
        if (!strcmp(r->job->attachments[i]->name, name))
            return r->job->attachments[i];
    struct attachment *a = NULL;
    for (unsigned i = 0; i < r->how->n_attachments && !a; i++) {
        struct attachment **known = &r->how->attachments[i];
        if (!*known || strcmp((*known)->name, name) != 0)
            continue;
        a = *known;
        *known = NULL;
    }
    const char *slash = name[0] == '/' ? NULL : strrchr(r->job->path, '/');
    const int folder = slash ? (int)(slash - r->job->path) + 1 : 0;
    *path = job_format(r, "%.*s%s", folder, r->job->path, name);
    if (!a)
        a = attachment_read(*path, name, why);
    if (a)
        add_attachment(r->job, a);
    return a;
}

bool job_read_file(struct reader *r, const struct parameter *p, const struct node *n,
                   struct choice *c) {
    const char *name = "", *path = "";
    char wanted[DIGEST + 1];
    struct reason why;
    if (!split_name(r, p, n, &name, wanted))
        return false;
    struct attachment *a = find_file(r, name, &path, &why);
    if (!a) {
        job_say(r, job_place(r, n), "'%s' %s cannot be read: %s", p->name, path, why.text);
        return false;
    }
    if (wanted[0] && strcmp(wanted, a->sha256) != 0) {
        job_say(r, job_place(r, n), "'%s' %s has SHA-256 %s, the job asks for %s", p->name, name,
                a->sha256, wanted);
        return false;
    }
    c->value.file = a;
    char *text = job_file_text(a);
    c->text = storage_text(r->storage, text, strlen(text));
    free(text);
    return true;
}
