# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that something happens to: jobs for them, who plays them, what a file and a log must look like afterwards."""
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

from _common import Lab, digest, until

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
replications: {min: 30, max: 2400, until: {load_variance: 0.00015, cost: [0.05%, 0.01]}}
topology: {ring: {n: 50021}}
policy: [pot, {unif-pot: {k: 3}}, {invsq-pot: {k: 9}}]
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


class MemoryLab(Lab):
    """A lab in memory, where fsync() costs nothing. What a killed mpirun leaves behind goes with it."""

    def __init__(self, program):
        if os.access("/dev/shm", os.W_OK):
            tempfile.tempdir = "/dev/shm"
        super().__init__(program)
        folder = str(self.folder)
        self.environment |= {"TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder}


def references(checks, lab):
    """Jobs played without interruption: name -> (job file, digest, replications in all)."""
    found = {}
    for name, text in (("fixed", FIXED), ("precise", PRECISE)):
        job, out = lab.job(text, name), lab.fresh()
        code, _, err = lab.run(job, out)
        checks.same(code, 0, f"{name}, uninterrupted: exit code ({err.strip()})")
        found[name] = (job, digest(out), played(out.read_bytes()))
    return found


def played(data):
    """Replications in the bytes of a result file."""
    with h5py.File(io.BytesIO(data)) as f:
        return int(f["replications"][:].sum())


def agrees(f):
    """Why the counts of an open result file contradict its rows, or None."""
    counts = f["replications"][:]
    rows = np.sum(~np.isnan(f["max_load"][:]), axis=1) if "max_load" in f else counts
    if not np.array_equal(rows, counts):
        return f"`replications` is {counts}, rows {rows}"
    if "load_count" in f:
        servers, expected = f["load_count"][:].sum(axis=1), counts * f["n"][:].astype(int)
        if not np.array_equal(servers, expected):
            return f"{servers} servers counted of {expected}"
    return None


def whole(checks, path, what):
    """The file opens and its counts agree with its rows; returns `complete`."""
    try:
        with h5py.File(path) as f:
            why = agrees(f)
            checks.check(why is None, f"{what}: {why}")
            return int(f.attrs["complete"])
    except OSError as error:
        checks.check(False, f"{what}: the file does not open: {error}")
        return None


def sealed(checks, lab, path, what):
    """The program itself accepts the file."""
    done = subprocess.run([lab.program, "show", str(path)], capture_output=True, text=True, check=False)
    checks.same(done.returncode, 0, f"{what}: exit code of show ({done.stderr.strip()})")


def resumes(checks, lab, job, out, layout, expected, what):
    code, _, err = lab.run(job, out, "--resume", layout=layout)
    if checks.same(code, 0, f"{what}: exit code of --resume ({err.strip()})"):
        checks.check(digest(out) == expected, f"{what}: resumed to other bytes")


def own_words(err):
    """What the program itself said: without mpirun's page of text around it."""
    text = err.split("-----")[0] if "mpirun" in err or "MPI_ABORT" in err else err
    return "\n".join(line for line in text.strip().splitlines() if line and not line.startswith("["))


def refused(checks, result, words, what, code=2):
    """One sentence on stderr with the words in it, and the exit code."""
    got, _, err = result
    checks.same(got, code, f"{what}: exit code ({err.strip()})")
    own = own_words(err)
    checks.check(own and "\n" not in own, f"{what}: not one sentence: {own!r}")
    for word in words:
        checks.check(word in err, f"{what}: nothing about {word!r} in {err.strip()!r}")


def players(program, out):
    """Living processes of the program that write to `out`, by number: whoever their parents are now."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if words[:1] == [os.fsencode(program)] and os.fsencode(out) in words:
            found.append(int(folder.name))
    return sorted(found)


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def playing(process, out, more=0.3):
    """Waits until a run has taken its lock and played a little."""
    until(lambda: pathlib.Path(f"{out}.lock").exists() or process.poll() is not None)
    time.sleep(more)


def marks(path):
    return path.read_bytes(), path.stat().st_mtime_ns


SNAPSHOT = re.compile(r"snapshot: (\d+) replications, (\d+) bytes, (\S+) s to write, next in (\S+) s or later")


def snapshots(out):
    """(replications, bytes, seconds to write, seconds to the next) for each snapshot in the log."""
    try:
        text = pathlib.Path(f"{out}.log").read_text()
    except FileNotFoundError:
        return []
    return [(int(n), int(size), float(spent), float(pause)) for n, size, spent, pause in SNAPSHOT.findall(text)]


def faults(lab):
    """Builds what makes calls fail; returns a function from (fault or "none", out, mark) to an environment."""
    source = pathlib.Path(__file__).with_name("_faults.c")
    library = lab.folder / "faults.so"
    compiler = os.environ.get("CC", "cc").split()
    words = [*compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"_faults.c does not compile: {done.stderr}")
    return lambda fault, out, mark: {
        "LD_PRELOAD": str(library),
        "FAULT": fault,
        "FAULT_FILE": str(out),
        "FAULT_MARK": str(mark),
    }
