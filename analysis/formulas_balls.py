# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas of the model `balls` on graphs: loads, maximum load, costs."""
from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special

from potluck import naming
from potluck import theory_balls as balls
from potluck import theory_places as places
from potluck.formulas_base import (
    TRANSITIVE,
    Array,
    Formula,
    Point,
    alone,
    distance_law,
    flag,
    has,
    mean_of,
    number,
    pair_law,
    place,
    sd_of,
    servers,
)

#: States of the largest chain that is solved: about a second each.
_SORTED, _LABELLED = 3000, 6000


def _graph(p: Point) -> bool:
    return str(p.get("topology")) not in ("plane", "arcs")


def _jobs(p: Point) -> int:
    """Number of jobs of each replication; 0 where it differs between them."""
    return int(number(p, "balls", 0)) if servers(p) else 0


# -------------------------------------------------------------------------------------------------
# Costs


def _exchangeable(p: Point) -> bool:
    return _graph(p) and p.get("ties") == "fair" and _jobs(p) > 0 and pair_law(p) is not None


def _pot(p: Point) -> bool:
    """`pot` of graphs whose distances are not known: it moves half of the jobs all the same, but
    for components of one server.
    """
    fair = _graph(p) and p.get("ties") == "fair" and p.get("policy") == "pot"
    whole = not naming.servers(p) < 20 and number(p, "mean_component", 1.0) > 0.5
    return fair and whole and p.get("method") != "occupancy" and not _exchangeable(p)


def _moved_law(p: Point) -> Array:
    return balls.moved_law(pair_law(p))


def _coin(share: float, p: Point) -> float:
    return math.sqrt(share * (1 - share) / _jobs(p))


def _exact_distances(p: Point) -> bool:
    return p.get("distances", "exact") == "exact"


def _apart(p: Point) -> bool:
    """Policies whose server is uniform and independent of the origin."""
    return _graph(p) and alone(p) and _jobs(p) > 0 and distance_law(place(p)) is not None


def _blind_move(p: Point) -> bool:
    fair = _graph(p) and p.get("ties") == "fair" and _jobs(p) > 0
    return fair and p.get("policy") in ("choices", "one-plus-beta", "left")


def _stays(p: Point) -> bool:
    return p.get("policy") == "one-choice"


def _origin(p: Point) -> bool:
    """Pairs whose servers are uniform each; an edge of an irregular graph has others."""
    if not _graph(p) or p.get("ties") != "origin" or not _jobs(p) or pair_law(p) is None:
        return False
    return p["policy"] != "edge" or p["topology"] in TRANSITIVE


def _early(p: Point) -> float:
    """At least the mean probability that both servers of a job are still empty, and so tie: of
    t occupied servers or fewer neither is hit, by a union bound over the two.
    """
    n, m = servers(p), _jobs(p)
    t = np.arange(min(n, m), dtype=float)
    if p.get("policy") == "pot":
        return float(((n - t) * (n - t - 1)).sum() / (n * (n - 1.0)) / m)
    return float(np.maximum(0.0, 1 - 2 * t / n).sum() / m)


def _most_moved(p: Point) -> float:
    return (1 - pair_law(p)[0]) * (1 - _early(p)) / 2


def _many_origin(p: Point) -> bool:
    return _origin(p) and p["policy"] == "pot" and _jobs(p) > servers(p) >= 3


def _narrow_moved(p: Point) -> float:
    """(1 - P(tie)) / 2 at most: of two distinct servers P(tie) = (n sum_k f_k^2 - 1) / (n - 1),
    where f_k is the share of servers with k jobs.

    A job that goes to the lesser of two raises the variance of the loads by (1 - 1/n) / n at most,
    in the mean. f with every load spread over an interval of length 1 is a density of variance v +
    1/12, whose square has the integral sum f^2 >= 3 / (5 sqrt(5 (v + 1/12))).
    """
    n, m = servers(p), _jobs(p)
    spread = np.arange(m, dtype=float) / n * (1 - 1 / n)
    squares = 3 / (5 * math.sqrt(5)) / np.sqrt(spread + 1 / 12)
    return float((1 - np.maximum(0.0, (n * squares - 1) / (n - 1)).mean()) / 2)


