"""Draws malformed calls of everything that berth has for its users, and prints what became of each, a line of JSON.

usage: python malformed.py CALLS SEED      (test_malformed.py runs it: an abort is seen there)
"""

import itertools
import json
import pathlib
import random
import resource
import sys
import tempfile
import warnings

import numpy as np

import berth

TINY = dict(cluster="v100=2,k80=2", workload="synthetic(rate=5,jobs=12)")
ENV = dict(TINY, episode_jobs=5, warmup_jobs=2, visible=3)
RUN = dict(TINY, seeds=range(2), clock="event")
NAN, INF = float("nan"), float("inf")


class Mine(berth.Scheduler):
    def decide(self, view, decision):
        pass


def jobs(seed):
    yield {"arrival_s": 0.0, "duration_s": 60.0, "gpus": 1}


# -- values that no keyword of their kind takes

NO_TEXT = [[], {}, object(), b"bytes", (1, 2), np.zeros(3), Mine, 1j]
SPEC = [*NO_TEXT, "(", ")", "synthetic(", "synthetic)", "synthetic(rate)", "synthetic(rate=)", "synthetic(rate=1,rate=2)",
        "synthetic(rate=nan)", "synthetic(rate=-1)", "synthetic(rate=inf)", "synthetic(jobs=0)", "synthetic(jobs=-5)", "synthetic(jobs=1e30)",
        "synthetic(jobs=4000000000)", "synthetic(jobs=1.5)", "synthetic(nothing=1)", "sinthetic", "x" * 100_000, "(" * 10_000, "synthetic(a\nb=1)",
        "\ud800", "queueing(rate=1,sizes=none)", 7, -1.5, NAN, True, "synthetic(gangs=9:1)", "=", ",", ";", "\0"]
CLUSTER = [*NO_TEXT, "v100", "v100=", "v100=0", "v100=-1", "v100=x", "v100=nan", "v100=1.5", "v100=4/0", "v100=4/-1", "v1000=2", "=2",
           "v100=2,v100=2", "v100=99999999999999999999", "v100=1000000000", "none.toml", "x" * 100_000, "v100=2\nk80=2", "\ud800", 7, NAN, True, ","]
COUNT = [*NO_TEXT, 0, -1, 1.5, NAN, INF, -INF, "x", "1.5", 2**31, 2**63, 10**30, "0x10", "1e3x", "\ud800"]
KNOWLEDGE = [*NO_TEXT, "orakel", 7, True, NAN, "\ud800", "none;blind", "x" * 10_000]
CLOCK = [*NO_TEXT, "evnt", "rounds()", "rounds(0)", "rounds(-1)", "rounds(nan)", "rounds(x)", "rounds(1,2)", 7, NAN, True]
FEATURES = [*NO_TEXT, "failures(mtbf_h=-1)", "failures(mtbf=3)", "failurs", "failures(mtbf_h=nan)", "power(cap_w=-1)", "(", 7, True, "power;power"]
FILE = [*NO_TEXT, "none.h5", "/", "/dev/null", "\0.h5", "x" * 5_000, 7, True, pathlib.Path("none.h5"), __file__]
SEEDS = [object(), range(0, 10, 2), range(5, 2), [], [3, 1], -1, 1.5, NAN, "5:3", "a:b", "1", ":", "1:", 2**70, range(10**12), range(-3, 2), b"1:2",
         [1.0], [True], {}, ["1"], itertools.count(), range(20_000), {3: 1, 1: 2}]
SCHEDULERS = [7, [7], [None], object(), "", [], ["fcsf"], "fcfs(", "fcfs(nothing=1)", "policy(file=none.h5)", "python(file=none.py:Mine)",
              [Mine, Mine()], ["fcfs", int], "gavel(objective=none)", "x" * 10_000, "\ud800", b"fcfs", ["fcfs", b"srpt"], 1.5, "python(file=none.py)"]
