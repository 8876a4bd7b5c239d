# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance against cost."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from matplotlib.ticker import LogLocator, NullFormatter
from potluck import drawing, naming
from potluck.figures import STYLES, lowest_variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: More would fill no page.
_MOST_PANELS = 24


@drawing.paper
def plot_tradeoff(
    ds: xr.Dataset, *, title: str | None = None, columns: int | None = None
) -> Figure:
    """Balance against cost: what nearness saves in travel and loses in balance.

    One panel for each topology (and each other setting that is not the policy's), one curve for
    each policy; along a curve the neighbourhood k varies and stands beside its marker. A marker
    lies at the plug-in total variation to the baseline, which noise pushes up; the bar below it
    reaches to the cross-fitted estimate, which is biased low: the truth lies between, up to
    sampling error. Inside the grey band the plug-in is what noise alone would give, and markers are
    hollow. One choice, which never moves a job and has no place on a logarithmic axis of cost, is a
    dashed line. A policy that plays exactly like the baseline (k beyond the diameter) has total
    variation 0 and is left out.

    Parameters
    ----------
    ds : what `open` gave, of a job with a baseline.
    title : instead of the title of the job.
    columns : panels side by side; by default those of one topology, or up to three.

    Returns
    -------
    matplotlib.figure.Figure
        Horizontal axis: mean cost as a percentage of the baseline's. Vertical: total variation of
        the load law.

    Raises
    ------
    ValueError
        When the file has no baseline, nothing but it, or more than 24 settings.
    """
    table = potluck.frame(ds)
    if "tv" not in table or not np.isfinite(table["tv"]).any():
        raise ValueError(
            "no total variation in this file: its job has no baseline point (see `baseline`)"
        )
    if not ((table["tv"] > 0) & np.isfinite(table["cost_reduction"])).any():
        raise ValueError("no point of this file differs from its baseline and has a cost")
    own = naming.baseline_of(ds, table)
    baseline = naming.curve_name(table[own].iloc[0]) if own.any() else "the baseline"
    panels = list(naming.panels(table))
    if len(panels) > _MOST_PANELS:
        raise ValueError(
            f"{len(panels)} settings are too many for one figure of at most {_MOST_PANELS}: choose "
            'points first, as in potluck.plot_tradeoff(ds.isel(point=ds["topology"] == "ring"))'
        )
    columns = min(columns or _columns(panels), len(panels))
    n_rows = -(-len(panels) // columns)
    width = drawing.PAGE if columns > 1 else 1.3 * drawing.COLUMN
    each = 2.8 if columns < 3 else 2.2
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(width, each * n_rows + 0.9), sharey=True, squeeze=False
    )
    styles = _styles_of(table)
    floor = lowest_variation(table)
    top = 10 ** (np.log10(np.nanmax(table["tv"])) + 0.4)
    for axis, (name, _) in zip(axes.flat, panels):
        drawing.panel_title(axis, name, (width - 0.7) / columns - 0.05)
    drawn = [
        _draw_panel(axis, part, part[own[part.index]], styles, floor)
        for axis, (_, part) in zip(axes.flat, panels)
    ]
    axes[0, 0].set_ylim(floor, top)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"total variation to {baseline}\n(smaller: better balanced)")
    under = _legend(figure, axes)
    words = title or ds.attrs.get("title") or "How much balance is lost near by?"
    above = drawing.suptitle(figure, words)
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, under / height, 1, 1 - above / height))
    for axis, (_, part), curves in zip(axes.flat, panels, drawn):
        _round_costs(axis)
        _write(axis, part[own[part.index]], curves, styles)
    return figure


# -------------------------------------------------------------------------------------------------


def _columns(panels: list[tuple[str, pd.DataFrame]]) -> int:
    """Panels of one topology stand side by side, two or three of them."""
    together = sum(p["topology"].iloc[0] == panels[0][1]["topology"].iloc[0] for _, p in panels)
    return together if 1 < together <= 3 < len(panels) else 2 if len(panels) in (2, 4) else 3


