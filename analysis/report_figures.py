# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a report: every one that the file has what it needs for, as a picture in the
page.
"""
from __future__ import annotations

import inspect
import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from potluck import figures
from potluck import report_html as html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Larger drawings (many markers) go in as pixels.
_LARGEST_SVG = 500_000
#: Pixels an inch at least, which keeps print of 8 points readable, and at most.
_LEAST, _MOST = 100, 130
#: Inches; a figure of more panels than that is one for a file of its own.
_HIGHEST = 40


def section(ds: xr.Dataset) -> tuple[str, str]:
    """The figures as HTML, empty when there are none, and the style rules they need."""
    shown, rules = [], []
    model = str(ds.attrs.get("model", ""))
    for plot in figures.PLOTS:
        if model not in plot.models:
            continue
        draw = figures.function(f"plot_{plot.name}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what a file that goes on does not have yet
                figure = draw(ds)
                width, height = (float(x) for x in figure.get_size_inches())
                picture = _picture(figure) if height <= _HIGHEST else ""
        except ValueError:  # the file does not have what it shows
            continue
        plt.close(figure)
        if not picture:
            told = f"`python3 -m potluck {plot.name}` draws {plot.shows}: too many panels for here."
            shown.append(html.paragraph(told, "quiet"))
            continue
        name = f"figure-{plot.name}"
        shown.append(
            f'<figure id="{name}">'
            + html.scrolling(
                f'<img src="{picture}" alt="{html.text(_alternative(plot, ds))}">', plot.shows
            )
            + f"<figcaption>{_caption(plot, draw)}</figcaption></figure>\n"
        )
        rules.append(
            f"#{name} img{{min-width:{_LEAST * width:.0f}px}}"
            f"#{name} .wide{{max-width:min(100%,{_MOST * width:.0f}px)}}\n"
        )
    return "".join(shown), "".join(rules)


def _picture(figure: Figure) -> str:
    """The same bytes for the same figure."""
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "potluck"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    if out.tell() <= _LARGEST_SVG:
        drawn = re.sub(rb"<!DOCTYPE.*?>\s*", b"", out.getvalue(), count=1, flags=re.S)
        return html.data_uri("image/svg+xml", drawn)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=160, metadata={"Software": None})
    return html.data_uri("image/png", out.getvalue())


def _alternative(plot: figures.Plot, ds: xr.Dataset) -> str:
    """What the picture shows, and where its numbers are."""
    places = ""
    if "topology" in ds:
        names = list(dict.fromkeys(str(t) for t in np.asarray(ds["topology"].values)))
        places = f" on {', '.join(names)}" if len(names) <= 6 else f" on {len(names)} topologies"
    return f"Figure: {plot.shows}{places}. Its numbers are in the tables of this page."


def _caption(plot: figures.Plot, draw: Callable[..., Figure]) -> str:
    """What it shows, and how to read it: the documentation of its function up to its parameters."""
    documentation = inspect.getdoc(draw) or ""
    told = re.split(r"\n(?:Parameters|Returns|Raises|Notes|References)\n-+", documentation)[0]
    parts = [" ".join(p.replace("``", "`").split()) for p in told.split("\n\n") if p.strip()]
    first = parts[0] if parts else plot.shows[:1].upper() + plot.shows[1:] + "."
    command = f"<code>python3 -m potluck {plot.name}</code>"
    lines = [f"<p><b>{html.prose(first)}</b> {command}</p>"]
    return "".join([*lines, *(html.paragraph(part) for part in parts[1:])])
