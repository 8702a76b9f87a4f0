"""The same jobs under the same schedulers in the simulator and, by `berth serve --slurm --control`, in real Slurms on this machine.

300 jobs that sleep, 10 to 60 s on a V100 and longer on other types, arrive at 9 nodes with 4 counted GPUs each, of three types. Each
scheduler and seed has a Slurm of its own; several run at once. Slurm's own backfill gets the jobs too, without a controller.

Exit code 0 where mean JCTs agree within 5%, stand in the same order where simulated ones differ by more than 5%, and the policy's gain
over Slurm's backfill is at least 80% of the simulated; 1 where not; 2 bad input.
"""
import argparse
import bisect
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

import fidelity_jobs
import rig as rigs

TOP = rigs.HERE.parent.parent
POLICY = f"policy(file={TOP}/data/policies/cluster/hetero_oracle.h5)"
OWN = "Slurm's backfill"
SCHEDULERS = {OWN: (None, "event"), "fcfs": ("fcfs", "event"), "easy": ("easy", "event"), "srpt": ("srpt", "rounds(10)"),
              "gavel": ("gavel(objective=max_min,reset_s=10)", "rounds(10)"), "policy": (POLICY, "rounds(10)")}
POLL_S = 0.25
ROUND_S = 10
DELAYS = [0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2]


def folder_of(given, name, seed):
    return given.folder / f"seed{seed}" / name.split("'")[0].lower()


def run_in_slurm(given, name, seed, port, jobs):
    """Runs the jobs; leaves real.json in the case's folder."""
    folder = folder_of(given, name, seed)
    folder.mkdir(parents=True, exist_ok=True)
    fidelity_jobs.write_tables(folder, jobs)
    scheduler, clock = SCHEDULERS[name]
    with rigs.Rig(folder, port) as rig:
        numbers = {}
        if scheduler:
            rig.start_controller(given.berth, scheduler, "--clock", clock, "--poll", POLL_S)
            rig.start_watchdog()
        begin = ROUND_S * math.ceil((time.time() + 0.5) / ROUND_S)  # rounds begin at such seconds, as they do in the simulator
        for job in jobs:
            time.sleep(max(0.0, begin + job.arrival_s - time.time()))
            numbers[job.number] = rig.submit(job)
        end = time.time() + given.patience
        while rig.queued():
            if time.time() > end:
                raise rigs.Failed(f"{name}: {len(rig.queued())} jobs had not ended {given.patience:.0f} s after the last arrived")
            time.sleep(1.0)
        time.sleep(2.5)
        found = {"begin": begin, "arrivals": {job.number: job.arrival_s for job in jobs},
                 "jobs": {number: {"slurm": numbers[number], "history": rig.history(numbers[number])} for number in numbers}}
        if scheduler:
            found["status"] = {key: value for key, value in (rig.status() or {}).items() if key in ("cycle", "counts")}
            found["cpu_share"] = cpu_share(rig.controller.pid, begin)
            used, at = cpu_s(rig.controller.pid), time.time()
            time.sleep(20.0)
            found["cpu_share_idle"] = (cpu_s(rig.controller.pid) - used) / (time.time() - at)
    (folder / "real.json").write_text(json.dumps(found))


def cpu_s(pid):
    """Seconds of CPU of a process and of the commands that it ran."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def cpu_share(pid, begin):
    return cpu_s(pid) / (time.time() - begin)


def read_log(path):
    """The controller's log: when it saw each job end, when it decided and what it asked for: ({job: s}, [s], [(s, job)])."""
    ended, decided, released = {}, [], []
    for line in path.read_text().splitlines() if path.exists() else []:
        event = json.loads(line)
        if event["kind"] == "end":
            ended[event["id"]] = event["at"]
        elif event["kind"] == "decision":
            decided.append(event["at"])
        elif event["kind"] == "order" and event["what"] == "release" and "refused" not in event:
            released.append((event["at"], event["id"]))
    return ended, decided, released


def latest(times, until):
    """The last of sorted `times` that is not after `until`; None where there is none."""
    at = bisect.bisect_right(times, until)
    return times[at - 1] if at else None


def mean(values):
    return statistics.mean(values) if values else 0.0


def seconds_of(stamp):
    """Seconds since 1970 of a time in slurmctld.log."""
    return datetime.datetime.fromisoformat(stamp).timestamp()


def slurms_launches(folder, ends, starts):
    """Of Slurm's own starts: how long after slurmctld chose the nodes a job began, and after the job ended slurmctld knew, medians."""
    chosen, known = {}, {}
    for line in (folder / "slurm/log/slurmctld.log").read_text().splitlines():
        if found := re.match(r"\[(\S+)\] (?:sched: Allocate|sched/backfill: _start_job: Started) JobId=(\d+) ", line):
            chosen[found[2]] = seconds_of(found[1])
        elif found := re.match(r"\[(\S+)\] _job_complete: JobId=(\d+) done", line):
            known[found[2]] = seconds_of(found[1])
    return (statistics.median(at - chosen[job] for at, job in starts if job in chosen)
            + statistics.median(known[job] - at for job, at in ends.items() if job in known))


