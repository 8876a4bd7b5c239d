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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_PANELS, _MOST_COLUMNS = 24, 4
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
        A panel for each point, those of a setting beside each other.

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
    groups = [[at for at in part.index if at in maps] for _, part in naming.panels(table)]
    groups = [points for points in groups if points]
    columns = min(max(map(len, groups)), _MOST_COLUMNS)
    cells = [[*points[i : i + columns]] for points in groups for i in range(0, len(points), columns)]
    told = [_told(table, maps)]
    if sum(map(len, cells)) > _MOST_PANELS:
        told.append(f"The first {_MOST_PANELS} of {sum(map(len, cells))} points.")
        cells = cells[: max(1, _MOST_PANELS // columns)]
    return _drawn(ds, title, table, loads, maps, cells, told)


# -------------------------------------------------------------------------------------------------


def _drawn(
    ds: xr.Dataset,
    title: str | None,
    table: pd.DataFrame,
    loads: np.ndarray,
    maps: dict[int, _Map],
    cells: list[list[int]],
    told: list[str],
) -> Figure:
    columns = max(map(len, cells))
    width = drawing.PAGE if columns > 1 else 1.3 * drawing.COLUMN
    each = min((width - 0.9) / columns, 2.6)
    heights = [each + 0.15 if _is_map(maps[line[0]]) else 0.62 * each + 0.4 for line in cells]
    figure, axes = plt.subplots(
        len(cells),
        columns,
        figsize=(width, sum(heights) + 0.75),
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    unit = "mean queue" if "server_queue" in ds else "mean load"
    drawn = [at for line in cells for at in line if _is_map(maps[at])]
    scale = Normalize(*_ends(loads[drawn])) if drawn else None
    short = naming.settings(table, [c for c in table if table[c].nunique(dropna=False) < 2])
    for line, row in zip(cells, axes):
        for axis in row[len(line) :]:
            axis.set_visible(False)
        for axis, at in zip(row, line):
            point = table.loc[at]
            drawing.panel_title(axis, f"{short[at]}\n{_name(point)}", (width - 0.8) / columns - 0.1)
            if _is_map(maps[at]):
                _draw_map(axis, maps[at], loads[at], scale)
            else:
                _draw_line(axis, maps[at], loads[at], point, f"{unit} (jobs)")
        _share(row[: len(line)], [maps[at] for at in line])
    under = drawing.note(figure, " ".join(told))
    above = drawing.suptitle(figure, title or ds.attrs.get("title") or "Where the loads are")
    height = figure.get_size_inches()[1]
    right = 1 - 0.75 / width if drawn else 1
    figure.tight_layout(rect=(0, under / height, right, 1 - above / height))
    if drawn:
        _colour_bar(figure, axes, cells, maps, scale, f"{unit} (jobs)")
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
    here = count > 0
    if not here.any():
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
        rows = [line.split() for line in text.splitlines() if line.strip()[:1] not in ("", "#", "%")]
        try:
            found = np.array([[float(x) for x in row[:2]] for row in rows])
        except ValueError:
            raise ValueError(f"{source} is no list of points, a line with x and y each") from None
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError("positions are two numbers for each server")
    return found


def _is_map(place: _Map) -> bool:
    return place.kind in ("image", "dots")


def _name(point: pd.Series) -> str:
    name = naming.curve_name(point)
    return f"{name}, k = {naming.number(point['k'])}" if naming.present(point.get("k")) else name


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


def _draw_line(
    axis: Axes, place: _Map, loads: np.ndarray, point: pd.Series, label: str
) -> None:
    colour, marker = STYLES[0]
    if place.kind == "line":
        loads = loads[: len(place.places)]
        axis.plot(place.places, loads, ".", color=colour, markersize=2)
        axis.axhline(loads.mean(), color="0.4", linewidth=0.7)
    else:
        x, mean, half = place.places
        axis.errorbar(x, mean, half, color=colour, marker=marker, markersize=3.5)
        axis.axhline(naming.jobs_per_server(point), color="0.4", linewidth=0.7, linestyle="--")
        axis.margins(x=0.08)
    if place.axis == "degree" and x.max() > 30 * max(x.min(), 1):
        axis.set_xscale("symlog", linthresh=max(x.min(), 1))
    else:
        axis.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axis.set_xlabel(place.axis)
    axis.set_ylabel(label)
    axis.grid(True, color="0.92", linewidth=0.5)


def _share(axes: np.ndarray, places: list[_Map]) -> None:
    """One scale of loads for the curves of a line of panels."""
    curves = [a for a, p in zip(axes, places) if not _is_map(p)]
    if curves:
        low, high = (f(x) for f, x in zip((min, max), zip(*(a.get_ylim() for a in curves))))
        for axis in curves:
            axis.set_ylim(low, high)
        for axis in curves[1:]:
            axis.set_ylabel("")
            axis.tick_params(labelleft=False)


def _colour_bar(
    figure: Figure,
    axes: np.ndarray,
    cells: list[list[int]],
    maps: dict[int, _Map],
    scale: Normalize,
    label: str,
) -> None:
    """At the right, as high as the maps."""
    rows = [row for row, line in zip(axes, cells) if _is_map(maps[line[0]])]
    boxes = [axis.get_position() for row in rows for axis in row[:1]]
    low, high = min(b.y0 for b in boxes), max(b.y1 for b in boxes)
    width = figure.get_size_inches()[0]
    middle, half = (low + high) / 2, min(high - low, 2.6 / figure.get_size_inches()[1]) / 2
    strip = figure.add_axes((1 - 0.68 / width, middle - half, 0.12 / width, 2 * half))
    figure.colorbar(plt.cm.ScalarMappable(scale, _COLOURS), cax=strip, label=label)


def _told(table: pd.DataFrame, maps: dict[int, _Map]) -> str:
    """How noisy a place is, and what has no panel."""
    words = []
    if "mean_load_variance" in table:
        noise = np.sqrt(table["mean_load_variance"] / table["replications"].clip(lower=1))[list(maps)]
        if noise.notna().any() and any(m.kind != "curve" for m in maps.values()):
            words.append(f"Noise of a single server: about ± {1.96 * noise.median():.2g} jobs (95 %).")
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
