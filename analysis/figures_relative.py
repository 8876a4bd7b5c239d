# SPDX-License-Identifier: GPL-3.0-or-later
"""Mean response times as a share of a baseline's: what a policy gains, where that is little."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from potluck import figures_queues as queues
from potluck import naming
from potluck.figures_curves import (
    LOOK, columns_of, draw, finish, label_x, scale_x, sheet, styles,
)
from potluck.figures_facets import plan
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@plt.rc_context(LOOK)
def plot_relative(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Mean response time over that of the baseline policy at the same setting, a curve a policy.

    Axis and panels are those of `response`. Bars are 95 % intervals (Student): of paired
    replications where the file has one value for each, otherwise (`keep: means`) from both standard
    errors as if policies were independent, which is wider, since they share their random words.
    Dark lines are theory, where it covers a point and its baseline.

    Parameters
    ----------
    ds : what `open` gave, of the model `queue` with a baseline among its points.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When no point is of the baseline, or nothing varies beside the policy.
    """
    table = queues.played(ds, "mean_response")
    layout = plan(table, most=9)
    table = layout.table
    own = _own(ds, table)
    if layout.axis is None or not own.any():
        raise ValueError("this figure needs a baseline among the points, such as `baseline: random`"
                         ", and a parameter that varies; see the figure response")
    name = str(table["curve"][own].iloc[0])
    queues.with_theory(table)
    paired = "response" in ds
    rows = ds["response"].values if paired else None
    for _, part in table.groupby(["panel", "x"], sort=False):
        base = part.index[own[part.index]]
        for at in part.index:
            values = _ratio(table, rows, int(at), int(base[0])) if len(base) else [np.nan] * 3
            table.loc[at, ["response", "half", "truth"]] = values
    table["kind"] = table["kind"].where(np.isfinite(table["truth"]), "")
    looks = styles(table["curve"])
    others = {curve: style for curve, style in looks.items() if curve != name}
    columns = columns_of(len(layout.panels))
    figure, axes = sheet(-(-len(layout.panels) // columns), columns, 2.6 if columns > 1 else 3.3,
                         sharey=True)
    kinds, ends = set(), []
    for axis in axes.flat[len(layout.panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, layout.panels):
        part = table[(table["panel"] == panel) & (table["curve"] != name)]
        axis.set_title(panel)
        axis.axhline(1, color="0.25", linewidth=0.9)
        ends.append(draw(axis, part, "response", others))
        kinds |= queues.response_theory(axis, part, layout, others, between=False)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"mean response time over that of {name}")
    label_x(axes, len(layout.panels), layout.axis.axis)
    how = "paired replications" if paired else "both standard errors (wider than paired ones)"
    note = queues.note(kinds, layout, f"Bars: 95 % intervals from {how}. 1: {name}.")
    finish(figure, title or ds.attrs.get("title") or f"Gain over {name}", note, others)
    for axis in axes.flat[: len(layout.panels)]:
        scale_x(axis, layout.axis, table["x"])
    queues.name_rows(axes, ends, others)
    return figure


# -------------------------------------------------------------------------------------------------


def _own(ds: xr.Dataset, table: pd.DataFrame) -> pd.Series:
    """Which points are of the baseline."""
    own = pd.Series(bool(naming.baseline_values(ds)), table.index)
    for name, value in naming.baseline_values(ds).items():
        same = table[name].astype(str) == str(value) if name in table else False
        if name in table and isinstance(value, float):
            same = np.isclose(pd.to_numeric(table[name], errors="coerce"), value)
        own &= same
    return own


def _ratio(table: pd.DataFrame, rows: np.ndarray | None, at: int, base: int) -> list[float]:
    """Ratio of means, half its interval (to first order), and theory's."""
    a, b = table.loc[at], table.loc[base]
    ratio = a["mean_response"] / b["mean_response"]
    truth = a["truth"] / b["truth"]
    if at == base:
        return [1.0, np.nan, truth]
    if rows is None:
        count = min(a["replications"], b["replications"])
        error = ratio * np.hypot(a["se_response"] / a["mean_response"],
                                 b["se_response"] / b["mean_response"])
    else:
        x, y = rows[at].astype(float), rows[base].astype(float)
        both = np.isfinite(x) & np.isfinite(y)
        count = both.sum()
        error = np.nan
        if count > 1:
            ratio = x[both].mean() / y[both].mean()
            error = (x - ratio * y)[both].std(ddof=1) / np.sqrt(count) / y[both].mean()
    half = error * stats.t.ppf(0.975, count - 1) if count > 1 else np.nan
    return [ratio, half, truth]
