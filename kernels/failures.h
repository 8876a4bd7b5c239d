/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Servers that fail and are repaired, seen by nobody but the jobs they hold up. Kinds (`failures`):
 *   none
 *   alternating{up, down, while_idle, resume, start}  every server is up and down in turn, for times
 *                       of two laws. while_idle: true counts calendar time; false counts up times in
 *                       time spent serving, so an idle server never fails. start: stationary is up
 *                       with probability E U / (E U + E D), the time left has the law of the
 *                       residual life (while_idle: false: up, as an idle server is); all-up begins
 *                       with a whole time up
 *   windows{file, resume} down from .. to, line by line: server from to
 * resume: resume goes on with what is left of a job, repeat begins the same job anew.
 * In a job file: `failures: {alternating: {up: {exponential: {mean: 10}}, down: exponential}}`.
 * A server that is down at t serves again from the end of that time down; a job that ends at the very
 * moment a server fails is done. */
#ifndef POTLUCK_FAILURES_H
#define POTLUCK_FAILURES_H

#include "isa.h"
#include "kernel.h"
#include "law.h"

/* Parameter `failures` of the model (standard "none"). */
extern const struct catalogue ISA(failures);

struct failures_facts {
    bool any;             /* false: `none`, and nothing else here is called */
    bool state_dependent; /* while_idle: false */
    double availability;  /* in the long run, of a server that is busy all the time */
    double scale;         /* mean time of a cycle; 0: none */
    const char *heavy;    /* which times have no fourth moment: "up", "down"; NULL: neither */
    uint64_t bytes;       /* of what is prepared, per rank */
    uint64_t memory;      /* bytes of the state of one replication */
};

/* Checks an entry of the catalogue for n servers and states its facts. On refusal `inner` is the
 * index of the parameter of the entry at fault. */
bool ISA(failures_examine)(const struct entry *entry, uint64_t n, struct failures_facts *facts,
                           struct reason *why, unsigned *inner);
/* Mean time that a job of this law holds a server which serves at `speed`, failures included: what
 * stability is about. resume: E S (1 + E D / E U); repeat with exponential up times of rate f:
 * E[(exp(f S) - 1) / f] (1 + f E D); INFINITY; NAN where no rule is known (repeat with other up
 * times, unless some jobs need longer than any of them). Windows end, so they do not count. */
double ISA(failures_service)(const struct entry *entry, const struct sampled_law *service,
                             double speed);

struct failures; /* made ready: shared, read only */
struct failures *ISA(failures_prepare)(const struct entry *entry, uint64_t n);
void ISA(failures_free)(struct failures *f);

/* Starts a replication in facts.memory bytes, 64-byte aligned. */
void ISA(failures_begin)(const struct failures *f, void *memory, struct stream s);

/* The turn of a job: it needs `work` units of time of a server that is free for it from `start`. */
struct turn {
    double start, work;
    double begins;  /* out: its service begins, at `start` unless the server is down then */
    double serving; /* out: time spent serving it: work, or more with repeat */
    double ends;    /* out: INFINITY when it will never be done */
};
/* Plays the turn at `server` and returns turn->ends. Turns of one server come in order, each from
 * the end of the one before at the earliest. Where nothing fails in time, ends is start + work to the
 * bit. */
double ISA(failures_finish)(const struct failures *f, void *memory, struct stream s,
                            uint32_t server, struct turn *turn);

#endif
