# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of topologies and the figures of many panels, on planted numbers and on real runs.

    python3 tables.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.image  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from potluck import drawing  # noqa: E402
import potluck  # noqa: E402
import topologies  # noqa: E402

PLACES = """# Where is nearness dear?
title: Where is nearness dear?
seed: 11
replications: 200
topology:
  - ring: {n: 60}
  - torus: {sides: [6x6, 3x4x5]}
  - star: {n: 50}
  - regular: {n: 40, degree: [3, 4], connect: redraw}
  - geometric: {n: 50, mean_degree: 8, torus: [true, false], connect: largest}
  - named: {name: petersen}
policy:
  - pot
  - one-choice
  - choices: {d: 2}
  - unif-pot: {k: [1, 2, 4]}
  - invsq-pot: {k: [2, 4]}
"""
NAMES = [
    "ring",
    "torus 6×6",
    "torus 3×4×5",
    "star",
    "regular, degree 3",
    "regular, degree 4",
    "geometric, mean degree 8, on a torus",
    "geometric, mean degree 8, in a square",
    "named petersen",
]
ARCS = """# What evens out a circle?
title: What evens out a circle?
seed: 12
replications: 60
topology:
  - arcs: {n: [20, 200, 2000], virtual: [1, 4]}
policy:
  - nearest
  - points: {d: [2, 3]}
  - bounded: {epsilon: 0.5}
balls: [1n, 5n]
ties: [fair, smaller-arc]
baseline: nearest
"""
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


def play(program: str, folder: pathlib.Path, text: str, name: str) -> pathlib.Path:
    job, out = folder / f"{name}.yaml", folder / f"{name}.h5"
    job.write_text(text)
    subprocess.run(
        [program, "run", str(job), "-o", str(out), "--progress", "none"],
        check=True,
        capture_output=True,
    )
    return out


def planted() -> None:
    """Laws whose distance is known."""
    rng = np.random.default_rng(5)
    p, q = np.array([0.25, 0.5, 0.2, 0.05]), np.array([0.3, 0.4, 0.2, 0.1])
    exact = topologies.variation(np.tile(1000 * p, (8, 1)), np.tile(1000 * q, (8, 1)))
    check("without noise all estimates are the distance", np.allclose(exact[:2], 0.1), exact)
    check("without noise the floor is 0", exact.floor < 1e-15, exact)
    a, b = rng.multinomial(100_000, p, size=(2, 40))
    c = rng.multinomial(100_000, q, size=40)
    far = topologies.variation(a, c)
    check("a planted distance", abs(far.tv - 0.1) < 2e-3 and abs(far.cross - 0.1) < 2e-3, far)
    many = [
        topologies.variation(*rng.multinomial(2000, p, size=(2, 40))) for _ in range(200)
    ]
    tv, cross, floor = (np.mean([getattr(v, n) for v in many]) for n in ("tv", "cross", "floor"))
    check("equal laws show the floor", abs(tv / floor - 1) < 0.1, (tv, floor))
    check("equal laws: the cross-fitted estimate is near 0", abs(cross) < 0.15 * floor, cross)
    check("a law against itself", topologies.variation(a, a)[:2] == (0.0, 0.0))
    check("symmetric", np.allclose(topologies.variation(a, b), topologies.variation(b, a)))
    gaps = a.copy()
    gaps[::4] = 0
    seen = topologies.variation(gaps, c)
    check("empty batches are passed over", abs(seen.tv - 0.1) < 3e-3 and seen.floor > 0, seen)
    lone = np.zeros_like(a)
    lone[0] = a[0]
    seen = topologies.variation(lone, c)
    check("one batch: plug-in alone", seen.tv > 0.09 and np.isnan([seen.cross, seen.floor]).all(), seen)
    check("nothing: no number", np.isnan(topologies.variation(0 * a, c)).all())


def table_of(path: pathlib.Path) -> None:
    """Against the columns of the file, whose baseline is pot as well."""
    with potluck.open(path) as ds:
        points, rows = potluck.frame(ds), topologies.table(ds)
    own = points.loc[rows.index]
    for column in ("tv", "tv_cross", "tv_floor"):
        apart = np.abs(rows[column] - own[column]).max()
        check(f"{column} as in the file", apart <= 1e-12, apart)
    apart = np.abs(rows["saved"] - own["cost_reduction"]).max()
    check("saved as in the file", apart <= 1e-12, apart)
    check("a row per topology and policy", len(rows) == len(NAMES) * 7, len(rows))
    check("names of topologies", list(rows["topology"].unique()) == NAMES, rows["topology"].unique())
    check(
        "names of policies",
        set(rows["policy"])
        == {"one-choice", "choices{2}", "unif-pot{1}", "unif-pot{2}", "unif-pot{4}"}
        | {"invsq-pot{2}", "invsq-pot{4}"},
        set(rows["policy"]),
    )
    check(
        "one choice saves all, choices{2} nothing of itself",
        (rows.loc[rows["policy"] == "one-choice", "saved"] == 1).all()
        and (rows.loc[rows["policy"] == "choices{2}", "saved_choices"] == 0).all(),
    )
    star = rows[(rows["topology"] == "star") & (rows["policy"] == "unif-pot{1}")].iloc[0]
    check("star, k = 1: one choice but for the centre", star["tv"] > 0.12 and not star["tv_inside"])
    check("star, k = 1: saves nearly all", star["saved"] > 0.9, star["saved"])
    shown = topologies.text(rows)
    check("text: no minus zero, no nan", "-0.0 %" not in shown and "nan" not in shown)
    check("text: what lies outside", f"star{' ' * 35}unif-pot{{1}} total variation 0." in shown, shown)
    lines = topologies.markdown(rows, ["unif-pot{1}", "invsq-pot{2}"]).splitlines()
    check("markdown: a line per topology", len(lines) == 2 + len(NAMES), lines)
    check("markdown: columns", {line.count("|") for line in lines} == {6}, lines)
    check("markdown: bold is outside", f"**{star['tv']:.4f}**" in lines[2 + NAMES.index("star")], lines)


