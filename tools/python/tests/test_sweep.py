"""Grids and sizes: berth.sweep on any executor is `berth sweep`, berth.size is `berth size`."""

import collections
import concurrent.futures
import csv
import importlib.util
import io
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import types
import unittest
import unittest.mock

import numpy as np

import berth
from berth import results, studies
from berth._fingerprint import fingerprint
from travelling import Killer, Shortest

BERTH = os.environ["BERTH"]  # the command line's binary; tools/python/test says where it is
# Six cells, two schedulers, three seeds.
AXES = {"rate": [1, 2], "cluster": ["v100=2", "v100=3", "v100=2,k80=2"]}
GRID = dict(workload="queueing(rate={rate},jobs=60)", clock="event", seeds=range(3), window="10:50")
WORDS = ["--over", "rate=1,2", "--over", "cluster=v100=2|v100=3|v100=2,k80=2", "--workload", "queueing(rate={rate},jobs=60)", "--clock",
         "event", "--seeds", "0:3", "--window", "10:50", "--schedulers", "fcfs", "srpt"]
SPAWN = multiprocessing.get_context("spawn")  # no copies of a process that has threads


def processes(workers=2):
    return concurrent.futures.ProcessPoolExecutor(workers, mp_context=SPAWN)


def swept(**more):
    return berth.sweep(AXES, ["fcfs", "srpt"], **{**GRID, **more})


def same(one, other):
    return one.equals(other) and list(one["signature"]) == list(other["signature"])


