# SPDX-License-Identifier: GPL-3.0-or-later
"""How one quantity of one point is held against one formula.

Three statistics, chosen by what is known of the noise:

- a mean of replications: Student's t with the standard error of the file, or a normal law (where a
  skewness is stated, Pearson's III) with the exact standard deviation;
- a histogram of independent draws: P(X <= k) for every k, each a binomial test, Bonferroni over k;
- a histogram of draws that depend on each other within a replication: cells, neighbouring ones put
  together until enough is expected in each, each a t test over the batches of replications,
  Bonferroni over cells.

Fewer than 20 replications are too few to estimate a standard error: t tests want near normal means.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from potluck import formulas_queue_points
from potluck.formulas_base import Array, Formula, Point, number, servers

#: Fewest replications, or batches, whose scatter is trusted.
ENOUGH = 20
#: Fewest events that a cell of a histogram must lead one to expect.
_EVENTS = 500
#: Error of a computed probability, absolute.
_ROUNDING = 1e-11
#: Histograms are exact up to here.
_EXACT = 4096


@dataclass
class Found:
    """What a comparison found; `p` is NaN where there is no noise to compare with."""

    quantity: str
    measured: float
    se: float
    theory: float
    z: float
    p: float
    reason: str = ""  # why there is no verdict


def too_few(quantity: str, measured: float, theory: float, se: float = math.nan) -> Found:
    return Found(quantity, measured, se, theory, math.nan, math.nan, "too few")


def mean(formula: Formula, point: Point) -> Found | None:
    """A mean of replications."""
    name = formula.quantity
    if f"mean_{name}" not in point or not np.isfinite(point[f"mean_{name}"]):
        return None
    measured, se = float(point[f"mean_{name}"]), float(point.get(f"se_{name}", math.nan))
    count, theory = int(point["replications"]), float(formula.value(point))
    if not np.isfinite(theory):
        return None
    if formula.sure:
        near = abs(measured - theory) <= 1e-9 * max(1.0, abs(theory))
        return Found(name, measured, 0.0, theory, 0.0 if near else math.inf, 1.0 if near else 0.0)
    if formula.trials:
        return _share(name, measured, theory, count * float(formula.trials(point)))
    difference = measured - theory
    slack = float(formula.slack(point)) if formula.slack else 0.0
    beyond = math.copysign(max(0.0, abs(difference) - slack), difference)
    sd = float(formula.sd(point)) if formula.sd else math.nan
    if np.isfinite(sd):
        return _known(formula, point, (measured, theory, beyond), sd / math.sqrt(count))
    if count < ENOUGH and formula.kind in ("exact", "bound"):
        return too_few(name, measured, theory, se)
    total = float(formula.se(point)) if formula.se else math.nan
    if not np.isfinite(total):
        total = se + (float(formula.error(point)) if formula.error else 0.0)
    if not total > 0:
        if abs(beyond) <= 1e-12 * abs(theory):
            return Found(name, measured, 0.0, theory, 0.0, 1.0)
        return too_few(name, measured, theory, se)
    z = beyond / total
    if formula.side:
        p = float(stats.t.sf(formula.side * z, count - 1))
        return Found(name, measured, total, theory, z, p)
    return Found(name, measured, total, theory, z, float(2 * stats.t.sf(abs(z), max(count - 1, 1))))


def _share(name: str, measured: float, most: float, trials: float) -> Found:
    """A share of events each less probable than `most` whatever came before: Chernoff's bound."""
    se = math.sqrt(most * (1 - most) / trials)
    z = (measured - most) / se if se > 0 else math.copysign(math.inf, measured - most)
    if measured <= most * (1 + 1e-12):
        return Found(name, measured, se, most, min(z, 0.0) if se > 0 else 0.0, 1.0)
    far = measured * math.log(measured / most) if most > 0 else math.inf
    if measured < 1 and most < 1:
        far += (1 - measured) * math.log((1 - measured) / (1 - most))
    return Found(name, measured, se, most, z, math.exp(-trials * far))


def _known(
    formula: Formula, point: Point, values: tuple[float, float, float], se: float
) -> Found:
    """With the exact standard error."""
    measured, theory, beyond = values
    if se <= 0:
        near = abs(beyond) <= 1e-9 * max(1.0, abs(theory))
        z, p = (0.0, 1.0) if near else (math.copysign(math.inf, beyond), 0.0)
        return Found(formula.quantity, measured, 0.0, theory, z, p)
    z = beyond / se
    p = 2 * float(stats.norm.sf(abs(z)))
    if formula.skew:
        if point["replications"] < ENOUGH:
            return too_few(formula.quantity, measured, theory, se)
        law = stats.pearson3(float(formula.skew(point)) / math.sqrt(point["replications"]))
        p = max(p, 2 * float(law.sf(z) if z > 0 else law.cdf(z)))
    return Found(formula.quantity, measured, se, theory, z, min(1.0, p))


