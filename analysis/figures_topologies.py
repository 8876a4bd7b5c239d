# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of many panels: balance and cost by topology, maximum load by number of servers."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator
from potluck import drawing, naming, predicted
from potluck.figures import PUBLISHED_SAVING, PUBLISHED_TV, STYLES, lowest_variation
from potluck.figures_loads import curve_label, curve_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PUBLISHED_COLOUR = "#DCEAF7"
_MOST_ROWS, _MOST_PANELS = 60, 24
_MARK = {"exact": "+", "approximation": "x"}
#: Round numbers for a logarithmic axis of loads.
_ROUND = [a * 10**b for b in range(7) for a in (1, 1.5, 2, 3, 4, 5, 7)]


@drawing.paper
def plot_topologies(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Balance lost and cost saved for many topologies: one row each, a dot for each k.

    On the left the total variation of the load law to the baseline: a dot lies at the plug-in
    estimate, its bar reaches down to the cross-fitted one, and the grey bar is what noise alone
    would show. Dots at the left border are below it, or equal to the baseline. On the right the
    share of the baseline's cost that is saved, with 95 % intervals, on a scale stretched at both
    ends. Blue bands are the ranges of Panigrahy et al. (ACM TOMPECS 7, 2022).

    Parameters
    ----------
    ds : what `open` gave, of a job with a baseline and policies that have a k.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure
        Two columns of panels for each policy, in the order of the file.

    Raises
    ------
    ValueError
        When the file has no baseline or no policy with a k, or more than 60 settings.
    """
    table = potluck.frame(ds)
    if "k" not in table or "tv" not in table or not np.isfinite(table["tv"]).any():
        raise ValueError("this figure needs a baseline (see `baseline`) and policies with a k")
    constant = [c for c in table if c != "topology" and table[c].nunique(dropna=False) < 2]
    table["setting"] = naming.settings(table, constant)
    own = naming.baseline_of(ds, table)
    near = table[table["k"].map(naming.present) & np.isfinite(table["tv"]) & ~own]
    if near.empty:
        raise ValueError("no policy with a k has been compared with the baseline in this file")
    rows_, policies = list(near["setting"].unique()), list(near["policy"].unique())
    if len(rows_) > _MOST_ROWS:
        raise ValueError(
            f"{len(rows_)} settings are too many for one figure of at most {_MOST_ROWS}: choose "
            'points first, as in potluck.plot_topologies(ds.isel(point=ds["topology"] == "ring"))'
        )
    hops = sorted(near["k"].unique())
    baseline = naming.curve_name(table[own].iloc[0]) if own.any() else "the baseline"
    names = ["\n".join(drawing.wrapped(name, 27)) for name in rows_]
    lines = 1 + max(name.count("\n") for name in names)
    each = max(float(np.clip(0.07 * len(hops) + 0.1, 0.32, 1.2)), 0.13 * lines + 0.08)
    width = max(drawing.PAGE, 2.0 + 1.25 * 2 * len(policies))
    figure, axes = plt.subplots(
        1, 2 * len(policies), figsize=(width, 1.5 + each * len(rows_)), sharey=True
    )
    lowest = lowest_variation(near)
    for i, policy in enumerate(policies):
        part = near[near["policy"] == policy]
        balance, cost = axes[i], axes[len(policies) + i]
        _variation_scale(balance, lowest, near["tv"].max())
        _saving_scale(cost)
        balance.set_title(f"{policy}: balance lost", fontsize=drawing.SMALL)
        cost.set_title(f"{policy}: cost saved", fontsize=drawing.SMALL)
        balance.set_xlabel(f"total variation\nto {baseline}")
        cost.set_xlabel(f"saved of {baseline}'s\ncost, %")
        for y, name in enumerate(rows_):
            here = part[part["setting"] == name]
            noise = np.nan_to_num(here["tv_floor"].max()) if len(here) else 0.0
            if noise > lowest:
                balance.barh(y, noise - lowest, 0.92, lowest, color="0.8", zorder=1)
            for _, point in here.iterrows():
                j = hops.index(point["k"])
                at = y + 0.8 * ((j + 0.5) / len(hops) - 0.5)
                _dot(balance, cost, point, at, _hop_style(j, len(hops)))
    for axis in axes:
        axis.set_ylim(len(rows_) - 0.5, -0.5)
        axis.set_yticks(range(len(rows_)), names)
        axis.tick_params(axis="y", length=0)
        for y in range(1, len(rows_)):
            axis.axhline(y - 0.5, color="0.85", linewidth=0.5, zorder=0)
    under = _legend(figure, hops)
    words = title or ds.attrs.get("title") or "Balance lost and cost saved"
    above = drawing.suptitle(figure, words)
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, under / height, 1, 1 - above / height), w_pad=0.6)
    return figure


@drawing.paper
def plot_maxload(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Mean maximum load against the number of servers, a curve for each policy, with 95 %
    intervals (1.96 standard errors).

    A policy has a colour; its parameters, and the way ties are settled where that matters, tell
    lines of one colour apart and stand at the end of each. Black marks are theory where there is
    one: a plus the exact mean, a cross that of independent servers, each with the law of a load in
    a large system.

    Parameters
    ----------
    ds : what `open` gave, of a job that has several numbers of servers.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each setting and number of jobs per server, those of a setting side by side.

    Raises
    ------
    ValueError
        When there is one number of servers only, or more than 24 panels.
    """
    table = potluck.frame(ds)
    if "mean_max_load" not in table:
        raise ValueError("this figure needs maximum loads, which files of `model: balls` have")
    table = table[np.isfinite(table["mean_max_load"])]
    passed_over = ("n", "sides", "dim", "balls", "ties")
    table = table.assign(
        setting=naming.settings(table, passed_over),
        servers_=[naming.servers(p) for _, p in table.iterrows()],
        ratio=[naming.jobs_per_server(p) for _, p in table.iterrows()],
    )
    several = table.groupby(["setting", "ratio"])["servers_"].transform("nunique") > 1
    table = table[several]
    if table.empty:
        raise ValueError("this figure needs several numbers of servers, such as `n: [100, 1000]`")
    shown, fewer = curve_styles(table)
    table = table[[curve_label(p) in shown for _, p in table.iterrows()]]
    panels = [part for _, part in table.groupby(["setting", "ratio"], sort=False)]
    if len(panels) > _MOST_PANELS:
        raise ValueError(
            f"{len(panels)} settings are too many for one figure of at most {_MOST_PANELS}: choose "
            'points first, as in potluck.plot_maxload(ds.isel(point=ds["topology"] == "ring"))'
        )
    policies = enumerate(table["policy"].unique())
    colours = {p: STYLES[i % len(STYLES)][0] for i, p in policies}
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(drawing.PAGE, 0.6 + 2.75 * lines), sharex=True, squeeze=False
    )
    kinds = set()
    for axis, part in zip(axes.flat, panels):
        first = part.iloc[0]
        _load_scale(axis, table.loc[table["ratio"] == first["ratio"], "mean_max_load"])
        _servers_scale(axis, table["servers_"], columns)
        name = f"{first['setting']}, {naming.ratio_in_words(first['ratio'])}"
        drawing.panel_title(axis, name, drawing.PAGE / columns - 0.7)
        _load_curves(axis, part, colours)
        kinds |= _theory_marks(axis, part)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes.flat[max(0, len(panels) - columns) : len(panels)]:
        axis.set_xlabel("servers, n")
        axis.tick_params(labelbottom=True)
    for axis in axes[:, 0]:
        axis.set_ylabel("mean maximum load (jobs)")
    under = drawing.note(figure, f"{fewer} {_told(kinds)}")
    above = drawing.suptitle(figure, title or ds.attrs.get("title") or "Maximum load")
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, under / height, 1, 1 - above / height))
    for axis, part in zip(axes.flat, panels):
        drawing.end_labels(axis)
    return figure


