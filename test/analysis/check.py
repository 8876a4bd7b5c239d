# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 -m potluck check: honest files of every model agree, planted errors are caught, damage is
named.

    python3 check.py PROGRAM

False alarms: each honest file raises one with probability 1e-4; seeds are fixed.
"""
import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import potluck  # noqa: E402
import xarray as xr  # noqa: E402
from potluck import check as checks  # noqa: E402
from potluck import check_points, commands, naming, theory  # noqa: E402

#: name: (job, words after `run`); most with several axes. Seeds are added.
GRAPHS = """model: balls
replications: 100
topology:
  - ring: {n: [6, 300]}
  - star: {n: 9}
  - tree: {n: 15, children: 2}
policy:
  - pot
  - one-choice
  - unif-pot: {k: [1, 3], self: excluded}
  - unif-pot: {k: 2, self: included}
  - invsq-pot: {k: 3}
  - choices: {d: 3, distinct: true}
  - left: {d: 2}
  - one-plus-beta: {beta: 0.5}
  - edge
balls: 1n
ties: [fair, origin]
baseline: pot
"""
RANDOM = """model: balls
replications: 60
topology:
  - erdos-renyi: {n: 40, mean_degree: 5, connect: [any, largest]}
  - geometric: {n: 60, radius: 0.2, torus: true}
  - regular: {n: 20, degree: 3, connect: redraw}
  - barabasi-albert: {n: 30, m: 1, graphs: [per-replication, per-point]}
  - named: {name: petersen}
policy: [one-choice, {unif-pot: {k: [1, 2]}}, edge]
"""
POINTS = """model: balls
replications: 60
topology:
  - plane: {n: [100, 225], torus: [true, false]}
  - plane: {n: 100, servers: grid, torus: true}
policy: [nearest, spot, pot, {choices: {d: 2}}, {unif-pot: {k: 3}}, {points: {d: 2}}]
balls: [1n, 3n]
"""
MANY = """model: balls
replications: 40
topology: {ring: {n: 9}}
policy: pot
balls: 4n
ties: origin
"""
ARCS = """model: balls
replications: 60
topology: {arcs: {n: [30, 100], virtual: [1, 4]}}
policy: [nearest, spot, {points: {d: 2}}, {bounded: {epsilon: 0.3}}]
balls: [1n, 3n]
ties: [fair, smaller-arc]
"""
OCCUPANCY = """model: balls
replications: 40
method: occupancy
topology: {complete: {n: [50, 5000]}}
policy: [one-choice, {choices: {d: [2, 3]}}, {one-plus-beta: {beta: 0.3}}]
balls: [1n, 4n]
"""
QUEUES = """model: queue
replications: 40
topology: {ring: {n: 6}}
policy: [pot, one-choice, {unif-pot: {k: 1}}, {choices: {d: 2}}, jsq, least-work]
lambda: 0.5
service: [exponential, deterministic]
ties: [fair, origin]
horizon: 1000n
baseline: pot
"""
ROUTED = """model: queue
replications: 25
topology: {complete: {n: 3}}
policy:
  - round-robin: {scope: central}
  - round-robin: {scope: distributed, targets: [all, others]}
  - permuted
  - block: {size: 2}
  - random
  - random: {shares: [0.5, 0.3, 0.2]}
lambda: 0.5
service: [exponential, deterministic]
failures:
  - none
  - alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 2}}}
  - alternating: {up: {exponential: {mean: 10}}, down: {deterministic: {mean: 2}}, while_idle: false}
