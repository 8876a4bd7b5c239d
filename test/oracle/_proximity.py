# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of laws.py: where jobs go and what it costs, and a published setting."""
import math

import numpy as np

from _suite import Suite, policy_text
from theory_check import theory


def hop_laws(suite: Suite) -> None:
    """nbhd: distances of the candidate. With fair ties on a vertex-transitive graph a job moves
    with probability 1/2 whatever the distance, so hops of moved jobs have the candidate's law and
    are independent.
    """
    for r in suite.of("nbhd."):
        p = r["parameters"]
        policy = f"{'invsq-pot' if '.invsq.' in r['id'] else 'unif-pot'}: {{k: {p['k']}}}"
        topology = "ring: {n: 101}" if p["graph"].startswith("ring") else "torus: {sides: 17x19}"

        def then(o, name, r=r, p=p):
            law = np.zeros(max(p["support"]) + 1)
            law[p["support"]] = r["value"]
            suite.cmp.counts(
                f"{r['id']} {name}", np.concatenate([[0], o.hop_count[1:]]), law / law.sum()
            )

        suite.want(topology, policy, 1000, 2000, then)
    for kind, size, ks in (
        ("ring", {"n": 10}, (1, 4, 5, 7)),
        ("ring", {"n": 11}, (3, 5, 9)),
        ("torus", {"sides": "5x8"}, (1, 3, 5, 20)),
        ("torus", {"sides": "3x4x5"}, (1, 2, 4)),
        ("torus", {"sides": "2x2x7"}, (1, 3)),
        ("torus", {"sides": "101x103"}, (10, 60)),
        ("hypercube", {"dim": 6}, (1, 3, 6)),
        ("hypercube", {"dim": 12}, (6,)),
        ("complete", {"n": 6}, (1, 2)),
        ("ring", {"n": 1000}, (20, 499, 500)),
    ):
        shell = theory.shells(kind, **size)
        topology = f"{kind}: {{{', '.join(f'{a}: {b}' for a, b in size.items())}}}"
        cases = [
            (policy_text(p, k, own), theory.moved_law(theory.hop_law(shell, p, k, own)))
            for k in ks
            for p, own in (("unif-pot", False), ("invsq-pot", False), ("unif-pot", True))
        ]
        cases += [
            ("pot", theory.moved_law(theory.hop_law(shell, "pot"))),
            ("edge", np.array([0.5, 0.5])),
        ]
        # Blind to the origin: from anywhere to anywhere.
        cases += [
            (p, shell / shell.sum())
            for p in (
                "choices: {d: 2}",
                "choices: {d: 3, distinct: true}",
                "left: {d: 2}",
                "one-plus-beta: {beta: 0.4}",
            )
        ]
        cases += [("one-choice", np.array([1.0]))]
        # Long runs on the large ring: its farthest hops are rare, and none may be lost.
        replications = 8000 if size.get("n") == 1000 else 2000
        for policy, law in cases:
            suite.want(
                topology, policy, 1500, replications, lambda o, name, law=law: suite.hops(o, name, law)
            )
    # `pot` moves half of the pairs on every connected graph.
    for kind, size in (
        ("star", {"n": 9}),
        ("line", {"n": 30}),
        ("grid", {"sides": "5x7"}),
        ("grid", {"sides": "2x3x4"}),
        ("tree", {"n": 20, "children": 3}),
        ("tree", {"n": 31, "children": 2}),
    ):
        law = theory.moved_law(theory.pot_hop_law(theory.distances(kind, **size)))
        topology = f"{kind}: {{{', '.join(f'{a}: {b}' for a, b in size.items())}}}"
        for policy, q in (("pot", law), ("edge", np.array([0.5, 0.5]))):
            suite.want(topology, policy, 1500, 2000, lambda o, name, q=q: suite.hops(o, name, q))


