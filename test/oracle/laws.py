# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator against exact laws, fluid limits, published and independently simulated numbers.

    python3 laws.py PROGRAM [--tier ci|verify]

Expectations come from oracles.json (reference records) and from theory.py, the latter with other
parameters too.

K comparisons share a false alarm rate of 1e-4: a mean passes when |got - expected| <= z s +
tolerance with z = Phi^-1(1 - 1e-4/(2K)) (Student's quantile where s rests on 50 batches), a
histogram when its chi-square has p >= 1e-4/K over cells that expect at least 10 (the others
pooled), a rare count when its Poisson tails have. Seeds are fixed, so an outcome is the same every
time. A mean must also be known well enough to mean something (power): s at most 0.2 % of the value,
or what the comparison states. `verify` plays four times the replications.
"""
import argparse
import sys

from _held_back import heavy, held_back
from _large_systems import fluid, max_load, simulated
from _points import (
    arc_choices,
    arc_loads,
    arc_shares,
    planar_records,
    plane_costs,
    plane_is_torus,
    plane_table,
)
from _proximity import hop_laws, published_table
from _queue_runs import queues
from _random_graphs import everybody_near, files, generators, pot_costs, star_balance, tiny_graphs
from _ring_queues import ring_queues
from _small_systems import graph_theory, graphs, small, small_theory
from _suite import Suite

FACTOR = {"ci": 1, "verify": 4}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--tier", choices=FACTOR, default="ci")
    parser.add_argument("--part", action="append", help="only this part; may be repeated")
    options = parser.parse_args()
    suite = Suite(options.program, FACTOR[options.tier])
    parts = (
        small,
        small_theory,
        graphs,
        graph_theory,
        max_load,
        fluid,
        simulated,
        hop_laws,
        published_table,
        files,
        tiny_graphs,
        generators,
        everybody_near,
        pot_costs,
        star_balance,
        arc_shares,
        arc_loads,
        arc_choices,
        planar_records,
        plane_costs,
        plane_is_torus,
        plane_table,
        queues,
        held_back,
        heavy,
        ring_queues,
    )
    # Every second part is CI's sample.
    for part in parts[:: 1 if options.part or options.tier == "verify" else 2]:
        if not options.part or part.__name__ in options.part:
            part(suite)
    passed, failures = suite.run()
    for failure in failures:
        print("FAILED", failure)
    print(
        f"{len(suite.sim.outcomes)} points played, {len(suite.cmp.tests)} statistical comparisons"
    )
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
