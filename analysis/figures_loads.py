# SPDX-License-Identifier: GPL-3.0-or-later
"""The law of the loads."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from matplotlib.ticker import MaxNLocator, NullLocator
from potluck import drawing, naming, predicted
from potluck.figures import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: More panels, and more curves in one of them, nobody can read.
_MOST_PANELS, _MOST_CURVES = 18, 10
_HOPS = 3


@drawing.paper
def plot_loads(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Shares of servers with at least such a load (queues: of time), P(load >= x), with 95 %
    intervals, a panel for each setting, a curve for each policy.

    The share is on a logarithmic axis, which ends where one server in all replications is, or
    less. Black lines are theory where there is one, see `predicted.load_tail`: exact laws are
    solid, fluid limits broken. Of many k the first, the last and one between are drawn; of more
    than 18 settings those with the first `ties` and the most servers, and then some of them, evenly
    spread; a note says so. To see others, choose points: ``ds.isel(point=ds["n"] == 100)``.

    Parameters
    ----------
    ds : what `open` gave, of balls into bins or of queues.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the file has no loads.
    """
    law = next((name for name in ("load_count", "load_time") if name in ds), None)
    if law is None or "policy" not in ds.variables:
        raise ValueError("no loads of servers in this file; balls into bins and queues have them")
    tail = potluck.tail(ds, law)
    table = potluck.frame(ds)
    table = table[np.isfinite(tail["fraction"].values[:, 0])]
    if table.empty:
        raise ValueError("no point of this file has been played yet")
    panels, told = _some_panels(table)
    styles, fewer = curve_styles(pd.concat([part for _, part in panels]))
    columns = len(panels) if len(panels) < 3 else 2 if len(panels) in (4,) else 3
    lines = -(-len(panels) // columns)
    width = drawing.PAGE if columns > 1 else 1.3 * drawing.COLUMN
    each = 1.75 if columns > 2 else 2.6
    figure, axes = plt.subplots(
        lines, columns, figsize=(width, 0.9 + each * lines), sharey=True, squeeze=False
    )
    unit = "of time" if law == "load_time" else "of servers"
    kinds: set[str] = set()
    floor = _floor(tail, np.concatenate([part.index for _, part in panels]))
    for axis, (name, part) in zip(axes.flat, panels):
        drawing.panel_title(axis, name, (width - 0.5) / columns - 0.15)
        shown = [curve_label(p) in styles for _, p in part.iterrows()]
        kinds |= _draw(axis, part[shown], tail, styles, floor)
        axis.set_xlabel("load x (jobs)")
    for axis in axes[:, 0]:
        axis.set_ylabel(f"share {unit}\nwith load ≥ x")
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    under = drawing.note(figure, " ".join([told, fewer, "Bars: 95 % intervals."]))
    under = _legend(figure, styles, kinds, under)
    above = drawing.suptitle(figure, title or ds.attrs.get("title") or "Loads")
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, under / height, 1, 1 - above / height))
    return figure


def curve_label(point: pd.Series) -> str:
    """The policy with all its parameters."""
    name = naming.curve_name(point)
    if not naming.present(point.get("k")):
        return name
    k = f"k = {naming.number(point['k'])}"
    return f"{name[:-1]}, {k})" if name.endswith(")") else f"{name} ({k})"


def curve_styles(table: pd.DataFrame) -> tuple[dict[str, tuple[str, str, str]], str]:
    """Colour, marker and line of each curve, the same in every panel; and a sentence on which k are
    left out.
    """
    table = table.assign(policy_=[naming.curve_name(p) for _, p in table.iterrows()])
    colours = {p: STYLES[i % len(STYLES)] for i, p in enumerate(table["policy"].unique())}
    curves, fewer = {}, False
    for _, part in table.groupby("policy_", sort=False):
        names = dict.fromkeys(curve_label(p) for _, p in part.iterrows())
        if "k" in part and part["k"].nunique() > _HOPS:
            hops = np.sort(part["k"].unique())
            near = np.argmin(np.abs(np.log(hops) - np.log(hops[[0, -1]]).mean()))
            kept = part[part["k"].isin(hops[[0, near, -1]])]
            names, fewer = dict.fromkeys(curve_label(p) for _, p in kept.iterrows()), True
        colour, marker = colours[part["policy"].iloc[0]]
        for name in names:
            i = sum(c == colour for c, *_ in curves.values())
            curves[name] = (colour, marker, ("-", "--", ":", "-.")[i % 4])
    lacking = len(curves) - _MOST_CURVES
    if lacking > 0:
        curves = dict(list(curves.items())[:_MOST_CURVES])
    if len(curves) <= len(STYLES):
        lines = ("-", "--", "-.")
        curves = {n: (*STYLES[i], lines[i % 3]) for i, n in enumerate(curves)}
    told = "Of each policy the first, a middle and the last k." if fewer else ""
    return curves, told + (f" The first {_MOST_CURVES} policies." if lacking > 0 else "")


