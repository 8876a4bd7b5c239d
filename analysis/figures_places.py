# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the loads are."""
from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator
from potluck import drawing, naming
from potluck.figures import STYLES
from potluck.figures_loads import curve_label, curve_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_ROWS, _MOST_COLUMNS = 6, 4
#: A circle with more servers than that is drawn as a line.
_ON_CIRCLE = 200
_BOXES = ("torus", "grid")
_COLOURS = "cividis"  # told apart with colour blindness, and in grey


class _Map(NamedTuple):
    """How a point is drawn: `image` (servers in rows and columns), `dots` (x, y of each server),
    `line` (along an axis) or `curve` (x, mean load and half an interval).
    """

    kind: str
    places: np.ndarray
    axis: str = ""


@drawing.paper
def plot_places(
    ds: xr.Dataset,
    *,
    title: str | None = None,
    positions: str | os.PathLike | np.ndarray | None = None,
) -> Figure:
    """The mean load of each server where it stands (queues: its mean queue).

    Tori, grids and the plane with `servers: grid` are maps; boxes of three sides a map for each
    layer; rings and lines go along an axis, small rings round a circle; on stars and trees mean
    loads stand against the distance from the middle or the root, on graphs edge by edge against the
    degree, with 95 % intervals as if loads were independent. Servers at random
    points have no place in the result file: with one layout for all replications (`layout:
    per-point`), or `points` in a file, name their positions. All panels share a scale.

    Parameters
    ----------
    ds : what `open` gave, of a job with `keep: [rows, server-loads]` (queues: `server-queues`), or
        of graphs edge by edge.
    title : instead of the title of the job.
    positions : servers of a plane, shape (server, 2) between 0 and 1, or a file of a line for each,
        such as the `points` of the job or what `potluck graph JOB.yaml --only POINT --write FILE`
        wrote.

    Returns
    -------
    matplotlib.figure.Figure
        Maps have a panel for each point, curves one for each setting.

    Raises
    ------
    ValueError
        When the file has no load of each server, or none of its points has a place for them.
    """
    name = next((v for v in ("server_load", "server_queue") if v in ds), None)
    if name is None and "degree_servers" not in ds:
        raise ValueError(
            "no load of each server in this file: its job needs `keep: [rows, server-loads]`, "
            "for queues `server-queues`"
        )
    table = potluck.frame(ds)
    loads = ds[name].values.astype(float) if name else np.full((len(table), 1), np.nan)
    table = table[table["replications"] > 0]
    if table.empty:
        raise ValueError("no point of this file has been played yet")
    given = None if positions is None else _positions(positions)
    maps = {
        at: m
        for at, p in table.iterrows()
        if (m := _map(p, loads[at], given) or _by_degree(ds, at, p)) is not None
    }
    if not maps:
        raise ValueError(_why_not(table))
    rows, told = _rows(table, maps)
    return _drawn(ds, title, table, loads, maps, rows, f"{_told(table, maps)} {told}")


# -------------------------------------------------------------------------------------------------


def _rows(table: pd.DataFrame, maps: dict[int, _Map]) -> tuple[list[list[list[int]]], str]:
    """The points of each panel of each row: maps have one, curves of a setting share one; and a
    sentence on what there is no room for.
    """
    settings = [[at for at in part.index if at in maps] for _, part in naming.panels(table)]
    flat = [[at for at in points if maps[at].kind != "curve"] for points in settings]
    columns = max(1, min(max(map(len, flat), default=1), _MOST_COLUMNS))
    rows = [
        [[at] for at in points[i : i + columns]]
        for points in flat
        for i in range(0, len(points), columns)
    ]
    curves = [c for points in settings if (c := [at for at in points if maps[at].kind == "curve"])]
    rows += [curves[i : i + 2] for i in range(0, len(curves), 2)]
    told = ""
    if len(rows) > _MOST_ROWS:
        told = f"The first {sum(map(len, rows[:_MOST_ROWS]))} of {sum(map(len, rows))} panels."
    return rows[:_MOST_ROWS], told


