# SPDX-License-Identifier: GPL-3.0-or-later
"""What theory says about where servers stand: random graphs, arcs of a circle, the plane.

Beside theory.py, which knows the balls. Three kinds of truth:

- exact for every n: degrees of G(n, p) and G(n, M), adjacency of random geometric graphs, spacings
  of a circle, one choice on arcs, `recursive_tree_degrees`, mean distances;
- exact but for what is round the torus (an error below e^{-n/5}): `plane_distance`,
  `voronoi_second_moment(n)`, `nearest_variance`;
- limits, n to infinity: `barabasi_degree`, `fluid_arcs`, `voronoi_second_moment()`.

Lengths are those of the unit square and of the circle of circumference one.

References
----------
[Bol] Bollobas, "Random graphs", 2nd edition, 2001, chapter 3.
[BRST] Bollobas, Riordan, Spencer, Tusnady, "The degree sequence of a scale-free random graph
      process", RSA 18(3), 2001.
[Pen] Penrose, "Random geometric graphs", 2003.
[Ghosh] Ghosh, "Random distances within a rectangle and between two rectangles", Bull. Calcutta
      Math. Soc. 43, 1951.
[DN]  David, Nagaraja, "Order statistics", 3rd edition, 2003, section 6.4: spacings.
[Whi] Whitworth, "DCC exercises in choice and chance", 1897; Fisher, "Tests of significance in
      harmonic analysis", Proc. R. Soc. A 125, 1929.
[JK]  Johnson, Kotz, "Urn models and their application", 1977: Bose-Einstein statistics.
[BCM] Byers, Considine, Mitzenmacher, "Geometric generalizations of the power of two choices", SPAA
      2004.
[Gil] Gilbert, "Random subdivisions of space into crystals", Ann. Math. Statist. 33(3), 1962.
"""
from __future__ import annotations

import decimal
import math

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, linalg, special, stats

Array = NDArray[np.float64]

# -------------------------------------------------------------------------------------------------
# Random graphs: degrees


def erdos_renyi_degree(n: int, p: float, k_max: int) -> Array:
    """P(degree of a given vertex of G(n, p) = k), k = 0..k_max: binomial(n-1, p) ([Bol]). Exact."""
    return stats.binom.pmf(np.arange(k_max + 1), n - 1, p)


def erdos_renyi_isolated(n: int, p: float) -> float:
    """E[number of vertices without neighbours] of G(n, p): n (1-p)^{n-1} ([Bol]). Exact."""
    return n * (1 - p) ** (n - 1)


