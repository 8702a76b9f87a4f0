"""Blocks of an observation, written in Python."""

import copy
import math
import numbers

import numpy as np

from berth._berth import View


class Block:
    """Numbers of your own behind an observation: `berth.make(..., blocks=[Congestion()])`, make_vec too.

        class Congestion(berth.Block):
            low, high = 0.0, 1.0

            def size(self, q, g):
                return g                                    # one number a GPU type

            def fill(self, view, out):
                out[:] = 1.0 - view.free_gpus / np.maximum(view.gpus, 1)

    `env.blocks(observation)` has it by its name, beside "jobs", "pairs", "types" and "global". `fill` is called where the
    observation is new (not between the actions of one instant), with the view that a scheduler gets (berth.Scheduler
    says what it holds; `knowledge` is the environment's) and view.visible, int64 [.]: the job of each row of "jobs". `out` is
    float32 of the shape that `size` said, all 0; it must stay finite. An exception ends the step as berth.Error,
    with it as cause, and a reset has to follow.

    Each environment has an object of its own: objects are copied (copy.deepcopy), classes called. Threads of C++ call it one at a
    time.
    """

    name: str | None = None  # in env.blocks; the class's where it is None
    low: float = -math.inf  # bounds of the observation space
    high: float = math.inf

    def size(self, q: int, g: int) -> int | tuple[int, ...]:
        """How many numbers, or the shape of `out`, of an observation with q rows and g GPU types (0 and 0 in TaskPlacement-v0)."""
        raise NotImplementedError

    def begin(self, view: View) -> None:
        """An episode begins: forget all others."""

    def fill(self, view: View, out: np.ndarray) -> None:
        """Write `out`."""
        raise NotImplementedError


class Blocks:
    """What C++ asks of them: lay_out, then make for each environment."""

    def __init__(self, blocks):
        if isinstance(blocks, (Block, type)):
            blocks = [blocks]
        if isinstance(blocks, (str, bytes)) or not hasattr(blocks, "__iter__"):
            raise TypeError(f"blocks: expected berth.Block objects or classes of it, found {blocks!r}")
        self._named = {}
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
        self.shapes = {}

    def _new(self, block):
        return block() if isinstance(block, type) else copy.deepcopy(block)

    def lay_out(self, q, g):
        low, high = [], []
        for name, block in self._named.items():
            block = self._new(block)
            self.shapes[name] = _shape_of(name, block.size(q, g))
            bounds = np.float32(block.low), np.float32(block.high)
            if not bounds[0] <= bounds[1]:
                raise ValueError(f"block {name!r}: expected low <= high, found {block.low} and {block.high}")
            count = math.prod(self.shapes[name])
            low += [float(bounds[0])] * count
            high += [float(bounds[1])] * count
        return low, high

    def make(self):
        blocks = ((name, self._new(block)) for name, block in self._named.items())
        return [(name, its.begin, its.fill, np.zeros(self.shapes[name], np.float32)) for name, its in blocks]


def _shape_of(name, size):
    shape = size if isinstance(size, tuple) else (size,)
    for count in shape:
        if isinstance(count, (bool, np.bool_)) or not isinstance(count, numbers.Integral) or not 0 < count <= 2**20:
            raise ValueError(f"block {name!r}: size: expected a number of floats or a shape, 1 to {2**20}, found {size!r}")
    if math.prod(shape) > 2**20:
        raise ValueError(f"block {name!r}: size: expected at most {2**20} floats, found {size!r}")
    return tuple(int(count) for count in shape)
