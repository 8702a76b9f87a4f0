"""What runs measured: pandas data frames, or lists of dicts where pandas is not installed."""

import functools
import json
import math
from importlib.util import find_spec
from typing import Any

from berth import _berth
from berth._arguments import seeds_of, texts_of
from berth.jobs import workload_of
from berth.scheduler import named


def evaluate(schedulers: Any = None, *, workload: Any = None, cluster: Any = None, features: Any = None,
             seeds: Any = None, scenario: Any = None, **keywords: Any) -> Any:
    """Schedulers on the same workloads: a row a scheduler and seed, of a data frame with summary() and plot().

        berth.evaluate(["fcfs", "gavel", Mine()], workload="synthetic(rate=1)", cluster="v100=8,k80=8", seeds=range(1000, 1020))

    schedulers: specs of the command line, berth.Scheduler objects or classes of it, the first of which ratios are to
    (None: the command line's usual ones). workload: a spec, or a function that yields jobs (berth.Jobs). seeds: a range, or
    "1000:1020". scenario: a file or berth.Scenario in the place of workload and cluster. Other keywords are
    `berth evaluate`'s: knowledge, clock, window, threads, max_time, costs. Columns: scheduler, seed, knowledge, and the
    figures by their keys in `berth evaluate --json`, to the bit (seconds, where the key ends in _s). berth.Error (a ValueError) says what the command line says; Ctrl-C ends it.
    """
    names, factories = named(schedulers) if schedulers is not None else ([], {})
    workload, jobs = workload_of(workload)
    given = dict(keywords, workload=workload, cluster=cluster, features=features, scenario=scenario, seeds=seeds_of(seeds))
    return table_of(_berth.evaluate(names, factories, texts_of(given), jobs))


def simulate(scheduler: Any = "fcfs", *, scenario: Any = None, workload: Any = None, cluster: Any = None, features: Any = None,
             seed: Any = None, **keywords: Any) -> "Simulation":
    """One run of one scheduler, as `berth simulate`: what became of each job, what happened when.

    scheduler: a spec, a berth.Scheduler or a class of it; the rest as evaluate's, with one seed (1000). berth.Error as there.
    """
    names, factories = named(scheduler)
    if len(names) != 1:
        raise ValueError(f"scheduler: expected one, found {len(names)}")
    workload, jobs = workload_of(workload)
    given = dict(keywords, workload=workload, cluster=cluster, features=features, scenario=scenario, seed=seed)
    return Simulation(**_berth.simulate(names[0], factories, texts_of(given), jobs))


class Simulation:
    """A run. Frames are pandas' where it is installed, else dicts of columns; times in s from the scenario's origin.

    - metrics: its figures, by the keys of `berth simulate --json`; signature: of the event log;
    - jobs: a row a job: job (index), id, job_type, gpus, status ("completed", "rejected", "unfinished", "not come"), gpu_type
      (of the last start), arrival_s, start_s (first), end_s, wait_s, jct_s (nan where there is none), preemptions, interruptions;
    - events: as they happened: time_s, event ("arrive", "start", ...), job (-1 = none), gpu_type, device (a gang's first);
    - series: after each decision, until the next: time_s, waiting, running (jobs), busy_TYPE (GPUs).
    """

    def __init__(self, run, jobs, events, series):
        self.metrics: dict[str, Any] = run
        self._jobs, self._events, self._series = jobs, events, series

    @functools.cached_property  # frames when they are first asked for: importing pandas takes longer than most runs
    def jobs(self) -> Any:
        return frame_of(self._jobs)

    @functools.cached_property
    def events(self) -> Any:
        return frame_of(self._events)

    @functools.cached_property
    def series(self) -> Any:
        return frame_of(self._series)

    @property
    def signature(self) -> str:
        return self.metrics["signature"]

    def __repr__(self):
        scheduler, jobs, seconds = (self.metrics[key] for key in ("scheduler", "jobs", "mean_jct_s"))
        return f"Simulation({scheduler!r}, {jobs} jobs done, mean JCT {seconds / 3600:.2f} h)"


def frame_of(columns):
    """A pandas.DataFrame, else the columns as they are."""
    if not has_pandas():
        return columns
    import pandas

    return pandas.DataFrame(columns)


def check_scheduler(scheduler: Any, *, rejects: bool = False) -> dict[str, str]:
    """What every scheduler must hold, as Berth's tests check it of its own: legal decisions and every job done under every
    clock and in extreme scenarios; the same run again, with the same object and by turns with another; no more knowledge
    than declared; wrong estimates survived. rejects: it may turn jobs away. Returns what was checked, a sentence each;
    berth.Error says what does not hold, in which scenario."""
    names, factories = named(scheduler)
    if len(names) != 1:
        raise ValueError(f"scheduler: expected one, found {len(names)}")
    return dict(_berth.check(names[0], factories, bool(rejects)))


