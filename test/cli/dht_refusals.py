#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of model dht that make no sense: each is refused in words, with its place in the job.

usage: dht_refusals.py PROGRAM

A case is a job of four nodes, the exit code of `potluck plan`, the line and column of its first
complaint, and a part of what it must say. Cases on both sides of a limit show that it is where it
should be. Refused jobs leave no files.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HEAD = "model: dht\nseed: 7\nreplications: 2\nnodes: 4\n"  # lines 1 to 4
LINE = 5
FILES = {
    "four.txt": b"1\n2\n3e3\n0.001\n",
    "three.txt": b"1\n2\n3\n",
    "five.txt": b"1\n2\n3\n4\n5\n",
    "negative.txt": b"1\n2\n-3\n4\n",
    "zero.txt": b"1\n2\n3\n0\n",
    "nan.txt": b"1\nnan\n3\n4\n",
    "infinite.txt": b"1\n1e400\n3\n4\n",
    "hexadecimal.txt": b"1\n2\n0x10\n4\n",
    "words.txt": b"# of nodes\n1\nmany\n3\n4\n",
    "pairs.txt": b"1 2\n1 2\n1 2\n1 2\n",
    "wide.txt": b"1 2 3 4\n",
    "mixed.txt": b"1\n2 3\n",
    "huge.txt": b"1\n2\n3\n2e15\n",
    "empty.txt": b"",
    "blank.txt": b"# nothing\n\n",
    "dos.txt": b"1\r\n2\r\n# two more\r\n3 # three\r\n4\r\n",
    "fine.txt": b"0 0 10 # the first\r\n1 5 7.5\r\n\r\n0,11,12\r\n",
    "outside.txt": b"0 1 2\n4 0 3\n",
    "fraction.txt": b"0.5 0 3\n",
    "below.txt": b"-1 0 3\n",
    "overlap.txt": b"0 0 5\n1 0 9\n0 4 8\n",
    "touching.txt": b"0 1 2\n0 2 3\n",
    "backwards.txt": b"0 5 8\n0 1 2\n",
    "early.txt": b"0 5 4\n",
    "moment.txt": b"0 5 5\n",
    "before.txt": b"0 -1 4\n",
    "two.txt": b"0 4\n",
    "soon.txt": b"0 1 soon\n",
}


def capacity(name):
    return f"capacity: {{file: {{path: {name}.txt}}}}\n"


def trace(name):
    return f"lifetime: {{trace: {{file: {name}.txt}}}}\n"


