# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of laws.py: systems of at most nine servers, where every state can be enumerated."""
import numpy as np

from _suite import Suite, policy_text, topology_of
from theory_check import theory

SMALL = 800_000  # replications of a record of at most nine servers: P is known to 6e-4
OTHER = 400_000  # of other small systems: 8e-4

SMALL_POLICIES = {
    "one": ["one-choice", "choices: {d: 1}"],
    "d2rep": ["choices: {d: 2}", "one-plus-beta: {beta: 1}"],
    "d2dist": ["choices: {d: 2, distinct: true}", "pot", "unif-pot: {k: 1}"],
    "d3rep": ["choices: {d: 3}"],
    "d3dist": ["choices: {d: 3, distinct: true}"],
    "left2": ["left: {d: 2}"],
}


def small(suite: Suite) -> None:
    """static.small: every policy that has the law of the record's rule, on the complete graph; in CI
    every third record, with one policy after the other in turn.
    """
    for turn, r in enumerate(suite.sample(suite.of("static.small."))):
        p = r["parameters"]
        policies = SMALL_POLICIES[p["rule"]]
        for policy in policies if suite.factor > 1 else [policies[turn % len(policies)]]:
            suite.want(
                f"complete: {{n: {p['n']}}}",
                policy,
                p["m"],
                SMALL,
                lambda o, name, r=r: suite.record(o, name, r),
                keep="rows",
            )


def small_theory(suite: Suite) -> None:
    """Other small systems, and counts of servers by load (method: occupancy) in place of
    servers.
    """
    cases = [
        (3, 7, "one", 1, "one-choice"),
        (3, 7, "replacement", 2, "choices: {d: 2}"),
        (2, 9, "distinct", 2, "pot"),
        (6, 9, "replacement", 4, "choices: {d: 4}"),
        (6, 9, "distinct", 4, "choices: {d: 4, distinct: true}"),
        (5, 11, "distinct", 5, "choices: {d: 5, distinct: true}"),
        (9, 12, "distinct", 2, "pot"),
        (9, 12, "replacement", 3, "choices: {d: 3}"),
        (5, 8, "left", 2, "left: {d: 2}"),
        (7, 9, "left", 3, "left: {d: 3}"),
        (8, 11, "left", 4, "left: {d: 4}"),
        (9, 10, "left", 3, "left: {d: 3}"),
    ]
    for n, m, rule, d, policy in cases:
        law = theory.sorted_chain(n, m, rule, d)
        for method in ("servers", "occupancy") if rule != "left" else ("servers",):
            suite.want(
                f"complete: {{n: {n}}}",
                policy,
                m,
                OTHER,
                lambda o, name, law=law: suite.law(o, name, law),
                method=method,
            )
    for beta in (0.3, 0.75):
        law = theory.sorted_chain(5, 9, "one-plus-beta", beta=beta)
        for method in ("servers", "occupancy"):
            suite.want(
                "complete: {n: 5}",
                f"one-plus-beta: {{beta: {beta}}}",
                9,
                OTHER,
                lambda o, name, law=law: suite.law(o, name, law),
                method=method,
            )
    # Two choices blind to the origin: a job stays where it arrived with probability 1/n, and with
    # `ties: origin` also when the origin is one of two different draws of equal load and would not
    # have won: P(tie)/n more.
    n, m = 5, 8
    tie = np.mean([_equal_pair(theory.sorted_chain(n, t, "replacement", 2)) for t in range(m)])
    for ties, stays in (("fair", 1 / n), ("origin", (1 + tie) / n)):
        suite.want(
            f"complete: {{n: {n}}}",
            "choices: {d: 2}",
            m,
            OTHER,
            lambda o, name, q=1 - stays: suite.cmp.mean(
                f"{name} cost", o.mean["cost"], o.se["cost"], q
            ),
            ties=ties,
        )


def _equal_pair(law: theory.LoadLaw) -> float:
    """P(two independent uniform bins differ and have equal load)."""
    x = law.states
    equal = (x[:, :, None] == x[:, None, :]).sum(axis=(1, 2)) - x.shape[1]
    return float(law.probability @ equal) / x.shape[1] ** 2


def graphs(suite: Suite) -> None:
    """static.graph: two choices on small graphs, both tie rules."""
    for r in suite.sample(suite.of("static.graph.")):
        p = r["parameters"]
        policy = {
            "vertex": f"unif-pot: {{k: {p['khop']}}}",
            "invsq": f"invsq-pot: {{k: {p['khop']}}}",
            "edge": "edge",
        }[p["law"]]
        suite.want(
            topology_of(p["graph"]),
            policy,
            p["m"],
            SMALL,
            lambda o, name, r=r: suite.record(o, name, r),
            ties={"random": "fair", "home": "origin"}[p["tie"]],
            keep="servers",
        )


