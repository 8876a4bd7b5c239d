#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`potluck graph` against breadth-first searches of the files it writes.

usage: graph_command.py PROGRAM
"""
import collections
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHELLS = 12
RANDOM = "erdos-renyi: {n: 400, mean_degree: 2.5}"


class Suite:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), pathlib.Path(folder)
        self.passed = self.failed = 0

    def check(self, good, sentence):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {sentence}", flush=True)

    def job(self, *topologies, policy="one-choice", rest=""):
        lines = "".join(f"  - {t}\n" for t in topologies)
        text = f"seed: 11\nreplications: 4\npolicy: {policy}\ntopology:\n{lines}{rest}"
        (self.folder / "job.yaml").write_text(text)

    def run(self, *options):
        """Exit code, stdout, stderr of `potluck graph job.yaml`."""
        words = [self.program, "graph", "job.yaml", *map(str, options)]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def report(self, *options):
        code, out, err = self.run(*options)
        self.check(code == 0, f"{options} ended with {code}: {err}")
        return out

    def written(self, name, *options):
        self.report("--write", name, *options)
        return (self.folder / name).read_text()


def numbers(report, label):
    """All numbers of the line that begins with `label`."""
    line = re.search(rf"^  {re.escape(label)} +(.*)$", report, re.M)
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", line[1])] if line else None


def shells(report):
    rows = re.findall(r"^ +(\d+) +([\d.e+]+)  ([\d.e+-]+) %$", report, re.M)
    return {int(h): (float(size), float(share)) for h, size, share in rows}


def degrees(report):
    rows = re.findall(r"^ +(\d+)(?: to (\d+))? +(\d+)  #+$", report, re.M)
    return {(int(a), int(b or a)): int(count) for a, b, count in rows}


def read_edges(text):
    """Neighbours of each vertex of a list of edges; one without any stands twice on its line."""
    found = collections.defaultdict(set)
    for line in text.splitlines():
        if not line.startswith("#"):
            a, b = map(int, line.split())
            found[a].update({b} - {a})
            found[b].update({a} - {b})
    return dict(found)


def search(graph, origin):
    hops, queue = {origin: 0}, collections.deque([origin])
    while queue:
        u = queue.popleft()
        for v in graph[u]:
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return hops


def close(a, b, digits=5.0):
    return a is not None and abs(a - b) <= 0.51 * 10 ** (math.floor(math.log10(abs(b) or 1)) - digits + 1)


def check_graph(suite, report, graph, name):
    """Everything that a report says, by hand."""
    n, degree = len(graph), {u: len(v) for u, v in graph.items()}
    count = collections.Counter(degree.values())
    at_distance, hops, pairs, largest, seen, parts = collections.Counter(), 0, 0, 0, set(), []
    for u in graph:
        found = search(graph, u)
        if u not in seen:
            seen |= found.keys()
            parts.append(len(found))
        pairs += len(found) - 1
        hops += sum(found.values())
        largest = max(largest, max(found.values()))
        at_distance.update(found.values())
    edges = sum(degree.values()) // 2
    suite.check(numbers(report, "servers") == [n], f"{name}: servers")
    suite.check(numbers(report, "edges") == [edges], f"{name}: edges")
    said = numbers(report, "neighbours")
    suite.check(said[:2] == [min(count), max(count)] and close(said[2], 2 * edges / n), f"{name}: neighbours {said}")
    table = degrees(report)
    expected = {r: sum(c for d, c in count.items() if r[0] <= d <= r[1]) for r in table}
    suite.check(table == expected and sum(table.values()) == n, f"{name}: servers by neighbours {table}")
    suite.check(numbers(report, "without neighbours") == [count[0]], f"{name}: without neighbours")
    suite.check(numbers(report, "components")[0] == len(parts), f"{name}: components")
    suite.check(len(parts) == 1 or numbers(report, "components")[1] == max(parts), f"{name}: largest component")
    suite.check(abs(numbers(report, "mean distance")[0] - hops / pairs) < 1e-6, f"{name}: mean distance {hops / pairs}")
    suite.check(numbers(report, "largest distance")[0] == largest, f"{name}: largest distance {largest}")
    within, said = 0, shells(report)
    suite.check(set(said) == set(range(1, min(largest, SHELLS) + 1)), f"{name}: shells {sorted(said)}")
    for h, (size, share) in said.items():
        within += at_distance[h] / n
        good = close(size, at_distance[h] / n) and close(share, 100 * within / (n - 1), 3)
        suite.check(good, f"{name}: {size} servers at distance {h}, {share} % within")


def test_families(suite):
    families = {
        "ring: {n: 21}": None,
        "line: {n: 9}": None,
        "torus: {sides: 6x7}": None,
        "grid: {sides: 4x3x2}": None,
        "complete: {n: 12}": None,
        "hypercube: {dim: 5}": None,
        "star: {n: 9}": None,
        "tree: {n: 30, children: 3}": None,
        "named: {name: petersen}": None,
        RANDOM: None,
        RANDOM[:-1] + ", connect: largest}": None,
        "barabasi-albert: {n: 300, m: 2}": None,
    }
    for family in families:
        suite.job(family)
        text = suite.written("net.edges", "--force")
        check_graph(suite, suite.report(), read_edges(text), family)
    suite.job(*families)
    parts = suite.report().split("\n\n")
    suite.check(len(parts) == len(families), f"{len(parts)} reports of {len(families)} topologies")
    for i, (part, family) in enumerate(zip(parts, families)):
        suite.check(part.startswith(family.split(" ")[0]), f"the order of topologies: {family}")
        suite.check(suite.report("--only", i).strip() == part.strip(), f"--only {i} is the report of {family}")


def test_by_formula(suite):
    suite.job("complete: {n: 100000}", "torus: {sides: 5000x5000}")
    complete, torus = suite.report().split("\n\n")
    suite.check("formulas only" in complete and numbers(complete, "neighbours") == [99999], "a large complete graph")
    suite.check("formulas only" in torus and numbers(torus, "neighbours") == [4], "a large torus")
    suite.check(shells(torus)[12][0] == 48 and numbers(torus, "largest distance") == [5000], "shells of a large torus")
    code, _, err = suite.run("--only", 0, "--write", "large.edges")
    suite.check(code == 2 and "too large to be written" in err, f"a graph that is not built is not written: {err}")


def test_long_distances(suite):
    """Every server of this graph sees the same, so a sample of origins is as good as all."""
    n = 6000
    suite.job(f"watts-strogatz: {{n: {n}, neighbours: 2, rewire: 0}}")
    report = suite.report()
    mean = sum((min(d, n - d) + 1) // 2 for d in range(1, n)) / (n - 1)
    said = numbers(report, "mean distance")
    suite.check(abs(said[0] - mean) < 1e-4 and said[1] == 0, f"mean distance {said}, not {mean}")
    suite.check("200 evenly spread origins" in report, "a sample says so")
    suite.check(numbers(report, "largest distance")[0] == n // 4, "the largest distance of a long graph")
    suite.check(set(shells(report)) == set(range(1, 13)) and shells(report)[12][0] == 4, "shells of a long graph")


def test_random(suite):
    suite.job(RANDOM)
    first = suite.written("first", "--force")
    suite.check(suite.written("again") == first, "the same graph each time")
    suite.check(suite.written("zero", "--only", "0:0") == first, "replication 0 is the default")
    other = suite.written("other", "--only", "0:3")
    suite.check(other != first, "another replication, another graph")
    suite.check("replication            3;" in suite.report("--only", "0:3"), "the replication is named")
    suite.job(RANDOM[:-1] + ", graphs: per-point}")
    one = suite.written("one", "--only", "0:3")
    suite.check(suite.written("one-too") == one, "one graph for all replications")
    suite.check("replication" not in suite.report("--only", "0:3"), "and no replication is named")
    suite.job(RANDOM, policy="[one-choice, {unif-pot: {k: 1}}]")
    suite.check(suite.report().count("erdos-renyi") == 1, "a topology of two policies is shown once")
    suite.check(suite.written("policy", "--only", 1) == first, "policies meet the same graph")
    suite.job(RANDOM, rest="common: false\n")
    suite.check(suite.written("uncommon") != first, "common: false has words of its own")


def test_read_back(suite):
    """A graph that is written and read is the same graph."""
    for family in ("ring: {n: 21}", RANDOM, "star: {n: 9}"):
        suite.job(family)
        body = suite.report().split("servers", 1)[1].replace("; by formula", "").replace(" (by formula)", "")
        edges = suite.written("net.edges", "--force").split("\n", 1)[1]
        for name in ("back.edges", "back.graphml", "back.gml", "back.net", "back.paj"):
            suite.job(family)
            suite.written(name, "--force")
            suite.job(f"file: {{path: {name}}}")
            suite.check(suite.report().split("servers", 1)[1] == body, f"{name} of {family} says the same")
            same = suite.written("twice.edges", "--force").split("\n", 1)[1] == edges
            suite.check(same, f"{name} of {family} has the same edges")


def test_points(suite):
    for wrap in (True, False):
        suite.job(f"plane: {{n: 150, torus: {str(wrap).lower()}}}", policy="nearest")
        lines = suite.written("points", "--force").splitlines()
        points = [tuple(map(float, x.split())) for x in lines if not x.startswith("#")]
        side = (lambda d: min(abs(d), 1 - abs(d))) if wrap else abs
        near = [min(math.hypot(side(a - c), side(b - d)) for j, (c, d) in enumerate(points) if i != j)
                for i, (a, b) in enumerate(points)]
        said = numbers(suite.report(), "nearest neighbour")
        suite.check(close(said[0], sum(near) / len(near)) and said[1] == 150, f"nearest neighbours {said}")
        suite.check(("wrap-around" if wrap else "borders") in suite.report(), "the square is described")
        suite.job(f"plane: {{servers: file, points: points, torus: {str(wrap).lower()}}}", policy="nearest")
        back = numbers(suite.report(), "nearest neighbour")
        suite.check(back == said, f"points that are read back: {back} instead of {said}")
    suite.job("arcs: {n: 40, virtual: 3}", policy="nearest")
    lines = suite.written("arcs").splitlines()
    ids = [tuple(map(int, x.split())) for x in lines if not x.startswith("#")]
    share = collections.Counter()
    for (before, _), (position, owner) in zip([ids[-1]] + ids[:-1], ids):
        share[owner] += (position - before) % 2**64
    said = numbers(suite.report(), "shares")
    suite.check(numbers(suite.report(), "positions") == [len(ids)] == [120], "positions of arcs")
    suite.check(close(said[0], min(share.values()) * 40 / 2**64), f"the smallest share {said}")
    suite.check(close(said[1], max(share.values()) * 40 / 2**64), f"the largest share {said}")
    code, out, err = suite.run("--write", "arcs.gml")
    suite.check(code == 2 and not out and "points are written as a list" in err, f"points in GML: {err}")


def test_mistakes(suite):
    suite.job("ring: {n: 21}", "star: {n: 9}")
    (suite.folder / "there").write_text("precious\n")
    cases = [
        (["--only", "2"], 2, "--only 2: the job has points 0 to 1"),
        (["--only", "0:4"], 2, "--only 0:4: the job has replications 0 to 3"),
        (["--only", "x"], 2, "--only must be POINT or POINT:REPLICATION"),
        (["--write", "new"], 2, "--write takes one topology, the job has 2"),
        (["--write", "there", "--only", "0"], 2, "there exists (--force replaces it)"),
        (["--write", "job.yaml", "--only", "0", "--force"], 2, "would replace the job file"),
        (["--write"], 2, "--write needs a value"),
        (["--force"], 2, "--force has a meaning only with --write"),
        (["-o", "x"], 2, "-o is an option of run, not of graph"),
        (["--write", "none/new", "--only", "0"], 1, "cannot write 'none/new'"),
    ]
    for options, code, words in cases:
        got, out, err = suite.run(*options)
        good = got == code and words in err and (code == 1 or not out)
        suite.check(good, f"{options} ended with {got}: {err}")
    suite.check((suite.folder / "there").read_text() == "precious\n", "an existing file stays")
    suite.report("--write", "there", "--only", "0", "--force")
    suite.check("precious" not in (suite.folder / "there").read_text(), "--force replaces it")
    left = [p.name for p in suite.folder.iterdir() if "tmp" in p.name or p.name == "new"]
    suite.check(not left, f"left behind: {left}")
    (suite.folder / "job.yaml").write_text("model: harness\nreplications: 2\nmilliseconds: 1\n")
    code, _, err = suite.run()
    suite.check(code == 2 and "model harness has no topology" in err, f"a model without a topology: {err}")
    suite.job("erdos-renyi: {n: 400, mean_degree: 1, connect: redraw}")
    code, _, err = suite.run()
    suite.check(code == 2 and "erdos-renyi" in err and "connect" in err, f"a graph that cannot be made: {err}")


def main():
    with tempfile.TemporaryDirectory(prefix="potluck-test-") as folder:
        suite = Suite(sys.argv[1], folder)
        tests = (test_families, test_by_formula, test_long_distances, test_random, test_read_back, test_points, test_mistakes)
        for test in tests:
            test(suite)
    print(f"{suite.passed} passed, {suite.failed} failed")
    return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
