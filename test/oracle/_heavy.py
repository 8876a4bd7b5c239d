# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits of M/G/1 with Pareto services, where means are no help: their law, on a grid."""
from __future__ import annotations

import numpy as np

Array = np.ndarray


def residual(shape: float, x: Array) -> Array:
    """P(what is left of a Pareto service of mean 1 <= x) at a random time."""
    low = (shape - 1) / shape
    beyond = low**shape * np.maximum(x, low) ** (1 - shape) / (shape - 1)
    return np.where(x < low, x, 1 - beyond)


def compound(rho: float, mass: Array) -> Array:
    """The law of a sum of K lattice variables, P(K >= k) = rho^k (Panjer's recursion)."""
    out = np.empty(len(mass))
    out[0] = (1 - rho) / (1 - rho * mass[0])
    ahead = mass[1:][::-1].copy()
    for k in range(1, len(mass)):
        out[k] = rho / (1 - rho * mass[0]) * (ahead[len(ahead) - k :] @ out[:k])
    return out


class ParetoWait:
    """The wait of M/G/1 is a geometric sum of residual services (Pollaczek, Khinchine; Asmussen,
    "Applied probability and queues", VIII.5). Residuals rounded down to a grid give an upper bound
    of P(W <= x), rounded up a lower one; the error of their mean is of first order in the step, so
    two steps are extrapolated to none.
    """

    def __init__(self, rho: float, shape: float, step: float = 0.01, end: float = 60.0) -> None:
        self.laws = [self._law(rho, shape, h, end) for h in (step, step / 2)]

    @staticmethod
    def _law(rho: float, shape: float, step: float, end: float) -> tuple[Array, Array]:
        grid = step * np.arange(round(end / step) + 1)
        cdf = residual(shape, np.append(grid, grid[-1] + step))
        down = compound(rho, np.diff(cdf))  # [0, h) is 0, [h, 2h) is h, ..
        up = compound(rho, np.diff(cdf[:-1], prepend=0.0))
        return grid, (np.cumsum(up) + np.cumsum(down)) / 2

    def truncated(self, c: float) -> float:
        """E[min(W, c)], c at most the end of the grid."""
        parts = []
        for grid, law in self.laws:
            inside = grid < c + grid[1] / 2
            parts.append(float(np.trapz(1 - law[inside], grid[inside])))
        return 2 * parts[1] - parts[0]

    def quantile(self, q: float) -> float:
        parts = [float(np.interp(q, law, grid)) for grid, law in self.laws]
        return 2 * parts[1] - parts[0]
