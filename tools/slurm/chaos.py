"""What becomes of jobs when things break: of tools/slurm_fidelity.

--chaos N      kills the controller, slurmctld or both with -9 at N random moments under load, and starts them again as systemd would
--soak MINUTES a node is drained or fails each minute; the controller's memory, and whether its view is Slurm's
--many         a cycle for 10,000 queued jobs on 500 nodes, of recorded JSON
--race         without job_submit.lua: jobs that Slurm starts before a controller that looks twice a second can hold them

Exit code 0 where all is well, 1 where not, 2 bad input.
"""
import argparse
import copy
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import fidelity_jobs
import rig as rigs


# Slurm writes its state down every five seconds (SAVE_MAX_WAIT in its slurmctld/state_save.c), and a little later under load. What it
# said and did since then, a slurmctld that is killed has forgotten: that it took a job, that it started one.
FORGETS_S = 8.0
LAUNCH_S = 1.0  # what it had sent to a node when it was killed starts within this


class Load(threading.Thread):
    """Submits short jobs until told to stop. `numbers`: {job's name: Slurm's number}, `taken`: when."""

    def __init__(self, rig, seed, load, scale):
        super().__init__(daemon=True)
        self.rig, self.numbers, self.taken, self.over = rig, {}, {}, threading.Event()
        self.jobs = fidelity_jobs.draw(seed, 20000, load, scale)

    def run(self):
        begin = time.time()
        for job in self.jobs:
            if self.over.wait(max(0.0, begin + job.arrival_s - time.time())):
                return
            name = f"train-{job.kind}-{job.number}"
            while name not in self.numbers and not self.over.is_set():
                try:
                    number = self.rig.submit(job, check=False)
                    if not number:  # an answer may be lost when slurmctld is killed: was it taken?
                        number = int((self.rig.say("squeue", "-h", "-n", name, "-o", "%A").split() or [0])[0])
                except rigs.Failed:
                    number = 0
                if number:
                    self.numbers[name], self.taken[name] = number, time.time()
                else:
                    time.sleep(0.5)


