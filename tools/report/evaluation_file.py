"""Reads the result file of berth evaluate; its layout stands in tools/evaluation_file.hpp."""
import sys

import h5py
import numpy as np


def text(value):
    """What is no UTF-8, such as a file's name in a result of before, does not keep the others from being seen."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def strings(dataset):
    return text(dataset[()].tobytes()).split("\0")[:-1]  # each ends with a zero byte


def alike(rows):
    """Those of the rows that are equal, as lists of two and more of their indices."""
    groups = {}
    for k, row in enumerate(rows):
        groups.setdefault(np.nan_to_num(np.asarray(row, float), nan=-1.0).tobytes(), []).append(k)
    return [group for group in groups.values() if len(group) > 1]


class Evaluation:
    """Attributes as `about`, datasets by their paths; hours and seconds as in the file."""

    def __init__(self, path):
        try:
            file = h5py.File(path)
        except OSError as error:
            sys.exit(f"{path}: cannot read: {error}")
        with file:
            if text(file.attrs.get("berth_kind", "")) != "evaluation":
                sys.exit(f"{path}: expected an evaluation file (berth evaluate --out), found another")
            version = int(file.attrs.get("berth_version", 0))
            if not 1 <= version <= NEWEST:
                sys.exit(f"{path}: expected an evaluation file of version 1 to {NEWEST}, found version {version}")
            self.path = path
            self.about = {name: text(value) for name, value in file.attrs.items()}
            self.data = {}
            file.visititems(self._keep)
        self.schedulers = self.data["schedulers"]

    def _keep(self, name, item):
        if isinstance(item, h5py.Dataset):
            texts = item.dtype == np.uint8 and name.rsplit("/", 1)[-1] in TEXTS
            self.data[name] = strings(item) if texts else item[()]

    def __getitem__(self, name):
        if name not in self.data:
            sys.exit(f"{self.path}: expected the dataset {name}; berth evaluate of this version writes it")
        return self.data[name]

    def __contains__(self, name):
        return name in self.data

    @property
    def recorded(self):
        return "recording/end_s" in self.data

    @property
    def setting(self):
        """All that was simulated but for the load."""
        return f"{self.about['scenario'].rpartition(', ')[0]}, semantics {self.about['semantics']}"  # its last part counts the jobs

    @property
    def unfinished(self):
        """[K] measured jobs."""
        return np.isnan(self["jct_s"]).sum(axis=(1, 2))

    @property
    def alike(self):
        """Lists of schedulers under which every measured job fares the same."""
        return alike(self["jct_s"])

    def slowdown(self):
        """[K, S, W] bounded slowdown, 10 s (env/sim/metrics.hpp)."""
        return np.maximum(1.0, self["jct_s"] / np.maximum(self["alone_s"], 10.0)[None])

    def metric(self, key):
        """[K] over workloads, as berth combines them (tools/results.cpp): maxima by their largest. NaN = no job finished."""
        values = self["metrics/" + key]
        return np.fmax.reduce(values, axis=1) if key in LARGEST else values.mean(axis=1)


NEWEST = 1  # kEvaluationVersion
TEXTS = {"schedulers", "knowledge", "types", "job_types", "ends", "absences", "mark_names", "tenants", "keys", "titles"}
LARGEST = {"max_jct_s", "max_wait_s", "max_ftf", "end_s"}
