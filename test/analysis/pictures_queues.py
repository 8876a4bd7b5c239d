# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of queues and DHT rings on small jobs: the numbers of the file are in them, intervals and theory too.

    python3 pictures_queues.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import potluck  # noqa: E402
from potluck import commands, figures_completions, figures_theory, theory  # noqa: E402

QUEUE = """# What does waiting cost?
title: What does waiting cost?
model: queue
seed: 31
replications: 12
topology: {complete: {n: 8}}
policy: [one-choice, pot, {choices: {d: 3}}, {round-robin: {scope: central}}, {random: {shares: [10,10,10,10,10,10,10,11]}}]
lambda: [0.3, 0.5, 0.85]
horizon: 200n
warmup: {time: 60}
baseline: pot
"""
MEANS = """# What does a varying service cost?
model: queue
seed: 32
replications: 8
topology: {complete: {n: 4}}
policy: [random, permuted, {block: {size: 2}}, {round-robin: {scope: distributed, targets: others}}]
lambda: 0.5
service: [deterministic, {erlang: {shape: 2}}, {hyperexponential: {scv: 4}}]
failures: [none, {alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 1}}}}]
horizon: 150n
baseline: random
keep: means
"""
SIZES = """# How many servers?
model: queue
seed: 33
replications: 6
topology: {complete: {n: [4, 16]}}
policy: {choices: {d: 2}}
lambda: 0.7
horizon: 100n
"""
ORDERS = """# Which order?
model: queue
seed: 34
replications: 5000
topology: {complete: {n: 2}}
policy: [{sequence: {servers: [0, 1, 0, 1, 0]}}, {sequence: {servers: [0, 1, 0, 1, 1]}}, random]
arrivals: {trace: {file: five.txt}}
service: {discrete: {values: [0.5, 2], probabilities: [2/3, 1/3]}}
transient: {jobs: 5, grid: [0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 8]}
keep: means
"""
RING = """# Who balances?
model: dht
seed: 35
replications: 3
nodes: 64
lifetime: {lomax: {shape: 2.5, mean: 900}}
capacity: {lognormal: {median: 40, sigma: 1}}
queries: [2, 10]
destinations: {zipf: {alpha: 1.2, count: 100, shift: 60}}
balancer: [none, transfer, {k-choices: {mode: [passive, active]}}]
duration: 120
interval: 10
balance_from: 20
"""
NAMES = """# What do names lose?
model: dht
seed: 36
replications: 3
nodes: 4096
capacity: 100
queries: 10
maintenance: 12
ids: [random, equal]
destinations: [uniform, {zipf: {alpha: [0.8, 2.4], count: 1500}}]
duration: 2
record_from: 0
"""
BALLS = "model: balls\nseed: 37\nreplications: 3\ntopology: {ring: {n: 20}}\npolicy: pot\n"
OF_QUEUES = ("response", "relative", "responses", "completions", "warmup")
OF_RINGS = ("success", "queries", "balancers", "utilisation", "actions")
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


def play(program: str, folder: pathlib.Path, name: str, text: str) -> pathlib.Path:
    job, out = folder / f"{name}.yaml", folder / f"{name}.h5"
    job.write_text(text)
    subprocess.run(
        [program, "run", str(job), "-o", str(out), "--progress", "none"], check=True, capture_output=True
    )
    return out


def drawn(name: str, ds: object) -> plt.Figure:
    """The figure, drawn wholly; any warning is an error."""
    plt.close("all")
    figure = getattr(potluck, f"plot_{name}")(ds)
    figure.draw_without_rendering()
    return figure


def refused(name: str, ds: object) -> str:
    try:
        getattr(potluck, f"plot_{name}")(ds)
    except ValueError as reason:
        return str(reason)
    return ""