#: topology of the job language, arguments of theory.distances, balls, (policy, k, u included) ...
GRAPH_CASES = [
    ("ring: {n: 9}", ("ring", {"n": 9}), 9, [("unif-pot", 2, False), ("unif-pot", 1, True)]),
    ("ring: {n: 6}", ("ring", {"n": 6}), 10, [("invsq-pot", 2, False), ("unif-pot", 40, False)]),
    ("ring: {n: 2}", ("ring", {"n": 2}), 9, [("unif-pot", 1, False)]),
    ("ring: {n: 3}", ("ring", {"n": 3}), 7, [("invsq-pot", 1, False), ("edge", 0, False)]),
    (
        "line: {n: 6}",
        ("line", {"n": 6}),
        8,
        [("unif-pot", 2, False), ("invsq-pot", 3, False), ("pot", 0, False)],
    ),
    ("line: {n: 2}", ("line", {"n": 2}), 5, [("edge", 0, False)]),
    (
        "grid: {sides: 2x2x2}",
        ("grid", {"sides": "2x2x2"}),
        9,
        [("unif-pot", 1, False), ("invsq-pot", 2, False)],
    ),
    (
        "grid: {sides: 2x4}",
        ("grid", {"sides": "2x4"}),
        8,
        [("pot", 0, False), ("unif-pot", 2, True), ("edge", 0, False)],
    ),
    (
        "grid: {sides: 1x3x2}",
        ("grid", {"sides": "1x3x2"}),
        9,
        [("invsq-pot", 9, False), ("edge", 0, False)],
    ),
    (
        "torus: {sides: 2x4}",
        ("torus", {"sides": "2x4"}),
        12,
        [("unif-pot", 1, False), ("invsq-pot", 3, False)],
    ),
    (
        "torus: {sides: 1x7}",
        ("torus", {"sides": "1x7"}),
        9,
        [("unif-pot", 1, False), ("invsq-pot", 2, False)],
    ),
    (
        "torus: {sides: 3x3}",
        ("torus", {"sides": "3x3"}),
        9,
        [("unif-pot", 1, True), ("edge", 0, False)],
    ),
    (
        "hypercube: {dim: 3}",
        ("hypercube", {"dim": 3}),
        10,
        [("unif-pot", 2, False), ("invsq-pot", 3, False)],
    ),
    ("hypercube: {dim: 1}", ("hypercube", {"dim": 1}), 6, [("unif-pot", 1, False)]),
    (
        "star: {n: 6}",
        ("star", {"n": 6}),
        8,
        [
            ("unif-pot", 1, False),
            ("invsq-pot", 2, False),
            ("pot", 0, False),
            ("unif-pot", 1, True),
            ("edge", 0, False),
        ],
    ),
    (
        "tree: {n: 7, children: 2}",
        ("tree", {"n": 7, "children": 2}),
        9,
        [
            ("unif-pot", 1, False),
            ("unif-pot", 2, False),
            ("invsq-pot", 4, False),
            ("edge", 0, False),
            ("pot", 0, False),
        ],
    ),
    (
        "tree: {n: 8, children: 3}",
        ("tree", {"n": 8, "children": 3}),
        8,
        [("unif-pot", 1, False), ("invsq-pot", 2, False)],
    ),
    (
        "complete: {n: 5}",
        ("complete", {"n": 5}),
        8,
        [("unif-pot", 3, False), ("invsq-pot", 1, False), ("unif-pot", 1, True)],
    ),
]


def graph_theory(suite: Suite) -> None:
    """Graphs, sides 1 and 2, reaches beyond the diameter and tie rules beyond those of the records;
    loads and costs.
    """
    cases = [(case, pair, ties) for case in GRAPH_CASES for pair in case[3] for ties in ("fair", "origin")]
    for (topology, (kind, size), m, _), (policy, k, own), ties in suite.sample(cases):
        d = theory.distances(kind, **size)
        law = theory.labelled_chain(m, theory.pair_law(d, policy, k, own), ties, d)
        suite.want(
            topology,
            policy_text(policy, k, own),
            m,
            OTHER,
            lambda o, name, law=law: suite.law(o, name, law),
            ties=ties,
            keep="servers",
        )
