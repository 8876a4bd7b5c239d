/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * layout.c says what the file holds; here it becomes HDF5, and HDF5 a store again. results_table.c
 * reads it for people.
 *
 * Behind the bytes that HDF5 knows of stand 32 more, a checksum over all before it: HDF5 may crash
 * on a damaged file, so nothing is handed to it that does not match its seal. Every HDF5 reader
 * ignores them. */
#include "results.h"

#include "layout.h"
#include "results_parts.h"
#include "version.h"
#include "wholefile.h"

#include <hdf5_hl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, CORE_STEP = 1 << 22 };

/* ---- writing ---- */

/* The identifier, if HDF5 could make it. */
static hid_t made(hid_t id, const char *what) {
    if (id < 0)
        world_failed("cannot build the result file: HDF5 failed to make %s (out of memory?)", what);
    return id;
}

static void must(herr_t status, const char *what) {
    made(status, what);
}

struct writer {
    hid_t file, state;
    hid_t creation; /* properties of every dataset */
    hid_t text;     /* variable-length UTF-8 */
    hid_t scale[DIMENSIONS];
};

static hid_t text_type(void) {
    const hid_t t = made(H5Tcopy(H5T_C_S1), "a text type");
    must(H5Tset_size(t, H5T_VARIABLE), "a text type");
    must(H5Tset_cset(t, H5T_CSET_UTF8), "a text type");
    return t;
}

static hid_t memory_type(enum element e, hid_t text) {
    switch (e) {
    case ELEMENT_U8:
        return H5T_NATIVE_UINT8;
    case ELEMENT_I64:
        return H5T_NATIVE_INT64;
    case ELEMENT_U64:
        return H5T_NATIVE_UINT64;
    case ELEMENT_F64:
        return H5T_NATIVE_DOUBLE;
    default:
        return text;
    }
}

static hid_t file_type(enum element e, hid_t text) {
    switch (e) {
    case ELEMENT_U8:
        return H5T_STD_U8LE;
    case ELEMENT_I64:
        return H5T_STD_I64LE;
    case ELEMENT_U64:
        return H5T_STD_U64LE;
    case ELEMENT_F64:
        return H5T_IEEE_F64LE;
    default:
        return text;
    }
}

/* An attribute of one element, or of `length` when that is not 0. */
static void put_attribute(const struct writer *w, hid_t object, const char *name, enum element e,
                          hsize_t length, const void *data) {
    const hid_t space =
        made(length ? H5Screate_simple(1, &length, NULL) : H5Screate(H5S_SCALAR), name);
    const hid_t a = made(
        H5Acreate2(object, name, file_type(e, w->text), space, H5P_DEFAULT, H5P_DEFAULT), name);
    must(H5Awrite(a, memory_type(e, w->text), data), name);
    must(H5Aclose(a), name);
    must(H5Sclose(space), name);
}

static void put_text(const struct writer *w, hid_t object, const char *name, const char *text) {
    put_attribute(w, object, name, ELEMENT_TEXT, 0, &text);
}

static void put_number(const struct writer *w, hid_t object, const char *name, enum element e,
                       uint64_t x) {
    put_attribute(w, object, name, e, 0,
                  &x); /* little endian only, as are all machines we build on */
}

/* NaN has many bit patterns and compilers differ in which they make. */
static void settle_nan(double *x, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (isnan(x[i]))
            x[i] = (double)NAN;
}

static void put_descriptions(const struct writer *w, hid_t dataset, const struct variable *v) {
    put_text(w, dataset, "units", v->units && *v->units ? v->units : "1");
    put_text(w, dataset, "long_name", v->long_name);
    if (v->reference && *v->reference)
        put_text(w, dataset, "reference", v->reference);
    if (v->element != ELEMENT_U8)
        return;
    put_attribute(w, dataset, "flag_values", ELEMENT_U8, 2, (const uint8_t[]){0, 1});
    put_text(w, dataset, "flag_meanings", "false true");
}

