/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From axes to points: the product, what is known of each point, which random words it uses, and
 * which point it is compared with. */
#include "job_parts.h"
#include "rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_TEXT_MAX = 1 << 14 };

/* Sets the strides; returns the number of points, 0 when there are none or too many. */
static uint64_t count_points(struct reader *r) {
    uint64_t points = 1;
    for (unsigned i = r->model->kind.n_parameters; i-- > 0;) {
        r->stride[r->order[i]] = points;
        const uint64_t n = r->choices[r->order[i]].n;
        if (!n)
            return 0;
        if (__builtin_mul_overflow(points, n, &points) || points > POINTS_MAX) {
            job_say(r, r->root, "the job has more than %d points", POINTS_MAX);
            return 0;
        }
    }
    return points;
}

/* The place of the value that examine() blames. */
static struct place blamed(const struct reader *r, uint64_t point, unsigned at) {
    const unsigned outer = at & 0xffff, within = at >> 16;
    CHECK(outer < r->model->kind.n_parameters);
    const struct choice *c = job_choice(r, outer, point);
    if (within && c->inner && c->inner[within - 1].place.line)
        return c->inner[within - 1].place;
    return c->place;
}

/* Multiples of n can be held against their bounds only now that n is known. */
static void check_multiples(struct reader *r, const struct parameter *p, const struct choice *c,
                            uint64_t n) {
    if (p->type == TYPE_COUNT && c->value.relative) {
        const double count = (double)value_count(&c->value, n);
        if (count < p->lower || count > p->upper)
            job_say(r, c->place, "'%s' is %s = %.0f where n is %" PRIu64 " (%s)", p->name, c->text,
                    count, n, job_wanted(r, p));
    }
    for (unsigned i = 0; c->inner && i < c->value.entry->kind->n_parameters; i++)
        check_multiples(r, &c->value.entry->kind->parameters[i], &c->inner[i], n);
}

static bool examine(struct reader *r, struct job *job, uint64_t k) {
    const struct kind *kind = &r->model->kind;
    struct point *p = &job->points[k];
    struct value *values = storage_get(r->storage, kind->n_parameters, sizeof *values);
    for (unsigned i = 0; i < kind->n_parameters; i++)
        values[i] = job_choice(r, i, k)->value;
    p->values = values;
    struct reason why = {""};
    unsigned at = 0;
    if (!r->model->examine(values, &job->budget, &p->facts, &why, &at)) {
        job_say(r, blamed(r, k, at), "%s", why.text);
        return false;
    }
    for (unsigned i = 0; i < kind->n_parameters; i++) {
        check_multiples(r, &kind->parameters[i], job_choice(r, i, k), p->facts.servers);
        r->used[i] = r->used[i] || !r->model->uses || r->model->uses(values, i);
    }
    return true;
}

/* The text whose hash is the key of a point's words. */
static void words_text(const struct reader *r, const struct job *job, uint64_t k,
                       char text[SHARED_TEXT_MAX]) {
    if (job->common) {
        r->model->shared_text(job->points[k].values, text, SHARED_TEXT_MAX);
        return;
    }
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < r->model->kind.n_parameters; i++) {
        const char *name = r->model->kind.parameters[i].name, *value = job_choice(r, i, k)->text;
        const size_t more = strlen(name) + strlen(value) + 3;
        CHECK(length + more < SHARED_TEXT_MAX);
        memcpy(text + length, name, strlen(name));
        length += strlen(name);
        memcpy(text + length, ": ", 2);
        length += 2;
        memcpy(text + length, value, strlen(value));
        length += strlen(value);
        text[length++] = '\n';
        text[length] = '\0';
    }
}

/* Distinct keys, found by hashing: open addressing in a table at most half full. */
struct streams {
    uint64_t mask;
    struct slot {
        const char *text; /* NULL: free */
        uint64_t key, point;
        unsigned stream;
    } * slot;
    unsigned n;
};

/* Two texts of one key would share their words without being meant to. */
static void assign_stream(struct reader *r, struct job *job, uint64_t k, struct streams *s) {
    struct point *p = &job->points[k];
    char text[SHARED_TEXT_MAX];
    words_text(r, job, k, text);
    p->key = rng_key(job->seed, text);
    uint64_t i = p->key & s->mask;
    while (s->slot[i].text && s->slot[i].key != p->key)
        i = (i + 1) & s->mask;
    if (!s->slot[i].text) {
        s->slot[i] = (struct slot){storage_text(r->storage, text, strlen(text)), p->key, k, s->n++};
    } else if (strcmp(s->slot[i].text, text)) {
        job_say(r, r->root,
                "points %" PRIu64 " and %" PRIu64
                " would share their random words (choose another seed)",
                s->slot[i].point, k);
    }
    p->stream = s->slot[i].stream;
}

static void assign_streams(struct reader *r, struct job *job) {
    struct streams s = {.mask = 1};
    while (s.mask + 1 < 2 * job->n_points)
        s.mask = 2 * s.mask + 1;
    s.slot = allocate(s.mask + 1, sizeof *s.slot);
    for (uint64_t k = 0; k < job->n_points; k++)
        assign_stream(r, job, k, &s);
    free(s.slot);
}

/* The same point but for the contender, if the job has the baseline among its contenders. */
static void assign_baselines(struct reader *r, struct job *job) {
    const int contender = r->model->contender;
    int64_t base = -1;
    if (contender >= 0 && r->baseline.text)
        for (size_t i = 0; i < r->choices[contender].n; i++)
            if (!strcmp(r->choices[contender].item[i].text, r->baseline.text))
                base = (int64_t)i;
    for (uint64_t k = 0; k < job->n_points; k++) {
        job->points[k].baseline = -1;
        if (base < 0)
            continue;
        const uint64_t stride = r->stride[contender], own = k / stride % r->choices[contender].n;
        job->points[k].baseline = (int64_t)(k - own * stride + (uint64_t)base * stride);
    }
}

static void refuse_unused(struct reader *r) {
    for (unsigned i = 0; i < r->model->kind.n_parameters; i++) {
        const struct parameter *p = &r->model->kind.parameters[i];
        if (r->key[i] && !r->used[i] && !p->optional_use)
            job_say(r, job_place(r, r->key[i]),
                    "'%s' makes no difference to any point of this job (remove it)", p->name);
    }
}

void job_make_points(struct reader *r, struct job *job) {
    job->n_points = count_points(r);
    if (!job->n_points)
        return;
    job->points = allocate(job->n_points, sizeof *job->points);
    bool good = true;
    for (uint64_t k = 0; k < job->n_points && r->complaints->count < COMPLAINTS_MAX; k++)
        good = examine(r, job, k) && good;
    if (good && !r->dropped)
        refuse_unused(r);
    if (r->complaints->count)
        return;
    assign_streams(r, job);
    assign_baselines(r, job);
}
