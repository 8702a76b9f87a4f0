"""What of the package is public: what `__all__` of a module without an underscore names; and what is documented of it."""

import functools
import importlib
import inspect
import pkgutil
import types

import berth

PROPERTIES = (property, functools.cached_property)
ALIASES = "berth.typing"  # whose names cannot have docstrings: its own says what they are


def modules():
    """Each by its name; the package itself first."""
    names = sorted(its.name for its in pkgutil.iter_modules(berth.__path__) if not its.name.startswith("_"))
    return {name: importlib.import_module(name) for name in ["berth", *(f"berth.{name}" for name in names)]}


def names():
    """Public functions and classes, by where they are had from: berth.NAME where that is enough."""
    found = {}
    for module_name, module in modules().items():
        if module_name == ALIASES:
            continue
        for name in module.__all__:
            value = getattr(module, name)
            if value not in found.values():
                found[f"{module_name}.{name}"] = value
    return found


def members(kind):
    """Public methods and properties that a class itself has, by name."""
    return {name: value for name, value in vars(kind).items()
            if not name.startswith("_") and (callable(value) or isinstance(value, (*PROPERTIES, classmethod, staticmethod))
                                             or type(value).__name__.startswith("nb_"))}


def attributes(kind):
    """Public attributes that a class declares, fields of a named tuple included, and its bases have not."""
    return [name for name in inspect.get_annotations(kind)
            if not name.startswith("_") and name not in members(kind) and not any(hasattr(base, name) for base in kind.__bases__)]


def documented(name, value):
    """Docstrings by the name of what has them: the object's, and of a class those of its members."""
    found = {name: docstring(value)}
    if isinstance(value, type):
        found |= {f"{name}.{member}": docstring(its) for member, its in members(value).items()}
    return found


def docstring(value):
    """Without the signature that nanobind puts in front."""
    doc = value.__nb_signature__[0][1] if hasattr(value, "__nb_signature__") else value.__doc__
    return inspect.cleandoc(doc or "")


def docstrings():
    """Every public one, modules' included."""
    found = {name: docstring(module) for name, module in modules().items()}
    for name, value in names().items():
        found |= documented(name, value)
    return found


def function_of(member):
    """What a classmethod or method was written as."""
    return getattr(member, "__func__", member) if not isinstance(member, types.FunctionType) else member
