# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves and dots of points, as the figures of queues and of DHT rings draw them: sizes, styles,
intervals, names at the ends of curves, and one line of explanation below.

Sizes are those of paper: two columns are 7.1 inches wide, no letter is smaller than 7 pt.
"""
from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import FixedLocator, NullLocator
from potluck.drawing import apart
from potluck.figures import STYLES
from potluck.figures_facets import Facet
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.1
LOOK = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "figure.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
}
#: They have the same colours in every figure.
_BALANCERS = ("log-vs", "k-choices", "transfer", "proportion", "threshold")
#: Line and marker of the curves of one colour.
_LINES = (("-", True), ("--", False), (":", True), ("-.", False), ((0, (5, 1, 1, 1, 1, 1)), True))
#: Theory lies above the curves, so that both show where they agree.
THEORY = {"exact": (0, (1, 1.6)), "limit": (0, (5, 2.5)), "refined": (0, (6, 2, 1, 2))}
BAR = {"elinewidth": 0.9, "capsize": 2, "capthick": 0.9}


class Style(NamedTuple):
    """How a curve looks: colour and marker of its rule, line and filling of its parameters."""

    colour: str
    marker: str
    line: Any
    filled: bool

    def theory(self, kind: str) -> dict[str, Any]:
        """The line of theory: darker than the curve, so that both show where they agree."""
        shade = tuple(0.45 * c for c in dark(self.colour))
        return {"color": shade, "linewidth": 1.0, "linestyle": THEORY[kind], "zorder": 4}

    def marks(self, size: float = 3.8) -> dict[str, Any]:
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": size,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgewidth": 0.9,
        }


def styles(curves: pd.Series) -> dict[str, Style]:
    """A style for each name; what stands before its comma is its rule and has one colour. One rule
    alone has a colour for each of its curves; `none` is grey.
    """
    names = list(dict.fromkeys(curves))
    rules = list(dict.fromkeys(name.split(",")[0] for name in names))
    many = len(rules) > 1
    if not many:
        rules = names
    coloured = [rule for rule in rules if rule != "none"]
    if many and set(coloured) <= set(_BALANCERS):
        coloured = list(_BALANCERS)
    out, used = {}, dict.fromkeys(rules, -1)
    for name in names:
        rule = name.split(",")[0] if many else name
        used[rule] += 1
        if rule == "none":
            out[name] = Style("0.35", "X", "-", True)
            continue
        at = coloured.index(rule)
        colour, marker = STYLES[at % len(STYLES)]
        line, filled = _LINES[(used[rule] + at // len(STYLES)) % len(_LINES)]
        out[name] = Style(colour, marker, line, filled)
    return out


def half_width(se: Any, replications: Any) -> np.ndarray:
    """Half of the 95 % interval (Student) of means of so many replications; NaN below two."""
    se, count = np.asarray(se, float), np.asarray(replications, float)
    return se * stats.t.ppf(0.975, np.where(count > 1, count - 1, np.nan))


def sheet(rows: int, columns: int, height: float, **how: Any) -> tuple[Figure, np.ndarray]:
    """Panels of one height; a single one is narrower."""
    width = WIDTH if columns > 1 else 5.2
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height * rows + 0.75), squeeze=False, **how
    )
    return figure, axes


def label_x(axes: np.ndarray, used: int, text: str) -> None:
    """The label below the lowest panel of each column."""
    rows, columns = axes.shape
    for i, axis in enumerate(axes.flat[:used]):
        if i + columns >= used:
            axis.set_xlabel(text)


def columns_of(panels: int) -> int:
    return panels if panels <= 3 else 2 if panels == 4 else 3


def finish(figure: Figure, title: str, note: str, names: Mapping[str, Style] | None = None,
           key: str = "") -> None:
    """Title above, explanation below, room for the names of curves at the right (written there with
    a sample each when `key` is `lines` or `dots`); last of all, before names are written at the
    ends of curves. Titles and labels of panels are broken to the width that they have.
    """
    width, height = figure.get_size_inches()
    lines = textwrap.wrap(title, int(width * 14.5)) or [""]
    below = textwrap.wrap(note, int(width * 20))
    renderer = figure.canvas.get_renderer()
    widest = 0.0
    for name in names or ():
        text = figure.text(0, 0, name, fontsize=7.5)
        widest = max(widest, text.get_window_extent(renderer).width / figure.dpi)
        text.remove()
    right = 1 - (widest + (0.45 if key else 0.3)) / width if names else 1.0
    figure.suptitle("\n".join(lines), x=0.5, y=1 - 0.06 / height, va="top").set_in_layout(False)
    if below:
        figure.text(0.06 / width, 0.05 / height, "\n".join(below), fontsize=7, color="0.3",
                    va="bottom", linespacing=1.15).set_in_layout(False)
    top = 1 - (0.1 + 0.16 * len(lines)) / height
    room = (0, (0.08 + 0.12 * len(below)) / height, right, top)
    figure.tight_layout(rect=room)
    if _broken(figure):
        figure.tight_layout(rect=room)
    if key and names:
        _key(figure, names, key)
    figure.draw_without_rendering()


def _broken(figure: Figure) -> bool:
    """Breaks titles and labels of panels that are wider than those; whether there were any."""
    renderer, found = figure.canvas.get_renderer(), False
    for axis in figure.axes:
        box = axis.get_window_extent(renderer)
        for text, room in (
            (axis.title, box.width),
            (axis.xaxis.label, box.width),
            (axis.yaxis.label, box.height),
        ):
            size = text.get_window_extent(renderer)
            long = size.height if text is axis.yaxis.label else size.width
            longest = max(map(len, text.get_text().split("\n")))
            if axis.get_visible() and longest and long > room:
                letters = max(int(longest * room / long), 8)
                words = [w for part in text.get_text().split("\n")
                         for w in textwrap.wrap(part, letters, break_long_words=False)]
                text.set_text("\n".join(words))
                found = True
    return found


def _key(figure: Figure, names: Mapping[str, Style], key: str) -> None:
    """A sample of each curve with its name, at the right."""
    handles = [
        plt.Line2D([], [], linestyle=s.line if key == "lines" else "", linewidth=1.2, label=n,
                   **s.marks(3.4))
        for n, s in names.items()
    ]
    figure.legend(
        handles=handles,
        loc="center right",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize=7.5,
        handlelength=2.0 if key == "lines" else 0.8,
        borderaxespad=0.1,
        borderpad=0.1,
        handletextpad=0.4,
        labelspacing=0.55,
    )


def names_at_right(axis: Axes, ends: Mapping[str, tuple[float, float]], looks: Mapping[str, Style],
                   least: float = 9.5) -> None:
    """Writes the name of each curve outside the axes, level with its end, moved apart where ends
    are close, with a line that leads there; curves without an end stand lowest.
    """
    names = [name for name in looks if name in ends]
    if not names:
        return
    point = axis.figure.dpi / 72
    box = axis.get_window_extent()
    places = axis.transData.transform([ends[name] for name in names])
    heights = np.where(np.isfinite(places[:, 1]), places[:, 1], box.y0)
    heights = np.clip(heights, box.y0, box.y1)
    order = np.argsort(heights, kind="stable")
    placed = apart(heights[order], least * point)
    top = box.y1 + 4 * point
    placed -= max(0.0, placed[-1] - top)
    placed += max(0.0, box.y0 - 4 * point - placed[0])
    for i, height in zip(order, placed):
        style = looks[names[i]]
        known = np.isfinite(places[i]).all()
        axis.annotate(
            names[i],
            ends[names[i]] if known else (1, (height - box.y0) / box.height),
            (1 + 16 * point / box.width, (height - box.y0) / box.height),
            xycoords="data" if known else "axes fraction",
            textcoords="axes fraction",
            fontsize=7.5,
            color=dark(style.colour),
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.colour, "linewidth": 0.6,
                        "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
            if known
            else None,
        )


def dark(colour: str) -> Any:
    """A colour for letters: dark enough on white, also printed in grey."""
    red, green, blue = plt.matplotlib.colors.to_rgb(colour)
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    factor = min(1.0, 0.45 / max(light, 1e-9))
    return (red * factor, green * factor, blue * factor)


def bars(value: Any, half: Any, within: tuple[float, float] | None = None) -> np.ndarray:
    """What errorbar takes: intervals down and up, cut to what values are possible; 0 for none."""
    value, half = np.asarray(value, float), np.nan_to_num(np.asarray(half, float))
    low, high = within or (-np.inf, np.inf)
    down, up = value - np.maximum(value - half, low), np.minimum(value + half, high) - value
    return np.maximum(np.vstack([down, up]), 0.0)


def draw(axis: Axes, part: pd.DataFrame, y: str, looks: Mapping[str, Style],
         within: tuple[float, float] | None = None) -> dict[str, tuple[float, float]]:
    """The curves of one panel: columns `x`, `y`, `half` (of its interval), `curve`; returns where
    each ends. Intervals are cut to what is possible, `within`.
    """
    ends = {}
    for name, style in looks.items():
        here = part[part["curve"] == name].sort_values("x", kind="stable")
        here = here[np.isfinite(here["x"]) & np.isfinite(here[y])]
        if here.empty:
            continue
        axis.errorbar(
            here["x"],
            here[y],
            yerr=bars(here[y], here["half"], within),
            linestyle=style.line,
            linewidth=1.2,
            label=name,
            **style.marks(),
            **BAR,
        )
        ends[name] = (float(here["x"].iloc[-1]), float(here[y].iloc[-1]))
    return ends


def dots(axis: Axes, part: pd.DataFrame, value: str, rows: Sequence[str],
         looks: Mapping[str, Style], within: tuple[float, float] | None = None) -> None:
    """A row for each setting (column `row`), a dot with its interval for each point; curves of one
    row lie below one another.
    """
    inside = list(looks) if (part.groupby("row")["curve"].nunique() > 1).any() else []
    for name, style in looks.items():
        here = part[(part["curve"] == name) & np.isfinite(part[value])]
        at = [rows.index(r) for r in here["row"]]
        shift = beside(name, inside)
        axis.errorbar(
            here[value],
            np.asarray(at, float) + shift,
            xerr=bars(here[value], here["half"], within),
            linestyle="",
            label=name,
            **style.marks(4.2),
            **BAR,
        )
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(axis="y", length=0)
    axis.grid(False, axis="y")
    for y in range(1, len(rows)):
        axis.axhline(y - 0.5, color="0.9", linewidth=0.6, zorder=0)


def beside(name: str, inside: Sequence[str]) -> float:
    """How far below the middle of its row a curve lies, of several in a row."""
    return 0.6 * ((inside.index(name) + 0.5) / len(inside) - 0.5) if inside else 0.0


def scale_x(axis: Axes, facet: Facet, values: Iterable[float]) -> None:
    """The horizontal scale of a facet, with ticks at its values as far as they have room."""
    found = np.unique(np.asarray([v for v in values if np.isfinite(v)], float))
    if not found.size:
        return
    if facet.kind == "load":
        axis.set_xscale("function", functions=(_from_load, _to_load))
    elif facet.kind == "root":
        axis.set_xscale("function", functions=(_root, _square))
    elif found[0] > 0 and found[-1] >= 8 * found[0]:
        axis.set_xscale("log")
    forward = axis.xaxis.get_transform().transform
    places = forward(found)
    width = max(places[-1] - places[0], 1e-12)
    low, high = places[0] - 0.04 * width, places[-1] + 0.04 * width
    if len(found) == 1:
        low, high = places[0] - 0.5, places[0] + 0.5
    back = axis.xaxis.get_transform().inverted().transform
    axis.set_xlim(*back(np.array([low, high])))
    room = axis.get_window_extent().width / axis.figure.dpi * 72
    axis.xaxis.set_major_locator(FixedLocator(_spaced(found, (places - low) / (high - low) * room)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")


def scale_y(axis: Axes, values: Iterable[float], least: float = 5.0, which: str = "y") -> None:
    """Logarithmic where positive values differ by more than a factor, with round numbers."""
    found = np.asarray([v for v in values if np.isfinite(v)], float)
    if not found.size or found.min() <= 0 or found.max() < least * found.min():
        return
    span = found.max() / found.min()
    steps = (1, 1.5, 2, 3, 4, 5, 7) if span < 12 else (1, 2, 5) if span < 300 else (1,)
    if which == "x":
        steps = (1,) if span > 30 else (1, 2, 5)
    axis.set(**{f"{which}scale": "log"})
    scale = axis.xaxis if which == "x" else axis.yaxis
    scale.set_major_locator(FixedLocator([a * 10.0**b for b in range(-9, 10) for a in steps]))
    scale.set_minor_locator(NullLocator())
    scale.set_major_formatter(lambda v, _: f"{v:g}")


# -------------------------------------------------------------------------------------------------


def _spaced(values: np.ndarray, points: np.ndarray) -> list[float]:
    """Values whose labels do not touch: the last, and those far enough from it and one another."""
    chosen: list[int] = []
    for i in [len(values) - 1, *range(len(values) - 1)]:
        if all(abs(points[i] - points[j]) >= 5 + 2.2 * (len(f"{values[i]:g}")
                                                        + len(f"{values[j]:g}")) for j in chosen):
            chosen.append(i)
    return sorted(values[i] for i in chosen)


def _root(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.sqrt(np.abs(x))


def _square(x: np.ndarray) -> np.ndarray:
    return np.sign(x) * np.square(x)


def _from_load(x: np.ndarray) -> np.ndarray:
    """-ln(1 - load): equal distances for equal factors of the time of M/M/1."""
    return -np.log1p(-np.clip(x, -9.0, 1 - 1e-9))


def _to_load(t: np.ndarray) -> np.ndarray:
    return -np.expm1(-np.asarray(t, float))
