# SPDX-License-Identifier: GPL-3.0-or-later
"""Rings for identity.py: tiny runs of every balancer, capacity, lifetime, order of hops and sort of routing."""

BALANCERS = """
title: every balancer
model: dht
seed: 41
replications: 13
nodes: [37, 1]
capacity: [profile, 40]
balancer:
  - none
  - log-vs
  - log-vs: {count: 3}
  - proportion: {relief: [nothing, heaviest]}
  - transfer: {split: [true, false]}
  - threshold: {rho: [2, 1.3], on_overload: [true, false]}
  - k-choices: {mode: [active, passive]}
duration: 60
balance_from: 10
interval: 7
measure: 5
"""
PARAMETERS = """
title: parameters of balancers, and when they act
model: dht
seed: 42
replications: 5
nodes: 40
ids: [equal, proportional]
capacity: {lognormal: {median: 80, sigma: 1.5}}
balancer:
  - proportion: {initial: 3, max: 5, relief: heaviest}
  - threshold: {rho: 1.2, c: 0.5, sample: [1, 20]}
  - k-choices: {kappa: [1, 5], margin: [0, 0.5]}
  - transfer
duration: 40
record_from: 0
balance_from: 3
period: [1, 4]
epsilon: [0, 0.6]
target: 0.4
maintenance: 0.3
"""
CHURN = """
title: nodes that come and go
model: dht
seed: 43
replications: 11
nodes: 41
capacity: profile
lifetime: [exponential, {pareto: {shape: 2, mean: 30}}, {discrete: {values: [2, 7.5], probabilities: [0.5, 0.5]}}]
downtime: [same, {weibull: {shape: 0.7, mean: 10}}]
balancer: [none, log-vs, proportion, transfer, threshold, k-choices]
duration: 50
balance_from: 5
interval: 20
"""
TRACE = """
title: sessions and capacities as files say
model: dht
seed: 44
replications: 7
nodes: 12
capacity: [{file: {path: capacities.txt}}, 15]
lifetime: {trace: {file: sessions.txt}}
ids: [random, proportional]
balancer: [log-vs, transfer, k-choices]
duration: 45
record_from: 10
balance_from: 0
refresh: [1, 4]
"""
KEYS = """
title: popular keys that change
model: dht
seed: 45
replications: 5
nodes: [45, 150]
destinations: [uniform, {zipf: {alpha: [0.8, 1.2], count: [1, 300], shift: 15}}]
queries: [0.3, 7.7]
balancer: [none, proportion, transfer, threshold]
duration: 30
balance_from: 5
charge: [forwarding, delivery]
"""
ORDERS = """
title: hop by hop, straight, and over old fingers
model: dht
seed: 46
replications: 9
nodes: 70
capacity: profile
lifetime: {exponential: {mean: 60}}
queries: 4
order: [sequential, hop-synchronous]
charge: [forwarding, delivery]
balancer: [log-vs, transfer, k-choices]
duration: 30
balance_from: 5
"""
STALE = ORDERS.replace("queries: 4", "refresh: [2, 5, 1000]\nqueries: 4").replace("seed: 46", "seed: 47")
STRAIGHT = ORDERS.replace("queries: 4", "routing: one-hop\nqueries: 4").replace("seed: 46", "seed: 48")
MEANS = """
title: rings until they are known, means only
model: dht
seed: 49
replications: {min: 30, max: 300, until: {success: [5%, 0.01], virtual_servers: [2%, 0.01]}}
nodes: 40
capacity: {lognormal: {median: 120}}
lifetime: {exponential: {mean: 100}}
balancer: [none, transfer, k-choices]
duration: 60
balance_from: 10
keep: means
"""
#: Overload makes rings grow beyond the memory they begin with.
GROWTH = """
title: more and more virtual servers
model: dht
seed: 50
replications: 9
nodes: 60
capacity: {lognormal: {median: 60, sigma: 3}}
balancer: transfer
duration: 200
balance_from: 1
epsilon: [0, 0.01]
target: [0.1, 0.2]
measure: 1
refresh: [1, 3]
"""
JOBS = {
    "balancers": BALANCERS,
    "parameters": PARAMETERS,
    "churn": CHURN,
    "sessions": TRACE,
    "keys": KEYS,
    "orders": ORDERS,
    "stale": STALE,
    "straight": STRAIGHT,
    "ring-means": MEANS,
    "growth": GROWTH,
}
FILES = {
    "capacities.txt": "".join(f"{1 + j * j % 11 * 9}\n" for j in range(12)),
    "sessions.txt": "".join(f"{j} {j * 7 % 9 * 0.75} {8 + j % 5}\n" for j in range(11))
    + "".join(f"{j} {20 + j % 4 / 4} {30 + j * 3 % 20}\n" for j in range(0, 12, 2)),
}
