# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings to play and what to compare afterwards; laws.py fills it."""
import json
import math

import numpy as np

from _compare import Comparisons
from _simulate import Outcome, Setting, Simulator
from theory_check import HERE, theory


class Suite:
    """First every part names the settings it wants, then they are played, then the parts
    compare.
    """

    def __init__(self, program: str, factor: int) -> None:
        self.sim, self.factor, self.cmp = Simulator(program), factor, Comparisons()
        self.later: list = []
        self.groups: list = []
        self.variants = 1000
        self.records = json.loads((HERE / "oracles.json").read_text())

    def of(self, start: str) -> list[dict]:
        return [r for r in self.records if r["id"].startswith(start)]

    def sample(self, cases: list) -> list:
        """Every third of many cases in CI, all of them at high power."""
        return cases[:: 1 if self.factor > 1 else 3]

    def setting(self, topology: str, policy: str, balls: int, replications: int, **more) -> Setting:
        return Setting(topology, policy, balls, replications * self.factor, **more)

    def alone(self) -> int:
        """A variant that no other setting has: its job and its random words are its own."""
        self.variants += 1
        return self.variants

    def add(self, setting: Setting, then) -> None:
        """Plays the setting; then(outcome, name) compares."""
        self.later.append((self.sim.want(setting), then))

    def want(self, topology: str, policy: str, balls: int, replications: int, then, **more) -> None:
        self.add(self.setting(topology, policy, balls, replications, **more), then)

    def together(self, settings: list[Setting], then) -> None:
        """Plays the settings; then(outcomes) compares."""
        for s in settings:
            self.sim.want(s)
        self.groups.append((settings, then))

    def run(self) -> tuple[int, list[str]]:
        self.sim.play()
        for setting, then in self.later:
            if setting in self.sim.outcomes:
                then(self.sim.outcomes[setting], str(setting))
        for settings, then in self.groups:
            if all(s in self.sim.outcomes for s in settings):
                then([self.sim.outcomes[s] for s in settings])
        for setting, outcome in self.sim.outcomes.items():
            self.conserved(setting, outcome)
        passed, failures = self.cmp.judge()
        return passed, failures + self.sim.broken

    # ---- comparisons shared by the parts

    def conserved(self, s: Setting, o: Outcome) -> None:
        """Identities of every outcome; n is the same in all replications."""
        loads, total = np.arange(len(o.load_count)), o.n * o.replications
        self.cmp.exact(f"{s} servers", o.load_count.sum(), total)
        self.cmp.exact(f"{s} jobs", loads @ o.load_count, s.balls * o.replications)
        self.cmp.exact(f"{s} batches", np.abs(o.load_batch.sum(axis=0) - o.load_count).sum(), 0)
        self.cmp.exact(f"{s} replications", o.max_count.sum(), o.replications)
        self.cmp.exact(
            f"{s} mean max",
            np.arange(len(o.max_count)) @ o.max_count / o.replications,
            o.mean["max_load"],
        )
        self.cmp.exact(f"{s} empty", o.load_count[0] / total, o.mean["empty"])
        self.cmp.exact(f"{s} gap", o.mean["max_load"] - s.balls / o.n, o.mean["gap"])
        variance = (loads - s.balls / o.n) ** 2 @ o.load_count / total
        self.cmp.exact(f"{s} variance", variance, o.mean["load_variance"])
        if s.balls and o.hop_count.sum() and not s.distances:
            jobs = s.balls * o.replications
            self.cmp.exact(f"{s} jobs by cost", o.hop_count.sum(), jobs)
            self.cmp.exact(
                f"{s} cost", np.arange(len(o.hop_count)) @ o.hop_count / jobs, o.mean["cost"]
            )
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
            self.cmp.mean(
                f"{name} bins with load {k}",
                mean,
                s,
                q,
                power=max(0.002 * q, 2 * math.sqrt(q / o.replications)),
                df=49,
            )

    def law(self, o: Outcome, name: str, law: theory.LoadLaw, cost: bool = True) -> None:
        """Everything a small system's exact law says."""
        self.cmp.counts(f"{name} max load", o.max_count, law.max_pmf())
        self.cmp.mean(
            f"{name} load variance",
            o.mean["load_variance"],
            o.se["load_variance"],
            law.variance_mean(),
        )
        k_max = int(law.states.max())
        self.bins_with(name, o, law.bins_with(k_max), range(k_max + 1))
        if o.min_count is not None:
            self.cmp.counts(f"{name} min load", o.min_count, law.min_pmf())
            self.cmp.mean(f"{name} max - min", *o.spread, law.spread_mean())
        if o.servers is not None:
            s = np.sqrt(np.maximum(law.bin_variances(), 0) / o.replications)
            for i, (got, q) in enumerate(zip(o.servers, law.bin_means())):
                power = max(0.002 * q, 0.001)
                self.cmp.mean(f"{name} mean load of server {i}", got, s[i], q, power=power)
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
            # The spread of one server's load: at most that of the whole system's loads about m/n,
            # and bias.
            for i, q in enumerate(r["value"]):
                s = math.sqrt((o.mean["load_variance"] * o.n) / o.replications)
                self.cmp.mean(f"{name} server {i}", o.servers[i], s, q, power=0.01 * q)
        else:
            got, s = {
                "emax": (o.mean["max_load"], o.se["max_load"]),
                "gap": o.spread,
                "var": (o.mean["load_variance"], o.se["load_variance"]),
            }[quantity]
            self.cmp.mean(name, got, s, r["value"])

    def hops(self, o: Outcome, name: str, law: np.ndarray) -> None:
        """Jobs by cost where costs of different jobs are independent (theory.pair_cost says when);
        and their mean.
        """
        self.cmp.counts(f"{name} hops", o.hop_count, law)
        hops = np.arange(len(law))
        mean = float(hops @ law)
        s = math.sqrt((hops**2 @ law - mean**2) / o.hop_count.sum())
        self.cmp.mean(f"{name} mean cost", o.mean["cost"], s, mean, power=0.005 * mean)


def topology_of(graph: str) -> str:
    """The job language's word for a graph of the records."""
    if graph == "petersen":
        return "named: {name: petersen}"
    kind, *sizes = graph.split("-")
    kind = {"path": "line", "K": "complete"}.get(kind, kind)
    return f"{kind}: {{{'sides' if kind in ('grid', 'torus') else 'n'}: {'x'.join(sizes)}}}"


def policy_text(policy: str, k: int, own: bool) -> str:
    if policy in ("pot", "edge"):
        return policy
    return f"{policy}: {{k: {k}{', self: included' if own else ''}}}"
