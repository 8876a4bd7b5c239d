#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping, killing, resuming, and a world that runs out of room.

usage: interrupt.py PROGRAM [--tier ci|verify]

Whatever happens to a run, its file is absent or whole, and carrying on gives the bytes of a run
that nothing happened to.
"""
import argparse
import os
import pathlib
import random
import re
import resource
import signal
import stat
import subprocess
import sys
import time

import h5py
import numpy as np

from _common import Checks, Lab, differing, digest, until, wait

TRIALS = {"ci": 10, "verify": 60}

# About two seconds of one core, a small file: snapshots are cheap and frequent.
FIXED = """
title: interrupted
seed: 20261129
replications: 2401
topology: {ring: {n: 100003}}
policy: [pot, {unif-pot: {k: 3}}, {choices: {d: 2}}]
"""
PRECISE = """
title: interrupted, with a stopping rule
seed: 4
replications: {min: 30, max: 8000, until: {load_variance: 0.0002, cost: [0.05%, 0.01]}}
topology: {ring: {n: 50021}}
policy: [pot, {unif-pot: {k: 3}}, {invsq-pot: {k: 9}}]
ties: [fair, origin]
"""
QUICK = """
title: quick
seed: {seed}
replications: {replications}
topology: {{ring: {{n: {n}}}}}
policy: [pot, {{unif-pot: {{k: 2}}}}]
"""
SLOW = "title: quick\nseed: 1\nmodel: harness\nreplications: {r}\nmilliseconds: {ms}\nhow: sleep\n"


def quick(seed=1, replications=100, n=101):
    return QUICK.format(seed=seed, replications=replications, n=n)


def whole(checks, path, what):
    """The file opens and its counts agree with its rows; returns `complete`."""
    try:
        with h5py.File(path) as f:
            counts = np.sum(~np.isnan(f["max_load"][:]), axis=1) if "max_load" in f else None
            good = counts is None or np.array_equal(counts, f["replications"][:])
            checks.check(good, f"{what}: `replications` is {f['replications'][:]}, rows {counts}")
            played = int(f["replications"][:].sum())
            servers = f["load_count"][:].sum() if "load_count" in f else 0
            n = int(f["n"][0]) if "n" in f else 0
            checks.check(servers == n * played, f"{what}: {servers} servers counted of {n * played}")
            return int(f.attrs["complete"])
    except OSError as error:
        checks.check(False, f"{what}: the file does not open: {error}")
        return None


def resumes(checks, lab, job, out, layout, expected, what):
    code, _, err = lab.run(job, out, "--resume", layout=layout)
    if checks.same(code, 0, f"{what}: exit code of --resume ({err.strip()})"):
        checks.check(digest(out) == expected, f"{what}: resumed to other bytes")


def refused(checks, result, words, what, code=2):
    """One sentence on stderr with the words in it, and the exit code."""
    got, _, err = result
    checks.same(got, code, f"{what}: exit code ({err.strip()})")
    own = err.split("-----")[0].strip() if "mpirun" in err or "MPI_ABORT" in err else err.strip()
    own = "\n".join(line for line in own.splitlines() if not line.startswith("["))  # mpirun's own trouble
    checks.check(own and "\n" not in own, f"{what}: not one sentence: {own!r}")
    for word in words:
        checks.check(word in err, f"{what}: nothing about {word!r} in {err.strip()!r}")


def descendants(pid):
    """Processes below pid."""
    parents = {}
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit():
                text = (folder / "stat").read_text()
                fields = text[text.rindex(")") + 2 :].split()
                if fields[0] != "Z":
                    parents.setdefault(int(fields[1]), []).append(int(folder.name))
        except (OSError, ValueError):
            pass
    found, open_ = [], [pid]
    while open_:
        found += parents.get(open_[-1], [])
        open_ = open_[:-1] + parents.get(open_[-1], [])
    return found


def ranks_of(process, program):
    """The playing processes of a run, in no order."""
    name = os.path.basename(program)[:15]
    mine = []
    for pid in descendants(process.pid) + [process.pid]:
        try:
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
                mine.append(pid)
        except OSError:
            pass
    return mine


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def references(checks, lab):
    """Jobs played without interruption: name -> (job file, digest)."""
    found = {}
    for name, text in (("fixed", FIXED), ("precise", PRECISE)):
        job, out = lab.job(text, name), lab.fresh()
        code, _, err = lab.run(job, out)
        checks.same(code, 0, f"{name}, uninterrupted: exit code ({err.strip()})")
        found[name] = (job, digest(out))
    return found


def playing(process, out, more=0.3):
    """Waits until a run has taken its lock and played a little."""
    until(lambda: pathlib.Path(f"{out}.lock").exists() or process.poll() is not None)
    time.sleep(more)


def on_request(checks, lab, jobs):
    """(a), (c), (d): signals and --max-time."""
    cases = [
        ("USR1 alone", signal.SIGUSR1, None, 75, (2, 1)),
        ("USR1 to mpirun", signal.SIGUSR1, (2, 1), 75, None),
        ("USR1 to mpirun, 3 ranks", signal.SIGUSR1, (3, 2), 75, (1, 1)),
        ("TERM alone", signal.SIGTERM, None, 75, None),
        ("INT alone", signal.SIGINT, None, 75, (2, 1)),
        ("TERM to mpirun", signal.SIGTERM, (2, 1), 1, (1, 2)),
        ("INT to mpirun", signal.SIGINT, (2, 1), 1, None),
    ]
    for name, (job, expected) in jobs.items():
        for what, number, layout, code, then in cases if name == "fixed" else cases[:2]:
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
        for layout in (None, (2, 1)):
            what = f"{name}, --max-time 0.3, layout {layout}"
            out = lab.fresh()
            options = ["--max-time", "0.3"] + ([] if layout else ["--threads", "1"])
            code, _, err = lab.run(job, out, *options, layout=layout)
            complete = whole(checks, out, what)
            checks.check((code, complete) in ((75, 0), (0, 1)), f"{what}: exit code {code}, complete {complete} ({err.strip()})")
            checks.same(code, 75, f"{what}: exit code")
            resumes(checks, lab, job, out, (3, 1), expected, what)


def killed(checks, lab, jobs, trials):
    """(b): SIGKILL at random times."""
    chance = random.Random(20261129)
    layouts = [(1, 2), (2, 1), (3, 1), (2, 2)]
    there = 0
    for trial in range(trials):
        name = chance.choice(list(jobs))
        job, expected = jobs[name]
        layout, after, everybody = chance.choice(layouts), chance.uniform(0.05, 1.2), chance.random() < 0.4
        out = lab.fresh()
        what = f"kill {trial} ({name}, {layout}, after {after:.2f} s, {'all' if everybody else 'one'})"
        process = lab.start(lab.command(job, out, "--checkpoint", "0.1", layout=layout))
        playing(process, out, after)
        victims = ranks_of(process, lab.program)
        if everybody:
            victims = victims + [process.pid]
        elif victims:
            victims = [chance.choice(sorted(victims))]
        for pid in victims:
            kill(pid, signal.SIGKILL)
        wait(process, 60)
        checks.check(until(lambda: not ranks_of(process, lab.program), 20), f"{what}: ranks live on")
        if out.exists():
            there += 1
            whole(checks, out, what)
        for left in (f"{out}.999999.tmp", f"{out}.tmp"):
            pathlib.Path(left).write_bytes(b"half a file")
        resumes(checks, lab, job, out, chance.choice(layouts + [None]), expected, what)
    checks.check(there > 0, "no kill came after the first snapshot: the test shows nothing")
    print(f"note: {there} of {trials} kills left a file to resume from")


def topping_up(checks, lab):
    """(e)"""
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
    loose = PRECISE.replace("0.0002", "0.001").replace("0.05%", "1%")
    other = PRECISE.replace("min: 30, max: 8000", "min: 50, max: 4000")
    fixed = re.sub(r"replications: .*", "replications: 123", PRECISE)
    once = lab.fresh()
    lab.run(lab.job(strict, "rule"), once)
    expected_datasets = once
    for text, what in ((loose, "a looser rule"), (other, "other bounds"), (fixed, "a fixed number")):
        out = lab.fresh()
        lab.run(lab.job(text, "rule"), out)
        code, _, err = lab.run(lab.job(strict, "rule"), out, "--resume", layout=(2, 1))
        checks.same(code, 0, f"{what}, then a strict rule: exit code ({err.strip()})")
        checks.check(digest(out) == digest(expected_datasets), f"{what}, then a strict rule: other bytes than the strict rule at once")
    out = lab.fresh()
    lab.run(lab.job(strict, "rule"), out)
    before = digest(out)
    code, _, err = lab.run(lab.job(fixed, "rule"), out, "--resume")
    checks.same(code, 2, f"a rule, then a smaller number: exit code ({err.strip()})")
    checks.same(digest(out), before, "a rule, then a smaller number: the file")


def marks(path):
    return path.read_bytes(), path.stat().st_mtime_ns


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
    """(f)"""
    job, out = lab.job(quick()), lab.folder / "kept.h5"
    code, _, err = lab.run(job, out, "--resume")
    checks.same(code, 0, f"--resume without a file: exit code ({err.strip()})")
    before = marks(out)
    expected = digest(out)

    def stays(what):
        checks.check(marks(out) == before, f"{what}: the file was touched")
        checks.check(not pathlib.Path(f"{out}.lock").exists(), f"{what}: a lock stays behind")

    for layout in (None, (2, 1)):
        refused(checks, lab.run(job, out, layout=layout), ["exists", "--resume", "--force"], f"an existing file, layout {layout}")
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
        for layout in (None, (2, 1)):
            refused(checks, lab.run(job, out, "--resume", layout=layout), [str(out)], f"--resume of a file that is {what}")
            checks.check(marks(out) == before, f"--resume of a file that is {what}: it was touched")
        done = subprocess.run([lab.program, "show", str(out)], capture_output=True, text=True, check=False)
        checks.same(done.returncode, 2, f"show of a file that is {what}: exit code ({done.stderr.strip()})")
        checks.same(lab.run(job, out, "--force")[0], 0, f"--force over a file that is {what}: exit code")
        checks.check(out.read_bytes() == data, f"--force over a file that is {what}: other bytes")


def limit_files(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_room(checks, lab):
    """(g): the previous file survives what the disk does to the next."""
    job = lab.job(quick(replications=20000))
    reference = lab.fresh()
    lab.run(job, reference)
    expected = digest(reference)
    room = lab.folder / "room"
    room.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "potluck-test", str(room)],
                             capture_output=True, check=False).returncode == 0
    try:
        ways = [("files limited to 600 kB", lab.folder, {"preexec_fn": limit_files(600000)})]
        if mounted:
            ways.append(("a disk of 700 kB", room, {}))
        else:
            print("note: no small disk could be mounted; only limits of file size are tested")
        for what, folder, how in ways:
            for layout in (None, (2, 1)) if folder == room else (None,):
                fresh, kept = folder / "fresh.h5", folder / "kept.h5"
                refused(checks, lab.run(job, fresh, layout=layout, **how), [str(fresh)], f"{what}, layout {layout}", code=1)
                checks.check(not fresh.exists(), f"{what}: half a file is there")
                checks.same(lab.run(job, kept, "-r", "30", "--force", **how)[0], 0, f"{what}: exit code of a small file")
                before = marks(kept)
                refused(checks, lab.run(job, kept, "--resume", layout=layout, **how), [str(kept)], f"{what}, resuming", code=1)
                checks.check(marks(kept) == before, f"{what}: the previous file was touched")
                left = [p.name for p in folder.iterdir() if re.match("(fresh|kept).*tmp", p.name)]
                checks.same(left, [], f"{what}: temporary files stay behind")
                if folder == lab.folder:
                    resumes(checks, lab, job, kept, layout, expected, f"{what}: with room again")
                kept.unlink()
    finally:
        if mounted:
            subprocess.run(["umount", str(room)], check=False)


def as_nobody():
    os.setgid(65534)
    os.setuid(65534)


def no_place(checks, lab):
    job = lab.job(quick())
    folder = lab.folder / "readonly"
    folder.mkdir()
    folder.chmod(0o555)
    copy = lab.folder / "potluck-copy"
    copy.write_bytes(pathlib.Path(lab.program).read_bytes())
    for path, mode in ((lab.folder, 0o755), (copy, 0o755), (job, 0o644)):
        path.chmod(mode)
    how = {"preexec_fn": as_nobody} if os.geteuid() == 0 else {}
    refused(checks, lab.run(job, folder / "out.h5", program=str(copy), **how), [str(folder)], "a read-only folder")
    checks.same(list(folder.iterdir()), [], "files in a read-only folder")
    refused(checks, lab.run(job, lab.folder / "nowhere" / "out.h5"), ["nowhere"], "a folder that does not exist")
    for options in ((), ("--force",), ("--resume",)):
        refused(checks, lab.run(job, folder, *options), [str(folder)], f"OUT is a folder, {options}")
        refused(checks, lab.run(job, "/dev/full", *options), ["/dev/full"], f"OUT is /dev/full, {options}")
        checks.check(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full is gone")
    pipe = lab.folder / "pipe"
    os.mkfifo(pipe)
    refused(checks, lab.run(job, pipe, "--force"), [str(pipe)], "OUT is a pipe")
    dangling = lab.folder / "dangling.h5"
    dangling.symlink_to(lab.folder / "behind.h5")
    code = lab.run(job, dangling, "--force")[0]
    checks.check(code in (0, 2), f"OUT is a dangling link: exit code {code}")
    good = lab.fresh()
    lab.run(job, good)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for words in (["show", str(good)], ["show", str(good), "--csv"], ["list"], ["--help"], ["plan", str(job)]):
            done = subprocess.run([lab.program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            checks.same(done.returncode, 1, f"{words[0]} to a full disk: exit code ({done.stderr.strip()})")
        words = lab.command(job, lab.fresh(), "--only", "0:0")
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        checks.same(done.returncode, 1, f"run --only to a full disk: exit code ({done.stderr.strip()})")


def one_writer(checks, lab):
    job, out = lab.job(SLOW.format(r=1000, ms=20), "slow"), lab.fresh()
    first = lab.start(lab.command(job, out, "--checkpoint", "0.2"))
    until(out.exists)
    for options in (("--resume",), ("--force",)):
        for layout in (None, (2, 1)):
            words = ["another run", str(first.pid)]
            refused(checks, lab.run(job, out, *options, layout=layout), words, f"a second run {options}, layout {layout}")
    first.send_signal(signal.SIGUSR1)
    checks.same(wait(first, 30)[0], 75, "exit code of the first of two runs")
    checks.check(not pathlib.Path(f"{out}.lock").exists(), "the lock stays behind")
    pathlib.Path(f"{out}.lock").write_text("process 1 on elsewhere")
    checks.same(lab.run(job, out, "--resume", "--max-time", "0.2")[0], 75, "a lock file nobody holds: exit code")


def long_replication(checks, lab):
    """(h): nothing waits for a player who is busy for minutes."""
    jobs = {
        "sleep": SLOW.format(r=50, ms=300000),
        "spin": SLOW.format(r=50, ms=300000).replace("sleep", "spin"),
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
            checks.check(until(lambda: not ranks_of(process, lab.program), 10), f"{what}: ranks live on")
            checks.check(not pathlib.Path(f"{out}.lock").exists(), f"{what}: a lock stays behind")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=list(TRIALS), default="ci")
    arguments = parser.parse_args()
    checks = Checks()
    with Lab(arguments.program) as lab:
        jobs = references(checks, lab)
        for part in (
            lambda: on_request(checks, lab, jobs),
            lambda: killed(checks, lab, jobs, TRIALS[arguments.tier]),
            lambda: topping_up(checks, lab),
            lambda: untouched(checks, lab),
            lambda: damaged(checks, lab),
            lambda: no_room(checks, lab),
            lambda: no_place(checks, lab),
            lambda: one_writer(checks, lab),
            lambda: long_replication(checks, lab),
        ):
            part()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
