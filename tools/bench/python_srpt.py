"""CPU seconds of a run of 1,000 jobs under SRPT written with NumPy, clock `event`, for `berth bench`: the first run of a process, the
median of five more, and what importing pandas takes, in which the first table of a process comes.

usage: python_srpt.py      -> one line: s of the first run, s of later runs, s of importing pandas, decisions
"""

import statistics
import time

import berth
import numpy as np


class Srpt(berth.Scheduler):
    """Least remaining time first, on the fastest type with room; who finds none waits."""

    knowledge = "oracle"

    def decide(self, view, decision):
        jobs, free = view.active, view.gpus.tolist()
        rates = view.rates[jobs]
        order = np.argsort(view.remaining[jobs] / rates.max(axis=1), kind="stable")
        jobs = jobs[order]
        rows = zip(jobs.tolist(), rates[order].tolist(), view.gang[jobs].tolist(), view.type_of[jobs].tolist())
        for job, speeds, gang, here in rows:
            best = max(range(len(free)), key=lambda its: speeds[its] if free[its] >= gang else 0.0)
            if free[best] >= gang and speeds[best] > 0:
                free[best] -= gang
                if here < 0:
                    decision.start(job, best)
                elif here != best:
                    decision.move(job, best)
            elif here >= 0:
                decision.stop(job)


def timed(work):
    begin = time.process_time()
    done = work()
    return time.process_time() - begin, done


def run():
    return berth.simulate(Srpt(), workload="synthetic(jobs=1000)", cluster="v100=12,p100=12,k80=12", clock="event", seed=1000)


runs = [timed(run) for _ in range(6)]
assert runs[0][1].metrics["unfinished"] == 0
pandas, _ = timed(lambda: __import__("pandas"))
print(runs[0][0], statistics.median(seconds for seconds, _ in runs[1:]), pandas, runs[0][1].metrics["decisions"])