def _drawn(
    ds: xr.Dataset,
    title: str | None,
    table: pd.DataFrame,
    loads: np.ndarray,
    maps: dict[int, _Map],
    rows: list[list[list[int]]],
    told: str,
) -> Figure:
    coloured = [at for row in rows for (at, *_) in row if _is_map(maps[at])]
    width = drawing.PAGE if max(map(len, rows)) > 1 else 1.3 * drawing.COLUMN
    right = 0.75 if coloured else 0
    mapped = [_is_map(maps[row[0][0]]) for row in rows]
    widest = max([len(row) for row, m in zip(rows, mapped) if m], default=1)
    beside = 2 if len(rows) > 1 else len(rows[0])
    across = [widest if m else max(beside, len(row)) for row, m in zip(rows, mapped)]
    square = min((width - right) / widest - 0.2, 2.6)
    heights = [
        square * max(_aspect(maps[at]) for (at, *_) in row) + 0.35 if m else 1.9
        for row, m in zip(rows, mapped)
    ]
    figure = plt.figure(figsize=(width, sum(heights) + 0.75))
    grid = figure.add_gridspec(len(rows), 12, height_ratios=heights)
    unit = "mean queue" if "server_queue" in ds else "mean load"
    scale = Normalize(*_ends(loads[coloured])) if coloured else None
    short = naming.settings(table, [c for c in table if table[c].nunique(dropna=False) < 2])
    styles, fewer = curve_styles(table)
    maps_drawn, named = [], []
    for i, (row, n) in enumerate(zip(rows, across)):
        for j, points in enumerate(row):
            axis = figure.add_subplot(grid[i, 12 // n * j : 12 // n * (j + 1)])
            at, kind = points[0], maps[points[0]].kind
            name = short[at] if kind == "curve" else f"{short[at]}\n{curve_label(table.loc[at])}"
            drawing.panel_title(axis, name, (width - right) / n - 0.25)
            if _is_map(maps[at]):
                _draw_map(axis, maps[at], loads[at], scale)
                maps_drawn.append(axis)
            elif kind == "line":
                _draw_line(axis, maps[at], loads[at], "" if j else f"{unit} (jobs)")
            else:
                shown = [p for p in points if curve_label(table.loc[p]) in styles]
                for p in shown:
                    label = curve_label(table.loc[p])
                    _draw_curve(axis, maps[p], label, styles[label])
                _finish_curves(axis, maps[at], table.loc[at], f"{unit} (jobs)")
                axis.set_ylabel("" if j else axis.get_ylabel())
                named.append(axis)
        lined = [a for a in figure.axes[-len(row) :] if a.lines and maps[row[0][0]].kind == "line"]
        ends = np.array([a.get_ylim() for a in lined])
        for axis in lined:
            axis.set_ylim(ends[:, 0].min(), ends[:, 1].max())
    under = drawing.note(figure, f"{told} {fewer if named else ''}")
    above = drawing.suptitle(figure, title or ds.attrs.get("title") or "Where the loads are")
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, under / height, 1 - right / width, 1 - above / height))
    for axis in named:
        drawing.end_labels(axis)
    if coloured:
        _colour_bar(figure, maps_drawn, scale, f"{unit} (jobs)")
    return figure


