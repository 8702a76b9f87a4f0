"""A program that uses the package, typed: test_types.py has mypy read it, and runs it.

What stands behind `# type: ignore[...]` is wrong and must be told to be: mypy reports an ignore that hides nothing.
"""

import pathlib
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import berth
import berth.typing

CLUSTER = "v100=2,k80=2"
JOBS = "synthetic(rate=3,jobs=20)"


class ShortestFirst(berth.Scheduler):
    knowledge = "oracle"

    def reset(self, view: berth.View) -> None:
        self.decisions = 0

    def decide(self, view: berth.View, decision: berth.Decision) -> None:
        self.decisions += 1
        free = view.free_gpus.copy()
        for job in view.waiting[np.argsort(view.remaining[view.waiting], kind="stable")]:
            fits = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
            if fits.size:
                best = fits[np.argmax(view.rates[job, fits])]
                decision.start(job, best)
                free[best] -= view.gang[job]
        if view.types[0] == "a100" and view.now > 3600.0:
            decision.stop(int(view.running[0]))
            decision.move(view.running[1], "k80", devices=[0, 1])


class Idle(berth.Block):
    low, high = 0.0, 1.0

    def size(self, q: int, g: int) -> int:
        return g

    def fill(self, view: berth.View, out: NDArray[np.float32]) -> None:
        out[:] = view.free_gpus / np.maximum(view.gpus, 1)


def bursts(seed: int) -> Iterator[dict[str, float]]:
    for job in range(20):
        yield {"arrival_s": 600.0 * job, "duration_s": 3600.0, "gpus": 1}


def paid(metrics: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return -1e-5 * metrics["jct"]


def results(folder: pathlib.Path) -> None:
    table = berth.evaluate(["fcfs", ShortestFirst()], workload=JOBS, cluster=CLUSTER, seeds=range(3))
    print(table.summary()[["mean_jct_s", "jct_ratio"]], table["seed"].max(), len(table))
    run = berth.simulate(ShortestFirst, workload=berth.Jobs(bursts), cluster=CLUSTER, seed=1)
    assert_type(run.signature, str)
    print(run.jobs["jct_s"].mean(), run.metrics["mean_jct_s"], run.events.head(1))
    checks = berth.check_scheduler("fcfs")
    assert_type(checks, dict[str, str])
    swept = berth.sweep({"rate": [1, 2]}, ["fcfs", "srpt"], workload="synthetic(rate={rate},jobs=20)", cluster=CLUSTER, seeds=0,
                        out=folder / "cells", progress=lambda done, every: None)
    print(swept.summary()["jct_ratio"].tolist())
    size = berth.size("v100=1..2", "mean_wait_h<=100", ShortestFirst(), workload="synthetic(rate=1,jobs=20,gangs=single)", seeds=range(2))
    assert_type(size.best, str | None)
    print(size.tried.shape, size.refused.items())
    jobs = {"submit_time": ["2024-03-01T10:00:00", "2024-03-01T10:05:00"], "duration": [3600, "0:30:00"], "gpus": [4, 1]}
    mine = berth.Scenario.from_frame(jobs, folder / "mine.h5", cluster="a100=8,l40s=8")
    print(*mine.notes, mine.to_frames().jobs["gpus"].sum(), berth.evaluate("fcfs", scenario=mine).shape)


def environments() -> None:
    env = berth.make("HeteroCluster-v0", cluster=CLUSTER, workload=JOBS, visible=4, reward="1e-5*jct")
    observation, info = env.reset(seed=1)
    assert_type(observation, NDArray[np.float32])
    observation, reward, terminated, truncated, info = env.step(np.int64(np.argmax(info["action_mask"])))
    inner = env.unwrapped
    assert isinstance(inner, berth.ClusterEnv)
    assert_type(inner.action_masks(), NDArray[np.bool_])
    print(inner.blocks(observation)["jobs"].shape, float(reward) + 1.0, terminated or truncated)
    envs = berth.make_vec(4, reward=paid, blocks=[Idle()], cluster=CLUSTER, workload=bursts, visible=4, threads=2)
    assert_type(envs, berth.ClusterVectorEnv)
    seen, info = envs.reset(seed=1)
    seen, rewards, over, cut, info = envs.step(envs.action_masks().argmax(axis=1))
    assert_type(rewards, NDArray[np.float32])
    print(envs.blocks(seen)["Idle"].shape, rewards.mean(), envs.take_stats()["episodes"], envs.replaced)


def training(folder: pathlib.Path) -> None:
    def watch(now: berth.typing.Record) -> bool:
        return bool(now["wall_s"] > 600)

    policy = berth.train("ppo(n_steps=32,minibatch=64)", cluster=CLUSTER, workload=JOBS, visible=4, episode_jobs=20, warmup_jobs=5,
                         envs=4, threads=1, members=1, validate=0, steps=1000, seed=1, out=folder / "run", callback=watch)
    same = berth.load_policy(policy.path)
    assert_type(same, berth.Policy)
    print(same.card["knowledge"], berth.evaluate(["srpt", same], workload=JOBS, cluster=CLUSTER, seeds=[1]).shape)
    print(policy.explain(at=60.0, workload=JOBS, cluster=CLUSTER)["decision"], policy.save(folder / "copy.h5").path.name)


def wrong(view: berth.View, decision: berth.Decision, envs: berth.ClusterVectorEnv) -> None:
    """Never called."""
    decision.start(1.5, "v100")  # type: ignore[arg-type]
    decision.stopp(1)  # type: ignore[attr-defined]
    view.now = 3.0  # type: ignore[misc]
    view.waiting + "text"  # type: ignore[operator]
    berth.evaluate(3)  # type: ignore[arg-type]
    berth.evaluate(seeds=1.5)  # type: ignore[arg-type]
    berth.evaluate(knowledge=["oracle"])  # type: ignore[arg-type]
    berth.train(steps="many")  # type: ignore[arg-type]
    berth.train(callback=3)  # type: ignore[arg-type]
    berth.load_policy(3)  # type: ignore[arg-type]
    berth.size("v100=1..2")  # type: ignore[call-arg]
    berth.Scenario.from_frame([1], "x.h5", cluster="a100=8")  # type: ignore[arg-type]
    berth.Jobs(3)  # type: ignore[arg-type]
    envs.reset(seed=[1, 2])  # type: ignore[arg-type]
    berth.ClusterEnv(illegal="nextlegal")  # type: ignore[arg-type]


class Wrong(berth.Scheduler):
    knowledge = "everything"  # type: ignore[assignment]

    def decide(self, view: berth.View) -> None:  # type: ignore[override]
        pass


if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    results(place)
    environments()
    if "learners" in sys.argv:
        training(place)
