"""berth.train: the bits of `berth train`, its checkpoints and its errors, from Python."""

import contextlib
import csv
import io
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock
import warnings

import berth

BERTH = os.environ["BERTH"]
LIBRARY = os.environ["BERTH_LEARN_LIBRARY"]
# A quarter of a second's work, and one that goes on for a few, so that there is something to stop.
SHORT = dict(agent="ppo(n_steps=32,minibatch=64)", cluster="v100=2,p100=2,k80=2", workload="synthetic(rate=5,jobs=40)", visible=4,
             episode_jobs=20, warmup_jobs=5, envs=4, steps=3000, threads=1, members=1, validate=0, seed=3)
LONG = dict(SHORT, steps=150_000)


def arrays_of(path):
    """Every array of an HDF5 file by name, but seconds of training."""
    import h5py

    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tolist()}) if isinstance(item, h5py.Dataset) else None)
    found.pop("counters/figures", None)
    found["members/began"] = found.get("members/began", [])[:1]
    return found


@unittest.skipUnless(os.path.exists(LIBRARY), f"needs the learners, {LIBRARY}")
class Train(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def same(self, one, other):
        for file in ("checkpoint.h5", "policy.h5"):
            self.assertEqual(arrays_of(self.folder / one / file), arrays_of(self.folder / other / file), file)

    def test_python_and_the_command_line_train_the_same_to_the_bit(self):
        more = dict(SHORT, members=2, validate=2, validations=2, steps=6000, baselines="srpt")
        words = [word for key, value in more.items() for word in (f"--{key.replace('_', '-')}", str(value))]
        there = self.folder / "there"
        subprocess.run([BERTH, "train", *words, "--out", there, "--json", self.folder / "there.json"], check=True, capture_output=True)
        subprocess.run([BERTH, "export", there, "--out", there / "policy.h5"], check=True, capture_output=True)
        policy = berth.train(**more, out=self.folder / "here")
        self.same("here", "there")
        self.assertEqual((self.folder / "here/validation.csv").read_text(), (there / "validation.csv").read_text())
        said = json.loads((self.folder / "there.json").read_text())
        for key in ("steps", "validation", "interrupted"):  # means are of what was told about once a second
            self.assertEqual(policy.training[key], said[key], key)
        self.assertEqual({key: value for key, value in policy.training["config"].items() if key != "out"},
                         {key: value for key, value in said["config"].items() if key not in ("out", "dry-run")})
        self.assertEqual(arrays_of(self.folder / "here/best.h5"), arrays_of(there / "best.h5"))
        self.assertEqual(policy.path, self.folder / "here" / "policy.h5")
        # What it was trained on is on its card, and the same for who reads the file.
        card = berth.load_policy(there / "policy.h5").card
        self.assertEqual({key: value for key, value in card.items() if key not in ("commit", "config")},
                         {key: value for key, value in policy.card.items() if key not in ("commit", "config")})
        self.assertEqual((card["steps"], card["seed"], card["config"]["cluster"]), (policy.training["steps"], 3, more["cluster"]))

    def test_a_run_that_is_stopped_goes_on_as_if_it_had_not(self):
        whole = berth.train(**LONG, out=self.folder / "whole")
        heard = []

        def stop(now):
            heard.append(now)
            return True

        part = berth.train(**LONG, out=self.folder / "part", callback=stop)
        self.assertEqual(len(heard), 1)
        self.assertTrue(part.training["interrupted"])
        self.assertTrue(0 < part.card["steps"] == part.training["steps"] < whole.card["steps"])
        self.assertEqual((heard[0]["total_steps"], heard[0]["member"], heard[0]["members"]), (LONG["steps"], 1, 1))
        self.assertTrue(heard[0]["steps_per_s"] > 0 and math.isfinite(heard[0]["mean_jct_s"]) and "losses/policy_loss" in heard[0]["losses"])

        def fail(now):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            berth.train(out=self.folder / "part", resume=True, callback=fail)
        end = berth.train(out=self.folder / "part", resume=True)
        self.assertFalse(end.training["interrupted"])
        self.same("part", "whole")
        with open(self.folder / "part" / "progress.csv", encoding="utf-8") as file:  # nothing is told twice
            steps = [int(row["global_step"]) for row in csv.DictReader(file)]
        self.assertEqual(steps, sorted(set(steps)))
        again = berth.train(out=self.folder / "part", resume=True, callback=fail)  # nothing is left to do
        self.assertEqual(again.training["steps"], whole.training["steps"])
        self.same("part", "whole")

    def test_ctrl_c_saves_and_is_raised(self):
        # It is ignored where a shell has started this in the background.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        endless = dict(LONG, steps=100_000_000, seconds=100)
        with self.assertRaises(KeyboardInterrupt):
            berth.train(**endless, out=self.folder / "run", callback=lambda now: os.kill(os.getpid(), signal.SIGINT))
        stopped = berth.load_policy(self.folder / "run" / "policy.h5")
        self.assertGreater(stopped.card["steps"], 0)
        on = berth.train(out=self.folder / "run", resume=True, steps=stopped.card["steps"] + 1000)
        self.assertGreater(on.card["steps"], stopped.card["steps"])
        within = []

        def wait(now):  # Ctrl-C reaches a callback too
            within.append(now["steps"])
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                pass

        with self.assertRaises(KeyboardInterrupt):
            berth.train(**endless, out=self.folder / "other", callback=wait)
        self.assertEqual(len(within), 1)
        self.assertTrue((self.folder / "other" / "checkpoint.h5").exists())

    def test_two_threads_train_apart_and_others_run_meanwhile(self):
        for seed in (3, 4):
            berth.train(**dict(SHORT, seed=seed), out=self.folder / f"alone{seed}")
        threads = [threading.Thread(target=berth.train, kwargs=dict(SHORT, seed=seed, out=self.folder / f"beside{seed}"))
                   for seed in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed in (3, 4):
            self.same(f"alone{seed}", f"beside{seed}")
        counted = 0
        ended = threading.Event()

        def first(now):  # once the folder is taken
            ended.wait()
            return True

        thread = threading.Thread(target=berth.train, kwargs=dict(LONG, out=self.folder / "busy", callback=first))
        thread.start()
        while not (self.folder / "busy" / "config.ini").exists():
            counted += 1
        self.assertGreater(counted, 100)  # the GIL is free
        with self.assertRaisesRegex(berth.Error, "out: .*another training of this process writes|already holds a run"):
            berth.train(**LONG, out=self.folder / "busy")
        ended.set()
        thread.join()

    def test_a_policy_begins_another_training(self):
        first = berth.train(**SHORT, out=self.folder / "first")
        second = berth.train(cluster=SHORT["cluster"], workload=SHORT["workload"], steps=2000, envs=4, threads=1, validate=0,
                             agent=SHORT["agent"], from_policy=first, out=self.folder / "second")
        self.assertEqual((second.card["visible"], second.card["network"]), (4, first.card["network"]))

    def test_a_bar_shows_where_tqdm_is(self):
        shown = []

        class Bar:
            def __init__(self, total, initial, **_):
                self.total, self.n = total, initial

            def update(self, more):
                self.n += more

            def set_postfix_str(self, text):
                shown.append(text)

            def close(self):
                shown.append((self.n, self.total))

        heard = []
        fake = types.SimpleNamespace(tqdm=Bar)
        with unittest.mock.patch.dict(sys.modules, {"tqdm": types.SimpleNamespace(auto=fake), "tqdm.auto": fake}):
            policy = berth.train(**SHORT, out=self.folder / "bar", progress=True, callback=heard.append)
        self.assertEqual(shown[-1], (policy.training["steps"], SHORT["steps"]))
        self.assertRegex(shown[0], r"mean JCT \d+\.\d\d h")
        self.assertEqual(heard[-1]["steps"], policy.training["steps"])
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), \
                self.assertWarnsRegex(UserWarning, "pip install tqdm"):
            berth.train(**SHORT, out=self.folder / "none", progress=True)

    def test_the_page_runs(self):
        page = (pathlib.Path(__file__).parents[1] / "TRAINING.md").read_text(encoding="utf-8")
        top, here = pathlib.Path(__file__).parents[3], os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        less = {"200_000": "4_000", "300_000": "8_000", "data/policies": f"{top}/data/policies", "range(1000, 1010)": "[1000]",
                "range(1000, 1005)": "[1000]"}
        space, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for block in re.findall(r"```python\n(.*?)```", page.split("## Stable-Baselines3")[0], re.DOTALL):
                for words, fewer in less.items():
                    block = block.replace(words, fewer)
                exec(compile(block, "TRAINING.md", "exec"), space)
        self.assertEqual(list(berth.evaluate(space["Mine"](), seeds=1000, workload="synthetic(rate=1,jobs=20)",
                                             cluster="v100=4,p100=4,k80=4")["unfinished"]), [0])
        self.assertIn("steps, ", printed.getvalue())
        self.assertEqual(space["policy"].card["knowledge"], "oracle")

    def test_bad_input_is_said_as_the_command_line_says_it(self):
        berth.train(**SHORT, out=self.folder / "there")
        out = self.folder / "none"
        for keywords, words in [
            (dict(agent="pop", out=out), r"agent: unknown agent 'pop' \(did you mean 'ppo'\?\)"),
            (dict(agent="ppo(lrr=1)", out=out), r"agent: ppo: unknown parameter 'lrr' \(did you mean 'lr'\?\)"),
            (dict(network="mlq", out=out), r"network: unknown network 'mlq' \(did you mean 'mlp'\?\)"),
            ({}, "^out: expected a value"),
            (dict(out=self.folder / "there"), "out: .*there already holds a run; continue it with resume=True or choose another"),
            (dict(out=out, resume=True), "resume: expected .*checkpoint.h5, found no such file"),
            (dict(out=self.folder / "there", resume=True, from_policy="x.h5"), "from: expected without resume"),
            (dict(out=self.folder / "there", resume=True, seed=9), "the same seed|expected 3 as in the checkpoint, found 9"),
            (dict(out=out, sceanrio="x.h5"), r"train: unknown argument 'sceanrio' \(did you mean 'scenario'\?\)"),
            (dict(out=out, steps=0), "steps: expected a whole number from 1 to .*, found 0"),
            (dict(out=out, cluster="v100=x"), "cluster: v100: expected a whole number, found 'x'"),
            (dict(out=out, reward="jtc"), "reward: .*did you mean 'jct'"),
            (dict(out=out, device="gpu"), "device: expected auto, cpu or cuda, found 'gpu'"),
            (dict(out=out, dry_run=True), "unknown argument 'dry_run'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(ValueError, words) as caught:
                berth.train(**keywords)
            self.assertNotIn("\n", str(caught.exception))
        self.assertFalse(out.exists())
        with self.assertRaisesRegex(TypeError, "steps: expected a string, a number or a bool, found list"):
            berth.train(steps=[1], out=out)
        with unittest.mock.patch.dict(os.environ, WORLD_SIZE="2", RANK="0", MASTER_ADDR="localhost", MASTER_PORT="1"), \
                self.assertRaisesRegex(berth.Error, "train: expected one process, found 2"):
            berth.train(**SHORT, out=out)


class WithoutLearners(unittest.TestCase):
    def test_the_module_loads_no_libtorch_and_says_what_is_missing(self):
        program = ("import berth\n"
                   "berth.evaluate('fcfs', seeds=1000, workload='synthetic(rate=1,jobs=20)')\n"
                   "assert 'torch' not in open('/proc/self/maps').read()\n"
                   "try:\n    berth.train(out='/nowhere/run')\nexcept berth.Error as error:\n    print(error)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              env=os.environ | {"BERTH_LEARN_LIBRARY": "/nowhere/learn.so"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^expected the learners in /nowhere/learn.so, found no such file: .*BERTH_LEARN_LIBRARY\n$")
