# SPDX-License-Identifier: GPL-3.0-or-later
"""Identities that hold path by path, hence bit for bit: no tolerance, no statistics.

A job is looked at alone with a horizon of one job after a warm-up of `w` jobs, w an axis.
"""
from __future__ import annotations

import numpy as np

from _compare import Comparisons
from _lab import Lab, Run

JOBS, REPLICATIONS = 160, 12
CENTRAL = "round-robin: {scope: central}"
#: What a fixed number of jobs leaves as it is, when time runs at another speed.
LOADS = ("load_time", "load_time_batch", "load_at_origin", "load_at_chosen", "queue_length_path")


def same(cmp: Comparisons, name: str, a: Run, b: Run, but: tuple[str, ...] = ()) -> None:
    """All rows and all histograms of two runs, `but` those whose names begin so."""
    differ = [x for x in a.rows if x not in but and not np.array_equal(a[x], b[x], True)]
    for count in a.counts:
        if not count.startswith(but) and not np.array_equal(a.counts[count], b.counts[count], True):
            differ.append(count)
    cmp.exact(f"{name}: {', '.join(differ) or 'nothing'} differs", len(differ), 0)


def lines(n: int, rho: float, **more) -> dict:
    return {
        "seed": 31415,
        "replications": REPLICATIONS,
        "topology": f"{{complete: {{n: {n}}}}}",
        "lambda": rho,
        "warmup": 50,
        "horizon": 3000,
    } | more


def central_queue(lab: Lab, cmp: Comparisons) -> None:
    """Deterministic services: round robin is one queue in front of all servers, job by job."""
    policies = {"queue": "least-work", "round robin": CENTRAL}
    for n, more in (
        (4, {}),
        (3, {"arrivals": "{erlang: {shape: 2}}", "arrival_scope": "total"}),
        (2, {"arrivals": "{batch: {size: 3}}"}),
        (5, {"arrivals": "{mmpp: {rates: [1.5, 0.5], switch: 0.1}}", "arrival_scope": "total"}),
    ):
        keys = lines(n, 0.85, service="deterministic", horizon=1, warmup=list(range(JOBS)), **more)
        runs = lab.play(policies, keys)
        for row in ("response", "waiting"):
            times = {x: np.array([runs[x, job][row] for job in range(JOBS)]) for x in policies}
            off = np.abs(times["queue"] - times["round robin"]).max(axis=1)
            worst = int(np.argmax(off))
            name = f"central queue, n {n}, {more}: {row} of {JOBS} jobs, worst job {worst}"
            cmp.exact(name, float(off[worst]), 0, 0)
        wait = np.mean([runs["queue", job]["waiting"] > 0 for job in range(JOBS)])
        cmp.exact(f"central queue, n {n}: jobs wait", float(wait > 0.2), 1)


def two_choices(lab: Lab, cmp: Comparisons) -> None:
    """Two servers: both are candidates, so the shorter queue is joined; at a tie, the origin's."""
    policies = {x: x for x in ("jsq", "pot", "unif-pot: {k: 1}", "invsq-pot: {k: 3}")}
    failing = "up: {exponential: {mean: 40}}, down: {exponential: {mean: 2}}"
    for more in (
        {},
        {"service": "{hyperexponential: {scv: 4}}"},
        {"service_rates": "[1, 2]", "arrival_rates": "[1.5, 0.5]"},
        {"arrivals": "{erlang: {shape: 3}}", "redirectable": 0.7},
        {"failures": f"{{alternating: {{{failing}}}}}"},
    ):
        keys = lines(2, 0.8, ties="origin", horizon=20_000, **more)
        runs = lab.play(policies, keys)
        for policy in list(policies)[1:]:
            # jsq looks at the origin of one job in 16 only.
            name = f"two servers, {policy}, {more}"
            same(cmp, name, runs["jsq"], runs[policy], ("load_at_origin",))


