# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds a result file against theory, and against itself.

    python3 -m potluck check OUT.h5

Only what is exact can fail: formulas that hold for every finite system, bounds, and identities of
the file that hold up to rounding. Limits and approximations are shown. The K comparisons that have
noise share one rate of false alarms, `level` for the whole file: each is made at level/K.
"""
from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys

import numpy as np
import pandas as pd
import xarray as xr

import potluck
from potluck import check_identities, check_statistics, theory
from potluck.formulas_base import Formula, Point

COLUMNS = (
    *("point", "label", "quantity", "formula", "kind", "measured", "se", "theory", "z"),
    *("verdict", "reference"),
)
_FAILED = ("DISAGREES", "VIOLATED")
#: What every file of a model has, whatever its job keeps.
_NEEDED = {
    "balls": (
        *("topology", "policy", "load_count", "load_fraction", "max_load_count"),
        "mean_max_load",
    ),
    "queue": (
        *("topology", "policy", "mean_response", "mean_queue_length", "load_time"),
        *("load_at_chosen", "load_at_origin", "response_count"),
    ),
    "dht": ("nodes", "mean_success", "mean_hops", "hop_count"),
    "harness": (),
}


def check(source: potluck.Source, level: float = 1e-4) -> pd.DataFrame:
    """Compare every point that a formula covers, and every identity of the file.

    Parameters
    ----------
    source : path of a result file, or the Dataset that `potluck.open` gave; complete or not.
    level : probability of any false alarm in an honest file.

    Returns
    -------
    pandas.DataFrame
        A row for each comparison: `point`, `label`, `quantity`, `formula`, `kind` (exact, bound,
        limit, approximation), `measured`, `se` (0 where there is no noise), `theory`, `z`,
        `verdict` (agrees, DISAGREES; holds, VIOLATED for bounds; shown for limits and
        approximations; too few replications), `reference`. Attributes `level`, `comparisons` (those
        with noise), `points` and `uncovered` (points that no formula covers, identities apart).

    Raises
    ------
    potluck.Damaged
        When the file is damaged or lacks what every result file has.
    """
    if not isinstance(source, xr.Dataset):
        _refuse_deadly(source)
        with potluck.open(source) as ds:
            return check(_loaded(ds, str(source)), level)
    ds = _loaded(source, "the file")
    _refuse_incomplete(ds)
    table = _points(ds)
    values = {str(name): np.asarray(v.values) for name, v in ds.variables.items()}
    points = table.to_dict("records")  # an order of magnitude faster than rows of the table
    rows = [_identity_row(x, points) for x in check_identities.all_of(ds, values, table, points)]
    covered = set()
    for i, point in enumerate(points):
        found = [row for f in _covering(point) if (row := _compare(f, point, values, i))]
        covered |= {i} if found else set()
        rows += found
    out = pd.DataFrame(rows, columns=[*COLUMNS, "p"])
    noisy = out["p"].notna() & out["kind"].isin(("exact", "bound"))
    out.loc[noisy, "verdict"] = [
        _verdict(kind, p * noisy.sum() >= level)
        for kind, p in zip(out.loc[noisy, "kind"], out.loc[noisy, "p"])
    ]
    out = out.drop(columns="p")
    out.attrs = {
        "level": level,
        "comparisons": int(noisy.sum()),
        "points": len(table),
        "uncovered": sorted(set(range(len(table))) - covered),
    }
    return out


def _refuse_deadly(path: str | os.PathLike) -> None:
    """Some damage makes the HDF5 library itself crash (1.10 frees what it never had), which nothing
    can catch: another process reads the file first.
    """
    if not hasattr(os, "fork") or not os.path.isfile(path):
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with contextlib.suppress(BaseException), potluck.open(path) as ds:
            ds.load()
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        raise potluck.Damaged(f"{path} is damaged: the HDF5 library crashes when it reads it")


def _loaded(ds: xr.Dataset, name: str) -> xr.Dataset:
    try:
        return ds.load()
    except Exception as reason:  # whatever the libraries find in a broken file
        raise potluck.Damaged(f"{name} is damaged: {reason}") from None


def _refuse_incomplete(ds: xr.Dataset) -> None:
    model = str(ds.attrs.get("model", ""))
    if model not in _NEEDED:
        raise potluck.Damaged(f"no result file of potluck: its model is {model!r}")
    lacks = [name for name in _NEEDED[model] if name not in ds.variables]
    lacks += [] if "resolved" in ds.attrs else ["resolved"]
    for name in map(str, ds.variables):
        if name.startswith("mean_") and ds[name].dims == ("point",) and name != "mean_degree":
            row = name[len("mean_") :]
            lacks += [f"se_{row}"] if f"se_{row}" not in ds.variables else []
            rows = "replication" in ds.dims and row not in ds.variables
            lacks += [row] if rows else []
        if name.endswith("_batch") and name[: -len("_batch")] not in ds.variables:
            lacks.append(name[: -len("_batch")])
        if ds[name].dims == ("point", "replication") and f"mean_{name}" not in ds.variables:
            lacks.append(f"mean_{name}")
    if lacks:
        raise potluck.Damaged(f"the file is damaged: it has no `{lacks[0]}`")


def _points(ds: xr.Dataset) -> pd.DataFrame:
    """The points, with what formulas ask for besides."""
    table = potluck.frame(ds)
    table["model"] = str(ds.attrs["model"])
    if "load_at_origin" in ds and "load_at_chosen" in ds:
        origin, chosen = (ds[x].values.astype(float) for x in ("load_at_origin", "load_at_chosen"))
        with np.errstate(invalid="ignore", divide="ignore"):
            busy, both = (1 - x[:, 0] / x.sum(axis=1) for x in (origin, chosen))
        table["both_empty"] = 1 - 2 * busy + both
        table["se_little"] = _little(ds, table)
    return table


def _little(ds: xr.Dataset, table: pd.DataFrame) -> np.ndarray:
    """Standard error of the difference of the two sides of Little's law, NaN without rows."""
    if "response" not in ds or "queue_length" not in ds or "lambda" not in table:
        return np.full(len(table), np.nan)
    rate = table["lambda"].to_numpy(float)[:, None]
    off = ds["queue_length"].values - rate * ds["response"].values
    count = np.isfinite(off).sum(axis=1)
    spread = np.full(len(table), np.nan)
    enough = count > 1
    spread[enough] = np.nanstd(off[enough], axis=1, ddof=1) / np.sqrt(count[enough])
    return spread


