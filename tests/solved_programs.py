"""Answers to linear and mixed-integer programs against CBC (python-mip) and Clarabel, which share no code with Berth or
HiGHS.

    solved_programs.py FILE     a program and Berth's answer a line, as tests/solved_programs_test.cpp writes them

Of a program of LpModel: x keeps its rows and bounds, the objective is that of x and no further from the optimum than
the relative gap that was asked for, and no optimum is beyond the bound; where CBC proves none in 30 s, its best point
and its bound are held against ours ("enclosed"). What Berth solves by algorithms of its own is written out here as a
program, from its data, and CBC must find its optimum. Prints how many programs of each kind were compared and the
largest difference; exit status 1 where one is above 1e-6, relative. Needs clarabel, mip, numpy and scipy.
"""
import collections
import json
import math
import os
import sys

import clarabel
import mip
import numpy as np
from scipy import sparse

TOLERANCE = 1e-6
SECONDS = 30  # for CBC
INFINITY = float("inf")


def finite(values, instead):
    return np.array([instead if v is None else v for v in values], float)


class Program:
    """min cost x, row_lower <= a x <= row_upper, lower <= x <= upper, x whole where `integer` says so; or max."""

    def __init__(self, maximize, cost, lower, upper, a, row_lower, row_upper, integer):
        self.maximize, self.cost, self.lower, self.upper = maximize, np.array(cost, float), lower, upper
        self.a, self.row_lower, self.row_upper, self.integer = sparse.csr_matrix(a), row_lower, row_upper, list(integer)

    def cbc(self, beyond=None):
        """(status, the best objective found, the bound on all), of those no worse than `beyond` where it is given."""
        sense = mip.MAXIMIZE if self.maximize else mip.MINIMIZE
        model = mip.Model(sense=sense, solver_name=mip.CBC)
        model.verbose, model.threads = 0, 1
        model.infeas_tol = model.opt_tol = model.integer_tol = 1e-9
        model.max_mip_gap = model.max_mip_gap_abs = 0.0
        # With its preprocessing CBC 2.10 calls points optimal that are not. It also passes over what is better by less
        # than an increment that it takes the costs to have: they are made large.
        model.preprocess = 0
        scale = 1e4 / max(np.max(np.abs(self.cost), initial=0.0), 1e-9)
        whole = set(self.integer)
        x = [model.add_var(lb=low, ub=high, obj=scale * cost, var_type=mip.INTEGER if c in whole else mip.CONTINUOUS)
             for c, (low, high, cost) in enumerate(zip(self.lower, self.upper, self.cost))]
        rows = [(self.a.indices[begin:end], self.a.data[begin:end], low, high) for begin, end, low, high in
                zip(self.a.indptr, self.a.indptr[1:], self.row_lower, self.row_upper)]
        if beyond is not None:
            low, high = (beyond, INFINITY) if self.maximize else (-INFINITY, beyond)
            rows.append((range(len(x)), scale * self.cost, scale * low, scale * high))
        for columns, values, low, high in rows:
            row = mip.xsum(float(v) * x[c] for c, v in zip(columns, values))
            if low == high:
                model += row == float(low)
                continue
            if low > -INFINITY:
                model += row >= float(low)
            if high < INFINITY:
                model += row <= float(high)
        status = model.optimize(max_seconds=SECONDS)
        if status in (mip.OptimizationStatus.OPTIMAL, mip.OptimizationStatus.FEASIBLE):
            name = "optimal" if status == mip.OptimizationStatus.OPTIMAL else "enclosed"
            return name, model.objective_value / scale, model.objective_bound / scale
        if status in (mip.OptimizationStatus.INFEASIBLE, mip.OptimizationStatus.INT_INFEASIBLE):
            return "infeasible", math.nan, math.nan
        return ("unbounded" if status == mip.OptimizationStatus.UNBOUNDED else "unsolved"), math.nan, math.nan

    def optimum(self, claimed):
        """The optimum by CBC. Where that is not what is claimed, CBC is asked once more, for what is at least as good."""
        status, best, _ = self.cbc()
        if status != "optimal":
            raise Unsolved(status)
        if off(claimed, best) <= TOLERANCE:
            return best
        margin = TOLERANCE * abs(claimed)
        again, other, _ = self.cbc(beyond=claimed - margin if self.maximize else claimed + margin)
        if again != "optimal":
            return best
        return max(best, other) if self.maximize else min(best, other)

    def clarabel(self):
        n, rows = len(self.cost), sparse.vstack([self.a, sparse.eye(len(self.cost))], format="csr")
        low, high = np.concatenate([self.row_lower, self.lower]), np.concatenate([self.row_upper, self.upper])
        equal, above, below = low == high, (low > -INFINITY) & (low < high), (high < INFINITY) & (low < high)
        a = sparse.csc_matrix(sparse.vstack([rows[equal], rows[below], -rows[above]]))
        b = np.concatenate([low[equal], high[below], -low[above]])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        sense = -1.0 if self.maximize else 1.0
        cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(below.sum() + above.sum()))]
        said = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), sense * self.cost, a, b, cones, settings).solve()
        names = {"Solved": "optimal", "AlmostSolved": "optimal", "PrimalInfeasible": "infeasible",
                 "DualInfeasible": "unbounded"}
        return names.get(str(said.status), "unsolved"), sense * said.obj_val


