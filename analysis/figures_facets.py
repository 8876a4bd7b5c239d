# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job varies: the parameters of its points gathered into facets (place, load, service,
failures, destinations, ...), and which of them is the axis, the panels and the curves of a figure.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from potluck import naming, theory

#: Columns of a facet that has several; the first says what it is, the others how it is set.
_GROUPS = {
    "place": (
        *("topology", "n", "nodes", "sides", "dim", "children", "degree", "mean_degree", "p"),
        *("edges", "radius", "torus", "m", "power", "exponent", "neighbours", "rewire", "name"),
        *("path", "format", "graphs", "connect", "layout", "distances", "virtual", "servers"),
    ),
    "destinations": ("destinations", "alpha", "destinations_count", "shift"),
    "failures": ("failures", "up", "down", "while_idle", "resume", "start"),
    "lifetime": ("lifetime", "downtime"),
    "capacity": ("capacity", "per_second", "median", "sigma"),
    "arrivals": ("arrivals", "arrival_scope", "synchronised", "rates", "switch"),
    "service": ("service",),
}
#: What follows from other parameters, or changes nothing that a figure shows.
_SILENT = ("label", "baseline", "stream", "horizon", "warmup", "excess", "own_mean")
_POLICY = {*naming.POLICY_PARAMETERS} - {"target", "epsilon"}
_GREEK = {"kappa": "κ", "rho": "ρ", "lambda": "λ", "alpha": "α", "beta": "β", "epsilon": "ε"}
_IDS = {"random": "random identifiers", "equal": "equal arcs", "proportional": "arcs as capacities"}
_AXES = {
    "lambda": "arrival rate λ (jobs per mean service and server)",
    "queries": "queries per second and node",
    "lifetime": "mean lifetime of a node (s)",
    "destinations": "Zipf exponent α (0: uniform)",
    "kappa": "choices κ",
    "service": "squared coefficient of variation of the services",
    "place": "servers, n",
    "nodes": "nodes",
    "d": "candidates, d",
    "k": "neighbourhood, k hops",
}


class Facet(NamedTuple):
    """Something that varies: in words, and as a number where it is one."""

    name: str
    words: pd.Series
    numbers: pd.Series | None

    @property
    def axis(self) -> str:
        return _AXES.get(self.name, self.name.replace("_", " "))

    @property
    def kind(self) -> str:
        """Scale of its axis: `load`, `root` or anything."""
        if self.name == "service":
            return "root"
        loads = self.name == "lambda" and self.numbers is not None and self.numbers.max() < 1
        return "load" if loads and self.numbers.max() > 0.8 else ""


class Plan(NamedTuple):
    """How points become a figure: the table with columns `curve`, `panel`, `x`; the axis, or None;
    what was left out to keep the panels few, in words.
    """

    table: pd.DataFrame
    axis: Facet | None
    left_out: str

    @property
    def panels(self) -> list[str]:
        return list(dict.fromkeys(self.table["panel"]))


def facets(table: pd.DataFrame) -> list[Facet]:
    """What varies beside the policy (or balancer), in the order of the columns."""
    groups: dict[str, list[str]] = {}
    for column in table:
        name = _group(str(column))
        if name and not naming.is_result(column):
            groups.setdefault(name, []).append(str(column))
    out = []
    for name, columns in groups.items():
        different = [c for c in columns if table[c].nunique(dropna=False) > 1]
        if different:
            words = pd.Series([_words(name, columns, different, p) for _, p in table.iterrows()],
                              table.index)
            if words.nunique() > 1:
                out.append(Facet(name, words, _numbers(name, different, table)))
    return out


def curve_names(table: pd.DataFrame, leave_out: str = "") -> pd.Series:
    """The policy or balancer, then a comma and those parameters of it that its points vary."""
    rule = "policy" if "policy" in table else "balancer"
    known = [c for c in table if c in _POLICY or str(c).startswith("policy_")]
    known = [c for c in known if c not in (rule, leave_out)]
    out = pd.Series("", table.index, dtype=object)
    for name, part in table.groupby(rule, sort=False):
        several = [c for c in known if part[c].nunique(dropna=False) > 1]
        for at, point in part.iterrows():
            words = [_parameter(c, point[c]) for c in several if naming.present(point[c])]
            if rule == "policy" and not words:
                words = [_parameter(c, point[c]) for c in ("d", "k") if c in known
                         and naming.present(point[c])]
            out[at] = ", ".join([str(name), *(word for word in words if word)])
    return out