def _map(point: pd.Series, loads: np.ndarray, given: np.ndarray | None) -> _Map | None:
    """Where the servers of a point are, None when nobody knows."""
    topology, n = point["topology"], int(np.isfinite(loads).sum())
    if n == 0:
        return None
    sides = [int(s) for s in str(point.get("sides")).split("x")] if topology in _BOXES else [n]
    long = [s for s in sides if s > 1]
    if topology in _BOXES and len(long) in (2, 3) and np.prod(long) == n:
        return _Map("image", _layers(np.arange(n).reshape(long)))
    if topology in ("ring", "line") or (topology in _BOXES and len(long) < 2):
        closed = topology in ("ring", "torus")
        if closed and 2 < n <= _ON_CIRCLE:
            turn = 2 * np.pi * np.arange(n) / n
            return _Map("dots", np.column_stack([np.sin(turn), np.cos(turn)]))
        return _Map("line", np.arange(n), "server")
    if topology == "star":
        return _levels(point, loads, np.minimum(np.arange(n), 1), "hops from the middle")
    if topology == "tree":
        children = int(point["children"])
        level = np.zeros(n, int)
        for v in range(1, n):
            level[v] = level[(v - 1) // children] + 1
        return _levels(point, loads, level, "hops from the root")
    if topology == "plane":
        return _on_plane(point, n, given)
    return None


def _levels(point: pd.Series, loads: np.ndarray, level: np.ndarray, axis: str) -> _Map:
    """Mean loads of the servers at each distance."""
    count = np.bincount(level)
    mean = np.bincount(level, loads[: len(level)]) / count
    return _Map("curve", np.array([np.arange(len(count)), mean, _half(point, count)]), axis)


def _by_degree(ds: xr.Dataset, at: int, point: pd.Series) -> _Map | None:
    """Mean loads of the servers of each degree; bins of several lie in their middle."""
    if "degree_servers" not in ds:
        return None
    count, load = (ds[name].values[at].astype(float) for name in ("degree_servers", "degree_load"))
    here = count >= 10  # too few servers tell nothing
    if here.sum() < 2:  # a curve needs several degrees
        return None
    middle = (ds["degree_bin"].values.astype(float) + ds["degree_bin_upper"].values) / 2
    each = count[here] / max(float(point["replications"]), 1)
    places = np.array([middle[here], load[here] / count[here], _half(point, each)])
    return _Map("curve", places, "degree")


def _half(point: pd.Series, count: np.ndarray) -> np.ndarray:
    """Half an interval of the mean load of so many servers."""
    variance = float(point.get("mean_load_variance", np.nan))
    return np.nan_to_num(1.96 * np.sqrt(variance / (count * max(float(point["replications"]), 1))))


def _layers(servers: np.ndarray) -> np.ndarray:
    """A box of three sides as maps beside each other, -1 between them."""
    if servers.ndim == 2:
        return servers
    gap = np.full((servers.shape[1], max(1, servers.shape[2] // 8)), -1)
    parts = [part for layer in servers for part in (gap, layer)][1:]
    return np.hstack(parts)


def _on_plane(point: pd.Series, n: int, given: np.ndarray | None) -> _Map | None:
    side = round(n**0.5)
    where = str(point.get("topology_servers"))
    if where == "grid" and side * side == n:
        return _Map("image", np.arange(n).reshape(side, side))
    if where == "uniform" and str(point.get("layout")) != "per-point":
        return None
    if given is None and naming.present(point.get("points")):
        path = pathlib.Path(str(point["points"]).split("@")[0])
        given = _positions(path) if path.is_file() else None
    return _Map("dots", given) if given is not None and len(given) == n else None


def _positions(source: str | os.PathLike | np.ndarray) -> np.ndarray:
    if isinstance(source, np.ndarray):
        found = np.asarray(source, float)
    else:
        text = pathlib.Path(source).read_text(encoding="utf-8").replace(",", " ")
        lines = (line.split() for line in text.splitlines())
        rows = [row for row in lines if row and row[0][0] not in "#%"]
        try:
            found = np.array([[float(x) for x in row[:2]] for row in rows])
        except ValueError:
            raise ValueError(f"{source} is no list of points, a line with x and y each") from None
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError("positions are two numbers for each server")
    return found


def _is_map(place: _Map) -> bool:
    return place.kind in ("image", "dots")


def _aspect(place: _Map) -> float:
    """Height over width, at most 1."""
    return min(1.0, place.places.shape[0] / place.places.shape[1]) if place.kind == "image" else 1


def _ends(loads: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(loads)), float(np.nanmax(loads))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _draw_map(axis: Axes, place: _Map, loads: np.ndarray, scale: Normalize) -> None:
    axis.set_aspect("equal")
    axis.set_xticks([])
    axis.set_yticks([])
    if place.kind == "image":
        shown = np.where(place.places >= 0, loads[np.maximum(place.places, 0)], np.nan)
        axis.imshow(shown, cmap=_COLOURS, norm=scale, interpolation="nearest", aspect="equal")
        return
    n = len(place.places)
    size = float(np.clip(2500 / n, 1.5, 60))
    look = {"cmap": _COLOURS, "norm": scale, "edgecolors": "0.3", "linewidths": 0.2}
    axis.scatter(*place.places.T, s=size, c=loads[:n], **look)
    axis.margins(0.06)


def _draw_line(axis: Axes, place: _Map, loads: np.ndarray, label: str) -> None:
    loads = loads[: len(place.places)]
    axis.plot(place.places, loads, ".", color=STYLES[0][0], markersize=2)
    axis.axhline(loads.mean(), color="0.4", linewidth=0.7)
    axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axis.set_xlabel(place.axis)
    axis.set_ylabel(label)
    axis.grid(True, color="0.92", linewidth=0.5)


def _draw_curve(axis: Axes, place: _Map, label: str, style: tuple[str, str, str]) -> None:
    colour, marker, line = style
    x, mean, half = place.places
    look = {"color": colour, "marker": marker, "linestyle": line, "markersize": 3.5}
    axis.errorbar(x, mean, half, linewidth=0.9, elinewidth=0.8, label=label, **look)


def _finish_curves(axis: Axes, place: _Map, point: pd.Series, label: str) -> None:
    """The mean of all servers, and room at the right for the names of the curves."""
    ratio, x = naming.jobs_per_server(point), place.places[0]
    if np.isfinite(ratio):
        axis.axhline(ratio, color="0.4", linewidth=0.7, linestyle="--", zorder=0)
    first, last = x.min(), x.max()
    if place.axis == "degree" and last > 10 * max(first, 1):
        axis.set_xscale("log")
        axis.set_xlim(max(first, 0.8) / 1.3, last * (last / max(first, 0.8)) ** 0.8)
        axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
    else:
        axis.set_xlim(first - 0.06 * (last - first), last + 0.75 * (last - first))
        step = max(1, round((last - first) / 5))
        axis.set_xticks(np.arange(np.ceil(first), last + 0.5, step))
    axis.set_xlabel(place.axis)
    axis.set_ylabel(label)
    axis.grid(True, color="0.92", linewidth=0.5)


def _colour_bar(figure: Figure, axes: list[Axes], scale: Normalize, label: str) -> None:
    """At the right, beside the maps."""
    boxes = [axis.get_position() for axis in axes]
    low, high = min(b.y0 for b in boxes), max(b.y1 for b in boxes)
    width, height = figure.get_size_inches()
    middle, half = (low + high) / 2, min(high - low, 2.6 / height) / 2
    strip = figure.add_axes((1 - 0.68 / width, middle - half, 0.12 / width, 2 * half))
    figure.colorbar(plt.cm.ScalarMappable(scale, _COLOURS), cax=strip, label=label)


def _told(table: pd.DataFrame, maps: dict[int, _Map]) -> str:
    """How noisy a place is, and what has no panel."""
    words = []
    if "mean_load_variance" in table:
        noise = np.sqrt(table["mean_load_variance"] / table["replications"])[list(maps)]
        if noise.notna().any() and any(m.kind != "curve" for m in maps.values()):
            about = f"{1.96 * noise.median():.2g}"
            words.append(f"Noise of a single server: about ± {about} jobs (95 %).")
    if any(m.kind == "curve" for m in maps.values()):
        words.append("Bars: 95 % intervals; broken line: jobs per server.")
    lacking = table.drop(index=list(maps))
    if len(lacking):
        words.append(f"Without a place: {', '.join(lacking['topology'].unique())}.")
    return " ".join(words)


def _why_not(table: pd.DataFrame) -> str:
    plane = table[table["topology"] == "plane"]
    if len(plane) and (plane["layout"] == "per-point").any():
        return (
            "positions of servers at random points are not in the file: write them with `potluck "
            "graph JOB.yaml --only POINT --write FILE` and draw with "
            'potluck.plot_places(ds, positions="FILE")'
        )
    if len(plane):
        return (
            "servers of this plane stand elsewhere in each replication, so they have no place of "
            "their own: `servers: grid` and `layout: per-point` have"
        )
    return (
        f"servers of {', '.join(table['topology'].unique())} have no place to be drawn at: rings, "
        "lines, tori, grids, stars, trees and planes have"
    )
