"""A cluster of mixed GPUs in SimPy, as one writes it without knowing Berth, scheduled by a policy of Berth's.

usage: simpy_cluster.py --scenario s.h5 --policy policy.onnx [--log log.csv]

The scenario is a file of `berth generate` or `berth convert` with clock `event`; preemption is free. The log has
a line for everything that happens: time, what, job, GPU type (-1 where there is none).
"""
import argparse
import csv

import h5py
import numpy as np
import simpy

from berth_policy import Job, Policy


class Workload:
    """The columns of a scenario file that this model needs."""

    def __init__(self, path):
        with h5py.File(path) as file:
            if file.attrs["clock"].decode() != "event":
                raise ValueError(f"{path}: expected clock event, found {file.attrs['clock'].decode()}")
            self.counts = [int(n) for n in file["cluster/count"]]
            jobs, table = file["jobs"], file["throughputs/alone"][:]
            self.arrival, self.gang = jobs["arrival"][:], jobs["gang"][:]
            self.steps = jobs["total_steps"][:]
            self.weight, self.deadline, self.requested = (
                jobs[name][:] if name in jobs else np.full(len(self.arrival), otherwise)
                for name, otherwise in (("weight", 1.0), ("deadline", np.inf), ("requested_s", np.nan))
            )
            sizes = list(file["throughputs/gang_sizes"][:])
            table = table.reshape(-1, len(sizes), len(self.counts))
            # A type that a job may not use is one that it cannot run on.
            may = jobs["allowed"][:] if "allowed" in jobs else np.full(len(self.arrival), 2**64 - 1, np.uint64)
            kinds = np.arange(len(self.counts), dtype=np.uint64)
            self.rates = [
                np.where((may[i] >> kinds) & np.uint64(1), table[job_type, sizes.index(self.gang[i])], 0.0)
                for i, job_type in enumerate(jobs["job_type"][:])
            ]


class Cluster:
    def __init__(self, env, workload, policy):
        self.env, self.workload, self.policy = env, workload, policy
        self.log = []
        self.present = []  # jobs that have arrived and are not done, in order of arrival
        self.running_on = {}  # GPU type of those that run
        self.done_steps, self.attained = {}, {}  # up to `since`
        self.since = {}  # when the current run began
        self.processes = {}
        self.news = env.event()  # somebody arrived or completed
        env.process(self.arrivals())
        env.process(self.scheduler())

    def note(self, what, job, kind=-1):
        self.log.append((self.env.now, what, job, kind))

    def arrivals(self):
        for job, time in enumerate(self.workload.arrival):
            if time > self.env.now:
                yield self.env.timeout(float(time) - self.env.now)
            self.present.append(job)
            self.done_steps[job] = self.attained[job] = 0.0
            self.note("arrive", job)
            self.tell()

    def tell(self):
        if not self.news.triggered:
            self.news.succeed()

    def scheduler(self):
        while True:
            yield self.news
            yield self.env.timeout(0)  # let everything of this instant happen first
            self.news = self.env.event()
            if self.present:
                self.follow(self.policy.decide(self.env.now, self.workload.counts, self.described()))

    def described(self):
        now, w = self.env.now, self.workload
        jobs = []
        for job in self.present:
            steps, attained = self.done_steps[job], self.attained[job]
            kind = self.running_on.get(job, -1)
            if kind >= 0:
                steps += w.rates[job][kind] * (now - self.since[job])
                attained += now - self.since[job]
            jobs.append(
                Job(
                    arrival=w.arrival[job],
                    gang=int(w.gang[job]),
                    rates=w.rates[job],
                    remaining_steps=w.steps[job] - steps,
                    attained=attained,
                    running_on=kind,
                    weight=w.weight[job],
                    deadline=w.deadline[job],
                    requested=w.requested[job],
                    attained_steps=steps,
                )
            )
        return jobs

    def follow(self, runs_on):
        wanted = {job: kind for job, kind in zip(self.present, runs_on)}
        for job, kind in wanted.items():
            before = self.running_on.get(job, -1)
            if kind == before:
                continue
            if before >= 0:
                self.pause(job)
                self.note("stop" if kind < 0 else "move", job, before if kind < 0 else kind)
            else:
                self.note("start", job, kind)
            if kind >= 0:
                self.processes[job] = self.env.process(self.run(job, kind))

    def pause(self, job):
        kind = self.running_on.pop(job)
        self.done_steps[job] += self.workload.rates[job][kind] * (self.env.now - self.since[job])
        self.attained[job] += self.env.now - self.since[job]
        self.processes.pop(job).interrupt()

    def run(self, job, kind):
        self.running_on[job], self.since[job] = kind, self.env.now
        finish = self.env.now + (self.workload.steps[job] - self.done_steps[job]) / self.workload.rates[job][kind]
        try:
            yield self.env.timeout(finish - self.env.now)
        except simpy.Interrupt:
            return
        del self.running_on[job], self.processes[job]
        self.present.remove(job)
        self.note("complete", job, kind)
        self.tell()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", required=True, help="workload and cluster (.h5)")
    parser.add_argument("--policy", required=True, help="what `berth export --onnx` wrote")
    parser.add_argument("--log", help="CSV to write: time, event, job, type")
    options = parser.parse_args()
    try:
        workload, policy = Workload(options.scenario), Policy(options.policy)
    except (KeyError, OSError) as error:  # h5py's, for what is no scenario or no HDF5 file
        parser.exit(2, f"{options.scenario}: expected what `berth generate` wrote: {error}\n")
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    env = simpy.Environment()
    cluster = Cluster(env, workload, policy)
    env.run()
    if options.log:
        with open(options.log, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["time", "event", "job", "type"])
            rows.writerows((repr(float(time)), what, job, kind) for time, what, job, kind in cluster.log)
    completion = {job: time for time, what, job, _ in cluster.log if what == "complete"}
    jct = [completion[job] - time for job, time in enumerate(workload.arrival)]
    print(f"{len(jct)} jobs, mean JCT {np.mean(jct) / 3600:.4f} h, makespan {max(completion.values()) / 3600:.4f} h")


if __name__ == "__main__":
    main()