def plan(table: pd.DataFrame, most: int = 6, axis: bool = True) -> Plan:
    """Chooses the axis (the number with most values), curves (policies or balancers; where there is
    but one, another facet) and panels (the rest, thinned out to at most `most`).
    """
    found = facets(table)
    numeric = [f for f in found if f.numbers is not None]
    numeric += [f for f in _policy_numbers(table)]
    chosen = None
    if axis and numeric:
        chosen = max(numeric, key=lambda f: (f.numbers.nunique(), -numeric.index(f)))
    table = table.assign(
        curve=curve_names(table, chosen.name if chosen else ""),
        x=chosen.numbers if chosen else np.nan,
    )
    rest = [f for f in found if not chosen or f.name != chosen.name]
    if rest and table["curve"].nunique() == 1:
        curve = next((f for f in rest if f.numbers is None), rest[0])
        rest.remove(curve)
        table["curve"] = curve.words
    kept, left_out = _thinned(rest, most)
    here = np.ones(len(table), bool)
    for facet, words in zip(rest, kept):
        here &= facet.words.isin(words).to_numpy()
    several = [f.words for f in rest]
    table["panel"] = [", ".join(w) for w in zip(*several)] if several else ""
    return Plan(table[here], chosen, left_out)


# -------------------------------------------------------------------------------------------------


def _group(column: str) -> str:
    """The facet of a column; empty for what belongs to the policy or tells nothing."""
    if column in _POLICY or column.startswith("policy_"):
        return ""
    for name, columns in _GROUPS.items():
        if column in columns or column.startswith(f"{name}_"):
            return "" if column.endswith("own_mean") else name
    silent = any(column == s or column.startswith(f"{s}_") for s in _SILENT)
    return "" if silent else column


def _words(name: str, columns: list[str], different: list[str], point: pd.Series) -> str:
    if len(columns) == 1 or name not in _GROUPS:
        value = point[columns[0]]
        if not naming.present(value):
            return f"no {columns[0]}"
        text = _text(value)
        if name == "queries":
            return f"queries {text}/s"
        if name == "ids":
            return _IDS.get(text, text)
        return text if name in _GROUPS else f"{_GREEK.get(name, name.replace('_', ' '))} = {text}"
    first = str(point[columns[0]])
    if name == "failures":
        first = "no failures" if first == "none" else _failing(point)
        different = []
    if name == "service" and naming.present(point.get("service_values")):
        return f"{first} {_shares(point)}"
    if name == "destinations":
        first = "uniform keys" if first == "uniform" else f"Zipf {point['alpha']:g}"
        different = [c for c in different if c == "shift"]
    if name == "lifetime" and naming.present(point.get("lifetime_mean")):
        first, different = "lifetime", [c for c in different if c != "lifetime_shape"]
    extra = [c for c in different if c != columns[0] and naming.present(point[c])]
    if name == "place" and any(c in extra for c in ("sides", "dim")):
        extra.remove("n") if "n" in extra else None
    words = ", ".join([first, *(_setting(name, c, point[c]) for c in extra)])
    return words.replace("lifetime, mean", "lifetime of") + "\u00a0s" * (first == "lifetime")


def _shares(point: pd.Series) -> str:
    """`0.5 (67 %), 2 (33 %)` of a discrete law."""
    values = str(point["service_values"]).split()
    shares = [float(p) for p in str(point["service_probabilities"]).split()]
    return ", ".join(f"{float(v):g} ({100 * p:.3g} %)" for v, p in zip(values, shares))


def _failing(point: pd.Series) -> str:
    up, down = point.get("failures_up_mean"), point.get("failures_down_mean")
    if naming.present(up) and naming.present(down):
        return f"failures, up {up:g}, down {down:g}"
    return "failures"


