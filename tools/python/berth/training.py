"""berth.train: `berth train` in this process."""

import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

from berth import _berth
from berth._arguments import texts_of
from berth.policy import Policy, load_policy
from berth.typing import Option, Record, StrPath

__all__ = ["train", "train_help"]


def train(agent: str | None = None, *, out: StrPath | None = None, workload: str | None = None, cluster: StrPath | None = None,
          scenario: StrPath | None = None, features: str | None = None, steps: int | None = None, seed: int | None = None,
          resume: bool = False, callback: Callable[[Record], object] | None = None, progress: bool = False,
          from_policy: StrPath | None = None, **options: Option) -> Policy:
    """Trains a scheduler by reinforcement learning: ``berth train`` in this process, with its options and, seed by seed, its bits.

    Parameters
    ----------
    agent
        A spec: "ppo", "dqn(gap=0.5)". None: the command line's.
    out
        The folder of the run, with checkpoint.h5, config.ini, progress.csv, TensorBoard's events and the policy.h5 that is returned.
    workload, cluster, scenario, features
        What it is trained on, as the command line has it.
    steps, seed
        Environment steps in all, those before `resume` included; and the seed of the training.
    resume
        Goes on with the run in `out`, and ends as if it had never stopped; options that are not given are the run's own.
    callback
        Is told of every update of progress.csv, about once a second and at the end, on another thread than this one. What is true
        ends the training. A dict: steps, total_steps, steps_per_s, wall_s, mean_jct_s and mean_return (of the latest
        updates that together hold 100 episodes or more; nan before one ended, or a job completed in one; running_jct_s and
        running_return: of those under way), backlog_begin, backlog_end, member, members, losses (a dict), notes (lines: validations,
        findings), env_share, act_share, learn_share.
    progress
        Shows a bar (tqdm).
    from_policy
        Begins with that policy (``--from``).
    **options
        Those of ``train_help()``.

    Returns
    -------
    Policy
        With its `training`: the outcome, as ``berth train --json`` has it.

    Raises
    ------
    berth.Error
        What the command line says; where the learners are not built, which file is missing.
    KeyboardInterrupt
        Of Ctrl-C. Before it, and before an exception of `callback` goes on to the caller, the checkpoint is saved, for
        ``resume=True``.

    Notes
    -----
    Threads: others run meanwhile. Several trainings may run at once, each with an `out` of its own, and give the same bits.

    Examples
    --------
    >>> policy = berth.train("ppo(n_steps=32,minibatch=64)", cluster="v100=2,k80=2", workload="synthetic(rate=5,jobs=40)", visible=4,
    ...                      episode_jobs=20, warmup_jobs=5, envs=4, threads=1, members=1, validate=0, steps=1000, seed=1, out="run")
    >>> policy.path.name, policy.training["steps"] >= 1000
    ('policy.h5', True)
    """
    given = dict(options, agent=agent, out=out, workload=workload, cluster=cluster, scenario=scenario, features=features, steps=steps,
                 seed=seed, resume=bool(resume))
    keywords = texts_of(given if from_policy is None else given | {"from": from_policy})
    _same_torch()
    if not progress:
        outcome = _berth.train(keywords, callback)
    else:
        with _Bar(callback) as bar:
            outcome = _berth.train(keywords, bar)
    policy = load_policy(os.path.join(keywords["out"], "policy.h5"))
    policy.training = json.loads(outcome)
    return policy


def train_help() -> str:
    """The keywords of `train`, each with its default, as text.

    Examples
    --------
    >>> "episode_jobs" in berth.train_help()
    True
    """
    return _berth.train_help()


def _same_torch() -> None:
    """There is one LibTorch in a process: Python's is the learners' where it came first."""
    torch = sys.modules.get("torch")
    built = re.search(r"LibTorch (\d+\.\d+)", _berth.learners())
    if torch is not None and built and not torch.__version__.startswith(built[1] + "."):
        raise _berth.Error(f"train: expected in one process the PyTorch that the learners are built with, {built[1]}, found "
                           f"{torch.__version__} imported; train in a process that does not import it")


class _Bar:
    """A callback that shows a bar, here and in notebooks."""

    def __init__(self, callback: Callable[[Record], object] | None) -> None:
        self._callback = callback
        self._bar: Any = None
        self._make: Any
        try:
            from tqdm.auto import tqdm

            self._make = tqdm
        except ImportError:
            self._make = None
            warnings.warn("progress: expected tqdm, found none: pip install tqdm", stacklevel=3)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, now: Record) -> object:
        if self._make is not None:
            if self._bar is None:
                # What was done before the first look took no time that the bar knows of.
                self._bar = self._make(total=now["total_steps"], initial=now["steps"], unit=" steps", unit_scale=True)
            self._bar.update(now["steps"] - self._bar.n)
            jct = now["mean_jct_s"] if now["mean_jct_s"] == now["mean_jct_s"] else now["running_jct_s"]
            if jct == jct:
                self._bar.set_postfix_str(f"mean JCT {jct / 3600:.2f} h")
        return self._callback(now) if self._callback is not None else None
