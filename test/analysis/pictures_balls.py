# SPDX-License-Identifier: GPL-3.0-or-later
"""Every figure of many small files, whole and partial: a picture in which labels keep off each other and inside, or one
sentence. What the figures of balls into bins show.

    python3 pictures_balls.py PROGRAM
"""
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import h5py  # noqa: E402
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import potluck  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402
from potluck import drawing, figures, predicted, theory  # noqa: E402

#: Names of files, whether they are parts, and jobs.
JOBS = {
    "near": """# Is near enough?
title: A question that is so long that it has to be broken into two lines of the figure, or else it is cut off at its ends?
seed: 1
replications: 40
topology: [{ring: {n: 300}}, {torus: {sides: 6x7}}]
policy: [one-choice, pot, {choices: {d: 2}}, {unif-pot: {k: [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]}},
         {invsq-pot: {k: [2, 5, 10]}}]
balls: 1n
baseline: pot
keep: means
""",
    "placed": """title: Where?
seed: 2
replications: 30
topology:
  - ring: {n: [20, 300]}
  - torus: {sides: 3x4x5}
  - grid: {sides: 6x6}
  - tree: {n: 31, children: 2}
  - star: {n: 12}
  - plane: {n: 36, servers: grid}
  - plane: {n: 40, layout: per-point}
  - barabasi-albert: {n: 60, m: 2}
policy: [pot, {unif-pot: {k: [1, 3]}}]
baseline: pot
keep: [rows, server-loads]
""",
    "random": """title: Servers anywhere
seed: 3
replications: 10
topology: [{plane: {n: [20, 200]}}, {plane: {n: [20, 200], torus: false}}]
policy: [nearest, spot, {unif-pot: {k: [3, 10]}}, {points: {d: 2}}, pot]
baseline: pot
keep: [rows, server-loads]
""",
    "arcs": """title: Arcs
seed: 4
replications: 30
topology: {arcs: {n: [50, 500], virtual: [1, 4]}}
policy: [nearest, {points: {d: [2, 4]}}, {bounded: {epsilon: 0.25}}]
balls: 1n
ties: [fair, smaller-arc]
baseline: nearest
""",
    "many": """seed: 5
replications: 3
topology: {ring: {n: [10, 20, 30, 40, 50, 60, 70, 80, 90]}}
policy: [pot, {unif-pot: {k: 1}}]
balls: [1n, 2n, 3n]
baseline: pot
""",
    "point": "seed: 6\nreplications: 1\ntopology: {complete: {n: 4}}\npolicy: one-choice\n",
    "queue": """model: queue
seed: 7
replications: 4
topology: {ring: {n: 8}}
policy: [one-choice, pot, {unif-pot: {k: [1, 2]}}]
lambda: [0.3, 0.6]
horizon: 50n
baseline: pot
keep: [rows, server-queues]
""",
    "dht": """model: dht
seed: 8
replications: 2
nodes: 16
duration: 60
balancer: [none, k-choices]
""",
}
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


def play(program: str, folder: pathlib.Path, name: str) -> pathlib.Path:
    job, out = folder / f"{name}.yaml", folder / f"{name}.h5"
    job.write_text(JOBS[name])
    done = subprocess.run(
        [program, "run", str(job), "-o", str(out), "--progress", "none"], capture_output=True, text=True, check=False
    )
    check(f"{name} is played", done.returncode == 0, done.stderr)
    return out


def part_of(whole: pathlib.Path, name: str) -> pathlib.Path:
    """As a run leaves it: the last points have nothing yet, the first a single replication."""
    path = whole.with_name(f"{name}.h5")
    shutil.copy(whole, path)
    with h5py.File(path, "r+") as f:
        points = f["replications"].shape[0]
        nothing = np.arange(points) >= 0.6 * points
        for v in f:
            d = f[v]
            if isinstance(d, h5py.Dataset) and v != "point" and d.shape[:1] == (points,):
                result = v == "replications" or d.ndim > 1 or v.startswith(("mean_", "se_", "tv", "cost_red"))
                if result and v not in ("mean_degree",) and d.dtype.kind in "iuf":
                    values = d[...]
                    values[nothing] = np.nan if d.dtype.kind == "f" else 0
                    if v.startswith("se_") or v in ("tv_cross", "tv_floor"):
                        values[0] = np.nan
                    d[...] = values
    return path