COSTS = [
    Formula(
        "half of the pairs move", "moved", "exact",
        "exchangeable pairs: theory_balls.pair_cost",
        "`pot`, `edge`, and `unif-pot`, `invsq-pot` where all servers see the same; fair ties",
        _exchangeable, lambda p: _moved_law(p)[1:].sum(),
        sd=lambda p: _coin(float(_moved_law(p)[1:].sum()), p),
    ),
    Formula(
        "half of the pairs move", "moved", "exact",
        "exchangeable pairs: theory_balls.pair_cost",
        "`pot` on any graph that is connected; fair ties",
        _pot, lambda p: 0.5,
    ),
    Formula(
        "half the distance of a pair", "cost", "exact",
        "exchangeable pairs: theory_balls.pair_cost",
        "as above, where the law of distances is known",
        _exchangeable, lambda p: balls.pair_cost(pair_law(p)),
        sd=lambda p: sd_of(_moved_law(p)) / math.sqrt(_jobs(p)) if _exact_distances(p) else np.nan,
    ),
    Formula(
        "half the law of a pair's distance", "hop_count", "exact",
        "exchangeable pairs: theory_balls.moved_law",
        "as above, where the law of distances is known",
        _exchangeable, _moved_law, draws=True,
    ),
    Formula(
        "a server far from the origin", "moved", "exact", "derived: u plays no part",
        "`choices`, `one-plus-beta`, `left`; fair ties",
        _blind_move, lambda p: 1 - 1 / servers(p),
        sd=lambda p: _coin(1 / servers(p), p),
    ),
    Formula(
        "distance of two uniform servers", "cost", "exact", "derived: u plays no part",
        "`choices`, `one-plus-beta`; fair ties; distances known",
        _apart, lambda p: mean_of(distance_law(place(p))),
        sd=lambda p: sd_of(distance_law(place(p))) / math.sqrt(_jobs(p))
        if _exact_distances(p) else np.nan,
    ),
    Formula(
        "law of the distance of two uniform servers", "hop_count", "exact",
        "derived: u plays no part", "`choices`, `one-plus-beta`; fair ties; distances known",
        _apart, lambda p: distance_law(place(p)), draws=True,
    ),
    Formula(
        "jobs stay", "moved", "exact", "definition", "`one-choice`", _stays, lambda p: 0.0,
        models=("balls", "queue"), sure=True,
    ),
    Formula(
        "jobs stay", "cost", "exact", "definition", "`one-choice`", _stays, lambda p: 0.0,
        models=("balls", "queue"), sure=True,
    ),
    Formula(
        "early ties keep jobs", "moved", "bound", "derived: P(moved) = (P(u != v) - P(tie)) / 2",
        "exchangeable pairs; ties: origin", _origin, _most_moved, side=1, trials=_jobs,
    ),
    Formula(
        "ties of narrow loads keep jobs", "moved", "bound",
        "derived: the variance of loads is at most that of one choice, and a law on whole numbers "
        "of variance v has sum p^2 >= 0.268/sqrt(v + 1/12) (Epanechnikov 1969)",
        "`pot`, more jobs than servers; ties: origin", _many_origin, _narrow_moved, side=1,
    ),
    Formula(
        "early ties keep jobs", "cost", "bound", "derived: P(moved) = (P(u != v) - P(tie)) / 2",
        "exchangeable pairs of graphs that look the same from everywhere; ties: origin",
        lambda p: _origin(p) and p["topology"] in TRANSITIVE,
        lambda p: mean_of(pair_law(p)) * (1 - _early(p)) / 2, side=1,
    ),
]


# -------------------------------------------------------------------------------------------------
# Loads of one choice


def _one(p: Point) -> bool:
    """One uniform server for each job, on graphs of a fixed number of servers."""
    if not _graph(p) or not _jobs(p):
        return False
    return bool(
        p.get("policy") == "one-choice"
        or (p.get("policy") == "choices" and number(p, "d") == 1)
        or (p.get("policy") == "one-plus-beta" and number(p, "beta") == 0)
    )


@functools.lru_cache(None)
def _one_max(n: int, m: int) -> Array:
    below, k = [], 0
    while not below or below[-1] < 1 - 1e-12 or k < m / n:
        below.append(balls.one_choice_max_cdf(n, m, k))
        k += 1
        if k > 4000:
            break
    return np.diff(np.concatenate([[0.0], np.maximum.accumulate(below)]))


def _moderate(p: Point) -> bool:
    return _one(p) and _jobs(p) <= 200 * servers(p) and servers(p) <= 4e6 and _jobs(p) > 0


def _loads(p: Point) -> Array:
    n, m = servers(p), _jobs(p)
    most = int(m / n + 12 * math.sqrt(m / n) + 30)
    return balls.one_choice_load(n, m, min(m, most, 4000))


def _one_variance_sd(p: Point) -> float:
    """Of sum_i (load_i - m/n)^2 / n, multinomial: n chi-square statistics, whose variance is
    2 (n-1) (m-1) / m.
    """
    n, m = servers(p), _jobs(p)
    return math.sqrt(2.0 * (n - 1) * (m - 1) / m) * m / n**2


# -------------------------------------------------------------------------------------------------
# Loads of several choices


