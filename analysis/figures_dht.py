# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of DHT rings: success of queries, utilisation of nodes, actions of balancers."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck.figures_curves import (
    BAR, LOOK, Style, bars, beside, columns_of, dots, draw, finish, half_width, label_x,
    names_at_right, scale_x, scale_y, sheet, styles,
)
from potluck.figures_facets import Plan, plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS = "Bars: 95 % intervals (Student, over replications)."
_SHARE, _POSITIVE = (0.0, 1.0), (0.0, np.inf)
#: Table I of Ledlie and Seltzer (INFOCOM 2005): success by identifiers and Zipf exponent (0:
#: uniform), of the setting that `published` recognises.
_TABLE_1 = {
    "random": {0.0: 0.59, 0.8: 0.46, 1.2: 0.27, 2.4: 0.03},
    "equal": {0.0: 1.00, 0.8: 0.53, 1.2: 0.29, 2.4: 0.04},
}
_ACTIONS = {
    "actions_natural": "natural",
    "actions_artificial": "artificial",
    "creations": "creations",
    "deletions": "deletions",
    "transfers": "transfers",
    "relocations": "relocations",
}


@plt.rc_context(LOOK)
def plot_success(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Success of queries over time, a curve for each balancer, a panel for each other setting.

    A curve goes through the middle of the intervals of the file; at some of them, each curve at its
    own, a bar is the 95 % interval (Student, over replications). Upright lines mark when balancing
    starts, when the popular keys are replaced, and from when on statistics count.

    Parameters
    ----------
    ds : what `open` gave, of the model `dht`, at least two intervals long.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When there is no series, or one interval only.
    """
    table = _played(ds)
    if "success_series" not in ds or ds.sizes.get("second", 0) < 2:
        raise ValueError("this figure needs a series of two intervals at least (see `interval`); "
                         "its other figures are queries and balancers")
    layout = plan(table, most=6, axis=False)
    table, panels = layout.table, layout.panels
    looks = styles(table["curve"])
    columns = columns_of(len(panels))
    figure, axes = sheet(-(-len(panels) // columns), columns, 2.3 if columns > 1 else 3.3,
                         sharey=True, sharex=True)
    _hide(axes, len(panels))
    unit, length = ("min", 60.0) if float(table["duration"].max()) >= 600 else ("s", 1.0)
    ends, marks = [], set()
    for axis, panel in zip(axes.flat, panels):
        part = table[table["panel"] == panel]
        axis.set_title(panel)
        ends.append(_series(axis, ds, part, looks, length))
        marks |= _marks(axis, part, length)
    for axis in axes.flat:
        axis.set_ylim(0, 1.03)
    for axis in axes[:, 0]:
        axis.set_ylabel("success of queries")
    label_x(axes, len(panels), f"time ({unit})")
    note = " ".join([_BARS, *sorted(marks),
                     layout.left_out]).strip()
    finish(figure, title or ds.attrs.get("title") or "Success of queries", note, looks)
    _name_rows(axes, ends, looks)
    return figure


@plt.rc_context(LOOK)
def plot_queries(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Success of queries, a dot for each point, with 95 % intervals (Student).

    A row for each setting; of one row, balancers (or where there is but one, what varies first,
    such as the namespace) lie below one another. Open diamonds are Table I of Ledlie and
    Seltzer (2005), where the job is theirs.

    Parameters
    ----------
    ds : what `open` gave, of the model `dht`.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file is of another model, or has too many settings for rows.
    """
    table = _played(ds)
    layout = plan(table, most=10**6, axis=False)
    table = layout.table.assign(row=layout.table["panel"].replace("", "all"))
    table["half"] = half_width(table["se_success"], table["replications"])
    if table["curve"].nunique() > 1 and table["row"].nunique() == 1:
        table = table.assign(row=table["curve"])
    rows, looks = list(dict.fromkeys(table["row"])), styles(table["curve"])
    if len(rows) > 40:
        raise ValueError(f"{len(rows)} settings are too many rows; choose some: "
                         "`ds.isel(point=...)`, or see the figure balancers")
    per_row = max(table.groupby("row")["curve"].nunique().max(), 1)
    figure, axes = sheet(1, 1, 0.7 + len(rows) * (0.12 + 0.13 * per_row))
    figure.set_size_inches(6.2, figure.get_size_inches()[1])
    axis = axes[0, 0]
    dots(axis, table, "mean_success", rows, looks, _SHARE)
    names = None if rows == list(looks) else looks
    theirs = _published_dots(axis, table, rows, list(looks) if names else [])
    axis.set_xlim(-0.02, 1.02)
    axis.set_xlabel("success of queries")
    finish(figure, title or ds.attrs.get("title") or "Success of queries", _BARS + theirs, names,
           key="dots")
    return figure


@plt.rc_context(LOOK)
def plot_balancers(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Success of queries against what the job varies most: their rate, the mean lifetime of nodes,
    the skew of destinations, the number of choices, ...; a curve for each balancer, a panel for
    each other setting, with 95 % intervals (Student).

    Parameters
    ----------
    ds : what `open` gave, of the model `dht`.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the job varies no number; `queries` is its figure then.
    """
    layout = _along(plan(_played(ds), most=6))
    table, looks = layout.table, styles(layout.table["curve"])
    table["half"] = half_width(table["se_success"], table["replications"])
    columns = columns_of(len(layout.panels))
    figure, axes = sheet(-(-len(layout.panels) // columns), columns, 2.6 if columns > 1 else 3.3,
                         sharey=True)
    _hide(axes, len(layout.panels))
    ends, theirs = [], ""
    for axis, panel in zip(axes.flat, layout.panels):
        part = table[table["panel"] == panel]
        axis.set_title(panel)
        ends.append(draw(axis, part, "mean_success", looks, _SHARE))
        theirs = _published_curve(axis, part, looks) or theirs
        axis.set_ylim(0, 1.03)
    for axis in axes[:, 0]:
        axis.set_ylabel("success of queries")
    label_x(axes, len(layout.panels), layout.axis.axis)
    finish(figure, title or ds.attrs.get("title") or "Success of queries",
           f"{_BARS}{theirs} {layout.left_out}".strip(), looks)
    for axis in axes.flat[: len(layout.panels)]:
        scale_x(axis, layout.axis, table["x"])
    _name_rows(axes, ends, looks)
    return figure


@plt.rc_context(LOOK)
def plot_utilisation(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Quantiles of the utilisation of nodes (work over capacity), by balancer.

    Columns: the median and the 95 % quantile over nodes and seconds, means over replications with
    95 % intervals (Student), and the 99 % quantile of all replications together, which has none.
    A row of panels for each setting; the axis is what the job varies most, or else a row of dots
    for each balancer. The broken line is a full node.

    Parameters
    ----------
    ds : what `open` gave, of the model `dht`.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file is of another model.
    """
    table = _played(ds)
    shown = {"q50": "median", "q95": "95 % quantile"}
    if "utilisation_count" in ds:
        shown["q99"] = "99 % quantile"
    layout = plan(table, most=3)
    table = layout.table
    for name in ("q50", "q95"):
        table[name] = table[f"mean_utilisation_{name}"]
        table[f"{name}_half"] = half_width(table[f"se_utilisation_{name}"], table["replications"])
    if "utilisation_count" in ds:
        table["q99"] = potluck.quantiles(ds, [0.99], "utilisation_count")[0.99][table.index]
        table["q99_half"] = np.nan
    note = f"{_BARS} Broken line: a node that is full."
    if "q99" in shown:
        note += " The 99 % quantile is that of all replications together, without interval."
    return _grid(layout, shown, "utilisation (work over capacity)",
                 title or ds.attrs.get("title") or "Utilisation of nodes", note, full=1.0)


@plt.rc_context(LOOK)
def plot_actions(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Actions on virtual servers per node and hour: natural ones, artificial ones, and what these
    are (an artificial action is a creation, a deletion, a transfer, or half a relocation).

    A panel for each kind that occurs, a row of panels for each setting; the axis is what the job
    varies most, or else a row of dots for each balancer. Bars are 95 % intervals (Student).
    Balancers that never act so are left out of a panel.

    Parameters
    ----------
    ds : what `open` gave, of the model `dht`.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file is of another model, or nothing ever acts.
    """
    table = _played(ds)
    layout = plan(table, most=2)
    table = layout.table
    shown = {}
    for name, words in _ACTIONS.items():
        if f"mean_{name}" in table and (table[f"mean_{name}"] > 0).any():
            shown[name] = words
            never = table.groupby("curve")[f"mean_{name}"].transform("max") <= 0
            table[f"{name}_half"] = half_width(table[f"se_{name}"], table["replications"])
            table[name] = table[f"mean_{name}"].mask(never)
    if not shown:
        raise ValueError("no virtual server ever comes, goes or moves in this file: its nodes stay "
                         "up and its balancers do nothing")
    note = ("Natural: virtual servers come and go with their nodes; artificial: by balancing. "
            f"{_BARS} Who never acts so is left out; zeros lie on the lower edge.")
    return _grid(layout, shown, "actions per node and hour",
                 title or ds.attrs.get("title") or "Actions on virtual servers", note)


# -------------------------------------------------------------------------------------------------


def _played(ds: xr.Dataset) -> pd.DataFrame:
    """The points that have been played."""
    if "mean_success" not in ds:
        raise ValueError(f"this file is of the model {ds.attrs.get('model')}, not dht")
    table = potluck.frame(ds)
    table = table[np.isfinite(table["mean_success"])].copy()
    if table.empty:
        raise ValueError("no point of this file has a replication yet")
    return table


def _along(layout: Plan) -> Plan:
    if layout.axis is None:
        raise ValueError("this job varies no number to draw success against; its figures are "
                         "queries and, over time, success")
    return layout


def _hide(axes: np.ndarray, used: int) -> None:
    for axis in axes.flat[used:]:
        axis.set_visible(False)


def _name_rows(axes: np.ndarray, ends: list[dict], looks: dict[str, Style]) -> None:
    """Names of the curves at the right of the last panel of each row."""
    for i, axis in enumerate(axes.flat[: len(ends)]):
        if (i + 1) % axes.shape[1] == 0 or i + 1 == len(ends):
            seen = {n: ends[i].get(n, (np.nan, np.nan)) for n in looks if any(n in e for e in ends)}
            names_at_right(axis, seen, looks)


def _series(axis: Axes, ds: xr.Dataset, part: pd.DataFrame, looks: dict[str, Style],
            length: float) -> dict[str, tuple[float, float]]:
    """Success of the points of one panel in the middle of each interval; where each curve ends."""
    ends = {}
    for at, point in part.iterrows():
        style, y = looks[point["curve"]], ds["success_series"].values[at].astype(float)
        time = (ds["second"].values.astype(float) + float(point["interval"]) / 2) / length
        known = np.isfinite(y) & (time * length < float(point["duration"]))
        if not known.any():
            continue
        half = half_width(ds["se_success_series"].values[at], point["replications"])[known]
        x, y = time[known], y[known]
        axis.plot(x, y, color=style.colour, linestyle=style.line, linewidth=1.1, zorder=3)
        # A few bars, each curve at times of its own, instead of bands, which cover one another.
        apart = max(len(x) // 5, 1)
        some = slice(list(looks).index(point["curve"]) * apart // len(looks), None, apart)
        axis.errorbar(x[some], y[some], yerr=bars(y[some], half[some], _SHARE), linestyle="",
                      zorder=3, label=point["curve"], **style.marks(3.6), **BAR)
        ends[point["curve"]] = (float(x[-1]), float(y[-1]))
    return ends


def _marks(axis: Axes, part: pd.DataFrame, length: float) -> set[str]:
    """Vertical lines at what happens; returns what they are."""
    point = part.iloc[0]
    begins = point.get("record_from", np.nan)
    begins = float(begins) if np.isfinite(begins) else float(point["duration"]) // 2
    shift = point.get("shift", np.nan)
    times = {
        "dotted: balancing starts": (point.get("balance_from", np.nan), ":"),
        "dashed: popular keys are replaced": (shift, "--"),
        "solid: statistics count from here": (begins, "-"),
    }
    if shift == begins:
        times = {k: v for k, v in times.items() if v[1] == ":"}
        times["dashed: popular keys are replaced, statistics count"] = (shift, "--")
    seen = []
    axis.set_xlim(0, float(part["duration"].max()) / length)
    for what, (at, line) in times.items():
        if np.isfinite(at) and 0 < at < float(point["duration"]):
            axis.axvline(at / length, color="0.4", linestyle=line, linewidth=0.9, zorder=1)
            seen.append(what)
    return {f"Upright lines, {', '.join(seen)}."} if seen else set()


def _grid(layout: Plan, shown: dict[str, str], y: str, title: str, note: str,
          full: float | None = None) -> Figure:
    """A panel for each statistic and setting: curves along the axis, or dots by balancer."""
    table, looks = layout.table, styles(layout.table["curve"])
    panels, columns = layout.panels, 3 if len(shown) > 2 else len(shown)
    lines = -(-len(shown) // columns)
    along = layout.axis is not None
    rows = list(looks)
    height = (2.15 if lines * len(panels) < 3 else 1.75) if along else 0.5 + 0.24 * len(rows)
    figure, axes = sheet(lines * len(panels), columns, height, sharey=not along and "all")
    used = []
    for i, panel in enumerate(panels):
        part = table[table["panel"] == panel].copy()
        part["row"] = part["curve"]
        block = axes[lines * i : lines * (i + 1)].flat
        for axis, (name, words) in zip(block, shown.items()):
            axis.set_title("\n".join(w for w in (panel, words) if w))
            part["half"] = part[f"{name}_half"]
            used.append(axis)
            if along:
                _floor(axis, part, name)
                draw(axis, part, name, looks, _POSITIVE)
            else:
                _floor(axis, part, name, "x")
                dots(axis, part, name, rows, looks, _POSITIVE)
            _full(axis, full, along)
        for axis in axes[lines * i : lines * (i + 1)].flat[len(shown):]:
            axis.set_visible(False)
    _labels(axes, used, y, layout)
    names = looks if along else None
    finish(figure, title, f"{note} {layout.left_out}".strip(), names, key="lines")
    if along:
        for axis in used:
            scale_x(axis, layout.axis, table["x"])
    return figure


def _labels(axes: np.ndarray, used: list[Axes], y: str, layout: Plan) -> None:
    for line in axes:
        if layout.axis is not None:
            line[0].set_ylabel(y)
    below = {}
    for i, axis in enumerate(axes.flat):
        if axis in used:
            below[i % axes.shape[1]] = axis
    for axis in below.values():
        axis.set_xlabel(layout.axis.axis if layout.axis is not None else y)


def _floor(axis: Axes, part: pd.DataFrame, name: str, which: str = "y") -> None:
    """A logarithmic axis where values differ much; zeros among them go to its lower edge."""
    values = part[name].to_numpy(float)
    above = values[np.isfinite(values) & (values > 0)]
    limits = None
    if above.size and above.max() > 20 * above.min():
        scale_y(axis, above, which=which)
        limits = (10 ** (np.log10(above.min()) - 0.25), above.max() * 1.6)
        part[name] = part[name].mask(part[name] == 0, limits[0])
    elif above.size:
        limits = (0, 1.08 * np.nanmax(values + np.nan_to_num(part["half"].to_numpy(float))))
    if limits:
        axis.set(**{f"{which}lim": limits})


def _full(axis: Axes, full: float | None, along: bool) -> None:
    if full is None:
        return
    draw_line = axis.axhline if along else axis.axvline
    low, high = axis.get_ylim() if along else axis.get_xlim()
    if low < full < high:
        draw_line(full, color="0.4", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)


def published(point: pd.Series) -> float:
    """Success that Table I of Ledlie and Seltzer gives for a point that is played as theirs; NaN
    otherwise.
    """
    same = (
        point.get("nodes") == 4096
        and point.get("queries") == 10
        and (point.get("capacity"), point.get("per_second")) == ("constant", 100)
        and point.get("balancer") == "none"
        and point.get("lifetime") == "unlimited"
        and point.get("maintenance") == 12
    )
    alpha = 0.0 if point.get("destinations") == "uniform" else point.get("alpha", np.nan)
    return _TABLE_1.get(str(point.get("ids")), {}).get(alpha, np.nan) if same else np.nan


def _published_dots(axis: Axes, table: pd.DataFrame, rows: list[str],
                    inside: list[str]) -> str:
    theirs = np.array([published(p) for _, p in table.iterrows()])
    if not np.isfinite(theirs).any():
        return ""
    for value, (_, point) in zip(theirs, table.iterrows()):
        axis.plot(value, rows.index(point["row"]) + beside(point["curve"], inside), **_THEIRS)
    return _THEIRS_WORDS


def _published_curve(axis: Axes, part: pd.DataFrame, looks: dict[str, Style]) -> str:
    theirs = np.array([published(p) for _, p in part.iterrows()])
    if not np.isfinite(theirs).any() or not looks:
        return ""
    axis.plot(part["x"], theirs, **_THEIRS)
    return _THEIRS_WORDS


_THEIRS = {"marker": "D", "linestyle": "", "color": "black", "markerfacecolor": "none",
           "markersize": 6.5, "markeredgewidth": 0.8, "zorder": 5}
_THEIRS_WORDS = " Open diamonds: Table I of Ledlie and Seltzer (INFOCOM 2005)."
