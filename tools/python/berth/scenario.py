"""Jobs of one's own, from a data frame or a Parquet file, as a scenario file."""

import csv
import importlib.util
import io
import os
import pathlib
import re
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from berth import _berth
from berth._arguments import texts_of, utf8_of


class Scenario:
    """A scenario file: `scenario=` of the environments takes it, and so does every verb of the command line.

    path: the file; jobs: how many it holds, None where it was not made here; notes: how the table was understood, a
    line each; refused: rows that were left out, and why.
    """

    def __init__(self, path, jobs=None, notes=(), refused=()):
        self.path, self.jobs, self.notes, self.refused = pathlib.Path(path), jobs, list(notes), list(refused)

    def __fspath__(self):
        return os.fspath(self.path)

    def __repr__(self):
        return f"Scenario({os.fspath(self.path)!r}, jobs={self.jobs})"

    @classmethod
    def from_frame(cls, frame: Any, out: Any, *, cluster: Any, throughputs: Any = None, columns: Any = None,
                   **keywords: Any) -> "Scenario":
        """Writes `out` from a table with a job a row, as `berth convert --format table` does.

        frame: of pandas or Polars, a pyarrow.Table, or a mapping of columns. cluster: a cluster.toml, or
        "a100=8,l40s=16". throughputs: measured speeds, a frame or a CSV file. columns: {"arrival": "submit_ts", ...}
        or "arrival=submit_ts,..."; what is not named is guessed. skip_bad and the other keywords are the command
        line's options. ValueError names the keyword, or the row (from 0) and the column.
        """
        if isinstance(columns, Mapping):
            columns = ",".join(f"{field}={column}" for field, column in columns.items())
        with tempfile.TemporaryDirectory() as folder:
            jobs = os.path.join(folder, "frame.csv")
            _write_csv("frame", frame, jobs)
            if throughputs is not None and not isinstance(throughputs, (str, os.PathLike)):
                speeds = os.path.join(folder, "throughputs.csv")
                _write_csv("throughputs", throughputs, speeds)
                throughputs = speeds
            texts = texts_of(dict(keywords, cluster=cluster, columns=columns, throughputs=throughputs))
            try:
                said = _berth.write_table(jobs, utf8_of("out", os.fspath(out)), texts)
            except ValueError as error:
                raise ValueError(_by_row(str(error), folder)) from None
        return cls(out, said["jobs"], [_by_row(note, folder) for note in said["notes"]],
                   [_by_row(row, folder) for row in said["refused"]])

    @classmethod
    def from_parquet(cls, path: Any, out: Any, **keywords: Any) -> "Scenario":
        """As from_frame, of a Parquet file: needs pyarrow."""
        if not os.path.isfile(path := os.fspath(path)):
            raise FileNotFoundError(f"path: expected a Parquet file, found none: {path!r}")
        try:
            import pyarrow.parquet
        except ImportError:
            raise ImportError("Scenario.from_parquet needs pyarrow: pip install pyarrow") from None
        return cls.from_frame(pyarrow.parquet.read_table(path), out, **keywords)

    def to_frames(self) -> "Frames":
        """The tables that it could have been made from: from_frame(jobs, cluster=FILE, throughputs=speeds), with `cluster` in
        FILE, gives the same scenario. Frames are pandas' where it is installed, else dicts of columns of text. ValueError
        where tables do not hold what is in it."""
        jobs, speeds, cluster = _berth.tables_of(utf8_of("path", os.fspath(self.path)))
        return Frames(_frame(jobs), _frame(speeds), cluster)


class Frames(NamedTuple):
    """jobs: a row a job; speeds: steps/s by kind of job, GPU type and gang; cluster: the text of a cluster.toml."""

    jobs: Any
    speeds: Any
    cluster: str


def _frame(text):
    if importlib.util.find_spec("pandas") is None:
        header, *rows = csv.reader(io.StringIO(text))
        return {column: [row[i] for row in rows] for i, column in enumerate(header)}
    import pandas

    return pandas.read_csv(io.StringIO(text), float_precision="round_trip", keep_default_na=False, na_values=[""])


def _by_row(text, folder):
    """The header is line 1, row 0 line 2."""
    text = re.sub(re.escape(folder) + r"/(\w+)\.csv:(\d+)",
                  lambda found: f"{found[1]}, row {int(found[2]) - 2}" if int(found[2]) > 1 else f"{found[1]}, columns",
                  text)
    return re.sub(re.escape(folder) + r"/(\w+)\.csv", r"\1", text)


def _write_csv(name, frame, path):
    if hasattr(frame, "to_csv") and hasattr(frame, "dtypes"):  # pandas
        spans = {column: frame[column].dt.total_seconds() for column in frame.columns if frame[column].dtype.kind == "m"}
        frame.assign(**spans).to_csv(path, index=False)
    elif hasattr(frame, "write_csv") and hasattr(frame, "to_dict"):  # Polars, whose own CSV knows no durations
        columns = frame.to_dict(as_series=False)
        _write_columns(name, columns, path)
    elif hasattr(frame, "column_names") and hasattr(frame, "to_pylist"):  # pyarrow.Table
        _write_columns(name, frame.to_pydict(), path)
    elif isinstance(frame, Mapping):
        _write_columns(name, frame, path)
    else:
        raise TypeError(f"{name}: expected a data frame, a pyarrow.Table or a mapping of columns, found "
                        f"{type(frame).__name__}")


def _write_columns(name, columns, path):
    for column, values in columns.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
            raise ValueError(f"{name}: expected a sequence in column {column!r}, found {type(values).__name__}")
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{name}: expected columns of one length, found {lengths or 'none'}")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*([_text(value) for value in values] for values in columns.values())))


def _text(value):
    if value is None or value != value:  # NaN, NaT
        return ""
    if isinstance(value, np.timedelta64):
        return repr(float(value / np.timedelta64(1, "s")))
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat() if hasattr(value, "isoformat") else value
