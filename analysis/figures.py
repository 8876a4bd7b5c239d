# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of figures, and what all of them share: colours, scales, saving.

A figure is a function `plot(ds, *, title=None) -> matplotlib.figure.Figure` of a module that this
list names; it raises ValueError in one sentence where a file does not have what it shows.
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart with every common colour blindness; markers say the same
# twice.
STYLES = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
)

#: What Panigrahy et al. (ACM TOMPECS 7, 2022) report of unif-pot and invsq-pot: total variation to
#: pot, and the share of its cost that is saved.
PUBLISHED_TV, PUBLISHED_SAVING = (0.002, 0.08), (0.08, 0.99)


class Plot(NamedTuple):
    """A figure: its command, where its function is, what it shows."""

    name: str
    module: str
    models: tuple[str, ...]
    shows: str


PLOTS = (
    Plot("tradeoff", "figures_tradeoff", ("balls", "queue"), "balance against cost"),
    Plot("topologies", "figures_topologies", ("balls",), "balance lost, cost saved by topology"),
    Plot("maxload", "figures_topologies", ("balls",), "maximum load against the number of servers"),
    Plot("loads", "figures_loads", ("balls", "queue"), "share of servers by load, as a tail"),
    Plot("places", "figures_places", ("balls", "queue"), "mean load of each server in its place"),
    Plot("response", "figures_queues", ("queue",), "mean response time against load"),
    Plot("relative", "figures_relative", ("queue",), "mean response time over the baseline's"),
    Plot("responses", "figures_queues", ("queue",), "tails of the response times"),
    Plot("completions", "figures_completions", ("queue",), "orders of completion times"),
    Plot("warmup", "figures_queues", ("queue",), "queues from the empty start on"),
    Plot("success", "figures_dht", ("dht",), "success of queries over time"),
    Plot("queries", "figures_dht", ("dht",), "success of queries, a dot for each point"),
    Plot("balancers", "figures_dht", ("dht",), "success of queries against load, churn or skew"),
    Plot("utilisation", "figures_dht", ("dht",), "quantiles of the utilisation of nodes"),
    Plot("actions", "figures_dht", ("dht",), "how often virtual servers come, go and move"),
)


def function(name: str) -> Callable[..., Figure]:
    """The function of `plot_NAME`."""
    for plot in PLOTS:
        if name == f"plot_{plot.name}":
            return _whole(getattr(importlib.import_module(f"potluck.{plot.module}"), name))
    raise AttributeError(f"no figure {name!r}; there are {', '.join(p.name for p in PLOTS)}")


def _whole(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """The same, but titles and notes, which panels take no notice of, count as parts of the figure:
    notebooks cut it to what counts.
    """

    @functools.wraps(draw)
    def drawn(*positional: Any, **named: Any) -> Figure:
        figure = draw(*positional, **named)
        for text in figure.texts:
            text.set_in_layout(True)
        return figure

    return drawn


def lowest_variation(table: pd.DataFrame) -> float:
    """Lower end of an axis of total variation: half a decade below the lowest of the noise floors
    and estimates.
    """
    seen = np.concatenate([table["tv_floor"], table.loc[table["tv"] > 0, "tv"]]).astype(float)
    seen = seen[np.isfinite(seen) & (seen > 0)]
    return float(10 ** (np.log10(seen.min()) - 0.5)) if seen.size else 1e-6
