"""Schedulers written in Python."""

import copy
import difflib
import functools
import importlib.util
import os
import re
import sys

from berth import _berth
from berth._arguments import utf8_of
from berth._berth import Decision, Error, View
from berth.policy import Policy


class Scheduler:
    """Write `decide`, and this stands wherever a scheduler of the command line does.

        class Shortest(berth.Scheduler):
            knowledge = "oracle"

            def decide(self, view, decision):
                free = view.free_gpus.copy()
                for job in view.waiting[np.argsort(view.remaining[view.waiting], kind="stable")]:
                    fits = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
                    if fits.size:
                        decision.start(job, best := fits[np.argmax(view.rates[job, fits])])
                        free[best] -= view.gang[job]

    `view` (berth._berth.View) holds, read-only, with G GPU types, D devices and the n jobs that have arrived, by index:

    - lists of jobs, int64: waiting, running, active; arrived and completed since the previous decision;
    - columns of jobs [n], to be indexed by these: arrival, deadline, requested_s, run_start (float64, s), weight (float64),
      gang, min_gang, max_gang, width (int64, GPUs), id, job_type, tenant, type_of, last_type, partner, preemptions,
      interruptions (int64), and rates [n, G] (float64, steps/s, 0 = cannot run there);
    - with knowledge "blind" attained_s, attained_gpu_s, attained_steps [n]; with "estimate" or "oracle" remaining [n]
      (steps). Reading more than is declared raises berth.Error;
    - free_gpus, gpus int64 [G], types (names); device_type, device_node, device_free int64 [D]; now (s), n, num_jobs,
      num_gpus, clock, seed, capacity_changed; devices(job), rate_at(job, type, width), pair_rate(job, other, type).

    What never changes of a job is one memory for the whole run, of which arrays are slices; what changes is written when it
    is first read at a decision, for the jobs that are there. An array that is kept beyond `decide` stays as it was; the view
    itself raises RuntimeError then.

    `decision` (berth._berth.Decision) takes start(job, type), stop(job), move(job, type), reject(job), pack(job, host) and
    wake_at(s); a type is its index or name; start and move also take width= (GPUs) or devices=. What cannot be carried out
    ends the run as berth.Error, which names the job.

    An exception ends the run as berth.Error, which names scheduler and simulated time, with the exception as its
    cause. Threads: `decide` is called on threads of Berth's, one at a time each with an object of its own: objects
    are copied (copy.deepcopy), classes called. Attributes that `decide` changes are made anew in `reset`.
    """

    knowledge: str = "none"  # what it uses of a job's future: "none", "blind", "estimate", "oracle"
    name: str | None = None  # in tables; the class's where it is None

    def reset(self, view: View) -> None:
        """A run begins: forget all others. No job has arrived."""

    def decide(self, view: View, decision: Decision) -> None:
        """Called at every decision point: order what is to be done now."""
        raise NotImplementedError(f"{type(self).__name__}.decide")


def named(schedulers):
    """Specs and names of `schedulers`, and of the latter what makes the object for each run."""
    if isinstance(schedulers, (str, Scheduler, Policy, type)):
        schedulers = [schedulers]
    names, factories = [], {}
    if not hasattr(schedulers, "__iter__") or isinstance(schedulers, bytes):
        raise TypeError(f"schedulers: expected specs, berth.Scheduler or classes of it, found {schedulers!r}")
    for scheduler in schedulers:
        if isinstance(scheduler, str):
            names.extend(spec for spec in [utf8_of("schedulers", scheduler).strip()] if spec)
            continue
        name, factory = factory_of(scheduler)
        if name in factories or name in names:
            raise Error(f"schedulers: expected names that differ, found {name!r} twice; set the attribute `name`")
        names.append(name)
        factories[name] = factory
    if not names:
        raise Error("schedulers: expected specs, found none")
    return names, factories


def factory_of(scheduler):
    """Its name, and what makes one for a run."""
    if isinstance(scheduler, Policy):
        return _checked(scheduler.name), scheduler._factory()
    kind = scheduler if isinstance(scheduler, type) else type(scheduler)
    if not issubclass(kind, Scheduler):
        raise TypeError(f"schedulers: expected specs, berth.Scheduler or classes of it, found {scheduler!r}")
    name = _checked(scheduler.name or kind.__name__)
    return name, scheduler if isinstance(scheduler, type) else lambda: copy.deepcopy(scheduler)


def _checked(name):
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][\w .+/-]*", name):
        raise Error(f"schedulers: name: expected letters, digits and any of ' _.+-/', found {name!r}")
    return name


def load(text):
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
def _module(path, called):
    if not os.path.isfile(path):
        raise _of_spec(f"{called}: expected a file of Python, found none")
    sys.path.insert(0, os.path.dirname(path))  # for what lies beside it
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name if name not in sys.modules else f"berth_file_{name}", path)
    if spec is None:
        raise _of_spec(f"{called}: expected a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def _of_spec(message):
    """An error that says all there is to say: which file, what of it."""
    error = Error(f"python: file: {message}")
    error.of_spec = True
    return error
