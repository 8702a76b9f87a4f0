"""Does a policy, read by its format alone, decide as Berth does? usage: check_policy.py policy.h5 cases.json

CASES is a list of {"observation": [...], "gangs": [...], "rates": [[...]], "room": [...], "runs_on": [...]}.
"""
import json
import sys

import numpy as np

import read_policy

policy = read_policy.Policy(sys.argv[1])
examples = [policy.examples[name] for name in ("observation", "action_mask", "scores")]
for row, mask, scores in zip(*examples):
    ours = policy.scores(row, policy.at["queue"], policy.at["types"])
    if not np.abs(ours - scores).max() <= 1e-5 * max(1, np.abs(scores).max()):
        sys.exit(f"scores: expected {scores}, found {ours}")
    best, wanted = (np.where(mask, x, -np.inf).argmax() for x in (ours, scores))
    if best != wanted:
        sys.exit(f"action: expected {wanted}, found {best}")
with open(sys.argv[2]) as file:
    cases = json.load(file)
for number, case in enumerate(cases):
    row = np.array(case["observation"], "float32")
    ours = policy.plan(row, case["gangs"], case["rates"], case["room"])
    if ours != case["runs_on"]:
        sys.exit(f"case {number}: expected {case['runs_on']}, found {ours}")
print(f"{len(examples[0])} examples, {len(cases)} decisions")
