#!/usr/bin/env python3
"""Hours of training in one process: does it stay as fast, and is its memory flat?

usage: tests/long_runs/train.py [--seconds S] [--seed N] [--threads N] [--agent SPEC] [--berth FILE] [--turns N] [--beside PID] --out DIR

Runs `berth train` for so long (7200 s by default), and every fiftieth of it notes steps per CPU-second and resident memory, also in
DIR/train.csv. What a step costs changes with what the policy has learned to do, and with what else the machine does. So at the end a
process that has just begun continues a copy of the run, and the two run in turns of some seconds each: what differs between them is their
age alone. A finding is an old process whose rate is not within 3% of the new one's (median of the turns), memory that grew after the first
tenth, or an end of its own; in less than 20 minutes the end alone, for the others say nothing. DIR/run is continued where it is there,
with its own seed. --beside PID: no training but that comparison, of the one that process PID has in DIR/run.
"""
import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from watched import conclude, cpu_seconds, growth, resident

TREE = pathlib.Path(__file__).resolve().parents[2]


class Training:
    """A process of `berth train` and its run folder."""

    def __init__(self, pid, run):
        self.pid, self.run = pid, run

    def steps(self):
        """So far, by the last whole line of its progress."""
        try:
            with open(self.run / "progress.csv", "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - 8192))
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return 0
        return int(lines[-1].split(b",", 1)[0]) if lines and lines[-1][:1].isdigit() else 0

    def next_line(self, patience_s=600):
        """Waits for another line, so that a rate is of whole rollouts; steps and CPU-seconds then, or none where it has ended."""
        told, until = self.steps(), time.monotonic() + patience_s
        while self.steps() == told:
            if time.monotonic() > until or not self.runs():
                return None
            time.sleep(0.01)
        return self.steps(), cpu_seconds(self.pid)

    def runs(self):
        try:
            return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def turn(self, seconds):
        """Runs for so long; steps per CPU-second."""
        os.kill(self.pid, signal.SIGCONT)
        begin = self.next_line()
        time.sleep(seconds)
        end = self.next_line()
        os.kill(self.pid, signal.SIGSTOP)
        return (end[0] - begin[0]) / (end[1] - begin[1])


def command(args, run):
    # Learning rates fall with the steps asked for: so many that they hardly do, and that no machine reaches the end.
    return [args.berth, "train", "--agent", args.agent, "--steps", "100000000000", "--members", "1", "--validate", "0", "--threads",
            str(args.threads), "--out", str(run)] + (["--resume"] if (run / "checkpoint.h5").exists() else ["--seed", str(args.seed)])


def against_new(args, old, turns, seconds=6):
    """The rate of `old` over that of a process that has just begun, of the same run at the same moment: the median of the turns."""
    copy = old.run.parent / "new"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(old.run, copy)
    with open(copy.parent / "new.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen(command(args, copy), stdout=log, stderr=log)  # pylint: disable=consider-using-with
    new = Training(process.pid, copy)
    try:
        os.kill(old.pid, signal.SIGSTOP)
        for _ in range(5):  # what a first rollout allocates is no turn's
            new.next_line()
        ratios = []
        with open(copy.parent / "turns.csv", "w", encoding="utf-8") as csv:
            print("old_per_cpu_s,new_per_cpu_s", file=csv)
            for turn in range(turns):
                first, second = (old, new) if turn % 2 else (new, old)
                rates = {side: side.turn(seconds) for side in (first, second)}
                ratios.append(rates[old] / rates[new])
                print(f"{rates[old]:.0f},{rates[new]:.0f}", file=csv, flush=True)
        return statistics.median(ratios)
    finally:
        os.kill(new.pid, signal.SIGKILL)
        process.wait()
        os.kill(old.pid, signal.SIGCONT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=7200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--agent", default="ppo")
    parser.add_argument("--berth", default=str(TREE / "build/release/berth"))
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--beside", type=int)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    run = out / "run"
    if args.beside:
        print(f"steps per CPU-second: {against_new(args, Training(args.beside, run), args.turns):.4f} of a new process's")
        return 0
    with open(out / "train.log", "w", encoding="utf-8") as log, open(out / "train.csv", "w", encoding="utf-8") as csv:
        train = subprocess.Popen(command(args, run), stdout=log, stderr=log)  # pylint: disable=consider-using-with
        try:
            return watch(args, out, Training(train.pid, run), csv, train)
        finally:
            train.send_signal(signal.SIGINT)
            train.wait(300)


def watch(args, out, training, csv, train):
    print("seconds,steps,cpu_s,per_cpu_s,resident_bytes", file=csv, flush=True)
    begin = time.monotonic()
    first = told = training.steps()
    told_cpu, memory, late, wrong = 0.0, [], 0, []
    for mark in range(1, 51):
        while time.monotonic() - begin < args.seconds * mark / 50 and train.poll() is None:
            time.sleep(0.1)
        line = training.next_line()
        if line is None:
            ended = train.poll()
            wrong.append("no line of progress in 600 s" if ended is None else f"training ended with {ended}: {out}/train.log")
            break
        (done, cpu), late = line, resident(train.pid)
        memory.append(late)
        row = f"{time.monotonic() - begin:.0f},{done},{cpu:.2f},{(done - told) / max(cpu - told_cpu, 0.01):.0f},{late}"
        print(row, file=csv, flush=True)
        print(row, flush=True)
        told, told_cpu = done, cpu
    if len(memory) == 50 and args.seconds >= 1200:
        ratio = against_new(args, training, args.turns)
        print(f"steps per CPU-second: {ratio:.4f} of a new process's")
        if abs(ratio - 1) > 0.03:
            wrong.append(f"steps per CPU-second are {ratio:.4f} of a new process's: {out}/turns.csv")
        wrong += growth(memory[4], memory[-1])
    return conclude(out / f"findings/train_{args.seed}.txt", wrong, told - first, resident_bytes=[memory[4] if len(memory) > 4 else 0, late])


if __name__ == "__main__":
    sys.exit(main())
