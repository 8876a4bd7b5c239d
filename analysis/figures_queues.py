# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of queues: mean response, tails of response times, the way out of the empty start."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck import figures_theory
from potluck.figures_curves import (
    BAR, LOOK, Style, columns_of, dots, draw, finish, half_width, label_x, names_at_right, scale_x,
    scale_y, sheet, styles,
)
from potluck.figures_facets import Plan, plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THEORY = {
    "exact": "dotted: exact",
    "limit": "dashed: limit of many servers",
    "refined": "dash-dotted: with the correction of order 1/n",
}


@plt.rc_context(LOOK)
def plot_response(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Mean response time, in mean services, against what the job varies most.

    That is the arrival rate, the number of servers, the variability of the services, or another
    number; a curve for each policy, a panel for each other setting. Bars are 95 % intervals
    (Student). Dark lines are theory: exact values dotted (M/G/1, with breakdowns
    too; round robin and its relatives as quasi-birth-death processes; M/D/n), the supermarket model
    with infinitely many servers dashed. Loads up to 0.99 have an axis of -ln(1 - lambda), on which
    M/M/1 is a straight line. Without an axis there is a dot for each point.

    Parameters
    ----------
    ds : what `open` gave, of the model `queue`; ``ds.isel(point=...)`` chooses points.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file has no response times.
    """
    table = played(ds, "mean_response")
    if (table.get("transient", "none") != "none").any():
        raise ValueError("this job tells of the way from the empty start: draw completions")
    layout = plan(table, most=9)
    with_theory(layout.table)
    looks = styles(layout.table["curve"])
    name = title or ds.attrs.get("title") or "Mean response time"
    if layout.axis is None:
        return _response_dots(layout, looks, name)
    columns = columns_of(len(layout.panels))
    rows = -(-len(layout.panels) // columns)
    figure, axes = sheet(rows, columns, 2.6 if columns > 1 else 3.3, sharey=True)
    _hide(axes, len(layout.panels))
    kinds, ends = set(), []
    for axis, panel in zip(axes.flat, layout.panels):
        part = layout.table[layout.table["panel"] == panel]
        axis.set_title(panel)
        ends.append(draw(axis, part, "response", looks))
        kinds |= response_theory(axis, part, layout, looks)
    shown = [*layout.table["response"], *layout.table["truth"]]
    for axis in axes.flat:
        scale_y(axis, shown)
    for axis in axes[:, 0]:
        axis.set_ylabel("mean response time (mean services)")
    label_x(axes, len(layout.panels), layout.axis.axis)
    finish(figure, name, note(kinds, layout), looks)
    for axis in axes.flat[: len(layout.panels)]:
        scale_x(axis, layout.axis, layout.table["x"])
    name_rows(axes, ends, looks)
    return figure


@plt.rc_context(LOOK)
def plot_responses(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Tails of the response times, P(T > t), a curve for each policy.

    The histogram of response times has no batches, so the curves have no bands; horizontal bars are
    the 95 % intervals (Student) of the median and the 90, 95 and 99 % quantiles, means over
    replications. Dark lines: M/M/1 and round robin of exponential services (exact, dotted), the
    supermarket model with infinitely many servers (dashed). At most four panels: of a parameter
    with more values the first, the middle and the last ones, as the figure says.

    Parameters
    ----------
    ds : what `open` gave, of the model `queue`; ``ds.isel(point=...)`` chooses points.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file has no histogram of response times.
    """
    if "response_count" not in ds:
        raise ValueError("this file has no histogram of response times (`response_count`)")
    table = played(ds, "mean_response")
    jobs = ds["response_count"].values.sum(-1)
    layout = plan(table[jobs[table.index] > 0], most=4, axis=False)
    looks = styles(layout.table["curve"])
    tails = potluck.tail(ds, "response_count")["fraction"].values
    start = ds["time"].values.astype(float)
    columns = columns_of(len(layout.panels))
    figure, axes = sheet(-(-len(layout.panels) // columns), columns,
                         2.6 if columns > 1 else 3.3, sharey=True)
    _hide(axes, len(layout.panels))
    lowest = max(1e-6, min(100 / jobs[layout.table.index].min(), 0.01))
    kinds = set()
    for axis, panel in zip(axes.flat, layout.panels):
        part = layout.table[layout.table["panel"] == panel]
        axis.set_title(panel)
        kinds |= _tails(axis, part, (start, tails, lowest), looks)
    for axis in axes.flat:
        axis.set_yscale("log")
        axis.set_ylim(lowest, 1.15)
    for axis in axes[:, 0]:
        axis.set_ylabel("P(response time > t)")
    label_x(axes, len(layout.panels), "t (mean services)")
    words = note(kinds, layout, "Horizontal bars: 95 % intervals of the median, 90, 95 and 99 % "
                 "quantiles (means over replications).")
    last = axes.flat[len(layout.panels) - 1]
    finish(figure, title or ds.attrs.get("title") or "Response times", words,
           _slowest_first(last, looks), key="lines")
    return figure


@plt.rc_context(LOOK)
def plot_warmup(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """The way from the empty start: jobs at a server over time, up to six points.

    Grey is the warm-up, of which nothing is counted. The horizontal line is the time average of
    what follows, its band the 95 % interval (Student); dark lines are theory: M/G/1 and round robin
    (exact, dotted), the supermarket model with infinitely many servers (dashed). The path is a mean
    over replications at 200 times and has no interval of its own. Shown are points of the highest
    load, spread evenly over the policies and other settings.

    Parameters
    ----------
    ds : what `open` gave, of the model `queue`; ``ds.isel(point=...)`` chooses points.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file has no path, or tells of a transient only.
    """
    if "queue_length_path" not in ds:
        raise ValueError("this file has no `queue_length_path`; the model queue writes it")
    table = played(ds, "mean_queue_length")
    if (table.get("transient", "none") != "none").any():
        raise ValueError("this job has no steady state to warm up to; its figure is completions")
    layout = plan(table, most=10**6, axis=False)
    table = layout.table
    chosen = table
    if "lambda" in table and np.isfinite(table["lambda"]).any():
        chosen = table[table["lambda"] == table["lambda"].max()]
    spread = np.unique(np.linspace(0, len(chosen) - 1, min(6, len(chosen))).round().astype(int))
    chosen = chosen.iloc[spread]
    looks = styles(table["curve"])
    columns = columns_of(len(chosen))
    figure, axes = sheet(-(-len(chosen) // columns), columns, 2.1 if columns > 1 else 3.0)
    _hide(axes, len(chosen))
    kinds = set()
    for axis, (at, point) in zip(axes.flat, chosen.iterrows()):
        words = [point["curve"], point["panel"]]
        axis.set_title("\n".join(w for w in words if w))
        path = ds["queue_length_path"].values[at].astype(float)
        kinds |= _path(axis, point, path, looks[point["curve"]])
    for axis in axes[:, 0]:
        axis.set_ylabel("jobs at a server")
    few = f"{len(chosen)} of {len(table)} points. " if len(chosen) < len(table) else ""
    words = few + note(kinds, None, "Grey: warm-up, not counted. Level line: time average after "
                       "it, with its 95 % interval.")
    finish(figure, title or ds.attrs.get("title") or "From the empty start", words)
    return figure


# -------------------------------------------------------------------------------------------------


def played(ds: xr.Dataset, name: str) -> pd.DataFrame:
    """The points that have a value of a statistic."""
    if name not in ds:
        raise ValueError(f"this file has no `{name}`: it is of the model {ds.attrs.get('model')}, "
                         "not queue")
    table = potluck.frame(ds)
    table = table[np.isfinite(table[name])].copy()
    if table.empty:
        raise ValueError("no point of this file has a replication yet")
    return table


def with_theory(table: pd.DataFrame) -> None:
    """Columns `response`, `half`, `truth`, `kind` of the points, in mean services."""
    unit = np.array([figures_theory.in_services(p) for _, p in table.iterrows()])
    table["response"] = table["mean_response"] / unit
    table["half"] = half_width(table["se_response"], table["replications"]) / unit
    truths = [figures_theory.response(p) for _, p in table.iterrows()]
    table["truth"] = [t.value if t else np.nan for t in truths]
    table["kind"] = [t.kind if t else "" for t in truths]


def _hide(axes: np.ndarray, used: int) -> None:
    for axis in axes.flat[used:]:
        axis.set_visible(False)


def note(kinds: set[str], layout: Plan | None, first: str = "Bars: 95 % intervals.") -> str:
    theory = [text for kind, text in _THEORY.items() if kind in kinds]
    words = [first]
    if theory:
        words.append(f"Dark lines are theory, {', '.join(theory)}.")
    if layout is not None and layout.left_out:
        words.append(layout.left_out)
    return " ".join(words)


def name_rows(axes: np.ndarray, ends: list[dict], looks: dict) -> None:
    """Names of the curves at the right of the last panel of each row."""
    flat = list(axes.flat)
    for i, axis in enumerate(flat[: len(ends)]):
        last = (i + 1) % axes.shape[1] == 0 or i + 1 == len(ends)
        if last:
            nowhere = (math.nan, math.nan)
            seen = {n: ends[i].get(n, nowhere) for n in looks if any(n in e for e in ends)}
            names_at_right(axis, seen, looks)


def response_theory(
    axis: Axes, part: pd.DataFrame, layout: Plan, looks: dict[str, Style], between: bool = True
) -> set[str]:
    """Theory of the curves of one panel, at their points and also between; returns its kinds."""
    kinds = set()
    for name, here in part.groupby("curve", sort=False):
        here = here[here["kind"] != ""].sort_values("x")
        if here.empty:
            continue
        kind = here["kind"].iloc[0]
        kinds.add(kind)
        x, y = here["x"].to_numpy(float), here["truth"].to_numpy(float)
        if between and layout.axis.name == "lambda" and len(here) > 1:
            x, y = _between(here, x, y)
        axis.plot(x, y, **looks[name].theory(kind), **({"marker": "_"} if len(x) == 1 else {}))
        if between and kind == "limit" and layout.axis.name == "place":
            kinds.add("refined")
            corrected = [figures_theory.refined(p) for _, p in here.iterrows()]
            axis.plot(x, corrected, **looks[name].theory("refined"))
    return kinds


def _between(here: pd.DataFrame, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Theory also between the arrival rates of a curve, where that is a closed formula."""
    point = here.iloc[0].copy()
    if figures_theory.response(point, solve=False) is None:
        return x, y
    fine = -np.expm1(np.linspace(np.log1p(-x[0]), np.log1p(-x[-1]), 41)) if x[-1] < 1 else x
    values = []
    for rate in fine:
        point["lambda"] = rate
        truth = figures_theory.response(point, solve=False)
        values.append(truth.value if truth else np.nan)
    return fine, np.array(values)


def _response_dots(layout: Plan, looks: dict, title: str) -> Figure:
    """A dot for each point, a row for each policy."""
    table = layout.table
    table = table.assign(row=table["curve"])
    rows = list(dict.fromkeys(table["row"]))
    columns = columns_of(len(layout.panels))
    figure, axes = sheet(-(-len(layout.panels) // columns), columns, 0.7 + 0.25 * len(rows),
                         sharey=True)
    _hide(axes, len(layout.panels))
    kinds = set()
    for axis, panel in zip(axes.flat, layout.panels):
        part = table[table["panel"] == panel]
        axis.set_title(panel)
        dots(axis, part, "response", rows, looks)
        scale_y(axis, table["response"], least=10, which="x")
        for _, point in part[part["kind"] != ""].iterrows():
            kinds.add(point["kind"])
            y = rows.index(point["row"])
            axis.plot([point["truth"]] * 2, [y - 0.35, y + 0.35],
                      **looks[point["curve"]].theory(point["kind"]))
    label_x(axes, len(layout.panels), "mean response time (mean services)")
    finish(figure, title, note(kinds, layout))
    return figure


def _tails(axis: Axes, part: pd.DataFrame, law: tuple, looks: dict) -> set[str]:
    """The tails of one panel, in mean services; returns the kinds of theory."""
    start, tails, lowest = law
    kinds, longest = set(), 0.0
    for at, point in part.iterrows():
        style, unit = looks[point["curve"]], figures_theory.in_services(point)
        y, t = tails[at], start / unit
        seen = y >= lowest
        longest = max(longest, float(t[seen].max(initial=0)))
        axis.plot(t[seen], y[seen], color=style.colour, linestyle=style.line, linewidth=1.2,
                  label=point["curve"])
        for share in (50, 90, 95, 99):
            mean = point.get(f"mean_response_q{share}", np.nan) / unit
            half = half_width(point.get(f"se_response_q{share}", np.nan), point["replications"])
            if np.isfinite(mean) and 1 - share / 100 >= lowest:
                axis.errorbar(mean, 1 - share / 100, xerr=np.nan_to_num(half) / unit,
                              linestyle="", **style.marks(3.2), **BAR)
    for _, point in part.iterrows():
        truth = figures_theory.tail(point)
        if truth:
            kinds.add(truth[0])
            t = np.linspace(0, longest, 200)
            axis.plot(t, np.maximum(truth[1](t), 1e-12), **looks[point["curve"]].theory(truth[0]))
    axis.set_xlim(0, longest * 1.03 if longest else 1)
    return kinds


def _slowest_first(axis: Axes, looks: dict[str, Style]) -> dict[str, Style]:
    """Curves in the order in which they lie in a panel, from right to left."""
    ends = {line.get_label(): line.get_xdata().max(initial=0) for line in axis.get_lines()}
    return dict(sorted(looks.items(), key=lambda item: -ends.get(item[0], 0)))


def _path(axis: Axes, point: pd.Series, path: np.ndarray, look: Style) -> set[str]:
    """The path of one point with its warm-up, time average and theory; returns the kind."""
    unit = figures_theory.in_services(point)
    spans = _spans(point)
    if spans is None:
        axis.set_xlabel("step of warm-up and horizon")
        times = np.arange(len(path) + 1.0)
        warm = math.nan
    else:
        axis.set_xlabel("time (mean services)")
        times = np.linspace(0, sum(spans) / unit, len(path) + 1)
        warm = spans[0] / unit
        axis.axvspan(0, warm, color="0.9", linewidth=0, zorder=0)
    axis.plot(times, [0, *path], color=look.colour, linewidth=0.9)
    mean = float(point["mean_queue_length"])
    half = float(half_width(point["se_queue_length"], point["replications"]))
    after = [warm if warm < times[-1] else 0.0, times[-1]]
    axis.plot(after, [mean] * 2, color="0.25", linewidth=1.1, zorder=3)
    if np.isfinite(half):
        axis.fill_between(after, mean - half, mean + half, color="0.25", alpha=0.3, linewidth=0)
    axis.set_xlim(0, times[-1])
    truth = figures_theory.response(point)
    value = truth.value * float(point["lambda"]) * unit if truth else 0.0
    axis.set_ylim(0, 1.1 * max(np.nanmax(path, initial=0.0), mean, value) or 1)
    if not truth:
        return set()
    axis.axhline(value, **look.theory(truth.kind))
    return {truth.kind}


def _spans(point: pd.Series) -> tuple[float, float] | None:
    """Lengths of warm-up and horizon; None where the parameters do not tell."""
    rate = point.get("lambda", math.nan)
    jobs = float(rate) * potluck.naming.servers(point)
    out = []
    for name in ("warmup", "horizon"):
        if point.get(name) == "time":
            length = float(point[f"{name}_time"])
        elif point.get(name) == "jobs":
            length = float(point[f"{name}_jobs"]) / jobs
        elif point.get(name) == "relaxed" and figures_theory.closed(point):
            unit = figures_theory.in_services(point)
            length = 10 / (1 - math.sqrt(min(float(rate) * unit, 0.995))) ** 2 * unit
        else:
            return None
        out.append(length)
    return (out[0], out[1]) if np.isfinite(out).all() else None
