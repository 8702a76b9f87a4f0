#!/usr/bin/env python3
"""Kills and faults at random moments of `berth train`, `evaluate`, `sweep`, `reproduce` and `serve`.

usage: durability.py --berth build/release/berth --out DIR [--seconds S] [--executions N] [--seed N] [--only VERB,...] [--how HOW,...]

One case is a run of one verb (verbs.py) in a folder of its own, which is cut off up to three times and then goes on to its end.
HOW it is cut off:
  kill   kill -9 after a random time, or before a random write, fsync, rename, close or open
  fault  such a call fails (no space, no device, read-only) once or from then on, is interrupted, or writes one byte only
  clock  the clock of the day jumps, back or forth, by a second to ten years
  pair   two of the same command begin at once in one folder
Then: what was finished is still there to the byte, every file is whole, nothing is left over, and the result is that of a run
that nobody disturbed. What was not so is a finding: a folder DIR/finding_N with the files, the commands and what was said.

The last line is JSON: {"executions", "findings": [folders], "by": {"VERB HOW": executions}}. Exit code 1 where there are findings.
"""
import argparse
import collections
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import verbs

CALLS = {"write": ["ENOSPC", "EIO", "EDQUOT", "EINTR", "short"], "fsync": ["EIO", "ENOSPC", "EINTR"],
         "rename": ["EIO", "ENOSPC", "EROFS", "EINTR"], "close": ["EIO", "EINTR"], "open": ["ENOSPC", "EROFS", "EIO"]}
HARMLESS = {"EINTR", "short"}  # of these a program takes no notice


class Campaign:
    def __init__(self, options):
        self.random = random.Random(options.seed)
        self.out = pathlib.Path(options.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.berth = pathlib.Path(options.berth).resolve()
        self.library = self.out / "faults.so"
        here = pathlib.Path(__file__).resolve().parent
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.library, here / "faults.c", "-ldl"], check=True)
        self.findings, self.by = [], collections.Counter()
        self.made = {}

    def verb(self, name):
        """Its reference is made when it is first drawn."""
        if name not in self.made:
            home = self.out / f"reference_{name}"
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            self.made[name] = verbs.VERBS[name](self, home)
        return self.made[name]

    def moment(self, verb):
        """When to kill: by the clock, or at a call; as seconds, and the environment."""
        if self.random.random() < 0.5:
            return self.random.uniform(0.0, 1.05 * verb.seconds), {}
        call = self.random.choice(sorted(CALLS))
        return None, self.fault(f"{call}:{self.random.randint(1, verb.calls(call))}:KILL", verb)

    def fault(self, text, verb):
        return {"LD_PRELOAD": str(self.library), "BERTH_FAULT": text, "BERTH_FAULT_IN": str(verb.folder),
                "BERTH_FAULT_LOG": str(verb.folder) + ".faults"}

    def case(self, name, how, number):
        verb = self.verb(name)
        folder = self.out / f"case_{number}"
        shutil.rmtree(folder, ignore_errors=True)
        verb.begin(folder)
        try:
            getattr(self, how)(verb)
            self.end(verb)
        except verbs.Finding as finding:
            kept = self.out / f"finding_{len(self.findings) + 1}"
            shutil.rmtree(kept, ignore_errors=True)
            folder.rename(kept)
            (kept / "FINDING.txt").write_text(f"{name} {how}: {finding}\n\nfrom the case's folder:\n" + "\n".join(verb.history) + "\n")
            self.findings.append(str(kept))
            print(f"finding: {name} {how}: {finding}: {kept}", flush=True)
        finally:
            verb.close()
            shutil.rmtree(folder, ignore_errors=True)
            pathlib.Path(str(folder) + ".faults").unlink(missing_ok=True)

    def count(self, verb, how):
        self.by[f"{verb.name} {how}"] += 1

    def kill(self, verb):
        for _ in range(self.random.randint(1, 3)):
            seconds, variables = self.moment(verb)
            self.count(verb, "kill")
            if verb.run(variables, kill_after=seconds).done:
                return
            verb.check_kept()

    def faults(self, verb):
        for _ in range(self.random.randint(1, 2)):
            call = self.random.choice(sorted(CALLS))
            what = self.random.choice(CALLS[call])
            text = f"{call}:{self.random.randint(1, verb.calls(call))}:{what}:{self.random.choice([1, 1, 3, 0 if what != 'EINTR' else 2])}"
            self.count(verb, "fault")
            run = verb.run(self.fault(text, verb))
            verb.check_refusal(run, may_fail=what not in HARMLESS)
            if run.done:
                return
            verb.check_kept()

    def clock(self, verb):
        seconds = self.random.choice([-1, 1]) * self.random.choice([1, 60, 3600, 86400, 10 * 365 * 86400])
        self.count(verb, "clock")
        run = verb.run({"LD_PRELOAD": str(self.library), "BERTH_CLOCK": f"{self.random.randint(1, 40)}:{seconds}"})
        if not run.done and run.code != verb.more:
            raise verbs.Finding(f"expected a run that takes no notice, found exit code {run.code}: {run.error[-300:]}")

    def pair(self, verb):
        self.count(verb, "pair")
        verb.pair(self.random.uniform(0.0, verb.seconds))

    def end(self, verb):
        """To the end without disturbance, and all as in the reference."""
        for _ in range(8):
            run = verb.run({})
            if run.done:
                break
            if run.code != verb.more:
                raise verbs.Finding(f"expected that it goes on, found exit code {run.code}: {run.error[-300:]}")
        else:
            raise verbs.Finding("expected that it comes to an end, found that it does not")
        verb.check_kept()
        verb.check_result()


HOWS = {"kill": "kill", "fault": "faults", "clock": "clock", "pair": "pair"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--executions", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(verbs.VERBS))
    parser.add_argument("--how", default=",".join(HOWS))
    options = parser.parse_args()
    campaign = Campaign(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        cases(campaign, options)
    finally:
        print(json.dumps({"executions": sum(campaign.by.values()), "findings": campaign.findings, "by": dict(sorted(campaign.by.items()))}))
    return 1 if campaign.findings else 0


def cases(campaign, options):
    begin, number = time.monotonic(), 0
    names, hows = options.only.split(","), options.how.split(",")
    while time.monotonic() < begin + options.seconds and sum(campaign.by.values()) < options.executions:
        name = campaign.random.choices(names, [verbs.VERBS[n].weight for n in names])[0]
        able = [how for how in hows if how in verbs.VERBS[name].hows]
        if able:
            how = campaign.random.choices(able, [8 if how == "kill" else 4 if how == "fault" else 1 for how in able])[0]
            campaign.case(name, HOWS[how], number)
        number += 1


if __name__ == "__main__":
    sys.exit(main())
