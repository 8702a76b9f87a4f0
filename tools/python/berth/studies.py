"""Many evaluations at once: grids, and the smallest cluster that will do."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from berth import _berth
from berth._fingerprint import fingerprint
from berth._arguments import seeds_of, text_of, texts_of, utf8_of
from berth.results import frame_of, has_pandas, summary_of
from berth.scheduler import factory_of, named
from berth.typing import Option, Record, SchedulerLike, Seeds, StrPath

if TYPE_CHECKING:
    import pandas

    from berth.frames import Sweep

__all__ = ["Size", "SweepRows", "size", "sweep"]

Axes = list[tuple[str, list[str]]]
Asked = tuple[Axes, list[SchedulerLike] | None, dict[str, str]]
Show = Callable[[int, int], object]

_TRIES = 3  # how often workers may be lost with nothing done in between


def sweep(over: str | Mapping[str, Iterable[Option] | Option],
          schedulers: SchedulerLike | Iterable[SchedulerLike] | None = None, *, workload: str | None = None,
          cluster: StrPath | None = None, features: str | None = None, seeds: Seeds | None = None,
          scenario: StrPath | None = None, out: StrPath | None = None,
          executor: concurrent.futures.Executor | Callable[[], concurrent.futures.Executor] | None = None,
          progress: bool | Callable[[int, int], object] | None = None, **keywords: Option) -> Sweep:
    """Runs schedulers over a grid: ``berth sweep``.

    Parameters
    ----------
    over
        Axes with their values, a mapping or the text of ``--over``. ``{axis}`` in other keywords stands for the value; an axis with
        a keyword's name sets it.
    schedulers, workload, cluster, features, seeds, scenario
        As of `evaluate`, without generators of jobs. For an executor of other processes schedulers in Python must be picklable, as
        policies are.
    out
        A folder for the cells, in which the same call goes on where it was. A scheduler of Python's that has changed since (the source
        of its class or of one that it inherits from, their attributes and its own, what its functions take by default or from functions
        around them, and what is in files that texts and paths in these name) is berth.Error there. What its class imports is not looked
        at, nor what is put into a list, dict or other value of the class after the process's first call. None: a temporary one.
    executor
        A ``concurrent.futures.Executor``, or a function that makes one: processes, Dask (``client.get_executor()``), mpi4py
        (``MPIPoolExecutor()``), Ray (`berth.executors.RayExecutor`). A cell is a task, of one thread unless ``threads`` says
        otherwise. Cells of workers that were lost are done again (of an executor that is lost itself: by another one of its
        kind, or of the function's). None: ``threads`` of this process.
    progress
        Called with (done, all) after each cell, or True for a bar (tqdm).
    **keywords
        Other options of ``berth evaluate`` with ``_`` for ``-``.

    Returns
    -------
    Sweep
        A row a cell, scheduler and seed: cell, the axes (numbers, where all their values are), scheduler, seed, jobs, unfinished,
        `evaluate`'s figures, decisions and signature; the same to the bit on any executor. A `pandas.DataFrame`; without pandas
        `SweepRows`.

    Raises
    ------
    berth.Error
        What the command line says; where a scheduler cannot be pickled for a ``ProcessPoolExecutor``; and where workers are lost three
        times in a row without a cell in between.
    ImportError
        Where ``progress=True`` lacks tqdm.

    Examples
    --------
    >>> table = berth.sweep({"rate": [1, 2], "cluster": ["v100=4", "v100=8"]}, ["fcfs", "srpt"],
    ...                     workload="synthetic(rate={rate},jobs=20)", seeds=range(2))
    >>> table.shape[0], table["rate"].unique().tolist()
    (16, [1, 2])
    >>> len(table.summary())
    8
    """
    axes = _axes_of(over)
    own = _listed(schedulers)
    names, factories = named(own) if own is not None else ([], {})
    _check_spec(workload)
    texts = texts_of(dict(keywords, workload=workload, cluster=cluster, features=features, scenario=scenario, seeds=seeds_of(seeds)))
    show, close = _shown(progress)
    run = None
    with contextlib.ExitStack() as stack:
        stack.callback(close)
        if executor is not None:
            texts.setdefault("threads", "1")
            executors = stack.enter_context(contextlib.closing(_Executors(executor)))
            run = functools.partial(_spread, (axes, own, texts), executors, show)
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else utf8_of("out", os.fspath(out))
        content = [(factory_of(its)[0], fingerprint(its)) for its in own or [] if out is not None and not isinstance(its, str)]
        rows = _berth.sweep(axes, names, factories, texts, folder, _berth.__file__, content, run, show)
    return _sweep_table(rows, axes)


def size(types: str, meet: str, schedulers: SchedulerLike | Iterable[SchedulerLike] | None = None, *, workload: str | None = None,
         features: str | None = None, seeds: Seeds | None = None, scenario: StrPath | None = None, **keywords: Option) -> Size:
    """Finds the fewest GPUs, or the cheapest mix of types, on which levels of service hold: ``berth size``.

    Parameters
    ----------
    types
        How many of each: "v100=0..16@2.5,k80=0..32..4@0.5" is 0 to 16 and 0 to 32 in steps of 4, at 2.5 and 0.5 an hour.
    meet
        Levels: "mean_jct_h<=12;deadline_misses<=1%".
    schedulers, workload, features, seeds, scenario
        As of `evaluate`, without generators of jobs.
    **keywords
        Other options of ``berth size`` with ``_`` for ``-``.

    Returns
    -------
    Size
        The best cluster, and every one that was tried.

    Raises
    ------
    berth.Error
        What the command line says.

    Examples
    --------
    >>> size = berth.size("v100=1..4", "mean_wait_h<=0.3", ["fcfs", "srpt"], workload="queueing(rate=2,jobs=200)", clock="event",
    ...                   seeds=range(10), window="20:200")
    >>> size.best
    'v100=3'
    >>> size.tried.loc[size.tried["meets"], ["cluster", "scheduler"]].values.tolist()
    [['v100=3', 'srpt'], ['v100=4', 'fcfs'], ['v100=4', 'srpt']]
    """
    names, factories = named(schedulers) if schedulers is not None else ([], {})
    _check_spec(workload)
    given = dict(keywords, types=types, meet=meet, workload=workload, features=features, seeds=seeds_of(seeds), scenario=scenario)
    said = _berth.size(names, factories, texts_of(given))
    rows = said["rows"]
    columns = {key: [row.get(key) for row in rows] for key in (rows[0] if rows else ())}
    return Size(said["best"], said["runner_up"], frame_of(columns), said["mixes"], said["seeds"], said["monotone"],
                dict(said["refused"]))


class Size(NamedTuple):
    """What `size` found. Attributes:

    - `best`, `runner_up`: clusters as ``cluster=`` takes them, None where none meets the levels;
    - `tried`: a row a cluster and scheduler, with each figure and the bounds of the 95% interval that decides, wider than that of
      `evaluate` (FIGURE_low, FIGURE_high; nan where there are none); a `pandas.DataFrame`, without pandas a dict of columns;
    - `mixes`: how many clusters there are; `seeds`: workloads each; `monotone`: False where a neighbour of the best was not as expected;
    - `refused`: clusters that cannot run the jobs, and why.

    Examples
    --------
    >>> size = berth.size("v100=1..4", "mean_wait_h<=0.3", "srpt", workload="queueing(rate=2,jobs=200)", clock="event", seeds=range(10),
    ...                   window="20:200")
    >>> size.best, size.runner_up, size.mixes, size.monotone, size.refused
    ('v100=3', 'v100=4', 4, True, {})
    """

    best: str | None
    runner_up: str | None
    tried: pandas.DataFrame
    mixes: int
    seeds: int
    monotone: bool
    refused: dict[str, str]


def _listed(schedulers: SchedulerLike | Iterable[SchedulerLike] | None) -> list[SchedulerLike] | None:
    if schedulers is None:
        return None
    if isinstance(schedulers, (str, type)) or not hasattr(schedulers, "__iter__"):
        return [schedulers]
    return list(schedulers)


def _check_spec(workload: Any) -> None:
    if callable(workload):
        raise TypeError("workload: expected a spec, found a function; berth.evaluate takes it")


def _axes_of(over: object) -> Axes:
    if isinstance(over, str):
        return _berth.axes(utf8_of("over", over))
    if not isinstance(over, Mapping) or not over:
        raise TypeError(f"over: expected a mapping of axes to values, or text, found {over!r}")
    axes = []
    for name, values in over.items():
        if not isinstance(name, str):
            raise TypeError(f"over: expected names of axes, found {name!r}")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
            raise ValueError(f"over: expected an axis's name of letters, digits, '_' and '-', found {name!r}")
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            values = [values]
        values = list(values)
        if not values:
            raise ValueError(f"over: {name}: expected a value at least, found none")
        axes.append((name, [text_of(f"over: {name}", value) for value in values]))
    return axes


def _shown(progress: Any) -> tuple[Show | None, Callable[[], None]]:
    """What is called after each cell, and once it is over."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        try:
            import tqdm
        except ImportError:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from None
        bar = tqdm.tqdm(unit="cell")

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return show, bar.close
    if not callable(progress):
        raise TypeError(f"progress: expected a function of (done, all) or True, found {progress!r}")
    return progress, lambda: None


def _cell(axes: Axes, schedulers: list[SchedulerLike] | None, texts: dict[str, str], cell: int) -> str:
    """The text of a cell's file: what a worker does."""
    names, factories = named(schedulers) if schedulers is not None else ([], {})
    return _berth.sweep_cell(axes, names, factories, texts, cell)


class _Executors:
    """The executor that was given, and others in its place once it is broken."""

    def __init__(self, given: Any) -> None:
        if not callable(getattr(given, "submit", None)) and not callable(given):
            raise TypeError(f"executor: expected a concurrent.futures.Executor or a function that makes one, found {given!r}")
        self._make = None if callable(getattr(given, "submit", None)) else given
        self.now, self._ours = (given, False) if self._make is None else (given(), True)
        if not callable(getattr(self.now, "submit", None)):
            raise TypeError(f"executor: expected a function that makes an executor, found that it gives {self.now!r}")

    def another(self) -> bool:
        """False where there can be none."""
        broken = self.now
        if self._make is not None:
            self.now = self._make()
        elif type(broken) is concurrent.futures.ProcessPoolExecutor:
            of: Any = broken  # what it was made with is for itself alone
            self.now = concurrent.futures.ProcessPoolExecutor(of._max_workers, of._mp_context, of._initializer, of._initargs)
        else:
            return False
        if self._ours:
            broken.shutdown(wait=False)
        self._ours = True
        return True

    def close(self) -> None:
        if self._ours:
            self.now.shutdown(wait=True, cancel_futures=True)


def _check_travels(schedulers: list[SchedulerLike]) -> None:
    """CPython's pool of processes may hang for good when it meets what cannot be pickled."""
    for scheduler in schedulers:
        try:
            ForkingPickler.dumps(scheduler)
        except Exception as error:  # whatever cannot be pickled says so in its own way
            raise _berth.Error(f"schedulers: expected what can be pickled for an executor of other processes, found {scheduler!r}: "
                               f"{error}") from error


def _spread(asked: Asked, executors: _Executors, show: Show | None, todo: list[int], write: Callable[[int, str], None]) -> None:
    """Has the cells `todo` run by an executor, and those of lost workers again; write(cell, text) keeps one."""
    left, lost = dict.fromkeys(todo), 0
    if isinstance(executors.now, concurrent.futures.ProcessPoolExecutor):
        _check_travels(asked[1] or [])
    while left:
        before = len(left)
        futures: dict[concurrent.futures.Future[str], int] = {}
        try:
            for cell in left:
                futures[executors.now.submit(_cell, *asked, cell)] = cell
            for future in concurrent.futures.as_completed(futures):
                text = future.result()
                cell = futures[future]
                write(cell, text)
                del left[cell]
                if show is not None:
                    show(len(todo) - len(left), len(todo))
        except concurrent.futures.BrokenExecutor as error:
            for future, cell in futures.items():  # what has come in all the same
                if cell in left and future.done() and not future.cancelled() and future.exception() is None:
                    write(cell, future.result())
                    del left[cell]
            lost = 0 if len(left) < before else lost + 1
            if lost == _TRIES or not executors.another():
                raise _berth.Error(f"executor: its workers are lost ({error}), with {len(todo) - len(left)} of {len(todo)} cells "
                                   "done; with out= they are kept, and the same call goes on") from error
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def _sweep_table(rows: list[Record], axes: Axes) -> Sweep:
    for name, values in axes:
        numbers = _numbers_of(values)
        if numbers is not None:
            for row in rows:
                row[name] = numbers[row[name]]
    names = [name for name, _ in axes]
    if not has_pandas():
        return cast("Sweep", SweepRows(rows, names))
    from berth.frames import Sweep

    return Sweep([*rows], names)


def _numbers_of(values: list[str]) -> Mapping[str, float] | None:
    """Of each text the number, where all are: whole ones, or else floats."""
    for kind in (int, float):
        try:
            return {value: kind(value) for value in values}
        except ValueError:
            continue
    return None


def cells_of(rows: list[Record], axes: Sequence[str]) -> list[Record]:
    """Of each cell and scheduler the means over seeds."""
    cells: dict[int, list[Record]] = {}
    for row in rows:
        cells.setdefault(row["cell"], []).append(row)
    lines = []
    for cell, its in cells.items():
        runs = _copies_of(its)
        if all(repr(copy) == repr(runs[name, 0]) for (name, nth), copy in runs.items() if nth):
            its = [row for (_, nth), copy in runs.items() if not nth for row in copy]
        summary = {line["scheduler"]: line for line in summary_of(its)}
        lines += [{"cell": cell} | {axis: its[0][axis] for axis in axes} | summary[name] for name, _ in runs]
    return lines


def _copies_of(rows: list[Record]) -> dict[tuple[str, int], list[Record]]:
    """Rows of a cell by scheduler and place: where specs are alike once they are filled in, all of them ran."""
    runs: dict[tuple[str, int], list[Record]] = {}
    seen: collections.Counter[tuple[str, int]] = collections.Counter()
    for row in rows:
        run = row.get("scheduler", ""), row.get("seed", 0)
        runs.setdefault((run[0], seen[run]), []).append(row)
        seen[run] += 1
    return runs


class SweepRows(list[dict[str, Any]]):
    """Dicts, a cell, scheduler and seed each: what `sweep` gives where pandas is not installed.

    Examples
    --------
    >>> from berth.studies import SweepRows
    >>> table = berth.sweep({"rate": [1, 2]}, "fcfs", workload="synthetic(rate={rate},jobs=20)", cluster="v100=4", seeds=range(2))
    >>> rows = SweepRows(table.to_dict("records"), ["rate"])
    >>> [(line["cell"], line["rate"]) for line in rows.summary()]
    [(0, 1), (1, 2)]
    """

    def __init__(self, rows: Iterable[Record], axes: Sequence[str]) -> None:
        super().__init__(rows)
        self._axes = axes

    def summary(self) -> list[dict[str, Any]]:
        """A dict a cell and scheduler, as a row of `Sweep.summary`."""
        return cells_of(self, self._axes)