def measure(folder):
    """Mean JCT of the jobs that ran, and what the simulator is told of this Slurm: how long a start takes, from what it follows of."""
    found = json.loads((folder / "real.json").read_text())
    begin = found["begin"]
    ends, starts, stops = {}, [], 0
    for number, job in found["jobs"].items():
        history = job["history"]
        starts += [(at, str(job["slurm"])) for what, at, _ in history if what == "start"]
        stops += sum(what == "stop" for what, _, _ in history)
        if history and history[-1][0] == "end":
            ends[int(number)] = history[-1][1]
    ended, decided, released = read_log(folder / "berth/decisions.jsonl")
    seen_late = [ended[str(job["slurm"])] - ends[int(number)] for number, job in found["jobs"].items()
                 if int(number) in ends and str(job["slurm"]) in ended]
    release_to_start, decision_to_start = [], []
    for at, job in starts:
        order = max((second for second, other in released if other == job and second <= at), default=None)
        if order is not None:
            release_to_start.append(at - order)
            decision_to_start.append(at - (latest(decided, order) or order))
    if released:
        # An end is seen late, by which a decision that follows of it comes late. At a clock of rounds it is the same: the decision is that
        # of a simulated round so much earlier, since what ends within that time is not seen until the next.
        launch = mean(decision_to_start) + mean(seen_late)
    else:
        launch = slurms_launches(folder, {str(found["jobs"][str(number)]["slurm"]): at for number, at in ends.items()}, starts)
    jcts = {number: end - begin - found["arrivals"][str(number)] for number, end in ends.items()}
    return {"jobs": len(found["jobs"]), "ended": len(ends), "lost": sorted(set(map(int, found["jobs"])) - set(ends)),
            "mean_jct_s": mean(list(jcts.values())), "jcts": jcts, "makespan_s": max(ends.values()) - begin, "starts": len(starts),
            "stops": stops, "launch_s": launch,
            "end_to_seen_s": mean(seen_late), "decision_to_start_s": statistics.median(decision_to_start) if decision_to_start else None,
            "release_to_start_s": statistics.median(release_to_start) if release_to_start else None,
            "cpu_share": found.get("cpu_share"), "cpu_share_idle": found.get("cpu_share_idle"), "status": found.get("status")}


def simulate(given, name, seed, measured):
    """Mean JCT in the simulator: the mean over delays around the measured one, and the least and most of them. Which of two things
    within a second comes first decides who goes first, and from then on all differs: one delay is one draw, as one run of Slurm is."""
    folder = folder_of(given, name, seed)
    scheduler, clock = SCHEDULERS[name]
    scheduler = scheduler or f"slurm(conf={folder}/slurm/slurm.conf,gangs=spread)"
    arrivals = json.loads((folder / "real.json").read_text())["arrivals"]
    means, makespans = [], []
    for factor in DELAYS:
        ends = fidelity_jobs.simulate(given.berth, folder, scheduler, clock, factor * measured["launch_s"], "simulated")
        means.append(mean([end - arrivals[str(job)] for job, end in ends.items() if job in measured["jcts"]]))
        makespans.append(max(ends.values()))
    return {"mean_jct_s": mean(means), "least_s": min(means), "most_s": max(means), "makespan_s": mean(makespans)}


def cases(given):
    return [(name, seed) for seed in given.seeds for name in given.names]


def table(given, results):
    """Prints the comparison and says whether the targets are met: (summary, met)."""
    rows = {}
    for name in given.names:
        pairs = [results[name, seed] for seed in given.seeds]
        simulated, real = mean([one["mean_jct_s"] for _, one in pairs]), mean([one["mean_jct_s"] for one, _ in pairs])
        rows[name] = {"simulated_s": simulated, "slurm_s": real, "ratio": simulated / real,
                      "seeds": {seed: one["mean_jct_s"] / real["mean_jct_s"] for seed, (real, one) in zip(given.seeds, pairs)}}
    print(f"{given.jobs} jobs, seeds {', '.join(map(str, given.seeds))}; mean JCT\n"
          "scheduler          simulated s   least to most   Slurm s   ratio   by seed              launch s   requeues")
    for name, row in rows.items():
        real, simulated = [results[name, seed][0] for seed in given.seeds], [results[name, seed][1] for seed in given.seeds]
        span = f"{mean([one['least_s'] for one in simulated]):.1f} to {mean([one['most_s'] for one in simulated]):.1f}"
        print(f"{name:<18} {row['simulated_s']:11.1f} {span:>15} {row['slurm_s']:9.1f} {row['ratio']:7.3f}   "
              f"{' '.join(f'{ratio:.3f}' for ratio in row['seeds'].values()):<19} {mean([one['launch_s'] for one in real]):9.2f} "
              f"{mean([one['stops'] for one in real]):10.0f}")
    near = [name for name, row in rows.items() if abs(row["ratio"] - 1.0) <= 0.05]
    wrong = [f"{a} before {b}" for a in rows for b in rows
             if rows[a]["simulated_s"] * 1.05 < rows[b]["simulated_s"] and rows[a]["slurm_s"] >= rows[b]["slurm_s"]]
    print(f"within 5%: {'all' if len(near) == len(rows) else ', '.join(near) or 'none'}; "
          f"order where simulated means differ by more than 5%: {'the same' if not wrong else 'not of ' + '; '.join(wrong)}")
    gains = {name: {where: 1.0 - row[where] / rows[OWN][where] for where in ("simulated_s", "slurm_s")}
             for name, row in rows.items() if name != OWN}
    for name, gain in gains.items():
        print(f"gain of {name} over {OWN}: simulated {100 * gain['simulated_s']:.1f}%, in Slurm {100 * gain['slurm_s']:.1f}%")
    best = gains.get("policy")
    gained = best is None or best["slurm_s"] >= 0.8 * best["simulated_s"]
    controlled = [results[name, seed][0] for name, seed in cases(given) if name != OWN]
    for key, words in (("decision_to_start_s", "decision to start, median"), ("release_to_start_s", "release to start, median")):
        print(f"{words}: {statistics.median(one[key] for one in controlled):.2f} s")
    print(f"controller, with Slurm's commands: {100 * mean([one['cpu_share'] for one in controlled]):.1f}% of a core under load, "
          f"{100 * mean([one['cpu_share_idle'] for one in controlled]):.1f}% with nothing to do")
    for (name, seed), (real, _) in results.items():
        if real["lost"]:
            print(f"{name}, seed {seed}: {len(real['lost'])} jobs did not end, as {real['lost'][:5]}")
    lost = any(real["lost"] for real, _ in results.values())
    return {"mean_jct": rows, "gains": gains, "order_differs": wrong}, len(near) == len(rows) and not wrong and gained and not lost


