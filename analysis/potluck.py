# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the result files of potluck, compares, checks and draws them.

    import potluck
    ds = potluck.open("quickstart.h5")             # xarray: everything, with units
    table = potluck.frame(ds)                      # pandas: one row per point
    runs = potluck.rows(ds)                        # pandas: one row per replication
    potluck.compare(ds, "pot")                     # paired differences and ratios, with intervals
    potluck.load_distribution(ds)                  # fractions of servers by load, with intervals
    potluck.tail(ds)                               # and those with at least such a load
    potluck.quantiles(ds, [0.5, 0.99])
    both = potluck.concat(["monday.h5", "tuesday.h5"])
    potluck.plot_tradeoff(ds).savefig("tradeoff.pdf")
    potluck.theory.mg1_wait(0.9, potluck.theory.moments("exponential"))

From the command line, with this folder in PYTHONPATH or potluck installed:

    python3 -m potluck check OUT.h5                # every point that a formula covers
    python3 -m potluck tradeoff OUT.h5 FIGURE.png  # figures; --help lists them
    python3 -m potluck report OUT.h5 -o report.html
    python3 -m potluck selftest                    # small jobs on this machine, checked

A point is one setting of every parameter, a replication one independent simulation of a point.
"""
from __future__ import annotations

import importlib
import os
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

# The files beside this one are its submodules (potluck.theory, potluck.figures), in the repository,
# where this is a file of its own, as where it is installed, as a package.
__path__ = [str(pathlib.Path(__file__).resolve().parent)]
__all__ = [
    "Damaged",
    "compare",
    "concat",
    "frame",
    "load_distribution",
    "open",
    "parameters",
    "quantiles",
    "rows",
    "settings",
    "statistics",
    "tail",
]

#: A result file, by its path or as `open` gave it.
Source = Union[str, os.PathLike, xr.Dataset]


class Damaged(ValueError):
    """A file that is no whole result file; the message says what is wrong with it."""


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

    Raises
    ------
    FileNotFoundError, PermissionError
        When it cannot be read.
    Damaged
        When it is cut off, no HDF5, or no result file of potluck.
    """
    with pathlib.Path(path).open("rb") as file:  # plain words for what h5py says in its own
        begins = file.read(8)
    if begins != b"\x89HDF\r\n\x1a\n":
        what = "empty" if not begins else "not HDF5"
        raise Damaged(f"{path} is {what}, so no result file of potluck")
    try:
        ds = xr.open_dataset(path, engine="h5netcdf")
    except Exception as reason:  # whatever the libraries find in a broken file
        raise Damaged(f"{path} is damaged: {_first_line(reason)}") from None
    try:
        version = int(np.squeeze(ds.attrs.get("format_version", 0)))
        lacks = [name for name in ("point", "label", "replications") if name not in ds.variables]
        if not version and not lacks:
            lacks = ["format_version"]
        if version not in (0, 1):
            raise Damaged(f"{path}: this reader knows format 1 of result files, not {version}")
        if lacks or not version:
            missing = f": it has no `{lacks[0]}`" if lacks else ""
            raise Damaged(f"{path} is HDF5, but no result file of potluck{missing}")
    except (TypeError, ValueError) as reason:
        ds.close()
        raise reason if isinstance(reason, Damaged) else Damaged(f"{path}: {reason}") from None
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
        if ds[v].dims == ("point",) and v != "point" and not naming.is_result(v)
    ]
    first = [name for name in ("label", "topology", "policy") if name in found]
    return first + [name for name in found if name not in first]


def statistics(ds: xr.Dataset) -> list[str]:
    """Names of the results that have one value per point, e.g. `mean_max_load`, in the order of the
    file.
    """
    return [
        str(v)
        for v in ds.variables
        if ds[v].dims == ("point",) and v != "point" and naming.is_result(v)
    ]


def frame(source: Source) -> pd.DataFrame:
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
    table = pd.DataFrame({name: np.asarray(source[name].values) for name in names})
    table.index.name = "point"
    return table


def rows(source: Source) -> pd.DataFrame:
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
    columns = _row_names(source)
    n_points, n_replications = source.sizes["point"], source.sizes["replication"]
    data = {name: source[name].values.reshape(-1) for name in columns}
    point = np.repeat(np.arange(n_points), n_replications)
    here = ~np.all([np.isnan(v) for v in data.values()], axis=0)
    table = pd.DataFrame(
        {"point": point, "replication": np.tile(source["replication"].values, n_points)} | data
    )[here]
    names = parameters(source)
    played_at = pd.DataFrame({name: np.asarray(source[name].values) for name in names})
    tidy = played_at.loc[table["point"]].reset_index(drop=True)
    table = table.reset_index(drop=True)
    return pd.concat([table[["point", "replication"]], tidy, table[columns]], axis=1)


