"""A policy that `berth export --onnx` wrote, for simulators and schedulers in Python: NumPy and ONNX Runtime.

    policy = Policy("policy.onnx")
    runs_on = policy.decide(now, counts=[12, 12], jobs=[Job(arrival=0.0, gang=1, rates=[40.0, 11.0], ...), ...])

Copy this file and berth_observation_v3.py. It writes the observation, ObservationV1 or ObservationV3, and fills the plan
in score order, as Berth does (policies/FORMAT.md; env/gym/blocks/queue.cpp is what it has to equal). Times are seconds
from any origin.
"""
import dataclasses
import math
import numbers
import os

import numpy as np
import onnxruntime

import berth_observation_v3


@dataclasses.dataclass
class Job:
    """A job that has arrived and is not done."""

    arrival: float
    gang: int  # GPUs that it needs at once, all of one type
    rates: list  # steps/s of the whole gang on each GPU type; 0 = cannot run there
    remaining_steps: float = 1.0  # read where the policy's knowledge is estimate or oracle
    attained: float = 0.0  # seconds on GPUs so far; read from blind on
    running_on: int = -1  # index of a GPU type, -1 = it waits
    weight: float = 1.0
    deadline: float = math.inf
    requested: float = math.nan  # seconds that its user asked for
    attained_steps: float = math.nan  # steps done so far; read by blind policies of ObservationV3


def _log(seconds):
    return np.log(1.0 + np.maximum(seconds, 0.0) / 60.0) / 10.0


def rates_of(jobs, counts):
    """[Q, G] steps/s; 0 where a type has fewer GPUs than the gang needs."""
    rates = np.array([job.rates for job in jobs], float)
    return np.where(np.array([[job.gang] for job in jobs]) <= np.array(counts), rates, 0.0)


def observe(now, counts, idle, jobs, knowledge):
    """ObservationV1 of the candidates `jobs`, each a row: the four blocks as float32, with a batch of 1.

    counts, idle [G]: GPUs of each type, and how many of them nobody holds before the decision.
    """
    counts, idle = np.array(counts, float), np.array(idle, float)
    q, g = len(jobs), len(counts)
    rates = rates_of(jobs, counts)
    gangs = np.array([job.gang for job in jobs], float)
    left = np.array([job.remaining_steps for job in jobs])
    can, best, able = rates > 0.0, rates.max(1), (rates > 0.0).sum(1)
    sighted, attains = knowledge in ("estimate", "oracle"), knowledge != "none"

    rows = np.zeros((q, 11), np.float32)
    rows[:, 0] = 1.0
    rows[:, 1] = [job.running_on >= 0 for job in jobs]
    if sighted:
        rows[:, 2] = _log(left / best)
    if attains:
        rows[:, 3] = _log([job.attained for job in jobs])
    rows[:, 4] = _log([now - job.arrival for job in jobs])
    rows[:, 5] = np.log2(gangs) / 5.0
    rows[:, 6] = np.log([job.weight for job in jobs]) / 3.0
    rows[:, 7] = [job.deadline < math.inf for job in jobs]
    rows[:, 8] = [math.tanh((job.deadline - now) / 86400.0) for job in jobs]  # 1 without a deadline
    rows[:, 9] = able / g
    rows[:, 10] = [0.0 if math.isnan(job.requested) else _log(job.requested) for job in jobs]

    pairs = np.zeros((q, g, 6), np.float32)
    some = np.where(can, rates, 1.0)
    advantage = np.log(some * able[:, None] / rates.sum(1)[:, None])
    pairs[..., 0] = can
    pairs[..., 1] = rates / best[:, None]
    pairs[..., 2] = np.where(can, np.clip(advantage, -3.0, 3.0) / 3.0, 0.0)
    if sighted:
        pairs[..., 3] = np.where(can, _log(left[:, None] / some), 0.0)
    for row, job in enumerate(jobs):
        if job.running_on >= 0:
            pairs[row, job.running_on, 4] = 1.0
    pairs[..., 5] = np.where(can, np.minimum(1.0, gangs[:, None] / counts), 0.0)

    types = np.zeros((g, 5), np.float32)
    types[:, 0] = np.log2(counts) / 10.0
    types[:, 1] = counts / counts.sum()
    types[:, 2] = idle / counts
    types[:, 3] = np.log(1.0 + np.bincount(rates.argmax(1), weights=gangs, minlength=g) / counts)
    # Summed job by job in float32, as Berth does.
    types[:, 4] = np.add.accumulate(pairs[..., 1], axis=0, dtype=np.float32)[-1] / np.float32(q)

    rest = np.zeros(7, np.float32)  # 2 and 3 are about candidates without a row: here all have one
    rest[0] = math.log(1.0 + q) / 5.0
    rest[1] = math.log(1.0 + gangs.sum() / counts.sum())
    rest[4] = idle.sum() / counts.sum()
    rest[5] = rows[:, 2].sum(dtype=float) / q
    rest[6] = rows[:, 4].sum(dtype=float) / q
    return {"jobs": rows[None], "pairs": pairs[None], "types": types[None], "global": rest[None]}


