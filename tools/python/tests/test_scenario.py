"""Tables from Python as scenario files."""

import contextlib
import datetime
import pathlib
import tempfile
import unittest

import numpy as np
import pandas

import berth


class Frame:
    """What from_frame asks of Polars, which is not among what the tests install."""

    def __init__(self, text):
        self.rows = [line.split(",") for line in text.split()]

    def write_csv(self, path):
        raise AssertionError("Polars refuses durations there")

    def to_dict(self, as_series):
        return {name: list(column) for name, *column in zip(*self.rows)}


class Table:
    """What it asks of a pyarrow.Table."""

    def __init__(self, columns):
        self.columns, self.column_names = columns, list(columns)

    def to_pydict(self):
        return self.columns

    def to_pylist(self):
        raise AssertionError("rows are not asked for")


START = datetime.datetime(2024, 3, 1, 10, tzinfo=datetime.timezone.utc)
JOBS = {
    "submitted": [START + datetime.timedelta(minutes=10 * i) for i in range(40)],
    "run_s": np.arange(600, 3000, 60).astype("timedelta64[s]"),
    "n_gpu": [1 + i % 4 for i in range(40)],
    "owner": ["ann" if i % 3 else "bob" for i in range(40)],
    "deadline": [float("nan")] * 40,
}
COLUMNS = {"arrival": "submitted", "duration": "run_s", "gpus": "n_gpu", "tenant": "owner"}
CSV = "submit_time,duration,gpus\n0,600,1\n60,1200,2\n120,nan,1\n"