static void put_variable(struct writer *w, const struct layout *l, const struct variable *v) {
    const uint64_t count = layout_count(l, v);
    void *data = allocate(count, element_size(v->element));
    v->fill(l, v, data);
    if (v->element == ELEMENT_F64)
        settle_nan(data, count);
    hsize_t length[RANK_MAX];
    for (unsigned i = 0; i < v->rank; i++)
        length[i] = l->length[v->dimension[i]];
    const hid_t space = made(H5Screate_simple((int)v->rank, length, NULL), v->name);
    const hid_t d =
        made(H5Dcreate2(v->state ? w->state : w->file, v->name, file_type(v->element, w->text),
                        space, H5P_DEFAULT, w->creation, H5P_DEFAULT),
             v->name);
    must(H5Dwrite(d, memory_type(v->element, w->text), H5S_ALL, H5S_ALL, H5P_DEFAULT, data),
         v->name);
    free(data);
    if (v->coordinate)
        must(H5DSset_scale(d, v->name), v->name);
    else
        for (unsigned i = 0; i < v->rank; i++)
            must(H5DSattach_scale(d, w->scale[v->dimension[i]], i), v->name);
    put_descriptions(w, d, v);
    must(H5Sclose(space), v->name);
    if (v->coordinate)
        w->scale[v->dimension[0]] = d;
    else
        must(H5Dclose(d), v->name);
}

/* Properties for making an object without times, so that its bytes depend on nothing but the
 * contents, and with the order kept in which things were added, which netCDF wants. */
static hid_t creation_properties(hid_t class) {
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    const hid_t p = made(H5Pcreate(class), "properties");
    must(H5Pset_obj_track_times(p, 0), "properties");
    must(H5Pset_attr_creation_order(p, order), "properties");
    if (class != H5P_DATASET_CREATE)
        must(H5Pset_link_creation_order(p, order), "properties");
    return p;
}

static struct writer writer_new(void) {
    struct writer w = {.text = text_type(), .creation = creation_properties(H5P_DATASET_CREATE)};
    const hid_t access = made(H5Pcreate(H5P_FILE_ACCESS), "properties");
    must(H5Pset_fapl_core(access, CORE_STEP, 0), "properties");
    const hid_t file = creation_properties(H5P_FILE_CREATE),
                group = creation_properties(H5P_GROUP_CREATE);
    w.file = made(H5Fcreate("potluck", H5F_ACC_TRUNC, file, access), "a file in memory");
    w.state = made(H5Gcreate2(w.file, "state", H5P_DEFAULT, group, H5P_DEFAULT), "state");
    for (unsigned d = 0; d < DIMENSIONS; d++)
        w.scale[d] = -1;
    must(H5Pclose(access), "properties");
    must(H5Pclose(file), "properties");
    must(H5Pclose(group), "properties");
    return w;
}

static void writer_free(struct writer *w) {
    for (unsigned d = 0; d < DIMENSIONS; d++)
        if (w->scale[d] >= 0)
            must(H5Dclose(w->scale[d]), "a dimension");
    must(H5Tclose(w->text), "a text type");
    must(H5Pclose(w->creation), "properties");
    must(H5Gclose(w->state), "state");
    must(H5Fclose(w->file), "the file in memory");
}

static void put_root(const struct writer *w, const struct store *s) {
    const struct job *job = s->job;
    bool complete = true;
    for (uint64_t p = 0; p < job->n_points; p++)
        complete &= store_whole(s, p);
    put_text(w, w->file, "title", job->title ? job->title : "");
    put_text(w, w->file, "model", job->model->kind.name);
    put_number(w, w->file, "seed", ELEMENT_U64, job->seed);
    put_text(w, w->file, "job", job->text ? job->text : "");
    put_text(w, w->file, "resolved", job->resolved);
    put_number(w, w->file, "format_version", ELEMENT_I64, FORMAT);
    put_text(w, w->file, "potluck_version", POTLUCK_VERSION);
    put_text(w, w->file, "source_revision", POTLUCK_REVISION);
    put_number(w, w->file, "complete", ELEMENT_I64, complete);
    put_text(w, w->state, "identity", job->identity);
}

/* HDF5 prints its own errors unless told not to; ours are sentences. And it crashes when it lacks
 * memory for its tables, so there has to be some. */