#: (appended to HEAD, exit code, column of line 5 or (line, column), part of what is said)
CASES = [
    # Capacities.
    (capacity("four"), 0, 0, ""),
    (capacity("dos"), 0, 0, ""),
    (capacity("three"), 2, 25, "three.txt: 3 capacities for 4 nodes"),
    (capacity("five"), 2, 25, "five.txt: 5 capacities for 4 nodes"),
    (capacity("negative"), 2, 25, "negative.txt:3: a capacity of -3 (allowed: 0.001 to 1e+15)"),
    (capacity("zero"), 2, 25, "zero.txt:4: a capacity of 0 (allowed: 0.001 to 1e+15)"),
    (capacity("huge"), 2, 25, "huge.txt:4: a capacity of 2e+15 (allowed: 0.001 to 1e+15)"),
    (capacity("nan"), 2, 25, "nan.txt:2: 'nan' is no number"),
    (capacity("infinite"), 2, 25, "infinite.txt:2: '1e400' is no number"),
    (capacity("hexadecimal"), 2, 25, "hexadecimal.txt:3: '0x10' is no number"),
    (capacity("words"), 2, 25, "words.txt:3: 'many' is no number"),
    (capacity("pairs"), 2, 25, "pairs.txt:1: 2 numbers where a capacity has 1"),
    (capacity("wide"), 2, 25, "wide.txt:1: more numbers than a capacity has"),
    (capacity("mixed"), 2, 25, "mixed.txt:2: 2 numbers, where the lines before have 1"),
    (capacity("empty"), 2, 25, "empty.txt cannot be read: it is empty"),
    (capacity("blank"), 2, 25, "blank.txt:3: the file ends without a capacity"),
    (capacity("missing"), 2, 25, "missing.txt cannot be read: No such file or directory"),
    ("capacity: {file: four.txt}\n", 2, 18, "file takes its parameters by name (file: {path: ...})"),
    ("capacity: 0\n", 2, 11, "'per_second' must be between 0.001 and 1e+15, not 0"),
    ("capacity: profil\n", 2, 11, "did you mean 'profile'?"),
    ("capacity: {lognormal: {sigma: 11}}\n", 2, 31, "'sigma' must be between 0 and 10, not 11"),
    # Sessions.
    (trace("fine"), 0, 0, ""),
    (trace("outside"), 2, 26, "outside.txt:2: node 4 (allowed: 0 to 3)"),
    (trace("fraction"), 2, 26, "fraction.txt:1: node 0.5 (allowed: 0 to 3)"),
    (trace("below"), 2, 26, "below.txt:1: node -1 (allowed: 0 to 3)"),
    (trace("overlap"), 2, 26, "overlap.txt:3: node 0 is up from 4, but until 5 already"),
    (trace("touching"), 2, 26, "touching.txt:2: node 0 is up from 2, but until 2 already"),
    (trace("backwards"), 2, 26, "backwards.txt:2: node 0 is up from 1, but until 8 already"),
    (trace("early"), 2, 26, "early.txt:1: up from 5 to 4: it must end later"),
    (trace("moment"), 2, 26, "moment.txt:1: up from 5 to 5: it must end later"),
    (trace("before"), 2, 26, "before.txt:1: up from -1 (allowed: 0 and more)"),
    (trace("two"), 2, 26, "two.txt:1: 2 numbers where a session (node from to) has 3"),
    (trace("wide"), 2, 26, "wide.txt:1: more numbers than a session (node from to) has"),
    (trace("soon"), 2, 26, "soon.txt:1: 'soon' is no number"),
    (trace("empty"), 2, 26, "empty.txt cannot be read: it is empty"),
    (trace("blank"), 2, 26, "blank.txt:3: the file ends without a session"),
    (trace("missing"), 2, 26, "missing.txt cannot be read: No such file or directory"),
    # Laws: none that is left has an infinite mean, or a mean of 0.
    ("lifetime: {pareto: {shape: 1}}\n", 2, 28, "'shape' must be between 1.1 and 1000, not 1"),
    ("lifetime: {lomax: {shape: 1}}\n", 2, 27, "'shape' must be between 1.01 and 1000, not 1"),
    ("lifetime: {pareto: {shape: 1.1, mean: 60}}\n", 0, 0, ""),
    ("lifetime: {exponential: {mean: 0}}\n", 2, 32, "'mean' must be between 1e-09 and 1000000000000, not 0"),
    ("lifetime: {exponential: {mean: .inf}}\n", 2, 32, "'mean' must be a number"),
    ("lifetime: {discrete: {values: [0], probabilities: [1]}}\n", 2, 31, "every time is 0"),
    ("lifetime: {exponential: {mean: 60}}\ndowntime: {discrete: {values: [0], probabilities: [1]}}\n", 2, (6, 31),
     "every time is 0"),
    ("lifetime: {exponential: {mean: 1e-5}}\n", 0, 0, ""),
    ("lifetime: {exponential: {mean: 1e-6}}\n", 2, 12, "nodes would come and go 1.44e+10 times in a replication"),
    ("lifetime: exponental\n", 2, 11, "unknown lifetime 'exponental' (allowed: unlimited, trace, exponential, "),
    ("lifetime: trace\n", 2, 11, "trace needs 'file' (a file name)"),
    ("downtime: exponential\n", 2, 1, "'downtime' makes no difference to any point of this job (remove it)"),
    (trace("fine") + "downtime: exponential\n", 2, (6, 1), "'downtime' makes no difference"),
    ("lifetime: [unlimited, exponential]\ndowntime: exponential\n", 0, 0, ""),
    # Times.
    ("record_from: 3599\n", 0, 0, ""),
    ("record_from: 3600\n", 2, 14, "nothing would count: only 3600 seconds are played"),
    ("duration: 0\n", 2, 11, "'duration' must be between 1 and 33554432, not 0"),
    ("duration: 1\n", 0, 0, ""),
    ("duration: 100000\ninterval: 1\n", 0, 0, ""),
    ("duration: 100001\ninterval: 1\n", 2, (6, 11), "that makes 100001 intervals (at most 100000)"),
    ("interval: [1, 2]\n", 2, 11, "'interval' takes one value for the whole job, not a list"),
    ("refresh: 2\nrouting: one-hop\n", 2, 10, "there are no fingers to refresh with routing: one-hop"),
    ("refresh: 1\nrouting: one-hop\n", 0, 0, ""),
    ("refresh: 0\n", 2, 10, "'refresh' must be between 1 and 33554432, not 0"),
    ("period: 0\n", 2, 9, "'period' must be between 1 and"),
    ("measure: 0\n", 2, 10, "'measure' must be between 1 and"),
    # Balancers.
    ("balancer: transfr\n", 2, 11, "unknown balancer 'transfr' (allowed: none, log-vs, proportion, transfer, threshold, "
     "k-choices; did you mean 'transfer'?)"),
    ("balancer: {transfer: {spilt: true}}\n", 2, 23, "unknown parameter 'spilt' of transfer"),
    ("balancer: {transfer: {spilt: true}}\n", 2, 23, "did you mean 'split'?"),
    ("balancer: {log-vs: {count: 65}}\n", 2, 28, "'count' must be between 1 and 64, not 65"),
    ("balancer: {k-choices: {kappa: 0}}\n", 2, 31, "'kappa' must be between 1 and 64, not 0"),
    ("balancer: {k-choices: {kappa: 65}}\n", 2, 31, "'kappa' must be between 1 and 64, not 65"),
    ("balancer: {k-choices: {kappa: [1, 64]}}\n", 0, 0, ""),
    ("balancer: {k-choices: {mode: lazy}}\n", 2, 30, "'mode' must be one of active, passive, not 'lazy'"),
    ("balancer: {threshold: {sample: 62}}\n", 0, 0, ""),
    ("balancer: {threshold: {sample: 63}}\n", 2, 32, "'sample' must be between 1 and 62, not 63"),
    ("balancer: {threshold: {rho: 1}}\n", 2, 29, "'rho' must be between 1.01 and 100, not 1"),
    ("balancer: {threshold: {c: 0}}\n", 2, 27, "'c' must be between 1e-06 and 10, not 0"),
    ("balancer: {proportion: {relief: all}}\n", 2, 33, "'relief' must be one of nothing, heaviest, not 'all'"),
    ("balancer: {proportion: {max: 0}}\n", 2, 30, "'max' must be between 1 and 64, not 0"),
    # What other models have.
    ("topology: {ring: {n: 4}}\n", 2, 1, "'topology' is a key of model balls, not of dht"),
    ("policy: pot\n", 2, 1, "'policy' is a key of model balls, not of dht"),
    ("lambda: 0.5\n", 2, 1, "'lambda' is a key of model queue, not of dht"),
    ("baseline: none\n", 2, 1, "model dht has no 'baseline': it compares nothing"),
    ("keep: server-loads\n", 2, 7, "'keep' knows no 'server-loads' (allowed: rows, means)"),
    ("nodse: 4\n", 2, 1, "did you mean 'nodes'?"),
    # Queries and keys.
    ("queries: 0\n", 2, 10, "'queries' must be between 1e-06 and 1000000, not 0"),
    ("queries: 1e7\n", 2, 10, "'queries' must be between 1e-06 and 1000000, not 1e7"),
    ("destinations: zipf\n", 2, 15, "zipf needs 'alpha' (a number, between 0 and 20)"),
    ("destinations: {zipf: {alpha: 1, count: 2e7}}\n", 2, 40, "'count' must be between 1 and 16777216, not 2e7"),
    ("destinations: {zipf: {alpha: 1, shift: -1}}\n", 2, 40, "'shift' must be between 0 and 33554432, not -1"),
    ("destinations: zip\n", 2, 15, "unknown destination 'zip' (allowed: uniform, zipf; did you mean 'zipf'?)"),
    ("epsilon: 1.5\n", 2, 10, "'epsilon' must be between 0 and 1, not 1.5"),
    ("target: 0\n", 2, 9, "'target' must be between 1e-06 and 1000000, not 0"),
    ("maintenance: -1\n", 2, 14, "'maintenance' must be between 0 and 1000000, not -1"),
    ("ids: hashed\n", 2, 6, "'ids' must be one of random, equal, proportional, not 'hashed'"),
    ("charge: none\n", 2, 9, "'charge' must be one of forwarding, delivery, not 'none'"),
    ("order: random\n", 2, 8, "'order' must be one of sequential, hop-synchronous, not 'random'"),
]
#: (what stands for nodes: 4 and after it, exit code, (line, column), part of what is said)
SIZES = [
    ("", 2, (1, 1), "'nodes' is missing (a whole number, between 1 and 16777216)"),
    ("nodes: 0\n", 2, (4, 8), "'nodes' must be between 1 and 16777216, not 0"),
    ("nodes: 1.5\n", 2, (4, 8), "'nodes' must be a whole number, not 1.5"),
    ("nodes: 4n\n", 2, (4, 8), "'nodes' must be a plain whole number, not a multiple of n (4n)"),
    ("nodes: 16777216\n", 0, (4, 8), ""),
    ("nodes: 16777217\n", 2, (4, 8), "'nodes' must be between 1 and 16777216, not 16777217"),
    ("nodes: 1e9\n", 2, (4, 8), "'nodes' must be between 1 and 16777216, not 1e9"),
    ("nodes: 16777216\nqueries: 16\n", 0, (4, 8), ""),
    ("nodes: 16777216\nqueries: 17\n", 2, (5, 10), "that makes 2.85e+08 queries a second (at most 2^28)"),
    ("nodes: 1000\nqueries: 1e6\n", 2, (5, 10), "that makes 1e+09 queries a second (at most 2^28)"),
    ("nodes: 16777216\nbalancer: {log-vs: {count: 63}}\n", 0, (4, 8), ""),
    ("nodes: 16777216\nbalancer: {log-vs: {count: 64}}\n", 2, (4, 8), "that makes up to 1073741824 virtual servers (allowed: "),
]
#: Tables of fingers for 10^9 virtual servers: no machine has that much.
TOO_LARGE = "nodes: 16777216\nbalancer: {log-vs: {count: 63}}\nrefresh: 2\n"


