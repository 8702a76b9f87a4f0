"""A Slurm of its own for an experiment: cluster, jobs that sleep, controller and watchdog, each with its folder and ports."""
import json
import os
import pathlib
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"v100": "v", "p100": "p", "k80": "k"}  # fastest first, which is the order that Slurm takes them in (Weight)
CONF = """SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1,bf_continue,batch_sched_delay=1,bf_max_job_test=1000,sched_interval=2
PriorityType=priority/basic
JobSubmitPlugins=lua
PartitionName=gpu Nodes=ALL Default=YES MaxTime=600 State=UP
"""
DEAD_S = 10


class Failed(Exception):
    """What Slurm or the controller said; one line."""


def nodes(each=3):
    return [f"{letter}{i}:{kind}:4:{weight + 1}" for weight, (kind, letter) in enumerate(TYPES.items()) for i in range(1, each + 1)]


class Rig:
    """A cluster in `folder`; used in a with statement, which stops all that it started."""

    def __init__(self, folder, port, conf=CONF, node_list=None):
        self.folder = pathlib.Path(folder).resolve()
        self.port, self.conf, self.nodes = port, conf, node_list or nodes()
        self.slurm, self.berth, self.out = self.folder / "slurm", self.folder / "berth", self.folder / "jobs"
        self.environment = {**os.environ, "SLURM_CONF": str(self.slurm / "slurm.conf"), "PORT": str(port), "ACCOUNTING": "none"}
        self.controller = self.watchdog = self.controller_words = None

    def __enter__(self):
        for part in (self.slurm, self.berth, self.out):
            part.mkdir(parents=True, exist_ok=True)
        (self.folder / "sched.conf").write_text(self.conf)
        lua = (HERE / "job_submit.lua").read_text().replace("/var/lib/berth/heartbeat", str(self.berth / "heartbeat"))
        (self.slurm / "job_submit.lua").write_text(lua.replace("DEAD_S = 30", f"DEAD_S = {DEAD_S}"))
        try:
            self._cluster("start", self.slurm, self.folder / "sched.conf", " ".join(self.nodes))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop_controller()
        if self.watchdog:
            self.watchdog.kill()
            self.watchdog.wait()
        subprocess.run([HERE / "cluster", "stop", self.slurm], env=self.environment, capture_output=True, check=False, timeout=60)

    def _cluster(self, *words):
        with open(self.folder / "cluster.log", "w") as log:
            done = subprocess.run([HERE / "cluster", *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False, timeout=120)
        if done.returncode != 0:
            raise Failed((self.folder / "cluster.log").read_text().strip()[-300:])

    def say(self, *words, check=True, timeout=60):
        """Output of a command of Slurm's."""
        try:
            done = subprocess.run([str(word) for word in words], env=self.environment, capture_output=True, text=True, check=False,
                                  timeout=timeout, cwd="/")
        except subprocess.TimeoutExpired as error:
            if check:
                raise Failed(f"{words[0]}: no answer in {timeout} s") from error
            return ""
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))[:120]}: {(done.stderr or done.stdout).strip()[-300:]}")
        return done.stdout

    def submit(self, job, *more, check=True):
        """Number of a job of fidelity_jobs.draw, submitted as a user would; 0 where it was refused and check is false."""
        speeds = " ".join(f"{letter}={round(1000 * job.speeds[kind])}" for kind, letter in TYPES.items())
        number = self.say("sbatch", "--parsable", "-o", "/dev/null", "--requeue", "-J", f"train-{job.kind}-{job.number}", *job.shape(),
                          "-t", job.limit_s // 60, "--comment", f"steps={job.steps:g},class={job.kind},checkpoint", *more,
                          HERE / "sleep_job", self.out, round(1000 * job.steps), speeds, check=check).strip()
        return int(number or 0)

    def start_controller(self, berth, scheduler, *more):
        self.controller_words = [berth, "serve", "--slurm", "--scheduler", scheduler, "--control", "--only", "partition=gpu",
                                 "--site", self.folder / "site.json", "--out", self.berth, "--port", str(self.port + 15), *more]
        self.environment |= {"BERTH": str(berth), "PROGRESS": str(self.berth / "progress")}
        self.restart_controller()
        for _ in range(200):
            if (self.berth / "heartbeat").exists():
                return
            if self.controller.poll() is not None:
                break
            time.sleep(0.1)
        raise Failed(f"the controller did not come up: {(self.folder / 'controller.log').read_text().strip()[-300:]}")

    def restart_controller(self):
        log = open(self.folder / "controller.log", "a")
        self.controller = subprocess.Popen([str(word) for word in self.controller_words], env=self.environment, stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log, start_new_session=True, cwd=self.folder)
        log.close()

    def stop_controller(self, how=signal.SIGTERM):
        if self.controller and self.controller.poll() is None:
            self.controller.send_signal(how)
            try:
                self.controller.wait(15)
            except subprocess.TimeoutExpired:
                self.controller.kill()
                self.controller.wait()

    def start_watchdog(self):
        with open(self.folder / "watchdog.log", "a") as log:
            self.watchdog = subprocess.Popen([HERE / "watchdog", self.berth / "heartbeat", str(DEAD_S)], env=self.environment,
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill_slurmctld(self):
        os.kill(int((self.slurm / "run/slurmctld.pid").read_text()), signal.SIGKILL)

    def start_slurmctld(self):
        self.say("slurmctld", "-f", self.slurm / "slurm.conf")

    def status(self):
        """The controller's status document, or None."""
        import urllib.request
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port + 15}/api/status", timeout=5) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None

    def history(self, number):
        """What the job wrote: [(what, second, rest), ...]."""
        try:
            lines = (self.out / str(number)).read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(words[0], float(words[1]), words[2:]) for words in map(str.split, lines) if len(words) >= 2]

    def queued(self):
        """Jobs that have not ended: their numbers."""
        return [int(word) for word in self.say("squeue", "-h", "-o", "%A").split()]
