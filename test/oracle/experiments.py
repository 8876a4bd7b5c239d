# SPDX-License-Identifier: GPL-3.0-or-later
"""Liu and Righter's claims as experiments: round robin against every other way of dealing out jobs.

    python3 experiments.py PROGRAM [--tier ci|verify] [--only E1,E7]

E1   central round robin < permuted < blocks < distributed < distributed over others < Bernoulli
E2   the same when a server may redirect a share of its jobs only
E3   unreliable servers
E4   services of rising variability
E5   batch, deterministic and modulated arrivals
E6   Pareto services: quantiles and truncated means, since means have no interval
E7   the separable convex order: E[(R - c)^+] for every c, second moments, sums of tails
E8   the k-th completion at a random server, in distribution, from an empty start
E9   the k-th completion of the whole system: an order for exponential services, none for others
E10  finite sets of jobs whose laws are known from enumeration
E11  policies that see the state beat round robin
E12  round robin against policies that do not balance
paths  identities that hold bit for bit, path by path

Values come from closed forms and matrix-geometric solutions (theory_queues, theory_routing, which
queue_theory_check.py holds against the records) and from the records of oracles.json. Policies see
the same jobs, so that an order is a paired difference that is above 0 by z standard errors; `ci`
knows values to 0.2 % where cheap, else as stated, `verify` plays eight times the jobs. As in
laws.py all comparisons share one false alarm rate, 1e-4, and fixed seeds make the outcome the same
every time.
"""
import argparse
import json
import math
import sys

import numpy as np

from _compare import Comparisons
from _heavy import ParetoWait
from _lab import Lab, Run, estimate
from _sample_paths import sample_paths
from _transient import at_a_server, finite_sets, of_all
from queue_theory_check import HERE, queues, routing, service_of

REPLICATIONS = 100
CENTRAL = "round-robin: {scope: central}"
DISTRIBUTED = "round-robin: {scope: distributed}"
OTHERS = "round-robin: {scope: distributed, targets: others}"
BLOCKS = "block: {size: 2}"
HISTORY = {
    "central": CENTRAL,
    "permuted": "permuted",
    "blocks": BLOCKS,
    "distributed": DISTRIBUTED,
    "others": OTHERS,
    "Bernoulli": "random",
}
SERVICES = {
    "det": "deterministic",
    "erl4": "erlang: {shape: 4}",
    "exp": "exponential",
    "h2scv4": "hyperexponential: {scv: 4}",
    "h2scv10": "hyperexponential: {scv: 10}",
}
FAILURES = "alternating: {up: {exponential: {mean: 10}}, down: {exponential: {mean: 2.5}}}"
FAIL, REPAIR = 0.1, 0.4
PARETO = {2.2: "pareto: {shape: 2.2}", 2.5: "pareto: {shape: 2.5}"}


def response(
    policy: str, n: int, rho: float, service: str = "exp", share: float = 1.0, fails: bool = False
) -> float:
    """E[T] under history-only routing of Poisson streams of rate rho at n servers. Exact."""
    if service == "det":
        if policy == "central":
            return queues.mdn_wait(n, rho) + 1
        return queues.mg1_response(rho, queues.moments("deterministic"))
    if not share:
        policy, share = "Bernoulli", 1.0
    arrivals = {
        "central": lambda: routing.partly(share, rho, routing.dealt(n, n * share * rho)),
        "permuted": lambda: routing.permuted(n, n * rho),
        "blocks": lambda: routing.dealt(n, n * rho, 2),
        "distributed": lambda: routing.partly(share, rho, routing.distributed(n, share * rho, n)),
        "others": lambda: routing.distributed(n - 1, rho, n - 1),
        "Bernoulli": lambda: routing.poisson(rho),
    }[policy]()
    broken = (FAIL, REPAIR) if fails else (0, 1)
    return routing.solve(arrivals, service_of(service), *broken).response


