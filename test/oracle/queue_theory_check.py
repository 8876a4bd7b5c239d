# SPDX-License-Identifier: GPL-3.0-or-later
"""theory_queues.py, theory_routing.py and theory_graphs.py against the reference records, and
against themselves by other roads: no randomness.
"""
import functools
import json
import math
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "analysis"))
sys.dont_write_bytecode = True
import theory_graphs as graphs  # noqa: E402
import theory_queues as queues  # noqa: E402
import theory_routing as routing  # noqa: E402
from theory_queues import Moments, moments  # noqa: E402

#: Services and repairs as the records name them; those with a number in the name are in law().
LAWS = {
    "det": ("deterministic", {}),
    "exp": ("exponential", {}),
    "unif02": ("uniform", {}),
    "lognorm_s1": ("lognormal", {"scv": math.e - 1}),
    "weibull.5": ("weibull", {"shape": 0.5}),
}
NUMBERED = {
    "erl": ("erlang", "shape"),
    "h2scv": ("hyperexponential", "scv"),
    "pareto": ("pareto", "shape"),
    "lomax": ("lomax", "shape"),
}
passed = failed = 0


def check(name: str, got, expected, tolerance: float) -> None:
    """One comparison: every component within the tolerance, relative where numbers are large."""
    global passed, failed
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if got.shape == expected.shape and np.allclose(got, expected, rtol=tolerance, atol=tolerance):
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: expected {expected}, got {got} (tolerance {tolerance:g})")


def law(name: str, mean: float = 1.0) -> Moments:
    if name in LAWS:
        kind, parameters = LAWS[name]
        return moments(kind, mean, **parameters)
    start = next(x for x in NUMBERED if name.startswith(x))
    kind, parameter = NUMBERED[start]
    return moments(kind, mean, **{parameter: float(name[len(start) :])})


def mg1(p: dict, quantity: str):
    wait = queues.mg1_wait(p["lam"], law(p["service"]))
    return {"W": wait, "T": wait + 1}.get(quantity)


def mm1(p: dict, quantity: str):
    if quantity == "N":
        return p["lam"] * queues.mg1_response(p["lam"], law("exp"))
    return [queues.mm1_response_quantile(p["lam"], q) for q in p["support"]]


def breakdowns(p: dict, quantity: str, while_idle: bool = True):
    if "repair_mean" in p:
        service, down = law(p["service"]), law(p["repair"], p["repair_mean"])
    else:
        service, down = law("exp"), law("exp", 1 / p["repair"])
    response = queues.mg1_breakdown_response(p["lam"], service, p["fail"], down, while_idle)
    if quantity == "L":
        number = queues.mm1_breakdown_number(p["lam"], 1.0, p["fail"], p["repair"])
        check("two formulas of breakdowns", number, p["lam"] * response, 1e-12)
        return number
    return response


def round_robin(p: dict, quantity: str):
    n, rho = p.get("n", math.inf), p["lam_per_server"]
    if quantity == "sigma":
        return queues.round_robin_sigma(n, rho)
    response = queues.round_robin_response(n, rho)
    return response - 1 if quantity == "W" else response


def supermarket(p: dict, quantity: str):
    if quantity == "T":
        tails = queues.supermarket_tails(p["lam"], p["d"], 4000 if p["d"] == 1 else 40)
        return tails[1:].sum() / p["lam"]
    return queues.supermarket_tails(p["lam"], p["d"], max(p["support"]))[p["support"]]


def refined(p: dict, quantity: str):
    v = queues.supermarket_refined(p["lam"], p["d"], distinct=p["choices"] != "rep")
    if quantity == "V":
        return np.array([v.sum()])
    return np.pad(v, (0, 20))[p["support"]]


@functools.lru_cache(None)
def pair_tails(degree: int, lam: float) -> np.ndarray:
    return graphs.pair_tails(degree, lam)


def service_of(name: str) -> routing.Service:
    if name.startswith("erl"):
        return routing.erlang(int(name[3:]))
    return routing.hyper(float(name[5:])) if name.startswith("h2scv") else routing.exponential()