WINDOW = [*NO_TEXT, "5", "5:3", "a:b", "-1:3", "0:100000", 7, NAN, ":", "1:1"]
NAME = ["", "HeteroCluster", "HeteroCluster-v1", 7, None, b"HeteroCluster-v0", "x" * 10_000, "\ud800", object(), NAN, "a\nb", ["HeteroCluster-v0"]]
REWARD = [*NO_TEXT[:-2], "jtc", "jct+", "0*jct", "-1*jct", "nan*jct", "x*jct", "1e30*jct", 7, NAN, "jct\nslowdown", "\ud800", "*"]
BLOCKS = [7, "queue", [7], [None], [berth.Block], [Mine], object(), NAN, {"a": 1}, [type("Huge", (berth.Block,), {"size": lambda s, q, g: 2**40, "fill": print})],
          [type("Negative", (berth.Block,), {"size": lambda s, q, g: -1, "fill": print})], [type("Text", (berth.Block,), {"size": lambda s, q, g: "4", "fill": print})]]
YIELDS = [lambda seed: None, lambda seed: [], lambda seed: [7], lambda: [], lambda seed: [{"arrival": NAN, "duration": 1, "gpus": 1}],
          lambda seed: [{"arrival": 0, "duration": 1, "gpus": 10**30}], lambda seed: [{"arrivl": 0}], lambda seed: [{}], lambda seed: 1 / 0,
          lambda seed: [{"arrival": "\ud800", "duration": 1, "gpus": 1}], lambda seed: [{"arrival": -INF, "duration": 1, "gpus": 1}],
          lambda seed: [{"arrival": 0, "duration": INF, "gpus": 1}], lambda seed: [{"arrival": 0, "duration": 60, "gpus": -1}]]
FRAME = [7, "jobs.csv", None, [], {}, {"arrival": 3}, {"arrival": "text"}, {"arrival": [1, 2], "duration": [1]}, object(), {"a": [1], "b": [2]},
         {"arrival": [NAN], "duration": [1], "gpus": [1]}, {"arrival": ["x"], "duration": [1], "gpus": [1]}, {"arrival": [], "duration": []},
         {"arrival": [0], "duration": [-1], "gpus": [1]}, {"arrival": [0], "duration": [60], "gpus": [10**20]}, {"\ud800": [1]}]
OVER = [7, None, {}, [], "", "rate", "rate=", "rate=1;rate=2", {"rate": []}, {"rate": [1, 1]}, {1: [2]}, {"rate": [object()]}, {"rtae": [1]},
        {"rate": ["x"]}, {"": [1]}, {"a b": [1]}, {"cell": [1]}, {"rate": [NAN]}, {"rate": np.zeros(3)}, "rate=1..10000000", {"\ud800": [1]}, object()]
TYPES = [*NO_TEXT, "", "v100", "v100=", "v100=4..1", "v100=0..0", "v10=1..4", "v100=1..4/0", "v100=1..4@-1", "v100=1..4@nan", "v100=1..4,v100=1..4",
         "v100=1..2000000000", "v100=1..4@x", 7, NAN, "\ud800", "v100=1..4,k80=1..4"]
MEET = [*NO_TEXT, "", "jct", "jct<=", "jct<=x", "jct=1", "jt<=1", "jct<=nan", "deadline_misses<=1%", ";", 7, NAN, "\ud800", "jct<1"]
LEARNS = [object(), "nothing", 7, "auto auto", [], {}, "\ud800"]
PLAIN = dict(cluster=CLUSTER, clock=CLOCK, knowledge=KNOWLEDGE, features=FEATURES, scenario=FILE)


def of_env(call):
    """A method of an environment that has begun."""
    def run(**keywords):
        env = berth.make("HeteroCluster-v0", **ENV)
        env.reset(seed=1)
        return call(env.unwrapped, **keywords)
    return run


