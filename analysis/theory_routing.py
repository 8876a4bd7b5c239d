# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues behind routing that looks at no queue, solved exactly: round robin and its relatives.

n servers, a Poisson stream of rate `rho` at each (or one stream for all), services of mean 1. Under
every policy here a server sees a Markovian arrival process, which does not depend on its queue;
with phase-type service and exponential times up and down it is a quasi-birth-death process, whose
levels N have a matrix-geometric law. Exact up to rounding (about 1e-9), any load below one; for
phases by the hundred: n up to 6 where streams are distributed, hundreds where one is dealt out.

References
----------
[LR]  Liu, Righter, "Optimal load balancing on distributed homogeneous unreliable processors", Oper.
      Res. 46(4), 1998: the policies.
[Neu] Neuts, "Matrix-geometric solutions in stochastic models", 1981.
[LaR] Latouche, Ramaswami, "A logarithmic reduction algorithm for quasi-birth-death processes", J.
      Appl. Prob. 30(3), 1993.
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from potluck.theory_queues import hyperexponential

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Arrivals:
    """A Markovian arrival process: rates of changes of phase without and with an arrival; the
    diagonal of `hidden` makes rows of the sum zero.
    """

    hidden: Array
    visible: Array

    @classmethod
    def of(cls, hidden: Array, visible: Array) -> Arrivals:
        """Rates off the diagonal only."""
        hidden = hidden - np.diag(hidden.sum(axis=1) + visible.sum(axis=1))
        return cls(hidden, visible)

    def rate(self) -> float:
        phases = stationary(self.hidden + self.visible)
        return float(phases @ self.visible.sum(axis=1))

    def plus(self, other: Arrivals) -> Arrivals:
        """Superposition of independent processes."""
        one, two = np.eye(len(self.hidden)), np.eye(len(other.hidden))
        return Arrivals(
            np.kron(self.hidden, two) + np.kron(one, other.hidden),
            np.kron(self.visible, two) + np.kron(one, other.visible),
        )


@dataclass(frozen=True)
class Service:
    """Phase-type times: law of the first phase, rates among phases (negative diagonal)."""

    start: Array
    rates: Array

    @property
    def ends(self) -> Array:
        return -self.rates.sum(axis=1)


@dataclass(frozen=True)
class Queue:
    """What the stationary law of N at one server says."""

    response: float
    number: float
    number_second: float
    tails: Array  # P(N >= k), k = 0..


def _balanced(generator: Array, weight: Array) -> Array:
    """Row vector p with p generator = 0 and p weight = 1."""
    system = generator.T.copy()
    system[0] = weight  # any one of the equations follows from the others
    return np.linalg.solve(system, np.eye(len(generator))[0])


def stationary(generator: Array) -> Array:
    """Stationary law of phases."""
    return _balanced(generator, np.ones(len(generator)))


# -------------------------------------------------------------------------------------------------
# Services


def exponential() -> Service:
    return Service(np.ones(1), -np.ones((1, 1)))


def erlang(shape: int) -> Service:
    return Service(np.eye(shape)[0], shape * (np.eye(shape, k=1) - np.eye(shape)))


def hyper(scv: float) -> Service:
    """Two phases with balanced means."""
    p, rates = hyperexponential(scv)
    return Service(p, -np.diag(rates))


# -------------------------------------------------------------------------------------------------
# What one server sees


def poisson(rate: float) -> Arrivals:
    return Arrivals.of(np.zeros((1, 1)), np.full((1, 1), rate))


def dealt(n: int, rate: float, size: int = 1) -> Arrivals:
    """One Poisson stream of `rate` jobs per unit time dealt out to n servers in turn, `size` in a
    row to each: central round robin, or blocks.
    """
    turns = n * size
    visible, hidden = np.zeros((turns, turns)), np.zeros((turns, turns))
    for j in range(turns):
        (visible if j < size else hidden)[j, (j + 1) % turns] = rate
    return Arrivals.of(hidden, visible)


def permuted(n: int, rate: float) -> Arrivals:
    """One Poisson stream dealt out in a fresh uniform order every n jobs. Phase (jobs of this
    cycle, has the server had its own).
    """
    visible, hidden = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    for j, had in itertools.product(range(n), (0, 1)):
        after = (j + 1) % n
        if had:
            hidden[2 * j + 1, 2 * after + (1 if after else 0)] += rate
        else:
            visible[2 * j, 2 * after + (1 if after else 0)] += rate / (n - j)
            hidden[2 * j, 2 * after] += rate * (n - j - 1) / (n - j)
    reached = [2 * j + had for j in range(n) for had in (0, 1) if j >= had]
    keep = np.ix_(reached, reached)
    return Arrivals.of(hidden[keep], visible[keep])


