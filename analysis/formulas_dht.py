# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas of the model `dht`: shares, hops, messages, success, churn."""
from __future__ import annotations

import functools
import math

import numpy as np

from potluck import theory_dht as dht
from potluck.formulas_base import Formula, Point, number
from potluck.formulas_places import shares

_DHT = ("dht",)


def _nodes(p: Point) -> int:
    return int(number(p, "nodes", 0))


def _still(p: Point) -> bool:
    return p.get("lifetime") == "unlimited"


def positions(p: Point) -> int:
    """Virtual servers of every node, all random and there to stay; 0 where it is otherwise."""
    if p.get("balancer") == "none":
        return 1
    if p.get("balancer") == "log-vs":
        standard = max(1, round(math.log2(max(_nodes(p), 1))))
        return int(number(p, "balancer_count", number(p, "count", standard)))
    return 0


def _fixed(p: Point) -> bool:
    return _still(p) and positions(p) > 0


def _random(p: Point) -> bool:
    return _fixed(p) and p.get("ids") == "random" and _nodes(p) >= 2


def _equal(p: Point) -> bool:
    return _fixed(p) and p.get("ids") == "equal" and positions(p) == 1


def _share(p: Point, what: str) -> float:
    scale = 1 if what == "variance" else _nodes(p)
    return shares(_nodes(p), positions(p))[what] / scale


SHARES = [
    Formula(
        "largest share", "max_share", "exact", "theory_places.shares (David, Nagaraja 2003)",
        "nodes that stay, random identifiers; `none`, `log-vs`", _random,
        lambda p: _share(p, "max"), _DHT, sd=lambda p: _share(p, "max_sd"), skew=lambda p: 1.3,
        slack=lambda p: 2e-12,
    ),
    Formula(
        "smallest share", "min_share", "exact", "theory_places.shares (David, Nagaraja 2003)",
        "nodes that stay, random identifiers; `none`, `log-vs`", _random,
        lambda p: _share(p, "min"), _DHT, sd=lambda p: _share(p, "min_sd"),
        skew=lambda p: 2.0 if positions(p) == 1 else 1.0,
        slack=lambda p: 2e-12,
    ),
    Formula(
        "variance of shares", "share_variance", "exact", "Dirichlet: (n-1)/(nV+1)",
        "nodes that stay, 20 at least, random identifiers; `none`, `log-vs`",
        lambda p: _random(p) and _nodes(p) >= 20, lambda p: _share(p, "variance"), _DHT,
        slack=lambda p: 1e-6,
    ),
    Formula(
        "equal arcs", "max_share", "exact", "1/n", "nodes that stay, equal identifiers; `none`",
        _equal, lambda p: 1 / _nodes(p), _DHT, sure=True,
    ),
    Formula(
        "equal arcs", "min_share", "exact", "1/n", "nodes that stay, equal identifiers; `none`",
        _equal, lambda p: 1 / _nodes(p), _DHT, sure=True,
    ),
    Formula(
        "virtual servers that stay", "virtual_servers", "exact", "definition",
        "nodes that stay; `none`, `log-vs`", _fixed, lambda p: float(positions(p)), _DHT, sure=True,
    ),
]


# -------------------------------------------------------------------------------------------------
# Messages


def _lossless(p: Point) -> bool:
    """No query is dropped or lost, so that hops are those of all queries."""
    return _fixed(p) and p.get("mean_dropped") == 0 and p.get("mean_lost") == 0


def _power(p: Point) -> bool:
    servers = _nodes(p) * positions(p)
    fingers = p.get("routing") == "fingers" and p.get("destinations") == "uniform"
    return _lossless(p) and fingers and servers & (servers - 1) == 0


def _one_hop(p: Point) -> bool:
    """One hop that takes capacity, whole numbers of queries and of messages a node takes."""
    hop = p.get("routing") == "one-hop" and p.get("charge") == "delivery"
    plain = p.get("capacity") == "constant" and p.get("destinations") == "uniform"
    queries = number(p, "queries") * _nodes(p)
    whole = queries % 1 == 0 and number(p, "per_second") % 1 == 0
    calm = number(p, "maintenance", 0.0) == 0 and p.get("ids") == "random"
    return bool(_fixed(p) and hop and plain and whole and calm and 1 <= queries <= 400)


