#!/usr/bin/env python3
"""Runs the mutants of build/mutants against the core suite, each against those tests that reach it (README.md).

    tests/mutation/run_mutants.py --binary build/mutants/berth_tests --out out/mutants --seconds 540

Needs nothing but Python. First every test case alone, with no mutant: how long it takes, which mutants it reaches (a mutant that a
test does not reach cannot fail it), and whether it passes here; then the mutants, cheap tests first. A failure counts where the test
fails a second time with the mutant and passes without. Writes mutants.tsv and coverage.json, which a later run reads and goes on from.
"""
import argparse
import collections
import heapq
import html
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import threading
import time

LIMITS = [2, 8, 30, 90]  # seconds of a mutant's first batches of tests; the others hold 120 each
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def quoted(name):
    return '"' + re.sub(r'([",\[\\])', r"\\\1", name) + '"'


class Suite:
    def __init__(self, binary, deadline, libraries):
        self.binary, self.deadline = os.path.abspath(binary), deadline
        self.environment = dict(os.environ)
        if libraries:
            self.environment["LD_LIBRARY_PATH"] = libraries

    def run(self, names, mutant, limit, reached=None):
        """("pass" | "fail" | "timeout" | "stopped", the test that ended it, seconds)."""
        environment = dict(self.environment, BERTH_MUTANT=str(mutant))
        if reached:
            environment["BERTH_MUTANT_REACHED"] = reached
        began = time.time()
        left = self.deadline - began
        if left <= 1:
            return "stopped", "", 0.0

        def limits():
            seconds = int(limit) + 5  # also of children that left our group
            resource.setrlimit(resource.RLIMIT_CPU, (seconds * 4, seconds * 4 + 1))
            resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.NamedTemporaryFile("w") as listed:
            listed.write("\n".join(quoted(n) for n in names) + "\n")
            listed.flush()
            process = subprocess.Popen([self.binary, "-f", listed.name, "--abort", "-r", "xml"], stdout=output, stderr=subprocess.DEVNULL,
                                       stdin=subprocess.DEVNULL, env=environment, start_new_session=True, preexec_fn=limits, cwd=ROOT)
            try:
                code = process.wait(min(limit, left))
            except subprocess.TimeoutExpired:
                code = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            begun = re.findall(r'<TestCase name="([^"]*)"', output.read())
        last = html.unescape(begun[-1]) if begun else names[0]
        seconds = time.time() - began
        if code is None:
            return ("stopped" if limit > left else "timeout"), last, seconds
        return ("pass" if code == 0 else "fail"), last, seconds


