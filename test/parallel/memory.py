#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Peak memory of a run (VmHWM) against what `potluck plan` said, over jobs of different shape.

usage: memory.py PROGRAM
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

JOBS = {
    "next to nothing": "replications: 10\ntopology: {ring: {n: 100}}\npolicy: pot\n",
    "rows": "replications: 400000\ntopology: {ring: {n: 16}}\npolicy: [pot, one-choice]\n",
    "servers": "replications: 2\ntopology: {complete: {n: 30000000}}\npolicy: {choices: {d: 2}}\n",
    "tables": "replications: 4\ntopology: {torus: {sides: 1999x2003}}\npolicy: {invsq-pot: {k: 900}}\n",
    "points": "replications: 100\ntopology: {ring: {n: [101, 211, 307]}}\n"
    f"policy: {{unif-pot: {{k: [{', '.join(map(str, range(1, 201)))}]}}}}\nballs: [1n, 3n]\n",
    "loads": "replications: 300\ntopology: {ring: {n: [10, 100, 1000]}}\n"
    "policy: [one-choice, pot, {unif-pot: {k: [1, 2, 3]}}]\nballs: [1n, 10n, 100n]\n",
    "means": "replications: 300000\ntopology: {complete: {n: 64}}\npolicy: {choices: {d: 2}}\nkeep: means\n",
    "virtual servers": "model: dht\nreplications: 2\nnodes: 1e5\nbalancer: log-vs\nqueries: 1\nduration: 4\n",
    "transfers": "model: dht\nreplications: 2\nnodes: 1e5\nbalancer: transfer\ncapacity: profile\nqueries: 1\n"
    "duration: 8\nbalance_from: 2\n",
    "fingers": "model: dht\nreplications: 2\nnodes: 60000\nrefresh: 4\nduration: 6\n"
    "queries: 1\norder: hop-synchronous\n",
    "keys": "model: dht\nreplications: 2\nnodes: 1000\ndestinations: {zipf: {alpha: 1, count: 3e6}}\nduration: 20\n",
}


def main() -> int:
    program = sys.argv[1]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="potluck-test-") as folder:
        job, out = pathlib.Path(folder) / "job.yaml", pathlib.Path(folder) / "out.h5"
        for name, text in JOBS.items():
            model = "" if text.startswith("model:") else "model: balls\n"
            job.write_text(f"{model}seed: 3\n{text}")
            for threads in ("1", "2"):
                said = subprocess.run([program, "plan", job, "--threads", threads],
                                      capture_output=True, text=True, check=True).stdout
                planned = int(re.search(r"^memory_bytes: (\d+)$", said, re.M)[1])
                run = subprocess.Popen([program, "run", job, "-o", out, "--force", "--threads", threads],
                                       stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
                ratio = usage.ru_maxrss * 1024 / planned
                good = run.returncode == 0 and 0.9 <= ratio <= 1.1
                passed, failed = passed + good, failed + (not good)
                print(f"{'note' if good else 'FAILED'}: {name}, {threads} threads: {ratio:.3f} of "
                      f"{planned / 1e6:.1f} MB planned")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