NUMBERS = [field.name for field in dataclasses.fields(Job) if field.name != "rates"]


def check_types(now, counts, jobs):
    """Raises TypeError that names the first thing that is no number, no list or no Job."""

    def expect_number(where, value):
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{where}: expected a number, found {type(value).__name__}")

    def expect_list(where, values, of):
        if isinstance(values, (str, bytes, dict)) or not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
            raise TypeError(f"{where}: expected a list of {of}, found {type(values).__name__}")

    expect_number("now", now)
    expect_list("counts", counts, "numbers")
    for kind, count in enumerate(counts):
        expect_number(f"counts[{kind}]", count)
    expect_list("jobs", jobs, "Job")
    for i, job in enumerate(jobs):
        for name in [*NUMBERS, "rates"]:
            if not hasattr(job, name):
                raise TypeError(f"job {i}: expected a Job, found {type(job).__name__} without {name!r}")
        for name in NUMBERS:
            expect_number(f"job {i}: {name}", getattr(job, name))
        expect_list(f"job {i}: rates", job.rates, "numbers")
        for rate in job.rates:
            expect_number(f"job {i}: rates", rate)


def check(now, counts, jobs, knowledge, reads_steps=False):
    """Raises ValueError that names the first thing that cannot be: scores of it would be NaN, or the plan wrong."""

    def expect(right, where, expected, found):
        if not right:
            raise ValueError(f"{where}: expected {expected}, found {found}")

    expect(math.isfinite(now), "now", "seconds", now)
    expect(len(counts) > 0, "counts", "at least one GPU type", "none")
    for kind, count in enumerate(counts):
        expect(count >= 1 and count % 1 == 0, f"counts[{kind}]", "a whole number of GPUs from 1", count)
    idle = list(counts)
    for i, job in enumerate(jobs):
        at, kind = f"job {i}", job.running_on
        expect(job.gang >= 1 and job.gang % 1 == 0, f"{at}: gang", "a whole number of GPUs from 1", job.gang)
        expect(len(job.rates) == len(counts), f"{at}: rates", f"{len(counts)} numbers", len(job.rates))
        for rate in job.rates:
            expect(0 <= rate < math.inf, f"{at}: rates", "steps/s >= 0", rate)
        fits = any(rate > 0 and job.gang <= count for rate, count in zip(job.rates, counts))
        expect(fits, at, f"a type with {job.gang} GPUs on which its rate is above 0", "none")
        expect(-math.inf < job.arrival <= now, f"{at}: arrival", f"seconds up to now, {now}", job.arrival)
        if knowledge in ("estimate", "oracle"):
            steps = job.remaining_steps
            expect(0 < steps < math.inf, f"{at}: remaining_steps", "a number > 0", steps)
        expect(0 <= job.attained < math.inf, f"{at}: attained", "seconds >= 0", job.attained)
        done = job.attained_steps
        told = 0 <= done < math.inf or (math.isnan(done) and not (reads_steps and job.attained > 0))
        expect(told, f"{at}: attained_steps", "the steps that it has done, >= 0", done)
        expect(0 < job.weight < math.inf, f"{at}: weight", "a number > 0", job.weight)
        expect(not math.isnan(job.deadline), f"{at}: deadline", "seconds, or inf for none", job.deadline)
        right = math.isnan(job.requested) or 0 < job.requested < math.inf
        expect(right, f"{at}: requested", "seconds > 0, or nan for none", job.requested)
        expect(kind in range(-1, len(counts)), f"{at}: running_on", f"-1 to {len(counts) - 1}", kind)
        if kind >= 0:
            expect(job.rates[kind] > 0, f"{at}: running_on", "a type on which its rate is above 0", kind)
            idle[kind] -= job.gang
            expect(idle[kind] >= 0, f"{at}: running_on", f"{counts[kind]} GPUs of type {kind} in all", "more")


