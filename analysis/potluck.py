# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the result files of potluck and draws them.

    import potluck
    ds = potluck.open("quickstart.h5")       # xarray: everything, with units
    table = potluck.frame("quickstart.h5")   # pandas: one row per point
    runs = potluck.rows("quickstart.h5")     # pandas: one row per replication
    figure = potluck.plot_tradeoff(ds)       # balance against cost
    figure = potluck.plot_topologies(ds)     # the same for many topologies
    figure = potluck.plot_maxload(ds)        # maximum load against the number of servers

From the command line:

    /usr/bin/python3 analysis/potluck.py tradeoff quickstart.h5 quickstart.png
    /usr/bin/python3 analysis/potluck.py topologies proximity-topologies.h5 topologies.png
    /usr/bin/python3 analysis/potluck.py maxload plane.h5 plane.png

A point is one setting of every parameter, a replication one independent simulation of a point.
Nothing here needs the theory; theory.py holds that.
"""
from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "open",
    "frame",
    "rows",
    "parameters",
    "statistics",
    "settings",
    "plot_tradeoff",
    "plot_topologies",
    "plot_maxload",
]

#: What Panigrahy et al. (ACM TOMPECS 7, 2022) report of unif-pot and invsq-pot: total variation to
#: pot, and the share of its cost that is saved.
PUBLISHED_TV, PUBLISHED_SAVING = (0.002, 0.08), (0.08, 0.99)

#: Variables on `point` that are results; whatever else lies on `point` alone is a parameter.
_RESULTS = ("replications", "stream", "tv", "cost_reduction")
_RESULT_PREFIXES = ("mean_", "se_", "tv_")
#: A parameter of random graphs whose name begins like a result's.
_NO_RESULTS = ("mean_degree",)
#: Parameters that belong to a policy: they tell curves and points of one panel apart, not panels.
_POLICY_PARAMETERS = ("policy", "k", "self", "d", "distinct", "beta", "epsilon")
#: What the panel titles leave out: constant by its meaning, or a repetition of others.
_NOT_IN_TITLES = ("label", "baseline", "balls", "n", "topology", "sides", "dim", "children")
#: Parameters that names of settings mention only where a topology has several of them.
_QUIET = ("n", "ties", "method", "graphs", "connect", "layout", "distances", "power", "servers")

# Okabe and Ito's palette, told apart with every common colour blindness; markers say the same
# twice.
_STYLES = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
)


def open(path: str | os.PathLike) -> xr.Dataset:  # noqa: A001 - the name users expect
    """Open a result file.

    Parameters
    ----------
    path : path of a result file (format 1), finished or a snapshot of a run that still goes on.

    Returns
    -------
    xarray.Dataset
        Every variable of the file; `label`, `topology`, `policy` and the other parameters are
        coordinates of the dimension `point`. Attributes: `title`, `model`, `seed`, `job`,
        `resolved`, `complete` ... Read lazily; use it in a `with` statement, or call `.load()`,
        when the file is to be closed early.
    """
    ds = xr.open_dataset(path, engine="h5netcdf")
    version = int(np.squeeze(ds.attrs.get("format_version", 0)))
    if version != 1:
        ds.close()
        raise ValueError(
            f"{path}: this reader knows format 1 of potluck's result files, not {version or 'none'}"
        )
    bounds = [
        str(v)
        for v in ds.data_vars
        if str(v).endswith("_upper") and ds[v].dims == (str(v)[: -len("_upper")],)
    ]
    return ds.set_coords(parameters(ds) + bounds)


def parameters(ds: xr.Dataset) -> list[str]:
    """Names of the parameters of the points: label, topology, policy, then as in the file."""
    found = [
        str(v)
        for v in ds.variables
        if ds[v].dims == ("point",) and v != "point" and not _is_result(v)
    ]
    first = [name for name in ("label", "topology", "policy") if name in found]
    return first + [name for name in found if name not in first]


def statistics(ds: xr.Dataset) -> list[str]:
    """Names of the results that have one value per point, e.g. `mean_max_load`, in the order of the
    file.
    """
    return [
        str(v) for v in ds.variables if ds[v].dims == ("point",) and v != "point" and _is_result(v)
    ]


def frame(source: str | os.PathLike | xr.Dataset) -> pd.DataFrame:
    """One row per point: its parameters, `replications`, means, standard errors, total variation
    and cost reduction.

    Parameters
    ----------
    source : path of a result file, or the Dataset that `open` gave.

    Returns
    -------
    pandas.DataFrame
        Index `point`. Parameters that do not apply to a point are NaN or "".
    """
    if not isinstance(source, xr.Dataset):
        with open(source) as ds:
            return frame(ds)
    names = parameters(source) + statistics(source)
    table = pd.DataFrame({name: _values(source[name]) for name in names})
    table.index.name = "point"
    return table


def rows(source: str | os.PathLike | xr.Dataset) -> pd.DataFrame:
    """One row per replication: the parameters of its point, then `max_load`, `cost` and the other
    statistics.

    Parameters
    ----------
    source : path of a result file, or the Dataset that `open` gave.

    Returns
    -------
    pandas.DataFrame
        Columns `point`, `replication`, the parameters, the statistics. Only complete replications.

    Raises
    ------
    ValueError
        When the job said `keep: means` and the file has no rows.
    """
    if not isinstance(source, xr.Dataset):
        with open(source) as ds:
            return rows(ds)
    columns = [str(v) for v in source.data_vars if source[v].dims == ("point", "replication")]
    if not columns:
        raise ValueError(
            "this file keeps means only; its job needs `keep: rows` for one value per replication"
        )
    n_points, n_replications = source.sizes["point"], source.sizes["replication"]
    data = {name: source[name].values.reshape(-1) for name in columns}
    point = np.repeat(np.arange(n_points), n_replications)
    here = ~np.all([np.isnan(v) for v in data.values()], axis=0)
    table = pd.DataFrame(
        {"point": point, "replication": np.tile(source["replication"].values, n_points)} | data
    )[here]
    names = parameters(source)
    settings = pd.DataFrame({name: _values(source[name]) for name in names})
    tidy = settings.loc[table["point"]].reset_index(drop=True)
    table = table.reset_index(drop=True)
    return pd.concat([table[["point", "replication"]], tidy, table[columns]], axis=1)


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
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    table = frame(ds)
    if "tv" not in table or not np.isfinite(table["tv"]).any():
        raise ValueError(
            "no total variation in this file: its job has no baseline point (see `baseline`)"
        )
    own = _baseline_of(ds, table)
    baseline = _curve_name(table[own].iloc[0]) if own.any() else "the baseline"
    panels = list(_panels(table))
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
    floor = _lowest(table)
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


def settings(table: pd.DataFrame, leave_out: Iterable[str] = ()) -> pd.Series:
    """Where a point is played, in words: `torus 32×32`, `regular, degree 3`. Points of one name
    differ in the policy alone.

    Parameters
    ----------
    table : what `frame` gave, or some of its rows.
    leave_out : parameters that the names do not tell apart.

    Returns
    -------
    pandas.Series
        A name for each row. Sizes, jobs per server and what is nearly always the same stand in it
        only where a topology has several of them.
    """
    passed_over = ("label", "topology", "balls", *_POLICY_PARAMETERS, *leave_out)
    names = [c for c in table if not _is_result(c) and c not in passed_over]
    ratios = pd.Series([_jobs_per_server(p) for _, p in table.iterrows()], table.index)
    out = pd.Series("", table.index, dtype=object)
    for topology, part in table.groupby("topology", sort=False):
        shown = [c for c in names if c not in _QUIET or part[c].nunique(dropna=False) > 1]
        several = "balls" not in leave_out and ratios[part.index].nunique(dropna=False) > 1
        for at, point in part.iterrows():
            words = [word for name in shown if (word := _in_words(name, point))]
            first = str(topology)
            if words and " " not in words[0]:
                first += f" {words.pop(0)}"
            if several:
                words.append(_ratio_in_words(ratios[at]))
            out[at] = ", ".join([first, *words])
    return out


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
    import panels

    return panels.topologies(ds, title)


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
    import panels

    return panels.maxload(ds, title)


# -------------------------------------------------------------------------------------------------


def _is_result(name: Hashable) -> bool:
    if name in _NO_RESULTS:
        return False
    return str(name) in _RESULTS or str(name).startswith(_RESULT_PREFIXES)


def _values(variable: xr.DataArray) -> np.ndarray:
    return np.asarray(variable.values)


def _present(value: object) -> bool:
    """Whether a parameter applies to a point."""
    return not (
        value is None
        or value == ""
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
    )


def _number(value: float) -> str:
    """5 rather than 5.0; 0.25 as it is."""
    return f"{value:,.0f}".replace(",", " ") if float(value).is_integer() else f"{value:g}"


def _servers(point: pd.Series) -> float:
    """Number of servers of a point, NaN when its parameters do not tell."""
    if _present(point.get("n")):
        return float(point["n"])
    if _present(point.get("sides")):
        return float(np.prod([float(s) for s in str(point["sides"]).split("x")]))
    return 2.0 ** point["dim"] if _present(point.get("dim")) else np.nan


def _panel_name(point: pd.Series, others: Iterable[str]) -> str:
    """Title of a panel: the topology with its size, jobs per server, and whatever else differs
    within the file.
    """
    words = [str(point["topology"])] if _present(point.get("topology")) else []
    if _present(point.get("sides")):
        words.append(str(point["sides"]).replace("x", "×"))
    elif _present(point.get("dim")):
        words.append(f"of {_number(point['dim'])} dimensions")
    servers = _servers(point)
    title = " ".join(words)
    if np.isfinite(servers):
        title += f", {_number(servers)} servers"
    if _present(point.get("balls")) and np.isfinite(servers):
        ratio = float(point["balls"]) / servers
        title += f", {_number(round(ratio, 3))} job{'' if ratio == 1 else 's'} per server"
    extra = [
        f"{name} {_number(v) if isinstance(v, (float, int)) else v}"
        for name in others
        if _present(v := point[name])
    ]
    return "\n".join([title] + [", ".join(extra)] * bool(extra))


def _panels(table: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """The points in groups that differ in the policy alone, each with its title, in the order of
    the file.
    """
    results = [c for c in table if _is_result(c)]
    settings = [c for c in table if c not in results and c not in ("label", *_POLICY_PARAMETERS)]
    varying = [c for c in settings if table[c].nunique(dropna=False) > 1]
    others = [c for c in varying if c not in _NOT_IN_TITLES]
    if not varying:
        yield _panel_name(table.iloc[0], others), table
        return
    keys = table[varying].astype(str).agg("\n".join, axis=1)
    for key in keys.unique():
        part = table[keys == key]
        yield _panel_name(part.iloc[0], others), part


def _curve_name(point: pd.Series) -> str:
    """The policy with its parameters except k."""
    name = str(point["policy"])
    extra = []
    if point.get("self") == "included":
        extra.append("u included")
    if _present(point.get("d")) and name in ("choices", "left", "points"):
        extra.append(f"d = {_number(point['d'])}")
    if point.get("distinct") in (True, 1, 1.0, "true"):
        extra.append("distinct")
    if _present(point.get("beta")):
        extra.append(f"β = {point['beta']:g}")
    if _present(point.get("epsilon")):
        extra.append(f"ε = {point['epsilon']:g}")
    return name + (f" ({', '.join(extra)})" if extra else "")


def _baseline_of(ds: xr.Dataset, table: pd.DataFrame) -> pd.Series:
    """Which points are their own baseline."""
    found = re.search(r"^baseline: *\{? *([\w-]+)", str(ds.attrs.get("resolved", "")), re.M)
    own = (table["tv"] == 0) & (table["cost_reduction"] == 0)
    return own & (table["policy"] == found[1]) if found else own


def _styles_of(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Colour and marker of each curve; the same in every panel."""
    names = dict.fromkeys(
        _curve_name(p) for _, p in table.iterrows() if _moves(p) and not _is_baseline(p)
    )
    return {name: _STYLES[i % len(_STYLES)] for i, name in enumerate(names)}