warmup: {time: 1000}
horizon: 2000n
baseline: random
"""
STREAMS = """model: queue
replications: 30
topology: {ring: {n: 6}}
policy: [random, {unif-pot: {k: 1}}]
lambda: 0.5
arrivals: [deterministic, {batch: {size: 3}}, {mmpp: {rates: [1, 2], switch: 0.5}}]
arrival_scope: [server, total]
service: [exponential, {lognormal: {scv: 2}}, {pareto: {shape: 2.5}}]
redirectable: 1
warmup: {time: 200}
horizon: {time: 900}
"""
UNEQUAL = """model: queue
replications: 30
topology: {complete: {n: 4}}
policy: [random, pot, {random: {shares: [0.1, 0.2, 0.3, 0.4]}}]
lambda: 0.3
arrival_rates: [1, 2, 1, 0]
service_rates: [1, 2]
service_mean: 0.5
horizon: 200n
"""
TRANSIENT = """model: queue
replications: 200
topology: {complete: {n: 2}}
policy: [{sequence: {servers: [0, 1, 0, 1, 1]}}, permuted, random]
lambda: 0.8
transient: {jobs: 5, grid: [0.5, 1, 2]}
"""
RINGS = """model: dht
replications: 25
nodes: 32
lifetime: [unlimited, {exponential: {mean: 10}}, {lomax: {shape: 2.5, mean: 200}}]
balancer: [none, log-vs, {k-choices: {kappa: 4}}, transfer, threshold]
destinations: {zipf: {alpha: 1.2, count: 50}}
duration: 60
record_from: 10
balance_from: 20
"""
HOPS = """model: dht
replications: 30
nodes: 16
ids: [random, equal]
routing: [fingers, one-hop]
charge: delivery
capacity: [3, 1000000000]
queries: 2
duration: 20
record_from: 0
balancer: [none, {log-vs: {count: 2}}]
"""
HARNESS = "model: harness\nreplications: 10\nmilliseconds: 0\nbins: 4\n"
JOBS = {
    "graphs": GRAPHS, "many": MANY, "random": RANDOM, "points": POINTS, "arcs": ARCS, "occupancy": OCCUPANCY,
    "queues": QUEUES, "routed": ROUTED, "streams": STREAMS, "unequal": UNEQUAL,
    "transient": TRANSIENT, "rings": RINGS, "hops": HOPS, "harness": HARNESS,
}
#: A job in which errors are planted.
BALLS = """model: balls
replications: 200
topology: {ring: {n: [100, 200]}}
policy: [pot, one-choice, {unif-pot: {k: [1, 2, 5]}}, {invsq-pot: {k: 5}}]
baseline: pot
"""
DYNAMIC = """model: queue
replications: 60
topology: {ring: {n: [30, 50]}}
policy: [pot, one-choice, {unif-pot: {k: [1, 2]}}]
lambda: [0.5, 0.7]
horizon: 400n
baseline: pot
"""
passed = failed = 0


def expect(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


class Lab:
    """Plays jobs into a folder."""

    def __init__(self, program: str, folder: pathlib.Path) -> None:
        self.program, self.folder = program, folder

    def play(self, name: str, text: str, *words: str, seed: int = 1) -> pathlib.Path:
        job, out = self.folder / f"{name}.yaml", self.folder / f"{name}.h5"
        job.write_text(f"seed: {seed}\n{text}")
        command = [self.program, "run", job, "-o", out, "--force", "--progress", "none", *words]
        done = subprocess.run(
            list(map(str, command)), check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr[-400:]}")
        return out

    def copy(self, source: pathlib.Path, name: str = "planted") -> pathlib.Path:
        return pathlib.Path(shutil.copy(source, self.folder / f"{name}.h5"))


def command(*words: object) -> tuple[int, str, str]:
    """Exit code, output and complaints of `python3 -m potluck`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = commands.main(list(map(str, words)))
    return code, out.getvalue(), err.getvalue()


def agrees(name: str, path):
    """The table of an honest file."""
    try:
        table = checks.check(path if isinstance(path, xr.Dataset) else opened(path))
    except Exception as reason:  # a traceback is a failure, not the end
        expect(f"{name}: no error", False, repr(reason))
        return None
    wrong = checks.failed(table)
    expect(f"{name}: agrees", not len(wrong), "\n" + checks.text(wrong.head(5)))
    return table


# -------------------------------------------------------------------------------------------------
# Honest files


def honest(lab: Lab) -> None:
    tables = {}
    for name, text in JOBS.items():
        tables[name] = agrees(name, lab.play(name, text, seed=len(name)))
    for name in ("graphs", "queues"):
        text = JOBS[name]
        agrees(f"{name}, another seed", lab.play("again", text, seed=11))
    for name in ("random", "points", "routed"):
        agrees(f"{name}, means", lab.play("means", JOBS[name] + "keep: means\n", "-r", "4"))
    for name in ("arcs", "unequal"):
        agrees(f"{name}, once", lab.play("once", JOBS[name], "-r", "1"))
        agrees(f"{name}, part", lab.play("part", JOBS[name], "--replications", "7:20"))
    quantities = {q.split(" ")[0] for t in tables.values() for q in t["quantity"]}
    missing = {f.quantity for f in theory.FORMULAS} - quantities
    expect("every quantity of a formula is met", not missing, missing)
    seen = {(f, k) for t in tables.values() for f, k in zip(t["formula"], t["kind"])}
    missing = {(f.name, f.kind) for f in theory.FORMULAS} - seen
    expect("every formula is met", not missing, missing)
    few = {t.attrs["points"] for t in tables.values()}
    expect("every point is counted", min(few) >= 1, few)


