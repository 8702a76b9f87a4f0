#!/usr/bin/env python3
"""Kills and faults at random moments of `berth train`, `evaluate`, `sweep`, `reproduce` and `serve`.

usage: durability.py --berth build/release/berth --out DIR [--seconds S] [--executions N] [--seed N] [--only VERB,...] [--how HOW,...]

One case is a run of one verb (verbs.py) in a folder of its own, which is cut off up to three times and then goes on to its end.
HOW it is cut off:
  kill      kill -9 after a random time, or before a random call in the folder: read, write, fsync, rename, close, open to write,
            or anything that changes names
  fault     such a call fails (no space, no device, read-only) once or from then on, is interrupted, or moves one byte only
  clock     the clock of the day jumps, back or forth, by a second to ten years
  pair      two of the same command run at once in one folder
  readonly  the folder is mounted read-only, new or after a kill; needs `unshare -rm`
Then: it refuses in one line with exit code 2 or takes no notice; what was finished is still there to the byte, every file is
whole, nothing is left over, and the result is that of a run that nobody disturbed, which is made twice first. What was not so, a
hang included, is a finding: DIR/findings/finding_SEED_N.txt with the commands and what was said, and the case's folder as .tar.gz.

An execution is a disturbance that came: a process that a kill ended, a call that failed, a clock that jumped, a second process
beside one at work. The last line is JSON: {"executions", "findings": [files], "by": {"VERB HOW": executions}}. Exit code 1
where there are findings.
"""
import argparse
import collections
import itertools
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import traceback

import verbs

