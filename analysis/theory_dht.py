# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says about rings of identifiers: hops, messages, success, churn.

Shares of the ring are those of a circle: theory_places.shares. n nodes have V virtual servers
each, N = nV in all, at independent uniform identifiers unless a function says so. All exact but for
`hops_mean`.

References
----------
[Chord] Stoica et al., "Chord: a scalable peer-to-peer lookup protocol", IEEE/ACM ToN 11(1), 2003.
[JK] Johnson, Kotz, "Urn models and their application", 1977.
[LS] Ledlie, Seltzer, "Distributed, secure load balancing with skew, heterogeneity, and churn",
     INFOCOM 2005.
"""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import signal, special, stats

Array = NDArray[np.float64]


def equal_hops(n: int) -> Array:
    """P(hops = h), h = 0, 1, ..., of a query on n = 2^k equal arcs with all fingers, source and key
    uniform: none with probability 1/n, else one to the owner and one for each bit of how far the
    source is from the last before it ([Chord]); mean k/2 + 1 - (k+1)/n.
    """
    k = n.bit_length() - 1
    if n != 1 << k:
        raise ValueError("n is a power of two")
    law = special.binom(k, np.arange(k + 1)) / n
    # No source is n - 1 places before the last before its owner: that one is the owner itself.
    return np.concatenate([[1 / n], law[:k]])


def hops_mean(n: int, fine: int = 256) -> float:
    """E[hops] on a ring of n = 2^k random virtual servers, about log2(n)/2 + 0.86.

    With g(L) the mean hops over a distance of L mean arcs to the last before the owner, and a
    Poisson number of servers between, g(L) = 1 + int_0^{L-2^j} e^{-z} g(L - 2^j - z) dz for 2^j <=
    L < 2^{j+1}. An approximation: the error is of order log(n)/n, below 0.5/n from n = 32 on.
    """
    g = np.ones(n * fine + 1)
    short = np.arange(fine + 1) / fine
    for _ in range(30):  # below 1 there are octaves without end
        level = 2.0 ** np.floor(np.log2(np.maximum(short, 1e-12)))
        g[: fine + 1] = 1 + np.interp(short - level, short, _faded(g[: fine + 1], fine))
    size = 1
    while size < n:
        g[size * fine : 2 * size * fine] = 1 + _faded(g[: size * fine + 1], fine)[:-1]
        size *= 2
    inner = (g[1:-1].sum() + (g[0] + g[-2]) / 2) / (n * fine)
    return (n - 1) / n + float(inner) - 2 * g[-2] / n


def _faded(g: Array, fine: int) -> Array:
    """Integral of e^-(x - w) g(w) over 0 < w < x, trapezoids."""
    keep = math.exp(-1 / fine)
    added = np.zeros(len(g))
    added[1:] = (keep * g[:-1] + g[1:]) / (2 * fine)
    return signal.lfilter([1], [1, -keep], added)


def received_law(n: int, queries: int, positions: int = 1) -> Array:
    """P(a node receives k of the queries of a second), k = 0..queries, one hop each, uniform keys.

    Keys are beta-binomial ([JK]); a query that starts at the virtual server that owns its key, with
    probability 1/(nV), needs no message.
    """
    k = np.arange(queries + 1)
    away = 1 - 1 / (n * positions)
    if n == 1:
        return stats.binom.pmf(k, queries, away)
    keys = stats.betabinom.pmf(k, queries, positions, (n - 1) * positions)
    return np.array([keys @ stats.binom.pmf(i, k, away) for i in k])


def one_hop_success(n: int, queries: int, capacity: int, positions: int = 1) -> float:
    """E[share of the queries of a second that succeed], one hop each that takes capacity, all nodes
    taking `capacity` messages; at most some hundreds of queries.
    """
    taken = np.minimum(np.arange(queries + 1), capacity) @ received_law(n, queries, positions)
    return 1 / (n * positions) + n * float(taken) / queries


def availability(up: float, down: float) -> float:
    """Share of nodes that are up: alternating renewals of mean times `up` and `down` that start in
    equilibrium, at every time alike.
    """
    return up / (up + down)


def natural_actions(up: float, positions: int = 1) -> float:
    """Virtual servers that come or go with their nodes, per hour and node that is up ([LS]): every
    life begins and ends once.
    """
    return 2 * positions * 3600 / up
