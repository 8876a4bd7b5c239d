# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed forms of rings of identifiers, and jobs of the model `dht`; dht_theory_check.py says what
for.
"""
from __future__ import annotations

import functools
import itertools
import math
import pathlib
import subprocess
import tempfile

import h5py
import mpmath
import numpy as np
from scipy import signal, special, stats

RING = 1 << 64


# ---- jobs


class Run:
    """What a point gave: rows of all replications, histograms, series."""

    def __init__(self, f: h5py.File, point: int) -> None:
        self.replications = int(f["replications"][point])
        names = [name[5:] for name in f if name.startswith("mean_")]
        self.rows = {name: f[name][point] for name in names}
        self.counts = {
            name: f[name][point].astype(float)
            for name in f
            if name.endswith(("_count", "_series", "_seconds", "_series_batch"))
            and not name.startswith("se_")
            and f[name].ndim > 1
        }
        self.edges = f["utilisation"][:]
        self.top = f["utilisation_upper"][-1]
        self.classes = f["capacity_class"][:]

    def __getitem__(self, row: str) -> np.ndarray:
        return self.rows[row]

    def estimate(self, row: str) -> tuple[float, float]:
        return estimate(self.rows[row])

    def utilisations(self, unit: float, most: int) -> np.ndarray:
        """Node-seconds whose utilisation lies in the bin of k * unit, k = 0..most <= 31, and all
        others. Bins have 16 to a doubling, so these have one value each if unit is a little above
        the beginning of a bin.
        """
        value, counts = unit * np.arange(most + 1), self.counts["utilisation_count"]
        at = np.searchsorted(self.edges, value, side="right") - 1
        kept = np.where(value < self.top, counts[at], 0)  # bins end with the last that is used
        return np.append(kept, self.counts["utilisation_count"].sum() - kept.sum())


def estimate(x: np.ndarray) -> tuple[float, float]:
    """Mean and standard error of independent values."""
    return float(x.mean()), float(x.std(ddof=1) / math.sqrt(len(x)))


class Lab:
    """Plays jobs, each with a seed of its own; `factor` multiplies their replications."""

    def __init__(self, program: str, factor: int) -> None:
        self.program, self.factor, self.jobs = program, factor, 0
        self.unaccounted = 0.0  # at most, of all queries

    def play(self, replications: int, files: dict[str, str] | None = None, **keys) -> list[Run]:
        """A run for each value of the one key that is a list, or one. Statistics count from the
        first second on unless said otherwise.
        """
        self.jobs += 1
        given = {"seed": 1000 + self.jobs, "replications": replications * self.factor}
        given |= {"duration": 1, "record_from": 0} | keys
        lines = ["model: dht"]
        for key, value in given.items():
            values = value if isinstance(value, list) else None
            text = f"[{', '.join(map(str, values))}]" if values else value
            lines.append(f"{key}: {text}")
        with tempfile.TemporaryDirectory() as folder:
            job, out = pathlib.Path(folder) / "job.yaml", pathlib.Path(folder) / "out.h5"
            job.write_text("\n".join(lines) + "\n")
            for name, text in (files or {}).items():
                (job.parent / name).write_text(text)
            words = [self.program, "run", job, "-o", out, "--threads", "2", "--progress", "none"]
            command = list(map(str, words))
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{lines}: {done.stderr.strip()[-400:]}")
            with h5py.File(out) as f:
                runs = [Run(f, i) for i in range(len(f["replications"]))]
        for run in runs:
            off = np.abs(run["success"] + run["dropped"] + run["lost"] - 1).max()
            self.unaccounted = max(self.unaccounted, float(off))
        return runs

    def one(self, replications: int, **keys) -> Run:
        return self.play(replications, **keys)[0]


# ---- shares of the ring: n nodes of V identifiers each, Dirichlet(V, .., V)


def panels(top: float, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a composite Gauss rule on (0, top)."""
    x, w = np.polynomial.legendre.leggauss(12)
    ends = np.linspace(0, top, count + 1)
    half = np.diff(ends)[:, None] / 2
    return ((ends[:-1, None] + half) + half * x).ravel(), (half * w).ravel()


