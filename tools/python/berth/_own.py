"""What of an environment may be Python's: its reward, blocks of its observation, its jobs."""

import numbers
from collections.abc import Mapping
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from berth import _berth
from berth._arguments import texts_of, utf8_of
from berth.block import Blocks
from berth.jobs import workload_of
from berth.typing import Reward

HELP = """
Of Python alone:
  reward=FUNCTION: of the metrics of a step (berth.ClusterEnv and ClusterVectorEnv say which)
  metrics=NAMES: of which of them, between commas; those paid at an end let episodes run to it [all others]
  blocks=[berth.Block, ...]: numbers of one's own behind the observation
  workload=FUNCTION: jobs of one's own (berth.Jobs)
"""


class Buffers(TypedDict, total=False):
    """What a step wrote: of N environments, D numbers of an observation, A actions, M metrics."""

    observation: NDArray[np.float32]  # [N, D]
    action_mask: NDArray[np.int8]  # [N, A]
    reward: NDArray[np.float32]  # [N]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    discount: NDArray[np.float32]
    signal: NDArray[np.float32]
    final_observation: NDArray[np.float32]
    final_mask: NDArray[np.int8]
    metrics: NDArray[np.float64]  # [M, N]


class Own:
    """An environment's core, made of keywords of which some are Python's; and what of a step is Python's then."""

    def __init__(self, name: str, given: Mapping[str, Any], num_envs: int, threads: int, illegal: str) -> None:
        keywords = dict(given)
        self._reward = _reward_of(keywords)
        blocks = keywords.pop("blocks", None)
        self._blocks = None if blocks is None else Blocks(blocks)
        keywords["workload"], self.jobs = workload_of(keywords.get("workload"))
        self.core = _berth.VectorEnvironment(utf8_of("id", name), texts_of(keywords), num_envs, threads, str(illegal),
                                             self._reward is not None, self._blocks, self.jobs)
        self.shapes: dict[str, tuple[int, ...]] = {} if self._blocks is None else self._blocks.shapes
        self._notes = [f"# {what}: Python's {which}\n" for what, which in (
            ("reward", self._reward and _name_of(self._reward)),
            ("blocks", ", ".join(self.shapes)), ("workload", self.jobs and self.jobs.name)) if which]
        self.buffers = cast(Buffers, self.core.buffers(0)), cast(Buffers, self.core.buffers(1))
        self._of_tasks = name.startswith("TaskPlacement")
        self._returns = np.zeros(num_envs)
        self._ended: list[float] = []

    @property
    def description(self) -> str:
        return "".join([*self._notes, self.core.description])

    def begin(self) -> None:
        """Every environment begins an episode."""
        self._returns[:] = 0.0

    def pay(self, now: Buffers, single: bool = False) -> None:
        """Writes the reward of the step that wrote `now`; nan where it raises."""
        if self._reward is None:
            return
        metrics: dict[str, Any] = dict(zip(self.core.metrics, now["metrics"]), terminated=_read_only(now["terminated"]),
                                       truncated=_read_only(now["truncated"]))
        if self._of_tasks:
            metrics["mean_utilization"] = _read_only(self._utilization(now))
        if single:
            metrics = {name: column[0].item() for name, column in metrics.items()}
        paid: NDArray[Any] = np.full(self._returns.shape, np.nan)
        try:
            paid = _numbers_of(self._reward(metrics), () if single else self._returns.shape)
        finally:
            now["reward"][:] = paid
            self._returns += paid
            over = now["terminated"] | now["truncated"]
            if over.any():
                self._ended.extend(self._returns[over])
                self._returns[over] = 0.0

    def take_stats(self) -> dict[str, float]:
        stats = self.core.take_stats()
        if self._reward is not None:
            stats["mean_return"] = float(np.mean(self._ended)) if self._ended else float("nan")
            self._ended.clear()
        return stats

    def _utilization(self, now: Buffers) -> NDArray[np.float64]:
        over = now["terminated"] | now["truncated"]
        seen = np.where(over[:, None], now["final_observation"], now["observation"])
        gpus = self.core.num_actions
        mean: NDArray[np.float64] = seen[:, 1:1 + gpus].astype(np.float64).sum(axis=1) / gpus
        return mean


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _name_of(reward: Reward) -> str:
    return str(getattr(reward, "__name__", type(reward).__name__))


def _reward_of(keywords: dict[str, Any]) -> Reward | None:
    """The function, where it is one; then `keywords` ask for its metrics."""
    reward: Reward | str | None = keywords.get("reward")
    metrics = keywords.pop("metrics", None)
    if not callable(reward):
        if metrics is not None:
            raise ValueError(f"metrics: expected a function as reward with it, found {reward!r}")
        return None
    if keywords.get("signal") not in (None, "reward"):
        raise ValueError(f"signal: expected 'reward' with a function as reward, found {keywords['signal']!r}")
    if metrics is None:
        metrics = [name for name, at_end in _berth.rewards() if not at_end]
    elif isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",")]
    if isinstance(metrics, (str, bytes)) or not hasattr(metrics, "__iter__"):
        raise TypeError(f"metrics: expected names, found {metrics!r}")
    metrics = list(metrics)
    known = [name for name, _ in _berth.rewards()]
    for name in metrics:
        if name not in known or metrics.count(name) > 1:
            raise ValueError(f"metrics: expected names of {', '.join(known)}, each once, found {name!r}")
    if not metrics:
        raise ValueError("metrics: expected a name at least, found none")
    keywords["reward"] = "+".join(metrics)
    return reward


def _numbers_of(value: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    if not shape and isinstance(value, numbers.Real):
        try:
            array = np.asarray(float(value))
        except OverflowError:  # of an int
            array = np.asarray(np.inf)
    else:
        array = np.asarray(value)
        if not shape and array.size == 1:
            array = array.reshape(())
    if array.dtype.kind not in "fiub":
        raise TypeError(f"reward: expected numbers of shape {shape}, found {type(value).__name__} of {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"reward: expected shape {shape}, found {array.shape}")
    with np.errstate(over="ignore"):
        infinite = ~np.isfinite(array.astype(np.float32))
    if infinite.any():
        found = array[infinite][0]
        raise ValueError(f"reward: expected finite numbers, found {found}{' beyond float32' if np.isfinite(found) else ''}")
    return array