def _text(value: object) -> str:
    """Numbers in which no line is broken."""
    if isinstance(value, (int, float, np.number)):
        return naming.number(float(value)).replace(" ", "\u00a0")
    return str(value)


def _setting(name: str, column: str, value: object) -> str:
    column = column.replace(f"{name}_", "")
    text = _text(value)
    if column == "sides":
        return text.replace("x", "×")
    return f"{column} = {text}" if len(column) == 1 else f"{column.replace('_', ' ')} {text}"


def _parameter(column: str, value: object) -> str:
    """A parameter of a policy: `k = 5`, `central`, `to others`."""
    if column in ("scope", "policy_scope", "mode"):
        return str(value)
    if column == "targets":
        return "to others" if value == "others" else ""
    if column in ("self", "distinct"):
        named = {"self": "u included", "distinct": "distinct"}[column]
        return named if value in ("included", 1, 1.0) else ""
    if column == "policy_servers":
        return str(value).replace("x", " ")
    short = column.replace("policy_", "")
    text = _text(value)
    return f"{_GREEK.get(short, short)} = {text}"


def scv(point: pd.Series) -> float:
    """Squared coefficient of variation of the services; NaN where it is not known."""
    moments = service_moments(point)
    return moments.scv if moments else np.nan


def service_moments(point: pd.Series) -> theory.Moments | None:
    """Moments of the services of a point; None where the file does not tell them."""
    names = ("shape", "scv", "values", "probabilities")
    given = {k: point[f"service_{k}"] for k in names if naming.present(point.get(f"service_{k}"))}
    mean = point.get("service_mean")
    try:
        for name in ("values", "probabilities"):
            if name in given:
                given[name] = [float(x) for x in str(given[name]).split()]
        own = float(point["service_own_mean"])
        mean = float(mean) if naming.present(mean) else own
        found = theory.moments(str(point["service"]), own, **given)
    except (KeyError, TypeError, ValueError):
        return None
    return found.times(mean / found.first) if found.first else None


def _numbers(name: str, different: list[str], table: pd.DataFrame) -> pd.Series | None:
    """A facet as one number, where it is one."""
    out: pd.Series | None = None
    if name == "service":
        out = pd.Series([scv(p) for _, p in table.iterrows()], table.index)
    elif name == "destinations" and "alpha" in table and "shift" not in different:
        out = pd.to_numeric(table["alpha"], errors="coerce")
        out = out.mask(table["destinations"] == "uniform", 0.0)
        out = out if out.nunique() > 2 else None
    elif len({c for c in different if c not in ("nodes",)} or different) == 1:
        out = pd.to_numeric(table[different[0]], errors="coerce")
    return out if out is not None and np.isfinite(out.astype(float)).all() else None


def _policy_numbers(table: pd.DataFrame) -> list[Facet]:
    """Parameters of the policy that every point has and that take three values or more."""
    out = []
    for name in ("kappa", "d", "k", "count", "rho", "beta"):
        if name in table and table[name].map(naming.present).all() and table[name].nunique() > 2:
            values = pd.to_numeric(table[name])
            out.append(Facet(name, values.map(lambda v, n=name: _parameter(n, v)), values))
    return out


def _thinned(rest: list[Facet], most: int) -> tuple[list[list[str]], str]:
    """Words of each facet that stay, so that their product is at most `most`."""
    kept = [list(dict.fromkeys(f.words)) for f in rest]
    product: Callable[[], int] = lambda: int(np.prod([len(k) for k in kept])) if kept else 1
    while product() > most:
        i = max(range(len(kept)), key=lambda j: (len(kept[j]), rest[j].name == "lambda"))
        words = kept[i]
        kept[i] = [words[0], words[len(words) // 2], words[-1]] if len(words) > 3 else (
            [words[0], words[-1]] if len(words) == 3 else words[-1:])
    out = [
        f"{len(k)} of {f.words.nunique()} values of {_GREEK.get(f.name, f.name)}"
        for f, k in zip(rest, kept)
        if len(k) < f.words.nunique()
    ]
    return kept, "Shown: " + ", ".join(out) + "." if out else ""