def _rule(p: Point) -> tuple[str, int, float] | None:
    """The chain of a policy that sees the same everywhere: (rule, d, beta) of `sorted_chain`."""
    policy, n = str(p.get("policy")), servers(p)
    if not _graph(p) or n < 2 or not _jobs(p):
        return None
    if policy == "choices":
        return ("distinct" if flag(p, "distinct") else "replacement"), int(p["d"]), 0.0
    if policy == "pot":
        return "distinct", 2, 0.0
    if policy == "one-plus-beta":
        return "one-plus-beta", 2, float(p["beta"])
    if policy == "left":
        return "left", int(p["d"]), 0.0
    if policy == "unif-pot" and p.get("topology") in TRANSITIVE:
        everybody = number(p, "k") >= len(distance_law(place(p))) - 1
        if everybody and p.get("self") != "included":
            return "distinct", 2, 0.0
        return ("replacement", 2, 0.0) if everybody else None
    return None


def _partitions(n: int, m: int) -> int:
    """Partitions of m into n parts at most: states of the sorted chain."""
    if m > 200:
        return 10**9
    ways = [1] + [0] * m
    for part in range(1, n + 1):
        for total in range(part, m + 1):
            ways[total] += ways[total - part]
    return ways[m]


@functools.lru_cache(None)
def _chain(n: int, m: int, rule: str, d: int, beta: float) -> balls.LoadLaw:
    return balls.sorted_chain(n, m, rule, d, beta)


def _small(p: Point) -> balls.LoadLaw | None:
    """The whole law of a small system."""
    rule, n, m = _rule(p), servers(p), _jobs(p)
    if rule is not None and not (rule[0] == "distinct" and rule[1] > n):
        states = _partitions(n, m) * (5 if rule[0] == "left" else 1)
        return _chain(n, m, *rule) if states * m <= 100 * _SORTED and states <= _SORTED else None
    return _labelled(p)


def _labelled(p: Point) -> balls.LoadLaw | None:
    n, m, policy = servers(p), _jobs(p), str(p.get("policy"))
    known = p.get("topology") in (*TRANSITIVE, "line", "grid", "star", "tree") and n >= 2
    if not known or policy not in ("unif-pot", "invsq-pot", "edge"):
        return None
    few = m <= 40 and special.comb(m + n - 1, m) * n * m <= 40 * _LABELLED
    if not few or (m + 1.0) ** n > 2.0**62:  # labelled_chain numbers states in 62 bits
        return None
    own, k = p.get("self") == "included", int(number(p, "k", 0))
    return _labelled_chain(place(p), m, policy, k, own, str(p["ties"]))


@functools.lru_cache(None)
def _labelled_chain(
    where: tuple, m: int, policy: str, k: int, own: bool, ties: str
) -> balls.LoadLaw:
    topology, n, sides, dim, children = where
    hops = balls.distances(topology, n=n, sides=sides, dim=dim, children=children)
    return balls.labelled_chain(m, balls.pair_law(hops, policy, k, own), ties, hops)


def _small_loads(p: Point) -> Array:
    return _small(p).bins_with(_jobs(p)) / servers(p)


def _two_or_more(p: Point) -> bool:
    rule, n, m = _rule(p), servers(p), _jobs(p)
    return bool(
        rule and rule[0] in ("distinct", "replacement") and 2 <= rule[1] <= n
        and n <= 2000 and m <= 2 * n and _small(p) is None
    )


@functools.lru_cache(None)
def _low_max(n: int, m: int, rule: str, d: int, _: float) -> Array:
    """P(max <= 2), P(max = 3); silent below, the rest beyond."""
    two = balls.choices_max_cdf(n, m, d, 2, rule == "distinct")
    three = balls.choices_max_cdf(n, m, d, 3, rule == "distinct")
    return np.array([np.nan, np.nan, two, max(three - two, 0.0)])


def _fluid(p: Point) -> Array:
    n, m = servers(p), _jobs(p)
    rule, d, beta = _rule(p)
    return _fluid_law(rule, d, beta, m / n)


@functools.lru_cache(None)
def _fluid_law(rule: str, d: int, beta: float, c: float) -> Array:
    most = int(c + 8 * math.sqrt(c) + 12) if rule == "one-plus-beta" else int(c) + 12
    if rule == "one-plus-beta":
        tail = balls.fluid_one_plus_beta(beta, c, most)
    elif rule == "left":
        tail = balls.fluid_left(d, c, most).mean(axis=0)
    else:
        tail = balls.fluid_choices(d, c, most)
    return -np.diff(np.append(tail, 0.0))


def _fluid_covers(p: Point) -> bool:
    most = 10 if p.get("policy") == "left" else 100  # that takes long
    return _rule(p) is not None and _jobs(p) <= most * servers(p) and _small(p) is None