def interrupted(lab: Lab) -> None:
    """A snapshot of a run that was stopped, with points that have nothing yet."""
    job, out = lab.folder / "stopped.yaml", lab.folder / "stopped.h5"
    job.write_text("seed: 3\n" + GRAPHS.replace("replications: 100", "replications: 2000000"))
    words = [lab.program, "run", job, "-o", out, "--max-time", "1", "--progress", "none"]
    done = subprocess.run(list(map(str, words)), check=False, capture_output=True, text=True)
    expect("a run that is stopped says so", done.returncode == 75, done.returncode)
    with potluck.open(out) as ds:
        counts = ds["replications"].values
    table = agrees(f"stopped, {counts.min()} to {counts.max()} replications", out)
    expect("the rest is no point of a formula", table is not None and len(table) > 0)


def together(lab: Lab) -> None:
    """A Dataset in memory; files put together."""
    path = lab.play("one", BALLS, "-r", "30")
    with potluck.open(path) as ds:
        table = checks.check(ds.load())
    expect("a Dataset is checked as its file", table.equals(checks.check(path)[1:].reset_index(drop=True)))
    both = potluck.concat([path, lab.play("two", BALLS.replace("100, 200", "50, 70"), "-r", "30")])
    wrong = checks.failed(checks.check(both))
    expect("files put together", not len(wrong), "\n" + checks.text(wrong.head(5)))
    expect("columns", tuple(table) == checks.COLUMNS, list(table))
    words = checks.summary(table)
    expect("one sentence", words.endswith(".") and "\n" not in words and "0.0001" in words, words)


# -------------------------------------------------------------------------------------------------
# Planted errors


class Plant:
    """A file in memory, whose variables may be altered."""

    def __init__(self, ds: xr.Dataset) -> None:
        self.ds, self.attrs = ds, ds.attrs

    def __getitem__(self, name: str) -> np.ndarray:
        return self.ds[name].values

    def names(self, result: bool) -> list[str]:
        """Variables with a row for each point: results, or parameters."""
        found = [str(n) for n in self.ds.variables if self.ds[n].dims[:1] == ("point",)]
        own = [n for n in found if n != "point"]
        return [n for n in own if (self.ds[n].ndim > 1 or naming.is_result(n)) == result]


def swap(f: Plant, names: list[str], i: int, j: int) -> None:
    for name in names:
        f[name][[i, j]] = f[name][[j, i]]


def opened(path: pathlib.Path) -> xr.Dataset:
    with potluck.open(path) as ds:
        return ds.load()


def caught(name: str, source: xr.Dataset, plant, quantity: str = "") -> None:
    """A planted error makes the check fail, and at a place that tells."""
    ds = source.copy(deep=True)
    ds.attrs = dict(source.attrs)
    plant(Plant(ds))
    try:
        wrong = checks.failed(checks.check(ds))
    except potluck.Damaged as reason:
        expect(f"{name}: caught", False, reason)
        return
    expect(f"{name}: caught", len(wrong) > 0)
    if quantity:
        found = set(wrong["quantity"].str.split(" ").str[0])
        expect(f"{name}: at {quantity}", quantity in found, found)


def scale(*names: str, by: float = 1.01):
    def plant(f: Plant) -> None:
        for name in names:
            f[name][...] = f[name][...] * by

    return plant


def shift(name: str, point: int, at: int, count: int = 40):
    """Moves some counts one cell on, in the histogram and its batches."""

    def plant(f: Plant) -> None:
        moved = f[name][point]
        count_here = min(count, int(moved[at]))
        moved[at] -= count_here
        moved[at + 1] += count_here
        f[name][point] = moved

    return plant


