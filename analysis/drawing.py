# SPDX-License-Identifier: GPL-3.0-or-later
"""What figures for print share: sizes, fonts, and labels that keep off each other and the data."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Widths of a page and of one of its two columns, in inches; figures are as wide as one of them, so
#: their letters stay as large as they are here.
PAGE, COLUMN = 7.2, 3.6
#: Sizes of letters, in points.
SMALL, TEXT, HEAD = 7, 8, 9.5
#: Theory is black in all figures; where it is no exact law its line is broken.
THEORY = {"exact": "-", "limit": (0, (4, 2)), "approximation": (0, (1, 1.2))}

_STYLE = {
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "legend.fontsize": SMALL,
    "figure.titlesize": HEAD,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "errorbar.capsize": 1.5,
    "lines.linewidth": 1.1,
}


def paper(plot: Callable[..., Figure]) -> Callable[..., Figure]:
    """A figure with lines and letters for print."""

    @functools.wraps(plot)
    def drawn(*arguments: object, **options: object) -> Figure:
        before = set(plt.get_fignums())
        with plt.rc_context(_STYLE):
            try:
                figure = plot(*arguments, **options)
            except Exception:
                for number in set(plt.get_fignums()) - before:
                    plt.close(number)
                raise
            for axis in figure.axes:  # ticks are made when drawn, after this style has gone
                axis.tick_params(which="both", labelsize=SMALL)
            return figure

    return drawn


def suptitle(figure: Figure, text: str) -> float:
    """Writes the title, in lines that fit; returns the height that it takes, in inches."""
    width = figure.get_size_inches()[0]
    lines = wrapped(text, int(width * 72 / (0.56 * HEAD)))
    top = 1 - 0.07 / figure.get_size_inches()[1]
    figure.suptitle("\n".join(lines), y=top, va="top").set_in_layout(False)
    return 0.12 + len(lines) * HEAD * 1.25 / 72


def note(figure: Figure, text: str, y: float = 0.05) -> float:
    """Small print `y` inches above the lower edge; returns where it ends, in inches."""
    if not text:
        return y
    width, height = figure.get_size_inches()
    lines = wrapped(text, int(width * 72 / (0.5 * SMALL)))
    figure.text(
        *(0.06 / width, y / height, "\n".join(lines)),
        **{"fontsize": SMALL, "va": "bottom", "color": "0.25", "in_layout": False},
    )
    return y + len(lines) * SMALL * 1.25 / 72 + 0.05


def panel_title(axis: Axes, text: str, width: float) -> None:
    """The title of a panel, in lines of at most `width` inches."""
    letters = int(width * 72 / (0.57 * TEXT))
    lines = [line for part in text.split("\n") for line in wrapped(part, letters)]
    axis.set_title("\n".join(lines), pad=3)


def wrapped(text: str, letters: int) -> list[str]:
    """Lines at most so many letters long where words allow it, broken after commas if that does."""
    parts = " ".join(text.split()).split(", ")
    commas = max(map(len, parts)) < letters
    words = [f"{p}," for p in parts[:-1]] + parts[-1:] if commas else text.split()
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > letters:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


class Label(NamedTuple):
    """A text beside a point of the data; one that must be there is placed first."""

    x: float
    y: float
    text: str
    colour: str
    needed: bool = False


#: Where a label stands from its point: directions, the preferred ones first.
_SIDES = ((1, 1), (-1, -1), (-1, 1), (1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))


def place(axis: Axes, labels: Sequence[Label], taken: Sequence[Bbox] = ()) -> int:
    """Writes labels beside their points, off each other, off all markers and inside the panel;
    leaves out what has no room. Returns how many were written. Call it when the layout is final.

    taken : boxes in display units that are to be kept free as well.
    """
    scale = axis.figure.dpi / 72
    axis.get_xlim(), axis.get_ylim()  # settles the limits, which transData rests on
    frame, taken = axis.get_window_extent(), list(taken)
    dots, lines = _marks(axis, 2 * scale)
    written = 0
    for label in sorted(labels, key=lambda n: not n.needed):
        x, y = axis.transData.transform((label.x, label.y))
        width, height = 0.62 * SMALL * len(label.text) * scale, SMALL * 1.05 * scale
        tries = [(4.5, dots, lines)]
        if label.needed:
            tries += [(9, dots, lines), (4.5, dots, lines[:0]), (14, dots, lines)]
        found = (
            _room(x, y, width, height, reach * scale, frame, taken, (there, crossed), scale)
            for reach, there, crossed in tries
        )
        box = next((b for b in found if b is not None), None)
        if box is None:
            continue
        taken.append(box)
        axis.annotate(
            label.text,
            axis.transAxes.inverted().transform(((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)),
            xycoords="axes fraction",
            fontsize=SMALL,
            color=label.colour,
            ha="center",
            va="center",
            zorder=6,
        )
        written += 1
    return written


def _marks(axis: Axes, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Markers of a panel, and places along its curves and bars, in display units."""
    dots, lines = [np.empty((0, 2))], [np.empty((0, 2))]
    for container in axis.containers:
        curve, _, bars = container
        paths = [s for b in bars for s in b.get_segments()]
        if curve is not None:
            path = np.column_stack([curve.get_xdata(), curve.get_ydata()]).astype(float)
            dots.append(axis.transData.transform(path))
            paths.append(path)
        for path in paths:
            at = axis.transData.transform(path)
            for a, b in zip(at, at[1:]):
                if np.isfinite([a, b]).all():
                    share = np.linspace(0, 1, 2 + int(np.hypot(*(b - a)) / step))[:, None]
                    lines.append(a + share * (b - a))
    return np.concatenate(dots), np.concatenate(lines)