def other_baselines(program: str, folder: pathlib.Path) -> None:
    """Loads, ties and sizes are settings of their own; the job's baseline does not matter."""
    text = """title: t
seed: 4
replications: 40
topology: {ring: {n: [10, 20]}}
policy: [one-choice, pot, {unif-pot: {k: 2}}]
balls: [1n, 3n]
baseline: one-choice
"""
    with potluck.open(play(program, folder, text, "one")) as ds:
        rows = topologies.table(ds)
        check(
            "settings of their own",
            list(rows["topology"].unique())
            == [f"ring, n = {n}, {j} per server" for n in (10, 20) for j in ("1 job", "3 jobs")],
            rows["topology"].unique(),
        )
    with potluck.open(play(program, folder, text.replace("one-choice\n", "pot\n"), "pot")) as ds:
        points = potluck.frame(ds)
        for column in ("tv", "tv_cross", "tv_floor"):
            apart = np.abs(rows[column] - points.loc[rows.index, column]).max()
            check(f"{column} whatever the baseline", apart <= 1e-12, apart)
    without = play(program, folder, text.replace("one-choice, pot", "one-choice"), "without")
    with potluck.open(without) as ds:
        try:
            topologies.table(ds)
            check("no pot is refused", False)
        except ValueError as reason:
            check("no pot is refused", "pot" in str(reason))


def figure_of_topologies(path: pathlib.Path) -> None:
    with potluck.open(path) as ds:
        drawn, near = potluck.plot_topologies(ds), potluck.frame(ds)
    axes = drawn.axes
    check(
        "a panel of balance and one of cost for each policy",
        [a.get_title() for a in axes]
        == [f"{p}: {w}" for w in ("balance lost", "cost saved") for p in ("unif-pot", "invsq-pot")],
    )
    names = [" ".join(t.get_text().split()) for t in axes[0].get_yticklabels()]
    check("a row for each topology, the first on top", names == NAMES, names)
    check("the first on top", axes[0].get_ylim()[0] > axes[0].get_ylim()[1])
    near = near[near["k"].notna()]
    for i, policy in enumerate(("unif-pot", "invsq-pot")):
        part = near[near["policy"] == policy]
        dots = [c[0] for c in axes[2 + i].containers if hasattr(c, "has_xerr")]
        seen = np.concatenate([d.get_xdata() for d in dots])
        check(f"{policy}: the savings", np.array_equal(seen, part["cost_reduction"]), seen)
        dots = [c[0] for c in axes[i].containers if hasattr(c, "has_xerr")]
        seen = np.concatenate([d.get_xdata() for d in dots])
        wanted = np.maximum(part["tv"], axes[i].get_xlim()[0])
        check(f"{policy}: the variations", np.array_equal(seen, wanted), seen)
        check(
            f"{policy}: all in view",
            (seen >= axes[i].get_xlim()[0]).all() and (seen <= axes[i].get_xlim()[1]).all(),
        )
        rows = np.round(np.concatenate([d.get_ydata() for d in dots]).astype(float))
        check(f"{policy}: in their rows", list(rows) == sorted(rows) and len(set(rows)) == len(NAMES))
    legend = [t.get_text() for each in drawn.legends for t in each.get_texts()]
    check(
        "the legend",
        legend[-3:] == ["k = 1", "k = 2", "k = 4"] and legend[1:3] == ["noise alone", "published ranges"],
        legend,
    )
    covered(drawn, "topologies")


def covered(drawn: plt.Figure, name: str) -> None:
    """No legend over a panel, no title outside."""
    drawn.canvas.draw()
    for legend in drawn.legends:
        box = legend.get_window_extent()
        check(f"{name}: the legend covers no panel", not any(box.overlaps(a.bbox) for a in drawn.axes))
        check(f"{name}: the legend is in view", drawn.bbox.x0 <= box.x0 and box.x1 <= drawn.bbox.x1)
    plt.close(drawn)


