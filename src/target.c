/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target.h"

#include "lock.h"
#include "wholefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool target_exists(const char *path) {
    struct stat s;
    return lstat(path, &s) == 0;
}

const char *target_state(const char *path) {
    return target_exists(path) ? "; the results saved before are intact"
                               : "; nothing has been saved";
}

bool target_writable(const char *path, struct complaints *complaints) {
    char *folder = duplicate_text(path), *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    const char *name = slash ? folder : ".";
    const unsigned before = complaints->count;
    struct stat s;
    if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode) && access(path, F_OK) != 0)
        complain(complaints, NULL, "%s is a link that leads nowhere", path);
    else if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        complain(complaints, NULL, "%s is not a file that could be replaced", path);
    else if (access(name, W_OK) != 0)
        complain(complaints, NULL, "cannot write to folder %s: %s", name, strerror(errno));
    free(folder);
    return complaints->count == before;
}

bool target_free(const char *path, bool force, const char *ways, struct complaints *complaints) {
    if (force || !target_exists(path))
        return true;
    complain(complaints, NULL, "%s exists (%s)", path, ways);
    return false;
}

bool target_take(const char *path, bool force, const char *ways, char **died,
                 struct complaints *complaints) {
    struct reason why;
    char *holder = NULL;
    *died = NULL;
    const int swept = lock_take(path, &holder, &why) ? wholefile_sweep(path, &why) : -1;
    if (swept < 0)
        complain(complaints, NULL, "%s", why.text);
    else if (holder || swept)
        *died = format_text("a run died here%s%s%s%s", holder ? " (" : "", holder ? holder : "",
                            holder ? ")" : "", swept ? ", half a file of its was removed" : "");
    free(holder);
    return swept >= 0 && target_free(path, force, ways, complaints);
}