def distributed(streams: int, rate: float, targets: int) -> Arrivals:
    """Poisson streams of `rate` each, every one dealt out to `targets` servers in turn, from places
    that are independent and uniform. The streams are alike, so a phase is how many of them stand at
    each place.
    """
    phases = [
        p for p in itertools.product(range(streams + 1), repeat=targets) if sum(p) == streams
    ]
    number = {p: i for i, p in enumerate(phases)}
    visible, hidden = np.zeros((2, len(phases), len(phases)))
    for p, place in itertools.product(phases, range(targets)):
        if p[place]:
            moved, after = list(p), (place + 1) % targets
            moved[place] -= 1
            moved[after] += 1
            (hidden if after else visible)[number[p], number[tuple(moved)]] += rate * p[place]
    return Arrivals.of(hidden, visible)


def modulated(rates: Array, switch: Array) -> Arrivals:
    """Poisson whose rate is rates[i] until, at rate switch[i], the next i comes in a cycle."""
    rates, switch = np.asarray(rates, dtype=float), np.asarray(switch, dtype=float)
    return Arrivals.of(np.diag(switch) @ np.roll(np.eye(len(rates)), 1, axis=1), np.diag(rates))


def thinned(stream: Arrivals, share: float) -> Arrivals:
    """Every arrival of a stream kept with probability `share`, independently."""
    return Arrivals(stream.hidden + (1 - share) * stream.visible, share * stream.visible)


def turned(stream: Arrivals, n: int) -> Arrivals:
    """Every n-th arrival of a stream: central round robin of any stream."""
    size = len(stream.hidden)
    visible, hidden = np.zeros((2, n * size, n * size))
    for j in range(n):
        here, after = slice(j * size, (j + 1) * size), (j + 1) % n
        there = slice(after * size, (after + 1) * size)
        hidden[here, here] += stream.hidden
        (hidden if after else visible)[here, there] += stream.visible
    return Arrivals(hidden, visible)


def partly(share: float, rho: float, dealt_out: Arrivals) -> Arrivals:
    """What is dealt out, and the part 1 - share of the own Poisson stream that stays."""
    return dealt_out if share == 1 else dealt_out.plus(poisson((1 - share) * rho))


# -------------------------------------------------------------------------------------------------
# The queue


def _descent(up: Array, here: Array, down: Array) -> Array:
    """Matrix of the phases in which the level below is first entered ([LaR])."""
    inverse = np.linalg.inv(-here)
    high, low = inverse @ up, inverse @ down
    total, product = low.copy(), high.copy()
    for _ in range(100):
        back = np.linalg.inv(np.eye(len(here)) - high @ low - low @ high)
        high, low = back @ high @ high, back @ low @ low
        total += product @ low
        product = product @ high
        if np.abs(product).max() < 1e-15 or np.abs(low).max() < 1e-15:
            break
    return total


def solve(
    arrivals: Arrivals, service: Service, fail: float = 0.0, repair: float = 1.0, k_max: int = 12
) -> Queue:
    """The queue of one server, first come first served; `fail`, `repair`: rates of exponential
    times up and down that run whether or not the server is busy, interrupted work resumes.
    """
    up_down = np.array([[-fail, fail], [repair, -repair]]) if fail else np.zeros((1, 1))
    working = np.diag([1.0, 0.0]) if fail else np.ones((1, 1))
    streams, states, phases = (np.eye(len(x)) for x in (arrivals.hidden, up_down, service.rates))

    def three(a: Array, b: Array, c: Array) -> Array:
        return np.kron(a, np.kron(b, c))

    up = three(arrivals.visible, states, phases)
    here = (
        three(arrivals.hidden, states, phases)
        + three(streams, up_down, phases)
        + three(streams, working, service.rates)
    )
    start, ends = service.start[None, :], service.ends[:, None]
    down = three(streams, working, ends @ start)
    first_up = three(arrivals.visible, states, start)
    empty = np.kron(arrivals.hidden, states) + np.kron(streams, up_down)
    first_down = three(streams, working, ends)

    g = _descent(up, here, down)
    r = up @ np.linalg.inv(-(here + up @ g))
    size = len(empty)
    rest = np.linalg.inv(np.eye(len(r)) - r)
    boundary = np.block([[empty, first_up], [first_down, here + r @ down]])
    weight = np.concatenate([np.ones(size), rest.sum(axis=1)])
    one = _balanced(boundary, weight)[size:]
    # Sums over levels k of k x^k and k^2 x^k for a matrix x.
    number = float((one @ rest @ rest).sum())
    second = float((one @ (np.eye(len(r)) + r) @ rest @ rest @ rest).sum())
    tails, level = [1.0], one @ rest
    for _ in range(k_max):
        tails.append(float(level.sum()))
        level = level @ r
    return Queue(number / arrivals.rate(), number, second, np.array(tails))