@functools.lru_cache(None)
def solved(words: tuple[str, ...], parameters: str) -> routing.Queue | None:
    """The queue of a record of history-only routing; its quantity and support left out."""
    p = json.loads(parameters)
    arrivals = seen_by_one(words, p)
    if arrivals is None:
        return None
    service = service_of(p.get("service", "exp"))
    return routing.solve(arrivals, service, p.get("fail", 0), p.get("repair", 1))


def seen_by_one(words: tuple[str, ...], p: dict) -> routing.Arrivals | None:
    """The arrivals at one server under a policy of the records lr.*"""
    policy, n = words[0], p["n"]
    if policy == "mmpp":
        stream = routing.modulated(p["mmpp_rates"], p["switch_rates"])
        central = words[1] == "central_rr"
        return routing.turned(stream, n) if central else routing.thinned(stream, 1 / n)
    if policy == "uneq":
        a, b = p["stream_rates"]
        if words[1] == "central":
            return routing.dealt(2, a + b)
        return routing.dealt(2, a).plus(routing.dealt(2, b))
    policy = words[1] if policy in ("partial", "fail") else policy
    rho, share = p["lam_per_server"], p.get("redirectable", 1)
    if policy in ("central", "central_rr"):
        return routing.partly(share, rho, routing.dealt(n, n * share * rho))
    if policy in ("distr_self", "distr_rr_self"):
        return routing.partly(share, rho, routing.distributed(n, share * rho, n))
    return {
        "central_permrr": lambda: routing.permuted(n, n * rho),
        "central_block2": lambda: routing.dealt(n, n * rho, 2),
        "distr_rr_others": lambda: routing.distributed(n - 1, rho, n - 1),
        "bernoulli": lambda: routing.poisson(rho),
    }.get(policy, lambda: None)()


def routed(words: list[str], p: dict):
    """The quantity of a record of history-only routing, or None."""
    quantity = words[-1]
    if quantity not in ("T", "N2", "tails") or words[0] in ("sim", "enum", "cvd"):
        return None
    parameters = json.dumps({name: x for name, x in p.items() if name != "support"})
    q = solved(tuple(words[:-1]), parameters)
    if q is None:
        return None
    if quantity == "tails":
        return q.tails[p["support"]]
    return q.response if quantity == "T" else q.number_second


