"""Objectives of allocations by CBC (python-mip) and Clarabel, which share no code with Berth or HiGHS.

    independent_solvers.py FILE     a problem and Berth's answers a line, as tests/independent_solvers_test.cpp writes them

Prints the largest difference of each objective, relative, of sums of logarithms a job; exit status 1 where one is
above 1e-6. Needs clarabel, mip, numpy and scipy.
"""
import json
import os
import sys

import clarabel
import mip
import numpy as np
from scipy import sparse

TOLERANCE = 1e-6


class Problem:
    def __init__(self, line):
        d = json.loads(line)
        self.round, self.answers = d["round"], d["answers"]
        self.workers = np.array(d["workers"], float)
        self.gang, self.weight = np.array(d["gang"], float), np.array(d["weight"])
        self.remaining, self.since = np.array(d["remaining"]), np.array(d["since"])
        self.price = np.array(d["price"])
        self.m, self.g = len(self.gang), len(self.workers)
        self.rate = np.array(d["throughput"]).reshape(self.m, self.g)
        proportional = self.rate @ self.workers / self.workers.sum()
        self.worth = self.rate * (self.gang / self.weight / proportional)[:, None]
        share = np.minimum(self.workers / self.m / self.gang[:, None], np.inf)
        isolated = share / np.maximum(1.0, share.sum(axis=1))[:, None]
        self.alone = self.remaining / (self.rate * isolated).sum(axis=1)

    def levels(self, x):
        return (self.worth * np.array(x).reshape(self.m, self.g)).sum(axis=1)


def cbc(p, objective, level_of=(), floors=None):
    """max objective . x where it is given, else max c, worth_i . x >= c for i in level_of; worth_i . x >= floors_i
    where that is above 0. The value, and the prices of the rows of the level."""
    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    model.verbose, model.infeas_tol, model.opt_tol = 0, 1e-10, 1e-10
    x = [[model.add_var(lb=0.0) for _ in range(p.g)] for _ in range(p.m)]
    for j in range(p.g):
        model += mip.xsum(p.gang[i] * x[i][j] for i in range(p.m)) <= p.workers[j]
    for i in range(p.m):
        model += mip.xsum(x[i]) <= 1.0
    for i, floor in enumerate(floors if floors is not None else []):
        if floor > 0.0:
            model += mip.xsum(p.worth[i, j] / floor * x[i][j] for j in range(p.g)) >= 1.0
    rows = {}
    if objective is None:
        c = model.add_var(lb=0.0)
        for i in level_of:
            rows[i] = model.add_constr(mip.xsum(p.worth[i, j] * x[i][j] for j in range(p.g)) - c >= 0.0)
        model.objective = c
    else:
        model.objective = mip.xsum(objective[i, j] * x[i][j] for i in range(p.m) for j in range(p.g))
    status = model.optimize(relax=True)
    assert status == mip.OptimizationStatus.OPTIMAL, (p.round, status)
    return model.objective_value, {i: abs(row.pi) for i, row in rows.items()}


def conic(p, extra, cost, rows, right, cones):
    """min cost . (x, extra), with the base rows; `rows` @ (x, extra) + s = right, s in cones."""
    n = p.m * p.g
    time = np.kron(np.eye(p.m), np.ones(p.g))
    gpus = np.zeros((p.g, n))
    for j in range(p.g):
        gpus[j, j::p.g] = p.gang
    base = np.vstack([time, gpus, -np.eye(n)])
    base = np.hstack([base, np.zeros((base.shape[0], extra))])
    a = sparse.csc_matrix(np.vstack([base, rows]))
    b = np.concatenate([np.ones(p.m), p.workers, np.zeros(n), right])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    all_cones = [clarabel.NonnegativeConeT(p.m + p.g + n)] + cones
    solver = clarabel.DefaultSolver(sparse.csc_matrix((n + extra, n + extra)), cost, a, b, all_cones, settings)
    return solver.solve()


def level(p):
    """Clarabel: max c, worth_i . x >= c."""
    rows = np.array([np.append(-of_job(p, i, p.worth), 1.0) for i in range(p.m)])
    cost = np.append(np.zeros(p.m * p.g), -1.0)
    return -conic(p, 1, cost, rows, np.zeros(p.m), [clarabel.NonnegativeConeT(p.m)]).obj_val


