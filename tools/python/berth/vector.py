"""Many environments stepped together in C++, as Gymnasium's vector environments."""

from collections.abc import Iterable
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from berth._arguments import actions_of, integer_of, no_render_mode, seed_of
from berth._own import Own
from berth.block import Block
from berth.blocks import blocks_of
from berth.typing import Option, Reward, Workload

__all__ = ["ClusterVectorEnv"]


class ClusterVectorEnv(gymnasium.vector.VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """N environments stepped together in C++, as `berth.make_vec` gives them; keywords and info as `ClusterEnv`.

    Nothing is copied: what `reset` and `step` return are views of C++ memory. There are two sets of it, used in turn: what a step
    returned is there until the step after the next one. Copy what is to stay longer. Masks are read-only, since the next step
    believes them. The bits are the same on any number of threads.

    ``info`` holds ``action_mask`` int8 [N, A], ``discount`` float32 [N] (of `reset` 1), and of steps with the keyword `signal`
    ``signal`` float32 [N]. An episode that ends is followed by the next one within the same step (``AutoresetMode.SAME_STEP``).
    Then there are also ``final_obs`` float32 [N, D] with ``_final_obs`` bool [N], which says whose rows were written, and
    ``final_mask`` int8 [N, A], of those truncated.

    Attributes: `num_envs`, N; `single_observation_space`, a Box [D]; `single_action_space`, a Discrete (A);
    `observation_space` [N, D], `action_space` [N].

    Parameters
    ----------
    num_envs
        N, from 1 to 1,048,576.
    name, illegal, reward, metrics, blocks, workload, **keywords
        As of `ClusterEnv`. A function as `reward` is given float64 [N] by name (``terminated`` and ``truncated`` bool [N]), views
        that are read-only and hold until the next step; it returns numbers [N].
    threads
        Of C++, from 1 to 4096.

    Raises
    ------
    TypeError, ValueError
        Where a keyword is wrong, which is named.
    RuntimeError
        Of a call while another thread steps.

    Examples
    --------
    >>> envs = berth.make_vec(16, "HeteroCluster-v0", cluster="v100=2,k80=2", workload="synthetic(rate=1)", visible=4)
    >>> observation, info = envs.reset(seed=1)
    >>> for _ in range(100):
    ...     actions = info["action_mask"].argmax(axis=1)                 # the first legal one
    ...     observation, reward, terminated, truncated, info = envs.step(actions)
    >>> observation.shape[0], reward.shape, int(envs.replaced)
    (16, (16,), 0)
    >>> sorted(envs.take_stats())
    ['episodes', 'mean_jct_s', 'mean_return']
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int,
        name: str = "HeteroCluster-v0",
        *,
        threads: int = 1,
        illegal: Literal["next_legal", "error"] = "next_legal",
        render_mode: None = None,
        reward: str | Reward | None = None,
        metrics: str | Iterable[str] | None = None,
        blocks: Block | type[Block] | Iterable[Block | type[Block]] | None = None,
        workload: Workload | None = None,
        **keywords: Option,
    ) -> None:
        no_render_mode(render_mode)
        self.num_envs = integer_of("num_envs", num_envs, 1, 2**20)
        given = dict(keywords, reward=reward, metrics=metrics, blocks=blocks, workload=workload)
        self._own = Own(name, given, self.num_envs, integer_of("threads", threads, 1, 4096), illegal)
        self._core, self._buffers = self._own.core, self._own.buffers
        self.single_observation_space = gymnasium.spaces.Box(
            np.array(self._core.low, np.float32), np.array(self._core.high, np.float32), dtype=np.float32
        )
        self.single_action_space = gymnasium.spaces.Discrete(self._core.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in every environment.

        Parameters
        ----------
        seed
            Environment i begins episode 0 of its own stream of (seed, i); no list of seeds. None: the episodes after the
            present ones, also where a step has raised within them.
        options
            None.

        Returns
        -------
        tuple
            Observation float32 [N, D] and info.

        Raises
        ------
        berth.Error
            What a block or a workload of your own raises, as from `step`. A reset has to follow.
        """
        if options:
            raise ValueError(f"options: expected none, found {sorted(options)}")
        self._core.reset(seed_of(seed))
        self._own.begin()
        now = self._buffers[self._core.turn]
        return now["observation"], {"action_mask": now["action_mask"], "discount": np.ones(self.num_envs, np.float32)}

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays an action in every environment.

        What a reward of your own raises goes on to the caller. The step has been taken then, as by `ClusterEnv.step`; ``mean_return``
        of the episodes under way is nan.

        Parameters
        ----------
        actions
            Integers [N], from 0 to A - 1. int64 is not copied.

        Returns
        -------
        tuple
            Observation float32 [N, D], reward float32 [N], terminated bool [N], truncated bool [N], info.

        Raises
        ------
        TypeError, ValueError
            Where `actions` are no such numbers, or illegal ones with ``illegal="error"``.
        """
        ended = self._core.step(actions_of(actions, self.num_envs, self._core.num_actions))
        now = self._buffers[self._core.turn]
        self._own.pay(now)
        info: dict[str, Any] = {"action_mask": now["action_mask"], "discount": now["discount"]}
        if "signal" in now:
            info["signal"] = now["signal"]
        if ended:
            info["final_obs"] = now["final_observation"]
            info["_final_obs"] = now["terminated"] | now["truncated"]
            info["final_mask"] = now["final_mask"]
        return now["observation"], now["reward"], now["terminated"], now["truncated"], info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: bool [N, A]; a view, read-only."""
        return self._buffers[self._core.turn]["action_mask"].view(bool)

    def blocks(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Named views of an observation [..., D], as `ClusterEnv.blocks`."""
        return blocks_of(observation, self._core.layout, self._own.shapes)

    def take_stats(self) -> dict[str, float]:
        """Of the episodes that ended since the last call: ``episodes``, how many; ``mean_return``, undiscounted; ``mean_jct_s``, s,
        of those in which a job completed. Means are nan where there are none."""
        return self._own.take_stats()

    @property
    def replaced(self) -> int:
        """How many actions of the last step were illegal and made way for the next legal one."""
        return self._core.replaced

    @property
    def description(self) -> str:
        """Every keyword as resolved, one ``name=value`` a line: of HeteroCluster-v0 the command line's ``--config`` reads it."""
        return self._own.description