static void be_quiet(void) {
    free(allocate(CORE_STEP, 1));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

const char *results_version(void) {
    static char text[32];
    unsigned major = 0, minor = 0, release = 0;
    be_quiet();
    H5get_libversion(&major, &minor, &release);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
    return text;
}

void results_warm_up(void) {
    be_quiet();
    struct writer w = writer_new();
    put_text(&w, w.file, "title", "");
    writer_free(&w);
}

void *results_image(const struct store *s, size_t *size) {
    be_quiet();
    struct layout l;
    layout_init(&l, s);
    struct writer w = writer_new();
    put_root(&w, s);
    for (unsigned i = 0; i < l.n; i++)
        put_variable(&w, &l, &l.variables[i]);
    layout_free(&l);
    must(H5Fflush(w.file, H5F_SCOPE_GLOBAL), "the file");
    const ssize_t bytes = H5Fget_file_image(w.file, NULL, 0);
    made(bytes, "an image of the file");
    char *image = allocate((size_t)bytes + SEAL_SIZE, 1);
    made(H5Fget_file_image(w.file, image, (size_t)bytes), "an image of the file");
    writer_free(&w);
    wholefile_seal(image, (size_t)bytes);
    *size = (size_t)bytes + SEAL_SIZE;
    return image;
}

bool results_write(const char *path, const void *image, size_t size, struct reason *why) {
    return wholefile_write(path, image, size, why);
}

/* ---- reading ---- */

static bool text_attribute(hid_t object, const char *name, hid_t text, char **out) {
    const hid_t a = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (a < 0)
        return false;
    const hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    char *value = NULL;
    const bool good = H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Aread(a, text, &value) >= 0;
    if (good) {
        *out = duplicate_text(value ? value : "");
        H5Dvlen_reclaim(text, space, H5P_DEFAULT, &value);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return good;
}

static bool number_attribute(hid_t object, const char *name, int64_t *out) {
    const hid_t a = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    if (a < 0)
        return false;
    const hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    const bool good = H5Tget_class(type) == H5T_INTEGER &&
                      H5Sget_simple_extent_npoints(space) == 1 &&
                      H5Aread(a, H5T_NATIVE_INT64, out) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(a);
    return good;
}

/* Opens a copy of the bytes; HDF5 takes files in memory of one name for the same file. */
static hid_t open_image(struct saved *f, void *image, size_t size) {
    const hid_t access = made(H5Pcreate(H5P_FILE_ACCESS), "properties");
    must(H5Pset_fapl_core(access, CORE_STEP, 0), "properties");
    must(H5Pset_file_image(access, image, size), "a copy of the file");
    char *name = format_text("%s#%p", f->path, (void *)f);
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, access);
    free(name);
    H5Pclose(access);
    return file;
}

struct saved *results_open(const char *path, struct reason *why) {
    size_t size;
    be_quiet();
    void *image = wholefile_read(path, &size, why);
    if (!image)
        return NULL;
    struct saved *f = allocate(1, sizeof *f);
    *f = (struct saved){.path = duplicate_text(path), .text = text_type()};
    f->file = open_image(f, image, size);
    free(image);
    int64_t format = -1;
    if (f->file >= 0 && number_attribute(f->file, "format_version", &format) && format == FORMAT)
        return f;
    if (format >= 0)
        refuse(why, "'%s' is in format %" PRId64 "; this potluck reads format %d", path, format,
               FORMAT);
    else
        refuse(why, "'%s' is damaged: HDF5 cannot read it", path);
    results_close(f);
    return NULL;
}

void results_close(struct saved *f) {
    if (!f)
        return;
    for (unsigned i = 0; i < f->n_attributes; i++) {
        free(f->attribute[i].name);
        free(f->attribute[i].value);
    }
    H5Tclose(f->text);
    if (f->file >= 0)
        H5Fclose(f->file);
    free(f->path);
    free(f);
}

const char *results_attribute(struct saved *f, const char *name) {
    for (unsigned i = 0; i < f->n_attributes; i++)
        if (strcmp(f->attribute[i].name, name) == 0)
            return f->attribute[i].value;
    char *value = NULL;
    const hid_t state = H5Gopen2(f->file, "state", H5P_DEFAULT);
    const bool found = text_attribute(f->file, name, f->text, &value) ||
                       (state >= 0 && text_attribute(state, name, f->text, &value));
    if (state >= 0)
        H5Gclose(state);
    if (!found)
        return NULL;
    CHECK(f->n_attributes < ATTRIBUTES_MAX);
    f->attribute[f->n_attributes].name = duplicate_text(name);
    f->attribute[f->n_attributes++].value = value;
    return value;
}

bool results_complete(struct saved *f) {
    int64_t complete = 0;
    return number_attribute(f->file, "complete", &complete) && complete == 1;
}

hid_t results_dataset(hid_t file, const char *path, unsigned rank, hsize_t *length) {
    const hid_t d = H5Dopen2(file, path, H5P_DEFAULT);
    if (d < 0)
        return -1;
    const hid_t space = H5Dget_space(d);
    const bool fits = H5Sget_simple_extent_ndims(space) == (int)rank &&
                      H5Sget_simple_extent_dims(space, length, NULL) >= 0;
    H5Sclose(space);
    if (fits)
        return d;
    H5Dclose(d);
    return -1;
}

/* Whether a dataset holds numbers of exactly the kind that we write for `e`. */
static bool holds(hid_t dataset, enum element e) {
    const hid_t type = H5Dget_type(dataset);
    const bool same =
        e == ELEMENT_TEXT ? H5Tis_variable_str(type) > 0 : H5Tequal(type, file_type(e, -1)) > 0;
    H5Tclose(type);
    return same;
}

static char *path_of(const struct variable *v) {
    return format_text("%s%s", v->state ? "state/" : "", v->name);
}

/* The elements of a variable; NULL when the file has none of that name, length and type. */
static void *get_variable(const struct saved *f, const struct layout *l, const struct variable *v) {
    hsize_t length[RANK_MAX];
    char *path = path_of(v);
    const hid_t d = results_dataset(f->file, path, v->rank, length);
    free(path);
    bool good = d >= 0 && holds(d, v->element);
    for (unsigned i = 0; good && i < v->rank; i++)
        good = length[i] == l->length[v->dimension[i]];
    void *data = good ? allocate(layout_count(l, v), element_size(v->element)) : NULL;
    if (good)
        good = H5Dread(d, memory_type(v->element, -1), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (d >= 0)
        H5Dclose(d);
    if (good)
        return data;
    free(data);
    return NULL;
}

/* ---- a file becomes a store ---- */

static bool unfit(const struct saved *f, const struct variable *v, struct reason *why) {
    char *path = path_of(v);
    refuse(why, "'%s' does not fit the job: its '%s' is missing or of another shape", f->path,
           path);
    free(path);
    return false;
}

/* The first of some whole numbers, 0 when there are none. */
static uint64_t first_element(hid_t dataset, hsize_t length) {
    uint64_t *all = allocate(length, sizeof *all);
    if (H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0)
        *all = 0;
    const uint64_t first = length ? *all : 0;
    free(all);
    return first;
}

/* The axes that grow with what has been played have the length they have in the file. */
static bool take_lengths(const struct saved *f, struct layout *l, struct reason *why) {
    for (unsigned i = 0; i < l->n; i++) {
        const struct variable *v = &l->variables[i];
        uint64_t *expected = &l->length[v->dimension[0]];
        hsize_t length = 0;
        if (!v->coordinate)
            continue;
        char *path = path_of(v);
        const hid_t d = results_dataset(f->file, path, 1, &length);
        free(path);
        if (d >= 0 && v->dimension[0] == DIMENSION_REPLICATION)
            l->first = first_element(d, length);
        if (d >= 0)
            H5Dclose(d);
        if (dimension_grows(v->dimension[0]) && length > 0)
            *expected = length;
        if (length != *expected)
            return unfit(f, v, why);
    }
    return true;
}

static bool take_variable(const struct saved *f, const struct layout *l, const struct variable *v,
                          struct reason *why) {
    struct reason fault = {0};
    void *data = get_variable(f, l, v);
    if (!data)
        return unfit(f, v, why);
    const bool good =
        v->take(l, v, data, &fault) || refuse(why, "'%s' is damaged: %s", f->path, fault.text);
    free(data);
    return good;
}

bool results_load(struct saved *f, struct store *s, struct reason *why) {
    struct layout l;
    layout_init(&l, s);
    l.into = s;
    bool good = take_lengths(f, &l, why);
    s->first = l.first < s->first ? l.first : s->first;
    for (int state = 1; state >= 0; state--)
        for (unsigned i = 0; good && i < l.n; i++)
            if (l.variables[i].take && l.variables[i].state == (state == 1))
                good = take_variable(f, &l, &l.variables[i], why);
    layout_free(&l);
    return good;
}
