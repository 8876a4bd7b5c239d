# SPDX-License-Identifier: GPL-3.0-or-later
"""Formulas of the model `balls` on the plane and on a circle of arcs."""
from __future__ import annotations

import functools
import math

import numpy as np

from potluck import theory_balls as balls
from potluck import theory_places as places
from potluck.formulas_base import Array, Formula, Point, flag, number


def _plane(p: Point, *policies: str) -> bool:
    return p.get("topology") == "plane" and p.get("policy") in policies


def _uniform(p: Point, *policies: str) -> bool:
    """Servers at uniform points of the torus, others in every replication; what is round the torus
    does not matter.
    """
    drawn = p.get("topology_servers") == "uniform" and p.get("layout") == "per-replication"
    return _plane(p, *policies) and drawn and flag(p, "torus") and p["n"] >= 100


def _blind(p: Point) -> bool:
    """Servers chosen without a look at where they are, and these uniform points."""
    drawn = p.get("topology_servers") == "uniform" and p.get("layout") == "per-replication"
    return _plane(p, "pot", "choices") and drawn and p.get("ties") == "fair"


def _grid(p: Point, *policies: str) -> bool:
    on_grid = p.get("topology_servers") == "grid" and flag(p, "torus") and p["n"] >= 9
    square = math.isqrt(int(number(p, "n", 0))) ** 2 == p.get("n")
    return _plane(p, *policies) and on_grid and square


@functools.lru_cache(None)
def _cell_pairs(n: int, m: int) -> float:
    """E[ceil(M / 2)], M the fullest of 3n cells, all alike, after m balls."""
    total, k = 0.0, 0
    while (above := 1 - balls.one_choice_max_cdf(3 * n, m, 2 * k)) > 1e-12:
        total, k = total + above, k + 1
    return total


PLANE = [
    Formula(
        "distance of two uniform points", "cost", "exact",
        "theory_places.TORUS_DISTANCE (Ghosh 1951)",
        "`pot`, `choices`; fair ties; servers at uniform points", _blind,
        lambda p: places.TORUS_DISTANCE if flag(p, "torus") else places.SQUARE_DISTANCE,
    ),
    Formula(
        "distance of the nearest server", "cost", "exact", "theory_places.plane_distance",
        "`nearest`; torus, uniform servers, n from 100 on",
        lambda p: _uniform(p, "nearest"), lambda p: places.plane_distance(int(p["n"])),
    ),
    Formula(
        "distance of the nearest server", "cost", "exact", "theory_places.grid_distance",
        "`nearest`; square grid on a torus, n from 9 on",
        lambda p: _grid(p, "nearest"), lambda p: places.grid_distance(1) / math.sqrt(p["n"]),
    ),
    Formula(
        "mean distance of the two nearest", "cost", "exact", "theory_places.grid_distance",
        "`spot`; square grid on a torus, n from 9 on; fair ties",
        lambda p: _grid(p, "spot") and p.get("ties") == "fair",
        lambda p: (places.grid_distance(1) + places.grid_distance(2)) / 2 / math.sqrt(p["n"]),
    ),
    Formula(
        "no nearer than the nearest", "cost", "bound", "theory_places.plane_distance",
        "`spot`; torus, uniform servers, n from 100 on",
        lambda p: _uniform(p, "spot"), lambda p: places.plane_distance(int(p["n"])), side=-1,
    ),
    Formula(
        "no further than the second nearest", "cost", "bound", "theory_places.plane_distance",
        "`spot`; torus, uniform servers, n from 100 on",
        lambda p: _uniform(p, "spot"), lambda p: places.plane_distance(int(p["n"]), 2), side=1,
    ),
    Formula(
        "variance of areas", "load_variance", "exact",
        "theory_places.nearest_variance (Gilbert 1962)",
        "`nearest`; torus, uniform servers, n from 100 on",
        lambda p: _uniform(p, "nearest"),
        lambda p: places.nearest_variance(int(p["n"]), int(p["balls"])),
    ),
    Formula(
        "half of the fullest cell", "max_load", "bound",
        "Panigrahy et al. 2022: 3n Delaunay edges at most, the fullest shared by two servers",
        "`spot` on the plane; any n and m",
        lambda p: _plane(p, "spot") and p["n"] >= 3 and p["balls"] <= 20 * p["n"],
        lambda p: _cell_pairs(int(p["n"]), int(p["balls"])), side=-1,
    ),
    Formula(
        "fluid limit", "load_count", "limit", "Mitzenmacher 2001, equation 1",
        "`pot`, `choices`; n to infinity; off by O(1/n)",
        lambda p: _plane(p, "pot", "choices") and p["balls"] <= 100 * p["n"],
        lambda p: _fluid(int(number(p, "d", 2)), p["balls"] / p["n"]),
    ),
]