def of_envs(call):
    def run(**keywords):
        envs = berth.make_vec(3, **ENV)
        envs.reset(seed=1)
        return call(envs, **keywords)
    return run


def from_frame(**keywords):
    with tempfile.TemporaryDirectory() as folder:
        keywords.setdefault("out", pathlib.Path(folder) / "mine.h5")
        return berth.Scenario.from_frame(**keywords)


ACTIONS = [7, "abc", None, [0], [0, 0, 0, 0], [0.5, 0, 0], [NAN, 0, 0], [-1, 0, 0], [10**6, 0, 0], [2**70, 0, 0], [[0, 0, 0]], [], object(),
           np.zeros(3), np.zeros((3, 1), int), np.full(3, 2**63, np.uint64), ["0", "1", "2"], {0: 1}]
SEED = [-1, 1.5, NAN, "1", 2**63, 2**200, True, [1], object(), b"1"]
PROCESS = dict(visible=COUNT, encoder=["ObservationV99", "observation(blocks=nothing)", "observation(blocks=)", 7, object(), "(", "\ud800"],
               reward=REWARD, tau=[0, -1, NAN, "x", INF, object(), 1e13], episode_jobs=COUNT, preemptive=["perhaps", 7, object(), 0.5, []],
               actions=["jump", "start,start", 7, object(), ","], illegal=["never", 7, None, object()], signal=LEARNS, blocks=BLOCKS)
# What is called, what it is well called with, and what of that may be wrong.
CALLS = {
    "make": (berth.make, dict(ENV), dict(PLAIN, workload=SPEC + YIELDS[:4], id=NAME, seed=SEED[:3] + ["x"], **PROCESS)),
    "make_vec": (berth.make_vec, dict(ENV, num_envs=2), dict(PLAIN, workload=SPEC + YIELDS, id=NAME, threads=COUNT, metrics=["jct", 7, []],
                                                              num_envs=[*COUNT, 2**20 + 1, True], **PROCESS)),
    "help": (berth.help, {}, dict(id=NAME)),
    "evaluate": (berth.evaluate, dict(RUN, schedulers="fcfs"), dict(PLAIN, workload=SPEC + YIELDS, seeds=SEEDS, schedulers=SCHEDULERS, window=WINDOW,
                                                                    threads=COUNT, max_time=[-1, NAN, "x", object()])),
    "simulate": (berth.simulate, dict(TINY, scheduler="fcfs"), dict(PLAIN, workload=SPEC + YIELDS, seed=SEED[:3] + ["x", 2**64],
                                                                    scheduler=[*SCHEDULERS, ["fcfs", "srpt"]], window=WINDOW)),
    "check_scheduler": (berth.check_scheduler, {}, dict(scheduler=[*SCHEDULERS, ["fcfs", "srpt"]])),
    "sweep": (berth.sweep, dict(RUN, schedulers="fcfs", over={"rate": [1]}, workload="synthetic(rate={rate},jobs=12)"),
              dict(PLAIN, over=OVER, seeds=SEEDS, schedulers=SCHEDULERS, window=WINDOW, executor=[7, "processes", object(), lambda: 7],
                   progress=[7, "bar", object()], out=["/dev/null", "/proc/none", "\0", 7, object()], workload=[*SPEC, *YIELDS, "synthetic(rate={rtae})"])),
    "size": (berth.size, dict(RUN, types="v100=1..2", meet="jct<=100000", schedulers="fcfs", cluster=None),
             dict(types=TYPES, meet=MEET, seeds=SEEDS, schedulers=SCHEDULERS, clock=CLOCK, workload=[*SPEC, *YIELDS], cluster=["v100=2", "x"],
                  scenario=FILE)),
    "Scenario.from_frame": (from_frame, dict(frame={"arrival": [0], "duration": [60], "gpus": [1]}, cluster="v100=2"),
                            dict(frame=FRAME, cluster=[*CLUSTER, ""], columns=["arrival", "arrival=nobody", {"arrivl": "arrival"}, 7, object()],
                                 throughputs=["none.csv", 7, {"a": [1]}, object(), {}], out=["/", "/none/none.h5", 7, None, object(), "\0"],
                                 clock=CLOCK)),
    "Scenario.from_parquet": (lambda **its: berth.Scenario.from_parquet(**{"out": "none.h5", "cluster": "v100=1", **its}), {},
                              dict(path=[*NO_TEXT, "none.parquet", 7, pathlib.Path("none.parquet"), NAN])),  # without pyarrow too
    "Scenario.to_frames": (lambda path: berth.Scenario(path).to_frames(), {}, dict(path=FILE)),
    "Jobs": (lambda generator, throughputs=None: berth.evaluate("fcfs", workload=berth.Jobs(generator, throughputs), seeds=1, cluster="v100=2"),
             dict(generator=jobs), dict(generator=[7, "jobs", None, [], object(), *YIELDS], throughputs=["none.csv", 7, object(), [], "gavl", "/"])),
    "step of one": (of_env(lambda env, action: env.step(action)), {}, dict(action=[*ACTIONS[1:], -1, 10**6, 2**70, 0.5, NAN, "0"])),
    "reset of one": (of_env(lambda env, **its: env.reset(**its)), {}, dict(seed=SEED, options=[{"a": 1}, [1], "x", 7])),
    "blocks of one": (of_env(lambda env, observation: env.blocks(observation)), {}, dict(observation=[7, None, "x", [], np.zeros(3), np.zeros(()),
                                                                                                   np.array(["a"]), object()])),
    "step of many": (of_envs(lambda envs, actions: envs.step(actions)), {}, dict(actions=ACTIONS)),
    "reset of many": (of_envs(lambda envs, **its: envs.reset(**its)), {}, dict(seed=[*SEED, [1, 2, 3]], options=[{"a": 1}, [1], "x", 7])),
    "summary": (lambda rows: berth.results.table_of(rows).summary(), {}, dict(rows=[[{}], [{"scheduler": "a"}], [{"a": 1}], [{"scheduler": 7, "seed": 1,
                                                                                                                    "mean_jct_s": 1.0}]])),
    "plot": (lambda metric: berth.evaluate("fcfs", **RUN).plot(metric), {}, dict(metric=["nothing", 7, None, "", NAN])),
}


