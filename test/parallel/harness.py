#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runner costs: replications of one millisecond that do nothing.

usage: harness.py PROGRAM [--tier ci|verify]

Prints the share of their time that players idle and the speed of two threads and two ranks over
one. Times are asserted with --tier verify alone, which wants a machine with nothing else to do:
players idle under 2 %, two threads and two ranks are at least 1.9 times as fast as one. Otherwise
only results are checked.
"""
import argparse
import os
import pathlib
import re
import sys

import h5py
import numpy as np

from _common import Checks, Lab

JOB = "seed: 1\nmodel: harness\nreplications: {n}\nmilliseconds: 1\nhow: {how}\n"
END = re.compile(r"end: (\d+) replications, ([0-9.]+) s, (\d+) players, ([0-9.]+) % of their time in kernels")


def play(checks, lab, how, n, layout, options=()):
    """(seconds, share of time in kernels) of a run, as its log says."""
    job, out = lab.job(JOB.format(n=n, how=how), how), lab.fresh()
    code, _, err = lab.run(job, out, *options, layout=layout)
    what = f"{how}, {n} replications, layout {layout or options}"
    if not checks.same(code, 0, f"{what}: exit code ({err.strip()})"):
        return None
    with h5py.File(out) as f:
        checks.check(np.array_equal(f["replication_index"][0], np.arange(n)), f"{what}: wrong rows")
    log = pathlib.Path(f"{out}.log").read_text()
    end = END.search(log)
    if not checks.check(end, f"{what}: the log does not say how it went: {log!r}"):
        return None
    checks.same(int(end[1]), n, f"{what}: replications in the log")
    players = layout[0] * layout[1] if layout else int(options[1])
    checks.same(int(end[3]), players, f"{what}: players in the log")
    return float(end[2]), float(end[4]) / 100


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=["ci", "verify"], default="ci")
    arguments = parser.parse_args()
    timed = arguments.tier == "verify"
    n = 4000 if timed else 1000
    cores = len(os.sched_getaffinity(0))
    checks = Checks()
    with Lab(arguments.program) as lab:
        for ranks in (1, 2, 4):
            how = "spin" if ranks <= cores and timed else "sleep"
            result = play(checks, lab, how, n * ranks, (ranks, 1))
            if result:
                idle = 100 * (1 - result[1])
                print(f"{ranks} ranks x 1 thread, {how}: players idle {idle:.2f} % of {result[0]:.2f} s")
                checks.check(not timed or idle < 2, f"{ranks} ranks idle {idle:.2f} % of the time")
        seconds = {
            "one": play(checks, lab, "spin", n, None, ("--threads", "1")),
            "two threads": play(checks, lab, "spin", n, None, ("--threads", "2")),
            "one rank": play(checks, lab, "spin", n, (1, 1)),
            "two ranks": play(checks, lab, "spin", n, (2, 1)),
        }
        for many, one in (("two threads", "one"), ("two ranks", "one rank")):
            if seconds[many] and seconds[one]:
                gain = seconds[one][0] / seconds[many][0]
                print(f"{many} are {gain:.2f} times as fast as one ({cores} cores)")
                checks.check(not timed or cores < 2 or gain >= 1.9, f"{many} are {gain:.2f} times as fast as one")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
