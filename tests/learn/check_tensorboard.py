"""Compares the TensorBoard events of a run with its progress.csv and validation.csv: check_tensorboard.py RUN.

Read by TensorBoard's own reader, every scalar must be in a CSV at the same step with the same value, and the other
way round. progress.csv shows of validations the last one before each of its rows.
"""
import csv
import sys

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

NAMES = ["charts/SPS", "charts/episodic_return", "charts/learning_rate", "losses/policy_loss", "losses/value_loss",
         "losses/entropy", "losses/approx_kl", "losses/clipfrac", "losses/explained_variance"]


def main(run):
    events = EventAccumulator(run)
    events.Reload()
    found = {(tag, scalar.step): numpy.float32(scalar.value) for tag in events.Tags()["scalars"] for scalar in events.Scalars(tag)}
    with open(f"{run}/progress.csv") as file:
        rows = list(csv.DictReader(file))
    wanted = {(tag, int(row["global_step"])): numpy.float32(value) for row in rows for tag, value in row.items()
              if tag != "global_step" and value != "" and not tag.startswith("validation/")}
    shown = [(tag, int(row["global_step"]), value) for row in rows for tag, value in row.items()
             if tag.startswith("validation/") and value != ""]
    with open(f"{run}/validation.csv") as file:
        validated = {(f"validation/{name}", int(row["global_step"])): numpy.float32(row[name])
                     for row in csv.DictReader(file) for name in ("greedy", "sampled", "gap")}
    for tag, step, value in shown:
        last = max(at for name, at in found if name == tag and at <= step)
        if not numpy.isclose(found[tag, last], numpy.float32(value), rtol=1e-6, atol=0):
            sys.exit(f"expected {tag} of step {last} in progress.csv at {step}, found {value}")
    if len(shown) < 7:
        sys.exit(f"expected greedy, sampled, gap and four ratios of a validation in progress.csv, found {shown}")
    # One by one the ratios to the baselines stand in the events alone.
    ratios = {key for key in found if "_of_" in key[0]}
    if len(ratios) != 4 * len(validated) // 3:
        sys.exit(f"expected two policies' ratios to two baselines a validation, found {sorted(ratios)[:5]}")
    found = {key: value for key, value in found.items() if key not in ratios}
    wanted.update(validated)
    if not rows or set(found) != set(wanted):
        sys.exit(f"expected the scalars of progress.csv, found other ones: {sorted(set(found) ^ set(wanted))[:5]}")
    differ = [key for key in wanted if not numpy.isclose(found[key], wanted[key], rtol=1e-6, atol=0, equal_nan=True)]
    if differ:
        sys.exit(f"expected the values of progress.csv, found others: {differ[:5]}")
    missing = [name for name in NAMES if name not in rows[0]]
    if missing:
        sys.exit(f"expected CleanRL's names, missing {missing}")
    print(f"{len(found)} scalars agree")


if __name__ == "__main__":
    main(sys.argv[1])
