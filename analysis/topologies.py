# SPDX-License-Identifier: GPL-3.0-or-later
"""Total variation and cost saved by topology, as one table.

    /usr/bin/python3 analysis/topologies.py proximity-topologies.h5
    /usr/bin/python3 analysis/topologies.py proximity-topologies.h5 --markdown "unif-pot{1}"

For each topology and policy of a result: the total variation of the load law to that of `pot`, as
the bracket [cross-fitted, plug-in] with the floor that noise alone would show, and the share of the
cost saved against `pot` (the origin and another server) and against `choices{2}` (two servers
wherever the job arrives). A star marks what lies in the ranges that Panigrahy et al. (ACM TOMPECS
7, 2022) report; below the table stands what does not. With --markdown the policies named are the
columns, one topology a line, and bold is what lies outside.
"""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck import naming
from potluck.figures import PUBLISHED_SAVING, PUBLISHED_TV


class Variation(NamedTuple):
    """Total variation of two load laws, estimated from histograms in batches of replications."""

    cross: float  #: signs from one half of the batches, sums from the other: biased low
    tv: float  #: plug-in: biased high
    floor: float  #: what the plug-in would be expected to show if the laws were equal


def variation(p: np.ndarray, q: np.ndarray) -> Variation:
    """Total variation of two points, as the program estimates it for a point and its baseline.

    Parameters
    ----------
    p, q : servers by load, shape (batch, load): `load_count_batch` of two points. Batches without
        replications are empty; those of one number are of the same replications.

    Returns
    -------
    Variation
        NaN where a point has nothing, or too few batches for a spread.
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    both = (p.sum(axis=1) > 0) & (q.sum(axis=1) > 0)
    even = np.arange(len(p)) % 2 == 0
    if not (both & even).any() or not (both & ~even).any():
        return Variation(np.nan, _distance(p, q), np.nan)
    apart = p[both] / p[both].sum(axis=1)[:, None] - q[both] / q[both].sum(axis=1)[:, None]
    floor = np.nan
    if len(apart) > 1:
        error = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
        floor = np.sqrt(2 / np.pi) * error.sum() / 2
    halves = []
    for half in (even, ~even):
        signs = np.sign(_difference(p[~half], q[~half]))
        halves.append((apart[half[both]] @ signs).mean() / 2)
    enough = (both & even).sum() > 1 and (both & ~even).sum() > 1
    cross = float(np.mean(halves)) if enough else np.nan
    return Variation(cross, _distance(p, q), float(floor))


def table(ds: xr.Dataset) -> pd.DataFrame:
    """One row for each setting and policy other than `pot`; settings without `pot` have none.

    Parameters
    ----------
    ds : what `potluck.open` gave, of any job; its own baseline may be another policy.

    Returns
    -------
    pandas.DataFrame
        Index `point`; columns topology (with its parameters), policy, tv_cross, tv, tv_floor, saved
        (of the cost of `pot`), saved_choices (of that of `choices{2}`; NaN without it), and whether
        the published ranges hold, to the digits that are printed: tv_inside (the bracket reaches
        into the range), saved_inside.
    """
    (lowest, highest), (least, most) = PUBLISHED_TV, PUBLISHED_SAVING
    points = potluck.frame(ds)
    points["setting"] = naming.settings(points)
    counts = ds["load_count_batch"].values
    found = {}
    for setting, group in points.groupby("setting", sort=False):
        pot = group[group["policy"] == "pot"]
        if pot.empty:
            continue
        two = group[(group["policy"] == "choices") & (group["d"] == 2)] if "d" in group else pot[:0]
        far = two["mean_cost"].iloc[0] if len(two) else np.nan
        for at, point in group[group["policy"] != "pot"].iterrows():
            v = variation(counts[at], counts[pot.index[0]])
            saved = 1 - point["mean_cost"] / pot["mean_cost"].iloc[0]
            found[at] = {
                "topology": setting,
                "policy": _policy(point),
                "tv_cross": v.cross,
                "tv": v.tv,
                "tv_floor": v.floor,
                "tv_inside": not (round(v.tv, 4) < lowest or round(v.cross, 4) > highest),
                "saved": saved,
                "saved_inside": least <= round(saved, 3) <= most,
                "saved_choices": 1 - point["mean_cost"] / far,
            }
    if not found:
        raise ValueError("no point of this file has the policy pot to be compared with")
    out = pd.DataFrame.from_dict(found, orient="index")
    out.index.name = "point"
    return out


def text(rows: pd.DataFrame) -> str:
    """What `table` gave, for people."""
    width = rows["topology"].str.len().max() + 2
    lines = [
        f"{'topology':<{width}}{'policy':<14}{'total variation':>17}{'floor':>9}{'saved':>10}"
        f"{'of choices{2}':>16}"
    ]
    for r in rows.itertuples():
        bracket = f"[{max(r.tv_cross, 0):.4f}, {r.tv:.4f}]{'*' if r.tv_inside else ' '}"
        saved = f"{_percent(r.saved)}{'*' if r.saved_inside else ' '}"
        lines.append(
            f"{r.topology:<{width}}{r.policy:<14}{bracket:>18}{r.tv_floor:>8.4f}{saved:>11}"
            f"{_percent(r.saved_choices):>15}"
        )
    near = rows[rows["policy"].str.startswith(("unif-pot", "invsq-pot"))]
    lines += ["", "Outside the published ranges (unif-pot and invsq-pot):"]
    for topology, group in near.groupby("topology", sort=False):
        lines.append(f"{topology:<{width}}{_outside(group)}")
    return "\n".join(lines)


def markdown(rows: pd.DataFrame, policies: Iterable[str]) -> str:
    """What `table` gave of some policies, a line for each topology; bold is outside the ranges."""
    policies = list(policies)
    heads = [f"`{p}`: total variation | saved" for p in policies]
    lines = [f"| topology | {' | '.join(heads)} |", "| --- |" + " --- | --- |" * len(policies)]
    for topology, group in rows.groupby("topology", sort=False):
        by_policy = {r.policy: r for r in group.itertuples()}
        cells = [cell for p in policies for cell in _cells(by_policy.get(p))]
        lines.append(f"| {topology} | {' | '.join(cells)} |")
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------


def _difference(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Of the fractions of servers with each load, all batches together."""
    with np.errstate(invalid="ignore"):
        return p.sum(axis=0) / p.sum() - q.sum(axis=0) / q.sum()