def theory_of(r: dict):
    """The value theory gives, or None where it has nothing to say."""
    p, (kind, *rest) = r["parameters"], r["id"].split(".")
    quantity = rest[-1]
    if kind == "mg1":
        return mg1(p, quantity)
    if kind == "mm1":
        return mm1(p, quantity)
    if kind in ("mm1bd", "mg1bd"):
        return breakdowns(p, quantity, "busyonly" not in rest)
    if kind == "mmc":
        of = queues.erlang_c if quantity == "Pwait" else queues.mmc_wait
        return of(p["c"], p["lam"])
    if kind == "rr":
        if rest[0] == "exp":
            return round_robin(p, quantity)
        return queues.mdn_wait(p["n"], p["lam_per_server"])
    if kind == "det_arr":
        return queues.deterministic_random_response(p["n"], p["lam_per_server"])
    if kind == "batch":
        if rest[0] == "rr":
            return 1 / (1 - p["batch_rate"])
        return queues.batch_random_response(p["n"], p["batch"], p["batch_rate"])
    if r["id"].startswith("sm.mf"):
        return supermarket(p, quantity)
    if r["id"].startswith("sm.refined"):
        return refined(p, quantity)[: np.size(r["value"])]  # some leave out what is below 1e-308
    if r["id"].startswith("gq.pair"):
        tails = pair_tails(p["degree"], p["lam"])
        return tails[p["support"]] if quantity == "tails" else tails[1:].sum()
    if kind == "lr" and "batch0" not in rest:
        return routed(rest, p)
    if r["id"].startswith("lr.batch0.rr") and quantity == "makespan":
        return queues.batch_last(p["n"], p["N"] // p["n"])
    return None


def records() -> None:
    seen: dict[str, int] = {}
    for r in json.loads((HERE / "oracles.json").read_text()):
        value = theory_of(r)
        if value is None:
            continue
        seen[r["id"].split(".")[0]] = seen.get(r["id"].split(".")[0], 0) + 1
        value, expected = np.atleast_1d(value), np.atleast_1d(r["value"])
        check(r["id"], value, expected, max(r.get("abs_tol", 0), 1e-8))
    check("kinds of records seen", len(seen), 11, 0)


def published() -> None:
    """The columns of the published table that are theory: the limit, and its correction by 1/n."""
    for r in json.loads((HERE / "oracles.json").read_text()):
        if not r["id"].startswith("sm.published"):
            continue
        p = r["parameters"]
        limit = queues.supermarket_tails(p["lam"], p["d"], 60)[1:].sum()
        refined = limit + queues.supermarket_refined(p["lam"], p["d"]).sum() / p["N"]
        check(r["id"], [limit, refined], r["value"][:2], 6e-5)


def sums() -> None:
    """Identities between formulas."""
    for lam in (0.3, 0.9):
        exp = law("exp")
        mean = 1 / (1 - lam)
        check("M/M/1 second moment", queues.mg1_response_second(lam, exp), 2 * mean**2, 1e-12)
        check("no failures", queues.mg1_breakdown_response(lam, exp, 0.0, exp), mean, 1e-12)
        check("one server", queues.mmc_wait(1, lam), queues.mg1_wait(lam, exp), 1e-12)
        check("M/D/1", queues.mdn_wait(1, lam), queues.mg1_wait(lam, law("det")), 1e-10)
        tails = queues.md1_tails(lam, 60 if lam < 0.5 else 250)
        number = lam * queues.mg1_response(lam, law("det"))
        check("M/D/1 queue", tails[1:].sum(), number, 1e-7)
        check("one of one", queues.round_robin_response(1, lam), 1 / (1 - lam), 1e-10)
        tails = queues.round_robin_tails(3, lam, 4000)
        check("Little", tails[1:].sum(), lam * queues.round_robin_response(3, lam), 1e-9)
        by_phases = routing.solve(routing.dealt(3, 3 * lam), routing.exponential())
        check("E_3/M/1", by_phases.response, queues.round_robin_response(3, lam), 1e-8)
        check("its tails", by_phases.tails, queues.round_robin_tails(3, lam, 12), 1e-8)
        down = law("exp", 2.5)
        by_phases = routing.solve(routing.poisson(0.5 * lam), routing.hyper(4), 0.1, 0.4)
        expected = queues.mg1_breakdown_response(0.5 * lam, law("h2scv4"), 0.1, down)
        check("breakdowns", by_phases.response, expected, 1e-8)
        tails = queues.supermarket_tails(lam, 1, 4000)
        check("d = 1 is M/M/1", tails[1:].sum(), lam / (1 - lam), 1e-9)
        check("throughput", queues.supermarket_refined(lam, 2)[1], 0.0, 1e-12)
    for name in (*LAWS, "erl4", "h2scv4", "pareto2.2", "lomax2.2"):
        check(f"mean of {name}", law(name, 2.5).first, 2.5, 1e-12)
    check("scv", law("h2scv10").scv, 10.0, 1e-12)
    check("moments", [law("lomax4").second, law("lomax4").third], [3.0, 27.0], 1e-12)
    # Exponential service, f = .1, r = .4: stable below .72 (queueing with repeated requirements)
    limit = 1 / queues.mg1_repeat_load(1.0, 1 / 0.9, 0.1, 2.5)
    check("repeat", limit, 0.72, 1e-12)
    check("occupied", queues.mm1_breakdown_occupied(0.4, 0.1, 0.4), 0.55, 0.001)
    check("run length", queues.run_length(0.5), 9.22e5, 2e-3)
    check("bias", queues.empty_start_bias(0.9, 1e4), -0.09, 1e-12)


def main() -> int:
    records()
    published()
    sums()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
