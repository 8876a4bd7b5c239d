#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batch scripts of jobs/slurm under a real Slurm of four nodes: whatever happens, the bytes of a plain run.

usage: batch.py PROGRAM [--tier ci|verify]

With --tier verify two jobs run into a limit of one minute; otherwise a signal takes its place.
"""
import argparse
import os
import pathlib
import re
import sys

import h5py

from _slurm import ROOT, Slurm, documented
from _common import Checks, Lab, digest, until

SCRIPTS = ROOT / "jobs" / "slurm"
CORES = min(2, len(os.sched_getaffinity(0)))  # mpirun does not bind a rank to more than there are

# Seconds of one core in many ranges, a small file: the first snapshot of a start comes soon. What is to be interrupted
# plays larger systems, so that there is time.
JOB = """
title: on a cluster
seed: 20261129
replications: {replications}
topology: {{ring: {{n: {n}}}}}
policy: [pot, {{unif-pot: {{k: [1, 2, 3, 4]}}}}, {{choices: {{d: 2}}}}]
"""
POINTS, REPLICATIONS = 6, 501
SIZES = {"short": 100003, "long": 200003}
SLOW = "title: slow\nseed: 1\nmodel: harness\nreplications: 100000\nmilliseconds: 20\nhow: sleep\n"

# Snapshots as often as may be; the scripts know nothing of it.
WRAPPER = """#!/bin/sh
[ "$1" != run ] || exec {program} "$@" --checkpoint 0.3
exec {program} "$@"
"""


class Site:
    """A Slurm, the program on it, jobs and what a plain run makes of them."""

    def __init__(self, checks, lab, slurm):
        self.checks, self.lab, self.slurm = checks, lab, slurm
        self.jobs, self.expected = {}, {}
        for name, n in SIZES.items():
            self.jobs[name], plain = lab.job(JOB.format(n=n, replications=REPLICATIONS), name), lab.fresh()
            checks.same(lab.run(self.jobs[name], plain)[0], 0, f"a plain run, {name}: exit code")
            self.expected[name] = digest(plain)
        wrapper = lab.folder / "potluck"
        wrapper.write_text(WRAPPER.format(program=lab.program))
        wrapper.chmod(0o755)
        slurm.environment["POTLUCK"] = str(wrapper)

    def submit(self, script, job, out, *options, **variables):
        return self.slurm.submit(*options, SCRIPTS / script, self.jobs[job], out, **variables)

    def said(self, job):
        """What the tasks of a job printed."""
        paths = sorted(self.slurm.folder.glob(f"potluck*-{job}[._]*"))
        return "\n".join(path.read_text().strip() for path in paths)

    def ends(self, job, how, what):
        return self.checks.same(self.slurm.outcome(job), how, f"{what}: how it ended ({self.said(job)})")

    def plain(self, out, what, name="short"):
        self.checks.check(digest(out) == self.expected[name], f"{what}: other bytes than a plain run")

    def completes(self, job, out, what, name="short"):
        """The job ends well, with the bytes of a plain run."""
        if self.ends(job, "COMPLETED 0:0", what):
            self.plain(out, what, name)

    def tell(self, *words):
        code, _, err = self.slurm.run(*words)
        self.checks.same(code, 0, f"{' '.join(words)}: exit code ({err.strip()})")


def log_of(out):
    path = pathlib.Path(f"{out}.log")
    return path.read_text() if path.exists() else ""


def played(out):
    """Replications of each start that came to an orderly end, from the log."""
    return [int(n) for n in re.findall(r" (?:end|stopped early): (\d+) replications", log_of(out))]


def one_node(site):
    out = site.lab.fresh()
    site.completes(site.submit("one-node.sh", "short", out, "--time=1"), out, "one-node.sh")
    told = re.search(r"time limit: the batch system leaves (\S+) s, the run stops after (\S+) s", log_of(out))
    if site.checks.check(told, f"a limit of one minute: the log does not state it: {log_of(out)}"):
        left, usable = float(told[1]), float(told[2])
        site.checks.check(30 < usable < left <= 60, f"a limit of one minute: {left} s left, {usable} s for the run")
    out = site.lab.fresh()
    words = [site.lab.program, "run", site.jobs["short"], "-o", out, "--progress", "none"]
    code, _, err = site.slurm.run("srun", "--mpi=pmix", "-n", "2", *words)
    site.checks.same(code, 0, f"srun --mpi=pmix: exit code ({err.strip()})")
    site.plain(out, "srun --mpi=pmix")
    out = site.lab.fresh()
    words[words.index("-o") + 1] = out
    code, _, err = site.slurm.run("srun", "-n", "2", *words)
    sentence = "potluck: srun started 2 processes that do not know of each other; use srun --mpi=pmix, or mpirun"
    own = {line for line in err.splitlines() if line.startswith("potluck:")}
    site.checks.same((code, own), (2, {sentence}), "srun without pmix: exit code and sentence")
    site.checks.check(not out.exists(), "srun without pmix: a result was written")


def many_nodes(site):
    for launch in ("srun", "mpirun"):
        out, what = site.lab.fresh(), f"many-nodes.sh, {launch}"
        layout = ("--nodes=4", "--ntasks-per-node=1", f"--cpus-per-task={CORES}")
        job = site.submit("many-nodes.sh", "short", out, *layout, LAUNCH=launch)
        site.completes(job, out, what)
        ranks = re.findall(r" rank (\d+): host \S+ .*\b(\d+) threads?$", log_of(out), re.M)
        expected = [(str(r), str(CORES)) for r in range(4)]
        site.checks.same(ranks, expected, f"{what}: ranks and their threads in the log")


def array(site):
    out = site.lab.fresh()
    parts = site.submit("array.sh", "short", out, "--cpus-per-task=1")
    merge = site.submit("merge.sh", "short", out, f"--dependency=afterok:{parts}")
    site.ends(parts, "COMPLETED 0:0", "array.sh")
    site.completes(merge, out, "array.sh and merge.sh")
    files = sorted(out.parent.glob(f"{out.stem}.part-*.h5"))
    site.checks.same(len(files), 4, "array.sh: files of parts")
    site.checks.same(sum(played(f)[0] for f in files), POINTS * REPLICATIONS, "array.sh: replications of all parts")
    again = site.submit("array.sh", "short", out, "--cpus-per-task=1", "--array=2")
    site.ends(again, "COMPLETED 0:0", "part 2 alone, once more")
    site.checks.same(played(files[2])[1:], [0], "part 2 alone, once more: replications")
    beyond = site.submit("array.sh", "short", out, "--cpus-per-task=1", "--array=4")
    site.ends(beyond, "FAILED 2:0", "a part that there is not")


def requeued(site):
    """USR1 again and again, until the bound on restarts; then once more by hand."""
    out = site.lab.fresh()
    layout = ("--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1")
    job = site.submit("requeue.sh", "long", out, *layout, RESTARTS="2")
    for start in range(3):
        until(lambda: log_of(out).count(" rank 1: host ") > start, 60)
        site.tell("scancel", "-b", "-s", "USR1", job)
        until(lambda: len(played(out)) > start)
    site.ends(job, "FAILED 75:0", "requeue.sh at its bound")
    site.checks.same(site.slurm.jobs(job)[0]["Restarts"], "2", "requeue.sh: restarts that Slurm counts")
    site.checks.same(site.said(job).count("stopped early"), 3, "requeue.sh: starts in its output")
    site.completes(site.submit("requeue.sh", "long", out, *layout), out, "requeue.sh", "long")
    site.checks.same(sum(played(out)), POINTS * REPLICATIONS, f"requeue.sh: replications of {len(played(out))} starts")
    print(f"note: replications of each start: {played(out)}")


def cancelled(site):
    out = site.lab.fresh()
    layout = ("--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=1")
    job = site.submit("many-nodes.sh", "long", out, *layout)
    until(out.exists, 60)
    site.tell("scancel", job)
    site.checks.check(site.slurm.outcome(job).startswith("CANCELLED"), f"scancel: {site.slurm.outcome(job)}")
    with h5py.File(out) as f:
        site.checks.same(int(f.attrs["complete"]), 0, "scancel: `complete`")
        site.checks.check(f["replications"][:].sum() > 0, "scancel: nothing was saved")
    site.completes(site.submit("many-nodes.sh", "long", out, *layout), out, "scancel, then once more", "long")
    site.checks.check(played(out)[-1] < POINTS * REPLICATIONS, "scancel, then once more: it began anew")


def node_lost(site):
    out = site.lab.fresh()
    layout = ("--nodes=3", "--nodelist=n1,n2,n3", "--ntasks-per-node=1", "--cpus-per-task=1")
    job = site.submit("many-nodes.sh", "long", out, *layout)
    until(out.exists, 60)
    site.tell("scontrol", "update", "nodename=n3", "state=down", "reason=test")
    site.completes(job, out, "a node goes down", "long")
    site.checks.same(site.slurm.jobs(job)[0]["Restarts"], "1", "a node goes down: restarts")
    site.checks.check(played(out)[-1] < POINTS * REPLICATIONS, "a node goes down: it began anew")


def as_documented(site):
    """The commands of jobs/README.md, word by word."""
    folder, slurm = site.lab.folder / "documented", site.slurm
    folder.mkdir()
    (folder / "jobs").symlink_to(ROOT / "jobs")
    (folder / "job.yaml").write_text(JOB.format(n=1009, replications=101))
    plain = folder / "plain.h5"
    site.checks.same(site.lab.run(folder / "job.yaml", plain)[0], 0, "a plain run, documented: exit code")
    bin_ = folder / "bin"
    bin_.mkdir()
    (bin_ / "potluck").symlink_to(site.lab.program)
    commands = "set -e\ncd {}\nPATH={}:$PATH\nunset POTLUCK\n".format(folder, bin_)
    commands += documented("one-node.sh") + documented("mpirun -n")
    code, said, err = slurm.run("bash", "-c", commands)
    site.checks.same(code, 0, f"commands of jobs/README.md: exit code ({err.strip()})")
    jobs = re.findall(r"Submitted batch job (\d+)", said)
    for job in jobs:
        site.checks.same(slurm.outcome(job), "COMPLETED 0:0", f"commands of jobs/README.md, job {job}")
    for name in ("one", "many", "mpirun", "parts", "long", "numa"):
        out = folder / f"{name}.h5"
        good = out.exists() and digest(out) == digest(plain)
        site.checks.check(good, f"commands of jobs/README.md, {name}.h5: not the bytes of a plain run")


def limits_run_out(site):
    """Nobody but Slurm's clock stops these: --max-time auto alone, and USR1 long before."""
    site.jobs["slow"] = site.lab.job(SLOW, "slow")
    cases = []
    for script, signal, variables in (
        ("one-node.sh", "B:USR1@0", {}),
        ("many-nodes.sh", "B:USR1@50", {"LAUNCH": "mpirun"}),
        ("many-nodes.sh", "B:USR1@50", {"LAUNCH": "srun"}),
    ):
        layout = ("--time=1", f"--signal={signal}", "--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=1")
        out = site.lab.fresh()
        cases.append((site.submit(script, "slow", out, *layout, **variables), out, f"{script}, {signal}, {variables}"))
    for number, out, what in cases:
        site.ends(number, "FAILED 75:0", what)
        with h5py.File(out) as f:
            site.checks.check(f["replications"][:].sum() > 0, f"{what}: nothing was saved")
        seconds = float(re.search(r"stopped early: \d+ replications, ([0-9.]+) s", log_of(out))[1])
        print(f"note: {what}: stopped after {seconds} s of a minute")


def processes_of(folder):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [words] if str(folder) in words else []
        except OSError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=["ci", "verify"], default="ci")
    arguments = parser.parse_args()
    checks = Checks()
    tests = [one_node, many_nodes, array, requeued, cancelled, node_lost, as_documented]
    if arguments.tier == "verify":
        tests += [limits_run_out]
    with Lab(arguments.program) as lab:
        with Slurm(lab.folder / "slurm", 4) as slurm:
            site = Site(checks, lab, slurm)
            for test in tests:
                test(site)
        checks.check(until(lambda: not processes_of(lab.folder), 10), f"still running: {processes_of(lab.folder)}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
