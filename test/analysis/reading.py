# SPDX-License-Identifier: GPL-3.0-or-later
"""The public module: comparisons, distributions, tails, quantiles, files put together, damaged files.

    python3 reading.py PROGRAM

Numbers are held against plain loops over what h5py reads, intervals against files of known truth.
"""
import itertools
import os
import pathlib
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
from potluck import seal, whole  # noqa: E402
from scipy import stats  # noqa: E402

BALLS = """model: balls
seed: 11
replications: 240
topology: [{ring: {n: 60}}, {torus: {sides: 6x6}}]
policy: [one-choice, pot, {unif-pot: {k: [1, 4]}}, {unif-pot: {k: 2, self: included}}]
balls: [1n, 3n]
baseline: {unif-pot: {k: 1}}
"""
QUEUE = """model: queue
seed: 12
replications: 60
topology: {ring: {n: 12}}
policy: [pot, one-choice, {unif-pot: {k: 1}}]
lambda: [0.4, 0.7]
horizon: 200n
"""
DHT = """model: dht
seed: 13
replications: 4
nodes: 64
balancer: [none, transfer, {k-choices: {kappa: [2, 4]}}]
queries: 2
duration: 120
balance_from: 10
"""
GRAPHS = "model: balls\nseed: 5\nreplications: 7\ntopology: {barabasi-albert: {n: 40, m: 2}}\npolicy: [pot, {choices: {d: 3}}]\n"
ARCS = "model: balls\nseed: 6\nreplications: 3\ntopology: {arcs: {n: 20}}\npolicy: nearest\nkeep: means\n"
passed = failed = 0