def parse():
    parser = argparse.ArgumentParser(prog="slurm_fidelity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berth", default="berth", help="the program")
    parser.add_argument("--quick", action="store_true", help="one seed, easy and the policy, 120 jobs: in ten minutes")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--at-once", action="store_true", help="srpt and the policy decide whenever something happens, not every 10 s")
    parser.add_argument("--load", type=float, default=1.0, help="work that comes, of what the GPUs do")
    parser.add_argument("--scale", type=float, default=1.0, help="of all run times")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--schedulers", nargs="+", choices=[name for name in SCHEDULERS if name != OWN], default=None)
    parser.add_argument("--parallel", type=int, default=6, help="Slurms at once")
    parser.add_argument("--patience", type=float, default=1800.0, help="seconds for which the last jobs are waited for")
    parser.add_argument("--port", type=int, default=27500, help="first of 20 ports for each Slurm")
    parser.add_argument("--out", help="folder to keep everything in; what ran there before is not run again")
    given = parser.parse_args()
    if given.at_once:
        SCHEDULERS.update({name: (SCHEDULERS[name][0], "event") for name in ("srpt", "policy")})
    if given.quick:
        given.jobs, given.seeds, given.schedulers = 120, given.seeds[:1], given.schedulers or ["easy", "policy"]
    given.names = [OWN, *(given.schedulers or [name for name in SCHEDULERS if name != OWN])]
    given.berth = shutil.which(given.berth) and pathlib.Path(shutil.which(given.berth)).resolve()
    if not given.berth:
        sys.exit(print("slurm_fidelity: --berth: expected the program, found none there", file=sys.stderr) or 2)
    given.folder = pathlib.Path(given.out or tempfile.mkdtemp(prefix="slurm-fidelity-")).resolve()
    if given.jobs < 10 or given.load <= 0.0 or given.scale <= 0.0 or given.parallel < 1:
        sys.exit(print("slurm_fidelity: expected --jobs from 10 on, and --load, --scale and --parallel above 0", file=sys.stderr) or 2)
    return given


def main():
    given = parse()
    if os.geteuid() != 0:
        print("slurm_fidelity: expected root, which starts Slurm's daemons", file=sys.stderr)
        return 2
    results = {}
    try:
        with concurrent.futures.ThreadPoolExecutor(given.parallel) as pool:
            waiting = {}
            for index, (name, seed) in enumerate(cases(given)):
                if not (folder_of(given, name, seed) / "real.json").exists():
                    jobs = fidelity_jobs.draw(seed, given.jobs, given.load, given.scale)
                    waiting[pool.submit(run_in_slurm, given, name, seed, given.port + 20 * index, jobs)] = (name, seed)
            for done in concurrent.futures.as_completed(waiting):
                done.result()
                print("ran", *waiting[done], file=sys.stderr)
        for name, seed in cases(given):
            measured = measure(folder_of(given, name, seed))
            results[name, seed] = measured, simulate(given, name, seed, measured)
    except (rigs.Failed, fidelity_jobs.Refused, OSError) as error:
        print(f"slurm_fidelity: {error}", file=sys.stderr)
        return 2
    summary, met = table(given, results)
    summary["cases"] = [{"scheduler": name, "seed": seed, "slurm": {key: value for key, value in real.items() if key != "jcts"},
                         "simulated": simulated} for (name, seed), (real, simulated) in results.items()]
    (given.folder / "fidelity.json").write_text(json.dumps(summary, indent=1))
    print(f"kept in {given.folder}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
