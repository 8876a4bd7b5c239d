# SPDX-License-Identifier: GPL-3.0-or-later
"""What a formula is, and what formulas ask of a point.

A point is a row of what potluck.frame gives, with the attributes `model` and `seed` of the file.
A formula is one entry of a list FORMULAS of a module formulas_*.py; theory.py joins the lists.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from potluck import naming, theory_balls

Array = np.ndarray
#: A row of a table (pandas.Series), or the same as a dict.
Point = Mapping[str, Any]
#: Graphs that look the same from everywhere.
TRANSITIVE = ("complete", "ring", "torus", "hypercube")
#: The largest tree whose distances are counted one by one.
_TREE = 3000


@dataclass(frozen=True)
class Formula:
    """A closed form or limit, and where it holds.

    Attributes
    ----------
    name : what it is, in words.
    quantity : the row (`cost`: compared with `mean_cost`) or histogram (`hop_count`) it predicts.
    kind : "exact", "limit", "approximation" or "bound". Exact ones hold for every finite system
        that `covers` says yes to, bounds too; they can fail.
    reference : paper, equation or section; "derived" where the docstring of the function proves it.
    range : where it holds, in words.
    covers : whether it holds at a point.
    value : a number, or probabilities over the axis of a histogram from 0 on, NaN where it is
        silent; what is missing to 1 lies beyond. Compared as sums from 0 on where draws are
        independent, cell by cell where they are not.
    models : models whose points it is about.
    draws : a histogram of independent draws (jobs, replications): its noise is multinomial.
    sd : exact standard deviation of one replication's value, where known; else it is estimated.
    skew : skewness of one replication's value, where it is far from normal.
    error : standard error that the value has itself, where it comes from other means of the file.
    se : standard error of the difference, where the file tells; NaN elsewhere.
    slack : what a mean may be off for reasons that the formula leaves out, such as the empty start.
    sure : whether the value has no noise at all.
    side : of a bound: +1 when the mean may not lie above it, -1 below.
    trials : of an upper bound on a share: how many events of a replication it is the share of, each
        of them below the bound whatever came before.
    """

    name: str
    quantity: str
    kind: str
    reference: str
    range: str
    covers: Callable[[Point], Any]
    value: Callable[[Point], Any]
    models: tuple[str, ...] = ("balls",)
    draws: bool = False
    sd: Callable[[Point], float] | None = None
    skew: Callable[[Point], float] | None = None
    error: Callable[[Point], float] | None = None
    se: Callable[[Point], float] | None = None
    slack: Callable[[Point], float] | None = None
    sure: bool = False
    side: int = 0
    trials: Callable[[Point], float] | None = None


def has(point: Point, name: str) -> bool:
    """Whether a parameter applies to a point."""
    return naming.present(point.get(name))


def number(point: Point, name: str, otherwise: float = math.nan) -> float:
    """A parameter that is a number."""
    return float(point[name]) if has(point, name) else otherwise


def flag(point: Point, name: str) -> bool:
    return number(point, name, 0.0) != 0


def servers(point: Point) -> int:
    """Number of servers; 0 where the point does not tell or it differs between replications."""
    if point.get("connect") == "largest":
        return 0
    n = naming.servers(point)
    return int(n) if np.isfinite(n) else 0


def place(point: Point) -> tuple[str, int, str, int, int]:
    """What says where servers stand, as key of a cache."""
    return (
        str(point.get("topology")),
        servers(point),
        str(point.get("sides", "")),
        int(number(point, "dim", 0)),
        int(number(point, "children", 2)),
    )


@functools.lru_cache(None)
def shell(where: tuple[str, int, str, int, int]) -> Array:
    """Servers by distance from any server of a graph that looks the same from everywhere."""
    topology, n, sides, dim, _ = where
    return theory_balls.shells(topology, n=n, sides=sides, dim=dim)


@functools.lru_cache(None)
def distance_law(where: tuple[str, int, str, int, int]) -> Array | None:
    """P(dist = h) of two independent uniform servers, that may be the same; None where it is not
    known.
    """
    topology, n, sides, dim, children = where
    if n < 1:
        return None
    if topology in TRANSITIVE:
        size = shell(where)
        return size / size.sum()
    if topology in ("line", "grid"):
        law = np.ones(1)
        for s in [n] if topology == "line" else [int(x) for x in sides.split("x")]:
            apart = 2.0 * (s - np.arange(s)) / s**2
            apart[0] = 1 / s
            law = np.convolve(law, apart)
        return law
    if topology == "star":
        law = np.array([1 / n, 2 * (n - 1) / n**2, (n - 1) * (n - 2) / n**2])
        return law[: 1 if n == 1 else 2 if n == 2 else 3]
    if topology == "tree" and n <= _TREE:
        hops = _tree_distances(n, children)
        return np.bincount(hops.ravel()) / n**2
    return None


def _tree_distances(n: int, children: int) -> Array:
    """(n, n) hops in a tree whose levels fill from the left: a new leaf is one hop further than
    its parent.
    """
    hops = np.zeros((n, n), dtype=np.int64)
    for i in range(1, n):
        hops[i, :i] = hops[(i - 1) // children, :i] + 1
        hops[:i, i] = hops[i, :i]
    return hops


def different(law: Array | None) -> Array | None:
    """The law of distances of two servers, given that they are not the same."""
    if law is None or len(law) < 2:
        return None
    out = np.array(law, dtype=float)
    out[0] = 0.0
    return out / out.sum()


def pair_law(point: Point) -> Array | None:
    """P(dist(u, v) = h) where a job draws an exchangeable pair of u, its origin, and v; None where
    it does not, or the law is not known.
    """
    policy, topology = str(point.get("policy")), str(point.get("topology"))
    where = place(point)
    if policy == "pot":
        return different(distance_law(where))
    own = point.get("self") == "included"
    if policy == "edge" and servers(point) >= 2:
        return np.array([0.0, 1.0]) if _has_edges(topology) else None
    if policy in ("unif-pot", "invsq-pot") and topology in TRANSITIVE and servers(point) >= 2:
        return theory_balls.hop_law(shell(where), policy, int(number(point, "k")), own)
    if policy == "unif-pot" and topology == "regular" and number(point, "k") == 1:
        degree = number(point, "degree")
        law = np.array([float(own), degree])
        return law / law.sum() if degree >= 1 else None
    return None


def _has_edges(topology: str) -> bool:
    """Graphs of two servers or more that always have an edge."""
    known = ("line", "grid", "star", "tree", "barabasi-albert", "regular")
    return topology in TRANSITIVE or topology in known


def alone(point: Point) -> bool:
    """Whether a job chooses without a look at where it arrives: policies of uniform servers."""
    policy = str(point.get("policy"))
    return policy in ("choices", "one-plus-beta") and point.get("ties") == "fair"


def mean_of(law: Array) -> float:
    return float(np.arange(len(law)) @ law)


def sd_of(law: Array) -> float:
    hops = np.arange(len(law))
    return math.sqrt(max(float(hops**2.0 @ law) - mean_of(law) ** 2, 0.0))


def kept(law: Array, share: float) -> Array:
    """The law of a cost that is 0 unless a job may move, with probability `share`."""
    out = share * np.asarray(law, dtype=float)
    out[0] += 1 - share
    return out
