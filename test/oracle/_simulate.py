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
#: Rows of some topologies alone.
GROUND = ("component", "max_share", "min_share", "share_variance")
KEEP = {
    "means": "means",
    "rows": "rows",
    "servers": "[rows, server-loads]",
    "shares": "[rows, share-sorted]",
}
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
    keep: str = "means"  # rows: one value per replication; servers: also mean loads of servers;
    # shares: also sorted shares of arcs
    baseline: str = ""
    method: str = "servers"
    distances: str = ""
    variant: int = 0  # settings that differ in this alone have other random words

    def __str__(self) -> str:
        load = f"balls {self.balls}; ties {self.ties}; method {self.method}"
        load += f"; variant {self.variant}" if self.variant else ""
        return f"[{self.topology}; {self.policy}; {load}]"


FEW_ROWS = 10_000


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
    rows: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)  # keep: not means
    degree_count: np.ndarray | None = None  # index = degree
    shares: np.ndarray | None = None  # mean k-th smallest share of arcs


class Simulator:
    """Collects settings, then plays all of them. `files` (name: text) are there for topologies."""

    def __init__(self, program: str) -> None:
        self.program = str(pathlib.Path(program).resolve())
        self.files: dict[str, str] = {}
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
        groups: dict[Setting, list[Setting]] = {}
        for s in self.settings:
            groups.setdefault(dataclasses.replace(s, policy=""), []).append(s)
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

    def graph(self, setting: Setting, replication: int = 0) -> list[tuple[int, int]]:
        """The edges of a setting's graph, as `potluck graph` writes them: a loop stands for a
        vertex without any.
        """
        with tempfile.TemporaryDirectory() as folder:
            job, out = self._write(pathlib.Path(folder), [setting]), pathlib.Path(folder) / "graph"
            self._call("graph", job, "--only", f"0:{replication}", "--write", out)
            lines = out.read_text().splitlines()
            return [tuple(map(int, x.split())) for x in lines if not x.startswith("#")]

    def _write(self, folder: pathlib.Path, settings: list[Setting]) -> pathlib.Path:
        for name, text in self.files.items():
            (folder / name).write_text(text)
        job = folder / "job.yaml"
        job.write_text(job_text(settings))
        return job

    def _call(self, *words) -> None:
        run = subprocess.run(
            [self.program, *map(str, words)], capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            raise RuntimeError(f"exit code {run.returncode}: {run.stderr}")

    def _play_job(self, settings: list[Setting]) -> dict[Setting, Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            job = self._write(pathlib.Path(folder), settings)
            out = pathlib.Path(folder) / "out.h5"
            try:
                self._call("run", job, "-o", out, "--threads", 1, "--progress", "none")
            except RuntimeError as why:
                self.broken.append(f"{job.read_text()}{why}")
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
    lines += [f"keep: {KEEP[s.keep]}"]
    lines += [f"method: {s.method}"] if s.method != "servers" else []
    lines += [f"baseline: {s.baseline}"] if s.baseline else []
    lines += [f"distances: {s.distances}"] if s.distances else []
    lines += [f"# variant {s.variant}"] if s.variant else []
    # A fixed seed makes every comparison a deterministic one; different jobs have different seeds.
    seed = zlib.crc32("\n".join(lines).encode())
    return "\n".join(["# Does the simulator follow the law?", f"seed: {seed}"] + lines) + "\n"


def read_point(f: h5py.File, i: int, setting: Setting) -> Outcome:
    """Point number i of a result file."""
    replications = int(f["replications"][i])
    names = [name for name in ROWS + GROUND if f"mean_{name}" in f]
    mean = {name: float(f[f"mean_{name}"][i]) for name in names}
    se = {name: float(f[f"se_{name}"][i]) for name in names}
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
        f["hop_count"][i].astype(float) if "hop_count" in f else np.zeros(1),
        f["max_load_count"][i].astype(float),
    )
    if "degree_count" in f:
        out.degree_count = f["degree_count"][i].astype(float)
    if setting.keep == "means":
        return out
    rows = {name: f[name][i][:replications] for name in names}
    for name, values in rows.items():
        expected = values.std(ddof=1) / np.sqrt(replications)
        if not np.isnan(expected):
            assert abs(se[name] - expected) <= 1e-9 * expected + 1e-14, f"se_{name} of {setting}"
    out.min_count = np.bincount(rows["min_load"].astype(int)).astype(float)
    spread = rows["max_load"] - rows["min_load"]
    out.spread = (float(spread.mean()), float(spread.std(ddof=1) / np.sqrt(replications)))
    out.tails = tails(rows, out.n, setting.balls)
    # A million replications of everything would fill the memory; only these are asked for later.
    few = replications <= FEW_ROWS
    out.rows = {k: v for k, v in rows.items() if k.endswith("_share") or (few and k == "cost")}
    if setting.keep == "shares":
        out.shares = f["share_sorted"][i][: out.n]
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
