# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator against exact laws, fluid limits, published and independently simulated numbers.

    python3 laws.py PROGRAM [--tier ci|verify]

Expectations come from oracles.json (reference records) and from theory.py, the latter with other parameters too.

K comparisons share a false alarm rate of 1e-4: a mean passes when |got - expected| <= z s + tolerance with
z = Phi^-1(1 - 1e-4/(2K)) (Student's quantile where s rests on 50 batches), a histogram when its chi-square has
p >= 1e-4/K over cells that expect at least 10 (the others pooled), a rare count when its Poisson tails have. Seeds are
fixed, so an outcome is the same every time. A mean must also be known well enough to mean something (power): s at most
0.2 % of the value, or what the comparison states. `verify` plays ten times the replications.
"""
import argparse
import json
import math
import sys

import numpy as np
from scipy import stats

from _simulate import Outcome, Setting, Simulator
from theory_check import HERE, graph_distances, theory

ALPHA = 1e-4
FACTOR = {"ci": 1, "verify": 10}
SMALL = 1_000_000  # replications of a record of at most nine servers: P is known to 5e-4
OTHER = 400_000  # of other small systems: 8e-4


class Comparisons:
    """Collected first, since the bar depends on how many there are."""

    def __init__(self) -> None:
        self.tests: list[tuple] = []
        self.exact_failures: list[str] = []
        self.exact_passed = 0

    def mean(self, name: str, got: float, s: float, expected: float, *, tolerance: float = 1e-9, power: float | None = None,
             df: int = 0) -> None:
        """A mean with standard error s; `power`: the largest s accepted (default 0.2 % of the value)."""
        self.tests.append(("mean", name, got, s, expected, tolerance, 0.002 * abs(expected) if power is None else power, df))

    def counts(self, name: str, counts: np.ndarray, law: np.ndarray) -> None:
        """Counts of independent draws against their law (index = outcome; what the law lacks has probability 0)."""
        self.tests.append(("counts", name, counts, law))

    def same(self, name: str, counts: np.ndarray, other: np.ndarray) -> None:
        """Two histograms of independent draws from one unknown law."""
        self.tests.append(("same", name, counts, other))

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
            verdict = {"mean": self._mean, "counts": self._counts, "same": self._same, "rare": self._rare}[kind](level, *rest)
            failures += [f"{name}: {verdict}"] * bool(verdict)
        return self.exact_passed + len(self.tests) - (len(failures) - len(self.exact_failures)), failures

    @staticmethod
    def _mean(level, got, s, expected, tolerance, power, df) -> str:
        z = stats.t.isf(level / 2, df) if df else stats.norm.isf(level / 2)
        if not abs(got - expected) <= z * s + tolerance:
            return f"expected {expected:.9g}, got {got:.9g}, s {s:.3g}, off by {(got - expected) / s if s else math.inf:+.1f} s, z {z:.2f}"
        if s > power + tolerance:
            return f"s = {s:.3g} is above {power:.3g}: too few replications to prove anything"
        return ""

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
        p = stats.chi2.sf(((cells - means) ** 2 / means).sum(), len(cells) - 1) if len(cells) > 1 else 1.0
        return "" if p >= level else f"chi-square p = {p:.3g}, expected {means.round(1)}, got {cells}"

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
        p = min(1.0, 2 * min(stats.poisson.sf(count - 1, expected), stats.poisson.cdf(count, expected)))
        return "" if p >= level else f"expected {expected:.3g} events, got {count:.0f}"


# ---------------------------------------------------------------------------------------------------------------------


class Suite:
    """First every part names the settings it wants, then they are played, then the parts compare."""

    def __init__(self, program: str, factor: int) -> None:
        self.sim, self.factor, self.cmp = Simulator(program), factor, Comparisons()
        self.later: list = []
        self.records = json.loads((HERE / "oracles.json").read_text())

    def of(self, start: str) -> list[dict]:
        return [r for r in self.records if r["id"].startswith(start)]

    def want(self, topology: str, policy: str, balls: int, replications: int, then, **more) -> None:
        """Plays the setting; then(outcome, name) compares."""
        setting = self.sim.want(Setting(topology, policy, balls, replications * self.factor, **more))
        self.later.append((setting, then))

    def run(self) -> tuple[int, list[str]]:
        self.sim.play()
        for setting, then in self.later:
            if setting in self.sim.outcomes:
                then(self.sim.outcomes[setting], str(setting))
        for setting, outcome in self.sim.outcomes.items():
            self.conserved(setting, outcome)
        passed, failures = self.cmp.judge()
        return passed, failures + self.sim.broken

    # ---- comparisons shared by the parts

    def conserved(self, s: Setting, o: Outcome) -> None:
        """Identities of every outcome."""
        loads, total = np.arange(len(o.load_count)), o.n * o.replications
        self.cmp.exact(f"{s} servers", o.load_count.sum(), total)
        self.cmp.exact(f"{s} jobs", loads @ o.load_count, s.balls * o.replications)
        self.cmp.exact(f"{s} batches", np.abs(o.load_batch.sum(axis=0) - o.load_count).sum(), 0)
        self.cmp.exact(f"{s} replications", o.max_count.sum(), o.replications)
        self.cmp.exact(f"{s} mean max", np.arange(len(o.max_count)) @ o.max_count / o.replications, o.mean["max_load"])
        self.cmp.exact(f"{s} empty", o.load_count[0] / total, o.mean["empty"])
        self.cmp.exact(f"{s} gap", o.mean["max_load"] - s.balls / o.n, o.mean["gap"])
        variance = (loads - s.balls / o.n) ** 2 @ o.load_count / total
        self.cmp.exact(f"{s} variance", variance, o.mean["load_variance"])
        if s.balls and o.hop_count.sum():
            jobs = s.balls * o.replications
            self.cmp.exact(f"{s} jobs by cost", o.hop_count.sum(), jobs)
            self.cmp.exact(f"{s} cost", np.arange(len(o.hop_count)) @ o.hop_count / jobs, o.mean["cost"])
            self.cmp.exact(f"{s} moved", 1 - o.hop_count[0] / jobs, o.mean["moved"])

    def bins_with(self, name: str, o: Outcome, expected, support) -> None:
        """E[number of bins with load k], one comparison for each k; a rare load is a count."""
        sizes = np.bincount(np.arange(o.replications) % 50, minlength=50)
        for k, q in zip(support, expected):
            count = o.load_count[k] if k < len(o.load_count) else 0.0
            if q * o.replications < 100:
                self.cmp.rare(f"{name} bins with load {k}", count, q * o.replications)
                continue
            batch = o.load_batch[:, k]
            mean = count / o.replications
            s = math.sqrt((((batch - mean * sizes) ** 2).sum() / (50 * 49))) / sizes.mean()
            # The variance is that of a count: 100 events give s = 10 %, 1e6 give 0.1 %.
            self.cmp.mean(f"{name} bins with load {k}", mean, s, q, power=max(0.002 * q, 2 * math.sqrt(q / o.replications)),
                          df=49)

    def law(self, o: Outcome, name: str, law: theory.LoadLaw, cost: bool = True) -> None:
        """Everything a small system's exact law says."""
        self.cmp.counts(f"{name} max load", o.max_count, law.max_pmf())
        self.cmp.mean(f"{name} load variance", o.mean["load_variance"], o.se["load_variance"], law.variance_mean())
        k_max = int(law.states.max())
        self.bins_with(name, o, law.bins_with(k_max), range(k_max + 1))
        if o.min_count is not None:
            self.cmp.counts(f"{name} min load", o.min_count, law.min_pmf())
            self.cmp.mean(f"{name} max - min", *o.spread, law.spread_mean())
        if o.servers is not None:
            s = np.sqrt(np.maximum(law.bin_variances(), 0) / o.replications)
            for i, (got, q) in enumerate(zip(o.servers, law.bin_means())):
                self.cmp.mean(f"{name} mean load of server {i}", got, s[i], q)
        if cost and not math.isnan(law.cost):
            self.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], law.cost)

    def record(self, o: Outcome, name: str, r: dict) -> None:
        """A reference record of a small system."""
        p, quantity = r["parameters"], r["id"].split(".")[-1]
        name = f"{r['id']} {name}"
        if quantity in ("maxload_pmf", "minload_pmf"):
            law = np.zeros(max(p["support"]) + 1)
            law[p["support"]] = r["value"]
            self.cmp.counts(name, o.max_count if quantity == "maxload_pmf" else o.min_count, law)
        elif quantity == "hist":
            self.bins_with(name, o, r["value"], p["support"])
        elif quantity == "node_means":
            # The spread of one server's load: at most that of the whole system's loads about m/n, and bias.
            for i, q in enumerate(r["value"]):
                s = math.sqrt((o.mean["load_variance"] * o.n) / o.replications)
                self.cmp.mean(f"{name} server {i}", o.servers[i], s, q, power=0.01 * q)
        else:
            got, s = {"emax": (o.mean["max_load"], o.se["max_load"]), "gap": o.spread,
                      "var": (o.mean["load_variance"], o.se["load_variance"])}[quantity]
            self.cmp.mean(name, got, s, r["value"])

    def hops(self, o: Outcome, name: str, law: np.ndarray) -> None:
        """Jobs by cost where costs of different jobs are independent (theory.pair_cost says when); and their mean."""
        self.cmp.counts(f"{name} hops", o.hop_count, law)
        hops = np.arange(len(law))
        mean = float(hops @ law)
        s = math.sqrt((hops ** 2 @ law - mean ** 2) / o.hop_count.sum())
        self.cmp.mean(f"{name} mean cost", o.mean["cost"], s, mean, power=0.005 * mean)