def check(name, good, seen=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {name}: {seen}")


def refused(name, words, action, kind=ValueError):
    """The action ends in one sentence with these words."""
    try:
        action()
    except kind as reason:
        check(name, all(word in str(reason) for word in words) and "\n" not in str(reason), str(reason))
    else:
        check(name, False, "was not refused")


def play(program, folder, name, text, *more):
    job, out = folder / f"{name}.yaml", folder / f"{name}.h5"
    job.write_text(text)
    subprocess.run([program, "run", job, "-o", out, "--progress", "none", *more], check=True, stderr=subprocess.DEVNULL)
    return out


def comparisons(path):
    with potluck.open(path) as ds, h5py.File(path) as file:
        table = potluck.compare(ds, statistics=["max_load", "cost"])
        points = potluck.frame(ds)
        check("a row for each pair and statistic", len(table) == 2 * (len(points) - 4), len(table))
        for row in table.itertuples():
            own, other = points.loc[row.point], points.loc[row.baseline]
            same = (own.topology, own.balls) == (other.topology, other.balls)
            check("the baseline is of the same place", same and other.policy == "unif-pot" and other.k == 1, row)
            x, y = file[row.statistic][row.point], file[row.statistic][row.baseline]
            low, high = stats.ttest_rel(x, y).confidence_interval(0.95)
            seen = [row.difference, row.difference_low, row.difference_high, row.ratio]
            check("difference", np.allclose(seen, [(x - y).mean(), low, high, x.mean() / y.mean()], rtol=1e-9), row)
            check("the ratio lies in its interval", row.ratio_low <= row.ratio <= row.ratio_high, row)
        by_name = potluck.compare(ds, "pot", statistics=["gap"])
        check("another baseline", set(points.policy[by_name.baseline]) == {"pot"}, by_name)
        by_value = potluck.compare(ds, {"balls": 60}, statistics=["moved"]) if "balls" in points else None
        check("a baseline by value", set(points.balls[by_value.baseline]) == {60}, by_value)
        refused("other random words", ["different random words", "stream"], lambda: potluck.compare(ds, 0))
        refused("no such policy", ["jsq"], lambda: potluck.compare(ds, "jsq"))
        refused("no such point", ["99"], lambda: potluck.compare(ds, 99))
        refused("no such parameter", ["kk"], lambda: potluck.compare(ds, {"kk": 1}))
        refused("several baselines", ["several"], lambda: potluck.compare(ds, "unif-pot"))
        refused("no such statistic", ["maxload", "max_load"], lambda: potluck.compare(ds, statistics=["maxload"]))


def coverage():
    """Intervals of planted pairs hold the truth about as often as they say: 400 files of one comparison; a 95 %
    interval that fails more than 7.2 sigma too often or too seldom is wrong (false alarm below 1e-9)."""
    random, hits = np.random.default_rng(3), np.zeros(2)
    files = 400
    for _ in range(files):
        common = random.gamma(4, 1, 25)
        x, y = common + random.normal(3, 1, 25), common + random.normal(1, 1, 25)
        told = potluck._paired(x, y, 0.95)
        hits += [told["difference_low"] <= 2 <= told["difference_high"], told["ratio_low"] <= 7 / 5 <= told["ratio_high"]]
    check("coverage", np.all(np.abs(hits - 0.95 * files) < 7.2 * np.sqrt(files * 0.95 * 0.05)), hits)
    zero = potluck._paired(random.normal(0, 1, 20), random.normal(0, 1, 20), 0.95)
    check("a ratio to nothing is unknown", zero["ratio_low"] == -np.inf and zero["ratio_high"] == np.inf, zero)
    check("one pair has no interval", np.isnan(potluck._paired(np.ones(1), np.ones(1), 0.95)["difference_low"]))


def distributions(path, law, axis):
    with potluck.open(path) as ds, h5py.File(path) as file:
        count = file[law][:].astype(float)
        batches = file[f"{law}_batch"][:].astype(float) if f"{law}_batch" in file else None
        told, tails = potluck.load_distribution(ds, law), potluck.tail(ds, law)
        fraction = count / count.sum(1, keepdims=True)
        check(f"{law}: fractions", np.allclose(told.fraction, fraction, rtol=1e-12, atol=0, equal_nan=True))
        check(f"{law}: tails", np.allclose(tails.fraction[:, 1:], 1 - np.cumsum(fraction, 1)[:, :-1], atol=1e-12))
        check(f"{law}: axis", told.fraction.dims == ("point", axis) and "label" in told.coords)
        if batches is not None:
            b = batches[0][batches[0].sum(1) > 0]
            rest = [(b.sum(0) - one) / (b.sum() - one.sum()) for one in b]
            half = stats.t.ppf(0.975, len(b) - 1) * np.sqrt((len(b) - 1) ** 2 / len(b) * np.var(rest, 0, ddof=1))
            inside = np.clip(fraction[0] + half, 0, 1)
            check(f"{law}: intervals", np.allclose(told.high[0], inside, rtol=1e-9), (told.high[0], inside))
        else:
            check(f"{law}: no intervals without batches", np.isnan(told.low).all())
        upper, lower = file[f"{axis}_upper"][:].astype(float), file[axis][:].astype(float)
        for q in (0.0, 0.37, 0.9, 1.0):
            for point, value in potluck.quantiles(ds, q, law)[q].items():
                cumulative = np.cumsum(fraction[point])
                at = int(np.argmax(cumulative >= q - 1e-12)) if q else int(np.flatnonzero(fraction[point])[0])
                good = lower[at] <= value <= upper[at] if axis == "time" else value == upper[at]
                check(f"{law}: quantile {q}", good, (point, value, lower[at], upper[at]))


def together(program, folder, balls, other, queue):
    whole = potluck.concat([balls, other])
    a, b = potluck.frame(balls), potluck.frame(other)
    check("concat: points", whole.sizes["point"] == len(a) + len(b) and list(whole.point) == list(range(len(a) + len(b))))
    table = potluck.frame(whole)
    check("concat: numbers", np.allclose(table.mean_cost, [*a.mean_cost, *b.mean_cost], equal_nan=True))
    check("concat: files", list(whole["file"].values) == [0] * len(a) + [1] * len(b))
    check("concat: rows", len(potluck.rows(whole)) == len(potluck.rows(balls)) + len(potluck.rows(other)))
    law = potluck.tail(whole)
    check("concat: laws", np.allclose(law.fraction[: len(a), : potluck.tail(balls).sizes["load"]], potluck.tail(balls).fraction))
    check("concat: counts stay whole numbers", whole.load_count.dtype.kind in "iu", whole.load_count.dtype)
    refused("concat: no pairs over files", ["random words"], lambda: potluck.compare(whole, len(a) + 1))
    again = potluck.concat([balls, balls])
    check("concat: one seed is one stream", set(again.stream.values[: len(a)]) == set(again.stream.values[len(a):]))
    refused("concat: models", ["balls", "queue"], lambda: potluck.concat([balls, queue]))
    graphs = play(program, folder, "graphs", GRAPHS)
    for files in itertools.permutations([balls, graphs, play(program, folder, "arcs", ARCS)]):
        mixed = potluck.frame(potluck.concat(files))
        wanted = np.concatenate([potluck.frame(path).mean_max_load for path in files])
        check("concat: other topologies, keep: means", np.array_equal(mixed.mean_max_load, wanted), mixed)
    refused("concat: nothing", ["nothing"], lambda: potluck.concat([]))


def partial(program, folder):
    """A part of a job, one replication, means alone: whatever can be told is told."""
    part = play(program, folder, "part", BALLS, "--replications", "100:101")
    frame = potluck.frame(part)
    check("part: one replication each", (frame.replications == 1).all() and len(potluck.rows(part)) == len(frame))
    check("part: no intervals", potluck.compare(part).difference_low.isna().all())
    check("part: laws", np.isfinite(potluck.load_distribution(part).fraction).all())
    means = play(program, folder, "means", BALLS + "keep: means\n")
    check("means: laws", np.isfinite(potluck.tail(means).high).all())
    refused("means: no pairs", ["keep: rows"], lambda: potluck.compare(means))
    check("sealed", seal.holds(part) and seal.holds(means))


def damaged(path, folder):
    whole = path.read_bytes()
    cases = {"empty": b"", "text": b"seed: 1\n", "signature": whole[:8], "zeros": whole[:8] + bytes(5000)}
    cases |= {f"cut{i}": whole[: len(whole) * i // 5] for i in range(1, 5)}
    for name, data in cases.items():
        broken = folder / f"{name}.h5"
        broken.write_bytes(data)
        refused(name, [str(broken)], lambda: potluck.open(broken), potluck.Damaged)
    refused("missing", ["none.h5"], lambda: potluck.open(folder / "none.h5"), FileNotFoundError)
    other = folder / "other.h5"
    xr.Dataset({"x": ("point", [1.0])}).to_netcdf(other, engine="h5netcdf")
    refused("another's file", [str(other), "no result file"], lambda: potluck.open(other), potluck.Damaged)
    changed = folder / "changed.h5"
    changed.write_bytes(whole)
    with h5py.File(changed, "r+") as file:
        file["mean_cost"][0] += 1e-9
    check("a changed file has no seal", not seal.holds(changed) and seal.holds(path))


def outputs(folder):
    """A figure or page is written whole or not at all, and never in the place of a device."""
    for path, kind in (("/dev/full", OSError), (folder / "none" / "x.png", FileNotFoundError), (folder, IsADirectoryError)):
        refused(f"output to {path}", [str(path)], lambda: whole.write(path, b"x"), kind)
    whole.write(folder / "中文.html", b"x")
    check("a whole file", (folder / "中文.html").read_bytes() == b"x")
    check("devices stay devices", not os.path.isfile("/dev/full"))
    check("nothing half written", not list(folder.glob(".*")), list(folder.glob(".*")))


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="potluck-test-") as name:
        folder = pathlib.Path(name)
        balls, queue = play(program, folder, "balls", BALLS), play(program, folder, "queue", QUEUE)
        dht = play(program, folder, "dht", DHT)
        other = play(program, folder, "other", BALLS.replace("seed: 11", "seed: 4").replace("[1n, 3n]", "9n"))
        comparisons(balls)
        check("queues are compared", len(potluck.compare(queue, "pot", statistics=["response"])) == 4)
        check("balancers are compared", len(potluck.compare(dht, "none", statistics=["success"])) == 3)
        check("loads are compared", len(potluck.compare(queue, {"lambda": 0.4}, statistics=["response"])) == 3)
        coverage()
        for path, law, axis in (
            (balls, "load_count", "load"), (balls, "hop_count", "hop"), (queue, "load_time", "load"),
            (queue, "response_count", "time"), (dht, "hop_count", "hop"), (dht, "virtual_server_count", "node_servers"),
        ):
            distributions(path, law, axis)
        refused("no such law", ["nix", "load_time"], lambda: potluck.tail(queue, "nix"))
        refused("no such quantile", ["between 0 and 1"], lambda: potluck.quantiles(queue, 1.5))
        together(program, folder, balls, other, queue)
        partial(program, folder)
        damaged(balls, folder)
        outputs(folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