class Campaign:
    def __init__(self, suite, mutants, out):
        self.suite, self.mutants, self.out = suite, mutants, out
        self.lock = threading.Lock()
        self.tests = {}    # name -> {"seconds", "passes", "reached"}
        self.results = {m["id"]: {"status": "open", "test": "", "seconds": 0.0, "passed": []} for m in mutants}
        self.flaky = set()
        self.queue, self.order, self.measuring, self.planned = [], 0, 0, False

    def push(self, priority, job):
        with self.lock:
            self.order += 1
            heapq.heappush(self.queue, (priority, self.order, job))

    def measure(self, name):
        with tempfile.NamedTemporaryFile() as file:
            status, _, seconds = self.suite.run([name], -1, 150, file.name)
            bits = file.read(4096)
        with self.lock:
            self.measuring -= 1
            if status != "stopped":
                self.tests[name] = {"seconds": seconds, "passes": status == "pass", "reached": [i for i, b in enumerate(bits) if b]}
            late = self.planned and status != "stopped"
        if late:
            self.plan([name])

    def reaching(self, mutant, names=None):
        """Tests that reach it and pass without it, cheap ones first."""
        tests = {n: self.tests[n] for n in (self.tests if names is None else names)}
        return sorted((t["seconds"], n) for n, t in tests.items() if t["passes"] and mutant in t["reached"])

    def plan(self, names=None):
        with self.lock:
            lists = {m["id"]: self.reaching(m["id"], names) for m in self.mutants}
        for mutant, reaching in lists.items():
            result = self.results[mutant]
            if result["status"] != "open":
                continue
            done = set(result["passed"])
            level, batch, total = 0, [], 0.0
            for seconds, name in [r for r in reaching if r[1] not in done] + [(1e9, None)]:
                limit = LIMITS[level] if level < len(LIMITS) else 120
                if batch and (total + seconds > limit or name is None):
                    # A test that was measured late is a long one.
                    self.push(1 + level if names is None else len(LIMITS), ("batch", mutant, batch, total))
                    level, batch, total = level + 1, [], 0.0
                batch.append(name)
                total += seconds

    def batch(self, mutant, names, normal):
        result = self.results[mutant]
        names = [n for n in names if n not in self.flaky]
        while names and result["status"] == "open":
            status, test, seconds = self.suite.run(names, mutant, 10 * normal + 10)
            result["seconds"] += seconds
            if status == "stopped":
                return
            if status == "pass":
                with self.lock:
                    result["passed"] += names
                return
            if test not in names:
                test = names[0]
            if status == "fail":
                one = 10 * self.tests[test]["seconds"] + 10
                again, _, _ = self.suite.run([test], mutant, one)
                without, _, _ = self.suite.run([test], -1, one)
                if "stopped" in (again, without):
                    return
                if again == "pass" or without != "pass":
                    with self.lock:
                        self.flaky.add(test)
                    names = [n for n in names if n != test]
                    continue
            with self.lock:
                if result["status"] == "open":
                    result.update(status="killed" if status == "fail" else "timeout", test=test)
            return

    def work(self):
        while time.time() < self.suite.deadline - 1:
            with self.lock:
                job = heapq.heappop(self.queue)[2] if self.queue else None
                plan = not self.planned and (job is None or job[0] != "measure")
                self.planned |= plan
                waits = self.measuring > 0
                self.measuring += plan  # the others wait
            if plan:
                print(f"{len(self.tests)} test cases measured, begin with mutants", flush=True)
                self.plan()
                with self.lock:
                    self.measuring -= 1
            if job is None:
                if not plan and not waits:
                    return
                time.sleep(0.05)
            elif job[0] == "measure":
                self.measure(job[1])
            else:
                self.batch(*job[1:])

    def threads(self, count):
        threads = [threading.Thread(target=self.work) for _ in range(count)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            threads[0].join(5)
            time.sleep(0.2 if not threads[0].is_alive() else 0)
            self.write()
        self.write()

    def write(self):
        with self.lock:
            json.dump({"tests": self.tests, "results": self.results, "flaky": sorted(self.flaky)},
                      open(os.path.join(self.out, "coverage.json"), "w"))
            lines = ["id\tplace\tkind\tstatus\tby\tseconds\ttests passed\ttests that reach it\twhat"]
            for m in self.mutants:
                r = self.results[m["id"]]
                reaching, status = [n for _, n in self.reaching(m["id"])], r["status"]
                if status == "open" and self.planned and self.measuring == 0 and set(reaching) <= set(r["passed"]) | self.flaky:
                    status = "survived" if reaching else "not reached"
                lines.append("\t".join(map(str, [m["id"], f"{m['file']}:{m['line']}", m["kind"], status, r["test"], round(r["seconds"], 1),
                                                 len(r["passed"]), len(reaching), m["shown"]])))
            open(os.path.join(self.out, "mutants.tsv"), "w").write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build/mutants/berth_tests"))
    parser.add_argument("--mutants", default=os.path.join(ROOT, "build/mutants/mutants.json"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--seed", type=int, default=0, help="without effect: the mutants were drawn before")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="ids of mutants, 3,17,...")
    parser.add_argument("--libraries", default="", help="a folder of shared libraries for the binary")
    parser.add_argument("--filter", default="", help="only test cases that Catch finds by these arguments")
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    mutants = json.load(open(a.mutants))
    only = {int(i) for i in a.only.split(",") if i}
    began = time.time()
    suite = Suite(a.binary, began + a.seconds, a.libraries)
    campaign = Campaign(suite, [m for m in mutants if not only or m["id"] in only], a.out)
    before = os.path.join(a.out, "coverage.json")
    if os.path.exists(before):
        kept = json.load(open(before))
        campaign.tests, campaign.flaky = kept["tests"], set(kept["flaky"])
        for key, value in kept["results"].items():
            if int(key) in campaign.results:
                campaign.results[int(key)] = value
    names = subprocess.run([a.binary, "--list-test-names-only", *shlex.split(a.filter)], capture_output=True, text=True,
                           env=suite.environment).stdout
    for name in names.splitlines():
        if name and name not in campaign.tests:
            campaign.measuring += 1
            campaign.push(0, ("measure", name))
    campaign.threads(a.processes)
    print(f"{len(campaign.tests)} test cases, {sum(t['passes'] for t in campaign.tests.values())} pass without a mutant, "
          f"{sum(t['seconds'] for t in campaign.tests.values()):.0f} s in all; {time.time() - began:.0f} s", flush=True)
    rows = [line.split("\t") for line in open(os.path.join(a.out, "mutants.tsv")).read().splitlines()[1:]]
    statuses = dict(collections.Counter(row[3] for row in rows))
    findings = [" ".join((row[3], row[1], row[8])) for row in rows if row[3] not in ("killed", "timeout")]
    print(statuses, f"{time.time() - began:.0f} s", flush=True)
    print(json.dumps({"executions": len(campaign.mutants), "findings": findings}))


if __name__ == "__main__":
    main()
