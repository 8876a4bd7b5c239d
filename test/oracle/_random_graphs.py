# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of laws.py: graphs edge by edge, random ones, named ones and those of users' files."""
import math

import igraph
import numpy as np

from _simulate import Outcome, Setting
from _suite import Suite, policy_text
from theory_check import PETERSEN, graph_distances, places, theory

SMALL = 300_000  # replications of systems of at most ten servers: P is known to 1e-3
BATCHES = 15  # samples of random graphs whose spread gives standard errors


def edges_text(distance: np.ndarray) -> str:
    """A file of edges, from distances."""
    n = len(distance)
    return "".join(f"{u} {v}\n" for u in range(n) for v in range(u + 1, n) if distance[u, v] == 1)


def files(suite: Suite) -> None:
    """static.graph once more: the same graphs as files, so that no formula samples them."""
    for r in suite.of("static.graph."):
        p = r["parameters"]
        suite.sim.files[f"{p['graph']}.txt"] = edges_text(graph_distances(p["graph"]))
        policy = {"vertex": "unif-pot", "invsq": "invsq-pot", "edge": "edge"}[p["law"]]
        suite.want(
            f"file: {{path: {p['graph']}.txt}}",
            policy_text(policy, p["khop"], False),
            p["m"],
            SMALL,
            lambda o, name, r=r: suite.record(o, name, r),
            ties={"random": "fair", "home": "origin"}[p["tie"]],
            keep="servers",
        )


#: One graph for all replications, whatever it turns out to be; whether it is connected for sure.
TINY = [
    ("erdos-renyi: {n: 7, p: 0.25, graphs: per-point}", False),
    ("erdos-renyi: {n: 7, edges: 9, graphs: per-point, connect: redraw}", True),
    ("barabasi-albert: {n: 8, m: 1, graphs: per-point}", True),
    ("geometric: {n: 8, radius: 0.3, torus: true, graphs: per-point}", False),
    (
        "watts-strogatz: {n: 8, neighbours: 2, rewire: 0.3, graphs: per-point, connect: redraw}",
        True,
    ),
    ("regular: {n: 8, degree: 3, graphs: per-point, connect: redraw}", True),
]


def tiny_graphs(suite: Suite) -> None:
    """Loads and costs of random graphs of few servers, each against the exact law of the very graph
    that `potluck graph --write` shows.
    """
    for topology, whole in TINY:
        cases = [("unif-pot", 1, False), ("unif-pot", 2, True), ("invsq-pot", 3, False)]
        cases += [("pot", 0, False), ("edge", 0, False)] if whole else []
        for policy, k, own in cases:
            for ties in ("fair", "origin"):
                setting = suite.setting(
                    topology,
                    policy_text(policy, k, own),
                    8,
                    SMALL,
                    ties=ties,
                    keep="servers",
                    variant=suite.alone(),
                )
                edges = suite.sim.graph(setting)
                d = theory.graph_distances(1 + max(max(e) for e in edges), edges)
                law = theory.labelled_chain(
                    8, theory.pair_law(d, policy, k, own), ties, np.where(np.isinf(d), 0, d)
                )
                suite.add(setting, lambda o, name, law=law: suite.law(o, name, law))


