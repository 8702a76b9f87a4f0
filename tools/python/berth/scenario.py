"""Jobs of one's own, from a data frame or a Parquet file, as a scenario file."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import pathlib
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from berth import _berth
from berth._arguments import cell_of, texts_of, utf8_of
from berth.typing import Option, StrPath, Table

if TYPE_CHECKING:
    import pandas

__all__ = ["Frames", "Scenario"]


class Scenario:
    """A scenario file: ``scenario=`` of the environments takes it, and so does every verb of the command line.

    Attributes: `path`, the file; `jobs`, how many it holds, None where it was not made here; `notes`, how the table was understood,
    a line each; `refused`, rows that were left out, and why.

    Parameters
    ----------
    path
        A scenario file (.h5) that there is. `from_frame` and `from_parquet` make one.
    jobs, notes, refused
        The attributes.

    Examples
    --------
    >>> jobs = {"submit_time": ["2024-03-01T10:00:00", "2024-03-01T10:05:00"], "duration": [3600, "0:30:00"], "gpus": [4, 1]}
    >>> mine = berth.Scenario.from_frame(jobs, "mine.h5", cluster="a100=8,l40s=8")
    >>> mine
    Scenario('mine.h5', jobs=2)
    >>> berth.evaluate("fcfs", scenario=mine)["jobs"].tolist()
    [2]
    >>> mine.to_frames().jobs["gpus"].tolist()
    [4, 1]
    """

    path: pathlib.Path
    jobs: int | None
    notes: list[str]
    refused: list[str]

    def __init__(self, path: StrPath, jobs: int | None = None, notes: Iterable[str] = (), refused: Iterable[str] = ()) -> None:
        self.path, self.jobs, self.notes, self.refused = pathlib.Path(path), jobs, list(notes), list(refused)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Scenario({os.fspath(self.path)!r}, jobs={self.jobs})"

    @classmethod
    def from_frame(cls, frame: Table, out: StrPath, *, cluster: StrPath, throughputs: Table | StrPath | None = None,
                   columns: Mapping[str, str | None] | str | None = None, **keywords: Option) -> Scenario:
        """Writes a scenario file from a table with a job a row, as ``berth convert --format table`` does.

        Parameters
        ----------
        frame
            Of pandas or Polars, a ``pyarrow.Table``, or a mapping of columns.
        out
            The file (.h5).
        cluster
            A cluster.toml, or "a100=8,l40s=16".
        throughputs
            Measured speeds, a frame or a CSV file. None: every GPU type runs a job alike.
        columns
            {"arrival": "submit_ts", "tenant": None, ...} or "arrival=submit_ts,tenant=,..."; None: no column. What is not named is
            guessed.
        **keywords
            The command line's options with ``_`` for ``-``: skip_bad, ...

        Returns
        -------
        Scenario
            Of the file, with `notes` on how the table was understood.

        Raises
        ------
        TypeError, ValueError
            Which keyword, or which row (from 0) and column.
        """
        if isinstance(columns, Mapping):
            columns = ",".join(f"{field}={'' if column is None else column}" for field, column in columns.items())
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
    def from_parquet(cls, path: StrPath, out: StrPath, *, cluster: StrPath, throughputs: Table | StrPath | None = None,
                     columns: Mapping[str, str | None] | str | None = None, **keywords: Option) -> Scenario:
        """As `from_frame`, of a Parquet file.

        Raises
        ------
        FileNotFoundError
            Where there is no such file.
        ImportError
            Without pyarrow.
        """
        if not os.path.isfile(path := os.fspath(path)):
            raise FileNotFoundError(f"path: expected a Parquet file, found none: {path!r}")
        try:
            import pyarrow.parquet
        except ImportError:
            raise ImportError("Scenario.from_parquet needs pyarrow: pip install pyarrow") from None
        table = pyarrow.parquet.read_table(path)
        return cls.from_frame(table, out, cluster=cluster, throughputs=throughputs, columns=columns, **keywords)

    def to_frames(self) -> Frames:
        """The tables that it could have been made from.

        ``from_frame(jobs, out, cluster=FILE, throughputs=speeds)``, with the text `cluster` in FILE, gives the same scenario.

        Returns
        -------
        Frames
            Of pandas where it is installed, else dicts of columns of text.

        Raises
        ------
        berth.Error
            Where tables do not hold what is in it.
        """
        jobs, speeds, cluster = _berth.tables_of(utf8_of("path", os.fspath(self.path)))
        return Frames(_frame(jobs), _frame(speeds), cluster)


class Frames(NamedTuple):
    """What `Scenario.to_frames` gives. Attributes: `jobs`, a row a job; `speeds`, steps/s by kind of job, GPU type and gang;
    `cluster`, the text of a cluster.toml.

    Examples
    --------
    >>> mine = berth.Scenario.from_frame({"submit_time": [0, 60], "duration": [60, 60], "gpus": [1, 1]}, "few.h5", cluster="a100=2")
    >>> jobs, speeds, cluster = mine.to_frames()
    >>> len(jobs), sorted(speeds["gpu_type"].unique())
    (2, ['a100'])
    """

    jobs: pandas.DataFrame
    speeds: pandas.DataFrame
    cluster: str


def _frame(text: str) -> pandas.DataFrame:
    if importlib.util.find_spec("pandas") is None:
        header, *rows = csv.reader(io.StringIO(text))
        return cast("pandas.DataFrame", {column: [row[i] for row in rows] for i, column in enumerate(header)})
    import pandas

    return pandas.read_csv(io.StringIO(text), float_precision="round_trip", keep_default_na=False, na_values=[""])


def _by_row(text: str, folder: str) -> str:
    """The header is line 1, row 0 line 2."""
    text = re.sub(re.escape(folder) + r"/(\w+)\.csv:(\d+)",
                  lambda found: f"{found[1]}, row {int(found[2]) - 2}" if int(found[2]) > 1 else f"{found[1]}, columns",
                  text)
    return re.sub(re.escape(folder) + r"/(\w+)\.csv", r"\1", text)


def _write_csv(name: str, frame: Any, path: str) -> None:
    if hasattr(frame, "to_csv") and hasattr(frame, "dtypes"):  # pandas
        columns = [(column, frame.iloc[:, place]) for place, column in enumerate(frame.columns)]
    elif hasattr(frame, "write_csv") and hasattr(frame, "to_dict"):  # Polars, whose own CSV knows no durations
        columns = list(frame.to_dict(as_series=False).items())
    elif hasattr(frame, "column_names") and hasattr(frame, "to_pylist"):  # pyarrow.Table
        held = frame.to_pydict()
        columns = [(column, held[column]) for column in frame.column_names]
    elif isinstance(frame, Mapping):
        columns = list(frame.items())
    else:
        raise TypeError(f"{name}: expected a data frame, a pyarrow.Table or a mapping of columns, found "
                        f"{type(frame).__name__}")
    _write_columns(name, [(utf8_of(f"{name}: column", str(column)), values) for column, values in columns], path)


def _write_columns(name: str, columns: list[tuple[str, Any]], path: str) -> None:
    for column, values in columns:
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
            raise ValueError(f"{name}: expected a sequence in column {column!r}, found {type(values).__name__}")
    lengths = {column: len(values) for column, values in columns}
    if len(lengths) < len(columns):
        [twice, *_] = [column for place, (column, _) in enumerate(columns) if column in [its for its, _ in columns[:place]]]
        raise ValueError(f"{name}: expected columns of names that differ, found {twice!r} twice")
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{name}: expected columns of one length, found {lengths or 'none'}")
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(lengths)
        rows.writerows(zip(*([cell_of(lambda: f"{name}, row {row}: column {column!r}", value) for row, value in enumerate(values)]
                             for column, values in columns)))
