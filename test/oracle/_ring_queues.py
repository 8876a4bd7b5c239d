# SPDX-License-Identifier: GPL-3.0-or-later
"""Two choices on a ring of queues: published and independently simulated numbers.

Gast, "The power of two choices on graphs: the pair-approximation is accurate", MAMA 2015: jobs at
the two ends of a uniform edge, fair ties, simulated for up to 1e10 jumps; which is `unif-pot` with
k = 1. The other policies: a uniformised jump chain, n = 1000, 4e8 jumps.
"""
from __future__ import annotations

import numpy as np

from _lab import Lab, estimate

REPLICATIONS = 24
NEAR = "unif-pot: {k: 1}"
#: lambda 0.7, E[queue] of a server by n; digits as published.
SIZES = {
    2: 1.4754, 3: 1.3193, 4: 1.2764, 5: 1.2624, 10: 1.25525, 100: 1.25529, 1000: 1.25528,
    10000: 1.25516,
}
#: P(Q = q), n = 1000, lambda 0.7.
LAW = [0.3, 0.3348, 0.2267, 0.09841, 0.03061, 0.007506, 0.001549, 0.000283, 0.0000471]
#: E[T] at n = 1000 by lambda, with the statistical error of the source; and mean hops.
RESPONSES = {
    NEAR: ((1.334, 1.793, 3.319), 0.5),
    "unif-pot: {k: 2}": ((1.303, 1.714, 3.028), 0.75),
    "invsq-pot: {k: 2}": ((1.315, 1.748, 3.159), 0.6),
    "pot": ((1.266, 1.615, 2.617), None),
}
LOADS, ERRORS = (0.5, 0.7, 0.9), (0.002, 0.002, 0.005)


def keys(n: int, lam: float, work: float, **more) -> dict:
    """`work`: server times of the horizon, all replications together."""
    relaxed = 200 if lam < 0.8 else 800
    return {
        "seed": 2015,
        "replications": REPLICATIONS,
        "topology": f"{{ring: {{n: {n}}}}}" if n > 2 else "{complete: {n: 2}}",
        "lambda": lam,
        "ties": "fair",
        "warmup": f"{{time: {relaxed}}}",
        "horizon": f"{{time: {max(work / n / REPLICATIONS, relaxed / 2)}}}",
    } | more


def ring_queues(suite) -> None:
    lab, cmp = Lab(suite.sim.program), suite.cmp

    def mean(name: str, values: np.ndarray, expected: float, error: float, power: float) -> None:
        got, s = estimate(values)
        cmp.mean(name, got, s, expected, tolerance=error, power=power, df=len(values) - 1)

    for n, expected in SIZES.items():
        work = (4e7 if n == 1000 else 8e6) * suite.factor
        run = lab.play({"near": NEAR}, keys(n, 0.7, work))["near"]
        error = 1e-4 if n <= 5 else 2e-4
        mean(f"ring of {n} queues", run["queue_length"], expected, error, 0.003 * expected)
        if n == 1000:
            for k, q in enumerate(LAW):
                share = run.load(lambda x, k=k: (x == k).astype(float))
                digits = 0.5 * 10 ** (np.floor(np.log10(q)) - (3 if q > 2e-3 else 2))
                power = q * (0.005 if q > 0.01 else 0.03 if q > 1e-3 else 0.1)
                mean(f"ring of {n} queues, P(Q = {k})", share, q, 2 * digits, power)
    for i, (lam, error) in enumerate(zip(LOADS, ERRORS)):
        work = (6e6, 6e6, 1.5e7)[i] * suite.factor
        runs = lab.play({x: x for x in RESPONSES}, keys(1000, lam, work))
        for policy, (responses, hops) in RESPONSES.items():
            run, name = runs[policy], f"ring of queues, {policy}, lambda {lam}"
            mean(name, run["response"], responses[i], 2 * error, 0.003 * responses[i])
            mean(f"{name}: occupied", run["occupied"], lam, 1e-6, 0.002)
            if hops:
                mean(f"{name}: hops", run["cost"], hops, 1e-6, 0.002)
    run = lab.play({"near": NEAR}, keys(1000, 0.7, 6e6 * suite.factor, ties="origin"))["near"]
    mean("ring of queues, jobs stay at a tie", run["queue_length"], 1.2549, 0.002, 0.004)
    mean("ring of queues, jobs stay at a tie: hops", run["cost"], 0.327, 0.001, 0.002)
