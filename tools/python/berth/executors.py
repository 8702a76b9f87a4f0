"""Executors for berth.sweep, beside those of concurrent.futures: Ray's tasks as one. Dask and MPI bring their own."""

import concurrent.futures


class RayExecutor(concurrent.futures.Executor):
    """Each call is a task of Ray (ray.init first, or a cluster to join): berth.sweep(..., executor=RayExecutor(num_cpus=1)).

    options: ray.remote's, num_cpus, max_retries, ... ImportError without ray.
    """

    def __init__(self, **options):
        try:
            import ray
        except ImportError:
            raise ImportError("RayExecutor needs ray: pip install ray") from None
        self._call = ray.remote(_call).options(**{"num_cpus": 1, **options})

    def submit(self, fn, /, *args, **kwargs):
        return self._call.remote(fn, args, kwargs).future()


def _call(fn, args, kwargs):
    return fn(*args, **kwargs)
