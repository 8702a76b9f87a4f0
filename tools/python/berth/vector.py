"""Many environments stepped together in C++, as Gymnasium's vector environments."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from berth._arguments import actions_of, integer_of, no_render_mode, seed_of
from berth._own import Own
from berth.blocks import blocks_of


class ClusterVectorEnv(gymnasium.vector.VectorEnv):
    """N environments; keywords and info as berth.ClusterEnv, on `threads` threads with the same bits on any number.

    Nothing is copied: observation float32 [N, D], reward float32 [N], terminated and truncated bool [N] and
    info["action_mask"] int8 [N, A], info["discount"] float32 [N] are views of C++ memory. There are two sets of it,
    used in turn: what a step returned is there until the step after the next one. Copy what is to stay longer. Masks
    are read-only, since the next step believes them. A thread that asks while another one steps gets RuntimeError.

    With the keyword `signal` ("auto", say) info["signal"] float32 [N] is the learning signal: what to learn
    from in place of the reward, with a fraction of its variance (`berth list signals`). Judge by the reward.

    An episode that ends is followed by the next one within the same step (AutoresetMode.SAME_STEP). Then info also
    has "final_obs" float32 [N, D] with "_final_obs" bool [N], which says whose rows were written, and "final_mask"
    int8 [N, A], of those truncated.

    With a function as `reward`, fn(m), m has float64 [N] by the names that berth.ClusterEnv says ("terminated" and
    "truncated" bool [N]), views that are read-only and hold until the next step; it returns numbers [N].

    `reset(seed=s)` gives environment i its own stream of (s, i); it takes no list of seeds.
    """

    metadata = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int,
        name: str = "HeteroCluster-v0",
        *,
        threads: int = 1,
        illegal: str = "next_legal",
        render_mode: None = None,
        **keywords: Any,
    ) -> None:
        no_render_mode(render_mode)
        self.num_envs = integer_of("num_envs", num_envs, 1, 2**20)
        self._own = Own(name, keywords, self.num_envs, integer_of("threads", threads, 1, 4096), illegal)
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
        """Returns observation float32 [N, D] and info."""
        if options:
            raise ValueError(f"options: expected none, found {sorted(options)}")
        self._core.reset(seed_of(seed))
        self._own.begin()
        now = self._buffers[self._core.turn]
        return now["observation"], {"action_mask": now["action_mask"]}

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """actions: integers [N]. Returns observation, reward, terminated, truncated, info."""
        ended = self._core.step(actions_of(actions, self.num_envs, self._core.num_actions))
        now = self._buffers[self._core.turn]
        self._own.pay(now)
        info = {"action_mask": now["action_mask"], "discount": now["discount"]}
        if "signal" in now:
            info["signal"] = now["signal"]
        if ended:
            info["final_obs"] = now["final_observation"]
            info["_final_obs"] = now["terminated"] | now["truncated"]
            info["final_mask"] = now["final_mask"]
        return now["observation"], now["reward"], now["terminated"], now["truncated"], info

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [N, A], True = legal; a view, read-only."""
        return self._buffers[self._core.turn]["action_mask"].view(bool)

    def blocks(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Views of observation [..., D] by block; see berth.blocks.blocks_of."""
        return blocks_of(observation, self._core.layout, self._own.shapes)

    def take_stats(self) -> dict[str, Any]:
        """Of the episodes that ended since the last call: "episodes", "mean_return" (undiscounted), "mean_jct_s"."""
        return self._own.take_stats()

    @property
    def replaced(self) -> int:
        """How many actions of the last step were illegal and made way for the next legal one."""
        return self._core.replaced

    @property
    def description(self) -> str:
        """Every keyword as resolved, one "name=value" a line: the command line's --config reads it."""
        return self._own.description