@functools.lru_cache(None)
def shares(n: int, positions: int) -> dict[str, float]:
    """n times the largest and smallest share: means and standard deviations; n^2 times the
    variance of a share. A Dirichlet vector is gammas over their sum, which is independent of it.
    """
    v, total = positions, n * positions
    if n == 1:
        return {"max": 1.0, "min": 1.0, "maxsd": 0.0, "minsd": 0.0, "var": 0.0}
    x, w = panels(float(stats.gamma.isf(1e-19 / n, v)))
    above = -np.expm1(n * np.log1p(-np.minimum(special.gammaincc(v, x), 1 - 1e-16)))
    y, u = panels(float(stats.gamma.ppf(-math.expm1(-46 / n), v)))
    left = np.exp(n * np.log1p(-special.gammainc(v, y)))
    second = n * n / (total * (total + 1))
    out = {}
    for name, tail, at, weight in (("max", above, x, w), ("min", left, y, u)):
        out[name] = float(weight @ tail) / v
        moment = second * float(weight @ (2 * at * tail))
        out[f"{name}sd"] = math.sqrt(max(moment - out[name] ** 2, 0.0))
    return out | {"var": (n - 1) / (total + 1)}


def max_below(n: int, x: float) -> float:
    """P(n times the largest arc <= x); an alternating sum, with as many digits as it takes."""
    mpmath.mp.dps = 50 + int(n * math.exp(-x))
    terms = (
        (-1) ** k * mpmath.binomial(n, k) * (1 - k * mpmath.mpf(x) / n) ** (n - 1)
        for k in range(n + 1)
        if k * x < n
    )
    return float(mpmath.fsum(terms))


