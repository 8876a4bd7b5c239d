# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons of simulated numbers with expected ones, with a common false alarm rate; laws.py says
the rule.
"""
import math

import numpy as np
from scipy import stats

#: Probability that a right simulator fails any of the comparisons, had the seeds not been fixed.
ALPHA = 1e-4


class Comparisons:
    """Collected first, since the bar depends on how many there are."""

    def __init__(self) -> None:
        self.tests: list[tuple] = []
        self.exact_failures: list[str] = []
        self.exact_passed = 0

    def mean(
        self,
        name: str,
        got: float,
        s: float,
        expected: float,
        *,
        tolerance: float = 1e-9,
        power: float | None = None,
        df: int = 0,
    ) -> None:
        """A mean with standard error s; `power`: the largest s accepted (default 0.2 % of the
        value).
        """
        self.tests.append(
            (
                "mean",
                name,
                got,
                s,
                expected,
                tolerance,
                0.002 * abs(expected) if power is None else power,
                df,
            )
        )

    def counts(self, name: str, counts: np.ndarray, law: np.ndarray) -> None:
        """Counts of independent draws against their law (index = outcome; what the law lacks has
        probability 0).
        """
        self.tests.append(("counts", name, counts, law))

    def same(self, name: str, counts: np.ndarray, other: np.ndarray) -> None:
        """Two histograms of independent draws from one unknown law."""
        self.tests.append(("same", name, counts, other))

    def above(self, name: str, got: float, s: float, *, df: int, power: float = math.inf) -> None:
        """A mean that is larger than 0, clearly so unless `power` is given: then it must not be
        below 0, known up to a standard error of `power`.
        """
        self.tests.append(("above", name, got, s, df, power))

    def chance(self, name: str, p: float) -> None:
        """The p-value of a test made elsewhere."""
        self.tests.append(("chance", name, p))

    def rare(self, name: str, count: float, expected: float) -> None:
        """A count so small that it is Poisson."""
        self.tests.append(("rare", name, count, expected))

    def exact(self, name: str, got: float, expected: float, tolerance: float = 1e-9) -> None:
        """No randomness."""
        if abs(got - expected) <= tolerance * max(1.0, abs(expected)):
            self.exact_passed += 1
        else:
            self.exact_failures.append(f"{name}: expected exactly {expected!r}, got {got!r}")

    def judge(self) -> tuple[int, list[str]]:
        """Number that passed, and the failures."""
        failures = list(self.exact_failures)
        level = ALPHA / max(len(self.tests), 1)
        for kind, name, *rest in self.tests:
            verdict = {
                "mean": self._mean,
                "counts": self._counts,
                "same": self._same,
                "rare": self._rare,
                "above": self._above,
                "chance": self._chance,
            }[kind](level, *rest)
            failures += [f"{name}: {verdict}"] * bool(verdict)
        return (
            self.exact_passed + len(self.tests) - (len(failures) - len(self.exact_failures)),
            failures,
        )

    @staticmethod
    def _mean(level, got, s, expected, tolerance, power, df) -> str:
        z = stats.t.isf(level / 2, df) if df else stats.norm.isf(level / 2)
        if not abs(got - expected) <= z * s + tolerance:
            off = (got - expected) / s if s else math.inf
            return (
                f"expected {expected:.9g}, got {got:.9g}, "
                f"s {s:.3g}, off by {off:+.1f} s, z {z:.2f}"
            )
        if s > power + tolerance:
            return f"s = {s:.3g} is above {power:.3g}: too few replications to prove anything"
        return ""

    @staticmethod
    def _above(level, got, s, df, power) -> str:
        z = stats.t.isf(level, df)
        if math.isinf(power):
            good = got > z * s
        else:
            good = got >= -z * s and s <= power
        return "" if good else f"{got:.4g} is not above 0: s {s:.3g}, t {z:.2f}, power {power:g}"

    @staticmethod
    def _chance(level, p) -> str:
        return "" if p >= level else f"p = {p:.3g}"

    @staticmethod
    def _counts(level, counts, law) -> str:
        size = max(len(counts), len(law))
        counts, law = np.pad(counts, (0, size - len(counts))), np.pad(law, (0, size - len(law)))
        total = counts.sum()
        impossible = counts[law <= 0].sum()
        if impossible:
            return f"{impossible:.0f} outcomes of probability 0"
        expected = total * law
        big = expected >= 10
        cells = np.append(counts[big], counts[~big].sum())
        means = np.append(expected[big], max(total - expected[big].sum(), 0.0))
        if means[-1] < 10:  # too small for a cell of its own: to the smallest, or judged alone
            if stats.poisson.sf(cells[-1] - 1, means[-1] + 1e-9 * total) < level:
                return f"expected {means[-1]:.3g} rare outcomes, got {cells[-1]:.0f}"
            cells, means = cells[:-1], means[:-1]
        means = means * cells.sum() / means.sum()
        p = (
            stats.chi2.sf(((cells - means) ** 2 / means).sum(), len(cells) - 1)
            if len(cells) > 1
            else 1.0
        )
        return (
            "" if p >= level else f"chi-square p = {p:.3g}, expected {means.round(1)}, got {cells}"
        )

    @staticmethod
    def _same(level, counts, other) -> str:
        size = max(len(counts), len(other))
        table = np.array([np.pad(x, (0, size - len(x))) for x in (counts, other)])
        pooled = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
        big = pooled >= 10
        table = np.column_stack([table[:, big], table[:, ~big].sum(axis=1)])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] < 2:
            return ""
        p = stats.chi2_contingency(table, correction=False)[1]
        return "" if p >= level else f"chi-square p = {p:.3g} between {table[0]} and {table[1]}"

    @staticmethod
    def _rare(level, count, expected) -> str:
        p = min(
            1.0, 2 * min(stats.poisson.sf(count - 1, expected), stats.poisson.cdf(count, expected))
        )
        return "" if p >= level else f"expected {expected:.3g} events, got {count:.0f}"
