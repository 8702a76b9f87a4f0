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

from exact_filling import filling

TOLERANCE = 1e-6


class Problem:
    """Columns are ways to use GPUs of a type: a job alone, in the order of Berth's shares, then two that share one.
    `rate` [m, n] is a job's speed in a column, 0 where it is not in it; `time` [m, n] and `gpus` [g, n] what a share of
    it takes."""

    def __init__(self, d):
        self.round, self.answers = d["round"], d["answers"]
        self.workers = np.array(d["workers"], float)
        gang, weight = np.array(d["gang"], float), np.array(d["weight"])
        self.work, self.since = np.array(d["remaining"]), np.array(d["since"])
        self.m, self.g = len(gang), len(self.workers)
        alone = np.array(d["throughput"]).reshape(self.m, self.g)
        columns = [(j, {i: alone[i, j]}) for i in range(self.m) for j in range(self.g)]
        if "beside" in d:
            kind, beside = d["kind"], np.array(d["beside"]).reshape(d["kinds"], d["kinds"], self.g)
            for a in range(self.m):
                for b in range(a + 1, self.m):
                    for j in range(self.g):
                        rates = beside[kind[a], kind[b], j], beside[kind[b], kind[a], j]
                        if gang[a] == gang[b] == 1 and min(rates) > 0 and min(alone[a, j], alone[b, j]) > 0:
                            columns.append((j, {a: rates[0], b: rates[1]}))
        self.n = len(columns)
        self.rate, self.time = np.zeros((self.m, self.n)), np.zeros((self.m, self.n))
        self.gpus, self.cost = np.zeros((self.g, self.n)), np.zeros(self.n)
        for c, (j, rates) in enumerate(columns):
            for i, rate in rates.items():
                self.rate[i, c], self.time[i, c] = rate, 1.0
            self.gpus[j, c], self.cost[c] = max(gang[i] for i in rates), d["price"][j]
        self.worth = self.rate * (gang / weight / (alone @ self.workers / self.workers.sum()))[:, None]
        share = self.workers / self.m / gang[:, None]
        isolated = share / np.maximum(1.0, share.sum(axis=1))[:, None]
        self.alone = self.work / (alone * isolated).sum(axis=1)
        if "beside" in d:  # as Gavel's finish-time fairness with packing
            self.fair_work = self.work * weight
        else:
            self.fair_work = self.work


def cbc(p, objective, level_of=(), floors=None):
    """max objective . x where it is given, else max c, worth_i . x >= c for i in level_of; worth_i . x >= floors_i
    where that is above 0. The value, and the prices of the rows of the level."""
    model = mip.Model(sense=mip.MAXIMIZE, solver_name=mip.CBC)
    model.verbose, model.infeas_tol, model.opt_tol = 0, 1e-10, 1e-10
    x = [model.add_var(lb=0.0) for _ in range(p.n)]

    def dot(row):
        return mip.xsum(row[c] * x[c] for c in np.flatnonzero(row))

    for j in range(p.g):
        model += dot(p.gpus[j]) <= p.workers[j]
    for i in range(p.m):
        model += dot(p.time[i]) <= 1.0
    for i, floor in enumerate(floors if floors is not None else []):
        if floor > 0.0:
            model += dot(p.worth[i] / floor) >= 1.0
    rows = {}
    if objective is None:
        c = model.add_var(lb=0.0)
        for i in level_of:
            rows[i] = model.add_constr(dot(p.worth[i]) - c >= 0.0)
        model.objective = c
    else:
        model.objective = dot(objective)
    status = model.optimize(relax=True)
    assert status == mip.OptimizationStatus.OPTIMAL, (p.round, status)
    return model.objective_value, {i: abs(row.pi) for i, row in rows.items()}


def conic(p, extra, cost, rows, right, cones):
    """min cost . (x, extra), with the base rows; `rows` @ (x, extra) + s = right, s in cones."""
    base = sparse.vstack([p.time, p.gpus, -sparse.eye(p.n)])
    base = sparse.hstack([base, sparse.csc_matrix((base.shape[0], extra))])
    a = sparse.csc_matrix(sparse.vstack([base, rows]))
    b = np.concatenate([np.ones(p.m), p.workers, np.zeros(p.n), right])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    all_cones = [clarabel.NonnegativeConeT(p.m + p.g + p.n)] + cones
    solver = clarabel.DefaultSolver(sparse.csc_matrix((p.n + extra, p.n + extra)), cost, a, b, all_cones, settings)
    return solver.solve()


def level(p):
    """Clarabel: max c, worth_i . x >= c."""
    rows = np.hstack([-p.worth, np.ones((p.m, 1))])
    cost = np.append(np.zeros(p.n), -1.0)
    return -conic(p, 1, cost, rows, np.zeros(p.m), [clarabel.NonnegativeConeT(p.m)]).obj_val


