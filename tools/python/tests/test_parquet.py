"""Parquet as CSV, with stand-ins for the libraries that read it (test_arrow has the real one)."""

import contextlib
import datetime
import importlib.util
import io
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).parents[1] / "parquet_to_csv.py"
START = datetime.datetime(2024, 3, 1, 10, tzinfo=datetime.timezone.utc)
JOBS = {"submitted": [START, None], "run": [datetime.timedelta(minutes=1.5), 60.0], "who": ["ann, bob", float("nan")], "team": [b"nlp", b"\xff"]}


def script():
    spec = importlib.util.spec_from_file_location("parquet_to_csv", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reading(columns):
    """Modules pyarrow and pyarrow.parquet whose files hold `columns`."""
    arrow, parquet = types.ModuleType("pyarrow"), types.ModuleType("pyarrow.parquet")
    table = types.SimpleNamespace(to_pydict=lambda: columns)
    parquet.read_table, arrow.parquet = lambda path: table, parquet
    return {"pyarrow": arrow, "pyarrow.parquet": parquet}


class ParquetToCsv(unittest.TestCase):
    def run_main(self, modules, *arguments):
        said = io.StringIO()
        with unittest.mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(said):
            return script().main(list(arguments)), said.getvalue()

    def test_dates_spans_and_what_is_missing_are_as_tables_want_them(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "jobs.csv"
            self.assertEqual(self.run_main(reading(JOBS), "jobs.parquet", str(out)), (0, ""))
            self.assertEqual(out.read_text(), 'submitted,run,who,team\n2024-03-01T10:00:00+00:00,90.0,"ann, bob",nlp\n,60.0,,\\xff\n')
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["jobs.csv"])

    def test_without_a_library_that_reads_parquet_it_says_so_in_one_line(self):
        code, said = self.run_main({"pyarrow": None, "pandas": None}, "jobs.parquet", "jobs.csv")
        self.assertEqual((code, said.count("\n")), (2, 1))
        self.assertIn("needs pyarrow, or pandas", said)

    def test_wrong_arguments_are_one_line(self):
        self.assertEqual(self.run_main({}, "jobs.parquet"), (2, "parquet_to_csv.py: expected JOBS.parquet JOBS.csv\n"))
