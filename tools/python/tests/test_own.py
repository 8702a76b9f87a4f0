"""Rewards, blocks of the observation and workloads that are written in Python."""

import dataclasses
import datetime
import decimal
import fractions
import pathlib
import tempfile
import unittest

import numpy as np
import pandas

import berth
from berth import _berth
from berth._arguments import cell_of
from support import HETERO, SMALL

# Power, services, deadlines: every term of a reward has something to say.
RICH = dict(cluster="v100=4/2,k80=4/2", workload="synthetic(rate=5,jobs=60,slo=true)", features="power;services(rate_per_s=4,replicas=1,slo_s=0.035)",
            episode_jobs=15, warmup_jobs=5, visible=4, seed=3)


def steps(envs, count, seed=None):
    """Each step's observation, reward, ends and final observations, of actions drawn among the legal ones; copies."""
    draw = np.random.default_rng(0)
    _, info = envs.reset(seed=seed)
    for _ in range(count):
        actions = np.array([draw.choice(np.flatnonzero(row)) for row in info["action_mask"]])
        observation, reward, terminated, truncated, info = envs.step(actions)
        yield [array.copy() for array in (observation, reward, terminated, truncated)], info


def rewards_of(name, count, **keywords):
    paid = np.array([step[1] for step, _ in steps(berth.make_vec(3, name, **keywords), count)])
    return paid + np.float32(0)  # of 0 and -0 one