def logarithms(p):
    """Clarabel: max sum y_i, (y_i, 1, worth_i . x) in the exponential cone."""
    rows, right = [], []
    for i in range(p.m):
        y = np.zeros(p.m)
        y[i] = -1.0
        rows += [np.concatenate([np.zeros(p.n), y]), np.zeros(p.n + p.m),
                 np.concatenate([-p.worth[i], np.zeros(p.m)])]
        right += [0.0, 1.0, 0.0]
    cost = np.concatenate([np.zeros(p.n), -np.ones(p.m)])
    return -conic(p, p.m, cost, np.array(rows), np.array(right), [clarabel.ExponentialConeT()] * p.m).obj_val


def fair_finish(p):
    """Clarabel: min rho, (rate_i . x) (rho alone_i - since_i) >= fair_work_i as a second-order cone."""
    rows, right = [], []
    for i in range(p.m):
        # In units of the work and the time alone.
        speed = p.rate[i] * p.alone[i] / p.fair_work[i]
        since = p.since[i] / p.alone[i]
        rows += [np.append(-speed, -1.0), np.append(-speed, 1.0), np.zeros(p.n + 1)]
        right += [-since, since, 2.0]
    cost = np.zeros(p.n + 1)
    cost[-1] = 1.0
    return conic(p, 1, cost, np.array(rows), np.array(right), [clarabel.SecondOrderConeT(3)] * p.m).obj_val


def water(p):
    """CBC: levels by filling. Who has a price is held at the level in every optimum, and so is who cannot rise."""
    level, open_jobs = np.zeros(p.m), set(range(p.m))
    while open_jobs:
        floors = level * (1.0 - 1e-10)
        c, price = cbc(p, None, open_jobs, floors)
        held = {i for i in open_jobs if price[i] > 1e-6}
        for i in open_jobs - held:  # of one who is wrongly left open the next level is the same
            only = p.worth[i] / c
            others = floors.copy()
            others[list(open_jobs)] = c * (1.0 - 1e-10)
            if cbc(p, only, floors=others)[0] < 1.0 + 1e-8:
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
    worst, beyond, count = {}, {}, {}

    def note(name, value, round_):
        count[name] = count.get(name, 0) + 1
        beyond[name] = beyond.get(name, 0) + (not value <= TOLERANCE)
        if not value <= worst.get(name, (-1.0, 0))[0]:
            worst[name] = (value, round_)

    def nearer(name, value, of_level):
        """Of two solvers the nearer: CBC drops coefficients that it takes for nothing."""
        note(f"{name}, CBC or Clarabel",
             min(relative(value, of_level(c)) for c in (cbc(p, None, range(p.m))[0], level(p))), p.round)

    with open(sys.argv[1]) as f:
        for line in f:
            p = Problem(json.loads(line))
            for name, answer in p.answers.items():
                value, objective = answer["value"], name.split(" ")[0]  # what was solved, and how
                if objective in ("max_sum_throughput", "max_throughput_per_cost"):
                    by = p.cost if objective == "max_throughput_per_cost" else 1.0
                    note(f"{name}, CBC", relative(value, cbc(p, p.rate.sum(axis=0) / by)[0]), p.round)
                elif objective == "max_min":
                    nearer(name, value, lambda c: c)
                elif objective == "water_filling":
                    levels = water(p)
                    found = answer["levels"] if "levels" in answer else p.worth @ np.array(answer["x"])
                    off = np.max(np.abs(found - levels) / levels)
                    if not off <= TOLERANCE:  # one of the two: rational numbers tell which
                        levels = filling(p.worth, np.vstack([p.gpus, p.time]),
                                         np.concatenate([p.workers, np.ones(p.m)]))
                        off = np.max(np.abs(found - levels) / levels)
                        note(f"{name}, exact", off, p.round)
                    else:
                        note(f"{name}, CBC", off, p.round)
                elif objective == "proportional_fairness":
                    note(f"{name}, Clarabel", abs(value - logarithms(p)) / p.m, p.round)
                elif objective == "finish_time_fairness":
                    note(f"{name}, Clarabel", relative(value, fair_finish(p)), p.round)
                elif objective == "makespan":
                    worth, p.worth = p.worth, p.rate / p.work[:, None] * 100.0
                    nearer(name, value, lambda c: 100.0 / c)
                    p.worth = worth
                else:
                    raise ValueError(name)
    for name, (value, round_) in worst.items():
        print(f"{name}: {count[name]} problems, {beyond[name]} beyond {TOLERANCE}, largest {value:.2e} (round {round_})",
              file=out)
    out.flush()
    return 0 if count and all(value <= TOLERANCE for value, _ in worst.values()) else 1


sys.exit(main())