def choices(maximize, rows):
    """A program of whole columns in [0, 1]; `rows`: (lower, {column: coefficient}, upper), or a column's cost alone."""
    cost = [row for row in rows if not isinstance(row, tuple)]
    rest = [row for row in rows if isinstance(row, tuple)]
    a = sparse.lil_matrix((len(rest), len(cost)))
    for r, (_, entries, _) in enumerate(rest):
        for c, v in entries.items():
            a[r, c] += v
    n = len(cost)
    return Program(maximize, cost, np.zeros(n), np.ones(n), a, np.array([row[0] for row in rest], float),
                   np.array([row[2] for row in rest], float), range(n))


class Unsolved(Exception):
    pass


def off(found, expected, scale=0.0):
    return abs(found - expected) / max(abs(expected), abs(found), scale, 1e-9)


def of_model(d, note):
    n, rows = len(d["cost"]), len(d["row_lower"])
    a = sparse.csr_matrix((d["coefficient"], d["column"], d["row_begin"]), shape=(rows, n))
    p = Program(d["maximize"], d["cost"], finite(d["lower"], -INFINITY), finite(d["upper"], INFINITY), a,
                finite(d["row_lower"], -INFINITY), finite(d["row_upper"], INFINITY), d["integer"])
    status, value, bound, x = d["status"], d["objective"], d["bound"], np.array(d["x"])
    if status == "error":
        return note("no answer", 0.0)
    stopped = status == "time limit"  # of nodes, with what was found by then
    solver, expected, best = "Clarabel", "unsolved", math.nan
    if not d["integer"]:
        expected, best = p.clarabel()
    if expected != status or (expected == "optimal" and not off(value, best) <= TOLERANCE):
        solver, (expected, best, limit) = "CBC", p.cbc()
    else:
        limit = best
    if expected == "unsolved":
        raise Unsolved(expected)
    if expected in ("infeasible", "unbounded"):
        same = expected == status or (stopped and not len(x))
        return note(f"{status}, {solver}", 0.0 if same else INFINITY)
    if status in ("infeasible", "unbounded"):
        return note(f"{status}, {solver}", INFINITY)
    sense = -1.0 if p.maximize else 1.0
    if d["integer"] and expected == "optimal" and len(x) and sense * (best - value) > TOLERANCE * abs(value):
        best = limit = p.optimum(value)  # ours is better: is there a point that is?
    differences, size = [0.0], max(abs(best), 1e-9)
    if bound is not None:
        differences.append(max(0.0, sense * (bound - best)) / size)
    if len(x):
        whole = p.integer
        differences.append(np.max(np.abs(x[whole] - np.round(x[whole])), initial=0.0))
        x[whole] = np.round(x[whole])
        for has, low, high in ((a @ x, p.row_lower, p.row_upper), (x, p.lower, p.upper)):
            differences.append(np.max(np.maximum(low - has, has - high) / (1.0 + np.abs(has)), initial=0.0))
        differences.append(off(value, p.cost @ x))
        differences.append(max(0.0, sense * (limit - value)) / size)
        if not stopped:
            differences.append(max(0.0, sense * (value - best) - d["gap"] * abs(value)) / size)
    note(f"{'out of nodes' if stopped else 'optimal'}, {expected} by {solver}", max(differences))


