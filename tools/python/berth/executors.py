"""Executors for berth.sweep, beside those of concurrent.futures: Ray's tasks as one. Dask and MPI bring their own."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["RayExecutor"]

P = ParamSpec("P")
T = TypeVar("T")


class RayExecutor(concurrent.futures.Executor):
    """Runs each call as a task of Ray: `berth.sweep` on a cluster of Ray's.

    Parameters
    ----------
    **options
        ``ray.remote``'s: num_cpus (1), max_retries, resources, ...

    Raises
    ------
    ImportError
        Without ray.

    Examples
    --------
    >>> import ray
    >>> from berth.executors import RayExecutor
    >>> _ = ray.init(num_cpus=2, log_to_driver=False)                 # or a cluster to join
    >>> table = berth.sweep({"rate": [1, 2]}, "fcfs", workload="synthetic(rate={rate},jobs=20)", cluster="v100=4", seeds=0,
    ...                     executor=RayExecutor(num_cpus=1))
    >>> len(table)
    2
    >>> ray.shutdown()
    """

    def __init__(self, **options: Any) -> None:
        try:
            import ray
        except ImportError:
            raise ImportError("RayExecutor needs ray: pip install ray") from None
        self._call = ray.remote(_call).options(**{"num_cpus": 1, **options})

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> concurrent.futures.Future[T]:
        """A future of ``fn(*args, **kwargs)``, which runs where Ray puts it."""
        future: concurrent.futures.Future[T] = self._call.remote(fn, args, kwargs).future()
        return future


def _call(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return fn(*args, **kwargs)
