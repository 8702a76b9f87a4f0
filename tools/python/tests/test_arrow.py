"""Arrow tables and Parquet files with the real pyarrow, and with Polars where it is installed."""

import datetime
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import pandas
import pyarrow
import pyarrow.parquet

import berth
from berth import results

SMALL = dict(workload="synthetic(rate=1,jobs=40)", cluster="v100=4,p100=4,k80=4", seeds=range(1000, 1003))
TYPES = {"int64": pyarrow.types.is_int64, "float64": pyarrow.types.is_float64}
START = datetime.datetime(2024, 3, 1, 10)
JOBS = {"submit_time": [START, START + datetime.timedelta(minutes=5)], "duration": [datetime.timedelta(hours=1), datetime.timedelta(minutes=30)],
        "gpus": [4, 1]}
SEEN = {"arrival_s": [0.0, 300.0], "gpus": [4, 1], "jct_s": [3600.0, 1800.0]}  # on a cluster with room for both


class Arrow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def seen(self, path):
        run = berth.simulate("fcfs", scenario=path, clock="event")
        return {name: list(run.jobs[name]) for name in SEEN}

    def test_tables_of_results_are_arrow_tables_to_the_bit(self):
        table = berth.evaluate(["fcfs", "srpt"], **SMALL)
        with unittest.mock.patch.object(results, "has_pandas", lambda: False):
            rows = berth.evaluate(["fcfs", "srpt"], **SMALL)
        timed = {"wall_s", "decision_us_mean", "decision_us_p99"}
        for arrow in (table.to_arrow(), rows.to_arrow()):
            self.assertIsInstance(arrow, pyarrow.Table)
            self.assertEqual((arrow.num_rows, arrow.column_names), (6, list(table.columns)))
            for name in table.columns:
                if (kind := str(table[name].dtype)) in TYPES:
                    self.assertTrue(TYPES[kind](arrow.schema.field(name).type), name)
                if name not in timed:  # nan is nan
                    self.assertEqual(list(map(repr, arrow[name].to_pylist())), list(map(repr, table[name].tolist())), name)

    def test_polars_reads_them(self):
        if importlib.util.find_spec("polars") is None:
            self.skipTest("polars is not installed")
        import polars

        table = berth.evaluate(["fcfs", "srpt"], **SMALL)
        frame = polars.from_arrow(table.to_arrow())
        self.assertEqual((frame.shape, frame["signature"].to_list()), (table.shape, list(table["signature"])))
        self.assertEqual(frame["mean_jct_s"].to_list(), list(table["mean_jct_s"]))
        frame = polars.DataFrame(JOBS)
        berth.Scenario.from_frame(frame, self.folder / "polars.h5", cluster="a100=8")
        self.assertEqual(self.seen(self.folder / "polars.h5"), SEEN)

    def test_tables_are_written_as_parquet_and_read_again(self):
        grid = berth.sweep({"rate": [1, 2]}, ["fcfs", "srpt"], **SMALL | dict(workload="synthetic(rate={rate},jobs=20)"))
        for name, table in (("evaluation", berth.evaluate(["fcfs", "srpt"], **SMALL)), ("sweep", grid), ("summary", grid.summary())):
            with self.subTest(name):
                path = self.folder / f"{name}.parquet"
                table.to_parquet(path)
                self.assertTrue(pandas.DataFrame(table).equals(pandas.read_parquet(path)))
                self.assertEqual(pyarrow.parquet.read_table(path).column_names[:len(table.columns)], list(table.columns))

    def test_jobs_come_from_parquet_in_every_way(self):
        parquet = self.folder / "jobs.parquet"
        pyarrow.parquet.write_table(pyarrow.table(JOBS), parquet)
        scenario = berth.Scenario.from_parquet(parquet, self.folder / "one.h5", cluster="a100=8")
        self.assertEqual((scenario.jobs, self.seen(scenario)), (2, SEEN))
        berth.Scenario.from_frame(pyarrow.table(JOBS), self.folder / "two.h5", cluster="a100=8")
        self.assertEqual(self.seen(self.folder / "two.h5"), SEEN)
        script = pathlib.Path(__file__).parents[1] / "parquet_to_csv.py"
        subprocess.run([sys.executable, script, parquet, self.folder / "jobs.csv"], check=True)
        subprocess.run([os.environ["BERTH"], "convert", "--format", "table", self.folder / "jobs.csv", "--cluster", "a100=8", "--out",
                        self.folder / "three.h5"], check=True, capture_output=True)
        self.assertEqual(self.seen(self.folder / "three.h5"), SEEN)
        parquet.write_bytes(b"no Parquet")
        done = subprocess.run([sys.executable, script, parquet, self.folder / "jobs.csv"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