def drawn(draw):
    """One call: its name, what to call, with what."""
    name = draw.choice(list(CALLS))
    call, good, wrong = CALLS[name]
    keywords = dict(good)
    kind = draw.random()
    if kind < 0.06:
        keywords["".join(draw.choice("abcdefgh_") for _ in range(draw.randint(1, 12)))] = draw.choice([1, "x", None, NAN, object()])
        if list(keywords.values())[-1] is None:  # as good as not given
            keywords[list(keywords)[-1]] = 0
    else:
        for keyword in draw.sample(list(wrong), 2 if kind > 0.9 and len(wrong) > 1 else 1):
            keywords[keyword] = draw.choice(wrong[keyword])
            if keyword == "scenario":  # alone: with a workload it is the pair that is wrong
                keywords.pop("workload", None), keywords.pop("cluster", None)
    return name, call, keywords


def main(count, seed):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30,) * 2)  # what would take all memory fails at once
    draw = random.Random(seed)
    for index in range(count):
        name, call, keywords = drawn(draw)
        shown = ", ".join(f"{key}={ascii(value)[:80]}" for key, value in keywords.items())
        print(json.dumps({"begun": index, "call": f"{name}({shown})"}), flush=True)
        try:
            call(**keywords)
        except BaseException as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            print(json.dumps({"ended": index, "kinds": kinds, "message": ascii(str(error))[:400], "lines": len(str(error).splitlines())}), flush=True)
        else:
            print(json.dumps({"ended": index, "kinds": [], "message": "nothing was raised", "lines": 1}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
