# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays experiments and compares policies (model `queue`) or balancers (`dht`) pair by pair.

All points of an experiment see the same arrivals, services and failures, or the same capacities,
churn and queries: the random words depend on the topology or the number of nodes, the seed and the
replication alone. So they are compared by the differences of their replications, whose spread is
far smaller than that of either.
"""
from __future__ import annotations

import math
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np

BATCHES = 50
#: Beginnings of the names of what is kept besides rows; `.._series` too.
COUNTED = ("load_", "response_count", "queue_length_path", "completion_")


class Run:
    """What a point gave."""

    def __init__(self, f: h5py.File, point: int) -> None:
        self.replications = int(f["replications"][point])
        self.rows = {
            name[5:]: f[name[5:]][point] for name in f if name.startswith("mean_") and name[5:] in f
        }
        self.mean = {name[5:]: float(f[name][point]) for name in f if name.startswith("mean_")}
        self.se = {name: float(f[f"se_{name}"][point]) for name in self.mean}
        self.counts = {
            name: f[name][point]
            for name in f
            if (name.startswith(COUNTED) or "_series" in name)
            and not name.endswith("_upper")
        }

    def __getitem__(self, row: str) -> np.ndarray:
        return self.rows[row]

    def load(self, weight) -> np.ndarray:
        """Mean of weight(number of jobs at a server at a random time), for each batch that has
        a replication.
        """
        times = self.counts["load_time_batch"][: self.replications].astype(float)
        return times @ weight(np.arange(times.shape[1], dtype=float)) / times.sum(axis=1)


class Lab:
    """Runs jobs; `factor` lengthens those that ask for it."""

    def __init__(self, program: str, factor: int = 1, model: str = "queue") -> None:
        self.program, self.factor, self.broken = program, factor, []
        self.threads = 2 if model == "dht" else 1
        self.header = {
            "queue": ["model: queue", "policy:"],
            "dht": ["model: dht", "balancer:"],
        }[model]

    def play(
        self, policies: dict[str, str], keys: dict, files: dict[str, str] | None = None
    ) -> dict[str, Run]:
        """A run for each policy, by name. `keys` are lines of the job; one of them may be a list,
        then there is a run for each (policy, number of the value).
        """
        lines = self.header + [f"  - {text}" for text in policies.values()]
        values = 0
        for key, value in keys.items():
            if isinstance(value, list):
                values = len(value)
                lines += [f"{key}:"] + [f"  - {x}" for x in value]
            else:
                lines.append(f"{key}: {value}")
        with tempfile.TemporaryDirectory() as folder:
            job, out = pathlib.Path(folder) / "job.yaml", pathlib.Path(folder) / "out.h5"
            job.write_text("\n".join(lines) + "\n")
            for name, text in (files or {}).items():
                (job.parent / name).write_text(text)
            words = [self.program, "run", job, "-o", out, "--threads", self.threads, "--progress", "none"]
            command = list(map(str, words))
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip()[-400:])
            with h5py.File(out) as f:
                if not values:
                    return {name: Run(f, i) for i, name in enumerate(policies)}
                return {
                    (name, j): Run(f, i * values + j)
                    for i, name in enumerate(policies)
                    for j in range(values)
                }


def estimate(x: np.ndarray) -> tuple[float, float]:
    """Mean and standard error of independent values."""
    return float(x.mean()), float(x.std(ddof=1) / math.sqrt(len(x)))