def all_rates_twice(lab: Lab, cmp: Comparisons) -> None:
    """Time runs twice as fast: queues are the same bit for bit, times exactly half."""
    policies = {x: x for x in ("pot", CENTRAL, "random", "jsq", "least-work: {d: 2}")}
    down = "down: {{exponential: {{mean: {}}}}}"
    broken = "{{alternating: {{up: {{erlang: {{shape: 2, mean: {}}}}}, " + down + "}}}}"
    modulated = "{{mmpp: {{rates: [1.5, 0.5], switch: {}}}}}"
    for slow, fast in (
        ({}, {}),
        ({"service": "{weibull: {shape: 0.5}}"}, {"service": "{weibull: {shape: 0.5}}"}),
        ({"failures": broken.format(16, 2)}, {"failures": broken.format(8, 1)}),
        ({"arrivals": "{erlang: {shape: 2}}"}, {"arrivals": "{erlang: {shape: 2}}"}),
        (
            {"arrivals": modulated.format(0.1), "arrival_scope": "total"},
            {"arrivals": modulated.format(0.2), "arrival_scope": "total"},
        ),
        ({"arrivals": "{batch: {size: 4}}"}, {"arrivals": "{batch: {size: 4}}"}),
    ):
        usable = {x: y for x, y in policies.items() if "failures" not in slow or "work" not in x}
        runs = lab.play(usable, lines(4, 0.7, service_mean=1, excess=2, **slow))
        twice = lab.play(usable, lines(4, 1.4, service_mean=0.5, excess=1, **fast))
        for policy in usable:
            name, a, b = f"rates twice, {policy}, {slow}", runs[policy], twice[policy]
            differ = [x for x in LOADS if not np.array_equal(a.counts[x], b.counts[x])]
            for row in a.rows:
                power = 0
                if row.startswith(("response", "waiting")):
                    power = 2 if row.endswith("second") else 1
                if not np.array_equal(a[row], b[row] * 2**power, True):
                    differ.append(row)
            cmp.exact(f"{name}: {', '.join(differ) or 'nothing'} differs", len(differ), 0)


def vanishing_failures(lab: Lab, cmp: Comparisons) -> None:
    """Failures that never come leave every bit as it is; `utilisation` is measured otherwise."""
    rare = "up: {exponential: {mean: 1e12}}, down: {exponential: {mean: 1e-6}}"
    policies = {x: x for x in ("pot", CENTRAL, "permuted", "random", "jsq", "jiq")}
    for more in ({}, {"service": "{erlang: {shape: 2}}", "arrivals": "{erlang: {shape: 2}}"}):
        keys = lines(4, 0.8, **more)
        plain = lab.play(policies, keys)
        for kind in ("", ", resume: repeat", ", while_idle: false", ", start: all-up"):
            if "repeat" in kind and more:
                continue  # whether that is stable, no rule says
            runs = lab.play(policies, keys | {"failures": f"{{alternating: {{{rare}{kind}}}}}"})
            for policy in policies:
                name = f"no failures, {policy}, {more}{kind}"
                same(cmp, name, plain[policy], runs[policy], ("utilisation",))
                off = np.abs(plain[policy]["utilisation"] - runs[policy]["utilisation"]).max()
                cmp.exact(f"{name}: utilisation", float(off), 0, 0.03)


def everybody(lab: Lab, cmp: Comparisons) -> None:
    """Where all are neighbours, the nearby choice is `pot`."""
    policies = {"pot": "pot", "near": "unif-pot: {k: 1}"}
    for ties in ("fair", "origin"):
        runs = lab.play(policies, lines(9, 0.9, ties=ties))
        same(cmp, f"everybody is near, ties {ties}", runs["pot"], runs["near"])


def sample_paths(lab: Lab, cmp: Comparisons) -> None:
    for part in (central_queue, two_choices, all_rates_twice, vanishing_failures, everybody):
        part(lab, cmp)
