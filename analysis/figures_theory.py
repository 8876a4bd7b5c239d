# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says of a point of the model `queue`, for figures: its kind, `exact` or `limit` (many
servers, n to infinity), and the number.

Times are in mean services. None where no formula covers the point.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from potluck import naming, theory
from potluck.figures_facets import service_moments
from scipy.special import gammaincc

#: Phases of a server's arrivals, times those of its service, up to which a queue is solved.
_MOST_PHASES = 400


class Truth(NamedTuple):
    kind: str
    value: float


def response(point: pd.Series, solve: bool = True) -> Truth | None:
    """Mean response time. `solve` False leaves out what takes longer than a closed formula."""
    load = _load(point)
    service = service_moments(point)
    if load is None or service is None:
        return None
    service = service.times(1 / service.first)
    policy, exponential = point["policy"], point["service"] == "exponential"
    fails = point.get("failures", "none") != "none"
    if _alone(point):
        if fails:
            up, down = _times_up_down(point)
            value = theory.mg1_breakdown_response(load, service, 1 / up.first, down)
        else:
            value = theory.mg1_response(load, service)
        return Truth("exact", value) if math.isfinite(value) else None
    d = _choices(point)
    if d and exponential and not fails:
        return Truth("limit", theory.supermarket_response(load, d))
    if policy == "round-robin" and point.get("scope") == "central" and not fails:
        n = int(point["n"])
        if exponential:
            return Truth("exact", theory.round_robin_response(n, load))
        if point["service"] == "deterministic":
            return Truth("exact", theory.mdn_wait(n, load) + 1)
    return _solved(point, load) if solve else None


def refined(point: pd.Series) -> float:
    """The limit with its correction of order 1/n, NaN where there is none."""
    truth = response(point, solve=False)
    if truth is None or truth.kind != "limit":
        return np.nan
    load, d = float(_load(point) or np.nan), _choices(point)
    distinct = point["policy"] == "pot" or bool(point.get("distinct"))
    correction = theory.supermarket_refined(load, d, distinct=distinct)[1:].sum() / load
    return truth.value + correction / naming.servers(point)


def tail(point: pd.Series) -> tuple[str, Callable[[np.ndarray], np.ndarray]] | None:
    """P(T > t) of the response times, exponential services."""
    load = _load(point)
    fails = point.get("failures", "none") != "none"
    if load is None or fails or point["service"] != "exponential":
        return None
    if _alone(point):
        return "exact", lambda t: np.exp(-(1 - load) * t)
    if point["policy"] == "round-robin" and point.get("scope") == "central":
        rate = 1 - theory.round_robin_sigma(int(point["n"]), load)
        return "exact", lambda t: np.exp(-rate * t)
    d = _choices(point)
    if not d:
        return None
    # A job that finds k jobs at the server it joins is done after k + 1 services; it joins one with
    # k or more where all its d candidates have them.
    found = theory.supermarket_tails(load, d, 64) ** d
    joins = -np.diff(found)
    return "limit", lambda t: sum(
        p * gammaincc(k + 1, np.asarray(t, float)) for k, p in enumerate(joins) if p > 0
    )


def closed(point: pd.Series) -> bool:
    """Whether the load of every server is lambda E[S]: no failures, all servers alike."""
    alike = point["policy"] != "random" or not naming.present(point.get("shares"))
    plain = point.get("failures", "none") == "none" and naming.present(point.get("lambda"))
    names = ("arrival_rates", "service_rates")
    return alike and plain and not any(naming.present(point.get(x)) for x in names)


def in_services(point: pd.Series) -> float:
    """Mean service, the unit of time of figures; 1 where it is not known."""
    for name in ("service_mean", "service_own_mean"):
        if naming.present(point.get(name)):
            return float(point[name])
    return 1.0


# -------------------------------------------------------------------------------------------------


def _load(point: pd.Series) -> float | None:
    """lambda E[S] of a point with Poisson streams, all jobs movable, servers alike."""
    plain = (
        point.get("arrivals") == "poisson"
        and point.get("redirectable", 1.0) == 1.0
        and not naming.present(point.get("arrival_rates"))
        and not naming.present(point.get("service_rates"))
        and point.get("transient", "none") == "none"
    )
    if not plain or not naming.present(point.get("lambda")):
        return None
    load = float(point["lambda"]) * in_services(point)
    if point.get("failures", "none") == "none":
        return load if 0 < load < 1 else None
    times = _times_up_down(point)
    if times is None or load * (1 + times[1].first / times[0].first) >= 1:
        return None
    return load


def _times_up_down(point: pd.Series) -> tuple[theory.Moments, theory.Moments] | None:
    """Exponential times up and down that run also while idle, in mean services; else None."""
    plain = (
        point.get("failures") == "alternating"
        and (point.get("up"), point.get("down")) == ("exponential", "exponential")
        and point.get("resume") == "resume"
        and point.get("while_idle") in (1, 1.0, True)
    )
    means = [point.get(f"failures_{w}_mean") for w in ("up", "down")]
    if not plain or not all(naming.present(m) for m in means):
        return None
    up, down = (theory.moments("exponential", float(m) / in_services(point)) for m in means)
    return up, down


def _alone(point: pd.Series) -> bool:
    """Whether every server is a queue of its own with Poisson arrivals."""
    if point["policy"] == "random":
        return not naming.present(point.get("shares"))
    return point["policy"] == "one-choice" or (
        point["policy"] == "choices" and point.get("d") == 1
    )


def _choices(point: pd.Series) -> int:
    """Candidates of the supermarket model that the policy is, from all servers alike; else 0."""
    if point["policy"] == "pot":
        return 2
    return int(point["d"]) if point["policy"] == "choices" and point["d"] > 1 else 0


def _solved(point: pd.Series, load: float) -> Truth | None:
    """Routing that looks at no queue, with services and times down of phases."""
    service = {
        "exponential": lambda: theory.exponential(),
        "erlang": lambda: theory.erlang(int(point["service_shape"])),
        "hyperexponential": lambda: theory.hyper(float(point["service_scv"])),
    }.get(str(point["service"]))
    n, policy = int(naming.servers(point)), point["policy"]
    others = point.get("targets") == "others"
    if service is None:
        return None
    if policy == "permuted":
        phases, stream = 2 * n, lambda: theory.permuted(n, n * load)
    elif policy == "block":
        size = int(point["policy_size"])
        phases, stream = n * size, lambda: theory.dealt(n, n * load, size)
    elif policy == "round-robin" and point.get("scope") == "central":
        phases, stream = n, lambda: theory.dealt(n, n * load)
    elif policy == "round-robin" and n > 1:
        m = n - 1 if others else n
        phases, stream = math.comb(2 * m - 1, m), lambda: theory.distributed(m, load, m)
    else:
        return None
    law = service()
    times = _times_up_down(point) if point.get("failures", "none") != "none" else None
    if phases * len(law.rates) * (2 if times else 1) > _MOST_PHASES:
        return None
    rates = (1 / times[0].first, 1 / times[1].first) if times else (0.0, 1.0)
    return Truth("exact", theory.solve(stream(), law, *rates).response)
