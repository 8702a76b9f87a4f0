"""Many evaluations at once: grids, and the smallest cluster that will do."""

import concurrent.futures
import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

from berth import _berth
from berth._fingerprint import fingerprint
from berth._arguments import seeds_of, text_of, texts_of, utf8_of
from berth.results import frame_of, has_pandas, summary_of
from berth.scheduler import named

_NOT_KEPT = {"knowledge", "decision_us_mean", "decision_us_p99", "wall_s"}  # of what a cell's file has
_TRIES = 3  # how often workers may be lost with nothing done in between


def sweep(over: Any, schedulers: Any = None, *, workload: Any = None, cluster: Any = None, features: Any = None, seeds: Any = None,
          scenario: Any = None, out: Any = None, executor: Any = None, progress: Any = None, **keywords: Any) -> Any:
    """`berth sweep`: schedulers over a grid, a row a cell, scheduler and seed.

        berth.sweep({"rate": [0.5, 1, 2], "cluster": ["v100=8", "v100=16"]}, ["fcfs", "gavel"], workload="synthetic(rate={rate})",
                    seeds=range(1000, 1010), executor=concurrent.futures.ProcessPoolExecutor(8))

    over: axes with their values, a mapping or `--over`'s text; {axis} in other keywords stands for the value, an axis with a
    keyword's name sets it. schedulers and the other keywords are evaluate's (generators as workload are not; schedulers of
    Python's must be picklable for an executor of other processes). out: a folder for the cells, in which the same call goes on
    where it was; None: a temporary one. A scheduler of Python's that has changed since (the source of its class or of one that it
    inherits from, its attributes, files that they name) is berth.Error there; what its class imports is not looked at.

    executor: a concurrent.futures.Executor, or a function that makes one: processes, Dask (client.get_executor()), mpi4py
    (MPIPoolExecutor()), Ray (berth.executors.RayExecutor()). A cell is a task, of one thread unless `threads` says otherwise, and the
    table is the same to the bit. Cells of workers that were lost are done again (of an executor that is lost itself: by another one
    of its kind, or of the function's); three times in a row without a cell in between is berth.Error. None: `threads` of
    this process. progress: called with (done, all) after each cell, or True for tqdm.

    Returns a pandas.DataFrame (lists of dicts without pandas) with cell, the axes (numbers, where all their values are), scheduler,
    seed, jobs, unfinished, evaluate's figures, decisions and signature; summary() gives a row a cell and scheduler, as
    evaluate's. to_csv and to_parquet (with pyarrow) are pandas' own. berth.Error says what the command line says.
    """
    axes = _axes_of(over)
    own = [schedulers] if isinstance(schedulers, (str, type)) or not hasattr(schedulers, "__iter__") else list(schedulers)
    names, factories = named(own) if schedulers is not None else ([], {})
    _check_spec(workload)
    texts = texts_of(dict(keywords, workload=workload, cluster=cluster, features=features, scenario=scenario, seeds=seeds_of(seeds)))
    show, close = _shown(progress)
    run = None
    if executor is not None:
        texts.setdefault("threads", "1")
        asked = (axes, None if schedulers is None else own, texts)
        run = functools.partial(_spread, asked, _Executors(executor), show)
    with contextlib.ExitStack() as stack:
        stack.callback(close)
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else utf8_of("out", os.fspath(out))
        content = [] if out is None else [(name, fingerprint(scheduler)) for name, scheduler in zip(names, own) if name in factories]
        rows = _berth.sweep(axes, names, factories, texts, folder, _berth.__file__, content, run, show)
    return _sweep_table(rows, axes)


def size(types: str, meet: str, schedulers: Any = None, *, workload: Any = None, features: Any = None, seeds: Any = None,
         scenario: Any = None, **keywords: Any) -> "Size":
    """`berth size`: the fewest GPUs, or the cheapest mix of types, on which the levels hold.

        berth.size("v100=0..16@2.5,k80=0..32..4@0.5", meet="mean_jct_h<=12;deadline_misses<=1%", schedulers="srpt",
                   workload="synthetic(rate=0.3,jobs=100)", seeds=range(10))

    The keywords are the command line's (`berth size --help`), schedulers may be Python's. berth.Error as there.
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
    """best, runner_up: clusters as `cluster=` takes them, None where none meets the levels. tried: a row a cluster and scheduler,
    with each figure and the bounds of its 95% interval (FIGURE_low, FIGURE_high; nan where there are none). mixes: how many
    clusters there are; seeds: workloads each; monotone: False where more GPUs did worse; refused: clusters that cannot
    run the jobs, and why."""

    best: str | None
    runner_up: str | None
    tried: Any
    mixes: int
    seeds: int
    monotone: bool
    refused: dict[str, str]


def _check_spec(workload):
    if callable(workload):
        raise TypeError("workload: expected a spec, found a function; berth.evaluate takes it")


def _axes_of(over):
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


def _shown(progress):
    """What is called after each cell, and once it is over."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        try:
            import tqdm
        except ImportError:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from None
        bar = tqdm.tqdm(unit="cell")

        def show(done, total):
            bar.total = total
            bar.update(done - bar.n)

        return show, bar.close
    if not callable(progress):
        raise TypeError(f"progress: expected a function of (done, all) or True, found {progress!r}")
    return progress, lambda: None