def uniform_graph_degree(n: int, edges: int, k_max: int) -> Array:
    """P(degree = k), k = 0..k_max, in G(n, M), M = `edges`: hypergeometric, n-1 of the n(n-1)/2
    possible edges are those of the vertex ([Bol]). Exact.
    """
    return stats.hypergeom.pmf(np.arange(k_max + 1), n * (n - 1) // 2, n - 1, edges)


def barabasi_degree(m: int, k_max: int) -> Array:
    """Limit of the share of vertices of degree k, k = 0..k_max, under linear preferential
    attachment of m edges ([BRST]): 2m(m+1)/(k(k+1)(k+2)) from k = m on; P(degree >= k) =
    m(m+1)/(k(k+1)).

    A graph of n vertices differs by O(1/n) where k is small and has no degrees far beyond m
    sqrt(n).
    """
    k = np.arange(k_max + 1, dtype=float)
    return np.where(k >= m, 2.0 * m * (m + 1) / np.maximum(k * (k + 1) * (k + 2), 1), 0.0)


def recursive_tree_degrees(n: int, k_max: int) -> Array:
    """E[share of vertices of degree k], k = 0..k_max, of the tree that linear preferential
    attachment of one edge makes of n vertices. Exact.

    A tree of t vertices has 2(t-1) ends of edges, k of them at a vertex of degree k.
    """
    if n == 1:
        return (np.arange(k_max + 1) == 0).astype(float)
    count, k = np.zeros(k_max + 1), np.arange(k_max + 1)
    count[1:2] = 2.0
    for t in range(2, n):
        moves = count * k / (2.0 * (t - 1))
        count = count - moves
        count[1:] += moves[:-1]
        count[1:2] += 1.0
    return count / n


# -------------------------------------------------------------------------------------------------
# Random geometric graphs: two uniform points


def torus_within(r: float) -> float:
    """P(two uniform points of the unit torus are within r): pi r^2 up to 1/2, then what the square
    [-1/2, 1/2]^2 leaves of the disc ([Pen]). Exact.
    """
    if r >= math.sqrt(0.5):
        return 1.0
    beyond = 0.0
    if r > 0.5:
        beyond = 4 * (r * r * math.acos(0.5 / r) - 0.5 * math.sqrt(r * r - 0.25))
    return math.pi * r * r - beyond


def square_within(r: float) -> float:
    """P(two uniform points of the unit square are within r): pi r^2 - 8 r^3/3 + r^4/2 up to 1, and
    the same law's branch beyond ([Ghosh]). Exact.
    """
    if r >= math.sqrt(2.0):
        return 1.0
    if r <= 1:
        return math.pi * r**2 - 8 * r**3 / 3 + r**4 / 2
    root = math.sqrt(r * r - 1)
    return (
        1 / 3
        - 2 * r**2
        - r**4 / 2
        + 4 * root * (2 * r**2 + 1) / 3
        + 2 * r**2 * (math.asin(1 / r) - math.acos(1 / r))
    )


def torus_degree(n: int, r: float, k_max: int) -> Array:
    """P(degree = k), k = 0..k_max, of a random geometric graph on the torus: binomial(n-1,
    `torus_within`), since every vertex sees the same ([Pen]). Exact.
    """
    return stats.binom.pmf(np.arange(k_max + 1), n - 1, torus_within(r))


TORUS_DISTANCE = (math.sqrt(2) + math.log(1 + math.sqrt(2))) / 6
"""E[distance of two uniform points of the unit torus], 0.3826: half the mean in a square from its
corner ([Ghosh]). Exact: on the torus it is also the mean cost of `pot`, whose candidates do not
depend on the job's point.
"""
SQUARE_DISTANCE = (2 + math.sqrt(2) + 5 * math.log(1 + math.sqrt(2))) / 15
"""The same of the unit square, 0.5214 ([Ghosh]). Exact."""

# -------------------------------------------------------------------------------------------------
# Servers on a circle: shares


def spacings(n: int) -> dict[str, float]:
    """Moments of n times the arcs D_1..D_n between n uniform points of a circle ([DN]). Exact.

    max: n E[max D] = H_n; max_sd: n sd(max D), from (D_i) = (E_i / sum E) with exponential E;
    min: n E[min D] = 1/n; squares: n E[sum D^2] = 2n/(n+1).
    """
    k = np.arange(1, n + 1, dtype=float)
    mean, second = float((1 / k).sum()), float((1 / k**2).sum())
    return {
        "max": mean,
        "max_sd": math.sqrt(n / (n + 1) * (second + mean**2) - mean**2),
        "min": 1 / n,
        "squares": 2 * n / (n + 1),
    }


def spacings_sorted(n: int) -> tuple[Array, Array]:
    """Mean and standard deviation of the k-th smallest of n arcs, k = 1..n: the mean is
    (1/n) sum_{j<k} 1/(n-j) ([DN]). Exact.

    The k-th smallest of n exponential variables has mean sum_{j<k} 1/(n-j) and variance
    sum_{j<k} 1/(n-j)^2; `spacings` says how arcs follow from them.
    """
    gap = 1 / np.arange(n, 0, -1, dtype=float)
    mean, variance = np.cumsum(gap), np.cumsum(gap**2)
    return mean / n, np.sqrt((variance + mean**2) / (n * (n + 1)) - (mean / n) ** 2)


def spacings_max_tail(n: int, x: float) -> float:
    """P(max arc > x) = sum_{k>=1, kx<1} (-1)^{k-1} C(n,k) (1-kx)^{n-1} ([Whi]). Exact; the terms
    are as large as 2^n, hence the long arithmetic; n to 1e4.
    """
    with decimal.localcontext() as context:
        context.prec = 40 + n // 3
        total, step = decimal.Decimal(0), decimal.Decimal(x)
        for k in range(1, n + 1):
            left = 1 - k * step
            if left <= 0:
                break
            total += (-1) ** (k - 1) * math.comb(n, k) * left ** (n - 1)
        return float(total)


def shares(n: int, positions: int = 1) -> dict[str, float]:
    """Moments of n times the shares of n servers that own `positions` = V arcs each. Exact but for
    the quadrature (1e-9); any n >= 2.

    Shares are Dirichlet(V, .., V), that is G_i / sum G with independent Gamma(V), and the sum is
    independent of the quotients ([DN]); so n E[max] = E[max G]/V. max, max_sd, min, min_sd: of the
    largest and smallest; variance: n^2 Var(share) = (n-1)/(nV+1), which is also the mean of the
    variance over the servers.
    """
    v = positions

    def all_below(x):  # P(largest <= x)
        above = special.gammaincc(v, x)
        return math.exp(n * math.log1p(-above)) if above < 1 else 0.0

    def all_above(x):  # P(smallest > x)
        return special.gammaincc(v, x) ** n

    # Where the tails fall: levels of the law of one, in units of 1/n.
    level = np.minimum(np.array([1e-16, 1e-4, 1e-2, 0.1, 1, 4, 40, 1000]) / n, 0.5)
    low, high = stats.gamma.ppf(level, v), stats.gamma.isf(level, v)
    out = {"variance": (n - 1) / (n * v + 1)}
    for name, tail, places in (
        ("max", lambda x: 1 - all_below(x), high),
        ("min", all_above, np.append(low, high[0])),
    ):
        points = [0.0] + sorted(set(places))
        first, second = (
            sum(
                integrate.quad(f, a, b, epsabs=1e-12, epsrel=1e-11, limit=200)[0]
                for a, b in zip(points, points[1:])
            )
            for f in (tail, lambda x: 2 * x * tail(x))
        )
        mean, square = first / v, second * n / (v * (n * v + 1))
        out[name], out[f"{name}_sd"] = mean, math.sqrt(max(square - mean**2, 0.0))
    return out


# -------------------------------------------------------------------------------------------------
# Balls on arcs


def arcs_load(n: int, m: int, k_max: int, positions: int = 1) -> Array:
    """P(load of a given server = k), k = 0..k_max, one choice: beta-binomial(m; V, (n-1)V); for one
    position each C(m-k+n-2, n-2)/C(m+n-1, n-1), Bose and Einstein's ([JK]). Exact.
    """
    return stats.betabinom.pmf(np.arange(k_max + 1), m, positions, (n - 1) * positions)


def arcs_variance(n: int, m: int, positions: int = 1) -> float:
    """E[(1/n) sum (load - m/n)^2], one choice, of which E[sum share^2] is the heart. Exact."""
    square = (positions + 1) / (n * positions + 1) / n  # E[share^2]
    return m / n + m * (m - 1) * square - (m / n) ** 2


def arcs_max_cdf(n: int, m: int, k: int) -> float:
    """P(max load <= k), one choice, one position each: all C(m+n-1, m) load vectors are equally
    likely, and sum_j (-1)^j C(n,j) C(m-j(k+1)+n-1, n-1) of them have no load above k ([JK]). Exact,
    in long arithmetic as terms may be as large as 2^n; n, m to 1e4.
    """
    with decimal.localcontext() as context:
        context.prec = 40 + n // 3
        term = total = decimal.Decimal(1)
        for j in range(min(n, m // (k + 1))):
            left = [m - j * (k + 1) - i for i in range(k + 1)]
            term *= -(n - j) * math.prod(left)
            term /= (j + 1) * math.prod(x + n - 1 for x in left)
            total += term
            if abs(term) < decimal.Decimal("1e-30"):  # terms are log-concave: the rest is less
                break
        return float(total)


def arcs_max_pmf(n: int, m: int, k_max: int) -> Array:
    """P(max load = k), k = 0..k_max, one choice, one position each; see `arcs_max_cdf`."""
    return np.diff([0.0] + [arcs_max_cdf(n, m, k) for k in range(k_max + 1)])


def arcs_max_mean(n: int, m: int) -> float:
    """E[max load] = sum over k of P(max > k), one choice, one position each. Exact."""
    total, k = 0.0, 0
    while k < m and (k < m / n or total == 0 or above > 1e-12):
        above = 1 - arcs_max_cdf(n, m, k)
        total, k = total + above, k + 1
    return total


def fluid_arcs(positions: int, d: int, c: float, k_max: int, nodes: int = 100) -> Array:
    """s_0..s_{k_max} at c balls per server when each of d uniform points names the owner of the arc
    it lies in ([BCM]), V = `positions` arcs each, fair ties; n to infinity.

    A server's share is x/n with x of law Gamma(V)/V. With u_k(x) the share of servers of size x
    that have load >= k and B_k = E[x u_k(x)] the chance that a point names such a server,
    u_k(x)' = (B_{k-1}^d - B_k^d) x (u_{k-1}(x) - u_k(x)) / (B_{k-1} - B_k), on a Gauss-Laguerre
    grid of x. Accurate to 1e-8 (absolute).
    """
    # Golub and Welsch, Math. Comp. 23, 1969: the weight x^{V-1} e^{-x}, normalised, any V.
    i = np.arange(nodes, dtype=float)
    diagonal, beside = 2 * i + positions, np.sqrt(i[1:] * (i[1:] + positions - 1))
    x, vectors = linalg.eigh_tridiagonal(diagonal, beside)
    x, weight = x / positions, vectors[0] ** 2
    keep = weight > 1e-40
    x, weight = x[keep], weight[keep]

    def rate(_, y: Array) -> Array:
        u = np.concatenate([np.ones((1, len(x))), y.reshape(k_max, len(x))])
        b = np.minimum(u @ (weight * x), 1.0)
        high, low = b[:-1], b[1:]
        # (high^d - low^d)/(high - low) without cancellation
        slope = sum(high**i * low ** (d - 1 - i) for i in range(d))
        return (slope[:, None] * x * (u[:-1] - u[1:])).ravel()

    solution = integrate.solve_ivp(
        rate, (0.0, c), np.zeros(k_max * len(x)), method="DOP853", rtol=1e-10, atol=1e-14
    )
    return np.concatenate([[1.0], solution.y[:, -1].reshape(k_max, len(x)) @ weight])


# -------------------------------------------------------------------------------------------------
# Servers on the plane


def plane_distance(n: int, k: int = 1) -> float:
    """E[distance of a uniform point of the torus from the k-th nearest of n uniform servers]:
    Gamma(k+1/2) n! / (Gamma(k) Gamma(n+3/2) sqrt(pi)), about Gamma(k+1/2)/(Gamma(k) sqrt(pi n));
    k small against n.

    pi D_k^2 is the k-th smallest of n uniform numbers: Beta(k, n-k+1). Exact but for what is round
    the torus.
    """
    return float(special.beta(n + 1, 0.5) / special.beta(k, 0.5)) / math.sqrt(math.pi)


def voronoi_second_moment(n: int | None = None) -> float:
    """E[(n area)^2] of the cell of one of n uniform points of the unit torus; without n that of the
    typical cell of a Poisson process of unit density, 1.280176 ([Gil]).

    A cell holds both of two points at r_1, r_2 from its nucleus, an angle t apart, when the union
    of the discs around them through the nucleus is empty. Its area is R^2 g(p, t) for r_1 = R cos
    p, r_2 = R sin p; so E[A^2] = 2 pi int int sin p cos p / g^2 over p < pi/2, t < pi, times
    n/(n+1) for n uniform points.
    """

    def union(p: float, t: float) -> float:
        a, b = math.cos(p), math.sin(p)
        apart = math.sqrt(max(a * a + b * b - 2 * a * b * math.cos(t), 1e-300))
        # The lens: circles of radii a, b whose centres are `apart`, both through the nucleus.
        alpha = math.acos(max(-1.0, min(1.0, (apart**2 + a * a - b * b) / (2 * apart * a))))
        beta = math.acos(max(-1.0, min(1.0, (apart**2 + b * b - a * a) / (2 * apart * b))))
        lens = a * a * alpha + b * b * beta - a * b * math.sin(t)
        return math.pi - lens

    value = integrate.dblquad(
        lambda t, p: math.sin(p) * math.cos(p) / union(p, t) ** 2,
        0,
        math.pi / 4,
        0,
        math.pi,
        epsabs=1e-10,
        epsrel=1e-10,
    )[0]
    value *= 4 * math.pi  # both halves of p
    return value if n is None else value * n / (n + 1)


def nearest_variance(n: int, m: int) -> float:
    """E[(1/n) sum (load - m/n)^2] when every job goes to the nearest of n uniform servers on the
    torus: m/n + m(m-1) E[area^2] - (m/n)^2, which tends to c + c^2 (1.280176 - 1), c = m/n.
    """
    return m / n + m * (m - 1) * voronoi_second_moment(n) / n**2 - (m / n) ** 2


def grid_distance(which: int) -> float:
    """sqrt(n) E[distance of a uniform point from the nearest (1) or second nearest (2) server of a
    square toroidal grid], n >= 9. Exact but for the quadrature.

    Of the four triangles of a cell, seen from its middle, take the right one: its second nearest
    server is at (1, 0). `spot` with fair ties costs the mean of the two: by reflection the job
    goes to either with probability 1/2.
    """
    at = {1: 0.0, 2: 1.0}[which]
    return (
        4
        * integrate.dblquad(
            lambda y, x: math.hypot(x - at, y), 0, 0.5, lambda x: -x, lambda x: x, epsabs=1e-12
        )[0]
    )
