# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of points, settings and curves, as tables, figures and reports print them.

A point is a row of what potluck.frame gave.
"""
from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

import numpy as np
import pandas as pd
import xarray as xr

#: Variables on `point` that are results; whatever else lies on `point` alone is a parameter.
_RESULTS = ("replications", "stream", "tv", "cost_reduction")
_RESULT_PREFIXES = ("mean_", "se_", "tv_")
#: A parameter of random graphs whose name begins like a result's.
_NO_RESULTS = ("mean_degree",)
#: Parameters that belong to a policy: they tell curves and points of one panel apart, not panels.
POLICY_PARAMETERS = (
    *("policy", "k", "self", "d", "distinct", "beta", "epsilon"),
    *("shares", "policy_servers", "scope", "targets", "first", "policy_size"),
    *("balancer", "count", "initial", "max", "relief", "split", "rho", "c", "sample"),
    *("on_overload", "kappa", "mode", "margin", "target"),
)
#: What the panel titles leave out: constant by its meaning, or a repetition of others.
NOT_IN_TITLES = ("label", "baseline", "balls", "n", "topology", "sides", "dim", "children")
#: Parameters that names of settings mention only where a topology has several of them.
_QUIET = (
    *("n", "ties", "method", "graphs", "connect", "layout", "distances", "power"),
    "topology_servers",
)


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
    passed_over = ("label", "topology", "balls", *POLICY_PARAMETERS, *leave_out)
    names = [c for c in table if not is_result(c) and c not in passed_over]
    ratios = pd.Series([jobs_per_server(p) for _, p in table.iterrows()], table.index)
    out = pd.Series("", table.index, dtype=object)
    for topology, part in table.groupby("topology", sort=False):
        shown = [c for c in names if c not in _QUIET or part[c].nunique(dropna=False) > 1]
        several = "balls" not in leave_out and ratios[part.index].nunique(dropna=False) > 1
        for at, point in part.iterrows():
            words = [word for name in shown if (word := in_words(name, point))]
            first = str(topology)
            if words and " " not in words[0]:
                first += f" {words.pop(0)}"
            if several:
                words.append(ratio_in_words(ratios[at]))
            out[at] = ", ".join([first, *words])
    return out


def is_result(name: Hashable) -> bool:
    if name in _NO_RESULTS:
        return False
    return str(name) in _RESULTS or str(name).startswith(_RESULT_PREFIXES)


def values(variable: xr.DataArray) -> np.ndarray:
    return np.asarray(variable.values)


def present(value: object) -> bool:
    """Whether a parameter applies to a point."""
    return not (
        value is None
        or value == ""
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
    )


def number(value: float) -> str:
    """5 rather than 5.0; 0.25 as it is."""
    return f"{value:,.0f}".replace(",", " ") if float(value).is_integer() else f"{value:g}"


def servers(point: pd.Series) -> float:
    """Number of servers of a point, NaN when its parameters do not tell."""
    if present(point.get("n")):
        return float(point["n"])
    if present(point.get("sides")):
        return float(np.prod([float(s) for s in str(point["sides"]).split("x")]))
    return 2.0 ** point["dim"] if present(point.get("dim")) else np.nan


def panel_name(point: pd.Series, others: Iterable[str]) -> str:
    """Title of a panel: the topology with its size, jobs per server, and whatever else differs
    within the file.
    """
    words = [str(point["topology"])] if present(point.get("topology")) else []
    if present(point.get("sides")):
        words.append(str(point["sides"]).replace("x", "×"))
    elif present(point.get("dim")):
        words.append(f"of {number(point['dim'])} dimensions")
    count = servers(point)
    title = " ".join(words)
    if np.isfinite(count):
        title += f", {number(count)} servers"
    if present(point.get("balls")) and np.isfinite(count):
        ratio = float(point["balls"]) / count
        title += f", {number(round(ratio, 3))} job{'' if ratio == 1 else 's'} per server"
    extra = [
        words
        for name in others
        if (words := in_words(name, point))
    ]
    return "\n".join([title] + [", ".join(extra)] * bool(extra))


def panels(table: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """The points in groups that differ in the policy alone, each with its title, in the order of
    the file.
    """
    results = [c for c in table if is_result(c)]
    settings = [c for c in table if c not in results and c not in ("label", *POLICY_PARAMETERS)]
    varying = [c for c in settings if table[c].nunique(dropna=False) > 1]
    others = [c for c in varying if c not in NOT_IN_TITLES]
    if not varying:
        yield panel_name(table.iloc[0], others), table
        return
    keys = table[varying].astype(str).agg("\n".join, axis=1)
    for key in keys.unique():
        part = table[keys == key]
        yield panel_name(part.iloc[0], others), part


def curve_name(point: pd.Series) -> str:
    """The policy with its parameters except k."""
    name = str(point["policy"])
    extra = []
    if point.get("self") == "included":
        extra.append("u included")
    if present(point.get("d")) and name in ("choices", "left", "points"):
        extra.append(f"d = {number(point['d'])}")
    if point.get("distinct") in (True, 1, 1.0, "true"):
        extra.append("distinct")
    if present(point.get("beta")):
        extra.append(f"β = {point['beta']:g}")
    if present(point.get("epsilon")):
        extra.append(f"ε = {point['epsilon']:g}")
    return name + (f" ({', '.join(extra)})" if extra else "")


def baseline_values(ds: xr.Dataset) -> dict[str, object]:
    """Values of the parameters that make a point its own baseline, by the job: `{"policy": "pot"}`;
    empty where the job has none.
    """
    resolved = str(ds.attrs.get("resolved", ""))
    found = re.search(r"^baseline: *(?:\{ *)?([\w-]+)(?:: *\{(.*?)\})?", resolved, re.M)
    if not found:
        return {}
    values: dict[str, object] = {"policy": found[1]}
    for name, value in re.findall(r"([\w-]+): *([^,}]+)", found[2] or ""):
        column = name if name in ds.variables else f"policy_{name}"
        if column in ds.variables:
            try:
                values[column] = float(value)
            except ValueError:
                word = value.strip().strip('"')
                values[column] = {"true": 1, "false": 0}.get(word, word)
    return values


def baseline_of(ds: xr.Dataset, table: pd.DataFrame) -> pd.Series:
    """Which points are their own baseline."""
    own = (table["tv"] == 0) & (table["cost_reduction"] == 0)
    policy = baseline_values(ds).get("policy")
    return own & (table["policy"] == policy) if policy else own


def unit_of_cost(part: pd.DataFrame) -> str:
    """Hops, or on the plane the side of the square."""
    on_plane = "topology" in part and (part["topology"] == "plane").all()
    return "sides" if on_plane else "hops"


def jobs_per_server(point: pd.Series) -> float:
    """NaN when the parameters do not tell."""
    return float(point["balls"]) / servers(point) if present(point.get("balls")) else np.nan


def ratio_in_words(ratio: float) -> str:
    return f"{number(round(ratio, 3))} job{'' if ratio == 1 else 's'} per server"


def in_words(name: str, point: pd.Series) -> str:
    """A parameter of the topology: `32×32`, `degree 3`; empty when it does not apply."""
    value = point[name]
    if not present(value) or (name == "n" and present(point.get("sides"))):
        return ""
    if name in ("sides", "name"):
        return str(value).replace("x", "×") if name == "sides" else str(value)
    if name == "torus":
        return "on a torus" if value else "in a square"
    shown = number(value) if isinstance(value, (int, float, np.number)) else str(value)
    return f"{name} = {shown}" if len(name) == 1 else f"{name.replace('_', ' ')} {shown}"