def sia(d, note):
    """Each job at most one configuration, or that which it is forced to; the GPUs of each type suffice."""
    k = len(d["configurations"])
    columns = [(job, at, cost) for job, row in enumerate(np.array(d["cost"], object).reshape(-1, k))
               for at, cost in enumerate(row) if cost is not None and (d["forced"][job] in (-1, at))]
    program = [cost - d["unallocated"] for _, _, cost in columns]
    for job, forced in enumerate(d["forced"]):
        program.append((1 if forced >= 0 else 0, {c: 1 for c, column in enumerate(columns) if column[0] == job}, 1))
    for kind, gpus in enumerate(d["capacity"]):
        program.append((-INFINITY, {c: d["configurations"][at][1] for c, (_, at, _) in enumerate(columns)
                                    if d["configurations"][at][0] == kind}, gpus))
    none = d["unallocated"] * len(d["forced"])
    best = choices(False, program).optimum(d["objective"] - none) + none
    cost = np.array(d["cost"], object).reshape(-1, k)
    chosen = sum(d["unallocated"] if at < 0 else cost[job, at] for job, at in enumerate(d["chosen"]))
    note("CBC", max(off(d["objective"], best), off(chosen, best), off(d["bound"], best)))


def auction(d, note):
    """The greatest sum of -log rho, and what it is without each app that gets GPUs."""
    def worth(out, claimed):
        columns = [(i, kind, gpus, -math.log(rho)) for i, bids in enumerate(d["bids"]) if i != out
                   for kind, gpus, rho in bids]
        program = [its[3] for its in columns]
        for i in range(len(d["bids"])):
            if i != out:
                program.append((1, {c: 1 for c, its in enumerate(columns) if its[0] == i}, 1))
        for kind, gpus in enumerate(d["room"]):
            program.append((-INFINITY, {c: its[2] for c, its in enumerate(columns) if its[1] == kind}, gpus))
        return choices(True, program).optimum(claimed) if columns else 0.0

    chosen = [bids[b] for bids, b in zip(d["bids"], d["chosen"])]
    for kind, gpus in enumerate(d["room"]):
        assert sum(bid[1] for bid in chosen if bid[0] == kind) <= gpus
    ours = -sum(math.log(bid[2]) for bid in chosen)
    most = worth(None, ours)
    note("CBC, allocation", abs(ours - most))
    for i, bid in enumerate(chosen):
        others = ours + math.log(bid[2])
        kept = 1.0 if bid[1] == 0 else min(1.0, math.exp(others - worth(i, others - math.log(d["kept"][i]))))
        note("CBC, part kept", abs(d["kept"][i] - kept))


def plan(d, note):
    """Single GPUs. Makespan: each job on one GPU, whose load ends by it. Sum of completions: each job at a place from
    the end of a GPU, where its seconds count for itself and for those behind it."""
    seconds = np.array(d["seconds"]).reshape(-1, len(d["free_at"]))
    gpus = [(kind, at) for kind, free in enumerate(d["free_at"]) for at in free]
    jobs = len(seconds)
    if d["makespan"]:
        columns = [(i, g) for i in range(jobs) for g in range(len(gpus))]
        a = sparse.lil_matrix((jobs + len(gpus), 1 + len(columns)))
        for c, (i, g) in enumerate(columns):
            a[i, 1 + c], a[jobs + g, 1 + c] = 1.0, seconds[i, gpus[g][0]]
        for g in range(len(gpus)):
            a[jobs + g, 0] = -1.0
        n = len(columns)
        p = Program(False, [1.0] + [0.0] * n, np.zeros(1 + n), np.concatenate([[INFINITY], np.ones(n)]), a,
                    np.concatenate([np.ones(jobs), np.full(len(gpus), -INFINITY)]),
                    np.concatenate([np.ones(jobs), [-at for _, at in gpus]]), range(1, 1 + n))
        best = p.optimum(d["value"])
        note("CBC, value", max(0.0, best - d["value"]) / best)
        note("CBC, bound", max(0.0, d["bound"] - best) / best)
        return
    columns = [(i, g, k) for i in range(jobs) for g in range(len(gpus)) for k in range(jobs)]
    program = [gpus[g][1] + (k + 1) * seconds[i, gpus[g][0]] for i, g, k in columns]
    for i in range(jobs):
        program.append((1, {c: 1 for c, its in enumerate(columns) if its[0] == i}, 1))
    for place in sorted({its[1:] for its in columns}):
        program.append((0, {c: 1 for c, its in enumerate(columns) if its[1:] == place}, 1))
    best = choices(False, program).optimum(d["value"])
    note("CBC", max(off(d["value"], best), off(d["bound"], best)))


