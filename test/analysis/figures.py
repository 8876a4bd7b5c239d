# SPDX-License-Identifier: GPL-3.0-or-later
"""The reader and its figures on real runs; the quickstart from start to end.

    python3 figures.py PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import h5py  # noqa: E402
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.image  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import potluck  # noqa: E402

JOB = """# Does nearness cost balance?
title: Does nearness cost balance?
model: balls
seed: 7
replications: 400
topology:
  - ring: {n: 60}
  - torus: {sides: 7x8}
  - hypercube: {dim: 6}
policy:
  - one-choice
  - pot
  - choices: {d: 2}
  - unif-pot: {k: [1, 2, 4]}
  - invsq-pot: {k: [2, 4]}
balls: [1n, 3n]
baseline: pot
"""
POINTS, PANELS, PER_PANEL = 3 * 8 * 2, 3 * 2, 8
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


def reader(path: pathlib.Path) -> None:
    """open, frame and rows against what h5py sees."""
    with potluck.open(path) as ds, h5py.File(path) as f:
        check("points", ds.sizes["point"] == POINTS, ds.sizes)
        check(
            "parameters are coordinates",
            {"label", "topology", "policy", "k", "balls", "ties"} <= set(ds.coords),
            set(ds.coords),
        )
        check(
            "results are not",
            not {"mean_cost", "tv", "replications", "cost_reduction"} & set(ds.coords),
        )
        check("rows are not coordinates", ds["max_load"].dims == ("point", "replication"))
        check(
            "attributes",
            ds.attrs["title"] == "Does nearness cost balance?" and ds.attrs["model"] == "balls",
            ds.attrs.keys(),
        )
        check("the job is in the file", ds.attrs["job"] == JOB)
        check(
            "units",
            all("units" in ds[v].attrs and "long_name" in ds[v].attrs for v in ds.data_vars),
        )
        table = potluck.frame(ds)
        check("frame has a row per point", len(table) == POINTS and table.index.name == "point")
        check(
            "frame: parameters first",
            list(table.columns[:3]) == ["label", "topology", "policy"],
            list(table.columns),
        )
        check("frame: means", np.array_equal(table["mean_cost"], f["mean_cost"][:]))
        check(
            "frame: k of unif-pot",
            list(table.loc[table.policy == "unif-pot", "k"].unique()) == [1, 2, 4],
        )
        check("frame: no k elsewhere", table.loc[table.policy == "pot", "k"].isna().all())
        check("frame: labels differ", table["label"].is_unique)
        runs = potluck.rows(ds)
        check("rows: all replications", len(runs) == POINTS * 400, len(runs))
        check(
            "rows: columns",
            list(runs.columns[:3]) == ["point", "replication", "label"] and "cost" in runs,
        )
        means = runs.groupby("point")["max_load"].mean()
        check("rows: their means", np.allclose(means, table["mean_max_load"], rtol=1e-12))
        check(
            "rows: parameters", (runs.groupby("point")["policy"].first() == table["policy"]).all()
        )
        pot = table[table.policy == "pot"]
        check(
            "the baseline is its own", (pot["tv"] == 0).all() and (pot["cost_reduction"] == 0).all()
        )
        check("bracket", (table["tv_cross"].fillna(0) <= table["tv"] + 1e-12).all())
    check("frame of a path", potluck.frame(path).equals(table))
    check("rows of a path", potluck.rows(str(path)).equals(runs))


def other_readers(path: pathlib.Path) -> None:
    """xarray, h5py, h5dump and ncdump show the same variables of a real result."""
    here = pathlib.Path(__file__).resolve().parent
    script = next(p for p in (here / "_readers.py", here / "readers.py") if p.exists())
    done = subprocess.run(
        [sys.executable, "-B", str(script), str(path)], capture_output=True, text=True, check=False
    )
    check(
        f"readers of {path.name}", done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    )


def figure(path: pathlib.Path) -> None:
    """What the trade-off figure shows."""
    with potluck.open(path) as ds:
        drawn = potluck.plot_tradeoff(ds)
        panels = [a for a in drawn.axes if a.get_visible()]
        check("a panel per topology and load", len(panels) == PANELS, len(panels))
        titles = [a.get_title() for a in panels]
        check(
            "panel titles differ and name the size",
            len(set(titles)) == PANELS and any("7×8" in t for t in titles),
            titles,
        )
        for axis, title in zip(panels, titles):
            curves = axis.containers
            check(f"{title}: a curve per policy", len(curves) == 3, len(curves))
            check(
                f"{title}: points of a curve",
                sorted(len(c[0].get_xdata()) for c in curves) == [1, 2, 3],
            )
            check(
                f"{title}: cost label with unit",
                "hops" in axis.get_xlabel() and "%" in axis.get_xlabel(),
            )
            check(f"{title}: k beside markers", any("k = " in t.get_text() for t in axis.texts))
            check(
                f"{title}: one choice",
                any("one-choice" in str(line.get_label()) for line in axis.lines),
            )
            low, high = axis.get_ylim()
            values = np.concatenate([c[0].get_ydata() for c in curves])
            check(f"{title}: all points in view", (values >= low).all() and (values <= high).all())
        check("vertical label", "total variation" in panels[0].get_ylabel())
        check(
            "the title is the question",
            drawn.get_suptitle() == "Does nearness cost balance?"
            if hasattr(drawn, "get_suptitle")
            else drawn._suptitle.get_text() == "Does nearness cost balance?",
        )
        drawn.canvas.draw()
        legend = drawn.legends[0].get_window_extent()
        check(
            "the legend covers no panel",
            not any(legend.overlaps(a.get_window_extent()) for a in panels),
        )
        names = [t.get_text() for t in drawn.legends[0].get_texts()]
        check(
            "the legend names each policy once",
            len(names) == len(set(names))
            and all(
                any(p in n for n in names)
                for p in ("unif-pot", "invsq-pot", "choices", "noise alone")
            ),
            names,
        )
        plt.close(drawn)


def picture(name: str, path: pathlib.Path) -> None:
    """A file that is a picture with something on it."""
    good = path.exists() and path.stat().st_size > 10_000
    check(f"{name} is there", good)
    if good:
        pixels = matplotlib.image.imread(path)[..., :3]
        check(f"{name} is large enough", min(pixels.shape[:2]) >= 500, pixels.shape)
        check(f"{name} shows something", 0.01 < float((pixels.mean(axis=2) < 0.9).mean()) < 0.6)


def command_line(path: pathlib.Path, means: pathlib.Path, folder: pathlib.Path) -> None:
    script = str(ROOT / "analysis" / "potluck.py")

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-B", script, *arguments], capture_output=True, text=True, check=False
        )

    done = run("tradeoff", str(path), str(folder / "a.png"))
    check("tradeoff", done.returncode == 0 and not done.stderr, done.stderr)
    picture("a.png", folder / "a.png")
    check("tradeoff of means", run("tradeoff", str(means), str(folder / "b.png")).returncode == 0)
    picture("b.png", folder / "b.png")
    missing = run("tradeoff", str(folder / "none.h5"), str(folder / "c.png"))
    check(
        "a missing file is one sentence",
        missing.returncode == 2 and len(missing.stderr.splitlines()) == 1,
        missing.stderr,
    )
    check("no arguments", run().returncode == 2)
    try:
        potluck.rows(means)
        check("rows of means are refused", False)
    except ValueError as reason:
        check("rows of means are refused", "keep" in str(reason))
    check("frame of means", len(potluck.frame(means)) == POINTS)


def quickstart(folder: pathlib.Path) -> None:
    """jobs/quickstart.sh from another folder, twice."""
    for turn in ("first", "second"):
        done = subprocess.run(
            ["bash", str(ROOT / "jobs" / "quickstart.sh")],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        check(f"quickstart, {turn} call", done.returncode == 0, done.stderr[-2000:])
        check(
            f"quickstart, {turn} call: the table",
            "invsq-pot" in done.stdout and "torus" in done.stdout,
            done.stdout[:500],
        )
    picture("quickstart.png", folder / "quickstart.png")
    table = potluck.frame(folder / "quickstart.h5")
    near = table[table["policy"].isin(["unif-pot", "invsq-pot"])]
    check(
        "quickstart: curves of two policies on two topologies",
        len(near.groupby(["topology", "policy"])) == 4,
    )
    check("quickstart: near is cheap", (near["cost_reduction"] > 0.2).all())
    above = near[near["k"] <= 5]
    check(
        "quickstart: differences stand out of the noise",
        (above["tv"] > 3 * above["tv_floor"]).all(),
        above[["tv", "tv_floor"]],
    )
    for (topology, policy), curve in near.groupby(["topology", "policy"]):
        seen = curve.sort_values("k")
        check(
            f"quickstart: {topology} {policy}: farther is dearer",
            seen["mean_cost"].is_monotonic_increasing,
        )
        check(
            f"quickstart: {topology} {policy}: farther is better balanced",
            seen["tv"].iloc[0] > seen["tv"].iloc[-1],
        )


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = play(program, folder, JOB, "rows")
        means = play(program, folder, JOB + "keep: means\n", "means")
        reader(path)
        other_readers(path)
        other_readers(means)
        figure(path)
        command_line(path, means, folder)
        quickstart(folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