# -------------------------------------------------------------------------------------------------


def _some_panels(table: pd.DataFrame) -> tuple[list[tuple[str, pd.DataFrame]], str]:
    """At most so many settings, and a sentence on which these are."""
    everything = len(list(naming.panels(table)))
    words = []
    for name in ("ties", "n", "sides", "dim"):
        if len(list(naming.panels(table))) <= _MOST_PANELS:
            break
        if name in table and table[name].map(naming.present).all() and table[name].nunique() > 1:
            kept = table[name].iloc[0] if name == "ties" else table[name].iloc[-1]
            kept = table[name].max() if name == "n" else kept
            table = table[table[name] == kept]
            words.append(f"n = {naming.number(kept)}" if name == "n" else f"{name} {kept}")
    panels = list(naming.panels(table))
    if len(panels) > 4:  # short names, without what does not differ
        constant = [c for c in table if c != "topology" and table[c].nunique(dropna=False) < 2]
        names = naming.settings(table, constant)
        panels = [(names[part.index[0]], part) for _, part in panels]
    if len(panels) > _MOST_PANELS:
        at = np.unique(np.linspace(0, len(panels) - 1, _MOST_PANELS).astype(int))
        panels = [panels[i] for i in at]
    if len(panels) == everything:
        return panels, ""
    which = f", those with {' and '.join(words)}" if words else ""
    return panels, f"{len(panels)} of {everything} settings{which}."


def _floor(tail: xr.Dataset, points: np.ndarray) -> float:
    """Lower end of the axis: a power of ten below all shares, but for those below 1e-9."""
    seen = tail["fraction"].values[points]
    return float(10 ** np.floor(np.log10(max(seen[seen > 0].min(), 1e-9))))


def _draw(
    axis: Axes,
    part: pd.DataFrame,
    tail: xr.Dataset,
    styles: dict[str, tuple[str, str, str]],
    floor: float,
) -> set[str]:
    """The curves of a panel; returns the kinds of theory that stand in it."""
    load = tail["load"].values.astype(float)
    above, low, high = (tail[name].values for name in ("fraction", "low", "high"))
    last = max([load[above[at] >= floor].max() for at in part.index], default=1.0)
    kinds = set()
    for at, point in part.iterrows():
        name = curve_label(point)
        colour, marker, line = styles[name]
        here = (load > 0) & (above[at] >= floor)
        y = above[at][here]
        bars = np.nan_to_num([y - np.clip(low[at][here], floor, y), high[at][here] - y])
        axis.errorbar(
            *(load[here], y, bars),
            **{"color": colour, "marker": marker, "linestyle": line, "markersize": 3},
            **{"linewidth": 0.9, "elinewidth": 0.8, "zorder": 3, "label": name},
            markevery=max(1, here.sum() // 25),
            errorevery=max(1, here.sum() // 25),
        )
        found = predicted.load_tail(point, int(last) + 20)
        if found is not None:
            kind, values = found
            kinds.add(kind)
            k = np.arange(1, int(last) + 1)
            look = {"linestyle": drawing.THEORY[kind], "linewidth": 0.7, "zorder": 4}
            axis.plot(k, np.where(values[k] >= floor, values[k], np.nan), color="black", **look)
    axis.set_yscale("log")
    axis.set_ylim(floor, 1.6)
    axis.yaxis.set_minor_locator(NullLocator())
    axis.set_xlim(1 - 0.04 * max(last - 1, 1), last + 0.04 * max(last - 1, 1))
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axis.grid(True, which="major", color="0.92", linewidth=0.5)
    return kinds


def _legend(
    figure: Figure, styles: dict[str, tuple[str, str, str]], kinds: set[str], y: float
) -> float:
    """Above the small print, which ends at y inches; returns where it ends."""
    handles = []
    for name, (colour, marker, line) in styles.items():
        look = {"color": colour, "marker": marker, "linestyle": line, "markersize": 3}
        handles.append(plt.Line2D([], [], label=name, linewidth=0.9, **look))
    words = {"exact": "theory: exact", "limit": "theory: fluid limit, n → ∞"}
    for kind in sorted(kinds):
        look = {"color": "black", "linestyle": drawing.THEORY[kind], "linewidth": 0.7}
        handles.append(plt.Line2D([], [], label=words[kind], **look))
    width, height = figure.get_size_inches()
    longest = max(len(h.get_label()) for h in handles)
    per_line = int(max(1, min(len(handles), 20 * width // (longest + 7))))
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, y / height),
        ncol=per_line,
        frameon=False,
        borderpad=0.1,
        columnspacing=1.4,
        handlelength=2.6,
    )
    return y + 0.06 + 0.15 * -(-len(handles) // per_line)
