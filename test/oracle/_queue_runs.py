# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays settings of the model `queue` and holds them against the reference records (_queues.py).

How long: the estimate of a mean response at load rho has the relative standard error of M/M/1,
whose asymptotic variance is known (customer average of the wait: rho (2 + 5 rho - 4 rho^2 + rho^3)
/ (1 - rho)^4 per job); more variable services and failures need proportionally more. Jobs count in
total, however many servers share them. Targets: s at most 0.2 % of a mean up to load 0.9, 0.5 %
at 0.95, 1 % at 0.99. The warm-up is the model's own, ten relaxation times: its bias is far below.

`verify` plays every setting; `ci` those that are cheapest of each kind of record, as far as its
budget of jobs goes.
"""
from __future__ import annotations

import concurrent.futures
import math
import pathlib
import re
import subprocess
import tempfile
import zlib

import h5py
import numpy as np

from _queues import VARIABILITY, Queues, setting_of

KINDS = ("mg1", "mm1", "mm1bd", "mg1bd", "mmc", "rr", "lr", "sm", "gq", "det_arr", "batch")
REPLICATIONS = 100  # two for each batch
FINITE_REPLICATIONS = 400_000
CI_JOBS, CI_MOST = 2e8, 4.5e7  # all together, and of one setting
BATCHES = 50
#: Less likely loads come in clusters so rare that 50 batches have no normal mean; coverage.py.
RARE = 1e-5


def target(load: float) -> float:
    """Relative standard error asked of a mean."""
    return 0.002 if load <= 0.9 else 0.005 if load <= 0.95 else 0.01


def variability(s: Queues) -> float:
    """How much longer than M/M/1 a run has to be; found by trying."""
    scv = VARIABILITY[s.service]
    factor = 1.4 * (1 + scv) / 2 * (1 + scv / 12)
    for line in s.more:
        down = re.search(r"down: {\w+: {.*?mean: ([\d.]+)", line)
        if down:
            factor *= 4 + 0.7 * float(down[1])
            if "mean: 1000.0" in line:  # a few long breakdowns make the mean
                factor *= 14 * (1 - s.load)
        elif "mmpp" in line or "batch" in line:
            factor *= 4
    return factor


def jobs_for(s: Queues) -> float:
    """Jobs that count, of all servers and replications together."""
    if s.finite:
        return s.finite * FINITE_REPLICATIONS
    rho = s.load
    wait = rho * (2 + 5 * rho - 4 * rho**2 + rho**3) / (1 - rho) ** 2  # over mean response^2
    if s.policy == "least-work" and rho <= 0.7:  # few jobs wait at all
        wait *= min(max(servers(s) / 5, 1) ** 2, 30)
    return wait * variability(s) / target(rho) ** 2


def cost(s: Queues) -> float:
    """The work, in jobs; a replication costs as much as a hundred."""
    if s.finite:
        return (s.finite + 100) * FINITE_REPLICATIONS
    return jobs_for(s) + warm_up(s)


def servers(s: Queues) -> int:
    inside = s.topology.split("{")[1].rstrip("}")
    numbers = inside.split(": ")[1]
    if "sides" in inside:
        return math.prod(int(x) for x in numbers.split("x"))
    return 10 if "petersen" in inside else int(numbers)


def warm_up(s: Queues) -> float:
    """Jobs before anything counts, of all replications together."""
    return REPLICATIONS * s.lam * servers(s) * 10 / (1 - math.sqrt(s.load)) ** 2


def job_text(s: Queues) -> str:
    """The job file; a fixed seed makes every comparison a deterministic one."""
    per = max(200, round(jobs_for(s) / REPLICATIONS))
    lines = ["model: queue", "topology:", f"  - {s.topology}", "policy:", f"  - {s.policy}"]
    lines += [] if s.finite else [f"lambda: {s.lam!r}"]  # a trace has its own rate
    lines += ["service:", f"  - {s.service}"]
    if s.finite:
        lines += [f"replications: {FINITE_REPLICATIONS}", "warmup: 0", f"horizon: {s.finite}"]
        lines += ["allow_unstable: true"]
    else:
        lines += [f"replications: {REPLICATIONS}", f"horizon: {per}"]
    more = list(s.more)
    if not any(x.startswith("keep") for x in more):
        more.append("keep: means" if s.finite else "keep: rows")
    seed = zlib.crc32("\n".join(lines + more).encode())
    return "\n".join([f"seed: {seed}", *lines, *more]) + "\n"


class Outcome:
    """What a point gave."""

    def __init__(self, f: h5py.File) -> None:
        self.n = int(f["n"][0])
        names = [name[5:] for name in f if name.startswith("mean_")]
        self.mean = {name: float(f[f"mean_{name}"][0]) for name in names}
        self.se = {name: float(f[f"se_{name}"][0]) for name in names}
        batch = f["load_time_batch"][0].astype(float)
        self.batch = batch / batch.sum(axis=1, keepdims=True)  # shares of time by load
        self.chosen = f["load_at_chosen"][0].astype(float)
        self.servers = f["server_queue"][0][: self.n] if "server_queue" in f else None
        name = "server_neighbour_correlation"
        self.together = f[name][0][: self.n] if name in f else None

    def functional(self, weight: np.ndarray) -> tuple[float, float]:
        """Mean and standard error of a sum over loads of weight times share of time."""
        values = self.batch[:, : len(weight)] @ weight[: self.batch.shape[1]]
        return float(values.mean()), float(values.std(ddof=1) / math.sqrt(BATCHES))


def play(program: str, s: Queues) -> Outcome | str:
    """The outcome, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        job, out = pathlib.Path(folder) / "job.yaml", pathlib.Path(folder) / "out.h5"
        job.write_text(job_text(s))
        for name, text in s.files:
            (job.parent / name).write_text(text)
        words = [program, "run", job, "-o", out, "--threads", "1", "--progress", "none"]
        run = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return f"{s}: {run.stderr.strip()[-300:]}"
        with h5py.File(out) as f:
            return Outcome(f)


