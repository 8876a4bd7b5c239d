# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments from an empty start: when the k-th job is done, at a server and in the whole system.

What may be claimed (Liu and Righter; enumeration_check.py finds no exception among all
assignments): at a uniformly chosen server round robin is soonest in distribution among policies
that give every server one job in each cycle, for every service law and with failures; in the whole
system only for exponential and geometric services.
"""
from __future__ import annotations

import numpy as np
from scipy import stats

from _compare import Comparisons
from _lab import BATCHES, Lab, Run
from _queues import finite
from enumeration_check import GRAIN, Jobs, Law, makespan, played

K = 50
CENTRAL = "round-robin: {scope: central}"
FAILURES = "alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 2.5}}}"
MILD = "discrete: {values: [0.5, 2], probabilities: [2/3, 1/3]}"
COUNTEREXAMPLE = {"in turn": "[0, 1, 0, 1, 0]", "the other way": "[0, 1, 0, 1, 1]"}


def shares(run: Run, which: str) -> np.ndarray:
    """[batch, k, time]: empirical distributions of the k-th completion."""
    return run.counts[f"completion_{which}_cdf_batch"]


def sooner(cmp: Comparisons, name: str, which: str, first: Run, second: Run) -> None:
    """The first run's completions are stochastically sooner at every k and every time of the grid.

    The difference is paired, batch by batch; the worst of all counts m times over (Bonferroni).
    """
    a, b = shares(first, which), shares(second, which)
    middle = (a + b).mean(axis=0) / 2
    telling = (middle > 0.01) & (middle < 0.99)  # else counts are too small for Student's law
    gain = (a - b)[:, telling]
    t = gain.mean(axis=0) / (gain.std(axis=0, ddof=1) / np.sqrt(BATCHES) + 1e-300)
    p = stats.t.cdf(t, BATCHES - 1).min() * telling.sum()
    cmp.exact(f"{name}: points of comparison", float(telling.sum() > 2 * K), 1)
    cmp.chance(f"{name}: sooner everywhere", min(p, 1.0))
    total = gain.mean(axis=1)
    cmp.above(
        f"{name}: sooner on the whole",
        float(total.mean()),
        float(total.std(ddof=1) / np.sqrt(BATCHES)),
        df=BATCHES - 1,
    )


def keys(lab: Lab, n: int, **more) -> dict:
    grid = [round(x, 2) for x in np.linspace(0.5, 1.6 * K, 48)]
    return {
        "seed": 19980713,
        "replications": 8_000 * lab.factor,
        "topology": f"{{complete: {{n: {n}}}}}",
        "lambda": 0.8,
        "transient": f"{{completions: {{jobs: {K}, grid: {grid}}}}}",
        "keep": "means",
    } | more


def at_a_server(lab: Lab, cmp: Comparisons) -> None:
    """E8."""
    policies = {"round robin": CENTRAL, "permuted": "permuted"}
    failing = f"{{{FAILURES}}}"
    for n, name, more in (
        (4, "exponential", {}),
        (4, "hyperexponential", {"service": "{hyperexponential: {scv: 4}}"}),
        (4, "deterministic", {"service": "deterministic"}),
        (3, "two points", {"service": f"{{{MILD}}}", "service_mean": 1}),
        (4, "failing", {"failures": failing}),
        (4, "hyperexponential, failing", {"service": "{hyperexponential: {scv: 4}}"}),
    ):
        if "hyper" in name:
            more = more | {"replications": 25_000 * lab.factor}
        if "failing" in name:
            more = more | {"failures": failing, "lambda": 0.6}
        runs = lab.play(policies, keys(lab, n, **more))
        sooner(cmp, f"E8 {name}", "local", *runs.values())


def of_all(lab: Lab, cmp: Comparisons) -> None:
    """E9."""
    policies = {"round robin": CENTRAL, "permuted": "permuted", "Bernoulli": "random"}
    for n in (2, 4):
        more = {"transient": f"{{completions: {{jobs: {K}, grid: {grid_of_all(n)}}}}}"}
        runs = lab.play(policies, keys(lab, n, **more))
        for other in ("permuted", "Bernoulli"):
            name = f"E9 exponential, n {n}, {other}"
            sooner(cmp, name, "pooled", runs["round robin"], runs[other])
    arrivals = [0, 0.5, 1, 1.5, 2]
    exact = {"in turn": 32 / 243, "the other way": 16 / 81}
    files = {"trace.txt": "".join(f"{t}\n" for t in arrivals)}
    replications = 200_000 * lab.factor
    runs = lab.play(
        {x: f"sequence: {{servers: {y}}}" for x, y in COUNTEREXAMPLE.items()},
        {
            "seed": 5,
            "replications": replications,
            "topology": "{complete: {n: 2}}",
            "arrivals": "{trace: {file: trace.txt}}",
            "service": f"{{{MILD}}}",
            "transient": "{completions: {jobs: 5, grid: [2.5]}}",
            "keep": "means",
        },
        files,
    )
    for name, run in runs.items():
        p, share = exact[name], shares(run, "pooled")[:, 4, 0].mean()
        s = np.sqrt(p * (1 - p) / replications)
        cmp.mean(f"E9 counterexample, {name}", share, s, p, power=0.01 * p)
    ahead = shares(runs["the other way"], "pooled") - shares(runs["in turn"], "pooled")
    ahead = ahead[:, 4, 0]
    s = ahead.std(ddof=1) / np.sqrt(BATCHES)
    cmp.above("E9 counterexample: the order fails", ahead.mean(), s, df=BATCHES - 1)


def grid_of_all(n: int) -> list[float]:
    return [round(x, 2) for x in np.linspace(0.2, 2.2 * K / n, 48)]


def finite_sets(lab: Lab, cmp: Comparisons, records: dict[str, dict]) -> None:
    """E10: the records of enumeration as played by the program: sums of responses and of their
    squares, and the law and the mean of every k-th completion.
    """
    settings: dict[tuple, dict] = {}
    for r in records.values():
        words = r["id"].split(".")
        if words[:2] in (["lr", "enum"], ["lr", "cvd"]):
            policy = words[-1].removesuffix("_EC")
            if policy in ("rr", "bernoulli", "permrr", "central", "distributed"):
                settings.setdefault((*words[1:-1], policy), {})[words[-1]] = r
        elif words[1] == "batch0" and words[-1] == "makespan":
            all_at_once(lab, cmp, r)
        elif words[1] == "geom" and words[-1] != "violations":
            in_slots(lab, cmp, r)
    for words, found in settings.items():
        play_finite(lab, cmp, words, found)


def play_all(lab: Lab, policy: str, service: str, p: dict, arrivals: list, grid: list) -> Run:
    """All jobs of a trace under one policy of a record."""
    words = {"rr": CENTRAL, "bern": "random"}
    return lab.play(
        {policy: words[policy]},
        {
            "seed": 161803,
            "replications": 50_000 * lab.factor,
            "topology": f"{{complete: {{n: {p['n']}}}}}",
            "arrivals": "{trace: {file: trace.txt}}",
            "service": service,
            "transient": f"{{completions: {{jobs: {p['N']}, grid: {grid}}}}}",
            "keep": "means",
        },
        {"trace.txt": "".join(f"{t}\n" for t in arrivals)},
    )[policy]


def all_at_once(lab: Lab, cmp: Comparisons, r: dict) -> None:
    """Exponential jobs that are all there at time 0: when the last is done."""
    p, policy = r["parameters"], r["id"].split(".")[2]
    run = play_all(lab, policy, "exponential", p, [0] * p["N"], [1])
    second = makespan(p["n"], p["N"], policy == "bern", 2)
    s = np.sqrt((second - r["value"] ** 2) / run.replications)
    got = run.counts["completion_pooled"][-1]
    cmp.mean(f"E10 {r['id']}", got, s, r["value"], power=0.01 * r["value"])


def in_slots(lab: Lab, cmp: Comparisons, r: dict) -> None:
    """Geometric services: how many are done by the end of a slot."""
    p, policy = r["parameters"], r["id"].split(".")[3]
    arrivals = [slot for slot, jobs in enumerate(p["arrivals_per_slot"]) for _ in range(jobs)]
    law = f"{{geometric: {{mean: {1 / p['p']}}}}}"
    run = play_all(lab, policy, law, p, arrivals, [p["slot"] + 1])
    got = shares(run, "pooled").mean(axis=0)[:, 0]
    counts = -np.diff(np.concatenate([[1], got, [0]])) * run.replications
    chances = -np.diff(np.append(r["value"], 0))
    cmp.counts(f"E10 {r['id']}", np.rint(counts), np.maximum(chances, 0))


def exact_law(p: dict, policy: str) -> Law:
    """Of all jobs, from their enumeration."""
    n, count = p["n"], p["N"]
    if "service" in p:
        jobs = Jobs(n, p["arrivals"], *p["service"])
    else:
        downs = p.get("down_scenarios_equally_likely", [[]])
        jobs = Jobs(n, p["arrivals"], p["service_values"], p["service_probs"], downs)
    return played(jobs, policy, n, count)


def play_finite(lab: Lab, cmp: Comparisons, words: tuple, found: dict) -> None:
    p = next(iter(found.values()))["parameters"]
    policy = words[-1]
    setting = finite([*words[:-1], policy], p)
    law = exact_law(p, policy)
    cdf = law.pooled.cumsum(axis=1)
    # Times that tell: every one that has a share of more than a hundredth for some k.
    times = np.flatnonzero((law.pooled > 0.01).any(axis=0))
    grid = (times + 0.5) / GRAIN  # between the times that can occur
    replications = 25_000 * lab.factor
    lines = {
        "seed": 271828,
        "replications": replications,
        "topology": setting.topology,
        "service": f"{{{setting.service}}}" if ":" in setting.service else setting.service,
        "transient": f"{{completions: {{jobs: {p['N']}, grid: {[round(x, 6) for x in grid]}}}}}",
        "keep": "means",
    }
    for line in setting.more:
        key, value = line.split(": ", 1)
        lines[key] = value
    lines["topology"] = f"{{{setting.topology}}}"
    run = lab.play({policy: setting.policy}, lines, dict(setting.files))[policy]
    name = f"E10 {'.'.join(words)}"
    if policy in found:
        for row, expected in zip(("response", "response_second"), found[policy]["value"]):
            got, s = p["N"] * run.mean[row], p["N"] * run.se[row]
            cmp.mean(f"{name}: {row}", got, s, expected, tolerance=1e-5, power=0.02 * expected)
    grain = np.arange(cdf.shape[1]) / GRAIN
    pooled, local = (shares(run, x).mean(axis=0) for x in ("pooled", "local"))
    for k in range(p["N"]):
        mean = law.pooled[k] @ grain
        s = np.sqrt(max(law.pooled[k] @ grain**2 - mean**2, 0) / replications)
        expected = found[f"{policy}_EC"]["value"][k] if f"{policy}_EC" in found else mean
        got = run.counts["completion_pooled"][k]
        cmp.mean(f"{name}: completion {k + 1}", got, s, expected, tolerance=1e-6, power=0.04 * mean)
        counts = np.rint(pooled[k] * replications)
        steps = np.diff(np.concatenate([[0], counts, [replications]]))
        chances = np.diff(np.concatenate([[0.0], cdf[k, times], [1.0]]))
        chances = np.where(chances < 1e-9, 0, chances)
        cmp.counts(f"{name}: law of completion {k + 1}", steps, chances)
    each = law.local.sum(axis=1)
    for k in np.flatnonzero(each > 1 - 1e-9):
        p_k = law.local[k].cumsum()[times]
        # Servers of one replication depend on each other: at most as much as if they were one.
        s = np.sqrt(np.maximum(p_k * (1 - p_k), 0) / replications)
        off = np.abs(local[k] - p_k) / np.maximum(s, 1e-12)
        worst = int(np.where((p_k > 0.001) & (p_k < 0.999), off, 0).argmax())
        cmp.mean(
            f"{name}: share of servers with {k + 1} done by {grid[worst]:.3f}",
            local[k][worst],
            s[worst],
            p_k[worst],
            power=0.02,
        )
