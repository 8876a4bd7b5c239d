# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of laws.py: servers on a circle of arcs and on the plane."""
import math

import numpy as np

from _large_systems import load_tail, simulated_record
from _simulate import Outcome
from _suite import Suite
from theory_check import SHARES, places, shares, theory

# ---- arcs: shares

POSITIONS = 4_000_000  # of all replications of a setting together


def arcs(n: int, positions: int = 1) -> str:
    return f"arcs: {{n: {n}{f', virtual: {positions}' if positions > 1 else ''}}}"


def sd_error(x: np.ndarray) -> float:
    """Standard error of a standard deviation."""
    y = x - x.mean()
    return math.sqrt(max((y**4).mean() - (y**2).mean() ** 2, 0) / len(x)) / (2 * y.std())


def play_shares(suite: Suite, n: int, positions: int, then, keep: str = "rows") -> None:
    """Enough replications for the largest share to be known to a few per cent at worst; what is
    larger than that is for `verify`.
    """
    size = n * positions
    if size > POSITIONS / 40 and suite.factor == 1:
        return
    replications = max(40, min(60_000, POSITIONS // size))
    suite.want(arcs(n, positions), "nearest", 1, replications, then, keep=keep)


def share_moment(suite: Suite, o: Outcome, name: str, what: str, law: dict, value: float) -> None:
    """One of max, max_sd, min, variance of n times a share."""
    power = 0.2
    if what == "variance":
        got, s = o.n**2 * o.mean["share_variance"], o.n**2 * o.se["share_variance"]
    elif what == "max_sd":
        x = o.n * o.rows["max_share"]
        got, s, power = x.std(ddof=1), sd_error(x), 0.6
    else:
        x = o.n * o.rows[f"{what}_share"]
        got, s = x.mean(), law[f"{what}_sd"] / math.sqrt(o.replications)
    suite.cmp.mean(f"{name} {what} of n shares", got, s, value, power=power * value)


def arc_shares(suite: Suite) -> None:
    """ring: spacings and shares, with the standard deviations of theory_places.py; and other
    parameters.
    """

    def moment(n: int, v: int, what: str, law: dict, value: float, name: str = "theory") -> None:
        play_shares(
            suite, n, v, lambda o, s: share_moment(suite, o, f"{name} {s}", what, law, value)
        )

    def tail(n: int, x: list[float], value: list[float], name: str = "theory") -> None:
        play_shares(suite, n, 1, lambda o, s: share_tail(suite, o, f"{name} {s}", x, value))

    def order(n: int, mean: list[float], name: str = "theory") -> None:
        play_shares(
            suite, n, 1, lambda o, s: share_order(suite, o, f"{name} {s}", mean), keep="shares"
        )

    for r in suite.of("ring."):
        p, (_, kind, *rest) = r["parameters"], r["id"].split(".")
        n, v, name = p["n"], p["V"], r["id"]
        if kind == "virtual" or kind in ("max", "maxsd", "min"):
            what = SHARES[rest[-1] if kind == "virtual" else kind]
            moment(n, v, what, shares(n, v), r["value"], name)
        elif kind == "sumsq":  # n sum D^2 = 1 + n^2 times the variance over the servers
            moment(n, 1, "variance", {}, r["value"] - 1, name)
        elif kind == "maxtail":
            tail(n, p["x"], r["value"], name)
        elif kind == "order":
            order(n, r["value"], name)
    for n, v in ((2, 1), (3, 5), (23, 1), (70, 3), (500, 12), (2000, 1)):
        law = shares(n, v)
        for what in ("max", "max_sd", "min", "variance"):
            moment(n, v, what, law, law[what])
    for n, x in ((5, (0.25, 0.3, 0.4, 0.6)), (90, (0.03, 0.05, 0.07, 0.1))):
        tail(n, x, [places.spacings_max_tail(n, y) for y in x])
    for n in (6, 45):
        order(n, places.spacings_sorted(n)[0])


def share_tail(suite: Suite, o: Outcome, name: str, x: list[float], tail: list[float]) -> None:
    """P(largest share > x): cells between the x."""
    edges = np.concatenate([[-1.0], x, [2.0]])
    counts = np.histogram(o.rows["max_share"], edges)[0].astype(float)
    law = -np.diff(np.concatenate([[1.0], tail, [0.0]]))
    suite.cmp.counts(f"{name} largest share", counts, np.maximum(law, 1e-15))


def share_order(suite: Suite, o: Outcome, name: str, mean: list[float]) -> None:
    sd = places.spacings_sorted(o.n)[1]
    for k, q in enumerate(mean):
        s = sd[k] / math.sqrt(o.replications)
        # The program keeps shares in units of 2^-40.
        suite.cmp.mean(
            f"{name} share {k + 1}", o.shares[k], s, q, tolerance=1e-12, power=0.05 * q
        )


# ---- arcs: loads


def arc_loads(suite: Suite) -> None:
    """ring.one and other parameters: one choice on arcs, exactly."""
    for r in suite.of("ring.one."):
        p, quantity = r["parameters"], r["id"].split(".")[-1]

        def then(o, name, r=r, p=p, quantity=quantity):
            name = f"{r['id']} {name}"
            if quantity == "emax":
                suite.cmp.mean(
                    name, o.mean["max_load"], o.se["max_load"], r["value"], power=0.01 * r["value"]
                )
            elif quantity == "maxload_pmf":
                law = np.zeros(max(p["support"]) + 1)
                law[p["support"]] = r["value"]
                suite.cmp.counts(name, o.max_count, law)
            else:
                suite.bins_with(name, o, p["n"] * np.array(r["value"]), p["support"])

        suite.want(arcs(p["n"]), "nearest", p["m"], arc_replications(p["n"], p["m"]), then)
    for n, m in ((2, 5), (7, 11), (50, 30), (300, 1000)):
        pmf = places.arcs_max_pmf(n, m, min(m, 200))
        one_point(suite, n, m, 1, pmf)
    for n, m, v in ((9, 9, 2), (40, 100, 7), (200, 200, 20)):
        one_point(suite, n, m, v, None)


def arc_replications(n: int, m: int) -> int:
    return max(1000, min(200_000, 20_000_000 // (n + m)))


def one_point(suite: Suite, n: int, m: int, v: int, pmf) -> None:
    k_max = min(m, 25)
    law = n * places.arcs_load(n, m, k_max, v)
    variance = places.arcs_variance(n, m, v)

    def then(o, name):
        if pmf is not None:
            suite.cmp.counts(f"{name} max load", o.max_count, pmf)
        suite.bins_with(name, o, law, range(k_max + 1))
        suite.cmp.mean(
            f"{name} load variance",
            o.mean["load_variance"],
            o.se["load_variance"],
            variance,
            power=0.01 * variance,
        )

    for policy in ("nearest", "points: {d: 1}"):
        suite.want(arcs(n, v), policy, m, arc_replications(n * v, m), then)


def arc_choices(suite: Suite) -> None:
    """static.fluid.arcs and static.sim.arcs: d points, V positions; and other parameters. The fluid
    limit of n = 16380 servers is off by less than 4/n.
    """
    n = 16380
    cases = [
        (r["id"], p["V"], p["d"], p["balls_per_bin"], dict(zip(p["support"], r["value"])))
        for r in suite.of("static.fluid.arcs.")
        for p in [r["parameters"]]
    ]
    for v, d, c in ((1, 2, 1), (1, 3, 4), (5, 2, 0.5), (3, 1, 2)):
        limit = places.fluid_arcs(v, d, c, 5 + int(3 * c))
        cases.append(("theory", v, d, c, dict(enumerate(limit))))
    for name, v, d, c, tail in cases:
        suite.want(
            arcs(n, v),
            "nearest" if d == 1 else f"points: {{d: {d}}}",
            round(c * n),
            50 if v > 4 else 100,
            lambda o, s, name=name, tail=tail: load_tail(suite, o, f"{name} {s}", tail, 4),
        )
    for r in suite.of("static.sim.arcs"):
        p = r["parameters"]
        most = p["reps"] if suite.factor > 1 else min(p["reps"], 6_000_000 // p["n"])
        if most < 20:
            continue  # n = 2^20: verify
        suite.want(
            arcs(p["n"], p.get("V", 1)),
            "nearest" if p["d"] == 1 else f"points: {{d: {p['d']}}}",
            p["m"],
            max(most, 60),
            lambda o, name, r=r: simulated_record(suite, o, f"{r['id']} {name}", r, "pmf"),
            ties={"random": "fair", "smaller": "smaller-arc"}[p.get("ties", "random")],
        )


# ---- the plane


def plane(n: int, torus: bool = True, servers: str = "uniform") -> str:
    return f"plane: {{n: {n}, servers: {servers}, torus: {str(torus).lower()}}}"


def planar_records(suite: Suite) -> None:
    """planar.sim (an independent simulator on the torus), planar.one, and the exact variance of one
    choice for other n and m.
    """
    for r in suite.of("planar."):
        p, kind = r["parameters"], r["id"].split(".")
        if kind[1] != "sim":
            continue
        most = 10_000_000 if suite.factor > 1 else 700_000
        replications = min(p["reps"], most // p["n"])
        if replications < 12:
            continue  # verify
        policy = "nearest" if kind[2] == "one" else f"points: {{d: {p['d']}}}"
        suite.want(
            plane(p["n"]),
            policy,
            p["m"],
            max(replications, 60),
            lambda o, name, r=r, q=kind[-1]: simulated_record(suite, o, f"{r['id']} {name}", r, q),
        )
    limit = next(r for r in suite.of("planar.one."))["value"]
    for n, m in ((30, 40), (100, 1000), (1000, 500), (10_000, 10_000)):
        variance, cost = places.nearest_variance(n, m), places.plane_distance(n)

        def then(o, name, n=n, variance=variance, cost=cost):
            suite.cmp.mean(
                f"{name} load variance",
                o.mean["load_variance"],
                o.se["load_variance"],
                variance,
                tolerance=2e-3 if n < 50 else 1e-9,  # around the torus
                power=0.01 * variance,
            )
            suite.cmp.mean(
                f"{name} cost", o.mean["cost"], o.se["cost"], cost, tolerance=1e-3 * cost * (n < 50)
            )
            if n == 10_000:
                suite.cmp.mean(
                    f"planar.one {name}",
                    o.mean["load_variance"],
                    o.se["load_variance"],
                    limit,
                    tolerance=4 / n,
                    power=0.01,
                )

        suite.want(plane(n), "nearest", m, max(300, min(40_000, 6_000_000 // (n + m))), then)


def plane_costs(suite: Suite) -> None:
    """Exact costs: candidates that do not depend on the job's point; and servers on a toroidal
    grid, where `spot` goes to either server with probability 1/2 and `nearest` is one choice.
    """
    for torus, mean in ((True, places.TORUS_DISTANCE), (False, places.SQUARE_DISTANCE)):
        for policy in ("pot", "choices: {d: 3}"):

            def then(o, name, mean=mean):
                suite.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], mean)

            suite.want(plane(50, torus), policy, 100, 10_000, then)
    for n in (16, 900):
        near, second = (places.grid_distance(i) / math.sqrt(n) for i in (1, 2))
        pmf = theory.one_choice_max_pmf(n, n, 20)

        def one(o, name, near=near, pmf=pmf):
            suite.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], near)
            suite.cmp.counts(f"{name} max load", o.max_count, pmf)

        def two(o, name, cost=(near + second) / 2):
            suite.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], cost)
            suite.cmp.mean(f"{name} moved", o.mean["moved"], o.se["moved"], 0.5)

        replications = 2_000_000 // n
        suite.want(plane(n, servers="grid"), "nearest", n, min(replications, 40_000), one)
        suite.want(plane(n, servers="grid"), "spot", n, min(replications, 40_000), two)


def same_loads(suite: Suite, name: str, one: Outcome, two: Outcome) -> None:
    """Maximum loads and servers by load of two settings that should have one law."""
    suite.cmp.same(f"{name}: max load", one.max_count, two.max_count)
    for k in range(min(one.load_batch.shape[1], two.load_batch.shape[1])):
        x, y = (o.load_batch[:, k] / (o.n * o.replications / 50) for o in (one, two))
        if min(x.mean(), y.mean()) * one.n * one.replications < 1000:
            continue
        s = math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 50)
        suite.cmp.mean(f"{name}: load {k}", x.mean(), s, y.mean(), power=0.02 * y.mean(), df=98)
    law = [o.load_count / o.load_count.sum() for o in (one, two)]
    # What noise makes of equal laws: at most the sum over loads of half a standard deviation.
    noise = sum(math.sqrt(2 * p / (one.n * one.replications)) for p in law[0])
    tv = theory.total_variation(*law)
    suite.cmp.mean(f"{name}: total variation", tv, noise / 4, 0, tolerance=noise / 2, power=1e-3)


def plane_is_torus(suite: Suite) -> None:
    """`spot` on a toroidal grid of servers is `unif-pot: {k: 1}` on the torus: the cell of a server
    is cut into four triangles, one for each neighbour.
    """
    for side in (6, 100):
        n = side * side
        replications = 400 if side == 100 else 50_000
        settings = [
            suite.setting(plane(n, servers="grid"), "spot", n, replications),
            suite.setting(f"torus: {{sides: {side}x{side}}}", "unif-pot: {k: 1}", n, replications),
        ]
        suite.together(
            settings,
            lambda outcomes, side=side: same_loads(suite, f"[spot and torus {side}]", *outcomes),
        )


#: n = m, policy, torus or square, mean max load, cost * sqrt(n) (`pot`: cost), replications behind
#: them: an independent simulator's.
TABLE = [
    (1000, "nearest", True, 6.95, 0.4996, 20),
    (1000, "nearest", False, 7.05, 0.506, 20),
    (10_000, "nearest", True, 8.75, 0.5002, 20),
    (10_000, "nearest", False, 8.80, 0.502, 20),
    (100_000, "nearest", True, 10.30, 0.5001, 20),
    (100_000, "nearest", False, 10.35, 0.501, 20),
    (1000, "spot", True, 3.90, 0.629, 20),
    (1000, "spot", False, 3.95, 0.638, 20),
    (10_000, "spot", True, 4.56, 0.629, 100),
    (10_000, "spot", False, 4.63, 0.632, 100),
    (100_000, "spot", True, 5.3, 0.629, 40),
    (100_000, "spot", False, 5.2, 0.630, 40),
    (1000, "pot", True, 3.005, 0.3826, 200),
    (1000, "pot", False, 3.005, 0.5214, 200),
    (10_000, "pot", True, 3.07, 0.3826, 100),
    (10_000, "pot", False, 3.07, 0.5214, 100),
    (100_000, "pot", True, 3.55, 0.3826, 20),
    (10_000, "unif-pot: {k: 3}", True, 4.09, 0.732, 200),
    (10_000, "unif-pot: {k: 10}", True, 3.47, 1.234, 200),
    (10_000, "invsq-pot: {k: 3}", True, 4.23, 0.673, 200),
    (10_000, "invsq-pot: {k: 10}", True, 3.92, 0.891, 200),
]
#: The same: total variation to `pot` at n = 10^4, servers.
VARIATION = [
    ("spot", plane(10_000), 0.071, 0.0005),
    ("spot", plane(10_000, False), 0.072, 0.0005),
    ("nearest", plane(10_000), 0.27, 0.005),
    ("spot", plane(10_000, servers="grid"), 0.0144, 0.00005),
    ("unif-pot: {k: 3}", plane(10_000), 0.047, 0.0005),
    ("unif-pot: {k: 10}", plane(10_000), 0.015, 0.0005),
    ("invsq-pot: {k: 3}", plane(10_000), 0.057, 0.0005),
    ("invsq-pot: {k: 10}", plane(10_000), 0.028, 0.0005),
]
#: Fractions of servers with load 0..5 there.
FRACTIONS = [
    ("spot", (0.2837, 0.4690, 0.2132, 0.0320, 0.0020, 0.00009)),
    ("nearest", (0.4145, 0.3229, 0.1617, 0.0661, 0.0235)),
]


def plane_table(suite: Suite) -> None:
    """The table of plane policies: tolerances are half of the last digit given, and standard errors
    those of its replications.
    """
    for n, policy, torus, maximum, cost, theirs in suite.sample(TABLE):
        unit = 1 if policy == "pot" else math.sqrt(n)

        def then(o, name, maximum=maximum, cost=cost, theirs=theirs, unit=unit):
            both = math.sqrt(1 + o.replications / theirs)
            digits = 0.05 if maximum in (5.3, 5.2) else 0.005
            suite.cmp.mean(
                f"{name} mean max",
                o.mean["max_load"],
                o.se["max_load"] * both,
                maximum,
                tolerance=digits,
                power=0.5,
            )
            suite.cmp.mean(
                f"{name} cost",
                o.mean["cost"] * unit,
                o.se["cost"] * both * unit,
                cost,
                tolerance=0.0005 if cost > 0.505 else 0.00005,
                power=0.01 * cost,
            )

        suite.want(plane(n, torus), policy, n, {1000: 1000, 10_000: 300, 100_000: 40}[n], then)
    for policy, topology, tv, digits in VARIATION:

        def total(o, name, tv=tv, digits=digits):
            suite.cmp.mean(
                f"{name} TV",
                o.point["tv"],
                math.hypot(o.point["se_tv_cross"], 3e-4),
                tv,
                tolerance=4e-4 + digits,
                power=1e-3,
            )

        suite.want(topology, policy, 10_000, 300, total, baseline="pot")
    for policy, fractions in FRACTIONS:

        def shares_of(o, name, fractions=fractions):
            for k, q in enumerate(fractions):
                x = o.load_batch[:, k] / (o.n * o.replications / 50)
                s = x.std(ddof=1) / math.sqrt(50) * math.sqrt(1 + o.replications / 100)
                digits = 5e-5 if k < 5 else 5e-6
                suite.cmp.mean(
                    f"{name} fraction of load {k}",
                    x.mean(),
                    s,
                    q,
                    tolerance=digits,
                    power=max(0.01 * q, 1e-4),
                    df=49,
                )

        suite.want(plane(10_000), policy, 10_000, 300, shares_of, baseline="pot")
