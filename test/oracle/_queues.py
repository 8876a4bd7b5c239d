# SPDX-License-Identifier: GPL-3.0-or-later
"""Reference records of queues as settings of the model `queue`, and what they say of an outcome.

`setting_of` gives None for records that no run of laws.py is held against; coverage.py lists who
has them instead:
- limits and approximations (sm.mf, sm.refined, gq.pair): queue_theory_check.py, chain_check.py;
- what enumeration says of all assignments (ids that end in .best .violations .order):
  enumeration_check.py;
- completions of finite sets of jobs (ids that end in _EC or makespan, lr.geom, lr.counterexample):
  E9 and E10 of experiments.py, and enumeration_check.py;
- means without a finite variance of their estimate, Pareto services of shape up to 4: for M/G/1
  the formula, their quantiles and truncated means are E6 of experiments.py; for lr.sim heavy() of
  _held_back.py.
"""
from __future__ import annotations

import dataclasses
import math

SERVICES = {
    "det": "deterministic",
    "exp": "exponential",
    "unif02": "uniform",
    "erl2": "erlang: {shape: 2}",
    "erl4": "erlang: {shape: 4}",
    "h2scv4": "hyperexponential: {scv: 4}",
    "h2scv10": "hyperexponential: {scv: 10}",
    "lognorm_s1": f"lognormal: {{scv: {math.e - 1!r}}}",
    "weibull.5": "weibull: {shape: 0.5}",
}
#: Squared coefficients of variation, for the length of runs.
VARIABILITY = {
    "deterministic": 0.0,
    "exponential": 1.0,
    "uniform": 1 / 3,
    "erlang: {shape: 2}": 0.5,
    "erlang: {shape: 4}": 0.25,
    "hyperexponential: {scv: 4}": 4.0,
    "hyperexponential: {scv: 10}": 10.5,
    SERVICES["lognorm_s1"]: 1.7,
    "weibull: {shape: 0.5}": 5.0,
    "erlang: {shape: 3}": 1 / 3,
    "hyperexponential: {scv: 3}": 3.0,
    "lognormal: {scv: 2}": 2.0,
    "weibull: {shape: 2}": 0.273,
    "discrete: {values: [0.5, 2], probabilities: [2/3, 1/3]}": 0.5,
}


@dataclasses.dataclass(frozen=True)
class Queues:
    """One point of a job of model `queue`; `more` are lines of the job file, `files` name: text."""

    topology: str
    policy: str
    lam: float
    service: str = "exponential"
    load: float = 0.0  # of a server, failures included: what run lengths go by
    more: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    finite: int = 0  # jobs, where they are all

    def __str__(self) -> str:
        parts = [self.topology, self.policy, f"lambda {self.lam:g}", self.service, *self.more]
        return f"[{'; '.join(parts)}]"


def complete(n: int) -> str:
    return f"complete: {{n: {n}}}"


def failing(fail: float, repair: str, while_idle: bool = True) -> tuple[str, ...]:
    up = f"up: {{exponential: {{mean: {1 / fail!r}}}}}"
    idle = "" if while_idle else ", while_idle: false"
    return (f"failures: {{alternating: {{{up}, down: {repair}{idle}}}}}",)


def repairs(name: str, mean: float) -> str:
    kind = SERVICES[name]
    inside = f"mean: {mean!r}"
    if ": {" in kind:
        law, rest = kind.split(": {", 1)
        return f"{{{law}: {{{rest[:-1]}, {inside}}}}}"
    return f"{{{kind}: {{{inside}}}}}"


TOTAL = "arrival_scope: total"
CENTRAL = "round-robin: {scope: central}"
DISTRIBUTED = "round-robin: {scope: distributed}"
OTHERS = "round-robin: {scope: distributed, targets: others}"
BLOCKS = "block: {size: 2}"


def supermarket(p: dict) -> Queues | None:
    n, lam = p["N"], p["lam"]
    choices = p.get("choices", "with replacement")
    distinct = choices in ("distinct",)
    d = p.get("d", 2)
    policy = f"choices: {{d: {d}{', distinct: true' if distinct else ''}}}"
    return Queues(complete(n), policy, lam, load=lam)


def graph(p: dict, small: bool) -> Queues:
    from _suite import topology_of  # pylint: disable=import-outside-toplevel

    more = ("ties: fair", "keep: [rows, server-queues]")
    if small:
        more = ("ties: fair", "watch_neighbours: true")
        more += ("keep: [rows, server-queues, server-correlations]",)
    return Queues(topology_of(p["graph"]), "unif-pot: {k: 1}", p["lam"], load=p["lam"], more=more)


def routed(words: list[str], p: dict) -> Queues | None:
    """History-only routing, lr.*"""
    kind, n = words[0], p["n"]
    if kind == "uneq":
        a, b = p["stream_rates"]
        policy = CENTRAL if words[1] == "central" else DISTRIBUTED
        return Queues(
            complete(2), policy, 1.0, load=(a + b) / 2, more=(f"arrival_rates: [{a}, {b}]",)
        )
    rho = p["lam_per_server"]
    if kind == "mmpp":
        total = sum(p["mmpp_rates"])
        rates = ", ".join(str(x / total) for x in p["mmpp_rates"])
        stream = f"arrivals: {{mmpp: {{rates: [{rates}], switch: {p['switch_rates'][0]}}}}}"
        policy = CENTRAL if words[1] == "central_rr" else "random"
        return Queues(complete(n), policy, rho, load=rho, more=(stream, TOTAL))
    word = words[1] if kind in ("partial", "fail") else kind
    policy = {
        "central": CENTRAL,
        "central_rr": CENTRAL,
        "distr_self": DISTRIBUTED,
        "distr_rr_self": DISTRIBUTED,
        "distr_rr_others": OTHERS,
        "central_permrr": "permuted",
        "central_block2": BLOCKS,
        "bernoulli": "random",
    }.get(word)
    if policy is None:
        return None
    more: tuple[str, ...] = ()
    if p.get("redirectable", 1) != 1:
        more += (f"redirectable: {p['redirectable']}",)
    if "fail" in p:
        more += failing(p["fail"], f"{{exponential: {{mean: {1 / p['repair']!r}}}}}")
    service = SERVICES[p.get("service", "exp")]
    return Queues(complete(n), policy, rho, service, p.get("effective_load", rho), more)


