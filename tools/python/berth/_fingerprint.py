"""What a scheduler of Python's is, as a hash: cells of a sweep that it has run are kept by it."""

import copyreg
import hashlib
import inspect
import io
import marshal
import os
import pathlib
import pickle
import types
import weakref
from collections.abc import Iterator
from typing import Any

from berth.policy import Policy
from berth.scheduler import Scheduler
from berth.typing import SchedulerLike

# What each value of a class was when it was first asked for, by its id.
_FIRST: weakref.WeakKeyDictionary[type[Any], dict[int, tuple[Any, bytes]]] = weakref.WeakKeyDictionary()


def fingerprint(scheduler: SchedulerLike) -> str:
    """16 hexadecimal digits, the same in every process where nothing has changed."""
    if isinstance(scheduler, Policy):
        return hashlib.sha256(scheduler._content()).hexdigest()[:16]
    found = hashlib.sha256()
    kind = scheduler if isinstance(scheduler, type) else type(scheduler)
    for its in kind.__mro__:
        if its not in (Scheduler, object):
            found.update(_source(its))
    if scheduler is not kind:
        for name, value in sorted(_attributes(scheduler).items()):
            found.update(name.encode() + b"".join(_content(value)))
    return found.hexdigest()[:16]


def _attributes(scheduler: Any) -> dict[str, Any]:
    slots = {name for its in type(scheduler).__mro__ for name, value in vars(its).items() if isinstance(value, types.MemberDescriptorType)}
    values: dict[str, Any] = dict(vars(scheduler))
    return values | {name: getattr(scheduler, name) for name in slots if hasattr(scheduler, name)}


def _source(kind: type[Any]) -> bytes:
    """Its text, and what its values and functions hold beside it: files that they name above all."""
    try:
        text = inspect.getsource(kind).encode()
    except (OSError, TypeError):  # typed in, or made by a program
        text = b""
    found = text
    for name, value in sorted(vars(kind).items()):
        functions = _functions(value)
        if functions and text:  # whose text is the class's
            found += b"".join(_first(kind, held) for function in functions for held in _held(function))
        elif functions or not name.startswith("__"):
            found += name.encode() + _first(kind, value)
    return found


def _first(kind: type[Any], value: Any) -> bytes:
    """What it was before the first run, since all runs share it and may collect there; files as they are now."""
    content, files = _content(value)
    return _FIRST.setdefault(kind, {}).setdefault(id(value), (value, content))[1] + files


def _functions(value: Any) -> list[types.FunctionType]:
    of = (value.__func__,) if isinstance(value, (staticmethod, classmethod)) else \
        (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value,)
    return [its for its in of if isinstance(its, types.FunctionType)]


def _held(function: types.FunctionType) -> Iterator[Any]:
    """Values that are not in its text: of defaults and of names around it."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            if name != "__class__":  # of super(): the class that asks
                yield cell.cell_contents
        except ValueError:  # empty yet
            continue


def _content(value: Any, seen: dict[int, tuple[Any, bytes, bytes]] | None = None) -> tuple[bytes, bytes]:
    """What it and all that it holds are, and what is in files that it names. `seen`: sets and functions around it, which may hold it."""
    found = io.BytesIO()
    pickler = _Pickler(found, {} if seen is None else seen)
    try:
        pickler.dump(value)
    except Exception:  # whatever cannot be pickled says so in its own way
        return type(value).__qualname__.encode(), b""
    return hashlib.sha256(found.getvalue()).digest(), pickler.files


class _Pickler(pickle.Pickler):
    """Writes what a process or a file's place does not change: sets in an order of their own, files by what they hold."""

    def __init__(self, file: io.BytesIO, seen: dict[int, tuple[Any, bytes, bytes]]) -> None:
        super().__init__(file, 4)
        self._seen = seen
        self.files = b""  # hashes of them, one after the other

    def persistent_id(self, value: Any) -> bytes | None:
        """What stands for `value`. None: pickle's own way, which asks this of what it holds."""
        if isinstance(value, (str, pathlib.Path)):
            held = _file(value)
            self.files += held
            return b"file" if held and isinstance(value, pathlib.Path) else str(value).encode("utf-8", "surrogatepass")
        if isinstance(value, type):  # also of a class that cannot be imported
            return f"{value.__module__}.{value.__qualname__}".encode()
        if not isinstance(value, (set, frozenset, types.FunctionType)):
            return None
        if id(value) not in self._seen:
            self._seen[id(value)] = value, b"within itself", b""
            found = _code(value, self._seen) if isinstance(value, types.FunctionType) else [
                (b"set", b""), *sorted(_content(its, self._seen) for its in value)]
            content, files = (b"".join(parts) for parts in zip(*found))
            self._seen[id(value)] = value, hashlib.sha256(content).digest(), files
        _, content, files = self._seen[id(value)]
        self.files += files
        return content

    def reducer_override(self, value: Any) -> Any:
        """So that what cannot be pickled, a lock say, does not hide what stands beside it."""
        if isinstance(value, (staticmethod, classmethod, property)):
            return type(value), tuple(_functions(value))
        if isinstance(value, Policy):
            return bytes, (value._content(),)
        try:
            return NotImplemented if type(value) in copyreg.dispatch_table else value.__reduce_ex__(4)
        except Exception:
            return str, (type(value).__qualname__,)


def _code(function: types.FunctionType, seen: dict[int, tuple[Any, bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(marshal.dumps(_bare(function.__code__), 2), b""),  # 2: without marks of what else refers to a constant
            *(_content(its, seen) for its in _held(function))]


def _file(value: str | pathlib.Path) -> bytes:
    """The hash of what is in the file that it names; of what names none, nothing."""
    found = hashlib.sha256()
    try:
        if not os.path.isfile(value):
            return b""
        with open(value, "rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    except OSError:
        return b""
    return found.digest()


def _bare(code: types.CodeType) -> types.CodeType:
    """Where it stands does not matter, nor where what is within it does."""
    constants = tuple(_bare(its) if isinstance(its, types.CodeType) else its for its in code.co_consts)
    return code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=constants)