def sampled(suite: Suite, topology: str, replications: int, then) -> None:
    """then(name, degree counts of each of BATCHES independent samples, one graph's servers)."""
    settings = [
        suite.setting(topology, "one-choice", 1, -(-replications // BATCHES), variant=i + 1)
        for i in range(BATCHES)
    ]

    def compare(outcomes: list[Outcome]) -> None:
        size = max(len(o.degree_count) for o in outcomes)
        counts = np.zeros((BATCHES, size))
        for row, o in zip(counts, outcomes):
            row[: len(o.degree_count)] = o.degree_count
        then(f"[{topology}]", counts / outcomes[0].replications, outcomes[0].n)

    suite.together(settings, compare)


def batch_mean(
    suite: Suite, name: str, values: np.ndarray, expected: float, tolerance: float = 1e-9
) -> None:
    suite.cmp.mean(
        name,
        values.mean(),
        values.std(ddof=1) / math.sqrt(BATCHES),
        expected,
        tolerance=tolerance,
        power=0.01 * expected + 4e-4,
        df=BATCHES - 1,
    )


def degree_law(suite: Suite, law: np.ndarray, slack: float = 0.0):
    """Compares the share of servers of each degree; `slack`/n: what a limit may be off."""

    def then(name: str, counts: np.ndarray, n: int) -> None:
        for k, q in enumerate(law):
            mine = counts[:, k] if k < counts.shape[1] else np.zeros(BATCHES)
            if q == 0:
                suite.cmp.exact(f"{name} no degree {k}", mine.sum(), 0)
            elif q > 2e-3:
                batch_mean(suite, f"{name} degree {k}", mine / n, q, slack / n + 1e-12)

    return then


def edge_count(suite: Suite, edges: int):
    """Every graph has so many edges."""

    def then(name: str, counts: np.ndarray, n: int) -> None:
        ends = counts @ np.arange(counts.shape[1])
        suite.cmp.exact(f"{name} edges", np.abs(ends - 2 * edges).max(), 0)
        suite.cmp.exact(f"{name} servers", counts.sum(axis=1).max(), n)

    return then


def mean_degree(suite: Suite, adjacent: float):
    """E[degree] = (n-1) P(adjacent)."""

    def then(name: str, counts: np.ndarray, n: int) -> None:
        degree = counts @ np.arange(counts.shape[1]) / n
        batch_mean(suite, f"{name} mean degree", degree, (n - 1) * adjacent)

    return then


def geometric(n: int, r: float, torus: bool) -> str:
    return f"geometric: {{n: {n}, radius: {r}, torus: {str(torus).lower()}}}"


def generators(suite: Suite) -> None:
    """gen: degrees of random graphs, and other parameters."""
    for r in suite.of("gen."):
        p, (_, kind, *rest) = r["parameters"], r["id"].split(".")
        if kind == "rgg":
            for n in (60, 400):
                topology = geometric(n, p["r"], rest[0] == "torus")
                sampled(suite, topology, 1_000_000 // n, mean_degree(suite, r["value"]))
        elif kind == "ba":
            law = np.zeros(max(p["support"]) + 1)
            law[p["support"]] = r["value"]
            topology = f"barabasi-albert: {{n: 10000, m: {p['m']}}}"
            sampled(suite, topology, 200, degree_law(suite, law, 20))
        else:
            law = np.array(r["value"]) if rest[-1] == "deg" else np.array([r["value"] / p["n"]])
            topology = f"erdos-renyi: {{n: {p['n']}, p: {p['p']}}}"
            sampled(suite, topology, 2_000_000 // p["n"], degree_law(suite, law))
    for n, p in ((2, 0.4), (7, 0.5), (300, 0.013)):
        law = places.erdos_renyi_degree(n, p, min(n - 1, 20))
        sampled(suite, f"erdos-renyi: {{n: {n}, p: {p}}}", 300_000 // n, degree_law(suite, law))
        text = f"erdos-renyi: {{n: {n}, mean_degree: {p * (n - 1):.12g}}}"
        sampled(suite, text, 300_000 // n, degree_law(suite, law))
    for n, edges in ((6, 5), (200, 430)):
        topology = f"erdos-renyi: {{n: {n}, edges: {edges}}}"
        law = places.uniform_graph_degree(n, edges, min(n - 1, 20))
        sampled(suite, topology, 400_000 // n, degree_law(suite, law))
        sampled(suite, topology, 400_000 // n, edge_count(suite, edges))
    for n, r in ((50, 0.13), (200, 0.07)):
        law = places.torus_degree(n, r, 12)
        sampled(suite, geometric(n, r, True), 400_000 // n, degree_law(suite, law))
    for n, r, torus in ((40, 0.6, True), (40, 0.45, False), (30, 1.1, False), (30, 0.9, False)):
        q = places.torus_within(r) if torus else places.square_within(r)
        sampled(suite, geometric(n, r, torus), 10_000, mean_degree(suite, q))
    for torus in ("true", "false"):
        topology = f"geometric: {{n: 120, mean_degree: 9, torus: {torus}}}"
        sampled(suite, topology, 4000, mean_degree(suite, 9 / 119))
    for n in (3, 12, 100):
        law = places.recursive_tree_degrees(n, min(n, 10))
        topology = f"barabasi-albert: {{n: {n}, m: 1}}"
        sampled(suite, topology, 600_000 // n, degree_law(suite, law))
    law = places.barabasi_degree(5, 15)
    sampled(suite, "barabasi-albert: {n: 10000, m: 5}", 200, degree_law(suite, law, 60))
    for topology, edges in (
        ("barabasi-albert: {n: 90, m: 4}", 1 + 2 + 3 + 4 * 86),
        ("watts-strogatz: {n: 90, neighbours: 3, rewire: 0.4}", 270),
        ("power-law: {n: 200, mean_degree: 5, exponent: 2.6}", 500),
        ("regular: {n: 30, degree: 5}", 75),
    ):
        sampled(suite, topology, 1000, edge_count(suite, edges))
    law = (np.arange(8) == 5) * 1.0
    sampled(suite, "regular: {n: 30, degree: 5}", 1000, degree_law(suite, law))


#: Connected graphs of every family.
CONNECTED = [
    "ring: {n: 20}",
    "line: {n: 12}",
    "grid: {sides: 4x5}",
    "torus: {sides: 4x6}",
    "hypercube: {dim: 4}",
    "star: {n: 9}",
    "tree: {n: 15, children: 2}",
    "complete: {n: 8}",
    "named: {name: petersen}",
    "named: {name: zachary}",
    "file: {path: petersen.txt}",
    "erdos-renyi: {n: 24, mean_degree: 4, connect: redraw}",
    "geometric: {n: 20, radius: 0.5, connect: redraw}",
    "barabasi-albert: {n: 24, m: 2}",
    "power-law: {n: 20, mean_degree: 7, exponent: 3, connect: redraw}",
    "watts-strogatz: {n: 24, neighbours: 2, rewire: 0.2, connect: redraw}",
    "regular: {n: 20, degree: 3, connect: redraw}",
    "barabasi-albert: {n: 150, m: 2}",  # neighbours by rejection
]


def everybody_near(suite: Suite) -> None:
    """`unif-pot` that reaches everybody has the law of `pot`, on every connected graph."""
    suite.sim.files["petersen.txt"] = edges_text(theory.graph_distances(10, PETERSEN))
    for topology in CONNECTED:
        settings = [
            suite.setting(topology, policy, 20, 20_000, variant=suite.alone())
            for policy in ("pot", "unif-pot: {k: 1000}")
        ]

        def compare(outcomes: list[Outcome], topology=topology) -> None:
            name = f"[{topology}] pot and unif-pot of everybody"
            one, two = outcomes
            suite.cmp.same(f"{name}, max load", one.max_count, two.max_count)
            for row in ("cost", "load_variance"):
                both = math.hypot(one.se[row], two.se[row])
                suite.cmp.mean(
                    f"{name}, {row}", two.mean[row], both, one.mean[row], power=0.01 * one.mean[row]
                )

        suite.together(settings, compare)


def distances_of(edges: list[tuple[int, int]]) -> np.ndarray:
    """By igraph; loops that stand for lonely vertices do no harm."""
    n = 1 + max(max(e) for e in edges)
    return np.array(igraph.Graph(n=n, edges=edges).distances())


def pot_costs(suite: Suite) -> None:
    """`pot` moves E[dist]/2, given the graph: hop by hop where one graph serves all, and in each of
    a few replications that have their own. `distances: sampled` measures the same.
    """
    for topology in (
        "erdos-renyi: {n: 60, mean_degree: 5, connect: redraw, graphs: per-point}",
        "geometric: {n: 80, radius: 0.25, connect: redraw, graphs: per-point}",
        "barabasi-albert: {n: 150, m: 1, graphs: per-point}",
        "power-law: {n: 50, mean_degree: 8, exponent: 2.5, connect: redraw, graphs: per-point}",
        "watts-strogatz: {n: 100, neighbours: 2, rewire: 0.2, connect: redraw, graphs: per-point}",
        "regular: {n: 100, degree: 3, connect: redraw, graphs: per-point}",
        "named: {name: zachary}",
        "file: {path: lollipop.txt}",
    ):
        suite.sim.files["lollipop.txt"] = "".join(
            f"{a} {b}\n" for a in range(6) for b in range(a + 1, 6)
        ) + "".join(f"{a} {a + 1}\n" for a in range(5, 20))
        for distances in ("", "{sampled: {origins: 300}}"):
            setting = suite.setting(
                topology, "pot", 1500, 1000, distances=distances, variant=suite.alone()
            )
            law = theory.moved_law(theory.pot_hop_law(distances_of(suite.sim.graph(setting))))
            if distances:
                suite.add(setting, lambda o, name, law=law: sampled_cost(suite, o, name, law))
            else:
                suite.add(setting, lambda o, name, law=law: suite.hops(o, name, law))
    for topology in (
        "erdos-renyi: {n: 200, mean_degree: 6, connect: redraw}",
        "barabasi-albert: {n: 300, m: 2}",
        "geometric: {n: 100, radius: 0.3, connect: redraw}",
    ):
        setting = Setting(topology, "pot", 20_000, 4, keep="rows", variant=suite.alone())
        means = [distances_of(suite.sim.graph(setting, r)) for r in range(4)]
        suite.add(setting, lambda o, name, means=means: own_costs(suite, o, name, means))


def sampled_cost(suite: Suite, o: Outcome, name: str, law: np.ndarray) -> None:
    hops = np.arange(len(law))
    mean = float(hops @ law)
    suite.cmp.counts(f"{name} hops measured", o.hop_count, law)
    suite.cmp.exact(f"{name} jobs measured", o.hop_count.sum(), 300 * o.replications)
    s = math.sqrt((hops**2 @ law - mean**2) / o.hop_count.sum())
    suite.cmp.mean(f"{name} cost", o.mean["cost"], s, mean, power=0.01 * mean)
    suite.cmp.mean(f"{name} moved", o.mean["moved"], o.se["moved"], 0.5)


def own_costs(suite: Suite, o: Outcome, name: str, distances: list[np.ndarray]) -> None:
    for r, d in enumerate(distances):
        law = theory.moved_law(theory.pot_hop_law(d))
        hops = np.arange(len(law))
        mean = float(hops @ law)
        s = math.sqrt((hops**2 @ law - mean**2) / 20_000)
        suite.cmp.mean(
            f"{name} cost of replication {r}", o.rows["cost"][r], s, mean, power=0.02 * mean
        )


def star_balance(suite: Suite) -> None:
    """On a star nearly every job chooses between a leaf and the centre, which is soon full: one
    choice, so that total variation to pot is about 0.20.
    """

    def then(o, name):
        suite.cmp.mean(f"{name} TV", o.point["tv"], o.point["se_tv_cross"], 0.20, tolerance=0.003)

    suite.want("star: {n: 10000}", "unif-pot: {k: 1}", 10_000, 200, then, baseline="pot")
