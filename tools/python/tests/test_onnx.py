"""berth.OnnxPolicy: a torch module decides in evaluations as it does in env.step."""

import importlib.util
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import berth
from support import COMMANDS, HETERO, SMALL

BERTH = os.environ["BERTH"]
MISSING = [name for name in ("torch", "onnx", "onnxruntime") if importlib.util.find_spec(name) is None]
PROCESSES = {
    "preemptive": HETERO,
    "blind": dict(HETERO, preemptive=False, knowledge="blind", visible=3, work_conserving=True),
    "may wait": dict(HETERO, preemptive=False, visible=3),
    "commit": dict(HETERO, preemptive=False, semantics="commit", clock="event"),
    "commands": COMMANDS,
    "reread": dict(COMMANDS, reread=True),
}


class Recorded(berth.OnnxPolicy):
    """Keeps what it saw and did. Of several runs the last."""

    taken = []

    def reset(self, view):
        super().reset(view)
        Recorded.taken = []

    def decide(self, view, decision):
        self.now = view.now
        super().decide(view, decision)

    def act(self):
        action = super().act()
        Recorded.taken.append((self.now, action, self._point.observation.tobytes(), self._point.mask.tobytes()))
        return action


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}")
class OnnxPolicy(unittest.TestCase):
    def setUp(self):
        import torch

        torch.set_num_threads(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def network(self, env, seed=5):
        import torch

        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(env.observation_space.shape[-1], 16), torch.nn.Tanh(),
                                   torch.nn.Linear(16, int(env.action_space.n)))

    def export(self, module, arguments, name="net.onnx", **more):
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # this exporter is to go; the next one needs onnxscript too
            torch.onnx.export(module, arguments, self.folder / name, dynamo=False, **more)
        return self.folder / name

    def scenario(self, keywords):
        path = self.folder / "jobs.h5"
        words = [word for name in ("workload", "cluster", "features", "clock", "knowledge") if name in keywords
                 for word in (f"--{name}", keywords[name])]
        subprocess.run([BERTH, "generate", *words, "--seed", "11", "--out", path], check=True, capture_output=True)
        return path

    def test_it_decides_as_env_step_does_with_the_same_module(self):
        import torch

        for name, keywords in PROCESSES.items():
            with self.subTest(name):
                rest = {key: value for key, value in keywords.items() if key not in ("workload", "cluster", "features", "clock", "knowledge")}
                scenario = self.scenario(keywords)
                rest |= dict(scenario=scenario, episode_jobs=40, warmup_jobs=0)
                env = berth.make("HeteroCluster-v0", illegal="error", **rest)
                net = self.network(env)
                stepped = []
                observation, info = env.reset()
                terminated = truncated = False
                while not (terminated or truncated):
                    with torch.no_grad():
                        scores = net(torch.from_numpy(observation)[None]).numpy()[0]
                    mask = info["action_mask"].astype(bool)
                    action = int(np.argmax(np.where(mask, scores, -np.inf)))
                    stepped.append((info["time"], action, observation.tobytes(), mask.tobytes()))
                    observation, _, terminated, truncated, info = env.step(action)
                self.assertTrue(terminated)  # to the last job
                self.assertGreaterEqual(len(stepped), 40)
                path = self.export(net, (torch.zeros(1, env.observation_space.shape[0]),))
                for policy in (Recorded(path, env), Recorded(path, **rest)):
                    run = berth.simulate(policy, scenario=scenario)
                    self.assertEqual(run.metrics["unfinished"], 0)
                    self.assertEqual([taken[:2] for taken in Recorded.taken], [step[:2] for step in stepped])
                    waits = -1 if name == "may wait" else None  # what an idle cluster may do: training alone knows who is to come
                    self.assertTrue([(*taken[:3], taken[3][:waits]) for taken in Recorded.taken]
                                    == [(*step[:3], step[3][:waits]) for step in stepped])

    def test_masks_and_actions_as_the_module_has_them(self):
        import torch

        env = berth.make("HeteroCluster-v0", **HETERO)
        net, size, actions = self.network(env), env.observation_space.shape[0], int(env.action_space.n)

        class Masked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, seen, mask):
                return torch.where(mask, self.net(seen), -1e9), self.net(seen).sum()

        class Takes(Masked):  # whatever the mask says
            def forward(self, seen):
                return self.net(seen).argmax(dim=-1)

        given = torch.zeros(size), torch.ones(actions, dtype=torch.bool)
        plain = self.export(net, (given[0][None],), "plain.onnx")
        masked = self.export(Masked(), given, "masked.onnx", input_names=["seen", "action_mask"])
        takes = self.export(Takes(), (given[0][None],), "takes.onnx", dynamic_axes={"seen": {0: "n"}}, input_names=["seen"])
        of = {key: HETERO[key] for key in ("workload", "cluster")}
        table = berth.evaluate([berth.OnnxPolicy(path, env) for path in (plain, masked, takes)], seeds="1000:1003", threads=2, **of)
        logs = table.pivot(index="seed", columns="scheduler", values="signature")
        self.assertEqual(list(logs["plain"]), list(logs["masked"]))
        self.assertEqual(table["unfinished"].sum(), 0)
        many = berth.make_vec(2, "HeteroCluster-v0", **HETERO)
        from berth.sb3 import SB3VecEnv

        for name, env_of in (("many", many), ("sb3", SB3VecEnv(2, "HeteroCluster-v0", **HETERO))):
            policy = berth.OnnxPolicy(plain, env_of)
            policy.name = name
            self.assertEqual(list(berth.evaluate(policy, seeds="1000:1003", **of)["signature"]), list(logs["plain"]))

    def test_pickled_it_is_the_same_with_its_file_or_without(self):
        import torch

        env = berth.make("HeteroCluster-v0", **HETERO)
        path = self.export(self.network(env), (torch.zeros(1, env.observation_space.shape[0]),))
        of = {key: HETERO[key] for key in ("workload", "cluster")}
        policy = Recorded(path, env)
        policy.name = "mine"
        first = berth.simulate(policy, seed=1000, **of).signature
        said = pickle.dumps(policy)
        for what in ("there", "another", "gone"):
            if what == "another":
                self.export(self.network(env, seed=6), (torch.zeros(1, env.observation_space.shape[0]),))
            elif what == "gone":
                path.unlink()
            with self.subTest(what):
                other = pickle.loads(said)
                self.assertEqual((type(other), other.name, other.path, other.knowledge), (Recorded, "mine", path, policy.knowledge))
                self.assertEqual(berth.simulate(other, seed=1000, **of).signature, first)

    def test_an_environment_whose_jobs_and_reward_are_pythons(self):
        import torch

        def jobs(seed):
            draw = np.random.default_rng(seed)
            for job in range(40):
                yield {"arrival_s": 300.0 * job, "duration_s": draw.exponential(3000.0) + 1.0, "gpus": int(draw.choice([1, 2]))}

        # GPU types that no workload of Berth's knows by default.
        env = berth.make("HeteroCluster-v0", workload=jobs, reward=lambda m: -m["jct"], cluster="a100=2,t4=2", visible=4, episode_jobs=20)
        path = self.export(self.network(env), (torch.zeros(1, env.observation_space.shape[0]),))
        of = dict(workload=jobs, cluster="a100=2,t4=2", seeds=1000)
        table = berth.evaluate(berth.OnnxPolicy(path, env), **of)
        self.assertEqual(table["unfinished"].sum(), 0)
        same = berth.OnnxPolicy(path, workload=jobs, cluster="a100=2,t4=2", visible=4)
        self.assertEqual(list(berth.evaluate(same, **of)["signature"]), list(table["signature"]))
        with self.assertRaisesRegex(berth.Error, "workload: synthetic"):  # what is said goes before the environment's
            berth.OnnxPolicy(path, env, workload="synthetic(rate=1)")

    def test_what_does_not_fit_is_one_line(self):
        import torch

        env = berth.make("HeteroCluster-v0", **HETERO)
        size, actions = env.observation_space.shape[0], int(env.action_space.n)
        good = self.export(self.network(env), (torch.zeros(1, size),), "good.onnx")
        narrow = self.export(torch.nn.Linear(size - 1, actions), (torch.zeros(1, size - 1),), "narrow.onnx")
        few = self.export(torch.nn.Linear(size, actions - 1), (torch.zeros(1, size),), "few.onnx")

        class Two(torch.nn.Module):
            def forward(self, seen, other):
                return torch.zeros(1, actions) + seen.sum() + other

        class Nan(torch.nn.Module):
            def forward(self, seen):
                return (seen.sum() + torch.zeros(actions)) * float("nan")

        two = self.export(Two(), (torch.zeros(1, size), torch.zeros(1)), "two.onnx", input_names=["seen", "other"])
        nan = self.export(Nan(), (torch.zeros(1, size),), "nan.onnx")
        text = self.folder / "text.onnx"
        text.write_text("no model")
        for path, words in [
            (self.folder / "none.onnx", "none.onnx: expected an ONNX model, found no such file"),
            (text, "text.onnx: expected an ONNX model, found: "),
            (narrow, rf"narrow.onnx: .*: expected numbers of shape \[N, {size}\] or \[{size}\], as the environment gives, found"),
            (two, "two.onnx: expected an observation and, with 'mask' in its name, a mask as inputs, found 'other'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words) as caught:
                berth.OnnxPolicy(path, env)
            self.assertNotIn("\n", str(caught.exception))
        of = {key: HETERO[key] for key in ("workload", "cluster")}
        for path, cluster, words in [
            (few, of["cluster"], f"few.onnx: expected {actions} scores or one whole number in its first output, found {actions - 1}"),
            (nan, of["cluster"], "nan.onnx: expected numbers as scores, found nan"),
            (good, "v100=2,k80=2", "good.onnx: expected the GPU types and commands of the environment, v100, p100, k80, found a cluster of v100, k80"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words):
                berth.evaluate(berth.OnnxPolicy(path, env), seeds=1000, workload=of["workload"], cluster=cluster)
        with self.assertRaisesRegex(TypeError, "env: expected an environment of Berth's, found int"):
            berth.OnnxPolicy(good, 3)
        with self.assertRaisesRegex(ValueError, "unknown argument 'visibel'.*did you mean 'visible'"):
            berth.OnnxPolicy(good, visibel=4)
        with self.assertRaisesRegex(berth.Error, "env: expected HeteroCluster-v0, found TaskPlacement-v0"):
            berth.OnnxPolicy(good, berth.make("TaskPlacement-v0", **SMALL))
