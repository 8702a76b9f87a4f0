"""Does the Python of tools/examples write the observation that Berth's encoder wrote? usage: check_observation.py cases.json

Each case: now, counts, idle, jobs (as berth_policy.Job), knowledge, preemptive, and the blocks one after the other.
"""
import json
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tools/examples"))
import berth_observation_v3
from berth_policy import Job, observe, rates_of

cases, worst = json.load(open(sys.argv[1])), 0.0
for number, case in enumerate(cases):
    jobs = [Job(**{name: math.nan if value is None else value for name, value in job.items()}) for job in case["jobs"]]
    now, counts, idle, knowledge = case["now"], case["counts"], case["idle"], case["knowledge"]
    rates = rates_of(jobs, counts)
    blocks = observe(now, counts, idle, jobs, knowledge)
    blocks = berth_observation_v3.extend(blocks, now, counts, idle, jobs, rates, knowledge, case["preemptive"])
    found = np.concatenate([blocks[name].ravel() for name in ("jobs", "pairs", "types", "global")])
    expected = np.array(case["observation"], np.float32)
    if found.shape != expected.shape or found.dtype != np.float32:
        sys.exit(f"case {number}: expected {expected.shape} float32, found {found.shape} {found.dtype}")
    difference = np.abs(found.astype(float) - expected) / np.maximum(1.0, np.abs(expected))
    worst = max(worst, difference.max())
    if not worst <= 1e-6:
        at, sizes, names = int(difference.argmax()), np.cumsum([blocks[name].size for name in blocks]), list(blocks)
        block = int(np.searchsorted(sizes, at, side="right"))
        where = np.unravel_index(at - (sizes[block - 1] if block else 0), blocks[names[block]].shape[1:])
        sys.exit(f"case {number}: {names[block]}{[int(i) for i in where]}: expected {expected[at]}, found {found[at]}")
print(f"{len(cases)} observations, largest difference {worst:.1e}")
