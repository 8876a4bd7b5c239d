# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays settings of the `balls` model with the program and keeps what the comparisons need."""
from __future__ import annotations

import concurrent.futures
import dataclasses
import pathlib
import subprocess
import tempfile
import zlib

import h5py
import numpy as np

ROWS = ("max_load", "min_load", "empty", "moved", "gap", "load_variance", "cost")
#: Rows of one job in memory: replications times points.
ROWS_AT_ONCE = 3_000_000


@dataclasses.dataclass(frozen=True)
class Setting:
    """One point of a job, as the job language says it: topology "ring: {n: 8}", policy "unif-pot:
    {k: 2}".
    """

    topology: str
    policy: str
    balls: int
    replications: int
    ties: str = "fair"
    keep: str = "means"  # rows: one value per replication; servers: also mean loads of servers
    baseline: str = ""
    method: str = "servers"

    def __str__(self) -> str:
        load = f"balls {self.balls}; ties {self.ties}; method {self.method}"
        return f"[{self.topology}; {self.policy}; {load}]"


@dataclasses.dataclass
class Outcome:
    """What one point gave. Histograms count over all replications, index = load or hop."""

    n: int
    replications: int
    mean: dict[str, float]
    se: dict[str, float]
    point: dict[str, float]  # tv, cost_reduction, ...
    load_count: np.ndarray
    load_batch: np.ndarray  # (50, loads)
    hop_count: np.ndarray
    max_count: np.ndarray
    min_count: np.ndarray | None = None
    spread: tuple[float, float] | None = None  # mean and standard error of max - min
    tails: dict[
        int, tuple[float, float]
    ] | None = None  # k: E[N_{>=k} | max <= 3] and its standard error
    servers: np.ndarray | None = None


class Simulator:
    """Collects settings, then plays all of them."""

    def __init__(self, program: str) -> None:
        self.program = str(pathlib.Path(program).resolve())
        self.settings: dict[Setting, None] = {}
        self.outcomes: dict[Setting, Outcome] = {}
        self.broken: list[str] = []

    def want(self, setting: Setting) -> Setting:
        self.settings[setting] = None
        return setting

    def play(self, workers: int = 2) -> None:
        """Plays every setting: jobs of settings that differ in the policy alone, `workers` jobs at
        a time.
        """
        groups: dict[tuple, list[Setting]] = {}
        for s in self.settings:
            key = (s.topology, s.balls, s.replications, s.ties, s.keep, s.baseline, s.method)
            groups.setdefault(key, []).append(s)
        jobs = []
        for settings in groups.values():
            size = (
                max(1, ROWS_AT_ONCE // settings[0].replications)
                if settings[0].keep != "means"
                else len(settings)
            )
            jobs += [settings[i : i + size] for i in range(0, len(settings), size)]
        # Dear jobs first, so that no worker is left alone with the last one.
        jobs.sort(key=lambda job: -sum(s.balls * s.replications for s in job))
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for done in pool.map(self._play_job, jobs):
                self.outcomes.update(done)

    def _play_job(self, settings: list[Setting]) -> dict[Setting, Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            job, out = pathlib.Path(folder) / "job.yaml", pathlib.Path(folder) / "out.h5"
            text = job_text(settings)
            job.write_text(text)
            run = subprocess.run(
                [
                    self.program,
                    "run",
                    str(job),
                    "-o",
                    str(out),
                    "--threads",
                    "1",
                    "--progress",
                    "none",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode != 0:
                self.broken.append(f"exit code {run.returncode} for\n{text}{run.stderr}")
                return {}
            with h5py.File(out) as f:
                first = (
                    1 if settings[0].baseline and settings[0].policy != settings[0].baseline else 0
                )
                return {s: read_point(f, first + i, s) for i, s in enumerate(settings)}


def job_text(settings: list[Setting]) -> str:
    """The job file of settings that differ in the policy alone; a baseline they lack comes
    first.
    """
    s = settings[0]
    policies = [x.policy for x in settings]
    if s.baseline and s.policy != s.baseline:
        policies = [s.baseline] + policies
    lines = [
        "model: balls",
        f"replications: {s.replications}",
        "topology:",
        f"  - {s.topology}",
        "policy:",
    ]
    lines += [f"  - {policy}" for policy in policies]
    lines += [f"balls: {s.balls}"]
    lines += [f"ties: {s.ties}"] if s.ties != "fair" else []
    lines += [
        {"means": "keep: means", "rows": "keep: rows", "servers": "keep: [rows, server-loads]"}[
            s.keep
        ]
    ]
    lines += [f"method: {s.method}"] if s.method != "servers" else []
    lines += [f"baseline: {s.baseline}"] if s.baseline else []
    # A fixed seed makes every comparison a deterministic one; different jobs have different seeds.
    seed = zlib.crc32("\n".join(lines).encode())
    return "\n".join(["# Does the simulator follow the law?", f"seed: {seed}"] + lines) + "\n"


def read_point(f: h5py.File, i: int, setting: Setting) -> Outcome:
    """Point number i of a result file."""
    replications = int(f["replications"][i])
    mean = {name: float(f[f"mean_{name}"][i]) for name in ROWS}
    se = {name: float(f[f"se_{name}"][i]) for name in ROWS}
    point = {
        name: float(f[name][i])
        for name in ("tv", "tv_floor", "tv_cross", "se_tv_cross", "cost_reduction")
        if name in f
    }
    # A single hop or load leaves bins of one value each up to 4095, which is all these settings
    # reach.
    out = Outcome(
        int(f["n"][i]),
        replications,
        mean,
        se,
        point,
        f["load_count"][i].astype(float),
        f["load_count_batch"][i].astype(float),
        f["hop_count"][i].astype(float),
        f["max_load_count"][i].astype(float),
    )
    if setting.keep == "means":
        return out
    rows = {
        name: f[name][i][:replications]
        for name in ("max_load", "min_load", "empty", "load_variance")
    }
    for name, values in rows.items():
        expected = values.std(ddof=1) / np.sqrt(replications)
        assert abs(se[name] - expected) <= 1e-9 * max(expected, 1e-9), f"se_{name} of {setting}"
    out.min_count = np.bincount(rows["min_load"].astype(int)).astype(float)
    spread = rows["max_load"] - rows["min_load"]
    out.spread = (float(spread.mean()), float(spread.std(ddof=1) / np.sqrt(replications)))
    out.tails = tails(rows, out.n, setting.balls)
    if setting.keep == "servers":
        out.servers = f["server_load"][i][: out.n]
    return out


def tails(rows: dict[str, np.ndarray], n: int, m: int) -> dict[int, tuple[float, float]]:
    """E[N_{>=k} | max <= 3] for k = 2, 3: the empty bins, the balls and the sum of squares fix N_1,
    N_2, N_3.
    """
    low = rows["max_load"] <= 3
    if low.sum() < 2:
        return {}
    busy = n - np.rint(n * rows["empty"][low])  # N_1 + N_2 + N_3
    squares = np.rint(n * rows["load_variance"][low] + m * m / n)  # N_1 + 4 N_2 + 9 N_3
    three = (squares + 2 * busy - 3 * m) / 2  # since N_1 + 2 N_2 + 3 N_3 = m
    two = m - busy - 2 * three
    return {
        k: (float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x))))
        for k, x in ((2, two + three), (3, three))
    }