# -------------------------------------------------------------------------------------------------


def _hop_style(j: int, total: int) -> tuple[tuple[float, ...], str]:
    """Colour and marker of the j-th k: ordered, from dark to light."""
    return plt.get_cmap("viridis")(0.85 * j / max(total - 1, 1)), "os^Dv"[j % 5]


def _legend(figure: Figure, hops: list[float]) -> float:
    """Two lines below the panels; returns their height in inches."""
    handles = []
    for j, k in enumerate(hops):
        colour, marker = _hop_style(j, len(hops))
        look = {"color": colour, "marker": marker, "markersize": 4, "linestyle": ""}
        handles.append(plt.Line2D([], [], label=f"k = {naming.number(k)}", **look))
    others = [
        plt.Line2D([], [], color="0.3", label="bar: down to the cross-fitted estimate"),
        plt.Rectangle((0, 0), 1, 1, color="0.8", label="noise alone"),
        plt.Rectangle((0, 0), 1, 1, color=_PUBLISHED_COLOUR, label="published ranges"),
    ]
    per_line = min(len(hops), 10)
    look = {"frameon": False, "handletextpad": 0.4, "columnspacing": 1.2, "borderpad": 0}
    height = figure.get_size_inches()[1]
    second = 0.08 / height
    at = (0.5, second)
    figure.legend(handles=others, loc="lower center", bbox_to_anchor=at, ncol=3, **look)
    at = (0.5, second + 0.17 / height)
    figure.legend(handles=handles, loc="lower center", bbox_to_anchor=at, ncol=per_line, **look)
    return 0.3 + 0.16 * -(-len(hops) // per_line)


def _variation_scale(axis: Axes, lowest: float, highest: float) -> None:
    axis.set_xscale("log")
    axis.set_xlim(lowest, 1.6 * max(highest, PUBLISHED_TV[1]))
    axis.axvspan(*PUBLISHED_TV, color=_PUBLISHED_COLOUR, zorder=0)
    axis.xaxis.set_major_locator(LogLocator(numticks=6))
    axis.xaxis.set_minor_locator(NullLocator())


def _saving_scale(axis: Axes) -> None:
    """A logit of the share saved, softened so that 0 and 1 have a place."""
    low, high = 0.05, 0.003

    def forward(s: np.ndarray) -> np.ndarray:
        s = np.clip(s, -0.9 * low, 1 + 0.9 * high)
        return np.log((s + low) / (1 + high - s))

    def inverse(t: np.ndarray) -> np.ndarray:
        e = np.exp(t)
        return ((1 + high) * e - low) / (1 + e)

    axis.set_xscale("function", functions=(forward, inverse))
    axis.set_xlim(-0.03, 1.0005)
    axis.axvspan(*PUBLISHED_SAVING, color=_PUBLISHED_COLOUR, zorder=0)
    ticks = [0, 0.08, 0.5, 0.9, 0.99]
    axis.set_xticks(ticks, [f"{100 * t:g}" for t in ticks])
    axis.minorticks_off()


def _dot(
    balance: Axes, cost: Axes, point: pd.Series, y: float, style: tuple[tuple[float, ...], str]
) -> None:
    """One policy with one k on one topology, in both panels."""
    colour, marker = style
    edge = balance.get_xlim()[0]
    tv = max(point["tv"], edge)
    cross = point["tv_cross"] if np.isfinite(point["tv_cross"]) else point["tv"]
    bar = {"color": colour, "marker": marker, "markersize": 2.8, "elinewidth": 0.9, "capsize": 1.2}
    left = tv - np.clip(cross, edge, tv)
    balance.errorbar(tv, y, xerr=[[left], [0]], clip_on=False, zorder=3, **bar)
    saved, se = point["cost_reduction"], point["se_cost_reduction"]
    if np.isfinite(saved):
        cost.errorbar(saved, y, xerr=1.96 * se if np.isfinite(se) else 0, zorder=3, **bar)


def _servers_scale(axis: Axes, servers: pd.Series, columns: int) -> None:
    """Logarithmic, with room at the right for the names of the curves."""
    first, last = servers.min(), servers.max()
    axis.set_xscale("log")
    axis.set_xlim(first / 1.4, last * (last / first) ** (1.05 if columns > 1 else 0.5))
    counts = [first]
    for n in sorted(servers.unique()):  # those with room for their numbers
        if np.log(n / counts[-1]) > 0.08 * np.log(last / first):
            counts.append(n)
    axis.xaxis.set_major_locator(FixedLocator(counts))
    if any(np.log10(n) % 1 for n in counts):
        axis.xaxis.set_major_formatter(lambda x, _: naming.number(round(x)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92", linewidth=0.5)


def _load_scale(axis: Axes, loads: pd.Series) -> None:
    """Logarithmic where the loads differ much; room for names below and intervals above."""
    low, high = loads.min(), loads.max()
    if high <= 6 * low:
        room = 0.12 * max(high - low, 1)
        axis.set_ylim(low - 2 * room, high + room)
        axis.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
        return
    ticks = [t for t in _ROUND if 0.8 * low <= t <= 1.25 * high]
    axis.set_yscale("log")
    axis.set_ylim(0.75 * low, 1.3 * high)
    axis.yaxis.set_major_locator(FixedLocator(ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(lambda y, _: f"{y:g}")


def _theory_marks(axis: Axes, part: pd.DataFrame) -> set[str]:
    """Marks what theory says of a panel; returns its kinds."""
    kinds = set()
    for _, point in part.iterrows():
        found = predicted.mean_max_load(point)
        if found is not None:
            kind, mean = found
            kinds.add(kind)
            look = {"marker": _MARK[kind], "markersize": 5.5, "markeredgewidth": 0.9}
            axis.plot(point["servers_"], mean, color="black", linestyle="", zorder=5, **look)
    return kinds


def _told(kinds: set[str]) -> str:
    words = {
        "exact": "plus: exact",
        "approximation": "cross: approximation, as if servers were independent, each with the law "
        "of a load (of d choices: its fluid limit)",
    }
    told = "; ".join(text for kind, text in words.items() if kind in kinds)
    return "Bars: 95 % intervals." + (f" Theory, {told}." if told else "")


def _load_curves(axis: Axes, part: pd.DataFrame, colours: dict[str, str]) -> None:
    """Mean maximum loads with intervals; ways to settle ties that change nothing are one curve."""
    seen: dict[str, list[tuple[str, pd.DataFrame]]] = {}
    part = part.assign(curve=[curve_label(p) for _, p in part.iterrows()])
    for (name, ties), points in part.groupby(["curve", "ties"], sort=False):
        points = points.sort_values("servers_")
        ways = seen.setdefault(str(name), [])
        if not any(_same_loads(points, other) for _, other in ways):
            ways.append((str(ties), points))
    used: dict[str, int] = {}
    for name, ways in seen.items():
        for ties, points in ways:
            policy = points["policy"].iloc[0]
            i = used[policy] = used.get(policy, -1) + 1
            axis.errorbar(
                points["servers_"],
                points["mean_max_load"],
                yerr=1.96 * points["se_max_load"].fillna(0),
                color=colours[policy],
                linestyle=("-", "--", ":", "-.")[i % 4],
                marker="osD^"[i % 4],
                markersize=3.2,
                markerfacecolor=colours[policy] if i == 0 else "white",
                elinewidth=0.9,
                label=_with(name, ties) if len(ways) > 1 else name,
            )


def _same_loads(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    return np.array_equal(a["mean_max_load"].to_numpy(), b["mean_max_load"].to_numpy())


def _with(name: str, more: str) -> str:
    """`points (d = 2)` and `ties fair` make `points (d = 2, ties fair)`."""
    return f"{name[:-1]}, {more})" if name.endswith(")") else f"{name} ({more})"