SMALL_POLICIES = {"one": ["one-choice", "choices: {d: 1}"], "d2rep": ["choices: {d: 2}", "one-plus-beta: {beta: 1}"],
                  "d2dist": ["choices: {d: 2, distinct: true}", "pot", "unif-pot: {k: 1}"],
                  "d3rep": ["choices: {d: 3}"], "d3dist": ["choices: {d: 3, distinct: true}"], "left2": ["left: {d: 2}"]}


def small(suite: Suite) -> None:
    """static.small: every policy that has the law of the record's rule, on the complete graph."""
    for r in suite.of("static.small."):
        p = r["parameters"]
        for policy in SMALL_POLICIES[p["rule"]]:
            suite.want(f"complete: {{n: {p['n']}}}", policy, p["m"], SMALL,
                       lambda o, name, r=r: suite.record(o, name, r), keep="rows")


def small_theory(suite: Suite) -> None:
    """Other small systems, and counts of servers by load (method: occupancy) in place of servers."""
    cases = [(3, 7, "one", 1, "one-choice"), (3, 7, "replacement", 2, "choices: {d: 2}"), (2, 9, "distinct", 2, "pot"),
             (6, 9, "replacement", 4, "choices: {d: 4}"), (6, 9, "distinct", 4, "choices: {d: 4, distinct: true}"),
             (5, 11, "distinct", 5, "choices: {d: 5, distinct: true}"), (9, 12, "distinct", 2, "pot"),
             (9, 12, "replacement", 3, "choices: {d: 3}"), (5, 8, "left", 2, "left: {d: 2}"),
             (7, 9, "left", 3, "left: {d: 3}"), (8, 11, "left", 4, "left: {d: 4}"), (9, 10, "left", 3, "left: {d: 3}")]
    for n, m, rule, d, policy in cases:
        law = theory.sorted_chain(n, m, rule, d)
        for method in ("servers", "occupancy") if rule != "left" else ("servers",):
            suite.want(f"complete: {{n: {n}}}", policy, m, OTHER,
                       lambda o, name, law=law: suite.law(o, name, law), method=method)
    for beta in (0.3, 0.75):
        law = theory.sorted_chain(5, 9, "one-plus-beta", beta=beta)
        for method in ("servers", "occupancy"):
            suite.want("complete: {n: 5}", f"one-plus-beta: {{beta: {beta}}}", 9, OTHER,
                       lambda o, name, law=law: suite.law(o, name, law), method=method)
    # Two choices blind to the origin: a job stays where it arrived with probability 1/n, and with `ties: origin` also
    # when the origin is one of two different draws of equal load and would not have won: P(tie)/n more.
    n, m = 5, 8
    tie = np.mean([_equal_pair(theory.sorted_chain(n, t, "replacement", 2)) for t in range(m)])
    for ties, stays in (("fair", 1 / n), ("origin", (1 + tie) / n)):
        suite.want(f"complete: {{n: {n}}}", "choices: {d: 2}", m, OTHER, lambda o, name, q=1 - stays: suite.cmp.mean(
            f"{name} cost", o.mean["cost"], o.se["cost"], q), ties=ties)