def _covering(point: Point) -> list[Formula]:
    return theory.covering(point) if point["replications"] > 0 else []


def _compare(formula: Formula, point: Point, values: dict, i: int) -> list | None:
    """A row of the table, or nothing where the file does not have the quantity."""
    name = formula.quantity
    if f"mean_{name}" not in values:
        if name not in values:
            return None
        counts = values[name][i].astype(float)
        if formula.draws:
            found = check_statistics.draws(formula, point, counts)
        else:
            batch = f"{name}_batch"
            parts = values[batch][i].astype(float) if batch in values else None
            found = check_statistics.batches(formula, point, counts, parts)
    else:
        found = check_statistics.mean(formula, point)
    if found is None:
        return None
    verdict = found.reason or "shown"
    return [
        *(i, point["label"], found.quantity, formula.name, formula.kind, found.measured, found.se),
        *(found.theory, found.z, verdict, formula.reference),
        found.p if formula.kind in ("exact", "bound") else math.nan,
    ]


def _identity_row(x: check_identities.Identity, points: list[Point]) -> list:
    verdict = "agrees" if x.holds else "DISAGREES"
    label = points[x.point]["label"]
    return [
        *(x.point, label, x.quantity, x.name, "exact", x.measured, 0.0, x.theory, math.nan),
        *(verdict, "identity of the file", math.nan),
    ]


def _verdict(kind: str, fine: bool) -> str:
    if kind == "bound":
        return "holds" if fine else "VIOLATED"
    return "agrees" if fine else "DISAGREES"


# -------------------------------------------------------------------------------------------------
# In words


def failed(table: pd.DataFrame) -> pd.DataFrame:
    """The comparisons that disagree."""
    return table[table["verdict"].isin(_FAILED)]


def summary(table: pd.DataFrame) -> str:
    """One sentence: what agrees, what does not, what no formula covers."""
    counts = table["verdict"].value_counts()
    wrong = sum(counts.get(x, 0) for x in _FAILED)
    fine = counts.get("agrees", 0) + counts.get("holds", 0)
    level, noisy = table.attrs.get("level", 1e-4), table.attrs.get("comparisons", 0)
    words = [f"{fine} of {fine + wrong} exact comparisons agree"]
    if wrong:
        points = failed(table)["point"].nunique()
        where = _points_in_words(points)
        words[0] = f"{wrong} of {fine + wrong} exact comparisons disagree, at {where}"
    words.append(f"{noisy} of them have noise (an honest file fails with probability {level:g})")
    if counts.get("shown", 0):
        words.append(f"limits and approximations are shown: {counts['shown']}")
    if counts.get("too few", 0):
        words.append(f"too few replications: {counts['too few']}")
    bare, points = table.attrs.get("uncovered", []), table.attrs.get("points", 0)
    if bare:
        words.append(f"no formula covers {len(bare)} of {_points_in_words(points)}")
    return "; ".join(words) + "."


