"""The blocks of a flat observation, without copying it."""

import math
from collections.abc import Mapping

from berth._arguments import Array, observation_of

__all__ = ["blocks_of"]


def blocks_of(observation: Array, layout: Mapping[str, int], own: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, Array]:
    """The blocks of an observation, as views of it; `blocks` of an environment is this with its own layout.

    Parameters
    ----------
    observation
        An array or a tensor [..., D].
    layout
        ``q`` rows of jobs, ``g`` GPU types, and how many channels a block has: ``job_channels``, ``pair_channels``,
        ``type_channels``, ``global_channels``.
    own
        Shapes of the blocks of Python's (`Block`) behind these, by their names.

    Returns
    -------
    dict
        ``jobs`` [..., q, job_channels], ``pairs`` [..., q, g, pair_channels], ``types`` [..., g, type_channels], ``global``
        [..., global_channels], and those of `own`. Blocks that there are none of are empty.

    Raises
    ------
    TypeError, ValueError
        Where `observation` is no such array.

    Examples
    --------
    >>> from berth.blocks import blocks_of
    >>> layout = {"q": 2, "g": 3, "job_channels": 4, "pair_channels": 1, "type_channels": 2, "global_channels": 5}
    >>> blocks = blocks_of(np.zeros((10, 25), np.float32), layout)
    >>> {name: block.shape for name, block in blocks.items()}
    {'jobs': (10, 2, 4), 'pairs': (10, 2, 3, 1), 'types': (10, 3, 2), 'global': (10, 5)}
    """
    q, g = layout["q"], layout["g"]
    shapes: dict[str, tuple[int, ...]] = {
        "jobs": (q, layout["job_channels"]),
        "pairs": (q, g, layout["pair_channels"]),
        "types": (g, layout["type_channels"]),
        "global": (layout["global_channels"],),
        **(own or {}),
    }
    observation = observation_of(observation, sum(math.prod(shape) for shape in shapes.values()))
    views: dict[str, Array] = {}
    begin = 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        views[name] = observation[..., begin:end].reshape(*observation.shape[:-1], *shape)
        begin = end
    return views
