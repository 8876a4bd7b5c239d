#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result file is a function of source, job and seed alone.

usage: identity.py PROGRAM [--clang PROGRAM] [--tier ci|verify]

One SHA-256 over ranks x threads, instruction sets, an emulated older processor, another compiler
(built here unless given) and memory limits; and what must differ differs, what must stay stays.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np

import _dht_jobs
import _queue_jobs
from _common import Checks, Lab, differing, digest, equal, until, wait

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAYOUTS = [(1, 1), (1, 2), (2, 1), (3, 2), (5, 1)]
ROWS = ["max_load", "min_load", "empty", "moved", "gap", "load_variance", "cost"]

# Prime sizes, unequal sides, an odd number of replications, both tie rules, every policy.
GRAPHS = """
title: identity
seed: 20261129
replications: 37
topology:
  - complete: {n: [1, 101]}
  - ring: {n: 101}
  - line: {n: 31}
  - grid: {sides: [[5, 7], [3, 2, 5]]}
  - torus: {sides: [[7, 11], [5, 2, 3]]}
  - hypercube: {dim: 6}
  - star: {n: 13}
  - tree: {n: 41, children: [2, 3]}
policy:
  - one-choice
  - choices: {d: [2, 3]}
  - pot
  - unif-pot: {k: [2, 1000]}
  - unif-pot: {k: 3, self: included}
  - invsq-pot: {k: [1, 3]}
  - one-plus-beta: {beta: 1/3}
balls: [1n, 3n]
ties: [fair, origin]
keep: [rows, server-loads]
"""
LARGER = """
title: policies that want more than one server; loads and replications in numbers
seed: 5
replications: 31
topology: [{complete: {n: 1009}}, {ring: {n: 997}}, {torus: {sides: 31x37}}, {grid: {sides: 29x41}}]
policy: [edge, {left: {d: [2, 7]}}, {choices: {d: [2, 5], distinct: true}}, {invsq-pot: {k: 40}}]
balls: [1n, 10007]
ties: [fair, origin]
"""
COUNTS = """
title: counts of servers by load
seed: 77
replications: 53
topology: {complete: {n: [2, 13, 1009]}}
policy: [one-choice, pot, {choices: {d: [2, 3]}}, {choices: {d: 2, distinct: true}},
         {one-plus-beta: {beta: 0.3}}]
balls: [1n, 7n]
method: [servers, occupancy]
"""
PRECISION = """
title: precise enough
seed: 11
replications: {min: 30, max: 2000, until: {max_load: 1%, cost: 0.02}}
topology: [{ring: {n: 499}}, {torus: {sides: 13x17}}]
policy: [pot, {unif-pot: {k: [1, 4]}}, {invsq-pot: {k: 5}}, {choices: {d: 2}}]
balls: [1n, 5n]
ties: [fair, origin]
"""
LONG = """
title: one point, many ranges
seed: 3
replications: 30001
topology: {ring: {n: 1009}}
policy: {unif-pot: {k: 3}}
"""
# Neighbourhoods small and large, in one part and in several, drawn anew and fixed.
RANDOM = """
title: random graphs
seed: 8
replications: 23
topology:
  - erdos-renyi: {n: 151, mean_degree: 2, graphs: [per-replication, per-point]}
  - geometric: {n: 400, mean_degree: 6, torus: [true, false]}
  - power-law: {n: 211, mean_degree: 4}
  - watts-strogatz: {n: 101, neighbours: 2, rewire: 0.2}
  - regular: {n: 100, degree: 3}
policy: [one-choice, {unif-pot: {k: [1, 3, 50]}}, {unif-pot: {k: 2, self: included}}, {invsq-pot: {k: [2, 9]}}]
balls: [1n, 3n]
ties: [fair, origin]
keep: [rows, server-loads]
"""
CONNECTED = """
title: random graphs in one part
seed: 9
replications: 19
topology:
  - barabasi-albert: {n: 301, m: 2, graphs: [per-replication, per-point]}
  - erdos-renyi: {n: 199, mean_degree: 3, connect: largest}
  - geometric: {n: 150, mean_degree: 12, connect: redraw}
  - named: {name: petersen}
policy: [pot, edge, {choices: {d: [2, 3]}}, {left: {d: 3}}, {unif-pot: {k: [2, 4]}}, {invsq-pot: {k: 6}}]
balls: [1n, 500]
ties: [fair, origin]
"""
SAMPLED = CONNECTED.replace("balls: [1n, 500]", "balls: 3n\ndistances: {sampled: {origins: 40}}").replace(
    "edge, ", "")