def _is_baseline(point: pd.Series) -> bool:
    """Whether nothing at all tells the point from its baseline."""
    return point["tv"] == 0 and point["cost_reduction"] == 0


def _moves(point: pd.Series) -> bool:
    """Whether the policy costs anything, so that the point has a place on a logarithmic axis."""
    return bool(np.isfinite(point["cost_reduction"]) and point["cost_reduction"] < 1)


def _lowest(table: pd.DataFrame) -> float:
    """Lower end of the vertical axis: half a decade below the lowest of the noise floors and
    estimates.
    """
    seen = np.concatenate([table["tv_floor"], table.loc[table["tv"] > 0, "tv"]]).astype(float)
    seen = seen[np.isfinite(seen) & (seen > 0)]
    return float(10 ** (np.log10(seen.min()) - 0.5)) if seen.size else 1e-6


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
            curves.setdefault(_curve_name(point), []).append(point)
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
            label=f"{_curve_name(point)} (no travel at all)",
        )
    baseline = _curve_name(own.iloc[0]) if len(own) else "the baseline"
    if len(own):
        axis.axvline(
            100, color="0.35", linestyle=":", linewidth=1.2, label=f"{baseline}, the baseline"
        )
        axis.annotate(
            f"{baseline}: {own['mean_cost'].iloc[0]:.4g} {_unit_of_cost(part)} a job",
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
    axis.set_xlabel(f"mean cost ({_unit_of_cost(part)} a job), in % of {baseline}'s")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.grid(True, which="major", color="0.9", linewidth=0.6)
    axis.margins(x=0.14)
    return drawn


def _unit_of_cost(part: pd.DataFrame) -> str:
    """Hops, or on the plane the side of the square."""
    on_plane = "topology" in part and (part["topology"] == "plane").all()
    return "sides" if on_plane else "hops"


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
    if "k" not in points or not points["k"].map(_present).all():
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
        text = f"{'k = ' if i == 0 else ''}{_number(points['k'].iloc[i])}"
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


def _jobs_per_server(point: pd.Series) -> float:
    """NaN when the parameters do not tell."""
    return float(point["balls"]) / _servers(point) if _present(point.get("balls")) else np.nan


def _ratio_in_words(ratio: float) -> str:
    return f"{_number(round(ratio, 3))} job{'' if ratio == 1 else 's'} per server"


def _in_words(name: str, point: pd.Series) -> str:
    """A parameter of the topology: `32×32`, `degree 3`; empty when it does not apply."""
    value = point[name]
    if not _present(value) or (name == "n" and _present(point.get("sides"))):
        return ""
    if name in ("sides", "name"):
        return str(value).replace("x", "×") if name == "sides" else str(value)
    if name == "torus":
        return "on a torus" if value else "in a square"
    shown = _number(value) if isinstance(value, (int, float, np.number)) else str(value)
    return f"{name} = {shown}" if len(name) == 1 else f"{name.replace('_', ' ')} {shown}"


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="potluck.py", description="Draws a result file of potluck."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    figures = {
        "tradeoff": (plot_tradeoff, "balance against cost, one curve per policy"),
        "topologies": (plot_topologies, "balance lost and cost saved, one row per topology"),
        "maxload": (plot_maxload, "maximum load against the number of servers"),
    }
    for name, (_, what) in figures.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("results", metavar="OUT.h5")
        command.add_argument(
            "figure", metavar="FIGURE.png", help="its ending says the format: png, pdf, svg"
        )
    options = parser.parse_args(arguments)

    import matplotlib

    matplotlib.use("Agg")
    try:
        with open(options.results) as ds:
            figures[options.command][0](ds).savefig(options.figure, dpi=150)
    except (OSError, ValueError) as reason:
        print(f"potluck.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
