// The docstrings of berth.Error, berth.View and berth.Decision, whose examples tests/test_help.py runs.
#pragma once

namespace berth {

inline constexpr char kErrorHelp[] =
    R"help(What the command line says of bad input and of schedulers that fail, in one line.

A ``ValueError``. Where Python's code failed within a run, its exception is the ``__cause__``.

Examples
--------
>>> try:
...     berth.evaluate("fcfs", workload="sinthetic(rate=1)")
... except berth.Error as error:
...     print("synthetic" in str(error))
True
)help";

inline constexpr char kViewHelp[] =
    R"help(What a scheduler sees at a decision point; ``decide`` is handed one.

Of n jobs that have arrived, G GPU types and D devices (GPUs). Jobs are indices from 0, in order of
arrival: ``view.waiting`` and the other lists hold them, columns of jobs [n] are indexed by them.
Times are seconds from the scenario's origin, speeds steps a second.

Arrays are read-only. What never changes of a job is one memory for the whole run; what changes is
written when it is first read at a decision, for the jobs that are there. An array that is kept beyond
``decide`` stays as it was; the view itself is over then.

Raises
------
berth.Error
    Where more of a job's future is read than the scheduler declares (``knowledge``).
RuntimeError
    Where it is used after ``decide``.

Examples
--------
>>> class Watch(berth.Scheduler):
...     knowledge = "oracle"
...     def decide(self, view, decision):
...         if view.now == 0.0:
...             print(view.types, view.free_gpus, view.waiting, view.gang, view.rates.shape)
...         for job in view.waiting[:1]:
...             if view.free_gpus[0] >= view.gang[job]:
...                 decision.start(job, 0)
>>> run = berth.simulate(Watch(), workload="synthetic(rate=1,jobs=5)", cluster="v100=4,k80=2")
('v100', 'k80') [4 2] [0] [1] (1, 2)
)help";

inline constexpr char kDecisionHelp[] = R"help(The orders of one decision; ``decide`` is handed it, empty.

They are carried out together once ``decide`` returns, what frees GPUs first. A job is an index of the
view, a GPU type its index or its name, a device its number.

Raises
------
berth.Error
    Where an order names what there is not. One that cannot be carried out ends the run, with an
    error that says which job and why.
RuntimeError
    Where it is used after ``decide``.

Examples
--------
>>> class FirstType(berth.Scheduler):
...     def decide(self, view, decision):
...         free = view.free_gpus[0]
...         for job in view.waiting:
...             if view.rates[job, 0] > 0 and view.gang[job] <= free:
...                 decision.start(job, "v100")
...                 free -= view.gang[job]
>>> run = berth.simulate(FirstType(), workload="synthetic(rate=1,jobs=20)", cluster="v100=8")
>>> run.jobs["status"].tolist() == ["completed"] * 20
True
)help";

}  // namespace berth
