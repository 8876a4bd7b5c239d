#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs that turn out to be impossible while the job runs, and a world too small for them.

usage: refusals.py PROGRAM

Whichever player of whichever rank finds out: one sentence, the right exit code, and on the disk what was there before.
"""
import os
import resource
import signal
import sys
import time

import h5py

from _common import Checks, Lab, digest, wait

LAYOUTS = [None, (3, 2)]

# (name, topology, policy, words of the sentence)
IMPOSSIBLE = [
    ("redraw", "erdos-renyi: {n: 1000, mean_degree: 1, connect: redraw}", "[pot, one-choice]",
     ["none of 100 graphs was connected", "connect: largest", "connect: any"]),
    ("redraw once", "erdos-renyi: {n: 1000, mean_degree: 1, connect: redraw, graphs: per-point}", "[pot, one-choice]",
     ["none of 100 graphs was connected", "connect: largest"]),
    ("edge", "erdos-renyi: {n: 10, mean_degree: 0.3}", "[one-choice, edge]", ["policy edge", "the graph has 0"]),
    ("edge of one", "erdos-renyi: {n: 10, mean_degree: 0.3, connect: largest}", "edge", ["policy edge"]),
    ("distinct", "erdos-renyi: {n: 20, mean_degree: 0.3, connect: largest}", "{choices: {d: 9, distinct: true}}",
     ["9 distinct choices among"]),
    ("left", "erdos-renyi: {n: 20, mean_degree: 0.3, connect: largest}", "{left: {d: 9}}", ["9 groups need"]),
]
LARGE = "{erdos-renyi: {n: 1e6, mean_degree: 8}}"


def text(topology, policy, replications=400):
    return f"seed: 3\nreplications: {replications}\ntopology: {topology}\npolicy: {policy}\n"


def sentence(err):
    """What potluck itself said; mpirun adds a box and lines of its own."""
    return [line for line in err.splitlines() if line.startswith("potluck: ")]


def contents(folder):
    return {path.name: digest(path) for path in sorted(folder.iterdir()) if path.is_file()}


def refused(checks, lab, result, words, code, before, what):
    got, out, err = result
    said = sentence(err)
    checks.same(got, code, f"{what}: exit code ({err.strip()})")
    checks.check(len(said) == 1 and not out, f"{what}: not one sentence: {said}")
    checks.check("Signal" not in err, f"{what}: a rank crashed: {err}")
    for word in words:
        checks.check(said and word in said[0], f"{what}: nothing about {word!r} in {said}")
    checks.same(contents(lab.folder), before, f"{what}: files")


def impossible(checks, lab):
    for name, topology, policy, words in IMPOSSIBLE:
        job = lab.job(text("{" + topology + "}", policy))
        for layout in LAYOUTS:
            before = contents(lab.folder)
            result = lab.run(job, lab.fresh(), layout=layout)
            refused(checks, lab, result, ["point "] + words, 2, before, f"{name}, {layout}")


def earlier_results(checks, lab):
    """They stay as they are, and their log says what happened."""
    out = lab.fresh()
    code, _, err = lab.run(lab.job(text("{ring: {n: 20}}", "pot")), out)
    checks.same(code, 0, f"a good run: {err}")
    job = lab.job(text("{erdos-renyi: {n: 10, mean_degree: 0.3}}", "edge"))
    kept = digest(out)
    code, _, err = lab.run(job, out, "--force")
    checks.same((code, digest(out)), (2, kept), f"a refused run with --force: {err}")
    log = out.with_name(out.name + ".log").read_text()
    checks.check("refused: point 0" in log, f"the log does not say why: {log}")
    checks.check(not out.with_name(out.name + ".lock").exists(), "a refused run leaves its lock behind")


def small_world(checks, lab):
    """Too little memory while a graph is made is no mistake of the user: exit 1."""
    out = lab.fresh()
    code, _, err = lab.run(lab.job(text("{ring: {n: 20}}", "pot")), out)
    checks.same(code, 0, f"a good run: {err}")
    kept, job = digest(out), lab.job(text(LARGE, "one-choice"))
    for megabytes in (250, 350):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        code, _, err = lab.run(job, out, "--force", "--threads", 2, "--memory", "8G", preexec_fn=limit)
        checks.same((code, digest(out)), (1, kept), f"{megabytes} MB: {err}")
        said = sentence(err)
        checks.check(len(said) == 1 and "out of memory" in said[0], f"{megabytes} MB: {said}")


def stopped_while_building(checks, lab):
    """Nobody waits for a large graph to be finished, nor for the ninety-nine that might follow it."""
    topology = "{regular: {n: 1e6, degree: 1, connect: redraw}}"
    job, out = lab.job(text(topology, "one-choice")), lab.fresh()
    process = lab.start(lab.command(job, out, "--threads", 2), preexec_fn=os.setpgrp)
    time.sleep(1)
    process.send_signal(signal.SIGUSR1)
    start = time.monotonic()
    code, _, err = wait(process)
    checks.same(code, 75, f"stopped while a graph is made: {err}")
    checks.check(time.monotonic() - start < 10, f"it took {time.monotonic() - start} s to stop")
    with h5py.File(out) as f:
        checks.same(int(f["replications"][0]), 0, "replications played")


def main():
    checks = Checks()
    with Lab(sys.argv[1]) as lab:
        for test in (impossible, earlier_results, small_world, stopped_while_building):
            test(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
