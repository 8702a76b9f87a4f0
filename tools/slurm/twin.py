"""Runs jobs in a real Slurm on this machine, then the accounting that it wrote in the simulator under slurm(conf=...).

Both see the same jobs: when they were submitted, GPUs, types, partitions, QoS, accounts, time limits, and how long each ran. What
is compared is what the scheduler decides: who starts when. Needs root and the packages of tools/slurm/cluster.

--simulated: no Slurm is started. What it would have been told is written as its accounting, and `berth forecast` says when the jobs start in
the simulator: how often that is right where nothing but the forecast can be wrong.

Exit code 0 where the mean wait agrees within 5% and, with --against, pairs of jobs start in the same order at least as often as in
two runs of Slurm itself; 1 where not; 2 bad input.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
NODES = "v1:v100:4 v2:v100:4 v3:v100:4 p1:p100:4 p2:p100:4 p3:p100:4 k1:k80:4 k2:k80:4 k3:k80:4"
QOS = {"urgent": 100, "normal": 10, "low": 0}
FIELDS = ("JobIDRaw,JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,ReqTRES,AllocTRES,"
          "NodeList,NNodes,Reservation,Constraints,Priority,Flags,SubmitLine")


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"slurm_twin: {' '.join(map(str, words))[:120]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def draw(seed, count, over_s, scale):
    """Jobs by submission: (second, {option of sbatch: value}, seconds)."""
    rng = random.Random(seed)
    jobs = []
    for number in range(count):
        gang = rng.choices([1, 2, 4, 8], [40, 30, 20, 10])[0]
        seconds = round(scale * rng.randint(5, 40))
        short = gang <= 4 and rng.random() < 0.1
        nodes = max(1, gang // 4)
        # Over several nodes Slurm mixes types where a job names none, and the simulator's gangs are of one.
        kind = "v100" if short else rng.choices(["", "v100", "p100", "k80"], [40 if nodes == 1 else 0, 20, 20, 20])[0]
        options = {"account": rng.choice("ab"), "qos": rng.choices(list(QOS), [20, 60, 20])[0], "nodes": nodes,
                   "ntasks-per-node": gang // nodes, "gres": f"gpu:{kind + ':' if kind else ''}{gang // nodes}",
                   "time": math.ceil(scale * (rng.randint(1, 2) if short else rng.randint(1, 4))), "partition": "short" if short else "main"}
        # Evenly, since accounting knows whole seconds: which of two jobs of one second came first, it does not say.
        jobs.append((number * over_s / count, options, seconds))
    return jobs


class Expected:
    """When Slurm expects waiting jobs to start, asked every so often: lines `now|job|start`, seconds since 1970."""

    def __init__(self, path, environment, every_s=20.0):
        self.path, self.environment, self.every_s = path, environment, every_s
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.ask, daemon=True)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def ask(self):
        with open(self.path, "w", encoding="utf-8") as file:
            while not self.over.wait(self.every_s):
                now = time.time()
                asked = subprocess.run(["squeue", "--start", "-h", "-o", "%i|%S"], env=self.environment, text=True,
                                       capture_output=True, check=False).stdout
                for line in asked.splitlines():
                    job, start = line.strip().split("|")
                    file.write(f"{now:.2f}|{job}|{'' if start == 'N/A' else seconds_of(start)}\n")


def run_in_slurm(folder, conf, jobs, environment):
    (folder / "sched.conf").write_text(conf)
    try:
        run(HERE / "cluster", "start", folder / "slurm", folder / "sched.conf", NODES, env=environment)
        time.sleep(1.05 - time.time() % 1.0)  # just behind a whole second
        begin = time.monotonic()
        with Expected(folder / "expected.txt", environment):
            for at, options, seconds in jobs:
                time.sleep(max(0.0, begin + at - time.monotonic()))
                words = [f"--{name}={value}" for name, value in options.items()]
                run("sbatch", "-o", "/dev/null", "--parsable", *words, "--wrap", f"sleep {seconds}", env=environment, cwd="/")
            while run("squeue", "-h", "-o", "%i", env=environment).strip():
                time.sleep(2.0)
        time.sleep(3.0)  # until the daemons have told the database
        (folder / "sacct.txt").write_text(run("sacct", "-a", "-D", "-X", "-P", f"--format={FIELDS}", env=environment))
        (folder / "sshare.txt").write_text(run("sshare", "-a", "-P", env=environment))
        log = (folder / "slurm/log/slurmctld.log").read_text()
        started = next(line for line in log.splitlines() if "started on cluster" in line)
        (folder / "started.txt").write_text(started[1:20])
        (folder / "qos.txt").write_text(run("sacctmgr", "show", "qos", "-P", "format=Name,Priority", env=environment))
    finally:
        subprocess.run([HERE / "cluster", "stop", folder / "slurm"], check=False)
    (folder / "slurm.conf").write_text((folder / "slurm/slurm.conf").read_text())


def write_accounting(folder, conf, jobs):
    """slurm.conf and the accounting of jobs that all start when they come: what the simulator reads of it is the rest."""
    kinds = [node.split(":") for node in NODES.split()]
    nodes = [f"NodeName={name} CPUs={gpus} Gres=gpu:{kind}:{gpus} Feature={kind} Weight=1" for name, kind, gpus in kinds]
    (folder / "slurm.conf").write_text("\n".join(["ClusterName=twin", "SelectType=select/cons_tres", "GresTypes=gpu", *nodes, conf]))
    rows = [FIELDS.replace(",", "|")]
    begin = 1_699_999_200  # any hour
    for number, (at, options, seconds) in enumerate(jobs, 1):
        nodes, gres = options["nodes"], options["gres"].split(":")
        gpus = nodes * int(gres[-1])
        tres = f"billing={gpus},cpu={gpus}" + (f",gres/gpu:{gres[1]}={gpus}" if len(gres) == 3 else "") + f",gres/gpu={gpus},node={nodes}"
        came, gone = (time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(begin + math.floor(second))) for second in (at, at + seconds))
        row = {"JobIDRaw": number, "JobID": number, "User": "root", "Account": options["account"], "Partition": options["partition"],
               "QOS": options["qos"], "State": "COMPLETED", "Submit": came, "Eligible": came, "Start": came, "End": gone, "ElapsedRaw": seconds,
               "TimelimitRaw": options["time"], "ReqTRES": tres, "AllocTRES": tres, "NodeList": "v1", "NNodes": nodes}
        rows.append("|".join(str(row.get(name, "")) for name in FIELDS.split(",")))
    (folder / "sacct.txt").write_text("\n".join(rows) + "\n")


def forecast_simulated(given, folder, conf, levels):
    write_accounting(folder, conf, draw(given.seed, given.jobs, given.over, given.scale))
    run(given.berth, "convert", "--format", "sacct", folder / "sacct.txt", "--out", folder / "site.h5")
    run(given.berth, "forecast", "--calibrate", "--scenario", folder / "site.h5", "--scheduler", f"slurm(conf={folder}/slurm.conf,qos={levels})",
        "--features", f"latency(launch_s={given.launch})", "--at", ",".join(str(at) for at in range(20, int(given.over), 20)),
        "--json", folder / "forecast.json")
    found = json.loads((folder / "forecast.json").read_text())
    print(f"{found['forecasts']} forecasts at {found['moments']} moments: {100 * found['inside']:.1f}% inside the 80% interval, "
          f"{100 * found['earlier']:.1f}% earlier, {100 * found['later']:.1f}% later; median error {found['median_error_s']:.0f} s")
    return 0


def table(path):
    lines = path.read_text().splitlines()
    names = lines[0].split("|")
    return [dict(zip(names, line.split("|"))) for line in lines[1:]]


def seconds_of(text):
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def run_in_simulator(folder, berth, scheduler, launch_s):
    run(berth, "convert", "--format", "sacct", folder / "sacct.txt", "--out", folder / "site.h5")
    run(berth, "simulate", "--scenario", folder / "site.h5", "--scheduler", scheduler, "--timeline", folder / "timeline.json",
        *(["--features", f"latency(launch_s={launch_s})"] if launch_s > 0 else []))
    starts = {}
    for event in json.loads((folder / "timeline.json").read_text())["traceEvents"]:
        if event["ph"] == "X" and event["name"].startswith("job "):
            job = int(event["name"][4:])
            starts[job] = min(starts.get(job, 1e18), event["ts"] // 1e6)  # in whole seconds, as accounting has them
    return starts


def starts_of(rows):
    first = min(seconds_of(row["Submit"]) for row in rows)
    return {int(row["JobIDRaw"]): seconds_of(row["Start"]) - first for row in rows}


def compare(rows, simulated):
    rows = [row for row in rows if int(row["JobIDRaw"]) in simulated]
    first = min(seconds_of(row["Submit"]) for row in rows)
    jobs = []
    for row in rows:
        job = int(row["JobIDRaw"])
        jobs.append((job, seconds_of(row["Submit"]) - first, seconds_of(row["Start"]) - first, simulated[job],
                     (int(row["Priority"]), row["Partition"])))
    waits = [start - submit for _, submit, start, _, _ in jobs]
    waits_simulated = [start - submit for _, submit, _, start, _ in jobs]
    # Pairs of jobs that waited together in both, and started at least a second apart in one.
    same = other = near = 0
    for i, (_, submit_a, start_a, sim_a, priority_a) in enumerate(jobs):
        for _, submit_b, start_b, sim_b, priority_b in jobs[:i]:
            late = max(submit_a, submit_b)
            if priority_a == priority_b or min(start_a, start_b) < late or min(sim_a, sim_b) < late or start_a == start_b:
                continue
            if (start_a - start_b) * (sim_a - sim_b) > 0:
                same += 1
            elif abs(start_a - start_b) <= 2.0 or abs(sim_a - sim_b) <= 2.0:
                near += 1
            else:
                other += 1
    mean, mean_simulated = sum(waits) / len(waits), sum(waits_simulated) / len(waits)
    return {
        "jobs": len(jobs),
        "mean_wait_s": {"slurm": mean, "simulated": mean_simulated, "ratio": mean_simulated / max(mean, 1e-9)},
        "mean_absolute_difference_s": sum(abs(a - b) for a, b in zip(waits, waits_simulated)) / len(waits),
        "starts_within_5s": sum(abs(a - b) <= 5.0 for a, b in zip(waits, waits_simulated)) / len(waits),
        "pairs": {"same_order": same, "within_2s": near, "other_order": other,
                  "share_same": same / max(1, same + near + other)},
        "makespan_s": {"slurm": max(seconds_of(row["End"]) for row in rows) - first},
    }


def sure(rows, simulated, other):
    """Of the pairs that waited together in two runs of Slurm and started in the same order in both, more than 2 s apart: how
    many there are, and the share that starts in that order in the simulator too."""
    here = starts_of(rows)
    submit = {int(row["JobIDRaw"]): seconds_of(row["Submit"]) for row in rows}
    first = min(submit.values())
    jobs = [job for job in here if job in simulated and job in other]
    same = pairs = 0
    for i, a in enumerate(jobs):
        for b in jobs[:i]:
            late = max(submit[a], submit[b]) - first
            if min(here[a], here[b], other[a], other[b], simulated[a], simulated[b]) < late:
                continue
            if (here[a] - here[b]) * (other[a] - other[b]) > 0 and min(abs(here[a] - here[b]), abs(other[a] - other[b])) > 2:
                pairs += 1
                same += (here[a] - here[b]) * (simulated[a] - simulated[b]) > 0
    return {"pairs": pairs, "share_same": same / max(1, pairs)}


def forecasts(folder, berth, scheduler, rows):
    """`berth forecast` at the moments at which Slurm was asked when jobs start, as long as jobs still came: that nobody comes any more,
    nobody can know. Both beside what happened, for the same jobs."""
    first = min(seconds_of(row["Submit"]) for row in rows)
    last = max(seconds_of(row["Submit"]) for row in rows) - first
    start = starts_of(rows)
    said = {}  # (moment, job): when Slurm expected it, None = it did not say
    for line in (folder / "expected.txt").read_text().splitlines():
        now, job, expected = line.split("|")
        at = math.floor(float(now) - first)
        if 0 <= at <= last and int(job) in start and start[int(job)] > at:
            said[at, int(job)] = float(expected) - first if expected else None
    moments = sorted({at for at, _ in said})
    if not moments:
        return None
    run(berth, "forecast", "--calibrate", "--scenario", folder / "site.h5", "--accounting", folder / "sacct.txt", "--scheduler", scheduler,
        "--at", ",".join(map(str, moments)), "--json", folder / "forecast.json")
    inside = earlier = both = in_time = silent = 0
    error, error_slurm = [], []
    jobs = [job for job in json.loads((folder / "forecast.json").read_text())["jobs"] if job["actual_s"] is not None]
    for job in jobs:
        low, high = (math.inf if job[key] is None else job[key] for key in ("low_s", "high_s"))  # none = later than was played
        inside += low <= job["actual_s"] <= high
        earlier += job["actual_s"] < low
        expected = said.get((job["at_s"], job["id"]))
        silent += expected is None
        if expected is None or job["median_s"] is None:
            continue
        both += 1
        actual = start[job["id"]]
        in_time += actual <= expected + 1.0  # both are whole seconds
        error_slurm.append(abs(actual - expected))
        error.append(abs(job["actual_s"] - job["median_s"]))
    count = max(1, len(jobs))
    return {"moments": len(moments), "forecasts": len(jobs), "inside": inside / count, "earlier": earlier / count,
            "later": 1.0 - (inside + earlier) / count, "not_said_by_slurm": silent,
            "median_error_s": statistics.median(error) if both else None,
            "slurm": {"started_by_then": in_time / max(1, both), "median_error_s": statistics.median(error_slurm) if both else None}}


def print_forecasts(found):
    slurm = found["slurm"]
    print(f"when jobs start, {found['forecasts']} forecasts at {found['moments']} moments:")
    print(f"  berth forecast: {100 * found['inside']:.1f}% inside its 80% interval, {100 * found['earlier']:.1f}% earlier, "
          f"{100 * found['later']:.1f}% later; median error {found['median_error_s']:.0f} s")
    print(f"  squeue --start: {100 * slurm['started_by_then']:.1f}% started by then; median error {slurm['median_error_s']:.0f} s; "
          f"says nothing of {found['not_said_by_slurm']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berth", default="berth", help="the program")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--over", type=float, default=300.0, help="seconds in which they are submitted")
    parser.add_argument("--builtin", action="store_true", help="without backfill: SchedulerType=sched/builtin")
    parser.add_argument("--scale", type=float, default=1.0, help="of all run times and limits")
    # Jobs sleep whole seconds from a start at the second at which slurmctld looks, so they end just behind such a second.
    parser.add_argument("--launch", type=float, default=0.1, help="seconds that each start takes in the simulator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--conf", default=str(HERE / "twin.conf"), help="lines of slurm.conf about scheduling")
    parser.add_argument("--out", help="folder to keep what was run")
    parser.add_argument("--against", help="--out of an earlier run of the same jobs: how far two runs of Slurm itself agree")
    parser.add_argument("--simulated", action="store_true", help="forecasts alone, of the same jobs in the simulator; without a Slurm")
    parser.add_argument("--again", action="store_true", help="of --out: simulate again what ran in Slurm before")
    given = parser.parse_args()
    if given.jobs < 1 or given.over < 0:
        print("slurm_twin: --jobs: expected at least 1, and --over 0 or more", file=sys.stderr)
        return 2
    folder = pathlib.Path(given.out or tempfile.mkdtemp(prefix="slurm-twin-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("TZ", "UTC")
    time.tzset()
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm/slurm.conf"), "ACCOUNTS": "a b",
                   "QOS": " ".join(f"{name}:{priority}" for name, priority in QOS.items())}
    conf = pathlib.Path(given.conf).read_text()
    if given.builtin:
        conf = conf.replace("sched/backfill", "sched/builtin")
    if given.simulated:
        return forecast_simulated(given, folder, conf, "+".join(f"{name}:{priority}" for name, priority in QOS.items()))
    if not given.again:
        run_in_slurm(folder, conf, draw(given.seed, given.jobs, given.over, given.scale), environment)
    levels = "+".join(f"{row['Name']}:{row['Priority'] or 0}" for row in table(folder / "qos.txt"))
    rows = [row for row in table(folder / "sacct.txt") if row["State"].startswith("COMPLETED")]
    # Slurm counts priorities from its start on, every PriorityCalcPeriod.
    phase = seconds_of((folder / "started.txt").read_text()) - min(seconds_of(row["Submit"]) for row in rows)
    schedulers = {"slurm": f"slurm(conf={folder}/slurm.conf,qos={levels},calc_phase={phase:.0f})", "easy": "easy", "fcfs": "fcfs"}
    found, starts = {}, {}
    for name, scheduler in schedulers.items():
        starts[name] = run_in_simulator(folder, given.berth, scheduler, given.launch)
        found[name] = compare(rows, starts[name])
    if given.against:
        other = [row for row in table(pathlib.Path(given.against) / "sacct.txt") if row["State"].startswith("COMPLETED")]
        found["Slurm, run again"] = compare(rows, starts_of(other))
        for name in starts:
            found[name]["pairs_sure"] = sure(rows, starts[name], starts_of(other))
    if (folder / "expected.txt").exists():
        found["forecast"] = forecasts(folder, given.berth, schedulers["slurm"], rows)
    (folder / "twin.json").write_text(json.dumps(found, indent=1))
    forecast = found.pop("forecast", None)
    print(f"{found['slurm']['jobs']} jobs in Slurm on 9 nodes x 4 GPUs: mean wait {found['slurm']['mean_wait_s']['slurm']:.1f} s, "
          f"makespan {found['slurm']['makespan_s']['slurm']:.0f} s")
    print("in the simulator under   mean wait s   of Slurm's   |difference| s   starts within 5 s   pairs in the same order")
    for name, result in found.items():
        wait, pairs = result["mean_wait_s"], result["pairs"]
        print(f"{name:<22}   {wait['simulated']:11.1f}   {wait['ratio']:10.3f}   {result['mean_absolute_difference_s']:14.1f}   "
              f"{100 * result['starts_within_5s']:16.1f}%   {100 * pairs['share_same']:9.2f}% of "
              f"{pairs['same_order'] + pairs['within_2s'] + pairs['other_order']}")
        if "pairs_sure" in result:
            print(f"{'':<22}   of {result['pairs_sure']['pairs']} pairs that two runs of Slurm order alike: "
                  f"{100 * result['pairs_sure']['share_same']:.2f}%")
    if forecast:
        print_forecasts(forecast)
    print(f"kept in {folder}")
    twin, again = found["slurm"], found.get("Slurm, run again")
    alike = again is None or twin["pairs"]["share_same"] >= again["pairs"]["share_same"]
    return 0 if abs(twin["mean_wait_s"]["ratio"] - 1.0) <= 0.05 and alike else 1


if __name__ == "__main__":
    sys.exit(main())
