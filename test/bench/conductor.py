#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What conducting costs: idle players, CPU per message, time for writing. Reports, from the log of the program itself.

usage: conductor.py PROGRAM [--part idle|messages|writing]

Model `harness` sleeps, so that 4 or 64 ranks can be had on any machine: what is left is the runner.
"""
import argparse
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "parallel"))
from _common import Checks, Lab  # noqa: E402


def log_of(lab, text, layout, *options):
    """The log of a run from its beginning."""
    job, out = lab.job(text, "bench"), lab.fresh()
    code, _, err = lab.run(job, out, *options, layout=layout, seconds=1800)
    if code != 0:
        raise SystemExit(f"exit code {code}: {err.strip()}")
    return pathlib.Path(f"{out}.log").read_text(), out.stat().st_size


def number(pattern, log):
    return float(re.findall(pattern, log)[-1])


def idle(checks, lab):
    """Costs that differ 100-fold, 4 ranks."""
    log, _ = log_of(lab, "model: harness\nseed: 1\nreplications: 800\nmilliseconds: [0.5, 50, 1, 20]\nhow: sleep\nbins: 30\n", (4, 1))
    busy = number(r"([\d.]+) % of their time in kernels", log)
    print(f"idle: {100 - busy:.2f} % of the time of 4 ranks, replications of 0.5 to 50 ms (aim: 3 %)")
    checks.check(busy > 97, f"players were idle {100 - busy:.2f} % of the time")


def messages(checks, lab):
    """64 ranks, a message for each replication, results of 12 kB: a stopping rule hands them out few at a time."""
    times = ", ".join(str(60 + i) for i in range(64))
    rule = "{min: 30, max: 250, until: {replication_index: 0.0001}}"
    text = f"model: harness\nseed: 1\nreplications: {rule}\nmilliseconds: [{times}]\nhow: sleep\nbins: 30\n"
    log, _ = log_of(lab, text, (64, 1))
    cost, count = number(r"messages, ([\d.]+) us of CPU each", log), number(r"conductor: (\d+) messages", log)
    whole = number(r"([\d.]+) % of a core with all waiting", log)
    print(f"messages: {cost:.2f} us of CPU each, {count:.0f} of them, 64 ranks on {os.cpu_count()} cores (aim: 20 us); "
          f"{whole:.2f} % of a core in all")
    checks.check(cost <= 20, f"a message costs {cost:.2f} us")


def writing(checks, lab):
    """A result of 200 MB, snapshots as often as allowed."""
    times = ", ".join(f"{2.4 + i / 1e6:.6f}" for i in range(1000))
    text = f"model: harness\nseed: 1\nreplications: 500\nmilliseconds: [{times}]\nhow: sleep\nbins: 500\n"
    log, size = log_of(lab, text, None, "--threads", "2", "--checkpoint", "5")
    share, seconds = number(r"([\d.]+) % of the time for writing", log), number(r"replications, ([\d.]+) s, ", log)
    print(f"writing: {share:.3f} % of a run of {seconds:.0f} s, {log.count(' snapshot: ')} files of up to "
          f"{size / 1e6:.0f} MB (aim: 1 %)")
    checks.check(share < 1, f"writing took {share:.3f} % of the time")


def main():
    parts = {"idle": idle, "messages": messages, "writing": writing}
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--part", choices=parts)
    arguments = parser.parse_args()
    checks = Checks()
    with Lab(arguments.program) as lab:
        for name, part in parts.items():
            if arguments.part in (None, name):
                part(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