class Folder:
    def __init__(self, program, path):
        self.program, self.path = program, path
        self.passed = self.failed = 0
        for name, text in FILES.items():
            (path / name).write_bytes(text)

    def ends(self, *words, text, code, parts):
        """Whether a command on a job ends as it should, says all parts, and leaves nothing."""
        job = self.path / "job.yaml"
        job.write_text(text)
        before = sorted(os.listdir(self.path))
        done = subprocess.run(
            [self.program, *words], cwd=self.path, capture_output=True, text=True, timeout=120, check=False
        )
        left = [n for n in sorted(os.listdir(self.path)) if n not in before]
        said = done.stdout + done.stderr
        results = [n for n in left if code == 2 or n.endswith(".h5")]
        good = done.returncode == code and all(p in said for p in parts) and not results
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        if not good:
            print(f"FAILED: {text!r} ended with {done.returncode}, not {code} and {parts}; left {left}: {said[-500:]}")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        f = Folder(program, pathlib.Path(folder))
        sizes = [(HEAD.replace("nodes: 4\n", more), code, at, part) for more, code, at, part in SIZES]
        for text, code, at, part in [(HEAD + more, code, at, part) for more, code, at, part in CASES] + sizes:
            line, column = at if isinstance(at, tuple) else (LINE, at)
            parts = [f"job.yaml:{line}:{column}: ", part] if code else []
            f.ends("plan", "job.yaml", text=text, code=code, parts=parts)
            if code:
                f.ends("run", "job.yaml", "-o", "out.h5", text=text, code=code, parts=parts)
        large = HEAD.replace("nodes: 4\n", TOO_LARGE)
        f.ends("plan", "job.yaml", text=large, code=0, parts=["memory: "])
        f.ends("run", "job.yaml", "-o", "out.h5", "--threads", "1", text=large, code=1,
               parts=["potluck: out of memory: "])
    print(f"{f.passed} passed, {f.failed} failed")
    return int(f.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
