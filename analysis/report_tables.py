# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of a report: the plan, the results, comparisons with the baseline, the check, and what
the names mean.
"""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck import naming
from potluck import report_html as html
from potluck.report_html import Column
from scipy import stats

#: What the first table of results shows, where the file has it; all else is in the second.
_WANTED = (
    *("max_load", "response", "queue_length", "response_q99"),
    *("success", "lost", "hops", "utilisation_q50", "utilisation_q95", "overloaded"),
    *("virtual_servers", "actions_natural", "actions_artificial"),
    *("cost", "cost_reduction", "tv", "tv_cross", "tv_floor"),
)
#: Comparisons that stand open.
_COMPARED = ("max_load", "response", "queue_length", "success", "utilisation_q95", "cost")
#: Rows of one table, and points of one page.
GROUP, MOST = 100, 600
#: Makes a table of some points from the parameters that tell them apart and its caption.
_Make = Callable[[pd.DataFrame, "list[str]", str], str]
#: Values that are listed one by one.
_LISTED = 12


# ---- numbers -------------------------------------------------------------------------------------


def plain(value: object, digits: int = 6) -> str:
    """A number or a word as `potluck show` prints it; a dash where it does not apply."""
    if not naming.present(value):
        return "–"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.number)):
        x = float(value)
        if math.isinf(x):
            return "∞" if x > 0 else "−∞"
        shown = f"{x:.0f}" if x.is_integer() and abs(x) < 1e15 else f"{x:.{digits}g}"
        return shown.replace("-", "−", 1) if shown.startswith("-") else shown
    return str(value)


def estimate(value: float, half: float) -> str:
    """Value ± half width of its interval, to two significant digits of the half width."""
    if not (np.isfinite(value) and np.isfinite(half) and half > 0):
        return plain(value, 3)
    decimals = 1 - math.floor(math.log10(half))
    if decimals > 9:
        shown = f"{value:.4g} ± {half:.1e}"
    else:
        shown = f"{value:.{max(decimals, 0)}f} ± {half:.{max(decimals, 0)}f}"
    return "−" + shown[1:] if shown.startswith("-") else shown


def half_width(error: float, replications: float) -> float:
    """Half the 95 % interval of a mean, by Student's law."""
    if not replications >= 2:
        return np.nan
    return float(error) * _student(int(replications) - 1)


@functools.lru_cache(maxsize=1024)
def _student(freedom: int) -> float:
    return float(stats.t.ppf(0.975, freedom))


def in_words(ds: xr.Dataset, table: pd.DataFrame) -> pd.DataFrame:
    """The same table with parameters that are flags as `true` and `false`."""
    out = table.copy()
    for name in potluck.parameters(ds):
        meanings = str(ds[name].attrs.get("flag_meanings", "")).split()
        if meanings:
            values = np.atleast_1d(ds[name].attrs.get("flag_values", np.arange(len(meanings))))
            words = {float(v): word for v, word in zip(values, meanings)}
            out[name] = [words.get(float(v), "") for v in table[name]]
    return out


# ---- which columns -------------------------------------------------------------------------------


def labels(ds: xr.Dataset, table: pd.DataFrame) -> list[str]:
    """Parameters that tell the points apart, without those that restate topology and n."""
    found = []
    for name in potluck.parameters(ds):
        if name == "label" or table[name].map(naming.present).sum() == 0:
            continue
        shown = table[name].map(plain)
        if shown[shown != "–"].nunique() < 2 and name not in ("topology", "policy", "balancer"):
            continue
        place = [c for c in ("topology", "n") if c in table]
        if name not in ("topology", "n") and len(place) == 2:
            if shown.groupby([table[c].map(plain) for c in place]).nunique().max() < 2:
                continue
        found.append(name)
    if len(found) > 1:  # one that is the same everywhere says nothing beside another
        found = [n for n in found if table[n].map(plain).nunique() > 1] or found[:1]
    if table["replications"].nunique() > 1:
        found.append("replications")
    return found or ["label"]


def _statistics(ds: xr.Dataset) -> dict[str, tuple[str, str]]:
    """Statistics by name, each with the variables of its value and of its standard error."""
    out = {}
    for name in potluck.statistics(ds):
        if name in ("replications", "stream") or name.startswith("se_"):
            continue
        short = name[5:] if name.startswith("mean_") else name
        values = np.asarray(ds[name].values)
        if values.dtype.kind not in "iuf" or np.isnan(values.astype(float)).all():
            continue
        out[short] = (name, f"se_{short}" if f"se_{short}" in ds else "")
    return out