class Policy:
    """Decides as `policy(file=policy.h5)` does in Berth, up to the last bits of ONNX Runtime's arithmetic."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # small products: threads only cost
        if not os.path.isfile(path):
            raise ValueError(f"{path}: expected what `berth export --onnx` wrote, found no such file")
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's own have no common base
            why = str(error).splitlines()[0]
            raise ValueError(f"{path}: expected what `berth export --onnx` wrote: {why}") from error
        metadata = self._session.get_modelmeta().custom_metadata_map
        mdp = metadata.get("mdp", "").split()  # "ObservationV1 redecide preemptive oracle order=arrival ..."
        if mdp[:1] not in (["ObservationV1"], ["ObservationV3"]) or mdp[1:2] != ["redecide"]:
            expected = "expected ObservationV1 or ObservationV3, and semantics redecide"
            raise ValueError(f"{path}: {expected}, found {' '.join(mdp)!r}")
        if "jobs" not in {entry.name for entry in self._session.get_inputs()}:
            network = metadata.get("network")
            raise ValueError(f"{path}: expected a pair_scorer, found {network}, which the C library runs")
        if "state" in {entry.name for entry in self._session.get_inputs()}:
            raise ValueError(f"{path}: expected a network without memory, found {metadata.get('network')}")
        self._v3 = mdp[0] == "ObservationV3"
        self.preemptive = "preemptive" in mdp  # it also stops and moves running jobs
        self.on_change = "on_change" in mdp  # call decide only when a job arrived or completed, or GPUs came or went
        self.knowledge = mdp[3]  # what it reads of a job's future: none, blind, estimate, oracle
        self._work_conserving = "work_conserving" in mdp
        self._shortest_first = "order=shortest" in mdp

    def observation(self, now, counts, idle, candidates):
        """What the network sees of the candidates: the four blocks as float32, with a batch of 1."""
        blocks = observe(now, counts, idle, candidates, self.knowledge)
        if self._v3:
            rates, how = rates_of(candidates, counts), (self.knowledge, self.preemptive)
            blocks = berth_observation_v3.extend(blocks, now, counts, idle, candidates, rates, *how)
        return blocks

    def scores(self, now, counts, idle, candidates):
        """Logits [Q, G] of putting each candidate on each GPU type, and that of `done`; higher is better."""
        feed = self.observation(now, counts, idle, candidates)
        feed["action_mask"] = np.ones((1, len(candidates) * len(counts) + 1), bool)
        (scores,) = self._session.run(["scores"], feed)
        return scores[0, :-1].reshape(len(candidates), len(counts)), scores[0, -1]

    def decide(self, now, counts, jobs):
        """The GPU type that each of `jobs` runs on from now on, -1 = it waits or stops.

        jobs are in order of arrival; counts [G] are the GPUs of each type. TypeError or ValueError names what cannot be.
        """
        check_types(now, counts, jobs)
        check(now, counts, jobs, self.knowledge, reads_steps=self._v3 and self.knowledge == "blind")
        runs_on = [job.running_on for job in jobs]
        idle = list(counts)
        for job in jobs:
            if job.running_on >= 0:
                idle[job.running_on] -= job.gang
        listed = [i for i in range(len(jobs)) if self.preemptive or runs_on[i] < 0]
        if not listed:
            return runs_on
        if self._shortest_first:
            listed.sort(key=lambda i: self._length(jobs[i], counts))
        candidates = [jobs[i] for i in listed]
        scores, done = self.scores(now, counts, idle, candidates)
        can = rates_of(candidates, counts) > 0.0
        room, plan = list(counts if self.preemptive else idle), {}
        others_run = not self.preemptive and len(listed) < len(jobs)
        for action in np.argsort(-scores.ravel(), kind="stable"):  # of equal scores the first
            row, kind = divmod(int(action), len(counts))
            if not self._work_conserving and scores[row, kind] < done and (others_run or plan):
                break
            if row not in plan and can[row, kind] and candidates[row].gang <= room[kind]:
                plan[row] = kind
                room[kind] -= candidates[row].gang
        for row, i in enumerate(listed):
            runs_on[i] = plan.get(row, -1)
        return runs_on

    def _length(self, job, counts):
        if self.knowledge in ("estimate", "oracle"):
            return job.remaining_steps / rates_of([job], counts).max()
        return job.attained if self.knowledge == "blind" else job.arrival
