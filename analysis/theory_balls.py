# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says about balls thrown into bins: exact laws, fluid limits and exact costs.

Where servers stand, that is random graphs, arcs and the plane, is in theory_places.py.
Throughout, m balls (jobs) are thrown one after the other into n bins (servers). s_k is the fraction
of bins with load at least k, c = m/n. Four kinds of truth, never to be mixed up:

- exact for every n: `one_choice_*`, `choices_max_cdf`, `sorted_chain`, `labelled_chain`, `*_cost`;
- fluid limits, n to infinity with m = c n: `fluid_*`; a finite system differs by O(1/n) in the
  mean;
- approximations with a stated error: `poisson_max_cdf`;
- tools: shells, distances and pair laws of graphs.

References
----------
[ABKU] Azar, Broder, Karlin, Upfal, "Balanced allocations", SIAM J. Comput. 29(1), 1999.
[Mit] Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 12(10), 2001.
[Voe] Voecking, "How asymmetry helps load balancing", J. ACM 50(4), 2003.
[PTW] Peres, Talwar, Wieder, "Graphical balanced allocations and the (1+beta)-choice process", RSA
      47(4), 2015.
[KP] Kenthapadi, Panigrahy, "Balanced allocation on graphs", SODA 2006.
[PVB] Panigrahy, Vasantam, Basu, Towsley, Swami, Leung, "On the analysis and evaluation of
      proximity-based load-balancing policies", ACM TOMPECS 7(2-4), 2022.
