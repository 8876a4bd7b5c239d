/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries: the name of something and its parameters, with the axes within them. Knows every name
 * only from tables. */
#include "job_parts.h"

#include <stdio.h>
#include <string.h>

struct standard {
    struct standard *next;
    const struct parameter *parameter;
    struct choice choice;
};

struct choice job_standard(struct reader *r, const struct parameter *p, struct place where) {
    struct standard *s = r->standards;
    while (s && s->parameter != p)
        s = s->next;
    if (!s) {
        struct complaints none = {0};
        struct reader own = *r;
        own.complaints = &none;
        own.path = p->name;
        struct tree *y = tree_read(p->name, p->standard, strlen(p->standard), &none);
        struct choices one = {0};
        if (y)
            job_read_values(&own, p, tree_root(y), &one);
        if (none.count)
            world_failed("the default of %s is no good: %s", p->name, none.text);
        CHECK(one.n == 1);
        tree_free(y);
        s = storage_get(r->storage, 1, sizeof *s);
        s->parameter = p;
        s->choice = one.item[0];
        s->next = own.standards;
        r->standards = s;
    }
    struct choice c = s->choice;
    c.place = where;
    return c;
}

const char *job_flow(struct reader *r, const struct choice *c) {
    const bool braces = c->value.entry && c->value.entry->kind->n_parameters;
    return braces ? job_format(r, "{%s}", c->text) : c->text;
}

/* One setting of all parameters of a kind. */
static struct choice make_entry(struct reader *r, const struct kind *kind,
                                const struct choice *inner, struct place where) {
    struct entry *e = storage_get(r->storage, 1, sizeof *e);
    struct value *values = storage_get(r->storage, kind->n_parameters, sizeof *values);
    size_t length = strlen(kind->name) + 8;
    for (unsigned i = 0; i < kind->n_parameters; i++) {
        values[i] = inner[i].value;
        length += strlen(kind->parameters[i].name) + strlen(inner[i].text) + 8;
    }
    char *text = storage_get(r->storage, length, 1), *end = text;
    end += sprintf(end, "%s", kind->name);
    for (unsigned i = 0; i < kind->n_parameters; i++)
        end += sprintf(end, "%s%s: %s", i ? ", " : ": {", kind->parameters[i].name,
                       job_flow(r, &inner[i]));
    if (kind->n_parameters)
        *end = '}';
    *e = (struct entry){kind, values, text};
    return (struct choice){.value = {.entry = e}, .text = text, .inner = inner, .place = where};
}

/* A kind with the values that a file gives its parameters. */
struct form {
    const struct kind *kind;
    const struct node *mapping; /* NULL: the file gives none */
    const struct node *bare;    /* the value of the one parameter; NULL: none */
    struct place where;
    struct choices *lists; /* of each parameter */
    unsigned *order;       /* those the mapping names, in its order, then the others */
};

/* The parameters that the file names; `given` gets which. Returns their number. */
static unsigned read_given(struct reader *r, const struct form *f, bool *given) {
    const struct kind *kind = f->kind;
    const char **names = storage_get(r->storage, kind->n_parameters, sizeof *names);
    unsigned n = 0;
    if (f->bare) {
        given[0] = true;
        f->order[n++] = 0;
        job_read_values(r, &kind->parameters[0], f->bare, &f->lists[0]);
    }
    for (unsigned i = 0; i < kind->n_parameters; i++)
        names[i] = kind->parameters[i].name;
    for (unsigned i = 0; f->mapping && i < f->mapping->n; i++) {
        const struct node *key = f->mapping->key[i];
        const int at = parameter_index(kind, key->text);
        if (at < 0) {
            r->dropped = true;
            job_say(r, job_place(r, key), "unknown parameter '%s' of %s (%s)", key->text,
                    kind->name, job_allowed(r, key->text, names, kind->n_parameters));
        } else if (!given[at]) {
            given[at] = true;
            f->order[n++] = (unsigned)at;
            job_read_values(r, &kind->parameters[at], f->mapping->item[i], &f->lists[at]);
        }
    }
    return n;
}

