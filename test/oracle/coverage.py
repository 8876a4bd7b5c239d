# SPDX-License-Identifier: GPL-3.0-or-later
"""Which checks hold each reference record of queues; a record that none holds is a failure.

    python3 coverage.py [PROGRAM] [--list]

`--list` prints the table: a record and its checks. "laws.py" stands for a simulation (in `ci` of
the cheaper settings, in `verify` of all), the others for what their names say. Probabilities below
1e-5 are left to theory, where there is one.
"""
import argparse
import json
import sys

import numpy as np

import chain_check
import enumeration_check
from _queue_runs import KINDS, RARE
from _queues import setting_of
from queue_theory_check import HERE, theory_of

#: Records by the beginning of their names, held by parts that look for them by name.
BY_NAME = {
    "lr.sim": "laws.py heavy",
    "mg1.pareto2.2": "experiments.py E6",
    "mg1.pareto2.5": "experiments.py E6",
    "sm.published": "queue_theory_check.py",
    "lr.counterexample": "experiments.py E9",
    "lr.enum": "experiments.py E10",
    "lr.cvd": "experiments.py E10",
    "lr.batch0": "experiments.py E10",
    "lr.geom": "experiments.py E10",
}
#: Of enumeration alone: what is said of all assignments.
OF_ALL = ("best", "violations", "order")
#: No records but tables: rings of queues.
RINGS = ("ring of 2..10000 queues", "ring of queues, law", "ring of queues, E[T] and hops")


def checks(r: dict) -> list[str]:
    """Those that hold a record."""
    out = []
    words = r["id"].split(".")
    if setting_of(r) is not None:
        out.append("laws.py queues")
    for start, check in BY_NAME.items():
        if r["id"].startswith(start) and words[-1] not in OF_ALL:
            if not (start == "lr.batch0" and words[-1] == "sumC"):
                out.append(check)
    if enumeration_check.holds(r):
        out.append("enumeration_check.py")
    elif theory_of(r) is not None:
        out.append("queue_theory_check.py")
    work = chain_check.work_of(r)
    if work <= chain_check.MOST:
        out.append("chain_check.py")
    elif work <= chain_check.LARGEST:
        out.append("chain_check.py (verify)")
    if r["id"].startswith("gq.sim"):
        out.append("chain_check.py near_simulations")
    return out


def rare(r: dict, held: list[str]) -> str:
    """What becomes of the components of a law of queues that are too rare to be simulated."""
    if not r["id"].endswith("tails") or np.min(r["value"]) >= RARE:
        return ""
    solved = [x for x in held if x.startswith(("queue_theory", "chain_check")) and "near" not in x]
    return "" if solved else f"{np.sum(np.array(r['value']) < RARE)} below {RARE:g} left out"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for r in json.loads((HERE / "oracles.json").read_text()):
        if r["id"].split(".")[0] not in KINDS:
            continue
        held = checks(r)
        passed, failed = passed + bool(held), failed + (not held)
        if options.list or not held:
            print(f"{r['id']:48} {', '.join(held) or 'NOTHING'}  {rare(r, held)}".rstrip())
    for name in RINGS if options.list else ():
        print(f"{'' + name:48} laws.py ring_queues")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
