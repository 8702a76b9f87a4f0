"""What a scheduler of Python's is, as a hash: cells of a sweep that it has run are kept by it."""

import hashlib
import inspect
import marshal
import os
import pathlib
import pickle
import tempfile
import types
from typing import Any

from berth.policy import Policy
from berth.scheduler import Scheduler
from berth.typing import SchedulerLike


def fingerprint(scheduler: SchedulerLike) -> str:
    """16 hexadecimal digits, the same in every process where nothing has changed."""
    found = hashlib.sha256()
    if isinstance(scheduler, Policy):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "policy.h5"
            scheduler._core.save(os.fspath(path))
            found.update(path.read_bytes())
        return found.hexdigest()[:16]
    kind = scheduler if isinstance(scheduler, type) else type(scheduler)
    for its in kind.__mro__:
        if its not in (Scheduler, object):
            found.update(_source(its))
    if scheduler is not kind:
        for name, value in sorted(vars(scheduler).items()):
            found.update(name.encode() + _content(value))
    return found.hexdigest()[:16]


def _source(kind: type[Any]) -> bytes:
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):  # typed in, or made by a program
        return b"".join(name.encode() + _content(value) for name, value in sorted(vars(kind).items()) if not name.startswith("__"))


def _content(value: Any, within: tuple[int, ...] = ()) -> bytes:
    if isinstance(value, types.FunctionType) and id(value) not in within:
        closed = (cell.cell_contents for cell in value.__closure__ or ())
        return marshal.dumps(_bare(value.__code__)) + b"".join(
            _content(its, (*within, id(value))) for its in (*(value.__defaults__ or ()), *closed))
    if isinstance(value, pathlib.Path) and value.is_file():
        return value.read_bytes()
    if isinstance(value, (set, frozenset)):
        return repr(sorted(map(repr, value))).encode()
    try:
        return pickle.dumps(value)
    except Exception:  # whatever cannot be pickled says so in its own way
        return type(value).__qualname__.encode()


def _bare(code: types.CodeType) -> types.CodeType:
    """Where it stands does not matter, nor where what is within it does."""
    constants = tuple(_bare(its) if isinstance(its, types.CodeType) else its for its in code.co_consts)
    return code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=constants)
