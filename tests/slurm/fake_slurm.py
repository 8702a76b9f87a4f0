#!/usr/bin/env python3
"""A small Slurm in a file: squeue, sinfo, scontrol and sacctmgr of tests/fake_slurm.hpp.

The state stands in FAKE_SLURM (JSON): "now" (s since 1970; none = the clock), "version", "jobs" and "nodes" in the form of `squeue --json`
and `sinfo --json` of 22.05, "config" (lines of scontrol show config), "level" (of sacctmgr), and how it behaves: "silent" (no command
answers), "hangs" (nor comes back), "flaky" (N: each Nth scontrol show partition fails), "slow" (s that it takes), "away" ("jobs" or
"nodes": what of both 22.05 then writes where slurmctld does not answer), "refuses" {verb: why}, "late" (nothing starts; on nodes that are
"unfit" neither, and what is pinned to some that "never" can is held), "summed" (sinfo as 23.02 has it), "epilog" (s for which the nodes of
a requeued job are cleaned up; it completes until then, and has its old time of submission), "latin1" (names are written as bytes of
Latin-1). "node_count" of a job that waits is what Slurm thinks that it takes, and node= of "tres_req_str" what its user asked for with -N,
else 1.
Each call that changes something is a line of FAKE_SLURM.calls.
"""
import fcntl
import json
import os
import re
import sys
import time

NAME, WORDS = os.path.basename(sys.argv[0]), sys.argv[1:]
DETAILS = NAME == "sinfo" or WORDS[:1] == ["-d"]
PATH = os.environ["FAKE_SLURM"]
HOLD_GPUS = ("RUNNING", "COMPLETING")


def count(text):
    """How many GPUs "gres:gpu:v100:2" asks for, and of which type."""
    parts = text.replace("=", ":").split(":")[2:] if text else []
    number = [int(part) for part in parts if part.isdigit()]
    kind = [part for part in parts if not part.isdigit()]
    return (number or [1 if text else 0])[0], (kind or [""])[0]


def hosts(text):
    return [name for name in re.split("[,]", text) if name]


def place(state, job):
    """Starts a job where its GPUs are free, in the shape that it asks for."""
    each, kind = count(job.get("tres_per_node", ""))
    least, most = job.get("asked_nodes") or [job["node_count"], job.get("max_nodes") or 0]
    total, other = (each * least, kind) if each else count(job.get("tres_per_job", ""))
    kind = kind or other
    free = {}
    for node in state["nodes"]:
        of_type, size = node["gres"].split(",")[0].split(":")[1:3]
        if set(node["state_flags"]) - {"CLOUD", "POWERED_DOWN"} or node["state"] == "down" or node.get("unfit") or kind not in ("", of_type):
            continue
        used = {k for j in state["jobs"] if j["job_state"] in HOLD_GPUS for n, k in j["held_gpus"] if n == node["name"]}
        free[node["name"]] = [k for k in range(int(size)) if k not in used]
    asked = hosts(job["required_nodes"])
    if 0 < most < len(asked):
        return False
    if any(node.get("never") and node["name"] in asked for node in state["nodes"]):
        job["priority"], job["state_reason"] = 0, "BadConstraints"
        return False
    names = asked or sorted(free)
    taken = []
    for i, name in enumerate(names):
        room = free.get(name, [])
        others = len(names) - i - 1 if asked else 0
        want = each if each else min(total - len(taken) - others, len(room))
        if want > len(room):
            if asked:
                return False
            continue
        taken += [[name, k] for k in room[:want]][:total - len(taken)]
    if len(taken) < total or not total:
        return False
    job["held_gpus"], job["job_state"], job["state_reason"] = taken, "RUNNING", "None"
    job["start_time"] = int(state.get("now") or time.time())
    names = sorted({name for name, _ in taken})
    job["nodes"] = ",".join(names)
    # From its first run on Slurm says what it had, and only here on how many it runs.
    job.update(asked_nodes=[least, most], node_count=len(names), max_nodes=0)
    job["gres_detail"] = ["gpu:%d(IDX:%s)" % (len(k), ",".join(map(str, k)))
                          for k in ([g for n, g in taken if n == name] for name in names)]
    return True


def clean_up(state, job):
    """The end of a requeue: only now it has another time of submission."""
    job.update(job_state="PENDING", nodes="", gres_detail=[], held_gpus=[], submit_time=int(state.get("now") or time.time()))


def advance(state):
    for job in state["jobs"]:
        if job["job_state"] == "COMPLETING" and (state.get("now") or time.time()) >= job["cleaned_up"]:
            clean_up(state, job)
    for job in sorted(state["jobs"], key=lambda j: (-j["priority"], j["submit_time"], j["job_id"])):
        if job["job_state"] == "PENDING" and job["priority"] > 0 and not state.get("late"):
            if not job.get("dependency") and not place(state, job) and job["priority"] > 0:
                job["state_reason"] = "Resources"


def find(state, name):
    name = name.removeprefix("JobId=")
    for job in state["jobs"]:
        full = "%d_%d" % (job["array_job_id"], job["array_task_id"]) if job["array_task_id"] is not None else str(job["job_id"])
        if name in (full, str(job["job_id"])):
            return job
    sys.exit("%s error: Invalid job id specified" % NAME)