def max_cells(n: int, cells: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Ends of cells of n times the largest arc, of like probability in the limit (Gumbel), and
    their probabilities.
    """
    ends = math.log(n) - np.log(-np.log(np.arange(1, cells) / cells))
    ends = np.unique(np.clip(ends, 1, n))
    below = [max_below(n, float(x)) for x in ends]
    return ends, np.diff(np.concatenate([[0.0], below, [1.0]]))


# ---- messages at a node: t queries in a second, one hop, delivery charged


def owns(n: int, positions: int = 1) -> float:
    """P(a query starts at the virtual server that owns its key) = 1/(nV)."""
    return 1 / (n * positions)


def received(n: int, t: int, positions: int = 1) -> np.ndarray:
    """P(a node receives k), k = 0..t: beta-binomial, thinned by the queries of its own."""
    m = np.arange(t + 1)
    if n == 1:
        return stats.binom.pmf(m, t, 1 - owns(n, positions))
    keys = stats.betabinom.pmf(m, t, positions, (n - 1) * positions)
    return np.array([keys @ stats.binom.pmf(k, m, 1 - owns(n, positions)) for k in m])


def received_pair(n: int, t: int) -> np.ndarray:
    """P(two given nodes receive k each), k = 0..t, one identifier each: all vectors of keys are
    equally likely (Bose and Einstein).
    """
    m = np.arange(t + 1)
    rest = t - m[:, None] - m
    if n == 2:
        ways = (rest == 0).astype(float)
    else:
        ways = np.where(rest >= 0, special.binom(np.maximum(rest, 0) + n - 3, n - 3), 0)
    ways = ways / special.binom(t + n - 1, n - 1)
    kept = stats.binom.pmf(m[:, None], m, 1 - owns(n))
    return np.array([row @ ways @ row for row in kept])


def accepted(t: int, p, c: float) -> np.ndarray:
    """E[min(K, c)], K binomial(t, p)."""
    return t * p * stats.binom.cdf(c - 1, t - 1, p) + c * stats.binom.sf(c, t, p)


def success_of(n: int, t: int, c: int, positions: int = 1) -> float:
    """E[share of t queries that succeed], random identifiers, capacity c."""
    own = owns(n, positions)
    if t <= 400:
        mean = np.minimum(np.arange(t + 1), c) @ received(n, t, positions)
    else:
        u, w = panels(1.0)
        share = stats.beta.ppf(u, positions, (n - 1) * positions)
        mean = w @ accepted(t, share * (1 - own), c)
    return own + n * float(mean) / t


def few_keys(n: int, t: int, c: int, chances: np.ndarray) -> float:
    """E[success] where few keys are asked for, equal arcs: each key belongs to a random node."""
    mean = 0.0
    for kept in itertools.product((0, 1), repeat=len(chances)):
        size, p = sum(kept), float(np.dot(kept, chances)) * (1 - 1 / n)
        mean += n ** -size * (1 - 1 / n) ** (len(chances) - size) * accepted(t, min(p, 1.0), c)
    return 1 / n + n * mean / t


# ---- routes


def equal_ids(n: int) -> list[int]:
    return sorted(RING * (j + 1) // n % RING for j in range(n))


def route(ids: list[int], source: int, owner: int) -> list[int]:
    """Positions that receive a query: at each virtual server the finger nearest before the key,
    the successor where there is none; the successor owns the key at last.
    """
    n, at, out = len(ids), source, []
    while at != owner:
        after = (at + 1) % n
        if after != owner:
            far = (ids[owner] - ids[at]) % RING  # the key is in the owner's arc
            best = 0
            for j in range(64):
                finger = _first_from(ids, (ids[at] + (1 << j)) % RING)
                distance = (ids[finger] - ids[at]) % RING
                if best < distance < far:
                    best, after = distance, finger
        at = after
        out.append(at)
    return out


def _first_from(ids: list[int], key: int) -> int:
    return next((i for i, x in enumerate(ids) if x >= key), 0)


def equal_hops(n: int) -> np.ndarray:
    """Law of hops on equal arcs, by all pairs of source and owner."""
    ids = equal_ids(n)
    hops = [len(route(ids, s, o)) for s in range(n) for o in range(n)]
    return np.bincount(hops) / n**2


@functools.lru_cache(None)
def random_hops(n: int, grid: int = 1024, most: int = 20) -> np.ndarray:
    """Law of hops on a ring of n random virtual servers.

    The owner is the d-th after the source, each d with chance 1/n; p, the last before it, lies at
    a distance L, and m = d - 2 others between: on average over d, m of the n - 1 others lie below
    L with L uniform. The hop goes to the first of those at or after 2^j, 2^j <= L < 2^(j+1), so
    if r of them lie there, all but one of those remain, and a share b of L - 2^j with density r
    b^(r-1). The law depends on L / 2^j alone; it is kept on a grid of it, on which L - 2^j lies
    again.
    """
    x = 1 + np.arange(grid + 1) / grid
    part = np.arange(1, grid + 1)
    back = part * 2 ** (np.ceil(np.log2(grid / part)).astype(int))  # its place within its octave
    back = np.where(back == 2 * grid, grid, back) - grid
    laws, means = [], {}
    for m in range(max(n - 2, 0)):
        law = np.zeros((most, grid + 1))
        law[1] = stats.binom.pmf(0, m, 1 - 1 / x)
        for r in range(1, m + 1):
            if r not in means:
                means[r] = _octave_mean(laws[r - 1], r, x)
            chance = stats.binom.pmf(r, m, 1 - 1 / x[1:])
            law[1:, 1:] += chance * means[r][:-1, back]
        laws.append(law)
    out = np.zeros(most)
    out[0] = 1 / n
    out[1] = 1 / n if n > 1 else 0
    for j in range(1, 60):
        for m, law in enumerate(laws):
            density = stats.binom.pmf(m, n - 1, x * 2.0**-j)
            out[1:] += 2.0**-j * _simpson(law * density)[:-1]
    return out


def _simpson(values: np.ndarray) -> np.ndarray:
    """Over the last axis, of length 1."""
    last = values.shape[-1] - 1
    weight = np.full(last + 1, 2.0)
    weight[1::2] = 4
    weight[[0, -1]] = 1
    return values @ weight / (3 * last)


def _octave_mean(law: np.ndarray, r: int, x: np.ndarray) -> np.ndarray:
    """Integral of r b^(r-1) law(x b) over b in (0, 1), for x in [1, 2]; the law is the same in all
    octaves and linear between the points.
    """
    slope = np.diff(law) / np.diff(x)
    start = law[:, :-1] - slope * x[:-1]
    pieces = start * np.diff(x**r) + slope * (r / (r + 1)) * np.diff(x ** (r + 1.0))
    sums = np.concatenate([np.zeros((len(law), 1)), np.cumsum(pieces, axis=1)], axis=1)
    return (sums[:, -1:] / (2.0**r - 1) + sums) / x**r


def poisson_hops(n: int, fine: int = 256) -> float:
    """Mean hops on a large ring, n a power of two: as above, with a Poisson number of others; the
    error is of order log(n) / n. g(L) = 1 + integral of e^-z g(L - 2^j - z) over 0 < z < L - 2^j,
    lengths in mean arcs.
    """
    g = np.ones(n * fine + 1)
    short = np.arange(fine + 1) / fine
    # Below 1 there are octaves without end: by iteration.
    for _ in range(30):
        level = 2.0 ** np.floor(np.log2(np.maximum(short, 1e-12)))
        memory = _memory(g[: fine + 1], fine)
        g[: fine + 1] = 1 + np.interp(short - level, short, memory)
    size = 1
    while size < n:
        memory = _memory(g[: size * fine + 1], fine)
        g[size * fine : 2 * size * fine] = 1 + memory[:-1]
        size *= 2
    inner = (g[1:-1].sum() + (g[0] + g[-2]) / 2) / (n * fine)
    return (n - 1) / n + float(inner) - 2 * g[-2] / n


def _memory(g: np.ndarray, fine: int) -> np.ndarray:
    """Integral of e^-(x - w) g(w) over 0 < w < x, trapezoids."""
    keep, step = math.exp(-1 / fine), 1 / fine
    added = np.zeros(len(g))
    added[1:] = step / 2 * (keep * g[:-1] + g[1:])
    return signal.lfilter([1], [1, -keep], added)


# ---- drops, by all outcomes


def play_second(routes: list[list[int]], n: int, room: int, **how: bool) -> tuple[int, int, int]:
    """Successes, their hops and received messages of queries that go these ways in a second."""
    got, done, hops = [0] * n, 0, 0
    turns = (
        [(q, h) for h in range(n) for q, r in enumerate(routes) if h < len(r)]
        if how["abreast"]
        else [(q, h) for q, r in enumerate(routes) for h in range(len(r))]
    )
    dropped = set()
    for q, h in turns:
        if q in dropped or (h + 1 == len(routes[q]) and not how["delivers"]):
            continue
        got[routes[q][h]] += 1
        if got[routes[q][h]] > room:
            dropped.add(q)
    for q, r in enumerate(routes):
        if q not in dropped:
            done, hops = done + 1, hops + len(r)
    return done, hops, sum(got)


def all_seconds(n: int, queries: int, room: int, **how: bool) -> dict[str, np.ndarray | float]:
    """The law of successes and mean messages, equal arcs: n^2 pairs of source and owner a query."""
    ids = equal_ids(n)
    ways = [route(ids, s, o) for s in range(n) for o in range(n)]
    law, hops, messages, count = np.zeros(queries + 1), 0.0, 0.0, 0
    for routes in itertools.product(ways, repeat=queries):
        done, far, got = play_second(list(routes), n, room, **how)
        law[done] += 1
        hops += far / done if done else 0
        messages += got / n
        count += 1
    return {"success": law / count, "hops": hops / count, "messages": messages / count}