class Experiments:
    """One method for each experiment."""

    def __init__(self, lab: Lab, cmp: Comparisons) -> None:
        self.lab, self.cmp = lab, cmp
        self.records = {r["id"]: r for r in json.loads((HERE / "oracles.json").read_text())}

    # ---- parts of experiments

    def steady(self, n: int, rho: float, jobs: float, load: float = 0.0, **more) -> dict:
        """Lines of a job in steady state: `jobs` count in all; `load` what a server's time is taken
        by, where that is more than rho.
        """
        relaxed = 10 / (1 - math.sqrt(load or rho)) ** 2
        return {
            "seed": 20111011,
            "replications": REPLICATIONS,
            "topology": f"{{complete: {{n: {n}}}}}",
            "lambda": rho,
            "warmup": f"{{time: {relaxed}}}",
            "horizon": round(jobs * self.lab.factor / REPLICATIONS),
            **more,
        }

    def value(self, name: str, run: Run, expected: float, power: float = 0.002, row="response"):
        """A mean against its exact value; `power`, the standard error at most, is relative."""
        self.compare(name, run[row], expected, power)

    def compare(self, name: str, values: np.ndarray, expected: float, power: float, tolerance=1e-6):
        """The mean of independent values against its exact value."""
        s_most = max(power / math.sqrt(self.lab.factor), min(power, 0.002)) * expected
        got, s = estimate(values)
        self.cmp.mean(
            name, got, s, expected, tolerance=tolerance, power=s_most, df=len(values) - 1
        )

    def order(self, name: str, runs: dict[str, Run], row: str = "response") -> None:
        """Runs in rising order, each clearly above the one before."""
        names = list(runs)
        for low, high in zip(names, names[1:]):
            self.below(f"{name}: {low} < {high}", runs[low][row], runs[high][row])

    def below(self, name: str, low: np.ndarray, high: np.ndarray, power: float = math.inf) -> None:
        """Paired values of two policies; with `power` they may also be equal."""
        self.cmp.above(name, *estimate(high - low), df=len(low) - 1, power=power)

    # ---- experiments

    def e1(self) -> None:
        runs = self.lab.play(HISTORY, self.steady(4, 0.8, 3e7))
        for policy, run in runs.items():
            self.value(f"E1 {policy}", run, response(policy, 4, 0.8))
        self.order("E1", runs)

    def e2(self) -> None:
        keys = self.steady(4, 0.8, 1.2e7) | {"redirectable": [0, 0.25, 0.5, 0.75, 1]}
        runs = self.lab.play({x: HISTORY[x] for x in ("central", "distributed")}, keys)
        shares = keys["redirectable"]
        for (policy, j), run in runs.items():
            exact = response(policy, 4, 0.8, share=shares[j])
            self.value(f"E2 {policy} {shares[j]}", run, exact, 0.004)
            if j:
                more, less = run["response"], runs[policy, j - 1]["response"]
                self.below(f"E2 {policy}: {shares[j]} < {shares[j - 1]}", more, less)
        for j, share in enumerate(shares[1:], 1):
            central, own = runs["central", j]["response"], runs["distributed", j]["response"]
            self.below(f"E2 {share}: central < distributed", central, own)
        self.cmp.exact(
            "E2 nothing to redirect",
            np.abs(runs["central", 0]["response"] - runs["distributed", 0]["response"]).max(),
            0,
            0,
        )

    def e3(self) -> None:
        policies = {x: HISTORY[x] for x in ("central", "blocks", "distributed", "Bernoulli")}
        for n, load, jobs, power in (
            (4, 0.5, 4e7, 0.002),
            (2, 0.5, 1e7, 0.004),
            (4, 0.8, 2e7, 0.008),
        ):
            name = f"E3 n {n}, load {load}"
            keys = self.steady(n, 0.8 * load, jobs, load, failures=f"{{{FAILURES}}}")
            runs = self.lab.play(policies, keys)
            exact = {x: response(x, n, 0.8 * load, fails=True) for x in policies}
            for policy, run in runs.items():
                self.value(f"{name}: {policy}", run, exact[policy], power)
            rising = sorted(policies, key=exact.get)
            if load == 0.8 and self.lab.factor == 1:
                rising.remove("blocks")  # 0.35 % below distributed: a matter for verify
            self.order(name, {x: runs[x] for x in rising})
            self.cmp.exact(f"{name}: central first", rising.index("central"), 0)

    def e4(self) -> None:
        policies = {x: HISTORY[x] for x in ("central", "distributed", "Bernoulli")}
        gains = {}
        for service, text in SERVICES.items():
            for rho, jobs, power in ((0.5, 1e7, 0.004), (0.8, 1.2e7, 0.008)):
                if service == "h2scv10":
                    jobs, power = 2 * jobs, 2 * power
                name = f"E4 {service} {rho}"
                keys = self.steady(4, rho, jobs, service=f"{{{text}}}" if ":" in text else text)
                runs = self.lab.play(policies, keys)
                for policy, run in runs.items():
                    if policy == "distributed" and service == "det":
                        continue  # no formula
                    self.value(f"{name}: {policy}", run, response(policy, 4, rho, service), power)
                if "h2" not in service or self.lab.factor > 1:
                    self.order(name, runs)
                low, high = runs["central"]["waiting"], runs["Bernoulli"]["waiting"]
                self.below(f"{name}: central < Bernoulli", low, high)
                gains[rho, service] = 1 - low / high
        for rho in (0.5, 0.8):
            names = list(SERVICES)
            for steady, wild in zip(names, names[1:]):
                more, less = gains[rho, steady], gains[rho, wild]
                self.below(f"E4 {rho}: share of waiting saved, {wild} < {steady}", less, more)

    def e5(self) -> None:
        policies = {x: HISTORY[x] for x in ("central", "Bernoulli")}
        n, rho = 4, 0.8
        for name, arrivals, rate, jobs, power, exact in (
            ("batches", f"{{batch: {{size: {n}}}}}", rho, 3e7, 0.005,
             (1 / (1 - rho), queues.batch_random_response(n, n, rho))),
            ("deterministic", "deterministic", rho, 2e7, 0.002,
             (queues.round_robin_response(math.inf, rho),
              queues.deterministic_random_response(n, rho))),
            ("modulated", "{mmpp: {rates: [1.5, 0.5], switch: 0.1}}", 0.5, 3e7, 0.004, None),
        ):
            keys = self.steady(n, rate, jobs, arrivals=arrivals, arrival_scope="total")
            runs = self.lab.play(policies, keys)
            if exact is None:
                # Rates 1.5 and 0.5 of n rho; switching does not go with them.
                stream = routing.modulated([1.5 * n * rate, 0.5 * n * rate], [0.1, 0.1])
                exact = [
                    routing.solve(x, routing.exponential()).response
                    for x in (routing.turned(stream, n), routing.thinned(stream, 1 / n))
                ]
            for policy, expected in zip(policies, exact):
                self.value(f"E5 {name}: {policy}", runs[policy], expected, power)
            self.order(f"E5 {name}", runs)

    def e6(self) -> None:
        policies = {x: HISTORY[x] for x in ("central", "permuted", "Bernoulli")}
        thresholds = [1, 2, 5, 10, 20, 50]
        for shape, text in PARETO.items():
            for rho, jobs in ((0.5, 4e6), (0.8, 6e6)):
                name = f"E6 Pareto {shape} {rho}"
                keys = self.steady(4, rho, jobs, service=f"{{{text}}}", excess=thresholds)
                runs = self.lab.play(policies, keys)
                wait = ParetoWait(rho, shape)
                mean = queues.mg1_response(rho, queues.moments("pareto", shape=shape))
                for j, c in enumerate(thresholds):
                    all_of = {x: runs[x, j] for x in policies}
                    of = {x: y["response"] - y["response_excess"] for x, y in all_of.items()}
                    for other in ("permuted", "Bernoulli"):
                        loose = {"power": 0.004 * c} if other == "permuted" or c == 1 else {}
                        what = f"{name}: E[min(T, {c})] {other}"
                        self.below(what, of["central"], of[other], **loose)
                    run = runs["Bernoulli", j]
                    self.compare(
                        f"{name}: E[min(W, {c})] of M/G/1",
                        run["waiting"] - run["waiting_excess"],
                        wait.truncated(c),
                        0.004 + 0.0004 * c,
                        2e-4,
                    )
                low, high = runs["central", 0], runs["Bernoulli", 0]
                for q, row in ((0.5, "q50"), (0.9, "q90"), (0.95, "q95")):
                    self.below(f"{name}: {row}", low[f"response_{row}"], high[f"response_{row}"])
                    if q > rho:
                        exact = wait.quantile(q)  # bins interpolated
                        x = high[f"waiting_{row}"]
                        what = f"{name}: waiting {row} of M/G/1"
                        self.compare(what, x, exact, 0.03, 0.003 * exact)
                # The spread of these means is an indication only.
                bound = np.full(REPLICATIONS, mean)
                self.below(f"{name}: mean below M/G/1", low["response"], bound)

    def e7(self) -> None:
        thresholds = [0.5, 1, 2, 4, 8]
        for name, rho, more in (
            ("exponential", 0.8, {}),
            ("hyperexponential", 0.5, {"service": "{hyperexponential: {scv: 4}}"}),
            ("failing", 0.4, {"failures": f"{{{FAILURES}}}", "load": 0.5}),
        ):
            name = f"E7 {name}"
            keys = self.steady(4, rho, 2.5e6, **more, excess=thresholds)
            runs = self.lab.play(HISTORY, keys)
            for j, c in enumerate(thresholds):
                for other in list(HISTORY)[1:]:
                    low, high = (runs[x, j]["response_excess"] for x in ("central", other))
                    strict = other == "Bernoulli" and c <= 4
                    power = {} if strict else {"power": 0.03 * high.mean() + 1e-4}
                    self.below(f"{name}: E[(R - {c})^+] {other}", low, high, **power)
            for other in list(HISTORY)[1:]:
                low, high = runs["central", 0], runs[other, 0]
                for row in ("response_second", "waiting_second"):
                    strict = {} if other == "Bernoulli" else {"power": 0.03 * high[row].mean()}
                    self.below(f"{name}: {row} {other}", low[row], high[row], **strict)
                low_2, high_2 = low.load(np.square), high.load(np.square)
                strict = {} if other == "Bernoulli" else {"power": 0.02 * high_2.mean()}
                self.below(f"{name}: E[N^2] {other}", low_2, high_2, **strict)
                for c in range(9):
                    low_c, high_c = (x.load(lambda k: np.maximum(k - c, 0)) for x in (low, high))
                    strict = other == "Bernoulli" and c < 4
                    power = {} if strict else {"power": 0.1 * high_c.mean() + 1e-4}
                    self.below(f"{name}: E[(N - {c})^+] {other}", low_c, high_c, **power)
            if name == "E7 exponential":
                self.exponential_excess(name, rho, thresholds, runs)

    def exponential_excess(self, name: str, rho: float, thresholds: list, runs: dict) -> None:
        """Of GI/M/1: T is exponential, N is geometric beyond 1."""
        for policy, sigma in (("central", queues.round_robin_sigma(4, rho)), ("Bernoulli", rho)):
            for j, c in enumerate(thresholds):
                exact = math.exp(-(1 - sigma) * c) / (1 - sigma)
                row, power = "response_excess", 0.01 * (1 + c / 4)
                self.value(f"{name}: {policy} {c}", runs[policy, j], exact, power, row)
            for c in range(9):
                got, s = estimate(runs[policy, 0].load(lambda k: np.maximum(k - c, 0)))
                exact = rho * sigma**c / (1 - sigma)
                power = 0.01 * (1 + c / 2) * exact
                self.cmp.mean(f"{name}: {policy} E[(N - {c})^+]", got, s, exact, power=power, df=49)

    def e8(self) -> None:
        at_a_server(self.lab, self.cmp)

    def e9(self) -> None:
        of_all(self.lab, self.cmp)

    def e10(self) -> None:
        finite_sets(self.lab, self.cmp, self.records)

    def e11(self) -> None:
        policies = {
            "jsq": "jsq",
            "two choices": "choices: {d: 2, distinct: true}",
            "round robin": CENTRAL,
            "Bernoulli": "random",
        }
        runs = self.lab.play(policies, self.steady(4, 0.8, 3e7))
        tails = np.array(self.records["sm.exact.N4.jsq.lam0.8.tails"]["value"])
        beyond = tails[-1] * 0.8**4 / (1 - 0.8**4)  # the longest queues fall off like M/M/4 does
        self.value("E11 jsq", runs["jsq"], (tails.sum() + beyond) / 0.8)
        number = self.records["sm.exact.N4.d2.distinct.lam0.8.L"]["value"]
        self.value("E11 two choices", runs["two choices"], number / 0.8)
        self.value("E11 round robin", runs["round robin"], response("central", 4, 0.8))
        self.value("E11 Bernoulli", runs["Bernoulli"], response("Bernoulli", 4, 0.8))
        self.order("E11", runs)

    def e12(self) -> None:
        shares = [0.5, 0.3, 0.2]
        policies = {
            "central": CENTRAL,
            "pattern": "sequence: {servers: [0, 1, 0, 2, 0, 1, 0, 2, 0, 1]}",  # .5 .3 .2 as well
            "shares": f"random: {{shares: {shares}}}",
        }
        n, rho = 3, 0.5
        runs = self.lab.play(policies, self.steady(n, rho, 2e7, load=0.75))
        self.value("E12 central", runs["central"], response("central", n, rho))
        exact = sum(x / (1 - n * rho * x) for x in shares)
        self.value("E12 shares", runs["shares"], exact)
        self.order("E12", runs)

    def paths(self) -> None:
        sample_paths(self.lab, self.cmp)


#: Experiments of twenty seconds and more each: not in CI's sample.
LONG = (3, 4, 6, 8, 10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--tier", choices=("ci", "verify"), default="ci")
    parser.add_argument("--only", help="experiments by name, with commas between")
    options = parser.parse_args()
    cmp = Comparisons()
    all_of = Experiments(Lab(options.program, 8 if options.tier == "verify" else 1), cmp)
    names = [f"e{i}" for i in range(1, 13) if options.tier == "verify" or i not in LONG] + ["paths"]
    broken = []
    for name in options.only.lower().split(",") if options.only else names:
        before = len(cmp.tests) + cmp.exact_passed
        try:
            getattr(all_of, name)()
        except RuntimeError as why:
            broken.append(f"{name}: {why}")
        print(f"{name}: {len(cmp.tests) + cmp.exact_passed - before} comparisons", flush=True)
    passed, failures = cmp.judge()
    for failure in failures + broken:
        print("FAILED", failure)
    print(f"{passed} passed, {len(failures) + len(broken)} failed")
    return int(bool(failures or broken))


if __name__ == "__main__":
    sys.exit(main())