def _points_in_words(count: int) -> str:
    return f"{count} point{'' if count == 1 else 's'}"


def text(table: pd.DataFrame) -> str:
    """An aligned table of comparisons: all columns but the reference."""
    if not len(table):
        return ""
    heads = ("point", "quantity", "formula", "measured", "theory", "z", "verdict", "label")
    cells = [heads] + [
        (
            str(r.point), r.quantity, r.formula, _number(r.measured), _number(r.theory),
            "" if math.isnan(r.z) else f"{r.z:.1f}", r.verdict, r.label,
        )
        for r in table.itertuples()
    ]
    return _aligned(cells, numbers=(0, 3, 4, 5))


def by_formula(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each formula and quantity: kind, points, how many disagree, the largest z."""
    quantity = table["quantity"].str.split(" ").str[0]
    groups = table.groupby([table["formula"], quantity, table["kind"]], sort=False)
    out = groups.agg(
        points=("point", "nunique"),
        wrong=("verdict", lambda v: int(v.isin(_FAILED).sum())),
        few=("verdict", lambda v: int((v == "too few").sum())),
        z=("z", lambda z: _extreme(z)),
        difference=("measured", lambda m: _extreme(m - table.loc[m.index, "theory"])),
    )
    return out.reset_index()


def _extreme(values: pd.Series) -> float:
    """The value that is furthest from 0."""
    seen = values.dropna()
    return float(seen.loc[seen.abs().idxmax()]) if len(seen) else math.nan


def formulas_text(table: pd.DataFrame) -> str:
    """The table of `by_formula`, aligned; identities of the file in one line."""
    inside = table["reference"] == "identity of the file"
    cells = [("formula", "quantity", "kind", "points", "disagree", "worst z", "largest difference")]
    for r in by_formula(table[~inside]).itertuples():
        note = f", {r.few} with too few replications" if r.few else ""
        z = "" if math.isnan(r.z) else f"{r.z:.1f}"
        cells.append(
            (r.formula, r.quantity, r.kind + note, str(r.points), str(r.wrong), z,
             _number(r.difference))
        )
    count, wrong = int(inside.sum()), int(table[inside]["verdict"].isin(_FAILED).sum())
    points = table[inside]["point"].nunique()
    cells.append((f"{count} identities of the file", "", "exact", str(points), str(wrong), "", ""))
    return _aligned(cells, numbers=(3, 4, 5, 6))


def _number(x: float) -> str:
    return "" if math.isnan(x) else f"{x:.6g}"


def _aligned(cells: list[tuple[str, ...]], numbers: tuple[int, ...]) -> str:
    widths = [max(len(row[c]) for row in cells) for c in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = [
            x.rjust(w) if c in numbers else x.ljust(w) for c, (x, w) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------
# Command


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("results", metavar="OUT.h5")
    parser.add_argument("--all", action="store_true", help="print every comparison")
    parser.add_argument("--csv", action="store_true", help="print every comparison as CSV")
    parser.add_argument(
        "--level", type=_level, default=1e-4, metavar="P",
        help="probability of a false alarm in an honest file (1e-4)",
    )


def _level(words: str) -> float:
    value = float(words)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("it lies between 0 and 1")
    return value


def run(options: argparse.Namespace) -> int:
    """The command: 0 when all that is exact agrees, 3 when something does not."""
    table = check(options.results, options.level)
    wrong = failed(table)
    if options.csv:
        print(table.to_csv(index=False), end="")
        return 3 if len(wrong) else 0
    if len(wrong) and not options.all:
        shown = wrong.head(40)
        print(text(shown))
        if len(wrong) > len(shown):
            print(f"... and {len(wrong) - len(shown)} more (--all)")
        print()
    print(text(_failures_first(table)) if options.all else formulas_text(table))
    print(f"\n{os.path.basename(str(options.results))}: {summary(table)}")
    return 3 if len(wrong) else 0


def _failures_first(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[np.argsort(~table["verdict"].isin(_FAILED), kind="stable")]