LARGE = """
title: lists that do not fit everywhere
seed: 13
replications: 5
topology:
  - geometric: {n: 3000, mean_degree: 6}
  - barabasi-albert: {n: 2000, m: 2, graphs: [per-replication, per-point]}
  - tree: {n: 3000, children: 3}
policy: [{unif-pot: {k: [3, 9]}}, {invsq-pot: {k: 9}}]
balls: 2n
"""
PLACES = """
title: points on a plane
seed: 10
replications: 17
topology:
  - plane: {n: [1, 2, 131], torus: [true, false]}
  - plane: {n: 100, servers: grid, torus: true}
policy: [nearest, spot, pot, {points: {d: [2, 3]}}, {choices: {d: 2}}]
balls: [1n, 300]
ties: [fair, origin]
"""
NEAREST = PLACES.replace("n: [1, 2, 131]", "n: [12, 131]").replace(
    "[nearest,", "[{unif-pot: {k: [2, 3, 12]}}, {invsq-pot: {k: [2, 5]}}, nearest,")
CIRCLE = """
title: points on a circle
seed: 12
replications: 17
topology: {arcs: {n: [1, 2, 131], virtual: [1, 5]}}
policy: [nearest, {points: {d: [2, 3]}}, {bounded: {epsilon: [0, 0.25]}}]
balls: [1n, 300]
ties: [fair, origin, smaller-arc]
baseline: nearest
keep: [rows, share-sorted]
"""
JOBS = {
    "graphs": GRAPHS,
    "larger": LARGER,
    "counts": COUNTS,
    "precision": PRECISION,
    "long": LONG,
    "random": RANDOM,
    "connected": CONNECTED,
    "sampled": SAMPLED,
    "large": LARGE,
    "plane": NEAREST,
    "few": PLACES,
    "circle": CIRCLE,
} | _queue_jobs.JOBS | _dht_jobs.JOBS
# With so little that lists of neighbours and tables of distances do not fit, searches take their place.
TIGHT = {"large": "1M"}


def build_with_clang(lab):
    """The program made by clang from the same source; None with a reason when that is impossible."""
    if not shutil.which("clang"):
        return None, "clang is not installed"
    folder = lab.folder / "clang"
    environment = os.environ | {"CC": "clang"}
    for words in (["meson", "setup", str(folder), str(ROOT)], ["ninja", "-C", str(folder), "potluck"]):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, "clang cannot build it: " + " ".join(done.stdout.split()[-40:])
    return str(folder / "potluck"), ""


def levels(program):
    """The instruction sets that this processor has."""
    asked = ("baseline", "avx2", "avx512")
    command = [program, "list", "laws"]
    runs = {x: subprocess.run(command, env={**os.environ, "POTLUCK_ISA": x}, capture_output=True) for x in asked}
    return [x for x in asked if runs[x].returncode == 0]


def variants(lab, program_of_clang, name, layouts, dear):
    """(name, arguments of Lab.run) of every way to play a job; the dear ones, emulated and by clang level by level, on
    request.
    """
    if name in TIGHT:
        for threads in ("1", "2"):
            yield f"--memory {TIGHT[name]}, {threads} threads", {
                "options": ["--memory", TIGHT[name], "--threads", threads]}
    yield from ((f"{r} ranks x {t} threads", {"layout": (r, t)}) for r, t in layouts)
    yield "no mpirun, default threads", {}
    yield "no mpirun, 3 threads", {"options": ["--threads", "3"]}
    yield "--memory 64M", {"options": ["--memory", "64M", "--threads", "1"]}
    yield "--memory 8G", {"options": ["--memory", "8G", "--threads", "2"]}
    yield "frequent snapshots", {"options": ["--checkpoint", "0.01"]}
    for level in levels(lab.program):
        yield f"POTLUCK_ISA={level}", {"env": {"POTLUCK_ISA": level}}
    if dear and shutil.which("qemu-x86_64"):
        emulated = ["qemu-x86_64", "-cpu", "Nehalem", lab.program]
        yield "emulated Nehalem", {"program": emulated, "options": ["--threads", "2"]}
    if program_of_clang:
        yield "built by clang", {"program": program_of_clang}
        for level in levels(program_of_clang)[:2] if dear else ():
            how = {"program": program_of_clang, "env": {"POTLUCK_ISA": level}}
            yield f"built by clang, POTLUCK_ISA={level}", how