def chosen_settings(
    wanted: dict[Queues, list[dict]], budget: float, most: float
) -> list[Queues]:
    """Settings in turn from every kind of record, cheap ones first, while the budget lasts."""
    groups: dict[tuple, list[Queues]] = {}
    for s, records in wanted.items():
        words = records[0]["id"].split(".")
        several = {"lr": 3, "sm": 2, "gq": 2, "rr": 2}.get(words[0], 1)
        groups.setdefault(tuple(words[:several]), []).append(s)
    for group in groups.values():
        group.sort(key=lambda s: (cost(s), str(s)))
    out = []
    while any(groups.values()):
        for group in groups.values():
            if group:
                s = group.pop(0)
                if cost(s) <= min(budget, most):
                    budget -= cost(s)
                    out.append(s)
    return out


def compare(cmp, r: dict, s: Queues, o: Outcome) -> None:
    """One record."""
    name, quantity, p = r["id"], r["id"].split(".")[-1], r["parameters"]
    value, aim = r["value"], target(s.load)
    error = r.get("se", 0.0)
    # The program's units and the last digits of the record.
    loose = {"tolerance": max(r.get("abs_tol", 0), 1e-7)}

    def mean(row: str, expected: float, scale: float = 1.0) -> None:
        if r["kind"] == "published":
            loose["tolerance"] = 2e-4  # four digits of a simulation
        q = scale * o.mean[row], math.hypot(scale * o.se[row], error)
        # A wait is known as well as the response that it is a part of.
        size = abs(expected) + (row == "waiting")
        cmp.mean(f"{name} {s}", *q, expected, power=1.5 * aim * size + error, **loose)

    if s.finite:
        finite(cmp, r, s, o)
    elif quantity in ("T", "W") or (quantity == "V" and "sm" in name):
        mean("response" if quantity == "T" else "waiting", value)
    elif quantity in ("L", "N"):
        mean("queue_length", value)
    elif name.startswith("sm.published"):
        mean("queue_length", value[3])
    elif name.startswith("sm.sim.gast"):
        mean("queue_length", value)
    elif quantity in ("sigma", "Pwait"):
        waits = o.chosen[1:].sum() / o.chosen.sum()
        # The mean wait is known less well than how many wait.
        sigma = waits * o.se["waiting"] / o.mean["waiting"] if waits else 0.0
        cmp.mean(f"{name} {s}", waits, sigma, value, power=0.01 * value + 1e-5, **loose)
    elif quantity == "N2":
        loads = np.arange(o.batch.shape[1], dtype=float)
        got = o.functional(loads**2)
        cmp.mean(f"{name} {s}", *got, value, power=8 * aim * value, df=BATCHES - 1, **loose)
    elif quantity == "tails":
        tails(cmp, r, s, o)
    elif quantity == "node_means":
        for i, q in enumerate(value):
            # With queues that go up and down together this is more than their own errors.
            sigma = 2 * math.sqrt(o.n) * o.se["queue_length"]
            cmp.mean(f"{name} {i} {s}", o.servers[i], sigma, q, power=0.05 * q, **loose)
    elif quantity == "corr":
        alone = not p["graph"].startswith("ring")  # then only the edges at server 0 are meant
        sigma = o.se["neighbour_correlation"] * (2 * math.sqrt(o.n) if alone else 1)
        got = o.together[0] if alone else o.mean["neighbour_correlation"]
        cmp.mean(f"{name} {s}", got, sigma, value, power=0.02 * value, **loose)
    elif quantity == "T_quantiles":
        for q, expected in zip(p["support"], value):
            row = f"response_q{round(100 * q)}"
            # A quantile of one replication is biased by a part of its own variance.
            cmp.mean(
                f"{name} {q} {s}",
                o.mean[row],
                o.se[row],
                expected,
                tolerance=0.003 * expected,
                power=0.01 * expected,
            )