CALLS = {"write": ["ENOSPC", "EIO", "EDQUOT", "EINTR", "short"], "fsync": ["EIO", "ENOSPC", "EINTR"],
         "rename": ["EIO", "ENOSPC", "EROFS", "EINTR"], "close": ["EIO", "EINTR"], "open": ["ENOSPC", "EROFS", "EIO"],
         "change": ["EROFS"], "read": ["EIO", "EINTR", "short"]}  # faults.c says what each is
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
        self.seed, self.findings, self.by = options.seed, [], collections.Counter()
        self.verbs = {name: verbs.VERBS[name](self) for name in options.only.split(",")}

    def case(self, verb, how, number):
        folder = self.out / f"case_{number}"
        try:
            if verb.reference is None:  # of a verb that is drawn for the first time
                verb.refer(self.out / f"reference_{verb.name}")
            verb.begin(folder)
            for _ in range(self.random.randrange(verb.processes)):
                verb.run({})
            if not getattr(self, how)(verb):
                self.end(verb)
        except Exception as error:  # whatever it is, nobody expected it
            self.keep(verb, how, error)
            if verb.reference is None:
                del self.verbs[verb.name]
        finally:
            verb.close()
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, verb, how, error):
        """A finding: its text and the files of the case."""
        known = isinstance(error, verbs.Finding)
        what = " ".join(f"{'' if known else type(error).__name__ + ': '}{error} {getattr(error, 'stderr', None) or ''}".split())
        folder = self.out / "findings"
        folder.mkdir(exist_ok=True)
        name = next(n for n in map(f"finding_{self.seed}_{{}}".format, itertools.count(1)) if not (folder / f"{n}.txt").exists())
        text = folder / f"{name}.txt"
        text.write_text(f"{verb.name} {how}: {what}\n\nfrom the case's folder, {verb.folder}:\n" + "\n".join(verb.history) + "\n" +
                        ("" if known else "\n" + "".join(traceback.format_exception(error))))
        verb.close()
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(verb.folder, name)
        self.findings.append(str(text))
        print(f"finding: {verb.name} {how}: {what}: {text}", flush=True)

    def count(self, verb, how):
        self.by[f"{verb.name} {how}"] += 1

    def fault(self, verb, call, what, times=1):
        most = self.random.choice([min(verb.calls[call], 20), verb.calls[call]])  # who goes on may make few of them
        return verb.faulty(f"{call}:{self.random.randint(1, most)}:{what}:{times}")

    def begun(self, verb):
        """Half of the time the folder is one of a run that was killed."""
        if self.random.random() < 0.5:
            verb.run({}, kill_after=self.random.uniform(0.0, verb.seconds))
            verb.check_kept()

    def kill(self, verb):
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.5:
                run = verb.run({}, kill_after=self.random.uniform(0.0, 1.05 * verb.seconds))
            else:
                run = verb.run(self.fault(verb, self.random.choice(sorted(verb.calls)), "KILL"))
            if run.code == -signal.SIGKILL:
                self.count(verb, "kill")
            elif not run.done and run.code != verb.more:
                raise verbs.Finding(f"expected that it is killed or ends, found exit code {run.code}: {run.error[-300:]}")
            if verb.checked(run):
                return True
        return False

    def faults(self, verb):
        self.begun(verb)
        for _ in range(self.random.randint(1, 2)):
            call = self.random.choice(sorted(verb.calls))
            what = self.random.choice(CALLS[call])
            run = verb.run(self.fault(verb, call, what, self.random.choice([1, 1, 3, 0 if what != "EINTR" else 2])))
            fired = verb.log.exists()
            if fired:
                self.count(verb, "fault")
                verb.may_leave = verb.may_leave or call == "change"
            verb.check_refusal(run, may_fail=fired and what not in HARMLESS)
            if verb.checked(run):
                return True
        return False

    def clock(self, verb):
        seconds = self.random.choice([-1, 1]) * self.random.choice([1, 60, 3600, 86400, 10 * 365 * 86400])
        run = verb.run(verb.preloaded({"BERTH_CLOCK": f"{self.random.choice([1, 2, 5, self.random.randint(1, 40)])}:{seconds}"}))
        if verb.log.exists():
            self.count(verb, "clock")
        verb.check_refusal(run, may_fail=False)
        return verb.checked(run)

    def pair(self, verb):
        if verb.pair(self.random.uniform(0.0, verb.seconds)):
            self.count(verb, "pair")

    def readonly(self, verb):
        self.begun(verb)
        run = verb.run({}, through=READONLY)
        self.count(verb, "readonly")
        if run.code != 2:
            raise verbs.Finding(f"expected that a read-only folder is refused, found exit code {run.code}: {run.error[-300:]}")
        verb.check_refusal(run, may_fail=True)

    def end(self, verb):
        """To the end without disturbance, and all as in the reference."""
        for _ in range(8):
            run = verb.run({})
            if not run.done and run.code != verb.more:
                raise verbs.Finding(f"expected that it goes on, found exit code {run.code}: {run.error[-300:]}")
            if verb.checked(run):
                return
        raise verbs.Finding("expected that it comes to an end, found that it does not")


HOWS = {"kill": "kill", "fault": "faults", "clock": "clock", "pair": "pair", "readonly": "readonly"}
READONLY = ["unshare", "-rm", "sh", "-c", 'mount --bind -o ro "$PWD" "$PWD" && cd "$PWD" && exec "$@"', "sh"]


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
    hows = options.how.split(",")
    if "readonly" in hows and subprocess.run([*READONLY, "true"], cwd=campaign.out, capture_output=True).returncode != 0:
        print("durability: no readonly: `unshare -rm` cannot mount here", file=sys.stderr)
        hows.remove("readonly")
    begin = time.monotonic()
    for number in itertools.count():
        able = {verb: [how for how in hows if how in verb.hows] for verb in campaign.verbs.values()}
        able = {verb: hows for verb, hows in able.items() if hows}
        if not able or time.monotonic() > begin + options.seconds or sum(campaign.by.values()) >= options.executions:
            break
        verb = campaign.random.choices(list(able), [verb.weight for verb in able])[0]
        how = campaign.random.choices(able[verb], [{"kill": 8, "fault": 4}.get(how, 1) for how in able[verb]])[0]
        campaign.case(verb, HOWS[how], number)


if __name__ == "__main__":
    sys.exit(main())