def _equal_pair(law: theory.LoadLaw) -> float:
    """P(two independent uniform bins differ and have equal load)."""
    x = law.states
    equal = (x[:, :, None] == x[:, None, :]).sum(axis=(1, 2)) - x.shape[1]
    return float(law.probability @ equal) / x.shape[1] ** 2


def _topology(graph: str) -> str:
    """The job language's word for a graph of the records."""
    kind, *sizes = graph.split("-")
    kind = {"path": "line", "K": "complete"}.get(kind, kind)
    return f"{kind}: {{{'sides' if kind in ('grid', 'torus') else 'n'}: {'x'.join(sizes)}}}"


def graphs(suite: Suite) -> None:
    """static.graph: two choices on small graphs, both tie rules."""
    for r in suite.of("static.graph."):
        p = r["parameters"]
        policy = {"vertex": f"unif-pot: {{k: {p['khop']}}}", "invsq": f"invsq-pot: {{k: {p['khop']}}}", "edge": "edge"}[p["law"]]
        suite.want(_topology(p["graph"]), policy, p["m"], SMALL, lambda o, name, r=r: suite.record(o, name, r),
                   ties={"random": "fair", "home": "origin"}[p["tie"]], keep="servers")


#: topology of the job language, arguments of theory.distances, balls, (policy, k, u included) ...
GRAPH_CASES = [
    ("ring: {n: 9}", ("ring", {"n": 9}), 9, [("unif-pot", 2, False), ("unif-pot", 1, True)]),
    ("ring: {n: 6}", ("ring", {"n": 6}), 10, [("invsq-pot", 2, False), ("unif-pot", 40, False)]),
    ("ring: {n: 2}", ("ring", {"n": 2}), 9, [("unif-pot", 1, False)]),
    ("ring: {n: 3}", ("ring", {"n": 3}), 7, [("invsq-pot", 1, False), ("edge", 0, False)]),
    ("line: {n: 6}", ("line", {"n": 6}), 8, [("unif-pot", 2, False), ("invsq-pot", 3, False), ("pot", 0, False)]),
    ("line: {n: 2}", ("line", {"n": 2}), 5, [("edge", 0, False)]),
    ("grid: {sides: 2x2x2}", ("grid", {"sides": "2x2x2"}), 9, [("unif-pot", 1, False), ("invsq-pot", 2, False)]),
    ("grid: {sides: 2x4}", ("grid", {"sides": "2x4"}), 8, [("pot", 0, False), ("unif-pot", 2, True), ("edge", 0, False)]),
    ("grid: {sides: 1x3x2}", ("grid", {"sides": "1x3x2"}), 9, [("invsq-pot", 9, False), ("edge", 0, False)]),
    ("torus: {sides: 2x4}", ("torus", {"sides": "2x4"}), 12, [("unif-pot", 1, False), ("invsq-pot", 3, False)]),
    ("torus: {sides: 1x7}", ("torus", {"sides": "1x7"}), 9, [("unif-pot", 1, False), ("invsq-pot", 2, False)]),
    ("torus: {sides: 3x3}", ("torus", {"sides": "3x3"}), 9, [("unif-pot", 1, True), ("edge", 0, False)]),
    ("hypercube: {dim: 3}", ("hypercube", {"dim": 3}), 10, [("unif-pot", 2, False), ("invsq-pot", 3, False)]),
    ("hypercube: {dim: 1}", ("hypercube", {"dim": 1}), 6, [("unif-pot", 1, False)]),
    ("star: {n: 6}", ("star", {"n": 6}), 8, [("unif-pot", 1, False), ("invsq-pot", 2, False), ("pot", 0, False),
                                              ("unif-pot", 1, True), ("edge", 0, False)]),
    ("tree: {n: 7, children: 2}", ("tree", {"n": 7, "children": 2}), 9,
     [("unif-pot", 1, False), ("unif-pot", 2, False), ("invsq-pot", 4, False), ("edge", 0, False), ("pot", 0, False)]),
    ("tree: {n: 8, children: 3}", ("tree", {"n": 8, "children": 3}), 8, [("unif-pot", 1, False), ("invsq-pot", 2, False)]),
    ("complete: {n: 5}", ("complete", {"n": 5}), 8, [("unif-pot", 3, False), ("invsq-pot", 1, False), ("unif-pot", 1, True)]),
]


