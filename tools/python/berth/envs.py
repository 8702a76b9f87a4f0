"""One environment, as Gymnasium has them."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from berth._arguments import integer_of, no_render_mode, seed_of
from berth._own import Own
from berth.blocks import blocks_of


class ClusterEnv(gymnasium.Env):
    """HeteroCluster-v0 or TaskPlacement-v0.

    Observation: float32 [D]. Action: 0 .. A-1. `info` of reset and step:

    - "action_mask": int8 [A], 1 = legal; all 0 once an episode has terminated. `action_masks()` is the same as bool;
    - "discount": float, exp(-dt / tau) of the simulated time that the step took (1 within an instant);
    - "signal": float, with the keyword `signal` ("auto", say): what to learn from in place of the reward, with a
      fraction of its variance (`berth list signals`). Of steps alone, not of reset;
    - "time": float, simulated seconds; not at an episode's end;
    - "action": int, what was played: with illegal="next_legal" (the default) an illegal action makes way for the next
      legal one, the first one after the last. illegal="error" raises ValueError instead.

    `reward` may be a function of the step's metrics that returns a number: fn(m), m a dict of floats, keyed as the terms of
    `berth list rewards` ("jct", "slowdown", ...; `metrics` chooses some). m[NAME] is what the term grew by in the step, and those paid at
    an end ("ftf", "utilization") are 0 before it: the built-in reward NAME is -m[NAME], to the bit. Besides "elapsed_s"
    (s, simulated), "arrived_jobs" (in the step), "jobs_in_system" (after it), "terminated", "truncated"; in
    TaskPlacement-v0 "mean_utilization" (of what is observed).

    `blocks` are berth.Block objects, `workload` may be a function (berth.Jobs).

    `reset(seed=s)` begins episode 0 of seed s; `reset()` goes on with the next episode. `seed` as keyword says which
    workloads come before any reset with a seed. The other keywords are those of `berth.help(id)`; a wrong one raises
    ValueError that names it.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        name: str = "HeteroCluster-v0",
        *,
        illegal: str = "next_legal",
        render_mode: None = None,
        **keywords: Any,
    ) -> None:
        no_render_mode(render_mode)
        self._own = Own(name, keywords, 1, 1, illegal)
        self._core, self._buffers = self._own.core, self._own.buffers
        self._over = False
        self._mask = np.zeros(self._core.num_actions, np.int8)
        self.observation_space = gymnasium.spaces.Box(
            np.array(self._core.low, np.float32), np.array(self._core.high, np.float32), dtype=np.float32
        )
        self.action_space = gymnasium.spaces.Discrete(self._core.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Returns observation float32 [D] and info."""
        super().reset(seed=None if seed is None else seed_of(seed))
        if options:
            raise ValueError(f"options: expected none, found {sorted(options)}")
        if seed is not None or not self._over:  # at an episode's end C++ has begun the next one already
            self._core.reset(seed_of(seed))
        self._over = False
        now = self._buffers[self._core.turn]
        self._mask = now["action_mask"][0].copy()
        return now["observation"][0].copy(), self._info(1.0)

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Returns observation float32 [D], reward float, terminated bool, truncated bool, info."""
        if self._over:
            raise RuntimeError("step: expected a reset after the end of an episode, found none")
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.item()
        action = integer_of("action", action, 0, self._core.num_actions - 1)
        self._over = self._core.step(np.array([action]))
        now = self._buffers[self._core.turn]
        self._own.pay(now, single=True)
        terminated, truncated = bool(now["terminated"][0]), bool(now["truncated"][0])
        if not self._over:
            observation, self._mask = now["observation"][0].copy(), now["action_mask"][0].copy()
        else:
            observation = now["final_observation"][0].copy()
            self._mask = now["final_mask"][0].copy() if truncated else np.zeros_like(self._mask)
        info = self._info(float(now["discount"][0]))
        info["action"] = self._core.played[0]
        if "signal" in now:
            info["signal"] = float(now["signal"][0])
        return observation, float(now["reward"][0]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """bool [A], True = legal: what sb3-contrib's MaskablePPO asks for."""
        return self._mask.astype(bool)

    def blocks(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Views of observation [..., D] by block; see berth.blocks.blocks_of."""
        return blocks_of(observation, self._core.layout, self._own.shapes)

    @property
    def description(self) -> str:
        """Every keyword as resolved, one "name=value" a line: the command line's --config reads it."""
        return self._own.description

    @property
    def signature(self) -> int:
        """Hash of the event log so far (of the next episode's once one has ended)."""
        return self._core.signature(0)

    def _info(self, discount):
        info = {"action_mask": self._mask.copy(), "discount": discount}
        if not self._over:
            info["time"] = self._core.time(0)
        return info
