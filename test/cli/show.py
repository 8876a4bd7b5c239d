#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`potluck show`, held against what h5py reads of the same file: tables, histograms, --by, CSV, JSON; files of every
model, complete, partial, damaged.

usage: show.py PROGRAM
"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

JOBS = {
    "balls": "model: balls\nreplications: 60\ntopology: {ring: {n: [40, 90]}}\n"
             "policy: [one-choice, pot, {unif-pot: {k: [1, 3]}}]\nballs: [1n, 4n]\n",
    "queue": "model: queue\nreplications: 12\ntopology: {ring: {n: 20}}\npolicy: [pot, one-choice]\n"
             "lambda: [0.5, 0.8]\nhorizon: 200n\n",
    "dht": "model: dht\nreplications: 3\nnodes: 64\nbalancer: [none, transfer]\nqueries: 1\nduration: 60\n"
           "balance_from: 10\n",
    "means": "model: balls\nreplications: 40\ntopology: {complete: {n: 30}}\npolicy: {choices: {d: [2, 3]}}\n"
             "keep: means\n",
    "one": "model: balls\nreplications: 1\ntopology: {complete: {n: 1}}\npolicy: one-choice\n",
}
BLOCKS = "▏▎▍▌▋▊▉█"
passed = failed = 0


def check(name, good, seen=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {name}: {seen}")


def show(program, *arguments):
    return subprocess.run([program, "show", *map(str, arguments)], capture_output=True, text=True, check=False)


def names_of_histograms(file):
    return [name for name, d in file.items()
            if isinstance(d, h5py.Dataset) and d.ndim == 2 and d.dtype.kind in "iu" and "point" in file
            and len(d.dims) > 1 and f"{axis(d)}_upper" in file]


def axis(dataset):
    scales = dataset.dims[1].values()
    return scales[0].name.lstrip("/") if scales else ""


def tables(program, path, file):
    """CSV and JSON are the columns of the file; people see each point."""
    points = len(file["point"])
    done = show(program, path, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check(f"{path.name}: a line for each point", len(rows) == points, done.stderr)
    data = json.loads(show(program, path, "--json").stdout)
    for name, dataset in file.items():
        if not isinstance(dataset, h5py.Dataset) or dataset.shape != (points,) or dataset.dtype.kind not in "iuf":
            continue
        if name != "point" and [s.name for s in dataset.dims[0].values()] != ["/point"]:
            continue
        value = dataset[:].astype(float)
        told = np.array([float(row[name]) if row[name] else np.nan for row in rows])
        same = np.array([np.nan if entry[name] is None else float(entry[name]) for entry in data])
        check(f"{path.name}: {name}", np.array_equal(told, value, equal_nan=True) and
              np.array_equal(same, value, equal_nan=True), (told, value))
    done = show(program, path)
    lines = done.stdout.splitlines()
    check(f"{path.name}: a table", done.returncode == 0 and len(lines) == points + 5, done.stdout)
    check(f"{path.name}: narrow enough", max(map(len, lines[2:-2])) <= 110 + 20, max(map(len, lines)))
    check(f"{path.name}: small pictures", all(re.search("[▁▂▃▄▅▆▇█]", line) for line in lines[3:-2]), lines[3])


def histograms(program, path, file):
    names = names_of_histograms(file)
    check(f"{path.name}: has histograms", names)
    for name in names:
        count = file[name][:].astype(float)
        low = file[axis(file[name])][:].astype(float)
        done = show(program, path, "--histogram", name, "--csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        check(f"{path.name} {name}: CSV", done.returncode == 0 and (rows or not count.any()), done.stderr)
        data = json.loads(show(program, path, "--histogram", name, "--json").stdout)
        check(f"{path.name} {name}: JSON has as many", len(data) == len(rows), len(data))
        seen = np.zeros_like(count)
        for row, entry in zip(rows, data):
            bin_ = int(np.searchsorted(low, float(row[axis(file[name])])))
            seen[int(row["point"]), bin_] = float(row[name])
            total = count[int(row["point"])].sum()
            good = not total or np.isclose(float(row["fraction"]), float(row[name]) / total, rtol=1e-12)
            if not good or float(entry[name]) != float(row[name]):
                check(f"{path.name} {name}: fraction", False, row)
        check(f"{path.name} {name}: counts", np.array_equal(seen, count))
        people = show(program, path, "--histogram", name)
        check(f"{path.name} {name}: bars", people.returncode == 0 and
              (not count.any() or any(c in people.stdout for c in BLOCKS)), people.stderr)
        longest = max((line.count("█") for line in people.stdout.splitlines()), default=0)
        check(f"{path.name} {name}: the most frequent has the longest bar", longest == 40 or not count.any(), longest)


def order(program, path):
    lines = show(program, path, "--by", "k,n", "--csv").stdout.splitlines()
    check("--by leads", lines[0].startswith("k,n,point"), lines[0])
    keys = [tuple(float(x or "inf") for x in line.split(",")[:2]) for line in lines[1:]]
    check("--by sorts", keys == sorted(keys), keys)
    labels = re.findall(r"^ring.*\(", show(program, path, "--by", "balls", "--histogram", "load_count").stdout, re.M)
    check("--by sorts histograms", labels == sorted(labels, key=lambda x: int(re.search(r"balls=(\d+)", x)[1])), labels)


def refusals(program, path, folder):
    """One sentence, exit code 2, nothing on standard output."""
    whole = path.read_bytes()
    cases = {"empty": b"", "text": b"model: balls\n", "signature": whole[:8], "zeros": whole[:8] + bytes(4000)}
    cases |= {f"cut{i}": whole[: len(whole) * i // 7] for i in range(1, 7)} | {"short": whole[:-1], "long": whole + b"x"}
    for i in range(1, 12):
        at = len(whole) * i // 12
        cases[f"flip{i}"] = whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:]
    for i, (name, data) in enumerate(cases.items()):
        broken = folder / f"{name}.h5"
        broken.write_bytes(data)
        more = ([], ["--csv"], ["--histogram", "load_count"])[i % 3]
        done = show(program, broken, *more)
        good = done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1
        check(f"{name} {more}", good and name in done.stderr, (done.returncode, done.stderr))
    for arguments, words in (
        (["--histogram", "load_cuont"], ["load_cuont", "load_count"]),
        (["--histogram", "cost"], ["cost", "hop_count"]),
        (["--histogram", ""], ["load_count"]),
        (["--by", "polcy"], ["polcy", "policy"]),
    ):
        done = show(program, path, *arguments)
        good = done.returncode == 2 and not done.stdout and all(word in done.stderr for word in words)
        check(f"{arguments} is refused", good, done.stderr)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="potluck-test-") as name:
        folder = pathlib.Path(name)
        for job, text in JOBS.items():
            (folder / f"{job}.yaml").write_text(f"seed: 5\n{text}")
            more = ["--replications", "3:9"] if job == "queue" else []
            command = [program, "run", folder / f"{job}.yaml", "-o", folder / f"{job}.h5", "--progress", "none", *more]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            with h5py.File(folder / f"{job}.h5") as file:
                tables(program, folder / f"{job}.h5", file)
                histograms(program, folder / f"{job}.h5", file)
        check("a part says so", "incomplete" in show(program, folder / "queue.h5").stdout)
        order(program, folder / "balls.h5")
        refusals(program, folder / "balls.h5", folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