def in_view(figure: plt.Figure) -> list[tuple[str, Bbox]]:
    """Without labels of ticks beyond their axis, which are never drawn."""
    hidden = set()
    for axis in figure.axes:
        for line in (axis.xaxis, axis.yaxis):
            drawn = {t.label1 for t in line._update_ticks()} if axis.get_visible() else set()
            everything = {t.label1 for t in itertools.chain(line.majorTicks, line.minorTicks)}
            hidden |= {id(t) for t in everything - drawn}
    found = []
    for artist in figure.findobj(Text):
        axes = artist.axes
        if artist.get_visible() and artist.get_text().strip() and (axes is None or axes.get_visible()):
            if id(artist) not in hidden:
                found.append((artist.get_text(), Text.get_window_extent(artist)))
    return found


def legible(name: str, figure: plt.Figure) -> None:
    """No label over another or beyond the figure, by more than a point; none smaller than 7 points."""
    whole, point = figure.bbox, figure.dpi / 72
    seen = in_view(figure)
    outside = [t for t, b in seen if not whole.x0 - 1 <= b.x0 <= b.x1 <= whole.x1 + 1 or b.y0 < -1 or b.y1 > whole.y1 + 1]
    check(f"{name}: labels in view", not outside, outside[:4])
    over = []
    for (a, p), (b, q) in itertools.combinations(seen, 2):
        across = min(p.x1, q.x1) - max(p.x0, q.x0)
        up = min(p.y1, q.y1) - max(p.y0, q.y0)
        if across > 1.5 * point and up > 1.5 * point:
            over.append((a, b, round(across / point, 1), round(up / point, 1)))
    check(f"{name}: labels apart", not over, over[:4])
    small = [t.get_text() for t in figure.findobj(Text) if t.get_text() and t.get_fontsize() < drawing.SMALL]
    check(f"{name}: letters are large enough", not small, small[:4])
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].mean(axis=2)
    check(f"{name}: shows something", 0.005 < (pixels < 230).mean() < 0.75, (pixels < 230).mean())
    check(f"{name}: fits a page", figure.get_size_inches()[0] <= 1.01 * drawing.PAGE, figure.get_size_inches())


def all_figures(paths: list[pathlib.Path]) -> dict[tuple[str, str], str]:
    """Every figure of every file; returns the sentences."""
    sentences = {}
    for path in paths:
        with potluck.open(path) as ds:
            ds.load()
            for plot in figures.PLOTS:
                name = f"{plot.name} of {path.stem}"
                if plot.module not in OWN and path.stem not in ("point", "queue", "dht"):
                    continue  # those have tests of their own
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    try:
                        figure = figures.function(f"plot_{plot.name}")(ds)
                        figure.set_dpi(60)
                        figure.canvas.draw()
                        if plot.module in OWN:
                            legible(name, figure)
                        check(f"{name}: drawn", True)
                    except ValueError as reason:
                        sentence = str(reason)
                        sentences[plot.name, path.stem] = sentence
                        check(f"{name}: a sentence", len(sentence) > 20 and "\n" not in sentence, sentence)
                    except Exception as reason:  # noqa: BLE001 - what else it may be is a failure
                        check(f"{name}: drawn", False, repr(reason))
                check(f"{name}: no warning", not warned, [str(w.message) for w in warned][:2])
                check(f"{name}: nothing is left open", len(plt.get_fignums()) <= 1, plt.get_fignums())
                plt.close("all")
    return sentences


OWN = ("figures_tradeoff", "figures_topologies", "figures_loads", "figures_places")


def what_they_say(sentences: dict[tuple[str, str], str]) -> None:
    """Figures are refused where the file has not what they show, and only there."""
    balls = ("tradeoff", "topologies", "maxload", "loads", "places")
    refused = {key for key in sentences if key[0] in balls and key[1] in JOBS}
    wanted = {
        *((name, "dht") for name in balls),
        *(("topologies", name) for name in ("arcs", "point")),
        *(("maxload", name) for name in ("near", "queue", "point")),
        *(("tradeoff", name) for name in ("arcs", "many", "point")),
        *(("places", name) for name in ("near", "random", "arcs", "many", "point")),
    }
    check("what is refused", refused == wanted, refused ^ wanted)
    told = {
        ("tradeoff", "many"): "choose points first",
        ("places", "near"): "server-loads",
        ("places", "random"): "each replication",
        ("tradeoff", "point"): "baseline",
        ("tradeoff", "arcs"): "has a cost",
        ("maxload", "point"): "numbers of servers",
    }
    for key, words in told.items():
        check(f"{key}: names the remedy", words in sentences.get(key, ""), sentences.get(key))