def change(state):
    verb = WORDS[0]
    if verb in state.get("refuses", {}):
        sys.exit("slurm_%s error: %s" % (verb, state["refuses"][verb]))
    job = find(state, WORDS[-1] if verb == "requeuehold" else WORDS[1])
    runs = job["job_state"] == "RUNNING"
    if verb == "update":
        for word in WORDS[2:]:
            key, value = word.split("=", 1)
            if key == "ReqNodeList":
                job["required_nodes"] = value
            elif key == "AdminComment":
                job["admin_comment"] = value
            elif key == "Priority":
                job["priority"], job["state_reason"] = int(value), "JobHeldAdmin"
            elif key == "Nice":
                if job["priority"] > 0:
                    job["priority"] += (job["nice"] or 0) - int(value)
                job["nice"] = int(value)
    elif verb == "release" and job["job_state"] == "PENDING":
        job["priority"], job["state_reason"], job["state_description"] = 1, "None", ""
    elif verb == "hold" and job["job_state"] == "PENDING":
        job["priority"], job["state_reason"] = 0, "JobHeldAdmin"
    elif WORDS[:2] == ["requeuehold", "Incomplete"] and runs:
        job.update(job_state="COMPLETING", priority=0, state_reason="JobHeldUser", state_description="job requeued in held state", start_time=0,
                   restart_cnt=job["restart_cnt"] + 1, cleaned_up=(state.get("now") or time.time()) + state.get("epilog", 0))
        if not state.get("epilog"):
            clean_up(state, job)
    else:
        sys.exit("slurm_%s error: Job is no longer pending execution" % verb)


def columns(state, asked):
    """squeue -h -t PD -O name:width,..: as tools/slurm/watchdog asks."""
    keys = {"jobarrayid": "job_id", "prioritylong": "priority", "admin_comment": "admin_comment", "reason": "state_reason", "username": "user_name"}
    for job in state["jobs"]:
        if job["job_state"] == "PENDING":
            print("".join(str(job[keys[name]])[:int(width)].ljust(int(width)) for name, width in (one.split(":") for one in asked.split(","))))


def main():
    global WORDS
    if WORDS[0] == "-d":  # with details
        WORDS = WORDS[1:]
    calls = [WORDS]
    if WORDS == ["-Q"]:  # a change a line
        calls = [line.split() for line in sys.stdin.read().splitlines()]
    elif WORDS[0] == "release":
        calls = [["release", name] for name in WORDS[1].split(",")]
    for WORDS in calls:
        run()


def run():
    with open(PATH + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(PATH) as file:
            state = json.load(file)
        if state.get("hangs"):
            fcntl.flock(lock, fcntl.LOCK_UN)
            time.sleep(60)
        if NAME == "scontrol" and WORDS[0] != "show":
            with open(PATH + ".calls", "a") as calls:
                calls.write(" ".join(WORDS) + "\n")
        if state.get("silent"):
            sys.exit("%s: error: Unable to contact slurm controller (connect failure)" % NAME)
        release = state.get("version", "22.05.8")
        answer = {"meta": {"Slurm": {"release": release}}, "errors": []}
        if NAME == "squeue" and "-O" in WORDS:
            columns(state, WORDS[-1])
            return
        if NAME == "squeue":
            advance(state)
            # From 24.05.1 on what has ended is left out, as by squeue without --json.
            ended = tuple(map(int, release.split("."))) < (24, 5, 1) or "--states=all" in WORDS
            answer["jobs"] = [job for job in state["jobs"] if ended or job["job_state"] in ("PENDING", *HOLD_GPUS)]
            if state.get("away") == "jobs":
                answer.update(jobs=[], errors=[{"description": "Failed while looking for jobs", "error_number": -1, "error": "Unspecified error"}])
        elif NAME == "sinfo" and state.get("summed"):
            answer["sinfo"] = []
        elif NAME == "sinfo" or WORDS[:2] == ["show", "nodes"]:
            for node in state["nodes"]:
                held = [j for j in state["jobs"] if j["job_state"] in HOLD_GPUS]
                used = sum(n == node["name"] for j in held for n, _ in j["held_gpus"]) + node.get("others", 0)
                node["gres_used"] = "gpu:%s:%d(IDX:N/A)" % (node["gres"].split(":")[1], used) if DETAILS else ""
                node["idle_cpus"] = node["cpus"] - used
            answer["nodes"] = state["nodes"]
            if state.get("away") == "nodes":
                answer.update(nodes=[], errors=[{"error": "Unspecified error", "errno": -1}])
        elif WORDS[:2] == ["show", "config"]:
            at = time.localtime((state.get("now") or time.time()) - state.get("skew", 0))
            print("Configuration data as of " + time.strftime(os.environ.get("SLURM_TIME_FORMAT", "%Y-%m-%dT%H:%M:%S"), at))
            lines = {"SLURM_VERSION": release, "SlurmUser": "root(0)", "PriorityType": "priority/multifactor", "ClusterName": "fake"}
            for key, value in {**lines, **state.get("config", {})}.items():
                print("%-23s = %s" % (key, value))
            return
        elif WORDS[:2] == ["show", "partition"]:
            with open(PATH + ".asked", "a") as asked:
                asked.write(".")
                if state.get("flaky") and asked.tell() % state["flaky"] == 0:
                    sys.exit("slurm_load_partitions: Socket timed out on send/recv operation")
            fcntl.flock(lock, fcntl.LOCK_UN)
            time.sleep(state.get("slow", 0))
            return
        elif NAME == "sacctmgr":
            print(state.get("level", "None"))
            return
        else:
            change(state)
            answer = None
        with open(PATH + ".new", "w") as file:
            json.dump(state, file)
        os.rename(PATH + ".new", PATH)
        if answer is not None:
            sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("latin-1" if state.get("latin1") else "utf-8"))


main()
