#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of model queue that make no sense, or queues that grow for ever: each is refused in words.

usage: queue_refusals.py PROGRAM

A case is a job on four servers and a part of what `potluck plan` must say; a refusal ends with 2, a
note with 0. Cases on both sides of a limit show that it is where it should be.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HALF = "policy: pot\nlambda: 0.5\n"
REPEAT = "failures: {alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 2.5}}, resume: repeat}}\n"
LIMIT = 0.72  # queueing.md 7: exponential services, f = .1, r = .4
TRACED = "policy: one-choice\nwarmup: 0\nhorizon: 4\n"
SHORT = "arrivals: {trace: {file: trace.txt}}\n"

FILES = {
    "trace.txt": "0\n1\n2\n4\n",
    "servers.txt": "0 0\n1 1\n2 1\n4 3\n",
    "falls.txt": "# times\n1\n0.5\n",
    "word.txt": "0\n1\nsoon\n",
    "five.txt": "0 5\n",
    "late.txt": "0 1 1\n2e15 1 1\n",
    "long.txt": "0 1 1\n1 1 1e13\n",
    "once.txt": "0\n0\n0\n0\n",
    "apart.txt": "0 1 2\n1 1 2\n0 1.5 3\n",
    "back.txt": "0 2 1\n",
    "two.txt": "0 1\n",
}


def alternating(up, down="exponential", more=""):
    return f"{HALF}failures: {{alternating: {{up: {up}, down: {down}{more}}}}}\n"


def mmpp(rates, switch, scope="server"):
    return f"{HALF}arrivals: {{mmpp: {{rates: {rates}, switch: {switch}}}}}\narrival_scope: {scope}\n"


