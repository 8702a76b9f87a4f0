"""Results as frames of pandas, imported where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import pandas

from berth import _berth
from berth.results import summary_of
from berth.studies import cells_of
from berth.typing import Record

if TYPE_CHECKING:
    import matplotlib.axes
    import pyarrow

__all__ = ["Evaluation", "Sweep"]


def _records(frame: pandas.DataFrame) -> list[Record]:
    return cast("list[Record]", frame.to_dict("records"))


class Evaluation(pandas.DataFrame):
    """A row a scheduler and seed, as `berth.evaluate` gives it; filtered by rows it still has a summary.

    Examples
    --------
    >>> table = berth.evaluate(["fcfs", "srpt"], workload="synthetic(rate=3,jobs=50)", cluster="v100=4,k80=4", seeds=range(3))
    >>> type(table[table["seed"] > 0]).__name__, len(table[table["seed"] > 0].summary())
    ('Evaluation', 2)
    >>> table.plot("mean_jct_s").get_xlabel()
    'mean_jct (h)'
    """

    @property
    def _constructor(self) -> Callable[..., Evaluation]:
        return Evaluation

    def summary(self) -> pandas.DataFrame:
        """What ``berth evaluate`` prints, and more.

        Returns
        -------
        pandas.DataFrame
            A row a scheduler, indexed by it: the mean over seeds of every figure (max_*, end_s and decision_us_p99 the largest;
            jobs, unfinished, decisions and wall_s the sums; decision_us_mean over all decisions), with mean_jct_low_s,
            mean_jct_high_s, jct_ratio, jct_ratio_low and jct_ratio_high the 95% intervals of the mean JCT (s) and of its ratio to
            the first scheduler's, paired over seeds. A figure whose column was left out is not there.

        Raises
        ------
        berth.Error
            Where not every scheduler has the same seeds, each once.
        KeyError
            Without the columns scheduler, seed, jobs and mean_jct_s.
        """
        return pandas.DataFrame(summary_of(_records(self))).set_index("scheduler")

    def plot(  # type: ignore[override]  # one method, where pandas has an accessor of many
        self, metric: str = "mean_jct_s", ax: matplotlib.axes.Axes | None = None
    ) -> matplotlib.axes.Axes:
        """Draws each scheduler's `metric`, a point a seed, and its mean with a 95% interval.

        Parameters
        ----------
        metric
            A column. A time (``_s``, not ``_per_s``) is drawn in hours.
        ax
            Where. None: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            To be changed, or saved by ``ax.figure.savefig``.

        Raises
        ------
        berth.Error
            Where a scheduler has a seed twice.
        KeyError
            Where there is no such column, or none of scheduler and seed.
        ImportError
            Without matplotlib.
        """
        if metric not in self.columns:
            raise KeyError(f"metric: expected a column, found {metric!r}")
        again = self[self.duplicated(["scheduler", "seed"])]
        if len(again):  # the interval would be too narrow
            raise _berth.Error(f"plot: expected each seed of {again['scheduler'].iloc[0]} once, found {again['seed'].iloc[0]} again")
        if ax is None:
            import matplotlib.pyplot

            _, ax = matplotlib.pyplot.subplots()
        schedulers = list(dict.fromkeys(self["scheduler"]))
        time = metric.endswith("_s") and not metric.endswith("per_s")
        unit, label = (3600.0, metric[:-2] + " (h)") if time else (1.0, metric)
        for place, scheduler in enumerate(schedulers):
            values = self.loc[self["scheduler"] == scheduler, metric] / unit
            ax.plot(values, [place + 0.25] * len(values), "o", color="0.7", markersize=4)  # not under the interval
            mean, low, high = _berth.bootstrap_mean(list(values))
            ax.errorbar([mean], [place], xerr=[[max(0.0, mean - low)], [max(0.0, high - mean)]], fmt="o", capsize=3)
        ax.set_yticks(range(len(schedulers)), schedulers, parse_math=False)
        ax.invert_yaxis()
        if (self[metric] >= 0).all():
            ax.set_xlim(left=0)
        ax.set_xlabel(label)
        return ax

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``, which Polars takes: ``polars.from_arrow(table.to_arrow())``. ImportError without pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pandas(self, preserve_index=False)


class Sweep(pandas.DataFrame):
    """A row a cell, scheduler and seed, as `berth.sweep` gives it; filtered by rows it still has a summary.

    Examples
    --------
    >>> table = berth.sweep({"rate": [1, 2]}, ["fcfs", "srpt"], workload="synthetic(rate={rate},jobs=20)", cluster="v100=4", seeds=0)
    >>> table.summary()[["cell", "rate", "scheduler"]].values.tolist()
    [[0, 1, 'fcfs'], [0, 1, 'srpt'], [1, 2, 'fcfs'], [1, 2, 'srpt']]
    """

    _metadata = ["axes_"]

    def __init__(self, data: Any = None, axes_: Sequence[str] = (), *args: Any, **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)  # type: ignore[call-arg]  # pandas-stubs has __new__ alone
        self.axes_ = axes_

    @property
    def _constructor(self) -> Callable[..., Sweep]:
        return lambda data=None, *args, **kwargs: Sweep(data, self.axes_, *args, **kwargs)

    def summary(self) -> pandas.DataFrame:
        """Means over seeds.

        Returns
        -------
        pandas.DataFrame
            A row a cell and scheduler: cell, the axes, scheduler, and the figures of `Evaluation.summary`; ratios are to the
            cell's first scheduler.

        Raises
        ------
        berth.Error, KeyError
            As there, of each cell.
        """
        return pandas.DataFrame(cells_of(_records(self), self.axes_))
