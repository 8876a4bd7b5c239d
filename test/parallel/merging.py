#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a job's replications, played apart and merged, give the bytes of one run.

usage: merging.py PROGRAM
"""
import argparse
import pathlib
import random
import re
import resource
import subprocess
import sys

import h5py
import numpy as np

import _dht_jobs
import _queue_jobs
from _common import Checks, Lab, digest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PLACES = """
title: parts
seed: 5
replications: 103
topology:
  - ring: {n: 101}
  - erdos-renyi: {n: 60, mean_degree: 4, connect: largest}
  - file: {path: net.edges}
policy: [pot, {unif-pot: {k: 2}}, one-choice]
keep: [rows, server-loads]
"""
EDGES = "".join(f"{i} {(i + step) % 30}\n" for i in range(30) for step in (1, 4))
SMALL = "title: small\nseed: {seed}\nreplications: {r}\ntopology: {{ring: {{n: {n}}}}}\npolicy: [pot, one-choice]\n"


def jobs():
    """Name -> (text, replications)."""
    means = PLACES.replace("[rows, server-loads]", "means").replace("103", "1000")
    found = {"rows": (PLACES, 103), "means": (means, 1000)}
    for name, text in (("laws", _queue_jobs.SERVICES), ("balancers", _dht_jobs.BALANCERS)):
        found[name] = (text, int(re.search(r"^replications: (\d+)", text, re.M)[1]))
    return found


def cuts(chance, most, parts):
    """Half-open ranges that make up 0 .. most, in any order."""
    ends = sorted(chance.sample(range(1, most), parts - 1))
    ranges = list(zip([0] + ends, ends + [most]))
    chance.shuffle(ranges)
    return ranges


def merge(lab, out, *files):
    words = [lab.program, "merge", str(out), *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def play_parts(checks, lab, job, ranges, what):
    """One file for each range, in layouts that differ."""
    layouts = [None, (1, 2), (2, 1), (3, 1)]
    files = []
    for i, (first, end) in enumerate(ranges):
        out = lab.fresh()
        code, _, err = lab.run(job, out, "--replications", f"{first}:{end}", layout=layouts[i % 4])
        if not checks.same(code, 0, f"{what}, {first}:{end}: exit code ({err.strip()})"):
            continue
        files.append(out)
        with h5py.File(out) as f:
            checks.same(set(f["replications"][:]), {end - first}, f"{what}, {first}:{end}: replications")
            whole = len(ranges) == 1
            checks.same(int(f.attrs["complete"]), int(whole), f"{what}, {first}:{end}: complete")
            if "replication" in f:
                same = np.array_equal(f["replication"][:], np.arange(first, end))
                checks.check(same, f"{what}, {first}:{end}: the axis is {f['replication'][:]}")
    return files


def unions(checks, lab):
    chance = random.Random(20261130)
    (lab.folder / "net.edges").write_text(EDGES)
    for name, (text, most) in jobs().items():
        job, once = lab.job(text, name), lab.fresh()
        code, _, err = lab.run(job, once)
        checks.same(code, 0, f"{name}: exit code ({err.strip()})")
        expected = digest(once)
        for parts in (2, 5) if name in ("rows", "means") else (3,):
            what = f"{name} in {parts} parts"
            files, all_ = play_parts(checks, lab, job, cuts(chance, most, parts), what), lab.fresh()
            code, err = merge(lab, all_, *files)
            checks.same(code, 0, f"{what}: exit code of merge ({err.strip()})")
            checks.check(digest(all_) == expected, f"{what}: merged to other bytes")
            # Some now, the rest by resuming, or in two steps.
            some = lab.fresh()
            code, err = merge(lab, some, *files[1:])
            checks.check(code == 0 and "not complete" in err, f"{what}, without one: {code}, {err.strip()}")
            with h5py.File(some) as f:
                checks.same(int(f.attrs["complete"]), 0, f"{what}, without one: complete")
            two = lab.fresh()
            merge(lab, two, some, files[0])
            checks.check(digest(two) == expected, f"{what}, in two steps: other bytes")
            code, _, err = lab.run(job, some, "--resume", layout=(2, 1))
            checks.check(code == 0 and digest(some) == expected, f"{what}, resumed: {code}, {err.strip()}")
            code, _, err = lab.run(job, files[0], "--resume")
            checks.check(digest(files[0]) == expected, f"{what}: a part resumed as the whole job: {err.strip()}")
        code, err = merge(lab, lab.fresh(), once)
        checks.same(code, 0, f"{name}: merging one file ({err.strip()})")
        code, _, err = lab.run(job, lab.fresh(), "--replications", f"0:{most}")
        checks.check(code == 0 and digest(lab.folder / f"out{lab.number}.h5") == expected, f"{name}: the whole as a part")


def topping_up(checks, lab):
    """More replications next week are a part beyond the end."""
    job, once = lab.job(SMALL.format(seed=1, r=40, n=50), "week"), lab.fresh()
    lab.run(job, once, "-r", 100)
    first, second, all_ = lab.fresh(), lab.fresh(), lab.fresh()
    lab.run(job, first)
    code, _, err = lab.run(job, second, "--replications", "40:100")
    checks.same(code, 0, f"a part beyond the end: exit code ({err.strip()})")
    for files in ((first, second), (second, first)):
        merge(lab, all_, *files)
        checks.check(digest(all_) == digest(once), "a part beyond the end: other bytes than -r 100")
        all_.unlink()
    code, _, err = lab.run(job, first, "--resume", "--replications", "70:100")
    checks.same(code, 0, f"a part added to a file: exit code ({err.strip()})")
    with h5py.File(first) as f:
        checks.same(f["max_load"].shape[1], 100, "a part added to a file: its axis")
        checks.same(f["state/spans"][:].tolist(), [[p, a, b] for p in (0, 1) for a, b in ((0, 40), (70, 100))], "its ranges")
    lab.run(job, first, "--resume", "-r", 100)
    checks.check(digest(first) == digest(once), "a part added to a file, then all: other bytes")


def refused(checks, lab, words, files, what):
    out = lab.fresh()
    code, err = merge(lab, out, *files)
    checks.same(code, 2, f"{what}: exit code ({err.strip()})")
    checks.check(not out.exists() and not pathlib.Path(f"{out}.lock").exists(), f"{what}: something was written")
    checks.check("Traceback" not in err and all(w in err for w in words), f"{what}: {err.strip()}")


def refusals(checks, lab):
    job = lab.job(SMALL.format(seed=1, r=40, n=50), "refused")
    part = {}
    for first, end in ((0, 20), (15, 40), (20, 40)):
        part[first] = lab.fresh()
        lab.run(job, part[first], "--replications", f"{first}:{end}")
    others = {}
    for name, text in (
        ("seed", SMALL.format(seed=2, r=40, n=50)),
        ("size", SMALL.format(seed=1, r=40, n=51)),
        ("rule", SMALL.format(seed=1, r="{min: 30, max: 40, until: {max_load: 0.0001}}", n=50)),
    ):
        others[name] = lab.fresh()
        lab.run(lab.job(text, f"other-{name}"), others[name], *([] if name == "rule" else ["--replications", "20:40"]))
    refused(checks, lab, ["replications 15 to 19 of point 0", str(part[0]), str(part[15])], [part[0], part[15]], "an overlap")
    refused(checks, lab, [str(part[0])], [part[0], part[0]], "the same file twice")
    refused(checks, lab, ["another job", "seed: 2", "seed: 1"], [part[0], others["seed"]], "another seed")
    refused(checks, lab, ["another job", "51"], [part[0], others["size"]], "another size")
    refused(checks, lab, ["stopping rule"], [part[0], others["rule"]], "a stopping rule")
    refused(checks, lab, ["nowhere.h5"], [part[0], lab.folder / "nowhere.h5"], "a missing file")
    broken = lab.fresh()
    broken.write_bytes(part[20].read_bytes()[:-40])
    refused(checks, lab, [str(broken)], [part[0], broken], "a damaged file")
    kept, before = lab.fresh(), part[0].read_bytes()
    kept.write_bytes(before)
    code, err = merge(lab, kept, part[0], part[20])
    checks.check(code == 2 and "exists" in err and kept.read_bytes() == before, f"an existing file: {code}, {err.strip()}")
    code, err = merge(lab, kept, "--force", kept, part[20])
    checks.check(code == 0 and "not complete" not in err, f"--force over an input: {code}, {err.strip()}")
    for options, text, words in (
        (["--replications", "0:5"], SMALL.format(seed=1, r="{min: 30, max: 40, until: {cost: 1}}", n=50), ["stopping rule", "-r N"]),
        (["--replications", "0:5"], SMALL.format(seed=1, r=9, n=50).replace("seed: 1\n", ""), ["no seed"]),
    ):
        out = lab.fresh()
        code, _, err = lab.run(lab.job(text, "bad"), out, *options)
        checks.check(code == 2 and not out.exists() and all(w in err for w in words), f"{words}: {code}, {err.strip()}")


def elsewhere(checks, lab):
    """The job's own files are found beside the results or in the current folder, or named."""
    apart = lab.folder / "apart"
    apart.mkdir()
    (lab.folder / "net.edges").write_text(EDGES)
    job = lab.job("seed: 3\nreplications: 20\ntopology: {file: {path: net.edges}}\npolicy: pot\n", "net")
    once, files = lab.fresh(), [apart / "a.h5", apart / "b.h5"]
    lab.run(job, once)
    for out, part in zip(files, ("0:7", "7:20")):
        lab.run(job, out, "--replications", part)
    out = lab.fresh()
    for folder, works in ((apart, False), (lab.folder, True)):
        words = [lab.program, "merge", str(out), *map(str, files)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        checks.same(done.returncode, 0 if works else 2, f"merge in {folder}: {done.stderr.strip()}")
        checks.check(works or "net.edges" in done.stderr, f"merge without the graph: {done.stderr.strip()}")
    checks.check(out.exists() and digest(out) == digest(once), "a job with a file: other bytes")


def far_away(checks, lab):
    """A part takes memory for itself, not for what comes before it."""
    job, out = lab.job(SMALL.format(seed=1, r=40, n=50), "far"), lab.fresh()
    how = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))}
    code, _, err = lab.run(job, out, "--replications", "4294967290:4294967295", "--threads", "1", **how)
    checks.same(code, 0, f"the last replications there are: exit code ({err.strip()})")
    with h5py.File(out) as f:
        checks.same(f["replication"][:].tolist(), list(range(4294967290, 4294967295)), "the last replications there are")
        checks.check(not np.isnan(f["max_load"][:]).any(), "the last replications there are: rows")
    code, _, err = lab.run(job, out, "--resume", "--replications", "4294967280:4294967290", "-r", 4294967295, **how)
    checks.check(code == 0, f"some before them: {code}, {err.strip()}")
    with h5py.File(out) as f:
        checks.same(f["max_load"].shape[1], 15, "some before them: rows")
        checks.check(not np.isnan(f["max_load"][:]).any(), "some before them: rows")


