# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says about queues: single servers, round robin, breakdowns, the supermarket model.

Beside theory.py, which knows the balls. Conventions of the model `queue`: `lam` is the arrival rate
of a server (of all servers together where a function says so), N the number at a server, waiting or
in service, W the wait before service, T = W + service the response. E[N] = lam E[T] always. Kinds
of truth, never to be mixed up:

- exact for every n: everything up to `mg1_repeat_load`, given its assumptions;
- limits, n to infinity: `supermarket_tails`, `supermarket_response`, `gim1_sigma` for deterministic
  gaps as the limit of round robin;
- approximations with an error of O(1/n^2): `supermarket_refined`.

References
----------
[Kle] Kleinrock, "Queueing systems", vol. 1, 1975: M/G/1 (Pollaczek, Khinchine), G/M/1, M/M/c.
[Asm] Asmussen, "Applied probability and queues", 2nd edition, 2003: Spitzer's identity, G/G/1.
[Tak] Takacs, "Introduction to the theory of queues", 1962: moments of the wait of M/G/1.
[WC]  White, Christie, "Queuing with preemptive priorities or with breakdown", Oper. Res. 6(1),
      1958; Avi-Itzhak, Naor, "Some queuing problems with the service station subject to breakdown",
      Oper. Res. 11(3), 1963.
[LR]  Liu, Righter, "Optimal load balancing on distributed homogeneous unreliable processors", Oper.
      Res. 46(4), 1998.
[VDK] Vvedenskaya, Dobrushin, Karpelevich, "Queueing system with selection of the shortest of two
      queues", Probl. Inf. Transm. 32(1), 1996.
[Mit] Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 12(10), 2001.
[GVH] Gast, Van Houdt, "A refined mean field approximation", POMACS 1(2), 2017.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, linalg, optimize, special, stats

Array = NDArray[np.float64]

# -------------------------------------------------------------------------------------------------
# Laws of times


@dataclass(frozen=True)
class Moments:
    """E[X], E[X^2], E[X^3] of a time; infinite where there is none."""

    first: float
    second: float
    third: float

    def times(self, factor: float) -> Moments:
        return Moments(factor * self.first, factor**2 * self.second, factor**3 * self.third)

    @property
    def scv(self) -> float:
        """Squared coefficient of variation."""
        return self.second / self.first**2 - 1


def moments(law: str, mean: float = 1.0, **parameters) -> Moments:
    """Moments of a law of the job language, by its names and parameters. Exact.

    `uniform` is on (0, 2 mean); `hyperexponential` has balanced means; `pareto` is type I with
    minimum mean (a-1)/a, `lomax` is type II; `geometric` counts from 1.
    """
    if law == "deterministic":
        unit = Moments(1.0, 1.0, 1.0)
    elif law == "exponential":
        unit = Moments(1.0, 2.0, 6.0)
    elif law == "uniform":
        unit = Moments(1.0, 4 / 3, 2.0)
    elif law == "erlang":
        k = parameters["shape"]
        unit = Moments(1.0, (k + 1) / k, (k + 1) * (k + 2) / k**2)
    elif law == "hyperexponential":
        p, rates = hyperexponential(parameters["scv"])
        unit = Moments(*(float(math.factorial(i) * (p / rates**i).sum()) for i in (1, 2, 3)))
    elif law == "lognormal":
        c = 1 + parameters["scv"]
        unit = Moments(1.0, c, c**3)
    elif law == "weibull":
        a = 1 / parameters["shape"]
        raw = [special.gamma(1 + i * a) for i in (1, 2, 3)]
        unit = Moments(1.0, raw[1] / raw[0] ** 2, raw[2] / raw[0] ** 3)
    elif law == "pareto":
        a = parameters["shape"]
        low = (a - 1) / a
        raw = [a * low**i / (a - i) if a > i else math.inf for i in (1, 2, 3)]
        unit = Moments(*raw)
    elif law == "lomax":
        a = parameters["shape"]
        second = 2 * (a - 1) / (a - 2) if a > 2 else math.inf
        unit = Moments(1.0, second, 3 * second * (a - 1) / (a - 3) if a > 3 else math.inf)
    elif law == "discrete":
        x, p = np.asarray(parameters["values"]), np.asarray(parameters["probabilities"])
        return Moments(*(float(p @ x**i) for i in (1, 2, 3)))
    elif law == "geometric":
        p = 1 / mean
        return Moments(mean, (2 - p) / p**2, (6 - 6 * p + p**2) / p**3)
    else:
        raise ValueError(f"unknown law {law!r}")
    return unit.times(mean)


