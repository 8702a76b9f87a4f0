"""Scheduling on heterogeneous GPU clusters: schedulers written in Python beside Berth's, and Gymnasium environments.

    import berth
    berth.evaluate(["fcfs", "gavel", Mine()], seeds=range(1000, 1020)).summary()     # class Mine(berth.Scheduler)
    env = berth.make("HeteroCluster-v0", cluster="v100=4,p100=4,k80=4", knowledge="oracle", seed=7)
    envs = berth.make_vec(256, "HeteroCluster-v0", visible=32)

Importing it registers berth/HeteroCluster-v0 and berth/TaskPlacement-v0 with Gymnasium, which is imported when it is first needed.
Keywords are the command line's options with _ for -; `help("HeteroCluster-v0")` lists them.
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
from berth.scheduler import Scheduler
from berth.studies import size, sweep
from berth.training import train, train_help

if TYPE_CHECKING:
    import gymnasium

    from berth.envs import ClusterEnv
    from berth.vector import ClusterVectorEnv

__version__ = _berth.__version__
__all__ = ["Block", "ClusterEnv", "ClusterVectorEnv", "Error", "Jobs", "OnnxPolicy", "Policy", "Scenario", "Scheduler", "Simulation",
           "check_scheduler", "evaluate", "help", "load_policy", "make", "make_vec", "simulate", "size", "sweep", "train", "train_help"]


def make(id: str = "HeteroCluster-v0", **keywords: Any) -> "gymnasium.Env":
    """One environment, as gymnasium.make("berth/" + id) gives it; its class is berth.ClusterEnv."""
    import gymnasium

    help(id)  # ValueError with the nearest name, where Gymnasium has an exception of its own
    return gymnasium.make(f"berth/{id}", **keywords)


def make_vec(num_envs: int, id: str = "HeteroCluster-v0", **keywords: Any) -> "ClusterVectorEnv":
    """`num_envs` environments stepped together in C++, on `threads` threads (1)."""
    from berth.vector import ClusterVectorEnv

    return ClusterVectorEnv(num_envs, id, **keywords)


def help(id: str = "HeteroCluster-v0") -> str:
    """The keywords of an environment, one a line, each with its default."""
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
