# SPDX-License-Identifier: GPL-3.0-or-later
"""theory.py, theory_places.py and theory_dht.py against the reference records, and against
themselves by other roads. Exact: no randomness but where said.
"""
import functools
import itertools
import json
import math
import pathlib
import sys

import numpy as np
from scipy import integrate, stats

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "analysis"))
sys.dont_write_bytecode = True
import _dht as rings  # noqa: E402
import theory  # noqa: E402
import theory_dht as dht  # noqa: E402
import theory_places as places  # noqa: E402
from potluck import formulas_base as formulas  # noqa: E402

SMALL_RULES = {
    "one": ("one", 1),
    "d2rep": ("replacement", 2),
    "d2dist": ("distinct", 2),
    "d3rep": ("replacement", 3),
    "d3dist": ("distinct", 3),
    "left2": ("left", 2),
}
GRAPHS = {"ring": "ring", "path": "line", "star": "star", "K": "complete"}
#: Outer ring, spokes, inner star.
PETERSEN = [
    edge
    for i in range(5)
    for edge in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))
]
passed = failed = 0


def check(name: str, got, expected, tolerance: float) -> None:
    """One comparison: every component within the tolerance."""
    global passed, failed
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if got.shape == expected.shape and np.all(np.abs(got - expected) <= tolerance):
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: expected {expected}, got {got} (tolerance {tolerance:g})")


def graph_distances(name: str) -> np.ndarray:
    """Distances of a graph as the records name it: ring-8, path-4, grid-2-3 ..."""
    kind, *numbers = name.split("-")
    if kind == "petersen":
        return theory.graph_distances(10, PETERSEN)
    if kind in ("grid", "torus"):
        return theory.distances(kind, sides=[int(x) for x in numbers])
    return theory.distances(GRAPHS[kind], n=int(numbers[0]))


def padded(pmf: np.ndarray, support: list[int]) -> np.ndarray:
    return np.array([pmf[k] if k < len(pmf) else 0.0 for k in support])


def of_law(law: theory.LoadLaw, record: dict):
    """The quantity of a record of static.small or static.graph."""
    support = record["parameters"].get("support")
    quantity = record["id"].split(".")[-1]
    return {
        "maxload_pmf": lambda: padded(law.max_pmf(), support),
        "minload_pmf": lambda: padded(law.min_pmf(), support),
        "hist": lambda: padded(law.bins_with(max(support)), support),
        "emax": law.max_mean,
        "gap": law.spread_mean,
        "var": law.variance_mean,
        "node_means": law.bin_means,
    }[quantity]()


def small(record: dict):
    p = record["parameters"]
    rule, d = SMALL_RULES[p["rule"]]
    return of_law(theory.sorted_chain(p["n"], p["m"], rule, d), record)


def graph(record: dict):
    p = record["parameters"]
    policy = {"vertex": "unif-pot", "invsq": "invsq-pot", "edge": "edge"}[p["law"]]
    pairs = theory.pair_law(graph_distances(p["graph"]), policy, p["khop"])
    return of_law(
        theory.labelled_chain(p["m"], pairs, {"random": "fair", "home": "origin"}[p["tie"]]), record
    )


def max_load(record: dict):
    p, quantity = record["parameters"], record["id"].split(".")[-1]
    if quantity == "pmf":
        return padded(theory.one_choice_max_pmf(p["n"], p["m"], max(p["support"])), p["support"])
    if quantity == "mean":
        return theory.one_choice_max_mean(p["n"], p["m"])
    if quantity == "poisson_cdf":
        s = theory.fluid_choices(p["d"], p["m"] / p["n"], max(p["support"]) + 1)
        return [theory.poisson_max_cdf(p["n"], s, k) for k in p["support"]]
    distinct = p["choices"] == "distinct"
    if quantity == "cdf23":
        return [theory.choices_max_cdf(p["n"], p["m"], p["d"], k, distinct) for k in p["support"]]
    return theory.choices_tail(p["n"], p["m"], p["d"], distinct)[1:]