def as_in_the_readme(checks, lab):
    """The commands of README, "Long runs", in their order."""
    text = (ROOT / "README.md").read_text().split("## Long runs")[1].split("\n## ")[0]
    lines = re.findall(r"^    potluck (.*?)(?: *#.*)?$", text, re.M)
    folder = lab.folder / "readme"
    folder.mkdir()
    (folder / "job.yaml").write_text(SMALL.format(seed=8, r=1000, n=50))
    checks.check(len(lines) == 6, f"README has {len(lines)} commands for long runs")
    for line in lines:
        done = subprocess.run([lab.program, *line.split()], cwd=folder, capture_output=True, text=True, check=False)
        checks.same(done.returncode, 0, f"potluck {line}: {done.stderr.strip()}")
    once = lab.fresh()
    lab.run(folder / "job.yaml", once)
    checks.same(digest(folder / "all.h5"), digest(once), "README: parts and one run")
    lab.run(folder / "job.yaml", once, "--force", "-r", 5000)
    checks.same(digest(folder / "out.h5"), digest(once), "README: more replications and one run")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    arguments = parser.parse_args()
    checks = Checks()
    with Lab(arguments.program) as lab:
        for part in (unions, topping_up, refusals, elsewhere, far_away, as_in_the_readme):
            part(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
