# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of laws.py: maximum loads, fluid limits and an independent simulator's numbers."""
import math

import numpy as np

from _simulate import Outcome
from _suite import Suite, topology_of
from theory_check import theory

MOST = 400_000  # replications


def max_load(suite: Suite) -> None:
    """static.maxload: one choice up to 4e6 bins (200 replications of the largest: s <= 1 %), d
    choices by count of bins.
    """
    for r in suite.of("static.maxload."):
        p, quantity = r["parameters"], r["id"].split(".")[-1]
        n, m = p["n"], p["m"]
        if quantity == "poisson_cdf":
            continue  # an approximation: theory_check.py
        if ".one." in r["id"]:
            replications = max(200, min(MOST, 200_000_000 // m))
            if quantity == "pmf":
                pmf = theory.one_choice_max_pmf(n, m, max(p["support"]) + 4)
                pmf[p["support"]] = r["value"]
                pmf[pmf < 1e-12] = 0

                def then(o, name, r=r, pmf=pmf):
                    suite.cmp.counts(f"{r['id']} {name}", o.max_count, pmf / pmf.sum())

            else:

                def then(o, name, r=r):
                    suite.cmp.mean(
                        f"{r['id']} {name}",
                        o.mean["max_load"],
                        o.se["max_load"],
                        r["value"],
                        tolerance=1e-6,
                        power=0.01 * r["value"],
                    )

            suite.want(f"complete: {{n: {n}}}", "one-choice", m, replications, then)
            continue
        policies = [
            f"choices: {{d: {p['d']}{', distinct: true' if p['choices'] == 'distinct' else ''}}}"
        ]
        policies += ["pot"] if p["d"] == 2 and p["choices"] == "distinct" else []
        replications = min(MOST, 80_000_000 // m)
        for policy in policies:
            suite.want(
                f"complete: {{n: {n}}}",
                policy,
                m,
                replications,
                lambda o, name, r=r: _choices_record(suite, o, name, r),
                keep="rows",
            )
    for n, m, k_max in ((100, 300, 20), (1000, 1000, 12), (37, 5, 5), (500, 5000, 40)):
        pmf = theory.one_choice_max_pmf(n, m, k_max)
        for method in ("servers", "occupancy"):
            suite.want(
                f"complete: {{n: {n}}}",
                "one-choice",
                m,
                min(MOST, 100_000_000 // m),
                lambda o, name, pmf=pmf: suite.cmp.counts(f"{name} max load", o.max_count, pmf),
                method=method,
            )
    for n, m, d, distinct in (
        (100, 120, 2, False),
        (100, 120, 2, True),
        (300, 150, 3, True),
        (1000, 900, 2, False),
    ):
        cdf = [theory.choices_max_cdf(n, m, d, k, distinct) for k in (2, 3)]
        two, three = theory.choices_tail(n, m, d, distinct)[1:]
        for method in ("servers", "occupancy"):

            def then(o, name, cdf=cdf, two=two, three=three):
                _below(suite, o, name, cdf)
                _tails(suite, o, name, two, three)

            suite.want(
                f"complete: {{n: {n}}}",
                f"choices: {{d: {d}, distinct: {str(distinct).lower()}}}",
                m,
                min(MOST, 80_000_000 // m),
                then,
                method=method,
                keep="rows",
            )


def _below(suite: Suite, o: Outcome, name: str, cdf: list[float]) -> None:
    """Max load <= 2, = 3, > 3 as three cells."""
    counts = np.array([o.max_count[:3].sum(), o.max_count[3:4].sum(), o.max_count[4:].sum()])
    suite.cmp.counts(
        f"{name} max load",
        counts,
        np.array([cdf[0], max(cdf[1] - cdf[0], 0), max(1 - cdf[1], 1e-12)]),
    )


def _tails(suite: Suite, o: Outcome, name: str, two: float, three: float) -> None:
    """E[N_{>=k} | max <= 3]; bins of load 3 can be so rare that their number is a Poisson count."""
    suite.cmp.mean(f"{name} bins >= 2", *o.tails[2], two)
    if three * o.replications < 1000:
        suite.cmp.rare(
            f"{name} bins >= 3",
            o.tails[3][0] * o.max_count[:4].sum(),
            three * o.max_count[:4].sum(),
        )
    else:
        suite.cmp.mean(
            f"{name} bins >= 3",
            *o.tails[3],
            three,
            power=max(0.002 * three, 2 * math.sqrt(three / o.replications)),
        )


def _choices_record(suite: Suite, o: Outcome, name: str, r: dict) -> None:
    name = f"{r['id']} {name}"
    if r["id"].endswith("cdf23"):
        _below(suite, o, name, r["value"])
    else:
        _tails(suite, o, name, *r["value"])


def fluid(suite: Suite) -> None:
    """static.fluid and other parameters: n = 65520 servers (divisible by 2, 3, 4, 5), where the
    fluid limit is off by less than 2/n; 100 replications give s_k to 2e-4 or better."""
    n, cases = 65520, {}
    for r in suite.of("static.fluid."):
        p = r["parameters"]
        if r["id"].endswith(".groups") or ".arcs." in r["id"]:
            continue  # theory_check.py, _points.py
        d = p.get("d", 1)
        policy = (
            f"left: {{d: {d}}}"
            if ".left" in r["id"]
            else f"one-plus-beta: {{beta: {p['beta']}}}"
            if "beta" in p
            else "one-choice"
            if d == 1
            else f"choices: {{d: {d}}}"
        )
        cases[r["id"], policy, p["balls_per_bin"]] = dict(zip(p["support"], r["value"]))
    for policy, c, tail in (
        ("choices: {d: 5}", 3, theory.fluid_choices(5, 3, 8)),
        ("choices: {d: 2}", 0.5, theory.fluid_choices(2, 0.5, 5)),
        ("choices: {d: 3}", 16, theory.fluid_choices(3, 16, 22)),
        ("pot", 3, theory.fluid_choices(2, 3, 8)),
        ("one-plus-beta: {beta: 1/2}", 2, theory.fluid_one_plus_beta(0.5, 2, 14)),
        ("left: {d: 5}", 2, theory.fluid_left(5, 2, 7).mean(axis=0)),
        ("left: {d: 2}", 2, theory.fluid_left(2, 2, 8).mean(axis=0)),
    ):
        cases["theory", policy, c] = dict(enumerate(tail))
    for (name, policy, c), tail in cases.items():
        methods = ("servers",) if policy.startswith("left") else ("servers", "occupancy")
        for method in methods:
            suite.want(
                f"complete: {{n: {n}}}",
                policy,
                round(c * n),
                100,
                lambda o, s, name=name, tail=tail: load_tail(suite, o, f"{name} {s}", tail),
                method=method,
            )


def load_tail(
    suite: Suite, o: Outcome, name: str, tail: dict[int, float], tolerance: float = 2
) -> None:
    """Fractions of servers with load >= k against a fluid limit, off by at most `tolerance`/n."""
    at_least = o.load_batch[:, ::-1].cumsum(axis=1)[:, ::-1]
    servers = o.n * o.replications
    for k, s_k in tail.items():
        batch = at_least[:, k] if k < at_least.shape[1] else np.zeros(50)
        if s_k * servers < 100:
            suite.cmp.rare(f"{name} servers with load >= {k}", batch.sum(), s_k * servers)
        elif k > 0:
            x = batch / (servers / 50)
            suite.cmp.mean(
                f"{name} s_{k}",
                x.mean(),
                x.std(ddof=1) / math.sqrt(50),
                s_k,
                tolerance=tolerance / o.n,
                power=max(3e-4, 0.01 * s_k),
                df=49,
            )


def simulated(suite: Suite) -> None:
    """static.sim: an independent simulator's numbers, with its standard errors; ours are no
    larger.
    """
    for r in suite.of("static.sim."):
        if ".arcs" in r["id"]:
            continue  # _points.py
        p, quantity = r["parameters"], r["id"].split(".")[-1]
        left = ".left" in r["id"]
        topology = f"complete: {{n: {p['n']}}}" if left else topology_of(p["graph"])
        suite.want(
            topology,
            f"left: {{d: {p['d']}}}" if left else "unif-pot: {k: 1}",
            p["m"],
            max(p["reps"], 60),
            lambda o, name, r=r, q=quantity: simulated_record(suite, o, f"{r['id']} {name}", r, q),
        )


def simulated_record(suite: Suite, o: Outcome, name: str, r: dict, quantity: str) -> None:
    p = r["parameters"]
    if "support" in p:
        theirs = np.zeros(max(p["support"]) + 1)
        theirs[p["support"]] = np.rint(np.array(r["value"]) * p["reps"])
        suite.cmp.same(name, o.max_count, theirs)
        return
    row = {"gap": "gap", "var": "load_variance"}[quantity]
    suite.cmp.mean(name, o.mean[row], math.hypot(o.se[row], r["se"]), r["value"], power=2 * r["se"])
