#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer for a result: OUT.h5.lock, and when it is stale.

usage: locks.py PROGRAM [--tier ci|verify]
"""
import argparse
import os
import pathlib
import signal
import socket
import sys
import threading
import time

from _common import Checks, Lab, digest, until, wait

SLOW = "title: quick\nseed: 1\nmodel: harness\nreplications: 100000\nmilliseconds: 20\nhow: sleep\n"
BRIEF = SLOW.replace("100000", "20")
HERE = socket.gethostname()


def refused(checks, result, words, what):
    code, _, err = result
    checks.same(code, 2, f"{what}: exit code ({err.strip()})")
    checks.check(all(w in err for w in words), f"{what}: {words} not in {err.strip()!r}")


def running(checks, lab):
    """While a run goes on nobody else writes, by any name of the file."""
    job, out = lab.job(SLOW, "slow"), lab.fresh()
    first = lab.start(lab.command(job, out, "--checkpoint", "0.2"))
    until(out.exists)
    link = lab.folder / "link.h5"
    link.symlink_to(out)
    for options in (["--resume"], ["--force"], ["--resume", "--replications", "5:9"]):
        for layout in (None, (2, 1)):
            for name in (out, link):
                result = lab.run(job, name, *options, layout=layout)
                refused(checks, result, ["another run", str(first.pid)], f"a second run, {options}, layout {layout}, {name.name}")
    shown = lab.start([lab.program, "show", str(out)])
    code, _, err = wait(shown)
    checks.check(code == 0 and "a run goes on" in err and str(first.pid) in err, f"show meanwhile: {code}, {err.strip()}")
    other = lab.fresh()
    lab.run(lab.job(BRIEF, "brief"), other, "--replications", "0:5")
    merge = lab.start([lab.program, "merge", str(out), str(other), "--force"])
    refused(checks, wait(merge), ["another run", str(first.pid)], "merge over a running job's file")
    first.send_signal(signal.SIGUSR1)
    checks.same(wait(first, 30)[0], 75, "exit code of the first of two runs")
    checks.check(not pathlib.Path(f"{out}.lock").exists(), "the lock stays behind")


def taken_over(checks, lab, text, old, env, what):
    """A lock that nobody holds is taken at once, and the log tells of the run that died."""
    job, out = lab.job(BRIEF, "brief"), lab.fresh()
    lock, half = pathlib.Path(f"{out}.lock"), pathlib.Path(f"{out}.tmp")
    lock.write_text(text)
    half.write_bytes(b"half a file")
    if old:
        os.utime(lock, (time.time() - 700,) * 2)
    begin = time.monotonic()
    code, _, err = lab.run(job, out, env=env)
    checks.same(code, 0, f"{what}: exit code ({err.strip()})")
    checks.check(time.monotonic() - begin < 20, f"{what}: it was watched")
    checks.check(not lock.exists() and not half.exists(), f"{what}: leftovers stay")
    log = pathlib.Path(f"{out}.log").read_text()
    checks.check("a run died here" in log and text in log and "half a file" in log, f"{what}: the log does not tell")


def alive_elsewhere(checks, lab):
    """The lock of another node that somebody touches: its holder lives, whatever flock says."""
    job, out = lab.job(BRIEF, "brief"), lab.fresh()
    lock = pathlib.Path(f"{out}.lock")
    lock.write_text("process 7 on elsewhere")
    over = threading.Event()

    def touch():
        while not over.wait(0.3):
            os.utime(lock)

    toucher = threading.Thread(target=touch)
    toucher.start()
    result = lab.run(job, out)
    over.set()
    toucher.join()
    refused(checks, result, ["watching", "another run (process 7 on elsewhere)"], "a touched lock of another node")
    checks.check(not out.exists() and lock.read_text() == "process 7 on elsewhere", "a touched lock: something was written")


def not_ours(checks, lab):
    """What is in the way of a lock, or of half a file, is left alone."""
    job = lab.job(BRIEF, "brief")
    for what, make in (
        ("somebody's file", lambda p: p.write_text("precious data")),
        ("a result", lambda p: lab.run(job, p)),
        ("a link", lambda p: p.symlink_to(lab.job("precious data", "linked"))),
        ("a folder", lambda p: p.mkdir()),
        ("a pipe", os.mkfifo),
    ):
        out = lab.fresh()
        lock = pathlib.Path(f"{out}.lock")
        make(lock)
        before = lock.read_bytes() if lock.is_file() else b""
        code, _, err = lab.run(job, out)
        checks.check(code == 2 and ".lock" in err, f"{what} in the place of a lock: {code}, {err.strip()}")
        checks.check(not out.exists() and not pathlib.Path(f"{out}.lock.lock").exists(), f"{what}: something was written")
        checks.check(not lock.is_file() or lock.read_bytes() == before, f"{what} in the place of a lock was changed")
    out = lab.fresh()
    pathlib.Path(f"{out}.tmp").mkdir()
    code, _, err = lab.run(job, out)
    checks.check(code == 2 and ".tmp is in the way" in err, f"a folder in the place of half a file: {code}, {err.strip()}")


def told_to_stop(checks, lab):
    """A signal ends the watch of a lock."""
    job, out = lab.job(BRIEF, "brief"), lab.fresh()
    pathlib.Path(f"{out}.lock").write_text("process 7 on elsewhere")
    for layout in (None, (2, 1)):
        run = lab.start(lab.command(job, out, layout=layout))
        time.sleep(2.5)
        begin = time.monotonic()
        run.send_signal(signal.SIGUSR1)
        code, _, err = wait(run, 70)
        checks.check(code == 75 and "told to stop" in err, f"a signal while a lock is watched, {layout}: {code}, {err.strip()}")
        checks.check(time.monotonic() - begin < 20, f"a signal while a lock is watched, {layout}: it was watched on")


def touched(checks, lab):
    """A run touches its lock."""
    job, out = lab.job(SLOW, "slow"), lab.fresh()
    lock = pathlib.Path(f"{out}.lock")
    run = lab.start(lab.command(job, out))
    until(lambda: lock.exists() and lock.read_text())
    first = lock.stat().st_mtime_ns
    checks.check(until(lambda: lock.stat().st_mtime_ns > first, 10), "a run does not touch its lock")
    run.send_signal(signal.SIGUSR1)
    wait(run)


def dead_elsewhere(checks, lab):
    """The lock of another node that nobody touches for a minute."""
    job, out = lab.job(BRIEF, "brief"), lab.fresh()
    pathlib.Path(f"{out}.lock").write_text("process 7 on elsewhere")
    begin = time.monotonic()
    code, _, err = lab.run(job, out)
    checks.check(code == 0 and "watching" in err, f"an untouched lock of another node: {code}, {err.strip()}")
    checks.check(time.monotonic() - begin > 50, "an untouched lock of another node was not watched")


def dead_rank(checks, lab):
    """A launcher that leaves the others alone when a rank dies: they do not wait for ever, and save."""
    job, out = lab.job(SLOW, "long"), lab.fresh()
    words = lab.command(job, out, "--checkpoint", "1", layout=(3, 1))
    words[1:1] = ["--mca", "orte_enable_recovery", "1", "--mca", "orte_abort_on_non_zero_status", "0"]
    run = lab.start(words)
    log = pathlib.Path(f"{out}.log")
    until(lambda: log.exists() and "rank 2: host" in log.read_text())
    os.kill(int(log.read_text().split("rank 2: host")[1].split("process ")[1].split(",")[0]), signal.SIGKILL)
    begin = time.monotonic()
    _, _, err = wait(run, 240)
    checks.check("nothing has been heard of rank 2" in err and "has been saved" in err, f"a dead rank: {err.strip()}")
    checks.check(80 < time.monotonic() - begin < 150, "a dead rank was waited for too long, or not at all")
    before = digest(out)
    code, _, err = lab.run(job, out, "--resume", "--max-time", "1")
    checks.check(code == 75 and digest(out) != before, f"after a dead rank: {code}, {err.strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=("ci", "verify"), default="ci")
    arguments = parser.parse_args()
    checks = Checks()
    slurm = {"SLURM_JOB_ID": "12", "SLURM_RESTART_COUNT": "2"}
    with Lab(arguments.program) as lab:
        running(checks, lab)
        taken_over(checks, lab, f"process 999999 on {HERE}", False, {}, "a dead run of this node")
        taken_over(checks, lab, "process 7 on elsewhere", True, {}, "an old lock of another node")
        before = "process 7 on elsewhere, Slurm job 12, restart 1"
        taken_over(checks, lab, before, False, slurm, "the same Slurm job before it was requeued")
        alive_elsewhere(checks, lab)
        touched(checks, lab)
        not_ours(checks, lab)
        told_to_stop(checks, lab)
        if arguments.tier == "verify":
            dead_elsewhere(checks, lab)
            dead_rank(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
