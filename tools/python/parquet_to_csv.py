"""Writes a Parquet file as CSV for `berth convert --format table`: dates in ISO 8601, durations in seconds, no value as nothing.

Debian ships no Arrow for C++, so berth reads no Parquet itself. Needs pyarrow, or pandas with an engine for Parquet; the package
berth (Scenario.from_parquet) is not needed.

    parquet_to_csv.py JOBS.parquet JOBS.csv
"""

import csv
import os
import sys

LACKING = "parquet_to_csv.py: needs pyarrow, or pandas with fastparquet, found neither: pip install pyarrow"


def columns_of(path):
    """{name: values}, or None where nothing is installed that reads Parquet."""
    try:
        import pyarrow.parquet
        return pyarrow.parquet.read_table(path).to_pydict()
    except ImportError:
        pass
    try:
        import pandas
        frame = pandas.read_parquet(path)
    except ImportError:
        return None
    return {column: list(frame[column]) for column in frame.columns}


def text_of(value):
    if value is None or value != value:  # NaN, NaT
        return ""
    if isinstance(value, bytes):  # text, of writers that do not say so
        return value.decode(errors="backslashreplace")
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat() if hasattr(value, "isoformat") else value


def main(arguments):
    if len(arguments) != 2:
        print("parquet_to_csv.py: expected JOBS.parquet JOBS.csv", file=sys.stderr)
        return 2
    try:
        columns = columns_of(arguments[0])
        if columns is None:
            print(LACKING, file=sys.stderr)
            return 2
        part = f"{arguments[1]}.part{os.getpid()}"  # what was there stays until all is written
        with open(part, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(columns)
            rows.writerows(zip(*([text_of(value) for value in values] for values in columns.values())))
        os.replace(part, arguments[1])
    except (OSError, ValueError) as error:  # pyarrow's errors of a file are ValueErrors
        print(f"parquet_to_csv.py: {arguments[0]}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