def of_job(p, i, by):
    row = np.zeros(p.m * p.g)
    row[i * p.g:(i + 1) * p.g] = by[i]
    return row


def logarithms(p):
    """Clarabel: max sum y_i, (y_i, 1, worth_i . x) in the exponential cone."""
    rows, right = [], []
    for i in range(p.m):
        y = np.zeros(p.m)
        y[i] = -1.0
        rows += [np.concatenate([np.zeros(p.m * p.g), y]), np.zeros(p.m * p.g + p.m),
                 np.concatenate([-of_job(p, i, p.worth), np.zeros(p.m)])]
        right += [0.0, 1.0, 0.0]
    cost = np.concatenate([np.zeros(p.m * p.g), -np.ones(p.m)])
    return -conic(p, p.m, cost, np.array(rows), np.array(right), [clarabel.ExponentialConeT()] * p.m).obj_val


def fair_finish(p):
    """Clarabel: min rho, (rate_i . x) (rho alone_i - since_i) >= remaining_i as a second-order cone."""
    rows, right = [], []
    for i in range(p.m):
        # In units of the remaining work and the time alone.
        speed = of_job(p, i, p.rate * p.alone[:, None] / p.remaining[:, None])
        since = p.since[i] / p.alone[i]
        rows += [np.append(-speed, -1.0), np.append(-speed, 1.0), np.zeros(p.m * p.g + 1)]
        right += [-since, since, 2.0]
    cost = np.zeros(p.m * p.g + 1)
    cost[-1] = 1.0
    return conic(p, 1, cost, np.array(rows), np.array(right), [clarabel.SecondOrderConeT(3)] * p.m).obj_val


def water(p):
    """CBC: levels by filling. Who has a price is held at the level in every optimum, and so is who cannot rise."""
    level, open_jobs = np.zeros(p.m), set(range(p.m))
    while open_jobs:
        floors = level * (1.0 - 1e-10)
        c, price = cbc(p, None, open_jobs, floors)
        held = {i for i in open_jobs if price[i] > 1e-6}
        for i in open_jobs - held:
            only = np.zeros_like(p.worth)
            only[i] = p.worth[i] / c
            others = floors.copy()
            others[list(open_jobs)] = c * (1.0 - 1e-10)
            if cbc(p, only, floors=others)[0] < 1.0 + 1e-5:
                held.add(i)
        assert held, p.round
        level[list(held)] = c
        open_jobs -= held
    return level


def relative(found, expected):
    return abs(found - expected) / max(abs(expected), 1e-12)


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # CBC writes what it does
    worst, beyond, count = {}, {}, 0

    def note(name, value, round_):
        beyond[name] = beyond.get(name, 0) + (not value <= TOLERANCE)
        if not value <= worst.get(name, (-1.0, 0))[0]:
            worst[name] = (value, round_)

    with open(sys.argv[1]) as f:
        for line in f:
            p, count = Problem(line), count + 1
            value = {name: answer["value"] for name, answer in p.answers.items()}
            for name, rate in ("max_sum_throughput", p.rate), ("max_throughput_per_cost", p.rate / p.price):
                note(f"{name}, CBC", relative(value[name], cbc(p, rate)[0]), p.round)
            # Of two solvers the nearer: CBC drops coefficients that it takes for nothing.
            note("max_min, CBC or Clarabel",
                 min(relative(value["max_min"], c) for c in (cbc(p, None, range(p.m))[0], level(p))), p.round)
            levels = water(p)
            found = p.levels(p.answers["water_filling"]["x"])
            note("water_filling, CBC", np.max(np.abs(found - levels) / levels), p.round)
            note("proportional_fairness, Clarabel", abs(value["proportional_fairness"] - logarithms(p)) / p.m, p.round)
            note("finish_time_fairness, Clarabel", relative(value["finish_time_fairness"], fair_finish(p)), p.round)
            p.worth = p.rate / p.remaining[:, None] * 100.0
            note("makespan, CBC or Clarabel",
                 min(relative(value["makespan"], 100.0 / c) for c in (cbc(p, None, range(p.m))[0], level(p))), p.round)
    for name, (value, round_) in worst.items():
        print(f"{name}: {count} problems, {beyond[name]} beyond {TOLERANCE}, largest {value:.2e} (round {round_})",
              file=out)
    out.flush()
    return 0 if count and all(value <= TOLERANCE for value, _ in worst.values()) else 1


sys.exit(main())
