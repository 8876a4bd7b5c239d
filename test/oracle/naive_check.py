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
BOTH = ["fair", "origin"]


def topologies(text):
    """Canonical texts of "ring 13", "torus 5x3", "tree 11/2", "hypercube 4"."""
    out = []
    for item in text.split(","):
        name, size = item.split()
        if name in ("torus", "grid"):
            out.append(f"{name}: {{sides: [{', '.join(size.split('x'))}]}}")
        elif name == "tree":
            out.append("tree: {n: %s, children: %s}" % tuple(size.split("/")))
        else:
            out.append(f"{name}: {{{'dim' if name == 'hypercube' else 'n'}: {size}}}")
    return out


FORMS = {
    "choices": "choices: {d: %s, distinct: false}",
    "distinct": "choices: {d: %s, distinct: true}",
    "unif": "unif-pot: {k: %s, self: excluded}",
    "unif-self": "unif-pot: {k: %s, self: included}",
    "invsq": "invsq-pot: {k: %s}",
    "left": "left: {d: %s}",
    "beta": "one-plus-beta: {beta: %s}",
}


def policies(text):
    """Canonical texts of "pot", "choices 3", "unif-self 2", "beta 0.5"."""
    items = [item.split() for item in text.split(",")]
    return [FORMS[item[0]] % item[1] if len(item) > 1 else item[0] for item in items]


ANY_SIZE = (
    "one-choice, pot, choices 1, choices 2, choices 5, unif 1, unif-self 2, invsq 1, invsq 2, "
    "beta 0, beta 0.37, beta 1, left 1"
)
TWO_SERVERS = ", edge, left 2, distinct 1, distinct 2, unif-self 1"
MEDIUM = (
    "one-choice, pot, choices 2, choices 3, choices 4, choices 5, distinct 2, distinct 3, "
    "distinct 5, unif 1, unif 2, unif-self 3, unif 4, unif 1000, unif-self 1000, invsq 1, "
    "invsq 2, invsq 3, invsq 5, invsq 1000, edge, left 2, left 3, left 5, beta 0.5"
)

# (seed, topologies, policies, ties, balls): a job each.
JOBS = [
    # one server; two and three; sides of 1 and 2
    (
        1,
        "complete 1, ring 1, line 1, star 1, tree 1/2, hypercube 0, torus 1, grid 1x1x1",
        ANY_SIZE,
        BOTH,
        [7],
    ),
    (
        2,
        "complete 2, complete 3, ring 2, ring 3, ring 4, line 2, line 3, star 2, star 3, tree 2/2, "
        "tree 3/2, tree 3/1, tree 4/3, hypercube 1, hypercube 2, torus 2x1, torus 1x2x3, "
        "torus 2x2, grid 2x2, grid 1x2x1, grid 3x1x2",
        ANY_SIZE + TWO_SERVERS,
        BOTH,
        [65],
    ),
    # primes and unequal sides
    (
        3,
        "complete 13, ring 13, ring 12, line 11, torus 5x3, torus 2x7, torus 3x1x4, "
        "torus 3x2x5x2, grid 5x3, grid 2x3x4, grid 7x1x2, hypercube 4, star 6, tree 11/2, "
        "tree 17/3, tree 7/1, tree 9/100",
        MEDIUM,
        BOTH,
        [131],
    ),
    # fewer balls than servers
    (
        4,
        "complete 23, ring 23, torus 5x7, grid 5x5, hypercube 5, tree 19/2",
        "pot, choices 3, unif 2, invsq 3, edge, left 3, beta 0.9",
        BOTH,
        [1, 2, 17],
    ),
    # several blocks of 2048, whole and not
    (
        18446744073709551615,
        "complete 53, ring 101, line 31, torus 7x11, grid 7x5, hypercube 6, star 20, tree 40/2",
        "one-choice, pot, choices 2, choices 3, distinct 3, unif 3, unif-self 2, invsq 4, edge, "
        "left 4, beta 0.25",
        BOTH,
        [2048, 4097],
    ),
    # loads of two and four bytes, beyond the exact bins
    (
        5,
        "complete 7, ring 7, grid 3x2",
        "pot, choices 2, unif 1, invsq 2, left 2",
        ["fair"],
        [1000, 70001, 600000],
    ),
]


