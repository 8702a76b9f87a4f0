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


def train(agent: Any = None, *, out: Any = None, workload: Any = None, cluster: Any = None, scenario: Any = None,
          features: Any = None, steps: Any = None, seed: Any = None, resume: bool = False,
          callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False, from_policy: Any = None,
          **options: Any) -> Policy:
    """Trains a scheduler by reinforcement learning: by the code of `berth train`, with its options and, seed by seed, its bits.

        policy = berth.train("ppo", cluster="v100=4,k80=4", steps=200_000, seed=1, out="runs/first", progress=True)
        berth.evaluate(["srpt", policy], cluster="v100=4,k80=4").summary()

    agent: spec ("ppo", "dqn(gap=0.5)"). out: the folder of the run, with checkpoint.h5, config.ini, progress.csv, TensorBoard's
    events and the policy.h5 that is returned. resume: goes on with the run in `out`, and ends as if it had never stopped;
    options that are not given are the run's own. from_policy: begins with that policy (`--from`). Other options: those of the
    command line (`print(berth.train_help())`) with _ for -.

    callback: is told of every update of progress.csv, about once a second and at the end, as a dict: steps, total_steps,
    steps_per_s, wall_s, mean_jct_s and mean_return (of the last 100 episodes; nan before one ended; running_*: of those under
    way), backlog_begin, backlog_end, member, members, losses (a dict), notes (lines: validations, findings), env_share,
    act_share, learn_share. What is true ends the training; so do an exception, which goes on to the caller, and Ctrl-C
    (KeyboardInterrupt). Each time the checkpoint is saved first, for resume=True. It is called on another thread than
    train was. progress: a bar by tqdm.

    berth.Error says what the command line says; where the learners are not built it names the file that is missing.
    Threads: others run meanwhile. Several trainings may run at once, each with an `out` of its own, and give the same bits.
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
    """The keywords of train, each with its default."""
    return _berth.train_help()


def _same_torch():
    """There is one LibTorch in a process: Python's is the learners' where it came first."""
    torch = sys.modules.get("torch")
    built = re.search(r"LibTorch (\d+\.\d+)", _berth.learners())
    if torch is not None and built and not torch.__version__.startswith(built[1] + "."):
        raise _berth.Error(f"train: expected in one process the PyTorch that the learners are built with, {built[1]}, found "
                           f"{torch.__version__} imported; train in a process that does not import it")


class _Bar:
    """A callback that shows a bar, here and in notebooks."""

    def __init__(self, callback):
        self._callback, self._bar = callback, None
        try:
            from tqdm.auto import tqdm

            self._make = tqdm
        except ImportError:
            self._make = None
            warnings.warn("progress: expected tqdm, found none: pip install tqdm", stacklevel=3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()

    def __call__(self, now):
        if self._make is not None:
            if self._bar is None:
                self._bar = self._make(total=now["total_steps"], unit=" steps", unit_scale=True)
            self._bar.update(now["steps"] - self._bar.n)
            jct = now["mean_jct_s"] if now["mean_jct_s"] == now["mean_jct_s"] else now["running_jct_s"]
            if jct == jct:
                self._bar.set_postfix_str(f"mean JCT {jct / 3600:.2f} h")
        return self._callback(now) if self._callback is not None else None
