"""What comes from Python on its way to C++: everything that is wrong raises TypeError or ValueError naming the argument."""

import decimal
import itertools
import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from berth.typing import Seeds

Array = TypeVar("Array", bound=Any)  # NumPy's, or a tensor

_MOST_SEEDS = 1_000_000  # C++ says how many there may be; this ends what has no end


def text_of(keyword: str, value: object) -> str:
    """`value` as the command line would write it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return utf8_of(keyword, os.fspath(value))
    raise TypeError(f"{keyword}: expected a string, a number or a bool, found {type(value).__name__}")


def utf8_of(name: str, text: object) -> str:
    """`text`, where C++ can read it."""
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected text, found {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: expected text that is UTF-8, found {text!r}") from None
    if "\0" in text:  # where C ends it
        raise ValueError(f"{name}: expected text without NUL, found {text!r}")
    return text


def cell_of(name: Callable[[], str], value: Any) -> str:
    """`value` as a cell of a table: spans of time in s, dates as ISO 8601 has them, what is missing empty. ValueError of what is none."""
    try:
        text = value if isinstance(value, str) else _cell_text(value)
    except (TypeError, ValueError, ArithmeticError, RuntimeError):  # the last of a tensor of several numbers
        found = repr(value) if isinstance(value, np.generic) else type(value).__name__
        raise ValueError(f"{name()}: expected text, a number, a date or a span of time, found {found}") from None
    if not text.isascii() or "\0" in text:
        utf8_of(name(), text)
    return text.replace("\n", " ").replace("\r", " ") if "\n" in text or "\r" in text else text  # a row is a line


def _cell_text(value: Any) -> str:
    if isinstance(value, np.ndarray) and value is not np.ma.masked and value.size == 1:
        value = value.reshape(())[()]
    if hasattr(value, "as_py"):  # pyarrow's, whose null equals itself
        value = value.as_py()
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType" or value != value:  # pandas.NA, NaN, NaT
        return ""
    if type(value).__name__ == "Period":  # of pandas, a month say
        value = value.start_time
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.timedelta64):
        return repr(_seconds_of(value))
    if isinstance(value, np.datetime64):
        coarse = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D", "h", "m")
        return str(value.astype("datetime64[s]") if coarse else value)  # "2024" is a number
    if hasattr(value, "total_seconds"):
        return repr(float(value.total_seconds()))
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    one = value.item() if hasattr(value, "item") else value  # a tensor, too
    if not isinstance(one, (numbers.Real, decimal.Decimal)):
        raise TypeError("what is no cell")
    return str(one) if isinstance(one, (numbers.Integral, decimal.Decimal)) else repr(float(one))


def _seconds_of(span: np.timedelta64) -> float:
    if np.datetime_data(span.dtype)[0] == "generic":
        raise TypeError("a number without a unit")
    return float(span / np.timedelta64(1, "s"))  # TypeError of months


def texts_of(keywords: Mapping[str, object]) -> dict[str, str]:
    return {utf8_of("keyword", keyword): text_of(keyword, value) for keyword, value in keywords.items() if value is not None}


def integer_of(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name}: expected an integer from {low} to {high}, found {value}")
    return number


def actions_of(actions: ArrayLike, num_envs: int, num_actions: int) -> NDArray[np.int64]:
    """int64 [num_envs], contiguous; not copied where it is that already."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"actions: expected integers of shape ({num_envs},), found {array.dtype}")
    if array.shape != (num_envs,):
        raise ValueError(f"actions: expected shape ({num_envs},), found {array.shape}")
    if array.dtype == np.uint64 and (beyond := np.flatnonzero(array > 2**63 - 1)).size:  # as int64 they are negative
        raise ValueError(
            f"actions: expected numbers from 0 to {num_actions - 1}, found {array[beyond[0]]} for environment {beyond[0]}"
        )
    return np.ascontiguousarray(array, np.int64)


def no_render_mode(render_mode: object) -> None:
    if render_mode is not None:  # the error on which Stable-Baselines3's make_vec_env tries without
        raise TypeError(f"render_mode: expected None, found {render_mode!r}")


def seed_of(seed: object) -> int | None:
    return None if seed is None else integer_of("seed", seed, 0, 2**63 - 1)


def observation_of(observation: Array, size: int) -> Array:
    """An array or tensor [..., size], as it is."""
    expected = f"observation: expected an array of numbers of shape (..., {size}), found"
    if not (hasattr(observation, "shape") and hasattr(observation, "reshape")):
        raise TypeError(f"{expected} {type(observation).__name__}")
    if isinstance(observation, np.ndarray) and observation.dtype.kind not in "fiu":
        raise TypeError(f"{expected} one of {observation.dtype}")
    if len(observation.shape) == 0 or observation.shape[-1] != size:
        raise ValueError(f"{expected} shape {tuple(observation.shape)}")
    return observation


def seeds_of(seeds: Seeds | None) -> str | None:
    """A range, one number or "A:B", as the command line would write it."""
    if seeds is None or isinstance(seeds, str):
        return seeds
    several: Any = [seeds] if isinstance(seeds, numbers.Integral) and not isinstance(seeds, bool) else seeds
    try:
        found = [integer_of("seeds", seed, 0, 2**63 - 2) for seed in itertools.islice(iter(several), _MOST_SEEDS + 1)]
    except TypeError:
        found = []
    if len(found) > _MOST_SEEDS:
        raise ValueError(f"seeds: expected at most {_MOST_SEEDS}, found more: {seeds!r}")
    if not found or found != list(range(found[0], found[0] + len(found))):
        raise ValueError(f"seeds: expected a range of step 1, range(1000, 1020) say, found {seeds!r}")
    return f"{found[0]}:{found[-1] + 1}"
