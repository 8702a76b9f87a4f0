"""Schedulers written in Python."""

import copy
import difflib
import functools
import importlib.util
import os
import re
import sys
import types
from collections.abc import Callable, Iterable

from berth import _berth
from berth._arguments import utf8_of
from berth._berth import Decision, Error, View
from berth.policy import Policy
from berth.typing import Knowledge, SchedulerLike

__all__ = ["Decision", "Scheduler", "View"]


class Scheduler:
    """A scheduler of your own: write `decide`, and it stands wherever one of the command line does.

    `decide` is handed a `View` of what there is, and a `Decision` that takes its orders. Attributes: `knowledge`, what
    it uses of a job's future; `name`, in tables (the class's where it is None). Within another's spec, ``guard(policy=...)`` say, no
    object or class stands, but ``python(file=mine.py:Mine)`` does.

    Threads: `decide` is called on threads of Berth's, one at a time each with an object of its own: objects are copied
    (``copy.deepcopy``), classes called. Attributes that `decide` changes are made anew in `reset`.

    Raises
    ------
    berth.Error
        Of the run, where `decide` raises: with scheduler, simulated time and line, and the exception as cause. Where an
        order cannot be carried out it names the job.

    Examples
    --------
    >>> class Shortest(berth.Scheduler):
    ...     knowledge = "oracle"
    ...
    ...     def decide(self, view, decision):
    ...         free = view.free_gpus.copy()
    ...         for job in view.waiting[np.argsort(view.remaining[view.waiting], kind="stable")]:
    ...             fits = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
    ...             if fits.size:
    ...                 best = fits[np.argmax(view.rates[job, fits])]
    ...                 decision.start(job, best)
    ...                 free[best] -= view.gang[job]
    >>> table = berth.evaluate(["fcfs", Shortest], workload="synthetic(rate=3,jobs=50)", cluster="v100=4,k80=4", seeds=range(3))
    >>> bool(table.summary()["jct_ratio"]["Shortest"] < 1)
    True
    """

    knowledge: Knowledge = "none"  # what it uses of a job's future: "none", "blind", "estimate", "oracle"
    name: str | None = None  # in tables; the class's where it is None

    def reset(self, view: View) -> None:
        """Called when a run begins: forget all others. No job has arrived yet."""

    def decide(self, view: View, decision: Decision) -> None:
        """Called at every decision point: order what is to be done now, with the methods of `decision`. Returns nothing."""
        raise NotImplementedError(f"{type(self).__name__}.decide")


def named(schedulers: SchedulerLike | Iterable[SchedulerLike]) -> tuple[list[str], dict[str, Callable[[], object]]]:
    """Specs and names of `schedulers`, and of the latter what makes the object for each run."""
    if isinstance(schedulers, (str, Scheduler, Policy, type)):
        schedulers = [schedulers]
    names: list[str] = []
    factories: dict[str, Callable[[], object]] = {}
    if not hasattr(schedulers, "__iter__") or isinstance(schedulers, bytes):
        raise TypeError(f"schedulers: expected specs, berth.Scheduler or classes of it, found {schedulers!r}")
    for scheduler in schedulers:
        if isinstance(scheduler, str):
            names += _berth.split_specs(utf8_of("schedulers", scheduler))
            continue
        name, factory = factory_of(scheduler)
        names.append(name)
        factories[name] = factory
    for name in names:
        if names.count(name) > 1:
            more = "; set the attribute `name`" if name in factories else ""
            raise Error(f"schedulers: expected names that differ, found {name!r} twice{more}")
    if not names:
        raise Error("schedulers: expected specs, found none")
    return names, factories


def factory_of(scheduler: Scheduler | Policy | type[Scheduler]) -> tuple[str, Callable[[], object]]:
    """Its name, and what makes one for a run."""
    if isinstance(scheduler, Policy):
        return _checked(scheduler.name), scheduler._factory()
    kind = scheduler if isinstance(scheduler, type) else type(scheduler)
    if not issubclass(kind, Scheduler):
        raise TypeError(f"schedulers: expected specs, berth.Scheduler or classes of it, found {scheduler!r}")
    name = _checked(scheduler.name or kind.__name__)
    return name, scheduler if isinstance(scheduler, type) else lambda: copy.deepcopy(scheduler)


def _checked(name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][\w .+/-]*", name):
        raise Error(f"schedulers: name: expected letters, digits and any of ' _.+-/', found {name!r}")
    if name == "all":
        raise Error("schedulers: name: expected another than 'all', which stands for every scheduler of Berth's")
    return name


def load(text: str) -> Scheduler:
    """An object of the class that "FILE.py:CLASS" names: the scheduler python(file=...)."""
    path, _, name = text.rpartition(":")
    module = _module(os.path.abspath(path), path)
    kind = getattr(module, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Scheduler)):
        known = [its for its, value in vars(module).items() if isinstance(value, type) and issubclass(value, Scheduler)]
        near = difflib.get_close_matches(name, known, 1)
        raise _of_spec(f"{path}: expected a class of berth.Scheduler named {name!r}, found {', '.join(known) or 'none'}"
                       + (f" (did you mean {near[0]!r}?)" if near else ""))
    return kind()


@functools.cache
def _module(path: str, called: str) -> types.ModuleType:
    if not os.path.isfile(path):
        raise _of_spec(f"{called}: expected a file of Python, found none")
    sys.path.insert(0, os.path.dirname(path))  # for what lies beside it
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name if name not in sys.modules else f"berth_file_{name}", path)
    if spec is None or spec.loader is None:
        raise _of_spec(f"{called}: expected a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


class _SpecError(Error):
    """One that says all there is to say: which file, what of it."""

    of_spec = True


def _of_spec(message: str) -> _SpecError:
    return _SpecError(f"python: file: {message}")