def _meaning(ds: xr.Dataset, variable: str) -> str:
    told = str(ds[variable].attrs.get("long_name", ""))
    return told.removesuffix(": mean over replications")


def _unit(ds: xr.Dataset, variable: str) -> str:
    unit = str(ds[variable].attrs.get("units", ""))
    return "" if unit == "1" else unit


def _heads(ds: xr.Dataset, table: pd.DataFrame, names: Iterable[str]) -> list[Column]:
    return [
        Column(
            name,
            _unit(ds, name) if name in ds else "",
            "n" if table[name].dtype.kind in "iuf" else "s",
        )
        for name in names
    ]


# ---- points in groups ----------------------------------------------------------------------------


def groups(table: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, pd.DataFrame]]:
    """Points in the order of the file, split by as few parameters and into as few parts as keep
    tables short; each with what its points have in common.
    """
    if len(table) <= GROUP:
        return [("", table)]
    found: list[tuple[int, tuple[str, ...]]] = []
    settings = [n for n in names if n not in naming.POLICY_PARAMETERS]  # policies side by side
    for among, count in itertools.product((settings, names), (1, 2, 3)):
        for by in itertools.combinations(among, count) if not found else ():
            sizes = table.groupby(list(by), sort=False, dropna=False).size()
            if sizes.max() <= GROUP:
                found.append((len(sizes), by))
    by = list(min(found, key=lambda choice: choice[0])[1]) if found else list(names[:1])
    keys = table[by].apply(lambda p: ", ".join(t for n in by if (t := _told(n, p[n]))), axis=1)
    return [(str(key), table[keys == key]) for key in keys.unique()]


def _told(name: str, value: object) -> str:
    if not naming.present(value):
        return ""
    bare = name in ("topology", "policy", "balancer", "sides", "service", "destinations")
    return plain(value) if bare else f"{name} {plain(value)}"


def _grouped(
    table: pd.DataFrame, names: list[str], caption: str, make: _Make, where: str
) -> str:
    """A table for each group; beyond the first they are folded."""
    parts = groups(table.iloc[:MOST], names)
    out = []
    for i, (common, part) in enumerate(parts):
        left = [n for n in names if len(parts) == 1 or part[n].map(plain).nunique() > 1]
        left = left or names[:1]
        title = caption
        if common:
            title = f"<b>{html.text(common)}</b>: {caption[:1].lower()}{caption[1:]}"
        inner = make(part, left, title)
        if len(parts) == 1:
            out.append(inner)
        else:
            points = f"{len(part)} point{'s' * (len(part) != 1)}"
            out.append(html.folded(f"{common} ({points})", inner, unfolded=i == 0))
    if len(table) > MOST:
        out.append(
            html.paragraph(
                f"The first {MOST} of {len(table)} points; {where} prints all of them.", "quiet"
            )
        )
    return "".join(out)


# ---- sections ------------------------------------------------------------------------------------


def plan(ds: xr.Dataset, table: pd.DataFrame) -> str:
    """Points and replications, what varies and over which values, what is the same everywhere."""
    least, most = int(table["replications"].min()), int(table["replications"].max())
    played = f"{most}" if least == most else f"{least} to {most}"
    points = f"{len(table)} point{'s' * (len(table) != 1)}"
    out = [
        html.paragraph(
            f"{points} × {played} replication{'s' * (most != 1 or least != most)} = "
            f"{int(table['replications'].sum())} independent simulations. A point is one setting "
            "of every parameter."
        )
    ]
    varied, fixed = [], []
    for name in potluck.parameters(ds):
        if name == "label":
            continue
        here = table[name][table[name].map(naming.present)]
        if not len(here):
            continue
        values = list(dict.fromkeys(here.map(plain)))
        row = [f"<code>{html.text(name)}</code>", html.text(_values(values))]
        row += [html.text(_unit(ds, name)), html.prose(_meaning(ds, name))]
        (fixed if len(values) == 1 else varied).append(row)
    columns = [Column("parameter", kind="s"), Column("values", kind="t")]
    columns += [Column("unit", kind="s"), Column("meaning", kind="t")]
    if varied:
        out.append(html.table("What varies", columns, varied, "What varies"))
    if fixed:
        columns[1] = Column("value", kind="t")
        inner = html.table("The same at every point that has it", columns, fixed, "What is fixed")
        out.append(html.folded(f"What is fixed: {len(fixed)} parameters", inner))
    return "".join(out)