def fluid(record: dict):
    p, k_max = record["parameters"], max(record["parameters"]["support"])
    c = p["balls_per_bin"]
    if ".left" in record["id"]:
        u = theory.fluid_left(p["d"], c, k_max)[:, 1:]
        return u if record["id"].endswith(".groups") else u.mean(axis=0)
    if ".arcs." in record["id"]:
        return places.fluid_arcs(p["V"], p["d"], c, k_max)[1:]
    if ".onebeta" in record["id"]:
        return theory.fluid_one_plus_beta(p["beta"], c, k_max)[1:]
    return theory.fluid_choices(p["d"], c, k_max)[1:]


def neighbourhood(record: dict):
    p = record["parameters"]
    k = p["k"]
    shell = (
        theory.shells("ring", n=2 * k + 1)
        if p["graph"].startswith("ring")
        else theory.shells("torus", sides=[2 * k + 1, 2 * k + 2])
    )
    policy = "invsq-pot" if ".invsq." in record["id"] else "unif-pot"
    return theory.hop_law(shell, policy, k)[p["support"]]


SHARES = {"max": "max", "maxsd": "max_sd", "min": "min", "var": "variance"}
shares = functools.lru_cache(maxsize=None)(places.shares)


def ring(record: dict):
    """Arcs of a circle: ring.QUANTITY.., ring.virtual.nN.vV.QUANTITY, ring.one.nN.mM.QUANTITY."""
    p, (_, kind, *rest) = record["parameters"], record["id"].split(".")
    n, support = p["n"], p.get("support", [0])
    if kind in ("max", "maxsd", "min"):
        return places.spacings(n)[SHARES[kind]]
    return {
        "sumsq": lambda: places.spacings(n)["squares"],
        "order": lambda: places.spacings_sorted(n)[0],
        "maxtail": lambda: [places.spacings_max_tail(n, x) for x in p["x"]],
        "virtual": lambda: shares(n, p["V"])[SHARES[rest[-1]]],
        "one": lambda: {
            "maxload_pmf": lambda: places.arcs_max_pmf(n, p["m"], max(support))[support],
            "emax": lambda: places.arcs_max_mean(n, p["m"]),
            "marginal": lambda: places.arcs_load(n, p["m"], max(support))[support],
        }[rest[-1]](),
    }[kind]()


def generated(record: dict):
    p, (_, kind, *rest) = record["parameters"], record["id"].split(".")
    if kind == "rgg":
        return {"torus": places.torus_within, "square": places.square_within}[rest[0]](p["r"])
    if rest[-1] == "isolated":
        return places.erdos_renyi_isolated(p["n"], p["p"])
    k = p["support"]
    if kind == "er":
        return places.erdos_renyi_degree(p["n"], p["p"], max(k))[k]
    return places.barabasi_degree(p["m"], max(k))[k]


def plane(record: dict):
    if record["id"] == "planar.voronoi.second_moment":
        return places.voronoi_second_moment()
    return places.nearest_variance(10**9, 10**9)


def data_set() -> np.ndarray:
    """The series of the stats.dataset records: a transient and an autoregression driven by Park and
    Miller's generator.
    """
    state, z, out = 12345, 0.0, []
    for i in range(400):
        state = 16807 * state % (2**31 - 1)
        z = 0.8 * z + state / (2**31 - 1) - 0.5
        out.append(10 + z - 6 * 0.97**i)
    return np.array(out)