def schedule(d, note):
    """A column for each job, type and second at which it could start there; GPUs suffice in every second."""
    seconds = [[None if s is None else int(s) for s in row] for row in d["seconds"]]
    horizon = int(max(d["arrival"])) + sum(max(s for s in row if s is not None) for row in seconds)
    columns = [(j, g, t) for j, row in enumerate(seconds) for g, s in enumerate(row)
               if s is not None and d["gang"][j] <= d["gpus"][g]
               for t in range(int(d["arrival"][j]), horizon - s + 1)]
    ends = [t + seconds[j][g] for j, g, t in columns]
    rows = [(1, {1 + c: 1 for c, its in enumerate(columns) if its[0] == j}, 1) for j in range(len(seconds))]
    for g, gpus in enumerate(d["gpus"]):
        for now in range(horizon):
            holds = {1 + c: d["gang"][j] for c, (j, on, t) in enumerate(columns) if on == g and t <= now < ends[c]}
            rows.append((-INFINITY, holds, gpus))
    if d["makespan"]:
        rows += [(0, {0: 1, **{1 + c: -ends[c] for c, its in enumerate(columns) if its[0] == j}}, INFINITY)
                 for j in range(len(seconds))]
    a = sparse.lil_matrix((len(rows), 1 + len(columns)))
    for r, (_, entries, _) in enumerate(rows):
        for c, v in entries.items():
            a[r, c] = v
    n = len(columns)
    cost = [1.0] + [0.0] * n if d["makespan"] else [0.0] + ends
    program = Program(False, cost, np.zeros(1 + n), np.concatenate([[horizon], np.ones(n)]), a,
                      np.array([row[0] for row in rows], float), np.array([row[2] for row in rows], float),
                      range(1, 1 + n))
    note("CBC", off(d["value"], program.optimum(d["value"])))


def assignment(d, note):
    rows, groups = len(d["members"]), len(d["room"])
    a = sparse.lil_matrix((rows + groups, rows * groups))
    for r in range(rows):
        for g in range(groups):
            a[r, r * groups + g] = a[rows + g, r * groups + g] = 1.0
    n = rows * groups
    program = Program(False, d["cost"], np.zeros(n), np.full(n, INFINITY), a,
                      np.array(d["members"] + [0] * groups, float), np.array(d["members"] + d["room"], float), range(n))
    note("CBC", off(d["value"], program.optimum(d["value"]), scale=1.0))


BY_KIND = {"sia, by its own": sia, "sia, by branch and cut": sia, "partial_allocation, by tables": auction,
           "partial_allocation, by programs": auction, "milp, makespans": plan, "milp, places": plan,
           "assignment_lp, bounds": plan, "bench --optimality": schedule, "cheapest assignment": assignment,
           "grouped assignment": assignment}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # CBC writes what it does
    differences, unsolved = collections.defaultdict(list), []
    with open(sys.argv[1]) as f:
        for number, line in enumerate(f, 1):
            d = json.loads(line)
            kind = d["kind"]
            try:
                BY_KIND.get(kind, of_model)(d["what"], lambda how, value: differences[f"{kind}: {how}"].append((value, number)))
            except Unsolved:
                unsolved.append((kind, number))
    beyond = 0
    for name, found in sorted(differences.items()):
        bad = [number for value, number in found if not value <= TOLERANCE]
        worst, where = max(found)
        beyond += len(bad)
        print(f"{name}: {len(found)} compared, {len(bad)} beyond {TOLERANCE}, largest {worst:.2e} (line {where})", file=out)
    for kind, number in unsolved:
        print(f"{kind}: CBC found no optimum (line {number})", file=out)
    print(f"{sum(map(len, differences.values()))} comparisons, {beyond} beyond, {len(unsolved)} unsolved", file=out)
    out.flush()
    return 1 if beyond or unsolved or not differences else 0


sys.exit(main())
