"""Registers the environments with Gymnasium, once somebody imports that: it takes as long as all of this package."""

import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from berth import _berth


def register() -> None:
    import gymnasium

    for name in _berth.names():
        gymnasium.register(
            id=f"berth/{name}",
            entry_point="berth.envs:ClusterEnv",
            vector_entry_point="berth.vector:ClusterVectorEnv",
            kwargs={"name": name},  # not `id`: gymnasium.make_vec hands these to gymnasium.make, which has one
        )


class _Watcher:  # an importlib.abc.MetaPathFinder, whose module takes longer to import than this package's own
    """Finds Gymnasium where the other finders do, and registers when it has been loaded."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        found = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader  # whose method is replaced
            load = loader.exec_module

            def load_and_register(module: types.ModuleType) -> None:
                load(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    register()

            loader.exec_module = load_and_register
        return spec


def register_when_imported() -> None:
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _Watcher())