def _cell(axes, schedulers, texts, cell):
    """The text of a cell's file: what a worker does."""
    names, factories = named(schedulers) if schedulers is not None else ([], {})
    return _berth.sweep_cell(axes, names, factories, texts, cell)


class _Executors:
    """The executor that was given, and others in its place once it is broken."""

    def __init__(self, given):
        if not callable(getattr(given, "submit", None)) and not callable(given):
            raise TypeError(f"executor: expected a concurrent.futures.Executor or a function that makes one, found {given!r}")
        self._make = None if callable(getattr(given, "submit", None)) else given
        self.now, self._ours = (given, False) if self._make is None else (given(), True)
        if not callable(getattr(self.now, "submit", None)):
            raise TypeError(f"executor: expected a function that makes an executor, found that it gives {self.now!r}")

    def another(self):
        """False where there can be none."""
        broken = self.now
        if self._make is not None:
            self.now = self._make()
        elif type(broken) is concurrent.futures.ProcessPoolExecutor:
            self.now = concurrent.futures.ProcessPoolExecutor(broken._max_workers, broken._mp_context, broken._initializer,
                                                              broken._initargs)
        else:
            return False
        if self._ours:
            broken.shutdown(wait=False)
        self._ours = True
        return True

    def close(self):
        if self._ours:
            self.now.shutdown(wait=True, cancel_futures=True)


def _spread(asked, executors, show, todo, write):
    """Has the cells `todo` run by an executor, and those of lost workers again; write(cell, text) keeps one."""
    left, lost = dict.fromkeys(todo), 0
    with contextlib.closing(executors):
        while left:
            before, futures = len(left), {}
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


def _sweep_table(rows, axes):
    for name, values in axes:
        numbers = _numbers_of(values)
        for row in rows if numbers else ():
            row[name] = numbers[row[name]]
    return _frame_class()([*rows], [name for name, _ in axes]) if has_pandas() else SweepRows(rows, [name for name, _ in axes])


def _numbers_of(values):
    """Of each text the number, where all are: whole ones, or else floats."""
    for kind in (int, float):
        try:
            return {value: kind(value) for value in values}
        except ValueError:
            continue
    return None


def _summary(rows, axes):
    cells = {}
    for row in rows:
        cells.setdefault(row["cell"], []).append(row)
    lines = []
    for cell, its in cells.items():
        for line in summary_of(its):
            line = {key: value for key, value in line.items() if key not in _NOT_KEPT}
            lines.append({"cell": cell} | {axis: its[0][axis] for axis in axes} | line)
    return lines


class SweepRows(list):
    """Dicts: what sweep gives without pandas."""

    def __init__(self, rows, axes):
        super().__init__(rows)
        self._axes = axes

    def summary(self) -> list[dict[str, Any]]:
        """A dict a cell and scheduler."""
        return _summary(self, self._axes)


@functools.cache
def _frame_class():
    import pandas

    class Sweep(pandas.DataFrame):
        """A row a cell, scheduler and seed; filtered by rows it still has a summary."""

        _metadata = ["axes_"]

        def __init__(self, data=None, axes_=(), *args, **kwargs):
            super().__init__(data, *args, **kwargs)
            self.axes_ = axes_

        @property
        def _constructor(self):
            return lambda *args, **kwargs: Sweep(args[0] if args else None, self.axes_, *args[1:], **kwargs)

        def summary(self) -> pandas.DataFrame:
            """A row a cell and scheduler: axes, means over seeds, and of the mean JCT and its ratio to the cell's first
            scheduler 95% intervals, as berth.evaluate(...).summary()."""
            return pandas.DataFrame(_summary(self.to_dict("records"), self.axes_))

    return Sweep
