"""One environment, as Gymnasium has them."""

from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex

import gymnasium
import numpy as np
from numpy.typing import NDArray

from berth._arguments import integer_of, no_render_mode, seed_of
from berth._own import Own
from berth.block import Block
from berth.blocks import blocks_of
from berth.typing import Option, Reward, Workload

__all__ = ["ClusterEnv"]


class ClusterEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """HeteroCluster-v0 or TaskPlacement-v0, as `berth.make` and ``gymnasium.make`` give them.

    An observation is float32 [D], an action a number from 0 to A - 1. ``info`` of `reset` and `step` holds

    - ``action_mask``: int8 [A], 1 = legal; all 0 once an episode has terminated;
    - ``discount``: float, exp(-dt / tau) of the simulated time that the step took (1 within an instant);
    - ``signal``: float, with the keyword `signal` ("auto", say): what to learn from in place of the reward, with a fraction of
      its variance (``berth list signals``). Of steps alone, not of reset;
    - ``time``: float, simulated seconds; not at an episode's end;
    - ``action``: int, what was played.

    Attributes: `observation_space`, a Box [D]; `action_space`, a Discrete (A).

    Parameters
    ----------
    name
        "HeteroCluster-v0" or "TaskPlacement-v0".
    illegal
        "next_legal": an illegal action makes way for the next legal one, the first one after the last. "error": ValueError.
    reward
        Terms of ``berth list rewards``, "1e-5*jct" say, or a function of the step's metrics that returns a number: a dict of
        floats, keyed as these terms. The built-in reward NAME is ``-m[NAME]``, to the bit: what the term grew by in the step;
        those paid at an end ("ftf", "utilization") are 0 before it. Besides ``elapsed_s`` (s, simulated), ``arrived_jobs`` (in
        the step), ``jobs_in_system`` (after it), ``terminated``, ``truncated``; in TaskPlacement-v0 ``mean_utilization``.
    metrics
        Which terms such a function is given, names or text with commas. None: all but those paid at an end.
    blocks
        Numbers of your own behind the observation (`Block`).
    workload
        A spec, or a generator of jobs (`Jobs`).
    **keywords
        Those of ``berth.help(name)``; `seed` says which workloads come before any reset with a seed.

    Raises
    ------
    TypeError, ValueError
        Where a keyword is wrong, which is named.

    Examples
    --------
    >>> env = berth.make("HeteroCluster-v0", cluster="v100=2,k80=2", workload="synthetic(rate=1)", visible=4)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(mask=info["action_mask"]))
    >>> sorted(info)
    ['action', 'action_mask', 'discount', 'time']
    >>> inner = env.unwrapped                            # what Gymnasium's wrappers do not show
    >>> [(name, block.shape[0]) for name, block in inner.blocks(observation).items() if name != "global"]
    [('jobs', 4), ('pairs', 4), ('types', 2)]
    >>> bool((inner.action_masks() == (info["action_mask"] == 1)).all())
    True
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        name: str = "HeteroCluster-v0",
        *,
        illegal: Literal["next_legal", "error"] = "next_legal",
        render_mode: None = None,
        reward: str | Reward | None = None,
        metrics: str | Iterable[str] | None = None,
        blocks: Block | type[Block] | Iterable[Block | type[Block]] | None = None,
        workload: Workload | None = None,
        **keywords: Option,
    ) -> None:
        no_render_mode(render_mode)
        self._own = Own(name, dict(keywords, reward=reward, metrics=metrics, blocks=blocks, workload=workload), 1, 1, illegal)
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
        """Begins an episode.

        Parameters
        ----------
        seed
            Episode 0 of this seed, from 0 to 2**63 - 1. None: the episode after the present one, also where a step has raised
            within it.
        options
            None.

        Returns
        -------
        tuple
            Observation float32 [D] and info.

        Raises
        ------
        berth.Error
            What a block or a workload of your own raises, as from `step`. A reset has to follow.
        """
        super().reset(seed=None if seed is None else seed_of(seed))
        if options:
            raise ValueError(f"options: expected none, found {sorted(options)}")
        begun = self._over and seed is None  # at an episode's end C++ has begun the next one already
        self._over = False
        if not begun:
            self._core.reset(seed_of(seed))
        now = self._buffers[self._core.turn]
        self._mask = now["action_mask"][0].copy()
        return now["observation"][0].copy(), self._info(1.0)

    def step(self, action: SupportsIndex) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Plays one action.

        What a reward of your own raises goes on to the caller. The step has been taken then: `action_masks` and all else are of after
        it, and the next step goes on from there.

        Returns
        -------
        tuple
            Observation float32 [D], reward float, terminated bool, truncated bool, info.

        Raises
        ------
        TypeError, ValueError
            Where `action` is no number from 0 to A - 1, or an illegal one with ``illegal="error"``.
        RuntimeError
            After the end of an episode, before a reset.
        """
        if self._over:
            raise RuntimeError("step: expected a reset after the end of an episode, found none")
        if isinstance(action, np.ndarray) and action.size == 1:
            action = action.item()
        played = integer_of("action", action, 0, self._core.num_actions - 1)
        self._over = self._core.step(np.array([played]))
        now = self._buffers[self._core.turn]
        terminated, truncated = bool(now["terminated"][0]), bool(now["truncated"][0])
        if not self._over:
            observation, self._mask = now["observation"][0].copy(), now["action_mask"][0].copy()
        else:
            observation = now["final_observation"][0].copy()
            self._mask = now["final_mask"][0].copy() if truncated else np.zeros_like(self._mask)
        self._own.pay(now, single=True)  # what that raises leaves a step that has been taken
        info = self._info(float(now["discount"][0]))
        info["action"] = self._core.played[0]
        if "signal" in now:
            info["signal"] = float(now["signal"][0])
        return observation, float(now["reward"][0]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: bool [A], what sb3-contrib's MaskablePPO asks for."""
        return self._mask.astype(bool)

    def blocks(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Named views of an observation [..., D], without a copy: ``jobs`` [..., q, .], ``pairs`` [..., q, g, .], ``types`` [..., g, .],
        ``global`` [..., .], and your own (`Block`). ``berth list encoders`` says what each channel is."""
        return blocks_of(observation, self._core.layout, self._own.shapes)

    @property
    def description(self) -> str:
        """Every keyword as resolved, one ``name=value`` a line: of HeteroCluster-v0 the command line's ``--config`` reads it."""
        return self._own.description

    @property
    def signature(self) -> int:
        """Hash of the event log so far (of the next episode's once one has ended): the same bits, the same number."""
        return self._core.signature(0)

    def _info(self, discount: float) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask.copy(), "discount": discount}
        if not self._over:
            info["time"] = self._core.time(0)
        return info