def _room(
    x: float,
    y: float,
    width: float,
    height: float,
    reach: float,
    frame: Bbox,
    taken: Sequence[Bbox],
    marks: tuple[np.ndarray, np.ndarray],
    scale: float,
) -> Bbox | None:
    """The first free box around a point."""
    for across, up in _SIDES:
        left = x + across * reach * (0.7 if up else 1) - width * (1 - across) / 2
        low = y + up * reach * (0.7 if across else 1) - height * (1 - up) / 2
        box = Bbox.from_extents(left, low, left + width, low + height)
        inside = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 and box.y1 < frame.y1
        if not inside or any(box.overlaps(other) for other in taken):
            continue
        if not any(_touches(box, at, r * scale) for at, r in zip(marks, (2.4, 0.3))):
            return box
    return None


def _touches(box: Bbox, dots: np.ndarray, radius: float) -> bool:
    """Whether a dot lies within or that near to a box."""
    beyond = np.maximum(np.maximum([box.x0, box.y0] - dots, dots - [box.x1, box.y1]), 0)
    return bool((np.hypot(*beyond.T) < radius).any())


def apart(heights: np.ndarray, least: float) -> np.ndarray:
    """Ascending heights, those nearer than `least` pushed apart evenly to both sides."""
    placed = heights.astype(float)
    for _ in range(2000):
        short = least - np.diff(placed)
        if (short <= 0.01).all():
            break
        for i in np.flatnonzero(short > 0):
            push = max(least - (placed[i + 1] - placed[i]), 0.0) / 2
            placed[i] -= push
            placed[i + 1] += push
    return placed


def end_labels(axis: Axes) -> None:
    """Writes the name of each curve to the right of its end, moved apart where ends are close."""
    handles, names = axis.get_legend_handles_labels()
    ends = [(float(h[0].get_xdata()[-1]), float(h[0].get_ydata()[-1])) for h in handles]
    if not ends:
        return
    axis.get_ylim()  # settles the limits, which transData rests on
    point = axis.figure.dpi / 72
    places = axis.transData.transform(ends)
    order = np.argsort(places[:, 1], kind="stable")
    placed = apart(places[order, 1], 8.8 * point)
    frame = axis.get_window_extent()
    placed += max(0.0, frame.y0 + 6 * point - placed[0])
    placed -= max(0.0, placed[-1] - frame.y1 + 6 * point)
    text_x = places[:, 0].max() + 14 * point
    for i, height in zip(order, placed):
        colour = handles[i][0].get_color()
        axis.annotate(
            names[i],
            ends[i],
            axis.transData.inverted().transform((text_x, height)),
            fontsize=SMALL,
            color=colour,
            va="center",
            arrowprops={
                **{"arrowstyle": "-", "color": colour, "linewidth": 0.5},
                **{"shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)},
            },
        )