def statistics(record: dict):
    kind, quantity = record["id"].split(".")[1:3]
    if kind == "t":
        return stats.t.ppf(
            0.5 + np.array(record["parameters"]["support"]) / 2, record["parameters"]["df"]
        )
    if kind == "z":
        return stats.norm.ppf(0.5 + record["parameters"]["confidence"] / 2)
    x = data_set()
    if quantity == "mean":
        return x.mean()
    y = x - x.mean()
    if quantity == "lag1":
        return (y[1:] @ y[:-1]) / (y @ y)
    batch = x.reshape(-1, 5).mean(axis=1)
    return min(
        ((batch[i:] - batch[i:].mean()) ** 2).sum() / (len(batch) - i) ** 2
        for i in range(len(batch) // 2)
    )


def coverage(record: dict) -> None:
    """stats.fixed: coverage of the 95 % t interval, simulated on both sides; 5 joint standard
    errors.
    """
    p, trials = record["parameters"], 40000
    y = np.random.default_rng(20261129).gamma(p["k"], size=(trials, p["R"]))
    half = stats.t.ppf(0.975, p["R"] - 1) * y.std(axis=1, ddof=1) / math.sqrt(p["R"])
    got = float(np.mean(np.abs(y.mean(axis=1) - p["k"]) <= half))
    check(
        record["id"],
        got,
        record["value"],
        5 * math.hypot(record["se"], math.sqrt(got * (1 - got) / trials)),
    )


def by_other_roads() -> None:
    """Identities between functions of theory.py that share no code."""
    # Every sequence of choices, one by one.
    n, m = 3, 4
    for rule, pairs in (
        ("replacement", list(itertools.product(range(n), repeat=2))),
        ("distinct", list(itertools.permutations(range(n), 2))),
    ):
        pmf = np.zeros(m + 1)
        for sequence in itertools.product(pairs, repeat=m):
            load = [0] * n
            for a, b in sequence:
                load[a if load[a] <= load[b] else b] += 1
            pmf[max(load)] += len(pairs) ** -m
        law = theory.sorted_chain(n, m, rule, 2).max_pmf()
        check(f"brute force {rule}", pmf[: len(law)], law, 1e-12)
    # On the complete graph the labelled chain is the sorted one.
    for n, m in ((4, 6), (5, 8), (6, 6)):
        labelled = theory.labelled_chain(
            m, theory.pair_law(theory.distances("complete", n=n), "pot")
        )
        check(
            f"labelled = sorted, n {n} m {m}",
            labelled.max_pmf(),
            theory.sorted_chain(n, m, "distinct").max_pmf(),
            1e-12,
        )
    # Pot moves E[dist]/2 on every connected graph, and neighbourhood policies do on transitive
    # ones.
    for kind, size in (
        ("star", {"n": 6}),
        ("line", {"n": 5}),
        ("tree", {"n": 6, "children": 2}),
        ("grid", {"sides": "2x3"}),
        ("ring", {"n": 6}),
        ("torus", {"sides": "2x3"}),
    ):
        d = theory.distances(kind, **size)
        cost = theory.labelled_chain(7, theory.pair_law(d, "pot"), "fair", d).cost
        check(f"cost of pot, {kind}", cost, theory.pair_cost(theory.pot_hop_law(d)), 1e-12)
        if kind != "tree":
            check(f"mean distance, {kind}", theory.mean_distance(kind, **size), 2 * cost, 1e-12)
    for kind, size in (("ring", {"n": 7}), ("torus", {"sides": "2x4"}), ("hypercube", {"dim": 3})):
        d, shell = theory.distances(kind, **size), theory.shells(kind, **size)
        for policy, k, own in (
            ("unif-pot", 1, False),
            ("unif-pot", 2, True),
            ("invsq-pot", 2, False),
            ("unif-pot", 9, False),
        ):
            cost = theory.labelled_chain(6, theory.pair_law(d, policy, k, own), "fair", d).cost
            check(
                f"cost of {policy}, {kind}",
                cost,
                theory.pair_cost(theory.hop_law(shell, policy, k, own)),
                1e-12,
            )
    # Shells by residues and by the matrix of distances.
    for kind, size in (
        ("ring", {"n": 9}),
        ("ring", {"n": 10}),
        ("torus", {"sides": "3x4x5"}),
        ("torus", {"sides": "1x2x7"}),
        ("hypercube", {"dim": 5}),
        ("complete", {"n": 6}),
    ):
        d = theory.distances(kind, **size)
        for u in (0, len(d) - 1):
            check(
                f"shells of {kind} {size}",
                np.bincount(d[u].astype(int)),
                theory.shells(kind, **size),
                0,
            )
    # Closed forms of the cost for a ring with k < n/2, a torus with k < L/2 and a hypercube.
    harmonic = [sum(1 / j**e for j in range(1, 8)) for e in (1, 2)]
    ring, torus = theory.shells("ring", n=1000), theory.shells("torus", sides="100x100")
    check("ring unif-pot", theory.pair_cost(theory.hop_law(ring, "unif-pot", 7)), 8 / 4, 1e-12)
    check(
        "ring invsq-pot",
        theory.pair_cost(theory.hop_law(ring, "invsq-pot", 7)),
        harmonic[0] / (2 * harmonic[1]),
        1e-12,
    )
    check("torus unif-pot", theory.pair_cost(theory.hop_law(torus, "unif-pot", 7)), 15 / 6, 1e-12)
    check(
        "torus invsq-pot",
        theory.pair_cost(theory.hop_law(torus, "invsq-pot", 7)),
        7 / (2 * harmonic[0]),
        1e-12,
    )
    check("torus pot", theory.pair_cost(theory.hop_law(torus, "pot")), 25 * 1e4 / (1e4 - 1), 1e-10)
    check("ring pot", theory.pair_cost(theory.hop_law(ring, "pot")), 1e6 / (8 * 999), 1e-10)
    # Counts of bins and the sorted chain.
    for n, m, d, distinct in ((8, 12, 2, False), (8, 12, 2, True), (9, 9, 3, True)):
        law = theory.sorted_chain(n, m, "distinct" if distinct else "replacement", d)
        below = np.cumsum(law.max_pmf())
        check("cdf at 2", theory.choices_max_cdf(n, m, d, 2, distinct), below[2], 1e-12)
        check(
            "cdf at 3",
            theory.choices_max_cdf(n, m, d, 3, distinct),
            below[min(3, len(below) - 1)],
            1e-12,
        )
    for n, m in ((5, 8), (8, 16)):
        pmf = theory.sorted_chain(n, m, "one").max_pmf()
        check("one choice, max", theory.one_choice_max_pmf(n, m, m), pmf, 1e-11)
    check(
        "full bins", theory.one_choice_max_cdf(3, 6, 2), math.factorial(6) / 2**3 / 3**6, 1e-13
    )
    # Fluid limits meet where they must.
    tail = stats.poisson.sf(np.arange(-1, 8), 1.5)
    check("fluid, one choice", theory.fluid_choices(1, 1.5, 8), tail, 1e-9)
    check("fluid, beta 0", theory.fluid_one_plus_beta(0, 1.5, 8), tail, 1e-9)
    check("fluid, beta 1", theory.fluid_one_plus_beta(1, 2, 8), theory.fluid_choices(2, 2, 8), 1e-9)
    check("fluid, left 1", theory.fluid_left(1, 2, 8)[0], theory.fluid_choices(1, 2, 8), 1e-9)
    check("fluid, balls", theory.fluid_left(3, 2, 12)[:, 1:].sum() / 3, 2, 1e-9)
    check("s_1(1) = tanh 1", theory.fluid_choices(2, 1, 6)[1], math.tanh(1), 1e-10)


def places_by_other_roads() -> None:
    """The same for theory_places.py."""
    k = np.arange(40)
    # Degrees: G(n, M) is G(n, p) given the number of edges; trees by every history.
    n, p, pairs = 6, 0.3, 15
    mixed = sum(
        stats.binom.pmf(m, pairs, p) * places.uniform_graph_degree(n, m, n - 1)
        for m in range(pairs + 1)
    )
    check("G(n, M) mixed", mixed, places.erdos_renyi_degree(n, p, n - 1), 1e-12)
    isolated = n * places.erdos_renyi_degree(n, p, 0)[0]
    check("isolated", places.erdos_renyi_isolated(n, p), isolated, 1e-12)
    check("trees", places.recursive_tree_degrees(5, 4) * 5, tree_degrees(5), 1e-12)
    tree = places.recursive_tree_degrees(20000, 8)
    check("trees, limit", tree, places.barabasi_degree(1, 8), 1e-4)
    for m in (1, 2, 5):
        law = places.barabasi_degree(m, 200_000)
        check(f"degrees of m = {m} sum to 1", law.sum(), 1, 1e-9)
        check(f"mean degree of m = {m}", law @ np.arange(len(law)), 2 * m, 1e-3)
    # Adjacency: the square's branches by integrating over one coordinate, the torus' by areas.
    for r in (0.2, 0.7, 1.0, 1.05, 1.3):
        across = lambda x: min(1, math.sqrt(r * r - x * x)) if x < r else 0  # noqa: E731, B023
        part = lambda x: 2 * (1 - x) * (lambda y: 2 * y - y * y)(across(x))  # noqa: E731, B023
        bends = [b for b in (r, math.sqrt(max(r * r - 1, 0))) if 0 < b < 1]
        value = integrate.quad(part, 0, 1, points=bends or None, limit=200)[0]
        check(f"square within {r}", places.square_within(r), value, 1e-7)
    for r in (0.3, 0.55, 0.7):
        top = lambda x: min(0.5, math.sqrt(max(r * r - x * x, 0)))  # noqa: E731, B023
        bends = [b for b in (r, math.sqrt(max(r * r - 0.25, 0))) if 0 < b < 0.5]
        area = 4 * integrate.quad(top, 0, 0.5, points=bends or None, limit=200)[0]
        check(f"torus within {r}", places.torus_within(r), area, 1e-7)
    for name, within, mean, far in (
        ("torus", places.torus_within, places.TORUS_DISTANCE, math.sqrt(0.5)),
        ("square", places.square_within, places.SQUARE_DISTANCE, math.sqrt(2)),
    ):
        value = integrate.quad(lambda r: 1 - within(r), 0, far, limit=200)[0]  # noqa: B023
        check(f"mean distance, {name}", mean, value, 1e-7)
    # Shares: one position each by closed forms; tails integrate to means; order statistics add up.
    for n in (2, 5, 40, 3000):
        one, many = places.spacings(n), places.shares(n, 1)
        for name in ("max", "max_sd", "min"):
            check(f"{name} of {n} arcs", many[name], one[name], 1e-6)
        check(f"squares of {n} arcs", many["variance"] + 1, one["squares"], 1e-9)
        mean, sd = places.spacings_sorted(n)
        check(f"{n} arcs make a circle", mean.sum(), 1, 1e-12)
        check(f"largest of {n} arcs", [n * mean[-1], n * sd[-1]], [one["max"], one["max_sd"]], 1e-9)
        check(f"smallest of {n} arcs", n * mean[0], one["min"], 1e-12)
    tail = integrate.quad(lambda x: places.spacings_max_tail(12, x), 0, 1, limit=400)[0]
    check("tail of the largest arc", 12 * tail, places.spacings(12)["max"], 1e-6)
    # Two servers with V arcs each: Beta(V, V).
    x = stats.beta(7, 7)
    larger = integrate.quad(lambda t: 2 * max(t, 1 - t) * x.pdf(t), 0, 1, points=[0.5])[0]
    check("two servers, 7 arcs each", places.shares(2, 7)["max"], larger, 1e-8)
    # One choice on arcs: all load vectors are equally likely.
    n, m = 4, 6
    vectors = [v for v in itertools.product(range(m + 1), repeat=n) if sum(v) == m]
    pmf = np.bincount([max(v) for v in vectors]) / len(vectors)
    check("Bose-Einstein, max", places.arcs_max_pmf(n, m, m), pmf, 1e-12)
    check("Bose-Einstein, mean", places.arcs_max_mean(n, m), pmf @ np.arange(m + 1), 1e-11)
    pmf = np.bincount([v[0] for v in vectors]) / len(vectors)
    check("Bose-Einstein, one", places.arcs_load(n, m, m), pmf, 1e-12)
    variance = np.mean([np.var(v) for v in vectors])
    check("Bose-Einstein, variance", places.arcs_variance(n, m), variance, 1e-12)
    for n, m, v in ((5, 9, 3), (20, 7, 10)):
        law, loads = places.arcs_load(n, m, m, v), np.arange(m + 1)
        variance = law @ (loads - m / n) ** 2
        check(f"variance, {v} arcs", places.arcs_variance(n, m, v), variance, 1e-12)
    # Fluid limits: one point is a negative binomial law, many arcs are as good as equal ones.
    for v, c in ((1, 0.5), (3, 2.0), (20, 1.0)):
        tail = stats.nbinom.sf(k - 1.0, v, v / (v + c))[:10]
        check(f"fluid, one point, {v} arcs", places.fluid_arcs(v, 1, c, 9), tail, 1e-8)
    equal = theory.fluid_choices(2, 1, 5)
    gap = [places.fluid_arcs(v, 2, 1, 5) - equal for v in (100, 200)]
    check("fluid, many arcs", 2 * gap[1] - gap[0], 0 * equal, 1e-4)
    for v, d, c in ((1, 2, 1.0), (4, 3, 2.0)):
        balls = places.fluid_arcs(v, d, c, 30)[1:].sum()
        check(f"fluid, balls, {v} arcs", balls, c, 1e-6)
    # The plane: distances sum up to the mean over everybody, cells to one.
    every = np.mean([places.plane_distance(400, j) for j in range(1, 401)])
    check("all ranks", every, (2 / 3) / math.sqrt(math.pi), 1e-9)  # a disc of area 1
    check("first of many", places.plane_distance(10**9) * 10**4.5, 0.5, 1e-8)
    check("second of many", places.plane_distance(10**9, 2) * 10**4.5, 0.75, 1e-8)
    check("grid, nearest", places.grid_distance(1), places.TORUS_DISTANCE, 1e-9)
    check("cell of few", places.voronoi_second_moment(1), places.voronoi_second_moment() / 2, 1e-9)


def tree_degrees(n: int) -> np.ndarray:
    """E[vertices of degree k], k = 0..n-1, of trees grown by preferential attachment: every
    history.
    """

    def grow(degrees: tuple[int, ...], p: float) -> np.ndarray:
        if len(degrees) == n:
            return p * np.bincount(degrees, minlength=n)
        return sum(
            grow(degrees[:i] + (d + 1,) + degrees[i + 1 :] + (1,), p * d / sum(degrees))
            for i, d in enumerate(degrees)
        )

    return grow((1, 1), 1.0)


def rings_by_other_roads() -> None:
    """Rings of identifiers: against routes and keys one by one."""
    for n in (1, 2, 4, 8, 32):
        check(f"hops of {n} equal arcs", dht.equal_hops(n), rings.equal_hops(n), 1e-12)
    for n in (32, 256):
        check(f"hops of {n} random arcs", dht.hops_mean(n), rings.poisson_hops(n), 1e-9)
    law = rings.random_hops(32, 256)
    check("hops of 32 random arcs", dht.hops_mean(32), law @ np.arange(len(law)), 0.5 / 32)
    for n, t, c, v in ((1, 5, 2, 1), (3, 5, 2, 1), (7, 12, 3, 2)):
        expected = rings.success_of(n, t, c, v)
        check(f"success of {n}, {t} queries", dht.one_hop_success(n, t, c, v), expected, 1e-12)
        check("all keys", dht.received_law(n, t, v).sum(), 1, 1e-12)
    check("availability", dht.availability(30, 10), 0.75, 0)


def places_of_formulas() -> None:
    """Laws of distances that formulas take, against every pair of servers."""
    for where in (
        ("line", 7, "", 0, 2), ("grid", 12, "3x4", 0, 2), ("star", 1, "", 0, 2),
        ("star", 2, "", 0, 2), ("star", 9, "", 0, 2), ("tree", 15, "", 0, 2),
        ("tree", 22, "", 0, 3), ("torus", 20, "4x5", 0, 2), ("hypercube", 8, "", 3, 2),
        ("complete", 5, "", 0, 2), ("ring", 9, "", 0, 2),
    ):
        topology, n, sides, dim, children = where
        hops = theory.distances(topology, n=n, sides=sides, dim=dim, children=children)
        expected = np.bincount(hops.astype(int).ravel()) / hops.size
        check(f"distances of {where}", formulas.distance_law(where), expected, 1e-12)


def main() -> int:
    roads = {
        "static.small": small,
        "static.graph": graph,
        "static.maxload": max_load,
        "static.fluid": fluid,
        "nbhd": neighbourhood,
        "ring": ring,
        "gen": generated,
        "planar.voronoi": plane,
        "planar.one": plane,
        "stats.t": statistics,
        "stats.z": statistics,
        "stats.dataset": statistics,
    }
    for record in json.loads((HERE / "oracles.json").read_text()):
        if record["id"].startswith("stats.fixed"):
            coverage(record)
            continue
        for start, road in roads.items():
            if record["id"].startswith(start + "."):
                # An approximation's tolerance is its distance from the truth; its formula is known
                # to all digits given.
                tolerance = 1e-5 if record["kind"] == "approximation" else record["abs_tol"]
                check(record["id"], road(record), record["value"], tolerance)
    by_other_roads()
    places_by_other_roads()
    rings_by_other_roads()
    places_of_formulas()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
