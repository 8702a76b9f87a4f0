"""berth.ClusterVectorEnv for Stable-Baselines3 and sb3-contrib, whose vector environments have another interface."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvStepReturn

from berth.vector import ClusterVectorEnv

__all__ = ["SB3VecEnv"]


class SB3VecEnv(VecEnv):
    """`berth.make_vec` with the interface of Stable-Baselines3, action masks for MaskablePPO included.

    Observations float32 [N, D] are views as `ClusterVectorEnv`'s: there until the step after the next one, which is as long as the
    algorithms need them. ``infos`` of an episode's end have ``terminal_observation``, ``TimeLimit.truncated`` and ``episode``
    {"r": return, "l": steps}. With the keyword `signal` ("auto", say) the algorithm is paid the learning signal; "r" stays the
    return of the reward. Attributes: `envs`, the `ClusterVectorEnv`.

    Parameters
    ----------
    num_envs
        N.
    name, **keywords
        As of `ClusterVectorEnv`.

    Examples
    --------
    >>> from berth.sb3 import SB3VecEnv
    >>> envs = SB3VecEnv(4, cluster="v100=2,k80=2", workload="synthetic(rate=1)", visible=4)
    >>> observation = envs.reset()
    >>> masks = np.stack(envs.env_method("action_masks"))
    >>> observation, reward, done, infos = envs.step(masks.argmax(axis=1))
    >>> reward.shape, len(infos)
    ((4,), 4)
    """

    def __init__(self, num_envs: int, name: str = "HeteroCluster-v0", **keywords: Any) -> None:
        self.envs = ClusterVectorEnv(num_envs, name, **keywords)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)
        self._seed: int | None = None
        self._actions: NDArray[Any] = np.zeros(num_envs, np.int64)
        self._returns, self._lengths = np.zeros(num_envs), np.zeros(num_envs, np.int64)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """The next reset begins episode 0 of it; environment i has the stream (seed, i). Returns it once an environment."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> NDArray[np.float32]:
        """Returns observation float32 [N, D]."""
        observation, _ = self.envs.reset(seed=self._seed)
        self._seed = None
        self._returns[:] = self._lengths[:] = 0
        return observation

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        """actions: integers [N], played by step_wait."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Returns observation float32 [N, D], reward float32 [N], done bool [N] and infos, a dict an environment."""
        observation, reward, terminated, truncated, info = self.envs.step(self._actions)
        done = terminated | truncated
        self._returns += reward
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done):
            infos[i] = {
                "terminal_observation": info["final_obs"][i].copy(),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i])},
            }
        self._returns[done] = self._lengths[done] = 0
        if "signal" in info:
            reward = info["signal"]
        return observation, reward, done, infos

    def close(self) -> None:
        """Ends the environments."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of `envs`, which they share, once an environment asked for."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """AttributeError: nothing can be set."""
        raise AttributeError(f"{attr_name}: the environments are in C++, nothing can be set")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Of "action_masks" alone: bool [A] an environment asked for, True = legal; views, read-only."""
        if method_name != "action_masks":
            raise AttributeError(f"{method_name}: expected action_masks")
        masks = self.envs.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: VecEnvIndices = None) -> list[bool]:
        """False an environment asked for."""
        return [False for _ in self._get_indices(indices)]