def _legend(figure: Figure, axes: np.ndarray) -> float:
    """Below the panels, where there is no data to cover; returns its height in inches."""
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    order = sorted(handles, key=lambda name: not hasattr(handles[name], "has_yerr"))  # stable
    order.append("bar: down to the cross-fitted estimate")
    handles[order[-1]] = plt.Line2D(
        [], [], color="0.3", linestyle="", marker="|", markersize=8, markeredgewidth=1.2
    )
    room = 20 * figure.get_size_inches()[0]  # letters of a line
    per_line = int(max(1, min(len(order), room // (max(map(len, order)) + 7))))
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="lower center",
        ncol=per_line,
        frameon=False,
        columnspacing=1.4,
        bbox_to_anchor=(0.5, 0.0),
    )
    return 0.12 + 0.15 * -(-len(order) // per_line)


def _round_costs(axis: Axes) -> None:
    """One or two powers of ten are too few numbers for an axis."""
    left, right = axis.get_xlim()
    if right / left < 100:
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.xaxis.set_major_locator(
            LogLocator(subs=(1, 2, 3, 5, 7) if right / left < 5 else (1, 2, 5))
        )


def _styles_of(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Colour and marker of each curve; the same in every panel."""
    names = dict.fromkeys(
        naming.curve_name(p) for _, p in table.iterrows() if _moves(p) and not _is_baseline(p)
    )
    return {name: STYLES[i % len(STYLES)] for i, name in enumerate(names)}


def _is_baseline(point: pd.Series) -> bool:
    """Whether nothing at all tells the point from its baseline."""
    return point["tv"] == 0 and point["cost_reduction"] == 0


def _moves(point: pd.Series) -> bool:
    """Whether the policy costs anything, so that the point has a place on a logarithmic axis."""
    return bool(np.isfinite(point["cost_reduction"]) and point["cost_reduction"] < 1)


def _draw_panel(
    axis: Axes,
    part: pd.DataFrame,
    own: pd.DataFrame,
    styles: dict[str, tuple[str, str]],
    floor: float,
) -> dict[str, pd.DataFrame]:
    """Draws the points of one panel, `own` the baseline's among them; returns those of each curve,
    k ascending.
    """
    axis.set_xscale("log")
    axis.set_yscale("log")
    curves: dict[str, list[pd.Series]] = {}
    still = []
    for _, point in part.iterrows():
        if _moves(point) and not _is_baseline(point) and np.isfinite(point["tv"]):
            if point["tv"] < floor:  # no difference at all: on the lower edge of the panel
                point = point.copy()
                point["tv"] = floor
            curves.setdefault(naming.curve_name(point), []).append(point)
        elif point["tv"] > 0:
            still.append(point)
    drawn = {}
    for curve, points in curves.items():
        points.sort(key=lambda p: p.get("k", 0.0))
        drawn[curve] = pd.DataFrame(points)
        _draw_curve(axis, curve, drawn[curve], styles[curve], floor)
    for point in still:
        axis.axhline(
            point["tv"],
            color="0.35",
            linestyle="--",
            linewidth=1,
            label=f"{naming.curve_name(point)} (no travel at all)",
        )
    baseline = naming.curve_name(own.iloc[0]) if len(own) else "the baseline"
    if len(own):
        look = {"color": "0.35", "linestyle": ":", "linewidth": 1}
        axis.axvline(100, label=f"{baseline}, the baseline", **look)
    noise = _noise(part)
    if noise > floor:
        axis.axhspan(
            floor, noise, color="0.9", linewidth=0, zorder=0, label="what noise alone would show"
        )
    axis.set_xlabel(f"mean cost ({naming.unit_of_cost(part)} a job), % of {baseline}'s")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.grid(True, which="major", color="0.9", linewidth=0.5)
    axis.margins(x=0.14)
    return drawn


def _noise(part: pd.DataFrame) -> float:
    """The highest noise floor of a panel, 0 where there is none."""
    floors = part.loc[part["tv"] > 0, "tv_floor"]
    return float(floors.max()) if floors.notna().any() else 0.0


def _draw_curve(
    axis: Axes, name: str, points: pd.DataFrame, style: tuple[str, str], floor: float
) -> None:
    colour, marker = style
    cost = 100 * (1 - points["cost_reduction"].to_numpy(float))
    tv = points["tv"].to_numpy(float)
    cross = points["tv_cross"].to_numpy(float)
    low = np.where(np.isfinite(cross), np.clip(cross, floor, tv), tv)
    size = 4.2 if len(points) <= 10 else 3.2
    axis.errorbar(
        cost,
        tv,
        yerr=[tv - low, np.zeros_like(tv)],
        color=colour,
        marker=marker,
        markersize=size,
        linewidth=1.1,
        elinewidth=0.9,
        label=name,
    )
    lost = tv < np.nan_to_num(points["tv_floor"].to_numpy(float))
    axis.plot(
        *(cost[lost], tv[lost]),
        linestyle="",
        marker=marker,
        markersize=size,
        color=colour,
        markerfacecolor="white",
        zorder=5,
    )


def _write(
    axis: Axes,
    own: pd.DataFrame,
    curves: dict[str, pd.DataFrame],
    styles: dict[str, tuple[str, str]],
) -> None:
    """What the baseline costs, and k beside the markers of the curves."""
    taken = []
    if len(own):
        unit = naming.unit_of_cost(own)
        text = axis.annotate(
            f"{naming.curve_name(own.iloc[0])}: {own['mean_cost'].iloc[0]:.4g} {unit} a job",
            (100, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            rotation=90,
            fontsize=drawing.SMALL,
            color="0.35",
            ha="right",
            va="top",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )
        taken.append(text.get_window_extent())
    labels = []
    for name, points in curves.items():
        if "k" not in points or not points["k"].map(naming.present).all():
            continue
        written = _spread(axis, points)
        for i, (_, point) in enumerate(points.iterrows()):
            if i not in written:
                continue
            text = f"{'k = ' if i == 0 else ''}{naming.number(point['k'])}"
            ends = i in (0, len(points) - 1)
            cost = 100 * (1 - point["cost_reduction"])
            labels.append(drawing.Label(cost, point["tv"], text, styles[name][0], ends))
    drawing.place(axis, labels, taken)


def _spread(axis: Axes, points: pd.DataFrame) -> set[int]:
    """First and last of a curve, and between them those far enough from each other."""
    cost = 100 * (1 - points["cost_reduction"].to_numpy(float))
    axis.get_xlim(), axis.get_ylim()  # settles the limits, which transData rests on
    place = axis.transData.transform(np.column_stack([cost, points["tv"].to_numpy(float)]))
    place = place * 72 / axis.figure.dpi
    least = 8.0 if len(points) <= 10 else 18.0
    last = len(points) - 1
    chosen = [0]
    for i in range(1, last):
        if min(np.hypot(*(place[i] - place[j])) for j in (chosen[-1], last)) >= least:
            chosen.append(i)
    return {*chosen, last}