def _distance(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.abs(_difference(p, q)).sum() / 2)


def _policy(point: pd.Series) -> str:
    """`unif-pot{3}`."""
    named = [point[n] for n in ("k", "d", "beta", "epsilon") if n in point and point[n] == point[n]]
    return str(point["policy"]) + (f"{{{named[0]:g}}}" if named else "")


def _percent(share: float) -> str:
    """With a decimal; no -0.0."""
    return f"{round(100 * share, 1) + 0.0:.1f} %" if np.isfinite(share) else "-"


def _range(r: tuple) -> str:
    """`0.0289` or, where the estimates differ in print, `0.0028-0.0034`."""
    low, high = f"{max(r.tv_cross, 0):.4f}", f"{r.tv:.4f}"
    return high if low == high or np.isnan(r.tv_cross) else f"{low}-{high}"


def _cells(r: tuple | None) -> tuple[str, str]:
    if r is None:
        return "", ""
    tv, saved = _range(r), _percent(r.saved)
    return (tv if r.tv_inside else f"**{tv}**"), (saved if r.saved_inside else f"**{saved}**")


def _outside(group: pd.DataFrame) -> str:
    """The policies of a topology that miss a range, and by how much."""
    words = []
    for r in group.itertuples():
        missed = [] if r.tv_inside else [f"total variation {_range(r)}"]
        missed += [] if r.saved_inside else [f"saves {_percent(r.saved)}"]
        if missed:
            words.append(f"{r.policy} {', '.join(missed)}")
    return "; ".join(words) or "none"


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="topologies.py", description="Total variation and cost saved by topology."
    )
    parser.add_argument("results", metavar="OUT.h5")
    parser.add_argument("--markdown", nargs="+", metavar="POLICY", help="such as unif-pot{3}")
    options = parser.parse_args(arguments)
    try:
        with potluck.open(options.results) as ds:
            rows = table(ds)
    except (OSError, ValueError) as reason:
        print(f"topologies.py: {reason}", file=sys.stderr)
        return 2
    print(markdown(rows, options.markdown) if options.markdown else text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
