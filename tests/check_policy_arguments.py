"""Does berth_policy.py name what cannot be, rather than plan with it? usage: check_policy_arguments.py policy.onnx"""
import dataclasses
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tools/examples"))
from berth_policy import Job, Policy, check

NAN, INF = math.nan, math.inf
GOOD = [Job(arrival=0.0, gang=1, rates=[40.0, 9.0, 2.0], remaining_steps=5e5, attained=30.0, running_on=0),
        Job(arrival=60.0, gang=2, rates=[20.0, 16.0, 0.0], remaining_steps=2e4)]
BAD = [  # of the second job
    (dict(rates=[0.0, 0.0, 0.0]), "job 1: expected a type with 2 GPUs on which its rate is above 0, found none"),
    (dict(gang=9), "job 1: expected a type with 9 GPUs"),
    (dict(rates=[0.0, 0.0, 1.0], gang=3), "job 1: expected a type with 3 GPUs"),  # the type that it runs on is small
    (dict(rates=[20.0, 16.0]), "job 1: rates: expected 3 numbers, found 2"),
    (dict(rates=[20.0, NAN, 1.0]), "job 1: rates: expected steps/s >= 0, found nan"),
    (dict(rates=[20.0, -1.0, 1.0]), "job 1: rates: expected steps/s >= 0, found -1.0"),
    (dict(rates=[20.0, INF, 1.0]), "job 1: rates: expected steps/s >= 0, found inf"),
    (dict(gang=0), "job 1: gang: expected a whole number of GPUs from 1, found 0"),
    (dict(gang=1.5), "job 1: gang: expected a whole number"),
    (dict(arrival=120.5), "job 1: arrival: expected seconds up to now, 120.0, found 120.5"),
    (dict(arrival=NAN), "job 1: arrival"),
    (dict(remaining_steps=-1.0), "job 1: remaining_steps: expected a number > 0, found -1.0"),
    (dict(remaining_steps=0.0), "job 1: remaining_steps"),
    (dict(remaining_steps=NAN), "job 1: remaining_steps"),
    (dict(attained_steps=-1.0), "job 1: attained_steps: expected the steps that it has done, >= 0, found -1.0"),
    (dict(attained=-1.0), "job 1: attained: expected seconds >= 0, found -1.0"),
    (dict(weight=0.0), "job 1: weight: expected a number > 0, found 0.0"),
    (dict(deadline=NAN), "job 1: deadline"),
    (dict(requested=-5.0), "job 1: requested"),
    (dict(running_on=3), "job 1: running_on: expected -1 to 2, found 3"),
    (dict(running_on=-2), "job 1: running_on"),
    (dict(running_on=2), "job 1: running_on: expected a type on which its rate is above 0, found 2"),
    (dict(rates="abc"), "job 1: rates: expected a list of numbers, found str"),
    (dict(rates=[20.0, "a", 0.0]), "job 1: rates: expected a number, found str"),
    (dict(rates=None), "job 1: rates: expected a list of numbers, found NoneType"),
    (dict(gang="1"), "job 1: gang: expected a number, found str"),
    (dict(deadline=None), "job 1: deadline: expected a number, found NoneType"),
    (dict(running_on=0, gang=4), "job 1: running_on: expected 4 GPUs of type 0 in all, found more"),
]
CALLS = [
    (dict(now=NAN), "now: expected seconds, found nan"),
    (dict(now="noon"), "now: expected a number, found str"),
    (dict(counts="ab"), "counts: expected a list of numbers, found str"),
    (dict(counts=4), "counts: expected a list of numbers, found int"),
    (dict(counts=[4, "b", 2]), "counts[1]: expected a number, found str"),
    (dict(jobs=[1]), "job 0: expected a Job, found int without 'arrival'"),
    (dict(jobs=GOOD[0]), "jobs: expected a list of Job, found Job"),
    (dict(counts=[]), "counts: expected at least one GPU type, found none"),
    (dict(counts=[4, 0, 2]), "counts[1]: expected a whole number of GPUs from 1, found 0"),
    (dict(counts=[4, 8]), "job 0: rates: expected 2 numbers, found 3"),
]

policy = Policy(sys.argv[1])
call = dict(now=120.0, counts=[4, 8, 2], jobs=GOOD)
plan = policy.decide(**call)
if not (len(plan) == 2 and set(plan) <= {0, 1, 2} and plan[1] != 2):
    sys.exit(f"expected both jobs to run where they can, found {plan}")
cases = [({**call, "jobs": [GOOD[0], dataclasses.replace(GOOD[1], **wrong)]}, why) for wrong, why in BAD]
cases += [({**call, **wrong}, why) for wrong, why in CALLS]
for arguments, why in cases:
    try:
        found = f"the plan {policy.decide(**arguments)}"
    except (TypeError, ValueError) as error:
        found = str(error)
    if not found.startswith(why):
        sys.exit(f"expected {why!r}, found {found!r}")
try:
    check(120.0, [4, 8, 2], GOOD, "blind", reads_steps=True)
    sys.exit("expected the steps of a job that has run to be asked for")
except ValueError as error:
    if not str(error).startswith("job 0: attained_steps: expected the steps that it has done"):
        sys.exit(f"found {error}")
print(f"{len(cases) + 1} refused")