static void read_form(struct reader *r, const struct form *f) {
    const struct kind *kind = f->kind;
    bool *given = storage_get(r->storage, kind->n_parameters, sizeof *given);
    unsigned n = read_given(r, f, given);
    for (unsigned i = 0; i < kind->n_parameters; i++) {
        if (given[i])
            continue;
        f->order[n++] = i;
        const struct parameter *p = &kind->parameters[i];
        if (p->standard) {
            const struct choice c = job_standard(r, p, f->where);
            job_add_choice(r, &f->lists[i], &c);
        } else {
            r->dropped = true;
            job_say(r, f->where, "%s needs '%s' (%s)", kind->name, p->name, job_wanted(r, p));
        }
    }
}

/* Every combination of the values, the last parameter of the order fastest. */
static void expand(struct reader *r, const struct form *f, struct choices *into) {
    const unsigned n = f->kind->n_parameters;
    uint64_t product = 1;
    for (unsigned i = 0; i < n && product; i++)
        if (__builtin_mul_overflow(product, f->lists[i].n, &product) || product > POINTS_MAX)
            product = POINTS_MAX + 1;
    if (product + into->n > POINTS_MAX) {
        job_say(r, f->where, "more than %d settings of %s", POINTS_MAX, f->kind->name);
        r->dropped = true;
        return;
    }
    for (uint64_t k = 0; k < product; k++) {
        struct choice *inner = storage_get(r->storage, n, sizeof *inner);
        uint64_t rest = k;
        for (unsigned i = n; i-- > 0;) {
            const struct choices *list = &f->lists[f->order[i]];
            inner[f->order[i]] = list->item[rest % list->n];
            rest /= list->n;
        }
        const struct choice c = make_entry(r, f->kind, inner, f->where);
        job_add_choice(r, into, &c);
    }
}

/* The sort of thing a name is, when another catalogue of the model has it. */
static const char *noun_elsewhere(const struct reader *r, const char *name) {
    for (unsigned i = 0; r->model && i < r->model->kind.n_parameters; i++) {
        const struct catalogue *c = r->model->kind.parameters[i].catalogue;
        for (unsigned k = 0; c && k < c->n_kinds; k++)
            if (!strcmp(c->kinds[k]->name, name))
                return c->noun;
    }
    return NULL;
}

static bool takes_bare(const struct kind *k) {
    return k->n_parameters == 1 && k->parameters[0].bare;
}

/* A number where a name belongs means the first kind, if that may be written so. */
static bool is_bare(const struct parameter *p, const struct node *n) {
    return n->type == NODE_SCALAR && n->plain && strchr("0123456789.+-", n->text[0]) &&
           takes_bare(p->catalogue->kinds[0]);
}

/* The one kind that has the parameter which a mapping begins with, and of several such the one that
 * has its other parameters too. NULL: none, several, or a kind is called so. */
static const struct kind *kind_with(const struct catalogue *c, const struct node *n) {
    const struct kind *found = NULL;
    bool several = false;
    unsigned most = 0;
    for (unsigned i = 0; i < c->n_kinds; i++) {
        unsigned has = 0;
        if (!strcmp(c->kinds[i]->name, n->key[0]->text))
            return NULL;
        if (parameter_index(c->kinds[i], n->key[0]->text) < 0)
            continue;
        for (unsigned k = 0; k < n->n; k++)
            has += parameter_index(c->kinds[i], n->key[k]->text) >= 0;
        several = has > most ? false : several || has == most;
        found = has > most ? c->kinds[i] : found;
        most = has > most ? has : most;
    }
    return several ? NULL : found;
}

