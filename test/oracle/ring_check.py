#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model dht against the step-by-step program of ring.c: the same random words, event for event.

usage: ring_check.py PROGRAM [--sanitize] [--case N ..] [--level LEVEL ..]

A case is a job of one point. The log that ring_log makes of it (in PROGRAM's build folder,
test/unit/ring_log) must be that of ring.c, line for line: who comes and goes, every virtual server
that is made, deleted, moved or handed over, what became of the queries of every step, and the measured
utilisation of every node to the last bit. Only the capacities and the work anticipated at first, which
logarithms and exponentials have gone into, are handed to ring.c, which checks them up to rounding. What
cases are there for must also happen in them.

Then PROGRAM plays the job, and its rows, histograms and series are computed again from the log.

Not reached: rejected words; rings of more than a few thousand virtual servers; capacities beyond 2^31.
"""
import argparse
import collections
import dataclasses
import itertools
import pathlib
import random
import subprocess
import sys
import tempfile

import h5py

import _ring_rows
from naive_check import compile_naive

REPLICATIONS = 2
DURATION, LARGE, SHORT = 200, 500, 40
INTERVAL = 60
LEVELS = ("baseline", "avx2", "avx512")
NOT_HERE = 77
#: An entry is a name with its parameters; those that are None stay unset.
Entry = tuple[str, dict[str, object]]

BALANCERS: list[Entry] = [
    ("none", {}),
    ("log-vs", {"count": None}),
    ("log-vs", {"count": 5}),
    ("proportion", {"initial": 1, "max": 16, "relief": "nothing"}),
    ("proportion", {"initial": 2.5, "max": 6, "relief": "heaviest"}),
    ("transfer", {"initial": 1, "split": "true"}),
    ("transfer", {"initial": 4, "split": "false"}),
    ("threshold", {"rho": 2, "c": 0.1, "sample": 8, "on_overload": "true"}),
    ("threshold", {"rho": 1.25, "c": 0.3, "sample": 62, "on_overload": "false"}),
    ("threshold", {"rho": 1.5, "c": 0.05, "sample": 1, "on_overload": "true"}),
    ("k-choices", {"kappa": 8, "mode": "active", "margin": 0.05}),
    ("k-choices", {"kappa": 8, "mode": "passive", "margin": 0.05}),
    ("k-choices", {"kappa": 2, "mode": "active", "margin": 0}),
    ("k-choices", {"kappa": 1, "mode": "active", "margin": 0.05}),
    ("k-choices", {"kappa": 13, "mode": "active", "margin": 0.01}),
]
LIFETIMES: list[Entry] = [
    ("unlimited", {}),
    ("exponential", {"mean": 60}),
    ("lomax", {"shape": 1.5, "mean": 50}),
    ("trace", {"file": "sessions.txt"}),
]
MORE_LAWS: list[Entry] = [
    ("deterministic", {"mean": 7.5}),
    ("lomax", {"shape": 3, "mean": 4}),
    ("erlang", {"shape": 3, "mean": 25}),
    ("exponential", {"mean": 0.75}),
]
DESTINATIONS: list[Entry] = [
    ("uniform", {}),
    ("zipf", {"alpha": 1, "count": 50, "shift": 90}),
    ("zipf", {"alpha": 0.8, "count": 1500, "shift": None}),
]
CAPACITIES = ("constant", "profile", "lognormal", "file")
#: What balancers are there to do, and what happens when nodes come and go.
DEEDS = {
    "proportion": ("create", "delete"),
    "transfer": ("split", "give"),
    "threshold": ("shift", "move"),
    "k-choices": ("move",),
}
COMINGS = ("up", "down", "join", "leave")
#: Parameters that a point makes no use of are not given.
IDLE = ("none", "log-vs")


def sessions(nodes: int) -> list[tuple[int, float, float]]:
    """A trace: node from to. Some nodes never come, some never go, some change twice in a second."""
    rows = []
    for i in range(nodes):
        if i % 11 == 10:
            continue
        start = 0.0 if i % 3 else 1.25 * i + 0.5
        for k in itertools.count():
            end = start + 9 + (i * 7 + k * 13) % 41 + 0.25 * (i % 4)
            rows.append((i, start, 1000.0 if i % 7 == 6 else end))
            start = end + (0.125 if k % 3 == 2 else 3 + (i + k) % 17)
            if start > DURATION or i % 7 == 6:
                break
    return rows


def capacity(kind: str, level: float, nodes: int) -> Entry:
    """Capacities about `level` messages a second."""
    if kind == "constant":
        return "constant", {"per_second": level}
    if kind == "profile":
        return "profile", {"mean": 9.37 * level}
    if kind == "lognormal":
        return "lognormal", {"median": level, "sigma": 1}
    return "file", {"path": f"capacities-{nodes}-{level}.txt"}


def from_file(level: float, nodes: int) -> list[float]:
    return [level * (0.5 + (i * 5 % 7) * 0.4375) for i in range(nodes)]


@dataclasses.dataclass
class Case:
    """A point of model dht: plain values and entries by the names of the parameters."""

    seed: int
    level: float
    plain: dict[str, object]
    entries: dict[str, Entry]

    @property
    def nodes(self) -> int:
        return int(str(self.plain["nodes"]))

    @property
    def name(self) -> str:
        return ", ".join([canonical(e) for e in self.entries.values()] + [f"{k} {v}" for k, v in self.plain.items()])

    def used(self, key: str) -> bool:
        """Whether the point makes use of a parameter."""
        balancer, law = self.entries["balancer"][0], self.entries["lifetime"][0]
        if key in ("balance_from", "period"):
            return balancer not in IDLE
        if key in ("epsilon", "target"):
            return balancer not in (*IDLE, "threshold")
        if key == "downtime":
            return law not in ("unlimited", "trace")
        if key == "refresh":
            return self.plain["routing"] == "fingers"
        return True

    def yaml(self) -> str:
        lines = [f"seed: {self.seed}", f"replications: {REPLICATIONS}", "model: dht"]
        lines += [f"{k}: {v}" for k, v in self.plain.items() if self.used(k)]
        for key, (name, parameters) in self.entries.items():
            given = ", ".join(f"{k}: {v}" for k, v in parameters.items() if v is not None)
            if self.used(key):
                lines.append(f"{key}: {{{name}: {{{given}}}}}" if given else f"{key}: {name}")
        return "\n".join(lines) + "\n"

    def arguments(self) -> list[str]:
        given = {"seed": self.seed, "first": 0, "end": REPLICATIONS, **self.plain}
        given |= {k: canonical(e) for k, e in self.entries.items()}
        given["capacities"] = " ".join(map(repr, from_file(self.level, self.nodes)))
        given["sessions"] = " ".join(f"{i} {a!r} {b!r}" for i, a, b in sessions(self.nodes))
        return [f"{k}={v}" for k, v in given.items()]

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        path = folder / "job.yaml"
        path.write_text(self.yaml())
        rows = "".join(f"{i} {a!r} {b!r}\n" for i, a, b in sessions(self.nodes))
        (folder / "sessions.txt").write_text(rows)
        if self.entries["capacity"][0] == "file":
            text = "".join(f"{x!r}\n" for x in from_file(self.level, self.nodes))
            (folder / str(self.entries["capacity"][1]["path"])).write_text(text)
        return path


def canonical(entry: Entry) -> str:
    name, parameters = entry
    inner = ", ".join(f"{k}: {'unset' if v is None else v}" for k, v in parameters.items())
    return f"{name}: {{{inner}}}" if inner else name


def make_case(seed: int, balancer: Entry, lifetime: Entry, nodes: int = 0) -> Case:
    """The other settings are drawn, in a way that depends on the seed alone."""
    r = random.Random(seed)
    size = nodes or r.choice([3, 5, 8, 17, 17, 30])
    queries = r.choice([10, 10, 0.3, 2.5] if size < LARGE else [0.8, 1.5])
    level = queries * r.choice([1.5, 2, 3])
    routing = "one-hop" if r.random() < 0.12 else "fingers"
    plain: dict[str, object] = {
        "nodes": size,
        "ids": r.choice(["random", "random", "equal", "proportional"]),
        "queries": queries,
        "duration": DURATION if size < LARGE else SHORT,
        "record_from": (DURATION if size < LARGE else SHORT) // 3,
        "balance_from": 5,
        "period": r.choice([1, 1, 3]),
        "measure": r.choice([1, 4, 10]),
        "epsilon": r.choice([0.25, 0.1, 0]),
        "target": r.choice([0.75, 0.5]),
        "order": ("sequential", "hop-synchronous")[seed % 2],
        "charge": ("forwarding", "delivery")[seed // 2 % 2],
        "maintenance": r.choice([0, 0, queries / 16]),
        "routing": routing,
        "refresh": r.choice([1, 1, 5]) if routing == "fingers" else 1,
    }
    if routing == "one-hop":
        plain["charge"] = "delivery"  # else nothing costs anything
    entries = {
        "capacity": capacity(CAPACITIES[seed // 4 % 4], level, size),
        "destinations": DESTINATIONS[seed % 3],
        "lifetime": lifetime,
        "downtime": r.choice([("same", {}), ("same", {}), ("exponential", {"mean": 20})]),
        "balancer": balancer,
    }
    return Case(seed, level, plain, entries)


def all_cases() -> list[Case]:
    seeds = itertools.count(1)
    cases = [make_case(next(seeds), b, l) for b in BALANCERS for l in LIFETIMES]
    cases += [make_case(next(seeds), b, l) for l in LIFETIMES[:2] for b in BALANCERS[3:] if b[0] in DEEDS]
    cases += [make_case(next(seeds), b, l) for b in BALANCERS[3:12:2] for l in MORE_LAWS]
    cases += [
        make_case(next(seeds), b, l, n)
        for n in (1, 2)
        for b in BALANCERS[1:11:3] + BALANCERS[8:9]
        for l in LIFETIMES[:2]
    ]
    cases += [make_case(next(seeds), b, LIFETIMES[1 + i % 2], LARGE + i) for i, b in enumerate(BALANCERS[2:12])]
    return cases


# ---- playing and comparing ----


def output(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: {done.stderr.strip()[:600]}")
    return done.stdout.splitlines()


def difference(have: list[str], expected: list[str]) -> str | None:
    events = [line for line in expected if line[0] != "#"]
    for i, (a, b) in enumerate(itertools.zip_longest(have, events, fillvalue="(nothing)")):
        if a != b:
            return f"line {i + 1}: '{a}', step by step '{b}'"
    return None


class Happenings:
    """How many cases of a balancer, of a churn, show each kind of event."""

    def __init__(self) -> None:
        self.cases: collections.Counter[str] = collections.Counter()
        self.shown: collections.Counter[tuple[str, str]] = collections.Counter()

    def add(self, case: Case, log: list[str]) -> None:
        kinds = {line.split()[1] for line in log if not line.startswith(("R ", "0 ", "#"))}
        fates = [line.split()[5:8] for line in log if " step " in line]
        kinds |= {
            name
            for i, name in enumerate(("succeeded", "dropped", "lost"))
            if any(int(f[i]) > 0 for f in fates)
        }
        stale = "stale" if case.plain["refresh"] != 1 else "fresh"
        for key in (canonical(case.entries["balancer"]), case.entries["lifetime"][0], stale):
            self.cases[key] += 1
            for kind in kinds:
                self.shown[key, kind] += 1

    def lacking(self):
        """(claim, whether it is so)."""
        for balancer in BALANCERS:
            name = canonical(balancer)
            for kind in DEEDS.get(balancer[0], ()):
                idle = "passive" in name or "kappa: 1," in name
                idle = idle or ("split: false" in name and kind == "split")
                n = self.shown[name, kind]
                yield f"{name}: {kind} in {n} cases of {self.cases[name]}", n == 0 if idle else n >= 4
        for law, _ in LIFETIMES[1:]:
            for kind in COMINGS:
                n = self.shown[law, kind]
                yield f"{law}: {kind} in {n} cases of {self.cases[law]}", n >= 10
        for key, kind, least in (("stale", "lost", 10), ("fresh", "dropped", 30), ("stale", "dropped", 10)):
            n = self.shown[key, kind]
            yield f"{key} tables: queries {kind} in {n} cases of {self.cases[key]}", n >= least
        yield "fresh tables lose no query", self.shown["fresh", "lost"] == 0


def simulate(case: Case, logger: str, ring: str, levels: list[str], folder: str):
    """The log of ring.c and what differs from it; None when nothing does."""
    path = case.write(pathlib.Path(folder))
    logs = {level: output([logger, str(path), level]) for level in levels}
    given = [line.split()[2:] for line in logs[levels[0]] if line.startswith("R ")]
    expected = output([ring, *case.arguments(), "given=" + " ".join(itertools.chain(*given))])
    for level, log in logs.items():
        wrong = difference(log, expected)
        if wrong:
            return expected, f"{level}: {wrong}"
    return expected, None


def rows(case: Case, program: str, log: list[str], folder: str) -> str | None:
    """What differs between the log and the results of the program."""
    job, out = str(pathlib.Path(folder) / "job.yaml"), str(pathlib.Path(folder) / "out.h5")
    output([program, "run", job, "-o", out, "--force", "--progress", "none", "--threads", "1"])
    with h5py.File(out, "r") as f:
        return _ring_rows.compare(
            f,
            log,
            int(str(case.plain["record_from"])),
            INTERVAL,
            float(str(case.plain["maintenance"])),
        )


def levels_here(logger: str, wanted: list[str] | None) -> list[str]:
    """The levels of this processor: the logger declines others before it looks for a job."""
    found = []
    for level in wanted or LEVELS:
        done = subprocess.run([logger, "", level], capture_output=True, check=False)
        found += [level] if done.returncode != NOT_HERE else []
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--case", type=int, action="append", help="only this case; may be repeated")
    parser.add_argument("--level", action="append", help="only this level; may be repeated")
    parser.add_argument("--show", action="store_true", help="say what happens how often")
    options = parser.parse_args()
    logger = str(pathlib.Path(options.program).resolve().parent / "test" / "unit" / "ring_log")
    levels = levels_here(logger, options.level)
    passed = failed = 0
    happenings = Happenings()
    with tempfile.TemporaryDirectory() as folder:
        ring = compile_naive(folder, "ring", options.sanitize)
        for case in all_cases():
            if options.case and case.seed not in options.case:
                continue
            try:
                log, wrong = simulate(case, logger, ring, levels, folder)
                happenings.add(case, log)
                wrong = wrong or rows(case, options.program, log, folder)
            except RuntimeError as why:
                wrong = str(why)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED case {case.seed}: {case.name}: {wrong}", flush=True)
    for claim, good in [] if options.case else happenings.lacking():
        passed, failed = passed + good, failed + (not good)
        if options.show or not good:
            print(f"{'' if good else 'FAILED: '}{claim}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
