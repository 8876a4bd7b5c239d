#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills at random instants.

usage: kills.py PROGRAM [--tier ci|verify]

Each trial starts a run of one to five ranks, lets it save something, and sends one of three signals to a rank, to
mpirun or to the whole tree. What is on disk then is whole, is what the log says and no older than the log promises;
carrying on with other ranks and threads gives the bytes of a run that nothing happened to.
"""
import argparse
import pathlib
import random
import signal
import sys
import time
from collections import namedtuple

from _common import Checks, digest, until, wait
from _runs import MemoryLab, faults, kill, played, players, references, sealed, snapshots, whole

TRIALS = {"ci": 10, "verify": 100}
LEAST_PARTLY = {"ci": 8, "verify": 80}  # trials with something but not everything saved
LEAST_BETWEEN = {"ci": 2, "verify": 10}  # trials between write and rename

VICTIMS = ("rank", "mpirun", "tree")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGUSR1)
CHECKPOINT = 0.1
SLACK = 3  # seconds that a conductor among ten players may take longer for a snapshot on two busy cores
PAUSE = 1.5  # seconds between write and rename where a trial asks for it: at the second snapshot
LAYOUTS = [(ranks, threads) for ranks in range(1, 6) for threads in (1, 2)] + [None]

Trial = namedtuple("Trial", "name victim signal layout then share more between")


def trials(n):
    """The first n of one fixed sequence: ten contain every victim with every signal, one to five ranks and two that
    are to fall between write and rename. The others strike `more` seconds after a share of the replications is
    saved."""
    chance = random.Random(20261130)
    for i in range(n):
        layout = (1 + (i + i // 5) % 5, chance.choice((1, 2)))
        others = [other for other in LAYOUTS if other is None or (other[0] != layout[0] and other[1] != layout[1])]
        yield Trial(
            name=chance.choice(("fixed", "precise")),
            victim=VICTIMS[i % 3],
            signal=SIGNALS[i // 3 % 3],
            layout=layout,
            then=chance.choice(others),
            share=chance.uniform(0, 0.6),
            more=chance.uniform(0, 0.2),
            between=i % 5 == 3,
        )


def strike(lab, trial, process, out):
    """Sends the signal; false when the run is over."""
    ranks = players(lab.program, out)
    pids = {"rank": ranks[:], "mpirun": [process.pid], "tree": [process.pid] + ranks}[trial.victim]
    if trial.victim == "rank" and ranks:
        pids = [ranks[int(trial.share * 1000) % len(ranks)]]
    if process.poll() is not None or not ranks:
        return False
    for pid in pids:
        kill(pid, trial.signal)
    return True


def wait_for_instant(trial, process, out, mark, total):
    """Until it is time to strike, or the run is over."""
    if trial.between:
        until(lambda: mark.exists() or process.poll() is not None, 60)
        time.sleep(trial.more / 2)
        return
    saved = lambda: max((n for n, *_ in snapshots(out)), default=0)
    until(lambda: saved() > trial.share * total or process.poll() is not None, 60)
    time.sleep(trial.more)


def check_age(checks, trial, out, now, modified, what):
    """What is on disk when the signal comes is no older than the log promises; returns how much later than that a
    snapshot came, at most SLACK."""
    logged = snapshots(out)
    if not logged:
        return 0
    _, _, spent, pause = logged[-1]
    late = now - modified - max(pause, CHECKPOINT) - spent - (trial.more if trial.between else 0)
    checks.check(late < SLACK, f"{what}: the file is {late:.2f} s older than the log promises")
    return late


def check_log(checks, out, what):
    """The file is what its last logged snapshot says. A kill may fall between rename and log."""
    data, logged = out.read_bytes(), snapshots(out)
    if not checks.check(logged, f"{what}: a file, but no snapshot in the log"):
        return
    n, size, *_ = logged[-1]
    there = played(data)
    noted = pathlib.Path(f"{out}.log").stat().st_mtime
    ahead = there > n and out.stat().st_mtime > noted
    good = (there, len(data)) == (n, size)
    checks.check(good or ahead, f"{what}: {there} replications in {len(data)} bytes, the log says {n} in {size}")


def expected_codes(trial, share):
    """Exit codes of mpirun when a share of the replications was saved: with half of them left no signal may go
    unheard, whichever rank got it."""
    if trial.signal == signal.SIGKILL:
        return (137,) if trial.victim == "rank" else (-9,)
    heard = (75,) if share < 0.5 else (75, 0)
    if trial.signal == signal.SIGTERM and trial.victim != "rank":
        return (1,) if trial.victim == "mpirun" else (1, *heard)
    return heard


def play(checks, lab, trial, job, total, broken, what):
    """A run and its kill. Returns (out, something but not everything was saved, it fell between write and rename, how
    late the last snapshot was)."""
    out = lab.fresh()
    mark, temporary = pathlib.Path(f"{out}.mark"), pathlib.Path(f"{out}.tmp")
    fault = f"rename:2:pause:{PAUSE * 1000:.0f}" if trial.between else "none"
    words = lab.command(job, out, "--checkpoint", CHECKPOINT, layout=trial.layout)
    process = lab.start(words, env=broken(fault, out, mark))
    wait_for_instant(trial, process, out, mark, total)
    if trial.between and mark.exists() and temporary.exists():
        whole(checks, temporary, f"{what}: complete, but not renamed")
    modified, saved = (out.stat().st_mtime, out.read_bytes()) if out.exists() else (0, None)
    now = time.time()
    struck = strike(lab, trial, process, out)
    between = struck and mark.exists() and not pathlib.Path(f"{mark}.over").exists()
    late = check_age(checks, trial, out, now, modified, what) if saved else 0
    code, _, err = wait(process, 60)
    codes = expected_codes(trial, played(saved) / total if saved else 0) if struck else (0,)
    checks.check(code in codes, f"{what}: exit code {code} ({err.strip()})")
    checks.check(until(lambda: not players(lab.program, out), 20), f"{what}: ranks live on")
    return out, struck and saved is not None and 0 < played(saved) < total, between, late


def check_end(checks, lab, trial, job, expected, out, what):
    """Of what a kill left behind, and of carrying on from it."""
    temporary, lock = pathlib.Path(f"{out}.tmp"), pathlib.Path(f"{out}.lock")
    if checks.check(out.exists(), f"{what}: nothing is saved"):
        whole(checks, out, what)
        sealed(checks, lab, out, what)
        check_log(checks, out, what)
    half, died = temporary.exists(), lock.exists() or temporary.exists()
    before = pathlib.Path(f"{out}.log").stat().st_size
    code, _, err = lab.run(job, out, "--resume", "--checkpoint", CHECKPOINT, layout=trial.then)
    if checks.same(code, 0, f"{what}: exit code of --resume with {trial.then} ({err.strip()})"):
        checks.check(digest(out) == expected, f"{what}: resumed with {trial.then} to other bytes")
    told = pathlib.Path(f"{out}.log").read_text()[before:]
    checks.same("half a file" in told, half, f"{what}: the log of the resume speaks of half a file")
    checks.same("a run died here" in told, died, f"{what}: the log of the resume speaks of a dead run")
    checks.same([path.name for path in (temporary, lock) if path.exists()], [], f"{what}: left behind after the resume")
    sealed(checks, lab, out, f"{what}, resumed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=list(TRIALS), default="ci")
    arguments = parser.parse_args()
    tier, checks = arguments.tier, Checks()
    partly = between = latest = 0
    with MemoryLab(arguments.program) as lab:
        jobs, broken = references(checks, lab), faults(lab)
        for i, trial in enumerate(trials(TRIALS[tier])):
            job, expected, total = jobs[trial.name]
            what = f"trial {i} ({trial.name}, {trial.layout}, {trial.signal.name} to {trial.victim})"
            out, some, amid, late = play(checks, lab, trial, job, total, broken, what)
            partly, between, latest = partly + some, between + amid, max(latest, late)
            check_end(checks, lab, trial, job, expected, out, what)
    print(f"note: of {TRIALS[tier]} kills {partly} came with something but not everything saved, {between} between "
          f"write and rename; no snapshot was more than {latest:.2f} s later than the log promises")
    checks.check(partly >= LEAST_PARTLY[tier], f"only {partly} kills came with something but not everything saved")
    checks.check(between >= LEAST_BETWEEN[tier], f"only {between} kills came between write and rename")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
