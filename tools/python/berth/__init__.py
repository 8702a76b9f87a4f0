"""Scheduling on heterogeneous GPU clusters: schedulers written in Python beside Berth's, and Gymnasium environments.

Importing it registers berth/HeteroCluster-v0 and berth/TaskPlacement-v0 with Gymnasium, which is imported when it is first needed.
Keywords are the command line's options with _ for -; `help("HeteroCluster-v0")` lists them.

Examples
--------
>>> table = berth.evaluate(["fcfs", "srpt"], workload="synthetic(rate=3,jobs=50)", cluster="v100=4,k80=4", seeds=range(3))
>>> table.summary().index.tolist()                                      # a class of berth.Scheduler stands there too
['fcfs', 'srpt']
>>> env = berth.make("HeteroCluster-v0", cluster="v100=4,p100=4,k80=4", knowledge="oracle", seed=7)
>>> envs = berth.make_vec(16, "HeteroCluster-v0", cluster="v100=4,p100=4,k80=4", visible=32)
"""

import importlib
from typing import TYPE_CHECKING, Any

from berth import _berth, _gymnasium
from berth._berth import Error
from berth._arguments import utf8_of
from berth._own import HELP
from berth.block import Block
from berth.jobs import Jobs
from berth.onnx_policy import OnnxPolicy
from berth.policy import Policy, load_policy
from berth.results import Simulation, check_scheduler, evaluate, simulate
from berth.scenario import Scenario
from berth.scheduler import Decision, Scheduler, View
from berth.studies import size, sweep
from berth.training import train, train_help

if TYPE_CHECKING:
    import gymnasium
    import numpy as np
    from numpy.typing import NDArray

    from berth.envs import ClusterEnv
    from berth.vector import ClusterVectorEnv

__version__ = _berth.__version__
__all__ = ["Block", "ClusterEnv", "ClusterVectorEnv", "Decision", "Error", "Jobs", "OnnxPolicy", "Policy", "Scenario", "Scheduler",
           "Simulation", "View", "check_scheduler", "evaluate", "help", "load_policy", "make", "make_vec", "simulate", "size", "sweep",
           "train", "train_help"]


def make(id: str = "HeteroCluster-v0", **keywords: Any) -> "gymnasium.Env[NDArray[np.float32], np.int64]":
    """Makes one environment, as ``gymnasium.make("berth/" + id)`` does.

    Parameters
    ----------
    id
        "HeteroCluster-v0", the decision process of a scheduler, or "TaskPlacement-v0", the textbooks' environment.
    **keywords
        Of `ClusterEnv`, and those of ``help(id)``.

    Returns
    -------
    gymnasium.Env
        Gymnasium's wrappers around a `ClusterEnv`, which is its ``unwrapped``.

    Raises
    ------
    TypeError, ValueError
        Which keyword is wrong, with the nearest name.

    Examples
    --------
    >>> env = berth.make("HeteroCluster-v0", cluster="v100=2,k80=2", workload="synthetic(rate=1)", visible=4)
    >>> observation, info = env.reset(seed=1)
    >>> observation.dtype, info["action_mask"].shape
    (dtype('float32'), (9,))
    """
    import gymnasium

    help(id)  # ValueError with the nearest name, where Gymnasium has an exception of its own
    return gymnasium.make(f"berth/{id}", **keywords)


def make_vec(num_envs: int, id: str = "HeteroCluster-v0", **keywords: Any) -> "ClusterVectorEnv":
    """Makes many environments, which are stepped together in C++.

    Parameters
    ----------
    num_envs
        How many, N.
    id
        As of `make`.
    **keywords
        Of `ClusterVectorEnv` (``threads=2``, say), and those of ``help(id)``.

    Returns
    -------
    ClusterVectorEnv
        Whose observations are [N, D].

    Raises
    ------
    TypeError, ValueError
        Which keyword is wrong, with the nearest name.

    Examples
    --------
    >>> envs = berth.make_vec(8, "TaskPlacement-v0", cluster="v100=2,k80=2", workload="synthetic(rate=1)")
    >>> observation, info = envs.reset(seed=1)
    >>> observation.shape
    (8, 5)
    """
    from berth.vector import ClusterVectorEnv

    return ClusterVectorEnv(num_envs, id, **keywords)


def help(id: str = "HeteroCluster-v0") -> str:
    """The keywords of an environment, one a line, each with its default, as text.

    Examples
    --------
    >>> print(berth.help("TaskPlacement-v0").splitlines()[0].split(":")[0])
    TaskPlacement-v0
    """
    return _berth.help(utf8_of("id", id)) + HELP


_NEEDING_GYMNASIUM = {"ClusterEnv": "berth.envs", "ClusterVectorEnv": "berth.vector"}


def __getattr__(name: str) -> Any:
    if name in _NEEDING_GYMNASIUM:
        return getattr(importlib.import_module(_NEEDING_GYMNASIUM[name]), name)
    if f"berth.{name}" in _NEEDING_GYMNASIUM.values():
        return importlib.import_module(f"berth.{name}")
    raise AttributeError(f"module 'berth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_gymnasium.register_when_imported()