def hyperexponential(scv: float) -> tuple[Array, Array]:
    """Probabilities and rates of the two phases with mean 1 and balanced means: p / rate equal."""
    p = (1 + math.sqrt((scv - 1) / (scv + 1))) / 2
    weights = np.array([p, 1 - p])
    return weights, 2 * weights


# -------------------------------------------------------------------------------------------------
# One server, Poisson arrivals


def mg1_wait(lam: float, service: Moments) -> float:
    """E[W] of M/G/1, lam E[S^2] / (2 (1 - rho)) ([Kle] 5.6). Exact for rho = lam E[S] < 1; the law
    of each server when Poisson arrivals are routed at random.
    """
    return lam * service.second / (2 * (1 - lam * service.first))


def mg1_wait_second(lam: float, service: Moments) -> float:
    """E[W^2] of M/G/1, first come first served: 2 E[W]^2 + lam E[S^3] / (3 (1 - rho)) ([Tak])."""
    return 2 * mg1_wait(lam, service) ** 2 + lam * service.third / (3 * (1 - lam * service.first))


def mg1_response(lam: float, service: Moments) -> float:
    """E[T] of M/G/1. Exact."""
    return mg1_wait(lam, service) + service.first


def mg1_response_second(lam: float, service: Moments) -> float:
    """E[T^2] of M/G/1: the wait of a job does not depend on its own service. Exact."""
    wait = mg1_wait(lam, service)
    return mg1_wait_second(lam, service) + 2 * wait * service.first + service.second


def md1_tails(lam: float, k_max: int) -> Array:
    """P(N >= k), k = 0..k_max, of M/D/1 with service 1, from its embedded chain ([Kle] 5.3)."""
    arrivals = stats.poisson.pmf(np.arange(k_max + 2), lam)
    p = np.zeros(k_max + 1)
    p[0] = 1 - lam
    for k in range(k_max):
        back = sum(p[j] * arrivals[k + 1 - j] for j in range(1, k + 1))
        p[k + 1] = (p[k] - p[0] * arrivals[k] - back) / arrivals[0]
    return 1 - np.concatenate([[0.0], np.cumsum(p)[:-1]])


def mm1_response_quantile(lam: float, q: float) -> float:
    """Quantile of T of M/M/1 with service mean 1: T is exponential with rate 1 - lam. Exact."""
    return -math.log1p(-q) / (1 - lam)


def mm1_response_excess(lam: float, c: float) -> float:
    """E[(T - c)^+] of M/M/1 with service mean 1. Exact."""
    return math.exp(-(1 - lam) * c) / (1 - lam)


# -------------------------------------------------------------------------------------------------
# One server, exponential service, other arrivals


def gim1_sigma(transform: Callable[[float], float]) -> float:
    """Probability that an arrival at GI/M/1 with service mean 1 waits: the root in (0, 1) of sigma
    = E[exp(-(1 - sigma) A)] ([Kle] 6.4); T is exponential with rate 1 - sigma, N seen by arrivals
    geometric. Exact for E[A] > 1.
    """
    return float(
        optimize.brentq(lambda x: transform(1 - x) - x, 0.0, 1 - 1e-12, xtol=1e-15, rtol=8.9e-16)
    )


def round_robin_sigma(n: int, rho: float) -> float:
    """sigma of central round robin over n exponential servers, Poisson arrivals: each server is
    E_n/M/1. Exact; n = infinity is D/M/1.
    """
    if math.isinf(n):
        return gim1_sigma(lambda s: math.exp(-s / rho))
    return gim1_sigma(lambda s: (n * rho / (n * rho + s)) ** n)


def round_robin_response(n: int, rho: float) -> float:
    """E[T] of central round robin, exponential service. Exact."""
    return 1 / (1 - round_robin_sigma(n, rho))


