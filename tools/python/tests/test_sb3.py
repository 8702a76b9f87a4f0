"""Stable-Baselines3 and sb3-contrib: their checker, their algorithms, on one environment and on many."""

import pathlib
import re
import unittest
import warnings

import numpy as np

import berth
from support import COMMANDS, HETERO, SMALL_OF

PAGE = pathlib.Path(__file__).parents[1] / "TRAINING.md"


def parameters(model):
    return np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])


class StableBaselines3(unittest.TestCase):
    def setUp(self):
        import torch

        torch.set_num_threads(1)

    def test_check_env_has_nothing_to_say(self):
        from stable_baselines3.common.env_checker import check_env

        for name, keywords in SMALL_OF.items():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")
                check_env(berth.make(name, **keywords))

    def learned(self, make, steps):
        """It trained: weights moved and are finite; the same seed gives the same weights."""
        model = make()
        before = parameters(model)
        after = parameters(model.learn(steps))
        self.assertTrue(np.isfinite(after).all())
        self.assertFalse(np.array_equal(before, after))
        np.testing.assert_array_equal(after, parameters(make().learn(steps)))
        return model

    def test_ppo_trains(self):
        from stable_baselines3 import PPO

        for name, keywords in SMALL_OF.items():
            with self.subTest(name):
                self.learned(lambda: PPO("MlpPolicy", berth.make(name, **keywords), n_steps=128, n_epochs=2, seed=1,
                                         device="cpu"), 256)

    def test_dqn_trains(self):
        from stable_baselines3 import DQN

        self.learned(lambda: DQN("MlpPolicy", berth.make("TaskPlacement-v0", **SMALL_OF["TaskPlacement-v0"]), seed=1,
                                 learning_starts=50, buffer_size=1000, device="cpu"), 300)

    def test_maskable_ppo_trains_and_plays_legal_actions_alone(self):
        from sb3_contrib import MaskablePPO

        for keywords in (HETERO, COMMANDS):
            env = berth.make("HeteroCluster-v0", illegal="error", **keywords)  # an illegal action would raise
            make = lambda: MaskablePPO("MlpPolicy", env, n_steps=128, n_epochs=2, seed=1, device="cpu")
            model = self.learned(make, 256)
            observation, info = env.reset(seed=9)
            for _ in range(50):
                action, _ = model.predict(observation, action_masks=env.unwrapped.action_masks(), deterministic=True)
                observation, _, terminated, truncated, info = env.step(action)
                if terminated or truncated:
                    break

    def test_algorithms_train_on_many_environments(self):
        from sb3_contrib import MaskablePPO
        from stable_baselines3 import DQN, PPO

        from berth.sb3 import SB3VecEnv

        make = lambda **more: SB3VecEnv(8, "HeteroCluster-v0", **HETERO, **more)
        masked = dict(n_steps=32, n_epochs=2, seed=1, device="cpu")
        self.learned(lambda: MaskablePPO("MlpPolicy", make(illegal="error"), **masked), 512)
        self.learned(lambda: PPO("MlpPolicy", make(), **masked), 256)
        self.learned(lambda: DQN("MlpPolicy", make(), seed=1, learning_starts=64, buffer_size=2000, device="cpu"), 320)

    def test_the_signal_is_paid_and_the_return_is_of_the_reward(self):
        from berth.sb3 import SB3VecEnv

        plain, paid = (SB3VecEnv(4, "HeteroCluster-v0", **HETERO, **more) for more in ({}, {"signal": "auto"}))
        plain.reset(), paid.reset()
        rng = np.random.default_rng(5)
        returns, differs, ends = np.zeros(4), False, 0
        for _ in range(400):
            actions = rng.integers(0, plain.action_space.n, 4)
            _, rewards, done, infos = plain.step(actions)
            _, signals, same, of_paid = paid.step(actions)
            np.testing.assert_array_equal(done, same)
            returns += rewards
            differs = differs or (signals != rewards).any()
            for i in np.flatnonzero(done):
                ends += 1
                self.assertEqual(of_paid[i]["episode"], infos[i]["episode"])
                self.assertAlmostEqual(of_paid[i]["episode"]["r"], returns[i], delta=1e-3 * abs(returns[i]))
            returns[done] = 0.0
        self.assertTrue(differs)
        self.assertGreater(ends, 0)

    def test_its_own_helper_makes_them(self):
        from stable_baselines3 import PPO
        from stable_baselines3.common.env_util import make_vec_env

        for name, keywords in SMALL_OF.items():  # it asks for render_mode="rgb_array" first
            with self.subTest(name):
                envs = make_vec_env(f"berth/{name}", n_envs=2, seed=1, env_kwargs=keywords)
                PPO("MlpPolicy", envs, n_steps=16, batch_size=32, n_epochs=1, device="cpu").learn(32)

    def test_rollouts_hold_what_was_seen_not_what_came_after(self):
        from stable_baselines3 import PPO

        from berth.sb3 import SB3VecEnv

        # PPO keeps the last observation while the next step is taken: the two sets of buffers must keep them apart.
        model = PPO("MlpPolicy", SB3VecEnv(8, "HeteroCluster-v0", **HETERO), n_steps=32, n_epochs=1, seed=1, device="cpu")
        model.learn(256)
        seen, actions = model.rollout_buffer.observations, model.rollout_buffer.actions.astype(int)
        if seen.shape[0] == 256:  # flattened by environment, then time
            seen, actions = (array.reshape(8, 32, -1).swapaxes(0, 1) for array in (seen, actions))
        envs = berth.make_vec(8, "HeteroCluster-v0", **HETERO)
        observation, _ = envs.reset(seed=1)
        for t in range(32):
            np.testing.assert_array_equal(seen[t], observation)
            observation, *_ = envs.step(actions[t].ravel())

    def test_the_example_of_the_page_runs(self):
        example = re.search(r"```python\n(# Train.*?)```", PAGE.read_text(), re.DOTALL)[1]
        steps = re.search(r"total_timesteps=([\d_]+)", example)[1]
        example = example.replace(f"total_timesteps={steps}", "total_timesteps=512").replace("n_steps=64", "n_steps=16")
        space = {}
        exec(compile(example, str(PAGE), "exec"), space)
        self.assertTrue(0.1 < space["mean_jct_h"]() < 1000.0)
