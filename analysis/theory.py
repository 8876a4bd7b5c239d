# SPDX-License-Identifier: GPL-3.0-or-later
"""All theory that results are held against: functions, and the list of formulas.

The functions stand in theory_balls, theory_places, theory_queues, theory_routing, theory_graphs
and theory_dht, and are all found here. FORMULAS says which of them predicts what of a result file,
of what kind it is, where it comes from and where it holds; `potluck.check` holds files against it.
A new formula is an entry of one of the lists in formulas_*.py.
"""
from __future__ import annotations

import pandas as pd

from potluck import formulas_balls, formulas_dht, formulas_places, formulas_queues
from potluck.formulas_base import Formula, Point
from potluck.theory_balls import *  # noqa: F403
from potluck.theory_dht import *  # noqa: F403
from potluck.theory_graphs import *  # noqa: F403
from potluck.theory_places import *  # noqa: F403
from potluck.theory_queues import *  # noqa: F403
from potluck.theory_routing import *  # noqa: F403

#: Every closed form and limit, see Formula.
FORMULAS: tuple[Formula, ...] = (
    *formulas_balls.FORMULAS,
    *formulas_places.FORMULAS,
    *formulas_queues.FORMULAS,
    *formulas_dht.FORMULAS,
)


def covering(point: Point) -> list[Formula]:
    """The formulas that hold at a point.

    Parameters
    ----------
    point : a row of what `potluck.frame` gives, with the attribute `model` of the file.
    """
    return [f for f in FORMULAS if point["model"] in f.models and f.covers(point)]


def index() -> pd.DataFrame:
    """The list of formulas as a table: name, quantity, models, kind, reference, range."""
    columns = ("name", "quantity", "models", "kind", "reference", "range")
    return pd.DataFrame(
        [
            [", ".join(f.models) if c == "models" else getattr(f, c) for c in columns]
            for f in FORMULAS
        ],
        columns=list(columns),
    )
