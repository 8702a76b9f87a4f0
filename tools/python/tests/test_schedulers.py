"""Schedulers written in Python, and evaluations of them beside Berth's own."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import numpy as np

import berth
from berth import results

SMALL = dict(workload="synthetic(rate=1,jobs=80,gangs=1:0.6/2:0.4)", cluster="v100=4,p100=4,k80=4")
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
BERTH = os.environ["BERTH"]  # the command line's binary; tools/python/test says where it is


class First(berth.Scheduler):
    """Berth's fcfs, line by line: who came first, on the fastest type with room; nobody overtakes."""

    def decide(self, view, decision):
        free = view.free_gpus.copy()
        for job in view.waiting:
            types_ = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
            if not types_.size:
                break
            best = types_[np.argmax(view.rates[job, types_])]
            decision.start(job, best)
            free[best] -= view.gang[job]


def with_decide(decide, knowledge="none"):
    """The scheduler whose decide is `decide`."""
    return type("Mine", (berth.Scheduler,), {"decide": lambda self, view, decision: decide(view, decision), "knowledge": knowledge})


def named(name):
    """First, by that name."""
    return type(name, (First,), {})


def command_line(*words):
    """The JSON of `berth evaluate`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        subprocess.run([BERTH, "evaluate", *words, "--json", path], check=True, capture_output=True)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


class Evaluate(unittest.TestCase):
    def test_the_command_line_and_python_give_the_same_numbers_to_the_bit(self):
        more = dict(SMALL, features="failures(mtbf_h=100)", knowledge="blind", window="10:70", max_time=3e6)
        words = [word for key, value in more.items() for word in (f"--{key.replace('_', '-')}", str(value))]
        said = command_line("--schedulers", "las;fcfs;gavel", "--seeds", "1000:1004", *words)["schedulers"]
        table = berth.evaluate(["las", "fcfs", "gavel"], seeds=range(1000, 1004), **more)
        timed = {"wall_s", "decision_us_mean", "decision_us_p99"}
        for row, ours in zip(said, json.loads(results._berth.summarize(table.to_dict("records"))), strict=True):
            self.assertEqual({key: value for key, value in row.items() if key not in timed},
                             {key: value for key, value in ours.items() if key not in timed})
        runs = [(row["scheduler"], run["seed"], run["mean_jct_s"], run["signature"]) for row in said for run in row["workloads"]]
        self.assertEqual(runs, list(table[["scheduler", "seed", "mean_jct_s", "signature"]].itertuples(index=False, name=None)))
        summary = table.summary()
        for row in said:
            self.assertEqual([row["mean_jct_s"], *row["mean_jct_ci95_s"], *row["jct_ratio"].values()],
                             list(summary.loc[row["scheduler"], ["mean_jct_s", "mean_jct_low_s", "mean_jct_high_s", "jct_ratio",
                                                                 "jct_ratio_low", "jct_ratio_high"]]))

    def test_fcfs_in_python_is_fcfs_under_every_clock_on_any_number_of_threads(self):
        for clock in ["event", "hpc", "rounds(360)", "reference_rounds"]:
            for threads in [1, 3]:
                with self.subTest(clock, threads=threads):
                    table = berth.evaluate(["fcfs", First()], seeds=range(1000, 1004), clock=clock, threads=threads, **SMALL)
                    logs = table.pivot(index="seed", columns="scheduler", values="signature")
                    self.assertEqual(list(logs["fcfs"]), list(logs["First"]))

    def test_a_table_filtered_or_plotted_or_without_pandas(self):
        table = berth.evaluate(["fcfs", First], seeds="1000:1003", **SMALL)
        self.assertEqual(table.shape[0], 6)
        some = table[table["seed"] < 1002]
        self.assertEqual(list(some.summary()["jct_ratio"]), [1.0, 1.0])
        with self.assertRaisesRegex(berth.Error, "the seeds of fcfs of every scheduler"):
            table.iloc[:-1].summary()
        import matplotlib

        matplotlib.use("Agg")
        self.assertEqual(table.plot("p99_jct_s").get_xlabel(), "p99_jct (h)")
        rates = berth.evaluate("fcfs", seeds="1000:1003", features="services(rate_per_s=0.05)", **SMALL)
        drawn = rates.plot("service_goodput_per_s")  # a rate is no time
        self.assertEqual(drawn.get_xlabel(), "service_goodput_per_s")
        self.assertEqual(list(drawn.lines[0].get_xdata()), list(rates["service_goodput_per_s"]))
        with unittest.mock.patch.object(results, "has_pandas", lambda: False):
            rows = berth.evaluate(["fcfs", First], seeds="1000:1003", **SMALL)
        self.assertEqual([row["signature"] for row in rows], list(table["signature"]))
        self.assertEqual([row["mean_jct_s"] for row in rows.summary()], list(table.summary()["mean_jct_s"]))
        with self.assertRaisesRegex(ImportError, "pip install pandas matplotlib"):
            rows.plot()
        one = berth.evaluate(["fcfs", "srpt"], seeds=1000, **SMALL).summary()
        self.assertEqual(one["jct_ratio"].iloc[1], one["mean_jct_s"].iloc[1] / one["mean_jct_s"].iloc[0])

    def test_a_summary_says_what_its_rows_have_and_no_more(self):
        table = berth.evaluate(["fcfs", "srpt"], seeds="1000:1003", **SMALL)
        whole = table.summary()
        for left_out, gone in [("p99_jct_s", {"p99_jct_s"}), ("knowledge", {"knowledge"}), ("unfinished", {"unfinished"}),
                               ("backlog_growth", {"backlog_growth", "unstable"}), ("decisions", {"decisions", "decision_us_mean"}),
                               ("signature", {"signature"})]:
            some = table.drop(columns=left_out).summary()
            with self.subTest(left_out):
                self.assertEqual(set(whole.columns) - set(some.columns), gone)
                self.assertTrue(some.equals(whole[some.columns]))
        needed = ["scheduler", "seed", "jobs", "mean_jct_s"]
        self.assertEqual(list(table[needed].summary().columns), ["jobs", "mean_jct_s", "mean_jct_low_s", "mean_jct_high_s", "jct_ratio",
                                                                 "jct_ratio_low", "jct_ratio_high"])
        rows = table.to_dict("records")
        del rows[1]["utilization"]  # of one row alone
        self.assertNotIn("utilization", results.Rows(rows).summary()[0])
        for name in needed:
            with self.subTest(name), self.assertRaisesRegex(KeyError, f"expected the columns of berth.evaluate, found none '{name}'"):
                table.drop(columns=name).summary()

    def test_who_completes_nothing_has_numbers_that_are_none(self):
        class Idle(berth.Scheduler):
            def decide(self, view, decision):
                pass

        bounds = ["mean_jct_low_s", "mean_jct_high_s", "jct_ratio", "jct_ratio_low", "jct_ratio_high"]
        for seeds in ("1000:1002", 1000):
            summary = berth.evaluate([Idle, "fcfs"], seeds=seeds, max_time=1e5, **SMALL).summary()  # while jobs still come
            self.assertEqual([kind.kind for kind in summary[["mean_jct_s", *bounds]].dtypes], ["f"] * 6)
            self.assertTrue(summary.loc["Idle", bounds].isna().all())
            self.assertTrue(summary["jct_ratio"].isna().all())
            self.assertEqual(summary.loc["fcfs", bounds[:2]].isna().tolist(), [seeds == 1000] * 2)

    def test_a_seed_counts_once(self):
        table = berth.evaluate(["fcfs", "srpt"], seeds="1000:1003", **SMALL)
        rows = table.to_dict("records")
        for twice in (table.loc[[0, 1, 2, 3, 4, 5, 5]], results.Rows(rows + rows[5:])):
            with self.assertRaisesRegex(berth.Error, "expected each seed of srpt once, found 1002 again"):
                twice.summary()
        with self.assertRaisesRegex(berth.Error, "plot: expected each seed of srpt once, found 1002 again"):
            table.loc[[0, 1, 2, 3, 4, 5, 5]].plot()
        with self.assertRaisesRegex(berth.Error, "expected each seed of fcfs once, found 1000 again"):
            results.Rows(rows + rows).summary()

    def test_a_text_may_hold_several_specs(self):
        texts = ["fcfs;adaptive(arms=fcfs|srpt)", named("srpt")]
        table = berth.evaluate(texts, seeds=1000, **SMALL)
        self.assertEqual(list(table["scheduler"]), ["fcfs", "adaptive(arms=fcfs|srpt)", "srpt"])
        self.assertEqual(table["signature"][0], table["signature"][2])  # srpt is First, not Berth's
        for ask in (berth.simulate, berth.check_scheduler):
            with self.assertRaisesRegex(ValueError, "scheduler: expected one, found 2"):
                ask("fcfs;srpt")

    def test_a_figure_beyond_what_is_measured_is_infinite_in_a_summary_too(self):
        # A replica answers a request each 5 s and two come a second, for hours.
        of = dict(workload="queueing(rate=100,jobs=5)", cluster="v100=3", clock="event", seeds=range(2))
        services = "services(rate_per_s={},base_s=5,max_batch=1,replicas=1)"
        table = berth.evaluate("fcfs", features=services.format(2), **of)
        self.assertEqual(list(table["service_p99_s"]), [np.inf, np.inf])
        summary = table.summary()
        self.assertEqual((summary["service_p99_s"].dtype.kind, list(summary["service_p99_s"])), ("f", [np.inf]))
        self.assertEqual((list(summary["knowledge"]), summary["signature"].map(type).tolist()), (["none"], [str]))
        cells = berth.sweep({"rate": [0.01, 2]}, "fcfs", features=services.format("{rate}"), **of).summary()["service_p99_s"]
        self.assertEqual((cells.dtype.kind, list(np.isinf(cells))), ("f", [False, True]))

    def test_bad_input_is_said_as_the_command_line_says_it(self):
        for schedulers, keywords, words in [
            ("fcsf", {}, r"schedulers: unknown scheduler 'fcsf' \(did you mean 'fcfs'\?\)"),
            ("fcfs", {"cluster": "v100=x"}, "cluster: v100: expected a whole number, found 'x'"),
            ("fcfs", {"sceanrio": "x.h5"}, "'sceanrio'.*did you mean 'scenario'"),
            ("fcfs", {"scenario": "none.h5"}, "none.h5"),
            ("fcfs", {"seeds": range(0, 10, 2)}, "seeds: expected a range of step 1"),
            (["fcfs", First, First()], {}, "names that differ, found 'First' twice; set the attribute `name`"),
            (["fcfs; srpt ", named("srpt")], {}, "names that differ, found 'srpt' twice; set the attribute `name`"),
            ([named("adaptive"), "adaptive(arms=fcfs;srpt);adaptive"], {}, "names that differ, found 'adaptive' twice"),
            (["fcfs", "srpt", "fcfs"], {}, "names that differ, found 'fcfs' twice$"),
            ("fcfs;srpt;fcfs", {}, "names that differ, found 'fcfs' twice$"),
            ([named("all")], {}, "name: expected another than 'all'"),
            (" ; ", {}, "expected specs, found none"),
            (with_decide(print, "orakel"), {}, "'orakel'.*did you mean 'oracle'"),
            (with_decide(print, "oracle"), {"knowledge": "blind"}, "scheduler 'Mine' needs knowledge 'oracle', the scenario grants"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                berth.evaluate(schedulers, **keywords)
        with self.assertRaisesRegex(TypeError, "expected specs, berth.Scheduler or classes of it, found 7"):
            berth.evaluate([7])

    def test_a_class_that_cannot_be_made_keeps_its_cause(self):
        class Unmade(First):
            def __init__(self):
                raise KeyError("oh")

        of = dict(workload="queueing(jobs=5)")
        for ask in (lambda: berth.evaluate(["fcfs", Unmade], seeds=1000, **of), lambda: berth.simulate(Unmade, **of),
                    lambda: berth.check_scheduler(Unmade), lambda: berth.size("v100=1..2", "mean_jct_h<=3", [Unmade], **of),
                    lambda: berth.sweep({"rate": [1]}, [Unmade], workload="synthetic(rate={rate})", seeds=range(1))):
            with self.assertRaisesRegex(berth.Error, r"scheduler 'Unmade': KeyError: 'oh' \(.*test_schedulers\.py:\d+, in __init__\)") as caught:
                ask()
            self.assertIsInstance(caught.exception.__cause__, KeyError)
            self.assertIsNotNone(caught.exception.__cause__.__traceback__)

    def test_ctrl_c_ends_it_even_within_decide_or_a_generator_of_jobs(self):
        program = textwrap.dedent("""
            import signal
            import berth
            class Endless(berth.Scheduler):
                def decide(self, view, decision):
                    print("within", flush=True)
                    while True: pass
            def endless(seed):
                print("within", flush=True)
                while True: yield {"arrival_s": 0, "duration_s": 60, "gpus": 1, "tenant": "a" * 100}
            signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as a shell's background jobs do
            try:
                print("begun", flush=True)
                berth.CALL
            except KeyboardInterrupt:
                print("interrupted")
            """)
        for call, last in [('evaluate([Endless], threads=2, workload="synthetic(rate=1,jobs=100000)")', "within"),
                           ('evaluate("srpt", threads=2, workload="synthetic(rate=1,jobs=100000)")', "begun"),
                           ('evaluate("srpt", threads=2, workload=endless)', "within"), ('simulate("srpt", workload=endless)', "within")]:
            child = subprocess.Popen([sys.executable, "-c", program.replace("CALL", call)], stdout=subprocess.PIPE, text=True)
            with self.subTest(call), child:
                try:
                    while last not in child.stdout.readline():
                        self.assertIsNone(child.poll())
                    time.sleep(0.2)
                    child.send_signal(signal.SIGINT)
                    self.assertIn("interrupted\n", child.communicate(timeout=120)[0])
                finally:
                    child.kill()


class Deciding(unittest.TestCase):
    def run_with(self, decide, knowledge="none", **keywords):
        return berth.evaluate(with_decide(decide, knowledge), seeds=1000, **(SMALL | keywords))

    def test_views_show_who_has_arrived_and_no_more(self):
        seen = []

        def decide(view, decision):
            First.decide(None, view, decision)
            n = view.n
            self.assertEqual((view.arrival.shape, view.rates.shape, view.remaining.shape), ((n,), (n, 3), (n,)))
            self.assertTrue(n == view.num_jobs or view.arrival[-1] <= view.now)
            self.assertEqual(view.types, ("v100", "p100", "k80"))
            self.assertEqual(list(view.active), sorted([*view.waiting, *view.running]))
            self.assertEqual([len(view.devices(job)) for job in view.running], list(view.width[view.running]))
            self.assertTrue((view.type_of[view.waiting] == -1).all() and (view.type_of[view.running] >= 0).all())
            held = np.bincount(view.type_of[view.running], view.width[view.running], 3)
            self.assertEqual(list(view.free_gpus), list(view.gpus - held))
            self.assertEqual(int(view.device_free.sum()), int(view.free_gpus.sum()))
            gone = np.setdiff1d(np.arange(n), view.active)
            self.assertTrue((view.remaining[view.active] > 0).all() and not view.remaining[gone].any())
            seen.append(n)

        self.run_with(decide, "oracle", clock="event")
        self.assertEqual(seen[-1], 80)
        self.assertLess(seen[0], 5)

    def test_who_waits_for_others_is_shown_once_these_are_done(self):
        seen = {}

        def decide(view, decision):
            seen[view.now] = view.n, list(view.arrived), len(view.gang)
            for job in view.waiting[:view.free_gpus[0]]:
                decision.start(job, 0)

        jobs = {"arrival": [0, 10, 20, 5000, 5010], "duration": [3600] * 5, "gpus": [1] * 5}
        with tempfile.TemporaryDirectory() as folder:
            scenario = berth.Scenario.from_frame(jobs, os.path.join(folder, "s.h5"), cluster="v100=2",
                                                 features="stages(after=1>0:2>1:4>3)", clock="event")
            berth.simulate(with_decide(decide), scenario=scenario)
        self.assertEqual({at: seen[at] for at in (0, 3600, 5000)}, {0: (1, [0], 1), 3600: (2, [1], 2), 5000: (4, [3], 4)})
        self.assertIn("that wait for others (stages) do not count yet", berth.View.n.__doc__)
        self.assertIn("who waits for others (stages) once these are done", berth.View.arrived.__doc__)

    def test_arrays_are_read_only_and_stay_as_they_were_and_views_do_not_outlive_decide(self):
        kept = []

        def decide(view, decision):
            First.decide(None, view, decision)
            names = ["waiting", "free_gpus", "remaining", "width", "attained_s", "arrival", "rates"]
            kept.append((view, decision, [(getattr(view, name), getattr(view, name).copy()) for name in names]))
            for name in names:
                with self.assertRaises(ValueError):
                    getattr(view, name)[...] = 0

        self.run_with(decide, "oracle")
        self.assertGreater(len(kept), 50)
        for view, decision, arrays in kept:
            for array, copied in arrays:
                self.assertTrue((array == copied).all())
            with self.assertRaisesRegex(RuntimeError, "the view within decide or reset alone"):
                view.now
            with self.assertRaisesRegex(RuntimeError, "orders within decide alone"):
                decision.start(0, 0)
        bases = {id(arrays[5][0].base) for _, _, arrays in kept}
        self.assertEqual(len(bases), 1)  # arrival: one memory for the whole run

    def test_what_changes_is_written_over_where_nobody_kept_it(self):
        addresses = set()

        def decide(view, decision):
            First.decide(None, view, decision)
            addresses.add(view.remaining.__array_interface__["data"][0])

        self.run_with(decide, "oracle")
        self.assertEqual(len(addresses), 1)

    def test_more_knowledge_than_declared_is_an_error(self):
        for name, knowledge in [("remaining", "blind"), ("attained_s", "none")]:
            with self.subTest(name), self.assertRaisesRegex(berth.Error, rf"view\.{name}: expected a scheduler with knowledge"):
                self.run_with(lambda view, decision: getattr(view, name), knowledge)

    def test_exceptions_name_scheduler_time_and_line_and_keep_their_cause(self):
        def decide(view, decision):
            if view.now > 1000:
                {}["missing"]
            First.decide(None, view, decision)

        with self.assertRaisesRegex(berth.Error, r"scheduler 'Mine' fails at \d+(\.\d+)? s: KeyError: 'missing' \(.*test_schedulers"
                                                 r"\.py:\d+, in decide\)") as caught:
            self.run_with(decide)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        self.assertIsNotNone(caught.exception.__cause__.__traceback__)

    def test_text_that_is_no_utf_8_is_escaped(self):
        def raises(*_):
            raise ValueError("b\udcffd")

        for ask, words in [
            (lambda: self.run_with(raises), r"scheduler 'Mine' fails at .*: ValueError: b\\udcffd \("),
            (lambda: berth.evaluate("fcfs", seeds=1, workload=raises), r"workload 'raises' fails with seed 1: ValueError: b\\udcffd \("),
            (lambda: self.run_with(lambda view, decision: decision.start(0, "\udcff")), r"job 0: type: expected a GPU type.* found '\\udcff'"),
            (lambda: self.run_with(print, "\udcff"), r"'\\udcff'"),
            (lambda: berth.load_policy("\udcff.h5"), "path: expected text that is UTF-8"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                ask()

    def test_orders_that_cannot_be_are_errors_that_name_the_job(self):
        def first(view):
            return view.waiting[0]

        for order, words in [
            (lambda view, decision: decision.start(first(view), "v10"), r"job 0: type: expected a GPU type.*did you mean 'v100'"),
            (lambda view, decision: decision.start(first(view), 3), "job 0: type: expected a GPU type, 0 to 2"),
            (lambda view, decision: decision.start(10**30, 0), "job: expected an index of view.active, found 1000"),
            (lambda view, decision: decision.start(-1, 0), "job: expected an index of view.active, found -1"),
            (lambda view, decision: decision.start(79, 0), "decides illegally at .* s: job 79"),
            (lambda view, decision: decision.stop(first(view)), "decides illegally at .* s: job 0"),
            (lambda view, decision: decision.start(first(view), 0, devices=[99]), "job 0: devices: expected numbers from 0 to 11"),
            (lambda view, decision: decision.wake_at(view.now), "wake_at: expected a time after now"),
            (lambda view, decision: view.devices(79), "job: expected one that has arrived"),
            (lambda view, decision: [first(view)], "decide: expected orders by decision.start"),
            (lambda view, decision: None, "scheduler 'Mine' stalls"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words):
                self.run_with(order)

    def test_every_order_does_what_it_says(self):
        did = []

        def decide(view, decision):
            if not did:
                decision.start(0, view.types[0], devices=[2])
                did.append("start")
                decision.wake_at(view.now + 7)
            elif did == ["start"] and view.now - view.run_start[0] == 7:
                self.assertEqual((view.devices(0), view.type_of[0]), ([2], 0))
                decision.move(0, 1)
                decision.wake_at(view.now + 1)
                did.append("move")
            elif did == ["start", "move"] and view.last_type[0] == 1:
                self.assertEqual((view.type_of[0], view.running[0]), (1, 0))
                decision.stop(0)
                decision.wake_at(view.now + 1)
                did.append("stop")
            elif "stop" in did and 0 in view.waiting:
                self.assertEqual((view.type_of[0], view.last_type[0], view.preemptions[0]), (-1, 1, 2))
                did.append("reject")
            if "reject" in did:
                for job in view.waiting:
                    decision.reject(job)

        table = self.run_with(decide, clock="event", workload="synthetic(rate=100,jobs=3,gangs=1:1)")
        self.assertEqual(did, ["start", "move", "stop", "reject"])
        self.assertEqual(table["unfinished"].iloc[0], 3)

    def test_an_elastic_job_runs_on_as_many_devices_as_are_named(self):
        held = []

        def decide(view, decision):
            for job in view.waiting[view.waiting > 0]:
                decision.reject(job)
            if 0 in view.waiting:
                decision.start(0, 0, devices=[0, 1, 3])
            elif 0 in view.running and len(held) < 2:
                held.append(sorted(view.devices(0)))
                if len(held) == 1:
                    decision.move(0, 0, devices=[2])
            if len(held) < 2:
                decision.wake_at(view.now + 1)

        self.run_with(decide, clock="event", workload="synthetic(rate=100,jobs=3,gangs=2:1)",
                      features="elasticity(min_factor=0.5,max_factor=2,scaling=linear,measured=false)")
        self.assertEqual(held, [[0, 1, 3], [2]])
        with self.assertRaisesRegex(berth.Error, "job 0 cannot run on 1 GPU of type v100, only on 2 to 2"):
            self.run_with(lambda view, decision: decision.start(0, 0, devices=[2]),
                          workload="synthetic(rate=100,jobs=3,gangs=2:1)")

    def test_objects_are_copied_for_each_run_and_reset_begins_one(self):
        class Counts(First):
            runs = 0

            def reset(self, view):
                self.runs += 1
                assert self.runs == 1 and view.n == 0  # of this object

        mine = Counts()
        berth.evaluate([mine], seeds=range(1000, 1003), **SMALL)
        self.assertEqual(mine.runs, 0)

    def test_the_example_of_twenty_lines_stands_in_the_table_with_the_lp(self):
        path = EXAMPLES / "shortest_first.py"
        self.assertLess(len(path.read_text().split("if __name__")[0].splitlines()), 25)
        spec = importlib.util.spec_from_file_location("shortest_first", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        summary = berth.evaluate(["fcfs", "gavel", module.ShortestFirst()], seeds=range(1000, 1003), **SMALL).summary()
        self.assertEqual(list(summary.index), ["fcfs", "gavel", "ShortestFirst"])
        self.assertLess(summary.loc["ShortestFirst", "jct_ratio"], 1.0)
        page = (EXAMPLES.parent / "README.md").read_text()  # has it too
        self.assertIn(path.read_text().split("import numpy as np\n\n\n")[1].split("\n\n\nif")[0], page)
        self.assertEqual(summary.loc["ShortestFirst", "unfinished"], 0)


class Simulate(unittest.TestCase):
    def test_frames_of_a_run_agree_with_its_figures(self):
        run = berth.simulate(First(), seed=1003, features="failures(mtbf_h=50)", clock="event", **SMALL)
        self.assertEqual(run.signature, berth.evaluate("fcfs", seeds=1003, features="failures(mtbf_h=50)", clock="event",
                                                       **SMALL)["signature"][0])
        jobs, events, series = run.jobs, run.events, run.series
        self.assertEqual(list(jobs["status"].unique()), ["completed"])
        self.assertAlmostEqual(jobs["jct_s"].mean(), run.metrics["mean_jct_s"], delta=1e-9 * run.metrics["mean_jct_s"])
        self.assertAlmostEqual(jobs["wait_s"].mean(), run.metrics["mean_wait_s"], delta=1e-9 * run.metrics["mean_wait_s"])
        self.assertGreater(jobs["interruptions"].sum(), 0)
        self.assertEqual(jobs["interruptions"].mean(), run.metrics["interruptions_per_job"])
        self.assertEqual(list(events.loc[events["event"] == "complete", "job"].sort_values()), list(jobs["job"]))
        self.assertTrue(events["time_s"].is_monotonic_increasing and series["time_s"].is_monotonic_increasing)
        self.assertEqual(list(series.columns), ["time_s", "waiting", "running", "busy_v100", "busy_p100", "busy_k80"])
        # A decision that holds until the next one: the integral of busy GPUs is what jobs held, but for the time after the last.
        held = (series[["busy_v100", "busy_p100", "busy_k80"]].sum(axis=1)[:-1] * np.diff(series["time_s"])).sum()
        self.assertGreater(held, 0.9 * run.metrics["utilization"] * 12 * run.metrics["end_s"])
        with unittest.mock.patch.object(results, "has_pandas", lambda: False):
            self.assertEqual(berth.simulate("fcfs", **SMALL).jobs["job"], list(range(80)))

    def test_a_running_job_that_is_moved_or_packed_is_preempted(self):
        run = berth.simulate("gandiva", cluster="v100=8,k80=8", seed=1, workload="synthetic(rate=3,jobs=60)")
        left, running = [], set()
        for event, job in zip(run.events["event"], run.events["job"]):
            if job in running and event in ("stop", "move", "pack"):
                left.append(event)
            if event in ("start", "move", "pack"):
                running.add(job)
            elif event in ("stop", "complete"):
                running.remove(job)
        self.assertEqual(set(left), {"stop", "move", "pack"})
        self.assertEqual(run.jobs["preemptions"].sum(), len(left))
        self.assertEqual(run.jobs["preemptions"].mean(), run.metrics["preemptions_per_job"])  # the simulator's own count

    def test_a_scenario_as_frames_and_back_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second, cluster = (os.path.join(folder, name) for name in ("a.h5", "b.h5", "cluster.toml"))
            subprocess.run([BERTH, "generate", "--workload", "synthetic(rate=2,jobs=40,gangs=multi,priorities=true,slo=true)",
                            "--cluster", "v100=12/4,k80=12", "--out", first], check=True, capture_output=True)
            frames = berth.Scenario(first).to_frames()
            self.assertEqual(len(frames.jobs), 40)
            pathlib.Path(cluster).write_text(frames.cluster)
            berth.Scenario.from_frame(frames.jobs, second, cluster=cluster, throughputs=frames.speeds)
            self.assertEqual(berth.simulate("srpt", scenario=first).signature, berth.simulate("srpt", scenario=second).signature)
            with self.assertRaisesRegex(berth.Error, "none.h5"):
                berth.Scenario("none.h5").to_frames()


class Checks(unittest.TestCase):
    def test_a_scheduler_that_holds_and_what_others_do_not(self):
        checked = berth.check_scheduler(First)
        self.assertEqual(list(checked), ["legality", "repeats", "replay", "knowledge", "estimates"])
        self.assertEqual(checked, berth.check_scheduler("fcfs"))
        shared = {"decisions": 0}  # by all objects

        class Counts(First):
            decisions = 0

            def counted(self):
                self.decisions += 1
                return self.decisions

            def decide(self, view, decision):
                if self.counted() % 5 or not view.running.size:
                    super().decide(view, decision)

        class Shares(Counts):
            def counted(self):
                shared["decisions"] += 1
                return shared["decisions"]

        class Overbooks(berth.Scheduler):
            def decide(self, view, decision):
                for job in view.waiting:
                    decision.start(job, int(view.rates[job].argmax()))

        class Rejects(First):
            def decide(self, view, decision):
                for job in view.waiting:
                    decision.reject(job)

        class Fails(First):
            def decide(self, view, decision):
                raise KeyError("oh")

        class Peeks(First):
            """Says that it knows nothing when it is asked, and of several objects made at once the others know everything."""
            unused = 0

            def __init__(self):
                Peeks.unused += 1
                self.knowledge = "none" if Peeks.unused == 1 else "oracle"

            def reset(self, view):
                Peeks.unused = 0

            def decide(self, view, decision):
                if self.knowledge == "none" or view.seed != 7:  # of the check; elsewhere it would not repeat
                    return super().decide(view, decision)
                for job in view.waiting[np.argsort(view.remaining[view.waiting])]:
                    best = int(np.argmax(view.rates[job] * (view.free_gpus >= view.gang[job])))
                    if view.rates[job, best] > 0 and view.free_gpus[best] >= view.gang[job]:
                        return decision.start(job, best)

        class Believes(First):
            """Takes an estimate for the truth: who has ended had no work left by it."""
            knowledge = "estimate"

            def reset(self, view):
                self.left = {}

            def decide(self, view, decision):
                for job in view.completed:
                    when, steps, rate = self.left.get(job, (view.now, 0.0, 0.0))
                    assert steps - rate * (view.now - when) <= 1e-6 * (1 + steps), "ended before its time"
                self.left = {job: (view.now, view.remaining[job], view.rates[job, view.type_of[job]]) for job in view.running}
                super().decide(view, decision)

        for scheduler, words in [
            (Counts, "Counts: repeats: the same object again"),
            (Shares, "Shares: repeats: "),
            (Overbooks, "Overbooks: legality: clock event, seed 1: decides illegally at .* s: job"),
            (Rejects, "Rejects: legality: clock event, seed 1: expected job 0 done, found it rejected"),
            (Peeks, "Peeks: knowledge: jobs half as long again: expected the same decisions until the first job ends"),
            (Believes, "Believes: estimates: estimates wrong by a factor of two: scheduler 'Believes' fails at .* s: AssertionError: ended"),
            # No class of Python's can make `replay` fail; one of C++ does in tests/schedulers_conformance_test.cpp.
            (Fails, "Fails: legality: clock event, seed 1: scheduler 'Fails' fails at .* s: KeyError: 'oh'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words) as caught:
                berth.check_scheduler(scheduler)
        self.assertIsInstance(caught.exception.__cause__, KeyError)


class OnTheCommandLine(unittest.TestCase):
    """python(file=...), by libberth_python.so beside the binary."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "mine.py"

    def refused(self, spec, **environment):
        done = subprocess.run([BERTH, "simulate", "--scheduler", spec, "--workload", "synthetic(rate=1,jobs=20)"],
                              capture_output=True, text=True, env=os.environ | environment)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_the_example_gives_the_same_numbers_to_the_bit_there_and_here(self):
        spec = f"python(file={EXAMPLES / 'shortest_first.py'}:ShortestFirst)"
        words = [word for key, value in SMALL.items() for word in (f"--{key}", value)]
        there = command_line("--schedulers", f"fcfs;{spec}", "--seeds", "1000:1006", "--threads", "3", *words)["schedulers"]
        here = berth.evaluate(["fcfs", spec], seeds=range(1000, 1006), **SMALL)
        self.assertEqual([run["signature"] for row in there for run in row["workloads"]], list(here["signature"]))
        self.assertEqual([row["mean_jct_s"] for row in there], list(here.summary()["mean_jct_s"]))
        self.assertEqual([row["knowledge"] for row in there], ["none", "oracle"])

    def test_within_a_spec_it_stands_as_a_file_alone(self):
        of = dict(workload="synthetic(rate=1,jobs=30)", cluster="v100=4,k80=4", seeds=1)
        spec = f"adaptive(arms=python(file={EXAMPLES / 'shortest_first.py'}:ShortestFirst))"
        table = berth.evaluate([spec, f"python(file={EXAMPLES / 'shortest_first.py'}:ShortestFirst)"], **of)
        self.assertEqual(*table["signature"])
        with self.assertRaisesRegex(berth.Error, "unknown scheduler 'First'"):
            berth.evaluate(["adaptive(arms=First)", First], **of)

    def test_what_it_prints_is_not_lost(self):
        self.file.write_text(textwrap.dedent("""
            import berth
            class Mine(berth.Scheduler):
                def decide(self, view, decision):
                    print("at", view.now)
                    for job in view.waiting:
                        decision.reject(job)
            """))
        done = subprocess.run([BERTH, "simulate", "--scheduler", f"python(file={self.file}:Mine)", "--workload",
                               "synthetic(rate=1,jobs=3)"], capture_output=True, text=True, check=True)
        self.assertIn("at 0", done.stdout)

    def test_what_is_missing_or_fails_is_one_line_and_exit_code_2(self):
        self.file.write_text("import berth\nclass Mien(berth.Scheduler):\n    def decide(self, view, decision):\n        1 / 0\n")
        for text, words in [
            ("", "python: file: expected FILE.py:CLASS, found ''"),
            (f"{self.file}", "python: file: expected FILE.py:CLASS"),
            (f"{self.file}.py:Mine", f"{self.file}.py: expected a file of Python, found none"),
            (f"{self.file}:Mine", f"{self.file}: expected a class of berth.Scheduler named 'Mine', found Mien (did you mean 'Mien'?)"),
            (f"{self.file}:Mien", f"fails at 0 s: ZeroDivisionError: division by zero ({self.file}:4, in decide)"),
        ]:
            with self.subTest(words):
                self.assertIn(words, self.refused(f"python(file={text})" if text else "python"))
        self.file.write_text("1 / 0\n")
        self.assertIn("ZeroDivisionError: division by zero", self.refused(f"python(file={self.file}:Mine)"))
        self.assertIn("nowhere.so, found no such file: tools/setup --python",
                      self.refused(f"python(file={self.file}:Mine)", BERTH_PYTHON_LIBRARY="/nowhere.so"))
