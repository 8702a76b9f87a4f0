#!/usr/bin/env python3
"""Hours of training in one process: does it stay as fast, and is its memory flat?

usage: tests/long_runs/train.py [--seconds S] [--seed N] [--threads N] [--agent SPEC] [--berth FILE] --out DIR

Runs `berth train` for so long (7200 s by default), and every fiftieth of it notes steps per CPU-second, which stands on a shared machine,
and resident memory, also in DIR/train.csv. A finding is a rate of the last fifth that is not within 3% of that of the second fifth
(the first still learns what to do), memory that grew after the first tenth, or an end of its own; in less than 20 minutes the end alone,
for the others say nothing. DIR/run is continued where it is there, with its own seed.
"""
import argparse
import pathlib
import signal
import statistics
import subprocess
import sys
import time

from watched import conclude, cpu_seconds, growth, resident

TREE = pathlib.Path(__file__).resolve().parents[2]


def steps(run):
    """So far, by the last whole line of its progress."""
    try:
        lines = (run / "progress.csv").read_text().split("\n")[1:-1]
    except OSError:
        return 0
    return int(lines[-1].split(",", 1)[0]) if lines else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--agent", default="ppo")
    parser.add_argument("--berth", default=str(TREE / "build/release/berth"))
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    run = out / "run"
    # Learning rates fall with the steps asked for: so many that they hardly do, and that no machine reaches the end.
    words = [args.berth, "train", "--agent", args.agent, "--steps", "100000000000", "--members", "1", "--validate", "0", "--threads",
             str(args.threads), "--out", str(run)] + (["--resume"] if (run / "checkpoint.h5").exists() else ["--seed", str(args.seed)])
    with open(out / "train.log", "w", encoding="utf-8") as log, open(out / "train.csv", "w", encoding="utf-8") as csv:
        train = subprocess.Popen(words, stdout=log, stderr=log)  # pylint: disable=consider-using-with
        try:
            return watch(args, out, run, csv, train)
        finally:
            train.send_signal(signal.SIGINT)
            train.wait(300)


def watch(args, out, run, csv, train):
    print("seconds,steps,cpu_s,per_cpu_s,resident_bytes", file=csv, flush=True)
    begin = time.monotonic()
    first = told = steps(run)
    told_cpu, rates, memory, late, wrong = 0.0, [], [], 0, []
    for mark in range(1, 51):
        while time.monotonic() - begin < args.seconds * mark / 50 and train.poll() is None:
            time.sleep(0.1)
        patience = time.monotonic() + 600
        while steps(run) == told and train.poll() is None:  # from line to line, so that a rate is of whole rollouts
            time.sleep(0.05)
            if time.monotonic() > patience:
                wrong.append("no line of progress in 600 s")
                return conclude(out / f"findings/train_{args.seed}.txt", wrong, told - first, resident_bytes=[0, late])
        if train.poll() is not None:
            wrong.append(f"training ended with {train.returncode}: {out}/train.log")
            break
        done, cpu, late = steps(run), cpu_seconds(train.pid), resident(train.pid)
        rates.append((done - told) / max(cpu - told_cpu, 0.01))
        memory.append(late)
        seconds = time.monotonic() - begin
        print(f"{seconds:.0f},{done},{cpu:.2f},{rates[-1]:.0f},{late}", file=csv, flush=True)
        print(f"{seconds:.0f} s: {done} steps, {rates[-1]:.0f} per CPU-second, {late / 1e6:.1f} MB", flush=True)
        told, told_cpu = done, cpu
    if len(rates) == 50 and args.seconds >= 1200:
        early_rate, late_rate = statistics.median(rates[10:20]), statistics.median(rates[40:])
        print(f"steps per CPU-second: {early_rate:.0f} in the second fifth, {late_rate:.0f} in the last, {100 * (late_rate / early_rate - 1):+.1f}%")
        if abs(late_rate / early_rate - 1) > 0.03:
            wrong.append(f"steps per CPU-second went from {early_rate:.0f} to {late_rate:.0f}")
        wrong += growth(memory[4], memory[-1])
    return conclude(out / f"findings/train_{args.seed}.txt", wrong, told - first, resident_bytes=[memory[4] if len(memory) > 4 else 0, late])


if __name__ == "__main__":
    sys.exit(main())
