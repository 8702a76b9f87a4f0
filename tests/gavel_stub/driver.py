"""Asks a policy as Gavel's scheduler does at every allocation reset (scheduler.py, _compute_allocation).

usage: driver.py CALLS.json ANSWERS.json -p POLICY. CALLS is a list of the arguments of get_allocation, jobs by number.
"""
import argparse
import copy
import json

import utils


class JobIdPair:
    """What the scheduler's keys are: one job, or a pair on one GPU."""

    def __init__(self, job, other=None):
        self.job, self.other = job, other

    def is_pair(self):
        return self.other is not None

    def __lt__(self, other):
        return self.job < other.job

    def __eq__(self, other):
        return (self.job, self.other) == (other.job, other.other)

    def __hash__(self):
        return hash((self.job, self.other))


parser = argparse.ArgumentParser()
parser.add_argument("calls")
parser.add_argument("answers")
parser.add_argument("-p", "--policy", choices=utils.get_available_policies())
options = parser.parse_args()
policy = utils.get_policy(options.policy, solver="ECOS", seed=0)
assert policy.name.startswith("FinishTimeFairness") and "Perf" in policy.name and "Packing" not in policy.name
answers = []
with open(options.calls) as file:
    for call in json.load(file):
        keys = {name: JobIdPair(int(name)) for name in call["throughputs"]}
        by_job = {
            what: {keys[name]: value for name, value in call[what].items()}
            for what in ("throughputs", "scale_factors", "priority_weights", "times_since_start", "num_steps_remaining")
        }
        by_job["throughputs"][JobIdPair(0, 1)] = {kind: [1.0, 1.0] for kind in call["cluster_spec"]}
        allocation = policy.get_allocation(
            copy.deepcopy(by_job["throughputs"]),
            by_job["scale_factors"],
            by_job["priority_weights"],
            by_job["times_since_start"],
            by_job["num_steps_remaining"],
            copy.deepcopy(call["cluster_spec"]),
        )
        # What the round mechanism reads: every job, every worker type, a share of time.
        for key in keys.values():
            assert set(allocation[key]) == set(call["cluster_spec"])
            assert all(0.0 <= share <= 1.0 for share in allocation[key].values()) and sum(allocation[key].values()) <= 1.0
        answers.append({str(key.job): shares for key, shares in allocation.items()})
with open(options.answers, "w") as file:
    json.dump(answers, file)
