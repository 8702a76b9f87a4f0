"""What the tests share: small environments that end soon, and the libraries that may be missing."""

import importlib
import unittest

# 6 GPUs, one job of 3 or so GPU-hours every 12 minutes: a decision a job, episodes of 20 jobs.
SMALL = dict(cluster="v100=2,p100=2,k80=2", workload="synthetic(rate=5,jobs=40)", episode_jobs=20, seed=3)
HETERO = dict(SMALL, visible=4, warmup_jobs=5)
SMALL_OF = {"HeteroCluster-v0": HETERO, "TaskPlacement-v0": SMALL}


def needs(*modules):
    """Skips what follows, by name, where a library is not installed or does not load."""
    for module in modules:
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:
            return unittest.skip(f"needs {module} ({error})")
    return lambda case: case
