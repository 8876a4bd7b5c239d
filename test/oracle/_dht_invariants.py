# SPDX-License-Identifier: GPL-3.0-or-later
"""Model dht: churn in equilibrium, few popular keys, and what balancers must or must not do.
dht_theory_check.py plays these parts and says how they are judged.
"""
from __future__ import annotations

import math

import numpy as np
from scipy import stats

import _dht as exact
from _compare import Comparisons
from _dht import Lab, Run

ENDLESS, NOTHING = "1e15", "1e-6"
HOUR = 3600
ONE_HOP = {"routing": "one-hop", "charge": "delivery"}
#: Every balancer, as it acts easily.
ACTIVE = [
    "none",
    "{log-vs: {count: 3}}",
    "{proportion: {initial: 1, max: 6, relief: heaviest}}",
    "{transfer: {split: true}}",
    "{threshold: {rho: 1.5, c: 0.1, sample: 4}}",
    "{k-choices: {kappa: 8, mode: active}}",
]
#: Laws of times up and down, and their means.
CHURN = [
    ("{exponential: {mean: 20}}", "same", 20, 20),
    ("{exponential: {mean: 0.8}}", "{exponential: {mean: 2.4}}", 0.8, 2.4),
    ("{lomax: {shape: 3, mean: 12}}", "{lomax: {shape: 1.6, mean: 5}}", 12, 5),
    ("{weibull: {shape: 0.6, mean: 9}}", "{deterministic: {mean: 3.5}}", 9, 3.5),
    ("{deterministic: {mean: 6.25}}", "{weibull: {shape: 2, mean: 2}}", 6.25, 2),
    ("{lomax: {shape: 2.2, mean: 40}}", "same", 40, 40),
]


def same_numbers(cmp: Comparisons, name: str, run: Run, other: Run) -> None:
    """Every row of every replication, every histogram and series, to the last bit."""
    different = [row for row in run.rows if not np.array_equal(run[row], other[row])]
    for key, counts in run.counts.items():
        size = min(counts.shape[-1], other.counts[key].shape[-1])
        rest = np.nansum(counts[..., size:]) + np.nansum(other.counts[key][..., size:])
        ours, theirs = counts[..., :size], other.counts[key][..., :size]
        if rest or not np.array_equal(ours, theirs, equal_nan=True):
            different.append(key)
    cmp.exact(f"{name}: {different}", len(different), 0)


# ---- churn