@functools.lru_cache(None)
def _hops_mean(n: int) -> float:
    return dht.hops_mean(n)


MESSAGES = [
    Formula(
        "hops by bits of the distance", "hop_count", "exact", "theory_dht.equal_hops (Chord 2003)",
        "2^k nodes that stay, equal arcs, fingers, uniform keys, nothing dropped",
        lambda p: _power(p) and _equal(p), lambda p: dht.equal_hops(_nodes(p)), _DHT, draws=True,
    ),
    Formula(
        "hops of random arcs", "hops", "approximation", "theory_dht.hops_mean",
        "2^k virtual servers, 32 at least, that stay; fingers, uniform keys, nothing dropped",
        lambda p: _power(p) and _random(p) and 32 <= _nodes(p) * positions(p) <= 2**17,
        lambda p: _hops_mean(_nodes(p) * positions(p)), _DHT,
    ),
    Formula(
        "beta-binomial messages", "success", "exact", "theory_dht.one_hop_success",
        "one hop that is charged, constant capacity, whole numbers, 400 queries a second at most",
        _one_hop,
        lambda p: dht.one_hop_success(
            _nodes(p), round(number(p, "queries") * _nodes(p)), int(number(p, "per_second")),
            positions(p),
        ),
        _DHT,
    ),
    Formula(
        "a message for each query", "messages", "exact", "derived: q (1 - 1/(nV)), maintenance",
        "one hop that is charged, uniform keys; nodes that stay; `none`, `log-vs`",
        lambda p: _fixed(p) and p.get("routing") == "one-hop" and p.get("charge") == "delivery"
        and p.get("destinations") == "uniform"
        and number(p, "queries") * _nodes(p) == round(number(p, "queries") * _nodes(p)),
        lambda p: number(p, "queries") * (1 - 1 / (_nodes(p) * positions(p)))
        + number(p, "maintenance", 0.0) * positions(p),
        _DHT,
    ),
]


# -------------------------------------------------------------------------------------------------
# Churn


def _times(p: Point) -> tuple[float, float]:
    """Mean times up and down; NaN where they are not known."""
    if _still(p) or p.get("lifetime") == "trace":
        return math.nan, math.nan
    up = number(p, "lifetime_mean")
    return up, up if p.get("downtime") == "same" else number(p, "downtime_mean")


def _churn(p: Point) -> bool:
    return bool(np.isfinite(sum(_times(p))))


def _hours(p: Point) -> float:
    first = number(p, "record_from", number(p, "duration") // 2)
    return (number(p, "duration") - first) / 3600


def _action_bias(p: Point) -> float:
    """A ratio of sums is off by a few parts in the number of lives that are played; and the first
    second of a window that begins with the run has no changes.
    """
    up, down = _times(p)
    lives = _nodes(p) * _hours(p) * 3600 / (up + down)
    first = 1 / (_hours(p) * 3600) if number(p, "record_from", 1) == 0 else 0.0
    return dht.natural_actions(up, positions(p)) * (4 / max(lives, 1e-9) + first)


CHURN = [
    Formula(
        "nodes that stay", "nodes_up", "exact", "definition", "`lifetime: unlimited`",
        _still, lambda p: float(_nodes(p)), _DHT, sure=True,
    ),
    Formula(
        "availability", "nodes_up", "exact", "theory_dht.availability",
        "laws of times up and down, which start in equilibrium; 20 nodes at least",
        lambda p: _churn(p) and _nodes(p) >= 20,
        lambda p: _nodes(p) * dht.availability(*_times(p)), _DHT,
        slack=lambda p: 1e-6 * _nodes(p),
    ),
    Formula(
        "comings and goings", "actions_natural", "exact", "theory_dht.natural_actions",
        "laws of times up and down, which start in equilibrium; `none`, `log-vs`; 40 lives or more",
        lambda p: _churn(p) and positions(p) > 0
        and _nodes(p) * _hours(p) * 3600 >= 40 * sum(_times(p)),
        lambda p: dht.natural_actions(_times(p)[0], positions(p)), _DHT, slack=_action_bias,
    ),
]

FORMULAS = [*SHARES, *MESSAGES, *CHURN]