def planted(lab: Lab) -> None:
    balls, queue = (opened(lab.play("planted", text)) for text in (BALLS, DYNAMIC))
    agrees("balls", balls)
    agrees("dynamic", queue)
    means, queue_means = (
        opened(lab.play("planted", text + "keep: means\n")) for text in (BALLS, DYNAMIC)
    )
    for source, which in ((balls, "balls"), (queue, "queue")):
        caught(f"{which}: costs 1 % off", source, scale("cost"), "mean_cost")
        caught(f"{which}: mean costs 1 % off", source, scale("mean_cost"), "cost")
        both = scale("cost", "mean_cost", "se_cost")
        caught(f"{which}: costs and their means 1 % off", source, both, "cost")
        caught(f"{which}: moved 1 % off", source, scale("moved", "mean_moved"), "moved")
    for source, which in ((means, "balls"), (queue_means, "queue")):
        caught(f"{which}, means: costs 1 % off", source, scale("mean_cost", "se_cost"), "cost")
    everywhere = scale("response", "mean_response", "se_response")
    caught("responses 1 % off", queue, everywhere, "queue_length")
    caught("hop_count altered", balls, shift("hop_count", 4, 1), "cost")
    caught("load_count shifted", balls, shift("load_count", 2, 1), "load_count")
    caught("max_load_count shifted", balls, shift("max_load_count", 2, 3, 1), "max_load")

    def one_row(f: Plant) -> None:
        f["cost"][2, 17] = f["cost"][2, 17] + 1e-6

    caught("one row altered by 1e-6", balls, one_row, "mean_cost")
    caught("one row of a queue altered by 1e-6", queue, one_row, "mean_cost")
    swaps(balls, queue, means, queue_means)
    ties(lab)


def swaps(balls, queue, means, queue_means) -> None:
    """All data of two points exchanged: another n, policy, k, lambda."""
    table, dynamic = potluck.frame(balls), potluck.frame(queue)

    def at(t, **wanted) -> int:
        keep = np.all([t[k] == v for k, v in wanted.items()], axis=0)
        return int(t.index[keep][0])

    near = {"policy": "unif-pot", "n": 100}
    pairs = {
        "policies": (at(table, policy="pot", n=100), at(table, policy="one-choice", n=100)),
        "near and far": (at(table, policy="pot", n=100), at(table, k=1.0, **near)),
        "k": (at(table, k=1.0, **near), at(table, k=2.0, **near)),
        "weights": (at(table, k=5.0, **near), at(table, policy="invsq-pot", n=100)),
        "n": (at(table, k=1.0, **near), at(table, policy="unif-pot", k=1.0, n=200)),
    }
    of_queues = {"policy": "pot", "n": 30}
    others = {
        "lambda": (at(dynamic, **of_queues, **{"lambda": 0.5}), at(dynamic, **of_queues, **{"lambda": 0.7})),
        "policies": (at(dynamic, **of_queues, **{"lambda": 0.5}),
                     at(dynamic, policy="unif-pot", k=1.0, n=30, **{"lambda": 0.5})),
        "n": (at(dynamic, **of_queues, **{"lambda": 0.5}),
              at(dynamic, policy="pot", n=50, **{"lambda": 0.5})),
        "k": (at(dynamic, policy="unif-pot", k=1.0, n=30, **{"lambda": 0.7}),
              at(dynamic, policy="unif-pot", k=2.0, n=30, **{"lambda": 0.7})),
    }
    for which, sources, found in (("balls", (balls, means), pairs), ("queue", (queue, queue_means), others)):
        for source, kept in zip(sources, ("rows", "means")):
            for what, (i, j) in found.items():
                name = f"{which}, {kept}: {what} exchanged"
                caught(name, source, lambda f, i=i, j=j: swap(f, f.names(True), i, j))
    for what, (i, j) in list(pairs.items())[1:4:2]:
        caught(f"labels exchanged: {what}", balls, lambda f, i=i, j=j: swap(f, ["label"], i, j), "")
        names = "parameters exchanged"
        caught(f"{names}: {what}", balls, lambda f, i=i, j=j: swap(f, f.names(False), i, j))
        everything = "points exchanged with all they have"
        caught(f"{everything}: {what}", balls,
               lambda f, i=i, j=j: swap(f, f.names(True) + f.names(False), i, j))


def ties(lab: Lab) -> None:
    """A run with another tie rule than it says."""
    rows = {"balls": BALLS.replace("[100, 200]", "100"), "queue": DYNAMIC.replace("[30, 50]", "30")}
    for which, text in rows.items():
        for played, said in (("origin", "fair"), ("fair", "origin")):
            source = opened(lab.play("ties", text + f"ties: {played}\n"))
            agrees(f"{which}, ties: {played}", source)

            def plant(f: Plant, played=played, said=said) -> None:
                f["ties"][...] = said
                f.attrs["resolved"] = f.attrs["resolved"].replace(f"ties: {played}", f"ties: {said}")

            caught(f"{which}: ties: {played} that says {said}", source, plant, "moved")
    text = BALLS.replace("[100, 200]", "100") + "balls: 10n\n"
    source = opened(lab.play("ties", text))

    def heavy(f: Plant) -> None:
        f["ties"][...] = "origin"
        f.attrs["resolved"] = f.attrs["resolved"].replace("ties: fair", "ties: origin")

    caught("ten balls per server: ties: fair that says origin", source, heavy, "moved")


