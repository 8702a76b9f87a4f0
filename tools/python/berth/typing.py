"""Names of what the package takes, to annotate one's own functions with.

- ``StrPath``: a path.
- ``Option``: a value of an option of the command line; None = not given.
- ``Knowledge``: what a scheduler knows of a job's future, from nothing to all.
- ``Seeds``: seeds of workloads: ``range(1000, 1020)``, one number, or ``"1000:1020"``.
- ``SchedulerLike``: what decides: a spec of the command line, a `Scheduler`, a class of it, or a `Policy`.
- ``Metrics``: what a step did, by name: float64 or bool [N], of one environment floats (`ClusterEnv`).
- ``Reward``: a reward of one's own: of the metrics to numbers [N], of one environment to a number.
- ``JobGenerator``: a workload of one's own: of a seed to jobs (`Jobs`).
- ``Workload``: a spec of the command line, or such a generator.
- ``Table``: a table: a frame of pandas or Polars, a ``pyarrow.Table``, or columns by name.
- ``Record``: what the command line says as JSON.

Examples
--------
>>> import berth.typing
>>> def paid(metrics: berth.typing.Metrics) -> float:
...     return -metrics["jct"] / 3600.0
>>> reward: berth.typing.Reward = paid
>>> env = berth.make(reward=reward, cluster="v100=2,k80=2", visible=4)
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import pandas

    from berth.jobs import Jobs
    from berth.policy import Policy
    from berth.scheduler import Scheduler

__all__ = ["JobGenerator", "Knowledge", "Metrics", "Option", "Record", "Reward", "SchedulerLike", "Seeds", "StrPath", "Table",
           "Workload"]


class _PolarsFrame(Protocol):
    def write_csv(self, *args: Any, **keywords: Any) -> Any: ...
    def to_dict(self, *args: Any, **keywords: Any) -> Any: ...


class _ArrowTable(Protocol):
    def to_pylist(self, *args: Any, **keywords: Any) -> Any: ...
    def to_pydict(self, *args: Any, **keywords: Any) -> Any: ...


StrPath = Union[str, os.PathLike[str]]
Option = Union[str, float, np.number[Any], np.bool_, os.PathLike[str], None]
Knowledge = Literal["none", "blind", "estimate", "oracle"]
Seeds = Union[str, int, Iterable[int]]
SchedulerLike = Union[str, "Scheduler", type["Scheduler"], "Policy"]
Metrics = dict[str, Any]
Reward = Callable[[Metrics], ArrayLike]
JobGenerator = Callable[[int], Iterable[object]]
Workload = Union[str, JobGenerator, "Jobs"]
Table = Union["pandas.DataFrame", _PolarsFrame, _ArrowTable, Mapping[str, object]]
Record = dict[str, Any]
