"""The blocks of a flat observation, without copying it."""

import math

from berth._arguments import observation_of


def blocks_of(observation, layout, own=None):
    """Views of observation [..., D]: "jobs" [..., q, job_channels], "pairs" [..., q, g, pair_channels], "types"
    [..., g, type_channels], "global" [..., global_channels], and by their names those of Python (berth.Block), whose
    shapes `own` says. Blocks that there are none of are empty. TypeError or ValueError where `observation` is no such array."""
    q, g = layout["q"], layout["g"]
    shapes = {
        "jobs": (q, layout["job_channels"]),
        "pairs": (q, g, layout["pair_channels"]),
        "types": (g, layout["type_channels"]),
        "global": (layout["global_channels"],),
        **(own or {}),
    }
    observation = observation_of(observation, sum(math.prod(shape) for shape in shapes.values()))
    views, begin = {}, 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        views[name] = observation[..., begin:end].reshape(*observation.shape[:-1], *shape)
        begin = end
    return views