def table_of(rows):
    """An Evaluation of pandas, else Rows."""
    return _evaluation_class()(rows) if has_pandas() else Rows(rows)


@functools.cache
def has_pandas():
    return find_spec("pandas") is not None


class Rows(list):
    """Dicts, a scheduler and seed each: what evaluate gives without pandas."""

    def summary(self) -> list[dict[str, Any]]:
        """A dict a scheduler; see Evaluation.summary."""
        return summary_of(self)

    def plot(self, *_: Any, **__: Any) -> None:
        """ImportError: it needs pandas."""
        raise ImportError("plot needs pandas and matplotlib: pip install pandas matplotlib")

    def to_arrow(self) -> Any:
        """A pyarrow.Table, which Polars takes: polars.from_arrow(rows.to_arrow())."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self))


def summary_of(rows):
    """As the CSV of `berth evaluate`, with every figure: means over seeds, and of the mean JCT and its ratio to the
    first scheduler's 95% intervals, paired over seeds."""
    summaries = []
    for row in json.loads(_berth.summarize(rows)):
        low, high = row.pop("mean_jct_ci95_s") or (math.nan, math.nan)
        ratio = row.pop("jct_ratio")
        if ratio is None:  # one workload
            first = summaries[0]["mean_jct_s"] if summaries else row["mean_jct_s"]
            ratio = {"mean": row["mean_jct_s"] / first if row["mean_jct_s"] and first else math.nan}
        row.pop("workloads")
        figures = {key: math.nan if value is None else value for key, value in row.items()}
        head = {key: figures.pop(key) for key in ("scheduler", "knowledge", "jobs", "unfinished", "unstable", "mean_jct_s")}
        summaries.append(head | {
            "mean_jct_low_s": low, "mean_jct_high_s": high, "jct_ratio": ratio["mean"],
            "jct_ratio_low": ratio.get("low", math.nan), "jct_ratio_high": ratio.get("high", math.nan)} | figures)
    return summaries


@functools.cache
def _evaluation_class():
    import pandas

    class Evaluation(pandas.DataFrame):
        """A row a scheduler and seed; filtered by rows it still has a summary."""

        @property
        def _constructor(self):
            return Evaluation

        def summary(self) -> pandas.DataFrame:
            """A row a scheduler, indexed by it, what `berth evaluate` prints and more: the mean over seeds of every
            figure (max_* and end_s the largest), with mean_jct_low_s, mean_jct_high_s, jct_ratio, jct_ratio_low and
            jct_ratio_high the 95% intervals of the mean JCT and of its ratio to the first scheduler's, paired over
            seeds, which must be the same of all (berth.Error)."""
            missing = {"scheduler", "seed", "mean_jct_s"} - set(self.columns)
            if missing:
                raise KeyError(f"summary: expected the columns of berth.evaluate, found none {sorted(missing)[0]!r}")
            return pandas.DataFrame(summary_of(self.to_dict("records"))).set_index("scheduler")

        def plot(self, metric: str = "mean_jct_s", ax: Any = None) -> Any:
            """Each scheduler's `metric`, a point a seed, and its mean with a 95% interval. Returns the axes."""
            if metric not in self.columns:
                raise KeyError(f"metric: expected a column, found {metric!r}")
            if ax is None:
                import matplotlib.pyplot

                _, ax = matplotlib.pyplot.subplots()
            schedulers = list(dict.fromkeys(self["scheduler"]))
            unit, label = (3600.0, metric[:-2] + " (h)") if metric.endswith("_s") else (1.0, metric)
            for place, scheduler in enumerate(schedulers):
                values = self.loc[self["scheduler"] == scheduler, metric] / unit
                ax.plot(values, [place + 0.25] * len(values), "o", color="0.7", markersize=4)  # not under the interval
                mean, low, high = _berth.bootstrap_mean(list(values))
                ax.errorbar([mean], [place], xerr=[[max(0.0, mean - low)], [max(0.0, high - mean)]], fmt="o", capsize=3)
            ax.set_yticks(range(len(schedulers)), schedulers)
            ax.invert_yaxis()
            if (self[metric] >= 0).all():
                ax.set_xlim(left=0)
            ax.set_xlabel(label)
            return ax

        def to_arrow(self) -> Any:
            """A pyarrow.Table, which Polars takes: polars.from_arrow(frame.to_arrow())."""
            import pyarrow

            return pyarrow.Table.from_pandas(self, preserve_index=False)

    return Evaluation
