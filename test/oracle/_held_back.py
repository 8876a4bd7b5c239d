# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues at settings that no record has: the same formulas with other parameters, services, sizes;
and the records of Pareto services, whose means have no interval.
"""
from __future__ import annotations

import math

import numpy as np

from _lab import Lab, estimate
from _queue_runs import play, target
from _queues import CENTRAL, DISTRIBUTED, TOTAL, Queues, complete, failing
from queue_theory_check import queues as theory
from queue_theory_check import routing

#: Name in the job language, and moments.
LAWS = {
    "erlang: {shape: 3}": ("erlang", {"shape": 3}),
    "hyperexponential: {scv: 3}": ("hyperexponential", {"scv": 3}),
    "lognormal: {scv: 2}": ("lognormal", {"scv": 2}),
    "weibull: {shape: 2}": ("weibull", {"shape": 2}),
    "uniform": ("uniform", {}),
    "discrete: {values: [0.5, 2], probabilities: [2/3, 1/3]}": (
        "discrete",
        {"values": [0.5, 2], "probabilities": [2 / 3, 1 / 3]},
    ),
}


def settings() -> list[tuple[Queues, dict[str, float]]]:
    """What to play, and rows with their exact means."""
    out = []
    for rho, (text, (kind, more)) in zip((0.62, 0.55, 0.45, 0.77, 0.68, 0.73), LAWS.items()):
        law = theory.moments(kind, **more)
        rows = {
            "response": theory.mg1_response(rho, law),
            "waiting": theory.mg1_wait(rho, law),
            "response_second": theory.mg1_response_second(rho, law),
            "queue_length": rho * theory.mg1_response(rho, law),
        }
        out.append((Queues(complete(3), "random", rho, text, rho), rows))
    for n, rho in ((3, 0.66), (7, 0.78)):
        response = theory.round_robin_response(n, rho)
        rows = {"response": response, "response_second": 2 * response**2}
        rows["response_excess"] = response * math.exp(-1 / response)
        out.append((Queues(complete(n), CENTRAL, rho, load=rho), rows))
        wait = theory.mdn_wait(n, rho)
        deterministic = Queues(complete(n), CENTRAL, rho, "deterministic", rho)
        out.append((deterministic, {"waiting": wait, "response": 1 + wait}))
    rho = 0.71
    two_levels = routing.solve(routing.distributed(3, rho, 3), routing.exponential())
    out.append((Queues(complete(3), DISTRIBUTED, rho, load=rho), {"response": two_levels.response}))
    wait = theory.mmc_wait(7, 7 * rho)
    rows = {"waiting": wait, "response": 1 + wait}
    out.append((Queues(complete(7), "least-work", rho, load=rho), rows))
    more = ("arrivals: deterministic", TOTAL)
    rows = {"response": theory.deterministic_random_response(6, rho)}
    out.append((Queues(complete(6), "random", rho, load=rho, more=more), rows))
    more = ("arrivals: {batch: {size: 5}}", TOTAL)
    rows = {"response": theory.batch_random_response(3, 5, rho)}
    out.append((Queues(complete(3), "random", rho, load=rho, more=more), rows))
    return out + broken()


def broken() -> list[tuple[Queues, dict[str, float]]]:
    """Breakdowns."""
    out = []
    fail, repair, lam = 0.05, 0.3, 0.5
    load = lam * (fail + repair) / repair
    more = failing(fail, f"{{exponential: {{mean: {1 / repair!r}}}}}")
    number = theory.mm1_breakdown_number(lam, 1.0, fail, repair)
    rows = {
        "queue_length": number,
        "response": number / lam,
        "occupied": theory.mm1_breakdown_occupied(lam, fail, repair),
        "utilisation": lam,
    }
    out.append((Queues(complete(3), "random", lam, load=load, more=more), rows))
    for while_idle in (True, False):
        fail, mean, lam = 0.2, 0.8, 0.55
        service, down = theory.moments("erlang", shape=3), theory.moments("uniform", mean)
        more = failing(fail, f"{{uniform: {{mean: {mean}}}}}", while_idle)
        rows = {"response": theory.mg1_breakdown_response(lam, service, fail, down, while_idle)}
        text = "erlang: {shape: 3}"
        out.append((Queues(complete(3), "random", lam, text, lam * (1 + fail * mean), more), rows))
    return out


def held_back(suite) -> None:
    for s, rows in settings():
        o = play(suite.sim.program, s)
        if isinstance(o, str):
            suite.sim.broken.append(o)
            continue
        for row, expected in rows.items():
            aim = (10 if "second" in row else 2) * target(s.load) * (expected + (row == "waiting"))
            name = f"held back, {row} {s}"
            suite.cmp.mean(name, o.mean[row], o.se[row], expected, tolerance=1e-5, power=aim)


def lindley(n: int, rho: float, shape: float, jobs: int, seed: int) -> np.ndarray:
    """Waits of one server under central round robin with Pareto services, from an own simulation:
    the wait is the walk of services less gaps above its lowest point.
    """
    chance = np.random.default_rng(seed)
    service = (shape - 1) / shape * chance.random(jobs) ** (-1 / shape)
    gaps = chance.gamma(n, 1 / (n * rho), jobs)
    walk = np.concatenate([[0.0], np.cumsum(service - gaps)])[:-1]
    return (walk - np.minimum.accumulate(walk))[jobs // 10 :]


def heavy(suite) -> None:
    """The records lr.sim: E[min(W, c)] and quantiles against Lindley's recursion, the means only as
    far as means of such services say anything.
    """
    lab = Lab(suite.sim.program)
    thresholds = [1, 5, 20]
    for r in suite.of("lr.sim"):
        p = r["parameters"]
        n, rho, shape = p["n"], p["lam_per_server"], float(p["service"].removeprefix("pareto"))
        keys = {
            "seed": 17,
            "replications": 100,
            "topology": f"{{complete: {{n: {n}}}}}",
            "lambda": rho,
            "horizon": 60_000 * suite.factor,
            "service": f"{{pareto: {{shape: {shape}}}}}",
            "excess": thresholds,
        }
        runs = lab.play({"central": CENTRAL}, keys)
        waits = [lindley(n, rho, shape, 200_000 * suite.factor, i) for i in range(40)]
        for j, c in enumerate(thresholds):
            run = runs["central", j]
            got, s = estimate(run["waiting"] - run["waiting_excess"])
            other, error = estimate(np.array([np.minimum(w, c).mean() for w in waits]))
            suite.cmp.mean(
                f"{r['id']} E[min(W, {c})]", got, math.hypot(s, error), other, power=0.02 * other,
                df=39,
            )
        run = runs["central", 0]
        for row, q in (("waiting_q90", 0.9), ("waiting_q95", 0.95)):
            got, s = estimate(run[row])
            other, error = estimate(np.array([np.quantile(w, q) for w in waits]))
            suite.cmp.mean(
                f"{r['id']} {row}", got, math.hypot(s, error), other, tolerance=0.004 * other,
                power=0.02 * other, df=39,
            )
        # Without a central limit theorem errors are indications; six of them, from below above all.
        got, s = estimate(run["response"])
        suite.cmp.mean(r["id"], got, math.hypot(s, r["se"]), r["value"], power=0.05 * r["value"])
