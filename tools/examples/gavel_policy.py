"""A policy of Berth's in Gavel's simulator (github.com/stanford-futuredata/gavel), which is not changed for it.

usage: gavel_policy.py --gavel DIR --policy policy.onnx DRIVER [the driver's arguments, with -p berth]

    gavel_policy.py --gavel ~/gavel/scheduler --policy policy.onnx scripts/drivers/simulate_scheduler_with_trace.py \\
        -t traces/generated.trace -p berth -c 36:36:36 --throughputs_file simulation_throughputs.json

Runs the driver script of that checkout with one more policy, `berth`. A Gavel policy is an object with a `name`,
whose beginning tells the scheduler which arguments get_allocation takes (scheduler.py, _compute_allocation), and
whose `Perf` keeps it from shuffling the worker types. It gives back how much of the time each job should spend on
each worker type; a policy of Berth's says 1 for one type, or 0 for all: the job waits.
"""
import argparse
import os
import runpy
import sys

from berth_policy import Job, Policy


class BerthPolicy:
    """What Gavel's scheduler is handed. Remembers its last plan: get_allocation is told nothing of who runs."""

    # "FinishTimeFairness..." are the policies that are told ages, weights and the steps that remain.
    name = "FinishTimeFairness_Berth_Perf"

    def __init__(self, path):
        self._policy = Policy(path)
        if not self._policy.preemptive:
            raise ValueError(f"{path}: expected a preemptive policy, found one that lets jobs run to their end")
        self._steps = {}  # of each job, what remained when it was first seen
        self._last = {}  # of each job: (age at the last call, worker type of the plan or None, seconds attained)

    def get_allocation(
        self, throughputs, scale_factors, priority_weights, times_since_start, num_steps_remaining, cluster_spec
    ):
        """{job: {worker type: share of time}}; throughputs {job: {worker type: steps/s}}, ages in seconds."""
        kinds = sorted(kind for kind in cluster_spec if cluster_spec[kind] > 0)
        counts = [cluster_spec[kind] for kind in kinds]
        singles = [job for job in throughputs if not (hasattr(job, "is_pair") and job.is_pair())]
        allocation = {job: dict.fromkeys(cluster_spec, 0.0) for job in singles}
        # Who can run, in order of arrival.
        able = [
            job
            for job in sorted(singles, key=lambda job: (-times_since_start[job], job))
            if any(throughputs[job][kind] > 0 and scale_factors[job] <= cluster_spec[kind] for kind in kinds)
            and num_steps_remaining[job] > 0
        ]
        last, self._last = self._last, {}
        self._steps = {job: self._steps.get(job, num_steps_remaining[job]) for job in able}
        if not able:
            return allocation
        now = max(times_since_start[job] for job in able)
        described = []
        for job in able:
            age, kind, attained = last.get(job, (0.0, None, 0.0))
            if kind in kinds:  # as far as the policy knows: rounds may have let it wait
                attained += times_since_start[job] - age
            described.append(
                Job(
                    arrival=now - times_since_start[job],
                    gang=scale_factors[job],
                    rates=[throughputs[job][kind] for kind in kinds],
                    remaining_steps=num_steps_remaining[job],
                    attained=attained,
                    attained_steps=max(0.0, self._steps[job] - num_steps_remaining[job]),
                    running_on=kinds.index(kind) if kind in kinds else -1,
                    weight=priority_weights[job],
                )
            )
        for job, state, on in zip(able, described, self._policy.decide(now, counts, described)):
            if on >= 0:
                allocation[job][kinds[on]] = 1.0
            self._last[job] = times_since_start[job], kinds[on] if on >= 0 else None, state.attained
        return allocation


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gavel", required=True, help="the folder scheduler/ of a checkout of Gavel")
    parser.add_argument("--policy", required=True, help="what `berth export --onnx` wrote")
    parser.add_argument("driver", help="the script to run, relative to --gavel")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the driver is given")
    options = parser.parse_args()
    script = os.path.join(options.gavel, options.driver)
    try:
        for path in (os.path.join(options.gavel, "utils.py"), script):
            if not os.path.isfile(path):
                raise ValueError(f"--gavel {options.gavel}: expected Gavel's folder scheduler/, found no {path}")
        policy = BerthPolicy(options.policy)
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    sys.path.insert(0, os.path.abspath(options.gavel))
    import utils  # Gavel's: where its drivers look policies up

    get_policy, names = utils.get_policy, utils.get_available_policies()
    utils.get_available_policies = lambda: names + ["berth"]
    utils.get_policy = lambda name, *rest, **more: policy if name == "berth" else get_policy(name, *rest, **more)
    sys.argv = [script] + options.arguments
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