def tails(cmp, r: dict, s: Queues, o: Outcome) -> None:
    errors = r.get("se") or [0.0] * len(r["value"])
    for k, q, error in zip(r["parameters"]["support"], r["value"], errors):
        if q < RARE:
            continue
        got, sigma = o.functional((np.arange(o.batch.shape[1]) >= k).astype(float))
        cmp.mean(
            f"{r['id']} {k} {s}",
            got,
            math.hypot(sigma, error),
            q,
            tolerance=max(r.get("abs_tol", 0), 1e-9),
            power=target(s.load) * q * (6 if q > 0.1 else 25 if q > 1e-3 else 500),
            df=BATCHES - 1,
        )


def finite(cmp, r: dict, s: Queues, o: Outcome) -> None:
    """A finite set of jobs: the sum of their responses, and that of the squares."""
    values = np.atleast_1d(r["value"])
    for row, expected in zip(("response", "response_second"), values):
        got = s.finite * o.mean[row], s.finite * o.se[row]
        # The units of second moments are 2^-22.
        cmp.mean(f"{r['id']} {s}", *got, expected, tolerance=1e-5, power=0.004 * expected)


def queues(suite) -> None:
    """Every record of queues that a run can be held against."""
    wanted: dict[Queues, list[dict]] = {}
    for r in suite.records:
        s = setting_of(r) if r["id"].split(".")[0] in KINDS else None
        if s:
            wanted.setdefault(s, []).append(r)
    settings = chosen_settings(
        wanted, *((CI_JOBS, CI_MOST) if suite.factor == 1 else (math.inf, math.inf))
    )
    settings.sort(key=lambda s: -cost(s))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(lambda s: play(suite.sim.program, s), settings)
        for s, o in zip(settings, outcomes):
            if isinstance(o, str):
                suite.sim.broken.append(o)
                continue
            if not s.finite and not any("failures" in line for line in s.more):
                got = o.mean["occupied"], o.se["occupied"]
                suite.cmp.mean(f"{s} occupied", *got, s.load, power=0.002 * s.load)
            for r in wanted[s]:
                compare(suite.cmp, r, s, o)
