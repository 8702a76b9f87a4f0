"""Workloads written in Python."""

import csv
import dataclasses
import difflib
import io
import itertools
import os
from collections.abc import Mapping

from berth._arguments import cell_of, text_of
from berth.typing import JobGenerator, StrPath, Workload

__all__ = ["Jobs"]

_MOST = 1_000_000
_FIELDS = ("arrival", "duration", "steps", "gpus", "type", "ran_on", "tenant", "weight", "deadline", "limit", "gpus_min", "gpus_max",
           "allowed", "batch_size", "share", "qos", "demand", "id")
_ALSO = {"arrival_s": "arrival", "duration_s": "duration", "job_type": "type", "deadline_s": "deadline", "limit_s": "limit"}


class Jobs:
    """A workload of your own, ``workload=`` of `evaluate`, `simulate`, `make` and `make_vec`.

    The function alone may stand there too; `Jobs` adds speeds. A job is a mapping or a dataclass with the fields of a table of
    jobs (data/tables/README.md): ``arrival_s`` (s; time 0 is the first arrival), ``gpus``, and ``duration_s`` (s) or ``steps``;
    where wanted ``job_type``, ``tenant``, ``weight``, ``deadline_s``, ``limit_s`` (s), ``gpus_min``, ``gpus_max``, ``allowed``, ...
    Spans of time (``datetime.timedelta`` and the like) and dates may stand for seconds; what is None or nan is not there.

    An evaluation's seed is handed on as it is, and all jobs are taken, 1,000,000 at most. Each episode of an environment has a
    seed drawn from the environment's, and as many jobs as it needs, of what may go on for ever. The same seed must give the
    same jobs. Attributes: `name`, the function's; `throughputs`, as given.

    Parameters
    ----------
    generator
        A function of a seed that yields jobs.
    throughputs
        Speeds: a CSV file, or a table of ``berth list throughputs`` ("gavel", "modern"). Jobs then have a ``job_type``, and
        durations ``ran_on``, the GPU type that they were measured on. None: every GPU type runs a job alike.

    Raises
    ------
    TypeError
        Where `generator` is no function.
    berth.Error
        Of the run: what a job lacks, with its number, from 0.

    Examples
    --------
    >>> def bursts(seed):
    ...     draw = np.random.default_rng(seed)
    ...     for job in range(40):
    ...         yield {"arrival_s": 600.0 * (job // 10), "duration_s": draw.exponential(3600.0), "gpus": 1}
    >>> table = berth.evaluate(["fcfs", "srpt"], workload=bursts, cluster="v100=4,k80=4", seeds=range(3))
    >>> table["jobs"].tolist()
    [40, 40, 40, 40, 40, 40]
    """

    def __init__(self, generator: JobGenerator, throughputs: StrPath | None = None) -> None:
        if not callable(generator):
            raise TypeError(f"workload: expected a function of a seed that yields jobs, found {type(generator).__name__}")
        self._generator = generator
        self.name: str = getattr(generator, "__name__", type(generator).__name__)
        self.throughputs = "" if throughputs is None else text_of("throughputs", throughputs)

    def text(self, seed: int, most: int = 0) -> str:
        """The first `most` jobs of `seed` (0: all of them) as a CSV, a line each behind a header."""
        rows: list[dict[str, str]] = []
        for job in itertools.islice(self._generator(seed), most or _MOST + 1):
            rows.append(_row(job, len(rows)))
        if not rows:
            raise ValueError("expected a job at least, found none")
        if len(rows) > _MOST:
            raise ValueError(f"expected at most {_MOST} jobs, found more")
        columns = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(columns)
        lines.writerows([row.get(column, "") for column in columns] for row in rows)
        return out.getvalue()


def workload_of(workload: Workload | None) -> tuple[str | None, Jobs | None]:
    """(workload, None) of a spec, (None, Jobs) of a generator."""
    if isinstance(workload, Jobs):
        return None, workload
    if callable(workload) and not isinstance(workload, (str, os.PathLike)):
        return None, Jobs(workload)
    return workload, None


def _row(job: object, index: int) -> dict[str, str]:
    if dataclasses.is_dataclass(job) and not isinstance(job, type):
        job = {field.name: getattr(job, field.name) for field in dataclasses.fields(job)}
    if not isinstance(job, Mapping):
        raise TypeError(f"job {index}: expected a mapping or a dataclass, found {type(job).__name__}")
    row = {}
    for name, value in job.items():
        field = _ALSO.get(name, name)
        if field not in _FIELDS:
            near = difflib.get_close_matches(str(name), [*_FIELDS, *_ALSO], 1)
            raise ValueError(f"job {index}: expected fields of a table of jobs, found {name!r}"
                             + (f" (did you mean {near[0]!r}?)" if near else ""))
        row[field] = cell_of(lambda: f"job {index}: {name}", value)
    return row