static void read_kind(struct reader *r, struct form f, struct choices *into) {
    f.lists = storage_get(r->storage, f.kind->n_parameters, sizeof *f.lists);
    f.order = storage_get(r->storage, f.kind->n_parameters, sizeof *f.order);
    read_form(r, &f);
    expand(r, &f, into);
}

static const struct kind *find_kind(struct reader *r, const struct parameter *p,
                                    const struct node *name) {
    const struct catalogue *c = p->catalogue;
    const char **names = storage_get(r->storage, c->n_kinds, sizeof *names);
    for (unsigned i = 0; i < c->n_kinds; i++) {
        names[i] = c->kinds[i]->name;
        if (!strcmp(names[i], name->text))
            return c->kinds[i];
    }
    r->dropped = true;
    const char *noun = noun_elsewhere(r, name->text);
    const char *allowed = job_allowed(r, name->text, names, c->n_kinds);
    if (noun)
        job_say(r, job_place(r, name), "'%s' is a %s, not a %s (%s)", name->text, noun, c->noun,
                allowed);
    else
        job_say(r, job_place(r, name), "unknown %s '%s' (%s)", c->noun, name->text, allowed);
    return NULL;
}

/* Several keys where one name belongs: most likely parameters that are not indented enough. */
static void complain_beside(struct reader *r, const struct kind *kind, const struct node *n,
                            const struct parameter *p) {
    const struct node *second = n->key[1];
    const char *first = n->key[0]->text;
    if (kind && parameter_index(kind, second->text) >= 0)
        job_say(
            r, job_place(r, second),
            "'%s' stands beside '%s', not within it (indent it further, or write %s: {%s: ...})",
            second->text, first, first, second->text);
    else
        job_say(r, job_place(r, second),
                "'%s' takes one %s at a time: '%s' follows '%s' (write a list)", p->name,
                p->catalogue->noun, second->text, first);
}

void job_read_entry(struct reader *r, const struct parameter *p, const struct node *n,
                    struct choices *into) {
    if (n->type == NODE_SEQUENCE || node_null(n) || (n->type == NODE_MAPPING && !n->n)) {
        r->dropped = true;
        job_wrong(r, p, n);
        return;
    }
    const struct kind *nameless = n->type == NODE_MAPPING ? kind_with(p->catalogue, n)
                                  : is_bare(p, n)         ? p->catalogue->kinds[0]
                                                          : NULL;
    if (nameless && (n->type == NODE_SCALAR || p->nameless)) {
        read_kind(r,
                  (struct form){.kind = nameless,
                                .mapping = n->type == NODE_MAPPING ? n : NULL,
                                .bare = n->type == NODE_SCALAR ? n : NULL,
                                .where = job_place(r, n)},
                  into);
        return;
    }
    const struct node *name = n->type == NODE_MAPPING ? n->key[0] : n;
    const struct node *parameters = n->type == NODE_MAPPING ? n->item[0] : NULL;
    const struct kind *kind = find_kind(r, p, name);
    const bool bare = kind && takes_bare(kind) && parameters && !node_null(parameters) &&
                      parameters->type != NODE_MAPPING;
    if (n->type == NODE_MAPPING && n->n > 1) {
        r->dropped = true;
        complain_beside(r, kind, n, p);
    } else if (kind && parameters && parameters->type != NODE_MAPPING && !node_null(parameters) &&
               !bare) {
        r->dropped = true;
        const char *example = kind->n_parameters ? kind->parameters[0].name : NULL;
        if (example)
            job_say(r, job_place(r, parameters), "%s takes its parameters by name (%s: {%s: ...})",
                    kind->name, kind->name, example);
        else
            job_say(r, job_place(r, parameters), "%s takes no parameters", kind->name);
    } else if (kind) {
        const bool given = parameters && !node_null(parameters);
        read_kind(r,
                  (struct form){.kind = kind,
                                .mapping = given && !bare ? parameters : NULL,
                                .bare = bare ? parameters : NULL,
                                .where = job_place(r, name)},
                  into);
    }
}
