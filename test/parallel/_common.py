# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parallel tests share: running the program alone and under mpirun, and counting."""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import h5py
import numpy as np

MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


class Checks:
    """Counts what held; says what did not."""

    def __init__(self):
        self.passed = self.failed = 0
        self.lock = threading.Lock()

    def check(self, good, sentence):
        with self.lock:
            self.passed += bool(good)
            self.failed += not good
        if not good:
            print(f"FAILED: {sentence}", flush=True)
        return bool(good)

    def same(self, got, expected, sentence):
        return self.check(got == expected, f"{sentence}: {got!r} instead of {expected!r}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return int(self.failed > 0)


class Lab:
    """A folder of its own and the program. `layout` is None (no mpirun) or (ranks, threads)."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="potluck-test-"))
        self.environment = {k: v for k, v in os.environ.items() if k != "POTLUCK_ISA"} | MPI
        self.number = 0
        self.lock = threading.Lock()

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # told to stop: clean up all the same
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would interrupt the tidying
        shutil.rmtree(self.folder, ignore_errors=True)

    def job(self, text, name="job"):
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path

    def fresh(self):
        """A name for a result file that does not exist yet."""
        with self.lock:
            self.number += 1
            return self.folder / f"out{self.number}.h5"

    def command(self, job, out, *options, layout=None, program=None):
        words = program if isinstance(program, list) else [program or self.program]
        words = words + ["run", str(job), "-o", str(out), "--progress", "none"]
        if layout:
            words = ["mpirun", "-n", str(layout[0])] + words + ["--threads", str(layout[1])]
        return words + [str(o) for o in options]

    def start(self, words, **more):
        return subprocess.Popen(
            words,
            env=self.environment | more.pop("env", {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def run(self, job, out, *options, layout=None, program=None, seconds=120, **more):
        """Plays a job to its end; returns (exit code, stdout, stderr)."""
        words = self.command(job, out, *options, layout=layout, program=program)
        return wait(self.start(words, **more), seconds)


def wait(process, seconds=120):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += f"\n(killed after {seconds} s)"
    return process.returncode, out, err


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def until(condition, seconds=30):
    """Waits for a condition; false when it did not come true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def differing(a, b, skip=()):
    """Names of the datasets in which two open result files differ."""
    names = []

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and name not in skip:
            other = b.get(name)
            if other is None or other.shape != item.shape or other.dtype != item.dtype:
                names.append(name)
            elif not equal(item[()], other[()]):
                names.append(name)

    a.visititems(visit)
    return names


def equal(x, y):
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "O":
        return x.tolist() == y.tolist()
    return x.shape == y.shape and x.tobytes() == y.tobytes()