def _fluid_max(p: Point) -> float:
    tail = np.append(np.cumsum(_fluid(p)[::-1])[::-1], 0.0)
    return float(sum(1 - balls.poisson_max_cdf(servers(p), tail, k) for k in range(len(tail) - 1)))


LOADS = [
    Formula(
        "binomial loads", "load_count", "exact", "theory_balls.one_choice_load",
        "one uniform server for each job; any n and m", _one, _loads,
    ),
    Formula(
        "variance of binomial loads", "load_variance", "exact", "m/n (1 - 1/n), multinomial loads",
        "one uniform server for each job; any n and m", _one,
        lambda p: _jobs(p) / servers(p) * (1 - 1 / servers(p)), sd=_one_variance_sd,
        skew=lambda p: math.sqrt(8 / max(servers(p) - 1, 1)),
    ),
    Formula(
        "maximum of multinomial loads", "max_load_count", "exact",
        "theory_balls.one_choice_max_cdf", "one uniform server for each job; n to 4e6, m to 200 n",
        _moderate, lambda p: _one_max(servers(p), _jobs(p)), draws=True,
    ),
    Formula(
        "chain of a small system", "load_count", "exact",
        "theory_balls.sorted_chain, labelled_chain (Azar et al. 1999; Panigrahy et al. 2022)",
        "few servers and jobs: a few thousand states", lambda p: _small(p) is not None,
        _small_loads,
    ),
    Formula(
        "chain of a small system", "max_load_count", "exact",
        "theory_balls.sorted_chain, labelled_chain (Azar et al. 1999; Panigrahy et al. 2022)",
        "few servers and jobs: a few thousand states", lambda p: _small(p) is not None,
        lambda p: _small(p).max_pmf(), draws=True,
    ),
    Formula(
        "chain of a small system", "cost", "exact", "theory_balls.labelled_chain",
        "few servers and jobs; `unif-pot`, `invsq-pot`, `edge`; either tie rule",
        lambda p: _labelled(p) is not None and _rule(p) is None, lambda p: _labelled(p).cost,
    ),
    Formula(
        "low maximum of d choices", "max_load_count", "exact",
        "theory_balls.choices_max_cdf (Azar et al. 1999)",
        "`choices`, `pot`, `unif-pot` of everybody; n to 2000, m to 2n; maxima of 2 and 3",
        _two_or_more, lambda p: _low_max(servers(p), _jobs(p), *_rule(p)), draws=True,
    ),
    Formula(
        "fluid limit", "load_count", "limit",
        "Mitzenmacher 2001, equation 1; Peres, Talwar, Wieder 2015; Voecking 2003",
        "`choices`, `pot`, `one-plus-beta`, `left`; n to infinity; off by O(1/n)",
        _fluid_covers, _fluid,
    ),
    Formula(
        "maximum as if full servers were Poisson", "max_load", "approximation",
        "theory_balls.poisson_max_cdf", "as the fluid limit; n from 256 on",
        lambda p: _fluid_covers(p) and servers(p) >= 256, _fluid_max,
    ),
]


# -------------------------------------------------------------------------------------------------
# Random graphs


def _edges_known(p: Point) -> float:
    """P(two servers are linked), NaN where it is not known."""
    n = servers(p)
    if p.get("connect") != "any" or p.get("graphs") != "per-replication" or n < 2:
        return math.nan
    if p.get("topology") == "erdos-renyi" and not has(p, "edges"):
        return number(p, "p", number(p, "mean_degree") / (n - 1))
    if p.get("topology") == "geometric" and has(p, "radius"):
        within = places.torus_within if flag(p, "torus") else places.square_within
        return within(number(p, "radius"))
    return math.nan


GRAPHS = [
    Formula(
        "law of degrees", "degree_count", "approximation", "Bollobas 2001, chapter 3",
        "`erdos-renyi` with p or mean_degree, whole; degrees depend on each other a little",
        lambda p: p.get("topology") == "erdos-renyi" and np.isfinite(_edges_known(p)),
        lambda p: places.erdos_renyi_degree(servers(p), _edges_known(p), min(servers(p) - 1, 4000)),
    ),
    Formula(
        "law of degrees", "degree_count", "approximation", "Penrose 2003",
        "`geometric` with radius on a torus, whole; degrees depend on each other a little",
        lambda p: p.get("topology") == "geometric" and flag(p, "torus")
        and np.isfinite(_edges_known(p)),
        lambda p: places.torus_degree(servers(p), number(p, "radius"), min(servers(p) - 1, 4000)),
    ),
]

FORMULAS = [*COSTS, *LOADS, *GRAPHS]