def figure_of_maxload(path: pathlib.Path) -> None:
    with potluck.open(path) as ds:
        drawn, table = potluck.plot_maxload(ds), potluck.frame(ds)
    titles = [a.get_title() for a in drawn.axes]
    check(
        "a row of panels for each number of jobs",
        titles
        == [f"arcs, virtual {v}, {j} per server" for v in (1, 4) for j in ("1 job", "5 jobs")],
        titles,
    )
    table = table[(table["balls"] == table["n"]) & (table["virtual"] == 1)]
    axis = drawn.axes[0]
    curves = {name: h[0] for h, name in zip(*axis.get_legend_handles_labels())}
    check(
        "ties are told apart where they matter",
        set(curves)
        == {"nearest", "bounded (ε = 0.5)"}
        | {f"points (d = {d}, {t})" for d in (2, 3) for t in ("fair", "smaller-arc")},
        set(curves),
    )
    wanted = table[(table["policy"] == "points") & (table["d"] == 3) & (table["ties"] == "fair")]
    line = curves["points (d = 3, fair)"]
    check("sizes of a curve", list(line.get_xdata()) == [20, 200, 2000], line.get_xdata())
    check("means of a curve", np.array_equal(line.get_ydata(), wanted["mean_max_load"]))
    bars = next(
        c for c in axis.containers if np.array_equal(c[0].get_ydata(), wanted["mean_max_load"])
    )[2][0].get_segments()
    half = [(s[1][1] - s[0][1]) / 2 for s in bars]
    check("95 % intervals", np.allclose(half, 1.96 * wanted["se_max_load"]), half)
    drawn.canvas.draw()
    for axis, title in zip(drawn.axes, titles):
        boxes = [t.get_window_extent() for t in axis.texts]
        check(f"{title}: a name at each end", len(boxes) == 6, [t.get_text() for t in axis.texts])
        for i, text in enumerate(axis.texts):
            place = matplotlib.text.Text.get_window_extent(text)
            check(f"{title}: {text.get_text()} is in view", place.x1 <= axis.bbox.x1 + 1)
            others = [matplotlib.text.Text.get_window_extent(t) for t in axis.texts[i + 1 :]]
            check(f"{title}: {text.get_text()} is legible", not any(place.overlaps(o) for o in others))
    covered(drawn, "maxload")


def spread() -> None:
    """Names at the ends of curves."""
    for heights in ([0, 0, 0, 0], [0, 5, 5.5, 40], [1, 100]):
        placed = drawing.apart(np.array(heights), 10)
        check(f"names of {heights} apart", (np.diff(placed) >= 9.9).all(), placed)
        check(f"names of {heights} near", abs(placed.mean() - np.mean(heights)) < 1e-9, placed)
    check("far ones stay", list(drawing.apart(np.array([1, 100]), 10)) == [1, 100])


def command_line(places: pathlib.Path, arcs: pathlib.Path, folder: pathlib.Path) -> None:
    def run(script: str, *arguments: object) -> subprocess.CompletedProcess:
        path = str(ROOT / "analysis" / script)
        command = [sys.executable, "-B", path, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for name, results in (("topologies", places), ("maxload", arcs)):
        picture = folder / f"{name}.png"
        done = run("potluck.py", name, results, picture)
        check(f"potluck.py {name}", done.returncode == 0 and not done.stderr, done.stderr)
        if picture.exists():
            pixels = matplotlib.image.imread(picture)[..., :3]
            check(f"{name}.png is large enough", min(pixels.shape[:2]) >= 500, pixels.shape)
            dark = float((pixels.mean(axis=2) < 0.9).mean())
            check(f"{name}.png shows something", 0.01 < dark < 0.6, dark)
    for name, results in (("topologies", arcs), ("maxload", places.with_name("one.h5"))):
        check_refusal = name == "topologies"
        done = run("potluck.py", name, results, folder / "other.png")
        good = done.returncode == 2 and len(done.stderr.splitlines()) == 1
        check(f"{name} of another job", good if check_refusal else done.returncode == 0, done.stderr)
    done = run("topologies.py", places)
    check("topologies.py", done.returncode == 0 and "star" in done.stdout, done.stderr)
    done = run("topologies.py", places, "--markdown", "unif-pot{1}")
    check("topologies.py --markdown", done.stdout.count("\n") == 2 + len(NAMES), done.stdout)
    for results in (arcs, folder / "none.h5"):
        done = run("topologies.py", results)
        good = done.returncode == 2 and len(done.stderr.splitlines()) == 1
        check(f"topologies.py {results.name}: one sentence", good, done.stderr)


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        places, arcs = play(program, folder, PLACES, "places"), play(program, folder, ARCS, "arcs")
        planted()
        table_of(places)
        other_baselines(program, folder)
        figure_of_topologies(places)
        figure_of_maxload(arcs)
        spread()
        command_line(places, arcs, folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
