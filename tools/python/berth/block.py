"""Blocks of an observation, written in Python."""

import copy
import math
import numbers
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from berth._berth import View

__all__ = ["Block"]


class Block:
    """Numbers of your own behind an observation: ``berth.make(..., blocks=[Idle()])``, `make_vec` too.

    ``env.blocks(observation)`` has them by the block's name, beside ``jobs``, ``pairs``, ``types`` and ``global``. Attributes:
    `name`, in ``env.blocks`` (the class's where it is None); `low` and `high`, bounds of the observation space.

    Each environment has an object of its own: objects are copied (``copy.deepcopy``), classes called. Threads of C++ call it
    one at a time.

    Raises
    ------
    berth.Error
        Of the step, where a method raises, with the exception as cause; a reset has to follow.

    Examples
    --------
    >>> class Idle(berth.Block):
    ...     low, high = 0.0, 1.0
    ...
    ...     def size(self, q, g):
    ...         return g                                    # one number a GPU type
    ...
    ...     def fill(self, view, out):
    ...         out[:] = view.free_gpus / np.maximum(view.gpus, 1)
    >>> envs = berth.make_vec(8, blocks=[Idle()], cluster="v100=4,k80=4", visible=4)
    >>> observation, _ = envs.reset(seed=1)
    >>> envs.blocks(observation)["Idle"].shape
    (8, 2)
    """

    name: str | None = None  # in env.blocks; the class's where it is None
    low: float = -math.inf  # bounds of the observation space
    high: float = math.inf

    def size(self, q: int, g: int) -> int | tuple[int, ...]:
        """How many numbers, or the shape of `out`, of an observation with `q` rows of jobs and `g` GPU types (0 and 0 in
        TaskPlacement-v0). From 1 to 1,048,576 numbers."""
        raise NotImplementedError

    def begin(self, view: View) -> None:
        """Called when an episode begins: forget all others."""

    def fill(self, view: View, out: NDArray[np.float32]) -> None:
        """Writes `out`, float32 of the shape that `size` said, all 0 before; finite numbers. Returns nothing.

        Called where the observation is new (not between the actions of one instant). `view` is a scheduler's
        (``view.knowledge`` is the environment's), and ``view.visible``, int64 [.], is the job of each row of ``jobs``."""
        raise NotImplementedError


class Blocks:
    """What C++ asks of them: lay_out, then make for each environment."""

    def __init__(self, blocks: Block | type[Block] | Iterable[Block | type[Block]]) -> None:
        if isinstance(blocks, (Block, type)):
            blocks = [blocks]
        if isinstance(blocks, (str, bytes)) or not hasattr(blocks, "__iter__"):
            raise TypeError(f"blocks: expected berth.Block objects or classes of it, found {blocks!r}")
        self._named: dict[str, Block | type[Block]] = {}
        for block in blocks:
            kind = block if isinstance(block, type) else type(block)
            if not issubclass(kind, Block):
                raise TypeError(f"blocks: expected berth.Block objects or classes of it, found {block!r}")
            if kind.size is Block.size or kind.fill is Block.fill:
                raise TypeError(f"blocks: {kind.__name__}: expected methods size and fill, found one missing")
            name = block.name or kind.__name__
            if not isinstance(name, str) or name in ("jobs", "pairs", "types", "global") or name in self._named:
                raise ValueError(f"blocks: expected names that differ from each other and from Berth's, found {name!r}; set the "
                                 "attribute `name`")
            self._named[name] = block
        self.shapes: dict[str, tuple[int, ...]] = {}

    def _new(self, block: Block | type[Block]) -> Block:
        return block() if isinstance(block, type) else copy.deepcopy(block)

    def lay_out(self, q: int, g: int) -> tuple[list[float], list[float]]:
        """Bounds of all their numbers."""
        low: list[float] = []
        high: list[float] = []
        for name, given in self._named.items():
            block = self._new(given)
            self.shapes[name] = _shape_of(name, block.size(q, g))
            bounds = np.float32(block.low), np.float32(block.high)
            if not bounds[0] <= bounds[1]:
                raise ValueError(f"block {name!r}: expected low <= high, found {block.low} and {block.high}")
            count = math.prod(self.shapes[name])
            low += [float(bounds[0])] * count
            high += [float(bounds[1])] * count
        return low, high

    def make(self) -> list[tuple[str, Callable[[View], None], Callable[[View, NDArray[np.float32]], None], NDArray[np.float32]]]:
        """Of each: its name, begin, fill and the array that it fills."""
        blocks = ((name, self._new(block)) for name, block in self._named.items())
        return [(name, its.begin, its.fill, np.zeros(self.shapes[name], np.float32)) for name, its in blocks]


def _shape_of(name: str, size: object) -> tuple[int, ...]:
    shape = size if isinstance(size, tuple) else (size,)
    for count in shape:
        if isinstance(count, (bool, np.bool_)) or not isinstance(count, numbers.Integral) or not 0 < int(count) <= 2**20:
            raise ValueError(f"block {name!r}: size: expected a number of floats or a shape, 1 to {2**20}, found {size!r}")
    if math.prod(shape) > 2**20:
        raise ValueError(f"block {name!r}: size: expected at most {2**20} floats, found {size!r}")
    return tuple(int(count) for count in shape)