def _values(values: list[str]) -> str:
    if len(values) <= _LISTED:
        return ", ".join(values)
    first = ", ".join(values[: _LISTED - 3])
    return f"{first}, …, {values[-1]} ({len(values)} values)"


def results(ds: xr.Dataset, table: pd.DataFrame) -> str:
    """The main statistics, and all the others."""
    known = _statistics(ds)
    main = [name for name in _WANTED if name in known] or list(known)[:8]
    rest = [name for name in known if name not in main]
    names = labels(ds, table)
    out = [
        html.paragraph(
            "Means over replications ± half the width of their 95 % interval (Student). Names and "
            "units are told under Definitions.",
            "quiet",
        )
    ]
    where = "`potluck show --csv`"
    out.append(_grouped(table, names, "Main statistics", _maker(ds, main, known), where))
    if rest:
        inner = _grouped(table, names, "The other statistics", _maker(ds, rest, known), where)
        out.append(html.folded(f"The other {len(rest)} statistics", inner))
    return "".join(out)


def _maker(ds: xr.Dataset, names: list[str], known: dict[str, tuple[str, str]]) -> _Make:
    def make(part: pd.DataFrame, left: list[str], caption: str) -> str:
        here = [n for n in names if part[known[n][0]].map(naming.present).any()]
        columns = [Column("point"), *_heads(ds, part, left)]
        columns += [Column(n, _unit(ds, known[n][0])) for n in here]
        rows = []
        for point, row in part.iterrows():
            cells = [str(point)] + [html.text(plain(row[n])) for n in left]
            for name in here:
                value, error = known[name]
                half = half_width(row[error], row["replications"]) if error else np.nan
                if name == "tv_cross":  # over batches, so not these degrees of freedom
                    half = np.nan
                cells.append(estimate(float(row[value]), half))
            rows.append(cells)
        return html.table(caption, columns, rows, "Results")

    return make


def comparisons(ds: xr.Dataset, table: pd.DataFrame) -> str:
    """Every point to its baseline; a sentence where there is nothing to compare."""
    wanted = naming.baseline_values(ds)
    rule = "policy" if "policy" in table else "balancer"
    if not wanted or rule not in table or wanted["policy"] not in set(table[rule]):
        return ""
    try:
        pairs = potluck.compare(ds)
    except ValueError as reason:
        return html.paragraph(f"No comparison of replications: {reason}.")
    if pairs.empty:
        return html.paragraph("No replication of a point and of its baseline is there yet.")
    told = ", ".join(f"{n} {plain(v)}" for n, v in wanted.items())
    out = [
        html.paragraph(
            f"To the baseline ({told}), replication by replication: both met the same random "
            "words, so what they have in common cancels. Differences with half the width of their "
            "95 % interval (Student, paired), ratios with the ends of theirs (Fieller).",
            "quiet",
        )
    ]
    names = labels(ds, table)
    kept = list(dict.fromkeys(pairs["statistic"]))
    first = [n for n in _COMPARED if n in kept] or kept[:3]
    inner = []
    for name in [*first, *(n for n in kept if n not in first)]:
        rows = pairs[pairs["statistic"] == name].set_index("point")
        made = _compared(ds, table.loc[rows.index], names, rows, name)
        summary = f"{name}: {_meaning(ds, name)}"
        if name in first:
            out.append(html.folded(summary, made, unfolded=name == first[0]))
        else:
            inner.append(html.folded(summary, made))
    if inner:
        out.append(html.folded(f"The other {len(inner)} statistics", "".join(inner)))
    return "".join(out)


