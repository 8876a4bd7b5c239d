# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says of a point of balls into bins, for figures to draw beside it."""
from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from potluck import naming, theory

#: Means of maximum loads are compared with the approximation from that many servers on.
_LARGE = 256
_EXACT_ARCS = 1000


def load_tail(point: pd.Series, k_max: int) -> tuple[str, np.ndarray] | None:
    """P(load of a server >= k), k = 0..k_max, of a point.

    Parameters
    ----------
    point : a row of what `frame` gave.
    k_max : the largest load.

    Returns
    -------
    (kind, tail) or None
        `exact`: one choice on any graph (binomial), the nearest server of a circle
        (beta-binomial). `limit`, as servers grow in number: the fluid limits of `choices`, `pot`,
        `left`, `one-plus-beta` and, on a circle with fair ties, `points`. None of the others, of
        graphs cut down to their largest component, and beyond 64 jobs per server.
    """
    n, m = naming.servers(point), point.get("balls")
    if not naming.present(m) or not np.isfinite(n) or point.get("connect") == "largest":
        return None
    if m > 64 * n or n < 2:
        return None
    topology, policy = point["topology"], point["policy"]
    if policy == "one-choice":
        return "exact", _above(theory.one_choice_load(int(n), int(m), k_max + 100))[: k_max + 1]
    if topology == "arcs" and policy == "nearest":
        law = theory.arcs_load(int(n), int(m), k_max + 200, int(point["virtual"]))
        return "exact", _above(law)[: k_max + 1]
    if topology == "arcs" and (policy != "points" or point["ties"] != "fair"):
        return None
    numbers = (_number(point, name) for name in ("d", "beta", "virtual"))
    tail = _limit(policy, m / n, *numbers, k_max)
    return None if tail is None else ("limit", tail)


def mean_max_load(point: pd.Series) -> tuple[str, float] | None:
    """E[maximum load] of a point.

    Returns
    -------
    (kind, mean) or None
        `exact`: one choice; the nearest server of a circle of at most 1000 with one position each.
        `approximation`: sum over k of 1 - exp(-n P(load > k)), as if servers were independent
        (`theory.poisson_max_cdf`), with the tail that `load_tail` gives, from 256 servers on.
    """
    n, m = naming.servers(point), point.get("balls")
    k_max = 20 + int(np.ceil(2.5 * m / n)) if naming.present(m) and np.isfinite(n) else 0
    if not k_max or (found := load_tail(point, k_max)) is None:
        return None
    if point["policy"] == "one-choice":
        return "exact", theory.one_choice_max_mean(int(n), int(m))
    on_circle = point["policy"] == "nearest" and point["virtual"] == 1
    if on_circle and n <= _EXACT_ARCS and m <= _EXACT_ARCS:
        return "exact", theory.arcs_max_mean(int(n), int(m))
    if n < _LARGE:
        return None
    tail = found[1] if point["policy"] != "nearest" else load_tail(point, 40 * k_max)[1]
    return "approximation", float(-np.expm1(-n * tail[1:]).sum())


# -------------------------------------------------------------------------------------------------


def _number(point: pd.Series, name: str) -> float:
    return float(point[name]) if naming.present(point.get(name)) else 0.0


@functools.lru_cache(maxsize=256)
def _limit(
    policy: str, c: float, d: float, beta: float, virtual: float, k_max: int
) -> np.ndarray | None:
    """The fluid limit, c jobs per server."""
    if policy == "points" and virtual:
        return theory.fluid_arcs(int(virtual), int(d), c, k_max)
    if policy in ("choices", "pot"):
        return theory.fluid_choices(int(d) if policy == "choices" else 2, c, k_max)
    if policy == "left":
        return theory.fluid_left(int(d), c, k_max).mean(axis=0)
    if policy == "one-plus-beta":
        return theory.fluid_one_plus_beta(beta, c, k_max)
    return None


def _above(law: np.ndarray) -> np.ndarray:
    """Sums of what is not below."""
    return np.cumsum(law[::-1])[::-1]
