#!/usr/bin/env python3
"""The test of solved programs on ever other scenarios: is every answer that of CBC or Clarabel?

usage: tests/solved_programs_campaign.py [--tests FILE] --seconds N --seed N --out DIR

BERTH_TEST_PYTHON names an interpreter with clarabel, mip, numpy and scipy where no other has them. A finding is what the
test said; its name has the BERTH_PROGRAM_SEED that repeats it, and BERTH_PROGRAM_FILE=FILE then keeps the lines that it
speaks of. The last line is JSON, as tools/campaign reads it.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
parser = argparse.ArgumentParser()
parser.add_argument("--tests", default=TREE / "build/release/berth_tests")
parser.add_argument("--seconds", type=float, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--out", type=pathlib.Path, required=True)
its = parser.parse_args()

until, seed, compared, findings = time.monotonic() + its.seconds, its.seed, 0, []
while time.monotonic() < until:
    environment = dict(os.environ, BERTH_PROGRAM_SEED=str(seed))
    run = subprocess.run([its.tests, "solved programs*"], env=environment, text=True, capture_output=True, check=False)
    count = re.search(r"(\d+) comparisons, ", run.stdout)
    compared += int(count[1]) if count else 0
    if "needs Python with" in run.stdout:
        print(run.stdout)
        break
    if run.returncode != 0 or count is None:  # one that compares nothing is none
        path = its.out / "findings" / f"programs-{seed}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(run.stdout + run.stderr, encoding="utf-8")
        findings.append(str(path))
    seed += 1
    if count is None:
        break
print(json.dumps({"executions": compared, "findings": findings}))
sys.exit(bool(findings))