def _policy(policy: str, k: int, own: bool) -> str:
    if policy in ("pot", "edge"):
        return policy
    return f"{policy}: {{k: {k}{', self: included' if own else ''}}}"


def graph_theory(suite: Suite) -> None:
    """Graphs, sides 1 and 2, reaches beyond the diameter and tie rules beyond those of the records; loads and costs."""
    for topology, (kind, size), m, policies in GRAPH_CASES:
        d = theory.distances(kind, **size)
        for policy, k, own in policies:
            for ties in ("fair", "origin"):
                law = theory.labelled_chain(m, theory.pair_law(d, policy, k, own), ties, d)
                suite.want(topology, _policy(policy, k, own), m, OTHER, lambda o, name, law=law: suite.law(o, name, law),
                           ties=ties, keep="servers")


def max_load(suite: Suite) -> None:
    """static.maxload: one choice up to 4e6 bins (200 replications of the largest: s <= 1 %), d choices by count of bins."""
    for r in suite.of("static.maxload."):
        p, quantity = r["parameters"], r["id"].split(".")[-1]
        n, m = p["n"], p["m"]
        if quantity == "poisson_cdf":
            continue  # an approximation: theory_check.py
        if ".one." in r["id"]:
            replications = max(200, min(OTHER, 200_000_000 // m))
            if quantity == "pmf":
                pmf = theory.one_choice_max_pmf(n, m, max(p["support"]) + 4)
                pmf[p["support"]] = r["value"]
                pmf[pmf < 1e-12] = 0

                def then(o, name, r=r, pmf=pmf):
                    suite.cmp.counts(f"{r['id']} {name}", o.max_count, pmf / pmf.sum())
            else:
                def then(o, name, r=r):
                    suite.cmp.mean(f"{r['id']} {name}", o.mean["max_load"], o.se["max_load"], r["value"], tolerance=1e-6,
                                   power=0.01 * r["value"])
            suite.want(f"complete: {{n: {n}}}", "one-choice", m, replications, then)
            continue
        policies = [f"choices: {{d: {p['d']}{', distinct: true' if p['choices'] == 'distinct' else ''}}}"]
        policies += ["pot"] if p["d"] == 2 and p["choices"] == "distinct" else []
        replications = min(OTHER, 80_000_000 // m)
        for policy in policies:
            suite.want(f"complete: {{n: {n}}}", policy, m, replications,
                       lambda o, name, r=r: _choices_record(suite, o, name, r), keep="rows")
    for n, m, k_max in ((100, 300, 20), (1000, 1000, 12), (37, 5, 5), (500, 5000, 40)):
        pmf = theory.one_choice_max_pmf(n, m, k_max)
        for method in ("servers", "occupancy"):
            suite.want(f"complete: {{n: {n}}}", "one-choice", m, min(OTHER, 100_000_000 // m),
                       lambda o, name, pmf=pmf: suite.cmp.counts(f"{name} max load", o.max_count, pmf), method=method)
    for n, m, d, distinct in ((100, 120, 2, False), (100, 120, 2, True), (300, 150, 3, True), (1000, 900, 2, False)):
        cdf = [theory.choices_max_cdf(n, m, d, k, distinct) for k in (2, 3)]
        two, three = theory.choices_tail(n, m, d, distinct)[1:]
        for method in ("servers", "occupancy"):
            def then(o, name, cdf=cdf, two=two, three=three):
                _below(suite, o, name, cdf)
                _tails(suite, o, name, two, three)
            suite.want(f"complete: {{n: {n}}}", f"choices: {{d: {d}, distinct: {str(distinct).lower()}}}", m,
                       min(OTHER, 80_000_000 // m), then, method=method, keep="rows")


def _below(suite: Suite, o: Outcome, name: str, cdf: list[float]) -> None:
    """Max load <= 2, = 3, > 3 as three cells."""
    counts = np.array([o.max_count[:3].sum(), o.max_count[3:4].sum(), o.max_count[4:].sum()])
    suite.cmp.counts(f"{name} max load", counts, np.array([cdf[0], max(cdf[1] - cdf[0], 0), max(1 - cdf[1], 1e-12)]))


def _tails(suite: Suite, o: Outcome, name: str, two: float, three: float) -> None:
    """E[N_{>=k} | max <= 3]; bins of load 3 can be so rare that their number is a Poisson count."""
    suite.cmp.mean(f"{name} bins >= 2", *o.tails[2], two)
    if three * o.replications < 1000:
        suite.cmp.rare(f"{name} bins >= 3", o.tails[3][0] * o.max_count[:4].sum(), three * o.max_count[:4].sum())
    else:
        suite.cmp.mean(f"{name} bins >= 3", *o.tails[3], three, power=max(0.002 * three, 2 * math.sqrt(three / o.replications)))


def _choices_record(suite: Suite, o: Outcome, name: str, r: dict) -> None:
    name = f"{r['id']} {name}"
    if r["id"].endswith("cdf23"):
        _below(suite, o, name, r["value"])
    else:
        _tails(suite, o, name, *r["value"])


def fluid(suite: Suite) -> None:
    """static.fluid and other parameters: n = 65520 servers (divisible by 2, 3, 4, 5), where the fluid limit is off by
    less than 2/n; 100 replications give s_k to 2e-4 or better."""
    n, cases = 65520, {}
    for r in suite.of("static.fluid."):
        p = r["parameters"]
        if r["id"].endswith(".groups"):
            continue  # theory_check.py
        d = p.get("d", 1)
        policy = (f"left: {{d: {d}}}" if ".left" in r["id"] else f"one-plus-beta: {{beta: {p['beta']}}}"
                  if "beta" in p else "one-choice" if d == 1 else f"choices: {{d: {d}}}")
        cases[r["id"], policy, p["balls_per_bin"]] = dict(zip(p["support"], r["value"]))
    for policy, c, tail in (("choices: {d: 5}", 3, theory.fluid_choices(5, 3, 8)), ("choices: {d: 2}", 0.5, theory.fluid_choices(2, 0.5, 5)),
                            ("choices: {d: 3}", 16, theory.fluid_choices(3, 16, 22)), ("pot", 3, theory.fluid_choices(2, 3, 8)),
                            ("one-plus-beta: {beta: 1/2}", 2, theory.fluid_one_plus_beta(0.5, 2, 14)),
                            ("left: {d: 5}", 2, theory.fluid_left(5, 2, 7).mean(axis=0)),
                            ("left: {d: 2}", 2, theory.fluid_left(2, 2, 8).mean(axis=0))):
        cases["theory", policy, c] = dict(enumerate(tail))
    for (name, policy, c), tail in cases.items():
        methods = ("servers",) if policy.startswith("left") else ("servers", "occupancy")
        for method in methods:
            suite.want(f"complete: {{n: {n}}}", policy, round(c * n), 100,
                       lambda o, setting, name=name, tail=tail: _tail(suite, o, f"{name} {setting}", tail), method=method)


def _tail(suite: Suite, o: Outcome, name: str, tail: dict[int, float]) -> None:
    at_least = o.load_batch[:, ::-1].cumsum(axis=1)[:, ::-1]
    servers = o.n * o.replications
    for k, s_k in tail.items():
        batch = at_least[:, k] if k < at_least.shape[1] else np.zeros(50)
        if s_k * servers < 100:
            suite.cmp.rare(f"{name} servers with load >= {k}", batch.sum(), s_k * servers)
        elif k > 0:
            x = batch / (servers / 50)
            suite.cmp.mean(f"{name} s_{k}", x.mean(), x.std(ddof=1) / math.sqrt(50), s_k, tolerance=2 / o.n,
                           power=max(3e-4, 0.01 * s_k), df=49)


def simulated(suite: Suite) -> None:
    """static.sim: an independent simulator's numbers, with its standard errors; ours are no larger."""
    for r in suite.of("static.sim."):
        p, quantity = r["parameters"], r["id"].split(".")[-1]
        left = ".left" in r["id"]
        topology = f"complete: {{n: {p['n']}}}" if left else _topology(p["graph"])
        suite.want(topology, f"left: {{d: {p['d']}}}" if left else "unif-pot: {k: 1}", p["m"], max(p["reps"], 60),
                   lambda o, name, r=r, q=quantity: _simulated(suite, o, f"{r['id']} {name}", r, q))


def _simulated(suite: Suite, o: Outcome, name: str, r: dict, quantity: str) -> None:
    p = r["parameters"]
    if "support" in p:
        theirs = np.zeros(max(p["support"]) + 1)
        theirs[p["support"]] = np.rint(np.array(r["value"]) * p["reps"])
        suite.cmp.same(name, o.max_count, theirs)
        return
    row = {"gap": "gap", "var": "load_variance"}[quantity]
    suite.cmp.mean(name, o.mean[row], math.hypot(o.se[row], r["se"]), r["value"], power=2 * r["se"])


def hop_laws(suite: Suite) -> None:
    """nbhd: distances of the candidate. With fair ties on a vertex-transitive graph a job moves with probability 1/2
    whatever the distance, so hops of moved jobs have the candidate's law and are independent."""
    for r in suite.of("nbhd."):
        p = r["parameters"]
        policy = f"{'invsq-pot' if '.invsq.' in r['id'] else 'unif-pot'}: {{k: {p['k']}}}"
        topology = "ring: {n: 101}" if p["graph"].startswith("ring") else "torus: {sides: 17x19}"

        def then(o, name, r=r, p=p):
            law = np.zeros(max(p["support"]) + 1)
            law[p["support"]] = r["value"]
            suite.cmp.counts(f"{r['id']} {name}", np.concatenate([[0], o.hop_count[1:]]), law / law.sum())
        suite.want(topology, policy, 1000, 2000, then)
    for kind, size, ks in (("ring", {"n": 10}, (1, 4, 5, 7)), ("ring", {"n": 11}, (3, 5, 9)), ("torus", {"sides": "5x8"}, (1, 3, 5, 20)),
                           ("torus", {"sides": "3x4x5"}, (1, 2, 4)), ("torus", {"sides": "2x2x7"}, (1, 3)),
                           ("torus", {"sides": "101x103"}, (10, 60)), ("hypercube", {"dim": 6}, (1, 3, 6)),
                           ("hypercube", {"dim": 12}, (6,)), ("complete", {"n": 6}, (1, 2)), ("ring", {"n": 1000}, (20, 499, 500))):
        shell = theory.shells(kind, **size)
        topology = f"{kind}: {{{', '.join(f'{a}: {b}' for a, b in size.items())}}}"
        cases = [(_policy(p, k, own), theory.moved_law(theory.hop_law(shell, p, k, own)))
                 for k in ks for p, own in (("unif-pot", False), ("invsq-pot", False), ("unif-pot", True))]
        cases += [("pot", theory.moved_law(theory.hop_law(shell, "pot"))), ("edge", np.array([0.5, 0.5]))]
        # Blind to the origin: from anywhere to anywhere.
        cases += [(p, shell / shell.sum()) for p in ("choices: {d: 2}", "choices: {d: 3, distinct: true}", "left: {d: 2}",
                                                     "one-plus-beta: {beta: 0.4}")]
        cases += [("one-choice", np.array([1.0]))]
        for policy, law in cases:
            suite.want(topology, policy, 1500, 2000, lambda o, name, law=law: suite.hops(o, name, law))
    # `pot` moves half of the pairs on every connected graph.
    for kind, size in (("star", {"n": 9}), ("line", {"n": 30}), ("grid", {"sides": "5x7"}), ("grid", {"sides": "2x3x4"}),
                       ("tree", {"n": 20, "children": 3}), ("tree", {"n": 31, "children": 2})):
        law = theory.moved_law(theory.pot_hop_law(theory.distances(kind, **size)))
        topology = f"{kind}: {{{', '.join(f'{a}: {b}' for a, b in size.items())}}}"
        for policy, q in (("pot", law), ("edge", np.array([0.5, 0.5]))):
            suite.want(topology, policy, 1500, 2000, lambda o, name, q=q: suite.hops(o, name, q))


#: topology, policy, TV, mean max, cost with ties staying at u, fractions of load 0..4: n = m = 10^4 (hypercube 4096),
#: an independent simulator with 1000 replications; two thousand for the baseline.
TABLE = [
    ("ring: {n: 10000}", "unif-pot: {k: 1}", .0291, 4.08, .209, (.2547, .5131, .2105, .0211, .00066)),
    ("ring: {n: 10000}", "unif-pot: {k: 2}", .0164, 3.89, .327, (.2473, .5220, .2143, .0161, .00023)),
    ("ring: {n: 10000}", "unif-pot: {k: 5}", .0069, 3.43, .673, (.2421, .5280, .2178, .0121, .00006)),
    ("ring: {n: 10000}", "unif-pot: {k: 10}", .0035, 3.23, 1.246, (.2402, .5302, .2190, .0106, .00003)),
    ("ring: {n: 10000}", "invsq-pot: {k: 2}", .0217, 4.00, .260, (.2502, .5187, .2124, .0183, .00040)),
    ("ring: {n: 10000}", "invsq-pot: {k: 5}", .0161, 3.90, .345, (.2471, .5223, .2144, .0160, .00025)),
    ("ring: {n: 10000}", "invsq-pot: {k: 10}", .0142, 3.85, .423, (.2461, .5235, .2150, .0152, .00020)),
    ("torus: {sides: 100x100}", "unif-pot: {k: 1}", .0144, 3.80, .219, (.2465, .5224, .2159, .0151, .00017)),
    ("torus: {sides: 100x100}", "unif-pot: {k: 2}", .0055, 3.31, .375, (.2414, .5287, .2185, .0114, .00004)),
    ("torus: {sides: 100x100}", "unif-pot: {k: 5}", .0010, 3.10, .837, (.2389, .5317, .2200, .0094, .00001)),
    ("torus: {sides: 100x100}", "invsq-pot: {k: 2}", .0079, 3.50, .299, (.2427, .5273, .2176, .0124, .00007)),
    ("torus: {sides: 100x100}", "invsq-pot: {k: 5}", .0034, 3.23, .498, (.2402, .5302, .2191, .0105, .00003)),
    ("hypercube: {dim: 12}", "unif-pot: {k: 1}", .0047, 3.10, .226, (.2412, .5284, .2195, .0108, .00002)),
    ("ring: {n: 10000}", "one-choice", .201, 6.65, 0.0, ()),
]
#: The same with u among its own neighbours: TV, mean max, cost with fair ties.
INCLUDED = [("ring: {n: 10000}", 1, .079, 4.96, .333), ("ring: {n: 10000}", 2, .048, 4.38, .600),
            ("ring: {n: 10000}", 5, .022, 4.02, 1.364), ("torus: {sides: 100x100}", 1, .047, 4.37, .400),
            ("torus: {sides: 100x100}", 2, .019, 3.97, .769), ("torus: {sides: 100x100}", 5, .004, 3.33, 1.803)]


def published_table(suite: Suite) -> None:
    """Proximity policies at n = m = 10^4, both tie rules. Tolerances: half of the last digit given, and for TV the
    3e-4 by which noise lifts the plug-in estimate there; the table's standard errors: .016 for the mean maximum."""
    for topology, policy, tv, maximum, cost, loads in TABLE:
        balls = 4096 if topology.startswith("hypercube") else 10_000
        for ties in ("fair", "origin"):
            def then(o, name, tv=tv, maximum=maximum, cost=cost, loads=loads, ties=ties):
                digit = 0.0005 if tv > 0.1 else 0.00005
                suite.cmp.mean(f"{name} TV", o.point["tv"], math.hypot(o.point["se_tv_cross"], 1e-4), tv, tolerance=3e-4 + digit,
                               power=5e-4)
                suite.cmp.exact(f"{name} cross <= plug-in", max(o.point["tv_cross"] - o.point["tv"], 0), 0)
                suite.cmp.mean(f"{name} mean max", o.mean["max_load"], math.hypot(o.se["max_load"], 0.016), maximum,
                               tolerance=0.005, power=0.05)
                if ties == "origin":
                    suite.cmp.mean(f"{name} cost", o.mean["cost"], math.hypot(1.5 * o.se["cost"], 1e-9), cost, tolerance=0.0005,
                                   power=0.002 * max(cost, 0.01))
                for k, q in enumerate(loads):
                    x = o.load_batch[:, k] / (o.n * o.replications / 50)
                    s = x.std(ddof=1) / math.sqrt(50)
                    suite.cmp.mean(f"{name} fraction of load {k}", x.mean(), math.sqrt(2) * s, q,
                                   tolerance=0.5e-4 if k < 4 else 0.5e-5, power=max(0.002 * q, 1e-4 if k < 4 else 2e-5), df=49)
            suite.want(topology, policy, balls, 1000, then, ties=ties, baseline="pot")
    for topology, k, tv, maximum, cost in INCLUDED:
        def then(o, name, tv=tv, maximum=maximum, cost=cost):
            suite.cmp.mean(f"{name} TV", o.point["tv"], math.hypot(o.point["se_tv_cross"], 1e-4), tv, tolerance=8e-4, power=5e-4)
            suite.cmp.mean(f"{name} mean max", o.mean["max_load"], math.hypot(o.se["max_load"], 0.02), maximum, tolerance=0.005,
                           power=0.05)
            suite.cmp.mean(f"{name} cost", o.mean["cost"], o.se["cost"], cost, tolerance=0.0005)
        suite.want(topology, f"unif-pot: {{k: {k}, self: included}}", 10_000, 1000, then, baseline="pot")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--tier", choices=FACTOR, default="ci")
    options = parser.parse_args()
    suite = Suite(options.program, FACTOR[options.tier])
    for part in (small, small_theory, graphs, graph_theory, max_load, fluid, simulated, hop_laws, published_table):
        part(suite)
    passed, failures = suite.run()
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(suite.sim.outcomes)} points played, {len(suite.cmp.tests)} statistical comparisons")
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
