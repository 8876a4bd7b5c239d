# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of many panels: balance and cost by topology, maximum load by number of servers."""
from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from matplotlib.ticker import FixedLocator, NullLocator
from potluck import drawing, naming, theory
from potluck.figures import PUBLISHED_SAVING, PUBLISHED_TV, STYLES, lowest_variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PUBLISHED_COLOUR = "#DCEAF7"
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
    """
    table = potluck.frame(ds)
    if "k" not in table or "tv" not in table or not np.isfinite(table["tv"]).any():
        raise ValueError("this figure needs a baseline (see `baseline`) and policies with a k")
    table["setting"] = naming.settings(table)
    own = naming.baseline_of(ds, table)
    near = table[table["k"].map(naming.present) & np.isfinite(table["tv"]) & ~own]
    rows_, policies = list(near["setting"].unique()), list(near["policy"].unique())
    hops = sorted(near["k"].unique())
    baseline = naming.curve_name(table[own].iloc[0]) if own.any() else "the baseline"
    height = 1.9 + 0.52 * len(rows_)
    figure, axes = plt.subplots(
        1, 2 * len(policies), figsize=(1.9 + 2.6 * 2 * len(policies), height), sharey=True
    )
    lowest = lowest_variation(near)
    for i, policy in enumerate(policies):
        part = near[near["policy"] == policy]
        balance, cost = axes[i], axes[len(policies) + i]
        _variation_scale(balance, lowest, near["tv"].max())
        _saving_scale(cost)
        balance.set_title(f"{policy}: balance lost", fontsize="medium")
        cost.set_title(f"{policy}: cost saved", fontsize="medium")
        balance.set_xlabel(f"total variation to {baseline}")
        cost.set_xlabel(f"saved of {baseline}'s cost, %")
        for y, name in enumerate(rows_):
            here = part[part["setting"] == name]
            balance.barh(y, here["tv_floor"].max() - lowest, 0.92, lowest, color="0.8", zorder=1)
            for _, point in here.iterrows():
                j = hops.index(point["k"])
                at = y + 0.8 * ((j + 0.5) / len(hops) - 0.5)
                _dot(balance, cost, point, at, _hop_style(j, len(hops)))
    for axis in axes:
        axis.set_ylim(len(rows_) - 0.5, -0.5)
        axis.set_yticks(range(len(rows_)), rows_)
        axis.tick_params(axis="y", length=0)
        for y in range(1, len(rows_)):
            axis.axhline(y - 0.5, color="0.85", linewidth=0.6, zorder=0)
    figure.suptitle(title or ds.attrs.get("title") or "Balance lost and cost saved")
    _legend(figure, hops)
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1 - 0.05 / height))
    return figure


@drawing.paper
def plot_maxload(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """Mean maximum load against the number of servers, a curve for each policy, with 95 %
    intervals (1.96 standard errors).

    A policy has a colour; its parameters, and the way ties are settled where that matters, tell
    lines of one colour apart and stand at the end of each.

    Parameters
    ----------
    ds : what `open` gave, of a job that has several numbers of servers.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each setting; one row of panels for each number of jobs per server.
    """
    table = potluck.frame(ds)
    table = table[np.isfinite(table["mean_max_load"])]
    passed_over = ("n", "sides", "dim", "balls", "ties")
    table = table.assign(
        setting=naming.settings(table, passed_over),
        servers_=[naming.servers(p) for _, p in table.iterrows()],
        ratio=[naming.jobs_per_server(p) for _, p in table.iterrows()],
    )
    if table["servers_"].nunique() < 2:
        raise ValueError("this figure needs several numbers of servers, such as `n: [100, 1000]`")
    ratios, places = sorted(table["ratio"].unique()), list(table["setting"].unique())
    policies = enumerate(table["policy"].unique())
    colours = {p: STYLES[i % len(STYLES)][0] for i, p in policies}
    figure, axes = plt.subplots(
        len(ratios),
        len(places),
        figsize=(0.8 + 4.6 * len(places), 0.7 + 4.2 * len(ratios)),
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for line, ratio in zip(axes, ratios):
        _load_scale(line[0], table.loc[table["ratio"] == ratio, "mean_max_load"])
        for axis, place in zip(line, places):
            _servers_scale(axis, table["servers_"])
            axis.set_title(f"{place}, {naming.ratio_in_words(ratio)}", fontsize="medium")
            part = table[(table["ratio"] == ratio) & (table["setting"] == place)]
            _load_curves(axis, part, colours)
    for axis in axes[-1]:
        axis.set_xlabel("servers, n")
    figure.suptitle(title or ds.attrs.get("title") or "Maximum load")
    figure.tight_layout()
    for axis in axes.flat:
        drawing.end_labels(axis)
    return figure


# -------------------------------------------------------------------------------------------------


def _hop_style(j: int, total: int) -> tuple[tuple[float, ...], str]:
    """Colour and marker of the j-th k: ordered, from dark to light."""
    return plt.get_cmap("viridis")(0.85 * j / max(total - 1, 1)), "os^Dv"[j % 5]


def _legend(figure: Figure, hops: list[float]) -> None:
    """One line below the panels."""
    handles = []
    for j, k in enumerate(hops):
        colour, marker = _hop_style(j, len(hops))
        look = {"color": colour, "marker": marker, "markersize": 5, "linestyle": ""}
        handles.append(plt.Line2D([], [], label=f"k = {naming.number(k)}", **look))
    handles += [
        plt.Line2D([], [], color="0.3", label="bar: down to the cross-fitted estimate"),
        plt.Rectangle((0, 0), 1, 1, color="0.8", label="noise alone"),
        plt.Rectangle((0, 0), 1, 1, color=_PUBLISHED_COLOUR, label="published ranges"),
    ]
    figure.legend(
        handles=handles,
        loc="lower center",
        ncol=len(handles),
        frameon=False,
        fontsize="small",
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _variation_scale(axis: Axes, lowest: float, highest: float) -> None:
    axis.set_xscale("log")
    axis.set_xlim(lowest, 1.6 * max(highest, PUBLISHED_TV[1]))
    axis.axvspan(*PUBLISHED_TV, color=_PUBLISHED_COLOUR, zorder=0)
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")


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
    ticks = [0, 0.08, 0.25, 0.5, 0.75, 0.9, 0.99]
    axis.set_xticks(ticks, [f"{100 * t:g}" for t in ticks], fontsize="small")
    axis.minorticks_off()


def _dot(
    balance: Axes, cost: Axes, point: pd.Series, y: float, style: tuple[tuple[float, ...], str]
) -> None:
    """One policy with one k on one topology, in both panels."""
    colour, marker = style
    edge = balance.get_xlim()[0]
    tv = max(point["tv"], edge)
    cross = point["tv_cross"] if np.isfinite(point["tv_cross"]) else point["tv"]
    bar = {"color": colour, "marker": marker, "markersize": 3.6, "elinewidth": 1.1, "capsize": 1.5}
    left = tv - np.clip(cross, edge, tv)
    balance.errorbar(tv, y, xerr=[[left], [0]], clip_on=False, zorder=3, **bar)
    saved, se = point["cost_reduction"], point["se_cost_reduction"]
    if np.isfinite(saved):
        cost.errorbar(saved, y, xerr=1.96 * se if np.isfinite(se) else 0, zorder=3, **bar)


def _servers_scale(axis: Axes, servers: pd.Series) -> None:
    """Logarithmic, with room at the right for the names of the curves."""
    first, last = servers.min(), servers.max()
    axis.set_xscale("log")
    axis.set_xlim(first / 1.4, last * (last / first) ** 0.75)
    axis.xaxis.set_major_locator(FixedLocator(sorted(servers.unique())))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(True, which="major", color="0.92", linewidth=0.6)


def _load_scale(axis: Axes, loads: pd.Series) -> None:
    """Logarithmic where the loads differ much."""
    axis.set_ylabel("mean maximum load (jobs)")
    if loads.max() <= 6 * loads.min():
        return
    ticks = [t for t in _ROUND if 0.8 * loads.min() <= t <= 1.25 * loads.max()]
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(FixedLocator(ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(lambda y, _: f"{y:g}")


def _load_curves(axis: Axes, part: pd.DataFrame, colours: dict[str, str]) -> None:
    """Mean maximum loads with intervals; ways to settle ties that change nothing are one curve."""
    seen: dict[str, list[tuple[str, pd.DataFrame]]] = {}
    part = part.assign(curve=[_line_name(p) for _, p in part.iterrows()])
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
                yerr=1.96 * points["se_max_load"],
                color=colours[policy],
                linestyle=("-", "--", ":", "-.")[i % 4],
                marker="osD^"[i % 4],
                markersize=4,
                markerfacecolor=colours[policy] if i == 0 else "white",
                linewidth=1.3,
                elinewidth=1.1,
                capsize=2.5,
                label=_with(name, ties) if len(ways) > 1 else name,
            )


def _same_loads(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    return np.array_equal(a["mean_max_load"].to_numpy(), b["mean_max_load"].to_numpy())


def _line_name(point: pd.Series) -> str:
    """The policy with all its parameters."""
    name, k = naming.curve_name(point), point.get("k")
    return _with(name, f"k = {naming.number(k)}") if naming.present(k) else name


def _with(name: str, more: str) -> str:
    """`points (d = 2)` and `ties fair` make `points (d = 2, ties fair)`."""
    return f"{name[:-1]}, {more})" if name.endswith(")") else f"{name} ({more})"