class Rewards(unittest.TestCase):
    def test_every_built_in_term_in_python_is_the_same_to_the_bit(self):
        for term, at_end in _berth.rewards():
            with self.subTest(term):
                # Those of an end need one: a scenario that is over after 20 jobs.
                keywords = dict(HETERO, workload="synthetic(rate=0,jobs=20)", warmup_jobs=0) if at_end else RICH
                built_in = rewards_of("HeteroCluster-v0", 120, reward=term, **keywords)
                ours = rewards_of("HeteroCluster-v0", 120, reward=lambda m: -m[term], metrics=term, **keywords)
                self.assertTrue(built_in.any(), "the term says nothing here")
                self.assertEqual(built_in.tobytes(), ours.tobytes())
        for term in ("jct", "slowdown", "makespan"):
            built_in = rewards_of("TaskPlacement-v0", 80, reward=f"0.5*{term}", **SMALL)
            self.assertEqual(built_in.tobytes(), rewards_of("TaskPlacement-v0", 80, reward=lambda m: -0.5 * m[term], **SMALL).tobytes())
        built_in = rewards_of("TaskPlacement-v0", 80, **SMALL)
        self.assertEqual(built_in.tobytes(),
                         rewards_of("TaskPlacement-v0", 80, reward=lambda m: -m["mean_utilization"], **SMALL).tobytes())

    def test_metrics_of_a_step_agree_with_what_it_did(self):
        seen = []
        envs = berth.make_vec(4, reward=lambda m: seen.append({key: value.copy() for key, value in m.items()}) or -m["jct"], **HETERO)
        times = np.array([envs._core.time(i) for i in range(4)]) if envs.reset() else None
        ends = 0
        for (_, reward, terminated, truncated), _ in steps(envs, 150):
            m = seen[-1]
            self.assertEqual({key: value.shape for key, value in m.items()}, dict.fromkeys(m, (4,)))
            np.testing.assert_array_equal(m["terminated"], terminated)
            np.testing.assert_array_equal(m["truncated"], truncated)
            # Little's law, backwards: nobody's time in the system counts but of who was there.
            self.assertTrue((m["jct"] <= (m["jobs_in_system"] + m["arrived_jobs"] + 50) * m["elapsed_s"] + 1e-9).all())
            self.assertTrue((m["jct"][m["elapsed_s"] == 0.0] == 0.0).all())
            ends += int((terminated | truncated).sum())
        self.assertGreater(ends, 3)
        self.assertEqual(set(seen[0]), {name for name, at_end in _berth.rewards() if not at_end}
                         | {"elapsed_s", "arrived_jobs", "jobs_in_system", "terminated", "truncated"})
        self.assertIsNotNone(times)

    def test_what_a_function_is_given_is_read_only(self):
        for name, keywords in ("HeteroCluster-v0", HETERO), ("TaskPlacement-v0", SMALL):
            seen = []
            envs = berth.make_vec(3, name, reward=lambda m: seen.append(m) or -m["elapsed_s"], **keywords)
            list(steps(envs, 1))
            self.assertEqual({key for key, value in seen[0].items() if value.flags.writeable}, set())

    def test_returns_are_of_what_was_paid(self):
        built_in, ours = berth.make_vec(3, **HETERO), berth.make_vec(3, reward=lambda m: -m["jct"], **HETERO)
        for _ in range(2):
            for envs in (built_in, ours):
                list(steps(envs, 120, seed=5))
            said, same = built_in.take_stats(), ours.take_stats()
            self.assertGreater(said["episodes"], 2)
            self.assertEqual((said["episodes"], said["mean_jct_s"]), (same["episodes"], same["mean_jct_s"]))
            self.assertAlmostEqual(said["mean_return"], same["mean_return"], delta=1e-12 * abs(said["mean_return"]))

    def test_one_environment_hands_out_floats(self):
        seen = []
        env = berth.make("HeteroCluster-v0", reward=lambda m: seen.append(m) or -1e-3 * m["jct"], **HETERO)
        plain = berth.make("HeteroCluster-v0", reward="jct", **HETERO)
        (_, info), _ = env.reset(seed=1), plain.reset(seed=1)
        total = 0.0
        for _ in range(60):
            action = int(np.flatnonzero(info["action_mask"])[0])
            _, reward, terminated, truncated, info = env.step(action)
            self.assertEqual(reward, np.float32(-1e-3 * seen[-1]["jct"]))
            self.assertEqual(plain.step(action)[1], np.float32(-seen[-1]["jct"]))
            total += reward
            if terminated or truncated:
                break
        self.assertLess(total, 0.0)
        self.assertEqual({type(value) for value in seen[0].values()}, {float, bool})
        self.assertIn("# reward: Python's <lambda>\n", env.unwrapped.description)

    def test_what_is_wrong_is_named(self):
        for reward, metrics, error, words in [
            (lambda m: -m["jct"], "jtc", ValueError, "metrics: expected names of jct, .* found 'jtc'"),
            (lambda m: -m["jct"], "jct,jct", ValueError, "each once, found 'jct'"),
            ("jct", "jct", ValueError, "metrics: expected a function as reward with it, found 'jct'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                berth.make_vec(2, reward=reward, metrics=metrics, **HETERO)
        with self.assertRaisesRegex(ValueError, "signal: expected 'reward' with a function as reward"):
            berth.make_vec(2, reward=lambda m: -m["jct"], signal="auto", **HETERO)
        for reward, error, words in [
            (lambda m: m["jct"][:1], ValueError, r"reward: expected shape \(2,\), found \(1,\)"),
            (lambda m: 1.0, ValueError, r"reward: expected shape \(2,\), found \(\)"),
            (lambda m: m["jct"] * np.nan, ValueError, "reward: expected finite numbers, found nan"),
            (lambda m: [0.0, -1e300], ValueError, r"reward: expected finite numbers, found -1e\+300 beyond float32"),
            (lambda m: np.array([2.0, 1e39]), ValueError, r"reward: expected finite numbers, found 1e\+39 beyond float32"),
            (lambda m: ["a", "b"], TypeError, r"reward: expected numbers of shape \(2,\)"),
            (lambda m: None, TypeError, "reward: expected numbers"),
            (lambda m: m["nobody"], KeyError, "nobody"),
        ]:
            envs = berth.make_vec(2, reward=reward, **HETERO)
            with self.subTest(words), self.assertRaisesRegex(error, words):
                list(steps(envs, 1))
        for reward, words in (1e300, r"found 1e\+300 beyond float32"), (10**400, "found inf"):
            env = berth.make(reward=lambda m: reward, **HETERO)
            with self.subTest(words), self.assertRaisesRegex(ValueError, f"reward: expected finite numbers, {words}"):
                env.step(int(np.flatnonzero(env.reset(seed=1)[1]["action_mask"])[0]))

    def test_where_it_raises_the_step_has_been_taken(self):
        calls = []

        def sometimes(m):  # raises every third time, and at each end
            calls.append(m)
            return 1 / (len(calls) % 3 and not (m["terminated"] or m["truncated"]))

        env, plain = (berth.make(reward=reward, **HETERO) for reward in (sometimes, "jct"))
        failed = ends = 0
        (_, info), over = plain.reset(seed=1), False
        env.reset(seed=1)
        for _ in range(120):
            if over:
                self.assertRaises(RuntimeError, env.step, 0)
                _, info = plain.reset()
                env.reset()
            action = int(np.flatnonzero(info["action_mask"])[0])
            try:
                env.step(action)
            except ZeroDivisionError:
                failed += 1
            _, _, terminated, truncated, info = plain.step(action)
            ends += int(over := terminated or truncated)
            self.assertEqual(list(env.unwrapped.action_masks()), list(info["action_mask"] == 1))
        self.assertGreater(ends, 1)
        self.assertGreater(failed, 40)
        envs = berth.make_vec(2, reward=lambda m: -m["jct"] if envs.failed else m["nobody"], **HETERO)
        envs.failed = False
        with self.assertRaises(KeyError):
            list(steps(envs, 1, seed=5))
        envs.failed = True
        for _ in range(120):
            envs.step(envs.action_masks().argmax(axis=1))
        self.assertTrue(np.isnan(envs.take_stats()["mean_return"]))  # of an episode of which a reward is lost
        list(steps(envs, 120, seed=5))
        self.assertLess(envs.take_stats()["mean_return"], 0.0)


class Busy(berth.Block):
    """TaskPlacement-v0's own observation of its GPUs."""

    low, high = 0.0, 1.0

    def __init__(self, gpus):
        self.gpus = gpus

    def size(self, q, g):
        return self.gpus

    def fill(self, view, out):
        out[:] = 1 - view.device_free


class Rows(berth.Block):
    """Of each row whether a job is there, and its gang; how often it was called since the episode began."""

    name = "my rows"

    def size(self, q, g):
        return (q, 3)

    def begin(self, view):
        self.calls = 0

    def fill(self, view, out):
        self.calls += 1
        assert not out.any()
        rows = view.visible
        out[:len(rows), 0] = 1.0
        out[:len(rows), 1] = view.gang[rows]
        out[0, 2] = self.calls


class Blocks(unittest.TestCase):
    def test_a_block_that_says_what_is_observed_anyway_says_the_same(self):
        for threads in (1, 2):
            envs = berth.make_vec(16, "TaskPlacement-v0", blocks=[Busy(6)], threads=threads, **SMALL)
            plain = berth.make_vec(16, "TaskPlacement-v0", **SMALL)
            self.assertEqual(envs.single_observation_space.shape, (1 + 6 + 6,))
            ends = 0
            for ((seen, *rest), info), ((same, *others), _) in zip(steps(envs, 80), steps(plain, 80)):
                np.testing.assert_array_equal(seen[:, :7], same)
                np.testing.assert_array_equal(envs.blocks(seen)["Busy"], same[:, 1:])
                self.assertEqual([a.tobytes() for a in rest], [b.tobytes() for b in others])
                if "final_obs" in info:
                    ended = info["_final_obs"]
                    np.testing.assert_array_equal(info["final_obs"][ended, 7:], info["final_obs"][ended, 1:7])
                    ends += int(ended.sum())
            self.assertGreater(ends, 16)

    def test_rows_are_those_of_the_jobs_and_memory_is_an_episodes(self):
        envs = berth.make_vec(3, blocks=[Rows, Busy(6)], **HETERO)
        begun = 0
        for (seen, _, terminated, truncated), _ in steps(envs, 150):
            blocks = envs.blocks(seen)
            self.assertEqual(list(blocks), ["jobs", "pairs", "types", "global", "my rows", "Busy"])
            self.assertEqual(blocks["my rows"].shape, (3, 4, 3))
            np.testing.assert_array_equal(blocks["my rows"][:, :, 0], blocks["jobs"][:, :, 0])  # `present`
            self.assertTrue(((blocks["my rows"][:, :, 1] >= 1) == (blocks["jobs"][:, :, 0] == 1)).all())
            over = terminated | truncated
            self.assertTrue((blocks["my rows"][over, 0, 2] == 1).all())
            self.assertTrue((blocks["my rows"][:, 0, 2] >= 1).all())
            begun += int(over.sum())
        self.assertGreater(begun, 3)
        one = berth.make("HeteroCluster-v0", blocks=Rows(), **HETERO)
        observation, _ = one.reset(seed=2)
        self.assertIn(observation, one.observation_space)
        self.assertEqual(one.unwrapped.blocks(observation)["my rows"][0, 2], 1)
        self.assertIn("# blocks: Python's my rows\n", one.unwrapped.description)

    def test_knowledge_is_the_environments(self):
        class Left(berth.Block):
            def size(self, q, g):
                return 1

            def fill(self, view, out):
                out[0] = view.remaining[view.active].sum() > 0

        envs = berth.make_vec(2, blocks=[Left()], **HETERO)
        self.assertTrue(all(envs.blocks(seen)["Left"].any() for (seen, *_), _ in steps(envs, 3)))
        envs = berth.make_vec(2, blocks=[Left()], knowledge="blind", **HETERO)
        with self.assertRaisesRegex(berth.Error, "view.remaining: expected .*knowledge 'estimate'"):
            envs.reset()

    def test_what_fails_is_named_and_a_reset_follows(self):
        class Fails(berth.Block):
            after = 5

            def size(self, q, g):
                return 2

            def fill(self, view, out):
                self.after -= 1
                if self.after < 0:
                    out[1] = 1 / 0

        class Nan(Fails):
            def fill(self, view, out):
                out[1] = np.nan

        class Returns(Fails):
            def fill(self, view, out):
                return out + 1

        for threads in (1, 3):
            envs = berth.make_vec(32, blocks=[Fails()], threads=threads, **HETERO)
            with self.assertRaisesRegex(berth.Error, r"block 'Fails' fails at .* s: ZeroDivisionError: .*test_own.py:\d+, in fill") as raised:
                list(steps(envs, 50))
            self.assertIsInstance(raised.exception.__cause__, ZeroDivisionError)
            with self.assertRaisesRegex(berth.Error, "step: expected a reset before it"):
                envs.step([0] * 32)
        with self.assertRaisesRegex(berth.Error, "block 'Nan': expected finite numbers, found nan at 1 of 2"):
            berth.make_vec(2, blocks=[Nan], **HETERO).reset()
        with self.assertRaisesRegex(berth.Error, "block 'Returns': expected numbers written into `out`"):
            berth.make_vec(2, blocks=[Returns], **HETERO).reset()

    def test_wrong_blocks_are_named(self):
        def sized(size, **more):
            return type("Mine", (berth.Block,), {"size": lambda self, q, g: size, "fill": print, **more})

        for blocks, error, words in [
            ([7], TypeError, "blocks: expected berth.Block objects or classes of it, found 7"),
            ("mine", TypeError, "blocks: expected berth.Block objects"),
            ([Rows, Rows()], ValueError, "blocks: expected names that differ .* found 'my rows'"),
            ([sized(1, name="jobs")], ValueError, "found 'jobs'; set the attribute `name`"),
            ([sized(0)], ValueError, "block 'Mine': size: expected a number of floats or a shape, 1 to 1048576, found 0"),
            ([sized(1.5)], ValueError, "found 1.5"),
            ([sized((2**20, 2**20))], ValueError, "expected at most 1048576 floats"),
            ([sized(1, low=2.0, high=1.0)], ValueError, "block 'Mine': expected low <= high"),
            ([berth.Block], TypeError, "blocks: Block: expected methods size and fill"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                berth.make_vec(2, blocks=blocks, **HETERO)


@dataclasses.dataclass
class Job:
    arrival_s: float
    duration_s: float
    gpus: int = 1


def bursts(seed):
    draw = np.random.default_rng(seed)
    for job in range(60):
        yield Job(600.0 * (job // 5), draw.exponential(3000.0) + 1.0, int(draw.choice([1, 2])))


def endless(seed):
    draw = np.random.default_rng(seed)
    at = 0.0
    while True:
        at += draw.exponential(600.0)
        yield {"arrival": at, "steps": draw.integers(500, 5000), "gpus": np.int64(1), "job_type": "a" if draw.random() < 0.5 else "b"}


def deep(seed):
    for job in range(20):
        yield {"arrival_s": 300 * job, "steps": 10000 + seed, "gpus": 1, "job_type": "ResNet-50 (batch size 32)"}


def unknown(seed):
    yield from [*deep(seed)][:1]
    yield {"arrival_s": 0, "steps": 1, "gpus": 1, "job_type": "nobody"}


class Workloads(unittest.TestCase):
    cluster = "v100=3,k80=3"

    def test_jobs_that_are_yielded_are_those_of_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            for seed in (4, 5):
                jobs = list(bursts(seed))
                columns = {"arrival": [job.arrival_s for job in jobs], "duration": [job.duration_s for job in jobs],
                           "gpus": [job.gpus for job in jobs]}
                same = berth.Scenario.from_frame(columns, pathlib.Path(folder) / f"{seed}.h5", cluster=self.cluster)
                run = berth.simulate("srpt", workload=bursts, seed=seed, cluster=self.cluster, clock="event")
                self.assertEqual(run.signature, berth.simulate("srpt", scenario=same).signature)
                self.assertEqual(list(run.jobs["gpus"]), columns["gpus"])
        table = berth.evaluate(["fcfs", "srpt"], workload=bursts, cluster=self.cluster, clock="event", seeds=range(4, 6), threads=2)
        self.assertEqual(table["signature"].iloc[-1], run.signature)
        self.assertEqual(len(table["signature"].unique()), 4)

    def test_spans_dates_and_what_is_missing_are_read_as_in_a_table(self):
        def jobs(seed):
            for at, runs in [(0, np.timedelta64(3600 * 10**9, "ns")), (60, np.timedelta64(60, "m")), (120, datetime.timedelta(hours=1)),
                             (180, pandas.Timedelta(hours=1)), (240, np.float32(3600))]:
                yield {"arrival_s": at, "duration_s": runs, "gpus": np.int8(1), "deadline_s": pandas.NA, "limit_s": np.timedelta64("NaT"),
                       "tenant": "a\nb"}

        def dates(seed):
            for job in jobs(seed):
                start = datetime.datetime(2024, 3, 1, 12) + datetime.timedelta(seconds=job["arrival_s"])
                yield {**job, "arrival_s": [start, pandas.Timestamp(start), np.datetime64(start, "ns")][seed]}

        of = dict(cluster=self.cluster, clock="event")
        run = berth.simulate("fcfs", workload=jobs, seed=0, **of)
        self.assertEqual(list(run.jobs["arrival_s"]), [0, 60, 120, 180, 240])
        self.assertEqual(list(run.jobs["jct_s"]), [3600.0] * 5)
        for seed in range(3):
            self.assertEqual(berth.simulate("fcfs", workload=dates, seed=seed, **of).signature, run.signature)

    def test_a_cell_is_text_a_number_a_date_or_a_span_of_whichever_library(self):
        import pyarrow
        import torch

        date = datetime.datetime(2024, 1, 1, 5)
        for value, expected in [
                (np.array(90 * 10**9, "m8[ns]"), "90.0"), (np.array(7), "7"), (np.array("x"), "x"), (np.array(None, object), ""),
                (np.array("2024-01-01T05", "M8[s]"), "2024-01-01T05:00:00"), (np.datetime64("2024", "Y"), "2024-01-01T00:00:00"),
                (np.datetime64("2024-03", "M"), "2024-03-01T00:00:00"), (np.datetime64("2024-01-01T05", "h"), "2024-01-01T05:00:00"),
                (np.datetime64(date, "ms"), "2024-01-01T05:00:00.000"), (b"ann", "ann"), (np.bytes_("café".encode()), "café"),
                (np.ma.masked, ""), (torch.tensor(1), "1"), (torch.tensor(1.5), "1.5"), (torch.tensor(float("nan")), ""),
                (pyarrow.scalar(5), "5"), (pyarrow.scalar(None, pyarrow.int64()), ""), (pyarrow.scalar(date), "2024-01-01T05:00:00"),
                (np.float64(0.1), "0.1"), (True, "True"), (np.True_, "True"), (decimal.Decimal("0.10"), "0.10"),
                (fractions.Fraction(1, 4), "0.25"), (np.longdouble(0.5), "0.5"), (pandas.Period("2024-03", "M"), "2024-03-01T00:00:00"), (pandas.Timedelta("90s"), "90.0")]:
            with self.subTest(repr(value)):
                self.assertEqual(cell_of(lambda: "x", value), expected)
        for value in [[1], (), {"a": 1}, {1}, 1j, np.complex128(1), b"\xff", np.array([1, 2]), torch.tensor([1, 2]), pandas.Series([1, 2]),
                      pyarrow.scalar([1]), np.zeros(1, "i4,i4")[0], object(), len, int, np.float64, datetime.datetime, slice(1),
                      pandas.Interval(0, 1), pathlib.Path("x"), fractions.Fraction(10**400), decimal.Decimal("sNaN")]:
            with self.subTest(repr(value)), self.assertRaisesRegex(ValueError, "^x: expected text, a number, a date or a span of time, found"):
                cell_of(lambda: "x", value)

    def test_speeds_are_shipped_or_a_file(self):
        gavel = berth.Jobs(deep, throughputs="gavel")
        run = berth.simulate(workload=gavel, cluster=self.cluster, seed=1)
        self.assertEqual(run.jobs["job_type"].unique().tolist(), ["ResNet-50 (batch size 32)"])
        self.assertEqual(run.jobs["status"].unique().tolist(), ["completed"])
        with tempfile.TemporaryDirectory() as folder:
            speeds = pathlib.Path(folder) / "speeds.csv"
            speeds.write_text("job_type,gpu_type,steps_per_s\na,v100,2\na,k80,1\nb,v100,3\nb,k80,1\n")
            jobs = berth.Jobs(endless, throughputs=speeds)
            envs = berth.make_vec(2, workload=jobs, cluster=self.cluster, episode_jobs=10, visible=4)
            self.assertEqual(len(list(steps(envs, 30))), 30)
        with self.assertRaisesRegex(berth.Error, r"^workload 'unknown', seed 3: job 1: .* found 'nobody'") as caught:
            berth.simulate(workload=berth.Jobs(unknown, throughputs="gavel"), cluster=self.cluster, seed=3)
        self.assertIn("a job type of the table gavel", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "none.csv"):
            berth.simulate(workload=berth.Jobs(deep, throughputs="none.csv"), cluster=self.cluster)

    def test_episodes_are_drawn_and_repeat_on_any_number_of_threads(self):
        keywords = dict(workload=endless, cluster=self.cluster, episode_jobs=10, warmup_jobs=5, visible=4)

        def play(seed, threads):
            return b"".join(array.tobytes() for step, _ in steps(berth.make_vec(16, threads=threads, **keywords), 60, seed) for array in step)

        first = play(1, 1)
        self.assertEqual(first, play(1, 2))
        self.assertNotEqual(first, play(2, 1))
        tasks = berth.make("TaskPlacement-v0", workload=bursts, cluster=self.cluster, episode_jobs=10)
        lengths = []
        for _ in range(3):
            tasks.reset()
            lengths.append(tasks.unwrapped._core.time(0))
        self.assertIn("# workload: Python's bursts\n", tasks.unwrapped.description)

    def test_what_is_wrong_is_named_with_its_job(self):
        def of(*jobs):
            def mine(seed):
                yield from jobs
            return mine

        good = {"arrival": 0, "duration": 60, "gpus": 1}
        for workload, words in [
            (of(good, {**good, "gpus": 99}), "workload 'mine', seed 1000: job 1: column 'gpus'"),
            (of(good, {**good, "duration": -1}), "job 1: .*'duration'"),
            (of(good, {**good, "durtion": 1}), r"job 1: expected fields of a table of jobs, found 'durtion' \(did you mean 'duration'\?\)"),
            (of(good, 7), "job 1: expected a mapping or a dataclass, found int"),
            (of(), "expected a job at least, found none"),
            (of({"arrival": 0, "gpus": 1}), "workload 'mine', seed 1000"),
            (of({**good, "arrival": "soon"}), "job 0: .*'arrival'"),
            (of(good, {**good, "duration": np.timedelta64(2, "M")}), r"job 1: duration: expected text, .* span of time, found .*timedelta64\(2,'M'\)"),
            (of(good, {**good, "duration": np.timedelta64(2)}), r"job 1: duration: expected text, .* found .*timedelta64\(2\)"),
            (of(good, {**good, "duration": np.ones(2)}), "job 1: duration: expected text, .* found ndarray"),
            (of(good, {**good, "tenant": "\ud800"}), "job 1: tenant: expected text that is UTF-8"),
            (lambda seed: 1 / 0, "ZeroDivisionError"),
            (lambda seed: 7, "TypeError: 'int' object is not iterable"),
            (lambda: [good], "TypeError"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words):
                berth.evaluate("fcfs", workload=workload, cluster=self.cluster, seeds=1000)
        with self.assertRaisesRegex(ValueError, "expected scenario or workload, found both"):
            berth.evaluate("fcfs", workload=bursts, scenario="some.h5")
        with self.assertRaisesRegex(TypeError, "workload: expected a function of a seed"):
            berth.Jobs([good])