def curve(axis: plt.Axes, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the heights of the bars of a curve."""
    for box in axis.containers:
        if box.get_label() == name:
            x, y = (np.asarray(v, float) for v in box.lines[0].get_data())
            bars = [np.ptp(s, axis=0) for s in box.lines[2][0].get_segments()]
            return x, y, np.array([b.max() for b in bars])
    return np.array([]), np.array([]), np.array([])


def texts(figure: plt.Figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(plt.Text) if t.get_text().strip()]


def inside(name: str, figure: plt.Figure) -> None:
    """Nothing is cut off, letters are 7 pt at least, no two names or titles lie on one another."""
    renderer = figure.canvas.get_renderer()
    page = figure.bbox
    axes = [a for a in figure.axes if a.get_visible()]
    words = list(figure.texts)
    for axis in axes:
        words += [axis.title, axis.xaxis.label, axis.yaxis.label, *axis.texts]
    words = [t for t in words if t.get_text().strip()]
    boxes = [t.get_window_extent(renderer) for t in words]
    out = [
        t.get_text()
        for t, b in zip(words, boxes)
        if b.x0 < page.x0 - 1 or b.x1 > page.x1 + 1 or b.y0 < page.y0 - 1 or b.y1 > page.y1 + 1
    ]
    check(f"{name}: nothing is cut off", not out, out)
    small = [t.get_text() for t in words + [l for a in axes for l in a.get_xticklabels()] if t.get_fontsize() < 7]
    check(f"{name}: letters", not small, small)
    meet = []
    for i, a in enumerate(boxes):
        for j in range(i):
            b = boxes[j]
            wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            if wide > 2 and high > 0.35 * min(a.height, b.height):
                meet.append((words[i].get_text(), words[j].get_text()))
    check(f"{name}: words apart", not meet, meet)


def queues(files: dict[str, pathlib.Path]) -> None:
    with potluck.open(files["queue"]) as ds:
        table = potluck.frame(ds)
        figure = drawn("response", ds)
        inside("response", figure)
        axis = figure.axes[0]
        for name, policy in (("pot", "pot"), ("one-choice", "one-choice"), ("round-robin", "round-robin")):
            here = table[table["policy"] == policy]
            x, y, bars = curve(axis, name)
            check(f"response: {name}", np.array_equal(x, here["lambda"]) and np.array_equal(y, here["mean_response"]))
            half = 2.2010 * here["se_response"].to_numpy()  # t of 11 degrees of freedom
            check(f"response: bars of {name}", np.allclose(bars, 2 * half, rtol=1e-3), bars)
        lines = [np.asarray(line.get_ydata(), float) for line in axis.get_lines()]
        ends = {round(float(y[-1]), 6) for y in lines if len(y) == 41}
        wanted = [1 / 0.15, theory.supermarket_response(0.85, 2), theory.supermarket_response(0.85, 3),
                  theory.round_robin_response(8, 0.85)]
        check("response: theory where it is, and nowhere else", ends == {round(v, 6) for v in wanted}, ends)
        check("response: units", any("mean services" in t for t in texts(figure)))
        figure = drawn("relative", ds)
        inside("relative", figure)
        pairs = potluck.compare(ds, "pot", statistics=["response"])
        here = pairs[pairs["label"].str.contains("one-choice")]
        _, y, bars = curve(figure.axes[0], "one-choice")
        check("relative: ratios", np.allclose(y, here["ratio"], rtol=1e-12), y)
        fieller = (here["ratio_high"] - here["ratio_low"]).to_numpy()
        check("relative: paired bars", np.allclose(bars, fieller, rtol=0.1), (bars, fieller))
        figure = drawn("responses", ds)
        inside("responses", figure)
        tails = potluck.tail(ds, "response_count")["fraction"].values
        at = int(table.index[(table["policy"] == "pot") & (table["lambda"] == 0.85)][0])
        line = next(x for x in figure.axes[2].get_lines() if x.get_label() == "pot" and len(x.get_xdata()) > 5)
        many = len(line.get_ydata())
        check("responses: the tail", np.array_equal(line.get_ydata(), tails[at][tails[at] > 0][:many]))
        dots = [b for b in figure.axes[2].containers]
        seen = {round(float(b.lines[0].get_xdata()[0]), 9) for b in dots}
        check("responses: quantiles", round(table["mean_response_q99"][at], 9) in seen)
        check("responses: M/M/1", any(np.allclose(y.get_ydata(), np.exp(-0.15 * y.get_xdata()))
                                      for y in figure.axes[2].get_lines() if len(y.get_xdata()) == 200))
        figure = drawn("warmup", ds)
        inside("warmup", figure)
        path = ds["queue_length_path"].values
        first = next(y for y in figure.axes[0].get_lines() if len(y.get_xdata()) == 201)
        at = int(table.index[table["lambda"] == 0.85][0])
        check("warmup: the path", np.array_equal(first.get_ydata()[1:], path[at]) and first.get_ydata()[0] == 0)
        length = 60 + 200 / 0.85
        check("warmup: its times", np.isclose(first.get_xdata()[-1], length), first.get_xdata()[-1])
        check("warmup: shaded", np.isclose(figure.axes[0].patches[0].get_xy()[2, 0], 60))
        level = [y for y in figure.axes[0].get_lines() if set(y.get_ydata()) == {table["mean_queue_length"][at]}]
        check("warmup: the time average, after it", level and np.isclose(level[0].get_xdata()[0], 60))
    with potluck.open(files["means"]) as ds:
        table = potluck.frame(ds)
        inside("relative of means", drawn("relative", ds))
        figure = drawn("response", ds)
        inside("response of means", figure)
        x, y, _ = curve(figure.axes[0], "block")
        here = table[(table["policy"] == "block") & (table["failures"] == "none")]
        check("response by variability", np.allclose(x, [0, 0.5, 4]) and np.array_equal(y, here["mean_response"]), x)
        kinds = [figures_theory.response(p) for _, p in table.iterrows()]
        check("theory of random: all", all(k for k, p in zip(kinds, table["policy"]) if p == "random"))
        known = [bool(k) for k, p in zip(kinds, table["policy"]) if p == "block"]
        check("theory of blocks: phases", known == [False, False, True, True, True, True], known)
    with potluck.open(files["sizes"]) as ds:
        figure = drawn("response", ds)
        inside("response by n", figure)
        values = [y.get_ydata() for y in figure.axes[0].get_lines()]
        refined = theory.supermarket_response(0.7, 2) + theory.supermarket_refined(0.7, 2)[1:].sum() / 0.7 / 4
        check("response by n: corrected limit", any(len(y) == 2 and np.isclose(y[0], refined) for y in values))


def orders(path: pathlib.Path) -> None:
    with potluck.open(path) as ds:
        figure = drawn("completions", ds)
        inside("completions", figure)
        mean, law = figure.axes[2], figure.axes[3]
        name = "sequence, 0 1 0 1 1"
        wanted = ds["completion_pooled"].values[1] - ds["completion_pooled"].values[0]
        _, y, bars = curve(mean, name)
        check("completions: means", np.allclose(y, wanted, rtol=0, atol=1e-12), y)
        check("completions: bars", (bars[3:] > 0).all() and (bars < 0.1).all(), bars)
        check("completions: the fifth, where they cross", "P(5th" in law.get_title(), law.get_title())
        x, y, bars = curve(law, name)
        at = int(np.flatnonzero(x == 2.5)[0])
        truth = (2 / 3) ** 4 - (2 / 3) ** 5
        check("completions: round robin is not first", abs(y[at] - truth) < 2 * bars[at] and y[at] > bars[at], y[at])
        local = figures_completions.difference(ds, "completion_local_cdf", 1, 0)
        check("completions: at a server it is", (np.nan_to_num(local.mean[:2]) <= 1e-12).all())
        check("completions: no mean of random", any("random: no mean" in t.replace("\n", " ") for t in texts(figure)))


def rings(files: dict[str, pathlib.Path]) -> None:
    with potluck.open(files["ring"]) as ds:
        table = potluck.frame(ds)
        inside("queries", drawn("queries", ds))
        figure = drawn("success", ds)
        inside("success", figure)
        line = max(figure.axes[0].get_lines(), key=lambda x: len(x.get_xdata()))
        series = ds["success_series"].values
        check("success: the series", any(np.array_equal(line.get_ydata(), s) for s in series))
        check("success: middles of intervals", np.allclose(line.get_xdata(), ds["second"].values + 5))
        check("success: shift is marked", any("replaced" in t for t in texts(figure)))
        figure = drawn("balancers", ds)
        inside("balancers", figure)
        here = table[table["balancer"] == "transfer"]
        x, y, bars = curve(figure.axes[0], "transfer")
        check("balancers: numbers", np.array_equal(x, [2, 10]) and np.array_equal(y, here["mean_success"]), y)
        half = 4.3027 * here["se_success"].to_numpy()  # t of 2 degrees of freedom
        mean = here["mean_success"].to_numpy()
        wanted = np.minimum(mean + half, 1) - np.maximum(mean - half, 0)
        check("balancers: bars", np.allclose(bars, wanted, atol=1e-4), (bars, wanted))
        figure = drawn("utilisation", ds)
        inside("utilisation", figure)
        last = potluck.quantiles(ds, [0.99], "utilisation_count")[0.99]
        _, y, _ = curve(figure.axes[2], "transfer")
        check("utilisation: 99 %", np.allclose(y, last[here.index]), y)
        figure = drawn("actions", ds)
        inside("actions", figure)
        natural = [curve(a, "none")[1] for a in figure.axes if a.get_title().endswith("natural")]
        here = table[table["balancer"] == "none"]
        check("actions: natural", any(np.array_equal(y, here["mean_actions_natural"]) for y in natural), natural)
    with potluck.open(files["names"]) as ds:
        figure = drawn("queries", ds)
        inside("queries of names", figure)
        x, _, _ = curve(figure.axes[0], "equal arcs")
        here = potluck.frame(ds)
        check("queries: numbers", np.array_equal(x, here.loc[here["ids"] == "equal", "mean_success"]), x)
        check("queries: published", any("Ledlie" in t for t in texts(figure)))
        check("balancers of names: Zipf 0 is uniform", np.array_equal(
            curve(drawn("balancers", ds).axes[0], "equal arcs")[0], [0, 0.8, 2.4]))
        check("one interval is no series", "two intervals" in refused("success", ds))
        check("nothing acts", "no virtual server" in refused("actions", ds))


def wrong(files: dict[str, pathlib.Path], folder: pathlib.Path) -> None:
    """What does not fit is refused in a sentence; what is missing is left out."""
    for path, names in ((files["balls"], OF_QUEUES + OF_RINGS), (files["ring"], OF_QUEUES), (files["queue"], OF_RINGS)):
        with potluck.open(path) as ds:
            for name in names:
                said = refused(name, ds)
                check(f"{path.stem}: no {name}", 10 < len(said) < 160 and "\n" not in said, said)
    with potluck.open(files["orders"]) as ds:
        check("transient: no response", "completions" in refused("response", ds))
        check("transient: no warmup", "completions" in refused("warmup", ds))
    whole = (("means", ("response", "responses", "warmup")), ("ring", OF_RINGS), ("orders", ["completions"]))
    for kind, names in whole:
        with potluck.open(files[kind]) as ds:
            ds.load()
            part = without(ds, np.arange(ds.sizes["point"]) % 3 == 1)
            nobody = without(ds, np.ones(ds.sizes["point"], bool))
            for name in names:
                drawn(name, part)
                said = refused(name, nobody)
                check(f"{kind}: nothing played, no {name}", "replication" in said, said)
                if name not in ("balancers", "completions"):
                    drawn(name, ds.isel(point=[0]))
            bare = ds.drop_vars([v for v in ds.data_vars if str(v).endswith(("_count", "_path", "_batch"))])
            said = [refused(name, bare) for name in names]
            check(f"{kind}: no histograms", all("\n" not in s for s in said), said)
    cut = folder / "cut.h5"
    cut.write_bytes(files["queue"].read_bytes()[:20000])
    for name in OF_QUEUES:
        check(f"{name} of a damaged file", commands.main([name, str(cut), str(folder / "x.png")]) == 2)
    picture = folder / "response.pdf"
    check("command", commands.main(["response", str(files["queue"]), str(picture)]) == 0 and picture.stat().st_size > 0)


def without(ds: object, gone: np.ndarray) -> object:
    """A file in which some points have no replication yet."""
    out = ds.copy(deep=True)
    for name in out.data_vars:
        v = out[name]
        if v.dims[:1] == ("point",):
            v.values[gone] = np.nan if v.dtype.kind == "f" else 0
    return out


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "five.txt").write_text("0\n0.5\n1\n1.5\n2\n")
        jobs = {"queue": QUEUE, "means": MEANS, "sizes": SIZES, "orders": ORDERS, "ring": RING, "names": NAMES,
                "balls": BALLS}
        files = {name: play(program, folder, name, text) for name, text in jobs.items()}
        queues(files)
        orders(files["orders"])
        rings(files)
        plt.close("all")
        wrong(files, folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
