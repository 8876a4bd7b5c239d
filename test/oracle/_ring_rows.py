# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows, histograms and series of model dht, computed again from an event log of ring.c."""
import bisect
import collections
import math

import numpy as np

#: Units of the program's tallies, in which a value is rounded.
SHARE, SMALL, UNIT, SERIES = 2.0**-40, 2.0**-60, 2.0**-24, 2.0**-16
SHARES = ("success", "dropped", "lost", "overloaded", "max_share", "share_r2")
ARTIFICIAL = {"create": 1, "delete": 1, "give": 1, "move": 2}
BY_KIND = {
    "creations": "create",
    "deletions": "delete",
    "transfers": "give",
    "relocations": "move",
    "splits": "split",
    "shifts": "shift",
}
RING = 1 << 64


class Ring:
    """Who owns which identifier."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.owner: dict[int, int] = {}
        self.count: collections.Counter[int] = collections.Counter()

    def arc(self, i: int) -> int:
        """Length of the arc up to number i of the ring, in order."""
        return (self.ids[i] - self.ids[i - 1] - 1) % RING + 1

    def add(self, node: int, x: int) -> int:
        """Space that another node loses."""
        i = bisect.bisect_left(self.ids, x)
        self.ids.insert(i, x)
        self.owner[x] = node
        self.count[node] += 1
        after = self.ids[(i + 1) % len(self.ids)]
        return self.arc(i) if self.owner[after] != node else 0

    def drop(self, x: int) -> int:
        """Space that another node gets."""
        i = bisect.bisect_left(self.ids, x)
        after, arc, node = self.ids[(i + 1) % len(self.ids)], self.arc(i), self.owner[x]
        different = self.owner[after] != node
        self.count[node] -= 1
        del self.ids[i], self.owner[x]
        return arc if different else 0

    def event(self, kind: str, node: int, words: list[str]) -> int:
        """Follows an event; the space that changes owner."""
        x = int(words[0], 16)
        if kind in ("join", "create", "split"):
            return self.add(node, x)
        if kind in ("leave", "delete"):
            return self.drop(x)
        if kind == "give":
            other = int(words[1])
            self.count[node] -= 1
            self.count[other] += 1
            self.owner[x] = other
            return self.arc(bisect.bisect_left(self.ids, x))
        to = int(words[1], 16)
        if kind == "shift":
            self.drop(x)
            self.add(node, to)
            return min((to - x) % RING, (x - to) % RING)
        lost = self.drop(x)
        return lost + self.add(node, to)

    def shares(self) -> dict[int, float]:
        out: dict[int, float] = collections.defaultdict(float)
        for i, x in enumerate(self.ids):
            out[self.owner[x]] += self.arc(i) / RING
        return out


class Sums:
    """Of some steps."""

    def __init__(self) -> None:
        self.steps = self.up = self.servers = 0
        self.queries = np.zeros(6)  # asked, succeeded, dropped, lost, hops, received
        self.events: collections.Counter[str] = collections.Counter()
        self.space = 0

    def success(self) -> float:
        return 1 - (self.queries[2] + self.queries[3]) / self.queries[0] if self.queries[0] else 1

    def hops(self) -> float:
        return self.queries[4] / self.queries[1] if self.queries[1] else 0

    def per_hour(self, count: float) -> float:
        return 3600 * count / self.up if self.up else 0

    def natural(self) -> float:
        return self.per_hour(self.events["join"] + self.events["leave"])

    def artificial(self) -> float:
        return self.per_hour(sum(n * self.events[k] for k, n in ARTIFICIAL.items()))

    def moved_space(self) -> float:
        return 3600 * self.space / RING / self.steps if self.steps else 0


def capacity_class(c: float) -> int:
    return 0 if c < 1 else 1 + math.frexp(c)[1] - 1


class Replication:
    """What a log says of a replication."""

    def __init__(
        self, head: str, lines: list[str], record_from: int, interval: int, maintenance: float
    ) -> None:
        self.maintenance = maintenance
        self.capacity = [float(x) for x in head.split()[3:]]
        self.record_from, self.ring = record_from, Ring()
        self.all, self.series = Sums(), collections.defaultdict(Sums)
        self.utilisation: list[float] = []
        self.work = 0.0
        self.servers: collections.Counter[int] = collections.Counter()
        self.relocated: collections.Counter[int] = collections.Counter()
        self.seconds: collections.Counter[int] = collections.Counter()
        self.last: list[tuple[int, int, int]] = []
        self.moved_work = 0.0
        for line in lines:
            first, kind, *words = line.split()
            if kind == "moved":
                self.moved_work = float(words[1])
            elif kind == "node":
                self.last.append((int(words[0]), int(words[1]), int(words[2])))
            else:
                self.line(int(first), kind, words, self.series[int(first) // interval])

    def line(self, t: int, kind: str, words: list[str], part: Sums) -> None:
        counts = t >= self.record_from
        into = [part, self.all] if counts else [part]
        if kind == "step":
            for s in into:
                s.steps += 1
                s.up += int(words[0])
                s.servers += int(words[1])
                s.queries += [float(x) for x in words[2:]]
        elif kind == "load":
            if counts:
                self.node(int(words[0]), float(words[1]))
        elif kind not in ("up", "down"):
            node = int(words[0])
            space = self.ring.event(kind, node, words[1:])
            if t == 0 and kind == "join":
                return  # those that are there at first do not come
            for s in into:
                s.events[kind] += 1
                s.space += space if kind not in ("join", "leave") else 0
            if counts and kind == "move":
                self.relocated[capacity_class(self.capacity[node])] += 1

    def node(self, node: int, utilisation: float) -> None:
        self.utilisation.append(utilisation)
        self.work += utilisation * self.capacity[node]
        self.servers[self.ring.count[node]] += 1
        self.seconds[capacity_class(self.capacity[node])] += 1

    def share_r2(self) -> float:
        """Of the line through the origin from shares to utilisations."""
        share, up = self.ring.shares(), len(self.last)
        kept = [x for x in self.last if x[1] > 0]
        x = np.array([share[i] * up for i, _, _ in kept])
        work = [r / s + self.maintenance * self.ring.count[i] for i, s, r in kept]
        y = np.array([w / self.capacity[i] for w, (i, _, _) in zip(work, kept)])
        return float((x @ y) ** 2 / ((x @ x) * (y @ y))) if len(kept) and y.any() else 0.0

    def rows(self) -> dict[str, float]:
        s, q = self.all, self.all.queries
        rows = {name: s.per_hour(s.events[kind]) for name, kind in BY_KIND.items()}
        rows |= {"success": s.success(), "hops": s.hops()}
        rows |= {name: q[i] / q[0] if q[0] else 0 for i, name in ((2, "dropped"), (3, "lost"))}
        rows["nodes_up"] = s.up / s.steps
        rows["virtual_servers"] = s.servers / s.up if s.up else 0
        rows["overloaded"] = sum(u > 1 for u in self.utilisation) / s.up if s.up else 0
        rows["messages"] = self.work / s.up if s.up else 0
        rows |= {"actions_natural": s.natural(), "actions_artificial": s.artificial()}
        rows["moved_space"] = s.moved_space()
        rows["moved_work"] = 3600 * self.moved_work / self.work if self.work else 0
        rows["max_share"] = max(self.ring.shares().values(), default=0)
        rows["min_share"] = min(self.ring.shares().values(), default=0)
        rows["share_r2"] = self.share_r2()
        return rows | {f"virtual_servers_q{n}": self.most_servers(n / 100) for n in (50, 95)}

    def most_servers(self, share: float) -> float:
        below, wanted = 0, share * sum(self.servers.values())
        for count in sorted(self.servers):
            below += self.servers[count]
            if below >= wanted:
                return count
        return 0


SERIES_OF = {
    "success_series": Sums.success,
    "hops_series": Sums.hops,
    "nodes_up_series": lambda s: s.up / s.steps,
    "virtual_servers_series": lambda s: s.servers / s.up if s.up else 0,
    "actions_natural_series": Sums.natural,
    "actions_artificial_series": Sums.artificial,
    "moved_space_series": Sums.moved_space,
}


def replications(
    log: list[str], record_from: int, interval: int, maintenance: float
) -> list[Replication]:
    starts = [i for i, line in enumerate(log) if line.startswith("R ")] + [len(log)]
    return [
        Replication(log[a], log[a + 1 : b], record_from, interval, maintenance)
        for a, b in zip(starts, starts[1:])
    ]


def wrong_row(f, number: int, r: Replication) -> str | None:
    for name, expected in r.rows().items():
        mine, unit = f[name][0, number], SHARE if name in SHARES else UNIT
        unit = SMALL if name == "min_share" else unit
        slack = unit + 1e-9 * abs(expected)
        if not math.isnan(expected) and not abs(mine - expected) <= slack:
            return f"replication {number}: {name} is {mine!r}, by the log {expected!r}"
    ordered = np.sort(r.utilisation)
    for share, name in ((0.5, "utilisation_q50"), (0.95, "utilisation_q95")):
        mine = f[name][0, number]
        x = ordered[math.ceil(share * len(ordered)) - 1] if len(ordered) else 0
        if not x * (1 - 1 / 63) - 1e-6 <= mine <= x * (1 + 1 / 63) + 1e-6:
            return f"replication {number}: {name} is {mine!r}, by the log {x!r}"
    return None


def wrong_sum(f, rs: list[Replication]) -> str | None:
    """Histograms and series, over replications."""
    for name, one in SERIES_OF.items():
        for i in sorted(rs[0].series):
            expected = sum(one(r.series[i]) for r in rs) / len(rs)
            if not abs(f[name][0, i] - expected) <= SERIES * (1 + abs(expected)):
                return f"{name} is {f[name][0, i]!r} at {i}, by the log {expected!r}"
    for name, axis, kept in (
        ("virtual_server_count", "node_servers", "servers"),
        ("relocation_count", None, "relocated"),
        ("node_seconds", None, "seconds"),
    ):
        expected = sum((getattr(r, kept) for r in rs), collections.Counter())
        at = f[axis][:] if axis else range(f[name].shape[1])
        mine = {int(k): int(v) for k, v in zip(at, f[name][0]) if v}
        if mine != dict(expected):
            return f"{name} is {mine}, by the log {dict(expected)}"
    hops = f["hop_count"][0].astype(float), f["hop"][:].astype(float)
    done, taken = (sum(r.all.queries[i] for r in rs) for i in (1, 4))
    if hops[0].sum() != done or hops[0] @ hops[1] != taken:
        return f"hop_count is {hops[0]}, by the log {done} queries take {taken} hops"
    if f["utilisation_count"][0].sum() != sum(r.all.up for r in rs):
        return "utilisation_count has other seconds of nodes than the log"
    return None


def compare(
    f, log: list[str], record_from: int, interval: int, maintenance: float
) -> str | None:
    """What differs in a result file of one point, in a sentence; None when nothing does."""
    rs = replications(log, record_from, interval, maintenance)
    for number, r in enumerate(rs):
        wrong = wrong_row(f, number, r)
        if wrong:
            return wrong
    return wrong_sum(f, rs)