# -------------------------------------------------------------------------------------------------
# Finite sets of jobs


def trace(times: list, servers: list | None = None) -> tuple[str, str]:
    rows = [f"{t!r}" + (f" {servers[i]}" if servers else "") for i, t in enumerate(times)]
    return ("trace.txt", "\n".join(rows) + "\n")


TRACE = "arrivals: {trace: {file: trace.txt}}"


def two_points(values: list, probabilities: list) -> str:
    if len(values) == 1:
        return "deterministic"
    p = [round(x, 10) for x in probabilities]
    thirds = {0.6666666667: "2/3", 0.3333333333: "1/3"}
    shares = ", ".join(thirds.get(x, f"{x:g}") for x in p)
    return f"discrete: {{values: [{', '.join(map(str, values))}], probabilities: [{shares}]}}"


def finite(words: list[str], p: dict) -> Queues | None:
    """lr.enum, lr.cvd, lr.batch0: all jobs of a trace, from an empty start."""
    kind, last, n = words[0], words[-1], p["n"]
    if kind in ("geom", "counterexample") or last in ("best", "violations", "order", "makespan"):
        return None
    if last.endswith("_EC"):
        return None
    central = "round-robin: {scope: central, first: random}"
    if kind == "enum":
        policy = {"rr": central, "bernoulli": "random", "permrr": "permuted"}[last]
        files = [trace(p["arrivals"])]
        more = [TRACE]
        if "down_scenarios_equally_likely" in p:
            # Servers are alike under these policies, so one scenario stands for all.
            windows = p["down_scenarios_equally_likely"][0]
            files.append(("down.txt", "".join(f"{i} {a} {b}\n" for i, a, b in windows)))
            more.append("failures: {windows: {file: down.txt}}")
        service = two_points(p["service_values"], p["service_probs"])
        return Queues(complete(n), policy, 1, service, 0, tuple(more), tuple(files), p["N"])
    if kind == "cvd":
        own = "round-robin: {scope: distributed, first: random}"
        policy = own if last == "distributed" else central
        files = (trace(p["arrivals"], [i % n for i in range(p["N"])]),)
        return Queues(complete(n), policy, 1, two_points(*p["service"]), 0, (TRACE,), files, p["N"])
    policy = central if words[1] == "rr" else "random"
    files = (trace([0.0] * p["N"]),)
    return Queues(complete(n), policy, 1, "exponential", 0, (TRACE,), files, p["N"])


def setting_of(r: dict) -> Queues | None:
    """The setting that a record speaks of."""
    p, (kind, *rest) = r["parameters"], r["id"].split(".")
    if "pareto" in r["id"]:
        return None
    if kind == "mg1":
        return Queues(complete(4), "random", p["lam"], SERVICES[p["service"]], p["lam"])
    if kind == "mm1":
        return Queues(complete(1), "one-choice", p["lam"], load=p["lam"])
    if kind == "mm1bd":
        repair = f"{{exponential: {{mean: {1 / p['repair']!r}}}}}"
        more = failing(p["fail"], repair, "busyonly" not in rest)
        return Queues(complete(4), "random", p["lam"], load=p["effective_load"], more=more)
    if kind == "mg1bd":
        more = failing(p["fail"], repairs(p["repair"], p["repair_mean"]))
        service = SERVICES[p["service"]]
        return Queues(complete(4), "random", p["lam"], service, p["effective_load"], more)
    if kind == "mmc":
        rho = p["lam"] / p["c"]
        return Queues(complete(p["c"]), "least-work", rho, load=rho)
    if kind == "rr":
        rho = p["lam_per_server"]
        if "n" not in p:  # D/M/1
            more = ("arrivals: deterministic", TOTAL)
            return Queues(complete(1), "one-choice", rho, load=rho, more=more)
        service = "deterministic" if rest[0] == "det" else "exponential"
        return Queues(complete(p["n"]), CENTRAL, rho, service, rho)
    if kind == "det_arr":
        rho = p["lam_per_server"]
        more = ("arrivals: deterministic", TOTAL)
        return Queues(complete(p["n"]), "random", rho, load=rho, more=more)
    if kind == "batch":
        rho, policy = p["batch_rate"], CENTRAL if rest[0] == "rr" else "random"
        more = (f"arrivals: {{batch: {{size: {p['batch']}}}}}", TOTAL)
        return Queues(complete(p["n"]), policy, rho, load=rho, more=more)
    if kind == "sm":
        if rest[0] in ("mf", "refined"):
            return None
        if "jsq" in rest:
            return Queues(complete(p["N"]), "jsq", p["lam"], load=p["lam"])
        return supermarket(p)
    if kind == "gq":
        return None if rest[0] == "pair" else graph(p, rest[0] == "exact")
    if kind == "lr" and rest[0] in ("enum", "cvd", "geom", "batch0", "counterexample"):
        return finite(rest, p)
    return routed(rest, p) if kind == "lr" and rest[0] != "sim" else None
