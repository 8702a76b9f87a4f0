"""studies/: the pair scorer in PyTorch against a policy that ships, the hash of its file, and when a goal counts as reached."""

import argparse
import pathlib
import sys
import tempfile
import unittest

import numpy as np

TOOLS = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(TOOLS / "studies"))
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
