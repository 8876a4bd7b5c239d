# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays small jobs of every model on this machine and checks them: what one runs after installing.

    python3 -m potluck selftest --launch "mpirun -n 4" --threads 2

Each job is played twice, as it is launched here and on one thread of one process. Both must give
the same bytes, hold the job and the seed that were asked for, and agree with theory.
"""
from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np

import potluck
from potluck import check


class Job(NamedTuple):
    """A job, and how many replications a quick test plays."""

    name: str
    text: str
    quick: int


class Broken(Exception):
    """What keeps the test from running, in one sentence."""


class Wrong(Exception):
    """What the program did wrong, in one sentence or a table."""


JOBS = (
    Job(
        "pot on a ring and a torus",
        """model: balls
seed: 1
replications: 3000
topology: [{ring: {n: 1000}}, {torus: {sides: 30x40}}, {hypercube: {dim: 9}}]
policy: [pot, one-choice, {unif-pot: {k: [1, 5]}}, {invsq-pot: {k: 5}}, {choices: {d: 2}}]
balls: [1n, 3n]
baseline: pot
""",
        100,
    ),
    Job(
        "small systems, both tie rules",
        """model: balls
seed: 2
replications: 100000
topology: [{ring: {n: 6}}, {star: {n: 6}}]
policy: [pot, {unif-pot: {k: 2}}, {invsq-pot: {k: 3}}, edge, {left: {d: 2}}, {choices: {d: 3}}]
balls: 1n
ties: [fair, origin]
""",
        2000,
    ),
    Job(
        "random graphs",
        """model: balls
seed: 3
replications: 400
topology:
  - regular: {n: 500, degree: 3, connect: redraw}
  - barabasi-albert: {n: 500, m: 2}
policy: [pot, one-choice, {choices: {d: 2}}]
""",
        40,
    ),
    Job(
        "points on the plane",
        """model: balls
seed: 4
replications: 600
topology: [{plane: {n: 1000, torus: true}}, {plane: {n: 900, servers: grid, torus: true}}]
policy: [nearest, spot, pot]
""",
        60,
    ),
    Job(
        "arcs of a circle",
        """model: balls
seed: 5
replications: 2000
topology: {arcs: {n: 500, virtual: [1, 4]}}
policy: [nearest, {points: {d: 2}}, {bounded: {epsilon: 0.25}}]
""",
        100,
    ),
    Job(
        "M/G/1, least work and the supermarket",
        """model: queue
seed: 6
replications: 200
topology: {complete: {n: 10}}
policy: [random, {choices: {d: 2}}, pot, least-work]
lambda: [0.5, 0.8]
service: [exponential, deterministic, {erlang: {shape: 2}}]
horizon: 3000n
""",
        25,
    ),
    Job(
        "round robin with breakdowns",
        """model: queue
seed: 7
replications: 100
topology: {complete: {n: 3}}
policy: [{round-robin: {scope: central}}, {round-robin: {scope: distributed}}, permuted, random]
lambda: 0.5
service: [exponential, {hyperexponential: {scv: 4}}]
failures: [none, {alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 2.5}}}}]
warmup: {time: 2000}
horizon: 10000n
""",
        25,
    ),
    Job(
        "a ring of identifiers with churn",
        """model: dht
