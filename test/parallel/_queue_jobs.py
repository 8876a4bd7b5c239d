# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues for identity.py: tiny runs of every law, stream, way to fail, policy and sort of place."""

LAWS = """[exponential, deterministic, uniform, {erlang: {shape: 3}}, {hyperexponential: {scv: 5}},
    {lognormal: {scv: 2}}, {weibull: {shape: 0.6}}, {pareto: {shape: 2.5}},
    {discrete: {values: [0.5, 3], probabilities: [0.8, 0.2]}}, {geometric: {mean: 3}},
    {lomax: {shape: 2.3}}"""
SERVICES = f"""
title: services of every law
model: queue
seed: 21
replications: 13
topology: {{ring: {{n: 13}}}}
policy: [one-choice, {{unif-pot: {{k: 2}}}}]
lambda: 0.6
service: {LAWS}]
service_mean: [1, 0.7]
warmup: 20n
horizon: 60n
"""
STREAMS = f"""
title: every stream of arrivals
model: queue
seed: 22
replications: 11
topology: {{torus: {{sides: 3x5}}}}
policy: [one-choice, pot]
lambda: 0.7
arrivals: {LAWS}, poisson, {{batch: {{size: 3}}}}]
arrival_scope: [server, total]
arrival_rates: [unset, [0.5, 1, 1.2]]
warmup: {{time: 20}}
horizon: 50n
"""
SYNCHRONISED = """
title: streams that begin in step, and one that is modulated
model: queue
seed: 23
replications: 11
topology: {complete: {n: 7}}
policy: [pot, jsq]
lambda: 0.7
arrivals: [uniform, deterministic, {hyperexponential: {scv: 3}}]
synchronised: [false, true]
warmup: 0
horizon: {time: 70}
"""
MODULATED = """
title: modulated streams
model: queue
seed: 24
replications: 11
topology: {complete: {n: 7}}
policy: [one-choice, {choices: {d: [2, 3]}}]
lambda: 0.7
arrivals: [{mmpp: {rates: [1.5, 0.5], switch: 0.3}}, {mmpp: {rates: [0, 1, 4], switch: [1, 2, 3]}}]
arrival_scope: [server, total]
service: {weibull: {shape: 2}}
horizon: 80n
"""
TRACE = """
title: arrivals and windows as files say
model: queue
seed: 25
replications: 9
topology: {ring: {n: 10}}
policy: [one-choice, pot, jsq, {round-robin: {scope: central}}]
arrivals: [{trace: {file: times.txt}}, {trace: {file: jobs.txt}}]
failures: [none, {windows: {file: down.txt}}, {windows: {file: down.txt, resume: repeat}}]
warmup: 10
horizon: {time: 40}
allow_unstable: true
"""
FAILURES = """
title: every way to fail
model: queue
seed: 26
replications: 9
topology: [{ring: {n: 11}}, {complete: {n: 6}}]
policy: [{round-robin: {scope: central}}, {unif-pot: {k: 1}}]
lambda: 0.3
service: [exponential, deterministic]
failures:
  - up: {exponential: {mean: 8}}
    down: [exponential, {lognormal: {scv: 2}}, {uniform: {mean: 2}}]
    while_idle: [true, false]
    resume: [resume, repeat]
    start: [stationary, all-up]
  - up: {weibull: {shape: 2, mean: 9}}
    down: {deterministic: {mean: 0.5}}
warmup: 10n
horizon: 40n
"""
POLICIES = """
title: every policy of graphs
model: queue
seed: 27
replications: 7
topology:
  - ring: {n: 12}
  - torus: {sides: 3x4}
  - erdos-renyi: {n: 12, mean_degree: 4, connect: redraw, graphs: [per-replication, per-point]}
policy:
  - one-choice
  - choices: {d: [2, 5]}
  - choices: {d: 3, distinct: true}
  - pot
  - unif-pot: {k: [1, 3]}
  - invsq-pot: {k: 3}
  - edge
  - left: {d: 3}
  - one-plus-beta: {beta: 0.4}
  - random
  - random: {shares: [1, 1.2]}
  - round-robin: {scope: distributed, targets: [all, others], first: [random, own, common]}
  - round-robin: {scope: central, first: [random, common]}
  - block: {size: 2}
  - permuted
  - sequence: {servers: [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]}
  - jsq
  - jiq
  - least-work
  - least-work: {d: 2}
lambda: 0.7
redirectable: [1, 0.5]
warmup: 10n
horizon: 30n
keep: [rows, server-queues]
"""
UNEQUAL = """
title: servers of unequal speed, on graphs and in places
model: queue
seed: 28
replications: 9
topology: [{hypercube: {dim: 4}}, {star: {n: 12}},
           {watts-strogatz: {n: 20, neighbours: 2, rewire: 0.3, connect: redraw}}, {barabasi-albert: {n: 40, m: 2}}]
policy: [pot, {unif-pot: {k: 2}}, {choices: {d: 2}}]
service_rates: [[1, 2], [0.8, 1, 1.5, 3]]
lambda: [0.4, 0.75]
ties: [fair, origin]
warmup: 5n
horizon: 30n
excess: 2
"""
PLACES = """
title: queues on the plane and on the circle
model: queue
seed: 29
replications: 9
topology: [{plane: {n: 50, torus: [true, false]}}, {arcs: {n: 20, virtual: 30}}]
policy: [nearest, {points: {d: 2}}]
lambda: [0.2, 0.4]
warmup: 5n
horizon: 20n
allow_unstable: true
"""
PRECISION = """
title: queues until they are known
model: queue
seed: 30
replications: {min: 30, max: 400, until: {response: [4%, 0.01], utilisation: [2%, 0.01]}}
topology: {ring: {n: 20}}
policy: [one-choice, pot]
lambda: [0.3, 0.8]
warmup: 30n
horizon: 50n
"""
TRANSIENT = """
title: completions from an empty start
model: queue
seed: 31
replications: 37
topology: {complete: {n: [2, 5]}}
policy: [{round-robin: {scope: central}}, permuted, {random: {}}, pot]
lambda: [0.8, 2]
service: [exponential, {discrete: {values: [0.5, 2], probabilities: [2/3, 1/3]}}]
transient: {jobs: 20, grid: [1, 2, 4, 10.5]}
"""
JOBS = {
    "services": SERVICES,
    "streams": STREAMS,
    "synchronised": SYNCHRONISED,
    "modulated": MODULATED,
    "trace": TRACE,
    "failures": FAILURES,
    "policies": POLICIES,
    "unequal": UNEQUAL,
    "places": PLACES,
    "queue-precision": PRECISION,
    "transient": TRANSIENT,
}
FILES = {
    "times.txt": "".join(f"{j * j % 7 / 16 + j * 0.5}\n" for j in range(200)),
    "jobs.txt": "".join(f"{j * 0.5 + j % 3 / 8} {j * 7 % 10} {1 + j * 5 % 11}\n" for j in range(200)),
    "down.txt": "0 1 2.5\n0 4 8\n3 0 17\n9 20 21\n",
}
