"""What durability.py disturbs: for each verb its commands, what it finishes on the way, and what its result is."""
import collections
import hashlib
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time

JOBS = ["--workload", "toy(jobs=20)", "--cluster", "v100=2"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUSY = "is in use by "


class Finding(Exception):
    pass


class Ran:
    def __init__(self, code, out, error, done):
        self.code, self.out, self.error, self.done = code, out, error, done


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Verb:
    weight, hows, more = 1, ("kill", "fault", "clock", "pair", "readonly"), -1  # more: an exit code after which there is more to do
    processes = 1  # so many come to an end one after the other before it is done
    within, resumed = ".", ()  # the folder in the case's one where calls fail; calls that only who goes on makes there

    def __init__(self, campaign):
        self.berth, self.library = campaign.berth, campaign.library
        self.reference, self.ok, self.seconds, self.children = None, 0, 0.0, []
        self.folder, self.history = campaign.out, []

    def refer(self, home):
        """The result of a run that nobody disturbs, made twice: the second one counts the calls of each sort of a process."""
        results, self.calls = [], collections.Counter()
        for counts in (False, True):
            self.begin(home)
            begin = time.monotonic()
            for _ in range(20):
                run = self.run(self.faulty("any:1:none:0") if counts else {})
                if counts and self.log.exists():
                    words = collections.Counter(line.split()[0] for line in self.log.read_text().splitlines())
                    words["change"] = words["open"] + words["rename"] + words.pop("mkdir", 0) + words.pop("unlink", 0)
                    self.calls |= words
                if run.done:
                    break
                if run.code != self.more:
                    raise Finding(f"the reference failed: {run.code} {run.error}")
            else:
                raise Finding("the reference does not come to an end")
            if not counts:
                self.seconds = time.monotonic() - begin
            results.append(self.result())
            self.close()
        if results[0] != results[1]:
            raise Finding(f"expected the same result of two undisturbed runs, found {results}")
        without = {"change", "close", "fsync", "open", "read", "rename", "write"} - set(self.calls) - set(self.resumed)
        if without:
            raise Finding(f"expected calls of {', '.join(sorted(without))} in its folder, found none")
        self.calls.update({call: 20 for call in self.resumed})
        self.reference = results[0]

    def preloaded(self, variables):
        return {"LD_PRELOAD": str(self.library), "BERTH_FAULT_LOG": str(self.log), **variables}

    def faulty(self, text):
        return self.preloaded({"BERTH_FAULT": text, "BERTH_FAULT_IN": str((self.folder / self.within).resolve())})

    def begin(self, folder):
        self.folder, self.history, self.kept = folder, [], {}
        self.may_leave = False  # a call that removes was made to fail
        self.log = folder.with_name(folder.name + ".faults")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.communicate()
        self.children = []
        self.log.unlink(missing_ok=True)

    def start(self, command, variables, through=()):
        self.log.unlink(missing_ok=True)
        words = [*through, str(self.berth), *command]
        variables = {**self.world(), **variables}
        self.history.append(" ".join([*(f"{k}={shlex.quote(v)}" for k, v in variables.items()), shlex.join(words)]))
        self.children.append(subprocess.Popen(words, cwd=self.folder, env={**os.environ, **variables}, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return self.children[-1]

    def world(self):
        return {}

    def limit(self):
        """Seconds after which it hangs, on a machine that is busy too."""
        return 300 + 20 * self.seconds

    def run(self, variables, kill_after=None, through=()):
        child = self.start(self.command(), variables, through)
        if kill_after is not None:
            self.history[-1] += f"   # killed after {kill_after:.3f} s"
        return self.wait(child, kill_after)

    def wait(self, child, kill_after=None):
        try:
            out, error = child.communicate(timeout=kill_after if kill_after is not None else self.limit())
        except subprocess.TimeoutExpired:
            child.kill()
            out, error = child.communicate()
            if kill_after is None:
                raise Finding(f"expected an end within {self.limit():.0f} s, found none: {error[-300:]}") from None
        if child.returncode < 0 and child.returncode != -signal.SIGKILL:
            raise Finding(f"expected no crash, found signal {-child.returncode}: {error[-300:]}")
        return Ran(child.returncode, out, error, child.returncode == self.ok and self.complete())

    def complete(self):
        return True

    def check_refusal(self, run, may_fail):
        """What fails says so in one line, and ends with 2."""
        if run.done or run.code == self.more:
            return
        if not may_fail:
            raise Finding(f"expected no notice, found exit code {run.code}: {run.error[-300:]}")
        last = run.error.strip().splitlines()[-1] if run.error.strip() else ""
        if run.code != 2 or not last.startswith("berth"):
            raise Finding(f"expected exit code 2 and one line, found {run.code}: {run.error[-300:]}")

    def finished(self):
        """Files that never change again."""
        return []

    def checked(self, run):
        """Whether it is done; either way with what it left checked."""
        self.check_kept()
        if run.done:
            self.check_result()
            if not self.may_leave:
                self.check_left()
        return run.done

    def check_kept(self):
        for path, before in self.kept.items():
            if not path.exists() or digest(path) != before:
                raise Finding(f"expected {path.name} as it was finished, found another or none")
        self.kept.update({path: digest(path) for path in self.finished() if path.exists()})
        for path in sorted(self.folder.rglob("*.h5")):
            self.check_whole(path)
        for path in sorted(self.folder.rglob("*.json")):
            try:
                json.loads(path.read_text())
            except ValueError:
                raise Finding(f"expected whole JSON in {path.name}, found {path.read_text()[-80:]!r}") from None

    def check_whole(self, path):
        seen = subprocess.run([str(self.berth), "inspect", str(path)], capture_output=True, text=True)
        if seen.returncode != 0:
            raise Finding(f"expected a whole {path.name}, found: {seen.stderr[-300:]}")

    def result(self):
        return {}

    def check_result(self):
        found = self.result()
        for name, value in self.reference.items():
            if found.get(name) != value:
                raise Finding(f"expected {name} as in an undisturbed run, found another")

    def check_left(self):
        left = [str(p) for p in self.folder.rglob("*.tmp*")] + [str(p) for p in self.folder.rglob("*.part*")]
        if left:
            raise Finding(f"expected nothing left over, found {', '.join(left)}")

    def pair(self, later):
        """Two at once: one works, the other is refused, or finds it done. Whether they were at work at once."""
        command = self.command()
        first = self.start(command, {})
        time.sleep(later if later > 0.3 else 0)
        at_once = first.poll() is None
        second = self.start(command, {})
        self.history[-1] += f"   # {later:.3f} s later"
        runs = [self.wait(second), self.wait(first)]
        for run in runs:
            if run.code == 2 and BUSY not in run.error and "already holds" not in run.error:
                raise Finding(f"expected '{BUSY}', found: {run.error[-300:]}")
            if run.code not in (self.ok, self.more, 2):
                raise Finding(f"expected exit code 0 or 2, found {run.code}: {run.error[-300:]}")
        if all(run.code == 2 for run in runs):
            raise Finding(f"expected one that works, found both refused: {runs[0].error[-300:]}")
        return at_once


class Train(Verb):
    name, weight = "train", 3

    def command(self):
        if (self.folder / "run/checkpoint.h5").exists():
            return ["train", "--resume", "--out", "run", "--json", "end.json"]
        return ["train", *JOBS, "--envs", "2", "--threads", "1", "--device", "cpu", "--agent", "ppo(n_steps=16)", "--steps", "256",
                "--episode-jobs", "5", "--warmup-jobs", "0", "--validate", "2", "--validations", "4", "--baselines", "fcfs",
                "--out", "run", "--json", "end.json"]

    def complete(self):
        return (self.folder / "end.json").exists()

    def check_kept(self):
        super().check_kept()
        rows = self.folder / "run/validation.csv"
        text = rows.read_text() if rows.exists() else ""
        if not text.startswith(self.rows) or (text and not text.endswith("\n")):
            raise Finding(f"expected the rows of validation.csv to stay, found {text!r}")
        self.rows = text

    def begin(self, folder):
        super().begin(folder)
        self.rows = ""

    def result(self):
        policy = self.folder / "policy.h5"
        subprocess.run([str(self.berth), "export", "run", "--out", "policy.h5"], cwd=self.folder, check=True, capture_output=True)
        return {p.name: digest(p) for p in [policy, *(self.folder / "run" / n for n in ("best.h5", "validation.csv", "config.ini"))]}


class Evaluate(Verb):
    """Over an older evaluation, which stays until the new one is whole."""
    name, weight, hows = "evaluate", 3, ("kill", "fault", "clock", "readonly")

    def begin(self, folder):
        super().begin(folder)
        old = folder.parent / "old_evaluation"
        if not old.exists():
            making = folder.parent / "old_evaluation_making"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            subprocess.run([str(self.berth), *self.command(seeds="0:2")], cwd=making, check=True, capture_output=True)
            making.rename(old)
        for path in old.iterdir():
            shutil.copy(path, folder)

    def command(self, seeds="0:3"):
        return ["evaluate", *JOBS, "--schedulers", "fcfs;srpt", "--seeds", seeds, "--threads", "1", "--out", "e.h5", "--csv", "e.csv",
                "--json", "e.json"]

    def check_kept(self):
        super().check_kept()
        text = (self.folder / "e.csv").read_text()
        if text.count("\n") != 3 or not text.endswith("\n"):
            raise Finding(f"expected a whole e.csv, found {text[-80:]!r}")

    def result(self):
        figures = json.loads((self.folder / "e.json").read_text())
        table = [line.rsplit(",", 1)[0] for line in (self.folder / "e.csv").read_text().splitlines()]  # but the time of decisions
        for row in figures["schedulers"]:
            for time_of in ("decision_us_mean", "decision_us_p99", "wall_s"):
                row.pop(time_of)
        return {"e.json": figures, "e.csv": table}


class Shards(Verb):
    """Two processes' parts, one after the other, and what joins them."""
    name, weight, hows, more = "evaluate-shards", 2, ("kill", "fault", "clock", "readonly"), 0
    processes = 3

    def finished(self):
        return [self.folder / f"r.{rank}-of-2.h5" for rank in (0, 1)]

    def next(self):
        return next((rank for rank, path in enumerate(self.finished()) if not path.exists()), None)

    def run(self, variables, kill_after=None, through=()):
        rank = self.next()
        run = super().run(variables, kill_after, through)
        if run.code == 0 and rank is not None and self.next() == rank:
            raise Finding(f"expected part {rank} of who ended with 0, found none")
        return run

    def world(self):
        rank = self.next()
        return {} if rank is None else {"RANK": str(rank), "WORLD_SIZE": "2"}

    def command(self):
        if self.next() is None:
            return ["evaluate", "--merge", "r.0-of-2.h5", "r.1-of-2.h5", "--threads", "1", "--json", "r.json"]
        return ["evaluate", *JOBS, "--schedulers", "fcfs;srpt", "--seeds", "0:4", "--threads", "1", "--out", "r.h5"]

    def complete(self):
        return (self.folder / "r.json").exists()

    def result(self):
        figures = json.loads((self.folder / "r.json").read_text())
        for row in figures["schedulers"]:
            for time_of in ("decision_us_mean", "decision_us_p99", "wall_s"):
                row.pop(time_of)
        return {"r.json": figures}


class Sweep(Verb):
    name, weight = "sweep", 3

    def command(self):
        return ["sweep", "--over", "rate=1,2,3,4", "--over", "v100=2,4", "--workload", "queueing(rate={rate},jobs=20)",
                "--cluster", "v100={v100}", "--schedulers", "fcfs;srpt", "--seeds", "0:2", "--threads", "2", "--out", "grid"]

    def finished(self):
        return sorted((self.folder / "grid/cells").glob("[0-9]*.csv")) + [self.folder / "grid/sweep.ini"]

    def result(self):
        return {p.name: digest(p) for p in [self.folder / "grid" / n for n in ("table.csv", "summary.csv", "table.h5")] + self.finished()}


class Reproduce(Verb):
    name, weight, resumed = "reproduce", 1, ("read",)

    def command(self):
        return ["reproduce", "gavel", "--only", "makespan", "--quick", "--no-pictures", "--seeds", "0:1", "--threads", "2", "--out", "g"]

    def wait(self, child, kill_after=None):
        run = super().wait(child, kill_after)
        if self.reference is None:
            self.ok = run.code  # 1 where something did not hold
        run.done = run.code == self.ok and (self.folder / "g/gavel.md").exists()
        return run

    def finished(self):
        return sorted((self.folder / "g/runs").glob("*.json"))

    def result(self):
        return {p.name: digest(p) for p in sorted((self.folder / "g").glob("*.*"))}


class Serve(Verb):
    """The extender on a UNIX socket: a kill leaves the socket's file, which the next one takes over; answers are the same."""
    name, weight, refusal = "serve", 3, "another process listens there"

    def begin(self, folder):
        super().begin(folder)
        policy = folder.parent / "serve_policy.h5"
        if not policy.exists():
            shutil.copy(next(iter(sorted((ROOT / "data/policies/cluster").glob("hetero_blind_1.h5")))), policy)
        shutil.copy(policy, folder / "p.h5")
        shutil.copy(ROOT / "tests/extender/table.json", folder)
        names = json.loads((ROOT / "tests/extender/names.json").read_text())
        self.calls_ = [("POST", "/filter", json.dumps(names)), ("POST", "/prioritize", json.dumps(names)), ("GET", "/healthz", None)]

    def command(self):
        return ["serve", "--extender", "--policy", "p.h5", "--table", "table.json", "--socket", "s", "--json", "serve.json"]

    def ask(self, method, path, body):
        """The answer, or None where it did not come whole."""
        try:
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(20)
            here = os.open(self.folder, os.O_PATH)  # a socket's path is short
            try:
                link.connect(f"/proc/self/fd/{here}/s")
            finally:
                os.close(here)
            http_link = http.client.HTTPConnection("berth")
            http_link.sock = link
            http_link.request(method, path, body)
            answer = http_link.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None

    def wait(self, child, kill_after=None):
        """It ends, or is asked until everything has an answer and then told to end."""
        answers, begin = {}, time.monotonic()
        until = begin + (self.limit() if kill_after is None else kill_after)
        while child.poll() is None and time.monotonic() < until and (kill_after is not None or len(answers) < len(self.calls_)):
            for call in self.calls_:
                answer = self.ask(*call)
                if answer is not None and self.reference is not None and answer != self.reference[call[1]]:
                    raise Finding(f"expected the answer to {call[1]} as without a fault, found {answer}")
                answers.update({call[1]: answer} if answer is not None else {})
            time.sleep(0.01)
        self.answers = answers
        if kill_after is None and self.complete():
            child.terminate()
        return super().wait(child, None if kill_after is None else max(0.0, until - time.monotonic()))

    def complete(self):
        return len(self.answers) == len(self.calls_)

    def pair(self, later):
        first = self.start(self.command(), {})
        until = time.monotonic() + self.limit()
        while not self.heard() and first.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        second = self.start(self.command(), {})
        run = Verb.wait(self, second)
        if run.code != 2 or self.refusal not in run.error:
            raise Finding(f"expected that the second is refused with '{self.refusal}', found {run.code}: {run.error[-300:]}")
        if not self.heard() or first.poll() is not None:
            raise Finding("expected that the first goes on, found that it does not")
        first.kill()
        first.communicate()
        return True

    def heard(self):
        return self.ask("GET", "/healthz", None) is not None

    def result(self):
        return self.answers


class ServeSlurm(Serve):
    """The controller, in control of a Slurm of files: lines of its log stay, and the next one goes on with it."""
    name, weight, hows, refusal, within = "serve-slurm", 1, ("kill", "fault", "pair", "readonly"), BUSY, "out"
    resumed = ("read",)
    more = 0  # where its log or heartbeat cannot be written it says so and tries again, until it is told to end

    def begin(self, folder):
        Verb.begin(self, folder)
        (folder / "bin").mkdir(exist_ok=True)
        for command in ("squeue", "sinfo", "scontrol", "sacctmgr"):
            shutil.copy(ROOT / "tests/slurm/fake_slurm.py", folder / "bin" / command)
        node = {"name": "v1", "state": "idle", "state_flags": [], "reason": "", "gres": "gpu:v100:8", "cpus": 8, "partitions": ["gpu"]}
        now = time.time()
        jobs = [{"job_id": i, "array_job_id": 0, "array_task_id": None, "array_task_string": "", "het_job_id": 0, "name": f"j{i}",
                 "user_name": "ann", "partition": "gpu", "job_state": "PENDING", "state_reason": "JobHeldUser", "comment": "",
                 "admin_comment": "berth", "dependency": "", "priority": 0, "nice": None, "submit_time": now - 100 + i, "eligible_time": 0,
                 "start_time": 0, "time_limit": 60, "node_count": 1, "tasks": 1, "cpus": 1, "requeue": True, "restart_cnt": 0, "nodes": "",
                 "required_nodes": "", "tres_per_job": "gres:gpu:1", "tres_per_node": "", "gres_detail": [], "held_gpus": []}
                for i in range(1, 7)]
        (folder / "state.json").write_text(json.dumps({"now": None, "jobs": jobs, "nodes": [node]}))

    def world(self):
        return {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "FAKE_SLURM": str(self.folder / "state.json")}

    def command(self):
        return ["serve", "--slurm", "--control", "--scheduler", "fcfs", "--poll", "0.1", "--port", "0", "--out", "out"]

    def started(self):
        return sum(job["job_state"] == "RUNNING" for job in json.loads((self.folder / "state.json").read_text())["jobs"])

    def run(self, variables, kill_after=None, through=()):
        (self.folder / "out/heartbeat").unlink(missing_ok=True)  # the next one is of this process
        return super().run(variables, kill_after, through)

    def wait(self, child, kill_after=None):
        until = time.monotonic() + 30 + 5 * self.seconds
        while kill_after is None and child.poll() is None and time.monotonic() < until and not (self.heard() and self.complete()):
            time.sleep(0.02)
        if kill_after is None:
            child.terminate()
        return Verb.wait(self, child, kill_after)

    def complete(self):
        return self.started() == 6

    def heard(self):
        return (self.folder / "out/heartbeat").exists() and (self.folder / "out/decisions.jsonl").exists()

    def check_kept(self):
        log = self.folder / "out/decisions.jsonl"
        text = log.read_text() if log.exists() else ""
        if not text.startswith(self.kept.get("log", "")):
            raise Finding("expected the lines of decisions.jsonl to stay, found others")
        self.kept["log"] = text[:text.rfind("\n") + 1]
        broken = 0
        for line in text.split("\n"):
            try:
                json.loads(line or "{}")
            except ValueError:
                broken += 1
        if broken > len(self.history):
            raise Finding(f"expected at most one half line for a kill, found {broken}")
        beat = self.folder / "out/heartbeat"
        if beat.exists() and not re.fullmatch(r"\d+\n", beat.read_text()):
            raise Finding(f"expected a whole heartbeat, found {beat.read_text()!r}")

    def result(self):
        return {"started": self.started()}


VERBS = {verb.name: verb for verb in (Train, Evaluate, Shards, Sweep, Reproduce, Serve, ServeSlurm)}