seed: 8
replications: 100
nodes: 256
ids: [random, equal]
lifetime: [unlimited, {exponential: {mean: 300}}]
capacity: 1000000000
queries: 2
balancer: [none, log-vs]
duration: 300
record_from: 100
""",
        25,
    ),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "--program", metavar="PATH",
        help="the program; else $POTLUCK, build/potluck beside analysis, or potluck in PATH",
    )
    parser.add_argument(
        "--launch", default="", metavar="WORDS",
        help='how jobs are launched here, such as "mpirun -n 4" or "srun -n 16"',
    )
    parser.add_argument("--threads", type=int, metavar="T", help="threads of each process")
    parser.add_argument("--quick", action="store_true", help="fewer replications: seconds")


def run(options: argparse.Namespace) -> int:
    """The command: 0 all agrees, 3 something does not, 1 it cannot run, 2 wrong options."""
    try:
        program = find(options.program)
        launch = launcher(options.launch)
        if options.threads is not None and options.threads < 1:
            raise ValueError("--threads is a whole number from 1 on")
        with tempfile.TemporaryDirectory(prefix="potluck-selftest-") as folder:
            return _play_all(program, launch, options, pathlib.Path(folder))
    except Broken as reason:
        print(f"potluck: {reason}", file=sys.stderr)
        return 1


def find(given: str | None) -> str:
    """The program to test.

    Raises
    ------
    FileNotFoundError
        When one was named that is not there.
    Broken
        When none was named and none is found.
    """
    for where, what in ((given, "--program"), (os.environ.get("POTLUCK"), "$POTLUCK")):
        if where:
            found = shutil.which(where)
            if not found:
                raise FileNotFoundError(f"{what}: there is no program {where}")
            return os.path.abspath(found)
    root = pathlib.Path(__file__).resolve().parents[1]
    found = shutil.which(str(root / "build" / "potluck")) or shutil.which("potluck")
    if not found:
        raise Broken(
            "no program potluck found: build it (meson setup build && ninja -C build), put it into "
            "PATH, or name it with --program"
        )
    return found


def launcher(words: str) -> list[str]:
    """The words before the program."""
    launch = shlex.split(words)
    if launch and not shutil.which(launch[0]):
        raise Broken(
            f"{launch[0]} is not in PATH: load your MPI, install openmpi-bin, or leave --launch out"
        )
    return launch


def _play_all(program: str, launch: list[str], options: argparse.Namespace, folder) -> int:
    started, wrong, compared = time.monotonic(), 0, 0
    threads = options.threads or (1 if launch else os.cpu_count() or 1)
    layout = [*launch, program], ["--threads", str(threads)]
    said = " ".join([*launch, f"potluck --threads {threads}"])
    version = _output([program, "--version"]).splitlines()
    print(f"{version[0] if version else program}, {os.cpu_count()} cores: {said}", flush=True)
    for i, job in enumerate(JOBS):
        print(f"{i + 1}/{len(JOBS)} {job.name}: ", end="", flush=True)
        begun = time.monotonic()
        text = job.text
        if options.quick:
            text = _with_replications(text, job.quick)
        try:
            count = _play_one(program, layout, text, folder)
            compared += count
            seconds = time.monotonic() - begun
            print(f"same bytes, {count} comparisons agree ({seconds:.1f} s)", flush=True)
        except Wrong as reason:
            wrong += 1
            print(f"WRONG\n{reason}", flush=True)
        except Broken:
            print("", flush=True)
            raise
    seconds = time.monotonic() - started
    if wrong:
        print(
            f"potluck: {wrong} of {len(JOBS)} jobs went wrong ({seconds:.0f} s): do not trust this "
            "installation."
        )
        return 3
    print(
        f"All is well: {len(JOBS)} jobs gave the same bytes in both layouts, and {compared} "
        f"comparisons agree ({seconds:.0f} s)."
    )
    return 0


def _with_replications(text: str, count: int) -> str:
    lines = text.splitlines()
    return "\n".join(
        f"replications: {count}" if line.startswith("replications:") else line for line in lines
    ) + "\n"


def _play_one(program: str, layout: tuple[list[str], list[str]], text: str, folder) -> int:
    """Plays a job twice and checks it; the number of comparisons that agree."""
    job = folder / "job.yaml"
    job.write_text(text)
    before, after = layout
    files = [folder / "here.h5", folder / "plain.h5"]
    for out, first, last in (
        (files[0], before, after),
        (files[1], [program], ["--threads", "1"]),
    ):
        out.unlink(missing_ok=True)
        _output([*first, "run", str(job), "-o", str(out), "--force", "--progress", "none", *last])
        if not out.exists():
            raise Wrong("the program said all was well and wrote no file")
    try:
        return _check(text, files)
    except potluck.Damaged as reason:
        raise Wrong(str(reason)) from None


def _check(text: str, files: list[pathlib.Path]) -> int:
    sums = [hashlib.sha256(f.read_bytes()).hexdigest() for f in files]
    if sums[0] != sums[1]:
        raise Wrong(
            f"the two layouts gave different files: SHA-256 {sums[0][:16]}... as launched, "
            f"{sums[1][:16]}... on one thread"
        )
    with potluck.open(files[0]) as ds:
        if str(ds.attrs.get("job")) != text:
            raise Wrong("the file holds another job than it was given")
        seed = next(line.split(": ")[1] for line in text.splitlines() if line.startswith("seed:"))
        if str(np.squeeze(ds.attrs.get("seed"))) != seed:
            raise Wrong(f"the file says seed {ds.attrs.get('seed')}, the job {seed}")
        table = check.check(ds)
    wrong = check.failed(table)
    if len(wrong):
        raise Wrong(f"{check.text(wrong.head(12))}\n{check.summary(table)}")
    return int(table["verdict"].isin(("agrees", "holds")).sum())


def _output(words: list[str]) -> str:
    """Standard output of a command that ends well."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as reason:
        raise Broken(f"{words[0]} does not start: {reason.strerror}") from None
    if done.returncode == 0:
        return done.stdout
    said = (done.stderr or done.stdout).strip()
    raise Broken(
        f"`{shlex.join(words)}` ended with {done.returncode}. {_advice(said)}"
        f"\n{_last_lines(said)}"
    )


def _advice(said: str) -> str:
    """What usually helps."""
    if "OMPI_ALLOW_RUN_AS_ROOT" in said or "as root" in said:
        return (
            "Open MPI refuses to run as root unless OMPI_ALLOW_RUN_AS_ROOT=1 and "
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set."
        )
    if "slots" in said:
        return "There are fewer slots than ranks: ask for fewer, or add --oversubscribe."
    if "error while loading shared libraries" in said:
        return "A library is missing: jobs/install.sh run installs what the program needs."
    return "It said:"


def _last_lines(said: str, most: int = 12) -> str:
    return "\n".join(said.splitlines()[-most:])