def one_digest(checks, lab, program_of_clang, tier):
    """Two jobs at a time: half of the time goes by while mpirun starts."""
    for name, text in (_queue_jobs.FILES | _dht_jobs.FILES).items():
        (lab.folder / name).write_text(text)

    def every_way(turn, name):
        job, reference, expected = lab.job(JOBS[name], name), None, None
        # In CI two layouts of ranks for each job, all in turn, and the dear ways for every third.
        layouts = LAYOUTS if tier == "verify" else [LAYOUTS[turn % 5], LAYOUTS[(turn + 3) % 5]]
        dear = tier == "verify" or turn % 3 == 0
        for how, arguments in variants(lab, program_of_clang, name, layouts, dear):
            arguments = dict(arguments)
            out = lab.fresh()
            code, _, err = lab.run(job, out, *arguments.pop("options", []), **arguments)
            if not checks.same(code, 0, f"{name}, {how}, exit code ({err.strip()})"):
                continue
            expected = expected or digest(out)
            if not checks.check(digest(out) == expected, f"{name}, {how}: other bytes"):
                with h5py.File(reference) as a, h5py.File(out) as b:
                    print(f"  datasets that differ: {differing(a, b)}")
            if reference is None:
                reference = out
            else:
                out.unlink()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(every_way, range(len(JOBS)), JOBS))


def play(checks, lab, text, *options, name="job"):
    out = lab.fresh()
    code, stdout, err = lab.run(lab.job(text, name), out, *options)
    checks.same(code, 0, f"exit code of job {name} {options} ({err.strip()})")
    return (h5py.File(out) if out.exists() else None), stdout


SMALL = """
seed: {seed}
replications: {replications}
topology: {{ring: {{n: [101, 103]}}}}
policy: [pot, {{unif-pot: {{k: {k}}}}}{more}]
ties: [fair, origin]
keep: {keep}
"""


def small(seed=1, replications=41, k="[1, 3]", more="", keep="rows"):
    return SMALL.format(seed=seed, replications=replications, k=k, more=more, keep=keep)


def settings(f):
    """What a point is, for each point of a file."""
    names = [f[v].asstr()[:] for v in ("topology", "policy", "ties")]
    numbers = [f[v][:] if v in f else np.full(len(f["n"]), np.nan) for v in ("n", "k")]
    return [tuple(str(column[i]) for column in names + numbers) for i in range(len(names[0]))]


def differences(checks, lab):
    one, _ = play(checks, lab, small(seed=1))
    two, _ = play(checks, lab, small(seed=2))
    for p in range(len(one["n"])):
        checks.check(not equal(one["load_variance"][p], two["load_variance"][p]), f"seeds 1 and 2 agree at point {p}")
        rows = {tuple(one[row][p, r] for row in ROWS) for r in range(41)}
        checks.check(len(rows) > 30, f"41 replications of point {p} have only {len(rows)} different rows")
    more, _ = play(checks, lab, small(seed=1, k="[1, 2, 3, 50]", more=", one-choice, {left: {d: 3}}"))
    place = {s: i for i, s in enumerate(settings(more))}
    for p, setting in enumerate(settings(one)):
        for row in ROWS:
            good = equal(one[row][p], more[row][place[setting]])
            checks.check(good, f"{row} of {setting} changed when axes grew")
    longer, _ = play(checks, lab, small(seed=1, replications=60))
    for row in ROWS:
        checks.check(equal(one[row][:], longer[row][:, :41]), f"{row} changed when replications grew")


def keep_means(checks, lab):
    for text, name in ((small(), "small"), (PRECISION, "precision")):
        rows, _ = play(checks, lab, text, name=name)
        with_means = text.replace("keep: rows\n", "keep: means\n") if "keep:" in text else text + "keep: means\n"
        means, _ = play(checks, lab, with_means, name=name + "-means")
        names = [f"{s}_{row}" for s in ("mean", "se") for row in ROWS]
        for variable in names + ["replications", "load_count", "hop_count", "load_fraction", "se_load_fraction"]:
            checks.check(variable in means and equal(rows[variable][:], means[variable][:]),
                         f"{name}: {variable} differs with keep: means")
        checks.check("max_load" not in means, f"{name}: keep: means has rows")
        count = rows["replications"][:]
        for p in range(len(count)):
            mean = rows["max_load"][p, :count[p]].mean()
            checks.check(abs(rows["mean_max_load"][p] - mean) < 1e-12 * mean, f"{name}: mean_max_load of point {p}")


