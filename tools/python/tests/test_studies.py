"""studies/: the pair scorer in PyTorch against a policy that ships, the hash of its file, and when a goal counts as reached.
tools/like: the columns of the study of a learned generator against those of the command line, and the generator itself."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

TOOLS = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(TOOLS / "studies"), str(TOOLS.parent / "like")]
SHIPPED = TOOLS.parents[1] / "data" / "policies" / "cluster" / "hetero_oracle.h5"  # pair_scorer(width=8,skip=true)


def policy_of(path):
    """PairScorerPolicy with the weights of a policy file."""
    import h5py
    import torch
    from gymnasium import spaces
    from pair_scorer import PairScorerPolicy, layers_of

    with h5py.File(path) as file:
        at = {name: int(file.attrs[name]) for name in ("job_channels", "pair_channels", "type_channels", "global_channels")}
        layout = dict(at, q=int(file.attrs["queue"]), g=int(file.attrs["types"]))
        size = file["examples/observation"].shape[1]
        policy = PairScorerPolicy(spaces.Box(-np.inf, np.inf, (size,)), spaces.Discrete(int(file.attrs["num_actions"])),
                                  lambda left: 1e-3, layout=layout, width=file["weights/job/bias"].shape[0])
        with torch.no_grad():
            for name, layer in layers_of(policy).items():
                layer.weight.copy_(torch.from_numpy(file[f"weights/{name}/weight"][:]))
                layer.bias.copy_(torch.from_numpy(file[f"weights/{name}/bias"][:]))
    return policy


class Studies(unittest.TestCase):
    def test_the_pair_scorer_gives_the_scores_of_a_shipped_policy(self):
        import h5py
        import torch

        policy = policy_of(SHIPPED)
        with h5py.File(SHIPPED) as file, torch.no_grad():
            seen, scores, value = (file[f"examples/{name}"][:] for name in ("observation", "scores", "value"))
            pi, vf = policy.mlp_extractor(torch.from_numpy(seen))
            self.assertTrue((seen[:, 0] != 0).any())  # there are jobs
            # what Berth itself asks of a reader of the file
            tolerance = 1e-5 * max(1.0, np.abs(scores).max())
            np.testing.assert_allclose(pi.numpy(), scores, rtol=0, atol=tolerance)
            np.testing.assert_allclose(vf[:, 0].numpy(), value, rtol=0, atol=tolerance)
            np.testing.assert_array_equal(policy.mlp_extractor.forward_actor(torch.from_numpy(seen)), pi)
            np.testing.assert_array_equal(policy.mlp_extractor.forward_critic(torch.from_numpy(seen)), vf)

    def test_a_written_policy_carries_its_weights_and_their_hash(self):
        import h5py
        import torch
        from pair_scorer import content_hash, write_policy

        with h5py.File(SHIPPED) as file:
            self.assertEqual(content_hash(file), int(file.attrs["content_hash"]))  # Berth's own
            before = file["weights/score/bias"][:]
        policy = policy_of(SHIPPED)
        with torch.no_grad():
            policy.mlp_extractor.layers["score"].bias += 1.0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.h5"
            write_policy(policy, SHIPPED, path)
            with h5py.File(path) as file:
                np.testing.assert_array_equal(file["weights/score/bias"][:], before + 1.0)
                self.assertEqual(content_hash(file), int(file.attrs["content_hash"]))

    def test_a_goal_is_held_once_the_time_has_doubled(self):
        from time_to_rule import reached

        goal = argparse.Namespace(goal=1.01)
        rows = lambda *pairs: [(0, cpu_s, ratio) for cpu_s, ratio in pairs]
        self.assertEqual(reached(goal, rows((1, 2.0), (2, 1.2))), (None, None))
        # 1 s is lost again at 3 s; from 4 s on all hold, and 8 s is twice that
        self.assertEqual(reached(goal, rows((1, 1.0), (3, 1.5), (4, 1.0), (6, 1.01), (8, 0.9))), (1, 4))
        self.assertEqual(reached(goal, rows((1, 1.0), (3, 1.5), (4, 1.0), (6, 1.01), (7.9, 0.9))), (1, None))
        self.assertEqual(reached(goal, rows((1, 1.0), (2, 1.0), (3, 1.5))), (1, 1))  # what comes after that is another matter


class LearnedLike(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.log = pathlib.Path(cls.folder.name) / "log.h5"
        berth = lambda *words: subprocess.run([os.environ["BERTH"], *map(str, words)], check=True, capture_output=True)
        berth("generate", "--workload", "synthetic(jobs=500,gangs=multi)", "--cluster", "v100=16", "--out", cls.log)
        berth("generate", "--like", cls.log, "--check", pathlib.Path(cls.folder.name) / "page", "--json", cls.log.with_suffix(".json"))

    def test_the_columns_are_those_of_the_check(self):
        from like_columns import COLUMNS, compare, read, split

        check = json.loads(self.log.with_suffix(".json").read_text())["check"]
        earlier, later = split(read(self.log))
        self.assertEqual((len(earlier), len(later)), (check["earlier_jobs"], check["held_out_jobs"]))
        result = compare(COLUMNS, earlier, later, [earlier])
        theirs = [column["earlier_distance"] for column in check["columns"]]
        self.assertEqual(len(result), len(theirs))
        for (name, (_, of_drawn, of_earlier)), distance in zip(result.items(), theirs):
            with self.subTest(name):
                self.assertAlmostEqual(of_earlier, distance, places=12)  # sums of the same shares in another order
                self.assertEqual(of_drawn, of_earlier)

    def test_the_logs_are_those_of_reproduce_like(self):
        from learned_study import logs

        trace, cluster, *arguments = logs()["ITP 01"]
        self.assertEqual((pathlib.Path(trace).name, cluster), ("raw-traces.tar.gz:cluster01.csv", "v100=1024/8"))
        self.assertEqual(arguments, ["--format", "itp", "--cluster", "v100=1024/8"])

    def test_the_tests_are_those_of_two_sample(self):
        from like_columns import chi_square_tail, kolmogorov_smirnov

        # tests/two_sample_test.cpp: exp(-x / 2) is the tail of two degrees of freedom
        self.assertAlmostEqual(chi_square_tail(3.0, 2), np.exp(-1.5), places=12)
        self.assertAlmostEqual(chi_square_tail(0.5, 2), np.exp(-0.25), places=12)
        # up to 2 lie all of the first sample and a third of the second
        self.assertAlmostEqual(kolmogorov_smirnov([1.0, 2.0], [2.0, 3.0, 4.0])[0], 2 / 3)

    def test_a_learned_generator_repeats_and_draws_values_of_the_log(self):
        import learned_like
        from like_columns import read, split

        earlier, later = split(read(self.log))
        with unittest.mock.patch.multiple(learned_like, MOST_UPDATES=50, CALIBRATIONS=1):
            draws = [learned_like.Learned(earlier, seed=seed).draw(later.length, 2, seed=5) for seed in (1, 1, 2)]
        for one, same in zip(*draws[:2]):
            np.testing.assert_array_equal(one.arrival, same.arrival)
            np.testing.assert_array_equal(one.run, same.run)
        self.assertFalse(np.array_equal(draws[0][0].arrival, draws[2][0].arrival))
        for workload in draws[0]:
            self.assertGreater(len(workload), 0)
            self.assertTrue((np.diff(workload.arrival) >= 0).all() and workload.arrival[-1] < later.length)
            self.assertLessEqual(set(workload.gang.tolist()), set(earlier.gang.tolist()))
            self.assertLessEqual(set(workload.run.tolist()), set(earlier.run.tolist()))

    def test_a_network_starts_with_the_likeliest_mixture(self):
        import torch
        from learned_like import Head

        share, random = np.array([0.5, 0.3, 0.2]), np.random.default_rng(0)
        past = np.eye(3)[random.integers(0, 3, (20000, 2))]  # two values that came before, each job's own
        # three jobs in ten are like the second of them, the others of the log's shares
        y = np.where(random.random(20000) < 0.3, past[:, 1].argmax(1), random.choice(3, 20000, p=share))
        head = Head(4, share, pasts=2, smooth=False)
        head.start(torch.tensor(past, dtype=torch.float32), torch.tensor(y))
        found = torch.softmax(head.gate.bias, 0).detach().numpy()
        np.testing.assert_allclose(found, [0.7, 0.0, 0.3], atol=0.02)  # 20,000 values: a standard error of 0.006
        with torch.no_grad():
            its = head(torch.ones(1, 4), torch.tensor([[[0, 0, 1.0], [1.0, 0, 0]]])).exp().numpy()[0]
        np.testing.assert_allclose(its, found[0] * share + found[1] * np.array([0, 0, 1]) + found[2] * np.array([1, 0, 0]), rtol=1e-5)