def round_robin_tails(n: int, rho: float, k_max: int) -> Array:
    """P(N >= k), k = 0..k_max, of a server at a random time: 1, then rho sigma^{k-1} ([Kle] 6.4).
    """
    sigma = round_robin_sigma(n, rho)
    return np.array([1.0] + [rho * sigma ** (k - 1) for k in range(1, k_max + 1)])


def deterministic_random_response(n: int, rho: float) -> float:
    """E[T] when jobs come every 1/(n rho) and go to a random one of n exponential servers.
    Exact.
    """
    gap = 1 / (n * rho)

    def transform(s: float) -> float:
        return math.exp(-s * gap) / n / (1 - (1 - 1 / n) * math.exp(-s * gap))

    return 1 / (1 - gim1_sigma(transform))


def batch_random_response(n: int, size: int, rho: float) -> float:
    """E[T] when batches of `size` jobs come as one Poisson process and each job goes to a random
    one of n exponential servers of load rho: M^X/M/1 with binomial X, one of whose jobs waits for
    half of the others that come with it. Exact.
    """
    return (1 + (size - 1) / (2 * n)) / (1 - rho)


# -------------------------------------------------------------------------------------------------
# Several servers


def mdn_wait(n: int, rho: float) -> float:
    """E[W] of M/D/n with service 1, and of central round robin over n such servers, job by job the
    same ([LR]): Spitzer's sum over k of E[(k - A_1 - .. - A_k)^+] / k, the gaps A of a server being
    Erlang(n, n rho) ([Asm] VIII.4). Exact up to a truncation below 1e-12 relative.
    """
    total, k, chunk = 0.0, 1, 1024
    while True:
        i = np.arange(k, k + chunk, dtype=float)
        a, x = n * i, n * rho * i
        terms = special.gammainc(a, x) - special.gammainc(a + 1, x) / rho
        total += float(terms.sum())
        if abs(terms[-1]) * max(1.0, 1 / (1 - rho) ** 2) < 1e-13 * max(total, 1e-300):
            return total
        k += chunk


def erlang_c(c: int, load: float) -> float:
    """P(wait) of M/M/c, `load` = total arrival rate times mean service < c ([Kle] 3.5). Exact."""
    blocking = 1.0
    for k in range(1, c + 1):
        blocking = load * blocking / (k + load * blocking)
    return blocking / (1 - load / c * (1 - blocking))


def mmc_wait(c: int, load: float) -> float:
    """E[W] of M/M/c with service mean 1; below the wait of every policy of parallel queues at the
    same load and exponential service. Exact.
    """
    return erlang_c(c, load) / (c - load)


# -------------------------------------------------------------------------------------------------
# Breakdowns: exponential times up (rate `fail`), times down of any law


def completion(service: Moments, fail: float, down: Moments) -> Moments:
    """Moments of the time from the start of a service to its end when interrupted work resumes:
    S + D_1 + .. + D_K, K Poisson(fail S) ([WC]); the third is not given (NaN). Exact.
    """
    slow = 1 + fail * down.first
    return Moments(
        service.first * slow,
        service.second * slow**2 + fail * service.first * down.second,
        math.nan,
    )


def mg1_breakdown_response(
    lam: float, service: Moments, fail: float, down: Moments, while_idle: bool = True
) -> float:
    """E[T] of M/G/1 whose server fails at rate `fail` of its time up (`while_idle`) or of its time
    serving, work resumes ([WC]). Exact.

    With failures while idle a job that finds the server empty may find it down; the delay of the
    first job of a busy period adds fail E[D^2] / (2 (1 + fail E[D])).
    """
    whole = completion(service, fail, down)
    idle = fail * down.second / (2 * (1 + fail * down.first)) if while_idle else 0.0
    return mg1_response(lam, whole) + idle


def mm1_breakdown_number(lam: float, mu: float, fail: float, repair: float) -> float:
    """E[N] of M/M/1 with exponential times up and down, also while idle, work resumes ([WC])."""
    both = fail + repair
    return lam * (both**2 + fail * mu) / (both * (repair * (mu - lam) - fail * lam))


