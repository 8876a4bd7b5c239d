#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A world that runs out of room, memory, files, threads and outputs.

usage: limits.py PROGRAM [--tier ci|verify]

Whatever is missing, a run either succeeds or ends with exit code 1 and one sentence; what was saved before stays as it
was, and carrying on with enough of everything gives the bytes of a run that lacked nothing.
"""
import argparse
import contextlib
import errno
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys

from _common import Checks, digest, until, wait
from _runs import SLOW, MemoryLab, faults, own_words, quick, refused, resumes, sealed, whole

ERRORS = ("EDQUOT", "EIO", "ENOSPC", "EROFS")
CALLS = ("open", "write", "fsync", "close", "rename")
MEMORY_STEPS = {"ci": 8, "verify": 60}  # between what --version needs and enough
LAST_CALL = {"ci": 2, "verify": 99}  # of those that fail, unless the run ends before
INTACT = "the results saved before are intact"
STRANGER = 61234  # a user and a group that nobody else is


class World:
    """A job, its bytes when nothing is missing, and the file that a short earlier run of it left."""

    def __init__(self, checks, lab, text):
        self.checks, self.lab = checks, lab
        self.job, reference, self.earlier = lab.job(text), lab.fresh(), lab.fresh()
        checks.same(lab.run(self.job, reference)[0], 0, "exit code with enough of everything")
        checks.same(lab.run(self.job, self.earlier, "-r", "30")[0], 0, "exit code of a short run")
        self.expected = digest(reference)

    def begin(self, out):
        """A file to go on from, and nothing else beside it."""
        for ending in (".tmp", ".lock", ".log"):
            pathlib.Path(f"{out}{ending}").unlink(missing_ok=True)
        shutil.copy(self.earlier, out)
        return out

    def run(self, out, *options, layout=None, **how):
        return self.lab.run(self.job, out, *([] if layout else ["--threads", "2"]), *options, layout=layout, **how)

    def stands(self, out, what, result, layout=None):
        """What holds after any --resume from begin(out), whatever was missing."""
        code, _, err = result
        checks, words = self.checks, own_words(err)
        # Open MPI may crash for want of memory while it starts, and ends with 2 if that is so while it aborts.
        started = not layout or pathlib.Path(f"{out}.log").exists()
        good = code in ((0, 1, 2) if layout else (0, 1)) or not started
        checks.check(good, f"{what}: exit code {code} ({err.strip()})")
        if not layout or code == 0:
            ours = words.startswith("potluck: ") and "\n" not in words
            checks.check(ours, f"{what}: not one sentence of ours: {words!r}")
        whole(checks, out, what)
        sealed(checks, self.lab, out, what)
        if code != 0:
            checks.check(out.read_bytes() == self.earlier.read_bytes(), f"{what}: the earlier file was touched")
        else:
            checks.same(digest(out), self.expected, f"{what}: SHA-256")
        for ending in (".tmp", ".lock"):
            checks.check(not pathlib.Path(f"{out}{ending}").exists(), f"{what}: OUT{ending} stays behind")
        return code


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def few_threads(value):
    """Somebody whose threads are counted, as root's are not."""

    def settle():
        os.setgid(STRANGER)
        os.setuid(STRANGER)
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))

    return settle


def for_strangers(world):
    """A copy of the program that others may run, on a job that they may read."""
    copy = world.lab.folder / "potluck-copy"
    shutil.copy(world.lab.program, copy)
    for path in (world.lab.folder, copy, world.job):
        path.chmod(0o755)
    return str(copy)