class FromFrame(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "mine.h5"

    def test_a_mapping_or_table_of_dates_and_spans_is_a_scenario_that_environments_play(self):
        scenario = berth.Scenario.from_frame(JOBS, self.out, cluster="h100=4,l40s=8", columns=COLUMNS)
        self.assertEqual((scenario.jobs, scenario.refused), (40, []))
        self.assertTrue(any("submitted" in note for note in scenario.notes), scenario.notes)
        env = berth.make("HeteroCluster-v0", scenario=scenario, episode_jobs=20, seed=1)
        env.reset()
        same = pathlib.Path(self.folder.name) / "same.h5"
        berth.Scenario.from_frame(Table(JOBS), same, cluster="h100=4,l40s=8", columns="arrival=submitted,duration=run_s,"
                                  "gpus=n_gpu,tenant=owner")
        again = berth.make("HeteroCluster-v0", scenario=same, episode_jobs=20, seed=1)
        self.assertTrue((env.reset(seed=3)[0] == again.reset(seed=3)[0]).all())

    def test_speeds_may_be_a_frame_too(self):
        speeds = {"job_type": ["a", "a", "b", "b"], "gpu_type": ["fast", "slow"] * 2, "steps_per_s": [2.0, 1.0, 3.0, 1.0]}
        jobs = {"arrival": [0, 5], "duration": [100, 50], "type": ["a", "b"], "ran_on": ["fast", "slow"], "gpus": [1, 1]}
        toml = pathlib.Path(self.folder.name) / "cluster.toml"
        toml.write_text('[[gpu]]\nname = "fast"\ncount = 2\n[[gpu]]\nname = "slow"\ncount = 2\n')
        scenario = berth.Scenario.from_frame(jobs, self.out, cluster=toml, throughputs=speeds)
        self.assertEqual(scenario.jobs, 2)
        figures = toml.read_text().replace('name = "fast"', 'name = "fast"\nbandwidth_gb_s = 900')
        for moved, words in (300, None), (500, "job type 'b' on fast: traffic_gb 500 at 3 steps/s"):   # 900 and 1500 GB/s
            toml.write_text(f'{figures}[[job_type]]\nname = "b"\ntraffic_gb = {moved}\n')
            with self.subTest(moved), (self.assertRaisesRegex(ValueError, words) if words else contextlib.nullcontext()):
                berth.Scenario.from_frame(jobs, self.out, cluster=toml, throughputs=speeds)

    def test_what_is_wrong_is_named_by_its_row_or_keyword_and_nothing_is_written(self):
        for wrong, keywords, words in [
            (Frame(CSV), {}, "frame, row 2: column 'duration'"),
            (Frame(CSV), {"columns": {"arrival": "when"}}, "when"),
            (Frame(CSV), {"cluster": "h10=4"}, "cluster"),
            (Frame(CSV), {"skip_bat": 1}, "skip_bad"),
            ({"arrival": [0, 1], "duration": [1]}, {}, "one length"),
            ({"arrival": 0}, {}, "a sequence in column 'arrival', found int"),
            ({"arrival": [0, 1], "duration": [1, np.array([1, 2])]}, {}, "frame, row 1: column 'duration': expected text, .* found ndarray"),
            ({"arrival": [0, 1], "duration": [1, pandas.NA], "gpus": [1, 1]}, {}, "frame, row 1: column 'duration'"),
            ({"arrival": [0, 1], "duration": [1, np.timedelta64(2, "M")]}, {}, "frame, row 1: column 'duration': expected text, .* found .*2,'M'"),
            ({"arrival": [0, 1], "user": ["ann", "\udcff"]}, {}, "frame, row 1: column 'user': expected text that is UTF-8"),
            ({}, {}, "found none"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                berth.Scenario.from_frame(wrong, self.out, **{"cluster": "h100=4", **keywords})
        with self.assertRaisesRegex(TypeError, "frame: expected a data frame"):
            berth.Scenario.from_frame(7, self.out, cluster="h100=4")
        self.assertFalse(self.out.exists())

    def test_pandas_na_is_an_empty_cell_as_none_is(self):
        jobs = {"submit_time": [0, 60, 120], "duration": [60, 60, 60], "gpus": pandas.array([4, 1, 1], dtype="Int64")}
        read = {}
        for name, missing in {"NA": pandas.array([pandas.NA, 1000, 2000], dtype="Int64"), "None": [None, 1000, 2000]}.items():
            for kind, table in {"mapping": dict, "frame": pandas.DataFrame}.items():
                with self.subTest(name, kind=kind):
                    scenario = berth.Scenario.from_frame(table({**jobs, "deadline": missing}), self.out, cluster="a100=8")
                    read[name, kind] = scenario.to_frames().jobs
                    self.assertEqual(list(read[name, kind]["deadline"].isna()), [True, False, False])
        self.assertTrue(all(read["NA", "mapping"].equals(other) for other in read.values()))

    def test_frames_of_pandas_are_read_as_mappings_are(self):
        hours = [datetime.timedelta(hours=1), datetime.timedelta(days=1, hours=1)]
        jobs = {0: [START, START + datetime.timedelta(minutes=5)], 1: hours, 2: [4, 1], 3: ["ann\nis here", "bob"]}
        fields = {"arrival": 0, "duration": 1, "gpus": 2, "tenant": 3}
        frame = pandas.DataFrame(jobs)
        read = [berth.Scenario.from_frame(table, self.out, cluster="a100=8", columns=fields).to_frames().jobs
                for table in (jobs, frame, frame.astype({1: object}), frame.astype({3: "category"}))]
        self.assertEqual(list(read[0]["steps"]), [3600, 90000])
        self.assertEqual(list(read[0]["tenant"]), ["ann is here", "bob"])
        self.assertTrue(all(read[0].equals(other) for other in read))
        none = berth.Scenario.from_frame({"arrival": [0], "duration": [60], "gpus": [1], "user": ["ann"]}, self.out, cluster="a100=8",
                                         columns={"tenant": None})
        self.assertNotIn("tenant", none.to_frames().jobs)
        two = pandas.concat([frame, frame[[1]]], axis=1)
        for table in (two, {**jobs, "1": hours}):
            with self.assertRaisesRegex(ValueError, "frame: expected columns of names that differ, found '1' twice"):
                berth.Scenario.from_frame(table, self.out, cluster="a100=8", columns=fields)

    def test_rows_may_be_left_out(self):
        scenario = berth.Scenario.from_frame(Frame(CSV), self.out, cluster="h100=4", skip_bad=1)
        self.assertEqual(scenario.jobs, 2)
        self.assertIn("frame, row 2: column 'duration'", scenario.refused[0])