def mm1_breakdown_occupied(lam: float, fail: float, repair: float) -> float:
    """P(N >= 1) in the same model with mu = 1: more than load over availability, since jobs also
    gather at a server that failed idle. Exact.
    """
    available = repair / (fail + repair)
    return 1 - (available - lam) * (1 + fail / (lam + repair))


def mg1_repeat_load(lam: float, service_mgf: float, fail: float, down: float) -> float:
    """Load when an interrupted service starts again with the *same* requirement: lam E[(e^{fail S}
    - 1) / fail] (1 + fail E[D]), `service_mgf` = E[e^{fail S}], which is infinite for lognormal and
    Pareto services ([WC]). Stable below 1. Exact.
    """
    return lam * (service_mgf - 1) / fail * (1 + fail * down)


# -------------------------------------------------------------------------------------------------
# The supermarket model: `choices{d}`, exponential service of mean 1


def supermarket_tails(lam: float, d: int, k_max: int) -> Array:
    """P(N >= k), k = 0..k_max, n to infinity: lam^((d^k - 1) / (d - 1)) ([VDK], [Mit])."""
    exponent = [k if d == 1 else (d**k - 1) // (d - 1) for k in range(k_max + 1)]
    return np.array([lam ** min(e, 10**6) for e in exponent])


def supermarket_response(lam: float, d: int) -> float:
    """E[T], n to infinity, d >= 2 ([Mit] 2.3)."""
    return float(supermarket_tails(lam, d, 64)[1:].sum()) / lam


def supermarket_refined(lam: float, d: int, k_max: int = 0, distinct: bool = False) -> Array:
    """V_k such that P(N >= k) = lam^(..) + V_k / n + O(1/n^2), k = 0..k_max ([GVH] theorem 1).

    A V + B(W) / 2 + C = 0 with A the Jacobian of the drift at the fixed point, W the solution of
    A W + W A^T + Q = 0, B its second derivatives, and C what drawing without replacement changes in
    the drift. `k_max` = 0: as many levels as matter. The correction of E[T] is sum(V[1:]) / lam.
    """
    if not k_max:
        k_max = next(k for k in range(2, 10_000) if supermarket_tails(lam, d, k)[k] < 1e-30)
    s = supermarket_tails(lam, d, k_max + 1)
    level = np.arange(1, k_max + 1)
    slope = d * lam * s ** (d - 1)  # of the rate at which jobs find d servers with k or more
    jacobian = np.diag(-slope[level] - 1)
    jacobian += np.diag(slope[level[:-1]], -1) + np.diag(np.ones(k_max - 1), 1)
    rates = lam * (s[level - 1] ** d - s[level] ** d) + s[level] - s[level + 1]
    w = linalg.solve_continuous_lyapunov(jacobian, -np.diag(rates))
    bend = np.zeros(k_max + 1)
    bend[1:] = d * (d - 1) * lam * s[level] ** (d - 2) * np.diag(w) / 2
    if distinct:
        bend -= lam * d * (d - 1) / 2 * s[: k_max + 1] ** (d - 1) * (1 - s[: k_max + 1])
    v = np.linalg.solve(jacobian, -(bend[level - 1] - bend[level]))
    return np.concatenate([[0.0], v])


# -------------------------------------------------------------------------------------------------
# Finite sets of jobs


def batch_last(n: int, each: int) -> float:
    """E[time when all are done] of `each` exponential jobs at each of n servers at time 0: the
    largest of n Erlang(each) times. Exact up to quadrature.
    """
    return float(
        integrate.quad(lambda t: 1 - special.gammainc(each, t) ** n, 0, np.inf, epsabs=1e-12)[0]
    )


def run_length(rho: float, relative: float = 0.01) -> float:
    """Simulated time after which the time average of N of one M/M/1 queue has a 95 % half width of
    `relative`: its asymptotic variance is 2 rho (1 + rho) / (1 - rho)^4. Exact.
    """
    variance = 2 * rho * (1 + rho) / (1 - rho) ** 4
    return variance * (stats.norm.ppf(0.975) / (relative * rho / (1 - rho))) ** 2


def empty_start_bias(rho: float, duration: float) -> float:
    """Bias of the time average of N of M/M/1 over [0, duration] from an empty start, to first
    order: -rho / ((1 - rho)^3 duration).
    """
    return -rho / ((1 - rho) ** 3 * duration)
