/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A result file becomes a table, and one of its histograms a list of fractions. */
#include "results_parts.h"

#include <hdf5_hl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads dataset `d` of `rows` values into a column, as text or as numbers; false when it is
 * neither. */
static bool read_column(hid_t d, hid_t text, uint64_t rows, struct column *c) {
    const hid_t type = H5Dget_type(d), space = H5Dget_space(d);
    const H5T_class_t class = H5Tget_class(type);
    bool good = false;
    if (class == H5T_STRING && H5Tis_variable_str(type) > 0) {
        char **raw = allocate(rows, sizeof *raw);
        good = H5Dread(d, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0;
        c->text = good ? allocate(rows, sizeof *c->text) : NULL;
        for (uint64_t i = 0; good && i < rows; i++)
            c->text[i] = duplicate_text(raw[i] ? raw[i] : "");
        if (good)
            H5Dvlen_reclaim(text, space, H5P_DEFAULT, raw);
        free(raw);
    } else if (class == H5T_INTEGER || class == H5T_FLOAT) {
        c->number = allocate(rows, sizeof *c->number);
        good = H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->number) >= 0;
    }
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

/* Whether `name` is a dataset whose one axis is that of `point`, or `point` itself; opens it then.
 */
static hid_t open_on_point(const struct saved *f, const char *name, hid_t point, uint64_t rows) {
    H5O_info_t info;
    hsize_t length = 0;
    if (H5Oget_info_by_name(f->file, name, &info, H5P_DEFAULT) < 0 || info.type != H5O_TYPE_DATASET)
        return -1;
    const hid_t d = results_dataset(f->file, name, 1, &length);
    if (d < 0)
        return -1;
    if (length == rows && (strcmp(name, "point") == 0 || H5DSis_attached(d, point, 0) > 0))
        return d;
    H5Dclose(d);
    return -1;
}

/* Adds the i-th link of the root as a column, if it is one; false when it cannot be read. */
static bool take_column(const struct saved *f, struct table *t, uint64_t i, hid_t point) {
    char name[256];
    const ssize_t length = H5Lget_name_by_idx(f->file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                              name, sizeof name, H5P_DEFAULT);
    if (length < 0 || (size_t)length >= sizeof name)
        return false;
    const hid_t d = open_on_point(f, name, point, t->n_rows);
    if (d < 0)
        return true;
    struct column c = {.name = duplicate_text(name)};
    t->columns = reallocate(t->columns, t->n_columns + 1, sizeof *t->columns);
    const bool good = read_column(d, f->text, t->n_rows, &c);
    t->columns[t->n_columns++] = c;
    H5Dclose(d);
    return good;
}

static uint64_t count_done(const struct saved *f, uint64_t rows) {
    hsize_t length = 0;
    uint64_t done = 0;
    const hid_t d = results_dataset(f->file, "state/done", 1, &length);
    uint8_t *flag = d >= 0 && length == rows ? allocate(rows, 1) : NULL;
    if (flag && H5Dread(d, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, flag) >= 0)
        for (uint64_t i = 0; i < rows; i++)
            done += flag[i] != 0;
    free(flag);
    if (d >= 0)
        H5Dclose(d);
    return done;
}

struct table *results_table(struct saved *f, struct reason *why) {
    hsize_t rows = 0;
    H5G_info_t root;
    const hid_t point = results_dataset(f->file, "point", 1, &rows);
    bool good = point >= 0 && rows > 0 && H5Gget_info(f->file, &root) >= 0;
    struct table *t = allocate(1, sizeof *t);
    const char *title = results_attribute(f, "title");
    t->title = duplicate_text(title ? title : "");
    t->complete = results_complete(f);
    t->n_rows = rows;
    for (uint64_t i = 0; good && i < root.nlinks; i++)
        good = take_column(f, t, i, point);
    t->n_done = good ? count_done(f, rows) : 0;
    if (point >= 0)
        H5Dclose(point);
    if (good)
        return t;
    table_free(t);
    refuse(why, "'%s' is damaged: its table of points cannot be read", f->path);
    return NULL;
}

void table_free(struct table *t) {
    for (unsigned i = 0; t && i < t->n_columns; i++) {
        for (uint64_t r = 0; t->columns[i].text && r < t->n_rows; r++)
            free(t->columns[i].text[r]);
        free(t->columns[i].text);
        free(t->columns[i].number);
        free(t->columns[i].name);
    }
    if (t) {
        free(t->columns);
        free(t->title);
    }
    free(t);
}

/* ---- histograms ---- */

/* Reads all of a dataset of two axes, the first of which is that of `point`. */
static double *read_matrix(const struct saved *f, const char *name, hid_t point, const char *axis,
                           hsize_t size[2]) {
    const hid_t d = results_dataset(f->file, name, 2, size);
    if (d < 0)
        return NULL;
    double *values = NULL;
    const hid_t scale = H5Dopen2(f->file, axis, H5P_DEFAULT);
    if (size[0] && size[1] && H5DSis_attached(d, point, 0) > 0 && scale >= 0 &&
        H5DSis_attached(d, scale, 1) > 0) {
        values = allocate(size[0] * size[1], sizeof *values);
        if (H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            free(values);
            values = NULL;
        }
    }
    if (scale >= 0)
        H5Dclose(scale);
    H5Dclose(d);
    return values;
}

static double *read_axis(const struct saved *f, const char *name, hsize_t bins) {
    hsize_t length = 0;
    const hid_t d = results_dataset(f->file, name, 1, &length);
    double *values = d >= 0 && length == bins ? allocate(bins, sizeof *values) : NULL;
    if (values && H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        free(values);
        values = NULL;
    }
    if (d >= 0)
        H5Dclose(d);
    return values;
}

/* For H5DSiterate_scales: the name of the first one, without its slash. */
static herr_t name_scale(hid_t dataset, unsigned axis, hid_t scale, void *name) {
    (void)dataset, (void)axis;
    char path[128];
    const ssize_t length = H5Iget_name(scale, path, sizeof path);
    if (length > 1 && (size_t)length < sizeof path)
        *(char **)name = duplicate_text(path + 1);
    return 1;
}

/* The axis of the histogram `name`, whole numbers over bins that have an upper end; NULL when the
 * file has no such histogram. The caller frees. */
static char *axis_of(const struct saved *f, const char *name, hid_t point) {
    hsize_t size[2] = {0};
    const hid_t d =
        H5Lexists(f->file, name, H5P_DEFAULT) > 0 ? results_dataset(f->file, name, 2, size) : -1;
    if (d < 0)
        return NULL;
    char *axis = NULL;
    const hid_t type = H5Dget_type(d);
    if (H5Tget_class(type) == H5T_INTEGER && H5DSis_attached(d, point, 0) > 0)
        H5DSiterate_scales(d, 1, NULL, name_scale, &axis);
    H5Tclose(type);
    H5Dclose(d);
    char *upper = axis ? format_text("%s_upper", axis) : NULL;
    if (upper && H5Lexists(f->file, upper, H5P_DEFAULT) <= 0) {
        free(axis);
        axis = NULL;
    }
    free(upper);
    return axis;
}

/* Standard errors of the fractions, if the file has them: of load_count, se_load_fraction. */
static double *read_errors(const struct saved *f, const char *name, hid_t point, const char *axis) {
    const size_t length = strlen(name);
    const bool count = length > 6 && strcmp(name + length - 6, "_count") == 0;
    char *se = format_text("se_%.*s_fraction", (int)(count ? length - 6 : length), name);
    hsize_t size[2];
    double *values =
        H5Lexists(f->file, se, H5P_DEFAULT) > 0 ? read_matrix(f, se, point, axis, size) : NULL;
    free(se);
    return values;
}

static struct law *read_law(const struct saved *f, const char *name, hid_t point) {
    char *axis = axis_of(f, name, point);
    if (!axis)
        return NULL;
    hsize_t size[2] = {0};
    struct law *law = allocate(1, sizeof *law);
    char *upper = format_text("%s_upper", axis);
    law->name = duplicate_text(name);
    law->axis = axis;
    law->count = read_matrix(f, name, point, axis, size);
    law->n_rows = size[0];
    law->n_bins = size[1];
    law->low = read_axis(f, axis, size[1]);
    law->high = read_axis(f, upper, size[1]);
    law->error = read_errors(f, name, point, axis);
    free(upper);
    if (law->count && law->low && law->high)
        return law;
    law_free(law);
    return NULL;
}

/* Names of the histograms of a file; the list is owned by the caller. */
static char **law_names(const struct saved *f, hid_t point, unsigned *n) {
    H5G_info_t root;
    char **names = NULL, name[256];
    *n = 0;
    for (uint64_t i = 0; H5Gget_info(f->file, &root) >= 0 && i < root.nlinks; i++) {
        const bool named = H5Lget_name_by_idx(f->file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                              name, sizeof name, H5P_DEFAULT) > 0;
        char *axis = named ? axis_of(f, name, point) : NULL;
        if (axis) {
            names = reallocate(names, *n + 1, sizeof *names);
            names[(*n)++] = duplicate_text(name);
        }
        free(axis);
    }
    return names;
}

static void refuse_law(const struct saved *f, const char *name, hid_t point, struct reason *why) {
    unsigned n;
    char **names = law_names(f, point, &n), *all = duplicate_text("");
    for (unsigned i = 0; i < n; i++) {
        char *longer = format_text("%s%s%s", all, i ? ", " : "", names[i]);
        free(all);
        all = longer;
        free(names[i]);
    }
    if (n)
        refuse(why, "--histogram: '%s' has no histogram '%s', but %s", f->path, name, all);
    else
        refuse(why, "--histogram: '%s' has no histograms", f->path);
    free(all);
    free(names);
}

struct law *results_law(struct saved *f, const char *name, struct reason *why) {
    static const char *const main_laws[] = {"load_count", "load_time", "utilisation_count"};
    struct law *law = NULL;
    const hid_t point = H5Dopen2(f->file, "point", H5P_DEFAULT);
    if (name) {
        law = read_law(f, name, point);
        if (!law)
            refuse_law(f, name, point, why);
    }
    for (size_t i = 0; !name && !law && i < sizeof main_laws / sizeof *main_laws; i++)
        law = read_law(f, main_laws[i], point);
    if (point >= 0)
        H5Dclose(point);
    return law;
}

void law_free(struct law *law) {
    if (!law)
        return;
    free(law->name);
    free(law->axis);
    free(law->low);
    free(law->high);
    free(law->count);
    free(law->error);
    free(law);
}