#: topology, policy, TV, mean max, cost with ties staying at u, fractions of load 0..4: n = m = 10^4
#: (hypercube 4096), an independent simulator with 1000 replications; two thousand for the baseline.
TABLE = [
    (
        "ring: {n: 10000}",
        "unif-pot: {k: 1}",
        0.0291,
        4.08,
        0.209,
        (0.2547, 0.5131, 0.2105, 0.0211, 0.00066),
    ),
    (
        "ring: {n: 10000}",
        "unif-pot: {k: 2}",
        0.0164,
        3.89,
        0.327,
        (0.2473, 0.5220, 0.2143, 0.0161, 0.00023),
    ),
    (
        "ring: {n: 10000}",
        "unif-pot: {k: 5}",
        0.0069,
        3.43,
        0.673,
        (0.2421, 0.5280, 0.2178, 0.0121, 0.00006),
    ),
    (
        "ring: {n: 10000}",
        "unif-pot: {k: 10}",
        0.0035,
        3.23,
        1.246,
        (0.2402, 0.5302, 0.2190, 0.0106, 0.00003),
    ),
    (
        "ring: {n: 10000}",
        "invsq-pot: {k: 2}",
        0.0217,
        4.00,
        0.260,
        (0.2502, 0.5187, 0.2124, 0.0183, 0.00040),
    ),
    (
        "ring: {n: 10000}",
        "invsq-pot: {k: 5}",
        0.0161,
        3.90,
        0.345,
        (0.2471, 0.5223, 0.2144, 0.0160, 0.00025),
    ),
    (
        "ring: {n: 10000}",
        "invsq-pot: {k: 10}",
        0.0142,
        3.85,
        0.423,
        (0.2461, 0.5235, 0.2150, 0.0152, 0.00020),
    ),
    (
        "torus: {sides: 100x100}",
        "unif-pot: {k: 1}",
        0.0144,
        3.80,
        0.219,
        (0.2465, 0.5224, 0.2159, 0.0151, 0.00017),
    ),
    (
        "torus: {sides: 100x100}",
        "unif-pot: {k: 2}",
        0.0055,
        3.31,
        0.375,
        (0.2414, 0.5287, 0.2185, 0.0114, 0.00004),
    ),
    (
        "torus: {sides: 100x100}",
        "unif-pot: {k: 5}",
        0.0010,
        3.10,
        0.837,
        (0.2389, 0.5317, 0.2200, 0.0094, 0.00001),
    ),
    (
        "torus: {sides: 100x100}",
        "invsq-pot: {k: 2}",
        0.0079,
        3.50,
        0.299,
        (0.2427, 0.5273, 0.2176, 0.0124, 0.00007),
    ),
    (
        "torus: {sides: 100x100}",
        "invsq-pot: {k: 5}",
        0.0034,
        3.23,
        0.498,
        (0.2402, 0.5302, 0.2191, 0.0105, 0.00003),
    ),
    (
        "hypercube: {dim: 12}",
        "unif-pot: {k: 1}",
        0.0047,
        3.10,
        0.226,
        (0.2412, 0.5284, 0.2195, 0.0108, 0.00002),
    ),
    ("ring: {n: 10000}", "one-choice", 0.201, 6.65, 0.0, ()),
]
#: The same with u among its own neighbours: TV, mean max, cost with fair ties.
INCLUDED = [
    ("ring: {n: 10000}", 1, 0.079, 4.96, 0.333),
    ("ring: {n: 10000}", 2, 0.048, 4.38, 0.600),
    ("ring: {n: 10000}", 5, 0.022, 4.02, 1.364),
    ("torus: {sides: 100x100}", 1, 0.047, 4.37, 0.400),
    ("torus: {sides: 100x100}", 2, 0.019, 3.97, 0.769),
    ("torus: {sides: 100x100}", 5, 0.004, 3.33, 1.803),
]


def published_table(suite: Suite) -> None:
    """Proximity policies at n = m = 10^4, both tie rules. Tolerances: half of the last digit given,
    and for TV the 3e-4 by which noise lifts the plug-in estimate there; the table's standard
    errors: .016 for the mean maximum.
    """
    for topology, policy, tv, maximum, cost, loads in TABLE:
        balls = 4096 if topology.startswith("hypercube") else 10_000
        for ties in ("fair", "origin"):

            def then(o, name, tv=tv, maximum=maximum, cost=cost, loads=loads, ties=ties):
                digit = 0.0005 if tv > 0.1 else 0.00005
                both = math.sqrt(
                    1 + o.replications / 1000
                )  # their error and ours, in units of ours
                suite.cmp.mean(
                    f"{name} TV",
                    o.point["tv"],
                    math.hypot(o.point["se_tv_cross"], 2e-4),
                    tv,
                    tolerance=3e-4 + digit,
                    power=5e-4,
                )
                suite.cmp.exact(
                    f"{name} cross <= plug-in", max(o.point["tv_cross"] - o.point["tv"], 0), 0
                )
                suite.cmp.mean(
                    f"{name} mean max",
                    o.mean["max_load"],
                    math.hypot(o.se["max_load"], 0.016),
                    maximum,
                    tolerance=0.005,
                    power=0.05,
                )
                if ties == "origin":
                    suite.cmp.mean(
                        f"{name} cost",
                        o.mean["cost"],
                        o.se["cost"] * both,
                        cost,
                        tolerance=0.0005,
                        power=0.002 * max(cost, 0.01),
                    )
                for k, q in enumerate(loads):
                    x = o.load_batch[:, k] / (o.n * o.replications / 50)
                    s = x.std(ddof=1) / math.sqrt(50)
                    suite.cmp.mean(
                        f"{name} fraction of load {k}",
                        x.mean(),
                        s * both,
                        q,
                        tolerance=0.5e-4 if k < 4 else 0.5e-5,
                        power=max(0.002 * q, 1e-4 if k < 4 else 2e-5),
                        df=49,
                    )

            suite.want(topology, policy, balls, 1000, then, ties=ties, baseline="pot")
    for topology, k, tv, maximum, cost in INCLUDED:

        def then(o, name, tv=tv, maximum=maximum, cost=cost):
            suite.cmp.mean(
                f"{name} TV",
                o.point["tv"],
                math.hypot(o.point["se_tv_cross"], 2e-4),
                tv,
                tolerance=8e-4,
                power=5e-4,
            )
            suite.cmp.mean(
                f"{name} mean max",
                o.mean["max_load"],
                math.hypot(o.se["max_load"], 0.02),
                maximum,
                tolerance=0.005,
                power=0.05,
            )
            suite.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], cost, tolerance=0.0005)

        suite.want(
            topology, f"unif-pot: {{k: {k}, self: included}}", 10_000, 1000, then, baseline="pot"
        )
