#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping, resuming, and what may not be resumed. Kills are in kills.py, a world out of room in limits.py.

usage: interrupt.py PROGRAM

Whatever happens to a run, its file is absent or whole, and carrying on gives the bytes of a run
that nothing happened to.
"""
import pathlib
import re
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

import _queue_jobs
from _common import Checks, Lab, digest, until, wait
from _runs import PRECISE, SLOW, marks, players, playing, quick, references, refused, resumes, whole


def on_request(checks, lab, jobs):
    """signals and --max-time."""
    cases = [
        ("USR1 alone", signal.SIGUSR1, None, 75, (2, 1)),
        ("USR1 to mpirun", signal.SIGUSR1, (2, 1), 75, None),
        ("TERM alone", signal.SIGTERM, None, 75, None),
        ("INT alone", signal.SIGINT, None, 75, (2, 1)),
        ("INT to mpirun", signal.SIGINT, (2, 1), 1, None),
    ]
    for name, (job, expected, _) in jobs.items():
        for what, number, layout, code, then in cases if name == "fixed" else cases[:1]:
            what = f"{name}, {what}"
            out = lab.fresh()
            process = lab.start(lab.command(job, out, *([] if layout else ["--threads", "2"]), layout=layout))
            playing(process, out)
            process.send_signal(number)
            begin = time.monotonic()
            got, _, err = wait(process, 60)
            took = time.monotonic() - begin
            checks.check(took < 10, f"{what}: took {took:.1f} s to end")
            if layout and number != signal.SIGUSR1:
                checks.check(got != 0, f"{what}: exit code 0")
            else:
                checks.same(got, code, f"{what}: exit code ({err.strip()})")
            if checks.check(out.exists(), f"{what}: nothing saved ({err.strip()})"):
                complete = whole(checks, out, what)
                late = layout and number != signal.SIGUSR1  # mpirun passes these on a second later
                checks.check(complete == 0 or late, f"{what}: `complete` is {complete}")
                with h5py.File(out) as f:
                    checks.check(f["replications"][:].sum() > 0, f"{what}: nothing played was saved")
            resumes(checks, lab, job, out, then, expected, what)
        for layout in (None, (2, 1)) if name == "fixed" else (None,):
            what = f"{name}, --max-time 0.3, layout {layout}"
            out = lab.fresh()
            options = ["--max-time", "0.3"] + ([] if layout else ["--threads", "1"])
            code, _, err = lab.run(job, out, *options, layout=layout)
            complete = whole(checks, out, what)
            checks.same((code, complete), (75, 0), f"{what}: exit code and `complete` ({err.strip()})")
            resumes(checks, lab, job, out, (3, 1), expected, what)


def topping_up(checks, lab):
    job = lab.job(quick(replications=300))
    once, out = lab.fresh(), lab.fresh()
    lab.run(job, once)
    expected = digest(once)
    for first, layout in ((100, None), (299, (2, 1)), (300, None)):
        out = lab.fresh()
        lab.run(job, out, "-r", first)
        before = digest(out)
        resumes(checks, lab, job, out, layout, expected, f"-r {first}, then 300")
        if first == 300:
            checks.same(before, expected, "-r 300 is the same job as replications: 300")
    for first in (301, 1000):
        out = lab.fresh()
        lab.run(job, out, "-r", first)
        before = digest(out)
        code, _, err = lab.run(job, out, "--resume")
        checks.same(code, 2, f"-r {first}, then 300: exit code")
        checks.check(f"has {first} replications already" in err, f"-r {first}, then 300: {err.strip()}")
        checks.same(digest(out), before, f"-r {first}, then 300: the file")
    strict = PRECISE
    loose = PRECISE.replace("0.00015", "0.001").replace("0.05%", "1%")
    other = PRECISE.replace("min: 30, max: 2400", "min: 50, max: 1200")
    fixed = re.sub(r"replications: .*", "replications: 123", PRECISE)
    once = lab.fresh()
    lab.run(lab.job(strict, "rule"), once)
    for text, what in ((loose, "a looser rule"), (other, "other bounds"), (fixed, "a fixed number")):
        out = lab.fresh()
        lab.run(lab.job(text, "rule"), out)
        code, _, err = lab.run(lab.job(strict, "rule"), out, "--resume", layout=(2, 1))
        checks.same(code, 0, f"{what}, then a strict rule: exit code ({err.strip()})")
        checks.same(digest(out), digest(once), f"{what}, then a strict rule: SHA-256 of the strict rule at once")
    out = lab.fresh()
    lab.run(lab.job(strict, "rule"), out)
    before = digest(out)
    code, _, err = lab.run(lab.job(fixed, "rule"), out, "--resume")
    checks.same(code, 2, f"a rule, then a smaller number: exit code ({err.strip()})")
    checks.same(digest(out), before, "a rule, then a smaller number: the file")


def another_revision(lab):
    """A copy of the program that claims another source revision."""
    text = subprocess.run([lab.program, "--version"], capture_output=True, text=True, check=True).stdout
    revision = re.search(r"\((.*)\)", text)[1].encode()
    other = bytes(c + 1 if 97 <= c < 102 or 48 <= c < 57 else c for c in revision)
    other = other if other != revision else bytes([revision[0] - 1]) + revision[1:]
    copy = lab.folder / "potluck-other"
    copy.write_bytes(pathlib.Path(lab.program).read_bytes().replace(revision + b"\0", other + b"\0"))
    copy.chmod(0o755)
    return str(copy), revision.decode(), other.decode()


def untouched(checks, lab):
    job, out = lab.job(quick()), lab.folder / "kept.h5"
    code, _, err = lab.run(job, out, "--resume")
    checks.same(code, 0, f"--resume without a file: exit code ({err.strip()})")
    before = marks(out)
    expected = digest(out)

    def stays(what):
        checks.check(marks(out) == before, f"{what}: the file was touched")
        checks.check(not pathlib.Path(f"{out}.lock").exists(), f"{what}: a lock stays behind")

    for layout in (None, (2, 1)):
        words = ["exists", "--resume", "--force"]
        refused(checks, lab.run(job, out, layout=layout), words, f"an existing file, layout {layout}")
        stays("an existing file")
    others = [
        ("another seed", quick(seed=2), ["seed: 2", "seed: 1"]),
        ("another job", quick(n=103), ["103", "101"]),
        ("another title", quick().replace("title: quick", "title: slow"), ["slow", "quick"]),
        ("another model", SLOW.format(r=100, ms=1), ["harness", "balls"]),
        ("another axis", quick().replace("k: 2", "k: [2, 3]"), ["k: 3", "balls"]),
    ]
    for what, text, words in others:
        refused(checks, lab.run(lab.job(text, "other"), out, "--resume"), words, f"--resume with {what}")
        stays(f"--resume with {what}")
    program, mine, its = another_revision(lab)
    again = lab.run(job, out, "--resume", program=program)
    refused(checks, again, [mine, its, "--accept-source"], "--resume with another source")
    stays("--resume with another source")
    checks.same(lab.run(job, out, "--resume", "--accept-source", program=program)[0], 0, "exit code of --accept-source")
    with h5py.File(out) as f:
        checks.same(f.attrs["source_revision"], its, "source revision after --accept-source")
    checks.same(lab.run(job, out, "--resume", "--accept-source")[0], 0, "exit code of --accept-source, back")
    checks.same(digest(out), expected, "bytes after --accept-source there and back")
    for layout in (None, (2, 1)):
        resumes(checks, lab, job, out, layout, expected, "--resume of a complete file")
    checks.same(lab.run(job, out, "--force", "-r", "7")[0], 0, "exit code of --force")
    with h5py.File(out) as f:
        checks.same(f["max_load"].shape[1], 7, "replications after --force")


def damaged(checks, lab):
    job, good = lab.job(quick()), lab.fresh()
    lab.run(job, good)
    data = good.read_bytes()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    with h5py.File(lab.folder / "foreign.h5", "w") as f:
        f["x"] = np.arange(9)
    foreign = (lab.folder / "foreign.h5").read_bytes()
    cases = {
        "cut in half": data[: len(data) // 2],
        "one byte short": data[:-1],
        "one bit flipped": bytes(flipped),
        "one byte more": data + b"x",
        "empty": b"",
        "text": b"not a result at all\n" * 50,
        "zeros": bytes(4096),
        "somebody else's HDF5 file": foreign,
        "the first 100 bytes": data[:100],
    }
    for what, text in cases.items():
        out = lab.fresh()
        out.write_bytes(text)
        before = marks(out)
        for layout in (None, (2, 1)) if what == "cut in half" else (None,):
            result = lab.run(job, out, "--resume", layout=layout)
            refused(checks, result, [str(out)], f"--resume of a file that is {what}")
            checks.check(marks(out) == before, f"--resume of a file that is {what}: it was touched")
        done = subprocess.run([lab.program, "show", str(out)], capture_output=True, text=True, check=False)
        checks.same(done.returncode, 2, f"show of a file that is {what}: exit code ({done.stderr.strip()})")
        checks.same(lab.run(job, out, "--force")[0], 0, f"--force over a file that is {what}: exit code")
        checks.check(out.read_bytes() == data, f"--force over a file that is {what}: other bytes")


def long_replication(checks, lab):
    """nothing waits for a player who is busy for minutes."""
    jobs = {
        "sleep": SLOW.format(r=50, ms=300000),
        "one sleep, others idle": SLOW.format(r=1, ms=300000),
        "balls": "seed: 1\nreplications: 50\ntopology: {ring: {n: 1009}}\npolicy: pot\nballs: 1e11\n",
    }
    for name, text in jobs.items():
        for layout in (None, (2, 1)):
            what = f"a replication of minutes ({name}), layout {layout}"
            job, out = lab.job(text, "long"), lab.fresh()
            process = lab.start(lab.command(job, out, layout=layout))
            playing(process, out)
            begin = time.monotonic()
            process.send_signal(signal.SIGUSR1)
            code, _, err = wait(process, 30)
            took = time.monotonic() - begin
            checks.same(code, 75, f"{what}: exit code ({err.strip()})")
            checks.check(took < 6, f"{what}: {took:.1f} s from USR1 to the end")
            print(f"note: {what}: {took:.2f} s from USR1 to the end")
            checks.same(whole(checks, out, what), 0, f"{what}: `complete`")
            checks.check(until(lambda: not players(lab.program, out), 10), f"{what}: ranks live on")
            checks.check(not pathlib.Path(f"{out}.lock").exists(), f"{what}: a lock stays behind")


def at_once(checks, lab):
    """Queues whose players ask for more memory on the way, stopped at any moment of the beginning."""
    job, once = lab.job(_queue_jobs.JOBS["transient"], "transient"), lab.fresh()
    lab.run(job, once)
    expected, early = digest(once), 0
    for trial in range(24):
        out, layout = lab.fresh(), (2, 1) if trial % 4 == 3 else None
        limit = 0.001 * 1.2**trial
        code, _, err = lab.run(job, out, "--max-time", f"{limit:.5f}", layout=layout)
        early += code == 75
        checks.check(code in (0, 75), f"queues stopped after {limit:.4f} s: {code}, {err.strip()}")
        code, _, err = lab.run(job, out, "--resume")
        checks.check(code == 0 and digest(out) == expected, f"queues stopped after {limit:.4f} s, then resumed: other bytes")
    checks.check(early > 12, f"only {early} of 24 runs were stopped")


def main():
    checks = Checks()
    with Lab(sys.argv[1]) as lab:
        on_request(checks, lab, references(checks, lab))
        for part in (topping_up, untouched, damaged, at_once, long_replication):
            part(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
