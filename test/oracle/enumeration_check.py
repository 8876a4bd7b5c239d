# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of finite sets of jobs, by going through all services, all assignments and all ways
in which servers can be down: no simulation, no program.

Times are whole numbers of 1/30, so that an order of laws is decided without rounding of times.
"""
from __future__ import annotations

import functools
import itertools
import json
import math
import sys

import numpy as np
from scipy import integrate, special

import queue_theory_check as theory

GRAIN = 30
EQUAL = 1e-12  # probabilities that differ by less are the same
Array = np.ndarray


def whole(times) -> Array:
    out = np.rint(np.asarray(times, dtype=float) * GRAIN).astype(int)
    assert np.allclose(out / GRAIN, times, atol=1e-8)
    return out


class Jobs:
    """N jobs, their possible services with probabilities, and when servers are down."""

    def __init__(self, n: int, arrivals, values, shares, downs=((),)) -> None:
        self.n, self.arrivals = n, whole(arrivals)
        self.count = len(arrivals)
        exact = np.asarray(shares, dtype=float)
        thirds = np.rint(3 * exact) / 3
        exact = np.where(abs(exact - thirds) < 1e-9, thirds, exact)  # records have ten digits
        choices = np.array(list(itertools.product(range(len(values)), repeat=self.count)))
        self.services = whole(values)[choices]
        self.chance = np.prod(exact[choices], axis=1)
        self.downs = [[(s, *whole([a, b])) for s, a, b in down] for down in downs]
        self.end = int(self.arrivals.max() + self.services.sum(axis=1).max()) + 3 * GRAIN

    def completions(self, assignment, down) -> Array:
        """[service vector, job]: when each is done."""
        last = np.zeros((self.n, len(self.chance)), dtype=int)
        out = np.empty_like(self.services)
        for i, server in enumerate(assignment):
            start = np.maximum(last[server], self.arrivals[i])
            done = start + self.services[:, i]
            for s, a, b in down:
                if s == server:
                    waits = (start >= a) & (start < b)
                    broken = (start < a) & (done > a)
                    done = np.where(waits, b + self.services[:, i], done + broken * (b - a))
            out[:, i] = last[server] = done
        return out

    def histogram(self, times: Array) -> Array:
        """Law of each column of [service vector, column]."""
        size = self.end
        columns = times.shape[1]
        cell = times + size * np.arange(columns)
        weight = np.repeat(self.chance, columns)
        return np.bincount(cell.ravel(), weight, size * columns).reshape(columns, size)


class Law:
    """What an assignment, or a mixture of some, leads to."""

    def __init__(self, responses: Array, pooled: Array, local: Array) -> None:
        self.responses = responses  # [time]: expected number of jobs with that response
        self.pooled = pooled  # [k, time]: law of the k-th completion
        self.local = local  # [k, time]: of the k-th at a random server, where it has one

    @classmethod
    def of(cls, jobs: Jobs, assignment) -> Law:
        parts = []
        for down in jobs.downs:
            done = jobs.completions(assignment, down)
            responses = jobs.histogram(done - jobs.arrivals).sum(axis=0)
            pooled = jobs.histogram(np.sort(done, axis=1))
            local = np.zeros((jobs.count, jobs.end))
            for server in range(jobs.n):
                mine = [i for i, s in enumerate(assignment) if s == server]
                if mine:
                    local[: len(mine)] += jobs.histogram(done[:, mine]) / jobs.n
            parts.append(cls(responses, pooled, local))
        return cls.mixture(parts)

    @classmethod
    def mixture(cls, laws) -> Law:
        laws = list(laws)
        return cls(*(sum(getattr(x, y) for x in laws) / len(laws) for y in cls.parts()))

    @staticmethod
    def parts() -> tuple[str, ...]:
        return ("responses", "pooled", "local")

    def sums(self) -> list[float]:
        """E[sum R] and E[sum R^2]."""
        t = np.arange(len(self.responses)) / GRAIN
        return [float(t @ self.responses), float(t**2 @ self.responses)]

    def departures(self) -> Array:
        """E of the k-th completion of all."""
        return self.pooled @ np.arange(self.pooled.shape[1]) / GRAIN

    def excess(self) -> Array:
        """E[sum (R - c)^+] for c = 0, 1, .."""
        beyond = self.responses[::-1].cumsum()[::-1] - self.responses  # jobs with R > c
        return beyond[::-1].cumsum()[::-1]


def convex(best: Law, other: Law) -> bool:
    """The separable increasing convex order."""
    return bool((best.excess() <= other.excess() + EQUAL * other.excess()[0]).all())


def sooner(best: Array, other: Array) -> Array:
    """For each k, whether the first law is stochastically smaller."""
    return (best.cumsum(axis=1) >= other.cumsum(axis=1) - EQUAL).all(axis=1)


def relabelled(n: int, count: int):
    """Assignments up to the names of servers."""
    for a in itertools.product(range(n), repeat=count):
        if all(s <= max(a[:i], default=-1) + 1 for i, s in enumerate(a)):
            yield a


def balanced(n: int, a) -> bool:
    return all(len(set(a[i : i + n])) == n for i in range(0, len(a) - n + 1, n))


def played(jobs: Jobs, policy: str, n: int, count: int) -> Law:
    """What a policy of the records leads to."""
    if policy in ("rr", "central"):
        return Law.of(jobs, [i % n for i in range(count)])
    if policy == "distributed":
        return Law.mixture(
            Law.of(jobs, [(starts[i % n] + i // n) % n for i in range(count)])
            for starts in itertools.product(range(n), repeat=n)
        )
    laws = {a: Law.of(jobs, a) for a in relabelled(n, count)}
    if policy == "permrr":
        return Law.mixture(law for a, law in laws.items() if balanced(n, a))
    return at_random(laws, n, count)


def at_random(laws: dict, n: int, count: int) -> Law:
    """All assignments alike; a representative stands for those with other names of servers."""
    weight = {a: math.perm(n, len(set(a))) / n**count for a in laws}
    return Law(*(sum(w * getattr(laws[a], x) for a, w in weight.items()) for x in Law.parts()))


@functools.lru_cache(None)
def enumerated(text: str) -> dict:
    """All quantities of the records lr.enum of one setting."""
    p = json.loads(text)
    n, count = p["n"], p["N"]
    downs = p.get("down_scenarios_equally_likely", [[]])
    jobs = Jobs(n, p["arrivals"], p["service_values"], p["service_probs"], downs)
    turn = tuple(i % n for i in range(count))
    laws = {a: Law.of(jobs, a) for a in relabelled(n, count)}
    best = laws[turn]
    deals = [a for a in laws if balanced(n, a)]
    violations = [0, 0, 0, 0]
    for a, law in laws.items():
        fair = a in deals
        violations[0] += not convex(best, law)
        violations[1] += fair and not sooner(best.local, law.local).all()
        pooled = not sooner(best.pooled, law.pooled).all()
        violations[2] += pooled
        violations[3] += fair and pooled
    bernoulli = at_random(laws, n, count)
    return {
        "rr": best.sums(),
        "bernoulli": bernoulli.sums(),
        "permrr": Law.mixture(laws[a] for a in deals).sums(),
        "best": min(law.sums()[0] for law in laws.values()),
        "rr_EC": best.departures(),
        "bernoulli_EC": bernoulli.departures(),
        "violations": violations,
    }


@functools.lru_cache(None)
def two_levels(text: str) -> dict:
    """lr.cvd: one round robin for all, or one for each stream with its own random start."""
    p = json.loads(text)
    n, count = p["n"], p["N"]
    jobs = Jobs(n, p["arrivals"], *p["service"])
    central, own = (played(jobs, x, n, count) for x in ("central", "distributed"))
    late = [k + 1 for k, good in enumerate(sooner(central.pooled, own.pooled)) if not good]
    return {
        "central": central.sums(),
        "distributed": own.sums(),
        "central_EC": central.departures(),
        "distributed_EC": own.departures(),
        "order": [int(convex(central, own)), len(late)],
    }


# -------------------------------------------------------------------------------------------------
# Geometric services in slots


def departed(assignment, slots: list[int], p: float, end: int) -> Array:
    """[slot, j]: P(at least j jobs have left by the end of the slot); jobs may leave in the slot in
    which they come, with probability p as in any other.
    """
    count = len(assignment)
    law = np.zeros((count + 1, count + 1))  # of jobs at both servers
    law[0, 0] = 1
    out, come = [], iter(assignment)
    arrived = 0
    for slot in range(end):
        for _ in range(slots[slot] if slot < len(slots) else 0):
            law = np.roll(law, 1, axis=next(come))
            arrived += 1
        for axis in (0, 1):
            leaves = p * law
            leaves[(0, slice(None)) if axis == 0 else (slice(None), 0)] = 0
            law = law - leaves + np.roll(leaves, -1, axis=axis)
        there = np.zeros(2 * count + 1)
        np.add.at(there, np.add.outer(range(count + 1), range(count + 1)), law)
        gone = np.zeros(count + 1)
        gone[: arrived + 1] = there[: arrived + 1][::-1]
        out.append(gone[::-1].cumsum()[::-1])
    return np.array(out)


def geometric(words: list[str], p: dict):
    slots, count = p["arrivals_per_slot"], p["N"]
    turn = [i % 2 for i in range(count)]
    every = itertools.product((0, 1), repeat=count)
    if words[-1] == "violations":
        best = departed(turn, slots, p["p"], 60)
        return sum(bool((departed(a, slots, p["p"], 60) > best + EQUAL).any()) for a in every)
    end = p["slot"] + 1
    chosen = [turn] if words[-2] == "rr" else list(every)
    return sum(departed(a, slots, p["p"], end)[-1] for a in chosen) / len(chosen)


# -------------------------------------------------------------------------------------------------
# All jobs at time 0, exponential services


def makespan(n: int, count: int, random: bool, power: int = 1) -> float:
    """E[(time when all are done)^power], dealt out in turn or at random: P(all done by t) is the
    coefficient of z^N in the n-th power of sum_k (z/n)^k / k! P(k done by t), times N!.
    """
    k = np.arange(count + 1)

    def undone(t: float) -> float:
        one = np.append(1.0, special.gammainc(k[1:], t))
        if not random:
            return 1 - one[count // n] ** n
        series = one / float(n) ** k / special.factorial(k)
        power = np.ones(1)
        for _ in range(n):
            power = np.convolve(power, series)[: count + 1]
        return 1 - power[count] * math.factorial(count)

    moment = integrate.quad(
        lambda t: power * t ** (power - 1) * undone(t), 0, np.inf, epsabs=1e-10, limit=400
    )
    return moment[0]


def completion_sum(n: int, count: int, random: bool) -> float:
    """E[sum of completion times]: a job waits for those before it at its server."""
    if random:
        return count + count * (count - 1) / (2 * n)
    each = count // n
    return n * each * (each + 1) / 2


# -------------------------------------------------------------------------------------------------


def holds(r: dict) -> bool:
    """Whether value_of() has the record."""
    words = r["id"].split(".")
    return words[0] == "lr" and words[1] in ("enum", "cvd", "counterexample", "geom", "batch0")


def value_of(r: dict):
    """The value that enumeration gives, or None where it has nothing to say."""
    p, words = r["parameters"], r["id"].split(".")
    if words[:2] == ["lr", "enum"]:
        names = ("n", "N", "arrivals", "service_values", "service_probs")
        names += ("down_scenarios_equally_likely",)
        return enumerated(json.dumps({x: p[x] for x in names if x in p})).get(words[-1])
    if words[:2] == ["lr", "cvd"]:
        names = ("n", "N", "arrivals", "service")
        return two_levels(json.dumps({x: p[x] for x in names})).get(words[-1])
    if words[:2] == ["lr", "counterexample"]:
        jobs = Jobs(p["n"], p["arrivals"], [0.5, 2.0], [2 / 3, 1 / 3])
        law = Law.of(jobs, (0, 1, 0, 1, 0) if words[-1] == "rr" else (0, 1, 0, 1, 1))
        return law.pooled[-1, : whole([p["t"]])[0] + 1].sum()
    if words[:2] == ["lr", "geom"]:
        return geometric(words, p)
    if words[:2] == ["lr", "batch0"]:
        of = makespan if words[-1] == "makespan" else completion_sum
        return of(p["n"], p["N"], words[2] == "bern")
    return None


def main() -> int:
    for r in json.loads((theory.HERE / "oracles.json").read_text()):
        if holds(r):
            value = value_of(r)
            theory.check(r["id"], np.atleast_1d(value), np.atleast_1d(r["value"]), r["abs_tol"])
    print(f"{theory.passed} passed, {theory.failed} failed")
    return int(theory.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
