#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues at the ends of what a job may ask for: deep queues, long times, many replications, times on
the grid. What comes out is compared with itself summed another way, or with a value known exactly.

    extremes.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np


class Checks:
    def __init__(self, program: str, folder: str) -> None:
        self.program, self.folder = program, pathlib.Path(folder)
        self.passed = self.failed = 0

    def check(self, good: bool, what: str) -> None:
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print("FAILED:", what)

    def command(self, verb: str, text: str, *more: str) -> subprocess.CompletedProcess:
        job = self.folder / "job.yaml"
        job.write_text("model: queue\nseed: 3\n" + text)
        words = [self.program, verb, str(job), *more]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def play(self, text: str) -> dict:
        out = self.folder / "out.h5"
        done = self.command("run", text, "-o", str(out), "--force", "--threads", "2", "--progress", "none")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-400:])
        with h5py.File(out) as f:
            return {name: f[name][()] for name in f if isinstance(f[name], h5py.Dataset)}

    def refused(self, text: str, words: str) -> None:
        done = self.command("plan", text)
        self.check(done.returncode == 2 and words in done.stderr, f"{words!r} is not in {done.stderr!r}")


def deep_queues(c: Checks) -> None:
    """Jobs at a server over time, taken three ways: the row, the loads, the servers one by one."""
    deep = "arrivals: {batch: {size: 40}}\nlambda: 0.99\nhorizon: 200000n\n"
    growing = "lambda: 1.5\nallow_unstable: true\nhorizon: 20000n\n"
    for what in (deep, growing):
        for n, policies in ((1, "[one-choice, pot, jsq]"), (3, "[random, {unif-pot: {k: 1}}, least-work]")):
            place = f"topology: {{complete: {{n: {n}}}}}\npolicy: {policies}\nwarmup: 0\n"
            f = c.play(place + what + "replications: 2\nkeep: [rows, server-queues]\n")
            middle = (f["load"] + f["load_upper"]) / 2
            for p, queue in enumerate(f["mean_queue_length"]):
                loads = f["load_time_fraction"][p] @ middle
                servers = np.nanmean(f["server_queue"][p])
                name = f"n {n}, {what.splitlines()[0]}, point {p}: {queue} jobs, by load {loads}, by server {servers}"
                # Loads from 4096 on are in bins of relative width 1/16.
                c.check(abs(loads / queue - 1) < (1e-7 if f["load"][-1] < 4096 else 0.03), name)
                c.check(abs(servers / queue - 1) < 1e-7, name)
                c.check(queue > 50, name)


def deep_neighbours(c: Checks) -> None:
    """Two queues that grow alike for ever: the correlation over a window nears 1."""
    f = c.play(
        "topology: {ring: {n: 2}}\npolicy: one-choice\nlambda: 2\nallow_unstable: true\nwarmup: 0\n"
        "horizon: 40000000\nreplications: 1\nwatch_neighbours: true\n"
    )
    c.check(abs(f["mean_neighbour_correlation"][0] - 1) < 1e-4, "queues that grow alike")


def long_times(c: Checks) -> None:
    """A server that is hardly ever busy: the k-th completion is at k gaps and a response."""
    k, rate = 32768, 0.001
    f = c.play(
        f"topology: {{complete: {{n: 1}}}}\npolicy: one-choice\nlambda: {rate}\nreplications: 3000\nkeep: means\n"
        f"transient: {{jobs: {k}, grid: [1]}}\n"
    )
    for name in ("completion_local", "completion_pooled"):
        mean, error = f[name][0, k - 1], f[f"se_{name}"][0, k - 1]
        spread = np.sqrt(k) / rate / np.sqrt(3000)
        c.check(abs(mean - k / rate - 1 / (1 - rate)) < 5 * spread, f"{name}: {mean} after {k} gaps of {1 / rate}")
        c.check(0.6 < error / spread < 1.5, f"{name}: error {error}, exactly {spread}")


def overload(c: Checks) -> None:
    """Jobs come so fast that two servers are done with none before all have come."""
    f = c.play(
        "topology: {complete: {n: 2}}\npolicy: round-robin\nlambda: 1e9\nservice: {deterministic: {mean: 1e6}}\n"
        "transient: {jobs: 50, grid: [1e6, 2.5e6]}\nreplications: 20\n"
    )
    k = np.arange(50)
    c.check((f["completion_pooled_known"][0] == 20).all(), "completions under overload are known")
    c.check(np.allclose(f["completion_pooled"][0] / 1e6, k // 2 + 1, atol=1e-6), "pooled under overload")
    c.check(np.allclose(f["completion_local"][0] / 1e6, k + 1, atol=1e-6), "local under overload")
    c.check(np.array_equal(f["completion_pooled_cdf"][0, :, 1], k < 4), "distribution under overload")


def times_on_the_grid(c: Checks) -> None:
    """Sums of decimal services meet decimal times: <= holds, whatever they round to."""
    (c.folder / "trace.txt").write_text("0\n" * 30)
    grid = [round(0.1 * (i + 1), 1) for i in range(30)]
    f = c.play(
        "topology: {complete: {n: 1}}\npolicy: one-choice\narrivals: {trace: {file: trace.txt}}\n"
        f"service: {{deterministic: {{mean: 0.1}}}}\ntransient: {{jobs: 30, grid: {grid}}}\nreplications: 3\n"
    )
    upper = np.triu(np.ones((30, 30)))
    for name in ("completion_local_cdf", "completion_pooled_cdf"):
        c.check(np.array_equal(f[name][0], upper), f"{name} at decimal times")


def refusals(c: Checks) -> None:
    ring = "topology: {ring: {n: 4}}\npolicy: one-choice\n"
    c.refused(ring + "lambda: 1e-9\nwarmup: 0\nhorizon: 1e6\nreplications: 2\nwatch_neighbours: true\n", "looks at")
    c.refused(ring + "lambda: 0.5\nreplications: 4194305\n", "more than the sums of load_time hold (at most 4194304)")
    batch = "lambda: 0.5\narrivals: {batch: {size: 1000000}}\nhorizon: 1000\nreplications: 2\n"
    said = c.command("plan", ring + batch).stderr
    c.check("may lie within one batch" in said, f"a horizon within a batch: {said!r}")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(sys.argv[1], folder)
        for part in (deep_queues, deep_neighbours, long_times, overload, times_on_the_grid, refusals):
            try:
                part(c)
            except RuntimeError as why:
                c.check(False, f"{part.__name__}: {why}")
    print(f"{c.passed} passed, {c.failed} failed")
    return int(c.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
