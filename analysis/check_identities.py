# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds inside every honest result file, up to rounding: means are those of the rows,
histograms hold every job, points are those of the job, in its order.
"""
from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import potluck
from potluck import check_points, naming
from potluck.formulas_base import Point, has, number, servers

_EXACT = 4096
_EPS = 2.0**-52


class Identity(NamedTuple):
    """One identity of one point, and whether it holds."""

    point: int
    quantity: str
    name: str
    measured: float
    theory: float
    holds: bool


def all_of(
    ds: xr.Dataset, values: dict[str, np.ndarray], table: pd.DataFrame, points: list[Point]
) -> Iterator[Identity]:
    """Every identity of a file, point by point.

    Parameters
    ----------
    ds, values : the file, and its variables in memory.
    table, points : its points, as a table and one by one.
    """
    rows = [str(v) for v in ds.data_vars if ds[v].dims == ("point", "replication")]
    of_model = {"balls": _balls, "queue": _queue, "dht": _dht}
    yield from check_points.all_of(ds, points)
    for i, point in enumerate(points):
        yield from _counted(ds, rows, values, i)
        yield from _means(rows, values, i)
        yield from _batches(values, i)
        yield from _fractions(values, i)
        if point["model"] in of_model:
            yield from of_model[point["model"]](values, i, point)
    yield from _baselines(ds, values, table)


def _near(i: int, quantity: str, name: str, a: float, b: float, tolerance: float) -> Identity:
    holds = bool(abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b)))
    return Identity(i, quantity, name, float(a), float(b), holds)


# -------------------------------------------------------------------------------------------------
# Any model


def _counted(ds: xr.Dataset, rows: list[str], values: dict, i: int) -> Iterator[Identity]:
    count = int(values["replications"][i])
    if rows:
        played = ~np.all([np.isnan(values[r][i]) for r in rows], axis=0)
        name = "replications that have rows"
        yield _near(i, "replications", name, count, int(played.sum()), 0)
    asked = re.search(r"^replications: *(\d+) *$", str(ds.attrs.get("resolved", "")), re.M)
    single = "file" not in ds.coords  # of files put together, this is the first one's job
    if asked and single and int(np.squeeze(ds.attrs.get("complete", 0))) == 1:
        yield _near(i, "replications", "replications of the job", count, int(asked[1]), 0)


def _means(rows: list[str], values: dict, i: int) -> Iterator[Identity]:
    for row in rows:
        x = values[row][i]
        x = x[~np.isnan(x)]
        if f"mean_{row}" not in values or not len(x) or len(x) != values["replications"][i]:
            continue
        most, mean = float(np.abs(x).max()), math.fsum(x) / len(x)
        reported = float(values[f"mean_{row}"][i])
        yield _near(i, f"mean_{row}", "mean of its rows", reported, mean, 8 * _EPS * most)
        if len(x) > 1 and f"se_{row}" in values:
            se = math.sqrt(math.fsum((x - mean) ** 2) / (len(x) - 1) / len(x))
            tolerance = 1e-7 * se + 1e-13 * most
            reported = float(values[f"se_{row}"][i])
            yield _near(i, f"se_{row}", "standard error of its rows", reported, se, tolerance)


def _batches(values: dict, i: int) -> Iterator[Identity]:
    for name, batch in values.items():
        base = name[: -len("_batch")]
        if not name.endswith("_batch") or base not in values or batch.dtype.kind not in "iu":
            continue
        whole, parts = values[base][i], batch[i].sum(axis=0)
        off = np.flatnonzero(whole != parts)
        at = int(off[0]) if off.size else 0
        name = "sum of its batches"
        yield Identity(i, base, name, float(whole[at]), float(parts[at]), not off.size)


def _fractions(values: dict, i: int) -> Iterator[Identity]:
    for name, base in (("load_fraction", "load_count"), ("load_time_fraction", "load_time")):
        if name not in values or base not in values:
            continue
        counts = values[base][i].astype(float)
        if counts.sum() <= 0:
            continue
        share = counts / counts.sum()
        given = np.where(counts > 0, values[name][i], np.nan_to_num(values[name][i]))
        at = int(np.argmax(np.abs(np.nan_to_num(given, nan=np.inf) - share)))
        yield _near(i, name, f"share of {base}", given[at], share[at], 1e-12)


def _baselines(ds: xr.Dataset, values: dict, table: pd.DataFrame) -> Iterator[Identity]:
    """Total variation and cost reduction, from the laws and costs they compare."""
    law = next((x for x in ("load_fraction", "load_time_fraction") if x in values), None)
    if law is None or "tv" not in values:
        return
    try:
        pairs = potluck._pairs(ds, table, None)  # pylint: disable=protected-access
    except ValueError:
        return
    for i, j in pairs:
        tv = 0.5 * float(np.nansum(np.abs(values[law][i] - values[law][j])))
        if np.isfinite(values["tv"][i]):
            yield _near(i, "tv", "distance of its law to the baseline's", values["tv"][i], tv, 1e-9)
        same = table["replications"][i] == table["replications"][j]
        dear = "mean_cost" in values and values["mean_cost"][j] > 0
        if same and dear and np.isfinite(values["cost_reduction"][i]):
            kept = 1 - values["mean_cost"][i] / values["mean_cost"][j]
            reported = float(values["cost_reduction"][i])
            name = "1 - cost / cost of the baseline"
            yield _near(i, "cost_reduction", name, reported, kept, 1e-9)


# -------------------------------------------------------------------------------------------------
# Histograms


def _total(counts: np.ndarray) -> float:
    """Sum of k times the count, NaN where bins are no single numbers."""
    if counts[_EXACT:].any():
        return math.nan
    return float(np.arange(len(counts[:_EXACT])) @ counts[:_EXACT].astype(float))


def _mean_of(values: dict, i: int, row: str) -> float:
    return float(values[f"mean_{row}"][i]) if f"mean_{row}" in values else math.nan


def _balls(values: dict, i: int, point: Point) -> Iterator[Identity]:
    count, n, m = int(point["replications"]), servers(point), number(point, "balls", 0)
    loads, most = values["load_count"][i], values["max_load_count"][i]
    if not count:
        return
    if n and m:
        yield _near(i, "load_count", "servers of all replications", loads.sum(), n * count, 0)
        if np.isfinite(total := _total(loads)):
            yield _near(i, "load_count", "jobs of all replications", total, m * count, 0)
            k = np.arange(len(loads[:_EXACT]))
            variance = float((k - m / n) ** 2 @ loads[:_EXACT]) / (n * count)
            reported = _mean_of(values, i, "load_variance")
            tolerance = 1e-9 * max(1.0, variance) + 1e-12 * m / n * m / n
            yield _near(i, "load_variance", "of load_count", reported, variance, tolerance)
        reported = _mean_of(values, i, "empty")
        yield _near(i, "empty", "share without jobs", reported, loads[0] / (n * count), 1e-12)
        gap = _mean_of(values, i, "max_load") - m / n
        reported, tolerance = _mean_of(values, i, "gap"), 1e-9 * max(1, m / n)
        yield _near(i, "gap", "max_load - m/n", reported, gap, tolerance)
        lowest = math.ceil(m / n)
        fine = not most[:lowest].any()
        yield Identity(i, "max_load_count", "at least m/n", float(lowest), float(lowest), fine)
    yield _near(i, "max_load_count", "replications", most.sum(), count, 0)
    if np.isfinite(total := _total(most)):
        reported = _mean_of(values, i, "max_load")
        name = "mean of max_load_count"
        yield _near(i, "max_load", name, reported, total / count, 1e-9 * reported)
    if "max_load" in values and not most[_EXACT:].any():
        x = values["max_load"][i]
        seen = np.bincount(x[~np.isnan(x)].astype(int), minlength=len(most))
        fine = len(seen) == len(most) and np.array_equal(seen, most)
        yield Identity(i, "max_load_count", "maxima of its rows", most.sum(), seen.sum(), fine)
    if point.get("policy") == "bounded" and n and m:
        cap = math.ceil((1 + number(point, "epsilon")) * m / n - 1e-9)
        last = int(np.flatnonzero(most)[-1])
        fine = last <= cap or cap >= _EXACT
        yield Identity(i, "max_load_count", "cap of `bounded`", last, cap, fine)
    yield from _hops(values, i, point, count)
    yield from _reach(values, i, point)


def _hops(values: dict, i: int, point: Point, count: int) -> Iterator[Identity]:
    hops = values.get("hop_count")
    if hops is None or not hops[i].any() or point.get("connect") == "largest":
        return
    hops, m = hops[i], number(point, "balls", 0)
    jobs = float(hops.sum())
    if point.get("distances", "exact") != "exact":
        return
    yield _near(i, "hop_count", "jobs of all replications", jobs, m * count, 0)
    if np.isfinite(total := _total(hops)):
        cost = _mean_of(values, i, "cost")
        yield _near(i, "cost", "mean of hop_count", cost, total / jobs, 1e-9 * max(1.0, cost))
    moved = 1 - hops[0] / jobs
    graph = point.get("topology") != "arcs"
    if graph:
        yield _near(i, "moved", "share beyond hop 0", _mean_of(values, i, "moved"), moved, 1e-9)


def _reach(values: dict, i: int, point: Point) -> Iterator[Identity]:
    """A job that moves goes one hop at least, and no further than its policy looks."""
    whole = point.get("distances", "exact") == "exact"
    if point.get("topology") in ("plane", "arcs") or not whole:
        return
    cost, moved = _mean_of(values, i, "cost"), _mean_of(values, i, "moved")
    near = point.get("policy") in ("unif-pot", "invsq-pot")
    most = number(point, "k") if near else 1.0 if point.get("policy") == "edge" else math.inf
    low, high = moved, most * moved if moved > 0 else 0.0
    fine = not (cost < low - 1e-8 or cost > high + 1e-8 * max(1.0, cost))
    yield Identity(i, "cost", "hops of a job that moves", cost, low if cost < low else high, fine)


def _queue(values: dict, i: int, point: Point) -> Iterator[Identity]:
    if not point["replications"]:
        return
    yield from _reach(values, i, point)
    times = values["load_time"][i].astype(float)
    occupied, length = _mean_of(values, i, "occupied"), _mean_of(values, i, "queue_length")
    if times.sum() > 0:
        share = times / times.sum()
        name = "share of time with a job, load_time"
        yield _near(i, "occupied", name, occupied, 1 - share[0], 1e-8)
        if np.isfinite(total := _total(share)):
            name = "mean of load_time"
            yield _near(i, "queue_length", name, length, total, 1e-8 * max(1.0, length))
    if point.get("failures") == "none" and point.get("transient") == "none":
        busy = _mean_of(values, i, "utilisation")
        yield _near(i, "utilisation", "occupied, without failures", busy, occupied, 1e-8)
    if point.get("topology") == "complete":
        cost, moved = _mean_of(values, i, "cost"), _mean_of(values, i, "moved")
        yield _near(i, "cost", "moved, everybody one hop away", cost, moved, 1e-8)
    jobs = float(values["response_count"][i].sum())
    placed = float(values["load_at_chosen"][i].sum())
    yield _near(i, "response_count", "jobs of load_at_chosen", jobs, placed, 0)
    if point.get("horizon") == "jobs" and point.get("transient") == "none":
        wanted = number(point, "horizon_jobs") * point["replications"]
        if point.get("arrivals") != "trace" and point.get("connect") != "largest":
            yield _near(i, "response_count", "jobs of the horizon", jobs, wanted, 0)
    for kind in ("response", "waiting"):
        quantiles = [_mean_of(values, i, f"{kind}_q{q}") for q in (50, 90, 95, 99)]
        fine = all(a <= b or math.isnan(a + b) for a, b in itertools.pairwise(quantiles))
        yield Identity(i, f"{kind}_q90", "quantiles in order", quantiles[1], quantiles[1], fine)


def _dht(values: dict, i: int, point: Point) -> Iterator[Identity]:
    if not point["replications"]:
        return
    shares = [_mean_of(values, i, x) for x in ("success", "dropped", "lost")]
    yield _near(i, "success", "1 - dropped - lost", shares[0], 1 - shares[1] - shares[2], 1e-9)
    if has(point, "n"):
        same = naming.servers(point)
        yield _near(i, "n", "nodes", same, number(point, "nodes"), 0)
    kinds = {"creations": 1, "deletions": 1, "transfers": 1, "relocations": 2}
    total = sum(w * _mean_of(values, i, x) for x, w in kinds.items())
    reported = _mean_of(values, i, "actions_artificial")
    tolerance = 1e-6 * max(1.0, abs(total))
    yield _near(i, "actions_artificial", "sum of its kinds", reported, total, tolerance)