def churn(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Nodes are up with probability E[up]/(E[up] + E[down]) independently, at every second alike;
    and each second brings N/(E[up] + E[down]) of them up and as many down. The nodes of a second
    are known to 2 % of all, events to 3 %.
    """
    n = 40
    for life, down, up_mean, down_mean in CHURN:
        share = up_mean / (up_mean + down_mean)
        name = f"churn {life} {down}"
        keys = {"nodes": n, "queries": NOTHING, "lifetime": life, "downtime": down}
        run = lab.one(4000, **keys)
        counts = np.bincount(np.rint(run["nodes_up"]).astype(int), minlength=n + 1).astype(float)
        cmp.counts(f"{name}: first second", counts, stats.binom.pmf(range(n + 1), n, share))
        balancers = ["none", "{log-vs: {count: 3}}"]
        # From second 1 on: changes of the time (0, 40] in 40 seconds.
        runs = lab.play(
            400, duration=41, record_from=1, interval=1, balancer=balancers, **keys
        )
        s = math.sqrt(n * share * (1 - share) / runs[0].replications)
        for t, got in enumerate(runs[0].counts["nodes_up_series"]):
            cmp.mean(f"{name}: second {t}", got, s, n * share, tolerance=1e-6, power=0.02 * n)
        for run, count in zip(runs, (1, 3)):
            got, s = exact.estimate(run["actions_natural"] * run["nodes_up"])
            mean = 2 * count * HOUR * n / (up_mean + down_mean)
            cmp.mean(f"{name}: events of {count}", got, s, mean, power=0.03 * mean)
            # A ratio of sums is off by less than one in the number of lives played.
            got, s = run.estimate("actions_natural")
            mean = 2 * count * HOUR / up_mean
            bias = mean * 4 * (up_mean + down_mean) / (n * 40)
            cmp.mean(f"{name}: per hour", got, s, mean, tolerance=bias, power=0.03 * mean)
            mean_up = run.estimate("nodes_up")
            cmp.mean(f"{name}: all seconds", *mean_up, n * share, power=0.02 * n)


def memory(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Two seconds of exponential times: up at both with A (A + (1 - A) e^-r), r the sum of the
    rates. Deterministic times: any whole period sees each node up for the same time, coming and
    going once.
    """
    n = 6
    for up, down in ((2.0, 3.0), (0.5, 0.25), (9.0, 1.0)):
        run = lab.one(
            20000, nodes=n, queries=NOTHING, duration=2,
            lifetime=f"{{exponential: {{mean: {up}}}}}",
            downtime=f"{{exponential: {{mean: {down}}}}}",
        )
        a, kept = up / (up + down), math.exp(-1 / up - 1 / down)
        both = a * (a + (1 - a) * kept)
        law = np.array([1.0])
        for _ in range(n):
            law = np.convolve(law, [1 - 2 * a + both, 2 * (a - both), both])
        counts = np.bincount(np.rint(2 * run["nodes_up"]).astype(int), minlength=2 * n + 1)
        cmp.counts(f"two seconds, {up} up, {down} down", counts.astype(float), law)
    for up, down in ((10, "same"), (6, "{deterministic: {mean: 4}}"), (1, "same")):
        period = 10 if up == 6 else 2 * up
        run = lab.one(
            5, nodes=7, queries=NOTHING, duration=3 * period + 1, record_from=1,
            lifetime=f"{{deterministic: {{mean: {up}}}}}", downtime=down,
        )
        events = HOUR * 2 * 7 / period
        for k in range(5):
            cmp.exact(f"period {period}: up", run["nodes_up"][k], 7 * up / period, 1e-7)
            got = run["actions_natural"][k] * run["nodes_up"][k]
            cmp.exact(f"period {period}: events", got, events, 1e-6)


def trace(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Sessions of a file: a node is up in the seconds t with from <= t < to."""
    chance, n, duration = np.random.default_rng(11), 9, 40
    sessions = []
    for node in range(n - 1):  # the last never comes
        at = 0.0 if node % 3 == 0 else float(chance.integers(0, 9)) / 2
        while at < duration:
            end = at + float(chance.integers(1, 30)) / (2 if node % 2 else 8)
            sessions.append((node, at, end))
            at = end + float(chance.integers(1, 12)) / 4
    text = "".join(f"{i} {a!r} {b!r}\n" for i, a, b in sessions)
    up = [sum(a <= t < b for _, a, b in sessions) for t in range(duration)]
    # Who is there at time 0 has not come; what changes by the last second counts.
    ups = sum(0 < a <= duration - 1 for _, a, _ in sessions)
    downs = sum(b <= duration - 1 for _, _, b in sessions)
    runs = lab.play(
        2, {"s.txt": text}, nodes=n, duration=duration, interval=1, queries=3, capacity=ENDLESS,
        lifetime="{trace: {file: s.txt}}", balancer=["none", "{log-vs: {count: 4}}"],
    )
    for run, count in zip(runs, (1, 4)):
        for t in range(duration):
            cmp.exact(f"trace, second {t}", run.counts["nodes_up_series"][t], up[t], 1e-6)
        cmp.exact("trace, nodes", run["nodes_up"][0], np.mean(up), 1e-7)
        events = HOUR * count * (ups + downs) / sum(up)
        cmp.exact("trace, events", run["actions_natural"][0], events, 1e-7)
        cmp.exact("trace, servers", run["virtual_servers"][0], count, 1e-7)
        cmp.exact("trace, success", run["success"].min(), 1)
        total = 3 * sum(up) * run.replications
        cmp.exact("trace, queries", run.counts["hop_count"].sum(), total)


def routes_and_churn(lab: Lab, cmp: Comparisons, _: str) -> None:
    """With right routes nothing is lost; old ones lose queries; where nothing changes, age is
    nothing.
    """
    keys = {
        "nodes": 60, "duration": 40, "balance_from": 3, "queries": 6, "capacity": 25,
        "destinations": "{zipf: {alpha: 1, count: 40}}",
    }
    for balancer in ACTIVE:
        life = "{exponential: {mean: 30}}"
        right, old = lab.play(20, balancer=balancer, lifetime=life, refresh=[1, 9], **keys)
        cmp.exact(f"lost, {balancer}", right["lost"].max(), 0)
        cmp.above(f"lost by old routes, {balancer}", *old.estimate("lost"), df=20 * lab.factor - 1)
    runs = lab.play(5, balancer="{log-vs: {count: 3}}", refresh=[1, 4, 50], **keys)
    for run in runs[1:]:
        same_numbers(cmp, "age of routes", run, runs[0])


# ---- few popular keys


def popular(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Keys belong to random nodes of equal arcs. One hop, charged: success exactly, known to 0.5
    %; of one key also the law of messages.
    """
    settings = ((4, 6, 5, 3, 1.2), (3, 4, 7, 1, 1), (7, 3, 2, 6, 0.8), (2, 9, 4, 5, 0))
    for n, q, c, count, alpha in settings:
        chances = np.arange(1, count + 1) ** -float(alpha)
        run = lab.one(
            4000, nodes=n, ids="equal", queries=q, capacity=c,
            destinations=f"{{zipf: {{alpha: {alpha}, count: {count}}}}}", **ONE_HOP,
        )
        mean = exact.few_keys(n, n * q, c, chances / chances.sum())
        name = f"{count} keys of {n} nodes"
        cmp.mean(name, *run.estimate("success"), mean, power=0.005)
    for n, t in ((3, 12), (10, 20), (2, 31)):
        run = lab.one(
            4000, nodes=n, queries=(t + 0.5) / n, capacity=0.98,
            destinations="{zipf: {alpha: 1, count: 1}}", **ONE_HOP,
        )
        law = stats.binom.pmf(range(t + 1), t, 1 - 1 / n)
        counts = run.utilisations(1 / 0.98, t)
        counts[0] -= (n - 1) * run.replications  # the others have none, surely
        cmp.counts(f"messages for one key, {n} nodes", counts, law)


def ceiling(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Where the last hop is charged a key succeeds at most as often as its owner has capacity,
    besides queries that start there: success <= 1/n + sum over keys of min(c, (1 - 1/n) Q p)/Q,
    in a second and over random keys. (Without the 1/n the bound does not hold, nor with `charge:
    forwarding`.)
    """
    n, q, c, count = 256, 10, 60, 300
    for alpha in (0.8, 1.2, 2.4, 4.8):
        p = np.arange(1, count + 1) ** -alpha
        p /= p.sum()
        bound = 1 / n + np.minimum(c / (n * q), (1 - 1 / n) * p).sum()
        for ids in ("random", "equal"):
            for order in ("sequential", "hop-synchronous"):
                run = lab.one(
                    40, nodes=n, ids=ids, queries=q, capacity=c, order=order, charge="delivery",
                    destinations=f"{{zipf: {{alpha: {alpha}, count: {count}}}}}",
                )
                got, s = run.estimate("success")
                name = f"ceiling, alpha {alpha}, {ids}, {order}"
                cmp.above(name, bound - got, s, df=40 * lab.factor - 1, power=0.01)


def shift(lab: Lab, cmp: Comparisons, _: str) -> None:
    """One key, asked for in two seconds; measured over both. If it is another in the second, all
    but two nodes have received nothing, unless both keys belong to the same node: one in n times
    on equal arcs, 2/(n+1) on random ones (the sum of squares).
    """
    n = 5
    for ids, same in (("equal", 1 / n), ("random", 2 / (n + 1))):
        for second, chance in (("unset", 0.0), (2, 0.0), (1, 1 - same), (0, 0.0)):
            more = "" if second == "unset" else f", shift: {second}"
            run = lab.one(
                2000, nodes=n, ids=ids, queries=10, capacity=1000, duration=2, record_from=1,
                destinations=f"{{zipf: {{alpha: 1, count: 1{more}}}}}", **ONE_HOP,
            )
            moved = (n - 1) - run.counts["utilisation_count"][0] / run.replications
            s = math.sqrt(chance * (1 - chance) / run.replications)
            cmp.mean(f"keys change at {second}, {ids}", moved, s, chance, power=0.02)


# ---- balancers


def idle(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Endless capacity: transfer and threshold have no reason to act, proportion makes as many
    virtual servers as it may, k-choices joins with max(1, kappa/2); all queries succeed.
    """
    keys = {"nodes": 30, "capacity": ENDLESS, "balance_from": 0, "duration": 40, "record_from": 20}
    rows = ("actions_artificial", "moved_space", "moved_work", "splits", "shifts", "dropped")
    for balancer in ("{transfer: {split: true}}", "threshold"):
        for life in ("unlimited", "{exponential: {mean: 15}}"):
            run = lab.one(
                5, balancer=balancer, lifetime=life, destinations="{zipf: {alpha: 2}}", **keys
            )
            for row in rows:
                cmp.exact(f"{balancer} idle, {row}", run[row].max(), 0)
    counts = [(f"{{proportion: {{max: {m}}}}}", m) for m in (1, 2, 5, 16)]
    counts += [(f"{{k-choices: {{kappa: {k}}}}}", max(1, k // 2)) for k in (1, 2, 3, 4, 8, 9, 16)]
    for balancer, count in counts:
        run = lab.one(3, balancer=balancer, **keys)
        for row in ("virtual_servers", "virtual_servers_q50", "virtual_servers_q95"):
            cmp.exact(f"{balancer}, {row}", run[row][0], count)
        cmp.exact(f"{balancer}, success", run["success"].min(), 1)
        cmp.exact(f"{balancer}, relocations", run["relocations"].max(), 0)


def one_choice(lab: Lab, cmp: Comparisons, _: str) -> None:
    """k-choices of one candidate is no balancing, to the last bit; so are log-vs of one,
    proportion of one at most, and transfer that may not split.
    """
    others = [
        "{k-choices: {kappa: 1, mode: active}}", "{k-choices: {kappa: 1, mode: passive}}",
        "{log-vs: {count: 1}}", "{proportion: {max: 1}}", "{transfer: {split: false}}",
    ]
    for ids in ("random", "equal"):
        for life in ("unlimited", "{lomax: {shape: 2, mean: 20}}"):
            runs = lab.play(
                4, nodes=50, ids=ids, duration=60, balance_from=5, lifetime=life, queries=8,
                capacity="{lognormal: {median: 30}}", maintenance=0.5, interval=7,
                destinations="{zipf: {alpha: 0.9, count: 60, shift: 30}}",
                balancer=["none"] + others,
            )
            cmp.exact("there are drops", runs[0]["dropped"].min() > 0, 1)
            for name, run in zip(others, runs[1:]):
                same_numbers(cmp, f"{name} is none, {ids}", run, runs[0])
    # Without an estimate to act on, transfer that joins with three is log-vs of three.
    others = ["{log-vs: {count: 3}}", "{transfer: {initial: 3}}"]
    others.append("{proportion: {initial: 3, max: 3}}")
    runs = lab.play(
        4, nodes=50, duration=30, balance_from=30, queries=8, capacity=30, balancer=others,
        lifetime="{exponential: {mean: 20}}",
    )
    for name, run in zip(others[1:], runs[1:]):
        same_numbers(cmp, f"{name} is log-vs", run, runs[0])


def orders(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Where nothing is dropped the order of hops is nothing, whatever balancers do."""
    for balancer in ACTIVE:
        runs = lab.play(
            3, nodes=40, duration=50, balance_from=3, queries=5, capacity=200, target=0.05,
            lifetime="{exponential: {mean: 60}}", balancer=balancer,
            order=["sequential", "hop-synchronous"],
        )
        cmp.exact(f"nothing dropped, {balancer}", runs[0]["dropped"].max(), 0)
        same_numbers(cmp, f"order, {balancer}", *runs)


def content(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Equal arcs and capacities, loads inside the band: nobody acts. Over 100 s a load of 300 is
    known to 0.6 %, the band is 25 %; threshold's levels begin at .2, .4, .8 and 1.6.
    """
    for balancer in ("{proportion: {max: 16}}", "{transfer: {split: true}}", "threshold"):
        for n in (2, 3, 64):
            run = lab.one(
                2, nodes=n, ids="equal", queries=f"{300 / (1 - 1 / n):.6f}", capacity=400,
                balance_from=100, measure=100, duration=140, balancer=balancer, **ONE_HOP,
            )
            for row in ("actions_artificial", "moved_space", "splits", "shifts"):
                cmp.exact(f"content, {balancer}, {row}", run[row].max(), 0)
            cmp.exact(f"content, {balancer}", run["virtual_servers"].max(), 1)


def numbers(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Bounds of the number of virtual servers, under overload, skew and churn."""
    bounds = [(1, 1), (3, 3), (1, 6), (0, 40), (1, 1), (1, 4)]
    for life in ("unlimited", "{lomax: {shape: 2, mean: 30}}"):
        runs = lab.play(
            4, nodes=60, duration=60, balance_from=5, lifetime=life, queries=10, capacity="profile",
            destinations="{zipf: {alpha: 1.2, count: 100}}", balancer=ACTIVE,
        )
        for balancer, run, (least, most) in zip(ACTIVE, runs, bounds):
            counts = run.counts["virtual_server_count"]
            cmp.exact(f"fewer servers, {balancer}", counts[:least].sum(), 0)
            cmp.exact(f"more servers, {balancer}", counts[most + 1 :].sum(), 0)
            artificial = sum(run[x] for x in ("creations", "deletions", "transfers"))
            artificial = artificial + 2 * run["relocations"]
            off = np.abs(artificial - run["actions_artificial"]).max()
            cmp.exact(f"actions, {balancer}", off, 0, 1e-5)
            if balancer.startswith(("{prop", "{tran", "{thre", "{k-ch")):
                cmp.exact(f"acts, {balancer}", float(run["actions_artificial"].min() > 0), 1)


def first_turn(lab: Lab, cmp: Comparisons, _: str) -> None:
    """The one turn of the last second. Transfer on equal arcs: who is over splits in halves, and
    gives one away: 1/(2n) of the ring each time, and splits no less often. Proportion without
    limits: every node makes a virtual server; among k others it takes 1/(k+1) of the ring on
    average, of another node but for one in k times.
    """
    n = 20
    run = lab.one(
        500, nodes=n, ids="equal", queries=20, capacity=25, target=0.8, measure=1, duration=1,
        balance_from=0, balancer="{transfer: {split: true}}", **ONE_HOP,
    )
    cmp.exact("there are transfers", float(run["transfers"].mean() > 0), 1)
    got = np.abs(run["moved_space"] - run["transfers"] / 2).max()
    cmp.exact("space of transfers", got, 0, 1e-5)
    cmp.exact("splits", float((run["splits"] >= run["transfers"]).all()), 1)
    for n in (1, 2, 5, 40):
        run = lab.one(
            12000, nodes=n, queries=NOTHING, capacity=ENDLESS, balance_from=0,
            balancer="{proportion: {max: 2}}",
        )
        k = np.arange(n, 2 * n)
        mean = HOUR * ((1 / (k + 1)) * (1 - 1 / k)).sum()
        cmp.mean(f"space of creations, {n}", *run.estimate("moved_space"), mean, power=0.01 * mean)
        cmp.exact(f"creations, {n}", np.abs(run["creations"] - HOUR).max(), 0, 1e-5)


# ---- capacities and what is measured


def capacities(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Node-seconds by class of capacity: below 1, then a doubling each."""
    # Of mean 100 the profile is 1.07, 10.7, 107, 1067, 10672.
    run = lab.one(200, nodes=1000, queries=NOTHING, capacity="{profile: {mean: 100}}")
    law = np.zeros(len(run.classes))
    for capacity, p in zip((1, 10, 100, 1000, 10000), (0.2, 0.45, 0.3, 0.049, 0.001)):
        law[np.searchsorted(run.classes, capacity * 100 / 93.7, side="right") - 1] += p
    cmp.counts("profile", run.counts["node_seconds"], law)
    for median, sigma in ((191, 1.0), (1.5, 0.4), (30, 2.5)):
        capacity = f"{{lognormal: {{median: {median}, sigma: {sigma}}}}}"
        run = lab.one(200, nodes=1000, queries=NOTHING, capacity=capacity)
        ends = np.append(run.classes[1:], np.inf)
        below = stats.norm.cdf(np.log(ends / median) / sigma)
        cmp.counts(capacity, run.counts["node_seconds"], np.diff(np.append([0], below)))


def measured(lab: Lab, cmp: Comparisons, _: str) -> None:
    """Maintenance alone: every utilisation is the same. One hop, n large: messages are Poisson
    about load times share, so the line through the origin has r^2 = c load / (1 + c load) with c
    the square of n times a share: 1 on equal arcs, 1 + 1/V with V identifiers a node.
    """
    run = lab.one(
        2, nodes=50, queries=NOTHING, capacity=100, maintenance=15.5, duration=20,
        balancer="{log-vs: {count: 4}}",
    )
    for row in ("utilisation_q50", "utilisation_q95"):
        cmp.exact(row, run[row][0], 0.62, 0.62 / 64)
    cmp.exact("messages of maintenance", run["messages"][0], 62, 1e-7)
    cmp.exact("overloaded by maintenance", run["overloaded"].max(), 0)
    for load, ids, v in ((2, "random", 1), (20, "random", 1), (1, "equal", 1), (3, "random", 4)):
        run = lab.one(
            20, nodes=2000, queries=load, capacity=ENDLESS, ids=ids,
            balancer=f"{{log-vs: {{count: {v}}}}}", **ONE_HOP,
        )
        square = load * (1 if ids == "equal" else 1 + 1 / v)
        got, s = run.estimate("share_r2")
        name = f"share_r2 at {load}, {ids}, {v}"
        cmp.mean(name, got, s, square / (1 + square), tolerance=1e-3, power=0.01)


PARTS = (
    churn, memory, trace, routes_and_churn, popular, ceiling, shift, idle, one_choice, orders,
    content, numbers, first_turn, capacities, measured,
)