@functools.lru_cache(None)
def _fluid(d: int, c: float) -> Array:
    most = int(c) + 12 if d > 1 else int(c + 12 * math.sqrt(c) + 20)
    return -np.diff(np.append(balls.fluid_choices(d, c, most), 0.0))


# -------------------------------------------------------------------------------------------------
# Circle


def _arcs(p: Point) -> bool:
    drawn = p.get("topology") == "arcs" and p.get("layout") == "per-replication"
    return drawn and p["n"] >= 2


def _owner(p: Point) -> bool:
    return _arcs(p) and p.get("policy") == "nearest"


@functools.lru_cache(None)
def shares(n: int, positions: int) -> dict[str, float]:
    return places.shares(n, positions)


def _share(p: Point, what: str) -> float:
    n = int(p["n"])
    scale = n * n if what == "variance" else n
    return shares(n, int(p["virtual"]))[what] / scale


def _arc_loads(p: Point) -> Array:
    n, m, v = int(p["n"]), int(p["balls"]), int(p["virtual"])
    most = min(m, 4000)
    return places.arcs_load(n, m, most, v)


@functools.lru_cache(None)
def _arc_max(n: int, m: int) -> Array:
    """P(max = k); below the mean and beyond 1 - 1e-9 in one step each."""
    below, k = [], 0
    while not below or below[-1] < 1 - 1e-9:
        below.append(0.0 if k < m / n else places.arcs_max_cdf(n, m, k))
        k += 1
    return np.diff(np.concatenate([[0.0], np.maximum.accumulate(below)]))


def _arc_fluid(p: Point) -> Array:
    n, m, v = int(p["n"]), int(p["balls"]), int(p["virtual"])
    return _arc_fluid_law(v, int(p["d"]), m / n)


@functools.lru_cache(None)
def _arc_fluid_law(v: int, d: int, c: float) -> Array:
    return -np.diff(np.append(places.fluid_arcs(v, d, c, int(8 * c) + 20), 0.0))


ARCS = [
    Formula(
        "largest share", "max_share", "exact", "theory_places.shares (David, Nagaraja 2003)",
        "`arcs`, others in every replication; n from 2 on", _arcs,
        lambda p: _share(p, "max"), sd=lambda p: _share(p, "max_sd"), skew=lambda p: 1.3,
    ),
    Formula(
        "smallest share", "min_share", "exact", "theory_places.shares (David, Nagaraja 2003)",
        "`arcs`, others in every replication; n from 2 on", _arcs,
        lambda p: _share(p, "min"), sd=lambda p: _share(p, "min_sd"),
        skew=lambda p: 2.0 if p["virtual"] == 1 else 1.0,
        slack=lambda p: 2.0**-62,
    ),
    Formula(
        "variance of shares", "share_variance", "exact", "Dirichlet: (n-1)/(nV+1) / n^2",
        "`arcs`, others in every replication; n from 20 on",
        lambda p: _arcs(p) and p["n"] >= 20, lambda p: _share(p, "variance"),
        slack=lambda p: 1e-7 / p["n"] ** 2,
    ),
    Formula(
        "beta-binomial loads", "load_count", "exact",
        "theory_places.arcs_load (Johnson, Kotz 1977)",
        "`nearest` on `arcs`, others in every replication", _owner, _arc_loads,
    ),
    Formula(
        "variance of beta-binomial loads", "load_variance", "exact", "theory_places.arcs_variance",
        "`nearest` on `arcs`, others in every replication; n from 100 on",
        lambda p: _owner(p) and p["n"] >= 100,
        lambda p: places.arcs_variance(int(p["n"]), int(p["balls"]), int(p["virtual"])),
    ),
    Formula(
        "maximum of Bose-Einstein loads", "max_load_count", "exact",
        "theory_places.arcs_max_cdf (Johnson, Kotz 1977)",
        "`nearest` on `arcs` with one arc each; n to 1000, m to 10 n",
        lambda p: _owner(p) and p["virtual"] == 1 and p["n"] <= 1000 and p["balls"] <= 10 * p["n"],
        lambda p: _arc_max(int(p["n"]), int(p["balls"])), draws=True,
    ),
    Formula(
        "fluid limit", "load_count", "limit", "theory_places.fluid_arcs (Byers et al. 2004)",
        "`points` on `arcs`, fair ties; n to infinity; m to 10 n, V to 16",
        lambda p: _arcs(p) and p.get("policy") == "points" and p.get("ties") == "fair"
        and p["balls"] <= 10 * p["n"] and p["virtual"] <= 16,
        _arc_fluid,
    ),
]

FORMULAS = [*PLANE, *ARCS]
