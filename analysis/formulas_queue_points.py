# SPDX-License-Identifier: GPL-3.0-or-later
"""What formulas of queues ask of a point: its laws, load and relaxation time, and whether it is
settled.

They are about the stationary queue; a run starts empty. A point counts only when its warm-up takes
four relaxation times at least, and what is then left of the empty start is allowed for:
E[N] t e^{-W/t} / T in the mean number, t the relaxation time, W the warm-up and T the horizon. For
M/M/1 that is four times the first-order bias of theory_queues.empty_start_bias, since
E[N] t = rho (1 + sqrt(rho))^2 / (1 - rho)^3, times the e^{-W/t} that a warm-up leaves of it.
Ratios of means, such as that of all response times by the number of jobs, are off by one part in
the number of jobs, times 1/(1 - rho); that is allowed for too.
"""
from __future__ import annotations

import math

import numpy as np

from potluck import naming
from potluck import theory_queues as queues
from potluck.formulas_base import Point, flag, has, number, servers
from potluck.theory_queues import Moments

#: Relaxation times that a warm-up takes, and that the servers of a replication see together.
WARM, LONG = 4, 20
#: Law parameters that moments() knows, with their columns.
_PARAMETERS = ("shape", "scv", "values", "probabilities")

# -------------------------------------------------------------------------------------------------
# What a point is


def law(p: Point, key: str, name: str, mean: str) -> Moments | None:
    """Moments of a law of the job language; None where they are not known or infinite."""
    given: dict[str, object] = {}
    for parameter in _PARAMETERS:
        if has(p, f"{key}_{parameter}"):
            value = p[f"{key}_{parameter}"]
            listed = parameter in ("values", "probabilities")
            given[parameter] = [float(x) for x in str(value).split()] if listed else float(value)
    try:
        found = queues.moments(name, number(p, mean, 1.0), **given)
    except (KeyError, ValueError):
        return None
    heavy = name in ("pareto", "lomax") and float(given.get("shape", 0)) <= 4
    return None if heavy or not np.isfinite(found.second) else found


def service(p: Point) -> Moments | None:
    """Moments of the services, rescaled to `service_mean` where that is given."""
    found = law(p, "service", str(p.get("service")), "service_own_mean")
    if found is not None and has(p, "service_mean"):
        found = found.times(number(p, "service_mean") / found.first)
    return found


def down(p: Point) -> Moments | None:
    """Moments of the times down; zero where servers do not fail, None where little is known."""
    if p.get("failures") == "none":
        return Moments(0.0, 0.0, 0.0)
    plain = p.get("failures") == "alternating" and p.get("up") == "exponential"
    if not plain or p.get("resume") != "resume" or p.get("start") != "stationary":
        return None
    return law(p, "failures_down", str(p.get("down")), "failures_down_mean")


def fails(p: Point) -> float:
    """Rate of failures of a server that is up."""
    return 0.0 if p.get("failures") == "none" else 1 / number(p, "failures_up_mean")


def whole(p: Point) -> Moments | None:
    """Moments of the time from the start of a service to its end, failures included."""
    work, pause = service(p), down(p)
    if work is None or pause is None:
        return None
    return queues.completion(work, fails(p), pause)


def load(p: Point) -> float:
    """Share of time that a server is held by jobs; NaN where it is not known."""
    held = whole(p)
    return number(p, "lambda") * held.first if held is not None else math.nan


def relaxation(p: Point) -> float:
    """About the relaxation time of M/G/1: that of M/M/1, more where services vary more."""
    held = whole(p)
    pause = down(p)
    cycle = pause.first if fails(p) else 0.0
    return held.first * max(1.0, (1 + held.scv) / 2) / (1 - math.sqrt(load(p))) ** 2 + cycle


def warmup(p: Point) -> float:
    """Time before anything counts."""
    kind = p.get("warmup")
    if kind == "time":
        return number(p, "warmup_time")
    if kind == "jobs":
        return number(p, "warmup_jobs") / (naming.servers(p) * number(p, "lambda"))
    return 10 * whole(p).first / (1 - math.sqrt(min(load(p), 0.995))) ** 2


def jobs(p: Point) -> float:
    """Jobs of a replication that count, on average."""
    if p.get("horizon") == "jobs":
        return number(p, "horizon_jobs")
    return number(p, "horizon_time") * naming.servers(p) * number(p, "lambda")


def horizon(p: Point) -> float:
    return jobs(p) / (naming.servers(p) * number(p, "lambda"))


def has_shares(p: Point) -> bool:
    """Whether `random` picks some servers more often than others."""
    return has(p, "shares") or has(p, "policy_shares")


def alike(p: Point) -> bool:
    """Servers and streams that are alike, and no more jobs than they can serve."""
    same = not has(p, "arrival_rates") and not has(p, "service_rates") and servers(p) > 0
    same = same and not has_shares(p) and p.get("policy") != "sequence"
    steady = p.get("transient") == "none" and has(p, "lambda") and not flag(p, "synchronised")
    return bool(same and steady and load(p) < 1)


def own_queue(p: Point) -> bool:
    """Policies under which every server is M/G/1."""
    if p.get("arrivals") != "poisson":
        return False
    chance = p.get("policy") == "random" and not has_shares(p)
    return bool(p.get("policy") == "one-choice" or chance or servers(p) == 1)


def mg1_response(p: Point) -> float:
    """E[T] of M/G/1 with these services and failures; for allowances, more than that of any policy.
    """
    idle = number(p, "while_idle", 1.0) != 0
    return queues.mg1_breakdown_response(
        number(p, "lambda"), service(p), fails(p), down(p), idle
    )


def settled(p: Point) -> bool:
    """Poisson arrivals at servers that are alike, in a steady state."""
    if p.get("arrivals") != "poisson" or not alike(p):
        return False
    return warmup(p) >= WARM * relaxation(p) and jobs(p) >= 500


def long(p: Point) -> bool:
    """Settled, and long enough that the mean of a replication is near normal."""
    if not settled(p):
        return False
    independent = servers(p) if own_queue(p) else 1
    return horizon(p) * independent >= LONG * relaxation(p)


def start_bias(p: Point, mean_number: float | None = None) -> float:
    """What the empty start may leave of the mean number at a server, see above."""
    if mean_number is None:
        mean_number = mg1_response(p) * number(p, "lambda")
    t = relaxation(p)
    return mean_number * t * math.exp(-warmup(p) / t) / horizon(p)


def ratio_bias(p: Point) -> float:
    """Relative: what a ratio of sums over the jobs of a replication may be off."""
    return 2 / jobs(p) / (1 - load(p))


def slack(mean, per_job: bool):
    """Allowance for a mean number, or for a mean time of jobs."""

    def of(p: Point) -> float:
        value = abs(mean(p))
        number_there = value if not per_job else value * number(p, "lambda")
        bias = start_bias(p, number_there) / (number(p, "lambda") if per_job else 1.0)
        return bias + value * ratio_bias(p)

    return of