@contextlib.contextmanager
def mounted(folder, *words):
    """Mounts on a folder; yields whether that was possible."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *words, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"note: cannot mount ({done.stderr.strip()}): part of the tests is left out")
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def no_room(world, layouts):
    """The previous file survives what the disk does to the next."""
    checks, lab, room = world.checks, world.lab, world.lab.folder / "room"
    with mounted(room, "-t", "tmpfs", "-o", "size=700k", "potluck-test") as small:
        ways = [("files limited to 600 kB", lab.folder, {"preexec_fn": limit(resource.RLIMIT_FSIZE, 600000)}, [None])]
        if small:
            ways.append(("a disk of 700 kB", room, {}, layouts))
        for what, folder, how, choice in ways:
            for layout in choice:
                fresh, kept = folder / "fresh.h5", world.begin(folder / "kept.h5")
                words = [str(fresh), "nothing has been saved"]
                refused(checks, world.run(fresh, layout=layout, **how), words, f"{what}, layout {layout}", code=1)
                checks.check(not fresh.exists(), f"{what}: half a file is there")
                result = world.run(kept, "--resume", layout=layout, **how)
                refused(checks, result, [str(kept), INTACT], f"{what}, layout {layout}, resuming", code=1)
                world.stands(kept, f"{what}, layout {layout}, resuming", result, layout)
                left = [p.name for p in folder.iterdir() if re.match("(fresh|kept).*(tmp|lock)", p.name)]
                checks.same(left, [], f"{what}, layout {layout}: left behind")
                for path in folder.glob("fresh*"):
                    path.unlink()
                if folder == lab.folder:
                    resumes(checks, lab, world.job, kept, layout, world.expected, f"{what}: with room again")


def read_only(world):
    """Folders that cannot be written to, from the beginning or from a moment on."""
    checks, lab, room = world.checks, world.lab, world.lab.folder / "still"
    folder = lab.folder / "readonly"
    folder.mkdir()
    folder.chmod(0o555)
    copy = for_strangers(world)
    how = {"user": STRANGER, "group": STRANGER} if os.geteuid() == 0 else {}
    result = lab.run(world.job, folder / "out.h5", program=copy, **how)
    refused(checks, result, [str(folder)], "a read-only folder")
    checks.same(list(folder.iterdir()), [], "files in a read-only folder")
    with mounted(room, "-t", "tmpfs", "potluck-test") as possible:
        if not possible:
            return
        kept = world.begin(room / "kept.h5")
        subprocess.run(["mount", "-o", "remount,ro", str(room)], check=True)
        for options in ((), ("--force",), ("--resume",)):
            refused(checks, world.run(kept, *options), [str(room)], f"a read-only disk, {options}")
        checks.check(kept.read_bytes() == world.earlier.read_bytes(), "a read-only disk: the file was touched")
        subprocess.run(["mount", "-o", "remount,rw", str(room)], check=True)
        turning_read_only(world, room)


def turning_read_only(world, room):
    """The path turns read-only in the middle of a run; a file system that is written to cannot be switched over, so
    that a read-only view of it is put above."""
    checks, lab, out = world.checks, world.lab, room / "out.h5"
    process = lab.start(lab.command(lab.job(SLOW.format(r=1000, ms=20), "slow"), out, "--checkpoint", "0.1"))
    checks.check(until(out.exists), "turning read-only: no snapshot")
    subprocess.run(["mount", "--bind", str(room), str(room)], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", str(room)], check=True)
    before = out.read_bytes()
    process.send_signal(signal.SIGTERM)
    result = wait(process, 60)
    subprocess.run(["umount", "-l", str(room)], check=True)
    refused(checks, result, [str(out), "Read-only", INTACT], "a disk that turns read-only", code=1)
    checks.check(out.read_bytes() == before, "a disk that turns read-only: the file was touched")
    sealed(checks, lab, out, "a disk that turns read-only")


def starts(world, value):
    """Whether the program and its libraries can be loaded, without a word of theirs."""
    words = [world.lab.program, "--version"]
    how = {"preexec_fn": limit(resource.RLIMIT_AS, value), "capture_output": True, "check": False}
    done = subprocess.run(words, **how)
    return done.returncode == 0 and not done.stderr


def memory(world, steps):
    """From what the program needs to start to what it needs to end: the first halved in, the second stepped up to."""
    low, enough = 1 << 20, 1 << 32
    while enough - low > 1 << 18:
        middle = (low + enough) // 2
        low, enough = (low, middle) if starts(world, middle) else (middle, enough)
    out, codes = world.lab.fresh(), []
    for step in range(10 * steps):
        value = enough + step * (48 << 20) // steps
        world.begin(out)
        what = f"{value / 2**20:.1f} MiB of memory"
        codes.append(world.stands(out, what, world.run(out, "--resume", preexec_fn=limit(resource.RLIMIT_AS, value))))
        if codes[-1] == 0:
            break
    world.checks.check(codes[0] != 0 and codes[-1] == 0, f"exit codes from {enough >> 20} MiB upwards: {codes}")
    print(f"note: memory: libraries {enough >> 20} MiB, the job {value >> 20} MiB, {len(codes) - 1} values between")


def memory_of_ranks(world, values):
    """The same for each of two ranks."""
    out = world.lab.fresh()
    for value in values:
        world.begin(out)
        shell = ["bash", "-c", f'ulimit -v {value << 10}; exec "$@"', "bash", world.lab.program]
        result = world.lab.run(world.job, out, "--resume", layout=(2, 1), program=shell)
        world.stands(out, f"ranks with {value} MiB of memory each", result, layout=(2, 1))


def files_and_threads(world, most_files):
    """Few files may be open; few threads or none can be made."""
    lab, out = world.lab, world.lab.fresh()
    for value in range(4, most_files):
        world.begin(out)
        result = world.run(out, "--resume", preexec_fn=limit(resource.RLIMIT_NOFILE, value))
        world.stands(out, f"{value} open files", result)
    if os.geteuid() != 0:
        print("note: not root: the number of threads is not limited")
        return
    place = lab.folder / "threads"
    place.mkdir()
    place.chmod(0o777)
    copy = for_strangers(world)
    for value in (0, 2):
        kept = world.begin(place / f"kept{value}.h5")
        kept.chmod(0o666)
        how = {"preexec_fn": few_threads(value), "program": copy}
        world.stands(kept, f"at most {value} threads", lab.run(world.job, kept, "--resume", "--threads", "4", **how))


def closed(world):
    """Closed standard streams: what was meant for them may not end in a file of ours."""
    checks, lab = world.checks, world.lab
    for streams in ("<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"):
        out = lab.fresh()
        words = [word.replace("none", "plain") for word in lab.command(world.job, out)]
        code, _, err = wait(lab.start(["bash", "-c", f'exec "$@" {streams}', "bash", *words]))
        checks.same(code, 0, f"{streams}: exit code ({err.strip()})")
        checks.same(digest(out), world.expected, f"{streams}: SHA-256")
    # A seed that is drawn is told on standard error, while the lock is the file opened first.
    job, out = lab.job(SLOW.replace("seed: 1\n", "").format(r=1000, ms=20), "unseeded"), lab.fresh()
    words = lab.command(job, out, "--checkpoint", "0.1")
    process = lab.start(["bash", "-c", 'exec "$@" 2>&-', "bash", *words])
    until(out.exists)
    lock = pathlib.Path(f"{out}.lock").read_text()
    process.send_signal(signal.SIGTERM)
    checks.same(wait(process)[0], 75, "2>&-: exit code of TERM")
    checks.check(re.fullmatch(r"process \d+ on \S+(, Slurm job \S+)?", lock), f"2>&-: the lock holds {lock!r}")


def outputs(world):
    """Where results are printed: a full disk, a pipe closed early."""
    checks, lab = world.checks, world.lab
    job, result = str(world.job), str(world.earlier)
    cases = (["show", result], ["show", result, "--csv"], ["list"], ["--help"], ["plan", job],
             ["run", job, "--only", "0:0", "--progress", "none"])
    for words in cases:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([lab.program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        checks.same(done.returncode, 1, f"{words[0]} to a full disk: exit code ({done.stderr.strip()})")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([lab.program, *words], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
        os.close(write)
        good = done.returncode in (0, -signal.SIGPIPE) and not done.stderr  # as `| head` likes it
        checks.check(good, f"{words[0]} to a closed pipe: exit code {done.returncode} ({done.stderr.strip()})")
    out = lab.fresh()
    words = lab.command(world.job, out)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(words, stdout=full, stderr=full, check=False)
    checks.same(done.returncode, 0, "run with its words going to a full disk: exit code")
    checks.same(digest(out), world.expected, "run with its words going to a full disk: SHA-256")


def no_place(world):
    """Names that are no place for a result."""
    checks, lab, job = world.checks, world.lab, world.job
    refused(checks, lab.run(job, lab.folder / "nowhere" / "out.h5"), ["nowhere"], "a folder that does not exist")
    for options in ((), ("--force",), ("--resume",)):
        refused(checks, lab.run(job, lab.folder, *options), [str(lab.folder)], f"OUT is a folder, {options}")
        refused(checks, lab.run(job, "/dev/full", *options), ["/dev/full"], f"OUT is /dev/full, {options}")
        checks.check(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full is gone")
    pipe = lab.folder / "pipe"
    os.mkfifo(pipe)
    refused(checks, lab.run(job, pipe, "--force"), [str(pipe)], "OUT is a pipe")
    dangling = lab.folder / "dangling.h5"
    dangling.symlink_to(lab.folder / "behind.h5")
    refused(checks, lab.run(job, dangling, "--force"), [str(dangling)], "OUT is a dangling link")


def failing_calls(checks, lab, tier):
    """Each call that writes a snapshot fails, at the first snapshot of a run and at later ones."""
    world, broken = World(checks, lab, quick(replications=6000, n=5003)), faults(lab)
    cases = [(call, number) for call in CALLS for number in ERRORS]
    if tier == "ci":  # every call, every error
        cases = [(call, ERRORS[(i + j) % 4]) for i, call in enumerate(CALLS) for j in range(2)]
    for call, number in cases:
        value = getattr(errno, number)
        failed = 0
        words = os.strerror(value)
        while failed < LAST_CALL[tier] and fails(world, broken, f"{call}:{failed + 1}:error:{value}", words):
            failed += 1
        checks.check(failed > 0, f"{call}, {number}: none could fail")
        if tier == "verify":
            print(f"note: {call}, {number}: {failed} of them failed, one after the other")
    for fault in (f"write:1:once:{errno.EINTR}", "write:1:short:0"):
        out = lab.fresh()
        code, _, err = world.run(out, env=broken(fault, out, lab.folder / "mark"))
        checks.same(code, 0, f"{fault}: exit code ({err.strip()})")
        checks.same(digest(out), world.expected, f"{fault}: SHA-256")


def fails(world, broken, fault, words):
    """One run with one fault; false when it ended before the fault came."""
    checks, lab = world.checks, world.lab
    out, mark = world.begin(lab.fresh()), lab.folder / "mark"
    mark.unlink(missing_ok=True)
    code, _, err = world.run(out, "--resume", "--checkpoint", "0.02", env=broken(fault, out, mark))
    if not mark.exists() or (code == 0 and fault.startswith("open")):  # the log does not matter
        checks.same(code, 0, f"{fault}: exit code without a fault ({err.strip()})")
        checks.same(digest(out), world.expected, f"{fault}: SHA-256 without a fault")
        return False
    refused(checks, (code, "", err), [str(out), words, INTACT], fault, code=1)
    whole(checks, out, fault)
    for ending in (".tmp", ".lock"):
        checks.check(not pathlib.Path(f"{out}{ending}").exists(), f"{fault}: OUT{ending} stays behind")
    resumes(checks, lab, world.job, out, None, world.expected, fault)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tier", choices=list(MEMORY_STEPS), default="ci")
    arguments = parser.parse_args()
    tier, checks = arguments.tier, Checks()
    with MemoryLab(arguments.program) as lab:
        world = World(checks, lab, quick(replications=20000))
        no_room(world, (None, (2, 1)))
        read_only(world)
        no_place(world)
        memory(world, MEMORY_STEPS[tier])
        memory_of_ranks(world, (140, 260) if tier == "ci" else range(80, 400, 10))
        files_and_threads(world, 6 if tier == "ci" else 20)
        closed(world)
        outputs(world)
        failing_calls(checks, lab, tier)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