def only(checks, lab):
    f, _ = play(checks, lab, small(), name="only")
    for point, replication in ((0, 0), (3, 17), (11, 40)):
        empty = lab.folder / f"only{point}"
        empty.mkdir()
        words = [lab.program, "run", str(lab.folder / "only.yaml"), "--only", f"{point}:{replication}"]
        done = subprocess.run(words, cwd=empty, capture_output=True, text=True, check=False)
        checks.same(done.returncode, 0, f"exit code of --only {point}:{replication} ({done.stderr.strip()})")
        for row in ROWS:
            printed = re.search(rf"^{row} +(\S+)", done.stdout, re.M)
            value = f[row][point, replication]
            checks.check(printed and float(printed[1]) == value,
                         f"--only {point}:{replication} prints {row} as {printed and printed[1]}, the file has {value!r}")
        left = sorted(p.name for p in empty.iterdir())
        checks.same(left, [], f"--only {point}:{replication} without -o leaves files")
    done = subprocess.run([lab.program, "run", str(lab.folder / "only.yaml"), "--only", "2", "-o",
                           str(lab.fresh())], capture_output=True, text=True, check=False)
    printed = re.search(r"^cost +(\S+) se", done.stdout, re.M)
    checks.check(printed and float(printed[1]) == f["mean_cost"][2], "--only 2 prints another mean cost than the file's")


def carried_on(checks, lab):
    """Queues and rings that are killed, or given fewer replications at first, end in the same bytes."""
    for name, text in (_queue_jobs.JOBS | _dht_jobs.JOBS).items():
        job, whole, killed, short = lab.job(text, name), lab.fresh(), lab.fresh(), lab.fresh()
        checks.same(lab.run(job, whole)[0], 0, f"{name}, exit code")
        process = lab.start(lab.command(job, killed, "--checkpoint", "0.001", "--threads", "1"))
        until(lambda: killed.exists() or process.poll() is not None)
        process.kill()
        wait(process)
        checks.same(lab.run(job, killed, "--resume")[0], 0, f"{name}, exit code of --resume after a kill")
        checks.check(digest(killed) == digest(whole), f"{name}, killed and resumed: other bytes")
        if "until:" in text:
            continue
        checks.same(lab.run(job, short, "-r", "3")[0], 0, f"{name}, exit code with -r 3")
        checks.same(lab.run(job, short, "--resume")[0], 0, f"{name}, exit code of --resume after -r 3")
        checks.check(digest(short) == digest(whole), f"{name}, 3 replications and then the others: other bytes")


def counts_on_the_command_line(checks, lab):
    a, _ = play(checks, lab, small(replications=41), name="r")
    b, _ = play(checks, lab, small(replications=7), "-r", "41", name="r")
    checks.same(differing(a, b) + differing(b, a), [], "-r 41 is not replications: 41, datasets")
    checks.same(a.attrs["resolved"], b.attrs["resolved"], "-r 41 in `resolved`")
    resolved = lab.job(a.attrs["resolved"], "resolved")
    out = lab.fresh()
    checks.same(lab.run(resolved, out)[0], 0, "exit code of a resolved job")
    with h5py.File(out) as c:
        checks.same(differing(a, c) + differing(c, a), [], "`resolved` is not the job, datasets")
        checks.same(c.attrs["resolved"], a.attrs["resolved"], "`resolved` of `resolved`")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--clang")
    parser.add_argument("--tier", choices=("ci", "verify"), default="ci")
    arguments = parser.parse_args()
    checks = Checks()
    with Lab(arguments.program) as lab:
        clang, why = (arguments.clang, "") if arguments.clang else build_with_clang(lab)
        checks.check(clang, why)
        versions = {subprocess.run([p, "--version"], capture_output=True, text=True, check=False).stdout
                    for p in (lab.program, clang) if p}
        if not checks.check(len(versions) == 1, f"the two builds are of different sources: {versions}"):
            clang = None
        one_digest(checks, lab, clang, arguments.tier)
        differences(checks, lab)
        keep_means(checks, lab)
        only(checks, lab)
        counts_on_the_command_line(checks, lab)
        carried_on(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
