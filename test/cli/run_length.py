#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a run must be: what plan proposes, and what a run says when its start shows.

usage: run_length.py PROGRAM
"""
import os
import re
import subprocess
import sys
import tempfile

HEAD = "model: queue\nseed: 1\n"
ONE = HEAD + "topology: {complete: {n: 1}}\npolicy: one-choice\n"
RING = HEAD + "topology: {ring: {n: 50}}\npolicy: [one-choice, pot, jsq]\n"
START = "carries the start of the run"
# M/M/1 from empty is short of rho / (1 - rho) by rho / ((1 - rho)^3 T) over a time T: .09 at rho = .9, T = 10^4. (job
# text, whether the start shows at each point). The noise of a start that does not show is below 1e-3 a file.
SHOWS = [
    (ONE + "replications: 1000\nlambda: 0.9\nwarmup: 0\nhorizon: {time: 1e4}\n", [True]),
    (RING + "replications: 100\nlambda: 0.95\nwarmup: 0\n", [True, True, None]),
    (RING + "replications: 29\nlambda: 0.95\nwarmup: 0\n", [False, False, False]),
    (RING + "replications: 100\nlambda: 0.9\nhorizon: 500n\n", [False, False, False]),
    (RING + "replications: 100\nlambda: 0.6\nwarmup: {time: 150}\nservice: deterministic\n", [False, False, False]),
    (RING + "replications: 60\nlambda: 1.1\nallow_unstable: true\nwarmup: 0\nhorizon: 100n\n", [False, False, False]),
    (RING + "replications: 60\nlambda: 0.9\narrivals: deterministic\nwarmup: 0\nhorizon: 100n\n",
     [False, False, False]),
    (RING + "replications: 60\nlambda: 0.9\ntransient: {jobs: 50, grid: [1, 5]}\n", [False, False, False]),
]
# (job text, [words of what plan prints]). 1 % of M/M/1 at rho = .9 takes a time of 1.62e7 in all (1.96^2 times the
# asymptotic variance of 34200 over .09^2), hence .9 times as many jobs; a warm-up of 10 / (1 - sqrt(.9))^2 = 3797.
PLANS = [
    (ONE + "replications: 1000\nlambda: 0.9\nhorizon: 9000n\n",
     [r"precision: for 1 % of mean queue_length at 95 % with 1000 replications", r"in jobs per server:",
      r"^ +0 +3420 +9000 +1\.3 % +3420 +14600 +1\.46e\+07 +1630$"]),
    (ONE + "replications: {min: 30, max: 1000, until: {queue_length: [2%, 0.01]}}\nlambda: 0.9\nhorizon: 9000n\n",
     [r"precision: for 2 %", r"^ +0 +3420 +9000 +1\.3 % +3420 +3650 +3650000 +406$"]),
    (RING + "replications: 9\nlambda: [0.2, 0.3, 0.4, 0.5, 0.6]\n",
     [r"^all points: warm-up \d+ to \d+, horizon .*; dearest: ring n=50, one-choice, lambda=0\.6$"]),
]
SILENT = [RING + "replications: 9\nlambda: 0.9\ntransient: {jobs: 50, grid: [1, 5]}\n",
          "seed: 1\nreplications: 9\ntopology: {ring: {n: 50}}\npolicy: pot\n"]


def call(program, folder, *words):
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def write(folder, text):
    with open(os.path.join(folder, "job.yaml"), "w") as f:
        f.write(text)


def start_shows(program, folder, text, expected):
    write(folder, text)
    done = call(program, folder, "run", "job.yaml", "-o", "o.h5", "--force", "--threads", "1", "--progress", "none")
    with open(os.path.join(folder, "o.h5.log")) as f:
        log = f.read()
    os.unlink(os.path.join(folder, "o.h5.log"))
    said = [line for line in done.stderr.split("\n") if START in line]
    named = {int(n): float(b) for n, b in re.findall(r"point (\d+) \(.*?\) by (\S+) beside", " ".join(said))}
    yield done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    yield len(said) == any(expected), f"{len(said)} sentences: {said}"
    yield (START in log) == any(expected), f"the log is otherwise: {log}"
    for point, shows in enumerate(expected):
        yield shows is None or shows == (point in named), f"point {point} {'not' * bool(shows)} named: {said}"
    if text == SHOWS[0][0]:
        yield -0.13 < named.get(0, 0) < -0.04, f"a bias of {named}, not of about -.09"


def plan_says(program, folder, text, patterns):
    write(folder, text)
    done = call(program, folder, "plan", "job.yaml")
    yield done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
    for pattern in patterns:
        yield re.search(pattern, done.stdout, re.M), f"plan lacks {pattern}:\n{done.stdout}"
    yield bool(patterns) or "precision" not in done.stdout, f"plan says too much:\n{done.stdout}"


def main():
    program = os.path.abspath(sys.argv[1])
    passed = failed = 0
    cases = [(start_shows, *case) for case in SHOWS] + [(plan_says, *case) for case in PLANS]
    cases += [(plan_says, text, []) for text in SILENT]
    with tempfile.TemporaryDirectory() as folder:
        for check, text, expected in cases:
            for good, sentence in check(program, folder, text, expected):
                passed += bool(good)
                failed += not good
                if not good:
                    print(f"FAILED {text!r}: {sentence}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