"""
from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import integrate, optimize, special, stats

Array = NDArray[np.float64]

# -------------------------------------------------------------------------------------------------
# One choice


def one_choice_load(n: int, m: int, k_max: int) -> Array:
    """P(load of a given bin = k), k = 0..k_max: binomial(m, 1/n), which tends to Poisson(m/n).

    Any n >= 1, m >= 0. Exact.
    """
    return stats.binom.pmf(np.arange(k_max + 1), m, 1.0 / n)


def one_choice_max_cdf(n: int, m: int, k: int) -> float:
    """P(max load <= k) for one choice, exact up to rounding (about 1e-11 absolute at n = 4e6).

    The coefficient m!/n^m [z^m] (sum_{j<=k} z^j/j!)^n, read as a probability: for every rate a,

        P(max <= k) = F_a(k)^n P(Y_1 + .. + Y_n = m) / P(Poisson(n a) = m),

    with Y Poisson(a) conditioned on Y <= k and F_a(k) = P(Poisson(a) <= k). The rate is chosen so
    that E[Y] = m/n; then the middle factor is of order 1/sqrt(n) and a trapezoidal sum over its
    characteristic function gives it without loss.
    """
    if k < 0 or m > n * k:
        return float(m == 0 and k >= 0)
    if m == 0 or k >= m:
        return 1.0
    j = np.arange(k + 1)
    log_weight = -special.gammaln(j + 1.0)
    if m == n * k:
        return float(
            np.exp(special.gammaln(m + 1.0) - n * special.gammaln(k + 1.0) - m * math.log(n))
        )

    def law(log_rate: float) -> Array:
        w = log_weight + j * log_rate
        w = np.exp(w - w.max())
        return w / w.sum()

    log_rate = optimize.brentq(
        lambda x: float(law(x) @ j) - m / n, -60.0, 60.0, xtol=1e-14, rtol=8.9e-16
    )
    rate, p = math.exp(log_rate), law(log_rate)
    spread = math.sqrt(n * max(float(p @ (j - m / n) ** 2), 1e-12))
    points = 2 * int(min(n * k + 1, 40 * spread + 64)) + 1
    theta = 2 * np.pi * (np.arange(points) - points // 2) / points
    characteristic = np.exp(1j * np.outer(theta, j - m / n)) @ p  # of Y - E[Y]
    middle = float(np.mean(np.exp(n * np.log(characteristic + 0j)).real))
    log_f = _poisson_log_cdf(k, rate)
    log_poisson = m * math.log(n * rate) - n * rate - special.gammaln(m + 1.0)
    return float(min(1.0, max(middle, 0.0) * math.exp(n * log_f - log_poisson)))


def _poisson_log_cdf(k: int, rate: float) -> float:
    """log P(Poisson(rate) <= k), accurate also when the probability is next to 1 or to 0."""
    above = float(special.gammainc(k + 1.0, rate))  # P(Poisson > k)
    if above < 0.5:
        return math.log1p(-above)
    terms = np.arange(k + 1) * math.log(rate) - rate - special.gammaln(np.arange(k + 1) + 1.0)
    return float(special.logsumexp(terms))


def one_choice_max_pmf(n: int, m: int, k_max: int) -> Array:
    """P(max load = k), k = 0..k_max, one choice; see `one_choice_max_cdf`."""
    return np.diff([one_choice_max_cdf(n, m, k) for k in range(-1, k_max + 1)])


def one_choice_max_mean(n: int, m: int) -> float:
    """E[max load] = sum over k of P(max > k), one choice. Exact up to rounding."""
    total, k = 0.0, 0
    while (above := 1.0 - one_choice_max_cdf(n, m, k)) > 1e-11 or k < m / n:
        total, k = total + above, k + 1
    return total


# -------------------------------------------------------------------------------------------------
# Fluid limits: n to infinity, m = c n


def _solve(
    rate: Callable[[Array], Array], size: int, c: float, least: float = 1e-60
) -> Array:
    """Integrates y' = rate(y) from y = 0 over [0, c]; relative accuracy about 1e-9 of each
    component that is much larger than `least`.
    """
    solution = integrate.solve_ivp(
        lambda _, y: rate(y), (0.0, c), np.zeros(size), method="DOP853", rtol=1e-12, atol=least
    )
    return np.clip(solution.y[:, -1], 0.0, 1.0)


def fluid_choices(d: int, c: float, k_max: int) -> Array:
    """s_0..s_{k_max} of d independent choices at c balls per bin: s_k' = s_{k-1}^d - s_k^d ([Mit],
    equation 1).

    Any d >= 1 and c >= 0; ties do not matter. d = 1 gives the Poisson tail.
    """

    def rate(s: Array) -> Array:
        power = np.concatenate([[1.0], s]) ** d
        return power[:-1] - power[1:]

    return np.concatenate([[1.0], _solve(rate, k_max, c)])


def fluid_one_plus_beta(beta: float, c: float, k_max: int) -> Array:
    """s_0..s_{k_max} of the (1+beta) process of [PTW]: s_k' = beta (s_{k-1}^2 - s_k^2) +
    (1-beta)(s_{k-1} - s_k).
    """

    def rate(s: Array) -> Array:
        full = np.concatenate([[1.0], s])
        drive = beta * full**2 + (1 - beta) * full
        return drive[:-1] - drive[1:]

    return np.concatenate([[1.0], _solve(rate, k_max, c)])


def fluid_left(d: int, c: float, k_max: int) -> Array:
    """u[g, k], k = 0..k_max: fraction of the bins of group g = 0..d-1 with load >= k under
    always-go-left ([Voe]).

    A ball enters group g at a bin of load k-1 when the bins to the left have load >= k and those to
    the right >= k-1: u_{g,k}' = d (u_{g,k-1} - u_{g,k}) prod_{h<g} u_{h,k} prod_{h>g} u_{h,k-1}.
    All bins: the mean over g. Values below 1e-20 are inaccurate (tiny ones cost most of the time).
    """

    def rate(y: Array) -> Array:
        u = np.column_stack([np.ones(d), y.reshape(d, k_max)])
        out = np.empty((d, k_max))
        for g in range(d):
            left = np.prod(u[:g, 1:], axis=0)
            right = np.prod(u[g + 1 :, :-1], axis=0)
            out[g] = d * (u[g, :-1] - u[g, 1:]) * left * right
        return out.reshape(-1)

    return np.column_stack([np.ones(d), _solve(rate, d * k_max, c, 1e-25).reshape(d, k_max)])


def poisson_max_cdf(n: int, s: ArrayLike, k: int) -> float:
    """P(max load <= k) as if the n s_{k+1} expected bins above k were Poisson: exp(-n s_{k+1}).

    s is a fluid tail (index = load). An approximation: within 0.02 of the exact value for d >= 2, n
    >= 256, m = n.
    """
    return math.exp(-n * float(np.asarray(s)[k + 1]))


# -------------------------------------------------------------------------------------------------
# d choices, exact, by the number of bins of each load


def _all_at_least(count: NDArray, n: int, d: int, distinct: bool) -> Array:
    """P(all d candidates lie among `count` bins)."""
    x = np.maximum(np.asarray(count, dtype=float), 0.0)
    if not distinct:
        return (x / n) ** d
    out = np.ones_like(x)
    for i in range(d):
        out = out * np.maximum(x - i, 0.0) / (n - i)
    return out


def choices_max_below_three(n: int, m: int, d: int, distinct: bool = False) -> float:
    """P(max load <= 2) under d choices ([ABKU]), exact. One dimension: bins of load 2; n to 1e5."""
    if m > 2 * n:
        return 0.0
    two = np.arange(min(n, m // 2) + 1)
    p = np.zeros(len(two))
    p[0] = 1.0
    for t in range(m):
        one = t - two  # bins of load >= 1
        all_one = _all_at_least(np.clip(one, 0, n), n, d, distinct)
        all_two = _all_at_least(two, n, d, distinct)
        up = p * (all_one - all_two)
        p = p * (1 - all_one)
        p[1:] += up[:-1]
    return float(p.sum())


def choices_tail(
    n: int, m: int, d: int, distinct: bool = False, prune: float = 1e-22
) -> tuple[float, float, float]:
    """P(max load <= 3), E[N_{>=2} | max <= 3], E[N_{>=3} | max <= 3] under d choices ([ABKU]).

    The state is (bins with load >= 2, bins with load >= 3); those with load >= 1 follow from the
    number of balls. Only the rectangle around states more probable than `prune` is kept, which
    bounds the error by prune times the states. n to about 1e4.
    """
    if m > 3 * n:
        return 0.0, math.nan, math.nan
    a0 = b0 = 0
    p = np.ones((1, 1))
    for t in range(m):
        a = (a0 + np.arange(p.shape[0]))[:, None]
        b = (b0 + np.arange(p.shape[1]))[None, :]
        all_one = _all_at_least(np.clip(t - a - b, 0, n), n, d, distinct)
        all_two = _all_at_least(a, n, d, distinct)
        all_three = _all_at_least(b, n, d, distinct)
        new = np.zeros((p.shape[0] + 1, p.shape[1] + 1))
        new[:-1, :-1] += p * (1 - all_one)
        new[1:, :-1] += p * (all_one - all_two)
        new[:-1, 1:] += p * (all_two - all_three)
        rows, cols = np.nonzero(new > prune)
        p = new[rows.min() : rows.max() + 1, cols.min() : cols.max() + 1]
        a0, b0 = a0 + int(rows.min()), b0 + int(cols.min())
    total = float(p.sum())
    two = float(p.sum(axis=1) @ (a0 + np.arange(p.shape[0]))) / total
    three = float(p.sum(axis=0) @ (b0 + np.arange(p.shape[1]))) / total
    return total, two, three


def choices_max_cdf(n: int, m: int, d: int, k: int, distinct: bool = False) -> float:
    """P(max load <= k) under d choices for k = 2 or 3, exact."""
    if k == 2:
        return choices_max_below_three(n, m, d, distinct)
    if k == 3:
        return choices_tail(n, m, d, distinct)[0]
    raise ValueError("k must be 2 or 3")


# -------------------------------------------------------------------------------------------------
# Small systems, every state


@dataclass(frozen=True)
class LoadLaw:
    """Law of the load vector after m balls.

    Attributes
    ----------
    states : (S, n) loads; probability : (S,).
    cost : expected mean cost per ball in hops, NaN where the system has no distances.
    """

    states: NDArray[np.int64]
    probability: Array
    cost: float = math.nan

    def _expect(self, value: NDArray) -> float:
        return float(self.probability @ value)

    def _pmf(self, value: NDArray) -> Array:
        return np.bincount(value, weights=self.probability)

    def max_pmf(self) -> Array:
        """P(max load = k), k = 0, 1, ..."""
        return self._pmf(self.states.max(axis=1))

    def min_pmf(self) -> Array:
        """P(min load = k), k = 0, 1, ..."""
        return self._pmf(self.states.min(axis=1))

    def max_mean(self) -> float:
        """E[max load]."""
        return self._expect(self.states.max(axis=1))

    def spread_mean(self) -> float:
        """E[max load - min load]."""
        return self._expect(np.ptp(self.states, axis=1))

    def variance_mean(self) -> float:
        """E[(1/n) sum_i (load_i - m/n)^2]."""
        return self._expect(self.states.var(axis=1))

    def bins_with(self, k_max: int) -> Array:
        """E[number of bins with load k], k = 0..k_max."""
        return np.array([self._expect((self.states == k).sum(axis=1)) for k in range(k_max + 1)])

    def bin_means(self) -> Array:
        """E[load_i]."""
        return self.probability @ self.states

    def bin_variances(self) -> Array:
        """Var(load_i)."""
        return self.probability @ self.states.astype(float) ** 2 - self.bin_means() ** 2


def left_groups(n: int, d: int) -> list[int]:
    """Sizes of the d groups [g n/d, (g+1) n/d) of always-go-left."""
    ends = [g * n // d for g in range(d + 1)]
    return [b - a for a, b in zip(ends, ends[1:])]


def sorted_chain(n: int, m: int, rule: str, d: int = 2, beta: float = 0.0) -> LoadLaw:
    """Law of the sorted loads for rules that do not look at positions; exact, n m up to a few
    hundred.

    Parameters
    ----------
    rule : "one", "replacement" (d independent uniform bins), "distinct" (d different bins),
        "one-plus-beta" (two independent ones with probability beta, else one), "left" (one bin of
        each of d groups, leftmost wins ties; the loads are sorted within each group).

    Notes
    -----
    Ties among exchangeable bins do not change the law of the loads, so there is no tie rule here
    ([ABKU], [Voe]).
    """
    sizes = left_groups(n, d) if rule == "left" else [n]
    law: dict[tuple[tuple[int, ...], ...], float] = {tuple((0,) * s for s in sizes): 1.0}
    for _ in range(m):
        following: dict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
        for state, p in law.items():
            for group, load, q in _moves(state, rule, n, d, beta):
                following[_with_ball(state, group, load)] += p * q
        law = following
    states = np.array([[x for part in state for x in part] for state in law], dtype=np.int64)
    return LoadLaw(states, np.array(list(law.values())))


def _with_ball(
    state: tuple[tuple[int, ...], ...], group: int, load: int
) -> tuple[tuple[int, ...], ...]:
    part = list(state[group])
    part[part.index(load)] += 1
    return state[:group] + (tuple(sorted(part)),) + state[group + 1 :]


def _moves(state: tuple[tuple[int, ...], ...], rule: str, n: int, d: int, beta: float):
    """(group, load, probability that the next ball goes to a bin of that load in that group)."""
    if rule == "left":
        for g, part in enumerate(state):
            for load in set(part):
                q = part.count(load) / len(part)
                for h, other in enumerate(state):
                    if h != g:
                        q *= sum(x > load if h < g else x >= load for x in other) / len(other)
                if q > 0:
                    yield g, load, q
        return

    def all_at_least(count: int) -> float:
        if rule == "distinct":
            return math.comb(count, d) / math.comb(n, d)
        if rule == "one-plus-beta":
            return beta * (count / n) ** 2 + (1 - beta) * count / n
        return (count / n) ** (1 if rule == "one" else d)

    if rule not in ("one", "replacement", "distinct", "one-plus-beta"):
        raise ValueError(f"unknown rule {rule!r}")
    part = state[0]
    for load in set(part):
        q = all_at_least(sum(x >= load for x in part)) - all_at_least(sum(x > load for x in part))
        if q > 0:
            yield 0, load, q


def labelled_chain(
    m: int, pairs: ArrayLike, ties: str = "fair", distance: ArrayLike | None = None
) -> LoadLaw:
    """Law of the load vector when a ball draws an ordered pair (u, v) and goes to the less loaded
    of the two.

    Covers Unif-POT(k) and InvSq-POT(k) of [PVB], the edge process of [KP] and the power of two
    itself, on any graph. Exact; n to about 9, m to about 16 (the states number C(m+n-1, m)).

    Parameters
    ----------
    pairs : (n, n) probabilities of u (the origin) and v, see `pair_law`; the diagonal means no
        choice.
    ties : "fair", or "origin": u keeps the ball.
    distance : (n, n) hops, for the expected cost.
    """
    p = np.asarray(pairs, dtype=float)
    n = p.shape[0]
    hops = np.full((n, n), np.nan) if distance is None else np.asarray(distance, dtype=float)
    base = (m + 1) ** np.arange(n, dtype=np.int64)
    if (m + 1.0) ** n > 2.0**62:
        raise ValueError("too many states")
    states, probability, cost = np.zeros((1, n), dtype=np.int64), np.ones(1), 0.0
    for _ in range(m):
        to = np.zeros(states.shape)  # probability that the next ball goes to bin i
        for u in range(n):
            for v in np.nonzero(p[u])[0]:
                tie = 0.5 if ties == "fair" else 0.0
                move = np.where(
                    states[:, v] < states[:, u],
                    1.0,
                    np.where(states[:, v] == states[:, u], tie, 0.0),
                )
                to[:, v] += p[u, v] * move
                to[:, u] += p[u, v] * (1 - move)
                if v != u:
                    cost += p[u, v] * hops[u, v] * float(probability @ move)
        key = states @ base
        keys, place = np.unique((key[:, None] + base[None, :]).ravel(), return_inverse=True)
        probability = np.bincount(place, weights=(probability[:, None] * to).ravel())
        keep = probability > 0
        states = (keys[keep][:, None] // base[None, :]) % (m + 1)
        probability = probability[keep]
    return LoadLaw(states, probability, cost / m if m else math.nan)


# -------------------------------------------------------------------------------------------------
# Graphs: vertices row-major, last side fastest; the centre of a star and the root of a tree are 0


def _sides(sides: str | Sequence[int]) -> list[int]:
    return [int(s) for s in sides.split("x")] if isinstance(sides, str) else [int(s) for s in sides]


def distances(
    topology: str, *, n: int = 0, sides: str | Sequence[int] = (), dim: int = 0, children: int = 2
) -> Array:
    """(n, n) hops between vertices: a small dense matrix, built from the definition of each family.

    topology : complete, ring, line, star, tree (n; tree also children), grid, torus (sides),
        hypercube (dim).
    """
    if topology in ("ring", "line"):
        sides, topology = [n], "torus" if topology == "ring" else "grid"
    if topology == "complete":
        return 1.0 - np.eye(n)
    if topology in ("grid", "torus"):
        sizes = _sides(sides)
        place = np.stack(
            np.meshgrid(*[np.arange(s) for s in sizes], indexing="ij"), axis=-1
        ).reshape(-1, len(sizes))
        apart = np.abs(place[:, None, :] - place[None, :, :])
        if topology == "torus":
            apart = np.minimum(apart, np.array(sizes) - apart)
        return apart.sum(axis=-1).astype(float)
    if topology == "hypercube":
        x = np.arange(2**dim)
        differ = x[:, None] ^ x[None, :]
        return sum(((differ >> b) & 1 for b in range(dim)), np.zeros_like(differ)).astype(float)
    if topology in ("star", "tree"):
        branch = n if topology == "star" else children
        edges = [(i, (i - 1) // branch) for i in range(1, n)]
        return graph_distances(n, edges)
    raise ValueError(f"unknown topology {topology!r}")


def graph_distances(n: int, edges: Sequence[tuple[int, int]]) -> Array:
    """(n, n) hops in any undirected graph by breadth-first search; infinite between components."""
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    out = np.full((n, n), np.inf)
    for start in range(n):
        out[start, start], layer, depth = 0, [start], 0
        while layer:
            depth, reached = depth + 1, []
            for x in layer:
                for y in near[x]:
                    if np.isinf(out[start, y]):
                        out[start, y] = depth
                        reached.append(y)
            layer = reached
    return out


def shells(
    topology: str, *, n: int = 0, sides: str | Sequence[int] = (), dim: int = 0
) -> NDArray[np.int64]:
    """Vertices at distance 0, 1, 2, ... from any vertex of a complete graph, ring, torus or
    hypercube.

    Exact for odd and unequal sides, sides 1 and 2 and distances beyond half: a ring of s places has
    the residues 0..s-1 at distance min(r, s - r), and distances add over the dimensions, so shells
    convolve. n to 1e15.
    """
    if topology == "complete":
        return np.array([1, n - 1], dtype=np.int64)
    if topology == "hypercube":
        return np.array([math.comb(dim, h) for h in range(dim + 1)], dtype=np.int64)
    if topology not in ("ring", "torus"):
        raise ValueError(f"the shells of a {topology} differ from vertex to vertex")
    total = np.array([1], dtype=np.int64)
    for side in [n] if topology == "ring" else _sides(sides):
        residues = np.arange(side)
        total = np.convolve(total, np.bincount(np.minimum(residues, side - residues)))
    return total


def hop_law(shell: ArrayLike, policy: str, k: int = 0, self_included: bool = False) -> Array:
    """P(dist(u, v) = h), h = 0, 1, ..., of the second candidate on a graph that looks the same from
    everywhere.

    policy : "pot", "unif-pot" or "invsq-pot" ([PVB]), k hops; k beyond the diameter means
        everybody.
    """
    size = np.asarray(shell, dtype=float).copy()
    hops = np.arange(len(size))
    if policy == "invsq-pot":
        weight = np.where(hops > 0, size / np.maximum(hops, 1) ** 2, 0.0)
    else:
        weight = np.where((hops > 0) | self_included, size, 0.0)
    if policy != "pot":
        weight[hops > k] = 0.0
    return weight / weight.sum()


def pair_cost(law: ArrayLike) -> float:
    """Mean cost in hops per ball when the pair (u, v) is exchangeable and ties are fair: E[dist(u,
    v)] / 2.

    Swapping u and v changes neither the law of the pair nor the loads seen, and exactly one of the
    two orders moves the ball. So given everything before, a ball moves with probability 1/2
    whatever its distance: costs of different balls are independent, with the law (1/2 at 0, half of
    `law` beyond). Holds for `pot` on every connected graph and for `unif-pot`, `invsq-pot` on
    vertex-transitive ones.
    """
    return float(np.arange(len(np.asarray(law))) @ np.asarray(law, dtype=float)) / 2


def moved_law(law: ArrayLike) -> Array:
    """P(cost of a ball = h), h = 0, 1, ..., under the conditions of `pair_cost`."""
    out = np.asarray(law, dtype=float) / 2
    out[0] = 1 - out[1:].sum()
    return out


def pot_hop_law(distance: ArrayLike) -> Array:
    """P(dist = h) of two different uniform vertices of any connected graph, from its distance
    matrix.
    """
    d = np.asarray(distance)
    apart = d[~np.eye(len(d), dtype=bool)].astype(int)
    return np.bincount(apart) / len(apart)


def mean_distance(
    topology: str, *, n: int = 0, sides: str | Sequence[int] = (), dim: int = 0
) -> float:
    """E[dist] of two different uniform vertices in closed form; any size.

    complete, star, line, ring, grid, torus, hypercube. Half of it is the cost of `pot` with fair
    ties.
    """
    if topology == "complete":
        return 1.0
    if topology == "star":
        return 2.0 * (n - 1) / n
    size = {"ring": [n], "line": [n], "hypercube": [2] * dim}.get(topology) or _sides(sides)
    total = math.prod(size)
    if topology in ("line", "grid"):
        same_allowed = sum((s * s - 1) / (3 * s) for s in size)
    else:
        same_allowed = sum((s * s // 4) / s for s in size)
    return same_allowed * total / (total - 1)


def pair_law(distance: ArrayLike, policy: str, k: int = 0, self_included: bool = False) -> Array:
    """(n, n) probabilities of the ordered pair (origin u, candidate v) on any graph, for
    `labelled_chain`.

    policy : "one-choice", "pot", "unif-pot", "invsq-pot" ([PVB]; u uniform, then v) or "edge"
        ([KP]; a uniform edge, u a fair end of it). A vertex without neighbours keeps its balls.
        With k = 1 the pair is a uniform edge only on regular graphs.
    """
    d = np.asarray(distance, dtype=float)
    n = len(d)
    off = ~np.eye(n, dtype=bool)
    if policy == "edge":
        weight = (d == 1).astype(float)
        return weight / weight.sum()
    if policy == "one-choice":
        return np.eye(n) / n
    if policy == "pot":
        weight = off.astype(float)
    elif policy == "unif-pot":
        weight = ((d <= k) & (off | self_included)).astype(float)
    elif policy == "invsq-pot":
        weight = np.where(off & (d <= k), 1.0 / np.where(off, d, 1.0) ** 2, 0.0)
    else:
        raise ValueError(f"unknown policy {policy!r}")
    alone = weight.sum(axis=1) == 0
    weight[alone, alone] = 1.0
    return weight / weight.sum(axis=1, keepdims=True) / n


# -------------------------------------------------------------------------------------------------
# Total variation


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """1/2 sum |p_k - q_k| of two laws on 0, 1, 2, ..., the shorter padded with zeros."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    size = max(len(p), len(q))
    return 0.5 * float(np.abs(np.pad(p, (0, size - len(p))) - np.pad(q, (0, size - len(q)))).sum())