def compare(
    source: Source,
    baseline: str | int | Mapping[str, Any] | None = None,
    *,
    statistics: Sequence[str] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Paired differences and ratios of every point to its baseline, replication by replication.

    Policies of one job meet the same random words (`common: true`), so what they have in common
    cancels. The interval of a difference is Student's; that of a ratio is Fieller's, which holds
    however noisy the denominator is, and is infinite where that may be zero.

    Parameters
    ----------
    source : path of a result file, or the Dataset that `open` gave; it needs one value per
        replication (`keep: rows`).
    baseline : a policy (or balancer), the number of a point that all others are compared with, or
        values of parameters such as ``{"policy": "unif-pot", "k": 1}`` or ``{"lambda": 0.5}``; a
        point's baseline is the point that has these values and agrees with it in everything else
        that both have, parameters of the policy apart. By default the baseline of the job.
    statistics : names of rows, e.g. ``["max_load", "cost"]``; by default all of them.
    level : coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row for each pair and statistic: `point`, `label`, `baseline`, `statistic`,
        `replications` that both have, `mean`, `baseline_mean`, and `difference` and `ratio`, each
        with `_low` and `_high`.

    Raises
    ------
    ValueError
        When there is no such point, or a point and its baseline used different random words.
    """
    if not isinstance(source, xr.Dataset):
        with open(source) as ds:
            return compare(ds, baseline, statistics=statistics, level=level)
    table = frame(source)
    names = list(statistics) if statistics is not None else _row_names(source)
    known = _row_names(source)
    for name in names:
        if name not in known:
            raise ValueError(f"no statistic {name!r} in this file; it has {', '.join(known)}")
    pairs = _pairs(source, table, baseline)
    for point, other in pairs:
        _refuse_strangers(table, point, other)
    values = {name: np.asarray(source[name].values, float) for name in names}
    out = []
    for point, other in pairs:
        for name in names:
            x, y = values[name][point], values[name][other]
            both = np.isfinite(x) & np.isfinite(y)
            if both.any():
                out.append(
                    {
                        "point": point,
                        "label": table["label"][point],
                        "baseline": other,
                        "statistic": name,
                        **_paired(x[both], y[both], level),
                    }
                )
    return pd.DataFrame(out)


def load_distribution(
    source: Source, law: str | None = None, *, level: float = 0.95
) -> xr.Dataset:
    """Fractions of servers (queues: of time; `law` may name another histogram) by load.

    Parameters
    ----------
    source : path of a result file, or the Dataset that `open` gave.
    law : a histogram of the file, such as `hop_count` or `response_count`; by default `load_count`,
        for queues `load_time`, for DHT rings `utilisation_count`.
    level : coverage of the intervals.

    Returns
    -------
    xarray.Dataset
        `fraction`, `low`, `high` over `point` and the axis of the law, with the parameters of the
        points as coordinates. Intervals come from batches of replications (Student, jackknife over
        at most 50) and are NaN where the file has none.
    """
    return _law(source, law, level, lambda counts: counts)


def tail(source: Source, law: str | None = None, *, level: float = 0.95) -> xr.Dataset:
    """Fractions with at least such a load, P(load >= x); otherwise as `load_distribution`. On axes
    of real numbers x is where a bin begins.
    """
    return _law(source, law, level, lambda counts: np.cumsum(counts[..., ::-1], -1)[..., ::-1])


def quantiles(
    source: Source,
    q: float | Sequence[float] = (0.5, 0.9, 0.99, 0.999),
    law: str | None = None,
) -> pd.DataFrame:
    """Quantiles of a law: the smallest load that at least a share q does not exceed.

    Parameters
    ----------
    source, law : as in `load_distribution`.
    q : one share or several, each between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Index `point`, a column for each q. On axes of real numbers (`response_count`,
        `utilisation_count`) interpolated within the bin; whole numbers beyond 4095 are those at the
        end of their bin.
    """
    if not isinstance(source, xr.Dataset):
        with open(source) as ds:
            return quantiles(ds, q, law)
    name, axis = _law_of(source, law)
    low, high = source[axis].values.astype(float), source[f"{axis}_upper"].values.astype(float)
    counts = source[name].values.astype(float)
    shares = np.atleast_1d(np.asarray(q, float))
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"quantiles lie between 0 and 1, not {q}")
    out = np.full((len(counts), len(shares)), np.nan)
    for i, count in enumerate(counts):
        if count.sum() <= 0:
            continue
        below = np.cumsum(count) / count.sum()
        first = int(np.flatnonzero(count)[0])
        at = np.clip(np.searchsorted(below, shares - 1e-12), first, len(low) - 1)
        if high[0] > low[0]:  # bins of real numbers, not of whole ones
            before = np.where(at > 0, below[at - 1], 0.0)
            share = np.clip((shares - before) / np.maximum(below[at] - before, 1e-300), 0, 1)
            out[i] = low[at] + share * (high[at] - low[at])
        else:
            out[i] = high[at]
    return pd.DataFrame(
        out, pd.RangeIndex(len(counts), name="point"), pd.Index(shares, name="quantile")
    )


def concat(sources: Sequence[Source]) -> xr.Dataset:
    """Put the points of several files of one model one after the other.

    Parameters
    ----------
    sources : paths of result files, or Datasets that `open` gave, at least one.

    Returns
    -------
    xarray.Dataset
        In memory. `point` counts on from file to file, the coordinate `file` says which one a point
        is of; histograms are padded with zeros, rows with NaN. Points of different files have
        different `stream`s unless the files have the same seed: they are no pairs. Replications of
        one and the same job are put together by `potluck merge` instead.

    Raises
    ------
    ValueError
        When the files are of different models.
    """
    if not sources:
        raise ValueError("nothing to put together")
    parts, models, seeds = [], [], []
    for i, source in enumerate(sources):
        ds = source.load() if isinstance(source, xr.Dataset) else open(source).load()
        if not isinstance(source, xr.Dataset):
            ds.close()
        models.append(str(ds.attrs.get("model")))
        seeds.append(str(ds.attrs.get("seed")))
        parts.append(ds.assign_coords(file=("point", np.full(ds.sizes["point"], i))))
    if len(set(models)) > 1:
        raise ValueError(f"files of different models: {', '.join(dict.fromkeys(models))}")
    step = 1 + max(int(p["stream"].max()) if "stream" in p else 0 for p in parts)
    order = {seed: i for i, seed in enumerate(dict.fromkeys(seeds))}
    longest = _longest_axes(parts)
    patterns = {name: v for p in parts for name, v in p.variables.items() if "point" in v.dims}
    whole = []
    for ds, seed in zip(parts, seeds):
        if "stream" in ds:
            ds["stream"] = ds["stream"].astype(np.uint64) + np.uint64(step * order[seed])
        ds = _widened(ds.drop_vars([v for v in ds.variables if str(v).endswith("_upper")]), longest)
        lacks = [name for name in patterns if name not in ds.variables]
        missing = {name: _nothing(patterns[name], ds, longest) for name in lacks}
        coordinates = [name for name in lacks if any(name in p.coords for p in parts)]
        whole.append(ds.assign(missing).set_coords(coordinates))
    out = xr.concat(whole, "point", combine_attrs="override")
    uppers = {
        f"{a}_upper": p[f"{a}_upper"]
        for a, axis in longest.items()
        for p in parts
        if f"{a}_upper" in p and p.sizes[a] == axis.size
    }
    out = out.assign_coords(point=np.arange(out.sizes["point"], dtype=np.uint64), **uppers)
    out.attrs["title"] = "; ".join(dict.fromkeys(str(p.attrs.get("title", "")) for p in parts))
    if len(order) > 1:
        out.attrs["seed"] = ", ".join(order)
    return out


# -------------------------------------------------------------------------------------------------


def _first_line(reason: BaseException) -> str:
    text = str(reason).strip().split("\n")[0] or type(reason).__name__
    inner = re.search(r"\((.*?)(?:, |\))", text)
    return inner[1] if inner and text.startswith("Unable to") else text


def _row_names(ds: xr.Dataset) -> list[str]:
    found = [str(v) for v in ds.data_vars if ds[v].dims == ("point", "replication")]
    if not found:
        raise ValueError(
            "this file keeps means only; its job needs `keep: rows` for one value per replication"
        )
    return found


def _pairs(ds: xr.Dataset, table: pd.DataFrame, baseline: Any) -> list[tuple[int, int]]:
    """Points with their baselines."""
    if isinstance(baseline, (int, np.integer)) and not isinstance(baseline, bool):
        if baseline not in table.index:
            raise ValueError(f"no point {baseline}: they go from 0 to {len(table) - 1}")
        return [(p, int(baseline)) for p in table.index if p != baseline]
    if baseline is None:
        wanted = naming.baseline_values(ds)
        if not wanted:
            raise ValueError("this job has no baseline: name one, such as baseline='pot'")
    elif isinstance(baseline, str):
        rule = "policy" if "policy" in table else "balancer"
        wanted = {rule: baseline}
    else:
        wanted = dict(baseline)
    for name in wanted:
        if name not in table:
            raise ValueError(f"no parameter {name!r} in this file")
    own = np.all([_equals(table[name], value) for name, value in wanted.items()], axis=0)
    if not own.any():
        raise ValueError(
            "no point has " + ", ".join(f"{name} {value}" for name, value in wanted.items())
        )
    free = {"label", *wanted}
    if {"policy", "balancer"} & wanted.keys():
        free |= set(naming.POLICY_PARAMETERS)
    varying = [n for n in parameters(ds) if n not in free and table[n].nunique(dropna=False) > 1]
    fixed = [table[n].tolist() for n in varying]
    pairs = []
    for point in table.index:
        found = [
            other
            for other in table.index[own]
            if all(_agree(value[point], value[other]) for value in fixed)
        ]
        if point in found or not found:
            continue
        if len(found) > 1:
            raise ValueError(
                f"point {point} ({table['label'][point]}) has several baselines: "
                + ", ".join(str(table["label"][other]) for other in found)
            )
        pairs.append((int(point), int(found[0])))
    if not pairs:
        raise ValueError("no point has a baseline that differs from it in nothing else")
    return pairs


def _equals(column: pd.Series, value: Any) -> np.ndarray:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return np.isclose(pd.to_numeric(column, errors="coerce"), value, rtol=1e-12, atol=0)
    return (column.astype(str) == str(value)).to_numpy()


def _agree(a: object, b: object) -> bool:
    """Whether two values of a parameter are equal, or one of them does not apply."""
    return a == b or not naming.present(a) or not naming.present(b)


def _refuse_strangers(table: pd.DataFrame, point: int, other: int) -> None:
    streams = table["stream"][[point, other]] if "stream" in table else [0, 0]
    if len(set(streams)) > 1:
        a, b = streams
        raise ValueError(
            f"points {point} ({table['label'][point]}) and {other} ({table['label'][other]}) used "
            f"different random words (stream {a} and {b}): their replications are no pairs"
        )


def _paired(x: np.ndarray, y: np.ndarray, level: float) -> dict[str, float]:
    n = x.size
    t = float(stats.t.ppf((1 + level) / 2, n - 1)) if n > 1 else np.nan
    a, b = x.mean(), y.mean()
    half = t * (x - y).std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    out = {"replications": n, "mean": a, "baseline_mean": b, "difference": a - b}
    out |= {"difference_low": a - b - half, "difference_high": a - b + half}
    with np.errstate(divide="ignore", invalid="ignore"):
        out["ratio"] = np.float64(a) / b
    low, high = _fieller(x, y, t) if n > 1 else (np.nan, np.nan)
    return out | {"ratio_low": low, "ratio_high": high}


def _fieller(x: np.ndarray, y: np.ndarray, t: float) -> tuple[float, float]:
    """Fieller's interval of E[x] / E[y] from pairs: all r at which |mean(x - r y)| lies within t
    standard errors (Fieller, J. R. Stat. Soc. B 16(2), 1954).
    """
    (vx, c), (_, vy) = np.cov(x, y) / x.size
    a, b = x.mean(), y.mean()
    lead = b * b - t * t * vy
    if lead <= 0:  # the denominator may be zero
        return (np.nan, np.nan) if a == b == 0 else (-np.inf, np.inf)
    middle = a * b - t * t * c
    root = np.sqrt(max(middle * middle - lead * (a * a - t * t * vx), 0.0))
    return (middle - root) / lead, (middle + root) / lead


def _law_of(ds: xr.Dataset, law: str | None) -> tuple[str, str]:
    """The name and the axis of a histogram: whole numbers of counts over bins with an upper end."""
    axes = {
        str(name): str(v.dims[1])
        for name, v in ds.data_vars.items()
        if len(v.dims) == 2 and v.dims[0] == "point" and v.dtype.kind in "iu"
    }
    laws = {name: axis for name, axis in axes.items() if f"{axis}_upper" in ds.variables}
    if law is None:
        law = next((x for x in ("load_count", "load_time", "utilisation_count") if x in laws), "")
    if law not in laws:
        has = f"it has {', '.join(laws)}" if laws else "it has none"
        raise ValueError(f"no histogram {law!r} in this file; {has}")
    return law, laws[law]


def _law(source: Source, law: str | None, level: float, shape: Any) -> xr.Dataset:
    if not isinstance(source, xr.Dataset):
        with open(source) as ds:
            return _law(ds, law, level, shape).load()
    name, axis = _law_of(source, law)
    counts = source[name].values.astype(float)
    total = counts.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        fraction = shape(counts) / total
    half = np.full_like(fraction, np.nan)
    if f"{name}_batch" in source:
        for i, batches in enumerate(source[f"{name}_batch"].values):
            half[i] = _jackknife(batches.astype(float), shape, level)
    bounds = {"low": np.clip(fraction - half, 0, 1), "high": np.clip(fraction + half, 0, 1)}
    out = xr.Dataset(
        {k: (("point", axis), v) for k, v in ({"fraction": fraction} | bounds).items()},
        {
            c: v
            for c, v in source.coords.items()
            if set(v.dims) <= {"point", axis}
        },
        {"law": name, "level": level},
    )
    out["fraction"].attrs = {"units": "1", "long_name": source[name].attrs.get("long_name", "")}
    return out


def _jackknife(batches: np.ndarray, shape: Any, level: float) -> np.ndarray:
    """Half width of the interval of shape(sum) / total, from batches left out one at a time."""
    batches = batches[batches.sum(-1) > 0]
    b = len(batches)
    if b < 2:
        return np.full(batches.shape[-1], np.nan)
    without = shape(batches.sum(0) - batches)
    without = without / (batches.sum() - batches.sum(-1))[:, None]
    variance = (b - 1) / b * ((without - without.mean(0)) ** 2).sum(0)
    return float(stats.t.ppf((1 + level) / 2, b - 1)) * np.sqrt(variance)


def _longest_axes(parts: Sequence[xr.Dataset]) -> dict[str, xr.DataArray]:
    """The longest of every axis but that of the points; the others must be its beginnings."""
    longest: dict[str, xr.DataArray] = {}
    for ds in parts:
        for a in map(str, ds.dims):
            if a != "point" and a in ds and (a not in longest or ds[a].size > longest[a].size):
                longest[a] = ds[a]
    for ds in parts:
        for a, axis in longest.items():
            if a in ds and a != "replication" and not np.isin(ds[a], axis).all():
                raise ValueError(f"files whose {a} axes differ")
    if "replication" in longest:
        numbers = [p["replication"].values for p in parts if "replication" in p]
        every = np.unique(np.concatenate(numbers))
        longest["replication"] = xr.DataArray(every, dims="replication", name="replication")
    return longest


def _widened(ds: xr.Dataset, longest: Mapping[str, xr.DataArray]) -> xr.Dataset:
    """The axes of a file as long as the longest: counts with zeros, the rest with NaN."""
    fill = {str(n): _empty(v.dtype) for n, v in ds.variables.items() if set(v.dims) != {n}}
    return ds.reindex({a: x.values for a, x in longest.items() if a in ds.dims}, fill_value=fill)


def _nothing(v: xr.Variable, ds: xr.Dataset, longest: Mapping[str, xr.DataArray]) -> xr.Variable:
    """A variable that another file has, for the points of this one."""
    sizes = [ds.sizes["point"] if a == "point" else longest[str(a)].size for a in v.dims]
    return xr.Variable(v.dims, np.full(sizes, _empty(v.dtype), v.dtype), v.attrs)


def _empty(kind: np.dtype) -> Any:
    """Counts are padded with zeros, texts with "", the rest with NaN."""
    return 0 if kind.kind in "iub" else "" if kind.kind in "OSU" else np.nan


def __getattr__(name: str) -> Any:
    """Submodules, and the figures: potluck.theory, potluck.plot_tradeoff."""
    if name.startswith("plot_"):
        return importlib.import_module("potluck.figures").function(name)
    if not name.startswith("_") and (pathlib.Path(__path__[0]) / f"{name}.py").exists():
        return importlib.import_module(f"potluck.{name}")
    raise AttributeError(f"module 'potluck' has no attribute {name!r}")


from potluck import naming  # noqa: E402 - a submodule, so __path__ comes first
from potluck.naming import settings  # noqa: E402

if __name__ == "__main__":
    from potluck import commands

    sys.exit(commands.main())
