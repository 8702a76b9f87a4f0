"""What follows where a block or a workload of one's own raises within a reset or a step."""

import unittest

import numpy as np

import berth
from support import HETERO


class Failing(berth.Block):
    """Raises while the class says so."""

    begins = fills = False

    def size(self, q, g):
        return 1

    def begin(self, view):
        if self.begins:
            raise RuntimeError("begin")

    def fill(self, view, out):
        if self.fills:
            raise RuntimeError("fill")


class Failures(unittest.TestCase):
    def made(self):
        """One environment and four, of which the blocks fail as `block` says."""
        for make in (berth.make, lambda **keywords: berth.make_vec(4, **keywords)):
            block = type("Mine", (Failing,), {})
            yield block, make(blocks=block, **HETERO).unwrapped

    def play(self, env, steps):
        for _ in range(steps):
            masks = env.action_masks()
            over = env.step(masks.argmax(axis=-1))[2:4]
            if masks.ndim == 1 and any(over):
                env.reset()

    def test_a_reset_that_raises_has_to_be_followed_by_one(self):
        for seed in (None, 2):
            for which in ("begins", "fills"):
                for block, env in self.made():
                    with self.subTest(seed=seed, which=which, envs=env.action_space):
                        env.reset(seed=1)
                        self.play(env, 7)
                        setattr(block, which, True)
                        self.assertRaises(berth.Error, env.reset, seed=seed)
                        setattr(block, which, False)
                        with self.assertRaisesRegex(berth.Error, "step: expected a reset before it"):
                            env.step(env.action_masks().argmax(axis=-1))
                        with self.assertRaisesRegex(berth.Error, "expected a reset before them"):
                            env._core.signature(0)
                        env.reset()
                        self.play(env, 60)

    def test_so_does_one_at_the_end_of_an_episode(self):
        block, env = next(self.made())
        _, info = env.reset(seed=1)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            over = terminated or truncated
        block.begins = True
        self.assertRaises(berth.Error, env.reset, seed=2)
        block.begins = False
        first = env.reset()[0]  # of the seed whose first episode could not begin
        np.testing.assert_array_equal(first, env.reset(seed=2)[0])

    def test_a_workload_that_raises_for_one_draw(self):
        draws = []

        def jobs(seed):
            draws.append(seed)
            if len(draws) == bad:
                raise RuntimeError("bad draw")
            for job in range(60):
                yield {"arrival_s": 600.0 * job, "duration_s": 1800.0, "gpus": 1}

        for later in range(1, 6):
            bad = 0
            draws.clear()
            envs = berth.make_vec(4, workload=jobs, cluster="v100=2,k80=2", visible=4, episode_jobs=10)
            envs.reset(seed=1)
            self.play(envs, 7)
            bad = len(draws) + later
            try:
                envs.reset(seed=2)
            except berth.Error:
                with self.assertRaisesRegex(berth.Error, "step: expected a reset before it"):
                    envs.step(np.zeros(4, int))
                envs.reset()
            self.play(envs, 30)

    def test_after_a_step_that_raised_comes_the_next_episode(self):
        for block, env in self.made():
            with self.subTest(envs=env.action_space):
                firsts = [env.reset(seed=seed)[0].copy() for seed in (1, None, None)]
                env.reset(seed=1)
                env.reset()
                block.fills = True
                with self.assertRaises(berth.Error):
                    self.play(env, 30)
                block.fills = False
                np.testing.assert_array_equal(env.reset()[0], firsts[2])

    def test_before_the_first_reset(self):
        for _, env in self.made():
            self.assertRaisesRegex(berth.Error, "expected a reset before it", env.step, env.action_space.sample())
            self.assertRaisesRegex(berth.Error, "expected a reset before them", env._core.time, 0)