#: (job, exit code, part of what is said)
CASES = [
    # Rates.
    ("policy: pot\n", 2, "'lambda' is missing: jobs per unit time and server (only a trace"),
    ("policy: pot\nlambda: 0\n", 2, "'lambda' must be between"),
    ("policy: pot\nlambda: nan\n", 2, "'lambda' must be a number"),
    ("policy: pot\nlambda: 1\n", 2, "queues grow for ever: work arrives at 1 times"),
    ("policy: pot\nlambda: 0.999\n", 0, ""),
    (f"{HALF}arrival_rates: [0, 0]\n", 2, "arrival_rates that are all 0"),
    (f"{HALF}arrival_rates: [1, 2, 3]\n", 2, "3 rates do not go round 4 servers"),
    (f"{HALF}service_rates: 0\n", 2, "'service_rates'"),
    ("policy: {random: {shares: [.5, .3, .2, 0]}}\nlambda: 0.6\n", 2, "policy random sends some server 1.2 times"),
    ("policy: {random: {shares: [.5, .3, .2, 0]}}\nlambda: 0.49\n", 0, ""),
    ("policy: {random: {shares: [0, 0]}}\nlambda: 0.5\n", 2, "the shares sum to nothing"),
    (f"{HALF}arrival_rates: [2.4, 1]\nredirectable: 0.2\n", 0, ""),
    (f"{HALF}arrival_rates: [3, .5]\nredirectable: 0.2\n", 2, "the jobs that must stay bring some server 1.2 times"),
    # Laws.
    (f"{HALF}service: {{pareto: {{shape: 1}}}}\n", 2, "'shape' must be between 1.1"),
    (f"{HALF}service: {{pareto: {{shape: 4}}}}\n", 0, "services without a fourth moment: intervals of mean times"),
    (f"{HALF}service: {{discrete: {{values: [1, 2], probabilities: [.5, .4]}}}}\n", 2, "add up to 0.9, not 1"),
    (f"{HALF}service: {{discrete: {{values: [0, 0], probabilities: [.5, .5]}}}}\n", 2, "every time is 0"),
    (f"{HALF}arrivals: {{batch: {{size: 0}}}}\n", 2, "'size' must be"),
    (f"{HALF}arrivals: {{erlang: {{shape: 2, mean: 3}}}}\n", 2, "the mean of their law makes no difference"),
    (f"{HALF}synchronised: true\n", 2, "synchronised makes a difference to renewal streams only"),
    (mmpp("[0, 0]", 1), 2, "mmpp whose rates are all 0"),
    (mmpp("[1, 2]", "[1, 2, 3]"), 2, "mmpp with 2 rates and 3 switches"),
    (mmpp("[1, 2]", "1e9"), 2, "states change 2e+09 times between two jobs"),
    (mmpp("[1, 2]", "1e-12", "total"), 2, "a cycle of states lasts for 4e+12 jobs"),
    (mmpp("[1, 2]", 1), 0, ""),
    (f"{HALF}horizon: 0\n", 2, "a horizon without jobs says nothing"),
    (f"{HALF}horizon: {{time: 1e12}}\n", 2, "that makes 2e+12 jobs a replication"),
    # Failures.
    (f"policy: pot\nlambda: {LIMIT - 1e-3}\n{REPEAT}", 0, ""),
    (f"policy: pot\nlambda: {LIMIT + 1e-3}\n{REPEAT}", 2, "work arrives at 1.001"),
    (f"{HALF}{REPEAT}service: {{lognormal: {{scv: 1}}}}\n", 2, "jobs of law lognormal that are repeated"),
    (f"{HALF}{REPEAT}service: {{pareto: {{shape: 3}}}}\n", 2, "jobs of law pareto that are repeated"),
    (alternating("{uniform: {mean: 5}}", more=", resume: repeat"), 2, "jobs of law exponential that are repeated"),
    (alternating("{uniform: {mean: 5}}", more=", resume: repeat") + "service: uniform\n", 0,
     "whether queues are stable is not known"),
    (alternating("{erlang: {shape: 3, mean: 5}}", "{exponential: {mean: 6}}", ", resume: repeat"), 2, "1.1 times"),
    (alternating("{pareto: {shape: 1}}"), 2, "'shape' must be between 1.1"),
    (alternating("{pareto: {shape: 3, mean: 9}}"), 0, "times up without a fourth moment"),
    (alternating("{exponential: {mean: 9}}", "{pareto: {shape: 4}}"), 0, "times down without a fourth moment"),
    (alternating("{exponential: {mean: 1e-9}}", "{exponential: {mean: 1e12}}"), 2, "5e+20 times"),
    (alternating("{exponential: {mean: 2e-9}}", "{exponential: {mean: 1e-9}}"), 2, "times in a replication (at most"),
    (f"{HALF}failures: {{windows: {{file: apart.txt}}}}\n", 2, "apart.txt:3: server 0 is down from 1.5, but until 2"),
    (f"{HALF}failures: {{windows: {{file: back.txt}}}}\n", 2, "back.txt:1: down from 2 to 1: it must end later"),
    (f"{HALF}failures: {{windows: {{file: two.txt}}}}\n", 2, "two.txt:1: 2 numbers where a window"),
    ("policy: least-work\nlambda: 0.5\n" + REPEAT, 2, "policy least-work would foresee failures"),
    # Traces have their own rate: four jobs in four units of time, two of them at server 1.
    (TRACED + SHORT, 0, ""),
    (TRACED + SHORT + "lambda: 0.5\n", 2, "'lambda' makes no difference to any point"),
    (TRACED + "arrivals: [poisson, {trace: {file: trace.txt}}]\nlambda: 0.5\n", 0, ""),
    (TRACED + "arrivals: {trace: {file: servers.txt}}\nservice_mean: 1.99\n", 0, ""),
    (TRACED + "arrivals: {trace: {file: servers.txt}}\nservice_mean: 2\n", 2, "policy one-choice sends some server 1"),
    (TRACED + SHORT + "arrival_rates: [1, 3]\nservice_mean: 2.6\n", 0, ""),
    (TRACED + SHORT + "arrival_rates: [1, 3]\nservice_mean: 2.7\n", 2, "policy one-choice sends some server 1.0125"),
    (TRACED + SHORT + "horizon: 5\n", 2, "given twice"),
    ("policy: pot\nwarmup: 1\nhorizon: 4\n" + SHORT, 2, "the trace has 4 jobs, fewer than"),
    (TRACED + "arrivals: {trace: {file: falls.txt}}\n", 2, "falls.txt:3: time 0.5 after time 1"),
    (TRACED + "arrivals: {trace: {file: word.txt}}\n", 2, "word.txt:3: 'soon' is no number"),
    (TRACED + "arrivals: {trace: {file: five.txt}}\n", 2, "five.txt:1: server 5 (allowed: 0 to 3)"),
    (TRACED + "arrivals: {trace: {file: late.txt}}\n", 2, "late.txt:2: time 2e+15 (allowed: 0 to 1e+15)"),
    (TRACED + "arrivals: {trace: {file: long.txt}}\n", 2, "long.txt:2: service 1e+13"),
    (TRACED + "arrivals: {trace: {file: once.txt}}\n", 2, "all jobs of the trace come at time 0"),
]
#: Spaces that are drawn, where `run` finds out.
LARGEST = "topology: {erdos-renyi: {n: 40, mean_degree: 1.5, connect: largest}}\n"
DRAWN = [
    (LARGEST + HALF + "arrival_rates: [1, 2]\n", 2, "rates of servers, but how many the largest component has"),
    (LARGEST + HALF + "failures: {windows: {file: apart.txt}}\n", 2, "windows"),
    (LARGEST + TRACED + "arrivals: {trace: {file: servers.txt}}\n", 2, "a trace names servers, but how many"),
    (LARGEST + "policy: {sequence: {servers: [0]}}\nlambda: 0.2\nhorizon: 9\n", 2, "policy sequence sends some server"),
    ("topology: {arcs: {n: 40}}\npolicy: nearest\nlambda: 0.7\nhorizon: 9\n", 2, "policy nearest sends some server"),
    ("topology: {arcs: {n: 40}}\npolicy: nearest\nlambda: 0.01\nhorizon: 9\n", 0, ""),
    ("topology: {plane: {n: 40}}\npolicy: nearest\nlambda: 0.7\nhorizon: 9\n", 2, "policy nearest sends some server"),
    ("topology: {plane: {n: 40}}\npolicy: spot\nlambda: 0.7\nhorizon: 9\n", 0, ""),
    ("topology: {plane: {n: 40}}\npolicy: spot\nlambda: 0.7\nhorizon: 9\nredirectable: 0.1\n", 2, "the jobs that must"),
    ("topology: {plane: {n: 40}}\npolicy: nearest\nlambda: 0.7\nhorizon: 9\nallow_unstable: true\n", 0, ""),
]


def main():
    program = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        for case, code, part in CASES + DRAWN:
            ground = "" if case.startswith("topology") else "topology: {complete: {n: 4}}\n"
            job = f"model: queue\nseed: 7\nreplications: 2\n{ground}{case}"
            (pathlib.Path(folder) / "job.yaml").write_text(job)
            words = ["run", "job.yaml", "-o", "out.h5", "--force"] if ground == "" else ["plan", "job.yaml"]
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            said = done.stdout + done.stderr
            good = done.returncode == code and part in said
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED: {case!r} ended with {done.returncode}, not {code} and '{part}': {said[-400:]}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
