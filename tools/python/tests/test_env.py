"""One environment: Gymnasium's own checker, seeds, ends, what is wrong."""

import contextlib
import io
import pathlib
import re
import unittest
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import berth
from support import COMMANDS, HETERO, SMALL, SMALL_OF


PAGE = pathlib.Path(__file__).parents[1] / "ENVIRONMENTS.md"


def play(env, actions, seed=None):
    """Everything that an episode's steps return."""
    observation, info = env.reset(seed=seed)
    steps = [(observation, info)]
    for action in actions:
        steps.append(env.step(action))
        if steps[-1][2] or steps[-1][3]:
            break
    return steps


class Env(unittest.TestCase):
    def same(self, a, b, expected=True):
        self.assertEqual(gymnasium.utils.env_checker.data_equivalence(a, b, exact=True), expected)

    def test_gymnasium_check_env_has_nothing_to_say(self):
        for name, keywords in [*SMALL_OF.items(), ("HeteroCluster-v0", COMMANDS)]:
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")
                check_env(gymnasium.make(f"berth/{name}", **keywords).unwrapped)

    def test_observations_stay_in_the_space_over_whole_episodes(self):
        for name, keywords in [*SMALL_OF.items(), ("HeteroCluster-v0", COMMANDS)]:
            env = berth.make(name, **keywords)
            env.action_space.seed(1)
            ends = 0
            observation, info = env.reset()
            for _ in range(600):
                self.assertIn(observation, env.observation_space)
                action = env.action_space.sample(info["action_mask"])
                observation, reward, terminated, truncated, info = env.step(action)
                self.assertEqual(info["action"], action)  # a legal action is played as it is
                if terminated or truncated:
                    ends += 1
                    self.assertIn(observation, env.observation_space)
                    observation, info = env.reset()
            self.assertGreater(ends, 2)

    def test_seeds_repeat_and_differ(self):
        actions = np.random.default_rng(0).integers(0, 4, 60)
        for name, keywords in SMALL_OF.items():
            env, other = berth.make(name, **keywords), berth.make(name, **keywords)
            first = play(env, actions, seed=11)
            self.same(first, play(env, actions, seed=11))
            self.same(first, play(other, actions, seed=11))
            self.same(first, play(env, actions, seed=12), False)
            # the keyword `seed` is the first reset's, and episodes go on from there
            one, two = berth.make(name, **{**keywords, "seed": 11}), berth.make(name, **{**keywords, "seed": 11})
            self.same(first, play(one, actions))
            second = play(one, actions)
            self.same(first, second, False)
            play(two, [])  # given up at once: the next one is the same
            self.same(second, play(two, actions))

    def test_an_episode_that_ended_is_followed_by_the_next(self):
        env, other = (berth.make("TaskPlacement-v0", **SMALL) for _ in range(2))
        first = play(env, [0] * 100)
        self.assertTrue(first[-1][3])
        self.same(first, play(other, [0] * 100))
        self.same(play(env, [1] * 100), play(other, [1] * 100))
        with self.assertRaisesRegex(RuntimeError, "reset"):
            env.unwrapped.step(0)

    def test_an_illegal_action_makes_way_or_raises(self):
        env = berth.make("TaskPlacement-v0", **SMALL)
        _, info = env.reset()
        self.assertEqual(info["action_mask"].tolist(), [1] * 6)
        _, _, _, _, info = env.step(5)
        self.assertEqual(info["action_mask"][5], 0)
        _, _, _, _, info = env.step(5)  # busy: the first one after it, beginning again
        self.assertEqual(info["action"], 0)
        strict = berth.make("TaskPlacement-v0", illegal="error", **SMALL)
        strict.reset()
        strict.step(5)
        with self.assertRaisesRegex(ValueError, "actions: expected legal ones, found 5"):
            strict.step(5)
        strict.step(4)  # nothing had happened

    def test_reward_of_task_placement_is_minus_the_mean_utilisation_seen(self):
        env = berth.make("TaskPlacement-v0", **SMALL)
        for observation, reward, *_ in play(env, range(6))[1:]:
            self.assertEqual(np.float32(reward), np.float32(-observation[1:].astype(float).mean()))

    def test_the_signal_stands_beside_the_reward(self):
        plain, paid = (berth.make("HeteroCluster-v0", **HETERO, **more) for more in ({}, {"signal": "auto"}))
        (_, info), _ = paid.reset(seed=3), plain.reset(seed=3)
        self.assertNotIn("signal", info)
        differs = False
        for _ in range(60):
            action = int(np.flatnonzero(info["action_mask"])[0])
            _, reward, terminated, truncated, info = paid.step(action)
            _, same, *_, without = plain.step(action)
            self.assertEqual(reward, same)
            self.assertNotIn("signal", without)
            if info["discount"] == 1.0:
                self.assertEqual(info["signal"], reward)  # no time passes within an instant
            differs = differs or info["signal"] != reward
            if terminated or truncated:
                break
        self.assertTrue(differs)

    def test_time_and_discount_agree(self):
        env = berth.make("TaskPlacement-v0", tau=5000.0, **SMALL)
        steps = play(env, [0] * 100)
        for (*_, before), (*_, info) in zip(steps, steps[1:-1]):
            elapsed = info["time"] - before["time"]
            self.assertGreaterEqual(elapsed, 0.0)
            self.assertAlmostEqual(info["discount"], np.exp(-elapsed / 5000.0), delta=1e-6)  # it is a float32

    def test_blocks_are_views(self):
        env = berth.make("HeteroCluster-v0", **HETERO).unwrapped
        observation, _ = env.reset()
        blocks = env.blocks(observation)
        self.assertEqual(blocks["jobs"].shape[0], 4)
        self.assertEqual(blocks["pairs"].shape[:2], (4, 3))
        self.assertEqual(sum(block.size for block in blocks.values()), observation.size)
        self.assertTrue(all(np.shares_memory(block, observation) for block in blocks.values()))

    def test_wrong_arguments_are_named(self):
        bad = [
            (ValueError, "workload", dict(workload="syntetic")),
            (ValueError, "did you mean 'synthetic'", dict(workload="syntetic")),
            (ValueError, "cluster", dict(cluster="v1000=2")),
            (ValueError, "knowledge", dict(knowledge="orakel")),
            (ValueError, "features", dict(features="failures(mtbf=3)")),
            (ValueError, "reward", dict(reward="jtc")),
            (ValueError, "encoder", dict(encoder="ObservationV99")),
            (ValueError, "visible", dict(visible=0)),
            (ValueError, "visible", dict(visible=1.5)),
            (ValueError, "preemptive", dict(preemptive="perhaps")),
            (ValueError, "semantics", dict(semantics="comit")),
            (ValueError, "order", dict(order="longest")),
            (ValueError, "episode_jobs", dict(episode_jobs=-1)),
            (ValueError, "seed", dict(seed=-1)),
            (ValueError, "scenario", dict(scenario="/nowhere.h5", workload=None)),
            (ValueError, "unknown argument 'workloda' .did you mean 'workload'", dict(workloda="toy")),
            (ValueError, "illegal", dict(illegal="ignore")),
            (TypeError, "render_mode", dict(render_mode="human")),
            (TypeError, "cluster: expected a string, a number or a bool, found list", dict(cluster=[1])),
        ]
        for error, message, wrong in bad:
            with self.subTest(message), self.assertRaisesRegex(error, message):
                berth.ClusterEnv("HeteroCluster-v0", **{**HETERO, **wrong})
        with self.assertRaisesRegex(ValueError, "features"):
            berth.ClusterEnv("TaskPlacement-v0", features="failures(mtbf_h=30)")
        with self.assertRaisesRegex(ValueError, "HeteroCluster-v0"):
            berth.ClusterEnv("HeteroClusters-v0")
        for ask in (berth.make, berth.help, lambda id: berth.make_vec(2, id)):
            with self.assertRaisesRegex(ValueError, "'HeteroClusters-v0' .did you mean 'HeteroCluster-v0'"):
                ask("HeteroClusters-v0")
        env = berth.ClusterEnv("HeteroCluster-v0", **HETERO)
        with self.assertRaisesRegex(ValueError, "reset"):
            env.step(0)
        with self.assertRaisesRegex(TypeError, "seed: expected an integer, found float"):
            env.reset(seed=1.0)
        with self.assertRaisesRegex(ValueError, "seed"):
            env.reset(seed=-1)
        with self.assertRaisesRegex(ValueError, "options"):
            env.reset(options={"speed": 2})
        env.reset()
        for wrong in (-1, env.action_space.n):
            with self.assertRaisesRegex(ValueError, "action"):
                env.step(wrong)
        for wrong in (0.5, "0", None, np.array([0.0]), [0]):
            with self.assertRaisesRegex(TypeError, "action: expected an integer"):
                env.step(wrong)

    def test_the_environments_of_the_page_are_made(self):
        example = re.search(r"```python\n(import berth.*?)```", PAGE.read_text(), re.DOTALL)[1]
        space, said = {}, io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(example, str(PAGE), "exec"), space)
        self.assertRegex(said.getvalue(), r"\n  cluster  .*\[v100=12,p100=12,k80=12\]")
        self.assertEqual((space["envs"].num_envs, space["envs"].action_space.shape), (256, (256,)))
        for env in (space["env"], space["same"]):
            self.assertIn(env.reset(seed=1)[0], env.observation_space)

    def test_help_lists_the_keywords(self):
        for name in SMALL_OF:
            for keyword in SMALL:
                self.assertRegex(berth.help(name), rf"\n  {keyword} ")
        self.assertIn("episode_jobs=20", berth.make("TaskPlacement-v0", **SMALL).unwrapped.description.replace("-", "_"))
