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
from potluck import naming
from potluck.figures import STYLES, lowest_variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_tradeoff(
    ds: xr.Dataset, *, title: str | None = None, columns: int | None = None
) -> Figure:
    """Balance against cost: what nearness saves in travel and loses in balance.

    One panel for each topology (and each other setting that is not the policy's), one curve for
    each policy; along a curve the neighbourhood k varies and stands beside its marker. A marker
    lies at the plug-in total variation to the baseline, which noise pushes up; the bar below it
    reaches to the cross-fitted estimate, which is biased low: the truth lies between, up to
    sampling error. Inside the grey band the plug-in is what noise alone would give. One choice,
    which never moves a job and has no place on a logarithmic axis of cost, is a dashed line. A
    policy that plays exactly like the baseline (k beyond the diameter) has total variation 0 and is
    left out.

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
    """
    table = potluck.frame(ds)
    if "tv" not in table or not np.isfinite(table["tv"]).any():
        raise ValueError(
            "no total variation in this file: its job has no baseline point (see `baseline`)"
        )
    own = naming.baseline_of(ds, table)
    baseline = naming.curve_name(table[own].iloc[0]) if own.any() else "the baseline"
    panels = list(naming.panels(table))
    if columns is None:
        together = sum(
            part["topology"].iloc[0] == panels[0][1]["topology"].iloc[0] for _, part in panels
        )
        columns = together if 1 < together <= 3 < len(panels) else 3
    columns = min(columns, len(panels))
    n_rows = -(-len(panels) // columns)
    # The legend stands in a strip of its own below the panels, where there is no data to cover.
    height = 4.3 * n_rows + 1.1
    figure, axes = plt.subplots(
        n_rows, columns, figsize=(1.2 + 4.9 * columns, height), sharey=True, squeeze=False
    )
    styles = _styles_of(table)
    floor = lowest_variation(table)
    top = 10 ** (np.log10(np.nanmax(table["tv"])) + 0.6)
    drawn = [
        _draw_panel(axis, name, part, part[own[part.index]], styles, floor)
        for axis, (name, part) in zip(axes.flat, panels)
    ]
    axes[0, 0].set_ylim(floor, top)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(
            f"total variation of the load law\nto {baseline} (smaller: better balanced)"
        )
    handles = {}
    for axis in axes.flat:
        handles.update(
            {
                label: h
                for h, label in zip(*axis.get_legend_handles_labels())
                if label not in handles
            }
        )
    order = [name for name in handles if name.split(" (")[0] in {c.split(" (")[0] for c in styles}]
    handles = {
        name: handles[name] for name in order + [name for name in handles if name not in order]
    }
    figure.suptitle(
        title or ds.attrs.get("title") or "How much balance is lost when servers are sought nearby?"
    )
    per_line = min(3, len(handles)) if columns > 1 else 1
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="lower center",
        ncol=per_line,
        frameon=False,
        fontsize="small",
        bbox_to_anchor=(0.5, 0.0),
    )
    figure.tight_layout(rect=(0, (0.1 + 0.22 * -(-len(handles) // per_line)) / height, 1, 0.99))
    for axis, curves in zip(axes.flat, drawn):
        left, right = axis.get_xlim()
        if right / left < 100:  # one or two powers of ten are too few numbers for an axis
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.xaxis.set_major_locator(
                LogLocator(subs=(1, 2, 3, 5, 7) if right / left < 10 else (1, 2, 5))
            )
        for i, (name, points) in enumerate(curves.items()):
            _label_k(axis, points, styles[name][0], above=i % 2 == 1)
    return figure


# -------------------------------------------------------------------------------------------------


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
    name: str,
    part: pd.DataFrame,
    own: pd.DataFrame,
    styles: dict[str, tuple[str, str]],
    floor: float,
) -> dict[str, pd.DataFrame]:
    """Draws the points of one panel, `own` the baseline's among them; returns those of each curve,
    k ascending.
    """
    axis.set_title(name, fontsize="medium")
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
            linewidth=1.2,
            label=f"{naming.curve_name(point)} (no travel at all)",
        )
    baseline = naming.curve_name(own.iloc[0]) if len(own) else "the baseline"
    if len(own):
        axis.axvline(
            100, color="0.35", linestyle=":", linewidth=1.2, label=f"{baseline}, the baseline"
        )
        axis.annotate(
            f"{baseline}: {own['mean_cost'].iloc[0]:.4g} {naming.unit_of_cost(part)} a job",
            (100, 0.98),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            rotation=90,
            fontsize=8,
            color="0.35",
            ha="right",
            va="top",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )
    noise = part.loc[part["tv"] > 0, "tv_floor"].max()
    if np.isfinite(noise):
        axis.axhspan(
            floor,
            noise,
            color="0.88",
            zorder=0,
            label="noise floor: what two equal laws would show",
        )
    axis.set_xlabel(f"mean cost ({naming.unit_of_cost(part)} a job), in % of {baseline}'s")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.grid(True, which="major", color="0.9", linewidth=0.6)
    axis.margins(x=0.14)
    return drawn


def _draw_curve(
    axis: Axes, name: str, points: pd.DataFrame, style: tuple[str, str], floor: float
) -> None:
    colour, marker = style
    cost = 100 * (1 - points["cost_reduction"].to_numpy(float))
    tv = points["tv"].to_numpy(float)
    cross = points["tv_cross"].to_numpy(float)
    low = np.where(np.isfinite(cross), np.clip(cross, floor, tv), tv)
    axis.errorbar(
        cost,
        tv,
        yerr=[tv - low, np.zeros_like(tv)],
        color=colour,
        marker=marker,
        markersize=5.5,
        linewidth=1.4,
        elinewidth=1.2,
        capsize=3,
        label=f"{name} (bar: down to the cross-fitted estimate)",
    )


def _label_k(axis: Axes, points: pd.DataFrame, colour: str, above: bool) -> None:
    """Writes k beside the markers of a curve, skipping those too close to a written one; first and
    last always.
    """
    if "k" not in points or not points["k"].map(naming.present).all():
        return
    cost = 100 * (1 - points["cost_reduction"].to_numpy(float))
    tv = points["tv"].to_numpy(float)
    place = axis.transData.transform(np.column_stack([cost, tv])) * 72 / axis.figure.dpi
    apart = 13.0 if len(points) <= 10 else 20.0  # points
    chosen = [0]
    last = len(points) - 1
    for i in range(1, last):
        if min(np.hypot(*(place[i] - place[j])) for j in (chosen[-1], last)) >= apart:
            chosen.append(i)
    for i in sorted({*chosen, last}):
        text = f"{'k = ' if i == 0 else ''}{naming.number(points['k'].iloc[i])}"
        axis.annotate(
            text,
            (cost[i], tv[i]),
            xytext=(5, 5) if above else (-5, -5),
            textcoords="offset points",
            fontsize=8,
            color=colour,
            ha="left" if above else "right",
            va="bottom" if above else "top",
        )

