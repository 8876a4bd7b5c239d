#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model dht against closed forms, exact enumerations and its invariants.

    python3 dht_theory_check.py PROGRAM [--tier ci|verify] [--part NAME ..]

The formulas are those of _dht.py, from the model's definition alone; where oracles.json has a
record ring.*, they are compared with it too. K comparisons share a false alarm rate of 1e-4, as
in laws.py: |got - expected| <= z s + tolerance with z = Phi^-1(1 - 1e-4/(2K)), chi-squares at
1e-4/K. Standard errors are exact where the law of a row is known, else from independent
replications. Power is what each comparison states: the largest s that it accepts. Seeds are
fixed. `verify` plays ten times the replications, and larger rings.

Shares, keys, acceptance and hops stand here, churn, skew and balancers in _dht_invariants.py.
"""
import argparse
import json
import math
import pathlib
import sys

import numpy as np
from scipy import stats

sys.dont_write_bytecode = True
import _dht as exact  # noqa: E402
import _dht_invariants as more  # noqa: E402
from _compare import Comparisons  # noqa: E402
from _dht import Lab, Run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FACTOR = {"ci": 1, "verify": 10}
ENDLESS, NOTHING = "1e15", "1e-6"  # capacity; queries
#: Virtual servers of one point's replications together, and of one replication at most.
WORK, LARGEST = {"ci": 3e5, "verify": 3e6}, {"ci": 4096, "verify": 2.7e5}
#: E[n max share] as the literature's formulas were tabulated, to three places.
TABLE = {
    1000: {1: 7.486, 2: 4.932, 5: 3.107, 8: 2.556, 10: 2.353, 12: 2.209, 16: 2.015, 20: 1.888},
    4096: {1: 8.895, 2: 5.704, 5: 3.473, 8: 2.811, 10: 2.569, 12: 2.398, 16: 2.169, 20: 2.021},
}
#: P(n max arc <= x).
BELOW = {
    1000: {7: 0.3999, 8: 0.7182, 9: 0.8868, 10: 0.9572, 12: 0.9942},
    4096: {7: 0.0222, 8: 0.2513, 9: 0.6040, 10: 0.8315, 12: 0.9755},
}


# ---- shares


def record_value(r: dict) -> float | list[float] | None:
    """What a record ring.* must be; None where it says nothing of shares."""
    p, words = r["parameters"], r["id"].split(".")
    n = p["n"]
    if words[1] in ("max", "maxsd", "min"):
        return exact.shares(n, 1)[words[1]]
    if words[1] == "sumsq":
        return 1 + exact.shares(n, 1)["var"]
    if words[1] == "order":  # of the k-th smallest: the sum of 1/i over the k largest i, over n^2
        return (np.cumsum(1 / np.arange(n, 0, -1)) / n)[np.array(p["support"]) - 1]
    if words[1] == "maxtail":
        return [1 - exact.max_below(n, n * x) for x in p["x"]]
    if words[1] == "virtual":
        return exact.shares(n, p["V"])[words[-1]]
    return None


def records(_: Lab, cmp: Comparisons, tier: str) -> set[tuple[int, int]]:
    """The records themselves, and the rings they are about."""
    rings = set()
    for r in json.loads((HERE / "oracles.json").read_text()):
        value = record_value(r) if r["id"].startswith("ring.") else None
        if value is None:
            continue
        rings.add((r["parameters"]["n"], r["parameters"]["V"]))
        for got, expected in zip(np.atleast_1d(value), np.atleast_1d(r["value"])):
            cmp.exact(r["id"], got, expected, max(r["abs_tol"], 1e-8))
    for n, row in TABLE.items():
        for v, expected in row.items():
            cmp.exact(f"n max share, n {n}, V {v}", exact.shares(n, v)["max"], expected, 5.1e-4)
        for x, expected in BELOW[n].items():
            cmp.exact(f"P(n max <= {x}), n {n}", exact.max_below(n, x), expected, 5.1e-5)
    # No records: the smallest of many shares, where a quadrature over all of (0, inf) sees nothing.
    cmp.exact("n min share, n 65536, V 2", exact.shares(65536, 2)["min"], 0.00245296855, 1e-9)
    cmp.exact("n min share, n 65536, V 4", exact.shares(65536, 4)["min"], 0.03223099968, 1e-9)
    return {x for x in rings if x[0] * x[1] <= LARGEST[tier]}


def check_shares(cmp: Comparisons, name: str, run: Run, n: int, positions: int) -> None:
    """Rows of shares; standard deviations are compared where there are many replications."""
    law, size = exact.shares(n, positions), run.replications
    for row in ("max", "min"):
        x, sd = n * run[f"{row}_share"], law[f"{row}sd"]
        power = 1.01 * sd / math.sqrt(60)
        cmp.mean(f"{name} {row}", x.mean(), sd / math.sqrt(size), law[row], power=power)
        if size >= 2000 and sd > 1e-6:
            centred = (x - law[row]) ** 2
            got, s = exact.estimate(centred)
            cmp.mean(f"{name} sd of {row}", got, s, sd**2, power=0.1 * sd**2)
    got, s = run.estimate("share_variance")
    cmp.mean(f"{name} variance", got, s, law["var"], tolerance=1e-7, power=0.12 * law["var"] + 1e-7)
    cmp.exact(f"{name} virtual servers", np.ptp(run["virtual_servers"]), 0)
    cmp.exact(f"{name} virtual servers", run["virtual_servers"][0], positions)


def shares(lab: Lab, cmp: Comparisons, tier: str) -> None:
    """Largest and smallest share and their variance, at the records' rings and others. A mean of
    60 replications at least: its error is at most 13 % of the standard deviation.
    """
    rings = records(lab, cmp, tier) | {(1, 1), (1, 3), (2, 1), (3, 1), (7, 1), (63, 1), (2, 2)}
    rings |= {(3, 7), (5, 2), (101, 3), (1000, 1), (1000, 5 if tier == "verify" else 2)}
    for n, positions in sorted(rings):
        size = int(min(max(WORK[tier] / (n * positions), 60), 4000 * lab.factor))
        balancer = "none" if positions == 1 else f"{{log-vs: {{count: {positions}}}}}"
        run = lab.one(-(-size // lab.factor), nodes=n, queries=NOTHING, balancer=balancer)
        check_shares(cmp, f"shares of {n} nodes of {positions}", run, n, positions)
        if positions > 1:
            continue
        if n > 1:  # P(min > x) = (1 - n x)^(n-1)
            level = (1 - n * run["min_share"]) ** (n - 1)
            counts = np.histogram(level, np.linspace(0, 1, 17))[0].astype(float)
            cmp.counts(f"smallest of {n} arcs", counts, np.full(16, 1 / 16))
        if 1 < n <= 1000:
            ends, law = exact.max_cells(n)
            cells = np.searchsorted(ends, n * run["max_share"])
            counts = np.bincount(cells, minlength=len(law)).astype(float)
            cmp.counts(f"largest of {n} arcs", counts, law)


def fixed_shares(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Shares that are not random, and numbers of virtual servers in proportion to capacity."""
    for n in (1, 2, 3, 7, 64, 1000):
        run = lab.one(2, nodes=n, ids="equal", queries=NOTHING, balancer="none")
        for row, expected in (("max_share", 1 / n), ("min_share", 1 / n), ("share_variance", 0)):
            for got in run[row]:
                cmp.exact(f"{row} of {n} equal arcs", got, expected, 2e-12)
    capacities = [3.0, 1.0, 0.5, 250.0, 7.25, 1.0, 10.0]
    share = np.array(capacities) / sum(capacities)
    file = {"c.txt": "\n".join(map(str, capacities)) + "\n"}
    run = lab.play(
        2, file, nodes=7, ids="proportional", capacity="{file: {path: c.txt}}", queries=NOTHING
    )[0]
    for row, expected in (
        ("max_share", share.max()),
        ("min_share", share.min()),
        ("share_variance", ((7 * share - 1) ** 2).mean()),
    ):
        cmp.exact(f"{row} in proportion", run[row][0], expected, 1e-7)
    for n, count in ((1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (11, 3), (12, 4), (1000, 10)):
        run = lab.one(1, nodes=n, balancer="log-vs", queries=NOTHING)
        cmp.exact(f"log2 of {n}", run["virtual_servers"][0], count)
    # Capacities 4, 1, 1, mean 2: floor(initial C / mean + 1/2) virtual servers, at most `max`.
    # Shares are Beta(v, V - v): E[share^2] = v (v+1) / (V (V+1)).
    file = {"c.txt": "4\n1\n1\n"}
    for initial, most, servers in ((1, 16, (2, 1, 1)), (3, 16, (6, 2, 2)), (3.1, 5, (5, 2, 2))):
        v = np.array(servers)
        balancer = f"{{proportion: {{initial: {initial}, max: {most}}}}}"
        run = lab.play(
            4000, file, nodes=3, capacity="{file: {path: c.txt}}", balancer=balancer,
            queries=NOTHING,
        )[0]
        total = v.sum()
        square = v * (v + 1) / (total * (total + 1))
        expected = (9 * square - 6 * v / total + 1).mean()
        name = f"proportion at first, {servers}"
        cmp.exact(f"{name} servers", run["virtual_servers"][0], total / 3, 1e-7)
        cmp.mean(f"{name} variance", *run.estimate("share_variance"), expected, power=0.03)


# ---- messages


def keys(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Messages that a node receives in a second, one hop, delivery charged. The utilisation is
    their number over a capacity of 0.98, so that rounding does not matter to the bins. The number
    of nodes with k of them has its variance from the law of pairs.
    """
    unit = 1 / 0.98
    for n, t, size in ((1, 5, 200), (2, 6, 6000), (3, 7, 6000), (10, 30, 4000), (64, 64, 2000)):
        query = (t + 0.5) / n
        run = lab.one(
            size, nodes=n, queries=query, capacity=0.98, routing="one-hop", charge="delivery"
        )
        counts = run.utilisations(unit, min(t, 31))
        one, two = exact.received(n, t), exact.received_pair(n, t) if n > 1 else np.zeros(t + 1)
        for k, p in enumerate(one[:32]):
            spread = n * p + n * (n - 1) * two[k] - (n * p) ** 2
            got, s = counts[k] / run.replications, math.sqrt(max(spread, 0) / run.replications)
            if n * p * run.replications < 50:
                continue  # rare ones are together below
            cmp.mean(f"{n} nodes, {t} keys: nodes with {k}", got, s, n * p, power=0.02 * n)
        cmp.exact(f"{n} nodes, {t} keys: all", counts.sum(), n * run.replications)
        if n > 1:
            mean = t / n * (1 - exact.owns(n))
            cmp.mean(f"{n} nodes, {t} keys", *run.estimate("messages"), mean, power=0.03 * mean)
    for n, v, t in ((4, 3, 12), (1, 4, 9)):  # a query may go from one's own to one's own
        run = lab.one(
            4000, nodes=n, queries=(t + 0.5) / n, capacity=0.98, routing="one-hop",
            charge="delivery", balancer=f"{{log-vs: {{count: {v}}}}}",
        )
        law = exact.received(n, t, v)
        got = run.utilisations(unit, t)[:-1] / (n * run.replications)
        for k, p in enumerate(law):  # n dependent nodes: at worst as one
            s = math.sqrt(p * (1 - p) / run.replications)
            cmp.mean(f"{n} nodes of {v}: {k} of {t} keys", got[k], s, p, power=0.01)


def overload(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Nodes with more work than capacity: exactly full ones are not among them."""
    for n, q, c in ((4, 4, 3), (5, 6, 6), (3, 49, 32)):
        run = lab.one(
            4000, nodes=n, ids="equal", queries=q, capacity=c, routing="one-hop", charge="delivery"
        )
        p = stats.binom.sf(c, n * q, (1 - 1 / n) / n)
        cmp.mean(f"overloaded, capacity {c}", *run.estimate("overloaded"), p, power=0.01)
    for n, q, c in ((4, 4, 3), (10, 10, 1)):
        run = lab.one(4000, nodes=n, queries=q, capacity=c, routing="one-hop", charge="delivery")
        p = exact.received(n, n * q)[c + 1 :].sum()
        name = f"overloaded, random arcs, capacity {c}"
        cmp.mean(name, *run.estimate("overloaded"), p, power=0.005)


# ---- hops


def check_hops(cmp: Comparisons, name: str, run: Run, law: np.ndarray, alone: bool = True) -> None:
    """The law of hops where queries are independent, else the mean of replications."""
    mean, (got, s) = law @ np.arange(len(law)), run.estimate("hops")
    power = (0.008 if alone else 0.01) * mean + 1e-9
    if alone:
        cmp.counts(f"{name}, law", run.counts["hop_count"], law)
        spread = law @ (np.arange(len(law)) - mean) ** 2
        s = math.sqrt(spread / run.counts["hop_count"].sum())
    cmp.mean(name, got, s, mean, tolerance=1e-6, power=power)
    cmp.exact(f"{name} success", run["success"].min(), 1)


def hops(lab: Lab, cmp: Comparisons, tier: str) -> None:
    """Mean hops known to 0.8 %, on large random rings to 1 %."""
    for k in range(1, 13):
        n = 1 << k
        queries = f"{2e5 / n + 0.01:.6g}"
        run = lab.one(4, nodes=n, ids="equal", queries=queries, capacity=ENDLESS)
        away = np.arange(n - 1, dtype=np.uint32)  # of the last before the owner
        bits = sum((away >> j) & 1 for j in range(k))
        law = np.append([1 / n], np.bincount(bits) / n)
        check_hops(cmp, f"hops of {n} equal arcs", run, law)
        cmp.exact("its formula", law @ np.arange(len(law)), k / 2 + 1 - (k + 1) / n, 1e-12)
    for n in (1, 3, 5, 6, 7, 12, 33) + ((65, 100) if tier == "verify" else ()):
        run = lab.one(
            4, nodes=n, ids="equal", queries=f"{1e5 / n + 0.01:.6g}", capacity=ENDLESS,
            order="hop-synchronous" if n % 2 else "sequential",
        )
        check_hops(cmp, f"hops of {n} equal arcs", run, exact.equal_hops(n))
    # One query a ring: all of them are independent.
    for n in (1, 2, 3, 4, 5, 6, 7, 12, 16) + ((31,) if tier == "verify" else ()):
        for refresh in (1, 3) if n in (3, 16) else (1,):
            run = lab.one(
                40000, nodes=n, queries=f"{1.001 / n:.6g}", capacity=ENDLESS, refresh=refresh,
            )
            cmp.exact(f"queries of {n}", run.counts["hop_count"].sum(), run.replications)
            check_hops(cmp, f"hops of {n} arcs, refresh {refresh}", run, exact.random_hops(n))
    run = lab.one(4000, nodes=4, queries=5, capacity=ENDLESS, balancer="{log-vs: {count: 4}}")
    check_hops(cmp, "hops of 4 nodes of 4", run, exact.random_hops(16), alone=False)
    for n, size in ((256, 800), (1024, 200), (4096, 50)):
        run = lab.one(size, nodes=n, queries=20, capacity=ENDLESS)
        got, s = run.estimate("hops")
        # The Poisson ring errs by 0.34/n at n = 32.
        mean = exact.poisson_hops(n)
        cmp.mean(f"hops of {n} arcs", got, s, mean, tolerance=0.5 / n, power=0.01)
        cmp.exact(f"hops of {n} arcs, rule", mean, math.log2(n) / 2 + 0.86, 0.03 / mean)


# ---- acceptance


def acceptance(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Success of one hop that is charged; known to 0.4 %."""
    hop = {"routing": "one-hop", "charge": "delivery"}

    def check(name: str, run: Run, mean: float, power: float = 0.004) -> None:
        cmp.mean(name, *run.estimate("success"), mean, power=power)

    for n, q, c in ((1, 3, 1), (2, 3, 2), (3, 5, 4), (7, 3, 3), (32, 2, 2), (256, 20, 15)):
        size = max(200, 60000 // (n * q))
        name = f"success, {n} nodes, {q} queries each, capacity {c}"
        run = lab.one(size * 2, nodes=n, queries=q, capacity=c, **hop)
        check(name, run, exact.success_of(n, n * q, c))
        run = lab.one(size, nodes=n, queries=q, capacity=c, ids="equal", **hop)
        mean = 1 / n + n * float(exact.accepted(n * q, (1 - 1 / n) / n, c)) / (n * q)
        check(f"{name}, equal arcs", run, mean)
    for n, v, q, c in ((5, 2, 4, 3), (16, 4, 10, 9)):
        run = lab.one(
            1500, nodes=n, queries=q, capacity=c, balancer=f"{{log-vs: {{count: {v}}}}}", **hop
        )
        check(f"success, {n} nodes of {v}", run, exact.success_of(n, n * q, c, v))
    for load in (0.5, 0.6, 1.0):  # exponential arcs: 1 - e^(-1/load)
        n, c = 1024, 300
        mean = exact.success_of(n, int(n * c * load), c)
        run = lab.one(8, nodes=n, queries=c * load, capacity=c, **hop)
        check(f"success at load {load}", run, mean, power=0.01)
        limit = exact.success_of(200_000, int(200_000 * 3000 * load), 3000)
        cmp.exact(f"its limit at load {load}", limit, 1 - math.exp(-1 / load), 3e-4)
    for c in ("0.001", "3"):  # the only hop is free
        run = lab.one(20, nodes=9, queries=30, capacity=c, routing="one-hop")
        cmp.exact("forwarding alone", run["success"].min(), 1)
        cmp.exact("forwarding alone, messages", run["messages"].max(), 0)


def rooms(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Capacities that are no whole numbers: floor(K (t+1)) - floor(K t) messages in second t, less
    what maintenance takes.
    """
    n, q = 5, 4
    for c, maintenance, v in (
        (2.5, 0, 1), (0.5, 0, 1), (0.3, 0, 1), (4.75, 1.25, 1), (5, 1.25, 2), (1, 1, 1), (1, 3, 2),
    ):
        left = max(0.0, c - maintenance * v)
        run = lab.one(
            3000, nodes=n, queries=q, capacity=c, maintenance=maintenance, duration=8, interval=1,
            measure=1, routing="one-hop", charge="delivery",
            balancer=f"{{log-vs: {{count: {v}}}}}",
        )
        series = run.counts["success_series"]
        total = 0.0
        for t in range(8):
            room = math.floor(left * (t + 1)) - math.floor(left * t)
            mean = exact.success_of(n, n * q, room, v)
            _, s = exact.estimate(run.counts["success_series_batch"][:, t])
            total += mean / 8
            name = f"capacity {c}, maintenance {maintenance} of {v}, second {t}"
            cmp.mean(name, series[t], s, mean, power=0.01, df=49)
        cmp.mean(f"capacity {c}, all", *run.estimate("success"), total, power=0.003)
        mean = q * (1 - exact.owns(n, v)) + maintenance * v
        cmp.mean(f"capacity {c}, messages", *run.estimate("messages"), mean, power=0.01)


def drops(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Whole seconds of few queries, equal arcs: all n^2 pairs of source and owner of each, in both
    orders and both charges.
    """
    for n, queries, room in ((3, 4, 1), (4, 3, 1), (5, 3, 1), (3, 4, 2), (7, 2, 1)):
        for order in ("sequential", "hop-synchronous"):
            for charge in ("forwarding", "delivery"):
                run = lab.one(
                    8000, nodes=n, ids="equal", queries=(queries + 0.5) / n, capacity=room,
                    order=order, charge=charge,
                )
                how = {"abreast": order != "sequential", "delivers": charge == "delivery"}
                law = exact.all_seconds(n, queries, room, **how)
                name = f"{n} nodes, {queries} queries, {order}, {charge}"
                done = np.rint(run["success"] * queries).astype(int)
                counts = np.bincount(done, minlength=queries + 1).astype(float)
                cmp.counts(f"{name}: successes", counts, law["success"])
                for row in ("hops", "messages"):
                    cmp.mean(f"{name}: {row}", *run.estimate(row), law[row], power=0.02)


def queries_asked(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Parts of a query are carried to the next second; hops and messages belong together."""
    for n, q, duration in ((3, 0.75, 11), (1, 0.3, 9), (7, 1.01, 20)):
        run = lab.one(3, nodes=n, queries=q, duration=duration, capacity=ENDLESS)
        count = math.floor(n * q * duration)
        cmp.exact("queries", run.counts["hop_count"].sum(), count * run.replications)
    for charge in ("delivery", "forwarding"):
        run = lab.one(1, nodes=50, queries=40, capacity=ENDLESS, charge=charge)
        away = 2000 - run.counts["hop_count"][0] / run.replications
        free = away if charge == "forwarding" else 0
        got = (run["messages"] * 50 + free).mean()
        cmp.exact(f"messages and hops, {charge}", got, (run["hops"] * 2000).mean(), 1e-6)


PARTS = (
    shares, fixed_shares, keys, overload, hops, acceptance, rooms, drops, queries_asked,
    *more.PARTS,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--tier", choices=FACTOR, default="ci")
    parser.add_argument("--part", action="append", help="only this part; may be repeated")
    options = parser.parse_args()
    lab, cmp = Lab(options.program, FACTOR[options.tier]), Comparisons()
    for i, part in enumerate(PARTS):
        lab.jobs = 1000 * i  # seeds do not depend on the other parts
        if not options.part or part.__name__ in options.part:
            part(lab, cmp, options.tier)
    cmp.exact("success + dropped + lost, all points", lab.unaccounted, 0, 1e-11)
    passed, failures = cmp.judge()
    for failure in failures:
        print("FAILED", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