def numbers(arcs: pathlib.Path, near: pathlib.Path, placed: pathlib.Path, program: str) -> None:
    """What is drawn is what the file says."""
    with potluck.open(near) as ds:
        figure, tail = potluck.plot_loads(ds), potluck.tail(ds)
        table = potluck.frame(ds)
        axis = figure.axes[0]
        at = table.index[(table["policy"] == "one-choice") & (table["n"] == 300) & (table["balls"] == 300)][0]
        curve = next(c for c in axis.containers if c.get_label() == "one-choice")[0]
        x = curve.get_xdata().astype(int)
        check("loads: the tail", np.allclose(curve.get_ydata(), tail["fraction"].values[at][x]), curve.get_ydata())
        exact = np.cumsum(theory.one_choice_load(300, 300, 60)[::-1])[::-1]
        drawn = [line for line in axis.lines if line.get_color() == "black"]
        apart = [np.nanmax(np.abs(line.get_ydata() / exact[line.get_xdata()] - 1)) for line in drawn]
        check("loads: one choice is binomial", min(apart) < 1e-6, apart)
        names = [t.get_text() for t in figure.legends[0].get_texts()]
        check("loads: of many k three", sum("unif-pot" in n for n in names) == 3, names)
        note = " ".join(t.get_text() for t in figure.texts)
        check("loads: and says so", "first, a middle and the last k" in note, note)
    with potluck.open(arcs) as ds:
        table = potluck.frame(ds)
        point = table[(table["policy"] == "nearest") & (table["n"] == 50) & (table["virtual"] == 1)].iloc[0]
        kind, mean = predicted.mean_max_load(point)
        off = abs(mean - point["mean_max_load"]) / point["se_max_load"]
        check("maxload: exact on a circle", kind == "exact" and off < 4.5, (kind, mean, off))
        far = [predicted.mean_max_load(p) for _, p in table[table["policy"] == "bounded"].iterrows()]
        check("maxload: none of bounded", far == [None] * len(far))
    with potluck.open(placed) as ds:
        table = potluck.frame(ds)
        figure = potluck.plot_places(ds.isel(point=(ds["topology"] == "grid").values))
        at = table.index[(table["topology"] == "grid") & (table["k"] == 3)][0]
        shown = figure.axes[2].images[0].get_array()
        wanted = ds["server_load"].values[at][:36].reshape(6, 6)
        check("places: the grid", np.allclose(shown, wanted), figure.axes[2].get_title())
        one = ds.isel(point=((ds["topology"] == "plane") & (ds["n"] == 40)).values)
        try:
            potluck.plot_places(one)
            check("places: random points are refused", False)
        except ValueError as reason:
            check("places: random points are refused", "potluck graph" in str(reason), reason)
        at = int(one["point"].values[0])
        points = placed.with_name("points.txt")
        command = [program, "graph", str(placed.with_suffix(".yaml")), "--only", str(at), "--write", str(points)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check("potluck graph --write", done.returncode == 0, done.stderr)
        figure = potluck.plot_places(one, positions=points)
        check("places: at the points of a file", len(figure.axes[0].collections[0].get_offsets()) == 40)
        star = figure_of_star(ds, table)
        check("places: the hub of a star", star, star)
    plt.close("all")


def figure_of_star(ds: object, table: object) -> bool:
    figure = potluck.plot_places(ds.isel(point=(ds["topology"] == "star").values))
    curves = {c.get_label(): c[0] for c in figure.axes[0].containers}
    at = table.index[(table["topology"] == "star") & (table["k"] == 1)][0]
    loads = ds["server_load"].values[at][:12]
    wanted = [loads[0], loads[1:].mean()]
    return bool(np.allclose(curves["unif-pot (k = 1)"].get_ydata(), wanted))


def command_line(folder: pathlib.Path, whole: pathlib.Path) -> None:
    """Damaged files, and what has no such figure: one sentence, exit code 2."""
    data = whole.read_bytes()
    (folder / "cut.h5").write_bytes(data[: len(data) // 2])
    (folder / "none.h5").write_bytes(b"")
    for name, figure, code in (("placed", "places", 0), ("cut", "loads", 2), ("none", "loads", 2), ("dht", "loads", 2)):
        out = folder / f"{name}.pdf"
        command = [sys.executable, "-B", str(ROOT / "analysis" / "potluck.py"), figure, str(folder / f"{name}.h5"), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check(f"{figure} of {name}: exit code", done.returncode == code, (done.returncode, done.stderr))
        check(f"{figure} of {name}: stderr", len(done.stderr.splitlines()) == (code > 0), done.stderr)
        check(f"{figure} of {name}: a file", out.exists() == (code == 0))


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = [play(program, folder, job) for job in JOBS]
        by_name = {p.stem: p for p in paths}
        parts = [part_of(by_name[job], f"part-of-{job}") for job in ("placed", "queue")]
        what_they_say(all_figures(paths + parts))
        numbers(by_name["arcs"], by_name["near"], by_name["placed"], program)
        command_line(folder, by_name["placed"])
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