# -------------------------------------------------------------------------------------------------
# The command, and damage


def commands_of(lab: Lab) -> None:
    path = lab.play("small", BALLS, "-r", "30")
    code, out, err = command("check", path)
    expect("exit 0", code == 0 and not err, (code, err))
    expect("one last sentence", out.strip().splitlines()[-1].endswith("."), out[-200:])
    code, out, _ = command("check", path, "--all")
    expect("--all: every comparison", code == 0 and len(out.splitlines()) > 100, out[:200])
    code, out, _ = command("check", path, "--csv")
    heads = out.splitlines()[0].split(",")
    expect("--csv", code == 0 and heads == list(checks.COLUMNS), heads)
    wrong = lab.copy(path)
    with h5py.File(wrong, "r+") as f:
        f["cost"][...] = 1.01 * f["cost"][...]
    code, out, err = command("check", wrong)
    expect("exit 3", code == 3 and "DISAGREES" in out and not err, (code, err))
    expect("disagreements first", "DISAGREES" in out.splitlines()[1], out[:300])
    with contextlib.suppress(SystemExit):
        expect("a level of 2 is refused", command("check", path, "--level", "2")[0] == 2)
    entries = check_points.axes("topology:\n  - ring: {n: 3}\n  - line: {n: 4}\nballs: [1n, 10n]\n")
    expect("axes", entries == {"topology": ["ring: {n: 3}", "line: {n: 4}"], "balls": ["1n", "10n"]},
           entries)


def damage(lab: Lab) -> None:
    """One sentence, exit 2 and no traceback; where bytes are lost but the file still opens, 3."""
    path = lab.play("whole", BALLS, "-r", "30")
    whole = path.read_bytes()
    broken = lab.folder / "broken.h5"
    for share in (0.0, 0.0001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999):
        broken.write_bytes(whole[: int(share * len(whole))])
        code, out, err = command("check", broken)
        one = err.count("\n") == 1 and "Traceback" not in err and not out
        expect(f"cut off at {share:.2%}", code == 2 and one, (code, err))
    for share in (0.02, 0.2, 0.4, 0.6, 0.9):
        bad = bytearray(whole)
        start = int(share * len(whole))
        bad[start : start + 4096] = bytes(len(bad[start : start + 4096]))
        broken.write_bytes(bad)
        code, _, err = command("check", broken)
        fine = code in (0, 2, 3) and (code != 2 or err.count("\n") == 1)
        expect(f"zeros at {share:.0%}", fine, (code, err))
    for name in ("label", "replications", "load_count", "mean_cost", "se_cost", "cost", "policy",
                 "mean_max_load", "max_load_count"):
        bad_copy = lab.copy(path)
        with h5py.File(bad_copy, "r+") as f:
            del f[name]
        code, out, err = command("check", bad_copy)
        named = code == 2 and name in err and err.count("\n") == 1 and not out
        expect(f"without {name}", named, (code, err))
    bad_copy = lab.copy(path)
    with h5py.File(bad_copy, "r+") as f:
        del f.attrs["resolved"]
    code, _, err = command("check", bad_copy)
    expect("without the job", code == 2 and err.count("\n") == 1, (code, err))
    code, _, err = command("check", lab.folder / "nothing.h5")
    expect("no file", code == 2 and err.count("\n") == 1, (code, err))


def index() -> None:
    """The list of formulas itself."""
    table = theory.index()
    expect("all kinds", set(table["kind"]) == {"exact", "limit", "approximation", "bound"})
    expect("references and ranges", bool((table[["reference", "range"]] != "").all(axis=None)))
    bounds = [f.side for f in theory.FORMULAS if f.kind == "bound"]
    expect("bounds have a side", all(bounds) and len(bounds) >= 5, bounds)
    sided = [f.name for f in theory.FORMULAS if f.side and f.kind != "bound"]
    expect("nothing else has", not sided, sided)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(sys.argv[1], pathlib.Path(folder))
        index()
        honest(lab)
        interrupted(lab)
        together(lab)
        planted(lab)
        commands_of(lab)
        damage(lab)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