class Sweep(unittest.TestCase):
    def test_the_table_is_the_command_lines_to_the_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BERTH, "sweep", *WORDS, "--out", folder], check=True, capture_output=True)
            lines = list(csv.DictReader(io.StringIO((pathlib.Path(folder) / "table.csv").read_text())))
            summary = list(csv.DictReader(io.StringIO((pathlib.Path(folder) / "summary.csv").read_text())))
        table = swept(threads=2)
        self.assertEqual((len(table), list(table.columns[:5])), (36, ["cell", "rate", "cluster", "scheduler", "seed"]))
        self.assertEqual(table["rate"].dtype.kind, "i")
        for line, (_, row) in zip(lines, table.iterrows(), strict=True):
            for key, text in line.items():
                if isinstance(row[key], float):
                    self.assertEqual(np.float64(text or "nan").tobytes(), np.float64(row[key]).tobytes(), key)
                else:
                    self.assertEqual(text, str(row[key]), key)
        ours = table.summary()
        self.assertEqual([float(line["mean_jct_s"]) for line in summary], list(ours["mean_jct_s"]))
        self.assertEqual([float(line["jct_ratio"]) for line in summary], list(ours["jct_ratio"]))
        self.assertEqual(len(table[table["cell"] < 2].summary()), 4)
        with self.assertRaisesRegex(berth.Error, "expected each seed of srpt once, found 2 again"):
            table.loc[[*range(36), 35]].summary()
        # Of text the same axes, and without pandas the same rows.
        text = berth.sweep("rate=1,2;cluster=v100=2|v100=3|v100=2,k80=2", "fcfs;srpt", **GRID)
        self.assertTrue(same(text, table))
        with unittest.mock.patch.object(studies, "has_pandas", lambda: False):
            rows = swept()
        self.assertEqual([row["signature"] for row in rows], list(table["signature"]))
        self.assertEqual([line["mean_jct_s"] for line in rows.summary()], list(ours["mean_jct_s"]))

    def test_schedulers_that_are_alike_in_a_cell_have_a_row_each_as_in_the_command_lines_summary(self):
        words = ["--over", "o=fcfs,srpt", "--schedulers", "srpt", "{o}", "fcfs", "--workload", "queueing(rate=2,jobs=60)", "--cluster",
                 "v100=4", "--clock", "event", "--seeds", "0:3"]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BERTH, "sweep", *words, "--out", folder], check=True, capture_output=True)
            lines = list(csv.DictReader(io.StringIO((pathlib.Path(folder) / "summary.csv").read_text())))
        table = berth.sweep({"o": ["fcfs", "srpt"]}, ["srpt", "{o}", "fcfs"], workload="queueing(rate=2,jobs=60)", cluster="v100=4",
                            clock="event", seeds=range(3))
        ours = table.summary()
        self.assertEqual(list(ours["scheduler"]), ["srpt", "fcfs", "fcfs", "srpt", "srpt", "fcfs"])
        for key in ("scheduler", "o"):
            self.assertEqual([line[key] for line in lines], list(ours[key]))
        for key in ("mean_jct_s", "mean_jct_low_s", "mean_jct_high_s", "jct_ratio", "jct_ratio_low", "jct_ratio_high"):
            self.assertEqual([float(line[key]) for line in lines], list(ours[key]), key)
        self.assertEqual(len(table[table["seed"] > 0].summary()), 6)
        other = table.copy()
        other.loc[12, "mean_jct_s"] += 1.0  # of the second srpt of the second cell: no run again
        for spoiled in (other, table.drop(index=12)):
            with self.assertRaisesRegex(berth.Error, "expected each seed of srpt once, found"):
                spoiled.summary()

    def test_pandas_own_methods_work_on_the_table_and_keep_its_axes(self):
        import matplotlib
        matplotlib.use("Agg")
        table = berth.sweep({"rate": [1, 2]}, "fcfs", workload="queueing(rate={rate},jobs=20)", cluster="v100=2", clock="event", seeds=0)
        for drawn in (table.plot(), table.plot(x="seed", y="mean_jct_s"), table.plot.scatter(x="seed", y="mean_jct_s")):
            drawn.figure.clear()
        hours = table[["mean_jct_s", "p50_jct_s"]].apply(lambda column: column / 3600)
        self.assertEqual(list(hours["mean_jct_s"]), [value / 3600 for value in table["mean_jct_s"]])
        same_values = table.map(lambda value: value)
        self.assertEqual(list(same_values.summary()["rate"]), [1, 2])
        self.assertEqual(type(table.map(str)), type(table))

    def test_processes_and_threads_give_the_same_cells_and_a_folder_goes_on(self):
        table, shown = swept(), []
        with tempfile.TemporaryDirectory() as folder:
            one, two = (os.path.join(folder, name) for name in ("one", "two"))
            swept(out=one)
            with processes() as executor:
                spread = swept(out=two, executor=executor, progress=lambda done, total: shown.append((done, total)))
                self.assertEqual(executor.submit(abs, -1).result(), 1)  # it is the caller's, and still there
            self.assertTrue(same(table, spread))
            self.assertEqual(shown, [(done, 6) for done in range(1, 7)])
            cells = [[(pathlib.Path(its) / "cells" / f"{cell}.csv").read_bytes() for cell in range(6)] for its in (one, two)]
            self.assertEqual(*cells)
            # What is there is not run again; what is missing is.
            (pathlib.Path(two) / "cells" / "3.csv").unlink()
            shown.clear()
            self.assertTrue(same(swept(out=two, progress=lambda *at: shown.append(at)), table))
            self.assertEqual(shown, [(1, 1)])
            with self.assertRaisesRegex(berth.Error, "out: .*holds another sweep: expected seeds=0:3, found seeds=0:2"):
                swept(out=two, seeds=range(2))
        with concurrent.futures.ThreadPoolExecutor(3) as executor:
            self.assertTrue(same(swept(executor=executor), table))

    def test_a_value_with_commas_is_not_several_values(self):
        one, two = ({"cluster": values} for values in (["v100=2,k80=2"], ["v100=2", "k80=2"]))
        of = GRID | dict(workload="queueing(rate=1,jobs=60)")
        with tempfile.TemporaryDirectory() as folder:
            berth.sweep(one, "fcfs", out=folder, **of)
            with self.assertRaisesRegex(berth.Error, "holds another sweep: expected over="):
                berth.sweep(two, "fcfs", out=folder, **of)
            self.assertEqual(len(berth.sweep(one, "fcfs", out=folder, **of)), 3)

    def test_a_folder_is_bound_to_what_a_scheduler_of_python_is(self):
        def written(orders, text):
            """Class Mine of a file, with `orders` as the key by which it sorts."""
            path = self.folder / f"{text}.py"
            path.write_text(textwrap.dedent(f"""
                import berth
                class Mine(berth.Scheduler):
                    knowledge = "oracle"
                    def decide(self, view, decision):
                        for job in sorted(view.waiting, key=lambda job: {orders})[:view.free_gpus[0]]:
                            decision.start(job, 0)
                """))
            spec = importlib.util.spec_from_file_location(text, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[text] = module
            self.addCleanup(sys.modules.pop, text)
            spec.loader.exec_module(module)
            return module.Mine

        def asked(scheduler):
            return berth.sweep({"cluster": ["v100=2"]}, [scheduler], out=out, **GRID | dict(workload="queueing(rate=1,jobs=60)"))

        with tempfile.TemporaryDirectory() as name:
            self.folder = pathlib.Path(name)
            first, same, other = written("view.arrival[job]", "one"), written("view.arrival[job]", "two"), written("-view.arrival[job]", "three")
            for wrapped in (lambda kind: kind, lambda kind: kind()):
                out = self.folder / f"out{wrapped(first)!r}"[:20]
                table = asked(wrapped(first))
                self.assertTrue(same_rows := table.equals(asked(wrapped(same))), same_rows)
                with self.assertRaisesRegex(berth.Error, "out: .* holds another sweep: expected the scheduler Mine as it was when the cells "
                                                         "were run, found that it has changed; give another folder"):
                    asked(wrapped(other))
                shutil.rmtree(out)
            # Attributes of an object, files that they name, and classes that were made by a program.
            out = self.folder / "attributes"
            model = self.folder / "model.bin"
            model.write_bytes(b"1")

            def made(most, **more):
                mine = type("Made", (berth.Scheduler,), {"decide": lambda self, view, decision: ([
                    decision.start(job, 0) for job in view.waiting[:min(self.most, view.free_gpus[0])]], None)[1], **more})()
                mine.most, mine.path = most, model
                return mine

            table = asked(made(2))
            self.assertTrue(table.equals(asked(made(2))))
            for changed in (made(1), made(2, knowledge="blind")):
                with self.assertRaisesRegex(berth.Error, "expected the scheduler Made as it was"):
                    asked(changed)
            model.write_bytes(b"2")
            with self.assertRaisesRegex(berth.Error, "expected the scheduler Made as it was"):
                asked(made(2))
            # A policy, by what is in memory.
            out = self.folder / "policy"
            shipped = pathlib.Path(__file__).parents[3] / "data/policies/cluster"
            policy = berth.load_policy(shipped / "hetero_oracle.h5")
            of = dict(seeds=range(1), out=out, workload="synthetic(rate=1,jobs=30)")
            berth.sweep({"cluster": ["v100=2,p100=2,k80=2"]}, [policy], **of)
            berth.sweep({"cluster": ["v100=2,p100=2,k80=2"]}, [policy], **of)
            another = berth.load_policy(shipped / "hetero_blind.h5")
            another.name = policy.name
            with self.assertRaisesRegex(berth.Error, "expected the scheduler .*hetero_oracle.h5 as it was"):
                berth.sweep({"cluster": ["v100=2,p100=2,k80=2"]}, [another], **of)
            held = [fingerprint(made(2, policy=its)) for its in (policy, another, berth.load_policy(policy.save(self.folder / "moved.h5")))]
            self.assertEqual((held[0] == held[1], held[0] == held[2]), (False, True))

    def test_schedulers_of_python_travel(self):
        table = berth.sweep(AXES, ["fcfs", Shortest()], **GRID)
        self.assertEqual(list(table["scheduler"].unique()), ["fcfs", "Shortest"])
        with processes() as executor:
            self.assertTrue(same(berth.sweep(AXES, ["fcfs", Shortest()], executor=executor, **GRID), table))

    def test_policies_travel_too(self):
        policy = berth.load_policy(pathlib.Path(__file__).parents[3] / "data/policies/cluster/hetero_oracle.h5")
        policy.name = "learned"
        of = dict(workload="synthetic(rate={rate},jobs=20)", cluster="v100=2,p100=2,k80=2", seeds=range(2))
        table = berth.sweep({"rate": [0.5, 1]}, ["fcfs", policy], **of)
        self.assertTrue(same(berth.sweep({"rate": [0.5, 1]}, ["fcfs", policy], executor=lambda: processes(1), **of), table))

    def test_what_cannot_travel_is_an_error_before_a_worker_sees_it(self):
        class Here(Shortest):
            """Of a function: no worker finds it."""

        made = []

        def make():
            made.append(processes(1))
            made[-1].submit = unittest.mock.Mock(side_effect=AssertionError("nothing is to be submitted"))
            return made[-1]

        for scheduler in (Here, Here()):
            with self.subTest(scheduler), self.assertRaisesRegex(berth.Error, "schedulers: expected what can be pickled .* found .*Here") as caught:
                berth.sweep(AXES, ["fcfs", scheduler], executor=make, **GRID)
            self.assertIsNotNone(caught.exception.__cause__)
        with self.assertRaisesRegex(berth.Error, "fcsf"):  # before there are cells
            berth.sweep(AXES, "fcsf", executor=make, **GRID)
        for executor in made:
            with self.assertRaisesRegex(RuntimeError, "after shutdown"):
                concurrent.futures.ProcessPoolExecutor.submit(executor, abs, -1)
        self.assertEqual(len(made), 3)

    def test_cells_of_a_worker_that_is_killed_are_done_again(self):
        larger = dict(workload="queueing(rate={rate},jobs=4000)")  # so that cells are under way then
        table = swept(**larger)
        for given in ("an executor", "a function"):
            made = []

            def kill(done, total):
                if done == 1:  # the first cell is in: a worker dies with the others under way
                    os.kill(next(iter(made[0]._processes)), signal.SIGKILL)

            def make():
                made.append(processes())
                return made[-1]

            with self.subTest(given):
                again = swept(executor=make() if given == "an executor" else make, progress=kill, **larger)
                self.assertTrue(same(again, table))
                with self.assertRaises(concurrent.futures.BrokenExecutor):  # it did die
                    made[0].submit(abs, -1)
                self.assertEqual(len(made), 1 if given == "an executor" else 2)

    def test_a_cell_that_kills_whoever_runs_it_ends_in_an_error(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(berth.Error, "executor: its workers are lost"):
            berth.sweep({"s": ["1"], "cluster": ["v100=2"]}, ["fcfs", Killer()], workload="queueing(rate=1,jobs={s}0)", clock="event",
                        seeds=range(1), executor=lambda: processes(1), out=folder)

    def test_bad_input_is_said_as_the_command_line_says_it(self):
        for over, keywords, error, words in [
            ({"rtae": [1]}, {}, ValueError, "workload: expected axes of the grid in braces .rtae., found {rate} .did you mean 'rtae'"),
            ({"rate": [1, "x"], "cluster": ["v100=2"]}, {}, ValueError, r"cell 1 \(rate=x, cluster=v100=2\): .*rate"),
            ({"rate": []}, {}, ValueError, "rate"),
            ({"rate": [1, 1]}, {}, ValueError, "rate"),
            ({"rate": [1], "cluster": ["v100=2\n"]}, {}, ValueError, "axis 'cluster': expected values on one line"),
            ({"rate": [object()]}, {}, TypeError, "over: rate: expected a string, a number or a bool"),
            ("rate", {}, ValueError, "over: "),
            (7, {}, TypeError, "over: expected a mapping"),
            ({1: [2]}, {}, TypeError, "over: expected names of axes, found 1"),
            (AXES, {"cluster": "v100=2"}, ValueError, "cluster: expected nothing, since an axis of this name sets it"),
            (AXES, {"executor": 4}, TypeError, "executor: expected a concurrent.futures.Executor or a function"),
            (AXES, {"executor": lambda: 4}, TypeError, "executor: expected a function that makes an executor"),
            (AXES, {"progress": 3}, TypeError, "progress: expected a function"),
            (AXES, {"sedes": 3}, ValueError, "did you mean 'seeds'"),
            (AXES, {"workload": lambda seed: []}, TypeError, "workload: expected a spec, found a function"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                berth.sweep(over, "fcfs", **{**GRID, **keywords})
        with processes(1) as executor, self.assertRaisesRegex(berth.Error, "unknown scheduler 'fcsf'"):
            berth.sweep(AXES, "fcsf", executor=executor, **GRID)


class Fingerprint(unittest.TestCase):
    """What binds a folder to a scheduler."""

    def of(self, **attributes):
        mine = Shortest()
        vars(mine).update(attributes)
        return fingerprint(mine)

    def test_files_that_text_and_paths_name_count_by_what_they_hold_at_any_depth(self):
        with tempfile.TemporaryDirectory() as folder:
            file, other = pathlib.Path(folder) / "model.bin", pathlib.Path(folder) / "other.bin"
            name = str(file)
            held = {
                "a path": file, "text": name, "a list": [1, [name]], "a tuple of paths": (file,), "a dict": {"files": {"model": name}},
                "a set": {name}, "an object": types.SimpleNamespace(model=name), "beside a lock": [threading.Lock(), name],
                "a closure": lambda: name, "a list of functions": [lambda: file],
            }
            held["itself"] = ring = [name]
            ring.append(ring)
            file.write_bytes(b"1")
            other.write_bytes(b"1")
            before = {what: self.of(model=value) for what, value in held.items()}
            self.assertEqual(before, {what: self.of(model=value) for what, value in held.items()})
            self.assertEqual(before["a path"], self.of(model=other))  # where it lies does not matter
            file.write_bytes(b"2")
            for what, value in held.items():
                with self.subTest(what):
                    self.assertNotEqual(self.of(model=value), before[what])
            # Of a class itself, given as it is.
            mine = type("Mine", (Shortest,), {"model": name})
            of_two = fingerprint(mine)
            file.write_bytes(b"3")
            self.assertNotEqual(fingerprint(mine), of_two)
        self.assertNotEqual(self.of(rule="a"), self.of(rule="b"))
        self.assertEqual(self.of(rule="a" * 5000 + "\0\ud800"), self.of(rule="a" * 5000 + "\0\ud800"))  # the name of no file

    def test_files_that_a_class_names_count_wherever_it_does(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "model.bin"
            name = str(file)

            class Listed(Shortest):
                models = {"files": [name]}

            class Default(Shortest):
                def decide(self, view, decision, model=name):
                    open(model).close()

            class Keyword(Shortest):
                def __init__(self, *, model=file):
                    self.open = lambda: open(model)

            class Around(Shortest):
                def decide(self, view, decision):
                    super().decide(view, decision)
                    open(name).close()

            class Static(Shortest):
                @staticmethod
                def model(path=name):
                    return open(path)

            class Made(Shortest):
                @property
                def model(self, path=[name]):
                    return open(path[0])

            class Slots(Shortest):
                __slots__ = ("model", "other")

                def __init__(self):
                    self.model = name

            typed = type("Typed", (Shortest,), {"model": property(lambda self, path=name: open(path)), "other": staticmethod(lambda: name)})
            asked = [Listed, Default, Keyword, Around, Static, Made, typed, Listed(), Default(), Slots()]
            file.write_bytes(b"1")
            before = [fingerprint(mine) for mine in asked]
            self.assertEqual(before, [fingerprint(mine) for mine in asked])
            file.write_bytes(b"2")
            for mine, was in zip(asked, before):
                with self.subTest(mine):
                    self.assertNotEqual(fingerprint(mine), was)
            slots = Slots()
            slots.other = 1
            self.assertNotEqual(fingerprint(slots), fingerprint(Slots()))
        # Of one without a text its functions' code counts, wherever it stands.
        for held in (lambda rule: rule, property, staticmethod, classmethod):
            first, again, other = (fingerprint(type("Typed", (Shortest,), {"a": 1, "rule": held(rule)}))
                                   for rule in (lambda its: its + 1, lambda its: its + 1, lambda its: its + 2))
            self.assertEqual(first, again)
            self.assertNotEqual(first, other)
        # What cannot be pickled is known by its kind; a name around a function may have no value yet.
        class Locked(Shortest):
            lock = threading.Lock()

            def decide(self, view, decision):
                return later

        self.assertEqual(fingerprint(Locked), fingerprint(Locked))
        later = 1
        self.assertEqual(fingerprint(type("Locked", (Shortest,), {"lock": threading.Lock()})),
                         fingerprint(type("Locked", (Shortest,), {"lock": threading.Lock()})))

    def test_a_class_that_collects_while_it_runs_is_the_same(self):
        log, seen = [], {}

        class Collects(Shortest):
            decisions, counts, names = [], collections.Counter(), set()

            def decide(self, view, decision, cache={}):
                self.decisions.append(view.now)
                self.counts["decisions"] += 1
                self.names.add(f"at {view.now}")
                cache[view.now] = seen[len(seen)] = log.append(str(view.now))
                super().decide(view, decision)

        def interrupt(done, of):
            raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(KeyboardInterrupt):
                berth.sweep(AXES, Collects, out=folder, progress=interrupt, **GRID)
            self.assertTrue(log and Collects.decisions and Collects.counts and Collects.names)
            self.assertTrue(same(berth.sweep(AXES, Collects, out=folder, **GRID), berth.sweep(AXES, Collects, **GRID)))
            # Files are looked at anew, and what is assigned counts.
            file = pathlib.Path(folder) / "model.bin"
            file.write_bytes(b"1")
            Collects.files = {"model": str(file)}
            first = fingerprint(Collects)
            file.write_bytes(b"2")
            second = fingerprint(Collects)
            Collects.decisions = [1]
            self.assertEqual(len({first, second, fingerprint(Collects)}), 3)

    def test_it_is_the_same_in_every_process(self):
        # Strings' hashes, by which sets are ordered, differ from process to process.
        program = textwrap.dedent("""
            from berth._fingerprint import fingerprint
            from travelling import Shortest

            names = {"v100", "k80", "p100", "a100"}
            mine = Shortest()
            mine.options = {"types": names, "pairs": [frozenset(names), {(name, frozenset(names)) for name in names}]}
            mine.rule = lambda job: job in {"v100", "k80", "p100", "a100"}

            class Mine(Shortest):
                types, made = names, property(lambda self, of=names: of)

                def decide(self, view, decision, *, types=frozenset(names)):
                    super().decide(view, decision)

            print(*names, fingerprint(mine) + fingerprint(Mine))
        """)
        said = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ | {
            "PYTHONHASHSEED": str(seed), "PYTHONPATH": f"{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"}).stdout.split()
            for seed in range(1, 5)]
        self.assertGreater(len({tuple(words[:-1]) for words in said}), 1)
        self.assertEqual(len({words[-1] for words in said}), 1)


class OtherExecutors(unittest.TestCase):
    """Of other libraries, with two workers each: skipped where they are not installed."""

    def needs(self, module):
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"{module} is not installed")

    def test_dask(self):
        self.needs("distributed")
        import distributed

        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
                distributed.Client(cluster) as client:
            self.assertTrue(same(swept(executor=client.get_executor()), swept()))

    def test_ray(self):
        self.needs("ray")
        import ray

        from berth.executors import RayExecutor

        os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token into the user's home
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            self.assertTrue(same(swept(executor=RayExecutor()), swept()))
        finally:
            ray.shutdown()

    def test_mpi(self):
        self.needs("mpi4py")
        if (mpiexec := shutil.which("mpiexec")) is None:
            self.skipTest("mpiexec is not installed")
        program = textwrap.dedent("""
            from mpi4py.futures import MPIPoolExecutor
            import test_sweep

            if __name__ == "__main__":
                with MPIPoolExecutor() as executor:
                    assert executor.num_workers == 2
                    print("same:", test_sweep.same(test_sweep.swept(executor=executor), test_sweep.swept()))
        """)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(program)
            env = os.environ | {"PYTHONPATH": f"{pathlib.Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"}
            said = subprocess.run([mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(path)], env=env, capture_output=True,
                                  text=True, timeout=300)
        self.assertIn("same: True", said.stdout, said.stderr)

    def test_tqdm(self):
        self.needs("tqdm")
        import contextlib

        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            swept(progress=True)
        self.assertIn("6/6", said.getvalue())


class Size(unittest.TestCase):
    def test_it_is_the_command_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "size.json")
            subprocess.run([BERTH, "size", "--types", "v100=1..8", "--meet", "mean_wait_h<=0.3;p99_wait_h<=4", "--workload",
                            "queueing(rate=2,jobs=300)", "--clock", "event", "--schedulers", "fcfs", "srpt", "--seeds", "0:3", "--window",
                            "50:300", "--json", path], check=True, capture_output=True)
            said = json.loads(pathlib.Path(path).read_text())
        size = berth.size("v100=1..8", "mean_wait_h<=0.3;p99_wait_h<=4", ["fcfs", "srpt"], workload="queueing(rate=2,jobs=300)",
                          clock="event", seeds=range(3), window="50:300")
        self.assertEqual((size.best, size.runner_up, size.mixes, size.monotone, size.seeds),
                         (said["best"], said["runner_up"], said["mixes"], said["monotone"], 3))
        rows = [(mix["cluster"], row["scheduler"], row["meets"], *(figure[end] for figure in row["figures"] for end in ("mean", "low", "high")))
                for mix in said["tried"] for row in mix["schedulers"]]
        columns = ["cluster", "scheduler", "meets", *(f"{key}{end}" for key in ("mean_wait_s", "p99_wait_s") for end in ("", "_low", "_high"))]
        self.assertEqual(rows, list(size.tried[columns].itertuples(index=False, name=None)))
        self.assertIsNotNone(size.best)

    def test_schedulers_of_python_and_what_cannot_run(self):
        keywords = dict(workload="queueing(rate=2,jobs=200)", clock="event", seeds=range(2), window="20:200")
        fcfs = berth.size("v100=1..6", "mean_wait_h<=0.5", "fcfs", **keywords)
        mine = berth.size("v100=1..6", "mean_wait_h<=0.5", Shortest(), **keywords)
        self.assertEqual(list(mine.tried["scheduler"].unique()), ["Shortest"])
        self.assertLessEqual(int(mine.best.removeprefix("v100=")), int(fcfs.best.removeprefix("v100=")))
        none = berth.size("v100=1..2", "mean_wait_h<=0.0001", "fcfs", **keywords)
        self.assertEqual((none.best, none.runner_up), (None, None))
        # Gangs of 2 on a single GPU.
        small = berth.size("v100=1..4", "mean_jct_h<=10000", "fcfs", workload="synthetic(rate=0.1,jobs=20,gangs=1:0.5/2:0.5)", seeds=range(2))
        if "v100=1" in small.refused:
            self.assertIn("GPU", small.refused["v100=1"])

        class Fails(berth.Scheduler):
            def decide(self, view, decision):
                raise ValueError("not today")

        with self.assertRaisesRegex(berth.Error, "scheduler 'Fails' fails at .*ValueError: not today"):
            berth.size("v100=1..4", "mean_wait_h<=0.5", Fails, **keywords)

    def test_bad_input_is_said_as_the_command_line_says_it(self):
        for types, meet, keywords, words in [
            ("v10=1..4", "jct<=1", {}, "unknown GPU type 'v10' .did you mean 'v100'"),
            ("v100=1..4", "jt<=1", {}, "meet: .*did you mean"),
            ("", "jct<=1", {}, "types: expected a value"),
            ("v100=1..4", "", {}, "meet: expected a value"),
            ("v100=1..4", "jct<=1", {"cluster": "v100=3"}, "cluster: expected nothing, since types says which clusters"),
            ("v100=1..4", "jct<=1", {"scenario": "s.h5"}, "scenario: expected a trace with format, or workload"),
            ("v100=8..9", "deadline_misses<=1%", {"workload": "queueing(jobs=5)"}, "meet: deadline_misses<=1%: expected a figure"),
            ("v100=1..4", "jct<=1", {"sead": 3}, "did you mean 'seeds'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words):
                berth.size(types, meet, "fcfs", **keywords)
        self.assertTrue(results.has_pandas())
