# SPDX-License-Identifier: GPL-3.0-or-later
"""The orders of completion times from an empty start, in both senses of Liu and Righter (Oper. Res.
46(4), 1998): at a server drawn at random, and of all servers together.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck import naming
from potluck.figures_curves import BAR, LOOK, Style, finish, names_at_right, sheet, styles
from potluck.figures_facets import plan
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SENSES = {"local": "at a random server", "pooled": "of all servers"}


class Difference(NamedTuple):
    """Values minus the baseline's, with half the paired 95 % interval; NaN where unknown."""

    mean: np.ndarray
    half: np.ndarray


def difference(ds: xr.Dataset, name: str, point: int, baseline: int) -> Difference:
    """What a point has beyond another in `completion_local`, `completion_pooled` or their `_cdf`.

    Both met the same random words, so differences are taken batch by batch: the interval is
    Student's, over as many batches as both have.
    """
    batches = ds[f"{name}_batch"].values
    by_batch = (batches[point] - batches[baseline]).astype(float)
    by_batch = by_batch[~np.isnan(by_batch).all(axis=tuple(range(1, by_batch.ndim)))]
    mean = (ds[name].values[point] - ds[name].values[baseline]).astype(float)
    b = len(by_batch)
    if b < 2:
        return Difference(mean, np.full(mean.shape, np.nan))
    half = stats.t.ppf(0.975, b - 1) * by_batch.std(axis=0, ddof=1) / np.sqrt(b)
    return Difference(mean, half)


@plt.rc_context(LOOK)
def plot_completions(ds: xr.Dataset, *, title: str | None = None) -> Figure:
    """In which sense a policy is best from an empty start: k-th completions, against a baseline.

    Two rows for each setting: completions at a server drawn at random, and of all servers. On the
    left the mean time of the k-th completion, minus the baseline's (above 0: later). On the right
    the distribution function of one of them, minus the baseline's, over the grid (above 0: that
    policy is more likely to be so far by then): the k at which a policy is ahead of the baseline
    most significantly, or else the one where they differ most; at a server among those k up to
    which the baseline has jobs for all. Bars are 95 % intervals of paired
    differences (Student, over batches of replications). The baseline is that of the job, or else
    round robin: a policy of that name, or the sequence that deals out in turn, or the first.

    At a server, round robin comes first for every k among policies that deal every server as many
    jobs, whatever the services; `random` is none of these, and may be ahead early. Of all servers
    it need not come first: with services of two values it does not, with exponential ones it does.

    A mean is missing where in some replication there is no k-th completion; its distribution
    function is not.

    Parameters
    ----------
    ds : what `open` gave, of a job with `transient`; at most three settings are shown.
    title : instead of the title of the job.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        When the job has no `transient`, or one policy only.
    """
    if "completion_local_cdf_batch" not in ds:
        raise ValueError("this file has no completions; its job needs `transient`")
    table = potluck.frame(ds)
    table = table[table["replications"] > 0]
    if table.empty:
        raise ValueError("no point of this file has a replication yet")
    layout = plan(table, most=3, axis=False)
    table = layout.table
    table["curve"] = [_in_turn(p, c) for (_, p), c in zip(table.iterrows(), table["curve"])]
    looks = styles(table["curve"])
    own = _baseline(ds, table)
    others = {name: style for name, style in looks.items() if name != own}
    if not others:
        raise ValueError("this figure compares policies; the file has one")
    panels = [p for p in layout.panels
              if (table.loc[table["panel"] == p, "curve"] == own).any()]
    if not panels:
        raise ValueError(f"no point of the baseline {own} has a replication yet")
    figure, axes = sheet(2 * len(panels), 2, 1.5)
    drawn = []
    for i, panel in enumerate(panels):
        part = table[table["panel"] == panel]
        base = int(part.index[part["curve"] == own][0])
        pairs = [(int(at), others[c]) for at, c in part["curve"].items() if c != own]
        names = {int(at): c for at, c in part["curve"].items()}
        for j, sense in enumerate(_SENSES):
            line = axes[2 * i + j]
            drawn.append(_means(line[0], ds, sense, base, pairs, names))
            if panel and not j:
                line[0].set_title(f"{panel}\n", loc="left", fontweight="bold")
            drawn.append(_laws(line[1], ds, sense, base, pairs, names))
    axes[-1, 0].set_xlabel("k, which completion")
    axes[-1, 1].set_xlabel("t (time)")
    note = (f"Differences to {own}, with paired 95 % intervals. Left, above 0: later than it; "
            "right, above 0: more likely to be so far by t." + _missing(table, ds, panels)
            + f" {layout.left_out}")
    finish(figure, title or ds.attrs.get("title") or "Orders of completions", note.strip(), others)
    for axis, ends in zip(axes.flat, drawn):
        if axis in axes[:, -1]:
            seen = {name: ends.get(name, (np.nan, np.nan)) for name in others}
            names_at_right(axis, seen, others)
    return figure


# -------------------------------------------------------------------------------------------------


