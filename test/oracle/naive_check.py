#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model balls, method servers, against the obvious implementation in naive.c: the same random
words, ball for ball.

usage: naive_check.py PROGRAM [NAIVE]

Without NAIVE it is compiled here. A case is one point of a job: every replication's row must agree
in every bit, and so must the sums over replications of balls by hops, servers by load and the load
of every single server.

Not reached: rejected words (with few servers one word in 2^28), loads wider than planned, distances
beyond 4095.
"""
import itertools
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROWS = ["max_load", "min_load", "empty", "moved", "gap", "load_variance", "cost"]
REPLICATIONS = 3


def lattice(name, sides):
    return f"{name}: {{sides: [{', '.join(map(str, sides))}]}}"


def sized(name, n):
    return f"{name}: {{n: {n}}}"


def tree(n, children=2):
    return f"tree: {{n: {n}, children: {children}}}"


def cube(dim):
    return f"hypercube: {{dim: {dim}}}"


def choices(d, distinct="false"):
    return f"choices: {{d: {d}, distinct: {distinct}}}"


def unif(k, own="excluded"):
    return f"unif-pot: {{k: {k}, self: {own}}}"


def invsq(k):
    return f"invsq-pot: {{k: {k}}}"


def left(d):
    return f"left: {{d: {d}}}"


def beta(b):
    return f"one-plus-beta: {{beta: {b}}}"


BOTH = ["fair", "origin"]
ANY_SIZE = [
    "one-choice",
    "pot",
    choices(1),
    choices(2),
    choices(5),
    unif(1),
    unif(2, "included"),
    invsq(1),
    invsq(2),
    beta("0"),
    beta("0.37"),
    beta("1"),
    left(1),
]
TWO_SERVERS = ["edge", left(2), choices(2, "true"), choices(1, "true"), unif(1, "included")]
MEDIUM = [
    "one-choice",
    "pot",
    choices(2),
    choices(3),
    choices(4),
    choices(5),
    choices(2, "true"),
    choices(3, "true"),
    choices(5, "true"),
    unif(1),
    unif(2),
    unif(3, "included"),
    unif(4),
    unif(1000),
    unif(1000, "included"),
    invsq(1),
    invsq(2),
    invsq(3),
    invsq(5),
    invsq(1000),
    "edge",
    left(2),
    left(3),
    left(5),
    beta("0.5"),
]

# (seed, topologies, policies, ties, balls): a job each.
JOBS = [
    # one and two servers, sides of 1 and 2
    (
        1,
        [
            sized("complete", 1),
            sized("ring", 1),
            sized("line", 1),
            sized("star", 1),
            tree(1),
            cube(0),
            lattice("torus", [1]),
            lattice("grid", [1, 1, 1]),
        ],
        ANY_SIZE,
        BOTH,
        [1, 7],
    ),
    (
        2,
        [
            sized("complete", 2),
            sized("complete", 3),
            sized("ring", 2),
            sized("ring", 3),
            sized("ring", 4),
            sized("line", 2),
            sized("line", 3),
            sized("star", 2),
            sized("star", 3),
            tree(2),
            tree(3),
            tree(3, 1),
            tree(4, 3),
            cube(1),
            cube(2),
            lattice("torus", [2, 1]),
            lattice("torus", [1, 2, 3]),
            lattice("torus", [2, 2]),
            lattice("grid", [2, 2]),
            lattice("grid", [1, 2, 1]),
            lattice("grid", [3, 1, 2]),
        ],
        ANY_SIZE + TWO_SERVERS,
        BOTH,
        [1, 2, 65],
    ),
    # primes, unequal sides, fewer balls than servers and more
    (
        3,
        [
            sized("complete", 13),
            sized("ring", 13),
            sized("ring", 12),
            sized("line", 11),
            lattice("torus", [5, 3]),
            lattice("torus", [2, 7]),
            lattice("torus", [3, 1, 4]),
            lattice("torus", [3, 2, 5, 2]),
            lattice("grid", [5, 3]),
            lattice("grid", [2, 3, 4]),
            lattice("grid", [7, 1, 2]),
            cube(4),
            sized("star", 6),
            tree(11),
            tree(17, 3),
            tree(7, 1),
            tree(9, 100),
        ],
        MEDIUM,
        BOTH,
        [5, 131],
    ),
    # several blocks of 2048, whole and not
    (
        18446744073709551615,
        [
            sized("complete", 53),
            sized("ring", 101),
            sized("line", 31),
            lattice("torus", [7, 11]),
            lattice("grid", [7, 5]),
            cube(6),
            sized("star", 20),
            tree(40),
        ],
        [
            "one-choice",
            "pot",
            choices(2),
            choices(3),
            choices(3, "true"),
            unif(3),
            unif(2, "included"),
            invsq(4),
            "edge",
            left(4),
            beta("0.25"),
        ],
        BOTH,
        [2048, 4097, 6000],
    ),
    (
        5,
        [sized("complete", 7), sized("ring", 7), lattice("grid", [3, 2])],
        ["pot", choices(2), unif(1), invsq(2), left(2)],
        ["fair"],
        [1000, 70001],
    ),
]


def compile_naive(folder):
    out = str(pathlib.Path(folder) / "naive")
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-O2",
            "-ffp-contract=off",
            "-I",
            str(HERE.parent.parent / "src"),
            str(HERE / "naive.c"),
            "-o",
            out,
        ],
        check=True,
    )
    return out


def play(program, folder, job):
    """The result file of a job, open."""
    seed, topologies, policies, ties, balls = job
    path = pathlib.Path(folder) / f"{seed}.yaml"
    path.write_text(
        "\n".join(
            [
                "model: balls",
                f"seed: {seed}",
                f"replications: {REPLICATIONS}",
                "topology:",
                *(f"  - {t}" for t in topologies),
                "policy:",
                *(f"  - {p}" for p in policies),
                f"ties: [{', '.join(ties)}]",
                f"balls: [{', '.join(map(str, balls))}]",
                "keep: [rows, server-loads]",
            ]
        )
        + "\n"
    )
    done = subprocess.run(
        [
            program,
            "run",
            str(path),
            "-o",
            str(path) + ".h5",
            "--progress",
            "none",
            "--threads",
            "1",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"the program refuses job {seed} (exit code {done.returncode}): {done.stderr.strip()}"
        )
    return h5py.File(str(path) + ".h5", "r")


def bits(numbers):
    return [struct.pack("<d", x) for x in numbers]


def padded(counts, length):
    return (
        np.array(counts + [0] * (length - len(counts)), dtype=np.uint64)
        if len(counts) <= length
        else None
    )


def compare(naive, f, point, setting):
    """What differs, in a sentence; None when nothing does."""
    seed, topology, policy, ties, balls = setting
    if (
        f["policy"].asstr()[point] != policy.split(":")[0]
        or f["topology"].asstr()[point] != topology.split(":")[0]
    ):
        return "is not the point of that number"
    out = subprocess.run(
        [naive, str(seed), topology, policy, ties, str(balls), "0", str(REPLICATIONS)],
        capture_output=True,
        text=True,
        check=False,
    )
    if out.returncode != 0:
        return f"stops the naive program: {out.stderr.strip()}"
    lines = [line.split() for line in out.stdout.splitlines()]
    for line in (line for line in lines if line[0] == "row"):
        mine = [f[name][point, int(line[1])] for name in ROWS]
        its = [float(x) for x in line[2:9]]
        for name, a, b in zip(ROWS, mine, its):
            if bits([a]) != bits([b]):
                return f"replication {line[1]}: {name} is {a!r}, naively {b!r}"
    sums = {line[0]: [int(x) for x in line[1:]] for line in lines if line[0] != "row"}
    for variable, key in (("hop_count", "hops"), ("load_count", "loads")):
        have = f[variable][point]
        expected = padded(np.trim_zeros(sums[key], "b"), len(have))
        if expected is None or not np.array_equal(have, expected):
            return f"{variable} is {have.tolist()}, naively {sums[key]}"
    if int(f["hop_count"][point].sum()) != balls * REPLICATIONS:
        return "hop_count does not add up to the balls"
    if int((f["load_count"][point] * f["load"][:]).sum()) != balls * REPLICATIONS:
        return "load_count does not add up to the balls"
    servers = [x / REPLICATIONS for x in sums["servers"]]
    if bits(f["server_load"][point, : len(servers)]) != bits(servers):
        return "server_load differs"
    return None


def main(argv):
    passed, failed = 0, 0
    program = os.path.abspath(argv[1])
    with tempfile.TemporaryDirectory() as folder:
        naive = os.path.abspath(argv[2]) if len(argv) > 2 else compile_naive(folder)
        for job in JOBS:
            with play(program, folder, job) as f:
                for point, setting in enumerate(itertools.product(*job[1:])):
                    what = compare(naive, f, point, (job[0],) + setting)
                    passed += what is None
                    if what is not None:
                        failed += 1
                        print(f"FAILED: {' | '.join(map(str, setting))}, seed {job[0]}: {what}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
