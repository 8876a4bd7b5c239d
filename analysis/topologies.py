# SPDX-License-Identifier: GPL-3.0-or-later
"""Total variation and cost reduction by topology, as one table.

    /usr/bin/python3 analysis/topologies.py proximity-topologies.h5

For each topology and policy of the result: the total variation of the load law to that of `pot`, as
the bracket [cross-fitted, plug-in] with the floor that noise alone would show, and the share of the
cost saved against `pot` (the origin and another server) and against `choices{2}` (two servers
wherever the job arrives). A star marks what lies inside the ranges that Panigrahy et al. (ACM
TOMPECS 7, 2022) report: total variation 0.002 to 0.08 and 8 to 99 % of the cost.
"""
from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
import potluck
import xarray as xr

#: The published ranges.
TV_RANGE, SAVING_RANGE = (0.002, 0.08), (0.08, 0.99)


class Variation(NamedTuple):
    """Total variation of two load laws, estimated from histograms in batches of replications."""

    cross: float  #: signs from one half of the batches, sums from the other: biased low
    tv: float  #: plug-in: biased high
    floor: float  #: what the plug-in would show if the laws were equal


def variation(p: np.ndarray, q: np.ndarray) -> Variation:
    """As the result file computes it, for any two points.

    Parameters
    ----------
    p, q : counts, shape (batch, load).
    """
    size_p, size_q = p.sum(axis=1), q.sum(axis=1)
    both = (size_p > 0) & (size_q > 0)
    pooled = p.sum(axis=0) / size_p.sum() - q.sum(axis=0) / size_q.sum()
    each = p[both] / size_p[both, None] - q[both] / size_q[both, None]
    error = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    parity = np.flatnonzero(both) % 2
    halves = []
    for half in (0, 1):
        other = np.arange(len(p)) % 2 != half
        sign = np.sign(
            p[other].sum(axis=0) / size_p[other].sum() - q[other].sum(axis=0) / size_q[other].sum()
        )
        halves.append((each[parity == half] @ sign).mean() / 2)
    return Variation(
        float(np.mean(halves)),
        float(np.abs(pooled).sum() / 2),
        float(np.sqrt(2 / np.pi) * error.sum() / 2),
    )


def _setting(point: pd.Series, names: list[str]) -> str:
    """`torus sides=32x32`: what tells one topology from another."""
    words = [str(point.topology)]
    for name in names:
        value = point[name]
        if value == "" or (isinstance(value, float) and np.isnan(value)):
            continue
        words.append(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
    return " ".join(words)


def _policy(point: pd.Series) -> str:
    number = next((point[n] for n in ("k", "d") if n in point and point[n] == point[n]), None)
    return str(point.policy) if number is None else f"{point.policy}{{{number:g}}}"


def table(ds: xr.Dataset) -> pd.DataFrame:
    """One row per topology and policy.

    Returns
    -------
    pandas.DataFrame
        topology, policy, tv_cross, tv, tv_floor, saved (against pot), saved_se, saved_choices
        (against choices{2}; NaN without it), and whether the published ranges hold: tv_inside,
        saved_inside.
    """
    points = potluck.frame(ds)
    counts = ds["load_count_batch"].values.astype(float)
    own = {"label", "policy", "k", "d", "self", "distinct", "beta", "epsilon", "ties", "method"}
    own |= {"balls", "distances", "origins", "graphs", "connect", "topology"}
    names = [n for n in potluck.parameters(ds) if n not in own]
    points["setting"] = [_setting(p, names) for _, p in points.iterrows()]
    rows = []
    for setting, group in points.groupby("setting", sort=False):
        pot = group[group.policy == "pot"]
        two = group[(group.policy == "choices") & (group.get("d") == 2)]
        for at, p in group.iterrows():
            if not len(pot) or p.policy == "pot":
                continue
            v = variation(counts[at], counts[pot.index[0]])
            far = two.mean_cost.iloc[0] if len(two) else np.nan
            saved = 1 - p.mean_cost / pot.mean_cost.iloc[0]
            rows.append(
                {
                    "topology": setting,
                    "policy": _policy(p),
                    "tv_cross": v.cross,
                    "tv": v.tv,
                    "tv_floor": v.floor,
                    "tv_inside": TV_RANGE[0] <= v.tv and v.cross <= TV_RANGE[1],
                    "saved": saved,
                    "saved_inside": SAVING_RANGE[0] <= saved <= SAVING_RANGE[1],
                    "saved_se": p.se_cost_reduction,
                    "saved_choices": 1 - p.mean_cost / far,
                }
            )
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> int:
    path = (arguments or sys.argv[1:])[0]
    with potluck.open(path) as ds:
        rows = table(ds.load())
    width = rows.topology.str.len().max() + 2
    print(f"{'topology':<{width}}{'policy':<14}{'total variation':>18}{'floor':>8}{'saved':>9}", end="")
    print(f"{'of choices{2}':>15}")
    for r in rows.itertuples():
        print(f"{r.topology:<{width}}{r.policy:<14}", end="")
        print(f"[{max(r.tv_cross, 0):.4f}, {r.tv:.4f}]{'*' if r.tv_inside else ' '}", end="")
        print(f"{r.tv_floor:>8.4f}{100 * r.saved:>8.1f} %{'*' if r.saved_inside else ' '}", end="")
        print(f"{100 * r.saved_choices:>11.1f} %")
    print("\nOutside the published ranges (unif-pot and invsq-pot):")
    near = rows[rows.policy.str.contains("pot{", regex=False)]
    for topology, group in near.groupby("topology", sort=False):
        print(f"{topology:<{width}}", _outside(group))
    return 0


def _outside(group: pd.DataFrame) -> str:
    """The policies of a topology that miss a range, and by how much."""
    words = []
    for r in group.itertuples():
        missed = []
        if not r.tv_inside:
            missed.append(f"total variation {max(r.tv_cross, 0):.4f} to {r.tv:.4f}")
        if not r.saved_inside:
            missed.append(f"saves {100 * r.saved:.1f} %")
        if missed:
            words.append(f"{r.policy} {', '.join(missed)}")
    return "; ".join(words) or "none"


if __name__ == "__main__":
    sys.exit(main())
