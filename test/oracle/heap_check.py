#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model queue against the event-heap simulator of heap.c: the same random words, job for job.

usage: heap_check.py PROGRAM [--sanitize]

A case is one point of a job. From what heap.c says of each job (when it came, where it went, when
its service began and ended, in which stretches it was served) every row and every histogram of the
program is computed again from its definition. Counts must agree exactly, means of times up to the
rounding of times and of the program's units; a single job that went elsewhere or was served
otherwise shows. Quantiles are held to the two values about them and the width of a bin.

Not reached: rejected words, loads beyond 4095, random graphs, points and circles (placed as by
model balls), the order in which jsq, jiq and least-work hear of jobs that end at one time,
least-work with failures.
"""
import argparse
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from naive_check import compile_naive, resolved

REPLICATIONS = 2
EXCESS = 1.0
PATH_TIMES = 200
#: Policies that look at the origin of every job; the others look at that of one job in 16.
LOOKING = ("one-choice", "pot", "unif-pot", "invsq-pot", "edge")
SAMPLED = 16
#: Keys that are no axes here and are handed on as they are.
SHARED = ("synchronised", "redirectable", "arrival_rates", "service_rates", "service_mean")
BOTH = ["fair", "origin"]
QUANTILES = {"q50": 0.5, "q90": 0.9, "q95": 0.95, "q99": 0.99}
RING = "ring: {n: 9}"
FOUR = "complete: {n: 4}"
PLACED = [
    "one-choice",
    "pot",
    "unif-pot: {k: 2}",
    "unif-pot: {k: 1, self: included}",
    "invsq-pot: {k: 3}",
    "edge",
    "choices: {d: 2}",
    "choices: {d: 3}",
    "choices: {d: 3, distinct: true}",
    "left: {d: 3}",
    "one-plus-beta: {beta: 0.4}",
]
DEALT = [
    "random",
    "round-robin",
    "round-robin: {scope: central, first: common}",
    "round-robin: {scope: distributed}",
    "round-robin: {scope: distributed, first: own}",
    "round-robin: {scope: distributed, first: common}",
    "round-robin: {scope: distributed, targets: others}",
    "round-robin: {scope: distributed, targets: others, first: own}",
    "round-robin: {scope: distributed, targets: others, first: common}",
    "block: {size: 3}",
    "permuted",
    "sequence: {servers: [0, 2, 1, 3, 1, 0, 2, 3]}",
]
SEEING = ["jsq", "jiq", "least-work", "least-work: {d: 2}", "least-work: {d: 3}"]
LAWS = [
    "exponential",
    "deterministic",
    "uniform",
    "erlang: {shape: 3}",
    "erlang: {shape: 17}",
    "hyperexponential: {scv: 4}",
    "lognormal: {scv: 2}",
    "weibull: {shape: 0.5}",
    "weibull: {shape: 3}",
    "pareto: {shape: 2.5}",
    "discrete: {values: [0.5, 1.25, 2], probabilities: [0.5, 0.25, 0.25]}",
    "geometric: {mean: 1.25}",
    "lomax: {shape: 2.5}",
    "lomax: {shape: 6}",
]
UP = "up: {exponential: {mean: 10}}, down: {exponential: {mean: 2.5}}"
FAILURES = [
    f"alternating: {{{UP}}}",
    f"alternating: {{{UP}, resume: repeat, start: all-up}}",
    f"alternating: {{{UP}, while_idle: false}}",
    f"alternating: {{{UP}, while_idle: false, resume: repeat, start: all-up}}",
    "alternating: {up: {erlang: {shape: 2, mean: 5}}, down: uniform}",
    "alternating: {up: {weibull: {shape: 0.7, mean: 8}}, down: {lognormal: {scv: 3, mean: 0.5}}}",
    "alternating: {up: {hyperexponential: {scv: 5, mean: 9}}, down: {pareto: {shape: 3}}}",
    "alternating: {up: {lomax: {shape: 2.2, mean: 7}}, down: {lomax: {shape: 4, mean: 0.8}}}",
    "windows: {file: down.txt}",
    "windows: {file: down.txt, resume: repeat}",
]
WINDOWS = [(0, 1.5, 4), (2, 0.25, 0.75), (0, 5.125, 9), (3, 2, 40), (2, 33, 60), (1, 100, 140.5)]

#: Jobs: lists are axes, all else as the job language has it.
JOBS = [
    {"topology": [RING], "policy": PLACED + SEEING, "ties": BOTH, "lambda": [0.6, 0.9]},
    {"topology": ["grid: {sides: 3x3}", "star: {n: 5}", "torus: {sides: 3x4}"],
     "policy": PLACED[:6], "ties": BOTH, "lambda": [0.8]},
    {"topology": [FOUR, "complete: {n: 1}", "complete: {n: 2}"],
     "policy": ["pot", "choices: {d: 2}", "jsq", "least-work", "random", "round-robin"],
     "ties": BOTH, "lambda": [0.5, 0.95]},
    {"topology": [FOUR], "policy": DEALT + ["random: {shares: [3, 2, 3, 2]}"], "lambda": [0.7]},
    {"topology": [FOUR], "policy": ["pot", "round-robin", "jsq"], "lambda": [0.7], "service": LAWS},
    {"topology": [FOUR], "policy": ["one-choice", "unif-pot: {k: 1}"], "lambda": [0.45],
     "arrivals": ["poisson", "batch: {size: 3}"] + LAWS[:9] + LAWS[10:],
     "arrival_scope": ["server", "total"]},
    {"topology": [FOUR], "policy": ["pot", "round-robin: {scope: distributed}"], "lambda": [0.5],
     "arrivals": ["erlang: {shape: 2}", "deterministic"], "synchronised": "true",
     "arrival_scope": ["server", "total"]},
    {"topology": [FOUR], "policy": ["pot", "random"], "lambda": [0.5],
     "arrival_scope": ["server", "total"], "arrivals": ["mmpp: {rates: [1.5, 0.5], switch: 0.1}",
                  "mmpp: {rates: [3, 0, 1], switch: [1, 0.5, 0.2]}"]},
    {"topology": [FOUR], "lambda": [0.5],
     "policy": ["pot", "choices: {d: 3}", "random", "round-robin", "jsq", "jiq"],
     "failures": FAILURES},
    {"topology": [FOUR], "policy": PLACED[1:4] + PLACED[5:8] + DEALT[:9] + SEEING[:3],
     "lambda": [0.4], "redirectable": "0.6"},
    {"topology": [FOUR], "policy": PLACED[1:4] + DEALT[1:4] + SEEING, "lambda": [0.6],
     "service_rates": "[1, 2]", "arrival_rates": "[1, 0.5, 1.5, 0]",
     "arrivals": ["poisson", "erlang: {shape: 2}", "mmpp: {rates: [2, 0.5], switch: [1, 0.3]}"],
     "arrival_scope": ["server", "total"]},
    {"topology": [FOUR], "policy": ["pot", "round-robin"], "lambda": [0.5], "service_mean": "0.5",
     "service": ["erlang: {shape: 2, mean: 3}", LAWS[10], LAWS[11]],
     "failures": [FAILURES[0], "none"]},
    {"topology": [RING], "policy": ["pot", "jsq"], "lambda": [0.8], "warmup": "{time: 40}",
     "horizon": "{time: 100}"},
    # Everything happens at multiples of one time, so much at once.
    {"topology": [FOUR], "policy": SEEING, "ties": BOTH, "lambda": [0.5],
     "arrivals": ["deterministic", "discrete: {values: [1, 3], probabilities: [0.5, 0.5]}"],
     "arrival_scope": ["server", "total"], "synchronised": "true",
     "service": ["deterministic", "discrete: {values: [0.5, 1.5], probabilities: [0.5, 0.5]}"]},
    {"topology": [FOUR], "policy": ["pot", "permuted", "round-robin: {scope: distributed}"],
     "arrivals": [f"trace: {{file: {i}.txt}}" for i in (1, 2, 3)], "warmup": "0",
     "horizon": "90", "allow_unstable": "true", "service": ["uniform", "deterministic"]},
]
#: Traces: a job's time, then its server, then its service; several jobs at one time.
TRACE = [(i // 3 * 0.8125, i * i % 4, 0.25 + i % 7 * 0.5) for i in range(90)]


def write_job(folder, seed, job):
    """The job file, with the files it names."""
    lines = ["model: queue", f"seed: {seed}", f"replications: {REPLICATIONS}"]
    lines += ["keep: [rows, server-queues]", f"excess: {EXCESS}"]
    for key, value in ({"warmup": "150", "horizon": "700"} | job).items():
        if isinstance(value, list):
            lines += [f"{key}:"] + [f"  - {x}" for x in value]
        else:
            lines.append(f"{key}: {value}")
    path = pathlib.Path(folder) / f"{seed}.yaml"
    path.write_text("\n".join(lines) + "\n")
    for columns in (1, 2, 3):
        rows = [" ".join(map(str, row[:columns])) for row in TRACE]
        (path.parent / f"{columns}.txt").write_text("\n".join(rows) + "\n")
    (path.parent / "down.txt").write_text("".join(f"{i} {a} {b}\n" for i, a, b in WINDOWS))
    return path


def points(f):
    """Settings of each point in order, as `resolved` names them."""
    lines = [x.split(":")[0] for x in f.attrs["resolved"].splitlines() if x[:1] not in " "]
    axes = {}
    for key in lines:
        if key in ("topology", "policy", "arrivals", "service", "failures"):
            axes[key] = resolved(f, key)
        elif key in ("ties", "lambda", "arrival_scope"):
            axes[key] = flat(f, key)
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values))


def flat(f, key):
    """Values of an axis of numbers or words."""
    text = f.attrs["resolved"].splitlines()
    at = next(i for i, x in enumerate(text) if x.startswith(f"{key}:"))
    rest = text[at][len(key) + 1 :].strip()
    if rest:
        return [x.strip() for x in rest.strip("[]").split(",")]
    return [x[4:] for x in itertools.takewhile(lambda x: x.startswith("  - "), text[at + 1 :])]


class Heap:
    """What heap.c says of a replication."""

    def __init__(self, rows, served):
        table = np.array(rows)
        self.arrives, self.begins, self.ends = table[:, 1], table[:, 8], table[:, 9]
        self.origin, self.server, self.hops = table[:, 3], table[:, 4].astype(int), table[:, 5]
        self.seen_origin, self.seen = table[:, 6].astype(int), table[:, 7].astype(int)
        served = np.array(served)
        self.served = np.zeros(len(rows))
        np.add.at(self.served, served[:, 0].astype(int), served[:, 2] - served[:, 1])


def play(command):
    """The replications of a call of heap.c."""
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode != 0:
        raise RuntimeError(f"stops heap.c: {out.stderr.strip()[:300]}")
    found, rows, served, pending = [], [], [], []
    for line in out.stdout.splitlines():
        word, *numbers = line.split()
        if word == "job":
            rows.append([float(x) for x in numbers])
        elif word == "served":
            pending.append([float(x) for x in numbers])
        else:  # a replication: its services came before, its jobs follow
            found += [Heap(rows, served)] if rows else []
            rows, served, pending = [], pending, []
    return found + [Heap(rows, served)]


class Window:
    """What counts of a replication."""

    def __init__(self, h, n, warmup, horizon):
        if warmup[0] == "time":
            self.opened = warmup[1]
            self.first = int(np.searchsorted(h.arrives, self.opened))
        else:
            self.first = warmup[1]
            self.opened = h.arrives[self.first]
        if horizon[0] == "time":
            self.closed = self.opened + horizon[1]
            self.last = int(np.searchsorted(h.arrives, self.closed))
        else:
            self.last = self.first + horizon[1]
            self.closed = h.arrives[min(self.last, len(h.arrives) - 1)]  # a trace ends
        self.length, self.n = self.closed - self.opened, n
        self.jobs = slice(self.first, self.last)


def loads_in_time(h, w, server):
    """Time that a server spends with each number of jobs, in the window."""
    mine = h.server == server
    times = np.concatenate([h.arrives[mine], h.ends[mine]])
    steps = np.repeat([1, -1], mine.sum())
    order = np.lexsort((steps, times))
    times, loads = times[order], np.concatenate([[0], np.cumsum(steps[order])])
    cut = np.clip(np.concatenate([[w.opened], times, [w.closed]]), w.opened, w.closed)
    return np.bincount(loads, np.diff(cut))


def rows_of(h, w, failing):
    """Rows of a replication from their definitions; quantiles as lower and upper bounds."""
    rows = {}
    for name, x in (("response", h.ends - h.arrives), ("waiting", h.begins - h.arrives)):
        x = x[w.jobs]
        rows[name], rows[f"{name}_second"] = x.mean(), (x**2).mean()
        rows[f"{name}_excess"] = np.maximum(x - EXCESS, 0).mean()
        x = np.sort(x)
        for q, share in QUANTILES.items():
            at = int(np.ceil(share * len(x))) - 1
            low, high = x[max(at - 1, 0)], x[min(at + 1, len(x) - 1)]
            rows[f"{name}_{q}"] = (low * (1 - 1 / 63) - 1e-9, high * (1 + 1 / 63) + 1e-9)
    times = [loads_in_time(h, w, i) for i in range(w.n)]
    total = w.length * w.n
    rows["queue_length"] = sum(np.arange(len(t)) @ t for t in times) / total
    rows["occupied"] = sum(t[1:].sum() for t in times) / total
    rows["utilisation"] = h.served[w.jobs].sum() / total if failing else rows["occupied"]
    rows["moved"] = (h.origin != h.server)[w.jobs].mean()
    rows["cost"] = h.hops[w.jobs].mean()
    return rows, times


def binned(f, counts):
    out = np.zeros(len(f["load"]))
    counts = np.trim_zeros(counts, "b")
    out[: len(counts)] = counts
    return out


def compare(f, point, heaps, spans, failing):
    """What differs, in a sentence; None when nothing does."""
    n = int(f["n"][point])
    share = {name: np.zeros(len(f["load"])) for name in ("origin", "chosen", "time")}
    queues, path = np.zeros(n), np.zeros(PATH_TIMES)
    for r, h in enumerate(heaps):
        w = Window(h, n, *spans[:2])
        rows, times = rows_of(h, w, failing)
        for name, expected in rows.items():
            mine = f[name][point, r]
            if np.isnan(mine):
                continue  # no such moment
            if isinstance(expected, tuple):
                if not expected[0] <= mine <= expected[1]:
                    return f"replication {r}: {name} is {mine!r}, by the heap in {expected}"
            elif abs(mine - expected) > 1e-6 * max(expected, 1):
                return f"replication {r}: {name} is {mine!r}, by the heap {expected!r}"
        every = 1 if f["policy"].asstr()[point] in LOOKING else SAMPLED
        seen = h.seen_origin[-(-w.first // every) * every : w.last : every]
        share["origin"] += np.bincount(seen, minlength=len(f["load"]))
        share["chosen"] += np.bincount(h.seen[w.jobs], minlength=len(f["load"]))
        for i, t in enumerate(times):
            share["time"] += binned(f, t) / w.length / n
            queues[i] += np.arange(len(t)) @ t / w.length / REPLICATIONS
        end = spans[2] * (1 + np.arange(PATH_TIMES)) / PATH_TIMES
        there = (h.arrives[:, None] < end) & (h.ends[:, None] > end)
        path += there.sum(axis=0) / n / REPLICATIONS
    for name, variable in (("origin", "load_at_origin"), ("chosen", "load_at_chosen")):
        if not np.array_equal(f[variable][point], share[name]):
            return f"{variable} is {f[variable][point]}, by the heap {share[name]}"
    for variable, have, expected in (
        ("load_time", f["load_time"][point] * 2.0**-40, share["time"]),
        ("server_queue", f["server_queue"][point][:n], queues),
        ("queue_length_path", f["queue_length_path"][point], path),
    ):
        off = np.abs(have - expected).max()
        if off > 1e-6:
            at = int(np.abs(have - expected).argmax())
            return f"{variable} is {have[at]!r} at {at}, by the heap {expected[at]!r}"
    return None


def span(text, n):
    """("jobs" | "time", length) of a resolved warm-up or horizon."""
    kind, number = text.strip("{}").split(": ", 1)
    number = float(number.strip("{}").split(":")[1])
    return (kind, number if kind == "time" else int(number))


def simulate(program, heap, folder, seed, job):
    """(name, what differs) of every point of a job."""
    path = write_job(folder, seed, job)
    command = [program, "run", str(path), "-o", f"{path}.h5", "--progress", "none"]
    done = subprocess.run(command + ["--threads", "1"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"job {seed}", done.stderr.strip()
        return
    with h5py.File(f"{path}.h5", "r") as f:
        lines = [x.split(": ", 1) for x in f.attrs["resolved"].splitlines() if ": " in x]
        text = dict(lines)
        shared = {k: text[k] for k in SHARED if text.get(k, "unset") != "unset"}
        for i, p in enumerate(points(f)):
            name = "; ".join([*p.values(), *(f"{k} {v}" for k, v in shared.items())])
            n = int(f["n"][i])
            spans = [span(text["warmup"], n), span(text["horizon"], n)]
            rates = [float(x) for x in shared.get("arrival_rates", "1").strip("[]").split(",")]
            columns = re.match(r"trace: {file: (\d)", p["arrivals"])
            if columns:
                rate = len(TRACE) / TRACE[-1][0]
            else:
                rate = float(p["lambda"]) * n * np.mean(rates)
            end = sum(x if kind == "time" else x / rate for kind, x in spans)
            wide = int(columns[1]) if columns else 0
            numbers = " ".join(str(x) for row in TRACE for x in row[:wide])
            count = len(TRACE) if columns else int(1.5 * end * rate) + 300
            settings = {**p, **shared, "seed": seed, "key": p["topology"], "jobs": count,
                        "end": REPLICATIONS, "scope": p["arrival_scope"],
                        "columns": columns[1] if columns else 1, "trace": numbers,
                        "windows": " ".join(f"{a} {b} {c}" for a, b, c in WINDOWS)}
            try:
                heaps = play([heap] + [f"{k}={v}" for k, v in settings.items()])
                wrong = compare(f, i, heaps, [*spans, end], p["failures"] != "none")
            except RuntimeError as why:
                wrong = str(why)
            yield name, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--job", type=int, action="append", help="only this job; may be repeated")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        heap = compile_naive(folder, "heap", options.sanitize)
        for seed, job in enumerate(JOBS):
            if options.job and seed not in options.job:
                continue
            for name, wrong in simulate(options.program, heap, folder, seed, job):
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"FAILED job {seed}: {name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
