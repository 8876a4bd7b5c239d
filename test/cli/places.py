#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random graphs, networks, the plane and the circle: mistakes about them, the smallest of them, and their largest parts.

usage: places.py PROGRAM
"""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

FILES = {
    "line.txt": "0 1\n1 2\n", "alone.txt": "a a\nb b\nc c\n", "empty.txt": "", "nul.txt": "0 1\n\0\n",
    "edge.gml": "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 7 ] ]\n",
    "edge.net": "*Vertices 2\n*Edges\n1 3\n", "short.graphml": "<graphml><graph><node id='a'/></graph>",
    "points.txt": "0.1 0.2\n0.3 0.4\n0.5 0.5\n", "same.txt": "0.5 0.5\n0.5 0.5\n0.5 0.5\n",
    "half.txt": "0.1\n", "outside.txt": "0.1 0.2\n0.1 1.2\n", "nan.txt": "nan 0\n",
}

# (topology, policy, what follows, [(line, column, words), ...]): the complaints; the topology stands in line 3 from
# column 12 on, the policy in line 4 from column 9 on, what follows in line 5.
ONE_OF = "erdos-renyi takes exactly one of mean_degree, p and edges"
MISTAKES = [
    ("erdos-renyi: {n: 10}", "pot", "", [(3, 12, ONE_OF)]),
    ("erdos-renyi: {n: 10, p: 0.5, edges: 3}", "pot", "", [(3, 48, ONE_OF)]),
    ("erdos-renyi: {n: 10, p: 1.5}", "pot", "", [(3, 36, "'p' must be between 0 and 1, not 1.5")]),
    ("erdos-renyi: {n: 10, p: .nan}", "pot", "", [(3, 36, "'p' must be a number, between 0 and 1, not '.nan'")]),
    ("erdos-renyi: {n: 10, edges: 46}", "pot", "", [(3, 40, "10 servers have at most 45 edges")]),
    ("erdos-renyi: {n: 10, mean_degree: 9.5}", "pot", "", [(3, 46, "at most n-1 = 9 neighbours")]),
    ("erdos-renyi: {n: 10, p: 1, graphs: 3, connect: true}", "pot", "",
     [(3, 47, "one of per-replication, per-point, not '3'"), (3, 59, "one of any, largest, redraw, not 'true'")]),
    ("geometric: {n: 10, radius: 3}", "pot", "", [(3, 39, "'radius' must be between 0 and 2, not 3")]),
    ("geometric: {n: 10, radius: 1, mean_degree: 3}", "pot", "", [(3, 55, "exactly one of radius and mean_degree")]),
    ("geometric: {n: 10, mean_degree: 9}", "pot", "", [(3, 44, "sees beyond the square (give the radius)")]),
    ("barabasi-albert: {n: 3, m: 3}", "pot", "", [(3, 39, "m must be smaller than n, which is 3")]),
    ("barabasi-albert: {n: 3, m: 0}", "pot", "", [(3, 39, "'m' must be between 1")]),
    ("power-law: {n: 10, mean_degree: 5}", "pot", "", [(3, 44, "at most (n-1)/2 = 4.5")]),
    ("power-law: {n: 10, mean_degree: 2, exponent: 1.9}", "pot", "", [(3, 57, "'exponent' must be between 2 and 100")]),
    ("watts-strogatz: {n: 10, neighbours: 5, rewire: 2}", "pot", "", [(3, 59, "'rewire' must be between 0 and 1")]),
    ("watts-strogatz: {n: 10, neighbours: 5, rewire: 0}", "pot", "", [(3, 48, "must be smaller than n, which is 10")]),
    ("regular: {n: 5, degree: 3}", "pot", "", [(3, 36, "n times degree must be even")]),
    ("regular: {n: [4, 5], degree: [2, 3, 4]}", "pot", "", [(3, 45, "must be even"), (3, 48, "smaller than n, which is 4")]),
    ("named: {name: peterson}", "pot", "", [(3, 26, "did you mean 'petersen'?")]),
    ("named: {name: petersen, connect: largest}", "pot", "", [(3, 36, "unknown parameter 'connect' of named")]),
    ("file: {path: none.txt}", "pot", "", [(3, 25, "none.txt cannot be read: No such file or directory")]),
    ("file: {path: empty.txt}", "pot", "", [(3, 25, "it is empty")]),
    ("file: {path: nul.txt}", "pot", "", [(3, 25, "nul.txt:2: a NUL byte")]),
    ("file: {path: line.txt, format: gml}", "pot", "", [(3, 25, "this is not GML")]),
    ("file: {path: edge.gml}", "pot", "", [(3, 25, "edge.gml:1: ")]),
    ("file: {path: edge.net}", "pot", "", [(3, 25, "'3' is no vertex (they are 1 to 2)")]),
    ("file: {path: short.graphml}", "pot", "", [(3, 25, "the file ends before </graphml>")]),
    ("file: {path: line.txt, connect: redraw}", "pot", "", [(3, 44, "'connect' must be one of any, largest")]),
    ("file: {path: line.txt, sha256: abc}", "pot", "", [(3, 35, "unknown parameter 'sha256' of file")]),
    ("plane: {n: 10, servers: grid}", "pot", "", [(3, 23, "no 10 servers (the nearest are 9 and 16)")]),
    ("plane: {servers: grid}", "pot", "", [(3, 12, "n, the number of servers, is missing")]),
    ("plane: {n: 9, points: points.txt}", "pot", "", [(3, 34, "points are for servers: file")]),
    ("plane: {servers: file}", "pot", "", [(3, 12, "servers: file needs points")]),
    ("plane: {servers: file, points: points.txt, n: 5}", "pot", "", [(3, 58, "n is 5, but points.txt has 3 points")]),
    ("plane: {servers: file, points: half.txt}", "pot", "", [(3, 43, "half.txt:1: one number where a point needs two")]),
    ("plane: {servers: file, points: outside.txt}", "pot", "", [(3, 43, "outside.txt:2: '1.2' is no coordinate")]),
    ("plane: {servers: file, points: nan.txt}", "pot", "", [(3, 43, "'nan' is no coordinate")]),
    ("arcs: {n: 10, virtual: 0}", "nearest", "", [(3, 35, "'virtual' must be between 1")]),
    ("arcs: {n: 2147483647, virtual: 2}", "nearest", "", [(3, 43, "are more than 2147483647 together")]),
    ("erdos-renyi: {n: 9, p: 0.3}", "pot", "", [(4, 9, "connect: largest keeps the largest part, connect: redraw")]),
    ("erdos-renyi: {n: 9, p: 0.3, graphs: per-point}", "pot", "", [(4, 9, "connect: redraw draws until")]),
    ("file: {path: alone.txt}", "pot", "", [(4, 9, "connect: largest keeps the largest part, or give a graph in")]),
    ("regular: {n: 10, degree: 0}", "edge", "", [(4, 9, "policy edge needs an edge, and the graph has none")]),
    ("erdos-renyi: {n: 10, edges: 0}", "edge", "", [(4, 9, "policy edge needs an edge, and the graph has none")]),
    ("file: {path: alone.txt}", "edge", "", [(4, 9, "policy edge needs an edge, and the graph has none")]),
    ("file: {path: alone.txt, connect: largest}", "edge", "", [(4, 9, "policy edge needs an edge")]),
    ("file: {path: line.txt}", "{left: {d: 4}}", "", [(4, 20, "4 groups need at least as many servers, there are 3")]),
    ("erdos-renyi: {n: 9, p: 0.3}", "nearest", "", [(4, 9, "policy nearest makes no sense on topology erdos-renyi")]),
    ("ring: {n: 10}", "{bounded: {epsilon: 1}}", "", [(4, 10, "policy bounded makes no sense on topology ring")]),
    ("plane: {n: 10}", "one-choice", "", [(4, 9, "there: choices, pot, unif-pot, invsq-pot, nearest, spot, points")]),
    ("plane: {n: 10}", "{unif-pot: {k: 11}}", "", [(4, 24, "the 11 nearest servers are wanted, but there are 10")]),
    ("plane: {n: 10}", "{invsq-pot: {k: 11}}", "", [(4, 25, "the 11 nearest servers are wanted, but there are 10")]),
    ("plane: {n: 10}", "{unif-pot: {k: 2, self: included}}", "", [(4, 33, "self: included is for graphs")]),
    ("plane: {n: 10}", "{points: {d: 33}}", "", [(4, 22, "'d' must be between 1 and 32, not 33")]),
    ("arcs: {n: 10}", "pot", "", [(4, 9, "there: nearest, spot, points, bounded")]),
    ("arcs: {n: 10}", "bounded", "", [(4, 9, "bounded needs 'epsilon'")]),
    ("arcs: {n: 10}", "{bounded: {epsilon: -1}}", "", [(4, 29, "'epsilon' must be between 0 and 1000000, not -1")]),
    ("ring: {n: 10}", "pot", "ties: smaller-arc", [(5, 7, "needs a circle of servers, topology arcs")]),
    ("arcs: {n: 10}", "nearest", "ties: smaller-arc", [(5, 1, "'ties' makes no difference")]),
    ("ring: {n: 10}", "pot", "distances: exact", [(5, 1, "'distances' makes no difference")]),
    ("named: {name: petersen}", "pot", "distances: sampled", [(5, 12, "sampled needs 'origins'")]),
    ("named: {name: petersen}", "pot", "distances: [exact]", [(5, 12, "takes one value for the whole job, not a list")]),
    ("named: {name: petersen}", "pot", "distances: {sampled: {origins: [1, 2]}}",
     [(5, 12, "'distances' takes one way to measure distances, not a list of values within it")]),
    ("plane: {n: 10}", "spot", "method: occupancy", [(5, 9, "needs topology complete")]),
]

ON_GRAPHS = [
    "one-choice", "unif-pot: {k: 1}", "unif-pot: {k: 3}", "unif-pot: {k: 2, self: included}", "unif-pot: {k: 4000000000}",
    "invsq-pot: {k: 1}", "invsq-pot: {k: 4000000000}",
]
ON_ONE_PART = ["pot", "choices: {d: 2}", "choices: {d: 5}", "left: {d: 1}", "one-plus-beta: {beta: 0.5}"]
ON_THE_PLANE = [
    "nearest", "spot", "pot", "choices: {d: 2}", "unif-pot: {k: 1}", "invsq-pot: {k: 1}", "points: {d: 1}", "points: {d: 3}",
]
ON_THE_CIRCLE = [
    "nearest", "spot", "points: {d: 1}", "points: {d: 3}", "bounded: {epsilon: 0}", "bounded: {epsilon: 0.3}",
    "bounded: {epsilon: 1000000}",
]


class Suite:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)
        self.passed = self.failed = 0
        for name, content in FILES.items():
            (self.folder / name).write_text(content)

    def check(self, good, sentence):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {sentence}", flush=True)

    def job(self, topology, policy, rest="", replications=3, seed=1):
        text = f"replications: {replications}\nseed: {seed}\ntopology: {{{topology}}}\npolicy: {policy}\n{rest}\n"
        (self.folder / "job.yaml").write_text(text)

    def run(self, *words):
        """Exit code, stdout, stderr of the program."""
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def play(self, what):
        """The open result, or None."""
        code, _, err = self.run("run", "job.yaml", "-o", "out.h5", "--force", "--progress", "none", "--threads", "2")
        self.check(code == 0, f"{what}: ended with {code}: {err}")
        return h5py.File(self.folder / "out.h5") if code == 0 else None


def test_mistakes(suite):
    there = sorted(os.listdir(suite.folder)) + ["job.yaml"]
    for topology, policy, rest, expected in MISTAKES:
        suite.job(topology, policy, rest)
        code, out, err = suite.run("run", "job.yaml")
        what = f"{topology} | {policy} | {rest}"
        suite.check(code == 2 and not out, f"{what}: ended with {code}: {out}{err}")
        lines = err.splitlines()
        for line, column, words in expected:
            found = any(x.startswith(f"job.yaml:{line}:{column}: ") and words in x for x in lines)
            suite.check(found, f"{what}: no complaint {line}:{column} {words!r} in {err}")
        suite.check(sorted(os.listdir(suite.folder)) == sorted(there), f"{what}: something was written")


def sound(suite, result, what):
    """Every row is a number within its bounds, and loads are counted whole."""
    with result as f:
        for name in ("max_load", "min_load", "empty", "moved", "gap", "load_variance", "cost", "component"):
            rows = f[name][()] if name in f else np.zeros(1)
            if name == "cost" and f["topology"].asstr()[0] == "arcs":
                continue
            top = 1 if name in ("empty", "moved", "component") else math.inf
            suite.check(np.all((rows >= 0) & (rows <= top)), f"{what}: {name} {rows}")
        suite.check(np.allclose(f["load_fraction"][()].sum(axis=1), 1, rtol=0, atol=1e-12), f"{what}: load_fraction")
        for name, variable in f.items():
            if isinstance(variable, h5py.Dataset):
                suite.check({"units", "long_name"} <= variable.attrs.keys(), f"{what}: {name} has no units or name")


def smallest():
    """(topology, policies, number of servers)"""
    for n in (1, 2, 3):
        graphs = [
            f"erdos-renyi: {{n: {n}, p: 0", f"erdos-renyi: {{n: {n}, p: 1", f"geometric: {{n: {n}, radius: 0.4, torus: true",
            f"power-law: {{n: {n}, mean_degree: {(n - 1) / 2}", f"regular: {{n: {n}, degree: {n - 1}",
        ]
        graphs += [f"barabasi-albert: {{n: {n}"] if n > 1 else []
        graphs += ["watts-strogatz: {n: 3, neighbours: 1, rewire: 1"] if n > 2 else []
        for graph in graphs:
            yield graph + "}", ON_GRAPHS, n
            yield graph + ", connect: largest}", ON_GRAPHS + ON_ONE_PART, n
        for layout in ("per-replication", "per-point"):
            for torus in ("true", "false"):
                yield f"plane: {{n: {n}, torus: {torus}, layout: {layout}}}", ON_THE_PLANE, n
            for virtual in (1, 4):
                yield f"arcs: {{n: {n}, virtual: {virtual}, layout: {layout}}}", ON_THE_CIRCLE, n
    yield "file: {path: alone.txt}", ON_GRAPHS, 3
    yield "file: {path: alone.txt, connect: largest}", ON_GRAPHS + ON_ONE_PART, 1
    yield "plane: {servers: file, points: same.txt}", ON_THE_PLANE, 3
    yield "plane: {n: 4, servers: grid}", ON_THE_PLANE, 4


def test_smallest(suite):
    for topology, policies, n in smallest():
        few = "0.3n, " if n > 1 else ""  # a largest part of one server then gets none
        suite.job(topology, f"[{', '.join(policies)}]", f"balls: [1, {few}10n]")
        result = suite.play(topology)
        if result:
            sound(suite, result, topology)


def component(suite):
    """Servers and edges of the graph of the job, as it is written."""
    code, _, err = suite.run("graph", "job.yaml", "--write", "graph.txt", "--force")
    suite.check(code == 0, f"graph: {err}")
    pairs = re.findall(r"^(\d+) (\d+)$", (suite.folder / "graph.txt").read_text(), re.M)
    return len({x for pair in pairs for x in pair}), sum(a != b for a, b in pairs)


def compare_largest(suite, whole, per_server, what):
    """The rows of one replication by hand, from the loads of its servers."""
    n, edges = component(suite)
    result = suite.play(what)
    if not result:
        return
    with result as f:
        loads = np.sort(f["server_load"][0])[::-1]
        m, load = loads.sum(), loads[:n]
        suite.check(m == int(per_server * n + 0.5) or m == int(per_server * n), f"{what}: {m} balls for {n} servers")
        suite.check(not loads[n:].any(), f"{what}: loads outside the component")
        by_hand = {"component": n / whole, "max_load": load.max(), "min_load": load.min(), "empty": np.mean(load == 0),
                   "gap": load.max() - m / n, "load_variance": np.mean((load - m / n) ** 2),
                   "cost": (f["hop_count"][0] * f["hop"][()]).sum() / max(m, 1)}
        for name, value in by_hand.items():
            suite.check(abs(f[name][0, 0] - value) < 1e-5, f"{what}: {name} {f[name][0, 0]}, by hand {value}")
        for name, total in (("load_count", n), ("degree_count", n), ("hop_count", m), ("degree_load", m), ("degree_jobs", m)):
            suite.check(f[name][0].sum() == total, f"{what}: {name} adds up to {f[name][0].sum()}, not {total}")
        suite.check((f["degree_count"][0] * f["server_degree"][()]).sum() == 2 * edges, f"{what}: degrees of {edges} edges")


def test_largest(suite):
    """Balls per server may round to none at all."""
    for number, family in enumerate(("erdos-renyi: {n: 50, mean_degree: 1.5", "geometric: {n: 80, mean_degree: 3")):
        for policy in ("pot", "{unif-pot: {k: 2}}"):
            for per_server in (0.03, 0.7, 5):
                for seed in (1, 2):
                    suite.job(family + ", connect: largest}", policy, f"balls: {per_server}n\nkeep: server-loads", 1, seed)
                    compare_largest(suite, (50, 80)[number], per_server, f"{family}, {policy}, {per_server}n, seed {seed}")


def main():
    with tempfile.TemporaryDirectory(prefix="potluck-test-") as folder:
        suite = Suite(sys.argv[1], folder)
        for test in (test_mistakes, test_smallest, test_largest):
            test(suite)
    print(f"{suite.passed} passed, {suite.failed} failed")
    return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
