"""The jobs of tools/slurm_fidelity: drawn once, for Slurm as submissions and for the simulator as tables."""
import csv
import dataclasses
import json
import math
import random
import subprocess

# Steps a second on one GPU or any gang: as far apart as Gavel's job types are on these three, whose mean is about 1, 0.6 and 0.3.
SPEEDS = {"resnet": {"v100": 1.0, "p100": 0.5, "k80": 0.25},
          "language": {"v100": 1.0, "p100": 0.7, "k80": 0.3},
          "graph": {"v100": 1.0, "p100": 0.85, "k80": 0.5},
          "recommend": {"v100": 1.0, "p100": 0.45, "k80": 0.3}}
GANGS = {1: 50, 2: 25, 4: 20, 8: 5}
NODE_GPUS = 4


@dataclasses.dataclass
class Job:
    number: int
    arrival_s: float
    kind: str
    gpus: int
    steps: float

    @property
    def speeds(self):
        return SPEEDS[self.kind]

    @property
    def limit_s(self):
        """What a user would ask for: enough for the slowest type, and a minute more; Slurm's limits are whole minutes."""
        return 60 * (math.ceil(self.steps / min(self.speeds.values()) / 60.0) + 1)

    def shape(self):
        """GPUs on whichever nodes of one type have them, as the simulator's gangs."""
        return ["-n", str(self.gpus), "--gpus-per-task=1", "-C", "[v100|p100|k80]"]


def draw(seed, count, load, scale=1.0, gpus_of={"v100": 12, "p100": 12, "k80": 12}):
    """Poisson arrivals at this load; lengths on a V100 log-uniform from 10 to 60 s (times scale)."""
    rng = random.Random(seed)
    jobs = []
    for number in range(count):
        kind = rng.choice(sorted(SPEEDS))
        gpus = rng.choices(list(GANGS), list(GANGS.values()))[0]
        jobs.append(Job(number, 0.0, kind, gpus, round(scale * math.exp(rng.uniform(math.log(10.0), math.log(60.0))), 1)))
    # The rate at which the work that comes is this share of what the GPUs do if each job's mean speed on a type is had there.
    mean_speed = {kind: sum(job.speeds[kind] for job in jobs) / count for kind in gpus_of}
    capacity = sum(number * mean_speed[kind] for kind, number in gpus_of.items())
    rate = load * capacity * count / sum(job.gpus * job.steps for job in jobs)
    now = 0.0
    for job in jobs:
        job.arrival_s = round(now, 3)
        now += rng.expovariate(rate)
    return jobs


def write_tables(folder, jobs):
    with open(folder / "jobs.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "arrival", "steps", "gpus", "type", "limit"])
        for job in jobs:
            rows.writerow([job.number, job.arrival_s, job.steps, job.gpus, job.kind, job.limit_s])
    with open(folder / "speeds.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["job_type", "gpu_type", "gpus", "steps_per_s"])
        for kind, speeds in SPEEDS.items():
            rows.writerows([kind, gpu, gang, speed] for gpu, speed in speeds.items() for gang in GANGS)
    classes = [{"name": kind, "pattern": f"train-{kind}-*", "steps_per_s": speeds} for kind, speeds in SPEEDS.items()]
    (folder / "site.json").write_text(json.dumps({"classes": classes}, indent=1))


def simulate(berth, folder, scheduler, clock, launch_s, name):
    """{job: end second} in the simulator, of the tables in `folder`. Each start holds its GPUs for `launch_s` before the job trains;
    stops are carried out at once, as Slurm does."""
    scenario, timeline = folder / f"{name}.h5", folder / f"{name}.timeline.json"
    run(berth, "convert", "--format", "table", folder / "jobs.csv", "--throughputs", folder / "speeds.csv",
        "--cluster", "v100=12/4,p100=12/4,k80=12/4", "--clock", clock, "--features", f"latency(launch_s={launch_s:.3f})", "--out", scenario)
    run(berth, "simulate", "--scenario", scenario, "--scheduler", scheduler, "--timeline", timeline)
    ends = {}
    for event in json.loads(timeline.read_text())["traceEvents"]:
        if event["ph"] == "X" and event["name"].startswith("job "):
            job = int(event["name"][4:])
            ends[job] = max(ends.get(job, 0.0), (event["ts"] + event["dur"]) / 1e6)
    return ends


class Refused(Exception):
    """What the program said; one line."""


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused((done.stderr or done.stdout).strip().splitlines()[-1])
    return done.stdout
