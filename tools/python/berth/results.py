"""What runs measured: pandas data frames, or lists of dicts where pandas is not installed."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from berth import _berth
from berth._arguments import seeds_of, texts_of
from berth.jobs import workload_of
from berth.scheduler import named
from berth.typing import Option, Record, SchedulerLike, Seeds, StrPath, Workload

if TYPE_CHECKING:
    import pandas

    from berth.frames import Evaluation

__all__ = ["Rows", "Simulation", "check_scheduler", "evaluate", "simulate"]

_MADE_FROM = ("scheduler", "seed", "jobs", "mean_jct_s")  # no summary without them
_OF_OTHERS = {"unstable": {"backlog_growth"}, "decision_us_mean": {"decision_us_mean", "decisions"}}  # figures of other columns


def evaluate(schedulers: SchedulerLike | Iterable[SchedulerLike] | None = None, *, workload: Workload | None = None,
             cluster: StrPath | None = None, features: str | None = None, seeds: Seeds | None = None,
             scenario: StrPath | None = None, **keywords: Option) -> Evaluation:
    """Runs schedulers on the same workloads, and says how well each did.

    Parameters
    ----------
    schedulers
        Specs of the command line, objects or classes of `Scheduler`, policies, each once; the first is what ratios are to. None: the
        command line's usual ones.
    workload
        A spec of a generator ("synthetic(rate=1,jobs=100)"), or jobs of your own (`Jobs`).
    cluster
        GPU types, "v100=8,k80=8", or a cluster.toml.
    features
        What the cluster has beyond that, as ``--features``.
    seeds
        Of workloads: a range of step 1, ``range(1000, 1020)`` or "1000:1020".
    scenario
        A file, or a `Scenario`, in the place of `workload`.
    **keywords
        Other options of ``berth evaluate`` with ``_`` for ``-``: knowledge, clock, window, threads, max_time, costs, ...

    Returns
    -------
    Evaluation
        A row a scheduler and seed: scheduler, seed, knowledge, and the figures by their keys in ``berth evaluate --json``, to the
        bit (``_s``: seconds, ``_per_s``: a rate). A `pandas.DataFrame`; without pandas `Rows`, dicts with the same methods.

    Raises
    ------
    berth.Error
        What the command line says of bad input, and of a scheduler that fails.
    KeyboardInterrupt
        Of Ctrl-C, which ends it.

    Examples
    --------
    >>> table = berth.evaluate(["fcfs", "srpt"], workload="synthetic(rate=3,jobs=50)", cluster="v100=4,k80=4", seeds=range(3))
    >>> table[["scheduler", "seed", "jobs"]].head(2)
      scheduler  seed  jobs
    0      fcfs     0    50
    1      fcfs     1    50
    >>> bool(table.summary()["jct_ratio"]["srpt"] < 1)
    True
    """
    names, factories = named(schedulers) if schedulers is not None else ([], {})
    spec, jobs = workload_of(workload)
    given = dict(keywords, workload=spec, cluster=cluster, features=features, scenario=scenario, seeds=seeds_of(seeds))
    return table_of(_berth.evaluate(names, factories, texts_of(given), jobs))


def simulate(scheduler: SchedulerLike = "fcfs", *, scenario: StrPath | None = None, workload: Workload | None = None,
             cluster: StrPath | None = None, features: str | None = None, seed: int | None = None,
             **keywords: Option) -> Simulation:
    """Runs one scheduler once, and says what became of each job and what happened when.

    Parameters
    ----------
    scheduler
        A spec, an object or a class of `Scheduler`, a policy.
    scenario, workload, cluster, features
        As of `evaluate`.
    seed
        Of the workload. None: 1000.
    **keywords
        Other options of ``berth simulate`` with ``_`` for ``-``.

    Returns
    -------
    Simulation
        Its jobs, events and series as frames.

    Raises
    ------
    berth.Error
        As `evaluate`.

    Examples
    --------
    >>> run = berth.simulate("srpt", workload="synthetic(rate=1,jobs=20)", cluster="v100=4,k80=4", seed=1)
    >>> run.jobs["status"].unique().tolist()
    ['completed']
    >>> run.events["event"].head(2).tolist()
    ['arrive', 'start']
    """
    names, factories = named(scheduler)
    if len(names) != 1:
        raise ValueError(f"scheduler: expected one, found {len(names)}")
    spec, jobs = workload_of(workload)
    given = dict(keywords, workload=spec, cluster=cluster, features=features, scenario=scenario, seed=seed)
    return Simulation(**_berth.simulate(names[0], factories, texts_of(given), jobs))


class Simulation:
    """One run, as `simulate` gives it. Frames are pandas' where it is installed, else dicts of columns; times in s from the
    scenario's origin. Attributes:

    - `metrics`: its figures, by the keys of ``berth simulate --json``;
    - `jobs`: a row a job: job (index), id, job_type, gpus, status ("completed", "rejected", "unfinished", "not come"), gpu_type
      (of the last start), arrival_s, start_s (first), end_s, wait_s, jct_s (nan where there is none), preemptions, interruptions;
    - `events`: as they happened: time_s, event ("arrive", "start", ...), job (-1 = none), gpu_type, device (a gang's first);
    - `series`: after each decision, until the next: time_s, waiting, running (jobs), busy_TYPE (GPUs).

    Examples
    --------
    >>> run = berth.simulate("fcfs", workload="synthetic(rate=1,jobs=10)", cluster="v100=4,k80=4", seed=1)
    >>> list(run.series)
    ['time_s', 'waiting', 'running', 'busy_v100', 'busy_k80']
    >>> bool((run.jobs["jct_s"] >= run.jobs["wait_s"]).all()), len(run.signature)
    (True, 16)
    """

    metrics: Record

    def __init__(self, run: Record, jobs: Record, events: Record, series: Record) -> None:
        self.metrics = run
        self._jobs, self._events, self._series = jobs, events, series

    @functools.cached_property  # frames when they are first asked for: importing pandas takes longer than most runs
    def jobs(self) -> pandas.DataFrame:
        """What became of each job: a row a job."""
        return frame_of(self._jobs)

    @functools.cached_property
    def events(self) -> pandas.DataFrame:
        """What happened, a row an event, in the order of time."""
        return frame_of(self._events)

    @functools.cached_property
    def series(self) -> pandas.DataFrame:
        """What was there after each decision, a row a decision."""
        return frame_of(self._series)

    @property
    def signature(self) -> str:
        """Hash of the event log, 16 hexadecimal digits: the same run, the same text."""
        return str(self.metrics["signature"])

    def __repr__(self) -> str:
        scheduler, jobs, seconds = (self.metrics[key] for key in ("scheduler", "jobs", "mean_jct_s"))
        return f"Simulation({scheduler!r}, {jobs} jobs done, mean JCT {seconds / 3600:.2f} h)"


def frame_of(columns: Record) -> pandas.DataFrame:
    """A pandas.DataFrame, else the columns as they are."""
    if not has_pandas():
        return cast("pandas.DataFrame", columns)
    import pandas

    return pandas.DataFrame(columns)


def check_scheduler(scheduler: SchedulerLike, *, rejects: bool = False) -> dict[str, str]:
    """Checks what every scheduler must hold, as Berth's tests check it of its own.

    Legal decisions and every job done under every clock and in extreme scenarios; the same run again, with the same object and by
    turns with another; no more knowledge than declared; wrong estimates survived.

    Parameters
    ----------
    scheduler
        A spec, an object or a class of `Scheduler`, a policy.
    rejects
        It may turn jobs away.

    Returns
    -------
    dict
        What was checked, by name, a sentence each.

    Raises
    ------
    berth.Error
        What does not hold, and in which scenario.

    Examples
    --------
    >>> for name in berth.check_scheduler("fcfs"):
    ...     print(name)
    legality
    repeats
    replay
    knowledge
    estimates
    """
    names, factories = named(scheduler)
    if len(names) != 1:
        raise ValueError(f"scheduler: expected one, found {len(names)}")
    return dict(_berth.check(names[0], factories, bool(rejects)))


def table_of(rows: list[Record]) -> Evaluation:
    """An Evaluation of pandas, else Rows."""
    if not has_pandas():
        return cast("Evaluation", Rows(rows))
    from berth.frames import Evaluation

    return Evaluation(rows)


@functools.cache
def has_pandas() -> bool:
    """Is it installed?"""
    return find_spec("pandas") is not None


class Rows(list[dict[str, Any]]):
    """Dicts, a scheduler and seed each: what `evaluate` gives where pandas is not installed.

    Examples
    --------
    >>> from berth.results import Rows
    >>> table = berth.evaluate(["fcfs", "srpt"], workload="synthetic(rate=1,jobs=20)", cluster="v100=4", seeds=range(2))
    >>> rows = Rows(table.to_dict("records"))
    >>> [line["scheduler"] for line in rows.summary()]
    ['fcfs', 'srpt']
    """

    def summary(self) -> list[dict[str, Any]]:
        """A dict a scheduler, as a row of `Evaluation.summary`."""
        return summary_of(self)

    def plot(self, *_: object, **__: object) -> None:
        """Raises ImportError: it needs pandas."""
        raise ImportError("plot needs pandas and matplotlib: pip install pandas matplotlib")

    def to_arrow(self) -> Any:
        """A pyarrow.Table, which Polars takes: polars.from_arrow(rows.to_arrow())."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self))


def summary_of(rows: list[Record]) -> list[Record]:
    """As the CSV of `berth evaluate`, with every figure that the rows have: means over seeds, and of the mean JCT and its ratio to
    the first scheduler's 95% intervals, paired over seeds."""
    given = set.intersection(*(set(row) for row in rows)) if rows else set(_MADE_FROM)
    for name in _MADE_FROM:
        if name not in given:
            raise KeyError(f"summary: expected the columns of berth.evaluate, found none {name!r}")
    summaries: list[Record] = []
    for row in json.loads(_berth.summarize(rows)):
        low, high = row.pop("mean_jct_ci95_s") or (None, None)
        ratio = row.pop("jct_ratio")
        if ratio is None:  # one workload
            first = summaries[0]["mean_jct_s"] if summaries else row["mean_jct_s"]
            ratio = {"mean": row["mean_jct_s"] / first if row["mean_jct_s"] and first else None, "low": None, "high": None}
        row.pop("workloads")
        figures = {key: _figure(value) for key, value in row.items() if given.issuperset(_OF_OTHERS.get(key, {key}))}
        head = {key: figures.pop(key) for key in ("scheduler", "knowledge", "jobs", "unfinished", "unstable", "mean_jct_s")
                if key in figures}
        summaries.append(head | {
            "mean_jct_low_s": _figure(low), "mean_jct_high_s": _figure(high), "jct_ratio": _figure(ratio["mean"]),
            "jct_ratio_low": _figure(ratio["low"]), "jct_ratio_high": _figure(ratio["high"])} | figures)
    return summaries


def _figure(value: Any) -> Any:
    """JSON has no nan and nothing infinite: it says null, and ">10000" of what is beyond all that is measured."""
    if value is None:
        return math.nan
    return math.inf if isinstance(value, str) and value.startswith(">") else value
