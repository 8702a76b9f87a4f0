"""The same jobs under the same schedulers in the simulator and, by `berth serve --slurm --control`, in real Slurms on this machine.

300 jobs that sleep, 10 to 60 s on a V100 and longer on other types, arrive at 9 nodes with 4 counted GPUs each, of three types. Each
scheduler and seed has a Slurm of its own; several run at once. Slurm's own backfill gets the jobs too, without a controller.

Exit code 0 where mean JCTs agree within 5%, stand in the same order where simulated ones differ by more than 5%, and the policy's gain
over Slurm's backfill is at least 80% of the simulated; 1 where not; 2 bad input.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
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
SCHEDULERS = {OWN: (None, "event"), "fcfs": ("fcfs", "event"), "easy": ("easy", "event"), "srpt": ("srpt", "event"),
              "gavel": ("gavel(objective=max_min,reset_s=10)", "rounds(10)"), "policy": (POLICY, "event")}
POLL_S = 0.25


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
        begin = time.time() + 0.5
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
            found["orders"] = orders(rig.berth / "decisions.jsonl")
    (folder / "real.json").write_text(json.dumps(found))


def cpu_s(pid):
    """Seconds of CPU of a process and of the commands that it ran."""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def cpu_share(pid, begin):
    return cpu_s(pid) / (time.time() - begin)


def orders(path):
    """[(second, what, Slurm's job)] that the controller asked of Slurm, refused ones left out."""
    found = []
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if event.get("kind") == "order" and "refused" not in event:
            found.append((event["at"], event["what"], event["id"]))
    return found


def measure(found, clock):
    """Mean JCT, and what the simulator is told of this Slurm: how late starts are, and what a requeue costs."""
    begin = found["begin"]
    ends, starts, stops, happened = {}, [], [], []
    for number, job in found["jobs"].items():
        arrival = begin + found["arrivals"][number]
        happened.append(arrival)
        for what, at, rest in job["history"]:
            if what == "start":
                starts.append((at, str(job["slurm"]), rest[0]))
            elif what == "stop":
                stops.append((at, rest))
            else:
                ends[number] = at
        happened.append(ends.get(number, 1e18))
    releases = [(at, job) for at, what, job in found.get("orders", []) if what == "release"]
    late, released_late = [], []
    happened.sort()
    for at, job, _ in starts:
        order = max((second for second, other in releases if other == job and second <= at), default=None)
        if order is not None:
            released_late.append(at - order)
        moment = order if order is not None else at - 0.02
        cause = max((second for second in happened if second <= moment), default=None)
        if cause is not None and moment - cause < 5.0:
            late.append(at - cause)
    jcts = {int(number): end - begin - found["arrivals"][number] for number, end in ends.items()}
    gaps = []
    for at, _ in stops:
        later = [second for second, _, _ in starts if 0.0 <= second - at < 10.0]
        if later:
            gaps.append(min(later) - at)
    return {"jobs": len(jcts), "mean_jct_s": statistics.mean(jcts.values()), "jcts": jcts,
            "makespan_s": max(ends.values()) - begin, "starts": len(starts), "stops": len(stops),
            "event_to_start_s": statistics.median(late) if late else 0.0,
            "release_to_start_s": statistics.median(released_late) if released_late else None,
            "latency_s": statistics.median(released_late if clock != "event" and released_late else late or [0.0]),
            "restore_s": statistics.median(gaps) if gaps else 0.0,
            "cpu_share": found.get("cpu_share"), "cpu_share_idle": found.get("cpu_share_idle"), "status": found.get("status")}


def simulate(given, name, seed, measured):
    folder = folder_of(given, name, seed)
    scheduler, clock = SCHEDULERS[name]
    scheduler = scheduler or f"slurm(conf={folder}/slurm/slurm.conf)"
    ends = fidelity_jobs.simulate(given.berth, folder, scheduler, clock, measured["latency_s"], measured["restore_s"], "simulated")
    arrivals = json.loads((folder / "real.json").read_text())["arrivals"]
    jcts = {job: end - arrivals[str(job)] for job, end in ends.items()}
    return {"mean_jct_s": statistics.mean(jcts.values()), "makespan_s": max(ends.values())}


def cases(given):
    return [(name, seed) for seed in given.seeds for name in given.names]


def table(given, results):
    """Prints the comparison and says whether the targets are met: (summary, met)."""
    mean = {}
    for name in given.names:
        simulated = statistics.mean(results[name, seed][1]["mean_jct_s"] for seed in given.seeds)
        real = statistics.mean(results[name, seed][0]["mean_jct_s"] for seed in given.seeds)
        mean[name] = {"simulated_s": simulated, "slurm_s": real, "ratio": simulated / real,
                      "seeds": {seed: results[name, seed][1]["mean_jct_s"] / results[name, seed][0]["mean_jct_s"] for seed in given.seeds}}
    print(f"{given.jobs} jobs, seeds {', '.join(map(str, given.seeds))}; mean JCT\n"
          "scheduler          simulated s   Slurm s   ratio   by seed                latency s   a requeue costs s   requeues")
    for name in given.names:
        row, measured = mean[name], [results[name, seed][0] for seed in given.seeds]
        print(f"{name:<18} {row['simulated_s']:11.1f} {row['slurm_s']:9.1f} {row['ratio']:7.3f}   "
              f"{' '.join(f'{ratio:.3f}' for ratio in row['seeds'].values()):<22} "
              f"{statistics.mean(one['latency_s'] for one in measured):9.2f} {statistics.mean(one['restore_s'] for one in measured):19.2f} "
              f"{statistics.mean(one['stops'] for one in measured):10.0f}")
    wrong = []
    for a in mean:
        for b in mean:
            if mean[a]["simulated_s"] * 1.05 < mean[b]["simulated_s"] and mean[a]["slurm_s"] >= mean[b]["slurm_s"]:
                wrong.append(f"{a} before {b}")
    near = all(abs(row["ratio"] - 1.0) <= 0.05 for row in mean.values())
    print(f"within 5%: {'all' if near else ', '.join(name for name in mean if abs(mean[name]['ratio'] - 1.0) <= 0.05) or 'none'}; "
          f"order where simulated means differ by more than 5%: {'the same' if not wrong else 'not of ' + '; '.join(wrong)}")
    gains = {}
    if OWN in mean:
        for name in given.names:
            gains[name] = {where: 1.0 - mean[name][where] / mean[OWN][where] for where in ("simulated_s", "slurm_s")}
        for name, gain in gains.items():
            if name != OWN:
                print(f"gain of {name} over {OWN}: simulated {100 * gain['simulated_s']:.1f}%, in Slurm {100 * gain['slurm_s']:.1f}%")
    best = gains.get("policy")
    gained = best is None or best["slurm_s"] >= 0.8 * best["simulated_s"]
    controlled = [results[name, seed][0] for name, seed in cases(given) if name != OWN]
    if controlled:
        print(f"event to start: median {statistics.median(one['event_to_start_s'] for one in controlled):.2f} s, release to start "
              f"{statistics.median(one['release_to_start_s'] for one in controlled if one['release_to_start_s'] is not None):.2f} s; "
              f"controller: {100 * statistics.mean(one['cpu_share'] for one in controlled):.1f}% of a core under load, "
              f"{100 * statistics.mean(one['cpu_share_idle'] for one in controlled):.2f}% idle, Slurm's commands counted")
    return {"mean_jct": mean, "gains": gains, "order_differs": wrong}, near and not wrong and gained


def parse():
    parser = argparse.ArgumentParser(prog="slurm_fidelity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berth", default="berth", help="the program")
    parser.add_argument("--quick", action="store_true", help="one seed, easy and the policy, 120 jobs: in ten minutes")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--load", type=float, default=1.0, help="work that comes, of what the GPUs do")
    parser.add_argument("--scale", type=float, default=1.0, help="of all run times")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--schedulers", nargs="+", choices=[name for name in SCHEDULERS if name != OWN], default=None)
    parser.add_argument("--parallel", type=int, default=6, help="Slurms at once")
    parser.add_argument("--patience", type=float, default=1800.0, help="seconds for which the last jobs are waited for")
    parser.add_argument("--port", type=int, default=47500, help="first of 20 ports for each Slurm")
    parser.add_argument("--out", help="folder to keep everything in; what ran there before is not run again")
    given = parser.parse_args()
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
            found = json.loads((folder_of(given, name, seed) / "real.json").read_text())
            measured = measure(found, SCHEDULERS[name][1])
            if measured["jobs"] != len(found["jobs"]):
                raise rigs.Failed(f"{name}, seed {seed}: {len(found['jobs']) - measured['jobs']} jobs did not end")
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