def compile_naive(folder):
    out = str(pathlib.Path(folder) / "naive")
    flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-I", str(HERE.parent.parent / "src")]
    subprocess.run(["cc", *flags, str(HERE / "naive.c"), "-o", out], check=True)
    return out


def play(program, folder, seed, axes):
    """The result file of a job, open."""
    path = pathlib.Path(folder) / f"{seed}.yaml"
    text = [f"model: balls\nseed: {seed}\nreplications: {REPLICATIONS}\ntopology:"]
    text += [f"  - {t}" for t in axes[0]] + ["policy:"] + [f"  - {p}" for p in axes[1]]
    text += [f"ties: [{', '.join(axes[2])}]", f"balls: [{', '.join(map(str, axes[3]))}]"]
    path.write_text("\n".join(text) + "\nkeep: [rows, server-loads]\n")
    command = [program, "run", str(path), "-o", f"{path}.h5", "--progress", "none"]
    done = subprocess.run(
        command + ["--threads", "1"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"job {seed} ends with {done.returncode}: {done.stderr.strip()}")
    return h5py.File(f"{path}.h5", "r")


def bits(numbers):
    return [struct.pack("<d", x) for x in numbers]


def first_difference(have, expected):
    at = next(i for i in range(len(have)) if have[i] != expected[i])
    return f"{have[at]} at {at}, naively {expected[at]}"


def binned(f, coordinate, counts):
    """Counts by exact value in the bins of the file."""
    lower = f[coordinate][:]
    out = np.zeros(len(lower), dtype=np.uint64)
    np.add.at(out, np.searchsorted(lower, np.arange(len(counts)), "right") - 1, counts)
    return out


def compare(naive, f, point, setting):
    """What differs, in a sentence; None when nothing does."""
    seed, topology, policy, ties, balls = setting
    names = [f[v].asstr()[point] for v in ("topology", "policy", "ties")]
    if names != [topology.split(":")[0], policy.split(":")[0], ties]:
        return f"is {names} in the file"
    command = [naive, str(seed), topology, policy, ties, str(balls), "0", str(REPLICATIONS)]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode != 0:
        return f"stops the naive program: {out.stderr.strip()}"
    lines = [line.split() for line in out.stdout.splitlines()]
    for line in (line for line in lines if line[0] == "row"):
        for name, its in zip(ROWS, (float(x) for x in line[2:9])):
            mine = f[name][point, int(line[1])]
            if bits([mine]) != bits([its]):
                return f"replication {line[1]}: {name} is {mine!r}, naively {its!r}"
    sums = {line[0]: [int(x) for x in line[1:]] for line in lines if line[0] != "row"}
    for variable, coordinate, key in (("hop_count", "hop", "hops"), ("load_count", "load", "loads")):
        have, expected = f[variable][point], binned(f, coordinate, sums[key])
        if not np.array_equal(have, expected):
            return f"{variable} is {first_difference(have, expected)}"
    if int(f["hop_count"][point].sum()) != balls * REPLICATIONS:
        return "hop_count does not add up to the balls"
    servers = [x / REPLICATIONS for x in sums["servers"]]
    if bits(f["server_load"][point, : len(servers)]) != bits(servers):
        return f"server_load is {first_difference(f['server_load'][point], servers)}"
    return None


def main(argv):
    passed, failed = 0, 0
    program = os.path.abspath(argv[1])
    with tempfile.TemporaryDirectory() as folder:
        naive = os.path.abspath(argv[2]) if len(argv) > 2 else compile_naive(folder)
        for seed, where, how, ties, balls in JOBS:
            axes = (topologies(where), policies(how), ties, balls)
            with play(program, folder, seed, axes) as f:
                for point, setting in enumerate(itertools.product(*axes)):
                    what = compare(naive, f, point, (seed,) + setting)
                    passed += what is None
                    if what is not None:
                        failed += 1
                        print(f"FAILED: {' | '.join(map(str, setting))}, seed {seed}: {what}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
