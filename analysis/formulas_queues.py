# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas of the model `queue` in a steady state; formulas_queue_points.py says when a point has
reached it, and what is allowed for the empty start.
"""
from __future__ import annotations

import functools
import math

import numpy as np

from potluck import theory_graphs as graphs
from potluck import theory_queues as queues
from potluck import theory_routing as routing
from potluck.formulas_base import (
    Array,
    Formula,
    Point,
    alone,
    different,
    distance_law,
    flag,
    has,
    kept,
    mean_of,
    number,
    pair_law,
    place,
    sd_of,
    servers,
)
from potluck.formulas_queue_points import (
    LONG,
    WARM,
    alike,
    fails,
    has_shares,
    horizon,
    jobs,
    load,
    long,
    mg1_response,
    own_queue,
    ratio_bias,
    relaxation,
    service,
    settled,
    slack,
    start_bias,
    warmup,
)

_QUEUE = ("queue",)

# -------------------------------------------------------------------------------------------------
# Costs


def _uniform_origins(p: Point) -> bool:
    """Jobs whose origins are uniform and independent of everything before."""
    total = p.get("arrival_scope") == "total" and p.get("arrivals") not in ("batch", "trace")
    poisson = p.get("arrivals") == "poisson"
    same = not has(p, "arrival_rates") and servers(p) > 1 and has(p, "lambda")
    return bool(same and (poisson or total) and p.get("transient") == "none" and jobs(p) >= 500)


def _pairs(p: Point) -> bool:
    plain = p.get("topology") not in ("plane", "arcs") and p.get("ties") == "fair"
    return plain and _uniform_origins(p) and pair_law(p) is not None


def _pot(p: Point) -> bool:
    graph = p.get("topology") not in ("plane", "arcs") and p.get("policy") == "pot"
    return graph and p.get("ties") == "fair" and _uniform_origins(p) and not _pairs(p)


def _cost_law(p: Point) -> Array:
    """Of a job that moves with probability 1/2 whatever the distance."""
    law_of_pair = pair_law(p) / 2
    law_of_pair[0] += 0.5
    return kept(law_of_pair, number(p, "redirectable", 1.0))


def _far(p: Point) -> bool:
    """Policies whose server is uniform and does not depend on where the job arrives."""
    policy = p.get("policy")
    central = policy == "round-robin" and p.get("scope") == "central"
    blind = central or policy == "block" or policy == "permuted"
    chance = policy == "random" and not has_shares(p)
    sees_all = policy in ("jsq", "least-work") and p.get("ties") == "fair"
    graph = p.get("topology") not in ("plane", "arcs")
    return graph and (blind or chance or sees_all or alone(p)) and _uniform_origins(p)


def _share(p: Point) -> float:
    return number(p, "redirectable", 1.0)


def _far_law(p: Point) -> Array | None:
    """Round robin is uniform over n jobs in a row, which matters to nobody: the origin is uniform
    and independent of it. Distances need a graph that looks the same from everywhere, or a server
    that is uniform itself.
    """
    return distance_law(place(p))


def _spread(cost_law: Array, p: Point) -> float:
    return sd_of(cost_law) / math.sqrt(jobs(p))


COSTS = [
    Formula(
        "half of the pairs move", "moved", "exact", "exchangeable pairs: theory_balls.pair_cost",
        "`pot`, `edge`, and `unif-pot`, `invsq-pot` where all servers see the same; fair ties, "
        "origins uniform and independent; any load, failures too",
        _pairs, lambda p: _cost_law(p)[1:].sum(), _QUEUE,
        sd=lambda p: _spread(np.array([1 - _cost_law(p)[1:].sum(), _cost_law(p)[1:].sum()]), p),
    ),
    Formula(
        "half of the pairs move", "moved", "exact", "exchangeable pairs: theory_balls.pair_cost",
        "`pot` on any connected graph; fair ties, origins uniform and independent",
        _pot, lambda p: _share(p) / 2, _QUEUE,
    ),
    Formula(
        "half the distance of a pair", "cost", "exact",
        "exchangeable pairs: theory_balls.pair_cost",
        "as above, where the law of distances is known",
        _pairs, lambda p: mean_of(_cost_law(p)), _QUEUE,
        sd=lambda p: _spread(_cost_law(p), p),
    ),
    Formula(
        "a server far from the origin", "moved", "exact", "derived: u plays no part",
        "`choices`, `one-plus-beta`, `random`, central round robin and its relatives; origins "
        "uniform and independent",
        _far, lambda p: _share(p) * (1 - 1 / servers(p)), _QUEUE,
        sd=lambda p: math.sqrt(
            _share(p) * (1 - 1 / servers(p)) * (1 - _share(p) * (1 - 1 / servers(p))) / jobs(p)
        ),
    ),
    Formula(
        "distance of two uniform servers", "cost", "exact", "derived: u plays no part",
        "as above, where the law of distances is known and all servers see the same",
        lambda p: _far(p) and p["topology"] in ("complete", "ring", "torus", "hypercube"),
        lambda p: _share(p) * mean_of(_far_law(p)), _QUEUE,
        sd=lambda p: _spread(kept(_far_law(p), _share(p)), p),
    ),
    Formula(
        "ties of empty queues keep jobs", "moved", "bound",
        "derived: P(moved) = (P(u != v) - P(tie)) / 2, and both are empty with probability "
        "1 - 2 P(N_u > 0) + P(min > 0), from load_at_origin and load_at_chosen",
        "exchangeable pairs; ties: origin; redirectable: 1",
        lambda p: p.get("ties") == "origin" and _uniform_origins(p) and pair_law(p) is not None
        and p.get("policy") != "edge" and _share(p) == 1 and np.isfinite(p["both_empty"]),
        lambda p: (1 - pair_law(p)[0] - min(max(p["both_empty"], 0.0), 1.0)) / 2, _QUEUE, side=1,
        error=lambda p: 3 * math.sqrt(
            relaxation(p) / (p["replications"] * jobs(p)) if load(p) < 1 else 1.0
        ),
    ),
]


# -------------------------------------------------------------------------------------------------
# Conservation


def _conserved(p: Point) -> bool:
    return settled(p)


def _busy(p: Point) -> float:
    return number(p, "lambda") * service(p).first


CONSERVATION = [
    Formula(
        "work that comes is done", "utilisation", "exact", "lambda E[S]",
        "Poisson arrivals, settled; any policy, graph and failures with resumption",
        _conserved, _busy, _QUEUE,
        slack=lambda p: _busy(p) * ratio_bias(p) + start_bias(p, load(p) / (1 - load(p))),
    ),
    Formula(
        "Little's law", "queue_length", "exact", "Little 1961: E[N] = lambda E[T]",
        "Poisson arrivals, settled; lambda times the mean response of the file",
        lambda p: _conserved(p) and np.isfinite(p.get("mean_response", np.nan)),
        lambda p: number(p, "lambda") * p["mean_response"], _QUEUE,
        error=lambda p: number(p, "lambda") * p["se_response"], se=lambda p: p["se_little"],
        slack=lambda p: 2 * p["mean_queue_length"] * ratio_bias(p)
        + 2 * start_bias(p, float(p["mean_queue_length"])),
    ),
]


# -------------------------------------------------------------------------------------------------
# Every server a queue of its own


def _mg1(p: Point) -> bool:
    return own_queue(p) and long(p)


def _light(p: Point) -> bool:
    """Services all of whose moments are finite and small."""
    small = ("exponential", "deterministic", "erlang", "uniform")
    return p.get("service") in small and not fails(p)


def _mm1(p: Point) -> bool:
    return _mg1(p) and p.get("service") == "exponential" and not fails(p)


def _unit(p: Point) -> float:
    return service(p).first


MG1 = [
    Formula(
        "M/G/1", "response", "exact",
        "Pollaczek, Khinchine: theory_queues.mg1_response; White, Christie 1958 with breakdowns",
        "`one-choice`, `random`: every server a queue of its own; Poisson arrivals, settled",
        _mg1, mg1_response, _QUEUE, slack=slack(mg1_response, True),
    ),
    Formula(
        "M/G/1", "waiting", "exact", "Pollaczek, Khinchine: theory_queues.mg1_wait",
        "as above, without failures",
        lambda p: _mg1(p) and not fails(p), lambda p: mg1_response(p) - service(p).first, _QUEUE,
        slack=slack(mg1_response, True),
    ),
    Formula(
        "M/G/1", "queue_length", "exact", "Pollaczek, Khinchine and Little: theory_queues",
        "`one-choice`, `random`: every server a queue of its own; Poisson arrivals, settled",
        _mg1, lambda p: number(p, "lambda") * mg1_response(p), _QUEUE,
        slack=slack(lambda p: number(p, "lambda") * mg1_response(p), False),
    ),
    Formula(
        "M/G/1", "response_second", "exact", "Takacs 1962: theory_queues.mg1_response_second",
        "as above, services that vary as exponential ones or less, no failures",
        lambda p: _mg1(p) and _light(p),
        lambda p: queues.mg1_response_second(number(p, "lambda"), service(p)), _QUEUE,
        slack=slack(
            lambda p: 3 * queues.mg1_response_second(number(p, "lambda"), service(p)), True
        ),
    ),
    Formula(
        "M/M/1", "response_excess", "exact", "theory_queues.mm1_response_excess",
        "as above, exponential services, no failures",
        _mm1, lambda p: _unit(p) * queues.mm1_response_excess(load(p), p["excess"] / _unit(p)),
        _QUEUE, slack=slack(mg1_response, True),
    ),
    Formula(
        "M/M/1", "load_time", "exact", "P(N = k) = (1 - rho) rho^k (Kleinrock 1975)",
        "`one-choice`, `random`, exponential services, no failures; Poisson arrivals, settled",
        _mm1, lambda p: (1 - load(p)) * load(p) ** np.arange(400), _QUEUE,
        slack=lambda p: start_bias(p) + ratio_bias(p),
    ),
    Formula(
        "M/D/1", "load_time", "exact", "embedded chain (Kleinrock 1975): theory_queues.md1_tails",
        "`one-choice`, `random`, deterministic services, no failures; Poisson arrivals, settled",
        lambda p: _mg1(p) and p.get("service") == "deterministic" and not fails(p),
        lambda p: -np.diff(queues.md1_tails(load(p), 40)), _QUEUE,
        slack=lambda p: start_bias(p) + ratio_bias(p),
    ),
    Formula(
        "breakdowns", "occupied", "exact", "theory_queues.mm1_breakdown_occupied",
        "`one-choice`, `random`, services of mean 1 and any law, exponential times up and down, "
        "also while idle: empty and up A - lambda, empty and down f / (lambda + r) times that",
        lambda p: _mg1(p) and _markov(p) and fails(p) > 0 and _unit(p) == 1,
        lambda p: queues.mm1_breakdown_occupied(
            number(p, "lambda"), fails(p), 1 / number(p, "failures_down_mean")
        ),
        _QUEUE, slack=lambda p: start_bias(p) + ratio_bias(p),
    ),
    Formula(
        "quantile of M/M/1", "response_q99", "approximation",
        "theory_queues.mm1_response_quantile",
        "as M/M/1; quantiles of a finite number of jobs, interpolated between bins",
        _mm1, lambda p: _unit(p) * queues.mm1_response_quantile(load(p), 0.99), _QUEUE,
    ),
]


# -------------------------------------------------------------------------------------------------
# Routing that looks at no queue


def _markov(p: Point) -> bool:
    """Exponential times up and down, while idle too, or no failures."""
    if not fails(p):
        return True
    return p.get("down") == "exponential" and number(p, "while_idle", 1.0) != 0


def _phases(p: Point) -> routing.Service | None:
    """Phase-type services of mean 1."""
    if service(p) is None or abs(service(p).first - 1) > 1e-12:
        return None
    kind = p.get("service")
    if kind == "exponential":
        return routing.exponential()
    if kind == "erlang" and number(p, "service_shape") <= 10:
        return routing.erlang(int(number(p, "service_shape")))
    if kind == "hyperexponential":
        return routing.hyper(number(p, "service_scv"))
    return None


def _seen_by_one(p: Point) -> routing.Arrivals | None:
    """The arrivals at one server; None where they have too many phases."""
    n, rho, share = servers(p), number(p, "lambda"), _share(p)
    policy, scope = str(p.get("policy")), p.get("scope")
    if n < 2 or n > 60:
        return None
    if policy == "round-robin" and scope == "central":
        return routing.partly(share, rho, routing.dealt(n, n * share * rho))
    if policy == "round-robin" and scope == "distributed" and p.get("first") == "random" and n <= 5:
        others = int(p.get("targets") == "others")
        if others and share != 1:
            return None
        streams = n - others
        return routing.partly(share, rho, routing.distributed(streams, share * rho, streams))
    if share != 1:
        return None
    if policy == "permuted":
        return routing.permuted(n, n * rho)
    if policy == "block" and n * number(p, "policy_size", number(p, "size")) <= 60:
        size = number(p, "policy_size", number(p, "size"))
        return routing.dealt(n, n * rho, int(size)) if np.isfinite(size) else None
    return None


@functools.lru_cache(None)
def _solved(key: tuple) -> routing.Queue | None:
    p = dict(key)
    arrivals, phases = _seen_by_one(p), _phases(p)
    if arrivals is None or phases is None or not _markov(p):
        return None
    if len(arrivals.hidden) * len(phases.start) * (2 if fails(p) else 1) > 1500:
        return None
    repair = 1 / number(p, "failures_down_mean") if fails(p) else 1.0
    return routing.solve(arrivals, phases, fails(p), repair, 60)


_KEY = (
    *("topology", "n", "sides", "dim", "policy", "scope", "targets", "first", "size"),
    *("policy_size", "redirectable", "lambda", "service", "service_own_mean", "service_mean"),
    *("service_shape", "service_scv", "failures", "up", "down", "failures_up_mean"),
    *("failures_down_mean", "while_idle", "resume", "start"),
)


def _routed(p: Point) -> routing.Queue | None:
    """The queue of one server; None where it is not solved."""
    if not long(p):
        return None
    return _solved(tuple((name, p[name]) for name in _KEY if has(p, name)))


def _central_deterministic(p: Point) -> bool:
    """Round robin of deterministic services is M/D/n, job by job; least work is M/G/n."""
    round_robin = p.get("policy") == "round-robin" and p.get("scope") == "central"
    least = p.get("policy") == "least-work" and not has(p, "d")
    one = (round_robin or least) and _share(p) == 1 and servers(p) >= 2
    return one and p.get("service") == "deterministic" and not fails(p) and long(p)


def _least_work(p: Point) -> bool:
    least = p.get("policy") == "least-work" and not has(p, "d") and _share(p) == 1
    return least and p.get("service") == "exponential" and not fails(p) and long(p)


def _mdn(p: Point) -> float:
    return _unit(p) * (1 + queues.mdn_wait(servers(p), load(p)))


def _mmc(p: Point) -> float:
    return _unit(p) * (1 + queues.mmc_wait(servers(p), servers(p) * load(p)))


def _history(p: Point) -> bool:
    """Policies of parallel queues and exponential services, for the bound of M/M/n."""
    plain = p.get("service") == "exponential" and not fails(p) and settled(p)
    return plain and p.get("topology") not in ("plane", "arcs")


ROUTED = [
    Formula(
        "queue behind the routing", "response", "exact",
        "Liu, Righter 1998: E_n/M/1 and its relatives, theory_routing.solve",
        "central round robin, `block`, `permuted`, n to 60; distributed round robin, n to 5; "
        "phase-type services of mean 1, exponential failures or none; Poisson arrivals, settled",
        lambda p: _routed(p) is not None, lambda p: _routed(p).response, _QUEUE,
        slack=slack(mg1_response, True),
    ),
    Formula(
        "queue behind the routing", "queue_length", "exact",
        "Liu, Righter 1998: E_n/M/1 and its relatives, theory_routing.solve", "as above",
        lambda p: _routed(p) is not None, lambda p: _routed(p).number, _QUEUE,
        slack=slack(lambda p: number(p, "lambda") * mg1_response(p), False),
    ),
    Formula(
        "queue behind the routing", "load_time", "exact",
        "Liu, Righter 1998: E_n/M/1 and its relatives, theory_routing.solve", "as above",
        lambda p: _routed(p) is not None, lambda p: -np.diff(_routed(p).tails), _QUEUE,
        slack=lambda p: start_bias(p) + ratio_bias(p),
    ),
    Formula(
        "M/D/n", "response", "exact", "theory_queues.mdn_wait (Asmussen 2003, VIII.4)",
        "central round robin and `least-work`, deterministic services, no failures; settled",
        _central_deterministic, _mdn, _QUEUE, slack=slack(mg1_response, True),
    ),
    Formula(
        "M/M/n", "response", "exact", "Erlang: theory_queues.mmc_wait",
        "`least-work`, exponential services, no failures; Poisson arrivals, settled",
        _least_work, _mmc, _QUEUE, slack=slack(mg1_response, True),
    ),
    Formula(
        "no faster than M/M/n", "response", "bound", "Erlang: theory_queues.mmc_wait",
        "exponential services, no failures; any policy of parallel queues",
        _history, _mmc, _QUEUE, side=-1, slack=slack(mg1_response, True),
    ),
]


# -------------------------------------------------------------------------------------------------
# Limits


def _market(p: Point) -> bool:
    """`choices`, or `pot` and `unif-pot` of everybody."""
    plain = p.get("service") == "exponential" and not fails(p) and settled(p) and _share(p) == 1
    return plain and _unit(p) == 1 and _choices(p) > 1


def _choices(p: Point) -> int:
    """Number of uniform servers that a job looks at; 0 where it looks otherwise."""
    if p.get("policy") == "choices":
        return int(p["d"])
    if p.get("policy") == "pot":
        return 2
    pair = pair_law(p) if p.get("policy") == "unif-pot" else None
    everybody = different(distance_law(place(p))) if pair is not None else None
    same = everybody is not None and len(pair) == len(everybody) and np.allclose(pair, everybody)
    return 2 if same else 0


def _distinct(p: Point) -> bool:
    return flag(p, "distinct") or p.get("policy") != "choices"


def _refined(p: Point) -> float:
    rho, d = number(p, "lambda"), _choices(p)
    correction = queues.supermarket_refined(rho, d, distinct=_distinct(p))
    return queues.supermarket_response(rho, d) + correction[1:].sum() / rho / servers(p)


def _degree(p: Point) -> int:
    """Neighbours of every server under `unif-pot{1}`, 0 elsewhere."""
    plain = p.get("service") == "exponential" and not fails(p) and settled(p) and _share(p) == 1
    near = p.get("policy") == "unif-pot" and number(p, "k") == 1 and p.get("self") != "included"
    if not plain or not near or _unit(p) != 1 or number(p, "lambda") > 0.96 or _choices(p):
        return 0
    if p.get("topology") == "regular":
        return int(number(p, "degree"))
    if p.get("topology") in ("ring", "torus", "hypercube"):
        law_of_distances = distance_law(place(p))
        return round(law_of_distances[1] * servers(p)) if len(law_of_distances) > 1 else 0
    return 0


@functools.lru_cache(None)
def _pair_tails(degree: int, lam: float) -> Array:
    return graphs.pair_tails(degree, lam)


LIMITS = [
    Formula(
        "supermarket limit", "response", "limit",
        "Vvedenskaya et al. 1996; Mitzenmacher 2001, 2.3: theory_queues.supermarket_response",
        "`choices`, `pot`; exponential services; n to infinity, off by O(1/n)",
        _market, lambda p: queues.supermarket_response(number(p, "lambda"), _choices(p)), _QUEUE,
    ),
    Formula(
        "refined mean field", "response", "approximation",
        "Gast, Van Houdt 2017: theory_queues.supermarket_refined",
        "`choices`, `pot`; exponential services; off by O(1/n^2)", _market, _refined, _QUEUE,
    ),
    Formula(
        "supermarket limit", "load_time", "limit",
        "Vvedenskaya et al. 1996: theory_queues.supermarket_tails",
        "`choices`, `pot`; exponential services; n to infinity, off by O(1/n)", _market,
        lambda p: -np.diff(queues.supermarket_tails(number(p, "lambda"), _choices(p), 60)), _QUEUE,
    ),
    Formula(
        "pair approximation", "response", "approximation",
        "Gast 2015: theory_graphs.pair_approximation",
        "`unif-pot{1}` on a ring, torus, hypercube or regular graph; load to 0.96", _degree,
        lambda p: _pair_tails(_degree(p), number(p, "lambda"))[1:].sum() / number(p, "lambda"),
        _QUEUE,
    ),
    Formula(
        "pair approximation", "load_time", "approximation",
        "Gast 2015: theory_graphs.pair_approximation",
        "`unif-pot{1}` on a ring, torus, hypercube or regular graph; load to 0.96", _degree,
        lambda p: -np.diff(np.append(_pair_tails(_degree(p), number(p, "lambda")), 0.0)), _QUEUE,
    ),
]


# -------------------------------------------------------------------------------------------------
# Other streams


def _other(p: Point, stream: str) -> bool:
    """One stream for all servers that is not Poisson, exponential services of mean 1."""
    one = p.get("arrivals") == stream and p.get("arrival_scope") == "total" and alike(p)
    plain = p.get("service") == "exponential" and not fails(p) and _share(p) == 1
    if not one or not plain or abs(_unit(p) - 1) > 1e-12 or has_shares(p):
        return False
    more = number(p, "arrivals_size", 1.0)
    warm = warmup(p) >= WARM * relaxation(p) * more and horizon(p) >= LONG * relaxation(p) * more
    return p.get("policy") == "random" and warm


def _batches(p: Point) -> float:
    size = int(number(p, "arrivals_size"))
    return queues.batch_random_response(servers(p), size, number(p, "lambda"))


STREAMS = [
    Formula(
        "gaps that are all alike", "response", "exact",
        "theory_queues.deterministic_random_response",
        "`random`, deterministic arrivals in total, exponential services of mean 1",
        lambda p: _other(p, "deterministic"),
        lambda p: queues.deterministic_random_response(servers(p), number(p, "lambda")), _QUEUE,
        slack=slack(mg1_response, True),
    ),
    Formula(
        "batches", "response", "exact", "theory_queues.batch_random_response",
        "`random`, Poisson batches in total, exponential services of mean 1",
        lambda p: _other(p, "batch"), _batches, _QUEUE,
        slack=slack(lambda p: 2 * _batches(p), True),
    ),
]

FORMULAS = [*COSTS, *CONSERVATION, *MG1, *ROUTED, *LIMITS, *STREAMS]
