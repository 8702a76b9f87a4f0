"""Many environments: no copies, the same bits as one and on any number of threads, what is wrong."""

import threading
import time
import unittest

import gymnasium
import numpy as np

import berth
from support import HETERO, SMALL_OF

N = 12


def run(envs, steps, seed=0):
    """Copies of all that `steps` random actions give."""
    rng = np.random.default_rng(seed)
    observation, info = envs.reset()
    out = [observation.copy(), info["action_mask"].copy()]
    for _ in range(steps):
        *results, info = envs.step(rng.integers(0, envs.single_action_space.n, N))
        out += [array.copy() for array in results] + [info[key].copy() for key in sorted(info)]
    return out


class Vector(unittest.TestCase):
    def test_the_same_bits_on_any_number_of_threads(self):
        for name, keywords in SMALL_OF.items():
            one, three = (run(berth.make_vec(N, name, threads=n, **keywords), 120) for n in (1, 3))
            self.assertEqual(len(one), len(three))
            for a, b in zip(one, three):
                np.testing.assert_array_equal(a, b)

    def test_the_signal_stands_beside_the_rewards(self):
        keywords = dict(HETERO, signal="auto")
        one, three = (run(berth.make_vec(N, "HeteroCluster-v0", threads=n, **keywords), 120) for n in (1, 3))
        for a, b in zip(one, three):
            np.testing.assert_array_equal(a, b)
        envs, env = berth.make_vec(N, "HeteroCluster-v0", **keywords), berth.make("HeteroCluster-v0", **keywords)
        rng = np.random.default_rng(3)
        envs.reset(), env.reset()
        differs = False
        for _ in range(60):
            actions = rng.integers(0, env.action_space.n, N)
            _, rewards, _, _, infos = envs.step(actions)
            *_, over, cut, info = env.step(actions[0])
            self.assertEqual(infos["signal"][0], np.float32(info["signal"]))
            differs = differs or (infos["signal"] != rewards).any()
            if over or cut:
                env.reset()
        self.assertTrue(differs)

    def test_its_first_environment_is_the_one_alone(self):
        for name, keywords in SMALL_OF.items():
            envs, env = berth.make_vec(N, name, **keywords), berth.make(name, **keywords)
            rng = np.random.default_rng(2)
            many, infos = envs.reset()
            alone, info = env.reset()
            self.assertEqual(sorted(infos), sorted(set(info) - {"time"}))
            self.assertEqual((infos["discount"].dtype, infos["discount"].tolist(), info["discount"]), (np.float32, [1.0] * N, 1.0))
            ends = 0
            for _ in range(150):
                np.testing.assert_array_equal(many[0], alone)
                actions = rng.integers(0, env.action_space.n, N)
                many, rewards, terminated, truncated, infos = envs.step(actions)
                alone, reward, over, cut, info = env.step(actions[0])
                self.assertEqual((rewards[0], terminated[0], truncated[0]), (np.float32(reward), over, cut))
                if over or cut:
                    ends += 1
                    np.testing.assert_array_equal(infos["final_obs"][0], alone)
                    self.assertTrue(infos["_final_obs"][0])
                    alone, info = env.reset()
                np.testing.assert_array_equal(infos["action_mask"][0], info["action_mask"])
            self.assertGreater(ends, 1)

    def test_nothing_is_copied_and_what_a_step_gave_lasts_one_more(self):
        envs = berth.make_vec(N, "HeteroCluster-v0", **HETERO)
        first, info = envs.reset()
        self.assertFalse(first.flags.owndata)
        kept = first.copy()
        second, _, _, _, later = envs.step(np.zeros(N, int))
        self.assertFalse(np.shares_memory(first, second))
        self.assertFalse(np.shares_memory(info["action_mask"], later["action_mask"]))
        np.testing.assert_array_equal(first, kept)
        third, *_ = envs.step(np.zeros(N, int))
        self.assertTrue(np.shares_memory(first, third))
        self.assertTrue(np.shares_memory(envs.action_masks(), info["action_mask"]))
        del envs, info, later, second, third
        self.assertTrue(np.isfinite(first).all())  # a view keeps the memory alive

    def test_seeds(self):
        envs = berth.make_vec(N, "HeteroCluster-v0", **HETERO)
        first = envs.reset(seed=5)[0].copy()
        envs.reset()
        self.assertFalse(np.array_equal(envs.reset(seed=6)[0], first))
        np.testing.assert_array_equal(envs.reset(seed=5)[0], first)
        self.assertEqual(len(np.unique(first, axis=0)), N)  # each has a workload of its own

    def test_gymnasium_makes_it_too(self):
        envs = gymnasium.make_vec("berth/TaskPlacement-v0", num_envs=N, **SMALL_OF["TaskPlacement-v0"])
        self.assertIsInstance(envs.unwrapped, berth.ClusterVectorEnv)
        observation, _ = envs.reset()
        self.assertIn(observation, envs.observation_space)
        # a wrapper of Gymnasium's that needs to know how environments restart
        recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
        recorded.reset()
        returns = [info["episode"]["r"] for info in (recorded.step(envs.action_space.sample())[4] for _ in range(60))
                   if "episode" in info]
        self.assertTrue(returns and (np.array(returns) <= 0.0).all())

    def test_gymnasium_makes_them_of_single_ones_too(self):
        for name, keywords in SMALL_OF.items():
            with self.subTest(name):
                envs = gymnasium.make_vec(f"berth/{name}", num_envs=2, vectorization_mode="sync", **keywords)
                self.assertIsInstance(envs, gymnasium.vector.SyncVectorEnv)
                observation, _ = envs.reset(seed=[3, 4])
                for row, seed in zip(observation, (3, 4)):
                    np.testing.assert_array_equal(row, berth.make(name, **keywords).reset(seed=seed)[0])
                envs.step(envs.action_space.sample())

    def test_masks_cannot_be_written_and_rewards_can(self):
        for illegal in ("next_legal", "error"):
            envs = berth.make_vec(N, "TaskPlacement-v0", illegal=illegal, **SMALL_OF["TaskPlacement-v0"])
            _, info = envs.reset()
            _, reward, _, _, info = envs.step(info["action_mask"].argmax(1))
            for mask in (info["action_mask"], envs.action_masks(), envs._buffers[0]["final_mask"]):
                with self.assertRaisesRegex(ValueError, "read-only"):
                    mask[:] = 0
                with self.assertRaises(ValueError):
                    mask.flags.writeable = True
            reward[0] += 1.0  # as Stable-Baselines3's PPO does where an episode was truncated
            envs.step(info["action_mask"].argmax(1))

    def test_a_second_thread_is_told_so(self):
        envs = berth.make_vec(N, "HeteroCluster-v0", **HETERO)
        envs.reset()
        told, steps, zeros = [], [], np.zeros(N, int)
        stop = threading.Event()

        def play():
            while not stop.is_set():
                try:
                    envs.step(zeros)
                    steps.append(1)
                except RuntimeError as error:
                    told.append(str(error))

        threads = [threading.Thread(target=play) for _ in range(3)]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        while not told and time.monotonic() - began < 20.0:  # they meet within milliseconds
            time.sleep(0.01)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertIn("one thread at a time", told[0])
        self.assertTrue(steps)
        envs.step(zeros)  # and it goes on

    def test_wrong_arguments_are_named(self):
        for error, message, keywords in [
            (ValueError, "num_envs", dict(num_envs=0)),
            (TypeError, "num_envs", dict(num_envs=2.0)),
            (ValueError, "threads", dict(num_envs=2, threads=0)),
            (TypeError, "threads", dict(num_envs=2, threads="two")),
            (ValueError, "visible", dict(num_envs=2, visible=-3)),
        ]:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                berth.make_vec(**keywords)
        envs = berth.make_vec(N, "HeteroCluster-v0", **HETERO)
        with self.assertRaisesRegex(ValueError, "reset"):
            envs.step(np.zeros(N, int))
        envs.reset()
        for error, message, actions in [
            (TypeError, r"actions: expected integers of shape \(12,\), found float64", np.zeros(N)),
            (TypeError, "actions: expected integers", np.zeros(N, bool)),
            (TypeError, "actions: expected integers", [None] * N),
            (ValueError, r"actions: expected shape \(12,\), found \(11,\)", np.zeros(N - 1, int)),
            (ValueError, r"actions: expected shape \(12,\), found \(12, 1\)", np.zeros((N, 1), int)),
            (ValueError, "actions: expected shape", 0),
            (ValueError, "actions: expected numbers from 0 to 12, found 13 for environment 3", [0, 0, 0, 13] + [0] * 8),
            (ValueError, "actions: expected numbers from 0 to 12, found -1", np.full(N, -1)),
        ]:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                envs.step(actions)
        for dtype in (np.int8, np.int32, np.uint16):
            envs.step(np.zeros(N, dtype))
        for found in (2**63, 2**64 - 1):
            with self.assertRaisesRegex(ValueError, f"from 0 to 12, found {found} for environment 2"):
                envs.step(np.array([0, 0, found] + [0] * 9, np.uint64))
        with self.assertRaisesRegex(TypeError, "seed: expected an integer, found list"):
            envs.reset(seed=[1] * N)
        size = envs.single_observation_space.shape[0]
        one = berth.ClusterEnv("HeteroCluster-v0", **HETERO)
        for error, message, observation in [
            (ValueError, rf"observation: expected an array of numbers of shape \(..., {size}\), found shape \(3,\)", np.zeros(3)),
            (TypeError, "observation: expected an array of numbers of shape .*, found str", "a"),
            (TypeError, "observation: expected .*, found list", [0.0] * size),
            (TypeError, "observation: expected .*, found one of <U1", np.full(size, "a")),
            (ValueError, r"observation: expected .*, found shape \(\)", np.array(1.0)),
        ]:
            for asked in (envs, one):
                with self.subTest(message), self.assertRaisesRegex(error, message):
                    asked.blocks(observation)