def _compared(
    ds: xr.Dataset, table: pd.DataFrame, names: list[str], pairs: pd.DataFrame, name: str
) -> str:
    unit = _unit(ds, name)

    def make(part: pd.DataFrame, left: list[str], caption: str) -> str:
        columns = [Column("point"), *_heads(ds, part, left), Column("baseline", "point")]
        columns += [Column("pairs"), Column("mean", unit), Column("of the baseline", unit)]
        columns += [Column("difference", unit), Column("ratio"), Column("from"), Column("to")]
        rows = []
        for point, row in part.iterrows():
            pair = pairs.loc[point]
            half = (pair["difference_high"] - pair["difference_low"]) / 2
            cells = [str(point)] + [html.text(plain(row[n])) for n in left]
            cells += [plain(pair["baseline"]), plain(pair["replications"])]
            cells += [plain(pair["mean"], 5), plain(pair["baseline_mean"], 5)]
            cells += [estimate(pair["difference"], half)]
            cells += _ratio(pair["ratio"], pair["ratio_low"], pair["ratio_high"])
            rows.append(cells)
        return html.table(caption, columns, rows, f"Comparison of {name}")

    return _grouped(
        table, names, f"<code>{html.text(name)}</code>", make, "`potluck.compare` in Python"
    )


def _ratio(value: float, low: float, high: float) -> list[str]:
    """With two significant digits of the width of the interval."""
    if not np.isfinite([value, low, high]).all() or high <= low:
        return [plain(x, 4) for x in (value, low, high)]
    digits = min(max(1 - math.floor(math.log10(high - low)), 0), 9)
    return [f"{x:.{digits}f}".replace("-", "−") for x in (value, low, high)]


def check(found: pd.DataFrame, summary: str) -> str:
    """The verdicts on points that a formula covers.

    Parameters
    ----------
    found, summary : what `check.check` and `check.summary` gave.
    """
    if not len(found):
        return html.paragraph("No formula covers a point of this file.")
    out = [html.paragraph(summary)]
    wrong = found["verdict"].isin(["DISAGREES", "VIOLATED"])
    columns = [Column("point"), Column("label", kind="s"), Column("quantity", kind="s")]
    columns += [Column("kind", kind="s"), Column("measured"), Column("theory"), Column("z")]
    columns += [Column("verdict", kind="s"), Column("formula", kind="t")]
    columns += [Column("reference", kind="t")]
    if wrong.any():
        out.append(
            html.table("<b>Against theory</b>", columns, _verdicts(found[wrong]), "Disagreements")
        )
    shown = found[~wrong].iloc[:MOST]
    if len(shown):
        inner = html.table("Held against theory", columns, _verdicts(shown), "Check")
        if len(shown) < (~wrong).sum():
            more = f"The first {MOST} of {(~wrong).sum()}; `python3 -m potluck check` prints all."
            inner += html.paragraph(more, "quiet")
        few = len(shown) <= 30
        out.append(html.folded(f"{len(shown)} quantities, one by one", inner, unfolded=few))
    return "".join(out)


def _verdicts(found: pd.DataFrame) -> list[list[str]]:
    rows = []
    for _, row in found.iterrows():
        verdict = html.text(row["verdict"])
        if row["verdict"] in ("DISAGREES", "VIOLATED"):
            verdict = f'<span class="bad">{verdict}</span>'
        elif row["verdict"] in ("agrees", "holds"):
            verdict = f'<span class="good">{verdict}</span>'
        se = float(row["se"]) if naming.present(row["se"]) else np.nan
        measured = plain(row["measured"], 6)
        if np.isfinite(se) and se > 0:
            measured += f" (se {se:.2g})"
        rows.append(
            [html.text(plain(row["point"])), html.text(row["label"]), html.text(row["quantity"])]
            + [html.text(row["kind"]), html.text(measured), plain(row["theory"], 6)]
            + [plain(row["z"], 2), verdict]
            + [html.text(plain(row["formula"])), html.text(plain(row["reference"]))]
        )
    return rows


def definitions(ds: xr.Dataset) -> str:
    """Every statistic of the tables: what it is, its unit, where it was defined."""
    rows = []
    known = _statistics(ds)
    for name, (variable, _) in known.items():
        attributes = ds[variable].attrs
        rows.append(
            [f"<code>{html.text(name)}</code>", html.prose(_meaning(ds, variable))]
            + [html.text(attributes.get("units", "")), html.text(attributes.get("reference", ""))]
        )
    columns = [Column("statistic", kind="s"), Column("meaning", kind="t")]
    columns += [Column("unit", kind="s"), Column("reference", kind="t")]
    told = html.table("Statistics of a replication, or of a point", columns, rows, "Definitions")
    if "tv" in known:
        told += html.paragraph(
            "Noise lifts `tv`; `tv_floor` is what it would be expected to show if the laws were "
            "equal; `tv_cross` is estimated from two halves of the data and biased low. The truth "
            "lies between `tv_cross` and `tv`, up to sampling error."
        )
    return told