class Systemd(threading.Thread):
    """Starts the controller again when it has ended, as Restart=on-failure and RestartSec=2 would."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.rig, self.over, self.restarts = rig, threading.Event(), 0

    def run(self):
        while not self.over.wait(0.1):
            if self.rig.controller.poll() is not None and not self.over.wait(2.0):
                self.restarts += 1
                self.rig.restart_controller()


class Operator(threading.Thread):
    """Resumes what Slurm itself drains. A slurmctld that is killed forgets what it did in its last seconds, up to five; it then starts
    again what runs already, and drains the node whose slurmd refuses the second copy (`Duplicate jobid`)."""

    def __init__(self, rig):
        super().__init__(daemon=True)
        self.rig, self.over, self.resumed = rig, threading.Event(), 0

    def run(self):
        while not self.over.wait(3.0):
            for line in self.rig.say("sinfo", "-h", "-N", "-O", "nodelist:20,statelong:20,reason:40", check=False).splitlines():
                if "drain" in line[20:40] or "down" in line[20:40]:
                    self.resumed += 1
                    self.rig.say("scontrol", "update", f"NodeName={line[:20].strip()}", "State=RESUME", check=False)


def runs_of(history):
    """What was wrong with the runs of a job, by what it wrote: '' = nothing."""
    counts = [rest[1] for what, _, rest in history if what == "start"]
    if not counts:
        return "never started"
    if history[-1][0] != "end" or sum(what == "end" for what, _, _ in history) != 1:
        return "did not end once"
    if len(set(counts)) != len(counts):
        return "started twice without a requeue"
    for before, after in zip(history, history[1:]):
        if after[0] == "start" and before[0] == "start":
            return "started while it ran"
    return ""


# Nodes are asked every third of SlurmdTimeout, 300 s as shipped: so long a slurmctld that comes back may take them for gone.
CONF = rigs.CONF + "SlurmdTimeout=60\n"


def wait_for_end(rig, patience):
    """Waits until no job is left, or none has ended for `patience` seconds; numbers of those that are."""
    left, since = None, time.time()
    while True:
        try:
            now = rig.queued()
        except rigs.Failed:
            now = left
        if now == []:
            return []
        if now != left:
            left, since = now, time.time()
        elif time.time() > since + patience:
            return left or []
        time.sleep(2.0)


def chaos(given):
    rng = random.Random(given.seed)
    folder = given.folder / "chaos"
    with rigs.Rig(folder, given.port, conf=CONF) as rig:
        fidelity_jobs.write_tables(folder, [])
        alone = given.scheduler == "none"
        if not alone:
            rig.start_controller(given.berth, given.scheduler, "--poll", 0.5)
            rig.start_watchdog()
            systemd = Systemd(rig)
            systemd.start()
        load, operator = Load(rig, given.seed, 0.7, 0.5), Operator(rig)
        load.start()
        operator.start()
        time.sleep(5.0)
        killed, kills = {"controller": 0, "slurmctld": 0, "both": 0}, []
        for kill in range(given.chaos):
            time.sleep(rng.uniform(1.0, given.every))
            what = "slurmctld" if alone else rng.choice(list(killed))
            killed[what] += 1
            if what != "slurmctld":
                rig.controller.kill()
            if what != "controller":
                kills.append(time.time())
                rig.kill_slurmctld()
                time.sleep(rng.uniform(0.0, 3.0))
                rig.start_slurmctld()
            if sys.stderr.isatty():
                print(f"\r{kill + 1} of {given.chaos}", end="", file=sys.stderr)
        load.over.set()
        load.join()
        left = wait_for_end(rig, 300.0)
        operator.over.set()
        operator.join()
        if not alone:
            systemd.over.set()
            systemd.join()
        time.sleep(2.0)
        reasons = rig.say("squeue", "-h", "-o", "%r", check=False).splitlines()
        wrong, forgotten, runs = {}, {}, 0
        for name, number in load.numbers.items():
            history = rig.history(number)
            runs += sum(what == "start" for what, _, _ in history)
            if problem := runs_of(history):
                moments = [load.taken[name], *(at for _, at, _ in history)]
                slurms = any(-LAUNCH_S <= kill - at <= FORGETS_S for kill in kills for at in moments)
                (forgotten if slurms else wrong).setdefault(problem, []).append(number)
        released = (folder / "watchdog.log").read_text().count("releases") if not alone else 0
    print(f"{given.chaos} kills ({', '.join(f'{count} {what}' for what, count in killed.items() if count)}) of "
          f"{'Slurm alone' if alone else given.scheduler}; {len(load.numbers)} jobs, {runs} runs; "
          f"the watchdog released {released} times, nodes that Slurm drained were resumed {operator.resumed} times; "
          f"left in the queue: {len(left)}")
    if left:
        print("left: " + "; ".join(sorted(set(reasons))))
    for problem, numbers in forgotten.items():
        print(f"{problem}, of what slurmctld did within {FORGETS_S:g} s before a kill: {len(numbers)} jobs, as {numbers[:5]}")
    for problem, numbers in wrong.items():
        print(f"{problem}: {len(numbers)} jobs, as {numbers[:5]}")
    if not wrong and not left:
        print(f"{'else ' if forgotten else ''}no job lost, none started twice, none held for good")
    return 1 if wrong or left else 0


def hosts(text):
    """The nodes that `v[1-2,4]` or `v1` names, of one kind."""
    name, _, inside = text.rstrip("]").partition("[")
    if not inside:
        return (text,)
    ranges = [part.split("-") for part in inside.split(",")]
    return tuple(f"{name}{number}" for part in ranges for number in range(int(part[0]), int(part[-1]) + 1))


def facts_of_slurm(rig):
    """What Slurm says: {("job" or "node", name): (state, where or how many GPUs)}."""
    facts = {}
    for line in rig.say("squeue", "-h", "-a", "-O", "jobarrayid:20,statecompact:6,nodelist:40").splitlines():
        number, state, where = line[:20].strip(), line[20:26].strip(), line[26:66].strip()
        if state in ("R", "PD", "CG"):
            facts["job", number] = (state, hosts(where) if state == "R" else ())
    for line in rig.say("sinfo", "-h", "-N", "-O", "nodelist:20,statelong:20,gresused:40").splitlines():
        name, state, gres = line[:20].strip(), line[20:40].strip(), line[40:80].strip()
        facts["node", name] = ("out" if "drain" in state or "down" in state else "in", int(gres.split("(")[0].split(":")[-1]))
    return facts


def facts_of_berth(status):
    facts = {("job", row["id"]): ("PD", ()) for row in status["queue"]}
    for row in status["running"]:
        facts["job", row["id"]] = ("R", tuple(sorted(row["nodes"])))
    for node in status["nodes"]:
        facts["node", node["name"]] = ("out" if "drain" in node["state"] or "down" in node["state"] else "in", node["used"])
    return facts


def difference(rig):
    """What the controller sees otherwise than Slurm said both before it looked and after, in words. While jobs stop and start within
    seconds it may have been so for a moment between, so that only what is found again at the next look is a drift."""
    before, asked = facts_of_slurm(rig), time.time()
    for _ in range(100):
        status = rig.status()
        if status and status["now_s"] - status["cycle"]["last_s"] > asked:
            break
        time.sleep(0.1)
    else:
        return {"the controller did not look for 10 s"}
    after, seen = facts_of_slurm(rig), facts_of_berth(status)
    found = set()
    for key in before.keys() | after.keys() | seen.keys():
        if before.get(key) == after.get(key) != seen.get(key) and before.get(key) != ("CG", ()):  # that waits or runs, as one takes it
            found.add(f"{key[0]} {key[1]}: {before.get(key)} in Slurm, {seen.get(key)} for Berth")
    return found


def rss_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024.0
    return 0.0


# Such that the queue does not grow for hours, with nodes out of service and the time that stops cost.
SOAK_LOAD = 0.35


def soak(given):
    rng = random.Random(given.seed)
    folder = given.folder / "soak"
    samples, drift, before = [], [], set()
    with rigs.Rig(folder, given.port, conf=CONF) as rig:
        fidelity_jobs.write_tables(folder, [])
        rig.start_controller(given.berth, given.scheduler, "--poll", 0.5)
        rig.start_watchdog()
        load = Load(rig, given.seed, SOAK_LOAD, 0.5)
        load.start()
        begin, broken = time.time(), {}
        done = {"drained": 0, "failed": 0, "slurmd killed": 0}
        names = [node.split(":")[0] for node in rig.nodes]
        next_break = begin + 60.0
        while time.time() < begin + 60.0 * given.soak:
            time.sleep(5.0)
            samples.append((time.time() - begin, rss_mb(rig.controller.pid), len(rig.queued())))
            found = difference(rig)
            drift += sorted(found & before)
            before = found
            for name, until in list(broken.items()):
                if time.time() > until:
                    del broken[name]
                    if subprocess.run(["pgrep", "-f", f"^slurmd -N {name} -f {rig.slurm}/"], capture_output=True).returncode != 0:
                        rig.say("slurmd", "-N", name, "-f", rig.slurm / "slurm.conf")
                    rig.say("scontrol", "update", f"NodeName={name}", "State=RESUME", check=False)
            if time.time() > next_break:
                next_break += 60.0
                name, what = rng.choice([name for name in names if name not in broken]), rng.choice(list(done))
                done[what] += 1
                broken[name] = time.time() + 40.0
                if what == "slurmd killed":
                    os.kill(int((rig.slurm / f"run/slurmd.{name}.pid").read_text()), 9)
                    rig.say("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=killed")
                else:
                    rig.say("scontrol", "update", f"NodeName={name}", f"State={'DRAIN' if what == 'drained' else 'DOWN'}", "Reason=test")
        load.over.set()
        load.join()
        for name in broken:
            if subprocess.run(["pgrep", "-f", f"^slurmd -N {name} -f {rig.slurm}/"], capture_output=True).returncode != 0:
                rig.say("slurmd", "-N", name, "-f", rig.slurm / "slurm.conf")
            rig.say("scontrol", "update", f"NodeName={name}", "State=RESUME", check=False)
        left = wait_for_end(rig, 300.0)
        ended = sum(any(what == "end" for what, _, _ in rig.history(number)) for number in load.numbers.values())
        status = rig.status() or {}
    (given.folder / "soak.json").write_text(json.dumps({"rss_mb": samples, "drift": drift, "status": status.get("cycle")}))
    third = max(1, len(samples) // 3)
    first, last = max(mb for _, mb, _ in samples[:third]), max(mb for _, mb, _ in samples[-third:])
    longest = [max(queued for _, _, queued in part) for part in (samples[:third], samples[-third:])]
    print(f"{given.soak:g} min, {len(load.numbers)} jobs, {ended} ended; nodes: {', '.join(f'{count} {what}' for what, count in done.items())}")
    print(f"memory of the controller: most {first:.1f} MB in the first third, {last:.1f} MB in the last; "
          f"most jobs in the queue {longest[0]} and {longest[1]}")
    print(f"what Berth saw otherwise than Slurm said, at two looks in turn: {len(drift)} in {len(samples)}{', as ' if drift else ''}{'; '.join(drift[:3])}; "
          f"left in the queue: {len(left)}")
    return 0 if last <= 1.1 * first and not drift and not left and ended == len(load.numbers) else 1


def many(given):
    folder = given.folder / "many"
    queued, nodes = 10000, 500
    with rigs.Rig(folder, given.port) as rig:
        job = fidelity_jobs.Job(0, 0.0, "resnet", 4, 50.0)
        running = rig.submit(job)
        rig.submit(job, "--hold")
        for _ in range(50):
            if "RUNNING" in rig.say("squeue", "-h", "-j", running, "-o", "%T"):
                break
            time.sleep(0.2)
        squeue, sinfo = (json.loads(rig.say(*words)) for words in (["squeue", "--json"], ["sinfo", "--json"]))
    runs = next(row for row in squeue["jobs"] if row["job_state"] == "RUNNING")
    waits = next(row for row in squeue["jobs"] if row["job_state"] == "PENDING")
    kinds = {kind: next(node for node in sinfo["nodes"] if f":{kind}:" in node["gres"]) for kind in rigs.TYPES}
    made_nodes, made_jobs = [], []
    rng = random.Random(given.seed)
    classes = list(fidelity_jobs.SPEEDS)
    for number in range(nodes):
        kind = list(rigs.TYPES)[number % 3]
        node = copy.deepcopy(kinds[kind])
        node["name"] = node["hostname"] = f"{rigs.TYPES[kind]}{number:04d}"
        node["gres_used"] = f"gpu:{kind}:4(IDX:0-3)" if number % 10 else f"gpu:{kind}:0(IDX:N/A)"
        node["idle_cpus"], node["alloc_cpus"] = (0, 4) if number % 10 else (4, 0)
        made_nodes.append(node)
        if number % 10:
            made = copy.deepcopy(runs)
            made |= {"job_id": 100000 + number, "nodes": node["name"], "batch_host": node["name"], "name": f"train-{rng.choice(classes)}-r{number}",
                     "gres_detail": [f"gpu:{kind}:4(IDX:0-3)"], "comment": f"steps={rng.randint(100, 5000)},checkpoint"}
            made_jobs.append(made)
    for number in range(queued):
        made = copy.deepcopy(waits)
        gpus = rng.choice([1, 1, 2, 4])
        made |= {"job_id": 200000 + number, "name": f"train-{rng.choice(classes)}-{number}", "tasks": gpus, "cpus": gpus, "priority": 0,
                 "admin_comment": "berth", "comment": f"steps={rng.randint(100, 5000)},checkpoint", "submit_time": waits["submit_time"] - queued + number}
        made_jobs.append(made)
    (folder / "squeue.json").write_text(json.dumps(squeue | {"jobs": made_jobs}, indent=1))
    (folder / "sinfo.json").write_text(json.dumps(sinfo | {"nodes": made_nodes}, indent=1))
    fidelity_jobs.write_tables(folder, [])
    print(f"{queued} queued jobs on {nodes} nodes, {(folder / 'squeue.json').stat().st_size / 1e6:.0f} MB of squeue --json\n"
          "scheduler             a cycle s   reading s   deciding s   starts")
    slow = False
    for name in given.schedulers:
        fidelity_jobs.run(given.berth, "serve", "--slurm", "--recorded", folder, "--once", "--scheduler", name, "--only", "partition=gpu",
                          "--holds", "all", "--site", folder / "site.json", "--json", folder / "once.json")
        once = json.loads((folder / "once.json").read_text())
        cycle = once["status"]["cycle"]
        slow = slow or cycle["last_s"] >= 5.0
        print(f"{name[:40]:<21} {cycle['last_s']:9.2f} {cycle['read_s']:11.2f} {cycle['decide_s']:12.2f} {len(once['decision']['starts']):8d}")
    return 1 if slow else 0


def race(given):
    """The stub that a controller without job_submit.lua would be: it looks, and holds what it finds pending."""
    folder = given.folder / "race"
    conf = rigs.CONF.replace("JobSubmitPlugins=lua\n", "")
    with rigs.Rig(folder, given.port, conf=conf) as rig:
        for free in (True, False):
            numbers, over, held = [], threading.Event(), set()
            fill = []
            if not free:  # all GPUs but four in use
                fill = [rig.say("sbatch", "--parsable", "-o", "/dev/null", "-N", "1", "-n", "4", "--gres=gpu:4", "--wrap", "sleep 600").strip()
                        for _ in range(8)]
                time.sleep(4.0)

            def stub():
                while not over.wait(0.5):
                    for number in rig.say("squeue", "-h", "-t", "PD", "-o", "%A %Q").split("\n"):
                        if number and number.split()[1] != "0" and number.split()[0] not in fill:
                            rig.say("scontrol", "hold", number.split()[0], check=False)
                            held.add(int(number.split()[0]))

            thread = threading.Thread(target=stub)
            thread.start()
            rng = random.Random(given.seed)
            for number in range(100):
                numbers.append(rig.submit(fidelity_jobs.Job(number, 0.0, "resnet", 1, 3.0)))
                time.sleep(rng.expovariate(4.0))
            time.sleep(3.0)
            over.set()
            thread.join()
            started = sum(bool(rig.history(number)) for number in numbers)
            print(f"{'most GPUs free' if free else '4 GPUs free'}: Slurm started {started} of {len(numbers)} jobs before they could be held")
            rig.say("scancel", "-u", "root")
            time.sleep(3.0)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="slurm_fidelity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--berth", default="berth", help="the program")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--chaos", type=int, metavar="N")
    what.add_argument("--soak", type=float, metavar="MINUTES")
    what.add_argument("--many", action="store_true")
    what.add_argument("--race", action="store_true")
    parser.add_argument("--scheduler", default="srpt", help="of --chaos and --soak; none = Slurm alone, whose slurmctld is killed")
    parser.add_argument("--schedulers", nargs="+", default=["fcfs", "easy", "srpt", "gavel(objective=max_min)"], help="of --many")
    parser.add_argument("--every", type=float, default=30.0, help="of --chaos: most seconds between kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=27900, help="first of 20")
    parser.add_argument("--out", help="folder to keep everything in")
    given = parser.parse_args()
    given.folder = pathlib.Path(given.out or tempfile.mkdtemp(prefix="slurm-chaos-")).resolve()
    given.berth = pathlib.Path(given.berth).resolve()
    if os.geteuid() != 0:
        print("slurm_fidelity: expected root, which starts Slurm's daemons", file=sys.stderr)
        return 2
    try:
        return chaos(given) if given.chaos else soak(given) if given.soak else many(given) if given.many else race(given)
    except (rigs.Failed, fidelity_jobs.Refused, OSError) as error:
        print(f"slurm_fidelity: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