def _in_turn(point: pd.Series, name: str) -> str:
    """Marks the sequence that is round robin."""
    servers = str(point.get("policy_servers") or "").split("x")
    if point["policy"] != "sequence" or not all(s.isdigit() for s in servers):
        return name
    n = int(naming.servers(point)) if np.isfinite(naming.servers(point)) else 0
    turns = n > 1 and all(int(s) == i % n for i, s in enumerate(servers))
    return f"{name} (in turn)" if turns else name


def _baseline(ds: xr.Dataset, table: pd.DataFrame) -> str:
    """Name of the curve that others are compared with."""
    wanted = naming.baseline_values(ds)
    own = np.ones(len(table), bool) if wanted else np.zeros(len(table), bool)
    for name, value in wanted.items():
        own &= (table[name].astype(str) == str(value)).to_numpy() if name in table else False
    own = own if own.any() else (table["policy"] == "round-robin").to_numpy()
    own = own if own.any() else table["curve"].str.endswith("(in turn)").to_numpy()
    return str(table["curve"][own].iloc[0] if own.any() else table["curve"].iloc[0])


def _means(axis: Axes, ds: xr.Dataset, sense: str, base: int, pairs: Iterable[tuple[int, Style]],
           names: dict[int, str]) -> dict[str, tuple[float, float]]:
    """Differences of mean times of the k-th completions; returns where each curve ends."""
    k = ds["completion"].values.astype(float)
    ends = {}
    axis.axhline(0, color="0.25", linewidth=0.8)
    for point, style in pairs:
        seen = difference(ds, f"completion_{sense}", point, base)
        known = np.isfinite(seen.mean)
        if known.any():
            _draw(axis, k[known], Difference(seen.mean[known], seen.half[known]), style,
                  names[point])
            ends[names[point]] = (k[known][-1], seen.mean[known][-1])
    axis.set_xlim(0.5 if len(k) < 20 else 0, k[-1] + 0.5)
    if len(k) <= 12:
        axis.set_xticks(k)
    axis.set_title(f"{_SENSES[sense]}: mean time")
    axis.set_ylabel("difference (time)")
    if not ends:
        axis.set_ylim(-1, 1)
        axis.text(0.5, 0.75, "no means: servers without a k-th job", fontsize=7, ha="center",
                  transform=axis.transAxes)
    return ends


def _laws(axis: Axes, ds: xr.Dataset, sense: str, base: int, pairs: Iterable[tuple[int, Style]],
          names: dict[int, str]) -> dict[str, tuple[float, float]]:
    """Differences of the distribution functions of the k-th completion that tells most."""
    t = ds["time_point"].values.astype(float)
    seen = {p: difference(ds, f"completion_{sense}_cdf", p, base) for p, _ in pairs}
    # Beyond the jobs that the baseline has for every server, policies that heap jobs up come first.
    known = np.isfinite(ds[f"completion_{sense}"].values[base])
    last = int(np.flatnonzero(known)[-1]) + 1 if known.any() else len(known)
    at = telling([Difference(d.mean[:last], d.half[:last]) for d in seen.values()])
    ends = {}
    axis.axhline(0, color="0.25", linewidth=0.8)
    for point, style in pairs:
        one = Difference(seen[point].mean[at], seen[point].half[at])
        known = np.isfinite(one.mean)
        if known.any():
            _draw(axis, t[known], Difference(one.mean[known], one.half[known]), style, names[point])
            ends[names[point]] = (t[known][-1], one.mean[known][-1])
    k = int(ds["completion"].values[at])
    axis.set_title(f"{_SENSES[sense]}: P({_ordinal(k)} ≤ t)")
    axis.set_ylabel("difference")
    return ends


def _ordinal(k: int) -> str:
    ending = "th" if k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{ending}"


def telling(seen: list[Difference]) -> int:
    """Index of the k at which a policy is ahead of the baseline at some time by most half widths,
    if by 1.5 at least; else of the largest difference.
    """
    means = np.array([d.mean for d in seen])
    halves = np.array([d.half for d in seen])
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = np.where((halves > 0) & (means > 1e-9), means / halves, 0.0)
    ahead = ahead.max(axis=(0, 2))
    if ahead.max() >= 1.5:
        return int(ahead.argmax())
    return int(np.nan_to_num(np.abs(means)).max(axis=(0, 2)).argmax())


def _draw(axis: Axes, x: np.ndarray, seen: Difference, style: Style, name: str) -> None:
    """Markers with bars, or a line with a band where there are many."""
    half = np.nan_to_num(seen.half)
    if len(x) <= 24:
        axis.errorbar(x, seen.mean, yerr=half, linestyle=style.line, linewidth=1.1, label=name,
                      **style.marks(3.4), **BAR)
        return
    axis.plot(x, seen.mean, color=style.colour, linestyle=style.line, linewidth=1.1, label=name)
    axis.fill_between(x, seen.mean - half, seen.mean + half, color=style.colour, alpha=0.25,
                      linewidth=0)


def _missing(table: pd.DataFrame, ds: xr.Dataset, panels: list[str]) -> str:
    """Which policies have no means at a random server."""
    means = ds["completion_local"].values
    rows = table[table["panel"].isin(panels)]
    without = [c for at, c in rows["curve"].items() if not np.isfinite(means[at]).any()]
    without = list(dict.fromkeys(without))
    if not without:
        return ""
    return f" {', '.join(without)}: no mean at a random server, since some get no job."