def draws(formula: Formula, point: Point, counts: Array) -> Found | None:
    """A histogram of independent draws."""
    total = float(counts.sum())
    law = np.asarray(formula.value(point), dtype=float)
    if total <= 0:
        return None
    size = min(max(len(law), int(np.flatnonzero(counts)[-1]) + 1), _EXACT, len(counts))
    known = np.zeros(size, dtype=bool)
    known[: len(law)] = np.isfinite(law[:size])
    known[len(law) :] = np.nansum(law) > 1 - 1e-9  # a law that says all, and counts beyond it
    below = np.cumsum(np.pad(np.nan_to_num(law[:size]), (0, max(0, size - len(law)))))
    below = np.clip(below, 0, 1)
    seen = np.cumsum(counts[:size])
    at = np.flatnonzero(known & ((below < 1) | (seen < total)) & ((below > 0) | (seen > 0)))
    if not at.size:
        return Found(f"{formula.quantity}", 1.0, 0.0, 1.0, 0.0, 1.0)
    f, x = below[at], seen[at]
    few = stats.binom.cdf(x, total, np.clip(f - _ROUNDING, 0, 1))
    many = stats.binom.sf(x - 1, total, np.clip(f + _ROUNDING, 0, 1))
    p = np.minimum(1.0, 2 * np.minimum(few, many))
    worst = int(np.argmin(p))
    se = math.sqrt(f[worst] * (1 - f[worst]) / total)
    share = float(x[worst] / total)
    adjusted = min(1.0, float(p[worst]) * len(at))
    z = math.copysign(_normal(adjusted), share - f[worst])
    return Found(
        f"{formula.quantity} up to {at[worst]}", share, se, float(f[worst]), z, adjusted
    )


def batches(
    formula: Formula, point: Point, counts: Array, batch: Array | None
) -> Found | None:
    """A histogram whose draws depend on each other within a replication."""
    total = float(counts.sum())
    law = np.asarray(formula.value(point), dtype=float)[:_EXACT]
    if total <= 0 or not len(law):
        return None
    events = _events(point, total)
    cells = _cells(law, events)
    if formula.kind not in ("exact", "bound"):
        return shown(formula, counts, law, point)
    kept = batch[batch.sum(axis=1) > 0] if batch is not None else np.zeros((0, len(counts)))
    share = counts / total
    if len(kept) < ENOUGH or len(cells) < 2:
        return too_few(formula.quantity, float(share[0]), float(law[0]))
    weight = kept.sum(axis=1)
    ends = [*cells[1:], len(counts)]
    width = max(len(counts), len(law))
    padded = np.pad(law, (0, width - len(law)))
    expected = np.add.reduceat(padded, cells)
    expected[-1] = 1 - expected[:-1].sum()
    got = np.array([kept[:, a:b].sum(axis=1) for a, b in zip(cells, ends)])
    off = got - expected[:, None] * weight
    mean_off = off.sum(axis=1) / weight.sum()
    spread = off - mean_off[:, None] * weight
    b = len(kept)
    se = np.sqrt((spread**2).sum(axis=1) * b / (b - 1)) / weight.sum()
    slack = float(formula.slack(point)) if formula.slack else 0.0
    beyond = np.sign(mean_off) * np.maximum(0.0, np.abs(mean_off) - slack)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(se > 0, beyond / se, 0.0)
    p = 2 * stats.t.sf(np.abs(z), b - 1)
    worst = int(np.argmin(p))
    last = "on" if worst == len(cells) - 1 else str(ends[worst] - 1)
    name = f"{formula.quantity} = {cells[worst]}"
    if last != str(cells[worst]):
        name += f"..{last}" if last != "on" else " and more"
    adjusted = min(1.0, float(p[worst]) * len(cells))
    return Found(
        name, float(expected[worst] + mean_off[worst]), float(se[worst]), float(expected[worst]),
        math.copysign(_normal(adjusted), mean_off[worst]), adjusted,
    )


def _normal(p: float) -> float:
    """The normal quantile of a two-sided probability: how surprising it is, as a z-score."""
    return float(stats.norm.isf(max(p, 1e-300) / 2))


def _events(point: Point, total: float) -> float:
    """How many events of about their own the counts are made of: servers, or of a queue its times
    apart by a relaxation time.
    """
    if point["model"] != "queue":
        return total
    spans = formulas_queue_points.horizon(point) / formulas_queue_points.relaxation(point)
    return spans * number(point, "n", servers(point)) * point["replications"]


def _cells(law: Array, events: float) -> list[int]:
    """Where cells begin: as few loads as make up enough events; the last is open."""
    starts, inside = [0], 0.0
    for k, p in enumerate(np.nan_to_num(law)):
        inside += p * events
        rest = float(1 - np.nansum(law[: k + 1])) * events
        if inside >= _EVENTS and rest >= _EVENTS:
            starts.append(k + 1)
            inside = 0.0
    return starts


def shown(formula: Formula, counts: Array, law: Array, point: Point) -> Found:
    """The cell in which a histogram is furthest from a limit."""
    share = counts[:_EXACT] / counts.sum()
    width = max(len(share), len(law))
    share, expected = (np.pad(x, (0, width - len(x))) for x in (share, np.nan_to_num(law)))
    worst = int(np.argmax(np.abs(share - expected)))
    difference = float(share[worst] - expected[worst])
    se = math.nan
    return Found(
        f"{formula.quantity} = {worst}", float(share[worst]), se,
        float(expected[worst]), difference / se, math.nan,
    )
