#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model balls, method servers, against the obvious implementations in naive.c (graphs) and
naive_points.c (plane, circle): the same random words, ball for ball.

usage: naive_check.py PROGRAM [--sanitize]

A case is one point of a job: every replication's row must agree in every bit, and so must the sums
over replications of balls by hops, servers by load and the load of every single server; on graphs
edge by edge, which `potluck graph --write` hands over, also the sums by degree. Where n varies
(connect: largest) rows are scaled integers and may differ by 1e-6.

Not reached: rejected words (with few servers one word in 2^28), loads wider than planned, distances
beyond 4095.
"""
import itertools
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import scipy.sparse.csgraph

HERE = pathlib.Path(__file__).resolve().parent
ROWS = ["max_load", "min_load", "empty", "moved", "gap", "load_variance", "cost"]
REPLICATIONS = 2
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


#: Random and given graphs: seed, topologies as people write them, policies, ties, balls.
GRAPH_POLICIES = (
    "one-choice, unif 1, unif 2, unif-self 1, unif 3, unif-self 5, unif 1000, invsq 1, invsq 2, "
    "invsq 4, invsq 1000"
)
WHOLE = GRAPH_POLICIES + ", pot, choices 2, choices 3, distinct 2, beta 0.4, left 2"
GRAPH_JOBS = [
    (
        11,
        [
            "erdos-renyi: {n: 30, mean_degree: 2}",
            "erdos-renyi: {n: 25, p: 0.1, graphs: per-point}",
            "geometric: {n: 40, radius: 0.15, torus: true}",
            "geometric: {n: 40, mean_degree: 3, graphs: per-point}",
            "watts-strogatz: {n: 21, neighbours: 1, rewire: 0.3}",
            "power-law: {n: 33, mean_degree: 2, exponent: 2.5}",
            "file: {path: two-parts.txt}",
            "erdos-renyi: {n: 1, p: 0.5}",
        ],
        GRAPH_POLICIES,
        BOTH,
        [97],
    ),
    (
        12,
        [
            "named: {name: petersen}",
            "named: {name: zachary}",
            "barabasi-albert: {n: 37, m: 1}",
            "barabasi-albert: {n: 50, m: 3, power: 1.5, connect: redraw}",
            "regular: {n: 20, degree: 3, connect: redraw}",
            "erdos-renyi: {n: 24, edges: 40, connect: redraw, graphs: per-point}",
            "erdos-renyi: {n: 60, mean_degree: 2, connect: largest}",
            "geometric: {n: 60, radius: 0.2, connect: largest, graphs: per-point}",
            "file: {path: names.txt}",
        ],
        WHOLE + ", edge",
        BOTH,
        [131],
    ),
    # nearly everybody is near: neighbours by rejection, also of those who have few
    (
        13,
        [
            "erdos-renyi: {n: 150, mean_degree: 40}",
            "erdos-renyi: {n: 220, mean_degree: 4}",
            "barabasi-albert: {n: 200, m: 2}",
            "regular: {n: 256, degree: 4}",
            "geometric: {n: 190, radius: 0.9, torus: false}",
            "barabasi-albert: {n: 420, m: 1, power: 2}",
        ],
        "unif 2, unif-self 3, unif 6, invsq 3, invsq 9, invsq 1000",
        BOTH,
        [211],
    ),
    # several blocks and windows
    (
        14,
        [
            "regular: {n: 100, degree: 4, connect: redraw}",
            "barabasi-albert: {n: 90, m: 2, graphs: per-point, connect: redraw}",
        ],
        "pot, unif 1, unif 3, unif 8, invsq 2, invsq 9, edge, choices 3",
        BOTH,
        [4097],
    ),
]

PLANE_POLICIES = (
    "nearest, spot, points 1, points 2, points 3, points 5, unif 1, unif 2, unif 3, unif 4, "
    "invsq 1, invsq 2, invsq 4, pot, choices 1, choices 2, choices 3, distinct 2"
)
ARCS_POLICIES = (
    "nearest, spot, points 1, points 2, points 3, points 4, bounded 0, bounded 0.25, bounded 3"
)
#: Servers at points: as before.
POINT_JOBS = [
    (
        21,
        [
            "plane: {n: 4, torus: true}",
            "plane: {n: 5, torus: false}",
            "plane: {n: 37, torus: true}",
            "plane: {n: 41, torus: false, layout: per-point}",
            "plane: {n: 36, servers: grid, torus: true}",
            "plane: {n: 49, servers: grid, torus: false}",
            "plane: {servers: file, points: points.txt, torus: true}",
            "plane: {servers: file, points: points.txt, torus: false}",
        ],
        PLANE_POLICIES,
        BOTH,
        [113],
    ),
    (
        22,
        ["plane: {n: 2}", "plane: {n: 3}"],
        "nearest, spot, points 2, unif 2, invsq 2, pot",
        BOTH,
        [9],
    ),
    (23, ["plane: {n: 1}"], "nearest, spot, points 3, unif 1, pot, choices 2", BOTH, [5]),
    (
        24,
        ["plane: {n: 150}", "plane: {n: 170, torus: false}"],
        "nearest, spot, points 2, points 3, unif 10, unif 60, unif 150, invsq 10, invsq 70, pot",
        BOTH,
        [2100],
    ),
    (
        25,
        [
            "arcs: {n: 1}",
            "arcs: {n: 2}",
            "arcs: {n: 1, virtual: 3}",
            "arcs: {n: 19, virtual: 4}",
            "arcs: {n: 37}",
            "arcs: {n: 37, layout: per-point}",
        ],
        ARCS_POLICIES,
        BOTH + ["smaller-arc"],
        [101],
    ),
    (
        26,
        ["arcs: {n: 150}", "arcs: {n: 40, virtual: 5}"],
        ARCS_POLICIES,
        BOTH + ["smaller-arc"],
        [4097],
    ),
]
FORMS |= {
    "points": "points: {d: %s}",
    "bounded": "bounded: {epsilon: %s}",
}
FILES = {
    "two-parts.txt": "0 1\n1 2\n2 0\n3 4\n4 5\n5 6\n6 3\n3 5\n7 7\n",
    "names.txt": "# names\na b\nb c\nc d\nd a\na c\nd e\ne f\n",
    # the corners of the square and servers at one place are nothing special
    "points.txt": "0 0\n1 1\n0.5 0.5\n0.5 0.5\n.25 .75\n1e-3 .999\n0.1 0.9\n0.7 0.2\n",
}
BY_DEGREE = ["degree_servers", "degree_load", "degree_jobs", "degree_cost"]


def compile_naive(folder, name, sanitize):
    out = str(pathlib.Path(folder) / name)
    flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-I", str(HERE.parent.parent / "src")]
    flags += ["-g", "-fsanitize=address,undefined"] if sanitize else []
    subprocess.run(["cc", *flags, str(HERE / f"{name}.c"), "-lm", "-o", out], check=True)
    return out


def play(program, folder, seed, axes):
    """The job file of the axes, and its result file, open."""
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
    return path, h5py.File(f"{path}.h5", "r")


def resolved(f, key):
    """Canonical texts of the entries of the job, as the file has them: one, or a list."""
    lines = f.attrs["resolved"].splitlines()
    if f"{key}:" not in lines:
        one = next(line for line in lines if line.startswith(f"{key}: "))[len(key) + 2 :]
        return [re.sub(r"^{(.*)}$", r"\1", one)]
    below = itertools.takewhile(lambda x: x.startswith("  - "), lines[lines.index(f"{key}:") + 1 :])
    return [line[4:] for line in below]


def bits(numbers):
    return [struct.pack("<d", x) for x in numbers]


def first_difference(have, expected):
    at = next(i for i in range(len(have)) if have[i] != expected[i])
    return f"{have[at]} at {at}, naively {expected[at]}"


def binned(f, coordinate, counts, where=None):
    """Counts by exact value (or at `where`) in the bins of the file."""
    lower = f[coordinate][:]
    out = np.zeros(len(lower), dtype=np.uint64)
    where = np.arange(len(counts)) if where is None else where
    np.add.at(out, np.searchsorted(lower, where, "right") - 1, np.asarray(counts, np.uint64))
    return out


class Naive:
    """What the naive programs say about one point, summed over replications."""

    def __init__(self):
        self.rows, self.sums, self.degrees, self.components = [], {}, [], []

    def play(self, command):
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        if out.returncode != 0:
            raise RuntimeError(f"stops the naive program: {out.stderr.strip()}")
        for line in out.stdout.splitlines():
            word, *numbers = line.split()
            if word == "row":
                self.rows.append([float(x) for x in numbers[1:]])
            elif word == "degree":
                self.degrees.append([int(x) for x in numbers])
            else:
                counts, have = [int(x) for x in numbers], self.sums.get(word, [])
                size = max(len(counts), len(have))
                self.sums[word] = [
                    sum(part) for part in zip(*(c + [0] * (size - len(c)) for c in (counts, have)))
                ]


def compare(f, point, names, naive, balls):
    """What differs, in a sentence; None when nothing does."""
    topology, policy, ties = names
    there = [f[v].asstr()[point] for v in ("topology", "policy", "ties")]
    if there != [topology.split(":")[0], policy.split(":")[0], ties]:
        return f"is {there} in the file"
    varies = "connect: largest" in topology
    columns = list(ROWS)
    if topology.startswith("arcs"):
        columns += ["max_share", "min_share", "share_variance"]
        if not policy.startswith("bounded"):
            columns.remove("cost")
    for r, its_row in enumerate(naive.rows):
        its = dict(zip(ROWS + ["max_share", "min_share", "share_variance"], its_row))
        its["component"] = naive.components[r] if naive.components else None
        for name in columns + ["component"] * bool(naive.components):
            mine = f[name][point, r]
            close = abs(mine - its[name]) <= (1e-6 if varies else 1e-12)
            if not (close if varies or name == "component" else bits([mine]) == bits([its[name]])):
                return f"replication {r}: {name} is {mine!r}, naively {its[name]!r}"
    sums = [("load_count", "load", naive.sums["loads"])]
    if "hop_count" in f and f["hop_count"][point].any():
        sums.append(("hop_count", "hop", naive.sums["hops"]))
    elif not topology.startswith(("plane", "arcs")):
        return "has no hop_count"
    for variable, coordinate, counts in sums:
        have, expected = f[variable][point], binned(f, coordinate, np.trim_zeros(counts, "b"))
        if not np.array_equal(have, expected):
            return f"{variable} is {first_difference(have, expected)}"
    if topology.startswith("plane") and f["distance_count"][point].sum() != balls * REPLICATIONS:
        return "distance_count does not add up to the balls"
    if naive.degrees:
        table = np.array(naive.degrees)
        have = f["degree_count"][point]
        expected = binned(f, "server_degree", np.ones(len(table)), table[:, 0])
        if not np.array_equal(have, expected):
            return f"degree_count is {first_difference(have, expected)}"
        for variable, counts in zip(BY_DEGREE, [np.ones(len(table)), *table.T[1:]]):
            expected = binned(f, "degree_bin", counts, table[:, 0])
            if not np.array_equal(f[variable][point], expected):
                return f"{variable} is {first_difference(f[variable][point], expected)}"
    if varies:
        return None  # the file has servers by their number in the whole graph
    servers = [x / REPLICATIONS for x in naive.sums["servers"]]
    if bits(f["server_load"][point, : len(servers)]) != bits(servers):
        return f"server_load is {first_difference(f['server_load'][point], servers)}"
    return None


def component(path, topology):
    """Share of the servers in the largest component, of a written graph."""
    edges = np.loadtxt(path, dtype=int, ndmin=2)
    n = edges.max() + 1
    whole = re.search(r"connect: largest", topology) and re.search(r"{n: (\d+)", topology)
    ones = scipy.sparse.coo_matrix((np.ones(len(edges)), edges.T), (n, n))
    labels = scipy.sparse.csgraph.connected_components(ones, directed=False)[1]
    return np.bincount(labels).max() / (int(whole[1]) if whole else n)


def write_graphs(program, job, point, topology):
    """Files of the graphs of a topology, one for each replication, which may be the same."""
    fresh = "graphs: per-replication" in topology
    paths = []
    for r in range(REPLICATIONS if fresh else 1):
        path = f"{job}.{point}.{r}.txt"
        command = [program, "graph", str(job), "--only", f"{point}:{r}", "--write", path]
        subprocess.run(command, capture_output=True, check=True)
        paths.append(path)
    return paths if fresh else paths * REPLICATIONS


def cases_of(program, naive, job, f, sort):
    """(point, names, what the naive program says, balls) of every point of a job."""
    n_topologies, seed = len(resolved(f, "topology")), int(f.attrs["seed"])
    policies_ = resolved(f, "policy")
    per = len(f["point"]) // n_topologies
    ways, balls_ = sort[3], sort[4]
    for t, topology in enumerate(resolved(f, "topology")):
        graphs = []
        if sort[0] == "graph":
            graphs = write_graphs(program, job, t * per, topology)
            components = [component(g, topology) for g in graphs]
        points = re.search(r"points: ([^,@}]+)", topology)
        for i, (policy, ties, balls) in enumerate(itertools.product(policies_, ways, balls_)):
            it = Naive()
            base = [naive[sort[0] == "point"], str(seed), topology, policy, ties, str(balls)]
            if graphs:
                it.components = components
                for r, graph in enumerate(graphs):
                    it.play(base + [str(r), str(r + 1), graph])
            else:
                extra = [str(job.parent / points[1])] if points and points[1] in FILES else []
                it.play(base + ["0", str(REPLICATIONS)] + extra)
            yield t * per + i, (topology, policy, ties), it, balls


def main(argv):
    passed, failed = 0, 0
    program = os.path.abspath(argv[1])
    jobs = [("formula", seed, topologies(where), *rest) for seed, where, *rest in JOBS]
    jobs += [("graph", *job) for job in GRAPH_JOBS] + [("point", *job) for job in POINT_JOBS]
    with tempfile.TemporaryDirectory() as folder:
        sanitize = "--sanitize" in argv
        naive = [compile_naive(folder, name, sanitize) for name in ("naive", "naive_points")]
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        for kind, seed, where, how, ties, balls in jobs:
            path, f = play(program, folder, seed, (where, policies(how), ties, balls))
            with f:
                sort = (kind, seed, where, ties, balls)
                for point, names, it, m in cases_of(program, naive, path, f, sort):
                    what = compare(f, point, names, it, m)
                    passed += what is None
                    if what is not None:
                        failed += 1
                        print(f"FAILED: {' | '.join(names)} | {m} balls, seed {seed}: {what}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
